# shellcheck shell=bash
# Part of ./dev: installs the Debian packages that a command needs, and nothing when all are there.
# A need is a line "PACKAGE reason"; need_packages takes them as arguments.

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | cut -c1-2)" = ii ]
}

first_program() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null 2>&1; then
      printf '%s\n' "$name"
      return 0
    fi
  done
  return 1
}

# The LLVM to build with: an installed one, else 19, else the newest on offer that is not older.
llvm_version=
choose_llvm() {
  [ -z "$llvm_version" ] || return 0
  local version
  for version in 19 20 21 22; do
    if is_installed "llvm-$version-dev"; then
      llvm_version=$version
      return 0
    fi
  done
  llvm_version=19
  command -v apt-cache >/dev/null 2>&1 || return 0
  is_offered llvm-19-dev || update_lists
  is_offered llvm-19-dev && return 0
  version=$(apt-cache search --names-only '^llvm-[0-9]+-dev$' | sed 's/^llvm-\([0-9]*\)-dev.*/\1/' |
    awk '$1 >= 19' | sort -n | tail -n 1)
  [ -z "$version" ] || llvm_version=$version
}

is_offered() {
  local policy
  policy=$(apt-cache policy "$1" 2>/dev/null) || return 1
  [[ $policy == *"Candidate: "[^\(]* ]]
}

# Runs a command as root: at once when we are, else through sudo (which may ask only on a terminal).
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    if [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
  else
    return 1
  fi
}

lists_are_fresh=no
update_lists() {
  [ "$lists_are_fresh" = no ] || return 0
  lists_are_fresh=yes
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update || true
}

need_packages() {
  if ! command -v dpkg-query >/dev/null 2>&1; then
    printf 'This is not Debian; these packages, or what they are called here, have to be there:\n'
    printf '  %s\n' "$@"
    return 0
  fi
  local need missing=()
  for need in "$@"; do
    is_installed "${need%% *}" || missing+=("$need")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  printf 'Missing, to be installed with apt:\n'
  local names=()
  for need in "${missing[@]}"; do
    names+=("${need%% *}")
    printf '  %-22s %s\n' "${need%% *}" "${need#* }"
  done
  update_lists
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 install "${names[@]}" </dev/null; then
    printf '\nThey could not be installed. As root, run:\n  apt-get install %s\n' "${names[*]}" >&2
    exit 1
  fi
}

# A tool of that name may be there without its package (npm, go).
has_package_or_program() {
  is_installed "$1" || command -v "$1" >/dev/null 2>&1
}

# The same for packages that a system may not have: a test that misses one says so, and is counted.
want_packages() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  local need offered=() missing=no
  for need in "$@"; do
    has_package_or_program "${need%% *}" || missing=yes
  done
  [ "$missing" = yes ] || return 0
  update_lists
  for need in "$@"; do
    if has_package_or_program "${need%% *}"; then
      continue
    elif is_offered "${need%% *}"; then
      offered+=("$need")
    else
      printf 'Not on offer here: %s\n' "$need"
    fi
  done
  [ ${#offered[@]} -eq 0 ] || (need_packages "${offered[@]}") ||
    printf 'The tests that need them are skipped.\n'
}

need_build() {
  choose_llvm
  need_packages \
    "g++ compiles the project" \
    "cmake configures the build" \
    "ninja-build runs the build" \
    "ccache makes the second build quick" \
    "pkg-config finds libseccomp" \
    "llvm-$llvm_version-dev the support library (strings, errors, arenas), linked statically" \
    "libzstd-dev is named by LLVM's CMake files" \
    "zlib1g-dev is named by LLVM's CMake files" \
    "libseccomp-dev compiles system call filters" \
    "libtomlplusplus-dev reads project.toml" \
    "nlohmann-json3-dev reads and writes JSON" \
    "doctest-dev is what the unit tests are written with" \
    "strace proves that denied programs touch nothing"
}

# What the cases of the sandbox run besides the build's own tools.
need_test() {
  need_packages \
    "python3 is what many sandboxed programs of the tests are written in" \
    "git is guarded, and run" \
    "procps looks for what a run left" \
    "bubblewrap makes a surrounding sandbox"
  want_packages \
    "cargo-web builds the crate whose build script attacks" \
    "python3-venv makes environments under bwr"
}

# A Cargo of the user's own is as good as the package.
need_run() {
  command -v cargo >/dev/null 2>&1 || want_packages "cargo-web builds the Rust crates of an example"
}

# The big real builds of --full.
need_full() {
  want_packages \
    "golang-go builds and tests under bwr" \
    "npm installs and builds under bwr" \
    "yarnpkg is yarn 1, which installs and builds under bwr" \
    "maven builds under bwr" \
    "libmaven-compiler-plugin-java is what maven needs without a network" \
    "libmaven-resources-plugin-java is what maven needs without a network" \
    "libmaven-jar-plugin-java is what maven needs without a network" \
    "libsurefire-java is what maven needs without a network" \
    "gradle builds under bwr" \
    "python3-pytest tests under bwr"
}

need_clang() {
  choose_llvm
  need_packages \
    "clang-$llvm_version compiles for the sanitizers and the fuzzers" \
    "libclang-rt-$llvm_version-dev holds their run-time part" \
    "llvm-$llvm_version names the lines in their reports"
}

need_bench() {
  need_packages \
    "lua5.4 is what the VM is measured against" \
    "hyperfine measures start-up" \
    "time measures memory" \
    "bubblewrap is what starting a sandbox is measured against"
}

# Formatting differs between versions, so 19 is wanted; an older one that is there will do.
need_format() {
  if first_program clang-format-19 clang-format >/dev/null; then return 0; fi
  need_packages "clang-format-19 formats"
}

need_lint() {
  if first_program clang-tidy-19 >/dev/null; then return 0; fi
  choose_llvm
  need_packages "clang-tidy-$llvm_version finds mistakes"
}
