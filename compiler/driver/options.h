#pragma once
// The command line: argv into one Options value, or one usage error (exit 2). Policy is never taken
// for data nor data for policy: an option stands after its command and before what belongs to the
// program.

#include "compiler/bindings/flags.h"
#include "diagnostics/render.h"
#include "sandbox/policy/comptime_policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::driver {

enum class CommandId : uint8_t {
#define GOS_COMMAND(id, spelling, operands, summary) id,
#include "compiler/driver/commands.def"
};
enum class OptionId : uint8_t {
#define GOS_OPTION(id, spelling, value, commands, repeat, summary) id,
#include "compiler/driver/commands.def"
};

enum class ColourWhen : uint8_t { Auto, Always, Never };

/// Options of `gos test`.
struct TestFlags {
  std::string run; // a regular expression; empty: every test
  std::vector<std::string> exact;
  bool list = false;
  bool failFast = false;
  bool includeIgnored = false, onlyIgnored = false;
  bool shuffle = false;
  std::optional<uint64_t> seed;
  uint64_t timeoutMilliseconds = 60'000;
  unsigned parallel = 0; // 0: one a processor
  enum class Format : uint8_t { Text, Junit, Json } format = Format::Text;
  std::string junitOut;
  std::string coverage; // where the LCOV goes; empty: nobody asks
  bool race = false;
};

enum class ProjectTemplate : uint8_t { Program, Library, Binding };

struct Options {
  CommandId command = CommandId::Help;
  std::vector<std::string> operands;  // FILE or DIR, CODE, COMMAND
  std::vector<std::string> arguments; // of the program, for `run`
  bool wantsHelp = false;
  bool wantsManual = false; // help as a manual page
  std::optional<ComptimeIo> comptimeIo;
  std::vector<std::string> comptimeEnv;
  Budgets budgets;
  MessageFormat messageFormat = MessageFormat::Text;
  ColourWhen colour = ColourWhen::Auto;
  bool quiet = false;
  SandboxFlags sandbox;
  bool noBuild = false; // Rust bindings are taken as they are, and Cargo is not started
  std::string output;   // of build
  TestFlags test;
  bool docMarkdown = false;
  std::string docHtml;
  bool fmtCheck = false;
  ProjectTemplate projectTemplate = ProjectTemplate::Program;
  std::string projectName; // of new; empty: from the directory
  bool cleanAll = false;
};

/// What the command line asks for, or the text of a usage error without "gos: error: ".
struct ParsedCommandLine {
  std::optional<Options> options;
  std::string error;
  std::string hint; // what to type next
  bool version = false;
};

/// `arguments` are argv without the program's name.
ParsedCommandLine parseCommandLine(llvm::ArrayRef<llvm::StringRef> arguments);

/// The help of the program, or of one command.
void printHelp(llvm::raw_ostream& out, std::optional<CommandId> command);

llvm::StringRef spelling(CommandId command);
std::optional<CommandId> commandFromSpelling(llvm::StringRef text);
/// What to type instead of a command that does not exist.
std::string hintForCommand(llvm::StringRef text);
/// The text in backticks, with nothing in it that a terminal would act on.
std::string quoted(llvm::StringRef text);

} // namespace gos::driver
