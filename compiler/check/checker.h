#pragma once
// The checker itself: one class, its methods cut over the .cpp files of this folder by subject.
//
// Items are described by records that hang on Item::info and are filled in when first asked for
// (items.cpp, signatures.cpp, traits.cpp). Bodies are checked one after the other: what belongs to
// the body at hand is in `Body`, and is thrown away when it is done (bodies.cpp).

#include "compiler/check/check.h"
#include "compiler/types/print.h"
#include "compiler/types/substitute.h"
#include "compiler/types/unify.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace gos::check {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using resolve::Binding;
using resolve::ModuleScope;
using types::InferKind;
using types::Kind;
using types::Parameter;
using types::TraitRef;
using types::TypeTable;

/// Traits of the core that the language knows.
enum class LangTrait : uint8_t {
#define GOS_LANG_TRAIT(name, family) name,
#include "compiler/check/lang_traits.def"
  None
};
enum class TraitFamily : uint8_t { Overridable, Operator, Automatic, Known };
TraitFamily familyOf(LangTrait trait);

/// Where a type or a path is read: what is in scope besides variables.
struct ItemContext {
  ModuleScope* scope = nullptr;
  ArrayRef<Parameter*> generics; // outer ones first
  Type* self = nullptr;          // what `Self` means
  Item* owner = nullptr;         // the impl or trait around
  ArrayRef<Type*> bound;         // in a template's clone: what the generics stand for
};

enum class State : uint8_t { Fresh, Running, Done };

struct ItemInfo {
  ItemContext context;
  State state = State::Fresh;
};
struct FunctionInfo : ItemInfo {
  Signature signature;
  State body = State::Fresh; // Running: queued
  bool bodyOk = true;
  bool isTemplate = false; // mentions typeInfo of a parameter: checked per instantiation
  bool mustUse = false;
  bool allowsUnused = false;
  uint32_t optional = 0; // parameters with defaults
};
struct NominalInfo : ItemInfo { // struct, enum, newtype, alias
  ArrayRef<Parameter*> generics;
  Type* type = nullptr;   // over its own parameters; of an alias: what it stands for
  Type* target = nullptr; // of a newtype: the representation
  State fields = State::Fresh;
  State finite = State::Fresh;
  bool mustUse = false;
  bool derivesDebug = false, derivesDefault = false;
  llvm::DenseMap<Name, uint32_t>* index = nullptr; // of large structs and enums
};
struct TraitInfo : ItemInfo {
  ArrayRef<Parameter*> generics;
  Parameter* self = nullptr;
  ArrayRef<TraitRef> supertraits;
  State supers = State::Fresh;
  LangTrait lang = LangTrait::None;
};
struct ImplInfo : ItemInfo {
  ImplItem* item = nullptr;
  ArrayRef<Parameter*> generics;
  Type* self = nullptr;
  TraitRef trait;           // trait null: inherent
  ImplInfo* next = nullptr; // another impl of the trait for the head
};
/// Integers of constants, wide enough for those of all types.
__extension__ using Wide = __int128;
struct Integer {
  Wide value;
  Type* type; // null: of literals without a suffix
};
struct ConstInfo : ItemInfo {
  Type* type = nullptr;
  State value = State::Fresh; // evaluation of an integer
  State order = State::Fresh;
  State body = State::Fresh;
  std::optional<Wide> integer;
  ArrayRef<Item*> uses; // constants its initialiser reads
};

/// What a const parameter stands for at a use (constants.cpp).
struct ConstArgument {
  Parameter* parameter = nullptr;
  Type* value = nullptr;
  Span span;
};

/// Where a type stands, which decides what it may be.
enum class TypeUse : uint8_t { Parameter, Result, Field, Local, Argument, Impl, Alias };

/// What a path means as a value.
struct ValuePath {
  TargetKind kind = TargetKind::None;
  Variable* variable = nullptr;
  Item* item = nullptr;
  uint32_t index = 0;
  uint64_t bits = 0;
  Type* type = nullptr; // NumericConst; AssociatedConst when known
  Type* self = nullptr; // see Target::selfType
  ArrayRef<FunctionItem*> overloads;
  SmallVector<Type*, 4> outer;       // arguments of the outer generics (impl, trait, enum, struct)
  ArrayRef<GenericArg> explicitArgs; // of the last segment
  bool hasExplicit = false;
  Span explicitSpan;
};

