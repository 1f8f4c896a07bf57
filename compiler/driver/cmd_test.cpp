// gos test: every unit is checked and folded; then its tests run, each in a process of its own.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/test_units.h"
#include "compiler/testing/discovery.h"
#include "compiler/testing/doc_tests.h"
#include "compiler/testing/report.h"
#include "compiler/testing/runner.h"
#include "compiler/testing/selection.h"
#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <unistd.h>

namespace gos::driver {
namespace {

using llvm::StringRef;
using testing::Outcome;
using testing::Test;
using testing::Verdict;

constexpr size_t kPlacesShown = 8;          // of a stack trace
constexpr size_t kUnitDiagnostics = 10'000; // so that every doc-test gets its own

std::string keyOf(const Test& test) {
  return test.file + "\n" + test.name;
}

/// One unit, compiled: its tests with their entries, and what became of the doc-tests that do not
/// compile.
struct Unit {
  std::unique_ptr<Compilation> compilation;
  std::vector<std::string> files; // of the unit's own package, in order
  std::vector<Test> tests;        // in order of the files; doc-tests behind the others of a file
  llvm::StringMap<std::string> brokenDocTests; // diagnostics, by key
  std::string module; // serialised; entries of the tests that have a function, in order
  bool loaded = false;
  bool foldFailed = false;
};

class TestCommand {
public:
  TestCommand(const Options& options, testing::Selection selection)
      : options_(options), flags_(options.test), selection_(std::move(selection)),
        junitStream_(junitText_), start_(std::chrono::steady_clock::now()) {
    const bool shuffles = flags_.shuffle || flags_.seed;
    if (shuffles)
      seed_ = flags_.seed ? *flags_.seed
                          : uint64_t(start_.time_since_epoch().count()) ^ uint64_t(::getpid());
    switch (flags_.format) {
    case TestFlags::Format::Text:
      reports_.push_back(testing::textReport(llvm::outs(), colourFor(options.colour, STDOUT_FILENO),
                                             options.quiet));
      break;
    case TestFlags::Format::Junit:
      reports_.push_back(testing::junitReport(llvm::outs()));
      break;
    case TestFlags::Format::Json:
      reports_.push_back(testing::jsonReport(llvm::outs()));
      break;
    }
    if (!flags_.junitOut.empty())
      reports_.push_back(testing::junitReport(junitStream_));
  }

  int run(llvm::ArrayRef<std::string> units) {
    if (seed_ && !flags_.list && !options_.quiet)
      (flags_.format == TestFlags::Format::Text ? llvm::outs() : llvm::errs())
          << "shuffled with --seed=" << *seed_ << '\n';
    for (const std::string& path : units) {
      runUnit(path);
      llvm::outs().flush();
      if (signal_ != 0 || (flags_.failFast && (summary_.failed || summary_.notLoaded)))
        break;
    }
    int code = summary_.failed || summary_.notLoaded ? kExitDiagnostics : kExitClean;
    if (!sayUnmatched())
      code = kExitDiagnostics;
    if (flags_.list)
      return code;
    summary_.milliseconds = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                                         std::chrono::steady_clock::now() - start_)
                                         .count());
    for (auto& report : reports_)
      report->finish(summary_);
    if (!writeJunit())
      code = kExitDiagnostics;
    if (signal_ != 0) {
      llvm::outs().flush();
      llvm::errs() << "gos: interrupted; what had not ended is not counted\n";
      return 128 + signal_;
    }
    return code;
  }

private:
  // ---- compiling ------------------------------------------------------------------------------

  bool wantsTest(const Test& test) {
    return (!flags_.onlyIgnored || test.isIgnored) && selection_.wants(test);
  }
  bool runs(const Test& test) const {
    return !test.isSkipped && (!test.isIgnored || flags_.includeIgnored || flags_.onlyIgnored);
  }

