#include "diagnostics/source_map.h"

#include <doctest/doctest.h>

using namespace gos;

namespace {

FileId addText(SourceMap& sources, std::string name, llvm::StringRef text) {
  return llvm::cantFail(sources.addCopy(std::move(name), text));
}

Span spanOf(const SourceMap& sources, FileId file, uint32_t begin, uint32_t end) {
  const uint32_t base = sources.file(file).base;
  return {base + begin, base + end};
}

} // namespace

TEST_CASE("a place counts lines and Unicode scalars from one") {
  SourceMap sources;
  const FileId file = addText(sources, "a.gos", "ab\ncafé x\n\nend");
  CHECK(sources.locate(file, 0).line == 1);
  CHECK(sources.locate(file, 0).column == 1);
  CHECK(sources.locate(file, 3).line == 2);
  CHECK(sources.locate(file, 9).line == 2);
  CHECK(sources.locate(file, 9).column == 6); // é is two bytes
  CHECK(sources.locate(file, 11).line == 3);
  CHECK(sources.locate(file, 12).line == 4);
}

TEST_CASE("locating is total over any offset of any file") {
  SourceMap sources;
  CHECK(sources.locate(FileId::None, 7).line == 1);
  CHECK(sources.locate(FileId(3), 7).line == 1);
  const char* texts[] = {"", "\n", "a", "\r\n\r\n", "\xff\xfe\n\x80", "last line\nno newline"};
  for (const char* text : texts) {
    const FileId file = addText(sources, text, text);
    const uint32_t size = sources.file(file).size();
    uint32_t line = 1;
    for (uint32_t offset = 0; offset < size + 5; ++offset) {
      const LineColumn place = sources.locate(file, offset);
      CHECK(place.line >= line);
      CHECK(place.column >= 1);
      CHECK(place.column <= size + 1);
      line = place.line;
    }
    const LineColumn end = sources.locate(file, size), past = sources.locate(file, UINT32_MAX);
    CHECK(end.line == past.line);
    CHECK(end.column == past.column);
    CHECK(sources.line(file, 0) == "");
    CHECK(sources.line(file, 1000) == "");
  }
  for (uint32_t begin = 0; begin < 100; ++begin)
    for (uint32_t end : {0u, begin, begin + 3, UINT32_MAX}) {
      CHECK(sources.locate(Span{begin, end}).line >= 1);
      CHECK(sources.text(Span{begin, end}).size() < 100);
    }
}

TEST_CASE("a span finds its file, the end of each file included") {
  SourceMap sources;
  const FileId first = addText(sources, "first", "abc");
  const FileId empty = addText(sources, "empty", "");
  const FileId last = addText(sources, "last", "de");
  CHECK(sources.fileOf(spanOf(sources, first, 0, 1)) == first);
  CHECK(sources.fileOf(spanOf(sources, first, 3, 3)) == first);
  CHECK(sources.fileOf(spanOf(sources, empty, 0, 0)) == empty);
  CHECK(sources.fileOf(spanOf(sources, last, 2, 2)) == last);
  CHECK(sources.fileOf(spanOf(sources, last, 3, 3)) == FileId::None);
  CHECK(sources.fileOf(Span{}) == FileId::None);
  CHECK(sources.text(spanOf(sources, last, 0, 2)) == "de");
  CHECK(sources.text(spanOf(sources, first, 1, 3)) == "bc");
}

TEST_CASE("a line is shown without its terminator") {
  SourceMap sources;
  const FileId file = addText(sources, "a", "one\r\ntwo\n\nfour");
  CHECK(sources.line(file, 1) == "one");
  CHECK(sources.line(file, 2) == "two");
  CHECK(sources.line(file, 3) == "");
  CHECK(sources.line(file, 4) == "four");
}

TEST_CASE("one leading byte order mark is dropped") {
  SourceMap sources;
  const FileId file = addText(sources, "a", "\xEF\xBB\xBF\xEF\xBB\xBFx");
  CHECK(sources.file(file).content() == "\xEF\xBB\xBFx");
  CHECK(*sources.file(file).content().end() == '\0');
}

TEST_CASE("a span of two joins them, and no place leaves the other") {
  CHECK(Span{3, 5}.to({8, 9}) == Span{3, 9});
  CHECK(Span{8, 9}.to({3, 5}) == Span{3, 9});
  CHECK(Span{}.to({3, 5}) == Span{3, 5});
  CHECK(Span{3, 5}.to({}) == Span{3, 5});
}
