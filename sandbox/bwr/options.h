#pragma once
// The command line of bwr as a value. Reading it asks nothing of the host.

#include "sandbox/policy/policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bwr {

enum class OptionId : uint8_t {
#define GOS_BWR_OPTION(id, spelling, argument, form, repeat, group, complete, summary) id,
#include "sandbox/bwr/options.def"
};
enum class OptionGroup : uint8_t {
#define GOS_BWR_GROUP(id, title) id,
#include "sandbox/bwr/options.def"
};
enum class ArgumentForm : uint8_t { None, Required, Optional };
enum class Repeat : uint8_t { Once, Many };
enum class Complete : uint8_t {
  Nothing,
  Path,
  Directory,
  Levels,
  Networks,
  Platforms,
  Profiles,
  Colours,
  Shells,
  Variables
};

struct OptionRow {
  OptionId id;
  llvm::StringRef spelling;
  llvm::StringRef argument;
  ArgumentForm form;
  Repeat repeat;
  OptionGroup group;
  Complete complete;
  llvm::StringRef summary;
};
llvm::ArrayRef<OptionRow> optionRows();
llvm::StringRef title(OptionGroup group);
llvm::ArrayRef<OptionGroup> optionGroups();
/// The words a shell offers for a value; empty where it is not a closed set.
llvm::ArrayRef<llvm::StringRef> closedSet(Complete complete);

enum class Platform : uint8_t { Linux, Macos, Windows };
enum class ColourWhen : uint8_t { Auto, Always, Never };
enum class Shell : uint8_t { Bash, Zsh, Fish };

/// What is done.
enum class Action : uint8_t {
  Run,
  Explain,
  Capabilities,
  SelfTest,
  ListProfiles,
  ShowProfile,
  Completions,
  Man,
  Version,
  Help,
};

/// A grant or a denial as it was written.
struct PathOption {
  Access access = Access::Deny;
  std::string path;
  std::string writtenAs; // `--ro /x`
};

struct Options {
  Action action = Action::Run;
  SandboxLevel level = SandboxLevel::Standard;
  std::optional<std::string> profile; // `none` too
  NetworkMode network = NetworkMode::None;
  bool networkGiven = false; // by `--network`
  std::optional<std::string> workdir;
  std::vector<PathOption> paths;
  std::vector<std::string> passEnv;
  std::vector<EnvSetting> setEnv;
  Platform platform = Platform::Linux;
  bool report = false;
  std::optional<std::string> learn;
  bool json = false;
  std::optional<std::string> jsonFile;
  ColourWhen colour = ColourWhen::Auto;
  std::string showProfile;
  Shell shell = Shell::Bash;
  std::vector<std::string> command; // with its arguments, as written
};

struct ParsedCommandLine {
  std::optional<Options> options; // none if the command line is wrong
  std::string error;              // raw bytes of the outside may be in it
  std::string hint;               // what to type instead; may be empty
  /// Was --json asked for before the mistake? Then the mistake is an object too.
  bool json = false;
  std::optional<std::string> jsonFile;
};
ParsedCommandLine parseCommandLine(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace gos::bwr
