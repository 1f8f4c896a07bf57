#include "manifest/manifest.h"

#include "manifest/toml_reader.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

using namespace gos;

namespace {
/// A manifest read from a text, with what was reported.
struct Reading {
  explicit Reading(llvm::StringRef text) : engine(sources) {
    FileId file = llvm::cantFail(sources.addCopy("project.toml", text));
    manifest = readManifest(file, engine);
  }
  /// "GJ0003@4:15 message" for each diagnostic.
  std::string reports() const {
    std::string all;
    for (const Diagnostic& diagnostic : engine.diagnostics()) {
      const LineColumn at = diagnostic.labels.empty()
                                ? LineColumn{0, 0}
                                : sources.locate(diagnostic.labels.front().span);
      all += (all.empty() ? "" : "\n") + spelling(diagnostic.code).str() + "@" +
             std::to_string(at.line) + ":" + std::to_string(at.column) + " " + diagnostic.message;
    }
    return all;
  }
  std::string help() const {
    if (engine.diagnostics().empty() || engine.diagnostics().front().helps.empty())
      return {};
    return engine.diagnostics().front().helps.front();
  }

  SourceMap sources;
  Engine engine;
  std::optional<Manifest> manifest;
};

const std::string kHead = "[project]\nid = \"example.com/app\"\nversion = \"1.2.3\"\n";

/// What is reported for a line after the head; the manifest must be refused.
std::string refused(const std::string& rest) {
  const Reading reading(kHead + rest);
  CHECK_FALSE(reading.manifest.has_value());
  return reading.reports();
}
} // namespace

TEST_CASE("a full manifest is read") {
  const Reading reading(
      kHead +
      "authors = [\"A\", \"B\"]\nlicense = \"MIT\"\noutput = \"out/app\"\n"
      "entry = \"src/start.gos\"\nffi = false\ncomptime-io = \"none\"\n"
      "gossamer-version = \"^0.1.0\"\nsandbox = \"strict\"\nenforce-format = true\n"
      "[dependencies]\n\"example.com/lib-x\" = \"^1.0.0\"\ny = { path = \"../y\", module = \"why\" "
      "}\n"
      "\"example.com/g\" = { git = \"https://example.com/g.git\", tag = \"v1\" }\n"
      "\"example.com/u\" = { url = \"https://example.com/u.tar.gz\", sha256 = \"" +
      std::string(64, 'a') +
      "\" }\n[rust-bindings]\nregex = \"1.10\"\n"
      "local = { path = \"bindings/local\", features = [\"std\"], default-features = false }\n"
      "far = { git = \"https://example.com/far\", rev = \"abc\" }\nsmall = { src = "
      "\"bindings/small.rs\" }\n"
      "[registries]\nmain = \"https://example.com/index\"\n"
      "[trusted-publishers]\n\"example.com/lib-x\" = \"key\"\n"
      "[replace]\n\"example.com/lib-x\" = { path = \"../lib\" }\n"
      "[workspace]\nmembers = [\"crates/*\", \"tools\"]\n");
  INFO(reading.reports());
  REQUIRE(reading.manifest);
  const Manifest& manifest = *reading.manifest;
  CHECK(manifest.id == "example.com/app");
  CHECK(manifest.version.text() == "1.2.3");
  CHECK(manifest.authors.size() == 2);
  CHECK(manifest.output->value == "out/app");
  CHECK(manifest.entry->value == "src/start.gos");
  CHECK_FALSE(manifest.ffi);
  CHECK(manifest.comptimeIo->value == ComptimeIo::None);
  CHECK(reading.sources.text(manifest.comptimeIo->span) == "\"none\"");
  CHECK(manifest.sandbox->value == SandboxLevel::Strict);
  CHECK(manifest.enforceFormat);
  REQUIRE(manifest.dependencies.size() == 4);
  CHECK(manifest.dependencies[0].moduleName == "lib_x");
  CHECK(manifest.dependencies[0].requirement->text() == "^1.0.0");
  CHECK(reading.sources.text(manifest.dependencies[0].keySpan) == "\"example.com/lib-x\"");
  CHECK(manifest.dependencies[1].source == Dependency::Source::Path);
  CHECK(manifest.dependencies[1].moduleName == "why");
  CHECK(manifest.dependencies[2].tag == "v1");
  CHECK(manifest.dependencies[3].source == Dependency::Source::Url);
  REQUIRE(manifest.bindings.size() == 4);
  CHECK(manifest.bindings[0].value == "1.10");
  CHECK(manifest.bindings[1].features == std::vector<std::string>{"std"});
  CHECK_FALSE(manifest.bindings[1].defaultFeatures);
  CHECK(manifest.bindings[2].source == RustBinding::Source::Git);
  CHECK(manifest.bindings[3].source == RustBinding::Source::SourceFile);
  CHECK(manifest.workspaceMembers->size() == 2);
  CHECK(manifest.replacements.size() == 1);
}

