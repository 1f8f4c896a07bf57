// Calls of a library of Rust bindings: what crosses, what a library that answers badly gets, and
// what becomes of handles.

#include "stdlib/foreign.h"

#include "stdlib/builtins.h"
#include "tests/support/fake_library.h"
#include "tests/unit/vm/machine.h"
#include "vm/disassembler.h"
#include "vm/format.h"
#include "vm/map.h"
#include "vm/structural.h"
#include "vm/verifier.h"

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;
using gos::stdlib::ForeignLibrary;
using gos::stdlib::ForeignOffer;

namespace {

/// A function for each foreign import: its parameters are the import's.
struct ForeignModule : ModuleBuilder {
  ForeignModule() { handle = addLayout(containerLayout(LayoutKind::Handle, {}, "Counter")); }

  FunctionId calling(const std::string& symbol, std::vector<LayoutId> parameters, LayoutId result,
                     const std::string& signature = "fn()") {
    NativeImport import;
    import.name = "rust:fake::" + symbol;
    import.parameters = parameters;
    import.inOut.resize(parameters.size());
    import.result = result;
    import.symbol = "fake_" + symbol;
    import.signature = signature;
    module.natives.push_back(import);
    const auto native = int(module.natives.size() - 1);
    std::vector<LayoutId> registers = parameters;
    const auto answer = int(parameters.size());
    registers.push_back(result);
    std::vector<Instruction> code;
    for (int i = 0; i < answer; ++i)
      code.push_back(abc(module.layouts[index(parameters[size_t(i)])].isReference() ? Op::ArgRef
                                                                                    : Op::ArgScalar,
                         i, i));
    code.push_back(abx(Op::CallNative, answer, native));
    code.push_back(abc(
        module.layouts[index(result)].isReference() ? Op::ReturnRef : Op::ReturnScalar, answer));
    return addFunction(symbol, registers, unsigned(answer), result, code);
  }

  LayoutId handle;
};

std::unique_ptr<ForeignLibrary> openFake(llvm::ArrayRef<ForeignOffer> offers = {}) {
  const UniqueFd image = gos::test::fakeLibrary();
  auto library = ForeignLibrary::open(image.get(), offers);
  std::string error;
  if (!library)
    error = llvm::toString(library.takeError());
  INFO(error);
  REQUIRE(error.empty());
  return std::move(*library);
}

struct Running {
  explicit Running(ForeignModule& module) : library(openFake()) {
    VmOptions options = Machine::programOptions();
    options.foreign = library.get();
    machine = std::make_unique<Machine>(module, std::move(options));
  }
  Vm& vm() { return machine->vm(); }

  Trap call(FunctionId id, std::vector<Value> arguments, Value& result) {
    return vm().call(id, arguments, result);
  }

  /// The answer as `{:?}` shows it, or what the trap says.
  std::string shown(FunctionId id, std::vector<Value> arguments, LayoutId layout) {
    Value result = 0;
    if (Trap trap = call(id, std::move(arguments), result))
      return (trap->kind == TrapKind::Panic          ? "panic: "
              : trap->kind == TrapKind::Incompatible ? "incompatible: "
                                                     : "trap: ") +
             trap->message;
    TextBuffer text(1 << 20);
    Trap trap = formatDebug(vm(), result, layout, text);
    vm().releaseValue(result, layout);
    return trap ? trap->message : text.text().str();
  }

  Value bytes(const std::string& content) {
    VecObject* vec = vm().heap().newVec(kBytes, content.size());
    for (char c : content)
      vm().heap().push(vec, uint8_t(c));
    return fromObject(vec);
  }

  std::unique_ptr<ForeignLibrary> library;
  std::unique_ptr<Machine> machine;
};

std::string word(uint64_t number) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += char(number >> (8 * i));
  return text;
}

/// What the library answers with, and what comes of it at a result of this layout.
std::string answered(ForeignModule& module, LayoutId layout, const std::string& answer,
                     char status = 0) {
  const FunctionId id = module.calling("script", {kBytes}, layout);
  Running run(module);
  return run.shown(id, {run.bytes(status + answer)}, layout);
}
std::string answered(LayoutId layout, const std::string& answer, char status = 0) {
  ForeignModule module;
  return answered(module, layout, answer, status);
}

