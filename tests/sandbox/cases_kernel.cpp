// The kernel's surface, other processes, nesting and privilege: B060 to B068 of the catalogue of
// honest builds; T111, T112, T114 to T119.

#include "tests/sandbox/each.h"
#include "tests/support/eventually.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::cases {

using tests::eventually;

namespace {

std::string unique(int which) {
  static int count = 0;
  return std::to_string(3000000 + ::getpid()) + "." + std::to_string(which * 1000 + ++count);
}

/// What the probe says of an act, without bwr and within; the last word of a line, "killed" where
/// a signal ended it.
std::string said(const Outcome& outcome) {
  if (outcome.code >= 128)
    return "killed " + std::to_string(outcome.code - 128);
  if (outcome.out.empty())
    return outcome.err;
  return llvm::StringRef(outcome.out).rtrim().rsplit('\n').second.empty()
             ? llvm::StringRef(outcome.out).rtrim().str()
             : llvm::StringRef(outcome.out).rtrim().rsplit('\n').second.str();
}
std::vector<std::string> probe(const std::vector<std::string>& act) {
  std::vector<std::string> words = {probePath()};
  words.insert(words.end(), act.begin(), act.end());
  return words;
}
std::string outside(const Room& room, const std::vector<std::string>& act) {
  return said(room.plain(probe(act)));
}
std::string inside(const Room& room, const std::string& level, const std::vector<std::string>& act,
                   std::vector<std::string> flags = {}) {
  flags.insert(flags.end(), {"--ro", probePath()});
  return said(room.bwr(level, flags, probe(act)));
}

/// A process of the one the case runs as, outside of every sandbox.
class Bystander {
public:
  explicit Bystander(const Room& room) {
    struct stat owner{};
    REQUIRE(::stat(room.top().c_str(), &owner) == 0);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const std::string program = probePath();
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      ::dup2(ends[1], 1);
      if (::geteuid() == 0 && owner.st_uid != 0 &&
          (::setgroups(0, nullptr) != 0 ||
           ::setresgid(owner.st_gid, owner.st_gid, owner.st_gid) != 0 ||
           ::setresuid(owner.st_uid, owner.st_uid, owner.st_uid) != 0))
        ::_exit(125);
      ::setenv("GOSBOX_SECRET", "k9-of-the-bystander", 1);
      ::execl(program.c_str(), program.c_str(), "hold", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char text[5];
    REQUIRE(::read(ends[0], text, sizeof text) == ssize_t(sizeof text));
    ::close(ends[0]);
  }
  ~Bystander() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  std::string id() const { return std::to_string(id_); }
  /// Neither dead nor stopped.
  bool lives() const {
    std::ifstream file("/proc/" + id() + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t end = line.rfind(')');
    return end != std::string::npos && (line[end + 2] == 'S' || line[end + 2] == 'R');
  }

private:
  pid_t id_ = -1;
};

/// `standard` finds itself in a process table of its own where the host allows it; it promises only
/// the refusal.
void checkHidden(const std::string& level, const std::string& answer) {
  if (level == "strict")
    CHECK_MESSAGE((answer == "refused ESRCH" || answer == "refused ENOENT"), answer);
  else
    CHECK_MESSAGE(llvm::StringRef(answer).starts_with("refused "), answer);
}

} // namespace

TEST_CASE("B060 what programs fall back from is not built, and threads and node start") {
  each(levels(), [](const Room& room, const std::string& level) {
    CHECK(outside(room, {"io-uring"}) == "ok");
    CHECK(inside(room, level, {"io-uring"}) == (level == "basic" ? "ok" : "refused ENOSYS"));
    CHECK(outside(room, {"call", "435", "0", "0"}) == "refused EINVAL");
    CHECK(inside(room, level, {"call", "435", "0", "0"}) ==
          (level == "basic" ? "refused EINVAL" : "refused ENOSYS"));
    CHECK(inside(room, level, {"call", "9999"}) == "refused ENOSYS");
    const std::vector<std::string> threads = {
        "python3", "-c",
        "import threading as t; x=[]; a=[t.Thread(target=lambda: x.append(1)) for _ in range(8)]; "
        "[b.start() for b in a]; [b.join() for b in a]; print(len(x))"};
    CHECK(room.plain(threads).out == "8\n");
    CHECK(room.bwr(level, {}, threads).out == "8\n");
    if (!installed("node")) {
      skip("B060 node", "node is not installed");
      return;
    }
    const std::vector<std::string> node = {
        "node", "-e", "new (require('worker_threads').Worker)('console.log(7)',{eval:true})"};
    if (room.plain(node).out != "7\n")
      skip("B060 node", "node does not run here without bwr");
    else
      CHECK(room.bwr(level, {}, node).out == "7\n");
  });
}

TEST_CASE("B061 debuggers and checkers of own children work; strict refuses to switch off "
          "randomisation") {
  each(levels(), [](const Room& room, const std::string& level) {
    for (const char* tool : {"strace", "gdb", "gcc"})
      if (!installed(tool))
        skip("B061", std::string(tool) + " is not installed");
    const auto skipsControl = [](const char* tool, const Outcome& control) {
      skip(std::string("B061 ") + tool, "it does not work here without bwr: " + control.err);
    };
    if (installed("strace")) {
      const Outcome control = room.plain({"strace", "-o", "/dev/null", "true"});
      if (control.code == 0)
        CHECK(room.bwr(level, {}, {"strace", "-o", "/dev/null", "true"}).code == 0);
      else
        skipsControl("strace", control);
    }
    const std::vector<std::string> gdb = {"gdb", "-nx", "-batch",    "-ex", "break main", "-ex",
                                          "run", "-ex", "print 6*7", "-ex", "kill",       "./leak"};
    room.write("leak.c", "#include <stdlib.h>\nint main(void) { char* volatile p = malloc(77); p = "
                         "0; return 0; }\n");
    if (installed("gcc") && room.plain({"gcc", "-g", "leak.c", "-o", "leak"}).code == 0) {
      if (installed("gdb")) {
        const Outcome control = room.plain(gdb);
        if (contains(control.out, "$1 = 42"))
          CHECK(contains(room.bwr(level, {}, gdb).out, "$1 = 42"));
        else
          skipsControl("gdb", control);
      }
      if (room.plain({"gcc", "-g", "-fsanitize=address", "leak.c", "-o", "checked"}).code == 0) {
        const Outcome plain = room.plain({"./checked"}),
                      confined = room.bwr(level, {}, {"./checked"});
        CHECK(contains(plain.err, "detected memory leaks"));
        CHECK_MESSAGE(contains(confined.err, "detected memory leaks"), confined.err);
        CHECK(confined.code == plain.code);
      } else {
        skip("B061 leak checker", "the address sanitizer of gcc is not installed");
      }
    } else if (installed("gcc")) {
      skip("B061 gdb and the leak checker", "gcc builds nothing here: its C library's headers are "
                                            "not installed");
    }
    CHECK(room.plain({"setarch", "-R", "true"}).code == 0);
    const Outcome fixed = room.bwr(level, {}, {"setarch", "-R", "true"});
    CHECK((fixed.code == 0) == (level != "strict"));
    if (level == "strict") {
      CHECK(contains(fixed.err, "Operation not permitted"));
      CHECK(contains(room.bwrRaw({"--level", level, "--explain"}).out, "setarch -R"));
    }
  });
}

TEST_CASE("B062 a runtime that signals its own threads works") {
  if (!installed("go")) {
    skip("B062", "go is not installed");
    return;
  }
  each(levels(), [](const Room& room, const std::string& level) {
    room.write("gc.go", "package main\nimport \"fmt\"\nvar keep [][]byte\nfunc main() {\n"
                        "  for i := 0; i < 4000; i++ { keep = append(keep, make([]byte, 16384)); "
                        "if len(keep) > 100 { keep = nil } }\n"
                        "  fmt.Println(\"ok\")\n}\n");
    How how;
    how.set["GOCACHE"] = room.top() + "/cache";
    how.set["GOFLAGS"] = "-mod=mod";
    REQUIRE(room.plain({"go", "build", "-o", "gc", "gc.go"}, how).code == 0);
    how.set["GOMEMLIMIT"] = "2MiB";
    CHECK(room.plain({"./gc"}, how).out == "ok\n");
    const Outcome outcome = room.bwr(level, {"--env", "GOMEMLIMIT"}, {"./gc"}, how);
    CHECK_MESSAGE(outcome.out == "ok\n", outcome.err);
  });
}

TEST_CASE("B063 neither the 32-bit entry nor the x32 bit leads past the filter") {
  each(confining(), [](const Room& room, const std::string& level) {
    // getpid, setuid, mount, unshare, keyctl, io_uring_setup, of the 32-bit table.
    if (outside(room, {"call32", "20"}) != "ok") {
      skip("B063 32-bit entry", "this kernel or CPU has none");
    } else {
      for (const char* number : {"20", "23", "21", "310", "288", "425"})
        CHECK(inside(room, level, {"call32", number}) == "killed 31");
    }
    // The same of the 64-bit table, and what strict refuses, with bit 30 set.
    for (int number :
         {0, 39, 101, 165, 175, 246, 250, 272, 298, 308, 321, 323, 425, 428, 434, 438}) {
      const std::string answer = inside(room, level, {"call", std::to_string(number | 0x40000000)});
      CHECK_MESSAGE(
          (answer == "refused ENOSYS" || answer == "refused EPERM" || answer == "killed 31"),
          number << " " << answer);
    }
  });
}

TEST_CASE(
    "B064 T116 T117 the kernel's surface: no effect on the host at standard, refused at strict") {
  struct Row {
    std::vector<std::string> act;
    const char* standard; // "": nothing is promised, and it may work
    const char* strict;
    bool userToo; // the control works for an ordinary user as well
  };
  const Row rows[] = {
      {{"userns"}, "EPERM", "EPERM", true},
      {{"clone-userns"}, "EPERM", "EPERM", true},
      {{"unshare", "0x00020000"}, "EPERM", "EPERM", false},
      {{"mount", "/usr"}, "EPERM", "EPERM", false},
      {{"umount", "/proc"}, "EPERM", "EPERM", false},
      {{"fsopen"}, "EPERM", "EPERM", false},
      {{"open-tree", "/usr"}, "EPERM", "EPERM", false},
      {{"setns", "/proc/self/ns/net"}, "EPERM", "EPERM", false},
      {{"chroot", "/usr"}, "EPERM", "EPERM", false},
      {{"bpf"}, "EPERM", "EPERM", false},
      {{"perf"}, "EPERM", "EPERM", false},
      {{"perf-self"}, "", "EPERM", true},
      {{"call", "323", "0"}, "EPERM", "EPERM", false}, // userfaultfd, also faults of the kernel
      {{"call", "323", "1"}, "", "EPERM", true},       // of itself alone
      {{"call", "250", "0", "-3", "0"}, "EPERM", "EPERM", true}, // keyctl: the session's keyring
      {{"call", "135", "0x40000"}, "", "EPERM", true},           // personality
      {{"io-uring"}, "ENOSYS", "ENOSYS", true},
      {{"file-handle", "/usr"}, "EPERM", "EPERM", false},
      {{"call", "246", "0", "0", "0", "-1"}, "", "EPERM", false}, // kexec_load: EINVAL for root
      {{"call", "103", "3", "0", "0"}, "", "EPERM", false},       // the kernel's log
      {{"mknod", "null"}, "EACCES", "EACCES", false},
  };
  each(confining(), [&](const Room& room, const std::string& level) {
    const bool isRoot = room.who() == As::Root;
    if (isRoot && !installed("unshare"))
      skip("B064", "unshare is not installed: acts on mounts have no control");
    for (const Row& row : rows) {
      const std::string act = llvm::join(row.act, " ");
      CAPTURE(act);
      // As root without bwr it would be done to the host: in a mount namespace of its own, then.
      std::vector<std::string> control = probe(row.act);
      if (isRoot)
        control.insert(control.begin(), {"unshare", "-m"});
      const std::string answer = said(room.plain(control));
      room.shell("rm -f null");
      const char* wanted = level == "strict" ? row.strict : row.standard;
      if (isRoot || row.userToo)
        CHECK_MESSAGE(answer != std::string("refused ") + wanted, "no control: " << answer);
      const std::string confined = inside(room, level, row.act);
      if (*wanted != '\0')
        CHECK(confined == std::string("refused ") + wanted);
    }
    // Calls that are newer than many lists change nothing that is read-only.
    room.write(room.top() + "/kept", "kept", 0644);
    const std::string kept = room.top() + "/kept";
    for (const char* act : {"fchmodat2", "setxattrat"}) {
      CAPTURE(act);
      const std::string control = outside(room, {act, kept});
      ::chmod(kept.c_str(), 0644);
      if (control == "refused ENOSYS" || control == "refused EOPNOTSUPP")
        skip(act, "this kernel or file system has no such thing");
      else
        CHECK(control == "ok");
      const std::string confined = inside(room, level, {act, kept}, {"--ro", kept});
      CHECK_MESSAGE((confined == "refused EROFS" || confined == control), confined);
      CHECK(confined != "ok");
    }
    struct stat status{};
    REQUIRE(::stat(kept.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0644);
    // Files that steer the kernel.
    for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
                             "/proc/sysrq-trigger", "/sys/fs/cgroup/cgroup.procs"}) {
      CAPTURE(path);
      struct stat there{};
      if (isRoot && ::stat(path, &there) == 0)
        CHECK(outside(room, {"open-write", path}) == "ok");
      CHECK(llvm::StringRef(inside(room, level, {"open-write", path})).starts_with("refused "));
    }
    // A readable message.
    const Outcome unshared = room.bwr(level, {}, {"unshare", "-Ur", "true"});
    CHECK(unshared.code != 0);
    CHECK(contains(unshared.err, "Operation not permitted"));
    CHECK(room.plain({"unshare", "-Ur", "true"}).code == 0);
  });
}

TEST_CASE("T117 shared memory and message queues of others are not there") {
  const int key = 0x60500000 + int(::getpid());
  const int segment = ::shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  REQUIRE(segment >= 0);
  const std::string queue = "/gosbox-" + std::to_string(::getpid());
  const mode_t mask = ::umask(0);
  const mqd_t made = ::mq_open(queue.c_str(), O_CREAT | O_RDWR, 0666, nullptr);
  ::umask(mask);
  each(confining(), [&](const Room& room, const std::string& level) {
    CHECK(outside(room, {"shm", std::to_string(key)}) == "ok");
    CHECK(inside(room, level, {"shm", std::to_string(key)}) == "refused ENOENT");
    if (made == mqd_t(-1)) {
      skip("T117 queues", "this kernel has none");
      return;
    }
    CHECK(outside(room, {"queue", queue.substr(1)}) == "ok");
    CHECK(inside(room, level, {"queue", queue.substr(1)}) == "refused ENOENT");
  });
  ::shmctl(segment, IPC_RMID, nullptr);
  if (made != mqd_t(-1)) {
    ::mq_close(made);
    ::mq_unlink(queue.c_str());
  }
}

TEST_CASE("B065 T111 processes outside cannot be read, traced or entered") {
  each(confining(), [](const Room& room, const std::string& level) {
    const Bystander other(room);
    const std::string proc = "/proc/" + other.id();
    const std::vector<std::vector<std::string>> acts = {
        {"signal", other.id()},
        {"tgkill", other.id()},
        {"ptrace", other.id()},
        {"memory-read", other.id()},
        {"take-descriptor", other.id(), "0"},
        {"call", "312", other.id(), other.id(), "0", "0", "0"},
        {"read", proc + "/environ"},
        {"read", proc + "/maps"},
        {"read", proc + "/mem"},
        {"list", proc + "/root/"},
        {"list", proc + "/cwd/"},
        {"list", proc + "/fd"},
        {"stat", proc + "/exe"},
    };
    for (const std::vector<std::string>& act : acts) {
      const std::string words = llvm::join(act, " ");
      CAPTURE(words);
      const std::string control = outside(room, act);
      if (control == "refused EPERM" && room.who() == As::User)
        skip("the control of `" + act[0] + "`",
             "this kernel lets nobody trace what is not their child");
      else if (act[0] != "read" ||
               !llvm::StringRef(act[1]).ends_with("/mem")) // nothing is mapped at 0
        CHECK(control == "ok");
      const std::string answer = inside(room, level, act);
      if (level == "strict" && act[0] == "take-descriptor")
        CHECK_MESSAGE((answer == "refused ESRCH" || answer == "refused EPERM"), answer);
      else
        checkHidden(level, answer);
    }
    CHECK(other.lives());
    CHECK(contains(room.shell("tr '\\0' '\\n' <" + proc + "/environ").out, "k9-of-the-bystander"));
    CHECK_FALSE(contains(
        room.bwrShell(level, {}, "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'").out,
        "k9-of-the-bystander"));
  });
}

TEST_CASE("T111 the process that stands between is closed to the command") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.write(
        "acts",
        "for f in environ maps mem auxv; do head -c1 /proc/$PPID/$f >/dev/null 2>&1 && echo read "
        "$f; done\n"
        "for d in root cwd map_files; do ls /proc/$PPID/$d/ >/dev/null 2>&1 && echo list $d; done\n"
        "for d in /proc/$PPID/fd/*; do readlink $d && echo named; ls $d/ 2>/dev/null && echo list "
        "$d; done\n"
        "readlink /proc/$PPID/exe\n"
        "(: >>/proc/$PPID/exe) 2>/dev/null && echo wrote\n"
        "(: >/proc/$PPID/oom_score_adj) 2>/dev/null && echo steered\n"
        "P=" +
            probePath() +
            "\n"
            "for a in \"ptrace $PPID\" \"memory-read $PPID\" \"take-descriptor $PPID 3\" "
            "\"take-descriptor $PPID 4\"; do $P $a | grep ok && echo $a; done\n"
            "echo parent $PPID\n");
    // Of an ordinary parent all of it would be open; a few would be of the shell that waits here.
    const Outcome control = room.shell("sh acts; :");
    CHECK(contains(control.out, "read environ\n"));
    CHECK(contains(control.out, "named\n"));
    const Outcome outcome = room.bwr(level, {"--ro", probePath()}, {"sh", "acts"});
    CHECK_MESSAGE(llvm::StringRef(outcome.out).starts_with("parent "), outcome.out);
    CHECK(outcome.code == 0);
  });
}

