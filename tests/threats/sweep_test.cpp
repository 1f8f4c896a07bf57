// The surface sweep: every row of builtins.def at every level in every spelling. Expected: what the
// tables say. Actual: the diagnostic, and a system-call trace of what was refused.

#include "tests/threats/support.h"
#include "tests/threats/sweep_rows.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace gos::threats {
namespace {

using llvm::StringRef;
using stdlib::BuiltinRow;

/// A peer on the loopback for the rows that connect: accepts, says one line, closes.
class Peer {
public:
  Peer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 64) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    name_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      while (!stop_) {
        pollfd wait{listener_, POLLIN, 0};
        if (::poll(&wait, 1, 100) <= 0)
          continue;
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0)
          continue;
        (void)!::write(connection, "hello\n", 6);
        ::close(connection);
      }
    });
  }
  ~Peer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  const std::string& name() const { return name_; }

private:
  int listener_ = -1;
  std::string name_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string withPeer(std::string text, const Peer& peer) {
  for (size_t at; (at = text.find("PEER")) != std::string::npos;)
    text.replace(at, 4, peer.name());
  return text;
}

/// The lowest level that the class of a row is allowed at.
Level lowestFor(Capability capability) {
  enum { None, Confined, Full };
  static constexpr int kLowest[] = {
#define GOS_CAPABILITY(name, reportName, lowest) lowest,
#include "sandbox/policy/capabilities.def"
  };
  return Level(kLowest[size_t(capability)]);
}
bool allowedAt(const BuiltinRow& row, Level level) {
  if (level < lowestFor(row.capability))
    return false;
  return !(level == Level::Confined && !deniedAtConfinedBecause(row).empty());
}

void freshFiles(const Tree& tree, StringRef directory) {
  std::error_code ignored;
  auto at = [&](StringRef name) { return (directory + name).str(); };
  tree.write(at("in.txt"), "inside");
  tree.write(at("victim.txt"), "victim");
  for (const char* gone : {"copy.txt", "renamed.txt"})
    std::remove(tree.in(at(gone)).c_str());
  ::rmdir(tree.in(at("made")).c_str());
  tree.directory(at("empty"));
  tree.directory(at("dir"));
}

std::string statements(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += "    " + line + "\n";
  return text;
}

/// Writes the program of a case; the operand to give to gos.
std::string writeCase(const Tree& tree, const SweepCase& made, Level level, const Peer& peer) {
  std::string uses;
  for (const std::string& use : made.uses)
    uses += use + "\n";
  const std::string body = withPeer(statements(made.before) + statements(made.act), peer);
  if (made.handleType.empty()) {
    freshFiles(tree, "");
    tree.write("main.gos",
               uses + "\nconst ANSWER: i64 = comptime {\n" + body + "    1\n}\n\nfn main() {}\n");
    return "main.gos";
  }
  // The dependency is pinned to the level; the root package, at full, makes what the world gives.
  freshFiles(tree, "app/src/");
  tree.write("app/project.toml",
             "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\n[dependencies]\n"
             "\"example.com/dep\" = { path = \"dep\" }\n");
  tree.write("app/dep/project.toml",
             "[project]\nid = \"example.com/dep\"\nversion = \"1.0.0\"\ncomptime-io = \"" +
                 spelling(level).str() + "\"\n");
  tree.write("app/dep/src/lib.gos", uses + "\npub fn act(handle: " + made.handleType +
                                        ") -> i64 {\n" + body + "    1\n}\n");
  tree.write("app/src/main.gos",
             made.handleUse +
                 "\nuse \"example.com/dep\"\n\nconst ANSWER: i64 = comptime { dep::act(" +
                 withPeer(made.handle, peer) + ") }\n\nfn main() {}\n");
  return "app";
}

enum class Verdict { Allowed, Denied, NotCalled };

Verdict judge(const Outcome& outcome, const BuiltinRow& row, std::string& why) {
  const StringRef err = outcome.err;
  if (err.contains("error[GX0010]"))
    return Verdict::Denied;
  if (outcome.exitCode == 0)
    return Verdict::Allowed;
  // A panic or a budget of the body: it was reached.
  if (err.contains("error[GC0003]") || err.contains("error[GX0009]"))
    return Verdict::Allowed;
  why = row.path.str() + ": " + err.take_front(1500).str();
  return Verdict::NotCalled;
}

