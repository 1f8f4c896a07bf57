#pragma once
// The syntax tree. Nodes live in one arena, are trivially destructible and are annotated in place
// by the checker (fields under "set by the checker"). Lists are ArrayRefs into the arena.

#include "compiler/ast/arena.h"
#include "compiler/ast/name.h"
#include "diagnostics/source_map.h"
#include "diagnostics/span.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace gos::types {
class Type;       // compiler/types/type.h
struct Parameter; // a generic parameter as the checker sees it
} // namespace gos::types

namespace gos::ast {

using llvm::ArrayRef;
using llvm::StringRef;

enum class ExprKind : uint8_t {
#define GOS_EXPR(kind) kind,
#include "compiler/ast/nodes.def"
};
enum class PatternKind : uint8_t {
#define GOS_PATTERN(kind) kind,
#include "compiler/ast/nodes.def"
};
enum class TypeNodeKind : uint8_t {
#define GOS_TYPE_NODE(kind) kind,
#include "compiler/ast/nodes.def"
};
enum class StmtKind : uint8_t {
#define GOS_STMT(kind) kind,
#include "compiler/ast/nodes.def"
};
enum class ItemKind : uint8_t {
#define GOS_ITEM(kind) kind,
#include "compiler/ast/nodes.def"
};
enum class KnownCall : uint8_t {
#define GOS_KNOWN_CALL(name, spelling) name,
#include "compiler/ast/known_calls.def"
};

struct Expr;
struct Pattern;
struct TypeNode;
struct Stmt;
struct Item;
struct BlockExpr;
struct FunctionItem;
struct ModuleItem;
struct ClosureExpr;

/// A name with its place.
struct Ident {
  Name name;
  Span span;
};

enum class Mutability : uint8_t { Shared, Mutable };

/// A variable: a parameter, or a name that a pattern binds.
struct Variable {
  Name name;
  Span span;
  bool isMutable = false;
  bool isParameter = false;
  bool isComptime = false; // a comptime parameter
  // set by the checker
  types::Type* type = nullptr;
  const void* owner = nullptr;      // the FunctionItem or ClosureExpr whose frame holds it
  bool capturedByReference = false; // a container that some closure captures: lives in a cell
  bool isAssigned = false;          // written after its declaration
  bool readThrough =
      false; // bound by `&self`, a `&T` parameter or `let r = &place`: `*r` is the value
  // for lowering: scratch, meaningful only during the lowering of one function instance
  uint32_t slot = 0;
};

// ---- paths
// ----------------------------------------------------------------------------------------

struct GenericArg {
  Ident label;              // `Item = i64`; empty otherwise
  TypeNode* type = nullptr; // one of the two
  Expr* value = nullptr;    // a const argument
};

struct PathSegment {
  Ident ident; // also `self`, `Self`, `super`, `crate`
  ArrayRef<GenericArg> args;
  bool hasArgs = false;
};

/// What a path names; filled in by the checker.
enum class TargetKind : uint8_t {
  None,     // not resolved; an error was reported
  Variable, // variable
  Function, // function (free, associated or builtin: see FunctionItem::builtin), with typeArgs
  Const,    // item: ConstItem
  Static,   // item: StaticItem
  Struct,   // item: unit or tuple struct used as a value
  Variant,  // item: EnumItem, index
  AssociatedConst, // item: the ConstItem of an impl or trait, with selfType
  NumericConst,    // i64::MAX and kin: value in bits
  ConstParam,      // a const parameter of the item around: typeArgs holds it
};
struct Target {
  TargetKind kind = TargetKind::None;
  Variable* variable = nullptr;
  Item* item = nullptr; // FunctionItem, ConstItem, StaticItem, StructItem or EnumItem
  uint32_t index = 0;   // variant
  uint64_t bits = 0;    // NumericConst
  /// Arguments for the generic parameters of `item`, outer (impl or trait) parameters first; may
  /// mention the parameters of the function that contains the path.
  ArrayRef<types::Type*> typeArgs;
  /// For a method or associated item found through a trait bound: the type it is called on, from
  /// which lowering finds the impl. `item` is then the trait's declaration.
  types::Type* selfType = nullptr;
};

struct Path {
  Span span;
  TypeNode* qualifier = nullptr; // `<T>::`
  ArrayRef<PathSegment> segments;
};

// ---- expressions
// ------------------------------------------------------------------------------------

struct Expr {
  ExprKind kind;
  bool parenthesised = false;
  Span span;
  types::Type* type = nullptr; // set by the checker

protected:
  Expr(ExprKind k, Span s) : kind(k), span(s) {}
};

#define GOS_EXPR_NODE(Kind)                                                                        \
  static bool classof(const Expr* e) {                                                             \
    return e->kind == ExprKind::Kind;                                                              \
  }                                                                                                \
  explicit Kind##Expr(Span s) : Expr(ExprKind::Kind, s) {}

struct ErrorExpr : Expr {
  GOS_EXPR_NODE(Error)
};

enum class NumberSuffix : uint8_t {
  None,
  I8,
  I16,
  I32,
  I64,
  Isize,
  U8,
  U16,
  U32,
  U64,
  Usize,
  F32,
  F64
};

struct IntExpr : Expr {
  GOS_EXPR_NODE(Int)
  uint64_t value = 0;
  NumberSuffix suffix = NumberSuffix::None; // may be F32/F64: `1f64`
  bool tooLarge = false;                    // does not fit 64 bits; the checker reports GT0009
};
struct FloatExpr : Expr {
  GOS_EXPR_NODE(Float)
  double value = 0;
  NumberSuffix suffix = NumberSuffix::None;
};
struct BoolExpr : Expr {
  GOS_EXPR_NODE(Bool)
  bool value = false;
};
struct CharExpr : Expr {
  GOS_EXPR_NODE(Char)
  uint32_t value = 0;
};
struct StringExpr : Expr { // also raw and triple-quoted
  GOS_EXPR_NODE(String)
  StringRef value; // decoded, UTF-8
};
struct ByteExpr : Expr {
  GOS_EXPR_NODE(Byte)
  uint8_t value = 0;
};
struct ByteStringExpr : Expr { // Vec<u8>
  GOS_EXPR_NODE(ByteString)
  StringRef value;
};

/// A format spec, already parsed (language.md section 18.3).
struct FormatSpec {
  enum class Align : uint8_t { Default, Left, Centre, Right };
  enum class Kind : uint8_t { Display, Debug, LowerHex, UpperHex, Binary, Octal };
  uint32_t fill = ' ';
  Align align = Align::Default;
  bool zero = false;
  int32_t width = -1;
  int32_t precision = -1;
  Kind kind = Kind::Display;
};
/// A piece of an f-string or of a template: text, then (unless the last) a value with its spec.
struct FormatPiece {
  StringRef text;
  Expr* value =
      nullptr; // a positional argument, a name or field path, or any expression (f-string)
  FormatSpec spec;
};
struct FStringExpr : Expr {
  GOS_EXPR_NODE(FString)
  ArrayRef<FormatPiece> pieces;
};

struct PathExpr : Expr {
  GOS_EXPR_NODE(Path)
  Path path;
  Target target; // set by the checker
};

struct FieldInit {
  Ident name;
  Expr* value = nullptr; // never null: `g` alone is a PathExpr of that name
  bool shorthand = false;
  uint32_t index = 0; // set by the checker
};
struct StructLiteralExpr : Expr {
  GOS_EXPR_NODE(StructLiteral)
  Path path;
  ArrayRef<FieldInit> fields; // as written; mutable memory, see mutableFields
  Expr* base = nullptr;       // `..base`
  Target target;              // set by the checker: Struct or Variant
  llvm::MutableArrayRef<FieldInit> mutableFields() {
    return {const_cast<FieldInit*>(fields.data()), fields.size()};
  }
};
struct TupleExpr : Expr { // () is the empty tuple
  GOS_EXPR_NODE(Tuple)
  ArrayRef<Expr*> elements;
};
struct ArrayExpr : Expr {
  GOS_EXPR_NODE(Array)
  ArrayRef<Expr*> elements;
  bool isVec = false; // written `#[..]`
};
struct RepeatExpr : Expr {
  GOS_EXPR_NODE(Repeat)
  Expr* value = nullptr;
  Expr* count = nullptr;
  bool isVec = false;
};
struct MapExpr : Expr {
  GOS_EXPR_NODE(Map)
  ArrayRef<std::pair<Expr*, Expr*>> entries;
};
struct SetExpr : Expr {
  GOS_EXPR_NODE(Set)
  ArrayRef<Expr*> elements;
};
struct BlockExpr : Expr {
  GOS_EXPR_NODE(Block)
  ArrayRef<Stmt*> statements;
  Expr* tail = nullptr; // the value; null when the block ends in a statement or is empty
  bool hasItems = false;
  Span closeBrace;
};
struct IfExpr : Expr {
  GOS_EXPR_NODE(If)
  ArrayRef<Expr*> conditions; // joined by &&; each an expression or a LetConditionExpr
  BlockExpr* thenBlock = nullptr;
  Expr* elseBranch = nullptr; // an IfExpr or a BlockExpr
};
struct LetConditionExpr : Expr { // only inside IfExpr and WhileExpr conditions
  GOS_EXPR_NODE(LetCondition)
  Pattern* pattern = nullptr;
  Expr* value = nullptr;
};
struct WhileExpr : Expr {
  GOS_EXPR_NODE(While)
  Ident label;
  ArrayRef<Expr*> conditions;
  BlockExpr* body = nullptr;
};
struct LoopExpr : Expr {
  GOS_EXPR_NODE(Loop)
  Ident label;
  BlockExpr* body = nullptr;
  bool hasBreak = false; // set by the checker
};
struct ForExpr : Expr {
  GOS_EXPR_NODE(For)
  Ident label;
  Pattern* pattern = nullptr;
  Expr* iterable = nullptr;
  BlockExpr* body = nullptr;
  // set by the checker
  types::Type* elementType = nullptr;
  Target next; // the `next` method, when the iterable is a user type or an Iterator
  /// For `for .. in typeInfo::<T>()`: one copy of the body a pair, made by the checker; iterable
  /// unused.
  bool unrolled = false;
  ArrayRef<BlockExpr*> unrolledBodies;
};
struct MatchArm {
  Pattern* pattern = nullptr;
  Expr* guard = nullptr;
  Expr* body = nullptr;
  Span span;
};
struct MatchExpr : Expr {
  GOS_EXPR_NODE(Match)
  Expr* subject = nullptr;
  ArrayRef<MatchArm> arms;
};
struct ClosureParameter {
  Pattern* pattern = nullptr;
  TypeNode* type = nullptr;        // may be null
  types::Type* resolved = nullptr; // set by the checker
};
struct ClosureExpr : Expr {
  GOS_EXPR_NODE(Closure)
  ArrayRef<ClosureParameter> parameters;
  TypeNode* returnType = nullptr;
  Expr* body = nullptr;
  llvm::MutableArrayRef<ClosureParameter> mutableParameters() {
    return {const_cast<ClosureParameter*>(parameters.data()), parameters.size()};
  }
  // set by the checker
  ArrayRef<Variable*> captures; // in order of first use; of enclosing functions or closures
};
struct Argument {
  Ident label; // `depth: 4`
  Expr* value = nullptr;
};
struct CallExpr : Expr {
  GOS_EXPR_NODE(Call)
  Expr* callee = nullptr;
  ArrayRef<Argument> arguments;
  /// Set by the checker: arguments in parameter order, defaults filled in (an entry may be an Expr
  /// shared with the declaration: a literal). Evaluation order stays the written one: see `order`.
  ArrayRef<Expr*> ordered;
  /// For a call through a path the path's target is on the callee (PathExpr::target).
  bool isComptimeFn = false; // set by the checker
  /// Set by the checker for `typeInfo::<T>()`: the pairs it answers, a Vec<(String, String)>.
  bool isTypeInfo = false;
  ArrayRef<std::pair<StringRef, StringRef>> reflected;
};
struct MethodCallExpr : Expr {
  GOS_EXPR_NODE(MethodCall)
  Expr* receiver = nullptr;
  Ident name;
  ArrayRef<GenericArg> typeArgs;
  bool hasTypeArgs = false;
  ArrayRef<Argument> arguments;
  // set by the checker
  ArrayRef<Expr*> ordered; // without the receiver
  Target target;           // Function; None when `fieldCall`
  bool fieldCall = false;  // a call of a field that holds an Fn
  uint32_t fieldIndex = 0;
  bool isComptimeFn = false;
  bool identity =
      false; // `.into()` between a newtype and its representation: the receiver, retyped
  bool rangeApart =
      false; // `range(low..high)` of an ordered container: `ordered` has the bounds, if any
};
struct KnownCallExpr : Expr {
  GOS_EXPR_NODE(KnownCall)
  KnownCall which = KnownCall::Println;
  bool hasBang = false;
  Ident name;
  /// For the formatting family: the template cut into pieces (parser); `hasTemplate` false means a
  /// single non-literal argument printed as by "{}" (then one piece), or no argument.
  bool hasTemplate = false;
  ArrayRef<FormatPiece> pieces;
  ArrayRef<Expr*> arguments;  // all value arguments as written (also those named by pieces)
  Pattern* pattern = nullptr; // matches!
};
struct FieldExpr : Expr {
  GOS_EXPR_NODE(Field)
  Expr* object = nullptr;
  Ident name;
  uint32_t index = 0; // set by the checker
};
struct TupleFieldExpr : Expr {
  GOS_EXPR_NODE(TupleField)
  Expr* object = nullptr;
  uint32_t index = 0;
};
struct IndexExpr : Expr {
  GOS_EXPR_NODE(Index)
  Expr* object = nullptr;
  Expr* index = nullptr; // a RangeExpr written here makes it a slice
  Target method;         // set by the checker: the Index impl of a user type
};
struct RangeExpr : Expr {
  GOS_EXPR_NODE(Range)
  Expr* low = nullptr;
  Expr* high = nullptr;
  bool inclusive = false;
};

enum class UnaryOp : uint8_t { Negate, Not, Deref };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  WrapAdd,
  WrapSub,
  WrapMul,
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
};
StringRef spelling(BinaryOp op);
StringRef spelling(UnaryOp op);