/// A method or associated item found on a type.
struct Member {
  Item* item = nullptr; // FunctionItem or ConstItem; null: not found
  ArrayRef<FunctionItem*> overloads;
  SmallVector<Type*, 4> outer;
  Type* self = nullptr;       // set when `item` is a trait's declaration
  TraitItem* rival = nullptr; // another bound declares it too
};

struct ImplMatch {
  ImplInfo* impl = nullptr;
  SmallVector<Type*, 4> args;
};

/// What becomes of a closure: the direct argument of a call is used up by it, one that another
/// goroutine runs is not, nor is any that is a value. References outlive neither of these.
enum class ClosureFate : uint8_t { Called, Kept, Spawned };

/// A frame: a function body, or a closure inside one.
struct Frame {
  Frame* outer = nullptr;
  const void* owner = nullptr; // FunctionItem or ClosureExpr
  ClosureExpr* closure = nullptr;
  Type* result = nullptr;
  bool sawTry = false;
  ClosureFate fate = ClosureFate::Kept;
  size_t loops = 0; // loops outside are out of reach
  SmallVector<Variable*, 4> captures;
};

struct Loop {
  Expr* node = nullptr;
  Name label;
  Type* breakType = nullptr; // of `loop`
  bool isLoop = false;
  bool hasBreak = false;
};

struct Local {
  Name name;
  Variable* variable = nullptr;
  int32_t previous = -1; // the local that this one shadows
};

/// Everything about the body at hand.
struct Body {
  ItemContext context;
  Item* item = nullptr; // FunctionItem, ConstItem, StaticItem
  uint32_t package = 0;
  Frame* frame = nullptr;
  std::vector<Loop> loops;
  unsigned regionDepth = 0;
  size_t regionFloor = 0; // locals before it belong to run time
  bool isComptimeFn = false;
  bool allowsUnused = false;
  bool damaged =
      false; // the parser has reported something inside: what is missing may be its doing
  bool awaitsText = false; // of a `codegen!`: it will say what cannot be inferred without it
  size_t errorsBefore = 0;
  SmallVector<Item*, 4> constUses;
  // To be looked at once all variables are solved.
  std::vector<Type**> types;
  std::vector<std::pair<Type**, size_t>> lists;
  std::vector<std::pair<Expr*, bool>> literals; // integer literal, negated
  std::vector<MatchExpr*> matches;
  struct Let {
    Pattern* pattern;
    Type* type;
    bool parameter;
  };
  std::vector<Let> lets;
  std::vector<Expr*> discards;
  struct Formatted {
    Expr* expr;
    FormatSpec::Kind kind;
    Span span;
  };
  std::vector<Formatted> formatted;
  struct Bound {
    Type* type;
    TraitRef trait;
    Span span;
  };
  std::vector<Bound> bounds;
  struct Deferred {
    Expr* expr; // MethodCallExpr, FieldExpr
    Type* receiver;
    Type* result;
    Type* expected;
  };
  std::vector<Deferred> deferred;
  std::vector<CastExpr*> casts;
  std::vector<std::pair<ClosureExpr*, Span>> closures;
  struct CapturedWrite {
    Variable* variable;
    Span span;
  };
  std::vector<CapturedWrite> capturedWrites;
  std::vector<Variable*> captured;
  std::vector<std::pair<Type*, Span>> elements; // map keys, heap elements
  struct Operation {
    BinaryExpr* expr;
    bool order;
  };
  std::vector<Operation> comparisons;
  std::vector<std::pair<FunctionItem*, Target*>> instances; // of templates
  struct Opened {
    Type* type;
    Span span;
    std::string what;
  };
  std::vector<Opened> opened; // type arguments that nobody wrote
  /// The answer of a closure whose body does not end: `()` for one that is an argument, else `!`,
  /// unless something else is wanted of it.
  struct Diverging {
    Type* result;
    bool isAlone;
  };
  std::vector<Diverging> diverging;
  std::vector<ConstArgument> constArguments;
  /// A named reference, alive to the end of its block (borrows.cpp).
  struct Borrow {
    Variable* root;
    Name by;
    Span span;
    bool exclusive;
    size_t scope; // locals in scope when it was made
  };
  std::vector<Borrow> borrows;
  /// A `&mut self` call on a value that nothing keeps: what it writes is lost (places.cpp).
  struct LostWrite {
    MethodCallExpr* call;
    Expr* receiver;
  };
  std::vector<LostWrite> lostWrites;
  /// A closure handed to a call that borrows `root` with `&mut` (borrows.cpp).
  struct ClosureUse {
    Span span;
    ClosureExpr* closure;
    Variable* root;
    std::string by;
  };
  std::vector<ClosureUse> closureUses;
  llvm::DenseMap<const Variable*, ClosureExpr*> namedClosures; // `let f = || ..`
  std::vector<std::pair<Type*, Span>> heaps;
  std::vector<Variable*> late;      // declared without a value (flow.cpp)
  std::vector<Variable*> cursors;   // iterators that something may use up
  std::vector<Variable*> variables; // whose type is still open
  std::vector<size_t> regions;      // indices into Checker::regions
};

