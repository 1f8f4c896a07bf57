#pragma once
// Evaluates the compile-time regions of a checked program and puts what they leave in their place.

#include "compiler/check/check.h"
#include "sandbox/policy/comptime_policy.h"
#include "vm/native.h"
#include "vm/vm.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <string>
#include <vector>

namespace gos::fold {

/// What regions printed and read, kept over the rounds of one compilation.
struct FoldRecord {
  size_t regions = 0;
  uint64_t steps = 0; // of all regions together
  std::vector<vm::FoldInput> inputs;
};

struct FoldContext {
  check::ProgramInput& input; // `folded` grows
  const ComptimePolicy& policy;
  const vm::NativeTable& natives;
  Engine& engine;
  FoldRecord record;
  unsigned round = 0;
  uint64_t generatedBytes = 0;
  uint64_t nestedTexts = 0; // that generated text generated
  // What regions of earlier rounds left stands in the program as literals. Text made from it may be
  // what they read, or another package's making, and no trace of the later region shows that.
  bool earlierRead = false;
  bool earlierForeign = false;
  llvm::StringMap<unsigned> generatedAt; // texts, by their place in a real file
  bool hasForeignText = false;           // stands in the program: code of several packages made it
  /// The library of Rust bindings, for regions at `full`; loaded when one of them calls it.
  vm::ForeignLinker* foreign = nullptr;
  /// Told of a region that takes long: the steps that it has done.
  std::function<void(Span region, uint64_t steps)> progress;
};

/// Generated text may hold regions of its own; more rounds than this do not settle (GC0007).
inline constexpr unsigned kMaxRounds = 32;
/// Texts that generated text generates: they can double with each round.
inline constexpr uint64_t kMaxNestedTexts = 10'000;
/// All text that `codegen!` may make in one compilation.
inline constexpr uint64_t kMaxGeneratedBytes = uint64_t(64) << 20;

enum class FoldOutcome : uint8_t {
  Nothing, // no region is left: the program is complete
  Spliced, // regions were replaced: check again
  Failed,  // reported; nothing more of the fold may run
};

/// One round: the regions of `program` are lowered to one module and evaluated in order, but a
/// constant before those that read it, which then read its value; the first trap ends it. Regions
/// at type level go first and alone, since types are not complete without them.
FoldOutcome foldRound(FoldContext& context, check::Program& program);

} // namespace gos::fold
