// std::process: children without a shell.

#include "stdlib/host_state.h"
#include "stdlib/process_children.h"
#include "stdlib/process_start.h"
#include "stdlib/run_turns.h"
#include "stdlib/support.h"

#include "diagnostics/escape.h"
#include "sandbox/sys_error.h"
#include "vm/text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
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

/// Of our end of a pipe; the child's is its own.
void doNotBlock(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// A request with what this Vm has by now; what was printed goes out before the child prints.
ChildRequest makeRequest(Vm& vm, StringRef program, std::vector<std::string> arguments) {
  LibraryHost& host = hostOf(vm);
  host.flush();
  ChildRequest request;
  request.program = program.str();
  request.arguments = std::move(arguments);
  request.directory = host.directory().str();
  request.variables = host.variables();
  request.wellFormed = !hasNul(request.program) && llvm::none_of(request.arguments, hasNul);
  return request;
}

/// 128 + signal for a child that a signal ended.
int64_t codeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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

/// What a run holds at most of its own descriptors, its start included: three streams and what its
/// ends are waited for by; less if the streams are the program's.
constexpr size_t kDescriptorsOfCapture = 10;
constexpr size_t kDescriptorsOfRun = 4;

/// What became of children whose output is taken.
struct Captured {
  std::string fault;
  bool tooLarge = false;
  std::string output;
  std::string error;
  int64_t code = 0;
};

/// Reads both streams until both end, they hold more than `cap`, or it is interrupted.
void drainBoth(int output, int error, uint64_t cap, Captured& captured, Interrupt& interrupt) {
  // One waits for either through a descriptor of its own, which stands for both.
  const UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  std::array<int, 2> ends{output, error};
  for (uint32_t i = 0; i < ends.size(); ++i) {
    doNotBlock(ends[i]);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = i;
    ::epoll_ctl(both.get(), EPOLL_CTL_ADD, ends[i], &event);
  }
  std::vector<char> block(size_t(64) << 10);
  while (ends[0] >= 0 || ends[1] >= 0) {
    if (interrupt.wait(both.get(), POLLIN) == Interrupt::Ended::Interrupted)
      return;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] < 0)
        continue;
      const ssize_t count =
          retryInterrupted([&] { return ::read(ends[i], block.data(), block.size()); });
      if (count < 0 && errno == EAGAIN)
        continue;
      if (count <= 0) {
        ::epoll_ctl(both.get(), EPOLL_CTL_DEL, ends[i], nullptr);
        ends[i] = -1;
        continue;
      }
      (i == 0 ? captured.output : captured.error).append(block.data(), size_t(count));
      captured.tooLarge = captured.output.size() + captured.error.size() > cap;
      if (captured.tooLarge)
        return;
    }
  }
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

Trap returnCaptured(Arguments& arguments, Captured& captured) {
  if (captured.tooLarge)
    return arguments.vm().heapTrap();
  if (!captured.fault.empty())
    return arguments.returnErr(captured.fault);
  return returnOutput(arguments, std::move(captured.output), std::move(captured.error),
                      captured.code);
}

