#include "compiler/bindings/elf_section.h"

#include "tests/unit/bindings/records.h"

#include <doctest/doctest.h>

namespace gos::bindings::test {
namespace {

using llvm::StringRef;

std::string wrong(const Image& image) {
  auto section = elfSection(image.bytes, ".gossamer");
  return section ? "" : llvm::toString(section.takeError());
}

TEST_CASE("the section of a shared object is found") {
  const Image image("content");
  auto section = elfSection(image.bytes, ".gossamer");
  REQUIRE(bool(section));
  CHECK(*section == "content");
  const Image signatures(inModule("fn\tf\tgos1_f\t()\t\n"));
  auto read = readSignatures(signatures.bytes);
  REQUIRE(bool(read));
  CHECK(read->modules[0].functions[0].name == "f");
}

TEST_CASE("T122 what is no shared object of this machine is refused by what it is") {
  const auto problemOf = [](StringRef bytes) {
    auto read = readSignatures(bytes);
    return read ? std::string() : llvm::toString(read.takeError());
  };
  CHECK(problemOf("") == "not an ELF file");
  CHECK(problemOf("#!/bin/sh\n") == "not an ELF file");
  CHECK(problemOf("!<thin>\n") == "not an ELF file");
  Image image("x");
  image.bytes[4] = 1;
  CHECK(wrong(image) == "not a 64-bit little-endian ELF file");
  image = Image("x");
  image.bytes[5] = 2;
  CHECK(wrong(image) == "not a 64-bit little-endian ELF file");
  image = Image("x");
  image.put16(16, 2);
  CHECK(wrong(image) == "an ELF file of type 2, not a shared object");
  image = Image("x");
  image.put16(18, 8);
  CHECK(wrong(image).find("a shared object for machine 8") == 0);
  CHECK(wrong(Image("x", ".gossamar")).find("without a section `.gossamer`") != std::string::npos);
  CHECK(wrong(Image("x", ".gossamer2")).find("without a section `.gossamer`") != std::string::npos);
}

TEST_CASE("T122 offsets and counts outside of the file are refused, also where sums wrap") {
  const uint64_t far[] = {UINT64_MAX, UINT64_MAX - 63, uint64_t(1) << 63, 1000000};
  for (const uint64_t offset : far) {
    Image image("content");
    image.put64(40, offset);
    CHECK(wrong(image).find("section headers lie outside") != std::string::npos);
    image = Image("content");
    image.put64(image.sections + 64 + 24, offset); // of .gossamer
    CHECK(wrong(image).find("lies outside of the file") != std::string::npos);
    image = Image("content");
    image.put64(image.sections + 64 + 32, offset);
    CHECK(wrong(image).find("lies outside of the file") != std::string::npos);
    image = Image("content");
    image.put64(image.sections + 128 + 24, offset); // of the names
    CHECK(wrong(image).find("section names lie outside") != std::string::npos);
    image = Image("content");
    image.put64(image.sections + 128 + 32, offset);
    CHECK(wrong(image).find("section names lie outside") != std::string::npos);
    image = Image("content");
    image.put32(image.sections + 64, uint32_t(offset)); // a name outside of the names
    CHECK(wrong(image).find("without a section") != std::string::npos);
  }
  Image image("content");
  image.put16(60, 0xffff);
  CHECK(wrong(image).find("section headers lie outside") != std::string::npos);
  image = Image("content");
  image.put16(60, 0);
  CHECK(wrong(image) == "a shared object without section headers");
  image = Image("content");
  image.put16(62, 3);
  CHECK(wrong(image).find("do not add up") != std::string::npos);
  image = Image("content");
  image.put16(58, 40);
  CHECK(wrong(image).find("do not add up") != std::string::npos);
}

TEST_CASE("T122 two sections of the name, one without bytes, one that is packed: refused") {
  Image image("content");
  image.section(2, 1, 3, image.bytes.find(".gossamer") - 1,
                22); // the table of names has the name as well
  CHECK(wrong(image) == "a shared object with two sections `.gossamer`");
  image = Image("content");
  image.put32(image.sections + 64 + 4, 8); // SHT_NOBITS
  CHECK(wrong(image).find("does not hold plain bytes") != std::string::npos);
  image = Image("content");
  image.put64(image.sections + 64 + 8, 0x800); // SHF_COMPRESSED
  CHECK(wrong(image).find("does not hold plain bytes") != std::string::npos);
}

TEST_CASE(
    "T122 every prefix of an image and every change of a byte of its headers is read or refused") {
  const Image good(inModule("fn\tf\tgos1_f\t()\t\n"));
  REQUIRE(bool(readSignatures(good.bytes)));
  for (size_t end = 0; end < good.bytes.size(); ++end) {
    // A copy of its own size, so that a reader that goes too far is seen.
    const std::string part = good.bytes.substr(0, end);
    auto read = readSignatures(part);
    CHECK(!read);
    llvm::consumeError(read.takeError());
  }
  for (size_t at = 0; at < good.bytes.size(); ++at)
    for (const int byte : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = good.bytes;
      changed[at] = char(byte);
      auto read = readSignatures(changed);
      if (!read)
        llvm::consumeError(read.takeError());
    }
}

} // namespace
} // namespace gos::bindings::test
