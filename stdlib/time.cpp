// std::time: the clocks, and dates in UTC. The wall clock can be pinned for tests; a fold below
// `full` is denied it all the same.

#include "stdlib/host_state.h"
#include "stdlib/numbers.h"
#include "stdlib/support.h"
#include "vm/scheduler.h"

#include "sandbox/sys_error.h"

#include <climits>
#include <ctime>
#include <sys/random.h>

namespace gos::stdlib {

namespace {

constexpr int64_t kDayMs = 86'400'000;

int64_t nanosOf(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t wallMs(Vm& vm) {
  const std::optional<int64_t> frozen = hostOf(vm).frozenMs;
  return frozen ? *frozen : nanosOf(CLOCK_REALTIME) / 1'000'000;
}

struct Date {
  int64_t year = 1970;
  int64_t month = 1;
  int64_t day = 1;
};

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back.
int64_t daysOf(Date date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yearOfEra = year - era * 400;
  const int64_t dayOfYear = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468;
}

Date dateOf(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t dayOfEra = days - era * 146097;
  const int64_t yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const int64_t shifted = (5 * dayOfYear + 2) / 153;
  Date date;
  date.day = dayOfYear - (153 * shifted + 2) / 5 + 1;
  date.month = shifted < 10 ? shifted + 3 : shifted - 9;
  date.year = yearOfEra + era * 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

bool isLeap(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t daysInMonth(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && isLeap(year) ? 29 : kDays[month - 1];
}

/// Splits milliseconds into whole days and the rest, also before 1970.
void splitDay(int64_t ms, int64_t& days, int64_t& rest) {
  days = ms / kDayMs;
  rest = ms % kDayMs;
  if (rest < 0) {
    rest += kDayMs;
    --days;
  }
}

std::string padded(int64_t value, size_t width) {
  std::string text = std::to_string(value);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

bool number(StringRef text, int64_t& value) {
  uint64_t parsed = 0;
  if (text.find_first_not_of("0123456789") != StringRef::npos ||
      parseUnsigned(text, 10, parsed) != NumberFault::None)
    return false;
  value = int64_t(parsed);
  return true;
}

/// `YYYY-MM-DDTHH:MM:SS[.fff](Z|+HH:MM|-HH:MM)`
bool parseInstant(StringRef text, int64_t& ms) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != 't' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
    return false;
  Date date;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!number(text.substr(0, 4), date.year) || !number(text.substr(5, 2), date.month) ||
      !number(text.substr(8, 2), date.day) || !number(text.substr(11, 2), hour) ||
      !number(text.substr(14, 2), minute) || !number(text.substr(17, 2), second))
    return false;
  if (date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > daysInMonth(date.year, date.month) || hour > 23 || minute > 59 || second > 60)
    return false;
  StringRef rest = text.drop_front(19);
  int64_t fraction = 0;
  if (rest.consume_front(".")) {
    const StringRef digits = rest.take_while([](char c) { return c >= '0' && c <= '9'; });
    if (digits.empty())
      return false;
    std::string three = digits.take_front(3).str();
    three.resize(3, '0');
    number(three, fraction);
    rest = rest.drop_front(digits.size());
  }
  int64_t offset = 0;
  if (rest != "Z" && rest != "z") {
    int64_t hours = 0;
    int64_t minutes = 0;
    if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':' ||
        !number(rest.substr(1, 2), hours) || !number(rest.substr(4, 2), minutes) || hours > 23 ||
        minutes > 59)
      return false;
    offset = (hours * 60 + minutes) * (rest[0] == '-' ? -1 : 1);
  }
  ms = daysOf(date) * kDayMs + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
  return true;
}

} // namespace

namespace bodies {

Trap TimeNow(Arguments& arguments) {
  return arguments.returnInteger(wallMs(arguments.vm()));
}
Trap TimeNowMs(Arguments& arguments) {
  return arguments.returnInteger(wallMs(arguments.vm()));
}
Trap TimeUnixMs(Arguments& arguments) {
  return arguments.returnInteger(wallMs(arguments.vm()));
}
Trap TimeNowNanos(Arguments& arguments) {
  const std::optional<int64_t> frozen = hostOf(arguments.vm()).frozenMs;
  int64_t nanos = 0;
  if (!frozen)
    nanos = nanosOf(CLOCK_REALTIME);
  else if (__builtin_mul_overflow(*frozen, int64_t(1'000'000), &nanos))
    nanos = *frozen < 0 ? LLONG_MIN : LLONG_MAX;
  return arguments.returnInteger(nanos);
}
Trap TimeMonotonicMs(Arguments& arguments) {
  return arguments.returnInteger(nanosOf(CLOCK_MONOTONIC) / 1'000'000);
}
Trap TimeMonotonicNanos(Arguments& arguments) {
  return arguments.returnInteger(nanosOf(CLOCK_MONOTONIC));
}
Trap TimeSinceMs(Arguments& arguments) {
  int64_t passed = 0;
  if (__builtin_sub_overflow(nanosOf(CLOCK_MONOTONIC) / 1'000'000, arguments.integer(0), &passed))
    passed = LLONG_MAX;
  return arguments.returnInteger(passed);
}

Trap TimeSleepMs(Arguments& arguments) {
  if (!arguments.vm().inFold())
    hostOf(arguments.vm()).flush();
  const int64_t ms = std::max<int64_t>(arguments.integer(0), 0);
  if (vm::Scheduler* scheduler = arguments.vm().schedulerIfAny();
      scheduler && scheduler->mayBlock()) {
    if (scheduler->isCancelled())
      return arguments.returnUnit();
    if (scheduler->others()) {
      const vm::Ticket ticket = scheduler->block({vm::WaitKind::Sleep, false, true, 0});
      scheduler->wakeAt(std::chrono::steady_clock::now() +
                            std::chrono::milliseconds(std::min<int64_t>(ms, 1LL << 40)),
                        ticket, 0);
      return {};
    }
  }
  sleepInPlace(std::chrono::milliseconds(std::min<int64_t>(ms, 1LL << 40)));
  return waitingIsOver() ? trapOfEnding() : arguments.returnUnit();
}

Trap TimeFreeze(Arguments& arguments) {
  hostOf(arguments.vm()).frozenMs = arguments.integer(0);
  return arguments.returnUnit();
}
/// The pinned time after the step; 0 when the clock is not pinned, for its time is nobody's to know
/// here.
Trap TimeAdvance(Arguments& arguments) {
  std::optional<int64_t>& frozen = hostOf(arguments.vm()).frozenMs;
  if (!frozen)
    return arguments.returnInteger(0);
  int64_t next = 0;
  if (__builtin_add_overflow(*frozen, arguments.integer(0), &next))
    return Trap::panic("attempt to add with overflow");
  frozen = next;
  return arguments.returnInteger(next);
}
Trap TimeUnfreeze(Arguments& arguments) {
  hostOf(arguments.vm()).frozenMs = std::nullopt;
  return arguments.returnUnit();
}
Trap TimeIsFrozen(Arguments& arguments) {
  return arguments.returnBoolean(hostOf(arguments.vm()).frozenMs.has_value());
}

Trap TimeFormatRfc3339(Arguments& arguments) {
  int64_t days = 0;
  int64_t rest = 0;
  splitDay(arguments.integer(0), days, rest);
  const Date date = dateOf(days);
  if (date.year < 0 || date.year > 9999)
    return arguments.returnErr("the year " + std::to_string(date.year) + " has no RFC 3339 form");
  const int64_t seconds = rest / 1000;
  return arguments.returnOkString(padded(date.year, 4) + "-" + padded(date.month, 2) + "-" +
                                  padded(date.day, 2) + "T" + padded(seconds / 3600, 2) + ":" +
                                  padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2) +
                                  "Z");
}

Trap TimeParseRfc3339(Arguments& arguments) {
  int64_t ms = 0;
  if (!parseInstant(arguments.string(0), ms))
    return arguments.returnErr(
        ("`" + arguments.string(0) + "` is not a time of the form `YYYY-MM-DDTHH:MM:SSZ`").str());
  return arguments.returnOkInteger(ms);
}

/// intrinsics::time_add_date: years and months first, the day clamped to the month; then days.
Trap TimeAddDate(Arguments& arguments) {
  constexpr int64_t kMost = 1'000'000;
  for (size_t i = 1; i < 4; ++i)
    if (arguments.integer(i) > kMost || arguments.integer(i) < -kMost)
      return arguments.returnErr("the step of the date is too large");
  int64_t days = 0;
  int64_t rest = 0;
  splitDay(arguments.integer(0), days, rest);
  Date date = dateOf(days);
  const int64_t months =
      date.year * 12 + (date.month - 1) + arguments.integer(1) * 12 + arguments.integer(2);
  date.year = months >= 0 ? months / 12 : (months - 11) / 12;
  date.month = months - date.year * 12 + 1;
  date.day = std::min(date.day, daysInMonth(date.year, date.month));
  int64_t ms = 0;
  if (__builtin_mul_overflow(daysOf(date) + arguments.integer(3), kDayMs, &ms) ||
      __builtin_add_overflow(ms, rest, &ms))
    return arguments.returnErr("the date is out of range");
  return arguments.returnOkInteger(ms);
}

// ---- randomness
// -------------------------------------------------------------------------------------

namespace {
bool fillRandom(char* out, size_t size) {
  while (size != 0) {
    const ssize_t count = retryInterrupted([&] { return ::getrandom(out, size, 0); });
    if (count <= 0)
      return false;
    out += count;
    size -= size_t(count);
  }
  return true;
}
} // namespace

Trap RandEntropy(Arguments& arguments) {
  int64_t value = 0;
  if (!fillRandom(reinterpret_cast<char*>(&value), sizeof value))
    return Trap::panic("the kernel gives no randomness");
  return arguments.returnInteger(value);
}

Trap CryptoRandBytes(Arguments& arguments) {
  const uint64_t count = uint64_t(std::max<int64_t>(arguments.integer(0), 0));
  if (count > arguments.vm().heap().available() / 2)
    return arguments.vm().heapTrap();
  std::string bytes(count, '\0');
  if (!fillRandom(bytes.data(), bytes.size()))
    return Trap::panic("the kernel gives no randomness");
  return arguments.returnBytes(bytes);
}

} // namespace bodies
} // namespace gos::stdlib
