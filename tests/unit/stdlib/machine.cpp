#include "tests/unit/stdlib/machine.h"

#include "vm/heap.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::stdlib::test {

using llvm::StringRef;
using vm::Instruction;
using vm::Layout;
using vm::LayoutId;
using vm::LayoutKind;
using vm::Opcode;
using vm::Value;

namespace {

vm::VariantLayout variant(std::string name, std::vector<LayoutId> fields,
                          std::vector<std::string> names = {}) {
  vm::VariantLayout out;
  out.name = std::move(name);
  out.shape = fields.empty()  ? vm::VariantShape::Unit
              : names.empty() ? vm::VariantShape::Tuple
                              : vm::VariantShape::Named;
  out.fields = std::move(fields);
  out.fieldNames = std::move(names);
  return out;
}

Layout scalar(StringRef name, vm::ScalarKind kind, vm::IntWidth width = vm::IntWidth::I64) {
  Layout layout;
  layout.kind = kind == vm::ScalarKind::F64 || kind == vm::ScalarKind::F32 ? LayoutKind::Float
                                                                           : LayoutKind::Int;
  layout.scalar = kind;
  layout.width = width;
  layout.name = name.str();
  return layout;
}

} // namespace

LayoutId Machine::add(Layout layout) {
  module_.layouts.push_back(std::move(layout));
  return LayoutId(uint32_t(module_.layouts.size() - 1));
}

LayoutId Machine::type(StringRef text) {
  StringRef rest = text;
  const LayoutId id = parse(rest);
  REQUIRE_MESSAGE(rest.empty(), text.str());
  return id;
}

std::vector<LayoutId> Machine::list(StringRef& rest, char close) {
  std::vector<LayoutId> out;
  while (!rest.consume_front(StringRef(&close, 1))) {
    out.push_back(parse(rest));
    rest.consume_front(", ");
  }
  return out;
}

