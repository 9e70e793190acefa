#!/usr/bin/env bash
# ranks_dead.sh - kill -9 of one rank in the midst of a run: the run ends and says so, nothing is left but the charge.
set -uo pipefail
export TACIT_REGISTRY=none # the user's own is not for tests
. "$(dirname "${BASH_SOURCE[0]}")/../cli/ranks.sh"
TACIT=$(readlink -f "$TACIT")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
  failures=$((failures + 1))
  printf 'FAIL %s\n' "$*"
}
charges() { "$TACIT" ledger L --json 2>/dev/null | grep -o '"id"' | wc -l; }

"$TACIT" generate --rows 4000 --seed 1 -o p.csv >/dev/null || exit 1

# end_rank NUMBER SIGNAL : a run of three ranks that would take minutes; one of them gets the signal once it is charged.
end_rank() {
  rm -f L model.json
  "$TACIT" ledger L --init --epsilon 10 --delta 1e-4 >/dev/null || exit 1
  timeout 600 mpirun -n 3 "$TACIT" train p.csv --schema p.schema.json --loss logistic --solver dpsgd:epochs=100000,batch=200 \
    --epsilon 1 --delta 1e-6 --intercept --threads 1 --ledger L -o model.json </dev/null >out 2>err &
  local mpi=$! own victim
  for _ in $(seq 3000); do
    [ "$(charges)" = 1 ] && break
    sleep 0.1
  done
  sleep 0.3 # the solver runs
  own=$(pgrep -P "$mpi" -x mpirun || pgrep -P "$mpi" -f '^mpirun') # below timeout
  victim=$(pgrep -P "${own:-$mpi}" | sed -n "$1p")
  kill "-$2" "$victim" || fail "rank $1 was not there"
  wait "$mpi"
  code=$?
}

for rank in 1 3; do
  end_rank "$rank" 9
  [ "$code" = 137 ] || fail "rank $rank killed: exit $code: $(head -c 400 err)"
  grep -q 'exited on signal 9' err || fail "rank $rank killed: nobody says so"
  [ "$rank" = 1 ] || grep -q '^tacit: another rank of this run has ended' err || fail "rank 0 does not say that a rank has ended"
  [ ! -e model.json ] || fail "rank $rank killed: a model was written"
  [ ! -s out ] || fail "rank $rank killed: something was printed"
  [ "$(charges)" = 1 ] || fail "rank $rank killed: $(charges) charges"
done

end_rank 2 TERM # a rank that is asked to end cancels all of them
[ "$code" = 1 ] || fail "cancelled: exit $code"
[ "$(grep -c '^tacit: cancelled' err)" = 1 ] || fail "cancelled: $(head -c 400 err)"
[ ! -e model.json ] && [ "$(charges)" = 1 ] || fail "cancelled: a model, or no charge"

[ "$failures" = 0 ] && echo "ranks_dead.sh: three runs ended as they should"
[ "$failures" = 0 ]
