#!/usr/bin/env bash
# Writes a Gossamer program of N lines to standard output: structs, enums, impls, traits, generics,
# matches, closures, text, maps and errors, in pieces whose names, fields, constants and expressions
# differ. The same N and seed give the same text.
# usage: generate_source.sh LINES [SEED]
set -eu
lines=${1:?usage: generate_source.sh LINES [SEED]}
seed=${2:-1}
exec awk -v lines="$lines" -v seed="$seed" -f "$(dirname "$0")/generate_source.awk" /dev/null
