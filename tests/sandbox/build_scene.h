#pragma once
// The scene of the build cases: the crate that attacks, what it attacks, and how its verdicts are
// read. Included by one file of a test program.

#include "tests/sandbox/harness.h"
#include "tests/support/leftovers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::cases {

namespace files = std::filesystem;

const std::string kCargo = "/usr/bin/cargo", kCompiler = "/usr/bin/rustc";
const char* const kParts[] = {"build", "macro", "linker"};

/// Cargo of the system: one of rustup lies in a home directory that an ordinary user cannot read.
inline bool missesCargo(const char* what) {
  for (const std::string& program : {kCargo, kCompiler})
    if (::access(program.c_str(), X_OK) != 0) {
      skip(what, "`" + program + "` is not installed (cargo-web, or cargo and rustc)");
      return true;
    }
  if (installed("cc"))
    return false;
  skip(what, "`cc` is not installed");
  return true;
}

inline std::string hexOf(uint64_t number) {
  return llvm::utohexstr(number, /*LowerCase=*/true);
}
inline std::string randomName(const char* prefix) {
  uint64_t random = 0;
  REQUIRE(::getrandom(&random, sizeof random, 0) == ssize_t(sizeof random));
  return prefix + hexOf(random);
}
/// A number of seconds that only this test sleeps.
inline std::string uniqueSeconds(int which) {
  return std::to_string(2000000 + ::getpid()) + "." + std::to_string(which);
}

// ---- the package
// -----------------------------------------------------------------------------------

/// Copies a tree of sources into the project, owned by whom the case runs as.
inline void copyInto(const Room& room, const std::string& from) {
  for (const auto& entry : files::recursive_directory_iterator(from)) {
    const std::string name = files::relative(entry.path(), from).string();
    if (entry.is_directory()) {
      room.makeDirectory(name);
      continue;
    }
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    std::string source = text.str();
    for (size_t at; (at = source.find("@HOME@")) != std::string::npos;)
      source.replace(at, 6, room.home());
    room.write(name, source);
  }
}

/// What is in the way of the system's cargo: rustup, an outer cargo, and the PATH of who builds.
inline void cleanEnvironment(How& how) {
  how.set["PATH"] = "/usr/bin:/bin";
  for (const char* gone :
       {"CARGO", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTC",
        "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"})
    how.unset.push_back(gone);
}

inline const std::vector<std::string>& cargoBuild() {
  static const std::vector<std::string> words = {kCargo, "build", "--offline", "--locked"};
  return words;
}

// ---- acts
// ------------------------------------------------------------------------------------------

struct Act {
  std::string number; // of the catalogue
  std::vector<std::string> words;
  std::vector<int> errors; // what it may be refused with at standard and strict; none: it works
  bool atBasic = false;    // and at basic
  /// Outside it has to work; Perhaps: unless this host refuses it by itself; Never: not tried
  /// there.
  enum class Outside { Works, Perhaps, Never } outside = Outside::Works;
};

const std::vector<int> kAbsent = {ENOENT};
/// A hole: an object that nobody can open, or nothing at all.
const std::vector<int> kClosed = {ENOENT, EACCES};
/// Nothing can be made in a directory that only leads to a grant.
const std::vector<int> kNothingMade = {ENOENT, EROFS};
const std::vector<int> kReadOnly = {EROFS};

inline std::string words(int result) {
  if (result == 0)
    return "worked";
  const char* errorName = result > 0 ? ::strerrorname_np(result) : nullptr;
  return errorName != nullptr ? errorName : "not tried";
}

struct Said {
  int result = -1;
  std::string text;
};
using Report = std::map<std::pair<std::string, size_t>, Said>;

