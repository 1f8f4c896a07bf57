// The scheduler alone: hand-built goroutines over natives that wait, wake, sleep and start jobs,
// without the library.

#include "tests/unit/vm/machine.h"
#include "vm/scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;

namespace {

/// What the goroutines of the running test have said, and who waits; made anew by each Program.
struct Notes {
  std::vector<int64_t> said;
  std::deque<Ticket> queue;
  std::optional<std::chrono::steady_clock::time_point> origin; // of sleeps; none: when they begin
};
Notes* notes = nullptr;

/// A job that does not end before it is let go.
struct Door {
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;
  std::atomic<int> entered = 0, cancelled = 0;
  void open() {
    std::lock_guard lock(mutex);
    isOpen = true;
    changed.notify_all();
  }
};
std::shared_ptr<Door> door;

class Number final : public Job {
public:
  explicit Number(int64_t number) : number_(number) {}
  void work() override {}
  Trap finish(Arguments& arguments) override { return arguments.returnInteger(number_); }

private:
  int64_t number_;
};

/// Its result cannot be made.
class Broken final : public Job {
public:
  void work() override {}
  Trap finish(Arguments&) override { return Trap::panic("the job is broken"); }
};

class Behind final : public Job {
public:
  explicit Behind(bool isDroppable) : isDroppable_(isDroppable), door_(door) {}
  void work() override {
    ++door_->entered;
    std::unique_lock lock(door_->mutex);
    door_->changed.wait(lock, [&] { return door_->isOpen; });
  }
  Trap finish(Arguments& arguments) override { return arguments.returnInteger(1); }
  void cancel() override {
    ++door_->cancelled;
    if (!isDroppable_)
      door_->open();
  }
  std::unique_ptr<Job> answerOfCancelled() override {
    return isDroppable_ ? std::make_unique<Number>(-1) : nullptr;
  }

private:
  bool isDroppable_;
  std::shared_ptr<Door> door_;
};

Scheduler& scheduler(Arguments& arguments) {
  return arguments.vm().scheduler();
}

Trap spawnBody(Arguments& arguments) {
  return scheduler(arguments).spawn(retained(arguments.slot(0)), 0);
}
Trap daemonBody(Arguments& arguments) {
  return scheduler(arguments).spawnDaemon(retained(arguments.slot(0)));
}
Trap sayBody(Arguments& arguments) {
  notes->said.push_back(arguments.integer(0));
  return arguments.returnUnit();
}
Trap yieldBody(Arguments& arguments) {
  scheduler(arguments).yield();
  return {};
}
/// Waits in the queue; the argument is what a cancellation answers, 0 for a wait that it does not
/// reach.
Trap waitBody(Arguments& arguments) {
  Scheduler& all = scheduler(arguments);
  const int64_t cancelled = arguments.integer(0);
  if (!all.mayBlock())
    return all.cannotWait();
  notes->queue.push_back(all.block({WaitKind::Lock, false, cancelled != 0, Value(cancelled)}));
  return {};
}
/// Wakes the first that still waits with a number; answers whether there was one.
Trap wakeBody(Arguments& arguments) {
  while (!notes->queue.empty()) {
    const Ticket ticket = notes->queue.front();
    notes->queue.pop_front();
    if (scheduler(arguments).wake(ticket, Value(arguments.integer(0))))
      return arguments.returnInteger(1);
  }
  return arguments.returnInteger(0);
}
Trap failBody(Arguments& arguments) {
  const Ticket ticket = notes->queue.front();
  notes->queue.pop_front();
  const bool woken = scheduler(arguments).wakeWithTrap(ticket, Trap::panic("the queue is gone"));
  return arguments.returnInteger(woken ? 1 : 0);
}
/// Answers its argument after as many milliseconds.
Trap sleepBody(Arguments& arguments) {
  Scheduler& all = scheduler(arguments);
  const int64_t milliseconds = arguments.integer(0);
  const Ticket ticket = all.block({WaitKind::Sleep, false, true, Value(-1)});
  all.wakeAt(notes->origin.value_or(std::chrono::steady_clock::now()) +
                 std::chrono::milliseconds(milliseconds),
             ticket, Value(milliseconds));
  return {};
}
Trap offloadBody(Arguments& arguments) {
  return scheduler(arguments).offload(arguments,
                                      std::make_unique<Behind>(arguments.integer(0) != 0));
}
Trap breakBody(Arguments& arguments) {
  return scheduler(arguments).offload(arguments, std::make_unique<Broken>());
}
Trap endBody(Arguments&) {
  return Trap::budget("patience", 1);
}
Trap openBody(Arguments& arguments) {
  door->open();
  return arguments.returnUnit();
}
Trap pushBody(Arguments& arguments) {
  scheduler(arguments).pushCohort(CohortPolicy(arguments.integer(0)), true);
  return arguments.returnUnit();
}
Trap cancelBody(Arguments& arguments) {
  scheduler(arguments).cancelCohort(*scheduler(arguments).around());
  return arguments.returnUnit();
}
Trap joinBody(Arguments& arguments) {
  return scheduler(arguments).joinCohort(arguments);
}
Trap popBody(Arguments& arguments) {
  const std::string failure = scheduler(arguments).popCohort();
  notes->said.push_back(failure.empty() ? 0 : int64_t(failure.size()));
  return arguments.returnUnit();
}
Trap panicBody(Arguments&) {
  return Trap::panic("no");
}

constexpr Native kNatives[] = {
    {"break", "", Capability::Pure, breakBody},     {"cancel", "", Capability::Pure, cancelBody},
    {"daemon", "", Capability::Pure, daemonBody},   {"end", "", Capability::Pure, endBody},
    {"fail", "", Capability::Pure, failBody},       {"join", "", Capability::Pure, joinBody},
    {"offload", "", Capability::Pure, offloadBody}, {"open", "", Capability::Pure, openBody},
    {"panic", "", Capability::Pure, panicBody},     {"pop", "", Capability::Pure, popBody},
    {"push", "", Capability::Pure, pushBody},       {"say", "", Capability::Pure, sayBody},
    {"sleep", "", Capability::Pure, sleepBody},     {"spawn", "", Capability::Pure, spawnBody},
    {"wait", "", Capability::Pure, waitBody},       {"wake", "", Capability::Pure, wakeBody},
    {"yield", "", Capability::Pure, yieldBody},
};

NativeTable table() {
  return NativeTable(kNatives,
                     [](const Native&, const NativeImport&, const Module&) -> llvm::Error {
                       return llvm::Error::success();
                     });
}

using Code = std::vector<Instruction>;

/// Bodies are lists of calls; r0 is what the last of them answered, r1 and r2 count, r3 holds a
/// closure.
class Program : public ModuleBuilder {
public:
  Program() {
    notes = &notes_;
    door = std::make_shared<Door>();
    Layout layout = containerLayout(LayoutKind::Closure, {}, "Fn()");
    layout.result = kUnit;
    closure_ = addLayout(layout);
  }
  ~Program() { notes = nullptr; }

