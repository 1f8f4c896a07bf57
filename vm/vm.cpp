#include "vm/vm.h"

#include "vm/frame.h"
#include "vm/slow_paths.h"
#include "vm/verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errc.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace gos::vm {

namespace {

constexpr size_t kStackSlots = size_t(8) << 20; // reserved, not committed
constexpr size_t kGuardBytes = size_t(64) << 10;
constexpr int64_t kEnterSteps = 32;             // a run within a run
constexpr int64_t kSliceSteps = 100'000;        // of a goroutine, about a tenth of a millisecond
constexpr int64_t kProgressSteps = 100'000'000; // between two calls of VmOptions::progress
constexpr uint64_t kLongestUnevenSlice = 2'000; // with VmOptions::scheduleSeed
constexpr uint32_t kLongestDueSlice = 509;      // of a goroutine whose turn is over

std::vector<LayoutInfo> digest(const Module& module) {
  std::vector<LayoutInfo> infos(module.layouts.size());
  const auto isReference = [&](LayoutId id) {
    return index(id) < module.layouts.size() && module.layouts[index(id)].isReference();
  };
  std::vector<std::vector<uint32_t>> users(module.layouts.size()); // who contains a layout
  llvm::SmallVector<uint32_t> impure;
  for (size_t i = 0; i < infos.size(); ++i) {
    const Layout& layout = module.layouts[i];
    LayoutInfo& info = infos[i];
    info.kind = layout.kind;
    info.isReference = layout.isReference();
    info.byteStorage = layout.kind == LayoutKind::Vec && layout.byteStorage;
    info.plainEquality = true;
    const auto contains = [&](LayoutId id) {
      if (index(id) < users.size())
        users[index(id)].push_back(uint32_t(i));
    };
    const bool hasElement = layout.kind == LayoutKind::Vec || layout.kind == LayoutKind::Set ||
                            layout.kind == LayoutKind::Map || layout.kind == LayoutKind::Cell;
    if (hasElement) {
      info.elementIsReference = isReference(layout.element);
      contains(layout.element);
    }
    if (layout.kind == LayoutKind::Map) {
      info.valueIsReference = isReference(layout.value);
      contains(layout.value);
    }
    if (layout.kind == LayoutKind::Enum)
      for (size_t at = 0; at < std::min<size_t>(layout.variants.size(), kNoVariant); ++at)
        for (const auto& [name, known] :
             {std::pair("None", KnownVariant::None), std::pair("Some", KnownVariant::Some),
              std::pair("Ok", KnownVariant::Ok), std::pair("Err", KnownVariant::Err)})
          if (layout.variants[at].name == name)
            info.known[size_t(known)] = uint16_t(at);
    if (layout.kind == LayoutKind::Struct || layout.kind == LayoutKind::Enum)
      for (const VariantLayout& variant : layout.variants) {
        VariantInfo& shape = info.variants.emplace_back();
        shape.slotCount = uint32_t(variant.fields.size());
        for (size_t field = 0; field < variant.fields.size(); ++field) {
          contains(variant.fields[field]);
          if (isReference(variant.fields[field]))
            shape.references.push_back(uint16_t(field));
        }
      }
    if (layout.equals != FunctionId::None || layout.compare != FunctionId::None ||
        layout.kind == LayoutKind::Float || layout.kind == LayoutKind::Closure) {
      info.plainEquality = false;
      impure.push_back(uint32_t(i));
    }
  }
  while (!impure.empty())
    for (uint32_t user : users[impure.pop_back_val()])
      if (infos[user].plainEquality) {
        infos[user].plainEquality = false;
        impure.push_back(user);
      }
  return infos;
}

void addCaptureReferences(const Module& module, std::vector<std::vector<uint16_t>>& result) {
  size_t i = result.size();
  result.resize(module.functions.size());
  for (; i < result.size(); ++i) {
    const Function& function = module.functions[i];
    const unsigned parameters = function.parameterCount - function.captureCount;
    for (unsigned capture = 0; capture < function.captureCount; ++capture)
      if (module.layouts[index(function.registers[parameters + capture])].isReference())
        result[i].push_back(uint16_t(capture));
  }
}
std::vector<std::vector<uint16_t>> captureReferences(const Module& module) {
  std::vector<std::vector<uint16_t>> result;
  addCaptureReferences(module, result);
  return result;
}

uint64_t machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageSize = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageSize <= 0)
    return uint64_t(1) << 32;
  return uint64_t(pages) * uint64_t(pageSize);
}