TEST_CASE("id and version are needed, or a workspace") {
  CHECK(Reading("[project]\n").reports() == "GJ0006@1:2 key `id` is missing in `[project]`\n"
                                            "GJ0006@1:2 key `version` is missing in `[project]`");
  CHECK(Reading("").reports() == "GJ0006@1:1 key `project` is missing in the manifest");
  CHECK(Reading("[workspace]\nmembers = []\n").manifest.has_value());
  CHECK(Reading("[workspace]\n").reports() ==
        "GJ0006@1:2 key `members` is missing in `[workspace]`");
}

TEST_CASE("T065 a word that is not exactly a level is an error that lists the levels") {
  CHECK(refused("comptime-io = \"nonee\"\n") ==
        "GJ0003@4:15 `nonee` is not a value of `comptime-io`; allowed are `none`, `confined`, "
        "`full`");
  for (const char* key : {"comptime-io", "sandbox"})
    for (const char* value :
         {"\"nonee\"", "\"NONE\"", "\" none\"", "\"\"", "true", "0", "[\"none\"]",
          "{ level = \"none\" }", "\"nоne\"", "\"none\\u0000\""}) {
      const std::string report = refused(std::string(key) + " = " + value + "\n");
      const bool isText = value[0] == '"';
      CHECK(report.find(isText ? "GJ0003@4:" : "GJ0002@4:") == 0);
      CHECK(report.find("`none`") != std::string::npos);
    }
  CHECK(Reading(kHead + "comptime-io = \"NONE\"\n").help() == "did you mean `none`?");
  CHECK(Reading(kHead + "sandbox = \"strikt\"\n").help() == "did you mean `strict`?");
}

TEST_CASE("T066 doubles are errors") {
  CHECK(refused("comptime-io = \"none\"\ncomptime-io = \"full\"\n").find("GJ0004@5:") == 0);
  CHECK(refused("comptime-io = \"none\"\ncomptime-io = \"full\"\n").find("`comptime-io`") !=
        std::string::npos);
  CHECK(refused("[project]\ncomptime-io = \"none\"\n").find("GJ0004@4:") == 0);
  CHECK(Reading("project.comptime-io = \"none\"\n" + kHead).reports().find("GJ0004@2:") == 0);
  CHECK(refused("[[project]]\n").find("GJ0004@4:") == 0);
  CHECK(refused("[dependencies]\na = { path = \"a\" }\na = { path = \"b\" }\n").find("GJ0004@6:") ==
        0);
  CHECK(refused("\"comptime-io\" = \"none\"\ncomptime-io = \"none\"\n").find("GJ0004@5:") == 0);
}

TEST_CASE("T066 a near miss is never skipped as unknown") {
  CHECK(refused("comptime_io = \"none\"\n") ==
        "GJ0001@4:1 unknown key `comptime_io` in `[project]`");
  for (const char* key : {"comptime_io", "comptimeIo", "Comptime-IO", "\"comptime-io \"",
                          "comptimeio", "\"c\xD0\xBEmptime-io\"", "comptime-i0"}) {
    const Reading reading(kHead + key + " = \"none\"\n");
    CHECK_FALSE(reading.manifest.has_value());
    CHECK(reading.reports().find("GJ0001@4:1") == 0);
    CHECK(reading.help() == "did you mean `comptime-io`?");
  }
  CHECK(refused("[porject]\n").find("GJ0001@4:2 unknown key `porject` in the manifest") == 0);
  CHECK(refused("[dependencies]\na = { paht = \"x\" }\n").find("GJ0001@5:7") == 0);
}