TEST_CASE("T112 what the caller has open, the command has not") {
  // Low and high numbers: a file, a directory, a pipe, an epoll, a memfd, a locked file, a socket.
  const std::string script = R"(
import fcntl, os, select, socket, sys
def give(fd, number):
    os.dup2(fd, number) if fd != number else None
    os.set_inheritable(number, True)
give(os.open('secret', os.O_RDONLY), 3)
give(os.open('.', os.O_RDONLY), 4)
give(os.open('..', os.O_PATH), 5)
r, w = os.pipe(); give(w, 9)
poll = select.epoll(); give(poll.fileno(), 63)
give(os.memfd_create('m'), 64)
lock = os.open('lock', os.O_RDWR | os.O_CREAT); fcntl.flock(lock, fcntl.LOCK_EX); give(lock, 255)
a, b = socket.socketpair(); give(a.fileno(), 700)
os.execvp(sys.argv[1], sys.argv[1:])
)";
  each(levels(), [&](const Room& room, const std::string& level) {
    room.write("secret", "k9");
    const std::vector<std::string> list = {"sh", "-c",
                                           "cd /proc/self/fd; for f in *; do echo $f; done"};
    std::vector<std::string> command = {"python3", "-c", script};
    command.insert(command.end(), list.begin(), list.end());
    const std::string control = room.plain(command).out;
    for (const char* number : {"3\n", "4\n", "5\n", "9\n", "63\n", "64\n", "255\n", "700\n"})
      CHECK(contains(control, number));
    command = {"python3", "-c", script, bwrPath(), "--level", level, "--"};
    command.insert(command.end(), list.begin(), list.end());
    CHECK(room.plain(command).out == "0\n1\n2\n3\n"); // 3: the shell itself, looking
    // The lock is the caller's: it ends with it, though the command's own tree may go on.
    CHECK(room.bwr(level, {}, {"flock", "-n", "lock", "true"}).code == 0);
  });
}

