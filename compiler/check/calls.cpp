// Calls of functions, constructors and callable values.

#include "compiler/check/checker.h"

namespace gos::check {

StructItem* Checker::errorItem() {
  if (!lang_.error)
    if (ModuleScope* module = resolver_.libraryModule("errors")) {
      auto found = module->entries.find(context_.names.intern("Error"));
      if (found != module->entries.end())
        lang_.error = dyn_cast_or_null<StructItem>(found->second.own.type);
      syncItems();
      syncImpls();
    }
  return lang_.error;
}

bool Checker::hasReceiver(FunctionItem* function) {
  if (function->self != SelfKind::None)
    return true;
  if (function->parameters.empty() || !function->parameters[0].pattern)
    return false;
  auto* binding = dyn_cast<BindingPattern>(function->parameters[0].pattern);
  return binding && binding->variable && binding->variable->name == selfName_;
}

void Checker::checkArgumentsAlone(ArrayRef<Argument> arguments, bool closures) {
  for (const Argument& argument : arguments) {
    if (!closures && isa<ClosureExpr>(folded(argument.value)))
      continue;
    check(argument.value, nullptr);
  }
}

/// Could a parameter of this type (generic ones stand for anything) take a value of that one?
bool Checker::couldMatch(Type* pattern, Type* type) {
  type = shallow(type);
  pattern = shallow(pattern);
  if (pattern == type || pattern->is(Kind::Param) || pattern->is(Kind::Error) ||
      type->is(Kind::Error) || type->is(Kind::Never) || pattern->is(Kind::Projection))
    return true;
  if (type->is(Kind::Infer)) {
    if (type->inferKind == InferKind::Integer)
      return pattern->isInteger();
    if (type->inferKind == InferKind::Float)
      return pattern->isFloat();
    return true;
  }
  if (pattern->is(Kind::Infer))
    return pattern->inferKind == InferKind::General ||
           (pattern->inferKind == InferKind::Integer ? type->isInteger() : type->isFloat());
  if (pattern->is(Kind::Ref))
    return couldMatch(pattern->args[0], type->withoutReferences());
  if (type->is(Kind::Ref))
    return couldMatch(pattern, type->args[0]);
  if (pattern->is(Kind::Slice) && type->isSequence())
    return couldMatch(pattern->args[0], type->args[0]);
  if (pattern->is(Kind::Array) && type->is(Kind::Array))
    return couldMatch(pattern->args[0], type->args[0]) &&
           couldMatch(types_.lengthOf(pattern), types_.lengthOf(type));
  if (pattern->kind != type->kind || pattern->item != type->item ||
      pattern->length != type->length || pattern->args.size() != type->args.size())
    return false;
  for (size_t i = 0; i < pattern->args.size(); ++i)
    if (!couldMatch(pattern->args[i], type->args[i]))
      return false;
  return true;
}

FunctionItem* Checker::pickOverload(const CallSite& site, ArrayRef<FunctionItem*> overloads,
                                    Type* receiver, uint8_t& checked) {
  size_t skip = site.receiver ? 1 : 0;
  SmallVector<FunctionItem*, 4> fitting;
  for (FunctionItem* each : overloads) {
    size_t most = each->parameters.size() - std::min(skip, each->parameters.size());
    size_t least = most - std::min<size_t>(functionInfo(each).optional, most);
    if (site.arguments.size() >= least && site.arguments.size() <= most)
      fitting.push_back(each);
  }
  if (fitting.empty())
    return overloads[0]; // its arity is reported
  if (fitting.size() == 1)
    return fitting[0];
  if (!checked) {
    checkArgumentsAlone(site.arguments, false);
    checked = 1;
  }
  for (FunctionItem* each : fitting) {
    const Signature& signature = functionInfo(each).signature;
    bool fits =
        !receiver || signature.parameters.empty() || couldMatch(signature.parameters[0], receiver);
    for (size_t i = 0; i < site.arguments.size() && fits; ++i) {
      Expr* argument = site.arguments[i].value;
      Expr* real = folded(argument);
      if (i + skip >= signature.parameters.size())
        break;
      Type* parameter = signature.parameters[i + skip];
      if (auto* closure = dyn_cast<ClosureExpr>(real))
        fits =
            parameter->is(Kind::Fn) && parameter->parameters().size() == closure->parameters.size();
      else if (argument->type)
        fits = couldMatch(parameter, argument->type);
    }
    if (fits)
      return each;
  }
  return fitting[0];
}

bool Checker::orderArguments(const CallSite& site, FunctionItem* function, size_t skip,
                             SmallVectorImpl<Expr*>& ordered) {
  size_t wanted = function->parameters.size() - std::min(skip, function->parameters.size());
  bool labelled =
      llvm::any_of(site.arguments, [](const Argument& each) { return bool(each.label.name); });
  if (!labelled && site.arguments.size() == wanted) {
    for (const Argument& argument : site.arguments)
      ordered.push_back(argument.value);
    return true;
  }
  ordered.assign(wanted, nullptr);
  bool optional = functionInfo(function).optional != 0;
  auto describe = [&](Diagnostic& report) {
    if (function->builtin < 0 && function->name.span.valid() && function->parentModule &&
        function->parentModule->package != 0)
      report.label(function->name.span, "declared here");
  };
  if (site.arguments.size() > wanted) {
    describe(engine_.report(site.span, diag::CallArity, site.name, wanted, site.arguments.size()));
    return false;
  }
  bool named = false;
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    const Argument& argument = site.arguments[i];
    if (!argument.label.name) {
      if (named) {
        engine_.report(argument.value->span, diag::BadKeywordArgument, std::to_string(i + 1),
                       "a positional argument follows a named one");
        return false;
      }
      ordered[i] = argument.value;
      continue;
    }
    named = true;
    size_t at = wanted;
    SmallVector<StringRef, 8> names;
    for (size_t k = 0; k < wanted; ++k) {
      Name label = function->parameters[k + skip].label();
      names.push_back(label.text());
      if (label == argument.label.name)
        at = k;
    }
    if (at == wanted) {
      Diagnostic& report = engine_.report(argument.label.span, diag::BadKeywordArgument,
                                          argument.label.name.text(), "there is no such parameter");
      StringRef near = nearest(argument.label.name.text(), names);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
      describe(report);
      return false;
    }
    if (ordered[at]) {
      engine_.report(argument.label.span, diag::BadKeywordArgument, argument.label.name.text(),
                     "the parameter has a value already");
      return false;
    }
    ordered[at] = argument.value;
  }
  for (size_t k = 0; k < wanted; ++k) {
    if (ordered[k])
      continue;
    const FunctionParameter& parameter = function->parameters[k + skip];
    if (parameter.defaultValue) {
      ordered[k] = parameter.defaultValue;
      continue;
    }
    if (!labelled && !optional)
      describe(
          engine_.report(site.span, diag::CallArity, site.name, wanted, site.arguments.size()));
    else
      describe(
          engine_.report(site.span, diag::ParameterUnfilled, site.name, parameter.label().text()));
    return false;
  }
  return true;
}

