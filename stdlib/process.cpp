// std::process: children without a shell. A child is started by posix_spawn, which never copies this process; its
// descriptors are the three streams and nothing else, for all of ours are close-on-exec.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include "sandbox/sys_error.h"
#include "vm/text.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

bool makePipe(Pipe& pipe) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) == -1)
    return false;
  pipe.reader.reset(ends[0]);
  pipe.writer.reset(ends[1]);
  return true;
}

/// What a child is started with. A descriptor of -1 is the caller's own stream.
struct ChildRequest {
  std::string program;
  std::vector<std::string> arguments;
  std::string directory; // empty: the Vm's
  std::vector<std::pair<std::string, std::string>> variables;
  int input = -1;
  int output = -1;
  int error = -1;
  bool noInput = false; // standard input is empty
};

bool hasNul(const ChildRequest& request) {
  auto bad = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  for (const std::string& argument : request.arguments)
    if (bad(argument))
      return true;
  for (const auto& [name, value] : request.variables)
    if (name.empty() || name.find('=') != std::string::npos || bad(name) || bad(value))
      return true;
  return bad(request.program) || bad(request.directory);
}

/// Starts the child; a message when that is not possible.
std::string startChild(LibraryHost& host, const ChildRequest& request, int& pid) {
  pid = -1;
  if (request.program.empty())
    return "cannot run a program without a name";
  if (hasNul(request))
    return "cannot run `" + request.program.substr(0, 64) + "`: an argument or a variable is not well formed";
  host.flush();

  std::map<std::string, std::string> variables = host.variables();
  for (const auto& [name, value] : request.variables)
    variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables)
    environment.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (std::string& entry : environment)
    envp.push_back(entry.data());
  envp.push_back(nullptr);
  std::vector<std::string> words{request.program};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0)
    return "cannot run `" + request.program + "`: out of memory";
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return "cannot run `" + request.program + "`: out of memory";
  }
  int fault = 0;
  if (request.noInput)
    fault |= ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (request.input >= 0)
    fault |= ::posix_spawn_file_actions_adddup2(&actions, request.input, STDIN_FILENO);
  if (request.output >= 0)
    fault |= ::posix_spawn_file_actions_adddup2(&actions, request.output, STDOUT_FILENO);
  if (request.error >= 0)
    fault |= ::posix_spawn_file_actions_adddup2(&actions, request.error, STDERR_FILENO);
  const std::string directory = request.directory.empty() ? host.directory().str() : request.directory;
  if (!directory.empty())
    fault |= ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  // Signals that the tool ignores are the child's to meet.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigset_t none;
  sigemptyset(&none);
  fault |= ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  fault |= ::posix_spawnattr_setsigmask(&attributes, &none);
  fault |= ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  if (fault == 0)
    fault = ::posix_spawnp(&child, request.program.c_str(), &actions, &attributes, argv.data(), envp.data());
  else
    fault = ENOMEM;
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (fault != 0)
    return "cannot run `" + request.program + "`: " + errnoText(fault);
  pid = child;
  return {};
}

/// 128 + signal for a child that a signal ended.
int64_t codeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int waitFor(int pid) {
  int status = 0;
  retryInterrupted([&] { return ::waitpid(pid, &status, 0); });
  return status;
}

void killAndReap(int pid) {
  ::kill(pid, SIGKILL);
  waitFor(pid);
}

/// Text of a child's output: bytes that are not UTF-8 become U+FFFD.
std::string asText(std::string bytes) {
  if (vm::isValidUtf8(bytes))
    return bytes;
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    unsigned length = 1;
    char buffer[4];
    out.append(buffer, vm::encodeScalar(vm::decodeScalar(bytes, at, length), buffer));
    at += length;
  }
  return out;
}

