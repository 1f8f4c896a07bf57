#pragma once
// Where a built program goes, and writing it there.
//
// A cloned project names its output and its package, and may hold any links and files; whoever
// builds it did not read them. So a place that the project chose lies beneath the project, is
// reached through no link, is not hidden, and replaces nothing that `gos build` did not write. The
// same holds for a name that the project chose in a directory of the command line.

#include "compiler/executable/image.h"
#include "compiler/executable/place.h"
#include "diagnostics/engine.h"

#include <optional>

namespace gos::executable {

/// Finds the place: `option` of -o; else of a FILE its name without `.gos` in the working
/// directory; else `project.output`, or the last part of the project's id, beneath the project.
/// A directory, there or named with a `/` at its end, means the usual name in it; `-o -` is
/// standard output. None after a report.
std::optional<Place> findOutput(const Project& project, llvm::StringRef operand,
                                llvm::StringRef option, Engine& engine);

enum class Written : uint8_t { No, UpToDate, Yes };

/// Puts the image in its place in one step: whoever looks sees the old file or the new one. Where
/// the very same program stands already nothing is done. No after a report, and the old file is
/// then still there.
Written writeOutput(const Place& output, const Image& image, Engine& engine);

} // namespace gos::executable
