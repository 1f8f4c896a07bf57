// gos repl: lines of a program, run as they come, with the modules of a project in scope.

#include "compiler/document/document.h"
#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "compiler/repl/editor.h"
#include "compiler/repl/session.h"
#include "diagnostics/escape.h"
#include "stdlib/builtins.h"
#include "stdlib/host_state.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::driver {
namespace {

using llvm::StringRef;
using Answer = repl::Session::Answer;

constexpr StringRef kPrompt = "gos> ", kMorePrompt = "...> ";
constexpr uint64_t kLongestFile = uint64_t(16) << 20;

constexpr StringRef kHelp =
    R"(lines are statements, items and expressions of the language; the value of an expression is shown
  let x = 6 * 7        a binding stays; a later one of the same name takes its place
  fn twice(n: i64) -> i64 { n * 2 }
  use std::fs          a line goes on until its brackets are closed; an empty one ends it

  :type EXPR           the type of an expression, which does not run
  :load FILE           runs a file as if it were typed
  :reset               forgets every line
  :help                this
  :quit                ends the session, as Ctrl-D does

Ctrl-C ends what runs, Tab completes a word, Ctrl-R searches the lines of before
)";

class Repl {
public:
  Repl(const Options& options, Compilation& compilation)
      : options_(options), compilation_(compilation),
        session_({compilation.input(), compilation.sources(), compilation.engine(),
                  compilation.policy(), compilation.foreign(), [this] { return makeHost(); },
                  [](vm::Vm& machine) { stdlib::flushOutput(machine); }}),
        colour_(colourFor(options.colour, STDOUT_FILENO)) {}

  int run() {
    if (editor_.isInteractive()) {
      // Between two lines Ctrl-C has nothing to end; while one runs, repl/interrupt.cpp takes it.
      struct sigaction nothing = {};
      nothing.sa_handler = [](int) {};
      nothing.sa_flags = SA_RESTART;
      sigemptyset(&nothing.sa_mask);
      sigaction(SIGINT, &nothing, nullptr);
    }
    if (editor_.isInteractive() && !options_.quiet)
      llvm::outs() << "gos " GOS_VERSION ", :help shows what can be typed, Ctrl-D ends\n";
    std::string text;
    while (!ended_) {
      llvm::outs().flush();
      const auto input = editor_.read(text.empty() ? kPrompt : kMorePrompt,
                                      [this](StringRef head) { return completions(head); });
      if (input.kind == repl::LineEditor::Input::Kind::Interrupted) {
        text.clear();
        continue;
      }
      if (input.kind == repl::LineEditor::Input::Kind::End) {
        if (!text.empty())
          evaluate(text);
        break;
      }
      // A command stands at the start; `::name` is a path.
      const StringRef line = input.text;
      if (text.empty() && line.trim().starts_with(":") && !line.trim().starts_with("::")) {
        editor_.remember(line);
        command(line.trim());
        continue;
      }
      const bool endsEarly = !text.empty() && line.trim().empty();
      text += (text.empty() ? "" : "\n") + line.str();
      if (StringRef(text).trim().empty()) {
        text.clear();
        continue;
      }
      if (!endsEarly && session_.isIncomplete(text))
        continue;
      editor_.remember(text);
      evaluate(text);
      text.clear();
    }
    return finish();
  }

private:
  std::unique_ptr<vm::HostState> makeHost() {
    stdlib::HostOptions host;
    host.programName = "repl";
    return stdlib::makeHost(std::move(host));
  }

  void command(StringRef line) {
    auto [name, rest] = line.split(' ');
    rest = rest.trim();
    if (name == ":quit" || name == ":q" || name == ":exit") {
      ended_ = true;
    } else if (name == ":help" || name == ":h" || name == ":?") {
      llvm::outs() << kHelp;
    } else if (name == ":reset") {
      session_.reset();
    } else if (name == ":type" || name == ":t") {
      const Answer answer = session_.typeOf(rest);
      if (answer.kind == Answer::Kind::Done)
        llvm::outs() << answer.type << '\n';
      else
        refuse(answer);
      settle();
    } else if (name == ":load" || name == ":l") {
      load(rest);
    } else {
      llvm::outs().flush();
      const StringRef known[] = {":quit", ":help", ":reset", ":type", ":load"};
      llvm::errs() << "error: no command " << quoted(name) << '\n';
      if (StringRef best = nearest(name, known); !best.empty())
        llvm::errs() << "  did you mean `" << best << "`?\n";
      else
        llvm::errs() << "  `:help` lists them\n";
      failed_ = true;
    }
  }

  void load(StringRef path) {
    const auto complain = [&](const llvm::Twine& what) {
      llvm::outs().flush();
      llvm::errs() << "error: " << what << '\n';
      failed_ = true;
    };
    if (path.empty())
      return complain("`:load` needs the name of a file");
    const int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status = {};
    if (fd < 0)
      return complain("cannot open " + quoted(path) + ": " + systemWords(errno));
    const bool isPlain = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    if (isPlain && uint64_t(status.st_size) <= kLongestFile)
      if (auto read = llvm::MemoryBuffer::getOpenFile(fd, path, -1))
        buffer = std::move(*read);
    ::close(fd);
    if (!isPlain)
      return complain(quoted(path) + " is no plain file");
    if (!buffer)
      return complain("cannot read " + quoted(path));
    evaluate(buffer->getBuffer(), path);
  }

