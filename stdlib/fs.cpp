// std::fs and std::bufio's readers of paths. Everything goes through HostFiles.

#include "stdlib/host_files.h"
#include "stdlib/support.h"

#include "sandbox/sys_error.h"
#include "vm/text.h"

#include <climits>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

HostFiles filesOf(Arguments& arguments) { return HostFiles(arguments.vm()); }

/// What a body answers when the door did not open: the trap, or `Err`.
Trap refuse(Arguments& arguments, FileResult& result) {
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  return arguments.returnErr(result.message);
}

Trap returnDone(Arguments& arguments, FileResult result) {
  return result.done() ? arguments.returnOkUnit() : refuse(arguments, result);
}

/// Ok(File { handle })
Trap returnFile(Arguments& arguments, std::unique_ptr<FileHandle> file) {
  const int64_t handle = hostOf(arguments.vm()).handles().add(std::move(file));
  Builder builder(arguments.vm());
  const Value fields[] = {vm::fromInteger(handle)};
  return arguments.returnOkOwned(builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields));
}

Trap readText(Arguments& arguments) {
  std::string bytes;
  FileResult result = filesOf(arguments).readAll(arguments.string(0), bytes);
  if (!result.done())
    return refuse(arguments, result);
  if (!vm::isValidUtf8(bytes))
    return arguments.returnErr(("cannot read `" + arguments.string(0) + "` as text: it is not UTF-8").str());
  return arguments.returnOkString(bytes);
}

Trap readLines(Arguments& arguments) {
  std::string bytes;
  FileResult result = filesOf(arguments).readAll(arguments.string(0), bytes);
  if (!result.done())
    return refuse(arguments, result);
  if (!vm::isValidUtf8(bytes))
    return arguments.returnErr(("cannot read `" + arguments.string(0) + "` as text: it is not UTF-8").str());
  Vm& vm = arguments.vm();
  const vm::Scratch scratch(vm.heap(), bytes.size()); // beside the lines
  const LayoutId list = payloadOf(vm, arguments.resultLayout(), "Ok");
  VecObject* lines = scratch ? vm.heap().newVec(list, 4) : nullptr;
  for (StringRef rest = bytes; lines != nullptr && !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    line.consume_back("\r");
    const Value text = Builder(vm).string(vm.layout(list).element, line);
    if (text == 0 || !vm.heap().push(lines, text)) {
      vm.heap().release(lines);
      lines = nullptr;
    }
    rest = behind;
  }
  return lines == nullptr ? vm.heapTrap() : arguments.returnOkOwned(vm::fromObject(lines));
}

/// A yes-or-no question about a path; only a denial is not an answer.
Trap ask(Arguments& arguments, FollowLast follow, bool (*holds)(const FileFactsAnswer&)) {
  FileFactsAnswer facts;
  FileResult result = filesOf(arguments).query(arguments.string(0), follow, facts);
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  return arguments.returnBoolean(result.done() && holds(facts));
}

std::string joined(StringRef directory, StringRef name) {
  return (directory.ends_with("/") ? directory + name : directory + "/" + name).str();
}

/// DirInfo { path, name, is_file, is_dir, is_symlink, size }
Value makeDirInfo(Builder& builder, LayoutId layout, StringRef directory, const ListedEntry& entry) {
  const Value fields[] = {
      builder.string(builder.field(layout, 0), joined(directory, entry.name)),
      builder.string(builder.field(layout, 1), entry.name),
      Value(entry.kind == FileKind::File),
      Value(entry.kind == FileKind::Directory),
      Value(entry.kind == FileKind::Link),
      vm::fromInteger(int64_t(std::min<uint64_t>(entry.size, LLONG_MAX))),
  };
  return builder.structure(layout, fields);
}

/// The open file of a `File`; null after `Err` was set as the result.
FileHandle* fileOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<FileHandle>(handleOf(arguments, 0));
}

constexpr StringRef kNoFile = "the file is closed, or is no file of this program";

