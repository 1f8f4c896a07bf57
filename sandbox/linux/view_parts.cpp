#include "sandbox/linux/view_parts.h"

#include "sandbox/policy/policy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace gos::sandbox {

namespace {

constexpr llvm::StringRef kDevices[] = {
#define GOS_VIEW_DEVICE(path) path,
#include "sandbox/linux/every_view.def"
};
constexpr std::pair<llvm::StringRef, llvm::StringRef> kDeviceLinks[] = {
#define GOS_VIEW_DEVICE_LINK(path, to) {path, to},
#include "sandbox/linux/every_view.def"
};
constexpr llvm::StringRef kMasks[] = {
#define GOS_VIEW_PROC_MASK(path) path,
#include "sandbox/linux/every_view.def"
};
constexpr llvm::StringRef kMergedUsr[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
constexpr size_t kMostDatabaseBytes = size_t(1) << 20;
constexpr uint32_t kNobody = 65534;

/// A line of a colon-separated database whose third field is `id`, with its secret field made `x`.
std::string lineOf(llvm::StringRef database, uint32_t id, bool withMembers) {
  for (llvm::StringRef line : llvm::split(database, '\n')) {
    llvm::SmallVector<llvm::StringRef, 8> fields;
    line.split(fields, ':');
    uint32_t found = 0;
    if (fields.size() < 4 || fields[0].empty() || fields[2].getAsInteger(10, found) || found != id)
      continue;
    fields[1] = "x";
    if (!withMembers)
      fields[3] = "";
    return llvm::join(fields, ":") + "\n";
  }
  return {};
}

bool isPlainName(llvm::StringRef name) {
  return !name.empty() && name.size() <= 32 && name.front() != '-' &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.'; });
}

/// The caller's own line, root's and nobody's. Who is in no file (a directory service knows them)
/// gets a line made of what is known.
std::string passwordText(const ViewRequest& request, llvm::StringRef database) {
  std::string text = lineOf(database, request.userId, true);
  if (text.empty()) {
    const bool plainHome =
        !request.home.empty() &&
        llvm::StringRef(request.home).find_first_of(":\n") == llvm::StringRef::npos;
    text = llvm::formatv("{0}:x:{1}:{2}::{3}:/bin/sh\n",
                         isPlainName(request.userName) ? request.userName : "user", request.userId,
                         request.groupId, plainHome ? request.home : "/")
               .str();
  }
  for (uint32_t id : {0u, kNobody})
    if (id != request.userId)
      text += lineOf(database, id, true);
  return text;
}

/// Names of groups without their members: who else is in one is nobody's business.
std::string groupText(const ViewRequest& request, llvm::StringRef database) {
  std::string text = lineOf(database, request.groupId, false);
  if (text.empty())
    text = llvm::formatv("{0}:x:{1}:\n", isPlainName(request.userName) ? request.userName : "user",
                         request.groupId)
               .str();
  for (uint32_t id : {0u, kNobody})
    if (id != request.groupId)
      text += lineOf(database, id, false);
  return text;
}

} // namespace

std::vector<ViewPart> viewParts(const ViewRequest& request, const HostTree& tree, PathWalk& walk) {
  using Kind = ViewPart::Kind;
  std::vector<ViewPart> parts;
  parts.push_back({Kind::Directory, "/dev", {}});
  for (llvm::StringRef path : kDevices)
    if (walk.look(path).kind == NodeKind::Device)
      parts.push_back({Kind::Device, path.str(), {}});
  for (auto [path, text] : kDeviceLinks)
    parts.push_back({Kind::Link, path.str(), text.str()});
  parts.push_back({Kind::DevicePts, "/dev/pts", {}});
  parts.push_back({Kind::SharedMemory, "/dev/shm", {}});

  parts.push_back({Kind::Proc, "/proc", {}});
  for (llvm::StringRef path : kMasks)
    if (const NodeKind kind = walk.look(path).kind;
        kind != NodeKind::Missing && kind != NodeKind::Directory)
      parts.push_back({Kind::Mask, path.str(), {}});

  if (!request.temporaryDirectory.empty())
    for (const char* path : {"/tmp", "/var/tmp"})
      parts.push_back({Kind::Temp, path, {}});

  for (llvm::StringRef path : kMergedUsr)
    if (const HostTree::Entry& entry = walk.look(path); entry.kind == NodeKind::Link)
      parts.push_back({Kind::Link, path.str(), entry.linkText});

  parts.push_back({Kind::File, "/etc/passwd",
                   passwordText(request, tree.text("/etc/passwd", kMostDatabaseBytes))});
  parts.push_back(
      {Kind::File, "/etc/group", groupText(request, tree.text("/etc/group", kMostDatabaseBytes))});

  auto addHops = [&](const WalkedPath& walked) {
    for (const LinkHop& hop : walked.hops)
      parts.push_back({Kind::Link, hop.path, hop.text});
  };
  if (llvm::StringRef(request.home).starts_with("/")) {
    const WalkedPath home = walk.follow(request.home);
    if (home.entry.kind == NodeKind::Directory && home.path != "/") {
      addHops(home);
      parts.push_back({Kind::Home, home.path, {}});
    }
  }
  for (const std::string& name : request.names)
    addHops(walk.follow(name));
  return parts;
}

} // namespace gos::sandbox
