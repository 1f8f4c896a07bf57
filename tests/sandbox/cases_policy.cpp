// The policy from outside: T124 to T130, T135, T140, and bad input of every kind. One clear
// message, the documented exit code, and nothing run. T131 is in hosts/, T133 in the tests of
// policy and library.

#include "tests/sandbox/each.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::cases {
namespace {

/// Nothing ran, the code is the documented one, and all that was said are lines of ours, the
/// message first; none holds a control byte or a byte that is not UTF-8. What to type next is said
/// of every wrong usage, and where `next` is given: it stands in it.
void checkRefused(const Room& room, const Outcome& outcome, int code, const std::string& part,
                  const std::string& next = "") {
  CAPTURE(outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.out == "");
  CHECK_FALSE(room.exists("ran"));
  CHECK(llvm::StringRef(outcome.err).starts_with("bwr: "));
  CHECK(contains(outcome.err, part));
  int messages = 0, suggestions = 0;
  for (llvm::StringRef line : llvm::split(llvm::StringRef(outcome.err).rtrim('\n'), '\n')) {
    CHECK((line.starts_with("bwr: ") || line.starts_with("try: ")));
    messages += line.starts_with("bwr: ");
    suggestions += line.starts_with("try: ") && line.size() > 5 && line.contains(next);
  }
  CHECK(messages == 1);
  if (code == 2 || code == 64 || !next.empty())
    CHECK(suggestions == 1);
  for (char byte : outcome.err)
    CHECK((byte == '\n' || (byte >= 0x20 && byte < 0x7f)));
}

} // namespace

TEST_CASE("T124 a grant never lifts a denial, by whatever name") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.home() + "/.ssh");
    room.write(room.home() + "/.ssh/id_rsa", "k9-secret", 0600);
    room.write(room.home() + "/plain", "plain");
    room.link(room.home() + "/.ssh", "alias");
    room.link(room.home() + "/.ssh/id_rsa", "key");
    const std::string ssh = room.home() + "/.ssh";
    for (const char* flag : {"--ro", "--rw"})
      for (const std::string& path :
           {ssh, ssh + "/id_rsa", std::string("alias"), std::string("alias/id_rsa"),
            std::string("key"), ssh + "/../.ssh", ssh + "/missing", std::string("../home/.ssh")}) {
        CAPTURE(flag);
        CAPTURE(path);
        checkRefused(room, room.bwr(level, {flag, path}, {"touch", "ran"}), 126, ".ssh");
      }
    checkRefused(room, room.bwr(level, {"--workdir", ssh}, {"touch", room.path("ran")}), 126,
                 ".ssh");
    CHECK(room.bwr(level, {}, {"true"}).code == 0);
    if (level == "basic")
      return;
    // A grant that contains denials is legal, and the holes stay.
    CHECK(room.shell("cat " + ssh + "/id_rsa").out == "k9-secret");
    const Outcome around = room.bwrShell(level, {"--ro", room.home()},
                                         "cat " + room.home() + "/plain; cat " + ssh +
                                             "/id_rsa; cat alias/id_rsa; cat key; ls -A " + ssh);
    CHECK(around.out == "plain");
    CHECK(around.code != 0);
  });
}

