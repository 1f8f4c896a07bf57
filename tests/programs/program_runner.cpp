// Runs whole Gossamer programs and compares what they print with what was written down.
//
//   program_runner --gos PATH --root DIR [--exact NAME] [--filter TEXT] [--list] [--built]
//
// With --built nothing is compared with what was written down: each program is run by `gos run`,
// and again as the executable that `gos build` makes of it, and both must print and answer the
// same.
//
// A directory with `expected.txt` is a program (`program_<name>`); a file of `small/` is a small
// program (`small_<name>`) whose expectations stand in it as comments:
//
//   // expect: LINE        one line of standard output, in order; `expect` lines are all of it
//   // error: CODE         at the end of a line: `gos check` reports CODE on this line. `A|B` is
//                          either of two, `GN*` any code of a family; the reports must be exactly
//                          these
//   // panic: TEXT         the program ends with 101 and TEXT is in its message
//   // exit: N             the exit code, 0 if nothing is said
//   // stdin: TEXT         standard input, with \n for a newline
//
// A `t2_` file needs a feature that may not be there yet: a GN diagnostic skips it, counted.

#include "tests/support/child_process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace gos::test;

namespace {

constexpr int kSkipped = 77; // what ctest counts as a skip

struct Options {
  std::string gos;
  std::string root;
  std::string exact;
  std::string filter;
  bool list = false;
  bool built = false;
};

enum class Verdict { Passed, Failed, Skipped };

struct Outcome {
  Verdict verdict = Verdict::Passed;
  std::string report;

  void fail(const std::string& text) {
    verdict = Verdict::Failed;
    report += text;
    if (!text.empty() && text.back() != '\n')
      report += '\n';
  }
};

struct Reported {
  std::string code;
  int line = 0;
};

std::string trimmed(const std::string& text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos)
    return "";
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

std::string quoteOutput(const char* name, const std::string& text) {
  if (text.empty())
    return "";
  std::string shown = std::string(name) + ":\n";
  size_t count = 0;
  for (const std::string& line : splitLines(text)) {
    if (++count > 60) {
      shown += "    ...\n";
      break;
    }
    shown += "    " + line + "\n";
  }
  return shown;
}

/// Errors in a text rendering: `error[CODE]: ..` followed by ` --> file:line:column`.
std::vector<Reported> reportedErrors(const std::string& text) {
  std::vector<Reported> found;
  std::string code;
  for (const std::string& line : splitLines(text)) {
    if (line.rfind("error[", 0) == 0) {
      if (!code.empty())
        found.push_back({code, 0});
      code = line.substr(6, line.find(']') - 6);
    } else if (size_t arrow = line.find("--> "); !code.empty() && arrow != std::string::npos) {
      const size_t column = line.rfind(':');
      const size_t number = column == std::string::npos ? column : line.rfind(':', column - 1);
      found.push_back(
          {code, number == std::string::npos ? 0 : std::atoi(line.c_str() + number + 1)});
      code.clear();
    }
  }
  if (!code.empty())
    found.push_back({code, 0});
  return found;
}

bool codeMatches(const std::string& alternatives, const std::string& code) {
  size_t start = 0;
  while (start <= alternatives.size()) {
    const size_t end = std::min(alternatives.find('|', start), alternatives.size());
    const std::string one = alternatives.substr(start, end - start);
    if (!one.empty() && one.back() == '*' ? code.rfind(one.substr(0, one.size() - 1), 0) == 0
                                          : one == code)
      return true;
    start = end + 1;
  }
  return false;
}

bool namesMissingFeature(const std::string& diagnostics) {
  return diagnostics.find("error[GN") != std::string::npos;
}

// ---- small programs -----------------------------------------------------------------------------

struct SmallCase {
  std::string output;
  bool checksOutput = false;
  std::vector<Reported> errors;
  bool panics = false;
  std::string panicText;
  int exitCode = 0;
  std::string input;
};

std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == '\\'))
      out += text[++i] == 'n' ? '\n' : '\\';
    else
      out += text[i];
  }
  return out;
}