struct UnaryExpr : Expr {
  GOS_EXPR_NODE(Unary)
  UnaryOp op = UnaryOp::Negate;
  Expr* operand = nullptr;
  Target method; // set by the checker, for a user type
};
struct BorrowExpr : Expr {
  GOS_EXPR_NODE(Borrow)
  Mutability mutability = Mutability::Shared;
  Expr* operand = nullptr;
};
struct BinaryExpr : Expr {
  GOS_EXPR_NODE(Binary)
  BinaryOp op = BinaryOp::Add;
  Span opSpan;
  Expr* left = nullptr;
  Expr* right = nullptr;
  Target method; // set by the checker, for a user type with an operator impl
};
struct AssignExpr : Expr { // statement position only
  GOS_EXPR_NODE(Assign)
  bool compound = false; // `op=`
  BinaryOp op = BinaryOp::Add;
  ArrayRef<Expr*> targets; // `_` is a PathExpr named `_`
  ArrayRef<Expr*> values;
  ArrayRef<Target> methods; // set by the checker for compound operators on user types; else empty
};
struct CastExpr : Expr {
  GOS_EXPR_NODE(Cast)
  Expr* operand = nullptr;
  TypeNode* target = nullptr;
};
struct TryExpr : Expr {
  GOS_EXPR_NODE(Try)
  Expr* operand = nullptr;
  // set by the checker
  enum class Conversion : uint8_t {
    None,
    From,
    StringToError,
    ToStdError
  } conversion = Conversion::None;
  Target from;                       // the `from` function to call on the error
  types::Type* resultType = nullptr; // the type the enclosing function or closure returns
};
struct PipeExpr : Expr {
  GOS_EXPR_NODE(Pipe)
  Expr* value = nullptr;
  Expr* step = nullptr; // as written; parser reports GP0041 and GP0007 where it can
  /// Set by the checker: what the pipe means: a CallExpr or MethodCallExpr made for it. A closure
  /// step that is inlined becomes a block `{ let v = value; body }`.
  Expr* desugared = nullptr;
};
struct ReturnExpr : Expr {
  GOS_EXPR_NODE(Return)
  Expr* value = nullptr;
};
struct BreakExpr : Expr {
  GOS_EXPR_NODE(Break)
  Ident label;
  Expr* value = nullptr;
  Expr* target = nullptr; // set by the checker: the loop
};
struct ContinueExpr : Expr {
  GOS_EXPR_NODE(Continue)
  Ident label;
  Expr* target = nullptr;
};
struct ComptimeExpr : Expr {
  GOS_EXPR_NODE(Comptime)
  BlockExpr* body = nullptr;
};
#undef GOS_EXPR_NODE

