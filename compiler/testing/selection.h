#pragma once
// Which tests run, and in which order.

#include "compiler/testing/test.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"

#include <string>
#include <vector>

namespace gos::testing {

class Selection {
public:
  /// `pattern`: an extended regular expression that the name of a test must match somewhere; empty
  /// for every test. An error says what is wrong with it.
  static llvm::Expected<Selection> create(const std::string& pattern,
                                          std::vector<std::string> exact);

  /// Is the test asked for? A name of `exact` may leave out the modules.
  bool wants(const Test& test);
  /// Names of `exact` that no test had.
  std::vector<std::string> unmatched() const;

private:
  Selection() = default;
  std::optional<llvm::Regex> pattern_;
  std::vector<std::string> exact_;
  std::vector<bool> seen_;
};

/// An order of `count` things that depends on the seed alone, on every machine alike.
std::vector<size_t> shuffledOrder(size_t count, uint64_t seed);

} // namespace gos::testing
