#!/usr/bin/env bash
# nightly.sh - what takes too long for every change: all faults planted, long fuzzing, mutants, all sanitizer tests.
#
#   tools/nightly.sh [HOURS] [PART...]      HOURS: about how long (default 4); PART: these alone
#   tools/nightly.sh --short [PART...]      a few of everything, to see that the parts still run
#
# Parts: planted sanitize fuzz mutants reproducible.  Each is run whatever became of the others; logs in build/nightly.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hours=4 every=1 tests='' failed=0
if [ "${1:-}" = --short ]; then
  hours=0 every=60 tests=unit/
  shift
elif [[ ${1:-} =~ ^[0-9]+$ ]]; then
  hours=$1
  shift
  [ "$hours" -gt 0 ] || { echo "nightly: no hours are no night; write e.g. tools/nightly.sh 4" >&2; exit 2; }
fi
parts=" planted sanitize fuzz mutants reproducible "
for name; do
  [[ $parts == *" $name "* ]] || { echo "nightly: there is no part '$name'; the parts are:$parts" >&2; exit 2; }
done
only=" $* "
log=build/nightly
mkdir -p "$log"
part() {
  local name=$1
  shift
  [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
  if "$@" >"$log/$name.log" 2>&1; then
    echo "nightly: $name passed: $(tail -n 1 "$log/$name.log")"
  else
    failed=1
    echo "nightly: $name FAILED; see $log/$name.log"
    tail -n 5 "$log/$name.log"
  fi
}
fuzzers=$(ls fuzz/fuzz_*.c | wc -l)
part planted env TCT_SAMPLE=$every make planted
part sanitize make sanitize ${tests:+CTEST_ARGS="-R $tests"}
part fuzz env SECONDS_EACH=$((hours ? hours * 1200 / fuzzers : 2)) make fuzz
part mutants env COUNT=$((hours ? hours * 150 : 6)) make mutants
part reproducible tools/reproducible.sh
exit $failed
