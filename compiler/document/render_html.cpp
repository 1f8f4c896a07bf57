// Pages for a browser: opened from a disk, without a network, in a light or a dark room.

#include "compiler/document/markdown.h"
#include "compiler/document/render.h"
#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace gos::document {
namespace {

using llvm::StringRef;

constexpr StringRef kStyle =
#include "compiler/document/style.inc"
    ;
constexpr StringRef kScript =
#include "compiler/document/search.inc"
    ;

/// Text that stands in HTML, in an attribute too.
std::string escaped(StringRef text) {
  std::string result;
  for (char c : escapeForTextBlock(text)) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

/// A name for a file or an anchor: letters, digits, `_`, `-` and `.`; the rest as `~XX`.
std::string slug(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i).starts_with("::")) {
      result += '.';
      ++i;
    } else if (llvm::isAlnum(c) || c == '_' || c == '-') {
      result += c;
    } else {
      result += "~" + llvm::toHex(StringRef(&c, 1));
    }
  }
  return result;
}

std::string fileOf(const Module& module, StringRef title) {
  std::string name = slug(module.path.empty() ? title : StringRef(module.path));
  return (name == "index" ? "index_" : name) + ".html";
}

/// The path of an item within its module.
StringRef within(const Item& item, const Module& module) {
  StringRef path = item.path;
  if (!module.path.empty() && path.consume_front(module.path))
    path.consume_front("::");
  return path;
}

/// A string literal of JavaScript that is safe inside a `script` element as well.
std::string scriptString(StringRef text) {
  std::string result = "\"";
  for (char c : escapeForTextBlock(text)) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (c == '<' || c == '>' || c == '&')
      result += "\\x" + llvm::toHex(StringRef(&c, 1));
    else if (uint8_t(c) >= 0x20 || c == '\t')
      result += c;
  }
  return result + "\"";
}

class SiteRenderer {
public:
  explicit SiteRenderer(const Documentation& documentation) : documentation_(documentation) {
    for (const Module& module : documentation_.modules)
      for (const Item& item : module.items)
        if (isType(item))
          types_[item.name].push_back({&module, &item});
  }

  std::vector<Page> run() {
    std::vector<Page> pages;
    pages.push_back({"index.html", index()});
    for (const Module& module : documentation_.modules)
      pages.push_back({fileOf(module, documentation_.title), modulePage(module)});
    pages.push_back({"style.css", kStyle.str()});
    pages.push_back({"search.js", search()});
    return pages;
  }

private:
  struct Place {
    const Module* module;
    const Item* item;
  };

  static bool isType(const Item& item) {
    const StringRef section = sectionOf(item.kind);
    return (section == "Types" || section == "Traits") && item.kind != ItemKind::Implementation;
  }

  std::string page(StringRef title, StringRef body, const Module* current) {
    std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>";
    text += escaped(title) +
            "</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n<nav>\n";
    text += "<a class=\"title\" href=\"index.html\">" + escaped(documentation_.title) + "</a>\n";
    text += "<input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" "
            "autocomplete=\"off\">\n<ul id=\"found\" hidden></ul>\n<ul id=\"modules\">\n";
    for (const Module& module : documentation_.modules) {
      text += "<li><a href=\"" + fileOf(module, documentation_.title) + "\"";
      if (&module == current)
        text += " aria-current=\"page\"";
      text += ">" + escaped(nameOf(module)) + "</a></li>\n";
    }
    text += "</ul>\n</nav>\n<main>\n";
    text += body;
    text += "</main>\n<script src=\"search.js\"></script>\n</body>\n</html>\n";
    return text;
  }

  StringRef nameOf(const Module& module) const {
    return module.path.empty() ? StringRef(documentation_.title) : StringRef(module.path);
  }

  std::string index() {
    std::string body = "<h1>" + escaped(documentation_.title) + "</h1>\n<table class=\"list\">\n";
    for (const Module& module : documentation_.modules)
      body += "<tr><td><a href=\"" + fileOf(module, documentation_.title) + "\"><code>" +
              escaped(nameOf(module)) + "</code></a></td><td>" +
              inlineText(summary(module.documentation)) + "</td></tr>\n";
    if (documentation_.modules.empty())
      body += "<tr><td>Nothing is documented.</td></tr>\n";
    return page(documentation_.title, body + "</table>\n", nullptr);
  }

  std::string modulePage(const Module& module) {
    module_ = &module;
    anchors_.clear();
    std::string body = "<p class=\"kind\">" +
                       std::string(module.isBinding ? "module of a Rust binding" : "module") +
                       "</p>\n<h1>" + escaped(nameOf(module)) + "</h1>\n" +
                       markdown(module.documentation);
    std::string contents, sections;
    for (StringRef section : {"Types", "Traits", "Functions", "Constants"}) {
      std::string inside, names;
      for (const Item& item : module.items) {
        if (sectionOf(item.kind) != section)
          continue;
        std::string anchor;
        inside += itemText(item, 3, anchor);
        names += " <a href=\"#" + anchor + "\"><code>" + escaped(item.name) + "</code></a>";
      }
      if (inside.empty())
        continue;
      contents += "<p class=\"names\"><b>" + section.str() + "</b>" + names + "</p>\n";
      sections += "<h2>" + section.str() + "</h2>\n" + inside;
    }
    return page(nameOf(module), body + contents + sections, &module);
  }