TEST_CASE("T114 signals find no process outside, and stopping what stands between stops nothing") {
  each(confining(), [](const Room& room, const std::string& level) {
    const Bystander other(room);
    CHECK(outside(room, {"signal", other.id()}) == "ok");
    // kill(-1) without bwr would end everything of this user: its control is the line above.
    const Outcome all = room.bwr(
        level, {},
        {"python3", "-c",
         "import os\ntry:\n  os.kill(-1, 9)\nexcept OSError: pass\nos.kill(os.getpid(), 15)"});
    CHECK((all.code == 143 || all.code == 137));
    CHECK(other.lives());
    const Outcome parent =
        room.bwrShell(level, {},
                      "for s in STOP TSTP TERM INT HUP KILL; do kill -$s $PPID; done 2>/dev/null; "
                      "i=0; while [ $i -lt 2000 ]; do kill -WINCH $PPID; i=$((i+1)); done "
                      "2>/dev/null; echo done; exit 7");
    CHECK(parent.out == "done\n");
    CHECK(parent.code == 7);
    CHECK(other.lives());
  });
}

TEST_CASE(
    "T115 no new privilege: set-id programs, file capabilities, maps, and what is made inside") {
  each(levels(), [](const Room& room, const std::string& level) {
    const bool asUser = room.who() == As::User;
    // Programs that root left with a privilege.
    const std::string setId = room.top() + "/set-id", capable = room.top() + "/capable";
    if (asUser && ::geteuid() == 0) {
      for (const std::string& path : {setId, capable})
        std::filesystem::copy_file(probePath(), path);
      REQUIRE(::chmod(setId.c_str(), 04755) == 0);
      ::chmod(capable.c_str(), 0755);
      const bool marked = room.plain({"true"}).code == 0 &&
                          ::system(("python3 -c \"import os; os.setxattr('" + capable +
                                    "', 'security.capability', "
                                    "bytes.fromhex('0100000200040000000000000000000000000000'))\"")
                                       .c_str()) == 0;
      CHECK(said(room.plain({setId, "is-root"})) == "ok");
      CHECK(said(room.bwr(level, {"--ro", setId}, {setId, "is-root"})) == "refused EPERM");
      const std::string asked = said(room.bwr(level, {"--ro", setId}, {setId, "setuid-root"}));
      CHECK_MESSAGE((asked == "refused EPERM" || asked == "refused EINVAL"),
                    asked); // no such id inside
      if (marked) {
        CHECK(said(room.plain({capable, "has-capability"})) == "ok");
        CHECK(said(room.bwr(level, {"--ro", capable}, {capable, "has-capability"})) != "ok");
      } else {
        skip("T115 file capabilities", "this file system has none");
      }
    } else if (asUser) {
      skip("T115 set-id programs", "only root can make one");
    }
    if (level != "basic") {
      CHECK(inside(room, level, {"has-capability"}) == "refused EPERM");
      if (!asUser)
        CHECK(outside(room, {"has-capability"}) == "ok");
      const std::string node = inside(room, level, {"mknod", "node"}); // Landlock asks first
      CHECK_MESSAGE((node == "refused EPERM" || node == "refused EACCES"), node);
      CHECK_FALSE(room.exists("node"));
      CHECK(inside(room, level, {"setgroups"}) == "refused EPERM");
    }
    CHECK(inside(room, level, {"no-new-privileges"}) == "ok");
    CHECK(outside(room, {"no-new-privileges"}) != "ok");
    // A program that the command marks itself gives it nothing, and no capability can be written.
    std::filesystem::copy_file(probePath(), room.path("mine"));
    if (::geteuid() == 0 && asUser)
      REQUIRE(room.plain({"true"}).code == 0);
    room.shell("cp " + probePath() + " own");
    const Outcome marked = room.bwrShell(
        level, {},
        "chmod 6755 own; ./own has-capability; python3 -c \"import os; os.setxattr('own', "
        "'security.capability', bytes.fromhex('0100000200040000000000000000000000000000'))\" "
        "2>/dev/null && echo written");
    if (level != "basic" || asUser)
      CHECK_MESSAGE(marked.out == "refused EPERM\n", marked.out << marked.err);
    for (const char* helper : {"sudo", "newuidmap", "su"})
      if (installed(helper)) {
        const std::string script = std::string(helper) == "sudo" ? "sudo -n true"
                                   : std::string(helper) == "su" ? "su -c true root </dev/null"
                                                                 : "newuidmap $$ 0 0 1";
        if (level != "basic" || asUser)
          CHECK_MESSAGE(room.bwrShell(level, {}, script).code != 0, script);
      }
  });
}

