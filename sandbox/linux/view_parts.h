#pragma once
// What every view has, whatever is granted: devices, processes, a private temp, the caller's own
// lines of the password database, the links of a merged /usr, and the caller's home as a name.

#include "sandbox/linux/path_walk.h"

#include <string>
#include <vector>

namespace gos::sandbox {

struct ViewPart {
  enum class Kind : uint8_t {
    Directory,    // an empty directory
    Home,         // the same, if nothing else makes it
    Device,       // the host's device node
    Link,         // a link to `text`
    File,         // a file with `text`
    Proc,         // a new proc, or the host's
    Mask,         // an entry of proc that says nothing
    DevicePts,    //
    SharedMemory, //
    Temp,         // the private temp
  };
  Kind kind = Kind::Directory;
  std::string path;
  std::string text;
};

struct ViewRequest {
  std::string home;               // as the command will see it; empty if it has none
  std::vector<std::string> names; // absolute paths as the caller spells them, links and all
  std::string temporaryDirectory; // on the host; empty: no private temp
  std::string userName;           // where the password database has no line for the caller
  uint32_t userId = 0, groupId = 0;
  bool ownProc = true; // a new pid namespace, so a new proc
};

/// The parts of a view, links that lead to granted names included; in no order.
std::vector<ViewPart> viewParts(const ViewRequest& request, const HostTree& tree, PathWalk& walk);

} // namespace gos::sandbox
