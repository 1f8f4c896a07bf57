// `bwr --self-test`, on this host and on kernels that say yes to a call and do nothing: every
// promise is tried, the one that is broken is named, and its level then starts nothing (T132).

#include "tests/sandbox/each.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <unistd.h>

namespace gos::cases {
namespace {

enum class Level { Basic, Standard, Strict };
using enum Level;

struct PromiseRow {
  Level level;
  std::string words;
};
const std::vector<PromiseRow>& promises() {
  static const std::vector<PromiseRow> rows = {
#define GOS_PROMISE(name, level, words) {level, words},
#include "sandbox/linux/promises.def"
  };
  return rows;
}

/// The report of one level: `held/tried` for each promise that it names.
std::map<std::string, std::pair<int, int>> countsOf(const std::string& report,
                                                    const std::string& level) {
  std::map<std::string, std::pair<int, int>> counts;
  bool inside = false;
  llvm::SmallVector<llvm::StringRef, 64> lines;
  llvm::StringRef(report).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.empty() && line[0] != ' ')
      inside = line.starts_with(level + ":");
    if (!inside || (!line.consume_front("  ok      ") && !line.consume_front("  BROKEN  ")))
      continue;
    const auto [words, numbers] = line.rtrim(')').rsplit(" (");
    int held = 0, tried = 0;
    REQUIRE_MESSAGE(!numbers.split('/').first.getAsInteger(10, held), report);
    REQUIRE_MESSAGE(!numbers.split('/').second.getAsInteger(10, tried), report);
    counts[words.str()] = {held, tried};
  }
  return counts;
}

/// A text that was wrapped, on one line.
std::string flat(llvm::StringRef text) {
  std::string words;
  for (char c : text)
    if (c != '\n' && c != ' ')
      words += c;
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  return words;
}

/// What the report says of one level.
std::string partOf(const std::string& report, const std::string& level) {
  const size_t at = ("\n" + report).find("\n" + level + ":");
  REQUIRE_MESSAGE(at != std::string::npos, report);
  const size_t end = report.find("\n\n", at);
  return report.substr(at, end == std::string::npos ? end : end - at);
}

/// A kernel that says yes to `call` and does nothing, and what `--self-test` then finds of
/// `standard` and `strict`: a promise that is broken, or the step that is found out at the start.
struct Lie {
  const char* call;
  std::vector<std::string> finds;
  bool basicToo = false;
  bool asUser = true;
};
const Lie kLies[] = {
    {"landlock_restrict_self",
     {"BROKEN what is not granted cannot be reached", "read a file (Landlock alone): broken: let "
                                                      "through"}},
    {"landlock_add_rule", {"BROKEN what is granted works"}},
    {"seccomp",
     {"BROKEN kernel interfaces that no namespace holds are closed",
      "read a keyring (all locks): broken: let through"}},
    {"mount_setattr", {"BROKEN what is granted read-only cannot be changed"}},
    {"pivot_root", {"unavailable", "self-proof: "}},
    {"capset", {"unavailable", "cannot drop the capabilities"}},
    {"unshare", {"unavailable", "cannot make the mounts private"}},
    // A user's filter needs new privileges to be gone, and then they are.
    {"no_new_privs", {"unavailable", "cannot find the locks as they were set"}, true, false},
};

std::string lyingHost() {
  static const std::string copy = bwrPath() + "-lying";
  if (::access(copy.c_str(), X_OK) != 0)
    std::filesystem::copy_file(GOS_LYING, copy);
  return copy;
}

} // namespace

