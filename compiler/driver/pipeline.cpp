#include "compiler/driver/pipeline.h"

#include "compiler/lower/lowering.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"

#include "llvm/ADT/SmallVector.h"

namespace gos::driver {
namespace {

/// "src/deep/nest.gos", "src/deep/nest/mod.gos" -> {"deep", "nest"}; the entry file has the empty
/// path.
std::vector<std::string> modulePath(llvm::StringRef path, const Package& package) {
  llvm::StringRef rest = path;
  if (!package.sourceDirectory.empty())
    rest.consume_front(package.sourceDirectory + "/");
  rest.consume_back(".gos");
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, '/', -1, /*KeepEmpty=*/false);
  if (parts.size() > 1 && parts.back() == "mod")
    parts.pop_back();
  std::vector<std::string> names;
  for (llvm::StringRef part : parts)
    names.push_back(part.str());
  return names;
}

} // namespace

Compilation::Compilation(const Options& options) : options_(options) {}

size_t Compilation::lineCount() const {
  size_t lines = 0;
  for (const resolve::Package& package : input_->packages)
    for (const resolve::SourceModule& module : package.modules)
      lines += sources_.file(module.file.id).content().count('\n') + 1;
  return lines;
}

bool Compilation::compile(llvm::StringRef path, bool needsMain) {
  project_ = loadProject(path, sources_, engine_);
  if (!project_)
    return false;
  policy_ = makeComptimePolicy(*project_, options_.comptimeIo, engine_);
  policy_.permittedEnv = options_.comptimeEnv;
  policy_.budgets = options_.budgets;
  return parseProject() && checkAndFold(needsMain);
}

bool Compilation::parseProject() {
  input_.reset(new check::ProgramInput{context_, sources_, &check::standardLibrary()});
  for (const Package& package : project_->packages) {
    resolve::Package parsed;
    parsed.name = package.moduleName;
    for (const PackageDependency& dependency : package.dependencies)
      parsed.dependencies.push_back(
          {dependency.moduleName, dependency.key, dependency.package + 1});
    // The entry file first; the library of a package that also has a main is a module of it.
    std::vector<std::string> files = listSources(package, engine_);
    llvm::erase(files, package.entry);
    files.insert(files.begin(), package.entry);
    for (const std::string& path : files) {
      auto file = readSource(package, path, sources_, engine_);
      if (!file)
        continue;
      ++fileCount_;
      sources_.file(*file).package = package.index + 1;
      parse::ParseOptions parseOptions;
      parseOptions.isEntry = path == package.entry && package.index == 0;
      resolve::SourceModule module;
      if (path != package.entry)
        module.path = modulePath(path, package);
      module.file = parse::parseFile(*file, sources_, context_, engine_, parseOptions);
      module.file.module->package = package.index + 1;
      parsed.modules.push_back(std::move(module));
    }
    input_->packages.push_back(std::move(parsed));
  }
  return !engine_.hasErrors();
}

bool Compilation::checkAndFold(bool needsMain) {
  fold::FoldContext fold{*input_, policy_, stdlib::nativeTable(), engine_, {}, 0, 0};
  for (;;) {
    program_.reset();
    program_ = check::check(*input_, engine_);
    if (engine_.hasErrors())
      return false;
    if (needsMain && !program_->main) {
      engine_.report(diag::NoMain, project_->root().moduleName);
      return false;
    }
    const fold::FoldOutcome outcome = fold::foldRound(fold, *program_);
    regionCount_ = fold.record.regions;
    switch (outcome) {
    case fold::FoldOutcome::Nothing:
      return true;
    case fold::FoldOutcome::Failed:
      return false;
    case fold::FoldOutcome::Spliced:
      break;
    }
  }
}

std::optional<vm::Module> Compilation::lowerProgram() {
  lower::LowerRequest request;
  auto module = lower::lower(*program_, request, engine_);
  if (!module) {
    std::string why = llvm::toString(module.takeError());
    if (!engine_.hasErrors())
      engine_.report(diag::LoweringFailed, why);
    return std::nullopt;
  }
  return std::move(*module);
}

} // namespace gos::driver
