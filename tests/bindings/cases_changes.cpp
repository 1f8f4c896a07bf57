// What a library was made from is looked at again: files that Cargo reads and no directory of a
// crate holds.

#include "tests/bindings/scene.h"

namespace gos::cases {

TEST_CASE("bindings: a change of what a crate reads outside of its own directory is seen") {
  if (missesCargo("files outside of the crate"))
    return;
  const std::string level = "strict";
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    Bound bound(who);
    bound.bindings("stats = { path = \"rust/members/stats\" }");
    bound.write("rust/Cargo.toml", "[workspace]\nmembers = [\"members/stats\"]\n"
                                   "[workspace.package]\nversion = \"1.2.3\"\n");
    bound.write("rust/members/stats/Cargo.toml",
                "[package]\nname = \"stats\"\nversion.workspace = true\n"
                "edition = \"2021\"\n\n[dependencies]\ngossamer-binding = \"0.1\"\n");
    bound.write(
        "rust/members/stats/src/lib.rs",
        "use gossamer_binding::gos_module;\n#[gos_module(\"stats\")]\npub mod stats {\n"
        "    pub fn one() -> String { include_str!(\"../../../../data/a b.txt\").into() }\n"
        "    pub fn two() -> String { env!(\"TWO\").into() }\n"
        "    pub fn three() -> String { concat!(\"version \", "
        "env!(\"CARGO_PKG_VERSION\"), include_str!(\"../../../../data/a b.txt\")).into() }\n}\n");
    bound.write("rust/members/stats/build.rs",
                "fn main() { println!(\"cargo:rerun-if-changed=../../../data/two\");\n"
                "  println!(\"cargo:rustc-env=TWO={}\", "
                "std::fs::read_to_string(\"../../../data/two\").unwrap()); }\n");
    // Long enough to stand in the library as they are.
    const std::string pad(300, '.');
    bound.write("data/a b.txt", "canary-one" + pad);
    bound.write("data/two", "canary-two" + pad);
    const std::string library = bound.library(bound.build(level));
    CHECK(has(library, "canary-one"));
    CHECK(has(library, "canary-two"));
    CHECK(has(library, "version 1.2.3"));
    const auto changed = [&](const std::string& file, const std::string& text) {
      CHECK(bound.build(level).err.empty());
      bound.write(file, text);
      return bound.library(bound.build(level));
    };
    CHECK(has(changed("data/a b.txt", "sparrow-one" + pad), "sparrow-one"));
    CHECK(has(changed("data/two", "sparrow-two" + pad), "sparrow-two"));
    CHECK(has(changed("rust/Cargo.toml", "[workspace]\nmembers = [\"members/stats\"]\n"
                                         "[workspace.package]\nversion = \"3.2.1\"\n"),
              "version 3.2.1"));
  }
}

} // namespace gos::cases
