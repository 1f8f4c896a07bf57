#include "sandbox/bwr/program.h"

#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"
#include "sandbox/bwr/epilogue.h"
#include "sandbox/bwr/failure.h"
#include "sandbox/bwr/help.h"
#include "sandbox/bwr/make_path.h"
#include "sandbox/bwr/request.h"
#include "sandbox/bwr/supervise.h"
#include "sandbox/command/capabilities.h"
#include "sandbox/command/explain.h"
#include "sandbox/command/learn.h"
#include "sandbox/command/orphans.h"
#include "sandbox/command/recorder.h"
#include "sandbox/command/self_test.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gos::bwr {

namespace {
/// 0, 1 and 2 are always open, so that no file of ours ever gets their number.
void fillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) == -1)
      (void)::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

class Program {
public:
  explicit Program(const Options& options, Epilogue epilogue)
      : options_(options), epilogue_(std::move(epilogue)) {}

  int run() {
    switch (options_.action) {
    case Action::Run:
      return runCommand();
    case Action::Explain:
      return explain();
    case Action::Capabilities:
      return capabilities();
    case Action::SelfTest:
      return selfTest();
    case Action::ListProfiles:
      return listProfiles();
    case Action::ShowProfile:
      return showProfile();
    case Action::Completions:
      printCompletions(llvm::outs(), options_.shell);
      return 0;
    case Action::Man:
      printManPage(llvm::outs());
      return 0;
    case Action::Version:
      llvm::outs() << "bwr " GOS_VERSION "\n";
      return 0;
    case Action::Help:
      printHelp(llvm::outs());
      return 0;
    }
    return kExitPolicy;
  }

private:
  int fail(const Failure& failure) {
    llvm::outs().flush();
    print(llvm::errs(), failure);
    epilogue_.write(failure, &options_);
    return failure.code;
  }
  int fail(llvm::Error error) { return fail(failureOf(std::move(error))); }
  int capabilities() {
    if (options_.json)
      epilogue_.writeObject(sandbox::capabilitiesJson());
    else
      llvm::outs() << sandbox::capabilitiesText(explainOptions());
    return 0;
  }

  int selfTest() {
    const sandbox::SelfTest test = sandbox::selfTest();
    if (options_.json)
      epilogue_.writeObject(sandbox::selfTestJson(test));
    else
      llvm::outs() << sandbox::selfTestText(test, explainOptions());
    return test.exitCode();
  }

  int runCommand() {
    const bool watches = options_.report || options_.learn;
    std::optional<sandbox::LearnedFile> learnedFile;
    if (watches) {
      if (llvm::Error error = sandbox::checkObservable(options_.level))
        return fail(std::move(error));
    }
    if (options_.learn) {
      if (!hasFileSystemPolicy(options_.level))
        return fail(llvm::make_error<sandbox::PolicyError>(
            "level `" + gos::spelling(options_.level).str() +
                "` watches nothing, so there is nothing to learn",
            "--level standard"));
      llvm::Expected<sandbox::LearnedFile> file = sandbox::LearnedFile::create(*options_.learn);
      if (!file)
        return fail(file.takeError());
      learnedFile = std::move(*file);
    }
    const bool adopts = sandbox::adoptOrphans();
    std::shared_ptr<sandbox::FirstProcess> ahead =
        sandbox::startAhead(options_.level, options_.network, {});
    // From here on no signal is lost: one that comes while the command starts is its own. Before,
    // it ends this process, and that the one that was started ahead.
    llvm::Expected<std::unique_ptr<SignalRelay>> relay = SignalRelay::create();
    if (!relay)
      return fail(relay.takeError());
    llvm::Expected<Request> request = makeRequest(options_, sandbox::hostFacts(), Purpose::Run);
    if (!request)
      return fail(request.takeError());
    request->run.ahead = std::move(ahead);
    request->run.notify = watches;
    request->run.adoptsOrphans = adopts;
    llvm::Expected<std::unique_ptr<sandbox::Run>> run =
        sandbox::start(request->policy, request->run);
    if (!run) {
      removeMade(*request);
      return fail(run.takeError());
    }
    std::unique_ptr<sandbox::Observer> observer;
    if (watches) {
      llvm::Expected<std::unique_ptr<sandbox::Observer>> made =
          sandbox::Observer::create(request->policy, **run, options_.learn.has_value());
      if (!made) {
        removeMade(*request);
        return fail(made.takeError());
      }
      observer = std::move(*made);
    }
    llvm::Expected<sandbox::RunResult> result = (*relay)->supervise(**run, observer.get());
    relay->reset(); // a signal is ours again
    const std::string network =
        result ? networkNote(request->network, request->policy, request->run, *result)
               : std::string();
    removeMade(*request);
    if (!result)
      return fail(result.takeError());
    printEnd(llvm::errs(), *request, *result, network);
    std::optional<sandbox::Report> report;
    if (options_.report) {
      report = observer->report();
      // Where the object is the last line here, it holds the report.
      if (!options_.json || options_.jsonFile)
        sandbox::printReport(llvm::errs(), *report, result->code != 0);
    }
    if (learnedFile)
      writeLearned(*learnedFile, observer->learned(), *request);
    epilogue_.write(*request, *result, report ? &*report : nullptr);
    return exitLike(*result);
  }

