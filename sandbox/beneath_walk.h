#pragma once
// The slow road of beneath.cpp, and what both roads share. Not for anyone else.

#include "sandbox/beneath.h"

#include <sys/stat.h>

namespace gos {

/// What the caller wants at the end of the path.
enum class Want : uint8_t { Query, File, Directory };

/// What a road came to.
struct Arrival {
  Resolution resolution;
  struct stat status{};
  UniqueFd fd; // for reading when a file or directory was wanted and found
};

FileFacts factsOf(const struct stat& status, dev_t rootDevice);
/// Fills in an ordinary failure.
void fail(Resolution& resolution, Failure failure, int errorNumber = 0);
/// The failure that an errno of a path call means.
Failure failureOf(int errorNumber);
/// "a/b" and "c" to "a/b/c"; "." and the empty string are the root.
std::string joinBeneath(llvm::StringRef directory, llvm::StringRef name);
/// The operation that `decide` is asked about.
constexpr Operation operationOf(Want want) {
  return want == Want::Query  ? Operation::Query
         : want == Want::File ? Operation::Read
                              : Operation::List;
}

/// Resolves component by component: needs no openat2, follows links that lead back in, and knows
/// every link it went through.
class Walk {
public:
  Walk(const Root& root, Want want, FollowLast followLast)
      : root_(root), want_(want), followLast_(followLast) {}

  /// `text` is relative to the root; `written` is what the caller spelled.
  Arrival run(llvm::StringRef written, llvm::StringRef text);

private:
  /// A directory that the walk stands in; the bottom of the stack is the root and not in it.
  struct Level {
    UniqueFd fd;
    std::string name;
  };
  /// The text of a link that is being walked through: it lasts until only `rest` bytes are left.
  struct OpenLink {
    size_t rest;
    FollowedLink link;
  };
  enum class Step : uint8_t { Go, Done, Again };

  Step attempt(Arrival& arrival, llvm::StringRef text);
  Step enter(Arrival& arrival, llvm::StringRef name);
  Step follow(Arrival& arrival, UniqueFd link, llvm::StringRef name);
  Step finishAtLeaf(Arrival& arrival, UniqueFd leaf, llvm::StringRef name);
  Step finishAtDirectory(Arrival& arrival);
  /// The walk can't go on at `name`: leaving the root further on outweighs every other answer, so
  /// that an answer tells nothing about the outside.
  Step stopAt(Arrival& arrival, llvm::StringRef name, Outcome outcome, Failure failure, int number);
  Step outside(Arrival& arrival);
  Step refuse(Arrival& arrival, Failure failure, int number = 0);

  int top() const { return stack_.empty() ? root_.fd() : stack_.back().fd.get(); }
  std::string pathOfTop() const;
  llvm::StringRef rest() const { return llvm::StringRef(pending_).drop_front(at_); }
  /// Does the rest of the text leave the root, taken as text, from `depth` levels below it?
  bool restLeavesRoot(size_t depth) const;

  const Root& root_;
  Want want_;
  FollowLast followLast_;
  std::vector<Level> stack_;
  std::vector<OpenLink> openLinks_;
  std::string pending_; // what is still to be walked, from at_ on
  size_t at_ = 0;
  unsigned linkCount_ = 0;
};

} // namespace gos