FileHandle* descriptorOf(Arguments& arguments, Trap& answer) {
  FileHandle* file = fileOf(arguments);
  if (file != nullptr && file->fd.valid())
    return file;
  answer = arguments.returnErr(file == nullptr ? kNoFile : StringRef("the file was opened for reading"));
  return nullptr;
}

std::string errnoMessage(StringRef verb) { return ("cannot " + verb + " the file: " + errnoText(errno)).str(); }

/// Writes all at the file's position, or at `offset`.
Trap writeBytes(Arguments& arguments, StringRef bytes, std::optional<int64_t> offset, bool answersCount) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  if (offset && *offset < 0)
    return arguments.returnErr("cannot write to the file: the offset is negative");
  const size_t size = bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = retryInterrupted([&] {
      return offset ? ::pwrite(file->fd.get(), bytes.data(), bytes.size(), off_t(*offset))
                    : ::write(file->fd.get(), bytes.data(), bytes.size());
    });
    if (written < 0)
      return arguments.returnErr(errnoMessage("write to"));
    bytes = bytes.drop_front(size_t(written));
    if (offset)
      *offset += written;
  }
  return answersCount ? arguments.returnOkInteger(int64_t(size)) : arguments.returnOkUnit();
}

Trap lockFile(Arguments& arguments, int operation) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  if (retryInterrupted([&] { return ::flock(file->fd.get(), operation); }) == 0)
    return operation == LOCK_UN ? arguments.returnOkUnit() : arguments.returnOkInteger(1);
  if (errno == EWOULDBLOCK)
    return arguments.returnOkInteger(0);
  return arguments.returnErr(errnoMessage("lock"));
}

/// A lock on a part of the file, which never waits; length 0 is to the end, whatever the file grows to. Locks of a
/// descriptor where the system has them: those of a process are lost when any descriptor of the file is closed.
Trap lockRange(Arguments& arguments, short type) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  const int64_t offset = arguments.integer(1);
  const int64_t length = arguments.integer(2);
  int64_t end = 0;
  if (offset < 0 || length < 0 || __builtin_add_overflow(offset, length, &end))
    return arguments.returnErr("cannot lock the file: the range is not one of a file");
#ifdef F_OFD_SETLK
  constexpr int kSetLock = F_OFD_SETLK;
#else
  constexpr int kSetLock = F_SETLK;
#endif
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = off_t(offset);
  range.l_len = off_t(length);
  if (retryInterrupted([&] { return ::fcntl(file->fd.get(), kSetLock, &range); }) == 0)
    return type == F_UNLCK ? arguments.returnOkUnit() : arguments.returnOkInteger(1);
  if (type != F_UNLCK && (errno == EAGAIN || errno == EACCES))
    return arguments.returnOkInteger(0);
  return arguments.returnErr(errnoMessage("lock"));
}

uint64_t countOf(int64_t n) { return n <= 0 ? 0 : uint64_t(n); }

} // namespace

