// The fetch: T095 to T098. Which hosts are asked, where an archive puts what, what is started.

#include "tests/bindings/fetch_scene.h"

namespace gos::cases {

TEST_CASE("T095 what a fetch reaches is said where the policy is explained") {
  if (missesCargo("T095"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.plain();
    const Outcome outcome = bound.build(level, {"--sandbox-explain"});
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(has(outcome.out, "it reaches every host that you reach"));
    CHECK(has(outcome.out, "those that a name or a redirect leads to are not"));
    CHECK(has(outcome.out, "fetch: "));
    CHECK(has(outcome.out, "build: "));
    CHECK_FALSE(bound.room.exists("bindings.lock"));
  });
}

TEST_CASE(
    "T095 an address of this machine or of an inner network that a project names is asked only "
    "where the user names it, or gives the network") {
  if (missesCargo("T095"))
    return;
  everywhere({"none", "basic", "standard", "strict"}, [](Bound& bound, const std::string& level) {
    const bool bounds = level == "standard" || level == "strict";
    Registry inner;
    const std::string entry = "stats = { path = \"rust/stats\" }";
    const auto named = [&](const std::string& dependency) {
      bound.bindings(entry);
      bound.crate("rust/stats", "stats", Bound::kLibrary,
                  "[dependencies]\ngossamer-binding = \"0.1\"\n" + dependency + "\n");
    };
    const auto asked = [&](const std::vector<std::string>& flags = {}) {
      const size_t before = inner.requests().size();
      const Outcome outcome = bound.build(level, flags);
      CHECK(outcome.code == 1); // nobody serves a crate there
      const bool refused = has(outcome.err, "is an address of this machine or of an inner network");
      CHECK_MESSAGE(refused != (inner.requests().size() != before), outcome.err);
      return !refused;
    };
    // A repository, the index of a registry, and a lock that was brought along.
    bound.bindings("stats = { git = \"" + inner.base() + "/x.git\" }");
    CHECK(asked() == !bounds);
    named("leaf = { version = \"1\", registry-index = \"" + inner.index() + "\" }");
    CHECK(asked() == !bounds);
    CHECK(asked({"--sandbox-network"}));
    named("");
    bound.room.write("bindings.lock", "version = 3\n\n[[package]]\nname = \"leaf\"\nversion = "
                                      "\"1.0.0\"\nsource = \"sparse+http://127.1:9/index/\"\n");
    const Outcome lock = bound.build(level);
    CHECK_MESSAGE(has(lock.err, "127.1:9/index/` in `bindings.lock` is an address") == bounds,
                  lock.err);
    files::remove(bound.room.path("bindings.lock"));
    // The user's own configuration names the host.
    named("leaf = { version = \"1\", registry-index = \"" + inner.index() + "\" }");
    bound.userConfig("[registries.corp]\nindex = \"" + inner.index() + "\"\n");
    CHECK(asked());
  });
}

TEST_CASE(
    "T095 every manifest that Cargo reads for a binding is looked at, and one that cannot be is refused by name") {
  if (missesCargo("T095"))
    return;
  // What is judged is text: who asks makes no difference.
  Bound bound(identities().front());
  Registry inner;
  const std::string git = "git = \"" + inner.base() + "/x.git\"";
  bound.bindings("stats = { path = \"rust/stats\" }");
  bound.how.set["CARGO_NET_RETRY"] = "0";
  // What stands for the binding, and in the files beside it.
  const auto refused = [&](const std::string& rest, const Files& beside, const std::string& words) {
    CAPTURE(rest);
    files::remove_all(bound.room.path("rust"));
    bound.crate("rust/stats", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n" + rest + "\n");
    for (const auto& [file, text] : beside) {
      bound.room.makeDirectory("rust/" + files::path(file).parent_path().string());
      bound.room.write("rust/" + file, text);
    }
    const size_t before = inner.requests().size();
    const Outcome outcome = bound.build("standard");
    CHECK(outcome.code == 1);
    CHECK_MESSAGE(has(outcome.err, words), outcome.err);
    CHECK_MESSAGE(inner.requests().size() == before, outcome.err);
    // What is refused is what Cargo would have asked for.
    bound.build("standard", {"--sandbox-network"});
    return inner.requests().size() != before;
  };
  const std::string address = "is an address of this machine or of an inner network";
  const auto crate = [](const std::string& name, const std::string& rest) {
    return "[package]\nname = \"" + name + "\"\nversion = \"1.0.0\"\nedition = \"2021\"\n" + rest;
  };
  const std::string member = "member = { path = \"../ws/member\" }";
  const std::string inherits = "[dependencies]\nevil = { workspace = true }\n";
  const std::string workspace =
      "[workspace]\nmembers = [\"member\"]\n[workspace.dependencies]\nevil = { " + git + " }\n";
  const std::pair<std::string, std::string> empty = {"ws/member/src/lib.rs", ""};
  // Beside the binding's own directory: a workspace that a member of it inherits from, above it
  // or where `package.workspace` says, and where a link leads and where its text does.
  CHECK(refused(
      member,
      {empty, {"ws/member/Cargo.toml", crate("member", inherits)}, {"ws/Cargo.toml", workspace}},
      address));
  CHECK(
      refused(member,
              {empty,
               {"ws/member/Cargo.toml", crate("member", "workspace = \"../../far\"\n" + inherits)},
               {"far/Cargo.toml", "[workspace]\nmembers = [\"../ws/member\"]\n"
                                  "[workspace.dependencies]\nevil = { " +
                                      git + " }\n"}},
              address));
  // Kinds of dependencies, and names that are no kinds.
  for (const char* table : {"build-dependencies", "target.'cfg(unix)'.dependencies"})
    CHECK(refused("[" + std::string(table) + "]\nevil = { " + git + " }", {}, address));
  for (const char* name : {"patch", "replace", "dev-dependencies"})
    CHECK(refused(std::string(name) + " = { " + git + " }", {}, address));
  CHECK(refused("[dependencies.evil]\n" + git, {}, address));
  // A chain longer than any limit of depth, and more packages than are looked at.
  Files chain;
  for (int at = 0; at != 60; ++at) {
    const std::string name = "c" + std::to_string(at), next = "c" + std::to_string(at + 1);
    chain[name + "/src/lib.rs"] = "";
    chain[name + "/Cargo.toml"] = crate(
        name, "[dependencies]\n" + (at == 59 ? "evil = { version = \"1\", registry-index = \"" +
                                                   inner.index() + "\" }\n"
                                             : next + " = { path = \"../" + next + "\" }\n"));
  }
  CHECK(refused("c0 = { path = \"../c0\" }", chain, address));
  std::string all;
  Files many;
  for (int at = 0; at != 230; ++at) {
    const std::string name = "m" + std::to_string(at);
    all += name + " = { path = \"../" + name + "\" }\n";
    many[name + "/src/lib.rs"] = "";
    many[name + "/Cargo.toml"] =
        crate(name, at == 229 ? "[dependencies]\nevil = { " + git + " }\n" : std::string());
  }
  CHECK(refused(all, many, address));
  // What cannot be judged.
  refused(member, {empty, {"ws/member/Cargo.toml", "[package\n"}},
          "ws/member/Cargo.toml` is not a manifest that can be read");
  refused(member, {empty, {"ws/member/Cargo.toml", std::string((1 << 20) + 1, '\n')}},
          "ws/member/Cargo.toml` cannot be read");
  refused(member, {empty, {"ws/member/Cargo.toml/x", ""}}, "ws/member/Cargo.toml` cannot be read");
  refused("evil = { git = \"localhost:/x\" }", {}, "is an address whose host cannot be told");
  refused("evil = { path = \"x\", base = \"workspace\" }", {}, "depends on `base`");
}

TEST_CASE("T095 what Cargo does not read of a project leads it nowhere") {
  if (missesCargo("T095"))
    return;
  everywhere({"standard"}, [](Bound& bound, const std::string& level) {
    Registry inner;
    const std::string git = "{ git = \"" + inner.base() + "/x.git\" }";
    bound.bindings("stats = { path = \"rust/stats\" }");
    bound.crate("rust/stats", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n[dev-dependencies]\nevil = " + git +
                    "\n[target.'cfg(unix)'.dev-dependencies]\nworse = " + git +
                    "\n[patch.crates-io]\nevil = " + git + "\n[package.metadata.x]\ngit = \"" +
                    inner.base() + "\"\n");
    // Replaced sources and registries, in every directory above a crate.
    const std::string config =
        "[source.crates-io]\nreplace-with = \"inner\"\n[source.inner]\nregistry = \"" +
        inner.index() + "\"\n[registries.inner]\nindex = \"" + inner.index() +
        "\"\n[registry]\ndefault = \"inner\"\n[patch.crates-io]\nevil = " + git + "\n";
    for (const char* directory : {"rust/stats", "rust", "."}) {
      bound.room.makeDirectory(std::string(directory) + "/.cargo");
      bound.room.write(std::string(directory) + "/.cargo/config.toml", config);
    }
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(inner.requests().empty());
  });
}

TEST_CASE("T096 an archive that leads out of its directory puts nothing there") {
  if (missesCargo("T096"))
    return;
  spread(confining(), [](Bound& bound, const std::string& level) {
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
  spread({"none", "standard"}, [](Bound& bound, const std::string& level) {
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
  spread(everyLevel(), [](Bound& bound, const std::string& level) {
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

} // namespace gos::cases