class Checker {
public:
  Checker(ProgramInput& input, Engine& engine);
  ~Checker();

  void run(Program& program);

  // ---- asked by Program, for lowering (program.cpp) ----
  TypeTable& types() { return types_; }
  const Signature& signature(FunctionItem* function) { return functionInfo(function).signature; }
  bool ensureChecked(FunctionItem* function);
  bool ensureConstant(Item* item);
  FunctionItem* instance(FunctionItem* function, ArrayRef<Type*> args, Type* self);
  Type* substitute(Type* type, ArrayRef<Type*> args, Type* self);
  Type* representation(Type* newtype);
  Type* fieldType(Type* type, unsigned field);
  Type* payloadType(Type* type, unsigned variant, unsigned field);
  Type* constantType(Item* item);
  Selected select(FunctionItem* function, ArrayRef<Type*> args, Type* self);
  ConstItem* selectConst(ConstItem* item, Type* self);
  std::optional<Selected> hook(Hook which, Type* type);
  std::optional<Selected> methodNamed(Type* type, StringRef name);
  Expr* folded(Expr* expr) const {
    while (!folded_.empty()) {
      auto found = folded_.find(expr);
      if (found == folded_.end())
        break;
      expr = found->second;
    }
    return expr;
  }

private:
  // ---- items.cpp ----
  void syncItems();
  void addItem(Item* item, ModuleScope* scope);
  template <class T> T& makeInfo(Item* item, const ItemContext& context);
  ItemInfo* infoOf(const Item* item);
  NominalInfo& nominal(Item* item);
  TraitInfo& traitInfo(TraitItem* item);
  ConstInfo& constInfo(Item* item);
  FunctionInfo& functionInfo(FunctionItem* item);
  ImplInfo& implInfo(ImplItem* item);
  /// What an impl or a trait gives to the items inside it: its generics, and `Self`.
  void enterOwner(ItemContext& context);
  void resolveFields(Item* item);
  bool checkFinite(Item* item, Type* type, Span span);
  void checkFiniteParts(Item* owner, Type* type, Span span);
  std::optional<uint32_t> fieldIndex(Item* item, ArrayRef<FieldDecl> fields, Name name);
  std::optional<uint32_t> variantIndex(EnumItem* item, Name name);
  void findLangItems(Program& program);
  void checkItems();
  void checkAttributes(Item* item);
  bool hasAttribute(const Item* item, StringRef name, StringRef word = {});
  ModuleScope* scopeOf(const Item* item);
  ArrayRef<Parameter*> makeGenerics(Item* item, Generics& generics, ArrayRef<Parameter*> outer,
                                    ItemContext& context);
  void resolveBounds(Generics& generics, ItemContext& context);

