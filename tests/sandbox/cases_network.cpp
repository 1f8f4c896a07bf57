// Network and IPC: B030 to B040 of the catalogue of honest builds, and what the network modes
// promise.

#include "tests/sandbox/each.h"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace gos::cases {
namespace {

/// Listeners outside the sandbox; `touched` says whether anything reached one since the last
/// question.
class Outside {
public:
  explicit Outside(const Room& room)
      : abstract_("gosbox-" + std::to_string(::getpid())), path_(room.top() + "/h.sock") {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(tcp_, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    REQUIRE(::listen(tcp_, 64) == 0);
    socklen_t size = sizeof any;
    ::getsockname(tcp_, reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(udp_, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, abstract_.data(), abstract_.size());
    hidden_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(hidden_, reinterpret_cast<sockaddr*>(&name),
                   socklen_t(offsetof(sockaddr_un, sun_path) + 1 + abstract_.size())) == 0);
    ::listen(hidden_, 64);
    sockaddr_un file{};
    file.sun_family = AF_UNIX;
    std::strncpy(file.sun_path, path_.c_str(), sizeof file.sun_path - 1);
    named_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(named_, reinterpret_cast<sockaddr*>(&file), sizeof file) == 0);
    ::chmod(path_.c_str(), 0777);
    ::listen(named_, 64);
  }
  ~Outside() {
    for (int fd : {tcp_, udp_, hidden_, named_})
      ::close(fd);
  }
  std::string port() const { return std::to_string(port_); }
  const std::string& abstractName() const { return abstract_; }
  const std::string& path() const { return path_; }
  /// How many connections and datagrams have arrived; forgets them.
  int arrived() {
    int count = 0;
    for (int fd : {tcp_, hidden_, named_})
      for (int got; (got = ::accept(fd, nullptr, nullptr)) >= 0; ++count)
        ::close(got);
    char byte;
    while (::recv(udp_, &byte, 1, 0) >= 0)
      ++count;
    return count;
  }

private:
  std::string abstract_, path_;
  uint16_t port_ = 0;
  int tcp_ = -1, udp_ = -1, hidden_ = -1, named_ = -1;
};

const std::string kBothLoopbacks = R"(
import socket
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    s = socket.socket(family); s.bind((address, 0)); s.listen(1)
    c = socket.create_connection(s.getsockname()[:2]); p, _ = s.accept()
    c.sendall(b'x'); assert p.recv(1) == b'x'
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0))
v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); v.sendto(b'y', u.getsockname()); assert u.recv(1) == b'y'
print('ok')
)";

} // namespace

TEST_CASE("B030 loopback works inside, on IPv4 and IPv6") {
  each(levels(), [](const Room& room, const std::string& level) {
    CHECK(room.plain({"python3", "-c", kBothLoopbacks}).out == "ok\n");
    // `basic` bounds no network, and asking it to is an error.
    const std::vector<std::string> none = level == "basic"
                                              ? std::vector<std::string>{}
                                              : std::vector<std::string>{"--network", "none"};
    const Outcome outcome = room.bwr(level, none, {"python3", "-c", kBothLoopbacks});
    CHECK_MESSAGE(outcome.out == "ok\n", outcome.err);
  });
}

TEST_CASE("B031 a port of the outside is not the port of the inside") {
  each(levels(), [](const Room& room, const std::string& level) {
    Outside outside(room);
    const std::vector<std::string> probe = {probePath(), "tcp", "127.0.0.1", outside.port()};
    CHECK(room.plain(probe).out == "ok\n");
    CHECK(outside.arrived() == 1);
    const Outcome outcome = room.bwr(level, {"--ro", probePath()}, probe);
    if (level == "basic") {
      CHECK(outcome.out == "ok\n");
    } else {
      CHECK(outcome.code == 1);
      CHECK(outside.arrived() == 0);
    }
  });
}

