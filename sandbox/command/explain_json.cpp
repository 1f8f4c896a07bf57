// The explanation as one JSON object. Text that may be any bytes (paths, values) is escaped like
// all JSON of ours; where it is not UTF-8 a second member, its name and `_bytes`, has the bytes in
// base16.

#include "sandbox/command/explain.h"

#include "diagnostics/json_writer.h"
#include "sandbox/command/explain_facts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace gos::sandbox {

namespace {

bool isUtf8(llvm::StringRef text) {
  const llvm::UTF8* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

void bytesMember(JsonWriter& json, llvm::StringRef name, llvm::StringRef value) {
  json.member(name, value);
  if (!isUtf8(value))
    json.member(name.str() + "_bytes", llvm::toHex(value, /*LowerCase=*/true));
}

void booleanMember(JsonWriter& json, llvm::StringRef name, bool value) {
  json.key(name);
  json.boolean(value);
}

void writeRule(JsonWriter& json, const PathRule& rule) {
  json.key("rule");
  json.beginObject();
  bytesMember(json, "path", rule.path);
  json.member("access", spelling(rule.access));
  json.member("origin", spelling(rule.origin));
  if (!rule.writtenAs.empty())
    bytesMember(json, "written_as", rule.writtenAs);
  json.endObject();
}

void writeView(JsonWriter& json, const Policy& policy, const ChildPlan& plan) {
  json.key("view");
  json.beginArray();
  for (const ExplainedStep& entry : explainedView(policy, plan)) {
    const ViewStep& step = *entry.step;
    json.beginObject();
    bytesMember(json, "path", step.path);
    json.member("kind", spelling(entry.role));
    if (step.kind == ViewStep::Kind::Bind)
      json.member("access", spelling(step.readOnly ? Access::ReadOnly : Access::ReadWrite));
    else if (step.kind == ViewStep::Kind::Cover)
      json.member("access", spelling(Access::Deny));
    if (step.kind == ViewStep::Kind::Bind && step.source != step.path)
      bytesMember(json, "source", step.source);
    if (step.kind == ViewStep::Kind::MakeLink)
      bytesMember(json, "target", step.text);
    if (entry.standsIn)
      booleanMember(json, "stands_in", true);
    if (entry.rule != nullptr)
      writeRule(json, *entry.rule);
    json.endObject();
  }
  json.endArray();
}

void writeTexts(JsonWriter& json, llvm::StringRef name, llvm::ArrayRef<std::string> texts) {
  json.key(name);
  json.beginArray();
  for (const std::string& text : texts)
    json.string(text);
  json.endArray();
}

} // namespace

std::string explainJson(const Policy& policy, const ChildPlan& plan,
                        const ExplainedProfile* profile) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", uint64_t(1));
  json.member("level", spelling(plan.level));
  if (profile != nullptr)
    for (const auto& [name, value] :
         {std::pair<llvm::StringRef, llvm::StringRef>{"profile", profile->name},
          {"phase", profile->phase}}) {
      json.key(name);
      if (value.empty())
        json.null();
      else
        json.string(value);
    }
  bytesMember(json, "directory", plan.command.workingDirectory);
  booleanMember(json, "files_bounded", hasFileSystemPolicy(plan.level));
  writeView(json, policy, plan);
  json.member("network", spelling(policy.network()));
  booleanMember(json, "network_bounded", hasFileSystemPolicy(plan.level));
  json.member("temp",
              spelling(plan.temporaryDirectory.empty() ? TempMode::Inherit : TempMode::Private));

  json.key("environment");
  json.beginArray();
  for (const ExplainedVariable& variable : explainedEnvironment(policy, plan)) {
    json.beginObject();
    bytesMember(json, "name", variable.name);
    json.member("from", variable.set ? "set" : "passed");
    // What the caller has is the caller's; what is set is part of the policy.
    if (variable.set)
      bytesMember(json, "value", variable.value);
    json.endObject();
  }
  json.endArray();

  json.key("mechanisms");
  json.beginArray();
  for (const ExplainedMechanism& mechanism : explainedMechanisms(plan)) {
    json.beginObject();
    json.member("name", mechanism.name);
    json.member("detail", mechanism.detail);
    json.endObject();
  }
  json.endArray();
  writeTexts(json, "limits", limitsOf(policy, plan));
  json.endObject();
  return json.finish();
}

} // namespace gos::sandbox
