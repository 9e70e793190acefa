#!/usr/bin/env bash
# test_stream.sh - a table beyond --memory: the peak keeps to the limit, and no end of a run leaves a file behind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
bench=$here/../../bench/speed/bench_stream.py

# ---- the peak ----
if grep -q __asan_init "$TACIT"; then
  echo 'the peak is not looked at: AddressSanitizer keeps freed memory'
else
  mkdir table
  python3 "$bench" "$TACIT" --gb 0.24 --memory 64M --cols 500 --folder table --formats npy --solvers dpgd:steps=3 --warm --same >told ||
    fail "a run beyond its memory: $(cat told)"
  within 'the peak over the limit' 0.2 "$(sed -n 's/.*over limit \([0-9.]*\).*/\1/p' told)" 1.15
  check 'the model has the same bytes as in memory' grep -q 'same bytes as in memory: True' told
  check 'nothing is left beside the table' test -z "$(ls table)"
fi

# ---- a run that ends before its time ----
"$TACIT" generate --rows 200000 --seed 1 --schema-output people.schema.json -o people.csv >/dev/null
mkdir out kept
long=(train people.csv --schema people.schema.json --loss logistic --solver dpgd:steps=100000 --epsilon 1 --delta 1e-6
  --intercept --memory 72M --scratch kept --seed 1 --threads 1)

# reserved FOLDER : the run has opened its model's file, so the charge is behind it.
reserved() {
  for _ in $(seq 1200); do
    ls -l /proc/$pid/fd 2>/dev/null | grep -q "$1/" && return
    sleep 0.05
  done
  fail "the run never opened its output: $(cat .err)"
}

for signal in KILL HUP TERM XCPU; do
  cases=$((cases + 1))
  "$TACIT" "${long[@]}" -o out/m.json >.out 2>.err &
  pid=$!
  reserved "$work/out"
  kill -$signal $pid
  wait $pid 2>/dev/null && fail "SIG$signal: the run ended well"
  check "SIG$signal leaves no file" test -z "$(find out kept -type f)"
done
cases=$((cases + 1))
printf 'an older model\n' >out/m.json
(trap '' HUP && exec "$TACIT" train "${long[@]:1}" -o out/m.json >.out 2>.err) &
pid=$!
reserved "$work/out"
kill -HUP $pid
sleep 0.3
check 'a run under nohup outlives its terminal' kill -TERM $pid
wait $pid 2>/dev/null
check 'and an older model is as it was' test "$(cat out/m.json) $(ls out)" = 'an older model m.json'
rm out/m.json

# ---- files that may not grow ----
short=(train people.csv --schema people.schema.json --loss logistic --solver dpgd:steps=2 --epsilon 1 --delta 1e-6
  --intercept --seed 1)
ok 'a ledger' ledger L --init --epsilon 100 --delta 1e-3
before=$("$TACIT" ledger L --json | grep -c '"input"')
(ulimit -f 8 && exec "$TACIT" "${short[@]}" -o out/m.json >.out 2>.err)
code=$?
check "no room for the model: one sentence and exit 1 (exit $code)" test $code = 1
check 'it is said' grep -q '^tacit: cannot write out/m.json (File too large)' .err
check 'and no file is left' test -z "$(ls -A out)"
(ulimit -f 16 && exec "$TACIT" "${short[@]}" --ledger L -o out/m.json >.out 2>.err)
code=$?
check "no room with a ledger: exit 1 (exit $code)" test $code = 1
check 'it is known before the charge' test "$("$TACIT" ledger L --json | grep -c '"input"')" = "$before"
check 'and no file is left' test -z "$(ls -A out)"
python3 -c "import sys; sys.path.insert(0, '$(dirname "$bench")'); import bench_stream; bench_stream.write_npy('wide.npy', 4e7, 500)"
wide=(train wide.npy --label 1 --memory 60M --scratch kept --loss logistic --solver dpgd:steps=2 --epsilon 1 --delta 1e-6 --row-norm 8)
(ulimit -f 20000 && exec "$TACIT" "${wide[@]}" -o out/m.json >.out 2>.err)
code=$?
check "no room for the records: exit 1 (exit $code)" test $code = 1
check 'it is known from the header, before they are read' grep -q '^tacit: the records take .* no room' .err
ok 'a plan beyond its memory' "${wide[@]}" --dry-run --shape 50000,500
says 'it names passes and bytes' 'disk +about 3 passes read 0.6 GiB, and 0.2 GiB are written'
says 'and seconds at the rate of the disk' '^ +[0-9]+ s at the [0-9]+ and [0-9]+ MB/s of kept'
check 'measuring leaves no file' test -z "$(ls -A kept)"
for blocks in 0 1 2 4 8 12 16 20; do
  (ulimit -f $blocks && exec "$TACIT" ledger out/Z --init --epsilon 1 --delta 1e-5 --anchor out/A >.out 2>.err)
  code=$?
  left=$(ls out | tr '\n' ' ')
  case $code in
    0) check "$blocks KiB: a ledger that was made has its anchor" test "$left" = 'A Z ' ;;
    1) check "$blocks KiB: a failed init leaves nothing (left: $left)" test -z "$left" ;;
    *) fail "$blocks KiB: exit $code, not 0 or 1: $(cat .err)" ;;
  esac
  rm -f out/*
done
finish
