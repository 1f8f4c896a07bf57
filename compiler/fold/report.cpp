#include "compiler/fold/report.h"

#include "diagnostics/escape.h"
#include "sandbox/policy/capability.h"

#include "llvm/Support/FormatVariadic.h"

namespace gos::fold {
namespace {

/// The innermost frames that the user wrote; library code is transparent.
std::vector<const vm::TraceFrame*> userFrames(const vm::TrapDetails& trap) {
  std::vector<const vm::TraceFrame*> frames;
  for (const vm::TraceFrame& frame : trap.trace)
    if (!frame.transparent && frame.span.valid())
      frames.push_back(&frame);
  return frames;
}

std::string place(Span span, const Engine& engine) {
  const SourceMap& sources = engine.sources();
  const FileId file = sources.fileOf(span);
  if (file == FileId::None)
    return "an unknown place";
  const LineColumn at = sources.locate(span);
  return llvm::formatv("{0}:{1}:{2}", sources.file(file).name, at.line, at.column);
}

/// "called by `f` at file:line:column", for each frame between the failing call and the region.
void addChain(Diagnostic& diagnostic, const std::vector<const vm::TraceFrame*>& frames,
              uint64_t omitted, const Engine& engine) {
  constexpr size_t kShown = 12;
  for (size_t i = 1; i < frames.size(); ++i) {
    if (i > kShown) {
      omitted += frames.size() - i;
      break;
    }
    diagnostic.note("in `" + frames[i - 1]->function + "`, called at " +
                    place(frames[i]->span, engine));
  }
  if (omitted)
    diagnostic.note("and " + std::to_string(omitted) + " more calls");
}

/// "stats::fast::mean" where the builtin is a function of Rust bindings; else empty.
llvm::StringRef rustFunction(const vm::Denial& denial) {
  llvm::StringRef name = denial.builtin;
  return name.consume_front("rust:") ? name : llvm::StringRef();
}

/// What the user called. Where the library wraps a builtin and the call left no spelling, the
/// library function that the user's code entered: nobody can write, or look for, what it calls
/// inside.
std::string calledBuiltin(const vm::TrapDetails& trap) {
  if (!trap.denial.spelling.empty())
    return trap.denial.spelling;
  const vm::TraceFrame* entered = nullptr;
  for (const vm::TraceFrame& frame : trap.trace) {
    if (!frame.transparent)
      break;
    entered = &frame;
  }
  if (entered && !entered->function.empty())
    return entered->function;
  return rustFunction(trap.denial).empty() ? trap.denial.builtin : rustFunction(trap.denial).str();
}

/// The ways to permit it, the narrowest first. No option loosens what a manifest holds down (ruling
/// 1).
void addRemedies(Diagnostic& diagnostic, const vm::Denial& denial, bool foreign) {
  if (foreign) { // no level permits it
    diagnostic.help(
        "write the call into a source file, in a region that uses no such text; or make "
        "the text with code of its own package alone");
    return;
  }
  const bool fromManifest = !llvm::StringRef(denial.levelOrigin).starts_with("the ");
  if (denial.narrowest.empty() && denial.capability == Capability::Read &&
      denial.levelText == spelling(ComptimeIo::Confined))
    diagnostic.help("put the file into a directory of its own, with a `project.toml`");
  else if (!denial.narrowest.empty())
    diagnostic.help(llvm::StringRef(denial.narrowest).starts_with("--")
                        ? "`" + denial.narrowest + "` permits this one variable"
                        : "read " + denial.narrowest + " instead");
  else if (fromManifest)
    diagnostic.help("the level is held down by " + denial.levelOrigin +
                    "; change it there if the code is trusted");
  else if (denial.levelText == spelling(ComptimeIo::None) &&
           lowestLevel(denial.capability) == ComptimeIo::Confined)
    diagnostic.help(denial.capability == Capability::Read
                        ? "`--comptime-io=confined` permits reads of files under the package root"
                    : denial.capability == Capability::EnvRead
                        ? "`--comptime-io=confined --comptime-env NAME` permits one variable"
                        : "`--comptime-io=confined` permits it, as a note of the compiler");
  diagnostic.help(std::string("if the code is trusted, `--comptime-io=full` lets its regions reach "
                              "everything you can") +
                  (fromManifest ? ", once the manifest does" : ""));
}

/// Why a region is judged as nobody's: ruling 2.
std::string foreignText(const std::vector<const vm::TraceFrame*>& frames, Span region,
                        const Engine& engine) {
  const SourceMap& sources = engine.sources();
  const auto madeAt = [&](Span span) -> std::optional<std::string> {
    const FileId file = sources.fileOf(span);
    if (file == FileId::None || !sources.file(file).foreign)
      return std::nullopt;
    return "text that the `codegen!` at " + place(sources.file(file).parent, engine) + " made";
  };
  const std::string rest = " with code of another package; such text has no I/O at any level";
  for (size_t i = 0; i < frames.size(); ++i)
    if (auto made = madeAt(frames[i]->span))
      return (i == 0 ? "the call stands in " : "the call is made by ") + *made + rest;
  if (auto made = madeAt(region))
    return "the region stands in " + *made + rest;
  return "the region can reach text that a `codegen!` made" + rest;
}

void reportDenial(const vm::TrapDetails& trap, const check::Region& region, bool foreign,
                  const ComptimePolicy& policy, Engine& engine) {
  const vm::Denial& denial = trap.denial;
  const auto frames = userFrames(trap);
  const Span at = frames.empty() ? region.node->span : frames.front()->span;
  const std::string builtin = calledBuiltin(trap);
  Diagnostic& diagnostic = engine.report(at, diag::ComptimeDenied, builtin,
                                         reportName(denial.capability), denial.levelText);
  if (foreign) // no option that was given says so
    diagnostic.message = "`" + bounded(builtin) + "` needs " + reportName(denial.capability).str() +
                         ", which text that another package made is not allowed at any level";
  if (!(at == region.node->span))
    diagnostic.label(region.node->span, "in this compile-time region");
  if (!denial.detail.empty())
    diagnostic.primary(denial.detail);
  addChain(diagnostic, frames, trap.traceOmitted, engine);
  if (const llvm::StringRef rust = rustFunction(denial); !rust.empty())
    diagnostic.note(
        "`" + builtin + "` is " +
        (builtin == rust ? "a Rust function" : ("the Rust function `" + rust + "`").str()) +
        ", and native code cannot be bounded");
  else if (builtin != denial.builtin &&
           !llvm::StringRef(denial.builtin).starts_with("intrinsics::"))
    diagnostic.note("`" + builtin + "` is `std::" + denial.builtin + "`");
  diagnostic.note(foreign
                      ? foreignText(frames, region.node->span, engine)
                      : "the level `" + denial.levelText + "` comes from " + denial.levelOrigin);
  if (const auto caller = vm::policyPackage(denial.package);
      caller && *caller != 0 && *caller < policy.packages.size())
    diagnostic.note("the call is judged for package `" + policy.packages[*caller].name +
                    "`, whose source spells it");
  addRemedies(diagnostic, denial, foreign);
}

} // namespace

void reportTrap(const vm::TrapDetails& trap, const check::Region& region, bool foreign,
                const ComptimePolicy& policy, Engine& engine) {
  const Span at = region.node->span;
  const auto frames = userFrames(trap);
  auto withPlace = [&](Diagnostic& diagnostic) {
    if (!frames.empty() && !(frames.front()->span == at))
      diagnostic.label(frames.front()->span, "happened here");
    if (trap.lent && trap.lent->span.valid() && !trap.lent->transparent)
      diagnostic.label(trap.lent->span, "borrowed here, until the call is done");
    addChain(diagnostic, frames, trap.traceOmitted, engine);
  };
  switch (trap.kind) {
  case vm::TrapKind::Denied:
    return reportDenial(trap, region, foreign, policy, engine);
  case vm::TrapKind::Budget:
  case vm::TrapKind::Depth: {
    Diagnostic& diagnostic =
        engine.report(at, diag::BudgetExhausted, llvm::StringRef(trap.counter), trap.limit);
    withPlace(diagnostic);
    const llvm::StringRef counter = trap.counter;
    if (counter == "memory" || counter == "nesting") // limits of the machine, and no budgets
      diagnostic.message = trap.message;
    // What was too large, and how large it is: the library says so behind the sentence of the trap.
    if (const size_t more = trap.message.find(" (`"); more != std::string::npos)
      diagnostic.note(llvm::StringRef(trap.message).substr(more + 2).rtrim(")").str());
    if (counter == "steps")
      diagnostic.help(
          "if the region is meant to work that long, raise the limit with `--comptime-steps=N`");
    else if (counter == "heap")
      diagnostic.help("if the region is meant to hold that much, raise the limit with "
                      "`--comptime-memory=BYTES`");
    else if (counter == "depth")
      diagnostic.help(
          "if the recursion is meant to go that deep, raise the limit with `--comptime-depth=N`");
    else if (counter == "memory")
      diagnostic.note("the budget of the region would allow more");
    else if (counter == "nesting")
      diagnostic.note("no option raises this limit");
    return;
  }
  case vm::TrapKind::Panic:
  case vm::TrapKind::Incompatible:
  case vm::TrapKind::NoArm:
    return withPlace(engine.report(at, diag::RegionPanicked, trap.message));
  case vm::TrapKind::Exit:
    return withPlace(engine.report(at, diag::RegionPanicked, "the region ended the process"));
  case vm::TrapKind::Refused:
  case vm::TrapKind::None:
    engine.report(at, diag::RegionRefused, trap.message);
    return;
  }
}

void reportOutput(const RegionAnswer& answer, const check::Region& region, Engine& engine) {
  if (answer.output.empty())
    return;
  Diagnostic& note = engine.report(region.node->span, diag::RegionOutput);
  llvm::StringRef rest = answer.output;
  constexpr size_t kLines = 100;
  size_t lines = 0;
  while (!rest.empty() && lines < kLines) {
    auto [line, tail] = rest.split('\n');
    note.note(("printed: " + line).str());
    rest = tail;
    ++lines;
  }
  const uint64_t omitted = answer.outputOmitted + rest.size();
  if (omitted)
    note.note("and " + std::to_string(omitted) + " more bytes");
}

} // namespace gos::fold
