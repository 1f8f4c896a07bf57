#pragma once
// The one function an output format for bytes that came from outside (threats T077, T080): no
// control byte, no bidirectional control, no invalid UTF-8 reaches a terminal or a JSON line.

#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos {

/// Visible escapes (\n, \x1b, \u{202e}) for C0, DEL, C1, bidirectional and tag characters and for
/// bytes that are not UTF-8; everything else as it is.
std::string escapeForText(llvm::StringRef bytes);
/// The same, but newline and tab stay: for text of several lines that is ours in shape.
std::string escapeForTextBlock(llvm::StringRef bytes);

/// What a message quotes of a text from outside: all of it, or the beginning and how much more
/// there is. Whole characters stay whole.
std::string bounded(llvm::StringRef bytes);

} // namespace gos
