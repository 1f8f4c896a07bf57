#include "diagnostics/presentation.h"

#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"

namespace gos {

namespace {

/// Generated text can generate text; past this many steps the chain says nothing more.
constexpr size_t kLongestParentChain = 8;

bool liesInHidden(Span span, const SourceMap& sources) {
  const FileId id = sources.fileOf(span);
  return id != FileId::None && sources.file(id).snippets == Snippets::Hidden;
}

/// The families whose messages are made of names and types that stand in the source. The others
/// speak of a policy, a value or a file.
bool quotesSource(Code code) {
  const llvm::StringRef family = spelling(code).take_front(2);
  return family == "GP" || family == "GR" || family == "GT" || family == "GM" || family == "GL";
}

void hideWords(Diagnostic& diagnostic) {
  const std::vector<std::string> hidden(8, "...");
  diagnostic.message = fillTemplate(messageTemplate(diagnostic.code), hidden);
  for (Label& label : diagnostic.labels)
    label.message.clear();
  diagnostic.notes.clear();
  diagnostic.helps.clear();
  diagnostic.suggestions.clear();
  diagnostic.notes.push_back("the text was made from a file that was read, so it is not shown");
}

void addParents(Diagnostic& diagnostic, const SourceMap& sources) {
  if (diagnostic.labels.empty())
    return;
  Span at = diagnostic.labels.front().span;
  for (size_t step = 0; step < kLongestParentChain; ++step) {
    const FileId id = sources.fileOf(at);
    if (id == FileId::None || !sources.file(id).parent.valid())
      return;
    at = sources.file(id).parent;
    diagnostic.label(at, "generated here");
  }
}

} // namespace

llvm::StringRef severityWord(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return {};
}

Diagnostic presented(const Diagnostic& diagnostic, const SourceMap& sources) {
  Diagnostic shown = diagnostic;
  const bool hidden = llvm::any_of(
      shown.labels, [&](const Label& label) { return liesInHidden(label.span, sources); });
  if (hidden && quotesSource(shown.code))
    hideWords(shown);
  for (Label& label : shown.labels)
    label.message = bounded(label.message);
  addParents(shown, sources);
  return shown;
}

} // namespace gos
