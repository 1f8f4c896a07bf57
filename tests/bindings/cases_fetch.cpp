// The fetch: T090 to T099. What a project brings along starts no program, reaches no token and asks
// no host; what the user has configured holds.

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {

template <class Case> void everywhere(const std::vector<std::string>& levels, Case act) {
  for (As who : identities())
    for (const std::string& level : levels) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      Bound bound(who);
      act(bound, level);
    }
}

/// A program that leaves a mark when it is started, and goes on as the real one.
std::string logging(const std::string& mark, const std::string& real) {
  return "#!/bin/sh\necho \"$0 $*\" >> " + mark + "\nexec " + real + " \"$@\"\n";
}

std::string anyToken(Registry& registry, const std::string& token) {
  for (const std::string& request : registry.requests())
    if (has(request, token))
      return request;
  return {};
}

const Files kPlainCrate = {{"Cargo.toml",
                            "[package]\nname = \"leaf\"\nversion = \"1.0.0\"\nedition "
                            "= \"2021\"\n"},
                           {"src/lib.rs", "pub fn leaf() -> i64 { 1 }\n"}};

/// A binding that depends on `leaf`.
void bindLeaf(Bound& bound, const std::string& how = "leaf = \"1\"") {
  bound.bindings("stats = { path = \"rust/stats\" }");
  bound.crate("rust/stats", "stats", Bound::kLibrary,
              "[dependencies]\ngossamer-binding = \"0.1\"\n" + how + "\n");
}

} // namespace

TEST_CASE(
    "T090 no Cargo configuration and no toolchain file of a project has an effect, and each is "
    "named") {
  if (missesCargo("T090"))
    return;
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    const std::string mark = bound.room.top() + "/mark";
    bound.plain();
    const std::string rustc = logging(mark, kCompiler), cc = logging(mark, "/usr/bin/cc");
    bound.room.write("w", rustc, 0755);
    bound.room.write("l", cc, 0755);
    const std::string w = bound.room.path("w"), l = bound.room.path("l");
    const auto config = [&](const std::string& compiler, const std::string& linker) {
      return "[build]\nrustc = \"" + compiler + "\"\nrustc-wrapper = \"" + compiler +
             "\"\nrustc-workspace-wrapper = \"" + compiler +
             "\"\nrustflags = [\"-Clinker=" + linker +
             "\"]\n[target.x86_64-unknown-linux-gnu]\nlinker = \"" + linker + "\"\nrunner = \"" +
             compiler +
             "\"\n[alias]\nfetch = \"run\"\nbuild = \"run\"\n[net]\n"
             "git-fetch-with-cli = true\noffline = false\n[http]\nproxy = "
             "\"127.0.0.1:1\"\ncainfo = \"/nothing\"\n[env]\nRUSTC = \"" +
             compiler + "\"\nGIT_SSH_COMMAND = \"" + compiler + "\"\n";
    };
    bound.write(".cargo/config.toml", config(w, l));
    bound.write("rust/stats/.cargo/config.toml", config("./w", "./l"));
    bound.write("rust-toolchain.toml", "[toolchain]\nchannel = \"nothing-such\"\n");
    bound.write("rust/.cargo/config", config(w, l));
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    CHECK(has(outcome.err, "GJ0040"));
    for (const char* file : {"/.cargo/config.toml", "/rust/stats/.cargo/config.toml",
                             "/rust-toolchain.toml", "/rust/.cargo/config"})
      CHECK_MESSAGE(has(outcome.err, bound.room.project() + file), outcome.err);
  });
}

