#include "compiler/ast/printer.h"

#include "compiler/ast/printer_class.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace gos::ast {

namespace {

StringRef spelling(NumberSuffix suffix) {
  switch (suffix) {
  case NumberSuffix::None:
    return "";
  case NumberSuffix::I8:
    return "i8";
  case NumberSuffix::I16:
    return "i16";
  case NumberSuffix::I32:
    return "i32";
  case NumberSuffix::I64:
    return "i64";
  case NumberSuffix::Isize:
    return "isize";
  case NumberSuffix::U8:
    return "u8";
  case NumberSuffix::U16:
    return "u16";
  case NumberSuffix::U32:
    return "u32";
  case NumberSuffix::U64:
    return "u64";
  case NumberSuffix::Usize:
    return "usize";
  case NumberSuffix::F32:
    return "f32";
  case NumberSuffix::F64:
    return "f64";
  }
  return "";
}

} // namespace

void Printer::genericArgs(ArrayRef<GenericArg> args) {
  out_ << '<';
  llvm::interleave(
      args,
      [&](const GenericArg& arg) {
        if (arg.label.name)
          out_ << arg.label.name.text() << " = ";
        if (arg.type)
          type(arg.type);
        else
          optional(arg.value);
      },
      [&] { out_ << ", "; });
  out_ << '>';
}

void Printer::path(const Path& p) {
  if (p.qualifier) {
    out_ << '<';
    type(p.qualifier);
    out_ << ">::";
  }
  llvm::interleave(
      p.segments,
      [&](const PathSegment& segment) {
        out_ << segment.ident.name.text();
        if (segment.hasArgs)
          genericArgs(segment.args);
      },
      [&] { out_ << "::"; });
}

void Printer::pieces(ArrayRef<FormatPiece> items) {
  for (const FormatPiece& piece : items) {
    if (!piece.text.empty()) {
      out_ << ' ';
      text(piece.text);
    }
    if (!piece.value)
      continue;
    out_ << " {";
    expr(piece.value);
    const FormatSpec& spec = piece.spec;
    std::string words;
    llvm::raw_string_ostream more(words);
    if (spec.align != FormatSpec::Align::Default)
      more << " fill " << spec.fill << " align " << int(spec.align);
    if (spec.zero)
      more << " zero";
    if (spec.width >= 0)
      more << " width " << spec.width;
    if (spec.precision >= 0)
      more << " precision " << spec.precision;
    if (spec.kind != FormatSpec::Kind::Display)
      more << " kind " << int(spec.kind);
    if (!words.empty())
      out_ << ':' << words;
    out_ << '}';
  }
}

void Printer::block(const BlockExpr* b) {
  if (!b) {
    out_ << "{missing}";
    return;
  }
  if (b->statements.empty() && !b->tail) {
    out_ << "{}";
    return;
  }
  out_ << '{';
  indent_ += 2;
  for (const Stmt* s : b->statements) {
    line();
    stmt(s);
    out_ << ';';
  }
  if (b->tail) {
    line();
    expr(b->tail);
  }
  indent_ -= 2;
  line();
  out_ << '}';
}

