// The build phase: T100 to T112 and T117, tried by a build script, a procedural macro and a linker
// of one package (probe_crate/), first without bwr, where every act has to work, and then under it.

#include "tests/sandbox/build_scene.h"

#include <doctest/doctest.h>

namespace gos::cases {

TEST_CASE("T100 T103 T106 a build sees no credential, no file of the user and no cache of another "
          "project") {
  if (missesCargo("T100"))
    return;
  each(
      confining(), {},
      [](const Room&, const Scene& scene) {
        std::vector<Act> acts;
        const std::string& home = scene.home();
        const auto made = [&](Act act) {
          if (!scene.homeInTemp())
            acts.push_back(std::move(act));
        };
        for (const std::string& path : scene.credentials())
          acts.push_back({"T100", {"read", path}, kAbsent});
        acts.push_back(
            {"T100", {"read", home + "/.mozilla/firefox/p.default/logins.json"}, kAbsent});
        acts.push_back({"T100", {"list", home + "/.ssh"}, kAbsent});
        for (const char* file : {"/.bashrc", "/.profile", "/.cargo/bin/ls", "/.local/bin/ls",
                                 "/.gitconfig", "/.config/autostart/x.desktop"}) {
          const std::string path = home + file;
          for (const char* act : {"look", "append", "chmod", "utime", "setxattr"})
            acts.push_back({"T103", {act, path}, kAbsent});
          acts.push_back({"T103", {"link", path, path + ".{who}-link"}, kAbsent});
          made({"T103", {"create", path + ".{who}-new"}, kNothingMade});
          made({"T103", {"symlink", "/", path + ".{who}-sym"}, kNothingMade});
          made({"T103", {"rename", path + ".{who}-new", path}, kNothingMade});
          acts.push_back({"T103", {"truncate", path}, kAbsent});
          acts.push_back({"T103", {"openat", "9", file + 1}, {EBADF, ENOTDIR}});
        }
        for (const char* file :
             {"/.cache/sccache/a", "/.cache/ccache/a", "/.ccache/a", "/.cache/gossamer/a"}) {
          acts.push_back({"T106", {"read", home + file}, kAbsent});
          acts.push_back({"T106", {"append", home + file}, kAbsent});
          made({"T106", {"create", home + file + ".{who}"}, kNothingMade});
        }
        // Shared by every project of the user, and read by each: the profile grants it, read-only.
        acts.push_back(
            {"T106", {"append", home + "/.cargo/registry/src/index/crate/lib.rs"}, {EROFS}});
        acts.push_back(
            {"T106", {"create", home + "/.cargo/registry/src/index/crate/{who}.rs"}, {EROFS}});
        acts.push_back(
            {"T106", {"tcp", "127.0.0.1", std::to_string(scene.port())}, {ECONNREFUSED}});
        return acts;
      },
      [](const Room& room, Scene& scene, Report&, const std::string&) {
        CHECK(filesWith(room.path("target"), scene.token()).empty());
        CHECK(scene.outcome().err.find(scene.token()) == std::string::npos);
      });
}

TEST_CASE("T100 a grant of the home around credentials keeps the holes") {
  if (missesCargo("T100"))
    return;
  each(
      confining(), {"--ro", "{home}"},
      [](const Room&, const Scene& scene) {
        std::vector<Act> acts;
        for (const std::string& path : scene.credentials()) {
          acts.push_back({"T100", {"read", path}, kClosed});
          acts.push_back({"T100", {"append", path}, {ENOENT, EACCES, EROFS}});
        }
        acts.push_back({"T103", {"append", scene.home() + "/.bashrc"}, kReadOnly});
        acts.push_back({"T103", {"chmod", scene.home() + "/.bashrc"}, kReadOnly});
        acts.push_back({"T103", {"read", scene.home() + "/.bashrc"}, {}});
        return acts;
      },
      kNoMore);
}

TEST_CASE("T101 what needs no code of the build to be stolen does not come into an artifact") {
  if (missesCargo("T101"))
    return;
  const std::vector<std::string> thefts = {
      "include_bytes", "include_str", "include_environ", "option_env",    "path_module",  "incbin",
      "c_include",     "c_incbin",    "c_embed",         "linker_binary", "linker_script"};
  std::vector<std::string> build = cargoBuild();
  build.push_back("--keep-going");
  for (As who : identities())
    for (const std::string& level :
         {std::string(), std::string("basic"), std::string("standard"), std::string("strict")}) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      const Room room(who);
      const std::string token = "token" + randomName("");
      copyInto(room, std::string(GOS_SOURCE_DIR) + "/tests/sandbox/probe_crate/theft");
      for (const char* directory : {"/.ssh", "/.cargo"})
        room.makeDirectory(room.home() + directory);
      room.write(room.home() + "/.ssh/id_rsa", token);
      room.write(room.home() + "/.ssh/secret.h", "char kept[] = \"" + token + "\";\n");
      room.write(room.home() + "/.ssh/secret.rs", "pub const TOKEN: &str = \"" + token + "\";\n");
      room.write(room.home() + "/.ssh/secret.ld", token + " = 1;\n");
      room.write(room.home() + "/.cargo/credentials.toml",
                 "[registry]\ntoken = \"" + token + "\"\n");
      How how;
      cleanEnvironment(how);
      how.set["PROBE_SECRET_TOKEN"] = token;
      const Outcome outcome =
          level.empty() ? room.plain(build, how) : room.bwr(level, {}, build, how);
      const auto holds = [&](const std::string& theft) {
        return room.read("target/debug/" + theft).find(token) != std::string::npos;
      };
      if (level.empty()) {
        CHECK_MESSAGE(outcome.code == 0, outcome.err);
        for (const std::string& theft : thefts) {
          if (theft == "c_embed" && !holds(theft)) {
            skip("T101 #embed", "no compiler here knows it (clang-19)");
            continue;
          }
          CHECK_MESSAGE(holds(theft), theft);
        }
        continue;
      }
      // What compiles without the secret does compile: the build went as far as it could.
      CHECK_MESSAGE(room.exists("target/debug/option_env"), outcome.err);
      CHECK_FALSE(holds("option_env"));
      CHECK_FALSE(holds("include_environ"));
      if (level == "basic")
        continue;
      const std::vector<std::string> found = filesWith(room.path("target"), token);
      CHECK_MESSAGE(found.empty(), llvm::join(found, " "));
      CHECK(outcome.err.find(token) == std::string::npos);
      CHECK(outcome.out.find(token) == std::string::npos);
    }
}

