#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace gos::threats {

namespace files = std::filesystem;

namespace {

std::string randomWord() {
  unsigned char bytes[8] = {};
  const int fd = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(::read(fd, bytes, sizeof bytes) == ssize_t(sizeof bytes));
  ::close(fd);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(bytes, sizeof bytes), /*LowerCase=*/true);
}

} // namespace

Tree::Tree() {
  const char* temp = std::getenv("TMPDIR");
  std::string pattern = std::string(temp && *temp ? temp : "/tmp") + "/gos threats \xc3\xa9 XXXXXX";
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  // Canonical, so that what the tool says can be compared.
  top_ = files::canonical(pattern).string();
  root_ = top_ + "/root \xc3\xb6";
  marker_ = "outside-" + randomWord();
  token_ = "token-" + randomWord();
  outside_ = top_ + "/" + marker_;
  files::create_directory(root_);
  files::create_directory(outside_);
  files::create_directory(home());
  write(canary(), token_);
  write(out("directory/secret.txt"), token_);
  write(home() + "/.ssh/id_rsa", token_);
}

Tree::~Tree() {
  // Attacks leave directories that nobody may enter.
  std::error_code ignored;
  for (auto it = files::recursive_directory_iterator(
           top_, files::directory_options::skip_permission_denied, ignored);
       it != files::recursive_directory_iterator(); it.increment(ignored))
    if (it->symlink_status(ignored).type() == files::file_type::directory)
      files::permissions(it->path(), files::perms::owner_all, files::perm_options::add, ignored);
  files::remove_all(top_, ignored);
}

std::string Tree::absolute(llvm::StringRef name) const {
  return name.starts_with("/") ? name.str() : root_ + "/" + name.str();
}
std::string Tree::in(llvm::StringRef name) const {
  return root_ + "/" + name.str();
}
std::string Tree::out(llvm::StringRef name) const {
  return outside_ + "/" + name.str();
}
std::string Tree::relativeCanary() const {
  return "../" + marker_ + "/canary.txt";
}

void Tree::write(llvm::StringRef name, llvm::StringRef text) const {
  const files::path path = absolute(name);
  files::create_directories(path.parent_path());
  // What an act before left behind may be closed to an ordinary user.
  std::error_code ignored;
  files::permissions(path, files::perms::owner_read | files::perms::owner_write,
                     files::perm_options::add, ignored);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), std::streamsize(text.size()));
  REQUIRE_MESSAGE(file.good(), "cannot write " << path.string());
}
void Tree::directory(llvm::StringRef name) const {
  files::create_directories(absolute(name));
}
void Tree::link(llvm::StringRef name, llvm::StringRef target) const {
  const files::path path = absolute(name);
  files::create_directories(path.parent_path());
  files::remove(path);
  REQUIRE(::symlink(target.str().c_str(), path.c_str()) == 0);
}
void Tree::fifo(llvm::StringRef name) const {
  REQUIRE(::mkfifo(absolute(name).c_str(), 0600) == 0);
}
void Tree::socket(llvm::StringRef name) const {
  // Bound by a relative name: the absolute one is longer than an address can be.
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  const int before = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::chdir(root_.c_str()) == 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", name.str().c_str());
  CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::fchdir(before) == 0);
  ::close(before);
  ::close(fd);
}
void Tree::hardLink(llvm::StringRef name, llvm::StringRef existing) const {
  REQUIRE(::link(absolute(existing).c_str(), absolute(name).c_str()) == 0);
}
std::string Tree::readAll(llvm::StringRef name) const {
  std::ifstream file(absolute(name), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
bool Tree::exists(llvm::StringRef name) const {
  struct stat status{};
  return ::lstat(absolute(name).c_str(), &status) == 0;
}

std::string Tree::snapshot() const {
  std::vector<std::string> lines;
  std::error_code ignored;
  for (auto it = files::recursive_directory_iterator(
           top_, files::directory_options::skip_permission_denied, ignored);
       it != files::recursive_directory_iterator(); it.increment(ignored)) {
    struct stat status{};
    if (::lstat(it->path().c_str(), &status) != 0)
      continue;
    std::ostringstream line;
    line << it->path().string() << " mode " << std::oct << status.st_mode << std::dec << " size "
         << status.st_size << " time " << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec
         << " links " << status.st_nlink;
    if (S_ISREG(status.st_mode) && status.st_size < (1 << 20))
      line << " hash " << std::hash<std::string>{}(readAll(it->path().string()));
    if (S_ISLNK(status.st_mode))
      line << " to " << files::read_symlink(it->path(), ignored).string();
    lines.push_back(line.str());
  }
  std::sort(lines.begin(), lines.end());
  return llvm::join(lines, "\n");
}

} // namespace gos::threats