  Code call(const std::string& native, int argument = 0) {
    return {abx(Op::ArgInt, 0, argument), abx(Op::CallNative, 0, import(native, kInt))};
  }
  Code sayResult() {
    return {abc(Op::ArgScalar, 0, 0), abx(Op::CallNative, 0, import("say", kInt))};
  }
  Code start(FunctionId body, const std::string& how = "spawn") {
    return {abx(Op::NewClosure, 3, int64_t(index(body))), abc(Op::ArgRef, 0, 3),
            abx(Op::CallNative, 0, import(how, closure_))};
  }
  /// Goes round a loop so often.
  static Code count(int times) {
    return {abx(Op::LoadInt, 1, 0), abx(Op::LoadInt, 2, times), abc(Op::ForLoopI64, 1, 2, -1)};
  }
  FunctionId body(std::initializer_list<Code> parts, std::string name = "goroutine") {
    Code code;
    for (const Code& part : parts)
      code.insert(code.end(), part.begin(), part.end());
    code.push_back(abc(Op::ReturnUnit));
    const FunctionId id =
        addFunction(std::move(name), {kInt, kInt, kInt, closure_}, 0, kUnit, std::move(code));
    module.functions.back().lines = {{0, {uint32_t(index(id)) * 10, uint32_t(index(id)) * 10 + 5}}};
    return id;
  }

