#pragma once
// The library as the checker sees it: an interface over names, and the real one over stdlib/.

#include "compiler/resolve/library.h"

namespace gos::check {

using Library = resolve::Library;
using NativeFunction = resolve::NativeFunction;

/// The library that is built into the tool. Lives as long as the process.
const Library& standardLibrary();

} // namespace gos::check
