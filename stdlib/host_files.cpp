#include "stdlib/host_files.h"

#include "sandbox/sys_error.h"

#include "llvm/Support/SHA256.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::stdlib {

using llvm::StringRef;
using vm::FoldInput;
using vm::Trap;

namespace {

FileResult failed(StringRef verb, StringRef path, StringRef why) {
  FileResult result;
  result.kind = FileResult::Kind::Failed;
  result.message = ("cannot " + verb + " `" + path + "`: " + why).str();
  return result;
}

FileResult failedErrno(StringRef verb, StringRef path, int number) {
  FileResult result = failed(verb, path, errnoText(number));
  if (number == ENOENT || number == ENOTDIR)
    result.kind = FileResult::Kind::Absent;
  return result;
}

FileResult trapped(Trap trap) {
  FileResult result;
  result.kind = FileResult::Kind::Trapped;
  result.trap = std::move(trap);
  return result;
}

FileKind kindOf(mode_t mode) {
  if (S_ISREG(mode))
    return FileKind::File;
  if (S_ISDIR(mode))
    return FileKind::Directory;
  return S_ISLNK(mode) ? FileKind::Link : FileKind::Other;
}

std::array<uint8_t, 32> hashOf(StringRef bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  return hash.final();
}

constexpr unsigned kDeepestTree = 256;
constexpr uint64_t kOperationSteps = 1000;
constexpr size_t kMostHandlesOfFold = 512; // a region that opens more has forgotten to close (T076)

} // namespace

// ---- which road
// -------------------------------------------------------------------------------------

HostFiles::Road HostFiles::road() const {
  if (!inFold())
    return Road::Ordinary;
  return vm_->callingLevel().level == ComptimeIo::Full ? Road::Ordinary : Road::Beneath;
}

FileResult HostFiles::prepare(StringRef path, std::string& out) const {
  if (path.empty())
    return failed("use", path, "the path is empty");
  if (path.contains('\0'))
    return failed("use", path, "the path has a NUL byte");
  if (path.size() >= PATH_MAX)
    return failed("use", path.take_front(64), "the path is too long");
  if (path.starts_with("/")) {
    out = path.str();
    return {};
  }
  std::string start =
      (snapshot_ != nullptr ? StringRef(snapshot_->directory) : host_->directory()).str();
  // A fold starts where its package does, at every level and wherever the tool was called.
  if (const PackagePolicy* package =
          inFold() && start.empty() ? vm_->callingPackagePolicy() : nullptr;
      package != nullptr && package->hasRoot)
    start = package->base.empty() ? package->root : package->root + "/" + package->base;
  out = start.empty() ? path.str() : start + "/" + path.str();
  return {};
}

FileResult HostFiles::mayWrite() const {
  if (road() == Road::Beneath)
    return trapped(vm_->deny(Capability::Write, {}));
  return {};
}

/// Where a fold below `full` reads. Every operation is recorded and costs the kernel more than it
/// costs the guest, so it is charged like a few hundred instructions.
const Root* HostFiles::root(FileResult& result) {
  if (Trap trap = vm_->charge(kOperationSteps)) {
    result = trapped(std::move(trap));
    return nullptr;
  }
  std::string reason;
  const Root* found =
      vm_->callingLevel().level == ComptimeIo::None ? nullptr : host_->rootOfCaller(reason);
  if (found == nullptr)
    result = trapped(vm_->deny(Capability::Read, reason));
  return found;
}

StringRef HostFiles::base() const {
  const PackagePolicy* package = vm_->callingPackagePolicy();
  return package == nullptr ? StringRef() : StringRef(package->base);
}

FileResult HostFiles::outside(const Resolution& resolution) const {
  std::string detail;
  if (resolution.outcome == Outcome::Refused)
    detail = "`" + resolution.written + "` is covered by the denial of `" + resolution.rule + "`";
  else if (!resolution.leadingOut.path.empty())
    detail = "`" + resolution.written + "` goes through the link `" + resolution.leadingOut.path +
             "` to `" + resolution.leadingOut.text + "`, which is outside the package root";
  else
    detail = "`" + resolution.written + "` is outside the package root";
  return trapped(vm_->deny(Capability::Read, std::move(detail), "a file inside the package root"));
}

