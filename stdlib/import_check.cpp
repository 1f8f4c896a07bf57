// Fits the layouts of an import to a row's signature. The signature is read by a small reader of
// its own, since the language's parser stands above this layer; what it cannot read fits nothing.

#include "stdlib/import_check.h"

#include "stdlib/json_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <optional>
#include <vector>

namespace gos::stdlib {

namespace {

using vm::LayoutKind;
using vm::Module;
using vm::NativeImport;
using vm::ScalarKind;
using vm::SequenceKind;

constexpr unsigned kDeepest = 32;

/// A type of a signature.
struct TypeText {
  enum class Kind : uint8_t { Named, Tuple, Slice, Function, Never };
  Kind kind = Kind::Named;
  bool inOut = false; // `&mut T`
  std::string name;   // Named
  std::vector<TypeText>
      children; // arguments; elements; for a function the parameters, then the result
};

struct GenericText {
  std::string name;
  std::string bound;
};

struct SignatureText {
  std::vector<GenericText> generics;
  std::vector<TypeText> parameters;
  TypeText result;
};

class Reader {
public:
  explicit Reader(StringRef text) : rest_(text) {}

  std::optional<SignatureText> signature() {
    SignatureText out;
    if (!take("fn"))
      return std::nullopt;
    if (take("<")) {
      do {
        GenericText generic;
        generic.name = word();
        if (take(":"))
          generic.bound = word();
        out.generics.push_back(std::move(generic));
      } while (take(","));
      if (!take(">"))
        return std::nullopt;
    }
    if (!take("("))
      return std::nullopt;
    while (!take(")")) {
      if (word().empty() || !take(":"))
        return std::nullopt;
      std::optional<TypeText> type = this->type(0);
      if (!type)
        return std::nullopt;
      out.parameters.push_back(std::move(*type));
      if (take("=")) // a default is the checker's
        rest_ = rest_.drop_until([](char c) { return c == ',' || c == ')'; });
      if (!take(",") && !rest_.ltrim().starts_with(")"))
        return std::nullopt;
    }
    out.result.kind = TypeText::Kind::Tuple;
    if (take("->")) {
      std::optional<TypeText> type = this->type(0);
      if (!type)
        return std::nullopt;
      out.result = std::move(*type);
    }
    if (!rest_.trim().empty())
      return std::nullopt;
    return out;
  }

private:
  bool take(StringRef token) {
    StringRef trimmed = rest_.ltrim();
    if (!trimmed.consume_front(token))
      return false;
    rest_ = trimmed;
    return true;
  }
  std::string word() {
    rest_ = rest_.ltrim();
    const StringRef found = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest_ = rest_.drop_front(found.size());
    return found.str();
  }

  bool list(std::vector<TypeText>& out, StringRef close, unsigned depth) {
    while (!take(close)) {
      std::optional<TypeText> child = type(depth + 1);
      if (!child)
        return false;
      out.push_back(std::move(*child));
      if (!take(",") && !rest_.ltrim().starts_with(close))
        return false;
    }
    return true;
  }

  std::optional<TypeText> type(unsigned depth) {
    if (depth > kDeepest)
      return std::nullopt;
    TypeText out;
    if (take("&mut ")) {
      std::optional<TypeText> inner = type(depth + 1);
      if (inner)
        inner->inOut = true;
      return inner;
    }
    if (take("!")) {
      out.kind = TypeText::Kind::Never;
      return out;
    }
    if (take("(")) {
      out.kind = TypeText::Kind::Tuple;
      return list(out.children, ")", depth) ? std::optional(std::move(out)) : std::nullopt;
    }
    if (take("[")) {
      out.kind = TypeText::Kind::Slice;
      return list(out.children, "]", depth) && out.children.size() == 1
                 ? std::optional(std::move(out))
                 : std::nullopt;
    }
    out.name = word();
    while (take("::"))
      out.name += "::" + word();
    if (out.name.empty())
      return std::nullopt;
    if (out.name == "Fn") {
      out.kind = TypeText::Kind::Function;
      if (!take("(") || !list(out.children, ")", depth) || !take("->"))
        return std::nullopt;
      std::optional<TypeText> result = type(depth + 1);
      if (!result)
        return std::nullopt;
      out.children.push_back(std::move(*result));
      return out;
    }
    if (take("<") && !list(out.children, ">", depth))
      return std::nullopt;
    return out;
  }

