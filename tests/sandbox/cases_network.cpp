// Network and IPC: B030 to B040 of the catalogue of honest builds, and what the network modes
// promise.

#include "tests/sandbox/each.h"
#include "tests/support/eventually.h"

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
    // The same once more for datagrams.
    std::strncat(name.sun_path + 1, "-d", 3);
    hiddenDatagrams_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(hiddenDatagrams_, reinterpret_cast<sockaddr*>(&name),
                   socklen_t(offsetof(sockaddr_un, sun_path) + 3 + abstract_.size())) == 0);
    std::strncat(file.sun_path, "-d", 3);
    namedDatagrams_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(namedDatagrams_, reinterpret_cast<sockaddr*>(&file), sizeof file) == 0);
    ::chmod((path_ + "-d").c_str(), 0777);
  }
  ~Outside() {
    for (int fd : {tcp_, udp_, hidden_, named_, hiddenDatagrams_, namedDatagrams_})
      ::close(fd);
  }
  std::string port() const { return std::to_string(port_); }
  const std::string& abstractName() const { return abstract_; }
  const std::string& path() const { return path_; }
  /// How many connections and datagrams have arrived; forgets them. The kernel may hand over one
  /// after its sender has ended: as many as `wanted` are waited for.
  int arrived(int wanted) {
    int count = 0;
    (void)tests::eventually([&] {
      count += taken();
      return count >= wanted;
    });
    return count;
  }

private:
  int taken() {
    int count = 0;
    for (int fd : {tcp_, hidden_, named_})
      for (int got; (got = ::accept(fd, nullptr, nullptr)) >= 0; ++count)
        ::close(got);
    char byte;
    for (int fd : {udp_, hiddenDatagrams_, namedDatagrams_})
      while (::recv(fd, &byte, 1, 0) >= 0)
        ++count;
    return count;
  }

  std::string abstract_, path_;
  uint16_t port_ = 0;
  int tcp_ = -1, udp_ = -1, hidden_ = -1, named_ = -1;
  int hiddenDatagrams_ = -1, namedDatagrams_ = -1; // the same names with `-d`
};

/// Does the explanation of a plan own up to this limit?
bool statesLimit(const Room& room, const std::string& level, std::vector<std::string> flags,
                 const std::string& sentence) {
  flags.insert(flags.end(), {"--explain", "--json"});
  const Outcome explained = room.bwr(level, flags, {"true"});
  CHECK_MESSAGE(explained.code == 0, explained.err);
  CHECK(contains(explained.out, "time, memory, disk and processor use are not bounded"));
  return contains(explained.out, "\"" + sentence + "\"");
}

/// What Landlock of this kernel can do, as bwr found it.
int landlockAbi(const Room& room) {
  const Outcome said = room.bwrRaw({"--capabilities", "--json"});
  const std::string key = "\"landlock_abi\":";
  const size_t at = said.out.find(key);
  REQUIRE_MESSAGE(at != std::string::npos, said.out);
  return std::atoi(said.out.c_str() + at + key.size());
}

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
    CHECK(outside.arrived(1) == 1);
    const Outcome outcome = room.bwr(level, {"--ro", probePath()}, probe);
    if (level == "basic") {
      CHECK(outcome.out == "ok\n");
    } else {
      CHECK(outcome.code == 1);
      CHECK(outside.arrived(0) == 0);
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
      CHECK(outside.arrived(1) >= 1);
      const Outcome outcome = room.bwr(level, {"--ro", probePath()}, probe);
      // A datagram to a port of the inside that is nobody's is sent, and lost there.
      if (act == "udp")
        CHECK_MESSAGE(outcome.out == "ok\n", outcome.out << outcome.err);
      else
        CHECK_MESSAGE(llvm::StringRef(outcome.out).starts_with("refused "),
                      outcome.out << outcome.err);
      CHECK(outcome.code == (act == "udp" ? 0 : 1));
      CHECK(outside.arrived(0) == 0);
    }
    // vsock, packet, the rings of XDP; then families that few kernels have: alg, bluetooth, key,
    // CAN. Whatever the network is, and the filter says so itself.
    const std::vector<std::string> families[] = {
        {"40", "1", "0"}, {"40", "2", "0"}, {"17", "3", "0"}, {"17", "2", "0"}, {"44", "3", "0"},
        {"38", "5", "0"}, {"31", "3", "1"}, {"15", "3", "2"}, {"29", "3", "1"}};
    int controls = 0;
    for (const std::vector<std::string>& family : families) {
      CAPTURE(family[0] + " " + family[1]);
      std::vector<std::string> probe = {probePath(), "socket"};
      probe.insert(probe.end(), family.begin(), family.end());
      controls += room.plain(probe).out == "ok\n";
      for (const char* network : {"none", "client", "open"}) {
        CAPTURE(std::string(network));
        const Outcome outcome = room.bwr(level, {"--ro", probePath(), "--network", network}, probe);
        CHECK(outcome.code == 1);
        CHECK_MESSAGE(outcome.out == "refused EAFNOSUPPORT\n", outcome.out << outcome.err);
      }
    }
    if (controls == 0)
      skip("B033, other families", "this kernel gives a socket of none of them");
    // A family that is let in is still made: what refuses is not the probe.
    CHECK(room.bwr(level, {"--ro", probePath()}, {probePath(), "socket", "1", "1", "0"}).out ==
          "ok\n");
  });
}