  // ---- signatures.cpp ----
  Type* resolveType(TypeNode* node, const ItemContext& context, TypeUse use);
  Type* resolveTypeInner(TypeNode* node, const ItemContext& context, TypeUse use);
  Type* resolveTypePath(const Path& path, const ItemContext& context, TypeUse use);
  Type* namedType(Item* item, const PathSegment& segment, const ItemContext& context, TypeUse use);
  Type* builtinType(Name name, const PathSegment& segment, const ItemContext& context, TypeUse use,
                    bool& found);
  SmallVector<Type*, 4> typeArguments(const PathSegment& segment, size_t wanted,
                                      ArrayRef<Parameter*> parameters, const ItemContext& context,
                                      TypeUse use, StringRef name);
  Type* projection(Type* base, const Ident& name, const ItemContext& context, bool report);
  Type* normalise(Type* projection);
  TraitItem* resolveTraitPath(const Path& path, const ItemContext& context, bool isBound);
  TraitRef resolveTraitRef(TypeBound& bound, const ItemContext& context);
  TraitRef traitRef(TraitItem* trait, const Path& path, const ItemContext& context, Type* self);
  void resolveSignature(FunctionItem* item, FunctionInfo& info);
  Type* finish(Type* type, const ItemContext& context);
  bool inBody() const { return body_ != nullptr; }
  /// Items are described without regard to the body at hand.
  class OutOfBody {
  public:
    explicit OutOfBody(Checker& checker)
        : checker_(checker), saved_(std::exchange(checker.body_, nullptr)) {
      if (saved_)
        ++checker.suspended_;
    }
    ~OutOfBody() {
      checker_.body_ = saved_;
      if (saved_)
        --checker_.suspended_;
    }
    OutOfBody(const OutOfBody&) = delete;
    OutOfBody& operator=(const OutOfBody&) = delete;

  private:
    Checker& checker_;
    Body* saved_;
  };

  // ---- traits.cpp ----
  const void* headOf(Type* type) const;
  void indexImpl(ImplInfo& info);
  void syncImpls();
  void checkImpl(ImplInfo& info);
  void checkImplMethod(ImplInfo& info, FunctionItem* method, FunctionItem* declared);
  void checkTrait(TraitItem* item);
  void supertraitsOf(TraitItem* trait, SmallVectorImpl<TraitItem*>& all);
  Item* traitMember(TraitItem* trait, Name name);
  Item* implMember(ImplInfo& info, Name name);
  bool matchPattern(Type* pattern, Type* type, llvm::MutableArrayRef<Type*> args);
  bool findImpl(TraitItem* trait, Type* self, ArrayRef<Type*> traitArgs, ImplMatch& match);
  void openArgs(ArrayRef<Parameter*> generics, SmallVectorImpl<Type*>& args);
  enum class Answer : uint8_t { No, Yes, Unknown };
  Answer implements(Type* type, const TraitRef& trait, unsigned depth = 0);
  Answer isStructurally(Type* type, LangTrait trait, unsigned depth,
                        llvm::SmallPtrSetImpl<Type*>& seen);
  ArrayRef<TraitRef> boundsOf(Type* paramOrProjection);
  bool boundImplies(const TraitRef& bound, const TraitRef& wanted, Type* self, unsigned depth = 0);
  LangTrait langTrait(TraitItem* item);
  TraitItem* lang(LangTrait trait) const { return langTraits_[size_t(trait)]; }
  Member findMember(Type* type, Name name, bool functionsOnly);
  Member findInBounds(Type* type, Name name);
  ArrayRef<FunctionItem*> nativesOf(StringRef owner, Name name);
  void nativeOwners(Type* type, SmallVectorImpl<std::string>& owners);
  void reportNoMethod(Span span, Type* type, Name name);
  void checkBounds(ArrayRef<Parameter*> generics, ArrayRef<Type*> args, Type* self, Span span);
  void solveBound(const Body::Bound& bound, bool last);
  bool isMemberName(Type* type);
  bool isOpaqueHandle(Type* type);
  void readCodecAttributes(ArrayRef<FieldDecl> fields);
  void refuseCodecAttributes(ArrayRef<Attribute> attributes);
  bool hasZero(Type* type, llvm::SmallPtrSetImpl<Type*>& seen);
  void checkCodecFields(Type* type, Span span, llvm::SmallPtrSetImpl<Type*>& seen);
  bool hasTextForm(Type* type, FormatSpec::Kind kind, llvm::SmallPtrSetImpl<Type*>& seen);

