#include "tests/unit/vm/machine.h"

#include "vm/map.h"
#include "vm/structural.h"

#include <cmath>
#include <map>

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

struct ValueFixture {
  explicit ValueFixture(ModuleBuilder given = {}) : builder(std::move(given)) {
    builder.addFunction("f", {kInt}, 0, kInt, {abx(Op::LoadInt, 0, 0), abc(Op::Return, 0)});
    machine = std::make_unique<Machine>(builder);
  }
  Vm& vm() { return machine->vm(); }
  bool equal(Value a, Value b, LayoutId layout, FloatEquality floats = FloatEquality::Ieee) {
    bool result = false;
    REQUIRE_FALSE(bool(valuesEqual(vm(), a, b, layout, floats, result)));
    return result;
  }
  int order(Value a, Value b, LayoutId layout) {
    int result = 0;
    REQUIRE_FALSE(bool(compareValues(vm(), a, b, layout, result)));
    return result;
  }
  uint32_t hash(Value value, LayoutId layout) {
    uint32_t result = 0;
    REQUIRE_FALSE(bool(hashValue(vm(), value, layout, result)));
    return result;
  }
  Value text(llvm::StringRef value) { return fromObject(vm().heap().newString(value)); }
  Value ints(std::vector<int64_t> values) {
    VecObject* vec = vm().heap().newVec(kVecInt, 0);
    for (int64_t value : values)
      vm().heap().push(vec, uint64_t(value));
    return fromObject(vec);
  }
  Value pair(int64_t count, llvm::StringRef label) {
    StructObject* object = vm().heap().newStruct(kPair);
    object->slots()[0] = uint64_t(count);
    object->slots()[1] = text(label);
    return fromObject(object);
  }
  Value list(int length, int64_t last) {
    Value tail = vm().unitVariant(kList, 0);
    for (int i = 0; i < length; ++i) {
      StructObject* link = vm().heap().newEnum(kList, 1);
      link->slots()[0] = uint64_t(i == 0 ? last : 1);
      link->slots()[1] = tail;
      tail = fromObject(link);
    }
    return tail;
  }
  MapObject* map(LayoutId layout) { return vm().heap().newMap(layout); }
  bool insert(MapObject* map, Value key, Value value) {
    bool present = false;
    REQUIRE_FALSE(bool(mapInsert(vm(), map, key, value, present)));
    return present;
  }
  ModuleBuilder builder;
  std::unique_ptr<Machine> machine;
};

} // namespace

TEST_CASE("values are equal by structure") {
  ValueFixture f;
  CHECK(f.equal(f.text("a"), f.text("a"), kString));
  CHECK_FALSE(f.equal(f.text("a"), f.text("b"), kString));
  CHECK(f.equal(f.ints({1, 2}), f.ints({1, 2}), kVecInt));
  CHECK_FALSE(f.equal(f.ints({1, 2}), f.ints({1, 2, 3}), kVecInt));
  CHECK(f.equal(f.pair(1, "x"), f.pair(1, "x"), kPair));
  CHECK_FALSE(f.equal(f.pair(1, "x"), f.pair(1, "y"), kPair));
  CHECK_FALSE(f.equal(f.vm().unitVariant(kList, 0), f.list(1, 1), kList));
}

TEST_CASE("order is by field, by element, by variant") {
  ValueFixture f;
  CHECK(f.order(f.text("a"), f.text("ä"), kString) == -1);
  CHECK(f.order(f.ints({1, 2}), f.ints({1, 2, 0}), kVecInt) == -1);
  CHECK(f.order(f.ints({2}), f.ints({1, 9}), kVecInt) == 1);
  CHECK(f.order(f.ints({-1}), f.ints({1}), kVecInt) == -1);
  CHECK(f.order(f.pair(1, "b"), f.pair(1, "a"), kPair) == 1);
  CHECK(f.order(f.vm().unitVariant(kList, 0), f.list(1, 1), kList) == -1);
  CHECK(f.order(f.pair(1, "a"), f.pair(1, "a"), kPair) == 0);
}

