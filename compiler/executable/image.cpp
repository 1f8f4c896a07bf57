#include "compiler/executable/image.h"

#include "compiler/executable/runtime_image.h"
#include "sandbox/sys_error.h"
#include "stdlib/program/payload.h"
#include "stdlib/program/source_lines.h"

#include <sys/stat.h>
#include <unistd.h>

namespace gos::executable {

std::string nameInProgram(llvm::StringRef shown, uint32_t package, const Project& project) {
  // 0 is the library; the packages of the project count from 1.
  if (package == 0 || package > project.packages.size())
    return shown.str();
  const Package& owner = project.packages[package - 1];
  // Text that a fold generated is named by the place it stands for.
  std::string head;
  if (const size_t at = shown.find(" at "); shown.starts_with("<generated") && at != shown.npos) {
    head = shown.take_front(at + 4).str();
    shown = shown.drop_front(at + 4);
  }
  shown.consume_front(owner.displayPrefix);
  if (package != 1)
    head += owner.id + "/";
  return head + shown.str();
}

Image makeImage(vm::Module module, const SourceMap& sources, const Project& project,
                llvm::StringRef library) {
  const auto placeOf = [&](Span span) -> std::optional<program::Place> {
    const FileId id = sources.fileOf(span);
    if (id == FileId::None)
      return std::nullopt;
    const SourceFile& file = sources.file(id);
    const LineColumn at = sources.locate(span);
    return program::Place{nameInProgram(file.name, file.package, project), at.line, at.column};
  };
  const std::string lines = program::SourceLines::renumber(module, placeOf).serialise();
  const std::string bytes = vm::serialise(module);
  return {runtimeImage(), program::sealPayload({bytes, lines, project.root().moduleName, library})};
}

llvm::Expected<std::string> readLibrary(int image) {
  struct stat status{};
  if (::fstat(image, &status) != 0)
    return sysError("fstat", "", errno);
  std::string bytes(size_t(status.st_size), '\0');
  for (size_t at = 0; at != bytes.size();) {
    const ssize_t got = retryInterrupted(
        [&] { return ::pread(image, bytes.data() + at, bytes.size() - at, off_t(at)); });
    if (got <= 0)
      return sysError("read", "", got == 0 ? EIO : errno);
    at += size_t(got);
  }
  return bytes;
}

} // namespace gos::executable
