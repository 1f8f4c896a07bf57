// std::net: TCP, with timeouts. Descriptors do not block: a body tries, and waits as a job if it
// has to.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include "sandbox/sys_error.h"
#include "vm/text.h"

#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

struct AddressList {
  addrinfo* first = nullptr;
  AddressList() = default;
  AddressList(const AddressList&) = delete;
  AddressList& operator=(const AddressList&) = delete;
  ~AddressList() {
    if (first != nullptr)
      ::freeaddrinfo(first);
  }
};

/// "host:port", "[::1]:port", ":port".
bool splitAddress(StringRef text, std::string& host, std::string& port) {
  const size_t colon = text.rfind(':');
  if (colon == StringRef::npos || text.contains('\0'))
    return false;
  StringRef name = text.take_front(colon);
  if (name.consume_front("[") && !name.consume_back("]"))
    return false;
  host = name.str();
  port = text.drop_front(colon + 1).str();
  unsigned number = 0;
  return !StringRef(port).getAsInteger(10, number) && number <= 65535;
}

std::string lookUp(const std::string& host, const std::string& port, bool passive,
                   AddressList& list) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  const int fault = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                  port.empty() ? nullptr : port.c_str(), &hints, &list.first);
  return fault == 0 ? std::string() : "cannot resolve `" + host + "`: " + ::gai_strerror(fault);
}

std::string addressText(const sockaddr* address, socklen_t length, bool withPort) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "?";
  if (!withPort)
    return host;
  const bool six = address->sa_family == AF_INET6;
  return (six ? "[" : "") + std::string(host) + (six ? "]:" : ":") + port;
}

/// Ok(Name { handle })
Value makeHandle(Arguments& arguments, LayoutId layout, std::unique_ptr<Handle> handle) {
  Vm& vm = arguments.vm();
  const Value fields[] = {vm::fromInteger(hostOf(vm).handles().add(std::move(handle)))};
  return Builder(vm).structure(layout, fields);
}

Trap returnHandle(Arguments& arguments, std::unique_ptr<Handle> handle) {
  Vm& vm = arguments.vm();
  const Value made =
      makeHandle(arguments, payloadOf(vm, arguments.resultLayout(), "Ok"), std::move(handle));
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

SocketHandle* socketOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<SocketHandle>(handleOf(arguments, 0));
}
ListenerHandle* listenerOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<ListenerHandle>(handleOf(arguments, 0));
}
std::shared_ptr<SocketHandle> sharedSocket(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().share<SocketHandle>(handleOf(arguments, 0));
}
constexpr StringRef kNoSocket = "the connection is closed, or is none of this program";
constexpr StringRef kNoListener = "the listener is closed, or is none of this program";

std::string netError(StringRef verb, int number) {
  if (number == EAGAIN || number == EWOULDBLOCK)
    return (verb + ": timed out").str();
  return (verb + ": " + errnoText(number)).str();
}

Deadline deadlineAfter(int64_t ms) {
  if (ms <= 0)
    return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
}

Trap setLimit(Arguments& arguments, int64_t SocketHandle::* limit, int64_t ms) {
  if (SocketHandle* socket = socketOf(arguments))
    socket->*limit = std::clamp<int64_t>(ms, 0, int64_t(1) << 40);
  return arguments.returnUnit();
}

/// Repeats a call on a descriptor that does not block until it is done: its result, or -1 and the
/// number of the error; ECANCELED when it was interrupted, EAGAIN when the time is over.
template <class Call>
ssize_t whenReady(int fd, short events, Interrupt& interrupt, int64_t limitMs, int& number,
                  Call call) {
  const Deadline deadline = deadlineAfter(limitMs);
  for (;;) {
    const ssize_t result = retryInterrupted(call);
    number = result < 0 ? errno : 0;
    if (result >= 0 || number != EAGAIN)
      return result;
    switch (interrupt.wait(fd, events, deadline)) {
    case Interrupt::Ended::Ready:
      continue;
    case Interrupt::Ended::Interrupted:
      number = ECANCELED;
      return -1;
    case Interrupt::Ended::TimedOut:
      number = EAGAIN;
      return -1;
    }
  }
}

/// What was received, or why not.
struct Received {
  std::string bytes;
  int number = 0;
  bool closed = false;
  bool tooLarge = false;
};

std::string whyNot(StringRef verb, const SocketHandle& socket, int number) {
  if (number == ECANCELED)
    return kCancelled.str();
  return socket.closed ? kNoSocket.str() : netError(verb, number);
}

