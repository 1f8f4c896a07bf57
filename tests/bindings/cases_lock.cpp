// The lock: T099. Who writes it, what it may say, and what nobody is asked for since it says it.

#include "tests/bindings/fetch_scene.h"

namespace gos::cases {

TEST_CASE("T099 the lock is written by the fetch alone, kept by the build, and refused where it "
          "lies") {
  if (missesCargo("T099"))
    return;
  spread(confining(), [](Bound& bound, const std::string& level) {
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
  spread({"standard"}, [](Bound& bound, const std::string& level) {
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

TEST_CASE("bindings: no index is asked for `gossamer-binding`, and where crates.io cannot be asked "
          "for it "
          "the build goes on without") {
  if (missesCargo("our own crate"))
    return;
  const Files both = {{"src/lib.rs", Bound::kLibrary}};
  const auto manifest = [](const std::string& name, const std::string& version) {
    return "[package]\nname = \"" + name + "\"\nversion = \"" + version +
           "\"\nedition = \"2021\"\n[dependencies]\ngossamer-binding = \"0.1\"\n";
  };
  const auto asksForOurs = [](Registry& registry) {
    return !anyToken(registry, "gossamer-binding").empty();
  };
  spread({"standard"}, [&](Bound& bound, const std::string& level) {
    Registry registry;
    const auto publish = [&](const std::string& name, const std::string& version,
                             Files dependencies) {
      Files contents = both;
      contents["Cargo.toml"] = manifest(name, version);
      for (const auto& [each, requirement] : dependencies)
        if (each != "gossamer-binding")
          contents["Cargo.toml"] += each + " = \"" + requirement + "\"\n";
      registry.publish(bound.room, name, version, contents, dependencies);
    };
    registry.publish(bound.room, "leaf", "1.0.0", kPlainCrate);
    // Several versions, so that one has to be chosen, and a dependency that has to be found.
    publish("unicorn", "0.3.0", {{"gossamer-binding", "^0.1"}});
    publish("unicorn", "0.3.1", {{"gossamer-binding", "^0.1"}, {"leaf", "^1"}});
    publish("unicorn", "0.4.0", {{"gossamer-binding", "^0.1"}});
    bound.userConfig(registry.replacement());
    bound.bindings("unicorn = \"0.3\"");
    const Outcome outcome = bound.build(level);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(has(outcome.out, "function stats::fast::double"));
    CHECK_FALSE(registry.requests().empty());
    CHECK_FALSE(asksForOurs(registry));
    const std::string lock = bound.room.read("bindings.lock");
    CHECK_MESSAGE(has(lock, "name = \"unicorn\"\nversion = \"0.3.1\""), lock);
    CHECK_MESSAGE(has(lock, "name = \"gossamer-binding\"\nversion = \"0.1.0\"\n"
                            "dependencies = "),
                  lock);

    // One that a package of this machine depends on is not known beforehand: crates.io is asked,
    // cannot answer, and nothing is lost.
    Bound deep(bound.room.who());
    Registry corp, crates;
    crates.stop();
    Files contents = both;
    contents["Cargo.toml"] = manifest("leaf", "1.0.0");
    corp.publish(deep.room, "leaf", "1.0.0", contents, {{"gossamer-binding", "^0.1"}});
    corp.edit("/index/le/af/leaf", "\"name\":\"gossamer-binding\",",
              "\"name\":\"gossamer-binding\",\"registry\":\"https://github.com/rust-lang/"
              "crates.io-index\",");
    deep.userConfig("[registries.corp]\nindex = \"" + corp.index() + "\"\n" + crates.replacement());
    deep.how.set["CARGO_NET_RETRY"] = "0";
    bindLeaf(deep, "leaf = { version = \"1\", registry = \"corp\" }");
    deep.write("rust/stats/src/lib.rs", "pub use leaf as other;\n");
    const Outcome without = deep.build(level);
    CHECK_MESSAGE(without.code == 0, without.err);
    CHECK_FALSE(asksForOurs(corp));
  });
}

} // namespace gos::cases
