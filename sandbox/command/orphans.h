#pragma once
// What is left of a run whose first process was killed from inside, which a command of the same
// user can do where there is no process table of its own. The kernel hands such processes to the
// nearest subreaper; a program that is nothing but the supervisor of one run can be that.

#include <cstdint>

namespace gos::sandbox {

/// Makes this process the one that orphans go to. False, and nothing is done, if it has children:
/// their orphans are not the run's.
bool adoptOrphans();

/// Kills and reaps every child of this process, and theirs, until there is none. How many.
uint32_t killOrphans();

} // namespace gos::sandbox
