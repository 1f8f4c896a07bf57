#include "parse_test_support.h"

using gos::test::codes;
using gos::test::tree;

TEST_CASE("operators bind by their level") {
  CHECK(tree("a + b * c") == "(+ a (* b c))");
  CHECK(tree("a * b + c") == "(+ (* a b) c)");
  CHECK(tree("a - b - c") == "(- (- a b) c)");
  CHECK(tree("a & b == c") == "(== (& a b) c)");
  CHECK(tree("a | b ^ c & d << e + f") == "(| a (^ b (& c (<< d (+ e f)))))");
  CHECK(tree("a || b && c") == "(|| a (&& b c))");
  CHECK(tree("i * i..n") == "(.. (* i i) n)");
  CHECK(tree("0..n |> f") == "(|> (.. 0 n) f)");
  CHECK(tree("-x as u8") == "(as (- x) u8)");
  CHECK(tree("-x.f()") == "(- (.f x))");
  CHECK(tree("!a && b") == "(&& (! a) b)");
  CHECK(tree("a as i64 * b") == "(* (as a i64) b)");
  CHECK(tree("a? |> f()?") == "(|> (? a) (? (call f)))");
  CHECK(tree("a +% b *% c -% d") == "(-% (+% a (*% b c)) d)");
  CHECK(tree("&mut a.b") == "(&mut (field a b))");
  CHECK(tree("&&a") == "(& (& a))");
  CHECK(tree("*a = b") == "(= (* a) <- b)");
}

TEST_CASE("comparisons and ranges do not chain") {
  CHECK(codes("a < b < c") == "GP0004");
  CHECK(codes("a == b == c") == "GP0004");
  CHECK(codes("a..b..c") == "GP0005");
  CHECK(tree("(a < b) == c") == "(== (< a b) c)");
}

TEST_CASE("assignment is a statement") {
  CHECK(tree("a.b[c] = d") == "(= (index (field a b) c) <- d)");
  CHECK(tree("a <<= 1") == "(<<= a <- 1)");
  CHECK(tree("a, b = b, a") == "(= a b <- b a)");
  CHECK(tree("_, x = f()") == "(= _ x <- (call f))");
  CHECK(tree("_ = f()") == "(= _ <- (call f))");
  CHECK(tree("a, b += 1, 2") == "(+= a b <- 1 2)");
  CHECK(tree("match x { _ => a = 1 }") == "(match x [_ => (= a <- 1)])");
  CHECK(codes("let x = y = 1") == "GP0008");
  CHECK(codes("f((a = 1))") == "GP0008");
  CHECK(codes("if a = b { }") == "GP0008");
  CHECK(codes("let f = |x| y = x") == "GP0008");
}

TEST_CASE("postfix forms") {
  CHECK(tree("a.b.c(1)[2]?.d") == "(field (? (index (.c (field a b) 1) 2)) d)");
  CHECK(tree("x.0.1") == "(field (field x 0) 1)");
  CHECK(tree("x.0.1.2") == "(field (field (field x 0) 1) 2)");
  CHECK(tree("x.f::<i64, u8>(1)") == "(.f<i64, u8> x 1)");
  CHECK(tree("f(1)(2)") == "(call (call f 1) 2)");
  CHECK(codes("x.+") == "GP0011");
  CHECK(codes("x.1f32") == "GP0011");
}

TEST_CASE("arguments may be named") {
  CHECK(tree("volume(depth: 4, width: a::b)") == "(call volume depth: 4 width: a::b)");
  CHECK(codes("volume(depth = 4)") == "GP0045");
}

