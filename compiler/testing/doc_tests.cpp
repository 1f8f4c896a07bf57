#include "compiler/testing/doc_tests.h"

#include "compiler/document/document.h"
#include "compiler/parse/parse.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::testing {
namespace {

using ast::FunctionItem;
using ast::Item;
using ast::ModuleItem;
using llvm::dyn_cast;
using llvm::StringRef;

/// Where the place of a text is kept by empty lines above it; past that a text begins at line 1.
constexpr uint32_t kMaxPaddingLines = 200'000;

struct Block {
  document::CodeBlock code;
  ModuleItem* module = nullptr; // whose scope it has
  FileId file = FileId::None;
};

/// The innermost module of a file whose text holds the span.
ModuleItem* innermost(ModuleItem* module, Span span) {
  for (bool found = true; found;) {
    found = false;
    for (Item* item : module->items)
      if (auto* inner = dyn_cast<ModuleItem>(item);
          inner && inner->hasBody && inner->span.contains(span)) {
        module = inner;
        found = true;
        break;
      }
  }
  return module;
}

std::vector<Block> blocksOf(const check::ProgramInput& input) {
  std::vector<Block> result;
  if (input.packages.empty())
    return result;
  const resolve::Package& package = input.packages.front();
  for (const resolve::SourceModule& module : package.modules) {
    if (!module.file.module)
      continue;
    const document::ParsedFile file{llvm::join(module.path, "::"), &module.file};
    const document::Documentation documentation =
        document::documentPackage(package.name, {file}, input.sources, document::Take::All);
    std::vector<Block> own;
    for (document::CodeBlock& code : document::codeBlocks(documentation))
      if (code.isTest() && code.span.valid()) {
        auto* around = innermost(module.file.module, code.span);
        own.push_back({std::move(code), around, module.file.id});
      }
    llvm::stable_sort(
        own, [](const Block& a, const Block& b) { return a.code.span.begin < b.code.span.begin; });
    result.insert(result.end(), std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
  }
  return result;
}

Test testOf(const Block& block, const SourceMap& sources) {
  Test test;
  test.isDocTest = true;
  const std::string owner = block.code.owner.empty() ? "module" : block.code.owner;
  test.bareName = owner + " (doc-test, line " + llvm::utostr(block.code.line) + ")";
  test.name = test.bareName;
  test.file = sources.file(block.file).name;
  test.line = block.code.line;
  test.span = block.code.span;
  return test;
}

/// Does the code declare a `main` that is to be called?
bool hasMain(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.ltrim();
    line.consume_front("pub ");
    if (line.starts_with("fn main(") || line.starts_with("fn main ("))
      return true;
  }
  return false;
}

/// The code at its own lines and columns: what is not code is blank.
std::string textOf(const Block& block, const SourceMap& sources) {
  std::string text;
  if (block.code.line > 1 && block.code.line < kMaxPaddingLines)
    text.assign(block.code.line - 2, '\n');
  text += "fn doc_test() {\n";
  // A span that begins inside its first line: the columns before it count too.
  const SourceFile& file = sources.file(block.file);
  StringRef content = file.content();
  uint32_t begin = block.code.span.begin - file.base;
  while (begin > 0 && content[begin - 1] != '\n')
    --begin;
  StringRef rest = content.slice(begin, block.code.span.end - file.base);
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    const size_t mark = line.find("//");
    std::string shown = line.str();
    for (size_t i = 0; i != shown.size() && mark != StringRef::npos && i < mark + 2; ++i)
      if (shown[i] != '\t')
        shown[i] = ' ';
    if (mark != StringRef::npos && mark + 2 < shown.size() &&
        (shown[mark + 2] == '/' || shown[mark + 2] == '!'))
      shown[mark + 2] = ' ';
    text += shown + "\n";
  }
  // A value of its own, so that a last expression of any type is a statement.
  text += hasMain(block.code.text) ? "main() }\n" : "() }\n";
  return text;
}

} // namespace

std::vector<Test> findDocTests(const check::ProgramInput& input) {
  std::vector<Test> tests;
  for (const Block& block : blocksOf(input))
    tests.push_back(testOf(block, input.sources));
  return tests;
}

DocTests addDocTests(check::ProgramInput& input, const llvm::StringSet<>& without, Engine& engine) {
  DocTests result;
  for (const Block& block : blocksOf(input)) {
    Test test = testOf(block, input.sources);
    if (without.contains(test.file + "\n" + test.name))
      continue;
    auto added = input.sources.addCopy(test.file, textOf(block, input.sources));
    if (!added) {
      llvm::consumeError(added.takeError());
      continue;
    }
    input.sources.file(*added).package = input.sources.file(block.file).package;
    parse::ParseOptions options;
    options.isTest = true;
    const ast::File file = parse::parseFile(*added, input.sources, input.context, engine, options);
    result.byFile[uint32_t(*added)] = uint32_t(result.tests.size());
    // Code that closes our brace and goes on is no block.
    const bool isOne = file.module && file.module->items.size() == 1;
    auto* function = isOne ? dyn_cast<FunctionItem>(file.module->items.front()) : nullptr;
    if (function) {
      function->name.name = input.context.names.intern(test.name);
      llvm::SmallVector<Item*, 32> items(block.module->items.begin(), block.module->items.end());
      items.push_back(function);
      block.module->items = input.context.list<Item*>(items);
    } else if (!engine.hasErrors()) {
      const uint32_t at = input.sources.file(*added).base;
      engine.report(Span{at, at + 1}, diag::MalformedConstruct, "doc-test",
                    "its braces do not match");
    }
    test.function = function;
    result.tests.push_back(std::move(test));
  }
  return result;
}

std::optional<uint32_t> docTestOf(const DocTests& tests, const SourceMap& sources, Span span) {
  for (unsigned depth = 0; depth != 64 && span.valid(); ++depth) {
    const FileId file = sources.fileOf(span);
    if (file == FileId::None)
      return std::nullopt;
    if (auto found = tests.byFile.find(uint32_t(file)); found != tests.byFile.end())
      return found->second;
    span = sources.file(file).parent; // generated text: what it stands in
  }
  return std::nullopt;
}

} // namespace gos::testing
