#include "vm/code_verifier.h"

#include "vm/disassembler.h"
#include "vm/native.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace gos::vm {

namespace {

class CodeVerifier {
public:
  CodeVerifier(const ModuleFacts& facts, const Function& function, const llvm::BitVector& validText,
               std::optional<LayoutId> integer)
      : facts_(facts), module_(facts.module()), function_(function), validText_(validText),
        integer_(integer), forbidden_(unsigned(function.code.size())), hasReferences_(false) {
    for (LayoutId id : function.registers)
      hasReferences_ = hasReferences_ || facts.layout(id).isReference();
  }

  llvm::Error verify() {
    if (function_.code.empty())
      return refuse("function `" + function_.name + "`: no code");
    for (pc_ = 0; pc_ < function_.code.size(); ++pc_) {
      instruction_ = function_.code[pc_];
      if (uint8_t(instruction_.word) >= kOpcodeCount)
        return report("unknown opcode");
      if (const char* fault = checkInstruction())
        return report(fault);
    }
    for (const auto& [from, target] : targets_)
      if (forbidden_.test(target)) {
        pc_ = from;
        instruction_ = function_.code[from];
        return report("jump into a block of arguments");
      }
    switch (function_.code.back().op()) {
    case Opcode::Return:
    case Opcode::ReturnScalar:
    case Opcode::ReturnRef:
    case Opcode::ReturnUnit:
    case Opcode::Panic:
    case Opcode::PanicCode:
    case Opcode::LoopJump:
      return llvm::Error::success();
    default: // not a switch over the table: a list of the opcodes that end code
      pc_ = function_.code.size() - 1;
      instruction_ = function_.code.back();
      return report("code runs off its end");
    }
  }

private:
  using Fault = const char*;

  llvm::Error report(const char* fault) const {
    const bool known = uint8_t(instruction_.word) < kOpcodeCount;
    return refuse("function `" + function_.name + "`, instruction " + llvm::Twine(pc_) + " (`" +
                  (known ? spelling(instruction_.op()) : llvm::StringRef("?")) + "`): " + fault);
  }

  // ---- operands ----
  LayoutId a() const { return function_.registers[instruction_.a()]; }
  LayoutId b() const { return function_.registers[instruction_.b()]; }
  LayoutId c() const { return function_.registers[instruction_.c()]; }
  const Layout& layoutA() const { return facts_.layout(a()); }
  const Layout& layoutB() const { return facts_.layout(b()); }
  const Layout& layoutC() const { return facts_.layout(c()); }
  bool isReference(LayoutId id) const { return facts_.layout(id).isReference(); }

  /// Is the operand a register of the class that the letter asks for?
  Fault checkLetter(char letter, unsigned position) {
    unsigned operand = 0;
    switch (position) {
    case 0:
      operand = instruction_.a();
      break;
    case 1:
      operand = instruction_.b();
      break;
    case 2:
      operand = instruction_.c();
      break;
    case 3:
      operand = instruction_.d();
      break;
    }
    switch (letter) {
    case '-':
    case 'n':
    case 'x':
      return nullptr;
    case 'j':
      return checkJump(instruction_.sbx(), instruction_.op() != Opcode::LoopJump);
    case 'c':
      return checkJump(instruction_.sc(), instruction_.op() != Opcode::ForLoopI64);
    }
    if (operand >= function_.registers.size())
      return "register is out of range";
    const LayoutKind kind = facts_.layout(function_.registers[operand]).kind;
    const bool isInt = kind == LayoutKind::Int;
    const bool isFloat = kind == LayoutKind::Float;
    switch (letter) {
    case 'i':
    case 'I':
      return isInt ? nullptr : "register holds no integer";
    case 'f':
    case 'F':
      return isFloat ? nullptr : "register holds no float";
    case 's':
    case 'S':
      return isInt || isFloat ? nullptr : "register holds no scalar";
    case 'r':
    case 'R':
    case 'U':
      return isInt || isFloat ? "register holds no reference" : nullptr;
    case 'W':
      return nullptr;
    }
    return "operand format is unknown";
  }

  Fault checkJump(int64_t offset, bool forwardOnly) {
    const int64_t target = int64_t(pc_) + 1 + offset;
    if (target < 0 || target >= int64_t(function_.code.size()))
      return "jump out of the function";
    if (forwardOnly && offset < 0)
      return "jump back that counts no step";
    targets_.push_back({uint32_t(pc_), uint32_t(target)});
    return nullptr;
  }

