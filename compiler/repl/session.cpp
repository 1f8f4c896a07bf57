#include "compiler/repl/session.h"

#include "compiler/lower/lowering.h"
#include "compiler/lower/walk.h"
#include "compiler/parse/parse.h"
#include "compiler/repl/interrupt.h"
#include "diagnostics/escape.h"
#include "stdlib/builtins.h"
#include "vm/format.h"
#include "vm/object.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace gos::repl {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

namespace {

constexpr uint64_t kLongestValue = uint64_t(64) << 10;

/// The name that says whether a new item takes the place of an old one.
std::string keyOf(const ast::Item* item, const SourceMap& sources) {
  if (auto* impl = dyn_cast<ast::ImplItem>(item))
    return "impl " + (impl->hasTrait ? sources.text(impl->trait.span).str() : std::string()) +
           " for " + (impl->target ? sources.text(impl->target->span).str() : std::string());
  if (auto* use = dyn_cast<ast::UseItem>(item)) {
    std::string key = "use";
    for (const ast::UseLeaf& leaf : use->leaves)
      key += (" " + leaf.binding.name.text()).str();
    return key;
  }
  return item->name.name ? item->name.name.text().str() : std::string();
}

/// An assignment or a loop has nothing to show, and `return` no value here.
bool isShown(const ast::Expr* expr) {
  for (ast::ExprKind kind :
       {ast::ExprKind::Assign, ast::ExprKind::While, ast::ExprKind::For, ast::ExprKind::Return,
        ast::ExprKind::Break, ast::ExprKind::Continue, ast::ExprKind::Error})
    if (expr->kind == kind)
      return false;
  return true;
}

} // namespace

Session::Session(SessionSetup setup) : setup_(std::move(setup)) {
  for (ast::Item* item : setup_.input.packages.front().modules.front().file.module->items)
    if (!isa<ast::FunctionItem>(item) || !item->name.name || item->name.name.text() != "main")
      projectItems_.push_back(item);
  reset();
}

Session::~Session() = default;

void Session::reset() {
  items_.clear();
  statements_.clear();
  bindings_.clear();
  machine_.reset();
  linker_.reset();
  module_ = std::make_unique<vm::Module>();
  linker_ = std::make_unique<Linker>(*module_);
  fold_.reset();
  fold_.emplace(fold::FoldContext{
      setup_.input, setup_.policy, stdlib::nativeTable(), setup_.engine, {}, 0, 0});
  fold_->foreign = setup_.foreign;
}

// ---- reading
// ----------------------------------------------------------------------------------------

/// Does the last line hold attributes alone, so that their item is still to come? (It could be a
/// `Vec` as well.)
static bool endsInAttribute(StringRef text) {
  StringRef line = text.rtrim().rsplit('\n').second;
  if (line.empty())
    line = text;
  line = line.trim();
  if (!line.consume_front("#[") || !line.ends_with("]"))
    return false;
  const StringRef word = line.take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
  const StringRef rest = line.drop_front(word.size());
  for (StringRef known : {"derive", "cfg", "test", "allow", "must_use", "inline", "test_case",
                          "ignore", "bench", "repr"})
    if (word == known)
      return rest == "]" || rest.starts_with("(");
  return false;
}

bool Session::isIncomplete(StringRef text) {
  if (endsInAttribute(text))
    return true;
  SourceMap sources;
  Engine engine(sources);
  ast::Context context;
  auto file = sources.addCopy("", text);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  parse::ParseOptions options;
  options.isEntry = true;
  parse::parseFile(*file, sources, context, engine, options);
  engine.sort();
  const SourceFile& source = sources.file(*file);
  const uint32_t end = source.base + uint32_t(text.rtrim().size());
  for (const Diagnostic& each : engine.diagnostics()) {
    if (each.severity != Severity::Error || each.labels.empty())
      continue;
    const StringRef code = spelling(each.code);
    // The end came too soon, or something that was opened was not closed.
    if (code == "GP0003" || (code == "GP0002" && each.labels[0].span.end >= end))
      return true;
    if (code == "GP0018") // a text or a comment that goes on
      return StringRef(each.message).contains("is never closed");
    return false;
  }
  return false;
}

