// The recorder over calls that nobody made: what becomes a line of the report, and what does not.

#include "sandbox/command/recorder.h"
#include "sandbox/linux/filter_table.h"
#include "tests/unit/sandbox_linux/fake_tree.h"

#include <arpa/inet.h>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <sys/un.h>

namespace gos::sandbox {
namespace {

int number(llvm::StringRef name) {
  for (const SystemCallRow& row : systemCallRows())
    if (row.name == name)
      return row.number;
  return -1;
}

FakeTree host() {
  FakeTree tree = smallHost();
  tree.file("/home/ann/p/a.txt").file("/home/ann/.git/config").file("/home/ann/notes");
  tree.file("/srv/data/x").file("/srv/data/y").directory("/opt/tool").file("/etc/ld.so.preload");
  tree.file("/home/ann/.ssh/id").file("/tmp/outside").file("/run/nscd/socket");
  tree.link("/home/ann/p/out", "/srv/data/x").link("/srv/way", "data");
  tree.directory("/var/lib/t/run");
  return tree;
}

Policy policyOf(SandboxLevel level = SandboxLevel::Standard) {
  return Policy()
      .withLevel(level)
      .readOnly("/usr", Origin::Shipped)
      .readOnly("/opt", Origin::Shipped)
      .readWrite("/home/ann/p", Origin::Shipped)
      .readOnly("/home/ann/p/.git/hooks", Origin::Shipped)
      .deny("/home/ann/.ssh", Origin::Shipped)
      .withWorkingDirectory("/home/ann/p");
}

/// A run that nobody started.
struct Watched {
  Policy policy;
  FakeTree tree;
  ChildPlan plan;
  std::unique_ptr<Recorder> recorder;

  explicit Watched(Policy made = policyOf(), FakeTree files = host(), bool learns = true)
      : policy(std::move(made)), tree(std::move(files)) {
    llvm::Expected<ChildPlan> compiled =
        compilePlan(policy, tree, smallLimits(), {"HOME=/home/ann"}, "/var/lib/t/run");
    REQUIRE_MESSAGE(bool(compiled), llvm::toString(compiled.takeError()));
    plan = std::move(*compiled);
    plan.filterNotifies = true;
    recorder = std::make_unique<Recorder>(policy, plan, tree, learns,
                                          std::vector<std::string>{"/home/ann", "/root"});
  }

  Watched& open(llvm::StringRef path, uint64_t flags = O_RDONLY) {
    SeenPath seen;
    seen.act = PathAct::Open;
    readOpenFlags(flags, seen);
    seen.path = path;
    return call("openat", {seen});
  }
  Watched& look(llvm::StringRef path) {
    return call("newfstatat", {{PathAct::Look, Operation::Query, true, false, false, path}});
  }
  Watched& entry(llvm::StringRef name, PathAct act, llvm::StringRef path, bool creates = false) {
    return call(name, {{act, Operation::Write, false, creates, creates, path}});
  }
  Watched& move(llvm::StringRef from, llvm::StringRef to) {
    return call("renameat2", {{PathAct::RenameFrom, Operation::Write, false, false, false, from},
                              {PathAct::RenameTo, Operation::Write, false, true, false, to}});
  }
  Watched& call(llvm::StringRef name, std::vector<SeenPath> paths) {
    SeenCall seen;
    seen.number = number(name);
    seen.paths = paths;
    recorder->take(seen);
    return *this;
  }
  Watched& address(llvm::StringRef name, llvm::StringRef bytes, int type = SOCK_STREAM) {
    SeenCall seen;
    seen.number = number(name);
    seen.address = bytes;
    seen.socketType = type;
    const uint64_t none[6] = {};
    seen.arguments = none;
    recorder->take(seen);
    return *this;
  }
  Watched& refused(llvm::StringRef name, int error, std::vector<uint64_t> arguments = {}) {
    arguments.resize(6);
    SeenCall seen;
    seen.number = number(name);
    seen.refusal = error;
    seen.arguments = arguments;
    recorder->take(seen);
    return *this;
  }

