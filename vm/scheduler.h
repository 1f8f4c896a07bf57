#pragma once
// Goroutines: many stacks over one interpreter loop, which runs one of them at a time.
//
// The goroutine of `main` runs on the Vm's own stack. All others take turns on a second one, always
// at the same addresses: what one has there is copied away when it has to wait and copied back when
// it goes on, so a goroutine that waits costs what it uses. One whose stack has grown gets a stack
// of its own instead.
//
// A native that has to wait calls `block` and answers without a result; whoever ends the waiting
// gives the result to `wake`. What would hold up the thread (files, sockets, children, names) is a
// `Job` for `offload`. One thread runs bytecode, so a goroutine is never in the middle of a native
// while another one runs.
//
// The order is a function of the program alone (first come, first served; slices are counted in
// steps), except for what waits for the world: timers and jobs, which a fold below `full` has none
// of.

#include "vm/frame.h"
#include "vm/native.h"
#include "vm/trap.h"

#include "llvm/ADT/DenseMap.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace gos::vm {

class BlockingPool;
class Vm;

/// One stretch of waiting of one goroutine: stale as soon as that has ended. Fits the element of a
/// `Vec<i64>`.
struct Ticket {
  uint32_t slot = 0;
  uint32_t serial = 0;
  friend bool operator==(const Ticket&, const Ticket&) = default;
  int64_t packed() const { return int64_t(uint64_t(serial) << 32 | slot); }
  static Ticket unpack(int64_t packed) {
    return {uint32_t(packed), uint32_t(uint64_t(packed) >> 32)};
  }
};

/// What a goroutine waits for, as a deadlock report says it.
enum class WaitKind : uint8_t {
  Nothing,
  Receive,
  Send,
  Select,
  Join,
  Cohort,
  Lock,
  Group,
  Sleep,
  Job,
  Descriptor,
  Signal
};
llvm::StringRef words(WaitKind kind);

/// Work that would hold up the thread. `work` runs on a thread of its own and touches nothing of
/// the Vm; `finish` makes the native's result of it, on the Vm's thread, while nothing else runs.
/// The arguments that `finish` gets have no slots.
class Job {
public:
  virtual ~Job() = default;
  virtual void work() = 0;
  virtual Trap finish(Arguments& arguments) = 0;
  /// Asks `work` to end soon; called while it may be running, from the Vm's thread.
  virtual void cancel() {}
  /// What a cancelled goroutine goes on with at once, for `work` that nothing can hurry: a job
  /// whose `finish` makes the native's result. The pool does `work` to its end and the answer is
  /// dropped. Null: the goroutine waits for `work`.
  virtual std::unique_ptr<Job> answerOfCancelled() { return nullptr; }
};

/// When a cohort gives up its other children.
enum class CohortPolicy : uint8_t { FailFast, CollectAll, Race };

/// A group of goroutines that ends together (language.md 21.4). Children count from 0 in the order
/// of their spawn.
struct Cohort {
  uint64_t number = 0; // in the order of their beginnings; 0 is the root
  Cohort* parent = nullptr;
  Cohort* previous = nullptr; // the one that the same goroutine was in before
  CohortPolicy policy = CohortPolicy::FailFast;
  bool cancellable = true; // by a cohort around it
  bool cancelled = false;
  bool timedOut = false;
  bool won = false;  // of a race: a child ended well
  bool open = true;  // not popped yet
  uint32_t live = 0; // children that have not ended
  uint32_t spawned = 0;
  size_t place = 0;        // in the list of all
  uint32_t references = 1; // children, inner cohorts, timers, and the goroutine whose body it is
  uint32_t failedIndex = UINT32_MAX; // of the failure that counts
  std::string failure;
  Ticket joiner; // who waits for the end of all
  bool hasJoiner = false;
};

/// Why a child of the root cohort did not end well, kept until somebody asks: other cohorts tell it
/// themselves.
struct UnobservedFailure {
  uint64_t number = 0; // of the goroutine
  std::string label;
  Trap trap;         // of a panic
  std::string error; // of an `Err`
  Value task = 0;    // owned, until it is taken
};

/// What main waits for when its own code has ended: every goroutine to end, or each to have ended
/// or to wait for what only another one could give.
enum class MainWait : uint8_t { No, ForAll, ForPart };