std::optional<Session::Line> Session::parse(StringRef text, StringRef name) {
  auto file = setup_.sources.addCopy(name.str(), text);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  setup_.sources.file(*file).package =
      1; // the root's: regions in it are judged as the project's own
  lastFile_ = *file;
  parse::ParseOptions options;
  options.isEntry = true;
  const ast::File parsed =
      parse::parseFile(*file, setup_.sources, setup_.input.context, setup_.engine, options);
  if (setup_.engine.hasErrors())
    return std::nullopt;
  Line line;
  line.file = *file;
  line.items.assign(parsed.module->items.begin(), parsed.module->items.end());
  line.statements.assign(parsed.statements.begin(), parsed.statements.end());
  return line;
}

void Session::bindValue(Line& line) {
  if (line.statements.empty())
    return;
  auto* last = dyn_cast<ast::ExprStmt>(line.statements.back());
  if (!last || !last->expr || !isShown(last->expr))
    return;
  ast::Context& context = setup_.input.context;
  auto* variable = context.makePlain<ast::Variable>();
  variable->name = context.names.intern("_value");
  variable->span = last->span;
  auto* pattern = context.make<ast::BindingPattern>(last->span);
  pattern->variable = variable;
  auto* let = context.make<ast::LetStmt>(last->span);
  let->pattern = pattern;
  let->value = last->expr;
  line.statements.back() = let;
  line.value = variable;
}

// ---- checking
// ---------------------------------------------------------------------------------------

void Session::assemble(const Line& line, llvm::ArrayRef<ast::Item*> items) {
  ast::Context& context = setup_.input.context;
  ast::File& entry = setup_.input.packages.front().modules.front().file;
  std::vector<ast::Item*> all = projectItems_;
  all.insert(all.end(), items.begin(), items.end());
  entry.module->items = context.list<ast::Item*>(all);
  std::vector<ast::Stmt*> statements = statements_;
  statements.insert(statements.end(), line.statements.begin(), line.statements.end());
  entry.statements = context.list<ast::Stmt*>(statements);
  entry.firstStatement = statements.empty() ? Span() : statements.front()->span;
  setup_.input.implicitMain = nullptr;
}

std::vector<const ast::Variable*> Session::variablesOf(const ast::Stmt* statement) const {
  std::vector<const ast::Variable*> found;
  if (auto* let = dyn_cast<ast::LetStmt>(statement))
    lower::forEachBinding(let->pattern, [&](const ast::Variable* variable) {
      if (!llvm::is_contained(found, variable))
        found.push_back(variable);
    });
  return found;
}

void Session::dropStatement(const ast::Stmt* statement, std::vector<std::string>& gone) {
  llvm::erase(statements_, const_cast<ast::Stmt*>(statement));
  llvm::erase_if(bindings_, [&](const Binding& binding) {
    if (binding.statement != statement)
      return false;
    gone.push_back(binding.variable->name.text().str());
    linker_->forget(binding.variable);
    return true;
  });
}

bool Session::dropBroken(Engine::Mark mark, std::vector<std::string>& gone) {
  std::vector<const ast::Stmt*> broken;
  size_t seen = 0;
  for (const Diagnostic& each : setup_.engine.diagnostics()) {
    if (seen++ < mark.diagnostics || each.severity != Severity::Error || each.labels.empty())
      continue;
    for (const ast::Stmt* statement : statements_)
      if (statement->span.contains(each.labels[0].span) && !llvm::is_contained(broken, statement))
        broken.push_back(statement);
  }
  for (const ast::Stmt* statement : broken)
    dropStatement(statement, gone);
  return !broken.empty();
}

bool Session::checkLine(Line& line, std::vector<ast::Item*>& items, std::vector<std::string>& gone,
                        bool folds) {
  const Engine::Mark mark = setup_.engine.mark();
  bool redefines = false;
  items = items_;
  for (ast::Item* made : line.items) {
    const std::string key = keyOf(made, setup_.sources);
    const size_t before = items.size();
    llvm::erase_if(items, [&](ast::Item* old) {
      return !key.empty() && keyOf(old, setup_.sources) == key &&
             !llvm::is_contained(line.items, old);
    });
    redefines |= items.size() != before;
    items.push_back(made);
  }
  fold_->round = 0;
  for (;;) {
    assemble(line, items);
    program_.reset();
    program_ = check::check(setup_.input, setup_.engine);
    if (setup_.engine.hasErrors()) {
      // A new definition may not fit what was bound with the old one: such bindings go.
      if (!redefines || !dropBroken(mark, gone))
        return false;
      setup_.engine.rollBack(mark);
      continue;
    }
    if (!folds)
      return true;
    switch (fold::foldRound(*fold_, *program_)) {
    case fold::FoldOutcome::Nothing:
      return true;
    case fold::FoldOutcome::Failed:
      return false;
    case fold::FoldOutcome::Spliced:
      break;
    }
  }
}