  // ---- blocks of arguments ----
  Fault addArgument(LayoutId layout) {
    if (instruction_.a() != pending_.size())
      return "arguments are not in order";
    if (instruction_.a() >= function_.outgoingCount)
      return "outgoing slot is out of range";
    pending_.push_back(layout);
    return nullptr;
  }
  Fault consume(llvm::ArrayRef<LayoutId> wanted) {
    const bool fits = facts_.matchesAll(pending_, wanted);
    const bool complete = pending_.size() == wanted.size();
    pending_.clear();
    return fits ? nullptr : complete ? "argument of another layout" : "wrong number of arguments";
  }
  Fault result(LayoutId layout) const {
    return facts_.matches(a(), layout) ? nullptr : "destination has another layout";
  }
  Fault require(bool condition, Fault fault) const { return condition ? nullptr : fault; }
  static Fault first(Fault one, Fault two) { return one != nullptr ? one : two; }

  const VariantLayout* structOf(LayoutId id) const {
    const Layout& layout = facts_.layout(id);
    return layout.kind == LayoutKind::Struct ? &layout.variants[0] : nullptr;
  }
  /// A field of a struct, which a register must match.
  Fault field(const VariantLayout* variant, unsigned at, LayoutId other) const {
    if (variant == nullptr)
      return "no struct";
    if (at >= variant->fields.size())
      return "field is out of range";
    return facts_.matches(variant->fields[at], other) ? nullptr : "field has another layout";
  }
  Fault payload(LayoutId id, unsigned variant, unsigned at, LayoutId other) const {
    const Layout& layout = facts_.layout(id);
    if (layout.kind != LayoutKind::Enum)
      return "no enum";
    if (variant >= layout.variants.size())
      return "variant is out of range";
    return field(&layout.variants[variant], at, other);
  }
  Fault element(LayoutId id, bool bytes, LayoutId other) const {
    const Layout& layout = facts_.layout(id);
    if (layout.kind != LayoutKind::Vec)
      return "no vector";
    if (layout.byteStorage != bytes)
      return "element is stored otherwise";
    return facts_.matches(layout.element, other) ? nullptr : "element has another layout";
  }
  Fault content(LayoutId id, LayoutId other) const {
    const Layout& layout = facts_.layout(id);
    if (layout.kind != LayoutKind::Cell)
      return "no cell";
    return facts_.matches(layout.element, other) ? nullptr : "content has another layout";
  }
  /// The vector inside a cell.
  Fault cellElement(LayoutId id, bool bytes, LayoutId other) const {
    const Layout& layout = facts_.layout(id);
    if (layout.kind != LayoutKind::Cell)
      return "no cell";
    return element(layout.element, bytes, other);
  }
  Fault text(LayoutId id) const {
    return facts_.layout(id).kind == LayoutKind::String ? nullptr : "no string";
  }

  Fault checkInstruction() {
    const Opcode op = instruction_.op();
    const llvm::StringRef format = operandFormat(op);
    for (unsigned i = 0; i < format.size(); ++i)
      if (Fault fault = checkLetter(format[i], i))
        return fault;
    // Nobody may arrive between the first argument and its consumer, nor between a native call and
    // its fetches.
    const bool isFetch = op == Opcode::FetchArg;
    if (!pending_.empty() || isFetch)
      forbidden_.set(unsigned(pc_));
    if (!isFetch && op != Opcode::CallNative)
      fetches_ = nullptr;
    switch (op) {
    case Opcode::ArgScalar:
    case Opcode::ArgRef:
    case Opcode::ArgTake:
      return addArgument(b());
    case Opcode::ArgInt:
      if (integer_ == std::nullopt)
        return "module has no layout of an integer";
      return addArgument(*integer_);
    case Opcode::Call:
    case Opcode::CallClosure:
    case Opcode::CallNative:
    case Opcode::FetchArg:
      return checkCall(op);
    case Opcode::NewStruct:
    case Opcode::NewEnum:
    case Opcode::NewVec:
    case Opcode::NewVecRepeat:
    case Opcode::NewClosure:
      return checkConstruction(op);
    default: // the rest takes no arguments
      if (!pending_.empty())
        return "arguments without a consumer";
      return checkPlain(op);
    }
  }