SmallCase readSmallCase(const std::string& source) {
  SmallCase expected;
  int number = 0;
  for (const std::string& line : splitLines(source)) {
    ++number;
    const auto after = [&](const char* mark, std::string& rest) {
      const std::string head = std::string("// ") + mark + ":";
      if (line.rfind(head, 0) != 0)
        return false;
      rest = line.size() > head.size() + 1 ? line.substr(head.size() + 1) : "";
      return true;
    };
    std::string rest;
    if (after("expect", rest)) {
      expected.output += rest + "\n";
      expected.checksOutput = true;
    } else if (after("panic", rest)) {
      expected.panics = true;
      expected.panicText = trimmed(rest);
      expected.exitCode = 101;
    } else if (after("exit", rest)) {
      expected.exitCode = std::atoi(rest.c_str());
    } else if (after("stdin", rest)) {
      expected.input = unescaped(rest);
    } else if (size_t at = line.find("// error: "); at != std::string::npos && at > 0) {
      expected.errors.push_back({trimmed(line.substr(at + 10)), number});
    }
  }
  return expected;
}

void compareErrors(const SmallCase& expected, const ChildResult& result, Outcome& outcome) {
  std::vector<Reported> found = reportedErrors(result.err);
  for (const Reported& wanted : expected.errors) {
    const auto match = std::find_if(found.begin(), found.end(), [&](const Reported& one) {
      return one.line == wanted.line && codeMatches(wanted.code, one.code);
    });
    if (match == found.end())
      outcome.fail("line " + std::to_string(wanted.line) + ": expected " + wanted.code +
                   ", not reported");
    else
      found.erase(match);
  }
  for (const Reported& extra : found)
    outcome.fail("line " + std::to_string(extra.line) + ": unexpected " + extra.code);
}

Outcome runSmall(const Options& options, const fs::path& file) {
  Outcome outcome;
  std::string source;
  if (!readFile(file.string(), source)) {
    outcome.fail("cannot be read");
    return outcome;
  }
  const SmallCase expected = readSmallCase(source);
  if (!expected.checksOutput && expected.errors.empty() && !expected.panics)
    outcome.fail("the file expects nothing: it needs an `expect`, `error` or `panic` comment");
  const bool checks = !expected.errors.empty();
  ChildRequest request;
  request.arguments = {options.gos, checks ? "check" : "run", file.string()};
  request.directory = file.parent_path().string();
  request.input = expected.input;
  const ChildResult result = runChild(request);

  const bool mayBeMissing = file.filename().string().rfind("t2_", 0) == 0;
  if (mayBeMissing && result.exitedWith(1) && namesMissingFeature(result.err)) {
    outcome.verdict = Verdict::Skipped;
    outcome.report = quoteOutput("not there yet", result.err);
    return outcome;
  }
  const int wantedCode = checks ? 1 : expected.exitCode;
  if (!result.exitedWith(wantedCode))
    outcome.fail(describeEnd(result, request) + " instead of exit code " +
                 std::to_string(wantedCode));
  if (checks)
    compareErrors(expected, result, outcome);
  else if (expected.checksOutput && result.out != expected.output)
    outcome.fail("stdout, wanted `-`, found `+`:\n" + lineDiff(expected.output, result.out));
  if (expected.panics && result.err.find(expected.panicText) == std::string::npos)
    outcome.fail("the message does not say `" + expected.panicText + "`");
  if (outcome.verdict == Verdict::Failed)
    outcome.report += quoteOutput("stderr", result.err);
  return outcome;
}

// ---- programs -----------------------------------------------------------------------------------

/// What to hand to `gos`: the project, the application of a pair, or the lone file.
fs::path entryOf(const fs::path& directory) {
  if (fs::exists(directory / "project.toml"))
    return directory;
  if (fs::exists(directory / "app" / "project.toml"))
    return directory / "app";
  return directory / "main.gos";
}

/// A file that a refused program would have made: its existence is the proof that it was let
/// through.
bool leftCanary(const fs::path& directory) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, ignored))
    if (entry.path().filename() == "canary.txt")
      return true;
  return false;
}