static bool isPlainLiteral(Expr* expr) {
  if (auto* unary = dyn_cast<UnaryExpr>(expr); unary && unary->op == UnaryOp::Negate)
    expr = unary->operand;
  return isa<IntExpr, FloatExpr, BoolExpr, CharExpr, StringExpr, ByteExpr>(expr);
}

void Checker::checkArgument(Expr* argument, Type* parameter, StringRef name, uint8_t checked,
                            bool isComptime, ClosureFate fate) {
  Expr* real = folded(argument);
  if (isComptime && !inRegion() && !isPlainLiteral(real)) {
    size_t floor;
    enterRegion(floor);
    checkAgainst(argument, parameter);
    leaveRegion(floor);
    pushRegion(argument, RegionKind::Argument, parameter, false);
    return;
  }
  auto typeOf = [&](Type* hint) { return checked ? argument->type : check(argument, hint); };
  Type* wanted = shallow(parameter);
  if (auto* closure = dyn_cast<ClosureExpr>(real)) {
    Type* type = checked == 2 ? argument->type : checkClosure(closure, wanted, fate);
    if (checked != 2) {
      setType(real, type);
      if (real != argument)
        setType(argument, type);
    }
    coerce(real, type, parameter);
    return;
  }
  if (wanted->is(Kind::Ref)) {
    if (auto* borrow = dyn_cast<BorrowExpr>(real);
        borrow && borrow->mutability == Mutability::Mutable) {
      coerce(argument, typeOf(wanted), parameter);
      return;
    }
    Type* type = shallow(typeOf(wanted->args[0]));
    if (type->is(Kind::Ref) || type->is(Kind::Error) || type->is(Kind::Never)) {
      coerce(argument, type, parameter);
      return;
    }
    if (coercible(type, shallow(wanted->args[0])) || unifier_.unify(type, wanted->args[0])) {
      Diagnostic& report = engine_.report(argument->span, diag::MissingMutableBorrow, name);
      report.suggest(Span{argument->span.begin, argument->span.begin}, "&mut ", "write `&mut`");
    } else {
      engine_.report(argument->span, diag::TypeMismatch, print(wanted), print(type));
    }
    return;
  }
  coerce(argument, typeOf(parameter), parameter);
}