/// Sends all, as one piece; the error text or nothing.
std::string sendAll(SocketHandle& socket, StringRef bytes, int64_t limitMs, Interrupt& interrupt) {
  while (!bytes.empty()) {
    int number = 0;
    const ssize_t sent = whenReady(socket.fd.get(), POLLOUT, interrupt, limitMs, number, [&] {
      return ::send(socket.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    });
    if (sent < 0)
      return whyNot("cannot write", socket, number);
    bytes = bytes.drop_front(size_t(sent));
  }
  return {};
}

/// Sends what goes at once here, the rest as a job; `finish` makes the result of the error text.
template <class Finish> Trap send(Arguments& arguments, StringRef bytes, Finish finish) {
  const auto socket = sharedSocket(arguments);
  if (!socket)
    return arguments.returnErr(kNoSocket);
  if (const Turn turn(socket->writers); turn) {
    while (!bytes.empty()) {
      const ssize_t sent = retryInterrupted(
          [&] { return ::send(socket->fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
      if (sent < 0 && errno == EAGAIN)
        break;
      if (sent < 0)
        return arguments.returnErr(netError("cannot write", errno));
      bytes = bytes.drop_front(size_t(sent));
    }
    if (bytes.empty()) {
      std::string none;
      return finish(arguments, none);
    }
  }
  return offload(
      arguments,
      [socket, left = bytes.str(), limitMs = socket->writeLimitMs](Interrupt& interrupt) {
        const Turn turn(socket->writers, interrupt);
        return turn ? sendAll(*socket, left, limitMs, interrupt) : kCancelled.str();
      },
      std::move(finish));
}

/// A socket and the address of who it leads to, or why there is none.
struct Connected {
  std::unique_ptr<SocketHandle> socket;
  std::string peer;
  std::string fault;
};

Connected acceptOne(ListenerHandle& listener, Interrupt& interrupt) {
  Connected connected;
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  int number = 0;
  auto socket = std::make_unique<SocketHandle>();
  socket->fd.reset(int(whenReady(listener.fd.get(), POLLIN, interrupt, 0, number, [&]() -> ssize_t {
    return ::accept4(listener.fd.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
  })));
  if (socket->fd.valid()) {
    connected.socket = std::move(socket);
    connected.peer = addressText(reinterpret_cast<sockaddr*>(&peer), length, true);
  } else {
    connected.fault = number == ECANCELED ? kCancelled.str()
                      : listener.closed   ? kNoListener.str()
                                          : netError("cannot accept", number);
  }
  return connected;
}

Trap returnAccepted(Arguments& arguments, Connected& connected) {
  if (!connected.socket)
    return arguments.returnErr(connected.fault);
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId pair = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value stream = makeHandle(arguments, builder.field(pair, 0), std::move(connected.socket));
  const Value fields[] = {stream, builder.string(builder.field(pair, 1), connected.peer)};
  const Value made = builder.structure(pair, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

Connected connectTo(const std::string& address, const std::string& host, const std::string& port,
                    Interrupt& interrupt) {
  Connected connected;
  AddressList list;
  connected.fault = lookUp(host, port, false, list);
  if (!connected.fault.empty())
    return connected;
  int number = EADDRNOTAVAIL;
  for (const addrinfo* each = list.first; each != nullptr && !interrupt.triggered();
       each = each->ai_next) {
    auto socket = std::make_unique<SocketHandle>();
    socket->fd.reset(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              each->ai_protocol));
    if (!socket->fd.valid()) {
      number = errno;
      continue;
    }
    number = ::connect(socket->fd.get(), each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (number == EINPROGRESS || number == EINTR) {
      if (interrupt.wait(socket->fd.get(), POLLOUT) == Interrupt::Ended::Interrupted)
        break;
      socklen_t length = sizeof number;
      if (::getsockopt(socket->fd.get(), SOL_SOCKET, SO_ERROR, &number, &length) == -1)
        number = errno;
    }
    if (number == 0) {
      connected.socket = std::move(socket);
      return connected;
    }
  }
  connected.fault = interrupt.triggered() ? kCancelled.str()
                                          : netError("cannot connect to `" + address + "`", number);
  return connected;
}

} // namespace

namespace bodies {

namespace {

struct Names {
  std::vector<std::string> names;
  std::string fault;
};

struct Listening {
  std::unique_ptr<ListenerHandle> listener;
  std::string fault;
};

Listening listenOn(const std::string& address, const std::string& host, const std::string& port) {
  Listening listening;
  AddressList list;
  listening.fault = lookUp(host, port, true, list);
  if (!listening.fault.empty())
    return listening;
  int number = EADDRNOTAVAIL;
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next) {
    auto listener = std::make_unique<ListenerHandle>();
    listener->fd.reset(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                each->ai_protocol));
    const int on = 1;
    if (listener->fd.valid())
      ::setsockopt(listener->fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener->fd.valid() && ::bind(listener->fd.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(listener->fd.get(), SOMAXCONN) == 0) {
      listening.listener = std::move(listener);
      return listening;
    }
    number = errno;
  }
  listening.fault = netError("cannot listen on `" + address + "`", number);
  return listening;
}

} // namespace

Trap NetLookup(Arguments& arguments) {
  const StringRef host = arguments.string(0);
  if (host.empty() || host.contains('\0'))
    return arguments.returnErr("cannot resolve a name that is empty or has a NUL byte");
  return offloadDroppable(
      arguments,
      [host = host.str()](Interrupt&) {
        Names found;
        AddressList list;
        found.fault = lookUp(host, {}, false, list);
        for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next) {
          std::string text = addressText(each->ai_addr, each->ai_addrlen, false);
          if (std::find(found.names.begin(), found.names.end(), text) == found.names.end())
            found.names.push_back(std::move(text));
        }
        return found;
      },
      [](Arguments& answered, Names& found) {
        return found.fault.empty() ? answered.returnOkStrings(found.names)
                                   : answered.returnErr(found.fault);
      });
}

Trap TcpListenerBind(Arguments& arguments) {
  std::string host;
  std::string port;
  if (!splitAddress(arguments.string(0), host, port))
    return arguments.returnErr(
        ("`" + arguments.string(0) + "` is not an address of the form `host:port`").str());
  return offloadDroppable(
      arguments,
      [address = arguments.string(0).str(), host, port](Interrupt&) {
        return listenOn(address, host, port);
      },
      [](Arguments& answered, Listening& listening) {
        return listening.listener ? returnHandle(answered, std::move(listening.listener))
                                  : answered.returnErr(listening.fault);
      });
}

Trap TcpListenerAccept(Arguments& arguments) {
  auto listener = hostOf(arguments.vm()).handles().share<ListenerHandle>(handleOf(arguments, 0));
  if (!listener)
    return arguments.returnErr(kNoListener);
  hostOf(arguments.vm()).flush();
  return offload(
      arguments, [listener](Interrupt& interrupt) { return acceptOne(*listener, interrupt); },
      returnAccepted);
}

Trap TcpListenerLocalAddr(Arguments& arguments) {
  ListenerHandle* listener = listenerOf(arguments);
  if (listener == nullptr)
    return arguments.returnErr(kNoListener);
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(listener->fd.get(), reinterpret_cast<sockaddr*>(&own), &length) == -1)
    return arguments.returnErr(netError("cannot name the listener", errno));
  return arguments.returnOkString(addressText(reinterpret_cast<sockaddr*>(&own), length, true));
}

/// Who waits at it is told.
Trap TcpListenerClose(Arguments& arguments) {
  if (auto listener =
          hostOf(arguments.vm()).handles().share<ListenerHandle>(handleOf(arguments, 0))) {
    hostOf(arguments.vm()).handles().close(handleOf(arguments, 0));
    listener->closed = true;
    if (listener.use_count() > 1)
      ::shutdown(listener->fd.get(), SHUT_RDWR);
  }
  return arguments.returnUnit();
}

Trap TcpStreamConnect(Arguments& arguments) {
  std::string host;
  std::string port;
  if (!splitAddress(arguments.string(0), host, port))
    return arguments.returnErr(
        ("`" + arguments.string(0) + "` is not an address of the form `host:port`").str());
  hostOf(arguments.vm()).flush();
  return offloadDroppable(
      arguments,
      [address = arguments.string(0).str(), host, port](Interrupt& interrupt) {
        return connectTo(address, host, port, interrupt);
      },
      [](Arguments& answered, Connected& connected) {
        return connected.socket ? returnHandle(answered, std::move(connected.socket))
                                : answered.returnErr(connected.fault);
      });
}

Trap TcpStreamRead(Arguments& arguments) {
  const auto socket = sharedSocket(arguments);
  if (!socket)
    return arguments.returnErr(kNoSocket);
  const uint64_t wanted = uint64_t(std::clamp<int64_t>(arguments.integer(1), 0, int64_t(16) << 20));
  if (wanted > arguments.vm().heap().available())
    return arguments.vm().heapTrap();
  std::string now(wanted, '\0');
  const ssize_t count =
      retryInterrupted([&] { return ::recv(socket->fd.get(), now.data(), now.size(), 0); });
  if (count >= 0)
    return arguments.returnOkBytes(StringRef(now).take_front(size_t(count)));
  if (errno != EAGAIN)
    return arguments.returnErr(netError("cannot read", errno));
  hostOf(arguments.vm()).flush();
  return offload(
      arguments,
      [socket, bytes = std::move(now),
       limitMs = socket->readLimitMs](Interrupt& interrupt) mutable {
        Received received;
        received.bytes = std::move(bytes);
        const ssize_t got =
            whenReady(socket->fd.get(), POLLIN, interrupt, limitMs, received.number, [&] {
              return ::recv(socket->fd.get(), received.bytes.data(), received.bytes.size(), 0);
            });
        received.bytes.resize(got < 0 ? 0 : size_t(got));
        received.closed = socket->closed;
        return received;
      },
      [socket](Arguments& answered, Received& received) {
        if (received.number == 0 && !(received.closed && received.bytes.empty()))
          return answered.returnOkBytes(received.bytes);
        return answered.returnErr(whyNot("cannot read", *socket, received.number));
      });
}

Trap TcpStreamReadToString(Arguments& arguments) {
  const auto socket = sharedSocket(arguments);
  if (!socket)
    return arguments.returnErr(kNoSocket);
  hostOf(arguments.vm()).flush();
  return offload(
      arguments,
      [socket, limitMs = socket->readLimitMs,
       cap = arguments.vm().heap().available()](Interrupt& interrupt) {
        Received received;
        std::vector<char> block(size_t(64) << 10);
        ssize_t count = 1;
        while (count > 0 && !received.tooLarge) {
          count = whenReady(socket->fd.get(), POLLIN, interrupt, limitMs, received.number, [&] {
            return ::recv(socket->fd.get(), block.data(), block.size(), 0);
          });
          if (count > 0)
            received.bytes.append(block.data(), size_t(count));
          received.tooLarge = received.bytes.size() > cap;
        }
        received.closed = socket->closed;
        return received;
      },
      [socket](Arguments& answered, Received& received) {
        if (received.tooLarge)
          return answered.vm().heapTrap();
        if (received.number != 0 || received.closed)
          return answered.returnErr(whyNot("cannot read", *socket, received.number));
        return vm::isValidUtf8(received.bytes) ? answered.returnOkString(received.bytes)
                                               : answered.returnErr("what was read is not UTF-8");
      });
}

Trap TcpStreamWrite(Arguments& arguments) {
  const StringRef bytes = contentsOf(arguments, 1);
  return send(arguments, bytes,
              [size = int64_t(bytes.size())](Arguments& answered, std::string& fault) {
                return fault.empty() ? answered.returnOkInteger(size) : answered.returnErr(fault);
              });
}
Trap TcpStreamWriteAll(Arguments& arguments) {
  return send(arguments, contentsOf(arguments, 1), [](Arguments& answered, std::string& fault) {
    return fault.empty() ? answered.returnOkUnit() : answered.returnErr(fault);
  });
}

Trap TcpStreamSetReadTimeout(Arguments& arguments) {
  return setLimit(arguments, &SocketHandle::readLimitMs, arguments.integer(1));
}
Trap TcpStreamSetWriteTimeout(Arguments& arguments) {
  return setLimit(arguments, &SocketHandle::writeLimitMs, arguments.integer(1));
}
Trap TcpStreamClearReadTimeout(Arguments& arguments) {
  return setLimit(arguments, &SocketHandle::readLimitMs, 0);
}
Trap TcpStreamClearWriteTimeout(Arguments& arguments) {
  return setLimit(arguments, &SocketHandle::writeLimitMs, 0);
}

Trap TcpStreamSetNodelay(Arguments& arguments) {
  if (SocketHandle* socket = socketOf(arguments)) {
    const int on = arguments.boolean(1) ? 1 : 0;
    ::setsockopt(socket->fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return arguments.returnUnit();
}

/// Who waits at it is told.
Trap TcpStreamClose(Arguments& arguments) {
  if (auto socket = sharedSocket(arguments)) {
    hostOf(arguments.vm()).handles().close(handleOf(arguments, 0));
    socket->closed = true;
    if (socket.use_count() > 1)
      ::shutdown(socket->fd.get(), SHUT_RDWR);
  }
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
