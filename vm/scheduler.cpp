#include "vm/scheduler.h"

#include "vm/blocking_pool.h"
#include "vm/vm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace gos::vm {

namespace {

constexpr size_t kStackSlots = size_t(8) << 20; // reserved, not committed
constexpr size_t kFrameCount = size_t(1)
                               << 17; // calls in a goroutine; the VM's own limit may be lower
constexpr size_t kGuardBytes = size_t(64) << 10;
constexpr uint32_t kMostCopied = uint32_t(64) << 10; // a larger stack is not copied at every turn
constexpr uint32_t kTurnsBetweenLooks = 32;          // at timers and jobs, while somebody is ready
constexpr size_t kShownWaiters = 20;

/// A goroutine starts and ends here, as a nested run does at its boundary.
const Instruction kGoroutineCode[2] = {Instruction{uint64_t(kGoroutineEndOpcode)},
                                       Instruction{uint64_t(kGoroutineEndOpcode)}};
constinit const RuntimeFunction kGoroutineBoundary = [] {
  RuntimeFunction function;
  function.registers = 1;
  function.frameSize = 1;
  return function;
}();

void* reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  mprotect(static_cast<char*>(memory) + bytes, kGuardBytes, PROT_NONE);
  return memory;
}

Value& taskSlot(Value task, TaskSlot slot) {
  return asStruct(task)->slots()[slot];
}

} // namespace

llvm::StringRef words(WaitKind kind) {
  switch (kind) {
  case WaitKind::Nothing:
    return "nothing";
  case WaitKind::Receive:
    return "a value from a channel";
  case WaitKind::Send:
    return "a receiver of its value";
  case WaitKind::Select:
    return "an arm of `select`";
  case WaitKind::Join:
    return "the end of a goroutine";
  case WaitKind::Cohort:
    return "the children of its cohort";
  case WaitKind::Lock:
    return "a lock";
  case WaitKind::Group:
    return "a wait group or barrier";
  case WaitKind::Sleep:
    return "the time";
  case WaitKind::Job:
    return "the system";
  case WaitKind::Descriptor:
    return "a descriptor";
  case WaitKind::Signal:
    return "a signal";
  }
  return {};
}

Scheduler::Scheduler(Vm& vm) : vm_(vm) {
  main_ = make();
  main_->isMain = true;
  main_->state = Goroutine::State::Running;
  root_ = makeCohort();
  root_->policy = CohortPolicy::CollectAll;
  main_->inner = root_;
  current_ = main_;
}

Scheduler::~Scheduler() {
  // Children that nobody waits for any more end with the program.
  for (std::unique_ptr<Goroutine>& goroutine : goroutines_)
    if (goroutine->running)
      goroutine->running->cancel();
  if (pool_)
    pool_->close();
  for (std::unique_ptr<Goroutine>& goroutine : goroutines_)
    freeSaved(*goroutine);
  if (sharedStack_)
    munmap(sharedStack_, kStackSlots * sizeof(Value) + kGuardBytes);
  if (sharedFrames_)
    munmap(sharedFrames_, kFrameCount * sizeof(Frame) + kGuardBytes);
  for (Cohort* each : cohorts_)
    delete each;
}

Goroutine* Scheduler::make() {
  if (!free_.empty()) {
    Goroutine* goroutine = goroutines_[free_.back()].get();
    free_.pop_back();
    return goroutine;
  }
  auto& made = goroutines_.emplace_back(std::make_unique<Goroutine>());
  made->slot = uint32_t(goroutines_.size() - 1);
  return made.get();
}

// ---- stacks
// -----------------------------------------------------------------------------------------

void Scheduler::freeSaved(Goroutine& goroutine) {
  if (goroutine.saved) {
    std::free(goroutine.saved);
    vm_.heap_.releaseScratch(goroutine.savedBytes);
  }
  goroutine.saved = nullptr;
  goroutine.savedBytes = 0;
  if (goroutine.own) {
    munmap(goroutine.own->stack, kStackSlots * sizeof(Value) + kGuardBytes);
    munmap(goroutine.own->frames, kFrameCount * sizeof(Frame) + kGuardBytes);
    goroutine.own.reset();
  }
}

