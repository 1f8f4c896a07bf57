#include "tests/sandbox/harness.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <iostream>
#include <poll.h>
#include <pwd.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

extern char** environ;

namespace gos::cases {

namespace {

struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::string login = "root";
};

/// An account of this host that is nobody special; tests run by root use it as "an ordinary user".
Identity ordinary() {
  if (::geteuid() != 0) {
    const passwd* entry = ::getpwuid(::geteuid());
    return {::geteuid(), ::getegid(), entry != nullptr ? entry->pw_name : "user"};
  }
  for (const char* account : {"games", "daemon", "man"})
    if (const passwd* entry = ::getpwnam(account))
      return {entry->pw_uid, entry->pw_gid, entry->pw_name};
  return {4242, 4242, "4242"};
}
Identity identityOf(As who) {
  return who == As::Root ? Identity{} : ordinary();
}

/// Its name, of letters that make no word and none with a digit, is nothing that a case looks for
/// in what was said.
std::string makeTemporary(const char* base) {
  constexpr char kLetters[] = "bcdfghjlmnpqrstv";
  std::string path;
  do {
    unsigned char random[10];
    if (::getrandom(random, sizeof random, 0) != ssize_t(sizeof random))
      std::abort();
    path = std::string(base) + "/gosbox-";
    for (unsigned char each : random)
      path += kLetters[each % 16];
  } while (::mkdir(path.c_str(), 0700) != 0 && errno == EEXIST);
  if (::chmod(path.c_str(), 0755) != 0)
    std::abort();
  return std::filesystem::canonical(path).string();
}

void copyExecutable(const std::string& from, const std::string& to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  ::chmod(to.c_str(), 0755);
}

/// Removed when the test program ends.
struct Tools {
  std::string directory = makeTemporary("/var/tmp");
  std::string bwr = directory + "/bwr", probe = directory + "/probe";
  Tools() {
    copyExecutable(GOS_BWR, bwr);
    copyExecutable(GOS_PROBE, probe);
  }
  ~Tools() {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
};
const Tools& tools() {
  static const Tools made;
  return made;
}

void become(const Identity& who) {
  if (::geteuid() != 0 || who.user == 0)
    return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(who.group, who.group, who.group) != 0 ||
      ::setresuid(who.user, who.user, who.user) != 0)
    ::_exit(125);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

std::vector<As> identities() {
  if (::geteuid() == 0)
    return {As::Root, As::User};
  return {As::User};
}
const char* name(As who) {
  return who == As::Root ? "root" : "user";
}
const std::string& bwrPath() {
  return tools().bwr;
}
const std::string& probePath() {
  return tools().probe;
}

bool installed(const std::string& program) {
  const char* path = ::getenv("PATH");
  for (llvm::StringRef folder :
       llvm::split(llvm::StringRef(path != nullptr ? path : "/usr/bin:/bin"), ':'))
    if (::access((folder.str() + "/" + program).c_str(), X_OK) == 0)
      return true;
  return false;
}

void skip(const std::string& what, const std::string& reason) {
  std::cout << "SKIP " << what << ": " << reason << "\n";
  const char* set = ::getenv("GOS_REQUIRE_SANDBOX");
  const std::string required = set != nullptr ? set : "";
  const auto holds = [&](const char* part) { return reason.find(part) != std::string::npos; };
  const bool isOfTheHost =
      !holds("not installed") && !holds("this kernel") && !holds("this file system");
  if (required == "1" || (required == "host" && isOfTheHost))
    FAIL("a skip where none is allowed: " << what << ": " << reason);
}

std::vector<int> processesWith(const std::string& text) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    int id = 0;
    if (llvm::StringRef(entry.path().filename().string()).getAsInteger(10, id) || id == ::getpid())
      continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::stringstream line;
    line << file.rdbuf();
    std::string words = line.str();
    std::replace(words.begin(), words.end(), '\0', ' ');
    if (words.find(text) != std::string::npos)
      found.push_back(id);
  }
  return found;
}

