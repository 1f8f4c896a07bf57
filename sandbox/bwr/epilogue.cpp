#include "sandbox/bwr/epilogue.h"

#include "diagnostics/json_writer.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace gos::bwr {

namespace {
constexpr uint64_t kSchema = 1;

/// A reader that is gone ends nothing: what counts is the code of the command.
void writeAll(int fd, llvm::StringRef text) {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr); // for good: this is the last that is written
  while (!text.empty()) {
    const ssize_t wrote = retryInterrupted([&] { return ::write(fd, text.data(), text.size()); });
    if (wrote <= 0)
      return; // nobody listens, and the code of the command counts
    text = text.drop_front(size_t(wrote));
  }
}

void stringOrNull(JsonWriter& json, llvm::StringRef name, llvm::StringRef value) {
  json.key(name);
  if (value.empty())
    json.null();
  else
    json.string(value);
}
} // namespace

llvm::Expected<Epilogue> Epilogue::create(bool json, const std::optional<std::string>& file) {
  Epilogue epilogue;
  epilogue.json_ = json;
  if (!file)
    return epilogue;
  // Nothing waits for the other end of a pipe that has none.
  epilogue.file_ = UniqueFd(::open(
      file->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
  if (!epilogue.file_ && errno == ENXIO)
    return llvm::make_error<sandbox::PolicyError>("file `" + *file +
                                                      "` of `--json` is a pipe that nobody reads",
                                                  "start its reader first, or --json=FILE");
  if (epilogue.file_)
    ::fcntl(epilogue.file_.get(), F_SETFL, O_WRONLY); // a slow reader gets all of it
  if (!epilogue.file_)
    return llvm::make_error<sandbox::PolicyError>(
        "file `" + *file + "` of `--json` cannot be written: " + errnoText(errno),
        "--json=FILE in a directory that exists");
  return epilogue;
}

void Epilogue::line(llvm::StringRef text, int otherwise) {
  writeAll(file_ ? file_.get() : otherwise, (text + "\n").str());
}

void Epilogue::write(const Failure& failure, const Options* options) {
  if (json_)
    line(failureJson(failure, options), STDERR_FILENO);
}
void Epilogue::write(const Request& request, const sandbox::RunResult& result,
                     const sandbox::Report* report) {
  // What the command wrote last may lack its newline: the object begins a line of its own.
  if (json_)
    line((file_ ? "" : "\n") + resultJson(request, result, report), STDERR_FILENO);
}
void Epilogue::writeObject(llvm::StringRef object) {
  line(object, STDOUT_FILENO);
}

std::string failureJson(const Failure& failure, const Options* options) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", kSchema);
  json.member("code", uint64_t(failure.code));
  json.key("level");
  if (options != nullptr)
    json.string(gos::spelling(options->level));
  else
    json.null();
  json.key("error");
  json.beginObject();
  json.member("kind", failure.kind);
  json.member("text", failure.text);
  stringOrNull(json, "primitive", failure.primitive);
  stringOrNull(json, "fix", failure.remedy);
  json.endObject();
  json.endObject();
  return json.finish();
}

std::string resultJson(const Request& request, const sandbox::RunResult& result,
                       const sandbox::Report* report) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", kSchema);
  json.member("code", uint64_t(result.code));
  json.key("signal");
  if (result.signal != 0)
    json.number(uint64_t(result.signal));
  else
    json.null();
  json.key("wall_seconds");
  json.real(result.wallSeconds);
  json.key("cpu_seconds");
  json.real(result.cpuSeconds);
  json.member("peak_bytes", result.peakBytes);
  json.member("killed", uint64_t(result.killed));
  json.key("cleaned");
  json.beginObject();
  json.member("processes", uint64_t(result.killed));
  json.key("temporary_directory");
  json.boolean(result.temporaryRemoved);
  json.endObject();
  json.member("level", gos::spelling(request.policy.level()));
  stringOrNull(json, "profile", request.profile);
  stringOrNull(json, "phase", request.phase);
  json.key("created_guards");
  json.beginArray();
  for (const std::string& path : result.createdGuards)
    json.string(path);
  json.endArray();
  json.key("cover_lost");
  json.boolean(result.coverLost);
  json.key("network_refused");
  json.boolean(result.networkRefused);
  if (report != nullptr) {
    json.key("report");
    json.beginObject();
    sandbox::writeReport(json, *report);
    json.endObject();
  }
  json.key("error");
  json.null();
  json.endObject();
  return json.finish();
}

void printEnd(llvm::raw_ostream& out, const Request& request, const sandbox::RunResult& result,
              llvm::StringRef networkNote) {
  if (result.coverLost)
    print(out, {result.code,
                "policy",
                "something outside replaced a path that was closed, and the run was ended",
                {},
                {},
                {}});
  for (const std::string& path : result.createdGuards)
    printNote(out, "the command made `" + path +
                       "`, which is read by programs outside of the sandbox; look at it first");
  if (result.code == 0 || result.signal != 0)
    return;
  for (const std::string& hint : request.hints)
    printNote(out, hint);
  bool missing = false;
  for (const MissingFile& file : request.missing)
    if (llvm::none_of(file.anyOf, [](const std::string& path) {
          return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        })) {
      printNote(out, file.hint);
      missing = true;
    }
  // What to run first has been said then.
  if (!networkNote.empty() && !missing)
    printNote(out, networkNote);
}

} // namespace gos::bwr