/// Runs the requests as a pipeline, each one's output the next one's input, and takes the output of
/// the last one and the errors of all.
Captured runPipeline(std::vector<ChildRequest>& requests, Children& children, uint64_t cap,
                     Interrupt& interrupt) {
  Captured captured;
  const RunTurn turn(kDescriptorsOfCapture, [&] { return interrupt.triggered(); });
  if (!turn) {
    captured.fault = kCancelled.str();
    return captured;
  }
  const auto closed = llvm::make_scope_exit([&] { interrupt.close(); }); // before the turn ends
  Pipe error;
  if (!makePipe(error)) {
    captured.fault = "cannot run `" + requests.front().program + "`: " + errnoText(errno);
    return captured;
  }
  UniqueFd before;
  for (ChildRequest& request : requests) {
    Pipe output;
    if (!makePipe(output))
      captured.fault = "cannot run `" + escapeForText(request.program) + "`: " + errnoText(errno);
    request.noInput = !before.valid();
    request.input = before.get();
    request.output = output.writer.get();
    request.error = error.writer.get();
    if (captured.fault.empty())
      captured.fault = children.add([&](int& pid) { return startChild(request, pid); });
    before = std::move(output.reader);
    if (!captured.fault.empty())
      break;
  }
  error.writer.reset();
  if (captured.fault.empty())
    drainBoth(before.get(), error.reader.get(), cap, captured, interrupt);
  before.reset();
  error.reader.reset();
  if (!captured.fault.empty() || captured.tooLarge || interrupt.triggered()) {
    children.stop();
    if (captured.fault.empty())
      captured.fault = kCancelled.str();
    return captured;
  }
  if (const auto statuses = children.wait(interrupt))
    captured.code = codeOf(statuses->back()); // that of the last command
  else
    captured.fault = kCancelled.str();
  return captured;
}

/// Of a run whose goroutine is cancelled, and that may still wait for its turn.
void stopRun(Children& children) {
  children.stop();
  RunTurns::all().wake();
}

Trap capture(Arguments& arguments, std::vector<ChildRequest> requests) {
  auto children = std::make_shared<Children>();
  const uint64_t cap = arguments.vm().heap().available();
  return offload(
      arguments,
      [requests = std::move(requests), children, cap](Interrupt& interrupt) mutable {
        return runPipeline(requests, *children, cap, interrupt);
      },
      returnCaptured, [children] { stopRun(*children); });
}
Trap capture(Arguments& arguments, ChildRequest request) {
  std::vector<ChildRequest> requests;
  requests.push_back(std::move(request));
  return capture(arguments, std::move(requests));
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
bool isProcess(int64_t pid) {
  return pid > 1 && pid <= 0x7fffffff;
}

} // namespace

