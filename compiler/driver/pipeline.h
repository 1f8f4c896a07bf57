#pragma once
// Runs the phases that a command asks for: project, parse, check, fold, and check again over what a
// fold spliced.

#include "compiler/bindings/bindings.h"
#include "compiler/check/check.h"
#include "compiler/driver/options.h"
#include "compiler/executable/place.h"
#include "compiler/fold/fold.h"
#include "manifest/project.h"
#include "stdlib/foreign.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gos::driver {

/// One compilation: owns everything the phases share.
class Compilation {
public:
  explicit Compilation(const Options& options);

  /// Makes this a compilation of tests: `cfg(test)` holds. `afterParse` may look for tests and add
  /// functions; it may report.
  void compileTests(std::function<void(check::ProgramInput&)> afterParse);
  /// Loads, parses, checks and folds what FILE or DIR names. False after reports. `needsMain`:
  /// report its absence.
  bool compile(llvm::StringRef path, bool needsMain);
  /// Only loads and parses it: for what documents, and for what goes on by itself.
  bool open(llvm::StringRef path);
  /// A program of no file, which lies in the working directory as far as policies go.
  bool openEmpty();
  /// Builds or finds the Rust bindings of an opened program and declares them. True without any.
  bool addBindings();
  /// The complete program as a module, with `main` as its entry. After a compile that succeeded.
  std::optional<vm::Module> lowerProgram();
  /// The same with these functions as entries, in Module::regions, and without `main`.
  std::optional<vm::Module> lowerEntries(llvm::ArrayRef<ast::FunctionItem*> entries);
  /// Was it a compile-time region that `compile` failed at?
  bool foldFailed() const { return foldFailed_; }
  /// Reports what this command is about to write and has read: a source, or what a region looked
  /// at, for then builds never settle (T026). False after a report. After a compile, whatever came
  /// of it.
  bool checkOutput(const executable::Place& place);

  SourceMap& sources() { return sources_; }
  Engine& engine() { return engine_; }
  check::Program& program() { return *program_; }
  const Project& project() const { return *project_; }
  check::ProgramInput& input() { return *input_; }
  const ComptimePolicy& policy() const { return policy_; }
  /// For folds and runs of what calls a binding; null without any.
  stdlib::ForeignLibrary* foreign() const { return foreign_.get(); }
  size_t fileCount() const { return fileCount_; }
  size_t lineCount() const;
  size_t regionCount() const { return regionCount_; }
  /// The library of the project's Rust bindings, as data; null for a project without any. Nothing
  /// of it has run, unless a region at `full` has called it.
  const bindings::Artifact* bindings() const { return artifact_ ? &*artifact_ : nullptr; }

private:
  bool parseProject();
  void enforceLayout();
  void enforceLayout(const SourceFile& file);
  void makePolicy();
  bool checkAndFold(bool needsMain);
  std::optional<vm::Module> lower(llvm::ArrayRef<ast::FunctionItem*> entries, bool withMain);
  void separateTestFile();

  const Options& options_;
  SourceMap sources_;
  Engine engine_{sources_};
  ast::Context context_;
  std::optional<Project> project_;
  std::unique_ptr<check::ProgramInput> input_;
  std::optional<check::Program> program_;
  ComptimePolicy policy_;
  std::optional<bindings::Artifact> artifact_;
  std::unique_ptr<stdlib::ForeignLibrary> foreign_; // for folds; loads at the first call
  size_t fileCount_ = 0;
  size_t regionCount_ = 0;
  std::vector<vm::FoldInput> foldInputs_;
  bool testing_ = false;
  bool foldFailed_ = false;
  std::function<void(check::ProgramInput&)> afterParse_;
};

} // namespace gos::driver
