#pragma once
// The checker: parsed packages in, a typed program out.
//
//   check::ProgramInput input{context, sources, &check::standardLibrary()};
//   input.packages.push_back({name, {{{}, parse::parseFile(...)}, ...}, dependencies});
//   check::Program program = check::check(input, engine);
//
// The trees are annotated in place (the "set by the checker" fields of ast.h). Calling `check`
// again on the same input, after a fold, overwrites the annotations; the earlier Program is then
// stale.

#include "compiler/check/library.h"
#include "compiler/check/program.h"

namespace gos::check {

struct ProgramInput {
  ProgramInput(ast::Context& c, SourceMap& s, const Library* l)
      : context(c), sources(s), library(l) {}

  ast::Context& context;
  SourceMap& sources;
  const Library* library = nullptr; // null: no library at all
  /// Package i of the list is package i + 1 of the program; package 0 is the library. The first one
  /// is the root package: its entry file holds `main`.
  std::vector<resolve::Package> packages;
  /// What a fold put in the place of regions: checked, and lowered, instead of the key.
  llvm::DenseMap<const ast::Expr*, ast::Expr*> folded;
  /// What is kept over rounds.
  resolve::LibraryTrees libraryTrees;
  llvm::StringMap<ast::FunctionItem*> templateClones;
  bool testing = false; // `cfg(test)` holds: the items of tests belong to the program
  ast::FunctionItem* implicitMain = nullptr; // made by the first round
};

/// Checks the whole program. Without errors in the engine the result can be lowered.
Program check(ProgramInput& input, Engine& engine);

} // namespace gos::check
