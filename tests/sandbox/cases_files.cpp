// Files: B001 to B019 of the catalogue of honest builds. What ordinary tools do to files works
// inside a grant; what a narrower rule closes stays closed, and stays closed when it is tried
// sideways.

#include "tests/sandbox/each.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gos::cases {
namespace {

const std::string kPython = "python3";

} // namespace

TEST_CASE("B001 renames, links and removed directories inside a grant") {
  const std::string python =
      "import os\nos.mkdir('a')\nopen('x','w').close()\nos.rename('x','a/x')\nos.link('a/x','y')\n";
  const std::string shell = "mkdir d && mv d e && rmdir e";
  for (As who : identities()) {
    const Room room(who);
    CHECK(room.plain({kPython, "-c", python}).code == 0);
    CHECK(room.shell(shell).code == 0);
  }
  for (const std::string network : {"none", "client", "open"})
    each(levels(), [&](const Room& room, const std::string& level) {
      CAPTURE(network);
      if (level == "basic" && network == "none")
        return; // refused: basic bounds no network
      Outcome outcome = room.bwr(level, {"--network", network}, {kPython, "-c", python});
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK(room.exists("a/x"));
      CHECK(room.exists("y"));
      outcome = room.bwrShell(level, {"--network", network}, shell);
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
    });
}

TEST_CASE("B003 a grant of a missing path is an error that names it") {
  each(levels(), [](const Room& room, const std::string& level) {
    for (const char* flag : {"--ro", "--rw"}) {
      const Outcome outcome = room.bwrShell(level, {flag, "/no/such"}, "touch ran");
      CHECK(outcome.code == 126);
      CHECK_MESSAGE(contains(outcome.err, "/no/such"), outcome.err);
      CHECK_FALSE(room.exists("ran"));
    }
  });
}

TEST_CASE("B004 a grant of one file and of a device") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string f = room.top() + "/f", g = room.top() + "/g";
    room.write(f, "a\n");
    room.write(g, "b\n");
    CHECK(room.shell("echo c >" + f + "; cat " + g).out == "b\n");
    room.write(f, "a\n");
    const Outcome outcome =
        room.bwrShell(level, {"--rw", f, "--rw", "/dev/null"},
                      "echo c >" + f + "; echo x >/dev/null && echo null; cat " + g);
    CHECK(room.read(f) == "c\n");
    CHECK(outcome.out == "null\n");
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "No such file"), outcome.err);
  });
  // A device that is in no view: it works where it is granted, and only there. Root makes one of
  // its own; a user has what the host lets everybody open.
  each(confining(), [](const Room& room, const std::string& level) {
    std::string device;
    if (room.who() == As::Root) {
      device = room.top() + "/zero";
      if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0 ||
          room.plain({"head", "-c1", device}).code != 0)
        device = "";
    }
    for (const char* host : {"/dev/fuse", "/dev/net/tun", "/dev/kvm"})
      if (device.empty() && room.plain({"sh", "-c", "exec 3<>" + std::string(host)}).code == 0)
        device = host;
    if (device.empty())
      return skip("B004, a device that is in no view", "this kernel or file system has none");
    const std::string script = room.who() == As::Root && !contains(device, "/dev/")
                                   ? "head -c 3 " + device + " | od -An -tx1"
                                   : "exec 3<>" + device + " && echo opened";
    const std::string wanted = contains(script, "head") ? " 00 00 00\n" : "opened\n";
    CHECK(room.shell(script).out == wanted);
    const Outcome granted = room.bwrShell(level, {"--rw", device}, script);
    CHECK_MESSAGE(granted.out == wanted, granted.err);
    CHECK(room.bwrShell(level, {}, script).out == "");
  });
}

TEST_CASE("B005 replacing a granted file needs its directory") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string file = room.top() + "/cfg";
    const std::string script = "echo 2 >" + file + ".n && mv " + file + ".n " + file;
    room.write(file, "1\n");
    CHECK(room.shell(script).code == 0);
    CHECK(room.read(file) == "2\n");
    room.write(file, "1\n");
    const Outcome outcome = room.bwrShell(level, {"--rw", file}, script);
    CHECK(outcome.code != 0);
    CHECK(room.read(file) == "1\n");
  });
}