Type* Checker::callFunction(const CallSite& site, FunctionItem* function, const ValuePath& given,
                            ArrayRef<Expr*>& orderedOut, Target& target) {
  FunctionInfo& info = functionInfo(function);
  const Signature& signature = info.signature;
  if (function->parentModule && function->parentModule->package == 0 &&
      hasAttribute(function, "not_yet")) {
    engine_.report(site.span, diag::NotYet, ("`" + site.name + "`").str());
    checkArgumentsAlone(site.checked ? ArrayRef<Argument>() : site.arguments);
    return types_.error();
  }
  ValuePath value = given;
  value.kind = TargetKind::Function;
  value.item = function;
  size_t skip = site.receiver ? 1 : 0;
  SmallVector<Type*, 4> args = openTypeArgs(signature.generics, value, site.span, site.name);
  fillTarget(target, value, args);
  Type* self = value.self ? value.self : signature.self;
  bool generic = !args.empty() || value.self;
  auto instantiate = [&](Type* type) {
    if (!type->has(Type::HasParam))
      return type;
    for (Type*& arg : args)
      arg = shallow(arg);
    return substitute(type, args, self);
  };
  bool receiverMutable = false;
  if (site.receiver && !signature.parameters.empty()) {
    Type* wanted = instantiate(signature.parameters[0]);
    Type* actual = shallow(site.receiver->type);
    Type* plain = shallow(actual->withoutReferences());
    Type* target0 = wanted->is(Kind::Ref) ? shallow(wanted->args[0]) : wanted;
    if (!coercible(plain, target0) && !unifier_.unify(target0, plain) && !plain->is(Kind::Never))
      engine_.report(site.receiver->span, diag::TypeMismatch, print(target0), print(plain));
    if (wanted->is(Kind::Ref)) {
      receiverMutable = true;
      Expr* place = folded(site.receiver);
      if (!actual->is(Kind::Ref)) {
        if (isKept(place))
          checkWritable(place, true);
        else if (auto* call = dyn_cast<MethodCallExpr>(site.node))
          body_->lostWrites.push_back({call, place});
      }
    }
  }
  if (generic && site.expected && signature.result->has(Type::HasParam)) {
    // What is expected helps to find the arguments.
    Type* result = shallow(instantiate(signature.result));
    Type* hint = shallow(site.expected);
    if (result->kind == hint->kind && result->item == hint->item && result->has(Type::HasInfer) &&
        couldMatch(result, hint))
      unifier_.unify(result, hint);
    else if (result->is(Kind::Infer) && !hint->is(Kind::Infer) && !hint->is(Kind::Slice) &&
             !hint->is(Kind::Ref) && couldMatch(result, hint) && site.arguments.empty())
      unifier_.unify(result, hint);
  }
  SmallVector<Expr*, 8> ordered;
  if (!orderArguments(site, function, skip, ordered)) {
    if (!site.checked)
      checkArgumentsAlone(site.arguments);
  } else {
    bool late = false;
    const ClosureFate fate = fateOfArguments(function);
    auto one = [&](size_t i) {
      if (i + skip >= signature.parameters.size())
        return;
      const FunctionParameter& parameter = function->parameters[i + skip];
      bool isDefault = ordered[i] == parameter.defaultValue;
      Type* type = instantiate(signature.parameters[i + skip]);
      if (type->is(Kind::Projection))
        type = known(type);
      // A parameter of any type is a value's: what it does with a closure is to hold it.
      const bool isValue = !signature.parameters[i + skip]->is(Kind::Fn);
      checkArgument(ordered[i], type, parameter.label().text(), isDefault ? 0 : site.checked,
                    parameter.isComptime,
                    isValue && fate == ClosureFate::Called ? ClosureFate::Kept : fate);
    };
    for (size_t i = 0; i < ordered.size(); ++i) {
      if (generic && isa<ClosureExpr>(folded(ordered[i]))) {
        late = true;
        continue;
      }
      one(i);
    }
    if (generic)
      checkBounds(signature.generics, target.typeArgs, value.self, site.span);
    if (late)
      for (size_t i = 0; i < ordered.size(); ++i)
        if (isa<ClosureExpr>(folded(ordered[i])))
          one(i);
    orderedOut = context_.list<Expr*>(ordered);
    noteParallel(function, ordered, skip);
    checkBorrowsOfCall(function, site.receiver, receiverMutable, ordered);
    if (site.receiver)
      noteCursor(site.receiver);
    for (Expr* argument : ordered)
      noteCursor(argument);
  }
  if (info.isTemplate)
    body_->instances.push_back({function, &target});
  Type* result = shallow(instantiate(signature.result));
  if (result->is(Kind::Projection))
    result = known(result);
  noteHeap(result, site.span);
  return result;
}

