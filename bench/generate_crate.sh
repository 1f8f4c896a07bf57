#!/bin/sh
# A small Rust library of functions that take rustc a moment: generate_crate.sh NUMBER
n=$1
printf 'use std::collections::HashMap;\n'
printf 'pub fn f(x: u64) -> u64 { g0(x) }\n'
i=0
while [ "$i" -lt 40 ]; do
  printf 'pub fn g%d(x: u64) -> u64 { let mut m = HashMap::new(); for k in 0..x { m.insert(k, format!("{}-{}", k, %d)); } m.values().map(|v| v.len() as u64).sum::<u64>() + %d }\n' "$i" "$n" "$i"
  i=$((i + 1))
done
