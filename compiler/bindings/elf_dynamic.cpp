#include "compiler/bindings/elf_dynamic.h"

#include "compiler/bindings/elf_file.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::bindings {

using namespace elf;
using llvm::StringRef;

namespace {

// Of program headers: p_type and p_flags.
constexpr uint32_t kLoad = 1, kDynamic = 2, kInterpreter = 3, kStack = 0x6474e551;
constexpr uint32_t kExecutable = 1, kWritable = 2;
// Of the dynamic section.
constexpr uint64_t kEnd = 0, kNeeded = 1, kHash = 4, kStringTable = 5, kSymbols = 6,
                   kStringSize = 10, kFlags = 30, kGnuHash = 0x6ffffef5, kFlags1 = 0x6ffffffb;
constexpr size_t kEntrySize = 16, kSymbolSize = 24;
constexpr uint64_t kPage = 4096;
constexpr size_t kMostEntries = 4096, kMostLibraries = 256, kLongestName = 256;

/// Entries that reach beyond the library, or rewrite its code.
struct RefusedTag {
  uint64_t tag;
  const char *name, *why;
};
constexpr RefusedTag kRefusedTags[] = {
    {15, "DT_RPATH", "it says where libraries are looked for"},
    {29, "DT_RUNPATH", "it says where libraries are looked for"},
    {22, "DT_TEXTREL", "its code is rewritten when it is loaded"},
    {0x6ffffefa, "DT_CONFIG", "it names a configuration of the loader"},
    {0x6ffffefb, "DT_DEPAUDIT", "it names an auditor that the loader starts"},
    {0x6ffffefc, "DT_AUDIT", "it names an auditor that the loader starts"},
    {0x7ffffffd, "DT_AUXILIARY", "it names a library whose symbols stand in for its own"},
    {0x7fffffff, "DT_FILTER", "it names a library whose symbols stand in for its own"},
};

// DF_SYMBOLIC, DF_BIND_NOW and DF_STATIC_TLS concern nobody else.
constexpr uint64_t kHarmlessFlags = 2 | 8 | 16;
// DF_1_NOW and DF_1_NODELETE.
constexpr uint64_t kHarmlessFlags1 = 1 | 8;
struct NamedFlag {
  uint64_t flag;
  const char* name;
};
constexpr NamedFlag kNamedFlags[] = {{1, "DF_ORIGIN"}, {4, "DF_TEXTREL"}};
constexpr NamedFlag kNamedFlags1[] = {
    {2, "DF_1_GLOBAL"},        {4, "DF_1_GROUP"},        {0x10, "DF_1_LOADFLTR"},
    {0x20, "DF_1_INITFIRST"},  {0x40, "DF_1_NOOPEN"},    {0x80, "DF_1_ORIGIN"},
    {0x400, "DF_1_INTERPOSE"}, {0x800, "DF_1_NODEFLIB"}, {0x8000000, "DF_1_PIE"},
};

/// What a program has anyway, under the names of both machines.
constexpr StringRef kOrdinary[] = {
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
};

struct Segment {
  uint64_t offset = 0, address = 0, inFile = 0, inMemory = 0;
};

class Judge {
public:
  explicit Judge(StringRef image) : image_(image) {}

  llvm::Expected<Linking> run() {
    if (llvm::Error error = judgeHeader(image_))
      return error;
    if (llvm::Error error = readSegments())
      return error;
    if (llvm::Error error = readDynamic())
      return error;
    if (llvm::Error error = readLibraries())
      return error;
    if (llvm::Error error = readSymbols())
      return error;
    return std::move(linking_);
  }

private:
  llvm::Error readSegments() {
    const uint16_t size = half(image_, 54), count = half(image_, 56);
    const std::optional<StringRef> table =
        slice(image_, wide(image_, 32), uint64_t(count) * kProgramHeaderSize);
    if (count == 0 || count == 0xffff || size != kProgramHeaderSize || !table)
      return refused("a shared object whose program headers do not add up");
    size_t stacks = 0, dynamics = 0;
    for (size_t index = 0; index != count; ++index) {
      const StringRef row = table->substr(index * kProgramHeaderSize, kProgramHeaderSize);
      const uint32_t type = word(row, 0), flags = word(row, 4);
      const Segment segment = {wide(row, 8), wide(row, 16), wide(row, 32), wide(row, 40)};
      switch (type) {
      case kLoad:
        if (llvm::Error error = addSegment(segment, flags))
          return error;
        break;
      case kDynamic:
        dynamic_ = segment.address;
        ++dynamics;
        break;
      case kInterpreter:
        return refused("it names an interpreter (PT_INTERP)");
      case kStack:
        ++stacks;
        if ((flags & kExecutable) != 0)
          return refused("it wants an executable stack (PT_GNU_STACK): an object of C or assembly "
                         "in it was made so, or the linker was told");
        break;
      default: // numbers of a file: the rest maps nothing
        break;
      }
    }
    if (stacks != 1)
      return refused("it has {0} headers PT_GNU_STACK; without one its stack is executable",
                     stacks);
    if (dynamics != 1)
      return refused("it has {0} dynamic sections; one is right", dynamics);
    return llvm::Error::success();
  }

