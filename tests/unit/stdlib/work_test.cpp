// What a body's work and memory cost: about a step for a nanosecond, and every buffer counted
// before it is there.

#include "tests/unit/stdlib/machine.h"

#include "vm/text.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace gos;
using namespace gos::stdlib;
using namespace gos::stdlib::test;

namespace {

constexpr size_t kBytes = 400'000;

vm::VmOptions withHeap(uint64_t bytes) {
  vm::VmOptions options = Machine::program();
  options.heapBytes = bytes;
  return options;
}

/// The steps of one call whose first argument is `text`; further arguments are text.
uint64_t stepsOf(llvm::StringRef path, std::vector<std::string> parameters, llvm::StringRef result,
                 std::string text, std::vector<std::string> others = {}) {
  Machine machine;
  const size_t native = machine.native(path, std::move(parameters), result);
  machine.start();
  std::vector<vm::Value> arguments{machine.text(text)};
  for (const std::string& other : others)
    arguments.push_back(machine.text(other));
  const uint64_t before = machine.vm().stepsUsed();
  CHECK(machine.call(native, arguments).trap == vm::TrapKind::None);
  return machine.vm().stepsUsed() - before;
}

/// Standard output is another descriptor for as long as this lives.
class OutputTo {
public:
  explicit OutputTo(int fd) : saved_(::dup(STDOUT_FILENO)) { ::dup2(fd, STDOUT_FILENO); }
  ~OutputTo() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

private:
  int saved_;
};

} // namespace

TEST_CASE("work on a text costs steps in proportion to the text") {
  const std::string ascii(kBytes, 'a');
  std::string letters;
  while (letters.size() < kBytes)
    letters += "\u00e9";
  const std::string blanks(kBytes, ' ');
  const std::string document = "[" + std::string(kBytes, ' ') + "]";
  CHECK(stepsOf("String::len", {"String"}, "i64", letters) >= kBytes / 2);
  CHECK(stepsOf("String::trim", {"String"}, "String", blanks) >= kBytes);
  CHECK(stepsOf("String::to_uppercase", {"String"}, "String", letters) >= kBytes * 4);
  CHECK(stepsOf("String::reverse", {"String"}, "String", ascii) >= kBytes);
  CHECK(stepsOf("String::count", {"String", "String"}, "i64", ascii, {"a"}) >= kBytes * 8);
  CHECK(stepsOf("String::contains", {"String", "String"}, "bool", ascii, {"b"}) >= kBytes / 4);
  CHECK(stepsOf("String::contains", {"String", "String"}, "bool", ascii, {std::string(200, 'b')}) >=
        kBytes * 4);
  CHECK(stepsOf("String::split_once", {"String", "String"}, "Option<(String, String)>", ascii,
                {"b"}) >= kBytes / 4);
  CHECK(stepsOf("String::replace", {"String", "String", "String"}, "String", ascii, {"a", "bc"}) >=
        kBytes * 8);
  CHECK(stepsOf("encoding::json::valid", {"String"}, "bool", document) >= kBytes * 2);
  CHECK(stepsOf("String::to_i64", {"String"}, "Option<i64>", std::string(kBytes, '1')) >= kBytes);
  // What looks at nothing stays cheap.
  CHECK(stepsOf("String::byte_len", {"String"}, "i64", letters) < 200);
}

