#pragma once
// What the values of one body hold: which references the closures inside them have captured, and
// which of the function's parameters. A walk that knows no order; it is repeated until nothing is
// new.

#include "compiler/check/checker.h"

#include "llvm/ADT/SmallBitVector.h"

#include <map>

namespace gos::check {

class Fates;

/// What becomes of a value that holds a closure; one bit each. A value with none of them is gone
/// when the call is that it is given to.
struct Fate {
  enum : uint8_t {
    Answered = 1, // the answer holds it
    Stored = 2,   // what a `&mut` argument points to holds it
    Kept = 4,     // nobody knows for how long
    Spawned = 8,  // another goroutine has it
  };
};

/// A block, an arm or a closure: what is declared in it ends with it.
struct HeldScope {
  const HeldScope* parent = nullptr;
};

/// Something that may be held. Of a function's parameters there are two each, whose index is their
/// node: the parameter itself, and what it answers if it is a closure.
struct Origin {
  const Variable* reference = nullptr; // none: a parameter
  const ClosureExpr* closure = nullptr;
  const HeldScope* scope = nullptr;
  uint8_t fates = 0;
  // of the worst of its fates:
  uint8_t worst = 0;
  Span at;
  StringRef how;
  FunctionItem* to = nullptr;
  bool isExclusive() const { return reference->type->isMutableRef(); }
};

class Holdings {
public:
  using Held = llvm::SmallBitVector;

  Holdings(Checker& checker, Fates& fates, Item* item);

  /// Walks the body to the end. True: the parameters have fates that they had not before.
  bool read();
  ArrayRef<Origin> origins() const { return origins_; }
  size_t nodes() const { return nodes_; }

private:
  struct Known {
    Held held;
    const HeldScope* scope = nullptr;
    const Variable* root = nullptr; // of a local reference: what it points into
  };
  struct Given {
    Expr* expr;
    ClosureExpr* closure; // a direct argument
    bool isCallable;      // of a parameter that is a function
    Held self, answer;
  };
  struct Place {
    const HeldScope* around;
    Held held;
  };
  struct Sink {
    uint8_t fate;
    Span at;
    StringRef how;
    FunctionItem* to = nullptr;
  };

  Held value(Expr* expr);
  Held valueOf(Expr* expr);
  Held block(BlockExpr* expr, bool isBody);
  Held parts(Expr* expr);
  Held closureBody(ClosureExpr* closure, const Held& inputs);
  Held captured(ClosureExpr* closure, bool isDirect);
  Held call(FunctionItem* function, Expr* receiver, ArrayRef<Expr*> ordered);
  Held callValue(const Held& callee, ArrayRef<Expr*> ordered);
  void give(Given& given);
  Held ofProgram(FunctionItem* function, Expr* receiver, ArrayRef<Given> given);
  Held ofLibrary(FunctionItem* function, Expr* receiver, ArrayRef<Given> given);
  bool writesReceiver(FunctionItem* function);
  void bind(Pattern* pattern, const Held& held);
  void declare(Variable* variable, const Held& held);
  void store(Expr* place, const Held& held, Span at);
  void storeAll(Expr* receiver, ArrayRef<Given> given, const Held& held);
  void leaveFrame(const Held& held, Span at);
  void leave(const Held& held, const HeldScope* to, Span at, StringRef how);
  void escape(const Held& held, const Sink& sink);
  void add(Held& into, const Held& from);
  Held one(size_t origin) const;
  size_t originOf(const Variable* reference, const ClosureExpr* closure);
  std::optional<size_t> callableParameter(Expr* expr);
  const HeldScope* open(const void* node);
  bool canHold(Type* type, bool anyParameter = true);

  Checker& checker_;
  Fates& fates_;
  Item* item_;
  size_t nodes_ = 0;
  std::vector<Origin> origins_;
  std::map<std::pair<const Variable*, const ClosureExpr*>, size_t> indexes_;
  llvm::DenseMap<const Variable*, size_t> callables_; // parameters that are functions
  llvm::DenseMap<const Variable*, size_t> parameters_;
  std::map<const Variable*, Known> known_;
  std::map<const void*, HeldScope> scopes_;
  std::map<const Expr*, Place> loops_;
  llvm::DenseMap<Type*, bool> canHold_[2];
  const HeldScope* scope_ = nullptr;
  struct Frame {
    const HeldScope* around; // null: of the function
    Held answer;
  };
  SmallVector<Frame, 4> frames_;
  bool changed_ = false;
  unsigned depth_ = 0;
};

} // namespace gos::check