  // ---- bodies.cpp ----
  void queueBody(FunctionItem* item);
  void drainQueue();
  void checkFunctionBody(FunctionItem* item);
  void checkConstBody(Item* item);
  void beginBody(Body& body, Item* item, const ItemContext& context);
  void endBody(Body& body);
  void declareParameters(FunctionItem* item, const Signature& signature);
  void zonk(Body& body);
  void noteType(Type** place) {
    if ((*place)->has(Type::HasInfer))
      body_->types.push_back(place);
  }
  ArrayRef<Type*> noteTypes(ArrayRef<Type*> list);
  Type* settle(Type* type);
  Type* normaliseDeep(Type* type);
  Type* setType(Expr* expr, Type* type) {
    expr->type = type;
    noteType(&expr->type);
    return type;
  }
  void solveDeferred(Type* wanted = nullptr, bool defaults = false);
  bool waitsForNumber(Expr* expr, Type* receiver);
  Type* shallow(Type* type) { return unifier_.shallow(type); }
  /// Solved as far as it can be, with deferred work run if need be.
  Type* known(Type* type);
  std::string print(Type* type) { return types::print(type, &unifier_); }
  void checkDiscarded(Expr* expr);
  void reportTooDeep(Span span);

  // locals
  void declareLocal(Variable* variable);
  bool isLocal(Name name) const {
    auto found = localTop_.find(name);
    return body_ && found != localTop_.end() && found->second >= 0;
  }
  size_t openScope() const { return locals_.size(); }
  void closeScope(size_t mark);
  void enterRegion(size_t& savedFloor);
  void leaveRegion(size_t savedFloor);

  // ---- expressions.cpp ----
  Type* check(Expr* expr, Type* expected);
  Type* checkKind(Expr* expr, Type* expected);
  /// Checks and converts: the expression goes to a place of this type.
  void checkAgainst(Expr* expr, Type* expected);
  bool coerce(Expr* expr, Type* actual, Type* expected);
  bool coercible(Type* actual, Type* expected);
  /// A value of its own: no reference to a place.
  Type* checkValue(Expr* expr, Type* expected);
  Type* withoutReference(Expr* expr, Type* type, StringRef what);
  Type* checkInt(IntExpr* expr, Type* expected, bool negative);
  bool fitsInteger(uint64_t value, bool negative, Type* type);
  void literalRange(Expr* expr, bool negative, Type* type);
  Type* checkTuple(TupleExpr* expr, Type* expected);
  Type* checkArray(ArrayExpr* expr, Type* expected);
  Type* checkRepeat(RepeatExpr* expr, Type* expected);
  Type* checkMap(MapExpr* expr, Type* expected);
  Type* checkSet(SetExpr* expr, Type* expected);
  Type* checkStructLiteral(StructLiteralExpr* expr, Type* expected);
  Type* checkField(FieldExpr* expr, Type* expected);
  Type* fieldOf(FieldExpr* expr, Type* object);
  Type* checkTupleField(TupleFieldExpr* expr);
  Type* checkIndex(IndexExpr* expr, bool forWrite);
  Type* checkRange(RangeExpr* expr, Type* expected);
  Type* checkCast(CastExpr* expr);
  void finishCast(CastExpr* expr);
  Type* checkPath(PathExpr* expr, Type* expected);

  // ---- lengths.cpp ----
  /// As many elements as an array may have.
  static constexpr uint64_t kMaxLength = uint64_t(1) << 32;
  std::optional<uint64_t> evaluateLength(Expr* expr, const ItemContext& context, bool& silent);
  void examineRegion(Expr* expr, Type* wanted, const ItemContext& context, bool& silent);
  ConstItem* constantOf(PathExpr* path, const ItemContext& context, bool& silent);

  // ---- integers.cpp ----
  static std::string textOf(Wide value);
  std::optional<Integer> evaluateInteger(Expr* expr, Type* wanted, const ItemContext& context,
                                         bool& silent, unsigned depth);
  std::optional<Integer> integerOfBinary(BinaryExpr* expr, Type* wanted, const ItemContext& context,
                                         bool& silent, unsigned depth);
  std::optional<Integer> integerOfPath(PathExpr* path, const ItemContext& context, bool& silent,
                                       unsigned depth);
  std::optional<Integer> integerOfRegion(Expr* expr, Type* wanted, const ItemContext& context,
                                         bool& silent);
  Type* typeOfNumericPath(const Path& path, const ItemContext& context);

