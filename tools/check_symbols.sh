#!/usr/bin/env bash
# check_symbols.sh - what the libraries export: the functions that tacit.h declares TCT_API, and no others.
#
#   tools/check_symbols.sh BUILD_DIR
#
# Compares four lists: include/tacit.h, cmake/tacit.map, the shared library's dynamic symbols, and those that the
# Debian package promises.  In the static library every global name must start with tct_, so that it cannot clash with
# a user's.  Nothing in it can be written but what belongs to a thread, and the once of the library that it loads; and
# neither fault points nor the audit's watch left a trace.
set -uo pipefail
build=$(cd "${1:?usage: check_symbols.sh BUILD_DIR}" && pwd) || exit 1
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A declaration may run over lines: join them, then take the name before the first parenthesis.
declared=$(sed -E '/^#/d; s,/\*.*\*/,,' include/tacit.h | tr '\n' ' ' | grep -oE 'TCT_API [^;(]*\(' |
  sed -E 's/.*[ *]([a-z_0-9]+)\($/\1/' | sort -u)
listed=$(grep -oE '\btct_[a-z0-9_]+' cmake/tacit.map | sort -u)
exported=$(nm -D --defined-only --no-sort "$build/libtacit.so" | awk '{ print $NF }' | sed 's/@.*//' | grep -vE '^TACIT_' | sort -u)

compare() {
  local name
  while IFS= read -r name; do complain "$name: in $1, not in $2."; done < <(comm -23 <(echo "$3") <(echo "$4"))
  while IFS= read -r name; do complain "$name: in $2, not in $1."; done < <(comm -13 <(echo "$3") <(echo "$4"))
}
[ -n "$declared" ] || complain "include/tacit.h: no TCT_API function found."
compare include/tacit.h cmake/tacit.map "$declared" "$listed"
compare include/tacit.h libtacit.so "$declared" "$exported"
compare include/tacit.h debian/libtacit0.symbols "$declared" "$(sed -nE 's/^ (tct_[a-z0-9_]+)@.*/\1/p' debian/libtacit0.symbols | sort -u)"

while IFS= read -r name; do
  complain "$name: a global name of libtacit.a that does not start with tct_."
done < <(nm -g --defined-only "$build/libtacit.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u |
  grep -vE '^(tct_|__asan|__odr_asan|__ubsan|__tsan|__gcov|__start_|__stop_)')

if ! grep -q '^TCT_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
  while IFS= read -r name; do
    complain "$name: a variable of libtacit.a that can be written; give it to a struct, or to a thread."
  done < <(objdump -t "$build/libtacit.a" | awk '/file format/ { file = $1 } $2 ~ /^[lg]$/ && $3 == "O" &&
    $4 ~ /^\.(bss|data)/ && $4 !~ /^\.data\.rel\.ro/ { print file " " $NF }' | sed 's/:\? / /' |
    grep -vE '^unpack\.c\.o (functions|loaded|once\.[0-9]+)$')
  for trace in TACIT_POINT gate_half_noise tct_watch; do
    ! strings -a "$build/libtacit.so" | grep -q "$trace" || complain "libtacit.so: has a trace of $trace."
  done
fi

finish "$(wc -l <<<"$declared") functions exported, as declared"