TEST_CASE("B006 a denied directory is not reached by a rename, its own or its parent's") {
  for (As who : identities())
    for (const std::string& level : levels()) {
      CAPTURE(name(who));
      CAPTURE(level);
      const std::string into = "echo e >.git/x; mv .git/x .git/hooks/pre-commit";
      const std::string around = "mv .git g2; mkdir -p .git/hooks; echo e >.git/hooks/pre-commit";
      const Room plain(who);
      REQUIRE(plain.shell("git init -q .").code == 0);
      CHECK(plain.shell(into).code == 0);
      CHECK(plain.exists(".git/hooks/pre-commit"));
      CHECK(plain.shell(around).code == 0);

      const Room room(who);
      REQUIRE(room.shell("git init -q .").code == 0);
      Outcome outcome = room.bwrShell(level, {"--deny", ".git/hooks"}, into);
      if (level == "basic") {
        CHECK(outcome.code == 126);
        continue;
      }
      CHECK(outcome.code != 0);
      CHECK_FALSE(room.exists(".git/hooks/pre-commit"));
      outcome = room.bwrShell(level, {"--deny", ".git/hooks"}, around);
      CHECK(outcome.code != 0);
      CHECK_FALSE(room.exists(".git/hooks/pre-commit"));
      CHECK(room.exists(".git/HEAD"));
    }
}

TEST_CASE("B007 a denial of a missing name keeps the name from being made, and leaves nothing") {
  const std::string script = "echo x >.env; mkdir -p a/b; echo x >a/b/c";
  for (As who : identities()) {
    const Room plain(who);
    CHECK(plain.shell(script).code == 0);
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    const Outcome outcome = room.bwrShell(level, {"--deny", ".env", "--deny", "a/b/c"}, script);
    if (level == "basic") {
      CHECK(outcome.code == 126);
      return;
    }
    CHECK(outcome.code != 0);
    CHECK_FALSE(room.exists(".env"));
    CHECK_FALSE(room.exists("a/b/c"));
    const Room empty(room.who());
    CHECK(empty.bwr(level, {"--deny", ".env", "--deny", "a/b/c"}, {"true"}).code == 0);
    CHECK(empty.shell("ls -A").out == "");
    // Also when the run was interrupted, and when its supervisor was killed and another run
    // followed.
    CHECK(empty.bwrShell(level, {"--deny", ".env", "--deny", "a/b/c"}, "kill -KILL $$").code ==
          137);
    CHECK(empty.shell("ls -A").out == "");
    (void)empty.shell(bwrPath() + " --level " + level + " --deny .env -- sh -c '" + kLookedAfter +
                      "touch ready; sleep 1000' & "
                      "while [ ! -e ready ]; do sleep 0.02; done; kill -KILL $!; rm ready");
    CHECK(empty.bwr(level, {"--deny", ".env"}, {"true"}).code == 0);
    CHECK(empty.shell("ls -A").out == "");
  });
}

TEST_CASE("B008 no second name for what is read-only or denied") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory("ro");
    room.write("ro/s", "s\n");
    CHECK(room.shell("ln ro/s z").code == 0);
    ::unlink(room.path("z").c_str());
    for (const char* flag : {"--ro", "--deny"}) {
      const Outcome outcome = room.bwrShell(level, {flag, "ro"}, "ln ro/s z");
      CHECK(outcome.code != 0);
      CHECK_FALSE(room.exists("z"));
      if (level == "basic")
        CHECK(outcome.code == 126);
    }
  });
}

TEST_CASE("B009 a grant through a link reaches what it names, under both names") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.top() + "/real");
    room.link(room.top() + "/real", room.top() + "/link");
    const Outcome outcome =
        room.bwrShell(level, {"--rw", room.top() + "/link"},
                      "echo k >" + room.top() + "/link/f && cat " + room.top() + "/real/f");
    CHECK_MESSAGE(outcome.out == "k\n", outcome.err);
  });
}

