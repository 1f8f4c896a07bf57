#!/usr/bin/env bash
# What `./dev run` says of an example is the first paragraph of its README, from its first line.
# usage: examples_text.sh SOURCES
set -euo pipefail
cd "$1"
source scripts/examples.sh
seen=0
for example in examples/*/; do
  example=${example%/}
  wanted=$(sed -n '2,$p' "$example/README.md" | grep -m 1 .)
  shown=$(example_text "$example" | head -n 1)
  if [ "$shown" != "  $wanted" ]; then
    printf '%s: shown is "%s", the README begins "%s"\n' "$example" "$shown" "$wanted" >&2
    exit 1
  fi
  seen=$((seen + 1))
done
[ "$seen" -gt 5 ]
printf '%d examples\n' "$seen"