/// Address space for the stack, with a guard behind it; pages come as they are touched.
void* reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  mprotect(static_cast<char*>(memory) + bytes, kGuardBytes, PROT_NONE);
  return memory;
}

/// Nested runs start and end here.
const Instruction kBoundaryCode[2] = {Instruction{uint64_t(kHaltOpcode)},
                                      Instruction{uint64_t(kHaltOpcode)}};

constinit const RuntimeFunction kBoundary = [] {
  RuntimeFunction function;
  function.registers = 1;
  function.frameSize = 1;
  return function;
}();

Span spanAt(const Function& function, uint32_t pc) {
  auto next = llvm::upper_bound(function.lines, pc,
                                [](uint32_t at, const LineEntry& entry) { return at < entry.pc; });
  return next == function.lines.begin() ? function.span : std::prev(next)->span;
}

} // namespace

llvm::Expected<std::unique_ptr<Vm>> Vm::create(const Module& module, const NativeTable& natives,
                                               VmOptions options) {
  const Verification verification = options.verification;
  Verified verified;
  if (verification == Verification::Verify)
    if (llvm::Error error = verifyGrowth(module, natives, verified))
      return error;
  std::unique_ptr<Vm> vm(new Vm(module, std::move(options)));
  vm->verified_ = std::move(verified);
  if (llvm::Error error = vm->load(natives))
    return error;
  return vm;
}

Vm::Vm(const Module& module, VmOptions options)
    : module_(module), layouts_(digest(module)), captureReferences_(captureReferences(module)),
      constants_(layouts_, captureReferences_, kUnlimited, steps_),
      heap_(layouts_, captureReferences_, 0, steps_) {
  restart(std::move(options));
}

Vm::~Vm() {
  scheduler_.reset();
  if (stack_ != nullptr)
    munmap(stack_, stackBytes_ + kGuardBytes);
  if (frames_ != nullptr)
    munmap(frames_, framesBytes_ + kGuardBytes);
}

void Vm::restart(VmOptions options) {
  mode_ = options.mode;
  policy_ = options.policy;
  regionPackage_ = options.regionPackage;
  table_ =
      mode_ == Mode::Fold && policy_ != nullptr
          ? CapabilityTable(*policy_, regionPackage_, std::max<size_t>(module_.packages.size(), 1))
          : CapabilityTable();
  host_ = std::move(options.host);
  scheduler_.reset();
  blocked_ = false;
  turnState_ = options.scheduleSeed;
  progress_ = std::move(options.progress);
  heap_.reset(options.heapBytes == 0 ? machineMemory() : options.heapBytes);
  heap_.setForeign(options.foreign); // handles of before went to the library of before
  if (foreign_ != options.foreign)
    for (Import& import : imports_)
      import.entry = nullptr;
  foreign_ = options.foreign;
  for (Value global : globals_)
    asCell(global)->content = 0;
  globalReady_.assign(globals_.size(), kGlobalUnset);
  knownGlobals_ = options.knownGlobals;
  knownGlobalsRead_.clear();
  stepsLimit_ = int64_t(std::min<uint64_t>(options.steps, INT64_MAX));
  resetSteps();
  depthLimit_ = std::clamp<uint64_t>(options.depth, 1, 10'000'000);
  outputLimit_ = options.outputBytes;
  initialised_ = false;
  nesting_ = 0;
  captured_.clear();
  capturedOmitted_ = 0;
  inputs_.clear();
  bytesRead_ = 0;
  if (frames_ != nullptr) {
    top_ = bottom_ = frames_;
    stackLimit_ = stack_ + kStackSlots;
    frameLimit_ = mainFrameLimit_ =
        frames_ + std::min<uint64_t>(depthLimit_ + 1, framesBytes_ / sizeof(Frame) - 1);
  }
}

