#include "diagnostics/engine.h"

#include "diagnostics/escape.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <numeric>

namespace gos {

namespace {

/// Words longer than this are not typing mistakes.
constexpr size_t kLongestSuggestedWord = 80;

/// Edits from `left` to `right`: insert, delete, replace, swap of two neighbours; letter case does
/// not count. More than `limit` is answered as `limit + 1`.
size_t editDistance(llvm::StringRef left, llvm::StringRef right, size_t limit) {
  const size_t longer = std::max(left.size(), right.size());
  if (longer - std::min(left.size(), right.size()) > limit)
    return limit + 1;
  llvm::SmallVector<size_t, 96> rows[3];
  for (auto& row : rows)
    row.resize(right.size() + 1);
  std::iota(rows[1].begin(), rows[1].end(), size_t(0));
  for (size_t i = 1; i <= left.size(); ++i) {
    auto& twoUp = rows[(i + 2) % 3];
    auto& up = rows[i % 3];
    auto& row = rows[(i + 1) % 3];
    row[0] = i;
    size_t best = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const auto same = [&](size_t a, size_t b) {
        return llvm::toLower(left[a]) == llvm::toLower(right[b]);
      };
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = std::min(row[j], twoUp[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    if (best > limit)
      return limit + 1;
  }
  return rows[(left.size() + 1) % 3][right.size()];
}

bool samePlaceAndWords(const Diagnostic& a, const Diagnostic& b) {
  const auto sameLabel = [](const Label& x, const Label& y) {
    return x.span == y.span && x.message == y.message && x.primary == y.primary;
  };
  const auto sameSuggestion = [](const Suggestion& x, const Suggestion& y) {
    return x.span == y.span && x.replacement == y.replacement && x.message == y.message;
  };
  return a.code == b.code && a.severity == b.severity && a.message == b.message &&
         a.notes == b.notes && a.helps == b.helps &&
         std::equal(a.labels.begin(), a.labels.end(), b.labels.begin(), b.labels.end(),
                    sameLabel) &&
         std::equal(a.suggestions.begin(), a.suggestions.end(), b.suggestions.begin(),
                    b.suggestions.end(), sameSuggestion);
}

uint32_t placeOf(const Diagnostic& diagnostic) {
  return diagnostic.labels.empty() ? 0 : diagnostic.labels.front().span.begin;
}

} // namespace

std::string diagnosticText(llvm::StringRef value) {
  return value.str();
}
std::string diagnosticText(int64_t value) {
  return std::to_string(value);
}
std::string diagnosticText(uint64_t value) {
  return std::to_string(value);
}

Diagnostic& Engine::add(Span span, Code code, std::vector<std::string> args) {
  const Severity severity = severityOf(code);
  const size_t keptErrors = errors_ - suppressed_;
  // Warnings and notes have a limit of their own, so that many of them cannot hide an error.
  const bool keep =
      severity == Severity::Error ? keptErrors < limit_ : diagnostics_.size() - keptErrors < limit_;
  if (severity == Severity::Error)
    ++errors_;
  else if (severity == Severity::Warning)
    ++warnings_;
  if (!keep) {
    if (severity == Severity::Error)
      ++suppressed_;
    dropped_ = Diagnostic{code, severity, {}, {}, {}, {}, {}};
    return dropped_;
  }
  Diagnostic diagnostic{code, severity, fillTemplate(messageTemplate(code), args), {}, {}, {}, {}};
  if (span.valid())
    diagnostic.labels.push_back({span, {}, true});
  return diagnostics_.emplace_back(std::move(diagnostic));
}

void Engine::rollBack(Mark mark) {
  while (diagnostics_.size() > mark.diagnostics)
    diagnostics_.pop_back();
  errors_ = mark.errors;
  warnings_ = mark.warnings;
  suppressed_ = mark.suppressed;
}

void Engine::sort() {
  std::stable_sort(
      diagnostics_.begin(), diagnostics_.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return placeOf(a) < placeOf(b); });
  std::deque<Diagnostic> kept;
  size_t runBegin = 0; // the first of `kept` at the place of the last one
  for (Diagnostic& diagnostic : diagnostics_) {
    if (kept.empty() || placeOf(kept.back()) != placeOf(diagnostic))
      runBegin = kept.size();
    const bool repeated =
        std::any_of(kept.begin() + ptrdiff_t(runBegin), kept.end(),
                    [&](const Diagnostic& other) { return samePlaceAndWords(other, diagnostic); });
    if (!repeated)
      kept.push_back(std::move(diagnostic));
    else if (diagnostic.severity == Severity::Error)
      --errors_;
    else if (diagnostic.severity == Severity::Warning)
      --warnings_;
  }
  diagnostics_ = std::move(kept);
}

std::string fillTemplate(llvm::StringRef text, llvm::ArrayRef<std::string> args) {
  std::string result;
  while (!text.empty()) {
    const size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == llvm::StringRef::npos)
      break;
    text = text.substr(open);
    size_t index = 0;
    llvm::StringRef rest = text.drop_front();
    if (!rest.consumeInteger(10, index) && rest.consume_front("}") && index < args.size()) {
      result += bounded(args[index]);
      text = rest;
    } else { // a brace of the message itself
      result += '{';
      text = text.drop_front();
    }
  }
  return result;
}

llvm::StringRef nearest(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates) {
  if (word.empty() || word.size() > kLongestSuggestedWord)
    return {};
  // A single letter resembles every other one; only its case may be wrong.
  size_t limit = word.size() == 1 ? 0 : std::max<size_t>(word.size(), 3) / 3;
  llvm::StringRef best;
  for (llvm::StringRef candidate : candidates) {
    if (candidate == word)
      continue;
    const size_t distance = editDistance(word, candidate, limit);
    if (distance > limit || (!best.empty() && distance == limit))
      continue;
    best = candidate;
    limit = distance;
  }
  return best;
}

} // namespace gos