namespace bodies {

Trap ProcessRun(Arguments& arguments) {
  return capture(arguments,
                 makeRequest(arguments.vm(), arguments.string(0), stringsOf(arguments, 1)));
}

Trap ProcessRunIn(Arguments& arguments) {
  ChildRequest request = makeRequest(arguments.vm(), arguments.string(0), stringsOf(arguments, 1));
  if (!arguments.string(2).empty())
    request.directory = arguments.string(2).str();
  const VecObject* pairs = arguments.vec(3);
  for (uint64_t i = 0; i < pairs->length; ++i) {
    const vm::StructObject* pair = vm::asStruct(pairs->slots[i]);
    if (pair == nullptr || pair->slots()[0] == 0 || pair->slots()[1] == 0)
      return Trap::borrowed("an element is borrowed elsewhere");
    const std::string name = vm::asString(pair->slots()[0])->text().str();
    const std::string value = vm::asString(pair->slots()[1])->text().str();
    if (name.empty() || name.find('=') != std::string::npos || hasNul(name) || hasNul(value))
      request.wellFormed = false;
    request.variables[name] = value;
  }
  return capture(arguments, std::move(request));
}

Trap ProcessRunInherit(Arguments& arguments) {
  auto children = std::make_shared<Children>();
  struct Answer {
    std::string fault;
    int64_t code = 0;
  };
  return offload(
      arguments,
      [request = makeRequest(arguments.vm(), arguments.string(0), stringsOf(arguments, 1)),
       children](Interrupt& interrupt) {
        Answer answer;
        const RunTurn turn(kDescriptorsOfRun, [&] { return interrupt.triggered(); });
        if (!turn) {
          answer.fault = kCancelled.str();
          return answer;
        }
        const auto closed = llvm::make_scope_exit([&] { interrupt.close(); });
        answer.fault = children->add([&](int& pid) { return startChild(request, pid); });
        if (!answer.fault.empty())
          return answer;
        if (const auto statuses = children->wait(interrupt))
          answer.code = codeOf(statuses->back());
        else
          answer.fault = kCancelled.str();
        return answer;
      },
      [](Arguments& answered, Answer& answer) {
        return answer.fault.empty() ? answered.returnOkInteger(answer.code)
                                    : answered.returnErr(answer.fault);
      },
      [children] { stopRun(*children); });
}

Trap ProcessSpawn(Arguments& arguments) {
  ChildRequest request = makeRequest(arguments.vm(), arguments.string(0), stringsOf(arguments, 1));
  request.endsWithStarter = false; // it may outlive the program
  int pid = -1;
  const std::string fault =
      startKept([&](int& started) { return startChild(request, started); }, pid);
  if (!fault.empty())
    return arguments.returnErr(fault);
  return arguments.returnOkInteger(pid);
}

Trap ProcessSpawnPiped(Arguments& arguments) {
  ChildRequest request = makeRequest(arguments.vm(), arguments.string(0), stringsOf(arguments, 1));
  Pipe input;
  Pipe output;
  if (!makePipe(input) || !makePipe(output))
    return arguments.returnErr("cannot run `" + escapeForText(request.program) +
                               "`: " + errnoText(errno));
  request.input = input.reader.get();
  request.output = output.writer.get();
  auto child = std::make_unique<ChildHandle>();
  if (const std::string fault =
          child->process->add([&](int& pid) { return startChild(request, pid); });
      !fault.empty())
    return arguments.returnErr(fault);
  doNotBlock(input.writer.get());
  doNotBlock(output.reader.get());
  child->input = std::make_shared<ByteSink>();
  child->input->fd = std::move(input.writer);
  child->output = std::make_shared<ByteSource>(std::move(output.reader));
  LibraryHost& host = hostOf(arguments.vm());
  Builder builder(arguments.vm());
  const Value fields[] = {vm::fromInteger(host.handles().add(std::move(child)))};
  const Value made =
      builder.structure(payloadOf(arguments.vm(), arguments.resultLayout(), "Ok"), fields);
  return made == 0 ? arguments.vm().heapTrap() : arguments.returnOkOwned(made);
}

Trap ProcessPipelineRun(Arguments& arguments) {
  const std::vector<std::string> commands = stringsOf(arguments, 0);
  if (commands.empty())
    return arguments.returnErr("a pipeline needs a command");
  std::vector<ChildRequest> requests;
  for (const std::string& command : commands) {
    std::vector<std::string> words;
    if (!splitWords(command, words))
      return arguments.returnErr("cannot read the command `" + command +
                                 "`: it is empty, or a quote is not closed");
    requests.push_back(
        makeRequest(arguments.vm(), words.front(), {words.begin() + 1, words.end()}));
  }
  return capture(arguments, std::move(requests));
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
  const auto reap = [pid] {
    if (const std::optional<int> status = reapChild(int(pid)))
      return codeOf(*status);
    siginfo_t facts{};
    return ::waitid(P_PID, id_t(pid), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 ? int64_t(-1)
                                                                                : int64_t(-2);
  };
  const int64_t limit = std::clamp<int64_t>(arguments.integer(1), 0, int64_t(1) << 40);
  if (const int64_t code = reap(); code != -1 || limit == 0)
    return arguments.returnInteger(std::max<int64_t>(code, -1));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit);
  return offload(
      arguments,
      [pid, deadline, reap](Interrupt& interrupt) {
        awaitChild(int(pid), interrupt, deadline);
        return reap();
      },
      [](Arguments& answered, int64_t& code) {
        return answered.returnInteger(std::max<int64_t>(code, -1));
      });
}

Trap ProcessExit(Arguments& arguments) {
  return Trap::exit(arguments.integer(0));
}
/// As a shell reports an abort: 128 + SIGABRT.
Trap ProcessAbort(Arguments&) {
  return Trap::exit(128 + SIGABRT);
}
Trap ProcessId(Arguments& arguments) {
  return arguments.returnInteger(int64_t(::getpid()));
}

// ---- Child --------------------------------------------------------------------------------------

namespace {

/// What could be written at once, and what went wrong. A child that does not read any more must not
/// end this program.
int writePart(int fd, StringRef& text) {
  sigset_t pipeSignal;
  sigset_t before;
  sigemptyset(&pipeSignal);
  sigaddset(&pipeSignal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipeSignal, &before);
  int fault = 0;
  while (!text.empty() && fault == 0) {
    const ssize_t written = retryInterrupted([&] { return ::write(fd, text.data(), text.size()); });
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
  return fault;
}

Trap returnWritten(Arguments& arguments, int& fault) {
  if (fault == ECANCELED)
    return arguments.returnErr(kCancelled);
  return fault == 0 ? arguments.returnOkUnit()
                    : arguments.returnErr("cannot write to the child: " + errnoText(fault));
}

} // namespace

Trap ChildWriteStdin(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnErr(kNoChild);
  if (!child->input)
    return arguments.returnErr("the child's standard input is closed");
  StringRef text = arguments.string(1);
  if (const Turn turn(child->input->turns); turn) {
    int fault = writePart(child->input->fd.get(), text);
    if (fault != EAGAIN)
      return returnWritten(arguments, fault);
  }
  return offload(
      arguments,
      [sink = child->input, left = text.str()](Interrupt& interrupt) {
        const Turn turn(sink->turns, interrupt);
        StringRef rest = left;
        int fault = turn ? EAGAIN : ECANCELED;
        while (fault == EAGAIN)
          fault = interrupt.wait(sink->fd.get(), POLLOUT) == Interrupt::Ended::Interrupted
                      ? ECANCELED
                      : writePart(sink->fd.get(), rest);
        return fault;
      },
      returnWritten);
}

Trap ChildCloseStdin(Arguments& arguments) {
  if (ChildHandle* child = childOf(arguments))
    child->input.reset(); // who is writing to it finishes
  return arguments.returnUnit();
}

namespace {

struct Piece {
  ByteSource::Ended ended = ByteSource::Ended::Done;
  std::string bytes;
};

Trap returnLine(Arguments& arguments, Piece& piece) {
  if (piece.ended == ByteSource::Ended::TooLarge)
    return arguments.vm().heapTrap();
  std::string& line = piece.bytes;
  if (line.empty())
    return arguments.returnNone();
  if (line.back() == '\n')
    line.pop_back();
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return arguments.returnSomeString(asText(std::move(line)));
}

} // namespace

Trap ChildReadLine(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnNone();
  Piece now;
  if (child->output->lineNow(now.bytes))
    return returnLine(arguments, now);
  return offload(
      arguments,
      [source = child->output, cap = arguments.vm().heap().available()](Interrupt& interrupt) {
        Piece piece;
        piece.ended = source->line(piece.bytes, cap, interrupt);
        return piece;
      },
      returnLine);
}

Trap ChildReadStdout(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnString({});
  return offload(
      arguments,
      [source = child->output, cap = arguments.vm().heap().available()](Interrupt& interrupt) {
        Piece piece;
        piece.ended = source->rest(piece.bytes, cap, interrupt);
        return piece;
      },
      [](Arguments& answered, Piece& piece) {
        return piece.ended == ByteSource::Ended::TooLarge
                   ? answered.vm().heapTrap()
                   : answered.returnString(asText(std::move(piece.bytes)));
      });
}

Trap ChildWait(Arguments& arguments) {
  ChildHandle* child = childOf(arguments);
  if (child == nullptr)
    return arguments.returnErr(kNoChild);
  child->input.reset();
  return offload(
      arguments,
      [process = child->process](Interrupt& interrupt) { return process->wait(interrupt); },
      [](Arguments& answered, std::optional<std::vector<int>>& statuses) {
        return statuses ? answered.returnOkInteger(codeOf(statuses->back()))
                        : answered.returnErr(kCancelled);
      });
}

Trap ChildKill(Arguments& arguments) {
  if (ChildHandle* child = childOf(arguments))
    child->process->signalAll(SIGKILL);
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