uint32_t Vm::constantFor(Value object) {
  constantObjects_.push_back(object);
  return uint32_t(constantObjects_.size() - 1);
}

Value Vm::byteConstant(uint32_t string, LayoutId layout) {
  const std::string& bytes = module_.strings[string];
  VecObject* vec = constants_.newVec(layout, bytes.size());
  if (vec == nullptr)
    return 0;
  std::memcpy(vec->bytes, bytes.data(), bytes.size());
  vec->length = bytes.size();
  Heap::makeImmortal(vec);
  return fromObject(vec);
}

Value Vm::unitVariant(LayoutId layout, uint16_t variant) {
  std::vector<Value>& known = unitVariants_[index(layout)];
  if (variant >= known.size())
    known.resize(std::max<size_t>(variant + 1u, info(layout).variants.size()), 0);
  if (known[variant] == 0) {
    StructObject* object = constants_.newEnum(layout, variant);
    if (object != nullptr)
      Heap::makeImmortal(object);
    known[variant] = fromObject(object);
  }
  return known[variant];
}

Instruction Vm::patch(Instruction instruction, const Function& function) {
  const auto registers = uint16_t(function.registers.size());
  const auto layoutOf = [&](uint16_t at) { return function.registers[at]; };
  const Opcode op = instruction.op();
  if (op == Opcode::ArgScalar)
    return Instruction::abc(Opcode::Move, uint16_t(registers + instruction.a()), instruction.b());
  if (op == Opcode::ArgInt)
    return Instruction::abx(Opcode::LoadInt, uint16_t(registers + instruction.a()),
                            instruction.bx());
  if (op == Opcode::ArgRef || op == Opcode::ArgTake)
    return Instruction::abc(op, uint16_t(registers + instruction.a()), instruction.b());
  if (op == Opcode::FetchArg) {
    const Opcode fetch = isReference(layoutOf(instruction.a())) ? Opcode::FetchArg : Opcode::Move;
    return Instruction::abc(fetch, instruction.a(), uint16_t(registers + instruction.b()));
  }
  if (op == Opcode::LoadString && layout(layoutOf(instruction.a())).kind == LayoutKind::Vec)
    return Instruction::abx(op, instruction.a(),
                            constantFor(byteConstant(instruction.bx(), layoutOf(instruction.a()))));
  if (op == Opcode::LoadString && instruction.bx() < stringConstants_.size())
    return Instruction::abx(op, instruction.a(), stringConstants_[instruction.bx()],
                            instruction.d());
  if (op == Opcode::NewUnitVariant)
    return Instruction::abx(Opcode::LoadString, instruction.a(),
                            constantFor(unitVariant(LayoutId(instruction.b()), instruction.c())));
  if (op == Opcode::NewStruct) {
    const uint32_t count = info(LayoutId(instruction.bx())).variants[0].slotCount;
    return Instruction::abx(op, instruction.a(), instruction.bx(),
                            uint8_t(std::min<uint32_t>(count, kManySlots)));
  }
  if (op == Opcode::NewEnum) {
    const uint32_t count = info(LayoutId(instruction.b())).variants[instruction.c()].slotCount;
    return Instruction::abc(op, instruction.a(), instruction.b(), instruction.c(),
                            uint8_t(std::min<uint32_t>(count, kManySlots)));
  }
  return instruction;
}

