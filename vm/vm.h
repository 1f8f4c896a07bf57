#pragma once
// The virtual machine: one module, one heap, one stack of frames.
//
// Usage:  auto vm = Vm::create(module, stdlib::nativeTable(), options);     // verifies
//         Value result = 0;
//         if (Trap trap = (*vm)->run(module.entry, result)) report(*trap);
//         (*vm)->releaseValue(result, layout);
//
// Everything a program does to the world goes through callNative, and in a fold the gate there asks
// first (threats: gate bypass). A fold without a policy may compute and nothing else. One thread.

#include "vm/capability_table.h"
#include "vm/foreign.h"
#include "vm/heap.h"
#include "vm/module.h"
#include "vm/native.h"
#include "vm/scheduler.h"
#include "vm/trap.h"
#include "vm/verifier.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gos::vm {

inline constexpr uint64_t kUnlimited = ~uint64_t(0);

// Where a global stands: its initialiser runs at most once, and one that comes back to itself is a
// trap.
inline constexpr uint8_t kGlobalUnset = 0, kGlobalRunning = 1, kGlobalReady = 2;

/// Fold: gated; without a policy only Pure natives are reached. Program: run time is free.
enum class Mode : uint8_t { Fold, Program };
/// Verified: the caller did, on this very module (or a test means to get past the verifier).
enum class Verification : uint8_t { Verify, Verified };

/// What the library's bodies keep for one Vm: streams, handles, the environment overlay, opened
/// roots.
class HostState {
public:
  virtual ~HostState() = default;
};

/// The value of a constant that is known before its initialiser has run: a scalar, or a String.
struct KnownGlobal {
  uint64_t bits = 0;
  std::string text;
  bool isText = false;
};

struct VmOptions {
  Mode mode = Mode::Fold;
  // ---- a fold ----
  const ComptimePolicy* policy = nullptr; // outlives the Vm
  uint32_t regionPackage = kNoPackage;    // module package id of the region
  /// Globals by number that are not initialised but read from here; outlives the run.
  const llvm::DenseMap<uint32_t, KnownGlobal>* knownGlobals = nullptr;
  // ---- bounds ----
  uint64_t steps = kUnlimited;
  uint64_t heapBytes = 0;                    // 0: the memory of the machine
  uint64_t depth = 100'000;                  // nested calls
  uint64_t outputBytes = uint64_t(64) << 10; // of captured output
  Verification verification = Verification::Verify;
  std::unique_ptr<HostState> host;
  /// The library that foreign imports are found in; outlives the Vm, or its next restart. Without
  /// one a program that has such imports is refused; a fold is refused at the call, which the gate
  /// denies first below `full`.
  ForeignLinker* foreign = nullptr;
  /// Not 0: goroutines take turns in an order that is a function of this number, with turns of
  /// uneven length. For tests that look for what depends on the order.
  uint64_t scheduleSeed = 0;
  /// Told the steps so far about every tenth of a second of work, if it is there. Turns of
  /// goroutines are the same.
  std::function<void(uint64_t steps)> progress;
};

/// Something outside the program text that a fold used.
struct FoldInput {
  enum class Kind : uint8_t { File, Directory, Query, Absence, Link, Environment };
  Kind kind = Kind::File;
  uint32_t package = 0; // module package id whose root it lies beneath
  std::string name;     // path beneath the root, or variable
  uint64_t size = 0;
  std::array<uint8_t, 32> sha256{};
  std::string detail; // Link: its text
  friend bool operator==(const FoldInput&, const FoldInput&) = default;
};

/// A call in progress; vm/interpreter.cpp.
struct RuntimeFunction;
struct Frame;
enum class MainWait : uint8_t; // vm/scheduler.h

class Vm {
public:
  /// Of runs within runs, which take the C stack.
#ifdef GOS_SANITIZED
  static constexpr unsigned kNestingLimit = 120;
#else
  static constexpr unsigned kNestingLimit = 3000;
#endif