  /// Two segments in one page would make what is read here another thing than what is mapped.
  llvm::Error addSegment(const Segment& segment, uint32_t flags) {
    constexpr uint64_t kHighest = uint64_t(1) << 46;
    if (segment.inFile > segment.inMemory || segment.inMemory > kHighest ||
        segment.address > kHighest || !slice(image_, segment.offset, segment.inFile) ||
        segment.offset % kPage != segment.address % kPage)
      return refused("a shared object with a segment that does not add up");
    if (!segments_.empty()) {
      const Segment& last = segments_.back();
      if (segment.address / kPage < (last.address + last.inMemory + kPage - 1) / kPage)
        return refused("a shared object whose segments overlap");
    }
    if ((flags & kWritable) != 0 && (flags & kExecutable) != 0)
      return refused("it has code that can be written to (a segment with both rights)");
    segments_.push_back(segment);
    return llvm::Error::success();
  }

  /// The bytes of the file that stand at an address, up to the end of what the file says there.
  std::optional<StringRef> at(uint64_t address) const {
    for (const Segment& segment : segments_)
      if (address >= segment.address && address - segment.address < segment.inFile)
        return slice(image_, segment.offset + (address - segment.address),
                     segment.inFile - (address - segment.address));
    return std::nullopt;
  }

  llvm::Error readDynamic() {
    const std::optional<StringRef> section = at(dynamic_);
    if (!section)
      return refused("a shared object whose dynamic section lies outside of the file");
    for (size_t index = 0;; ++index) {
      if (index == kMostEntries || (index + 1) * kEntrySize > section->size())
        return refused("a shared object whose dynamic section does not end");
      const uint64_t tag = wide(*section, index * kEntrySize);
      const uint64_t value = wide(*section, index * kEntrySize + 8);
      if (tag == kEnd)
        return llvm::Error::success();
      if (llvm::Error error = take(tag, value))
        return error;
    }
  }

  llvm::Error take(uint64_t tag, uint64_t value) {
    for (const RefusedTag& each : kRefusedTags)
      if (tag == each.tag)
        return refused("{0} ({1})", each.why, each.name);
    if (tag == kFlags)
      return judgeFlags(value & ~kHarmlessFlags, kNamedFlags, "DT_FLAGS");
    if (tag == kFlags1)
      return judgeFlags(value & ~kHarmlessFlags1, kNamedFlags1, "DT_FLAGS_1");
    if (tag == kNeeded) {
      if (needed_.size() == kMostLibraries)
        return refused("it needs more than {0} libraries", kMostLibraries);
      needed_.push_back(value);
      return llvm::Error::success();
    }
    for (const auto& [wanted, place] : {std::pair(kStringTable, &strings_),
                                        {kStringSize, &stringSize_},
                                        {kSymbols, &symbols_},
                                        {kHash, &hash_},
                                        {kGnuHash, &gnuHash_}})
      if (tag == wanted) {
        // The loader would take the last.
        if (*place)
          return refused("a shared object that names one of its tables twice");
        *place = value;
      }
    return llvm::Error::success();
  }

  static llvm::Error judgeFlags(uint64_t rest, llvm::ArrayRef<NamedFlag> names, const char* where) {
    if (rest == 0)
      return llvm::Error::success();
    for (const NamedFlag& each : names)
      if ((rest & each.flag) != 0)
        return refused("it asks the loader for {0}", each.name);
    return refused("it asks the loader for {0:x} in {1}", rest, where);
  }

