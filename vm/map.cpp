#include "vm/map.h"

#include "vm/structural.h"
#include "vm/vm.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gos::vm {

namespace {

constexpr uint32_t kMaxEntries = uint32_t(1) << 30;

/// How keys of a layout are compared: the two commonest kinds without the structural walk.
enum class KeyKind : uint8_t { Integer, Text, Other };

KeyKind keyKind(const Layout& key) {
  if (key.equals != FunctionId::None || key.compare != FunctionId::None)
    return KeyKind::Other;
  if (key.kind == LayoutKind::Int)
    return KeyKind::Integer;
  return key.kind == LayoutKind::String ? KeyKind::Text : KeyKind::Other;
}

Trap hashKey(Vm& vm, Value key, LayoutId layout, KeyKind kind, uint32_t& hash) {
  if (kind == KeyKind::Integer) {
    // Keys that follow each other stay neighbours in the index, sixteen at a time: dense keys are
    // the commonest.
    const uint64_t block = key >> 4;
    const uint64_t mixed = (block ^ block >> 32) * 0x9e3779b97f4a7c15ull;
    hash = (uint32_t(mixed >> 32) & ~15u) | (uint32_t(key) & 15);
    return {};
  }
  if (kind == KeyKind::Text && key != 0) {
    hash = hashBytes(asString(key)->text());
    vm.heap().chargeText(asString(key)->length);
    return {};
  }
  return hashValue(vm, key, layout, hash);
}

Trap sameKey(Vm& vm, Value left, Value right, LayoutId layout, KeyKind kind, bool& same) {
  if (kind == KeyKind::Integer) {
    same = left == right;
    return {};
  }
  if (kind == KeyKind::Text && left != 0 && right != 0) {
    vm.heap().chargeBytes(asString(left)->length);
    same = left == right || asString(left)->text() == asString(right)->text();
    return {};
  }
  return valuesEqual(vm, left, right, layout, FloatEquality::Total, same);
}

/// Finds the entry number of a key, or none; answers the bucket where it stands or would stand.
Trap probe(Vm& vm, const MapObject* map, Value key, uint32_t hash, KeyKind kind, LayoutId layout,
           uint32_t& bucket, MapEntry*& entry) {
  entry = nullptr;
  bucket = 0;
  if (map->bucketCount == 0)
    return {};
  const uint32_t mask = map->bucketCount - 1;
  uint32_t at = hash & mask;
  uint32_t probes = 0;
  for (uint64_t found = map->buckets[at]; found != 0; found = map->buckets[at]) {
    if (uint32_t(found >> 32) == hash) {
      MapEntry& candidate = map->entries[uint32_t(found) - 1];
      bool same = false;
      if (Trap trap = sameKey(vm, candidate.key, key, layout, kind, same))
        return trap;
      if (same) {
        entry = &candidate;
        break;
      }
    }
    // Keys chosen to collide cost their author steps.
    if (++probes % 16 == 0)
      vm.heap().chargeSteps(32);
    at = (at + 1) & mask;
  }
  bucket = at;
  return {};
}

uint64_t bucketOf(uint32_t hash, uint32_t number) {
  return uint64_t(hash) << 32 | (number + 1);
}

/// Writes the index anew over entries without gaps.
void fillBuckets(Vm& vm, MapObject* map) {
  uint64_t probes = uint64_t(map->used) * 4;
  std::memset(map->buckets, 0, size_t(map->bucketCount) * sizeof(uint64_t));
  const uint32_t mask = map->bucketCount - 1;
  for (uint32_t i = 0; i < map->used; ++i) {
    uint32_t at = map->entries[i].hash & mask;
    for (; map->buckets[at] != 0; ++probes)
      at = (at + 1) & mask;
    map->buckets[at] = bucketOf(map->entries[i].hash, i);
  }
  vm.heap().chargeBytes(size_t(map->bucketCount) * sizeof(uint64_t));
  vm.heap().chargeSteps(probes);
}

/// Closes the gaps that removed entries left; the order of keys goes along.
void compact(Vm& vm, MapObject* map) {
  constexpr uint32_t kGone = UINT32_MAX;
  vm.heap().chargeBytes(size_t(map->used) * sizeof(MapEntry));
  std::vector<uint32_t> moved(map->orderedUsed, kGone);
  uint32_t next = 0;
  uint32_t orderedUsed = 0;
  for (uint32_t i = 0; i < map->used; ++i) {
    if (map->entries[i].live == 0)
      continue;
    if (i < map->orderedUsed) {
      moved[i] = next;
      orderedUsed = next + 1;
    }
    if (next != i)
      map->entries[next] = map->entries[i];
    ++next;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < map->orderCount; ++i) {
    const uint32_t number = moved[map->order[map->orderBegin + i]];
    if (number != kGone)
      map->order[kept++] = number;
  }
  map->orderBegin = 0;
  map->orderCount = kept;
  map->used = next;
  map->orderedUsed = orderedUsed;
}

/// Makes room for one more entry at least.
Trap grow(Vm& vm, MapObject* map, uint64_t wanted) {
  Heap& heap = vm.heap();
  if (map->live < map->used && map->live + map->live / 2 < map->used && wanted <= map->capacity) {
    compact(vm, map);
    fillBuckets(vm, map);
    return {};
  }
  uint64_t capacity = std::max<uint64_t>({8, wanted, uint64_t(map->capacity) * 2});
  if (wanted > kMaxEntries)
    return vm.heapTrap();
  capacity = std::min<uint64_t>(capacity, kMaxEntries);
  uint64_t bucketCount = 16;
  while (bucketCount * 2 < capacity * 3)
    bucketCount *= 2;
  auto* entries = static_cast<MapEntry*>(heap.allocate(size_t(capacity) * sizeof(MapEntry)));
  auto* buckets =
      entries == nullptr
          ? nullptr
          : static_cast<uint64_t*>(heap.allocate(size_t(bucketCount) * sizeof(uint64_t)));
  if (buckets == nullptr) {
    if (entries != nullptr)
      heap.deallocate(entries, size_t(capacity) * sizeof(MapEntry));
    return vm.heapTrap();
  }
  if (map->live != map->used)
    compact(vm, map);
  if (map->used != 0)
    std::memcpy(entries, map->entries, size_t(map->used) * sizeof(MapEntry));
  if (map->entries != nullptr)
    heap.deallocate(map->entries, size_t(map->capacity) * sizeof(MapEntry));
  if (map->buckets != nullptr)
    heap.deallocate(map->buckets, size_t(map->bucketCount) * sizeof(uint64_t));
  map->entries = entries;
  map->buckets = buckets;
  map->capacity = uint32_t(capacity);
  map->bucketCount = uint32_t(bucketCount);
  fillBuckets(vm, map);
  heap.chargeBytes(size_t(map->used) * sizeof(MapEntry));
  return {};
}

/// Takes an entry number out of the index, closing the hole it leaves in its run of buckets.
void unlink(Vm& vm, MapObject* map, uint32_t entryNumber) {
  const uint32_t mask = map->bucketCount - 1;
  uint32_t at = map->entries[entryNumber].hash & mask;
  uint64_t probes = 0;
  for (; uint32_t(map->buckets[at]) != entryNumber + 1; ++probes)
    at = (at + 1) & mask;
  uint32_t hole = at;
  for (uint32_t next = (at + 1) & mask; map->buckets[next] != 0; next = (next + 1) & mask) {
    ++probes;
    const uint32_t home = uint32_t(map->buckets[next] >> 32) & mask;
    // An entry may move into the hole unless its home lies cyclically behind it.
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      map->buckets[hole] = map->buckets[next];
      hole = next;
    }
  }
  map->buckets[hole] = 0;
  vm.heap().chargeSteps(probes * 2);
}