// ---- patterns
// -----------------------------------------------------------------------------------------

struct Pattern {
  PatternKind kind;
  Span span;
  types::Type* type = nullptr; // set by the checker

protected:
  Pattern(PatternKind k, Span s) : kind(k), span(s) {}
};
#define GOS_PATTERN_NODE(Kind)                                                                     \
  static bool classof(const Pattern* p) {                                                          \
    return p->kind == PatternKind::Kind;                                                           \
  }                                                                                                \
  explicit Kind##Pattern(Span s) : Pattern(PatternKind::Kind, s) {}

struct ErrorPattern : Pattern {
  GOS_PATTERN_NODE(Error)
};
struct WildcardPattern : Pattern {
  GOS_PATTERN_NODE(Wildcard)
};
struct RestPattern : Pattern { // `..` or `..name`, only in slice, tuple and struct patterns
  GOS_PATTERN_NODE(Rest)
  Variable* variable = nullptr;
};
struct BindingPattern : Pattern { // `x`, `mut x`, `x @ p`; a lone name that resolves to a constant
  GOS_PATTERN_NODE(Binding)       // or unit variant is matched instead: then `target` is set
  Variable* variable = nullptr;   // never null
  Pattern* sub = nullptr;
  Target target; // set by the checker: Variant or Const; None for a real binding
};
struct LiteralPattern : Pattern {
  GOS_PATTERN_NODE(Literal)
  Expr* value = nullptr; // a literal
  bool negative = false;
};
struct RangePattern : Pattern {
  GOS_PATTERN_NODE(Range)
  Expr* low = nullptr; // a literal, UnaryExpr Negate of one, or a PathExpr such as i64::MIN
  Expr* high = nullptr;
  bool inclusive = false;
};
struct PathPattern : Pattern { // `E::V`, `CONST`
  GOS_PATTERN_NODE(Path)
  Path path;
  Target target;
};
struct TupleStructPattern : Pattern {
  GOS_PATTERN_NODE(TupleStruct)
  Path path;
  ArrayRef<Pattern*> elements;
  Target target; // Struct or Variant
};
struct FieldPattern {
  Ident name;
  Pattern* pattern = nullptr; // a BindingPattern for the short form
  uint32_t index = 0;         // set by the checker
};
struct StructPattern : Pattern {
  GOS_PATTERN_NODE(Struct)
  Path path;
  ArrayRef<FieldPattern> fields;
  bool hasRest = false;
  Target target;
  llvm::MutableArrayRef<FieldPattern> mutableFields() {
    return {const_cast<FieldPattern*>(fields.data()), fields.size()};
  }
};
struct TuplePattern : Pattern {
  GOS_PATTERN_NODE(Tuple)
  ArrayRef<Pattern*> elements;
};
struct SlicePattern : Pattern {
  GOS_PATTERN_NODE(Slice)
  ArrayRef<Pattern*> elements; // at most one RestPattern
};
struct OrPattern : Pattern { // the alternatives bind the same names; the checker maps them onto
  GOS_PATTERN_NODE(Or)       // the variables of the first
  ArrayRef<Pattern*> alternatives;
};
struct ReferencePattern : Pattern {
  GOS_PATTERN_NODE(Reference)
  Mutability mutability = Mutability::Shared;
  Pattern* sub = nullptr;
};
#undef GOS_PATTERN_NODE

