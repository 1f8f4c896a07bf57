#pragma once
// The modules of Rust bindings as packages of the program: declarations from signatures, which are
// data. Nothing of the library is loaded here.

#include "compiler/bindings/signatures.h"
#include "compiler/check/check.h"
#include "manifest/project.h"
#include "stdlib/foreign.h"

#include <vector>

namespace gos::driver {

/// Adds one package for each first segment of a module's path behind those of the project, as a
/// dependency of every package whose manifest names a crate of it. False after reports: a module
/// has the name of a dependency or a module of such a package.
bool addBindingModules(const Project& project, const bindings::Signatures& signatures,
                       check::ProgramInput& input, Engine& engine);

/// What the library offers, for `stdlib::ForeignLibrary` to hold calls against.
std::vector<stdlib::ForeignOffer> foreignOffers(const bindings::Signatures& signatures);

} // namespace gos::driver
