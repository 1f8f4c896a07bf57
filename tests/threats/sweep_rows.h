#pragma once
// The rows of builtins.def as programs: for each row every spelling that a user has for it, with
// sample arguments made from its signature.

#include "stdlib/builtins.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::threats {

enum class Way { Path, Alias, Method, Pipe, Stored, Closure, Callback };
inline constexpr Way kWays[] = {Way::Path,   Way::Alias,   Way::Method,  Way::Pipe,
                                Way::Stored, Way::Closure, Way::Callback};
llvm::StringRef name(Way way);

/// How a row is called in one spelling.
struct SweepCase {
  std::vector<std::string> uses;   // "use std::fs"
  std::vector<std::string> before; // statements that make the arguments
  std::vector<std::string> act;    // statements that reach the row
  /// A value that only the world can give (an open file, a connection): made at `full` by the root
  /// package and handed to a dependency at the level in question, which spells the call.
  std::string handleType, handle;
  std::string handleUse;
};

/// None: the row has no such spelling (a free function has no method form). An error text in `why`
/// when the row can't be called at all, which fails the sweep.
std::optional<SweepCase> sweepCase(const stdlib::BuiltinRow& row, Way way, std::string& why);

/// A row whose body judges more than its class: the reason, or empty.
llvm::StringRef deniedAtConfinedBecause(const stdlib::BuiltinRow& row);
/// A row that is not run at full: the reason, or empty.
llvm::StringRef notRunAtFullBecause(const stdlib::BuiltinRow& row);

} // namespace gos::threats