// ---- types as written
// -----------------------------------------------------------------------------------

struct TypeNode {
  TypeNodeKind kind;
  Span span;
  types::Type* resolved = nullptr; // a cache of the checker

protected:
  TypeNode(TypeNodeKind k, Span s) : kind(k), span(s) {}
};
#define GOS_TYPE_NODE_NODE(Kind)                                                                   \
  static bool classof(const TypeNode* t) {                                                         \
    return t->kind == TypeNodeKind::Kind;                                                          \
  }                                                                                                \
  explicit Kind##TypeNode(Span s) : TypeNode(TypeNodeKind::Kind, s) {}

struct ErrorTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Error)
};
struct PathTypeNode : TypeNode { // `Vec<i64>`, `T::Item`, `Self`
  GOS_TYPE_NODE_NODE(Path)
  Path path;
};
struct TupleTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Tuple)
  ArrayRef<TypeNode*> elements;
};
struct ArrayTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Array)
  TypeNode* element = nullptr;
  Expr* length = nullptr;
};
struct SliceTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Slice)
  TypeNode* element = nullptr;
};
struct ReferenceTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Reference)
  Mutability mutability = Mutability::Shared;
  TypeNode* target = nullptr;
};
struct FunctionTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Function)
  ArrayRef<TypeNode*> parameters;
  TypeNode* result = nullptr; // null: ()
};
struct NeverTypeNode : TypeNode {
  GOS_TYPE_NODE_NODE(Never)
};
#undef GOS_TYPE_NODE_NODE

