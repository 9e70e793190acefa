#!/usr/bin/env bash
# setup.sh - installs the Debian packages (and, on request, the Python packages) that a step needs.
#
#   tools/setup.sh [STEP ...]     STEP: build | check | static | bench | fuzz | proofs | python | r | browser | wasm | host | debootstrap    (default: build check)
#   tools/setup.sh --list [STEP ...]     prints the package names and installs nothing
#
# Only missing packages are installed.  Without root, and without a sudo that asks no question, the
# exact command is printed and the exit code is 1.  Python packages go into build/venv, never into the system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages_build="gcc libc6-dev make cmake ninja-build pkg-config libsodium-dev libjansson-dev libarchive-dev zlib1g-dev libsqlite3-dev libopenmpi-dev openmpi-bin libssl-dev openssl"
packages_check="libcmocka-dev xz-utils python3-jsonschema python3-numpy"
packages_spark="default-jre-headless"
packages_static="clang clang-format clang-tidy libclang-rt-14-dev libomp-dev llvm valgrind git"
packages_bench="liblinear-tools"
packages_fuzz="python3-numpy python3-mpmath" # tools/fuzz_account.py
packages_proofs="coq" # 350 MB: the machine-checked proofs; without it they are skipped
packages_python="python3-venv"
packages_r="r-base-dev r-cran-testthat r-cran-jsonlite r-cran-generics r-cran-tibble r-cran-broom r-cran-emmeans r-cran-haven r-cran-data.table r-cran-knitr r-cran-rmarkdown"
packages_browser="chromium fonts-dejavu-core" # 414 MB: for the pictures of the report pages; their other tests need no browser
packages_wasm="clang lld llvm wasi-libc libclang-rt-14-dev-wasm32 binaryen xz-utils"
packages_host="nodejs" # runs the program of the page without a browser: tools/check_wasm.sh
packages_debootstrap="debootstrap git"

# Pinned: a bench or a document that was made with them can be made again.
python_pins="numpy==1.26.4 scipy==1.11.4 scikit-learn==1.5.2 pandas==2.2.3 polars==1.12.0 pyarrow==18.1.0 pytest==8.3.4 mypy==1.13.0 dask==2025.1.0 distributed==2025.1.0 formulaic==1.2.2"

wanted() {
  local step
  for step in "$@"; do
    local list="packages_$step"
    [ -n "${!list:-}" ] || { echo "setup: there is no step '$step'; use build, check, static, bench, fuzz, proofs, python, r, browser, wasm, host or debootstrap." >&2; exit 2; }
    printf '%s ' "${!list}"
  done
}

# Prints those of its arguments that dpkg does not have installed.
missing() {
  local name
  declare -A have=()
  while read -r name; do have[$name]=1; done < <(
    dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | awk '$2 == "installed" { print $1 }')
  for name in "$@"; do
    [ -n "${have[$name]:-}" ] || printf '%s ' "$name"
  done
}

# One try.  Another apt may hold the lock of dpkg (apt waits) or of the lists (we wait, below).
apt_try() {
  local refresh=$1
  shift
  export DEBIAN_FRONTEND=noninteractive
  local options=(-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
  if [ "$refresh" = yes ]; then
    "${root[@]}" dpkg --configure -a >&2 || true
    "${root[@]}" apt-get "${options[@]}" -qq update >&2 || true
  fi
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get "${options[@]}" -qq -y --no-install-recommends install "$@" </dev/null >&2
}

install_packages() {
  local need=("$@") pause refresh=no
  local line="apt-get install -y --no-install-recommends ${need[*]}"
  root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      root=(sudo -n)
    else
      printf 'setup: these packages are missing, and installing them needs root. Run:\n\n  sudo %s\n\n' "$line" >&2
      exit 1
    fi
  fi
  echo "setup: $line" >&2
  for pause in 0 5 20 60; do
    [ "$pause" = 0 ] || { echo "setup: apt failed; next try in $pause s" >&2; sleep "$pause"; }
    if apt_try "$refresh" "${need[@]}"; then return 0; fi
    refresh=yes
  done
  printf 'setup: apt could not install the packages. Find out why with:\n\n  %s\n\n' "$line" >&2
  exit 1
}

# build/venv with the pinned packages; the stamp holds the pins, so that a changed pin is installed.
install_venv() {
  local stamp=build/venv/pins try
  [ "$(cat "$stamp" 2>/dev/null)" = "$python_pins" ] && return 0
  mkdir -p build
  [ -x build/venv/bin/python ] || python3 -m venv build/venv
  for try in 1 2 3; do
    # Not compiled: what is imported is, at its first import, and that is a fifth of it.
    # shellcheck disable=SC2086  # the pins are words
    if build/venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check $python_pins; then
      printf '%s' "$python_pins" >"$stamp"
      return 0
    fi
    sleep $((try * 5))
  done
  echo "setup: pip could not install $python_pins into build/venv." >&2
  exit 1
}

list=no
if [ "${1:-}" = --list ]; then
  list=yes
  shift
fi
[ $# -gt 0 ] || set -- build check
read -r -a names <<<"$(wanted "$@")"
[ "${#names[@]}" -gt 0 ] || exit 2
if [ "$list" = yes ]; then
  printf '%s\n' "${names[@]}"
  exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  printf 'setup: this is not a Debian system; tacit needs what these packages hold:\n  %s\n' "${names[*]}" >&2
  exit 0
fi
read -r -a need <<<"$(missing "${names[@]}")"
[ "${#need[@]}" = 0 ] || install_packages "${need[@]}"
case " $* " in *" python "*) install_venv ;; esac