  std::optional<StringRef> name(uint64_t offset) const {
    const StringRef rest = table_.substr(size_t(std::min<uint64_t>(offset, table_.size())));
    const size_t end = rest.find('\0');
    if (end == StringRef::npos)
      return std::nullopt;
    return rest.take_front(end);
  }

  llvm::Error readLibraries() {
    const std::optional<StringRef> strings = strings_ ? at(*strings_) : std::nullopt;
    if (!strings || !stringSize_ || *stringSize_ > strings->size())
      return refused("a shared object whose names lie outside of the file");
    table_ = strings->take_front(size_t(*stringSize_));
    for (uint64_t offset : needed_) {
      const std::optional<StringRef> library = name(offset);
      if (!library || library->empty() || library->size() > kLongestName)
        return refused("a shared object that needs a library without a name");
      // A name with a slash is a path; the others are looked for where the system keeps libraries.
      if (library->contains('/') || library->contains('$'))
        return refused("it needs the library `{0}`, by its path (DT_NEEDED)", *library);
      if (!llvm::is_contained(kOrdinary, *library) &&
          !llvm::is_contained(linking_.libraries, *library))
        linking_.libraries.push_back(library->str());
    }
    return llvm::Error::success();
  }

  /// How many symbols the loader can come to, by the tables that it finds them with.
  llvm::Expected<uint64_t> symbolCount() const {
    uint64_t count = 0;
    if (hash_) {
      const std::optional<StringRef> table = at(*hash_);
      if (!table || table->size() < 8)
        return refused("a shared object whose table of symbols lies outside of the file");
      count = word(*table, 4);
    }
    if (gnuHash_) {
      const std::optional<StringRef> table = at(*gnuHash_);
      if (!table || table->size() < 16)
        return refused("a shared object whose table of symbols lies outside of the file");
      const uint64_t buckets = word(*table, 0), first = word(*table, 4), filter = word(*table, 8);
      const uint64_t chains = 16 + filter * 8 + buckets * 4;
      if (chains > table->size())
        return refused("a shared object whose table of symbols lies outside of the file");
      uint64_t last = 0;
      for (uint64_t index = 0; index != buckets; ++index)
        last = std::max<uint64_t>(last, word(*table, size_t(16 + filter * 8 + index * 4)));
      // The chain of the last bucket ends with an odd number.
      if (last >= first && last != 0)
        for (uint64_t place = chains + (last - first) * 4;; place += 4, ++last) {
          if (place + 4 > table->size())
            return refused("a shared object whose table of symbols does not end");
          if ((word(*table, size_t(place)) & 1) != 0)
            break;
        }
      count = std::max(count, last == 0 ? first : last + 1);
    }
    return count;
  }

  llvm::Error readSymbols() {
    llvm::Expected<uint64_t> count = symbolCount();
    if (!count)
      return count.takeError();
    const std::optional<StringRef> symbols = symbols_ ? at(*symbols_) : std::nullopt;
    if (!symbols || *count > symbols->size() / kSymbolSize)
      return refused("a shared object whose symbols lie outside of the file");
    for (uint64_t index = 0; index != *count; ++index) {
      const StringRef row = symbols->substr(size_t(index * kSymbolSize), kSymbolSize);
      constexpr unsigned kUnique = 10;
      const bool isDefined = half(row, 6) != 0;
      // The one kind of symbol that counts in the whole process, RTLD_LOCAL or not.
      if (isDefined && uint8_t(row[4]) >> 4 == kUnique)
        return refused("its symbol `{0}` would stand in for that of other libraries "
                       "(STB_GNU_UNIQUE)",
                       name(word(row, 0)).value_or("").take_front(kLongestName));
    }
    return llvm::Error::success();
  }

  StringRef image_, table_;
  std::vector<Segment> segments_;
  uint64_t dynamic_ = 0;
  std::vector<uint64_t> needed_;
  std::optional<uint64_t> strings_, stringSize_, symbols_, hash_, gnuHash_;
  Linking linking_;
};

} // namespace

llvm::Expected<Linking> judgeLinking(StringRef image) {
  return Judge(image).run();
}

} // namespace gos::bindings