  StringRef rest_;
};

/// The structs of the library that a native reads or makes, by the name that signatures use, as a
/// tuple of their fields. An error may have more fields than its message. `T` is the argument of a
/// type that has one.
struct StructShape {
  StringRef name;
  StringRef fields;
  bool mayHaveMore;
};
constexpr StructShape kStructs[] = {
    {"io::Error", "(String)", true},
    {"errors::Error", "(String)", true},
    {"ParseError", "(String)", true},
    {"File", "(i64)", false},
    {"Child", "(i64)", false},
    {"TcpListener", "(i64)", false},
    {"TcpStream", "(i64)", false},
    {"Notifier", "(i64)", false},
    {"os::signal::Notifier", "(i64)", false},
    {"User", "(String, i64, i64, String, String, String)", false},
    {"Group", "(String, i64, Vec<String>)", false},
    {"DirInfo", "(String, String, bool, bool, bool, i64)", false},
    {"Metadata", "(i64, bool, bool, bool, i64, i64)", false},
    {"Output", "(String, String, i64)", false},
    {"OutputBytes", "(Vec<u8>, Vec<u8>, i64)", false},
    {"Policy", "(Vec<String>, String, String)", false},
    {"JoinTask", "(i64, String, Vec<i64>, String)", false},
    {"JoinHandle", "(JoinTask, Vec<T>)", false},
    {"Sender", "(Channel<T>)", false},
    {"Receiver", "(Channel<T>)", false},
    {"Channel", "(Vec<T>, i64, i64, Vec<i64>, Vec<i64>)", false},
    {"sync::Sender", "(Channel<T>)", false},
    {"sync::Slot", "(T)", false},
    {"sync::WaitQueue", "(Vec<i64>)", false},
};

struct ScalarShape {
  StringRef name;
  ScalarKind scalar;
  vm::IntWidth width;
};
constexpr ScalarShape kScalars[] = {
    {"i8", ScalarKind::Integer, vm::IntWidth::I8},
    {"i16", ScalarKind::Integer, vm::IntWidth::I16},
    {"i32", ScalarKind::Integer, vm::IntWidth::I32},
    {"i64", ScalarKind::Integer, vm::IntWidth::I64},
    {"isize", ScalarKind::Integer, vm::IntWidth::I64},
    {"u8", ScalarKind::Integer, vm::IntWidth::U8},
    {"u16", ScalarKind::Integer, vm::IntWidth::U16},
    {"u32", ScalarKind::Integer, vm::IntWidth::U32},
    {"u64", ScalarKind::Integer, vm::IntWidth::U64},
    {"usize", ScalarKind::Integer, vm::IntWidth::U64},
};

class Fitter {
public:
  Fitter(const Module& module, const SignatureText& signature, StringRef path)
      : module_(module), signature_(signature), path_(path) {}

  bool fits(const TypeText& type, LayoutId id, unsigned depth) {
    if (depth > kDeepest || vm::index(id) >= module_.layouts.size())
      return false;
    const Layout& layout = module_.layouts[vm::index(id)];
    switch (type.kind) {
    case TypeText::Kind::Never:
      return !layout.isReference();
    case TypeText::Kind::Tuple:
      if (type.children.empty())
        return layout.kind == LayoutKind::Int;
      return fitsFields(type.children, layout, false, depth);
    case TypeText::Kind::Slice:
      return fitsSequence(type, layout, depth) &&
             (layout.sequence == SequenceKind::Vec || layout.sequence == SequenceKind::Array ||
              layout.sequence == SequenceKind::Slice);
    case TypeText::Kind::Function: {
      if (layout.kind != LayoutKind::Closure ||
          layout.parameters.size() + 1 != type.children.size())
        return false;
      for (size_t i = 0; i < layout.parameters.size(); ++i)
        if (!fits(type.children[i], layout.parameters[i], depth + 1))
          return false;
      return fits(type.children.back(), layout.result, depth + 1);
    }
    case TypeText::Kind::Named:
      return fitsNamed(type, id, layout, depth);
    }
    return false;
  }

private:
  bool fitsSequence(const TypeText& type, const Layout& layout, unsigned depth) {
    if (layout.kind != LayoutKind::Vec || type.children.size() != 1 ||
        !fits(type.children[0], layout.element, depth + 1))
      return false;
    // A body may take the storage of bytes for granted.
    return type.children[0].name != "u8" || layout.byteStorage;
  }

