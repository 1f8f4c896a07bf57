#include "tests/threats/support.h"

#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <doctest/doctest.h>

#include <sstream>

namespace gos::threats {

using llvm::StringRef;

// ---- programs
// ---------------------------------------------------------------------------------------

std::string program(const Act& act) {
  std::string text;
  for (const std::string& use : act.uses)
    text += "use std::" + use + "\n";
  text += act.items;
  if (!act.items.empty())
    text += "\n";
  text += "\nconst ANSWER: " + act.type + " = comptime {\n    " + act.body +
          "\n}\n\nfn main() {\n" + "    println!(\"{}\", ANSWER)\n}\n";
  return text;
}

Launch command(const Tree& tree, StringRef verb, std::optional<Level> level, const Where& where) {
  Launch launch;
  launch.arguments = {verb.str()};
  if (level && where.passLevel)
    launch.arguments.push_back(("--comptime-io=" + spelling(*level)).str());
  launch.arguments.insert(launch.arguments.end(), where.options.begin(), where.options.end());
  launch.arguments.push_back(where.operand);
  launch.directory = where.directory.empty() ? tree.root() : where.directory;
  launch.environment = where.environment;
  if (llvm::none_of(launch.environment, [](const auto& entry) { return entry.first == "HOME"; }))
    launch.environment.push_back({"HOME", tree.home()});
  launch.input = where.input;
  launch.descriptors = where.descriptors;
  return launch;
}

// ---- what holds for every run
// -------------------------------------------------------------------------

std::optional<size_t> uncleanByte(StringRef text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char byte = (unsigned char)text[i];
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
      return i;
    auto next = [&](size_t ahead) {
      return i + ahead < text.size() ? (unsigned char)text[i + ahead] : 0;
    };
    if (byte == 0xc2 && next(1) >= 0x80 && next(1) < 0xa0) // C1
      return i;
    if (byte == 0xd8 && next(1) == 0x9c) // U+061C
      return i;
    if (byte == 0xe2 && next(1) == 0x80 &&
        (next(2) == 0x8e || next(2) == 0x8f || (next(2) >= 0xaa && next(2) <= 0xae)))
      return i; // U+200E, U+200F, U+202A to U+202E
    if (byte == 0xe2 && next(1) == 0x81 && next(2) >= 0xa6 && next(2) <= 0xa9)
      return i; // U+2066 to U+2069
    if (byte == 0xf3 && next(1) == 0xa0 && (next(2) == 0x80 || next(2) == 0x81))
      return i; // tag characters
  }
  return std::nullopt;
}

void checkOutcome(const Outcome& outcome, const Tree& tree) {
  CHECK_MESSAGE(!outcome.timedOut, "the time limit was reached");
  CHECK_MESSAGE((outcome.signal == 0 || outcome.timedOut), "died of signal " << outcome.signal
                                                                             << "\n"
                                                                             << outcome.err);
  CHECK_MESSAGE(outcome.groupGone, "a process of the run is still there");
  const auto unclean = uncleanByte(outcome.err);
  CHECK_MESSAGE(!unclean,
                "byte " << (unclean ? *unclean : 0) << " of what the tool prints is not clean");
  CHECK_MESSAGE(!StringRef(outcome.err).contains(tree.token()),
                "the canary's contents were printed");
}

