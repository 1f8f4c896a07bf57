#include "compiler/driver/pipeline.h"

#include "compiler/driver/binding_modules.h"
#include "compiler/driver/command.h"
#include "compiler/driver/fold_progress.h"
#include "compiler/format/format.h"
#include "compiler/lower/lowering.h"
#include "compiler/parse/parse.h"
#include "sandbox/unique_fd.h"
#include "stdlib/builtins.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// Does the file begin with a byte order mark? Sources are kept without it.
bool hasMark(const SourceFile& file) {
  const UniqueFd fd(::open(file.name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  char start[3] = {};
  return fd && ::read(fd.get(), start, sizeof start) == ssize_t(sizeof start) &&
         llvm::StringRef(start, sizeof start) == "\xEF\xBB\xBF";
}

} // namespace

Compilation::Compilation(const Options& options) : options_(options) {}

void Compilation::compileTests(std::function<void(check::ProgramInput&)> afterParse) {
  testing_ = true;
  afterParse_ = std::move(afterParse);
}

size_t Compilation::lineCount() const {
  size_t lines = 0;
  for (const resolve::Package& package : input_->packages)
    for (const resolve::SourceModule& module : package.modules)
      lines += sources_.file(module.file.id).content().count('\n') + 1;
  return lines;
}

bool Compilation::compile(llvm::StringRef path, bool needsMain) {
  if (!open(path) || !addBindings())
    return false;
  enforceLayout();
  return checkAndFold(needsMain); // whatever was reported, nothing is folded then
}

/// `enforce-format` of the manifest: a source of the project that `gos fmt` would change is an
/// error, those of `tests/` too. Each of these is a program of its own, which is looked at alone
/// when it is the one that is compiled.
void Compilation::enforceLayout() {
  const Package& root = project_->root();
  if (!root.manifest || !root.manifest->enforceFormat)
    return;
  for (size_t i = 0; i < input_->packages.size() && i < project_->packages.size(); ++i) {
    if (project_->packages[i].directory != root.directory)
      continue;
    for (const resolve::SourceModule& module : input_->packages[i].modules)
      enforceLayout(sources_.file(module.file.id));
  }
  if (root.loneFile || !root.manifest->hasProject)
    return;
  Package tests = root;
  tests.sourceDirectory = "tests";
  for (const std::string& path : listSources(tests, engine_)) {
    struct stat status{};
    if (::lstat((root.directory + "/" + path).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue; // a link is followed by nobody who lists
    if (const auto file = readSource(tests, path, sources_, engine_))
      enforceLayout(sources_.file(*file));
  }
}

void Compilation::enforceLayout(const SourceFile& file) {
  const llvm::StringRef text = file.content();
  const format::Result laidOut = format::formatText(text);
  const bool hadMark = hasMark(file);
  if (laidOut.outcome != format::Outcome::Formatted || (laidOut.text == text && !hadMark))
    return; // one with syntax errors has its own reports
  const auto at = hadMark ? 0
                          : uint32_t(std::mismatch(text.begin(), text.end(), laidOut.text.begin(),
                                                   laidOut.text.end())
                                         .first -
                                     text.begin());
  const uint32_t begin = file.base + std::min(at, uint32_t(text.size()));
  Diagnostic& report = engine_.report(
      {begin, std::min(begin + 1, file.base + uint32_t(text.size()))}, diag::NotLaidOut, file.name);
  if (hadMark)
    report.note("it begins with a byte order mark");
  report.help("run `gos fmt`");
}

bool Compilation::open(llvm::StringRef path) {
  project_ = loadProject(path, sources_, engine_);
  if (!project_)
    return false;
  separateTestFile();
  makePolicy();
  return parseProject();
}

bool Compilation::openEmpty() {
  project_ = loadProjectOfText("input", sources_, engine_);
  if (!project_)
    return false;
  makePolicy();
  input_.reset(new check::ProgramInput{context_, sources_, &check::standardLibrary()});
  auto file = sources_.addCopy("<input>", "");
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  sources_.file(*file).package = 1;
  parse::ParseOptions parseOptions;
  parseOptions.isEntry = true;
  resolve::Package package;
  package.name = project_->root().moduleName;
  resolve::SourceModule module;
  module.file = parse::parseFile(*file, sources_, context_, engine_, parseOptions);
  module.file.module->package = 1;
  package.modules.push_back(std::move(module));
  input_->packages.push_back(std::move(package));
  // Its dependencies are not loaded: a project is opened by its directory.
  project_->packages.resize(1);
  project_->packages.front().dependencies.clear();
  return true;
}

void Compilation::makePolicy() {
  policy_ = makeComptimePolicy(*project_, options_.comptimeIo, engine_);
  policy_.permittedEnv = options_.comptimeEnv;
  policy_.budgets = options_.budgets;
}

/// A file beneath `tests/` of a package is a program of its own that uses the package as anybody
/// else would, by its name.
void Compilation::separateTestFile() {
  Package& root = project_->packages.front();
  if (!root.manifest || !root.manifest->hasProject || root.loneFile ||
      !llvm::StringRef(root.entry).starts_with("tests/"))
    return;
  auto exists = [&](const char* path) {
    return llvm::sys::fs::exists(root.directory + "/" + path);
  };
  Package library = root;
  library.index = uint32_t(project_->packages.size());
  library.entry = root.manifest->entry     ? root.manifest->entry->value
                  : exists("src/lib.gos")  ? "src/lib.gos"
                  : exists("src/main.gos") ? "src/main.gos"
                                           : "";
  root.loneFile = true;
  root.sourceDirectory = "tests";
  if (library.entry.empty())
    return;
  library.baseDirectory = library.sourceDirectory;
  root.dependencies.push_back({library.moduleName, library.id, library.index, {}});
  project_->packages.push_back(std::move(library));
}

bool Compilation::parseProject() {
  input_.reset(new check::ProgramInput{context_, sources_, &check::standardLibrary()});
  input_->testing = testing_;
  const std::string& rootDirectory = project_->root().directory;
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
      parseOptions.isEntry =
          path == package.entry && (package.index == 0 || package.directory == rootDirectory);
      parseOptions.isTest = testing_ && package.index == 0;
      resolve::SourceModule module;
      if (path != package.entry)
        module.path = modulePath(path, package);
      module.file = parse::parseFile(*file, sources_, context_, engine_, parseOptions);
      module.file.module->package = package.index + 1;
      parsed.modules.push_back(std::move(module));
    }
    input_->packages.push_back(std::move(parsed));
  }
  if (afterParse_ && !engine_.hasErrors())
    afterParse_(*input_);
  return !engine_.hasErrors();
}

/// The Rust bindings are built, or found, here for every command; what they declare joins the
/// program.
bool Compilation::addBindings() {
  if (!bindings::hasBindings(*project_))
    return true;
  bindings::BuildOptions build;
  build.sandbox = options_.sandbox;
  build.quiet = options_.quiet;
  build.mayBuild = !options_.noBuild;
  if (!options_.quiet && options_.messageFormat == MessageFormat::Text)
    build.progress = &llvm::errs();
  artifact_ = bindings::ensureBindings(*project_, build, engine_);
  if (!artifact_)
    return false;
  foreign_ =
      stdlib::ForeignLibrary::create(artifact_->image.get(), foreignOffers(artifact_->signatures));
  return addBindingModules(*project_, artifact_->signatures, *input_, engine_);
}

bool Compilation::checkAndFold(bool needsMain) {
  fold::FoldContext fold{*input_, policy_, stdlib::nativeTable(), engine_, {}, 0, 0};
  fold.foreign = foreign_.get();
  FoldProgress progress(llvm::errs(), sources_);
  if (!options_.quiet && options_.messageFormat == MessageFormat::Text && drawsOver(STDERR_FILENO))
    fold.progress = [&](Span region, uint64_t steps) { progress.tell(region, steps); };
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
    progress.clear();
    regionCount_ = fold.record.regions;
    foldInputs_ = fold.record.inputs;
    switch (outcome) {
    case fold::FoldOutcome::Nothing:
      return true;
    case fold::FoldOutcome::Failed:
      foldFailed_ = true;
      return false;
    case fold::FoldOutcome::Spliced:
      break;
    }
  }
}

