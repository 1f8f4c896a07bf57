#include "compiler/document/markdown.h"

#include "compiler/document/document.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace gos::document {
namespace {

using llvm::StringRef;

struct ListMark {
  size_t indent = 0;
  std::string marker;
  StringRef rest;
};
std::optional<ListMark> listMark(StringRef line) {
  ListMark mark;
  mark.indent = std::min(line.find_first_not_of(' '), line.size());
  line = line.drop_front(mark.indent);
  if (line.size() >= 2 && (line[0] == '*' || line[0] == '-' || line[0] == '+') && line[1] == ' ') {
    mark.rest = line.drop_front(2).trim();
    return mark;
  }
  const StringRef digits = line.take_while([](char c) { return llvm::isDigit(c); });
  StringRef rest = line.drop_front(digits.size());
  if (!digits.empty() && digits.size() < 10 && rest.consume_front(". ")) {
    mark.marker = (digits + ".").str();
    mark.rest = rest.trim();
    return mark;
  }
  return std::nullopt;
}

bool isFence(StringRef line, char& character, size_t& length) {
  const StringRef rest = line.ltrim(' ');
  if (line.size() - rest.size() > 3 || rest.empty() || (rest[0] != '`' && rest[0] != '~'))
    return false;
  character = rest[0];
  length = rest.take_while([&](char c) { return c == character; }).size();
  return length >= 3;
}

constexpr size_t kMostColumns = 64;

/// The cells of a line of a table. A bar in code or behind a backslash separates nothing.
std::vector<std::string> cellsOf(StringRef line) {
  line = line.trim();
  line.consume_front("|");
  std::vector<std::string> cells(1);
  bool inCode = false;
  for (size_t i = 0; i < line.size(); ++i) {
    inCode ^= line[i] == '`';
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cells.back() += line[++i];
    } else if (line[i] == '|' && !inCode) {
      if (cells.size() == kMostColumns)
        break;
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  for (std::string& cell : cells)
    cell = StringRef(cell).trim().str();
  if (cells.size() > 1 && cells.back().empty())
    cells.pop_back();
  return cells;
}

/// `|---|:--:|--:|`: the line beneath the heading of a table.
std::optional<std::vector<Alignment>> alignmentsOf(StringRef line) {
  if (!line.contains('|') || !line.contains('-') ||
      line.find_first_not_of("|-: ") != StringRef::npos)
    return std::nullopt;
  std::vector<Alignment> alignments;
  for (StringRef cell : cellsOf(line)) {
    const bool left = cell.consume_front(":"), right = cell.consume_back(":");
    if (cell.empty() || cell.find_first_not_of('-') != StringRef::npos)
      return std::nullopt;
    alignments.push_back(left && right ? Alignment::Centre
                         : right       ? Alignment::Right
                         : left        ? Alignment::Left
                                       : Alignment::None);
  }
  return alignments;
}

/// The table that begins with this line, whose further lines are taken from `text`.
std::optional<Block> tableOf(StringRef line, StringRef& text) {
  if (!line.contains('|'))
    return std::nullopt;
  const auto [second, behind] = text.split('\n');
  auto alignments = alignmentsOf(second);
  Block block;
  block.kind = Block::Kind::Table;
  block.rows.push_back(cellsOf(line));
  if (!alignments || alignments->size() != block.rows.front().size())
    return std::nullopt;
  block.alignments = std::move(*alignments);
  text = behind;
  while (!text.empty()) {
    const auto [row, rest] = text.split('\n');
    if (!row.contains('|'))
      break;
    text = rest;
    block.rows.push_back(cellsOf(row));
    block.rows.back().resize(block.alignments.size());
  }
  return block;
}

} // namespace

std::vector<Block> parseMarkdown(StringRef text) {
  std::vector<Block> blocks;
  bool open = false; // the last block takes further lines
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.rtrim();
    char character = 0;
    size_t length = 0;
    if (isFence(line, character, length)) {
      Block& block = blocks.emplace_back();
      block.kind = Block::Kind::Code;
      block.info = line.ltrim(' ').drop_front(length).trim().str();
      const size_t indent = line.size() - line.ltrim(' ').size();
      while (!text.empty()) {
        std::tie(line, text) = text.split('\n');
        char closing = 0;
        size_t size = 0;
        if (isFence(line, closing, size) && closing == character && size >= length &&
            line.ltrim(' ').drop_front(size).trim().empty())
          break;
        for (size_t at = 0; at < indent && line.starts_with(" "); ++at)
          line = line.drop_front();
        block.text += (line + "\n").str();
      }
      open = false;
      continue;
    }
    if (line.trim().empty()) {
      open = false;
      continue;
    }
    const size_t marks = line.take_while([](char c) { return c == '#'; }).size();
    if (marks >= 1 && marks <= 6 && line.size() > marks && line[marks] == ' ') {
      Block& block = blocks.emplace_back();
      block.kind = Block::Kind::Heading;
      block.level = unsigned(marks);
      block.text = line.drop_front(marks).trim().str();
      open = false;
      continue;
    }
    if (auto mark = listMark(line)) {
      Block& block = blocks.emplace_back();
      block.kind = Block::Kind::Item;
      block.level = unsigned(std::min<size_t>(mark->indent / 2, 4));
      block.marker = mark->marker;
      block.text = mark->rest.str();
      open = true;
      continue;
    }
    if (line.ltrim(' ').starts_with(">")) {
      const StringRef quoted = line.ltrim(' ').drop_front().trim();
      if (open && blocks.back().kind == Block::Kind::Quote) {
        blocks.back().text += " " + quoted.str();
      } else {
        Block& block = blocks.emplace_back();
        block.kind = Block::Kind::Quote;
        block.text = quoted.str();
      }
      open = true;
      continue;
    }
    if (!open)
      if (auto table = tableOf(line, text)) {
        blocks.push_back(std::move(*table));
        continue;
      }
    if (open && !blocks.empty()) {
      blocks.back().text += " " + line.trim().str();
      continue;
    }
    Block& block = blocks.emplace_back();
    block.text = line.trim().str();
    open = true;
  }
  return blocks;
}

