// Programs whose output was worked out by hand, by subject.
#include "tests/unit/lower/lower_support.h"

#include <doctest/doctest.h>

using namespace gos::lower::test;

TEST_CASE("writes through places of any depth leave copies alone") {
  CHECK(output(R"(struct Inner { items: Vec<i64>, name: String }
struct Outer { inner: Inner, grid: [[i64; 3]; 2], tup: (i64, String) }
fn main() {
    let mut o = Outer { inner: Inner { items: #[1, 2], name: "n" }, grid: [[1, 2, 3], [4, 5, 6]], tup: (1, "t") }
    let copy = o
    o.inner.items[1] = 20
    o.inner.items.push(3)
    o.grid[1][2] += 100
    o.tup.1 += "ail"
    o.tup.0 -= 5
    println!("{:?} {:?} {:?}", o.inner.items, o.grid, o.tup)
    println!("{:?} {:?} {:?}", copy.inner.items, copy.grid, copy.tup)
}
)") ==
        R"(#[1, 20, 3] [[1, 2, 3], [4, 5, 106]] (-4, "tail")
#[1, 2] [[1, 2, 3], [4, 5, 6]] (1, "t")
)");
}

TEST_CASE("`&mut` arguments come back from every kind of place") {
  CHECK(output(R"(struct S { n: i64, items: Vec<i64>, text: String }
fn bump(x: &mut i64) { *x += 1 }
fn add(v: &mut Vec<i64>, n: i64) { v.push(n); v[0] = v[0] + n }
fn twice(v: &mut Vec<i64>) { add(v, 1); add(v, 2) }
fn shout(s: &mut String) { s.push_str("!"); *s += "?" }
fn tenfold(w: &mut [i64]) { for i in 0..w.len() { w[i] = w[i] * 10 } }
fn swap(a: &mut i64, b: &mut i64) { let t = *a; *a = *b; *b = t }
fn main() {
    let mut s = S { n: 1, items: #[1, 2], text: "t" }
    bump(&mut s.n)
    twice(&mut s.items)
    shout(&mut s.text)
    println!("{:?}", s)
    let mut xs = #[1, 2, 3, 4, 5]
    tenfold(&mut xs[1..3])
    let mut arr = [1, 2, 3]
    tenfold(&mut arr)
    tenfold(&mut arr[0..1])
    bump(&mut arr[2])
    println!("{:?} {:?}", xs, arr)
    let mut a, mut b = 1, 2
    swap(&mut a, &mut b)
    println!("{} {}", a, b)
}
)") ==
        R"(S { n: 2, items: #[4, 2, 1, 2], text: "t!?" }
#[1, 20, 30, 4, 5] [100, 20, 31]
2 1
)");
}

TEST_CASE("a `&mut` parameter is put back on every way out") {
  CHECK(output(R"(fn early(v: &mut Vec<i64>, stop: bool) -> i64 {
    v.push(100)
    if stop { return v.len() }
    v.push(200)
    v.len() * 10
}
fn fails(v: &mut Vec<i64>, r: Result<i64, String>) -> Result<i64, String> {
    v.push(7)
    let x = r?
    v.push(x)
    Ok(x)
}
fn main() {
    let mut xs = #[1]
    println!("{} {}", early(&mut xs, true), early(&mut xs, false))
    println!("{:?} {:?} {:?}", fails(&mut xs, Err("no")), fails(&mut xs, Ok(9)), xs)
}
)") ==
        R"(2 40
Err("no") Ok(9) #[1, 100, 100, 200, 7, 7, 9]
)");
}

TEST_CASE("named references write to what they refer to") {
  CHECK(output(R"(struct T { n: i64 }
fn main() {
    let mut xs = #[1, 2]
    {
        let r = &mut xs
        r.push(3)
        r[0] = 42
    }
    let mut t = T { n: 10 }
    {
        let q = &mut t.n
        *q += 1000
        *q *= 2
    }
    println!("{:?} {}", xs, t.n)
}
)") ==
        R"(#[42, 2, 3] 2020
)");
}

TEST_CASE("closures share containers and copy everything else") {
  CHECK(output(R"(fn fill(out: &mut Vec<i64>, n: i64) { #[1, 2, 3].for_each(|x| out.push(x * n)) }
fn make(k: i64) -> Fn(i64) -> i64 { |x| x + k }
fn main() {
    let mut f = #[0]
    let count = |k: i64| { f[0] = f[0] + k; f[0] }
    println!("{} {} {:?}", count(2), count(3), f)
    let mut fs = #[]
    for x in #[1, 2, 3] { fs.push(|y: i64| x * y) }
    for g in fs { print!("{} ", g(10)) }
    let mut out = #[0]
    fill(&mut out, 10)
    let nested = |a: i64| |b: i64| a * 10 + b
    println!("{:?} {} {}", out, nested(4)(2), make(10)(1))
}
)") ==
        R"(2 5 #[5]
10 20 30 #[0, 10, 20, 30] 42 11
)");
}

TEST_CASE("traits, defaults, associated constants and operators find the impl") {
  CHECK(output(R"(trait Shape {
    const SIDES: i64
    fn area(&self) -> f64
    fn name(&self) -> String { "shape" }
    fn describe(&self) -> String { format!("{} {} {:.1}", self.name(), Self::SIDES, self.area()) }
}
struct Sq(f64)
struct Circle { r: f64 }
impl Shape for Sq {
    const SIDES: i64 = 4
    fn area(&self) -> f64 { self.0 * self.0 }
    fn name(&self) -> String { "square" }
}
impl Shape for Circle {
    const SIDES: i64 = 0
    fn area(&self) -> f64 { 3.0 * self.r * self.r }
}
fn show<T: Shape>(s: T) -> String { s.describe() + "/" + T::SIDES.to_string() }
struct V2 { x: f64, y: f64 }
impl Add for V2 { fn add(self, o: V2) -> V2 { V2 { x: self.x + o.x, y: self.y + o.y } } }
impl Mul<f64> for V2 { fn mul(self, k: f64) -> V2 { V2 { x: self.x * k, y: self.y * k } } }
impl Neg for V2 { fn neg(self) -> V2 { V2 { x: -self.x, y: -self.y } } }
impl Display for V2 { fn fmt(&self) -> String { f"<{self.x},{self.y}>" } }
impl PartialEq for V2 { fn eq(&self, o: V2) -> bool { self.x == o.x } }
fn main() {
    println!("{} | {}", show(Sq(2.0)), show(Circle { r: 1.0 }))
    let v = V2 { x: 1.0, y: 2.0 } + V2 { x: 1.0, y: 1.0 } * 2.0
    println!("{} {} {} {}", v, -v, v == V2 { x: 3.0, y: 0.0 }, #[v] == #[-(-v)])
}
)") ==
        R"(square 4 4.0/4 | shape 0 3.0/0
<3,4> <-3,-4> true true
)");
}

TEST_CASE("patterns take values apart in order") {
  CHECK(output(R"(enum Op { A(i64), B { k: i64, s: String }, C, D, E(i64, i64) }
fn op(o: Op) -> i64 {
    match o {
        Op::A(n) if n > 10 => 1
        Op::A(1) | Op::A(2) => 2
        Op::A(n) => n * 3
        Op::B { k, .. } if k == 0 => 4
        Op::B { s, k } => s.len() + k
        Op::C | Op::D => 5
        Op::E(a, b) => a - b
    }
}
fn classify(n: i64) -> String {
    match n { 0 => "zero", 1 | 2 => "few", 3 => "three", 4 => "four", 5 => "five", 6..=9 => "some", -1 => "neg", _ => "many" }
}
fn parts(xs: Vec<i64>) -> i64 { match xs { [a, b, ..rest] => a + b + rest.len(), [] => 0, [_] => 1 } }
fn main() {
    println!("{} {} {} {} {} {} {}", op(Op::A(11)), op(Op::A(2)), op(Op::A(4)), op(Op::B { k: 0, s: "" }), op(Op::B { k: 2, s: "abc" }), op(Op::D), op(Op::E(9, 2)))
    for n in #[0, 1, 2, 3, 4, 5, 7, -1, 100] { print!("{} ", classify(n)) }
    println!("{} {} {}", parts(#[]), parts(#[5]), parts(#[5, 6, 7, 8]))
    let o: Option<Option<i64>> = Some(None)
    println!("{}", match o { Some(Some(_)) => 1, Some(None) => 2, None => 3 })
    if let Some((n, s)) = Some((3, "z")) && n > 2 { println!("{} {}", n, s) } else { println!("none") }
}
)") ==
        R"(1 2 12 4 5 5 7
zero few few three four five some neg many 0 1 13
2
3 z
)");
}

TEST_CASE("loops of every kind count right, and `defer` runs on the way out") {
  CHECK(output(R"(fn order(v: &mut Vec<i64>) -> i64 {
    defer v.push(1)
    {
        defer v.push(2)
        v.push(3)
    }
    if v.len() > 1 { return v.len() }
    0
}
fn main() {
    let mut v = #[]
    println!("{} {:?}", order(&mut v), v)
    for i in 0..3 { defer print!("d{} ", i); if i == 1 { continue }; print!("b{} ", i) }
    for i in (0..4).rev() { print!("{} ", i) }
    for i in 1..=3 { print!("{} ", i) }
    for k in 253u8..=255 { print!("{} ", k) }
    for k in 18446744073709551613u64..=18446744073709551615 { print!("{} ", k) }
    for k in 9223372036854775806..=9223372036854775807 { print!("{} ", k) }
    println!()
    for (i, c) in "héy".chars().enumerate() { print!("{}{} ", i, c) }
    'outer: for i in 0..5 {
        for j in 0..5 {
            if j == 3 { continue 'outer }
            if i == 2 { break 'outer }
            print!("{}{} ", i, j)
        }
    }
    let mut acc = 0
    println!("{}", loop { acc += 1; if acc > 5 { break acc * 2 } })
    let mut rows = #[#[1], #[2, 3]]
    let before = rows
    for row in before { rows[1].push(row.len()) }
    println!("{:?}", rows)
}
)") ==
        R"(2 #[3, 2, 1]
b0 d0 d1 b2 d2 3 2 1 0 1 2 3 253 254 255 18446744073709551613 18446744073709551614 18446744073709551615 9223372036854775806 9223372036854775807 
0h 1é 2y 00 01 02 10 11 12 12
#[#[1], #[2, 3, 1, 2]]
)");
}

TEST_CASE("values of unit types need no storage") {
  CHECK(output(R"(struct E {}
enum W { A(()), B(E, i64) }
fn unit() -> () { () }
fn ok(b: bool) -> Result<(), String> { if b { Ok(()) } else { Err("bad") } }
fn chain() -> Result<(), String> { ok(true)?; let u = ok(true)?; ok(false) }
fn main() {
    println!("{:?} {:?} {:?} {:?}", unit(), E {}, W::A(()), W::B(E {}, 3))
    println!("{:?} {} {:?}", chain(), ok(true) == Ok(()), #[(), ()] == #[(), ()])
}
)") ==
        R"(() E A(()) B(E, 3)
Err("bad") true true
)");
}

TEST_CASE("statics are shared, constants are computed once") {
  CHECK(output(R"(static mut COUNTER: i64 = 0
static mut LOG: Vec<String> = #[]
const TABLE: [i64; 4] = [10, 20, 30, 40]
const TWICE: i64 = TABLE_BASE * 2
const TABLE_BASE: i64 = 21
fn tick() -> i64 { COUNTER += 1; LOG.push(f"t{COUNTER}"); COUNTER }
fn main() {
    tick()
    tick()
    println!("{} {:?} {} {}", COUNTER, LOG, TABLE[2], TWICE)
}
)") ==
        R"(2 #["t1", "t2"] 30 42
)");
}

TEST_CASE("functions, builtins and variants are values") {
  CHECK(output(R"(use std::math
fn inc(n: i64) -> i64 { n + 1 }
fn apply(f: Fn(i64) -> i64, n: i64) -> i64 { f(f(n)) }
struct Handler { run: Fn(i64) -> i64 }
struct Wrap(i64)
fn main() {
    println!("{} {}", apply(inc, 1), apply(|x| x * x, 3))
    println!("{:?} {:?}", #[4.0, 9.0].map(math::sqrt), #[1, 2].map(Some))
    println!("{:?} {}", #[1].map(Wrap), (Handler { run: inc }.run)(41))
}
)") ==
        R"(3 81
#[2.0, 3.0] #[Some(1), Some(2)]
#[Wrap(1)] 42
)");
}

TEST_CASE("arithmetic keeps to its width") {
  CHECK(output(R"(fn main() {
    let u: u8 = 250
    println!("{} {} {} {}", u +% 10, 300 as u8, -1 as u32, 200 as i8)
    let w: i32 = 2147483647
    println!("{} {} {}", w +% 1, !5u8, 1u8 << 9)
    println!("{} {} {} {}", 7 / -2, -7 % 3, 1.5 as i64, -1.0 as u8)
    println!("{}", w + 1)
}
)") ==
        R"(4 44 4294967295 -56
-2147483648 250 0
-3 -1 1 0
panic: attempt to add with overflow)");
}

TEST_CASE("evaluation goes from left to right") {
  CHECK(output(R"(fn say(log: &mut Vec<String>, s: String) -> i64 { log.push(s); log.len() }
fn main() {
    let mut log = #[]
    let a = say(&mut log, "a") * 100 + say(&mut log, "b") * 10 + say(&mut log, "c")
    let mut n = 1
    let pair = (n, { n += 5; n }, n)
    let mut x, mut y = 1, 2
    x, y = y, x + y
    println!("{} {:?} {:?} {} {}", a, log, pair, x, y)
    let mut v = #[1, 2]
    let w = #[v.len(), v.pop().unwrap(), v.len()]
    println!("{:?}", w)
}
)") ==
        R"(123 #["a", "b", "c"] (1, 6, 6) 2 3
#[2, 2, 1]
)");
}

TEST_CASE("a long list goes as fast as it came") {
  CHECK(output(R"(enum List { Nil, Cons(i64, List) }
fn main() {
    let mut l = List::Nil
    for i in 0..100000 { l = List::Cons(i, l) }
    let mut k = 0
    let mut at = l
    loop { match at { List::Nil => break, List::Cons(_, rest) => { k += 1; at = rest } } }
    println!("{}", k)
}
)") ==
        R"(100000
)");
}

TEST_CASE("the value of `or_insert` can be changed in place") {
  CHECK(output(R"(fn main() {
    let mut groups: Map<String, Vec<i64>> = {}
    for (i, w) in #["a", "b", "a", "c", "a"].iter().enumerate() { groups.or_insert(w, #[]).push(i) }
    println!("{:?}", groups)
    for (k, v) in groups { print!("{}={} ", k, v.len()) }
    println!()
}
)") ==
        R"({"a": #[0, 2, 4], "b": #[1], "c": #[3]}
a=3 b=1 c=1 
)");
}

TEST_CASE("a value of a map is changed in place through its key, which must be there") {
  CHECK(output(R"(fn main() {
    let mut m: Map<String, Vec<i64>> = {"k": #[1]}
    m["k"].push(2)
    println!("{:?}", m)
    m["z"].push(3)
}
)")
            .find("{\"k\": #[1, 2]}\npanic: ") == 0);
}

TEST_CASE("what is not built says so") {
  CHECK(output(R"(struct G { v: Vec<i64> }
impl Index<i64> for G { fn index(&self, i: i64) -> i64 { self.v[i] } }
impl IndexMut<i64> for G { fn index_mut(&mut self, i: i64) -> i64 { self.v[i] } }
fn main() {
    let mut g = G { v: #[1, 2] }
    g[0] = 5
}
)")
            .find("GN0001 ") != std::string::npos);
}

TEST_CASE("a constant is made where it is reached, and once") {
  CHECK(output(R"(const NONE: i64 = [1, 2][SEVEN]
const SEVEN: i64 = [7, 8][0]
const DIVISOR: i64 = [0, 1][0]
const BAD: [i64; 1] = [1 / DIVISOR]
fn pick(flag: bool) -> i64 { if flag { NONE + BAD[0] } else { SEVEN } }
fn main() {
    let mut n = 0
    while n < 3 { if n > 5 { println!("{}", BAD[0]) }; n += 1 }
    println!("{}", pick(false))
}
)") == "7\n");
  const Outcome reached = run(R"(const DIVISOR: i64 = [0, 1][0]
const BAD: [i64; 1] = [1 / DIVISOR]
fn main() { println!("before"); println!("{}", BAD[0]) }
)");
  CHECK(reached.output == "before\n");
  CHECK(reached.panic == "attempt to divide by zero");
}

TEST_CASE("a chain of constants takes no stack, and one through functions names its limit") {
  constexpr unsigned kCount = 900; // the checker's own limit is 1,000
  std::string chain = "const C0: i64 = [1, 2][0]\n";
  for (unsigned i = 1; i <= kCount; ++i)
    chain += "const C" + std::to_string(i) + ": i64 = C" + std::to_string(i - 1) + " + [1, 2][0]\n";
  CHECK(output(chain + "fn main() { println!(\"{}\", C900) }\n") == "901\n");
}
