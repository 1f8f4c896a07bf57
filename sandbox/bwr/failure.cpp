#include "sandbox/bwr/failure.h"

#include "diagnostics/escape.h"
#include "sandbox/bwr/profile_set.h"
#include "sandbox/bwr/program.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::bwr {

namespace {
llvm::StringRef kindOf(sandbox::RunProblem problem) {
  switch (problem) {
  case sandbox::RunProblem::Policy:
    return "policy";
  case sandbox::RunProblem::NotFound:
    return "not-found";
  case sandbox::RunProblem::Unavailable:
    return "unavailable";
  case sandbox::RunProblem::NotExecutable:
    return "not-executable";
  }
  return {};
}
} // namespace

Failure failureOf(llvm::Error error) {
  Failure failure;
  llvm::handleAllErrors(
      std::move(error),
      [&](const sandbox::RunError& run) {
        failure = {run.exitCode(),     kindOf(run.problem()), run.text().str(),
                   run.remedy().str(), run.primitive().str(), {}};
      },
      [&](const sandbox::PolicyError& policy) {
        failure = {kExitPolicy, "policy", policy.text().str(), policy.remedy().str(), {}, {}};
      },
      [&](const ProfileError& profile) {
        const bool usage = profile.kind() == ProfileError::Kind::Unknown;
        failure = {usage ? kExitUsage : kExitPolicy,
                   usage ? "usage" : "policy",
                   profile.text().str(),
                   profile.remedy().str(),
                   {},
                   profile.diagnostics().str()};
      },
      [&](const llvm::ErrorInfoBase& other) { failure.text = other.message(); });
  return failure;
}

void print(llvm::raw_ostream& out, const Failure& failure) {
  out << failure.details;
  out << "bwr: " << escapeForText(failure.text) << '\n';
  if (!failure.remedy.empty())
    out << "try: " << escapeForText(failure.remedy) << '\n';
}

void printNote(llvm::raw_ostream& out, llvm::StringRef text) {
  out << "bwr: note: " << escapeForText(text) << '\n';
}

} // namespace gos::bwr