TEST_CASE("B034 an abstract socket outside is out of reach, and two runs do not see each other's") {
  const std::string limit =
      "abstract sockets of the host are reached: keeping them out needs Linux 6.12";
  each(levels(), [&](const Room& room, const std::string& level) {
    const bool scoped = landlockAbi(room) >= 6;
    Outside outside(room);
    const std::string name = "gosbox-run-" + std::to_string(::getpid());
    // One run holds the name, another asks for it; without a `bwr` neither is confined.
    const auto meet = [&](const std::string& holder, const std::string& asker) {
      return room
          .shell(
              holder + probePath() + " abstract-hold " + name +
              " >held & i=0; while ! grep -q . held 2>/dev/null && [ $i -lt 10000 ]; do sleep 0.02; i=$((i + 1)); done; cat held; " +
              asker + probePath() + " abstract " + name + "; kill $!; wait; rm held")
          .out;
    };
    CHECK(meet("", "") == "ok\nok\n");
    for (const std::string network : {"none", "client", "open"}) {
      CAPTURE(network);
      const std::vector<std::string> flags = {"--ro", probePath(), "--network", network};
      if (level == "basic" && network == "none") {
        // It bounds no network, and asking it to is an error.
        CHECK(room.bwr(level, flags, {"true"}).code == 126);
        continue;
      }
      const bool kept = level != "basic" && (network == "none" || scoped);
      if (level != "basic")
        CHECK(statesLimit(room, level, flags, limit) == !kept);
      for (const std::string act : {"abstract", "abstract-datagram"}) {
        CAPTURE(act);
        const std::vector<std::string> probe = {
            probePath(), act, outside.abstractName() + (act == "abstract" ? "" : "-d")};
        CHECK(room.plain(probe).out == "ok\n");
        CHECK(outside.arrived(1) == 1);
        const Outcome outcome = room.bwr(level, flags, probe);
        CHECK(outcome.code == (kept ? 1 : 0));
        CHECK(llvm::StringRef(outcome.out).starts_with(kept ? "refused " : "ok\n"));
        CHECK(outside.arrived(kept ? 0 : 1) == (kept ? 0 : 1));
      }
      const std::string run =
          bwrPath() + " --level " + level + " --ro " + probePath() + " --network ";
      const std::string met = meet(run + network + " -- ", run + network + " -- ");
      if (network == "client" && level != "basic")
        CHECK(llvm::StringRef(met).starts_with("refused ")); // a client listens nowhere
      else
        CHECK(llvm::StringRef(met).starts_with("ok\n" + std::string(kept ? "refused " : "ok\n")));
      // And what the outside holds is not what a run meets.
      const std::string mixed = meet("", run + network + " -- ");
      CHECK(llvm::StringRef(mixed).starts_with("ok\n" + std::string(kept ? "refused " : "ok\n")));
    }
  });
}

