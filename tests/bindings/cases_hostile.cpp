// The build phase and what comes out of it: a registry crate with a hostile build script and one
// with a hostile macro, the acts of the probe as a binding, libraries that are swapped, and linker
// tricks.

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {

/// What both hostile crates try, in Rust; each answer is a word in the library.
std::string attack(const Bound& bound, uint16_t port, const std::string& sibling) {
  std::string text = "#[allow(dead_code)] fn attack(who: &str) -> String {\n"
                     "    let mut said = String::new();\n";
  size_t number = 0;
  const auto add = [&](const std::string& what, const std::string& expression) {
    text += "    said += &format!(\"{who}-" + what + std::to_string(number++) + "={};\", if " +
            expression + " { \"GOT\" } else { \"no\" });\n";
  };
  add("net", "std::net::TcpStream::connect((\"127.0.0.1\", " + std::to_string(port) + ")).is_ok()");
  const std::string home = bound.room.home();
  for (const std::string& path : {home + "/.ssh/id_rsa", home + "/.cargo/credentials.toml",
                                  home + "/.bashrc", sibling + "/secret"})
    add("read", "std::fs::read(\"" + path + "\").is_ok()");
  for (const std::string& path :
       {home + "/.bashrc", bound.room.path("src/main.gos"), bound.room.path("project.toml"),
        bound.room.path("bindings.lock"), bound.room.path(".git/hooks/post-commit"),
        bound.cache() + "/cargo/config.toml", sibling + "/new"})
    add("write",
        "std::fs::OpenOptions::new().append(true).create(true).open(\"" + path + "\").is_ok()");
  for (const char* name : {"SECRET_TOKEN", "CARGO_REGISTRY_TOKEN", "SSH_AUTH_SOCK"})
    add("env", std::string("std::env::var(\"") + name + "\").is_ok()");
  add("unix",
      "std::os::unix::net::UnixStream::connect(\"" + bound.room.top() + "/agent\").is_ok()");
  add("process", "std::fs::read(format!(\"/proc/{}/environ\", std::os::unix::process::parent_id())"
                 ").map(|b| b.windows(12).any(|w| w == b\"SECRET_TOKEN\")).unwrap_or(false)");
  return text + "    let _ = std::process::Command::new(\"setsid\").args([\"sleep\", \"" +
         uniqueSeconds(7) +
         "\"]).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null())"
         ".stderr(std::process::Stdio::null()).spawn();\n    said\n}\n";
}

} // namespace

