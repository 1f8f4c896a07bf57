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

HostFiles filesOf(Arguments& arguments) {
  return HostFiles(arguments.vm());
}

/// What a body answers when the door did not open: the trap, or `Err`.
Trap refuse(Arguments& arguments, FileResult& result) {
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  if (result.kind == FileResult::Kind::TooLarge)
    return arguments.vm().heapTrap();
  return arguments.returnErr(result.message);
}

/// What an operation on files answers, beside how it ended.
template <class Payload> struct Outcome {
  FileResult result;
  Payload payload{};
};
struct Nothing {};

/// An operation that may take its time: in a program a job, in a fold at once. `act(HostFiles&,
/// Payload&)` owns what it uses and answers a FileResult; `finish(Arguments&, Payload&)` makes the
/// result of a success.
template <class Payload, class Act, class Finish>
Trap onFiles(Arguments& arguments, Act act, Finish finish) {
  std::optional<HostFiles::Snapshot> snapshot = HostFiles::snapshot(arguments.vm());
  if (!snapshot) {
    if (const vm::Scheduler* scheduler = arguments.vm().schedulerIfAny();
        scheduler && scheduler->isCancelled())
      return arguments.returnErr(kCancelled);
    Outcome<Payload> outcome;
    HostFiles files(arguments.vm());
    outcome.result = act(files, outcome.payload);
    return outcome.result.done() ? finish(arguments, outcome.payload)
                                 : refuse(arguments, outcome.result);
  }
  struct Counted {
    Outcome<Payload> outcome;
    uint64_t read = 0;
    uint64_t lookedAt = 0;
  };
  return offloadDroppable(
      arguments,
      [snapshot = std::move(*snapshot), act = std::move(act)](Interrupt&) mutable {
        Counted counted;
        HostFiles files(snapshot);
        counted.outcome.result = act(files, counted.outcome.payload);
        counted.read = files.bytesRead();
        counted.lookedAt = files.bytesLookedAt();
        return counted;
      },
      [finish = std::move(finish)](Arguments& answered, Counted& counted) {
        answered.vm().countRead(counted.read);
        answered.vm().heap().chargeText(counted.lookedAt);
        return counted.outcome.result.done() ? finish(answered, counted.outcome.payload)
                                             : refuse(answered, counted.outcome.result);
      });
}
template <class Act> Trap onFiles(Arguments& arguments, Act act) {
  return onFiles<Nothing>(
      arguments, [act = std::move(act)](HostFiles& files, Nothing&) mutable { return act(files); },
      [](Arguments& answered, Nothing&) { return answered.returnOkUnit(); });
}

Trap returnDone(Arguments& arguments, FileResult result) {
  return result.done() ? arguments.returnOkUnit() : refuse(arguments, result);
}

/// Ok(File { handle })
Trap returnFile(Arguments& arguments, std::unique_ptr<FileHandle> file) {
  const int64_t handle = hostOf(arguments.vm()).handles().add(std::move(file));
  Builder builder(arguments.vm());
  const Value fields[] = {vm::fromInteger(handle)};
  return arguments.returnOkOwned(
      builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields));
}

/// The content of the file that argument 0 names; `finish(Arguments&, path, bytes)` makes the
/// result.
template <class Finish> Trap readContent(Arguments& arguments, Finish finish) {
  const std::string path = arguments.string(0).str();
  return onFiles<std::string>(
      arguments,
      [path](HostFiles& files, std::string& bytes) { return files.readAll(path, bytes); },
      [path, finish](Arguments& answered, std::string& bytes) {
        return finish(answered, path, bytes);
      });
}

Trap returnNoText(Arguments& arguments, StringRef path) {
  return arguments.returnErr(("cannot read `" + path + "` as text: it is not UTF-8").str());
}

Trap readText(Arguments& arguments) {
  return readContent(arguments, [](Arguments& answered, StringRef path, StringRef bytes) {
    return vm::isValidUtf8(bytes) ? answered.returnOkString(bytes) : returnNoText(answered, path);
  });
}