  bool fitsFields(ArrayRef<TypeText> fields, const Layout& layout, bool mayHaveMore,
                  unsigned depth) {
    if (layout.kind != LayoutKind::Struct || layout.variants.size() != 1)
      return false;
    const std::vector<LayoutId>& own = layout.variants[0].fields;
    if (own.size() < fields.size() || (own.size() > fields.size() && !mayHaveMore))
      return false;
    for (size_t i = 0; i < fields.size(); ++i)
      if (!fits(fields[i], own[i], depth + 1))
        return false;
    return true;
  }

  /// An enum of exactly these variants, each with one field or none.
  bool fitsEnum(const Layout& layout, ArrayRef<std::pair<StringRef, const TypeText*>> variants,
                unsigned depth) {
    if (layout.kind != LayoutKind::Enum || layout.variants.size() != variants.size())
      return false;
    for (const auto& [name, payload] : variants) {
      const StringRef wanted = name;
      const auto found = llvm::find_if(
          layout.variants, [&](const vm::VariantLayout& v) { return v.name == wanted; });
      if (found == layout.variants.end() || found->fields.size() != (payload == nullptr ? 0u : 1u))
        return false;
      if (payload != nullptr && !fits(*payload, found->fields[0], depth + 1))
        return false;
    }
    return true;
  }

  bool fitsGeneric(const GenericText& generic, LayoutId id, const Layout& layout) {
    const bool isText = layout.kind == LayoutKind::String;
    const bool isInteger = layout.kind == LayoutKind::Int && layout.scalar == ScalarKind::Integer;
    if (generic.bound == "Needle" &&
        !(isText || (layout.kind == LayoutKind::Int && layout.scalar == ScalarKind::Char)))
      return false;
    if (generic.bound == "Contents" &&
        !(isText || (layout.kind == LayoutKind::Vec && layout.byteStorage &&
                     layout.sequence == SequenceKind::Vec)))
      return false;
    if (generic.bound == "Number" && !(isInteger || layout.kind == LayoutKind::Float))
      return false;
    if (path_.starts_with("Int::") && !isInteger)
      return false;
    if (path_.starts_with("Float::") && layout.kind != LayoutKind::Float)
      return false;
    const auto [known, isNew] = bound_.emplace(generic.name, id);
    return isNew || same(known->second, id);
  }

  /// One layout, or two scalars or texts that cannot be told apart.
  bool same(LayoutId a, LayoutId b) const {
    if (a == b)
      return true;
    const Layout& left = module_.layouts[vm::index(a)];
    const Layout& right = module_.layouts[vm::index(b)];
    if (left.kind != right.kind)
      return false;
    if (left.kind == LayoutKind::String)
      return true;
    return !left.isReference() && left.scalar == right.scalar && left.width == right.width;
  }

  bool fitsNamed(const TypeText& type, LayoutId id, const Layout& layout, unsigned depth) {
    const StringRef name = type.name;
    for (const GenericText& generic : signature_.generics)
      if (name == generic.name)
        return fitsGeneric(generic, id, layout);
    for (const ScalarShape& scalar : kScalars)
      if (name == scalar.name)
        return layout.kind == LayoutKind::Int && layout.scalar == scalar.scalar &&
               layout.width == scalar.width;
    if (name == "bool" || name == "char")
      return layout.kind == LayoutKind::Int &&
             layout.scalar == (name == "bool" ? ScalarKind::Bool : ScalarKind::Char);
    if (name == "f64" || name == "f32")
      return layout.kind == LayoutKind::Float &&
             layout.scalar == (name == "f64" ? ScalarKind::F64 : ScalarKind::F32);
    if (name == "String")
      return layout.kind == LayoutKind::String;
    if (std::optional<SequenceKind> sequence = sequenceOf(name))
      return fitsSequence(type, layout, depth) && layout.sequence == *sequence;
    if (name == "Map" || name == "BTreeMap")
      return layout.kind == LayoutKind::Map && type.children.size() == 2 &&
             fits(type.children[0], layout.element, depth + 1) &&
             fits(type.children[1], layout.value, depth + 1);
    if (name == "Set" || name == "BTreeSet")
      return layout.kind == LayoutKind::Set && type.children.size() == 1 &&
             fits(type.children[0], layout.element, depth + 1);
    if (name == "Option" && type.children.size() == 1)
      return fitsEnum(layout, {{"None", nullptr}, {"Some", &type.children[0]}}, depth);
    if (name == "Result" && type.children.size() == 2)
      return fitsEnum(layout, {{"Ok", &type.children[0]}, {"Err", &type.children[1]}}, depth);
    if (name == "Range")
      return fitsRange(layout);
    if (name == "Value")
      return fitsJson(id, layout, depth);
    for (const StructShape& shape : kStructs)
      if (name == shape.name) {
        // Read once more as a type: the table holds it as the signatures would.
        std::optional<SignatureText> fields = Reader(("fn() -> " + shape.fields).str()).signature();
        if (fields && type.children.size() == 1)
          substitute(fields->result, type.children[0]);
        return fields && fitsFields(fields->result.children.empty()
                                        ? ArrayRef<TypeText>(fields->result)
                                        : ArrayRef<TypeText>(fields->result.children),
                                    layout, shape.mayHaveMore, depth);
      }
    return false;
  }

