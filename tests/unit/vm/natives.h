#pragma once
// A handful of natives for the tests: one of each interesting class, and some that call back.

#include "tests/unit/vm/machine.h"

namespace gos::vm::test {

/// How often the body of `write` was entered: a denied one never is.
extern int writesDone;

/// "call" (closure, i64) -> i64; "env" (String) -> String; "exit" (i64); "length" (String) -> i64;
/// "print" (String); "read" (String) -> String, denied in the body when the text is "outside";
/// "shout" (&mut String); "write" (String).
NativeTable testNatives();

} // namespace gos::vm::test
