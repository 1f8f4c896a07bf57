// Any bytes as a module: read, verify, run every function that takes nothing, under a small budget
// and a policy that grants nothing.

#include "vm/verifier.h"
#include "vm/vm.h"

#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>

using namespace gos;
using namespace gos::vm;

namespace {

Trap lengthBody(Arguments& arguments) {
  return arguments.returnInteger(int64_t(arguments.string(0).size()));
}
Trap touchBody(Arguments&) {
  __builtin_trap();
} // the gate keeps everybody out

constexpr Native kNatives[] = {
    {"length", "fn(text: String) -> i64", Capability::Pure, lengthBody},
    {"touch", "fn(text: String) -> i64", Capability::Write, touchBody},
};

llvm::Error checkImport(const Native&, const NativeImport& import, const Module& module) {
  const auto kind = [&](LayoutId id) { return module.layouts[index(id)].kind; };
  if (import.parameters.size() == 1 && !import.inOut[0] &&
      kind(import.parameters[0]) == LayoutKind::String && kind(import.result) == LayoutKind::Int)
    return llvm::Error::success();
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 "import does not fit");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  llvm::Expected<Module> module = deserialise({reinterpret_cast<const char*>(data), size});
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  const NativeTable natives(kNatives, checkImport);
  ComptimePolicy policy;
  policy.commandLine = ComptimeIo::None;
  policy.packages.resize(2);
  VmOptions options;
  options.policy = &policy;
  options.regionPackage = 1;
  options.steps = 20'000;
  options.heapBytes = uint64_t(4) << 20;
  options.depth = 200;
  auto vm = Vm::create(*module, natives, std::move(options));
  if (!vm) {
    llvm::consumeError(vm.takeError());
    return 0;
  }
  size_t started = 0;
  for (size_t i = 0; i < module->functions.size() && started < 16; ++i) {
    if (module->functions[i].parameterCount != 0)
      continue;
    ++started;
    Value result = 0;
    if (!(*vm)->run(FunctionId(uint32_t(i)), result))
      (*vm)->releaseValue(result, module->functions[i].result);
  }
  return 0;
}
