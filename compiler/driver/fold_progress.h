#pragma once
// What is shown at a terminal while a compile-time region takes long: where it stands and how many
// steps it has done, on one line that is drawn over and goes away.

#include "diagnostics/source_map.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <functional>

namespace gos::driver {

class FoldProgress {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{1000}; // before anything is shown
  static constexpr std::chrono::milliseconds kBetween{200};   // two drawings

  FoldProgress(llvm::raw_ostream& out, const SourceMap& sources,
               std::function<Clock::time_point()> now = Clock::now)
      : out_(out), sources_(sources), now_(std::move(now)) {}

  /// The region at hand has done so many steps.
  void tell(Span region, uint64_t steps);
  /// Takes the line away.
  void clear();

private:
  llvm::raw_ostream& out_;
  const SourceMap& sources_;
  std::function<Clock::time_point()> now_;
  Span region_;
  Clock::time_point since_, drawn_;
  bool isShown_ = false;
};

} // namespace gos::driver
