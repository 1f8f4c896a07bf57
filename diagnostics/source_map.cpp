#include "diagnostics/source_map.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

namespace gos {

namespace {

constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

const std::vector<uint32_t>& lineStartsOf(const SourceFile& file) {
  if (!file.lineStarts.empty())
    return file.lineStarts;
  file.lineStarts.push_back(0);
  const char* begin = file.content().begin();
  const char* end = file.content().end();
  for (const char* at = begin; at != end;) {
    const void* newline = std::memchr(at, '\n', size_t(end - at));
    if (!newline)
      break;
    at = static_cast<const char*>(newline) + 1;
    file.lineStarts.push_back(uint32_t(at - begin));
  }
  return file.lineStarts;
}

bool isContinuationByte(char byte) {
  return (uint8_t(byte) & 0xC0) == 0x80;
}

} // namespace

llvm::Expected<FileId> SourceMap::add(std::string name, std::unique_ptr<llvm::MemoryBuffer> text) {
  if (text->getBuffer().starts_with(kByteOrderMark))
    text = llvm::MemoryBuffer::getMemBufferCopy(text->getBuffer().drop_front(kByteOrderMark.size()),
                                                text->getBufferIdentifier());
  // One offset more than the text has bytes, so that the end of a file is a place of its own.
  const uint64_t next = uint64_t(next_) + text->getBufferSize() + 1;
  if (next > UINT32_MAX)
    return llvm::createStringError(std::errc::file_too_large,
                                   "the sources have more than 4 GiB together");
  auto file = std::make_unique<SourceFile>();
  file->name = std::move(name);
  file->text = std::move(text);
  file->base = next_;
  next_ = uint32_t(next);
  files_.push_back(std::move(file));
  return FileId(files_.size() - 1);
}

llvm::Expected<FileId> SourceMap::addCopy(std::string name, llvm::StringRef text) {
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(text, name);
  return add(std::move(name), std::move(copy));
}

FileId SourceMap::fileOf(Span span) const {
  if (!span.valid())
    return FileId::None;
  auto next = std::upper_bound(
      files_.begin(), files_.end(), span.begin,
      [](uint32_t offset, const std::unique_ptr<SourceFile>& file) { return offset < file->base; });
  if (next == files_.begin())
    return FileId::None;
  const SourceFile& file = **std::prev(next);
  if (span.begin - file.base > file.size())
    return FileId::None;
  return FileId(std::prev(next) - files_.begin());
}

llvm::StringRef SourceMap::text(Span span) const {
  const FileId id = fileOf(span);
  if (id == FileId::None || span.end < span.begin)
    return {};
  const SourceFile& source = file(id);
  return source.content().substr(span.begin - source.base, span.size());
}

LineColumn SourceMap::locate(FileId id, uint32_t offsetInFile) const {
  if (uint32_t(id) >= files_.size())
    return {};
  const SourceFile& source = file(id);
  const uint32_t at = std::min(offsetInFile, source.size());
  const std::vector<uint32_t>& starts = lineStartsOf(source);
  const auto next = llvm::upper_bound(starts, at);
  const llvm::StringRef before = source.content().slice(*std::prev(next), at);
  const auto continuations = llvm::count_if(before, isContinuationByte);
  return {uint32_t(next - starts.begin()), uint32_t(before.size() - size_t(continuations) + 1)};
}

LineColumn SourceMap::locate(Span span) const {
  const FileId id = fileOf(span);
  return id == FileId::None ? LineColumn{} : locate(id, span.begin - file(id).base);
}

llvm::StringRef SourceMap::line(FileId id, uint32_t number) const {
  if (uint32_t(id) >= files_.size() || number == 0)
    return {};
  const SourceFile& source = file(id);
  const std::vector<uint32_t>& starts = lineStartsOf(source);
  if (number > starts.size())
    return {};
  const uint32_t begin = starts[number - 1];
  const uint32_t end = number < starts.size() ? starts[number] - 1 : source.size();
  llvm::StringRef text = source.content().slice(begin, end);
  text.consume_back("\r");
  return text;
}

} // namespace gos
