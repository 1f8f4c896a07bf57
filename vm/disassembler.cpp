#include "vm/disassembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cstring>

namespace gos::vm {

namespace {

constexpr const char* kNames[] = {
#define GOS_OP(name, format) #name,
#include "vm/opcodes.def"
};
constexpr const char* kFormats[] = {
#define GOS_OP(name, format) format,
#include "vm/opcodes.def"
};

#define GOS_OP(name, format) static_assert(sizeof(format) <= 5, "an instruction has four operands");
#include "vm/opcodes.def"

llvm::StringRef layoutName(const Module& module, LayoutId id) {
  return index(id) < module.layouts.size() ? llvm::StringRef(module.layouts[index(id)].name)
                                           : llvm::StringRef("?");
}

void writeText(llvm::StringRef text, llvm::raw_ostream& out) {
  out << '"';
  out.write_escaped(text.take_front(60));
  out << (text.size() > 60 ? "\"..." : "\"");
}

/// What an index means, behind the operands.
void writeMeaning(const Module& module, Instruction instruction, llvm::raw_ostream& out) {
  const auto named = [&](auto& list, uint32_t at) { return at < list.size(); };
  switch (instruction.op()) {
  case Opcode::Call:
  case Opcode::NewClosure:
    if (named(module.functions, instruction.bx()))
      out << "  ; " << module.functions[instruction.bx()].name;
    return;
  case Opcode::CallNative:
    if (named(module.natives, instruction.bx()))
      out << "  ; " << module.natives[instruction.bx()].name;
    return;
  case Opcode::LoadString:
    if (named(module.strings, instruction.bx())) {
      out << "  ; ";
      writeText(module.strings[instruction.bx()], out);
    }
    return;
  case Opcode::LoadGlobal:
    if (named(module.globals, instruction.bx()))
      out << "  ; " << module.globals[instruction.bx()].name;
    return;
  case Opcode::LoadConstant:
    if (named(module.constants, instruction.bx()))
      out << "  ; " << int64_t(module.constants[instruction.bx()]);
    return;
  case Opcode::NewStruct:
    out << "  ; " << layoutName(module, LayoutId(instruction.bx()));
    return;
  case Opcode::NewEnum:
  case Opcode::NewUnitVariant:
  case Opcode::NewVec:
    out << "  ; " << layoutName(module, LayoutId(instruction.b()));
    return;
  case Opcode::NewVecRepeat:
    out << "  ; " << layoutName(module, LayoutId(instruction.c()));
    return;
  default: // a comment, not a table: the other opcodes need none
    return;
  }
}

void writeInstruction(const Module& module, uint32_t pc, Instruction instruction,
                      llvm::raw_ostream& out) {
  out << llvm::format("  %4u  ", pc);
  if (uint8_t(instruction.word) >= kOpcodeCount) {
    out << "?\n";
    return;
  }
  out << llvm::left_justify(spelling(instruction.op()), 18);
  const llvm::StringRef format = operandFormat(instruction.op());
  const bool isWide = format.size() < 3 || format[2] == '-';
  for (unsigned i = 0; i < format.size(); ++i) {
    const uint32_t operands[] = {instruction.a(), instruction.b(), instruction.c(),
                                 instruction.d()};
    switch (format[i]) {
    case '-':
      break;
    case 'n':
      if (i == 1 || i == 2)
        out << " #" << int16_t(operands[i]);
      else
        out << " #" << operands[i];
      break;
    case 'x':
      if (i == 1 && isWide)
        out << " #" << instruction.sbx();
      else
        out << " #" << operands[i];
      break;
    case 'j':
      out << " ->" << int64_t(pc) + 1 + instruction.sbx();
      break;
    case 'c':
      out << " ->" << int64_t(pc) + 1 + instruction.sc();
      break;
    default:
      out << " r" << operands[i];
      break;
    }
  }
  writeMeaning(module, instruction, out);
  out << '\n';
}

} // namespace

llvm::StringRef spelling(Opcode op) {
  return kNames[unsigned(op)];
}
llvm::StringRef operandFormat(Opcode op) {
  return kFormats[unsigned(op)];
}

void disassemble(const Module& module, FunctionId id, llvm::raw_ostream& out) {
  if (index(id) >= module.functions.size())
    return;
  const Function& function = module.functions[index(id)];
  out << "fn " << function.name << " (";
  for (size_t i = 0; i < function.registers.size(); ++i) {
    if (i != 0)
      out << (i == function.parameterCount ? "; " : ", ");
    else if (function.parameterCount == 0)
      out << "; ";
    out << 'r' << i << ' ' << layoutName(module, function.registers[i]);
  }
  out << ") -> " << layoutName(module, function.result);
  if (function.captureCount != 0)
    out << ", captures " << function.captureCount;
  out << ", outgoing " << function.outgoingCount << '\n';
  for (size_t pc = 0; pc < function.code.size(); ++pc)
    writeInstruction(module, uint32_t(pc), function.code[pc], out);
}

std::string disassemble(const Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t i = 0; i < module.natives.size(); ++i) {
    const NativeImport& import = module.natives[i];
    out << "native " << i << ' ' << import.name << '(';
    for (size_t at = 0; at < import.parameters.size(); ++at)
      out << (at == 0 ? "" : ", ") << (at < import.inOut.size() && import.inOut[at] ? "&mut " : "")
          << layoutName(module, import.parameters[at]);
    out << ") -> " << layoutName(module, import.result);
    if (import.isForeign())
      out << "  ; symbol " << import.symbol << ", " << import.signature;
    out << '\n';
  }
  for (size_t i = 0; i < module.globals.size(); ++i)
    out << "global " << i << ' ' << module.globals[i].name << ": "
        << layoutName(module, module.globals[i].layout) << '\n';
  for (size_t i = 0; i < module.functions.size(); ++i)
    disassemble(module, FunctionId(uint32_t(i)), out);
  return text;
}

} // namespace gos::vm
