#!/usr/bin/env bash
# reproducible.sh - two builds of the last commit, in two folders whose names differ in length, install the same bytes.
#
#   tools/reproducible.sh [JOBS]
#
# Also prints how the shipped binaries are hardened (tools/hardening.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${1:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(git rev-parse HEAD) # both builds are of this one, whatever is committed meanwhile
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
for folder in a a/much/longer/name/than/that; do
  mkdir -p "$work/src/$folder"
  git archive "$commit" | tar -x -C "$work/src/$folder"
  CCACHE_DISABLE=1 cmake -S "$work/src/$folder" -B "$work/src/$folder/out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTCT_TESTS=OFF -DTCT_BENCH=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
  CCACHE_DISABLE=1 cmake --build "$work/src/$folder/out" -j "$jobs" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
  root=$work/root.$(wc -c <<<"$folder")
  DESTDIR=$root cmake --install "$work/src/$folder/out" >"$work/log"
  (cd "$root" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$root.sums"
  last=$root
done
differ=$(diff "$work"/root.*.sums || true)
[ -z "$differ" ] || { printf 'reproducible: these differ:\n%s\n' "$differ"; exit 1; }
cat "$last.sums"
echo "reproducible: $(wc -l <"$last.sums") files of ${commit:0:12} are the same to the last bit"
tools/hardening.sh "$last"