/// Reads both streams until both end; false when they hold more than `cap`.
bool drainBoth(int output, int error, uint64_t cap, std::string& outText, std::string& errorText) {
  std::array<pollfd, 2> ends{pollfd{output, POLLIN, 0}, pollfd{error, POLLIN, 0}};
  std::vector<char> block(size_t(64) << 10);
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (retryInterrupted([&] { return ::poll(ends.data(), ends.size(), -1); }) < 0)
      return true;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0)
        continue;
      const ssize_t count = retryInterrupted([&] { return ::read(ends[i].fd, block.data(), block.size()); });
      if (count <= 0) {
        ends[i].fd = -1; // poll passes over it
        continue;
      }
      (i == 0 ? outText : errorText).append(block.data(), size_t(count));
      if (outText.size() + errorText.size() > cap)
        return false;
    }
  }
  return true;
}

/// Ok(Output { stdout, stderr, code })
Trap returnOutput(Arguments& arguments, std::string outText, std::string errorText, int64_t code) {
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId output = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value fields[] = {builder.string(builder.field(output, 0), asText(std::move(outText))),
                          builder.string(builder.field(output, 1), asText(std::move(errorText))),
                          vm::fromInteger(code)};
  const Value made = builder.structure(output, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

Trap capture(Arguments& arguments, ChildRequest request) {
  Vm& vm = arguments.vm();
  Pipe output;
  Pipe error;
  if (!makePipe(output) || !makePipe(error))
    return arguments.returnErr("cannot run `" + request.program + "`: " + errnoText(errno));
  request.noInput = true;
  request.output = output.writer.get();
  request.error = error.writer.get();
  int pid = -1;
  if (const std::string fault = startChild(hostOf(vm), request, pid); !fault.empty())
    return arguments.returnErr(fault);
  output.writer.reset();
  error.writer.reset();
  std::string outText;
  std::string errorText;
  if (!drainBoth(output.reader.get(), error.reader.get(), vm.heap().available(), outText, errorText)) {
    killAndReap(pid);
    return vm.heapTrap();
  }
  return returnOutput(arguments, std::move(outText), std::move(errorText), codeOf(waitFor(pid)));
}

/// Words of a command of a pipeline: blanks separate, quotes keep together; there is no shell.
bool splitWords(StringRef text, std::vector<std::string>& words) {
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && quote == '"' && i + 1 < text.size())
        word += text[++i];
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      inWord = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inWord)
        words.push_back(std::move(word));
      word.clear();
      inWord = false;
    } else {
      if (c == '\\' && i + 1 < text.size())
        word += text[++i];
      else
        word += c;
      inWord = true;
    }
  }
  if (inWord)
    words.push_back(std::move(word));
  return quote == 0 && !words.empty();
}

ChildHandle* childOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<ChildHandle>(handleOf(arguments, 0));
}
constexpr StringRef kNoChild = "no such child of this program";

/// Only processes that a number can honestly name: never a group, never everything.
bool isProcess(int64_t pid) { return pid > 1 && pid <= 0x7fffffff; }

} // namespace