TEST_CASE("B010 links out of the tree lead nowhere, and the order of flags does not matter") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.write(room.top() + "/secret", "secret\n");
    room.link(room.top() + "/secret", "l");
    room.link("/", "top");
    CHECK(room.shell("cat l").out == "secret\n");
    Outcome outcome = room.bwrShell(level, {}, "cat l; echo x >top/opt/z");
    CHECK(outcome.code != 0);
    CHECK(outcome.out == "");
    CHECK_FALSE(room.exists("/opt/z"));

    room.makeDirectory(room.top() + "/d");
    room.link("d", room.top() + "/e");
    const std::string d = room.top() + "/d", e = room.top() + "/e";
    const Outcome one = room.bwr(level, {"--ro", d, "--rw", e}, {"touch", d + "/f"});
    const Outcome other = room.bwr(level, {"--rw", e, "--ro", d}, {"touch", d + "/f"});
    CHECK(one.code == other.code);
    CHECK(one.code == 126); // two rules of the user at one path
  });
}

TEST_CASE("B011 a grant on another file system can be read") {
  each(levels(), [](const Room& room, const std::string& level) {
    // A tmpfs, and an overlay over two directories of it.
    room.makeDirectory(room.top() + "/m");
    const std::string make =
        "set -e; cd ..; mount -t tmpfs none m; cd m; mkdir low up work both; echo lower >low/f; "
        "echo upper >up/g; echo text >f; mount -t overlay -o "
        "lowerdir=low,upperdir=up,workdir=work none both; cd ..; cat m/f m/both/f m/both/g; cd p; ";
    const std::string m = room.top() + "/m";
    const std::string run = bwrPath() + " --level " + level;
    const std::string reads = run + " --ro " + m + " --ro " + m + "/both -- cat " + m + "/f " + m +
                              "/both/f " + m + "/both/g; ";
    const std::string writes = run + " --rw " + m + "/both -- sh -c 'echo new >" + m +
                               "/both/h; echo more >>" + m + "/both/f'; cat ../m/up/h ../m/up/f";
    const Outcome outcome = room.plain(
        {"unshare", room.who() == As::Root ? "-m" : "-Urm", "sh", "-c", make + reads + writes});
    if (outcome.out.empty())
      return skip("B011", "no mount can be made here: " + outcome.err);
    CHECK_MESSAGE(outcome.out == "text\nlower\nupper\ntext\nlower\nupper\nnew\nlower\nmore\n",
                  outcome.err);
  });
}

TEST_CASE("B012 metadata of what is read-only does not change") {
  const std::string script =
      "chmod 600 ro/f; touch -d @0 ro/f; setfattr -n user.x -v 1 ro/f 2>/dev/null; true";
  each(levels(), [&](const Room& room, const std::string& level) {
    room.makeDirectory("ro");
    room.write("ro/f", "a\n", 0644);
    struct stat before{};
    ::stat(room.path("ro/f").c_str(), &before);
    const Outcome outcome = room.bwrShell(level, {"--ro", "ro"}, script);
    struct stat after{};
    ::stat(room.path("ro/f").c_str(), &after);
    CHECK(after.st_mode == before.st_mode);
    CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
    if (level == "basic")
      CHECK(outcome.code == 126);
    // Without the narrower rule both take effect.
    CHECK(room.bwrShell(level, {}, script).code == 0);
    ::stat(room.path("ro/f").c_str(), &after);
    CHECK((after.st_mode & 0777) == 0600);
    CHECK(after.st_mtim.tv_sec == 0);
  });
}

TEST_CASE("B013 a write into the home directory is refused, not taken and lost") {
  each(confining(), [](const Room& room, const std::string& level) {
    CHECK(room.shell("echo x >$HOME/lost && rm $HOME/lost").code == 0);
    const Outcome outcome = room.bwrShell(level, {}, "echo x >$HOME/lost");
    CHECK(outcome.code != 0);
    CHECK_FALSE(room.exists(room.home() + "/lost"));
  });
}

TEST_CASE("B014 the root of a grant stays when its contents go") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string t = room.top() + "/t";
    room.makeDirectory(t + "/x");
    const Outcome outcome = room.bwr(level, {"--rw", t}, {"rm", "-rf", t});
    CHECK(outcome.code != 0);
    CHECK(room.exists(t));
    CHECK_FALSE(room.exists(t + "/x"));
  });
}

