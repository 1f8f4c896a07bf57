# shellcheck shell=bash
# Part of ./dev: configures, builds, and runs the tests of a preset.

: "${top:?is set by ./dev}"
jobs=$(nproc 2>/dev/null || echo 2)

# A home directory that is missing or not ours to write must not stop the compiler cache.
if [ -z "${CCACHE_DIR-}" ] && ! [ -w "${HOME:-/nonexistent}" ]; then
  export CCACHE_DIR=$top/build/ccache
fi

# What runs on several threads, or has goroutines: the programs of its tests, and the tests by their names in ctest.
concurrent_targets=(gos bwr unit_vm unit_stdlib unit_sandbox_command unit_repl sandbox_soak_test stdsandbox_test
  stdsandbox_attacks threats_test repl_test program_runner)
concurrent_tests='^(unit_(vm|stdlib|sandbox_command|repl)$|sandbox_soak_test$|stdsandbox: |threat: .*(goroutine|channel|cohort)|repl_test$'
concurrent_tests+='|program_goroutines$|example_sandbox|small_(goroutine|cohort|channel|select|lock|blocking|panic_deadlock))'

# build PRESET [TARGET...]: configures (again, if the folder was moved or the compiler changed) and builds
# everything, or the targets.
build() {
  local preset=$1 folder=build/$1 options=() targets=()
  shift
  case "$preset" in
  sanitize | thread | fuzz)
    options+=("-DCMAKE_CXX_COMPILER=clang++-$llvm_version" "-DCMAKE_C_COMPILER=clang-$llvm_version")
    ;;
  esac
  if [ -f "$folder/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"
  fi
  printf '\n== build %s\n' "$preset"
  mkdir -p "$folder"
  if ! cmake --preset "$preset" ${options[@]+"${options[@]}"} >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log"
    exit 1
  fi
  [ $# -eq 0 ] || targets=(--target "$@")
  cmake --build "$folder" --parallel "$jobs" ${targets[@]+"${targets[@]}"}
}

# What was run and its closing line, and the tests that were skipped, of all runs, to be said again at the end; did one
# fail?
closing_lines=()
skip_lines=()
tests_failed=no

# list_skips LOG...: what tests say of parts that they skip, a line each as `TEST: WHAT: REASON`. LOGs are LastTest.log
# of ctest, which shows nobody what a test that passed has printed, and what ctest itself says of whole tests.
list_skips() {
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { test = $3 }
    /^Command: / { next }
    match($0, /(^|[^A-Za-z])(SKIP |skipped( part( [0-9]+)?)?: )/) { print test ": " substr($0, RSTART + RLENGTH) }
    /\*\*\*Skipped/ { sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, ""); print $1 ": the whole test" }
  ' "$@"
}

# GOS_REQUIRE_SANDBOX=auto makes a skip for want of something of the host a failure where root runs the tests
# on a kernel that gives every level.
resolve_requirement() {
  [ "${GOS_REQUIRE_SANDBOX-}" = auto ] || return 0
  if [ "$(id -u)" -eq 0 ] && "$1/bin/bwr" --capabilities --json 2>/dev/null | grep -q '"max_level":"strict"'; then
    export GOS_REQUIRE_SANDBOX=host
  else
    unset GOS_REQUIRE_SANDBOX
  fi
}

# run_ctest PRESET ARG...: the tests of a build; ARGs go to ctest.
run_ctest() {
  local preset=$1 folder=build/$1
  shift
  printf '\n== test %s %s\n' "$preset" "$*"
  local status=0 log line
  resolve_requirement "$folder"
  log=$folder/ctest$(printf '%s' "$*" | tr -cd 'A-Za-z0-9').log
  rm -f "$folder/Testing/Temporary/LastTest.log"
  ctest --test-dir "$folder" --output-on-failure --parallel "$jobs" --timeout 900 "$@" 2>&1 |
    tee "$log" || status=$?
  [ "$status" -eq 0 ] || tests_failed=yes
  line=$(grep -E '^[0-9]+% tests passed|^No tests were found' "$log" | tail -n 1) || true
  closing_lines+=("$preset $*" "${line:-ctest did not finish}")
  if [ -f "$folder/Testing/Temporary/LastTest.log" ]; then
    while IFS= read -r line; do
      skip_lines+=("$line")
    done < <(list_skips "$folder/Testing/Temporary/LastTest.log" && grep -a '\*\*\*Skipped' "$log" | list_skips)
  else
    closing_lines+=("$preset $*" "there is no LastTest.log to count skips in")
    tests_failed=yes
  fi
}

# Ends with the skips, each reason once, the closing lines, and with what they mean as exit code.
close_tests() {
  printf '\n== skips: %s\n' "${#skip_lines[@]}"
  [ "${#skip_lines[@]}" -eq 0 ] || printf '%s\n' "${skip_lines[@]}" | sort | uniq -c
  printf '\n== results\n'
  printf '%s\n' "${closing_lines[@]}"
  if [ "$tests_failed" = yes ]; then
    exit 1
  fi
}

# Fuzz targets are the programs bin/fuzz_NAME; the corpus of each is tests/fuzz/corpus/NAME.
fuzz_targets() {
  local target
  for target in build/fuzz/bin/fuzz_*; do
    [ ! -x "$target" ] || [ "$target" != "${target%_replay}" ] || printf '%s\n' "${target##*/fuzz_}"
  done
}

# Every input that ever mattered, once.
replay_corpora() {
  local name corpus passed=0 failed=0
  printf '\n== replay of the fuzz corpora\n'
  while read -r name; do
    corpus=tests/fuzz/corpus/$name
    [ -d "$corpus" ] || continue
    if "build/fuzz/bin/fuzz_$name" -runs=0 "$corpus" >"build/fuzz/$name.log" 2>&1; then
      passed=$((passed + 1))
      printf 'ok    %s\n' "$name"
    else
      failed=$((failed + 1))
      tests_failed=yes
      printf 'FAIL  %s\n' "$name"
      tail -n 40 "build/fuzz/$name.log"
    fi
  done < <(fuzz_targets)
  [ "$passed" -gt 0 ] || tests_failed=yes # no corpus at all is a fault of this script, not a pass
  closing_lines+=("fuzz corpora" "$passed replayed, $failed failed")
}

# run_fuzzers NAME SECONDS: one target, or each when NAME is empty. What is found is left in
# build/fuzz/found; what widens the coverage goes to build/fuzz/corpus.
run_fuzzers() {
  local wanted=$1 seconds=$2 name found=no
  while read -r name; do
    case "$wanted" in
    "" | "$name" | "${name#fuzz_}") ;;
    *) continue ;;
    esac
    found=yes
    printf '\n== fuzz %s for %s s\n' "$name" "$seconds"
    mkdir -p "build/fuzz/corpus/$name" build/fuzz/found
    local corpora=("build/fuzz/corpus/$name")
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
      -artifact_prefix=build/fuzz/found/ "${corpora[@]}"
  done < <(fuzz_targets)
  [ "$found" = yes ] || refuse "no fuzz target '${wanted:-at all}'; there are: $(fuzz_targets | tr '\n' ' ')"
}
