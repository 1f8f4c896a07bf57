#include "sandbox/command/self_test.h"

#include "diagnostics/json_writer.h"
#include "sandbox/command/wrap.h"
#include "sandbox/linux/unavailable.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace gos::sandbox {

namespace {

constexpr Promise kPromises[] = {
#define GOS_PROMISE(name, level, words) Promise::name,
#include "sandbox/linux/promises.def"
};

SelfTestLevel testLevel(SandboxLevel level) {
  SelfTestLevel result;
  result.level = level;
  ProofOptions options;
  llvm::Expected<Proof> proof = proveNow(level, options);
  if (!proof && level == SandboxLevel::Standard) {
    // Without a pid namespace `standard` still keeps what it promises.
    options.pidNamespace = false;
    if (llvm::Expected<Proof> second = proveNow(level, options)) {
      llvm::consumeError(proof.takeError());
      proof = std::move(second);
    } else {
      llvm::consumeError(second.takeError());
    }
  }
  if (!proof) {
    llvm::handleAllErrors(
        proof.takeError(),
        [&](const Unavailable& missing) {
          result.primitive = missing.primitive().str();
          result.reason = missing.text().str();
          result.fix = missing.fix().str();
        },
        [&](const llvm::ErrorInfoBase& other) {
          result.primitive = "self-proof";
          result.reason = other.message();
        });
    return result;
  }
  result.proven = proof->broken() == nullptr;
  result.pidNamespace = proof->pidNamespace;
  result.acts = std::move(proof->acts);
  return result;
}

std::string verdictOf(const ProofAct& act) {
  if (!act.tried)
    return act.error != 0 ? "could not be tried: " + errnoText(act.error) : "could not be tried";
  if (act.held)
    return act.error != 0 ? errnoText(act.error) : "as promised";
  return act.error != 0 ? "broken: " + errnoText(act.error) : "broken: let through";
}

} // namespace

int SelfTest::exitCode() const {
  return llvm::all_of(levels, [](const SelfTestLevel& level) { return level.proven; }) ? 0 : 64;
}

SelfTest selfTest() {
  SelfTest test;
  for (SandboxLevel level : {SandboxLevel::Basic, SandboxLevel::Standard, SandboxLevel::Strict})
    test.levels.push_back(testLevel(level));
  return test;
}

std::string selfTestText(const SelfTest& test, const ExplainOptions& options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const SelfTestLevel& level : test.levels) {
    if (&level != test.levels.data())
      out << "\n";
    if (level.acts.empty()) {
      out << spelling(level.level) << ": unavailable\n";
      out << wrapped(level.primitive + ": " + level.reason, "  ", options.width);
      if (!level.fix.empty())
        out << wrapped("fix: " + level.fix, "  ", options.width);
      continue;
    }
    const size_t held = llvm::count_if(level.acts, [](const ProofAct& act) { return act.held; });
    out << spelling(level.level) << ": " << (level.proven ? "proven" : "NOT PROVEN") << ", " << held
        << " of " << level.acts.size() << " acts ended as promised"
        << (level.pidNamespace ? "" : ", without a pid namespace") << "\n";
    for (Promise promise : kPromises) {
      size_t tried = 0, good = 0;
      for (const ProofAct& act : level.acts)
        if (act.promise == promise) {
          ++tried;
          good += act.held;
        }
      if (tried == 0)
        continue;
      const char* colour = !options.colour ? "" : good == tried ? "\x1b[32m" : "\x1b[31m";
      out << "  " << colour << (good == tried ? "ok    " : "BROKEN")
          << (options.colour ? "\x1b[0m" : "") << "  " << promiseWords(promise) << " (" << good
          << "/" << tried << ")\n";
      for (const ProofAct& act : level.acts)
        if (act.promise == promise && !act.held)
          out << wrapped(
              llvm::formatv("{0} ({1}): {2}", act.words, spelling(act.run), verdictOf(act)).str(),
              "          ", options.width);
    }
  }
  return text;
}

std::string selfTestJson(const SelfTest& test) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", uint64_t(1));
  json.key("levels");
  json.beginArray();
  for (const SelfTestLevel& level : test.levels) {
    json.beginObject();
    json.member("level", spelling(level.level));
    json.key("proven");
    json.boolean(level.proven);
    if (level.acts.empty()) {
      json.member("primitive", level.primitive);
      json.member("reason", level.reason);
      json.member("fix", level.fix);
    } else {
      json.key("pid_namespace");
      json.boolean(level.pidNamespace);
    }
    json.key("acts");
    json.beginArray();
    for (const ProofAct& act : level.acts) {
      json.beginObject();
      json.member("promise", promiseWords(act.promise));
      json.member("act", act.words);
      json.member("locks", spelling(act.run));
      json.key("held");
      json.boolean(act.held);
      json.key("tried");
      json.boolean(act.tried);
      json.member("errno", uint64_t(act.error));
      json.endObject();
    }
    json.endArray();
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return json.finish();
}

} // namespace gos::sandbox