  Fault checkCall(Opcode op) {
    if (op == Opcode::Call) {
      if (instruction_.bx() >= module_.functions.size())
        return "function is out of range";
      const Function& callee = module_.functions[instruction_.bx()];
      if (callee.captureCount != 0)
        return "closure is called as a function";
      return first(consume(llvm::ArrayRef(callee.registers).take_front(callee.parameterCount)),
                   result(callee.result));
    }
    if (op == Opcode::CallClosure) {
      const Layout& closure = layoutB();
      if (closure.kind != LayoutKind::Closure)
        return "no closure";
      if (instruction_.c() != closure.parameters.size())
        return "wrong number of arguments";
      return first(consume(closure.parameters), result(closure.result));
    }
    if (op == Opcode::CallNative) {
      if (instruction_.bx() >= module_.natives.size())
        return "native is out of range";
      fetches_ = &module_.natives[instruction_.bx()];
      nextFetch_ = 0;
      return first(consume(fetches_->parameters), result(fetches_->result));
    }
    if (fetches_ == nullptr || instruction_.b() >= fetches_->parameters.size() ||
        instruction_.b() < nextFetch_ || !fetches_->inOut[instruction_.b()])
      return "no in-out parameter to fetch";
    nextFetch_ = instruction_.b() + 1u;
    return result(fetches_->parameters[instruction_.b()]);
  }

  Fault checkConstruction(Opcode op) {
    if (op == Opcode::NewClosure) {
      const Layout& closure = layoutA();
      if (closure.kind != LayoutKind::Closure)
        return "no closure";
      if (instruction_.bx() >= module_.functions.size())
        return "function is out of range";
      const Function& callee = module_.functions[instruction_.bx()];
      const auto registers = llvm::ArrayRef(callee.registers);
      const unsigned parameters = callee.parameterCount - callee.captureCount;
      if (!facts_.matchesAll(closure.parameters, registers.take_front(parameters)) ||
          !facts_.matches(closure.result, callee.result))
        return "function has another signature";
      return consume(registers.slice(parameters, callee.captureCount));
    }
    const uint32_t id = op == Opcode::NewStruct      ? instruction_.bx()
                        : op == Opcode::NewVecRepeat ? instruction_.c()
                                                     : instruction_.b();
    if (id >= module_.layouts.size())
      return "layout is out of range";
    if (Fault fault = result(LayoutId(id)))
      return fault;
    const Layout& layout = module_.layouts[id];
    if (op == Opcode::NewStruct)
      return layout.kind == LayoutKind::Struct ? consume(layout.variants[0].fields) : "no struct";
    if (op == Opcode::NewEnum) {
      if (layout.kind != LayoutKind::Enum)
        return "no enum";
      if (instruction_.c() >= layout.variants.size())
        return "variant is out of range";
      return consume(layout.variants[instruction_.c()].fields);
    }
    if (layout.kind != LayoutKind::Vec)
      return "no vector";
    const size_t count = op == Opcode::NewVec ? instruction_.c() : 1;
    if (pending_.size() != count)
      return "wrong number of arguments";
    for (LayoutId argument : pending_)
      if (!facts_.matches(argument, layout.element))
        return "argument of another layout";
    pending_.clear();
    return nullptr;
  }

  Fault checkSwitch() const {
    const uint64_t last = uint64_t(pc_) + 1 + instruction_.bx();
    if (last >= function_.code.size())
      return "table of the switch is not complete";
    for (uint64_t at = pc_ + 1; at <= last; ++at)
      if (function_.code[at].op() != Opcode::Jump)
        return "table of the switch holds no jump";
    return nullptr;
  }

