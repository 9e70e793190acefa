#!/usr/bin/env bash
# check_steps.sh - build steps after touching a leaf (a .c file that nothing includes), tests and benches included.
#
# usage: tools/check_steps.sh [BUILD [MOST [EVERY]]]: of a finished build.  Every EVERY-th leaf is touched in turn; the
# build is asked what it would do, and does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release} most=${2:-8} every=${3:-1}
old=$(mktemp) plain=$build/.steps.ninja # without the rule that makes build.ninja again, at which a dry run ends
trap 'rm -f "$old" "$plain"' EXIT
awk '/^build / { out = !/RERUN_CMAKE|VERIFY_GLOBS/ } !/^build / && !/^ / { out = 1 } out' "$build/build.ninja" >"$plain"
steps() { ninja -C "$build" -f "${plain##*/}" -n | sed -nE 's/^\[[0-9]+\/([0-9]+)\].*/\1/p' | tail -1; }
before=$(steps)
[ -z "$before" ] || { echo "check_steps.sh: $build is not finished: $before steps are left; build it first"; exit 2; }
leaves=0 worst=0 bad=0
for leaf in $(find src extra cli tests bench -name '*.c' | sort | awk -v n="$every" 'NR % n == 0'); do
  grep -rqF "\"${leaf#*/}\"" --include='*.[ch]' --include='*.def' src extra cli tests bench && continue
  touch -r "$leaf" "$old"
  touch "$leaf"
  took=$(steps)
  touch -r "$old" "$leaf"
  leaves=$((leaves + 1))
  [ "${took:-0}" -le "$worst" ] || worst=$took
  [ "${took:-0}" -le "$most" ] || { echo "$leaf: $took steps, $most are the most"; bad=$((bad + 1)); }
done
echo "check_steps.sh: $leaves leaves, $worst steps at most, $bad with more than $most"
[ "$bad" = 0 ]
