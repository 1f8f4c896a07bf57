// The program itself: one file that needs no other, and is small.

#include "tests/sandbox/each.h"

#include <doctest/doctest.h>

#include <cstring>
#include <elf.h>
#include <vector>

namespace gos::cases {
namespace {

template <class Entry>
std::vector<Entry> table(const std::string& file, uint64_t offset, unsigned count) {
  std::vector<Entry> entries(count);
  REQUIRE(offset + count * sizeof(Entry) <= file.size());
  std::memcpy(entries.data(), file.data() + offset, count * sizeof(Entry));
  return entries;
}

} // namespace

TEST_CASE("bwr is one static file that needs no library, and under 3 MiB") {
#ifdef GOS_SANITIZED
  MESSAGE("skipped: the file bwr: that of a sanitizer is neither static nor small");
#else
  const Room room(identities().front());
  const std::string file = room.read(bwrPath());
  REQUIRE(file.size() > sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  REQUIRE(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0);
  // No loader, and nothing that a loader would be asked for.
  CHECK(header.e_phnum > 0);
  for (const Elf64_Phdr& part : table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum)) {
    CHECK(part.p_type != PT_INTERP);
    CHECK(part.p_type != PT_DYNAMIC);
  }
#ifdef GOS_RELEASE
  for (const Elf64_Shdr& section : table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum))
    CHECK(section.sh_type != SHT_SYMTAB);
  CHECK(file.size() < 3145728);
#else
  MESSAGE("skipped: the size of bwr: this is no release build, which alone is stripped");
#endif
#endif
}

} // namespace gos::cases
