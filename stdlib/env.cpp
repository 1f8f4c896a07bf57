// std::env, std::os and std::thread's facts about the host. Changes stay in this Vm and its
// children.

#include "stdlib/host_files.h"
#include "stdlib/support.h"

#include "vm/map.h"
#include "vm/text.h"

#include "llvm/Support/SHA256.h"

#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace gos::stdlib {

namespace {

bool isBelowFull(const Vm& vm) {
  return vm.inFold() && vm.callingLevel().level != ComptimeIo::Full;
}

Trap refuse(Arguments& arguments, FileResult& result) {
  return result.kind == FileResult::Kind::Trapped ? std::move(result.trap)
                                                  : arguments.returnErr(result.message);
}

} // namespace

namespace bodies {

Trap EnvArgs(Arguments& arguments) {
  return arguments.returnStrings(hostOf(arguments.vm()).options().arguments);
}
Trap EnvProgramName(Arguments& arguments) {
  return arguments.returnString(hostOf(arguments.vm()).options().programName);
}

/// Below `full` only the names given with --comptime-env; the value is an input of the fold and is
/// shown nowhere.
Trap EnvVar(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const StringRef name = arguments.string(0);
  if (isBelowFull(vm) && !decideEnv(vm.callingPolicy(), name).allowed)
    return vm.deny(Capability::EnvRead, ("the variable `" + name + "`").str(),
                   ("--comptime-env " + name).str());
  const std::optional<std::string> value = hostOf(vm).variable(name);
  if (vm.inFold()) {
    if (Trap trap = vm.charge(1000)) // it is recorded
      return trap;
    vm::FoldInput input;
    input.kind = vm::FoldInput::Kind::Environment;
    input.package = vm.callingPackage();
    input.name = name.str();
    input.detail = value ? "set" : "unset";
    if (value) {
      input.size = value->size();
      llvm::SHA256 hash;
      hash.update(*value);
      input.sha256 = hash.final();
    }
    vm.recordInput(std::move(input));
  }
  if (!value)
    return arguments.returnNone();
  if (!vm::isValidUtf8(*value))
    return Trap::panic(("the variable `" + name + "` is not UTF-8").str());
  return arguments.returnSomeString(*value);
}

Trap EnvVars(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (isBelowFull(vm))
    return vm.deny(Capability::EnvRead, "all variables at once");
  vm::MapObject* map = vm.heap().newMap(arguments.resultLayout());
  if (map == nullptr)
    return vm.heapTrap();
  const Layout& layout = vm.layout(arguments.resultLayout());
  for (const auto& [name, value] : hostOf(vm).variables()) {
    if (!vm::isValidUtf8(name) || !vm::isValidUtf8(value))
      continue;
    Builder builder(vm);
    const Value key = builder.string(layout.element, name);
    const Value text = builder.string(layout.value, value);
    Trap trap;
    bool present = false;
    if (key == 0 || text == 0) {
      vm.releaseValue(key, layout.element);
      vm.releaseValue(text, layout.value);
      trap = vm.heapTrap();
    } else {
      trap = vm::mapInsert(vm, map, key, text, present);
    }
    if (trap) {
      vm.heap().release(map);
      return trap;
    }
  }
  return arguments.returnOwned(vm::fromObject(map));
}

Trap EnvCurrentDir(Arguments& arguments) {
  std::string path;
  FileResult result = HostFiles(arguments.vm()).currentDirectory(path);
  return result.done() ? arguments.returnOkString(path) : refuse(arguments, result);
}

Trap EnvHomeDir(Arguments& arguments) {
  const std::optional<std::string> home = hostOf(arguments.vm()).variable("HOME");
  return home && vm::isValidUtf8(*home) ? arguments.returnSomeString(*home)
                                        : arguments.returnNone();
}

Trap EnvTempDir(Arguments& arguments) {
  const std::optional<std::string> directory = hostOf(arguments.vm()).variable("TMPDIR");
  return arguments.returnString(
      directory && !directory->empty() && vm::isValidUtf8(*directory) ? *directory : "/tmp");
}

Trap EnvSetVar(Arguments& arguments) {
  const StringRef name = arguments.string(0);
  const StringRef value = arguments.string(1);
  if (name.empty() || name.contains('=') || name.contains('\0') || value.contains('\0'))
    return Trap::panic(
        ("set_var: `" + name + "` cannot be the name of a variable, or its value has a NUL byte")
            .str());
  hostOf(arguments.vm()).setVariable(name, value.str());
  return arguments.returnUnit();
}
Trap EnvUnsetVar(Arguments& arguments) {
  hostOf(arguments.vm()).setVariable(arguments.string(0), std::nullopt);
  return arguments.returnUnit();
}
Trap EnvSetCurrentDir(Arguments& arguments) {
  FileResult result = HostFiles(arguments.vm()).changeDirectory(arguments.string(0));
  return result.done() ? arguments.returnOkUnit() : refuse(arguments, result);
}

// ---- os, thread
// -----------------------------------------------------------------------------------

Trap OsFamily(Arguments& arguments) {
  return arguments.returnString("unix");
}
Trap OsArch(Arguments& arguments) {
#if defined(__x86_64__)
  return arguments.returnString("x86_64");
#elif defined(__aarch64__)
  return arguments.returnString("aarch64");
#else
  return arguments.returnString("unknown");
#endif
}
Trap OsHostName(Arguments& arguments) {
  utsname names{};
  const bool known = ::uname(&names) == 0 && vm::isValidUtf8(names.nodename);
  return arguments.returnString(known ? StringRef(names.nodename) : StringRef());
}
Trap ThreadNumCpus(Arguments& arguments) {
  return arguments.returnInteger(std::max<int64_t>(std::thread::hardware_concurrency(), 1));
}

} // namespace bodies
} // namespace gos::stdlib
