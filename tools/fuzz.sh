#!/usr/bin/env bash
# fuzz.sh - builds the fuzzers and runs each for some seconds; any finding fails.
#
#   tools/fuzz.sh [SECONDS [NAME ...]]     default: 60 s each, all
#   tools/fuzz.sh --page FILE              writes what is known of the longest runs, and FILE's .csv; builds and runs nothing
#
# fuzz/fuzz_NAME.c is one libFuzzer program; fuzz/corpus/NAME/ its seeds; fuzz/NAME.dict its words, if
# any.  What is found on the way stays in build/fuzz/corpus/NAME, a crash in build/fuzz/crash-NAME-*.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=build/fuzz
fact() { awk -v key="$2" '$1 == key { print $2 }' "$build/longest/$1"; }

# rows OLD : the table as CSV.  A fuzzer that was not run here keeps its row of the old table.
rows() {
  local name
  echo 'fuzzer,given,seconds,executions,edges,inputs,found'
  for name in $(ls fuzz/fuzz_*.c | sed -E 's,.*/fuzz_(.*)\.c,\1,'); do
    if [ -f "$build/longest/$name" ]; then
      printf '%s,"%s",%s,%s,%s,%s,nothing\n' "$name" \
        "$(sed -nE '1s,^/\* fuzz_[a-z_]+\.c - (.*)\.( \*/)?$,\1,p' "fuzz/fuzz_$name.c")" "$(fact "$name" seconds)" \
        "$(fact "$name" executions)" "$(fact "$name" edges)" "$(fact "$name" inputs)"
    else
      grep "^$name," "$1" 2>/dev/null || printf '%s,,not run,,,,\n' "$name"
    fi
  done
}
if [ "${1:-}" = --page ]; then
  file=${2:?usage: tools/fuzz.sh --page FILE} csv=${2%.md}.csv
  table=$(rows "$csv") && printf '%s\n' "$table" >"$csv"
  {
    cat fuzz/page.md
    awk -F, 'NR > 1 { n++; run += /,nothing$/; sum += $(NF - 3) }
      END { printf "%d of %d fuzzers were run, with %d executions in all. Nothing is open.\n", run, n, sum }' "$csv"
  } >"$file"
  exit
fi

# keep NAME LOG : the numbers of this run, unless a longer one is known.
keep() {
  mkdir -p "$build/longest"
  [ ! -f "$build/longest/$1" ] || [ "$seconds" -ge "$(fact "$1" seconds)" ] || return 0
  {
    echo "seconds $seconds"
    awk -F: '/number_of_executed_units/ { gsub(/ /, "", $NF); print "executions " $NF }' "$2"
    grep -oE 'cov: [0-9]+' "$2" | tail -n 1 | sed 's/cov:/edges/'
    grep -oE 'corp: [0-9]+' "$2" | tail -n 1 | sed 's/corp:/inputs/'
  } >"$build/longest/$1"
}

seconds=${1:-60}
shift || true
cmake --preset fuzz >/dev/null && cmake --build $build --target fuzz/all || { echo "fuzz.sh: the fuzzers do not build"; exit 1; }
[ $# -gt 0 ] || set -- $(ls fuzz/fuzz_*.c | sed -E 's,.*/fuzz_(.*)\.c,\1,')

# one NAME : runs one fuzzer.
one() {
  local name=$1 words=() seeds=() log=$build/$1.log
  mkdir -p "$build/corpus/$name"
  [ ! -d "fuzz/corpus/$name" ] || seeds=("fuzz/corpus/$name")
  [ ! -f "fuzz/$name.dict" ] || words=("-dict=fuzz/$name.dict")
  if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/fuzz/fuzz_$name" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "${words[@]}" -artifact_prefix="$build/crash-$name-" \
    "$build/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    keep "$name" "$log"
    printf 'fuzz: %s: %s executions in %s s, nothing found\n' "$name" \
      "$(awk -F: '/number_of_executed_units/ { gsub(/ /, "", $NF); print $NF }' "$log")" "$seconds"
  else
    tail -n 40 "$log"
    return 1
  fi
}

found=$build/found
: >"$found"
for name in "$@"; do # one on each core
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  { one "$name" || printf '%s\n' "$name" >>"$found"; } &
done
wait
while IFS= read -r name; do
  complain "fuzz_$name found something; the input is in $build/crash-$name-*."
done <"$found"
finish "$# fuzzers, $seconds s each"
