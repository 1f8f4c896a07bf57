#include "compiler/bindings/elf_dynamic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <doctest/doctest.h>

namespace gos::bindings::test {
namespace {

using llvm::StringRef;
using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

constexpr uint64_t kNeeded = 1, kHash = 4, kStrings = 5, kSymbols = 6, kStringSize = 10;

/// A shared object of this machine as the loader sees it: one segment over the whole file, a
/// dynamic section, names, two symbols, and the tables that find them.
struct Library {
  std::string bytes;
  std::string names = std::string(1, '\0');
  Pairs entries;                 // besides those of the tables
  uint32_t stack = 6;            // rights of PT_GNU_STACK
  uint32_t rights = 4;           // of the segment
  std::vector<uint32_t> further; // types of more program headers
  uint8_t symbolKind = 0x12;     // STB_GLOBAL, STT_FUNC
  bool isGnuTable = false, hasStack = true;

  uint64_t name(StringRef text) {
    const uint64_t at = names.size();
    names += text.str() + '\0';
    return at;
  }
  void needs(StringRef library) { entries.emplace_back(kNeeded, name(library)); }

  void put(size_t at, uint64_t value, unsigned size) {
    for (unsigned byte = 0; byte != size; ++byte)
      bytes[at + byte] = byte < sizeof value ? char(value >> (8 * byte)) : '\0';
  }
  void append(uint64_t value, unsigned size) {
    bytes.append(size, '\0');
    put(bytes.size() - size, value, size);
  }
  void header(uint32_t type, uint32_t flags, uint64_t at, uint64_t size) {
    append(type, 4);
    append(flags, 4);
    for (uint64_t value : {at, at, at, size, size, uint64_t(4096)})
      append(value, 8);
  }

