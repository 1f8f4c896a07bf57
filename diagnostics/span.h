#pragma once
// A place in source text. All files of a compilation share one 32-bit offset space: the source map
// gives each file a base, so a span is two numbers and a file is found by looking its base up.

#include <cstdint>

namespace gos {

/// A half-open range of bytes in the offset space of a SourceMap; {0, 0} is "no place".
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return end != 0; }
  uint32_t size() const { return end - begin; }
  /// The smallest span that covers both.
  Span to(Span other) const {
    if (!valid())
      return other;
    if (!other.valid())
      return *this;
    return {begin < other.begin ? begin : other.begin, end > other.end ? end : other.end};
  }
  bool contains(Span other) const { return begin <= other.begin && other.end <= end; }
  friend bool operator==(Span a, Span b) { return a.begin == b.begin && a.end == b.end; }
};

/// Names one file of a SourceMap.
enum class FileId : uint32_t { None = 0xffffffffu };

} // namespace gos
