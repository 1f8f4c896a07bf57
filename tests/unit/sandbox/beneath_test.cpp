// The entries T001 to T027 of the threat catalogue, as far as opening beneath a root decides them.
// Each runs on both roads: the openat2 road with the walk behind it, and the walk alone.

#include "sandbox/beneath.h"

#include "sandbox/policy/presets.h"
#include "temp_tree.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

using namespace gos;
using gos::test::TempTree;

namespace {
Root openRoot(const std::string& directory, Road road = Road::FastThenWalk) {
  Root root = llvm::cantFail(Root::open(directory));
  root.setRoad(road);
  return root;
}

/// "found in.txt=inside", "outside", "absent x", "is a directory": what reading a file came to.
std::string read(const Root& root, llvm::StringRef path, llvm::StringRef base = "") {
  OpenedFile file = root.openFile(base, path);
  const Resolution& resolution = file.resolution;
  CHECK(resolution.written == path);
  switch (resolution.outcome) {
  case Outcome::Found: {
    CHECK(file.fd.valid());
    ReadBytes bytes = readAll(file.fd.get(), 1 << 20);
    return "found " + resolution.path + "=" + bytes.bytes;
  }
  case Outcome::Absent:
    CHECK_FALSE(file.fd.valid());
    return "absent " + resolution.path;
  case Outcome::Outside:
    CHECK_FALSE(file.fd.valid());
    return "outside";
  case Outcome::Refused:
    CHECK_FALSE(file.fd.valid());
    return "refused by " + resolution.rule;
  case Outcome::Failed:
    CHECK_FALSE(file.fd.valid());
    return phrase(resolution.failure).str();
  }
  return {};
}

constexpr Road kRoads[] = {Road::FastThenWalk, Road::WalkOnly};
} // namespace

TEST_CASE("T001 a link that leads out of the tree is a denial") {
  TempTree tree;
  tree.link("l", "../X");
  tree.link("absolute", tree.base() + "/X");
  tree.link("d", "/etc");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "l") == "outside");
    CHECK(read(root, "absolute") == "outside");
    CHECK(read(root, "d/passwd") == "outside");
    CHECK(root.list("", "d").resolution.outcome == Outcome::Outside);
    CHECK(root.query("", "d", FollowLast::No).facts.kind == FileKind::Link);
  }
}

TEST_CASE("T002 chains are followed inside, and loops and long chains end at once") {
  TempTree tree;
  tree.file("in.txt");
  tree.directory("s");
  tree.link("a", "b");
  tree.link("b", "s/c");
  tree.link("s/c", "../../X");
  tree.link("e", "f");
  tree.link("f", "s/g");
  tree.link("s/g", "../in.txt");
  tree.link("x", "x");
  for (int index = 0; index != 41; ++index)
    tree.link("c" + std::to_string(index), index ? "c" + std::to_string(index - 1) : "in.txt");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "a") == "outside");
    CHECK(read(root, "e") == "found in.txt=inside");
    CHECK(read(root, "x") == "goes through too many symbolic links");
    CHECK(read(root, "c39") == "found in.txt=inside"); // 40 links
    CHECK(read(root, "c40") == "goes through too many symbolic links");
  }
  const OpenedFile followed = openRoot(tree.root()).openFile("", "e");
  REQUIRE(followed.resolution.links.size() == 3);
  CHECK(followed.resolution.links[1].path == "f");
  CHECK(followed.resolution.links[2].text == "../in.txt");
}

TEST_CASE("T003 dots that leave the root are a denial, whatever is there") {
  TempTree tree;
  tree.file("in.txt");
  tree.file("sub/deep/x");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    for (const char* path : {"../X", "sub/../../X", "./.././X", "..", "../R/in.txt", "../nothing",
                             "nothing/../../X", "in.txt/../../X", "sub/deep/x/../../../../X"})
      CHECK(read(root, path) == "outside");
    CHECK(read(root, "sub/../in.txt") == "found in.txt=inside");
    CHECK(read(root, "./sub/deep/.././../in.txt") == "found in.txt=inside");
    CHECK(read(root, "nothing/../in.txt") == "absent nothing");
    CHECK(read(root, "in.txt/../in.txt") == "is not a directory");
  }
}

