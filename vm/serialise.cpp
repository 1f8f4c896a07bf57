// The byte form of a module: a magic word, a version, then the fields in the order of module.h,
// little endian. Every length is checked against the bytes that are left before anything is
// allocated for it.

#include "vm/module.h"

#include "llvm/ADT/Twine.h"

#include <cstring>

namespace gos::vm {

namespace {

constexpr llvm::StringLiteral kMagic = "GOSM";
constexpr uint32_t kVersion = 3;

class ByteWriter {
public:
  void u8(uint8_t value) { out.push_back(char(value)); }
  void u32(uint32_t value) { number(value, 4); }
  void u64(uint64_t value) { number(value, 8); }
  void text(llvm::StringRef value) {
    u32(uint32_t(value.size()));
    out.append(value.data(), value.size());
  }
  void span(Span value) {
    u32(value.begin);
    u32(value.end);
  }
  template <typename Range, typename Each> void list(const Range& items, Each each) {
    u32(uint32_t(items.size()));
    for (const auto& item : items)
      each(item);
  }
  void layouts(const std::vector<LayoutId>& ids) {
    list(ids, [&](LayoutId id) { u32(index(id)); });
  }

  std::string out;

private:
  void number(uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      out.push_back(char(value >> (8 * i)));
  }
};

class ByteReader {
public:
  explicit ByteReader(llvm::StringRef bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool atEnd() const { return left_.empty(); }

  uint8_t u8() { return uint8_t(number(1)); }
  uint16_t u16() { return uint16_t(number(2)); }
  uint32_t u32() { return uint32_t(number(4)); }
  uint64_t u64() { return number(8); }
  bool boolean() {
    const uint8_t value = u8();
    failed_ = failed_ || value > 1;
    return value == 1;
  }
  template <typename Enum> Enum word(Enum last) {
    const uint8_t value = u8();
    if (value > uint8_t(last)) {
      failed_ = true;
      return Enum{};
    }
    return Enum(value);
  }
  std::string text() {
    const uint32_t size = u32();
    if (size > left_.size()) {
      failed_ = true;
      return {};
    }
    std::string value = left_.take_front(size).str();
    left_ = left_.drop_front(size);
    return value;
  }
  Span span() {
    const uint32_t begin = u32();
    return {begin, u32()};
  }
  /// A list whose items take at least `least` bytes each.
  template <typename T, typename Each> std::vector<T> list(size_t least, Each each) {
    const uint32_t count = u32();
    if (count > left_.size() / least) {
      failed_ = true;
      return {};
    }
    std::vector<T> items;
    items.reserve(count);
    for (uint32_t i = 0; i < count && !failed_; ++i)
      items.push_back(each());
    return items;
  }
  std::vector<LayoutId> layouts() {
    return list<LayoutId>(4, [&] { return LayoutId(u32()); });
  }
  bool skipMagic() {
    if (!left_.consume_front(kMagic))
      failed_ = true;
    return !failed_;
  }

private:
  uint64_t number(unsigned bytes) {
    if (bytes > left_.size()) {
      failed_ = true;
      left_ = {};
      return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value |= uint64_t(uint8_t(left_[i])) << (8 * i);
    left_ = left_.drop_front(bytes);
    return value;
  }

  llvm::StringRef left_;
  bool failed_ = false;
};

void write(ByteWriter& out, const Layout& layout) {
  out.u8(uint8_t(layout.kind));
  out.u8(uint8_t(layout.scalar));
  out.u8(uint8_t(layout.width));
  out.u8(uint8_t(layout.sequence));
  out.u8(layout.byteStorage);
  out.text(layout.name);
  out.u32(index(layout.element));
  out.u32(index(layout.value));
  out.list(layout.variants, [&](const VariantLayout& variant) {
    out.text(variant.name);
    out.u8(uint8_t(variant.shape));
    out.layouts(variant.fields);
    out.list(variant.fieldNames, [&](const std::string& name) { out.text(name); });
    out.list(variant.codecs, [&](const FieldCodec& codec) {
      out.text(codec.member);
      out.u8(codec.isSkipped);
      out.u8(codec.isDefaulted);
    });
  });
  out.layouts(layout.parameters);
  out.u32(index(layout.result));
  for (FunctionId hook : {layout.display, layout.debug, layout.equals, layout.compare})
    out.u32(index(hook));
}

Layout readLayout(ByteReader& in) {
  Layout layout;
  layout.kind = in.word(LayoutKind::Handle);
  layout.scalar = in.word(ScalarKind::F32);
  layout.width = in.word(IntWidth::U64);
  layout.sequence = in.word(SequenceKind::MinHeap);
  layout.byteStorage = in.boolean();
  layout.name = in.text();
  layout.element = LayoutId(in.u32());
  layout.value = LayoutId(in.u32());
  layout.variants = in.list<VariantLayout>(17, [&] {
    VariantLayout variant;
    variant.name = in.text();
    variant.shape = in.word(VariantShape::Tuple);
    variant.fields = in.layouts();
    variant.fieldNames = in.list<std::string>(4, [&] { return in.text(); });
    variant.codecs = in.list<FieldCodec>(6, [&] {
      FieldCodec codec;
      codec.member = in.text();
      codec.isSkipped = in.boolean();
      codec.isDefaulted = in.boolean();
      return codec;
    });
    return variant;
  });
  layout.parameters = in.layouts();
  layout.result = LayoutId(in.u32());
  for (FunctionId* hook : {&layout.display, &layout.debug, &layout.equals, &layout.compare})
    *hook = FunctionId(in.u32());
  return layout;
}

void write(ByteWriter& out, const Function& function) {
  out.text(function.name);
  out.u32(function.package);
  out.u8(function.transparent);
  out.layouts(function.registers);
  out.u32(function.parameterCount);
  out.u32(function.captureCount);
  out.u32(function.outgoingCount);
  out.u32(index(function.result));
  out.list(function.code, [&](Instruction instruction) { out.u64(instruction.word); });
  out.list(function.lines, [&](const LineEntry& line) {
    out.u32(line.pc);
    out.span(line.span);
  });
  out.list(function.spellings, [&](const CallSpelling& spelling) {
    out.u32(spelling.pc);
    out.text(spelling.text);
  });
  out.span(function.span);
}

Function readFunction(ByteReader& in) {
  Function function;
  function.name = in.text();
  function.package = in.u32();
  function.transparent = in.boolean();
  function.registers = in.layouts();
  // Counts beyond 16 bits become ones that the verifier refuses.
  const auto count = [&] { return uint16_t(std::min<uint32_t>(in.u32(), 0xffff)); };
  function.parameterCount = count();
  function.captureCount = count();
  function.outgoingCount = count();
  function.result = LayoutId(in.u32());
  function.code = in.list<Instruction>(8, [&] { return Instruction{in.u64()}; });
  function.lines = in.list<LineEntry>(12, [&] {
    const uint32_t pc = in.u32();
    return LineEntry{pc, in.span()};
  });
  function.spellings = in.list<CallSpelling>(8, [&] {
    const uint32_t pc = in.u32();
    return CallSpelling{pc, in.text()};
  });
  function.span = in.span();
  return function;
}

void write(ByteWriter& out, const FormatSpec& spec) {
  out.u32(spec.fill);
  out.u8(uint8_t(spec.align));
  out.u8(spec.zero);
  out.u32(uint32_t(spec.width));
  out.u32(uint32_t(spec.precision));
  out.u8(uint8_t(spec.kind));
}

FormatSpec readFormat(ByteReader& in) {
  FormatSpec spec;
  spec.fill = in.u32();
  spec.align = in.word(FormatSpec::Align::Right);
  spec.zero = in.boolean();
  spec.width = int32_t(in.u32());
  spec.precision = int32_t(in.u32());
  spec.kind = in.word(FormatSpec::Kind::Octal);
  return spec;
}

void write(ByteWriter& out, const NativeImport& import) {
  out.text(import.name);
  out.u32(uint32_t(import.parameters.size()));
  for (size_t i = 0; i < import.parameters.size(); ++i) {
    out.u32(index(import.parameters[i]));
    out.u8(i < import.inOut.size() && import.inOut[i]);
  }
  out.u32(index(import.result));
}

NativeImport readImport(ByteReader& in) {
  NativeImport import;
  import.name = in.text();
  for (const auto& [id, inOut] : in.list<std::pair<LayoutId, bool>>(5, [&] {
         const LayoutId id = LayoutId(in.u32());
         return std::pair(id, in.boolean());
       })) {
    import.parameters.push_back(id);
    import.inOut.push_back(inOut);
  }
  import.result = LayoutId(in.u32());
  return import;
}

} // namespace

std::string serialise(const Module& module) {
  ByteWriter out;
  out.out = kMagic.str();
  out.u32(kVersion);
  out.list(module.layouts, [&](const Layout& layout) { write(out, layout); });
  out.list(module.constants, [&](uint64_t constant) { out.u64(constant); });
  out.list(module.strings, [&](const std::string& text) { out.text(text); });
  out.list(module.formats, [&](const FormatSpec& spec) { write(out, spec); });
  out.list(module.functions, [&](const Function& function) { write(out, function); });
  out.list(module.globals, [&](const Global& global) {
    out.text(global.name);
    out.u32(index(global.layout));
    out.u32(index(global.initialiser));
  });
  out.list(module.natives, [&](const NativeImport& import) { write(out, import); });
  out.list(module.packages, [&](const std::string& name) { out.text(name); });
  out.u32(index(module.initialiser));
  out.u32(index(module.entry));
  out.list(module.regions, [&](FunctionId id) { out.u32(index(id)); });
  std::vector<uint32_t> foreign;
  for (size_t i = 0; i < module.natives.size(); ++i)
    if (module.natives[i].isForeign())
      foreign.push_back(uint32_t(i));
  out.list(foreign, [&](uint32_t at) {
    out.u32(at);
    out.text(module.natives[at].symbol);
    out.text(module.natives[at].signature);
  });
  return std::move(out.out);
}

llvm::Expected<Module> deserialise(llvm::StringRef bytes) {
  ByteReader in(bytes);
  Module module;
  if (in.skipMagic() && in.u32() == kVersion) {
    module.layouts = in.list<Layout>(48, [&] { return readLayout(in); });
    module.constants = in.list<uint64_t>(8, [&] { return in.u64(); });
    module.strings = in.list<std::string>(4, [&] { return in.text(); });
    module.formats = in.list<FormatSpec>(15, [&] { return readFormat(in); });
    module.functions = in.list<Function>(53, [&] { return readFunction(in); });
    module.globals = in.list<Global>(12, [&] {
      Global global;
      global.name = in.text();
      global.layout = LayoutId(in.u32());
      global.initialiser = FunctionId(in.u32());
      return global;
    });
    module.natives = in.list<NativeImport>(12, [&] { return readImport(in); });
    module.packages = in.list<std::string>(4, [&] { return in.text(); });
    module.initialiser = FunctionId(in.u32());
    module.entry = FunctionId(in.u32());
    module.regions = in.list<FunctionId>(4, [&] { return FunctionId(in.u32()); });
    const uint32_t foreign = in.u32();
    for (uint32_t i = 0; i < foreign && !in.failed(); ++i) {
      const uint32_t at = in.u32();
      std::string symbol = in.text();
      std::string signature = in.text();
      if (at >= module.natives.size())
        break; // the rest is then no end of a module
      module.natives[at].symbol = std::move(symbol);
      module.natives[at].signature = std::move(signature);
    }
    if (!in.failed() && in.atEnd())
      return module;
  }
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 "bytes are no module");
}

} // namespace gos::vm
