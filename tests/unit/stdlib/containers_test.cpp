#include "tests/unit/stdlib/machine.h"

using namespace gos;
using namespace gos::stdlib;
using namespace gos::stdlib::test;

TEST_CASE("maps answer in key order whatever the order of insertion") {
  Machine machine;
  const size_t from = machine.native("Map::from", {"[(String, i64)]"}, "Map<String, i64>");
  const size_t keys = machine.native("Map::keys", {"Map<String, i64>"}, "Vec<String>");
  const size_t insert =
      machine.native("Map::insert", {"&mut Map<String, i64>", "String", "i64"}, "Option<i64>");
  const size_t inc = machine.native("Map::inc", {"&mut Map<String, i64>", "String", "i64"}, "()");
  const size_t get = machine.native("Map::get", {"Map<String, i64>", "String"}, "Option<i64>");
  machine.start();
  vm::Heap& heap = machine.vm().heap();
  auto makeMap = [&] {
    vm::VecObject* entries = heap.newVec(machine.type("[(String, i64)]"), 3);
    for (const char* key : {"pear", "apple", "fig"}) {
      vm::StructObject* pair = heap.newStruct(machine.type("(String, i64)"));
      pair->slots()[0] = machine.text(key);
      pair->slots()[1] = 1;
      REQUIRE(heap.push(entries, vm::fromObject(pair)));
    }
    const vm::Value argument = vm::fromObject(entries);
    vm::Value map = 0;
    CHECK_FALSE(machine.vm().call(vm::FunctionId(0), {argument}, map));
    return map;
  };
  (void)from;
  CHECK(machine.call(keys, {makeMap()}).text == "#[\"apple\", \"fig\", \"pear\"]");
  const test::Outcome inserted = machine.call(insert, {makeMap(), machine.text("fig"), 9});
  CHECK(inserted.text == "Some(1)");
  CHECK(inserted.changed == "{\"apple\": 1, \"fig\": 9, \"pear\": 1}");
  CHECK(machine.call(inc, {makeMap(), machine.text("kiwi"), 5}).changed ==
        "{\"apple\": 1, \"fig\": 1, \"kiwi\": 5, \"pear\": 1}");
  CHECK(machine.call(get, {makeMap(), machine.text("none")}).text == "None");
}

TEST_CASE("vectors judge their indices") {
  Machine machine;
  const size_t get = machine.native("Vec::get", {"Vec<i64>", "i64"}, "Option<i64>");
  const size_t insert =
      machine.native("Vec::insert", {"&mut Vec<i64>", "i64", "i64"}, "Result<(), errors::Error>");
  const size_t remove =
      machine.native("Vec::remove", {"&mut Vec<i64>", "i64"}, "Result<i64, errors::Error>");
  const size_t swap = machine.native("Vec::swap", {"&mut Vec<i64>", "i64", "i64"}, "()");
  const size_t sort = machine.native("Vec::sort", {"&mut Vec<i64>"}, "()");
  const size_t sortTexts = machine.native("Vec::sort", {"&mut Vec<String>"}, "()");
  const size_t part =
      machine.native("intrinsics::vec_part", {"Vec<i64>", "i64", "i64"}, "Vec<i64>");
  const size_t sum = machine.native("Vec::sum", {"Vec<i64>"}, "i64");
  const size_t join = machine.native("Vec::join", {"Vec<i64>", "String"}, "String");
  CHECK(machine.call(get, {machine.integers({1, 2}), uint64_t(-1)}).text == "None");
  CHECK(machine.call(get, {machine.integers({1, 2}), 1}).text == "Some(2)");
  CHECK(machine.call(insert, {machine.integers({1, 2}), 1, 9}).changed == "#[1, 9, 2]");
  CHECK(machine.call(insert, {machine.integers({1, 2}), 3, 9}).text.find("Err") == 0);
  CHECK(machine.call(remove, {machine.integers({1, 2}), 0}).text == "Ok(1)");
  CHECK(machine.call(remove, {machine.integers({}), 0}).text.find("Err") == 0);
  CHECK(machine.call(swap, {machine.integers({1, 2}), 0, 2}).trap == vm::TrapKind::Panic);
  CHECK(machine.call(sort, {machine.integers({3, -1, 2, 10, 9, 8, 7, 6, 5, 4, 0})}).changed ==
        "#[-1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10]");
  CHECK(machine.call(sortTexts, {machine.texts({"b", "\u00e9", "a", ""})}).changed ==
        "#[\"\", \"a\", \"b\", \"\u00e9\"]");
  CHECK(machine.call(part, {machine.integers({1, 2, 3}), uint64_t(-4), 2}).text == "#[1, 2]");
  CHECK(machine.call(part, {machine.integers({1, 2, 3}), 5, 1}).text == "#[]");
  CHECK(machine.call(sum, {machine.integers({1, 2, 3})}).text == "6");
  CHECK(machine.call(sum, {machine.integers({INT64_MAX, 1})}).trap == vm::TrapKind::Panic);
  CHECK(machine.call(join, {machine.integers({1, 2, 3}), machine.text("-")}).text == "\"1-2-3\"");
}

