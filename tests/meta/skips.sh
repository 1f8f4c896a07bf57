#!/usr/bin/env bash
# The counting of skips in scripts/build.sh: skips.sh SOURCE. What tests print is found, and nothing else is.
set -euo pipefail
top=$1
source "$top/scripts/build.sh"

fail() {
  printf 'skips.sh: %s\n' "$1" >&2
  exit 1
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cat >"$place/log" <<'TXT'
1/3 Testing: cases_files
1/3 Test: cases_files
SKIP B011: no mount can be made here: unshare: no
SKIP B015, node: node is not installed
[doctest] test cases:  3 |  3 passed | 0 failed | 2 skipped
2/3 Testing: threats
skipped part 1: T001: this host has no time zones
tests/a.cpp:7: MESSAGE: skipped: zsh is not installed
tests/a.cpp:9: MESSAGE: skipped part: nothing here
test: 3 passed, 0 failed, 0 skipped, 0 doc-test(s)
TEST CASE:  T066 a near miss is never skipped as unknown
3/3 Testing: silent
TXT
cat >"$place/wanted" <<'TXT'
cases_files: B011: no mount can be made here: unshare: no
cases_files: B015, node: node is not installed
threats: T001: this host has no time zones
threats: zsh is not installed
threats: nothing here
TXT
list_skips "$place/log" >"$place/found"
diff "$place/wanted" "$place/found" || fail "other skips than those of the log are listed"
whole=$(printf '  7/9 Test  #7: small_x ..........***Skipped   0.01 sec\n' | list_skips)
[ "$whole" = "small_x: the whole test" ] || fail "a test that was skipped as a whole is '$whole'"

# Through ctest: tests that pass and skip, at the end of a run.
project=$place/build/fake
mkdir -p "$project"
printf 'add_test(one sh -c "echo SKIP one: because")\nadd_test(two sh -c "exit 77")\nadd_test(three true)\n%s\n' \
  'set_tests_properties(two PROPERTIES SKIP_RETURN_CODE 77)' >"$project/CTestTestfile.cmake"
cd "$place"
unset GOS_REQUIRE_SANDBOX
said=$( (run_ctest fake && close_tests) 2>&1) || fail "the run failed: $said"
for line in '== skips: 2' '      1 one: one: because' '      1 two: the whole test'; do
  printf '%s\n' "$said" | grep -qxF -- "$line" || fail "no line '$line' in: $said"
done

# What CI asks for is a failure only where the host has everything, and never a word that tests do not know.
mkdir -p "$project/bin"
for level in strict standard; do
  printf '#!/bin/sh\necho '"'"'{"max_level":"%s"}'"'"'\n' "$level" >"$project/bin/bwr"
  chmod 755 "$project/bin/bwr"
  wanted=
  [ "$level" = standard ] || [ "$(id -u)" -ne 0 ] || wanted=host
  found=$(GOS_REQUIRE_SANDBOX=auto && resolve_requirement "$project" && printf '%s' "${GOS_REQUIRE_SANDBOX-}")
  [ "$found" = "$wanted" ] || fail "of a host that gives $level '$found' is required"
done
found=$(GOS_REQUIRE_SANDBOX=1 && resolve_requirement "$project" && printf '%s' "$GOS_REQUIRE_SANDBOX")
[ "$found" = 1 ] || fail "what was asked for is '$found'"