  std::vector<int64_t> run(FunctionId main) {
    Machine machine(*this, Machine::programOptions(), table());
    machine.run(main);
    return notes_.said;
  }
  Trap trap(FunctionId main) {
    Machine machine(*this, Machine::programOptions(), table());
    return machine.trap(main);
  }

  uint32_t import(const std::string& native, LayoutId parameter) {
    for (size_t i = 0; i < module.natives.size(); ++i)
      if (module.natives[i].name == native)
        return uint32_t(i);
    const bool answers = native == "wait" || native == "wake" || native == "fail" ||
                         native == "sleep" || native == "offload" || native == "break";
    return addNative(native, {parameter}, answers ? kInt : kUnit);
  }

private:
  Notes notes_;
  LayoutId closure_{};
};

using Said = std::vector<int64_t>;

} // namespace

TEST_CASE("goroutines run in the order of their start, after the one that started them waits") {
  Program program;
  const FunctionId one = program.body({program.call("say", 1)});
  const FunctionId two = program.body({program.call("say", 2)});
  const FunctionId main =
      program.body({program.start(one), program.start(two), program.call("say", 0),
                    program.call("yield"), program.call("say", 3)});
  CHECK(program.run(main) == Said{0, 1, 2, 3});
}

TEST_CASE("a run is not over before the goroutines that it left, and does not wait for daemons") {
  Program program;
  const FunctionId child = program.body({program.call("yield"), program.call("say", 1)});
  const FunctionId daemon = program.body({program.call("wait"), program.call("say", 9)});
  const FunctionId main =
      program.body({program.start(daemon, "daemon"), program.start(child), program.call("say", 0)});
  CHECK(program.run(main) == Said{0, 1});
}

TEST_CASE("who waits first is woken first, and gets what it was woken with") {
  Program program;
  const FunctionId waiter = program.body({program.call("wait"), program.sayResult()});
  const FunctionId main = program.body(
      {program.start(waiter), program.start(waiter), program.call("yield"), program.call("wake", 5),
       program.call("wake", 6), program.call("wake", 7), program.sayResult()});
  CHECK(program.run(main) == Said{0, 5, 6});
}

TEST_CASE("a ticket is good for one wait") {
  Program program;
  const FunctionId waiter = program.body(
      {program.call("wait"), program.sayResult(), program.call("wait"), program.sayResult()});
  const FunctionId main =
      program.body({program.start(waiter), program.call("yield"), program.call("wake", 5)});
  Machine machine(program, Machine::programOptions(), table());
  Value result = 0;
  Trap trap = machine.vm().run(main, result); // it waits again, for nobody
  REQUIRE(bool(trap));
  REQUIRE(notes->queue.size() == 1);
  const Ticket fresh = notes->queue.front();
  Scheduler& all = machine.vm().scheduler();
  CHECK(notes->said == Said{5});
  CHECK(all.waiting(fresh, {WaitKind::Lock}) != nullptr);
  CHECK(all.waiting(fresh, {WaitKind::Receive}) == nullptr);
  CHECK(all.waiting({fresh.slot, fresh.serial - 1}, {WaitKind::Lock}) == nullptr);
  CHECK(all.waiting({fresh.slot + 1000, fresh.serial}, {WaitKind::Lock}) == nullptr);
  CHECK_FALSE(all.wake({fresh.slot, fresh.serial - 1}, 1));
}

TEST_CASE("who is woken with a trap fails where it waits, and takes nobody with it") {
  Program program;
  const FunctionId waiter = program.body({program.call("wait"), program.call("say", 9)});
  const FunctionId main =
      program.body({program.start(waiter), program.call("yield"), program.call("fail"),
                    program.sayResult(), program.call("yield"), program.call("say", 2)});
  Machine machine(program, Machine::programOptions(), table());
  machine.run(main);
  CHECK(notes->said == Said{1, 2});
  const std::vector<UnobservedFailure> failures = machine.vm().scheduler().takeUnobserved();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].number == 1);
  CHECK(failures[0].trap->message == "the queue is gone");
}