TEST_CASE("T125 read-only beneath read-write stays read-only, with what is mounted beneath it") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.makeDirectory("w/s");
    room.write("w/s/f", "kept");
    room.write("w/x", "x");
    const std::string acts =
        "cd w; echo n >s/new; echo n >>s/f; mv s/f s/g; mv s t; rm s/f; chmod 600 s/f; touch -d "
        "2001-01-01 s/f; ln x s/l; ln s/f l; mkdir s/d; ln -s x s/k; truncate -s 0 s/f; "
        "echo y >y && mv y z && rm z && echo works";
    const Outcome outcome = room.bwrShell(level, {"--rw", "w", "--ro", "w/s"}, acts);
    CHECK(outcome.out == "works\n");
    CHECK(room.read("w/s/f") == "kept");
    CHECK(room.shell("ls -A w w/s").out == "w:\ns\nx\n\nw/s:\nf\n");
    struct stat status{};
    REQUIRE(::stat(room.path("w/s/f").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);
    CHECK(status.st_nlink == 1);
    CHECK(status.st_mtime > 1000000000);
    // The control: the same without the narrower rule changes all of it.
    CHECK(room.bwrShell(level, {"--rw", "w"}, "echo n >>w/s/f && mv w/s/f w/s/g").code == 0);
    // A mount beneath a read-only grant.
    const std::string read = room.top() + "/outer";
    room.makeDirectory(read + "/inner");
    const std::string bwr = bwrPath() + " --level " + level;
    const Outcome mounted =
        room.plain({"unshare", room.who() == As::Root ? "-m" : "-Urm", "sh", "-c",
                    "mount -t tmpfs x " + read + "/inner && touch " + read + "/inner/here && ls " +
                        read + "/inner && " + bwr + " --ro " + read + " -- sh -c 'ls " + read +
                        "/inner; touch " + read + "/inner/there'"});
    if (!contains(mounted.out, "here"))
      skip("T125 mounts", "no mount can be made here: " + mounted.err);
    else {
      CHECK_MESSAGE(mounted.out == "here\nhere\n", mounted.err);
      CHECK(mounted.code != 0);
    }
  });
}

TEST_CASE("T126 a hole stays one") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.makeDirectory("w/k");
    room.write("w/k/f", "k9-secret");
    room.write("w/x", "x");
    CHECK(room.shell("cat w/k/f").out == "k9-secret");
    const Outcome outcome =
        room.bwrShell(level, {"--rw", "w", "--deny", "w/k"},
                      "cat w/k/f; ls -A w/k; mv w/k w/j; cat w/j/f; mv w v; cat v/k/f; rmdir w/k; "
                      "umount w/k; mount --bind w w/k; ln w/k/f l; "
                      "cp -r w/k c; cat /proc/self/root$PWD/w/k/f; cat /proc/$PPID/root$PWD/w/k/f; "
                      "cat c/f; cd w && echo n >sibling && mkdir d && echo works");
    CHECK(outcome.out == "works\n");
    CHECK(room.read("w/k/f") == "k9-secret");
    CHECK(room.read("w/sibling") == "n\n");
  });
  // Where nobody keeps a hole, the policy is refused.
  each({"basic", "none"}, [](const Room& room, const std::string& level) {
    room.makeDirectory("w/k");
    checkRefused(room, room.bwr(level, {"--rw", "w", "--deny", "w/k"}, {"touch", "ran"}), 126,
                 "--deny");
    checkRefused(room, room.bwr(level, {"--rw", "w", "--ro", "w/k"}, {"touch", "ran"}), 126,
                 "--ro");
  });
}

TEST_CASE("T127 what is not there cannot be granted, and stays away where it is denied") {
  each(confining(), [](const Room& room, const std::string& level) {
    checkRefused(room, room.bwr(level, {"--rw", "missing"}, {"touch", "ran"}), 126,
                 "`--rw missing`");
    const Outcome outcome = room.bwrShell(
        level, {"--deny", "never/made"},
        "mkdir never; mkdir -p never/made; echo x >never/made; ls never/made; touch other");
    CHECK(room.exists("other"));
    CHECK_FALSE(room.exists("never"));
    CHECK(outcome.code == 0);
    CHECK(room.bwrShell(level, {}, "mkdir -p never/made && echo made").out == "made\n");
  });
}