void Scheduler::putAway(Goroutine& goroutine) {
  if (goroutine.isMain) {
    mainTop_ = vm_.top_;
  } else if (goroutine.own) {
    goroutine.own->top = vm_.top_;
  } else { // stays where it is until somebody else needs the place
    goroutine.frames = uint32_t(vm_.top_ - sharedFrames_ + 1);
    goroutine.slots = uint32_t(vm_.top_->base + vm_.top_->function->frameSize - sharedStack_);
  }
}

bool Scheduler::evictShared() {
  if (!onShared_)
    return true;
  Goroutine& goroutine = *onShared_; // until it has another place
  const size_t frameBytes = goroutine.frames * sizeof(Frame);
  const size_t bytes = frameBytes + goroutine.slots * sizeof(Value);
  if (bytes > kMostCopied && moveToOwnStack(goroutine)) {
    onShared_ = nullptr;
    return true;
  }
  if (goroutine.savedBytes < bytes || goroutine.savedBytes > 4 * bytes) {
    freeSaved(goroutine);
    if (!vm_.heap_.reserveScratch(bytes))
      return false;
    goroutine.saved = static_cast<char*>(std::malloc(bytes));
    if (!goroutine.saved) {
      vm_.heap_.releaseScratch(bytes);
      vm_.heap_.noteRefusal();
      return false;
    }
    goroutine.savedBytes = uint32_t(bytes);
  }
  std::memcpy(goroutine.saved, sharedFrames_, frameBytes);
  std::memcpy(goroutine.saved + frameBytes, sharedStack_, goroutine.slots * sizeof(Value));
  vm_.heap_.chargeBytes(bytes);
  onShared_ = nullptr;
  return true;
}

bool Scheduler::moveToOwnStack(Goroutine& goroutine) {
  auto own = std::make_unique<Goroutine::OwnStack>();
  own->stack = static_cast<Value*>(reserve(kStackSlots * sizeof(Value)));
  own->frames = static_cast<Frame*>(reserve(kFrameCount * sizeof(Frame)));
  if (!own->stack || !own->frames) {
    if (own->stack)
      munmap(own->stack, kStackSlots * sizeof(Value) + kGuardBytes);
    if (own->frames)
      munmap(own->frames, kFrameCount * sizeof(Frame) + kGuardBytes);
    return false;
  }
  std::memcpy(own->stack, sharedStack_, goroutine.slots * sizeof(Value));
  for (uint32_t i = 0; i < goroutine.frames; ++i) {
    Frame frame = sharedFrames_[i];
    frame.base = own->stack + (frame.base - sharedStack_);
    frame.outgoing = own->stack + (frame.outgoing - sharedStack_);
    own->frames[i] = frame;
  }
  own->top = own->frames + goroutine.frames - 1;
  freeSaved(goroutine);
  goroutine.own = std::move(own);
  return true;
}

void Scheduler::useMainStack() {
  vm_.bottom_ = vm_.frames_;
  vm_.stackLimit_ = vm_.stack_ + kStackSlots;
  vm_.frameLimit_ = vm_.mainFrameLimit_;
  vm_.top_ = mainTop_;
}

bool Scheduler::bringBack(Goroutine& goroutine) {
  if (goroutine.isMain) {
    useMainStack();
    return true;
  }
  const size_t frames = std::min<size_t>(kFrameCount, vm_.depthLimit_ + 2);
  if (goroutine.own) {
    vm_.bottom_ = goroutine.own->frames;
    vm_.stackLimit_ = goroutine.own->stack + kStackSlots;
    vm_.frameLimit_ = goroutine.own->frames + frames;
    vm_.top_ = goroutine.own->top;
    return true;
  }
  if (onShared_ != &goroutine) {
    if (!evictShared())
      return false;
    const size_t frameBytes = goroutine.frames * sizeof(Frame);
    std::memcpy(sharedFrames_, goroutine.saved, frameBytes);
    std::memcpy(sharedStack_, goroutine.saved + frameBytes, goroutine.slots * sizeof(Value));
    onShared_ = &goroutine;
  }
  vm_.bottom_ = sharedFrames_;
  vm_.stackLimit_ = sharedStack_ + kStackSlots;
  vm_.frameLimit_ = sharedFrames_ + frames;
  vm_.top_ = sharedFrames_ + goroutine.frames - 1;
  return true;
}