  void evaluate(StringRef text, StringRef name = {}) {
    const std::string shown = name.empty() ? "<line " + llvm::utostr(++count_) + ">" : name.str();
    const Answer answer = session_.evaluate(text, shown);
    llvm::outs().flush();
    switch (answer.kind) {
    case Answer::Kind::Done:
    case Answer::Kind::Incomplete:
      warn(answer);
      if (!answer.type.empty())
        llvm::outs() << answer.value << (colour_ == Colour::On ? " \x1b[2m: " : " : ")
                     << answer.type << (colour_ == Colour::On ? "\x1b[0m\n" : "\n");
      break;
    case Answer::Kind::Refused:
      refuse(answer);
      break;
    case Answer::Kind::Failed:
      warn(answer);
      llvm::errs() << "error: " << answer.message << '\n';
      failed_ = true;
      break;
    case Answer::Kind::Exited:
      ended_ = true;
      exitCode_ = answer.exitCode;
      break;
    }
    settle();
  }

  /// What the phases said; of warnings only those about the line itself.
  void warn(const Answer& answer) {
    for (const std::string& name : answer.gone)
      llvm::errs() << "note: `" << name << "` is gone, since its type was defined anew\n";
    for (const std::string& note : answer.notes)
      llvm::errs() << "note: " << note << '\n';
    printLine(/*all=*/false);
  }
  void refuse(const Answer& answer) {
    llvm::outs().flush();
    failed_ = true;
    printLine(/*all=*/true);
    if (!answer.message.empty())
      llvm::errs() << "error: " << answer.message << '\n';
  }
  void printLine(bool all) {
    Engine& engine = compilation_.engine();
    engine.sort();
    const Colour colour = colourFor(options_.colour, STDERR_FILENO);
    for (const Diagnostic& each : engine.diagnostics()) {
      const FileId file =
          each.labels.empty() ? FileId::None : compilation_.sources().fileOf(each.labels[0].span);
      const bool isOfLine = file == FileId::None || uint32_t(file) >= uint32_t(session_.lastFile());
      if (!isOfLine && !(all && each.severity == Severity::Error))
        continue;
      if (options_.messageFormat == MessageFormat::Json)
        renderJson(llvm::errs(), each, compilation_.sources());
      else
        renderText(llvm::errs(), each, compilation_.sources(), colour);
    }
  }
  /// The next line starts without what was said about this one.
  void settle() { compilation_.engine().rollBack({0, 0, 0, 0}); }

  std::vector<std::string> completions(StringRef head) {
    const StringRef word = head.drop_front(repl::wordStart(head));
    std::vector<std::string> found;
    for (std::string& each : session_.words())
      if (StringRef(each).starts_with(word))
        found.push_back(std::move(each));
    // What a module of the library holds: `fs::re`, after `use std::fs`.
    if (const size_t cut = word.rfind("::"); cut != StringRef::npos) {
      StringRef module = word.take_front(cut);
      module.consume_front("std::");
      if (!module.empty() && stdlib::hasModule(module))
        for (const document::Module& each : document::documentLibrary(module).modules)
          for (const document::Item& item : each.items)
            if (StringRef(item.name).starts_with(word.drop_front(cut + 2)))
              found.push_back((word.take_front(cut + 2) + item.name).str());
    }
    llvm::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  int finish() {
    int code = exitCode_                             ? *exitCode_
               : !editor_.isInteractive() && failed_ ? kExitDiagnostics
                                                     : kExitClean;
    if (vm::Vm* machine = session_.machine()) {
      // What `at_exit` holds runs now; a hook that ends the program has the last word.
      vm::Trap late = stdlib::runExitHooks(*machine);
      if (vm::Trap lost = stdlib::finishOutput(*machine); lost && !late)
        late = std::move(lost);
      if (late && late->kind == vm::TrapKind::Exit)
        code = int(late->exitCode & 0xff);
      else if (late) {
        llvm::errs() << "error: " << escapeForTextBlock(late->message) << '\n';
        code = kExitPanic;
      }
    }
    return code;
  }

  const Options& options_;
  Compilation& compilation_;
  repl::Session session_;
  repl::LineEditor editor_;
  Colour colour_;
  bool ended_ = false;
  bool failed_ = false;
  unsigned count_ = 0;
  std::optional<int> exitCode_;
};

} // namespace

int runRepl(const Options& options) {
  Compilation compilation(options);
  bool opened = false;
  if (!options.operands.empty())
    opened = compilation.open(options.operands.front());
  else if (::access("project.toml", F_OK) == 0)
    opened = compilation.open(".");
  else
    opened = compilation.openEmpty();
  opened = opened && compilation.addBindings();
  if (!opened || compilation.engine().errorCount() || compilation.engine().warningCount())
    printDiagnostics(compilation.engine(), options);
  if (!opened)
    return kExitDiagnostics;
  compilation.engine().rollBack({0, 0, 0, 0});
  return Repl(options, compilation).run();
}

} // namespace gos::driver
