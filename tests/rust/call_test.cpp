// A library of every type of the interface, built by a real Cargo, read as data and called through
// its entry points with the bytes of the wire.

#include "compiler/bindings/signatures.h"
#include "tests/rust/cargo_scene.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

namespace gos::test {
namespace {

using bindings::ModuleSignature;
using bindings::Signatures;
using llvm::StringRef;

/// Values as the wire has them.
struct Wire {
  std::string bytes;
  Wire& u8(uint8_t value) {
    bytes += char(value);
    return *this;
  }
  Wire& u32(uint32_t value) {
    char raw[4];
    llvm::support::endian::write32le(raw, value);
    bytes.append(raw, 4);
    return *this;
  }
  Wire& u64(uint64_t value) {
    char raw[8];
    llvm::support::endian::write64le(raw, value);
    bytes.append(raw, 8);
    return *this;
  }
  Wire& i64(int64_t value) { return u64(uint64_t(value)); }
  Wire& f64(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return u64(bits);
  }
  Wire& text(StringRef value) {
    u64(value.size());
    bytes += value;
    return *this;
  }
};

struct Answer {
  uint32_t status = 99;
  std::string bytes;
  bool is(const Wire& wire) const { return status == 0 && bytes == wire.bytes; }
  uint64_t number() const {
    return bytes.size() == 8 ? llvm::support::endian::read64le(bytes.data()) : UINT64_MAX;
  }
};

class Library {
public:
  explicit Library(const std::string& path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    REQUIRE_MESSAGE(bool(buffer), path);
    auto read = bindings::readSignatures((*buffer)->getBuffer());
    if (!read)
      FAIL(llvm::toString(read.takeError()));
    signatures = std::move(*read);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(handle_ != nullptr, dlerror());
    CHECK(dlsym(handle_, "gossamer_binding_abi_1") != nullptr);
    free_ = reinterpret_cast<Free>(dlsym(handle_, "gossamer_binding_free_1"));
    release_ = reinterpret_cast<Release>(dlsym(handle_, "gossamer_binding_release_1"));
    REQUIRE(bool(free_ != nullptr && release_ != nullptr));
  }

  const bindings::FunctionSignature* find(StringRef module, StringRef name) const {
    for (const ModuleSignature& each : signatures.modules)
      if (each.path == module)
        for (const bindings::FunctionSignature& function : each.functions)
          if (function.name == name)
            return &function;
    return nullptr;
  }

  Answer call(StringRef module, StringRef name, const Wire& arguments = {}) const {
    const bindings::FunctionSignature* function = find(module, name);
    REQUIRE_MESSAGE(function != nullptr, name.str());
    const auto entry = reinterpret_cast<Entry>(dlsym(handle_, function->symbol.c_str()));
    REQUIRE_MESSAGE(bool(entry != nullptr), function->symbol);
    // The argument bytes end where their memory ends, so that a reader that goes too far is seen.
    std::vector<uint8_t> exact(arguments.bytes.begin(), arguments.bytes.end());
    Buffer out{};
    Answer answer;
    answer.status = entry(exact.empty() ? nullptr : exact.data(), exact.size(), &out);
    answer.bytes.assign(reinterpret_cast<const char*>(out.data), out.length);
    free_(&out);
    free_(&out); // a second time does nothing
    return answer;
  }
  Answer values(StringRef name, const Wire& arguments = {}) const {
    return call("sample", name, arguments);
  }
  Answer shapes(StringRef name, const Wire& arguments = {}) const {
    return call("sample::shapes", name, arguments);
  }
  void release(uint64_t handle) const { release_(handle); }

