#pragma once
// A project with Rust bindings in a room of its own, the tool that builds them, and a registry on
// 127.0.0.1 that serves what a case puts into it and remembers who asked for what.

#include "tests/sandbox/build_scene.h"

#include "llvm/Support/SHA256.h"

#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <thread>

namespace gos::cases {

/// A copy of the tool that everyone may execute.
inline const std::string& toolPath() {
  static const std::string path = [] {
    const std::string made = files::path(bwrPath()).parent_path().string() + "/bindings_tool";
    files::copy_file(GOS_TOOL, made, files::copy_options::overwrite_existing);
    ::chmod(made.c_str(), 0755);
    return made;
  }();
  return path;
}

using Files = std::map<std::string, std::string>;

/// A sparse registry over HTTP.
class Registry {
public:
  Registry() {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listening_, 64) == 0);
    REQUIRE(::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    pages_["/index/config.json"] =
        "{\"dl\":\"" + base() + "/dl/{crate}-{version}.crate\",\"api\":null}";
    REQUIRE(::pipe2(wake_, O_CLOEXEC) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Registry() { stop(); }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  std::string base() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string index() const { return "sparse+" + base() + "/index/"; }
  uint16_t port() const { return port_; }
  /// Nobody answers any more.
  void stop() {
    if (listening_ < 0)
      return;
    (void)!::write(wake_[1], "x", 1);
    thread_.join();
    for (int fd : {listening_, wake_[0], wake_[1]})
      ::close(fd);
    listening_ = -1;
  }
  void refuseEveryone() { unauthorised_ = true; }
  std::vector<std::string> requests() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return requests_;
  }
  void page(const std::string& path, std::string text) {
    const std::lock_guard<std::mutex> guard(mutex_);
    pages_[path] = std::move(text);
  }

  /// Publishes a crate from its files; `dependencies` are `name` to requirement.
  void publish(const Room& room, const std::string& name, const std::string& version,
               const Files& contents, const Files& dependencies = {}, bool wrongChecksum = false) {
    const std::string stem = name + "-" + version, top = room.top() + "/pack";
    for (const auto& [file, text] : contents) {
      room.makeDirectory(files::path(top + "/" + stem + "/" + file).parent_path().string());
      room.write(top + "/" + stem + "/" + file, text);
    }
    const Outcome packed =
        room.plain({"tar", "--format=ustar", "-C", top, "-czf", top + "/" + stem + ".crate", stem});
    REQUIRE_MESSAGE(packed.code == 0, packed.err);
    publishArchive(name, version, room.read(top + "/" + stem + ".crate"), dependencies,
                   wrongChecksum);
  }
  void publishArchive(const std::string& name, const std::string& version,
                      const std::string& archive, const Files& dependencies = {},
                      bool wrongChecksum = false) {
    std::string sum = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(archive)), true);
    if (wrongChecksum)
      sum[0] = sum[0] == '0' ? '1' : '0';
    std::string list;
    for (const auto& [each, requirement] : dependencies)
      list += (list.empty() ? "" : ",") +
              ("{\"name\":\"" + each + "\",\"req\":\"" + requirement +
               "\",\"features\":[],\"optional\":false,\"default_features\":true,\"target\":null,"
               "\"kind\":\"normal\"}");
    const std::string place = name.size() == 1   ? "1/" + name
                              : name.size() == 2 ? "2/" + name
                              : name.size() == 3
                                  ? "3/" + name.substr(0, 1) + "/" + name
                                  : name.substr(0, 2) + "/" + name.substr(2, 2) + "/" + name;
    // One more version of a crate stands behind the others.
    std::string before = pageOf("/index/" + place);
    if (before.find("\"vers\":\"" + version + "\"") != std::string::npos)
      before.clear();
    page("/index/" + place, before + "{\"name\":\"" + name + "\",\"vers\":\"" + version +
                                "\",\"deps\":[" + list + "],\"cksum\":\"" + sum +
                                "\",\"features\":{},\"yanked\":false}\n");
    page("/dl/" + name + "-" + version + ".crate", archive);
  }
  std::string pageOf(const std::string& path) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = pages_.find(path);
    return found != pages_.end() ? found->second : std::string();
  }
  /// Replaces the one place of a text in a page.
  void edit(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = pageOf(path);
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    page(path, text.replace(at, from.size(), to));
  }
  /// The user's configuration that takes crates.io from here.
  std::string replacement() const {
    return "[source.crates-io]\nreplace-with = \"local\"\n[source.local]\nregistry = \"" + index() +
           "\"\n";
  }