// ---- for natives
// ------------------------------------------------------------------------------------

Trap Scheduler::spawn(Value closure, Value task) {
  Goroutine* goroutine = nullptr;
  if (Trap trap = start(closure, goroutine)) {
    vm_.heap_.release(asObject(task));
    return trap;
  }
  goroutine->task = task;
  goroutine->number = nextNumber_++;
  goroutine->cohort = around(*current_);
  goroutine->daemon = false;
  goroutine->childIndex = goroutine->cohort->spawned++;
  ++goroutine->cohort->live;
  ++goroutine->cohort->references;
  ++live_;
  ++liveOfPart_;
  // Whoever was alone had no end of its turn. An uneven turn is for who spawned it, too.
  if (live_ + daemons_ == 1 || vm_.turnState_ != 0)
    vm_.startSlice();
  return {};
}

Trap Scheduler::spawnDaemon(Value closure) {
  Goroutine* goroutine = nullptr;
  if (Trap trap = start(closure, goroutine))
    return trap;
  goroutine->number = 0;
  goroutine->cohort = nullptr;
  goroutine->daemon = true;
  ++daemons_;
  if (live_ + daemons_ == 1)
    vm_.startSlice();
  return {};
}

Trap Scheduler::start(Value closure, Goroutine*& made) {
  const auto refuse = [&](Trap trap) {
    vm_.heap_.release(asObject(closure));
    return trap;
  };
  if (!sharedStack_) {
    sharedStack_ = static_cast<Value*>(reserve(kStackSlots * sizeof(Value)));
    sharedFrames_ = static_cast<Frame*>(reserve(kFrameCount * sizeof(Frame)));
    if (!sharedStack_ || !sharedFrames_) {
      vm_.heap_.noteRefusal();
      return refuse(vm_.heapTrap());
    }
  }
  ClosureObject* object = asClosure(closure);
  const RuntimeFunction& function = vm_.functions_[index(object->function)];
  if (function.parameterCount != 0)
    return refuse(Trap::make(TrapKind::Refused,
                             "goroutine is started with a function that takes parameters"));
  const size_t slots = 1 + size_t(function.frameSize);
  const size_t bytes = 2 * sizeof(Frame) + slots * sizeof(Value);
  if (!vm_.heap_.reserveScratch(bytes + sizeof(Goroutine)))
    return refuse(vm_.heapTrap());
  auto* saved = static_cast<char*>(std::malloc(bytes));
  if (!saved) {
    vm_.heap_.releaseScratch(bytes + sizeof(Goroutine));
    vm_.heap_.noteRefusal();
    return refuse(vm_.heapTrap());
  }
  vm_.heap_.chargeBytes(bytes + sizeof(Goroutine));
  auto* frames = reinterpret_cast<Frame*>(saved);
  auto* values = reinterpret_cast<Value*>(saved + 2 * sizeof(Frame));
  std::memset(values, 0, slots * sizeof(Value));
  Value* registers = sharedStack_ + 1;
  frames[0] = {kGoroutineCode + 1, &kGoroutineBoundary, sharedStack_, registers};
  frames[1] = {function.code, &function, registers, registers + function.registers};
  std::copy_n(object->captures(), function.captureCount, values + 1);
  for (uint16_t slot : vm_.captureReferences_[index(object->function)])
    retain(asObject(values[1 + slot]));
  vm_.heap_.release(object);

  made = make();
  Goroutine& goroutine = *made;
  goroutine.saved = saved;
  goroutine.savedBytes = uint32_t(bytes);
  goroutine.frames = 2;
  goroutine.slots = uint32_t(slots);
  goroutine.package = vm_.callingPackage();
  goroutine.inner = nullptr;
  goroutine.shields = 0;
  goroutine.deliver = false;
  makeReady(goroutine);
  return {};
}