Trap returnLines(Arguments& arguments, StringRef path, StringRef bytes) {
  if (!vm::isValidUtf8(bytes))
    return returnNoText(arguments, path);
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
Value makeDirInfo(Builder& builder, LayoutId layout, StringRef directory,
                  const ListedEntry& entry) {
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
  answer =
      arguments.returnErr(file == nullptr ? kNoFile : StringRef("the file was opened for reading"));
  return nullptr;
}

std::string errnoMessage(StringRef verb) {
  return ("cannot " + verb + " the file: " + errnoText(errno)).str();
}

/// Something that a descriptor is asked for: `act(fd)` answers -1 and errno when it fails.
template <class Act, class Finish>
Trap onDescriptor(Arguments& arguments, StringRef verb, Act act, Finish finish) {
  Trap answer;
  if (descriptorOf(arguments, answer) == nullptr)
    return answer;
  return offloadDroppable(
      arguments,
      [file = hostOf(arguments.vm()).handles().share<FileHandle>(handleOf(arguments, 0)),
       act = std::move(act)](Interrupt&) { return act(file->fd.get()) == -1 ? errno : 0; },
      [verb, finish](Arguments& answered, int& number) {
        if (number == 0)
          return finish(answered);
        errno = number;
        return answered.returnErr(errnoMessage(verb));
      });
}

/// Writes all at the file's position, or at `offset`.
Trap writeBytes(Arguments& arguments, StringRef bytes, std::optional<int64_t> offset,
                bool answersCount) {
  Trap answer;
  if (descriptorOf(arguments, answer) == nullptr)
    return answer;
  if (offset && *offset < 0)
    return arguments.returnErr("cannot write to the file: the offset is negative");
  return onDescriptor(
      arguments, "write to",
      [content = bytes.str(), offset](int fd) {
        StringRef left = content;
        int64_t at = offset.value_or(0);
        while (!left.empty()) {
          const ssize_t written = retryInterrupted([&] {
            return offset ? ::pwrite(fd, left.data(), left.size(), off_t(at))
                          : ::write(fd, left.data(), left.size());
          });
          if (written < 0)
            return -1;
          left = left.drop_front(size_t(written));
          at += written;
        }
        return 0;
      },
      [answersCount, size = int64_t(bytes.size())](Arguments& answered) {
        return answersCount ? answered.returnOkInteger(size) : answered.returnOkUnit();
      });
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

/// A lock on a part of the file, which never waits; length 0 is to the end, whatever the file grows
/// to. Locks of a descriptor where the system has them: those of a process are lost when any
/// descriptor of the file is closed.
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
  struct flock range{};
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

uint64_t countOf(int64_t n) {
  return n <= 0 ? 0 : uint64_t(n);
}

} // namespace

namespace bodies {

// ---- reading ------------------------------------------------------------------------------------

Trap FsRead(Arguments& arguments) {
  return readContent(arguments, [](Arguments& answered, StringRef, StringRef bytes) {
    return answered.returnOkBytes(bytes);
  });
}
Trap FsReadToString(Arguments& arguments) {
  return readText(arguments);
}
Trap BufioReadToString(Arguments& arguments) {
  return readText(arguments);
}
Trap BufioReadLines(Arguments& arguments) {
  return readContent(arguments, returnLines);
}
Trap BufioReadLinesOf(Arguments& arguments) {
  return readContent(arguments, returnLines);
}
Trap BufioSplitWhitespace(Arguments& arguments) {
  return StringSplitWhitespace(arguments);
}

Trap FsOpen(Arguments& arguments) {
  return onFiles<std::unique_ptr<FileHandle>>(
      arguments,
      [path = arguments.string(0).str()](HostFiles& files, std::unique_ptr<FileHandle>& file) {
        return files.open(path, file);
      },
      [](Arguments& answered, std::unique_ptr<FileHandle>& file) {
        return returnFile(answered, std::move(file));
      });
}
Trap FileOpen(Arguments& arguments) {
  return FsOpen(arguments);
}

namespace {
Trap returnEntries(Arguments& arguments, StringRef path, ArrayRef<ListedEntry> entries) {
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
} // namespace

Trap FsReadDir(Arguments& arguments) {
  const std::string path = arguments.string(0).str();
  return onFiles<std::vector<ListedEntry>>(
      arguments,
      [path](HostFiles& files, std::vector<ListedEntry>& entries) {
        return files.list(path, entries);
      },
      [path](Arguments& answered, std::vector<ListedEntry>& entries) {
        return returnEntries(answered, path, entries);
      });
}

Trap FsExists(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes, [](const FileFactsAnswer&) { return true; });
}
Trap FsIsFile(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes,
             [](const FileFactsAnswer& facts) { return facts.kind == FileKind::File; });
}
Trap FsIsDir(Arguments& arguments) {
  return ask(arguments, FollowLast::Yes,
             [](const FileFactsAnswer& facts) { return facts.kind == FileKind::Directory; });
}
Trap FsIsSymlink(Arguments& arguments) {
  return ask(arguments, FollowLast::No,
             [](const FileFactsAnswer& facts) { return facts.kind == FileKind::Link; });
}

Trap FsFileSize(Arguments& arguments) {
  FileFactsAnswer facts;
  FileResult result = filesOf(arguments).query(arguments.string(0), FollowLast::Yes, facts);
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  return arguments.returnInteger(result.done() ? int64_t(std::min<uint64_t>(facts.size, LLONG_MAX))
                                               : 0);
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
  return arguments.returnOkOwned(
      builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields));
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

namespace {
Trap writeFile(Arguments& arguments, std::optional<uint32_t> mode) {
  return onFiles(arguments,
                 [path = arguments.string(0).str(), bytes = contentsOf(arguments, 1).str(),
                  mode](HostFiles& files) { return files.writeAll(path, bytes, mode); });
}

template <class Finish> Trap openWith(Arguments& arguments, unsigned flags, Finish finish) {
  return onFiles<std::unique_ptr<FileHandle>>(
      arguments,
      [path = arguments.string(0).str(), flags](HostFiles& files,
                                                std::unique_ptr<FileHandle>& file) {
        return files.openWith(path, flags, file);
      },
      std::move(finish));
}
} // namespace

Trap FsWrite(Arguments& arguments) {
  return writeFile(arguments, std::nullopt);
}
Trap FsWriteMode(Arguments& arguments) {
  return writeFile(arguments, uint32_t(arguments.integer(2)));
}
Trap FsCreate(Arguments& arguments) {
  return openWith(arguments, kOpenWrite | kOpenCreate | kOpenTruncate,
                  [](Arguments& answered, std::unique_ptr<FileHandle>& file) {
                    return returnFile(answered, std::move(file));
                  });
}
Trap FileCreate(Arguments& arguments) {
  return FsCreate(arguments);
}

/// intrinsics::fs_open_with: the handle, for OpenOptions.
Trap FsOpenWith(Arguments& arguments) {
  return openWith(arguments, unsigned(arguments.integer(1)) & 63u,
                  [](Arguments& answered, std::unique_ptr<FileHandle>& file) {
                    return answered.returnOkInteger(
                        hostOf(answered.vm()).handles().add(std::move(file)));
                  });
}

Trap FsCopy(Arguments& arguments) {
  return onFiles<uint64_t>(
      arguments,
      [from = arguments.string(0).str(), to = arguments.string(1).str()](
          HostFiles& files, uint64_t& size) { return files.copy(from, to, size); },
      [](Arguments& answered, uint64_t& size) { return answered.returnOkInteger(int64_t(size)); });
}
Trap FsRename(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).rename(arguments.string(0), arguments.string(1)));
}
Trap FsCreateDir(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0), 0777, false, false));
}
Trap FsCreateDirAll(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0), 0777, false, true));
}
Trap FsCreateDirMode(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0),
                                                     uint32_t(arguments.integer(1)), true, false));
}
Trap FsCreateDirAllMode(Arguments& arguments) {
  return returnDone(arguments,
                    filesOf(arguments).makeDirectory(arguments.string(0),
                                                     uint32_t(arguments.integer(1)), true, true));
}
Trap FsRemoveFile(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).removeFile(arguments.string(0)));
}
Trap FsRemoveDir(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).removeDirectory(arguments.string(0)));
}
Trap FsRemoveDirAll(Arguments& arguments) {
  return onFiles(arguments, [path = arguments.string(0).str()](HostFiles& files) {
    return files.removeTree(path);
  });
}
Trap FsSetPermissions(Arguments& arguments) {
  return returnDone(arguments, filesOf(arguments).setPermissions(arguments.string(0),
                                                                 uint32_t(arguments.integer(1))));
}
Trap FsSyncDir(Arguments& arguments) {
  return onFiles(arguments, [path = arguments.string(0).str()](HostFiles& files) {
    return files.syncDirectory(path);
  });
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

namespace {
/// Reads of an open file; it stays open while a job reads, whoever closes it.
template <class Act, class Finish> Trap readOpen(Arguments& arguments, Act act, Finish finish) {
  const auto file = hostOf(arguments.vm()).handles().share<FileHandle>(handleOf(arguments, 0));
  if (!file)
    return arguments.returnErr(kNoFile);
  return onFiles<std::string>(
      arguments,
      [file, act](HostFiles& files, std::string& bytes) { return act(files, *file, bytes); },
      finish);
}
Trap returnBytes(Arguments& arguments, std::string& bytes) {
  return arguments.returnOkBytes(bytes);
}
} // namespace

Trap FileRead(Arguments& arguments) {
  return readOpen(
      arguments,
      [count = countOf(arguments.integer(1))](HostFiles& files, FileHandle& file,
                                              std::string& bytes) {
        return files.readMore(file, count, bytes);
      },
      returnBytes);
}

Trap FileReadToString(Arguments& arguments) {
  return readOpen(
      arguments,
      [](HostFiles& files, FileHandle& file, std::string& bytes) {
        return files.readMore(file, uint64_t(1) << 62, bytes);
      },
      [](Arguments& answered, std::string& bytes) {
        return vm::isValidUtf8(bytes) ? answered.returnOkString(bytes)
                                      : answered.returnErr("the file is not UTF-8");
      });
}

Trap FileReadAt(Arguments& arguments) {
  if (arguments.integer(1) < 0 && fileOf(arguments) != nullptr)
    return arguments.returnErr("cannot read the file: the offset is negative");
  return readOpen(
      arguments,
      [offset = uint64_t(arguments.integer(1)), count = countOf(arguments.integer(2))](
          HostFiles& files, FileHandle& file, std::string& bytes) {
        return files.readAt(file, offset, count, bytes);
      },
      returnBytes);
}

Trap FileWrite(Arguments& arguments) {
  return writeBytes(arguments, contentsOf(arguments, 1), std::nullopt, true);
}
Trap FileWriteBytes(Arguments& arguments) {
  return writeBytes(arguments, bytesOf(arguments, 1), std::nullopt, true);
}
Trap FileWriteAll(Arguments& arguments) {
  return writeBytes(arguments, contentsOf(arguments, 1), std::nullopt, false);
}
Trap FileWriteAt(Arguments& arguments) {
  return writeBytes(arguments, contentsOf(arguments, 2), arguments.integer(1), true);
}

Trap FileSetLen(Arguments& arguments) {
  Trap answer;
  FileHandle* file = descriptorOf(arguments, answer);
  if (file == nullptr)
    return answer;
  if (arguments.integer(1) < 0 || ::ftruncate(file->fd.get(), off_t(arguments.integer(1))) == -1)
    return arguments.returnErr(arguments.integer(1) < 0
                                   ? "cannot resize the file: the length is negative"
                                   : errnoMessage("resize"));
  return arguments.returnOkUnit();
}

Trap FileSyncAll(Arguments& arguments) {
  return onDescriptor(arguments, "sync", ::fsync,
                      [](Arguments& answered) { return answered.returnOkUnit(); });
}
Trap FileSyncData(Arguments& arguments) {
  return onDescriptor(arguments, "sync", ::fdatasync,
                      [](Arguments& answered) { return answered.returnOkUnit(); });
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
    return at == -1 ? arguments.returnErr(errnoMessage("seek in"))
                    : arguments.returnOkInteger(int64_t(at));
  }
  const int64_t from = whence == 0   ? 0
                       : whence == 1 ? int64_t(file->position)
                                     : int64_t(file->bytes.size());
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
  struct stat facts{};
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

Trap FileTryLockShared(Arguments& arguments) {
  return lockFile(arguments, LOCK_SH | LOCK_NB);
}
Trap FileTryLockExclusive(Arguments& arguments) {
  return lockFile(arguments, LOCK_EX | LOCK_NB);
}
Trap FileUnlock(Arguments& arguments) {
  return lockFile(arguments, LOCK_UN);
}
Trap FileTryLockRange(Arguments& arguments) {
  return lockRange(arguments, arguments.boolean(3) ? F_WRLCK : F_RDLCK);
}
Trap FileUnlockRange(Arguments& arguments) {
  return lockRange(arguments, F_UNLCK);
}

} // namespace bodies
} // namespace gos::stdlib
