// For people at a terminal, and as Markdown.

#include "compiler/document/markdown.h"
#include "compiler/document/render.h"
#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

namespace gos::document {
namespace {

using llvm::StringRef;

constexpr StringRef kBold = "\x1b[1m", kCyan = "\x1b[36m", kDim = "\x1b[2m", kReset = "\x1b[0m";

constexpr size_t kWidestColumn = 60; // of a table: what is wider sticks out

size_t widthOf(StringRef text) {
  const int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : size_t(width);
}

class TextRenderer {
public:
  TextRenderer(llvm::raw_ostream& out, const TextOptions& options) : out_(out), options_(options) {}

  void module(const Module& module, StringRef title) {
    heading(module.path.empty() ? title : StringRef(module.path),
            module.isBinding ? "module of a Rust binding" : "module");
    markdown(module.documentation, 2);
    for (StringRef section : {"Types", "Traits", "Functions", "Constants"}) {
      bool first = true;
      for (const Item& item : module.items) {
        if (sectionOf(item.kind) != section)
          continue;
        if (first)
          out_ << '\n' << styled(section, kBold) << '\n';
        else if (options_.whole)
          out_ << '\n';
        first = false;
        entry(item, 2, options_.whole);
      }
    }
  }

  void item(const Item& item) {
    heading(item.path, {});
    out_ << '\n';
    entry(item, 2, /*whole=*/true);
  }

  /// A signature and what is said about it. In a list only the first sentence.
  void entry(const Item& item, unsigned indent, bool whole = false) {
    code(item.signature, indent, item.name);
    note(item, indent + 4);
    if (!item.documentation.empty()) {
      if (whole)
        markdown(item.documentation, indent + 4);
      else
        wrapped(summary(item.documentation), indent + 4, indent + 4);
    }
    if (item.signature.empty() && item.kind == ItemKind::BuiltinType)
      out_.indent(indent) << styled("type " + item.name, kBold) << '\n';
    std::vector<StringRef> traits;
    for (const Item& member : item.members) {
      switch (member.kind) {
      case ItemKind::Field:
      case ItemKind::Variant:
        // They stand in the signature; only words are added here.
        if (!member.documentation.empty()) {
          out_.indent(indent + 4) << styled(member.name, kCyan) << '\n';
          wrapped(whole ? member.documentation : summary(member.documentation), indent + 8,
                  indent + 8);
        }
        break;
      case ItemKind::Implementation:
        traits.push_back(member.name);
        break;
      case ItemKind::Function:
      case ItemKind::Method:
      case ItemKind::Associated:
      case ItemKind::Struct:
      case ItemKind::Enum:
      case ItemKind::Trait:
      case ItemKind::Alias:
      case ItemKind::Newtype:
      case ItemKind::Constant:
      case ItemKind::Static:
      case ItemKind::BuiltinType:
      case ItemKind::Opaque:
        // A trait's members stand in its signature.
        if (item.kind != ItemKind::Trait || !member.documentation.empty())
          entry(member, indent + 4, options_.whole || (whole && item.members.size() <= 4));
        break;
      }
    }
    if (!traits.empty())
      wrapped("implements " + llvm::join(traits, ", "), indent + 4, indent + 6);
  }

  std::string styled(llvm::Twine text, StringRef style) {
    std::string safe = escapeForText(text.str());
    return options_.colour == Colour::On ? (style + safe + kReset).str() : safe;
  }

  void heading(StringRef text, StringRef kind) {
    out_ << styled(text, kBold);
    if (!kind.empty())
      out_ << "  " << styled(kind, kDim);
    out_ << '\n';
  }

  void note(const Item& item, unsigned indent) {
    if (item.notBuilt)
      out_.indent(indent) << styled("not built yet", kDim) << '\n';
    if (StringRef text = classText(item); !text.empty())
      out_.indent(indent) << styled("in a compile-time region: " + text, kDim) << '\n';
  }

  void code(StringRef text, unsigned indent, StringRef name = {}) {
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      out_.indent(indent);
      const size_t at = name.empty() ? StringRef::npos : line.find(name);
      if (at != StringRef::npos && options_.colour == Colour::On)
        out_ << escapeForText(line.take_front(at)) << styled(name, kBold)
             << escapeForText(line.drop_front(at + name.size()));
      else
        out_ << escapeForText(line);
      out_ << '\n';
    }
  }

