#!/usr/bin/env bash
# line_coverage.sh - which lines of src/ and cli/ the tests run: a build with counters, the tests, and gcov over all of it.
#
#   tools/line_coverage.sh [CTEST_ARG ...]      e.g. -R unit/
#
# The report is build/coverage/report.txt, one line a file, the least covered first.  Needs gcc and gcov.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v gcov >/dev/null || { echo "line_coverage: gcov is missing; install gcc." >&2; exit 1; }
cmake -S . -B build/coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DTCT_BENCH=OFF -DTCT_HARDEN=OFF -DTCT_STATIC_CLI=OFF \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_C_FLAGS=--coverage >/dev/null
cmake --build build/coverage
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage --output-on-failure "$@" || echo "line_coverage: some tests failed; the report is of what ran"
root=$PWD
(cd build/coverage && find . -path '*tacit*.dir*' -name '*.gcda' -exec gcov -n {} + 2>/dev/null) |
  awk -v root="$root/" '
    /^File / { file = substr($0, 7, length($0) - 7); sub(root, "", file) }
    /^Lines executed:/ && file ~ /^(src|extra|cli)\// {
      split($0, part, /[:% ]+/); share[file] = part[3] > share[file] + 0 ? part[3] : share[file]; lines[file] = part[5] }
    END { for (f in share) { printf "%6.1f %% of %4d  %s\n", share[f], lines[f], f; all += lines[f]; run += lines[f] * share[f] / 100 }
          if (all) printf "%6.1f %% of %4d  all\n", 100 * run / all, all }' | sort -n >build/coverage/report.txt
[ -s build/coverage/report.txt ] || { echo "line_coverage: no counts were found." >&2; exit 1; }
head -n 20 build/coverage/report.txt
tail -n 1 build/coverage/report.txt
