#include "compiler/driver/test_loading.h"

#include "compiler/testing/discovery.h"
#include "compiler/testing/doc_tests.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace gos::driver {
namespace {

using llvm::StringRef;
using testing::Test;

constexpr size_t kUnitDiagnostics = 10'000; // so that every doc-test gets its own

class Loader {
public:
  Loader(const Options& options, testing::Selection& selection,
         llvm::ArrayRef<const executable::Place*> reports)
      : options_(options), flags_(options.test), selection_(selection), reports_(reports) {}

  /// Compiles the unit with the doc-tests that compile. A doc-test that does not is taken out and
  /// fails alone; whatever else is wrong is the unit's.
  TestUnit load(const std::string& path) {
    TestUnit unit;
    unit.path = path;
    llvm::StringSet<> without;
    bool withDocTests = true;
    for (;;) {
      unit.compilation = std::make_unique<Compilation>(options_);
      Compilation& compilation = *unit.compilation;
      compilation.engine().setLimit(kUnitDiagnostics);
      std::vector<Test> own, all;
      testing::DocTests docs;
      compilation.compileTests([&](check::ProgramInput& input) {
        Engine& engine = compilation.engine();
        unit.files.clear();
        for (const resolve::SourceModule& module : input.packages.front().modules)
          unit.files.push_back(compilation.sources().file(module.file.id).name);
        own = testing::findTests(input, engine);
        all = testing::findDocTests(input);
        if (llvm::sys::fs::is_regular_file(path)) {
          // A file that is asked for brings the modules beside it, and not their tests.
          unit.files.resize(1);
          llvm::erase_if(own, [&](const Test& test) { return test.file != unit.files.front(); });
        }
        for (const Test& test : all)
          if (!withDocTests || flags_.list || !wantsTest(options_, selection_, test) ||
              !llvm::is_contained(unit.files, test.file))
            without.insert(TestUnit::keyOf(test));
        docs = testing::addDocTests(input, without, engine);
      });
      unit.loaded = compilation.compile(path, /*needsMain=*/false);
      if (unit.loaded)
        testing::settleResults(own, compilation.program(), compilation.engine());
      std::optional<vm::Module> module;
      if (unit.loaded && !compilation.engine().hasErrors()) {
        std::vector<ast::FunctionItem*> entries;
        for (std::vector<Test>* tests : {&own, &docs.tests})
          for (Test& test : *tests)
            entries.push_back(test.function);
        module = compilation.lowerEntries(entries);
      }
      unit.loaded = module && !compilation.engine().hasErrors();
      if (unit.loaded) {
        unit.module = vm::serialise(*module);
        judgeReports(unit);
        if (unit.loaded && !flags_.coverage.empty() && !flags_.list) {
          unit.coverage = testing::UnitCoverage(
              compilation.input(), *module, [&](FileId file) { return isOwn(compilation, file); });
        }
        place(unit, own, all, docs);
        return unit;
      }
      if (!takeOutBroken(unit, docs, without, withDocTests)) {
        unit.foldFailed = compilation.foldFailed();
        judgeReports(unit);
        return unit;
      }
    }
  }

private:
  /// What did not load has read its inputs all the same.
  void judgeReports(TestUnit& unit) {
    for (const executable::Place* place : reports_)
      if (!unit.compilation->checkOutput(*place)) {
        unit.loaded = false;
        unit.readsReport = true;
      }
  }

  /// Is it a source of the project itself, and none of its tests?
  static bool isOwn(Compilation& compilation, FileId id) {
    const SourceFile& file = compilation.sources().file(id);
    const Project& project = compilation.project();
    if (id == FileId::None || file.parent.valid() || file.package == 0 ||
        file.package > project.packages.size())
      return false;
    const Package& package = project.packages[file.package - 1];
    const bool isTestFile = package.index == 0 && package.loneFile && project.packages.size() > 1 &&
                            StringRef(package.entry).starts_with("tests/");
    return package.directory == project.root().directory && !isTestFile;
  }

  /// Moves the diagnostics of doc-tests to them. False when there is nothing to try again.
  static bool takeOutBroken(TestUnit& unit, const testing::DocTests& docs,
                            llvm::StringSet<>& without, bool& withDocTests) {
    Compilation& compilation = *unit.compilation;
    bool found = false;
    compilation.engine().sort();
    for (const Diagnostic& diagnostic : compilation.engine().diagnostics()) {
      if (diagnostic.severity != Severity::Error || diagnostic.labels.empty())
        continue;
      const auto test =
          testing::docTestOf(docs, compilation.sources(), diagnostic.labels.front().span);
      if (!test)
        continue;
      found = true;
      const std::string key = TestUnit::keyOf(docs.tests[*test]);
      without.insert(key);
      llvm::raw_string_ostream out(unit.brokenDocTests[key]);
      renderText(out, diagnostic, compilation.sources(), Colour::Off);
    }
    if (found)
      return true;
    // Beside doc-tests the program may mean something else: without them it has the last word.
    if (docs.tests.empty() || !withDocTests)
      return false;
    withDocTests = false;
    for (const Test& test : docs.tests)
      unit.brokenDocTests[TestUnit::keyOf(test)] =
          "the package does not compile together with its doc-tests";
    return true;
  }

  /// Brings the tests into the order of the files, with the numbers of their entries.
  void place(TestUnit& unit, const std::vector<Test>& own, const std::vector<Test>& all,
             const testing::DocTests& docs) {
    llvm::StringMap<uint32_t> compiled;
    for (size_t i = 0; i != docs.tests.size(); ++i)
      compiled[TestUnit::keyOf(docs.tests[i])] = uint32_t(own.size() + i);
    for (const std::string& file : unit.files) {
      for (size_t i = 0; i != own.size(); ++i)
        if (own[i].file == file) {
          unit.tests.push_back(own[i]);
          unit.entries.push_back(uint32_t(i));
        }
      for (const Test& test : all)
        if (test.file == file) {
          const auto found = compiled.find(TestUnit::keyOf(test));
          unit.tests.push_back(test);
          unit.entries.push_back(found == compiled.end() ? TestUnit::kNoEntry : found->second);
        }
    }
  }

  const Options& options_;
  const TestFlags& flags_;
  testing::Selection& selection_;
  llvm::ArrayRef<const executable::Place*> reports_;
};

} // namespace

std::string TestUnit::placeText(Span span) const {
  const SourceMap& sources = compilation->sources();
  for (unsigned depth = 0; depth != 64; ++depth) {
    const FileId file = sources.fileOf(span);
    if (file == FileId::None)
      return {};
    if (!sources.file(file).parent.valid()) {
      const LineColumn at = sources.locate(span);
      return "at " + sources.file(file).name + ":" + std::to_string(at.line) + ":" +
             std::to_string(at.column) + "\n";
    }
    span = sources.file(file).parent;
  }
  return {};
}

bool wantsTest(const Options& options, testing::Selection& selection, const Test& test) {
  return (!options.test.onlyIgnored || test.isIgnored) && selection.wants(test);
}

TestUnit loadTestUnit(const std::string& path, const Options& options,
                      testing::Selection& selection,
                      llvm::ArrayRef<const executable::Place*> reports) {
  return Loader(options, selection, reports).load(path);
}

} // namespace gos::driver