  void markdown(StringRef text, unsigned indent) {
    bool first = true;
    bool afterItem = false;
    for (const Block& block : parseMarkdown(text)) {
      const bool isItem = block.kind == Block::Kind::Item;
      if (!first && !(isItem && afterItem))
        out_ << '\n';
      first = false;
      afterItem = isItem;
      switch (block.kind) {
      case Block::Kind::Code:
        code(block.text, indent + 4);
        break;
      case Block::Kind::Heading:
        out_.indent(indent) << styled(block.text, kBold) << '\n';
        break;
      case Block::Kind::Item: {
        const unsigned at = indent + block.level * 2;
        const std::string marker = block.marker.empty() ? "*" : block.marker;
        out_.indent(at) << marker << ' ';
        wrapped(block.text, 0, at + unsigned(marker.size()) + 1, at + unsigned(marker.size()) + 1);
        break;
      }
      case Block::Kind::Quote:
        wrapped(block.text, indent + 2, indent + 2);
        break;
      case Block::Kind::Table:
        table(block, indent);
        break;
      case Block::Kind::Paragraph:
        wrapped(block.text, indent, indent);
        break;
      }
    }
  }

  /// Columns side by side, the heading underlined. Marks of code stay, those of other runs go.
  void table(const Block& block, unsigned indent) {
    std::vector<std::vector<std::string>> rows;
    std::vector<size_t> widths(block.alignments.size(), 0);
    for (const std::vector<std::string>& row : block.rows) {
      std::vector<std::string>& shown = rows.emplace_back();
      for (size_t column = 0; column != widths.size(); ++column) {
        std::string& cell = shown.emplace_back();
        for (const Run& run : parseInline(row[column]))
          cell += run.kind == Run::Kind::Code ? "`" + run.text + "`" : run.text;
        cell = escapeForText(cell);
        widths[column] = std::max(widths[column], std::min<size_t>(widthOf(cell), kWidestColumn));
      }
    }
    for (size_t row = 0; row != rows.size(); ++row) {
      std::string line;
      for (size_t column = 0; column != widths.size(); ++column) {
        const std::string& cell = rows[row][column];
        const size_t room = widths[column] - std::min<size_t>(widthOf(cell), widths[column]);
        const size_t before = block.alignments[column] == Alignment::Right    ? room
                              : block.alignments[column] == Alignment::Centre ? room / 2
                                                                              : 0;
        line += std::string(before, ' ') + cell + std::string(room - before + 2, ' ');
      }
      out_.indent(indent) << StringRef(line).rtrim() << '\n';
      if (row == 0) {
        line.clear();
        for (size_t width : widths)
          line += std::string(width, '-') + "  ";
        out_.indent(indent) << StringRef(line).rtrim() << '\n';
      }
    }
  }

  /// Words up to the width; code and links do not break into escapes.
  void wrapped(StringRef text, unsigned firstIndent, unsigned indent, unsigned column = 0) {
    out_.indent(firstIndent);
    column += firstIndent;
    bool atStart = true;
    const auto word = [&](StringRef shown, StringRef style, bool glued) {
      const size_t width = widthOf(shown);
      if (!atStart && !glued) {
        if (column + 1 + width > options_.width) {
          out_ << '\n';
          out_.indent(indent);
          column = indent;
        } else {
          out_ << ' ';
          ++column;
        }
      }
      out_ << (style.empty() ? escapeForText(shown) : styled(shown, style));
      column += unsigned(width);
      atStart = false;
    };
    bool blankBefore = true;
    for (const Run& run : parseInline(text)) {
      StringRef style = run.kind == Run::Kind::Code     ? kCyan
                        : run.kind == Run::Kind::Strong ? kBold
                                                        : StringRef();
      std::string shown = run.text;
      if (run.kind == Run::Kind::Code && options_.colour == Colour::Off)
        shown = "`" + shown + "`";
      if (run.kind == Run::Kind::Link && run.target != run.text)
        shown += " (" + run.target + ")";
      llvm::SmallVector<StringRef, 16> words;
      StringRef(shown).split(words, ' ', -1, /*KeepEmpty=*/false);
      bool first = true;
      for (StringRef each : words) {
        word(each, style, first && !blankBefore && !StringRef(shown).starts_with(" "));
        first = false;
      }
      blankBefore = shown.empty() ? blankBefore : StringRef(shown).ends_with(" ");
    }
    out_ << '\n';
  }

private:
  llvm::raw_ostream& out_;
  const TextOptions& options_;
};

class MarkdownRenderer {
public:
  explicit MarkdownRenderer(llvm::raw_ostream& out) : out_(out) {}