  // ---- constants.cpp ----
  Parameter* constParameter(Name name, const ItemContext& context);
  void resolveConstParameter(Parameter* parameter, const GenericParameter& written,
                             const ItemContext& context);
  Type* useConstParameter(Parameter* parameter, Span span, const ItemContext& context);
  Type* lengthArgument(Expr* expr, const ItemContext& context, bool& silent);
  std::optional<uint64_t> evaluateConst(Expr* expr, Type* wanted, const ItemContext& context,
                                        bool& silent, unsigned depth);
  std::optional<uint64_t> evaluateComparison(BinaryExpr* expr, const ItemContext& context,
                                             bool& silent, unsigned depth);
  Type* constArgument(Expr* expr, Parameter* parameter, const ItemContext& context);
  Type* handOn(Parameter* from, Parameter* to, Span span, const ItemContext& context);
  Type* genericArgument(const GenericArg& arg, Parameter* parameter, const ItemContext& context,
                        TypeUse use);
  void noteConstArgument(Parameter* parameter, Type* value, Span span);
  void noteOpened(ArrayRef<Parameter*> generics, ArrayRef<Type*> args, Span span, StringRef name);
  bool reportOpenConstArgument(Body& body);
  void judgeConstArguments(Body& body);
  void judgeLengths();

  // ---- control_flow.cpp ----
  Type* checkBlock(BlockExpr* expr, Type* expected, bool discarded);
  void checkStatement(Stmt* stmt, bool& diverges);
  void checkLet(LetStmt* stmt, bool& diverges);
  Type* checkDiscardedExpr(Expr* expr);
  Type* checkIf(IfExpr* expr, Type* expected, bool discarded);
  void checkConditions(ArrayRef<Expr*> conditions);
  Type* checkMatch(MatchExpr* expr, Type* expected, bool discarded);
  Type* checkWhile(WhileExpr* expr);
  Type* checkLoop(LoopExpr* expr, Type* expected);
  Type* checkFor(ForExpr* expr);
  Type* elementOf(Expr* iterable, Type* type, ForExpr* loop);
  Type* checkReturn(ReturnExpr* expr);
  Type* checkBreak(BreakExpr* expr);
  Type* checkContinue(ContinueExpr* expr);
  Type* checkTry(TryExpr* expr);
  Loop* findLoop(const Ident& label, Span span, StringRef what);
  /// The common type of two branches; reports at `expr` when there is none.
  Type* join(Type* first, Type* second, Expr* expr);

  // ---- operators.cpp ----
  Type* checkUnary(UnaryExpr* expr, Type* expected);
  Type* checkBorrow(BorrowExpr* expr, Type* expected);
  Type* checkBinary(BinaryExpr* expr, Type* expected);
  Type* binaryType(BinaryExpr* expr, Type* left, Type* expected);
  Type* operatorType(BinaryOp op, Span span, Expr* left, Type* leftType, Expr* right,
                     Type*& rightType, bool rightChecked, Target& method);
  bool userOperator(BinaryOp op, Type* left, Expr* right, Type*& rightType, bool rightChecked,
                    Target& method, Type*& result);
  Type* checkAssign(AssignExpr* expr);
  void checkWritable(Expr* place, bool borrow, bool topLevel = true);
  bool isPlace(Expr* expr);
  bool isKept(Expr* place);
  void finishLostWrites(Body& body);
  Variable* rootVariable(Expr* expr);
  void noteWrite(Variable* variable, Span span);
  void finishComparison(const Body::Operation& operation);

  // ---- borrows.cpp ----
  void addBorrow(Expr* value, Name by, Span span);
  void reportConflict(Variable* root, Span span, bool writes);
  void checkBorrowsOfCall(FunctionItem* function, Expr* receiver, bool receiverMutable,
                          ArrayRef<Expr*> ordered, Expr* callee = nullptr);
  ClosureExpr* closureOf(Expr* expr);
  void finishClosureUses(Body& body);

  // ---- flow.cpp ----
  void noteCursor(Expr* expr);
  void checkFlow(Body& body);

  // ---- heaps.cpp ----
  void noteHeap(Type* heap, Span span);
  void checkHeap(Type* heap, Span span);

  // ---- paths.cpp ----
  ValuePath resolveValue(const Path& path, Type* expected);
  ValuePath associated(Type* type, const PathSegment& segment, Span span);
  Variable* findLocal(Name name, Span span, bool report);
  Variable* useVariable(const Local& local, Span span, bool report);
  void fillTarget(Target& target, const ValuePath& value, ArrayRef<Type*> typeArgs);
  bool checkVisible(const Item* item, StringRef what, Span span);
  ValuePath fromBinding(const Binding& binding, const PathSegment& segment, Span span,
                        Type* expected);
  ValuePath variantValue(EnumItem* item, uint32_t index, Type* expected);
  /// `i64::MAX` and its kin: the value in `bits`, its type in `kind`.
  static bool numericConstant(Type* type, StringRef name, uint64_t& bits, Kind& kind);
  void noteConstUse(Item* item);

