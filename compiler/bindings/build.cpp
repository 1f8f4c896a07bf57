#include "compiler/bindings/build.h"

#include "compiler/bindings/first_lock.h"
#include "compiler/bindings/inner_addresses.h"
#include "compiler/bindings/probe.h"
#include "compiler/bindings/reproducible.h"
#include "diagnostics/escape.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <csignal>

namespace gos::bindings {

namespace {

void noteLines(Diagnostic& report, llvm::ArrayRef<std::string> lines, const char* who) {
  if (lines.empty())
    return;
  std::string text = std::string(who) + " says:";
  for (const std::string& line : lines)
    text += "\n  " + line;
  report.note(std::move(text));
}

void noteArguments(Diagnostic& report, llvm::ArrayRef<LinkerArgument> arguments) {
  for (const LinkerArgument& each : arguments.take_front(20))
    report.note("crate `" + each.crate + "` gives the linker `" + each.text + "`");
  if (arguments.size() > 20)
    report.note(llvm::formatv("and {0} more", arguments.size() - 20));
}

/// `--ro PATH` of the command sandbox is `--sandbox-ro PATH` here.
std::string flagHere(llvm::StringRef flag) {
  if (flag.consume_front("--ro "))
    return ("--sandbox-ro " + flag).str();
  if (flag.consume_front("--rw "))
    return ("--sandbox-rw " + flag).str();
  if (flag == "--network client")
    return "--sandbox-network";
  return {};
}

/// Is this something that Cargo itself tries and does without? It looks after its caches, which a
/// build only reads, and asks about files that may not be there.
bool isCargosOwn(const sandbox::Denied& denied, const Cache& cache) {
  return denied.process == "cargo" && (isAtOrBeneath(denied.path, cache.top()) ||
                                       denied.operation == "query" || denied.operation == "list");
}

/// Whose act it was, as far as the name of the process and what failed say.
std::string whoWanted(const sandbox::Denied& denied, const Messages& messages) {
  const llvm::StringRef process = denied.process;
  const bool links = process == "ld" || process == "collect2" || process == "cc";
  std::string who;
  if (!messages.failedScript().empty() && process != "rustc")
    who = "crate `" + messages.failedScript() + "`: its build script";
  else if (process.starts_with("build-script"))
    who = "a build script";
  else if (!messages.errors().empty())
    who = "crate `" + messages.errors().front().crate + "`: a macro of it, or the compiler,";
  else if (process == "rustc")
    who = "a macro, or the compiler,";
  else
    who = "the build";
  return links ? who + " (`" + denied.process + "`)" : who;
}

} // namespace

void reportSandbox(llvm::Error error, Engine& engine) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const sandbox::RunError& run) {
        Diagnostic& report = engine.report(diag::BindingsSandbox, run.text());
        if (!run.remedy().empty())
          report.help(run.remedy().str());
      },
      [&](const sandbox::PolicyError& policy) {
        Diagnostic& report = engine.report(diag::BindingsSandbox, policy.text());
        if (!policy.remedy().empty())
          report.help(policy.remedy().str());
      },
      [&](const llvm::ErrorInfoBase& other) {
        engine.report(diag::BindingsSandbox, other.message());
      });
}

void reportCache(llvm::Error error, Engine& engine) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const CacheError& cache) {
        engine.report(diag::BindingsCache, cache.text).help(cache.remedy);
      },
      [&](const llvm::ErrorInfoBase& other) {
        engine.report(diag::BindingsCache, other.message());
      });
}

std::vector<std::string> argumentsOf(Phase phase, const BuildFacts& facts, const Cache& cache) {
  const std::string manifest = cache.path("workspace/Cargo.toml");
  switch (phase) {
  case Phase::Query:
    return {"--version"};
  case Phase::OfflineFetch:
    return {"fetch", "--offline", "--manifest-path", manifest};
  case Phase::Fetch:
    return {"fetch", "--manifest-path", manifest};
  case Phase::Build:
    return {"build",
            "--release",
            "--offline",
            "--locked",
            "--message-format=json",
            "--manifest-path",
            manifest,
            "--target-dir",
            cache.path(targetName(facts.level)),
            "--config",
            "build.rustflags=[" + remappingFlags(facts, cache) + "]"};
  }
  return {};
}

// ---- running a phase ----------------------------------------------------------------------------

