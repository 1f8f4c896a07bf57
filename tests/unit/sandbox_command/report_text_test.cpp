// The report as text and as JSON.

#include "sandbox/command/report.h"

#include "diagnostics/json_writer.h"

#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

Denied denied(std::string path, bool harmless = false) {
  Denied line;
  line.call = "openat";
  line.operation = "read";
  line.rule = "no rule grants `" + path + "`";
  line.flag = "--ro " + shellQuoted(path);
  line.path = std::move(path);
  line.process = "cat";
  line.harmless = harmless;
  return line;
}
Report reportOf(std::vector<Denied> lines) {
  Report report;
  report.level = SandboxLevel::Standard;
  report.watched = true;
  report.denied = std::move(lines);
  return report;
}
std::string textOf(const Report& report, bool failed) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printReport(out, report, failed);
  return text;
}
llvm::json::Value jsonOf(const Report& report) {
  JsonWriter json;
  json.beginObject();
  writeReport(json, report);
  json.endObject();
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json.finish());
  REQUIRE(bool(value));
  return std::move(*value);
}

TEST_CASE("a report is a line for each act, the flag below it, harmless ones last") {
  Denied often = denied("/srv/x");
  often.count = 3;
  CHECK(textOf(reportOf({often, denied("/etc/ld.so.preload", true)}), true) ==
        "bwr: report: 1 act was refused\n"
        "bwr:   openat /srv/x (read, inferred, 3 times, by cat): no rule grants `/srv/x`\n"
        "bwr:     to allow it: --ro /srv/x\n"
        "bwr: harmless, as programs look for these everywhere and go on without:\n"
        "bwr:   openat /etc/ld.so.preload (read, inferred, by cat): no rule grants "
        "`/etc/ld.so.preload`\n"
        "bwr:     to allow it: --ro /etc/ld.so.preload\n");
}

TEST_CASE("a failed run without evidence is told what a report does not see") {
  const std::string text = textOf(reportOf({}), true);
  CHECK(text.find(reportLimits().str()) != std::string::npos);
  CHECK(text.find("nothing was") == std::string::npos);
  CHECK(textOf(reportOf({denied("/x", true)}), true).find(reportLimits().str()) !=
        std::string::npos);
  CHECK(textOf(reportOf({}), false) == "bwr: report: no refused act was seen\n");
}

TEST_CASE("a level without a filter is said to see nothing") {
  Report report;
  report.level = SandboxLevel::Basic;
  CHECK(textOf(report, true) == "bwr: report: level `basic` has no filter, so nothing was watched; "
                                "for a report use --level standard\n");
  CHECK(jsonOf(report).getAsObject()->getBoolean("watched") == false);
}

TEST_CASE("T134 no name forges a line, and JSON gives every byte back") {
  for (const char* name : {"/w/a\nbwr:   openat /ok (read)", "/w/\x1b[2J\x07", "/w/q\"'\\`$(id)",
                           "/w/\xff\xfe", "/w/\xe2\x80\xaexcod", "/w/ \t"}) {
    const Report report = reportOf({denied(name)});
    const std::string text = textOf(report, false);
    CHECK(llvm::StringRef(text).count('\n') == 3);
    for (char c : text)
      CHECK((uint8_t(c) >= 0x20 || c == '\n'));
    CHECK(text.find("\xe2\x80\xae") == std::string::npos);
    const llvm::json::Value value = jsonOf(report);
    const llvm::json::Object& line = *(*value.getAsObject()->getArray("denied"))[0].getAsObject();
    if (auto bytes = line.getString("path_bytes"))
      CHECK(bytes->contains("ff"));
    else
      CHECK(line.getString("path") == llvm::StringRef(name));
  }
}

TEST_CASE("a flag is a word that a shell reads back") {
  CHECK(shellQuoted("/a-b/c.d_e") == "/a-b/c.d_e");
  CHECK(shellQuoted("") == "''");
  CHECK(shellQuoted("/a b") == "'/a b'");
  CHECK(shellQuoted("/a'b") == "'/a'\\''b'");
  CHECK(shellQuoted("~x") == "'~x'");
  CHECK(shellQuoted("/a\nb'\\") == "$'/a\\x0ab\\'\\\\'");
  CHECK(shellQuoted("/\xff") == "$'/\\xff'");
}

} // namespace
} // namespace gos::sandbox
