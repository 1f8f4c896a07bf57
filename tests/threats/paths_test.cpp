// Section 2 of the catalogue: paths and files during a fold. T018 is race_test.cpp.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <atomic>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

std::string quoted(StringRef path) {
  return ("\"" + path + "\"").str();
}

Act readText(StringRef path) {
  return {.uses = {"fs"},
          .body = "fs::read_to_string(" + quoted(path) + ").unwrap()",
          .call = "fs::read_to_string"};
}

/// Every builtin that looks at a path, as an act that answers a String.
struct Reader {
  const char* call;
  const char* use;
  const char* before;
  const char* after;
};
constexpr Reader kReaders[] = {
    {"fs::read_to_string", "fs", "fs::read_to_string(", ").unwrap()"},
    {"fs::read", "fs", "fs::read(", ").unwrap().len().to_string()"},
    {"fs::open", "fs", "fs::open(", ").unwrap().len().unwrap().to_string()"},
    {"fs::File::open", "fs", "fs::File::open(", ").unwrap().len().unwrap().to_string()"},
    {"fs::read_dir", "fs", "fs::read_dir(", ").unwrap().len().to_string()"},
    {"fs::exists", "fs", "fs::exists(", ").to_string()"},
    {"fs::is_file", "fs", "fs::is_file(", ").to_string()"},
    {"fs::is_dir", "fs", "fs::is_dir(", ").to_string()"},
    {"fs::is_symlink", "fs", "fs::is_symlink(", ").to_string()"},
    {"fs::file_size", "fs", "fs::file_size(", ").to_string()"},
    {"fs::metadata", "fs", "fs::metadata(", ").unwrap().size.to_string()"},
    {"fs::permissions", "fs", "fs::permissions(", ").unwrap().to_string()"},
    {"fs::canonicalize", "fs", "fs::canonicalize(", ").unwrap()"},
    {"bufio::read_lines", "bufio", "bufio::read_lines(", ").unwrap().len().to_string()"},
    {"bufio::read_to_string", "bufio", "bufio::read_to_string(", ").unwrap()"},
    {"path::glob", "path", "path::glob(", ").unwrap().len().to_string()"},
};
Act act(const Reader& reader, StringRef path) {
  Act made{.uses = {reader.use},
           .body = reader.before + quoted(path) + reader.after,
           .call = reader.call};
  if (StringRef(reader.call) == "fs::permissions")
    made.klass = ""; // a mode is host identity wherever the file lies
  return made;
}

TEST_CASE("T001 a link out of the tree is refused at the link") {
  Tree tree;
  tree.link("l", tree.canary());
  tree.link("d", tree.outside() + "/directory");
  Act file = readText("l");
  file.detail = tree.canary(); // the text of the link
  expectReadDenied(tree, file, tree.token());
  expectReadDenied(tree, readText("d/secret.txt"), tree.token());
  expectReadDenied(tree,
                   {.uses = {"fs"},
                    .body = "fs::read_dir(\"d\").unwrap().len().to_string()",
                    .call = "fs::read_dir"},
                   "1");
  // The default is confined, and says that it is the default.
  Where byDefault;
  byDefault.passLevel = false;
  expectDenied(tree, Level::Confined, file, byDefault);
}

TEST_CASE("T002 chains and loops of links end where they lead") {
  Tree tree;
  tree.link("a", "b");
  tree.link("b", "s/c");
  tree.link("s/c", "../" + tree.relativeCanary());
  expectReadDenied(tree, readText("a"), tree.token());

  tree.write("s/in.txt", "inside");
  tree.link("s/c", "../s/in.txt");
  expectReadAllowed(tree, readText("a"), "inside");

  tree.link("x", "x");
  expectError(tree, Level::Confined, readText("x"), "GC0003", "");
  expectError(tree, Level::Full, readText("x"), "GC0003", "");
  // 40 links are followed, 41 are not.
  for (int i = 0; i < 41; ++i)
    tree.link("chain" + std::to_string(i), i == 0 ? "s/in.txt" : "chain" + std::to_string(i - 1));
  expectReadAllowed(tree, readText("chain39"), "inside");
  expectError(tree, Level::Confined, readText("chain40"), "GC0003", "");
}

TEST_CASE("T003 dots that climb out are refused, dots that stay are not") {
  Tree tree;
  tree.directory("sub");
  tree.write("in.txt", "inside");
  expectReadDenied(tree, readText(tree.relativeCanary()), tree.token());
  expectReadDenied(tree, readText("sub/../" + tree.relativeCanary()), tree.token());
  expectReadDenied(tree, readText("./../" + tree.marker() + "/./canary.txt"), tree.token());
  expectReadAllowed(tree, readText("sub/../in.txt"), "inside");
  expectReadAllowed(tree, readText("././sub/.././in.txt"), "inside");
  // Out and in again is out.
  expectDenied(tree, Level::Confined, readText("../root \xc3\xb6/in.txt"));
}

