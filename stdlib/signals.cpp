// A place of the table is written by the thread that subscribes, while it takes no signals; the
// handler reads it on the thread of the last subscription, wherever the signal arrived. So a place
// is whole whenever the handler looks, and what it points to is there: the object is held, the
// descriptor is closed after the place is empty.

#include "stdlib/signals.h"

#include "sandbox/sys_error.h"
#include "stdlib/support.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos::stdlib {

struct SignalPlace {
  std::atomic<int> number{0}; // 0: free
  std::atomic<const vm::Object*> value{nullptr};
  std::atomic<int> fd{-1};
};

namespace {

// In blocks that are never given back, for a handler may be reading.
struct Block {
  std::array<SignalPlace, 30> places{};
  std::atomic<Block*> next{nullptr};
};
constinit Block theFirst{};
constinit std::mutex theMutex; // of whoever changes the places or the handlers
constinit std::atomic<pid_t> theThread{0};

/// By number of the signal.
struct Disposition {
  std::atomic<bool> isOurs{false}; // the handler
  int asked = 0;                   // another handler asks
  struct sigaction before = {};
};
constinit Disposition theDispositions[NSIG];

template <class Visit> void eachPlace(Visit visit) {
  for (Block* block = &theFirst; block != nullptr; block = block->next)
    for (SignalPlace& place : block->places)
      visit(place);
}

void onSignal(int number) {
  const int kept = errno;
  if (const pid_t thread = theThread; thread != ::gettid()) { // it arrived at one of a Rust crate
    ::syscall(SYS_tgkill, ::getpid(), thread, number);
  } else if (!takeSignal(number)) {
    // Nobody holds a subscription any more: as it would have been without one.
    Disposition& disposition = theDispositions[number];
    if (disposition.isOurs.exchange(false))
      ::sigaction(number, &disposition.before, nullptr);
    ::kill(::getpid(), number); // when this has returned
  }
  errno = kept;
}

/// With the mutex, and without signals.
void install(int number) {
  Disposition& disposition = theDispositions[number];
  if (disposition.isOurs || disposition.asked != 0)
    return;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(number, &action, &disposition.before);
  disposition.isOurs = true;
}

void uninstall(int number) {
  Disposition& disposition = theDispositions[number];
  if (disposition.isOurs.exchange(false))
    ::sigaction(number, &disposition.before, nullptr);
}

bool isWanted(int number) {
  bool wanted = false;
  eachPlace([&](const SignalPlace& place) { wanted = wanted || place.number == number; });
  return wanted;
}

SignalPlace* freePlace() {
  for (Block* block = &theFirst;; block = block->next) {
    for (SignalPlace& place : block->places)
      if (place.number == 0)
        return &place;
    if (block->next == nullptr)
      block->next = new Block;
  }
}

} // namespace

bool takeSignal(int number) {
  bool taken = false;
  eachPlace([&](const SignalPlace& place) {
    const vm::Object* const value = place.value;
    if (place.number != number || value == nullptr || value->refs <= 1)
      return;
    const uint64_t one = 1;
    (void)!::write(place.fd, &one, sizeof one);
    taken = true;
  });
  return taken;
}

SignalIsAsked::SignalIsAsked(int number) : number_(number) {
  const NoSignals quiet;
  const std::lock_guard lock(theMutex);
  ++theDispositions[number].asked;
  uninstall(number);
}

SignalIsAsked::~SignalIsAsked() {
  const NoSignals quiet;
  const std::lock_guard lock(theMutex);
  if (--theDispositions[number_].asked == 0 && isWanted(number_))
    install(number_);
}

uint64_t signalsIgnoredBefore() {
  const NoSignals quiet;
  const std::lock_guard lock(theMutex);
  uint64_t ignored = 0;
  for (const int number : kSignals)
    if (theDispositions[number].isOurs && theDispositions[number].before.sa_handler == SIG_IGN)
      ignored |= uint64_t(1) << number;
  return ignored;
}

// ---- subscriptions
// -----------------------------------------------------------------------------------------

