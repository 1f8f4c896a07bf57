#include "diagnostics/escape.h"
#include "diagnostics/presentation.h"
#include "diagnostics/render.h"
#include "diagnostics/snippet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace gos {

namespace {

/// The longest text of one message or note; a program may panic with megabytes.
constexpr size_t kLongestText = 16 * 1024;

Style styleOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return Style::Error;
  case Severity::Warning:
    return Style::Warning;
  case Severity::Note:
    return Style::Note;
  }
  return Style::Plain;
}

std::string shortened(llvm::StringRef text) {
  if (text.size() <= kLongestText)
    return text.str();
  const size_t left = text.size() - kLongestText;
  return text.take_front(kLongestText).str() + "... (" + std::to_string(left) + " bytes more)";
}

/// The labels of one file, in the order in which files are shown.
struct FileGroup {
  FileId file;
  llvm::SmallVector<const Label*, 4> labels;
};

llvm::SmallVector<FileGroup, 2> groupByFile(llvm::ArrayRef<Label> labels,
                                            const SourceMap& sources) {
  llvm::SmallVector<FileGroup, 2> groups;
  for (const Label& label : labels) {
    const FileId file = sources.fileOf(label.span);
    if (file == FileId::None)
      continue;
    auto* group = llvm::find_if(groups, [&](const FileGroup& each) { return each.file == file; });
    if (group == groups.end()) {
      groups.push_back({file, {}});
      group = std::prev(groups.end());
    }
    group->labels.push_back(&label);
  }
  return groups;
}

class TextRenderer {
public:
  TextRenderer(llvm::raw_ostream& out, const Diagnostic& diagnostic, const SourceMap& sources,
               Colour colour)
      : out_(out, colour == Colour::On), diagnostic_(diagnostic), sources_(sources),
        gutter_(gutterWidth(diagnostic.labels, sources)) {}

  void render() {
    writeTitle();
    const auto groups = groupByFile(diagnostic_.labels, sources_);
    for (const FileGroup& group : groups)
      writeGroup(group, &group == groups.begin());
    writeRemarks(!groups.empty());
  }

private:
  void writeTitle() {
    const std::string title =
        (severityWord(diagnostic_.severity) + "[" + spelling(diagnostic_.code) + "]").str();
    out_.write(title, styleOf(diagnostic_.severity));
    out_.write(": " + escapeForText(shortened(diagnostic_.message)), Style::Bold);
    out_.write("\n");
  }

  void writeFrame(llvm::StringRef frame) {
    out_.fill(gutter_);
    out_.write(frame, Style::Frame);
  }

  std::string placeOf(const Label& label) const {
    const LineColumn place = sources_.locate(label.span);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  }

  void writeGroup(const FileGroup& group, bool first) {
    const SourceFile& file = sources_.file(group.file);
    if (!first)
      writeFrame(" |\n");
    writeFrame(first ? "--> " : "::: ");
    out_.write(escapeForText(file.name) + ":" + placeOf(*group.labels.front()) + "\n");
    if (file.snippets == Snippets::Hidden) {
      for (const Label* label : group.labels)
        if (!label->message.empty())
          writeRemark("note", placeOf(*label) + ": " + label->message);
      return;
    }
    writeFrame(" |\n");
    writeSnippet(out_, group.labels, group.file, sources_, gutter_, styleOf(diagnostic_.severity));
  }

  void writeRemarks(bool hasPlace) {
    if (hasPlace && !(diagnostic_.notes.empty() && diagnostic_.helps.empty() &&
                      diagnostic_.suggestions.empty()))
      writeFrame(" |\n");
    for (const Label& label : diagnostic_.labels)
      if (sources_.fileOf(label.span) == FileId::None && !label.message.empty())
        writeRemark("note", label.message);
    for (const std::string& note : diagnostic_.notes)
      writeRemark("note", note);
    for (const std::string& help : diagnostic_.helps)
      writeRemark("help", help);
    for (const Suggestion& suggestion : diagnostic_.suggestions)
      writeRemark("help", suggestion.replacement.empty()
                              ? suggestion.message // what is to be removed stands in the label
                              : suggestion.message + ": `" +
                                    llvm::StringRef(suggestion.replacement).rtrim().str() + "`");
  }

  /// Every line of a remark stands behind a frame, so that none can pass for a message of ours or
  /// for a command to a CI runner (T080).
  void writeRemark(llvm::StringRef kind, llvm::StringRef text) {
    writeFrame(" = ");
    out_.write(kind, Style::Bold);
    const std::string shown = escapeForTextBlock(shortened(text));
    llvm::SmallVector<llvm::StringRef, 4> lines;
    llvm::StringRef(shown).rtrim('\n').split(lines, '\n');
    for (size_t index = 0; index < lines.size(); ++index) {
      if (index == 0)
        out_.write(": ");
      else
        writeFrame(lines[index].empty() ? " |" : " |       ");
      out_.write(lines[index]);
      out_.write("\n");
    }
  }

  StyledOutput out_;
  const Diagnostic& diagnostic_;
  const SourceMap& sources_;
  size_t gutter_;
};

} // namespace

void renderText(llvm::raw_ostream& out, const Diagnostic& diagnostic, const SourceMap& sources,
                Colour colour) {
  const Diagnostic shown = presented(diagnostic, sources);
  TextRenderer(out, shown, sources, colour).render();
}

} // namespace gos
