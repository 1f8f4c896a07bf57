#include "diagnostics/snippet.h"

#include "diagnostics/display_line.h"
#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <set>

namespace gos {

namespace {

/// Spans over several lines are drawn as arcs left of the source; more at once are not readable.
constexpr size_t kMostArcs = 4;
/// So many lines between two marked ones are shown; more are replaced by dots.
constexpr uint32_t kLongestGap = 2;

/// Where a label stands: lines from 1, bytes in the line from 0.
struct Extent {
  uint32_t firstLine = 1, lastLine = 1;
  size_t firstByte = 0, endByte = 0;
};

struct Mark {
  Extent extent;
  const Label* label;
};

/// What is drawn on a row: characters with styles, then a message.
struct Row {
  std::string cells;
  std::vector<Style> styles;
  std::string message;
  Style messageStyle = Style::Plain;

  void paint(size_t column, char character, Style style) {
    if (cells.size() <= column) {
      cells.resize(column + 1, ' ');
      styles.resize(column + 1, Style::Plain);
    }
    cells[column] = character;
    styles[column] = style;
  }
  void say(std::string text, Style style) {
    message = std::move(text);
    messageStyle = style;
  }
};

size_t byteInLine(FileId file, LineColumn place, uint32_t offset, const SourceMap& sources) {
  const llvm::StringRef line = sources.line(file, place.line);
  return size_t(sources.file(file).content().begin() + offset - line.begin());
}

Extent extentOf(const Label& label, FileId id, const SourceMap& sources) {
  const SourceFile& file = sources.file(id);
  const uint32_t begin = std::min(label.span.begin - file.base, file.size());
  uint32_t end = std::clamp(label.span.end - file.base, begin, file.size());
  // A span that takes the newline along still ends on the line before it.
  while (end > begin + 1 && (file.content()[end - 1] == '\n' || file.content()[end - 1] == '\r'))
    --end;
  const LineColumn first = sources.locate(id, begin);
  const LineColumn last = sources.locate(id, end > begin ? end - 1 : begin);
  return {first.line, last.line, byteInLine(id, first, begin, sources),
          byteInLine(id, last, end, sources)};
}

class SnippetWriter {
public:
  SnippetWriter(StyledOutput& out, FileId file, const SourceMap& sources, size_t gutter,
                Style primary)
      : out_(out), file_(file), sources_(sources), gutter_(gutter), primary_(primary) {}

  void write(llvm::ArrayRef<const Label*> labels) {
    sortLabels(labels);
    std::set<uint32_t> lines;
    for (const Mark& mark : marks_)
      lines.insert(mark.extent.firstLine);
    for (const Mark& arc : arcs_) {
      lines.insert(arc.extent.firstLine);
      lines.insert(arc.extent.lastLine);
    }
    uint32_t previous = 0;
    for (uint32_t line : lines) {
      if (previous && line - previous - 1 > kLongestGap)
        writeDots(line);
      else
        for (uint32_t between = previous ? previous + 1 : line; between < line; ++between)
          writeLine(between);
      writeLine(line);
      previous = line;
    }
  }

private:
  Style styleOf(const Label& label) const { return label.primary ? primary_ : Style::Frame; }
  char markOf(const Label& label) const { return label.primary ? '^' : '-'; }
  size_t arcColumns() const { return arcs_.empty() ? 0 : arcs_.size() + 1; }

  void sortLabels(llvm::ArrayRef<const Label*> labels) {
    for (const Label* label : labels) {
      const Mark mark{extentOf(*label, file_, sources_), label};
      const bool multiline = mark.extent.firstLine != mark.extent.lastLine;
      (multiline && arcs_.size() < kMostArcs ? arcs_ : marks_).push_back(mark);
    }
    // The outermost arc stands leftmost.
    llvm::stable_sort(arcs_, [](const Mark& a, const Mark& b) {
      return a.extent.firstLine != b.extent.firstLine ? a.extent.firstLine < b.extent.firstLine
                                                      : a.extent.lastLine > b.extent.lastLine;
    });
  }

  void writeGutter(llvm::StringRef number) {
    out_.fill(gutter_ - std::min(gutter_, number.size()));
    out_.write(number, Style::Frame);
    out_.write(" |", Style::Frame);
  }