private:
  void serve() {
    while (true) {
      pollfd entries[2] = {{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
      ::poll(entries, 2, -1);
      if (entries[1].revents != 0)
        return;
      const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        continue;
      std::string request;
      char buffer[8192];
      while (request.find("\r\n\r\n") == std::string::npos) {
        pollfd one = {fd, POLLIN, 0};
        if (::poll(&one, 1, 60000) <= 0)
          break;
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got <= 0)
          break;
        request.append(buffer, size_t(got));
      }
      std::string path = llvm::StringRef(request).split(' ').second.split(' ').first.str();
      std::string answer;
      {
        const std::lock_guard<std::mutex> guard(mutex_);
        requests_.push_back(request);
        const auto found = pages_.find(path);
        const std::string body = found != pages_.end() ? found->second : "";
        const char* status =
            unauthorised_ ? "401 Unauthorized\r\nWWW-Authenticate: Cargo login_url=\"http://x\""
            : found != pages_.end() ? "200 OK"
                                    : "404 Not Found";
        answer = std::string("HTTP/1.1 ") + status +
                 "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                 "\r\n\r\n" + body;
      }
      size_t at = 0;
      while (at != answer.size()) {
        const ssize_t put = ::send(fd, answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
        if (put <= 0)
          break;
        at += size_t(put);
      }
      ::close(fd);
    }
  }

  int listening_ = -1;
  int wake_[2] = {-1, -1};
  uint16_t port_ = 0;
  std::atomic<bool> unauthorised_ = false;
  std::mutex mutex_;
  std::map<std::string, std::string> pages_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

/// A project in a room, whose bindings are built by the tool.
class Bound {
public:
  explicit Bound(As who) : room(who) {
    cleanEnvironment(how);
    how.unset.push_back("RUST_BACKTRACE");
    room.makeDirectory("src");
    room.write("src/main.gos", "fn main() { println!(\"hello\") }\n");
    room.makeDirectory(room.home() + "/.cargo");
  }

  /// project.toml with these entries of [rust-bindings].
  void bindings(const std::string& entries, const std::string& project = "") {
    room.write("project.toml", "[project]\nid = \"example.com/app\"\nversion = \"0.1.0\"\n" +
                                   project + "\n[rust-bindings]\n" + entries + "\n");
  }
  void write(const std::string& path, const std::string& text) const {
    room.makeDirectory(files::path(room.path(path)).parent_path().string());
    room.write(path, text);
  }
  /// A Cargo package in a directory of the project.
  void crate(const std::string& directory, const std::string& name, const std::string& library,
             const std::string& manifest = "", const std::string& script = "") const {
    write(directory + "/Cargo.toml", "[package]\nname = \"" + name +
                                         "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" +
                                         manifest);
    write(directory + "/src/lib.rs", library);
    if (!script.empty())
      write(directory + "/build.rs", script);
  }
  /// The plain binding most cases use.
  void plain() {
    bindings("stats = { path = \"rust/stats\" }");
    crate("rust/stats", "stats", kLibrary, "[dependencies]\ngossamer-binding = \"0.1\"\n");
  }
  void userConfig(const std::string& text) const {
    room.write(room.home() + "/.cargo/config.toml", text);
  }

  Outcome build(const std::string& level, std::vector<std::string> flags = {}) const {
    std::vector<std::string> words = {toolPath()};
    if (!level.empty())
      words.push_back("--sandbox=" + level);
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back(room.project());
    return room.plain(words, how);
  }
  std::string cache() const { return room.home() + "/.cache/gossamer"; }
  /// The library that a successful run named.
  std::string library(const Outcome& outcome) const {
    const auto [before, after] = llvm::StringRef(outcome.out).split("library ");
    const std::string sum = after.split('\n').first.str();
    for (const auto& entry : files::directory_iterator(cache() + "/bindings"))
      if (std::string path = entry.path().string() + "/artifacts/" + sum; files::exists(path))
        return room.read(path);
    return {};
  }
  /// Content, kind, mode, owner and times of everything in the project.
  std::map<std::string, std::string> snapshot(const std::string& top) const {
    std::map<std::string, std::string> seen;
    for (const auto& entry : files::recursive_directory_iterator(top)) {
      struct stat status{};
      const std::string path = entry.path().string();
      REQUIRE(::lstat(path.c_str(), &status) == 0);
      seen[path] = hexOf(status.st_mode) + " " + hexOf(status.st_uid) + " " +
                   hexOf(status.st_nlink) + " " + hexOf(uint64_t(status.st_mtim.tv_sec)) + "." +
                   hexOf(uint64_t(status.st_mtim.tv_nsec)) +
                   (S_ISREG(status.st_mode) ? " " + room.read(path) : "");
    }
    return seen;
  }

  static constexpr const char* kLibrary = "use gossamer_binding::gos_module;\n"
                                          "#[gos_module(\"stats::fast\")]\n"
                                          "pub mod fast {\n"
                                          "    /// Twice.\n"
                                          "    pub fn double(value: i64) -> i64 { value * 2 }\n"
                                          "}\n";
  const Room room;
  How how;
};

inline bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}
/// The levels that confine, and the two that do not.
inline const std::vector<std::string>& everyLevel() {
  static const std::vector<std::string> all = {"none", "basic", "standard", "strict"};
  return all;
}

} // namespace gos::cases
