#!/usr/bin/env bash
# nightly.sh - what takes too long for every change: all faults planted, long fuzzing, mutants, all sanitizer tests.
#
#   tools/nightly.sh [HOURS]      HOURS: about how long (default 4); each part is run whatever became of the others
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hours=${1:-4}
[[ $hours =~ ^[0-9]+$ && $hours -gt 0 ]] || { echo "nightly: '$hours' is no number of hours; write e.g. tools/nightly.sh 4" >&2; exit 2; }
log=build/nightly
mkdir -p "$log"
failed=0
part() {
  local name=$1
  shift
  if "$@" >"$log/$name.log" 2>&1; then
    echo "nightly: $name passed"
  else
    failed=1
    echo "nightly: $name FAILED; see $log/$name.log"
    tail -n 5 "$log/$name.log"
  fi
}
part planted make planted
part sanitize make sanitize
fuzzers=$(ls fuzz/fuzz_*.c | wc -l)
part fuzz env SECONDS_EACH=$((hours * 1200 / fuzzers)) make fuzz
part mutants env COUNT=$((hours * 150)) make mutants
part reproducible tools/reproducible.sh
exit $failed