/// Denials trap; failures become messages; an absence is recorded, for it is an input.
FileResult HostFiles::judge(const Resolution& resolution, StringRef verb) {
  if (resolution.denied())
    return outside(resolution);
  for (const FollowedLink& link : resolution.links) {
    FoldInput input;
    input.kind = FoldInput::Kind::Link;
    input.package = vm_->callingPackage();
    input.name = link.path;
    input.detail = link.text;
    vm_->recordInput(std::move(input));
  }
  if (resolution.absent()) {
    record(FoldInput::Kind::Absence, resolution, 0, {});
    FileResult result = failed(verb, resolution.written, errnoText(ENOENT));
    result.kind = FileResult::Kind::Absent;
    return result;
  }
  if (!resolution.found())
    return failed(verb, resolution.written,
                  resolution.failure == Failure::System ? errnoText(resolution.errorNumber)
                                                        : phrase(resolution.failure).str());
  return {};
}

void HostFiles::record(FoldInput::Kind kind, const Resolution& resolution, uint64_t size,
                       const std::array<uint8_t, 32>& sha256, std::string detail) {
  FoldInput input;
  input.kind = kind;
  input.package = vm_->callingPackage();
  input.name = resolution.path;
  input.size = size;
  input.sha256 = sha256;
  input.detail = std::move(detail);
  vm_->recordInput(std::move(input));
}

std::optional<HostFiles::Snapshot> HostFiles::snapshot(vm::Vm& vm) {
  if (vm.inFold())
    return std::nullopt;
  LibraryHost& host = hostOf(vm);
  return Snapshot{host.directory().str(), host.variable("TMPDIR"), vm.heap().available() / 2};
}

void HostFiles::countRead(uint64_t bytes) {
  bytesRead_ += bytes;
  if (vm_ != nullptr)
    vm_->countRead(bytes);
}

// ---- reading
// ------------------------------------------------------------------------------------------

uint64_t HostFiles::readRoom() const {
  if (snapshot_ != nullptr)
    return snapshot_->room - std::min(snapshot_->room, bytesRead_);
  const uint64_t room = vm_->heap().available() / 2; // for the bytes, and for what is made of them
  if (!inFold() || vm_->policy() == nullptr)
    return room;
  const uint64_t limit = vm_->policy()->budgets.readBytes;
  const uint64_t used = vm_->countRead(0);
  return std::min(room, used >= limit ? 0 : limit - used);
}

FileResult HostFiles::tooLarge(StringRef path, uint64_t size) const {
  if (vm_ == nullptr) {
    FileResult result;
    result.kind = FileResult::Kind::TooLarge;
    return result;
  }
  if (inFold() && vm_->policy() != nullptr &&
      vm_->policy()->budgets.readBytes <= vm_->heap().available()) {
    Trap trap = Trap::budget("read", vm_->policy()->budgets.readBytes);
    trap->message += (" (`" + path + "` has " + llvm::Twine(size) + " bytes or more)").str();
    return trapped(std::move(trap));
  }
  return trapped(vm_->heapTrap());
}

/// The rest of a descriptor, hashed, within the limit.
FileResult HostFiles::takeBytes(int fd, StringRef path, std::string& bytes,
                                std::array<uint8_t, 32>& sha256) {
  ReadBytes read = gos::readAll(fd, readRoom(), inFold() ? Hashing::Sha256 : Hashing::Off);
  if (read.failure == Failure::TooLarge)
    return tooLarge(path, read.size);
  if (read.failure != Failure::None)
    return failed("read", path,
                  read.failure == Failure::System ? errnoText(read.errorNumber)
                                                  : phrase(read.failure).str());
  countRead(read.bytes.size());
  if (vm_ != nullptr)
    vm_->heap().chargeText(read.bytes.size()); // hashed, and looked at for being text
  else
    bytesLookedAt_ += read.bytes.size();
  bytes = std::move(read.bytes);
  sha256 = read.sha256;
  return {};
}

