#include "stdlib/program/source_lines.h"

#include <doctest/doctest.h>

using namespace gos;
using namespace gos::program;

namespace {

/// Offsets in tens are lines of `a.gos`, from 1000 of `b.gos`; 500 to 599 have no place.
std::optional<Place> placeOf(Span span) {
  if (span.begin >= 500 && span.begin < 600)
    return std::nullopt;
  return Place{span.begin < 1000 ? "a.gos" : "b.gos", span.begin % 1000 / 10 + 1,
               span.begin % 10 + 1};
}

vm::Module sampleModule(uint32_t shift = 0) {
  vm::Module module;
  vm::Function function;
  function.span = {12 + shift, 20 + shift};
  function.lines = {{0, {12 + shift, 13 + shift}},
                    {1, {1035 + shift, 1036 + shift}},
                    {2, {}},
                    {3, {510 + shift, 511 + shift}}};
  module.functions.push_back(function);
  return module;
}

std::string written(const std::optional<Place>& place) {
  return place
             ? place->file + ":" + std::to_string(place->line) + ":" + std::to_string(place->column)
             : "nowhere";
}

bool refused(llvm::StringRef bytes) {
  llvm::Expected<SourceLines> lines = SourceLines::parse(bytes);
  if (lines)
    return false;
  llvm::consumeError(lines.takeError());
  return true;
}

} // namespace

TEST_CASE("a renumbered module finds the places that its spans had") {
  vm::Module module = sampleModule();
  const SourceLines lines = SourceLines::renumber(module, placeOf);
  const vm::Function& function = module.functions.front();
  CHECK(lines.size() == 2);
  CHECK(written(lines.placeOf(function.span)) == "a.gos:2:3");
  CHECK(written(lines.placeOf(function.lines[0].span)) == "a.gos:2:3");
  CHECK(written(lines.placeOf(function.lines[1].span)) == "b.gos:4:6");
  CHECK(written(lines.placeOf(function.lines[2].span)) == "nowhere");
  CHECK(written(lines.placeOf(function.lines[3].span)) == "nowhere");
}

TEST_CASE("a module is the same wherever its sources stood") {
  vm::Module one = sampleModule(), other = sampleModule(4000);
  const SourceLines a = SourceLines::renumber(one, placeOf);
  const SourceLines b = SourceLines::renumber(
      other, [](Span span) { return placeOf({span.begin - 4000, span.end - 4000}); });
  CHECK(vm::serialise(one) == vm::serialise(other));
  CHECK(a.serialise() == b.serialise());
}

TEST_CASE("a table reads back as it was written") {
  vm::Module module = sampleModule();
  const SourceLines lines = SourceLines::renumber(module, placeOf);
  llvm::Expected<SourceLines> read = SourceLines::parse(lines.serialise());
  REQUIRE(bool(read));
  CHECK(read->serialise() == lines.serialise());
  CHECK(written(read->placeOf({1, 2})) == "b.gos:4:6");
  CHECK(written(read->placeOf({2, 3})) == "nowhere");
  CHECK(written(read->placeOf({0xffffffff, 0xffffffff})) == "nowhere");
}

TEST_CASE("a table that is cut off, longer or names a file that is not there is refused") {
  vm::Module module = sampleModule();
  const std::string bytes = SourceLines::renumber(module, placeOf).serialise();
  for (size_t size = 0; size != bytes.size(); ++size) {
    CAPTURE(size);
    CHECK(refused(llvm::StringRef(bytes).take_front(size)));
  }
  CHECK(refused(bytes + "x"));
  CHECK(refused(bytes + std::string(12, '\0')));
  std::string wrongFile = bytes;
  wrongFile[wrongFile.size() - 12] = 2;
  CHECK(refused(wrongFile));
  std::string manyFiles = bytes;
  manyFiles[3] = '\x7f';
  CHECK(refused(manyFiles));
}
