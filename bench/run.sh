#!/usr/bin/env bash
# run.sh - runs the benches of a build, one after the other; every result is one JSON line on stdout.
#
#   bench/run.sh BUILD_DIR [NAME ...]     default: all programs and scripts
set -uo pipefail
build=$(cd "${1:?usage: bench/run.sh BUILD_DIR [NAME ...]}" && pwd) || exit 1
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C
if [ $# = 0 ]; then
  set -- $({ ls bench/*/bench_*.c bench/*/bench_*.sh 2>/dev/null || true; } | sed -E 's,^bench/[a-z]*/bench_,,; s,\.(c|sh)$,,' | sort -u)
fi
bad=0
for name in "$@"; do
  echo "bench: $name" >&2
  if [ -x "$build/bench/bench_$name" ]; then
    "$build/bench/bench_$name" || bad=1
  elif script=$(ls bench/*/bench_"$name".sh 2>/dev/null); then
    bash "$script" "$build" || bad=1
  else
    echo "bench: there is no bench '$name' in $build/bench" >&2
    bad=2
  fi
done
exit $bad