FileResult HostFiles::readAll(StringRef path, std::string& bytes) {
  std::unique_ptr<FileHandle> file;
  FileResult result = open(path, file);
  if (!result.done())
    return result;
  if (file->inMemory) {
    bytes = std::move(file->bytes);
    return {};
  }
  std::array<uint8_t, 32> sha256;
  return takeBytes(file->fd.get(), path, bytes, sha256);
}

FileResult HostFiles::open(StringRef path, std::unique_ptr<FileHandle>& file) {
  file = std::make_unique<FileHandle>();
  if (inFold() && host_->handles().count() >= kMostHandlesOfFold)
    return failed("open", path, errnoText(EMFILE));
  if (road() == Road::Beneath) {
    FileResult result;
    const Root* beneath = root(result);
    if (beneath == nullptr)
      return result;
    OpenedFile opened = beneath->openFile(base(), path);
    if (FileResult judged = judge(opened.resolution, "read"); !judged.done())
      return judged;
    std::array<uint8_t, 32> sha256;
    if (FileResult taken = takeBytes(opened.fd.get(), path, file->bytes, sha256); !taken.done())
      return taken;
    std::string detail;
    if (opened.facts.hardLinks > 1)
      detail = "hard links " + std::to_string(opened.facts.hardLinks);
    if (opened.facts.otherDevice)
      detail += detail.empty() ? "other device" : ", other device";
    record(FoldInput::Kind::File, opened.resolution, file->bytes.size(), sha256, std::move(detail));
    file->inMemory = true;
    return {};
  }
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  // A fold must not wait for a FIFO's writer.
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (inFold() ? O_NONBLOCK : 0);
  file->fd.reset(retryInterrupted([&] { return ::open(real.c_str(), flags); }));
  if (!file->fd.valid())
    return failedErrno("read", path, errno);
  struct stat facts{};
  if (::fstat(file->fd.get(), &facts) == -1)
    return failedErrno("read", path, errno);
  if (S_ISDIR(facts.st_mode))
    return failed("read", path, errnoText(EISDIR));
  if (inFold() && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)))
    return failed("read", path, phrase(Failure::NotRegular));
  return {};
}

FileResult HostFiles::readMore(FileHandle& file, uint64_t count, std::string& bytes) {
  if (file.inMemory) {
    const uint64_t from = std::min<uint64_t>(file.position, file.bytes.size());
    bytes = file.bytes.substr(from, count);
    file.position = from + bytes.size();
    return {};
  }
  const uint64_t room = readRoom();
  ReadBytes read = gos::readSome(file.fd.get(), std::min(count, room));
  if (read.failure != Failure::None)
    return failed("read", "file",
                  read.failure == Failure::System ? errnoText(read.errorNumber)
                                                  : phrase(read.failure).str());
  if (count > room && read.bytes.size() == room)
    return tooLarge("file", room);
  countRead(read.bytes.size());
  bytes = std::move(read.bytes);
  return {};
}

FileResult HostFiles::readAt(FileHandle& file, uint64_t offset, uint64_t count,
                             std::string& bytes) {
  if (file.inMemory) {
    bytes = offset >= file.bytes.size() ? std::string() : file.bytes.substr(offset, count);
    return {};
  }
  const uint64_t room = readRoom();
  if (offset > uint64_t(LLONG_MAX))
    return failed("read", "file", errnoText(EINVAL));
  bytes.clear();
  // What the file does not have is not allocated: read in blocks.
  constexpr uint64_t kBlock = uint64_t(1) << 20;
  while (bytes.size() < count) {
    const uint64_t wanted = std::min(kBlock, count - bytes.size());
    if (bytes.size() + wanted > room)
      return tooLarge("file", bytes.size() + wanted);
    const size_t had = bytes.size();
    bytes.resize(had + wanted);
    const ssize_t got = retryInterrupted(
        [&] { return ::pread(file.fd.get(), bytes.data() + had, wanted, off_t(offset + had)); });
    bytes.resize(had + (got > 0 ? size_t(got) : 0));
    if (got < 0)
      return failedErrno("read", "file", errno);
    if (got == 0)
      break;
  }
  countRead(bytes.size());
  return {};
}