namespace bodies {

// ---- reading ------------------------------------------------------------------------------------

Trap FsRead(Arguments& arguments) {
  std::string bytes;
  FileResult result = filesOf(arguments).readAll(arguments.string(0), bytes);
  return result.done() ? arguments.returnOkBytes(bytes) : refuse(arguments, result);
}
Trap FsReadToString(Arguments& arguments) { return readText(arguments); }
Trap BufioReadToString(Arguments& arguments) { return readText(arguments); }
Trap BufioReadLines(Arguments& arguments) { return readLines(arguments); }
Trap BufioReadLinesOf(Arguments& arguments) { return readLines(arguments); }
Trap BufioSplitWhitespace(Arguments& arguments) { return StringSplitWhitespace(arguments); }

Trap FsOpen(Arguments& arguments) {
  std::unique_ptr<FileHandle> file;
  FileResult result = filesOf(arguments).open(arguments.string(0), file);
  return result.done() ? returnFile(arguments, std::move(file)) : refuse(arguments, result);
}
Trap FileOpen(Arguments& arguments) { return FsOpen(arguments); }

Trap FsReadDir(Arguments& arguments) {
  std::vector<ListedEntry> entries;
  const StringRef path = arguments.string(0);
  FileResult result = filesOf(arguments).list(path, entries);
  if (!result.done())
    return refuse(arguments, result);
  Vm& vm = arguments.vm();
  if (Trap trap = chargeBulk(vm, entries.size() * 16))
    return trap;
  Builder builder(vm);
  const LayoutId list = payloadOf(vm, arguments.resultLayout(), "Ok");
  VecObject* out = vm.heap().newVec(list, entries.size());
  if (out == nullptr)
    return vm.heapTrap();
  for (const ListedEntry& entry : entries) {
    const Value info = makeDirInfo(builder, builder.element(list), path, entry);
    if (info == 0 || !vm.heap().push(out, info)) {
      vm.heap().release(out);
      return vm.heapTrap();
    }
  }
  return arguments.returnOkOwned(vm::fromObject(out));
}

Trap FsExists(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes, [](const FileFactsAnswer&) { return true; });
}
Trap FsIsFile(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes, [](const FileFactsAnswer& facts) { return facts.kind == FileKind::File; });
}
Trap FsIsDir(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes, [](const FileFactsAnswer& facts) { return facts.kind == FileKind::Directory; });
}
Trap FsIsSymlink(Arguments& arguments) {
  return ask(arguments, FollowLast::No, [](const FileFactsAnswer& facts) { return facts.kind == FileKind::Link; });
}

Trap FsFileSize(Arguments& arguments) {
  FileFactsAnswer facts;
  FileResult result = filesOf(arguments).query(arguments.string(0), FollowLast::Yes, facts);
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  return arguments.returnInteger(result.done() ? int64_t(std::min<uint64_t>(facts.size, LLONG_MAX)) : 0);
}

Trap FsMetadata(Arguments& arguments) {
  FileFactsAnswer facts;
  HostFiles files = filesOf(arguments);
  FileResult result = files.query(arguments.string(0), FollowLast::Yes, facts);
  if (!result.done())
    return refuse(arguments, result);
  FileFactsAnswer own;
  FileResult itself = files.query(arguments.string(0), FollowLast::No, own);
  if (itself.kind == FileResult::Kind::Trapped)
    return std::move(itself.trap);
  Builder builder(arguments.vm());
  const Value fields[] = {
      vm::fromInteger(int64_t(std::min<uint64_t>(facts.size, LLONG_MAX))),
      Value(facts.kind == FileKind::File),
      Value(facts.kind == FileKind::Directory),
      Value(itself.done() && own.kind == FileKind::Link),
      vm::fromInteger(facts.modifiedMs),
      vm::fromInteger(facts.mode),
  };
  return arguments.returnOkOwned(builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields));
}

Trap FsPermissions(Arguments& arguments) {
  int64_t mode = 0;
  FileResult result = filesOf(arguments).permissions(arguments.string(0), mode);
  return result.done() ? arguments.returnOkInteger(mode) : refuse(arguments, result);
}

Trap FsCanonicalize(Arguments& arguments) {
  std::string path;
  FileResult result = filesOf(arguments).canonicalize(arguments.string(0), path);
  if (!result.done())
    return refuse(arguments, result);
  if (!vm::isValidUtf8(path))
    return arguments.returnErr("the path is not UTF-8");
  return arguments.returnOkString(path);
}

// ---- writing ------------------------------------------------------------------------------------

Trap FsWrite(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).writeAll(arguments.string(0), contentsOf(arguments, 1), std::nullopt));
}
Trap FsWriteMode(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).writeAll(arguments.string(0), contentsOf(arguments, 1),
                                                           uint32_t(arguments.integer(2))));
}
Trap FsCreate(Arguments& arguments) {
  std::unique_ptr<FileHandle> file;
  FileResult result = filesOf(arguments).openWith(arguments.string(0), kOpenWrite | kOpenCreate | kOpenTruncate, file);
  return result.done() ? returnFile(arguments, std::move(file)) : refuse(arguments, result);
}
Trap FileCreate(Arguments& arguments) { return FsCreate(arguments); }