TEST_CASE(
    "a hostile build script and a hostile macro of registry crates: fetched from there, built "
    "without it, and nothing of the user is touched") {
  if (missesCargo("hostile crates"))
    return;
  for (As who : identities())
    for (const std::string level : {"none", "standard", "strict"}) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      Bound bound(who);
      Registry registry;
      const std::string sibling = bound.room.top() + "/other";
      const std::string token = randomName("token-");
      bound.write(sibling + "/secret", token);
      for (const char* file : {"/.ssh/id_rsa", "/.bashrc", "/.cargo/credentials.toml"})
        bound.write(bound.room.home() + file, "# " + token + "\n");
      bound.write(".git/hooks/post-commit", "#!/bin/sh\n");
      bound.how.set["SECRET_TOKEN"] = bound.how.set["CARGO_REGISTRY_TOKEN"] = token;
      bound.how.set["SSH_AUTH_SOCK"] = bound.room.top() + "/agent";
      const int agent = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strcpy(address.sun_path, (bound.room.top() + "/agent").c_str());
      REQUIRE(::bind(agent, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      ::chmod(address.sun_path, 0777);
      REQUIRE(::listen(agent, 16) == 0);

      const std::string code = attack(bound, registry.port(), sibling);
      registry.publish(
          bound.room, "script", "1.0.0",
          {{"Cargo.toml", "[package]\nname = \"script\"\nversion = \"1.0.0\"\nedition "
                          "= \"2021\"\n"},
           {"build.rs", code + "fn main() { std::fs::write(std::env::var(\"OUT_DIR\")"
                               ".unwrap() + \"/said\", attack(\"script\")).unwrap(); }\n"},
           {"src/lib.rs", "pub const SAID: &str = include_str!(concat!(env!(\"OUT_DIR"
                          "\"), \"/said\"));\n"}});
      registry.publish(
          bound.room, "macros", "1.0.0",
          {{"Cargo.toml", "[package]\nname = \"macros\"\nversion = \"1.0.0\"\nedition "
                          "= \"2021\"\n[lib]\nproc-macro = true\n"},
           {"src/lib.rs", code +
                              "#[proc_macro]\npub fn said(_: proc_macro::TokenStream) -> "
                              "proc_macro::TokenStream {\n    format!(\"{:?}\", attack(\"macro\"))"
                              ".parse().unwrap()\n}\n"}});
      bound.userConfig(registry.replacement());
      bound.bindings("evil = { path = \"evil\" }");
      bound.crate("evil", "evil",
                  "use gossamer_binding::gos_module;\n#[gos_module(\"evil\")]\npub mod evil {\n"
                  "    pub fn said() -> String { format!(\"{}{}\", script::SAID, macros::said!()) "
                  "}\n}\n",
                  "[dependencies]\ngossamer-binding = \"0.1\"\nscript = \"1\"\nmacros = \"1\"\n");
      const auto home = bound.snapshot(bound.room.home());
      const auto other = bound.snapshot(sibling);
      const Leftovers left;
      const Outcome outcome = bound.build(level);
      ::close(agent);
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK(has(outcome.out, "function evil::said\n"));
      CHECK_FALSE(registry.requests().empty());
      const std::string library = bound.library(outcome);
      for (const char* part : {"script-", "macro-"}) {
        const size_t at = library.find(std::string(part) + "net0=");
        REQUIRE_MESSAGE(at != std::string::npos, part);
        const std::string said = library.substr(at, library.find("process", at) + 20 - at);
        if (level == "none") {
          // Unconfined, each of these works: a lock that stops nothing proves nothing.
          CHECK_MESSAGE(has(said, "net0=GOT"), said);
          CHECK_MESSAGE(has(said, "read1=GOT"), said);
          CHECK_MESSAGE(has(said, "unix15=GOT"), said);
          // The environment is the plan's at every level.
          CHECK_MESSAGE(has(said, "env12=no"), said);
        } else {
          // These two are kept out of the verdict: the room's home lies in what is a private temp
          // here, where a name that is not there can be made (`write5`, the home's `.bashrc`) and
          // then read again by the macro (`read3`). What the home itself holds is compared below.
          std::string judged = said;
          for (const char* own : {"write5=GOT", "read3=GOT"})
            if (const size_t where = judged.find(own); where != std::string::npos)
              judged.erase(where, std::strlen(own));
          CHECK_MESSAGE(!has(judged, "=GOT"), said);
        }
      }
      CHECK(gone(uniqueSeconds(7)));
      if (level == "none")
        continue;
      auto after = bound.snapshot(bound.room.home());
      std::erase_if(after, [&](const auto& entry) {
        return has(entry.first, "/.cache") || entry.first == bound.room.home();
      });
      auto before = home;
      std::erase_if(before, [&](const auto& entry) { return entry.first == bound.room.home(); });
      CHECK(after == before);
      CHECK(bound.snapshot(sibling) == other);
      CHECK(filesWith(bound.cache(), token).empty());
      CHECK(left.allGo());
    }
}

TEST_CASE(
    "T100 T102 T103 T104 T105 T106 T110 T111 T115 T116 the acts of the probe, as a binding under "
    "the tool") {
  if (missesCargo("probe as a binding"))
    return;
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      const Room room(who);
      Scene scene(room);
      room.write("project.toml", "[project]\nid = \"example.com/app\"\nversion = \"0.1.0\"\n"
                                 "[rust-bindings]\nprobe = { path = \".\" }\n");
      std::string manifest = room.read("Cargo.toml");
      const std::string package =
          llvm::StringRef(manifest).split("name = \"").second.split('"').first.str();
      room.write("project.toml", "[project]\nid = \"example.com/app\"\nversion = \"0.1.0\"\n"
                                 "[rust-bindings]\n" +
                                     package + " = { path = \".\" }\n");
      room.write("src/main.gos", "fn main() {}\n");
      room.write("src/lib.rs", room.read("src/main.rs") + "\n" + Bound::kLibrary);
      room.write("Cargo.toml", manifest + "\n[dependencies.gossamer-binding]\nversion = \"0.1\"\n");
      // Beside the room, whose every entry is compared.
      const Room beside(who);
      const std::string cache = beside.top() + "/cache";
      beside.makeDirectory(cache);
      scene.buildWith([&](const std::string&, const std::vector<std::string>&, How how) {
        how.set["XDG_CACHE_HOME"] = cache;
        return room.plain(
            {toolPath(), "--sandbox=" + level, "--sandbox-rw", room.path("target"), room.project()},
            how);
      });
      const std::string& home = scene.home();
      std::vector<Act> acts;
      for (const std::string& path : scene.credentials())
        acts.push_back({"T100", {"read", path}, kAbsent});
      for (const char* file : {"/.bashrc", "/.profile", "/.cargo/bin/ls", "/.gitconfig"})
        for (const char* act : {"look", "append", "chmod", "utime", "setxattr", "truncate"})
          acts.push_back({"T103", {act, home + file}, kAbsent});
      for (const char* file :
           {".git/hooks/post-commit", ".git/config", ".github/workflows/x.yml",
            ".vscode/tasks.json", ".envrc", ".cargo/config.toml", "project.toml"})
        acts.push_back({"T104", {"append", room.path(file)}, kReadOnly});
      for (const char* file : {"src/main.gos", "Cargo.lock", "project.lock", "sibling/src/lib.rs"})
        acts.push_back({"T105", {"append", room.path(file)}, kReadOnly});
      for (const char* file : {"/.cache/sccache/a", "/.cache/ccache/a", "/.cache/gossamer/a"})
        acts.push_back({"T106", {"read", home + file}, kAbsent});
      acts.push_back({"T106", {"tcp", "127.0.0.1", std::to_string(scene.port())}, {ECONNREFUSED}});
      for (const Act& act : daemonActs(scene, kAbsent))
        acts.push_back(act);
      // What is written by the first build is no change by the second.
      room.write("bindings.lock", "");
      files::remove(room.path("bindings.lock"));
      scene.build({}, level, {});
      Report report = scene.build(acts, level, {});
      if (!scene.built())
        continue;
      for (const char* part : {"build", "macro"})
        for (size_t id = 0; id != acts.size(); ++id) {
          const int result = report[{part, id}].result;
          // A socket at a path that the view has not, or closes.
          const bool good = llvm::is_contained(acts[id].errors, result) ||
                            (acts[id].number == "T110" && result > 0);
          CHECK_MESSAGE(good, acts[id].number << " " << std::string(part) << ": "
                                              << llvm::join(acts[id].words, " ") << ": "
                                              << words(result));
        }
      CHECK(scene.unchanged());
      CHECK(filesWith(cache, scene.token()).empty());
    }
}

