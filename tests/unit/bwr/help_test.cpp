#include "sandbox/bwr/help.h"

#include "sandbox/bwr/profile_set.h"
#include "tests/unit/bwr/golden.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::bwr {
namespace {

template <class Print> std::string printed(Print print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out);
  return out.str();
}

TEST_CASE("the help is as it is written down") {
  test::checkGolden("help.txt", printed([](auto& out) { printHelp(out); }));
}

TEST_CASE("the help fits a terminal, and names every option") {
  const std::string help = printed([](auto& out) { printHelp(out); });
  for (llvm::StringRef line : llvm::split(llvm::StringRef(help), '\n'))
    CHECK_MESSAGE(line.size() <= 100, line.str());
  for (const OptionRow& row : optionRows())
    CHECK_MESSAGE(llvm::StringRef(help).contains("  " + usageOf(row)), row.spelling.str());
}

TEST_CASE("the manual page is troff in which no line is a request by accident") {
  const std::string page = printed([](auto& out) { printManPage(out); });
  CHECK(llvm::StringRef(page).starts_with(".TH BWR 1"));
  static constexpr llvm::StringRef kRequests[] = {".TH", ".SH", ".SS", ".TP", ".PP", ".B "};
  for (llvm::StringRef line : llvm::split(llvm::StringRef(page), '\n')) {
    const bool request = line.starts_with(".") || line.starts_with("'");
    bool known = false;
    for (llvm::StringRef each : kRequests)
      known |= line.starts_with(each);
    CHECK_MESSAGE((!request || known), line.str());
  }
  for (const OptionRow& row : optionRows()) {
    std::string spelling;
    for (char c : row.spelling)
      spelling += c == '-' ? "\\-" : std::string(1, c);
    CHECK_MESSAGE(llvm::StringRef(page).contains("\\fB" + spelling + "\\fR"), row.spelling.str());
  }
}

TEST_CASE("each shell is offered every option and every word of a closed set") {
  for (Shell shell : {Shell::Bash, Shell::Zsh, Shell::Fish}) {
    const std::string script = printed([&](auto& out) { printCompletions(out, shell); });
    for (const OptionRow& row : optionRows()) {
      const llvm::StringRef name = shell == Shell::Fish ? row.spelling.drop_front(2) : row.spelling;
      CHECK_MESSAGE(llvm::StringRef(script).contains(name), row.spelling.str());
      for (llvm::StringRef word : closedSet(row.complete))
        CHECK_MESSAGE(llvm::StringRef(script).contains(word), word.str());
    }
  }
}

TEST_CASE("the completions of bash are a script that bash reads") {
  const std::string script = printed([&](auto& out) { printCompletions(out, Shell::Bash); });
  char name[] = "/tmp/bwr-completion-XXXXXX";
  const int fd = ::mkstemp(name);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, script.data(), script.size()) == ssize_t(script.size()));
  ::close(fd);
  if (std::system("command -v bash >/dev/null 2>&1") == 0)
    CHECK(std::system((std::string("bash -n ") + name).c_str()) == 0);
  else
    MESSAGE("skipped: there is no bash");
  ::unlink(name);
}

TEST_CASE("the list of profiles is as it is written down") {
  std::string text;
  for (const ProfileSet::Listed& each : ProfileSet("").list())
    text += each.name + ": " + each.summary + "\n";
  test::checkGolden("list_profiles.txt", text);
}

} // namespace
} // namespace gos::bwr