std::string NotifierHandle::start(int number) {
  fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd_.valid())
    return errnoText(errno);
  const NoSignals quiet;
  const std::lock_guard lock(theMutex);
  place_ = freePlace();
  place_->fd = fd_.get();
  place_->number = number;
  theThread = ::gettid();
  install(number);
  return {};
}

void NotifierHandle::hold(vm::Object* value) {
  value_ = value;
  if (place_ != nullptr)
    place_->value = value;
}

bool NotifierHandle::take() {
  uint64_t count = 0;
  return !stopped_ && ::read(fd_.get(), &count, sizeof count) == ssize_t(sizeof count);
}

void NotifierHandle::stop() {
  stopped_ = true;
  if (place_ == nullptr)
    return;
  const NoSignals quiet;
  const std::lock_guard lock(theMutex);
  const int number = place_->number;
  place_->value = nullptr;
  place_->number = 0;
  place_->fd = -1;
  place_ = nullptr;
  if (!isWanted(number))
    uninstall(number);
  const uint64_t one = 1; // who waits is told
  (void)!::write(fd_.get(), &one, sizeof one);
}

namespace bodies {

namespace {

constexpr StringRef kNoNotifier = "the notifier is none of this program";

NotifierHandle* notifierOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<NotifierHandle>(handleOf(arguments, 0));
}

/// Subscriptions that nobody can ask for any more.
void forgetLost(Vm& vm) {
  std::vector<int64_t>& all = hostOf(vm).notifiers;
  llvm::erase_if(all, [&](int64_t number) {
    NotifierHandle* const handle = hostOf(vm).handles().find<NotifierHandle>(number);
    if (handle != nullptr && handle->isHeldByOthers())
      return false;
    if (handle != nullptr) {
      vm::Object* const value = handle->value();
      handle->stop();
      hostOf(vm).handles().close(number);
      vm.heap().release(value);
    }
    return true;
  });
}

} // namespace

Trap SignalOn(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const int64_t number = arguments.integer(0);
  if (!llvm::is_contained(kSignals, number))
    return Trap::panic("signal " + std::to_string(number) +
                       " cannot be subscribed to, only those that `std::os::signal` has names for");
  forgetLost(vm);
  LibraryHost& host = hostOf(vm);
  auto made = std::make_unique<NotifierHandle>();
  NotifierHandle& handle = *made;
  if (const std::string fault = handle.start(int(number)); !fault.empty())
    return Trap::panic("cannot subscribe to signal " + std::to_string(number) + ": " + fault);
  const int64_t handleNumber = host.handles().add(std::move(made));
  const Value fields[] = {vm::fromInteger(handleNumber)};
  const Value value = Builder(vm).structure(arguments.resultLayout(), fields);
  if (value == 0) {
    host.handles().close(handleNumber);
    return vm.heapTrap();
  }
  handle.hold(vm::asObject(vm::retained(value)));
  host.notifiers.push_back(handleNumber);
  return arguments.returnOwned(value);
}

Trap NotifierTryWait(Arguments& arguments) {
  NotifierHandle* const notifier = notifierOf(arguments);
  return notifier != nullptr ? arguments.returnBoolean(notifier->take())
                             : Trap::panic(kNoNotifier.str());
}

Trap NotifierStop(Arguments& arguments) {
  NotifierHandle* const notifier = notifierOf(arguments);
  if (notifier == nullptr)
    return Trap::panic(kNoNotifier.str());
  notifier->stop();
  return arguments.returnUnit();
}

/// intrinsics::notifier_park: true when there may be something to take; false when it is stopped,
/// or the goroutine is cancelled.
Trap NotifierPark(Arguments& arguments) {
  NotifierHandle* const notifier = notifierOf(arguments);
  if (notifier == nullptr)
    return Trap::panic(kNoNotifier.str());
  if (notifier->isStopped())
    return arguments.returnBoolean(false);
  return awaitDescriptor(arguments, notifier->fd(), POLLIN, std::nullopt, vm::WaitKind::Signal);
}

} // namespace bodies
} // namespace gos::stdlib
