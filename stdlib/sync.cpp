// Goroutines, channels, select, and what the locks of std::sync are made of. The state of a channel
// is an object that all its handles share and that the bodies here change in place; bytecode never
// writes to one, so it is never copied.

#include "stdlib/host_state.h"
#include "stdlib/support.h"
#include "vm/format.h"
#include "vm/object.h"
#include "vm/scheduler.h"

#include <algorithm>

namespace gos::stdlib {

using vm::asStruct;
using vm::asVec;
using vm::Goroutine;
using vm::Scheduler;
using vm::SelectArm;
using vm::Selection;
using vm::StructObject;
using vm::Ticket;
using vm::WaitKind;

namespace {

/// The fields of `sync::Channel`, in order. A queue of waiters is tickets; one that has `kIsArm` is
/// followed by the arm of its `select`.
enum ChannelSlot : unsigned { Items, Capacity, Closed, Receivers, Senders };
constexpr int64_t kUnbounded = -1;

/// What a receive arm of a `select` takes: by its pattern.
enum ReceiveMode : int64_t { AnyValue, OnlySome, OnlyNone };

constexpr uint64_t kIsArm = uint64_t(1) << 31; // in the slot of a ticket

/// Bit of a waiter's arm: it wants the end of the channel, no value.
constexpr int64_t kWantsEnd = int64_t(1) << 40;

class ChannelState {
public:
  ChannelState(Vm& vm, Value handle)
      : vm_(vm), object_(handle == 0 ? nullptr : asStruct(asStruct(handle)->slots()[0])) {}
  /// Is everything there? A field is null while somebody has taken it out.
  explicit operator bool() const {
    return object_ != nullptr && object_->slots()[Items] != 0 && object_->slots()[Receivers] != 0 &&
           object_->slots()[Senders] != 0;
  }
  Value identity() const { return vm::fromObject(object_); }
  bool closed() const { return object_->slots()[Closed] != 0; }
  void close() { object_->slots()[Closed] = 1; }
  int64_t capacity() const { return int64_t(object_->slots()[Capacity]); }
  uint64_t length() const { return asVec(object_->slots()[Items])->length; }
  VecObject* items() { return vec(Items); }
  /// A queue that may be changed; null when the heap is full.
  VecObject* vec(ChannelSlot slot) {
    Value& value = object_->slots()[slot];
    return vm_.heap().makeUnique(value) ? asVec(value) : nullptr;
  }
  bool hasRoom() { return capacity() == kUnbounded || int64_t(length()) < capacity(); }

