#pragma once
// What the cases of the fetch share.

#include "tests/bindings/scene.h"

namespace gos::cases {

/// In a fresh project at each of the levels, and as each identity: not every pair of the two, since
/// each is a build of its own and what a fetch obeys is not a matter of both.
template <class Case> void spread(const std::vector<std::string>& levels, Case act) {
  const std::vector<As> whos = identities();
  for (size_t at = 0; at != std::max(levels.size(), whos.size()); ++at) {
    const As who = whos[at % whos.size()];
    const std::string& level = levels[at % levels.size()];
    CAPTURE(std::string(name(who)));
    CAPTURE(level);
    Bound bound(who);
    act(bound, level);
  }
}
/// Every pair, for what builds nothing.
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
inline std::string logging(const std::string& mark, const std::string& real) {
  return "#!/bin/sh\necho \"$0 $*\" >> " + mark + "\nexec " + real + " \"$@\"\n";
}

inline std::string anyToken(Registry& registry, const std::string& token) {
  for (const std::string& request : registry.requests())
    if (has(request, token))
      return request;
  return {};
}

inline const Files kPlainCrate = {{"Cargo.toml",
                                   "[package]\nname = \"leaf\"\nversion = \"1.0.0\"\nedition "
                                   "= \"2021\"\n"},
                                  {"src/lib.rs", "pub fn leaf() -> i64 { 1 }\n"}};

/// A binding that depends on `leaf`.
inline void bindLeaf(Bound& bound, const std::string& how = "leaf = \"1\"") {
  bound.bindings("stats = { path = \"rust/stats\" }");
  bound.crate("rust/stats", "stats", Bound::kLibrary,
              "[dependencies]\ngossamer-binding = \"0.1\"\n" + how + "\n");
}

} // namespace gos::cases
