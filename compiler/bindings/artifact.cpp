#include "compiler/bindings/artifact.h"

#include "compiler/bindings/elf_dynamic.h"
#include "compiler/bindings/workspace.h"
#include "sandbox/beneath.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

namespace gos::bindings {

namespace {

constexpr size_t kMostFiles = 50000;
constexpr unsigned kDeepest = 64;
constexpr uint64_t kLargestRule = uint64_t(16) << 20;

llvm::Error refused(const llvm::Twine& text) {
  return llvm::createStringError(std::make_error_code(std::errc::io_error), text);
}

/// The bytes of a descriptor that is checked to be a regular file of ours.
llvm::Expected<ReadBytes> readChecked(const UniqueFd& fd) {
  struct stat status{};
  if (!fd)
    return refused(errno == ELOOP    ? "a symbolic link stands in its place"
                   : errno == ENOENT ? "the build left none"
                                     : "it cannot be opened: " + errnoText(errno));
  if (::fstat(fd.get(), &status) != 0)
    return refused("it cannot be looked at: " + errnoText(errno));
  if (!S_ISREG(status.st_mode))
    return refused("it is not a regular file");
  if (status.st_uid != ::geteuid())
    return refused("it belongs to another user");
  ReadBytes bytes = readAll(fd.get(), kLargestLibrary, Hashing::Sha256);
  if (bytes.failure == Failure::System)
    return refused("it cannot be read: " + errnoText(bytes.errorNumber));
  if (bytes.failure != Failure::None)
    return refused("it " + phrase(bytes.failure));
  return bytes;
}

/// The copy that is used: nobody can change it any more.
llvm::Expected<UniqueFd> sealedCopy(llvm::StringRef bytes) {
  UniqueFd fd(::memfd_create("gossamer-bindings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd)
    return sysError("make", "a copy of the library", errno);
  for (llvm::StringRef rest = bytes; !rest.empty();) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(fd.get(), rest.data(), rest.size()); });
    if (wrote < 0)
      return sysError("write", "a copy of the library", errno);
    rest = rest.substr(size_t(wrote));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return sysError("seal", "a copy of the library", errno);
  return fd;
}

llvm::Expected<Artifact> makeArtifact(const ReadBytes& bytes) {
  Artifact artifact;
  artifact.sha256 = llvm::toHex(bytes.sha256, true);
  llvm::Expected<Signatures> signatures = readSignatures(bytes.bytes);
  if (!signatures)
    return signatures.takeError();
  artifact.signatures = std::move(*signatures);
  llvm::Expected<Linking> linking = judgeLinking(bytes.bytes);
  if (!linking)
    return linking.takeError();
  artifact.libraries = std::move(linking->libraries);
  llvm::Expected<UniqueFd> image = sealedCopy(bytes.bytes);
  if (!image)
    return image.takeError();
  artifact.image = std::move(*image);
  return artifact;
}

int64_t nanosecondsOf(const timespec& time) {
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

/// Walks source trees without following a link or leaving a device.
class Listing {
public:
  explicit Listing(int64_t since) : since_(since) {}

  void addRoot(const std::string& root) {
    // A build names such files: what is no directory is not even opened.
    UniqueFd fd(::open(root.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
      add(root, nullptr);
      return;
    }
    add(root, &status);
    if (!S_ISDIR(status.st_mode))
      return;
    device_ = status.st_dev;
    fd.reset(::openat(fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd)
      walk(std::move(fd), 0);
    else
      good_ = false;
  }
  std::string digest() { return good_ ? llvm::toHex(hash_.final(), true) : std::string(); }

private:
  void add(llvm::StringRef name, const struct stat* status) {
    hash_.update(name);
    hash_.update(llvm::StringRef("\0", 1));
    if (status == nullptr)
      return;
    const bool directory = S_ISDIR(status->st_mode);
    // Of a directory its entries say all; a build touches times.
    const int64_t facts[] = {int64_t(status->st_mode),
                             int64_t(status->st_ino),
                             directory ? 0 : int64_t(status->st_size),
                             directory ? 0 : status->st_mtim.tv_sec,
                             directory ? 0 : status->st_mtim.tv_nsec,
                             directory ? 0 : status->st_ctim.tv_sec,
                             directory ? 0 : status->st_ctim.tv_nsec};
    hash_.update(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(facts), sizeof facts));
    if (since_ != 0 && !directory &&
        std::max(nanosecondsOf(status->st_mtim), nanosecondsOf(status->st_ctim)) >= since_)
      good_ = false;
  }

  void walk(UniqueFd directory, unsigned depth) {
    if (depth == kDeepest || !good_) {
      good_ = false;
      return;
    }
    DIR* stream = ::fdopendir(directory.get());
    if (stream == nullptr) {
      good_ = false;
      return;
    }
    const int fd = directory.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
      const llvm::StringRef name = entry->d_name;
      if (name == "." || name == "..")
        continue;
      if (++count_ > kMostFiles) {
        good_ = false;
        break;
      }
      names.push_back(name.str());
    }
    llvm::sort(names);
    const bool isTarget = depth != 0 && llvm::is_contained(names, "CACHEDIR.TAG");
    for (const std::string& name : names) {
      if (!good_ || isTarget)
        break;
      struct stat status{};
      if (name == ".git" || name == "bindings.lock" ||
          ::fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      add(name, &status);
      if (!S_ISDIR(status.st_mode) || status.st_dev != device_)
        continue;
      UniqueFd child(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (child)
        walk(std::move(child), depth + 1);
      hash_.update(llvm::StringRef("/"));
    }
    ::closedir(stream);
  }

  int64_t since_;
  dev_t device_ = 0;
  llvm::SHA256 hash_;
  size_t count_ = 0;
  bool good_ = true;
};

bool isDigest(llvm::StringRef text) {
  return text.size() == 64 && llvm::all_of(text, llvm::isHexDigit);
}

} // namespace

llvm::Expected<Artifact> takeArtifact(const Cache& cache, const std::string& target) {
  llvm::Expected<ReadBytes> bytes =
      readChecked(openBeneath(cache.descriptor(), target + "/" + kLibraryFile, O_RDONLY));
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<Artifact> artifact = makeArtifact(*bytes);
  if (!artifact)
    return artifact.takeError();
  if (llvm::Error error = cache.write("artifacts/" + artifact->sha256, bytes->bytes))
    return error;
  return artifact;
}

llvm::Expected<Artifact> loadArtifact(const Cache& cache, const std::string& sha256) {
  if (!isDigest(sha256))
    return refused("its name is no digest");
  llvm::Expected<ReadBytes> bytes =
      readChecked(openBeneath(cache.descriptor(), "artifacts/" + sha256, O_RDONLY));
  if (!bytes)
    return bytes.takeError();
  if (llvm::toHex(bytes->sha256, true) != sha256)
    return refused("the cached copy is not what it was");
  return makeArtifact(*bytes);
}

static constexpr llvm::StringRef kStateHeader = "gossamer bindings 1";

std::optional<Freshness> readFreshness(const Cache& cache, const std::string& name) {
  std::optional<std::string> text = cache.read(name, uint64_t(16) << 20);
  if (!text)
    return std::nullopt;
  auto [header, rest] = llvm::StringRef(*text).split('\n');
  if (header != kStateHeader)
    return std::nullopt;
  Freshness freshness;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    const auto [word, value] = line.split(' ');
    if (word == "key")
      freshness.key = value.str();
    else if (word == "inputs")
      freshness.inputs = value.str();
    else if (word == "listing")
      freshness.listing = value.str();
    else if (word == "library")
      freshness.sha256 = value.str();
    else if (word == "root")
      freshness.roots.push_back(llvm::fromHex(value));
    else
      return std::nullopt;
  }
  if (!isDigest(freshness.key) || !isDigest(freshness.sha256))
    return std::nullopt;
  return freshness;
}

llvm::Error writeFreshness(const Cache& cache, const std::string& name,
                           const Freshness& freshness) {
  std::string text =
      llvm::formatv("{0}\nkey {1}\ninputs {2}\nlisting {3}\nlibrary {4}\n", kStateHeader,
                    freshness.key, freshness.inputs, freshness.listing, freshness.sha256);
  for (const std::string& root : freshness.roots)
    text += "root " + llvm::toHex(root) + "\n";
  return cache.write(name, text);
}

std::vector<std::string> filesOfRule(llvm::StringRef text) {
  std::vector<std::string> files;
  std::string file;
  const size_t colon = text.find(": ");
  llvm::StringRef rest =
      colon == llvm::StringRef::npos ? llvm::StringRef() : text.substr(colon + 2);
  rest = rest.take_until([](char c) { return c == '\n'; });
  for (size_t at = 0; at <= rest.size(); ++at) {
    const bool ends = at == rest.size() || rest[at] == ' ';
    if (!ends) {
      // Cargo escapes spaces, and nothing else.
      if (rest[at] == '\\' && at + 1 < rest.size() && rest[at + 1] == ' ')
        ++at;
      file += rest[at];
      continue;
    }
    if (!file.empty())
      files.push_back(std::move(file));
    file.clear();
  }
  return files;
}

std::optional<std::vector<std::string>> filesBuiltFrom(const Cache& cache,
                                                       const std::string& target) {
  llvm::StringRef name = kLibraryFile;
  name.consume_back(".so");
  const std::optional<std::string> text =
      cache.read((target + "/" + name + ".d").str(), kLargestRule);
  if (!text)
    return std::nullopt;
  std::vector<std::string> files = filesOfRule(*text);
  if (files.size() > kMostFiles)
    return std::nullopt;
  return files;
}

int64_t changeClock() {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
    return nanosecondsOf(time);
  };
  // A tick is some milliseconds; where the clock stands still the time is as good as any.
  const int64_t begin = now();
  int64_t at = begin;
  for (int tries = 0; at <= begin && tries != 100; ++tries) {
    const timespec pause = {0, 1000000};
    ::nanosleep(&pause, nullptr);
    at = now();
  }
  return at;
}

std::string listingDigest(const std::vector<std::string>& roots, int64_t since) {
  Listing listing(since);
  for (const std::string& root : roots)
    listing.addRoot(root);
  return listing.digest();
}

} // namespace gos::bindings