TEST_CASE("B015 making what exists says so, on every ancestor") {
  each(levels(), [](const Room& room, const std::string& level) {
    const Outcome outcome =
        room.bwrShell(level, {}, "mkdir /; mkdir $(dirname $PWD); mkdir -p b/c");
    CHECK(outcome.code == 0);
    const size_t first = outcome.err.find("File exists");
    CHECK_MESSAGE(first != std::string::npos, outcome.err);
    CHECK(outcome.err.find("File exists", first + 1) != std::string::npos);
    CHECK(room.exists("b/c"));
  });
  if (!installed("node"))
    return skip("B015, node", "node is not installed");
  each(confining(), [](const Room& room, const std::string& level) {
    const Outcome outcome =
        room.bwr(level, {},
                 {"node", "-e",
                  "require('fs').mkdir('/opt/none/a',{recursive:true},e=>process.exit(e?0:1))"});
    CHECK(outcome.code == 0);
    CHECK_FALSE(room.exists("/opt/none"));
  });
}

TEST_CASE("B016 access says what open does") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory("d");
    CHECK(room.plain({kPython, "-c", "import os;print(os.access('d',os.W_OK))"}).out == "True\n");
    const Outcome outcome =
        room.bwr(level, {"--ro", "d"}, {kPython, "-c", "import os;print(os.access('d',os.W_OK))"});
    if (level == "basic")
      CHECK(outcome.code == 126);
    else
      CHECK_MESSAGE(outcome.out == "False\n", outcome.err);
  });
}

TEST_CASE("B017 any name can be granted, entered, denied") {
  const std::vector<std::string> names = {"a b",
                                          "a\tb",
                                          "a\nb",
                                          "a,b",
                                          "a:b",
                                          "a'b\"c",
                                          "a\\b",
                                          "\xf0\x9f\x98\x80",
                                          "\xff\xfe",
                                          "-leading",
                                          std::string(255, 'n')};
  each(levels(), [&](const Room& room, const std::string& level) {
    for (const std::string& odd : names) {
      CAPTURE(odd);
      const std::string directory = room.top() + "/" + odd;
      room.makeDirectory(directory);
      room.write(directory + "/f", "text");
      Outcome outcome = room.bwr(level, {"--ro", directory}, {"cat", directory + "/f"});
      CHECK_MESSAGE(outcome.out == "text", outcome.err);
      How inside;
      inside.directory = directory;
      outcome = room.bwr(level, {}, {"cat", "f"}, inside);
      CHECK_MESSAGE(outcome.out == "text", outcome.err);
      outcome =
          room.bwr(level, {"--rw", room.top(), "--deny", directory}, {"cat", directory + "/f"});
      CHECK(outcome.out == "");
      CHECK(outcome.code != 0);
      const Outcome json = room.bwr(level, {"--explain", "--json", "--ro", directory}, {"true"});
      CHECK_MESSAGE(json.code == 0, json.err);
      for (char byte : json.out)
        CHECK((byte == '\n' || (byte >= ' ' && byte < 0x7f)));
    }
    // As a word of its own, where a reader of options could take it for one.
    How above;
    above.directory = room.top();
    const std::string file = room.top() + "/-leading/f";
    for (const std::vector<std::string>& flags :
         {std::vector<std::string>{"--ro", "-leading"}, {"--ro=-leading"}, {"--rw", "-leading"}}) {
      CAPTURE(flags[0]);
      std::vector<std::string> words = {"--level", level, "--workdir", "p"};
      words.insert(words.end(), flags.begin(), flags.end());
      words.insert(words.end(), {"cat", file});
      const Outcome read = room.bwrRaw(words, above);
      CHECK_MESSAGE(read.out == "text", read.err);
    }
    const Outcome moved =
        room.bwrRaw({"--level", level, "--workdir", "-leading", "cat", "f"}, above);
    CHECK_MESSAGE(moved.out == "text", moved.err);
    if (level != "basic") {
      // Not granted it is not there, and denied it is closed.
      CHECK(room.bwr(level, {}, {"cat", file}).code != 0);
      const Outcome shut =
          room.bwrRaw({"--level", level, "--workdir", "p", "--ro", ".", "--deny", "-leading", "--",
                       "sh", "-c", "cat " + file + "; cat " + room.top() + "/a:b/f"},
                      above);
      CHECK_MESSAGE(shut.out == "text", shut.err);
    }
    // A path of about 3,900 bytes.
    std::string deep = room.top();
    while (deep.size() < 3600)
      deep += "/" + std::string(240, 'd');
    room.makeDirectory(deep);
    room.write(deep + "/f", "text");
    const Outcome outcome = room.bwr(level, {"--ro", deep}, {"cat", deep + "/f"});
    CHECK_MESSAGE(outcome.out == "text", outcome.err);
  });
}