Session::Answer Session::typeOf(StringRef text) {
  Answer answer;
  auto line = parse(text, "<type>");
  std::vector<ast::Item*> items;
  if (line)
    bindValue(*line);
  const bool isExpression =
      line && line->value && line->items.empty() && line->statements.size() == 1;
  const std::vector<ast::Stmt*> statements = statements_;
  const std::vector<Binding> bindings = bindings_;
  if (!line || (isExpression && !checkLine(*line, items, answer.gone, /*folds=*/false))) {
    answer.kind = Answer::Kind::Refused;
    return answer;
  }
  if (!isExpression) {
    answer.kind = Answer::Kind::Refused;
    answer.message = "`:type` takes one expression, for instance `:type 1 + 2`";
    return answer;
  }
  answer.type = program_->print(line->value->type);
  return answer;
}

// ---- running
// ----------------------------------------------------------------------------------------

Session::Answer Session::describe(const vm::TrapDetails& trap) {
  Answer answer;
  answer.kind = Answer::Kind::Failed;
  if (wasInterrupted()) { // what waited may have ended as if the program did
    answer.message = "interrupted";
    return answer;
  }
  if (trap.kind == vm::TrapKind::Exit) {
    answer.kind = Answer::Kind::Exited;
    answer.exitCode = int(trap.exitCode & 0xff);
    return answer;
  }
  llvm::raw_string_ostream out(answer.message);
  const auto place = [&](Span span) {
    const FileId file = setup_.sources.fileOf(span);
    if (file == FileId::None)
      return;
    const LineColumn at = setup_.sources.locate(span);
    out << " at " << escapeForText(setup_.sources.file(file).name) << ':' << at.line << ':'
        << at.column;
  };
  out << (trap.kind == vm::TrapKind::Panic ? "panic: " : "") << escapeForTextBlock(trap.message);
  for (const vm::WaitingGoroutine& waiter : trap.waiters) {
    out << "\n  "
        << (waiter.number == 0 ? "this line" : "goroutine " + std::to_string(waiter.number));
    if (!waiter.label.empty())
      out << " (" << escapeForText(waiter.label) << ')';
    out << " waits for " << waiter.what;
    place(waiter.at.span);
  }
  if (trap.waitersOmitted)
    out << "\n  and " << trap.waitersOmitted << " more goroutines";
  if (trap.lent) {
    out << "\n  borrowed in " << escapeForText(trap.lent->function);
    place(trap.lent->span);
    out << ", until the call there is done";
  }
  for (const vm::TraceFrame& frame : trap.trace) {
    out << "\n  in " << escapeForText(frame.function);
    place(frame.span);
  }
  if (trap.traceOmitted)
    out << "\n  and " << trap.traceOmitted << " more calls";
  return answer;
}

void Session::reportGoroutines(Answer& answer) {
  vm::Scheduler* scheduler = machine_->schedulerIfAny();
  if (!scheduler)
    return;
  for (const vm::UnobservedFailure& failure : scheduler->takeUnobserved()) {
    std::string note = "goroutine " + std::to_string(failure.number);
    if (!failure.label.empty())
      note += " (" + escapeForText(failure.label) + ")";
    note += " failed: ";
    note += failure.trap ? describe(*failure.trap).message : escapeForTextBlock(failure.error);
    answer.notes.push_back(std::move(note));
  }
}

