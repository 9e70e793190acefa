#!/usr/bin/env bash
# run.sh - an installed tacit serves a stranger's project: by find_package, by pkg-config (shared and static), from C++.
#
#   tests/install/run.sh BUILD_DIR
#
# Everything happens in a prefix below BUILD_DIR; the source tree is not on any include path.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
if grep -qE '^TCT_SANITIZE:STRING=.+' "$build/CMakeCache.txt"; then
  echo "skipped: a sanitizer's library serves only programs built with that sanitizer"
  exit 77
fi
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
spot=$build/install-test
rm -rf "$spot"
mkdir -p "$spot"
prefix=$spot/prefix
cmake --install "$build" --prefix "$prefix" >"$spot/install.log"
libdir=$(dirname "$(find "$prefix" -name libtacit.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig

# The package files may say nothing of the place where tacit was built.
root=$(cd "$here/../.." && pwd)
if grep -rnF -e "$root/src" -e "$root/include" "$libdir/cmake" "$libdir/pkgconfig"; then
  echo "install: a package file points into the source tree" >&2
  exit 1
fi

cmake -S "$here" -B "$spot/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >"$spot/cmake.log"
cmake --build "$spot/cmake" >>"$spot/cmake.log"
echo "find_package: $("$spot/cmake/consumer")"

# pkg-config's prefix is the one that cmake was configured with; --define-variable moves it.
flags() { pkg-config --define-variable=prefix="$prefix" "$@" tacit; }
# shellcheck disable=SC2046  # the flags are words
$cc -std=c11 -Wall -Wextra -Werror -pedantic "$here/consumer.c" -o "$spot/shared" $(flags --cflags --libs) -lm
echo "pkg-config: $(LD_LIBRARY_PATH=$libdir "$spot/shared")"

# The static archive and its private requirements; the system's own libraries stay shared.
static=$(flags --static --libs | tr ' ' '\n' | sed "s,^-ltacit\$,$libdir/libtacit.a," | tr '\n' ' ')
needed="-lsodium -ljansson -lz -lsqlite3"
# shellcheck disable=SC2086
$cc -std=c11 "$here/consumer.c" -o "$spot/static" $(flags --cflags) "$libdir/libtacit.a" $needed $(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/tacit.pc")
case "$static" in *libtacit.a*-lsodium*) ;; *) echo "install: tacit.pc does not ask for libsodium in a static link" >&2; exit 1 ;; esac
echo "static: $("$spot/static")"

# The header is C++ as well, where a C++ compiler is at hand.
if command -v c++ >/dev/null; then
  printf '#include <tacit.h>\nint main() { return tct_version() ? 0 : 1; }\n' >"$spot/plus.cc"
  # shellcheck disable=SC2046
  c++ -Wall -Wextra -Werror -pedantic "$spot/plus.cc" -o "$spot/plus" $(flags --cflags --libs)
  LD_LIBRARY_PATH=$libdir "$spot/plus"
  echo "C++: linked and ran"
fi
if [ -x "$prefix/bin/tacit" ]; then
  "$prefix/bin/tacit" --version
fi