TEST_CASE("T066 a key in the wrong table is an error that names the right one") {
  CHECK(Reading("comptime-io = \"none\"\n" + kHead).reports() ==
        "GJ0007@1:1 `comptime-io` stands in the top of the manifest; it belongs in `[project]`");
  CHECK(refused("[workspace]\nmembers = []\ncomptime-io = \"none\"\n") ==
        "GJ0007@6:1 `comptime-io` stands in `[workspace]`; it belongs in `[project]`");
  CHECK(refused("members = []\n") ==
        "GJ0007@4:1 `members` stands in `[project]`; it belongs in `[workspace]`");
}

TEST_CASE("T067 a path that leads outside is an error that names its key") {
  CHECK(refused("output = \"../../.bashrc\"\n") ==
        "GJ0008@4:10 `../../.bashrc` of `output` leads outside the package");
  for (const char* path :
       {"/etc/passwd", "..", "a/../../b", "", "..\\\\x", "C:/x", "\\\\x", "a/..", "a\\u0000b"})
    for (const char* key : {"entry", "output"})
      CHECK(refused(std::string(key) + " = \"" + path + "\"\n").find("GJ0008@4:") == 0);
  CHECK(refused("[workspace]\nmembers = [\"../x\"]\n").find("GJ0025@5:12") == 0);
  CHECK(Reading(kHead + "entry = \"src/..x/a..gos\"\n").manifest.has_value());
}

TEST_CASE("every key has one type") {
  CHECK(refused("ffi = \"no\"\n") == "GJ0002@4:7 `ffi` is a string; expected `true` or `false`");
  CHECK(refused("authors = \"A\"\n") ==
        "GJ0002@4:11 `authors` is a string; expected an array of strings");
  CHECK(refused("authors = [\"A\", 1]\n") ==
        "GJ0002@4:17 `authors` is an integer; expected a string");
  CHECK(refused("license = 1979-05-27\n").find("is a date or time") != std::string::npos);
  CHECK(Reading("project = 1\n")
            .reports()
            .find("GJ0002@1:11 `project` is an integer; expected a table") == 0);
  CHECK(Reading("[project]\nid = \"a/..\"\nversion = \"1.2\"\n").reports() ==
        "GJ0027@2:6 `a/..` is not a package id: a segment is `.` or `..`\n"
        "GJ0026@3:11 `1.2` is not a version of the form `1.2.3`");
}

TEST_CASE("a dependency has one source, and what belongs to it") {
  auto one = [](const std::string& table) {
    return refused("[dependencies]\na = " + table + "\n");
  };
  CHECK(one("{ }") ==
        "GJ0006@5:1 key `path`, `git`, `url` or `version` is missing in dependency `a`");
  CHECK(one("{ path = \"x\", git = \"https://e\" }")
            .find("GJ0028@5:19 `path` and `git` are given together") == 0);
  CHECK(one("{ git = \"https://e\", tag = \"a\", rev = \"b\" }").find("GJ0028") == 0);
  CHECK(one("{ path = \"x\", tag = \"a\" }").find("GJ0006@5:19 key `git` is missing") == 0);
  CHECK(one("{ url = \"https://e\" }").find("GJ0006@5:7 key `sha256` is missing") == 0);
  CHECK(one("{ git = \"--upload-pack=x\" }").find("GJ0026@5:13") == 0);
  CHECK(one("{ path = \"x\", module = \"a-b\" }").find("GJ0026") == 0);
  CHECK(one("3") == "GJ0002@5:5 `a` is an integer; expected a version requirement or a table");
  CHECK(one("\"~1.0.0\"").find("GJ0026@5:5") == 0);
  CHECK(refused("[dependencies]\n\"a/x-y\" = \"1.0.0\"\n\"b/x_y\" = \"1.0.0\"\n")
            .find("GJ0028@6:1") == 0);
  CHECK(refused("[dependencies]\n\"a/1.0\" = \"1.0.0\"\n").find("GJ0027@5:1") == 0);
  CHECK(refused("[rust-bindings]\n\"../x\" = \"1\"\n").find("GJ0027@5:1") == 0);
  CHECK(refused("[rust-bindings]\nx = { src = \"../x.rs\" }\n").find("GJ0008") == 0);
}