TEST_CASE("B032 a JVM lists interfaces and opens sockets on loopback") {
  if (!installed("javac") && !installed("java"))
    return skip("B032", "no JDK is installed");
  const std::string program = R"(
import java.net.*;
public class N {
  public static void main(String[] a) throws Exception {
    int n = 0; for (var e = NetworkInterface.getNetworkInterfaces(); e.hasMoreElements(); e.nextElement()) n++;
    try (var d = new DatagramSocket(); var s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
         var c = new Socket(InetAddress.getLoopbackAddress(), s.getLocalPort())) { System.out.println(n > 0 ? "ok" : "none"); }
  }
}
)";
  each(levels(), [&](const Room& room, const std::string& level) {
    room.write("N.java", program);
    const Outcome outcome = room.bwr(level, {}, {"java", "N.java"});
    CHECK_MESSAGE(outcome.out == "ok\n", outcome.err);
  });
}

TEST_CASE("B033 no road to a listener outside: TCP, MPTCP, UDP, fast open, other families") {
  each(confining(), [](const Room& room, const std::string& level) {
    Outside outside(room);
    for (const std::string act : {"tcp", "mptcp", "udp", "fastopen"}) {
      CAPTURE(act);
      const std::vector<std::string> probe = {probePath(), act, "127.0.0.1", outside.port()};
      const Outcome plain = room.plain(probe);
      CHECK_MESSAGE(plain.code == 0, plain.out);
      CHECK(outside.arrived() >= 1);
      (void)room.bwr(level, {"--ro", probePath()}, probe);
      CHECK(outside.arrived() == 0);
    }
    // vsock, packet, alg, bluetooth
    for (const char* family : {"40", "17", "38", "31"}) {
      CAPTURE(family);
      const Outcome outcome =
          room.bwr(level, {"--ro", probePath()}, {probePath(), "socket", family, "3", "0"});
      CHECK(outcome.code == 1);
      const Outcome other =
          room.bwr(level, {"--ro", probePath()}, {probePath(), "socket", family, "5", "0"});
      CHECK(other.code == 1);
    }
  });
}

TEST_CASE("B034 an abstract socket outside is out of reach, and two runs do not see each other's") {
  each(levels(), [](const Room& room, const std::string& level) {
    Outside outside(room);
    const std::vector<std::string> probe = {probePath(), "abstract", outside.abstractName()};
    CHECK(room.plain(probe).out == "ok\n");
    CHECK(outside.arrived() == 1);
    for (const std::string network : {"none", "client", "open"}) {
      CAPTURE(network);
      const Outcome outcome = room.bwr(level, {"--ro", probePath(), "--network", network}, probe);
      if (level == "basic")
        continue;
      CHECK(outcome.code == 1);
      CHECK(outside.arrived() == 0);
    }
  });
}

TEST_CASE("B035 a socket with a name in a granted directory is refused, or named as open") {
  each(confining(), [](const Room& room, const std::string& level) {
    Outside outside(room);
    const std::vector<std::string> probe = {probePath(), "unix", outside.path()};
    CHECK(room.plain(probe).out == "ok\n");
    CHECK(outside.arrived() == 1);
    const Outcome outcome = room.bwr(level, {"--ro", probePath(), "--ro", room.top()}, probe);
    if (outcome.code == 0) {
      const Outcome explained = room.bwr(level, {"--explain", "--ro", room.top()}, {"true"});
      CHECK_MESSAGE(explained.out.find("socket") != std::string::npos, explained.out);
    } else {
      CHECK(outside.arrived() == 0);
    }
    // Not granted: absent.
    const Outcome absent = room.bwr(level, {"--ro", probePath()}, probe);
    CHECK(absent.out == "refused ENOENT\n");
  });
}