/// intrinsics::fs_open_with: the handle, for OpenOptions.
Trap FsOpenWith(Arguments& arguments) {
  std::unique_ptr<FileHandle> file;
  FileResult result = filesOf(arguments).openWith(arguments.string(0), unsigned(arguments.integer(1)) & 63u, file);
  if (!result.done())
    return refuse(arguments, result);
  return arguments.returnOkInteger(hostOf(arguments.vm()).handles().add(std::move(file)));
}

Trap FsCopy(Arguments& arguments) {
  uint64_t size = 0;
  FileResult result = filesOf(arguments).copy(arguments.string(0), arguments.string(1), size);
  return result.done() ? arguments.returnOkInteger(int64_t(size)) : refuse(arguments, result);
}
Trap FsRename(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).rename(arguments.string(0), arguments.string(1)));
}
Trap FsCreateDir(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).makeDirectory(arguments.string(0), 0777, false, false));
}
Trap FsCreateDirAll(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).makeDirectory(arguments.string(0), 0777, false, true));
}
Trap FsCreateDirMode(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0), uint32_t(arguments.integer(1)), true, false));
}
Trap FsCreateDirAllMode(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0), uint32_t(arguments.integer(1)), true, true));
}
Trap FsRemoveFile(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).removeFile(arguments.string(0)));
}
Trap FsRemoveDir(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).removeDirectory(arguments.string(0)));
}
Trap FsRemoveDirAll(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).removeTree(arguments.string(0)));
}
Trap FsSetPermissions(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).setPermissions(arguments.string(0), uint32_t(arguments.integer(1))));
}
Trap FsSyncDir(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).syncDirectory(arguments.string(0)));
}

Trap FsTempDir(Arguments& arguments) {
  std::string path;
  FileResult result = filesOf(arguments).makeTemporaryDirectory(arguments.string(0), path);
  return result.done() ? arguments.returnOkString(path) : refuse(arguments, result);
}
Trap FsTempFile(Arguments& arguments) {
  std::unique_ptr<FileHandle> file;
  std::string path;
  FileResult result = filesOf(arguments).makeTemporaryFile(arguments.string(0), file, path);
  if (!result.done())
    return refuse(arguments, result);
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId pair = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value handle[] = {vm::fromInteger(hostOf(vm).handles().add(std::move(file)))};
  const Value fields[] = {builder.structure(builder.field(pair, 0), handle),
                          builder.string(builder.field(pair, 1), path)};
  const Value made = builder.structure(pair, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

// ---- File ---------------------------------------------------------------------------------------

Trap FileRead(Arguments& arguments) {
  FileHandle* file = fileOf(arguments);
  if (file == nullptr)
    return arguments.returnErr(kNoFile);
  std::string bytes;
  FileResult result = filesOf(arguments).readMore(*file, countOf(arguments.integer(1)), bytes);
  return result.done() ? arguments.returnOkBytes(bytes) : refuse(arguments, result);
}

Trap FileReadToString(Arguments& arguments) {
  FileHandle* file = fileOf(arguments);
  if (file == nullptr)
    return arguments.returnErr(kNoFile);
  std::string bytes;
  FileResult result = filesOf(arguments).readMore(*file, uint64_t(1) << 62, bytes);
  if (!result.done())
    return refuse(arguments, result);
  if (!vm::isValidUtf8(bytes))
    return arguments.returnErr("the file is not UTF-8");
  return arguments.returnOkString(bytes);
}

Trap FileReadAt(Arguments& arguments) {
  FileHandle* file = fileOf(arguments);
  if (file == nullptr)
    return arguments.returnErr(kNoFile);
  if (arguments.integer(1) < 0)
    return arguments.returnErr("cannot read the file: the offset is negative");
  std::string bytes;
  FileResult result =
      filesOf(arguments).readAt(*file, uint64_t(arguments.integer(1)), countOf(arguments.integer(2)), bytes);
  return result.done() ? arguments.returnOkBytes(bytes) : refuse(arguments, result);
}

Trap FileWrite(Arguments& arguments) { return writeBytes(arguments, contentsOf(arguments, 1), std::nullopt, true); }
Trap FileWriteBytes(Arguments& arguments) { return writeBytes(arguments, bytesOf(arguments, 1), std::nullopt, true); }
Trap FileWriteAll(Arguments& arguments) { return writeBytes(arguments, contentsOf(arguments, 1), std::nullopt, false); }
Trap FileWriteAt(Arguments& arguments) {
  return writeBytes(arguments, contentsOf(arguments, 2), arguments.integer(1), true);
}

Trap FileSetLen(Arguments& arguments) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  if (arguments.integer(1) < 0 || ::ftruncate(file->fd.get(), off_t(arguments.integer(1))) == -1)
    return arguments.returnErr(arguments.integer(1) < 0 ? "cannot resize the file: the length is negative"
                                                        : errnoMessage("resize"));
  return arguments.returnOkUnit();
}

Trap FileSyncAll(Arguments& arguments) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  return ::fsync(file->fd.get()) == 0 ? arguments.returnOkUnit() : arguments.returnErr(errnoMessage("sync"));
}
Trap FileSyncData(Arguments& arguments) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  return ::fdatasync(file->fd.get()) == 0 ? arguments.returnOkUnit() : arguments.returnErr(errnoMessage("sync"));
}