namespace {

const llvm::StringSet<>& writingCalls() {
  static const llvm::StringSet<> calls = {
      "mkdir",     "mkdirat",    "rmdir",     "unlink",      "unlinkat",  "rename",    "renameat",
      "renameat2", "link",       "linkat",    "symlink",     "symlinkat", "mknod",     "mknodat",
      "chmod",     "fchmod",     "fchmodat",  "fchmodat2",   "chown",     "fchown",    "lchown",
      "fchownat",  "truncate",   "ftruncate", "utime",       "utimes",    "utimensat", "futimesat",
      "setxattr",  "lsetxattr",  "fsetxattr", "removexattr", "creat",     "mount",     "umount2",
      "chroot",    "pivot_root", "acct",      "swapon",      "flock",     "chdir",     "fchdir"};
  return calls;
}
const llvm::StringSet<>& networkCalls() {
  static const llvm::StringSet<> calls = {"socket",  "socketpair", "connect", "bind",
                                          "listen",  "accept",     "accept4", "sendto",
                                          "sendmsg", "recvfrom",   "recvmsg"};
  return calls;
}
const llvm::StringSet<>& signalCalls() {
  static const llvm::StringSet<> calls = {"kill", "tkill", "tgkill", "pidfd_send_signal",
                                          "rt_sigqueueinfo"};
  return calls;
}

bool opensForWriting(const SystemCall& call) {
  const StringRef text = call.text;
  if (!StringRef(call.name).starts_with("open"))
    return false;
  return text.contains("O_WRONLY") || text.contains("O_RDWR") || text.contains("O_CREAT") ||
         text.contains("O_TRUNC") || text.contains("O_APPEND") || text.contains("O_TMPFILE");
}

} // namespace

void checkNoSideEffect(const std::vector<SystemCall>& calls, const Tree& tree) {
  size_t started = 0;
  for (const SystemCall& call : calls) {
    const StringRef name = call.name, text = call.text;
#ifdef GOS_SANITIZED // whose run-time part begins with a file of its own
    if (text.contains("/tsan.rodata."))
      continue;
#endif
    if (name == "execve" || name == "execveat")
      started += !call.failed;
    const bool process = name == "fork" || name == "vfork" ||
                         ((name == "clone" || name == "clone3") && !text.contains("CLONE_THREAD"));
    CHECK_MESSAGE(!process, "a process was started: " << call.text);
    CHECK_MESSAGE(!networkCalls().contains(name), "the network was used: " << call.text);
    CHECK_MESSAGE(!signalCalls().contains(name), "a signal was sent: " << call.text);
    CHECK_MESSAGE(!writingCalls().contains(name), "something was changed: " << call.text);
    CHECK_MESSAGE(!opensForWriting(call), "something was opened for writing: " << call.text);
#ifndef GOS_SANITIZED // whose run-time part reads /proc/self/environ, where the token may stand
    CHECK_MESSAGE(!text.contains(tree.token()), "the canary was read: " << call.text);
#endif
    if (!text.contains(tree.marker()))
      continue;
    // The name of the outside may pass through sources (read), as the text of a link of the tree
    // (readlinkat), and into one openat2 that is bound beneath the root and refuses it. Nothing
    // else may look it up (T011).
    const bool bound = name == "openat2" && call.failed && text.contains("RESOLVE_BENEATH");
    const bool carried = name == "read" || name == "pread64" || name == "readlinkat" ||
                         name == "execve" || name == "chdir" || name == "readlink";
    CHECK_MESSAGE((bound || carried), "the outside was looked at: " << call.text);
  }
  CHECK_MESSAGE(started <= 1, "a program was started");
}

// ---- JSON
// ------------------------------------------------------------------------------------------------

const JsonLabel* JsonDiagnostic::primary() const {
  for (const JsonLabel& label : labels)
    if (label.primary)
      return &label;
  return nullptr;
}

std::string JsonDiagnostic::all() const {
  std::string text = code + " " + message;
  for (const JsonLabel& label : labels)
    text += "\n" + label.message;
  for (const std::string& note : notes)
    text += "\nnote: " + note;
  for (const std::string& help : helps)
    text += "\nhelp: " + help;
  return text;
}

