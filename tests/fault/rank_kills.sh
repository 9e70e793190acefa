#!/usr/bin/env bash
# rank_kills.sh - kill -9 of a random rank at a random moment: no hang, no model, and the ledger is right.
#
# KILLS=N rounds, 5 without; `make kills` makes 50.  SEED chooses ranks and moments.
set -uo pipefail
export TACIT_REGISTRY=none # the user's own is not for tests
TACIT=$(readlink -f "${TACIT:?set TACIT to the program}")
if [ ! -e "$(dirname "$TACIT")/libtacit_tls.so" ]; then
  echo 'skipped: libtacit_tls.so is not there'
  exit 77
fi
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
exec 3>&1 2>/dev/null # the shell tells of killed jobs
failures=0 before=0 after=0
RANDOM=${SEED:-19}
fail() {
  failures=$((failures + 1))
  printf >&3 'FAIL round %s, rank %s after %s: %s\n' "$round" "$victim" "$moment" "$*"
}

"$TACIT" generate --rows 4000 --seed 1 -o p.csv >/dev/null || exit 1
head -c 32 /dev/urandom >secret
port=$((10000 + RANDOM % 20000))

for ((round = 1; round <= ${KILLS:-5}; round++)); do
  rm -f L model.json* err.*
  "$TACIT" ledger L --init --epsilon 10 --delta 1e-4 >/dev/null || exit 1
  port=$((port + 1)) ranks=$((2 + RANDOM % 3)) pids=()
  victim=$((RANDOM % ranks)) moment=$(printf '0.%03d' $((RANDOM % 1000)))
  for ((k = 0; k < ranks; k++)); do # minutes of work, which nobody waits for
    timeout -k 1 300 "$TACIT" train p.csv --schema p.schema.json --loss logistic --solver dpsgd:epochs=100000,batch=200 --epsilon 1 \
      --delta 1e-6 --threads 1 --ledger L -o model.json --meet "127.0.0.1:$port" --ranks "$ranks" --rank "$k" --secret secret \
      --meet-timeout 12 </dev/null >"out.$k" 2>"err.$k" &
    pids[k]=$!
  done
  for ((k = RANDOM % 2 ? 0 : 600; k < 600; k++)); do # half of them once the budget is charged
    [ "$("$TACIT" ledger L --json | grep -c '"id"')" = 0 ] || break
    sleep 0.1
  done
  sleep "$moment"
  charged=$("$TACIT" ledger L --json | grep -o '"id"' | wc -l)
  kill -9 "$(pgrep -P "${pids[victim]}")" 2>/dev/null || fail 'it was not there'
  for ((k = 0; k < ranks; k++)); do
    wait "${pids[k]}" 2>/dev/null
    code=$?
    if [ "$k" = "$victim" ]; then
      [ "$code" = 137 ] || fail "its exit is $code"
    else
      [ "$code" = 1 ] || fail "rank $k: exit $code (124: it hung): $(head -c 300 "err.$k")"
      [ "$(grep -c '^tacit: ' "err.$k")" = 1 ] || fail "rank $k says $(head -c 300 "err.$k")"
      grep -qE '^tacit: (rank [0-9]+ of this run has ended|rank 0 .*does not (answer|take)|[0-9]+ of [0-9]+ other ranks did not come)' \
        "err.$k" || fail "rank $k says $(head -c 300 "err.$k")"
    fi
    [ ! -s "out.$k" ] || fail "rank $k printed something"
  done
  [ ! -e model.json ] || fail 'a model was written'
  [ "$victim" = 0 ] || [ -z "$(ls model.json* 2>/dev/null)" ] || fail 'rank 0 left a file'
  "$TACIT" ledger L --check >/dev/null 2>&1 || fail 'the ledger is damaged'
  now=$("$TACIT" ledger L --json | grep -o '"id"' | wc -l)
  [ "$now" -ge "$charged" ] && [ "$now" -le 1 ] || fail "charges: $charged before, $now after"
  if [ "$now" = 1 ]; then after=$((after + 1)); else before=$((before + 1)); fi
done
echo "rank_kills.sh: $((round - 1)) kills, $before before the charge and $after after it, $failures failures"
[ "$failures" = 0 ]