std::optional<vm::Module> Compilation::lowerProgram() {
  return lower({}, /*withMain=*/true);
}

std::optional<vm::Module> Compilation::lowerEntries(llvm::ArrayRef<ast::FunctionItem*> entries) {
  return lower(entries, /*withMain=*/false);
}

std::optional<vm::Module> Compilation::lower(llvm::ArrayRef<ast::FunctionItem*> entries,
                                             bool withMain) {
  lower::LowerRequest request;
  request.withMain = withMain;
  request.entries = entries;
  request.everyLine = !options_.test.coverage.empty();
  auto module = lower::lower(*program_, request, engine_);
  if (!module) {
    std::string why = llvm::toString(module.takeError());
    if (!engine_.hasErrors())
      engine_.report(diag::LoweringFailed, why);
    return std::nullopt;
  }
  return std::move(*module);
}

bool Compilation::checkOutput(const executable::Place& place) {
  llvm::SmallString<256> wanted;
  const llvm::StringRef parent = llvm::sys::path::parent_path(place.path);
  if (place.stream || !project_ || llvm::sys::fs::real_path(parent.empty() ? "." : parent, wanted))
    return true; // what cannot be found cannot be written either, and whoever tries says so
  llvm::sys::path::append(wanted, place.name);
  const auto isIt = [&](const llvm::Twine& path) {
    struct stat status{};
    return ::stat(path.str().c_str(), &status) == 0 && executable::isPlace(place, status);
  };
  for (size_t i = 0; i != sources_.fileCount(); ++i) {
    const SourceFile& file = sources_.file(FileId(i));
    if (file.parent.valid() || file.package == 0 || !isIt(file.name))
      continue;
    engine_.report(diag::OutputRefused, place.shown, "it is a source of this program")
        .help("choose another name");
    return false;
  }
  for (const vm::FoldInput& input : foldInputs_) {
    if (input.kind == vm::FoldInput::Kind::Environment || input.package == 0 ||
        input.package > project_->packages.size())
      continue;
    const Package& package = project_->packages[input.package - 1];
    if (llvm::StringRef(wanted) != package.directory + "/" + input.name &&
        !isIt(package.directory + "/" + input.name))
      continue;
    engine_.report(diag::OutputIsInput, place.shown)
        .note("what it holds would change the program that writes it")
        .help("write it elsewhere, outside of what compile-time regions read");
    return false;
  }
  return true;
}

} // namespace gos::driver