TEST_CASE("T004 an absolute path counts only if it leads beneath the root") {
  TempTree tree;
  tree.file("in.txt");
  tree.file("sub/y", "why");
  tree.link("back", tree.root() + "/in.txt");
  tree.link("dir", tree.root() + "/sub");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "/etc/hostname") == "outside");
    CHECK(read(root, tree.root() + "/in.txt") == "found in.txt=inside");
    CHECK(read(root, "/" + tree.root() + "//./in.txt") == "found in.txt=inside");
    CHECK(read(root, tree.root() + "/../X") == "outside");
    CHECK(read(root, tree.root() + "2/in.txt") == "outside");
    CHECK(read(root, "back") == "found in.txt=inside");
    CHECK(read(root, "dir/y") == "found sub/y=why");
    CHECK(read(root, "dir/../in.txt") == "found in.txt=inside");
    CHECK(read(root, tree.root()) == "is a directory");
  }
}

TEST_CASE("T005 T006 magic links and descriptor names are a denial") {
  TempTree tree;
  tree.link("m", "/proc/self/root");
  tree.link("f", "/dev/fd/9");
  const int kept = ::open((tree.base() + "/X").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::dup2(kept, 9) == 9);
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    for (const char* path : {"/proc/self/root/etc/hostname", "/proc/self/cwd/../X",
                             "/proc/self/exe", "/proc/thread-self/root", "m/etc/hostname",
                             "/proc/self/fd/9", "/dev/fd/9", "/dev/stdin", "f"})
      CHECK(read(root, path) == "outside");
  }
  ::close(9);
  ::close(kept);
}

TEST_CASE("T007 what would block is refused without waiting") {
  TempTree tree;
  REQUIRE(::mkfifo(tree.at("p").c_str(), 0644) == 0);
  const int node = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, tree.at("s").c_str());
  REQUIRE(::bind(node, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0);
  tree.link("to-p", "p");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "p") == "is not a regular file");
    CHECK(read(root, "s") == "is not a regular file");
    CHECK(read(root, "to-p") == "is not a regular file");
    CHECK(root.list("", "p").resolution.failure == Failure::NotADirectory);
    const Queried queried = root.query("", "p", FollowLast::Yes);
    CHECK(queried.resolution.found());
    CHECK(queried.facts.kind == FileKind::Other);
    CHECK(queried.facts.size == 0);
  }
  ::close(node);
}

TEST_CASE("T008 devices are denied outside and refused inside") {
  TempTree tree;
  tree.link("z", "/dev/zero");
  const bool canMakeNodes = ::mknod(tree.at("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "z") == "outside");
    if (canMakeNodes) {
      const std::string verdict = read(root, "null");
      CHECK((verdict == "is not a regular file" || verdict == "permission denied"));
    }
  }
}

TEST_CASE("T009 the read limit is kept before memory is taken") {
  TempTree tree;
  tree.file("big");
  REQUIRE(::truncate(tree.at("big").c_str(), off_t(1) << 40) == 0);
  tree.file("five", "12345");
  const Root root = openRoot(tree.root());
  struct rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const ReadBytes big = readAll(root.openFile("", "big").fd.get(), 1 << 20);
  ::getrusage(RUSAGE_SELF, &after);
  CHECK(big.failure == Failure::TooLarge);
  CHECK(big.size == uint64_t(1) << 40);
  CHECK(big.bytes.empty());
  CHECK(after.ru_maxrss - before.ru_maxrss < 8 << 10);
  CHECK(readAll(root.openFile("", "five").fd.get(), 5).bytes == "12345");
  CHECK(readAll(root.openFile("", "five").fd.get(), 4).failure == Failure::TooLarge);
  CHECK(readSome(root.openFile("", "five").fd.get(), 3).bytes == "123");
  // A size that lies: what counts is what is read.
  UniqueFd endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  CHECK(readAll(endless.get(), 1 << 20).failure == Failure::TooLarge);
}

TEST_CASE("T010 nothing tells whether an outside name exists") {
  TempTree tree;
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    for (const std::string& path : {tree.base() + "/X", tree.base() + "/nothing",
                                    std::string("../X"), std::string("../nothing")}) {
      for (FollowLast follow : {FollowLast::No, FollowLast::Yes}) {
        const Resolution resolution = root.query("", path, follow).resolution;
        CHECK(resolution.outcome == Outcome::Outside);
        CHECK(resolution.path.empty());
        CHECK(resolution.errorNumber == 0);
        CHECK(resolution.links.empty());
      }
      CHECK(root.list("", path).resolution.outcome == Outcome::Outside);
      CHECK(root.openFile("", path).resolution.outcome == Outcome::Outside);
    }
  }
}