FileResult HostFiles::list(StringRef path, std::vector<ListedEntry>& entries) {
  entries.clear();
  if (road() == Road::Beneath) {
    FileResult result;
    const Root* beneath = root(result);
    if (beneath == nullptr)
      return result;
    Listing listing = beneath->list(base(), path);
    if (FileResult judged = judge(listing.resolution, "list"); !judged.done())
      return judged;
    std::string digest;
    for (const DirectoryEntry& entry : listing.entries) {
      entries.push_back({entry.name, entry.facts.kind, entry.facts.size});
      digest += entry.name;
      digest += '\0';
      digest += char('0' + int(entry.facts.kind));
      digest += std::to_string(entry.facts.size);
      digest += '\0';
    }
    record(FoldInput::Kind::Directory, listing.resolution, entries.size(), hashOf(digest));
    return {};
  }
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  UniqueFd fd(
      retryInterrupted([&] { return ::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd.valid())
    return failedErrno("list", path, errno);
  DIR* directory = ::fdopendir(fd.get());
  if (directory == nullptr)
    return failedErrno("list", path, errno);
  fd.release();
  while (const dirent* entry = ::readdir(directory)) {
    const StringRef name(entry->d_name);
    if (name == "." || name == "..")
      continue;
    struct stat facts{};
    if (::fstatat(::dirfd(directory), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == -1)
      continue; // gone meanwhile
    entries.push_back({name.str(), kindOf(facts.st_mode), uint64_t(facts.st_size)});
  }
  ::closedir(directory);
  std::sort(entries.begin(), entries.end(), [](const ListedEntry& a, const ListedEntry& b) {
    return StringRef(a.name) < StringRef(b.name);
  });
  return {};
}

FileResult HostFiles::query(StringRef path, FollowLast follow, FileFactsAnswer& facts) {
  facts = {};
  if (road() == Road::Beneath) {
    FileResult result;
    const Root* beneath = root(result);
    if (beneath == nullptr)
      return result;
    Queried queried = beneath->query(base(), path, follow);
    if (FileResult judged = judge(queried.resolution, "look at"); !judged.done())
      return judged;
    facts.kind = queried.facts.kind;
    facts.size = queried.facts.size;
    record(FoldInput::Kind::Query, queried.resolution, facts.size, {},
           "kind " + std::to_string(int(facts.kind)));
    return {};
  }
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  struct stat found{};
  if ((follow == FollowLast::Yes ? ::stat(real.c_str(), &found) : ::lstat(real.c_str(), &found)) ==
      -1)
    return failedErrno("look at", path, errno);
  facts.kind = kindOf(found.st_mode);
  facts.size = uint64_t(found.st_size);
  facts.modifiedMs = int64_t(found.st_mtim.tv_sec) * 1000 + found.st_mtim.tv_nsec / 1000000;
  facts.mode = found.st_mode & 07777;
  return {};
}

FileResult HostFiles::permissions(StringRef path, int64_t& mode) {
  if (road() == Road::Beneath)
    return trapped(vm_->deny(Capability::Identity, "the mode of a file says who its owner is"));
  FileFactsAnswer facts;
  FileResult result = query(path, FollowLast::Yes, facts);
  mode = facts.mode;
  return result;
}

FileResult HostFiles::canonicalize(StringRef path, std::string& out) {
  if (road() == Road::Beneath) {
    FileResult result;
    const Root* beneath = root(result);
    if (beneath == nullptr)
      return result;
    Queried queried = beneath->query(base(), path, FollowLast::Yes);
    if (FileResult judged = judge(queried.resolution, "resolve"); !judged.done())
      return judged;
    record(FoldInput::Kind::Query, queried.resolution, 0, {}, "canonical");
    out = queried.resolution.path;
    return {};
  }
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  char* resolved = ::realpath(real.c_str(), nullptr);
  if (resolved == nullptr)
    return failedErrno("resolve", path, errno);
  out = resolved;
  ::free(resolved);
  return {};
}

// ---- writing
// ------------------------------------------------------------------------------------------

FileResult HostFiles::writeAll(StringRef path, StringRef bytes, std::optional<uint32_t> mode) {
  std::unique_ptr<FileHandle> file;
  if (FileResult result = openWith(path, kOpenWrite | kOpenCreate | kOpenTruncate, file);
      !result.done())
    return result;
  if (mode && ::fchmod(file->fd.get(), *mode & 07777) == -1)
    return failedErrno("write", path, errno);
  while (!bytes.empty()) {
    const ssize_t written =
        retryInterrupted([&] { return ::write(file->fd.get(), bytes.data(), bytes.size()); });
    if (written < 0)
      return failedErrno("write", path, errno);
    bytes = bytes.drop_front(size_t(written));
  }
  return {};
}

FileResult HostFiles::openWith(StringRef path, unsigned flags, std::unique_ptr<FileHandle>& file) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  const bool writes = flags & (kOpenWrite | kOpenAppend);
  int bits = O_CLOEXEC | O_NOCTTY;
  bits |= writes ? (flags & kOpenRead ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (flags & kOpenAppend)
    bits |= O_APPEND;
  if ((flags & kOpenTruncate) && writes)
    bits |= O_TRUNC;
  if (flags & kOpenCreateNew)
    bits |= O_CREAT | O_EXCL;
  else if (flags & kOpenCreate)
    bits |= O_CREAT;
  if (inFold())
    bits |= O_NONBLOCK; // a FIFO without a reader is an error, not a wait
  file = std::make_unique<FileHandle>();
  file->fd.reset(retryInterrupted([&] { return ::open(real.c_str(), bits, 0666); }));
  return file->fd.valid() ? FileResult{} : failedErrno("open", path, errno);
}

FileResult HostFiles::copy(StringRef from, StringRef to, uint64_t& size) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string bytes;
  FileFactsAnswer facts;
  if (FileResult result = query(from, FollowLast::Yes, facts); !result.done())
    return result;
  if (FileResult result = readAll(from, bytes); !result.done())
    return result;
  if (const size_t slash = to.rfind('/'); slash != StringRef::npos && slash != 0)
    if (FileResult result = makeDirectory(to.take_front(slash), 0777, false, true); !result.done())
      return result;
  size = bytes.size();
  return writeAll(to, bytes, facts.mode);
}

FileResult HostFiles::rename(StringRef from, StringRef to) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string realFrom;
  std::string realTo;
  if (FileResult prepared = prepare(from, realFrom); !prepared.done())
    return prepared;
  if (FileResult prepared = prepare(to, realTo); !prepared.done())
    return prepared;
  return ::rename(realFrom.c_str(), realTo.c_str()) == 0 ? FileResult{}
                                                         : failedErrno("rename", from, errno);
}

FileResult HostFiles::makeDirectory(StringRef path, uint32_t mode, bool exactMode, bool parents) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  if (parents)
    for (size_t at = real.find('/', 1); at != std::string::npos; at = real.find('/', at + 1))
      if (::mkdir(real.substr(0, at).c_str(), 0777) == -1 && errno != EEXIST)
        return failedErrno("create the directory", path, errno);
  if (::mkdir(real.c_str(), mode & 07777) == -1) {
    const int number = errno;
    struct stat facts{};
    const bool isThere =
        number == EEXIST && ::stat(real.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
    if (!(parents && isThere))
      return failedErrno("create the directory", path, number);
  }
  if (exactMode && ::chmod(real.c_str(), mode & 07777) == -1)
    return failedErrno("create the directory", path, errno);
  return {};
}

FileResult HostFiles::removeFile(StringRef path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  return ::unlink(real.c_str()) == 0 ? FileResult{} : failedErrno("remove", path, errno);
}

FileResult HostFiles::removeDirectory(StringRef path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  return ::rmdir(real.c_str()) == 0 ? FileResult{} : failedErrno("remove", path, errno);
}

namespace {

/// Removes what lies in an open directory. Each child is opened beneath its parent and never
/// through a link, so that a directory exchanged for a link meanwhile empties nothing else.
int emptyDirectory(int fd, unsigned depth) {
  if (depth > kDeepestTree)
    return ELOOP;
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  DIR* directory = own == -1 ? nullptr : ::fdopendir(own);
  if (directory == nullptr) {
    const int number = errno;
    if (own != -1)
      ::close(own);
    return number;
  }
  int fault = 0;
  while (const dirent* entry = fault == 0 ? ::readdir(directory) : nullptr) {
    const StringRef name(entry->d_name);
    if (name == "." || name == "..")
      continue;
    UniqueFd child(
        ::openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (child.valid()) {
      fault = emptyDirectory(child.get(), depth + 1);
      if (fault == 0 && ::unlinkat(fd, entry->d_name, AT_REMOVEDIR) == -1)
        fault = errno;
    } else if (errno == ENOTDIR || errno == ELOOP || errno == ENXIO || errno == ENODEV) {
      if (::unlinkat(fd, entry->d_name, 0) == -1)
        fault = errno;
    } else {
      fault = errno;
    }
  }
  ::closedir(directory);
  return fault;
}

} // namespace

FileResult HostFiles::removeTree(StringRef path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  UniqueFd fd(::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid())
    return failedErrno("remove", path, errno);
  if (const int fault = emptyDirectory(fd.get(), 0); fault != 0)
    return failedErrno("remove", path, fault);
  return ::rmdir(real.c_str()) == 0 ? FileResult{} : failedErrno("remove", path, errno);
}

FileResult HostFiles::setPermissions(StringRef path, uint32_t mode) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  return ::chmod(real.c_str(), mode & 07777) == 0 ? FileResult{}
                                                  : failedErrno("change the mode of", path, errno);
}

FileResult HostFiles::syncDirectory(StringRef path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string real;
  if (FileResult prepared = prepare(path, real); !prepared.done())
    return prepared;
  UniqueFd fd(::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) == -1)
    return failedErrno("sync", path, errno);
  return {};
}

