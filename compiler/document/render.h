#pragma once
// Documentation as text for a terminal, as Markdown, and as pages for a browser.

#include "compiler/document/document.h"
#include "diagnostics/render.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::document {

struct TextOptions {
  unsigned width = 80;
  Colour colour = Colour::Off;
  bool whole = false; // the documentation of every item, not its first sentence
};

/// One item or one module whole; the modules with a line each when `found` names nothing.
void renderText(llvm::raw_ostream& out, const Documentation& documentation, const Found& found,
                const TextOptions& options);
/// The modules with a line each.
void renderModuleList(llvm::raw_ostream& out, const Documentation& documentation,
                      const TextOptions& options);
void renderMarkdown(llvm::raw_ostream& out, const Documentation& documentation, const Found& found);

/// A file of the site.
struct Page {
  std::string name; // "std.fs.html", never with a slash
  std::string content;
};
/// One page a module, an index, a style sheet and the search. Nothing of it asks the network for
/// anything.
std::vector<Page> renderSite(const Documentation& documentation);

/// Writes the site to a directory: whole or not at all. Refuses a directory that is not empty and
/// that this function did not make.
llvm::Error writeSite(llvm::StringRef directory, llvm::ArrayRef<Page> pages);

/// "filesystem read", as reports call a class; empty for what needs nothing.
llvm::StringRef classText(const Item& item);
/// "Functions", "Types": the heading of a kind of item.
llvm::StringRef sectionOf(ItemKind kind);

} // namespace gos::document