bool isSafeTarget(StringRef target) {
  if (target.starts_with("http://") || target.starts_with("https://") ||
      target.starts_with("mailto:") || target.starts_with("#"))
    return true;
  // Relative: nothing before the first slash that a browser could take for a scheme.
  const StringRef first =
      target.take_until([](char c) { return c == '/' || c == '#' || c == '?'; });
  return !target.empty() && !first.contains(':') && !target.starts_with("//") &&
         !target.contains('\\') && llvm::all_of(target, [](char c) { return uint8_t(c) > 0x20; });
}

std::vector<Run> parseInline(StringRef text) {
  std::vector<Run> runs;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty())
      runs.push_back({Run::Kind::Text, std::move(plain), {}});
    plain.clear();
  };
  const auto add = [&](Run::Kind kind, StringRef content, StringRef target = {}) {
    flush();
    runs.push_back({kind, content.str(), target.str()});
  };
  // Positions behind which a mark is known to have no partner: keeps this linear.
  size_t noTick = StringRef::npos, noStrong = StringRef::npos, noStar = StringRef::npos,
         noBracket = StringRef::npos;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() &&
        StringRef("\\`*_{}[]()#+-.!|<>~\"").contains(text[i + 1])) {
      plain += text[i + 1];
      i += 2;
      continue;
    }
    if (c == '`') {
      const size_t ticks = text.substr(i).take_while([](char t) { return t == '`'; }).size();
      const std::string mark(ticks, '`');
      const size_t close = noTick <= i ? StringRef::npos : text.find(mark, i + ticks);
      if (close != StringRef::npos) {
        StringRef code = text.slice(i + ticks, close);
        if (ticks > 1)
          code = code.trim(' ');
        add(Run::Kind::Code, code);
        i = close + ticks;
        continue;
      }
      if (ticks == 1)
        noTick = std::min(noTick, i);
      plain += mark;
      i += ticks;
      continue;
    }
    if (text.substr(i).starts_with("**")) {
      const size_t close = noStrong <= i ? StringRef::npos : text.find("**", i + 2);
      if (close != StringRef::npos && close > i + 2) {
        add(Run::Kind::Strong, text.slice(i + 2, close));
        i = close + 2;
        continue;
      }
      noStrong = std::min(noStrong, i);
      plain += "**";
      i += 2;
      continue;
    }
    if (c == '*' && i + 1 < text.size() && !llvm::isSpace(text[i + 1])) {
      const size_t close = noStar <= i ? StringRef::npos : text.find('*', i + 1);
      if (close != StringRef::npos && !llvm::isSpace(text[close - 1])) {
        add(Run::Kind::Emphasis, text.slice(i + 1, close));
        i = close + 1;
        continue;
      }
      if (close == StringRef::npos)
        noStar = std::min(noStar, i);
    }
    if (c == '[') {
      const size_t close = noBracket <= i ? StringRef::npos : text.find("](", i + 1);
      const size_t end = close == StringRef::npos ? StringRef::npos : text.find(')', close + 2);
      if (end != StringRef::npos) {
        add(Run::Kind::Link, text.slice(i + 1, close), text.slice(close + 2, end));
        i = end + 1;
        continue;
      }
      noBracket = std::min(noBracket, i);
    }
    plain += c;
    ++i;
  }
  flush();
  return runs;
}

std::string summary(StringRef text) {
  for (const Block& block : parseMarkdown(text)) {
    if (block.kind == Block::Kind::Code || block.kind == Block::Kind::Table)
      continue;
    const StringRef whole = block.text;
    for (size_t at = whole.find(". "); at != StringRef::npos; at = whole.find(". ", at + 1))
      if (at == 0 || !llvm::isDigit(whole[at - 1]))
        return whole.take_front(at + 1).str();
    return block.text;
  }
  return {};
}

} // namespace gos::document
