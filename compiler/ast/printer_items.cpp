// Patterns, types, statements and items as text.

#include "compiler/ast/printer_class.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::ast {

void Printer::pattern(const Pattern* p) {
  if (!p) {
    out_ << "<none>";
    return;
  }
  const auto each = [&](ArrayRef<Pattern*> items, StringRef separator) {
    llvm::interleave(
        items, [&](const Pattern* item) { pattern(item); }, [&] { out_ << separator; });
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
  llvm::interleave(
      items, [&](const TypeBound& bound) { path(bound.path); }, [&] { out_ << " + "; });
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
        if (parameter.constDefault) {
          out_ << " = ";
          expr(parameter.constDefault);
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
      llvm::interleave(
          attribute.words, [&](const Ident& word) { out_ << word.name.text(); },
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
      llvm::interleave(
          leaf.path, [&](const Ident& word) { out_ << word.name.text(); }, [&] { out_ << "::"; });
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

} // namespace gos::ast