TEST_CASE("a turn that begins with a trap when main has ended concerns its goroutine alone") {
  for (const bool isJob : {false, true}) {
    CAPTURE(isJob);
    Program program;
    const FunctionId failing =
        program.body({program.call(isJob ? "break" : "wait"), program.call("say", 9)}, "failing");
    const FunctionId other = program.body({program.call("say", 2)});
    // Whoever fails has the first turn after the end of main.
    const FunctionId main =
        isJob ? program.body({program.start(other), program.start(failing), program.call("yield"),
                              program.call("say", 1)})
              : program.body({program.start(failing), program.call("yield"), program.call("fail"),
                              program.start(other), program.call("say", 1)});
    Machine machine(program, Machine::programOptions(), table());
    machine.run(main);
    CHECK(notes->said == (isJob ? Said{2, 1} : Said{1, 2}));
    const std::vector<UnobservedFailure> failures = machine.vm().scheduler().takeUnobserved();
    REQUIRE(failures.size() == 1);
    REQUIRE(failures[0].trap->trace.size() == 1);
    CHECK(failures[0].trap->trace[0].function == "failing");
  }
}

TEST_CASE("between two parts of a program goroutines stay, and nobody is said to be stuck") {
  Program program;
  const FunctionId waiter =
      program.body({program.call("wait"), program.sayResult(), program.call("wait")});
  const FunctionId first = program.body({program.start(waiter), program.call("say", 1)});
  const FunctionId second = program.body({program.call("say", 2)});
  const FunctionId third = program.body({program.call("wake", 5), program.call("say", 3)});
  Machine machine(program, Machine::programOptions(), table());
  for (const FunctionId part : {first, second, third}) {
    Value result = 0;
    CHECK_FALSE(machine.vm().runPart(part, result));
    CHECK_FALSE(machine.vm().settle());
  }
  CHECK(notes->said == Said{1, 2, 3, 5});
  CHECK(machine.vm().scheduler().live() == 1);
  CHECK(llvm::StringRef(machine.message(second)).starts_with("deadlock")); // a run waits for all
}

TEST_CASE("a part waits for the timers of its own goroutines, and not for those of a failed one") {
  Program program;
  const FunctionId endless =
      program.body({program.call("sleep", 3'000'000), program.call("say", 9)});
  const FunctionId brief = program.body({program.call("sleep", 1), program.sayResult()});
  const FunctionId failing = program.body({program.start(endless), program.call("panic")});
  const FunctionId own = program.body({program.start(brief), program.call("say", 7)});
  const FunctionId none = program.body({program.call("say", 8)});
  Machine machine(program, Machine::programOptions(), table());
  Value result = 0;
  CHECK(bool(machine.vm().runPart(failing, result)));
  CHECK_FALSE(machine.vm().runPart(own, result));
  // While `endless` sleeps: it is older, and its time is not waited for once `brief` has ended.
  CHECK_FALSE(machine.vm().settle());
  CHECK_FALSE(machine.vm().runPart(none, result));
  CHECK_FALSE(machine.vm().settle());
  CHECK(notes->said == Said{7, 1, 8});
}

TEST_CASE("a part that is stuck leaves nothing that could wake a later one") {
  Program program;
  const FunctionId stuck = program.body({program.call("wait"), program.call("say", 9)});
  const FunctionId waiter = program.body({program.call("wait"), program.sayResult()});
  const FunctionId wakes = program.body(
      {program.start(waiter), program.call("yield"), program.call("wake", 5), program.sayResult()});
  Machine machine(program, Machine::programOptions(), table());
  Value result = 0;
  Trap trap = machine.vm().runPart(stuck, result);
  REQUIRE(bool(trap));
  REQUIRE(trap->trace.size() == 1);
  CHECK(notes->queue.size() == 1);
  CHECK_FALSE(machine.vm().runPart(wakes, result));
  CHECK_FALSE(machine.vm().settle());
  CHECK(notes->said == Said{1, 5});
}