TEST_CASE("T102 T112 a build has the environment and the descriptors of the plan") {
  if (missesCargo("T102"))
    return;
  const std::vector<std::string> secrets = {"AWS_SECRET_ACCESS_KEY",
                                            "CARGO_REGISTRY_TOKEN",
                                            "CARGO_REGISTRIES_CORP_TOKEN",
                                            "DBUS_SESSION_BUS_ADDRESS",
                                            "DOCKER_HOST",
                                            "GITHUB_TOKEN",
                                            "GITHUB_WORKSPACE",
                                            "NPM_TOKEN",
                                            "SSH_AUTH_SOCK",
                                            "XDG_RUNTIME_DIR"};
  const std::vector<Act> acts = {{"T102", {"environment"}, {}, true},
                                 {"T112", {"descriptors"}, {}, true}};
  for (As who : identities())
    for (const std::string& level :
         {std::string(), std::string("basic"), std::string("standard"), std::string("strict")}) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      const Room room(who);
      Scene scene(room);
      Report report = scene.build(acts, level, {});
      for (const char* part : kParts) {
        CAPTURE(std::string(part));
        const std::string text = "\n" + report[{part, 0}].text,
                          descriptors = report[{part, 1}].text;
        REQUIRE(report[{part, 0}].result == 0);
        REQUIRE(report[{part, 1}].result == 0);
        if (level.empty()) {
          for (const std::string& secret : secrets)
            CHECK_MESSAGE(text.find("\n" + secret + "=") != std::string::npos, secret);
          for (const std::string& open :
               {"9 " + scene.home() + "\n", "10 " + scene.home() + "/.bashrc\n",
                "300 " + scene.home() + "/.ssh\n"})
            CHECK_MESSAGE(("\n" + descriptors).find("\n" + open) != std::string::npos, descriptors);
          continue;
        }
        CHECK(text.find(scene.token()) == std::string::npos);
        CHECK(descriptors.find(scene.home()) == std::string::npos);
        CHECK(text.find("\nHOME=" + scene.home() + "\n") != std::string::npos);
        if (level == "basic")
          CHECK(text.find("\nTMPDIR=/var/tmp/bwr-run-") != std::string::npos);
        else
          CHECK(text.find("\nTMPDIR=/tmp\n") != std::string::npos);
        // Only what the policy passes, what it sets, and what cargo, rustc and the shell make.
        std::set<std::string> known = {
            "TMPDIR",
            "TMP",
            "TEMP",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
            "GIT_CONFIG_GLOBAL",
            "OUT_DIR",
            "TARGET",
            "HOST",
            "NUM_JOBS",
            "OPT_LEVEL",
            "PROFILE",
            "DEBUG",
            "LD_LIBRARY_PATH",
            "MAKEFLAGS",
            "MFLAGS",
            "VSLANG",
            "RUSTC",
            "RUSTDOC",
            "RUSTC_LINKER",
            "RUST_BACKTRACE",
            "SSL_CERT_DIR",
            "SSL_CERT_FILE", // by cargo itself
#define GOS_ENV_PASSED(name) name,
#include "sandbox/policy/environment.def"
        };
        llvm::SmallVector<llvm::StringRef, 64> lines;
        llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
        for (llvm::StringRef line : lines) {
          const llvm::StringRef variable = line.split('=').first;
          if (variable.starts_with("CARGO") && !variable.contains("TOKEN"))
            continue;
          CHECK_MESSAGE(known.count(variable.str()) == 1, variable.str());
        }
        for (const std::string& secret : secrets)
          CHECK_MESSAGE(text.find("\n" + secret + "=") == std::string::npos, secret);
      }
    }
}