namespace {

/// TMPDIR/prefixXXXXXX; the prefix must be a name.
FileResult temporaryTemplate(const std::optional<std::string>& directory, StringRef prefix,
                             std::string& out) {
  if (prefix.contains('/') || prefix.contains('\0'))
    return failed("use", prefix, "the prefix of a temporary name has no `/`");
  out = (directory && !directory->empty() ? *directory : std::string("/tmp")) + "/" + prefix.str() +
        "XXXXXX";
  return {};
}

} // namespace

FileResult HostFiles::makeTemporaryDirectory(StringRef prefix, std::string& path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  if (FileResult result = temporaryTemplate(
          snapshot_ != nullptr ? snapshot_->temporary : host_->variable("TMPDIR"), prefix, path);
      !result.done())
    return result;
  return ::mkdtemp(path.data()) != nullptr ? FileResult{} : failedErrno("create", path, errno);
}

FileResult HostFiles::makeTemporaryFile(StringRef prefix, std::unique_ptr<FileHandle>& file,
                                        std::string& path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  if (FileResult result = temporaryTemplate(
          snapshot_ != nullptr ? snapshot_->temporary : host_->variable("TMPDIR"), prefix, path);
      !result.done())
    return result;
  file = std::make_unique<FileHandle>();
  file->fd.reset(::mkostemp(path.data(), O_CLOEXEC));
  return file->fd.valid() ? FileResult{} : failedErrno("create", path, errno);
}

// ---- the working directory
// -----------------------------------------------------------------------------

FileResult HostFiles::currentDirectory(std::string& path) {
  if (!(snapshot_ != nullptr ? StringRef(snapshot_->directory) : host_->directory()).empty()) {
    path = (snapshot_ != nullptr ? StringRef(snapshot_->directory) : host_->directory()).str();
    return {};
  }
  char* found = ::getcwd(nullptr, 0);
  if (found == nullptr)
    return failedErrno("find", "the working directory", errno);
  path = found;
  ::free(found);
  return {};
}

/// Of this Vm only: the process stays where it is.
FileResult HostFiles::changeDirectory(StringRef path) {
  if (FileResult result = mayWrite(); !result.done())
    return result;
  std::string resolved;
  if (FileResult result = canonicalize(path, resolved); !result.done())
    return result;
  FileFactsAnswer facts;
  if (FileResult result = query(resolved, FollowLast::Yes, facts); !result.done())
    return result;
  if (facts.kind != FileKind::Directory)
    return failed("enter", path, errnoText(ENOTDIR));
  host_->setDirectory(std::move(resolved));
  return {};
}

} // namespace gos::stdlib