TEST_CASE("T004 absolute names count only beneath the root") {
  Tree tree;
  tree.write("in.txt", "inside");
  tree.link("absolute", tree.in("in.txt"));
  expectReadDenied(tree, readText(tree.canary()), tree.token());
  for (Level level : kBelowFull)
    expectDenied(tree, level, readText("/etc/hostname"));
  expectReadAllowed(tree, readText(tree.in("in.txt")), "inside");
  expectReadAllowed(tree, readText("absolute"), "inside");
  // A sibling whose name begins like the root is not beneath it.
  tree.write(tree.root() + "2/in.txt", tree.token());
  expectReadDenied(tree, readText(tree.root() + "2/in.txt"), tree.token());
}

TEST_CASE("T005 magic links of proc are outside") {
  Tree tree;
  tree.link("m", "/proc/self/root");
  for (StringRef path : {"/proc/self/root/etc/hostname", "/proc/self/exe",
                         "/proc/thread-self/root/etc/hostname", "m/etc/hostname"})
    for (Level level : kBelowFull)
      expectDenied(tree, level, readText(path));
  expectReadDenied(tree, readText("/proc/self/cwd/" + tree.relativeCanary()), tree.token());
  // Even where it leads back in.
  tree.write("in.txt", "inside");
  expectReadDenied(tree, readText("/proc/self/cwd/in.txt"), "inside");
  expectReadDenied(tree, readText("/proc/self/root" + tree.in("in.txt")), "inside");
}

