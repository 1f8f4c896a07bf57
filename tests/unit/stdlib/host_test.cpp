// The doors to the host: files in a fold under each level, the environment, children, JSON, time.

#include "tests/unit/stdlib/machine.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace gos;
using namespace gos::stdlib;
using namespace gos::stdlib::test;
using vm::TrapKind;

namespace {

/// A package with a root, beside it a file that is nobody's to read.
struct Tree {
  Tree() {
    char name[] = "/tmp/gos-stdlib-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    llvm::SmallString<128> real;
    REQUIRE_FALSE(llvm::sys::fs::real_path(name, real));
    top = real.str().str();
    root = top + "/root";
    ::mkdir(root.c_str(), 0755);
    ::mkdir((root + "/src").c_str(), 0755);
    ::mkdir((root + "/data").c_str(), 0755);
    write(top + "/secret.txt", "secret");
    write(root + "/src/in.txt", "inside");
    write(root + "/data/b.txt", "bb");
    write(root + "/data/a.txt", "a");
    link("../../secret.txt", root + "/src/out");
    link("in.txt", root + "/src/alias");
    link("/etc", root + "/data/etc");
    ::mkfifo((root + "/src/pipe").c_str(), 0644);
  }
  ~Tree() { llvm::sys::fs::remove_directories(top); }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static void link(const char* target, const std::string& at) {
    REQUIRE(::symlink(target, at.c_str()) == 0);
  }
  std::string top;
  std::string root;
};

ComptimePolicy policyOf(const Tree& tree, ComptimeIo level) {
  ComptimePolicy policy;
  policy.commandLine = level;
  policy.fromCommandLine = true;
  PackagePolicy package;
  package.name = "main";
  package.level = ComptimeIo::Full;
  package.hasRoot = true;
  package.root = tree.root;
  package.rootSpelling = tree.root;
  package.base = "src";
  policy.packages.push_back(package);
  return policy;
}

vm::VmOptions fold(const ComptimePolicy& policy) {
  vm::VmOptions options;
  options.mode = vm::Mode::Fold;
  options.policy = &policy;
  options.regionPackage = 1;
  return options;
}

const char* kText = "Result<String, io::Error>";

} // namespace

TEST_CASE("a fold reads beneath its root and nothing else") {
  Tree tree;
  const ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  Machine machine(fold(policy));
  const size_t read = machine.native("fs::read_to_string", {"String"}, kText);
  auto readText = [&](llvm::StringRef path) { return machine.call(read, {machine.text(path)}); };
  CHECK(readText("in.txt").text == "Ok(\"inside\")");
  CHECK(readText("alias").text == "Ok(\"inside\")");
  CHECK(readText("../data/a.txt").text == "Ok(\"a\")");
  CHECK(readText(tree.root + "/src/in.txt").text == "Ok(\"inside\")");
  CHECK(readText("no-such").text.find("Err(") == 0);
  CHECK(readText("pipe").text.find("Err(") == 0);
  CHECK(readText("").text.find("Err(") == 0);
  for (llvm::StringRef path :
       {"out", "../../secret.txt", "/etc/hostname", "../data/etc/passwd", "/no/such"})
    CHECK_MESSAGE(readText(path).trap == TrapKind::Denied, path.str());
  CHECK(readText("out").detail.find("../../secret.txt") != std::string::npos);
  CHECK_FALSE(machine.vm().inputs().empty());
}

TEST_CASE("at none nothing is read, and a denial is the same for what is and what is not") {
  Tree tree;
  const ComptimePolicy policy = policyOf(tree, ComptimeIo::None);
  Machine machine(fold(policy));
  const size_t read = machine.native("fs::read_to_string", {"String"}, kText);
  const size_t exists = machine.native("fs::exists", {"String"}, "bool");
  CHECK(machine.call(read, {machine.text("in.txt")}).trap == TrapKind::Denied);
  CHECK(machine.call(exists, {machine.text("in.txt")}).trap == TrapKind::Denied);
  CHECK(machine.call(exists, {machine.text("/etc/hostname")}).trap == TrapKind::Denied);
}

