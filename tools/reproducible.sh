#!/usr/bin/env bash
# reproducible.sh - two builds of the last commit, in two folders whose names differ in length, install the same bytes.
#
#   tools/reproducible.sh [JOBS]
#
# Also prints how the shipped binaries are hardened, read from the binaries themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${1:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
for folder in a a/much/longer/name/than/that; do
  mkdir -p "$work/src/$folder"
  git archive HEAD | tar -x -C "$work/src/$folder"
  CCACHE_DISABLE=1 cmake -S "$work/src/$folder" -B "$work/src/$folder/out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTCT_TESTS=OFF -DTCT_BENCH=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
  CCACHE_DISABLE=1 cmake --build "$work/src/$folder/out" -j "$jobs" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
  root=$work/root.$(wc -c <<<"$folder")
  DESTDIR=$root cmake --install "$work/src/$folder/out" >"$work/log"
  (cd "$root" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$root.sums"
  last=$root
done
cat "$last.sums"
differ=$(diff "$work"/root.*.sums || true)
[ -z "$differ" ] || { printf 'reproducible: these differ:\n%s\n' "$differ"; exit 1; }
echo "reproducible: $(wc -l <"$last.sums") files are the same to the last bit"

printf '\n%-22s %-8s %-9s %-5s %-16s %-8s %s\n' binary RELRO BIND_NOW PIE 'stack protector' FORTIFY CET
find "$last" -type f \( -name 'tacit' -o -name '*.so*' \) -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print | LC_ALL=C sort | while read -r file; do
  has() { grep -qE "$2" <<<"$1" && echo yes || echo no; }
  segments=$(readelf -lW "$file") dynamic=$(readelf -dW "$file") symbols=$(nm -D "$file") notes=$(readelf -nW "$file" 2>/dev/null)
  kind=$(readelf -hW "$file" | awk '/Type:/ { print $2 }')
  printf '%-22s %-8s %-9s %-5s %-16s %-8s %s\n' "$(basename "$file")" "$(has "$segments" GNU_RELRO)" "$(has "$dynamic" 'BIND_NOW|NOW')" \
    "$([ "$kind" = DYN ] && echo yes || echo no)" "$(has "$symbols" __stack_chk_fail)" "$(has "$symbols" '_chk(@|$)')" "$(has "$notes" 'IBT')"
done