TEST_CASE("a place in a text is found from either side, and the way is paid") {
  Machine machine;
  machine.native("String::byte_len", {"String"}, "i64");
  machine.start();
  std::string letters;
  for (size_t i = 0; i < 20'000; ++i)
    letters += i % 3 == 0 ? "a" : i % 3 == 1 ? "\u00e9" : "\u20ac";
  vm::Heap& heap = machine.vm().heap();
  vm::StringObject* text = heap.newString(letters);
  std::vector<uint64_t> offsets;
  for (uint64_t at = 0; at < 20'000; ++at)
    offsets.push_back(heap.byteOffset(text, at));
  const uint64_t before = machine.vm().stepsUsed();
  for (uint64_t at = 20'000; at-- > 0;)
    if (heap.byteOffset(text, at) != offsets[at])
      FAIL("scalar ", at, " is at ", offsets[at]);
  CHECK(machine.vm().stepsUsed() - before < 100'000); // one each, not the square
  const uint64_t far = machine.vm().stepsUsed();
  heap.byteOffset(text, 10'000);
  CHECK(machine.vm().stepsUsed() - far >= 9'000);
  heap.release(text);
}

TEST_CASE("a buffer beside the heap counts while it is there") {
  const std::string six(6'000'000, 'a');
  const auto outcome = [&](llvm::StringRef path, std::vector<std::string> parameters,
                           llvm::StringRef result, std::vector<std::string> others) {
    Machine machine(withHeap(16'000'000));
    const size_t native = machine.native(path, std::move(parameters), result);
    machine.start();
    std::vector<vm::Value> arguments{machine.text(six)};
    for (const std::string& other : others)
      arguments.push_back(machine.text(other));
    const test::Outcome answer = machine.call(native, arguments);
    CHECK(machine.vm().heap().used() < 1'000'000); // all of it went back
    return answer.trap;
  };
  // The text, the buffer and what is made of it: three times six.
  CHECK(outcome("String::reverse", {"String"}, "String", {}) == vm::TrapKind::Budget);
  CHECK(outcome("String::to_uppercase", {"String"}, "String", {}) == vm::TrapKind::Budget);
  // Made in place: the text, and what comes out.
  CHECK(outcome("String::byte_len", {"String"}, "i64", {}) == vm::TrapKind::None);
  CHECK(outcome("String::replace", {"String", "String", "String"}, "String", {"b", "c"}) ==
        vm::TrapKind::None);
  CHECK(outcome("String::replace", {"String", "String", "String"}, "String", {"a", "bbb"}) ==
        vm::TrapKind::Budget);
}

TEST_CASE("a buffer of text in a heap is counted byte by byte") {
  Machine machine(withHeap(1'000'000));
  machine.native("String::byte_len", {"String"}, "i64");
  machine.start();
  vm::Heap& heap = machine.vm().heap();
  const uint64_t before = heap.used();
  {
    vm::TextBuffer out(heap);
    CHECK(out.appendRepeated("ab", 300'000));
    CHECK(heap.used() - before >= 600'000);
    CHECK_FALSE(out.appendRepeated("ab", 300'000));
    CHECK(out.overflowed());
    CHECK(out.finish({}) == nullptr);
  }
  CHECK(heap.used() == before);
}

TEST_CASE("output that cannot be written is told once") {
  const int full = ::open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  Machine machine;
  const size_t print = machine.native("intrinsics::print", {"String"}, "()");
  machine.start();
  test::Outcome large, after;
  vm::Trap atEnd;
  {
    OutputTo nowhere(full);
    large = machine.call(print, {machine.text(std::string(100'000, 'x'))});
    after = machine.call(print, {machine.text("more")});
    atEnd = finishOutput(machine.vm());
  }
  CHECK(large.trap == vm::TrapKind::Panic);
  CHECK(large.message == "standard output: No space left on device");
  CHECK(after.trap == vm::TrapKind::None);
  CHECK_FALSE(bool(atEnd));

  Machine small;
  const size_t printSmall = small.native("intrinsics::print", {"String"}, "()");
  small.start();
  {
    OutputTo nowhere(full);
    CHECK(small.call(printSmall, {small.text("little")}).trap == vm::TrapKind::None);
    atEnd = runExitHooks(small.vm());
  }
  ::close(full);
  REQUIRE(bool(atEnd));
  CHECK(atEnd->message == "standard output: No space left on device");
}

TEST_CASE("a reader that went away ends the program quietly") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  Machine machine;
  const size_t print = machine.native("intrinsics::print", {"String"}, "()");
  machine.start();
  auto* before = ::signal(SIGPIPE, SIG_IGN);
  vm::Trap atEnd;
  {
    OutputTo nowhere(ends[1]);
    CHECK(machine.call(print, {machine.text("little")}).trap == vm::TrapKind::None);
    atEnd = finishOutput(machine.vm());
  }
  ::signal(SIGPIPE, before);
  ::close(ends[1]);
  REQUIRE(bool(atEnd));
  CHECK(atEnd->kind == vm::TrapKind::Exit);
  CHECK(atEnd->exitCode == 128 + SIGPIPE);
}
