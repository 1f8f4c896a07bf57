#include "stdlib/program/payload.h"

#include "sandbox/sys_error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

#include <sys/stat.h>
#include <unistd.h>

namespace gos::program {
namespace {

using llvm::StringRef;

constexpr llvm::StringLiteral kMagic = "GOSSAMER-PROGRAM";
constexpr size_t kMagicBytes = 16, kChecksumBytes = 16;
static_assert(kMagic.size() == kMagicBytes);
constexpr uint64_t kMaxPayload = uint64_t(1) << 30;

struct Trailer {
  uint64_t lengths[kSections] = {};
  uint64_t sum = 0; // of the lengths: what stands before the trailer
};

llvm::Error damaged(const char* how) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), how);
}

void put(std::string& out, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    out.push_back(char(value >> (8 * i)));
}

/// Of the sections and everything in the trailer that stands before the checksum itself.
std::string checksumOf(StringRef bytes) {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  std::string out;
  put(out, hash.low64, 8);
  put(out, hash.high64, 8);
  return out;
}

/// `end` are the last bytes of a file of that size, kTrailerBytes of them.
llvm::Expected<Trailer> parseTrailer(StringRef end, uint64_t fileSize) {
  if (end.size() != kTrailerBytes || !end.ends_with(kMagic))
    return damaged("its end is missing");
  const char* at = end.data();
  Trailer trailer;
  const uint64_t room = fileSize - kTrailerBytes;
  for (uint64_t& length : trailer.lengths) {
    length = llvm::support::endian::read64le(at);
    at += 8;
    if (length > room - trailer.sum || length > kMaxPayload)
      return damaged("a part of it is missing");
    trailer.sum += length;
  }
  if (trailer.sum > kMaxPayload)
    return damaged("a part of it is missing");
  const uint32_t version = llvm::support::endian::read32le(at);
  const uint32_t sections = llvm::support::endian::read32le(at + 4);
  if (version != kPayloadVersion || sections != kSections)
    return damaged("its format is not the one of this runtime");
  return trailer;
}

/// `bytes` are the sections and the trailer.
llvm::Expected<Payload> open(const Trailer& trailer, StringRef bytes) {
  const StringRef checksum = bytes.drop_back(kMagicBytes).take_back(kChecksumBytes);
  if (checksumOf(bytes.drop_back(kMagicBytes + kChecksumBytes)) != checksum)
    return damaged("its contents were changed");
  StringRef sections[kSections];
  for (size_t i = 0; i < kSections; ++i) {
    sections[i] = bytes.take_front(trailer.lengths[i]);
    bytes = bytes.drop_front(trailer.lengths[i]);
  }
  return Payload{sections[0], sections[1], sections[2], sections[3]};
}

/// Fills the buffer from an offset of the file.
llvm::Error readAt(int fd, llvm::MutableArrayRef<char> buffer, uint64_t offset) {
  while (!buffer.empty()) {
    const ssize_t got =
        retryInterrupted([&] { return ::pread(fd, buffer.data(), buffer.size(), off_t(offset)); });
    if (got < 0)
      return damaged(("it cannot be read: " + errnoText(errno)).c_str());
    if (got == 0)
      return damaged("a part of it is missing");
    buffer = buffer.drop_front(size_t(got));
    offset += uint64_t(got);
  }
  return llvm::Error::success();
}

} // namespace

std::string sealPayload(const Payload& payload) {
  const StringRef sections[kSections] = {payload.module, payload.lines, payload.name,
                                         payload.library};
  std::string out;
  size_t total = kTrailerBytes;
  for (StringRef section : sections)
    total += section.size();
  out.reserve(total);
  for (StringRef section : sections)
    out.append(section.data(), section.size());
  for (StringRef section : sections)
    put(out, section.size(), 8);
  put(out, kPayloadVersion, 4);
  put(out, kSections, 4);
  out += checksumOf(out);
  out += kMagic;
  return out;
}

llvm::Expected<Payload> parsePayload(StringRef file) {
  llvm::Expected<Trailer> trailer = parseTrailer(file.take_back(kTrailerBytes), file.size());
  if (!trailer)
    return trailer.takeError();
  return open(*trailer, file.take_back(size_t(trailer->sum) + kTrailerBytes));
}

llvm::Expected<LoadedPayload> readPayload(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0)
    return damaged(("it cannot be read: " + errnoText(errno)).c_str());
  const uint64_t size = status.st_size > 0 ? uint64_t(status.st_size) : 0;
  if (size < kTrailerBytes)
    return damaged("its end is missing");
  char end[kTrailerBytes];
  if (llvm::Error error = readAt(fd, end, size - kTrailerBytes))
    return error;
  llvm::Expected<Trailer> trailer = parseTrailer(StringRef(end, kTrailerBytes), size);
  if (!trailer)
    return trailer.takeError();
  const size_t bytes = size_t(trailer->sum) + kTrailerBytes;
  auto memory = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes);
  if (!memory)
    return damaged("there is no memory for it");
  if (llvm::Error error = readAt(fd, memory->getBuffer(), size - bytes))
    return error;
  llvm::Expected<Payload> payload = open(*trailer, StringRef(memory->getBufferStart(), bytes));
  if (!payload)
    return payload.takeError();
  return LoadedPayload{std::move(memory), *payload};
}

bool endsLikeProgram(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || status.st_size < off_t(kTrailerBytes))
    return false;
  char end[kMagicBytes];
  llvm::Error error = readAt(fd, end, uint64_t(status.st_size) - kMagicBytes);
  const bool read = !error;
  llvm::consumeError(std::move(error));
  return read && StringRef(end, kMagicBytes) == kMagic;
}

} // namespace gos::program