namespace bodies {

Trap ProcessRun(Arguments& arguments) {
  ChildRequest request;
  request.program = arguments.string(0).str();
  request.arguments = stringsOf(arguments, 1);
  return capture(arguments, std::move(request));
}

Trap ProcessRunIn(Arguments& arguments) {
  ChildRequest request;
  request.program = arguments.string(0).str();
  request.arguments = stringsOf(arguments, 1);
  request.directory = arguments.string(2).str();
  const VecObject* pairs = arguments.vec(3);
  for (uint64_t i = 0; i < pairs->length; ++i) {
    const vm::StructObject* pair = vm::asStruct(pairs->slots[i]);
    if (pair == nullptr || pair->slots()[0] == 0 || pair->slots()[1] == 0)
      return Trap::incompatible("an element is borrowed elsewhere");
    request.variables.emplace_back(vm::asString(pair->slots()[0])->text().str(),
                                   vm::asString(pair->slots()[1])->text().str());
  }
  return capture(arguments, std::move(request));
}

Trap ProcessRunInherit(Arguments& arguments) {
  ChildRequest request;
  request.program = arguments.string(0).str();
  request.arguments = stringsOf(arguments, 1);
  int pid = -1;
  if (const std::string fault = startChild(hostOf(arguments.vm()), request, pid); !fault.empty())
    return arguments.returnErr(fault);
  return arguments.returnOkInteger(codeOf(waitFor(pid)));
}

Trap ProcessSpawn(Arguments& arguments) {
  ChildRequest request;
  request.program = arguments.string(0).str();
  request.arguments = stringsOf(arguments, 1);
  int pid = -1;
  if (const std::string fault = startChild(hostOf(arguments.vm()), request, pid); !fault.empty())
    return arguments.returnErr(fault);
  return arguments.returnOkInteger(pid);
}

Trap ProcessSpawnPiped(Arguments& arguments) {
  ChildRequest request;
  request.program = arguments.string(0).str();
  request.arguments = stringsOf(arguments, 1);
  Pipe input;
  Pipe output;
  if (!makePipe(input) || !makePipe(output))
    return arguments.returnErr("cannot run `" + request.program + "`: " + errnoText(errno));
  request.input = input.reader.get();
  request.output = output.writer.get();
  auto child = std::make_unique<ChildHandle>();
  LibraryHost& host = hostOf(arguments.vm());
  if (const std::string fault = startChild(host, request, child->pid); !fault.empty())
    return arguments.returnErr(fault);
  child->input = std::move(input.writer);
  child->output = std::move(output.reader);
  Builder builder(arguments.vm());
  const Value fields[] = {vm::fromInteger(host.handles().add(std::move(child)))};
  const Value made = builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields);
  return made == 0 ? arguments.vm().heapTrap() : arguments.returnOkOwned(made);
}

Trap ProcessPipelineRun(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const std::vector<std::string> commands = stringsOf(arguments, 0);
  if (commands.empty())
    return arguments.returnErr("a pipeline needs a command");
  std::vector<ChildRequest> requests;
  for (const std::string& command : commands) {
    std::vector<std::string> words;
    if (!splitWords(command, words))
      return arguments.returnErr("cannot read the command `" + command + "`: it is empty, or a quote is not closed");
    ChildRequest request;
    request.program = words.front();
    request.arguments.assign(words.begin() + 1, words.end());
    requests.push_back(std::move(request));
  }
  Pipe error;
  if (!makePipe(error))
    return arguments.returnErr("cannot run a pipeline: " + errnoText(errno));
  std::vector<int> children;
  UniqueFd before;
  std::string fault;
  for (size_t i = 0; i < requests.size() && fault.empty(); ++i) {
    Pipe output;
    if (!makePipe(output)) {
      fault = "cannot run a pipeline: " + errnoText(errno);
      break;
    }
    requests[i].noInput = i == 0;
    requests[i].input = before.get();
    requests[i].output = output.writer.get();
    requests[i].error = error.writer.get();
    int pid = -1;
    fault = startChild(hostOf(vm), requests[i], pid);
    if (fault.empty())
      children.push_back(pid);
    before = std::move(output.reader);
  }
  error.writer.reset();
  std::string outText;
  std::string errorText;
  if (!fault.empty() || !drainBoth(before.get(), error.reader.get(), vm.heap().available(), outText, errorText)) {
    for (int pid : children)
      killAndReap(pid);
    return fault.empty() ? vm.heapTrap() : arguments.returnErr(fault);
  }
  before.reset();
  int64_t code = 0;
  for (int pid : children)
    code = codeOf(waitFor(pid)); // that of the last command
  return returnOutput(arguments, std::move(outText), std::move(errorText), code);
}

Trap ProcessKill(Arguments& arguments) {
  const int64_t pid = arguments.integer(0);
  return arguments.returnBoolean(isProcess(pid) && ::kill(pid_t(pid), SIGKILL) == 0);
}
Trap ProcessSignal(Arguments& arguments) {
  const int64_t pid = arguments.integer(0);
  const int64_t number = arguments.integer(1);
  return arguments.returnBoolean(isProcess(pid) && number >= 0 && number < NSIG &&
                                 ::kill(pid_t(pid), int(number)) == 0);
}
Trap ProcessKillGroup(Arguments& arguments) {
  const int64_t pid = arguments.integer(0);
  return arguments.returnBoolean(isProcess(pid) && ::killpg(pid_t(pid), SIGKILL) == 0);
}

