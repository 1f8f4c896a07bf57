#include "vm/verifier.h"

#include "vm/disassembler.h"
#include "vm/text.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace gos::vm {

namespace {

constexpr size_t kMaxSlots = 65535;

llvm::Error refuse(const llvm::Twine& message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), message.str().c_str());
}

bool isByteElement(const Layout& layout) {
  return layout.kind == LayoutKind::Int && (layout.scalar == ScalarKind::Bool || layout.width == IntWidth::U8);
}

/// What the checks of layouts and of functions share.
class ModuleFacts {
public:
  explicit ModuleFacts(const Module& module) : module_(module) {}

  const Module& module() const { return module_; }
  bool inRange(LayoutId id) const { return index(id) < module_.layouts.size(); }
  bool inRange(FunctionId id) const { return index(id) < module_.functions.size(); }
  const Layout& layout(LayoutId id) const { return module_.layouts[index(id)]; }

  /// May a value of one layout stand where the other is declared? By identity, except that integers are alike, floats
  /// are alike, and text is alike: their values carry no shape.
  bool matches(LayoutId a, LayoutId b) const {
    if (a == b)
      return true;
    const LayoutKind kind = layout(a).kind;
    return kind == layout(b).kind &&
           (kind == LayoutKind::Int || kind == LayoutKind::Float || kind == LayoutKind::String);
  }
  bool matchesAll(llvm::ArrayRef<LayoutId> a, llvm::ArrayRef<LayoutId> b) const {
    if (a.size() != b.size())
      return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!matches(a[i], b[i]))
        return false;
    return true;
  }
  /// A newtype and what it is made of: the same shape one level deep.
  bool sameRepresentation(LayoutId a, LayoutId b) const {
    if (matches(a, b))
      return true;
    const Layout& x = layout(a);
    const Layout& y = layout(b);
    if (x.kind != y.kind || x.byteStorage != y.byteStorage || x.variants.size() != y.variants.size())
      return false;
    switch (x.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
    case LayoutKind::String:
      return true;
    case LayoutKind::Vec:
    case LayoutKind::Set:
    case LayoutKind::Cell:
      return matches(x.element, y.element);
    case LayoutKind::Map:
      return matches(x.element, y.element) && matches(x.value, y.value);
    case LayoutKind::Struct:
    case LayoutKind::Enum:
      for (size_t i = 0; i < x.variants.size(); ++i)
        if (!matchesAll(x.variants[i].fields, y.variants[i].fields))
          return false;
      return true;
    case LayoutKind::Closure:
      return matchesAll(x.parameters, y.parameters) && matches(x.result, y.result);
    }
    return false;
  }

private:
  const Module& module_;
};

// ---- layouts ----------------------------------------------------------------------------------------

class LayoutVerifier {
public:
  explicit LayoutVerifier(const ModuleFacts& facts) : facts_(facts) {}

  /// Ranges first, for all: the later checks look through ids.
  llvm::Error verifyShapes() const {
    const Module& module = facts_.module();
    for (size_t i = 0; i < module.layouts.size(); ++i)
      if (const char* fault = shapeFault(module.layouts[i]))
        return refuse("layout " + llvm::Twine(i) + " (`" + module.layouts[i].name + "`): " + fault);
    return llvm::Error::success();
  }

