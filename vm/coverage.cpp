#include "vm/coverage.h"

#include "vm/slow_paths.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::vm {

namespace {
bool isCounted(const Function& function) {
  return !function.transparent && function.package != 0;
}
} // namespace

size_t coverPlaceCount(const Module& module) {
  size_t count = 0;
  for (const Function& function : module.functions)
    if (isCounted(function))
      count += function.lines.size();
  return count;
}

void forEachCoverPlace(
    const Module& module,
    llvm::function_ref<void(uint32_t, const Function&, const LineEntry&)> visit) {
  uint32_t number = 0;
  for (const Function& function : module.functions)
    if (isCounted(function))
      for (const LineEntry& entry : function.lines)
        visit(number++, function, entry);
}

void Vm::watchLines(llvm::MutableArrayRef<uint8_t> seen) {
  seen_ = seen;
  watched_.clear();
  forEachCoverPlace(
      module_, [&](uint32_t number, const Function& function, const LineEntry& entry) {
        if (number >= seen.size() || entry.pc >= function.code.size())
          return;
        const RuntimeFunction& loaded = functions_[size_t(&function - module_.functions.data())];
        auto* at = const_cast<Instruction*>(loaded.code) + entry.pc;
        watched_.push_back({at, number, at->word});
      });
  for (const WatchedPlace& place : watched_)
    place.at->word = kWatchedOpcode;
}

void SlowPaths::placeReached(Vm& vm, const Instruction* at) {
  auto place = llvm::partition_point(vm.watched_,
                                     [&](const Vm::WatchedPlace& each) { return each.at < at; });
  for (; place != vm.watched_.end() && place->at == at; ++place) {
    vm.seen_[place->number] = 1;
    place->at->word = place->word;
  }
}

} // namespace gos::vm
