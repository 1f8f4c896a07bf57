// gos test: every unit is checked and folded; then its tests run, each in a process of its own.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/report_file.h"
#include "compiler/driver/test_loading.h"
#include "compiler/driver/test_units.h"
#include "compiler/testing/report.h"
#include "compiler/testing/runner.h"
#include "compiler/testing/selection.h"
#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <deque>
#include <unistd.h>

namespace gos::driver {
namespace {

using llvm::StringRef;
using testing::Outcome;
using testing::Test;
using testing::Verdict;

constexpr size_t kPlacesShown = 8;  // of a stack trace
constexpr unsigned kRaceOrders = 8; // of --race
constexpr size_t kUnitsAhead = 64;  // whose tests run before those of the first are told

/// A unit whose tests run, or wait for those of the units before.
struct OpenUnit {
  TestUnit unit;
  std::vector<size_t> chosen; // of its tests, in the order that they are told
  std::vector<size_t> places; // index into `chosen`, by job
  size_t firstJob = 0;        // counted over all units
  size_t next = 0;            // of `chosen`: not told yet
  bool begun = false;
};

class TestCommand {
public:
  TestCommand(const Options& options, testing::Selection selection)
      : options_(options), flags_(options.test), selection_(std::move(selection)),
        junitStream_(junitText_), start_(std::chrono::steady_clock::now()) {
    const uint64_t seed =
        flags_.seed ? *flags_.seed
                    : (uint64_t(start_.time_since_epoch().count()) ^ uint64_t(::getpid())) %
                          1'000'000'000; // short enough to be typed
    if (flags_.shuffle || (flags_.seed && !flags_.race))
      seed_ = seed;
    if (flags_.race)
      raceSeed_ = seed;
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

  /// Finds the files of the reports before anything runs. An exit code, after a message if it is
  /// not clean.
  int findReports() {
    if (flags_.list)
      return kExitClean; // nothing is written then
    for (auto [path, file] :
         {std::pair(&flags_.junitOut, &junitFile_), std::pair(&flags_.coverage, &coverageFile_)}) {
      if (path->empty())
        continue;
      *file = ReportFile::find(*path);
      if (!*file)
        return kExitDiagnostics;
      places_.push_back(&(*file)->place());
    }
    if (!junitFile_ || !coverageFile_ || !junitFile_->isSame(*coverageFile_))
      return kExitClean;
    llvm::errs() << "gos: error: `--junit-out` and `--coverage` are the same file: "
                 << quoted(flags_.coverage) << "\n  name two files\n";
    return kExitUsage;
  }

  int run(llvm::ArrayRef<std::string> units) {
    if (seed_ && !flags_.list && !options_.quiet)
      (flags_.format == TestFlags::Format::Text ? llvm::outs() : llvm::errs())
          << "shuffled with --seed=" << *seed_ << '\n';
    if (raceSeed_ && !flags_.list && !options_.quiet)
      (flags_.format == TestFlags::Format::Text ? llvm::outs() : llvm::errs())
          << "each test under " << kRaceOrders << " orders, from --race --seed=" << *raceSeed_
          << '\n';
    flags_.list ? listUnits(units) : runUnits(units);
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
    if (!writeReports())
      code = kExitDiagnostics;
    if (signal_ != 0) {
      llvm::outs().flush();
      llvm::errs() << "gos: interrupted; what had not ended is not counted\n";
      return 128 + signal_;
    }
    return code;
  }

private:
  bool runs(const Test& test) const {
    return !test.isSkipped && (!test.isIgnored || flags_.includeIgnored || flags_.onlyIgnored);
  }
  bool stopped() const {
    return signal_ != 0 || (flags_.failFast && (summary_.failed || summary_.notLoaded));
  }

  // ---- running --------------------------------------------------------------------------------

  OpenUnit load(const std::string& path) {
    OpenUnit open;
    open.unit = loadTestUnit(path, options_, selection_, places_);
    readsReport_ |= open.unit.readsReport;
    if (!open.unit.loaded)
      return open;
    for (size_t i = 0; i != open.unit.tests.size(); ++i)
      if (wantsTest(options_, selection_, open.unit.tests[i]))
        open.chosen.push_back(i);
    if (seed_ && !flags_.list) {
      std::vector<size_t> order;
      for (size_t at : testing::shuffledOrder(open.chosen.size(), *seed_))
        order.push_back(open.chosen[at]);
      open.chosen = std::move(order);
    }
    return open;
  }

  void listUnits(llvm::ArrayRef<std::string> units) {
    for (const std::string& path : units) {
      OpenUnit open = load(path);
      begin(open);
      list(open);
      llvm::outs().flush();
      if (stopped())
        return;
    }
  }

  /// While the tests of one unit run the next one is compiled, as long as there is room for its
  /// tests; what is told is told unit by unit all the same.
  void runUnits(llvm::ArrayRef<std::string> units) {
    testing::RunnerOptions options;
    options.parallel = flags_.parallel;
    options.failFast = flags_.failFast;
    testing::Runner runner(
        options, [this](size_t job, const testing::Run& run) { ended(job, run); },
        [this](size_t job, const testing::Run& run) {
          const OpenUnit& open = unitOf(job);
          const Test& test = open.unit.tests[open.chosen[open.places[job - open.firstJob]]];
          return testing::judge(test, run).verdict == Verdict::Failed;
        });
    while (!stopped()) {
      if (!units.empty() && runner.wantsMore() && open_.size() < kUnitsAhead) {
        if (runner.compile([&] { open_.push_back(load(units.front())); })) {
          units = units.drop_front();
          start(open_.back(), runner);
        }
      } else if (!runner.isDone()) {
        runner.step();
      }
      signal_ = runner.signal();
      if (signal_ == 0)
        closeFinished();
      llvm::outs().flush();
      if (units.empty() && open_.empty())
        return;
    }
    for (const OpenUnit& open : open_) // of what ended early what there is
      coverage_.add(open.unit.coverage);
  }

  OpenUnit& unitOf(size_t job) {
    return *std::prev(
        llvm::partition_point(open_, [&](const OpenUnit& open) { return open.firstJob <= job; }));
  }

  /// Tells what there is to say about a unit before its first test.
  void begin(OpenUnit& open) {
    if (std::exchange(open.begun, true))
      return;
    TestUnit& unit = open.unit;
    printDiagnostics(unit.compilation->engine(), options_);
    const std::string name = unit.files.empty() ? unit.path : unit.files.front();
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
    anyChosen_ |= !open.chosen.empty();
  }

  /// Tells of the units at the front all of whose tests have been told, and drops them.
  void closeFinished() {
    while (!open_.empty() && !stopped()) {
      OpenUnit& open = open_.front();
      if (toldJobs_ < open.firstJob + open.places.size())
        return;
      begin(open);
      tellUntil(open, open.chosen.size());
      coverage_.add(open.unit.coverage);
      open_.pop_front();
    }
  }

  void tellRefusedFold(const TestUnit& unit, StringRef file) {
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
          outcome.details = unit.placeText(span);
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

  void list(const OpenUnit& open) {
    for (size_t at : open.chosen) {
      const Test& test = open.unit.tests[at];
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

  void start(OpenUnit& open, testing::Runner& runner) {
    open.firstJob = startedJobs_;
    testing::Batch batch;
    for (size_t i = 0; i != open.chosen.size(); ++i) {
      const Test& test = open.unit.tests[open.chosen[i]];
      const uint32_t entry = open.unit.entries[open.chosen[i]];
      if (!runs(test) || entry == TestUnit::kNoEntry)
        continue;
      testing::Job job;
      job.entry = entry;
      job.limitMilliseconds = test.timeoutMilliseconds.value_or(flags_.timeoutMilliseconds);
      for (unsigned order = 0; order != (raceSeed_ ? kRaceOrders : 1); ++order) {
        if (raceSeed_)
          job.scheduleSeed = schedule(order);
        batch.jobs.push_back(job);
        open.places.push_back(i);
      }
    }
    if (batch.jobs.empty())
      return;
    startedJobs_ += batch.jobs.size();
    batch.module = open.unit.module;
    batch.coverPlaces = open.unit.coverage.placeCount();
    batch.directory = open.unit.compilation->project().root().directory;
    if (const bindings::Artifact* artifact = open.unit.compilation->bindings())
      batch.foreignImage = artifact->image.get();
    llvm::Error fault = runner.add(std::move(batch));
    open.unit.module = std::string();
    if (!fault)
      return;
    llvm::errs() << "gos: error: the tests could not be run: " << llvm::toString(std::move(fault))
                 << '\n';
    ++summary_.notLoaded;
    startedJobs_ = open.firstJob;
    open.places.clear();
    open.chosen.clear();
  }

  void ended(size_t job, const testing::Run& run) {
    ++toldJobs_;
    OpenUnit& open = unitOf(job);
    while (&open_.front() != &open) { // units without anything to run
      begin(open_.front());
      tellUntil(open_.front(), open_.front().chosen.size());
      coverage_.add(open_.front().unit.coverage);
      open_.pop_front();
    }
    begin(open);
    const size_t index = job - open.firstJob, place = open.places[index];
    if (place < open.next || stopped())
      return; // an earlier order of the test has failed
    tellUntil(open, place);
    const Test& test = open.unit.tests[open.chosen[place]];
    Outcome outcome = testing::judge(test, run);
    open.unit.coverage.add(run.reached);
    if (outcome.verdict == Verdict::Failed && run.result)
      outcome.details = traceOf(open.unit, *run.result);
    if (raceSeed_) {
      const bool isLast = index + 1 == open.places.size() || open.places[index + 1] != place;
      if (outcome.verdict == Verdict::Failed)
        outcome.details +=
            "under the order of --race --seed=" + std::to_string(*raceSeed_ + index % kRaceOrders) +
            "\n";
      else if (!isLast)
        return;
    }
    open.next = place + 1;
    tell(test, outcome);
  }

  /// Tells of the tests before `end` that have no process.
  void tellUntil(OpenUnit& open, size_t end) {
    for (; open.next < end && !stopped(); ++open.next)
      tellWithoutRun(open.unit, open.chosen[open.next]);
  }

  /// The seed of an order of goroutines; 0 would be none.
  uint64_t schedule(unsigned order) const { return std::max<uint64_t>(*raceSeed_ + order, 1); }

  /// A test that has no process: ignored, skipped, or a doc-test that does not compile.
  void tellWithoutRun(const TestUnit& unit, size_t index) {
    const Test& test = unit.tests[index];
    Outcome outcome;
    if (test.isSkipped || !runs(test)) {
      outcome.verdict = test.isSkipped ? Verdict::Skipped : Verdict::Ignored;
      outcome.reason = test.why;
    } else {
      outcome.reason = "does not compile";
      outcome.details = unit.brokenDocTests.lookup(TestUnit::keyOf(test));
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

  static std::string traceOf(const TestUnit& unit, const testing::TestResult& result) {
    std::string text;
    size_t shown = 0;
    for (const testing::Frame& frame : result.trace) {
      if (shown++ == kPlacesShown) {
        text += "and " + std::to_string(result.trace.size() - kPlacesShown) + " more calls\n";
        break;
      }
      text += unit.placeText(frame.span);
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

  /// Each of them, whatever became of the other one. What a unit has read is left as it is.
  bool writeReports() {
    if (readsReport_)
      return false;
    junitStream_.flush();
    bool wrote = !junitFile_ || junitFile_->write(junitText_);
    if (!coverageFile_)
      return wrote;
    std::string text;
    llvm::raw_string_ostream stream(text);
    coverage_.write(stream);
    stream.flush();
    if (!coverageFile_->write(text))
      return false;
    const testing::Coverage::Total total = coverage_.total();
    if (!options_.quiet)
      (flags_.format == TestFlags::Format::Text && !coverageFile_->place().standardOutput
           ? llvm::outs()
           : llvm::errs())
          << "coverage: " << total.reached << " of " << total.lines << " lines\n";
    return wrote;
  }

  const Options& options_;
  const TestFlags& flags_;
  testing::Selection selection_;
  std::vector<std::unique_ptr<testing::Report>> reports_;
  std::optional<ReportFile> junitFile_, coverageFile_;
  llvm::SmallVector<const executable::Place*, 2> places_; // of those
  bool readsReport_ = false;
  std::string junitText_;
  llvm::raw_string_ostream junitStream_;
  std::optional<uint64_t> seed_;     // of --shuffle
  std::optional<uint64_t> raceSeed_; // of the first order of --race
  testing::Coverage coverage_;
  testing::Summary summary_;
  std::deque<OpenUnit> open_; // whose tests run or wait; not told to the end yet
  size_t startedJobs_ = 0, toldJobs_ = 0;
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
  TestCommand command(options, std::move(*selection));
  const int found = command.findReports();
  return found == kExitClean ? command.run(*units) : found;
}

} // namespace gos::driver