TEST_CASE("paths, turbofish and the bare form") {
  CHECK(tree("a::b::c") == "a::b::c");
  CHECK(tree("f::<i64>(x)") == "(call f<i64> x)");
  CHECK(tree("Vec::<i64>::new()") == "(call Vec<i64>::new)");
  CHECK(tree("f<T>(x)") == "(call f<T> x)");
  CHECK(tree("Vec<Vec<i64>>::new()") == "(call Vec<Vec<i64>>::new)");
  CHECK(tree("P<i64> { x: 1 }") == "(new P<i64> x: 1)");
  CHECK(tree("f<3, -1, [i64; 4], Fn(A) -> B, Item = C>(x)") ==
        "(call f<3, (- 1), [i64; 4], Fn(A) -> B, Item = C> x)");
  CHECK(tree("a < b && c > (d)") == "(&& (< a b) (> c d))");
  CHECK(tree("if a < b { c }") == "(if (< a b) { c })");
  CHECK(tree("if i < n && j > k { c }") == "(if (&& (< i n) (> j k)) { c })");
  CHECK(tree("a < 3") == "(< a 3)");
  CHECK(tree("<T>::f(x)") == "(call <T>::f x)");
  CHECK(tree("self::a + super::b + crate::c + Self::D") ==
        "(+ (+ (+ self::a super::b) crate::c) Self::D)");
  CHECK(codes("self::a crate::b") == "GP0001");
}

TEST_CASE("struct literals") {
  CHECK(tree("P { x: 1, y }") == "(new P x: 1 y)");
  CHECK(tree("a::P { x: 1, ..b }") == "(new a::P x: 1 ..b)");
  CHECK(tree("P {}") == "(new P)");
  CHECK(codes("P { ..a, ..b }") == "GP0036");
  CHECK(codes("P { x = 1 }") == "GP0001");
}

TEST_CASE("a struct literal in a head is refused, in brackets it is not") {
  CHECK(codes("if x == P { a: 1 } { }") == "GP0006");
  CHECK(codes("match P {} { _ => 1 }") == "GP0006");
  CHECK(tree("if x == (P { a: 1 }) { }") == "(if (== x (new P a: 1)) {})");
  CHECK(tree("for i in f(P { a: 1 }) { }") == "(for i (call f (new P a: 1)) {})");
  CHECK(tree("match x { }") == "(match x)");
  CHECK(tree("while x { a, b = b, a }") == "(while x { (= a b <- b a); })");
  CHECK(tree("for i in 0..n { }") == "(for i (.. 0 n) {})");
  CHECK(tree("for i in 0.. { break }") == "(for i (.. 0 _) { (break) })");
}

TEST_CASE("compound literals") {
  CHECK(tree("[0; 4]") == "(array-of 0 4)");
  CHECK(tree("#[0; n + 1]") == "(vec-of 0 (+ n 1))");
  CHECK(tree("#[]") == "(vec)");
  CHECK(tree("#{}") == "(set)");
  CHECK(tree("let x = {(1, 2): #[3]}") == "let x = (map (tuple 1 2): (vec 3))");
  CHECK(codes("let a = <[1, 2]>") == "GP0032");
  CHECK(codes("let a = ^[1, 2]") == "GP0032");
  CHECK(codes("let a = _[1, 2]") == "GP0032");
}

TEST_CASE("literals keep their value and suffix") {
  CHECK(tree("0xFFu8") == "255u8");
  CHECK(tree("1f64") == "1f64");
  CHECK(tree("2.5f32") == "2.5f32");
  CHECK(tree("99999999999999999999").back() == '!'); // too large: for the checker to report
  CHECK(tree("'a'") == "(char 97)");
  CHECK(tree("b'a'") == "(byte 97)");
  CHECK(tree("b\"ab\"") == "(bytes 6162)");
  CHECK(tree("\"a\\n\\\"\"") == "\"a\\n\\\"\"");
  CHECK(codes("1i128") == "GT0014");
  CHECK(codes("1foo") == "GP0018");
  CHECK(codes("1.5u8") == "GP0018");
  CHECK(codes("let a = \"\\q\"") == "GP0018");
}

TEST_CASE("closures") {
  CHECK(tree("|a, b: i64| a + b") == "(|a, b: i64| (+ a b))");
  CHECK(tree("|| 1") == "(|| 1)");
  CHECK(tree("|(a, _)| a") == "(|(a, _)| a)");
  CHECK(tree("|x| -> i64 { x }") == "(|x| -> i64 { x })");
  CHECK(tree("xs.map(|x| x * 2).f()") == "(.f (.map xs (|x| (* x 2))))");
  CHECK(tree("|x| |y| x + y") == "(|x| (|y| (+ x y)))");
  CHECK(codes("move |x| x") == "GP0061");
}

