#pragma once
// The supervisor's end of a filter that notifies: each call that the filter hands over is looked at
// and answered. The answer depends on registers alone, which the caller cannot change any more:
// `filterError` says it. What a name or an address in the caller's memory says is read for the
// report, may be changed by the caller a moment later, and decides nothing.

#include "sandbox/linux/seccomp_filter.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace gos::sandbox {

/// What a call does with a name in it.
enum class PathAct : uint8_t {
  Look,           // asks about what the name leads to
  LookLink,       // asks about the entry itself
  Open,           // as its flags say
  OpenStructured, // the same, with the flags in memory
  Create,         // creat
  Execute,
  MakeDirectory, // an entry that must not exist yet
  Make,
  Remove,
  RenameFrom,
  RenameTo,
  LinkFrom,
  LinkTo,
  Change,     // contents or metadata of what exists
  ChangeLink, // the same, of the entry itself
  Connect,    // to a socket with a name
};

/// One name of a call, whole: what the caller wrote, put behind the directory it started from.
struct SeenPath {
  PathAct act = PathAct::Look;
  Operation operation = Operation::Query;
  bool follows = true;    // a link at the end of the name is followed
  bool creates = false;   // the entry is made where it is missing
  bool exclusive = false; // and must be missing
  llvm::StringRef path;   // absolute, neither tidied nor followed
};

/// A call that was handed over and answered.
struct SeenCall {
  int number = -1;
  int refusal = 0;      // the errno that the filter refused it with; 0: it went on
  uint32_t process = 0; // as the supervisor numbers it
  bool unread = false;  // a name or an address could not be read
  int socketType = 0;   // of a bind: SOCK_STREAM and its like, 0: not known
  llvm::ArrayRef<uint64_t> arguments;
  llvm::ArrayRef<SeenPath> paths;
  llvm::StringRef address; // bytes of a sockaddr of a network family
};

/// The rows of call_paths.def for a number.
struct CallPath {
  llvm::StringRef call;
  PathAct act;
  int directory, path, flags;
};
llvm::ArrayRef<CallPath> callPaths();
/// What flags of open(2) ask for.
void readOpenFlags(uint64_t flags, SeenPath& path);

class NotificationServer {
public:
  /// `listener` is borrowed, and outlives the server.
  static llvm::Expected<std::unique_ptr<NotificationServer>> create(int listener,
                                                                    FilterChoice choice);
  virtual ~NotificationServer() = default;

  enum class State : uint8_t { Alive, Gone };
  /// Answers one call, after `poll` has found the listener ready with these `events`. `seen` is
  /// called before the answer, while the caller stands still. Gone: no process of the run is left
  /// that could ask.
  virtual State serve(short events, llvm::function_ref<void(const SeenCall&)> seen) = 0;
};

/// Can a filter with a listener be installed here? 0, or the errno: EBUSY inside of a run that is
/// watched already, since the kernel allows one listener for a tree of processes.
int listenerError();

/// The name of a process, escaped by whoever prints it; empty if it is gone.
std::string processName(uint32_t process);

} // namespace gos::sandbox