/// Sorts entry numbers by key: a merge sort, because a comparison may trap, and one that the user
/// wrote may contradict itself, which must not lead out of the array.
class OrderSort {
public:
  OrderSort(Vm& vm, const MapObject* map)
      : vm_(vm), map_(map), layout_(vm.layout(map->layout).element) {
    const Layout& key = vm.layout(layout_);
    kind_ = keyKind(key);
    isSigned_ = isSigned(key.width);
  }

  Trap sort(std::vector<uint32_t>& numbers) {
    if (kind_ == KeyKind::Integer || kind_ == KeyKind::Text) {
      uint64_t work = 0;
      std::sort(numbers.begin(), numbers.end(),
                [&](uint32_t a, uint32_t b) { return plainLess(a, b, work); });
      return vm_.charge(work);
    }
    std::vector<uint32_t> scratch(numbers.size());
    for (size_t width = 1; width < numbers.size(); width *= 2) {
      for (size_t begin = 0; begin < numbers.size(); begin += 2 * width) {
        const size_t middle = std::min(begin + width, numbers.size());
        const size_t end = std::min(begin + 2 * width, numbers.size());
        if (Trap trap = merge({numbers.data() + begin, middle - begin},
                              {numbers.data() + middle, end - middle}, scratch.data() + begin))
          return trap;
      }
      numbers.swap(scratch);
    }
    return {};
  }