void Scheduler::makeReady(Goroutine& goroutine) {
  goroutine.state = Goroutine::State::Ready;
  goroutine.waitsFor = WaitKind::Nothing;
  ready_.push_back(goroutine.slot);
}

bool Scheduler::mayBlock() const {
  return vm_.nesting_ <= 1;
}

Trap Scheduler::cannotWait() const {
  return Trap::panic("a goroutine cannot wait inside of a comparison, a `Display`, a hook or a "
                     "constant that is made");
}

Ticket Scheduler::block(Wait wait) {
  Goroutine& goroutine = *current_;
  goroutine.state = Goroutine::State::Waiting;
  goroutine.waitsFor = wait.kind;
  goroutine.deliverReference = wait.resultIsReference;
  goroutine.cancellable = wait.cancellable;
  goroutine.cancelValue = wait.cancelValue;
  goroutine.waitObject = wait.object;
  goroutine.import = vm_.currentImport_;
  vm_.blocked_ = true;
  return {goroutine.slot, goroutine.serial};
}

void Scheduler::blockSending(Value value, bool isReference, Value channel) {
  current_->sent = value;
  current_->sentIsReference = isReference;
  block({WaitKind::Send, false, false, 0, channel});
}

Goroutine* Scheduler::waiting(Ticket ticket, std::initializer_list<WaitKind> kinds) {
  Goroutine* goroutine = waiting(ticket);
  return goroutine && llvm::is_contained(kinds, goroutine->waitsFor) ? goroutine : nullptr;
}

void Scheduler::clear(Selection& selection) {
  for (SelectArm& arm : selection.arms) {
    vm_.releaseValue(arm.channel, arm.channelLayout);
    vm_.heap_.releaseValue(arm.value, arm.valueIsReference);
  }
  selection.arms.clear();
  vm_.heap_.releaseValue(selection.taken, selection.takenIsReference);
  selection.taken = 0;
  selection.hasTaken = false;
}

bool Scheduler::wake(Ticket ticket, Value value) {
  Goroutine* goroutine = waiting(ticket);
  if (!goroutine)
    return false;
  ++goroutine->serial;
  goroutine->wakeValue = value;
  goroutine->deliver = true;
  goroutine->cancellable = false;
  vm_.heap_.releaseValue(std::exchange(goroutine->cancelValue, 0), goroutine->deliverReference);
  makeReady(*goroutine);
  return true;
}

bool Scheduler::wakeWithTrap(Ticket ticket, Trap trap) {
  Goroutine* goroutine = waiting(ticket);
  if (!goroutine)
    return false;
  goroutine->wakeTrap = std::move(trap);
  return wake(ticket, 0);
}

void Scheduler::wakeAt(std::chrono::steady_clock::time_point when, Ticket ticket, Value value) {
  addTimer({when, timerOrder_++, ticket, value, nullptr});
}

void Scheduler::addTimer(const Timer& timer) {
  // Those whose wait has ended are dropped when they may be half of all.
  if (timers_.size() >= timersToSweep_) {
    llvm::erase_if(timers_, [&](const Timer& each) {
      const bool over = isOver(each);
      if (over)
        unreference(each.cohort);
      return over;
    });
    std::make_heap(timers_.begin(), timers_.end(), later);
    timersToSweep_ = std::max<size_t>(kTimersToSweep, 2 * timers_.size());
  }
  timers_.push_back(timer);
  std::push_heap(timers_.begin(), timers_.end(), later);
}

bool Scheduler::isCancelled(const Goroutine& goroutine) const {
  if (goroutine.shields != 0)
    return false;
  for (const Cohort* cohort = around(goroutine); cohort; cohort = cohort->parent) {
    if (cohort->cancelled)
      return true;
    if (!cohort->cancellable)
      return false;
  }
  return false;
}
bool Scheduler::isCancelled() const {
  return isCancelled(*current_);
}

void Scheduler::yield() {
  block({WaitKind::Nothing, false, false, 0});
  current_->deliver = true;
  current_->wakeValue = 0;
  ++current_->serial;
  makeReady(*current_);
}