  void writeRow(const Row& row) {
    writeGutter("");
    writeCells(row);
    out_.write("\n");
  }

  void writeCells(const Row& row) {
    if (row.cells.empty() && row.message.empty())
      return;
    out_.write(" ");
    for (size_t at = 0; at < row.cells.size();) {
      size_t end = at + 1;
      while (end < row.cells.size() && row.styles[end] == row.styles[at])
        ++end;
      out_.write(llvm::StringRef(row.cells).slice(at, end), row.styles[at]);
      at = end;
    }
    out_.write(row.message, row.messageStyle);
  }

  /// A row on which the arcs that go past it are drawn already.
  Row rowWithArcs() const {
    Row row;
    for (size_t index = 0; index < arcs_.size(); ++index)
      if (open_[index])
        row.paint(index, '|', styleOf(*arcs_[index].label));
    return row;
  }

  void writeDots(uint32_t nextLine) {
    openArcsAt(nextLine);
    const Row row = rowWithArcs();
    out_.write("...");
    if (!row.cells.empty()) {
      out_.fill(gutter_ + 2 - std::min(gutter_ + 2, size_t(3)));
      writeCells(row);
    }
    out_.write("\n");
  }

  void openArcsAt(uint32_t line) {
    open_.assign(arcs_.size(), false);
    for (size_t index = 0; index < arcs_.size(); ++index)
      open_[index] = arcs_[index].extent.firstLine < line && line <= arcs_[index].extent.lastLine;
  }

  /// The byte that must be visible when the line is cut: a primary mark's before any other.
  size_t focusOf(uint32_t line) const {
    size_t focus = 0;
    bool found = false, primaryFound = false;
    const auto consider = [&](const Mark& mark, size_t byte) {
      if (found && (primaryFound || !mark.label->primary))
        return;
      focus = byte;
      found = true;
      primaryFound = mark.label->primary;
    };
    for (const Mark& mark : marks_)
      if (mark.extent.firstLine == line)
        consider(mark, mark.extent.firstByte);
    for (const Mark& arc : arcs_) {
      if (arc.extent.firstLine == line)
        consider(arc, arc.extent.firstByte);
      if (arc.extent.lastLine == line)
        consider(arc, arc.extent.endByte);
    }
    return focus;
  }

  void writeLine(uint32_t line) {
    openArcsAt(line);
    const llvm::StringRef source = sources_.line(file_, line);
    const DisplayLine shown(source, focusOf(line));
    writeGutter(std::to_string(line));
    Row row = rowWithArcs();
    if (!shown.text().empty()) {
      if (arcColumns())
        row.paint(arcColumns() - 1, ' ', Style::Plain);
      row.say(shown.text(), Style::Plain);
    }
    writeCells(row);
    out_.write("\n");
    writeMarks(line, source, shown);
    for (size_t index = 0; index < arcs_.size(); ++index)
      if (arcs_[index].extent.lastLine == line)
        writeArcEnd(index, shown);
    for (size_t index = 0; index < arcs_.size(); ++index)
      if (arcs_[index].extent.firstLine == line)
        writeArcStart(index, shown);
  }

  void writeArcStart(size_t index, const DisplayLine& shown) {
    const Mark& arc = arcs_[index];
    const size_t column = arcColumns() + shown.columnOf(arc.extent.firstByte);
    writeArcRow(index, column, {});
    open_[index] = true;
  }

  void writeArcEnd(size_t index, const DisplayLine& shown) {
    const Mark& arc = arcs_[index];
    const size_t end = shown.columnOf(arc.extent.endByte);
    const size_t column = arcColumns() + (end ? end - 1 : 0);
    writeArcRow(index, column, arc.label->message);
    open_[index] = false;
  }

  void writeArcRow(size_t index, size_t column, llvm::StringRef message) {
    const Label& label = *arcs_[index].label;
    const Style style = styleOf(label);
    Row row = rowWithArcs();
    for (size_t at = index + 1; at < column; ++at)
      if (at >= row.cells.size() || row.cells[at] == ' ')
        row.paint(at, '_', style);
    row.paint(column, markOf(label), style);
    if (!message.empty())
      row.say(" " + escapeForText(message), style);
    writeRow(row);
  }

  struct Drawn {
    size_t begin, end; // columns
    const Label* label;
  };

