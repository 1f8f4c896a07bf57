#pragma once
// The expressions directly inside an expression, for walks that ask a simple question of a tree.

#include "compiler/ast/ast.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace gos::check {

/// Calls `visit` for each direct part. Statements of blocks are gone into; items are not.
void forEachPart(ast::Expr* expr, llvm::function_ref<void(ast::Expr*)> visit);

} // namespace gos::check
