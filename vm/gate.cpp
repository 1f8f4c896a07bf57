// The one road from bytecode to the host: who calls, what the policy says of that, and the report
// of a denial.

#include "vm/frame.h"
#include "vm/vm.h"

namespace gos::vm {

namespace {
constexpr int64_t kNativeSteps = 8; // beside what the body charges
} // namespace

Trap Vm::callNative(uint32_t importIndex, Value* slots, Value& result) {
  Import& import = imports_[importIndex];
  const uint32_t outer = currentImport_;
  currentImport_ = importIndex;
  steps_ -= kNativeSteps;
  Trap trap;
  if (mode_ == Mode::Fold || !import.inTable)
    trap = judge(import, importIndex);
  for (size_t i = 0; !trap && i < import.references.size(); ++i)
    if (slots[import.references[i]] == 0)
      trap = Trap::borrowed("value is used while it is borrowed elsewhere");
  if (!trap) {
    Arguments arguments(*this, module_.natives[importIndex], slots);
    trap =
        import.native != nullptr ? import.native->body(arguments) : callForeign(import, arguments);
    result = arguments.result();
    if (trap && import.resultIsReference) {
      heap_.release(asObject(result));
      result = 0;
    }
  }
  currentImport_ = outer;
  for (uint16_t slot : import.released)
    heap_.assign(slots[slot], 0);
  if (trap)
    for (uint16_t slot : import.references)
      heap_.assign(slots[slot], 0);
  if (!trap && steps_ < 0 && !refill())
    trap = Trap::budget("steps", uint64_t(stepsLimit_));
  return trap;
}

Trap Vm::judge(const Import& import, uint32_t importIndex) const {
  const bool isForeign = module_.natives[importIndex].isForeign();
  // What is rare stands apart: made here, it would cost every call registers (bench/run.sh gate).
  constexpr auto refused = [](const Vm& vm, uint32_t at) __attribute__((noinline, cold)) {
    return Trap::make(TrapKind::Refused,
                      "`" + vm.module_.natives[at].name + "` is not in the library");
  };
  // A name outside the table is denied, also where the verifier was not asked (T060). One that is
  // in it is never foreign: what a row means is not for a module to say.
  if ((import.native == nullptr) != isForeign)
    return refused(*this, importIndex);
#ifndef GOS_MEASURE_WITHOUT_GATE
  if (mode_ == Mode::Fold) [[unlikely]] {
    const Capability capability =
        import.native == nullptr ? Capability::Foreign : import.native->capability;
    constexpr auto impure = [](const Vm& vm, Capability asked)
                                __attribute__((noinline, cold)) -> Trap {
      if (vm.callingVerdict(asked) == ClassVerdict::Deny)
        return Trap::denied(vm.describeCall(asked));
      return {};
    };
    if (capability != Capability::Pure)
      return impure(*this, capability);
  }
#endif
  return {};
}

Trap Vm::callForeign(Import& import, Arguments& arguments) {
  if (import.entry == nullptr)
    if (llvm::Error error = link(import, arguments.import()))
      return Trap::make(TrapKind::Refused, llvm::toString(std::move(error)));
  return foreign_->call(arguments, import.entry);
}

uint32_t Vm::callingPackage() const {
  for (const Frame* frame = top_; frame > bottom_; --frame) {
    const Function* function = frame->function->source;
    if (function != nullptr && !function->transparent)
      return function->package;
  }
  // A goroutine of library code alone acts for whoever started it.
  return scheduler_ && !scheduler_->currentIsMain() ? scheduler_->packageOfCurrent() : kNoPackage;
}

const PackagePolicy* Vm::callingPackagePolicy() const {
  const std::optional<uint32_t> package = policyPackage(callingPackage());
  if (policy_ == nullptr || !package || *package >= policy_->packages.size())
    return nullptr;
  return &policy_->packages[*package];
}

EffectiveLevel Vm::callingLevel() const {
  if (policy_ == nullptr)
    return {};
  return policy_->levelFor(policyPackage(regionPackage_).value_or(kNoPackage),
                           policyPackage(callingPackage()).value_or(kNoPackage));
}

Policy Vm::callingPolicy() const {
  if (policy_ == nullptr)
    return Policy{};
  return policy_->policyFor(policyPackage(regionPackage_).value_or(kNoPackage),
                            policyPackage(callingPackage()).value_or(kNoPackage));
}

Denial Vm::describeCall(Capability capability) const {
  Denial denial;
  denial.capability = capability;
  denial.package = callingPackage();
  if (currentImport_ < module_.natives.size())
    denial.builtin = module_.natives[currentImport_].name;
  // The user's spelling stands at the call in the frame that counts.
  for (const Frame* frame = top_; frame > bottom_; --frame) {
    const Function* function = frame->function->source;
    if (function == nullptr || function->transparent)
      continue;
    const auto pc = uint32_t(frame->pc - frame->function->code) - 1;
    for (const CallSpelling& spelling : function->spellings)
      if (spelling.pc == pc)
        denial.spelling = spelling.text;
    break;
  }
  const EffectiveLevel level = callingLevel();
  denial.levelText = spelling(level.level).str();
  if (policy_ != nullptr)
    denial.levelOrigin = policy_->describe(level);
  return denial;
}

Trap Vm::deny(Capability capability, std::string detail, std::string narrowest) const {
  Denial denial = describeCall(capability);
  denial.detail = std::move(detail);
  denial.narrowest = std::move(narrowest);
  return Trap::denied(std::move(denial));
}

void Vm::captureOutput(llvm::StringRef text) {
  const size_t room = captured_.size() < outputLimit_ ? size_t(outputLimit_ - captured_.size()) : 0;
  const llvm::StringRef kept = capturedOmitted_ == 0 ? text.take_front(room) : llvm::StringRef();
  captured_.append(kept.data(), kept.size()); // at most `outputLimit_` in all
  capturedOmitted_ += text.size() - kept.size();
  heap_.chargeBytes(text.size());
}

} // namespace gos::vm
