// gos build: check and fold, then one executable file that needs no gos to run.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "compiler/executable/output.h"
#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"

namespace gos::driver {
namespace {

constexpr uint64_t kBuiltSchema = 1;

/// "512 bytes", "12 KiB", "3.2 MiB".
std::string sizeWords(size_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  if (bytes < (1 << 20))
    return std::to_string(bytes >> 10) + " KiB";
  const size_t tenths = bytes * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

void say(const Options& options, const executable::Place& output, const executable::Image& image,
         executable::Written written) {
  const bool fresh = written == executable::Written::UpToDate;
  if (options.messageFormat == MessageFormat::Json) {
    JsonWriter json;
    json.beginObject();
    json.member("schema", kBuiltSchema);
    json.member("built", output.shown);
    json.member("bytes", uint64_t(image.size()));
    json.key("up_to_date");
    json.boolean(fresh);
    json.endObject();
    llvm::errs() << json.finish() << '\n';
  } else if (fresh) {
    llvm::errs() << quoted(output.shown) << " is up to date\n";
  } else {
    llvm::errs() << "built " << quoted(output.shown) << " (" << sizeWords(image.size()) << ")\n";
  }
}

} // namespace

int runBuild(const Options& options) {
  const std::string operand = options.operands.empty() ? "." : options.operands.front();
  Compilation compilation(options);
  Engine& engine = compilation.engine();
  std::optional<vm::Module> module;
  if (compilation.compile(operand, /*needsMain=*/true))
    module = compilation.lowerProgram();
  std::optional<executable::Place> output;
  if (module)
    output = executable::findOutput(compilation.project(), operand, options.output, engine);
  if (output && !compilation.checkOutput(*output))
    output.reset();
  executable::Image image;
  auto written = executable::Written::No;
  if (output) {
    const bindings::Artifact* artifact = compilation.bindings();
    llvm::Expected<std::string> library =
        artifact ? executable::readLibrary(artifact->image.get()) : std::string();
    if (!library) {
      engine.report(diag::BindingsLibrary, llvm::toString(library.takeError()));
    } else {
      image = executable::makeImage(std::move(*module), compilation.sources(),
                                    compilation.project(), *library);
      written = executable::writeOutput(*output, image, engine);
    }
  }
  printDiagnostics(engine, options);
  if (written == executable::Written::No)
    return kExitDiagnostics;
  if (!options.quiet)
    say(options, *output, image, written);
  return kExitClean;
}

} // namespace gos::driver
