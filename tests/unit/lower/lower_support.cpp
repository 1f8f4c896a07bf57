#include "tests/unit/lower/lower_support.h"

#include "compiler/check/check.h"
#include "compiler/lower/lowering.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"
#include "vm/disassembler.h"
#include "vm/verifier.h"
#include "vm/vm.h"

#include "llvm/ADT/SmallVector.h"

#include <doctest/doctest.h>

#include <optional>

namespace gos::lower::test {

namespace {
std::optional<vm::Module> compile(llvm::StringRef source, std::string& diagnostics) {
  SourceMap sources;
  Engine engine(sources);
  ast::Context context;
  auto file = sources.addCopy("main.gos", source);
  if (!file) {
    diagnostics = llvm::toString(file.takeError());
    return std::nullopt;
  }
  check::ProgramInput input{context, sources, &check::standardLibrary()};
  parse::ParseOptions options;
  options.isEntry = true;
  resolve::Package package;
  package.name = "main";
  resolve::SourceModule module;
  module.file = parse::parseFile(*file, sources, context, engine, options);
  module.file.module->package = 1;
  package.modules.push_back(module);
  input.packages.push_back(package);
  std::optional<vm::Module> result;
  if (!engine.hasErrors()) {
    check::Program program = check::check(input, engine);
    if (!engine.hasErrors()) {
      auto lowered = lower(program, {}, engine);
      if (lowered)
        result = std::move(*lowered);
      else
        diagnostics = llvm::toString(lowered.takeError()) + "\n";
    }
  }
  for (const Diagnostic& diagnostic : engine.diagnostics())
    diagnostics += (spelling(diagnostic.code) + " " + diagnostic.message + "\n").str();
  return result;
}
} // namespace

vm::Module compiled(llvm::StringRef source) {
  std::string diagnostics;
  std::optional<vm::Module> module = compile(source, diagnostics);
  REQUIRE_MESSAGE(module, diagnostics);
  return std::move(*module);
}

Outcome run(llvm::StringRef source) {
  Outcome outcome;
  std::optional<vm::Module> module = compile(source, outcome.diagnostics);
  if (!module)
    return outcome;
  if (auto error = vm::verify(*module, stdlib::nativeTable())) {
    outcome.refused = llvm::toString(std::move(error));
    return outcome;
  }
  // As a fold at level full, which keeps what is printed.
  ComptimePolicy policy;
  policy.commandLine = ComptimeIo::Full;
  policy.packages.emplace_back();
  policy.packages[0].level = ComptimeIo::Full;
  vm::VmOptions options;
  options.mode = vm::Mode::Fold;
  options.policy = &policy;
  options.regionPackage = 1;
  options.steps = 50'000'000;
  auto machine = vm::Vm::create(*module, stdlib::nativeTable(), std::move(options));
  if (!machine) {
    outcome.refused = llvm::toString(machine.takeError());
    return outcome;
  }
  vm::Value result = 0;
  vm::Trap trap = (*machine)->run(module->entry, result);
  outcome.output = (*machine)->capturedOutput().str();
  if (trap)
    outcome.panic = trap->message;
  return outcome;
}

std::string output(llvm::StringRef source) {
  Outcome outcome = run(source);
  if (!outcome.refused.empty())
    return "refused: " + outcome.refused;
  if (!outcome.panic.empty())
    return outcome.output + "panic: " + outcome.panic;
  return outcome.diagnostics.empty() ? outcome.output : outcome.diagnostics;
}

std::string codeOf(llvm::StringRef source, llvm::StringRef function) {
  std::string diagnostics;
  std::optional<vm::Module> module = compile(source, diagnostics);
  if (!module)
    return diagnostics;
  for (uint32_t i = 0; i != module->functions.size(); ++i) {
    if (module->functions[i].name != function)
      continue;
    std::string text, result;
    llvm::raw_string_ostream stream(text);
    vm::disassemble(*module, vm::FunctionId(i), stream);
    llvm::SmallVector<llvm::StringRef, 32> lines;
    llvm::StringRef(stream.str()).split(lines, '\n', -1, false);
    for (llvm::StringRef line : llvm::ArrayRef(lines).drop_front()) {
      line = line.trim();
      line = line.drop_while([](char c) { return c >= '0' && c <= '9'; }).trim();
      line = line.split("  ;").first.rtrim();
      llvm::SmallVector<llvm::StringRef, 6> words;
      line.split(words, ' ', -1, false);
      for (size_t w = 0; w != words.size(); ++w)
        result += (w ? " " : "") + words[w].str();
      result += '\n';
    }
    return result;
  }
  return "no such function";
}

int packageOf(llvm::StringRef source, llvm::StringRef function) {
  std::string diagnostics;
  std::optional<vm::Module> module = compile(source, diagnostics);
  if (module)
    for (const vm::Function& each : module->functions)
      if (each.name == function)
        return each.transparent == (each.package == 0) ? int(each.package) : -2;
  return -1;
}

} // namespace gos::lower::test