  /// Compiles the unit with the doc-tests that compile. A doc-test that does not is taken out and
  /// fails alone; whatever else is wrong is the unit's.
  Unit load(const std::string& path) {
    Unit unit;
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
          if (!withDocTests || flags_.list || !wantsTest(test) ||
              !llvm::is_contained(unit.files, test.file))
            without.insert(keyOf(test));
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
        if (!flags_.junitOut.empty() && !compilation.checkOutput(flags_.junitOut))
          unit.loaded = false;
        place(unit, own, all, docs);
        return unit;
      }
      if (!takeOutBroken(unit, docs, without, withDocTests)) {
        unit.foldFailed = compilation.foldFailed();
        return unit;
      }
    }
  }

  /// Moves the diagnostics of doc-tests to them. False when there is nothing to try again.
  static bool takeOutBroken(Unit& unit, const testing::DocTests& docs, llvm::StringSet<>& without,
                            bool& withDocTests) {
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
      const std::string key = keyOf(docs.tests[*test]);
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
      unit.brokenDocTests[keyOf(test)] = "the package does not compile together with its doc-tests";
    return true;
  }

  /// Brings the tests into the order of the files, with the numbers of their entries.
  void place(Unit& unit, const std::vector<Test>& own, const std::vector<Test>& all,
             const testing::DocTests& docs) {
    llvm::StringMap<uint32_t> compiled;
    for (size_t i = 0; i != docs.tests.size(); ++i)
      compiled[keyOf(docs.tests[i])] = uint32_t(own.size() + i);
    for (const std::string& file : unit.files) {
      for (size_t i = 0; i != own.size(); ++i)
        if (own[i].file == file) {
          unit.tests.push_back(own[i]);
          entries_.push_back(uint32_t(i));
        }
      for (const Test& test : all)
        if (test.file == file) {
          const auto found = compiled.find(keyOf(test));
          unit.tests.push_back(test);
          entries_.push_back(found == compiled.end() ? ~0u : found->second);
        }
    }
  }

  // ---- running --------------------------------------------------------------------------------

  void runUnit(const std::string& path) {
    entries_.clear();
    Unit unit = load(path);
    printDiagnostics(unit.compilation->engine(), options_);
    const std::string name = unit.files.empty() ? path : unit.files.front();
    summary_.files += std::max<size_t>(1, unit.files.size());
    if (!unit.loaded) {
      if (unit.foldFailed)
        tellRefusedFold(unit, name);
      else
        tellNotLoaded(name);
      return;
    }
    for (const std::string& file : unit.files)
      summary_.filesWithoutTests +=
          llvm::none_of(unit.tests, [&](const Test& test) { return test.file == file; });
    std::vector<size_t> chosen;
    for (size_t i = 0; i != unit.tests.size(); ++i)
      if (wantsTest(unit.tests[i]))
        chosen.push_back(i);
    anyChosen_ |= !chosen.empty();
    if (flags_.list)
      return list(unit, chosen);
    if (seed_) {
      std::vector<size_t> order;
      for (size_t at : testing::shuffledOrder(chosen.size(), *seed_))
        order.push_back(chosen[at]);
      chosen = std::move(order);
    }
    runTests(unit, chosen);
  }

  void tellRefusedFold(const Unit& unit, StringRef file) {
    Test test;
    test.name = test.bareName = "comptime";
    test.file = file.str();
    Outcome outcome;
    for (const Diagnostic& diagnostic : unit.compilation->engine().diagnostics())
      if (diagnostic.severity == Severity::Error) {
        const StringRef code = spelling(diagnostic.code);
        outcome.reason = (code + ": " + diagnostic.message).str();
        if (!diagnostic.labels.empty()) {
          const Span span = diagnostic.labels.front().span;
          test.line = unit.compilation->sources().locate(span).line;
          outcome.details = placeText(unit, span);
        }
        break;
      }
    anyChosen_ = true;
    lastFile_.clear();
    tell(test, outcome);
  }

  void tellNotLoaded(StringRef file) {
    ++summary_.notLoaded;
    lastFile_.clear();
    if (!flags_.list)
      for (auto& report : reports_)
        report->notLoaded(file);
  }

  void list(const Unit& unit, llvm::ArrayRef<size_t> chosen) {
    for (size_t at : chosen) {
      const Test& test = unit.tests[at];
      if (flags_.format == TestFlags::Format::Json) {
        listJson(test);
        continue;
      }
      if (test.file != lastFile_) {
        lastFile_ = test.file;
        llvm::outs() << "=== " << escapeForText(test.file) << " ===\n";
      }
      llvm::outs() << "  " << escapeForText(test.name)
                   << (test.isSkipped   ? " (skipped)"
                       : test.isIgnored ? " (ignored)"
                                        : "")
                   << '\n';
    }
  }
  static void listJson(const Test& test);

  void runTests(const Unit& unit, llvm::ArrayRef<size_t> chosen) {
    std::vector<testing::Job> jobs;
    std::vector<size_t> places; // index into `chosen`, by job
    for (size_t i = 0; i != chosen.size(); ++i) {
      const Test& test = unit.tests[chosen[i]];
      if (!runs(test) || entries_[chosen[i]] == ~0u)
        continue;
      testing::Job job;
      job.entry = entries_[chosen[i]];
      job.limitMilliseconds = test.timeoutMilliseconds.value_or(flags_.timeoutMilliseconds);
      jobs.push_back(job);
      places.push_back(i);
    }
    size_t next = 0; // of `chosen`: not told yet
    auto stopped = [&] { return flags_.failFast && summary_.failed != 0; };
    auto tellUntil = [&](size_t end) {
      for (; next < end && !stopped(); ++next)
        tellWithoutRun(unit, chosen[next]);
    };
    auto ended = [&](size_t job, const testing::Run& run) {
      tellUntil(places[job]);
      if (stopped())
        return true;
      const Test& test = unit.tests[chosen[places[job]]];
      Outcome outcome = testing::judge(test, run);
      if (outcome.verdict == Verdict::Failed && run.result)
        outcome.details = traceOf(unit, *run.result);
      next = places[job] + 1;
      tell(test, outcome);
      return outcome.verdict == Verdict::Failed;
    };
    auto failed = [&](size_t job, const testing::Run& run) {
      return testing::judge(unit.tests[chosen[places[job]]], run).verdict == Verdict::Failed;
    };
    if (!jobs.empty()) {
      testing::RunnerOptions runner;
      runner.parallel = flags_.parallel;
      runner.failFast = flags_.failFast;
      runner.directory = unit.compilation->project().root().directory;
      if (const bindings::Artifact* artifact = unit.compilation->bindings())
        runner.foreignImage = artifact->image.get();
      llvm::outs().flush();
      auto end = testing::runTests(unit.module, jobs, runner, ended, failed);
      if (!end) {
        llvm::errs() << "gos: error: the tests could not be run: "
                     << llvm::toString(end.takeError()) << '\n';
        ++summary_.notLoaded;
        return;
      }
      signal_ = end->signal;
    }
    if (signal_ == 0)
      tellUntil(chosen.size());
  }

  /// A test that has no process: ignored, skipped, or a doc-test that does not compile.
  void tellWithoutRun(const Unit& unit, size_t index) {
    const Test& test = unit.tests[index];
    Outcome outcome;
    if (test.isSkipped || !runs(test)) {
      outcome.verdict = test.isSkipped ? Verdict::Skipped : Verdict::Ignored;
      outcome.reason = test.why;
    } else {
      outcome.reason = "does not compile";
      outcome.details = unit.brokenDocTests.lookup(keyOf(test));
    }
    tell(test, outcome);
  }

  void tell(const Test& test, const Outcome& outcome) {
    switch (outcome.verdict) {
    case Verdict::Passed:
      ++summary_.passed;
      break;
    case Verdict::Failed:
      ++summary_.failed;
      break;
    case Verdict::Ignored:
      ++summary_.ignored;
      break;
    case Verdict::Skipped:
      ++summary_.skipped;
      break;
    }
    summary_.assertions += outcome.assertions;
    summary_.docTests += test.isDocTest;
    const bool isNewFile = test.file != lastFile_;
    lastFile_ = test.file;
    for (auto& report : reports_) {
      if (isNewFile)
        report->file(test.file);
      report->test(test, outcome);
    }
  }

  // ---- places ---------------------------------------------------------------------------------

  /// "at src/lib.gos:3:5"; generated text is shown where it stands.
  static std::string placeText(const Unit& unit, Span span) {
    const SourceMap& sources = unit.compilation->sources();
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

  static std::string traceOf(const Unit& unit, const testing::TestResult& result) {
    std::string text;
    size_t shown = 0;
    for (const testing::Frame& frame : result.trace) {
      if (shown++ == kPlacesShown) {
        text += "and " + std::to_string(result.trace.size() - kPlacesShown) + " more calls\n";
        break;
      }
      text += placeText(unit, frame.span);
    }
    return text;
  }

  // ---- the end --------------------------------------------------------------------------------

  bool sayUnmatched() {
    if (signal_ != 0 || summary_.notLoaded)
      return true;
    const std::vector<std::string> unmatched = selection_.unmatched();
    for (const std::string& name : unmatched)
      llvm::errs() << "gos: error: no test is named " << quoted(name)
                   << "\n  `gos test --list` shows the names\n";
    if (unmatched.empty() && !anyChosen_ && !flags_.run.empty())
      llvm::errs() << "gos: note: no test matches " << quoted(flags_.run) << '\n';
    return unmatched.empty();
  }

  bool writeJunit() {
    if (flags_.junitOut.empty())
      return true;
    junitStream_.flush();
    llvm::Error fault = llvm::writeToOutput(flags_.junitOut, [&](llvm::raw_ostream& out) {
      out << junitText_;
      return llvm::Error::success();
    });
    if (!fault)
      return true;
    llvm::errs() << "gos: error: cannot write " << quoted(flags_.junitOut) << ": "
                 << escapeForText(llvm::toString(std::move(fault))) << '\n';
    return false;
  }

  const Options& options_;
  const TestFlags& flags_;
  testing::Selection selection_;
  std::vector<std::unique_ptr<testing::Report>> reports_;
  std::string junitText_;
  llvm::raw_string_ostream junitStream_;
  std::optional<uint64_t> seed_;
  testing::Summary summary_;
  std::vector<uint32_t> entries_; // by test of the unit; ~0: it has none
  std::string lastFile_;
  bool anyChosen_ = false;
  int signal_ = 0;
  std::chrono::steady_clock::time_point start_;
};