  /// The code is the command's whatever happens here; what went wrong is said.
  void writeLearned(const sandbox::LearnedFile& file, const sandbox::Learned& learned,
                    const Request& request) const {
    sandbox::LearnedNames names;
    names.home = request.home;
    names.workdir = request.policy.workingDirectory().str();
    names.command = options_.command;
    names.project = request.project;
    names.projectMarkers = request.projectMarkers;
    std::vector<std::string> notes;
    const std::string text = sandbox::learnedProfile(learned, names, notes);
    if (llvm::Error error = file.write(text)) {
      print(llvm::errs(), failureOf(std::move(error)));
      return;
    }
    for (const std::string& note : notes)
      printNote(llvm::errs(), note);
  }

  static void removeMade(const Request& request) {
    for (const std::string& path : request.madeFiles)
      removeIfEmpty(path);
  }

  int explain() {
    if (options_.platform != Platform::Linux)
      return fail({kExitUsage,
                   "usage",
                   "the policy compiler for " +
                       closedSet(Complete::Platforms)[size_t(options_.platform)].str() +
                       " is not yet built",
                   "bwr --explain --platform linux",
                   {},
                   {}});
    llvm::Expected<Request> request = makeRequest(options_, sandbox::hostFacts(), Purpose::Explain);
    if (!request)
      return fail(request.takeError());
    llvm::Expected<sandbox::ChildPlan> plan =
        sandbox::compileForHost(request->policy, request->run);
    if (!plan)
      return fail(plan.takeError());
    if (options_.json) {
      const sandbox::ExplainedProfile profile{request->profile, request->phase};
      epilogue_.writeObject(sandbox::explainJson(request->policy, *plan, &profile));
      return 0;
    }
    sandbox::ExplainOptions how = explainOptions();
    how.home = request->home;
    if (!request->profile.empty())
      llvm::outs() << "profile " << escapeForText(request->profile) << ", phase " << request->phase
                   << '\n';
    llvm::outs() << sandbox::explainText(request->policy, *plan, how);
    for (const std::string& note : request->notes)
      llvm::outs() << "note: " << escapeForText(note) << '\n';
    return 0;
  }

  sandbox::ExplainOptions explainOptions() const {
    sandbox::ExplainOptions how;
    how.colour = isColoured();
    how.width = terminalWidth();
    return how;
  }

  bool isColoured() const {
    switch (options_.colour) {
    case ColourWhen::Always:
      return true;
    case ColourWhen::Never:
      return false;
    case ColourWhen::Auto:
      break;
    }
    const char* refused = ::getenv("NO_COLOR");
    const char* terminal = ::getenv("TERM");
    const bool isDumb = terminal != nullptr && llvm::StringRef(terminal) == "dumb";
    return ::isatty(STDOUT_FILENO) == 1 && !isDumb && (refused == nullptr || *refused == '\0');
  }

  static unsigned terminalWidth() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
      return size.ws_col;
    return 80;
  }

  int listProfiles() {
    const std::vector<ProfileSet::Listed> listed = profileSet(sandbox::hostFacts()).list();
    if (options_.json) {
      JsonWriter json;
      json.beginObject();
      json.member("schema", uint64_t(1));
      json.key("profiles");
      json.beginArray();
      for (const ProfileSet::Listed& each : listed) {
        json.beginObject();
        json.member("name", each.name);
        json.member("summary", each.summary);
        json.member("origin", each.own ? "user" : "shipped");
        json.key("valid");
        json.boolean(!each.broken);
        json.endObject();
      }
      json.endArray();
      json.endObject();
      epilogue_.writeObject(json.finish());
      return 0;
    }
    size_t width = 0;
    for (const ProfileSet::Listed& each : listed)
      width = std::max(width, each.name.size());
    for (const ProfileSet::Listed& each : listed) {
      llvm::outs() << each.name;
      llvm::outs().indent(unsigned(width - each.name.size() + 2))
          << escapeForText(each.summary) << (each.own && !each.broken ? " (yours)" : "") << '\n';
    }
    return 0;
  }

  int showProfile() {
    llvm::Expected<std::string> text =
        profileSet(sandbox::hostFacts()).textOf(options_.showProfile);
    if (!text)
      return fail(text.takeError());
    // To be copied into a file; a terminal gets nothing that acts on it.
    llvm::outs() << (::isatty(STDOUT_FILENO) == 1 ? escapeForTextBlock(*text) : *text);
    return 0;
  }

  const Options& options_;
  Epilogue epilogue_;
};

/// What standard output could not take (a full disk) is told on the other one.
int reportUnwritten(int code) {
  // Of a message that could not be written nobody can be told; it does not change the code.
  llvm::errs().clear_error();
  llvm::raw_fd_ostream& out = llvm::outs();
  out.flush();
  const std::error_code error = out.error();
  out.clear_error();
  if (!error)
    return code;
  if (error != std::errc::broken_pipe)
    llvm::errs() << "bwr: cannot write to standard output: " << error.message() << '\n';
  llvm::errs().clear_error();
  return code == 0 ? 1 : code;
}
} // namespace

int runProgram(llvm::ArrayRef<llvm::StringRef> arguments) {
  fillStandardDescriptors();
  ParsedCommandLine line = parseCommandLine(arguments);
  llvm::Expected<Epilogue> epilogue =
      Epilogue::create(line.options ? line.options->json : line.json,
                       line.options ? line.options->jsonFile : line.jsonFile);
  if (!epilogue) {
    const Failure failure = failureOf(epilogue.takeError());
    print(llvm::errs(), failure);
    return reportUnwritten(failure.code);
  }
  if (!line.options) {
    const Failure failure{kExitUsage, "usage", line.error, line.hint, {}, {}};
    print(llvm::errs(), failure);
    epilogue->write(failure, nullptr);
    return reportUnwritten(failure.code);
  }
  return reportUnwritten(Program(*line.options, std::move(*epilogue)).run());
}

} // namespace gos::bwr
