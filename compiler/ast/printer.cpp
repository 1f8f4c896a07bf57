#include "compiler/ast/printer.h"

#include "diagnostics/escape.h"

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

void Printer::pattern(const Pattern* p) {
  if (!p) {
    out_ << "<none>";
    return;
  }
  const auto each = [&](ArrayRef<Pattern*> items, StringRef separator) {
    llvm::interleave(items, [&](const Pattern* item) { pattern(item); },
                     [&] { out_ << separator; });
  };
  switch (p->kind) {
  case PatternKind::Error:
    out_ << "<error>";
    return;
  case PatternKind::Wildcard:
    out_ << '_';
    return;
  case PatternKind::Rest:
    out_ << "..";
    if (const Variable* variable = llvm::cast<RestPattern>(p)->variable)
      out_ << variable->name.text();
    return;
  case PatternKind::Binding: {
    const auto* b = llvm::cast<BindingPattern>(p);
    out_ << (b->variable->isMutable ? "mut " : "") << b->variable->name.text();
    if (b->sub) {
      out_ << " @ ";
      pattern(b->sub);
    }
    return;
  }
  case PatternKind::Literal:
    out_ << (llvm::cast<LiteralPattern>(p)->negative ? "-" : "");
    expr(llvm::cast<LiteralPattern>(p)->value);
    return;
  case PatternKind::Range: {
    const auto* r = llvm::cast<RangePattern>(p);
    optional(r->low);
    out_ << (r->inclusive ? "..=" : "..");
    optional(r->high);
    return;
  }
  case PatternKind::Path:
    path(llvm::cast<PathPattern>(p)->path);
    return;
  case PatternKind::TupleStruct:
    path(llvm::cast<TupleStructPattern>(p)->path);
    out_ << '(';
    each(llvm::cast<TupleStructPattern>(p)->elements, ", ");
    out_ << ')';
    return;
  case PatternKind::Struct: {
    const auto* s = llvm::cast<StructPattern>(p);
    path(s->path);
    out_ << " {";
    for (const FieldPattern& field : s->fields) {
      out_ << ' ' << field.name.name.text() << ": ";
      pattern(field.pattern);
    }
    out_ << (s->hasRest ? " .. }" : " }");
    return;
  }
  case PatternKind::Tuple:
    out_ << '(';
    each(llvm::cast<TuplePattern>(p)->elements, ", ");
    out_ << ')';
    return;
  case PatternKind::Slice:
    out_ << '[';
    each(llvm::cast<SlicePattern>(p)->elements, ", ");
    out_ << ']';
    return;
  case PatternKind::Or:
    each(llvm::cast<OrPattern>(p)->alternatives, " | ");
    return;
  case PatternKind::Reference:
    out_ << (llvm::cast<ReferencePattern>(p)->mutability == Mutability::Mutable ? "&mut " : "&");
    pattern(llvm::cast<ReferencePattern>(p)->sub);
    return;
  }
}

void Printer::type(const TypeNode* t) {
  if (!t) {
    out_ << "<none>";
    return;
  }
  const auto each = [&](ArrayRef<TypeNode*> items) {
    llvm::interleave(items, [&](const TypeNode* item) { type(item); }, [&] { out_ << ", "; });
  };
  switch (t->kind) {
  case TypeNodeKind::Error:
    out_ << "<error>";
    return;
  case TypeNodeKind::Path:
    path(llvm::cast<PathTypeNode>(t)->path);
    return;
  case TypeNodeKind::Tuple: {
    const auto* tuple = llvm::cast<TupleTypeNode>(t);
    out_ << '(';
    each(tuple->elements);
    out_ << (tuple->elements.size() == 1 ? ",)" : ")");
    return;
  }
  case TypeNodeKind::Array:
    out_ << '[';
    type(llvm::cast<ArrayTypeNode>(t)->element);
    out_ << "; ";
    expr(llvm::cast<ArrayTypeNode>(t)->length);
    out_ << ']';
    return;
  case TypeNodeKind::Slice:
    out_ << '[';
    type(llvm::cast<SliceTypeNode>(t)->element);
    out_ << ']';
    return;
  case TypeNodeKind::Reference:
    out_ << (llvm::cast<ReferenceTypeNode>(t)->mutability == Mutability::Mutable ? "&mut " : "&");
    type(llvm::cast<ReferenceTypeNode>(t)->target);
    return;
  case TypeNodeKind::Function: {
    const auto* f = llvm::cast<FunctionTypeNode>(t);
    out_ << "Fn(";
    each(f->parameters);
    out_ << ')';
    if (f->result) {
      out_ << " -> ";
      type(f->result);
    }
    return;
  }
  case TypeNodeKind::Never:
    out_ << '!';
    return;
  }
}