void Build::relay(llvm::StringRef line) {
  llvm::raw_ostream* out = options_.quiet ? nullptr : options_.progress;
  line = line.trim();
  if (out == nullptr || line.empty())
    return;
  const std::string text = "cargo: " + escapeForText(line);
  if (!out->is_displayed()) {
    *out << text << '\n';
    return;
  }
  // On a terminal what Cargo is at stands in one line.
  *out << "\r\x1b[K" << llvm::StringRef(text).take_front(78);
  out->flush();
  progressOpen_ = true;
}

void Build::endProgress() {
  if (!progressOpen_)
    return;
  *options_.progress << "\r\x1b[K";
  options_.progress->flush();
  progressOpen_ = false;
}

std::optional<Build::Finished> Build::start(Phase phase, std::vector<std::string> arguments,
                                            Shown shown, bool watch) {
  llvm::Expected<Policy> policy = policyOf(phase, facts_, cache_);
  if (!policy) {
    reportSandbox(policy.takeError(), engine_);
    return std::nullopt;
  }
  Finished finished;
  CargoCall call;
  call.arguments = std::move(arguments);
  call.environment = facts_.host.environment;
  call.policy = std::move(*policy);
  if (gitProgram_ && phase == Phase::Fetch) {
    // Without any configuration, helper or prompt; nothing that would start another program.
    const bool local = llvm::any_of(facts_.bindings, [](const Binding& binding) {
      return binding.written->source == RustBinding::Source::Git && !binding.path.empty();
    });
    call.policy = call.policy.setEnv("CARGO_NET_GIT_FETCH_WITH_CLI", "true")
                      .setEnv("GIT_ALLOW_PROTOCOL", local ? "http:https:file" : "http:https");
  }
  call.watch = watch;
  const auto onOutput = [&](llvm::StringRef line) {
    if (phase == Phase::Query)
      version_ += line.str();
    finished.messages.take(line);
  };
  const auto onError = [&](llvm::StringRef line) {
    finished.messages.takeError(line);
    // What failed comes as a report; the first two resolves are tries.
    if (phase == Phase::OfflineFetch || phase == Phase::Query || shown == Shown::Nothing ||
        line.starts_with("error") ||
        (shown == Shown::Updates && !line.trim().starts_with("Updating")))
      return;
    relay(line);
  };
  call.onOutput = onOutput;
  call.onError = onError;
  llvm::Expected<CargoResult> result = runCargo(facts_.toolchain, call);
  endProgress();
  if (!result) {
    reportSandbox(result.takeError(), engine_);
    return std::nullopt;
  }
  if (result->interruptedBy != 0) {
    // All of the run has ended, and the old library and the cache are what they were.
    ::signal(result->interruptedBy, SIG_DFL);
    ::raise(result->interruptedBy);
    engine_.report(diag::BindingsBuild, "it was interrupted");
    return std::nullopt;
  }
  finished.result = std::move(*result);
  return finished;
}

bool Build::checkVersion() {
  std::optional<Finished> finished = start(Phase::Query, argumentsOf(Phase::Query, facts_, cache_));
  if (!finished)
    return false;
  const std::string problem = versionProblem(version_);
  if (problem.empty())
    return true;
  Diagnostic& report = engine_.report(diag::CargoUnusable, problem);
  report.note("it is `" + facts_.toolchain.cargo + "`");
  noteLines(report, finished->messages.complaint(), "cargo");
  report.help("install a newer one; " + std::string(kInstallCargo));
  return false;
}

// ---- fetch --------------------------------------------------------------------------------------

