#include "compiler/testing/selection.h"

#include <numeric>
#include <utility>

namespace gos::testing {

llvm::Expected<Selection> Selection::create(const std::string& pattern,
                                            std::vector<std::string> exact) {
  Selection selection;
  if (!pattern.empty()) {
    selection.pattern_.emplace(pattern);
    std::string why;
    if (!selection.pattern_->isValid(why))
      return llvm::createStringError(llvm::inconvertibleErrorCode(), why.c_str());
  }
  selection.seen_.assign(exact.size(), false);
  selection.exact_ = std::move(exact);
  return selection;
}

bool Selection::wants(const Test& test) {
  if (pattern_ && !pattern_->match(test.name))
    return false;
  bool named = exact_.empty();
  for (size_t i = 0; i != exact_.size(); ++i)
    if (exact_[i] == test.name || exact_[i] == test.bareName)
      named = seen_[i] = true;
  return named;
}

std::vector<std::string> Selection::unmatched() const {
  std::vector<std::string> names;
  for (size_t i = 0; i != exact_.size(); ++i)
    if (!seen_[i])
      names.push_back(exact_[i]);
  return names;
}

std::vector<size_t> shuffledOrder(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  // splitmix64
  auto next = [&seed] {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  };
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[next() % i]);
  return order;
}

} // namespace gos::testing