TEST_CASE("a goroutine that ends a part takes nobody along into the next one") {
  for (const bool afterMain : {false, true}) {
    CAPTURE(afterMain);
    Program program;
    const FunctionId ends = program.body(
        {program.call("wake", 4), program.call("end"), program.call("say", 9)}, "ends");
    const FunctionId waiter = program.body({program.call("wait"), program.sayResult()});
    const FunctionId first = afterMain
                                 ? program.body({program.start(waiter), program.start(ends)})
                                 : program.body({program.start(ends), program.start(waiter),
                                                 program.call("wait"), program.call("say", 8)});
    const FunctionId second = program.body({program.call("yield"), program.call("say", 1)});
    const FunctionId stuck = program.body({program.call("wait"), program.call("say", 7)});
    Machine machine(program, Machine::programOptions(), table());
    Value result = 0;
    Trap trap = machine.vm().runPart(first, result);
    CHECK(bool(trap) != afterMain);
    if (afterMain)
      trap = machine.vm().settle();
    REQUIRE(bool(trap));
    CHECK(trap->kind == TrapKind::Budget);
    CHECK(trap->trace[0].function == "ends");
    CHECK_FALSE(machine.vm().runPart(second, result));
    CHECK_FALSE(machine.vm().settle());
    CHECK(notes->said == (afterMain ? Said{4, 1} : Said{1}));
    trap = machine.vm().runPart(stuck, result);
    REQUIRE(bool(trap));
    CHECK(llvm::StringRef(trap->message).starts_with("deadlock"));
  }
}

TEST_CASE("the cohort in which a part failed is not the one that the next part is in") {
  Program program;
  const FunctionId failing =
      program.body({program.call("push", int(CohortPolicy::FailFast)), program.call("panic")});
  const FunctionId waiter = program.body({program.call("wait", 77), program.sayResult()});
  const FunctionId next = program.body(
      {program.start(waiter), program.call("yield"), program.call("wake", 5), program.call("pop")});
  Machine machine(program, Machine::programOptions(), table());
  Value result = 0;
  CHECK(bool(machine.vm().runPart(failing, result)));
  CHECK_FALSE(machine.vm().runPart(next, result));
  CHECK_FALSE(machine.vm().settle());
  // There is none to leave.
  CHECK(notes->said ==
        Said{int64_t(llvm::StringRef("a cohort ends that has not begun").size()), 5});
}

TEST_CASE("a goroutine that only computes gives way to the others") {
  Program program;
  const FunctionId busy = program.body({Program::count(3'000'000), program.call("say", 1)});
  const FunctionId brief =
      program.body({program.call("yield"), program.call("yield"), program.call("say", 2)});
  const FunctionId main = program.body({program.start(busy), program.start(brief)});
  CHECK(program.run(main) == Said{2, 1});
}