// ---- statements
// --------------------------------------------------------------------------------------------

struct Stmt {
  StmtKind kind;
  Span span;

protected:
  Stmt(StmtKind k, Span s) : kind(k), span(s) {}
};
struct LetStmt : Stmt {
  static bool classof(const Stmt* s) { return s->kind == StmtKind::Let; }
  explicit LetStmt(Span s) : Stmt(StmtKind::Let, s) {}
  Pattern* pattern = nullptr; // a target list is a TuplePattern
  bool targetList = false;
  TypeNode* type = nullptr;
  Expr* value = nullptr; // a list of values is a TupleExpr; null: initialised later
  BlockExpr* elseBlock = nullptr;
};
struct ExprStmt : Stmt {
  static bool classof(const Stmt* s) { return s->kind == StmtKind::Expr; }
  explicit ExprStmt(Span s) : Stmt(StmtKind::Expr, s) {}
  Expr* expr = nullptr;
};
struct ItemStmt : Stmt {
  static bool classof(const Stmt* s) { return s->kind == StmtKind::Item; }
  explicit ItemStmt(Span s) : Stmt(StmtKind::Item, s) {}
  Item* item = nullptr;
};
struct DeferStmt : Stmt {
  static bool classof(const Stmt* s) { return s->kind == StmtKind::Defer; }
  explicit DeferStmt(Span s) : Stmt(StmtKind::Defer, s) {}
  Expr* expr = nullptr;
};