const std::string kBroken =
    "incompatible: the answer of the Rust function `fake::script` is broken: ";

} // namespace

TEST_CASE("integers and floats cross") {
  ForeignModule module;
  const FunctionId add = module.calling("add", {kInt, kInt}, kInt);
  const FunctionId echo = module.calling("echo", {kFloat}, kFloat);
  Running run(module);
  CHECK(run.shown(add, {fromInteger(40), fromInteger(2)}, kInt) == "42");
  CHECK(run.shown(add, {fromInteger(-1), fromInteger(INT64_MIN)}, kInt) == "9223372036854775807");
  CHECK(run.shown(echo, {fromReal(-0.5)}, kFloat) == "-0.5");
}

TEST_CASE("every shape comes back as it went") {
  ForeignModule module;
  const LayoutId result = module.addLayout(
      enumLayout("Result<Pair, String>", {variantOf("Ok", {kPair}), variantOf("Err", {kString})}));
  struct Row {
    LayoutId layout;
    FunctionId id;
  };
  std::vector<Row> rows;
  for (LayoutId layout : {kBool, kChar, kUnit, kString, kVecInt, kBytes, kVecString, kPair, kOption,
                          kMapStringInt, kTuple, kVecPair, kMapIntString, result})
    rows.push_back({layout, module.calling("echo", {layout}, layout)});
  Running run(module);
  Heap& heap = run.vm().heap();
  const auto string = [&](llvm::StringRef text) {
    return fromObject(heap.newString(text, kString));
  };
  const auto pair = [&] {
    StructObject* object = heap.newStruct(kPair);
    object->slots()[0] = fromInteger(3);
    object->slots()[1] = string("dr\xc3\xa9i");
    return fromObject(object);
  };
  const auto value = [&](LayoutId layout) -> Value {
    const Layout& shape = run.vm().layout(layout);
    if (layout == kChar)
      return 0x1f600;
    if (layout == kString)
      return string("h\xc3\xa9llo");
    if (layout == kPair)
      return pair();
    if (shape.kind == LayoutKind::Vec) {
      VecObject* vec = heap.newVec(layout, 0);
      for (int i = 0; i < 3; ++i)
        heap.push(vec, layout == kVecString ? string("x")
                       : layout == kVecPair ? pair()
                                            : Value(uint64_t(i)));
      return fromObject(vec);
    }
    if (layout == kOption || layout == result) {
      StructObject* object = heap.newEnum(layout, layout == kOption ? 1 : 0);
      object->slots()[0] = layout == kOption ? string("some") : pair();
      return fromObject(object);
    }
    if (layout == kTuple) {
      StructObject* object = heap.newStruct(layout);
      object->slots()[0] = fromInteger(-7);
      object->slots()[1] = string("");
      return fromObject(object);
    }
    if (shape.kind == LayoutKind::Map) {
      MapObject* map = heap.newMap(layout);
      bool was = false;
      Trap trap = layout == kMapStringInt
                      ? mapInsert(run.vm(), map, string("k"), fromInteger(1), was)
                      : mapInsert(run.vm(), map, fromInteger(1), string("v"), was);
      REQUIRE(!trap);
      return fromObject(map);
    }
    return layout == kBool ? 1 : 0;
  };
  for (const Row& row : rows) {
    CAPTURE(run.vm().layout(row.layout).name);
    const Value given = value(row.layout);
    TextBuffer text(1 << 16);
    REQUIRE(!formatDebug(run.vm(), given, row.layout, text));
    CHECK(run.shown(row.id, {given}, row.layout) == text.text().str());
  }
  CHECK(run.vm().heap().used() == 0);
}

TEST_CASE("arguments that fill no small buffer cross") {
  ForeignModule module;
  const FunctionId echo = module.calling("echo", {kString}, kString);
  Running run(module);
  for (size_t size : {size_t(247), size_t(248), size_t(249), size_t(1) << 20}) {
    Value result = 0;
    REQUIRE(!run.call(
        echo, {fromObject(run.vm().heap().newString(std::string(size, 'a'), kString))}, result));
    CHECK(asString(result)->length == size);
    run.vm().releaseValue(result, kString);
  }
  CHECK(run.vm().heap().used() == 0);
}