  /// Refuses a module that does not verify, and natives that are not in the table. Module and table
  /// outlive the Vm.
  static llvm::Expected<std::unique_ptr<Vm>> create(const Module& module,
                                                    const NativeTable& natives, VmOptions options);
  ~Vm();
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  // ---- running
  // ------------------------------------------------------------------------------------
  /// Runs the module's initialiser if that was not done yet, then the function, which takes no
  /// parameters, and the goroutines that it left, to their ends. A reference result is the
  /// caller's.
  Trap run(FunctionId function, Value& result);
  /// The same for a program that comes in parts, each a run of its own, of `gos repl`: goroutines
  /// stay for `settle`, and for the parts that follow.
  Trap runPart(FunctionId function, Value& result);
  /// Lets goroutines go on after a part, until each has ended or waits for what only another one
  /// could give. For the world only those that this part has started are waited for.
  Trap settle();
  /// Re-entrant: for hooks and for natives with callbacks. Takes over the arguments, also when it
  /// traps.
  Trap call(FunctionId function, llvm::ArrayRef<Value> arguments, Value& result);
  Trap callClosure(Value closure, llvm::ArrayRef<Value> arguments, Value& result);
  /// Ready for another region of the same module: a fresh heap, fresh globals, counters, output and
  /// inputs, without verifying and loading again. Values of before are gone.
  void restart(VmOptions options);
  /// Goroutines; made when it is first asked for.
  Scheduler& scheduler();
  /// The same, or null if no goroutine was ever started.
  Scheduler* schedulerIfAny() const { return scheduler_.get(); }
  /// Called before the thread waits for the world: what is buffered goes out.
  void setBeforeWaiting(void (*hook)(Vm&)) { beforeWaiting_ = hook; }
  /// The module has grown since it was loaded, at the ends of its tables (hooks of layouts may have
  /// changed): verifies and loads what is new. Heap, globals, host and goroutines stay as they are.
  /// An error leaves a Vm that must not run any more. For `gos repl`.
  llvm::Error extend(const NativeTable& natives);
  /// The (borrowed) content of a global's cell.
  Value globalContent(uint32_t global) const;
  /// From here to `endInterrupts` a signal handler of the thread that runs may call `interrupt`,
  /// which ends the run with a panic at the next jump back or call. The caller knows that it asked,
  /// and words it so.
  void prepareInterrupts();
  void interrupt();
  void endInterrupts();
  /// From here on each place of the module (numbered as vm/coverage.h does) that the program comes
  /// to is marked with 1. A place costs something once. `seen` has a byte a place and outlives the
  /// Vm; not with `extend` or `restart`.
  void watchLines(llvm::MutableArrayRef<uint8_t> seen);
  /// Says where the program is, for a trap that is not raised. From a native, or what it calls.
  void addTrace(TrapDetails& details) const { takeTrace(details); }
  /// Charges work that a native does in bulk; GX0009 when the steps are used up.
  Trap charge(uint64_t steps);
  /// Steps spent so far.
  uint64_t stepsUsed() const;
  /// Those of VmOptions::knownGlobals that the run has read.
  llvm::ArrayRef<uint32_t> knownGlobalsRead() const { return knownGlobalsRead_; }

  // ---- the module
  // -----------------------------------------------------------------------------------
  const Module& module() const { return module_; }
  const Layout& layout(LayoutId id) const { return module_.layouts[index(id)]; }
  const LayoutInfo& info(LayoutId id) const { return heap_.info(id); }
  bool isReference(LayoutId id) const { return heap_.info(id).isReference; }

  // ---- values
  // ---------------------------------------------------------------------------------------
  Heap& heap() { return heap_; }
  /// GX0009 for a heap that has no room.
  Trap heapTrap() const {
    return heap_.wasRefused() ? Trap::outOfMemory(heap_.used())
                              : Trap::budget("heap", heap_.limit());
  }
  void releaseValue(Value value, LayoutId layout) {
    heap_.releaseValue(value, isReference(layout));
  }
  Value retainValue(Value value, LayoutId layout) const {
    return isReference(layout) ? retained(value) : value;
  }
  /// The shared object of a variant without payload.
  Value unitVariant(LayoutId layout, uint16_t variant);

  /// For C++ that may come back to itself through guest code or nested keys: false when the C stack
  /// has had enough.
  bool enterNested() { return nesting_ < kNestingLimit && (++nesting_, true); }
  void leaveNested() { --nesting_; }
  Trap depthTrap() const {
    return nesting_ >= kNestingLimit ? Trap::nesting(kNestingLimit) : Trap::depth(depthLimit_);
  }

