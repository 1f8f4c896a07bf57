#pragma once
// Where bindings are built: beneath `$XDG_CACHE_HOME/gossamer`, a directory of ours that nobody
// else can write to, outside of every source tree.
//
//   cargo/                        the CARGO_HOME of bindings: only a fetch writes it
//   bindings/KEY/                 one project
//     project                     its directory, for people and for `gos clean`
//     workspace/ crates/          what we generate: the workspace, our two crates
//     target-LEVEL/               Cargo's; never believed
//     state-LEVEL                 what the last library was made from
//     artifacts/SHA256            libraries, named by what they hold
//     home/                       the empty home of a build

#include "sandbox/unique_fd.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace gos::bindings {

/// Why the cache cannot be used, with what to do.
struct CacheError : llvm::ErrorInfo<CacheError> {
  static char ID;
  CacheError(std::string problem, std::string advice)
      : text(std::move(problem)), remedy(std::move(advice)) {}
  void log(llvm::raw_ostream& out) const override { out << text; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::io_error);
  }
  std::string text, remedy;
};

class Cache {
public:
  /// Opens the cache of a project and makes what is missing of it. Refuses a directory that is
  /// another's, that others can write to, or that lies inside the program.
  static llvm::Expected<Cache> open(llvm::ArrayRef<std::string> environment,
                                    llvm::StringRef projectDirectory,
                                    llvm::ArrayRef<std::string> programDirectories);

  const std::string& cargoHome() const { return cargoHome_; }
  const std::string& project() const { return project_; }
  /// What holds the caches of all projects.
  llvm::StringRef top() const { return llvm::StringRef(cargoHome_).rsplit('/').first; }
  std::string path(llvm::StringRef name) const { return project_ + "/" + name.str(); }
  int descriptor() const { return fd_.get(); }

  /// A directory beneath the project's, made if it is missing; no link.
  llvm::Error makeDirectory(const std::string& name) const;
  /// Replaces a file beneath the project's directory, or beneath `cargo` of the cache, whole; does
  /// nothing if it holds these bytes already.
  llvm::Error write(const std::string& name, llvm::StringRef bytes) const;
  /// The same for a program.
  llvm::Error writeProgram(const std::string& name, llvm::StringRef bytes) const;
  llvm::Error writeCargoConfig(llvm::StringRef bytes) const;
  /// A file of ours; empty if it is missing or none of ours.
  std::optional<std::string> read(const std::string& name, uint64_t cap) const;
  void remove(const std::string& name) const;

  /// Waits until no other process builds this project; held until the cache goes.
  llvm::Error lock();

private:
  std::string cargoHome_, project_;
  UniqueFd fd_, cargoFd_, lock_;
};

/// The root of the cache as the environment has it; empty if there is none.
std::string cacheRoot(llvm::ArrayRef<std::string> environment);
/// Opens a regular file beneath a directory that is ours; links are not followed anywhere.
UniqueFd openBeneath(int directory, const std::string& name, int flags);
/// Replaces a file beneath a directory; the directories on the way exist.
llvm::Error replaceFile(int directory, const std::string& name, llvm::StringRef bytes,
                        unsigned mode);

} // namespace gos::bindings