Launch sweepCommand(const Tree& tree, const SweepCase& made, Level level,
                    const std::string& operand) {
  Where where;
  where.operand = operand;
  where.options = {"--comptime-env=SWEEP"};
  where.environment = {{"SWEEP", "value"}};
  return command(tree, "check", made.handleType.empty() ? level : Level::Full, where);
}

TEST_CASE(
    "sweep: every row can be called in some spelling, and every spelling but the unnameable has rows") {
  std::map<std::string, size_t> counts;
  for (const BuiltinRow& row : stdlib::builtinRows()) {
    std::string why;
    size_t ways = 0;
    for (Way way : kWays)
      if (sweepCase(row, way, why)) {
        ++ways;
        ++counts[name(way).str()];
      }
    CHECK_MESSAGE(why.empty(), why);
    CHECK_MESSAGE(ways > 0, row.path.str() << " has no spelling");
  }
  for (Way way : kWays)
    CHECK_MESSAGE(counts[name(way).str()] > 0, name(way).str());
}

TEST_CASE("sweep: a pure row is allowed at every level in every spelling") {
  Tree tree;
  Peer peer;
  freshFiles(tree, "");
  // All in one program; if that fails, each alone, so that the row can be named.
  std::string uses, cases;
  std::map<std::string, bool> used;
  size_t count = 0;
  struct Each {
    const BuiltinRow* row;
    Way way;
    SweepCase made;
  };
  std::vector<Each> all;
  for (const BuiltinRow& row : stdlib::builtinRows()) {
    if (row.capability != Capability::Pure)
      continue;
    for (Way way : kWays) {
      std::string why;
      auto made = sweepCase(row, way, why);
      if (!made)
        continue;
      all.push_back({&row, way, *made});
      if (way == Way::Alias || !made->handleType.empty())
        continue; // their `use` lines and packages are their own
      for (const std::string& use : made->uses)
        if (!used[use]) {
          used[use] = true;
          uses += use + "\n";
        }
      cases += "const CASE" + std::to_string(count++) + ": i64 = comptime {\n" +
               statements(made->before) + statements(made->act) + "    1\n}\n";
    }
  }
  for (Level level : kAllLevels) {
    tree.write("main.gos", uses + "\n" + cases + "\nfn main() {}\n");
    Launch together = command(tree, "check", level, {});
    Outcome outcome;
    if (canTrace() && level == Level::None) {
      const Traced run = traced(together);
      outcome = run.outcome;
      checkNoSideEffect(run.calls, tree);
    } else {
      outcome = launch(together);
    }
    const bool alone = outcome.exitCode != 0;
    size_t tried = 0;
    for (const Each& each : all) {
      if (!alone && each.way != Way::Alias && each.made.handleType.empty())
        continue;
      const std::string operand = writeCase(tree, each.made, level, peer);
      std::string why;
      const Outcome single = launch(sweepCommand(tree, each.made, level, operand));
      ++tried;
      if (alone && single.exitCode != 0)
        MESSAGE(each.row->path.str()
                << " ends with " << StringRef(single.err).split('\n').first.str());
      CHECK_MESSAGE(judge(single, *each.row, why) == Verdict::Allowed,
                    each.row->path.str()
                        << " as " << name(each.way).str() << " at " << spelling(level).str() << "\n"
                        << single.err << "\n"
                        << tree.readAll(operand == "app" ? "app/dep/src/lib.gos" : "main.gos"));
      CHECK(single.signal == 0);
    }
    MESSAGE(count << " pure cases together" << std::string(alone ? " (failed as one)" : "") << ", "
                  << tried << " alone, at " << spelling(level).str());
  }
}

