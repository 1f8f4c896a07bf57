#include "compiler/bindings/reproducible.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace gos::bindings {

namespace {

/// A program of three packages in a directory, and what its script makes of a compiler's arguments.
class Program {
public:
  explicit Program(const std::string& top) {
    char pattern[] = "/tmp/gossamer-script-XXXXXX";
    REQUIRE(::mkdtemp(pattern) != nullptr);
    home_ = pattern;
    std::filesystem::create_directories(home_ + "/cache");
    for (const char* directory : {"/app", "/one/dep", "/two/dep"}) {
      Package& package = project_.packages.emplace_back();
      package.directory = top + directory;
      facts_.programDirectories.push_back(package.directory);
    }
    facts_.project = &project_;
    facts_.toolchain.rustc = "/bin/echo";
    llvm::Expected<Cache> cache =
        Cache::open({"XDG_CACHE_HOME=" + home_ + "/cache"}, top + "/app", {});
    REQUIRE(bool(cache));
    std::ofstream(home_ + "/script") << compilerScript(facts_, *cache);
    flags_ = remappingFlags(facts_, *cache);
  }
  ~Program() {
    std::error_code ignored;
    std::filesystem::remove_all(home_, ignored);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What the compiler is given, on one line; `environment` and `words` as a shell reads them.
  std::string run(const std::string& environment, const std::string& words) const {
    FILE* stream =
        ::popen(("env " + environment + " sh '" + home_ + "/script' " + words).c_str(), "r");
    REQUIRE(stream != nullptr);
    std::string text;
    char buffer[4096];
    while (const size_t got = std::fread(buffer, 1, sizeof buffer, stream))
      text.append(buffer, got);
    CHECK(::pclose(stream) == 0);
    return text;
  }
  const std::string& flags() const { return flags_; }

private:
  std::string home_, flags_;
  Project project_;
  BuildFacts facts_;
};

std::string crate(const std::string& directory) {
  return "CARGO_MANIFEST_DIR='" + directory + "' CARGO_PKG_NAME=stats CARGO_PKG_VERSION=0.1.0";
}

} // namespace

TEST_CASE("what the compiler is told of a package does not say where the program lies") {
  const std::string words = "--crate-name stats '/%/src/lib.rs' -C metadata=0123 "
                            "-C extra-filename=-0123 --cfg 'feature=\"a b\"'";
  const Program one("/srv/one"), two("/home/u/it's here/$(false)");
  const std::string here = one.run(crate("/srv/one/app/rust/stats"), words);
  CHECK(here == two.run("CARGO_MANIFEST_DIR=\"/home/u/it's here/\\$(false)/app/rust/stats\" "
                        "CARGO_PKG_NAME=stats CARGO_PKG_VERSION=0.1.0",
                        words));
  CHECK(here ==
        "--crate-name stats /%/src/lib.rs -C metadata=/rust/stats stats 0.1.0 --crate-name "
        "stats -C -C --cfg feature=\"a b\" -C extra-filename=-0123 --cfg feature=\"a b\"\n");
  // Cargo's name of a file stays, since Cargo looks for that file.
  CHECK(here.find("0123") == here.rfind("0123"));
}

TEST_CASE("packages of one name in directories of one name stay apart, and others are left alone") {
  const Program program("/srv/one");
  const std::string words = "-C metadata=0123";
  const std::string first = program.run(crate("/srv/one/one/dep/stats"), words);
  const std::string second = program.run(crate("/srv/one/two/dep/stats"), words);
  CHECK(first == "-C metadata=dep/stats stats 0.1.0 -C\n");
  CHECK(second == "-C metadata=dep-2/stats stats 0.1.0 -C\n");
  CHECK(llvm::StringRef(program.flags()).contains("=/srv/one/two/dep=dep-2\""));
  CHECK(program.run(crate("/srv/one/apple"), words) == "-C metadata=0123\n");
  CHECK(program.run("-u CARGO_MANIFEST_DIR", "-vV") == "-vV\n");
  CHECK(program.run(crate("/srv/one/app"), "-vV") == "-vV\n");
}

} // namespace gos::bindings
