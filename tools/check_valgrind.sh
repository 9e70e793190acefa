#!/usr/bin/env bash
# check_valgrind.sh - valgrind's memcheck over the quick unit tests of a build.
#
#   tools/check_valgrind.sh BUILD_DIR [SECONDS]
#
# A test that took longer than SECONDS (default 0.5) in the last ctest run of that build is left to the
# sanitizers: valgrind is some 30 times slower.  The names that ran are printed.
set -uo pipefail
build=$(cd "${1:?usage: check_valgrind.sh BUILD_DIR}" && pwd) || exit 1
limit=${2:-0.5}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v valgrind >/dev/null || { echo "check_valgrind.sh: valgrind is missing; run tools/setup.sh static"; exit 1; }

quick=()
for program in "$build"/tests/test_unit_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=unit/${program##*/test_unit_}
  # CTestCostData.txt: name, runs, mean seconds.
  cost=$(awk -v name="$name" '$1 == name { print $3 }' "$build/Testing/Temporary/CTestCostData.txt" 2>/dev/null)
  awk -v cost="${cost:-0}" -v limit="$limit" 'BEGIN { exit !(cost <= limit) }' && quick+=("$program")
done

# one PROGRAM : says what valgrind finds; nothing of a test that has no data.
one() {
  local name=unit/${1##*/test_unit_} log
  log=$(timeout 300 valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect --error-exitcode=99 "$1" 2>&1) && echo "valgrind: $name" && return
  [ "${log##*$'\n'}" = "skipped: no data" ] || printf '%s\nFOUND: %s: valgrind or the test itself failed.\n' "$log" "$name"
}
export -f one
export OMP_NUM_THREADS=1
[ "${#quick[@]}" -gt 0 ] || complain "no unit test is quick enough for valgrind."
said=$(printf '%s\0' "${quick[@]}" | xargs -0 -r -n 1 -P "$(nproc)" bash -c 'one "$0"')
clean=$(grep -c '^valgrind: ' <<<"$said")
if grep -q '^FOUND' <<<"$said"; then complain "$said"; else printf '%s\n' "$said"; fi
[ "$clean" -gt 0 ] || complain "no unit test ran under valgrind."
finish "$clean unit tests are clean"