  // ---- host
  // -----------------------------------------------------------------------------------------
  HostState* host() const { return host_.get(); }
  void setHost(std::unique_ptr<HostState> host) { host_ = std::move(host); }

  // ---- the gate
  // ---------------------------------------------------------------------------------------
  bool inFold() const { return mode_ == Mode::Fold; }
  const ComptimePolicy* policy() const { return policy_; }
  /// Module package id of the source that spelled the call in progress: the nearest frame that is
  /// not library code. kNoPackage if there is none.
  uint32_t callingPackage() const;
  /// What the policy knows of that package; null if nothing (then deny).
  const PackagePolicy* callingPackagePolicy() const;
  /// The level in force for the call in progress. None without a policy.
  EffectiveLevel callingLevel() const;
  /// The policy value that `decide` and `decideEnv` judge the call in progress by; grants nothing
  /// without a policy.
  Policy callingPolicy() const;
  ClassVerdict callingVerdict(Capability capability) const {
    return table_.verdict(callingPackage(), capability);
  }
  /// The trap of a denial found in a body (a path that leaves the root, a name that is not
  /// permitted).
  Trap deny(Capability capability, std::string detail, std::string narrowest = {}) const;

  /// In a fold output never reaches a stream: it is kept, up to the cap. Bodies of class Output ask
  /// inFold() first.
  void captureOutput(llvm::StringRef text);
  llvm::StringRef capturedOutput() const { return captured_; }
  uint64_t capturedOmitted() const { return capturedOmitted_; }
  void recordInput(FoldInput input) { inputs_.push_back(std::move(input)); }
  llvm::ArrayRef<FoldInput> inputs() const { return inputs_; }
  /// Bytes that the fold has read so far, for Budgets::readBytes: adds and answers the sum.
  uint64_t countRead(uint64_t bytes) { return bytesRead_ += bytes; }

private:
  friend struct SlowPaths;
  friend class Scheduler;
  struct Import {
    const Native* native = nullptr; // null: not in the table
    const void* entry = nullptr;    // foreign: once it was found
    bool resultIsReference = false;
    bool inTable = false; // of the library: a row, and not foreign; what a program may call unasked
    std::vector<uint16_t> references; // parameters that are
    std::vector<uint16_t> released;   // of these, the ones that are not in-out
  };

  Vm(const Module& module, VmOptions options);
  llvm::Error load(const NativeTable& natives);
  /// Loads what was not loaded yet.
  llvm::Error loadModule(const NativeTable& natives);
  /// Finds the entry point of a foreign import, and loads the library for it.
  llvm::Error link(Import& import, const NativeImport& wanted);
  /// Resolves what the loop need not look up again: outgoing slots become registers, shared values
  /// constants.
  Instruction patch(Instruction instruction, const Function& function);
  uint32_t constantFor(Value object);
  Value byteConstant(uint32_t string, LayoutId layout);

  /// The only road from bytecode to a body.
  Trap callNative(uint32_t import, Value* slots, Value& result);
  Trap judge(const Import& import, uint32_t importIndex) const;
  Trap callForeign(Import& import, Arguments& arguments);
  Denial describeCall(Capability capability) const;

  /// The loop: runs the frame on top until the boundary below it is reached. With `raised` it
  /// begins where a trap is handled that a turn of a goroutine began with. interpreter.cpp
  Trap interpret(bool raised = false);
  Trap enter(const RuntimeFunction* function, llvm::ArrayRef<Value> arguments,
             const ClosureObject* closure, Value& result);
  void takeTrace(TrapDetails& details) const;
  static TraceFrame traceFrame(const Frame& frame);
  /// Where a value was taken that is missing now, if this stack did it. lending.cpp
  std::optional<TraceFrame> lender() const;
  /// The steps of the current slice are used up: true if there are more, and a new slice has begun
  /// (or goes on, see sliceGoesOn_).
  bool refill();
  /// All steps are left.
  void resetSteps();
  void withhold();
  /// A turn of a goroutine: a part of the steps that are left, if there are others.
  void startSlice();
  void giveSlice(int64_t slice);
  /// The next number of the sequence of VmOptions::scheduleSeed; 0 for ever where there is none.
  uint64_t nextTurn();
  void beforeWaiting() {
    if (beforeWaiting_ != nullptr)
      beforeWaiting_(*this);
  }
  /// Pops and releases the frames down to the boundary of the innermost run.
  void unwind();
  /// Main gives way to the goroutines that it left, and comes back when the scheduler lets it.
  Trap runOthers(MainWait until);