TEST_CASE("T128 what is judged is what is mounted, while names are exchanged") {
  if (!installed("python3"))
    return skip("T128", "python3 is not installed");
  each(confining(), [](const Room& room, const std::string& level) {
    // `grant` and `parent/.ssh` are the project's own; `evil` and `around` lead to what is denied.
    const std::string ssh = room.home() + "/.ssh";
    for (const std::string& made : {room.path("grant"), room.path("parent/.ssh"), ssh})
      room.makeDirectory(made);
    room.write("grant/f", "honest\n");
    room.write("parent/.ssh/f", "honest\n");
    room.write(ssh + "/f", "k9-secret\n");
    room.link(ssh, "evil");
    room.link(room.home(), "around");
    // Exchanges two names for as long as the file `go` is there: without a pause, and then with
    // one that is long enough for a whole start, whatever else this machine does. So some runs
    // meet a change between any two of their looks, and some are let in.
    room.write("rig.py", "import ctypes, os, random, sys, time\nl = ctypes.CDLL(None)\n"
                         "a, b = (os.fsencode(word) for word in sys.argv[1:])\nopen('on', 'w')\n"
                         "while os.path.exists('go'):\n"
                         "  end = time.monotonic() + random.random() * 0.1\n"
                         "  while time.monotonic() < end: l.renameat2(-100, a, -100, b, 2)\n"
                         "  time.sleep(random.random() * 0.1)\n");
    struct Exchange {
      const char *honest, *evil, *flags, *file; // FLAGS are in front of the name that is judged
    };
    const Exchange exchanges[] = {
        {"grant", "evil", "--ro grant", "grant/f"},
        {"grant", "evil", "--rw grant", "grant/f"},
        {"grant", "evil", "--ro grant/f", "grant/f"},
        {"parent", "around", "--ro parent/.ssh", "parent/.ssh/f"},
        {"grant", "evil", "--workdir grant", "f"},
    };
    for (const Exchange& exchange : exchanges) {
      CAPTURE(std::string(exchange.flags));
      CAPTURE(std::string(exchange.honest));
      const std::string rigged = "rm -f on; touch go; python3 rig.py " +
                                 std::string(exchange.honest) + " " + exchange.evil +
                                 " & while [ ! -e on ]; do sleep 0.01; done; i=0; ";
      // The control: who opens the name twice meets both.
      const std::string name = exchange.file == std::string("f") ? "grant/f" : exchange.file;
      const Outcome open = room.shell(
          rigged + "while [ $i -lt 20000000 ] && [ \"$a$b\" != 11 ]; do { read x <" + name +
          "; } 2>/dev/null; case $x in honest) a=1;; k9-secret) b=1;; esac; i=$((i + 1)); done; "
          "rm go; wait; echo $a$b");
      CHECK_MESSAGE(open.out == "11\n", open.err);
      // Runs without number, and more of them until one was let in and some met the denial: the
      // rig was quick enough for us too.
      const Outcome outcome = room.shell(
          rigged +
          "while [ $i -lt 25 ] || { [ $i -lt 1000 ] && ! { grep -q honest seen && grep -q "
          "'^bwr: ' said; }; }; do " +
          bwrPath() + " --level " + level + " " + exchange.flags + " -- cat " + exchange.file +
          " >>seen 2>>said; i=$((i + 1)); done; rm go; wait; cat seen; rm seen");
      CHECK(outcome.code == 0);
      CHECK(contains(outcome.out, "honest\n"));
      CHECK_FALSE(contains(outcome.out, "k9-secret"));
      // Both names are as they were, whoever lost the race last.
      if (!std::filesystem::is_symlink(room.path(exchange.honest)))
        continue;
      CHECK(room.shell(std::string("mv -T ") + exchange.honest + " x && mv -T " + exchange.evil +
                       " " + exchange.honest + " && mv -T x " + exchange.evil)
                .code == 0);
    }
    CHECK(contains(room.read("said"), "bwr: "));
  });
}

