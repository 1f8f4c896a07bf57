// The byte form: a count and that many names, each with its length; a count and that many places,
// each as file, line and column. All numbers are 32 bits, little endian.

#include "stdlib/program/source_lines.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

#include <map>
#include <tuple>

namespace gos::program {
namespace {

constexpr size_t kRowBytes = 12;

void put(std::string& out, uint32_t value) {
  char bytes[4];
  llvm::support::endian::write32le(bytes, value);
  out.append(bytes, sizeof bytes);
}

bool take(llvm::StringRef& bytes, uint32_t& value) {
  if (bytes.size() < 4)
    return false;
  value = llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(4);
  return true;
}

llvm::Error broken() {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 "bytes are no table of places");
}

} // namespace

std::string SourceLines::serialise() const {
  std::string out;
  put(out, uint32_t(files_.size()));
  for (const std::string& file : files_) {
    put(out, uint32_t(file.size()));
    out += file;
  }
  put(out, uint32_t(places_.size()));
  for (const Row& place : places_) {
    put(out, place.file);
    put(out, place.line);
    put(out, place.column);
  }
  return out;
}

llvm::Expected<SourceLines> SourceLines::parse(llvm::StringRef bytes) {
  SourceLines lines;
  uint32_t count = 0;
  // Counts are judged by the bytes that are left before memory is taken for them.
  if (!take(bytes, count) || count > bytes.size() / 4)
    return broken();
  lines.files_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (!take(bytes, size) || size > bytes.size())
      return broken();
    lines.files_.push_back(bytes.take_front(size).str());
    bytes = bytes.drop_front(size);
  }
  if (!take(bytes, count) || count != bytes.size() / kRowBytes || bytes.size() % kRowBytes != 0)
    return broken();
  lines.places_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    Row row{};
    if (!take(bytes, row.file) || !take(bytes, row.line) || !take(bytes, row.column) ||
        row.file >= lines.files_.size())
      return broken();
    lines.places_.push_back(row);
  }
  return lines;
}

SourceLines SourceLines::renumber(vm::Module& module,
                                  const std::function<std::optional<Place>(Span)>& placeOf) {
  SourceLines lines;
  llvm::StringMap<uint32_t> files;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> numbers;
  llvm::DenseMap<uint32_t, uint32_t> known; // offset -> number + 1; 0: no place
  const auto numberOf = [&](Span span) -> uint32_t {
    if (!span.valid())
      return 0;
    auto [entry, isNew] = known.try_emplace(span.begin, 0);
    if (!isNew)
      return entry->second;
    const std::optional<Place> place = placeOf(span);
    if (!place)
      return 0;
    const auto file = files.try_emplace(place->file, uint32_t(lines.files_.size()));
    if (file.second)
      lines.files_.push_back(place->file);
    const Row row{file.first->second, place->line, place->column};
    const auto number =
        numbers.try_emplace({row.file, row.line, row.column}, uint32_t(lines.places_.size()));
    if (number.second)
      lines.places_.push_back(row);
    return entry->second = number.first->second + 1;
  };
  const auto renumbered = [&](Span span) {
    const uint32_t number = numberOf(span);
    return number ? Span{number - 1, number} : Span{};
  };
  for (vm::Function& function : module.functions) {
    function.span = renumbered(function.span);
    for (vm::LineEntry& entry : function.lines)
      entry.span = renumbered(entry.span);
  }
  return lines;
}

std::optional<Place> SourceLines::placeOf(Span span) const {
  if (!span.valid() || span.begin >= places_.size())
    return std::nullopt;
  const Row& row = places_[span.begin];
  return Place{files_[row.file], row.line, row.column};
}

} // namespace gos::program