Type* Checker::callConstructor(CallExpr* expr, const ValuePath& value, Type* expected) {
  auto* path = cast<PathExpr>(expr->callee);
  bool isStruct = value.kind == TargetKind::Struct;
  auto* structure = isStruct ? cast<StructItem>(value.item) : nullptr;
  const VariantDecl* variant =
      isStruct ? nullptr : &cast<EnumItem>(value.item)->variants[value.index];
  ArrayRef<FieldDecl> fields = isStruct ? structure->fields : variant->fields;
  StructShape shape = isStruct ? structure->shape : variant->shape;
  StringRef name = (isStruct ? structure->name.name : variant->name.name).text();
  Type* type = types_.nominal(isStruct ? Kind::Struct : Kind::Enum, value.item, value.outer);
  fillTarget(path->target, value, value.outer);
  noteOpened(nominal(value.item).generics, value.outer, expr->span, name);
  path->type = type;
  noteType(&path->type);
  (void)expected;
  if (shape != StructShape::Tuple) {
    engine_.report(expr->span, diag::ConstructorShape, name,
                   shape == StructShape::Unit ? "without fields" : "a value with named fields",
                   shape == StructShape::Unit ? name.str() : (name + " { .. }").str());
    checkArgumentsAlone(expr->arguments);
    return type;
  }
  size_t count = expr->arguments.size();
  if (count > fields.size())
    engine_.report(expr->span, diag::TooManyPositional, name, fields.size(), count);
  else if (count < fields.size())
    engine_.report(expr->span, diag::CallArity, name, fields.size(), count);
  ModuleScope* home = isStruct ? scopeOf(value.item) : nullptr;
  SmallVector<Expr*, 4> ordered;
  for (size_t i = 0; i < count; ++i) {
    const Argument& argument = expr->arguments[i];
    ordered.push_back(argument.value);
    if (argument.label.name)
      engine_.report(argument.label.span, diag::BadKeywordArgument, argument.label.name.text(),
                     "the fields of a tuple have no names");
    if (i >= fields.size()) {
      check(argument.value, nullptr);
      continue;
    }
    if (isStruct && !resolver_.isVisible(fields[i].visibility, home, body_->context.scope))
      engine_.report(argument.value->span, diag::PrivateField, std::to_string(i), print(type));
    Type* wanted = substitute(fields[i].resolved, value.outer, type);
    Type* actual = checkValue(argument.value, wanted);
    coerce(argument.value, actual, wanted);
  }
  expr->ordered = context_.list<Expr*>(ordered);
  return type;
}