TEST_CASE("T129 a profile goes to the tool it is for and to nothing that is planted") {
  each(confining(), [](const Room& room, const std::string& level) {
    const auto profileOf = [&](const std::vector<std::string>& flags, const std::string& command,
                               const How& how = {}) {
      std::vector<std::string> words = {"--level", level};
      words.insert(words.end(), flags.begin(), flags.end());
      words.insert(words.end(), {"--explain", "--", command});
      return room.bwrRaw(words, how).out;
    };
    CHECK(llvm::StringRef(profileOf({"--profile", "make"}, "true")).starts_with("profile make"));
    for (const char* path : {"make", "bin/make"}) {
      if (contains(path, "/"))
        room.makeDirectory("bin");
      room.write(path, "#!/bin/sh\n", 0755);
    }
    room.makeDirectory(room.home() + "/bin");
    room.write(room.home() + "/bin/make", "#!/bin/sh\n", 0755);
    CHECK_FALSE(llvm::StringRef(profileOf({}, "./make")).starts_with("profile make"));
    const std::string system = ":/usr/bin:/bin";
    for (const std::string& first : {std::string("."), std::string(""), std::string("bin"),
                                     room.home() + "/bin", room.project() + "/bin"}) {
      CAPTURE(first);
      How how;
      how.set["PATH"] = first + system;
      CHECK_FALSE(llvm::StringRef(profileOf({}, "make", how)).starts_with("profile make"));
    }
    if (installed("make"))
      CHECK(llvm::StringRef(profileOf({}, "make")).starts_with("profile make"));
    else
      skip("T129 the honest make", "make is not installed");
    // No file of the repository is a profile, and a name is no path.
    room.makeDirectory(".config/bwr/profiles");
    room.write(".config/bwr/profiles/mine.toml",
               "summary = \"x\"\n[phase.build]\nread_only = [\"" + room.home() + "\"]\n");
    How moved;
    moved.set["XDG_CONFIG_HOME"] = room.project() + "/.config";
    for (const char* name : {"mine", "../../x", "./mine", "/etc/passwd", "mine.toml"})
      checkRefused(room, room.bwr(level, {"--profile", name}, {"touch", "ran"}, moved), 2,
                   "no profile");
    // A directory is not granted for being on PATH.
    How how;
    how.set["PATH"] = room.home() + "/bin" + system;
    CHECK(room.shell("ls " + room.home() + "/bin").out == "make\n");
    CHECK(room.bwrShell(level, {}, "ls " + room.home() + "/bin", how).code != 0);
  });
}

TEST_CASE("T130 variables that load code are neither passed nor set") {
  each(levels(), [](const Room& room, const std::string& level) {
    for (const char* variable :
         {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "NODE_OPTIONS",
          "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND", "BASH_FUNC_x%%",
          "JAVA_TOOL_OPTIONS"}) {
      CAPTURE(variable);
      How how;
      how.set[variable] = "./evil";
      checkRefused(room, room.bwr(level, {"--env", variable}, {"touch", "ran"}, how), 126,
                   variable);
      checkRefused(
          room, room.bwr(level, {"--setenv", std::string(variable) + "=./evil"}, {"touch", "ran"}),
          126, variable);
      CHECK(contains(room.plain({"env"}, how).out, std::string(variable) + "=./evil"));
      CHECK_FALSE(contains(room.bwr(level, {}, {"env"}, how).out, "./evil"));
    }
    for (const char* word : {"A=B", "", "=B"})
      checkRefused(room, room.bwr(level, {"--env", word}, {"touch", "ran"}), 2, "--env");
    checkRefused(room, room.bwr(level, {"--env", "*"}, {"touch", "ran"}), 126, "*");
    for (const char* word : {"A", "", "=B"})
      checkRefused(room, room.bwr(level, {"--setenv", word}, {"touch", "ran"}), 2, "--setenv");
    for (const std::string word : {"A\nB=1", "A\x01=1"})
      checkRefused(room, room.bwr(level, {"--setenv", word}, {"touch", "ran"}), 126, "A\\");
  });
}

