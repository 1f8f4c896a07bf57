// std::net: TCP, blocking, with timeouts.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include "sandbox/sys_error.h"
#include "vm/text.h"

#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
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

std::string lookUp(const std::string& host, const std::string& port, bool passive, AddressList& list) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  const int fault = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.empty() ? nullptr : port.c_str(), &hints,
                                  &list.first);
  return fault == 0 ? std::string() : "cannot resolve `" + host + "`: " + ::gai_strerror(fault);
}

std::string addressText(const sockaddr* address, socklen_t length, bool withPort) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
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
  const Value made = makeHandle(arguments, payloadOf(vm, arguments.resultLayout(), "Ok"), std::move(handle));
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

SocketHandle* socketOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<SocketHandle>(handleOf(arguments, 0));
}
ListenerHandle* listenerOf(Arguments& arguments) {
  return hostOf(arguments.vm()).handles().find<ListenerHandle>(handleOf(arguments, 0));
}
constexpr StringRef kNoSocket = "the connection is closed, or is none of this program";
constexpr StringRef kNoListener = "the listener is closed, or is none of this program";

std::string netError(StringRef verb, int number) {
  if (number == EAGAIN || number == EWOULDBLOCK)
    return (verb + ": timed out").str();
  return (verb + ": " + errnoText(number)).str();
}

Trap setTimeout(Arguments& arguments, int option, int64_t ms) {
  if (SocketHandle* socket = socketOf(arguments)) {
    ms = std::clamp<int64_t>(ms, 0, int64_t(1) << 40);
    timeval limit{};
    limit.tv_sec = time_t(ms / 1000);
    limit.tv_usec = suseconds_t(ms % 1000 * 1000);
    ::setsockopt(socket->fd.get(), SOL_SOCKET, option, &limit, sizeof limit);
  }
  return arguments.returnUnit();
}

/// Sends all; the error text or nothing.
std::string sendAll(SocketHandle& socket, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        retryInterrupted([&] { return ::send(socket.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent < 0)
      return netError("cannot write", errno);
    bytes = bytes.drop_front(size_t(sent));
  }
  return {};
}

} // namespace

namespace bodies {

Trap NetLookup(Arguments& arguments) {
  const StringRef host = arguments.string(0);
  if (host.empty() || host.contains('\0'))
    return arguments.returnErr("cannot resolve a name that is empty or has a NUL byte");
  AddressList list;
  if (const std::string fault = lookUp(host.str(), {}, false, list); !fault.empty())
    return arguments.returnErr(fault);
  std::vector<std::string> out;
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next) {
    std::string text = addressText(each->ai_addr, each->ai_addrlen, false);
    if (std::find(out.begin(), out.end(), text) == out.end())
      out.push_back(std::move(text));
  }
  return arguments.returnOkStrings(out);
}

