#include "diagnostics/json_writer.h"
#include "diagnostics/presentation.h"
#include "diagnostics/render.h"

#include <algorithm>

namespace gos {

namespace {

/// A span as bytes of one file, cut to the file.
struct FileRange {
  FileId file = FileId::None;
  uint32_t begin = 0, end = 0;
};

FileRange rangeOf(Span span, const SourceMap& sources) {
  FileRange range;
  range.file = sources.fileOf(span);
  if (range.file == FileId::None)
    return range;
  const SourceFile& file = sources.file(range.file);
  range.begin = span.begin - file.base;
  range.end = std::clamp(span.end - file.base, range.begin, file.size());
  return range;
}

void writeFile(JsonWriter& json, const FileRange& range, const SourceMap& sources) {
  json.key("file");
  if (range.file == FileId::None)
    json.null();
  else
    json.string(sources.file(range.file).name);
}

void writeRange(JsonWriter& json, const FileRange& range) {
  json.member("span_start", uint64_t(range.begin));
  json.member("span_end", uint64_t(range.end));
}

void writeLabel(JsonWriter& json, const Label& label, const SourceMap& sources) {
  const FileRange range = rangeOf(label.span, sources);
  const LineColumn place = sources.locate(range.file, range.begin);
  json.beginObject();
  writeFile(json, range, sources);
  json.member("line", uint64_t(place.line));
  json.member("column", uint64_t(place.column));
  writeRange(json, range);
  json.key("primary");
  json.boolean(label.primary);
  json.member("message", label.message);
  json.endObject();
}

void writeSuggestion(JsonWriter& json, const Suggestion& suggestion, const SourceMap& sources) {
  const FileRange range = rangeOf(suggestion.span, sources);
  json.beginObject();
  writeFile(json, range, sources);
  writeRange(json, range);
  json.member("replacement", suggestion.replacement);
  json.member("message", suggestion.message);
  json.endObject();
}

void writeStrings(JsonWriter& json, llvm::StringRef key, const std::vector<std::string>& texts) {
  json.key(key);
  json.beginArray();
  for (const std::string& text : texts)
    json.string(text);
  json.endArray();
}

} // namespace

void renderJson(llvm::raw_ostream& out, const Diagnostic& diagnostic, const SourceMap& sources) {
  const Diagnostic shown = presented(diagnostic, sources);
  JsonWriter json;
  json.beginObject();
  json.member("schema", kDiagnosticSchema);
  json.member("code", spelling(shown.code));
  json.member("severity", severityWord(shown.severity));
  json.member("title", title(shown.code));
  json.member("message", shown.message);
  json.key("labels");
  json.beginArray();
  for (const Label& label : shown.labels)
    writeLabel(json, label, sources);
  json.endArray();
  writeStrings(json, "notes", shown.notes);
  writeStrings(json, "helps", shown.helps);
  json.key("suggestions");
  json.beginArray();
  for (const Suggestion& suggestion : shown.suggestions)
    writeSuggestion(json, suggestion, sources);
  json.endArray();
  json.endObject();
  out << json.finish() << '\n';
}

} // namespace gos