void Printer::stmt(const Stmt* s) {
  switch (s->kind) {
  case StmtKind::Let: {
    const auto* let = llvm::cast<LetStmt>(s);
    out_ << (let->targetList ? "let* " : "let ");
    pattern(let->pattern);
    if (let->type) {
      out_ << ": ";
      type(let->type);
    }
    if (let->value) {
      out_ << " = ";
      expr(let->value);
    }
    if (let->elseBlock) {
      out_ << " else ";
      block(let->elseBlock);
    }
    return;
  }
  case StmtKind::Expr:
    expr(llvm::cast<ExprStmt>(s)->expr);
    return;
  case StmtKind::Item:
    item(llvm::cast<ItemStmt>(s)->item);
    return;
  case StmtKind::Defer:
    out_ << "defer ";
    expr(llvm::cast<DeferStmt>(s)->expr);
    return;
  }
}

void Printer::bounds(ArrayRef<TypeBound> items) {
  llvm::interleave(items, [&](const TypeBound& bound) { path(bound.path); },
                   [&] { out_ << " + "; });
}

void Printer::generics(const Generics& g) {
  if (g.parameters.empty())
    return;
  out_ << '<';
  llvm::interleave(
      g.parameters,
      [&](const GenericParameter& parameter) {
        out_ << (parameter.isConst ? "const " : "") << parameter.name.name.text();
        if (parameter.constType) {
          out_ << ": ";
          type(parameter.constType);
        }
        if (!parameter.bounds.empty()) {
          out_ << ": ";
          bounds(parameter.bounds);
        }
        if (parameter.defaultType) {
          out_ << " = ";
          type(parameter.defaultType);
        }
      },
      [&] { out_ << ", "; });
  out_ << '>';
}

void Printer::attributes(ArrayRef<Attribute> items) {
  for (const Attribute& attribute : items) {
    out_ << "#[";
    path(attribute.path);
    if (attribute.argumentSpan.valid()) {
      out_ << '(';
      llvm::interleave(attribute.words, [&](const Ident& word) { out_ << word.name.text(); },
                       [&] { out_ << ", "; });
      out_ << ')';
    }
    if (attribute.value) {
      out_ << " = ";
      expr(attribute.value);
    }
    out_ << "] ";
  }
}

void Printer::fields(StructShape shape, ArrayRef<FieldDecl> items) {
  if (shape == StructShape::Unit)
    return;
  out_ << (shape == StructShape::Tuple ? "(" : " { ");
  llvm::interleave(
      items,
      [&](const FieldDecl& field) {
        attributes(field.attributes);
        visibility(field.visibility);
        if (field.name.name)
          out_ << field.name.name.text() << ": ";
        type(field.type);
      },
      [&] { out_ << ", "; });
  out_ << (shape == StructShape::Tuple ? ")" : " }");
}

void Printer::members(ArrayRef<Item*> items) {
  if (items.empty()) {
    out_ << " {}";
    return;
  }
  out_ << " {";
  indent_ += 2;
  for (const Item* member : items) {
    line();
    item(member);
  }
  indent_ -= 2;
  line();
  out_ << '}';
}

