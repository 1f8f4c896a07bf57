#include "compiler/bindings/types.h"

#include "compiler/lex/characters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace gos::bindings {

using llvm::StringRef;

namespace {

constexpr StringRef kKeywords[] = {
#define GOS_KEYWORD(kind, spelling) spelling,
#include "compiler/lex/token_kinds.def"
};

/// What begins an identifier of Gossamer at the front of `text`.
StringRef takeName(StringRef text) {
  if (text.empty())
    return text;
  const lex::Scalar first = lex::decodeScalar(text.begin(), text.end());
  if (first.length == 0 || !(first.value == '_' || lex::isXidStart(first.value)))
    return text.take_front(0);
  const char* end = lex::skipIdentContinue(text.begin() + first.length, text.end());
  return text.take_front(size_t(end - text.begin()));
}

struct Word {
  StringRef spelling;
  TypeKind kind;
  unsigned arguments;
};
constexpr Word kWords[] = {
    {"bool", TypeKind::Bool, 0},   {"i64", TypeKind::I64, 0},       {"f64", TypeKind::F64, 0},
    {"char", TypeKind::Char, 0},   {"String", TypeKind::String, 0}, {"u8", TypeKind::Byte, 0},
    {"Vec", TypeKind::Vec, 1},     {"Option", TypeKind::Option, 1}, {"Result", TypeKind::Result, 2},
    {"HashMap", TypeKind::Map, 2},
};

constexpr size_t kMostFieldsOfTuple = 8;

class Parser {
public:
  explicit Parser(StringRef text) : text_(text), rest_(text) {}

  llvm::Expected<TypeTree> parse() {
    uint32_t root = 0;
    if (!type(root, 0) || !rest_.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     llvm::formatv("`{0}` is no type of the interface{1}",
                                                   text_.take_front(200),
                                                   problem_.empty() ? "" : ": " + problem_.str())
                                         .str());
    return std::move(tree_);
  }

private:
  bool fail(StringRef problem) {
    if (problem_.empty())
      problem_ = problem;
    return false;
  }

  bool type(uint32_t& index, unsigned depth) {
    if (depth >= kDeepestType)
      return fail("more than 32 deep");
    TypeNode node;
    if (rest_.consume_front("(")) {
      node.kind = TypeKind::Tuple;
      if (!tuple(node, depth))
        return false;
    } else if (!named(node, depth)) {
      return false;
    }
    // A byte is a value only inside of a vector.
    for (const uint32_t child : node.children)
      if (tree_.nodes[child].kind == TypeKind::Byte && node.kind != TypeKind::Vec)
        return fail("`u8` stands only in `Vec<u8>`");
    if (depth == 0 && node.kind == TypeKind::Byte)
      return fail("`u8` stands only in `Vec<u8>`");
    if (tree_.nodes.size() >= kMostTypeNodes)
      return fail("too large");
    tree_.nodes.push_back(std::move(node));
    index = uint32_t(tree_.nodes.size() - 1);
    return true;
  }

  bool tuple(TypeNode& node, unsigned depth) {
    if (rest_.consume_front(")"))
      return true;
    while (true) {
      uint32_t child = 0;
      if (node.children.size() == kMostFieldsOfTuple)
        return fail("a tuple of more than eight");
      if (!type(child, depth + 1))
        return false;
      node.children.push_back(child);
      if (rest_.consume_front(")"))
        return node.children.size() > 1 || fail("one type in parentheses");
      if (node.children.size() == 1 && rest_.consume_front(",)"))
        return true;
      if (!rest_.consume_front(", "))
        return fail("a tuple that does not end");
    }
  }

  bool named(TypeNode& node, unsigned depth) {
    const StringRef start = rest_;
    size_t lastName = 0;
    do {
      lastName = start.size() - rest_.size();
      const StringRef part = takeName(rest_);
      if (part.empty())
        return fail("");
      rest_ = rest_.drop_front(part.size());
    } while (rest_.consume_front("::"));
    const StringRef path = start.drop_back(rest_.size());
    node.name = path.drop_front(lastName);
    node.module = lastName == 0 ? StringRef() : path.take_front(lastName - 2);
    if (node.module.empty())
      for (const Word& word : kWords)
        if (word.spelling == node.name) {
          node.kind = word.kind;
          return arguments(node, word.arguments, depth);
        }
    node.kind = TypeKind::Named;
    if (!isBindingName(node.name) || isLanguageType(node.name) ||
        (!node.module.empty() && !isModulePath(node.module)))
      return fail("");
    return true;
  }

  bool arguments(TypeNode& node, unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) {
      uint32_t child = 0;
      if (!rest_.consume_front(i == 0 ? "<" : ", ") || !type(child, depth + 1))
        return fail("");
      node.children.push_back(child);
    }
    return count == 0 || rest_.consume_front(">") || fail("");
  }

  StringRef text_, rest_, problem_;
  TypeTree tree_;
};

} // namespace

llvm::Expected<TypeTree> parseType(StringRef text) {
  return Parser(text).parse();
}

bool isBindingName(StringRef name) {
  return !name.empty() && name.size() <= 255 && name != "_" &&
         takeName(name).size() == name.size() && !llvm::is_contained(kKeywords, name);
}

bool isModulePath(StringRef path) {
  if (path.size() > 255)
    return false;
  llvm::SmallVector<StringRef, 8> parts;
  path.split(parts, "::");
  return parts.size() <= 16 && parts.front() != "std" && llvm::all_of(parts, isBindingName);
}

bool isLanguageType(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("bool", "char", "str", "String", true)
      .Cases("i8", "i16", "i32", "i64", "i128", "isize", true)
      .Cases("u8", "u16", "u32", "u64", "u128", "usize", true)
      .Cases("f32", "f64", "Vec", "Map", "Set", "BTreeMap", "BTreeSet", true)
      .Cases("HashMap", "HashSet", "Option", "Result", "Box", "Rc", "Arc", true)
      .Default(false);
}

} // namespace gos::bindings
