#pragma once
// Runs the phases that a command asks for: project, parse, check, fold, and check again over what a
// fold spliced.

#include "compiler/check/check.h"
#include "compiler/driver/options.h"
#include "compiler/fold/fold.h"
#include "manifest/project.h"

#include <memory>
#include <optional>
#include <string>

namespace gos::driver {

/// One compilation: owns everything the phases share.
class Compilation {
public:
  explicit Compilation(const Options& options);

  /// Loads, parses, checks and folds what FILE or DIR names. False after reports. `needsMain`:
  /// report its absence.
  bool compile(llvm::StringRef path, bool needsMain);
  /// The complete program as a module, with `main` as its entry. After a compile that succeeded.
  std::optional<vm::Module> lowerProgram();

  SourceMap& sources() { return sources_; }
  Engine& engine() { return engine_; }
  check::Program& program() { return *program_; }
  const Project& project() const { return *project_; }
  size_t fileCount() const { return fileCount_; }
  size_t lineCount() const;
  size_t regionCount() const { return regionCount_; }

private:
  bool parseProject();
  bool checkAndFold(bool needsMain);

  const Options& options_;
  SourceMap sources_;
  Engine engine_{sources_};
  ast::Context context_;
  std::optional<Project> project_;
  std::unique_ptr<check::ProgramInput> input_;
  std::optional<check::Program> program_;
  ComptimePolicy policy_;
  size_t fileCount_ = 0;
  size_t regionCount_ = 0;
};

} // namespace gos::driver