/// The words of a line of shell without quotes.
std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (size_t start = 0; (start = text.find_first_not_of(" \n", start)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \n", start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end;
  }
  return words;
}

void compareStreams(const char* name, const std::string& run, const std::string& built,
                    Outcome& outcome) {
  if (run != built)
    outcome.fail(std::string(name) + " of `gos run` `-` and of the executable `+`:\n" +
                 lineDiff(run, built));
}

/// Runs a case both ways. A name of the program's own would differ: both are started from the
/// directory of the source, and the executable stands elsewhere.
Outcome runBothWays(const Options& options, const fs::path& path) {
  Outcome outcome;
  char scratch[] = "/tmp/gos-built-XXXXXX";
  if (!::mkdtemp(scratch)) {
    outcome.fail("no directory for the executable");
    return outcome;
  }
  const std::string executable = std::string(scratch) + "/program";
  std::string text;
  ChildRequest run, build, built;
  std::string entry;
  std::vector<std::string> command = {"run"};
  if (fs::is_directory(path)) {
    const fs::path start = entryOf(path);
    run.directory = (fs::is_directory(start) ? start : start.parent_path()).string();
    entry = fs::is_directory(start) ? "." : start.filename().string();
    if (readFile((path / "command").string(), text))
      command = wordsOf(text);
    readFile((path / "stdin.txt").string(), run.input);
  } else {
    readFile(path.string(), text);
    run.input = readSmallCase(text).input;
    run.directory = path.parent_path().string();
    entry = path.filename().string();
  }
  run.arguments = {options.gos};
  run.arguments.insert(run.arguments.end(), command.begin(), command.end());
  build.arguments = run.arguments;
  build.arguments[1] = "build"; // of `run`, or of `check` where the program is refused
  build.arguments.insert(build.arguments.end(), {"--quiet", "-o", executable, entry});
  run.arguments.push_back(entry);
  built.arguments = {executable};
  if (fs::is_directory(path) && readFile((path / "args").string(), text)) {
    run.arguments.push_back("--");
    for (const std::string& line : splitLines(text)) {
      run.arguments.push_back(line);
      built.arguments.push_back(line);
    }
  }
  build.directory = built.directory = run.directory;
  built.input = run.input;

  const ChildResult wanted = runChild(run);
  const ChildResult compiled = runChild(build);
  if (!compiled.exitedWith(0)) {
    // What does not compile says so in the same words, and leaves no file.
    if (!wanted.exitedWith(1) || !compiled.exitedWith(1))
      outcome.fail("`gos build`: " + describeEnd(compiled, build) +
                   ", `gos run`: " + describeEnd(wanted, run));
    compareStreams("stderr", wanted.err, compiled.err, outcome);
    if (fs::exists(executable))
      outcome.fail("a build that failed left a file");
    if (fs::is_directory(path) && leftCanary(path))
      outcome.fail("a region made `canary.txt`: it was not refused");
  } else {
    const ChildResult found = runChild(built);
    if (wanted.end != found.end || wanted.code != found.code)
      outcome.fail("`gos run`: " + describeEnd(wanted, run) +
                   ", the executable: " + describeEnd(found, built));
    compareStreams("stdout", wanted.out, found.out, outcome);
    // Warnings and the output of regions are told by `gos build`, before the program runs.
    compareStreams("stderr", wanted.err, compiled.err + found.err, outcome);
  }
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  return outcome;
}

