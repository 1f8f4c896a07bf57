#pragma once
// A plan as bytes, and the messages between the supervisor and the first process. Freestanding: the
// first process has no C library. The plan is one block with offsets from its start; both sides are
// built together, so there is one version and no compatibility to keep.

#include <stdint.h>

namespace gos::sandbox {

enum class Stage : int32_t {
#define GOS_STAGE(name, primitive, words) name,
#include "sandbox/linux/stages.def"
};

/// The descriptors that the first process is executed with, besides the command's 0, 1 and 2.
enum LaunchDescriptor : int {
  kPlanFd = 3,
  kControlFd = 4,    // a seqpacket socket to the supervisor
  kSupervisorFd = 5, // pidfd of the supervisor: readable when it is dead, however it died
  kTempParentFd = 6, // the directory that holds the private temp; comes with the plan, see kHasTemp
  kTempFd = 7,       // the private temp itself, locked with flock while the run lives
  kFirstFreeFd = 8,
};

/// ControlMessage::flags of Begin: what is done while the supervisor still compiles the plan.
enum BeginFlag : uint32_t {
  kWaitForMaps = 1u << 0, // a user namespace: wait until the supervisor has written the maps
  kOwnRoot = 1u << 1,     // mount the empty root that the view is built on
  kRaiseLoopback = 1u << 2,
  kRaiseAhead = 1u << 3,   // put up what nearly every plan begins with; the paths are the arguments
  kOwnProcesses = 1u << 4, // of kRaiseAhead: with a proc of its own
};

enum LaunchFlag : uint32_t {
  kGrantInVarTmp = 1u << 0, // as kGrantInTmp, beneath the other name
  kBuildView = 1u << 1,
  kOwnPidNamespace = 1u << 2, // the first process is process 1: its end ends everything
  kOwnNetwork = 1u << 3,      // a network namespace: what was refused there is counted there
  kNewSession = 1u << 4,
  kDropCapabilities = 1u << 5,
  kNoNewPrivileges = 1u << 6,
  kNoCoreDumps = 1u << 7,
  kUseLandlock = 1u << 8,
  kUseFilter = 1u << 9,
  kFilterNotifies = 1u << 10,
  kHasTemp = 1u << 11,
  kProbe = 1u << 12, // run the self-proof instead of a command
  kGrantInTmp =
      1u << 13, // something is mounted inside the private temp: unmounted before it is removed
};

enum LaunchStepFlag : uint16_t {
  kStepReadOnly = 1u << 0,
  kStepDevices = 1u << 1,
  kStepFile = 1u << 2,  // what stands there is not a directory
  kStepWatch = 1u << 3, // it stands inside a read-write grant: an outsider could take it away
  kStepOptional = 1u << 4,
  kStepExact = 1u << 5, // device and inode are checked
  kStepOwnParent =
      1u << 6, // all directories above it are of our own root: nobody else can rename them
};

/// As ViewStep::Kind.
enum class StepKind : uint16_t {
  MakeDirectory,
  MakeFile,
  MakeLink,
  Bind,
  Cover,
  Mask,
  Proc,
  DevicePts,
  SharedMemory
};

struct LaunchStep {
  StepKind kind;
  uint16_t flags;
  uint32_t mode;
  uint32_t path;   // offset of a NUL-terminated text
  uint32_t source; // of Bind
  uint32_t text;   // of MakeFile, MakeLink
  uint32_t textSize;
  uint64_t device;
  uint64_t inode;
};

struct LaunchRule {
  uint64_t rights;
  uint32_t path;
  uint32_t optional;
};

struct LaunchHeader {
  uint32_t magic;
  uint32_t size; // of the whole block
  uint32_t flags;
  uint32_t stepCount, steps;    // offset of LaunchStep[]
  uint32_t ruleCount, rules;    // offset of LaunchRule[]
  uint32_t filterCount, filter; // offset of sock_filter[]
  uint32_t argumentCount,
      arguments; // offset of uint64_t[count + 1]: offsets, made pointers in place
  uint32_t environmentCount, environment;
  uint32_t program, shellArguments; // text; uint64_t[]: {"/bin/sh", program, arguments...} for a
                                    // script without #!
  uint32_t shellArgumentCount;
  uint32_t workingDirectory;
  uint32_t temporaryName; // name beneath kTempParentFd
  int32_t landlockAbi;
  uint32_t reserved;
  uint64_t landlockFileSystem, landlockNetwork, landlockScopes;
  uint64_t signalMask; // of the caller, restored for the command
  uint64_t probe;      // of kProbe: offset of a ProbePlan
};
constexpr uint32_t kLaunchMagic = 0x31534f47;
/// The most steps with kStepWatch; a plan with more is refused before a start.
constexpr uint32_t kMostWatched = 4096;

enum class ControlKind : uint32_t {
  // to the supervisor
  Failed,      // stage, error, index (of a view step or rule)
  Started,     // the command was executed
  Stopped,     // status: the signal
  Continued,   //
  Ended,       // status: as waitpid gives it; times, peak, killed
  CoverLost,   // index: of the view step whose object is gone; the run was ended
  Listener,    // carries the filter's listener as SCM_RIGHTS
  ProbeResult, // index: the act; status: a ProbeStatus; error: errno seen
  // to the first process
  Begin,       // flags: BeginFlags; status: clone flags of the namespaces that it makes itself
  MapsWritten, //
  PlanWritten, // carries kTempParentFd and kTempFd as SCM_RIGHTS, where there is a private temp
  Signal,      // status: the signal for the command
  Resume,      // index: how many stops the supervisor knows of; a later stop is not undone
  Kill,
};

/// ControlMessage::flags of Started.
enum StartFlag : uint32_t {
  kStoodAhead = 1u << 0, // what was put up before the plan was there is part of the view
};

/// ControlMessage::flags of Ended.
enum EndFlag : uint32_t {
  kTempGone = 1u << 0,
  kNetworkRefused = 1u << 1, // the command failed, and something asked for the network
};

struct ControlMessage {
  ControlKind kind;
  Stage stage;
  int32_t error;
  int32_t status;
  uint32_t index;
  uint32_t killed;
  uint32_t flags; // of Started: StartFlags; of Ended: EndFlags
  uint32_t reserved;
  uint64_t cpuMicroseconds;
  uint64_t peakBytes;
};

} // namespace gos::sandbox
