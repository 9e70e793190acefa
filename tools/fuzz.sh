#!/usr/bin/env bash
# fuzz.sh - builds the fuzzers and runs each for some seconds; any finding fails.
#
#   tools/fuzz.sh [SECONDS [NAME ...]]     default: 60 s each, all
#
# fuzz/fuzz_NAME.c is one libFuzzer program; fuzz/corpus/NAME/ its seeds; fuzz/NAME.dict its words, if
# any.  What is found on the way stays in build/fuzz/corpus/NAME, a crash in build/fuzz/crash-NAME-*.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
seconds=${1:-60}
shift || true
build=build/fuzz
cmake --preset fuzz >/dev/null && cmake --build $build || { echo "fuzz.sh: the fuzzers do not build"; exit 1; }
[ $# -gt 0 ] || set -- $(ls fuzz/fuzz_*.c | sed -E 's,.*/fuzz_(.*)\.c,\1,')
for name in "$@"; do
  mkdir -p "$build/corpus/$name"
  words=() seeds=()
  [ ! -d "fuzz/corpus/$name" ] || seeds=("fuzz/corpus/$name")
  [ ! -f "fuzz/$name.dict" ] || words=("-dict=fuzz/$name.dict")
  log=$build/$name.log
  if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/fuzz/fuzz_$name" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "${words[@]}" -artifact_prefix="$build/crash-$name-" \
    "$build/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    printf 'fuzz: %s: %s executions in %s s, nothing found\n' "$name" \
      "$(awk -F: '/number_of_executed_units/ { gsub(/ /, "", $NF); print $NF }' "$log")" "$seconds"
  else
    tail -n 40 "$log"
    complain "fuzz_$name found something; the input is in $build/crash-$name-*."
  fi
done
finish "$# fuzzers, $seconds s each"