TEST_CASE("queries and listings take the same road") {
  Tree tree;
  const ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  Machine machine(fold(policy));
  const size_t exists = machine.native("fs::exists", {"String"}, "bool");
  const size_t isLink = machine.native("fs::is_symlink", {"String"}, "bool");
  const size_t size = machine.native("fs::file_size", {"String"}, "i64");
  const size_t list = machine.native("fs::read_dir", {"String"}, "Result<Vec<DirInfo>, io::Error>");
  const size_t glob =
      machine.native("path::glob", {"String"}, "Result<Vec<String>, errors::Error>");
  const size_t canonical = machine.native("fs::canonicalize", {"String"}, kText);
  const size_t metadata = machine.native("fs::metadata", {"String"}, "Result<Metadata, io::Error>");
  const size_t permissions =
      machine.native("fs::permissions", {"String"}, "Result<i64, io::Error>");
  auto ask = [&](size_t id, llvm::StringRef path) {
    return machine.call(id, {machine.text(path)});
  };
  CHECK(ask(exists, "in.txt").text == "true");
  CHECK(ask(exists, "nope").text == "false");
  CHECK(ask(exists, "../../secret.txt").trap == TrapKind::Denied);
  CHECK(ask(exists, "../../no-such").trap == TrapKind::Denied);
  CHECK(ask(isLink, "out").text == "true");
  CHECK(ask(size, "in.txt").text == "6");
  CHECK(ask(size, "out").trap == TrapKind::Denied);
  const std::string listing = ask(list, "../data").text;
  CHECK(listing.find("\"a.txt\"") < listing.find("\"b.txt\""));
  CHECK(listing.find("is_symlink: true") != std::string::npos);
  CHECK(ask(list, "../data/etc").trap == TrapKind::Denied);
  CHECK(ask(glob, "../data/*.txt").text == "Ok(#[\"../data/a.txt\", \"../data/b.txt\"])");
  CHECK(ask(glob, "../data/**").text.find("passwd") == std::string::npos);
  for (llvm::StringRef pattern : {"../../*", "/etc/*", "../data/../../*", "**/../../../*"})
    CHECK_MESSAGE(ask(glob, pattern).trap == TrapKind::Denied, pattern.str());
  CHECK(ask(glob, "[.][.]/*").text == "Ok(#[])");
  CHECK(ask(canonical, "alias").text == "Ok(\"src/in.txt\")");
  CHECK(
      ask(metadata, "in.txt").text ==
      "Ok(Metadata { size: 6, is_file: true, is_dir: false, is_symlink: false, modified: 0, mode: 0 })");
  CHECK(ask(permissions, "in.txt").trap == TrapKind::Denied);
}

TEST_CASE("the read limit counts what is read") {
  Tree tree;
  ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  policy.budgets.readBytes = 8;
  Tree::write(tree.root + "/src/big", std::string(64, 'x'));
  Machine machine(fold(policy));
  const size_t read = machine.native("fs::read_to_string", {"String"}, kText);
  CHECK(machine.call(read, {machine.text("in.txt")}).text == "Ok(\"inside\")");
  CHECK(machine.call(read, {machine.text("big")}).trap == TrapKind::Budget);
  CHECK(machine.call(read, {machine.text("in.txt")}).trap == TrapKind::Budget); // 6 more do not fit
}

TEST_CASE("a file that a fold opened keeps its content") {
  Tree tree;
  const ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  Machine machine(fold(policy));
  const size_t open = machine.native("fs::open", {"String"}, "Result<File, io::Error>");
  const size_t readAt =
      machine.native("fs::File::read_at", {"File", "i64", "i64"}, "Result<Vec<u8>, io::Error>");
  const size_t close = machine.native("fs::File::close", {"File"}, "()");
  const std::string opened = machine.call(open, {machine.text("in.txt")}).text;
  REQUIRE(opened.find("Ok(File { handle: ") == 0);
  const int64_t handle = std::atoll(opened.c_str() + opened.find("handle: ") + 8);
  auto file = [&](int64_t number) {
    vm::StructObject* object = machine.vm().heap().newStruct(machine.type("File"));
    object->slots()[0] = vm::fromInteger(number);
    return vm::fromObject(object);
  };
  Tree::write(tree.root + "/src/in.txt", "changed");
  CHECK(machine.call(readAt, {file(handle), 2, 2}).text == "Ok(#[115, 105])");
  CHECK(machine.call(readAt, {file(handle), uint64_t(1) << 60, 2}).text == "Ok(#[])");
  // Forged, stale and foreign handles are errors.
  for (int64_t number :
       {int64_t(0), int64_t(3), int64_t(-1), handle + 1, handle ^ (int64_t(1) << 33)})
    CHECK(machine.call(readAt, {file(number), 0, 1}).text.find("Err(") == 0);
  machine.call(close, {file(handle)});
  CHECK(machine.call(readAt, {file(handle), 0, 1}).text.find("Err(") == 0);
}

