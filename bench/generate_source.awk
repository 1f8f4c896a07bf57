# The generator behind generate_source.sh. Every piece is a page of code of one kind; `k` is its
# number and part of its names, `rnd` decides its size and its expressions. Pieces call into earlier
# ones, so that names resolve over the whole file.

function rnd(n) { state = (state * 16807) % 2147483647; return state % n }
function pick(list, n) { n = split(list, choices, " "); return choices[rnd(n) + 1] }
function w(text) { print text; written++ }

# An integer expression over the given names, `depth` operators deep; divisors are never zero.
function expr(names, depth, kind) {
  if (depth <= 0 || rnd(7) == 0) return rnd(3) ? pick(names) : rnd(90) + 1
  kind = rnd(8)
  if (kind < 3) return expr(names, depth - 1) " + " expr(names, depth - 1)
  if (kind == 3) return "(" expr(names, depth - 1) " - " expr(names, depth - 1) ")"
  if (kind == 4) return "(" expr(names, depth - 1) ") % " (rnd(50) + 3)
  if (kind == 5) return "(" expr(names, depth - 1) ") / " (rnd(9) + 2)
  if (kind == 6) return "((" expr(names, depth - 1) ") & " (rnd(255) + 1) ")"
  return "max(" expr(names, depth - 1) ", " expr(names, depth - 1) ")"
}

function fields_of(n, i, type) {
  for (i = 0; i < n; i++) {
    type = pick("i64 i64 i64 String bool f64 Vec<i64> Option<i64>")
    fieldName[i] = pick("width height weight count name label total offset limit state level rank value owner") i
    fieldType[i] = type
  }
}

function zero_of(type) {
  if (type == "i64") return rnd(1000)
  if (type == "f64") return rnd(100) "." rnd(100)
  if (type == "bool") return rnd(2) ? "true" : "false"
  if (type == "String") return "\"" pick("amber birch cedar delta ember fjord") rnd(100) "\""
  if (type == "Vec<i64>") return "#[" rnd(10) ", " rnd(10) ", " rnd(100) "]"
  return rnd(2) ? "None" : "Some(" rnd(50) ")"
}

function struct_piece(k, n, i, line) {
  n = 3 + rnd(6)
  fields_of(n)
  w("// A record of " n " fields and what can be asked of it.")
  w("struct Record" k " {")
  for (i = 0; i < n; i++) w("    " fieldName[i] ": " fieldType[i])
  w("}")
  w("")
  w("impl Record" k " {")
  w("    fn new() -> Record" k " {")
  w("        Record" k " {")
  for (i = 0; i < n; i++) w("            " fieldName[i] ": " zero_of(fieldType[i]))
  w("        }")
  w("    }")
  w("")
  w("    fn score(&self, scale: i64) -> i64 {")
  w("        let mut sum = scale")
  for (i = 0; i < n; i++) {
    if (fieldType[i] == "i64") w("        sum += self." fieldName[i] " * " (rnd(9) + 1))
    else if (fieldType[i] == "String") w("        sum += self." fieldName[i] ".len()")
    else if (fieldType[i] == "bool") w("        if self." fieldName[i] " { sum += " expr("sum scale", 2) " }")
    else if (fieldType[i] == "f64") w("        sum += (self." fieldName[i] " * " (rnd(8) + 1) ".5) as i64")
    else if (fieldType[i] == "Vec<i64>") {
      w("        for item in self." fieldName[i] " {")
      w("            if item > " rnd(50) " { continue }")
      w("            sum += item")
      w("        }")
    } else w("        if let Some(found) = self." fieldName[i] " && found > " rnd(20) " { sum -= found }")
  }
  w("        sum % " (rnd(5000) + 1000))
  w("    }")
  w("")
  w("    fn reset(&mut self, by: i64) {")
  for (i = 0; i < n; i++) {
    if (fieldType[i] == "i64") w("        self." fieldName[i] " = by * " (rnd(20) + 1))
    else if (fieldType[i] == "Vec<i64>") w("        self." fieldName[i] ".push(by)")
    else if (fieldType[i] == "String") w("        self." fieldName[i] ".push_str(\"" pick("x yy zzz") "\")")
  }
  w("    }")
  w("}")
  w("")
  w("fn use_record" k "(seed: i64) -> i64 {")
  w("    let mut record = Record" k "::new()")
  w("    record.reset(seed)")
  w("    let copy = Record" k " { " fieldName[0] ": " zero_of(fieldType[0]) ", ..record }")
  w("    record.score(scale: " (rnd(9) + 1) ") + copy.score(seed)")
  w("}")
  entry[k] = "use_record" k
}