TEST_CASE("B035 a socket with a name in a granted directory is refused, or named as open") {
  const std::string limit =
      "sockets that have a name beneath a grant are reached: keeping them out needs Linux 7.1";
  each(confining(), [&](const Room& room, const std::string& level) {
    const bool kept = landlockAbi(room) >= 9;
    Outside outside(room);
    for (const std::string network : {"none", "client", "open"}) {
      CAPTURE(network);
      const std::vector<std::string> flags = {"--ro", probePath(), "--network", network};
      std::vector<std::string> granted = flags;
      granted.insert(granted.end(), {"--ro", room.top()});
      CHECK(statesLimit(room, level, granted, limit) == !kept);
      for (const std::string act : {"unix", "unix-datagram"}) {
        CAPTURE(act);
        const std::vector<std::string> probe = {probePath(), act,
                                                outside.path() + (act == "unix" ? "" : "-d")};
        CHECK(room.plain(probe).out == "ok\n");
        CHECK(outside.arrived(1) == 1);
        const Outcome outcome = room.bwr(level, granted, probe);
        CHECK_MESSAGE(llvm::StringRef(outcome.out).starts_with(kept ? "refused " : "ok\n"),
                      outcome.out << outcome.err);
        CHECK(outside.arrived(kept ? 0 : 1) == (kept ? 0 : 1));
        // Not granted: absent.
        CHECK(room.bwr(level, flags, probe).out == "refused ENOENT\n");
        CHECK(outside.arrived(0) == 0);
      }
    }
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
    CHECK(outside.arrived(1) == 1);
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

TEST_CASE("B040 client: names are resolved, wherever the link of the resolver's file leads") {
  // A server of one name, on the loopback of a network of its own.
  const std::string server = R"(
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack('16sH22x', b'lo', 0x41))
s.bind(('127.0.0.1', 53))
open('serves', 'w').close()
while True:
    query, asker = s.recvfrom(512)
    end = query.index(b'\0', 12) + 5
    named = query[12:].startswith(b'\x06answer\x06gosbox\0')
    known = named and query[end - 4:end - 2] == b'\0\1'
    answer = b'\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x0a\1\2\3' if known else b''
    s.sendto(query[:2] + (b'\x81\x80' if named else b'\x81\x83') + b'\0\1\0' + bytes([known]) +
             b'\0\0\0\0' + query[12:end] + answer, asker)
)";
  // An /etc and a /run of one's own; $1 is bwr with its words.
  const std::string script = R"(
mkdir etc run run/resolve; cp -a /etc/. etc 2>/dev/null
echo 'hosts: files dns' >etc/nsswitch.conf
mount --bind run /run && mount --bind etc /etc || exit 9
python3 server.py & p=$!
i=0; while [ ! -e serves ] && [ $i -lt 10000 ]; do sleep 0.02; i=$((i + 1)); done
for shape in file relative absolute dangling; do
  rm -f /etc/resolv.conf
  case $shape in
  file) echo nameserver 127.0.0.1 >/etc/resolv.conf;;
  relative) echo nameserver 127.0.0.1 >/run/resolve/stub; ln -s ../run/resolve/stub /etc/resolv.conf;;
  absolute) echo nameserver 127.0.0.1 >/run/other; ln -s /run/other /etc/resolv.conf;;
  dangling) ln -s /run/nowhere /etc/resolv.conf;; # then it is the loopback's server
  esac
  echo $shape
  sh look.sh; echo then
  $1 sh look.sh
done
kill $p
)";
  const std::string look = "cat /etc/resolv.conf 2>/dev/null; "
                           "getent hosts answer.gosbox";
  each(levels(), [&](const Room& room, const std::string& level) {
    room.write("server.py", server);
    room.write("script.sh", script);
    room.write("look.sh", look);
    const Outcome outcome =
        room.plain({"unshare", room.who() == As::Root ? "-mn" : "-Urmn", "sh", "script.sh",
                    bwrPath() + " --level " + level + " --network client --"});
    if (outcome.code == 9 || outcome.out.empty())
      return skip("B040, names", "no /etc of one's own can be made here: " + outcome.err);
    std::string wanted;
    for (const std::string shape : {"file", "relative", "absolute", "dangling"}) {
      const std::string seen = (shape == "dangling" ? "" : "nameserver 127.0.0.1\n") +
                               std::string("10.1.2.3        answer.gosbox\n");
      wanted += shape + "\n" + seen + "then\n" + seen;
    }
    CHECK_MESSAGE(outcome.out == wanted, outcome.err);
  });
}

} // namespace gos::cases
