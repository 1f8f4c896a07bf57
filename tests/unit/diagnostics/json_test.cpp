#include "diagnostics/json_writer.h"
#include "diagnostics/render.h"

#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

using namespace gos;

namespace {

/// Parsed by another library than the one that wrote it.
llvm::json::Object parsed(llvm::StringRef line) {
  llvm::json::Value value = llvm::cantFail(llvm::json::parse(line.trim()));
  REQUIRE(value.getAsObject());
  return *value.getAsObject();
}

std::string rendered(const Engine& engine) {
  std::string text;
  llvm::raw_string_ostream out(text);
  renderAll(out, engine, MessageFormat::Json, Colour::Off);
  return text;
}

} // namespace

TEST_CASE("a writer keeps the order of members and nests") {
  JsonWriter json;
  json.beginObject();
  json.member("z", "last first");
  json.key("list");
  json.beginArray();
  json.number(int64_t(-1));
  json.number(UINT64_MAX);
  json.boolean(true);
  json.null();
  json.beginObject();
  json.endObject();
  json.endArray();
  json.member("a", uint64_t(2));
  json.endObject();
  CHECK(json.finish() ==
        R"({"z":"last first","list":[-1,18446744073709551615,true,null,{}],"a":2})");
}

TEST_CASE("T077: what a writer puts out is one line of ASCII") {
  JsonWriter json;
  json.string("a\n\x1b\x7f\xc2\x85\u202e\xff\"\\\u00e9");
  CHECK(json.finish() == R"("a\n\u001b\u007f\u0085\u202e\\xff\"\\\u00e9")");
}

TEST_CASE("a diagnostic is one object with every key of the schema") {
  SourceMap sources;
  const FileId file = llvm::cantFail(sources.addCopy("src/main.gos", "fn f() {}\n\u00e9 f(1)\n"));
  const uint32_t base = sources.file(file).base;
  Engine engine(sources);
  engine.report({base + 13, base + 17}, diag::CallArity, "f", 0, 1)
      .primary("one too many")
      .label({base + 3, base + 4}, "declared here")
      .note("a note")
      .help("a help")
      .suggest({base + 15, base + 16}, "", "leave it out");
  const std::string text = rendered(engine);
  CHECK(text.back() == '\n');
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(text == R"({"schema":1,"code":"GT0018","severity":"error","title":"CallArity",)"
                R"("message":"`f` takes 0 arguments; 1 given","labels":[)"
                R"({"file":"src/main.gos","line":2,"column":3,"span_start":13,"span_end":17,)"
                R"("primary":true,"message":"one too many"},)"
                R"({"file":"src/main.gos","line":1,"column":4,"span_start":3,"span_end":4,)"
                R"("primary":false,"message":"declared here"}],)"
                R"("notes":["a note"],"helps":["a help"],"suggestions":[)"
                R"({"file":"src/main.gos","span_start":15,"span_end":16,"replacement":"",)"
                R"("message":"leave it out"}]})"
                "\n");
}

TEST_CASE("T080: hostile names and texts stay strings of one line of valid JSON") {
  SourceMap sources;
  const std::string name = "\xff\n{\"schema\":1}\n\x1b]0;x\x07.gos";
  const FileId file = llvm::cantFail(sources.addCopy(name, "x"));
  const uint32_t base = sources.file(file).base;
  Engine engine(sources);
  engine.report({base, base + 1}, diag::Panic, "\"}\n{\"code\":\"GX0010\"}\xfe");
  const std::string text = rendered(engine);
  CHECK(text.find('\n') == text.size() - 1);
  for (char byte : llvm::StringRef(text).drop_back())
    CHECK((byte >= 0x20 && byte < 0x7F));
  const llvm::json::Object object = parsed(text);
  CHECK(object.getString("code") == "GX0005");
  CHECK(object.getString("message") == "panic: \"}\n{\"code\":\"GX0010\"}\\xfe");
  CHECK(object.getArray("labels")->front().getAsObject()->getString("file") ==
        "\\xff\n{\"schema\":1}\n\x1b]0;x\x07.gos");
}

TEST_CASE("spans outside of any file are null, and spans past the end are cut") {
  SourceMap sources;
  const FileId file = llvm::cantFail(sources.addCopy("a", "xy"));
  const uint32_t base = sources.file(file).base;
  Engine engine(sources);
  engine.report({base + 1, base + 99}, diag::NotYet, "x").label({base + 50, base + 51}, "nowhere");
  const llvm::json::Object object = parsed(rendered(engine));
  const llvm::json::Array& labels = *object.getArray("labels");
  CHECK(labels[0].getAsObject()->getInteger("span_end") == 2);
  CHECK(labels[1].getAsObject()->get("file")->kind() == llvm::json::Value::Null);
}

TEST_CASE("what the limit left out is told in a line of its own") {
  SourceMap sources;
  Engine engine(sources);
  engine.setLimit(1);
  for (int i = 0; i < 3; ++i)
    engine.report(diag::FileMissing, "x");
  const std::string text = rendered(engine);
  CHECK(llvm::StringRef(text).count('\n') == 2);
  const llvm::json::Object last = parsed(llvm::StringRef(text).split('\n').second);
  CHECK(last.get("code")->kind() == llvm::json::Value::Null);
  CHECK(last.getString("message") == "3 errors; 2 errors are not shown");
  CHECK(last.getArray("labels")->empty());
}
