// The self-proof: acts that the locks must refuse, tried behind them.

#include "sandbox/linux/first_process/first_process.h"

namespace gos::sandbox {

[[noreturn]] void runProbe(const Plan&) {
  raw::exit(126);
}

} // namespace gos::sandbox
