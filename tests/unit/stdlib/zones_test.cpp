// Zone files: what a well-formed one says, and that any other is an error.

#include "stdlib/time_zones.h"

#include <doctest/doctest.h>

using namespace gos::stdlib;

namespace {

void number(std::string& out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    out += char(value >> (8 * i));
}

struct Parts {
  std::vector<std::pair<int64_t, uint8_t>> times;
  std::vector<std::pair<int32_t, bool>> types{{0, false}};
  std::string names = std::string("LMT\0CET\0CEST\0", 13);
  std::vector<uint8_t> nameOfType{0};
  uint32_t leap = 0;
};

std::string block(const Parts& parts, char version, int timeBytes) {
  std::string out = "TZif";
  out += version;
  out += std::string(15, '\0');
  for (uint32_t count : {0u, 0u, parts.leap, uint32_t(parts.times.size()),
                         uint32_t(parts.types.size()), uint32_t(parts.names.size())})
    number(out, count, 4);
  for (const auto& [at, kind] : parts.times)
    number(out, uint64_t(at), timeBytes);
  for (const auto& [at, kind] : parts.times)
    out += char(kind);
  for (size_t i = 0; i < parts.types.size(); ++i) {
    number(out, uint32_t(parts.types[i].first), 4);
    out += char(parts.types[i].second);
    out += char(parts.nameOfType[i]);
  }
  out += parts.names;
  out += std::string(parts.leap * size_t(timeBytes + 4), '\0');
  return out;
}
std::string file(const Parts& parts, const std::string& rule) {
  return block(Parts{}, '2', 4) + block(parts, '2', 8) + "\n" + rule + "\n";
}

Parts berlin() {
  Parts parts;
  parts.types = {{3208, false}, {3600, false}, {7200, true}};
  parts.nameOfType = {0, 4, 8};
  parts.times = {{-2422054408, 1}, {1711846800, 2}, {1729990800, 1}};
  return parts;
}

std::string fault(const std::string& content) {
  auto zone = readZone(content);
  return zone ? std::string() : llvm::toString(zone.takeError());
}
int64_t offsetAt(const Zone& zone, int64_t at) {
  int64_t offset = 0;
  for (const ZoneChange& change : zone.changes)
    if (change.at <= at)
      offset = change.offset;
  return offset;
}

} // namespace

TEST_CASE("a zone file says its changes and what follows them") {
  auto zone = readZone(file(berlin(), "CET-1CEST,M3.5.0,M10.5.0/3"));
  REQUIRE(bool(zone));
  CHECK(zone->names == std::vector<std::string>{"LMT", "CET", "CEST"});
  CHECK(offsetAt(*zone, -3000000000) == 3208);
  CHECK(offsetAt(*zone, 0) == 3600);
  CHECK(offsetAt(*zone, 1711846799) == 3600);
  CHECK(offsetAt(*zone, 1711846800) == 7200);
  CHECK(offsetAt(*zone, 1729990800) == 3600);
  CHECK(offsetAt(*zone, 1774746000) == 7200); // 2026-03-29T01:00Z, by the rule
  CHECK(offsetAt(*zone, 1774745999) == 3600);
  CHECK(zone->repeatsFrom == daysOfDate(2425, 1, 1) * 86400);
  for (size_t i = 1; i < zone->changes.size(); ++i)
    CHECK(zone->changes[i - 1].at <= zone->changes[i].at);
}

TEST_CASE("a file of the first version has narrow times and no rule") {
  Parts parts = berlin();
  parts.times = {{1711846800, 2}};
  auto zone = readZone(block(parts, '\0', 4));
  REQUIRE(bool(zone));
  CHECK(zone->changes.size() == 2);
  CHECK(zone->repeatsFrom == INT64_MAX);
}

TEST_CASE("rules of POSIX") {
  auto of = [](const char* rule, int64_t at) {
    auto zone = readZone(rule);
    REQUIRE_MESSAGE(bool(zone), rule);
    return offsetAt(*zone, at);
  };
  CHECK(of("UTC0", 0) == 0);
  CHECK(of("<-03>3", 0) == -10800);
  CHECK(of("<+0545>-5:45", 0) == 20700);
  CHECK(of("EST5EDT,M3.2.0,M11.1.0", 1773558000) == -14400); // 2026-03-15
  CHECK(of("EST5EDT,M3.2.0,M11.1.0", 1772348400) == -18000); // 2026-03-01
  CHECK(of("IST-1GMT0,M10.5.0,M3.5.0/1", 1768478400) == 0);  // Dublin in January
  CHECK(of("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1782000000) == -3600);
  CHECK(of("EST5EDT,0/0,J365/25", 1768478400) == -14400); // daylight saving all year
  CHECK(of("AAA0BBB,J60,J300", daysOfDate(2024, 3, 1) * 86400 + 7200) ==
        3600); // J60 is always March 1
  CHECK(of("AAA0BBB,J60,J300", daysOfDate(2024, 2, 29) * 86400 + 7200) == 0);
}

TEST_CASE("what is no zone is an error and no crash") {
  CHECK(fault("") != "");
  CHECK(fault("TZif") != "");
  CHECK(fault("CET") != "");
  CHECK(fault("CET-1CEST") != "");
  CHECK(fault("CET-25") != "");
  CHECK(fault("CE-1") != "");
  CHECK(fault("CET-1CEST,M13.1.0,M10.5.0") != "");
  CHECK(fault("CET-1CEST,M3.6.0,M10.5.0") != "");
  CHECK(fault("CET-1CEST,M3.5.0,M10.5.0x") != "");
  CHECK(fault(std::string(10000, 'A')) != "");
  const std::string whole = file(berlin(), "CET-1CEST,M3.5.0,M10.5.0/3");
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK(fault(whole.substr(0, size)) != "");
  // No single byte that is changed brings the reader down.
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = char(value);
      fault(changed);
    }
  Parts parts = berlin();
  parts.leap = 1;
  CHECK(fault(file(parts, "")).find("leap") != std::string::npos);
  parts = berlin();
  std::swap(parts.times[1], parts.times[2]);
  CHECK(fault(file(parts, "")).find("order") != std::string::npos);
  parts = berlin();
  parts.times[1].second = 9;
  CHECK(fault(file(parts, "")) != "");
  parts = berlin();
  parts.types[1].first = 100 * 3600;
  CHECK(fault(file(parts, "")).find("range") != std::string::npos);
  parts = berlin();
  parts.times[2].first = INT64_MAX;
  CHECK(fault(file(parts, "CET-1CEST,M3.5.0,M10.5.0/3")) != "");
}

TEST_CASE("a name of a zone stays inside of the database") {
  for (const char* name : {"Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC"})
    CHECK(isZoneName(name));
  for (const char* name :
       {"", "/etc/passwd", "../passwd", "Europe/../../x", "Europe//Berlin", "Europe/", "a b", ".x"})
    CHECK_FALSE(isZoneName(name));
}
