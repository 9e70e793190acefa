#!/usr/bin/env bash
# planted.sh - every fault point of the sources makes a test fail.
#
# usage: planted.sh BUILD [NAME...]     BUILD: a build folder with libtacit_points.so; NAME: only these points
#
# TCT_SAMPLE=N: only every N-th point of the list, others each day of the year.  TCT_JOBS: how many at once, 2 if unset.
#
# A fault is a point of the sources (src/core/point.h), listed in points.def with the tests of which one must fail with
# it.  A test by the name test/SOLVER applies its laws to that solver alone.  The library with the points takes the place
# of the one that tests link, so no compiler is asked.
set -uo pipefail
build=$(cd "${1:?usage: planted.sh BUILD [NAME...]}" && pwd)
shift
only=" $* "
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
faults="$build/planted"
if [ ! -f "$build/libtacit_points.so" ] || ldd "$build/libtacit_points.so" | grep -qE 'lib(a|ub|t)san'; then
  echo "skipped: $build has no library with fault points, or one with sanitizers, which tell nothing more here, slowly"
  exit 77
fi
rm -rf "$faults"
mkdir -p "$faults/points"
ln -s "$build/libtacit_points.so" "$faults/points/libtacit_open.so"

# fault NAME TEST... : one point, and the tests of which one must fail with it.  A program is asked no further than its
# first failure: then nobody reads on, and its next line ends it.  It tries all that it has: a sample could miss the fault.
fault() {
  local name=$1 test solver
  shift
  for test; do
    solver=${test#"${test%%/*}"} test=${test%%/*}
    (cd "$root" && LD_LIBRARY_PATH=$faults/points TACIT_POINT=$name TACIT_MATRIX=1 OMP_NUM_THREADS=1 timeout 300 \
      env -u TCT_SAMPLE ${solver:+"TACIT_TEST_SOLVER=${solver#/}"} "$build/tests/test_$test" 2>&1) |
      sed '/^\[  FAILED  \] [a-z]/q' >"$faults/$name.$test.log"
    case ${PIPESTATUS[0]} in
      0 | 77) ;;
      124) echo "$test did not end within 300 s" ;;
      127) echo "$test cannot be run"; return 1 ;;
      *) echo "caught by $test: $(grep -m1 '^\[  FAILED  \] [a-z]' "$faults/$name.$test.log" | cut -c14-)"; return 0 ;;
    esac
  done
  echo "NOT CAUGHT by $*"
  return 1
}

running=0 planted=0 listed=0
every=${TCT_SAMPLE:-1}
turn=$((10#$(date +%j) % every))
# A point without a row does not compile; a row without a point fails here.
while IFS=' ' read -r name tests; do
  grep -rqE "TCT_POINT\($name," "$root/src" "$root/extra" || { echo "the row $name of points.def has no point in the sources"; exit 1; }
  case "$only" in *" $name "* | "  ") ;; *) continue ;; esac
  listed=$((listed + 1))
  [ $((listed % every)) = "$turn" ] || continue
  planted=$((planted + 1))
  if [ "$running" -ge "${TCT_JOBS:-2}" ]; then
    wait -n
    running=$((running - 1))
  fi
  # shellcheck disable=SC2086  # words
  { fault "$name" $tests >"$faults/$name.text" 2>&1 || touch "$faults/$name.failed"; } &
  running=$((running + 1))
done < <(sed -nE 's/^TCT_POINT_ROW\(([a-z_0-9]+), "([^"]*)"\)$/\1 \2/p' "$root/tests/privacy/points.def")

wait
status=0
shopt -s nullglob
for text in "$faults"/*.text; do
  name=$(basename "$text" .text)
  mark="ok  "
  [ -f "$faults/$name.failed" ] && mark=FAIL status=1
  printf '%s %-42s %s\n' "$mark" "$name" "$(tail -n 3 "$text" | tr '\n' ' ')"
done
sampled=
[ "$every" = 1 ] || sampled=", every ${every}th by the day of the year; make planted plants all"
echo "$planted of $listed faults planted$sampled"
[ "$planted" -gt 0 ] || status=1
exit $status