TEST_CASE(
    "slices are counted in steps, so the order of two that compute is the same in every run") {
  Said first;
  for (int round = 0; round < 5; ++round) {
    Program program;
    const auto counting = [&](int name) {
      return program.body({Program::count(70'000), program.call("say", name),
                           Program::count(150'000), program.call("say", name + 1)});
    };
    const FunctionId one = counting(10), two = counting(20);
    const FunctionId main = program.body({program.start(one), program.start(two)});
    const Said said = program.run(main);
    CHECK(said.size() == 4);
    if (round == 0)
      first = said;
    CHECK(said == first);
  }
  CHECK(first != Said{10, 11, 20, 21});
}

TEST_CASE("timers wake in the order of their times, whatever the order of the sleeps") {
  Program program;
  const auto sleeper = [&](int milliseconds) {
    return program.body({program.call("sleep", milliseconds), program.sayResult()});
  };
  const FunctionId late = sleeper(60), soon = sleeper(5), between = sleeper(30);
  const FunctionId main =
      program.body({program.start(late), program.start(soon), program.start(between)});
  // Whatever time passes between two starts.
  notes->origin = std::chrono::steady_clock::now();
  CHECK(program.run(main) == Said{5, 30, 60});
}

TEST_CASE("if all wait for each other, the report names each with what it waits for and where") {
  Program program;
  const FunctionId waiter = program.body({program.call("wait")}, "waits_for_ever");
  const FunctionId main = program.body({program.start(waiter, "daemon"), program.start(waiter),
                                        program.start(waiter), program.call("wait")},
                                       "main");
  const Trap trap = program.trap(main);
  CHECK(trap->kind == TrapKind::Panic);
  CHECK(llvm::StringRef(trap->message).starts_with("deadlock"));
  REQUIRE(trap->waiters.size() == 3); // the library's own is nobody's goroutine
  for (size_t i = 0; i < 3; ++i) {
    CHECK(trap->waiters[i].number == i);
    CHECK(trap->waiters[i].what == words(WaitKind::Lock).str());
    CHECK(trap->waiters[i].at.function == (i == 0 ? "main" : "waits_for_ever"));
  }
  CHECK(trap->waitersOmitted == 0);
}

TEST_CASE("a report of many waiters is cut, and says how many there are") {
  Program program;
  const FunctionId waiter = program.body({program.call("wait")});
  Code code;
  for (int i = 0; i < 50; ++i)
    for (const Instruction& each : program.start(waiter))
      code.push_back(each);
  const FunctionId main = program.body({code, program.call("wait")});
  const Trap trap = program.trap(main);
  CHECK(trap->waiters.size() + trap->waitersOmitted == 51);
  CHECK(trap->waitersOmitted == 31);
}

TEST_CASE("a wait of nobody but a timer is no deadlock") {
  Program program;
  const FunctionId main = program.body({program.call("sleep", 1), program.sayResult()});
  CHECK(program.run(main) == Said{1});
}

TEST_CASE(
    "cancelling a cohort ends the waits of its children that can be cancelled, and no others") {
  Program program;
  const FunctionId cancellable = program.body({program.call("wait", 77), program.sayResult()});
  const FunctionId stubborn = program.body({program.call("wait"), program.sayResult()});
  const FunctionId outsider = program.body({program.call("wait", 88), program.sayResult()});
  const FunctionId main =
      program.body({program.start(outsider), program.call("push", int(CohortPolicy::CollectAll)),
                    program.start(cancellable), program.start(stubborn), program.call("yield"),
                    program.call("cancel"), program.call("yield"), program.call("say", 1),
                    program.call("wake", 2), program.call("wake", 3), program.call("join"),
                    program.call("pop")});
  // The outsider was first in the queue, and is what the first `wake` finds.
  CHECK(program.run(main) == Said{77, 1, 2, 3, 0});
}

TEST_CASE("the failure of a child cancels the others under fail-fast, and not under collect-all") {
  for (CohortPolicy policy : {CohortPolicy::FailFast, CohortPolicy::CollectAll}) {
    Program program;
    const FunctionId waiter = program.body({program.call("wait", 77), program.sayResult()});
    const FunctionId failing = program.body({program.call("panic")});
    const FunctionId main =
        program.body({program.call("push", int(policy)), program.start(waiter),
                      program.start(failing), program.call("yield"), program.call("yield"),
                      program.call("wake", 5), program.call("join"), program.call("pop")});
    CHECK(program.run(main) == Said{policy == CohortPolicy::FailFast ? 77 : 5, 2});
  }
}

TEST_CASE("a job holds up its own goroutine and no other") {
  Program program;
  const FunctionId working = program.body({program.call("offload"), program.sayResult()});
  const FunctionId other = program.body({program.call("say", 5), program.call("yield"),
                                         program.call("say", 6), program.call("open")});
  const FunctionId main = program.body({program.start(working), program.start(other)});
  CHECK(program.run(main) == Said{5, 6, 1});
}

TEST_CASE("a cancelled job that can end soon is waited for") {
  Program program;
  const FunctionId working = program.body({program.call("offload", 0), program.sayResult()});
  const FunctionId main =
      program.body({program.call("push", 0), program.start(working), program.call("yield"),
                    program.call("cancel"), program.call("join"), program.call("pop")});
  CHECK(program.run(main) == Said{1, 0});
  CHECK(door->cancelled == 1);
}

TEST_CASE("a goroutine does not wait for a cancelled job that nothing can hurry, and its answer is "
          "dropped") {
  Program program;
  const FunctionId working = program.body({program.call("offload", 1), program.sayResult()});
  // The door is opened when all is over; a second goroutine then does a job of its own, and gets
  // its own answer.
  const FunctionId later = program.body({program.call("offload", 1), program.sayResult()});
  const FunctionId main =
      program.body({program.call("push", 0), program.start(working), program.call("yield"),
                    program.call("cancel"), program.call("join"), program.call("pop"),
                    program.call("say", 7), program.call("open"), program.start(later)});
  CHECK(program.run(main) == Said{-1, 0, 7, 1});
  CHECK(door->cancelled == 1);
}

TEST_CASE("a job that was dropped is nothing to wait for in a deadlock") {
  Program program;
  const FunctionId working = program.body({program.call("offload", 1), program.sayResult()});
  const FunctionId main = program.body(
      {program.call("push", 0), program.start(working), program.call("yield"),
       program.call("cancel"), program.call("join"), program.call("pop"), program.call("wait")});
  const std::shared_ptr<Door> held = door;
  const Trap trap = program.trap(main);
  CHECK(llvm::StringRef(trap->message).starts_with("deadlock"));
  CHECK(notes->said == Said{-1, 0});
  held->open();
}

TEST_CASE("a call that begins when its goroutine is cancelled already does not start its job") {
  Program program;
  const FunctionId main =
      program.body({program.call("push", 0), program.call("cancel"), program.call("offload", 1),
                    program.sayResult(), program.call("pop")});
  CHECK(program.run(main) == Said{-1, 0});
  CHECK(door->entered == 0);
}

TEST_CASE("more hanging jobs than the pool has threads do not hold up the ones behind them once "
          "they are dropped") {
  Program program;
  const FunctionId hanging = program.body({program.call("offload", 1)});
  const FunctionId brief = program.body({program.call("offload", 1), program.sayResult()});
  Code many;
  for (int i = 0; i < 300; ++i)
    for (const Instruction& each : program.start(hanging))
      many.push_back(each);
  const FunctionId opener = program.body({program.call("sleep", 1), program.call("open")});
  const FunctionId main = program.body(
      {program.call("push", 0), many, program.call("yield"), program.call("cancel"),
       program.call("join"), program.call("pop"), program.start(brief), program.start(opener)});
  CHECK(program.run(main) == Said{0, 1});
}

TEST_CASE("records of goroutines count against the heap, and too many are a trap") {
  Program program;
  const FunctionId waiter = program.body({program.call("wait")});
  const FunctionId main = program.body({{abx(Op::LoadInt, 1, 0), abx(Op::LoadInt, 2, 1'000'000)},
                                        program.start(waiter),
                                        {abc(Op::ForLoopI64, 1, 2, -4)}});
  VmOptions options = Machine::programOptions();
  options.heapBytes = uint64_t(1) << 20;
  Machine machine(program, std::move(options), table());
  const Trap trap = machine.trap(main);
  CHECK(trap->kind == TrapKind::Budget);
  CHECK(trap->counter == "heap");
  CHECK(machine.vm().scheduler().live() > 500);
  CHECK(machine.vm().heap().used() <= uint64_t(1) << 20);
}

TEST_CASE("a goroutine that waits keeps its stack, however deep it stands") {
  Program program;
  // Calls itself as often as r0 says, and gives way on each level on the way back.
  const FunctionId self{uint32_t(program.module.functions.size())};
  const Code code = {
      abc(Op::JumpLtImm, 0, 1, 3), abc(Op::AddImmI64, 1, 0, -1),
      abc(Op::ArgScalar, 0, 1),    abx(Op::Call, 2, int64_t(index(self))),
      abx(Op::ArgInt, 0, 0),       abx(Op::CallNative, 1, program.import("yield", kInt)),
      abc(Op::ReturnScalar, 0)};
  program.addFunction("deep", {kInt, kInt, kInt}, 1, kInt, code);
  const FunctionId child = program.body(
      {{abx(Op::ArgInt, 0, 3000), abx(Op::Call, 0, int64_t(index(self)))}, program.sayResult()});
  const FunctionId main = program.body({program.start(child), program.start(child)});
  CHECK(program.run(main) == Said{3000, 3000});
}
