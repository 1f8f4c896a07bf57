#pragma once
// One section of an ELF shared object, found without believing its headers: every offset and size
// is judged against the file, nothing is followed twice, and nothing is loaded.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace gos::bindings {

/// The contents of the only section of that name, as a part of `image`. Takes 64-bit little-endian
/// shared objects of this machine; an error says what the file is instead.
llvm::Expected<llvm::StringRef> elfSection(llvm::StringRef image, llvm::StringRef name);

} // namespace gos::bindings