Trap Scheduler::offload(Arguments& arguments, std::unique_ptr<Job> job) {
  if (isCancelled()) {
    if (const std::unique_ptr<Job> answer = job->answerOfCancelled())
      return answer->finish(arguments);
    job->cancel();
  }
  // A timer may cancel this goroutine even if nobody else is there. Below `full` a fold waits for
  // nothing, so that it is the same in every run.
  if (!mayBlock() || (!others() && timers_.empty()) ||
      (vm_.inFold() && vm_.callingLevel().level != ComptimeIo::Full)) {
    job->work();
    return job->finish(arguments);
  }
  if (!pool_)
    pool_ = std::make_shared<BlockingPool>();
  const Ticket ticket = block({WaitKind::Job, vm_.isReference(arguments.resultLayout()), false, 0});
  current_->running = job.get();
  ++jobs_;
  pool_->submit(ticket, std::move(job));
  return {};
}

// ---- turns
// ------------------------------------------------------------------------------------------

bool Scheduler::deliver(Goroutine& goroutine) {
  goroutine.deliver = false;
  Value result = std::exchange(goroutine.wakeValue, 0);
  if (goroutine.wakeTrap) [[unlikely]] {
    vm_.pending_ = std::move(goroutine.wakeTrap);
    return false;
  }
  const NativeImport& import = vm_.module_.natives[goroutine.import];
  if (goroutine.job) {
    const std::unique_ptr<Job> job = std::move(goroutine.job);
    Arguments arguments(vm_, import, nullptr);
    vm_.currentImport_ = goroutine.import;
    Trap trap = job->finish(arguments);
    result = arguments.result();
    if (trap) {
      if (goroutine.deliverReference)
        vm_.heap_.release(asObject(result));
      vm_.pending_ = std::move(trap);
      return false;
    }
  }
  Value& slot = vm_.top_->base[vm_.top_->pc[-1].a()];
  if (vm_.isReference(import.result))
    vm_.heap_.assign(slot, result);
  else
    slot = result;
  return true;
}

bool Scheduler::switchAway() {
  if (current_)
    putAway(*current_);
  current_ = nullptr;
  if (++turns_ % kTurnsBetweenLooks == 0 && !ready_.empty())
    collect(false);
  if (ready_.empty() && !lookForReady()) {
    vm_.pending_ = deadlock();
    current_ = main_;
    main_->state = Goroutine::State::Running;
    useMainStack();
    return false;
  }
  if (const uint64_t turn = vm_.nextTurn())
    std::swap(ready_.front(), ready_[turn % ready_.size()]);
  Goroutine& next = *goroutines_[ready_.front()];
  ready_.pop_front();
  current_ = &next;
  next.state = Goroutine::State::Running;
  if (!bringBack(next)) {
    next.state = Goroutine::State::Ready;
    ready_.push_front(next.slot);
    vm_.pending_ = vm_.heapTrap(); // with the place where main stands
    current_ = main_;
    main_->state = Goroutine::State::Running;
    useMainStack();
    return false;
  }
  vm_.startSlice();
  return !next.deliver || deliver(next);
}

bool Scheduler::lookForReady() {
  const bool forPart = mainWait_ == MainWait::ForPart;
  collect(!forPart || liveOfPart_ != 0);
  if (ready_.empty() && forPart) { // those that are left wait for what a later part may give them
    mainWait_ = MainWait::No;
    makeReady(*main_);
  }
  return !ready_.empty();
}

bool Scheduler::endSlice() {
  collect(false);
  if (ready_.empty())
    return false;
  current_->deliver = false;
  makeReady(*current_);
  return true;
}