void Printer::item(const Item* i) {
  attributes(i->attributes);
  visibility(i->visibility);
  const StringRef name = i->name.name.text();
  const auto where = [&] {
    if (i->generics.where.empty())
      return;
    out_ << " where ";
    llvm::interleave(
        i->generics.where,
        [&](const WherePredicate& predicate) {
          type(predicate.subject);
          out_ << ": ";
          bounds(predicate.bounds);
        },
        [&] { out_ << ", "; });
  };
  switch (i->kind) {
  case ItemKind::Function: {
    const auto* f = llvm::cast<FunctionItem>(i);
    out_ << (f->isComptime ? "comptime " : "") << (f->isUnsafe ? "unsafe " : "") << "fn " << name;
    generics(f->generics);
    out_ << '(';
    llvm::interleave(
        f->parameters,
        [&](const FunctionParameter& parameter) {
          const bool isSelf = &parameter == f->parameters.begin() && f->self != SelfKind::None;
          if (isSelf && !parameter.type) {
            static constexpr StringRef kSelf[] = {"", "self", "mut self", "&self", "&mut self"};
            out_ << kSelf[size_t(f->self)];
            return;
          }
          out_ << (parameter.isComptime ? "comptime " : "");
          pattern(parameter.pattern);
          out_ << ": ";
          type(parameter.type);
          if (parameter.defaultValue) {
            out_ << " = ";
            expr(parameter.defaultValue);
          }
        },
        [&] { out_ << ", "; });
    out_ << ')';
    if (f->returnType) {
      out_ << " -> ";
      type(f->returnType);
    }
    where();
    if (f->body) {
      out_ << ' ';
      block(f->body);
    }
    return;
  }
  case ItemKind::Struct: {
    const auto* s = llvm::cast<StructItem>(i);
    out_ << "struct " << name;
    generics(s->generics);
    fields(s->shape, s->fields);
    where();
    return;
  }
  case ItemKind::Enum: {
    const auto* e = llvm::cast<EnumItem>(i);
    out_ << (e->isPacked ? "packed enum " : "enum ") << name;
    generics(e->generics);
    if (e->width.name)
      out_ << ": " << e->width.name.text();
    out_ << " { ";
    llvm::interleave(
        e->variants,
        [&](const VariantDecl& variant) {
          attributes(variant.attributes);
          out_ << variant.name.name.text();
          fields(variant.shape, variant.fields);
        },
        [&] { out_ << ", "; });
    out_ << " }";
    where();
    return;
  }
  case ItemKind::Trait: {
    const auto* t = llvm::cast<TraitItem>(i);
    out_ << "trait " << name;
    generics(t->generics);
    if (!t->supertraits.empty()) {
      out_ << ": ";
      bounds(t->supertraits);
    }
    where();
    members(t->items);
    return;
  }
  case ItemKind::Impl: {
    const auto* impl = llvm::cast<ImplItem>(i);
    out_ << "impl";
    generics(impl->generics);
    out_ << ' ';
    if (impl->hasTrait) {
      path(impl->trait);
      out_ << " for ";
    }
    type(impl->target);
    where();
    members(impl->items);
    return;
  }
  case ItemKind::Alias: {
    const auto* a = llvm::cast<AliasItem>(i);
    out_ << "type " << name;
    generics(a->generics);
    if (!a->bounds.empty()) {
      out_ << ": ";
      bounds(a->bounds);
    }
    if (a->target) {
      out_ << " = ";
      type(a->target);
    }
    return;
  }
  case ItemKind::Newtype:
    out_ << "newtype " << name;
    generics(i->generics);
    out_ << " = ";
    type(llvm::cast<NewtypeItem>(i)->target);
    return;
  case ItemKind::Const: {
    const auto* c = llvm::cast<ConstItem>(i);
    out_ << "const " << name << ": ";
    type(c->type);
    if (c->value) {
      out_ << " = ";
      expr(c->value);
    }
    return;
  }
  case ItemKind::Static: {
    const auto* s = llvm::cast<StaticItem>(i);
    out_ << (s->isMutable ? "static mut " : "static ") << name << ": ";
    type(s->type);
    out_ << " = ";
    expr(s->value);
    return;
  }
  case ItemKind::Module: {
    const auto* m = llvm::cast<ModuleItem>(i);
    out_ << "mod " << name;
    if (m->hasBody)
      members(m->items);
    return;
  }
  case ItemKind::Use: {
    out_ << "use";
    for (const UseLeaf& leaf : llvm::cast<UseItem>(i)->leaves) {
      out_ << ' ';
      if (!leaf.package.empty()) {
        text(leaf.package);
        out_ << (leaf.path.empty() ? "" : "::");
      }
      llvm::interleave(leaf.path, [&](const Ident& word) { out_ << word.name.text(); },
                       [&] { out_ << "::"; });
      if (leaf.path.empty() || leaf.binding.name != leaf.path.back().name)
        out_ << " as " << leaf.binding.name.text();
    }
    return;
  }
  case ItemKind::Error:
    out_ << "<error>";
    return;
  }
}

} // namespace

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
