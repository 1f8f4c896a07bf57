#pragma once
// The zones of the time zone database: TZif files (RFC 8536) and the rules of POSIX behind them,
// made into one list of changes.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gos::stdlib {

/// From `at` on, local time is `offset` seconds ahead of UTC.
struct ZoneChange {
  int64_t at = 0; // seconds since 1970; the first one is INT64_MIN
  int64_t offset = 0;
  bool daylight = false;
  uint32_t name = 0; // in Zone::names
};

struct Zone {
  std::vector<ZoneChange> changes; // ascending, at least one
  std::vector<std::string> names;  // "CET", "CEST"
  /// From here on the rules repeat what is 400 years earlier; INT64_MAX if nothing changes any
  /// more.
  int64_t repeatsFrom = INT64_MAX;
};

/// The content of a zone file, or a rule as in the variable TZ ("CET-1CEST,M3.5.0,M10.5.0/3").
llvm::Expected<Zone> readZone(llvm::StringRef content);

/// "Europe/Berlin": a name that stays inside of the database whatever it is joined to.
bool isZoneName(llvm::StringRef name);

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
int64_t daysOfDate(int64_t year, int64_t month, int64_t day);

} // namespace gos::stdlib