  struct Waiter {
    Ticket ticket;
    int64_t arm;
    Goroutine* goroutine;
  };
  bool enqueue(ChannelSlot slot, Ticket ticket) {
    VecObject* queue = vec(slot);
    return queue && vm_.heap().push(queue, Value(ticket.packed()));
  }
  bool enqueueArm(ChannelSlot slot, Ticket ticket, int64_t arm) {
    VecObject* queue = vec(slot);
    return queue && vm_.heap().push(queue, Value(ticket.packed()) | kIsArm) &&
           vm_.heap().push(queue, Value(arm));
  }
  /// The first one that still waits here; for a value, or for anything.
  std::optional<Waiter> dequeue(ChannelSlot slot, bool forValue) {
    if (asVec(object_->slots()[slot])->length == 0)
      return std::nullopt;
    VecObject* queue = vec(slot);
    for (uint64_t i = 0; queue && i < queue->length;) {
      const uint64_t size = sizeOfEntry(queue, i);
      const Waiter waiter = look(queue, slot, i);
      if (waiter.goroutine && forValue && waiter.arm >= 0 && (waiter.arm & kWantsEnd) != 0) {
        i += size;
        continue;
      }
      for (uint64_t k = 0; k < size; ++k)
        if (i == 0)
          vm_.heap().popFront(queue);
        else
          vm_.heap().removeAt(queue, i);
      if (waiter.goroutine)
        return Waiter{waiter.ticket, waiter.arm < 0 ? -1 : waiter.arm & ~kWantsEnd,
                      waiter.goroutine};
    }
    return std::nullopt;
  }
  /// Whoever has left a `select` leaves the queues of its other arms.
  void forget(ChannelSlot slot, Ticket ticket) {
    if (asVec(object_->slots()[slot])->length == 0)
      return;
    VecObject* queue = vec(slot);
    if (!queue)
      return;
    const uint64_t unwanted = Value(ticket.packed()) | kIsArm;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < queue->length;) {
      const uint64_t size = sizeOfEntry(queue, i);
      const bool keep = queue->slots[i] != unwanted;
      for (uint64_t k = 0; k < size; ++k, ++i)
        if (keep)
          queue->slots[kept++] = queue->slots[i];
    }
    queue->length = kept;
  }

private:
  static uint64_t sizeOfEntry(const VecObject* queue, uint64_t at) {
    return (queue->slots[at] & kIsArm) != 0 && at + 1 < queue->length ? 2 : 1;
  }
  /// An entry, believed only if that goroutine really waits for this channel in this way.
  Waiter look(const VecObject* queue, ChannelSlot slot, uint64_t at) {
    const auto ticket = Ticket::unpack(int64_t(queue->slots[at] & ~kIsArm));
    const bool isSend = slot == Senders;
    if (sizeOfEntry(queue, at) == 1)
      return {ticket, -1,
              vm_.scheduler().waitingFor(ticket, isSend ? WaitKind::Send : WaitKind::Receive,
                                         identity())};
    const auto arm = int64_t(queue->slots[at + 1]);
    Goroutine* goroutine = vm_.scheduler().waiting(ticket, {WaitKind::Select});
    const uint64_t number = uint64_t(arm & ~kWantsEnd);
    if (goroutine &&
        (arm < 0 || !goroutine->selection || number >= goroutine->selection->arms.size() ||
         goroutine->selection->arms[number].isSend != isSend ||
         ChannelState(vm_, goroutine->selection->arms[number].channel).identity() != identity()))
      goroutine = nullptr;
    return {ticket, arm, goroutine};
  }

