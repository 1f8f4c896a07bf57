#pragma once
// What makes a library the same bytes wherever its project lies and whoever builds it: no directory
// of this machine gets into it.

#include "compiler/bindings/policies.h"

namespace gos::bindings {

/// The compiler's flags that put places of the project in place of directories, as values of TOML.
std::string remappingFlags(const BuildFacts& facts, const Cache& cache);

/// The program that Cargo starts as the compiler. Cargo makes the directory of a package a part of
/// the names of all that is in it (`-C metadata`); this says instead what the package is and where
/// in the project it lies, and becomes the compiler.
std::string compilerScript(const BuildFacts& facts, const Cache& cache);
/// Where it lies beneath the cache of a project.
inline constexpr const char* kCompilerScript = "workspace/rustc";

} // namespace gos::bindings