TEST_CASE("an answer that ends too early is a trap") {
  CHECK(answered(kInt, "1234567") == kBroken + "it ends too early");
  CHECK(answered(kInt, "") == kBroken + "it ends too early");
  CHECK(answered(kString, "12") == kBroken + "it ends too early");
  CHECK(answered(kOption, "") == kBroken + "it ends too early");
  CHECK(answered(kPair, word(1)) == kBroken + "it ends too early");
  CHECK(answered(kPair, word(1) + word(2) + "a") == kBroken + "a count of 2 is more than it holds");
}

TEST_CASE("an answer that is too long is a trap") {
  CHECK(answered(kUnit, "x") == kBroken + "1 bytes are left over");
  CHECK(answered(kInt, word(1) + "12") == kBroken + "2 bytes are left over");
  CHECK(answered(kString, word(1) + "abc") == kBroken + "2 bytes are left over");
}

TEST_CASE("a huge count takes no memory") {
  for (LayoutId layout :
       {kString, kBytes, kVecInt, kVecString, kVecPair, kMapStringInt, kMapIntString})
    for (uint64_t count : {uint64_t(1) << 62, ~uint64_t(0), uint64_t(1) << 40})
      CHECK(answered(layout, word(count) + "some bytes that follow") ==
            kBroken + "a count of " + std::to_string(count) + " is more than it holds");
  ForeignModule module;
  const LayoutId units = module.addLayout(containerLayout(LayoutKind::Vec, kUnit, "Vec<()>"));
  CHECK(answered(module, units, word(uint64_t(1) << 50)) ==
        kBroken + "a count of 1125899906842624 is more than it holds");
}

TEST_CASE("a count that fits stays within the heap") {
  ForeignModule module;
  const LayoutId units = module.addLayout(containerLayout(LayoutKind::Vec, kUnit, "Vec<()>"));
  const FunctionId id = module.calling("script", {kBytes}, units);
  const auto library = openFake();
  VmOptions options = Machine::programOptions();
  options.foreign = library.get();
  options.heapBytes = 4096;
  Machine machine(module, std::move(options));
  VecObject* vec = machine.vm().heap().newVec(kBytes, 9);
  for (char c : '\0' + word(1 << 19))
    machine.vm().heap().push(vec, uint8_t(c));
  Value result = 0;
  Trap trap = machine.vm().call(id, {fromObject(vec)}, result);
  REQUIRE(bool(trap));
  CHECK(trap->kind == TrapKind::Budget);
  CHECK(trap->counter == "heap");
}