Room::Room(As who) : who_(who), top_(makeTemporary("/var/tmp")) {
  const Identity owner = identityOf(who);
  (void)::chown(top_.c_str(), owner.user, owner.group);
  project_ = top_ + "/p";
  home_ = top_ + "/home";
  for (const std::string& made : {project_, home_})
    makeDirectory(made);
}

Room::~Room() {
  // Whatever a case left, also directories without permissions.
  std::error_code ignored;
  for (auto entry = std::filesystem::recursive_directory_iterator(
           top_, std::filesystem::directory_options::skip_permission_denied, ignored);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored)) {
    if (ignored)
      break;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
      ::chmod(entry->path().c_str(), 0700);
  }
  std::filesystem::remove_all(top_, ignored);
}

std::string Room::path(const std::string& relative) const {
  return relative.empty() || relative[0] == '/' ? relative : project_ + "/" + relative;
}

void Room::write(const std::string& relative, llvm::StringRef text, unsigned mode) const {
  const std::string where = path(relative);
  std::ofstream(where, std::ios::binary).write(text.data(), std::streamsize(text.size()));
  const Identity owner = identityOf(who_);
  (void)::chown(where.c_str(), owner.user, owner.group);
  ::chmod(where.c_str(), mode);
}
void Room::makeDirectory(const std::string& relative) const {
  const std::string where = path(relative);
  const Identity owner = identityOf(who_);
  std::string made;
  for (llvm::StringRef component : llvm::split(llvm::StringRef(where), '/')) {
    if (component.empty())
      continue;
    made += "/" + component.str();
    if (::mkdir(made.c_str(), 0755) == 0)
      (void)::chown(made.c_str(), owner.user, owner.group);
  }
}
void Room::link(const std::string& target, const std::string& relative) const {
  const Identity owner = identityOf(who_);
  (void)::symlink(target.c_str(), path(relative).c_str());
  (void)::lchown(path(relative).c_str(), owner.user, owner.group);
}
std::string Room::read(const std::string& relative) const {
  std::ifstream file(path(relative), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
bool Room::exists(const std::string& relative) const {
  struct stat status{};
  return ::lstat(path(relative).c_str(), &status) == 0;
}

Outcome Room::plain(const std::vector<std::string>& command, const How& how) const {
  const Identity who = identityOf(who_);
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    auto [key, value] = llvm::StringRef(*entry).split('=');
    environment[key.str()] = value.str();
  }
  environment["HOME"] = home_;
  environment["USER"] = environment["LOGNAME"] = who.login;
  for (const char* gone :
       {"TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MAKEFLAGS", "MFLAGS"})
    environment.erase(gone);
  for (const auto& [key, value] : how.set)
    environment[key] = value;
  for (const std::string& gone : how.unset)
    environment.erase(gone);
  std::vector<std::string> entries;
  for (const auto& [key, value] : environment)
    entries.push_back(key + "=" + value);
  std::vector<char*> argv, envp;
  for (const std::string& word : command)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  for (const std::string& entry : entries)
    envp.push_back(const_cast<char*>(entry.c_str()));
  envp.push_back(nullptr);

  int in[2] = {-1, -1}, out[2], err[2];
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
  int master = -1;
  std::string slave;
  if (how.terminal) {
    master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(master >= 0);
    ::grantpt(master);
    ::unlockpt(master);
    slave = ::ptsname(master);
    (void)::chown(slave.c_str(), who.user, who.group);
  } else if (!how.closedInput && !how.input.empty()) {
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  }
  // Streams are the caller's own: reopening them by name asks for their owner.
  for (int fd : {in[0], out[1], err[1]})
    if (fd >= 0)
      (void)::fchown(fd, who.user, who.group);
  const std::string directory = how.directory.empty() ? project_ : path(how.directory);
  const double begin = now();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (how.terminal) {
      ::setsid();
      const int terminal = ::open(slave.c_str(), O_RDWR);
      ::ioctl(terminal, TIOCSCTTY, 0);
      for (int stream = 0; stream != 3; ++stream)
        ::dup2(terminal, stream);
      if (terminal > 2)
        ::close(terminal);
    } else {
      ::setpgid(0, 0);
      const int input = in[0] >= 0 ? in[0] : ::open("/dev/null", O_RDONLY);
      ::dup2(input, 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      if (how.closedInput)
        ::close(0);
    }
    for (const auto& [number, file] : how.open) {
      const int fd = ::open(file.c_str(), O_RDONLY);
      ::dup2(fd, number);
      if (fd != number)
        ::close(fd);
    }
    become(who);
    if (::chdir(directory.c_str()) != 0)
      ::_exit(124);
    ::signal(SIGPIPE, SIG_DFL);
    environ = envp.data(); // the search is along its PATH
    ::execvp(argv[0], argv.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  ::close(out[1]);
  ::close(err[1]);
  if (in[0] >= 0)
    ::close(in[0]);
  if (master >= 0) {
    // What the program on the terminal is given to read; its end is ^D.
    (void)!::write(master, how.input.data(), how.input.size());
  }

  Outcome outcome;
  size_t written = 0;
  if (in[1] >= 0)
    ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  bool open[2] = {true, !how.terminal};
  int reading[2] = {how.terminal ? master : out[0], err[0]};
  bool reaped = false;
  int status = 0;
  while (open[0] || open[1] || !reaped) {
    if (!reaped && ::waitpid(child, &status, WNOHANG) == child)
      reaped = true;
    if (reaped && how.terminal)
      open[0] = open[0] && now() - begin < how.limit; // drained below until EIO
    if (now() - begin > how.limit) {
      outcome.timedOut = true;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    pollfd watched[3] = {{open[0] ? reading[0] : -1, POLLIN, 0},
                         {open[1] ? reading[1] : -1, POLLIN, 0},
                         {in[1], POLLOUT, 0}};
    ::poll(watched, 3, reaped ? 50 : 20);
    char buffer[65536];
    for (int stream = 0; stream != 2; ++stream) {
      if (!open[stream] || watched[stream].revents == 0)
        continue;
      const ssize_t got = ::read(reading[stream], buffer, sizeof buffer);
      if (got > 0)
        (stream == 0 ? outcome.out : outcome.err).append(buffer, size_t(got));
      else
        open[stream] = false;
    }
    if (in[1] >= 0 && watched[2].revents != 0) {
      const ssize_t put = ::write(in[1], how.input.data() + written, how.input.size() - written);
      if (put > 0)
        written += size_t(put);
      if (written == how.input.size() || (put < 0 && errno != EAGAIN)) {
        ::close(in[1]);
        in[1] = -1;
      }
    }
  }
  outcome.seconds = now() - begin;
  for (int fd : {out[0], err[0], in[1], master})
    if (fd >= 0)
      ::close(fd);
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
#ifdef GOS_SANITIZED
  // What the sanitizer's run-time part and a dynamic loader say of themselves; a release bwr has
  // neither.
  std::string kept;
  llvm::StringRef rest = outcome.err;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const llvm::StringRef line = rest.substr(0, end == llvm::StringRef::npos ? end : end + 1);
    rest = rest.drop_front(line.size());
    if (!line.starts_with("ERROR: ld.so:") && !line.contains("WARNING: ASan is ignoring") &&
        !line.starts_with("False positive error reports may follow") &&
        !line.starts_with("For details see http"))
      kept += line.str();
  }
  outcome.err = kept;
#endif
  CHECK_MESSAGE(!outcome.timedOut, "timed out: " << command[0]);
  return outcome;
}

Outcome Room::shell(const std::string& script, const How& how) const {
  return plain({"/bin/sh", "-c", script}, how);
}
Outcome Room::bwrRaw(const std::vector<std::string>& words, const How& how) const {
  std::vector<std::string> command = {bwrPath()};
  command.insert(command.end(), words.begin(), words.end());
  return plain(command, how);
}
Outcome Room::bwr(const std::string& level, const std::vector<std::string>& flags,
                  const std::vector<std::string>& command, const How& how) const {
  std::vector<std::string> words = {"--level", level};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return bwrRaw(words, how);
}
Outcome Room::bwrShell(const std::string& level, const std::vector<std::string>& flags,
                       const std::string& script, const How& how) const {
  return bwr(level, flags, {"/bin/sh", "-c", script}, how);
}

} // namespace gos::cases