  // ---- calls.cpp ----
  Type* checkCall(CallExpr* expr, Type* expected);
  Type* checkMethodCall(MethodCallExpr* expr, Type* expected);
  Type* finishMethodCall(MethodCallExpr* expr, Type* receiver, Type* expected,
                         uint8_t argumentsChecked);
  /// `range(low..high)` of an ordered container: the library's method for the shape of the range,
  /// and its bounds as arguments. None: reported.
  std::optional<Member> takeRangeApart(MethodCallExpr* expr, Type* type,
                                       SmallVectorImpl<Argument>& bounds);
  struct CallSite {
    Span span;  // of the whole call
    Expr* node; // the call
    StringRef name;
    ArrayRef<Argument> arguments;
    Expr* receiver = nullptr; // then the first parameter is taken
    Type* expected = nullptr;
    uint8_t checked = 0; // arguments that have types already: 1 all but closures, 2 all
  };
  /// Checks arguments against a function; fills `ordered` and `typeArgs`.
  Type* callFunction(const CallSite& site, FunctionItem* function, const ValuePath& value,
                     ArrayRef<Expr*>& ordered, Target& target);
  FunctionItem* pickOverload(const CallSite& site, ArrayRef<FunctionItem*> overloads,
                             Type* receiver, uint8_t& checked);
  bool couldMatch(Type* pattern, Type* type);
  bool hasReceiver(FunctionItem* function);
  StructItem* errorItem();
  bool orderArguments(const CallSite& site, FunctionItem* function, size_t skip,
                      SmallVectorImpl<Expr*>& ordered);
  Type* callConstructor(CallExpr* expr, const ValuePath& value, Type* expected);
  Type* callValue(CallExpr* expr, Type* calleeType, Type* expected);
  void checkArgument(Expr* argument, Type* parameter, StringRef name, uint8_t checked,
                     bool isComptime, ClosureFate fate = ClosureFate::Kept);
  void checkArgumentsAlone(ArrayRef<Argument> arguments, bool closures = true);
  SmallVector<Type*, 4> openTypeArgs(ArrayRef<Parameter*> generics, const ValuePath& value,
                                     Span span, StringRef name);
  Type* checkKnownCall(KnownCallExpr* expr, Type* expected);
  Type* checkTypeInfo(CallExpr* expr, const ValuePath& value);
  Type* checkPipe(PipeExpr* expr, Type* expected);
  bool checkConversion(MethodCallExpr* expr, Type* receiver, Type* expected, Type*& result);
  static bool leavesFrame(Expr* body);

  // ---- data_last.cpp ----
  Answer resembles(Expr* argument, Type* parameter);
  bool isDataLast(CallExpr* call, FunctionItem* function, ArrayRef<FunctionItem*> overloads);

  // ---- parallel.cpp ----
  void noteParallel(const FunctionItem* function, ArrayRef<Expr*> ordered, size_t skip);
  bool isParallel(const FunctionItem* function);
  void checkParallel();

  // ---- closures.cpp ----
  Type* checkClosure(ClosureExpr* expr, Type* expected, ClosureFate fate);
  ClosureFate fateOfArguments(const FunctionItem* function);
  void checkGivenClosures(); // fates.cpp
  void checkCaptured(const Frame& frame, const Variable* variable, Span span);
  void settleDiverging(Body& body);
  void finishClosures(Body& body);

  // ---- patterns.cpp ----
  struct PatternScope {
    bool declare = true;
    SmallVector<Variable**, 8> bound; // in order of appearance: of bindings, and of rests
    bool isParameter = false;
    bool isLet = false; // of a name alone
  };
  void noteBound(Variable*& variable, PatternScope& scope);
  void checkPattern(Pattern* pattern, Type* type, PatternScope& scope);
  void checkPattern(Pattern* pattern, Type* type) {
    PatternScope scope;
    checkPattern(pattern, type, scope);
  }
  void bindVariable(Variable* variable, Type* type, PatternScope& scope);
  bool resolvePatternPath(const Path& path, Type* type, Target& target, StructShape wanted);
  Type* patternLiteral(Expr* value, bool negative, Type* type);
  void checkOr(OrPattern* pattern, Type* type, PatternScope& scope);

