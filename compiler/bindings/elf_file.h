#pragma once
// The pieces of an ELF file that both readers need (elf(5)): numbers at places whose size was
// checked, parts of the file, the judgement of the header.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>

namespace gos::bindings::elf {

constexpr size_t kHeaderSize = 64, kSectionHeaderSize = 64, kProgramHeaderSize = 56;

template <class... Arguments> llvm::Error refused(const char* format, Arguments&&... arguments) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Arguments>(arguments)...).str());
}

/// Reads of fixed places in a piece whose size was checked.
inline uint16_t half(llvm::StringRef piece, size_t at) {
  return llvm::support::endian::read16le(piece.data() + at);
}
inline uint32_t word(llvm::StringRef piece, size_t at) {
  return llvm::support::endian::read32le(piece.data() + at);
}
inline uint64_t wide(llvm::StringRef piece, size_t at) {
  return llvm::support::endian::read64le(piece.data() + at);
}

/// [offset, offset + size) of the file; none where any of it lies outside. The sum may not wrap.
inline std::optional<llvm::StringRef> slice(llvm::StringRef image, uint64_t offset, uint64_t size) {
  if (offset > image.size() || size > image.size() - offset)
    return std::nullopt;
  return image.substr(size_t(offset), size_t(size));
}

/// An error says what the file is instead of a 64-bit little-endian shared object of this machine.
llvm::Error judgeHeader(llvm::StringRef image);

} // namespace gos::bindings::elf
