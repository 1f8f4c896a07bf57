#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using gos::test::ChildResult;

namespace {

/// A directory that a session may call its own, away from every project.
std::string scratch() {
  char name[] = "/tmp/gos-repl-test-XXXXXX";
  std::string root = ::mkdtemp(name);
  root += "/place"; // a root of its own, unlike the shared temporary directory
  ::mkdir(root.c_str(), 0755);
  return root;
}

ChildResult repl(const std::string& lines, std::vector<std::string> more = {},
                 std::string directory = scratch()) {
  gos::test::ChildRequest request;
  request.arguments = {GOS_PROGRAM, "repl"};
  request.arguments.insert(request.arguments.end(), more.begin(), more.end());
  request.directory = std::move(directory);
  request.input = lines;
  request.limit = std::chrono::seconds(600);
  return gos::test::runChild(request);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

} // namespace

TEST_CASE("the value of an expression is shown with its type, and nothing else is printed") {
  const ChildResult result =
      repl("6 * 7\n\"a\\nb\"\n#[1, 2]\n(1.5, 'x')\nlet quiet = 1\n()\nNone::<i64>\n");
  CHECK(result.out == "42 : i64\n\"a\\nb\" : String\n#[1, 2] : Vec<i64>\n(1.5, 'x') : (f64, "
                      "char)\nNone : Option<i64>\n");
  CHECK(result.err == "");
  CHECK(result.exitedWith(0));
}

TEST_CASE("bindings stay, are written, and give way to later ones of their name") {
  const ChildResult result = repl("let x = 6\nlet mut sum = 0\nsum = sum + x\nsum += 1\nsum\n"
                                  "let x = f\"text {x}\"\nx\nlet a, b = 1, \"two\"\nb\na + sum\n");
  CHECK(result.out == "7 : i64\n\"text 6\" : String\n\"two\" : String\n8 : i64\n");
  CHECK(result.err == "");
}

TEST_CASE("containers are changed in place and copied by value") {
  const ChildResult result = repl(
      "let mut xs = #[3, 1, 2]\nlet copy = xs\nxs.push(9)\nxs.sort()\nxs\ncopy\nxs[0] = 7\nxs\n"
      "let mut m: Map<String, i64> = {}\nm.insert(\"a\", 1)\nm.inc(\"a\", 4)\nm\n");
  CHECK(result.out == "#[1, 2, 3, 9] : Vec<i64>\n#[3, 1, 2] : Vec<i64>\n#[7, 2, 3, 9] : Vec<i64>\n"
                      "None : Option<i64>\n{\"a\": 5} : Map<String, i64>\n");
  CHECK(result.err == "");
}

TEST_CASE("what a line does to the world it does once") {
  const ChildResult result = repl("println!(\"one\")\nlet x = { println!(\"two\")\n 5 }\nx\nx\n");
  CHECK(result.out == "one\ntwo\n5 : i64\n5 : i64\n");
}

TEST_CASE(
    "items stay: functions, types with methods, traits, generics, constants, statics, imports") {
  const ChildResult result = repl(
      "use std::strings\n"
      "#[derive(Debug)]\nstruct Point { x: i64, y: i64 }\n"
      "impl Point { fn sum(&self) -> i64 { self.x + self.y } }\n"
      "trait Twice { fn twice(&self) -> Self }\n"
      "impl Twice for i64 { fn twice(&self) -> i64 { *self * 2 } }\n"
      "fn pick<T>(a: T, b: T) -> T { b }\n"
      "const LIMIT: i64 = 10\nstatic mut COUNT: i64 = 0\n"
      "let p = Point { x: 1, y: 2 }\np\np.sum()\n21.twice()\npick(\"a\", strings::trim(\" b \"))\n"
      "LIMIT\nCOUNT = COUNT + 1\nCOUNT += 1\nCOUNT\n");
  CHECK(result.out ==
        "Point { x: 1, y: 2 } : Point\n3 : i64\n42 : i64\n\"b\" : String\n10 : i64\n2 : i64\n");
  CHECK(result.err == "");
}

TEST_CASE("closures outlive their line, and share what they captured") {
  const ChildResult result =
      repl("let mut seen = #[1]\nlet add = |n: i64| { seen.push(n) }\nadd(2)\nadd(3)\nseen\n"
           "let k = 10\nlet f = |n: i64| n + k\nlet k = 1000\nf(1)\n");
  CHECK(result.out == "#[1, 2, 3] : Vec<i64>\n11 : i64\n");
  CHECK(result.err == "");
}

TEST_CASE("recursive types and values of library types survive many lines") {
  const ChildResult result =
      repl("#[derive(Debug)]\nenum Tree { Leaf, Node(Vec<Tree>, i64) }\n"
           "let t = Tree::Node(#[Tree::Leaf, Tree::Node(#[], 2)], 1)\n1 + 1\n"
           "fn total(t: Tree) -> i64 { match t { Tree::Leaf => 0, Tree::Node(inner, n) => n + "
           "inner.map(|x| total(x)).sum() } }\ntotal(t)\nt\n"
           "use std::time\nlet d = time::Duration::from_millis(1500)\nd.as_millis()\n");
  CHECK(has(result.out, "3 : i64\nNode(#[Leaf, Node(#[], 2)], 1) : Tree\n1500 : i64\n"));
  CHECK(result.err == "");
}

TEST_CASE("a mistake is shown with a caret in its line, and the session goes on") {
  const ChildResult result = repl("let a = 1\nlet b = a + \"x\"\nb\nnope(3)\na\n");
  CHECK(result.out == "1 : i64\n");
  CHECK(has(result.err, "<line 2>:1:"));
  CHECK(has(result.err, "^"));
  CHECK(has(result.err, "nope"));
  CHECK(result.exitedWith(1));
}

TEST_CASE("a panic ends its line alone; what it had done before stays done") {
  const ChildResult result =
      repl("let mut xs = #[1]\nfn bad(i: i64) -> i64 { let v = #[0]\n v[i] }\n"
           "{ xs.push(2)\n bad(5) }\nlet lost = bad(6)\nlost\nxs\n");
  CHECK(has(result.out, "#[1, 2] : Vec<i64>\n"));
  CHECK(has(result.err, "error: panic: "));
  CHECK(has(result.err, "in bad at <line 2>:2:"));
  CHECK(has(result.err, "`lost`"));
  CHECK(result.exitedWith(1));
}

TEST_CASE("`?` ends a line with its error") {
  const ChildResult result =
      repl("use std::fs\nlet text = fs::read_to_string(\"/no/such/file\")?\n1\n"
           "use std::strconv\nlet n = strconv::parse_i64(\"12\")?\nn\n");
  CHECK(result.out == "1 : i64\n12 : i64\n");
  CHECK(has(result.err, "error: "));
}

TEST_CASE("exit ends the session with its code, after what was to be done at the end") {
  const ChildResult result =
      repl("use std::{process, runtime}\nruntime::at_exit(|| { println!(\"bye\") })\n"
           "process::exit(7)\nprintln!(\"never\")\n");
  CHECK(result.out == "bye\n");
  CHECK(result.exitedWith(7));
}

TEST_CASE("a line goes on until its brackets and texts are closed, and an empty one ends it") {
  const ChildResult result =
      repl("fn f(\n  n: i64,\n) -> i64 {\n\n  n * 2\n}\nf(\n4)\n/* a\ncomment */ 5\n(1 +\n\n6\n");
  CHECK(has(result.out, "6 : i64\n"));
  CHECK(has(result.err, "<line"));
  const ChildResult good =
      repl("fn f(\n  n: i64,\n) -> i64 {\n  n * 2\n}\nf(\n4)\n/* a\ncomment */ 5\n");
  CHECK(good.out == "8 : i64\n5 : i64\n");
  CHECK(good.err == "");
}

TEST_CASE("a new definition takes the place of the old one, and a binding that does not fit goes") {
  const ChildResult result =
      repl("fn f() -> i64 { 1 }\nf()\nfn f() -> String { \"new\" }\nf()\n"
           "#[derive(Debug)]\nstruct P { x: i64 }\nlet p = P { x: 1 }\np\n"
           "#[derive(Debug)]\nstruct P { x: i64, y: i64 }\np\nlet p = P { x: 1, y: 2 }\np\n"
           "impl Display for P { fn fmt(&self) -> String { \"shown\" } }\nprintln!(\"{}\", p)\n");
  CHECK(result.out == "1 : i64\n\"new\" : String\nP { x: 1 } : P\nP { x: 1, y: 2 } : P\nshown\n");
  CHECK(has(result.err, "note: `p` is gone"));
  CHECK(has(result.err, "p"));
}

TEST_CASE("the type of a binding is fixed by its line") {
  const ChildResult result =
      repl("let n = 5\nlet byte: u8 = n\nn\nlet f = 1.5\nlet g: f32 = f\nf\n");
  CHECK(result.out == "5 : i64\n1.5 : f64\n");
  CHECK(result.err != "");
  CHECK(result.exitedWith(1));
}

TEST_CASE("commands: type, load, reset, help, quit, and one that is not known") {
  const std::string place = scratch();
  write(place + "/more.gos",
        "// A file.\nfn triple(n: i64) -> i64 { n * 3 }\nlet loaded = triple(5)\n");
  const ChildResult result = repl(
      "let x = 1\n:type (x, \"a\")\n:type println!(\"never\")\n:load more.gos\nloaded\ntriple(2)\n"
      ":reset\nx\n:help\n:qiut\n:load nowhere.gos\n:type\n:quit\n1\n",
      {}, place);
  CHECK(has(result.out, "(i64, String)\n"));
  CHECK(!has(result.out, "never"));
  CHECK(has(result.out, "15 : i64\n6 : i64\n"));
  CHECK(has(result.out, ":load FILE"));
  CHECK(!has(result.out, "1 : i64\n1"));
  CHECK(has(result.err, "`x`"));
  CHECK(has(result.err, "did you mean `:quit`?"));
  CHECK(has(result.err, "cannot open `nowhere.gos`"));
}

TEST_CASE("what the files of a project declare is in scope, private items too, and its main does "
          "not run") {
  const std::string place = scratch();
  write(place + "/project.toml", "[project]\nid = \"example.com/shop\"\nversion = \"1.0.0\"\n");
  ::mkdir((place + "/src").c_str(), 0755);
  write(place + "/src/main.gos",
        "fn price(n: i64) -> i64 { n * 3 }\nfn main() { println!(\"main ran\") }\n");
  write(place + "/src/cart.gos", "pub fn total(xs: Vec<i64>) -> i64 { xs.sum() }\n");
  for (const auto& arguments : {std::vector<std::string>{}, std::vector<std::string>{place}}) {
    const ChildResult result =
        repl("price(5)\ncart::total(#[1, 2])\nuse cart::total\ntotal(#[4])\n", arguments,
             arguments.empty() ? place : scratch());
    CHECK(result.out == "15 : i64\n3 : i64\n4 : i64\n");
    CHECK(result.err == "");
  }
}

TEST_CASE("regions in lines are folded under the policy of check, and nothing is loosened") {
  const std::string place = scratch();
  write(place + "/inside.txt", "kept here");
  const std::string lines =
      "use std::{fs, env}\nlet inside = comptime { fs::read_to_string(\"inside.txt\").unwrap() "
      "}\ninside\n"
      "comptime { fs::read_to_string(\"/etc/hostname\").is_ok() }\n"
      "comptime { fs::write(\"made.txt\", \"x\").is_ok() }\ncomptime { "
      "env::var(\"HOME\").is_some() }\n"
      "comptime fn table() -> i64 { #[1, 2, 3].map(|n| n * n).sum() }\ntable()\n"
      "fs::read_to_string(\"inside.txt\").unwrap()\n";
  const ChildResult confined = repl(lines, {}, place);
  CHECK(has(confined.out, "\"kept here\" : String\n14 : i64\n\"kept here\" : String\n"));
  size_t denials = 0;
  for (size_t at = 0; (at = confined.err.find("GX0010", at)) != std::string::npos; ++at)
    ++denials;
  CHECK(denials == 3);
  CHECK(::access((place + "/made.txt").c_str(), F_OK) != 0);

  const ChildResult none = repl(lines, {"--comptime-io=none"}, place);
  CHECK(has(none.err, "GX0010"));
  CHECK(has(none.out, "\"kept here\" : String\n")); // at run time everything is allowed
  CHECK(!has(none.out, "\"kept here\" : String\n14 : i64\n\"kept here\""));
}

TEST_CASE("a manifest tightens the regions of lines") {
  const std::string place = scratch();
  write(place + "/project.toml",
        "[project]\nid = \"example.com/tight\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\n");
  ::mkdir((place + "/src").c_str(), 0755);
  write(place + "/src/lib.gos", "pub fn one() -> i64 { 1 }\n");
  const ChildResult result =
      repl("use std::fs\ncomptime { fs::read_to_string(\"lib.gos\").is_ok() }\none()\n",
           {"--comptime-io=full"}, place);
  CHECK(has(result.err, "GX0010"));
  CHECK(has(result.out, "1 : i64\n"));
}

TEST_CASE("a loop of a region is bounded, and the session goes on") {
  const ChildResult result = repl("comptime { let mut n = 0\n while true { n += 1 }\n n }\n1\n",
                                  {"--comptime-steps=100000"});
  CHECK(has(result.err, "GX0009"));
  CHECK(result.out == "1 : i64\n");
}

TEST_CASE("what a line prints does not reach the terminal as a control") {
  const ChildResult result = repl("\"\\u{1b}[31m\"\npanic!(\"{}\", \"\\u{1b}]0;title\\u{7}\")\n");
  CHECK(!has(result.out, "\x1b"));
  CHECK(!has(result.err, "\x1b"));
}

TEST_CASE("hundreds of lines leave the values of all of them") {
  std::string lines, wanted;
  for (int i = 0; i < 200; ++i)
    lines += "let v" + std::to_string(i) + " = #[" + std::to_string(i) + ", 1].map(|n| n * 2)\n";
  lines += "v0[0] + v100[0] + v199[0]\n";
  const ChildResult result = repl(lines);
  CHECK(result.out == "598 : i64\n");
  CHECK(result.err == "");
}

TEST_CASE("no input, garbage and an unfinished end are met with a message or nothing") {
  CHECK(repl("").exitedWith(0));
  CHECK(repl("\n\n  \n").exitedWith(0));
  CHECK(has(repl("fn f( {").err, "error"));
  CHECK(has(repl("\"abc").err, "error"));
  for (const char* garbage :
       {"\xff\xfe\x80\n", "let let let\n", "}\n", "::\n", ":\n", "#!\n", "let x\n", "return\n",
        "break\n", "use nothing::here\n", "fn main() {}\n", "let r = &mut 5\n"}) {
    const ChildResult result = repl(std::string(garbage) + "1 + 1\n");
    CHECK_MESSAGE(result.end == ChildResult::End::Exited, garbage);
    CHECK_MESSAGE((result.code == 0 || result.code == 1), garbage);
    CHECK_MESSAGE(has(result.out, "2 : i64\n"), std::string(garbage));
  }
}

TEST_CASE(
    "T058: a region that writes is refused at the first line of a session, and `gos doc` runs no region at all") {
  const std::string place = scratch();
  write(
      place + "/evil.gos",
      "use std::fs\n// Made.\npub const MADE: bool = comptime { fs::write(\"made.txt\", \"x\").is_ok() }\n"
      "fn main() { println!(\"{}\", MADE) }\n");
  const ChildResult session = repl("1 + 1\n", {"evil.gos"}, place);
  CHECK(has(session.err, "GX0010"));
  CHECK(session.exitedWith(1));
  gos::test::ChildRequest request;
  request.arguments = {GOS_PROGRAM, "doc", "evil.gos"};
  request.directory = place;
  request.limit = std::chrono::seconds(600);
  const ChildResult shown = gos::test::runChild(request);
  CHECK(has(shown.out, "const MADE: bool"));
  CHECK(shown.exitedWith(0));
  CHECK(::access((place + "/made.txt").c_str(), F_OK) != 0);
}

TEST_CASE("a goroutine that waits takes nothing from the lines after it, which may wake it") {
  const std::string begin = "use std::sync\nuse std::sync::channel\nlet keep = 42\n"
                            "let t, r = channel::<i64>()\n"
                            "let h = spawn(|| { t.send(1); println!(\"sent\"); 5 })\n";
  const ChildResult woken = repl(begin + "keep\nkeep + 1\nr.recv()\nh.join()\n");
  CHECK(woken.out == "42 : i64\n43 : i64\nsent\nSome(1) : Option<i64>\n"
                     "Ok(5) : Result<i64, String>\n");
  CHECK(woken.err == "");
  CHECK(woken.exitedWith(0));
  // It fails instead, when the line that is to blame for it has ended.
  const ChildResult failed =
      repl(begin + "t.close()\nkeep\nh.join()\nlet a = spawn(|| 6)\na.join()\n");
  CHECK(failed.out == "42 : i64\nErr(\"send on closed channel\") : Result<i64, String>\n"
                      "Ok(6) : Result<i64, String>\n");
  CHECK(has(failed.err, "note: goroutine 1 failed: panic: send on closed channel\n"
                        "  in closure in input at <line 5>:1:20\n"));
  CHECK(!has(failed.err, "afresh"));
}

TEST_CASE("goroutines go on over many lines, fed by them") {
  const ChildResult result = repl(
      "use std::sync::channel\nlet t, r = channel::<i64>()\nlet done, wait = channel::<i64>()\n"
      "let sum = spawn(|| { let mut n = 0\n while let Some(v) = r.recv() { n += v\n "
      "println!(\"{n}\") }\n done.send(n)\n n })\n"
      "t.send(1)\nt.send(20)\n5\nt.close()\nwait.recv()\nsum.join()\n");
  CHECK(result.out == "1\n21\n5 : i64\nSome(21) : Option<i64>\nOk(21) : Result<i64, String>\n");
  CHECK(result.err == "");
}

TEST_CASE("a line that waits for ever is a deadlock with its place, and costs nothing but itself") {
  const ChildResult result =
      repl("use std::sync::channel\nlet keep = 42\nlet t, r = channel::<i64>()\n"
           "let h = spawn(|| r.recv())\nlet a, b = channel::<i64>()\nlet lost = b.recv()\n"
           "keep\na.send(7)\nt.send(3)\nh.join()\nlet g = spawn(|| a.send(8))\nb.recv()\n");
  CHECK(result.out == "42 : i64\nOk(Some(3)) : Result<Option<i64>, String>\n"
                      "Some(8) : Option<i64>\n");
  CHECK(has(result.err, "error: panic: deadlock: every goroutine waits for another one\n"
                        "  this line waits for a value from a channel at <line 6>:1:12\n"
                        "  goroutine 1 waits for a value from a channel at <line 4>:1:18\n"
                        "  in input at <line 6>:1:12\n"));
  CHECK(has(result.err, "  this line waits for a receiver of its value at <line 8>:1:1\n"));
}

TEST_CASE("a goroutine that fails is told under its line, whose binding stays") {
  const ChildResult result =
      repl("let xs = #[1]\nlet h = spawn(|| xs[3])\nxs\nlet e = spawn(|| { if xs.len() == 1 { "
           "Err::<i64, String>(\"no\") } else { Ok(1) } })\nh.join().is_err()\n");
  CHECK(result.out == "#[1] : Vec<i64>\ntrue : bool\n");
  CHECK(has(result.err,
            "note: goroutine 1 failed: panic: vec index out of bounds: the len is 1 but "
            "the index is 3\n"));
  CHECK(has(result.err, "note: goroutine 2 failed: no\n"));
}

TEST_CASE("a signal that lines ask for is theirs, and who waits for it holds up no line") {
  const ChildResult result = repl("use std::os::signal\nuse std::process\n"
                                  "let n = signal::on(signal::SIGINT)\n"
                                  "let raise = || process::signal(process::id(), 2)\n"
                                  "raise()\nn.wait()\n"
                                  "let waits = spawn(|| n.wait())\n\"here\"\n"
                                  "raise()\nwaits.join()\n"
                                  "n.stop()\nn.wait()\n");
  CHECK(result.out == "true : bool\ntrue : bool\n\"here\" : String\ntrue : bool\n"
                      "Ok(true) : Result<bool, String>\nfalse : bool\n");
  CHECK(result.err == "");
  CHECK(result.exitedWith(0));
}