TEST_CASE("T118 whatever it uses up, the run can be ended and all of it ends") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string sleep = "sleep " + unique(118);
    // Three hundred at once, each with a session of its own; then the supervisor is killed.
    room.write("many.py",
               "import os\n"
               "for _ in range(300):\n"
               "  if os.fork() == 0:\n"
               "    os.setsid()\n"
               "    os.execlp('sleep', *'" +
                   sleep +
                   "'.split())\n"
                   "import time\n"
                   "while 'State:\\tS' not in open('/proc/%d/status' % os.getppid()).read():\n"
                   "  time.sleep(0.01)\n"
                   "open('ready', 'w').close()\n"
                   "while True: time.sleep(1)\n");
    for (const char* signal : {"TERM", "KILL"}) {
      CAPTURE(signal);
      room.shell("rm -f ready; " + bwrPath() + " --level " + level +
                 " -- python3 many.py & while [ ! -e ready ]; do sleep 0.05; done; kill -" +
                 signal + " $!; wait $!");
      CHECK(eventually([&] { return processesWith(sleep).empty(); }));
    }
    // One that is always another process.
    const std::string tag = "chain" + unique(118);
    room.write("chain.py", "import os, sys\n"
                           "open('ready', 'w').close()\n"
                           "while True:\n"
                           "  if os.fork() != 0: os._exit(0)\n"
                           "  os.setsid()\n");
    room.shell(
        "rm -f ready; " + bwrPath() + " --level " + level + " -- sh -c 'python3 chain.py " + tag +
        " & sleep 1000' & while [ ! -e ready ]; do sleep 0.05; done; kill -TERM $!; wait $!");
    CHECK(eventually([&] { return processesWith(tag).empty(); }));
    // What is no promise is said to be none.
    const Outcome explained = room.bwrRaw({"--level", level, "--explain"});
    CHECK(contains(explained.out, "time, memory, disk and processor use are not bounded"));
  });
}