Type* Checker::callValue(CallExpr* expr, Type* calleeType, Type*) {
  Type* type = known(known(calleeType)->withoutReferences());
  if (type->is(Kind::Error) || type->is(Kind::Never)) {
    checkArgumentsAlone(expr->arguments);
    return type;
  }
  SmallVector<Expr*, 4> ordered;
  for (const Argument& argument : expr->arguments) {
    ordered.push_back(argument.value);
    if (argument.label.name)
      engine_.report(argument.label.span, diag::BadKeywordArgument, argument.label.name.text(),
                     "the parameters of a callable value have no names");
  }
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General) {
    SmallVector<Type*, 4> parameters;
    for (Expr* argument : ordered)
      parameters.push_back(checkValue(argument, nullptr));
    Type* result = unifier_.fresh();
    unifier_.unify(type, types_.function(parameters, result));
    expr->ordered = context_.list<Expr*>(ordered);
    return result;
  }
  if (!type->is(Kind::Fn)) {
    engine_.report(expr->callee->span, diag::NotCallable, print(type));
    checkArgumentsAlone(expr->arguments);
    return types_.error();
  }
  size_t wanted = type->parameters().size();
  std::string name = input_.sources.text(expr->callee->span).take_front(60).str();
  if (ordered.size() != wanted) {
    engine_.report(expr->span, diag::CallArity, name, wanted, ordered.size());
    checkArgumentsAlone(expr->arguments);
    return type->result();
  }
  for (size_t i = 0; i < wanted; ++i)
    checkArgument(ordered[i], type->parameters()[i], std::to_string(i + 1), 0, false);
  checkBorrowsOfCall(nullptr, nullptr, false, ordered, expr->callee);
  expr->ordered = context_.list<Expr*>(ordered);
  return type->result();
}

Type* Checker::checkCall(CallExpr* expr, Type* expected) {
  expr->isComptimeFn = false;
  expr->isTypeInfo = false;
  expr->ordered = {};
  Expr* callee = folded(expr->callee);
  auto* path = dyn_cast<PathExpr>(callee);
  if (!path)
    return callValue(expr, check(expr->callee, nullptr), expected);
  path->target = {};
  if (path->path.segments.size() == 1 && !path->path.qualifier) {
    Name name = path->path.segments[0].ident.name;
    if (name == typeInfoName_ && !isLocal(name))
      return checkTypeInfo(expr, {});
    if (name == fieldOfName_ && !isLocal(name))
      return checkFieldOf(expr, expected);
  }
  ValuePath value = resolveValue(path->path, expected);
  switch (value.kind) {
  case TargetKind::None:
    path->type = types_.error();
    checkArgumentsAlone(expr->arguments);
    return types_.error();
  case TargetKind::Struct:
  case TargetKind::Variant:
    return callConstructor(expr, value, expected);
  case TargetKind::Variable:
  case TargetKind::Const:
  case TargetKind::Static:
  case TargetKind::AssociatedConst:
  case TargetKind::NumericConst:
  case TargetKind::ConstParam: {
    path->target.kind = value.kind;
    path->target.variable = value.variable;
    if (value.kind != TargetKind::Variable)
      fillTarget(path->target, value,
                 value.kind == TargetKind::AssociatedConst || value.kind == TargetKind::ConstParam
                     ? ArrayRef<Type*>(value.outer)
                     : ArrayRef<Type*>());
    Type* type = value.variable ? value.variable->type : value.type;
    setType(path, type);
    return callValue(expr, type, expected);
  }
  case TargetKind::Function:
    break;
  }
  auto* function = cast<FunctionItem>(value.item);
  if (isDataLast(expr, function, value.overloads)) {
    path->type = types_.error();
    checkArgumentsAlone(expr->arguments);
    return types_.error();
  }
  CallSite site{expr->span, expr, function->name.name.text(), expr->arguments, nullptr,
                expected,   0};
  bool region = function->isComptime && !inRegion();
  size_t floor = 0;
  if (region)
    enterRegion(floor);
  if (!value.overloads.empty()) {
    // `decode::<T>(..)`: who writes type arguments means one that takes them.
    SmallVector<FunctionItem*, 4> generic;
    if (value.hasExplicit)
      llvm::copy_if(value.overloads, std::back_inserter(generic),
                    [](FunctionItem* each) { return each->isGeneric(); });
    function =
        pickOverload(site, generic.empty() ? value.overloads : ArrayRef<FunctionItem*>(generic),
                     nullptr, site.checked);
  }
  Type* result = callFunction(site, function, value, expr->ordered, path->target);
  if (region) {
    leaveRegion(floor);
    expr->isComptimeFn = true;
    pushRegion(expr, RegionKind::Call, result, false);
  }
  // The callee as a value is never asked for; its type is, by printers and lowering.
  const Signature& signature = functionInfo(function).signature;
  path->type =
      signature.generics.empty() ? types_.function(signature.parameters, signature.result) : result;
  noteType(&path->type);
  return result;
}

