#pragma once
// What the library keeps for one Vm: its streams, handles, environment, working directory, clock,
// and the roots of a fold. It goes with the Vm, so nothing a region did to it outlives the region.

#include "sandbox/beneath.h"
#include "sandbox/unique_fd.h"
#include "stdlib/blocking.h"
#include "stdlib/process_children.h"
#include "vm/vm.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace gos::stdlib {

enum class Stream : uint8_t { Output = 1, Error = 2 };

/// What a program is started with. A fold gets none of it unless its command says so.
struct HostOptions {
  std::string programName;
  std::vector<std::string> arguments;
};

/// What a handle may stand for.
enum class HandleKind : uint8_t { File, Reader, Writer, Child, Listener, Socket, Notifier };

class Handle {
public:
  explicit Handle(HandleKind kind) : kind_(kind) {}
  virtual ~Handle() = default;
  HandleKind kind() const { return kind_; }

private:
  HandleKind kind_;
};

/// A file that was opened: a descriptor, or (in a fold below `full`) the bytes it had when it was
/// opened, so that a fold sees one content whatever happens to the file meanwhile.
class FileHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::File;
  FileHandle() : Handle(kKind) {}
  UniqueFd fd;
  bool inMemory = false;
  std::string bytes;
  uint64_t position = 0;
};

/// The streams of `io::`: a text with a reading position, adapters over other handles, a buffer to
/// write to.
class ReaderHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Reader;
  ReaderHandle() : Handle(kKind) {}
  std::string bytes;
  size_t position = 0;
  std::vector<int64_t> sources; // read after `bytes`
  uint64_t limit = ~uint64_t(0);
  int64_t sink = -1; // gets what is read
};
class WriterHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Writer;
  WriterHandle() : Handle(kKind) {}
  std::string bytes;
  int64_t reader = -1; // a pipe's other end
  bool closed = false;
};

/// An end of a pipe that goroutines write to in turn.
struct ByteSink {
  UniqueFd fd; // does not block
  Turns turns;
};

/// Its parts are shared with the jobs that use them, so that each may be closed meanwhile.
class ChildHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Child;
  ChildHandle() : Handle(kKind) {}
  std::shared_ptr<Children> process = std::make_shared<Children>();
  std::shared_ptr<ByteSink> input; // null: closed
  std::shared_ptr<ByteSource> output;
};

/// Its descriptor does not block: who has to wait does so as a job, with a time limit of its own.
class SocketHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Socket;
  SocketHandle() : Handle(kKind) {}
  UniqueFd fd;
  std::atomic<bool> closed = false;
  int64_t readLimitMs = 0; // 0: none
  int64_t writeLimitMs = 0;
  Turns writers;
};
class ListenerHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Listener;
  ListenerHandle() : Handle(kKind) {}
  UniqueFd fd;
  std::atomic<bool> closed = false;
};

/// Handles are integers to the program. Each carries the generation of its place, so that a stale
/// or a made-up one names nothing (T041).
class HandleTable {
public:
  int64_t add(std::unique_ptr<Handle> handle);
  /// Null if there is no such handle, or it is of another kind.
  template <class T> T* find(int64_t number) const {
    Handle* handle = findAny(number);
    return handle != nullptr && handle->kind() == T::kKind ? static_cast<T*>(handle) : nullptr;
  }
  /// The same for a job, which may go on when the handle is closed.
  template <class T> std::shared_ptr<T> share(int64_t number) const {
    if (find<T>(number) == nullptr)
      return nullptr;
    return std::static_pointer_cast<T>(places_[uint64_t(number) & 0xffffffffu].handle);
  }
  bool close(int64_t number);
  /// Handles that are open.
  size_t count() const { return places_.size() - free_.size(); }

private:
  struct Place {
    uint32_t generation = 1;
    std::shared_ptr<Handle> handle;
  };
  Handle* findAny(int64_t number) const;
  std::vector<Place> places_;
  std::vector<uint32_t> free_;
};

/// What a test asserted: `assert` and `assert_eq` count before they panic, `testing::check` and its
/// kin record.
struct Assertions {
  uint64_t made = 0;
  uint64_t failed = 0;      // recorded, without a panic
  std::string firstFailure; // its message
};
/// Of a recorded failure's message; the rest is cut off.
inline constexpr size_t kFailureBytes = 4096;