std::vector<JsonDiagnostic> parseDiagnostics(StringRef lines) {
  std::vector<JsonDiagnostic> result;
  while (!lines.empty()) {
    auto [line, rest] = lines.split('\n');
    lines = rest;
    auto value = llvm::json::parse(line);
    if (!value) {
      FAIL_CHECK("not JSON: " << llvm::toString(value.takeError()) << "\n" << line.str());
      continue;
    }
    const llvm::json::Object* object = value->getAsObject();
    if (!object) {
      FAIL_CHECK("not an object: " << line.str());
      continue;
    }
    auto text = [](const llvm::json::Object& of, StringRef key) {
      return of.getString(key).value_or("").str();
    };
    JsonDiagnostic diagnostic;
    CHECK(object->getInteger("schema") == 1);
    diagnostic.code = text(*object, "code");
    diagnostic.severity = text(*object, "severity");
    diagnostic.title = text(*object, "title");
    diagnostic.message = text(*object, "message");
    if (const auto* labels = object->getArray("labels"))
      for (const llvm::json::Value& entry : *labels)
        if (const auto* label = entry.getAsObject())
          diagnostic.labels.push_back(
              {text(*label, "file"), text(*label, "message"), label->getInteger("line").value_or(0),
               label->getInteger("column").value_or(0), label->getInteger("span_start").value_or(0),
               label->getInteger("span_end").value_or(0),
               label->getBoolean("primary").value_or(false)});
    auto strings = [&](StringRef key, std::vector<std::string>& into) {
      if (const auto* array = object->getArray(key))
        for (const llvm::json::Value& entry : *array)
          into.push_back(entry.getAsString().value_or("").str());
    };
    strings("notes", diagnostic.notes);
    strings("helps", diagnostic.helps);
    result.push_back(std::move(diagnostic));
  }
  return result;
}

// ---- verdicts
// ---------------------------------------------------------------------------------------------