Outcome runProgram(const Options& options, const fs::path& directory) {
  Outcome outcome;
  if (leftCanary(directory))
    outcome.fail("there is a `canary.txt` before the run: remove it");
  std::string expected, text;
  readFile((directory / "expected.txt").string(), expected);
  ChildRequest request;
  const std::string command = readFile((directory / "command").string(), text) ? text : "run";
  request.arguments = {options.gos};
  for (const std::string& word : wordsOf(command))
    request.arguments.push_back(word);
  request.arguments.push_back(entryOf(directory).string());
  if (readFile((directory / "args").string(), text)) {
    request.arguments.push_back("--");
    for (const std::string& line : splitLines(text))
      request.arguments.push_back(line);
  }
  request.directory = directory.string();
  readFile((directory / "stdin.txt").string(), request.input);
  const ChildResult result = runChild(request);

  const int wantedCode =
      readFile((directory / "exit_code").string(), text) ? std::atoi(text.c_str()) : 0;
  if (!result.exitedWith(wantedCode))
    outcome.fail(describeEnd(result, request) + " instead of exit code " +
                 std::to_string(wantedCode));
  if (leftCanary(directory))
    outcome.fail("the program made `canary.txt`: it was not refused");
  if (const std::string difference = lineDiff(expected, result.out); !difference.empty())
    outcome.fail("stdout, wanted `-`, found `+`:\n" + difference);
  if (readFile((directory / "expected_stderr.txt").string(), text)) {
    for (const std::string& line : splitLines(text))
      if (result.err.find(line) == std::string::npos)
        outcome.fail("stderr does not say `" + line + "`");
  } else if (!result.err.empty() && outcome.verdict == Verdict::Passed && wantedCode == 0) {
    outcome.fail("stderr is not empty");
  }
  if (outcome.verdict == Verdict::Failed)
    outcome.report += quoteOutput("stderr", result.err);
  return outcome;
}

/// Every case under the root, by name: directories with `expected.txt`, files of `small/`.
std::map<std::string, fs::path> findCases(const fs::path& root, const std::string& prefix) {
  std::map<std::string, fs::path> cases;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, ignored))
    if (entry.is_directory() && fs::exists(entry.path() / "expected.txt"))
      cases[prefix + entry.path().filename().string()] = entry.path();
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "small", ignored))
    if (entry.path().extension() == ".gos")
      cases["small_" + entry.path().stem().string()] = entry.path();
  return cases;
}

int usage() {
  std::fprintf(stderr, "usage: program_runner --gos PATH --root DIR [--prefix P] [--exact NAME] "
                       "[--filter TEXT] [--list] [--built]\n");
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  std::string prefix = "program_";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list") {
      options.list = true;
      continue;
    }
    if (word == "--built") {
      options.built = true;
      continue;
    }
    if (i + 1 >= argc)
      return usage();
    const std::string value = argv[++i];
    if (word == "--gos")
      options.gos = fs::absolute(value).string();
    else if (word == "--root")
      options.root = fs::absolute(value).string();
    else if (word == "--prefix")
      prefix = value;
    else if (word == "--exact")
      options.exact = value;
    else if (word == "--filter")
      options.filter = value;
    else
      return usage();
  }
  if (options.root.empty() || (options.gos.empty() && !options.list))
    return usage();

  int passed = 0, failed = 0, skipped = 0;
  for (const auto& [name, path] : findCases(options.root, prefix)) {
    if (!options.exact.empty() ? name != options.exact
                               : name.find(options.filter) == std::string::npos)
      continue;
    if (options.list) {
      std::printf("%s\n", name.c_str());
      continue;
    }
    const Outcome outcome = options.built            ? runBothWays(options, path)
                            : fs::is_directory(path) ? runProgram(options, path)
                                                     : runSmall(options, path);
    const char* word = outcome.verdict == Verdict::Passed   ? "ok  "
                       : outcome.verdict == Verdict::Failed ? "FAIL"
                                                            : "skip";
    (outcome.verdict == Verdict::Passed   ? passed
     : outcome.verdict == Verdict::Failed ? failed
                                          : skipped)++;
    std::printf("%s %s\n", word, name.c_str());
    for (const std::string& line : splitLines(outcome.report))
      std::printf("  %s\n", line.c_str());
    std::fflush(stdout);
  }
  if (options.list)
    return 0;
  std::printf("%d passed, %d failed", passed, failed);
  if (skipped > 0)
    std::printf(", %d skipped", skipped);
  std::printf("\n");
  if (passed + failed + skipped == 0) {
    std::fprintf(stderr, "no case matches\n");
    return 1;
  }
  if (failed > 0)
    return 1;
  return passed == 0 ? kSkipped : 0;
}
