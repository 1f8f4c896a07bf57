#include "tests/unit/vm/natives.h"

#include "vm/verifier.h"

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;

namespace {

Module sample() {
  ModuleBuilder b;
  const uint32_t text = b.addString(std::string("a\0b", 3));
  b.addConstant(~uint64_t(0));
  b.addFormat({'*', FormatSpec::Align::Centre, true, 5, 2, FormatSpec::Kind::Debug});
  b.addGlobal("G", kCellInt);
  b.addNative("shout", {kString}, kUnit, {true});
  b.module.initialiser = b.addFunction("init", {kInt}, 0, kUnit, {abc(Op::ReturnUnit)});
  b.module.entry = b.addFunction("main", {kInt, kString}, 0, kUnit,
                                 {abx(Op::LoadString, 1, text), abc(Op::ReturnUnit)});
  Function& function = b.module.functions.back();
  function.transparent = true;
  function.lines = {{0, {1, 2}}, {1, {3, 4}}};
  function.spellings = {{1, "fs::read"}};
  function.span = {7, 9};
  b.module.regions = {b.module.entry};
  return b.module;
}

} // namespace

TEST_CASE("a module reads back as it was written") {
  const Module module = sample();
  const std::string bytes = serialise(module);
  auto read = deserialise(bytes);
  REQUIRE(bool(read));
  CHECK(serialise(*read) == bytes);
  REQUIRE(read->functions.size() == 2);
  const Function& function = read->functions[1];
  CHECK(function.name == "main");
  CHECK(function.transparent);
  CHECK(function.lines[1].span == Span{3, 4});
  CHECK(function.spellings[0].text == "fs::read");
  CHECK(read->strings[0] == std::string("a\0b", 3));
  CHECK(read->formats[0] == module.formats[0]);
  CHECK(read->natives[0].inOut == std::vector<bool>{true});
  CHECK(read->regions == module.regions);
}

TEST_CASE("bytes that are no module are refused, wherever they end") {
  const std::string bytes = serialise(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto read = deserialise(llvm::StringRef(bytes).take_front(size));
    CHECK_FALSE(bool(read));
    llvm::consumeError(read.takeError());
  }
  auto longer = deserialise(bytes + "x");
  CHECK_FALSE(bool(longer));
  llvm::consumeError(longer.takeError());
}

TEST_CASE("a module with any one byte changed is refused or runs without harm") {
  const std::string bytes = serialise(sample());
  const NativeTable table = testNatives();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int change : {1, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = char(changed[at] ^ change);
      auto read = deserialise(changed);
      if (!read) {
        llvm::consumeError(read.takeError());
        continue;
      }
      VmOptions options;
      options.steps = 10'000;
      options.heapBytes = 1 << 20;
      auto vm = Vm::create(*read, table, std::move(options));
      if (!vm) {
        llvm::consumeError(vm.takeError());
        continue;
      }
      Value result = 0;
      for (uint32_t i = 0; i < read->functions.size(); ++i)
        if (read->functions[i].parameterCount == 0)
          (void)(*vm)->run(FunctionId(i), result);
    }
}

TEST_CASE("a length that lies is met before anything is allocated") {
  std::string bytes = serialise(Module{});
  REQUIRE(bytes.size() > 12);
  bytes.replace(8, 4, "\xff\xff\xff\xff");
  auto read = deserialise(bytes);
  CHECK_FALSE(bool(read));
  llvm::consumeError(read.takeError());
}