Session::Answer Session::evaluate(StringRef text, StringRef name) {
  Answer answer;
  answer.kind = Answer::Kind::Refused;
  auto line = parse(text, name);
  if (!line)
    return answer;
  // As of the project's files: lines are the program.
  llvm::erase_if(line->items, [&](ast::Item* item) {
    if (!isa<ast::FunctionItem>(item) || !item->name.name || item->name.name.text() != "main")
      return false;
    answer.notes.push_back("`main` is left out, since the lines are what runs");
    return true;
  });
  for (const ast::Stmt* statement : line->statements)
    if (auto* let = dyn_cast<ast::LetStmt>(statement); let && !let->value) {
      answer.message = "a `let` without a value; write it with one, since it runs at once";
      return answer;
    }
  bindValue(*line);

  // What a failed line changed is put back.
  const std::vector<ast::Stmt*> statements = statements_;
  const std::vector<Binding> bindings = bindings_;
  std::vector<ast::Item*> items;
  if (!checkLine(*line, items, answer.gone, /*folds=*/true)) {
    statements_ = statements;
    bindings_ = bindings;
    answer.gone.clear();
    return answer;
  }
  answer.kind = Answer::Kind::Done;
  return run(*line, std::move(items), std::move(answer));
}

Session::Answer Session::run(Line& line, std::vector<ast::Item*> items, Answer answer) {
  const auto refuse = [&](std::string message) {
    answer.kind = Answer::Kind::Refused;
    answer.message = std::move(message);
    return answer;
  };
  if (line.statements.empty()) {
    items_ = std::move(items);
    return answer;
  }
  // The variables of the whole `main`, in order of their statements.
  std::vector<const ast::Variable*> variables;
  variables.reserve(bindings_.size());
  for (const Binding& binding : bindings_)
    variables.push_back(binding.variable);
  lower::SessionLine request;
  request.firstStatement = statements_.size();
  request.earlierVariables = variables.size();
  std::vector<Binding> made;
  for (const ast::Stmt* statement : line.statements)
    for (const ast::Variable* variable : variablesOf(statement)) {
      if (variable->type && variable->type->isMutableRef())
        return refuse("`" + variable->name.text().str() +
                      "` would be a reference that outlives its line, which is not built yet");
      variables.push_back(variable);
      if (variable != line.value)
        made.push_back({variable, statement});
    }
  request.variables = variables;
  std::vector<const ast::Item*> globalItems;
  lower::LowerRequest lowering;
  lowering.session = &request;
  lowering.globalItems = &globalItems;
  auto module = lower::lower(*program_, lowering, setup_.engine);
  if (!module) {
    const std::string why = llvm::toString(module.takeError());
    return refuse(setup_.engine.hasErrors() ? std::string() : why);
  }

  // Statics keep their values over lines; constants are made anew, and variables are known by
  // themselves.
  std::vector<GlobalKey> keys;
  for (size_t i = 0; i < module->globals.size(); ++i) {
    GlobalKey key = nullptr;
    if (i < variables.size())
      key = variables[i];
    else if (i < globalItems.size() && globalItems[i] && isa<ast::StaticItem>(globalItems[i]))
      key = globalItems[i];
    keys.push_back(key);
  }
  auto linked = linker_->add(*module, keys);
  if (!linked)
    return refuse(llvm::toString(linked.takeError()));
  if (!linked->changedGlobals.empty()) {
    // A line decided about a binding's type anew: its type was fixed when it got its value.
    const uint32_t global = linked->changedGlobals.front();
    if (global >= bindings_.size())
      return refuse("a static of this name has a value of another type; `:reset` starts afresh");
    if (!line.items.empty()) { // a new definition, which the old value does not fit
      dropStatement(bindings_[global].statement, answer.gone);
      std::vector<ast::Item*> again;
      if (!checkLine(line, again, answer.gone, /*folds=*/true))
        return refuse("");
      return run(line, std::move(again), std::move(answer));
    }
    return refuse("`" + variables[global]->name.text().str() +
                  "` has its type since the line that made it, and this one needs it to be " +
                  program_->print(variables[global]->type) + "; write the type at its `let`");
  }

  if (!machine_) {
    vm::VmOptions options;
    options.mode = vm::Mode::Program;
    options.host = setup_.makeHost();
    options.foreign = setup_.foreign;
    auto machine = vm::Vm::create(*module_, stdlib::nativeTable(), std::move(options));
    if (!machine)
      return refuse("the program does not verify: " + llvm::toString(machine.takeError()));
    machine_ = std::move(*machine);
  } else if (llvm::Error error = machine_->extend(stdlib::nativeTable())) {
    std::string why = "the program does not verify: " + llvm::toString(std::move(error));
    reset();
    return refuse(why + "; the session starts afresh");
  }

  vm::Value result = 0;
  vm::Trap trap, late;
  {
    Interruptible guard(*machine_);
    trap = machine_->runPart(linked->entry, result);
    if (!trap)
      late = machine_->settle();
  }
  setup_.flush(*machine_);
  reportGoroutines(answer);
  const auto failWith = [&](const vm::TrapDetails& details) {
    Answer failed = describe(details);
    failed.gone = std::move(answer.gone);
    failed.notes = std::move(answer.notes);
    return failed;
  };
  if (trap)
    return failWith(*trap);
  if (late && late->kind == vm::TrapKind::Exit)
    return failWith(*late);
  if (!late && wasInterrupted())
    answer.notes.push_back("interrupted; goroutines that wait go on with the next line");
  // `?` may have ended the line with an error: nothing after it ran.
  const vm::LayoutId resultId = module_->functions[vm::index(linked->entry)].result;
  const vm::Layout& resultLayout = module_->layouts[vm::index(resultId)];
  if (resultLayout.kind == vm::LayoutKind::Enum && result) {
    const vm::StructObject* object = vm::asStruct(result);
    const vm::VariantLayout& variant = resultLayout.variants[object->tag];
    if (variant.name == "Err") {
      vm::TextBuffer buffer(kLongestValue);
      if (!variant.fields.empty())
        (void)vm::formatDisplay(*machine_, object->slots()[0], variant.fields[0], buffer);
      answer.kind = Answer::Kind::Failed;
      answer.message = escapeForTextBlock(buffer.text());
    }
  }
  machine_->releaseValue(result, resultId);
  if (answer.kind == Answer::Kind::Failed)
    return answer;

  if (line.value && line.value->type && !line.value->type->isUnit() &&
      !line.value->type->is(types::Kind::Never)) {
    const uint32_t global = linked->globals[llvm::find(variables, line.value) - variables.begin()];
    const vm::LayoutId layout =
        module_->layouts[vm::index(module_->globals[global].layout)].element;
    vm::TextBuffer buffer(kLongestValue);
    vm::Trap shown;
    {
      Interruptible guard(*machine_);
      shown = vm::formatDebug(*machine_, machine_->globalContent(global), layout, buffer);
    }
    setup_.flush(*machine_);
    if (shown && !buffer.overflowed())
      return failWith(*shown);
    answer.value = escapeForTextBlock(buffer.text());
    if (buffer.overflowed())
      answer.value += "...";
    answer.type = program_->print(line.value->type);
  }
  items_ = std::move(items);
  for (const ast::Stmt* statement : line.statements)
    if (isa<ast::LetStmt>(statement) && !(line.value && statement == line.statements.back()))
      statements_.push_back(const_cast<ast::Stmt*>(statement));
  bindings_.insert(bindings_.end(), made.begin(), made.end());
  // The line itself had ended well, and its bindings are made.
  return late ? failWith(*late) : answer;
}

