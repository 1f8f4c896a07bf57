// What holds of every source: laying out again changes nothing, and the space between two tokens
// does not matter.

#include "compiler/format/format.h"
#include "compiler/format/trivia.h"
#include "diagnostics/engine.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using gos::format::formatText;
using gos::format::Outcome;
using llvm::StringRef;

/// Every source of ours, those of the goldens and of the fuzzers' corpora included.
std::vector<std::string> sources() {
  std::vector<std::string> files;
  for (const char* folder : {"stdlib", "examples", "bench", "tests"}) {
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator
             at(std::string(GOS_SOURCE_DIR) + "/" + folder, error, /*follow_symlinks=*/false),
         end;
         at != end && !error; at.increment(error))
      if (StringRef(at->path()).ends_with(".gos"))
        files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The same program with other space between its tokens: as many newlines, but empty lines may
/// become more.
std::string mutated(StringRef text, std::mt19937& random) {
  gos::SourceMap map;
  gos::Engine engine(map);
  auto added = map.addCopy("", text);
  REQUIRE(bool(added));
  const gos::SourceFile& file = map.file(*added);
  const auto tokens = gos::lex::lexFile(file, engine);
  std::string result;
  const bool crlf = random() % 4 == 0;
  const auto space = [&](StringRef between) {
    while (!between.empty()) {
      const size_t comment = between.find('/');
      StringRef blank = between.take_front(comment);
      const size_t newlines = blank.count('\n');
      for (size_t i = 0; i < newlines; ++i) {
        result.append(random() % 3, random() % 2 ? ' ' : '\t');
        result += crlf ? "\r\n" : "\n";
        if (newlines > 1 && i == 0 && random() % 2)
          result += "\n";
      }
      if (newlines != 0 || !blank.empty())
        result.append((newlines == 0) + random() % 7, random() % 3 ? ' ' : '\t');
      if (comment == StringRef::npos)
        return;
      between = between.drop_front(comment);
      const size_t end = between.starts_with("/*") ? between.find("*/") + 2
                                                   : std::min(between.find('\n'), between.size());
      result += between.take_front(end);
      between = between.drop_front(end);
    }
  };
  size_t at = 0;
  if (text.starts_with("#!") && !text.starts_with("#![")) {
    at = text.find('\n');
    result += text.take_front(at);
  }
  for (const auto& token : tokens) {
    const size_t begin = token.begin - file.base, end = token.end - file.base;
    space(text.slice(at, begin));
    result += text.slice(begin, end);
    at = end;
    if (token.kind == gos::lex::TokenKind::EndOfFile)
      break;
  }
  return result;
}

} // namespace

TEST_CASE("every source of ours can be laid out, and laying it out again changes nothing") {
  size_t formatted = 0, refused = 0;
  for (const std::string& path : sources()) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    REQUIRE(bool(buffer));
    const auto once = formatText((*buffer)->getBuffer());
    CHECK_MESSAGE(once.outcome != Outcome::Failed, path << ": " << once.why);
    if (once.outcome != Outcome::Formatted) {
      ++refused;
      continue;
    }
    ++formatted;
    const auto twice = formatText(once.text);
    CHECK_MESSAGE(twice.text == once.text, path);
    for (StringRef rest = once.text; !rest.empty();) {
      const auto [line, behind] = rest.split('\n');
      CHECK_MESSAGE((line.empty() || line.back() != '\t'), path);
      rest = behind;
    }
  }
  CHECK(formatted > 200);
  CHECK(refused > 20); // what is no program is among them
}

TEST_CASE("space between tokens does not matter to the layout") {
  std::mt19937 random(20);
  size_t tried = 0;
  for (const std::string& path : sources()) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    REQUIRE(bool(buffer));
    const auto once = formatText((*buffer)->getBuffer());
    if (once.outcome != Outcome::Formatted)
      continue;
    for (unsigned round = 0; round < 2; ++round) {
      const std::string other = mutated(once.text, random);
      const auto again = formatText(other);
      const bool isSame = again.outcome == Outcome::Formatted && again.text == once.text;
      CHECK_MESSAGE(isSame, path << ": " << again.why << "\n"
                                 << gos::format::unifiedDiff(once.text, again.text));
      ++tried;
    }
  }
  CHECK(tried > 400);
}

TEST_CASE("a source that is cut off anywhere is laid out or refused, and never damaged") {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(GOS_SOURCE_DIR) +
                                            "/tests/programs/pipelines/main.gos");
  REQUIRE(bool(buffer));
  const StringRef text = (*buffer)->getBuffer();
  for (size_t end = 0; end < text.size(); end += 37) {
    const auto result = formatText(text.take_front(end));
    CHECK_MESSAGE(result.outcome != Outcome::Failed, end << ": " << result.why);
  }
}
