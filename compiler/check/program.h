#pragma once
// What the checker answers, and what lowering asks it about concrete types.
//
// Representation notes for lowering:
//   * A shared reference is the value: `&T` parameters, `&self` and `&expr` have type T. Only
//   Ref(Mutable, T)
//     is a reference; `.`, `[]`, method calls, `match`, `for` and formatting see through it.
//   * Implicit conversions have no node: compare Expr::type with the type of the place it goes to.
//   They are
//     Array and Vec to Slice, &mut of those to &mut Slice, a function path to Fn, Never to
//     anything, and, for a closure whose type answers (), any body type (the value is dropped).
//   * An If, Match or Block of type () whose branches have values drops them (a discarded
//   statement).
//   * Expr::type and Target::typeArgs may mention the generic parameters of the function around:
//   substitute.

#include "compiler/resolve/resolver.h"
#include "compiler/types/type_table.h"

#include <memory>

namespace gos::check {

using llvm::ArrayRef;
using llvm::StringRef;
using types::Type;

class Checker;

enum class RegionKind : uint8_t {
  Block,    // ComptimeExpr
  Call,     // CallExpr or MethodCallExpr of a comptime fn
  Argument, // the argument of a comptime parameter
  Codegen,  // KnownCallExpr: its one argument is the text
};

/// An outermost compile-time region.
struct Region {
  ast::Expr* node = nullptr;
  RegionKind kind = RegionKind::Block;
  Type* type = nullptr;           // of the value to fold back; of Codegen: of its argument (String)
  ast::Item* enclosing = nullptr; // FunctionItem, ConstItem or StaticItem; null at type level
  uint32_t package = 0;
  bool isTypeLevel = false; // an array length: must be folded before types are complete
  bool isInner =
      false; // `codegen!` inside another region, which is complete once the text stands there
};

/// Types and traits of the library that the language itself knows. Null when the library lacks
/// them.
struct LangItems {
  ast::EnumItem* option = nullptr;     // core::Option, variants Some, None
  ast::EnumItem* result = nullptr;     // core::Result, variants Ok, Err
  ast::StructItem* error = nullptr;    // errors::Error
  ast::StructItem* iterator = nullptr; // core::Iterator, the lazy cursor
  uint32_t some = 0, none = 1, ok = 0, err = 1;
};

/// Behaviour that an impl of the user's replaces everywhere, inside containers too.
enum class Hook : uint8_t { Display, Debug, Equal, Compare, Clone, Default };

struct Signature {
  ArrayRef<types::Parameter*> generics; // outer (impl or trait) first
  ArrayRef<Type*> parameters;           // with self in front
  Type* result = nullptr;
  Type* self = nullptr; // of an impl: its type; of a trait: the Param Self
};

/// A function to call, found for concrete types.
struct Selected {
  ast::FunctionItem* function = nullptr;
  ArrayRef<Type*> typeArgs;
  Type* self = nullptr; // for a default method of a trait: what Self stands for
  /// No impl: the behaviour that every value has (`function` is the trait's declaration, without a
  /// body): equality, order, clone, default, arithmetic of numbers.
  bool isStructural = false;
};

struct PackageInfo {
  std::string name;
  resolve::ModuleScope* root = nullptr;
};

class Program {
public:
  Program();
  explicit Program(std::unique_ptr<Checker> checker);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  ast::FunctionItem* main = nullptr; // null: a library, or none was found (no error by itself)
  std::vector<PackageInfo> packages; // 0 is the library
  std::vector<ast::FunctionItem*>
      functions; // user functions with bodies: methods, default methods, nested ones
  std::vector<ast::Item*>
      constants;               // ConstItem (also of impls) and StaticItem, in dependency order
  std::vector<Region> regions; // in order of the source of each package
  LangItems lang;

  types::TypeTable& types();
  const Signature& signature(ast::FunctionItem* function);
  /// Sees to it that the body of a library function is checked (user functions are). False when the
  /// body has errors.
  bool ensureChecked(ast::FunctionItem* function);
  /// The same for the initialiser of a const or static of the library, which `constants` need not
  /// list.
  bool ensureConstant(ast::Item* item);
  /// For a generic function with `typeInfo` of a parameter: the clone for these arguments, checked.
  /// Any other function is answered as it is. Clones are not generic: lower them without type
  /// arguments.
  ast::FunctionItem* instance(ast::FunctionItem* function, ArrayRef<Type*> typeArgs, Type* self);

  /// Replaces parameters and then projections.
  Type* substitute(Type* type, ArrayRef<Type*> args, Type* self = nullptr);
  /// What a Newtype is represented as (one layer).
  Type* representation(Type* newtype);
  /// The type of a field of a Struct type.
  Type* fieldType(Type* structType, unsigned field);
  /// The type of a payload field of a variant.
  Type* payloadType(Type* enumType, unsigned variant, unsigned field);
  /// The declared type of a const or static.
  Type* constantType(ast::Item* item);
  /// The function that a target means once types are concrete: `typeArgs` and `self` already
  /// substituted.
  Selected select(ast::FunctionItem* function, ArrayRef<Type*> typeArgs, Type* self);
  /// The ConstItem that an AssociatedConst target means for a concrete self type.
  ast::ConstItem* selectConst(ast::ConstItem* item, Type* self);
  /// The user's method for a behaviour of a concrete type, if an impl replaces it.
  std::optional<Selected> hook(Hook which, Type* type);
  /// The user's `next` of a type that `for` iterates, and kin: any method by name on a concrete
  /// type.
  std::optional<Selected> method(Type* type, StringRef name);
  /// What stands in the place of an expression after folds.
  ast::Expr* folded(ast::Expr* expr) const;
  std::string print(Type* type) const;

private:
  std::unique_ptr<Checker> checker_;
};

} // namespace gos::check