namespace {

std::string describe(const Launch& launch) {
  std::string text = "gos";
  for (const std::string& argument : launch.arguments)
    text += " " + argument;
  return text + "   (in " + launch.directory + ")";
}

/// The one error of a run, or none after a failed check.
std::optional<JsonDiagnostic> onlyError(const Outcome& outcome) {
  std::vector<JsonDiagnostic> errors;
  for (JsonDiagnostic& diagnostic : parseDiagnostics(outcome.err))
    if (diagnostic.severity == "error")
      errors.push_back(std::move(diagnostic));
  CHECK_MESSAGE(errors.size() == 1, errors.size() << " errors where there is one cause:\n"
                                                  << outcome.err);
  if (errors.empty())
    return std::nullopt;
  return errors.front();
}

/// Is all that the JSON says in the text too?
void checkAlike(const JsonDiagnostic& diagnostic, StringRef text) {
  auto flat = [](StringRef of) {
    // Long texts are not wrapped; notes of several lines are indented.
    std::string result;
    for (char c : of)
      if (c != ' ' && c != '\n' && c != '=' && c != '|')
        result += c;
    return result;
  };
  const std::string whole = flat(text);
  auto shown = [&](const std::string& part) {
    CHECK_MESSAGE(StringRef(whole).contains(flat(part)), "only the JSON says: " << part << "\n"
                                                                                << text.str());
  };
  CHECK_MESSAGE(text.contains("error[" + diagnostic.code + "]"), text.str());
  shown(escapeForText(diagnostic.message));
  for (const std::string& note : diagnostic.notes)
    shown(escapeForText(note));
  for (const std::string& help : diagnostic.helps)
    shown(escapeForText(help));
  if (const JsonLabel* primary = diagnostic.primary())
    CHECK_MESSAGE(
        text.contains(":" + std::to_string(primary->line) + ":" + std::to_string(primary->column)),
        text.str());
}

/// Span on the call, spelling, class, level and its origin, narrowest option first.
void checkDenialMessage(const JsonDiagnostic& denial, Level level, const Act& act, const Tree& tree,
                        const Where& where) {
  CHECK(denial.code == "GX0010");
  const StringRef message = denial.message;
  // A method is spelt with its receiver, a library function as the user imported it: the name is
  // what it ends with.
  if (act.spelledAs.empty())
    CHECK_MESSAGE(message.split("` needs ").first.ends_with(act.call), denial.message);
  else
    CHECK_MESSAGE(message.contains("`" + act.spelledAs + "`"), denial.message);
  CHECK_MESSAGE(message.contains(act.klass), denial.message);
  CHECK_MESSAGE(message.contains(("--comptime-io=" + spelling(level)).str()), denial.message);
  const JsonLabel* primary = denial.primary();
  REQUIRE(primary);
  CHECK(primary->begin < primary->end);
  if (!where.file.empty())
    CHECK_MESSAGE(StringRef(primary->file).ends_with(where.file), primary->file);
  const std::string source = tree.readAll(
      StringRef(primary->file).starts_with("/")
          ? primary->file
          : (where.directory.empty() ? tree.root() : where.directory) + "/" + primary->file);
  if (!StringRef(primary->file).starts_with("<")) {
    const StringRef span = StringRef(source).slice(size_t(primary->begin), size_t(primary->end));
    CHECK_MESSAGE(span.contains(act.call), "the span is `" << span.str() << "`");
    CHECK_MESSAGE(span.size() <= 200, "the span is more than the call: " << span.str());
  }
  const bool region =
      denial.labels.size() > 1 && llvm::any_of(denial.labels, [](const JsonLabel& label) {
        return !label.primary && StringRef(label.message).contains("region");
      });
  CHECK_MESSAGE(region, "no label on the region:\n" << denial.all());
  const bool origin = llvm::any_of(denial.notes, [&](StringRef note) {
    return note.contains(("`" + spelling(level) + "`").str()) &&
           (note.contains("default") || note.contains("command line") ||
            note.contains("project.toml"));
  });
  CHECK_MESSAGE(origin, "where the level came from is not said:\n" << denial.all());
  REQUIRE_MESSAGE(!denial.helps.empty(), denial.all());
  CHECK_MESSAGE(StringRef(denial.helps.back()).contains("--comptime-io=full"), denial.all());
  for (size_t i = 0; i + 1 < denial.helps.size(); ++i)
    CHECK_MESSAGE(!StringRef(denial.helps[i]).contains("=full"), denial.all());
  // At none nothing is looked at, so nothing can be said about it.
  if (!act.detail.empty() && (level != Level::None || act.klass != "filesystem read"))
    CHECK_MESSAGE(StringRef(denial.all()).contains(act.detail), denial.all());
}

/// Runs `gos check` as JSON under a trace, as text, and `gos run`: all must say the same one error.
std::optional<JsonDiagnostic> expectFailure(const Tree& tree, Level level, const Where& where) {
  const std::string before = tree.snapshot();
  Where json = where;
  json.options.push_back("--message-format=json");
  const Launch asJson = command(tree, "check", level, json);
  INFO("command: " << describe(asJson));
  Outcome first;
  if (canTrace()) {
    const Traced run = traced(asJson);
    first = run.outcome;
    checkNoSideEffect(run.calls, tree);
  } else {
    first = launch(asJson);
  }
  checkOutcome(first, tree);
  CHECK_MESSAGE(first.exitCode == 1, "exit code " << first.exitCode << "\n"
                                                  << first.out << first.err);
  CHECK(first.out.empty());
  const std::optional<JsonDiagnostic> error = onlyError(first);

  const Outcome text = launch(command(tree, "check", level, where));
  checkOutcome(text, tree);
  CHECK(text.exitCode == 1);
  CHECK(text.out.empty());
  if (error)
    checkAlike(*error, text.err);

  // What is refused never runs, whatever the command.
  const Outcome run = launch(command(tree, "run", level, where));
  checkOutcome(run, tree);
  CHECK(run.exitCode == 1);
  CHECK_MESSAGE(run.out.empty(), "the program ran: " << run.out);
  CHECK(run.err == text.err);

  CHECK_MESSAGE(tree.snapshot() == before, "the tree is not what it was");
  return error;
}

} // namespace