  void writeMarks(uint32_t line, llvm::StringRef source, const DisplayLine& shown) {
    llvm::SmallVector<Drawn, 4> drawn;
    for (const Mark& mark : marks_) {
      if (mark.extent.firstLine != line)
        continue;
      const bool toLineEnd = mark.extent.lastLine != line;
      const size_t begin = arcColumns() + shown.columnOf(mark.extent.firstByte);
      const size_t end =
          arcColumns() + shown.columnOf(toLineEnd ? source.size() : mark.extent.endByte);
      drawn.push_back({begin, std::max(end, begin + 1), mark.label});
    }
    if (drawn.empty())
      return;
    llvm::stable_sort(drawn, [](const Drawn& a, const Drawn& b) { return a.begin > b.begin; });

    Row row = rowWithArcs();
    for (bool primary : {false, true}) // a primary mark covers the others
      for (const Drawn& mark : drawn)
        if (mark.label->primary == primary)
          for (size_t column = mark.begin; column < mark.end; ++column)
            row.paint(column, markOf(*mark.label), styleOf(*mark.label));

    // The rightmost message follows its mark if no other mark stands in its way.
    llvm::ArrayRef<Drawn> hanging = drawn;
    const Drawn& rightmost = drawn.front();
    if (llvm::all_of(drawn, [&](const Drawn& mark) { return mark.end <= rightmost.end; })) {
      if (!rightmost.label->message.empty())
        row.say(" " + escapeForText(rightmost.label->message), styleOf(*rightmost.label));
      hanging = hanging.drop_front();
    }
    writeRow(row);
    writeHanging(hanging);
  }

  /// Messages that hang beneath their marks, the rightmost one first.
  void writeHanging(llvm::ArrayRef<Drawn> marks) {
    llvm::SmallVector<Drawn, 4> waiting;
    llvm::copy_if(marks, std::back_inserter(waiting),
                  [](const Drawn& mark) { return !mark.label->message.empty(); });
    if (waiting.empty())
      return;
    const auto connect = [&](llvm::ArrayRef<Drawn> rest, size_t before) {
      Row row = rowWithArcs();
      for (const Drawn& mark : llvm::reverse(rest))
        if (mark.begin < before)
          row.paint(mark.begin, '|', styleOf(*mark.label));
      return row;
    };
    writeRow(connect(waiting, SIZE_MAX));
    for (size_t index = 0; index < waiting.size(); ++index) {
      const Drawn& mark = waiting[index];
      Row row = connect(llvm::ArrayRef(waiting).drop_front(index + 1), mark.begin);
      if (row.cells.size() < mark.begin)
        row.paint(mark.begin - 1, ' ', Style::Plain);
      row.say(escapeForText(mark.label->message), styleOf(*mark.label));
      writeRow(row);
    }
  }

  StyledOutput& out_;
  FileId file_;
  const SourceMap& sources_;
  size_t gutter_;
  Style primary_;
  std::vector<Mark> marks_, arcs_;
  std::vector<bool> open_; // which arcs pass the row that is being written
};

} // namespace

void StyledOutput::write(llvm::StringRef text, Style style) {
  if (!colour_ || style == Style::Plain || text.empty()) {
    out_ << text;
    return;
  }
  switch (style) {
  case Style::Plain:
    break;
  case Style::Bold:
    out_ << "\x1b[1m";
    break;
  case Style::Error:
    out_ << "\x1b[1;31m";
    break;
  case Style::Warning:
    out_ << "\x1b[1;33m";
    break;
  case Style::Note:
    out_ << "\x1b[1;36m";
    break;
  case Style::Frame:
    out_ << "\x1b[1;34m";
    break;
  }
  out_ << text << "\x1b[0m";
}

size_t gutterWidth(llvm::ArrayRef<Label> labels, const SourceMap& sources) {
  uint32_t last = 1;
  for (const Label& label : labels) {
    const FileId id = sources.fileOf(label.span);
    if (id != FileId::None)
      last = std::max(last, extentOf(label, id, sources).lastLine);
  }
  return std::to_string(last).size();
}

void writeSnippet(StyledOutput& out, llvm::ArrayRef<const Label*> labels, FileId file,
                  const SourceMap& sources, size_t gutter, Style primary) {
  SnippetWriter(out, file, sources, gutter, primary).write(labels);
}

} // namespace gos
