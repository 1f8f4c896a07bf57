#!/usr/bin/env bash
# Measures the toolchain and prints what it found; README.md says what each figure means.
# usage: run.sh [--gos PATH] [--rounds N] [vm] [check] [format] [start] [gate] [sandbox] [stdsandbox] [cargo] [bindings] [goroutines]      without a name: vm check start sandbox stdsandbox cargo goroutines, those whose peer is installed
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
gos=$here/../build/release/bin/gos
rounds=5
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --gos) gos=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    vm|check|format|start|gate|sandbox|stdsandbox|cargo|bindings|goroutines) parts+=("$1"); shift ;;
    *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
all=no
[ ${#parts[@]} -gt 0 ] || { all=yes; parts=(vm check start sandbox stdsandbox cargo goroutines); }
[ -x "$gos" ] || { echo "no release build at $gos: run ./dev build first" >&2; exit 1; }
gos=$(readlink -f "$gos")
work=$(mktemp -d)
# Where a command is started: a directory of a disk, as projects are. One in /tmp stands on the private temp.
place=$(mktemp -d "$(dirname "$gos")/../bench-XXXXXX")
trap 'rm -rf "$work" "$place"' EXIT

# microseconds COMMAND...: wall clock of one run; its output goes to $work/out.
microseconds() {
  local start=${EPOCHREALTIME/./} end
  "$@" > "$work/out"
  end=${EPOCHREALTIME/./}
  echo $((end - start))
}
# times_of NAME COMMAND...: adds the milliseconds of one run to NAME.wall, and those of processors to NAME.cpu.
times_of() {
  local name=$1 TIMEFORMAT='%R %U %S'; shift
  { time "$@" > "$work/out" 2> "$work/notes"; } 2> "$work/time"
  awk -v name="$name" '{ print $1 * 1000 >> (name ".wall"); print ($2 + $3) * 1000 >> (name ".cpu") }' "$work/time"
}
# starts_of_cargo COMMAND...: how often Cargo or a compiler is executed; fails where nobody can look.
starts_of_cargo() {
  type -P strace > /dev/null || return 1
  strace -f -qq -e trace=execve,execveat -o "$work/starts" "$@" > "$work/out" 2> "$work/notes" || return 1
  grep -c -E '/(cargo|rustc)"' "$work/starts" || true
}
least() { sort -n | head -1; }
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

echo "$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores, $("$gos" --version | head -1)"

# ---- the VM beside Lua: pairs run alternately, so that a slow moment hits both -------------------
vm() {
  local lua; lua=$(command -v lua5.4 || command -v lua) || { echo "lua5.4 is not installed (apt-get install lua5.4)" >&2; return 1; }
  echo; echo "VM and $("$lua" -v 2>&1 | cut -d' ' -f1-2), median of $rounds alternating rounds, whole process"
  printf '%-12s %10s %10s %9s\n' program 'gos ms' 'lua ms' 'lua/gos'
  : > "$work/ratios"
  local name round
  for file in "$here"/programs/*.gos; do
    name=$(basename "$file" .gos)
    : > "$work/a"; : > "$work/b"
    for ((round = 0; round < rounds; round++)); do
      microseconds "$gos" run "$file" >> "$work/a"; cp "$work/out" "$work/gos_out"
      microseconds "$lua" "${file%.gos}.lua" >> "$work/b"
      cmp -s "$work/out" "$work/gos_out" || { echo "$name: the two print different answers" >&2; diff "$work/gos_out" "$work/out" >&2; return 1; }
    done
    awk -v name="$name" -v a="$(median < "$work/a")" -v b="$(median < "$work/b")" -v ratios="$work/ratios" \
      'BEGIN { printf "%-12s %10.1f %10.1f %8.2fx\n", name, a / 1000, b / 1000, b / a; print b / a >> ratios }'
  done
  awk '{ sum += log($1); if (NR == 1 || $1 < least) least = $1 } END { printf "geometric mean %.2fx, least %.2fx (wanted: 1.5x and 1.0x)\n", exp(sum / NR), least }' "$work/ratios"
}

# ---- checking: lines a second and bytes a line, over sizes -----------------------------------------
check() {
  echo; echo "gos check of generated code, best of 3"
  printf '%-10s %10s %14s %12s\n' lines ms lines/s 'bytes/line'
  # The memory of a check of nothing is the tool itself; what a line costs is counted above it.
  echo 'fn main() {}' > "$work/empty.gos"
  local base lines time best i kib
  base=$(peak_kib check --quiet "$work/empty.gos")
  for lines in 10000 100000 1000000; do
    "$here/generate_source.sh" "$lines" > "$work/big.gos"
    best=
    for i in 1 2 3; do
      time=$(microseconds "$gos" check --quiet "$work/big.gos")
      if [ -z "$best" ] || [ "$time" -lt "$best" ]; then best=$time; fi
    done
    kib=$(peak_kib check --quiet "$work/big.gos")
    awk -v n="$lines" -v t="$best" -v k="$kib" -v base="$base" \
      'BEGIN { printf "%-10d %10.1f %14.0f %12.0f\n", n, t / 1000, n * 1e6 / t, (k - base) * 1024 / n }'
  done
  echo "(wanted: 500000 lines/s, the same at every size, under 1024 bytes/line; the tool itself: $base KiB)"
}
# peak_kib ARGUMENTS...: peak resident memory of a run of gos, from the kernel's own accounting of the child.
peak_kib() {
  if [ -x /usr/bin/time ]; then
    /usr/bin/time -f %M -o "$work/peak" "$gos" "$@" > /dev/null
    cat "$work/peak"
  else
    build_tool peak_memory
    "$work/peak_memory" "$gos" "$@"
  fi
}
# build_tool NAME: one of the small C++ programs beside this file.
build_tool() { [ -x "$work/$1" ] || c++ -O2 -static-libstdc++ -static-libgcc -o "$work/$1" "$here/$1.cpp"; }

# ---- the formatter over a source as it is written, and as it is laid out -----------------------------
format() {
  "$here/generate_source.sh" 350000 > "$work/written.gos"
  "$gos" fmt - < "$work/written.gos" > "$work/laid_out.gos"
  echo; echo "gos fmt of one source, best of 3"
  printf '%-10s %8s %10s %22s\n' source MB MB/s 'peak bytes/input byte'
  local name i time best
  for name in written laid_out; do
    best=
    for i in 1 2 3; do
      time=$(microseconds "$gos" fmt - < "$work/$name.gos")
      if [ -z "$best" ] || [ "$time" -lt "$best" ]; then best=$time; fi
    done
    awk -v n="$name" -v b="$(stat -c %s "$work/$name.gos")" -v t="$best" -v k="$(peak_kib fmt - < "$work/$name.gos")" \
      'BEGIN { printf "%-10s %8.1f %10.1f %22.1f\n", n, b / 1e6, b / t, k * 1024 / b }'
  done
  echo "(wanted: 20 MB/s of a source that is laid out, at most 12 bytes a byte)"
}

# ---- start-up beside an empty C++ program -----------------------------------------------------------
start() {
  build_tool start_up
  build_tool empty_program
  printf 'println!("hello")\n' > "$work/hello.gos"
  "$gos" build --quiet -o "$work/built_hello" "$work/hello.gos"
  echo; echo "start-up, median of 200 alternating starts"
  "$work/start_up" 200 "$work/empty_program" -- "$work/built_hello" -- "$gos" --version -- "$gos" check --quiet "$work/hello.gos" -- "$gos" run "$work/hello.gos"
  echo "(wanted: built hello at most 3 ms above the empty program, a check of hello 5 ms)"
  echo "built hello has $(stat -c %s "$work/built_hello") bytes (wanted: under 8 MiB)"
}

# ---- the gate beside a build without it (GOS_MEASURE_WITHOUT_GATE=ON) ---------------------------------
gate() {
  local without; without=$(dirname "$gos")/gos-ungated
  [ -x "$without" ] || { echo "no $without: configure with -DGOS_MEASURE_WITHOUT_GATE=ON and build gos-ungated" >&2; return 1; }
  echo; echo "a loop of cheap library calls with and without the gate, median of $((rounds * 4)) alternating rounds"
  : > "$work/a"; : > "$work/b"
  local round
  for ((round = 0; round < rounds * 4; round++)); do
    microseconds "$gos" run "$here/gate.gos" >> "$work/a"
    microseconds "$without" run "$here/gate.gos" >> "$work/b"
  done
  awk -v a="$(median < "$work/a")" -v b="$(median < "$work/b")" \
    'BEGIN { printf "with %.1f ms, without %.1f ms, difference %+.2f%% (wanted: under 1%%)\n", a / 1000, b / 1000, (a - b) * 100 / b }'
}

# build_sandbox_start: the program beside this file, with the library of the build.
build_sandbox_start() {
  [ ! -x "$work/sandbox_start" ] || return 0
  local build; build=$(dirname "$gos")/..
  c++ -std=c++20 -O2 -I"$here/.." -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -fno-asynchronous-unwind-tables \
    -fno-pic -fno-pie -static -nostdlib -no-pie -Wno-missing-field-initializers -o "$work/sandbox_floor" "$here/sandbox_floor.cpp"
  c++ -std=c++17 -O2 -I"$here/../sandbox/library" -o "$work/sandbox_start" "$here/sandbox_start.cpp" -L"$build/lib" -lgossamer_sandbox -Wl,-rpath,"$build/lib"
}

# ---- the sandbox beside posix_spawn and bubblewrap ----------------------------------------------------
sandbox() {
  local bwrap; bwrap=$(command -v bwrap) || { echo "bubblewrap is not installed (apt-get install bubblewrap)" >&2; return 1; }
  build_sandbox_start
  ( cd "$place"
    echo; echo "starting /bin/true through the library, alternating with posix_spawn"
    "$work/sandbox_start" library "$work/sandbox_floor"
    echo; echo "whole processes beside bubblewrap, alternating"
    "$work/sandbox_start" processes "$(dirname "$gos")/bwr" "$bwrap"
    "$work/sandbox_start" crowd "$(dirname "$gos")/bwr" "$bwrap"
    echo; "$work/sandbox_start" row 1000 )
}

# ---- sandbox::run of a program that holds 1 GiB beside the same call through the C interface ---------------
stdsandbox() {
  build_sandbox_start
  "$gos" build --quiet -o "$work/sandbox_run" "$here/sandbox_run.gos"
  ( cd "$place"
    echo; echo "sandbox::run of /bin/true from a program of 1 GiB, alternating with the C interface in a process of 1 GiB"
    "$work/sandbox_start" program "$work/sandbox_run" )
}

# ---- a cargo build of thirty small crates, outside, at strict, and with --report -----------------------
cargo() {
  local tool; tool=$(type -P cargo) || { echo "cargo is not installed (apt-get install cargo-web)" >&2; return 1; }
  local bwr; bwr=$(dirname "$gos")/bwr
  local project=$work/crates n
  mkdir -p "$project/src"
  { printf '[package]\nname = "top"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'
    for n in $(seq 30); do printf 'c%d = { path = "c%d" }\n' "$n" "$n"; done; } > "$project/Cargo.toml"
  echo 'fn main() { println!("{}", c1::f(1)); }' > "$project/src/main.rs"
  for n in $(seq 30); do
    mkdir -p "$project/c$n/src"
    printf '[package]\nname = "c%d"\nversion = "0.1.0"\nedition = "2021"\n' "$n" > "$project/c$n/Cargo.toml"
    "$here/generate_crate.sh" "$n" > "$project/c$n/src/lib.rs"
  done
  cd "$project"; "$tool" build -q --offline
  echo; echo "cargo build of thirty crates, median of $rounds alternating rounds"
  : > "$work/a"; : > "$work/b"; : > "$work/c"
  local round
  for ((round = 0; round < rounds; round++)); do
    rm -rf target; mkdir target; microseconds "$tool" build -q --offline >> "$work/a"
    rm -rf target; mkdir target; microseconds "$bwr" --level strict -- "$tool" build -q --offline >> "$work/b"
    rm -rf target; mkdir target; microseconds "$bwr" --level strict --report -- "$tool" build -q --offline >> "$work/c" 2> "$work/report"
  done
  awk -v a="$(median < "$work/a")" -v b="$(median < "$work/b")" -v c="$(median < "$work/c")" \
    'BEGIN { printf "outside %.0f ms, strict %.0f ms (%+.1f%%, wanted: 3%%), with --report %.0f ms (%+.1f%%, wanted: 10%%)\n", a / 1000, b / 1000, (b - a) * 100 / a, c / 1000, (c - a) * 100 / a }'
  cd "$here"
}

# ---- goroutines beside Go: both print the same; processor time too, since Go has several threads ---------
goroutines() {
  local go; go=$(command -v go) || { echo "go is not installed (apt-get install golang-go)" >&2; return 1; }
  build_tool peak_memory
  echo; echo "goroutines beside $("$go" version | cut -d' ' -f3), median of $rounds alternating rounds, whole process"
  printf '%-12s %10s %10s %9s %12s %12s\n' program 'gos ms' 'go ms' 'gos/go' 'gos KiB' 'go KiB'
  local name round
  for file in "$here"/goroutines/*.gos; do
    name=$(basename "$file" .gos)
    ( cd "$work" && GOCACHE=$work/go_cache "$go" build -o "$work/twin" "${file%.gos}.go" )
    : > "$work/a"; : > "$work/b"
    for ((round = 0; round < rounds; round++)); do
      microseconds "$gos" run "$file" >> "$work/a"; cp "$work/out" "$work/gos_out"
      microseconds "$work/twin" >> "$work/b"
      cmp -s "$work/out" "$work/gos_out" || { echo "$name: the two print different answers" >&2; diff "$work/gos_out" "$work/out" >&2; return 1; }
    done
    awk -v name="$name" -v a="$(median < "$work/a")" -v b="$(median < "$work/b")" \
      -v m="$("$work/peak_memory" "$gos" run "$file" 2>&1 | tail -1)" -v n="$("$work/peak_memory" "$work/twin" 2>&1 | tail -1)" \
      'BEGIN { printf "%-12s %10.1f %10.1f %8.2fx %12d %12d\n", name, a / 1000, b / 1000, a / b, m, n }'
  done
  echo "(wanted: at most 3x; the million at most 1 KiB each above the tool itself)"
}

# ---- Rust bindings of thirty small crates: the build with and without the sandbox, and a start --------
bindings() {
  type -P cargo > /dev/null || { echo "cargo is not installed (apt-get install cargo-web)" >&2; return 1; }
  local project=$work/bound plain=$work/unbound n
  mkdir -p "$project/src" "$project/rust/src" "$plain/src"
  printf '[project]\nid = "example.com/bound"\nversion = "0.1.0"\n[rust-bindings]\ntop = { path = "rust" }\n' > "$project/project.toml"
  printf 'use top::sum\n\nfn main() { println!("{}", sum::of(1)) }\n' > "$project/src/main.gos"
  printf '[project]\nid = "example.com/unbound"\nversion = "0.1.0"\n' > "$plain/project.toml"
  printf 'fn main() { println!("{}", 1) }\n' > "$plain/src/main.gos"
  { printf '[package]\nname = "top"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ngossamer-binding = "0.1"\n'
    for n in $(seq 30); do printf 'c%d = { path = "../c%d" }\n' "$n" "$n"; done; } > "$project/rust/Cargo.toml"
  printf 'use gossamer_binding::gos_module;\n#[gos_module("top::sum")]\npub mod sum {\n    pub fn of(x: i64) -> i64 { c1::f(x as u64) as i64 }\n}\n' > "$project/rust/src/lib.rs"
  for n in $(seq 30); do
    mkdir -p "$project/c$n/src"
    printf '[package]\nname = "c%d"\nversion = "0.1.0"\nedition = "2021"\n' "$n" > "$project/c$n/Cargo.toml"
    "$here/generate_crate.sh" "$n" > "$project/c$n/src/lib.rs"
  done
  echo; echo "bindings of thirty crates, $rounds alternating rounds: wall clock, and processor time of the whole run"
  printf '%-10s %12s %12s %14s %14s\n' level 'best ms' 'median ms' 'best cpu ms' 'median cpu ms'
  local level levels=(none standard strict) round
  for level in "${levels[@]}"; do : > "$work/$level.wall"; : > "$work/$level.cpu"; done
  for ((round = 0; round < rounds; round++)); do
    for level in "${levels[@]}"; do
      # A cache of its own each time: everything is compiled. That of the first strict build stays.
      rm -rf "$work/cache"
      XDG_CACHE_HOME=$work/cache times_of "$work/$level" "$gos" check --quiet "--sandbox=$level" "$project"
    done
  done
  for level in "${levels[@]}"; do
    awk -v name="$level" -v a="$(least < "$work/$level.wall")" -v b="$(median < "$work/$level.wall")" \
      -v c="$(least < "$work/$level.cpu")" -v d="$(median < "$work/$level.cpu")" \
      'BEGIN { printf "%-10s %12.0f %12.0f %14.0f %14.0f\n", name, a, b, c, d }'
  done
  for level in standard strict; do
    awk -v name="$level" -v a="$(least < "$work/none.wall")" -v b="$(least < "$work/$level.wall")" \
      -v c="$(least < "$work/none.cpu")" -v d="$(least < "$work/$level.cpu")" \
      'BEGIN { printf "%s beside none: best wall clock %+.1f%%, best processor time %+.1f%% (wanted: 5%%)\n", name, (b - a) * 100 / a, (d - c) * 100 / c }'
  done
  # Unchanged: Cargo is not started, and the library is what the last build left.
  : > "$work/a"; : > "$work/b"
  export XDG_CACHE_HOME=$work/cache
  local starts
  "$gos" run --sandbox=strict "$project" > "$work/out" 2> "$work/notes"
  if starts=$(starts_of_cargo "$gos" run --sandbox=strict "$project"); then
    echo "an unchanged start executes Cargo or rustc $starts times (wanted: 0)"
  fi
  for ((round = 0; round < rounds * 4; round++)); do
    microseconds "$gos" run "$plain" >> "$work/a"
    microseconds "$gos" run --sandbox=strict "$project" >> "$work/b"
  done
  unset XDG_CACHE_HOME
  awk -v a="$(median < "$work/a")" -v b="$(median < "$work/b")" \
    'BEGIN { printf "gos run without bindings %.1f ms, with unchanged ones %.1f ms: %.1f ms more (wanted: 30 ms)\n", a / 1000, b / 1000, (b - a) / 1000 }'
}

# peer_of PART: what a part is measured beside, where that is a package of its own.
peer_of() {
  case $1 in
    vm) echo lua5.4 ;;
    sandbox) echo bwrap ;;
    cargo) echo cargo ;;
    goroutines) echo go ;;
  esac
}

for part in "${parts[@]}"; do
  peer=$(peer_of "$part")
  if [ "$all" = yes ] && [ -n "$peer" ] && ! command -v "$peer" > /dev/null; then
    echo "$part is left out: $peer is not installed" >&2
    continue
  fi
  "$part"
done
