// Runs the goldens of this directory, or rewrites what they expect.
//
//   golden_runner --gos PATH --root DIR [--source DIR] [--build DIR] [--exact NAME] [--filter TEXT]
//   [--update [FILTER]]
//
// A golden is `<stage>/<topic>/<case>.gos` whose first line says how it is run:
//
//   // run: gos check --comptime-io=none            the file itself follows as the last argument,
//   // run: gos run {file} -- one two               unless `{file}` or `{dir}` stands somewhere
//   // run: gos help check {}                       `{}` is no word: the command takes no file
//
// `<case>.expect` beside it holds `[exit]`, `[stdout]` and `[stderr]`; a section that is empty is
// left out. Paths of this machine are masked as `{dir}`, `{goldens}`, `{build}`, `{source}`. A name
// starts with `fail_` exactly when a diagnostic error is expected. A crash or a time-out is never
// written down.

#include "tests/support/child_process.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace fs = std::filesystem;
using namespace gos::test;

namespace {

struct Options {
  std::string gos;
  fs::path root;
  fs::path source;
  fs::path build;
  std::string exact;
  std::string filter;
  bool update = false;
};

struct Sections {
  int exitCode = 0;
  std::string out;
  std::string err;
};

constexpr const char* kRunMark = "// run: ";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty())
    return text;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// "(1 assertions, 12ms)", "(12ms)": how long a test took is not compared.
std::string timeless(std::string text) {
  for (size_t at = 0; (at = text.find("ms)", at)) != std::string::npos;) {
    size_t from = at;
    while (from > 0 && std::isdigit(static_cast<unsigned char>(text[from - 1])))
      --from;
    if (from < at && from > 0 && (text[from - 1] == '(' || text[from - 1] == ' ')) {
      text.replace(from, at - from, "{n}");
      at = from + 3;
    }
    at += 3;
  }
  return text;
}

/// Names this machine's directories by what they mean; the longest first.
std::string masked(std::string text, const Options& options, const fs::path& file) {
  text = replaced(timeless(std::move(text)), file.parent_path().string(), "{dir}");
  text = replaced(text, options.build.string(), "{build}");
  text = replaced(text, options.root.string(), "{goldens}");
  return replaced(text, options.source.string(), "{source}");
}

std::string render(const Sections& sections) {
  std::string text = "[exit]\n" + std::to_string(sections.exitCode) + "\n";
  const auto section = [&](const char* name, const std::string& body) {
    if (body.empty())
      return;
    text += std::string("[") + name + "]\n" + body;
    if (body.back() != '\n')
      text += "\n\\ no newline at the end\n";
  };
  section("stdout", sections.out);
  section("stderr", sections.err);
  return text;
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  size_t start = 0;
  while ((start = line.find_first_not_of(' ', start)) != std::string::npos) {
    const size_t end = std::min(line.find(' ', start), line.size());
    result.push_back(line.substr(start, end - start));
    start = end;
  }
  return result;
}

/// The command of the first line, or nothing if that line is not one.
std::vector<std::string> commandOf(const std::string& source, const Options& options,
                                   const fs::path& file) {
  const std::vector<std::string> lines = splitLines(source);
  if (lines.empty() || lines[0].rfind(kRunMark, 0) != 0)
    return {};
  std::vector<std::string> command = words(lines[0].substr(std::string(kRunMark).size()));
  if (command.empty() || command[0] != "gos")
    return {};
  bool named = std::erase(command, "{}") != 0;
  for (std::string& word : command) {
    named |= word.find("{file}") != std::string::npos || word.find("{dir}") != std::string::npos;
    word = replaced(word, "{file}", file.filename().string());
    word = replaced(word, "{dir}", file.parent_path().string());
  }
  command[0] = options.gos;
  if (!named)
    command.push_back(file.filename().string());
  return command;
}

