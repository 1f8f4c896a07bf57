// A directory of a test's own, the program `gos` run in it, and what came of that: what the tests
// that look at the tools from outside stand on.
#pragma once

#include "tests/support/child_process.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace gos::test {

/// A word of a shell command, whatever is in it: directories have spaces, and letters of all kinds.
inline std::string quotedForShell(const std::string& text) {
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

class Room {
public:
  Room() {
    char name[] = "/tmp/gos-room-XXXXXX";
    if (const char* made = ::mkdtemp(name))
      root_ = made;
  }
  ~Room() {
    std::error_code ignored;
    if (!root_.empty())
      std::filesystem::remove_all(root_, ignored);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  const std::string& root() const { return root_; }
  std::string path(const std::string& name) const { return root_ + "/" + name; }

  /// Writes a file, with the directories that it needs.
  const Room& write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return *this;
  }
  /// A manifest in a directory of the room, and the source of an entry unless it is empty.
  const Room& project(const std::string& directory, const std::string& source,
                      const std::string& more = "", const std::string& name = "tool") const {
    write(directory + "/project.toml",
          "[project]\nid = \"example.com/" + name + "\"\nversion = \"0.1.0\"\n" + more);
    return source.empty() ? *this : write(directory + "/src/main.gos", source);
  }
  /// The whole file; empty where there is none.
  std::string read(const std::string& name) const {
    std::string text;
    readFile(path(name), text);
    return text;
  }
  bool exists(const std::string& name) const {
    return std::filesystem::symlink_status(path(name)).type() !=
           std::filesystem::file_type::not_found;
  }
  size_t entries(const std::string& name = ".") const {
    return size_t(std::distance(std::filesystem::directory_iterator(path(name)),
                                std::filesystem::directory_iterator()));
  }

  /// Runs `gos` in the room, or in a directory of it.
  ChildResult gos(std::vector<std::string> arguments, const std::string& input = "",
                  const std::string& directory = "") const {
    arguments.insert(arguments.begin(), GOS_BINARY_DIR "/bin/gos");
    return start(std::move(arguments), input, directory);
  }
  /// Runs a shell command in the room; `gos` is the program under test, `$GOS` where it lies, for
  /// what that shell starts; its cache is in the room.
  ChildResult shell(const std::string& command, const std::string& input = "") const {
    return start({"/bin/sh", "-c",
                  "export XDG_CACHE_HOME=" + quotedForShell(path(".cache")) +
                      " GOS=" + quotedForShell(GOS_BINARY_DIR "/bin/gos") +
                      "; gos() { \"$GOS\" \"$@\"; }; " + command},
                 input, "");
  }

private:
  ChildResult start(std::vector<std::string> arguments, const std::string& input,
                    const std::string& directory) const {
    ChildRequest request;
    request.arguments = std::move(arguments);
    request.directory = directory.empty() ? root_ : path(directory);
    request.input = input;
    request.limit = std::chrono::seconds(600); // against a test that hangs for ever
    return runChild(request);
  }

  std::string root_;
};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace gos::test
