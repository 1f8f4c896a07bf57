// The library as it is installed: what is in the prefix, what the shared library shows and needs,
// and programs built against it the three ways that there are.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace gos::library {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text; // both streams
};

Outcome shell(const std::string& script) {
  Outcome outcome;
  FILE* pipe = ::popen(("{ " + script + "\n} 2>&1 </dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
    outcome.text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A prefix with the library in it, and room for programs; removed at the end.
struct Installed {
  fs::path top, prefix, library;
  Installed() {
    std::string pattern = "/var/tmp/gosinst-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    top = pattern;
    prefix = top / "prefix";
    const Outcome outcome = shell(std::string("'") + GOS_CMAKE + "' --install '" + GOS_BINARY_DIR +
                                  "' --component sandbox --prefix '" + prefix.string() + "'");
    REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
    for (const auto& entry : fs::recursive_directory_iterator(prefix))
      if (entry.path().filename() == "libgossamer_sandbox.so")
        library = entry.path();
    REQUIRE(!library.empty());
    // The programs run in a project of their own.
    fs::create_directories(top / "room/p");
  }
  ~Installed() {
    std::error_code ignored;
    fs::remove_all(top, ignored);
  }
  Outcome run(const fs::path& program, const std::string& arguments = "") const {
    return shell("cd '" + (top / "room/p").string() + "' && LD_LIBRARY_PATH='" +
                 library.parent_path().string() + "' '" + program.string() + "' " + arguments);
  }
};
const Installed& installed() {
  static const Installed made;
  return made;
}
const std::string kExample = GOS_SOURCE_DIR "/examples/sandbox_c";
const std::string kHere = GOS_SOURCE_DIR "/tests/library";

/// A sanitizer's runtime would have to come first in every program.
bool isSanitized() {
  if (std::string(GOS_LIBRARY_SANITIZED).empty() || std::string(GOS_LIBRARY_SANITIZED) == "OFF")
    return false;
  std::cout << "SKIP library: the library of this build needs the sanitizers' runtime\n";
  return true;
}

/// The example runs a command that may read here and not write.
void checkExample(const fs::path& program) {
  Outcome outcome = installed().run(program, "sh -c 'echo hello; echo x > made'");
  CHECK_MESSAGE(contains(outcome.text, "hello\n"), outcome.text);
  if (contains(outcome.text, "level"))
    FAIL("this host gives no level with a file-system policy: " << outcome.text);
  CHECK(outcome.code != 0);
  CHECK_FALSE(fs::exists(installed().top / "room/p/made"));
  outcome = installed().run(program, "/no/such/program");
  CHECK(outcome.code == 127);
  outcome = installed().run(program);
  CHECK(outcome.code == 2);
}

} // namespace

TEST_CASE(
    "library: what is installed is the library, two headers, and files for CMake and pkg-config") {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(installed().prefix))
    if (!entry.is_directory())
      names.insert(entry.path().filename().string());
  for (const char* name :
       {"libgossamer_sandbox.so", "libgossamer_sandbox.so.0", "gossamer_sandbox.h",
        "gossamer_sandbox.hpp", "gossamer_sandbox.pc", "gossamer_sandbox-config.cmake",
        "gossamer_sandbox-config-version.cmake", "gossamer_sandbox_targets.cmake"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  // The library itself, and the targets file of the one configuration.
  CHECK_MESSAGE(names.size() == 10, names.size());
  // No path of the machine that built it.
  CHECK(shell("grep -rlF '" GOS_BINARY_DIR "' '" + installed().prefix.string() +
              "' --include=*.cmake --include=*.pc --include=*.h*")
            .text.empty());
}

TEST_CASE("library: it exports its interface and nothing else, and needs the C library alone") {
  const Outcome symbols = shell("nm -D --defined-only '" + installed().library.string() + "'");
  REQUIRE_MESSAGE(symbols.code == 0, symbols.text);
  std::istringstream lines(symbols.text);
  std::set<std::string> exported;
  for (std::string value, kind, symbol; lines >> value >> kind >> symbol;) {
    if (kind == "A") // the name of the version
      continue;
    CHECK_MESSAGE(symbol.rfind("gsb_", 0) == 0, symbol);
    exported.insert(symbol.substr(0, symbol.find('@')));
  }
  // Each function of the header is there.
  const Outcome declared =
      shell("grep -v '^ \\*' '" + (installed().prefix / "include/gossamer_sandbox.h").string() +
            "' | grep GSB_API | grep -o 'gsb_[a-z_]*(' | tr -d '('");
  std::istringstream names(declared.text);
  size_t count = 0;
  for (std::string name; names >> name; ++count)
    CHECK_MESSAGE(exported.count(name) == 1, name);
  CHECK(count == exported.size());
  CHECK(count > 25);
  if (isSanitized())
    return;
  const Outcome needed =
      shell("readelf -d '" + installed().library.string() + "' | grep NEEDED | grep -o '\\[.*\\]'");
  REQUIRE(needed.code == 0);
  std::istringstream libraries(needed.text);
  for (std::string name; libraries >> name;) {
    const bool known =
        name == "[libc.so.6]" || name == "[libm.so.6]" || name.rfind("[ld-linux", 0) == 0;
    CHECK_MESSAGE(known, name);
  }
}

TEST_CASE("library: the headers are C99 and C++17 by themselves, without a warning") {
  const std::string include = " -I'" + (installed().prefix / "include").string() + "' ";
  Outcome outcome = shell("echo '#include <gossamer_sandbox.h>' | cc -std=c99 -pedantic -Wall "
                          "-Wextra -Werror -fsyntax-only -x c" +
                          include + "-");
  CHECK_MESSAGE(outcome.code == 0, outcome.text);
  outcome = shell("echo '#include <gossamer_sandbox.hpp>' | c++ -std=c++17 -pedantic -Wall -Wextra "
                  "-Werror -fsyntax-only -x c++" +
                  include + "-");
  CHECK_MESSAGE(outcome.code == 0, outcome.text);
}

TEST_CASE("library: the example builds with find_package and runs") {
  if (isSanitized())
    return;
  const fs::path build = installed().top / "cmake";
  const Outcome outcome =
      shell(std::string("'") + GOS_CMAKE + "' -S '" + kExample + "' -B '" + build.string() +
            "' -DCMAKE_PREFIX_PATH='" + installed().prefix.string() + "' && '" + GOS_CMAKE +
            "' --build '" + build.string() + "'");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
  checkExample(build / "sandbox_c");
}

TEST_CASE(
    "library: the example builds with pkg-config and runs, also from a prefix that was moved") {
  if (isSanitized())
    return;
  if (shell("pkg-config --version").code != 0) {
    std::cout << "SKIP library, pkg-config: it is not installed\n";
    return;
  }
  const fs::path program = installed().top / "with_pkg_config";
  const std::string build = "cc -Wall -Wextra -Werror '" + kExample +
                            "/main.c' $(pkg-config --cflags --libs gossamer_sandbox) -o '" +
                            program.string() + "'";
  const auto path = [](const fs::path& library) {
    return "export PKG_CONFIG_PATH='" + (library.parent_path() / "pkgconfig").string() + "'; ";
  };
  Outcome outcome = shell(path(installed().library) + build);
  REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
  checkExample(program);
  const fs::path moved = installed().top / "moved";
  fs::copy(installed().prefix, moved,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove(program);
  outcome = shell(path(moved / fs::relative(installed().library, installed().prefix)) + build);
  CHECK_MESSAGE(outcome.code == 0, outcome.text);
}

TEST_CASE("library: the example builds with nothing but cc, and runs are started, signalled, "
          "watched and freed from C") {
  if (isSanitized())
    return;
  const std::string flags = " -I'" + (installed().prefix / "include").string() + "' -L'" +
                            installed().library.parent_path().string() + "' -lgossamer_sandbox";
  const fs::path example = installed().top / "plain", client = installed().top / "client_c";
  Outcome outcome =
      shell("cc '" + kExample + "/main.c'" + flags + " -o '" + example.string() + "'");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
  checkExample(example);
  outcome = shell("cc -Wall -Wextra -Werror '" + kHere + "/client.c'" + flags + " -o '" +
                  client.string() + "'");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
  outcome = installed().run(client);
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(outcome.text == "done\n", outcome.text);
}

TEST_CASE(
    "B048 T133 unknown words are problems, and runs of threads that end or of many at once go on") {
  if (isSanitized())
    return;
  const fs::path client = installed().top / "client_cpp";
  Outcome outcome = shell("c++ -std=c++17 -Wall -Wextra -Werror '" + kHere + "/client.cpp' -I'" +
                          (installed().prefix / "include").string() + "' -L'" +
                          installed().library.parent_path().string() +
                          "' -lgossamer_sandbox -pthread -o '" + client.string() + "'");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.text);
  outcome = installed().run(client);
  std::cout << outcome.text;
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(contains(outcome.text, "unknown words are problems\n"), outcome.text);
  CHECK_MESSAGE(contains(outcome.text, "sixteen threads\ndone\n"), outcome.text);
  CHECK_MESSAGE(contains(outcome.text, "outlives its thread at basic\n"), outcome.text);
  for (const char* level : {"standard", "strict"})
    if (contains(outcome.text, std::string("runs at ") + level + "\n"))
      CHECK_MESSAGE(contains(outcome.text, std::string("outlives its thread at ") + level + "\n"),
                    outcome.text);
    else
      std::cout << "SKIP library, " << level << ": this host does not give it\n";
}

} // namespace gos::library
