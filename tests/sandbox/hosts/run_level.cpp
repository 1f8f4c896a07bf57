// run_level LEVEL: starts `true` at a level and answers as bwr does: 0, or 64 with the primitive,
// the text and the fix, one a line. run_level --capabilities prints its JSON; --probes how much the
// children of this process have done: before anything was asked, after it was asked once, after it
// was asked again by many threads, and after a proof, which always has children.

#include "sandbox/command/capabilities.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/linux/features.h"
#include "sandbox/linux/self_proof.h"

#include "llvm/Support/raw_ostream.h"

#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace gos;
using namespace gos::sandbox;

int main(int argc, char** argv) {
  const llvm::StringRef word = argc == 2 ? argv[1] : "";
  if (word == "--capabilities") {
    llvm::outs() << capabilitiesJson() << "\n";
    return 0;
  }
  if (word == "--probes") {
    const auto done = [] {
      rusage children{};
      ::getrusage(RUSAGE_CHILDREN, &children);
      return children.ru_minflt;
    };
    const auto ask = [] {
      (void)capabilitiesJson();
      (void)primitives();
      (void)levels();
    };
    llvm::outs() << done() << "\n";
    ask();
    llvm::outs() << done() << "\n";
    std::vector<std::thread> threads;
    for (int count = 0; count != 8; ++count)
      threads.emplace_back(ask);
    for (std::thread& thread : threads)
      thread.join();
    llvm::outs() << done() << "\n";
    llvm::Expected<Proof> proof = proveNow(SandboxLevel::Basic);
    llvm::outs() << done() << "\n";
    if (!proof)
      llvm::consumeError(proof.takeError());
    return 0;
  }
  const std::optional<SandboxLevel> level = sandboxLevelFromSpelling(word);
  if (!level) {
    llvm::errs() << "usage: run_level LEVEL | --capabilities | --probes\n";
    return 2;
  }
  const HostFacts facts = hostFacts();
  const Policy policy = completeCommandPolicy(
      baseViewPolicy(facts).withLevel(*level).withWorkingDirectory("/usr"), facts);
  RunOptions options;
  options.program = "/bin/true";
  options.environment = facts.environment;
  llvm::Expected<RunResult> result = run(policy, options);
  if (result)
    return result->code;
  int code = 126;
  llvm::handleAllErrors(
      result.takeError(),
      [&](const RunError& error) {
        code = error.exitCode();
        llvm::outs() << error.primitive() << "\n" << error.text() << "\n" << error.remedy() << "\n";
      },
      [&](const llvm::ErrorInfoBase& other) { llvm::outs() << "\n"
                                                           << other.message() << "\n\n"; });
  return code;
}