std::vector<std::string> Session::words() const {
  llvm::StringSet<> seen;
  std::vector<std::string> result;
  const auto add = [&](StringRef word) {
    if (!word.empty() && seen.insert(word).second)
      result.push_back(word.str());
  };
  for (const Binding& binding : bindings_)
    add(binding.variable->name.text());
  for (const std::vector<ast::Item*>* list : {&items_, &projectItems_})
    for (const ast::Item* item : *list) {
      if (auto* use = dyn_cast<ast::UseItem>(item))
        for (const ast::UseLeaf& leaf : use->leaves)
          add(leaf.binding.name.text());
      else if (item->name.name)
        add(item->name.name.text());
    }
  for (const resolve::SourceModule& module : setup_.input.packages.front().modules)
    if (!module.path.empty())
      add(module.path.front());
  for (StringRef word :
       {"let",    "mut",   "fn",       "struct",  "enum",  "trait",  "impl",      "use",
        "match",  "if",    "else",     "for",     "while", "loop",   "return",    "comptime",
        "true",   "false", "println!", "format!", "dbg!",  "assert", "assert_eq", "Some",
        "None",   "Ok",    "Err",      "String",  "Vec",   "Map",    "Set",       "Option",
        "Result", "self",  "std",      ":help",   ":type", ":reset", ":load",     ":quit"})
    add(word);
  for (StringRef module : stdlib::moduleNames())
    if (module != "intrinsics" && module != "core")
      add(("std::" + module).str());
  llvm::sort(result);
  return result;
}

} // namespace gos::repl