  void module(const Module& module, StringRef title) {
    out_ << "# " << (module.path.empty() ? title : StringRef(module.path)) << "\n\n";
    text(module.documentation);
    for (StringRef section : {"Types", "Traits", "Functions", "Constants"}) {
      bool first = true;
      for (const Item& each : module.items) {
        if (sectionOf(each.kind) != section)
          continue;
        if (first)
          out_ << "## " << section << "\n\n";
        first = false;
        item(each, 3);
      }
    }
  }

  void item(const Item& item, unsigned level) {
    out_ << std::string(std::min(level, 6u), '#') << " `" << item.name << "`\n\n";
    if (!item.signature.empty())
      out_ << "```gossamer\n" << escapeForTextBlock(item.signature) << "\n```\n\n";
    if (item.notBuilt)
      out_ << "*Not built yet.*\n\n";
    if (StringRef name = classText(item); !name.empty())
      out_ << "*In a compile-time region: " << name << ".*\n\n";
    text(item.documentation);
    std::vector<std::string> traits;
    for (const Item& member : item.members) {
      if (member.kind == ItemKind::Implementation) {
        traits.push_back("`" + member.name + "`");
      } else if (member.kind == ItemKind::Field || member.kind == ItemKind::Variant) {
        if (!member.documentation.empty())
          out_ << "* `" << member.name << "`: " << escapeForText(summary(member.documentation))
               << "\n\n";
      } else if (item.kind != ItemKind::Trait || !member.documentation.empty()) {
        this->item(member, level + 1);
      }
    }
    if (!traits.empty())
      out_ << "Implements " << llvm::join(traits, ", ") << ".\n\n";
  }

private:
  void text(StringRef markdown) {
    if (!markdown.empty())
      out_ << escapeForTextBlock(markdown) << "\n\n";
  }
  llvm::raw_ostream& out_;
};

} // namespace

llvm::StringRef classText(const Item& item) {
  if (!item.capability || *item.capability == Capability::Pure)
    return {};
  return reportName(*item.capability);
}

llvm::StringRef sectionOf(ItemKind kind) {
  switch (kind) {
  case ItemKind::Struct:
  case ItemKind::Enum:
  case ItemKind::Alias:
  case ItemKind::Newtype:
  case ItemKind::BuiltinType:
  case ItemKind::Opaque:
  case ItemKind::Implementation:
    return "Types";
  case ItemKind::Trait:
    return "Traits";
  case ItemKind::Constant:
  case ItemKind::Static:
    return "Constants";
  case ItemKind::Function:
  case ItemKind::Method:
  case ItemKind::Associated:
  case ItemKind::Field:
  case ItemKind::Variant:
    return "Functions";
  }
  return "Functions";
}

void renderModuleList(llvm::raw_ostream& out, const Documentation& documentation,
                      const TextOptions& options) {
  TextRenderer renderer(out, options);
  size_t widest = 0;
  for (const Module& module : documentation.modules)
    widest = std::max(widest, module.path.size());
  for (const Module& module : documentation.modules) {
    const StringRef name =
        module.path.empty() ? StringRef(documentation.title) : StringRef(module.path);
    out << renderer.styled(name, kBold);
    const std::string first = summary(module.documentation);
    if (!first.empty()) {
      out.indent(unsigned(widest - std::min(widest, name.size()) + 2));
      renderer.wrapped(first, 0, unsigned(widest) + 4, unsigned(widest) + 2);
    } else {
      out << '\n';
    }
  }
}

void renderText(llvm::raw_ostream& out, const Documentation& documentation, const Found& found,
                const TextOptions& options) {
  TextRenderer renderer(out, options);
  if (found.item)
    return renderer.item(*found.item);
  if (found.module)
    return renderer.module(*found.module, documentation.title);
  bool first = true;
  for (const Module& module : documentation.modules) {
    if (!first)
      out << '\n';
    first = false;
    renderer.module(module, documentation.title);
  }
}

void renderMarkdown(llvm::raw_ostream& out, const Documentation& documentation,
                    const Found& found) {
  MarkdownRenderer renderer(out);
  if (found.item)
    return renderer.item(*found.item, 1);
  if (found.module)
    return renderer.module(*found.module, documentation.title);
  for (const Module& module : documentation.modules)
    renderer.module(module, documentation.title);
}

} // namespace gos::document