// ---- items
// ---------------------------------------------------------------------------------------------------

enum class Visibility : uint8_t { Private, Package, Public };

struct Attribute {
  Span span;
  Path path;
  Span argumentSpan;     // inside the parentheses
  ArrayRef<Ident> words; // the identifiers of a list such as derive(Debug, Eq)
  Expr* value = nullptr; // `= literal`
};

struct TypeBound {
  Path path;             // generic args may carry `Item = i64`
  Item* trait = nullptr; // set by the checker
};
struct GenericParameter {
  Ident name;
  ArrayRef<TypeBound> bounds;
  TypeNode* defaultType = nullptr;
  bool isConst = false;
  TypeNode* constType = nullptr;
  Expr* constDefault = nullptr; // of a const parameter: a literal or a block
  types::Type* type = nullptr;  // set by the checker: its Param type
};
struct WherePredicate {
  TypeNode* subject = nullptr;
  ArrayRef<TypeBound> bounds;
};
struct Generics {
  ArrayRef<GenericParameter> parameters;
  ArrayRef<WherePredicate> where;
  Span span;
};

struct Item {
  ItemKind kind;
  Visibility visibility = Visibility::Private;
  bool isGeneric() const { return !generics.parameters.empty(); }
  Span span;
  Ident name;
  ArrayRef<Attribute> attributes;
  Generics generics;
  Span documentation; // the run of // lines above; empty if there is none
  // set by resolve
  ModuleItem* parentModule = nullptr;
  void* info = nullptr; // the checker's record of this item

protected:
  Item(ItemKind k, Span s) : kind(k), span(s) {}
};
#define GOS_ITEM_NODE(Kind)                                                                        \
  static bool classof(const Item* i) {                                                             \
    return i->kind == ItemKind::Kind;                                                              \
  }                                                                                                \
  explicit Kind##Item(Span s) : Item(ItemKind::Kind, s) {}

