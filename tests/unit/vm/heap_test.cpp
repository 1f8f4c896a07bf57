#include "tests/unit/vm/machine.h"

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

struct HeapFixture {
  HeapFixture(uint64_t limit = kUnlimited) {
    layouts.resize(4);
    layouts[0].kind = LayoutKind::Vec; // of integers
    layouts[0].isReference = true;
    layouts[1].kind = LayoutKind::Vec; // of bytes
    layouts[1].isReference = layouts[1].byteStorage = true;
    layouts[2].kind = LayoutKind::Enum; // a list
    layouts[2].isReference = true;
    layouts[2].variants = {VariantInfo{0, {}}, VariantInfo{2, {1}}};
    layouts[3].kind = LayoutKind::Vec; // of vectors
    layouts[3].isReference = layouts[3].elementIsReference = true;
    heap = std::make_unique<Heap>(layouts, captures, limit, steps);
  }
  std::vector<LayoutInfo> layouts;
  std::vector<std::vector<uint16_t>> captures;
  int64_t steps = INT64_MAX;
  std::unique_ptr<Heap> heap;
};

constexpr LayoutId kInts{0};
constexpr LayoutId kByteVec{1};
constexpr LayoutId kLinks{2};
constexpr LayoutId kNested{3};

} // namespace

