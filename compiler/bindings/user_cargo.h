#pragma once
// What of the user's own Cargo configuration holds for bindings, and what of the environment: the
// registries, sources, proxies and network settings of `$CARGO_HOME/config.toml`, and a token for
// each registry that it names. Nothing of a project is read (T090, T091, T092).

#include "manifest/toml_reader.h"
#include "sandbox/policy/policy.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bindings {

struct UserCargo {
  std::string config;                // the configuration that we write
  std::vector<EnvSetting> tokens;    // for the fetch alone
  std::vector<std::string> readOnly; // local registries and certificates that it names
  std::vector<std::string> hosts;    // of all addresses in it, as `authorityOf` gives them
};

/// Reads the configuration of the user; what is not understood is left out.
UserCargo readUserCargo(llvm::ArrayRef<std::string> environment,
                        llvm::ArrayRef<std::string> programDirectories);

/// A file of TOML; none where there is none that can be read.
std::optional<TomlValue> readTable(const std::string& path);

/// Variables that pass to a build besides those of every command.
struct BuildVariables {
  std::vector<std::string> passed;
  std::vector<std::string> ignored; // NAME or NAME=VALUE, for the report
};
BuildVariables buildVariables(llvm::ArrayRef<std::string> environment,
                              llvm::ArrayRef<std::string> programDirectories);

/// Files of the program and of the directories above it that Cargo, rustup or git would obey.
std::vector<std::string> ignoredFiles(llvm::ArrayRef<std::string> environment,
                                      llvm::ArrayRef<std::string> directories);

} // namespace gos::bindings