/// True when the golden holds; says on stdout why not.
bool runCase(const Options& options, const std::string& name, const fs::path& file) {
  std::string source;
  if (!readFile(file.string(), source)) {
    std::printf("FAIL %s\n  cannot be read\n", name.c_str());
    return false;
  }
  ChildRequest request;
  request.arguments = commandOf(source, options, file);
  if (request.arguments.empty()) {
    std::printf("FAIL %s\n  the first line is not `// run: gos ...`\n", name.c_str());
    return false;
  }
  request.directory = file.parent_path().string();
  const ChildResult result = runChild(request);
  if (result.end != ChildResult::End::Exited) {
    std::printf("FAIL %s\n  %s\n", name.c_str(), describeEnd(result, request).c_str());
    return false;
  }
  const Sections sections = {result.code, masked(result.out, options, file),
                             masked(result.err, options, file)};
  const bool saysError = sections.err.find("error[") != std::string::npos ||
                         sections.err.find("\"severity\":\"error\"") != std::string::npos;
  const bool reportsError = saysError && result.code == 1;
  const bool saysFail = file.filename().string().rfind("fail_", 0) == 0;
  if (reportsError != saysFail) {
    std::printf(
        "FAIL %s\n  a name starts with `fail_` exactly when an error is reported; this one %s\n%s\n",
        name.c_str(), reportsError ? "reports one" : "reports none", sections.err.c_str());
    return false;
  }
  const fs::path expectPath = fs::path(file).replace_extension(".expect");
  const std::string found = render(sections);
  std::string wanted;
  const bool exists = readFile(expectPath.string(), wanted);
  if (exists && wanted == found)
    return true;
  if (!options.update) {
    std::printf("FAIL %s\n%s%s", name.c_str(), exists ? "" : "  there is no .expect file\n",
                lineDiff(wanted, found).c_str());
    return false;
  }
  FILE* expect = std::fopen(expectPath.c_str(), "wbe");
  const bool written =
      expect != nullptr && std::fwrite(found.data(), 1, found.size(), expect) == found.size();
  if (expect != nullptr && std::fclose(expect) == 0 && written) {
    std::printf("%s %s\n", exists ? "rewritten" : "new", name.c_str());
    return true;
  }
  std::printf("FAIL %s\n  %s cannot be written\n", name.c_str(), expectPath.c_str());
  return false;
}

std::map<std::string, fs::path> findCases(const fs::path& root) {
  std::map<std::string, fs::path> cases;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, ignored)) {
    if (entry.path().extension() != ".gos")
      continue;
    // Only <stage>/<topic>/<case>.gos is a case; deeper files belong to one.
    const fs::path relative = entry.path().lexically_relative(root);
    if (std::distance(relative.begin(), relative.end()) == 3)
      cases["golden_" + replaced(fs::path(relative).replace_extension().string(), "/", "_")] =
          entry.path();
  }
  return cases;
}

int usage() {
  std::fprintf(
      stderr,
      "usage: golden_runner --gos PATH --root DIR [--source DIR] [--build DIR] [--exact NAME] "
      "[--filter TEXT] [--update [FILTER]]\n");
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool hasValue = i + 1 < argc && std::string(argv[i + 1]).rfind("--", 0) != 0;
    if (word == "--update") {
      options.update = true;
      if (hasValue)
        options.filter = argv[++i];
      continue;
    }
    if (!hasValue)
      return usage();
    const std::string value = argv[++i];
    if (word == "--gos")
      options.gos = fs::absolute(value).string();
    else if (word == "--root")
      options.root = fs::absolute(value).lexically_normal();
    else if (word == "--source")
      options.source = fs::absolute(value).lexically_normal();
    else if (word == "--build")
      options.build = fs::absolute(value).lexically_normal();
    else if (word == "--exact")
      options.exact = value;
    else if (word == "--filter")
      options.filter = value;
    else
      return usage();
  }
  if (options.gos.empty() || options.root.empty())
    return usage();

  int passed = 0, failed = 0;
  for (const auto& [name, file] : findCases(options.root)) {
    if (!options.exact.empty() ? name != options.exact
                               : name.find(options.filter) == std::string::npos)
      continue;
    (runCase(options, name, file) ? passed : failed)++;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  if (passed + failed == 0) {
    std::fprintf(stderr, "no case matches\n");
    return 1;
  }
  return failed == 0 ? 0 : 1;
}