  /// Hooks have the parameters and results that their callers rely on. The functions' own tables are verified.
  llvm::Error verifyHooks() const {
    const Module& module = facts_.module();
    for (size_t i = 0; i < module.layouts.size(); ++i) {
      const Layout& layout = module.layouts[i];
      const LayoutId self{uint32_t(i)};
      if (!isHook(layout.display, self, 1, LayoutKind::String) || !isHook(layout.debug, self, 1, LayoutKind::String) ||
          !isHook(layout.equals, self, 2, LayoutKind::Int) || !isHook(layout.compare, self, 2, LayoutKind::Int))
        return refuse("layout " + llvm::Twine(i) + " (`" + layout.name + "`): hook has another signature");
    }
    return llvm::Error::success();
  }

private:
  const char* shapeFault(const Layout& layout) const {
    if (layout.kind > LayoutKind::Cell || layout.scalar > ScalarKind::F32 || layout.width > IntWidth::U64 ||
        layout.sequence > SequenceKind::MinHeap)
      return "unknown kind";
    const bool hasElement = layout.kind == LayoutKind::Vec || layout.kind == LayoutKind::Set ||
                            layout.kind == LayoutKind::Map || layout.kind == LayoutKind::Cell;
    if (hasElement && !facts_.inRange(layout.element))
      return "element is out of range";
    if (layout.kind == LayoutKind::Map && !facts_.inRange(layout.value))
      return "value is out of range";
    if (layout.byteStorage && (layout.kind != LayoutKind::Vec || !isByteElement(facts_.layout(layout.element))))
      return "byte storage of elements that are no bytes";
    if (layout.kind == LayoutKind::Struct && layout.variants.size() != 1)
      return "struct without exactly one variant";
    if (layout.kind == LayoutKind::Enum && (layout.variants.empty() || layout.variants.size() > kMaxSlots))
      return "enum with no variant or too many";
    for (const VariantLayout& variant : layout.variants)
      if (const char* fault = variantFault(layout, variant))
        return fault;
    if (layout.kind == LayoutKind::Closure) {
      if (!facts_.inRange(layout.result))
        return "result is out of range";
      for (LayoutId parameter : layout.parameters)
        if (!facts_.inRange(parameter))
          return "parameter is out of range";
    }
    return nullptr;
  }

  const char* variantFault(const Layout& layout, const VariantLayout& variant) const {
    if (variant.shape > VariantShape::Tuple)
      return "unknown shape of a variant";
    if (variant.fields.size() > kMaxSlots)
      return "too many fields";
    if (layout.kind != LayoutKind::Struct && layout.kind != LayoutKind::Enum && !variant.fields.empty())
      return "fields in a layout that holds none";
    if (variant.shape == VariantShape::Named && variant.fieldNames.size() != variant.fields.size())
      return "names and fields differ in number";
    if (variant.shape == VariantShape::Unit && !variant.fields.empty())
      return "unit variant with fields";
    for (LayoutId field : variant.fields)
      if (!facts_.inRange(field))
        return "field is out of range";
    return nullptr;
  }

  bool isHook(FunctionId id, LayoutId self, unsigned parameters, LayoutKind result) const {
    if (id == FunctionId::None)
      return true;
    if (!facts_.inRange(id))
      return false;
    const Function& function = facts_.module().functions[index(id)];
    if (function.parameterCount != parameters || function.captureCount != 0 ||
        facts_.layout(function.result).kind != result)
      return false;
    for (unsigned i = 0; i < parameters; ++i)
      if (!facts_.matches(function.registers[i], self))
        return false;
    return true;
  }

  const ModuleFacts& facts_;
};

// ---- functions --------------------------------------------------------------------------------------

/// The tables of a function; its code may be looked at once this has passed for all functions.
const char* tableFault(const ModuleFacts& facts, const Function& function) {
  if (function.registers.size() + function.outgoingCount > kMaxSlots)
    return "too many registers";
  if (function.parameterCount > function.registers.size() || function.captureCount > function.parameterCount)
    return "more parameters than registers";
  bool references = false;
  for (size_t i = 0; i < function.registers.size(); ++i) {
    if (!facts.inRange(function.registers[i]))
      return "layout of a register is out of range";
    if (i < function.parameterCount)
      continue;
    const bool isReference = facts.layout(function.registers[i]).isReference();
    if (references && !isReference)
      return "scalar register behind a reference";
    references = references || isReference;
  }
  if (!facts.inRange(function.result))
    return "layout of the result is out of range";
  for (size_t i = 1; i < function.lines.size(); ++i)
    if (function.lines[i].pc <= function.lines[i - 1].pc)
      return "line table is not in order";
  return nullptr;
}