TEST_CASE("T104 T105 what runs later, the sources and the lock are read-only to a build") {
  if (missesCargo("T104"))
    return;
  each(
      confining(), {},
      [](const Room& room, const Scene&) {
        std::vector<Act> acts;
        for (const char* name :
             {".git/hooks/post-commit", ".git/config", ".github/workflows/x.yml",
              ".vscode/tasks.json", ".envrc", ".cargo/config.toml", "project.toml", "src/main.rs",
              "Cargo.lock", "project.lock", "macro/src/lib.rs", "sibling/src/lib.rs", "linker"}) {
          const std::string path = room.path(name);
          const std::string number = llvm::StringRef(name).starts_with(".") ? "T104" : "T105";
          for (const char* act : {"open-write", "utime", "setxattr"})
            if (std::string(act) != "open-write" ||
                std::string(name) != "linker") // it runs: ETXTBSY
              acts.push_back({number, {act, path}, kReadOnly});
          acts.push_back({number, {"create", path + ".{who}-new"}, kReadOnly});
          acts.push_back({number, {"rename", path + ".{who}-new", path + ".{who}-old"}, kReadOnly});
          acts.push_back({number, {"unlink", path + ".{who}-old"}, {EROFS, ENOENT}});
          acts.push_back({number, {"chmod", path}, kReadOnly});
        }
        acts.push_back({"T104", {"mkdir", room.path(".idea-{who}")}, kReadOnly});
        acts.push_back({"T104", {"rename", room.path(".git"), room.path(".git-{who}")}, kReadOnly});
        acts.push_back(
            {"T104", {"rename", room.path(".git-{who}"), room.path(".git")}, {EROFS, ENOENT}});
        acts.push_back({"T104", {"create", room.path("target/{who}-mine")}, {}, true});
        return acts;
      },
      kNoMore);
}