LayoutId Machine::parse(StringRef& rest) {
  const StringRef whole = rest;
  auto done = [&](auto make) {
    const std::string text = whole.take_front(whole.size() - rest.size()).str();
    if (auto found = known_.find(text); found != known_.end())
      return found->second;
    const LayoutId id = make(text);
    known_[text] = id;
    return id;
  };
  if (rest.consume_front("()"))
    return done(
        [&](auto& text) { return add(scalar(text, vm::ScalarKind::Unit, vm::IntWidth::U8)); });
  if (rest.consume_front("(")) {
    const std::vector<LayoutId> fields = list(rest, ')');
    return done([&](auto& text) {
      Layout layout;
      layout.kind = LayoutKind::Struct;
      layout.name = text;
      layout.variants.push_back(variant("", fields));
      return add(layout);
    });
  }
  if (rest.consume_front("[")) {
    const std::vector<LayoutId> element = list(rest, ']');
    return done([&](auto& text) {
      Layout layout;
      layout.kind = LayoutKind::Vec;
      layout.sequence = vm::SequenceKind::Array;
      layout.element = element[0];
      layout.name = text;
      layout.byteStorage = module_.layouts[vm::index(element[0])].name == "u8";
      return add(layout);
    });
  }
  const StringRef name =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == ':'; });
  rest = rest.drop_front(name.size());
  std::vector<LayoutId> args;
  if (rest.consume_front("<"))
    args = list(rest, '>');
  auto structure = [&](StringRef own, std::vector<std::pair<std::string, std::string>> fields) {
    vm::VariantLayout only;
    only.name = own.str();
    only.shape = vm::VariantShape::Named;
    for (auto& [field, fieldType] : fields) {
      only.fieldNames.push_back(field);
      only.fields.push_back(type(fieldType));
    }
    Layout layout;
    layout.kind = LayoutKind::Struct;
    layout.name = own.str();
    layout.variants.push_back(only);
    return layout;
  };
  return done([&](auto& text) -> LayoutId {
    if (name == "i64")
      return add(scalar(name, vm::ScalarKind::Integer));
    if (name == "u8")
      return add(scalar(name, vm::ScalarKind::Integer, vm::IntWidth::U8));
    if (name == "u64")
      return add(scalar(name, vm::ScalarKind::Integer, vm::IntWidth::U64));
    if (name == "f32")
      return add(scalar(name, vm::ScalarKind::F32));
    if (name == "i8")
      return add(scalar(name, vm::ScalarKind::Integer, vm::IntWidth::I8));
    if (name == "bool")
      return add(scalar(name, vm::ScalarKind::Bool, vm::IntWidth::U8));
    if (name == "char")
      return add(scalar(name, vm::ScalarKind::Char, vm::IntWidth::U32));
    if (name == "f64")
      return add(scalar(name, vm::ScalarKind::F64));
    Layout layout;
    layout.name = text;
    if (name == "String") {
      layout.kind = LayoutKind::String;
    } else if (name == "Vec" || name == "Deque" || name == "Queue" || name == "Stack" ||
               name == "MaxHeap" || name == "MinHeap") {
      layout.kind = LayoutKind::Vec;
      layout.element = args[0];
      layout.sequence = name == "Deque"     ? vm::SequenceKind::Deque
                        : name == "Queue"   ? vm::SequenceKind::Queue
                        : name == "Stack"   ? vm::SequenceKind::Stack
                        : name == "MaxHeap" ? vm::SequenceKind::MaxHeap
                        : name == "MinHeap" ? vm::SequenceKind::MinHeap
                                            : vm::SequenceKind::Vec;
      const StringRef element = module_.layouts[vm::index(args[0])].name;
      layout.byteStorage = element == "u8" || element == "bool";
    } else if (name == "Map" || name == "BTreeMap") {
      layout.kind = LayoutKind::Map;
      layout.element = args[0];
      layout.value = args[1];
    } else if (name == "Set" || name == "BTreeSet") {
      layout.kind = LayoutKind::Set;
      layout.element = args[0];
    } else if (name == "Option") {
      layout.kind = LayoutKind::Enum;
      layout.variants = {variant("None", {}), variant("Some", {args[0]})};
    } else if (name == "Result") {
      layout.kind = LayoutKind::Enum;
      layout.variants = {variant("Ok", {args[0]}), variant("Err", {args[1]})};
    } else if (name == "io::Error" || name == "ParseError" || name == "errors::Error") {
      layout = structure(name, {{"message", "String"}});
    } else if (name == "File" || name == "Child" || name == "TcpStream" || name == "TcpListener") {
      layout = structure(name, {{"handle", "i64"}});
    } else if (name == "Output") {
      layout = structure(name, {{"stdout", "String"}, {"stderr", "String"}, {"code", "i64"}});
    } else if (name == "DirInfo") {
      layout = structure(name, {{"path", "String"},
                                {"name", "String"},
                                {"is_file", "bool"},
                                {"is_dir", "bool"},
                                {"is_symlink", "bool"},
                                {"size", "i64"}});
    } else if (name == "Metadata") {
      layout = structure(name, {{"size", "i64"},
                                {"is_file", "bool"},
                                {"is_dir", "bool"},
                                {"is_symlink", "bool"},
                                {"modified", "i64"},
                                {"mode", "i64"}});
    } else if (name == "Point") {
      layout = structure(name, {{"x", "i64"}, {"label", "Option<String>"}});
    } else if (name == "Value") {
      const LayoutId id = add(layout);
      known_["Value"] = id;
      Layout value;
      value.kind = LayoutKind::Enum;
      value.name = "Value";
      module_.layouts[vm::index(id)] = value;
      value.variants = {variant("Null", {}),
                        variant("Bool", {type("bool")}),
                        variant("Int", {type("i64")}),
                        variant("Float", {type("f64")}),
                        variant("String", {type("String")}),
                        variant("Array", {type("Vec<Value>")}),
                        variant("Object", {type("Map<String, Value>")})};
      module_.layouts[vm::index(id)] = value;
      return id;
    } else {
      FAIL("no such type: " << text);
    }
    return add(layout);
  });
}