llvm::Error Vm::load(const NativeTable& natives) {
  stackBytes_ = kStackSlots * sizeof(Value);
  framesBytes_ = (size_t(depthLimit_) + 2) * sizeof(Frame);
  framesBytes_ = (framesBytes_ + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  stack_ = static_cast<Value*>(reserve(stackBytes_));
  frames_ = static_cast<Frame*>(reserve(framesBytes_));
  if (stack_ == nullptr || frames_ == nullptr)
    return llvm::createStringError(llvm::errc::not_enough_memory,
                                   "no address space for the stack of the VM");
  stackLimit_ = stack_ + kStackSlots;
  frames_[0] = {kBoundaryCode + 1, &kBoundary, stack_, stack_ + 1};
  top_ = bottom_ = frames_;
  frameLimit_ = mainFrameLimit_ = frames_ + depthLimit_ + 1;
  return loadModule(natives);
}

llvm::Error Vm::extend(const NativeTable& natives) {
  if (top_ != frames_ || nesting_ != 0)
    return llvm::createStringError(llvm::errc::invalid_argument,
                                   "the module of a Vm grows between runs");
  if (llvm::Error error = verifyGrowth(module_, natives, verified_))
    return error;
  layouts_ = digest(module_);
  addCaptureReferences(module_, captureReferences_);
  if (functions_.capacity() < module_.functions.size()) {
    std::vector<RuntimeFunction> larger;
    larger.reserve(2 * module_.functions.size());
    larger.insert(larger.end(), functions_.begin(), functions_.end());
    olderFunctions_.push_back(std::exchange(functions_, std::move(larger)));
  }
  // The functions of the module have moved, as the table that they stand in has grown.
  const auto follow = [&](std::vector<RuntimeFunction>& table) {
    for (size_t i = 0; i < table.size(); ++i)
      table[i].source = &module_.functions[i];
  };
  llvm::for_each(olderFunctions_, follow);
  follow(functions_);
  return loadModule(natives);
}

Value Vm::globalContent(uint32_t global) const {
  return global < globals_.size() ? asCell(globals_[global])->content : 0;
}

void Vm::prepareInterrupts() {
  interruptible_ = true;
}

void Vm::interrupt() {
  if (!interruptible_)
    return;
  interrupted_ = true;
  // The loop reads every instruction from memory, and nothing is owed between two of them: a jump
  // back and the first instruction of a function become a panic.
  const auto stop = [](const Instruction* at) {
    volatile uint64_t& word = const_cast<Instruction*>(at)->word;
    word = Instruction::abx(Opcode::PanicCode, 0, 0, uint8_t(PanicReason::Unreachable)).word;
  };
  for (std::vector<Instruction>& block : code_)
    for (Instruction& instruction : block)
      if (instruction.op() == Opcode::LoopJump || instruction.op() == Opcode::ForLoopI64)
        stop(&instruction);
  for (const RuntimeFunction& function : functions_)
    if (function.source != nullptr && !function.source->code.empty())
      stop(function.code);
}

void Vm::endInterrupts() {
  interruptible_ = false;
  if (!interrupted_)
    return;
  interrupted_ = false;
  for (size_t i = 0; i < functions_.size(); ++i) {
    auto* code = const_cast<Instruction*>(functions_[i].code);
    const std::vector<Instruction>& source = module_.functions[i].code;
    for (size_t at = 0; at < source.size(); ++at)
      if (source[at].op() == Opcode::LoopJump || source[at].op() == Opcode::ForLoopI64)
        code[at] = source[at]; // `patch` leaves these as they are
    if (!source.empty())
      code[0] = firstInstructions_[i];
  }
}

llvm::Error Vm::loadModule(const NativeTable& natives) {
  unitVariants_.resize(module_.layouts.size());
  for (size_t i = strings_.size(); i < module_.strings.size(); ++i) {
    StringObject* string = constants_.newString(module_.strings[i]);
    if (string == nullptr)
      return llvm::createStringError(llvm::errc::not_enough_memory, "no memory for the constants");
    scalarCount(string);
    Heap::makeImmortal(string);
    strings_.push_back(fromObject(string));
  }
  for (size_t i = stringConstants_.size(); i < strings_.size(); ++i)
    stringConstants_.push_back(constantFor(strings_[i]));
  for (size_t i = globals_.size(); i < module_.globals.size(); ++i) {
    const Global& global = module_.globals[i];
    // The cell is immortal; what it holds is not, and is counted like everything else.
    CellObject* cell =
        constants_.newCell(index(global.layout) < layouts_.size() ? global.layout : LayoutId{}, 0);
    if (cell == nullptr)
      return llvm::createStringError(llvm::errc::not_enough_memory, "no memory for the globals");
    Heap::makeImmortal(cell);
    globals_.push_back(fromObject(cell));
    globalReady_.push_back(kGlobalUnset);
  }
  for (size_t at = imports_.size(); at < module_.natives.size(); ++at) {
    const NativeImport& import = module_.natives[at];
    Import& loaded = imports_.emplace_back();
    loaded.native = natives.find(import.name);
    loaded.resultIsReference = isReference(import.result);
    loaded.inTable = loaded.native != nullptr && !import.isForeign();
    // A fold finds what it calls when the gate has let it: nothing of a library runs before.
    if (import.isForeign() && mode_ == Mode::Program)
      if (llvm::Error error = link(loaded, import))
        return error;
    for (size_t i = 0; i < import.parameters.size(); ++i) {
      if (!isReference(import.parameters[i]))
        continue;
      loaded.references.push_back(uint16_t(i));
      if (!import.inOut[i])
        loaded.released.push_back(uint16_t(i));
    }
  }

  const size_t first = functions_.size();
  size_t total = 0;
  for (size_t i = first; i < module_.functions.size(); ++i)
    total += module_.functions[i].code.size();
  std::vector<Instruction>& block = code_.emplace_back();
  block.reserve(total); // never moves: RuntimeFunction::code points into it
  functions_.resize(module_.functions.size());
  referenceParameters_.resize(module_.functions.size());
  firstInstructions_.resize(module_.functions.size());
  for (size_t i = first; i < module_.functions.size(); ++i) {
    const Function& function = module_.functions[i];
    RuntimeFunction& loaded = functions_[i];
    loaded.code = block.data() + block.size();
    loaded.source = &function;
    loaded.registerLayouts = function.registers.data();
    loaded.registers = uint32_t(function.registers.size());
    loaded.frameSize = loaded.registers + function.outgoingCount;
    loaded.parameterCount = uint16_t(function.parameterCount - function.captureCount);
    loaded.captureCount = function.captureCount;
    for (uint16_t at = 0; at < function.parameterCount; ++at)
      if (isReference(function.registers[at]))
        referenceParameters_[i].push_back(at);
    loaded.referenceParameters = referenceParameters_[i].data();
    loaded.referenceParameterCount = uint16_t(referenceParameters_[i].size());
    uint32_t begin = function.parameterCount;
    while (begin < loaded.registers && !isReference(function.registers[begin]))
      ++begin;
    loaded.referenceBegin = begin;
    loaded.referenceEnd = loaded.registers;
    loaded.steps = uint32_t(2 + function.code.size() / 8 + (loaded.registers - begin) / 4);
    for (const Instruction instruction : function.code) {
      if (uint8_t(instruction.word) >= kOpcodeCount)
        return llvm::createStringError(llvm::errc::invalid_argument, "unknown opcode");
      block.push_back(patch(instruction, function));
    }
    if (!function.code.empty())
      firstInstructions_[i] = *loaded.code;
  }
  resetSteps(); // loading is not the program's work
  return llvm::Error::success();
}

llvm::Error Vm::link(Import& import, const NativeImport& wanted) {
  if (foreign_ == nullptr)
    return llvm::createStringError(llvm::errc::not_supported,
                                   "`" + wanted.name +
                                       "` needs the library of Rust bindings, and there is none");
  auto entry = foreign_->find(wanted);
  if (!entry)
    return entry.takeError();
  import.entry = *entry;
  return llvm::Error::success();
}

// ---- running
// ----------------------------------------------------------------------------------------

Trap Vm::runPart(FunctionId function, Value& result) {
  result = 0;
  if (scheduler_ && nesting_ == 0)
    scheduler_->beginPart();
  Trap trap;
  if (!std::exchange(initialised_, true) && module_.initialiser != FunctionId::None) {
    Value nothing = 0;
    trap = call(module_.initialiser, {}, nothing);
  }
  if (!trap)
    trap = call(function, {}, result);
  if (trap && scheduler_ && nesting_ == 0)
    scheduler_->freeMain();
  return trap;
}

Trap Vm::settle() {
  return scheduler_ && nesting_ == 0 ? runOthers(MainWait::ForPart) : Trap();
}

Trap Vm::run(FunctionId function, Value& result) {
  if (Trap trap = runPart(function, result))
    return trap;
  if (!scheduler_ || nesting_ != 0)
    return {};
  const bool isReference = index(function) < module_.functions.size() &&
                           this->isReference(module_.functions[index(function)].result);
  Trap trap = runOthers(MainWait::ForAll);
  // A fold has nobody who would look at the failure of a goroutine that was not joined.
  if (!trap && mode_ == Mode::Fold)
    for (UnobservedFailure& failure : scheduler_->takeUnobserved())
      if (!trap)
        trap = failure.trap ? std::move(failure.trap) : Trap::panic(std::move(failure.error));
  if (trap) {
    heap_.releaseValue(result, isReference);
    result = 0;
  }
  return trap;
}

Trap Vm::call(FunctionId function, llvm::ArrayRef<Value> arguments, Value& result) {
  if (index(function) >= functions_.size())
    return Trap::make(TrapKind::Refused, "no such function");
  return enter(&functions_[index(function)], arguments, nullptr, result);
}

Trap Vm::callClosure(Value closure, llvm::ArrayRef<Value> arguments, Value& result) {
  if (closure == 0 || asObject(closure)->kind != ObjectKind::Closure)
    return Trap::incompatible("value that is called is no function");
  const ClosureObject* object = asClosure(closure);
  return enter(&functions_[index(object->function)], arguments, object, result);
}

Trap Vm::enter(const RuntimeFunction* function, llvm::ArrayRef<Value> arguments,
               const ClosureObject* closure, Value& result) {
  result = 0;
  if (arguments.size() != function->parameterCount ||
      (closure == nullptr && function->captureCount != 0))
    return Trap::make(TrapKind::Refused, "function is called with a wrong number of arguments");
  Value* base = top_->base + top_->function->frameSize;
  Frame* boundary = top_ + 1;
  const auto fail = [&](Trap trap) {
    for (uint16_t i = 0; i < function->referenceParameterCount; ++i)
      if (function->referenceParameters[i] < function->parameterCount)
        heap_.release(asObject(arguments[function->referenceParameters[i]]));
    return trap;
  };
  if (nesting_ >= kNestingLimit || boundary + 1 >= frameLimit_ ||
      base + 1 + function->frameSize >= stackLimit_)
    return fail(depthTrap());
  steps_ -= kEnterSteps + function->steps;
  if (steps_ < 0 && !refill())
    return fail(Trap::budget("steps", uint64_t(stepsLimit_)));

  *boundary = {kBoundaryCode + 1, &kBoundary, base, base + 1};
  base[0] = 0;
  Value* registers = base + 1;
  std::copy(arguments.begin(), arguments.end(), registers);
  if (closure != nullptr) {
    Value* captures = registers + function->parameterCount;
    std::copy_n(const_cast<ClosureObject*>(closure)->captures(), function->captureCount, captures);
    for (uint16_t slot : captureReferences_[index(closure->function)])
      retain(asObject(captures[slot]));
  }
  std::fill(registers + function->referenceBegin, registers + function->referenceEnd, 0);
  boundary[1] = {function->code, function, registers, registers + function->registers};
  top_ = boundary + 1;
  ++nesting_;
  Trap trap = interpret();
  --nesting_;
  // Either way the boundary is on top now.
  result = trap ? 0 : top_->base[0];
  --top_;
  return trap;
}

Trap Vm::charge(uint64_t steps) {
  steps_ -= int64_t(std::min<uint64_t>(steps, uint64_t(INT64_MAX) >> 1));
  return steps_ < 0 && !refill() ? Trap::budget("steps", uint64_t(stepsLimit_)) : Trap{};
}

uint64_t Vm::stepsUsed() const {
  return uint64_t(stepsLimit_ - steps_ - withheld_ - beyond_);
}

void Vm::resetSteps() {
  steps_ = stepsLimit_;
  withheld_ = beyond_ = 0;
  withhold();
}

void Vm::withhold() {
  if (!progress_ || steps_ <= kProgressSteps)
    return;
  withheld_ = steps_ - kProgressSteps;
  steps_ = kProgressSteps;
}

Scheduler& Vm::scheduler() {
  if (!scheduler_)
    scheduler_ = std::make_unique<Scheduler>(*this);
  return *scheduler_;
}

void Vm::startSlice() {
  giveSlice(turnState_ == 0 ? kSliceSteps : int64_t(nextTurn() % kLongestUnevenSlice));
}

void Vm::giveSlice(int64_t slice) {
  const int64_t all = steps_ + withheld_ + beyond_;
  withheld_ = 0;
  steps_ = scheduler_ && scheduler_->others() ? std::min(all, slice) : all;
  beyond_ = all - steps_;
  withhold();
}

uint64_t Vm::nextTurn() {
  if (turnState_ == 0)
    return 0;
  // SplitMix64: every seed gives a sequence of its own. The state is never 0.
  uint64_t mixed = turnState_ += 0x9e3779b97f4a7c15u;
  turnState_ += turnState_ == 0;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

bool Vm::refill() {
  sliceGoesOn_ = false;
  if (withheld_ != 0) {
    steps_ += std::exchange(withheld_, 0);
    withhold();
    progress_(stepsUsed());
    sliceGoesOn_ = steps_ >= 0;
    if (sliceGoesOn_)
      return true;
  }
  if (beyond_ == 0)
    return false;
  // A turn is over, but most ends of one are in the library or in a native, where nobody is
  // switched. So what follows is short, and of another length each time: a loop that does little
  // else than calling the library comes to an end of its own code soon, whatever its length.
  dueTurns_ += 37;
  giveSlice(int64_t(1 + dueTurns_ % kLongestDueSlice));
  return steps_ >= 0;
}

Trap Vm::runOthers(MainWait until) {
  if (scheduler_->live() == 0)
    return {};
  scheduler_->waitForOthers(until);
  ++nesting_;
  const bool goesOn = scheduler_->switchAway();
  // The first turn may begin with a trap, which concerns its goroutine alone, as everywhere.
  Trap trap = interpret(/*raised=*/!goesOn);
  --nesting_;
  if (trap)
    scheduler_->freeMain();
  return trap;
}

void Vm::unwind() {
  for (; top_->function->source != nullptr; --top_) {
    const RuntimeFunction& function = *top_->function;
    for (uint16_t i = 0; i < function.referenceParameterCount; ++i)
      heap_.assign(top_->base[function.referenceParameters[i]], 0);
    for (uint32_t i = function.referenceBegin; i < function.referenceEnd; ++i)
      heap_.assign(top_->base[i], 0);
  }
}

TraceFrame Vm::traceFrame(const Frame& frame) {
  const Function& function = *frame.function->source;
  const auto pc = uint32_t(frame.pc - frame.function->code);
  return {function.name, spanAt(function, pc == 0 ? 0 : pc - 1), function.package,
          function.transparent};
}

void Vm::takeTrace(TrapDetails& details) const {
  details.traced = true;
  if (details.isBorrowed)
    details.lent = lender();
  for (const Frame* frame = top_; frame > bottom_; --frame) {
    const Function* function = frame->function->source;
    if (function == nullptr)
      continue;
    if (details.trace.size() == kTraceFrames) {
      ++details.traceOmitted;
      continue;
    }
    details.trace.push_back(traceFrame(*frame));
  }
}

} // namespace gos::vm
