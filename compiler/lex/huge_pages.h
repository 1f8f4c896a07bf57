#pragma once
// Large tables that are written once from front to back (tokens, trees) cost more in page faults
// than in work when they come in pages of 4 KiB.

#include <cstddef>

namespace gos::lex {

inline constexpr size_t kHugePage = size_t(2) << 20;
/// Asks the system to back the whole huge pages inside [begin, begin + size) by huge pages. A hint:
/// nothing changes where the system does not know it.
void preferHugePages(void* begin, size_t size);

} // namespace gos::lex
