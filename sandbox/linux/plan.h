#pragma once
// A policy compiled for Linux: everything that a start will do, as plain values that can be
// printed, compared and, by the mutation tests, taken apart. Compiling asks the host about paths
// (through HostTree) and about its Landlock ABI, and starts nothing.
//
// The order in which a start applies a plan is written once, in first_process/main.cpp:
// descriptors, namespaces, view, first process, limits, capabilities, no-new-privileges, Landlock,
// filter, execve.

#include "sandbox/linux/landlock_abi.h"
#include "sandbox/policy/policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gos::sandbox {

/// Bits of ChildPlan::namespaces.
enum Namespace : uint32_t {
  kUserNamespace = 1u << 0,
  kMountNamespace = 1u << 1,
  kNetworkNamespace = 1u << 2,
  kIpcNamespace = 1u << 3,
  kPidNamespace = 1u << 4,
  kUtsNamespace = 1u << 5,
  kCgroupNamespace = 1u << 6,
};

/// Which object a path named when the policy was compiled. What is mounted must be this object.
/// Zero for what the run itself makes: the private temp, and what stands in for a missing name.
struct ObjectId {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const ObjectId&, const ObjectId&) = default;
};

enum class NodeKind : uint8_t { Missing, File, Directory, Link, Device, Other };

/// One step of building the view. They run in order; a path is absolute inside the view.
struct ViewStep {
  enum class Kind : uint8_t {
    MakeDirectory, // an empty directory of ours, `mode`
    MakeFile,      // a file of ours with `text`, `mode`
    MakeLink,      // a symbolic link to `text`
    Bind,          // the host object `source` at `path`, the whole tree beneath it
    Cover,         // an object that nobody can open stands on `path`: a hole
    Mask,          // an always empty object stands on `path`: readable, says nothing
    Proc,          // a new proc of the new pid namespace
    DevicePts,     // a new devpts instance
    SharedMemory,  // a tmpfs for /dev/shm
  };
  Kind kind = Kind::MakeDirectory;
  std::string path;
  std::string source; // of Bind: canonical path on the host
  std::string text;   // of MakeFile, MakeLink
  uint32_t mode = 0755;
  NodeKind node = NodeKind::Directory; // of Bind, Cover, Mask: what stands there
  bool readOnly = true;                // of Bind, Proc
  bool devices = false;                // of Bind: device nodes beneath it work
  bool optional = false;      // a shipped part that may vanish between compiling and starting
  ObjectId object;            // of Bind: what `source` was
  std::optional<size_t> rule; // index into policy.rules(), where a rule made the step

  friend bool operator==(const ViewStep&, const ViewStep&) = default;
};
llvm::StringRef spelling(ViewStep::Kind kind);

/// One Landlock rule: rights on a path of the view, and on everything beneath it.
struct LandlockRule {
  std::string path;
  uint64_t rights = 0;
  bool optional = false; // nothing is wrong if the path is not there
  friend bool operator==(const LandlockRule&, const LandlockRule&) = default;
};

/// What the ruleset handles; a right that is handled and not granted is refused.
struct LandlockPlan {
  bool enabled = false;
  int abi = 0;
  uint64_t handledFileSystem = 0;
  uint64_t handledNetwork = 0;
  uint64_t scopes = 0;
  std::vector<LandlockRule> rules;
  friend bool operator==(const LandlockPlan&, const LandlockPlan&) = default;
};

/// One row of a BPF program, as the kernel's `struct sock_filter` has it.
struct FilterInstruction {
  uint16_t code = 0;
  uint8_t jumpTrue = 0;
  uint8_t jumpFalse = 0;
  uint32_t operand = 0;
  friend bool operator==(const FilterInstruction&, const FilterInstruction&) = default;
};

/// A file or directory that stands in for a name that a user's denial covers and that does not
/// exist.
struct Placeholder {
  std::string path; // on the host
  bool directory = false;
  friend bool operator==(const Placeholder&, const Placeholder&) = default;
};

/// What `execve` is called with.
struct CommandPlan {
  std::string program;                  // absolute path inside the view
  std::vector<std::string> arguments;   // arguments[0] included
  std::vector<std::string> environment; // NAME=VALUE
  std::string workingDirectory;         // absolute, inside the view
  bool newSession = false;              // setsid: captured and build runs
  friend bool operator==(const CommandPlan&, const CommandPlan&) = default;
};

struct ChildPlan {
  SandboxLevel level = SandboxLevel::Strict;
  uint32_t namespaces = 0;
  bool raiseLoopback = false; // `lo` up in the new network namespace
  bool keepRoot = false;      // no view: the host's tree stays (basic, and plans of one lock)
  std::vector<ViewStep> view;
  LandlockPlan landlock;
  std::vector<FilterInstruction> filter; // empty: no filter
  bool filterNotifies = false;           // the filter reports to a listener (--report, --learn)
  bool dropCapabilities = true;
  bool noNewPrivileges = true;
  bool coreDumps = false;
  CommandPlan command;
  std::string temporaryDirectory; // on the host, made by the runner; empty: inherited
  std::vector<Placeholder> placeholders;

  friend bool operator==(const ChildPlan&, const ChildPlan&) = default;
};

/// What the compiler has to know about paths. The real one asks the kernel; tests have trees of
/// their own.
class HostTree {
public:
  virtual ~HostTree() = default;
  struct Entry {
    NodeKind kind = NodeKind::Missing;
    ObjectId object;
    std::string linkText; // of Link
  };
  /// The entry itself; the path is absolute. No link is followed, in the last component or above
  /// it: an entry beneath a link is missing.
  virtual Entry look(llvm::StringRef path) const = 0;
  /// The canonical path of an existing object, links followed; empty if there is none.
  virtual std::string real(llvm::StringRef path) const = 0;
  /// The names in a directory, sorted; none if it cannot be read.
  virtual std::vector<std::string> list(llvm::StringRef path) const = 0;
  /// The first bytes of a regular file; none if it cannot be read.
  virtual std::string text(llvm::StringRef path, size_t limit) const = 0;
};
/// The tree of this host.
const HostTree& hostTree();

/// What this host can do, as far as compiling depends on it.
struct HostLimits {
  int landlockAbi = 0;      // 0: none
  bool pidNamespace = true; // false: a janitor ends the tree (standard only)
  uint32_t userId = 0;
  uint32_t groupId = 0;
};

/// The namespaces of a level, which are known before the rest is.
uint32_t namespacesOf(SandboxLevel level, NetworkMode network, bool pidNamespace);

/// Compiles a policy. Every grant must exist; nothing is created. The command's environment is what
/// `hostEnvironment` (NAME=VALUE) holds and the policy passes. `temporaryDirectory` is where the
/// private temp lies on the host (it need not exist yet), empty for an inherited one.
llvm::Expected<ChildPlan> compilePlan(const Policy& policy, const HostTree& tree,
                                      const HostLimits& limits,
                                      llvm::ArrayRef<std::string> hostEnvironment,
                                      llvm::StringRef temporaryDirectory);

/// The plan for people, one fact a line; deterministic.
std::string toText(const ChildPlan& plan);

} // namespace gos::sandbox