void Build::reportFetch(const Finished& finished) {
  const std::vector<std::string> complaint = finished.messages.complaint();
  const std::string all = llvm::join(complaint, "\n");
  const llvm::StringRef text = all;
  std::string what = "Cargo ended with an error", help;
  if (text.contains("git_proxy_options") || text.contains("git_fetch_options")) {
    what = "this Cargo cannot read git repositories: it does not fit the git library of the system";
    help = "install Cargo from https://rustup.rs, or let `path` lead to a clone";
  } else if (text.contains("checksum")) {
    what = "a crate is not what its checksum says";
    help = "if the registry is not to be trusted, stop here; if the crate was published anew, "
           "remove it from `bindings.lock`";
  } else if (text.contains("no matching package") ||
             text.contains("does not have these features") ||
             text.contains("failed to select a version")) {
    what = "a crate, a version or a feature does not exist";
    help = "compare the names and versions with the registry";
  } else if (finished.messages.diskFull()) {
    what = "the disk is full";
    help = "make room, or let XDG_CACHE_HOME name a directory on another disk";
  } else if (text.contains("failed to parse manifest") ||
             text.contains("failed to load manifest") || text.contains("failed to read") ||
             text.contains("workspace root")) {
    what = "a Cargo manifest cannot be read";
    if (hasFileSystemPolicy(facts_.level))
      help = "what lies outside of the program is not visible here; to allow it: --sandbox-ro PATH";
  } else if (text.contains("resolve host") || text.contains("download") ||
             text.contains("connect") || text.contains("network") || text.contains("timed out") ||
             text.contains("spurious") || text.contains("unable to update") ||
             text.contains("Unable to update") || text.contains("failed to query")) {
    what = "the network or the registry did not answer";
    help = "crates are fetched once; try again where the registry can be reached, or set "
           "HTTPS_PROXY";
    if (text.contains("failed to get `gossamer-binding`"))
      help =
          "a crate that a crate of a registry or of git depends on makes Cargo ask crates.io for "
          "`gossamer-binding`; where that cannot be reached, let `[source.crates-io] replace-with` "
          "in your Cargo configuration name a registry that can";
    if (text.contains("401") || text.contains("403") || text.contains("authenticat"))
      help =
          "tokens are taken from `credentials.toml` of your Cargo directory, for registries that "
          "its `config.toml` names";
  }
  Diagnostic& report = engine_.report(diag::BindingsFetch, what);
  noteLines(report, complaint, "cargo");
  if (!help.empty())
    report.help(help);
}

static bool anyLine(const Messages& messages, llvm::ArrayRef<llvm::StringRef> pieces) {
  return llvm::any_of(messages.complaint(), [&](llvm::StringRef line) {
    return llvm::any_of(pieces, [&](llvm::StringRef piece) { return line.contains(piece); });
  });
}

std::optional<Build::Finished> Build::startOnline(std::vector<std::string> arguments, Shown shown) {
  std::optional<Finished> finished = start(Phase::Fetch, arguments, shown);
  // Some distributions link Cargo with a git library that refuses what Cargo asks of it.
  if (!finished || gitProgram_ || finished->result.code == 0 ||
      !anyLine(finished->messages, {"git_proxy_options", "git_fetch_options"}))
    return finished;
  gitProgram_ = true;
  return start(Phase::Fetch, std::move(arguments), shown);
}

bool Build::refuseInner(llvm::StringRef lock) {
  if (!refusesInner(facts_))
    return true;
  bool good = true;
  for (const InnerAddress& each : innerAddresses(facts_, lock)) {
    good = false;
    Diagnostic& report = each.binding != nullptr
                             ? engine_.report(each.binding->written->keySpan, diag::BindingRefused,
                                              each.binding->written->key, each.problem)
                             : engine_.report(diag::BindingsFetch, each.problem);
    report.help("if it is meant: --sandbox-network, or name the host in `[registries]` of your "
                "own Cargo configuration");
  }
  return good;
}

std::optional<std::vector<LockedPackage>> Build::findCrates(llvm::StringRef lock) {
  const std::vector<const Binding*> crates = unknownCrates(lock, facts_.bindings);
  std::vector<std::string> pins(crates.size());
  const std::string directory = "workspace/question";
  const std::vector<std::string> arguments = {"fetch", "--manifest-path",
                                              cache_.path(directory + "/Cargo.toml")};
  // Cargo names one crate at a time that has several versions.
  for (size_t round = 0; !crates.empty() && round <= crates.size(); ++round) {
    cache_.remove(directory + "/Cargo.lock");
    llvm::Error error = cache_.write(directory + "/src/lib.rs", "");
    if (!error)
      error = cache_.write(directory + "/Cargo.toml", probeManifest(crates, pins));
    if (error) {
      reportCache(std::move(error), engine_);
      return std::nullopt;
    }
    std::optional<Finished> finished = startOnline(arguments, Shown::Updates);
    if (!finished)
      return std::nullopt;
    if (finished->result.code == 0)
      return probeAnswer(cache_.read(directory + "/Cargo.lock", uint64_t(1) << 20).value_or(""));
    const std::optional<Ambiguous> several = ambiguousCrate(finished->messages.complaint());
    if (!several)
      break; // what is wrong the resolve says
    const auto found = llvm::find_if(
        crates, [&](const Binding* binding) { return binding->written->key == several->crate; });
    if (found == crates.end())
      break;
    pins[size_t(found - crates.begin())] = several->newest;
  }
  return std::vector<LockedPackage>();
}