bool Scheduler::collect(bool mayWait) {
  for (;;) {
    if (pool_)
      for (BlockingPool::Done& done : pool_->take()) {
        Goroutine* goroutine = waiting(done.ticket);
        if (!goroutine) { // it was cancelled, and did not wait for this
          pool_->forsakenIsDone();
          continue;
        }
        --jobs_;
        goroutine->running = nullptr;
        goroutine->job = std::move(done.job);
        wake(done.ticket, 0);
      }
    if (!timers_.empty()) {
      const auto now = std::chrono::steady_clock::now();
      while (!timers_.empty() && timers_.front().when <= now) {
        std::pop_heap(timers_.begin(), timers_.end(), later);
        const Timer timer = timers_.back();
        timers_.pop_back();
        if (timer.cohort) {
          if (timer.cohort->open) {
            timer.cohort->timedOut = true;
            cancelCohort(*timer.cohort);
          }
          unreference(timer.cohort);
        } else {
          wake(timer.ticket, timer.value);
        }
      }
    }
    if (!descriptorWaits_.empty())
      wakeDescriptors();
    if (!ready_.empty() || !mayWait)
      return true;
    // A timer whose wait has ended is nothing to wait for.
    while (!timers_.empty() && isOver(timers_.front())) {
      std::pop_heap(timers_.begin(), timers_.end(), later);
      unreference(timers_.back().cohort);
      timers_.pop_back();
    }
    if (jobs_ == 0 && timers_.empty() && !awaitsDescriptors())
      return false;
    if (!pool_)
      pool_ = std::make_shared<BlockingPool>();
    std::optional<std::chrono::steady_clock::time_point> until;
    if (!timers_.empty())
      until = timers_.front().when;
    if (vm_.interrupted_) // nothing more is waited for
      return false;
    vm_.beforeWaiting();
    pool_->wait(until, polled_);
  }
}

void Scheduler::finishTask(Goroutine& goroutine, TaskState state, llvm::StringRef message) {
  if (goroutine.task == 0)
    return;
  taskSlot(goroutine.task, TaskStatus) = Value(state);
  if (!message.empty())
    if (StringObject* text = vm_.heap_.newString(message))
      vm_.heap_.assign(taskSlot(goroutine.task, TaskMessage), fromObject(text));
  if (VecObject* waiters = asVec(taskSlot(goroutine.task, TaskWaiters))) {
    for (uint64_t i = 0; i < waiters->length; ++i)
      if (const Ticket ticket = Ticket::unpack(int64_t(waiters->slots[i]));
          waiting(ticket, {WaitKind::Join}))
        wake(ticket, Value(state));
    if (waiters->refs == 1)
      waiters->length = 0;
  }
}

void Scheduler::letGo(Goroutine& goroutine) {
  vm_.heap_.releaseValue(std::exchange(goroutine.sent, 0), goroutine.sentIsReference);
  if (goroutine.selection)
    clear(*goroutine.selection);
  goroutine.selection.reset();
  // Cohorts whose body a panic ended: their children go on as children of nobody.
  while (goroutine.inner && goroutine.inner != root_) {
    Cohort* inner = goroutine.inner;
    goroutine.inner = inner->previous;
    inner->open = false;
    cancelCohort(*inner);
    unreference(inner);
  }
}

void Scheduler::freeMain() {
  Goroutine& main = *main_;
  const Ticket ticket{main.slot, main.serial};
  ++main.serial; // what stands in queues for it is stale
  if (main.running) {
    main.running->cancel();
    main.running = nullptr;
    --jobs_;
    pool_->forsake(ticket);
  }
  main.job.reset();
  if (main.deliver)
    vm_.heap_.releaseValue(std::exchange(main.wakeValue, 0), main.deliverReference);
  main.deliver = false;
  main.wakeTrap = {};
  vm_.heap_.releaseValue(std::exchange(main.cancelValue, 0), main.deliverReference);
  main.cancellable = false;
  main.sendFailed = false;
  main.shields = 0;
  letGo(main);
  if (main.state == Goroutine::State::Ready)
    llvm::erase(ready_, main.slot);
  main.state = Goroutine::State::Running;
  main.waitsFor = WaitKind::Nothing;
  mainWait_ = MainWait::No;
}

void Scheduler::beginPart() {
  partBegin_ = nextNumber_;
  liveOfPart_ = 0;
}

