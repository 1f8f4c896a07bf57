#include "compiler/testing/discovery.h"

#include "compiler/ast/clone.h"
#include "compiler/lex/lexer.h"
#include "compiler/parse/parse.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::testing {
namespace {

using ast::Attribute;
using ast::FunctionItem;
using ast::Item;
using ast::ModuleItem;
using lex::TokenKind;
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

constexpr unsigned kMaxModules =
    parse::kMaxNesting + 8; // inside each other; the parser stops before

bool isCalled(const Attribute& attribute, StringRef name) {
  return attribute.path.segments.size() == 1 &&
         attribute.path.segments[0].ident.name.text() == name;
}

const Attribute* find(const Item& item, StringRef name) {
  for (const Attribute& attribute : item.attributes)
    if (isCalled(attribute, name))
      return &attribute;
  return nullptr;
}

class Discovery {
public:
  Discovery(check::ProgramInput& input, Engine& engine) : input_(input), engine_(engine) {}

  std::vector<Test> run() {
    if (input_.packages.empty())
      return {};
    for (resolve::SourceModule& module : input_.packages.front().modules) {
      file_ = module.file.id;
      if (module.file.module)
        visit(module.file.module, llvm::join(module.path, "::"), 0);
    }
    return std::move(tests_);
  }

private:
  void visit(ModuleItem* module, const std::string& path, unsigned depth) {
    if (depth > kMaxModules)
      return;
    llvm::SmallVector<Item*, 32> items;
    bool grew = false;
    for (Item* item : module->items) {
      items.push_back(item);
      if (auto* function = dyn_cast<FunctionItem>(item)) {
        const size_t before = items.size();
        visitFunction(function, path, items);
        grew |= items.size() != before;
      } else if (auto* inner = dyn_cast<ModuleItem>(item)) {
        if (inner->hasBody)
          visit(inner, join(path, inner->name.name.text()), depth + 1);
      } else if (auto* impl = dyn_cast<ast::ImplItem>(item)) {
        for (const Item* member : impl->items)
          refuseMember(*member);
      }
    }
    if (grew)
      module->items = input_.context.list<Item*>(items);
  }

  static std::string join(StringRef path, StringRef name) {
    return path.empty() ? name.str() : (path + "::" + name).str();
  }

  void malformed(Span span, const std::string& why) {
    engine_.report(span, diag::MalformedAttribute, why);
  }

  /// A method has no value to be called on.
  void refuseMember(const Item& member) {
    for (StringRef name : {"test", "test_case"})
      if (const Attribute* attribute = find(member, name))
        malformed(attribute->span,
                  ("`" + name + "` stands on a method; a test is a function of a module").str());
  }

  void visitFunction(FunctionItem* function, StringRef path, llvm::SmallVectorImpl<Item*>& items) {
    const Attribute* test = find(*function, "test");
    const Attribute* first = find(*function, "test_case");
    if (!test && !first)
      return;
    const Span place = test ? test->span : first->span;
    if (function->isGeneric())
      return malformed(place, "a test has no type parameters");
    if (!first && !function->parameters.empty())
      return malformed(place,
                       "the function has parameters; give their values with `#[test_case(..)]`");
    Test made;
    made.bareName = function->name.name.text().str();
    made.file = input_.sources.file(file_).name;
    made.span = function->name.span;
    made.line = input_.sources.locate(made.span).line;
    made.function = function;
    readOptions(*function, made);
    if (!first) {
      made.name = join(path, made.bareName);
      tests_.push_back(std::move(made));
      return;
    }
    for (const Attribute& attribute : function->attributes)
      if (isCalled(attribute, "test_case"))
        addCase(*function, attribute, made, path, items);
  }

  void readOptions(const FunctionItem& function, Test& made) {
    if (const Attribute* attribute = find(function, "ignore")) {
      made.isIgnored = true;
      made.why = textOf(*attribute).value_or("");
    }
    if (const Attribute* attribute = find(function, "skip")) {
      made.isSkipped = true;
      made.why = textOf(*attribute).value_or("");
    }
    if (const Attribute* attribute = find(function, "timeout")) {
      made.timeoutMilliseconds = parseDuration(textOf(*attribute).value_or(""));
      if (!made.timeoutMilliseconds)
        malformed(attribute->span, "`timeout` takes a duration, for instance `#[timeout(\"2s\")]`");
    }
  }

  /// The text of `#[name("text")]` and `#[name = "text"]`, escapes as they are written.
  std::optional<std::string> textOf(const Attribute& attribute) {
    if (const auto* text = llvm::dyn_cast_or_null<ast::StringExpr>(attribute.value))
      return text->value.str();
    if (!attribute.argumentSpan.valid())
      return std::nullopt;
    StringRef text = input_.sources.text(attribute.argumentSpan).trim();
    if (text.size() < 2 || !text.consume_front("\"") || !text.consume_back("\""))
      return std::nullopt;
    return text.str();
  }

