#include "compiler/document/text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace gos::document {
namespace {

using llvm::StringRef;

StringRef withoutMark(StringRef line) {
  line = line.ltrim(" \t");
  if (!line.consume_front("///") && !line.consume_front("//!"))
    line.consume_front("//");
  return line.rtrim(" \t\r");
}

/// The blanks that every line of text begins with.
size_t commonIndent(llvm::ArrayRef<StringRef> lines) {
  size_t indent = StringRef::npos;
  for (StringRef line : lines)
    if (!line.trim().empty())
      indent = std::min(indent, line.find_first_not_of(' '));
  return indent == StringRef::npos ? 0 : indent;
}

/// The fence that a line is: its marks and what stands behind; none when it is another line.
struct Fence {
  char mark = 0;
  size_t length = 0;
  StringRef info;
};
std::optional<Fence> fenceOf(StringRef line) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (indent > 3)
    return std::nullopt;
  line = line.drop_front(indent);
  if (line.empty() || (line.front() != '`' && line.front() != '~'))
    return std::nullopt;
  Fence fence;
  fence.mark = line.front();
  fence.length = line.take_while([&](char c) { return c == fence.mark; }).size();
  if (fence.length < 3)
    return std::nullopt;
  fence.info = line.drop_front(fence.length).trim();
  if (fence.mark == '`' && fence.info.contains('`'))
    return std::nullopt;
  return fence;
}

} // namespace

std::string joined(StringRef first, StringRef second) {
  return first.empty() ? second.str() : (first + "::" + second).str();
}

std::string commentText(StringRef comment) {
  llvm::SmallVector<StringRef, 16> lines;
  comment.split(lines, '\n');
  for (StringRef& line : lines)
    line = withoutMark(line);
  const size_t indent = commonIndent(lines);
  std::string text;
  for (StringRef line : lines)
    text += (line.drop_front(std::min(indent, line.size())) + "\n").str();
  return StringRef(text).trim("\n").str();
}

std::vector<CodeBlock> fencedBlocks(StringRef markdown) {
  std::vector<CodeBlock> blocks;
  llvm::SmallVector<StringRef, 16> lines;
  markdown.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    auto open = fenceOf(lines[i]);
    if (!open)
      continue;
    CodeBlock block;
    block.info = open->info.str();
    block.line = uint32_t(i) + 2; // within the text; readComment makes it a line of the file
    const size_t indent = std::min(lines[i].find_first_not_of(' '), lines[i].size());
    for (++i; i < lines.size(); ++i) {
      auto close = fenceOf(lines[i]);
      if (close && close->mark == open->mark && close->length >= open->length &&
          close->info.empty())
        break;
      StringRef line = lines[i];
      for (size_t at = 0; at < indent && line.starts_with(" "); ++at)
        line = line.drop_front();
      block.text += (line + "\n").str();
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

static constexpr size_t kFarAlong = 4096;

Span commentAbove(const SourceMap& sources, Span place) {
  const FileId id = sources.fileOf(place);
  if (id == FileId::None)
    return {};
  const SourceFile& file = sources.file(id);
  const StringRef text = file.content();
  // What stands far along its line is below no comment, and a line is not walked once for each of
  // its items.
  const size_t begin = place.begin - file.base, nearest = begin - std::min(begin, kFarAlong);
  size_t lineBegin = text.slice(nearest, begin).rfind('\n');
  if (lineBegin == StringRef::npos && nearest != 0)
    return {};
  lineBegin = lineBegin == StringRef::npos ? 0 : nearest + lineBegin + 1;
  Span comment;
  while (lineBegin != 0) {
    size_t above = lineBegin == 1 ? StringRef::npos : text.rfind('\n', lineBegin - 1);
    above = above == StringRef::npos ? 0 : above + 1;
    const StringRef line = text.slice(above, lineBegin - 1);
    if (!line.ltrim(" \t").starts_with("//"))
      break;
    if (!comment.valid())
      comment.end = file.base + uint32_t(lineBegin - 1);
    comment.begin = file.base + uint32_t(above);
    lineBegin = above;
  }
  return comment;
}

Span commentAtTop(const SourceMap& sources, FileId id) {
  const SourceFile& file = sources.file(id);
  const StringRef text = file.content();
  size_t at = 0;
  if (text.starts_with("#!") && !text.starts_with("#!["))
    at = std::min(text.find('\n'), text.size() - 1) + 1;
  const auto lineEnd = [&](size_t from) { return std::min(text.find('\n', from), text.size()); };
  while (at < text.size() && text.slice(at, lineEnd(at)).trim().empty())
    at = lineEnd(at) + 1;
  size_t end = at;
  while (end < text.size() && text.slice(end, lineEnd(end)).ltrim(" \t").starts_with("//"))
    end = lineEnd(end) + 1;
  if (end == at)
    return {};
  // Directly above something the run documents that, and not the module.
  if (end < text.size() && !text.slice(end, lineEnd(end)).trim().empty())
    return {};
  return {file.base + uint32_t(at), file.base + uint32_t(std::min(end, text.size()))};
}

std::string flat(const SourceMap& sources, Span span) {
  std::string result;
  const StringRef text = sources.text(span);
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      result += c;
      if (c == '\\' && i + 1 < text.size())
        result += text[++i];
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      if (!result.empty() && result.back() != ' ')
        result += ' ';
      continue;
    }
    if (text.substr(i).starts_with("/*")) {
      const size_t close = text.find("*/", i + 2);
      i = close == StringRef::npos ? text.size() : close + 1;
      continue;
    }
    if (llvm::isSpace(c)) {
      if (!result.empty() && result.back() != ' ')
        result += ' ';
      continue;
    }
    if (c == '"')
      quote = c;
    result += c;
  }
  return StringRef(result).rtrim().str();
}

void readComment(const SourceMap& sources, Span comment, StringRef owner, std::string& text,
                 std::vector<CodeBlock>& code) {
  if (!comment.valid())
    return;
  // Lines that only draw (`// -----`) say nothing.
  StringRef raw = sources.text(comment);
  text = commentText(raw);
  if (StringRef(text).find_first_not_of("-=*#~/ \n") == StringRef::npos) {
    text.clear();
    return;
  }
  // Places: fences are looked for in the lines as they stand, so that line numbers hold.
  llvm::SmallVector<StringRef, 16> lines;
  raw.split(lines, '\n');
  std::string unmarked;
  llvm::SmallVector<StringRef, 16> bodies;
  for (StringRef line : lines)
    bodies.push_back(withoutMark(line));
  const size_t indent = commonIndent(bodies);
  for (StringRef line : bodies)
    unmarked += (line.drop_front(std::min(indent, line.size())) + "\n").str();
  if (!unmarked.empty())
    unmarked.pop_back();
  const uint32_t firstLine = sources.locate(comment).line;
  for (CodeBlock& block : fencedBlocks(unmarked)) {
    const size_t first = block.line - 1; // index of the first line between the fences
    const size_t count = size_t(llvm::count(block.text, '\n'));
    if (first < lines.size()) {
      block.span.begin = comment.begin + uint32_t(lines[first].begin() - raw.begin());
      const size_t last = std::min(first + std::max<size_t>(count, 1), lines.size()) - 1;
      block.span.end = comment.begin + uint32_t(lines[last].end() - raw.begin());
    }
    block.line = firstLine + uint32_t(first);
    block.owner = owner.str();
    code.push_back(std::move(block));
  }
}

} // namespace gos::document