  std::string newAnchor(const Item& item) {
    const std::string base = slug(within(item, *module_));
    std::string anchor = base;
    for (unsigned count = 2; !anchors_.insert(anchor).second; ++count)
      anchor = base + "-" + llvm::utostr(count);
    return anchor;
  }

  std::string itemText(const Item& item, unsigned level, std::string& anchor) {
    anchor = newAnchor(item);
    const std::string heading = "h" + llvm::utostr(std::min(level, 6u));
    std::string text = "<section id=\"" + anchor + "\">\n<" + heading + "><a href=\"#" + anchor +
                       "\">" + escaped(item.name) + "</a>";
    if (StringRef name = classText(item); !name.empty())
      text += " <span class=\"class\" title=\"what a compile-time region needs for it\">" +
              escaped(name) + "</span>";
    if (item.notBuilt)
      text += " <span class=\"class\">not built yet</span>";
    text += "</" + heading + ">\n";
    if (!item.signature.empty())
      text += "<pre class=\"signature\"><code>" + code(item.signature) + "</code></pre>\n";
    text += markdown(item.documentation);
    std::string parts, functions;
    std::vector<std::string> traits;
    for (const Item& member : item.members) {
      if (member.kind == ItemKind::Implementation) {
        traits.push_back("<code>" + code(member.signature) + "</code>");
      } else if (member.kind == ItemKind::Field || member.kind == ItemKind::Variant) {
        if (!member.documentation.empty())
          parts += "<dt id=\"" + newAnchor(member) + "\"><code>" + code(member.signature) +
                   "</code></dt>\n<dd>" + markdown(member.documentation) + "</dd>\n";
      } else {
        std::string inner;
        functions += itemText(member, level + 1, inner);
      }
    }
    if (!parts.empty())
      text += "<dl>\n" + parts + "</dl>\n";
    text += functions;
    if (!traits.empty()) {
      text += "<p class=\"kind\">implements</p>\n<ul class=\"traits\">\n";
      for (const std::string& each : traits)
        text += "<li>" + each + "</li>\n";
      text += "</ul>\n";
    }
    return text + "</section>\n";
  }

  /// Where the name of a type leads: to this module's, or to the only one.
  std::string targetOf(StringRef name, StringRef qualifier) const {
    auto found = types_.find(name);
    if (found == types_.end())
      return {};
    const Place* place = nullptr;
    for (const Place& each : found->second) {
      const StringRef path = each.module->path;
      const bool fits = qualifier.empty()
                            ? each.module == module_
                            : path == qualifier || path.ends_with(("::" + qualifier).str());
      if (fits)
        place = &each;
    }
    if (!place && qualifier.empty())
      for (const Place& each : found->second)
        if (each.module->path == "std::prelude" || found->second.size() == 1)
          place = &each;
    if (!place)
      return {};
    return (place->module == module_ ? "" : fileOf(*place->module, documentation_.title)) + "#" +
           slug(within(*place->item, *place->module));
  }

  /// Gossamer code: words of the language marked, names of types linked.
  std::string code(StringRef text) {
    static constexpr StringRef kWords[] = {
        "pub",   "fn",     "struct",   "enum", "trait",  "impl", "for",      "where",
        "const", "static", "mut",      "type", "self",   "Self", "let",      "if",
        "else",  "match",  "while",    "loop", "return", "use",  "comptime", "newtype",
        "in",    "break",  "continue", "true", "false",  "as",   "mod",      "defer"};
    std::string result;
    std::string qualifier;
    size_t i = 0;
    while (i < text.size()) {
      const char c = text[i];
      if (text.substr(i).starts_with("//")) {
        const size_t end = std::min(text.find('\n', i), text.size());
        result += "<i>" + escaped(text.slice(i, end)) + "</i>";
        i = end;
      } else if (c == '"') {
        size_t end = i + 1;
        while (end < text.size() && text[end] != '"' && text[end] != '\n')
          end += text[end] == '\\' ? 2 : 1;
        end = std::min(end + 1, text.size());
        result += "<q>" + escaped(text.slice(i, end)) + "</q>";
        i = end;
      } else if (llvm::isAlpha(c) || c == '_') {
        size_t end = i;
        while (end < text.size() &&
               (llvm::isAlnum(text[end]) || text[end] == '_' || uint8_t(text[end]) >= 0x80))
          ++end;
        const StringRef word = text.slice(i, end);
        const std::string target = targetOf(word, qualifier);
        if (llvm::is_contained(kWords, word))
          result += "<b>" + escaped(word) + "</b>";
        else if (!target.empty())
          result += "<a href=\"" + target + "\">" + escaped(word) + "</a>";
        else
          result += escaped(word);
        i = end;
        if (text.substr(i).starts_with("::")) {
          qualifier = qualifier.empty() ? word.str() : qualifier + "::" + word.str();
          result += "::";
          i += 2;
        } else {
          qualifier.clear();
        }
      } else {
        size_t end = i + 1; // a whole scalar value, so that escaping sees it
        while (end < text.size() && (uint8_t(text[end]) & 0xc0) == 0x80)
          ++end;
        result += escaped(text.slice(i, end));
        i = end;
        qualifier.clear();
      }
    }
    return result;
  }