TEST_CASE(
    "T120 a library that a build leaves as a link, a FIFO or a directory is refused, and what was "
    "checked is what is used") {
  if (missesCargo("T120"))
    return;
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      Bound bound(who);
      bound.plain();
      const Outcome good = bound.build(level);
      REQUIRE_MESSAGE(good.code == 0, good.err);
      std::string project;
      for (const auto& entry : files::directory_iterator(bound.cache() + "/bindings"))
        project = entry.path().string();
      const std::string library = project + "/target-" + level + "/release/libgossamer_bindings.so";
      REQUIRE(files::exists(library));
      const std::string secret = bound.room.home() + "/secret";
      bound.room.write(secret, bound.room.read(library));
      const auto again = [&] {
        // The state is gone, Cargo finds nothing to do, and the library is what it finds.
        files::remove(project + "/state-" + level);
        return bound.build(level);
      };
      // The directory above it leads elsewhere.
      const std::string release = project + "/target-" + level + "/release";
      files::rename(release, release + "-kept");
      bound.room.link(bound.room.home(), release);
      CHECK(again().code == 1);
      files::remove(release);
      files::rename(release + "-kept", release);
      CHECK_MESSAGE(again().code == 0, again().err);

      // The cached copy is judged by what it holds.
      const std::string sum =
          llvm::StringRef(good.out).split("library ").second.split('\n').first.str();
      const std::string cached = project + "/artifacts/" + sum;
      std::string bytes = bound.room.read(cached);
      REQUIRE_FALSE(bytes.empty());
      bytes[bytes.size() / 2] ^= 1;
      ::usleep(1100000);
      bound.build(level);
      bound.room.write(cached, bytes);
      const Outcome healed = bound.build(level);
      CHECK_MESSAGE(healed.code == 0, healed.err);
      CHECK(healed.out == good.out);
      CHECK(bound.room.read(cached) != bytes);
    }
}