TEST_CASE("T135 names of any bytes are escaped, and read back to the same names") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string names[] = {"a\") (allow default) (\"",
                                 "line\nbwr: forged",
                                 "tab\tand\x1b[31m",
                                 "back\\slash",
                                 "quote'\"",
                                 "nul-like\\0",
                                 "\xff\xfe",
                                 "# [x]"};
    for (const std::string& name : names) {
      CAPTURE(name);
      const std::string path = room.top() + "/" + name;
      room.makeDirectory(path);
      room.write(path + "/f", "here");
      CHECK(room.bwr(level, {"--ro", path}, {"cat", path + "/f"}).out == "here");
      const Outcome text = room.bwrRaw({"--level", level, "--ro", path, "--explain"});
      CHECK(text.code == 0);
      for (char byte : text.out + text.err)
        CHECK((byte == '\n' || uint8_t(byte) >= 0x20));
      CHECK_FALSE(contains(text.out, "\nbwr: forged"));
      // The object is read back by somebody else's reader.
      How both;
      both.set = {{"B", bwrPath()}, {"N", path}};
      const Outcome read = room.shell(
          "\"$B\" --level " + level +
              " --ro \"$N\" --explain --json 2>&1 | tail -n 1 | python3 -c '\n"
              "import json, sys, os\n"
              "want = os.environb[b\"N\"]\n"
              "def walk(v):\n"
              "  if isinstance(v, dict):\n"
              "    b = v.get(\"bytes\")\n"
              "    if isinstance(b, str) and bytes.fromhex(b) == want: return True\n"
              "    return any(walk(x) for x in v.values())\n"
              "  if isinstance(v, list): return any(walk(x) for x in v)\n"
              "  return isinstance(v, str) and (v.encode(\"utf-8\", \"surrogateescape\") == want)\n"
              "print(walk(json.load(sys.stdin)))'",
          both);
      if (name[0] != '\xff') // what is not UTF-8 has a form of its own: see explain_test
        CHECK_MESSAGE(read.out == "True\n", read.out << read.err);
      checkRefused(room, room.bwr(level, {"--ro", path + "/missing"}, {"touch", "ran"}), 126,
                   "no such file");
    }
  });
}

TEST_CASE(
    "T140 the network of a client has no way in, and a mode that is not there is wrong usage") {
  each(confining(), [](const Room& room, const std::string& level) {
    CHECK(room.plain({probePath(), "listen"}).out == "ok\n");
    const Outcome refused =
        room.bwr(level, {"--network", "client", "--ro", probePath()}, {probePath(), "listen"});
    CHECK_MESSAGE(llvm::StringRef(refused.out).starts_with("refused "), refused.out);
    CHECK(
        room.bwr(level, {"--network", "open", "--ro", probePath()}, {probePath(), "listen"}).out ==
        "ok\n");
    // Of every descendant, and for local sockets too.
    const std::string local =
        "import socket, subprocess, sys\ns = socket.socket(socket.AF_UNIX); s.bind('s')\ntry:\n  "
        "s.listen(1); print('listens')\nexcept OSError: print('refused')";
    CHECK(room.plain({"sh", "-c", "setsid -w python3 -c \"$0\"; rm s", local}).out == "listens\n");
    CHECK(room.bwr(level, {"--network", "client"},
                   {"sh", "-c", "setsid -w python3 -c \"$0\"; rm s", local})
              .out == "refused\n");
  });
}

TEST_CASE("bad input: words that are not there are wrong usage, with the words there are") {
  each(levels(), [](const Room& room, const std::string& level) {
    checkRefused(room, room.bwr(level, {"--levl"}, {"touch", "ran"}), 2, "no option `--levl`",
                 "bwr --level");
    checkRefused(room, room.bwr(level, {"-x"}, {"touch", "ran"}), 2, "-x");
    checkRefused(room, room.bwr(level, {"--level", "strict"}, {"touch", "ran"}), 2, "given twice");
    for (const char* word : {"Strict", "", "max", "strict "})
      checkRefused(room, room.bwrRaw({"--level", word, "--", "touch", "ran"}), 2, "--level");
    for (const char* word : {"off", "Client", "", "host"})
      checkRefused(room, room.bwr(level, {"--network", word}, {"touch", "ran"}), 2, "--network");
    checkRefused(room, room.bwr(level, {"--profile", "carg"}, {"touch", "ran"}), 2, "cargo",
                 "--profile cargo");
    checkRefused(room, room.bwr(level, {"--platform", "linux"}, {"touch", "ran"}), 2, "--platform");
    checkRefused(room, room.bwrRaw({"--explain", "--platform", "beos", "--", "touch", "ran"}), 2,
                 "beos");
    checkRefused(room, room.bwrRaw({"--level", level}), 2, "");
    checkRefused(room, room.bwrRaw({"--ro"}), 2, "--ro");
  });
}