  const std::string& make() {
    const uint64_t symbol = name("symbol");
    const size_t count = 2 + size_t(hasStack) + further.size();
    const size_t dynamicAt = 64 + 56 * count;
    const size_t dynamicSize = 16 * (entries.size() + 5);
    const size_t namesAt = dynamicAt + dynamicSize, symbolsAt = namesAt + names.size();
    const size_t tableAt = symbolsAt + 48;
    const size_t size = tableAt + (isGnuTable ? 16 + 8 + 4 + 4 : 8 + 4 + 8);
    bytes.assign("\x7f"
                 "ELF\2\1\1");
    bytes.resize(64);
    put(16, 3, 2);
#if defined(__x86_64__)
    put(18, 62, 2);
#else
    put(18, 183, 2);
#endif
    put(32, 64, 8);
    put(54, 56, 2);
    put(56, count, 2);
    header(1, rights, 0, size);
    header(2, 6, dynamicAt, dynamicSize);
    if (hasStack)
      header(0x6474e551, stack, 0, 0);
    for (uint32_t type : further)
      header(type, 4, 0, 0);
    Pairs all = entries;
    all.insert(all.end(), {{kStrings, namesAt},
                           {kStringSize, names.size()},
                           {kSymbols, symbolsAt},
                           {isGnuTable ? 0x6ffffef5 : kHash, tableAt}});
    all.emplace_back(0, 0);
    for (const auto& [tag, value] : all) {
      append(tag, 8);
      append(value, 8);
    }
    bytes += names;
    bytes.append(24, '\0');
    append(symbol, 4);
    append(symbolKind, 1);
    append(0, 1);
    append(1, 2); // defined
    append(0, 16);
    if (isGnuTable)
      for (uint32_t value : {1, 1, 1, 0, 0, 0, 1, 1}) // a bucket, first, filter, shift; filter;
        append(value, 4);                             // bucket; chain
    else
      for (uint32_t value : {1, 2, 1, 0, 0})
        append(value, 4);
    return bytes;
  }
};

std::string wrong(StringRef bytes) {
  auto linking = judgeLinking(bytes);
  return linking ? "" : llvm::toString(linking.takeError());
}
std::string wrong(Library library) {
  return wrong(library.make());
}
bool has(const std::string& text, StringRef piece) {
  return StringRef(text).contains(piece);
}

TEST_CASE("a plain library is fit to be loaded, and says what it needs") {
  for (bool isGnuTable : {false, true}) {
    Library library;
    library.isGnuTable = isGnuTable;
    for (const char* name : {"libc.so.6", "libz.so.1", "libgcc_s.so.1", "libz.so.1"})
      library.needs(name);
    library.entries.emplace_back(30, 8);         // DF_BIND_NOW
    library.entries.emplace_back(0x6ffffffb, 9); // DF_1_NOW, DF_1_NODELETE
    auto linking = judgeLinking(library.make());
    REQUIRE_MESSAGE(bool(linking), llvm::toString(linking.takeError()));
    CHECK(linking->libraries == std::vector<std::string>{"libz.so.1"});
  }
}

TEST_CASE("T123 an entry that reaches beyond the library is refused by its name") {
  const std::pair<uint64_t, const char*> refused[] = {
      {15, "DT_RPATH"},          {29, "DT_RUNPATH"},           {22, "DT_TEXTREL"},
      {0x6ffffefa, "DT_CONFIG"}, {0x6ffffefb, "DT_DEPAUDIT"},  {0x6ffffefc, "DT_AUDIT"},
      {0x7fffffff, "DT_FILTER"}, {0x7ffffffd, "DT_AUXILIARY"},
  };
  for (const auto& [tag, name] : refused) {
    Library library;
    library.entries.emplace_back(tag, library.name("/tmp/x"));
    CHECK(has(wrong(library), std::string("(") + name + ")"));
  }
}

TEST_CASE("T123 a flag that reaches beyond the library is refused, also one without a name") {
  const std::pair<std::pair<uint64_t, uint64_t>, const char*> refused[] = {
      {{30, 1}, "DF_ORIGIN"},
      {{30, 4}, "DF_TEXTREL"},
      {{30, 0x100}, "DT_FLAGS"},
      {{0x6ffffffb, 2}, "DF_1_GLOBAL"},
      {{0x6ffffffb, 0x400}, "DF_1_INTERPOSE"},
      {{0x6ffffffb, 0x20}, "DF_1_INITFIRST"},
      {{0x6ffffffb, uint64_t(1) << 60}, "DT_FLAGS_1"},
  };
  for (const auto& [entry, name] : refused) {
    Library library;
    library.entries.push_back(entry);
    CHECK_MESSAGE(has(wrong(library), name), wrong(library));
  }
}

TEST_CASE("T123 a library that is needed by its path, or without a name, is refused") {
  for (const char* name : {"/tmp/x/libc.so.6", "./x.so", "$ORIGIN", "x/"}) {
    Library library;
    library.needs(name);
    CHECK(has(wrong(library), "by its path"));
  }
  Library library;
  library.needs("");
  CHECK(has(wrong(library), "without a name"));
  library = Library();
  library.entries.emplace_back(kNeeded, 1 << 20);
  CHECK(has(wrong(library), "without a name"));
  library = Library();
  for (int count = 0; count != 300; ++count)
    library.needs("libz.so.1");
  CHECK(has(wrong(library), "more than 256 libraries"));
}

TEST_CASE("T123 executable stacks, code that can be written to and interpreters are refused") {
  Library library;
  library.stack = 7;
  CHECK(has(wrong(library), "executable stack"));
  library = Library();
  library.hasStack = false;
  CHECK(has(wrong(library), "0 headers PT_GNU_STACK"));
  library = Library();
  library.further = {0x6474e551};
  CHECK(has(wrong(library), "2 headers PT_GNU_STACK"));
  library = Library();
  library.rights = 7;
  CHECK(has(wrong(library), "code that can be written to"));
  library = Library();
  library.further = {3};
  CHECK(has(wrong(library), "PT_INTERP"));
}

TEST_CASE("T123 a symbol that counts in the whole process is refused") {
  for (bool isGnuTable : {false, true}) {
    Library library;
    library.isGnuTable = isGnuTable;
    library.symbolKind = 0xa1;
    CHECK(has(wrong(library), "`symbol`"));
  }
}

TEST_CASE("T123 headers that do not add up are refused") {
  Library library;
  library.make();
  library.put(64 + 56 + 16, library.bytes.size() - 16, 8); // an entry before the end of the file
  CHECK(has(wrong(StringRef(library.bytes)), "does not end"));
  library.put(64 + 56 + 16, uint64_t(1) << 40, 8);
  CHECK(has(wrong(StringRef(library.bytes)), "outside of the file"));
  library = Library();
  library.further = {2};
  CHECK(has(wrong(library), "2 dynamic sections"));
  library = Library();
  library.further = {1}; // a second segment where the first is
  CHECK(has(wrong(library), "segments overlap"));
  library = Library();
  library.entries.emplace_back(kStrings, 64);
  CHECK(has(wrong(library), "twice"));
  CHECK(wrong(StringRef("")) == "not an ELF file");
}

TEST_CASE("T123 every prefix and every changed byte of a library is judged without a fault") {
  for (bool isGnuTable : {false, true}) {
    Library library;
    library.isGnuTable = isGnuTable;
    library.needs("libz.so.1");
    const std::string good = library.make();
    REQUIRE(wrong(good).empty());
    for (size_t size = 0; size != good.size(); ++size)
      CHECK_FALSE(wrong(StringRef(good).take_front(size)).empty());
    for (size_t at = 0; at != good.size(); ++at)
      for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        std::string changed = good;
        changed[at] = char(value);
        (void)wrong(changed);
      }
  }
}

} // namespace
} // namespace gos::bindings::test