TEST_CASE("T091 a registry that asks for credentials starts no helper, of a project's or of the "
          "user's") {
  if (missesCargo("T091"))
    return;
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    Registry registry;
    registry.refuseEveryone();
    const std::string mark = bound.room.top() + "/mark";
    bound.room.write("steal", logging(mark, "/bin/false"), 0755);
    bound.room.write(bound.room.home() + "/helper", logging(mark, "/bin/false"), 0755);
    bound.write(".cargo/config.toml",
                "[registry]\nglobal-credential-providers = [\"" + bound.room.path("steal") +
                    "\"]\n[registries.corp]\nindex = \"" + registry.index() +
                    "\"\ncredential-provider = [\"" + bound.room.path("steal") + "\"]\n");
    bound.userConfig("[registry]\nglobal-credential-providers = [\"" + bound.room.home() +
                     "/helper\"]\n");
    // The project introduces the registry by its address.
    bindLeaf(bound, "leaf = { version = \"1\", registry-index = \"" + registry.index() + "\" }");
    const Outcome outcome = bound.build(level);
    CHECK(outcome.code == 1);
    CHECK_MESSAGE(has(outcome.err, "GJ0044"), outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    for (const std::string& request : registry.requests())
      CHECK_FALSE(has(request, "uthorization:"));
  });
}

TEST_CASE("T092 a token goes to the registry that the user has it for, and to no other host") {
  if (missesCargo("T092"))
    return;
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    // Nothing comes from crates.io, so nobody asks for it, also not for `gossamer-binding`.
    Registry good, evil, crates;
    const std::string token = randomName("token-");
    for (Registry* each : {&good, &evil})
      each->publish(bound.room, "leaf", "1.0.0", kPlainCrate);
    good.page("/index/config.json",
              "{\"dl\":\"" + good.base() + "/dl/{crate}-{version}.crate\",\"auth-required\":true}");
    evil.page("/index/config.json",
              "{\"dl\":\"" + evil.base() + "/dl/{crate}-{version}.crate\",\"auth-required\":true}");
    bound.userConfig("[registries.corp]\nindex = \"" + good.index() + "\"\n" +
                     crates.replacement());
    bound.room.write(bound.room.home() + "/.cargo/credentials.toml",
                     "[registries.corp]\ntoken = \"" + token + "\"\n", 0600);
    bound.how.set["CARGO_REGISTRIES_CORP_INDEX"] = evil.index();
    bound.write(".cargo/config.toml", "[registries.corp]\nindex = \"" + evil.index() +
                                          "\"\n[source.crates-io]\nreplace-with = "
                                          "\"e\"\n[source.e]\nregistry = \"" +
                                          evil.index() + "\"\n");
    bindLeaf(bound, "leaf = { version = \"1\", registry = \"corp\" }");
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(evil.requests().empty());
    CHECK(crates.requests().empty());
    CHECK_FALSE(anyToken(good, token).empty());
    // The token stays with the fetch: nothing of the cache holds it.
    CHECK(filesWith(bound.cache(), token).empty());
    CHECK_FALSE(has(outcome.err + outcome.out, token));
    CHECK_FALSE(has(bound.build(level, {"--sandbox-explain"}).out, token));

    // The same registry under the project's own address of another host.
    Bound other(bound.room.who());
    other.userConfig("[registries.corp]\nindex = \"" + good.index() + "\"\n" +
                     crates.replacement());
    other.room.write(other.room.home() + "/.cargo/credentials.toml",
                     "[registries.corp]\ntoken = \"" + token + "\"\n", 0600);
    bindLeaf(other, "leaf = { version = \"1\", registry-index = \"" + evil.index() + "\" }");
    CHECK(other.build(level).code == 1);
    CHECK(anyToken(evil, token).empty());
  });
}

