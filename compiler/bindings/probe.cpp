#include "compiler/bindings/probe.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bindings {

namespace {
constexpr size_t kMostAnswers = 1000;

/// Versions, names and sources as a lock writes them.
bool isPlain(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return uint8_t(c) > 0x20 && c != '"' && c != '\\' && c != '`' && c != 0x7f;
  });
}
} // namespace

std::vector<const Binding*> unknownCrates(llvm::StringRef lock, llvm::ArrayRef<Binding> bindings) {
  std::vector<LockedPackage> locked;
  if (llvm::Expected<std::vector<LockedPackage>> parsed = parseLock(lock))
    locked = std::move(*parsed);
  else
    llvm::consumeError(parsed.takeError());
  std::vector<const Binding*> crates;
  for (const Binding& binding : bindings) {
    const RustBinding::Source source = binding.written->source;
    if (source != RustBinding::Source::Version && source != RustBinding::Source::Git)
      continue;
    if (llvm::none_of(locked, [&](const LockedPackage& package) {
          return package.name == binding.written->key && !package.source.empty();
        }))
      crates.push_back(&binding);
  }
  return crates;
}

std::string probeManifest(llvm::ArrayRef<const Binding*> crates, llvm::ArrayRef<std::string> pins) {
  std::string text = "# Written by gos: asks which versions there are.\n[package]\n"
                     "name = \"gossamer-question\"\nversion = \"0.0.0\"\nedition = \"2021\"\n"
                     "publish = false\n\n[workspace]\n\n[patch.\"https://gossamer.invalid/\"]\n";
  for (const auto& [index, binding] : llvm::enumerate(crates))
    text += "binding" + std::to_string(index) + " = " +
            dependencyOf(*binding, pins[index].empty() ? "" : "=" + pins[index],
                         /*withFeatures=*/false) +
            "\n";
  return text;
}

std::optional<Ambiguous> ambiguousCrate(llvm::ArrayRef<std::string> complaint) {
  Ambiguous found;
  for (llvm::StringRef line : complaint) {
    if (line.contains("resolved to more than one candidate"))
      found.crate = line.split("patch for `").second.split('`').first.str();
    const llvm::StringRef version = line.split("version = \"=").second.split('"').first;
    if (!found.crate.empty() && !version.empty() && found.newest.empty())
      found.newest = version.str();
  }
  if (!isPlain(found.crate) || !isPlain(found.newest))
    return std::nullopt;
  return found;
}

std::vector<LockedPackage> probeAnswer(llvm::StringRef lock) {
  std::vector<LockedPackage> answers;
  bool isAnswer = false;
  for (llvm::StringRef line : llvm::split(lock, '\n')) {
    line = line.rtrim();
    if (line.starts_with("[")) {
      isAnswer = line == "[[patch.unused]]" && answers.size() < kMostAnswers;
      if (isAnswer)
        answers.emplace_back();
      continue;
    }
    auto [key, value] = line.split(" = ");
    if (!isAnswer || !value.consume_front("\"") || !value.consume_back("\"") || !isPlain(value))
      continue;
    if (key == "name")
      answers.back().name = value.str();
    else if (key == "version")
      answers.back().version = value.str();
    else if (key == "source")
      answers.back().source = value.str();
  }
  llvm::erase_if(answers, [](const LockedPackage& each) {
    return each.name.empty() || each.version.empty() || each.source.empty();
  });
  return answers;
}

} // namespace gos::bindings
