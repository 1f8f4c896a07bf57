#include "compiler/executable/image.h"

#include "compiler/executable/runtime_image.h"
#include "stdlib/program/payload.h"
#include "stdlib/program/source_lines.h"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

using namespace gos;
using namespace gos::executable;

namespace {

Project sampleProject(const std::string& prefix) {
  Project project;
  Package root, dependency;
  root.moduleName = "tool";
  root.id = "example.com/tool";
  root.displayPrefix = prefix;
  dependency.index = 1;
  dependency.id = "example.com/units";
  dependency.displayPrefix = "../" + prefix + "units/";
  project.packages.push_back(std::move(root));
  project.packages.push_back(std::move(dependency));
  return project;
}

/// A module of one function, compiled beneath a directory that is shown as `prefix`, behind `noise`
/// bytes of other sources.
Image imageAt(const std::string& prefix, size_t noise) {
  SourceMap sources;
  llvm::cantFail(sources.addCopy("<std>/core.gos", std::string(noise, '\n')));
  const FileId id = llvm::cantFail(sources.addCopy(prefix + "src/main.gos", "one\ntwo\n"));
  sources.file(id).package = 1;
  const uint32_t base = sources.file(id).base;
  vm::Module module;
  vm::Function function;
  function.name = "main";
  function.span = {base + 4, base + 7};
  module.functions.push_back(function);
  return makeImage(std::move(module), sources, sampleProject(prefix), "a library");
}

} // namespace

TEST_CASE("a source is named beneath its package, one of a dependency behind its id") {
  const Project project = sampleProject("deep/er/");
  CHECK(nameInProgram("deep/er/src/main.gos", 1, project) == "src/main.gos");
  CHECK(nameInProgram("../deep/er/units/src/lib.gos", 2, project) ==
        "example.com/units/src/lib.gos");
  CHECK(nameInProgram("<std>/core.gos", 0, project) == "<std>/core.gos");
  CHECK(nameInProgram("<generated at deep/er/src/main.gos:3:5>", 1, project) ==
        "<generated at src/main.gos:3:5>");
  CHECK(nameInProgram("<generated 2 at deep/er/src/main.gos:3:5>", 1, project) ==
        "<generated 2 at src/main.gos:3:5>");
  CHECK(nameInProgram("elsewhere.gos", 9, project) == "elsewhere.gos");
}

TEST_CASE("an image is the same wherever it was compiled, and holds the module and its places") {
  const Image one = imageAt("", 0), other = imageAt("/home/somebody/p/", 1000);
  CHECK(one.payload == other.payload);
  CHECK(one.runtime == runtimeImage());
  llvm::Expected<program::Payload> payload = program::parsePayload(one.payload);
  REQUIRE(bool(payload));
  CHECK(payload->name == "tool");
  CHECK(payload->library == "a library");
  llvm::Expected<vm::Module> module = vm::deserialise(payload->module);
  llvm::Expected<program::SourceLines> lines = program::SourceLines::parse(payload->lines);
  REQUIRE(bool(module));
  REQUIRE(bool(lines));
  const std::optional<program::Place> place = lines->placeOf(module->functions[0].span);
  REQUIRE(place.has_value());
  CHECK(place->file == "src/main.gos");
  CHECK(place->line == 2);
  CHECK(place->column == 1);
}

TEST_CASE("the embedded runtime is an ELF executable without a payload") {
  CHECK(runtimeImage().starts_with("\x7f"
                                   "ELF"));
  llvm::Expected<program::Payload> payload = program::parsePayload(runtimeImage());
  CHECK_FALSE(bool(payload));
  llvm::consumeError(payload.takeError());
}

TEST_CASE("a library is read whole, and where the descriptor stands does not matter") {
  const int fd = ::memfd_create("library", MFD_CLOEXEC);
  REQUIRE(::write(fd, "bytes", 5) == 5);
  llvm::Expected<std::string> library = readLibrary(fd);
  REQUIRE(bool(library));
  CHECK(*library == "bytes");
  ::close(fd);
  llvm::Expected<std::string> closed = readLibrary(-1);
  CHECK_FALSE(bool(closed));
  llvm::consumeError(closed.takeError());
}
