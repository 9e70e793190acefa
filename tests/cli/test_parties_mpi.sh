#!/usr/bin/env bash
# test_parties_mpi.sh - tacit serve and tacit party as ranks of mpirun: a run, records that differ, a party that dies.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v mpirun >/dev/null || [ ! -e "$(dirname "$TACIT")/libtacit_mpi.so" ]; then
  echo "skipped: mpirun or libtacit_mpi.so is not there"
  exit 77
fi
export OMP_NUM_THREADS=1
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # Open MPI keeps what it has
ranks() { timeout 600 mpirun --oversubscribe "$@" >mpi.out 2>mpi.err; }
[ "$(id -u)" != 0 ] || ranks() { timeout 600 mpirun --allow-run-as-root --oversubscribe "$@" >mpi.out 2>mpi.err; }
ranks -n 1 true || { echo "skipped: mpirun does not start here"; exit 77; }

head -c 32 /dev/urandom >secret
awk 'BEGIN { srand(3); print "key,u,v,y" >"a.csv"; print "key,s,t,y" >"b.csv"
  for (i = 0; i < 300; i++) {
    u = 2 * rand() - 1; s = 2 * rand() - 1; y = 0.5 * u - 0.4 * s
    printf "p%d,%.6f,%.6f,%.6f\n", i, u, rand(), y >"a.csv"
    printf "p%d,%.6f,%.6f,%.6f\n", i, s, rand(), y >"b.csv"
  } }'
sed 's/^p17,/q17,/' b.csv >missing.csv
serve=("$TACIT" serve --loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1
  --timeout 60 -o model.json)
party=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --timeout 60)

cases=$((cases + 1))
ranks -n 1 "${serve[@]}" : -n 1 "$TACIT" party a.csv "${party[@]}" --transcript a.jsonl : -n 1 "$TACIT" party b.csv \
  "${party[@]}" || fail "three ranks: $(cat mpi.err)"
ok "the model is verified" verify model.json
check "an epsilon for each observer" grep -q '"observers"' model.json
check "releases left the party" grep -q '"type":"choice"' a.jsonl

# Secure sums: the parties' ranks talk with each other.
rm -f model.json
cases=$((cases + 1))
sums=(--solver gram_parties)
ranks -n 1 "${serve[@]}" "${sums[@]}" : -n 1 "$TACIT" party a.csv "${party[@]}" "${sums[@]}" --transcript a.jsonl : \
  -n 1 "$TACIT" party b.csv "${party[@]}" "${sums[@]}" || fail "three ranks with gram_parties: $(cat mpi.err)"
ok "the model of sums is verified" verify model.json
check "masked columns went to the other party" grep -q '"to":2,"type":"masked_columns"' a.jsonl
check "and none to the server" test -z "$(grep '"to":0,"type":"masked_columns"' a.jsonl)"

rm -f model.json
cases=$((cases + 1))
# mpirun may end a rank before its sentence is through: then once more.
for _ in 1 2 3 4; do
  ranks -n 1 "${serve[@]}" : -n 1 "$TACIT" party a.csv "${party[@]}" : -n 1 "$TACIT" party missing.csv "${party[@]}" &&
    fail "records that differ are not refused"
  grep -q "record keys of 'party 01' and 'party 02' differ" mpi.err && break
done
check "it says so" grep -q "record keys of 'party 01' and 'party 02' differ" mpi.err
check "no model is made" [ ! -e model.json ]

# A party that dies in the middle of the rounds: it is told apart by its arguments.
ok "a ledger" ledger a.ledger --init --epsilon 10 --delta 1e-5
(
  for _ in $(seq 500); do
    "$TACIT" ledger a.ledger --json 2>/dev/null | grep -q '"plan"' && break
    sleep 0.1
  done
  sleep 0.2
  kill -9 "$(cat dying.pid)"
) &
cases=$((cases + 1))
ranks -n 1 "${serve[@]}" --solver dpfw_parties:steps=30000,columns=1 : -n 1 "$TACIT" party a.csv "${party[@]}" --ledger a.ledger : \
  -n 1 bash -c 'echo $$ >dying.pid; exec "$@"' _ "$TACIT" party b.csv "${party[@]}" && fail "a dead party goes unnoticed"
wait
check "no model is made of it" [ ! -e model.json ]
ok "what was charged stays charged" ledger a.ledger --json
says "one run, $(tr "\n" " " <mpi.err | head -c 500)" "\"plan\""
finish