function enum_piece(k, n, i) {
  n = 3 + rnd(5)
  w("enum Event" k " {")
  w("    Idle")
  for (i = 0; i < n; i++) {
    shape[i] = rnd(3)
    if (shape[i] == 0) w("    " pick("Move Turn Load Send") i "(i64)")
    else if (shape[i] == 1) w("    Text" i "(String, i64)")
    else w("    Area" i " { width: i64, height: i64 }")
  }
  w("    Nested(Event" k ")")
  w("}")
  w("")
  w("// How much an event costs; nested ones cost twice.")
  w("fn cost" k "(event: Event" k ", unit: i64) -> i64 {")
  w("    match event {")
  w("        Event" k "::Idle => 0")
  for (i = 0; i < n; i++) {
    if (shape[i] == 0) continue
    if (shape[i] == 1) {
      w("        Event" k "::Text" i "(text, times) if times > " rnd(9) " => text.len() * times")
      w("        Event" k "::Text" i "(text, _) => text.len() + unit")
    } else {
      w("        Event" k "::Area" i " { width: 0, .. } => unit")
      w("        Event" k "::Area" i " { width, height } => {")
      w("            let area = width * height")
      w("            " expr("area width height unit", 3))
      w("        }")
    }
  }
  w("        Event" k "::Nested(inner) => 2 * cost" k "(inner, unit)")
  w("        _ => unit")
  w("    }")
  w("}")
  w("")
  w("fn use_event" k "(seed: i64) -> i64 {")
  w("    let events = #[")
  w("        Event" k "::Idle")
  for (i = 0; i < n; i++) {
    if (shape[i] == 1) w("        Event" k "::Text" i "(\"" pick("one two three four") "\", seed % " (rnd(9) + 2) ")")
    else if (shape[i] == 2) w("        Event" k "::Area" i " { width: seed, height: " rnd(30) " }")
  }
  w("        Event" k "::Nested(Event" k "::Idle)")
  w("    ]")
  w("    let mut total = 0")
  w("    for event in events { total += cost" k "(event, " (rnd(5) + 1) ") }")
  w("    total")
  w("}")
  entry[k] = "use_event" k
}

function trait_piece(k, method) {
  method = pick("measure weigh rate price")
  w("trait Sized" k " {")
  w("    fn " method "(&self) -> i64")
  w("    fn doubled(&self) -> i64 { self." method "() * 2 + " rnd(10) " }")
  w("}")
  w("")
  w("struct Leaf" k " { size: i64, name: String }")
  w("")
  w("impl Sized" k " for Leaf" k " {")
  w("    fn " method "(&self) -> i64 { self.size + self.name.len() * " (rnd(4) + 1) " }")
  w("}")
  w("")
  w("struct Grid" k " { cells: Vec<Vec<i64>> }")
  w("")
  w("impl Sized" k " for Grid" k " {")
  w("    fn " method "(&self) -> i64 {")
  w("        let mut sum = 0")
  w("        for row in self.cells {")
  w("            for cell in row { sum += " expr("cell sum", 2) " }")
  w("        }")
  w("        sum")
  w("    }")
  w("")
  w("    fn doubled(&self) -> i64 { " expr("self." method "()", 1) " }")
  w("}")
  w("")
  w("struct Slot" k "<T> { held: Option<T>, uses: i64 }")
  w("")
  w("impl<T> Slot" k "<T> {")
  w("    fn empty() -> Slot" k "<T> { Slot" k " { held: None, uses: 0 } }")
  w("    fn put(&mut self, value: T) -> Option<T> {")
  w("        let before = self.held")
  w("        self.held = Some(value)")
  w("        self.uses += 1")
  w("        before")
  w("    }")
  w("}")
  w("")
  w("fn larger" k "<A: Sized" k ", B: Sized" k ">(a: A, b: B) -> i64 { max(a.doubled(), b." method "()) }")
  w("")
  w("fn use_trait" k "(seed: i64) -> i64 {")
  w("    let leaf = Leaf" k " { size: seed, name: \"leaf " rnd(1000) "\" }")
  w("    let grid = Grid" k " { cells: #[#[seed, " rnd(9) "], #[" rnd(9) ", " rnd(99) ", " rnd(9) "]] }")
  w("    let mut slot = Slot" k "::empty()")
  w("    let _ = slot.put(seed)")
  w("    let before = slot.put(" rnd(100) ")")
  w("    larger" k "(leaf, grid) + before.unwrap_or(0) + slot.uses")
  w("}")
  entry[k] = "use_trait" k
}

