#include "compiler/testing/worker.h"

#include "compiler/testing/protocol.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"
#include "stdlib/builtins.h"
#include "stdlib/foreign.h"
#include "stdlib/host_state.h"
#include "vm/coverage.h"
#include "vm/format.h"
#include "vm/object.h"
#include "vm/vm.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::testing {
namespace {

using llvm::StringRef;

constexpr uint64_t kMaxModuleBytes = uint64_t(1) << 32;
constexpr uint64_t kMaxErrBytes = 32 << 10; // of the text of a returned Err

int fail(StringRef why) {
  llvm::errs() << "gos: error: the test could not be run: " << why << '\n';
  return kWorkerFailed;
}

/// The whole file from its start, wherever the shared position is.
bool readModule(std::string& bytes) {
  struct stat status{};
  if (::fstat(kModuleFd, &status) != 0 || status.st_size <= 0 ||
      uint64_t(status.st_size) > kMaxModuleBytes)
    return false;
  bytes.resize(size_t(status.st_size));
  for (size_t at = 0; at != bytes.size();) {
    const ssize_t got = retryInterrupted(
        [&] { return ::pread(kModuleFd, bytes.data() + at, bytes.size() - at, off_t(at)); });
    if (got <= 0)
      return false;
    at += size_t(got);
  }
  return true;
}

bool writeRecord(StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        retryInterrupted([&] { return ::write(kRecordFd, bytes.data(), bytes.size()); });
    if (put <= 0)
      return false;
    bytes = bytes.drop_front(size_t(put));
  }
  return true;
}

void describeTrap(const vm::TrapDetails& trap, TestResult& result) {
  result.ending = trap.kind == vm::TrapKind::Exit    ? Ending::Exited
                  : trap.kind == vm::TrapKind::Panic ? Ending::Panicked
                                                     : Ending::Trapped;
  result.code = vm::codeOf(trap.kind).str();
  result.message = trap.message;
  result.exitCode = trap.exitCode;
  result.trace.clear();
  for (const vm::TraceFrame& frame : trap.trace)
    if (!frame.transparent && frame.package != 0)
      result.trace.push_back({frame.function, frame.span});
}

/// The memory in which the places that are reached are marked, whatever ends the process; empty if
/// nobody asks.
llvm::MutableArrayRef<uint8_t> reachedPlaces(const vm::Module& module) {
  const size_t count = vm::coverPlaceCount(module);
  struct stat status{};
  if (count == 0 || ::fcntl(kReachedFd, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fstat(kReachedFd, &status) != 0 || status.st_size < off_t(count))
    return {};
  void* memory = ::mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED, kReachedFd, 0);
  if (memory == MAP_FAILED)
    return {};
  return {static_cast<uint8_t*>(memory), count};
}

/// What the function answered: an Err is told with its text.
void describeAnswer(vm::Vm& machine, vm::LayoutId id, vm::Value value, TestResult& result) {
  const vm::Layout& layout = machine.layout(id);
  if (layout.kind == vm::LayoutKind::Enum && value) {
    const vm::StructObject* object = vm::asStruct(value);
    const vm::VariantLayout& variant = layout.variants[object->tag];
    if (variant.name == "Err") {
      result.ending = Ending::ReturnedErr;
      vm::TextBuffer text(kMaxErrBytes);
      vm::Trap trap = variant.fields.empty()
                          ? vm::Trap()
                          : vm::formatDisplay(machine, object->slots()[0], variant.fields[0], text);
      result.message = trap ? trap->message : text.text().str();
    }
  }
  machine.releaseValue(value, id);
}

} // namespace

int runWorker(int argc, char** argv) {
  const auto start = std::chrono::steady_clock::now();
  // It must not outlive who started it, and what it starts must not hold its descriptors.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int fd : {kModuleFd, kRecordFd})
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
      return fail("this argument is for `gos test` itself");
  const bool hasForeign = ::fcntl(kForeignFd, F_SETFD, FD_CLOEXEC) == 0;
  uint32_t entry = 0;
  uint64_t seed = 0;
  std::string bytes;
  if (argc != 4 || StringRef(argv[2]).getAsInteger(10, entry) ||
      StringRef(argv[3]).getAsInteger(10, seed) || !readModule(bytes))
    return fail("its program did not arrive");
  llvm::Expected<vm::Module> module = vm::deserialise(bytes);
  if (!module)
    return fail(llvm::toString(module.takeError()));
  bytes = std::string();
  if (entry >= module->regions.size())
    return fail("it has no such entry");

  std::unique_ptr<stdlib::ForeignLibrary> foreign;
  if (hasForeign)
    foreign = stdlib::ForeignLibrary::create(kForeignFd);
  stdlib::HostOptions host;
  host.programName = "test";
  vm::VmOptions options;
  options.mode = vm::Mode::Program;
  options.foreign = foreign.get();
  options.host = stdlib::makeHost(std::move(host));
  options.scheduleSeed = seed;
  auto machine = vm::Vm::create(*module, stdlib::nativeTable(), std::move(options));
  if (!machine)
    return fail(llvm::toString(machine.takeError()));

  if (const auto reached = reachedPlaces(*module); !reached.empty())
    (*machine)->watchLines(reached);

  const vm::FunctionId function = module->regions[entry];
  TestResult result;
  vm::Value value = 0;
  vm::Trap trap = (*machine)->run(function, value);
  if (trap && trap->kind != vm::TrapKind::Exit)
    (void)stdlib::runPanicHook(**machine, trap);
  vm::Trap late = stdlib::runExitHooks(**machine);
  if (trap)
    describeTrap(*trap, result);
  else
    describeAnswer(**machine, module->functions[vm::index(function)].result, value, result);
  // A hook that fails is a failure of the test that left it; what failed first is what is told.
  if (late && !trap && result.ending == Ending::Returned)
    describeTrap(*late, result);
  // Output that nobody could take is not the test's affair.
  (void)bool(stdlib::finishOutput(**machine));
  const stdlib::Assertions& counted = stdlib::hostOf(**machine).assertions;
  result.assertions = counted.made;
  result.failedChecks = counted.failed;
  result.firstFailure = counted.firstFailure;
  result.milliseconds = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count());
  return writeRecord(encode(result)) ? 0 : kWorkerFailed;
}

} // namespace gos::testing
