#include "compiler/driver/fold_progress.h"

#include <doctest/doctest.h>

#include <string>

namespace gos::driver {
namespace {

TEST_CASE("a region is named after a second, drawn over in place, and taken away at its end") {
  SourceMap sources;
  auto file = sources.addCopy("src/main.gos", "fn main() {}\nconst X: i64 = comptime { 1 }\n");
  REQUIRE(bool(file));
  const uint32_t base = sources.file(*file).base;
  const Span region = {base + 28, base + 42};
  std::string shown;
  llvm::raw_string_ostream out(shown);
  FoldProgress::Clock::time_point now{};
  FoldProgress progress(out, sources, [&] { return now; });
  const auto after = [&](int milliseconds, uint64_t steps) {
    now += std::chrono::milliseconds(milliseconds);
    progress.tell(region, steps);
  };
  after(0, 100'000'000);
  after(900, 900'000'000);
  CHECK(shown.empty());
  progress.clear();
  CHECK(shown.empty()); // nothing was there
  after(100, 1'000'000'000);
  CHECK(shown ==
        "\r\x1b[Kevaluating the compile-time region at src/main.gos:2:16: 1.0 billion steps");
  shown.clear();
  after(100, 1'100'000'000); // not at every call
  CHECK(shown.empty());
  after(100, 1'200'000'000);
  CHECK(llvm::StringRef(shown).ends_with("1.2 billion steps"));
  shown.clear();
  progress.clear();
  CHECK(shown == "\r\x1b[K");
  shown.clear();
  // Another one has a second of its own.
  now += std::chrono::milliseconds(500);
  progress.tell({base, base + 2}, 100'000'000);
  CHECK(shown.empty());
}

} // namespace
} // namespace gos::driver