  Trap merge(llvm::ArrayRef<uint32_t> left, llvm::ArrayRef<uint32_t> right, uint32_t* out) {
    while (!left.empty() && !right.empty()) {
      bool takeRight = false;
      if (Trap trap = less(right.front(), left.front(), takeRight))
        return trap;
      llvm::ArrayRef<uint32_t>& from = takeRight ? right : left;
      *out++ = from.front();
      from = from.drop_front();
    }
    out = std::copy(left.begin(), left.end(), out);
    std::copy(right.begin(), right.end(), out);
    return {};
  }

private:
  bool plainLess(uint32_t a, uint32_t b, uint64_t& work) const {
    const Value left = map_->entries[a].key;
    const Value right = map_->entries[b].key;
    work += 4;
    if (kind_ == KeyKind::Text) {
      work += std::min(asString(left)->length, asString(right)->length) / 16;
      return asString(left)->text() < asString(right)->text();
    }
    return isSigned_ ? asInteger(left) < asInteger(right) : left < right;
  }
  Trap less(uint32_t a, uint32_t b, bool& result) {
    if (kind_ != KeyKind::Other) {
      uint64_t work = 0;
      result = plainLess(a, b, work);
      vm_.heap().chargeSteps(work);
      return {};
    }
    int order = 0;
    Trap trap = compareValues(vm_, map_->entries[a].key, map_->entries[b].key, layout_, order);
    result = order < 0;
    return trap;
  }

  Vm& vm_;
  const MapObject* map_;
  LayoutId layout_;
  KeyKind kind_;
  bool isSigned_;
};

} // namespace

Trap mapFind(Vm& vm, MapObject* map, Value key, MapEntry*& entry) {
  const LayoutId layout = vm.layout(map->layout).element;
  const KeyKind kind = keyKind(vm.layout(layout));
  uint32_t hash = 0;
  uint32_t bucket = 0;
  entry = nullptr;
  if (map->live == 0)
    return {};
  if (Trap trap = hashKey(vm, key, layout, kind, hash))
    return trap;
  return probe(vm, map, key, hash, kind, layout, bucket, entry);
}

Trap mapInsert(Vm& vm, MapObject* map, Value key, Value value, bool& wasPresent, Value* replaced) {
  const Layout& mapLayout = vm.layout(map->layout);
  const LayoutId layout = mapLayout.element;
  const LayoutInfo& shape = vm.info(map->layout);
  const KeyKind kind = keyKind(vm.layout(layout));
  Heap& heap = vm.heap();
  uint32_t hash = 0;
  uint32_t bucket = 0;
  MapEntry* entry = nullptr;
  wasPresent = false;
  if (replaced != nullptr)
    *replaced = 0;
  Trap trap = hashKey(vm, key, layout, kind, hash);
  if (!trap)
    trap = probe(vm, map, key, hash, kind, layout, bucket, entry);
  if (!trap && entry != nullptr) {
    wasPresent = true;
    const Value old = entry->value;
    entry->value = value;
    heap.releaseValue(key, shape.elementIsReference);
    if (replaced != nullptr)
      *replaced = old;
    else
      heap.releaseValue(old, shape.valueIsReference);
    return {};
  }
  if (!trap && map->used == map->capacity) {
    trap = grow(vm, map, uint64_t(map->live) + 1);
    if (!trap) {
      // The buckets are new; no key can be equal, so the first empty one is the place.
      bucket = hash & (map->bucketCount - 1);
      while (map->buckets[bucket] != 0)
        bucket = (bucket + 1) & (map->bucketCount - 1);
    }
  }
  if (trap) {
    heap.releaseValue(key, shape.elementIsReference);
    heap.releaseValue(value, shape.valueIsReference);
    return trap;
  }
  map->entries[map->used] = {key, value, hash, 1};
  map->buckets[bucket] = bucketOf(hash, map->used);
  ++map->used;
  ++map->live;
  return {};
}

void mapRemoveEntry(Vm& vm, MapObject* map, MapEntry* entry) {
  const LayoutInfo& shape = vm.info(map->layout);
  const auto number = uint32_t(entry - map->entries);
  unlink(vm, map, number);
  entry->live = 0;
  --map->live;
  // Taking from either end in key order leaves the order exact.
  if (map->orderCount != 0 && map->order[map->orderBegin] == number) {
    ++map->orderBegin;
    --map->orderCount;
  } else if (map->orderCount != 0 && map->order[map->orderBegin + map->orderCount - 1] == number) {
    --map->orderCount;
  }
  const MapEntry gone = *entry;
  entry->key = entry->value = 0;
  if (map->live == 0) {
    map->used = map->orderBegin = map->orderCount = map->orderedUsed = 0;
  }
  vm.heap().releaseValue(gone.key, shape.elementIsReference);
  vm.heap().releaseValue(gone.value, shape.valueIsReference);
}