Trap FileSeek(Arguments& arguments) {
  FileHandle* file = fileOf(arguments);
  if (file == nullptr)
    return arguments.returnErr(kNoFile);
  const int64_t offset = arguments.integer(1);
  const int64_t whence = arguments.integer(2);
  if (whence < 0 || whence > 2)
    return arguments.returnErr("cannot seek: the whence is none of SEEK_SET, SEEK_CUR, SEEK_END");
  if (!file->inMemory) {
    constexpr int kWhence[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    const off_t at = ::lseek(file->fd.get(), off_t(offset), kWhence[whence]);
    return at == -1 ? arguments.returnErr(errnoMessage("seek in")) : arguments.returnOkInteger(int64_t(at));
  }
  const int64_t from = whence == 0 ? 0 : whence == 1 ? int64_t(file->position) : int64_t(file->bytes.size());
  int64_t target = 0;
  if (__builtin_add_overflow(from, offset, &target) || target < 0)
    return arguments.returnErr("cannot seek before the start of the file");
  file->position = uint64_t(target);
  return arguments.returnOkInteger(target);
}

Trap FileLen(Arguments& arguments) {
  FileHandle* file = fileOf(arguments);
  if (file == nullptr)
    return arguments.returnErr(kNoFile);
  if (file->inMemory)
    return arguments.returnOkInteger(int64_t(file->bytes.size()));
  struct stat facts {};
  if (::fstat(file->fd.get(), &facts) == -1)
    return arguments.returnErr(errnoMessage("measure"));
  return arguments.returnOkInteger(int64_t(facts.st_size));
}

Trap FileFlush(Arguments& arguments) {
  return fileOf(arguments) != nullptr ? arguments.returnOkUnit() : arguments.returnErr(kNoFile);
}

Trap FileClose(Arguments& arguments) {
  if (fileOf(arguments) != nullptr)
    hostOf(arguments.vm()).handles().close(handleOf(arguments, 0));
  return arguments.returnUnit();
}

Trap FileFd(Arguments& arguments) {
  const FileHandle* file = fileOf(arguments);
  return arguments.returnInteger(file != nullptr && file->fd.valid() ? file->fd.get() : -1);
}

Trap FileTryLockShared(Arguments& arguments) { return lockFile(arguments, LOCK_SH | LOCK_NB); }
Trap FileTryLockExclusive(Arguments& arguments) { return lockFile(arguments, LOCK_EX | LOCK_NB); }
Trap FileUnlock(Arguments& arguments) { return lockFile(arguments, LOCK_UN); }
Trap FileTryLockRange(Arguments& arguments) { return lockRange(arguments, arguments.boolean(3) ? F_WRLCK : F_RDLCK); }
Trap FileUnlockRange(Arguments& arguments) { return lockRange(arguments, F_UNLCK); }

} // namespace bodies
} // namespace gos::stdlib