TEST_CASE("pipes") {
  CHECK(tree("3 |> |v| f(v) |> g") == "(|> (|> 3 (|v| (call f v))) g)");
  CHECK(tree("10 |> half |> |v| add(1, v) |> half") ==
        "(|> (|> (|> 10 half) (|v| (call add 1 v))) half)");
  CHECK(tree("x |> f()") == "(|> x (call f))");
  CHECK(tree("x |> r.m()") == "(|> x (.m r))");
  CHECK(tree("x |> r.m") == "(|> x (field r m))");
  CHECK(tree("x |> f::<i64>()") == "(|> x (call f<i64>))");
  CHECK(tree("x |> println") == "(|> x println)");
  CHECK(tree("x |> println!") == "(|> x println)");
  CHECK(tree("x |> println()") == "(|> x println)");
  CHECK(tree("x |> |v| println!(\"{}\", v)") == "(|> x (|v| (println! {v})))");
  CHECK(tree("x |> |v| ys.map(|w| w |> f) |> g") == "(|> (|> x (|v| (.map ys (|w| (|> w f))))) g)");
  CHECK(codes("x |> f(1)") == "GP0041");
  CHECK(codes("x |> r.m(1)") == "GP0041");
  CHECK(codes("x |> println(\"{}\", 1)") == "GP0041");
  CHECK(codes("x |> 3") == "GP0007");
  CHECK(codes("x |> a + b") == "GP0007");
  CHECK(codes("x |> #[1]") == "GP0007");
}

TEST_CASE("if, let-chains and while") {
  CHECK(tree("if a { b } else if c { d } else { e }") == "(if a { b } else if c { d } else { e })");
  CHECK(tree("if let Some(x) = f && x > 1 && let Q = g { }") ==
        "(if (let Some(x) f) (> x 1) (let Q g) {})");
  CHECK(tree("if a && let Some(x) = f { }") == "(if a (let Some(x) f) {})");
  CHECK(tree("if a || b { }") == "(if (|| a b) {})");
  CHECK(tree("if a && b && let Q = c { }") == "(if (&& a b) (let Q c) {})");
  CHECK(tree("while let Some(x) = it.next() { }") == "(while (let Some(x) (.next it)) {})");
  CHECK(codes("if a || b && let Q = c { }") == "GP0001");
  CHECK(codes("if let Q = c || d { }") == "GP0001");
  CHECK(codes("let x = let y = 1") == "GP0001");
}

TEST_CASE("loops carry labels") {
  CHECK(tree("'a: loop { break 'a 1 }") == "('a loop { (break 'a 1) })");
  CHECK(tree("'a: for i in x { continue 'a }") == "('a for i x { (continue 'a) })");
  CHECK(tree("'a: while x { break 'a }") == "('a while x { (break 'a) })");
  CHECK(codes("loop { continue a }") == "GP0012");
  CHECK(codes("'a: f()") == "GP0001");
}

TEST_CASE("match arms") {
  CHECK(tree("match c { Cmd::Step(n) if n > 0 => n, Cmd::Stop => { 0 } }") ==
        "(match c [Cmd::Step(n) if (> n 0) => n] [Cmd::Stop => { 0 }])");
  CHECK(codes("match c { a b }") == "GP0029");
  CHECK(codes("match c { a => }") == "GP0030");
  CHECK(codes("match c { a => , b => 1 }") == "GP0030");
}

TEST_CASE("comptime is a word only where it opens a region") {
  CHECK(tree("comptime { f() }") == "(comptime { (call f) })");
  CHECK(tree("let x = comptime { 1 } + 2") == "let x = (+ (comptime { 1 }) 2)");
  CHECK(tree("let comptime = 1") == "let comptime = 1");
  CHECK(tree("if comptime { }") == "(if comptime {})");
  CHECK(tree("if (comptime { true }) { }") == "(if (comptime { true }) {})");
  CHECK(tree("comptime fn f() { }") == "comptime fn f() {}");
  CHECK(tree("fn f(comptime k: i64, comptime: i64) { }") ==
        "fn f(comptime k: i64, comptime: i64) {}");
  CHECK(tree("x.comptime + defer + select + cohort + newtype + packed + arena") ==
        "(+ (+ (+ (+ (+ (+ (field x comptime) defer) select) cohort) newtype) packed) arena)");
}