TEST_CASE("writing, starting programs and looking at the host are denied below full") {
  Tree tree;
  for (ComptimeIo level : {ComptimeIo::None, ComptimeIo::Confined}) {
    const ComptimePolicy policy = policyOf(tree, level);
    Machine machine(fold(policy));
    const size_t write = machine.native("fs::write", {"String", "String"}, "Result<(), io::Error>");
    const size_t run =
        machine.native("process::run", {"String", "Vec<String>"}, "Result<Output, errors::Error>");
    const size_t exit = machine.native("process::exit", {"i64"}, "()");
    const size_t args = machine.native("env::args", {}, "Vec<String>");
    const size_t now = machine.native("time::now", {}, "i64");
    const size_t freeze = machine.native("time::freeze", {"i64"}, "()");
    const size_t lookup =
        machine.native("net::lookup", {"String"}, "Result<Vec<String>, errors::Error>");
    CHECK(machine.call(write, {machine.text("new"), machine.text("x")}).trap == TrapKind::Denied);
    CHECK(::access((tree.root + "/src/new").c_str(), F_OK) == -1);
    CHECK(machine.call(run, {machine.text("true"), machine.texts({})}).trap == TrapKind::Denied);
    CHECK(machine.call(exit, {0}).trap == TrapKind::Denied);
    CHECK(machine.call(args, {}).trap == TrapKind::Denied);
    machine.call(freeze, {7});
    CHECK(machine.call(now, {}).trap == TrapKind::Denied);
    CHECK(machine.call(lookup, {machine.text("localhost")}).trap == TrapKind::Denied);
  }
}

TEST_CASE("only permitted variables are seen below full") {
  Tree tree;
  ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  policy.permittedEnv = {"GOS_TEST_VARIABLE"};
  ::setenv("GOS_TEST_VARIABLE", "seen", 1);
  ::setenv("GOS_TEST_OTHER", "hidden", 1);
  Machine machine(fold(policy));
  const size_t var = machine.native("env::var", {"String"}, "Option<String>");
  const size_t vars = machine.native("env::vars", {}, "Map<String, String>");
  CHECK(machine.call(var, {machine.text("GOS_TEST_VARIABLE")}).text == "Some(\"seen\")");
  for (llvm::StringRef name : {"GOS_TEST_OTHER", "Gos_Test_Variable", "GOS_TEST_VARIABLE="})
    CHECK_MESSAGE(machine.call(var, {machine.text(name)}).trap == TrapKind::Denied, name.str());
  CHECK(machine.call(var, {machine.text(llvm::StringRef("GOS_TEST_VARIABLE\0", 18))}).trap ==
        TrapKind::Denied);
  CHECK(machine.call(vars, {}).trap == TrapKind::Denied);
}

TEST_CASE("changes of the environment stay in the Vm and reach its children") {
  Machine machine;
  const size_t set = machine.native("env::set_var", {"String", "String"}, "()");
  const size_t var = machine.native("env::var", {"String"}, "Option<String>");
  const size_t run =
      machine.native("process::run", {"String", "Vec<String>"}, "Result<Output, errors::Error>");
  machine.call(set, {machine.text("GOS_TEST_SET"), machine.text("1")});
  CHECK(machine.call(var, {machine.text("GOS_TEST_SET")}).text == "Some(\"1\")");
  CHECK(::getenv("GOS_TEST_SET") == nullptr);
  CHECK(machine
            .call(run, {machine.text("sh"),
                        machine.texts({"-c", "echo $GOS_TEST_SET; echo e >&2; exit 3"})})
            .text == "Ok(Output { stdout: \"1\\n\", stderr: \"e\\n\", code: 3 })");
}