class LibraryHost : public vm::HostState {
public:
  explicit LibraryHost(HostOptions options) : options_(std::move(options)) {}
  ~LibraryHost() override;

  const HostOptions& options() const { return options_; }
  void attach(vm::Vm& vm) { vm_ = &vm; }

  // ---- streams
  // ------------------------------------------------------------------------------------
  /// In a fold the text is captured. Else standard output is buffered: on a terminal until a write
  /// ends in a newline, elsewhere until 64 KiB; standard error is not, and standard output goes
  /// first.
  void write(Stream stream, llvm::StringRef bytes);
  void flush();
  /// What became of standard output: a panic that says why it could not be written, told once; a
  /// reader that went away ends the program quietly, as the signal would have. Nothing is written
  /// after that. Standard error has nobody to tell.
  vm::Trap takeOutputTrap();
  /// Standard input, read by the program's goroutines in turn. What is printed goes out before one
  /// waits for it.
  const std::shared_ptr<ByteSource>& input() const { return input_; }

  // ---- handles
  // --------------------------------------------------------------------------------------
  HandleTable& handles() { return handles_; }
  /// Bytes in the buffers of readers and writers, held against the heap's limit.
  uint64_t buffered = 0;

  // ---- signals
  // ---------------------------------------------------------------------------------------
  std::vector<int64_t> notifiers; // handles of the subscriptions that were made

  // ---- environment
  // ------------------------------------------------------------------------------------
  std::optional<std::string> variable(llvm::StringRef name) const;
  /// All variables, this Vm's changes included, in order of their names.
  std::map<std::string, std::string> variables() const;
  void setVariable(llvm::StringRef name, std::optional<std::string> value);
  /// Where relative paths start; empty is the process's own working directory.
  llvm::StringRef directory() const { return directory_; }
  void setDirectory(std::string directory) { directory_ = std::move(directory); }

  // ---- hooks
  // ------------------------------------------------------------------------------------------ Of a
  // program alone: in a fold nothing is registered (T045). Owned closures; the Vm's heap goes
  // before they could be given back, so what is never run is not released.
  vm::Value panicHook = 0;
  vm::LayoutId panicHookText{}; // of its parameter
  std::vector<vm::Value> exitHooks;

  // ---- tests
  // ------------------------------------------------------------------------------------------
  Assertions assertions;

  // ---- clock
  // --------------------------------------------------------------------------------------------
  std::optional<int64_t> frozenMs;

  // ---- a fold's roots
  // -------------------------------------------------------------------------------------
  /// The root of the calling package, opened once; null when it has none (then `reason` says why).
  const Root* rootOfCaller(std::string& reason);

private:
  /// The number of the error, or 0.
  static int writeFully(int fd, llvm::StringRef bytes);

  HostOptions options_;
  vm::Vm* vm_ = nullptr;
  std::string output_;
  int outputError_ = 0; // not told yet
  bool outputGone_ = false;
  std::optional<bool> outputIsTerminal_;
  std::shared_ptr<ByteSource> input_ = std::make_shared<ByteSource>(STDIN_FILENO);
  HandleTable handles_;
  std::map<std::string, std::optional<std::string>> environment_;
  std::string directory_;
  std::map<uint32_t, Root> roots_;
};

/// The state of a program that is run; for VmOptions::host.
std::unique_ptr<vm::HostState> makeHost(HostOptions options);
/// The state of a Vm, made if it has none yet. Every HostState of ours is a LibraryHost.
LibraryHost& hostOf(vm::Vm& vm);
/// Writes out what is buffered; before the tool itself writes.
void flushOutput(vm::Vm& vm);
/// The same at the end of the program, and whether all of its output was written.
vm::Trap finishOutput(vm::Vm& vm);
/// Gives the message of a fatal trap to the hook of `runtime::set_panic_hook`; false if there is
/// none. A trap that the hook itself ends with takes the place of `trap`, and is then the one to
/// report: false again, unless it is an exit.
bool runPanicHook(vm::Vm& vm, vm::Trap& trap);
/// Runs the hooks of `runtime::at_exit`, last registered first, those included that a hook
/// registers, and finishes the output. Answers the first trap of one, or that of the output; the
/// others run all the same.
vm::Trap runExitHooks(vm::Vm& vm);

} // namespace gos::stdlib
