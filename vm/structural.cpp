#include "vm/structural.h"

#include "vm/map.h"
#include "vm/vm.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstring>

namespace gos::vm {

namespace {

// In steps.
constexpr uint64_t kPaidAtOnce = 16384;
constexpr uint64_t kVisit = 4; // to look at one value

enum class Step : uint8_t { Equal, Less, Greater, Pushed, Trapped };

Trap borrowedElsewhere() {
  return Trap::borrowed("value is used while it is borrowed elsewhere");
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/// The order of floats as an order of integers.
int64_t totalKey(double value) {
  const auto bits = int64_t(fromReal(value));
  return bits ^ int64_t(uint64_t(bits >> 63) >> 1);
}

/// A pair of objects whose children are being walked, with the place reached.
struct Pair {
  const Object* left;
  const Object* right;
  LayoutId layout;
  uint64_t at;
  uint64_t end;
  const uint32_t* leftOrder; // maps being ordered
  const uint32_t* rightOrder;
};

/// Walks two values side by side. In Order mode the first difference decides; in Equality mode any
/// difference ends it.
class Walk {
public:
  enum class Goal : uint8_t { Equality, Order };
  Walk(Vm& vm, Goal goal, FloatEquality floats) : vm_(vm), goal_(goal), floats_(floats) {}

  /// -1, 0, 1; in Equality mode anything but 0 means different.
  Trap run(Value left, Value right, LayoutId layout, int& result) {
    Step step = visit(left, right, layout);
    while (true) {
      switch (step) {
      case Step::Trapped:
        return std::move(trap_);
      case Step::Less:
      case Step::Greater:
        result = step == Step::Less ? -1 : 1;
        return finish();
      case Step::Equal:
      case Step::Pushed:
        break;
      }
      if (stack_.empty()) {
        result = 0;
        return finish();
      }
      step = advance();
    }
  }

private:
  Trap finish() {
    vm_.heap().chargeSteps(work_);
    return {};
  }

  /// Shared parts are walked as often as they occur, so the work may be without measure: it is paid
  /// on the way.
  bool pay() {
    if (work_ < kPaidAtOnce)
      return true;
    Trap trap = vm_.charge(work_);
    work_ = 0;
    return !trap || (trap_ = std::move(trap), false);
  }

  Step ordered(int order) {
    return order == 0 ? Step::Equal : order < 0 ? Step::Less : Step::Greater;
  }

  Step fail(Trap trap) {
    trap_ = std::move(trap);
    return Step::Trapped;
  }

  Step callHook(FunctionId hook, Value left, Value right, LayoutId layout) {
    Value result = 0;
    if (Trap trap =
            vm_.call(hook, {vm_.retainValue(left, layout), vm_.retainValue(right, layout)}, result))
      return fail(std::move(trap));
    if (goal_ == Goal::Equality)
      return result != 0 ? Step::Equal : Step::Less;
    return ordered(asInteger(result) < 0 ? -1 : asInteger(result) > 0);
  }

  Step scalar(Value left, Value right, const Layout& layout) {
    if (goal_ == Goal::Order)
      return ordered(compareScalars(left, right, layout));
    if (layout.kind == LayoutKind::Float && floats_ == FloatEquality::Ieee)
      return asReal(left) == asReal(right) ? Step::Equal : Step::Less;
    return left == right ? Step::Equal : Step::Less;
  }

  void push(Value left, Value right, LayoutId layout, uint64_t end) {
    stack_.push_back({asObject(left), asObject(right), layout, 0, end, nullptr, nullptr});
  }

  /// Decides a pair, or pushes it when it has children.
  Step visit(Value left, Value right, LayoutId id) {
    work_ += kVisit;
    if (!pay())
      return Step::Trapped;
    const Layout& layout = vm_.layout(id);
    if (goal_ == Goal::Equality && layout.equals != FunctionId::None)
      return callHook(layout.equals, left, right, id);
    if (goal_ == Goal::Order && layout.compare != FunctionId::None)
      return callHook(layout.compare, left, right, id);
    if (!layout.isReference())
      return scalar(left, right, layout);
    if (left == 0 || right == 0)
      return fail(borrowedElsewhere());
    if (left == right && vm_.info(id).plainEquality)
      return Step::Equal;
    switch (layout.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
      break; // scalars, above
    case LayoutKind::String: {
      const llvm::StringRef a = asString(left)->text();
      const llvm::StringRef b = asString(right)->text();
      if (goal_ == Goal::Order || a.size() == b.size())
        work_ += std::min(a.size(), b.size()) / 16;
      if (goal_ == Goal::Equality)
        return a == b ? Step::Equal : Step::Less;
      return ordered(a.compare(b)); // of UTF-8, by bytes is by code point
    }
    case LayoutKind::Vec:
      return visitVec(asVec(left), asVec(right), id, layout);
    case LayoutKind::Struct:
    case LayoutKind::Enum: {
      const StructObject* a = asStruct(left);
      const StructObject* b = asStruct(right);
      if (a->tag != b->tag)
        return a->tag < b->tag ? Step::Less : Step::Greater;
      if (a->tag >= layout.variants.size() || layout.variants[a->tag].fields.empty())
        return Step::Equal;
      push(left, right, id, layout.variants[a->tag].fields.size());
      return Step::Pushed;
    }
    case LayoutKind::Map:
    case LayoutKind::Set:
      return visitMap(asMap(left), asMap(right), id);
    case LayoutKind::Closure:
    case LayoutKind::Cell:
      // No order of theirs could be the same on every machine.
      return left == right || goal_ == Goal::Order ? Step::Equal : Step::Less;
    case LayoutKind::Handle: // by identity; ordered as they were given, so that they may be keys
      return ordered(asHandle(left)->handle < asHandle(right)->handle   ? -1
                     : asHandle(left)->handle > asHandle(right)->handle ? 1
                                                                        : 0);
    }
    return Step::Equal;
  }

  Step visitVec(VecObject* a, VecObject* b, LayoutId id, const Layout& layout) {
    if (goal_ == Goal::Equality && a->length != b->length)
      return Step::Less;
    const uint64_t common = std::min(a->length, b->length);
    const Layout& element = vm_.layout(layout.element);
    const bool plain = element.kind == LayoutKind::Int && element.equals == FunctionId::None &&
                       element.compare == FunctionId::None;
    if (plain) {
      work_ += layout.byteStorage ? common / 16 : common;
      if (layout.byteStorage) {
        const int order = common == 0 ? 0 : std::memcmp(a->bytes, b->bytes, common);
        if (order != 0)
          return ordered(order);
      } else {
        for (uint64_t i = 0; i < common; ++i)
          if (a->slots[i] != b->slots[i])
            return goal_ == Goal::Equality
                       ? Step::Less
                       : ordered(compareScalars(a->slots[i], b->slots[i], element));
      }
      return a->length == b->length  ? Step::Equal
             : a->length < b->length ? Step::Less
                                     : Step::Greater;
    }
    push(fromObject(a), fromObject(b), id, common);
    return Step::Pushed;
  }

  Step visitMap(MapObject* a, MapObject* b, LayoutId id) {
    if (goal_ == Goal::Equality) {
      if (a->live != b->live)
        return Step::Less;
      push(fromObject(a), fromObject(b), id, a->used);
      return Step::Pushed;
    }
    llvm::ArrayRef<uint32_t> left;
    llvm::ArrayRef<uint32_t> right;
    if (Trap trap = mapOrder(vm_, a, left))
      return fail(std::move(trap));
    if (Trap trap = mapOrder(vm_, b, right))
      return fail(std::move(trap));
    // Keys and values take turns: two steps an entry.
    push(fromObject(a), fromObject(b), id, uint64_t(std::min(a->live, b->live)) * 2);
    stack_.back().leftOrder = left.data();
    stack_.back().rightOrder = right.data();
    return Step::Pushed;
  }

  /// The next child of the pair on top, or its end.
  Step advance() {
    Pair& pair = stack_.back();
    const LayoutId id = pair.layout;
    const Layout& layout = vm_.layout(id);
    const uint64_t at = pair.at++;
    if (at >= pair.end) {
      const Pair done = pair;
      stack_.pop_back();
      return ended(done, layout);
    }
    switch (layout.kind) {
    case LayoutKind::Vec: {
      const auto* a = static_cast<const VecObject*>(pair.left);
      const auto* b = static_cast<const VecObject*>(pair.right);
      if (layout.byteStorage)
        return visit(a->bytes[at], b->bytes[at], layout.element);
      return visit(a->slots[at], b->slots[at], layout.element);
    }
    case LayoutKind::Struct:
    case LayoutKind::Enum: {
      const auto* a = static_cast<const StructObject*>(pair.left);
      const auto* b = static_cast<const StructObject*>(pair.right);
      return visit(a->slots()[at], b->slots()[at], layout.variants[a->tag].fields[at]);
    }
    case LayoutKind::Map:
    case LayoutKind::Set: {
      auto* a = const_cast<MapObject*>(static_cast<const MapObject*>(pair.left));
      auto* b = const_cast<MapObject*>(static_cast<const MapObject*>(pair.right));
      if (goal_ == Goal::Order) {
        const MapEntry& x = a->entries[pair.leftOrder[at / 2]];
        const MapEntry& y = b->entries[pair.rightOrder[at / 2]];
        if (at % 2 == 0)
          return visit(x.key, y.key, layout.element);
        return layout.kind == LayoutKind::Map ? visit(x.value, y.value, layout.value) : Step::Equal;
      }
      if (a->entries[at].live == 0)
        return Step::Equal;
      MapEntry* found = nullptr;
      if (Trap trap = mapFind(vm_, b, a->entries[at].key, found))
        return fail(std::move(trap));
      if (found == nullptr)
        return Step::Less;
      return layout.kind == LayoutKind::Map
                 ? visit(a->entries[at].value, found->value, layout.value)
                 : Step::Equal;
    }
    case LayoutKind::Int:
    case LayoutKind::Float:
    case LayoutKind::String:
    case LayoutKind::Closure:
    case LayoutKind::Cell:
    case LayoutKind::Handle:
      break; // never pushed
    }
    return Step::Equal;
  }

  /// All common children are equal: the longer one is greater.
  Step ended(const Pair& pair, const Layout& layout) {
    if (goal_ == Goal::Equality)
      return Step::Equal;
    uint64_t a = 0;
    uint64_t b = 0;
    if (layout.kind == LayoutKind::Vec) {
      a = static_cast<const VecObject*>(pair.left)->length;
      b = static_cast<const VecObject*>(pair.right)->length;
    } else if (layout.kind == LayoutKind::Map || layout.kind == LayoutKind::Set) {
      a = static_cast<const MapObject*>(pair.left)->live;
      b = static_cast<const MapObject*>(pair.right)->live;
    }
    return ordered((a > b) - (a < b));
  }

  Vm& vm_;
  Goal goal_;
  FloatEquality floats_;
  llvm::SmallVector<Pair, 8> stack_;
  Trap trap_;
  uint64_t work_ = 0;
};

/// A value whose children are being hashed.
struct Single {
  const Object* object;
  LayoutId layout;
  uint64_t at;
  uint64_t end;
};

} // namespace

int compareTotal(double left, double right) {
  const int64_t a = totalKey(left);
  const int64_t b = totalKey(right);
  return (a > b) - (a < b);
}

int compareScalars(Value left, Value right, const Layout& layout) {
  if (layout.kind == LayoutKind::Float)
    return compareTotal(asReal(left), asReal(right));
  if (isSigned(layout.width))
    return (asInteger(left) > asInteger(right)) - (asInteger(left) < asInteger(right));
  return (left > right) - (left < right);
}

uint32_t hashBytes(llvm::StringRef bytes) {
  uint64_t hash = mix(0x6a09e667f3bcc909ull, bytes.size());
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = mix(hash, word);
  }
  uint64_t rest = 0;
  if (at < bytes.size())
    std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  hash = mix(hash, rest);
  return uint32_t(hash >> 32 ^ hash);
}

Trap valuesEqual(Vm& vm, Value left, Value right, LayoutId layout, FloatEquality floats,
                 bool& equal) {
  int result = 0;
  if (!vm.enterNested())
    return vm.depthTrap();
  Trap trap = Walk(vm, Walk::Goal::Equality, floats).run(left, right, layout, result);
  vm.leaveNested();
  equal = result == 0;
  return trap;
}

Trap compareValues(Vm& vm, Value left, Value right, LayoutId layout, int& order) {
  if (!vm.enterNested())
    return vm.depthTrap();
  Trap trap = Walk(vm, Walk::Goal::Order, FloatEquality::Total).run(left, right, layout, order);
  vm.leaveNested();
  return trap;
}

Trap hashValue(Vm& vm, Value value, LayoutId root, uint32_t& result) {
  uint64_t hash = 0x510e527fade682d1ull;
  uint64_t work = 0;
  llvm::SmallVector<Single, 8> stack;
  Value current = value;
  LayoutId id = root;
  while (true) {
    // One value: mixed in, or pushed when it has children.
    const Layout& layout = vm.layout(id);
    work += kVisit;
    if (work >= kPaidAtOnce) {
      if (Trap trap = vm.charge(work))
        return trap;
      work = 0;
    }
    if (layout.equals != FunctionId::None) {
      hash = mix(hash, 1); // what its own `eq` holds to be equal must hash alike
    } else if (!layout.isReference()) {
      hash = mix(hash, current);
    } else if (current == 0) {
      return borrowedElsewhere();
    } else {
      switch (layout.kind) {
      case LayoutKind::Int:
      case LayoutKind::Float:
        break;
      case LayoutKind::String:
        hash = mix(hash, hashBytes(asString(current)->text()));
        work += asString(current)->length / 2;
        break;
      case LayoutKind::Vec: {
        const VecObject* vec = asVec(current);
        hash = mix(hash, vec->length);
        if (layout.byteStorage) {
          hash = mix(hash,
                     hashBytes({reinterpret_cast<const char*>(vec->bytes), size_t(vec->length)}));
          work += vec->length / 2;
        } else if (vec->length != 0) {
          stack.push_back({vec, id, 0, vec->length});
        }
        break;
      }
      case LayoutKind::Struct:
      case LayoutKind::Enum: {
        const StructObject* object = asStruct(current);
        if (layout.kind == LayoutKind::Enum)
          hash = mix(hash, object->tag);
        if (object->tag < layout.variants.size() && !layout.variants[object->tag].fields.empty())
          stack.push_back({object, id, 0, layout.variants[object->tag].fields.size()});
        break;
      }
      case LayoutKind::Map:
      case LayoutKind::Set: {
        // The order of entries must not matter: a sum of the keys' hashes, which are known.
        const MapObject* map = asMap(current);
        uint64_t sum = map->live;
        for (uint32_t i = 0; i < map->used; ++i)
          if (map->entries[i].live != 0)
            sum += map->entries[i].hash * 0x9e3779b97f4a7c15ull;
        work += map->used;
        hash = mix(hash, sum);
        break;
      }
      case LayoutKind::Closure:
      case LayoutKind::Cell:
        hash = mix(hash, 2); // no addresses
        break;
      case LayoutKind::Handle:
        hash = mix(hash, asHandle(current)->handle);
        break;
      }
    }
    // The next value.
    while (!stack.empty() && stack.back().at == stack.back().end)
      stack.pop_back();
    if (stack.empty())
      break;
    Single& top = stack.back();
    const Layout& parent = vm.layout(top.layout);
    if (parent.kind == LayoutKind::Vec) {
      current = static_cast<const VecObject*>(top.object)->slots[top.at];
      id = parent.element;
    } else {
      const auto* object = static_cast<const StructObject*>(top.object);
      current = object->slots()[top.at];
      id = parent.variants[object->tag].fields[top.at];
    }
    ++top.at;
  }
  vm.heap().chargeSteps(work);
  result = uint32_t(hash >> 32 ^ hash);
  return {};
}

} // namespace gos::vm
