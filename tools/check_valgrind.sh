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

ran=0
export OMP_NUM_THREADS=1
for program in "$build"/tests/test_unit_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=unit/${program##*/test_unit_}
  # CTestCostData.txt: name, runs, mean seconds.
  cost=$(awk -v name="$name" '$1 == name { print $3 }' "$build/Testing/Temporary/CTestCostData.txt" 2>/dev/null)
  awk -v cost="${cost:-0}" -v limit="$limit" 'BEGIN { exit !(cost <= limit) }' || continue
  ran=$((ran + 1))
  if ! timeout 300 valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect --error-exitcode=99 "$program" >"$build/valgrind.log" 2>&1; then
    [ "$(tail -n 1 "$build/valgrind.log")" = "skipped: no data" ] && continue
    cat "$build/valgrind.log"
    complain "$name: valgrind or the test itself failed."
  else
    echo "valgrind: $name"
  fi
done
[ "$ran" -gt 0 ] || complain "no unit test ran under valgrind."
finish "$ran unit tests are clean"