Trap TcpListenerBind(Arguments& arguments) {
  std::string host;
  std::string port;
  if (!splitAddress(arguments.string(0), host, port))
    return arguments.returnErr(("`" + arguments.string(0) + "` is not an address of the form `host:port`").str());
  AddressList list;
  if (const std::string fault = lookUp(host, port, true, list); !fault.empty())
    return arguments.returnErr(fault);
  int number = EADDRNOTAVAIL;
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next) {
    auto listener = std::make_unique<ListenerHandle>();
    listener->fd.reset(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    const int on = 1;
    if (listener->fd.valid())
      ::setsockopt(listener->fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener->fd.valid() && ::bind(listener->fd.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(listener->fd.get(), SOMAXCONN) == 0)
      return returnHandle(arguments, std::move(listener));
    number = errno;
  }
  return arguments.returnErr(netError(("cannot listen on `" + arguments.string(0) + "`").str(), number));
}

Trap TcpListenerAccept(Arguments& arguments) {
  ListenerHandle* listener = listenerOf(arguments);
  if (listener == nullptr)
    return arguments.returnErr(kNoListener);
  hostOf(arguments.vm()).flush();
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  auto socket = std::make_unique<SocketHandle>();
  socket->fd.reset(retryInterrupted(
      [&] { return ::accept4(listener->fd.get(), reinterpret_cast<sockaddr*>(&peer), &length, SOCK_CLOEXEC); }));
  if (!socket->fd.valid())
    return arguments.returnErr(netError("cannot accept", errno));
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId pair = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value stream = makeHandle(arguments, builder.field(pair, 0), std::move(socket));
  const Value fields[] = {
      stream, builder.string(builder.field(pair, 1), addressText(reinterpret_cast<sockaddr*>(&peer), length, true))};
  const Value made = builder.structure(pair, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
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

Trap TcpListenerClose(Arguments& arguments) {
  if (listenerOf(arguments) != nullptr)
    hostOf(arguments.vm()).handles().close(handleOf(arguments, 0));
  return arguments.returnUnit();
}

Trap TcpStreamConnect(Arguments& arguments) {
  std::string host;
  std::string port;
  if (!splitAddress(arguments.string(0), host, port))
    return arguments.returnErr(("`" + arguments.string(0) + "` is not an address of the form `host:port`").str());
  AddressList list;
  if (const std::string fault = lookUp(host, port, false, list); !fault.empty())
    return arguments.returnErr(fault);
  int number = EADDRNOTAVAIL;
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next) {
    auto socket = std::make_unique<SocketHandle>();
    socket->fd.reset(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (socket->fd.valid() &&
        retryInterrupted([&] { return ::connect(socket->fd.get(), each->ai_addr, each->ai_addrlen); }) == 0)
      return returnHandle(arguments, std::move(socket));
    number = errno;
  }
  return arguments.returnErr(netError(("cannot connect to `" + arguments.string(0) + "`").str(), number));
}

Trap TcpStreamRead(Arguments& arguments) {
  SocketHandle* socket = socketOf(arguments);
  if (socket == nullptr)
    return arguments.returnErr(kNoSocket);
  hostOf(arguments.vm()).flush();
  const uint64_t wanted = uint64_t(std::clamp<int64_t>(arguments.integer(1), 0, int64_t(16) << 20));
  if (wanted > arguments.vm().heap().available())
    return arguments.vm().heapTrap();
  std::string bytes(wanted, '\0');
  const ssize_t count = retryInterrupted([&] { return ::recv(socket->fd.get(), bytes.data(), bytes.size(), 0); });
  if (count < 0)
    return arguments.returnErr(netError("cannot read", errno));
  return arguments.returnOkBytes(StringRef(bytes).take_front(size_t(count)));
}

Trap TcpStreamReadToString(Arguments& arguments) {
  SocketHandle* socket = socketOf(arguments);
  if (socket == nullptr)
    return arguments.returnErr(kNoSocket);
  hostOf(arguments.vm()).flush();
  std::string bytes;
  std::vector<char> block(size_t(64) << 10);
  while (true) {
    const ssize_t count = retryInterrupted([&] { return ::recv(socket->fd.get(), block.data(), block.size(), 0); });
    if (count < 0)
      return arguments.returnErr(netError("cannot read", errno));
    if (count == 0)
      break;
    if (bytes.size() + size_t(count) > arguments.vm().heap().available())
      return arguments.vm().heapTrap();
    bytes.append(block.data(), size_t(count));
  }
  return vm::isValidUtf8(bytes) ? arguments.returnOkString(bytes) : arguments.returnErr("what was read is not UTF-8");
}

Trap TcpStreamWrite(Arguments& arguments) {
  SocketHandle* socket = socketOf(arguments);
  if (socket == nullptr)
    return arguments.returnErr(kNoSocket);
  const StringRef bytes = contentsOf(arguments, 1);
  const std::string fault = sendAll(*socket, bytes);
  return fault.empty() ? arguments.returnOkInteger(int64_t(bytes.size())) : arguments.returnErr(fault);
}
Trap TcpStreamWriteAll(Arguments& arguments) {
  SocketHandle* socket = socketOf(arguments);
  if (socket == nullptr)
    return arguments.returnErr(kNoSocket);
  const std::string fault = sendAll(*socket, contentsOf(arguments, 1));
  return fault.empty() ? arguments.returnOkUnit() : arguments.returnErr(fault);
}

Trap TcpStreamSetReadTimeout(Arguments& arguments) { return setTimeout(arguments, SO_RCVTIMEO, arguments.integer(1)); }
Trap TcpStreamSetWriteTimeout(Arguments& arguments) { return setTimeout(arguments, SO_SNDTIMEO, arguments.integer(1)); }
Trap TcpStreamClearReadTimeout(Arguments& arguments) { return setTimeout(arguments, SO_RCVTIMEO, 0); }
Trap TcpStreamClearWriteTimeout(Arguments& arguments) { return setTimeout(arguments, SO_SNDTIMEO, 0); }

Trap TcpStreamSetNodelay(Arguments& arguments) {
  if (SocketHandle* socket = socketOf(arguments)) {
    const int on = arguments.boolean(1) ? 1 : 0;
    ::setsockopt(socket->fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return arguments.returnUnit();
}

Trap TcpStreamClose(Arguments& arguments) {
  if (socketOf(arguments) != nullptr)
    hostOf(arguments.vm()).handles().close(handleOf(arguments, 0));
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
