#pragma once
// Did anything of the run ask for a network that is not there? The kernel counts it in the run's
// own network namespace: what had no route, and datagrams to a port where nobody listens, which is
// how a question for a name ends without a resolver. A counter is a hint and no lock: the command
// can raise it at will.

#include "sandbox/linux/first_process/raw.h"

#include <fcntl.h>

namespace gos::sandbox {

namespace network_counts {

inline bool startsWith(const char* text, const char* end, const char* word) {
  for (; *word != '\0'; ++text, ++word)
    if (text == end || *text != *word)
      return false;
  return true;
}

/// The number of words before `at` in its line.
inline int column(const char* line, const char* at) {
  int words = 0;
  for (; line != at; ++line)
    words += *line == ' ' ? 1 : 0;
  return words;
}

/// /proc/net/snmp: a line of names and a line of values for each protocol. Is the value not 0?
inline bool countedInTable(const char* text, const char* end, const char* protocol,
                           const char* name) {
  const char* names = nullptr;
  int wanted = -1;
  for (const char* line = text; line < end;) {
    const char* stop = line;
    while (stop != end && *stop != '\n')
      ++stop;
    if (startsWith(line, stop, protocol)) {
      if (names == nullptr) {
        names = line;
        for (const char* at = line; at != stop; ++at)
          if (*at == ' ' && startsWith(at + 1, stop, name)) {
            const char* after = at + 1 + raw::length(name);
            if (after == stop || *after == ' ')
              wanted = column(line, at + 1);
          }
      } else if (wanted >= 0) {
        for (const char* at = line; at != stop; ++at)
          if (*at == ' ' && column(line, at + 1) == wanted)
            return at + 1 != stop && at[1] != '0';
      }
    }
    line = stop == end ? end : stop + 1;
  }
  return false;
}

/// /proc/net/snmp6: a name and a value on each line.
inline bool countedInList(const char* text, const char* end, const char* name) {
  for (const char* line = text; line < end;) {
    const char* stop = line;
    while (stop != end && *stop != '\n')
      ++stop;
    if (startsWith(line, stop, name)) {
      const char* at = line + raw::length(name);
      if (at != stop && (*at == ' ' || *at == '\t')) {
        while (at != stop && (*at == ' ' || *at == '\t'))
          ++at;
        return at != stop && *at != '0';
      }
    }
    line = stop == end ? end : stop + 1;
  }
  return false;
}

inline long read(const char* path, char* buffer, long size) {
  const long file = raw::sys(__NR_openat, raw::kAtFdCwd, path, O_RDONLY | O_CLOEXEC);
  long filled = 0;
  while (file >= 0 && filled != size) {
    const long got = raw::retry(__NR_read, file, buffer + filled, size - filled);
    if (got <= 0)
      break;
    filled += got;
  }
  if (file >= 0)
    raw::sys(__NR_close, file);
  return filled;
}

} // namespace network_counts

inline bool askedForNetwork() {
  using namespace network_counts;
  char text[8192];
  const char* end = text + read("/proc/self/net/snmp", text, sizeof text);
  if (countedInTable(text, end, "Ip:", "OutNoRoutes") ||
      countedInTable(text, end, "Udp:", "NoPorts"))
    return true;
  end = text + read("/proc/self/net/snmp6", text, sizeof text);
  return countedInList(text, end, "Ip6OutNoRoutes") || countedInList(text, end, "Udp6NoPorts");
}

} // namespace gos::sandbox