void Scheduler::retire(Goroutine& goroutine) {
  vm_.heap_.release(asObject(std::exchange(goroutine.task, 0)));
  letGo(goroutine);
  unreference(std::exchange(goroutine.cohort, nullptr));
  if (onShared_ == &goroutine)
    onShared_ = nullptr;
  freeSaved(goroutine);
  vm_.heap_.releaseScratch(sizeof(Goroutine));
  ++goroutine.serial;
  goroutine.state = Goroutine::State::Free;
  free_.push_back(goroutine.slot);
  current_ = nullptr;
  if (goroutine.daemon) {
    --daemons_;
    return;
  }
  if (goroutine.number >= partBegin_)
    --liveOfPart_;
  if (--live_ == 0 && mainWait_ != MainWait::No) {
    mainWait_ = MainWait::No;
    makeReady(*main_);
  }
}

void Scheduler::endCurrent() {
  Goroutine& goroutine = *current_;
  const std::unique_ptr<std::string> error = std::move(goroutine.error);
  finishTask(goroutine, TaskEnded, {});
  if (error)
    keepFailure(goroutine, {}, *error);
  leaveCohort(goroutine, error != nullptr, error ? llvm::StringRef(*error) : llvm::StringRef());
  retire(goroutine);
}

void Scheduler::keepFailure(const Goroutine& goroutine, Trap trap, llvm::StringRef error) {
  if (goroutine.cohort != root_)
    return;
  UnobservedFailure& failure = unobserved_.emplace_back();
  failure.number = goroutine.number;
  if (goroutine.task != 0)
    if (const StringObject* label = asString(taskSlot(goroutine.task, TaskLabel)))
      failure.label = label->text().str();
  failure.task = retained(goroutine.task);
  failure.trap = std::move(trap);
  failure.error = error.str();
  unobservedOf_[goroutine.task] = std::prev(unobserved_.end());
}

void Scheduler::failCurrent(Trap trap) {
  Goroutine& goroutine = *current_;
  const std::string message = trap->message;
  goroutine.error.reset();
  keepFailure(goroutine, std::move(trap), {});
  finishTask(goroutine, TaskFailed, message);
  leaveCohort(goroutine, true, message);
  retire(goroutine);
}

void Scheduler::abandon(const TrapDetails& trap) {
  Goroutine& goroutine = *current_;
  goroutine.error.reset();
  finishTask(goroutine, TaskFailed, trap.message);
  leaveCohort(goroutine, true, trap.message);
  mainWait_ = MainWait::No;
  retire(goroutine);
  current_ = main_;
  useMainStack();
  vm_.unwind();
}

void Scheduler::waitForOthers(MainWait until) {
  mainWait_ = until;
  main_->state = Goroutine::State::Waiting;
  main_->waitsFor = WaitKind::Cohort;
  main_->cancellable = false;
  main_->deliver = false;
}

Trap Scheduler::deadlock() {
  Trap trap = Trap::panic("deadlock: every goroutine waits for another one");
  size_t omitted = 0;
  for (const std::unique_ptr<Goroutine>& each : goroutines_) {
    const Goroutine& goroutine = *each;
    // One of the library's own (daemon) waits for what the program does not do.
    if (goroutine.state != Goroutine::State::Waiting || goroutine.daemon)
      continue;
    if (trap->waiters.size() == kShownWaiters) {
      ++omitted;
      continue;
    }
    WaitingGoroutine& waiter = trap->waiters.emplace_back();
    waiter.number = goroutine.number;
    waiter.what = words(goroutine.waitsFor).str();
    if (goroutine.task != 0)
      if (const StringObject* label = asString(taskSlot(goroutine.task, TaskLabel)))
        waiter.label = label->text().str();
    const Frame* frames = nullptr;
    size_t count = 0;
    if (goroutine.isMain) {
      frames = vm_.frames_;
      count = size_t(mainTop_ - vm_.frames_ + 1);
    } else if (goroutine.own) {
      frames = goroutine.own->frames;
      count = size_t(goroutine.own->top - frames + 1);
    } else {
      frames =
          onShared_ == &goroutine ? sharedFrames_ : reinterpret_cast<const Frame*>(goroutine.saved);
      count = goroutine.frames;
    }
    // The nearest frame of the user's.
    for (size_t i = count; i-- > 0;)
      if (frames[i].function->source && !frames[i].function->source->transparent) {
        waiter.at = vm_.traceFrame(frames[i]);
        break;
      }
  }
  trap->waitersOmitted = omitted;
  return trap;
}

} // namespace gos::vm