/// With the project's lock as it is: offline, then with the crates that it names.
Build::Resolved Build::resolveLocked() {
  const auto isStale = [](const Finished& finished) {
    return anyLine(finished.messages, {"--locked"});
  };
  std::vector<std::string> arguments = argumentsOf(Phase::OfflineFetch, facts_, cache_);
  arguments.push_back("--locked");
  std::optional<Finished> finished = start(Phase::OfflineFetch, std::move(arguments));
  if (!finished)
    return Resolved::Reported;
  if (finished->result.code == 0)
    return Resolved::Yes;
  if (isStale(*finished))
    return Resolved::No;
  // The lock fits, and only the crates are missing.
  std::vector<std::string> online = argumentsOf(Phase::Fetch, facts_, cache_);
  online.push_back("--locked");
  std::optional<Finished> fetched = startOnline(std::move(online));
  if (!fetched)
    return Resolved::Reported;
  if (fetched->result.code == 0)
    return Resolved::Yes;
  if (isStale(*fetched))
    return Resolved::No;
  reportFetch(*fetched);
  return Resolved::Reported;
}

/// With the network, from a lock that says what is known.
Build::Resolved Build::resolveOnline(llvm::StringRef lock) {
  const std::optional<std::vector<LockedPackage>> found = findCrates(lock);
  if (!found)
    return Resolved::Reported;
  if (llvm::Error error =
          cache_.write("workspace/Cargo.lock", firstLock(lock, facts_.bindings, *found))) {
    reportCache(std::move(error), engine_);
    return Resolved::Reported;
  }
  std::optional<Finished> finished = startOnline(argumentsOf(Phase::Fetch, facts_, cache_));
  if (!finished)
    return Resolved::Reported;
  if (finished->result.code == 0)
    return Resolved::Yes;
  // A crate further down depends on `gossamer-binding`, and crates.io cannot be asked about it.
  // Everything else is known by now, so that it can do without.
  if (anyLine(finished->messages, {"`gossamer-binding`"})) {
    const std::optional<Finished> offline =
        start(Phase::OfflineFetch, argumentsOf(Phase::OfflineFetch, facts_, cache_));
    if (!offline)
      return Resolved::Reported;
    if (offline->result.code == 0)
      return Resolved::Yes;
    std::vector<std::string> locked = argumentsOf(Phase::Fetch, facts_, cache_);
    locked.push_back("--locked");
    const std::optional<Finished> last = startOnline(std::move(locked));
    if (!last)
      return Resolved::Reported;
    if (last->result.code == 0)
      return Resolved::Yes;
  }
  reportFetch(*finished);
  return Resolved::Reported;
}

bool Build::fetch() {
  const std::string& directory = facts_.project->root().directory;
  llvm::Expected<std::optional<std::string>> before = readProjectLock(directory);
  if (!before) {
    engine_.report(diag::BindingsLockRefused, llvm::toString(before.takeError()))
        .help("remove it; the next build writes it anew");
    return false;
  }
  const std::string lock = before->value_or("");
  if (*before) {
    // What Cargo cannot read at all is better said here.
    if (llvm::Expected<std::vector<LockedPackage>> parsed = parseLock(lock); !parsed) {
      engine_.report(diag::BindingsLockRefused, llvm::toString(parsed.takeError()))
          .help("take it from version control again, or remove it and build");
      return false;
    }
    if (llvm::Error error = cache_.write("workspace/Cargo.lock", lock)) {
      reportCache(std::move(error), engine_);
      return false;
    }
  }
  if (!refuseInner(lock))
    return false;

  // As it is locked; then with what was fetched before; the network comes last.
  Resolved resolved = *before ? resolveLocked() : Resolved::No;
  if (resolved == Resolved::No) {
    if (llvm::Error error =
            cache_.write("workspace/Cargo.lock", firstLock(lock, facts_.bindings, {}))) {
      reportCache(std::move(error), engine_);
      return false;
    }
    const std::optional<Finished> offline =
        start(Phase::OfflineFetch, argumentsOf(Phase::OfflineFetch, facts_, cache_));
    if (!offline)
      return false;
    resolved = offline->result.code == 0 ? Resolved::Yes : resolveOnline(lock);
  }
  if (resolved == Resolved::Reported)
    return false;
  const std::optional<std::string> after = cache_.read("workspace/Cargo.lock", uint64_t(16) << 20);
  if (!after) {
    engine_.report(diag::BindingsFetch, "Cargo left no lock");
    return false;
  }
  if (const std::string problem = lockProblem(*after, facts_.bindings); !problem.empty()) {
    engine_.report(diag::BindingsLockRefused, problem)
        .help("let each binding crate depend on `gossamer-binding = \"0.1\"` and on no other crate "
              "of that name");
    return false;
  }
  if (*after == lock)
    return true;
  if (llvm::Error error = writeProjectLock(directory, *after)) {
    engine_.report(diag::BindingsLockRefused, llvm::toString(std::move(error)))
        .help("the fetch writes it beside `project.toml`; let that directory be writable");
    return false;
  }
  Diagnostic& report = engine_.report(diag::BindingsLockWritten,
                                      *before ? "out of date and was written anew" : "written");
  if (*before)
    if (const std::string changes = lockChanges(**before, *after); !changes.empty())
      report.note(changes);
  report.help("keep it with the project");
  return true;
}