void Printer::expr(const Expr* e) {
  if (!e) {
    out_ << "<none>";
    return;
  }
  switch (e->kind) {
  case ExprKind::Error:
    out_ << "<error>";
    return;
  case ExprKind::Int: {
    const auto* n = llvm::cast<IntExpr>(e);
    out_ << n->value << spelling(n->suffix) << (n->tooLarge ? "!" : "");
    return;
  }
  case ExprKind::Float: {
    const auto* n = llvm::cast<FloatExpr>(e);
    out_ << llvm::format("%g", n->value) << spelling(n->suffix);
    return;
  }
  case ExprKind::Bool:
    out_ << (llvm::cast<BoolExpr>(e)->value ? "true" : "false");
    return;
  case ExprKind::Char:
    out_ << "(char " << llvm::cast<CharExpr>(e)->value << ')';
    return;
  case ExprKind::String:
    text(llvm::cast<StringExpr>(e)->value);
    return;
  case ExprKind::Byte:
    out_ << "(byte " << unsigned(llvm::cast<ByteExpr>(e)->value) << ')';
    return;
  case ExprKind::ByteString:
    out_ << "(bytes " << llvm::toHex(llvm::cast<ByteStringExpr>(e)->value, true) << ')';
    return;
  case ExprKind::FString:
    out_ << "(f";
    pieces(llvm::cast<FStringExpr>(e)->pieces);
    out_ << ')';
    return;
  case ExprKind::Path:
    path(llvm::cast<PathExpr>(e)->path);
    return;
  case ExprKind::StructLiteral: {
    const auto* s = llvm::cast<StructLiteralExpr>(e);
    out_ << "(new ";
    path(s->path);
    for (const FieldInit& field : s->fields) {
      out_ << ' ' << field.name.name.text();
      if (!field.shorthand) {
        out_ << ": ";
        expr(field.value);
      }
    }
    if (s->base) {
      out_ << " ..";
      expr(s->base);
    }
    out_ << ')';
    return;
  }
  case ExprKind::Tuple:
    out_ << "(tuple";
    list(llvm::cast<TupleExpr>(e)->elements);
    out_ << ')';
    return;
  case ExprKind::Array:
    out_ << (llvm::cast<ArrayExpr>(e)->isVec ? "(vec" : "(array");
    list(llvm::cast<ArrayExpr>(e)->elements);
    out_ << ')';
    return;
  case ExprKind::Repeat: {
    const auto* r = llvm::cast<RepeatExpr>(e);
    out_ << (r->isVec ? "(vec-of " : "(array-of ");
    expr(r->value);
    out_ << ' ';
    expr(r->count);
    out_ << ')';
    return;
  }
  case ExprKind::Map:
    out_ << "(map";
    for (const auto& [key, value] : llvm::cast<MapExpr>(e)->entries) {
      out_ << ' ';
      expr(key);
      out_ << ": ";
      expr(value);
    }
    out_ << ')';
    return;
  case ExprKind::Set:
    out_ << "(set";
    list(llvm::cast<SetExpr>(e)->elements);
    out_ << ')';
    return;
  case ExprKind::Block:
    block(llvm::cast<BlockExpr>(e));
    return;
  case ExprKind::If: {
    out_ << '(';
    for (const auto* i = llvm::cast<IfExpr>(e);;) {
      out_ << "if";
      list(i->conditions);
      out_ << ' ';
      block(i->thenBlock);
      if (!i->elseBranch)
        break;
      out_ << " else ";
      const auto* next = llvm::dyn_cast<IfExpr>(i->elseBranch);
      if (!next) {
        expr(i->elseBranch);
        break;
      }
      i = next;
    }
    out_ << ')';
    return;
  }
  case ExprKind::LetCondition: {
    const auto* c = llvm::cast<LetConditionExpr>(e);
    out_ << "(let ";
    pattern(c->pattern);
    out_ << ' ';
    expr(c->value);
    out_ << ')';
    return;
  }
  case ExprKind::While: {
    const auto* w = llvm::cast<WhileExpr>(e);
    out_ << '(';
    label(w->label);
    out_ << "while";
    list(w->conditions);
    out_ << ' ';
    block(w->body);
    out_ << ')';
    return;
  }
  case ExprKind::Loop: {
    const auto* l = llvm::cast<LoopExpr>(e);
    out_ << '(';
    label(l->label);
    out_ << "loop ";
    block(l->body);
    out_ << ')';
    return;
  }
  case ExprKind::For: {
    const auto* f = llvm::cast<ForExpr>(e);
    out_ << '(';
    label(f->label);
    out_ << "for ";
    pattern(f->pattern);
    out_ << ' ';
    expr(f->iterable);
    out_ << ' ';
    block(f->body);
    out_ << ')';
    return;
  }
  case ExprKind::Match: {
    const auto* m = llvm::cast<MatchExpr>(e);
    out_ << "(match ";
    expr(m->subject);
    indent_ += 2;
    for (const MatchArm& arm : m->arms) {
      line();
      out_ << '[';
      pattern(arm.pattern);
      if (arm.guard) {
        out_ << " if ";
        expr(arm.guard);
      }
      out_ << " => ";
      expr(arm.body);
      out_ << ']';
    }
    indent_ -= 2;
    out_ << ')';
    return;
  }
  case ExprKind::Closure: {
    const auto* c = llvm::cast<ClosureExpr>(e);
    out_ << "(|";
    llvm::interleave(
        c->parameters,
        [&](const ClosureParameter& parameter) {
          pattern(parameter.pattern);
          if (parameter.type) {
            out_ << ": ";
            type(parameter.type);
          }
        },
        [&] { out_ << ", "; });
    out_ << '|';
    if (c->returnType) {
      out_ << " -> ";
      type(c->returnType);
    }
    out_ << ' ';
    expr(c->body);
    out_ << ')';
    return;
  }
  case ExprKind::Call: {
    const auto* c = llvm::cast<CallExpr>(e);
    out_ << "(call ";
    expr(c->callee);
    arguments(c->arguments);
    out_ << ')';
    return;
  }
  case ExprKind::MethodCall: {
    const auto* m = llvm::cast<MethodCallExpr>(e);
    out_ << "(." << m->name.name.text();
    if (m->hasTypeArgs)
      genericArgs(m->typeArgs);
    out_ << ' ';
    expr(m->receiver);
    arguments(m->arguments);
    out_ << ')';
    return;
  }
  case ExprKind::KnownCall: {
    const auto* k = llvm::cast<KnownCallExpr>(e);
    out_ << '(' << k->name.name.text() << '!';
    if (k->pieces.empty())
      list(k->arguments);
    else
      pieces(k->pieces);
    if (k->pattern) {
      out_ << ' ';
      pattern(k->pattern);
    }
    out_ << ')';
    return;
  }
  case ExprKind::Field: {
    const auto* f = llvm::cast<FieldExpr>(e);
    out_ << "(field ";
    expr(f->object);
    out_ << ' ' << f->name.name.text() << ')';
    return;
  }
  case ExprKind::TupleField: {
    const auto* f = llvm::cast<TupleFieldExpr>(e);
    out_ << "(field ";
    expr(f->object);
    out_ << ' ' << f->index << ')';
    return;
  }
  case ExprKind::Index: {
    const auto* i = llvm::cast<IndexExpr>(e);
    out_ << "(index ";
    expr(i->object);
    out_ << ' ';
    expr(i->index);
    out_ << ')';
    return;
  }
  case ExprKind::Range: {
    const auto* r = llvm::cast<RangeExpr>(e);
    out_ << (r->inclusive ? "(..= " : "(.. ");
    optional(r->low);
    out_ << ' ';
    optional(r->high);
    out_ << ')';
    return;
  }
  case ExprKind::Unary: {
    const auto* u = llvm::cast<UnaryExpr>(e);
    out_ << '(' << ast::spelling(u->op) << ' ';
    expr(u->operand);
    out_ << ')';
    return;
  }
  case ExprKind::Borrow: {
    const auto* b = llvm::cast<BorrowExpr>(e);
    out_ << (b->mutability == Mutability::Mutable ? "(&mut " : "(& ");
    expr(b->operand);
    out_ << ')';
    return;
  }
  case ExprKind::Binary: {
    const auto* b = llvm::cast<BinaryExpr>(e);
    out_ << '(' << ast::spelling(b->op) << ' ';
    expr(b->left);
    out_ << ' ';
    expr(b->right);
    out_ << ')';
    return;
  }
  case ExprKind::Assign: {
    const auto* a = llvm::cast<AssignExpr>(e);
    out_ << '(' << (a->compound ? ast::spelling(a->op) : "") << '=';
    list(a->targets);
    out_ << " <-";
    list(a->values);
    out_ << ')';
    return;
  }
  case ExprKind::Cast: {
    const auto* c = llvm::cast<CastExpr>(e);
    out_ << "(as ";
    expr(c->operand);
    out_ << ' ';
    type(c->target);
    out_ << ')';
    return;
  }
  case ExprKind::Try:
    out_ << "(? ";
    expr(llvm::cast<TryExpr>(e)->operand);
    out_ << ')';
    return;
  case ExprKind::Pipe:
    out_ << "(|> ";
    expr(llvm::cast<PipeExpr>(e)->value);
    out_ << ' ';
    expr(llvm::cast<PipeExpr>(e)->step);
    out_ << ')';
    return;
  case ExprKind::Return:
    out_ << "(return";
    if (const Expr* value = llvm::cast<ReturnExpr>(e)->value) {
      out_ << ' ';
      expr(value);
    }
    out_ << ')';
    return;
  case ExprKind::Break: {
    const auto* b = llvm::cast<BreakExpr>(e);
    out_ << "(break";
    if (b->label.name)
      out_ << ' ' << b->label.name.text();
    if (b->value) {
      out_ << ' ';
      expr(b->value);
    }
    out_ << ')';
    return;
  }
  case ExprKind::Continue:
    out_ << "(continue";
    if (llvm::cast<ContinueExpr>(e)->label.name)
      out_ << ' ' << llvm::cast<ContinueExpr>(e)->label.name.text();
    out_ << ')';
    return;
  case ExprKind::Comptime:
    out_ << "(comptime ";
    block(llvm::cast<ComptimeExpr>(e)->body);
    out_ << ')';
    return;
  }
}

void print(llvm::raw_ostream& out, const Expr* expr, Layout layout) {
  Printer(out, layout).expr(expr);
}
void print(llvm::raw_ostream& out, const Pattern* pattern) {
  Printer(out, Layout::OneLine).pattern(pattern);
}
void print(llvm::raw_ostream& out, const TypeNode* type) {
  Printer(out, Layout::OneLine).type(type);
}
void print(llvm::raw_ostream& out, const Stmt* stmt, Layout layout) {
  Printer(out, layout).stmt(stmt);
}
void print(llvm::raw_ostream& out, const Item* item, Layout layout) {
  Printer(out, layout).item(item);
}
void print(llvm::raw_ostream& out, const File& file) {
  for (const Item* item : file.module->items) {
    print(out, item, Layout::Lines);
    out << '\n';
  }
  for (const Stmt* statement : file.statements) {
    print(out, statement, Layout::Lines);
    out << '\n';
  }
}

} // namespace gos::ast
