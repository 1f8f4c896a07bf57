#pragma once
// What Cargo built, taken over: opened once without following links, checked by its descriptor,
// read whole while it is hashed, and from then on only our copy is used (T120).

#include "compiler/bindings/bindings.h"
#include "compiler/bindings/cache.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bindings {

/// The largest library that is taken over.
inline constexpr uint64_t kLargestLibrary = uint64_t(512) << 20;

/// Takes the library over from the target directory and keeps it in the cache. The error says what
/// was wrong with it.
llvm::Expected<Artifact> takeArtifact(const Cache& cache, const std::string& target);
/// A library that the cache keeps, if it is still what its name says.
llvm::Expected<Artifact> loadArtifact(const Cache& cache, const std::string& sha256);

/// What the last library of a level was made from.
struct Freshness {
  std::string key;                // of everything that is no source file
  std::string inputs;             // of the same without how the build was confined
  std::vector<std::string> roots; // directories of sources
  std::string listing;            // digest of what lies in them; empty: not known
  std::string sha256;             // of the library
};
std::optional<Freshness> readFreshness(const Cache& cache, const std::string& name);
llvm::Error writeFreshness(const Cache& cache, const std::string& name, const Freshness& freshness);
/// Digest of the names, sizes, times and numbers of all files beneath the roots; empty if there are
/// too many to look at, or one was changed at or after `since` (`changeClock`; 0: whenever).
std::string listingDigest(const std::vector<std::string>& roots, int64_t since);
/// The nanosecond from which on a change of a file bears a later time than one that was made before
/// this call: the clock of file systems goes in ticks of some milliseconds.
int64_t changeClock();
/// The files that a build of the target directory read besides those of registries, by the list
/// that Cargo leaves beside the library; none if it left none that can be read.
std::optional<std::vector<std::string>> filesBuiltFrom(const Cache& cache,
                                                       const std::string& target);
/// The files of one rule of a makefile as Cargo writes it.
std::vector<std::string> filesOfRule(llvm::StringRef text);

} // namespace gos::bindings