TEST_CASE("heaps give away the greatest or the least") {
  Machine machine;
  const size_t most = machine.native("MaxHeap::from", {"Vec<i64>"}, "MaxHeap<i64>");
  const size_t sorted = machine.native("MaxHeap::to_vec", {"MaxHeap<i64>"}, "Vec<i64>");
  const size_t pop = machine.native("MinHeap::pop", {"&mut MinHeap<i64>"}, "Option<i64>");
  const size_t least = machine.native("MinHeap::from", {"Vec<i64>"}, "MinHeap<i64>");
  machine.start();
  vm::Value heap = 0;
  CHECK_FALSE(machine.vm().call(vm::FunctionId(0), {machine.integers({3, 1, 4, 1, 5})}, heap));
  CHECK(machine.call(sorted, {heap}).text == "#[5, 4, 3, 1, 1]");
  vm::Value other = 0;
  // Functions: most 0, sorted 1, pop 2 and 3, least 4.
  CHECK_FALSE(machine.vm().call(vm::FunctionId(4), {machine.integers({3, 1, 4})}, other));
  CHECK(machine.call(pop, {other}).text == "Some(1)");
  (void)most;
  (void)least;
}

TEST_CASE("an import at the wrong layouts is refused") {
  auto refused = [](llvm::StringRef path, std::vector<std::string> parameters,
                    llvm::StringRef result) {
    Machine machine;
    vm::Module module;
    vm::NativeImport import;
    import.name = path.str();
    for (llvm::StringRef parameter : parameters) {
      import.inOut.push_back(parameter.consume_front("&mut "));
      import.parameters.push_back(machine.type(parameter));
    }
    import.result = machine.type(result);
    const size_t id = machine.native(path, parameters, result);
    (void)id;
    llvm::Error error =
        nativeTable().checkImport(*nativeTable().find(path), import, machine.module());
    const bool failed = bool(error);
    llvm::consumeError(std::move(error));
    return failed;
  };
  CHECK_FALSE(refused("Vec::push", {"&mut Vec<i64>", "i64"}, "()"));
  CHECK(refused("Vec::push", {"&mut Vec<i64>", "String"}, "()"));
  CHECK(refused("Vec::push", {"Vec<i64>", "i64"}, "()"));
  CHECK(refused("Vec::push", {"&mut Vec<i64>"}, "()"));
  CHECK(refused("Map::get", {"Map<String, i64>", "i64"}, "Option<i64>"));
  CHECK(refused("Map::get", {"Map<String, i64>", "String"}, "Option<String>"));
  CHECK(refused("String::contains", {"String", "i64"}, "bool"));
  CHECK(refused("fs::write", {"String", "Vec<i64>"}, "Result<(), io::Error>"));
  CHECK_FALSE(refused("fs::write", {"String", "Vec<u8>"}, "Result<(), io::Error>"));
  CHECK(refused("fs::open", {"String"}, "Result<String, io::Error>"));
  CHECK(refused("Float::sqrt", {"i64"}, "i64"));
  CHECK(refused("encoding::json::parse", {"String"}, "Result<String, errors::Error>"));
  CHECK_FALSE(refused("encoding::json::parse", {"String"}, "Result<Value, errors::Error>"));
}