TEST_CASE("what is released is counted back to nothing") {
  HeapFixture f;
  Heap& heap = *f.heap;
  StringObject* text = heap.newString("hello");
  VecObject* vec = heap.newVec(kInts, 0);
  for (uint64_t i = 0; i < 10'000; ++i)
    REQUIRE(heap.push(vec, i));
  for (int i = 0; i < 200; ++i)
    REQUIRE(heap.append(text, "0123456789"));
  CHECK(heap.used() > 80'000);
  heap.release(vec);
  heap.release(text);
  CHECK(heap.used() == 0);
}

TEST_CASE("a list of a million links is released without a deep stack") {
  HeapFixture f;
  Heap& heap = *f.heap;
  Object* list = heap.newEnum(kLinks, 0);
  for (int i = 0; i < 1'000'000; ++i) {
    StructObject* link = heap.newEnum(kLinks, 1);
    link->slots()[0] = uint64_t(i);
    link->slots()[1] = fromObject(list);
    list = link;
  }
  heap.release(list);
  CHECK(heap.used() == 0);
}

TEST_CASE("a size is judged before it is allocated") {
  HeapFixture f(10'000);
  Heap& heap = *f.heap;
  CHECK(heap.newStringWithCapacity(uint64_t(1) << 40) == nullptr);
  CHECK(heap.newVec(kInts, uint64_t(1) << 60) == nullptr);
  CHECK(heap.newVec(kInts, ~uint64_t(0)) == nullptr);
  CHECK(heap.used() == 0);
  StringObject* text = heap.newString("x");
  CHECK_FALSE(heap.reserveString(text, 20'000));
  CHECK(text->text() == "x");
  while (heap.append(text, "0123456789")) {
  }
  CHECK(heap.used() <= 10'000);
  CHECK(text->length > 3'000); // the exact size is tried where the generous one does not fit
}

TEST_CASE("a shared vector is copied when it is changed, a unique one is not") {
  HeapFixture f;
  Heap& heap = *f.heap;
  VecObject* vec = heap.newVec(kInts, 4);
  heap.push(vec, 1);
  Value slot = fromObject(vec);
  CHECK(heap.makeUnique(slot));
  CHECK(asVec(slot) == vec);
  retain(vec);
  CHECK(heap.makeUnique(slot));
  CHECK(asVec(slot) != vec);
  CHECK(vec->refs == 1);
  asVec(slot)->slots[0] = 7;
  CHECK(vec->slots[0] == 1);
  heap.release(vec);
  heap.release(asObject(slot));
  CHECK(heap.used() == 0);
}

TEST_CASE("a copy shares its children") {
  HeapFixture f;
  Heap& heap = *f.heap;
  VecObject* inner = heap.newVec(kInts, 1);
  VecObject* outer = heap.newVec(kNested, 1);
  heap.push(outer, fromObject(inner));
  retain(outer);
  Value slot = fromObject(outer);
  CHECK(heap.makeUnique(slot));
  CHECK(inner->refs == 2);
  heap.release(outer);
  CHECK(inner->refs == 1);
  heap.release(asObject(slot));
  CHECK(heap.used() == 0);
}

TEST_CASE("a count that would overflow sticks instead") {
  HeapFixture f;
  VecObject* vec = f.heap->newVec(kInts, 0);
  vec->refs = 0x7fffffffu;
  retain(vec);
  CHECK(vec->refs == kImmortal);
  retain(vec);
  f.heap->release(vec);
  CHECK(vec->refs == kImmortal);
}

TEST_CASE("a queue works at both ends and in the middle") {
  HeapFixture f;
  Heap& heap = *f.heap;
  for (LayoutId layout : {kInts, kByteVec}) {
    VecObject* vec = heap.newVec(layout, 0);
    std::vector<uint64_t> model;
    uint64_t seed = 1;
    for (int i = 0; i < 20'000; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const uint64_t value = (seed >> 33) & 0xff;
      switch ((seed >> 60) % 6) {
      case 0:
      case 1:
        REQUIRE(heap.push(vec, value));
        model.push_back(value);
        break;
      case 2:
        REQUIRE(heap.pushFront(vec, value));
        model.insert(model.begin(), value);
        break;
      case 3:
        if (!model.empty()) {
          REQUIRE(heap.popFront(vec) == model.front());
          model.erase(model.begin());
        }
        break;
      case 4:
        if (!model.empty()) {
          REQUIRE(heap.removeAt(vec, value % model.size()) == model[value % model.size()]);
          model.erase(model.begin() + long(value % model.size()));
        }
        break;
      case 5:
        REQUIRE(heap.insertAt(vec, value % (model.size() + 1), value));
        model.insert(model.begin() + long(value % (model.size() + 1)), value);
        break;
      }
      REQUIRE(vec->length == model.size());
    }
    for (size_t i = 0; i < model.size(); ++i)
      CHECK(heap.element(vec, i) == model[i]);
    heap.release(vec);
    CHECK(heap.used() == 0);
  }
}

TEST_CASE("a queue that gives back what it takes does not grow") {
  HeapFixture f;
  Heap& heap = *f.heap;
  VecObject* vec = heap.newVec(kInts, 0);
  for (int i = 0; i < 10; ++i)
    heap.push(vec, 0);
  for (int i = 0; i < 100'000; ++i) {
    REQUIRE(heap.push(vec, uint64_t(i)));
    heap.popFront(vec);
  }
  CHECK(heap.used() < 2'000);
  heap.release(vec);
}

TEST_CASE("text appended to itself is doubled") {
  HeapFixture f;
  Heap& heap = *f.heap;
  StringObject* text = heap.newString("ab");
  for (int i = 0; i < 10; ++i)
    REQUIRE(heap.append(text, text->text()));
  CHECK(text->length == 2048);
  CHECK(text->text().starts_with("abab"));
  CHECK(text->text().ends_with("abab"));
  heap.release(text);
}

TEST_CASE("positions in text count scalar values") {
  HeapFixture f;
  StringObject* text = f.heap->newString("aä€😀b");
  CHECK(scalarCount(text) == 5);
  CHECK(byteOffset(text, 0) == 0);
  CHECK(byteOffset(text, 2) == 3);
  CHECK(byteOffset(text, 4) == 10);
  CHECK(byteOffset(text, 1) == 1); // behind the cursor
  CHECK(byteOffset(text, 9) == 11);
  unsigned length = 0;
  CHECK(decodeScalar(text->text(), 6, length) == 0x1f600);
  CHECK(length == 4);
  f.heap->release(text);
}

TEST_CASE("bytes that are no text are met without a crash") {
  for (llvm::StringRef bytes :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\x80z", "\xf0"}) {
    CHECK_FALSE(isValidUtf8(bytes));
    HeapFixture f;
    StringObject* text = f.heap->newString(bytes);
    CHECK(scalarCount(text) > 0);
    size_t at = 0;
    while (at < bytes.size()) {
      unsigned length = 0;
      decodeScalar(bytes, at, length);
      at += length;
    }
    CHECK(at == bytes.size());
    f.heap->release(text);
  }
  CHECK(isValidUtf8("ä€😀 plain text that is longer than eight bytes"));
}