void expectProgramDenied(const Tree& tree, Level level, const Act& act, const Where& where) {
  INFO("level: " << spelling(level).str());
  INFO("program:\n" << tree.readAll("main.gos"));
  if (auto denial = expectFailure(tree, level, where))
    checkDenialMessage(*denial, level, act, tree, where);
}

void expectDenied(const Tree& tree, Level level, const Act& act, const Where& where) {
  tree.write("main.gos", program(act));
  expectProgramDenied(tree, level, act, where);
}

void expectProgramError(const Tree& tree, Level level, StringRef code, StringRef words,
                        const Where& where) {
  INFO("level: " << spelling(level).str());
  INFO("program:\n" << tree.readAll("main.gos"));
  if (auto error = expectFailure(tree, level, where)) {
    CHECK_MESSAGE(error->code == code.str(), error->all());
    CHECK_MESSAGE(StringRef(error->all()).contains(words),
                  "`" << words.str() << "` is not in: " << error->all());
  }
}

void expectError(const Tree& tree, Level level, const Act& act, StringRef code, StringRef words,
                 const Where& where) {
  tree.write("main.gos", program(act));
  expectProgramError(tree, level, code, words, where);
}

void expectProgramAllowed(const Tree& tree, Level level, StringRef expected, const Where& where) {
  INFO("level: " << spelling(level).str());
  INFO("program:\n" << tree.readAll("main.gos"));
  const Launch check = command(tree, "check", level, where);
  INFO("command: " << describe(check));
  const Outcome checked = launch(check);
  CHECK_MESSAGE(checked.exitCode == 0, "exit code " << checked.exitCode << "\n" << checked.err);
  CHECK(!checked.timedOut);
  CHECK(!uncleanByte(checked.err));
  const Outcome ran = launch(command(tree, "run", level, where));
  CHECK_MESSAGE(ran.exitCode == 0, "exit code " << ran.exitCode << "\n" << ran.err);
  CHECK(!ran.timedOut);
  CHECK(ran.groupGone);
  CHECK_MESSAGE(ran.out == (expected + "\n").str(), "printed: " << ran.out);
}

void expectAllowed(const Tree& tree, Level level, const Act& act, StringRef expected,
                   const Where& where) {
  tree.write("main.gos", program(act));
  expectProgramAllowed(tree, level, expected, where);
}

void expectUsageError(const Tree& tree, const std::vector<std::string>& arguments,
                      StringRef words) {
  Launch call;
  call.arguments = arguments;
  call.directory = tree.root();
  INFO("command: " << describe(call));
  const std::string before = tree.snapshot();
  const Outcome outcome = launch(call);
  checkOutcome(outcome, tree);
  CHECK_MESSAGE(outcome.exitCode == 2, "exit code " << outcome.exitCode << "\n"
                                                    << outcome.out << outcome.err);
  CHECK(outcome.out.empty());
  CHECK_MESSAGE(StringRef(outcome.err).contains(words), outcome.err);
  CHECK(tree.snapshot() == before);
}

void expectReadDenied(const Tree& tree, const Act& act, StringRef atFull, const Where& where) {
  for (Level level : kBelowFull)
    expectDenied(tree, level, act, where);
  expectAllowed(tree, Level::Full, act, atFull, where);
}

void expectReadAllowed(const Tree& tree, const Act& act, StringRef expected, const Where& where) {
  expectDenied(tree, Level::None, act, where);
  expectAllowed(tree, Level::Confined, act, expected, where);
  expectAllowed(tree, Level::Full, act, expected, where);
}

void expectDeniedBelowFull(const Tree& tree, const Act& act, const Where& where) {
  for (Level level : kBelowFull)
    expectDenied(tree, level, act, where);
}

} // namespace gos::threats