// ---- methods ------------------------------------------------------------------------------------

Type* Checker::checkMethodCall(MethodCallExpr* expr, Type* expected) {
  Type* receiver = known(check(expr->receiver, nullptr));
  Type* plain = known(receiver->withoutReferences());
  if (plain->is(Kind::Infer) &&
      (plain->inferKind == InferKind::General || waitsForNumber(expr, plain))) {
    checkArgumentsAlone(expr->arguments);
    Type* result = unifier_.fresh();
    body_->deferred.push_back({expr, receiver, result, expected});
    expr->target = {};
    expr->ordered = {};
    return result;
  }
  return finishMethodCall(expr, receiver, expected, 0);
}

static bool isLibraryMember(const Member& member) {
  return member.item && member.item->parentModule && member.item->parentModule->package == 0;
}

Type* Checker::finishMethodCall(MethodCallExpr* expr, Type* receiver, Type* expected,
                                uint8_t argumentsChecked) {
  expr->target = {};
  expr->ordered = {};
  expr->fieldCall = false;
  expr->isComptimeFn = false;
  expr->identity = false;
  Type* type = shallow(shallow(receiver)->withoutReferences());
  auto fail = [&] {
    if (!argumentsChecked)
      checkArgumentsAlone(expr->arguments);
    return types_.error();
  };
  if (type->is(Kind::Error))
    return fail();
  if (type->is(Kind::Never)) {
    fail();
    return type;
  }
  Name name = expr->name.name;
  if ((name == intoName_ || name == tryIntoName_) && expr->arguments.empty()) {
    Type* result = nullptr;
    if (checkConversion(expr, type, expected, result))
      return result;
  }
  Member member = findMember(type, name, true);
  SmallVector<Argument, 2> bounds;
  const bool takenApart = expr->rangeApart =
      name == rangeName_ && (type->is(Kind::BTreeMap) || type->is(Kind::BTreeSet)) &&
      isLibraryMember(member);
  if (takenApart) {
    std::optional<Member> shaped = takeRangeApart(expr, type, bounds);
    if (!shaped)
      return fail();
    member = *shaped;
  }
  auto* function = dyn_cast_or_null<FunctionItem>(member.item);
  if (!function) {
    // A field that holds a function.
    if (type->is(Kind::Struct)) {
      auto* structure = cast<StructItem>(type->item);
      if (std::optional<uint32_t> index = fieldIndex(structure, structure->fields, name)) {
        resolveFields(structure);
        const FieldDecl& field = structure->fields[*index];
        Type* fieldType = shallow(substitute(field.resolved, type->args, type));
        if (fieldType->is(Kind::Fn)) {
          if (!resolver_.isVisible(field.visibility, scopeOf(structure), body_->context.scope))
            engine_.report(expr->name.span, diag::PrivateField, name.text(), print(type));
          expr->fieldCall = true;
          expr->fieldIndex = *index;
          size_t wanted = fieldType->parameters().size();
          if (expr->arguments.size() != wanted) {
            engine_.report(expr->span, diag::CallArity, name.text(), wanted,
                           expr->arguments.size());
            fail();
            return fieldType->result();
          }
          SmallVector<Expr*, 4> ordered;
          for (size_t i = 0; i < wanted; ++i) {
            ordered.push_back(expr->arguments[i].value);
            checkArgument(ordered.back(), fieldType->parameters()[i], std::to_string(i + 1),
                          argumentsChecked, false);
          }
          expr->ordered = context_.list<Expr*>(ordered);
          return fieldType->result();
        }
      }
    }
    reportNoMethod(expr->name.span, type, name);
    return fail();
  }
  if (member.rival) {
    Item* first = infoOf(function)->context.owner;
    engine_
        .report(expr->name.span, diag::MethodInTwoBounds, name.text(),
                first ? first->name.name.text() : StringRef(), member.rival->name.name.text())
        .help("write `Trait::" + name.text().str() + "(value)`");
    return fail();
  }
  if (!hasReceiver(function)) {
    engine_.report(expr->name.span, diag::NoSuchMethod, name.text(), print(type))
        .help("it has no `self`: write `" + print(type) + "::" + name.text().str() + "(..)`");
    return fail();
  }
  Item* owner = infoOf(function)->context.owner;
  if (owner && isa<ImplItem>(owner) && !cast<ImplItem>(owner)->hasTrait && !takenApart &&
      !resolver_.isVisible(function, body_->context.scope)) {
    engine_.report(expr->name.span, diag::PrivateMethod, name.text(), print(type))
        .label(function->name.span, "declared here");
    return fail();
  }
  ValuePath value;
  value.kind = TargetKind::Function;
  value.item = function;
  value.outer = member.outer;
  value.self = member.self;
  value.explicitArgs = expr->typeArgs;
  value.hasExplicit = expr->hasTypeArgs;
  value.explicitSpan = expr->name.span;
  CallSite site{expr->span,
                expr,
                name.text(),
                takenApart ? ArrayRef<Argument>(bounds) : expr->arguments,
                expr->receiver,
                expected,
                takenApart ? uint8_t(0) : argumentsChecked};
  if (!member.overloads.empty()) {
    function = pickOverload(site, member.overloads, receiver, site.checked);
    value.item = function;
  }
  bool region = function->isComptime && !inRegion();
  size_t floor = 0;
  if (region) {
    if (Variable* root = rootVariable(expr->receiver))
      engine_.report(expr->receiver->span, diag::RuntimeBindingInRegion, root->name.text())
          .label(root->span, "bound here");
    enterRegion(floor);
  }
  Type* result = callFunction(site, function, value, expr->ordered, expr->target);
  if (region) {
    leaveRegion(floor);
    expr->isComptimeFn = true;
    pushRegion(expr, RegionKind::Call, result, false);
  }
  return result;
}

