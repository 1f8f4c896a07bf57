#include "sandbox/beneath.h"

#include "sandbox/sys_error.h"

#include "llvm/Support/SHA256.h"

#include <sys/stat.h>
#include <unistd.h>

namespace gos {

namespace {
constexpr size_t kChunk = size_t(64) << 10;
}

ReadBytes readAll(int fd, uint64_t cap, Hashing hashing) {
  ReadBytes result;
  struct stat status{};
  uint64_t expected = 0;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
    expected = uint64_t(status.st_size);
  auto tooLarge = [&](uint64_t size) {
    result.failure = Failure::TooLarge;
    result.size = size;
    result.bytes = std::string();
  };
  // Refused before memory is taken. The size is only a hint: what counts is what is read.
  if (expected > cap) {
    tooLarge(expected);
    return result;
  }
  llvm::SHA256 hash;
  while (true) {
    const size_t filled = result.bytes.size();
    const uint64_t left = expected > filled ? expected - filled : 0;
    // One byte more than expected, so that the end is seen without another round.
    const size_t room = size_t(
        std::max<uint64_t>(std::min<uint64_t>(left + 1, uint64_t(16) << 20), left ? 1 : kChunk));
    result.bytes.resize(filled + room);
    const ssize_t got =
        retryInterrupted([&] { return ::read(fd, result.bytes.data() + filled, room); });
    if (got < 0) {
      result.errorNumber = errno;
      result.failure = errno == EISDIR ? Failure::IsADirectory : Failure::System;
      result.bytes = std::string();
      return result;
    }
    result.bytes.resize(filled + size_t(got));
    if (got == 0)
      break;
    if (result.bytes.size() > cap) {
      tooLarge(std::max<uint64_t>(expected, result.bytes.size()));
      return result;
    }
    if (hashing == Hashing::Sha256)
      hash.update(llvm::StringRef(result.bytes.data() + filled, size_t(got)));
  }
  result.size = result.bytes.size();
  if (hashing == Hashing::Sha256)
    result.sha256 = hash.final();
  return result;
}

ReadBytes readSome(int fd, uint64_t count) {
  ReadBytes result;
  while (result.bytes.size() < count) {
    const size_t filled = result.bytes.size();
    const size_t room = size_t(std::min<uint64_t>(count - filled, uint64_t(1) << 20));
    result.bytes.resize(filled + room);
    const ssize_t got =
        retryInterrupted([&] { return ::read(fd, result.bytes.data() + filled, room); });
    if (got < 0) {
      result.errorNumber = errno;
      result.failure = errno == EISDIR ? Failure::IsADirectory : Failure::System;
      result.bytes = std::string();
      return result;
    }
    result.bytes.resize(filled + size_t(got));
    if (got == 0)
      break;
  }
  result.size = result.bytes.size();
  return result;
}

} // namespace gos
