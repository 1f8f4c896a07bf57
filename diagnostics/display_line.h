#pragma once
// One line of source as a terminal shows it, and where its bytes stand in it: tabs are four
// columns, wide characters two, combining ones none, what would act on the terminal is escaped,
// and of a huge line only the surroundings of the caret are left.

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>
#include <vector>

namespace gos {

class DisplayLine {
public:
  /// `focus` is the byte of the line that must stay visible when the line is cut.
  DisplayLine(llvm::StringRef line, size_t focus);

  const std::string& text() const { return text_; }
  /// The column, from 0, at which a byte of the line is shown; total over any offset.
  size_t columnOf(size_t byte) const;

private:
  void append(llvm::StringRef window);

  std::string text_;
  size_t width_ = 0;            // columns that text_ takes
  size_t from_ = 0;             // the first byte of the line that is shown
  std::vector<size_t> columns_; // of each byte shown, and of the end
};

} // namespace gos