class Scene {
public:
  explicit Scene(const Room& room) : room_(room), token_(randomName("token-")) {
    makeHomeDirectory();
    copyInto(room, std::string(GOS_SOURCE_DIR) + "/tests/sandbox/probe_crate");
    room.makeDirectory("target");
    makeHome();
    makeProject();
    makeDaemons();
    makeShared();
    how_.set["CARGO_REGISTRY_TOKEN"] = how_.set["AWS_SECRET_ACCESS_KEY"] =
        how_.set["GITHUB_TOKEN"] = how_.set["NPM_TOKEN"] = how_.set["CARGO_REGISTRIES_CORP_TOKEN"] =
            token_;
    how_.set["GITHUB_WORKSPACE"] = room.top();
    how_.set["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + runtime() + "/bus";
    how_.set["SSH_AUTH_SOCK"] = room.top() + "/agent/sock";
    how_.set["DOCKER_HOST"] = "unix://" + room.top() + "/agent/docker";
    how_.set["XDG_RUNTIME_DIR"] = runtime();
    how_.open = {{9, home_}, {10, home_ + "/.bashrc"}, {300, home_ + "/.ssh"}};
    how_.set["HOME"] = home_;
    cleanEnvironment(how_);
    compileLinker();
  }
  ~Scene() {
    for (int fd : sockets_)
      ::close(fd);
    for (const std::string& path : made_)
      ::unlink(path.c_str());
    for (auto path = madeDirectories_.rbegin(); path != madeDirectories_.rend(); ++path)
      ::rmdir(path->c_str());
    if (segment_ >= 0)
      ::shmctl(segment_, IPC_RMID, nullptr);
    if (queue_ >= 0)
      ::msgctl(queue_, IPC_RMID, nullptr);
    if (helper_ > 0)
      ::kill(helper_, SIGKILL);
    std::error_code ignored;
    if (home_ != room_.home())
      files::remove_all(home_, ignored);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Outside of every private temp, where that can be made: in one, what is not there can be
  /// created.
  const std::string& home() const { return home_; }
  bool homeInTemp() const { return home_ == room_.home(); }
  const std::string& token() const { return token_; }
  std::string runtime() const { return room_.top() + "/run"; }
  const std::vector<std::string>& daemons() const { return daemons_; }
  const std::vector<std::string>& credentials() const { return credentials_; }
  const std::string& abstractDaemon() const { return abstract_; }
  uint16_t port() const { return port_; }
  int segmentKey() const { return segment_ >= 0 ? key_ : 0; }
  int queueKey() const { return queue_ >= 0 ? key_ : 0; }
  const std::string& segmentFile() const { return segmentFile_; }
  const std::string& othersTemp() const { return othersTemp_; }
  const std::string& guessedTemp() const { return guessedTemp_; }

  /// A process of the same user, outside; one whose number a build does not reach.
  int helper() {
    if (helper_ == 0) {
      // Its number must be one that is not used inside too, also where few have been given out.
      for (pid_t passed = 0; passed <= 5000;) {
        passed = ::fork();
        REQUIRE(passed >= 0);
        if (passed == 0)
          ::_exit(0);
        ::waitpid(passed, nullptr, 0);
      }
      const Outcome outcome =
          room_.shell("setsid sleep " + uniqueSeconds(999) + " >/dev/null 2>&1 & echo $!");
      helper_ = std::atoi(outcome.out.c_str());
    }
    return helper_;
  }

  /// Everything outside `target`: content, kind, mode, owner and the three times but the last
  /// access's; of the project's own directory no times, since `target` is in it.
  std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> seen;
    addTo(seen, room_.top());
    if (!homeInTemp())
      addTo(seen, home_);
    return seen;
  }
  void addTo(std::map<std::string, std::string>& seen, const std::string& top) const {
    for (auto entry = files::recursive_directory_iterator(top);
         entry != files::recursive_directory_iterator(); ++entry) {
      const std::string path = entry->path().string();
      // What is built, and where bwr itself remembers which levels it has proven.
      if (path == room_.project() + "/target" || path == home_ + "/.cache/bwr") {
        entry.disable_recursion_pending();
        continue;
      }
      struct stat status{};
      REQUIRE(::lstat(path.c_str(), &status) == 0);
      std::string facts =
          hexOf(status.st_mode) + " " + hexOf(status.st_uid) + " " + hexOf(status.st_nlink);
      if (path != room_.project())
        for (const timespec& time : {status.st_mtim, status.st_ctim})
          facts += " " + hexOf(uint64_t(time.tv_sec)) + "." + hexOf(uint64_t(time.tv_nsec));
      if (S_ISREG(status.st_mode))
        facts += " " + room_.read(path);
      seen[path] = facts;
    }
  }

  Report build(const std::vector<Act>& acts, const std::string& level,
               const std::vector<std::string>& flags) {
    std::string list;
    for (size_t id = 0; id != acts.size(); ++id)
      if (level.empty() ? acts[id].outside != Act::Outside::Never : true)
        list += std::to_string(id) + "\t" + llvm::join(acts[id].words, "\t") + "\n";
    room_.write("acts.txt", list);
    before_ = snapshot();
    outcome_ = builder_        ? builder_(level, flags, how_)
               : level.empty() ? room_.plain(cargoBuild(), how_)
                               : room_.bwr(level, flags, cargoBuild(), how_);
    CHECK_MESSAGE(outcome_.code == 0, outcome_.err);
    built_ = outcome_.code == 0;
    return read();
  }
  /// Another way to build than `cargo build` under bwr.
  using Builder = std::function<Outcome(const std::string&, const std::vector<std::string>&, How)>;
  void buildWith(Builder builder) { builder_ = std::move(builder); }
  const Outcome& outcome() const { return outcome_; }
  bool built() const { return built_; }
  bool unchanged() const {
    const auto after = snapshot();
    for (const auto& [path, facts] : before_) {
      const auto found = after.find(path);
      CHECK_MESSAGE(found != after.end(), "gone: " << path);
      if (found != after.end())
        CHECK_MESSAGE(found->second == facts, "changed: " << path);
    }
    for (const auto& [path, facts] : after)
      CHECK_MESSAGE(before_.count(path) == 1, "new: " << path);
    return before_ == after;
  }

private:
  void makeHomeDirectory() {
    home_ = room_.home();
    struct stat status{};
    REQUIRE(::stat(home_.c_str(), &status) == 0);
    for (const char* base : {"/srv", "/home"}) {
      std::string pattern = std::string(base) + "/gosbox-XXXXXX";
      if (::mkdtemp(pattern.data()) == nullptr)
        continue;
      home_ = files::canonical(pattern).string();
      ::chmod(home_.c_str(), 0755);
      (void)::chown(home_.c_str(), status.st_uid, status.st_gid);
      return;
    }
  }

  void makeHome() {
    const std::string& home = home_;
    const auto makeFile = [&](const std::string& name, const std::string& text) {
      room_.makeDirectory(files::path(home + "/" + name).parent_path().string());
      room_.write(home + "/" + name, text, name.find("/bin/") != std::string::npos ? 0755 : 0644);
    };
    for (const char* name :
         {".bashrc", ".profile", ".cargo/bin/ls", ".local/bin/ls", ".gitconfig",
          ".config/autostart/x.desktop", ".cache/sccache/a", ".cache/ccache/a", ".ccache/a",
          ".cache/gossamer/a", ".cargo/registry/src/index/crate/lib.rs",
          ".mozilla/firefox/p.default/logins.json"})
      makeFile(name, std::string(name) == ".gitconfig" ? "[user]\n" : token_ + "\n");
    // Each row of the table, as a file, or as a directory with a file where another row lies in it
    // or the name is that of one.
    std::vector<std::string> rows = {
#define GOS_CREDENTIAL(path) path,
#include "sandbox/policy/credentials.def"
    };
    for (const std::string& row : rows) {
      bool directory = row == ".ssh" || row == ".gnupg" || row == ".aws" ||
                       llvm::StringRef(row).ends_with("/bwr");
      for (const std::string& other : rows)
        directory |= llvm::StringRef(other).starts_with(row + "/");
      struct stat status{};
      directory |= ::stat((home + "/" + row).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      credentials_.push_back(home + "/" + row + (directory ? "/id_rsa" : ""));
      makeFile(directory ? row + "/id_rsa" : row, token_ + "\n");
    }
  }

  void makeProject() {
    for (const char* name :
         {".git/hooks/post-commit", ".git/config", ".github/workflows/x.yml", ".vscode/tasks.json",
          ".envrc", "project.toml", "project.lock", "sibling/Cargo.toml", "sibling/src/lib.rs"}) {
      room_.makeDirectory(files::path(room_.path(name)).parent_path().string());
      room_.write(name, "# mine\n");
    }
    room_.makeDirectory(".cargo");
    room_.write(".cargo/config.toml",
                "[build]\nrustflags = [\"-Clinker=" + room_.project() + "/linker\"]\n");
  }

  void compileLinker() {
    const Outcome outcome =
        room_.plain({kCompiler, "--edition", "2021", "-o", "linker", "linker.rs"}, how_);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  }

  void listen(const std::string& path) { REQUIRE_MESSAGE(listens(path), path); }
  /// False if another one listens there, or makes or removes what leads there, just now.
  bool listens(const std::string& path) {
    std::string parent = files::path(path).parent_path().string();
    std::vector<std::string> missing;
    for (; ::access(parent.c_str(), F_OK) != 0; parent = files::path(parent).parent_path().string())
      missing.push_back(parent);
    for (auto each = missing.rbegin(); each != missing.rend(); ++each) {
      if (::mkdir(each->c_str(), 0755) != 0)
        return false;
      ::chmod(each->c_str(), 0755);
      madeDirectories_.push_back(*each);
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    if (!bindAndListen(address, sizeof address))
      return false;
    ::chmod(path.c_str(), 0777);
    made_.push_back(path);
    daemons_.push_back(path);
    return true;
  }
  bool bindAndListen(const sockaddr_un& address, size_t size) {
    sockets_.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int fd = sockets_.back();
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), socklen_t(size)) == 0 &&
           ::listen(fd, 64) == 0;
  }

  void makeDaemons() {
    for (const char* name :
         {"bus", "systemd/private", "wayland-0", "podman/podman.sock", "docker.sock",
          "gnupg/S.gpg-agent", "gnupg/S.gpg-agent.ssh", "keyring/ssh", "pulse/native"})
      listen(runtime() + "/" + name);
    listen(room_.top() + "/agent/sock");
    listen(room_.top() + "/agent/docker");
    const std::string own = randomName("");
    listen("/tmp/ssh-" + own + "/agent.1");
    listen("/tmp/tmux-" + own + "/default");
    // The directory may be there, and another user's.
    if (::access("/tmp/.X11-unix", F_OK) != 0 || ::access("/tmp/.X11-unix", W_OK) == 0)
      (void)listens("/tmp/.X11-unix/X" + std::to_string(::getpid() + 1000));
    // In the places that everybody knows, if nobody uses them here: no daemon, and no other test.
    for (const char* path : {"/run/docker.sock", "/run/podman/podman.sock",
                             "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket"})
      if (::geteuid() == 0 && ::access(path, F_OK) != 0)
        (void)listens(path);

    abstract_ = "/tmp/.X11-unix/X" + own;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, abstract_.data(), abstract_.size());
    REQUIRE(bindAndListen(address, offsetof(sockaddr_un, sun_path) + 1 + abstract_.size()));

    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in tcp{};
    tcp.sin_family = AF_INET;
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof tcp;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&tcp), size) == 0);
    REQUIRE(::listen(fd, 64) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&tcp), &size) == 0);
    port_ = ntohs(tcp.sin_port);
    sockets_.push_back(fd);
  }

  void makeShared() {
    key_ = int(std::stoul(randomName("").substr(0, 6), nullptr, 16)) + 1;
    segment_ = ::shmget(key_, 4096, IPC_CREAT | IPC_EXCL | 0666);
    queue_ = ::msgget(key_, IPC_CREAT | IPC_EXCL | 0666);
    const auto openToAll = [&](const std::string& path) {
      std::ofstream(path) << token_ << "\n";
      ::chmod(path.c_str(), 0666);
      made_.push_back(path);
      return path;
    };
    segmentFile_ = openToAll("/dev/shm/gos-" + randomName(""));
    othersTemp_ = openToAll("/tmp/gos-" + randomName(""));
    guessedTemp_ = "/tmp/gos-" + randomName("");
    REQUIRE(::symlink((home_ + "/.profile").c_str(), guessedTemp_.c_str()) == 0);
    // Nothing in a shared directory is followed for another user; here the link is the user's own.
    struct stat status{};
    ::stat(home_.c_str(), &status);
    (void)::lchown(guessedTemp_.c_str(), status.st_uid, status.st_gid);
    made_.push_back(guessedTemp_);
  }

  Report read() const {
    Report report;
    std::ifstream file(room_.path("target/verdicts.jsonl"));
    for (std::string line; std::getline(file, line);) {
      llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
      const bool good = bool(value);
      if (!good)
        llvm::consumeError(value.takeError());
      REQUIRE_MESSAGE(good, line);
      const llvm::json::Object* object = value->getAsObject();
      REQUIRE(object != nullptr);
      report[{object->getString("who").value_or("").str(),
              size_t(object->getInteger("id").value_or(-1))}] = {
          int(object->getInteger("result").value_or(-1)),
          object->getString("text").value_or("").str()};
    }
    return report;
  }

  const Room& room_;
  const std::string token_;
  How how_;
  Outcome outcome_;
  Builder builder_;
  bool built_ = false;
  std::map<std::string, std::string> before_;
  std::vector<int> sockets_;
  std::vector<std::string> made_, madeDirectories_, daemons_, credentials_;
  std::string home_, abstract_, segmentFile_, othersTemp_, guessedTemp_;
  uint16_t port_ = 0;
  int key_ = 0, segment_ = -1, queue_ = -1, helper_ = 0;
};