function text_piece(k, i, n) {
  n = 2 + rnd(4)
  w("// Splits lines of `key=value`, counts and renders them.")
  w("fn parse" k "(text: String) -> Map<String, i64> {")
  w("    let mut found: Map<String, i64> = {}")
  w("    for line in text.lines() {")
  w("        let Some((key, value)) = line.split_once(\"=\") else { continue }")
  w("        match value.trim().to_i64() {")
  w("            Some(number) if number > " rnd(50) " => { let _ = found.insert(key.trim(), number) }")
  w("            Some(number) => { found.inc(key.trim(), number) }")
  w("            None => {}")
  w("        }")
  w("    }")
  w("    found")
  w("}")
  w("")
  w("fn class" k "(c: char) -> i64 {")
  w("    match c {")
  w("        '0'..='9' => " (rnd(5) + 1))
  w("        'a'..='f' | 'A'..='F' => " (rnd(9) + 1))
  w("        ' ' | '\\t' | '\\n' => 0")
  w("        _ => " rnd(4))
  w("    }")
  w("}")
  w("")
  w("fn use_text" k "(seed: i64) -> i64 {")
  w("    let name = \"" pick("north south east west") rnd(100) "\"")
  w("    let mut text = f\"{name}={seed}\\n" pick("a b c d") " = " rnd(99) "\\nbroken\"")
  for (i = 0; i < n; i++) w("    text += format!(\"\\n{}_" i "={:>" (rnd(6) + 2) "}\", name, seed % " (rnd(90) + 5) ")")
  w("    let pairs = parse" k "(text)")
  w("    let mut sum = 0")
  w("    for (key, value) in pairs { sum += value + key.len() }")
  w("    for c in name { sum += class" k "(c) }")
  w("    sum + f\"{sum:0" (rnd(6) + 3) "}\".len()")
  w("}")
  entry[k] = "use_text" k
}

function pipeline_piece(k, i, n) {
  n = 2 + rnd(4)
  w("fn shift" k "(by: i64) -> Fn(i64) -> i64 { |x| x + by * " (rnd(9) + 1) " }")
  w("")
  w("fn use_pipeline" k "(seed: i64) -> i64 {")
  w("    let base = " expr("seed", 2))
  w("    let mut log: Vec<String> = #[]")
  w("    let numbers = (0.." (rnd(20) + 5) ").map(|n| n * " (rnd(5) + 1) " + base).collect()")
  w("    let kept = numbers")
  for (i = 0; i < n; i++) {
    if (rnd(2)) w("        .filter(|n| n % " (rnd(5) + 2) " != " rnd(2) ")")
    else w("        .map(|n| " expr("n base", 2) ")")
  }
  w("        .map(shift" k "(seed))")
  w("    for (i, value) in kept.enumerate() {")
  w("        if i % " (rnd(3) + 2) " == 0 { log.push(f\"{i}: {value}\") }")
  w("    }")
  w("    let best = kept.max_by_key(|n| n % " (rnd(40) + 3) ").unwrap_or(" rnd(10) ")")
  w("    let folded = kept.fold(seed, |sum, n| (sum * " (rnd(7) + 2) " + n) % " (rnd(9000) + 1000) ")")
  w("    best + folded + log.join(\", \").len()")
  w("}")
  entry[k] = "use_pipeline" k
}

