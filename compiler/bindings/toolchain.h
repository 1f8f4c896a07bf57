#pragma once
// Which Cargo builds bindings: found once, by absolute paths, before anything is started. A proxy
// of rustup is not started at all, since it reads the project's `rust-toolchain.toml`; the
// toolchain that the user chose for everything is used directly.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::bindings {

struct Toolchain {
  std::string cargo, rustc; // canonical
  /// Where both lie: the first entry of PATH in a build.
  std::string directory;
  /// What a build reads of it, canonical; beneath a home nothing else is visible.
  std::vector<std::string> readOnly;
  /// Changes whenever the programs do.
  std::string identity;
};

/// Why there is none, and what to do about it.
struct NoToolchain : llvm::ErrorInfo<NoToolchain> {
  static char ID;
  NoToolchain(std::string problem, std::string advice)
      : text(std::move(problem)), remedy(std::move(advice)) {}
  void log(llvm::raw_ostream& out) const override { out << text; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }
  std::string text, remedy;
};

/// The oldest Cargo that keeps credentials to the registry they are for.
inline constexpr unsigned kOldestMinor = 74;

/// What to type to get a Cargo.
extern const char* const kInstallCargo;

/// The entries of PATH that a build may use: absolute, and outside of every directory of the
/// program (T097, T098).
std::vector<std::string> trustedPath(llvm::ArrayRef<std::string> environment,
                                     llvm::ArrayRef<std::string> programDirectories);
/// A NoToolchain error, or the toolchain; nothing is started.
llvm::Expected<Toolchain> findToolchain(llvm::ArrayRef<std::string> environment,
                                        llvm::ArrayRef<std::string> programDirectories);
/// Judges "cargo 1.96.0 (30a34c682 2026-05-25)"; the text of the problem, empty if it is good.
std::string versionProblem(llvm::StringRef version);

} // namespace gos::bindings
