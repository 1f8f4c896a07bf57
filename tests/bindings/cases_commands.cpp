// The six commands that compile bindings: each goes through the one function, and starts nothing
// that the package or PATH would put in its way (T097).

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {

const std::string& gosPath() {
  static const std::string path = [] {
    const std::string made = files::path(bwrPath()).parent_path().string() + "/gos";
    files::copy_file(GOS_PROGRAM, made, files::copy_options::overwrite_existing);
    ::chmod(made.c_str(), 0755);
    return made;
  }();
  return path;
}

struct Command {
  std::string name;
  std::vector<std::string> words; // behind the command
  std::string input, says;        // what comes out
};

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"check", {"."}, "", ""}, {"run", {"."}, "", "42\n"},   {"build", {"-o", "out", "."}, "", ""},
      {"test", {"."}, "", ""},  {"doc", {"."}, "", "double"}, {"repl", {"."}, "1 + 1\n", "2"},
  };
  return all;
}

Outcome gosRun(const Bound& bound, const Command& command, const std::vector<std::string>& flags,
               How how) {
  std::vector<std::string> words = {gosPath(), command.name};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), command.words.begin(), command.words.end());
  how.input = command.input;
  return bound.room.plain(words, how);
}

void makeProgram(Bound& bound) {
  bound.plain();
  bound.room.write("src/main.gos",
                   "use stats::fast\n\nfn main() {\n    println!(\"{}\", fast::double(21))\n}\n\n"
                   "#[test]\nfn doubles() {\n    assert(fast::double(4) == 8)\n}\n");
}

} // namespace

TEST_CASE(
    "T097 each of the six commands builds bindings through the one function, under every level") {
  if (missesCargo("T097"))
    return;
  for (As who : identities())
    for (const std::string level : {"none", "standard"})
      for (const Command& command : commands()) {
        if (level == "none" && who != identities().back())
          continue;
        CAPTURE(std::string(name(who)));
        CAPTURE(level);
        CAPTURE(command.name);
        Bound bound(who);
        makeProgram(bound);
        const std::string mark = bound.room.top() + "/mark";
        for (const char* program : {"cargo", "rustc", "cc", "git", "ld", "rustup"})
          bound.room.write(program,
                           "#!/bin/sh\necho \"$0 $*\" >> " + mark + "\nexec /usr/bin/" +
                               std::string(program) + " \"$@\"\n",
                           0755);
        bound.write(".cargo/config.toml",
                    "[build]\nrustc-wrapper = \"" + bound.room.path("rustc") + "\"\n");
        How how = bound.how;
        how.set["PATH"] = ".:" + bound.room.project() + ":/usr/bin:/bin";
        how.set["RUSTC_WRAPPER"] = bound.room.path("rustc");
        const Outcome outcome = gosRun(bound, command, {"--sandbox=" + level}, how);
        CHECK_MESSAGE(outcome.code == 0, outcome.err << outcome.out);
        CHECK_MESSAGE(has(outcome.out, command.says), outcome.out);
        CHECK_FALSE(bound.room.exists(mark));
        CHECK(has(bound.room.read("bindings.lock"), "name = \"stats\""));
        if (command.name == "repl") // shows what is wrong, and no notes
          continue;
        CHECK(has(outcome.err, "GJ0040"));
        CHECK(has(outcome.err, "GJ0041") == (level == "none"));
      }
}

TEST_CASE(
    "T097 in the log of starts every Cargo, rustc and linker descends from the sandbox's first "
    "process") {
  if (missesCargo("T097"))
    return;
  if (!installed("strace")) {
    skip("T097 log of starts", "`strace` is not installed");
    return;
  }
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    Bound bound(identities().back());
    makeProgram(bound);
    const std::string log = bound.room.top() + "/log";
    std::vector<std::string> words = {
        "strace", "-f", "-qq",     "-e",         "trace=execve,execveat,clone,clone3,vfork,fork",
        "-o",     log,  gosPath(), command.name, "--sandbox=none"};
    words.insert(words.end(), command.words.begin(), command.words.end());
    How how = bound.how;
    how.input = command.input;
    const Outcome outcome = bound.room.plain(words, how);
    if (!has(bound.room.read(log), "exec")) {
      skip("T097 log of starts", "strace sees nothing here: " + outcome.err);
      return;
    }
    // Who was made by whom, and what the tool's own children executed first.
    std::map<int, int> parent;
    std::map<int, std::string> first;
    int top = 0;
    size_t builders = 0;
    const std::string starts = bound.room.read(log);
    // A child may be seen to execute before its maker is seen to have made it: first who made whom.
    const auto process = [&](llvm::StringRef& rest) {
      int number = 0;
      if (rest.consumeInteger(10, number))
        return 0;
      rest = rest.ltrim();
      return number;
    };
    for (llvm::StringRef rest : llvm::split(llvm::StringRef(starts), '\n')) {
      const int maker = process(rest);
      if (maker == 0 || !(rest.contains("clone") || rest.contains("fork")))
        continue;
      int child = 0;
      llvm::StringRef made = rest.rsplit("= ").second;
      if (!made.consumeInteger(10, child) && child > 0)
        parent[child] = maker;
    }
    for (llvm::StringRef line : llvm::split(llvm::StringRef(starts), '\n')) {
      llvm::StringRef rest = line;
      const int doer = process(rest);
      if (doer == 0)
        continue;
      if (top == 0)
        top = doer;
      if (!rest.contains("exec") || rest.contains("= -1"))
        continue;
      const bool builds = rest.contains("/cargo\"") || rest.contains("/rustc\"") ||
                          rest.contains("/cc\"") || rest.contains("/ld\"");
      if (builds) {
        ++builders;
        CHECK_MESSAGE(doer != top, line.str());
        // Somebody between it and the tool executed the first process, which has no name on disk.
        bool confined = false;
        int at = doer;
        for (int depth = 0; depth != 64 && at != 0 && at != top; ++depth) {
          confined |= has(first[at], "execveat") || has(first[at], "/proc/") ||
                      has(first[at], "memfd") || has(first[at], "AT_EMPTY_PATH");
          at = parent.count(at) ? parent[at] : 0;
        }
        CHECK_MESSAGE(confined, line.str());
      }
      if (first[doer].empty())
        first[doer] = rest.str();
    }
    CHECK_MESSAGE(builders >= 3, starts.substr(0, 2000));
  }
}

