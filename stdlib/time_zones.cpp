// Zone files. Threat: the file is the host's, or in a fold somebody's source tree: every count and
// index is judged before it is used, and nothing is made larger than what the file pays for, but
// for a bounded list of rules.

#include "stdlib/time_zones.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <algorithm>

namespace gos::stdlib {

using llvm::StringRef;

namespace {

constexpr int64_t kDay = 86'400;
constexpr int64_t kCycleYears = 400;
constexpr int64_t kMostOffset = 26 * 3600;

llvm::Error broken(const llvm::Twine& what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "not a time zone: " + what);
}

bool isLeapYear(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t yearOfSeconds(int64_t seconds) {
  int64_t days = seconds / kDay - (seconds % kDay < 0 ? 1 : 0);
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t dayOfEra = days - era * 146097;
  const int64_t yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  return yearOfEra + era * 400 + (dayOfYear >= 306 ? 1 : 0);
}

// ---- the rules of POSIX
// ---------------------------------------------------------------------------------

/// When a rule changes the time: Mm.w.d, Jn (without February 29) or n, and the local time of that
/// day.
struct RuleDate {
  enum class Kind : uint8_t { MonthWeekDay, JulianNoLeap, Julian };
  Kind kind = Kind::MonthWeekDay;
  int64_t month = 0, week = 0, day = 0;
  int64_t time = 2 * 3600;

  /// Seconds since 1970 of the local time in the year.
  int64_t inYear(int64_t year) const {
    const int64_t start = daysOfDate(year, 1, 1);
    switch (kind) {
    case Kind::Julian:
      return (start + day) * kDay + time;
    case Kind::JulianNoLeap:
      return (start + day - 1 + (isLeapYear(year) && day >= 60 ? 1 : 0)) * kDay + time;
    case Kind::MonthWeekDay: {
      const int64_t first = daysOfDate(year, month, 1);
      const int64_t next =
          month == 12 ? daysOfDate(year + 1, 1, 1) : daysOfDate(year, month + 1, 1);
      const int64_t weekday = ((first + 4) % 7 + 7) % 7; // 1970-01-01 was a Thursday
      int64_t found = first + (day - weekday + 7) % 7 + (week - 1) * 7;
      while (found >= next)
        found -= 7;
      return found * kDay + time;
    }
    }
    return 0;
  }
};

struct Rule {
  std::string standardName, daylightName; // the latter is empty without daylight saving
  int64_t standard = 0, daylight = 0;     // seconds ahead of UTC
  RuleDate begin, end;
};

class RuleReader {
public:
  explicit RuleReader(StringRef text) : rest_(text) {}

  bool read(Rule& rule) {
    int64_t offset = 0;
    if (!name(rule.standardName) || !clock(24, offset))
      return false;
    rule.standard = -offset; // POSIX counts to the west
    if (rest_.empty())
      return true;
    if (!name(rule.daylightName))
      return false;
    rule.daylight = rule.standard + 3600;
    if (!rest_.starts_with(",")) {
      if (!clock(24, offset))
        return false;
      rule.daylight = -offset;
    }
    return rest_.consume_front(",") && date(rule.begin) && rest_.consume_front(",") &&
           date(rule.end) && rest_.empty();
  }

private:
  bool name(std::string& out) {
    if (rest_.consume_front("<")) {
      const size_t end = rest_.find('>');
      if (end == StringRef::npos || end == 0 || end > 32)
        return false;
      out = rest_.take_front(end).str();
      rest_ = rest_.drop_front(end + 1);
      return llvm::all_of(out, [](char c) { return llvm::isAlnum(c) || c == '+' || c == '-'; });
    }
    const StringRef word = rest_.take_while(llvm::isAlpha);
    out = word.str();
    rest_ = rest_.drop_front(word.size());
    return word.size() >= 3 && word.size() <= 32;
  }
  bool number(int64_t least, int64_t most, int64_t& out) {
    const StringRef digits = rest_.take_while(llvm::isDigit);
    if (digits.empty() || digits.size() > 4 || digits.getAsInteger(10, out))
      return false;
    rest_ = rest_.drop_front(digits.size());
    return out >= least && out <= most;
  }
  /// [+-]hh[:mm[:ss]]
  bool clock(int64_t mostHours, int64_t& seconds) {
    const bool negative = rest_.consume_front("-");
    if (!negative)
      rest_.consume_front("+");
    int64_t hours = 0;
    int64_t minutes = 0;
    int64_t rest = 0;
    if (!number(0, mostHours, hours))
      return false;
    if (rest_.consume_front(":") && !number(0, 59, minutes))
      return false;
    if (rest_.consume_front(":") && !number(0, 59, rest))
      return false;
    seconds = (hours * 3600 + minutes * 60 + rest) * (negative ? -1 : 1);
    return true;
  }
  bool date(RuleDate& out) {
    if (rest_.consume_front("M")) {
      out.kind = RuleDate::Kind::MonthWeekDay;
      if (!number(1, 12, out.month) || !rest_.consume_front(".") || !number(1, 5, out.week) ||
          !rest_.consume_front(".") || !number(0, 6, out.day))
        return false;
    } else if (rest_.consume_front("J")) {
      out.kind = RuleDate::Kind::JulianNoLeap;
      if (!number(1, 365, out.day))
        return false;
    } else {
      out.kind = RuleDate::Kind::Julian;
      if (!number(0, 365, out.day))
        return false;
    }
    return !rest_.consume_front("/") || clock(167, out.time);
  }

  StringRef rest_;
};

uint32_t nameIn(Zone& zone, const std::string& name) {
  for (size_t i = 0; i < zone.names.size(); ++i)
    if (zone.names[i] == name)
      return uint32_t(i);
  zone.names.push_back(name);
  return uint32_t(zone.names.size() - 1);
}

/// What the rule says behind the last change of the zone: a cycle of the calendar, after which
/// everything repeats.
void append(Zone& zone, const Rule& rule) {
  if (rule.daylightName.empty())
    return; // the last change says it
  const ZoneChange standard{0, rule.standard, false, nameIn(zone, rule.standardName)};
  const ZoneChange daylight{0, rule.daylight, true, nameIn(zone, rule.daylightName)};
  const int64_t last = zone.changes.back().at;
  const int64_t from = last == INT64_MIN ? 1900 : yearOfSeconds(last);
  std::vector<ZoneChange> made;
  for (int64_t year = from; year <= from + kCycleYears; ++year) {
    ZoneChange begin = daylight;
    ZoneChange end = standard;
    begin.at = rule.begin.inYear(year) - rule.standard;
    end.at = rule.end.inYear(year) - rule.daylight;
    made.push_back(begin);
    made.push_back(end);
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const ZoneChange& a, const ZoneChange& b) { return a.at < b.at; });
  for (const ZoneChange& change : made)
    if (change.at > last)
      zone.changes.push_back(change);
  zone.repeatsFrom = daysOfDate(from + kCycleYears + 1, 1, 1) * kDay;
}

// ---- TZif
// -------------------------------------------------------------------------------------------------

constexpr size_t kHeader = 44;

struct Counts {
  uint32_t utc, standard, leap, times, types, chars;
  uint64_t size(unsigned timeBytes) const {
    return uint64_t(times) * timeBytes + times + uint64_t(types) * 6 + chars +
           uint64_t(leap) * (timeBytes + 4) + standard + utc;
  }
};

bool readHeader(StringRef content, Counts& counts, char& version) {
  if (content.size() < kHeader || !content.starts_with("TZif"))
    return false;
  version = content[4];
  uint32_t* const all[] = {&counts.utc,   &counts.standard, &counts.leap,
                           &counts.times, &counts.types,    &counts.chars};
  for (size_t i = 0; i < std::size(all); ++i)
    *all[i] = llvm::support::endian::read32be(content.data() + 20 + i * 4);
  return true;
}

llvm::Error readBlock(StringRef block, const Counts& counts, unsigned timeBytes, Zone& zone) {
  if (counts.leap != 0)
    return broken("it counts leap seconds");
  if (counts.types == 0 || counts.types > 256 || counts.chars == 0)
    return broken("it has no local time");
  const char* times = block.data();
  const char* kinds = times + uint64_t(counts.times) * timeBytes;
  const char* types = kinds + counts.times;
  const StringRef names(types + uint64_t(counts.types) * 6, counts.chars);
  std::vector<ZoneChange> known;
  for (uint32_t i = 0; i < counts.types; ++i) {
    const char* type = types + uint64_t(i) * 6;
    ZoneChange change;
    change.offset = int32_t(llvm::support::endian::read32be(type));
    change.daylight = type[4] != 0;
    const uint8_t at = uint8_t(type[5]);
    if (change.offset <= -kMostOffset || change.offset >= kMostOffset || at >= names.size())
      return broken("a local time is out of range");
    const StringRef name = names.drop_front(at).split('\0').first;
    if (!llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '+' || c == '-'; }))
      return broken("a name of a local time has strange letters");
    change.name = nameIn(zone, name.str());
    known.push_back(change);
  }
  zone.changes.push_back(known[0]);
  zone.changes.back().at = INT64_MIN;
  int64_t before = INT64_MIN;
  for (uint32_t i = 0; i < counts.times; ++i) {
    const char* time = times + uint64_t(i) * timeBytes;
    const int64_t at = timeBytes == 8 ? int64_t(llvm::support::endian::read64be(time))
                                      : int64_t(int32_t(llvm::support::endian::read32be(time)));
    const uint8_t kind = uint8_t(kinds[i]);
    // What lies behind the age of the universe is a mistake, and would not bear a sum.
    constexpr int64_t kMostTime = int64_t(1) << 60;
    if ((i != 0 && at <= before) || kind >= known.size() || at > kMostTime ||
        (at < -kMostTime && at != INT64_MIN))
      return broken("its changes are not in order");
    before = at;
    ZoneChange change = known[kind];
    change.at = at;
    if (i == 0 && at == INT64_MIN)
      zone.changes.clear();
    zone.changes.push_back(change);
  }
  zone.changes.front().at = INT64_MIN;
  return llvm::Error::success();
}

} // namespace