struct Goroutine {
  enum class State : uint8_t { Free, Ready, Running, Waiting };
  struct OwnStack {
    Value* stack;
    Frame* frames;
    Frame* top;
  };
  State state = State::Free;
  WaitKind waitsFor = WaitKind::Nothing;
  bool deliver = false; // the native it waits in has a result
  bool deliverReference = false;
  bool cancellable = false; // this wait ends when its cohort is cancelled
  bool isMain = false;
  bool daemon = false;
  bool sendFailed = false; // the channel that its `select` waited to send on was closed
  bool sentIsReference = false;
  uint32_t shields = 0; // sync::shield: cancellation does not reach it
  uint32_t slot = 0;
  uint32_t serial = 1; // of its next wait
  uint32_t frames = 0; // of the shared stack, the boundary included
  uint32_t slots = 0;
  uint32_t savedBytes = 0;
  uint32_t import = 0; // the native it waits in
  uint32_t childIndex = 0;
  uint32_t package = 0; // whose code spawned it, for the gate
  uint64_t number = 0;  // for people: 0 is main, and each of the library's own
  Value wakeValue = 0;
  Value sent = 0;                // what it waits to send; owned
  Trap wakeTrap;                 // in place of a result
  Value waitObject = 0;          // an identity, not owned
  Value cancelValue = 0;         // what `wake` gets when the cohort is cancelled; owned
  Value task = 0;                // the library's record of it, owned; the slots are TaskSlot
  char* saved = nullptr;         // frames, then slots
  Job* running = nullptr;        // in the pool
  std::unique_ptr<Job> job;      // done
  std::unique_ptr<OwnStack> own; // it does not use the shared stack
  Cohort* cohort = nullptr;      // it is a child of this one
  Cohort* inner = nullptr;       // whose body it runs
  std::unique_ptr<struct Selection> selection;
  std::unique_ptr<std::string> error; // it is about to end in `Err`
};

/// The fields of the library's `Task`, in order.
enum TaskSlot : unsigned { TaskStatus, TaskMessage, TaskWaiters, TaskLabel };
enum TaskState : int64_t { TaskRuns, TaskEnded, TaskFailed };

/// What a `select` looks at. Filled by the natives of `select`; sync.cpp.
struct SelectArm {
  Value channel = 0; // owned; 0 of a plain send
  LayoutId channelLayout{};
  Value value = 0; // of a send arm, owned
  bool isSend = false;
  bool valueIsReference = false;
  int64_t mode = 0; // of a receive arm: what its pattern takes
};
struct Selection {
  std::vector<SelectArm> arms;
  Value taken = 0; // the payload that a receive arm got, owned
  bool hasTaken = false;
  bool takenIsReference = false;
  Value takenFrom = 0; // the channel: an identity
  Ticket ticket;       // of the wait
};

/// Who is there, and what has been done, as `runtime::scheduler_stats_json` tells it.
struct SchedulerFigures {
  size_t goroutines = 0; // that have not ended: main, and the library's own
  size_t ready = 0;      // to go on; the current one counts
  size_t waiting = 0;
  size_t jobs = 0; // in the pool
  size_t timers = 0;
  size_t descriptors = 0; // waits for one
  size_t cohorts = 0;     // open ones, the root counts
  uint64_t spawned = 0;   // since the beginning, main not counted
  uint64_t turns = 0;     // given so far
};