TEST_CASE("B036 local IPC: socket pairs, eventfd, descriptors over sockets, sockets in the temp") {
  const std::string script = R"(
import os, socket, array
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.send(b'x'); assert b.recv(1) == b'x'
e = os.eventfd(0); os.eventfd_write(e, 1); assert os.eventfd_read(e) == 1
r, w = os.pipe(); socket.send_fds(a, [b'f'], [w]); _, fds, _, _ = socket.recv_fds(b, 1, 1); os.write(fds[0], b'y'); assert os.read(r, 1) == b'y'
m = os.memfd_create('m'); os.write(m, b'z')
path = os.environ['TMPDIR'] + '/s'
s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen(1)
c = socket.socket(socket.AF_UNIX); c.connect(path); s.accept()
print('ok')
)";
  each(levels(), [&](const Room& room, const std::string& level) {
    const Outcome outcome = room.bwr(level, {}, {"python3", "-c", script});
    CHECK_MESSAGE(outcome.out == "ok\n", outcome.err);
  });
}

TEST_CASE("B037 socket options and shutdown are the command's own business") {
  each(levels(), [](const Room& room, const std::string& level) {
    const Outcome outcome = room.bwr(
        level, {},
        {"python3", "-c",
         "import socket;a,b=socket.socketpair();a.setsockopt(1,16,1);a.shutdown(2);print('ok')"});
    CHECK_MESSAGE(outcome.out == "ok\n", outcome.err);
  });
}

TEST_CASE("B038 process pools work, and /dev/shm is the run's own") {
  const std::string script = "from concurrent.futures import ProcessPoolExecutor as "
                             "P\np=P(2)\nprint(list(p.map(abs,[-1])))\np.shutdown()\n";
  each(levels(), [&](const Room& room, const std::string& level) {
    const Outcome outcome = room.bwr(level, {}, {"python3", "-c", script});
    CHECK_MESSAGE(outcome.out == "[1]\n", outcome.err);
    if (level == "basic")
      return;
    const std::string shared = "/dev/shm/gosbox-" + std::to_string(::getpid());
    room.write(shared, "secret");
    const Outcome seen = room.bwr(level, {}, {"ls", "-A", "/dev/shm"});
    CHECK(seen.out == "");
    ::unlink(shared.c_str());
  });
}

TEST_CASE("B039 descriptors of the caller do not pass") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.top() + "/s");
    room.write(room.top() + "/s/f", "k");
    How how;
    how.open = {{9, room.top() + "/s"}, {8, room.top() + "/s/f"}};
    CHECK(room.shell("cat /proc/self/fd/9/f; cat <&8", how).out == "kk");
    const Outcome outcome =
        room.bwrShell(level, {}, "cat /proc/self/fd/9/f; cat <&8; ls /proc/self/fd", how);
    // The directory that ls itself opens is 3.
    CHECK_MESSAGE(outcome.out == "0\n1\n2\n3\n", outcome.out << outcome.err);
  });
}

TEST_CASE("B040 client: connects to the outside, and does not listen") {
  each(levels(), [](const Room& room, const std::string& level) {
    Outside outside(room);
    const Outcome connected = room.bwr(level, {"--ro", probePath(), "--network", "client"},
                                       {probePath(), "tcp", "127.0.0.1", outside.port()});
    CHECK(connected.out == "ok\n");
    CHECK(outside.arrived() == 1);
    CHECK(room.plain({probePath(), "listen"}).out == "ok\n");
    const Outcome listened =
        room.bwr(level, {"--ro", probePath(), "--network", "client"}, {probePath(), "listen"});
    if (level != "basic")
      CHECK(listened.code == 1);
    CHECK(
        room.bwr(level, {"--ro", probePath(), "--network", "open"}, {probePath(), "listen"}).out ==
        "ok\n");
    // The resolver's file is readable, wherever its link leads.
    const Outcome resolver = room.bwr(level, {"--network", "client"}, {"cat", "/etc/resolv.conf"});
    CHECK_MESSAGE(resolver.code == room.plain({"cat", "/etc/resolv.conf"}).code, resolver.err);
  });
}

} // namespace gos::cases
