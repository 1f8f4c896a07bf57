#include "compiler/fold/evaluate.h"

#include "vm/object.h"
#include "vm/verifier.h"

namespace gos::fold {

llvm::Expected<std::unique_ptr<Evaluator>> Evaluator::create(llvm::StringRef module,
                                                             llvm::StringRef policy,
                                                             const vm::NativeTable& natives,
                                                             vm::ForeignLinker* foreign) {
  auto readModule = vm::deserialise(module);
  if (!readModule)
    return readModule.takeError();
  auto readPolicy = deserializeComptimePolicy(policy);
  if (!readPolicy)
    return readPolicy.takeError();
  std::unique_ptr<Evaluator> evaluator(new Evaluator);
  evaluator->module_ = std::move(*readModule);
  evaluator->policy_ = std::move(*readPolicy);
  evaluator->natives_ = &natives;
  evaluator->foreign_ = foreign;
  if (auto error = vm::verify(evaluator->module_, natives))
    return error;
  return evaluator;
}

RegionAnswer Evaluator::evaluate(size_t index, Origin origin,
                                 std::function<void(uint64_t)> progress) {
  RegionAnswer answer;
  const vm::FunctionId thunk = module_.regions[index];
  const vm::Function& function = module_.functions[vm::index(thunk)];
  vm::VmOptions options;
  options.mode = vm::Mode::Fold;
  options.policy = &policy_;
  options.regionPackage = origin == Origin::Foreign ? vm::kNoPackage : function.package;
  options.steps = policy_.budgets.steps;
  options.heapBytes = policy_.budgets.heapBytes;
  options.depth = policy_.budgets.depth;
  options.outputBytes = policy_.budgets.outputBytes;
  options.verification = vm::Verification::Verified; // `create` did
  options.foreign = foreign_;
  options.progress = std::move(progress);
  if (origin == Origin::OwnPackage)
    if (auto known = known_.find(function.package); known != known_.end())
      options.knownGlobals = &known->second;
  if (machine_) {
    machine_->restart(std::move(options));
  } else {
    auto machine = vm::Vm::create(module_, *natives_, std::move(options));
    if (!machine) {
      answer.trap = vm::Trap::make(vm::TrapKind::Refused, llvm::toString(machine.takeError()));
      return answer;
    }
    machine_ = std::move(*machine);
  }
  vm::Vm& vm = *machine_;
  vm::Value result = 0;
  answer.trap = vm.run(thunk, result);
  answer.output = vm.capturedOutput().str();
  answer.outputOmitted = vm.capturedOmitted();
  answer.inputs = vm.inputs().vec();
  answer.steps = vm.stepsUsed();
  answer.knewRead = llvm::any_of(
      vm.knownGlobalsRead(), [&](uint32_t global) { return knownFromOutside_.contains(global); });
  if (answer.trap)
    return answer;
  const vm::Layout& layout = module_.layouts[vm::index(function.result)];
  RegionValue value;
  switch (layout.kind) {
  case vm::LayoutKind::Int:
  case vm::LayoutKind::Float:
    value.bits = result;
    answer.value = std::move(value);
    return answer;
  case vm::LayoutKind::String: {
    value.kind = RegionValue::Kind::Text;
    llvm::StringRef text = result ? vm::asString(result)->text() : llvm::StringRef();
    if (text.size() > policy_.budgets.resultBytes) {
      answer.resultTooLarge = true;
      answer.resultBytes = text.size();
    } else {
      value.text = text.str();
      answer.value = std::move(value);
    }
    vm.releaseValue(result, function.result);
    return answer;
  }
  case vm::LayoutKind::Vec:
  case vm::LayoutKind::Map:
  case vm::LayoutKind::Set:
  case vm::LayoutKind::Struct:
  case vm::LayoutKind::Enum:
  case vm::LayoutKind::Closure:
  case vm::LayoutKind::Cell:
  case vm::LayoutKind::Handle:
    break;
  }
  vm.releaseValue(result, function.result);
  answer.trap =
      vm::Trap::make(vm::TrapKind::Refused, "the result of the region is not a scalar or a string");
  return answer;
}

void Evaluator::know(uint32_t global, uint32_t package, const RegionValue& value, bool read) {
  known_[package][global] = {value.bits, value.text, value.kind == RegionValue::Kind::Text};
  if (read)
    knownFromOutside_.insert(global);
}

} // namespace gos::fold