  std::string inlineText(StringRef text) {
    std::string result;
    for (const Run& run : parseInline(text)) {
      const std::string inside = escaped(run.text);
      switch (run.kind) {
      case Run::Kind::Text:
        result += inside;
        break;
      case Run::Kind::Code:
        result += "<code>" + inside + "</code>";
        break;
      case Run::Kind::Strong:
        result += "<strong>" + inside + "</strong>";
        break;
      case Run::Kind::Emphasis:
        result += "<em>" + inside + "</em>";
        break;
      case Run::Kind::Link:
        result += isSafeTarget(run.target)
                      ? "<a href=\"" + escaped(run.target) + "\">" + inside + "</a>"
                      : inside;
        break;
      }
    }
    return result;
  }

  std::string markdown(StringRef text) {
    std::string result;
    std::vector<StringRef> lists; // that are open, each with an open item
    const auto closeLists = [&](size_t kept) {
      for (; lists.size() > kept; lists.pop_back())
        result += ("</li>\n</" + lists.back() + ">\n").str();
    };
    for (const Block& block : parseMarkdown(text)) {
      if (block.kind != Block::Kind::Item)
        closeLists(0);
      switch (block.kind) {
      case Block::Kind::Code:
        result += "<pre><code>" +
                  (block.info.empty() || block.info == "gossamer" ? code(block.text)
                                                                  : escaped(block.text)) +
                  "</code></pre>\n";
        break;
      case Block::Kind::Heading:
        result += "<p class=\"heading\">" + inlineText(block.text) + "</p>\n";
        break;
      case Block::Kind::Item: {
        const StringRef list = block.marker.empty() ? "ul" : "ol";
        const size_t depth = std::min<size_t>(block.level, lists.size());
        closeLists(depth + 1);
        if (lists.size() == depth + 1 && lists.back() != list)
          closeLists(depth);
        if (lists.size() == depth + 1) {
          result += "</li>\n";
        } else {
          result += ("<" + list + ">\n").str();
          lists.push_back(list);
        }
        result += "<li>" + inlineText(block.text);
        break;
      }
      case Block::Kind::Quote:
        result += "<blockquote>" + inlineText(block.text) + "</blockquote>\n";
        break;
      case Block::Kind::Table:
        result += table(block);
        break;
      case Block::Kind::Paragraph:
        result += "<p>" + inlineText(block.text) + "</p>\n";
        break;
      }
    }
    closeLists(0);
    return result;
  }

  std::string table(const Block& block) {
    std::string result = "<div class=\"wide\"><table class=\"cells\">\n";
    for (size_t row = 0; row != block.rows.size(); ++row) {
      result += "<tr>";
      for (size_t column = 0; column != block.alignments.size(); ++column) {
        const StringRef tag = row == 0 ? "th" : "td";
        const Alignment alignment = block.alignments[column];
        result += ("<" + tag).str();
        if (alignment == Alignment::Right || alignment == Alignment::Centre)
          result += alignment == Alignment::Right ? " class=\"right\"" : " class=\"centre\"";
        result += ">" + inlineText(block.rows[row][column]) + ("</" + tag + ">").str();
      }
      result += "</tr>\n";
    }
    return result + "</table></div>\n";
  }

  void indexItems(llvm::ArrayRef<Item> items, const Module& module, std::string& text,
                  unsigned depth) {
    for (const Item& item : items) {
      if (item.kind == ItemKind::Implementation || item.kind == ItemKind::Field ||
          item.kind == ItemKind::Variant)
        continue;
      text +=
          "[" + scriptString(item.path) + "," +
          scriptString(fileOf(module, documentation_.title) + "#" + slug(within(item, module))) +
          "," + scriptString(summary(item.documentation)) + "],\n";
      if (depth < 4)
        indexItems(item.members, module, text, depth + 1);
    }
  }

  std::string search() {
    std::string text = "\"use strict\";\nconst entries = [\n";
    for (const Module& module : documentation_.modules) {
      text += "[" + scriptString(nameOf(module)) + "," +
              scriptString(fileOf(module, documentation_.title)) + "," +
              scriptString(summary(module.documentation)) + "],\n";
      indexItems(module.items, module, text, 0);
    }
    return text + "];\n" + kScript.str();
  }

  const Documentation& documentation_;
  llvm::StringMap<std::vector<Place>> types_;
  const Module* module_ = nullptr;
  llvm::StringSet<> anchors_;
};

} // namespace

std::vector<Page> renderSite(const Documentation& documentation) {
  return SiteRenderer(documentation).run();
}

} // namespace gos::document