TEST_CASE("T119 what is started inside stays inside, whatever level it names") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.write(room.home() + "/secret", "k9");
    const std::string read = "cat " + room.home() + "/secret";
    CHECK(room.plain({bwrPath(), "--level", "none", "--", "sh", "-c", read}).out == "k9");
    for (const std::string& tool :
         {bwrPath() + " --level none -- " + read,
          bwrPath() + " --level basic --network open -- " + read, "unshare -Urm " + read,
          "unshare -r " + read, "nsenter -t 1 -m " + read, "nsenter -t $PPID -a " + read,
          "chroot /proc/1/root " + read, "setpriv --reuid 0 " + read,
          "env -i /bin/sh -c '" + read + "'"}) {
      CAPTURE(tool);
      const Outcome outcome = room.bwrShell(level, {"--ro", bwrPath()}, tool);
      CHECK(outcome.code != 0);
      CHECK_FALSE(contains(outcome.out, "k9"));
    }
    // A nested level that is stricter, or as strict, says what stands in its way.
    for (const std::string& inner : confining()) {
      const Outcome outcome = room.bwrShell(level, {"--ro", bwrPath()},
                                            bwrPath() + " --level " + inner + " -- touch ran");
      CHECK(outcome.code == 64);
      CHECK_MESSAGE(contains(outcome.err, "user namespace"), outcome.err);
      CHECK_FALSE(room.exists("ran"));
    }
  });
}

