#include "stdlib/program/payload.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace gos::program;

namespace {

const Payload kSample = {"the module", "the places", "sample", "a library"};

std::string sample(const std::string& runtime = "runtime bytes") {
  return runtime + sealPayload(kSample);
}

bool refused(llvm::StringRef file) {
  llvm::Expected<Payload> payload = parsePayload(file);
  if (payload)
    return false;
  llvm::consumeError(payload.takeError());
  return true;
}

std::string why(llvm::StringRef file) {
  llvm::Expected<Payload> payload = parsePayload(file);
  return payload ? "" : llvm::toString(payload.takeError());
}

/// A file in memory with these bytes.
int fileOf(llvm::StringRef bytes) {
  const int fd = ::memfd_create("payload", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  return fd;
}

} // namespace

TEST_CASE("a payload is read back as it was sealed, whatever stands before it") {
  for (const char* runtime : {"", "x", "runtime bytes"}) {
    const std::string file = sample(runtime);
    llvm::Expected<Payload> payload = parsePayload(file);
    REQUIRE(bool(payload));
    CHECK(payload->module == kSample.module);
    CHECK(payload->lines == kSample.lines);
    CHECK(payload->name == kSample.name);
    CHECK(payload->library == kSample.library);
  }
}

TEST_CASE("every changed byte of a payload or its trailer is noticed") {
  const std::string file = sample("run");
  REQUIRE_FALSE(refused(file));
  for (size_t at = 3; at != file.size(); ++at)
    for (unsigned bit = 0; bit != 8; ++bit) {
      std::string changed = file;
      changed[at] = char(changed[at] ^ (1 << bit));
      CAPTURE(at);
      CHECK(refused(changed));
    }
}

TEST_CASE("every way to cut a file off is noticed") {
  const std::string file = sample();
  for (size_t size = 0; size != file.size(); ++size) {
    CAPTURE(size);
    CHECK(refused(llvm::StringRef(file).take_front(size)));
  }
  CHECK(refused(file + "x"));
  // A front that is missing is the runtime's, until it reaches the sections.
  CHECK_FALSE(refused(llvm::StringRef(file).drop_front(13)));
  CHECK(refused(llvm::StringRef(file).drop_front(14)));
}

TEST_CASE("each way of being damaged has its words") {
  CHECK(why("") == "its end is missing");
  CHECK(why(llvm::StringRef(sample()).drop_back()) == "its end is missing");
  CHECK(why(llvm::StringRef(sample("")).drop_front()) == "a part of it is missing");
  std::string file = sample();
  file[file.size() - kTrailerBytes + kSections * 8] = 9;
  CHECK(why(file) == "its format is not the one of this runtime");
  file = sample();
  file[13] = 'T';
  CHECK(why(file) == "its contents were changed");
}

TEST_CASE("lengths that overflow their sum are refused") {
  std::string file = sample();
  for (size_t i = 0; i != kSections * 8; ++i)
    file[file.size() - kTrailerBytes + i] = '\xff';
  CHECK(why(file) == "a part of it is missing");
}

TEST_CASE("reading an open file gives what its bytes give") {
  const std::string file = sample(std::string(100'000, 'r'));
  const int fd = fileOf(file);
  llvm::Expected<LoadedPayload> loaded = readPayload(fd);
  REQUIRE(bool(loaded));
  CHECK(loaded->payload.module == kSample.module);
  CHECK(loaded->payload.library == kSample.library);
  CHECK(endsLikeProgram(fd));
  ::close(fd);
}

TEST_CASE("an open file that is damaged is refused, and one that cannot be read") {
  std::string file = sample();
  file[15] = '?';
  const int fd = fileOf(file);
  llvm::Expected<LoadedPayload> loaded = readPayload(fd);
  CHECK(llvm::toString(loaded.takeError()) == "its contents were changed");
  ::close(fd);
  const int empty = fileOf("");
  llvm::Expected<LoadedPayload> nothing = readPayload(empty);
  CHECK(llvm::toString(nothing.takeError()) == "its end is missing");
  CHECK_FALSE(endsLikeProgram(empty));
  ::close(empty);
  llvm::Expected<LoadedPayload> closed = readPayload(-1);
  CHECK(llvm::toString(closed.takeError()) == "it cannot be read: bad file descriptor");
}