/// `.into()` and `.try_into()`: the target is what the place wants.
bool Checker::checkConversion(MethodCallExpr* expr, Type* from, Type* expected, Type*& result) {
  bool tries = expr->name.name == tryIntoName_;
  if (findMember(from, expr->name.name, true).item)
    return false; // a method of that name of the type's own
  Type* to = expected ? known(expected) : nullptr;
  if (tries && to) {
    if (!(to->is(Kind::Enum) && to->item == lang_.result))
      to = nullptr;
    else
      to = known(to->args[0]);
  }
  result = types_.error();
  if (!to || to->is(Kind::Infer)) {
    if (!to || to->inferKind == InferKind::General) {
      engine_.report(expr->span, diag::NoConversion, print(from), "_")
          .help("the target is not known here: write its type, or `Target::from(..)`");
      return true;
    }
  }
  if (to->is(Kind::Error))
    return true;
  if (!tries) {
    if (unifier_.resolve(from) == unifier_.resolve(to) ||
        (to->is(Kind::Newtype) && unifier_.unify(representation(to), from)) ||
        (from->is(Kind::Newtype) && unifier_.unify(representation(from), to))) {
      expr->identity = true;
      result = to;
      return true;
    }
  }
  ValuePath value;
  value.kind = TargetKind::Function;
  FunctionItem* function = nullptr;
  Name wanted = tries ? context_.names.intern("try_from") : fromName_;
  if (TraitItem* trait = lang(tries ? LangTrait::TryFrom : LangTrait::From)) {
    ImplMatch match;
    SmallVector<Type*, 2> args{from};
    if (findImpl(trait, to, args, match)) {
      function = dyn_cast_or_null<FunctionItem>(implMember(*match.impl, wanted));
      value.outer = match.args;
    }
  }
  if (!function) {
    Member member = findMember(to, wanted, true);
    auto* found = dyn_cast_or_null<FunctionItem>(member.item);
    if (found && !member.self && found->parameters.size() == 1 && !hasReceiver(found) &&
        couldMatch(functionInfo(found).signature.parameters[0], from)) {
      function = found;
      value.outer = member.outer;
    }
  }
  if (!function) {
    engine_.report(expr->span, diag::NoConversion, print(from), print(to));
    return true;
  }
  value.item = function;
  const Signature& signature = functionInfo(function).signature;
  SmallVector<Type*, 4> args = openTypeArgs(signature.generics, value, expr->span, "from");
  fillTarget(expr->target, value, args);
  Type* parameter = substitute(signature.parameters[0], args, signature.self);
  coerce(expr->receiver, from, parameter);
  result = substitute(signature.result, args, signature.self);
  return true;
}

} // namespace gos::check
