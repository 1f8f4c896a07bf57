#!/bin/sh
# run.sh GOS: a project whose Rust crates are hostile, without and with a sandbox; see README.md.
set -eu
gos=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
command -v cargo >/dev/null || {
  echo "  no cargo: apt-get install cargo-web, or rustup"
  exit 77
}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
# The home is one of our own; the toolchain stays where it is.
RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}
[ -d "$RUSTUP_HOME" ] && export RUSTUP_HOME || unset RUSTUP_HOME
[ -d "$CARGO_HOME" ] && export CARGO_HOME || unset CARGO_HOME

fresh() {
  rm -rf "$room/home" "$room/project" "$room/cache"
  mkdir -p "$room/home/.ssh" "$room/home/.aws"
  echo "SECRET KEY" >"$room/home/.ssh/id_ed25519"
  echo "CLOUD SECRET" >"$room/home/.aws/credentials"
  echo "umask 022" >"$room/home/.profile"
  cp -r "$here/project" "$room/project"
  mkdir -p "$room/project/.git/hooks"
}
in_project() {
  (cd "$room/project" && HOME="$room/home" XDG_CACHE_HOME="$room/cache" API_TOKEN=t0k3n "$gos" "$@")
}

echo "gos run, as cargo does it:"
fresh
in_project run --quiet . 2>/dev/null | sed 's/^/  /'

bad=0
for level in standard strict; do
  echo "gos run --sandbox=$level:"
  fresh
  in_project run --quiet --sandbox="$level" . >"$room/said" 2>"$room/errors" || {
    bad=1
    sed 's/^/  /' "$room/errors"
  }
  sed 's/^/  /' "$room/said"
  grep -q "took nothing" "$room/said" || bad=1
  [ "$(cat "$room/home/.profile")" = "umask 022" ] || bad=1
  [ -z "$(ls -A "$room/project/.git/hooks")" ] || bad=1
done
exit "$bad"