TEST_CASE("B018 five denials, five holes") {
  each(levels(), [](const Room& room, const std::string& level) {
    std::vector<std::string> flags;
    std::string all;
    for (const char* file : {"f1", "f2", "f3", "f4", "f5"}) {
      room.write(file, "secret\n");
      flags.insert(flags.end(), {"--deny", file});
      all += std::string(" ") + file;
    }
    const Outcome outcome = room.bwrShell(level, flags, "cat" + all);
    if (level == "basic") {
      CHECK(outcome.code == 126);
      return;
    }
    CHECK(outcome.code != 0);
    CHECK(outcome.out == "");
  });
}

TEST_CASE("B019 a project beneath the temp is seen through the private temp") {
  each(levels(), [](const Room& room, const std::string& level) {
    // Rooms lie in /var/tmp; this one in /tmp as well.
    const Outcome made = room.shell(
        "d=$(mktemp -d /tmp/gosbox-XXXXXX); echo a >$d/f; echo other >$d.other; echo $d");
    const std::string directory = made.out.substr(0, made.out.find('\n'));
    How inside;
    inside.directory = directory;
    const Outcome outcome = room.bwrShell(level, {}, "cat f; ls /tmp | wc -l; ls /tmp", inside);
    if (level == "basic")
      CHECK(contains(outcome.out, "a\n"));
    else
      CHECK(outcome.out == "a\n1\n" + directory.substr(5) + "\n");
    (void)room.shell("rm -rf " + directory + " " + directory + ".other");
  });
}

TEST_CASE("T104 a `.git` that is a link is not exchanged for another") {
  const std::string script = "rm .git; mv .git g2; ln -sfn /etc .git; mkdir -p .git/hooks; echo e "
                             ">.git/hooks/post-commit; true";
  for (As who : identities()) {
    const Room plain(who);
    plain.makeDirectory("real.git/hooks");
    plain.link("real.git", ".git");
    CHECK(plain.shell("rm .git && mkdir -p .git/hooks && echo e >.git/hooks/post-commit").code ==
          0);
  }
  each(confining(), [&](const Room& room, const std::string& level) {
    room.makeDirectory("real.git/hooks");
    room.write("real.git/config", "[core]\n");
    room.link("real.git", ".git");
    const Outcome outcome = room.bwrShell(level, {"--profile", "none"}, script);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(room.shell("readlink .git").out == "real.git\n");
    CHECK(room.shell("ls -A real.git/hooks").out == "");
    CHECK(room.read("real.git/config") == "[core]\n");
  });
}

TEST_CASE("a grant of everything, or of what leads through links, keeps the holes and starts") {
  // `/var/run` is a link, and the sockets of daemons are denied under both names.
  each(confining(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.home() + "/.ssh");
    room.write(room.home() + "/.ssh/id", "secret\n");
    const std::string script = "cat " + room.home() + "/.ssh/id; ls /var >/dev/null && echo fine";
    CHECK(room.shell(script).out == "secret\nfine\n");
    for (const char* granted : {"/", "/var", "/run"}) {
      CAPTURE(std::string(granted));
      const Outcome outcome = room.bwrShell(level, {"--ro", granted}, script);
      CHECK_MESSAGE(outcome.out.find("secret") == std::string::npos, outcome.out);
      if (std::string(granted) != "/run")
        CHECK_MESSAGE(outcome.out == "fine\n", outcome.err);
      else
        CHECK_MESSAGE(outcome.code != 64, outcome.err);
    }
  });
}

} // namespace gos::cases
