#include "vm/trap.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

namespace gos::vm {

llvm::StringRef codeOf(TrapKind kind) {
  switch (kind) {
  case TrapKind::Incompatible:
    return "GX0001";
  case TrapKind::NoArm:
    return "GX0006";
  case TrapKind::Depth:
    return "GX0008";
  case TrapKind::Budget:
    return "GX0009";
  case TrapKind::Denied:
    return "GX0010";
  case TrapKind::None:
  case TrapKind::Panic:
  case TrapKind::Exit:
  case TrapKind::Refused:
    break;
  }
  return "GX0005";
}

Trap Trap::make(TrapKind kind, std::string message) {
  Trap trap;
  trap.details_ = std::make_unique<TrapDetails>();
  trap.details_->kind = kind;
  trap.details_->message = std::move(message);
  return trap;
}

Trap Trap::borrowed(std::string message) {
  Trap trap = incompatible(std::move(message));
  trap->isBorrowed = true;
  return trap;
}

Trap Trap::denied(Denial denial) {
  Trap trap = make(TrapKind::Denied, (llvm::Twine("`") + denial.builtin + "` needs " +
                                      reportName(denial.capability) + ", which is not allowed here")
                                         .str());
  trap->denial = std::move(denial);
  return trap;
}

Trap Trap::exit(int64_t code) {
  Trap trap = make(TrapKind::Exit, {});
  trap->exitCode = code;
  return trap;
}

Trap Trap::budget(std::string counter, uint64_t limit) {
  Trap trap =
      make(TrapKind::Budget, "budget `" + counter + "` of " + llvm::utostr(limit) + " is used up");
  trap->counter = std::move(counter);
  trap->limit = limit;
  return trap;
}

Trap Trap::outOfMemory(uint64_t used) {
  Trap trap = make(TrapKind::Budget, "out of memory: the system gives no more than the " +
                                         llvm::utostr(used) + " bytes that the program has");
  trap->counter = "memory";
  trap->limit = used;
  return trap;
}

Trap Trap::depth(uint64_t limit) {
  Trap trap =
      make(TrapKind::Depth, "calls are nested more than " + llvm::utostr(limit) + " levels deep");
  trap->counter = "depth";
  trap->limit = limit;
  return trap;
}

Trap Trap::nesting(uint64_t limit) {
  Trap trap = make(TrapKind::Depth, "constants, comparisons or callbacks are nested more than " +
                                        llvm::utostr(limit) + " levels deep");
  trap->counter = "nesting";
  trap->limit = limit;
  return trap;
}

} // namespace gos::vm
