#pragma once
// Records and ELF files made by hand, as a hostile crate would make them.

#include "compiler/bindings/signatures.h"

#include "llvm/Support/Endian.h"

#include <string>

namespace gos::bindings::test {

/// A record around lines; the length is right.
inline std::string record(llvm::StringRef text) {
  std::string out = "GSB1";
  char length[4];
  llvm::support::endian::write32le(length, uint32_t(text.size()));
  out.append(length, 4);
  return out + text.str();
}

/// A record of the module `m::n` of the crate `c`.
inline std::string inModule(llvm::StringRef lines) {
  return record(("module\tm::n\tc\t\n" + lines).str());
}

/// What is wrong with a section; empty if nothing is.
inline std::string problem(llvm::StringRef section) {
  auto signatures = parseRecords(section);
  return signatures ? "" : llvm::toString(signatures.takeError());
}

/// An ELF shared object of this machine: header, a section `.gossamer` with `content`, the names,
/// three section headers. Places for tests that forge it: kSectionTable + 64 * n is header n.
struct Image {
  static constexpr size_t kHeader = 64;
  std::string bytes;
  size_t sections = 0; // offset of the section headers

  explicit Image(llvm::StringRef content, llvm::StringRef name = ".gossamer") {
    bytes.assign(kHeader, '\0');
    bytes.replace(0, 7,
                  llvm::StringRef("\x7f"
                                  "ELF\2\1\1",
                                  7)
                      .str());
    put16(16, 3); // ET_DYN
#if defined(__x86_64__)
    put16(18, 62);
#else
    put16(18, 183);
#endif
    const size_t contentAt = bytes.size();
    bytes += content;
    const size_t namesAt = bytes.size();
    const std::string names = std::string(1, '\0') + name.str() + std::string(1, '\0') +
                              ".shstrtab" + std::string(1, '\0');
    bytes += names;
    sections = bytes.size();
    bytes.append(3 * 64, '\0');
    section(1, 1, 1, contentAt, content.size());
    section(2, uint32_t(name.size() + 2), 3, namesAt, names.size());
    put64(40, sections);
    put16(58, 64);
    put16(60, 3);
    put16(62, 2);
  }

  void section(size_t index, uint32_t name, uint32_t type, uint64_t offset, uint64_t size) {
    const size_t at = sections + index * 64;
    put32(at, name);
    put32(at + 4, type);
    put64(at + 24, offset);
    put64(at + 32, size);
  }
  void put16(size_t at, uint16_t value) {
    llvm::support::endian::write16le(bytes.data() + at, value);
  }
  void put32(size_t at, uint32_t value) {
    llvm::support::endian::write32le(bytes.data() + at, value);
  }
  void put64(size_t at, uint64_t value) {
    llvm::support::endian::write64le(bytes.data() + at, value);
  }
};

} // namespace gos::bindings::test