TEST_CASE("what is not built is named") {
  CHECK(codes("arena { f() }") == "GN0001");
  CHECK(codes("unsafe extern \"C\" { fn f(x: i64) }") == "GN0001");
}

TEST_CASE("cohorts and selects are written out as calls of the library") {
  CHECK(tree("let r = cohort(timeout: 5) { f() }").find("cohort_push") != std::string::npos);
  CHECK(tree("cohort { f() }").find("cohort_join") != std::string::npos);
  CHECK(tree("select { x = a.recv() => 1 }").find("select_recv") != std::string::npos);
  CHECK(tree("select { a.send(2) => 1, default => 3 }").find("select_send") != std::string::npos);
  CHECK(codes("cohort(5) { }") != "");
  CHECK(codes("cohort(policy: Policy::Fast) { }") != "");
  CHECK(codes("select { x = a.next() => 1 }") != "");
  CHECK(codes("select { a.recv() => 1 }") != "");
  CHECK(codes("select { default => 1, default => 2 }") != "");
  CHECK(codes("select { }") != "");
}

TEST_CASE("spawn takes its closure in parentheses") {
  CHECK(codes("spawn f()") == "GP0061");
  CHECK(codes("spawn { f() }") == "GP0061");
  CHECK(codes("let h = spawn |x| x") == "GP0061");
}

TEST_CASE("spawn is an ordinary name where it is not written like a statement") {
  CHECK(tree("let spawn = 1") == "let spawn = 1");
  CHECK(tree("if spawn { }") == "(if spawn {})");
  CHECK(tree("spawn(f)") == "(call spawn f)");
}

TEST_CASE("a misspelt compiler-known call is answered with the one that was meant") {
  const auto suggestion = [](llvm::StringRef text) -> std::string {
    const gos::test::Parsed parsed(text);
    if (parsed.codes() != "GP0001" || parsed.engine.diagnostics().front().suggestions.size() != 1)
      return parsed.codes();
    return parsed.engine.diagnostics().front().suggestions.front().replacement;
  };
  CHECK(suggestion("prinltn!(\"x\")") == "println");
  CHECK(suggestion("formt!(\"x\")") == "format");
  CHECK(suggestion("frobnicate!(x)") == "GP0001");
}

TEST_CASE("newcomers' spellings get their own reports") {
  CHECK(codes("go f()") == "GP0048");
  CHECK(codes("vec![1]") == "GP0001");
  CHECK(codes("assert!(x)") == "GP0001");
  CHECK(codes("regex!(\"a\")") == "GP0051");
  CHECK(codes("import a") == "GP0061");
  CHECK(codes("let a = $x") == "GP0027");
  CHECK(codes("f().await") == "GP0061");
}

TEST_CASE("defer is a word in front of an expression") {
  CHECK(tree("defer f()") == "defer (call f)");
  CHECK(tree("defer { f() }") == "defer { (call f) }");
  CHECK(tree("defer(1)") == "(call defer 1)");
  CHECK(tree("defer = 1") == "(= defer <- 1)");
}

TEST_CASE("an expression text is one expression") {
  gos::SourceMap sources;
  gos::Engine engine(sources);
  gos::ast::Context context;
  const auto parsed = [&](llvm::StringRef text) {
    const gos::FileId id = llvm::cantFail(sources.addCopy("generated", text));
    std::string out;
    llvm::raw_string_ostream stream(out);
    gos::ast::print(stream, gos::parse::parseExpressionText(id, sources, context, engine));
    return out;
  };
  CHECK(parsed("0\n + p.x\n - p.y") == "(- (+ 0 (field p x)) (field p y))");
  CHECK(parsed("[1, 2]") == "(array 1 2)");
  CHECK(!engine.hasErrors());
  parsed("");
  CHECK(engine.errorCount() == 1);
  parsed("a b");
  CHECK(engine.errorCount() == 2);
  parsed("let x = 1");
  CHECK(engine.errorCount() == 3);
}
