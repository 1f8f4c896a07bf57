// Two texts, line by line: the lines that both have in order, by Myers' greedy search.

#include "compiler/format/format.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <vector>

namespace gos::format {

namespace {

using llvm::StringRef;

constexpr size_t kAround = 3;
constexpr int kMaxEdits = 2000; // beyond: one change from the first difference to the last

struct Edit {
  char mark; // ' ', '-', '+'
  StringRef line;
};

std::vector<StringRef> linesOf(StringRef text) {
  std::vector<StringRef> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.take_front(end));
    text = end == StringRef::npos ? StringRef() : text.drop_front(end + 1);
  }
  return lines;
}

/// The edits between two runs of lines that differ at both ends.
std::vector<Edit> editsBetween(llvm::ArrayRef<StringRef> a, llvm::ArrayRef<StringRef> b) {
  const int n = int(a.size()), m = int(b.size());
  std::vector<Edit> edits;
  const int limit = std::min(n + m, kMaxEdits);
  std::vector<std::vector<int>> trace;
  std::vector<int> furthest(2 * size_t(limit) + 3, 0);
  const auto at = [&](std::vector<int>& row, int k) -> int& {
    return row[size_t(int64_t(k) + limit + 1)];
  };
  int found = -1;
  for (int d = 0; d <= limit && found < 0; ++d) {
    trace.push_back(furthest);
    for (int k = -d; k <= d; k += 2) {
      const bool down = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      int y = x - k;
      while (x < n && y < m && a[size_t(x)] == b[size_t(y)])
        ++x, ++y;
      at(furthest, k) = x;
      if (x >= n && y >= m) {
        found = d;
        break;
      }
    }
  }
  if (found < 0) {
    for (StringRef line : a)
      edits.push_back({'-', line});
    for (StringRef line : b)
      edits.push_back({'+', line});
    return edits;
  }
  int x = n, y = m;
  for (int d = found; d >= 0; --d) {
    std::vector<int>& row = trace[size_t(d)];
    const int k = x - y;
    const bool down = k == -d || (k != d && at(row, k - 1) < at(row, k + 1));
    const int fromK = down ? k + 1 : k - 1;
    const int fromX = d == 0 ? 0 : at(row, fromK), fromY = d == 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[size_t(x - 1)] == b[size_t(y - 1)]) {
      edits.push_back({' ', a[size_t(x - 1)]});
      --x, --y;
    }
    if (d == 0)
      break;
    if (down)
      edits.push_back({'+', b[size_t(--y)]});
    else
      edits.push_back({'-', a[size_t(--x)]});
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

} // namespace

std::string unifiedDiff(StringRef before, StringRef after) {
  const std::vector<StringRef> a = linesOf(before), b = linesOf(after);
  size_t front = 0;
  while (front < a.size() && front < b.size() && a[front] == b[front])
    ++front;
  size_t back = 0;
  while (back < a.size() - front && back < b.size() - front &&
         a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  std::vector<Edit> edits;
  edits.reserve(front + back);
  for (size_t i = 0; i < front; ++i)
    edits.push_back({' ', a[i]});
  const std::vector<Edit> middle =
      editsBetween(llvm::ArrayRef(a).slice(front, a.size() - front - back),
                   llvm::ArrayRef(b).slice(front, b.size() - front - back));
  edits.insert(edits.end(), middle.begin(), middle.end());
  for (size_t i = a.size() - back; i < a.size(); ++i)
    edits.push_back({' ', a[i]});

  std::string out;
  llvm::raw_string_ostream stream(out);
  size_t lineA = 0, lineB = 0;
  for (size_t i = 0; i < edits.size();) {
    if (edits[i].mark == ' ') {
      ++i, ++lineA, ++lineB;
      continue;
    }
    // A hunk: until more unchanged lines follow than two margins need.
    const size_t margin = std::min(kAround, i);
    const size_t begin = i - margin;
    size_t end = i, unchanged = 0;
    for (size_t j = i; j < edits.size() && unchanged <= 2 * kAround; ++j) {
      unchanged = edits[j].mark == ' ' ? unchanged + 1 : 0;
      if (unchanged == 0)
        end = j + 1;
    }
    const size_t stop = std::min(end + kAround, edits.size());
    size_t countA = 0, countB = 0;
    for (size_t j = begin; j < stop; ++j) {
      countA += edits[j].mark != '+';
      countB += edits[j].mark != '-';
    }
    stream << "@@ -" << (lineA - margin + (countA != 0)) << ',' << countA << " +"
           << (lineB - margin + (countB != 0)) << ',' << countB << " @@\n";
    for (size_t j = begin; j < stop; ++j)
      stream << edits[j].mark << edits[j].line << '\n';
    for (size_t j = i; j < stop; ++j) {
      lineA += edits[j].mark != '+';
      lineB += edits[j].mark != '-';
    }
    i = stop;
  }
  return out;
}

} // namespace gos::format