TEST_CASE("B066 a host without user namespaces is told so with the limit to raise") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string script = "echo 0 >/proc/sys/user/max_user_namespaces && exec " + bwrPath() +
                               " --level " + level + " -- touch ran";
    if (room.plain({"unshare", "-Ur", "true"}).code != 0) {
      skip("B066", "no user namespace to try it in");
      return;
    }
    // Proofs that were made outside say nothing about this host: none is found in an empty home.
    const Outcome outcome = room.plain({"unshare", "-Ur", "sh", "-c", script});
    if (level == "basic") {
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK(room.exists("ran"));
      return;
    }
    CHECK(outcome.code == 64);
    CHECK_MESSAGE(contains(outcome.err, "max_user_namespaces"), outcome.err);
    CHECK(contains(outcome.err, "try: "));
    CHECK_FALSE(room.exists("ran"));
  });
}

TEST_CASE("B067 beneath a masked /proc strict is refused by that name") {
  if (!installed("bwrap")) {
    skip("B067", "bwrap is not installed");
    return;
  }
  each(levels(), [](const Room& room, const std::string& level) {
    const std::vector<std::string> around = {
        "bwrap",  "--unshare-all", "--dev-bind", "/",         "/",
        "--proc", "/proc",         "--dev-bind", "/dev/null", "/proc/cmdline"};
    std::vector<std::string> command = around;
    command.push_back("true");
    if (room.plain(command).code != 0) {
      skip("B067", "bwrap does not work here");
      return;
    }
    command = around;
    command.insert(command.end(), {bwrPath(), "--level", level, "--", "touch", "ran"});
    const Outcome outcome = room.plain(command);
    if (level == "basic") {
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
    } else if (level == "standard") {
      CHECK_MESSAGE((outcome.code == 0 || outcome.code == 64), outcome.err);
    } else {
      CHECK(outcome.code == 64);
      CHECK_MESSAGE(contains(outcome.err, "/proc is masked"), outcome.err);
    }
    CHECK(room.exists("ran") == (outcome.code == 0));
  });
}