TEST_CASE("`bwr --self-test` tries each promise of each level, and each of them holds") {
  for (As who : identities()) {
    const std::string identity = name(who);
    CAPTURE(identity);
    const Room room(who);
    const Outcome text = room.bwrRaw({"--self-test"});
    INFO(text.out, text.err);
    CHECK(text.code == 0);
    for (Level level : {Basic, Standard, Strict}) {
      const std::string spelled = levels()[size_t(level)];
      CAPTURE(spelled);
      CHECK(contains(text.out, spelled + ": proven, "));
      const auto counts = countsOf(text.out, spelled);
      for (const PromiseRow& promise : promises()) {
        CAPTURE(promise.words);
        if (promise.level > level)
          continue;
        const auto found = counts.find(promise.words);
        REQUIRE(found != counts.end());
        CHECK(found->second.second > 0);
        CHECK(found->second.first == found->second.second);
      }
    }
    // The object holds the same acts, each with its promise and what came of it.
    const Outcome object = room.bwrRaw({"--self-test", "--json"});
    CHECK(object.code == 0);
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(object.out);
    if (!parsed) {
      FAIL(llvm::toString(parsed.takeError()));
      return;
    }
    const llvm::json::Array* all = parsed->getAsObject()->getArray("levels");
    REQUIRE(all != nullptr);
    REQUIRE(all->size() == levels().size());
    for (size_t at = 0; at != all->size(); ++at) {
      const llvm::json::Object& level = *(*all)[at].getAsObject();
      CHECK(level.getString("level") == llvm::StringRef(levels()[at]));
      CHECK(level.getBoolean("proven") == true);
      std::map<std::string, std::pair<int, int>> counts;
      for (const llvm::json::Value& each : *level.getArray("acts")) {
        auto& [held, tried] = counts[each.getAsObject()->getString("promise")->str()];
        held += each.getAsObject()->getBoolean("held") == true;
        ++tried;
      }
      CHECK(counts == countsOf(text.out, levels()[at]));
    }
  }
}

TEST_CASE("T132 `bwr --self-test` names the promise that a lying kernel breaks, and its level "
          "starts nothing") {
  for (As who : identities()) {
    // The control: a host that is looked at in the same way, and does not lie.
    const Room honest(who);
    const Outcome control = honest.plain(
        {lyingHost(), "nothing", bwrPath(), "--level", "strict", "--", "touch", "ran"});
    CHECK_MESSAGE(control.code == 0, control.err);
    CHECK(honest.exists("ran"));
    for (const Lie& lie : kLies) {
      const std::string identity = name(who), call = lie.call;
      if (who == As::User && !lie.asUser)
        continue;
      CAPTURE(identity);
      CAPTURE(call);
      const Room room(who);
      const auto lying = [&](std::vector<std::string> words, const char* about) {
        words.insert(words.begin(), {lyingHost(), about, bwrPath()});
        return room.plain(words);
      };
      const Outcome test = lying({"--self-test"}, lie.call);
      INFO(test.out, test.err);
      CHECK(test.code == 64);
      for (const std::string& level : levels()) {
        CAPTURE(level);
        const bool broken = level != "basic" || lie.basicToo;
        const std::string part = partOf(test.out, level);
        if (broken) {
          CHECK_FALSE(contains(part, ": proven"));
          for (const std::string& words : lie.finds)
            CHECK_MESSAGE(contains(flat(part), words), words);
        } else {
          CHECK(contains(part, "basic: proven"));
        }
        const Outcome run = lying({"--level", level, "--", "touch", "ran"}, lie.call);
        CHECK(run.code == (broken ? 64 : 0));
        CHECK(room.exists("ran") == !broken);
        if (broken)
          CHECK_MESSAGE(contains(run.err, "level `" + level + "` is not available here"), run.err);
        room.shell("rm -f ran");
      }
    }
  }
}

TEST_CASE("T131 `bwr --self-test` names what a host lacks") {
  for (As who : identities()) {
    const Room room(who);
    const std::string without = bwrPath() + "-without";
    if (::access(without.c_str(), X_OK) != 0)
      std::filesystem::copy_file(GOS_WITHOUT, without);
    const Outcome absent = room.plain({without, "landlock", bwrPath(), "--self-test"});
    CHECK(absent.code == 64);
    CHECK_MESSAGE(contains(absent.out, "basic: proven"), absent.out);
    CHECK_MESSAGE(contains(flat(absent.out), "standard: unavailable Landlock: "), absent.out);
    CHECK_MESSAGE(contains(flat(absent.out), "strict: unavailable Landlock: "), absent.out);
    CHECK_MESSAGE(contains(absent.out, "  fix: "), absent.out);
    // `standard` is proven in the way that it would run.
    const Outcome shared = room.plain({without, "pid-namespace", bwrPath(), "--self-test"});
    CHECK(shared.code == 64);
    CHECK_MESSAGE(contains(partOf(shared.out, "standard"), ": proven, "), shared.out);
    CHECK_MESSAGE(contains(partOf(shared.out, "standard"), ", without a pid namespace\n"),
                  shared.out);
    CHECK_MESSAGE(contains(flat(shared.out), "strict: unavailable pid namespace: "), shared.out);
  }
}

} // namespace gos::cases
