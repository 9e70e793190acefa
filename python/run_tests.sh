#!/usr/bin/env bash
# run_tests.sh - the Python tests in build/venv, against a built libtacit.so.   python/run_tests.sh LIBRARY [PROGRAM] [pytest option ...]
# Exit code 77 where the virtual environment cannot be made (no network, no python3-venv).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export TACIT_LIBRARY=$1 TACIT=${2:-}
shift $(($# < 2 ? $# : 2))
log=build/setup_python.log
if ! flock build/setup_python.lock -c "tools/setup.sh python >$log 2>&1"; then # one of those that start together makes it
  tail -3 $log
  echo "skipped: build/venv cannot be made"
  exit 77
fi
export TACIT_REGISTRY=none # the user's own is not for tests
unset PYTHONDONTWRITEBYTECODE # else each of fifty interpreters compiles scikit-learn anew: half of all the time
export PYTHONPATH=$PWD/python PYTHONPYCACHEPREFIX=$PWD/build/pycache OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} OMP_WAIT_POLICY=passive
read -r -a tests <<<"${TACIT_TESTS:-python/tests --ignore-glob python/tests/test_browser*.py}" # those: run_browser_tests.sh
exec build/venv/bin/python -m pytest -q -rs -p no:cacheprovider "${tests[@]}" "$@"
