// Program: what lowering asks once all is checked.

#include "compiler/check/program.h"

#include "compiler/ast/clone.h"
#include "compiler/check/checker.h"
#include "compiler/parse/parse.h"

namespace gos::check {

Checker::Checker(ProgramInput& input, Engine& engine)
    : input_(input), engine_(engine), context_(input.context),
      resolver_(input.context, input.sources, engine, input.library, input.libraryTrees),
      unifier_(types_), folded_(input.folded) {
  ast::NameTable& names = context_.names;
#define GOS_INTEGER(kind, text, bits, isSigned) builtinNames_[names.intern(text)] = Kind::kind;
#define GOS_FLOAT(kind, text, bits) builtinNames_[names.intern(text)] = Kind::kind;
#define GOS_SCALAR(kind, text) builtinNames_[names.intern(text)] = Kind::kind;
#define GOS_CONTAINER(kind, text, arguments) builtinNames_[names.intern(text)] = Kind::kind;
#include "compiler/types/constructors.def"
  builtinNames_[names.intern("str")] = Kind::String;
  builtinNames_[names.intern("Range")] = Kind::Range;
  selfName_ = names.intern("self");
  selfTypeName_ = names.intern("Self");
  underscore_ = names.intern("_");
  intoName_ = names.intern("into");
  tryIntoName_ = names.intern("try_into");
  fromName_ = names.intern("from");
  nextName_ = names.intern("next");
  typeInfoName_ = names.intern("typeInfo");
  fieldOfName_ = names.intern("field_of");
  forName_ = names.intern("for");
  toStringName_ = names.intern("to_string");
  rangeName_ = names.intern("range");
}

Checker::~Checker() = default;

void Checker::run(Program& program) {
  for (const Diagnostic& diagnostic : engine_.diagnostics())
    if (diagnostic.severity == Severity::Error && !diagnostic.labels.empty())
      damage_.push_back(diagnostic.labels[0].span.begin);
  llvm::sort(damage_);
  resolver_.testing = input_.testing;
  resolver_.build(input_.packages);
  findLangItems(program);
  syncItems();
  // The statements of the entry file are the body of `main`.
  ModuleScope* root = input_.packages.empty() ? nullptr : resolver_.root(1);
  FunctionItem* implicit = nullptr;
  if (root && !input_.packages[0].modules.empty()) {
    const ast::File& entry = input_.packages[0].modules[0].file;
    if (!input_.implicitMain)
      input_.implicitMain = parse::makeImplicitMain(entry, context_);
    implicit = input_.implicitMain;
    if (implicit) {
      implicit->parentModule = root->item;
      implicit->info = nullptr;
      implicit->implicitMain = true;
      addItem(implicit, root);
    }
  }
  resolver_.checkImports();
  syncItems();
  syncImpls();
  checkItems();
  if (implicit) {
    functionInfo(implicit);
    queueBody(implicit);
  }
  drainQueue();
  size_t constants = 0;
  do {
    for (; constants < constants_.size(); ++constants)
      checkConstBody(constants_[constants]);
    drainQueue();
  } while (constants < constants_.size());
  for (size_t i = 0; i < heaps_.size(); ++i)
    checkHeap(heaps_[i].first, heaps_[i].second);
  checkGivenClosures();
  checkParallel();
  judgeLengths();
  orderConstants(program);

  if (root) {
    program.main = implicit;
    auto found = root->entries.find(context_.names.intern("main"));
    if (found != root->entries.end())
      if (auto* function = dyn_cast_or_null<FunctionItem>(found->second.own.value))
        program.main = function;
    if (program.main && program.main != implicit) {
      const Signature& signature = functionInfo(program.main).signature;
      if (!signature.parameters.empty())
        engine_.report(program.main->name.span, diag::CallArity, "main", 0,
                       signature.parameters.size());
      Type* result = signature.result;
      bool good =
          result->isUnit() || result->has(Type::HasError) || result->is(Kind::Never) ||
          (result->is(Kind::Enum) && result->item == lang_.result && result->args[0]->isUnit());
      if (!good)
        engine_.report(program.main->returnType->span, diag::TypeMismatch, "() or Result<(), E>",
                       types::print(result));
    }
  }
  program.lang = lang_;
  program.functions = functions_;
  program.packages.push_back({"std", resolver_.core()});
  for (size_t i = 0; i < input_.packages.size(); ++i)
    program.packages.push_back({input_.packages[i].name, resolver_.root(uint32_t(i + 1))});
  program.regions = regions_;
  llvm::stable_sort(program.regions, [](const Region& a, const Region& b) {
    return std::pair(a.package, a.node->span.begin) < std::pair(b.package, b.node->span.begin);
  });
  lowering_ = true;
}

bool Checker::ensureChecked(FunctionItem* function) {
  FunctionInfo& info = functionInfo(function);
  if (info.body == State::Fresh && function->body) {
    queueBody(function);
    if (!body_)
      drainQueue();
  }
  return info.bodyOk;
}

bool Checker::ensureConstant(Item* item) {
  size_t errors = engine_.errorCount();
  checkConstBody(item);
  if (!body_)
    drainQueue();
  return engine_.errorCount() == errors;
}

static void appendKey(std::string& key, Type* type, unsigned depth) {
  if (depth > 200 || key.size() > 100'000)
    return;
  key += char('A' + int(type->kind) % 26);
  key += std::to_string(int(type->kind));
  if (type->item)
    key += "@" + std::to_string(reinterpret_cast<uintptr_t>(type->item));
  if (type->length)
    key += "#" + std::to_string(type->length);
  if (type->parameter)
    key += "$" + std::to_string(reinterpret_cast<uintptr_t>(type->parameter));
  key += type->mutability == Mutability::Mutable ? "m<" : "<";
  for (Type* arg : type->args)
    appendKey(key, arg, depth + 1);
  key += ">";
}

FunctionItem* Checker::instance(FunctionItem* function, ArrayRef<Type*> args, Type* self) {
  FunctionInfo& info = functionInfo(function);
  if (!info.isTemplate || !info.context.bound.empty())
    return function;
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(function));
  for (Type* arg : args)
    appendKey(key, arg, 0);
  if (self)
    appendKey(key, self, 0);
  FunctionItem*& clone = input_.templateClones[key];
  if (!clone) {
    if (input_.templateClones.size() > 10'000) {
      engine_.report(function->name.span, diag::CheckNestingLimit, 10'000)
          .note("the function needs ever new copies of itself");
      input_.templateClones.erase(key);
      return function;
    }
    ast::Cloner cloner(context_);
    clone = cloner.clone(function);
    clone->generics = {};
    clone->info = nullptr;
  }
  if (instances_.insert(clone).second) {
    ItemContext context = info.context;
    context.bound = types_.list<Type*>(args);
    clone->owner = function->owner;
    clone->parentModule = function->parentModule;
    auto* made = new (arena_.Allocate<FunctionInfo>()) FunctionInfo();
    clone->info = static_cast<ItemInfo*>(made);
    made->context = context;
    if (self && context.self && context.self->is(Kind::Param))
      made->context.self = self;
    made->state = State::Done;
    made->optional = info.optional;
    SmallVector<Type*, 8> parameters;
    for (Type* parameter : info.signature.parameters)
      parameters.push_back(substitute(parameter, args, self));
    made->signature.parameters = types_.list<Type*>(parameters);
    made->signature.result = substitute(info.signature.result, args, self);
    made->signature.self =
        info.signature.self ? substitute(info.signature.self, args, self) : nullptr;
    made->body = State::Running;
    queue_.push_back(clone);
    if (!body_)
      drainQueue();
  }
  return clone;
}

Type* Checker::representation(Type* type) {
  if (!type->is(Kind::Newtype))
    return type;
  return substitute(nominal(type->item).target, type->args, type);
}

Type* Checker::fieldType(Type* type, unsigned field) {
  auto* structure = cast<StructItem>(type->item);
  resolveFields(structure);
  if (field >= structure->fields.size() || !structure->fields[field].resolved)
    return types_.error();
  return substitute(structure->fields[field].resolved, type->args, type);
}

Type* Checker::payloadType(Type* type, unsigned variant, unsigned field) {
  auto* item = cast<EnumItem>(type->item);
  resolveFields(item);
  if (variant >= item->variants.size() || field >= item->variants[variant].fields.size())
    return types_.error();
  Type* resolved = item->variants[variant].fields[field].resolved;
  return resolved ? substitute(resolved, type->args, type) : types_.error();
}

Type* Checker::constantType(Item* item) {
  return constInfo(item).type;
}

Selected Checker::select(FunctionItem* function, ArrayRef<Type*> args, Type* self) {
  Selected selected{function, args, self, false};
  auto* trait = dyn_cast_or_null<TraitItem>(infoOf(function)->context.owner);
  if (!trait || !self)
    return selected;
  self = self->withoutReferences();
  selected.self = self;
  size_t own = traitInfo(trait).generics.size();
  ArrayRef<Type*> traitArgs = args.take_front(std::min(own, args.size()));
  ArrayRef<Type*> methodArgs = args.drop_front(std::min(own, args.size()));
  SmallVector<TraitItem*, 2> traits{trait};
  LangTrait lang = langTrait(trait);
  auto also = [&](LangTrait other) {
    if (TraitItem* item = langTraits_[size_t(other)])
      traits.push_back(item);
  };
  if (lang == LangTrait::Eq)
    also(LangTrait::PartialEq);
  if (lang == LangTrait::PartialEq)
    also(LangTrait::Eq);
  if (lang == LangTrait::Ord)
    also(LangTrait::PartialOrd);
  if (lang == LangTrait::PartialOrd)
    also(LangTrait::Ord);
  for (TraitItem* each : traits) {
    ImplMatch match;
    if (!findImpl(each, self, each == trait ? traitArgs : ArrayRef<Type*>(), match))
      continue;
    if (auto* found =
            dyn_cast_or_null<FunctionItem>(implMember(*match.impl, function->name.name))) {
      SmallVector<Type*, 4> all(match.args.begin(), match.args.end());
      all.append(methodArgs.begin(), methodArgs.end());
      selected.function = found;
      selected.typeArgs = types_.list<Type*>(all);
      selected.self = nullptr;
      return selected;
    }
    if (function->body) {
      // A default method: the trait's own arguments as the impl fixes them.
      SmallVector<Type*, 4> all;
      for (Type* arg : match.impl->trait.args)
        all.push_back(substitute(arg, match.args, self));
      all.append(methodArgs.begin(), methodArgs.end());
      selected.typeArgs = types_.list<Type*>(all);
      return selected;
    }
  }
  if (lang == LangTrait::Iterator)
    if (std::optional<Selected> found = methodNamed(self, function->name.name.text()))
      return *found;
  selected.isStructural = !function->body;
  return selected;
}

ConstItem* Checker::selectConst(ConstItem* item, Type* self) {
  auto* trait = dyn_cast_or_null<TraitItem>(infoOf(item)->context.owner);
  if (!trait || !self)
    return item;
  ImplMatch match;
  if (findImpl(trait, self->withoutReferences(), {}, match))
    if (auto* found = dyn_cast_or_null<ConstItem>(implMember(*match.impl, item->name.name)))
      return found;
  return item;
}

std::optional<Selected> Checker::hook(Hook which, Type* type) {
  if (!type->isNominal())
    return std::nullopt;
  SmallVector<LangTrait, 2> traits;
  StringRef method;
  switch (which) {
  case Hook::Display:
    traits = {LangTrait::Display};
    method = "fmt";
    break;
  case Hook::Debug:
    traits = {LangTrait::Debug};
    method = "fmt";
    break;
  case Hook::Equal:
    traits = {LangTrait::PartialEq, LangTrait::Eq};
    method = "eq";
    break;
  case Hook::Compare:
    traits = {LangTrait::PartialOrd, LangTrait::Ord};
    method = "cmp";
    break;
  case Hook::Clone:
    traits = {LangTrait::Clone};
    method = "clone";
    break;
  case Hook::Default:
    traits = {LangTrait::Default};
    method = "default";
    break;
  }
  for (LangTrait each : traits) {
    TraitItem* trait = lang(each);
    ImplMatch match;
    if (!trait || !findImpl(trait, type, {}, match))
      continue;
    if (auto* function =
            dyn_cast_or_null<FunctionItem>(implMember(*match.impl, context_.names.intern(method))))
      return Selected{function, types_.list<Type*>(match.args), nullptr, false};
  }
  return std::nullopt;
}

std::optional<Selected> Checker::methodNamed(Type* type, StringRef name) {
  Member member = findMember(type, context_.names.intern(name), true);
  auto* function = dyn_cast_or_null<FunctionItem>(member.item);
  if (!function)
    return std::nullopt;
  const Signature& signature = functionInfo(function).signature;
  SmallVector<Type*, 4> args(member.outer.begin(), member.outer.end());
  if (args.size() < signature.generics.size()) {
    args.resize(signature.generics.size());
    if (!signature.parameters.empty())
      matchPattern(signature.parameters[0]->withoutReferences(), type->withoutReferences(), args);
    for (Type*& arg : args)
      if (!arg)
        arg = types_.error();
  }
  return Selected{function, types_.list<Type*>(args), member.self, false};
}

// ---- the front
// ------------------------------------------------------------------------------------

Program::Program() = default;
Program::Program(std::unique_ptr<Checker> checker) : checker_(std::move(checker)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

types::TypeTable& Program::types() {
  return checker_->types();
}
const Signature& Program::signature(ast::FunctionItem* function) {
  return checker_->signature(function);
}
bool Program::ensureChecked(ast::FunctionItem* function) {
  return checker_->ensureChecked(function);
}
bool Program::ensureConstant(ast::Item* item) {
  return checker_->ensureConstant(item);
}
ast::FunctionItem* Program::instance(ast::FunctionItem* function, ArrayRef<Type*> typeArgs,
                                     Type* self) {
  return checker_->instance(function, typeArgs, self);
}
Type* Program::substitute(Type* type, ArrayRef<Type*> args, Type* self) {
  return checker_->substitute(type, args, self);
}
Type* Program::representation(Type* newtype) {
  return checker_->representation(newtype);
}
Type* Program::fieldType(Type* structType, unsigned field) {
  return checker_->fieldType(structType, field);
}
Type* Program::payloadType(Type* enumType, unsigned variant, unsigned field) {
  return checker_->payloadType(enumType, variant, field);
}
Type* Program::constantType(ast::Item* item) {
  return checker_->constantType(item);
}
Selected Program::select(ast::FunctionItem* function, ArrayRef<Type*> typeArgs, Type* self) {
  return checker_->select(function, typeArgs, self);
}
ast::ConstItem* Program::selectConst(ast::ConstItem* item, Type* self) {
  return checker_->selectConst(item, self);
}
std::optional<Selected> Program::hook(Hook which, Type* type) {
  return checker_->hook(which, type);
}
std::optional<Selected> Program::method(Type* type, StringRef name) {
  return checker_->methodNamed(type, name);
}
ast::Expr* Program::folded(ast::Expr* expr) const {
  return checker_->folded(expr);
}
std::string Program::print(Type* type) const {
  return types::print(type);
}

Program check(ProgramInput& input, Engine& engine) {
  auto checker = std::make_unique<Checker>(input, engine);
  Checker* raw = checker.get();
  Program program(std::move(checker));
  raw->run(program);
  return program;
}

} // namespace gos::check
