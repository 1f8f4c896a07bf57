#include "compiler/types/print.h"

#include "compiler/types/unify.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace gos::types {

namespace {
class Printer {
public:
  explicit Printer(const Unifier* unifier, size_t limit = 200) : unifier_(unifier), limit_(limit) {}

  void list(ArrayRef<Type*> types) {
    bool first = true;
    for (Type* each : types) {
      if (!first)
        out += ", ";
      first = false;
      type(each);
    }
  }

  void type(Type* t) {
    if (out.size() > limit_) {
      if (!llvm::StringRef(out).ends_with(".."))
        out += "..";
      return;
    }
    if (unifier_)
      t = unifier_->shallow(t);
    switch (t->kind) {
    case Kind::Error:
    case Kind::Infer:
      out += t->is(Kind::Infer) && t->inferKind == InferKind::Integer ? "{integer}"
             : t->is(Kind::Infer) && t->inferKind == InferKind::Float ? "{float}"
                                                                      : "_";
      return;
    case Kind::Tuple:
      out += '(';
      list(t->args);
      out += t->args.size() == 1 ? ",)" : ")";
      return;
    case Kind::Array:
      out += '[';
      type(t->args[0]);
      out += "; ";
      if (t->isOpenArray())
        type(t->args[1]);
      else
        out += std::to_string(t->length);
      out += ']';
      return;
    case Kind::Const:
      constant(t);
      return;
    case Kind::Slice:
      out += '[';
      type(t->args[0]);
      out += ']';
      return;
    case Kind::Range:
      out += "Range";
      return;
    case Kind::Fn:
      out += "Fn(";
      list(t->parameters());
      out += ')';
      if (!t->result()->isUnit()) {
        out += " -> ";
        type(t->result());
      }
      return;
    case Kind::Ref:
      out += t->mutability == Mutability::Mutable ? "&mut " : "&";
      type(t->args[0]);
      return;
    case Kind::Struct:
    case Kind::Enum:
    case Kind::Newtype:
      out += t->item->name.name.text();
      arguments(t->args);
      return;
    case Kind::Param:
      out += t->parameter->name.text();
      return;
    case Kind::Projection:
      type(t->args[0]);
      out += "::";
      out += t->item->name.name.text();
      return;
    default: // scalars and containers
      out += spelling(t->kind);
      arguments(t->args);
      return;
    }
  }

  void constant(Type* t) {
    if (t->args[0]->is(Kind::Bool)) {
      out += t->length ? "true" : "false";
    } else if (t->args[0]->is(Kind::Char)) {
      out += '\'';
      const uint32_t scalar = uint32_t(t->length);
      char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
      char* end = bytes;
      if (scalar >= 0x20 && scalar != 0x7f && llvm::ConvertCodePointToUTF8(scalar, end))
        out.append(bytes, end);
      else
        out += "\\u{" + llvm::utohexstr(scalar, /*LowerCase=*/true) + "}";
      out += '\'';
    } else if (t->args[0]->isSigned()) {
      out += std::to_string(int64_t(t->length));
    } else {
      out += std::to_string(t->length);
    }
  }

  void arguments(ArrayRef<Type*> args) {
    if (args.empty())
      return;
    out += '<';
    list(args);
    out += '>';
  }

  std::string out;

private:
  const Unifier* unifier_;
  size_t limit_;
};
} // namespace

std::string print(Type* type, const Unifier* unifier, size_t limit) {
  Printer printer(unifier, limit);
  printer.type(type);
  return std::move(printer.out);
}

std::string print(const TraitRef& trait) {
  Printer printer(nullptr);
  printer.out = trait.trait->name.name.text().str();
  if (trait.args.empty() && trait.equalities.empty())
    return std::move(printer.out);
  printer.out += '<';
  printer.list(trait.args);
  bool first = trait.args.empty();
  for (auto& [name, type] : trait.equalities) {
    printer.out += first ? "" : ", ";
    first = false;
    printer.out += (name.text() + " = ").str();
    printer.type(type);
  }
  printer.out += '>';
  return std::move(printer.out);
}

} // namespace gos::types
