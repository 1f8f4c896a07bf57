#pragma once
// A checked program -> bytecode. Only what is reachable from the entry is lowered, once for each
// set of concrete type arguments.

#include "compiler/check/program.h"
#include "diagnostics/engine.h"
#include "vm/module.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace gos::lower {

struct LowerRequest {
  /// Lower `main` as Module::entry. False: a fold, which needs only the regions.
  bool withMain = true;
  /// One thunk each, in Module::regions.
  llvm::ArrayRef<check::Region> regions;
  /// Functions without parameters that are entries too, such as tests: behind the regions in
  /// Module::regions.
  llvm::ArrayRef<ast::FunctionItem*> entries;
};

/// The program must be free of errors. What is not built yet is reported to the engine at its place
/// (GN0001), and then the answer is an error without a message of its own.
llvm::Expected<vm::Module> lower(check::Program& program, const LowerRequest& request,
                                 Engine& engine);

} // namespace gos::lower
