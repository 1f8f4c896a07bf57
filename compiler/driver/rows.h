#pragma once
// The rows of commands.def, for the help, the completions and the manual pages.

#include "compiler/driver/options.h"

namespace gos::driver {

using CommandSet = unsigned;
constexpr CommandSet bit(CommandId id) {
  return 1u << unsigned(id);
}

enum Repeat : uint8_t { Once, Many };

struct CommandRow {
  CommandId id;
  llvm::StringRef spelling, operands, summary;
};
struct OptionRow {
  OptionId id;
  llvm::StringRef spelling, value; // see commands.def
  CommandSet commands;
  Repeat repeat;
  llvm::StringRef summary;
};

llvm::ArrayRef<CommandRow> commandRows();
llvm::ArrayRef<OptionRow> optionRows();
/// "--sandbox[=LEVEL]", "-o FILE", "--quiet".
std::string optionWords(const OptionRow& option);
/// The words that an option takes, where there is a list of them.
llvm::ArrayRef<llvm::StringRef> wordsOf(OptionId option);

/// A completion script for a shell; none for one that is not known.
std::optional<std::string> completionsFor(llvm::StringRef shell);
/// The manual page of the program, or of one command.
void printManualPage(llvm::raw_ostream& out, std::optional<CommandId> command);

} // namespace gos::driver
