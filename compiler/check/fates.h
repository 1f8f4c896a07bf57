#pragma once
// What becomes of a closure that captures a reference: it must not outlive the place that the
// reference points to, nor run on another goroutine (language.md section 8.3, GT0052).
//
// Bodies are read one after the other (holdings.h). What a function does with its parameters is
// asked by those that call it, which are read again when more is known of it.

#include "compiler/check/holdings.h"

#include <map>
#include <set>

namespace gos::check {

class Fates {
public:
  explicit Fates(Checker& checker) : checker_(checker) {}

  /// Reads the bodies, and whatever they call, and reports what escapes from them.
  void judge(ArrayRef<Item*> bodies);
  /// What is known so far of the fates of `node` in a function of the program (holdings.h): asked
  /// by the body of `reader`.
  uint8_t of(Item* reader, FunctionItem* function, size_t node);

private:
  struct Reading {
    std::unique_ptr<Holdings> body;
    SmallVector<Item*, 4> askedBy;
    bool isQueued = false;
  };

  Reading& readingOf(Item* item);
  void report(const Origin& origin);

  Checker& checker_;
  std::map<Item*, Reading> readings_; // found by address, never walked
  std::vector<Item*> queue_;
  std::set<std::pair<uint32_t, const Variable*>> mentions_; // reported
};

} // namespace gos::check
