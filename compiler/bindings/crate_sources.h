#pragma once
// The two Rust crates that bindings are compiled against, as they ship inside the toolchain: what a
// build uses is a copy of these bytes, wherever `gos` was installed and whatever lies beside it.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gos::bindings {

/// A file of one of the crates.
struct CrateFile {
  llvm::StringRef path; // "gossamer-binding/src/lib.rs": below the directory both are written to
  llvm::StringRef content;
};

/// Every file of both crates, sorted by path. The crates depend on nothing but each other, by path.
llvm::ArrayRef<CrateFile> crateSources();

/// The version both crates carry: what `gossamer-binding = "0.1"` of a binding crate must accept.
llvm::StringRef crateVersion();

} // namespace gos::bindings