TEST_CASE("a child's output is captured however large") {
  Machine machine;
  const size_t run =
      machine.native("process::run", {"String", "Vec<String>"}, "Result<Output, errors::Error>");
  const size_t pipeline =
      machine.native("process::pipeline_run", {"Vec<String>"}, "Result<Output, errors::Error>");
  const std::string script =
      "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo abcdefghij >&2; i=$((i+1)); done";
  const std::string text =
      machine.call(run, {machine.text("sh"), machine.texts({"-c", script})}).text;
  CHECK(text.size() > 2 * 20000 * 11);
  CHECK(text.find("code: 0") != std::string::npos);
  CHECK(machine.call(run, {machine.text("no-such-program-here"), machine.texts({})})
            .text.find("Err(") == 0);
  CHECK(machine.call(run, {machine.text("sh"), machine.texts({"-c", "kill -9 $$"})})
            .text.find("code: 137") != std::string::npos);
  CHECK(machine.call(pipeline, {machine.texts({"printf 'b\\na\\n'", "sort"})})
            .text.find("a\\nb\\n") != std::string::npos);
}

TEST_CASE("a fold's output is captured and the program's own is not touched") {
  Tree tree;
  const ComptimePolicy policy = policyOf(tree, ComptimeIo::Confined);
  Machine machine(fold(policy));
  const size_t print = machine.native("intrinsics::print", {"String"}, "()");
  machine.call(print, {machine.text("note\n")});
  CHECK(machine.vm().capturedOutput() == "note\n");
}

TEST_CASE("readers tied into a knot end by the budget") {
  vm::VmOptions options = Machine::program();
  options.steps = 100'000'000;
  Machine machine(std::move(options));
  const size_t multi = machine.native("io::multi_reader", {"Vec<i64>"}, "i64");
  const size_t drain = machine.native("io::drain", {"i64"}, "String");
  const size_t reader = machine.native("io::string_reader", {"String"}, "i64");
  const size_t limit = machine.native("io::limit_reader", {"i64", "i64"}, "i64");
  const int64_t text = int64_t(machine.call(reader, {machine.text("abcdef")}).value);
  const int64_t part = int64_t(machine.call(limit, {vm::fromInteger(text), 4}).value);
  CHECK(machine.call(drain, {vm::fromInteger(part)}).text == "\"abcd\"");
  CHECK(machine.call(drain, {vm::fromInteger(text)}).text == "\"ef\"");
  int64_t knot = text;
  for (int i = 0; i < 40; ++i)
    knot = int64_t(machine.call(multi, {machine.integers({knot, knot})}).value);
  for (int64_t forged : {int64_t(-1), int64_t(3), knot + 1})
    CHECK(machine.call(drain, {vm::fromInteger(forged)}).trap == TrapKind::Incompatible);
  CHECK(machine.call(drain, {vm::fromInteger(knot)}).trap == TrapKind::Budget);
}

TEST_CASE("JSON comes back as it went") {
  Machine machine;
  const size_t parse =
      machine.native("encoding::json::parse", {"String"}, "Result<Value, errors::Error>");
  const size_t valid = machine.native("encoding::json::valid", {"String"}, "bool");
  const size_t encode = machine.native("encoding::json::encode", {"Point"}, "String");
  auto text = [&](llvm::StringRef source) {
    return machine.call(parse, {machine.text(source)}).text;
  };
  CHECK(
      text("{\"b\": [1, 2.5, true, null], \"a\": \"x\\u00e9\\ud83d\\ude00\"}") ==
      "Ok(Object({\"a\": String(\"x\u00e9\U0001f600\"), \"b\": Array(#[Int(1), Float(2.5), Bool(true), Null])}))");
  CHECK(text(" [] ") == "Ok(Array(#[]))");
  CHECK(text("12345678901234567890") == "Ok(Float(12345678901234567000.0))");
  for (llvm::StringRef bad : {"", "[1,]", "{\"a\"}", "{a: 1}", "01", "1 2", "\"\n\"", "\"\\ud800\"",
                              "nul", "[", "+1", "1.", "{\"a\": 1,}", "'x'"}) {
    CHECK_MESSAGE(text(bad).find("Err(") == 0, bad.str());
    CHECK_MESSAGE(machine.call(valid, {machine.text(bad)}).text == "false", bad.str());
  }
  CHECK(text("[\n  1,\n  x]").find("line 3, column 3") != std::string::npos);
  CHECK(text(std::string(100000, '[')).find("nested too deep") != std::string::npos);
  vm::StructObject* point = machine.vm().heap().newStruct(machine.type("Point"));
  point->slots()[0] = 7;
  point->slots()[1] = machine.vm().unitVariant(machine.type("Option<String>"), 0);
  CHECK(machine.call(encode, {vm::fromObject(point)}).text ==
        "\"{\\\"x\\\":7,\\\"label\\\":null}\"");
}

