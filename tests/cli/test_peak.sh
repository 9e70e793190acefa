#!/usr/bin/env bash
# test_peak.sh - training in memory peaks at little more than the values it keeps, from every format.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if grep -q __asan_init "$TACIT"; then
  echo 'skipped: under AddressSanitizer freed memory is not given back'
  exit 77
fi
python3 "$here/../../bench/speed/bench_peak.py" "$TACIT" 160 >peaks || fail "the runs: $(cat peaks)"
for format in npy csv libsvm; do
  ratio=$(awk -v f="$format" '$1 == f { print $NF }' peaks)
  within "$format: peak over values" 1 "$ratio" 1.15
done
finish
