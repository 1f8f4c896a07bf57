#include "compiler/ast/clone.h"

#include "llvm/ADT/SmallVector.h"

namespace gos::ast {

using llvm::SmallVector;

namespace {

/// A fresh node with the source's own fields; annotations are at their defaults.
template <class Node> Node* fresh(Context& context, const Node* original) {
  auto* copy = context.make<Node>(original->span);
  return copy;
}

Expr* finish(Expr* copy, const Expr* original) {
  copy->parenthesised = original->parenthesised;
  return copy;
}

} // namespace

template <class Node> ArrayRef<Node*> Cloner::cloneList(ArrayRef<Node*> nodes) {
  SmallVector<Node*, 8> copies;
  copies.reserve(nodes.size());
  for (const Node* node : nodes)
    copies.push_back(clone(node));
  return context_.list(ArrayRef<Node*>(copies));
}

Variable* Cloner::declare(const Variable* original) {
  if (!original)
    return nullptr;
  Variable*& twin = twins_[original];
  if (!twin) {
    twin = context_.makePlain<Variable>();
    twin->name = original->name;
    twin->span = original->span;
    twin->isMutable = original->isMutable;
    twin->isParameter = original->isParameter;
    twin->isComptime = original->isComptime;
  }
  return twin;
}

Variable* Cloner::variable(Variable* original) {
  const auto twin = twins_.find(original);
  return twin == twins_.end() ? original : twin->second;
}

ArrayRef<GenericArg> Cloner::cloneArgs(ArrayRef<GenericArg> args) {
  SmallVector<GenericArg, 4> copies;
  for (GenericArg arg : args) {
    arg.type = clone(arg.type);
    arg.value = clone(arg.value);
    copies.push_back(arg);
  }
  return context_.list(ArrayRef<GenericArg>(copies));
}

Path Cloner::clonePath(const Path& path) {
  Path copy;
  copy.span = path.span;
  copy.qualifier = clone(path.qualifier);
  SmallVector<PathSegment, 4> segments;
  for (PathSegment segment : path.segments) {
    segment.args = cloneArgs(segment.args);
    segments.push_back(segment);
  }
  copy.segments = context_.list(ArrayRef<PathSegment>(segments));
  return copy;
}

ArrayRef<TypeBound> Cloner::cloneBounds(ArrayRef<TypeBound> bounds) {
  SmallVector<TypeBound, 4> copies;
  for (const TypeBound& bound : bounds) {
    TypeBound copy;
    copy.path = clonePath(bound.path);
    copies.push_back(copy);
  }
  return context_.list(ArrayRef<TypeBound>(copies));
}

Generics Cloner::cloneGenerics(const Generics& generics) {
  Generics copy;
  copy.span = generics.span;
  SmallVector<GenericParameter, 4> parameters;
  for (const GenericParameter& parameter : generics.parameters) {
    GenericParameter twin;
    twin.name = parameter.name;
    twin.bounds = cloneBounds(parameter.bounds);
    twin.defaultType = clone(parameter.defaultType);
    twin.isConst = parameter.isConst;
    twin.constType = clone(parameter.constType);
    twin.constDefault = clone(parameter.constDefault);
    parameters.push_back(twin);
  }
  copy.parameters = context_.list(ArrayRef<GenericParameter>(parameters));
  SmallVector<WherePredicate, 4> predicates;
  for (const WherePredicate& predicate : generics.where) {
    WherePredicate twin;
    twin.subject = clone(predicate.subject);
    twin.bounds = cloneBounds(predicate.bounds);
    predicates.push_back(twin);
  }
  copy.where = context_.list(ArrayRef<WherePredicate>(predicates));
  return copy;
}

ArrayRef<Argument> Cloner::cloneArguments(ArrayRef<Argument> arguments) {
  SmallVector<Argument, 8> copies;
  for (Argument argument : arguments) {
    argument.value = clone(argument.value);
    copies.push_back(argument);
  }
  return context_.list(ArrayRef<Argument>(copies));
}

/// Positional values of a template are the argument nodes themselves, and stay so in the copy.
ArrayRef<FormatPiece> Cloner::clonePieces(ArrayRef<FormatPiece> pieces, ArrayRef<Expr*> from,
                                          ArrayRef<Expr*> to) {
  llvm::DenseMap<const Expr*, Expr*> known;
  for (size_t i = 0; i < from.size(); ++i)
    known[from[i]] = to[i];
  SmallVector<FormatPiece, 8> copies;
  for (FormatPiece piece : pieces) {
    if (piece.value) {
      Expr* shared = known.lookup(piece.value);
      piece.value = shared ? shared : clone(piece.value);
    }
    copies.push_back(piece);
  }
  return context_.list(ArrayRef<FormatPiece>(copies));
}

BlockExpr* Cloner::clone(const BlockExpr* block) {
  if (!block)
    return nullptr;
  BlockExpr* copy = fresh(context_, block);
  copy->parenthesised = block->parenthesised;
  copy->statements = cloneList(block->statements);
  copy->tail = clone(block->tail);
  copy->hasItems = block->hasItems;
  copy->closeBrace = block->closeBrace;
  return copy;
}

Expr* Cloner::clone(const Expr* expr) {
  if (!expr)
    return nullptr;
  switch (expr->kind) {
  case ExprKind::Error:
    return finish(fresh(context_, llvm::cast<ErrorExpr>(expr)), expr);
  case ExprKind::Int: {
    const auto* e = llvm::cast<IntExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->value = e->value;
    copy->suffix = e->suffix;
    copy->tooLarge = e->tooLarge;
    return finish(copy, expr);
  }
  case ExprKind::Float: {
    const auto* e = llvm::cast<FloatExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->value = e->value;
    copy->suffix = e->suffix;
    return finish(copy, expr);
  }
  case ExprKind::Bool: {
    auto* copy = fresh(context_, llvm::cast<BoolExpr>(expr));
    copy->value = llvm::cast<BoolExpr>(expr)->value;
    return finish(copy, expr);
  }
  case ExprKind::Char: {
    auto* copy = fresh(context_, llvm::cast<CharExpr>(expr));
    copy->value = llvm::cast<CharExpr>(expr)->value;
    return finish(copy, expr);
  }
  case ExprKind::String: {
    auto* copy = fresh(context_, llvm::cast<StringExpr>(expr));
    copy->value = llvm::cast<StringExpr>(expr)->value;
    return finish(copy, expr);
  }
  case ExprKind::Byte: {
    auto* copy = fresh(context_, llvm::cast<ByteExpr>(expr));
    copy->value = llvm::cast<ByteExpr>(expr)->value;
    return finish(copy, expr);
  }
  case ExprKind::ByteString: {
    auto* copy = fresh(context_, llvm::cast<ByteStringExpr>(expr));
    copy->value = llvm::cast<ByteStringExpr>(expr)->value;
    return finish(copy, expr);
  }
  case ExprKind::FString: {
    auto* copy = fresh(context_, llvm::cast<FStringExpr>(expr));
    copy->pieces = clonePieces(llvm::cast<FStringExpr>(expr)->pieces, {}, {});
    return finish(copy, expr);
  }
  case ExprKind::Path: {
    const auto* e = llvm::cast<PathExpr>(expr);
    if (replace_)
      if (Expr* instead = replace_(*e))
        return instead;
    auto* copy = fresh(context_, e);
    copy->path = clonePath(e->path);
    return finish(copy, expr);
  }
  case ExprKind::StructLiteral: {
    const auto* e = llvm::cast<StructLiteralExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->path = clonePath(e->path);
    SmallVector<FieldInit, 8> fields;
    for (FieldInit field : e->fields) {
      field.value = clone(field.value);
      field.index = 0;
      fields.push_back(field);
    }
    copy->fields = context_.list(ArrayRef<FieldInit>(fields));
    copy->base = clone(e->base);
    return finish(copy, expr);
  }
  case ExprKind::Tuple: {
    auto* copy = fresh(context_, llvm::cast<TupleExpr>(expr));
    copy->elements = cloneList(llvm::cast<TupleExpr>(expr)->elements);
    return finish(copy, expr);
  }
  case ExprKind::Array: {
    const auto* e = llvm::cast<ArrayExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->elements = cloneList(e->elements);
    copy->isVec = e->isVec;
    return finish(copy, expr);
  }
  case ExprKind::Repeat: {
    const auto* e = llvm::cast<RepeatExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->value = clone(e->value);
    copy->count = clone(e->count);
    copy->isVec = e->isVec;
    return finish(copy, expr);
  }
  case ExprKind::Map: {
    const auto* e = llvm::cast<MapExpr>(expr);
    auto* copy = fresh(context_, e);
    SmallVector<std::pair<Expr*, Expr*>, 8> entries;
    for (const auto& [key, value] : e->entries)
      entries.push_back({clone(key), clone(value)});
    copy->entries = context_.list(ArrayRef<std::pair<Expr*, Expr*>>(entries));
    return finish(copy, expr);
  }
  case ExprKind::Set: {
    auto* copy = fresh(context_, llvm::cast<SetExpr>(expr));
    copy->elements = cloneList(llvm::cast<SetExpr>(expr)->elements);
    return finish(copy, expr);
  }
  case ExprKind::Block:
    return clone(llvm::cast<BlockExpr>(expr));
  case ExprKind::If: {
    // A chain of `else if` is copied by a loop: it may be long.
    Expr* first = nullptr;
    IfExpr* last = nullptr;
    for (const auto* e = llvm::cast<IfExpr>(expr);;) {
      auto* copy = fresh(context_, e);
      finish(copy, e);
      copy->conditions = cloneList(e->conditions);
      copy->thenBlock = clone(e->thenBlock);
      (last ? last->elseBranch : first) = copy;
      last = copy;
      const auto* next = llvm::dyn_cast_or_null<IfExpr>(e->elseBranch);
      if (!next) {
        last->elseBranch = clone(e->elseBranch);
        return first;
      }
      e = next;
    }
  }
  case ExprKind::LetCondition: {
    const auto* e = llvm::cast<LetConditionExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->pattern = clone(e->pattern);
    copy->value = clone(e->value);
    return finish(copy, expr);
  }
  case ExprKind::While: {
    const auto* e = llvm::cast<WhileExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->label = e->label;
    copy->conditions = cloneList(e->conditions);
    copy->body = clone(e->body);
    return finish(copy, expr);
  }
  case ExprKind::Loop: {
    const auto* e = llvm::cast<LoopExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->label = e->label;
    copy->body = clone(e->body);
    return finish(copy, expr);
  }
  case ExprKind::For: {
    const auto* e = llvm::cast<ForExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->label = e->label;
    copy->pattern = clone(e->pattern);
    copy->iterable = clone(e->iterable);
    copy->body = clone(e->body);
    return finish(copy, expr);
  }
  case ExprKind::Match: {
    const auto* e = llvm::cast<MatchExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->subject = clone(e->subject);
    SmallVector<MatchArm, 8> arms;
    for (const MatchArm& arm : e->arms) {
      MatchArm twin;
      twin.pattern = clone(arm.pattern);
      twin.guard = clone(arm.guard);
      twin.body = clone(arm.body);
      twin.span = arm.span;
      arms.push_back(twin);
    }
    copy->arms = context_.list(ArrayRef<MatchArm>(arms));
    return finish(copy, expr);
  }
  case ExprKind::Closure: {
    const auto* e = llvm::cast<ClosureExpr>(expr);
    auto* copy = fresh(context_, e);
    SmallVector<ClosureParameter, 4> parameters;
    for (const ClosureParameter& parameter : e->parameters) {
      ClosureParameter twin;
      twin.pattern = clone(parameter.pattern);
      twin.type = clone(parameter.type);
      parameters.push_back(twin);
    }
    copy->parameters = context_.list(ArrayRef<ClosureParameter>(parameters));
    copy->returnType = clone(e->returnType);
    copy->body = clone(e->body);
    return finish(copy, expr);
  }
  case ExprKind::Call: {
    const auto* e = llvm::cast<CallExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->callee = clone(e->callee);
    copy->arguments = cloneArguments(e->arguments);
    return finish(copy, expr);
  }
  case ExprKind::MethodCall: {
    const auto* e = llvm::cast<MethodCallExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->receiver = clone(e->receiver);
    copy->name = e->name;
    copy->typeArgs = cloneArgs(e->typeArgs);
    copy->hasTypeArgs = e->hasTypeArgs;
    copy->arguments = cloneArguments(e->arguments);
    return finish(copy, expr);
  }
  case ExprKind::KnownCall: {
    const auto* e = llvm::cast<KnownCallExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->which = e->which;
    copy->hasBang = e->hasBang;
    copy->name = e->name;
    copy->hasTemplate = e->hasTemplate;
    copy->arguments = cloneList(e->arguments);
    copy->pieces = clonePieces(e->pieces, e->arguments, copy->arguments);
    copy->pattern = clone(e->pattern);
    return finish(copy, expr);
  }
  case ExprKind::Field: {
    const auto* e = llvm::cast<FieldExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->object = clone(e->object);
    copy->name = e->name;
    return finish(copy, expr);
  }
  case ExprKind::TupleField: {
    const auto* e = llvm::cast<TupleFieldExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->object = clone(e->object);
    copy->index = e->index;
    return finish(copy, expr);
  }
  case ExprKind::Index: {
    const auto* e = llvm::cast<IndexExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->object = clone(e->object);
    copy->index = clone(e->index);
    return finish(copy, expr);
  }
  case ExprKind::Range: {
    const auto* e = llvm::cast<RangeExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->low = clone(e->low);
    copy->high = clone(e->high);
    copy->inclusive = e->inclusive;
    return finish(copy, expr);
  }
  case ExprKind::Unary: {
    const auto* e = llvm::cast<UnaryExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->op = e->op;
    copy->operand = clone(e->operand);
    return finish(copy, expr);
  }
  case ExprKind::Borrow: {
    const auto* e = llvm::cast<BorrowExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->mutability = e->mutability;
    copy->operand = clone(e->operand);
    return finish(copy, expr);
  }
  case ExprKind::Binary: {
    const auto* e = llvm::cast<BinaryExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->op = e->op;
    copy->opSpan = e->opSpan;
    copy->left = clone(e->left);
    copy->right = clone(e->right);
    return finish(copy, expr);
  }
  case ExprKind::Assign: {
    const auto* e = llvm::cast<AssignExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->compound = e->compound;
    copy->op = e->op;
    copy->targets = cloneList(e->targets);
    copy->values = cloneList(e->values);
    return finish(copy, expr);
  }
  case ExprKind::Cast: {
    const auto* e = llvm::cast<CastExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->operand = clone(e->operand);
    copy->target = clone(e->target);
    return finish(copy, expr);
  }
  case ExprKind::Try: {
    auto* copy = fresh(context_, llvm::cast<TryExpr>(expr));
    copy->operand = clone(llvm::cast<TryExpr>(expr)->operand);
    return finish(copy, expr);
  }
  case ExprKind::Pipe: {
    const auto* e = llvm::cast<PipeExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->value = clone(e->value);
    copy->step = clone(e->step);
    return finish(copy, expr);
  }
  case ExprKind::Return: {
    auto* copy = fresh(context_, llvm::cast<ReturnExpr>(expr));
    copy->value = clone(llvm::cast<ReturnExpr>(expr)->value);
    return finish(copy, expr);
  }
  case ExprKind::Break: {
    const auto* e = llvm::cast<BreakExpr>(expr);
    auto* copy = fresh(context_, e);
    copy->label = e->label;
    copy->value = clone(e->value);
    return finish(copy, expr);
  }
  case ExprKind::Continue: {
    auto* copy = fresh(context_, llvm::cast<ContinueExpr>(expr));
    copy->label = llvm::cast<ContinueExpr>(expr)->label;
    return finish(copy, expr);
  }
  case ExprKind::Comptime: {
    auto* copy = fresh(context_, llvm::cast<ComptimeExpr>(expr));
    copy->body = clone(llvm::cast<ComptimeExpr>(expr)->body);
    return finish(copy, expr);
  }
  }
  return nullptr;
}

Pattern* Cloner::clone(const Pattern* pattern) {
  if (!pattern)
    return nullptr;
  switch (pattern->kind) {
  case PatternKind::Error:
    return fresh(context_, llvm::cast<ErrorPattern>(pattern));
  case PatternKind::Wildcard:
    return fresh(context_, llvm::cast<WildcardPattern>(pattern));
  case PatternKind::Rest: {
    auto* copy = fresh(context_, llvm::cast<RestPattern>(pattern));
    copy->variable = declare(llvm::cast<RestPattern>(pattern)->variable);
    return copy;
  }
  case PatternKind::Binding: {
    const auto* p = llvm::cast<BindingPattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->variable = declare(p->variable);
    copy->sub = clone(p->sub);
    return copy;
  }
  case PatternKind::Literal: {
    const auto* p = llvm::cast<LiteralPattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->value = clone(p->value);
    copy->negative = p->negative;
    return copy;
  }
  case PatternKind::Range: {
    const auto* p = llvm::cast<RangePattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->low = clone(p->low);
    copy->high = clone(p->high);
    copy->inclusive = p->inclusive;
    return copy;
  }
  case PatternKind::Path: {
    auto* copy = fresh(context_, llvm::cast<PathPattern>(pattern));
    copy->path = clonePath(llvm::cast<PathPattern>(pattern)->path);
    return copy;
  }
  case PatternKind::TupleStruct: {
    const auto* p = llvm::cast<TupleStructPattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->path = clonePath(p->path);
    copy->elements = cloneList(p->elements);
    return copy;
  }
  case PatternKind::Struct: {
    const auto* p = llvm::cast<StructPattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->path = clonePath(p->path);
    SmallVector<FieldPattern, 8> fields;
    for (FieldPattern field : p->fields) {
      field.pattern = clone(field.pattern);
      field.index = 0;
      fields.push_back(field);
    }
    copy->fields = context_.list(ArrayRef<FieldPattern>(fields));
    copy->hasRest = p->hasRest;
    return copy;
  }
  case PatternKind::Tuple: {
    auto* copy = fresh(context_, llvm::cast<TuplePattern>(pattern));
    copy->elements = cloneList(llvm::cast<TuplePattern>(pattern)->elements);
    return copy;
  }
  case PatternKind::Slice: {
    auto* copy = fresh(context_, llvm::cast<SlicePattern>(pattern));
    copy->elements = cloneList(llvm::cast<SlicePattern>(pattern)->elements);
    return copy;
  }
  case PatternKind::Or: {
    auto* copy = fresh(context_, llvm::cast<OrPattern>(pattern));
    copy->alternatives = cloneList(llvm::cast<OrPattern>(pattern)->alternatives);
    return copy;
  }
  case PatternKind::Reference: {
    const auto* p = llvm::cast<ReferencePattern>(pattern);
    auto* copy = fresh(context_, p);
    copy->mutability = p->mutability;
    copy->sub = clone(p->sub);
    return copy;
  }
  }
  return nullptr;
}

TypeNode* Cloner::clone(const TypeNode* type) {
  if (!type)
    return nullptr;
  switch (type->kind) {
  case TypeNodeKind::Error:
    return fresh(context_, llvm::cast<ErrorTypeNode>(type));
  case TypeNodeKind::Path: {
    auto* copy = fresh(context_, llvm::cast<PathTypeNode>(type));
    copy->path = clonePath(llvm::cast<PathTypeNode>(type)->path);
    return copy;
  }
  case TypeNodeKind::Tuple: {
    auto* copy = fresh(context_, llvm::cast<TupleTypeNode>(type));
    copy->elements = cloneList(llvm::cast<TupleTypeNode>(type)->elements);
    return copy;
  }
  case TypeNodeKind::Array: {
    const auto* t = llvm::cast<ArrayTypeNode>(type);
    auto* copy = fresh(context_, t);
    copy->element = clone(t->element);
    copy->length = clone(t->length);
    return copy;
  }
  case TypeNodeKind::Slice: {
    auto* copy = fresh(context_, llvm::cast<SliceTypeNode>(type));
    copy->element = clone(llvm::cast<SliceTypeNode>(type)->element);
    return copy;
  }
  case TypeNodeKind::Reference: {
    const auto* t = llvm::cast<ReferenceTypeNode>(type);
    auto* copy = fresh(context_, t);
    copy->mutability = t->mutability;
    copy->target = clone(t->target);
    return copy;
  }
  case TypeNodeKind::Function: {
    const auto* t = llvm::cast<FunctionTypeNode>(type);
    auto* copy = fresh(context_, t);
    copy->parameters = cloneList(t->parameters);
    copy->result = clone(t->result);
    return copy;
  }
  case TypeNodeKind::Never:
    return fresh(context_, llvm::cast<NeverTypeNode>(type));
  }
  return nullptr;
}

Stmt* Cloner::clone(const Stmt* stmt) {
  if (!stmt)
    return nullptr;
  switch (stmt->kind) {
  case StmtKind::Let: {
    const auto* s = llvm::cast<LetStmt>(stmt);
    auto* copy = fresh(context_, s);
    // The value comes first: it does not see what the pattern binds.
    copy->value = clone(s->value);
    copy->type = clone(s->type);
    copy->pattern = clone(s->pattern);
    copy->targetList = s->targetList;
    copy->elseBlock = clone(s->elseBlock);
    return copy;
  }
  case StmtKind::Expr: {
    auto* copy = fresh(context_, llvm::cast<ExprStmt>(stmt));
    copy->expr = clone(llvm::cast<ExprStmt>(stmt)->expr);
    return copy;
  }
  case StmtKind::Item: {
    // A nested item sees nothing of the scope it stands in: one serves all copies, and a struct
    // stays one type.
    auto* copy = fresh(context_, llvm::cast<ItemStmt>(stmt));
    copy->item = llvm::cast<ItemStmt>(stmt)->item;
    return copy;
  }
  case StmtKind::Defer: {
    auto* copy = fresh(context_, llvm::cast<DeferStmt>(stmt));
    copy->expr = clone(llvm::cast<DeferStmt>(stmt)->expr);
    return copy;
  }
  }
  return nullptr;
}

FunctionItem* Cloner::clone(const FunctionItem* function) {
  if (!function)
    return nullptr;
  FunctionItem* copy = fresh(context_, function);
  copy->visibility = function->visibility;
  copy->name = function->name;
  copy->attributes = function->attributes;
  copy->generics = cloneGenerics(function->generics);
  copy->documentation = function->documentation;
  copy->parentModule = function->parentModule;
  copy->self = function->self;
  SmallVector<FunctionParameter, 8> parameters;
  for (FunctionParameter parameter : function->parameters) {
    parameter.pattern = clone(parameter.pattern);
    parameter.type = clone(parameter.type);
    parameter.defaultValue = clone(parameter.defaultValue);
    parameters.push_back(parameter);
  }
  copy->parameters = context_.list(ArrayRef<FunctionParameter>(parameters));
  copy->returnType = clone(function->returnType);
  copy->body = clone(function->body);
  copy->isComptime = function->isComptime;
  copy->isUnsafe = function->isUnsafe;
  copy->owner = function->owner;
  copy->builtin = function->builtin;
  copy->implicitMain = function->implicitMain;
  copy->foreign = function->foreign;
  return copy;
}

} // namespace gos::ast