  // ---- exhaustiveness.cpp ----
  void checkExhaustive(MatchExpr* expr);
  bool isTotal(Pattern* pattern, Type* type, std::string* missing);

  // ---- references, constants, regions ----
  void pushRegion(Expr* node, RegionKind kind, Type* type, bool typeLevel);
  void finishRegions(Body& body);
  bool inRegion() const { return body_->regionDepth != 0 || body_->isComptimeFn; }
  void orderConstants(Program& program);
  void visitConstant(Item* first, Program& program);
  void checkFoldable(Expr* expr, unsigned depth = 0);

  // ---- reflect.cpp ----
  bool reflect(Type* type, Span span, SmallVectorImpl<std::pair<StringRef, StringRef>>& pairs);
  bool checkReflectiveFor(ForExpr* expr);
  Type* checkFieldOf(CallExpr* expr, Type* expected);
  Expr* takenArm(MatchExpr* expr);

  ProgramInput& input_;
  Engine& engine_;
  ast::Context& context_;
  resolve::Resolver resolver_;
  TypeTable types_;
  types::Unifier unifier_;
  const llvm::DenseMap<const Expr*, Expr*>& folded_;
  llvm::BumpPtrAllocator arena_;
  std::vector<std::unique_ptr<llvm::DenseMap<Name, uint32_t>>> indexes_;
  LangItems lang_;
  TraitItem* langTraits_[size_t(LangTrait::None)] = {};
  llvm::DenseMap<Name, Kind> builtinNames_;
  llvm::DenseMap<std::pair<const void*, Name>, uint32_t> members_;
  struct MemberEntry {
    Item* item;
    ImplInfo* impl;
    uint32_t next;
    bool fromTrait;
  };
  std::vector<MemberEntry> memberEntries_;
  llvm::DenseMap<std::pair<const void*, const void*>, ImplInfo*> traitImpls_; // (trait, head)
  llvm::DenseMap<std::pair<const void*, const void*>, char> hookTypes_;
  llvm::DenseMap<std::pair<const char*, Name>, ArrayRef<FunctionItem*>> natives_;
  llvm::DenseMap<Type*, SmallVector<TraitRef, 2>> extraBounds_;
  llvm::StringMap<char> ownerKeys_;
  std::vector<FunctionItem*> queue_;
  std::vector<Item*> constants_;
  std::vector<FunctionItem*> functions_;
  std::vector<Region> regions_;
  std::vector<Local> locals_;
  llvm::DenseMap<Name, int32_t> localTop_;
  Body* body_ = nullptr;
  llvm::SmallPtrSet<Variable*, 8> lateVariables_; // declared without a value
  struct ParallelCallback {
    Expr* argument;
    StringRef function;
  };
  std::vector<ParallelCallback> parallel_;    // judged when all bodies are checked
  std::vector<Item*> capturing_;              // bodies whose closures capture references
  std::vector<ConstArgument> constArguments_; // of all items, for judgeLengths
  std::vector<std::pair<Type*, Span>> heaps_; // in signatures and fields, to be judged
  llvm::SmallPtrSet<Type*, 8> judgedHeaps_;
  llvm::SmallPtrSet<TraitItem*, 4>
      blanketTraits_; // of impls that were refused: what they lack is silent
  llvm::DenseSet<Name> blanketMembers_;
  unsigned depth_ = 0;
  std::vector<uint32_t> damage_; // where the parser reported errors, sorted
  unsigned suspended_ = 0;       // bodies that wait while an item is described
  unsigned initialisers_ = 0;    // of constants that are being evaluated
  unsigned unrolling_ = 0;       // inside the unrolled body of a loop over typeInfo
  llvm::SmallPtrSet<FunctionItem*, 8> instances_;
  bool reportedDepth_ = false;
  bool lowering_ = false;
  std::vector<std::unique_ptr<SmallVector<Type*, 4>>> keptLists_;

  // names used all the time
  Name selfName_, selfTypeName_, underscore_, intoName_, tryIntoName_, fromName_, nextName_,
      typeInfoName_, fieldOfName_, toStringName_, forName_, rangeName_;

  friend class Program;
  friend class Effects;
  friend class Fates;
  friend class FlowWalk;
  friend class Holdings;
};

} // namespace gos::check
