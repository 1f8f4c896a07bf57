#pragma once
// A region's trap as a diagnostic.

#include "compiler/check/program.h"
#include "compiler/fold/evaluate.h"
#include "diagnostics/engine.h"

namespace gos::fold {

/// GX0010 at the call, with the region, the chain between them, the level and its origin, and the
/// narrowest remedy first; GX0009 and GC0003 at the region. `foreign`: it was judged as
/// Origin::Foreign.
void reportTrap(const vm::TrapDetails& trap, const check::Region& region, bool foreign,
                const ComptimePolicy& policy, Engine& engine);
/// The note that shows what a region printed (ruling 4).
void reportOutput(const RegionAnswer& answer, const check::Region& region, Engine& engine);

} // namespace gos::fold