TEST_CASE("B068 sandboxes nest where they can, and give nothing back") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::vector<std::string> flags = {"--ro", bwrPath(), "--ro", probePath()};
    const Outcome basic = room.bwr(
        level, flags, {bwrPath(), "--level", "basic", "--", "sh", "-c", "echo in; exit 5"});
    CHECK_MESSAGE(basic.out == "in\n", basic.err);
    CHECK(basic.code == 5);
    const Outcome inner = room.bwr(level, flags, {bwrPath(), "--", "touch", "ran"});
    if (level == "basic") {
      CHECK_MESSAGE(inner.code == 0, inner.err);
    } else {
      CHECK(inner.code == 64);
      CHECK_MESSAGE(contains(inner.err, "user namespaces are refused by the surrounding sandbox"),
                    inner.err);
      CHECK_FALSE(room.exists("ran"));
      // A listener of this host.
      const Outcome network = room.bwr(
          level, flags,
          {bwrPath(), "--level", "basic", "--network", "open", "--", "ls", "/sys/class/net"});
      CHECK(network.code != 0);
      const Outcome routes = room.bwr(level, flags,
                                      {bwrPath(), "--level", "basic", "--network", "open", "--",
                                       "sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1"});
      CHECK_MESSAGE(llvm::StringRef(routes.out).trim() == "lo", routes.out << routes.err);
    }
  });
}

TEST_CASE("B068 beneath Landlock layers of somebody else a level is kept or refused by name") {
  each(levels(), [](const Room& room, const std::string& level) {
    if (outside(room, {"layers", "16", "true"}) != "") {
      skip("B068 layers", "sixteen layers of Landlock cannot be made here: " +
                              outside(room, {"layers", "16", "true"}));
      return;
    }
    CHECK(outside(room, {"layers", "17", "true"}) == "refused E2BIG");
    for (const char* layers : {"1", "15", "16"}) {
      CAPTURE(layers);
      const Outcome outcome = room.plain(
          {probePath(), "layers", layers, bwrPath(), "--level", level, "--", "touch", "ran"});
      if (level == "basic") {
        CHECK_MESSAGE(outcome.code == 0, outcome.err);
        CHECK(room.exists("ran"));
        continue;
      }
      // Nobody mounts anything inside a layer.
      CHECK(outcome.code == 64);
      CHECK_MESSAGE(contains(outcome.err, "Landlock"), outcome.err);
      CHECK(contains(outcome.err, "try: "));
      CHECK_FALSE(room.exists("ran"));
    }
  });
}

} // namespace gos::cases