void TestCommand::listJson(const Test& test) {
  JsonWriter json;
  json.beginObject();
  json.member("event", "listed");
  json.member("file", test.file);
  json.member("name", test.name);
  json.member("line", uint64_t(test.line));
  json.key("ignored");
  json.boolean(test.isIgnored);
  json.key("skipped");
  json.boolean(test.isSkipped);
  json.endObject();
  llvm::outs() << json.finish() << '\n';
}

} // namespace

int runTest(const Options& options) {
  auto selection = testing::Selection::create(options.test.run, options.test.exact);
  if (!selection) {
    llvm::errs() << "gos: error: `--run` is no regular expression: "
                 << escapeForText(llvm::toString(selection.takeError())) << "\n  found "
                 << quoted(options.test.run) << '\n';
    return kExitUsage;
  }
  const StringRef path = options.operands.empty() ? StringRef(".") : options.operands.front();
  auto units = findTestUnits(path);
  if (!units) {
    llvm::errs() << "gos: error: " << escapeForText(llvm::toString(units.takeError())) << '\n';
    return kExitDiagnostics;
  }
  if (units->empty()) {
    llvm::errs() << "gos: error: there is no Gossamer file in " << quoted(path)
                 << "\n  name a file, or a directory that holds a `project.toml` or `.gos` files\n";
    return kExitDiagnostics;
  }
  return TestCommand(options, std::move(*selection)).run(*units);
}

} // namespace gos::driver