TEST_CASE("floats: IEEE for the operator, total for keys") {
  ValueFixture f;
  CHECK_FALSE(f.equal(fromReal(NAN), fromReal(NAN), kFloat));
  CHECK(f.equal(fromReal(NAN), fromReal(NAN), kFloat, FloatEquality::Total));
  CHECK(f.equal(fromReal(0.0), fromReal(-0.0), kFloat));
  CHECK(compareTotal(-0.0, 0.0) == -1);
  CHECK(compareTotal(INFINITY, NAN) == -1);
  CHECK(compareTotal(-INFINITY, -1e308) == -1);
  CHECK(compareTotal(1, 1) == 0);
}

TEST_CASE("a million links are compared and hashed without a deep stack") {
  ValueFixture f;
  const Value a = f.list(300'000, 1);
  const Value b = f.list(300'000, 1);
  const Value c = f.list(300'000, 2);
  CHECK(f.equal(a, b, kList));
  CHECK_FALSE(f.equal(a, c, kList));
  CHECK(f.order(a, c, kList) == -1);
  CHECK(f.hash(a, kList) == f.hash(b, kList));
  CHECK(f.hash(a, kList) != f.hash(c, kList));
}

TEST_CASE("a hook replaces the structural behaviour, also inside containers") {
  ModuleBuilder b;
  // eq: counts alone; cmp: reversed counts.
  const FunctionId eq = b.addFunction("eq", {kPair, kPair, kInt, kInt}, 2, kBool,
                                      {abc(Op::GetField, 2, 0, 0), abc(Op::GetField, 3, 1, 0),
                                       abc(Op::EqInt, 2, 2, 3), abc(Op::ReturnScalar, 2)});
  const FunctionId cmp = b.addFunction("cmp", {kPair, kPair, kInt, kInt}, 2, kInt,
                                       {abc(Op::GetField, 2, 0, 0), abc(Op::GetField, 3, 1, 0),
                                        abc(Op::SubI64, 2, 3, 2), abc(Op::ReturnScalar, 2)});
  b.module.layouts[index(kPair)].equals = eq;
  b.module.layouts[index(kPair)].compare = cmp;
  Layout keyed = containerLayout(LayoutKind::Set, kPair, "Set<Pair>");
  const LayoutId set = b.addLayout(keyed);
  ValueFixture f(std::move(b));
  CHECK(f.equal(f.pair(1, "x"), f.pair(1, "y"), kPair));
  CHECK(f.order(f.pair(1, "x"), f.pair(2, "x"), kPair) == 1);
  const auto wrap = [&](Value value) {
    VecObject* vec = f.vm().heap().newVec(kVecPair, 1);
    f.vm().heap().push(vec, value);
    return fromObject(vec);
  };
  CHECK(f.equal(wrap(f.pair(1, "x")), wrap(f.pair(1, "y")), kVecPair));
  MapObject* values = f.map(set);
  CHECK_FALSE(f.insert(values, f.pair(1, "x"), 0));
  CHECK(f.insert(values, f.pair(1, "other"), 0)); // equal by `eq`, so it hashes alike
  CHECK_FALSE(f.insert(values, f.pair(2, "x"), 0));
  llvm::ArrayRef<uint32_t> order;
  REQUIRE_FALSE(bool(mapOrder(f.vm(), values, order)));
  REQUIRE(order.size() == 2);
  CHECK(asStruct(values->entries[order[0]].key)->slots()[0] == 2);
}

TEST_CASE("a map agrees with a model over random operations") {
  ValueFixture f;
  MapObject* map = f.map(kMapStringInt);
  std::map<std::string, int64_t> model;
  uint64_t seed = 7;
  const auto next = [&] {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33;
  };
  for (int i = 0; i < 60'000; ++i) {
    const std::string key = "k" + std::to_string(next() % 300);
    const auto value = int64_t(next() % 1000);
    switch (next() % 5) {
    case 0:
    case 1: {
      const bool present = f.insert(map, f.text(key), uint64_t(value));
      REQUIRE(present == model.count(key));
      model[key] = value;
      break;
    }
    case 2: {
      bool present = false;
      const Value k = f.text(key);
      REQUIRE_FALSE(bool(mapRemove(f.vm(), map, k, present)));
      f.vm().heap().release(asObject(k));
      REQUIRE(present == (model.erase(key) == 1));
      break;
    }
    case 3: {
      MapEntry* entry = nullptr;
      const Value k = f.text(key);
      REQUIRE_FALSE(bool(mapFind(f.vm(), map, k, entry)));
      f.vm().heap().release(asObject(k));
      REQUIRE((entry != nullptr) == (model.count(key) == 1));
      if (entry != nullptr)
        REQUIRE(int64_t(entry->value) == model[key]);
      break;
    }
    case 4: {
      if (i % 7 != 0)
        break;
      llvm::ArrayRef<uint32_t> order;
      REQUIRE_FALSE(bool(mapOrder(f.vm(), map, order)));
      REQUIRE(order.size() == model.size());
      size_t at = 0;
      for (const auto& [k, v] : model) {
        const MapEntry& entry = map->entries[order[at++]];
        REQUIRE(asString(entry.key)->text() == k);
        REQUIRE(int64_t(entry.value) == v);
      }
      if (!order.empty() && i % 3 == 0) { // take from an end, as pop_first does
        const uint32_t number = i % 2 == 0 ? order.front() : order.back();
        model.erase(asString(map->entries[number].key)->text().str());
        mapRemoveEntry(f.vm(), map, &map->entries[number]);
      }
      break;
    }
    }
    REQUIRE(map->live == model.size());
  }
  mapClear(f.vm(), map);
  CHECK(map->live == 0);
  f.vm().heap().release(map);
  CHECK(f.vm().heap().used() == 0);
}

TEST_CASE("maps are equal whatever the order of insertion") {
  ValueFixture f;
  MapObject* a = f.map(kMapIntString);
  MapObject* b = f.map(kMapIntString);
  for (int64_t i : {1, 2, 3})
    f.insert(a, uint64_t(i), f.text("v" + std::to_string(i)));
  for (int64_t i : {3, 1, 2})
    f.insert(b, uint64_t(i), f.text("v" + std::to_string(i)));
  CHECK(f.equal(fromObject(a), fromObject(b), kMapIntString));
  CHECK(f.hash(fromObject(a), kMapIntString) == f.hash(fromObject(b), kMapIntString));
  CHECK(f.order(fromObject(a), fromObject(b), kMapIntString) == 0);
  f.insert(b, 2, f.text("else"));
  CHECK_FALSE(f.equal(fromObject(a), fromObject(b), kMapIntString));
  CHECK(f.order(fromObject(a), fromObject(b), kMapIntString) == 1);
}

TEST_CASE("a shared map is copied with its entries") {
  ValueFixture f;
  MapObject* map = f.map(kMapStringInt);
  for (int i = 0; i < 100; ++i)
    f.insert(map, f.text("k" + std::to_string(i)), uint64_t(i));
  retain(map);
  Value slot = fromObject(map);
  REQUIRE(f.vm().heap().makeUnique(slot));
  f.insert(asMap(slot), f.text("new"), 1);
  CHECK(map->live == 100);
  CHECK(asMap(slot)->live == 101);
  f.vm().heap().release(map);
  f.vm().heap().release(asObject(slot));
  CHECK(f.vm().heap().used() == 0);
}

TEST_CASE("an order that contradicts itself sorts without harm") {
  ModuleBuilder b;
  const FunctionId cmp = b.addFunction("cmp", {kPair, kPair, kInt}, 2, kInt,
                                       {abx(Op::LoadInt, 2, -1), abc(Op::ReturnScalar, 2)});
  b.module.layouts[index(kPair)].compare = cmp;
  const LayoutId set = b.addLayout(containerLayout(LayoutKind::Set, kPair, "Set<Pair>"));
  ValueFixture f(std::move(b));
  MapObject* values = f.map(set);
  for (int i = 0; i < 500; ++i)
    f.insert(values, f.pair(i, "x"), 0);
  llvm::ArrayRef<uint32_t> order;
  REQUIRE_FALSE(bool(mapOrder(f.vm(), values, order)));
  CHECK(order.size() == 500);
}