TEST_CASE("T104 where the project is writable its hooks are not, wherever `.git` leads") {
  if (missesCargo("T104"))
    return;
  for (const char* shape : {"directory", "file", "link"}) {
    CAPTURE(std::string(shape));
    const auto arrange = [&](const Room& room) {
      if (std::string(shape) == "directory")
        return std::string(".git");
      REQUIRE(room.shell("mv .git real.git").code == 0);
      room.write("real.git/HEAD", "ref: refs/heads/main\n");
      if (std::string(shape) == "file")
        room.write(".git", "gitdir: real.git\n");
      else
        room.link("real.git", ".git");
      return std::string("real.git");
    };
    each(
        std::string(shape) == "file" ? confining() : std::vector<std::string>{"standard"},
        {"--profile", "none"},
        [&](const Room& room, const Scene&) {
          const std::string git = arrange(room);
          std::vector<Act> acts;
          for (const std::string& name :
               {git + "/hooks/post-commit", git + "/config", std::string(".github/workflows/x.yml"),
                std::string(".vscode/tasks.json"), std::string(".envrc")}) {
            const std::string path = room.path(name);
            acts.push_back({"T104", {"open-write", path}, kReadOnly});
            acts.push_back({"T104", {"utime", path}, kReadOnly});
            if (!llvm::StringRef(name).ends_with("config") && name != ".envrc")
              acts.push_back({"T104", {"create", path + ".{who}-new"}, kReadOnly});
          }
          if (std::string(shape) == "file")
            acts.push_back({"T104", {"open-write", room.path(".git")}, kReadOnly});
          acts.push_back({"T104", {"rename", room.path(git), room.path(git + "-{who}")}, {EBUSY}});
          acts.push_back({"T104", {"rename", room.path(git + "-{who}"), room.path(git)}, {ENOENT}});
          return acts;
        },
        kNoMore);
  }
}

TEST_CASE("T107 T108 the temporary directory is private and goes, whatever was made in it") {
  if (missesCargo("T107"))
    return;
  const Leftovers left;
  each(
      confining(), {},
      [](const Room&, const Scene& scene) {
        const std::string canary = scene.home() + "/.ssh";
        return std::vector<Act>{
            {"T107", {"read", scene.othersTemp()}, kAbsent},
            {"T107", {"append", scene.othersTemp()}, kAbsent},
            {"T107",
             {"append", scene.guessedTemp()},
             kAbsent,
             false,
             Act::Outside::Perhaps}, // fs.protected_symlinks
            {"T107", {"mode", "{temp}"}, {}, true},
            {"T108", {"odd", "@build", "{out}/odd", canary}, {}, true},
            {"T108", {"odd", "{temp}/odd-{who}", canary}, {}, true, Act::Outside::Never},
            // Landlock looks at every directory above: much deeper takes the build too long to
            // make.
            {"T108", {"mkdir", "@build", "{temp}/deep"}, {}, true, Act::Outside::Never},
            {"T108", {"deep", "@build", "{temp}/deep", "2000"}, {}, true, Act::Outside::Never},
        };
      },
      [&](const Room& room, Scene&, Report& report, const std::string&) {
        struct stat status{};
        REQUIRE(::stat(room.home().c_str(), &status) == 0);
        for (const char* part : kParts)
          CHECK(report[{part, 3}].text == "700 " + std::to_string(status.st_uid));
        CHECK(left.allGo());
      });
}

TEST_CASE("T108 at `basic`, where nothing slows it down, a tree of ten thousand levels goes "
          "as well") {
  if (missesCargo("T108"))
    return;
  for (As who : identities()) {
    const Room room(who);
    const Leftovers left;
    Scene scene(room);
    const std::vector<Act> acts = {{"T108", {"mkdir", "@build", "{temp}/deep"}, {}, true},
                                   {"T108", {"deep", "@build", "{temp}/deep", "10000"}, {}, true}};
    Report report = scene.build(acts, "basic", {});
    judge(acts, report, "basic", {});
    CHECK(left.allGo());
  }
}