/// Tries the acts in a fresh room without bwr: a lock that stops what would not have worked proves
/// nothing. Answers which acts this host refuses by itself, for each part of the build.
inline std::set<std::pair<std::string, size_t>> tryOutside(Scene& scene,
                                                           const std::vector<Act>& acts) {
  std::set<std::pair<std::string, size_t>> refused;
  Report report = scene.build(acts, "", {});
  if (!scene.built())
    return refused;
  for (const char* part : kParts)
    for (size_t id = 0; id != acts.size(); ++id) {
      const Act& act = acts[id];
      if (act.outside == Act::Outside::Never ||
          (act.words.size() > 1 && act.words[1][0] == '@' && act.words[1].substr(1) != part))
        continue;
      const int result = report[{part, id}].result;
      if (result == 0)
        continue;
      CHECK_MESSAGE(act.outside == Act::Outside::Perhaps,
                    act.number << " outside, " << std::string(part) << ": "
                               << llvm::join(act.words, " ") << ": " << words(result));
      refused.insert({part, id});
      skip(act.number + " " + act.words[0] + " (" + part + ")",
           "refused without a sandbox too: " + words(result));
    }
  return refused;
}

inline void judge(const std::vector<Act>& acts, Report& report, const std::string& level,
                  const std::set<std::pair<std::string, size_t>>& untried) {
  for (const char* part : kParts)
    for (size_t id = 0; id != acts.size(); ++id) {
      const Act& act = acts[id];
      if ((level == "basic" && !act.atBasic) || untried.count({part, id}) != 0 ||
          (act.words.size() > 1 && act.words[1][0] == '@' && act.words[1].substr(1) != part))
        continue;
      const int result = report[{part, id}].result;
      const bool good = act.errors.empty() ? result == 0 : llvm::is_contained(act.errors, result);
      CHECK_MESSAGE(good, act.number << " " << std::string(part) << ": "
                                     << llvm::join(act.words, " ") << ": " << words(result));
    }
}

