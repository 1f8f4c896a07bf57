#!/bin/sh
# as_user.sh PROGRAM [PROBE [THROUGH]]: runs a test program as an ordinary user if this is root; a copy of it,
# since the build may lie where nobody else can look. THROUGH is the program that makes the runs.
set -eu
[ $# -lt 3 ] || export GOS_THROUGH="$3"
[ "$(id -u)" -eq 0 ] || exec "$1"
room=$(mktemp -d /srv/gosuser-XXXXXX 2>/dev/null || mktemp -d /var/tmp/gosuser-XXXXXX)
trap 'rm -rf "$room"' EXIT
chmod 755 "$room"
cp "$1" "$room/program"
[ $# -lt 2 ] || cp "$2" "$room/probe"
[ $# -lt 3 ] || { cp "$3" "$room/through" && GOS_THROUGH="$room/through"; }
chmod 755 "$room"/*
mkdir "$room/room"
chown 5:60 "$room/room"
export HOME=/nonexistent GOS_PROBE_PATH="$room/probe" GOS_ROOM="$room/room"
setpriv --reuid=5 --regid=60 --clear-groups "$room/program"
