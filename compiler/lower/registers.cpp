#include "compiler/lower/registers.h"

#include <cassert>

namespace gos::lower {

Register Registers::make(vm::LayoutId layout, bool isReference) {
  info_.push_back({layout, isReference});
  hasReferences_ |= isReference;
  return Register(info_.size() - 1);
}

Register Registers::makeParameter(vm::LayoutId layout, bool isReference) {
  assert(parameterCount_ == info_.size() && "parameters come before all other registers");
  ++parameterCount_;
  return make(layout, isReference);
}

Register Registers::acquire(vm::LayoutId layout, bool isReference) {
  auto found = free_.find(uint32_t(layout));
  if (found != free_.end() && !found->second.empty()) {
    Register r = found->second.pop_back_val();
    info_[index(r)].free = false;
    return r;
  }
  return make(layout, isReference);
}

void Registers::release(Register r) {
  Info& info = info_[index(r)];
  assert(!info.free && "a register is given back once");
  info.free = true;
  free_[uint32_t(info.layout)].push_back(r);
}

Registers::Numbering Registers::number() const {
  Numbering result;
  result.number.resize(info_.size());
  auto place = [&](size_t i) {
    result.number[i] = uint32_t(result.layouts.size());
    result.layouts.push_back(info_[i].layout);
  };
  for (size_t i = 0; i != parameterCount_; ++i)
    place(i);
  for (size_t i = parameterCount_; i != info_.size(); ++i)
    if (!info_[i].isReference && info_[i].low)
      place(i);
  for (size_t i = parameterCount_; i != info_.size(); ++i)
    if (!info_[i].isReference && !info_[i].low)
      place(i);
  for (size_t i = parameterCount_; i != info_.size(); ++i)
    if (info_[i].isReference)
      place(i);
  return result;
}

} // namespace gos::lower
