#pragma once
// Sentences of a report, wrapped at words beneath an indentation.

#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos::sandbox {

/// Lines with their newlines, each `indent` and at most `width` columns where words allow it.
inline std::string wrapped(llvm::StringRef text, llvm::StringRef indent, unsigned width) {
  std::string lines = indent.str();
  size_t column = indent.size();
  while (true) {
    auto [word, rest] = text.split(' ');
    if (column > indent.size() && column + 1 + word.size() > width) {
      lines += "\n" + indent.str();
      column = indent.size();
    } else if (column > indent.size()) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    if (rest.empty())
      return lines + "\n";
    text = rest;
  }
}

} // namespace gos::sandbox
