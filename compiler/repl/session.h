#pragma once
// A session: lines that are checked as one growing `main`, each of which runs once, in one
// long-lived Vm.
//
//   Session session(setup);                      // what the project's files declare is in scope
//   Session::Answer answer = session.evaluate("let x = 6 * 7");
//
// How state is kept is in README.md.

#include "compiler/check/check.h"
#include "compiler/fold/fold.h"
#include "compiler/repl/link.h"
#include "vm/vm.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gos::repl {

struct SessionSetup {
  check::ProgramInput& input; // parsed; its root package takes the lines
  SourceMap& sources;
  Engine& engine;
  const ComptimePolicy& policy; // of the regions in lines too
  vm::ForeignLinker* foreign = nullptr;
  /// Makes what the library keeps for a Vm, for the start and for each reset.
  std::function<std::unique_ptr<vm::HostState>()> makeHost;
  /// Writes what the program has printed so far.
  std::function<void(vm::Vm&)> flush;
};

class Session {
public:
  explicit Session(SessionSetup setup);
  ~Session();

  struct Answer {
    enum class Kind : uint8_t {
      Done,       // value and type may be empty
      Incomplete, // more lines are needed
      Refused,    // nothing of it ran; the engine says why, or `message` does
      Failed,     // it ran and ended early: `message`
      Exited,     // the program asked to end: `exitCode`
    };
    Kind kind = Kind::Done;
    std::string value, type;       // of an expression
    std::string message;           // a panic with its trace; or why it was refused
    std::vector<std::string> gone; // bindings that a new definition took away
    std::vector<std::string> notes;
    int exitCode = 0;
  };

  /// A line, or several. `name` is what diagnostics call it.
  Answer evaluate(llvm::StringRef text, llvm::StringRef name);
  /// The type of an expression, which does not run.
  Answer typeOf(llvm::StringRef text);
  /// Does the text stop in the middle of something?
  bool isIncomplete(llvm::StringRef text);
  /// Forgets every line.
  void reset();
  /// Words that a line may go on with: bindings, items, modules, keywords.
  std::vector<std::string> words() const;
  /// Diagnostics that belong to the last line; the caller prints and drops them.
  FileId lastFile() const { return lastFile_; }
  /// What the host has to do at the end: hooks, unwritten output.
  vm::Vm* machine() { return machine_.get(); }

private:
  struct Binding {
    const ast::Variable* variable;
    const ast::Stmt* statement;
  };
  struct Line { // being evaluated
    FileId file = FileId::None;
    std::vector<ast::Item*> items;
    std::vector<ast::Stmt*> statements;
    ast::Variable* value = nullptr; // of the last expression
  };

  std::optional<Line> parse(llvm::StringRef text, llvm::StringRef name);
  /// Makes the last expression a binding, so that its value can be looked at.
  void bindValue(Line& line);
  /// Puts together the program of the session and the line; false after reports.
  bool checkLine(Line& line, std::vector<ast::Item*>& items, std::vector<std::string>& gone,
                 bool folds);
  void assemble(const Line& line, llvm::ArrayRef<ast::Item*> items);
  /// Takes bindings away whose statements do not hold any more. False when there was none among the
  /// reports.
  bool dropBroken(Engine::Mark mark, std::vector<std::string>& gone);
  void dropStatement(const ast::Stmt* statement, std::vector<std::string>& gone);
  Answer run(Line& line, std::vector<ast::Item*> items, Answer answer);
  Answer describe(const vm::TrapDetails& trap);
  /// Goroutines that ended badly since the last line, each as a note.
  void reportGoroutines(Answer& answer);
  std::vector<const ast::Variable*> variablesOf(const ast::Stmt* statement) const;

  SessionSetup setup_;
  std::vector<ast::Item*> projectItems_;
  std::vector<ast::Item*> items_;      // of accepted lines
  std::vector<ast::Stmt*> statements_; // the `let`s of accepted lines
  std::vector<Binding> bindings_;
  FileId lastFile_ = FileId::None;

  std::optional<check::Program> program_;
  std::unique_ptr<vm::Module> module_;
  std::unique_ptr<Linker> linker_;
  std::unique_ptr<vm::Vm> machine_; // refers to module_
  std::optional<fold::FoldContext> fold_;
};

} // namespace gos::repl