TEST_CASE("T109 nothing that a build starts is there when it has ended") {
  if (missesCargo("T109"))
    return;
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    const std::string seconds = uniqueSeconds(109 + int(who));
    {
      const Room room(who);
      Scene scene(room);
      const std::vector<Act> acts = {{"T109", {"survive", seconds}, {}}};
      (void)tryOutside(scene, acts);
      const std::vector<int> left = processesWith("sleep " + seconds);
      CHECK(left.size() == 3); // one of each part
      for (int process : left)
        ::kill(process, SIGKILL);
    }
    for (const std::string& level : levels()) {
      CAPTURE(level);
      const Room room(who);
      Scene scene(room);
      const std::vector<Act> acts = {
          {"T109", {"open-write", "/sys/fs/cgroup/cgroup.procs"}, {EROFS, EACCES, ENOENT}},
          {"T109", {"survive", seconds}, {}, true},
          {"T109", {"hop"}, {}, true}};
      Report report = scene.build(acts, level, {});
      judge(acts, report, level, {});
      CHECK(gone("sleep " + seconds));
      CHECK(gone(room.top()));
    }
  }
}

TEST_CASE(
    "T110 T111 T117 daemons, processes and shared memory outside are out of a build's reach") {
  if (missesCargo("T110"))
    return;
  const auto make = [](const Room&, Scene& scene) {
    std::vector<Act> acts;
    const std::string helper = std::to_string(scene.helper());
    const std::vector<int> none = {ESRCH, EPERM, ENOENT, EACCES, ENOSYS};
    // Numbers as low as those of a build exist inside as well.
    if (scene.helper() > 5000) {
      for (const char* act : {"ptrace", "vm-read", "kcmp", "take-descriptor"})
        acts.push_back({"T111", {act, helper}, none, false, Act::Outside::Perhaps});
      for (const char* file : {"environ", "maps"})
        acts.push_back(
            {"T111", {"read", "/proc/" + helper + "/" + file}, none, false, Act::Outside::Perhaps});
      acts.push_back(
          {"T111", {"open-write", "/proc/" + helper + "/mem"}, none, false, Act::Outside::Perhaps});
      acts.push_back({"T111", {"look", "/proc/" + helper}, none});
      for (const char* directory : {"fd", "root/", "cwd/"})
        acts.push_back({"T111",
                        {"list", "/proc/" + helper + "/" + directory},
                        none,
                        false,
                        Act::Outside::Perhaps});
    } else {
      skip("T111", "a process outside has a number that is used inside too");
    }
    // Process 1 of a build is ours. (Root may list the numbers of its descriptors, and open none.)
    const auto first = [&](std::vector<std::string> words, const std::vector<int>& errors) {
      acts.push_back({"T111", std::move(words), errors, false, Act::Outside::Never});
    };
    for (const char* act : {"ptrace", "vm-read", "kcmp", "take-descriptor"})
      first({act, "1"}, none);
    for (const char* file : {"environ", "mem", "fd/4", "fd/6/."})
      first({"read", std::string("/proc/1/") + file}, none);
    for (const char* directory : {"root/", "cwd/"})
      first({"list", std::string("/proc/1/") + directory}, none);
    first({"open-write", "/proc/1/exe"}, none);
    first({"open-write", "/proc/1/mem"}, {ESRCH, EPERM, ENOENT, EACCES, EROFS});

    acts.push_back({"T117", {"read", scene.segmentFile()}, kAbsent});
    acts.push_back({"T117", {"append", scene.segmentFile()}, kAbsent});
    acts.push_back({"T117", {"keyring"}, {EPERM}, false, Act::Outside::Perhaps});
    if (scene.segmentKey() != 0)
      acts.push_back({"T117", {"shared-memory", std::to_string(scene.segmentKey())}, kAbsent});
    else
      skip("T117 shared memory", "this host makes no segment");
    if (scene.queueKey() != 0)
      acts.push_back({"T117", {"queue", std::to_string(scene.queueKey())}, kAbsent});
    else
      skip("T117 message queues", "this host makes no queue");
    // Last: how many there are depends on who else of this host has one.
    for (const Act& act : daemonActs(scene, kAbsent))
      acts.push_back(act);
    return acts;
  };
  each(confining(), {}, make, kNoMore);
}

TEST_CASE("T110 a grant of the directories around the sockets of daemons keeps the holes") {
  if (missesCargo("T110"))
    return;
  each(
      confining(), {"--ro", "/run", "--ro", "{top}", "--ro", "/tmp"},
      [](const Room&, Scene& scene) { return daemonActs(scene, {ENOENT, EACCES, ECONNREFUSED}); },
      kNoMore);
}

} // namespace gos::cases
