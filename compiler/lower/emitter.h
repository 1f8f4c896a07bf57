#pragma once
// The code of one function while it is being made: operations over virtual registers, labels,
// places in the source. `finish` numbers the registers, lays the code out and widens jumps that do
// not reach.

#include "compiler/lower/registers.h"
#include "diagnostics/span.h"
#include "vm/module.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::lower {

enum class Label : uint32_t { None = ~0u };

/// An operand of an operation: a register or an immediate, as the opcode's format says.
struct Slot {
  uint32_t bits = 0;
  Slot() = default;
  Slot(Register r) : bits(uint32_t(r)) {}
  Slot(uint32_t value) : bits(value) {}
  Slot(int32_t value) : bits(uint32_t(value)) {}
  Slot(vm::LayoutId id) : bits(uint32_t(id)) {}
  Slot(vm::FunctionId id) : bits(uint32_t(id)) {}
};

class Emitter {
public:
  Label makeLabel();
  void bind(Label label);

  /// Control cannot get here: what is emitted is dropped until the next label that something jumps
  /// to.
  bool isDead() const { return dead_; }

  void op(vm::Opcode op, Slot a = {}, Slot b = {}, Slot c = {}, Slot d = {});
  /// A jump or fused jump: the label takes the place of the jump operand.
  void jump(vm::Opcode op, Label label, Slot a = {}, Slot b = {});
  void jump(Label label) { jump(vm::Opcode::Jump, label); }
  /// `Switch` over `subject`: one label a value, the last for every other.
  void switchOver(Register subject, llvm::ArrayRef<Label> labels);
  /// Emitted before everything else.
  void prologue(vm::Opcode op, Slot a = {}, Slot b = {}, Slot c = {});
  /// The user's spelling of the native call that is emitted next.
  void spelling(llvm::StringRef text) { spelling_ = text.str(); }
  /// The function fills this many outgoing slots.
  void noteOutgoing(uint32_t count) { outgoing_ = std::max(outgoing_, count); }

  Span span() const { return span_; }
  void setSpan(Span span) {
    if (span.valid())
      span_ = span;
  }

  /// False when the function is too large for the operand fields.
  /// `everyLine` as in LowerRequest; what stands before everything else belongs to no line then.
  bool finish(const Registers& registers, vm::Function& out, bool everyLine = false);

private:
  struct Op {
    vm::Opcode op;
    Slot a, b, c, d;
    Label label = Label::None;
    Span span;
    uint32_t spelling = ~0u; // into spellings_
    bool isTable = false;    // an entry of a switch
  };
  void add(Op op);
  /// Jumps to jumps, jumps to what follows, and what nothing reaches.
  void simplify();

  std::vector<Op> prologue_;
  std::vector<Op> ops_;
  struct LabelInfo {
    uint32_t at = ~0u; // index into ops_
    bool used = false;
  };
  std::vector<LabelInfo> labels_;
  std::vector<std::string> spellings_;
  std::string spelling_;
  Span span_;
  uint32_t outgoing_ = 0;
  bool dead_ = false;
};

/// Scope guard: the code emitted while it lives comes from `span`.
class SpanScope {
public:
  SpanScope(Emitter& emitter, Span span) : emitter_(emitter), before_(emitter.span()) {
    emitter.setSpan(span);
  }
  ~SpanScope() { emitter_.setSpan(before_); }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

private:
  Emitter& emitter_;
  Span before_;
};

} // namespace gos::lower
