#pragma once
// One build of the bindings of a program, in its order: query, offline resolve, fetch, lock, build,
// library. bindings.cpp decides whether there has to be one.

#include "compiler/bindings/artifact.h"
#include "compiler/bindings/cargo.h"
#include "compiler/bindings/linker_arguments.h"
#include "compiler/bindings/lock.h"
#include "compiler/bindings/messages.h"
#include "compiler/bindings/policies.h"

namespace gos::bindings {

class Build {
public:
  Build(const BuildFacts& facts, const BuildOptions& options, const Cache& cache, Engine& engine)
      : facts_(facts), options_(options), cache_(cache), engine_(engine) {}

  /// The library, or none after reports.
  std::optional<Artifact> run();
  /// The directories of the packages that are no downloads, as the build named them.
  std::vector<std::string> pathPackages() const { return messages_.pathPackages(); }

private:
  struct Finished {
    CargoResult result;
    Messages messages;
  };
  /// What of a phase is shown while it runs.
  enum class Shown : uint8_t { Progress, Updates, Nothing };
  /// Runs one phase; `watch`: what is refused is collected. None after a report: the sandbox, an
  /// interrupt.
  std::optional<Finished> start(Phase phase, std::vector<std::string> arguments,
                                Shown shown = Shown::Progress, bool watch = false);
  /// A fetch with the network; where Cargo's own git does not work, once more with the program.
  std::optional<Finished> startOnline(std::vector<std::string> arguments,
                                      Shown shown = Shown::Progress);
  bool checkVersion();
  bool fetch();
  bool refuseInner(llvm::StringRef lock);
  /// What registries and repositories offer of the bindings that no lock knows; empty where that
  /// cannot be found out. None after a report.
  std::optional<std::vector<LockedPackage>> findCrates(llvm::StringRef lock);
  enum class Resolved : uint8_t { No, Yes, Reported };
  Resolved resolveLocked();
  Resolved resolveOnline(llvm::StringRef lock);
  bool build();
  void reportFetch(const Finished& finished);
  void reportBuild(const Finished& finished);
  void addDenials(Diagnostic& report, const Messages& messages);
  /// Refuses arguments that are not allowed, and tells of the others. True if there is none of
  /// those.
  bool judgeArguments(llvm::ArrayRef<LinkerArgument> arguments,
                      llvm::ArrayRef<std::string> libraries);
  void relay(llvm::StringRef line);
  void endProgress();
  void reportIgnored();

  const BuildFacts& facts_;
  const BuildOptions& options_;
  const Cache& cache_;
  Engine& engine_;
  Messages messages_;
  bool progressOpen_ = false;
  bool gitProgram_ = false; // Cargo's own git does not work here: the program git fetches
  std::string version_;
};

/// Reports an error of the sandbox or of a policy, with its remedy.
void reportSandbox(llvm::Error error, Engine& engine);
/// Reports an error of the cache.
void reportCache(llvm::Error error, Engine& engine);

/// The arguments of a phase.
std::vector<std::string> argumentsOf(Phase phase, const BuildFacts& facts, const Cache& cache);

} // namespace gos::bindings
