#include "diagnostics/explain.h"

#include "diagnostics/explanations.h"

namespace gos {

llvm::StringRef explanation(Code code) {
  for (const ExplanationPage& page : explanationPages())
    if (page.code == code)
      return {page.text, page.size};
  return {};
}

std::vector<ExplanationExample> explanationExamples(llvm::StringRef page) {
  std::vector<ExplanationExample> examples;
  using Kind = ExplanationExample::Kind;
  Kind kind = Kind::Broken;
  bool inExamples = false;
  while (!page.empty()) {
    auto [line, rest] = page.split('\n');
    page = rest;
    if (line.starts_with("## ")) {
      const bool broken = line.starts_with("## Broken");
      inExamples = broken || line.starts_with("## Fixed");
      kind = broken ? Kind::Broken : Kind::Fixed;
      continue;
    }
    if (!line.consume_front("```"))
      continue;
    const size_t end = page.starts_with("```") ? 0 : page.find("\n```");
    if (end == llvm::StringRef::npos)
      break;
    const llvm::StringRef text = end == 0 ? "" : page.take_front(end + 1);
    if (inExamples)
      examples.push_back({kind, line.trim(), text});
    page = page.drop_front(text.size()).split('\n').second;
  }
  return examples;
}

llvm::StringRef noExampleReason(llvm::StringRef page) {
  while (!page.empty()) {
    auto [line, rest] = page.split('\n');
    page = rest;
    if (line.consume_front("no example: "))
      return line.trim();
  }
  return {};
}

} // namespace gos