int64_t daysOfDate(int64_t year, int64_t month, int64_t day) {
  if (month <= 2)
    --year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yearOfEra = year - era * 400;
  const int64_t dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468;
}

llvm::Expected<Zone> readZone(StringRef content) {
  Zone zone;
  if (!content.starts_with("TZif")) {
    Rule rule;
    if (content.size() > 256 || !RuleReader(content).read(rule))
      return broken("neither a zone file nor a rule");
    zone.changes.push_back({INT64_MIN, rule.standard, false, nameIn(zone, rule.standardName)});
    append(zone, rule);
    return zone;
  }
  Counts counts{};
  char version = 0;
  if (!readHeader(content, counts, version) || counts.size(4) > content.size() - kHeader)
    return broken("the file is cut short");
  if (version < '2') {
    if (llvm::Error error = readBlock(content.drop_front(kHeader), counts, 4, zone))
      return error;
    return zone;
  }
  // The first block is for old readers; the one behind it has wide times and a rule.
  StringRef rest = content.drop_front(kHeader + counts.size(4));
  if (!readHeader(rest, counts, version) || counts.size(8) > rest.size() - kHeader)
    return broken("the file is cut short");
  if (llvm::Error error = readBlock(rest.drop_front(kHeader), counts, 8, zone))
    return error;
  rest = rest.drop_front(kHeader + counts.size(8));
  if (!rest.consume_front("\n") || !rest.consume_back("\n") || rest.size() > 256)
    return broken("its rule is cut short");
  if (rest.empty())
    return zone;
  Rule rule;
  if (!RuleReader(rest).read(rule))
    return broken("its rule is not well formed");
  append(zone, rule);
  return zone;
}

bool isZoneName(StringRef name) {
  if (name.empty() || name.size() > 128 || !llvm::isAlnum(name.front()))
    return false;
  return llvm::all_of(name,
                      [](char c) {
                        return llvm::isAlnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
                      }) &&
         !name.contains("//") && !name.ends_with("/");
}

} // namespace gos::stdlib