  const Module& module_;
  std::vector<LayoutInfo> layouts_;
  std::vector<std::vector<uint16_t>> captureReferences_; // by function
  Heap constants_;                                       // immortal objects, outside the budget
  Heap heap_;
  Mode mode_;
  const ComptimePolicy* policy_;
  uint32_t regionPackage_;
  CapabilityTable table_;
  std::unique_ptr<HostState> host_;
  ForeignLinker* foreign_ = nullptr;

  std::vector<RuntimeFunction> functions_;
  /// Tables that were too small for an extension: goroutines that wait point into them.
  std::vector<std::vector<RuntimeFunction>> olderFunctions_;
  std::vector<Import> imports_;
  /// Code of all functions, with the operands that `patch` resolves: one block a load, none of
  /// which ever moves.
  std::vector<std::vector<Instruction>> code_;
  std::vector<Instruction> firstInstructions_; // by function, to take back what `interrupt` changed
  bool interruptible_ = false;
  volatile bool interrupted_ = false; // by a signal handler
  Verified verified_;
  struct WatchedPlace {
    Instruction* at;
    uint32_t number; // of the place
    uint64_t word;   // what stands there once it has been reached
  };
  std::vector<WatchedPlace> watched_; // ascending
  llvm::MutableArrayRef<uint8_t> seen_;
  std::vector<Value> strings_; // immortal: the module's
  std::vector<Value>
      constantObjects_; // immortal: strings of the module, byte vectors and unit variants
  std::vector<uint32_t> stringConstants_; // by string: its place in constantObjects_
  std::vector<Value> globals_;            // immortal cells
  std::vector<uint8_t> globalReady_;      // kGlobalUnset, kGlobalRunning or kGlobalReady
  const llvm::DenseMap<uint32_t, KnownGlobal>* knownGlobals_ = nullptr;
  std::vector<uint32_t> knownGlobalsRead_;
  std::vector<std::vector<Value>> unitVariants_;           // by layout, by variant
  std::vector<std::vector<uint16_t>> referenceParameters_; // by function

  // The stack; reserved once, so registers never move.
  Value* stack_ = nullptr;
  size_t stackBytes_ = 0;
  Value* stackLimit_ = nullptr;
  Frame* frames_ = nullptr;
  size_t framesBytes_ = 0;
  Frame* frameLimit_ = nullptr;
  Frame* mainFrameLimit_ = nullptr;
  Frame* bottom_ = nullptr; // of the stack in use
  Frame* top_ = nullptr;    // current frame, up to date whenever the loop is left
  uint64_t depthLimit_;
  unsigned nesting_ = 0; // runs within runs, bounded for the sake of the C stack

  int64_t steps_;            // left in this slice
  int64_t withheld_ = 0;     // of this slice, until progress has been told
  int64_t beyond_ = 0;       // left after it
  bool sliceGoesOn_ = false; // what `refill` gave is more of the same slice
  std::function<void(uint64_t)> progress_;
  int64_t stepsLimit_;
  uint64_t turnState_ = 0; // 0: first come, first served
  uint32_t dueTurns_ = 0;  // grows with each turn that is over
  Trap pending_;           // the trap a slow path raised
  bool initialised_ = false;
  uint32_t currentImport_ = kNoPackage;
  bool blocked_ = false; // the native in progress has to wait
  std::unique_ptr<Scheduler> scheduler_;
  void (*beforeWaiting_)(Vm&) = nullptr;

  std::string captured_;
  uint64_t capturedOmitted_ = 0;
  uint64_t outputLimit_;
  std::vector<FoldInput> inputs_;
  uint64_t bytesRead_ = 0;
};

} // namespace gos::vm
