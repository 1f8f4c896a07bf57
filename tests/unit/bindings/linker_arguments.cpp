#include "compiler/bindings/linker_arguments.h"

#include <doctest/doctest.h>

namespace gos::bindings::test {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("T123 what a build script tells the linker of the library is found in what it printed") {
  CHECK(linkerArgumentsIn("hello\ncargo:rustc-cdylib-link-arg=-Wl,-rpath,/tmp/x\n"
                          "cargo::rustc-cdylib-link-arg=-lz\r\n  cargo:rustc-link-arg-cdylib=-a=b\n"
                          "cargo:rustc-link-arg=-own\ncargo:rustc-cdylib-link-arg\ncargo:") ==
        Texts{"-Wl,-rpath,/tmp/x", "-lz", "-a=b"});
  CHECK(linkerArgumentsIn("").empty());
  std::string many;
  for (int count = 0; count != 1000; ++count)
    many += "cargo:rustc-cdylib-link-arg=x\n";
  CHECK(linkerArgumentsIn(many).size() == 200);
}

TEST_CASE("T123 arguments that name a library or harden pass, and nothing behind their name") {
  for (const char* good : {"-lz", "-lstdc++", "-Wl,-soname,libx.so.1", "-Wl,-soname=x", "-pthread",
                           "-Wl,-z,now", "-Wl,--as-needed"})
    CHECK_MESSAGE(isAllowedLinkerArgument(good), good);
  for (const char* bad : {"",
                          "-l",
                          "-l:/tmp/x.so",
                          "-lz -Wl,-rpath,/x",
                          "-Wl,-soname,x,-rpath,/tmp",
                          "-Wl,-soname,",
                          "-Wl,-soname,/tmp/x",
                          "-Wl,-rpath,/tmp/x",
                          "-Wl,--wrap=main",
                          "-Wl,-z,execstack",
                          "-Wl,-z,now,-z,execstack",
                          "-Wl,-plugin,/tmp/x.so",
                          "@/tmp/arguments",
                          "-B/tmp",
                          "/tmp/x.o",
                          "-Wl,--version-script=/tmp/x",
                          "-fuse-ld=/tmp/x",
                          "-specs=/tmp/x",
                          "-wrapper",
                          "-static"})
    CHECK_MESSAGE(!isAllowedLinkerArgument(bad), bad);
}

TEST_CASE("a build script that ran is known by its crate and its directory") {
  Messages messages;
  messages.take("{\"reason\":\"build-script-executed\",\"package_id\":\"path+file:///w/"
                "stats#0.1.0\",\"out_dir\":\"/t/release/build/stats-1/out\"}");
  REQUIRE(messages.scripts().size() == 1);
  CHECK(messages.scripts()[0].crate == "stats");
  CHECK(messages.scripts()[0].outputDirectory == "/t/release/build/stats-1/out");
}

} // namespace
} // namespace gos::bindings::test