TEST_CASE("T121 what a library would run on loading is not run by looking at it") {
  if (missesCargo("T121"))
    return;
  for (As who : identities()) {
    Bound bound(who);
    const std::string mark = bound.room.top() + "/mark";
    bound.bindings("stats = { path = \"rust/stats\" }");
    bound.crate("rust/stats", "stats",
                std::string(Bound::kLibrary) +
                    "#[used]\n#[link_section = \".init_array\"]\nstatic INIT: extern \"C\" fn() = "
                    "init;\nextern \"C\" fn init() { let _ = std::fs::write(\"" +
                    mark + "\", \"x\"); }\n",
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    const Outcome outcome = bound.build("standard");
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    bound.build("standard", {"--editor"});
    CHECK_FALSE(bound.room.exists(mark));
  }
}

TEST_CASE("T123 what a crate tells the linker does not reach the library, and the crate is named") {
  if (missesCargo("T123"))
    return;
  struct Attack {
    std::string argument, says;
  };
  const std::vector<Attack> attacks = {
      {"-Wl,-rpath,/tmp/x", "where libraries are looked for"},
      {"-Wl,--disable-new-dtags,-rpath,/tmp/x", "where libraries are looked for"},
      {"-Wl,-z,execstack", "executable stack"},
      {"-Wl,-z,interpose", "DF_1_INTERPOSE"},
      {"-Wl,-z,initfirst", "DF_1_INITFIRST"},
      {"-Wl,--auxiliary=/tmp/x.so", "stand in for its own"},
      // Not every linker knows these; whether it does or not, there is no library.
      {"-Wl,--audit=/tmp/x.so", ""},
      {"-Wl,--depaudit=/tmp/x.so", ""},
      {"-Wl,-plugin,/tmp/x.so", ""},
      // Nothing of these is to be seen in the library.
      {"-Wl,--wrap=malloc", "GJ0054"},
      {"-Wl,--defsym=main=0", "GJ0054"},
      {"-L/tmp/x", "GJ0054"},
  };
  for (As who : identities())
    for (const std::string level : {"none", "standard"}) {
      if (level == "none" && who != identities().back())
        continue;
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      Bound bound(who);
      bound.plain();
      bound.crate("rust/stats", "stats", Bound::kLibrary,
                  "[dependencies]\ngossamer-binding = \"0.1\"\ninner = { path = \"../inner\" "
                  "}\n");
      const auto inner = [&](const std::string& argument) {
        bound.crate("rust/inner", "inner", "\n", "",
                    "fn main() { println!(\"cargo:rustc-cdylib-link-arg=" + argument + "\"); }\n");
        return bound.build(level);
      };
      for (const Attack& attack : attacks) {
        CAPTURE(attack.argument);
        const Outcome outcome = inner(attack.argument);
        CHECK(outcome.code == 1);
        CHECK(outcome.out.empty());
        CHECK_MESSAGE(has(outcome.err, attack.says), outcome.err);
        if (!attack.says.empty()) {
          CHECK_MESSAGE(has(outcome.err, "crate `inner` gives the linker"), outcome.err);
          CHECK_MESSAGE(has(outcome.err, "`" + attack.argument + "`"), outcome.err);
        }
      }
      const Outcome harmless = inner("-Wl,-soname,libstats.so");
      CHECK_MESSAGE(harmless.code == 0, harmless.err);
      CHECK_MESSAGE(has(harmless.err, "GJ0053"), harmless.err);
      CHECK_MESSAGE(has(harmless.err, "crate `inner` gives the linker `-Wl,-soname,libstats.so`"),
                    harmless.err);
    }
}

TEST_CASE(
    "T123 libraries that a crate brings along: by a path they are refused, by a name they are "
    "told, and an object without a note makes no executable stack") {
  if (missesCargo("T123"))
    return;
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    Bound bound(who);
    const auto with = [&](const std::string& commands, const std::string& link) {
      bound.plain();
      bound.crate("rust/stats", "stats",
                  "use gossamer_binding::gos_module;\nextern \"C\" { fn answer() -> i32; }\n"
                  "#[gos_module(\"stats::fast\")]\npub mod fast {\n"
                  "    pub fn answer() -> i64 { unsafe { crate::answer() as i64 } }\n}\n",
                  "[dependencies]\ngossamer-binding = \"0.1\"\n",
                  "fn main() {\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n"
                  "    let done = std::process::Command::new(\"sh\").current_dir(&out).arg(\"-c\")"
                  ".arg(\"" +
                      commands +
                      "\").status().unwrap();\n    assert!(done.success());\n"
                      "    println!(\"cargo:rustc-link-search=native={out}\");\n"
                      "    println!(\"cargo:rustc-link-lib=" +
                      link + "\");\n}\n");
      return bound.build("standard");
    };
    const std::string source = "echo 'int answer(void) { return 42; }' > a.c && ";
    const Outcome path =
        with(source + "cc -shared -fPIC -Wl,-soname,/tmp/x/libanswer.so -o libanswer.so a.c",
             "dylib=answer");
    CHECK(path.code == 1);
    CHECK_MESSAGE(has(path.err, "needs the library `/tmp/x/libanswer.so`, by its path"), path.err);
    const Outcome plain = with(
        source + "cc -shared -fPIC -Wl,-soname,libanswer.so -o libanswer.so a.c", "dylib=answer");
    CHECK_MESSAGE(plain.code == 0, plain.err);
    CHECK_MESSAGE(has(plain.err, "library `libanswer.so` has to be there"), plain.err);
    const Outcome inside =
        with(source + "cc -c -fPIC a.c && ar rcs libanswer.a a.o", "static=answer");
    CHECK_MESSAGE(inside.code == 0, inside.err);
    CHECK_FALSE(has(inside.err, "GJ0053"));
  }
}

TEST_CASE("T101 a linker that a crate gives arguments reads nothing of the user") {
  if (missesCargo("T123"))
    return;
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(level);
      Bound bound(who);
      bound.write(bound.room.home() + "/.ssh/id_rsa", "secret-of-the-user");
      bound.bindings("stats = { path = \"rust/stats\" }");
      const auto withArgument = [&](const std::string& argument) {
        bound.crate("rust/stats", "stats", Bound::kLibrary,
                    "[dependencies]\ngossamer-binding = \"0.1\"\n",
                    "fn main() { println!(\"cargo:rustc-link-arg=" + argument +
                        "\"); println!(\"cargo:rustc-cdylib-link-arg=" + argument + "\"); }\n");
        return bound.build(level);
      };
      const Outcome theft =
          withArgument("-Wl,--format=binary," + bound.room.home() + "/.ssh/id_rsa");
      if (theft.code == 0) {
        CHECK_FALSE(has(bound.library(theft), "secret-of-the-user"));
      }
      CHECK(filesWith(bound.cache(), "secret-of-the-user").empty());
    }
}

} // namespace gos::cases