  Fault checkPlain(Opcode op) {
    const uint16_t indexB = instruction_.b();
    const uint16_t indexC = instruction_.c();
    const uint8_t indexD = instruction_.d();
    switch (op) {
    // The classes of the operands are all there is to these.
    case Opcode::Move:
    case Opcode::Release:
    case Opcode::LoadInt:
    case Opcode::AddI64:
    case Opcode::SubI64:
    case Opcode::MulI64:
    case Opcode::AddU64:
    case Opcode::SubU64:
    case Opcode::MulU64:
    case Opcode::AddImmI64:
    case Opcode::MulImmI64:
    case Opcode::DivI64:
    case Opcode::RemI64:
    case Opcode::DivU64:
    case Opcode::RemU64:
    case Opcode::WrapAdd:
    case Opcode::WrapSub:
    case Opcode::WrapMul:
    case Opcode::Negate:
    case Opcode::BitAnd:
    case Opcode::BitOr:
    case Opcode::BitXor:
    case Opcode::BitNot:
    case Opcode::BitAndImm:
    case Opcode::ShiftLeft:
    case Opcode::ShiftRightSigned:
    case Opcode::ShiftRightUnsigned:
    case Opcode::BoolNot:
    case Opcode::AddF64:
    case Opcode::SubF64:
    case Opcode::MulF64:
    case Opcode::DivF64:
    case Opcode::RemF64:
    case Opcode::NegateF64:
    case Opcode::RoundF32:
    case Opcode::SqrtF64:
    case Opcode::IntToFloat:
    case Opcode::UnsignedToFloat:
    case Opcode::EqInt:
    case Opcode::NeInt:
    case Opcode::LtI64:
    case Opcode::LeI64:
    case Opcode::LtU64:
    case Opcode::LeU64:
    case Opcode::EqF64:
    case Opcode::NeF64:
    case Opcode::LtF64:
    case Opcode::LeF64:
    case Opcode::Jump:
    case Opcode::LoopJump:
    case Opcode::JumpIf:
    case Opcode::JumpIfNot:
    case Opcode::JumpEqInt:
    case Opcode::JumpNeInt:
    case Opcode::JumpLtI64:
    case Opcode::JumpLeI64:
    case Opcode::JumpLtU64:
    case Opcode::JumpLeU64:
    case Opcode::JumpLtF64:
    case Opcode::JumpLeF64:
    case Opcode::JumpNotLtF64:
    case Opcode::JumpNotLeF64:
    case Opcode::JumpEqImm:
    case Opcode::JumpNeImm:
    case Opcode::JumpLtImm:
    case Opcode::JumpLeImm:
    case Opcode::JumpGtImm:
    case Opcode::JumpGeImm:
    case Opcode::ForLoopI64:
      return nullptr;

    case Opcode::MoveRef:
    case Opcode::TakeRef:
      return require(facts_.matches(a(), b()), "registers have different layouts");
    case Opcode::Retype:
      return require(facts_.sameRepresentation(a(), b()), "layouts are not one newtype apart");
    case Opcode::LoadConstant:
      return require(instruction_.bx() < module_.constants.size(), "constant is out of range");
    case Opcode::LoadString:
      if (instruction_.bx() >= module_.strings.size())
        return "string is out of range";
      if (layoutA().kind == LayoutKind::Vec)
        return require(layoutA().byteStorage, "element is stored otherwise");
      return first(text(a()), require(validText_.test(instruction_.bx()), "string is not UTF-8"));
    case Opcode::CheckRange:
      return require(indexC < kArithmeticWordCount && indexD < 8, "immediate is out of range");
    case Opcode::Wrap:
    case Opcode::FloatToInt:
      return require(indexD < 8, "immediate is out of range");
    case Opcode::EqString:
      return first(text(b()), text(c()));
    case Opcode::EqValue:
    case Opcode::CompareValue:
      return require(facts_.matches(b(), c()), "registers have different layouts");
    case Opcode::CompareScalar: {
      const LayoutKind wanted = indexD == 2 ? LayoutKind::Float : LayoutKind::Int;
      return require(indexD <= 2 && layoutB().kind == wanted && layoutC().kind == wanted,
                     "registers do not fit the comparison");
    }
    case Opcode::Switch:
      return checkSwitch();

    case Opcode::Return:
      return first(require(!hasReferences_, "frame has references to release"),
                   require(facts_.matches(a(), function_.result), "result has another layout"));
    case Opcode::ReturnScalar:
    case Opcode::ReturnRef:
      return require(facts_.matches(a(), function_.result), "result has another layout");
    case Opcode::ReturnUnit:
      return require(facts_.layout(function_.result).kind == LayoutKind::Int,
                     "result has another layout");
    case Opcode::Panic:
      return text(a());
    case Opcode::PanicCode:
      return require(indexD < kPanicReasonCount, "immediate is out of range");

    case Opcode::GetField:
    case Opcode::GetFieldRef:
      return field(structOf(b()), indexC, a());
    case Opcode::SetField:
    case Opcode::SetFieldTake:
      return field(structOf(a()), indexB, c());
    case Opcode::TakeField:
      return field(structOf(b()), indexC, a());
    case Opcode::NewUnitVariant: {
      if (indexB >= module_.layouts.size())
        return "layout is out of range";
      const Layout& layout = module_.layouts[indexB];
      if (layout.kind != LayoutKind::Enum)
        return "no enum";
      if (indexC >= layout.variants.size() || !layout.variants[indexC].fields.empty())
        return "no variant without payload";
      return result(LayoutId(indexB));
    }
    case Opcode::GetTag:
      return require(layoutB().kind == LayoutKind::Enum, "no enum");
    case Opcode::GetPayload:
    case Opcode::GetPayloadRef:
      return payload(b(), indexC, indexD, a());
    case Opcode::JumpTagNe:
      if (layoutA().kind != LayoutKind::Enum)
        return "no enum";
      return require(indexB < layoutA().variants.size(), "variant is out of range");

    case Opcode::VecLen:
      return require(layoutB().kind == LayoutKind::Vec, "no vector");
    case Opcode::VecGet:
    case Opcode::VecGetRef:
    case Opcode::VecTake:
      return element(b(), false, a());
    case Opcode::VecGetByte:
      return element(b(), true, a());
    case Opcode::VecGetField:
      if (layoutB().kind != LayoutKind::Vec || layoutB().byteStorage)
        return "no vector";
      return field(structOf(layoutB().element), indexD, a());
    case Opcode::VecSet:
    case Opcode::VecSetTake:
      return element(a(), false, c());
    case Opcode::VecSetByte:
      return element(a(), true, c());
    case Opcode::VecSetField:
      if (layoutA().kind != LayoutKind::Vec || layoutA().byteStorage)
        return "no vector";
      return field(structOf(layoutA().element), indexD, c());
    case Opcode::VecPush:
    case Opcode::VecPushTake:
      return element(a(), false, b());
    case Opcode::VecPushByte:
      return element(a(), true, b());
    case Opcode::VecSlice:
      if (layoutA().kind != LayoutKind::Vec || layoutB().kind != LayoutKind::Vec)
        return "no vector";
      return require(layoutA().byteStorage == layoutB().byteStorage &&
                         facts_.matches(layoutA().element, layoutB().element),
                     "element has another layout");

    case Opcode::StringConcat:
      return first(text(a()), first(text(b()), text(c())));
    case Opcode::StringAppend:
      return first(text(a()), text(b()));
    case Opcode::StringAppendChar:
      return text(a());
    case Opcode::StringCharAt:
      return text(b());
    case Opcode::FormatScalar:
    case Opcode::FormatValue:
      return first(text(a()), require(indexC < module_.formats.size(), "format is out of range"));

    case Opcode::NewCellScalar:
    case Opcode::NewCellTake:
      return content(a(), b());
    case Opcode::CellGet:
    case Opcode::CellGetRef:
    case Opcode::CellTake:
      return content(b(), a());
    case Opcode::CellSet:
    case Opcode::CellSetTake:
      return content(a(), b());
    case Opcode::LoadGlobal:
      if (instruction_.bx() >= module_.globals.size())
        return "global is out of range";
      return result(module_.globals[instruction_.bx()].layout);
    case Opcode::CellVecGet:
      return cellElement(b(), false, a());
    case Opcode::CellVecGetByte:
      return cellElement(b(), true, a());
    case Opcode::CellVecSet:
      return cellElement(a(), false, c());
    case Opcode::CellVecSetByte:
      return cellElement(a(), true, c());
    case Opcode::CellVecLen:
      return require(layoutB().kind == LayoutKind::Cell &&
                         facts_.layout(layoutB().element).kind == LayoutKind::Vec,
                     "no vector in a cell");

    // Judged before, with their arguments.
    case Opcode::ArgScalar:
    case Opcode::ArgRef:
    case Opcode::ArgTake:
    case Opcode::ArgInt:
    case Opcode::Call:
    case Opcode::CallClosure:
    case Opcode::CallNative:
    case Opcode::FetchArg:
    case Opcode::NewStruct:
    case Opcode::NewEnum:
    case Opcode::NewVec:
    case Opcode::NewVecRepeat:
    case Opcode::NewClosure:
      break;
    }
    return "instruction is out of place";
  }

  const ModuleFacts& facts_;
  const Module& module_;
  const Function& function_;
  const llvm::BitVector& validText_;
  std::optional<LayoutId> integer_; // what ArgInt passes; any integer matches it
  size_t pc_ = 0;
  Instruction instruction_;
  llvm::SmallVector<LayoutId, 8> pending_; // layouts of the arguments so far
  const NativeImport* fetches_ = nullptr;  // the native whose in-out parameters may be fetched here
  unsigned nextFetch_ = 0;
  llvm::BitVector forbidden_; // instructions nobody may jump to
  std::vector<std::pair<uint32_t, uint32_t>> targets_;
  bool hasReferences_;
};

} // namespace

llvm::Error verifyCode(const ModuleFacts& facts, const Function& function,
                       const llvm::BitVector& validText, std::optional<LayoutId> integer) {
  return CodeVerifier(facts, function, validText, integer).verify();
}

} // namespace gos::vm
