#!/bin/sh
# run.sh BWR: the setup script without and with bwr; see README.md.
set -eu
bwr=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

fresh() {
  rm -rf "$room/home" "$room/project"
  mkdir -p "$room/home/.ssh" "$room/project/.git/hooks"
  echo "SECRET KEY" >"$room/home/.ssh/id_ed25519"
  echo "umask 022" >"$room/home/.profile"
  cp "$here/setup.sh" "$room/project/"
}
in_project() {
  (cd "$room/project" && HOME="$room/home" API_TOKEN=t0k3n "$@")
}

echo "as it is:"
fresh
in_project sh setup.sh | sed 's/^/  /'

echo "under bwr:"
fresh
in_project "$bwr" --level strict -- sh setup.sh >"$room/said"
sed 's/^/  /' "$room/said"

bad=0
[ "$(cat "$room/said")" = "built ./app" ] || bad=1
[ "$(cat "$room/home/.profile")" = "umask 022" ] || bad=1
[ -z "$(ls -A "$room/project/.git/hooks")" ] || bad=1
[ -f "$room/project/app" ] || bad=1

echo "and what it wanted (bwr --report):"
fresh
in_project "$bwr" --report -- sh setup.sh 2>&1 >/dev/null | sed 's/^/  /' | sed "s|$room|ROOM|g"
exit "$bad"
