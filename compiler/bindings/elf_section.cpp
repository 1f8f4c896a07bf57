#include "compiler/bindings/elf_section.h"

#include "compiler/bindings/elf_file.h"

namespace gos::bindings {

using namespace elf;
using llvm::StringRef;

namespace {

// The few numbers of the format that are asked for (elf(5)).
constexpr char kClass64 = 2, kLittleEndian = 1;       // bytes 4 and 5
constexpr uint16_t kSharedObject = 3;                 // e_type
constexpr uint32_t kPlainBytes = 1, kStringTable = 3; // sh_type
constexpr uint64_t kCompressed = 0x800;               // of sh_flags
#if defined(__x86_64__)
constexpr uint16_t kMachine = 62;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = 183;
#else
#error "say which e_machine this is"
#endif

struct SectionHeader {
  uint32_t name = 0, type = 0;
  uint64_t flags = 0, offset = 0, size = 0;
};

SectionHeader sectionHeader(StringRef table, size_t index) {
  const StringRef row = table.substr(index * kSectionHeaderSize, kSectionHeaderSize);
  return {word(row, 0), word(row, 4), wide(row, 8), wide(row, 24), wide(row, 32)};
}

} // namespace

llvm::Error elf::judgeHeader(StringRef image) {
  if (image.size() < kHeaderSize || !image.starts_with(StringRef("\x7f"
                                                                 "ELF",
                                                                 4)))
    return refused("not an ELF file");
  if (image[4] != kClass64 || image[5] != kLittleEndian)
    return refused("not a 64-bit little-endian ELF file");
  if (half(image, 16) != kSharedObject)
    return refused("an ELF file of type {0}, not a shared object", half(image, 16));
  if (half(image, 18) != kMachine)
    return refused("a shared object for machine {0}, not for this one ({1})", half(image, 18),
                   kMachine);
  return llvm::Error::success();
}

llvm::Expected<StringRef> elfSection(StringRef image, StringRef wanted) {
  if (llvm::Error error = judgeHeader(image))
    return error;
  // Counts that do not fit the header stand in section 0; no library of bindings comes near.
  const uint16_t size = half(image, 58), count = half(image, 60), names = half(image, 62);
  if (count == 0)
    return refused("a shared object without section headers");
  if (size != kSectionHeaderSize || names >= count)
    return refused("a shared object whose section headers do not add up");
  const std::optional<StringRef> table =
      slice(image, wide(image, 40), uint64_t(count) * kSectionHeaderSize);
  if (!table)
    return refused("a shared object whose section headers lie outside of the file");
  const SectionHeader nameSection = sectionHeader(*table, names);
  const std::optional<StringRef> nameTable = slice(image, nameSection.offset, nameSection.size);
  if (nameSection.type != kStringTable || !nameTable)
    return refused("a shared object whose section names lie outside of the file");

  std::optional<StringRef> found;
  for (size_t index = 1; index < count; ++index) {
    const SectionHeader header = sectionHeader(*table, index);
    // A name ends with a zero byte; one that runs out of the table has none.
    const StringRef name =
        header.name < nameTable->size() ? nameTable->substr(header.name) : StringRef();
    const size_t end = name.find('\0');
    if (end == StringRef::npos || name.take_front(end) != wanted)
      continue;
    if (found)
      return refused("a shared object with two sections `{0}`", wanted);
    if (header.type != kPlainBytes || (header.flags & kCompressed) != 0)
      return refused("a section `{0}` that does not hold plain bytes", wanted);
    found = slice(image, header.offset, header.size);
    if (!found)
      return refused("a section `{0}` that lies outside of the file", wanted);
  }
  if (!found)
    return refused("a shared object without a section `{0}`: has the crate a `#[gos_module]`?",
                   wanted);
  return *found;
}

} // namespace gos::bindings
