// The fetch: T090 to T094. What a project brings along starts no program, reaches no token and asks
// no host; what the user has configured holds.

#include "tests/bindings/fetch_scene.h"

namespace gos::cases {

TEST_CASE(
    "T090 no Cargo configuration and no toolchain file of a project has an effect, and each is "
    "named") {
  if (missesCargo("T090"))
    return;
  spread(everyLevel(), [](Bound& bound, const std::string& level) {
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
  spread(everyLevel(), [](Bound& bound, const std::string& level) {
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
  spread({"standard"}, [](Bound& bound, const std::string& level) {
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
  spread({"none", "standard", "strict"}, [](Bound& bound, const std::string& level) {
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

} // namespace gos::cases