TEST_CASE("all mistakes of a manifest are reported at once") {
  const std::string reports = refused("ffi = 1\nsandbox = \"x\"\nentry = \"/a\"\nfoo = 1\n");
  CHECK(reports.find("GJ0002@4") != std::string::npos);
  CHECK(reports.find("GJ0003@5") != std::string::npos);
  CHECK(reports.find("GJ0008@6") != std::string::npos);
  CHECK(reports.find("GJ0001@7") != std::string::npos);
}

TEST_CASE("malformed TOML is an error at its place") {
  CHECK(refused("entry = \n").find("GJ0005@4:") == 0);
  CHECK(refused("entry = \"\xC3\xA4\xC3\xA4\" x\n").find("GJ0005@4:14") == 0);
  CHECK(refused(std::string("a = \"\0\"\n", 8)).find("GJ0005@4:") == 0);
  for (const char* text :
       {"[=]", "[", "[[", "[[x]", "[a.]", "a.=1", "=1", "x = {=1}", "x = {a.", "\xC3\xA4 = 1",
        "[\xD0\xBE]", "a = \xC3\xA4", "a \xC2\xA1= 1", "'''a''' = 1"})
    CHECK(Reading(text).reports().find("GJ0005@1:") == 0);
}

TEST_CASE("spans count bytes where columns count characters") {
  SourceMap sources;
  llvm::cantFail(sources.addCopy("first", "something before"));
  const FileId file = llvm::cantFail(
      sources.addCopy("x.toml", "a = \"\xC3\xA4\xF0\x9F\x98\x80\" # \xE2\x82\xAC\r\nb = [ "
                                "\"\xE2\x82\xAC\", { c = 'x' } ]\n"));
  Engine engine(sources);
  const auto value = readToml(file, engine);
  REQUIRE(value);
  CHECK(sources.text(value->entries[0].value.span) == "\"\xC3\xA4\xF0\x9F\x98\x80\"");
  CHECK(sources.text(value->entries[1].keySpan) == "b");
  CHECK(sources.text(value->entries[1].value.items[0].span) == "\"\xE2\x82\xAC\"");
  CHECK(sources.text(value->entries[1].value.items[1].entries[0].value.span) == "'x'");
}

TEST_CASE("T074 deep nesting is a diagnostic, never a stack overflow") {
  auto report = [](const std::string& text) { return Reading(text).reports(); };
  std::string dots = "a";
  for (int index = 0; index != 200000; ++index)
    dots += ".a";
  CHECK(report(dots + " = 1\n").find("GJ0005") == 0);
  CHECK(report("[" + dots + "]\n").find("GJ0005") == 0);
  CHECK(report("x = {" + dots + " = 1}\n").find("GJ0005") == 0);
  CHECK(report("x = " + std::string(200000, '[') + "\n").find("GJ0005") == 0);
  CHECK(report("x = " + std::string(100, '[') + std::string(100, ']') + "\n").find("GJ0005") == 0);
  std::string tables = "x = ";
  for (int index = 0; index != 50000; ++index)
    tables += "{a=";
  CHECK(report(tables).find("GJ0005") == 0);
  CHECK(Reading(kHead + "license = \"" + std::string(2000, '.') + "\" # " + std::string(2000, '.') +
                "\n")
            .manifest.has_value());
}

TEST_CASE("any bytes are a manifest or an error") {
  const std::string good = kHead +
                           "comptime-io = \"none\"\n[dependencies]\nx = { path = \"../x\" }\n"
                           "[workspace]\nmembers = [\"a\", '''b''']\n";
  std::mt19937 random(3);
  for (int round = 0; round != (std::getenv("GOS_FULL") ? 500000 : 20000); ++round) {
    std::string text = good;
    for (unsigned edits = 1 + random() % 4; edits != 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = char(random());
        break;
      case 1:
        text.erase(at, random() % 9);
        break;
      default:
        text.insert(at, 1, "[]{}=\"'.#\n,-"[random() % 12]);
      }
      if (text.empty())
        text = "x";
    }
    const Reading reading(text);
    CHECK(reading.manifest.has_value() != reading.engine.hasErrors());
  }
}
