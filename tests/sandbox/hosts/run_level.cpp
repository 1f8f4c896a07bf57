// run_level LEVEL: starts `true` at a level and answers as bwr does: 0, or 64 with the primitive,
// the text and the fix, one a line. run_level --capabilities and --self-test print their JSON.

#include "sandbox/command/capabilities.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/command/self_test.h"

#include "llvm/Support/raw_ostream.h"

using namespace gos;
using namespace gos::sandbox;

int main(int argc, char** argv) {
  const llvm::StringRef word = argc == 2 ? argv[1] : "";
  if (word == "--capabilities") {
    llvm::outs() << capabilitiesJson() << "\n";
    return 0;
  }
  if (word == "--capabilities-text") {
    llvm::outs() << capabilitiesText(ExplainOptions{});
    return 0;
  }
  if (word == "--self-test") {
    const SelfTest test = selfTest();
    llvm::outs() << selfTestText(test, ExplainOptions{});
    return test.exitCode();
  }
  const std::optional<SandboxLevel> level = sandboxLevelFromSpelling(word);
  if (!level) {
    llvm::errs() << "usage: run_level LEVEL | --capabilities | --capabilities-text | --self-test\n";
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
