#pragma once
// Which lines of a project's own functions its tests came to, as LCOV.
//
// A line counts where a statement, the value of a block or the body of an arm begins, in a function
// that may run: not in tests, not in what only `cfg(test)` brings, not in `comptime fn`. Functions
// that no test can come to are not lowered, so the lines are taken from the trees, and from the
// module only which of them have been reached. The count of a line is that of the tests.

#include "compiler/check/check.h"
#include "vm/module.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <vector>

namespace gos::testing {

/// Of one unit: a program and its tests.
class UnitCoverage {
public:
  UnitCoverage() = default;
  /// Takes up the functions in the files that `isOwn` names, and the places of the module.
  UnitCoverage(const check::ProgramInput& input, const vm::Module& module,
               llvm::function_ref<bool(FileId)> isOwn);
  /// Of the module; 0 if nothing is asked for.
  size_t placeCount() const { return nodeOf_.size(); }
  /// What one test reached: a byte a place. It comes from the process of the test and may say
  /// anything; more or fewer bytes do no harm.
  void add(llvm::StringRef reached);

private:
  friend class Coverage;
  static constexpr uint32_t kNone = ~0u;

  /// A function, or a statement in one.
  struct Node {
    Span span;
    std::string function; // its name; empty for a statement
    uint32_t parent = kNone;
    uint32_t line = 0;
    FileId file = FileId::None;
    bool hasCode = false;
    uint64_t count = 0;
    uint64_t mark = 0; // the last test that reached it
  };
  class Collector;

  uint32_t innermost(uint32_t position) const;

  const SourceMap* sources_ = nullptr;
  std::vector<Node> nodes_;      // ascending, what contains first
  std::vector<uint32_t> nodeOf_; // by place
  uint64_t test_ = 0;
};

/// Of all units together.
class Coverage {
public:
  void add(const UnitCoverage& unit);
  void write(llvm::raw_ostream& out) const;
  struct Total {
    uint64_t lines = 0, reached = 0;
  };
  Total total() const;

private:
  struct File {
    std::map<uint32_t, uint64_t> lines;                             // count by line
    std::map<std::pair<uint32_t, std::string>, uint64_t> functions; // count by line and name
  };
  std::map<std::string, File> files_; // by name, as it is shown
};

} // namespace gos::testing