  Vm& vm_;
  StructObject* object_;
};

Trap noHandle() {
  return Trap::incompatible("value is no channel");
}
Trap closedChannel() {
  return Trap::panic("send on closed channel");
}

Selection& selectionOf(Vm& vm) {
  Goroutine& goroutine = vm.scheduler().current();
  if (!goroutine.selection)
    goroutine.selection = std::make_unique<Selection>();
  return *goroutine.selection;
}

void clear(Vm& vm, Selection& selection) {
  vm.scheduler().clear(selection);
}

/// `Some(value)` of the layout of an option; 0 when the heap is full, and the value is gone.
Value someOf(Vm& vm, LayoutId option, Value value, bool isReference) {
  const uint16_t some = vm.info(option).known[size_t(vm::KnownVariant::Some)];
  StructObject* object = vm.heap().newEnum(option, some);
  if (!object) {
    vm.heap().releaseValue(value, isReference);
    return 0;
  }
  object->slots()[0] = value;
  return vm::fromObject(object);
}

bool someIsReference(const Vm& vm, LayoutId option) {
  const uint16_t some = vm.info(option).known[size_t(vm::KnownVariant::Some)];
  return vm.isReference(vm.layout(option).variants[some].fields[0]);
}

/// Gives a value to a goroutine that waits for one. False: the heap is full.
bool hand(Vm& vm, const ChannelState& channel, ChannelState::Waiter to, Value value,
          bool isReference) {
  Scheduler& scheduler = vm.scheduler();
  if (to.arm >= 0) {
    Selection& selection = *to.goroutine->selection;
    selection.taken = value;
    selection.hasTaken = true;
    selection.takenIsReference = isReference;
    selection.takenFrom = channel.identity();
    return scheduler.wake(to.ticket, Value(to.arm));
  }
  const LayoutId option = vm.module().natives[to.goroutine->import].result;
  const Value some = someOf(vm, option, value, isReference);
  return some != 0 && scheduler.wake(to.ticket, some);
}

/// What a sender that waits has to give, owned; it goes on.
Value takeFrom(Vm& vm, ChannelState::Waiter sender) {
  Scheduler& scheduler = vm.scheduler();
  if (sender.arm < 0) {
    const Value value = std::exchange(sender.goroutine->sent, 0);
    scheduler.wake(sender.ticket, 0);
    return value;
  }
  const Value value = std::exchange(sender.goroutine->selection->arms[size_t(sender.arm)].value, 0);
  scheduler.wake(sender.ticket, Value(sender.arm));
  return value;
}

/// The next value, owned, if there is one now.
Trap receiveNow(Vm& vm, ChannelState& channel, Value& value, bool& received) {
  received = false;
  VecObject* items = channel.items();
  if (!items)
    return vm.heapTrap();
  if (items->length != 0) {
    value = vm.heap().popFront(items);
    received = true;
    if (auto sender = channel.dequeue(Senders, true))
      if (!vm.heap().push(items, takeFrom(vm, *sender)))
        return vm.heapTrap();
    return {};
  }
  if (auto sender = channel.dequeue(Senders, true)) {
    value = takeFrom(vm, *sender);
    received = true;
  }
  return {};
}

/// Puts the value where it goes at once: to who waits, or into the buffer. Takes it over if `sent`.
Trap sendNow(Vm& vm, ChannelState& channel, Value value, bool isReference, bool& sent) {
  sent = false;
  if (channel.closed())
    return closedChannel();
  if (auto receiver = channel.dequeue(Receivers, true)) {
    sent = true;
    return hand(vm, channel, *receiver, value, isReference) ? Trap() : vm.heapTrap();
  }
  if (!channel.hasRoom())
    return {};
  sent = true;
  VecObject* items = channel.items();
  return items && vm.heap().push(items, value) ? Trap() : vm.heapTrap();
}

Trap closeChannel(Arguments& arguments) {
  Vm& vm = arguments.vm();
  ChannelState channel(vm, arguments.slot(0));
  if (!channel)
    return noHandle();
  channel.close();
  Scheduler& scheduler = vm.scheduler();
  while (auto receiver = channel.dequeue(Receivers, false)) {
    if (receiver->arm >= 0) {
      scheduler.wake(receiver->ticket, Value(receiver->arm));
      continue;
    }
    const LayoutId option = vm.module().natives[receiver->goroutine->import].result;
    scheduler.wake(receiver->ticket,
                   vm.unitVariant(option, vm.info(option).known[size_t(vm::KnownVariant::None)]));
  }
  // Who waits to send learns that the channel is closed: the arm of a `select` is chosen again, a
  // send panics.
  while (auto sender = channel.dequeue(Senders, true)) {
    if (sender->arm < 0) {
      scheduler.wakeWithTrap(sender->ticket, closedChannel());
      continue;
    }
    sender->goroutine->sendFailed = true;
    scheduler.wake(sender->ticket, Value(sender->arm));
  }
  return arguments.returnUnit();
}

Trap tellClosed(Arguments& arguments) {
  const ChannelState channel(arguments.vm(), arguments.slot(0));
  return channel ? arguments.returnBoolean(channel.closed()) : noHandle();
}

/// The layout of the items of a channel, from that of a handle.
LayoutId channelItems(const Vm& vm, LayoutId handle) {
  const LayoutId channel = vm.layout(handle).variants[0].fields[0];
  return vm.layout(channel).variants[0].fields[Items];
}

bool isReferenceArgument(const Arguments& arguments, size_t i) {
  return arguments.vm().isReference(arguments.layoutId(i));
}

} // namespace

