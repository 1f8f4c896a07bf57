#include "diagnostics/render.h"

#include "diagnostics/json_writer.h"
#include "diagnostics/presentation.h"

namespace gos {

namespace {

void writeCount(llvm::raw_ostream& out, size_t count, llvm::StringRef noun) {
  out << count << ' ' << noun << (count == 1 ? "" : "s");
}

/// "2 errors, 1 warning; 3 errors are not shown".
std::string closingCount(const Engine& engine) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (engine.errorCount())
    writeCount(out, engine.errorCount(), "error");
  if (engine.errorCount() && engine.warningCount())
    out << ", ";
  if (engine.warningCount())
    writeCount(out, engine.warningCount(), "warning");
  if (engine.suppressed()) {
    out << "; ";
    writeCount(out, engine.suppressed(), "error");
    out << (engine.suppressed() == 1 ? " is" : " are") << " not shown";
  }
  return text;
}

/// What was left out must not look like everything: the same keys as a diagnostic, without a code.
void writeSuppressed(llvm::raw_ostream& out, const Engine& engine) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", kDiagnosticSchema);
  json.key("code");
  json.null();
  json.member("severity", "note");
  json.key("title");
  json.null();
  json.member("message", closingCount(engine));
  for (llvm::StringRef list : {"labels", "notes", "helps", "suggestions"}) {
    json.key(list);
    json.beginArray();
    json.endArray();
  }
  json.endObject();
  out << json.finish() << '\n';
}

} // namespace

void renderAll(llvm::raw_ostream& out, const Engine& engine, MessageFormat format, Colour colour) {
  switch (format) {
  case MessageFormat::Json:
    for (const Diagnostic& diagnostic : engine.diagnostics())
      renderJson(out, diagnostic, engine.sources());
    if (engine.suppressed())
      writeSuppressed(out, engine);
    return;
  case MessageFormat::Text:
    for (const Diagnostic& diagnostic : engine.diagnostics()) {
      renderText(out, diagnostic, engine.sources(), colour);
      out << '\n';
    }
    if (engine.errorCount() || engine.warningCount())
      out << closingCount(engine) << '\n';
    return;
  }
}

} // namespace gos
