// Where proofs are remembered: what is trusted of it, and what is not.

#include "sandbox/linux/proof_store.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace gos;
using namespace gos::sandbox;

namespace {

class Cache {
public:
  Cache() {
    char name[] = "/tmp/gos-proof-XXXXXX";
    path_ = std::filesystem::canonical(::mkdtemp(name)).string();
  }
  Cache(const Cache&) = delete;
  ~Cache() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/bwr/proof"; }
  std::string text() const {
    std::ifstream in(file());
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  bool trusts(SandboxLevel level = SandboxLevel::Strict, const char* key = "k") const {
    return storedProofIn(path_, key, level).has_value();
  }
  bool store(SandboxLevel level = SandboxLevel::Strict, const char* key = "k") const {
    return storeProofIn(path_, key, level, {});
  }

private:
  std::string path_;
};

mode_t modeOf(const std::string& path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

} // namespace

TEST_CASE("a stored proof counts for its key and its level, and no other") {
  Cache cache;
  CHECK_FALSE(cache.trusts());
  REQUIRE(cache.store());
  CHECK(cache.trusts());
  CHECK_FALSE(cache.trusts(SandboxLevel::Standard));
  CHECK_FALSE(cache.trusts(SandboxLevel::Strict, "other"));
  CHECK_FALSE(cache.trusts(SandboxLevel::Strict, "k2"));
  CHECK_FALSE(storedProofIn(cache.path(), "", SandboxLevel::Strict).has_value());
  CHECK(modeOf(cache.file()) == 0600);
  CHECK(modeOf(cache.path() + "/bwr") == 0700);
  REQUIRE(cache.store(SandboxLevel::Standard));
  REQUIRE(cache.store(SandboxLevel::Strict, "k2"));
  CHECK(cache.trusts());
  CHECK(cache.trusts(SandboxLevel::Standard));
  CHECK(cache.trusts(SandboxLevel::Strict, "k2"));
}

TEST_CASE("a proof without a pid namespace is one of standard alone") {
  Cache cache;
  REQUIRE(storeProofIn(cache.path(), "k", SandboxLevel::Standard, {false}));
  const auto stored = storedProofIn(cache.path(), "k", SandboxLevel::Standard);
  REQUIRE(stored.has_value());
  CHECK_FALSE(stored->pidNamespace);
  REQUIRE(storeProofIn(cache.path(), "k", SandboxLevel::Strict, {false}));
  CHECK_FALSE(cache.trusts());
}

TEST_CASE("a proof that others could have written is not trusted") {
  Cache cache;
  REQUIRE(cache.store());
  for (mode_t mode : {0620, 0602, 0660, 0666}) {
    REQUIRE(::chmod(cache.file().c_str(), mode) == 0);
    CHECK_FALSE(cache.trusts());
  }
  REQUIRE(::chmod(cache.file().c_str(), 0600) == 0);
  CHECK(cache.trusts());
  for (mode_t mode : {0770, 0707, 0777}) {
    REQUIRE(::chmod((cache.path() + "/bwr").c_str(), mode) == 0);
    CHECK_FALSE(cache.trusts());
    CHECK_FALSE(cache.store());
  }
  REQUIRE(::chmod((cache.path() + "/bwr").c_str(), 0700) == 0);
  CHECK(cache.trusts());
  if (::geteuid() == 0) {
    REQUIRE(::chown(cache.file().c_str(), 65534, 65534) == 0);
    CHECK_FALSE(cache.trusts());
    REQUIRE(::chown(cache.file().c_str(), 0, 0) == 0);
    REQUIRE(::chown((cache.path() + "/bwr").c_str(), 65534, 65534) == 0);
    CHECK_FALSE(cache.trusts());
    REQUIRE(::chown((cache.path() + "/bwr").c_str(), 0, 0) == 0);
    REQUIRE(::chown(cache.path().c_str(), 65534, 65534) == 0);
    CHECK_FALSE(cache.trusts());
    CHECK_FALSE(cache.store());
  }
}

TEST_CASE("a proof that a link leads to is not trusted, and nothing is written through one") {
  Cache cache, other;
  REQUIRE(other.store());
  // The directory is a link.
  REQUIRE(::symlink((other.path() + "/bwr").c_str(), (cache.path() + "/bwr").c_str()) == 0);
  CHECK_FALSE(cache.trusts());
  CHECK_FALSE(cache.store(SandboxLevel::Standard));
  CHECK_FALSE(other.trusts(SandboxLevel::Standard));
  REQUIRE(::unlink((cache.path() + "/bwr").c_str()) == 0);
  // The file is a link.
  REQUIRE(::mkdir((cache.path() + "/bwr").c_str(), 0700) == 0);
  REQUIRE(::symlink(other.file().c_str(), cache.file().c_str()) == 0);
  CHECK_FALSE(cache.trusts());
  REQUIRE(::unlink(cache.file().c_str()) == 0);
  // The file has a second name.
  REQUIRE(::link(other.file().c_str(), cache.file().c_str()) == 0);
  CHECK_FALSE(cache.trusts());
  CHECK_FALSE(other.trusts());
  REQUIRE(::unlink(cache.file().c_str()) == 0);
  CHECK(other.trusts());
  // It is no file at all.
  REQUIRE(::mkfifo(cache.file().c_str(), 0600) == 0);
  CHECK_FALSE(cache.trusts());
}

TEST_CASE("a proof that is cut, or says something else, is not trusted") {
  Cache cache;
  REQUIRE(cache.store());
  const std::string good = cache.text();
  for (size_t size = 0; size != good.size(); ++size) {
    cache.write(good.substr(0, size));
    CHECK_FALSE(cache.trusts());
  }
  for (const char* bad :
       {"bwr proof 1\nk strict\n", "bwr proof 1\nk strict pid \n", "bwr proof 2\nk strict pid\n",
        "bwr proof 1\n k strict pid\n", "bwr proof 1\nk strictpid\n", "k strict pid\n"}) {
    cache.write(bad);
    CHECK_FALSE(cache.trusts());
  }
  cache.write(good);
  CHECK(cache.trusts());
}

TEST_CASE("the file of proofs does not grow without end") {
  Cache cache;
  for (int program = 0; program != 200; ++program)
    REQUIRE(cache.store(SandboxLevel::Strict, ("key" + std::to_string(program)).c_str()));
  CHECK(cache.text().size() <= 8192);
  CHECK(cache.trusts(SandboxLevel::Strict, "key199"));
  CHECK_FALSE(cache.trusts(SandboxLevel::Strict, "key0"));
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(cache.path() + "/bwr"))
    ++entries;
  CHECK(entries == 1);
}

TEST_CASE("the key of a proof is the same for the same program") {
  CHECK(proofKey().size() == 64);
  CHECK(proofKey() == proofKey());
}