namespace bodies {

// ---- goroutines
// ---------------------------------------------------------------------------------------

Trap Go(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (Trap trap = vm.scheduler().spawn(vm.retainValue(arguments.slot(0), arguments.layoutId(0)),
                                       vm.retainValue(arguments.slot(1), arguments.layoutId(1))))
    return trap;
  return arguments.returnUnit();
}

/// A goroutine of the library that the end of the program does not wait for.
Trap Daemon(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (Trap trap =
          vm.scheduler().spawnDaemon(vm.retainValue(arguments.slot(0), arguments.layoutId(0))))
    return trap;
  return arguments.returnUnit();
}

/// The closure's value goes to where `join` finds it; an `Err` counts as the failure of a child.
Trap TaskFinish(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Value& kept = asStruct(arguments.slot(0))->slots()[1];
  const LayoutId layout = arguments.layoutId(1);
  if (kept == 0)
    return Trap::incompatible("goroutine has no place for its answer");
  if (!vm.heap().makeUnique(kept) ||
      !vm.heap().push(asVec(kept), vm.retainValue(arguments.slot(1), layout)))
    return vm.heapTrap();
  const vm::LayoutInfo& info = vm.info(layout);
  const uint16_t err = info.known[size_t(vm::KnownVariant::Err)];
  if (info.kind == LayoutKind::Enum && err != vm::kNoVariant && arguments.object(1)->tag == err) {
    vm::TextBuffer text(uint64_t(64) << 10);
    const Layout& shape = arguments.layout(1);
    if (!shape.variants[err].fields.empty())
      if (Trap trap = vm::formatDisplay(vm, asStruct(arguments.slot(1))->slots()[0],
                                        shape.variants[err].fields[0], text))
        return trap;
    vm.scheduler().failWithError(text.text().str());
  }
  return arguments.returnUnit();
}

Trap TaskWait(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Scheduler& scheduler = vm.scheduler();
  StructObject* task = asStruct(arguments.slot(0));
  if (int64_t(task->slots()[vm::TaskStatus]) != vm::TaskRuns) {
    scheduler.observe(arguments.slot(0));
    return arguments.returnInteger(int64_t(task->slots()[vm::TaskStatus]));
  }
  if (!scheduler.mayBlock())
    return scheduler.cannotWait();
  Value& waiters = task->slots()[vm::TaskWaiters];
  const Ticket ticket = scheduler.nextTicket();
  if (waiters == 0)
    return Trap::borrowed("queue is used while it is borrowed elsewhere");
  if (!vm.heap().makeUnique(waiters) || !vm.heap().push(asVec(waiters), Value(ticket.packed())))
    return vm.heapTrap();
  scheduler.block({WaitKind::Join, false, false, 0});
  return {};
}

Trap ThreadYieldNow(Arguments& arguments) {
  Scheduler* scheduler = arguments.vm().schedulerIfAny();
  if (!scheduler || scheduler->live() == 0 || !scheduler->mayBlock())
    return arguments.returnUnit();
  scheduler->yield();
  return {};
}

// ---- channels
// -----------------------------------------------------------------------------------------

Trap SenderSend(Arguments& arguments) {
  Vm& vm = arguments.vm();
  ChannelState channel(vm, arguments.slot(0));
  if (!channel)
    return noHandle();
  const bool isReference = isReferenceArgument(arguments, 1);
  const Value value = isReference ? vm::retained(arguments.slot(1)) : arguments.slot(1);
  bool sent = false;
  Trap trap = sendNow(vm, channel, value, isReference, sent);
  if (sent)
    return trap;
  Scheduler& scheduler = vm.scheduler();
  if (!trap && !scheduler.mayBlock())
    trap = scheduler.cannotWait();
  if (!trap && !channel.enqueue(Senders, scheduler.nextTicket()))
    trap = vm.heapTrap();
  if (trap) {
    vm.heap().releaseValue(value, isReference);
    return trap;
  }
  scheduler.blockSending(value, isReference, channel.identity());
  return {};
}

Trap ChannelRecv(Arguments& arguments) {
  Vm& vm = arguments.vm();
  ChannelState channel(vm, arguments.slot(0));
  if (!channel)
    return noHandle();
  Value value = 0;
  bool received = false;
  if (Trap trap = receiveNow(vm, channel, value, received))
    return trap;
  const LayoutId option = arguments.resultLayout();
  if (received) {
    const Value some = someOf(vm, option, value, someIsReference(vm, option));
    return some != 0 ? arguments.returnOwned(some) : vm.heapTrap();
  }
  Scheduler& scheduler = vm.scheduler();
  if (channel.closed() || scheduler.isCancelled())
    return arguments.returnNone();
  if (!scheduler.mayBlock())
    return scheduler.cannotWait();
  if (!channel.enqueue(Receivers, scheduler.nextTicket()))
    return vm.heapTrap();
  const Value none = vm.unitVariant(option, vm.info(option).known[size_t(vm::KnownVariant::None)]);
  scheduler.block({WaitKind::Receive, true, true, none, channel.identity()});
  return {};
}

Trap ChannelTryRecv(Arguments& arguments) {
  Vm& vm = arguments.vm();
  ChannelState channel(vm, arguments.slot(0));
  if (!channel)
    return noHandle();
  Value value = 0;
  bool received = false;
  if (Trap trap = receiveNow(vm, channel, value, received))
    return trap;
  if (!received)
    return arguments.returnNone();
  const LayoutId option = arguments.resultLayout();
  const Value some = someOf(vm, option, value, someIsReference(vm, option));
  return some != 0 ? arguments.returnOwned(some) : vm.heapTrap();
}

Trap SenderClose(Arguments& arguments) {
  return closeChannel(arguments);
}
Trap ReceiverClose(Arguments& arguments) {
  return closeChannel(arguments);
}
Trap SenderIsClosed(Arguments& arguments) {
  return tellClosed(arguments);
}
Trap ReceiverIsClosed(Arguments& arguments) {
  return tellClosed(arguments);
}

// ---- select
// -------------------------------------------------------------------------------------------

Trap SelectBegin(Arguments& arguments) {
  clear(arguments.vm(), selectionOf(arguments.vm()));
  return arguments.returnUnit();
}

Trap SelectRecv(Arguments& arguments) {
  Vm& vm = arguments.vm();
  selectionOf(vm).arms.push_back({vm.retainValue(arguments.slot(0), arguments.layoutId(0)),
                                  arguments.layoutId(0), 0, false, false, arguments.integer(1)});
  return arguments.returnUnit();
}

Trap SelectSend(Arguments& arguments) {
  Vm& vm = arguments.vm();
  selectionOf(vm).arms.push_back({vm.retainValue(arguments.slot(0), arguments.layoutId(0)),
                                  arguments.layoutId(0),
                                  vm.retainValue(arguments.slot(1), arguments.layoutId(1)), true,
                                  isReferenceArgument(arguments, 1), AnyValue});
  return arguments.returnUnit();
}

/// The number of the arm that goes, or the number of arms for `default`.
Trap SelectWait(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Scheduler& scheduler = vm.scheduler();
  Selection& selection = selectionOf(vm);
  const bool mayWait = arguments.boolean(0);
  const size_t count = selection.arms.size();
  const bool cancelled = scheduler.isCancelled();
  // From another arm each time, so that a busy one does not starve the rest; the same on every run.
  const size_t first = count == 0 ? 0 : size_t(scheduler.nextChoice() % count);
  bool possible = false;
  int64_t noneArm = -1;
  for (size_t step = 0; step < count; ++step) {
    const size_t at = (first + step) % count;
    SelectArm& arm = selection.arms[at];
    ChannelState channel(vm, arm.channel);
    if (!channel)
      return noHandle();
    if (arm.isSend) {
      bool sent = false;
      if (Trap trap = sendNow(vm, channel, arm.value, arm.valueIsReference, sent))
        return trap;
      if (sent) {
        arm.value = 0;
        return arguments.returnInteger(int64_t(at));
      }
      possible = true;
      continue;
    }
    if (arm.mode != OnlyNone) {
      Value value = 0;
      bool received = false;
      if (Trap trap = receiveNow(vm, channel, value, received))
        return trap;
      if (received) {
        selection.taken = value;
        selection.hasTaken = true;
        selection.takenFrom = channel.identity();
        selection.takenIsReference =
            vm.heap().info(vm.layout(channelItems(vm, arm.channelLayout)).element).isReference;
        return arguments.returnInteger(int64_t(at));
      }
    }
    if (channel.closed() ? arm.mode != OnlySome && (channel.length() == 0)
                         : cancelled && arm.mode != OnlySome)
      return arguments.returnInteger(int64_t(at));
    possible = possible || !channel.closed();
    if (arm.mode != OnlySome && noneArm < 0)
      noneArm = int64_t(at);
  }
  if (!mayWait)
    return arguments.returnInteger(int64_t(count));
  if (!possible)
    return Trap::panic("no arm of `select` can go: every channel is closed");
  if (!scheduler.mayBlock())
    return scheduler.cannotWait();
  selection.ticket = scheduler.nextTicket();
  for (size_t at = 0; at < count; ++at) {
    ChannelState channel(vm, selection.arms[at].channel);
    const int64_t wants = selection.arms[at].mode == OnlyNone ? kWantsEnd : 0;
    if (!channel.enqueueArm(selection.arms[at].isSend ? Senders : Receivers, selection.ticket,
                            int64_t(at) | wants))
      return vm.heapTrap();
  }
  scheduler.block({WaitKind::Select, false, noneArm >= 0, Value(noneArm)});
  return {};
}

/// After the wait: the queues are left, and a send that met a closed channel panics. Answers the
/// arm again, or -1 for a receive arm that its pattern does not want, whose `select` has to be made
/// again.
Trap SelectEnd(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Selection& selection = selectionOf(vm);
  const int64_t chosen = arguments.integer(0);
  for (SelectArm& arm : selection.arms) {
    ChannelState channel(vm, arm.channel);
    if (channel)
      channel.forget(arm.isSend ? Senders : Receivers, selection.ticket);
  }
  if (std::exchange(vm.scheduler().current().sendFailed, false))
    return closedChannel();
  if (chosen >= 0 && size_t(chosen) < selection.arms.size()) {
    const SelectArm& arm = selection.arms[size_t(chosen)];
    if (!arm.isSend && arm.mode == OnlySome && !selection.hasTaken)
      return arguments.returnInteger(-1);
    if (arm.isSend)
      clear(vm, selection);
  }
  return arguments.returnInteger(chosen);
}

Trap SelectTake(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Selection& selection = selectionOf(vm);
  const ChannelState channel(vm, arguments.slot(0));
  if (selection.hasTaken && selection.takenFrom != channel.identity())
    return Trap::incompatible("value is taken of another channel than the one that was chosen");
  const bool has = std::exchange(selection.hasTaken, false);
  const Value value = std::exchange(selection.taken, 0);
  clear(vm, selection);
  if (!has)
    return arguments.returnNone();
  const Value some = someOf(vm, arguments.resultLayout(), value, selection.takenIsReference);
  return some != 0 ? arguments.returnOwned(some) : vm.heapTrap();
}

// ---- what locks are made of
// -----------------------------------------------------------------------------

Trap SlotGet(Arguments& arguments) {
  Vm& vm = arguments.vm();
  return arguments.returnOwned(
      vm.retainValue(asStruct(arguments.slot(0))->slots()[0], arguments.resultLayout()));
}
Trap SlotSet(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Value& slot = asStruct(arguments.slot(0))->slots()[0];
  const Value value = vm.retainValue(arguments.slot(1), arguments.layoutId(1));
  if (isReferenceArgument(arguments, 1))
    vm.heap().assign(slot, value);
  else
    slot = value;
  return arguments.returnUnit();
}

/// True: woken. False: cancelled. Kinds as WaitKind counts them from Lock on: 0 a lock, 1 a group,
/// 2 a value.
Trap QueueWait(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Scheduler& scheduler = vm.scheduler();
  const bool cancellable = arguments.boolean(2);
  if (cancellable && scheduler.isCancelled())
    return arguments.returnBoolean(false);
  if (!scheduler.mayBlock())
    return scheduler.cannotWait();
  Value& waiters = asStruct(arguments.slot(0))->slots()[0];
  const Ticket ticket = scheduler.nextTicket();
  if (waiters == 0)
    return Trap::borrowed("queue is used while it is borrowed elsewhere");
  if (!vm.heap().makeUnique(waiters) || !vm.heap().push(asVec(waiters), Value(ticket.packed())))
    return vm.heapTrap();
  scheduler.block(
      {arguments.integer(1) == 0 ? WaitKind::Lock : WaitKind::Group, false, cancellable, 0});
  return {};
}
Trap QueueWake(Arguments& arguments) {
  Vm& vm = arguments.vm();
  Scheduler& scheduler = vm.scheduler();
  const int64_t left = arguments.integer(1);
  Value& waiters = asStruct(arguments.slot(0))->slots()[0];
  if (waiters == 0)
    return Trap::borrowed("queue is used while it is borrowed elsewhere");
  if (!vm.heap().makeUnique(waiters))
    return vm.heapTrap();
  int64_t woken = 0;
  while (woken < left && asVec(waiters)->length != 0) {
    const auto ticket = Ticket::unpack(int64_t(vm.heap().popFront(asVec(waiters))));
    if (scheduler.waiting(ticket, {WaitKind::Lock, WaitKind::Group}) && scheduler.wake(ticket, 1))
      ++woken;
  }
  return arguments.returnUnit();
}

// ---- cohorts
// --------------------------------------------------------------------------------------------

Trap CohortPush(Arguments& arguments) {
  const int64_t policy = arguments.integer(0);
  arguments.vm().scheduler().pushCohort(policy == 1   ? vm::CohortPolicy::CollectAll
                                        : policy == 2 ? vm::CohortPolicy::Race
                                                      : vm::CohortPolicy::FailFast,
                                        arguments.boolean(1));
  return arguments.returnUnit();
}
Trap CohortLimit(Arguments& arguments) {
  arguments.vm().scheduler().limitCohort(arguments.integer(0));
  return arguments.returnUnit();
}
Trap CohortWait(Arguments& arguments) {
  return arguments.vm().scheduler().joinCohort(arguments);
}
Trap CohortPop(Arguments& arguments) {
  return arguments.returnString(arguments.vm().scheduler().popCohort());
}
Trap CohortCancelled(Arguments& arguments) {
  Scheduler* scheduler = arguments.vm().schedulerIfAny();
  return arguments.returnBoolean(scheduler && scheduler->isCancelled());
}
Trap CohortCancel(Arguments& arguments) {
  Scheduler& scheduler = arguments.vm().scheduler();
  if (vm::Cohort* cohort = scheduler.around())
    scheduler.cancelCohort(*cohort);
  return arguments.returnUnit();
}
Trap CohortShield(Arguments& arguments) {
  Goroutine& goroutine = arguments.vm().scheduler().current();
  goroutine.shields =
      uint32_t(std::max<int64_t>(0, int64_t(goroutine.shields) + arguments.integer(0)));
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