  static void substitute(TypeText& type, const TypeText& argument) {
    if (type.kind == TypeText::Kind::Named && type.name == "T") {
      type = argument;
      return;
    }
    for (TypeText& child : type.children)
      substitute(child, argument);
  }

  static std::optional<SequenceKind> sequenceOf(StringRef name) {
    constexpr std::pair<StringRef, SequenceKind> kNames[] = {
        {"Vec", SequenceKind::Vec},         {"Deque", SequenceKind::Deque},
        {"Queue", SequenceKind::Queue},     {"Stack", SequenceKind::Stack},
        {"MaxHeap", SequenceKind::MaxHeap}, {"MinHeap", SequenceKind::MinHeap}};
    for (const auto& [each, kind] : kNames)
      if (name == each)
        return kind;
    return std::nullopt;
  }

  bool fitsRange(const Layout& layout) const {
    if (layout.kind != LayoutKind::Struct || layout.variants.size() != 1)
      return false;
    const std::vector<LayoutId>& fields = layout.variants[0].fields;
    return (fields.size() == 2 || fields.size() == 3) && llvm::all_of(fields, [&](LayoutId field) {
             return vm::index(field) < module_.layouts.size() &&
                    module_.layouts[vm::index(field)].kind == LayoutKind::Int;
           });
  }

  /// json::Value: its containers hold this very layout.
  bool fitsJson(LayoutId id, const Layout& layout, unsigned depth) {
    if (!isJsonValue(layout))
      return false;
    constexpr StringRef kPayloads[] = {"", "bool", "i64", "f64", "String"};
    for (size_t i = 1; i < std::size(kPayloads); ++i) {
      TypeText scalar;
      scalar.name = kPayloads[i].str();
      if (!fits(scalar, layout.variants[i].fields[0], depth + 1))
        return false;
    }
    const LayoutId array = layout.variants[5].fields[0];
    const LayoutId object = layout.variants[6].fields[0];
    if (vm::index(array) >= module_.layouts.size() || vm::index(object) >= module_.layouts.size())
      return false;
    const Layout& vec = module_.layouts[vm::index(array)];
    const Layout& map = module_.layouts[vm::index(object)];
    TypeText text;
    text.name = "String";
    return vec.kind == LayoutKind::Vec && vec.element == id && !vec.byteStorage &&
           map.kind == LayoutKind::Map && map.value == id && fits(text, map.element, depth + 1);
  }

  const Module& module_;
  const SignatureText& signature_;
  StringRef path_;
  std::map<std::string, LayoutId> bound_;
};

llvm::Error misfit(const vm::Native& native, const llvm::Twine& what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "`" + native.name + "` is imported with " + what +
                                     "; its signature is `" + native.signature + "`");
}

} // namespace

llvm::Error checkImport(const vm::Native& native, const NativeImport& import,
                        const Module& module) {
  const std::optional<SignatureText> signature = Reader(native.signature).signature();
  if (!signature)
    return misfit(native, "a signature that cannot be read");
  if (import.parameters.size() != signature->parameters.size() ||
      import.inOut.size() != import.parameters.size())
    return misfit(native, llvm::Twine(import.parameters.size()) + " arguments");
  Fitter fitter(module, *signature, native.name);
  for (size_t i = 0; i < import.parameters.size(); ++i) {
    if (import.inOut[i] != signature->parameters[i].inOut)
      return misfit(native, "argument " + llvm::Twine(i) + " passed the wrong way");
    if (!fitter.fits(signature->parameters[i], import.parameters[i], 0))
      return misfit(native, "a layout that does not fit parameter " + llvm::Twine(i));
  }
  if (!fitter.fits(signature->result, import.result, 0))
    return misfit(native, "a layout that does not fit its result");
  return llvm::Error::success();
}

} // namespace gos::stdlib
