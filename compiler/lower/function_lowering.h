#pragma once
// Lowers one function instance. One class, its chapters in files of their own: expressions,
// operators, places, calls, closures, control_flow, matches, formatting, literals, intrinsics.

#include "compiler/lower/emitter.h"
#include "compiler/lower/module_lowering.h"
#include "compiler/lower/walk.h"

#include "llvm/ADT/DenseSet.h"

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace gos::lower {

using ast::Expr;
using vm::LayoutId;
using vm::Opcode;

/// A value that has been computed, or is known.
struct Operand {
  enum class Kind : uint8_t {
    Immediate, // a scalar that fits 32 bits; also every value of a unit type
    Local,     // the register of a variable: read it before something writes the variable
    Temporary, // a register of our own: consume or drop it
  };
  Kind kind = Kind::Immediate;
  bool lastUse = false;    // Local: the variable is not read again, its value may be taken
  bool isConstant = false; // Temporary: a shared constant, nothing to release
  Register reg = Register::None;
  int64_t value = 0;
  LayoutId layout{};
  const ast::Variable* variable = nullptr; // Local

  bool isImmediate() const { return kind == Kind::Immediate; }
  bool isTemporary() const { return kind == Kind::Temporary; }
  bool isLocal() const { return kind == Kind::Local; }
};

/// Where the value of an expression goes.
struct Destination {
  enum class Kind : uint8_t { Discard, Into, Return };
  Kind kind = Kind::Discard;
  Register reg = Register::None;
  static Destination discard() { return {}; }
  static Destination into(Register r) { return {Kind::Into, r}; }
  static Destination ret() { return {Kind::Return}; }
};

/// Where a variable lives.
struct Local {
  enum class Storage : uint8_t {
    Register,   // the value itself
    Cell,       // in a cell that others may share
    CachedCell, // a `&mut` parameter: the value is taken out of the cell while the body runs
  };
  Storage storage = Storage::Register;
  Register value = Register::None;
  Register cell = Register::None;
  Type* type = nullptr; // without references
  LayoutId layout{};    // of the value
};

struct PlaceStep {
  enum class Kind : uint8_t { Field, Element, Window, MapEntry };
  Kind kind = Kind::Field;
  uint32_t field = 0;
  bool mustExist = false; // MapEntry: `m[k]`, without a default
  Operand index;          // Element; low bound of a Window; key of a MapEntry
  Operand high;           // Window; default of a MapEntry
  LayoutId layout{};      // of what the step leads to
  Type* type = nullptr;
  Span span;
};

/// Somewhere that can be written. Its index expressions have been evaluated, nothing is taken yet.
struct Place {
  enum class Root : uint8_t { Register, Cell };
  Root root = Root::Register;
  Register reg = Register::None; // of the value, or of the cell
  bool ownsRegister = false;     // a temporary made for the place
  const Local* cached = nullptr; // a CachedCell parameter whose whole value this is (root Register)
  LayoutId rootLayout{};
  Type* rootType = nullptr;
  llvm::SmallVector<PlaceStep, 4> steps;

  /// Ends in `xs[i].f`: for a scalar f there are instructions.
  bool endsInElementField() const {
    size_t n = steps.size();
    return n >= 2 && steps[n - 2].kind == PlaceStep::Kind::Element &&
           steps[n - 1].kind == PlaceStep::Kind::Field && steps[n - 1].field < 256;
  }
  LayoutId layout() const { return steps.empty() ? rootLayout : steps.back().layout; }
  Type* type() const { return steps.empty() ? rootType : steps.back().type; }
};

/// A place whose value has been taken out; `closePlace` puts it back.
struct OpenPlace {
  Register reg = Register::None;       // holds the value
  llvm::SmallVector<Register, 4> path; // the containers on the way; the first is the root's value
  bool isRoot = false;                 // reg is the root register itself
};

class FunctionLowering {
public:
  FunctionLowering(ModuleLowering& module, const Instance& instance, vm::Function& out);

  void lower();

private:
  using OperandList = llvm::SmallVectorImpl<Operand>;

  // ---- the function (function_lowering.cpp)
  // -------------------------------------------------------
  void lowerFunction(const ast::FunctionItem* function);
  void lowerClosure(const ast::ClosureExpr* closure);
  void lowerValue(Expr* value, Type* type); // a region or a global
  void lowerThunk();
  void lowerSession(const ast::FunctionItem* main);
  /// The global of a variable that a line of a session binds for later ones.
  std::optional<uint32_t> sessionGlobal(const ast::Variable* variable) const;
  void finish();
  void bindParameter(const ast::Pattern* pattern, Type* type, Register reg);

  // ---- types and layouts
  // --------------------------------------------------------------------------
  Type* concrete(Type* type);
  Type* typeOf(const Expr* expr) { return concrete(expr->type); }
  Type* valueType(const Expr* expr) { return typeOf(expr)->withoutReferences(); }
  LayoutId layoutOf(Type* type) { return layouts().of(type); }
  LayoutId layoutOf(const Expr* expr) { return layouts().of(valueType(expr)); }
  Layouts& layouts() { return module_.layouts(); }
  const vm::Layout& layout(LayoutId id) { return layouts()[id]; }
  bool isReference(LayoutId id) { return layouts().isReference(id); }
  bool isUnit(LayoutId id) {
    const vm::Layout& l = layouts()[id];
    return l.kind == vm::LayoutKind::Int && l.scalar == vm::ScalarKind::Unit;
  }
  bool hasBytes(LayoutId id) { return layouts()[id].byteStorage; }
  bool isNever(const Expr* expr) { return expr->type && expr->type->kind == types::Kind::Never; }
  /// What stands in the expression's place after folds, parentheses and pipes looked through.
  const Expr* actual(const Expr* expr);

  // ---- registers
  // ----------------------------------------------------------------------------------
  Register acquire(LayoutId layout) { return registers_.acquire(layout, isReference(layout)); }
  void release(Register r) { registers_.release(r); }
  Operand temporary(Register r) {
    Operand operand;
    operand.kind = Operand::Kind::Temporary;
    operand.reg = r;
    operand.layout = registers_.layout(r);
    return operand;
  }
  Operand immediate(int64_t value, LayoutId layout) {
    Operand operand;
    operand.value = value;
    operand.layout = layout;
    return operand;
  }
  Operand unit() { return immediate(0, layouts().unit()); }
  /// A register that holds the operand; an immediate is loaded (outside the loops when inside one).
  Register inRegister(Operand& operand);
  /// A register whose reference may be taken: a temporary, or a local at its last use.
  Register owned(Operand& operand);
  /// The operand has been taken by the instruction just emitted: the register is empty.
  void taken(Operand& operand);
  /// The operand is not needed any more.
  void drop(Operand& operand);
  /// Consumes the operand.
  void moveInto(Register dest, Operand& operand);
  /// Consumes the operand into a temporary of its own.
  Operand copied(Operand operand);
  /// A register that reads the same number in every turn of the loops around.
  Register hoistedConstant(uint64_t bits, LayoutId layout);
  void loadConstant(Register dest, uint64_t bits);

  // ---- expressions
  // --------------------------------------------------------------------------------
  Operand operand(const Expr* expr);
  void into(const Expr* expr, Register dest);
  void discard(const Expr* expr);
  void emit(const Expr* expr, Destination target);
  /// Delivers a computed value.
  void deliver(Operand operand, Destination target);
  /// The general case of `into`, by kind of expression; the layouts agree.
  void intoSame(const Expr* expr, Register dest);
  /// The value, with the layout that a parameter, field or element has (Array to Slice and kin).
  Operand operandAs(const Expr* expr, LayoutId layout);
  Operand converted(Operand operand, LayoutId layout);
  /// Evaluates in order; a variable that a later one may change is copied first.
  void operands(llvm::ArrayRef<const Expr*> exprs, OperandList& out,
                llvm::ArrayRef<LayoutId> layouts = {});
  /// Makes an operand safe against what the later expressions do.
  void protect(Operand& operand, llvm::ArrayRef<const Expr*> later);
  bool mayWriteVariables(const Expr* expr);
  std::optional<int64_t> constantInteger(const Expr* expr, unsigned depth = 0);

  Operand pathOperand(const ast::PathExpr* expr);
  uint64_t constParameter(const ast::Target& target);
  Operand variableOperand(const ast::Variable* variable, const Expr* use);
  Operand constantOperand(ast::Item* item, const Environment& environment, Type* type);
  bool isPlainValue(const Expr* expr, unsigned depth = 0);
  Register globalCell(ast::Item* item, const Environment& environment, LayoutId layout);
  Operand functionValue(const Selected& selected, Type* type, Span span);
  Operand fieldOperand(const Expr* object, uint32_t index, LayoutId layout);
  void intoField(const Expr* object, uint32_t index, Register dest);
  void intoIndex(const ast::IndexExpr* expr, Register dest);
  void intoSlice(const ast::IndexExpr* expr, const ast::RangeExpr* range, Register dest);
  void intoTry(const ast::TryExpr* expr, Register dest);
  void intoCast(const ast::CastExpr* expr, Register dest);
  void castTo(Operand value, Type* from, Type* to, Register dest);

  // ---- literals
  // -----------------------------------------------------------------------------------
  void intoStruct(const ast::StructLiteralExpr* expr, Register dest);
  void intoElements(llvm::ArrayRef<Expr*> elements, Register dest);
  void intoRepeat(const ast::RepeatExpr* expr, Register dest);
  void intoMap(const ast::MapExpr* expr, Register dest);
  void intoSet(const ast::SetExpr* expr, Register dest);
  void intoRange(const ast::RangeExpr* expr, Register dest);
  void intoString(llvm::StringRef text, Register dest);
  /// Fills the outgoing slots from these operands and consumes them.
  void arguments(llvm::MutableArrayRef<Operand> operands);
  void argument(uint32_t slot, Operand& operand);
  /// A struct, tuple or variant of the layout from its fields.
  void construct(LayoutId layout, uint32_t variant, llvm::MutableArrayRef<Operand> fields,
                 Register dest);
  void pushElement(Register vec, Operand& value);

  // ---- operators
  // ----------------------------------------------------------------------------------
  void intoUnary(const ast::UnaryExpr* expr, Register dest);
  void intoBinary(const ast::BinaryExpr* expr, Register dest);
  void arithmetic(ast::BinaryOp op, Type* type, Operand left, Operand right, Type* rightType,
                  Register dest);
  void narrow(ast::BinaryOp op, Type* type, Register reg);
  void comparison(ast::BinaryOp op, Type* type, Operand left, Operand right, Register dest);
  void concat(const ast::BinaryExpr* expr, Register dest);
  const Expr* asText(const Expr* written);
  /// -1, 0 or 1.
  void compareInto(Type* type, Operand left, Operand right, Register dest);
  void equalInto(Type* type, Operand left, Operand right, Register dest);
  /// Jumps to `target` when the condition is `when`; falls through otherwise.
  void branch(const Expr* expr, Label target, bool when);
  void branchOn(ast::BinaryOp op, Type* type, Operand& left, Operand& right, Label target,
                bool when);
  Operand methodResult(const ast::Target& target, llvm::ArrayRef<const Expr*> args,
                       LayoutId layout);

  // ---- places
  // -------------------------------------------------------------------------------------
  Place place(const Expr* expr);
  bool isPlace(const Expr* expr);
  OpenPlace openPlace(Place& place);
  /// The container that the last step looks into.
  OpenPlace openParent(Place& place);
  void closePlace(Place& place, OpenPlace& open);
  void closeParent(Place& place, OpenPlace& open);
  void loadStep(Register container, PlaceStep& step, Register dest);
  void storeStep(Register container, PlaceStep& step, Operand& value);
  void storePlace(Place& place, Operand value);
  Operand loadPlace(Place& place);
  void dropPlace(Place& place);
  Register takeStep(Register container, PlaceStep& step);
  void putStep(Register container, PlaceStep& step, Register value);
  void intoAssign(const ast::AssignExpr* expr);
  void assign(const Expr* target, const Expr* value);
  void assignOperand(const Expr* target, Operand value);
  void compound(ast::BinaryOp op, const Expr* target, const Expr* value, const ast::Target* method);
  bool writesInPlace(Register dest);

  // ---- calls
  // --------------------------------------------------------------------------------------
  struct CallArgument {
    const Expr* expr = nullptr;
    Type* parameter = nullptr; // concrete
    bool isInOut = false;
    Operand value;
    Place place;
    OpenPlace open;
    Register cell = Register::None;
    bool sharesCell =
        false; // the place is a variable in a cell, or a parameter's cell: no write back
    bool opened = false;
    bool isWindow = false;
    LayoutId want{};
    Register retyped = Register::None;
  };
  void intoCall(const ast::CallExpr* expr, Register dest);
  void intoMethodCall(const ast::MethodCallExpr* expr, Register dest);
  void callFunction(const Selected& selected, llvm::ArrayRef<const Expr*> written,
                    llvm::ArrayRef<const Expr*> ordered, llvm::StringRef spelling, Register dest);
  void callSelected(const Selected& selected, llvm::MutableArrayRef<CallArgument> args,
                    llvm::StringRef spelling, Register dest);
  void callClosure(const Expr* callee, llvm::ArrayRef<const Expr*> written,
                   llvm::ArrayRef<const Expr*> ordered, Register dest);
  /// Calls with operands already evaluated (hooks, conversions): no `&mut` parameters.
  void callWithOperands(const Selected& selected, llvm::MutableArrayRef<Operand> operands,
                        Register dest);
  void structuralCall(const Selected& selected, llvm::ArrayRef<const Expr*> ordered, Register dest);
  void evaluateArguments(llvm::MutableArrayRef<CallArgument> args,
                         llvm::ArrayRef<const Expr*> written);
  void openArguments(llvm::MutableArrayRef<CallArgument> args, bool native);
  void checkWindows(llvm::MutableArrayRef<CallArgument> args);
  void closeArguments(llvm::MutableArrayRef<CallArgument> args, bool native);
  Selected select(const ast::Target& target);
  std::optional<Selected> forwarded(const Selected& selected);
  Environment calleeEnvironment(const Selected& selected);
  std::string spellingOf(const Expr* callee);
  Operand defaultValue(Type* type);
  Operand standardError(Operand message);

  // ---- intrinsics
  // ---------------------------------------------------------------------------------
  /// Emits an opcode for a builtin that has one; false when it is to be called.
  bool intrinsic(llvm::StringRef path, const Selected& selected, llvm::ArrayRef<const Expr*> args,
                 Register dest);
  void nativeCall(llvm::StringRef path, llvm::MutableArrayRef<Operand> operands, LayoutId result,
                  Register dest, llvm::StringRef spelling);

  // ---- closures
  // -----------------------------------------------------------------------------------
  void intoClosure(const ast::ClosureExpr* expr, Register dest);
  /// Does a closure hold this variable by its cell?
  bool capturedByCell(const ast::Variable* variable);

  // ---- statements and control flow
  // ------------------------------------------------------------------
  void block(const ast::BlockExpr* block, Destination target);
  void statement(const ast::Stmt* stmt);
  void letStatement(const ast::LetStmt* stmt);
  void ifExpression(const ast::IfExpr* expr, Destination target);
  void conditions(llvm::ArrayRef<Expr*> conditions, Label otherwise);
  void whileLoop(const ast::WhileExpr* expr);
  void loopLoop(const ast::LoopExpr* expr, Destination target);
  void forLoop(const ast::ForExpr* expr);
  void forRange(const ast::ForExpr* expr, const ast::RangeExpr* range);
  void forRangeDown(const ast::ForExpr* expr, const ast::RangeExpr* range);
  void forStoredRange(const ast::ForExpr* expr, const Expr* range);
  /// `counter` takes the position of each element (enumerate).
  void forSequence(const ast::ForExpr* expr, const Expr* sequence, const ast::Pattern* element,
                   const ast::Pattern* counter);
  void
  forEntries(const ast::ForExpr* expr, const Expr* iterable, llvm::StringRef lengthPath,
             llvm::function_ref<void(llvm::function_ref<Operand(llvm::StringRef, LayoutId)>)> body);
  void forMap(const ast::ForExpr* expr, const Expr* map);
  void forSet(const ast::ForExpr* expr, const Expr* set);
  void forString(const ast::ForExpr* expr, const Expr* text, const ast::Pattern* element,
                 const ast::Pattern* counter);
  void forIterator(const ast::ForExpr* expr);
  void forUnrolled(const ast::ForExpr* expr);
  /// `xs.iter().enumerate()`, `(a..b).rev()` and kin, without the cursor they describe.
  bool forPeeled(const ast::ForExpr* expr, const Expr* iterable);
  /// The body for each number from `counter` to before `limit`; the registers are ours. The first
  /// test is done.
  void countedLoop(const ast::ForExpr* expr, Register counter, Register limit, Label end,
                   bool mayWrap, llvm::function_ref<void()> bind);
  /// A value that the body cannot change under the loop's feet.
  Operand snapshot(const ast::ForExpr* expr, const Expr* iterable);
  bool writesVariable(const Expr* expr, const ast::Variable* variable);
  /// Binds the loop's pattern to a number of its own, or straight to the counter.
  bool bindsCounter(const ast::Pattern* pattern);
  void breakOrContinue(const Expr* expr, const Expr* loop, bool isBreak, const Expr* value);
  void returnValue(const Expr* value);
  /// Ends the function with this value: runs what is deferred, writes `&mut` parameters back.
  void emitReturn(Operand value);
  void rawReturn(Operand value);

  // ---- scopes
  // -------------------------------------------------------------------------------------
  struct ExitAction {
    const Expr* deferred = nullptr; // `defer`
    // or: a `let r = &mut place`: the cell's content goes back
    Register cell = Register::None;
    Place place;
  };
  struct Scope {
    llvm::SmallVector<const ast::Variable*, 4> variables;
    llvm::SmallVector<Register, 4> owned; // registers to release at the end
    std::vector<ExitAction> actions;
  };
  struct Loop {
    const Expr* node = nullptr;
    Label breakLabel = Label::None;
    Label continueLabel = Label::None;
    Destination target;
    size_t scopes = 0;      // how many there were outside
    bool isCounted = false; // continueLabel lies ahead
  };
  void pushScope();
  void popScope();
  /// The code of leaving the scopes from the innermost down to (not including) `depth`.
  void leaveScopes(size_t depth, bool releaseLocals);
  void runActions(Scope& scope);
  bool hasExitActions() const;
  bool hasActionsSince(size_t depth) const;

  const Local* find(const ast::Variable* variable) const;
  Local& declare(const ast::Variable* variable, Type* type, Local::Storage storage);
  /// A variable gets this value, in a register or a cell as it needs.
  void bindVariable(const ast::Variable* variable, Type* type, Operand value);
  bool needsCell(const ast::Variable* variable) const;
  void flush(const Local& local);
  void reload(const Local& local);

  // ---- patterns
  // -----------------------------------------------------------------------------------
  /// The value a pattern looks at: a register, or the elements of a tuple that was never built.
  struct Subject {
    Operand value;
    Type* type = nullptr;
    std::vector<Subject> parts; // of a tuple literal
    bool isSplit = false;
  };
  void matchExpression(const ast::MatchExpr* expr, Destination target);
  bool switchOnVariants(const ast::MatchExpr* expr, Subject& subject, llvm::ArrayRef<Label> tests,
                        llvm::ArrayRef<Label> bodies, Label none);
  bool switchOnIntegers(const ast::MatchExpr* expr, Subject& subject, llvm::ArrayRef<Label> tests,
                        Label none);
  /// Tests and binds; jumps to `otherwise` when the value does not fit. With Label::None the
  /// pattern cannot fail.
  void matchPattern(const ast::Pattern* pattern, Subject& subject, Label otherwise,
                    bool tagKnown = false);
  void matchVariant(const ast::Target& target, llvm::ArrayRef<const ast::Pattern*> elements,
                    llvm::ArrayRef<uint32_t> indices, Subject& subject, Label otherwise,
                    bool tagKnown);
  void matchFields(llvm::ArrayRef<const ast::Pattern*> elements, llvm::ArrayRef<uint32_t> indices,
                   Subject& subject, int64_t variant, Label otherwise);
  void matchSlice(const ast::SlicePattern* pattern, Subject& subject, Label otherwise);
  void matchLiteral(const Expr* literal, bool negative, Subject& subject, Label otherwise);
  void matchRange(const ast::RangePattern* pattern, Subject& subject, Label otherwise);
  void matchConstant(const ast::Target& target, Subject& subject, Label otherwise);
  Subject subjectOf(const Expr* expr, llvm::ArrayRef<const ast::Pattern*> patterns);
  // Nested patterns take values out into temporaries, which both ways on must give back. They are
  // listed in patternTemporaries_; a caller notes its length first.
  /// The subject itself is one of them.
  void holdSubject(Subject& subject);
  /// The pattern fits: everything listed since `mark` is released. It stays listed for the other
  /// way.
  void succeedPattern(size_t mark, Subject& subject);
  /// At the label of the other way.
  void failPattern(size_t mark);
  void bindPattern(const ast::Pattern* pattern, Type* type, Operand value); // irrefutable
  bool isSimpleBinding(const ast::Pattern* pattern) const;

  // ---- formatting
  // ---------------------------------------------------------------------------------
  void knownCall(const ast::KnownCallExpr* expr, Destination target);
  void formatInto(llvm::ArrayRef<ast::FormatPiece> pieces, llvm::StringRef suffix, Register dest);
  void appendValue(Register text, Operand value, const ast::FormatSpec& spec);
  void appendText(Register text, llvm::StringRef piece);
  void printText(Register text, llvm::StringRef path, llvm::StringRef spelling);
  bool isPlainSpec(const ast::FormatSpec& spec) const;

  // ---- state
  // --------------------------------------------------------------------------------------
  ModuleLowering& module_;
  const Instance& instance_;
  const Environment& environment_;
  vm::Function& out_;
  Registers registers_;
  Emitter code_;
  BodyFacts facts_;
  Type* resultType_ = nullptr;
  LayoutId resultLayout_{};
  llvm::DenseMap<Type*, Type*> concrete_;
  std::unordered_map<const ast::Variable*, Local> locals_; // addresses stay
  llvm::DenseMap<Register, char> live_;                    // registers of declared variables
  std::vector<Scope> scopes_;
  std::vector<Loop> loops_;
  std::vector<const ast::Variable*> cachedParameters_;
  llvm::SmallVector<Register, 8> patternTemporaries_;
  std::map<std::pair<uint64_t, LayoutId>, Register> hoisted_;
  struct GlobalCell {
    Register reg = Register::None;
    bool early = false; // loaded in front of everything
  };
  llvm::DenseMap<uint32_t, GlobalCell> globalCells_;
  Label armBody_ = Label::None; // bound behind the test of the tag of an arm's pattern
  unsigned rebinding_ = 0;      // in a further alternative: its variables exist
  unsigned runningActions_ = 0;
};

} // namespace gos::lower
