#pragma once
// A checked program -> bytecode. Only what is reachable from the entry is lowered, once for each
// set of concrete type arguments.

#include "compiler/check/program.h"
#include "diagnostics/engine.h"
#include "vm/module.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace gos::lower {

/// A line of a session (`gos repl`): the statements of `main` from one on. The variables that
/// `main` binds at its outermost level, these first, live in globals, so that later lines find them
/// where this one left them.
struct SessionLine {
  size_t firstStatement = 0;
  /// In order of their statements: global i of the module is variable i, an empty cell at first.
  llvm::ArrayRef<const ast::Variable*> variables;
  size_t earlierVariables = 0; // so many of them belong to statements before the first
};

struct LowerRequest {
  /// Lower `main` as Module::entry. False: a fold, which needs only the regions.
  bool withMain = true;
  /// One thunk each, in Module::regions.
  llvm::ArrayRef<check::Region> regions;
  /// Functions without parameters that are entries too, such as tests: behind the regions in
  /// Module::regions.
  llvm::ArrayRef<ast::FunctionItem*> entries;
  /// Line tables name every place, not only those that can trap: for coverage.
  bool everyLine = false;
  /// With it `main` is this line alone.
  const SessionLine* session = nullptr;
  /// Filled with the item of every global, null for a variable of a session.
  std::vector<const ast::Item*>* globalItems = nullptr;
  /// Set, instead of a report, where the regions reach a `codegen!` whose text is not made yet;
  /// then the answer is an error.
  bool* reachesUnmadeText = nullptr;
};

/// The program must be free of errors. What is not built yet is reported to the engine at its place
/// (GN0001), and then the answer is an error without a message of its own.
llvm::Expected<vm::Module> lower(check::Program& program, const LowerRequest& request,
                                 Engine& engine);

} // namespace gos::lower