TEST_CASE("T006 names of descriptors are outside, and no descriptor of the caller is reached") {
  Tree tree;
  const int held = ::open(tree.canary().c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(held >= 0);
  tree.link("f", "/dev/fd/9");
  Where where;
  where.descriptors = {{held, 9}};
  where.input = tree.token();
  for (StringRef path : {"/proc/self/fd/9", "/dev/fd/9", "/dev/stdin", "f"})
    for (Level level : kBelowFull)
      expectDenied(tree, level, readText(path), where);
  expectAllowed(tree, Level::Full, readText("/proc/self/fd/9"), tree.token(), where);
  ::close(held);
  // What the tool opens itself is close-on-exec.
  if (!canTrace())
    return;
#ifdef GOS_SANITIZED
  return; // the sanitizer's run-time part opens what it wants
#endif
  tree.write("in.txt", "inside");
  tree.write("main.gos", program(readText("in.txt")));
  for (const SystemCall& call : traced(command(tree, "check", Level::Confined, {})).calls)
    if (StringRef(call.name).starts_with("open") && !call.failed)
      CHECK_MESSAGE(StringRef(call.text).contains("O_CLOEXEC"), call.text);
}

TEST_CASE("T007 what would block is refused at once") {
  Tree tree;
  tree.fifo("p");
  tree.socket("s");
  for (StringRef name : {"p", "s"}) {
    for (const char* call : {"fs::read_to_string(", "fs::read(", "fs::open(", "fs::File::open("})
      expectError(
          tree, Level::Confined,
          {.uses = {"fs"}, .body = call + quoted(name) + ").unwrap()\n    \"read\"", .call = ""},
          "GC0003", "not a regular file");
    // A listing shows it, a walk goes past it, a size does not wait for it.
    expectAllowed(tree, Level::Confined,
                  {.uses = {"fs"},
                   .body = "let _ = fs::file_size(" + quoted(name) + ")\n    fs::is_file(" +
                           quoted(name) + ").to_string()"},
                  "false");
  }
  expectAllowed(
      tree, Level::Confined,
      {.uses = {"fs"},
       .body =
           "let mut names: Vec<String> = #[]\n"
           "    fs::walk_dir(\".\", |entry| {\n        names.push(entry.name)\n        Ok(())\n    }).unwrap()\n"
           "    names.join(\" \")"},
      "main.gos p s");
}

TEST_CASE("T008 devices are no files") {
  Tree tree;
  tree.link("z", "/dev/zero");
  for (StringRef path : {"z", "/dev/tty", "/proc/kcore", "/dev/zero"})
    for (Level level : kBelowFull)
      expectDenied(tree, level, readText(path));
  if (::mknod(tree.in("device").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0)
    expectError(tree, Level::Confined, readText("device"), "GC0003", "not a regular file");
  else
    skipPart("T008 a device node in the tree", "mknod needs root");
  // At full reading ends at the read limit, not at the end of memory.
  tree.write("main.gos", program({.uses = {"fs"},
                                  .body = "fs::read(\"/dev/zero\").unwrap().len().to_string()"}));
  const Outcome outcome = launch(command(tree, "check", Level::Full, {}));
  checkOutcome(outcome, tree);
  CHECK(outcome.exitCode == 1);
  CHECK_MESSAGE(outcome.peakKiB < 1'500'000, "peak " << outcome.peakKiB << " KiB");
}

TEST_CASE("T009 huge and growing files are refused by the read limit before memory is taken") {
  Tree tree;
  tree.write("big", "");
  off_t size = off_t(8) << 40;
  if (::truncate(tree.in("big").c_str(), size) != 0) {
    size = off_t(1) << 40;
    if (::truncate(tree.in("big").c_str(), size) != 0) {
      skipPart("T009 a sparse file", "this file system has none of that size");
      return;
    }
  }
  for (Level level : {Level::Confined, Level::Full})
    for (const Reader& reader : kReaders) {
      const StringRef call = reader.call;
      if (call != "fs::read_to_string" && call != "fs::read" && !call.starts_with("bufio"))
        continue;
      tree.write("main.gos", program(act(reader, "big")));
      INFO("call: " << call.str());
      const Outcome outcome = launch(command(tree, "check", level, {}));
      checkOutcome(outcome, tree);
      CHECK(outcome.exitCode == 1);
      CHECK_MESSAGE(outcome.peakKiB < 400'000, "peak " << outcome.peakKiB << " KiB");
      CHECK_MESSAGE(StringRef(outcome.err).contains(std::to_string(256 << 20)),
                    "no limit: " << outcome.err);
      CHECK_MESSAGE(StringRef(outcome.err).contains(std::to_string(size)),
                    "no size: " << outcome.err);
    }
  // A handle counts as well.
  expectError(tree, Level::Confined,
              {.uses = {"fs"},
               .body = "let file = fs::open(\"big\").unwrap()\n    file.read_to_string().unwrap()"},
              "GX0009", std::to_string(256 << 20));
  // The limit counts what is read, not what fstat said: it grows while it is read.
  tree.write("growing", "");
  tree.write("main.gos",
             program({.uses = {"fs"}, .body = "fs::read(\"growing\").unwrap().len().to_string()"}));
  std::atomic<bool> stop = false;
  std::thread partner([&] {
    for (off_t grown = 0; !stop && grown < (off_t(1) << 36); grown += off_t(1) << 24)
      if (::truncate(tree.in("growing").c_str(), grown) != 0)
        return;
  });
  for (int i = 0; i < 5; ++i) {
    const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK(outcome.peakKiB < 1'500'000);
  }
  stop = true;
  partner.join();
}

TEST_CASE("T010 a denial does not tell whether something is there") {
  Tree tree;
  tree.link("there", tree.canary());
  tree.link("gone", tree.out("no-such.txt"));
  for (Level level : kBelowFull)
    for (const Reader& reader : kReaders) {
      INFO("call: " << std::string(reader.call));
      auto words = [&](const std::string& path) {
        const Act asked = act(reader, path);
        tree.write("main.gos", program(asked));
        const Outcome outcome = launch(command(tree, "check", level, {}));
        checkOutcome(outcome, tree);
        CHECK(outcome.exitCode == 1);
        CHECK(StringRef(outcome.err).contains("GX0010"));
        std::string text = outcome.err;
        for (size_t at; (at = text.find(path)) != std::string::npos;)
          text.replace(at, path.size(), "NAME");
        return text;
      };
      // Two names of one length, so that carets and columns are equal too.
      CHECK(words(tree.out("canary.txt")) == words(tree.out("absent.txt")));
      CHECK(words(tree.relativeCanary()) == words("../" + tree.marker() + "/absent.txt"));
      CHECK(words("/etc/hostname") == words("/etc/hostnam0"));
    }
  // The control: with `full` they differ.
  expectAllowed(tree, Level::Full, act(kReaders[5], tree.canary()), "true");
  expectAllowed(tree, Level::Full, act(kReaders[5], tree.out("absent.txt")), "false");
}

TEST_CASE("T011 a thousand denied calls look nothing up outside") {
  if (!canTrace())
    return;
  Tree tree;
  tree.link("file", tree.canary());
  tree.link("relative", tree.relativeCanary());
  tree.link("directory", tree.outside());
  tree.link("deep/chain", "../file");
  tree.directory("sub");
  std::vector<std::string> paths = {tree.canary(),
                                    tree.relativeCanary(),
                                    "file",
                                    "relative",
                                    "directory",
                                    "directory/canary.txt",
                                    "directory/absent",
                                    "deep/chain",
                                    "sub/../" + tree.relativeCanary(),
                                    tree.out("directory"),
                                    tree.out("absent"),
                                    "directory/directory/secret.txt"};
  if (fullRun())
    for (int i = 0; i < 24; ++i)
      paths.push_back((i % 2 ? "directory/" : "../" + tree.marker() + "/") + std::string("name") +
                      std::to_string(i));
  size_t calls = 0;
  for (Level level : kBelowFull)
    for (const Reader& reader : kReaders)
      for (const std::string& path : paths) {
        // A link itself may be asked about.
        if (StringRef(reader.call) == "fs::is_symlink" &&
            (!StringRef(path).contains("/") || path == "deep/chain"))
          continue;
        if (StringRef(reader.call) == "path::glob" && !StringRef(path).starts_with("..") &&
            path[0] != '/')
          continue; // T015
        tree.write("main.gos", program(act(reader, path)));
        INFO("call: " << std::string(reader.call) << " " << path);
        const Traced run = traced(command(tree, "check", level, {}));
        checkOutcome(run.outcome, tree);
        CHECK(run.outcome.exitCode == 1);
        CHECK_MESSAGE(StringRef(run.outcome.err).contains("GX0010"), run.outcome.err);
        checkNoSideEffect(run.calls, tree);
        ++calls;
      }
  MESSAGE(calls << " denied calls traced");
}

TEST_CASE("T012 a policy of the library is no oracle") {
  Tree tree;
  const std::string make = "sandbox::Policy::new().read_only(" + quoted(tree.canary()) + ")";
  // Building the value is pure, at every level.
  for (Level level : kAllLevels)
    expectAllowed(tree, level,
                  {.uses = {"sandbox"}, .body = make + ".level(\"strict\").level_name()"},
                  "strict");
  // What looks at the host is not.
  expectDeniedBelowFull(tree, {.uses = {"sandbox"},
                               .body = make + ".check().is_ok().to_string()",
                               .call = "check",
                               .klass = "process execution"});
  expectDeniedBelowFull(tree,
                        {.uses = {"sandbox"},
                         .body = "sandbox::run(" + make + ", #[\"true\"]).is_ok().to_string()",
                         .call = "sandbox::run",
                         .klass = "process execution"});
}

TEST_CASE("T013 a denial shows the link in the tree and resolves nothing outside") {
  Tree tree;
  tree.link(tree.out("current"), "directory");
  tree.link("l", tree.out("current/secret.txt"));
  Act asked = readText("l");
  asked.detail = tree.out("current/secret.txt");
  for (StringRef format : {"text", "json"}) {
    tree.write("main.gos", program(asked));
    Where where;
    where.options = {("--message-format=" + format).str()};
    const Outcome outcome = launch(command(tree, "check", Level::Confined, where));
    checkOutcome(outcome, tree);
    CHECK(StringRef(outcome.err).contains("current/secret.txt"));
    CHECK_MESSAGE(!StringRef(outcome.err).contains("directory/secret.txt"), outcome.err);
  }
  expectDenied(tree, Level::Confined, asked);
  // One link further: the text of the one that leads out.
  tree.link("first", "l");
  asked.body = "fs::read_to_string(\"first\").unwrap()";
  expectDenied(tree, Level::Confined, asked);
  expectAllowed(tree, Level::Full, asked, tree.token());
}

constexpr const char* kWalk =
    "let mut seen: Vec<String> = #[]\n"
    "    CALL(\".\", |entry| {\n"
    "        seen.push(f\"{entry.path} {entry.is_dir} {entry.is_symlink} {entry.size}\")\n"
    "        Ok(())\n"
    "    }).unwrap()\n"
    "    seen.join(\";\")";
std::string walkWith(StringRef call) {
  std::string text = kWalk;
  text.replace(text.find("CALL"), 4, call.str());
  return text;
}

TEST_CASE("T014 a walk lists links and does not enter them") {
  Tree tree;
  tree.link("d", tree.outside());
  tree.link("loop", ".");
  tree.write("b/two.txt", "22");
  tree.write("a.txt", "1");
  tree.write("Z.txt", "333");
  const std::string linkSize = std::to_string(tree.outside().size());
  for (StringRef call : {"fs::walk_dir", "path::walk"}) {
    const Act walk{.uses = {call.starts_with("fs") ? "fs" : "path"},
                   .body = walkWith(call),
                   .call = call.str()};
    expectDenied(tree, Level::None, walk);
    tree.write("main.gos", program(walk));
    const Outcome outcome = launch(command(tree, "run", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    const StringRef out = outcome.out;
    // Order of bytes, links with the length of their text, nothing of what is behind them.
    const size_t z = out.find("Z.txt false false 3"), a = out.find("a.txt false false 1"),
                 b = out.find("b true false 0"), two = out.find("b/two.txt false false 2"),
                 d = out.find("d false true " + linkSize), loop = out.find("loop false true 1");
    CHECK_MESSAGE(z < a, outcome.out);
    CHECK(a < b);
    CHECK(b < two);
    CHECK(two < d);
    CHECK(d < loop);
    CHECK_MESSAGE(loop != StringRef::npos, outcome.out);
    CHECK(!out.contains("canary"));
    CHECK(!out.contains("loop/"));
  }
  // The links themselves are refused as directories.
  expectDenied(tree, Level::Confined,
               {.uses = {"fs"},
                .body = "fs::read_dir(\"d\").unwrap().len().to_string()",
                .call = "fs::read_dir"});
  expectReadAllowed(
      tree,
      {.uses = {"fs"},
       .body = "let mut names: Vec<String> = #[]\n    for entry in fs::read_dir(\".\").unwrap() { "
               "names.push(entry.name) }\n    names.join(\" \")",
       .call = "fs::read_dir"},
      "Z.txt a.txt b d loop main.gos");
}

TEST_CASE("T015 a glob is a walk and not a road out") {
  Tree tree;
  tree.link("d", tree.outside());
  tree.directory("sub");
  tree.write("sub/in.txt", "inside");
  auto glob = [](StringRef pattern) {
    return Act{.uses = {"path"},
               .body = "path::glob(" + quoted(pattern) + ").unwrap().join(\" \")",
               .call = "path::glob"};
  };
  for (StringRef pattern : {"../*", "/etc/*", "sub/../../*", "**/../../*"})
    for (Level level : kBelowFull)
      expectDenied(tree, level, glob(pattern));
  for (Level level : kBelowFull)
    expectDenied(tree, level, glob(tree.out("*")));
  expectAllowed(tree, Level::Confined, glob("[.][.]/*"), "");
  tree.write("main.gos", program(glob("**/*")));
  const Outcome outcome = launch(command(tree, "run", Level::Confined, {}));
  checkOutcome(outcome, tree);
  CHECK(outcome.exitCode == 0);
  CHECK_MESSAGE(StringRef(outcome.out).contains("sub/in.txt"), outcome.out);
  CHECK(!StringRef(outcome.out).contains("canary"));
  expectReadAllowed(tree, glob("sub/*.txt"), "sub/in.txt");
  // The control: full looks outside.
  tree.write("main.gos", program(glob(tree.out("*.txt"))));
  const Outcome full = launch(command(tree, "run", Level::Full, {}));
  CHECK_MESSAGE(StringRef(full.out).contains("canary.txt"), full.out << full.err);
}

TEST_CASE("T016 the base of relative names does not move") {
  Tree tree;
  tree.write("canary.txt", "inside");
  const Act move{.uses = {"env", "fs"},
                 .body = "env::set_current_dir(" + quoted(tree.outside()) +
                         ").unwrap()\n    fs::read_to_string(\"canary.txt\").unwrap()",
                 .call = "env::set_current_dir",
                 .klass = "environment mutation"};
  expectDeniedBelowFull(tree, move);
  Where forged;
  forged.environment = {{"PWD", tree.outside()}};
  expectReadAllowed(tree, readText("canary.txt"), "inside", forged);
}

TEST_CASE("T017 one base for every builtin, from wherever the tool is started") {
  Tree tree;
  tree.write("project.toml", "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n");
  tree.write("in.txt", "the root");
  tree.write("src/in.txt", "the base");
  const Act all{.uses = {"fs", "bufio", "path"},
                .body = "let mut seen: Vec<String> = #[]\n"
                        "    seen.push(fs::read_to_string(\"in.txt\").unwrap())\n"
                        "    seen.push(fs::read(\"in.txt\").unwrap().len().to_string())\n"
                        "    seen.push(fs::open(\"in.txt\").unwrap().read_to_string().unwrap())\n"
                        "    seen.push(fs::exists(\"in.txt\").to_string())\n"
                        "    seen.push(fs::is_file(\"in.txt\").to_string())\n"
                        "    seen.push(fs::file_size(\"in.txt\").to_string())\n"
                        "    seen.push(fs::metadata(\"in.txt\").unwrap().size.to_string())\n"
                        "    seen.push(bufio::read_lines(\"in.txt\").unwrap()[0])\n"
                        "    seen.push(path::glob(\"in.*\").unwrap().len().to_string())\n"
                        "    seen.push(fs::read_dir(\".\").unwrap().len().to_string())\n"
                        "    seen.push(fs::read_to_string(\"../in.txt\").unwrap())\n"
                        "    seen.join(\",\")"};
  tree.write("src/main.gos", program(all));
  const std::string expected = "the base,8,the base,true,true,8,8,the base,1,2,the root";
  struct From {
    std::string directory, operand;
  };
  const From places[] = {{tree.root(), "."},
                         {tree.root(), "src/main.gos"},
                         {tree.in("src"), "main.gos"},
                         {tree.in("src"), ".."},
                         {"/", tree.root()},
                         {"/", tree.in("src/main.gos")},
                         {tree.outside(), "../root \xc3\xb6"}};
  for (const From& place : places) {
    Where where;
    where.directory = place.directory;
    where.operand = place.operand;
    INFO("from " << place.directory << ": " << place.operand);
    expectProgramAllowed(tree, Level::Confined, expected, where);
    expectProgramAllowed(tree, Level::Full, expected, where);
  }
  // Nothing is expanded.
  tree.write("src/~/x", "plain");
  Where project;
  project.operand = ".";
  for (StringRef path : {"~/y", "$HOME/x", "%TEMP%/x", "file:///etc/passwd"}) {
    tree.write("src/main.gos",
               program({.uses = {"fs"}, .body = "fs::exists(" + quoted(path) + ").to_string()"}));
    expectProgramAllowed(tree, Level::Confined, "false", project);
  }
  tree.write("src/main.gos", program(readText("~/x")));
  expectProgramAllowed(tree, Level::Confined, "plain", project);
}

TEST_CASE("T019 a hard link and a mount are inside, since no path tells") {
  Tree tree;
  tree.hardLink("h", tree.canary());
  expectReadAllowed(tree, readText("h"), tree.token());
  tree.directory("m");
  tree.write("main.gos", program(readText("m/canary.txt")));
  Launch inside = command(tree, "run", Level::Confined, {});
  Launch mounted = inside;
  mounted.program = "unshare";
  const char* other = std::getenv("GOS_PROGRAM");
  mounted.arguments = {
      "-m", "sh",           "-c",         "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"",
      "sh", tree.outside(), tree.in("m"), other && *other ? other : GOS_PROGRAM};
  mounted.arguments.insert(mounted.arguments.end(), inside.arguments.begin(),
                           inside.arguments.end());
  if (::geteuid() != 0) {
    skipPart("T019 a mount in the tree", "mounting needs root");
    return;
  }
  const Outcome outcome = launch(mounted);
  if (StringRef(outcome.err).contains("unshare") || StringRef(outcome.err).contains("mount:")) {
    skipPart("T019 a mount in the tree", outcome.err);
    return;
  }
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  CHECK(outcome.out == tree.token() + "\n");
}

TEST_CASE("T020 names are bytes and are never folded") {
  Tree tree;
  tree.write("caf\xc3\xa9.txt", "composed");
  tree.write("cafe\xcc\x81.txt", "decomposed");
  tree.write("link", "lower");
  struct stat upper{};
  if (::stat(tree.in("LINK").c_str(), &upper) == 0) {
    // A file system that folds: the opened object decides.
    expectReadAllowed(tree, readText("LINK"), "lower");
    return;
  }
  expectReadAllowed(tree, readText("caf\xc3\xa9.txt"), "composed");
  expectReadAllowed(tree, readText("cafe\xcc\x81.txt"), "decomposed");
  expectAllowed(tree, Level::Confined, {.uses = {"fs"}, .body = "fs::exists(\"LINK\").to_string()"},
                "false");
  // The root in other letters is another directory, and outside.
  std::string shouted = tree.root();
  shouted.replace(shouted.rfind("root"), 4, "ROOT");
  for (Level level : kBelowFull)
    expectDenied(tree, level, readText(shouted + "/link"));
}

TEST_CASE("T021 names of other systems are plain names, or refused") {
  Tree tree;
  for (StringRef name : {"C:in.txt", "NUL", "in.txt::$DATA", "in.txt.", "PROGRA~1", "in.txt "}) {
    tree.write(name, "plain");
    expectReadAllowed(tree, readText(name), "plain");
  }
  tree.write("main.gos", "");
  tree.write("\\\\?\\C:\\x", "plain");
  expectReadAllowed(tree, readText("\\\\\\\\?\\\\C:\\\\x"), "plain");
  for (StringRef name : {"//host/share/x", "///etc/hostname", "//etc/hostname"})
    for (Level level : kBelowFull)
      expectDenied(tree, level, readText(name));
}

TEST_CASE("T022 the string that is judged is the string that is opened") {
  Tree tree;
  tree.write("in.txt", "inside");
  tree.write("a\nb", "newline");
  tree.write("end\xe2\x80\xae", "bidi");
  expectError(tree, Level::Confined, readText("in.txt\\0.bak"), "GC0003", "");
  expectError(tree, Level::Full, readText("in.txt\\0.bak"), "GC0003", "");
  expectAllowed(tree, Level::Confined,
                {.uses = {"fs"}, .body = "fs::exists(\"in.txt\\0.bak\").to_string()"}, "false");
  expectError(tree, Level::Confined, readText(""), "GC0003", "");
  expectError(tree, Level::Confined, readText("."), "GC0003", "directory");
  expectError(tree, Level::Confined, readText("in.txt/"), "GC0003", "");
  expectReadAllowed(tree, readText("a\\nb"), "newline");
  expectReadAllowed(tree, readText("end\\u{202e}"), "bidi");
  for (size_t length : {300u, 5000u}) {
    expectError(
        tree, Level::Confined,
        {.uses = {"fs"},
         .body = "fs::read_to_string(\"x\".repeat(" + std::to_string(length) + ")).unwrap()"},
        "GC0003", "");
    expectError(
        tree, Level::Confined,
        {.uses = {"fs"},
         .body = "fs::read_to_string(\"x/\".repeat(" + std::to_string(length) + ")).unwrap()"},
        "GC0003", "");
  }
  // Bytes that are no text: listed without a crash, and never another file.
  tree.write(std::string("raw\xff\xfe"), "raw");
  tree.write("main.gos",
             program({.uses = {"fs"}, .body = "fs::read_dir(\".\").unwrap().len().to_string()"}));
  const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
  checkOutcome(outcome, tree);
  CHECK((outcome.exitCode == 0 || outcome.exitCode == 1));
}

TEST_CASE("T023 a root behind a link gives the same verdicts") {
  Tree tree;
  tree.write("in.txt", "inside");
  const std::string alias = tree.top() + "/alias";
  tree.link(alias, tree.root());
  Where where;
  where.operand = alias + "/main.gos";
  for (const std::string& directory : {tree.root(), std::string("/"), alias}) {
    where.directory = directory;
    expectAllowed(tree, Level::Confined, readText("in.txt"), "inside", where);
    expectAllowed(tree, Level::Confined, readText(alias + "/in.txt"), "inside", where);
    expectAllowed(tree, Level::Confined, readText(tree.in("in.txt")), "inside", where);
    expectDenied(tree, Level::Confined, readText(tree.relativeCanary()), where);
    expectDenied(tree, Level::Confined, readText(alias + "/../" + tree.marker() + "/canary.txt"),
                 where);
  }
  // An entry that is a link within the package.
  tree.write("p/project.toml", "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n");
  tree.write("p/in.txt", "the package");
  tree.write("p/real/main.gos", program(readText("../in.txt")));
  tree.link("p/src/main.gos", "../real/main.gos");
  Where project;
  project.operand = "p";
  expectProgramAllowed(tree, Level::Confined, "the package", project);
}

TEST_CASE(
    "T024 secrets inside the tree can be read and are never quoted, credentials of a home stay shut") {
  Tree tree;
  for (StringRef name : {".git/config", ".env", ".npmrc"}) {
    tree.write(name, "url = https://user:hunter2@host");
    expectAllowed(tree, Level::Confined,
                  {.uses = {"fs"}, .body = "fs::file_size(" + quoted(name) + ").to_string()"},
                  std::to_string(tree.readAll(name).size()));
    // A message about it holds nothing of it.
    expectError(tree, Level::Confined,
                {.uses = {"fs", "encoding::json"},
                 .body = "json::parse(fs::read_to_string(" + quoted(name) +
                         ").unwrap()).unwrap()\n    \"x\""},
                "GC0003", "");
    const Outcome quoted = launch(command(tree, "check", Level::Confined, {}));
    CHECK_MESSAGE(!StringRef(quoted.err).contains("hunter2"), quoted.err);
  }
  // A root that is a home: the shipped denials hold inside.
  tree.write("project.toml", "[project]\nid = \"example.com/home\"\nversion = \"1.0.0\"\n");
  tree.write(".ssh/id_rsa", "PRIVATE KEY");
  tree.write("notes.txt", "notes");
  tree.link("key", ".ssh/id_rsa");
  Where home;
  home.operand = ".";
  home.environment = {{"HOME", tree.root()}};
  for (StringRef path : {"../.ssh/id_rsa", "../key"}) {
    tree.write("src/main.gos", program(readText(path)));
    expectProgramDenied(tree, Level::Confined, readText(path), home);
  }
  tree.write("src/main.gos", program(readText("../notes.txt")));
  expectProgramAllowed(tree, Level::Confined, "notes", home);
}

TEST_CASE("T025 a dependency reads its own directory and nothing of its user") {
  Tree tree;
  tree.write("project.toml",
             "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\n"
             "[dependencies]\n\"example.com/words\" = { path = \"vendor/words\" }\n");
  tree.write(".env", "user secret");
  tree.write("src/secret.txt", "user secret");
  tree.write("vendor/words/project.toml",
             "[project]\nid = \"example.com/words\"\nversion = \"1.0.0\"\n");
  tree.write("vendor/words/src/data.txt", "own data");
  auto dependency = [&](StringRef path) {
    tree.write("vendor/words/src/lib.gos",
               "use std::fs\n\npub comptime fn load() -> String {\n    fs::read_to_string(" +
                   quoted(path) + ").unwrap()\n}\n");
  };
  tree.write("src/main.gos",
             "use \"example.com/words\"\n\nconst ANSWER: String = comptime { words::load() }\n\n"
             "fn main() {\n    println!(\"{}\", ANSWER)\n}\n");
  Where where;
  where.operand = ".";
  where.file = "vendor/words/src/lib.gos";
  dependency("data.txt");
  expectProgramAllowed(tree, Level::Confined, "own data", where);
  const Act refused{.call = "fs::read_to_string"};
  for (const std::string& path :
       {std::string("../../../.env"), tree.in(".env"), std::string("../../../src/secret.txt"),
        tree.in("src/secret.txt")}) {
    dependency(path);
    Act act = refused;
    act.detail = "example.com/words";
    expectProgramDenied(tree, Level::Confined, act, where);
    expectProgramAllowed(tree, Level::Full, "user secret", where);
  }
  // The same file in the user's own region.
  tree.write("src/main.gos", program(readText("../.env")));
  expectProgramAllowed(tree, Level::Confined, "user secret", where);
  // And the other way round: a closure reads where it was written.
  tree.write("vendor/words/src/lib.gos",
             "pub fn apply(f: Fn(String) -> String, path: String) -> String { f(path) }\n");
  tree.write("src/main.gos",
             "use std::fs\nuse \"example.com/words\"\n\nconst ANSWER: String = comptime {\n"
             "    words::apply(|path| fs::read_to_string(path).unwrap(), \"secret.txt\")\n}\n\n"
             "fn main() {\n    println!(\"{}\", ANSWER)\n}\n");
  expectProgramAllowed(tree, Level::Confined, "user secret", where);
}

TEST_CASE("T027 the address of the tree reaches no result") {
  const char* body = "let mut seen: Vec<String> = #[]\n"
                     "    seen.push(fs::canonicalize(\"sub/../in.txt\").unwrap())\n"
                     "    for entry in fs::read_dir(\"sub\").unwrap() { seen.push(entry.path) }\n"
                     "    for name in path::glob(\"**/*.txt\").unwrap() { seen.push(name) }\n"
                     "    match fs::read_to_string(\"sub/none.txt\") {\n"
                     "        Ok(_) => seen.push(\"read\")\n"
                     "        Err(error) => seen.push(format!(\"{}\", error))\n"
                     "    }\n"
                     "    seen.join(\",\")";
  std::string answers[2];
  for (std::string& answer : answers) {
    Tree tree;
    tree.write("in.txt", "inside");
    tree.write("sub/deep.txt", "deep");
    tree.write("main.gos", program({.uses = {"fs", "path"}, .body = body}));
    const Outcome outcome = launch(command(tree, "run", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    CHECK_MESSAGE(!StringRef(outcome.out).contains(tree.top()), outcome.out);
    CHECK(!StringRef(outcome.out).contains("/" + std::string("root")));
    answer = outcome.out;
    // An absolute name in, and still no address out.
    tree.write("main.gos",
               program({.uses = {"fs"},
                        .body = "fs::canonicalize(" + quoted(tree.in("in.txt")) + ").unwrap()"}));
    const Outcome absolute = launch(command(tree, "run", Level::Confined, {}));
    CHECK_MESSAGE(!StringRef(absolute.out).contains(tree.top()), absolute.out);
  }
  CHECK(answers[0] == answers[1]);
  CHECK(!answers[0].empty());
}

} // namespace
} // namespace gos::threats
