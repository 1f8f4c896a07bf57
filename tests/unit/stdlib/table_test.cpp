#include "stdlib/builtins.h"

#include <doctest/doctest.h>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

using namespace gos;
using namespace gos::stdlib;
using llvm::StringRef;

TEST_CASE("rows are sorted, unique, and found by path") {
  StringRef before;
  for (const BuiltinRow& row : builtinRows()) {
    CHECK_MESSAGE(before < row.path, row.path.str());
    before = row.path;
    CHECK(findBuiltin(row.path) == &row);
    CHECK(row.signature.starts_with("fn"));
    CHECK(!row.name.empty());
    CHECK(hasModule(row.module));
  }
  CHECK(findBuiltin("fs::no_such_thing") == nullptr);
}

TEST_CASE("every row has a body in the native table") {
  CHECK(nativeTable().natives().size() == builtinRows().size());
  for (const BuiltinRow& row : builtinRows()) {
    const vm::Native* native = nativeTable().find(row.path);
    REQUIRE_MESSAGE(native != nullptr, row.path.str());
    CHECK(bool(native->body != nullptr));
    CHECK(native->capability == row.capability);
    CHECK(native->signature == row.signature);
  }
}

TEST_CASE("every class has members") {
  std::set<Capability> used;
  for (const BuiltinRow& row : builtinRows())
    used.insert(row.capability);
  for (size_t i = 0; i < capabilityCount(); ++i)
    CHECK_MESSAGE(used.count(capabilityAt(i)) == 1, spelling(capabilityAt(i)).str());
}

TEST_CASE("paths are cut into module, type and name") {
  const BuiltinRow* file = findMethod("fs", "File", "read_to_string");
  REQUIRE(file != nullptr);
  CHECK(file->path == "fs::File::read_to_string");
  const BuiltinRow* trim = findMethod("String", "trim");
  REQUIRE(trim != nullptr);
  CHECK(trim->module == "core");
  CHECK(findFunction("encoding::json", "parse") != nullptr);
  CHECK(findFunction("fs", "read_to_string")->capability == Capability::Read);
  CHECK(findMethod("f64", "to_bits") != nullptr);
  CHECK(findMethod("Vec", "no_such_method") == nullptr);
}

TEST_CASE("classes are those of the documentation") {
  auto classOf = [](StringRef path) {
    const BuiltinRow* row = findBuiltin(path);
    REQUIRE_MESSAGE(row != nullptr, path.str());
    return row->capability;
  };
  for (StringRef path :
       {"fs::read", "fs::open", "fs::exists", "fs::metadata", "fs::canonicalize", "path::glob",
        "bufio::read_lines", "bufio::split_whitespace", "os::user::lookup", "os::user::group_ids"})
    CHECK(classOf(path) == Capability::Read);
  for (StringRef path :
       {"fs::write", "fs::create", "fs::copy", "fs::remove_dir_all", "fs::temp_dir",
        "fs::File::write", "fs::File::unlock", "intrinsics::fs_open_with"})
    CHECK(classOf(path) == Capability::Write);
  for (StringRef path : {"process::run", "process::exit", "process::id", "process::Child::kill",
                         "os::signal::on", "os::signal::Notifier::stop"})
    CHECK(classOf(path) == Capability::Exec);
  for (StringRef path : {"env::args", "env::current_dir", "env::home_dir", "os::user::name",
                         "thread::num_cpus", "runtime::root", "runtime::scheduler_stats_json"})
    CHECK(classOf(path) == Capability::Identity);
  for (StringRef path : {"env::var", "env::vars"})
    CHECK(classOf(path) == Capability::EnvRead);
  for (StringRef path : {"env::set_var", "env::set_current_dir"})
    CHECK(classOf(path) == Capability::EnvWrite);
  for (StringRef path : {"time::now", "time::monotonic_ms", "intrinsics::sleep_ms"})
    CHECK(classOf(path) == Capability::Clock);
  for (StringRef path : {"intrinsics::entropy", "crypto::rand::bytes"})
    CHECK(classOf(path) == Capability::Random);
  CHECK(classOf("intrinsics::print") == Capability::Output);
  CHECK(classOf("intrinsics::stdin_read_line") == Capability::Stdin);
  CHECK(classOf("fs::File::fd") == Capability::Foreign);
  CHECK(classOf("os::fd::wait_readable") == Capability::Foreign);
  CHECK(classOf("os::fd::wait_writable") == Capability::Foreign);
  CHECK(classOf("runtime::cohorts") == Capability::Pure);
  CHECK(classOf("time::format_rfc3339") == Capability::Pure);
}

TEST_CASE("modules have their sources") {
  for (StringRef module :
       {"core", "errors", "io", "fs", "strings", "iter", "math", "math::rand", "encoding::json"})
    CHECK_MESSAGE(!preludeSource(module).empty(), module.str());
  CHECK(preludeSource("env").empty());
  CHECK(hasModule("env"));
  CHECK_FALSE(hasModule("no::such"));
  CHECK(std::is_sorted(moduleNames().begin(), moduleNames().end()));
}

namespace {

/// The names of the `pub fn` in the impls of core whose head is one of `heads`.
std::set<std::string> methodsOf(std::initializer_list<StringRef> heads) {
  std::set<std::string> names;
  bool inside = false;
  llvm::SmallVector<StringRef, 0> lines;
  preludeSource("core").split(lines, '\n');
  for (StringRef line : lines) {
    if (line.starts_with("impl"))
      inside = std::any_of(heads.begin(), heads.end(),
                           [&](StringRef head) { return line.rtrim("{ ").ends_with(head); });
    StringRef rest = line.trim();
    if (inside && rest.consume_front("pub fn "))
      names.insert(rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str());
  }
  return names;
}

} // namespace

TEST_CASE("what an iterator can do, a range and a Vec can do") {
  const std::set<std::string> iterator = methodsOf({" Iterator<T>"});
  std::set<std::string> vec = methodsOf({" Vec<T>"});
  for (const BuiltinRow& row : rowsOfType("core", "Vec"))
    vec.insert(row.name.str());
  const std::set<std::string> range = methodsOf({"impl Range"});
  CHECK(iterator.size() > 40);
  for (const std::string& name : iterator) {
    if (name == "next") // what a cursor alone has
      continue;
    CHECK_MESSAGE(range.count(name) == 1, "a range has no `" << name << "`");
    CHECK_MESSAGE(vec.count(name) == 1, "a Vec has no `" << name << "`");
  }
}