Trap mapRemove(Vm& vm, MapObject* map, Value key, bool& wasPresent, Value* removedValue) {
  MapEntry* entry = nullptr;
  wasPresent = false;
  if (removedValue != nullptr)
    *removedValue = 0;
  if (Trap trap = mapFind(vm, map, key, entry))
    return trap;
  if (entry == nullptr)
    return {};
  wasPresent = true;
  if (removedValue != nullptr) {
    *removedValue = entry->value;
    entry->value = 0;
  }
  mapRemoveEntry(vm, map, entry);
  return {};
}

Trap mapOrder(Vm& vm, MapObject* map, llvm::ArrayRef<uint32_t>& order) {
  // Drop the numbers of removed entries first.
  if (map->orderCount != 0 && map->orderCount + (map->used - map->orderedUsed) != map->live) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->orderCount; ++i)
      if (map->entries[map->order[map->orderBegin + i]].live != 0)
        map->order[kept++] = map->order[map->orderBegin + i];
    vm.heap().chargeBytes(map->orderCount * sizeof(uint32_t));
    map->orderBegin = 0;
    map->orderCount = kept;
  }
  if (map->orderedUsed < map->used) {
    const Scratch scratch(vm.heap(), uint64_t(map->used) * 4 * sizeof(uint32_t));
    if (!scratch)
      return vm.heapTrap();
    std::vector<uint32_t> fresh;
    fresh.reserve(map->used - map->orderedUsed);
    for (uint32_t i = map->orderedUsed; i < map->used; ++i)
      if (map->entries[i].live != 0)
        fresh.push_back(i);
    // A key's own `cmp` may order this very map meanwhile: nothing of the object is used across a
    // comparison but its entries, which cannot change while the caller holds it.
    const std::vector<uint32_t> known(map->order + map->orderBegin,
                                      map->order + map->orderBegin + map->orderCount);
    std::vector<uint32_t> merged(known.size() + fresh.size());
    if (!vm.enterNested())
      return vm.depthTrap();
    OrderSort sorter(vm, map);
    Trap trap = sorter.sort(fresh);
    if (!trap)
      trap = sorter.merge(known, fresh, merged.data());
    vm.leaveNested();
    if (trap)
      return trap;
    if (merged.size() > map->orderCapacity) {
      const uint32_t capacity = std::max<uint32_t>(uint32_t(merged.size()), map->capacity);
      auto* numbers =
          static_cast<uint32_t*>(vm.heap().allocate(size_t(capacity) * sizeof(uint32_t)));
      if (numbers == nullptr)
        return vm.heapTrap();
      if (map->order != nullptr)
        vm.heap().deallocate(map->order, size_t(map->orderCapacity) * sizeof(uint32_t));
      map->order = numbers;
      map->orderCapacity = capacity;
    }
    std::copy(merged.begin(), merged.end(), map->order);
    vm.heap().chargeBytes(merged.size() * sizeof(uint32_t));
    map->orderBegin = 0;
    map->orderCount = uint32_t(merged.size());
    map->orderedUsed = map->used;
  }
  order = {map->order + map->orderBegin, map->orderCount};
  return {};
}

void mapClear(Vm& vm, MapObject* map) {
  const LayoutInfo& shape = vm.info(map->layout);
  const uint32_t used = map->used;
  map->used = map->live = map->orderBegin = map->orderCount = map->orderedUsed = 0;
  if (map->buckets != nullptr)
    std::memset(map->buckets, 0, size_t(map->bucketCount) * sizeof(uint64_t));
  vm.heap().chargeBytes(size_t(map->bucketCount) * sizeof(uint64_t));
  for (uint32_t i = 0; i < used; ++i) {
    if (map->entries[i].live == 0)
      continue;
    map->entries[i].live = 0;
    vm.heap().releaseValue(map->entries[i].key, shape.elementIsReference);
    vm.heap().releaseValue(map->entries[i].value, shape.valueIsReference);
  }
}

Trap mapReserve(Vm& vm, MapObject* map, uint64_t count) {
  if (count <= map->capacity)
    return {};
  return grow(vm, map, count);
}

} // namespace gos::vm