class Scheduler {
public:
  explicit Scheduler(Vm& vm);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // ---- for natives
  // --------------------------------------------------------------------------------
  /// Starts a goroutine in the current cohort. Takes over the closure, which takes nothing and
  /// answers `()`, and the task, whose first slot becomes the status: 0 running, 1 ended, 2 failed.
  Trap spawn(Value closure, Value task);
  /// The same for one that nobody waits for and that ends with the program. It has no task.
  Trap spawnDaemon(Value closure);
  /// Nobody can wait inside of a run within a run (a comparison, a `Display`, a constant that is
  /// made).
  bool mayBlock() const;
  /// The trap of a native that would have to wait there.
  Trap cannotWait() const;
  struct Wait {
    WaitKind kind = WaitKind::Nothing;
    bool resultIsReference = false;
    bool cancellable = false;
    Value cancelValue = 0; // owned
    Value object = 0;      // what it waits for: an identity
  };
  /// The current goroutine waits in the native that calls this, which returns at once, without a
  /// result.
  Ticket block(Wait wait);
  /// The same for a plain send, of an owned value; who takes it from `Goroutine::sent` wakes this.
  void blockSending(Value value, bool isReference, Value channel);
  /// The ticket of the wait that the current goroutine is about to begin.
  Ticket nextTicket() const { return {current_->slot, current_->serial}; }
  /// Ends a wait: the value, owned, is the result of the native. False, and the value is the
  /// caller's, if it is over. Tickets stand in vectors that bytecode could write to: whoever takes
  /// one from there asks `waiting` for a wait of its own kind first, so that no native gets a
  /// result that was meant for another one.
  bool wake(Ticket ticket, Value value);
  /// Ends a wait with a failure of the native that waits.
  bool wakeWithTrap(Ticket ticket, Trap trap);
  /// The goroutine of a wait that is not over, of one of these kinds.
  Goroutine* waiting(Ticket ticket, std::initializer_list<WaitKind> kinds);
  /// The same for a wait of this kind, and for this object.
  Goroutine* waitingFor(Ticket ticket, WaitKind kind, Value object) {
    Goroutine* goroutine = waiting(ticket);
    return goroutine && goroutine->waitsFor == kind && goroutine->waitObject == object ? goroutine
                                                                                       : nullptr;
  }
  /// Lets go of what a `select` holds.
  void clear(Selection& selection);
  /// Wakes the ticket with the value when the time has come.
  void wakeAt(std::chrono::steady_clock::time_point when, Ticket ticket, Value value);
  /// The current goroutine waits until the descriptor has one of these `events` of poll, or an
  /// error, to tell: its native answers 1; 0 when the time has come first, or when it is cancelled.
  void awaitDescriptor(int fd, short events,
                       std::optional<std::chrono::steady_clock::time_point> until,
                       WaitKind kind = WaitKind::Descriptor);
  /// Has the cohort of the current goroutine, or one around it, been cancelled?
  bool isCancelled() const;
  /// The native's result comes from the job: at once when nobody else could run meanwhile.
  Trap offload(Arguments& arguments, std::unique_ptr<Job> job);
  /// Lets others run first.
  void yield();
  Goroutine& current() { return *current_; }
  /// Goroutines that have not ended, main not counted.
  size_t live() const { return live_; }
  /// Is there any goroutine beside the current one, or will there be?
  bool others() const { return live_ + daemons_ != 0; }

  // ---- cohorts
  // ------------------------------------------------------------------------------------
  void pushCohort(CohortPolicy policy, bool cancellable);
  /// Cancels the innermost cohort of the current goroutine after so many milliseconds.
  void limitCohort(int64_t milliseconds);
  void cancelCohort(Cohort& cohort);
  /// Waits until the innermost cohort has no children left. The native answers `()`.
  Trap joinCohort(Arguments& arguments);
  /// Leaves it: empty, or the failure that counts.
  std::string popCohort();
  /// The cohort that the current goroutine is in; the root one is not to be cancelled.
  Cohort* around() const {
    Cohort* cohort = around(*current_);
    return cohort == root_ ? nullptr : cohort;
  }
  /// Where the next `select` begins to look: the same sequence in every run.
  uint64_t nextChoice() {
    return choice_ = choice_ * 6364136223846793005u + 1442695040888963407u, choice_ >> 33;
  }
  /// The cohorts that have not ended, the root first, then in the order of their beginnings.
  std::vector<const Cohort*> openCohorts() const;
  const Cohort& rootCohort() const { return *root_; }
  SchedulerFigures figures();
  /// A child says that it ended in `Err`.
  void failWithError(std::string message);
  /// Somebody has looked at how this task ended.
  void observe(Value task);
  /// The tasks of these are let go, and an identity no more.
  std::vector<UnobservedFailure> takeUnobserved();

  // ---- for the loop
  // -------------------------------------------------------------------------------
  /// Puts the current goroutine away and another one in its place; waits for the world if none is
  /// ready. False: nobody can go on, or the one that does has failed; Vm::pending_ holds the trap,
  /// and the stack of the one that failed (main for a deadlock) is in place.
  bool switchAway();
  /// The frame on top has returned from the goroutine's closure.
  void endCurrent();
  /// The current goroutine, unwound, ended in a trap that concerns nobody else.
  void failCurrent(Trap trap);
  bool currentIsMain() const { return current_->isMain; }
  /// The slice is used up: looks at timers and jobs. True if somebody else should have a turn; the
  /// current goroutine is then ready and to be switched away from.
  bool endSlice();
  /// The current goroutine, unwound, ended in a trap that ends the run: back to main's stack.
  void abandon(const TrapDetails& trap);
  /// Main's own code has ended, and it waits.
  void waitForOthers(MainWait until);
  /// Main's run has ended in a trap: it waits for nothing any more, and what it held is let go. For
  /// the runs that may follow.
  void freeMain();
  /// Goroutines from here on belong to another part of the program (Vm::runPart).
  void beginPart();
  uint32_t packageOfCurrent() const { return current_->package; }

private:
  struct Timer {
    std::chrono::steady_clock::time_point when;
    uint64_t order;
    Ticket ticket;
    Value value;
    Cohort* cohort; // cancel this one instead
  };
  static bool later(const Timer& a, const Timer& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }

  Goroutine* waiting(Ticket ticket) {
    Goroutine* goroutine =
        ticket.slot < goroutines_.size() ? goroutines_[ticket.slot].get() : nullptr;
    return goroutine && goroutine->serial == ticket.serial &&
                   goroutine->state == Goroutine::State::Waiting
               ? goroutine
               : nullptr;
  }
  /// Has what it would end, ended?
  bool isOver(const Timer& timer) {
    return timer.cohort ? !timer.cohort->open : !waiting(timer.ticket);
  }
  void addTimer(const Timer& timer);
  Goroutine* make();
  /// Cancels the job that the goroutine waits for, or the waiting.
  void cancelJob(Goroutine& goroutine);
  Trap start(Value closure, Goroutine*& goroutine);
  void makeReady(Goroutine& goroutine);
  void putAway(Goroutine& goroutine);
  bool bringBack(Goroutine& goroutine);
  bool evictShared();
  bool moveToOwnStack(Goroutine& goroutine);
  bool deliver(Goroutine& goroutine);
  /// Nobody is ready: looks whether somebody will be, as long as main wants to wait for that.
  bool lookForReady();
  /// The queues of channels, cohorts and jobs know this goroutine no more.
  void letGo(Goroutine& goroutine);
  void retire(Goroutine& goroutine);
  void finishTask(Goroutine& goroutine, TaskState state, llvm::StringRef message);
  void keepFailure(const Goroutine& goroutine, Trap trap, llvm::StringRef error);
  void leaveCohort(Goroutine& goroutine, bool failed, llvm::StringRef message);
  bool isCancelled(const Goroutine& goroutine) const;
  Cohort* around(const Goroutine& goroutine) const {
    return goroutine.inner ? goroutine.inner : goroutine.cohort;
  }
  Cohort* makeCohort();
  void unreference(Cohort* cohort);
  /// Timers that are due and jobs that are done; waits for the first of them if need be. False:
  /// nothing to wait for.
  bool collect(bool mayWait);
  /// Wakes who waits for a descriptor that has something to tell.
  void wakeDescriptors();
  /// Is there a wait that main should wait for? Not for a signal at the end of a part: a later part
  /// may send it.
  bool awaitsDescriptors();
  std::vector<Cohort*> allCohorts() const;
  Trap deadlock();
  void useMainStack();
  void freeSaved(Goroutine& goroutine);

  Vm& vm_;
  std::vector<std::unique_ptr<Goroutine>> goroutines_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> ready_;
  Goroutine* current_ = nullptr;
  Goroutine* main_ = nullptr;
  size_t live_ = 0;
  size_t daemons_ = 0;
  uint64_t nextNumber_ = 1;
  uint64_t nextCohort_ = 1;
  uint64_t turns_ = 0;
  std::vector<Timer> timers_; // a heap
  uint64_t timerOrder_ = 0;
  static constexpr size_t kTimersToSweep = 64;
  size_t timersToSweep_ = kTimersToSweep;
  Cohort* root_ = nullptr;
  // All that are left. Not to be found through goroutines: of cohorts within cohorts, as a
  // recursion makes them, each would lead to all around it.
  std::vector<Cohort*> cohorts_;
  std::list<UnobservedFailure> unobserved_; // in the order of their ends
  llvm::DenseMap<Value, std::list<UnobservedFailure>::iterator> unobservedOf_; // by the task
  std::shared_ptr<BlockingPool> pool_;
  size_t jobs_ = 0;
  struct DescriptorWait {
    Ticket ticket;
    int fd;
    short events;
  };
  std::vector<DescriptorWait> descriptorWaits_; // some of them may be over
  std::vector<pollfd> polled_;                  // theirs, each descriptor once
  uint64_t choice_ = 1;
  MainWait mainWait_ = MainWait::No;
  uint64_t partBegin_ = 1; // the number of its first goroutine
  size_t liveOfPart_ = 0;

  // The second stack; mapped when the first goroutine starts.
  Value* sharedStack_ = nullptr;
  Frame* sharedFrames_ = nullptr;
  Goroutine* onShared_ = nullptr; // whose content it is
  Frame* mainTop_ = nullptr;
};

} // namespace gos::vm
