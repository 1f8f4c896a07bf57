#include "compiler/bindings/inner_addresses.h"

#include <doctest/doctest.h>

namespace gos::bindings {

TEST_CASE("T095 an address of this machine or of an inner network is one however it is written") {
  for (const char* url : {"http://127.0.0.1/x",
                          "sparse+http://127.0.0.1:2375/index/",
                          "git+http://LOCALHOST/x#abc",
                          "https://user:pw@10.1.2.3:8443/x.git",
                          "http://169.254.169.254/",
                          "http://[::1]:80/",
                          "http://[::ffff:10.0.0.1]/",
                          "http://[fe80::1%25eth0]/",
                          "http://[fd00:ec2::254]/",
                          "http://[64:ff9b::7f00:1]/",
                          "http://[2002:7f00:1::]/",
                          "http://[]/",
                          "http://127.1/",
                          "http://0x7f.1/",
                          "http://2130706433/",
                          "http://0177.0.0.1/",
                          "http://0/",
                          "http://127.0.0.%31/",
                          "http:\\\\127.0.0.1\\x",
                          "http:127.0.0.1/x",
                          "http:///127.0.0.1/",
                          "ht\ntp://127.0.0.1/",
                          "http://localhost./",
                          "http://metadata.google.internal/",
                          "http://printer.local/",
                          "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/",
                          "http://172.31.255.255/",
                          "http://192.168.0.1?",
                          "http://100.100.100.200#x",
                          "http://evil.example@127.0.0.1/",
                          "ssh://git@10.0.0.5/x",
                          "http://168.63.129.16/",
                          "http://017700000001/",
                          "http://0x7f000001/",
                          "http://[0:0:0:0:0:ffff:7f00:1]/",
                          "http://[64:ff9b:1::a00:1]/",
                          "http://[2001:0:a00:1::]/",
                          "http://localhost../",
                          "http://localhost6/",
                          "http://a.localhost.:80/",
                          "http://registry/",
                          "http://git.corp/",
                          "http://nas.home.arpa/",
                          "\x01http://127.0.0.1/",
                          "git://127.0.0.1/x",
                          "ssh://user@localhost:22/x",
                          "ssh://a@b@10.0.0.1/x"}) {
    CAPTURE(std::string(url));
    CHECK(isInner(authorityOf(url)));
    CHECK(aimOf(url) == Aim::Inner);
  }
}

TEST_CASE("T095 a public address is none, and a path has no host") {
  for (const char* url :
       {"https://github.com/x/y", "registry+https://github.com/rust-lang/crates.io-index",
        "sparse+https://index.crates.io/", "https://1.1.1.1/", "https://172.32.0.1/",
        "https://[2606:4700::1111]/", "https://localhost.example.com/",
        "https://127.0.0.1.example/", "https://100.128.0.1/", "https://xn--rder-5qa.example/"}) {
    CAPTURE(std::string(url));
    CHECK_FALSE(authorityOf(url).empty());
    CHECK_FALSE(isInner(authorityOf(url)));
    CHECK(aimOf(url) == Aim::Outside);
  }
  CHECK(aimOf("file:///tmp/x") == Aim::Nowhere);
  CHECK(aimOf("git+file:///tmp/x#1") == Aim::Nowhere);
  for (const char* url :
       {"", "file:///tmp/x", "/tmp/x", "../x", "git+file:///tmp/x#1", "://x", ":"})
    CHECK(authorityOf(url).empty());
  CHECK(authorityOf("http://Example.COM:8080/x") == "example.com:8080");
}

TEST_CASE("T095 an address whose readers do not agree about the host is told from a public one") {
  for (const char* url :
       {"localhost:/x", "host.internal:/x", "ext::sh -c true", "../x", "ftp://example.com/x",
        "ssh://example.com\\@127.0.0.1/x", "git@10.0.0.1:x", "javascript:1", "/tmp/x"}) {
    CAPTURE(std::string(url));
    CHECK(aimOf(url) == Aim::Unclear);
  }
}

} // namespace gos::bindings
