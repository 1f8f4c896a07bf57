// Cohorts: who waits for whom, and who is cancelled when one fails.

#include "vm/scheduler.h"

#include "vm/blocking_pool.h"
#include "vm/vm.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace gos::vm {

void Scheduler::unreference(Cohort* cohort) {
  while (cohort && --cohort->references == 0) {
    Cohort* parent = cohort->parent;
    cohorts_[cohort->place] = cohorts_.back();
    cohorts_[cohort->place]->place = cohort->place;
    cohorts_.pop_back();
    delete cohort;
    cohort = parent;
  }
}

Cohort* Scheduler::makeCohort() {
  auto* cohort = new Cohort;
  cohort->place = cohorts_.size();
  cohorts_.push_back(cohort);
  return cohort;
}

void Scheduler::pushCohort(CohortPolicy policy, bool cancellable) {
  Cohort* cohort = makeCohort();
  cohort->number = nextCohort_++;
  cohort->policy = policy;
  cohort->cancellable = cancellable;
  cohort->parent = around(*current_);
  if (cohort->parent) // none is around one of the library's own goroutines
    ++cohort->parent->references;
  cohort->previous = current_->inner;
  current_->inner = cohort;
}

void Scheduler::limitCohort(int64_t milliseconds) {
  Cohort* cohort = current_->inner;
  ++cohort->references;
  const auto most = std::chrono::hours(24 * 365 * 10);
  const auto wait = std::min<std::chrono::milliseconds>(
      std::chrono::milliseconds(std::max<int64_t>(milliseconds, 0)), most);
  addTimer({std::chrono::steady_clock::now() + wait, timerOrder_++, {}, 0, cohort});
}

void Scheduler::cancelJob(Goroutine& goroutine) {
  goroutine.running->cancel();
  std::unique_ptr<Job> answer = goroutine.running->answerOfCancelled();
  if (!answer)
    return;
  goroutine.running = nullptr;
  goroutine.job = std::move(answer);
  --jobs_;
  const Ticket ticket{goroutine.slot, goroutine.serial};
  pool_->forsake(ticket);
  wake(ticket, 0);
}

void Scheduler::cancelCohort(Cohort& cohort) {
  if (cohort.cancelled)
    return;
  cohort.cancelled = true;
  for (std::unique_ptr<Goroutine>& each : goroutines_) {
    // Most waits cannot be cancelled: looking around each of them would take their number to the
    // third when cohorts within cohorts fail.
    if (each->state != Goroutine::State::Waiting || !(each->running || each->cancellable) ||
        !isCancelled(*each))
      continue;
    if (each->running)
      cancelJob(*each);
    else if (each->cancellable)
      wake({each->slot, each->serial}, std::exchange(each->cancelValue, 0));
  }
}

Trap Scheduler::joinCohort(Arguments& arguments) {
  Cohort* cohort = current_->inner;
  if (!cohort || cohort->live == 0)
    return arguments.returnUnit();
  if (!mayBlock())
    return cannotWait();
  cohort->joiner = block({WaitKind::Cohort, false, false, 0});
  cohort->hasJoiner = true;
  return {};
}

std::string Scheduler::popCohort() {
  Cohort* cohort = current_->inner;
  if (!cohort || cohort == root_)
    return "a cohort ends that has not begun";
  std::string failure;
  if (!(cohort->policy == CohortPolicy::Race && cohort->won)) {
    if (cohort->failedIndex != UINT32_MAX)
      failure = std::move(cohort->failure);
    else if (cohort->timedOut)
      failure = "the cohort ran out of time";
  }
  cohort->open = false;
  current_->inner = cohort->previous;
  unreference(cohort);
  return failure;
}

void Scheduler::leaveCohort(Goroutine& goroutine, bool failed, llvm::StringRef message) {
  Cohort* cohort = goroutine.cohort;
  if (!cohort)
    return;
  if (failed && goroutine.childIndex < cohort->failedIndex) {
    cohort->failedIndex = goroutine.childIndex;
    cohort->failure = message.str();
  }
  --cohort->live;
  if (failed ? cohort->policy == CohortPolicy::FailFast : cohort->policy == CohortPolicy::Race) {
    cohort->won = cohort->won || !failed;
    cancelCohort(*cohort);
  }
  if (cohort->live == 0 && cohort->hasJoiner) {
    cohort->hasJoiner = false;
    wake(cohort->joiner, 0);
  }
}

/// In the order of their beginnings.
std::vector<Cohort*> Scheduler::allCohorts() const {
  std::vector<Cohort*> all = cohorts_;
  llvm::sort(all, [](const Cohort* a, const Cohort* b) { return a->number < b->number; });
  return all;
}

std::vector<const Cohort*> Scheduler::openCohorts() const {
  std::vector<const Cohort*> open;
  for (const Cohort* each : allCohorts())
    if (each->open)
      open.push_back(each);
  return open;
}

SchedulerFigures Scheduler::figures() {
  SchedulerFigures figures;
  for (const std::unique_ptr<Goroutine>& goroutine : goroutines_) {
    if (goroutine->state == Goroutine::State::Free)
      continue;
    ++figures.goroutines;
    if (goroutine->state == Goroutine::State::Waiting)
      ++figures.waiting;
    else
      ++figures.ready;
  }
  figures.jobs = jobs_;
  for (const Timer& timer : timers_)
    figures.timers +=
        timer.cohort ? timer.cohort->open
                     : waiting(timer.ticket, {WaitKind::Sleep, WaitKind::Descriptor}) != nullptr;
  for (const DescriptorWait& wait : descriptorWaits_)
    figures.descriptors +=
        waiting(wait.ticket, {WaitKind::Descriptor, WaitKind::Signal}) != nullptr;
  figures.cohorts = openCohorts().size();
  figures.spawned = nextNumber_ - 1;
  figures.turns = turns_;
  return figures;
}

void Scheduler::failWithError(std::string message) {
  current_->error = std::make_unique<std::string>(std::move(message));
}

std::vector<UnobservedFailure> Scheduler::takeUnobserved() {
  std::vector<UnobservedFailure> taken;
  for (UnobservedFailure& failure : std::exchange(unobserved_, {})) {
    vm_.heap_.release(asObject(std::exchange(failure.task, 0)));
    taken.push_back(std::move(failure));
  }
  unobservedOf_.clear();
  return taken;
}

void Scheduler::observe(Value task) {
  const auto found = unobservedOf_.find(task);
  if (found == unobservedOf_.end())
    return;
  unobserved_.erase(found->second);
  unobservedOf_.erase(found);
  vm_.heap_.release(asObject(task));
}

} // namespace gos::vm
