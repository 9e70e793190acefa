#!/usr/bin/env bash
# test_threads.sh - threads that wait for others look some hundred times and sleep, unless the environment says otherwise.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# spins VARIABLE=VALUE... : how often a waiting thread looks before it sleeps, as OpenMP says when it is loaded last.
spins() {
  env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=verbose "$@" "$TACIT" components loss 2>&1 >/dev/null |
    sed -nE "s/.*GOMP_SPINCOUNT *= *'?([0-9a-zA-Z]*)'?.*/\1/p" | tail -1
}
if [ -z "$(spins GOMP_SPINCOUNT=77)" ]; then
  echo 'skipped: this OpenMP does not say how it waits'
  exit 77
fi
check 'waiting threads soon sleep' test "$(spins A=1)" = 1000
check 'a policy that was given holds' test "$(spins OMP_WAIT_POLICY=active)" != 0
check 'a number of looks that was given holds' test "$(spins GOMP_SPINCOUNT=77)" = 77
ok 'it starts anew with the same words' generate --rows 30 --seed 2 -o 'a b.csv'
check 'and writes where it was told' test "$(wc -l <'a b.csv')" = 31
(exec -a renamed env -u OMP_WAIT_POLICY "$TACIT" --version >.out) || fail 'under another name'
says 'under another name' '^tacit '
finish