TEST_CASE("T013 a denial shows the path as written and the link in the tree, no more") {
  TempTree tree;
  tree.link("l", "/srv/current/key");
  tree.directory("sub");
  tree.link("sub/up", "../../outside");
  tree.link("sub/in", ".");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    Resolution resolution = root.openFile("", "l").resolution;
    CHECK(resolution.written == "l");
    CHECK(resolution.leadingOut.path == "l");
    CHECK(resolution.leadingOut.text == "/srv/current/key");
    resolution = root.openFile("", "sub/in/up/secret").resolution;
    CHECK(resolution.outcome == Outcome::Outside);
    CHECK(resolution.leadingOut.path == "sub/up");
    // The dots of the path itself lead out, not the link before them.
    resolution = root.openFile("", "sub/in/../../X").resolution;
    CHECK(resolution.outcome == Outcome::Outside);
    CHECK(resolution.leadingOut.path.empty());
  }
}

TEST_CASE("T014 a listing shows links as links, sorted by bytes, and a walk does not enter them") {
  TempTree tree;
  tree.file("b", "12345");
  tree.file("B", "1");
  tree.file("\xC3\xA4", "");
  tree.directory("sub");
  tree.link("d", "/etc");
  tree.link("loop", ".");
  const Root root = openRoot(tree.root());
  const Listing listing = root.list("", ".");
  REQUIRE(listing.resolution.found());
  std::string text;
  for (const DirectoryEntry& entry : listing.entries)
    text += entry.name +
            (entry.facts.kind == FileKind::Link        ? "@"
             : entry.facts.kind == FileKind::Directory ? "/"
                                                       : "=") +
            std::to_string(entry.facts.size) + " ";
  CHECK(text == "B=1 b=5 d@4 loop@1 sub/0 \xC3\xA4=0 ");
  const OpenedDirectory top = root.openDirectory("", ".");
  CHECK(root.openChildDirectory(top, "sub").resolution.found());
  CHECK(root.openChildDirectory(top, "sub").resolution.path == "sub");
  CHECK(root.openChildDirectory(top, "loop").resolution.failure == Failure::NotADirectory);
  CHECK(root.openChildDirectory(top, "d").resolution.failure == Failure::NotADirectory);
  CHECK(root.openChildDirectory(top, "none").resolution.absent());
  for (const char* name : {"..", ".", "", "sub/x", "/etc"})
    CHECK(root.openChildDirectory(top, name).resolution.failure == Failure::InvalidPath);
  CHECK(root.list("", ".", 3).resolution.failure == Failure::TooLarge);
  CHECK(root.list("", ".", 3).entries.empty());
}