TEST_CASE("dates go through the calendar") {
  auto format = [](int64_t ms) {
    return once("time::format_rfc3339", {"i64"}, "Result<String, errors::Error>", {ms}).text;
  };
  auto parse = [](const char* text) {
    return once("time::parse_rfc3339", {"String"}, "Result<i64, errors::Error>", {text}).text;
  };
  CHECK(format(0) == "Ok(\"1970-01-01T00:00:00Z\")");
  CHECK(format(951782400000) == "Ok(\"2000-02-29T00:00:00Z\")");
  CHECK(format(-1000) == "Ok(\"1969-12-31T23:59:59Z\")");
  CHECK(parse("2000-02-29T01:00:00+01:00") == "Ok(951782400000)");
  CHECK(parse("2001-02-29T00:00:00Z").find("Err(") == 0);
  CHECK(parse("2000-02-29").find("Err(") == 0);
  CHECK(once("intrinsics::time_add_date", {"i64", "i64", "i64", "i64"},
             "Result<i64, errors::Error>", {951782400000, 1, 0, 0})
            .text == "Ok(983318400000)"); // 2001-02-28
}

TEST_CASE("zones of the host are read by name and by nothing else") {
  auto read = [](const char* name) {
    return once("intrinsics::zone_file", {"String"}, "Result<Vec<u8>, errors::Error>", {name}).text;
  };
  CHECK(read("../../../etc/passwd").find("is not the name of a time zone") != std::string::npos);
  CHECK(read("/etc/passwd").find("is not the name of a time zone") != std::string::npos);
  CHECK(read("No/Such_Zone").find("there is no time zone") != std::string::npos);
  if (llvm::sys::fs::exists("/usr/share/zoneinfo/Etc/GMT"))
    CHECK(read("Etc/GMT").find("Ok(#[84, 90, 105, 102") == 0); // TZif
  else
    MESSAGE("skipped part: this host has no time zone database");
}

TEST_CASE("paths are taken apart by their text") {
  CHECK(once("path::join", {"String", "String"}, "String", {"a/", "b"}).text == "\"a/b\"");
  CHECK(once("path::normalize", {"String"}, "String", {"a/./b/../../../c"}).text == "\"../c\"");
  CHECK(once("path::extension", {"String"}, "Option<String>", {"x/y.tar.gz"}).text ==
        "Some(\".gz\")");
  CHECK(once("path::extension", {"String"}, "Option<String>", {".profile"}).text == "None");
  CHECK(once("path::parent", {"String"}, "Option<String>", {"/a"}).text == "Some(\"/\")");
  CHECK(once("path::components", {"String"}, "Vec<String>", {"/a//b/./c"}).text ==
        "#[\"/\", \"a\", \"b\", \"c\"]");
  CHECK(once("path::matches", {"String", "String"}, "bool", {"*.[ch]pp", "main.cpp"}).text ==
        "true");
  CHECK(once("path::matches", {"String", "String"}, "bool", {"a*b*c", "aXXbYY"}).text == "false");
  CHECK(once("path::matches", {"String", "String"}, "bool", {"[!a]?", "b\u00e9"}).text == "true");
  CHECK(once("path::starts_with", {"String", "String"}, "bool", {"a/bc", "a/b"}).text == "false");
}

TEST_CASE("bytes as text") {
  Machine machine;
  const size_t hex = machine.native("encoding::hex::encode", {"Vec<u8>"}, "String");
  const size_t base64 = machine.native("encoding::base64::encode", {"Vec<u8>"}, "String");
  const size_t decode =
      machine.native("encoding::base64::decode", {"String"}, "Result<Vec<u8>, errors::Error>");
  CHECK(machine.call(hex, {machine.bytes("\x01\xff")}).text == "\"01ff\"");
  CHECK(machine.call(base64, {machine.bytes("ab")}).text == "\"YWI=\"");
  CHECK(machine.call(decode, {machine.text("YWI=")}).text == "Ok(#[97, 98])");
  CHECK(machine.call(decode, {machine.text("YWJ=")}).text.find("Err(") == 0);
}