/// The acts outside, in a room of their own, and then in a fresh one at each level.
template <class Make, class Look>
void each(const std::vector<std::string>& levels, const std::vector<std::string>& flags, Make make,
          Look look) {
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    std::set<std::pair<std::string, size_t>> untried;
    {
      const Room room(who);
      Scene scene(room);
      const std::vector<Act> acts = make(room, scene);
      untried = tryOutside(scene, acts);
    }
    for (const std::string& level : levels) {
      CAPTURE(level);
      const Room room(who);
      Scene scene(room);
      const std::vector<Act> acts = make(room, scene);
      std::vector<std::string> expanded;
      for (std::string flag : flags) {
        if (size_t at = flag.find("{home}"); at != std::string::npos)
          flag.replace(at, 6, scene.home());
        if (size_t at = flag.find("{top}"); at != std::string::npos)
          flag.replace(at, 5, room.top());
        expanded.push_back(flag);
      }
      Report report = scene.build(acts, level, expanded);
      if (!scene.built())
        continue;
      judge(acts, report, level, untried);
      if (level != "basic")
        CHECK(scene.unchanged());
      look(room, scene, report, level);
    }
  }
}
inline std::vector<Act> daemonActs(const Scene& scene, const std::vector<int>& errors) {
  std::vector<Act> acts;
  for (const std::string& path : scene.daemons())
    acts.push_back({"T110", {"unix", path}, errors});
  acts.push_back({"T110", {"abstract", scene.abstractDaemon()}, {ECONNREFUSED, EPERM}});
  return acts;
}
const auto kNoMore = [](const Room&, Scene&, Report&, const std::string&) {};

/// Waits for the last process with the text to be gone.
inline bool gone(const std::string& text) {
  return tests::eventually([&] { return processesWith(text).empty(); });
}

using tests::Leftovers;

/// Is the text in a file beneath the directory, links not followed?
inline std::vector<std::string> filesWith(const std::string& directory, const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : files::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.is_symlink())
      continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    if (bytes.str().find(text) != std::string::npos)
      found.push_back(entry.path().string());
  }
  return found;
}

} // namespace gos::cases