TEST_CASE("bad input: grants that are missing, loop, are odd, or too long") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.link("loop", "loop");
    room.link("b", "a");
    room.link("a", "b");
    room.link("nowhere", "dangling");
    for (const char* flag : {"--ro", "--rw"}) {
      CAPTURE(flag);
      for (const char* path : {"loop", "a", "loop/x"})
        checkRefused(room, room.bwr(level, {flag, path}, {"touch", "ran"}), 126, "circle");
      for (const std::string path : {"nope", "nope/x", "dangling", "~/nope", "/no/such",
                                     "line\nbwr: forged", "\xff\xfe", "esc\x1b[31m"})
        checkRefused(room, room.bwr(level, {flag, path}, {"touch", "ran"}), 126,
                     "no such file or directory");
      checkRefused(room, room.bwr(level, {flag, ""}, {"touch", "ran"}), 2, "empty");
      checkRefused(room, room.bwr(level, {flag, std::string(5000, 'a')}, {"touch", "ran"}), 126,
                   "");
      room.write("file", "");
      checkRefused(room, room.bwr(level, {flag, "file/x"}, {"touch", "ran"}), 126, "");
    }
    checkRefused(room, room.bwr(level, {"--workdir", "nope"}, {"touch", "ran"}), 126, "nope",
                 "--workdir DIR");
    checkRefused(room, room.bwr(level, {"--workdir", "file"}, {"touch", "ran"}), 126, "file");
    checkRefused(room, room.bwr(level, {"--ro", "nope"}, {"touch", "ran"}), 126, "nope",
                 "mkdir -p " + room.path("nope"));
    checkRefused(room, room.bwr(level, {"--rw", "~/nope"}, {"touch", "ran"}), 126, "~/nope",
                 "--rw ~/nope");
    if (level == "basic")
      return; // to narrow there is an error: T126
    // Relative ones are relative to where the caller stands.
    room.makeDirectory("sub/dir");
    How how;
    how.directory = "sub";
    CHECK(room.bwr(level, {"--ro", "dir", "--ro", "../sub/./dir//"}, {"ls", "dir"}, how).code == 0);
  });
}

TEST_CASE("bad input: a profile of one's own with an error is named with its place") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.home() + "/.config/bwr/profiles");
    const std::string file = room.home() + "/.config/bwr/profiles/mine.toml";
    for (const char* text : {"summary = ", "summary = \"x\"\nnonsense = 1\n[phase.build]\n",
                             "[phase.build]\nread_only = 7\n", "\xff",
                             "summary = \"x\"\n[phase.build]\npass = [\"LD_PRELOAD\"]\n"}) {
      CAPTURE(text);
      room.write(file, text);
      const Outcome outcome = room.bwr(level, {"--profile", "mine"}, {"touch", "ran"});
      CHECK(outcome.code == 126);
      CHECK_FALSE(room.exists("ran"));
      CHECK_MESSAGE(contains(outcome.err, "mine.toml:"), outcome.err);
      CHECK(contains(outcome.err, "bwr: profile `mine` is not valid"));
    }
    ::chmod(file.c_str(), 0666);
    checkRefused(room, room.bwr(level, {"--profile", "mine"}, {"touch", "ran"}), 126,
                 "writable by everyone");
    std::filesystem::remove(file);
    room.write(room.home() + "/elsewhere.toml", "summary = \"x\"\n[phase.build]\n");
    room.link(room.home() + "/elsewhere.toml", file);
    checkRefused(room, room.bwr(level, {"--profile", "mine"}, {"touch", "ran"}), 126,
                 "symbolic link");
  });
}