struct ErrorItem : Item {
  GOS_ITEM_NODE(Error)
};

enum class SelfKind : uint8_t {
  None,
  Value,
  MutValue,
  Shared,
  Mutable
}; // self, mut self, &self, &mut self

struct FunctionParameter {
  Pattern* pattern = nullptr; // for self: a BindingPattern named `self`
  TypeNode* type = nullptr;   // null for a plain self
  Expr* defaultValue = nullptr;
  bool isComptime = false;
  Span span;
  Name label() const; // the name a keyword argument uses; empty for a destructuring pattern
};
/// A function of a foreign library. Whoever makes the declaration stamps it with this: no source
/// text can say so.
struct ForeignFunction {
  StringRef path;      // "stats::fast::mean"
  StringRef symbol;    // of its entry point
  StringRef signature; // "fn(Vec<f64>) -> Option<f64>", as the library declares it
};
struct FunctionItem : Item {
  GOS_ITEM_NODE(Function)
  SelfKind self = SelfKind::None; // then parameters[0] is self
  ArrayRef<FunctionParameter> parameters;
  TypeNode* returnType = nullptr; // null: ()
  BlockExpr* body = nullptr;      // null: a required trait method or a builtin
  bool isComptime = false;
  bool isUnsafe = false;
  Item* owner = nullptr; // the ImplItem or TraitItem it stands in; set by resolve
  int32_t builtin = -1;  // row of builtins.def, for a library function with a native body
  bool implicitMain = false;
  const ForeignFunction* foreign = nullptr; // then there is no body
};

