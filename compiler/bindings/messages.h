#pragma once
// What Cargo says with `--message-format=json`. A macro can print such lines as well, so nothing
// here is believed: it words reports, and names directories that are looked at once more next time.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gos::bindings {

/// An error or a warning of the Rust compiler.
struct CompilerMessage {
  std::string crate; // the name of the package
  std::string level; // "error", "warning"
  std::string text;
  std::string place; // "src/lib.rs:3:5", or empty
  std::string rendered;
};

/// A build script that ran, now or before.
struct BuildScript {
  std::string crate;           // the name of the package
  std::string outputDirectory; // its OUT_DIR
};

class Messages {
public:
  /// A line of Cargo's standard output.
  void take(llvm::StringRef line);
  /// A line of its standard error.
  void takeError(llvm::StringRef line);

  llvm::ArrayRef<CompilerMessage> errors() const { return errors_; }
  llvm::ArrayRef<CompilerMessage> warnings() const { return warnings_; }
  /// The directories of packages that are no download, sorted.
  std::vector<std::string> pathPackages() const;
  llvm::ArrayRef<BuildScript> scripts() const { return scripts_; }
  /// The last lines of standard error, from the first that says `error:`.
  std::vector<std::string> complaint() const;
  /// The crate whose build script ended with an error, or empty.
  const std::string& failedScript() const { return failedScript_; }
  bool diskFull() const { return diskFull_; }
  /// What a build script printed before it failed, and other lines, as they came.
  llvm::ArrayRef<std::string> lines() const { return lines_; }

private:
  std::vector<CompilerMessage> errors_, warnings_;
  std::vector<BuildScript> scripts_;
  std::vector<std::string> paths_, lines_;
  std::string failedScript_;
  uint64_t dropped_ = 0;
  bool diskFull_ = false;
};

/// The name in "path+file:///w/stats#0.1.0", "registry+https://..#serde@1.0", "stats 0.1.0 (..)".
std::string packageName(llvm::StringRef packageId);

} // namespace gos::bindings