TEST_CASE("T016 T017 the base is the root's own and nothing is expanded") {
  TempTree tree;
  tree.file("src/in.txt", "base");
  tree.file("in.txt", "top");
  tree.file("src/~/x", "tilde");
  const Root root = openRoot(tree.root());
  const std::string cwd = std::filesystem::current_path();
  for (const std::string& place : {std::string("/"), tree.root(), tree.root() + "/src", cwd}) {
    std::filesystem::current_path(place);
    CHECK(read(root, "in.txt", "src") == "found src/in.txt=base");
    CHECK(read(root, "../in.txt", "src") == "found in.txt=top");
    CHECK(read(root, "../../X", "src") == "outside");
    CHECK(read(root, "~/x", "src") == "found src/~/x=tilde");
    CHECK(read(root, "$HOME/x", "src") == "absent src/$HOME/x");
    CHECK(read(root, "file:///etc/passwd") == "absent file:/etc/passwd");
    CHECK(read(root, "%TEMP%\\x") == "absent %TEMP%\\x");
  }
}

TEST_CASE("T019 a hard link reads, and its link count is recorded") {
  TempTree tree;
  REQUIRE(::link((tree.base() + "/X").c_str(), tree.at("h").c_str()) == 0);
  const OpenedFile file = openRoot(tree.root()).openFile("", "h");
  CHECK(file.resolution.found());
  CHECK(file.facts.hardLinks == 2);
  CHECK_FALSE(file.facts.otherDevice);
}

TEST_CASE("T021 T022 the bytes that are judged are the bytes that are opened") {
  TempTree tree;
  tree.file("in.txt");
  tree.file(std::string("\xff\xfe"), "odd");
  tree.file("new\nline", "newline");
  tree.file("C:in.txt", "colon");
  tree.directory("sub");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, llvm::StringRef("in.txt\0.bak", 11)) == "is not a valid path");
    CHECK(read(root, "") == "is not a valid path");
    CHECK(read(root, "\xff\xfe") == "found \xff\xfe=odd");
    CHECK(read(root, "new\nline") == "found new\nline=newline");
    CHECK(read(root, "C:in.txt") == "found C:in.txt=colon");
    CHECK(read(root, "\\\\?\\C:\\x") == "absent \\\\?\\C:\\x");
    CHECK(read(root, "//host/share/x") == "outside");
    CHECK(read(root, "in.txt.") == "absent in.txt.");
    CHECK(read(root, std::string(5000, 'a')) == "is too long or too deep");
    CHECK(read(root, std::string(300, 'a')) == "is too long or too deep");
    CHECK(read(root, std::string(300, 'a') + "/../../X") == "outside");
    CHECK(read(root, ".") == "is a directory");
    CHECK(read(root, "in.txt/") == "is not a directory");
    CHECK(read(root, "in.txt//") == "is not a directory");
    CHECK(read(root, "in.txt/.") == "is not a directory");
    CHECK(read(root, "sub/") == "is a directory");
    CHECK(root.list("", "sub/").resolution.found());
    CHECK(root.query("", "in.txt/", FollowLast::No).resolution.failure == Failure::NotADirectory);
  }
}

TEST_CASE("T023 a root behind a link is one root, and both spellings count") {
  TempTree tree;
  tree.file("in.txt");
  const std::string alias = tree.base() + "/alias";
  REQUIRE(::symlink(tree.root().c_str(), alias.c_str()) == 0);
  tree.link("by-alias", alias + "/in.txt");
  for (Road road : kRoads) {
    Root root = llvm::cantFail(Root::open(alias));
    root.setRoad(road);
    CHECK(root.realPath() == tree.root());
    CHECK(root.spelling() == alias);
    CHECK(read(root, alias + "/in.txt") == "found in.txt=inside");
    CHECK(read(root, tree.root() + "/in.txt") == "found in.txt=inside");
    CHECK(read(root, "by-alias") == "found in.txt=inside");
    Root given = llvm::cantFail(Root::open(tree.root(), alias));
    CHECK(given.spelling() == alias);
    CHECK(read(given, alias + "/in.txt") == "found in.txt=inside");
    // A spelling of another directory is no spelling of this one.
    CHECK(llvm::cantFail(Root::open(tree.root(), tree.base() + "/outside")).spelling() ==
          tree.root());
  }
  // What the alias is made to point at later does not move the root.
  const Root held = openRoot(alias);
  ::unlink(alias.c_str());
  REQUIRE(::symlink((tree.base() + "/outside").c_str(), alias.c_str()) == 0);
  CHECK(read(held, "in.txt") == "found in.txt=inside");
  CHECK(read(held, alias + "/secret") == "absent secret");
}

