#pragma once
// What the cases of real tools share: projects, the registry on loopback, the tools' environment.

#include "tests/sandbox/each.h"

#include "llvm/ADT/StringRef.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::cases {

inline std::string both(const Outcome& outcome) {
  return outcome.out + outcome.err;
}

/// The system's own tools, and no variable of theirs from the caller's shell.
inline How tool(std::map<std::string, std::string> set = {}) {
  How how;
  how.limit = 900; // a build on a busy machine is not a hang
  how.set = std::move(set);
  if (how.set.count("PATH") == 0)
    how.set["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  how.unset = {"CARGO_HOME",
               "RUSTUP_HOME",
               "RUSTUP_TOOLCHAIN",
               "CARGO_TARGET_DIR",
               "RUSTFLAGS",
               "RUSTC_WRAPPER",
               "GOPATH",
               "GOFLAGS",
               "GOCACHE",
               "GOMODCACHE",
               "GOPROXY",
               "CCACHE_DIR",
               "CCACHE_DISABLE",
               "CC",
               "CXX",
               "CFLAGS",
               "CXXFLAGS",
               "JAVA_HOME",
               "GRADLE_USER_HOME",
               "GRADLE_OPTS",
               "MAVEN_OPTS",
               "MAVEN_ARGS",
               "NODE_OPTIONS",
               "NODE_PATH",
               "NODE_ENV",
               "PYTHONPATH",
               "PYTHONHOME",
               "VIRTUAL_ENV",
               "PIP_INDEX_URL",
               "PIP_CONFIG_FILE",
               "NPM_CONFIG_PREFIX",
               "npm_config_cache",
               "npm_config_registry",
               "http_proxy",
               "HTTP_PROXY",
               "https_proxy",
               "HTTPS_PROXY",
               "CI",
               "DESTDIR"};
  const auto isSet = [&](const std::string& name) { return how.set.count(name) != 0; };
  how.unset.erase(std::remove_if(how.unset.begin(), how.unset.end(), isSet), how.unset.end());
  return how;
}
/// Is it there for everybody?
inline bool systemTool(const std::string& program) {
  for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (::access((folder + program).c_str(), X_OK) == 0)
      return true;
  return false;
}
/// False, and a counted skip, if one of the tools is missing.
inline bool has(const std::string& what, const std::vector<std::string>& programs) {
  for (const std::string& program : programs)
    if (!systemTool(program)) {
      skip(what, program + " is not installed");
      return false;
    }
  return true;
}

/// A project of tests/sandbox/tools in a directory of the room.
inline void copyProject(const Room& room, const std::string& project, const std::string& to = "") {
  const std::filesystem::path from =
      std::filesystem::path(GOS_SOURCE_DIR) / "tests/sandbox/tools" / project;
  REQUIRE(std::filesystem::is_directory(from));
  const std::string target = to.empty() ? room.project() : room.path(to);
  room.makeDirectory(target);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
    const std::string name = target + "/" + std::filesystem::relative(entry.path(), from).string();
    if (entry.is_directory()) {
      room.makeDirectory(name);
      continue;
    }
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    room.write(name, text.str());
  }
}

/// registry.py, running for as long as this lives.
class Registry {
public:
  Registry() {
    std::string pattern = "/var/tmp/gosreg-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    int in[2], out[2];
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      const std::string script = std::string(GOS_SOURCE_DIR) + "/tests/sandbox/tools/registry.py";
      ::execl("/usr/bin/python3", "python3", script.c_str(), directory_.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    hold_ = in[1];
    char byte;
    while (::read(out[0], &byte, 1) == 1 && byte != '\n')
      port_ += byte;
    ::close(out[0]);
    REQUIRE_MESSAGE(!port_.empty(), "the registry did not start");
  }
  ~Registry() {
    ::close(hold_); // it ends by itself
    int status = 0;
    ::waitpid(child_, &status, 0);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const std::string& port() const { return port_; }
  std::string url(const std::string& path = "") const { return "http://127.0.0.1:" + port_ + path; }

private:
  std::string directory_, port_;
  pid_t child_ = -1;
  int hold_ = -1;
};

} // namespace gos::cases
