#include "compiler/lower/lowering.h"

#include "compiler/lower/function_lowering.h"
#include "compiler/lower/module_lowering.h"
#include "diagnostics/code.h"
#include "stdlib/builtins.h"

#include <bit>

namespace gos::lower {

using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using types::Kind;

ModuleLowering::ModuleLowering(check::Program& program, Engine& engine)
    : program_(program), engine_(engine), layouts_(module_, program.types(), *this) {
  for (const check::PackageInfo& package : program.packages)
    module_.packages.push_back(package.name);
  // Some fixed layouts, so that the low numbers are the same in every module.
  layouts_.unit();
  layouts_.boolean();
  layouts_.integer();
  layouts_.string();
}

// ---- types
// --------------------------------------------------------------------------------------------

Type* ModuleLowering::instantiate(Type* type, const Environment& environment) {
  if (!type)
    return program_.types().unit();
  if (!type->has(Type::HasParam) && !type->has(Type::HasProjection))
    return type;
  return program_.substitute(type, environment.args, environment.self);
}

llvm::ArrayRef<Type*> ModuleLowering::instantiate(llvm::ArrayRef<Type*> types,
                                                  const Environment& environment) {
  llvm::SmallVector<Type*, 8> made;
  for (Type* type : types)
    made.push_back(type ? instantiate(type, environment) : nullptr);
  return intern(made);
}

llvm::ArrayRef<Type*> ModuleLowering::intern(llvm::ArrayRef<Type*> types) {
  if (types.empty())
    return {};
  std::vector<Type*> key(types.begin(), types.end());
  auto found = internedLists_.find(key);
  if (found == internedLists_.end())
    found = internedLists_.emplace(std::move(key), program_.types().list(types)).first;
  return found->second;
}

LayoutHost::Hooks ModuleLowering::hooks(Type* type) {
  Hooks result;
  auto find = [&](check::Hook which) {
    std::optional<Selected> selected = program_.hook(which, type);
    if (!selected || selected->isStructural || !selected->function || !selected->function->body)
      return vm::FunctionId::None;
    return function(*selected);
  };
  result.display = find(check::Hook::Display);
  result.debug = find(check::Hook::Debug);
  result.equals = find(check::Hook::Equal);
  result.compare = find(check::Hook::Compare);
  return result;
}

llvm::SmallVector<Type*, 8> ModuleLowering::fieldTypes(Type* type, uint32_t variant) {
  llvm::SmallVector<Type*, 8> result;
  if (type->is(Kind::Struct)) {
    size_t count = cast<ast::StructItem>(type->item)->fields.size();
    for (unsigned i = 0; i != count; ++i)
      result.push_back(program_.fieldType(type, i));
  } else if (type->is(Kind::Enum)) {
    auto* item = cast<ast::EnumItem>(type->item);
    if (variant < item->variants.size())
      for (unsigned i = 0; i != item->variants[variant].fields.size(); ++i)
        result.push_back(program_.payloadType(type, variant, i));
  }
  return result;
}

// ---- names
// ----------------------------------------------------------------------------------------------

llvm::StringRef ModuleLowering::builtinPath(const ast::FunctionItem* function) {
  if (builtinPaths_.empty())
    for (const stdlib::BuiltinRow& row : stdlib::builtinRows()) {
      if (size_t(row.id) >= builtinPaths_.size())
        builtinPaths_.resize(size_t(row.id) + 1);
      builtinPaths_[size_t(row.id)] = row.path;
    }
  size_t number = size_t(function->builtin);
  return number < builtinPaths_.size() ? builtinPaths_[number] : llvm::StringRef();
}

/// Whose source an item is. Threat: code taken for the library's would be transparent to the gate
/// and read what its caller may read; so an item of unknown origin belongs to no package, for which
/// everything is denied.
uint32_t ModuleLowering::packageOf(const ast::Item* item) const {
  if (auto* function = dyn_cast<ast::FunctionItem>(item); function && function->builtin >= 0)
    return 0;
  for (const ast::ModuleItem* module = item->parentModule; module; module = module->parentModule)
    if (!module->parentModule || module->isFile || module->package)
      return module->package;
  return kNoPackage;
}

std::string ModuleLowering::displayName(const ast::FunctionItem* function, Type* self) const {
  std::string name = function->name.name.text().str();
  if (function->implicitMain)
    name = "main";
  if (!function->owner)
    return name;
  Type* type = self;
  if (!type)
    type = program_.signature(const_cast<ast::FunctionItem*>(function)).self;
  if (type && !type->is(Kind::Param)) {
    std::string owner =
        type->isNominal() ? type->item->name.name.text().str() : program_.print(type);
    return owner + "::" + name;
  }
  return name;
}

// ---- functions
// --------------------------------------------------------------------------------------------

vm::FunctionId ModuleLowering::enqueue(Instance instance) {
  module_.functions.emplace_back();
  instance.id = vm::FunctionId(module_.functions.size() - 1);
  queue_.push_back(std::move(instance));
  return queue_.back().id;
}

vm::FunctionId ModuleLowering::function(const Selected& selected) {
  llvm::ArrayRef<Type*> args = intern(selected.typeArgs);
  FunctionKey key{selected.function, args.data(), args.size(), selected.self};
  auto found = functions_.find(key);
  if (found != functions_.end())
    return found->second;
  Instance instance;
  instance.function = program_.instance(selected.function, args, selected.self);
  bool isClone = instance.function != selected.function;
  if (!instance.function)
    instance.function = selected.function;
  instance.environment.args = isClone ? llvm::ArrayRef<Type*>() : args;
  instance.environment.self = isClone ? nullptr : selected.self;
  // The type of an impl's functions is known from the signature.
  if (!instance.environment.self)
    if (Type* self = program_.signature(instance.function).self; self && !self->is(Kind::Param))
      instance.environment.self = instantiate(self, instance.environment);
  instance.environment.package = packageOf(selected.function);
  instance.environment.name = displayName(selected.function, instance.environment.self);
  instance.span =
      selected.function->name.span.valid() ? selected.function->name.span : selected.function->span;
  for (Type* arg : args)
    if (arg->depth > types::TypeTable::kMaxArgumentDepth) {
      notYet(instance.span, "a generic function that needs itself at ever larger types");
      return functions_[key] = module_.entry; // never run: what failed makes no module
    }
  vm::FunctionId id = enqueue(instance);
  functions_[key] = id;
  return id;
}

vm::FunctionId ModuleLowering::closure(const ast::ClosureExpr* closure,
                                       const Environment& environment) {
  Instance instance;
  instance.kind = Instance::Kind::Closure;
  instance.closure = closure;
  instance.environment = environment;
  if (!llvm::StringRef(environment.name).starts_with("closure in "))
    instance.environment.name = "closure in " + environment.name;
  instance.span = closure->span;
  return enqueue(std::move(instance));
}

vm::FunctionId ModuleLowering::thunk(const Selected& selected, Type* type, uint32_t package,
                                     Span span) {
  llvm::ArrayRef<Type*> args = intern(selected.typeArgs);
  FunctionKey key{selected.function, args.data(), args.size(), selected.self};
  auto [found, isNew] = thunks_.try_emplace({key, type, package}, vm::FunctionId::None);
  if (!isNew)
    return found->second;
  Instance instance;
  instance.kind = Instance::Kind::Thunk;
  instance.function = selected.function;
  instance.environment = {args, selected.self, package,
                          displayName(selected.function, selected.self)};
  instance.type = type;
  instance.span = span;
  vm::FunctionId id = enqueue(std::move(instance));
  thunks_[{key, type, package}] = id;
  return id;
}

vm::FunctionId ModuleLowering::constructor(Type* type, uint32_t variant, uint32_t package,
                                           Span span) {
  FunctionKey key{nullptr, nullptr, variant, nullptr};
  auto [found, isNew] = thunks_.try_emplace({key, type, package}, vm::FunctionId::None);
  if (!isNew)
    return found->second;
  Instance instance;
  instance.kind = Instance::Kind::Constructor;
  instance.environment.package = package;
  instance.environment.name = program_.print(type->result());
  instance.type = type;
  instance.variant = variant;
  instance.span = span;
  vm::FunctionId id = enqueue(std::move(instance));
  thunks_[{key, type, package}] = id;
  return id;
}

// ---- tables
// -----------------------------------------------------------------------------------------------

uint32_t ModuleLowering::global(ast::Item* item, const Environment& environment) {
  auto [found, isNew] = globals_.try_emplace({{item, environment.self}, environment.args.data()},
                                             uint32_t(module_.globals.size()));
  if (!isNew)
    return found->second;
  uint32_t number = found->second;
  module_.globals.emplace_back();
  Type* type = instantiate(program_.constantType(item), environment);
  vm::LayoutId layout = layouts_.cellOf(layouts_.of(type));
  Instance instance;
  instance.kind = Instance::Kind::Global;
  instance.environment = environment;
  instance.environment.name = item->name.name.text().str();
  instance.expr = item->kind == ast::ItemKind::Static ? cast<ast::StaticItem>(item)->value
                                                      : cast<ast::ConstItem>(item)->value;
  instance.type = type;
  instance.span = item->name.span;
  vm::FunctionId initialiser = enqueue(std::move(instance));
  module_.globals[number] = {item->name.name.text().str(), layout, initialiser};
  return number;
}

uint32_t ModuleLowering::constant(uint64_t bits) {
  auto [found, isNew] = constants_.try_emplace(bits, uint32_t(module_.constants.size()));
  if (isNew)
    module_.constants.push_back(bits);
  return found->second;
}

uint32_t ModuleLowering::string(llvm::StringRef text) {
  auto [found, isNew] = strings_.try_emplace(text, uint32_t(module_.strings.size()));
  if (isNew)
    module_.strings.push_back(text.str());
  return found->second;
}

uint32_t ModuleLowering::format(const ast::FormatSpec& spec) {
  vm::FormatSpec made;
  made.fill = spec.fill;
  made.zero = spec.zero;
  made.width = spec.width;
  made.precision = spec.precision;
  switch (spec.align) {
  case ast::FormatSpec::Align::Default:
    made.align = vm::FormatSpec::Align::Default;
    break;
  case ast::FormatSpec::Align::Left:
    made.align = vm::FormatSpec::Align::Left;
    break;
  case ast::FormatSpec::Align::Centre:
    made.align = vm::FormatSpec::Align::Centre;
    break;
  case ast::FormatSpec::Align::Right:
    made.align = vm::FormatSpec::Align::Right;
    break;
  }
  switch (spec.kind) {
  case ast::FormatSpec::Kind::Display:
    made.kind = vm::FormatSpec::Kind::Display;
    break;
  case ast::FormatSpec::Kind::Debug:
    made.kind = vm::FormatSpec::Kind::Debug;
    break;
  case ast::FormatSpec::Kind::LowerHex:
    made.kind = vm::FormatSpec::Kind::LowerHex;
    break;
  case ast::FormatSpec::Kind::UpperHex:
    made.kind = vm::FormatSpec::Kind::UpperHex;
    break;
  case ast::FormatSpec::Kind::Binary:
    made.kind = vm::FormatSpec::Kind::Binary;
    break;
  case ast::FormatSpec::Kind::Octal:
    made.kind = vm::FormatSpec::Kind::Octal;
    break;
  }
  for (uint32_t i = 0; i != module_.formats.size(); ++i)
    if (module_.formats[i] == made)
      return i;
  module_.formats.push_back(made);
  return uint32_t(module_.formats.size() - 1);
}

uint32_t ModuleLowering::native(llvm::StringRef path, llvm::ArrayRef<vm::LayoutId> parameters,
                                llvm::ArrayRef<bool> inOut, vm::LayoutId result) {
  std::string key = path.str();
  for (size_t i = 0; i != parameters.size(); ++i)
    key += (inOut[i] ? "&" : ",") + std::to_string(uint32_t(parameters[i]));
  key += ">" + std::to_string(uint32_t(result));
  auto [found, isNew] = natives_.try_emplace(std::move(key), uint32_t(module_.natives.size()));
  if (isNew) {
    vm::NativeImport import;
    import.name = path.str();
    import.parameters.assign(parameters.begin(), parameters.end());
    import.inOut.assign(inOut.begin(), inOut.end());
    import.result = result;
    module_.natives.push_back(std::move(import));
  }
  return found->second;
}

uint32_t ModuleLowering::foreign(const ast::ForeignFunction& function,
                                 llvm::ArrayRef<vm::LayoutId> parameters,
                                 llvm::ArrayRef<bool> inOut, vm::LayoutId result) {
  // A colon stands in no path of the library: the names cannot meet.
  const uint32_t import = native("rust:" + function.path.str(), parameters, inOut, result);
  module_.natives[import].symbol = function.symbol.str();
  module_.natives[import].signature = function.signature.str();
  return import;
}

void ModuleLowering::notYet(Span span, llvm::StringRef what) {
  failed_ = true;
  if (reported_.try_emplace(span.begin, true).second)
    engine_.report(span, diag::NotYet, what);
}

void ModuleLowering::reachUnmadeText(Span span) {
  failed_ = true;
  if (reachesUnmadeText_)
    *reachesUnmadeText_ = true;
  else
    notYet(span, "`codegen!` in what makes the text of another `codegen!`, or an array length");
}

// ---- the worklist
// -------------------------------------------------------------------------------------------

void ModuleLowering::lowerInstance(const Instance& instance) {
  if (instance.kind == Instance::Kind::Function) {
    if (!instance.function->body) {
      notYet(instance.span, "this function");
      return;
    }
    if (!program_.ensureChecked(instance.function)) {
      failed_ = true;
      return;
    }
  }
  vm::Function made;
  FunctionLowering(*this, instance, made).lower();
  module_.functions[vm::index(instance.id)] = std::move(made);
}

llvm::Expected<vm::Module> ModuleLowering::run(const LowerRequest& request) {
  everyLine_ = request.everyLine;
  reachesUnmadeText_ = request.reachesUnmadeText;
  types().allowInstances();
  if (request.session && program_.main)
    module_.entry = sessionLine(*request.session);
  else if (request.withMain && program_.main)
    module_.entry = function(Selected{program_.main});
  for (const check::Region& region : request.regions) {
    Instance instance;
    instance.kind = Instance::Kind::Region;
    instance.environment.package = region.package;
    instance.environment.name = "comptime";
    instance.expr = region.node;
    if (region.kind == check::RegionKind::Codegen)
      if (auto* call = dyn_cast<ast::KnownCallExpr>(region.node); call && !call->arguments.empty())
        instance.expr = call->arguments[0];
    instance.type = region.type;
    instance.span = region.node->span;
    module_.regions.push_back(enqueue(std::move(instance)));
  }
  for (ast::FunctionItem* entry : request.entries)
    module_.regions.push_back(function(Selected{entry}));
  // A bound on what recursive instantiation can make; thunks of regions are the program's own.
  constexpr size_t kMaxInstances = 200'000;
  while (!queue_.empty()) {
    Instance instance = std::move(queue_.front());
    queue_.pop_front();
    if (module_.functions.size() - module_.regions.size() > kMaxInstances) {
      notYet(instance.span, "a program of more than 200,000 instances of functions");
      break;
    }
    lowerInstance(instance);
  }
  if (failed_)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the program uses what is not built yet");
  if (request.globalItems) {
    request.globalItems->assign(module_.globals.size(), nullptr);
    for (const auto& [key, number] : globals_)
      (*request.globalItems)[number] = key.first.first;
  }
  return std::move(module_);
}

vm::FunctionId ModuleLowering::sessionLine(const SessionLine& session) {
  session_ = &session;
  for (const ast::Variable* variable : session.variables) {
    sessionGlobals_[variable] = uint32_t(module_.globals.size());
    Type* type = instantiate(variable->type, {})->withoutReferences();
    if (type->is(Kind::Never))
      type = types().unit();
    module_.globals.push_back(
        {variable->name.text().str(), layouts_.cellOf(layouts_.of(type)), vm::FunctionId::None});
  }
  Instance instance;
  instance.kind = Instance::Kind::Session;
  instance.function = program_.main;
  instance.environment.package = packageOf(program_.main);
  instance.environment.name = "input";
  instance.span = program_.main->span;
  return enqueue(std::move(instance));
}

std::optional<uint32_t> ModuleLowering::sessionGlobal(const ast::Variable* variable) const {
  auto found = sessionGlobals_.find(variable);
  if (found == sessionGlobals_.end())
    return std::nullopt;
  return found->second;
}

llvm::Expected<vm::Module> lower(check::Program& program, const LowerRequest& request,
                                 Engine& engine) {
  ModuleLowering lowering(program, engine);
  return lowering.run(request);
}

} // namespace gos::lower