TEST_CASE("bad input: commands that are missing, not executable, a directory, broken or foreign") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory("directory");
    room.write("plain", "touch ran\n", 0644);
    room.write("broken", "#!/no/interpreter\ntouch ran\n", 0755);
    room.write("foreign",
               llvm::StringRef("\x7f"
                               "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x99\x99",
                               20),
               0755);
    room.write("zeros", llvm::StringRef("\0\0\0\0", 4), 0755);
    room.link("nowhere", "dangling");
    room.link("self", "self");
    checkRefused(room, room.bwr(level, {}, {"./directory"}), 126, "is a directory");
    checkRefused(room, room.bwr(level, {}, {"./plain"}), 126, "not executable", "chmod +x");
    checkRefused(room, room.bwr(level, {}, {"./broken"}), 127, "/no/interpreter");
    checkRefused(room, room.bwr(level, {}, {"./foreign"}), 126, "no program of this machine");
    checkRefused(room, room.bwr(level, {}, {"./zeros"}), 126, "no program of this machine");
    checkRefused(room, room.bwr(level, {}, {"./dangling"}), 127, "dangling");
    const Outcome circle = room.bwr(level, {}, {"./self"});
    CHECK((circle.code == 126 || circle.code == 127));
    checkRefused(room, circle, circle.code, "self");
    checkRefused(room, room.bwr(level, {}, {"no\nsuch"}), 127, "no\\nsuch");
    checkRefused(room, room.bwr(level, {}, {""}), 2, "");
    checkRefused(room, room.bwr(level, {}, {std::string(300, 'x')}), 127, "xxx");
    // The unconfined shell has the same codes.
    CHECK(room.shell("./directory").code == 126);
    CHECK(room.shell("./plain").code == 126);
  });
}

TEST_CASE("bad input: a closed input, a full disk, and no /proc") {
  each(levels(), [](const Room& room, const std::string& level) {
    How closed;
    closed.closedInput = true;
    CHECK(room.bwr(level, {}, {"sh", "-c", "read x; echo $?"}, closed).out == "1\n");
    if (::geteuid() != 0) {
      skip("a full disk and no /proc", "only root can make them");
      return;
    }
    if (room.who() == As::User)
      return;
    // HOME is where no proof is kept: the first use of the level is here.
    const std::string copy = "/usr/local/bin/gosbox-" + std::to_string(::getpid());
    std::filesystem::copy_file(bwrPath(), copy);
    const std::string run = "HOME=/nonexistent " + copy + " --level " + level + " -- ";
    // A disk of one MiB, filled until no directory can be made, is what both temps are.
    const std::string place = "/usr/local/gosbox-" + std::to_string(::getpid());
    std::filesystem::create_directory(place);
    const std::string disk = "cd " + place +
                             " && truncate -s 1M image && mke2fs -q -m 0 -N 256 image && "
                             "mount -o loop image /var/tmp && mount --bind /var/tmp /tmp || exit; ";
    const std::string fill = "cat /dev/zero >/var/tmp/f; i=0; "
                             "while mkdir /var/tmp/d$i; do i=$((i + 1)); done; ";
    const std::string start = run + "touch ran 2>message; echo code $?; ls; cat message";
    const Outcome roomy = room.plain({"unshare", "-m", "sh", "-c", disk + start});
    const Outcome full =
        room.plain({"unshare", "-m", "sh", "-c",
                    disk + fill.substr(0, fill.size() - 2) + " 2>/dev/null; rm -f ran; " + start});
    if (roomy.out.empty()) {
      skip("a full disk", "no disk can be made here: " + roomy.err);
    } else {
      CHECK(roomy.out == "code 0\nimage\nmessage\nran\n");
      CHECK(llvm::StringRef(full.out).starts_with("code 126\nimage\nmessage\nbwr: "));
      CHECK_MESSAGE(contains(full.out, "no space left on device"), full.out);
    }
    std::filesystem::remove_all(place);
    const Outcome bare = room.plain(
        {"unshare", "-m", "sh", "-c", "umount -l /proc && " + run + "touch ran; echo code $?"});
#ifndef GOS_SANITIZED // whose run-time part itself needs /proc
    CHECK(bare.out == "code 64\n");
    CHECK_MESSAGE(contains(bare.err, "/proc"), bare.err);
    CHECK(contains(bare.err, "try: "));
#endif
    CHECK_FALSE(room.exists("ran"));
    std::filesystem::remove(copy);
  });
}

} // namespace gos::cases