size_t Machine::native(StringRef path, std::vector<std::string> parameters, StringRef result,
                       uint32_t package) {
  vm::NativeImport import;
  import.name = path.str();
  import.result = type(result);
  for (StringRef parameter : parameters) {
    import.inOut.push_back(parameter.consume_front("&mut "));
    import.parameters.push_back(type(parameter));
  }
  module_.natives.push_back(import);
  const auto number = uint32_t(module_.natives.size() - 1);
  Entry entry;
  entry.result = import.result;
  entry.inOut = !import.inOut.empty() && import.inOut[0];
  entry.first = import.parameters.empty() ? import.result : import.parameters[0];

  auto isReference = [&](LayoutId id) { return module_.layouts[vm::index(id)].isReference(); };
  auto makeFunction = [&](bool answersChanged) {
    vm::Function function;
    function.name = path.str() + (answersChanged ? " (argument)" : "");
    function.package = package;
    function.parameterCount = uint16_t(import.parameters.size());
    function.outgoingCount = uint16_t(import.parameters.size());
    function.registers = import.parameters;
    function.result = answersChanged ? entry.first : entry.result;
    const auto count = uint16_t(import.parameters.size());
    // Registers after the parameters: scalars, then references.
    std::vector<LayoutId> extra{entry.result};
    if (entry.inOut)
      extra.push_back(entry.first);
    std::stable_sort(extra.begin(), extra.end(),
                     [&](LayoutId a, LayoutId b) { return isReference(a) < isReference(b); });
    function.registers.insert(function.registers.end(), extra.begin(), extra.end());
    const uint16_t resultAt = uint16_t(count + (extra[0] == entry.result ? 0 : 1));
    const uint16_t changedAt = uint16_t(count + (extra[0] == entry.result ? 1 : 0));
    for (uint16_t i = 0; i < count; ++i)
      function.code.push_back(Instruction::abc(
          isReference(import.parameters[i]) ? Opcode::ArgTake : Opcode::ArgScalar, i, i));
    function.code.push_back(Instruction::abx(Opcode::CallNative, resultAt, number));
    for (uint16_t i = 0; i < count; ++i)
      if (import.inOut[i])
        function.code.push_back(Instruction::abc(Opcode::FetchArg, changedAt, i));
    const uint16_t answered = answersChanged ? changedAt : resultAt;
    function.code.push_back(Instruction::abc(
        isReference(function.result) ? Opcode::ReturnRef : Opcode::ReturnScalar, answered));
    module_.functions.push_back(function);
    return vm::FunctionId(uint32_t(module_.functions.size() - 1));
  };
  entry.function = makeFunction(false);
  entry.changed = entry.inOut ? makeFunction(true) : entry.function;
  entries_.push_back(entry);
  return entries_.size() - 1;
}

void Machine::start() {
  if (vm_ != nullptr)
    return;
  module_.packages = {"std", "main", "other"};
  llvm::Expected<std::unique_ptr<vm::Vm>> made =
      vm::Vm::create(module_, nativeTable(), std::move(options_));
  if (!made)
    FAIL(llvm::toString(made.takeError()));
  vm_ = std::move(*made);
}

Value Machine::text(StringRef text) {
  return vm::fromObject(vm().heap().newString(text, type("String")));
}

Value Machine::bytes(StringRef bytes) {
  vm::VecObject* vec = vm().heap().newVec(type("Vec<u8>"), bytes.size());
  for (char c : bytes)
    REQUIRE(vm().heap().push(vec, uint8_t(c)));
  return vm::fromObject(vec);
}

Value Machine::integers(std::vector<int64_t> items) {
  vm::VecObject* vec = vm().heap().newVec(type("Vec<i64>"), items.size());
  for (int64_t item : items)
    REQUIRE(vm().heap().push(vec, vm::fromInteger(item)));
  return vm::fromObject(vec);
}

Value Machine::texts(std::vector<std::string> items) {
  vm::VecObject* vec = vm().heap().newVec(type("Vec<String>"), items.size());
  for (const std::string& item : items)
    REQUIRE(vm().heap().push(vec, text(item)));
  return vm::fromObject(vec);
}

std::string Machine::show(Value value, LayoutId layout) {
  vm::TextBuffer out(uint64_t(1) << 30);
  if (vm::Trap trap = vm::formatDebug(*vm_, value, layout, out))
    return "trap: " + trap->message;
  return out.text().str();
}

Outcome Machine::call(size_t native, std::vector<Value> arguments) {
  start();
  const Entry& entry = entries_[native];
  std::vector<Value> again;
  for (size_t i = 0; entry.inOut && i < arguments.size(); ++i)
    again.push_back(vm_->retainValue(arguments[i], module_.natives[native].parameters[i]));
  Outcome outcome;
  Value result = 0;
  if (vm::Trap trap = vm_->call(entry.function, arguments, result)) {
    outcome.trap = trap->kind;
    outcome.message = trap->message;
    outcome.detail = trap->denial.detail;
  } else {
    outcome.text = show(result, entry.result);
    outcome.value = result;
    vm_->releaseValue(result, entry.result);
  }
  if (!entry.inOut)
    return outcome;
  Value changed = 0;
  if (vm::Trap trap = vm_->call(entry.changed, again, changed)) {
    outcome.changed = "trap";
  } else {
    outcome.changed = show(changed, entry.first);
    vm_->releaseValue(changed, entry.first);
  }
  return outcome;
}

Outcome once(StringRef path, std::vector<std::string> parameters, StringRef result,
             std::vector<Word> arguments) {
  Machine machine;
  const size_t id = machine.native(path, std::move(parameters), result);
  std::vector<Value> values;
  for (const Word& word : arguments)
    values.push_back(word.isText ? machine.text(word.text) : vm::fromInteger(word.number));
  return machine.call(id, std::move(values));
}

} // namespace gos::stdlib::test