TEST_CASE(
    "T092 crates of this machine and of a company's registry are resolved without crates.io") {
  if (missesCargo("T092"))
    return;
  everywhere({"standard"}, [](Bound& bound, const std::string& level) {
    Registry corp, crates;
    corp.publish(bound.room, "leaf", "1.0.0", kPlainCrate);
    bound.userConfig("[registries.corp]\nindex = \"" + corp.index() + "\"\n" +
                     crates.replacement());
    const std::string first = "stats = { path = \"rust/stats\" }\nquick = { src = \"quick.rs\" }";
    bound.bindings(first);
    bound.write("quick.rs", "use gossamer_binding::gos_module;\n#[gos_module(\"quick\")]\n"
                            "pub mod quick { pub fn three() -> i64 { 3 } }\n");
    bound.write("rust/Cargo.toml",
                "[workspace]\nmembers = [\"*\"]\n[workspace.package]\nversion = \"0.3.0\"\n"
                "[workspace.dependencies]\ngossamer-binding = \"0.1\"\n"
                "common = { path = \"common\" }\n");
    for (const char* name : {"stats", "common"})
      bound.write("rust/" + std::string(name) + "/Cargo.toml",
                  "[package]\nname = \"" + std::string(name) +
                      "\"\nversion.workspace = true\nedition = \"2021\"\n[dependencies]\n"
                      "gossamer-binding.workspace = true\n" +
                      (std::string(name) == "stats"
                           ? "common.workspace = true\nleaf = { version = \"1\", registry = "
                             "\"corp\" }\n"
                           : ""));
    bound.write("rust/stats/src/lib.rs", Bound::kLibrary);
    bound.write("rust/common/src/lib.rs", "\n");
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(crates.requests().empty());
    CHECK_FALSE(corp.requests().empty());
    // One more, with a lock that does not know it.
    bound.bindings(first + "\nmore = { path = \"more\" }");
    bound.crate("more", "more",
                "use gossamer_binding::gos_module;\n#[gos_module(\"more\")]\n"
                "pub mod more { pub fn four() -> i64 { 4 } }\n",
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    const Outcome more = bound.build(level);
    CHECK_MESSAGE(more.code == 0, more.err);
    CHECK(has(more.out, "function more::four\n"));
    CHECK(crates.requests().empty());
  });
}

TEST_CASE("T093 nothing that git would start for a repository or a variable is started") {
  if (missesCargo("T093"))
    return;
  if (!installed("git")) {
    skip("T093", "`git` is not installed");
    return;
  }
  everywhere({"none", "standard", "strict"}, [](Bound& bound, const std::string& level) {
    const std::string mark = bound.room.top() + "/mark", helper = bound.room.top() + "/helper";
    bound.room.write(helper, logging(mark, "/bin/true"), 0755);
    const std::string repository = bound.room.top() + "/repository";
    bound.crate(repository, "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    const Outcome made =
        bound.room.shell("cd '" + repository +
                         "' && git init -q -b main && git add . && git -c user.name=a -c "
                         "user.email=a@b commit -q -m x && git config core.sshCommand '" +
                         helper + "' && git config core.fsmonitor '" + helper +
                         "' && git config credential.helper '" + helper +
                         "' && git config uploadpack.packObjectsHook '" + helper + "'");
    REQUIRE_MESSAGE(made.code == 0, made.err);
    for (const char* hook : {"post-checkout", "post-update", "pre-receive"})
      bound.room.write(repository + "/.git/hooks/" + hook, logging(mark, "/bin/true"), 0755);
    for (const char* variable : {"GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
                                 "GIT_EXTERNAL_DIFF", "SSH_ASKPASS"})
      bound.how.set[variable] = helper;
    bound.how.set["GIT_CONFIG_COUNT"] = "1";
    bound.how.set["GIT_CONFIG_KEY_0"] = "core.fsmonitor";
    bound.how.set["GIT_CONFIG_VALUE_0"] = helper;
    bound.room.write(bound.room.home() + "/.netrc", "machine 127.0.0.1 login a password b\n", 0600);
    bound.bindings("stats = { git = \"file://" + repository + "\" }");
    const Outcome outcome = bound.build(level, {"--sandbox-ro", repository});
    // Some distributions link Cargo with a git library that it does not fit: that is said.
    const bool fits = !has(outcome.err, "does not fit the git library");
    CHECK_MESSAGE(outcome.code == (fits ? 0 : 1), outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    CHECK_MESSAGE(has(outcome.err, "GIT_SSH_COMMAND"), outcome.err);

    // A host that asks for a password: no prompt, no helper, no file of passwords.
    Registry server;
    server.refuseEveryone();
    bound.bindings("stats = { git = \"" + server.base() + "/x.git\" }");
    const Outcome asked = bound.build(level);
    CHECK(asked.code == 1);
    CHECK_FALSE(bound.room.exists(mark));
    for (const std::string& request : server.requests())
      CHECK_FALSE(has(request, "uthorization:"));
  });
}

TEST_CASE("T094 odd addresses of repositories are refused before anything is started") {
  everywhere({"none", "standard"}, [](Bound& bound, const std::string& level) {
    for (const char* address :
         {"ext::sh -c touch% /tmp/x", "ssh://-oProxyCommand=touch/x", "file:///home/u/private",
          "https://", "fd::7", "-u", "http://-x/y"}) {
      CAPTURE(std::string(address));
      bound.bindings("stats = { git = \"" + std::string(address) + "\" }");
      const Outcome outcome = bound.build(level);
      CHECK(outcome.code == 1);
      CHECK_FALSE(has(outcome.err, "cargo:"));
      CHECK_FALSE(bound.room.exists("bindings.lock"));
    }
  });
}

TEST_CASE("T095 what a fetch reaches is said where the policy is explained") {
  if (missesCargo("T095"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.plain();
    const Outcome outcome = bound.build(level, {"--sandbox-explain"});
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(has(outcome.out, "it reaches every host that you reach"));
    CHECK(has(outcome.out, "fetch: "));
    CHECK(has(outcome.out, "build: "));
    CHECK_FALSE(bound.room.exists("bindings.lock"));
  });
}

TEST_CASE("T096 an archive that leads out of its directory puts nothing there") {
  if (missesCargo("T096"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    const std::string pack = bound.room.top() + "/evil", aim = bound.room.top() + "/aim";
    bound.write(pack + "/leaf-1.0.0/Cargo.toml", kPlainCrate.at("Cargo.toml"));
    bound.write(pack + "/leaf-1.0.0/src/lib.rs", kPlainCrate.at("src/lib.rs"));
    bound.write(pack + "/payload", "evil\n");
    const std::vector<std::pair<std::string, std::string>> attacks = {
        {"dots",
         "--transform 's|^payload|leaf-1.0.0/../../../../../../../../../../.." + aim + "|'"},
        {"absolute", "--transform 's|^payload|" + aim + "|'"},
        {"other", "--transform 's|^payload|other-1.0.0/aim|'"}};
    for (const auto& [attack, words] : attacks) {
      CAPTURE(attack);
      const Outcome made = bound.room.shell("cd '" + pack + "' && tar -P --format=ustar " + words +
                                            " -czf x.crate leaf-1.0.0 payload");
      REQUIRE_MESSAGE(made.code == 0, made.err);
      Registry registry;
      registry.publishArchive("leaf", "1.0.0", bound.room.read(pack + "/x.crate"));
      bound.userConfig(registry.replacement());
      bindLeaf(bound);
      const Outcome listed = bound.room.plain({"tar", "-P", "-tzf", pack + "/x.crate"});
      REQUIRE_MESSAGE(has(listed.out, "aim"), listed.out);
      bound.build(level);
      CHECK_FALSE(bound.room.exists(aim));
      CHECK(filesWith(bound.cache() + "/cargo/registry/src", "evil\n").empty());
    }
    // A link out of the archive, and a bit that makes a program another user's.
    bound.room.link("/etc", pack + "/leaf-1.0.0/out");
    bound.write(pack + "/leaf-1.0.0/tool", "#!/bin/sh\n");
    ::chmod((pack + "/leaf-1.0.0/tool").c_str(), 06755);
    REQUIRE(
        bound.room
            .plain({"tar", "-C", pack, "--format=ustar", "-czf", pack + "/y.crate", "leaf-1.0.0"})
            .code == 0);
    Registry registry;
    registry.publishArchive("leaf", "1.0.0", bound.room.read(pack + "/y.crate"));
    bound.userConfig(registry.replacement());
    bindLeaf(bound);
    bound.build(level);
    for (const auto& entry :
         files::recursive_directory_iterator(bound.cache() + "/cargo/registry/src")) {
      struct stat status{};
      REQUIRE(::lstat(entry.path().c_str(), &status) == 0);
      CHECK_MESSAGE((status.st_mode & 06000) == 0, entry.path().string());
    }
  });
}

TEST_CASE("T097 every Cargo, rustc and linker descends from the one function, and none of the "
          "package's or of PATH is started") {
  if (missesCargo("T097"))
    return;
  everywhere({"none", "standard"}, [](Bound& bound, const std::string& level) {
    const std::string mark = bound.room.top() + "/mark";
    bound.plain();
    for (const char* directory : {"bin", "."})
      for (const char* program : {"cargo", "rustc", "cc", "git", "ld", "rustup"}) {
        bound.room.makeDirectory(directory);
        bound.room.write(std::string(directory) + "/" + program,
                         logging(mark, "/usr/bin/" + std::string(program)), 0755);
      }
    bound.how.set["PATH"] =
        ".::" + bound.room.path("bin") + ":" + bound.room.project() + ":relative:/usr/bin:/bin";
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    CHECK(has(outcome.err, "PATH entry"));

    if (!installed("strace")) {
      skip("T097 log of starts", "`strace` is not installed");
      return;
    }
    // What the tool itself starts is the sandbox's first process, and nothing else, each time.
    files::remove_all(bound.cache());
    files::remove(bound.room.path("bindings.lock"));
    const std::string log = bound.room.top() + "/log";
    How how = bound.how;
    how.set["PATH"] = "/usr/bin:/bin";
    const Outcome traced =
        bound.room.plain({"strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", log,
                          toolPath(), "--sandbox=none", bound.room.project()},
                         how);
    if (traced.code != 0) {
      skip("T097 log of starts", "the tool does not run under strace here: " + traced.err);
      return;
    }
    const std::string starts = bound.room.read(log);
    size_t cargos = 0;
    for (llvm::StringRef line : llvm::split(llvm::StringRef(starts), '\n')) {
      if (line.contains("= -1")) // an answer may stand on a line of its own
        continue;
      // An ordinary user's strace cannot read the names in the first process, which is not
      // dumpable.
      cargos += line.contains("execve(\"" + kCargo + "\"") || line.contains("/bin/cargo\"") ||
                line.contains("execve(0x");
      // No search along PATH, no shell of ours.
      CHECK_MESSAGE(!line.contains("execve(\"cargo"), line.str());
      CHECK_MESSAGE(!line.contains("[\"sh\""), line.str());
    }
    CHECK(cargos >= 3); // the version, a resolve, a build
  });
}

TEST_CASE(
    "T098 variables that name a program of the package, or that would change what is started, "
    "are dropped and listed") {
  if (missesCargo("T098"))
    return;
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    const std::string mark = bound.room.top() + "/mark";
    bound.plain();
    bound.room.write("w", logging(mark, kCompiler), 0755);
    const std::string w = bound.room.path("w");
    bound.room.makeDirectory("c");
    bound.room.write("c/config.toml", "[build]\nrustc-wrapper = \"" + w + "\"\n");
    const std::vector<std::pair<std::string, std::string>> set = {
        {"RUSTC_WRAPPER", "./w"},
        {"RUSTC_WORKSPACE_WRAPPER", w},
        {"RUSTC", w},
        {"RUSTFLAGS", "-Clinker=" + w},
        {"CARGO_ENCODED_RUSTFLAGS", "-Clinker=" + w},
        {"CARGO_BUILD_RUSTC", w},
        {"CARGO_BUILD_RUSTC_WRAPPER", w},
        {"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", w},
        {"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", w},
        {"CARGO_HOME", bound.room.path("c")},
        {"CARGO_TARGET_DIR", bound.room.path("target")},
        {"CC", "./w"},
        {"CXX", w},
        {"LD_LIBRARY_PATH", bound.room.project()}};
    for (const auto& [variable, value] : set)
      bound.how.set[variable] = value;
    bound.how.set["PATH"] = ".:/usr/bin:/bin";
    // cleanEnvironment takes some of these away.
    std::erase_if(bound.how.unset,
                  [&](const std::string& gone) { return bound.how.set.count(gone) != 0; });
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_FALSE(bound.room.exists(mark));
    CHECK_FALSE(bound.room.exists("target"));
    for (const auto& [variable, value] : set)
      CHECK_MESSAGE(has(outcome.err, variable + "="), variable << "\n" << outcome.err);
    CHECK(has(outcome.err, "PATH entry ."));
  });
}

TEST_CASE("T099 the lock is written by the fetch alone, kept by the build, and refused where it "
          "lies") {
  if (missesCargo("T099"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    Registry registry;
    registry.publish(bound.room, "leaf", "1.0.0", kPlainCrate);
    bound.userConfig(registry.replacement());
    bindLeaf(bound);
    // A build script that would have the next build take another version.
    bound.write("rust/stats/build.rs",
                "fn main() { for f in [\"../../bindings.lock\", \"Cargo.lock\"] { let _ = "
                "std::fs::write(f, \"version = 4\"); } }\n");
    const Outcome first = bound.build(level);
    CHECK_MESSAGE(first.code == 0, first.err);
    CHECK(has(first.err, "`bindings.lock` was written"));
    const std::string lock = bound.room.read("bindings.lock");
    CHECK(has(lock, "name = \"leaf\""));
    CHECK_FALSE(bound.room.exists("rust/stats/Cargo.lock"));

    // Edited so that a checksum is another: the fetch notices, and nothing is built.
    std::string edited = lock;
    const size_t sum = edited.find("checksum = \"") + 12;
    edited[sum] = edited[sum] == '0' ? '1' : '0';
    bound.room.write("bindings.lock", edited);
    const Outcome mismatch = bound.build(level);
    CHECK(mismatch.code == 1);
    CHECK_MESSAGE(has(mismatch.err, "checksum"), mismatch.err);
    CHECK(bound.room.read("bindings.lock") == edited);

    // Out of date: a new dependency is added to it, and that is said.
    bound.room.write("bindings.lock", lock);
    Files twig = {{"Cargo.toml", "[package]\nname = \"twig\"\nversion = \"1.0.0\"\nedition = "
                                 "\"2021\"\n"},
                  {"src/lib.rs", "\n"}};
    registry.publish(bound.room, "twig", "1.0.0", twig);
    bindLeaf(bound, "leaf = \"1\"\ntwig = \"1\"");
    bound.write("rust/stats/build.rs", "fn main() {}\n");
    const Outcome stale = bound.build(level);
    CHECK_MESSAGE(stale.code == 0, stale.err);
    CHECK_MESSAGE(has(stale.err, "out of date"), stale.err);
    CHECK_MESSAGE(has(stale.err, "it adds `twig 1.0.0`"), stale.err);

    // A link in its place, and what is no lock.
    const std::string victim = bound.room.home() + "/victim";
    bound.room.write(victim, "mine\n");
    files::remove(bound.room.path("bindings.lock"));
    bound.room.link(victim, "bindings.lock");
    const Outcome link = bound.build(level);
    CHECK(link.code == 1);
    CHECK_MESSAGE(has(link.err, "it is a symbolic link"), link.err);
    CHECK(bound.room.read(victim) == "mine\n");
    files::remove(bound.room.path("bindings.lock"));
    bound.room.write("bindings.lock", "[[package]]\nname = 3\n");
    CHECK(has(bound.build(level).err, "GJ0048"));
  });
}

TEST_CASE("T099 a `gossamer-binding` that is not the toolchain's is refused") {
  if (missesCargo("T099"))
    return;
  everywhere({"standard"}, [](Bound& bound, const std::string& level) {
    for (const char* version : {"0.1.0", "0.2.0"}) {
      CAPTURE(std::string(version));
      bound.bindings("stats = { path = \"rust/stats\" }");
      bound.crate("rust/stats", "stats", "",
                  "[dependencies]\ngossamer-binding = { path = \"../fake\" }\n");
      bound.crate("rust/fake", "gossamer-binding", "");
      bound.write("rust/fake/Cargo.toml", "[package]\nname = \"gossamer-binding\"\nversion = \"" +
                                              std::string(version) + "\"\nedition = \"2021\"\n");
      const Outcome outcome = bound.build(level);
      CHECK(outcome.code == 1);
      CHECK_MESSAGE((has(outcome.err, "GJ0048") || has(outcome.err, "GJ0044")), outcome.err);
      CHECK_FALSE(has(outcome.err, "cargo: Compiling"));
    }
  });
}

} // namespace gos::cases