// ---- build --------------------------------------------------------------------------------------

void Build::addDenials(Diagnostic& report, const Messages& messages) {
  if (!hasFileSystemPolicy(facts_.level))
    return;
  if (llvm::Error error = sandbox::checkObservable(facts_.level)) {
    llvm::consumeError(std::move(error));
    report.note("what the sandbox refused cannot be watched here");
    return;
  }
  // Watching costs, so it is done for a build that has failed: what was built stays, and Cargo goes
  // on where it stopped.
  std::optional<Finished> again = start(Phase::Build, argumentsOf(Phase::Build, facts_, cache_),
                                        Shown::Nothing, /*watch=*/true);
  if (!again || !again->result.report)
    return;
  size_t shown = 0;
  std::vector<std::string> flags;
  for (const sandbox::Denied& denied : again->result.report->denied) {
    if (denied.harmless || isCargosOwn(denied, cache_))
      continue;
    if (++shown <= 10)
      report.note(whoWanted(denied, messages) + " wanted to " + denied.operation + " `" +
                  (denied.path.empty() ? denied.address : denied.path) + "`: " + denied.rule);
    // What other projects build from is opened to no crate.
    if (isAtOrBeneath(denied.path, cache_.top()))
      continue;
    if (const std::string flag = flagHere(denied.flag);
        !flag.empty() && !llvm::is_contained(flags, flag))
      flags.push_back(flag);
  }
  if (shown > 10)
    report.note(llvm::formatv("{0} more acts were refused", shown - 10));
  for (const std::string& flag : llvm::ArrayRef(flags).take_front(5))
    report.help("to allow it: " + flag);
}

void Build::reportBuild(const Finished& finished) {
  const Messages& messages = finished.messages;
  if (messages.diskFull()) {
    engine_.report(diag::BindingsBuild, "the disk is full")
        .help("make room, or let XDG_CACHE_HOME name a directory on another disk; what was built "
              "before is kept");
    return;
  }
  Diagnostic* first = nullptr;
  size_t count = 0;
  for (const CompilerMessage& error : messages.errors()) {
    if (++count > 10)
      break;
    const auto binding = llvm::find_if(
        facts_.bindings, [&](const Binding& each) { return each.written->key == error.crate; });
    const std::string text = error.text + (error.place.empty() ? "" : " (" + error.place + ")");
    Diagnostic& report = binding != facts_.bindings.end()
                             ? engine_.report(binding->written->keySpan, diag::CrateDoesNotCompile,
                                              error.crate, text)
                             : engine_.report(diag::CrateDoesNotCompile, error.crate, text);
    llvm::SmallVector<llvm::StringRef, 32> lines;
    llvm::StringRef(error.rendered).split(lines, '\n', 60, /*KeepEmpty=*/false);
    std::vector<std::string> shown;
    for (llvm::StringRef line : llvm::ArrayRef(lines).take_front(60))
      shown.push_back(line.str());
    noteLines(report, shown, "rustc");
    if (first == nullptr)
      first = &report;
  }
  if (first == nullptr) {
    const std::string& script = messages.failedScript();
    std::string what = script.empty() ? "Cargo ended with an error"
                                      : "the build script of crate `" + script + "` failed";
    if (finished.result.signal != 0)
      what = llvm::formatv("Cargo was ended by signal {0}", finished.result.signal);
    const auto binding = llvm::find_if(
        facts_.bindings, [&](const Binding& each) { return each.written->key == script; });
    first = binding != facts_.bindings.end()
                ? &engine_.report(binding->written->keySpan, diag::BindingsBuild, what)
                : &engine_.report(diag::BindingsBuild, what);
    noteLines(*first, messages.complaint(), "cargo");
  }
  addDenials(*first, messages);
}