TEST_CASE("a denial of the policy holds inside the root, also through links") {
  TempTree tree;
  tree.file(".ssh/id", "key");
  tree.file("in.txt");
  tree.link("l", ".ssh/id");
  tree.link(".ssh/out", "../in.txt");
  for (Road road : kRoads) {
    Root root = openRoot(tree.root(), road);
    const std::string denied = tree.at(".ssh");
    root.setPolicy(comptimePolicy(ComptimeIo::Confined, tree.root(), {denied}));
    CHECK(read(root, ".ssh/id") == "refused by " + denied);
    CHECK(read(root, "l") == "refused by " + denied);
    CHECK(read(root, ".ssh/nothing") == "refused by " + denied);
    CHECK(read(root, ".ssh/out") == "refused by " + denied);
    CHECK(read(root, "in.txt") == "found in.txt=inside");
    CHECK(root.list("", ".ssh").resolution.outcome == Outcome::Refused);
    CHECK(root.query("", ".ssh", FollowLast::Yes).resolution.outcome == Outcome::Refused);
    CHECK(root.list("", ".").resolution.found());
    CHECK(root.openChildDirectory(root.openDirectory("", "."), ".ssh").resolution.outcome ==
          Outcome::Refused);
    root.setPolicy(Policy());
    CHECK(root.openFile("", "in.txt").resolution.outcome == Outcome::Refused);
  }
}

TEST_CASE("a missing name is an absence with the place it would have") {
  TempTree tree;
  tree.directory("sub");
  tree.link("dangling", "sub/gone");
  for (Road road : kRoads) {
    const Root root = openRoot(tree.root(), road);
    CHECK(read(root, "x") == "absent x");
    CHECK(read(root, "sub/x/y") == "absent sub/x/y");
    CHECK(read(root, "dangling") == "absent sub/gone");
    CHECK(root.query("", "dangling", FollowLast::No).facts.kind == FileKind::Link);
    CHECK(root.query("", "dangling", FollowLast::Yes).resolution.absent());
  }
}

TEST_CASE("reading can hash what it reads") {
  TempTree tree;
  const std::string text(300000, 'q');
  tree.file("f", text);
  const ReadBytes bytes =
      readAll(openRoot(tree.root()).openFile("", "f").fd.get(), 1 << 20, Hashing::Sha256);
  CHECK(bytes.bytes == text);
  CHECK(bytes.sha256 == llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)));
}

TEST_CASE("T076 no descriptor is left behind, and all are close-on-exec and blocking") {
  TempTree tree;
  tree.file("a/b/c/d", "x");
  tree.link("l", "a/b/../b/c/d");
  const size_t before = gos::test::openDescriptors();
  {
    const Root root = openRoot(tree.root(), Road::WalkOnly);
    for (const char* path : {"l", "a/b/c/d", "a/b/c/none", "../X", "a"})
      root.openFile("", path);
    const OpenedFile file = root.openFile("", "l");
    CHECK((::fcntl(file.fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((::fcntl(file.fd.get(), F_GETFL) & O_NONBLOCK) == 0);
    CHECK((::fcntl(root.fd(), F_GETFD) & FD_CLOEXEC) != 0);
    root.list("", "a/b");
  }
  CHECK(gos::test::openDescriptors() == before);
}

TEST_CASE("a root that is no directory is an error that says what was tried") {
  TempTree tree;
  auto root = Root::open(tree.base() + "/X");
  REQUIRE_FALSE(bool(root));
  CHECK(llvm::toString(root.takeError()) ==
        "cannot open root `" + tree.base() + "/X`: not a directory");
  auto missing = Root::open(tree.base() + "/none");
  CHECK(llvm::toString(missing.takeError()) ==
        "cannot open root `" + tree.base() + "/none`: no such file or directory");
}