function error_piece(k) {
  w("enum Fault" k " {")
  w("    TooLarge { found: i64, limit: i64 }")
  w("    Negative(i64)")
  w("    Named(String)")
  w("}")
  w("")
  w("fn checked" k "(value: i64, limit: i64 = " (rnd(500) + 50) ") -> Result<i64, Fault" k "> {")
  w("    if value < 0 { return Err(Fault" k "::Negative(value)) }")
  w("    if value > limit { return Err(Fault" k "::TooLarge { found: value, limit }) }")
  w("    Ok(" expr("value limit", 3) ")")
  w("}")
  w("")
  w("fn chain" k "(values: Vec<i64>) -> Result<i64, Fault" k "> {")
  w("    let mut sum = 0")
  w("    for value in values { sum += checked" k "(value)? }")
  w("    if sum == " rnd(1000) " { return Err(Fault" k "::Named(\"" pick("odd even prime round") "\")) }")
  w("    let last = values.last().ok_or(Fault" k "::Named(\"empty\"))?")
  w("    Ok(sum + checked" k "(last, limit: " (rnd(5000) + 100) ")?)")
  w("}")
  w("")
  w("fn use_error" k "(seed: i64) -> i64 {")
  w("    match chain" k "(#[seed, " rnd(60) ", seed / " (rnd(5) + 2) "]) {")
  w("        Ok(value) => value")
  w("        Err(Fault" k "::TooLarge { found, limit }) => found - limit")
  w("        Err(Fault" k "::Negative(value)) => -value")
  w("        Err(Fault" k "::Named(name)) => name.len()")
  w("    }")
  w("}")
  entry[k] = "use_error" k
}

function arithmetic_piece(k, i, n) {
  n = 3 + rnd(6)
  w("const STEP" k ": i64 = " (rnd(90) + 10) " * " (rnd(9) + 1))
  w("")
  w("fn use_numbers" k "(seed: i64) -> i64 {")
  w("    let mut a, mut b = seed, STEP" k)
  w("    let mut grid = [[0; 4]; 3]")
  for (i = 0; i < n; i++) {
    if (rnd(3) == 0) {
      w("    for i in 0..3 {")
      w("        for j in 0..4 { grid[i][j] += " expr("a b i j", 2) " }")
      w("    }")
    } else if (rnd(3) == 0) w("    a, b = b % 100, " expr("a b", 2))
    else if (rnd(2) == 0) w("    if a > b { a -= " expr("b STEP" k, 2) " } else { b += " (rnd(20) + 1) " }")
    else {
      w("    while a > " (rnd(50) + 10) " {")
      w("        a /= 2")
      w("        b += a & " (rnd(15) + 1))
      w("    }")
    }
  }
  w("    let x = (a % 1000) as f64 / " (rnd(9) + 1) ".25")
  if (k > 0) w("    (" entry[int(rnd(k))] "(b % 50) + grid[1][2] + x as i64) % 100000")
  else w("    (grid[1][2] + x as i64) % 100000")
  w("}")
  entry[k] = "use_numbers" k
}

BEGIN {
  state = seed * 7919 + 17
  written = 0
  w("// Generated by bench/generate_source.sh: " lines " lines, seed " seed ".")
  w("")
  for (k = 0; written < lines - 75; k++) {
    kind = rnd(7)
    if (kind == 0) struct_piece(k)
    else if (kind == 1) enum_piece(k)
    else if (kind == 2) trait_piece(k)
    else if (kind == 3) text_piece(k)
    else if (kind == 4) pipeline_piece(k)
    else if (kind == 5) error_piece(k)
    else arithmetic_piece(k)
    w("")
  }
  w("fn main() {")
  w("    let mut sum = 0")
  for (i = 0; i < k && i < 20; i++) w("    sum = (sum + " entry[i] "(" rnd(40) ")) % 1000000")
  w("    println!(\"{sum}\")")
  w("}")
  while (written < lines) w("// ...")
}
