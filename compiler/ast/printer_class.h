#pragma once
// The printer's own class, shared by the files that make it up.

#include "compiler/ast/printer.h"

#include "diagnostics/escape.h"

#include <string>

namespace gos::ast {

class Printer {
public:
  Printer(llvm::raw_ostream& out, Layout layout) : out_(out), layout_(layout) {}

  void expr(const Expr* e);
  void pattern(const Pattern* p);
  void type(const TypeNode* t);
  void stmt(const Stmt* s);
  void item(const Item* i);

private:
  void line() {
    if (layout_ == Layout::OneLine) {
      out_ << ' ';
      return;
    }
    out_ << '\n';
    out_.indent(indent_);
  }
  void text(StringRef value) {
    std::string quoted;
    for (char c : value) {
      if (c == '"' || c == '\\')
        quoted += '\\';
      quoted += c;
    }
    out_ << '"' << escapeForText(quoted) << '"';
  }
  void path(const Path& p);
  void genericArgs(ArrayRef<GenericArg> args);
  void list(ArrayRef<Expr*> items) {
    for (const Expr* e : items) {
      out_ << ' ';
      expr(e);
    }
  }
  void arguments(ArrayRef<Argument> items) {
    for (const Argument& argument : items) {
      out_ << ' ';
      if (argument.label.name)
        out_ << argument.label.name.text() << ": ";
      expr(argument.value);
    }
  }
  void optional(const Expr* e) {
    if (e)
      expr(e);
    else
      out_ << '_';
  }
  void pieces(ArrayRef<FormatPiece> items);
  void block(const BlockExpr* b);
  void label(const Ident& ident) {
    if (ident.name)
      out_ << ident.name.text() << ' ';
  }
  void generics(const Generics& g);
  void bounds(ArrayRef<TypeBound> items);
  void fields(StructShape shape, ArrayRef<FieldDecl> items);
  void members(ArrayRef<Item*> items);
  void visibility(Visibility v) {
    if (v != Visibility::Private)
      out_ << (v == Visibility::Public ? "pub " : "pub(package) ");
  }
  void attributes(ArrayRef<Attribute> items);

  llvm::raw_ostream& out_;
  Layout layout_;
  unsigned indent_ = 0;
};

} // namespace gos::ast