/// The exit code of a child; -1 when the time is over or it is no child.
Trap ProcessWaitTimeout(Arguments& arguments) {
  const int64_t pid = arguments.integer(0);
  if (!isProcess(pid))
    return arguments.returnInteger(-1);
  const auto start = std::chrono::steady_clock::now();
  const int64_t limit = std::clamp<int64_t>(arguments.integer(1), 0, int64_t(1) << 40);
  for (unsigned round = 0;; ++round) {
    int status = 0;
    const pid_t ended = retryInterrupted([&] { return ::waitpid(pid_t(pid), &status, WNOHANG); });
    if (ended == pid_t(pid))
      return arguments.returnInteger(codeOf(status));
    if (ended < 0 || std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(limit))
      return arguments.returnInteger(-1);
    ::poll(nullptr, 0, round < 20 ? 1 : 10);
  }
}

Trap ProcessExit(Arguments& arguments) { return Trap::exit(arguments.integer(0)); }
/// As a shell reports an abort: 128 + SIGABRT.
Trap ProcessAbort(Arguments&) { return Trap::exit(128 + SIGABRT); }
Trap ProcessId(Arguments& arguments) { return arguments.returnInteger(int64_t(::getpid())); }

// ---- Child --------------------------------------------------------------------------------------

Trap ChildWriteStdin(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnErr(kNoChild);
  if (!child->input.valid())
    return arguments.returnErr("the child's standard input is closed");
  // A child that does not read any more must not end this program.
  sigset_t pipeSignal;
  sigset_t before;
  sigemptyset(&pipeSignal);
  sigaddset(&pipeSignal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipeSignal, &before);
  StringRef text = arguments.string(1);
  int fault = 0;
  while (!text.empty() && fault == 0) {
    const ssize_t written = retryInterrupted([&] { return ::write(child->input.get(), text.data(), text.size()); });
    if (written < 0)
      fault = errno;
    else
      text = text.drop_front(size_t(written));
  }
  if (fault == EPIPE) {
    const timespec now{0, 0};
    ::sigtimedwait(&pipeSignal, nullptr, &now); // takes the signal that is pending
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return fault == 0 ? arguments.returnOkUnit() : arguments.returnErr("cannot write to the child: " + errnoText(fault));
}

Trap ChildCloseStdin(Arguments& arguments) {
  if (ChildHandle* child = childOf(arguments))
    child->input.reset();
  return arguments.returnUnit();
}

namespace {
/// Reads one block of a child's output; false at its end.
bool readBlock(ChildHandle& child) {
  if (!child.output.valid())
    return false;
  std::array<char, 8192> block;
  const ssize_t count = retryInterrupted([&] { return ::read(child.output.get(), block.data(), block.size()); });
  if (count <= 0) {
    child.output.reset();
    return false;
  }
  child.pending.append(block.data(), size_t(count));
  return true;
}
} // namespace

Trap ChildReadLine(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnNone();
  size_t end = child->pending.find('\n');
  while (end == std::string::npos && readBlock(*child)) {
    if (child->pending.size() > arguments.vm().heap().available())
      return arguments.vm().heapTrap();
    end = child->pending.find('\n');
  }
  if (child->pending.empty())
    return arguments.returnNone();
  std::string line = child->pending.substr(0, end);
  child->pending.erase(0, end == std::string::npos ? end : end + 1);
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return arguments.returnSomeString(asText(std::move(line)));
}

Trap ChildReadStdout(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnString({});
  while (readBlock(*child))
    if (child->pending.size() > arguments.vm().heap().available())
      return arguments.vm().heapTrap();
  std::string rest = std::move(child->pending);
  child->pending.clear();
  return arguments.returnString(asText(std::move(rest)));
}

Trap ChildWait(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnErr(kNoChild);
  child->input.reset();
  if (!child->status)
    child->status = waitFor(child->pid);
  return arguments.returnOkInteger(codeOf(*child->status));
}

Trap ChildKill(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child != nullptr && !child->status)
    ::kill(child->pid, SIGKILL); // not reaped yet, so the number is still its own
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