  /// Literals with commas between them, as they are written: `1, "a"`. None after a report.
  std::optional<std::string> readArguments(const Attribute& attribute, size_t& count) {
    auto refuse = [&]() -> std::optional<std::string> {
      malformed(attribute.span, "`test_case` takes literals: booleans, numbers and strings");
      return std::nullopt;
    };
    count = 0;
    if (!attribute.argumentSpan.valid())
      return refuse();
    const SourceFile& file = input_.sources.file(file_);
    const lex::TokenBuffer tokens = lex::lexRange(file, attribute.argumentSpan.begin - file.base,
                                                  attribute.argumentSpan.end - file.base, engine_);
    std::string text;
    for (size_t at = 0; tokens[at].kind != TokenKind::EndOfFile;) {
      if (!text.empty()) {
        if (tokens[at].kind != TokenKind::Comma)
          return refuse();
        if (tokens[++at].kind == TokenKind::EndOfFile)
          break;
        text += ", ";
      }
      bool isNumber = tokens[at].kind == TokenKind::Minus;
      if (isNumber) {
        text += "-";
        ++at;
      }
      const TokenKind kind = tokens[at].kind;
      const bool number = kind == TokenKind::Int || kind == TokenKind::Float;
      const bool other = kind == TokenKind::String || kind == TokenKind::RawString ||
                         kind == TokenKind::True || kind == TokenKind::False;
      if (!number && (isNumber || !other))
        return refuse();
      text += input_.sources.text(tokens[at].span());
      ++count;
      ++at;
    }
    return text;
  }

  /// A function without parameters whose value is the call with the arguments of one case.
  void addCase(const FunctionItem& function, const Attribute& attribute, const Test& pattern,
               StringRef path, llvm::SmallVectorImpl<Item*>& items) {
    size_t count = 0;
    const std::optional<std::string> arguments = readArguments(attribute, count);
    if (!arguments)
      return;
    if (count != function.parameters.size())
      return malformed(attribute.span, "the case has " + llvm::utostr(count) +
                                           " values; the function takes " +
                                           llvm::utostr(function.parameters.size()));
    auto text = input_.sources.addCopy(input_.sources.file(file_).name,
                                       pattern.bareName + "(" + *arguments + ")");
    if (!text) {
      llvm::consumeError(text.takeError());
      return;
    }
    SourceFile& file = input_.sources.file(*text);
    file.parent = attribute.span;
    file.package = input_.sources.file(file_).package;
    ast::Context& context = input_.context;
    ast::Expr* call = parse::parseExpressionText(*text, input_.sources, context, engine_);
    if (!call)
      return;
    Test made = pattern;
    made.bareName += "[" + *arguments + "]";
    made.name = join(path, made.bareName);
    made.line = input_.sources.locate(attribute.span).line;
    auto* item = context.make<FunctionItem>(attribute.span);
    item->name = {context.names.intern(made.bareName), function.name.span};
    if (function.returnType)
      item->returnType = ast::Cloner(context).clone(function.returnType);
    item->body = context.make<ast::BlockExpr>(call->span);
    item->body->tail = call;
    item->body->closeBrace = {call->span.end - 1, call->span.end};
    made.function = item;
    items.push_back(item);
    tests_.push_back(std::move(made));
  }

  check::ProgramInput& input_;
  Engine& engine_;
  FileId file_ = FileId::None;
  std::vector<Test> tests_;
};

} // namespace

std::vector<Test> findTests(check::ProgramInput& input, Engine& engine) {
  return Discovery(input, engine).run();
}

void settleResults(std::vector<Test>& tests, check::Program& program, Engine& engine) {
  for (Test& test : tests) {
    types::Type* result = program.signature(test.function).result;
    if (!result || result->isUnit() || result->is(types::Kind::Never) ||
        result->is(types::Kind::Error))
      continue;
    test.answersResult = result->is(types::Kind::Enum) && result->item == program.lang.result;
    if (!test.answersResult)
      engine.report(test.span, diag::MalformedAttribute,
                    "a test answers nothing or a `Result`; this one answers `" +
                        program.print(result) + "`");
  }
}

std::optional<uint64_t> parseDuration(StringRef text) {
  uint64_t unit = 0, number = 0;
  if (text.consume_back("ms"))
    unit = 1;
  else if (text.consume_back("s"))
    unit = 1000;
  else if (text.consume_back("m"))
    unit = 60'000;
  if (unit == 0 || text.empty() || !llvm::all_of(text, llvm::isDigit) ||
      text.getAsInteger(10, number) || number == 0 || number > (uint64_t(1) << 40))
    return std::nullopt;
  return number * unit;
}

} // namespace gos::testing
