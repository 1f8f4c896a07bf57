#include "compiler/driver/binding_modules.h"

#include "compiler/bindings/declarations.h"
#include "compiler/parse/parse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace gos::driver {
namespace {

using bindings::ModuleSignature;

/// The name of a Cargo package and of its library differ by `-` and `_`.
std::string crateKey(llvm::StringRef name) {
  std::string key = name.str();
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

class BindingModules {
public:
  BindingModules(const Project& project, const bindings::Signatures& signatures,
                 check::ProgramInput& input, Engine& engine)
      : project_(project), signatures_(signatures), input_(input), engine_(engine) {}

  bool add() {
    const auto declarations = bindings::declarationsOf(signatures_);
    for (size_t i = 0; i < declarations.size(); ++i)
      if (!addModule(signatures_.modules[i], declarations[i]))
        return false;
    const size_t first = input_.packages.size();
    // Types of one crate may lie in modules of several first segments.
    for (Root& root : roots_)
      for (size_t other = 0; other < roots_.size(); ++other)
        if (&roots_[other] != &root)
          root.package.dependencies.push_back(dependencyOn(other, first));
    for (size_t i = 0; i < project_.packages.size(); ++i)
      for (size_t root = 0; root < roots_.size(); ++root)
        if (const ModuleSignature* seen = moduleSeenBy(project_.packages[i], roots_[root])) {
          if (!isFree(project_.packages[i], input_.packages[i], *seen))
            continue;
          input_.packages[i].dependencies.push_back(dependencyOn(root, first));
        }
    for (Root& root : roots_) {
      const auto number = uint32_t(input_.packages.size() + 1);
      for (const resolve::SourceModule& module : root.package.modules) {
        input_.sources.file(module.file.id).package = number;
        module.file.module->package = number;
      }
      input_.packages.push_back(std::move(root.package));
    }
    return !engine_.hasErrors();
  }

private:
  /// The modules of one first segment.
  struct Root {
    std::string name;
    std::vector<const ModuleSignature*> modules;
    resolve::Package package;
  };

  Root& rootNamed(llvm::StringRef name) {
    for (Root& root : roots_)
      if (root.name == name)
        return root;
    Root& root = roots_.emplace_back();
    root.name = root.package.name = name.str();
    return root;
  }

  resolve::Dependency dependencyOn(size_t root, size_t first) const {
    return {roots_[root].name, roots_[root].name, uint32_t(first + root + 1), /*isBinding=*/true};
  }

  /// The entry file of a package comes first; there is none where no module has the bare path.
  bool addModule(const ModuleSignature& module, const bindings::ModuleDeclaration& declaration) {
    const auto segments = bindings::pathSegments(module.path);
    Root& root = rootNamed(segments.front());
    root.modules.push_back(&module);
    std::string name = "<bindings>/" + llvm::join(segments, "/") + ".gos";
    auto file = input_.sources.addCopy(name, declaration.text);
    if (!file) {
      engine_.report(diag::BindingRefused, module.crate, llvm::toString(file.takeError()));
      return false;
    }
    resolve::SourceModule source;
    source.file = parse::parseFile(*file, input_.sources, input_.context, engine_, {});
    for (llvm::StringRef segment : llvm::ArrayRef(segments).drop_front())
      source.path.push_back(segment.str());
    stamp(module, source.file);
    if (source.path.empty())
      root.package.modules.insert(root.package.modules.begin(), std::move(source));
    else
      root.package.modules.push_back(std::move(source));
    return true;
  }

  /// Says of the parsed declarations what they stand for.
  void stamp(const ModuleSignature& module, ast::File& file) {
    ast::Context& context = input_.context;
    for (ast::Item* item : file.module->items) {
      const llvm::StringRef name = item->name.name.text();
      const auto named = [&](const auto& each) { return each.name == name; };
      if (auto* function = llvm::dyn_cast<ast::FunctionItem>(item)) {
        const auto found = llvm::find_if(module.functions, named);
        if (found == module.functions.end())
          continue;
        ast::ForeignFunction foreign;
        foreign.path = context.string(module.path + "::" + found->name);
        foreign.symbol = context.string(found->symbol);
        foreign.signature = context.string(bindings::signatureText(*found));
        function->foreign = context.list(llvm::ArrayRef(foreign)).data();
      } else if (auto* structure = llvm::dyn_cast<ast::StructItem>(item)) {
        structure->isForeign = llvm::any_of(module.opaques, named);
      }
    }
  }

  /// A module of the root that the package has asked for: its manifest names the crate. What comes
  /// from a crate that no manifest names, a crate beneath one, is seen by every package with
  /// bindings.
  const ModuleSignature* moduleSeenBy(const Package& package, const Root& root) const {
    if (!package.manifest || package.manifest->bindings.empty())
      return nullptr;
    for (const ModuleSignature* module : root.modules)
      if (bindingOf(package, *module) != nullptr || !isNamedAnywhere(*module))
        return module;
    return nullptr;
  }

  static const RustBinding* bindingOf(const Package& package, const ModuleSignature& module) {
    if (!package.manifest)
      return nullptr;
    for (const RustBinding& binding : package.manifest->bindings)
      if (crateKey(binding.key) == crateKey(module.crate))
        return &binding;
    return nullptr;
  }

  bool isNamedAnywhere(const ModuleSignature& module) const {
    return llvm::any_of(project_.packages, [&](const Package& package) {
      return bindingOf(package, module) != nullptr;
    });
  }

  /// Is the first segment a name that the package has not given to anything else? Reports.
  bool isFree(const Package& package, const resolve::Package& parsed,
              const ModuleSignature& module) {
    const llvm::StringRef name = bindings::pathSegments(module.path).front();
    const auto refuse = [&](const llvm::Twine& what, Span other, llvm::StringRef label) {
      const RustBinding* binding = bindingOf(package, module);
      const std::string why =
          ("its module `" + module.path + "` begins with the name of " + what).str();
      Diagnostic& report =
          binding != nullptr
              ? engine_.report(binding->keySpan, diag::BindingRefused, module.crate, why)
              : engine_.report(diag::BindingRefused, module.crate, why);
      if (other.valid())
        report.label(other, label.str());
      report.help("rename one of them; the module's name stands in `#[gos_module(\"" + module.path +
                  "\")]`");
      return false;
    };
    for (const PackageDependency& each : package.dependencies)
      if (each.moduleName == name)
        return refuse("the dependency `" + llvm::Twine(each.key) + "`", each.span,
                      "the dependency");
    for (const resolve::SourceModule& each : parsed.modules) {
      if (!each.path.empty() && each.path.front() == name)
        return refuse("the module `" + name + "` of the package", {}, {});
      if (!each.path.empty())
        continue;
      for (const ast::Item* item : each.file.module->items)
        if (item->name.name && item->name.name.text() == name &&
            (llvm::isa<ast::ModuleItem>(item) || llvm::isa<ast::StructItem>(item) ||
             llvm::isa<ast::EnumItem>(item)))
          return refuse("`" + name + "` of the package", item->name.span, "declared here");
    }
    return true;
  }

  const Project& project_;
  const bindings::Signatures& signatures_;
  check::ProgramInput& input_;
  Engine& engine_;
  std::vector<Root> roots_;
};

} // namespace

bool addBindingModules(const Project& project, const bindings::Signatures& signatures,
                       check::ProgramInput& input, Engine& engine) {
  return BindingModules(project, signatures, input, engine).add();
}

std::vector<stdlib::ForeignOffer> foreignOffers(const bindings::Signatures& signatures) {
  std::vector<stdlib::ForeignOffer> offers;
  for (const ModuleSignature& module : signatures.modules)
    for (const bindings::FunctionSignature& function : module.functions)
      offers.push_back({function.symbol, bindings::signatureText(function)});
  return offers;
}

} // namespace gos::driver
