// A plan as text for people, one fact a line.

#include "sandbox/linux/plan.h"

#include "diagnostics/escape.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::sandbox {

llvm::StringRef spelling(ViewStep::Kind kind) {
  switch (kind) {
  case ViewStep::Kind::MakeDirectory:
    return "directory";
  case ViewStep::Kind::MakeFile:
    return "file";
  case ViewStep::Kind::MakeLink:
    return "link";
  case ViewStep::Kind::Bind:
    return "bind";
  case ViewStep::Kind::Cover:
    return "cover";
  case ViewStep::Kind::Mask:
    return "mask";
  case ViewStep::Kind::Proc:
    return "proc";
  case ViewStep::Kind::DevicePts:
    return "devpts";
  case ViewStep::Kind::SharedMemory:
    return "shared-memory";
  }
  return {};
}

namespace {

struct NamespaceName {
  Namespace bit;
  llvm::StringRef name;
};
constexpr NamespaceName kNamespaces[] = {
    {kUserNamespace, "user"},     {kMountNamespace, "mount"}, {kNetworkNamespace, "network"},
    {kIpcNamespace, "ipc"},       {kPidNamespace, "pid"},     {kUtsNamespace, "uts"},
    {kCgroupNamespace, "cgroup"},
};

void printStep(llvm::raw_ostream& out, const ViewStep& step) {
  out << "view " << spelling(step.kind) << ' ' << escapeForText(step.path);
  switch (step.kind) {
  case ViewStep::Kind::Bind:
    if (step.source != step.path)
      out << " from " << escapeForText(step.source);
    out << (step.readOnly ? " read-only" : " read-write");
    if (step.devices)
      out << " devices";
    out << " object " << step.object.device << ':' << step.object.inode;
    break;
  case ViewStep::Kind::MakeLink:
    out << " to " << escapeForText(step.text);
    break;
  case ViewStep::Kind::MakeFile:
    out << " of " << step.text.size() << " bytes";
    break;
  case ViewStep::Kind::Proc:
    out << (step.readOnly ? " read-only" : " read-write");
    break;
  case ViewStep::Kind::MakeDirectory:
  case ViewStep::Kind::Cover:
  case ViewStep::Kind::Mask:
  case ViewStep::Kind::DevicePts:
  case ViewStep::Kind::SharedMemory:
    break;
  }
  if (step.optional)
    out << " optional";
  if (step.rule)
    out << " rule " << *step.rule;
  out << '\n';
}

void printRights(llvm::raw_ostream& out, uint64_t rights) {
#define GOS_RIGHT(name, bit, abi)                                                                  \
  if (rights & (uint64_t(1) << bit))                                                               \
    out << " " #name;
#include "sandbox/rights.def"
}

void printLandlock(llvm::raw_ostream& out, const LandlockPlan& landlock) {
  if (!landlock.enabled) {
    out << "landlock off\n";
    return;
  }
  out << "landlock abi " << landlock.abi << "\nlandlock handles";
  printRights(out, landlock.handledFileSystem);
  out << '\n';
  if (landlock.handledNetwork & kLandlockBindTcp)
    out << "landlock handles tcp bind\n";
  if (landlock.handledNetwork & kLandlockConnectTcp)
    out << "landlock handles tcp connect\n";
  if (landlock.scopes & kLandlockScopeAbstract)
    out << "landlock scopes abstract sockets\n";
  if (landlock.scopes & kLandlockScopeSignal)
    out << "landlock scopes signals\n";
  for (const LandlockRule& rule : landlock.rules) {
    out << "landlock rule " << escapeForText(rule.path) << ':';
    printRights(out, rule.rights);
    out << (rule.optional ? " optional\n" : "\n");
  }
}

} // namespace

std::string toText(const ChildPlan& plan) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "level " << spelling(plan.level) << '\n';
  for (const NamespaceName& entry : kNamespaces)
    if (plan.namespaces & entry.bit)
      out << "namespace " << entry.name << '\n';
  if (plan.raiseLoopback)
    out << "loopback up\n";
  out << (plan.keepRoot ? "root of the host\n" : "root of its own\n");
  for (const ViewStep& step : plan.view)
    printStep(out, step);
  for (const Placeholder& placeholder : plan.placeholders)
    out << "placeholder " << (placeholder.directory ? "directory " : "file ")
        << escapeForText(placeholder.path) << '\n';
  printLandlock(out, plan.landlock);
  if (plan.filter.empty())
    out << "filter off\n";
  else
    out << "filter of " << plan.filter.size() << " instructions"
        << (plan.filterNotifies ? ", notifies\n" : "\n");
  out << "capabilities " << (plan.dropCapabilities ? "dropped\n" : "kept\n");
  out << "new privileges " << (plan.noNewPrivileges ? "never\n" : "as the system has it\n");
  out << "core files " << (plan.coreDumps ? "as the caller has it\n" : "none\n");
  if (!plan.temporaryDirectory.empty())
    out << "temp " << escapeForText(plan.temporaryDirectory) << '\n';
  if (!plan.command.program.empty())
    out << "program " << escapeForText(plan.command.program) << '\n';
  for (const std::string& argument : plan.command.arguments)
    out << "argument " << escapeForText(argument) << '\n';
  for (const std::string& variable : plan.command.environment)
    out << "environment " << escapeForText(variable) << '\n';
  out << "directory " << escapeForText(plan.command.workingDirectory) << '\n';
  if (plan.command.newSession)
    out << "session of its own\n";
  return text;
}

} // namespace gos::sandbox
