// Programs that call bindings, with a real Cargo: every type of the interface, panics, values that
// stay in Rust, tests and built programs; and compile-time regions, which call none.

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {

/// A copy of the toolchain that everyone may execute.
const std::string& gosPath() {
  static const std::string path = [] {
    const std::string made = files::path(bwrPath()).parent_path().string() + "/gos";
    files::copy_file(GOS_BINARY_DIR "/bin/gos", made, files::copy_options::overwrite_existing);
    ::chmod(made.c_str(), 0755);
    return made;
  }();
  return path;
}

/// A project whose binding is the sample with every type, and a program.
struct Calling : Bound {
  explicit Calling(As who) : Bound(who) {
    bindings("sample = { path = \"rust/sample\" }");
    crate("rust/sample", "sample", room.read(GOS_SOURCE_DIR "/tests/rust/sample/src/lib.rs"),
          "[dependencies]\ngossamer-binding = \"0.1\"\n");
  }
  Outcome gos(std::vector<std::string> words) const {
    words.insert(words.begin(), gosPath());
    return room.plain(words, how);
  }
  Outcome run(const std::string& program) const {
    write("src/main.gos", program);
    return gos({"run", "--quiet", "--sandbox=standard", room.project()});
  }
};

constexpr const char* kEveryType = R"(use sample
use sample::{shapes, maps}
use sample::shapes::{Line, Point}
use std::collections::Map

fn main() {
    sample::nothing()
    println!("{} {} {} {}", sample::not(true), sample::add(40, 2), sample::half(5.0), sample::next_char('y'))
    println!("{} {} {:?} {}", sample::shout("hé"), sample::length("hé"), sample::reversed(#[1u8, 2, 3]), sample::byte_sum(#[200u8, 100]))
    println!("{} {:?} {:?}", sample::sum(#[1, 2, 3]), sample::mean(#[1.0, 2.0]), sample::mean(#[]))
    println!("{:?} {:?}", sample::parse("12"), sample::parse("x").is_err())
    println!("{:?}", sample::swap((1, "one")))
    let mut lists: Map<String, Vec<i64>> = Map::new()
    lists.insert("a", #[1, 2])
    lists.insert("b", #[])
    println!("{:?}", sample::lengths(lists))
    println!("{}", sample::fail_on_a_thread())
    let line = Line { from: Point { x: 0.0, y: 0.0 }, to: Point { x: 3.0, y: 4.0 }, name: None }
    println!("{} {:?}", shapes::length(line), shapes::named(line, "l"))
    println!("{:?}", maps::mirrored(#[Point { x: 1.0, y: 2.0 }]))
}
)";

constexpr const char* kEveryAnswer =
    "false 42 2.5 z\n"
    "hé! 3 #[3, 2, 1] 300\n"
    "6 Some(1.5) None\n"
    "Ok(12) true\n"
    "(\"one\", 1)\n"
    "{\"a\": 2, \"b\": 0}\n"
    "caught\n"
    "5 Line { from: Point { x: 0.0, y: 0.0 }, to: Point { x: 3.0, y: 4.0 }, name: "
    "Some(\"l\") }\n"
    "#[Point { x: -1.0, y: 2.0 }]\n";

template <class Case> void asEveryone(Case act) {
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    Calling calling(who);
    act(calling);
  }
}

} // namespace

TEST_CASE("bindings: every type crosses in a program that runs, and in one that is built") {
  if (missesCargo("calls"))
    return;
  asEveryone([](Calling& calling) {
    const Outcome ran = calling.run(kEveryType);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    CHECK(ran.out == kEveryAnswer);
    const std::string program = calling.room.project() + "/app";
    const Outcome built = calling.gos(
        {"build", "--quiet", "--sandbox=standard", "-o", program, calling.room.project()});
    CHECK_MESSAGE(built.code == 0, built.err);
    const Outcome answered = calling.room.plain({program}, calling.how);
    CHECK_MESSAGE(answered.code == 0, answered.err);
    CHECK(answered.out == kEveryAnswer);
  });
}

TEST_CASE("bindings: a panic in Rust is a panic of the program, with its stack trace") {
  if (missesCargo("panics"))
    return;
  asEveryone([](Calling& calling) {
    const Outcome outcome = calling.run("use sample\nfn deep() -> i64 { sample::fail(\"no luck\") "
                                        "}\nfn main() {\n    println!(\"before\")\n"
                                        "    println!(\"{}\", deep())\n}\n");
    CHECK(outcome.code == 101);
    CHECK(outcome.out == "before\n");
    CHECK(has(outcome.err, "error[GX0005]: panic: no luck"));
    CHECK(has(outcome.err, "(in the Rust function `sample::fail`)"));
    CHECK(has(outcome.err, "in deep at "));
    CHECK(has(outcome.err, "in main at "));
    CHECK_FALSE(has(outcome.err, "thread '"));
  });
}

TEST_CASE("bindings: a value that stays in Rust is dropped with its last holder") {
  if (missesCargo("handles"))
    return;
  asEveryone([](Calling& calling) {
    const Outcome outcome = calling.run(R"(use sample::shapes

fn scope() -> i64 {
    let one = shapes::counter(10)
    let same = one
    shapes::next(one)
    shapes::next(same)
    let other = shapes::counter(1)
    shapes::pour(one, other)
    println!("{} {} {:?} {}", shapes::peek(one), shapes::peek(other), one, one == same)
    shapes::both(one, other)
}

fn main() {
    println!("{}", scope())
    println!("{}", shapes::ended())
    println!("{:?}", shapes::checked_counter(-1).is_err())
    let t = shapes::tally()
    shapes::count(t, 2)
    println!("{}", shapes::count(t, 3))
}
)");
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(outcome.out == "0 13 Counter(..) true\n13\n2\ntrue\n5\n");
  });
}

TEST_CASE("T040 bindings: a compile-time region calls no function of a binding, on check, run and "
          "build") {
  if (missesCargo("regions"))
    return;
  asEveryone([](Calling& calling) {
    calling.write("src/main.gos", "use sample\nconst N: i64 = comptime { sample::add(1, 2) }\n"
                                  "fn main() { println!(\"{}\", N) }\n");
    for (const char* command : {"check", "run", "build"}) {
      CAPTURE(command);
      for (const char* level : {"none", "confined"}) {
        const Outcome outcome =
            calling.gos({command, "--quiet", "--sandbox=standard",
                         std::string("--comptime-io=") + level, calling.room.project()});
        CHECK(outcome.code == 1);
        CHECK(outcome.out.empty());
        CHECK(has(outcome.err, "error[GX0010]: `sample::add` needs foreign function call"));
      }
    }
    const Outcome full = calling.gos(
        {"run", "--quiet", "--sandbox=standard", "--comptime-io=full", calling.room.project()});
    CHECK_MESSAGE(full.code == 0, full.err);
    CHECK(full.out == "3\n");
  });
}

TEST_CASE("T121 bindings: checking a project runs nothing that was built") {
  if (missesCargo("checks"))
    return;
  asEveryone([](Calling& calling) {
    // A constructor of the library, which loading it would run.
    calling.write("rust/sample/src/lib.rs",
                  "use gossamer_binding::gos_module;\n"
                  "#[gos_module(\"sample\")]\npub mod values { pub fn add(a: i64, b: i64) -> i64 { "
                  "a + b } }\n"
                  "extern \"C\" fn start() { let _ = std::fs::write(\"" +
                      calling.room.project() +
                      "/loaded\", \"x\"); }\n"
                      "#[used]\n#[link_section = \".init_array\"]\nstatic START: extern \"C\" fn() "
                      "= start;\n");
    calling.write("src/main.gos",
                  "use sample\nfn main() { println!(\"{}\", sample::add(1, 2)) }\n");
    for (const char* command : {"check", "doc", "build"}) {
      CAPTURE(command);
      const Outcome outcome =
          calling.gos({command, "--quiet", "--sandbox=standard", calling.room.project()});
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK_FALSE(calling.room.exists("loaded"));
    }
    const Outcome ran =
        calling.gos({"run", "--quiet", "--sandbox=standard", calling.room.project()});
    CHECK_MESSAGE(ran.out == "3\n", ran.err);
    CHECK(calling.room.exists("loaded")); // it does what it does, once it is called
  });
}

} // namespace gos::cases
