#pragma once
// The tree as text: for goldens, `gos parse`, and the parser's tests. Operators come first, as in
// `(+ a (* b c))`, so that precedence can be seen.

#include "compiler/ast/ast.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::ast {

enum class Layout { OneLine, Lines };

void print(llvm::raw_ostream& out, const Expr* expr, Layout layout = Layout::OneLine);
void print(llvm::raw_ostream& out, const Pattern* pattern);
void print(llvm::raw_ostream& out, const TypeNode* type);
void print(llvm::raw_ostream& out, const Stmt* stmt, Layout layout = Layout::OneLine);
void print(llvm::raw_ostream& out, const Item* item, Layout layout = Layout::OneLine);
/// Items and bare statements, one a line at the outermost level.
void print(llvm::raw_ostream& out, const File& file);

} // namespace gos::ast
