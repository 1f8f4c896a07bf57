#pragma once
// Collects what is wrong with the user's program. Phases report; the driver renders at the end.

#include "diagnostics/code.h"
#include "diagnostics/source_map.h"

#include <deque>
#include <string>
#include <type_traits>
#include <vector>

namespace gos {

struct Label {
  Span span;
  std::string message; // may be empty
  bool primary = false;
};

/// A replacement that a tool may apply.
struct Suggestion {
  Span span;
  std::string replacement;
  std::string message;
};

struct Diagnostic {
  Code code;
  Severity severity;
  std::string message;       // raw bytes of the outside may be in it; renderers escape
  std::vector<Label> labels; // the first is primary; none for a diagnostic without a place
  std::vector<std::string> notes;
  std::vector<std::string> helps;
  std::vector<Suggestion> suggestions;

  // Builders, so that a report reads as one statement.
  Diagnostic& label(Span span, std::string text) {
    labels.push_back({span, std::move(text), false});
    return *this;
  }
  Diagnostic& primary(std::string text) {
    if (!labels.empty())
      labels.front().message = std::move(text);
    return *this;
  }
  Diagnostic& note(std::string text) {
    notes.push_back(std::move(text));
    return *this;
  }
  Diagnostic& help(std::string text) {
    helps.push_back(std::move(text));
    return *this;
  }
  Diagnostic& suggest(Span span, std::string replacement, std::string text) {
    suggestions.push_back({span, std::move(replacement), std::move(text)});
    return *this;
  }
};

/// An argument of a message, already text.
std::string diagnosticText(llvm::StringRef value);
std::string diagnosticText(int64_t value);
std::string diagnosticText(uint64_t value);

class Engine {
public:
  explicit Engine(const SourceMap& sources) : sources_(sources) {}

  /// Reports at a place. Past the error limit the report is counted and dropped.
  template <class... Args>
  Diagnostic& report(Span span, Diag<Args...> diag, std::type_identity_t<Args>... args) {
    return add(span, diag.code, {toText(args)...});
  }
  /// Reports something that has no place.
  template <class... Args>
  Diagnostic& report(Diag<Args...> diag, std::type_identity_t<Args>... args) {
    return add(Span{}, diag.code, {toText(args)...});
  }

  const std::deque<Diagnostic>& diagnostics() const { return diagnostics_; }
  size_t errorCount() const { return errors_; }
  size_t warningCount() const { return warnings_; }
  /// Errors that were counted and not kept ("and N more").
  size_t suppressed() const { return suppressed_; }
  bool hasErrors() const { return errors_ != 0; }
  const SourceMap& sources() const { return sources_; }

  /// The number of diagnostics kept; later ones are only counted (T075).
  void setLimit(size_t limit) { limit_ = limit; }
  /// Drops what was reported since `mark`, for a phase that tries something and takes it back.
  struct Mark {
    size_t diagnostics, errors, warnings, suppressed;
  };
  Mark mark() const { return {diagnostics_.size(), errors_, warnings_, suppressed_}; }
  void rollBack(Mark mark);
  /// Sorts by place, keeping the order of equals, and drops exact repetitions.
  void sort();

private:
  template <class T> static std::string toText(const T& value) {
    if constexpr (std::is_convertible_v<T, llvm::StringRef>)
      return diagnosticText(llvm::StringRef(value));
    else if constexpr (std::is_signed_v<T>)
      return diagnosticText(int64_t(value));
    else
      return diagnosticText(uint64_t(value));
  }
  Diagnostic& add(Span span, Code code, std::vector<std::string> args);

  const SourceMap& sources_;
  std::deque<Diagnostic> diagnostics_;
  Diagnostic dropped_; // what a report past the limit writes into
  size_t errors_ = 0, warnings_ = 0, suppressed_ = 0;
  size_t limit_ = 100;
};

/// Fills {0}, {1}, ... of a message template.
std::string fillTemplate(llvm::StringRef text, llvm::ArrayRef<std::string> args);
/// The closest of `candidates` to `word` within a third of its length, or empty: for did-you-mean.
llvm::StringRef nearest(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace gos
