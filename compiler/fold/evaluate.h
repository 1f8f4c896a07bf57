#pragma once
// One fold as a function of bytes: a serialised module and a serialised policy in, a value, notes,
// inputs or a trap out. Nothing of the compiler's memory is reached from here, so this is also what
// a helper process will run.

#include "sandbox/policy/comptime_policy.h"
#include "vm/module.h"
#include "vm/native.h"
#include "vm/trap.h"
#include "vm/vm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gos::fold {

/// What a region may leave behind (language.md section 22.3).
struct RegionValue {
  enum class Kind : uint8_t { Scalar, Text };
  Kind kind = Kind::Scalar;
  uint64_t bits = 0; // integers, bool, char, () and floats, as the VM carries them
  std::string text;  // String
};

struct RegionAnswer {
  std::optional<RegionValue> value; // none: `trap` says why
  vm::Trap trap;
  std::string output;         // what the region printed, capped
  uint64_t outputOmitted = 0; // bytes past the cap
  uint64_t resultBytes = 0;   // of a text that is larger than the budget
  bool resultTooLarge = false;
  std::vector<vm::FoldInput> inputs;
  uint64_t steps = 0; // that it took
  bool knewRead =
      false; // a known constant that it read is made of something outside the program text
};

/// Whose text a region stands in. Text that code of several packages made has no I/O at any level
/// (ruling 2).
enum class Origin : uint8_t { OwnPackage, Foreign };

class Evaluator {
public:
  /// Reads both byte forms back, verifies the module, compiles the policy. An error is a bug of
  /// ours or a forged message, never the user's mistake.
  static llvm::Expected<std::unique_ptr<Evaluator>> create(llvm::StringRef module,
                                                           llvm::StringRef policy,
                                                           const vm::NativeTable& natives,
                                                           vm::ForeignLinker* foreign = nullptr);

  size_t regionCount() const { return module_.regions.size(); }
  /// Runs region `index` of the module afresh: own heap, own globals, own budgets. `progress` as of
  /// vm::VmOptions.
  RegionAnswer evaluate(size_t index, Origin origin, std::function<void(uint64_t)> progress = {});

  /// From now on regions of that package read this value of a constant, instead of computing it
  /// again. Only they: to those of others the gate might have refused what it was computed from.
  /// `read`: from outside the program text.
  void know(uint32_t global, uint32_t package, const RegionValue& value, bool read);

private:
  Evaluator() = default;

  vm::Module module_;
  ComptimePolicy policy_;
  const vm::NativeTable* natives_ = nullptr;
  vm::ForeignLinker* foreign_ = nullptr; // asked for what the gate lets by, at `full` alone
  llvm::DenseMap<uint32_t, llvm::DenseMap<uint32_t, vm::KnownGlobal>>
      known_;                                 // by package, by global
  llvm::DenseSet<uint32_t> knownFromOutside_; // globals
  std::unique_ptr<vm::Vm>
      machine_; // loaded once, restarted for every region: a region costs what it does
};

} // namespace gos::fold