void sweepImpure(size_t part, size_t parts) {
  Tree tree;
  Peer peer;
  size_t runs = 0, index = 0;
  for (const BuiltinRow& row : stdlib::builtinRows()) {
    if (row.capability == Capability::Pure || index++ % parts != part)
      continue;
    for (Way way : kWays) {
      std::string why;
      auto made = sweepCase(row, way, why);
      if (!made)
        continue;
      for (Level level : kBelowFull) {
        const std::string operand = writeCase(tree, *made, level, peer);
        const std::string before = tree.snapshot();
        const Launch check = sweepCommand(tree, *made, level, operand);
        const bool allowed = allowedAt(row, level);
        INFO(row.path.str() << " as " << name(way).str() << " at " << spelling(level).str() << "\n"
                            << tree.readAll(operand == "app" ? "app/dep/src/lib.gos" : "main.gos"));
        Outcome outcome;
        // A trace for one spelling of each row; for all of them in the long run.
        const bool trace = made->handleType.empty() && !allowed &&
                           (fullRun() || way == Way::Path || way == Way::Method);
        if (trace && canTrace()) {
          const Traced run = traced(check);
          outcome = run.outcome;
          checkNoSideEffect(run.calls, tree);
        } else {
          outcome = launch(check);
        }
        ++runs;
        checkOutcome(outcome, tree);
        const Verdict verdict = judge(outcome, row, why);
        CHECK_MESSAGE(verdict != Verdict::NotCalled, "the row can't be called: " << why);
        if (verdict != Verdict::NotCalled)
          CHECK_MESSAGE((verdict == Verdict::Allowed) == allowed, outcome.err);
        if (verdict == Verdict::Denied && deniedAtConfinedBecause(row).empty())
          CHECK_MESSAGE(StringRef(outcome.err).contains(reportName(row.capability)), outcome.err);
        if (made->handleType.empty())
          CHECK_MESSAGE(tree.snapshot() == before, "the tree is not what it was");
      }
    }
  }
  MESSAGE(runs << " runs");
}

TEST_CASE(
    "sweep: a row that reaches the world is refused below its level in every spelling, part 1") {
  sweepImpure(0, 4);
}
TEST_CASE(
    "sweep: a row that reaches the world is refused below its level in every spelling, part 2") {
  sweepImpure(1, 4);
}
TEST_CASE(
    "sweep: a row that reaches the world is refused below its level in every spelling, part 3") {
  sweepImpure(2, 4);
}
TEST_CASE(
    "sweep: a row that reaches the world is refused below its level in every spelling, part 4") {
  sweepImpure(3, 4);
}

TEST_CASE("sweep: every row that harms nobody runs at full") {
  Tree tree;
  Peer peer;
  size_t ran = 0, skipped = 0;
  for (const BuiltinRow& row : stdlib::builtinRows()) {
    if (row.capability == Capability::Pure)
      continue;
    if (const StringRef reason = notRunAtFullBecause(row); !reason.empty()) {
      ++skipped;
      MESSAGE("not run at full: " << row.path.str() << ": " << reason.str());
      continue;
    }
    for (Way way : {Way::Path, Way::Method, Way::Callback}) {
      std::string why;
      auto made = sweepCase(row, way, why);
      if (!made)
        continue;
      const std::string operand = writeCase(tree, *made, Level::Full, peer);
      INFO(row.path.str() << " as " << name(way).str() << "\n"
                          << tree.readAll(operand == "app" ? "app/dep/src/lib.gos" : "main.gos"));
      const Outcome outcome = launch(sweepCommand(tree, *made, Level::Full, operand));
      CHECK(!outcome.timedOut);
      CHECK(outcome.signal == 0);
      CHECK_MESSAGE(judge(outcome, row, why) == Verdict::Allowed, outcome.err);
      ++ran;
    }
  }
  MESSAGE(ran << " runs at full, " << skipped << " rows not run");
}

/// The tables as a golden: whoever changes a class or a level sees it here and says so in the same
/// commit. Rewritten with GOS_UPDATE=1.
TEST_CASE("T062 a flipped cell of a table is noticed") {
  std::ostringstream text;
  static const char* const kLevels[] = {"none", "confined", "full"};
#define GOS_CAPABILITY(name, reportName, lowest)                                                   \
  text << "class " #name " from " << kLevels[size_t(lowestFor(Capability::name))] << ": "          \
       << reportName << '\n';
#include "sandbox/policy/capabilities.def"
  for (const BuiltinRow& row : stdlib::builtinRows())
    text << row.path.str() << ' ' << spelling(row.capability).str() << '\n';
  const std::string file = GOS_SOURCE_DIR "/tests/threats/classes.expect";
  const char* update = std::getenv("GOS_UPDATE");
  if (update && StringRef(update) == "1") {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text.str();
    return;
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream expected;
  expected << in.rdbuf();
  CHECK_MESSAGE(
      text.str() == expected.str(),
      "classes differ from classes.expect; if that is meant, run with GOS_UPDATE=1 and read the diff");
}

} // namespace
} // namespace gos::threats
