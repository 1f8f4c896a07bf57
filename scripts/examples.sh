# shellcheck shell=bash
# Part of ./dev run: shows gos at work. Each folder of examples/ explains itself in its README.md;
# what is shown is the title and first paragraph, the command, what it prints and how it ended.

# How much of an example's output is shown.
most_lines=40

example_title() {
  sed -n '1{s/^# *//;p;q}' "$1/README.md"
}

# The first paragraph after the title; it may begin with `code`, which a block of code is not.
example_text() {
  awk 'NR == 1 { next } /^[[:space:]]*$/ { if (seen) exit; next } /^([#|]|```)/ { if (seen) exit; next } { seen = 1; print "  " $0 }' "$1/README.md"
}

# show_command GOS COMMAND...: runs gos with the words and shows what a user would see.
show_command() {
  local gos=$1 status=0
  shift
  printf '\n  $ gos %s\n' "$*"
  "$gos" "$@" </dev/null >build/example.out 2>&1 || status=$?
  head -n "$most_lines" build/example.out | sed 's/^/  | /'
  local lines
  lines=$(wc -l <build/example.out)
  [ "$lines" -le "$most_lines" ] || printf '  | ... (%d lines more)\n' $((lines - most_lines))
  [ "$status" -eq 0 ] || printf '  exit code %d\n' "$status"
  example_status=$status
}

example_status=0
show_examples() {
  local gos=$1 example failed=0 shown=0
  printf '\n== examples\n'
  for example in examples/*/; do
    example=${example%/}
    # sandbox_c is a C program: tests/library builds and runs it.
    [ -f "$example/README.md" ] && [ -f "$example/project.toml" ] || continue
    printf '\n-- %s: %s\n' "$example" "$(example_title "$example")"
    example_text "$example"
    show_example "$gos" "$example"
    shown=$((shown + 1))
    [ "$example_status" -eq 0 ] || failed=$((failed + 1))
  done
  for example in examples/*.gos; do
    [ -f "$example" ] || continue
    printf '\n-- %s\n' "$example"
    show_command "$gos" run "$example"
    shown=$((shown + 1))
    [ "$example_status" -eq 0 ] || failed=$((failed + 1))
  done
  printf '\n%d examples shown, %d ended otherwise than they should\n' "$shown" "$failed"
  [ "$failed" -eq 0 ]
}

# What of one example is shown; leaves 0 in example_status if it ended as it should.
show_example() {
  local gos=$1 example=$2
  show_command "$gos" check "$example"
  [ "$example_status" -eq 0 ] || return 0
  show_command "$gos" run "$example"
  [ "$example_status" -eq 0 ] && [ -d "$example/hostile" ] || return 0
  show_hostile "$gos" "$example/hostile"
}

# Projects that must be refused: the first is shown whole, of the others the first line. One that is not refused
# with GX0010 and exit code 1 is a failure.
show_hostile() {
  local gos=$1 directory=$2 project first=1 refused=0 missed=0
  printf '\n  and what is refused, one hostile project after the other:\n'
  for project in "$directory"/*/; do
    project=${project%/}
    local status=0
    "$gos" check "$project" </dev/null >build/example.out 2>&1 || status=$?
    if [ "$status" -eq 1 ] && grep -q 'error\[GX0010\]' build/example.out; then
      refused=$((refused + 1))
    else
      missed=$((missed + 1))
      printf '\n  NOT REFUSED: %s, exit code %d\n' "$project" "$status"
    fi
    if [ "$first" -eq 1 ]; then
      printf '\n  $ gos check %s\n' "$project"
      sed 's/^/  | /' build/example.out
      printf '\n'
      first=0
    else
      printf '  %-16s %s\n' "${project##*/}" "$(grep -m 1 'error\[GX0010\]' build/example.out)"
    fi
  done
  printf '  %d refused, %d not\n' "$refused" "$missed"
  example_status=$missed
}

# A hostile setup script as it is and under bwr. Where the host gives no level that confines, that is said.
show_bwr() {
  local bwr=$1 status=0
  printf '\n-- examples/bwr: %s\n' "$(example_title examples/bwr)"
  example_text examples/bwr
  if ! "$bwr" --level standard -- true </dev/null 2>build/example.out; then
    sed 's/^/  | /' build/example.out
    printf '  this host cannot show it; bwr --capabilities says more\n'
    return 0
  fi
  printf '\n  $ examples/bwr/run.sh bwr\n'
  sh examples/bwr/run.sh "$bwr" </dev/null >build/example.out 2>&1 || status=$?
  sed 's/^/  | /' build/example.out
  [ "$status" -eq 0 ]
}

# A project whose Rust crates are hostile, as Cargo builds it and in the sandbox.
show_bindings() {
  local gos=$1 bwr=$2 status=0
  printf '\n-- examples/hostile_binding: %s\n' "$(example_title examples/hostile_binding)"
  example_text examples/hostile_binding
  if ! command -v cargo >/dev/null 2>&1; then
    printf '  there is no cargo here: apt-get install cargo-web\n'
    return 0
  fi
  if ! "$bwr" --level strict -- true </dev/null 2>build/example.out; then
    sed 's/^/  | /' build/example.out
    printf '  this host cannot show it; bwr --capabilities says more\n'
    return 0
  fi
  printf '\n  $ examples/hostile_binding/run.sh gos\n'
  sh examples/hostile_binding/run.sh "$gos" </dev/null >build/example.out 2>&1 || status=$?
  sed 's/^/  | /' build/example.out
  [ "$status" -eq 0 ]
}
