#pragma once
// `bwr --self-test`: every level is proven now, whatever is stored, and each act is told.

#include "sandbox/command/explain.h"
#include "sandbox/linux/self_proof.h"

#include <string>
#include <vector>

namespace gos::sandbox {

struct SelfTestLevel {
  SandboxLevel level = SandboxLevel::Basic;
  bool proven = false;
  bool pidNamespace = true;
  std::vector<ProofAct> acts;
  std::string primitive, reason, fix; // of a level that could not be started
};
struct SelfTest {
  std::vector<SelfTestLevel> levels; // basic, standard, strict
  /// Of all levels or of one: 0, or 64 where it is not given.
  int exitCode() const;
};

SelfTest selfTest();
/// Promises with their acts; what did not hold comes with the errno that was seen.
std::string selfTestText(const SelfTest& test, const ExplainOptions& options);
/// One object, `"schema": 1`, on one line.
std::string selfTestJson(const SelfTest& test);

} // namespace gos::sandbox
