#pragma once
// A module as text, for goldens and for people.

#include "vm/module.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace gos::vm {

/// "AddI64", from opcodes.def.
llvm::StringRef spelling(Opcode op);
/// Its operand format.
llvm::StringRef operandFormat(Opcode op);

/// One function: a head line with its registers, one line an instruction.
void disassemble(const Module& module, FunctionId function, llvm::raw_ostream& out);
/// All of the module: layouts, imports, functions.
std::string disassemble(const Module& module);

} // namespace gos::vm