bool Build::build() {
  std::optional<Finished> finished = start(Phase::Build, argumentsOf(Phase::Build, facts_, cache_));
  if (!finished)
    return false;
  if (finished->result.code != 0) {
    reportBuild(*finished);
    return false;
  }
  messages_ = std::move(finished->messages);
  return true;
}

void Build::reportIgnored() {
  std::vector<std::string> ignored =
      ignoredFiles(facts_.host.environment, facts_.programDirectories);
  std::vector<std::string> directories;
  for (const Binding& binding : facts_.bindings)
    if (binding.written->source == RustBinding::Source::Path)
      directories.push_back(binding.path);
  for (std::string& file : ignoredFiles(facts_.host.environment, directories))
    if (!llvm::is_contained(ignored, file))
      ignored.push_back(std::move(file));
  if (ignored.empty() && facts_.variables.ignored.empty())
    return;
  Diagnostic& report = engine_.report(diag::BindingSettingsIgnored);
  size_t shown = 0;
  for (const std::string& file : ignored)
    if (++shown <= 20)
      report.note("file `" + file + "`");
  for (const std::string& variable : facts_.variables.ignored)
    if (++shown <= 20)
      report.note((llvm::StringRef(variable).starts_with("PATH entry") ? "`" : "variable `") +
                  variable + "`");
  if (shown > 20)
    report.note(llvm::formatv("and {0} more", shown - 20));
}

bool Build::judgeArguments(llvm::ArrayRef<LinkerArgument> arguments,
                           llvm::ArrayRef<std::string> libraries) {
  bool good = true;
  for (const LinkerArgument& each : arguments) {
    if (isAllowedLinkerArgument(each.text))
      continue;
    good = false;
    const auto binding = llvm::find_if(
        facts_.bindings, [&](const Binding& own) { return own.written->key == each.crate; });
    Diagnostic& report = binding != facts_.bindings.end()
                             ? engine_.report(binding->written->keySpan,
                                              diag::LinkerArgumentRefused, each.crate, each.text)
                             : engine_.report(diag::LinkerArgumentRefused, each.crate, each.text);
    report.help("let its build script link with `cargo:rustc-link-lib`, or use another version");
  }
  if (!good || (arguments.empty() && libraries.empty()))
    return good;
  Diagnostic& report = engine_.report(diag::BindingsLinking);
  noteArguments(report, arguments);
  for (const std::string& library : llvm::ArrayRef(libraries).take_front(20))
    report.note("library `" + library + "` has to be there wherever the program runs");
  if (libraries.size() > 20)
    report.note(llvm::formatv("and {0} more", libraries.size() - 20));
  return true;
}

std::optional<Artifact> Build::run() {
  if (facts_.level == SandboxLevel::None)
    engine_.report(diag::BindingsNotConfined).help("add --sandbox");
  reportIgnored();
  if (!checkVersion() || !fetch() || !build())
    return std::nullopt;
  const std::vector<LinkerArgument> arguments =
      linkerArguments(cache_, targetName(facts_.level), messages_.scripts());
  llvm::Expected<Artifact> artifact = takeArtifact(cache_, targetName(facts_.level));
  if (artifact) {
    if (!judgeArguments(arguments, artifact->libraries))
      return std::nullopt;
    return std::move(*artifact);
  }
  llvm::Error error = artifact.takeError();
  if (error.isA<CacheError>()) {
    reportCache(std::move(error), engine_);
    return std::nullopt;
  }
  Diagnostic& report = engine_.report(diag::BindingsLibrary, llvm::toString(std::move(error)));
  noteArguments(report, arguments);
  return std::nullopt;
}

} // namespace gos::bindings
