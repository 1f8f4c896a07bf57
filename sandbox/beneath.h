#pragma once
// Opening beneath a root without a race: every path that a fold names goes through here.
//
// No path is checked and then opened again. A root is opened once, as a descriptor; a path is
// resolved beneath it, component by component or by openat2, and what was opened is looked at on
// its descriptor. A hostile tree may hold links that lead out, FIFOs, devices and loops, and a
// partner process may exchange any of its entries meanwhile: the answer is what lies inside, or a
// refusal. Nothing outside the root is touched in order to refuse it.
//
// Usage:  Root root = cantFail(Root::open("/w/proj"));
//         OpenedFile file = root.openFile("src", "../data/words.txt");
//         if (file.resolution.outcome == Outcome::Found) readAll(file.fd.get(), cap);

#include "sandbox/policy/decide.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gos {

/// What resolving a path came to. Refused and Outside are denials (GX0010), the others are not.
enum class Outcome : uint8_t {
  Refused, // a rule of the policy covers what the path names
  Outside, // the path leaves the root; nothing says whether anything is there
  Absent,  // no such name, strictly beneath the root
  Failed,  // an ordinary error, see `failure`
  Found,
};

enum class Failure : uint8_t {
  None,
  InvalidPath,   // empty, with a NUL
  TooLong,       // the path, a component, or more directories deep than any honest tree
  NotADirectory, // a file where a directory is needed
  IsADirectory,  // a directory where a file is needed
  NotRegular,    // FIFO, socket, device
  TooManyLinks,  // more than 40
  PermissionDenied,
  Changed,  // the tree changed under every attempt
  TooLarge, // more bytes or entries than the cap
  System,   // see `errorNumber`
};
/// "is not a regular file": a phrase for an io::Error, the same on every host.
llvm::StringRef phrase(Failure failure);

/// A link that was followed: an input of the fold as much as a file is.
struct FollowedLink {
  std::string path; // beneath the root
  std::string text;
};

/// The answer to "what does this path name?".
struct Resolution {
  Outcome outcome = Outcome::Refused;
  Failure failure = Failure::None;
  int errorNumber = 0;
  std::string written; // as the caller spelled it
  /// Beneath the root, canonical, without links; "." is the root. Of an absence: where it would be;
  /// of a failure: where it happened. Empty for Outside and for what was not resolved so far.
  std::string path;
  std::vector<FollowedLink> links;
  /// Outside: the link in the tree that leads out (also the last of `links`); empty path if none
  /// did.
  FollowedLink leadingOut;
  std::string rule; // Refused: the path of the rule, canonical

  bool found() const { return outcome == Outcome::Found; }
  bool absent() const { return outcome == Outcome::Absent; }
  /// Is it the gate's business?
  bool denied() const { return outcome == Outcome::Refused || outcome == Outcome::Outside; }
};

enum class FileKind : uint8_t { File, Directory, Link, Other };

struct FileFacts {
  FileKind kind = FileKind::Other;
  /// Bytes of a file, length of a link's text; 0 of anything else (T083).
  uint64_t size = 0;
  uint64_t hardLinks = 0;
  bool otherDevice = false; // not on the root's device: a mount (T019)
  // Host identity: never shown to a fold below `full`.
  int64_t modifiedSeconds = 0;
  uint32_t mode = 0;
};

struct OpenedFile {
  Resolution resolution;
  FileFacts facts;
  UniqueFd fd; // for reading, blocking mode; valid when found
};

struct OpenedDirectory {
  Resolution resolution;
  FileFacts facts;
  UniqueFd fd; // for reading; valid when found
};

struct Queried {
  Resolution resolution;
  FileFacts facts; // meaningful when found
};

struct DirectoryEntry {
  std::string name;
  FileFacts facts; // of the entry itself; a link is a link
};

struct Listing {
  Resolution resolution;
  std::vector<DirectoryEntry> entries; // sorted by the bytes of the name
};

struct Arrival; // of beneath_walk.h
enum class Want : uint8_t;
enum class FollowLast : uint8_t { No, Yes };
/// Which road a root takes; only tests ask for one alone.
enum class Road : uint8_t { FastThenWalk, WalkOnly };

class Root {
public:
  /// Opens a directory as a root, before the first fold. Its policy is reads beneath it. `spelling`
  /// is another absolute path that led to it, if there is one; it counts if it is the same
  /// directory.
  static llvm::Expected<Root> open(llvm::StringRef directory, llvm::StringRef spelling = {});

  Root(Root&&) = default;
  Root& operator=(Root&&) = default;

  /// The root with a policy of its own, whose denials hold inside it; `decide` judges every
  /// resolved path under it.
  void setPolicy(Policy policy) { policy_ = std::move(policy); }
  void setRoad(Road road) { road_ = road; }

  llvm::StringRef realPath() const { return realPath_; }
  llvm::StringRef spelling() const { return spelling_; }
  int fd() const { return fd_.get(); }

  // `base` is the directory beneath the root (canonical, or empty) that a relative `path` is
  // behind. An absolute path counts only if it leads beneath the root, in either spelling of the
  // root.

  /// A regular file, opened for reading.
  OpenedFile openFile(llvm::StringRef base, llvm::StringRef path) const;
  /// A directory, opened for listing.
  OpenedDirectory openDirectory(llvm::StringRef base, llvm::StringRef path) const;
  /// What the path names, without opening it. The same road as the two above.
  Queried query(llvm::StringRef base, llvm::StringRef path, FollowLast follow) const;
  /// openDirectory and listOpened in one.
  Listing list(llvm::StringRef base, llvm::StringRef path, size_t maxEntries = 1'000'000) const;
  /// The entries of a directory that is open already, for a walk.
  Listing listOpened(const OpenedDirectory& directory, size_t maxEntries = 1'000'000) const;
  /// A child directory of an open one, by its name; links are not followed (T014, T018).
  OpenedDirectory openChildDirectory(const OpenedDirectory& parent, llvm::StringRef name) const;

  /// Takes the root's leading components, in either spelling, off an absolute path; none if it is
  /// not beneath the root. Judges the string only.
  std::optional<std::string> beneathRoot(llvm::StringRef absolute) const;

private:
  friend class Walk;
  Root() = default;

  Arrival resolve(llvm::StringRef base, llvm::StringRef path, Want want, FollowLast follow) const;
  /// Does the policy allow the operation on a path beneath the root? Fills `rule` if not.
  bool judge(Resolution& resolution, Operation operation) const;

  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string realPath_;
  std::string spelling_;
  Policy policy_;
  Road road_ = Road::FastThenWalk;
};

enum class Hashing : uint8_t { Off, Sha256 };

struct ReadBytes {
  Failure failure = Failure::None; // TooLarge: `bytes` is empty
  int errorNumber = 0;
  std::string bytes;
  uint64_t size = 0; // bytes read; of a file that is too large, what fstat says or more
  std::array<uint8_t, 32> sha256{};
};

/// The rest of an open file, at most `cap` bytes; the cap counts bytes read, not st_size (T009).
ReadBytes readAll(int fd, uint64_t cap, Hashing hashing = Hashing::Off);
/// At most `count` bytes from the descriptor's position; fewer at the end of the file.
ReadBytes readSome(int fd, uint64_t count);

} // namespace gos