enum class StructShape : uint8_t { Unit, Named, Tuple };
struct FieldDecl {
  Ident name; // empty for a tuple field
  Visibility visibility = Visibility::Private;
  TypeNode* type = nullptr;
  ArrayRef<Attribute> attributes;
  types::Type* resolved = nullptr; // set by the checker
  // Of its JSON form, set by the checker:
  StringRef member;         // `#[rename("id")]`; empty: as the field is called
  bool isSkipped = false;   // `#[skip]`: not written, and its zero value when it is read
  bool isDefaulted = false; // `#[default]`: its zero value when it is missing
};
struct StructItem : Item {
  GOS_ITEM_NODE(Struct)
  StructShape shape = StructShape::Unit;
  ArrayRef<FieldDecl> fields;
  bool isForeign = false; // its values stay in a foreign library; stamped, as ForeignFunction is
  llvm::MutableArrayRef<FieldDecl> mutableFields() {
    return {const_cast<FieldDecl*>(fields.data()), fields.size()};
  }
};
struct VariantDecl {
  Ident name;
  StructShape shape = StructShape::Unit;
  ArrayRef<FieldDecl> fields;
  ArrayRef<Attribute> attributes;
  Span span;
};
struct EnumItem : Item {
  GOS_ITEM_NODE(Enum)
  ArrayRef<VariantDecl> variants;
  Ident width; // `: u16`, checked by the parser
  bool isPacked = false;
};
struct TraitItem : Item {
  GOS_ITEM_NODE(Trait)
  ArrayRef<TypeBound> supertraits;
  ArrayRef<Item*> items; // FunctionItem, ConstItem, AliasItem (an associated type)
};
struct ImplItem : Item {
  GOS_ITEM_NODE(Impl)
  bool hasTrait = false;
  Path trait;
  TypeNode* target = nullptr;
  ArrayRef<Item*> items;
};
struct AliasItem : Item { // `type A = B`; in a trait `type Item: Bound = Default`
  GOS_ITEM_NODE(Alias)
  TypeNode* target = nullptr; // null: required associated type
  ArrayRef<TypeBound> bounds;
};
struct NewtypeItem : Item {
  GOS_ITEM_NODE(Newtype)
  TypeNode* target = nullptr;
};
struct ConstItem : Item {
  GOS_ITEM_NODE(Const)
  TypeNode* type = nullptr;
  Expr* value = nullptr; // null: a required associated constant
  Item* owner = nullptr;
};
struct StaticItem : Item {
  GOS_ITEM_NODE(Static)
  bool isMutable = false;
  TypeNode* type = nullptr;
  Expr* value = nullptr;
};
struct UseLeaf {        // one imported name, groups flattened
  ArrayRef<Ident> path; // from the root, also `crate`, `self`, `super`, `std`
  StringRef package;    // a quoted project id; empty otherwise
  Span packageSpan;
  Ident binding; // alias or last segment
  Span span;
};
struct UseItem : Item {
  GOS_ITEM_NODE(Use)
  ArrayRef<UseLeaf> leaves;
};
struct ModuleItem : Item { // an inline module, a file, or a package root
  GOS_ITEM_NODE(Module)
  ArrayRef<Item*> items;
  bool hasBody = true; // `mod name` without one names a file
  bool isFile = false;
  FileId file = FileId::None;
  uint32_t package = 0;
  ArrayRef<Attribute> innerAttributes;
};
#undef GOS_ITEM_NODE

// ---- the arena
// -------------------------------------------------------------------------------------------------

/// Owns every node, list and decoded string of a compilation.
class Context {
public:
  NameTable names;

  template <class Node> Node* make(Span span) {
    static_assert(std::is_trivially_destructible_v<Node>);
    return new (arena_.Allocate<Node>()) Node(span);
  }
  template <class T> T* makePlain() {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (arena_.Allocate<T>()) T();
  }
  template <class T> ArrayRef<T> list(ArrayRef<T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty())
      return {};
    T* copy = arena_.Allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }
  StringRef string(StringRef text) {
    if (text.empty())
      return {};
    char* copy = arena_.Allocate<char>(text.size());
    std::copy(text.begin(), text.end(), copy);
    return {copy, text.size()};
  }
  Arena& arena() { return arena_; }
  size_t bytesUsed() const { return arena_.getBytesAllocated(); }

private:
  Arena arena_;
};

/// A parsed file.
struct File {
  FileId id = FileId::None;
  ModuleItem* module = nullptr; // its items, `use`s among them, in source order
  ArrayRef<Stmt*> statements;   // bare statements of an entry file, in source order
  Span firstStatement;
};

} // namespace gos::ast
