#pragma once
// The library's one door to the file system. No body names a path to the kernel itself; a test over
// the sources of stdlib/ sees to that.
//
// Threat: a region's path may lead anywhere, through links, dots and renames that happen meanwhile.
// In a fold below `full` every read, query and listing resolves beneath the root of the package
// whose source spells the call, on descriptors (sandbox/beneath.h); what leaves the root is a
// denial, which the program cannot see. At `full`, and in a program, the calls are ordinary ones.
// Writing is never reached below `full`: the gate denies the class, and this door denies it again.

#include "stdlib/host_state.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::stdlib {

/// How an operation ended. A trap ends the fold; a message becomes an `io::Error`.
struct FileResult {
  enum class Kind : uint8_t {
    Done,
    Absent,
    Failed,
    Trapped,
    TooLarge
  }; // TooLarge: for the heap, of a job
  Kind kind = Kind::Done;
  std::string message;
  vm::Trap trap;
  bool done() const { return kind == Kind::Done; }
};

struct FileFactsAnswer {
  FileKind kind = FileKind::Other;
  uint64_t size = 0;
  int64_t modifiedMs = 0; // 0 below `full`
  uint32_t mode = 0;      // 0 below `full`
};

struct ListedEntry {
  std::string name;
  FileKind kind = FileKind::Other;
  uint64_t size = 0;
};

/// The bits of fs::OpenOptions.
enum OpenFlag : unsigned {
  kOpenRead = 1,
  kOpenWrite = 2,
  kOpenAppend = 4,
  kOpenTruncate = 8,
  kOpenCreate = 16,
  kOpenCreateNew = 32
};

class HostFiles {
public:
  explicit HostFiles(vm::Vm& vm) : vm_(&vm), host_(&hostOf(vm)) {}

  // ---- for a job, which knows nothing of the Vm
  // -----------------------------------------------------
  /// What a program's operations need of the Vm, taken when the job is made.
  struct Snapshot {
    std::string directory;
    std::optional<std::string> temporary; // TMPDIR
    uint64_t room = 0;                    // for what is read
  };
  /// None in a fold: what a region does is judged and recorded as it happens.
  static std::optional<Snapshot> snapshot(vm::Vm& vm);
  explicit HostFiles(const Snapshot& snapshot) : snapshot_(&snapshot) {}
  /// What was read, to be counted by the Vm's thread.
  uint64_t bytesRead() const { return bytesRead_; }
  uint64_t bytesLookedAt() const { return bytesLookedAt_; }

  // ---- reading; in a fold judged, counted against the read limit and recorded
  // ----------------------
  FileResult readAll(llvm::StringRef path, std::string& bytes);
  FileResult open(llvm::StringRef path, std::unique_ptr<FileHandle>& file);
  /// Sorted by the bytes of the names.
  FileResult list(llvm::StringRef path, std::vector<ListedEntry>& entries);
  /// Of a link itself when `follow` is No.
  FileResult query(llvm::StringRef path, FollowLast follow, FileFactsAnswer& facts);
  FileResult canonicalize(llvm::StringRef path, std::string& out);
  /// Host identity below `full`.
  FileResult permissions(llvm::StringRef path, int64_t& mode);
  /// More of an open file; counted.
  FileResult readMore(FileHandle& file, uint64_t count, std::string& bytes);
  FileResult readAt(FileHandle& file, uint64_t offset, uint64_t count, std::string& bytes);

  // ---- writing
  // --------------------------------------------------------------------------------------
  FileResult writeAll(llvm::StringRef path, llvm::StringRef bytes, std::optional<uint32_t> mode);
  FileResult openWith(llvm::StringRef path, unsigned flags, std::unique_ptr<FileHandle>& file);
  FileResult copy(llvm::StringRef from, llvm::StringRef to, uint64_t& size);
  FileResult rename(llvm::StringRef from, llvm::StringRef to);
  FileResult makeDirectory(llvm::StringRef path, uint32_t mode, bool exactMode, bool parents);
  FileResult removeFile(llvm::StringRef path);
  FileResult removeDirectory(llvm::StringRef path);
  FileResult removeTree(llvm::StringRef path);
  FileResult setPermissions(llvm::StringRef path, uint32_t mode);
  FileResult syncDirectory(llvm::StringRef path);
  FileResult makeTemporaryDirectory(llvm::StringRef prefix, std::string& path);
  FileResult makeTemporaryFile(llvm::StringRef prefix, std::unique_ptr<FileHandle>& file,
                               std::string& path);

  // ---- the working directory
  // -------------------------------------------------------------------------
  FileResult currentDirectory(std::string& path);
  FileResult changeDirectory(llvm::StringRef path);

private:
  enum class Road : uint8_t { Ordinary, Beneath };
  Road road() const;
  /// The path as the kernel is to see it: behind this Vm's working directory. Refuses what is empty
  /// or has a NUL.
  FileResult prepare(llvm::StringRef path, std::string& out) const;
  FileResult mayWrite() const;
  const Root* root(FileResult& result);
  llvm::StringRef base() const;
  FileResult judge(const Resolution& resolution, llvm::StringRef verb);
  FileResult takeBytes(int fd, llvm::StringRef path, std::string& bytes,
                       std::array<uint8_t, 32>& sha256);
  uint64_t readRoom() const;
  FileResult tooLarge(llvm::StringRef path, uint64_t size) const;
  FileResult outside(const Resolution& resolution) const;
  void record(vm::FoldInput::Kind kind, const Resolution& resolution, uint64_t size,
              const std::array<uint8_t, 32>& sha256, std::string detail = {});

  bool inFold() const { return vm_ != nullptr && vm_->inFold(); }
  void countRead(uint64_t bytes);

  vm::Vm* vm_ = nullptr;
  LibraryHost* host_ = nullptr;
  const Snapshot* snapshot_ = nullptr; // instead of the two
  uint64_t bytesRead_ = 0;
  uint64_t bytesLookedAt_ = 0;
};

} // namespace gos::stdlib