class CodeVerifier {
public:
  CodeVerifier(const ModuleFacts& facts, const Function& function, const llvm::BitVector& validText)
      : facts_(facts), module_(facts.module()), function_(function), validText_(validText),
        forbidden_(unsigned(function.code.size())), hasReferences_(false) {
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
    // Nobody may arrive between the first argument and its consumer, nor between a native call and its fetches.
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
      return first(consume(llvm::ArrayRef(callee.registers).take_front(callee.parameterCount)), result(callee.result));
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
    if (fetches_ == nullptr || instruction_.b() >= fetches_->parameters.size() || instruction_.b() < nextFetch_ ||
        !fetches_->inOut[instruction_.b()])
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
    const uint32_t id = op == Opcode::NewStruct ? instruction_.bx()
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
      return require(facts_.layout(function_.result).kind == LayoutKind::Int, "result has another layout");
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

public:
  /// The layout that ArgInt passes; any integer matches it.
  std::optional<LayoutId> integer_;

private:
  const ModuleFacts& facts_;
  const Module& module_;
  const Function& function_;
  const llvm::BitVector& validText_;
  size_t pc_ = 0;
  Instruction instruction_;
  llvm::SmallVector<LayoutId, 8> pending_; // layouts of the arguments so far
  const NativeImport* fetches_ = nullptr;  // the native whose in-out parameters may be fetched here
  unsigned nextFetch_ = 0;
  llvm::BitVector forbidden_; // instructions nobody may jump to
  std::vector<std::pair<uint32_t, uint32_t>> targets_;
  bool hasReferences_;
};

llvm::Error verifyImport(const ModuleFacts& facts, const NativeImport& import, const NativeTable& natives) {
  const Native* native = natives.find(import.name);
  if (native == nullptr)
    return refuse("native `" + import.name + "` is not in the library");
  if (import.inOut.size() != import.parameters.size() || import.parameters.size() > kMaxSlots ||
      !facts.inRange(import.result))
    return refuse("native `" + import.name + "`: import is not sane");
  for (LayoutId parameter : import.parameters)
    if (!facts.inRange(parameter))
      return refuse("native `" + import.name + "`: layout of a parameter is out of range");
  return natives.checkImport(*native, import, facts.module());
}

/// A function that is started from outside takes nothing.
bool isStartable(const ModuleFacts& facts, FunctionId id) {
  return facts.inRange(id) && facts.module().functions[index(id)].parameterCount == 0;
}

} // namespace

llvm::Error verify(const Module& module, const NativeTable& natives) {
  const ModuleFacts facts(module);
  const LayoutVerifier layouts(facts);
  if (llvm::Error error = layouts.verifyShapes())
    return error;
  for (const Function& function : module.functions)
    if (const char* fault = tableFault(facts, function))
      return refuse("function `" + function.name + "`: " + fault);
  if (llvm::Error error = layouts.verifyHooks())
    return error;
  for (const Global& global : module.globals)
    if (!facts.inRange(global.layout) || facts.layout(global.layout).kind != LayoutKind::Cell)
      return refuse("global `" + global.name + "` is no cell");
  for (const Global& global : module.globals) {
    if (global.initialiser == FunctionId::None)
      continue;
    if (index(global.initialiser) >= module.functions.size())
      return refuse("initialiser of global `" + global.name + "` is out of range");
    const Function& function = module.functions[index(global.initialiser)];
    if (function.parameterCount != 0 || !facts.matches(function.result, facts.layout(global.layout).element))
      return refuse("initialiser of global `" + global.name + "` does not fit it");
  }
  for (const FormatSpec& spec : module.formats)
    if (spec.align > FormatSpec::Align::Right || spec.kind > FormatSpec::Kind::Octal)
      return refuse("format is not sane");
  for (const NativeImport& import : module.natives)
    if (llvm::Error error = verifyImport(facts, import, natives))
      return error;
  for (FunctionId start : {module.initialiser, module.entry})
    if (start != FunctionId::None && !isStartable(facts, start))
      return refuse("entry is no function without parameters");
  for (FunctionId region : module.regions)
    if (!isStartable(facts, region))
      return refuse("region is no function without parameters");
  if (module.initialiser != FunctionId::None &&
      facts.layout(module.functions[index(module.initialiser)].result).kind != LayoutKind::Int)
    return refuse("initialiser answers a value");

  llvm::BitVector validText(unsigned(module.strings.size()));
  for (unsigned i = 0; i < module.strings.size(); ++i)
    validText[i] = isValidUtf8(module.strings[i]);
  std::optional<LayoutId> integer;
  for (size_t i = 0; i < module.layouts.size() && !integer; ++i)
    if (module.layouts[i].kind == LayoutKind::Int)
      integer = LayoutId(uint32_t(i));
  for (const Function& function : module.functions) {
    CodeVerifier code(facts, function, validText);
    code.integer_ = integer;
    if (llvm::Error error = code.verify())
      return error;
  }
  return llvm::Error::success();
}

} // namespace gos::vm