TEST_CASE("text that is not UTF-8 is a trap") {
  for (const char* text : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"})
    CHECK(answered(kString, word(llvm::StringRef(text).size()) + text) ==
          kBroken + "a text is not UTF-8");
}

TEST_CASE("values that their type does not have are traps") {
  CHECK(answered(kBool, "\2") == kBroken + "a `bool` is 2");
  CHECK(answered(kChar, word(0xd800).substr(0, 4)) == kBroken + "a `char` is no scalar value");
  CHECK(answered(kChar, word(0x110000).substr(0, 4)) == kBroken + "a `char` is no scalar value");
  CHECK(answered(kOption, "\7") == kBroken + "the variant of `Option<String>` is 7");
  ForeignModule module;
  Layout bools = containerLayout(LayoutKind::Vec, kBool, "Vec<bool>");
  bools.byteStorage = true;
  CHECK(answered(module, module.addLayout(bools), word(2) + "\1\2") == kBroken + "a `bool` is 2");
  CHECK(answered(kMapStringInt, word(2) + word(1) + "a" + word(1) + word(1) + "a" + word(2)) ==
        kBroken + "a key stands twice in a map");
}

TEST_CASE("what was made of a broken answer is let go of") {
  ForeignModule module;
  const FunctionId id = module.calling("script", {kBytes}, kVecPair);
  Running run(module);
  const std::string answer =
      '\0' + word(3) + word(1) + word(1) + "a" + word(2) + word(1) + "\xff" + word(3) + word(0);
  CHECK(run.shown(id, {run.bytes(answer)}, kVecPair) == kBroken + "a text is not UTF-8");
  CHECK(run.vm().heap().used() == 0);
}

TEST_CASE("every cut and every changed byte of an answer is a value or a trap") {
  ForeignModule module;
  const LayoutId deep =
      module.addLayout(containerLayout(LayoutKind::Vec, kMapIntString, "Vec<Map<i64, String>>"));
  const FunctionId id = module.calling("script", {kBytes}, deep);
  Running run(module);
  const std::string whole = '\0' + word(2) + word(1) + word(5) + word(3) + "abc" + word(0);
  CHECK(run.shown(id, {run.bytes(whole)}, deep) == "#[{5: \"abc\"}, {}]");
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    CHECK(llvm::StringRef(run.shown(id, {run.bytes(whole.substr(0, cut))}, deep))
              .starts_with(kBroken));
  }
  for (size_t at = 1; at < whole.size(); ++at)
    for (int change : {1, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = char(bytes[at] ^ change);
      (void)run.shown(id, {run.bytes(bytes)}, deep);
    }
  CHECK(run.vm().heap().used() == 0);
}

TEST_CASE("a panic of the library is a panic of the program") {
  CHECK(answered(kInt, "index out of range", 1) ==
        "panic: index out of range (in the Rust function `fake::script`)");
  CHECK(answered(kInt, "bad \xff byte", 1) ==
        "panic: bad \xef\xbf\xbd byte (in the Rust function `fake::script`)");
  CHECK(answered(kInt, "", 1) == "panic:  (in the Rust function `fake::script`)");
  CHECK(answered(kInt, std::string(100'000, 'x'), 1).size() < 70'000);
}

TEST_CASE("statuses that say the two sides do not fit are traps") {
  CHECK(answered(kInt, "", 2) ==
        "incompatible: the Rust function `fake::script` does not take these arguments: the "
        "library and the program do not belong together");
  CHECK(answered(kInt, "", 9) ==
        "incompatible: the Rust function `fake::script` answers with the unknown status 9");
}

TEST_CASE("an answer without bytes is a trap") {
  ForeignModule module;
  const FunctionId id = module.calling("null", {}, kInt);
  Running run(module);
  CHECK(run.shown(id, {}, kInt) == "incompatible: the answer of the Rust function `fake::null` is "
                                   "broken: it has a length and no bytes");
}

TEST_CASE("the last holder of a handle lets go of it, once") {
  ForeignModule module;
  const FunctionId make = module.calling("counter", {}, module.handle);
  const FunctionId use = module.calling("handle", {module.handle}, kInt);
  const FunctionId count = module.calling("released", {}, kInt);
  Running run(module);
  const auto released = [&] {
    Value number = 0;
    REQUIRE(!run.call(count, {}, number));
    return number;
  };
  const Value before = released();
  Value counter = 0;
  REQUIRE(!run.call(make, {}, counter));
  CHECK(run.library->liveHandles() == 1);
  Value number = 0;
  REQUIRE(!run.call(use, {retained(counter)}, number));
  CHECK(number == asHandle(counter)->handle);
  CHECK(released() == before);
  run.vm().heap().release(asObject(retained(counter)));
  CHECK(released() == before);
  run.vm().heap().release(asObject(counter));
  CHECK(released() == before + 1);
  CHECK(run.library->liveHandles() == 0);
  CHECK(run.vm().heap().used() == 0);
}

TEST_CASE("handles that a program still holds go with the machine") {
  ForeignModule module;
  const FunctionId make = module.calling("counter", {}, module.handle);
  Running run(module);
  Value held = 0;
  for (int i = 0; i < 5; ++i)
    REQUIRE(!run.call(make, {}, held));
  CHECK(run.library->liveHandles() == 5);
  run.vm().heap().release(asObject(held));
  CHECK(run.library->liveHandles() == 4);
  run.machine.reset();
  CHECK(run.library->liveHandles() == 0);
}

TEST_CASE("a handle has a text, is itself and nothing else, and is a key") {
  ForeignModule module;
  const FunctionId make = module.calling("counter", {}, module.handle);
  Running run(module);
  Value one = 0, two = 0;
  REQUIRE(!run.call(make, {}, one));
  REQUIRE(!run.call(make, {}, two));
  TextBuffer text(100);
  REQUIRE(!formatDisplay(run.vm(), one, module.handle, text));
  CHECK(text.text() == "Counter(..)");
  bool equal = false;
  REQUIRE(!valuesEqual(run.vm(), one, one, module.handle, FloatEquality::Total, equal));
  CHECK(equal);
  REQUIRE(!valuesEqual(run.vm(), one, two, module.handle, FloatEquality::Total, equal));
  CHECK(!equal);
  int order = 0;
  REQUIRE(!compareValues(run.vm(), one, two, module.handle, order));
  CHECK(order != 0);
  uint32_t hashOfOne = 0, hashOfTwo = 0;
  REQUIRE(!hashValue(run.vm(), one, module.handle, hashOfOne));
  REQUIRE(!hashValue(run.vm(), two, module.handle, hashOfTwo));
  CHECK(hashOfOne != hashOfTwo);
  run.vm().heap().release(asObject(one));
  run.vm().heap().release(asObject(two));
}

TEST_CASE("handles that a library cannot mean are traps") {
  ForeignModule module;
  const FunctionId id = module.calling("script", {kBytes}, module.handle);
  Running run(module);
  CHECK(run.shown(id, {run.bytes('\0' + word(0))}, module.handle) ==
        kBroken + "a handle of `Counter` is 0");
  CHECK(run.shown(id, {run.bytes('\0' + word(~uint64_t(0)))}, module.handle) ==
        kBroken + "a handle of `Counter` is 18446744073709551615");
  Value held = 0;
  REQUIRE(!run.call(id, {run.bytes('\0' + word(77))}, held));
  CHECK(run.shown(id, {run.bytes('\0' + word(77))}, module.handle) ==
        kBroken + "a handle of `Counter` was given before");
  CHECK(run.library->liveHandles() == 1);
  run.vm().heap().release(asObject(held));
  CHECK(run.library->liveHandles() == 0);
  CHECK(run.shown(id, {run.bytes('\0' + word(77))}, module.handle) == "Counter(..)");
}

TEST_CASE("a fold reaches a library at full alone, and loads it no sooner") {
  for (ComptimeIo level : {ComptimeIo::None, ComptimeIo::Confined, ComptimeIo::Full}) {
    ForeignModule module;
    const FunctionId id = module.calling("counter", {}, module.handle);
    ComptimePolicy policy;
    policy.commandLine = level;
    policy.packages.emplace_back();
    policy.packages[0].level = ComptimeIo::Full;
    const UniqueFd image = gos::test::fakeLibrary();
    const auto library = ForeignLibrary::create(image.get());
    VmOptions options;
    options.policy = &policy;
    options.regionPackage = 1;
    options.foreign = library.get();
    Machine machine(module, std::move(options));
    CHECK(!library->isLoaded());
    Value result = 0;
    Trap trap = machine.vm().call(id, {}, result);
    if (level == ComptimeIo::Full) {
      REQUIRE(!trap);
      CHECK(library->isLoaded());
      machine.vm().heap().release(asObject(result));
      continue;
    }
    REQUIRE(bool(trap));
    CHECK(trap->kind == TrapKind::Denied);
    CHECK(trap->denial.capability == Capability::Foreign);
    CHECK(trap->denial.builtin == "rust:fake::counter");
    CHECK(!library->isLoaded());
  }
}

TEST_CASE("a fold at full without a library is refused by name") {
  ForeignModule module;
  const FunctionId id = module.calling("counter", {}, module.handle);
  ComptimePolicy policy;
  policy.commandLine = ComptimeIo::Full;
  policy.packages.emplace_back();
  policy.packages[0].level = ComptimeIo::Full;
  VmOptions options;
  options.policy = &policy;
  options.regionPackage = 1;
  Machine machine(module, std::move(options));
  Value result = 0;
  Trap trap = machine.vm().call(id, {}, result);
  REQUIRE(bool(trap));
  CHECK(trap->kind == TrapKind::Refused);
  CHECK(trap->message ==
        "`rust:fake::counter` needs the library of Rust bindings, and there is none");
}

TEST_CASE("a program is refused by name where the library does not fit it") {
  const auto refusal = [](ForeignLinker* library) {
    ForeignModule module;
    module.calling("add", {kInt, kInt}, kInt, "fn(i64, i64) -> i64");
    VmOptions options = Machine::programOptions();
    options.foreign = library;
    const NativeTable table = emptyTable();
    auto vm = Vm::create(module.module, table, std::move(options));
    return vm ? std::string("it loads") : llvm::toString(vm.takeError());
  };
  CHECK(refusal(nullptr) ==
        "`rust:fake::add` needs the library of Rust bindings, and there is none");
  CHECK(refusal(openFake().get()) == "it loads");
  const std::string signature = "fn(i64, i64) -> i64";
  CHECK(refusal(openFake({ForeignOffer{"fake_add", signature}}).get()) == "it loads");
  CHECK(refusal(openFake({ForeignOffer{"fake_other", signature}}).get()) ==
        "the library of Rust bindings has no function `fake::add`");
  CHECK(refusal(openFake({ForeignOffer{"fake_add", "fn(f64) -> i64"}}).get()) ==
        "the Rust function `fake::add` is `fn(f64) -> i64` in the library, and used as `fn(i64, "
        "i64) -> i64`");
}

TEST_CASE("a symbol of another library is not an entry point") {
  const auto library = openFake();
  for (const char* symbol : {"system", "malloc", "fake_missing"}) {
    NativeImport import;
    import.name = "rust:fake::trick";
    import.symbol = symbol;
    auto entry = library->find(import);
    REQUIRE(!entry);
    CHECK(llvm::toString(entry.takeError()) ==
          "the library of Rust bindings does not export `fake::trick`");
  }
}

TEST_CASE("T122 bytes that are no library are refused") {
  const auto refusal = [](const std::string& bytes) {
    const UniqueFd image = gos::test::memoryFile(bytes);
    auto library = ForeignLibrary::open(image.get());
    return library ? std::string() : llvm::toString(library.takeError());
  };
  const std::string whole = gos::test::fakeLibraryBytes();
  REQUIRE(whole.size() > 4096);
  for (const std::string& bytes : {std::string(), std::string("text"),
                                   std::string("\x7f"
                                               "ELF"),
                                   whole.substr(0, 600), whole.substr(0, whole.size() / 4)}) {
    const std::string why = refusal(bytes);
    CHECK(llvm::StringRef(why).starts_with("the library of Rust bindings cannot be loaded: "));
  }
  std::string other = whole;
  for (size_t at; (at = other.find("gossamer_binding_abi_1")) != std::string::npos;)
    other[at + 21] = '9';
  CHECK(refusal(other) ==
        "the library of Rust bindings was made for another version of `gossamer-binding`: "
        "`gossamer_binding_abi_1` is not in it");
  CHECK(refusal(whole).empty());
  CHECK(!ForeignLibrary::create(-1)->isLoaded());
}

TEST_CASE("two libraries are told apart") {
  const auto one = openFake();
  const auto two = openFake();
  NativeImport import;
  import.name = "rust:fake::add";
  import.symbol = "fake_add";
  auto first = one->find(import);
  auto second = two->find(import);
  REQUIRE((first && second));
  CHECK(*first != *second);
}

TEST_CASE("a module with foreign functions reads back as it was written") {
  ForeignModule module;
  module.calling("add", {kInt, kInt}, kInt, "fn(i64, i64) -> i64");
  module.addNative("fs::read", {kString}, kString);
  module.calling("counter", {}, module.handle, "fn() -> Counter");
  const std::string bytes = serialise(module.module);
  auto back = deserialise(bytes);
  REQUIRE(bool(back));
  CHECK(serialise(*back) == bytes);
  CHECK(back->natives[0].symbol == "fake_add");
  CHECK(back->natives[0].signature == "fn(i64, i64) -> i64");
  CHECK(!back->natives[1].isForeign());
  CHECK(back->natives[2].symbol == "fake_counter");
  CHECK(back->layouts[index(module.handle)].kind == LayoutKind::Handle);
  const std::string shown = disassemble(*back);
  CHECK(llvm::StringRef(shown).contains(
      "native 0 rust:fake::add(i64, i64) -> i64  ; symbol fake_add, fn(i64, i64) -> i64"));
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    auto part = deserialise(llvm::StringRef(bytes).take_front(cut));
    CHECK(!part);
    llvm::consumeError(part.takeError());
  }
}

TEST_CASE("the verifier refuses foreign functions at layouts that cannot cross") {
  const auto refusal = [](auto change) {
    ForeignModule module;
    module.calling("add", {kInt}, kInt);
    change(module);
    const NativeTable table = emptyTable();
    llvm::Error error = verify(module.module, table);
    return error ? llvm::toString(std::move(error)) : std::string();
  };
  const auto atResult = [&](auto makeLayout) {
    return refusal(
        [&](ForeignModule& module) { module.module.natives[0].result = makeLayout(module); });
  };
  const std::string result = "foreign function `rust:fake::add`: a result of type ";
  CHECK(refusal([](ForeignModule&) {}).empty());
  CHECK(refusal([](ForeignModule& m) { m.module.natives[0].inOut[0] = true; }) ==
        "foreign function `rust:fake::add`: a parameter is in-out");
  CHECK(refusal([](ForeignModule& m) { m.module.natives[0].parameters[0] = kFnIntInt; }) ==
        "foreign function `rust:fake::add`: a parameter of type `Fn(i64) -> i64` cannot cross");
  CHECK(atResult([](ForeignModule&) { return kSetInt; }) == result + "`Set<i64>` cannot cross");
  CHECK(atResult([](ForeignModule&) { return kCellInt; }) == result + "`cell i64` cannot cross");
  CHECK(atResult([](ForeignModule&) { return kByte; }) == result + "`u8` cannot cross");
  CHECK(atResult([](ForeignModule&) { return kColour; }) == result + "`Colour` cannot cross");
  CHECK(atResult([](ForeignModule&) { return kList; }) == result + "`List` cannot cross");
  CHECK(atResult([](ForeignModule& m) {
          return m.addLayout(containerLayout(LayoutKind::Vec, kCellInt, "Vec<cell>"));
        }) == result + "`Vec<cell>` cannot cross");
  // A type that contains itself has no end on the wire.
  CHECK(atResult([](ForeignModule& m) {
          const LayoutId self{uint32_t(m.module.layouts.size())};
          return m.addLayout(containerLayout(LayoutKind::Vec, self, "Vec<Vec<..>>"));
        }) == result + "`Vec<Vec<..>>` cannot cross");
  CHECK(atResult([](ForeignModule& m) {
          LayoutId inner = kInt;
          for (unsigned i = 0; i <= kForeignDepth; ++i)
            inner = m.addLayout(containerLayout(LayoutKind::Vec, inner, "deep"));
          return inner;
        }) == result + "`deep` cannot cross");
  // Wide and deep at once costs no time; that the code does not fit it is another matter.
  CHECK_FALSE(llvm::StringRef(atResult([](ForeignModule& m) {
                LayoutId inner = kInt;
                for (unsigned i = 0; i < kForeignDepth - 2; ++i)
                  inner = m.addLayout(structLayout("Twice", {inner, inner}));
                return inner;
              })).contains("cannot cross"));
  const auto atLibraryName = [] {
    ForeignModule module;
    module.calling("add", {kInt}, kInt);
    module.module.natives[0].name = "fs::read_to_string";
    llvm::Error error = verify(module.module, stdlib::nativeTable());
    return error ? llvm::toString(std::move(error)) : std::string();
  };
  CHECK(atLibraryName() == "native `fs::read_to_string` is of the library, and not foreign");
}

TEST_CASE("calls are charged") {
  ForeignModule module;
  const FunctionId echo = module.calling("echo", {kString}, kString);
  const auto library = openFake();
  VmOptions options = Machine::programOptions();
  options.foreign = library.get();
  options.steps = 10'000;
  Machine machine(module, std::move(options));
  Value result = 0;
  Trap trap = machine.vm().call(
      echo, {fromObject(machine.vm().heap().newString(std::string(1 << 20, 'x'), kString))},
      result);
  REQUIRE(bool(trap));
  CHECK(trap->kind == TrapKind::Budget);
  CHECK(trap->counter == "steps");
}
