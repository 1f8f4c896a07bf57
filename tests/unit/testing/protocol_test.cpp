#include "compiler/testing/protocol.h"

#include <doctest/doctest.h>

namespace gos::testing {
namespace {

TestResult sample() {
  TestResult result;
  result.ending = Ending::Panicked;
  result.assertions = 7;
  result.failedChecks = 2;
  result.firstFailure = "first";
  result.message = std::string("a\0b\x1b[31m", 8);
  result.code = "GX0005";
  result.exitCode = -3;
  result.trace = {{"f", {3, 9}}, {"main", {20, 21}}};
  return result;
}

TEST_CASE("a record reads back as it was written") {
  const TestResult wanted = sample();
  const auto read = decode(encode(wanted));
  REQUIRE(read);
  CHECK(read->ending == wanted.ending);
  CHECK(read->assertions == 7);
  CHECK(read->failedChecks == 2);
  CHECK(read->firstFailure == "first");
  CHECK(read->message == wanted.message);
  CHECK(read->code == "GX0005");
  CHECK(read->exitCode == -3);
  REQUIRE(read->trace.size() == 2);
  CHECK(read->trace[1].function == "main");
  CHECK(read->trace[0].span == Span{3, 9});
}

TEST_CASE("anything but one whole record is none") {
  const std::string bytes = encode(sample());
  for (size_t size = 0; size != bytes.size(); ++size)
    CHECK_FALSE(decode(llvm::StringRef(bytes).take_front(size)));
  CHECK_FALSE(decode(bytes + "x"));
  CHECK_FALSE(decode(bytes + bytes));
  CHECK_FALSE(decode(std::string(kMaxRecordBytes + 1, 'x')));
}

TEST_CASE("a byte that is changed gives another record or none, and never a crash") {
  const std::string bytes = encode(sample());
  for (size_t at = 0; at != bytes.size(); ++at)
    for (char value : {char(0), char(0x7f), char(0xff), char(bytes[at] ^ 1)}) {
      std::string changed = bytes;
      changed[at] = value;
      if (const auto read = decode(changed))
        for (const Frame& frame : read->trace)
          CHECK(frame.span.begin <= frame.span.end);
    }
}

TEST_CASE("texts and traces are cut so that a record fits") {
  TestResult result = sample();
  result.message.assign(1 << 20, 'm');
  result.firstFailure.assign(1 << 20, 'f');
  result.trace.assign(1000, {std::string(1 << 16, 't'), {1, 2}});
  const std::string bytes = encode(result);
  CHECK(bytes.size() <= kMaxRecordBytes);
  const auto read = decode(bytes);
  REQUIRE(read);
  CHECK(read->message.size() == 64 << 10);
  CHECK(read->trace.size() == 64);
}

} // namespace
} // namespace gos::testing