  std::vector<Denied> lines() const { return recorder->report().denied; }
  /// "read /srv/data/x --ro /srv/data/x", one a line.
  std::string text() const {
    std::string text;
    for (const Denied& line : lines())
      text += (line.harmless ? "harmless " : "") + line.operation + " " +
              (line.path.empty() ? line.address : line.path) +
              (line.flag.empty() ? "" : " " + line.flag) + "\n";
    return text;
  }
};

std::string inet(const char* host, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return std::string(reinterpret_cast<const char*>(&address), sizeof address);
}

TEST_CASE("a refused read, a refused write and the flag that would allow each") {
  Watched run;
  run.open("/srv/data/x").open("/opt/q", O_WRONLY | O_CREAT).open("/opt/tool", O_RDONLY);
  run.open("/home/ann/p/a.txt", O_RDWR).open("/usr/bin/true");
  CHECK(run.text() == "read /srv/data/x --ro /srv/data/x\nwrite /opt/q --rw /opt\n");
  const Denied line = run.lines()[1];
  CHECK(line.call == "openat");
  CHECK(line.evidence == Evidence::Inferred);
  CHECK(line.rule == "`/opt/q` is read-only by the shipped rule for `/opt`");
}

TEST_CASE("what exists neither inside nor outside was refused by nobody") {
  Watched run;
  run.open("/srv/none").look("/nowhere/at/all").open("/nowhere/x", O_WRONLY | O_CREAT);
  run.move("/home/ann/p/none", "/opt/b");
  run.entry("unlinkat", PathAct::Remove, "/opt/none");
  CHECK(run.text().empty());
  // The same move of a file that is there is refused.
  run.move("/home/ann/p/a.txt", "/opt/b");
  CHECK(run.text() == "write /opt/b --rw /opt\n");
}

TEST_CASE("a source that comes into being later is not taken for missing still") {
  Watched run;
  run.move("/home/ann/p/late", "/opt/b");
  CHECK(run.text().empty());
  run.tree.file("/home/ann/p/late");
  run.move("/home/ann/p/late", "/opt/b");
  CHECK(run.text() == "write /opt/b --rw /opt\n");
}

TEST_CASE("one act is one line with a count, however it is spelled") {
  Watched run;
  for (int round = 0; round != 500; ++round)
    run.open("/srv/data/x").open("/srv/way/x").open("/srv//./data/../data/x").look("/srv/data/x");
  REQUIRE(run.lines().size() == 1);
  CHECK(run.lines()[0].count == 2000);
}

TEST_CASE("to ask about a file and to open it is one line, and the opening is what it says") {
  Watched run;
  run.look("/srv/data/x").open("/srv/data/x");
  REQUIRE(run.lines().size() == 1);
  CHECK(run.lines()[0].call == "openat");
  CHECK(run.lines()[0].operation == "read");
}

TEST_CASE("a link in a grant is judged by where it leads") {
  Watched run;
  run.open("/home/ann/p/out");
  CHECK(run.text() == "read /srv/data/x --ro /srv/data/x\n");
  run.entry("unlinkat", PathAct::Remove, "/home/ann/p/out"); // the link itself is the run's
  CHECK(run.lines().size() == 1);
}

TEST_CASE("a link that takes the place of a directory is followed from then on") {
  Watched run;
  run.tree.directory("/home/ann/p/d").file("/home/ann/p/d/x");
  run.open("/home/ann/p/d/x");
  CHECK(run.text().empty());
  run.tree.link("/home/ann/p/d", "/srv/data");
  run.entry("symlinkat", PathAct::Make, "/home/ann/p/d", /*creates=*/true);
  run.open("/home/ann/p/d/x");
  CHECK(run.text() == "read /srv/data/x --ro /srv/data/x\n");
}

TEST_CASE("a shipped denial has no flag, a denial of the user names it") {
  Watched run(policyOf().deny("/home/ann/p/src", Origin::User, "--deny src"));
  run.open("/home/ann/.ssh/id").open("/home/ann/p/src/main.c");
  REQUIRE(run.lines().size() == 2);
  CHECK(run.lines()[0].flag.empty());
  CHECK(run.lines()[0].advice.empty());
  CHECK(run.lines()[0].rule ==
        "`/home/ann/.ssh/id` is denied by the shipped rule for `/home/ann/.ssh`");
  CHECK(run.lines()[1].flag.empty());
  CHECK(run.lines()[1].advice == "leave out `--deny src`");
}

TEST_CASE("directories that lead to a grant are seen, and are no denial") {
  Watched run;
  run.look("/").look("/home").look("/home/ann").open("/home/ann", O_RDONLY | O_DIRECTORY);
  run.open("/home").open("/etc/passwd").look("/etc/group").open("/proc/self/maps");
  run.open("/dev/null", O_RDWR).open("/dev/shm/x", O_RDWR | O_CREAT);
  run.open("/tmp/mine", O_RDWR | O_CREAT);
  CHECK(run.text().empty());
}

TEST_CASE("what the private temp stands before is refused; what is made in it is not") {
  Watched run;
  run.open("/tmp/outside").open("/tmp/new", O_RDWR | O_CREAT).look("/tmp/none");
  CHECK(run.text() == "read /tmp/outside --ro /tmp/outside\n");
}

TEST_CASE("probing of parents and of what libc looks for is harmless, and comes last") {
  Watched run;
  run.look("/home/ann/.git").open("/home/ann/.git/config").open("/etc/ld.so.preload");
  run.call("connect",
           {{PathAct::Connect, Operation::Read, true, false, false, "/run/nscd/socket"}});
  run.open("/home/ann/notes");
  CHECK(run.text() == "read /home/ann/.git/config --ro /home/ann/.git/config\n"
                      "read /home/ann/notes --ro /home/ann/notes\n"
                      "harmless query /home/ann/.git --ro /home/ann/.git\n"
                      "harmless read /etc/ld.so.preload --ro /etc/ld.so.preload\n"
                      "harmless connect /run/nscd/socket --ro /run/nscd/socket\n");
}

TEST_CASE("making a directory that exists is what every build does") {
  Watched run;
  for (const char* path : {"/", "/home", "/home/ann", "/home/ann/p", "/opt/tool", "/usr"})
    run.entry("mkdirat", PathAct::MakeDirectory, path, /*creates=*/true);
  CHECK(run.text().empty());
  run.entry("mkdirat", PathAct::MakeDirectory, "/opt/new", /*creates=*/true);
  CHECK(run.text() == "write /opt/new --rw /opt\n");
}

TEST_CASE("a guard whose name was missing stood nowhere, so nothing of it was refused") {
  Watched run(policyOf().readOnly("/home/ann/p/.vscode", Origin::Shipped));
  run.entry("mkdirat", PathAct::MakeDirectory, "/home/ann/p/.vscode", /*creates=*/true);
  run.tree.directory("/home/ann/p/.vscode");
  run.open("/home/ann/p/.vscode/tasks", O_WRONLY | O_CREAT);
  CHECK(run.text().empty());
  CHECK(run.recorder->learned().workdirWritten);
  // One that is there stands.
  Watched guarded(policyOf(), host().file("/home/ann/p/.git/hooks/pre-commit"));
  guarded.open("/home/ann/p/.git/hooks/pre-commit", O_WRONLY);
  CHECK(guarded.text() ==
        "write /home/ann/p/.git/hooks/pre-commit --rw /home/ann/p/.git/hooks/pre-commit\n");
}

TEST_CASE("what somebody means is not called harmless") {
  Watched run(policyOf(), host().directory("/home/ann/data").file("/home/ann/data/x"));
  run.look("/home/ann/data"); // all that `ls ~/data` comes to
  CHECK(run.text() == "query /home/ann/data --ro /home/ann/data\n");
}

TEST_CASE("no advice opens a home or what holds it, and a narrow grant is what is named") {
  Watched run(policyOf(), host().directory("/home/ann/other"));
  run.open("/home/ann/notes", O_WRONLY | O_CREAT | O_TRUNC); // is there: it alone
  run.open("/home/ann/new", O_WRONLY | O_CREAT | O_TRUNC);   // would need the home
  run.entry("mkdirat", PathAct::MakeDirectory, "/home/ann/newdir", /*creates=*/true);
  run.entry("unlinkat", PathAct::Remove, "/home/ann/notes");
  run.entry("unlinkat", PathAct::Remove, "/home/ann/other");
  run.entry("mkdirat", PathAct::MakeDirectory, "/newroot", /*creates=*/true);
  run.entry("mkdirat", PathAct::MakeDirectory, "/home/bob", /*creates=*/true);
  // There already, and out of sight: to see it is enough.
  run.entry("mkdirat", PathAct::MakeDirectory, "/srv/data", /*creates=*/true);
  run.entry("unlinkat", PathAct::Remove, "/home/ann/p"); // the root of a grant
  std::string advice;
  for (const Denied& line : run.lines()) {
    CHECK(line.flag != "--rw /home/ann");
    CHECK(line.flag != "--rw /home");
    CHECK(line.flag != "--rw /");
    CHECK(line.flag != "--rw /srv");
    CHECK((!line.flag.empty() || !line.advice.empty() || line.path == "/home/ann/p"));
    advice += line.advice + "\n";
  }
  CHECK(run.text().find("write /home/ann/notes --rw /home/ann/notes\n") != std::string::npos);
  CHECK(run.text().find("write /srv/data --ro /srv/data\n") != std::string::npos);
  CHECK(advice.find("touch /home/ann/new, then bwr --rw /home/ann/new\n") != std::string::npos);
  CHECK(advice.find("mkdir /home/ann/newdir, then bwr --rw /home/ann/newdir\n") !=
        std::string::npos);
}

TEST_CASE("no flag is named that the policy would not take") {
  Watched run(policyOf().readOnly("/srv/data", Origin::User, "--ro /srv/data"),
              host().file("/home/ann/p/.git/hooks/a"));
  run.open("/srv/data/new", O_WRONLY | O_CREAT);
  REQUIRE(run.lines().size() == 1);
  CHECK(run.lines()[0].flag == "--rw /srv/data");
  CHECK(run.lines()[0].advice == "in place of `--ro /srv/data`"); // both together contradict
  // Of its own mount: a grant of the directory around it would not let it go.
  run.entry("unlinkat", PathAct::Remove, "/home/ann/p/.git/hooks");
  REQUIRE(run.lines().size() == 2);
  CHECK(run.lines()[1].flag.empty());
  CHECK(!run.lines()[1].advice.empty());
}

TEST_CASE("B014 the root of a grant stays, and the report says why") {
  Watched run;
  run.entry("unlinkat", PathAct::Remove, "/home/ann/p");
  REQUIRE(run.lines().size() == 1);
  CHECK(run.lines()[0].rule ==
        "`/home/ann/p` is the root of a grant: what is in it can go, it stays");
}

TEST_CASE("only what the run serves itself is on its loopback") {
  Watched run;
  run.address("connect", inet("127.0.0.1", 1)).address("connect", inet("10.0.0.1", 443));
  run.address("bind", inet("127.0.0.1", 8000)).address("connect", inet("127.0.0.1", 8000));
  run.address("connect", inet("10.0.0.1", 443)).address("connect", inet("10.0.0.1", 0));
  CHECK(run.text() == "connect 127.0.0.1:1 --network client\n"
                      "connect 10.0.0.1:443 --network client\n");
  run.address("bind", inet("127.0.0.1", 0)).address("connect", inet("127.0.0.1", 4711));
  CHECK(run.lines().size() == 2);
}

TEST_CASE("a client binds no stream socket and sends what it likes") {
  Watched run(policyOf().withNetwork(NetworkMode::Client));
  run.address("bind", inet("0.0.0.0", 0), SOCK_DGRAM).address("connect", inet("10.0.0.1", 443));
  CHECK(run.text().empty());
  run.address("bind", inet("0.0.0.0", 80));
  CHECK(run.text() == "bind 0.0.0.0:80 --network open\n");
  CHECK(run.recorder->learned().network == NetworkMode::Client);
}

TEST_CASE("addresses of any bytes are read without a crash") {
  Watched run;
  for (size_t size = 0; size != 130; ++size)
    for (int family : {0, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 77}) {
      std::string bytes(size, '\xff');
      const sa_family_t word = sa_family_t(family);
      std::memcpy(bytes.data(), &word, std::min(size, sizeof word));
      run.address("connect", bytes).address("bind", bytes);
    }
  for (const Denied& line : run.lines())
    CHECK(!line.address.empty());
}

TEST_CASE("a refusal of the filter is observed, with what would allow the call") {
  Watched run(policyOf(SandboxLevel::Strict));
  run.refused("keyctl", EPERM).refused("socket", EAFNOSUPPORT, {40}).refused("keyctl", EPERM);
  run.refused("io_uring_setup", ENOSYS).refused("userfaultfd", EPERM);
  const std::vector<Denied> lines = run.lines();
  REQUIRE(lines.size() == 4);
  for (const Denied& line : lines)
    CHECK(line.evidence == Evidence::Observed);
  CHECK(lines[0].call == "keyctl");
  CHECK(lines[0].count == 2);
  CHECK(lines[0].flag.empty()); // at every level
  CHECK(lines[1].address == "a vsock socket");
  CHECK(lines[2].call == "userfaultfd");
  CHECK(lines[2].flag == "--level standard");
  CHECK(lines[3].harmless); // ENOSYS: there is an older way
  Watched client(policyOf().withNetwork(NetworkMode::Client));
  client.refused("listen", EPERM);
  CHECK(client.text() == "call `listen` --network open\n");
}

TEST_CASE("memory is bounded: lines beyond the most are counted") {
  FakeTree tree = host();
  for (size_t at = 0; at != kMostDenied + 50; ++at)
    tree.file("/srv/many/" + std::to_string(at));
  Watched run(policyOf(), tree);
  for (size_t at = 0; at != kMostDenied + 50; ++at)
    run.open("/srv/many/" + std::to_string(at));
  const Report report = run.recorder->report();
  CHECK(report.denied.size() == kMostDenied);
  CHECK(report.unlisted == 50);
  CHECK(report.denied.front().count == 1);
}

TEST_CASE("what a run used is learned, no wider than what allowed it") {
  Watched run(policyOf()
                  .readOnly("/srv/data", Origin::User, "--ro /srv/data")
                  .readWrite("/srv/cache", Origin::Profile),
              host().directory("/srv/cache/sub"));
  run.open("/srv/data/x").open("/usr/bin/true").open("/tmp/t", O_RDWR | O_CREAT);
  run.open("/srv/cache/sub/new", O_RDWR | O_CREAT)
      .open("/home/ann/.ssh/id")
      .open("/opt/q", O_RDWR | O_CREAT);
  run.open("/srv/data/none").open("/home/ann/p/a.txt");
  const Learned learned = run.recorder->learned();
  REQUIRE(learned.used.size() == 2);
  CHECK(learned.used[0].path == "/srv/cache/sub");
  CHECK(learned.used[0].access == Access::ReadWrite);
  CHECK(learned.used[0].grant == "/srv/cache");
  CHECK(learned.used[1].path == "/srv/data/x");
  CHECK(learned.used[1].access == Access::ReadOnly);
  CHECK(learned.workdirRead);
  CHECK(!learned.workdirWritten);
  CHECK(learned.refused == std::vector<std::string>{"--rw /opt"});
}

// ---- the table
// ------------------------------------------------------------------------------------

TEST_CASE("each call that is reported with a name in it has a row, and each row such a call") {
  std::set<std::string> named;
  for (const CallPath& row : callPaths()) {
    named.insert(row.call.str());
    CHECK_MESSAGE(
        llvm::any_of(callRows(), [&](const CallRow& each) { return each.name == row.call; }),
        row.call.str());
  }
  for (const CallRow& row : callRows()) {
    const llvm::StringRef group = groupRow(row.group).name;
    const bool holds = group == "FileOpen" || group == "FileLook" || group == "FileLookAt" ||
                       group == "FileLookExtended" || group == "FileChange" ||
                       group == "FileMetadata" || group == "Execute";
    CHECK_MESSAGE(holds == (named.count(row.name.str()) == 1), row.name.str());
  }
}

TEST_CASE("flags of open say what is wanted") {
  const auto read = [](uint64_t flags) {
    SeenPath path;
    readOpenFlags(flags, path);
    return path;
  };
  CHECK(read(O_RDONLY).operation == Operation::Read);
  CHECK(read(O_RDONLY | O_DIRECTORY).operation == Operation::List);
  CHECK(read(O_PATH | O_RDWR).operation == Operation::Query);
  CHECK(read(O_RDONLY | O_TRUNC).operation == Operation::Write);
  CHECK(read(O_RDWR).operation == Operation::Write);
  CHECK(read(O_TMPFILE | O_RDWR).operation == Operation::Write);
  CHECK(read(O_CREAT | O_WRONLY).creates);
  CHECK(!read(O_CREAT | O_WRONLY).exclusive);
  CHECK(read(O_CREAT | O_EXCL | O_WRONLY).exclusive);
  CHECK(!read(O_NOFOLLOW).follows);
}

} // namespace
} // namespace gos::sandbox