  Signatures signatures;

private:
  struct Buffer {
    uint8_t* data;
    size_t length, capacity;
  };
  using Entry = uint32_t (*)(const uint8_t*, size_t, Buffer*);
  using Free = void (*)(Buffer*);
  using Release = void (*)(uint64_t);
  void* handle_ = nullptr; // stays: its threads may have ends to run
  Free free_ = nullptr;
  Release release_ = nullptr;
};

std::string sampleFile(const char* name) {
  std::string text;
  REQUIRE(readFile(std::string(GOS_SOURCE_DIR "/tests/rust/sample/") + name, text));
  return text;
}

/// The library as `gos` builds it, made once; null without a Cargo.
const Library* library() {
  static const Library* made = []() -> const Library* {
    if (!haveCargo())
      return nullptr;
    const CargoScene scene("sample", sampleFile("Cargo.toml"), sampleFile("src/lib.rs"));
    const ChildResult result = scene.cargo({"build", "-q", "-p", "root", "--color=never"});
    REQUIRE_MESSAGE(result.exitedWith(0), result.err);
    return new Library(scene.library("debug")); // outlives every case
  }();
  return made;
}

const ModuleSignature& moduleOf(const Signatures& signatures, StringRef path) {
  for (const ModuleSignature& each : signatures.modules)
    if (each.path == path)
      return each;
  FAIL("no module " << path.str());
  return signatures.modules.front();
}

TEST_CASE("the signatures of a library are what its source says") {
  const Library* made = library();
  if (made == nullptr)
    return;
  const Signatures& signatures = made->signatures;
  REQUIRE(signatures.modules.size() == 3);
  const ModuleSignature& values = moduleOf(signatures, "sample");
  CHECK(values.crate == "sample");
  CHECK(values.documentation ==
        "Values as they are.\n\nA second paragraph, with a\ttab and a \\ in it.");
  CHECK(made->find("sample", "add")->documentation == "Adds.");
  CHECK(made->find("sample", "lengths")->parameters[0].type == "HashMap<String, Vec<i64>>");
  CHECK(made->find("sample", "deep")->parameters[0].type ==
        "Vec<Option<Result<(bool, Vec<String>), HashMap<i64, char>>>>");
  CHECK(made->find("sample", "length")->parameters[0].type == "String");
  CHECK(made->find("sample", "byte_sum")->parameters[0].type == "Vec<u8>");
  CHECK(made->find("sample", "alone")->result == "(i64,)");
  CHECK(made->find("sample", "nothing")->result == "()");
  CHECK(made->find("sample", "shout")->parameters[0].name == "text");
  CHECK(made->find("sample", "_unnamed")->parameters[1].name == "unused_2");
  for (StringRef hidden : {"never", "private", "within", "not_exported"})
    CHECK_MESSAGE(made->find("sample", hidden) == nullptr, hidden.str());
  const ModuleSignature& shapes = moduleOf(signatures, "sample::shapes");
  REQUIRE(shapes.structs.size() == 2);
  CHECK(shapes.structs[0].name == "Line");
  CHECK(shapes.structs[0].fields[2].type == "Option<String>");
  CHECK(shapes.structs[1].documentation == "A type of the crate that its modules share.");
  REQUIRE(shapes.opaques.size() == 2);
  CHECK(shapes.opaques[0].documentation == "Counts.");
  CHECK(made->find("sample::maps", "mirrored")->result == "Vec<Point>");
}

TEST_CASE("values of every type go in and come out") {
  const Library* made = library();
  if (made == nullptr)
    return;
  CHECK(made->values("nothing").is(Wire()));
  CHECK(made->values("not", Wire().u8(0)).is(Wire().u8(1)));
  CHECK(made->values("add", Wire().i64(-5).i64(3)).is(Wire().i64(-2)));
  CHECK(made->values("half", Wire().f64(1)).is(Wire().f64(0.5)));
  CHECK(made->values("next_char", Wire().u32('a')).is(Wire().u32('b')));
  CHECK(made->values("shout", Wire().text("gr\xc3\xbc\xc3\x9f"))
            .is(Wire().text("gr\xc3\xbc\xc3\x9f!")));
  CHECK(made->values("length", Wire().text("abc")).is(Wire().i64(3)));
  CHECK(made->values("reversed", Wire().text(StringRef("\0\1\xff", 3)))
            .is(Wire().text(StringRef("\xff\1\0", 3))));
  CHECK(made->values("byte_sum", Wire().text("\1\2\xff")).is(Wire().i64(258)));
  CHECK(made->values("sum", Wire().u64(2).i64(40).i64(2)).is(Wire().i64(42)));
  CHECK(made->values("mean", Wire().u64(0)).is(Wire().u8(0)));
  CHECK(made->values("mean", Wire().u64(2).f64(1).f64(2)).is(Wire().u8(1).f64(1.5)));
  CHECK(made->values("parse", Wire().text("-7")).is(Wire().u8(0).i64(-7)));
  CHECK(made->values("parse", Wire().text("x"))
            .is(Wire().u8(1).text("invalid digit found in string")));
  CHECK(made->values("swap", Wire().i64(1).text("one")).is(Wire().text("one").i64(1)));
  CHECK(made->values("alone", Wire().i64(1)).is(Wire().i64(1)));
  // A map is answered in the order of its keys' bytes, whatever its table says.
  CHECK(made->values("lengths", Wire().u64(2).text("b").u64(1).i64(0).text("a").u64(0))
            .is(Wire().u64(2).text("a").i64(0).text("b").i64(1)));
  CHECK(
      made->values(
              "deep",
              Wire().u64(3).u8(0).u8(1).u8(0).u8(1).u64(1).text("x").u8(1).u8(1).u64(1).i64(1).u32(
                  'c'))
          .is(Wire().i64(3)));
  CHECK(made->values("_unnamed", Wire().i64(1).i64(2).text("x")).is(Wire().text("x")));
  const Wire line = Wire().f64(0).f64(0).f64(3).f64(4).u8(0);
  CHECK(made->shapes("length", line).is(Wire().f64(5)));
  CHECK(made->shapes("start_of", line).is(Wire().f64(0).f64(0)));
  CHECK(made->shapes("named", Wire(line).text("l"))
            .is(Wire().f64(0).f64(0).f64(3).f64(4).u8(1).text("l")));
  CHECK(made->call("sample::maps", "mirrored", Wire().u64(1).f64(1).f64(2))
            .is(Wire().u64(1).f64(-1).f64(2)));
}

TEST_CASE("arguments that are not what the signature says are status 2 and nothing is called") {
  const Library* made = library();
  if (made == nullptr)
    return;
  const auto malformed = [&](StringRef name, const Wire& wire) {
    const Answer answer = made->values(name, wire);
    return answer.status == 2 && !answer.bytes.empty();
  };
  CHECK(malformed("add", Wire().i64(1)));
  CHECK(malformed("add", Wire().i64(1).i64(2).u8(0)));
  CHECK(malformed("nothing", Wire().u8(0)));
  CHECK(malformed("not", Wire().u8(2)));
  CHECK(malformed("next_char", Wire().u32(0xd800)));
  CHECK(malformed("shout", Wire().u64(1).u8(0xff)));
  CHECK(malformed("sum", Wire().u64(uint64_t(1) << 61)));
  CHECK(malformed("sum", Wire().u64(UINT64_MAX)));
  CHECK(malformed("reversed", Wire().u64(UINT64_MAX)));
  CHECK(malformed("lengths", Wire().u64(UINT64_MAX)));
  CHECK(malformed("lengths", Wire().u64(2).text("a").u64(0).text("a").u64(0)));
  CHECK(malformed("deep", Wire().u64(1).u8(7)));
}

TEST_CASE("a panic is an answer with its message and its place, and the library goes on") {
  const Library* made = library();
  if (made == nullptr)
    return;
  const Answer answer = made->values("fail", Wire().text("out of cheese"));
  CHECK(answer.status == 1);
  CHECK_MESSAGE(StringRef(answer.bytes).starts_with("out of cheese ("), answer.bytes);
  CHECK_MESSAGE(StringRef(answer.bytes).contains("src/lib.rs:"), answer.bytes);
  CHECK(made->values("add", Wire().i64(INT64_MAX).i64(1)).status ==
        1); // overflow, checked in this profile
  CHECK(made->values("fail_on_a_thread").is(Wire().text("caught")));
  CHECK(made->values("add", Wire().i64(1).i64(1)).is(Wire().i64(2)));
}

TEST_CASE("a panic inside of a call prints nothing") {
  const Library* made = library();
  if (made == nullptr)
    return;
  int streams[2];
  REQUIRE(::pipe(streams) == 0);
  const int before = ::dup(2);
  ::dup2(streams[1], 2);
  ::close(streams[1]);
  const Answer answer = made->values("fail", Wire().text("quiet"));
  ::dup2(before, 2);
  ::close(before);
  char byte;
  CHECK(::read(streams[0], &byte, 1) == 0);
  ::close(streams[0]);
  CHECK(answer.status == 1);
}

TEST_CASE("opaque values stay in Rust and are known by handles that are never used again") {
  const Library* made = library();
  if (made == nullptr)
    return;
  const int64_t endedBefore = int64_t(made->shapes("ended").number());
  const uint64_t one = made->shapes("counter", Wire().i64(5)).number();
  const uint64_t other = made->shapes("counter", Wire().i64(7)).number();
  CHECK(one != 0);
  CHECK(other != one);
  CHECK(made->shapes("next", Wire().u64(one)).is(Wire().i64(6)));
  CHECK(made->shapes("peek", Wire().u64(one)).is(Wire().i64(6)));
  CHECK(made->shapes("both", Wire().u64(one).u64(one)).is(Wire().i64(12)));
  CHECK(made->shapes("pour", Wire().u64(one).u64(other)).is(Wire()));
  CHECK(made->shapes("peek", Wire().u64(other)).is(Wire().i64(13)));
  // The same value twice, to be changed: refused, and usable afterwards.
  Answer answer = made->shapes("pour", Wire().u64(one).u64(one));
  CHECK(answer.status == 1);
  CHECK_MESSAGE(StringRef(answer.bytes).contains("twice"), answer.bytes);
  // A panic in the middle leaves it usable.
  CHECK(made->shapes("break_it", Wire().u64(one)).status == 1);
  CHECK(made->shapes("peek", Wire().u64(one)).is(Wire().i64(-1)));
  // A handle of another type, one that was never given, none, one that was released.
  const uint64_t tally = made->shapes("tally").number();
  answer = made->shapes("peek", Wire().u64(tally));
  CHECK(answer.status == 1);
  CHECK(answer.bytes == "a `Tally` was given where a `Counter` belongs");
  CHECK(made->shapes("count", Wire().u64(tally).i64(4)).is(Wire().i64(4)));
  CHECK(made->shapes("peek", Wire().u64(0)).status == 1);
  CHECK(made->shapes("peek", Wire().u64(UINT64_MAX)).status == 1);
  CHECK(made->shapes("peek", Wire().u32(1)).status == 2);
  made->release(one);
  made->release(one);
  made->release(0);
  answer = made->shapes("peek", Wire().u64(one));
  CHECK(answer.status == 1);
  CHECK(answer.bytes == "the `Counter` that was given is not there any more");
  CHECK(int64_t(made->shapes("ended").number()) == endedBefore + 1);
  made->release(other);
  CHECK(int64_t(made->shapes("ended").number()) == endedBefore + 2);
  // One within an answer.
  answer = made->shapes("checked_counter", Wire().i64(1));
  REQUIRE(answer.bytes.size() == 9);
  CHECK(answer.bytes[0] == 0);
  const uint64_t inside = llvm::support::endian::read64le(answer.bytes.data() + 1);
  CHECK(inside > tally);
  CHECK(made->shapes("next", Wire().u64(inside)).is(Wire().i64(2)));
  CHECK(made->shapes("checked_counter", Wire().i64(-1)).is(Wire().u8(1).text("below zero")));
  made->release(inside);
  made->release(tally);
}

TEST_CASE("one value used from many threads is changed by one call at a time") {
  const Library* made = library();
  if (made == nullptr)
    return;
  const uint64_t one = made->shapes("counter", Wire().i64(0)).number();
  const uint64_t other = made->shapes("counter", Wire().i64(0)).number();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        wrong += made->shapes("next", Wire().u64(one)).status != 0;
        // Two values in both orders: nobody waits forever.
        wrong += made->shapes("pour",
                              i % 2 == 0 ? Wire().u64(one).u64(other) : Wire().u64(other).u64(one))
                     .status != 0;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(made->shapes("both", Wire().u64(one).u64(other)).is(Wire().i64(800)));
  made->release(one);
  made->release(other);
}

TEST_CASE("signatures survive optimisation of the whole program and stripping, in the newest "
          "edition too") {
  const Library* made = library();
  if (made == nullptr)
    return;
  // In between stands `extern crate sample as _;` alone, so nothing calls what the linker keeps.
  std::string manifest = sampleFile("Cargo.toml");
  const ChildResult version = runChild({{"cargo", "--version"}});
  unsigned minor = 0;
  (void)StringRef(version.out).split("1.").second.split('.').first.getAsInteger(10, minor);
  if (minor >= 85)
    manifest.replace(manifest.find("2021"), 4, "2024");
  const CargoScene scene("sample", manifest, sampleFile("src/lib.rs"));
  const ChildResult result =
      scene.cargo({"build", "-q", "-p", "root", "--release", "--color=never", "--config",
                   "profile.release.lto=\"fat\"", "--config", "profile.release.strip=true",
                   "--config", "profile.release.codegen-units=1"});
  REQUIRE_MESSAGE(result.exitedWith(0), result.err);
  const Library optimised(scene.library("release"));
  REQUIRE(optimised.signatures.modules.size() == made->signatures.modules.size());
  for (size_t i = 0; i < made->signatures.modules.size(); ++i) {
    const ModuleSignature& one = made->signatures.modules[i];
    const ModuleSignature& other = optimised.signatures.modules[i];
    CHECK(one.path == other.path);
    CHECK(one.structs.size() == other.structs.size());
    CHECK(one.opaques.size() == other.opaques.size());
    REQUIRE(one.functions.size() == other.functions.size());
    for (size_t f = 0; f < one.functions.size(); ++f)
      CHECK(one.functions[f].symbol == other.functions[f].symbol); // the same in every build
  }
  CHECK(optimised.values("add", Wire().i64(2).i64(2)).is(Wire().i64(4)));
  CHECK(optimised.values("fail", Wire().text("x")).status == 1);
}

} // namespace
} // namespace gos::test