TEST_CASE("T087 `gos check --no-build` starts no Cargo, and says what is missing") {
  if (missesCargo("--no-build"))
    return;
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    Bound bound(who);
    makeProgram(bound);
    // The user's own Cargo, which says that it was started.
    const std::string tools = bound.room.top() + "/tools", mark = bound.room.top() + "/mark";
    bound.room.makeDirectory(tools);
    for (const std::string program : {"cargo", "rustc"})
      bound.room.write(
          tools + "/" + program,
          "#!/bin/sh\necho \"$0\" >> " + mark + "\nexec /usr/bin/" + program + " \"$@\"\n", 0755);
    How how = bound.how;
    how.set["PATH"] = tools + ":/usr/bin:/bin";
    const Command check = commands().front();
    const auto unbuilt = [&](const std::vector<std::string>& flags) {
      files::remove(mark);
      const Outcome outcome = gosRun(bound, check, flags, how);
      CHECK_FALSE(bound.room.exists(mark));
      return outcome;
    };
    const Outcome missing = unbuilt({"--no-build"});
    CHECK(missing.code == 1);
    CHECK_MESSAGE(has(missing.err, "GJ0050"), missing.err);
    CHECK_FALSE(bound.room.exists("bindings.lock"));
    const Outcome json = unbuilt({"--no-build", "--message-format=json"});
    CHECK(json.code == 1);
    llvm::Expected<llvm::json::Value> value =
        llvm::json::parse(llvm::StringRef(json.err).split('\n').first);
    REQUIRE_MESSAGE(bool(value), json.err);
    CHECK(value->getAsObject()->getString("code") == llvm::StringRef("GJ0050"));

    const Outcome built = gosRun(bound, check, {"--sandbox=none"}, how);
    CHECK_MESSAGE(built.code == 0, built.err);
    CHECK(bound.room.exists(mark));
    const Outcome fresh = unbuilt({"--no-build"});
    CHECK_MESSAGE(fresh.code == 0, fresh.err);
    // What the library declares is known: a call that does not fit is found.
    bound.room.write(
        "src/main.gos",
        "use stats::fast\n\nfn main() {\n    println!(\"{}\", fast::double(\"x\"))\n}\n");
    CHECK(has(unbuilt({"--no-build"}).err, "src/main.gos:4"));
    bound.write("rust/stats/src/lib.rs", std::string(Bound::kLibrary) + "// changed\n");
    CHECK(has(unbuilt({"--no-build"}).err, "GJ0050"));
  }
  Bound bound(identities().back());
  CHECK(gosRun(bound, commands()[1], {"--no-build"}, bound.how).code == 2);
}

TEST_CASE("--sandbox-explain prints both policies for each command and builds nothing") {
  if (missesCargo("explain"))
    return;
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    Bound bound(identities().back());
    makeProgram(bound);
    const Outcome outcome = gosRun(bound, command, {"--sandbox", "--sandbox-explain"}, bound.how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(has(outcome.out, "fetch: "));
    CHECK(has(outcome.out, "build: "));
    CHECK_FALSE(bound.room.exists("bindings.lock"));
    CHECK_FALSE(bound.room.exists("out"));
  }
}

TEST_CASE("a manifest's `sandbox` is a floor that no flag lowers") {
  if (missesCargo("floor"))
    return;
  Bound bound(identities().back());
  makeProgram(bound);
  bound.bindings("stats = { path = \"rust/stats\" }", "sandbox = \"strict\"");
  for (const std::string flag : {"--sandbox=none", "--sandbox=basic", "--sandbox=strict"}) {
    const Outcome outcome = gosRun(bound, commands()[0], {flag, "--sandbox-explain"}, bound.how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_MESSAGE(has(outcome.out, "strict"), outcome.out);
    CHECK_FALSE(has(outcome.err, "GJ0041"));
  }
}

} // namespace gos::cases
