// Making documents; the printer is in printer.cpp.

#include "compiler/format/doc.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

namespace gos::format {

using llvm::ArrayRef;
using llvm::StringRef;

namespace {

// What stands between most tokens is made once and for all.

constexpr Node fixedNode(Node::Kind kind, const char* text, uint32_t size) {
  Node node;
  node.kind = kind;
  node.bytes = text;
  node.size = size;
  return node;
}
constexpr const char* kFlats[] = {"", " ", ", ", "; "};
constexpr uint32_t kFlatSizes[] = {0, 1, 2, 2};

constexpr std::array<Node, 16> kLines = [] {
  std::array<Node, 16> lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i] = fixedNode(Node::Kind::Line, kFlats[i / 4], kFlatSizes[i / 4]);
    lines[i].blank = i % 2 != 0;
    lines[i].keepsComma = i / 2 % 2 != 0;
  }
  return lines;
}();
constexpr std::array<Node, 2> kHardLines = [] {
  std::array<Node, 2> lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i] = fixedNode(Node::Kind::HardLine, "", 0);
    lines[i].breaks = lines[i].newline = true;
    lines[i].blank = i != 0;
  }
  return lines;
}();
constexpr std::array<Node, 4> kTexts = [] {
  std::array<Node, 4> texts;
  for (size_t i = 0; i < texts.size(); ++i)
    texts[i] = fixedNode(Node::Kind::Text, kFlats[i], kFlatSizes[i]);
  return texts;
}();

} // namespace

Node* DocBuilder::make(Node::Kind kind, StringRef text) {
  Node* node = new (arena_.Allocate<Node>()) Node{};
  node->kind = kind;
  node->bytes = text.data();
  node->size = uint32_t(text.size());
  return node;
}

Node* DocBuilder::makeAround(Node::Kind kind, Doc content) {
  Node* node = make(kind);
  node->child = content;
  node->size = 1;
  node->breaks = content->breaks;
  node->newline = content->newline;
  return node;
}

Doc DocBuilder::text(StringRef text) {
  if (text.size() <= 2 && (text.empty() || !llvm::isAlnum(text[0])))
    for (size_t i = 0; i < std::size(kFlats); ++i)
      if (text == StringRef(kFlats[i], kFlatSizes[i]))
        return &kTexts[i];
  return make(Node::Kind::Text, text);
}

Doc DocBuilder::line(StringRef flat, bool blank, bool keepsComma) {
  for (size_t i = 0; i < std::size(kFlats); ++i)
    if (flat == StringRef(kFlats[i], kFlatSizes[i]))
      return &kLines[i * 4 + size_t(keepsComma) * 2 + size_t(blank)];
  Node* node = make(Node::Kind::Line, flat);
  node->blank = blank;
  node->keepsComma = keepsComma;
  return node;
}

Doc DocBuilder::hardLine(bool blank) {
  return &kHardLines[blank];
}

Doc DocBuilder::concat(ArrayRef<Doc> parts) {
  const size_t count = size_t(std::count_if(parts.begin(), parts.end(), [](Doc d) { return d; }));
  if (count == 1)
    return *std::find_if(parts.begin(), parts.end(), [](Doc d) { return d; });
  Node* node = make(Node::Kind::Concat);
  Doc* copy = arena_.Allocate<Doc>(count);
  node->several = copy;
  node->size = uint32_t(count);
  for (Doc part : parts) {
    if (!part)
      continue;
    *copy++ = part;
    node->breaks |= part->breaks;
    node->newline |= part->newline;
  }
  return node;
}

Doc DocBuilder::indent(Doc content) {
  return makeAround(Node::Kind::Indent, content);
}

Doc DocBuilder::group(Doc content, bool forced) {
  Node* node = makeAround(Node::Kind::Group, content);
  node->breaks |= forced;
  node->newline |= forced;
  return node;
}

Doc DocBuilder::fill(ArrayRef<Doc> itemsAndLines) {
  Node* node = make(Node::Kind::Fill);
  Doc* copy = arena_.Allocate<Doc>(itemsAndLines.size());
  std::copy(itemsAndLines.begin(), itemsAndLines.end(), copy);
  node->several = copy;
  node->size = uint32_t(itemsAndLines.size());
  for (Doc part : itemsAndLines) {
    node->breaks |= part->breaks;
    node->newline |= part->newline;
  }
  return node;
}

Doc DocBuilder::choice(Doc flat, Doc hugging, Doc expanded) {
  Node* node = make(Node::Kind::Choice);
  Doc* copy = arena_.Allocate<Doc>(3);
  copy[0] = flat;
  copy[1] = hugging;
  copy[2] = expanded;
  node->several = copy;
  node->size = 3;
  node->newline = flat->newline;
  node->breaks = flat->breaks && !hugging;
  return node;
}

Doc DocBuilder::broken(Doc groupOrChoice) {
  Node* node = make(groupOrChoice->kind);
  *node = *groupOrChoice;
  if (node->kind == Node::Kind::Choice)
    node->forced = true;
  else
    node->breaks = true;
  node->newline = true;
  return node;
}

Doc DocBuilder::trailing(StringRef comment) {
  Node* node = make(Node::Kind::Trailing, comment);
  node->breaks = node->newline = true;
  return node;
}

Doc DocBuilder::ownLine(StringRef comment, bool blank) {
  Node* node = make(Node::Kind::OwnLine, comment);
  node->breaks = node->newline = true;
  node->blank = blank;
  return node;
}

Doc DocBuilder::inlined(StringRef comment) {
  return make(Node::Kind::Inline, comment);
}

} // namespace gos::format
