#!/usr/bin/env bash
# ledger_kill.sh - kill -9 at random moments of `tacit train --ledger`: the ledger opens, and covers every output.
#
#   TACIT=build/release/tacit [KILLS=1000] tests/fault/ledger_kill.sh
#
# Moments are spread evenly over 1.2 times the longest of five measured runs.  After each kill: the ledger passes
# its check together with whatever file holds coefficients, finished or not; at the end every run that left an
# output has an entry of its own.
set -uo pipefail
export TACIT_REGISTRY=none # the user's own is not for tests
: "${TACIT:?set TACIT to the program}"
TACIT=$(readlink -f "$TACIT")
kills=${KILLS:-50}
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMP_NUM_THREADS=1
RANDOM=${SEED:-20261}

die() {
  printf 'FAIL %s\n' "$*"
  exit 1
}

"$TACIT" generate --rows 2000 --seed 1 --schema-output people.schema.json -o people.csv >/dev/null || die "generate"
"$TACIT" ledger people.ledger --init --epsilon 1000 --delta 0.01 --name killed || die "init"

# The run under test, with its output file as $1; replaced by the program, so that $! is the one to kill.
train() {
  exec "$TACIT" train people.csv --schema people.schema.json --loss logistic --penalty l2:lambda=1e-3 \
    --solver dpscd:epochs=80 --epsilon 0.5 --delta 1e-7 --intercept --row-norm 4 --threads 1 \
    --ledger people.ledger -o "$1" >/dev/null 2>&1
}

microseconds() { echo "${EPOCHREALTIME/./}"; }
runs() { "$TACIT" ledger people.ledger --json | grep -o '"id"' | wc -l; }

longest=0
for i in 1 2 3 4 5; do
  start=$(microseconds)
  (train "whole$i.json") || die "a whole run failed"
  took=$(($(microseconds) - start))
  [ "$took" -le "$longest" ] || longest=$took
done
[ "$(runs)" = 5 ] || die "five whole runs are not five entries"
range=$((longest * 12 / 10))

outputs=5 charged=0 killed=0 finished=0
for ((k = 1; k <= kills; k++)); do
  moment=$(((RANDOM * 32768 + RANDOM) % range))
  train "model$k.json" &
  child=$!
  sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
  if kill -9 "$child" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$child" 2>/dev/null && finished=$((finished + 1))
  # Whatever this run left behind and holds coefficients: the model, or what was being written beside it.
  left=()
  for file in model"$k".json*; do
    [ -e "$file" ] && grep -q '"coefficients"' "$file" && left+=("$file")
  done
  for file in "${left[@]}"; do # a torn file has no certificate to check, and yet it counts as an output
    grep -q '"run"' "$file" || { [ "$file" != "model$k.json" ] || die "kill $k: a model without its ledger entry"; }
  done
  [ "${#left[@]}" = 0 ] || outputs=$((outputs + 1))
  models=()
  [ -e "model$k.json" ] && models=("model$k.json")
  "$TACIT" ledger people.ledger --check "${models[@]}" >check.txt 2>&1 || die "kill $k: $(cat check.txt)"
  if [ $((k % 25)) = 0 ] || [ "$k" = "$kills" ]; then
    charged=$(runs)
    [ "$charged" -ge "$outputs" ] || die "kill $k: $outputs outputs, $charged entries"
  fi
done

"$TACIT" ledger people.ledger --check whole*.json >check.txt 2>&1 || die "whole runs: $(cat check.txt)"
find . -name 'model*.json' -print0 | xargs -0 -r "$TACIT" ledger people.ledger --check >check.txt 2>&1 ||
  die "at the end: $(grep FAIL check.txt)"
entries=$(find . -name '*.json' ! -name people.schema.json -exec grep -ho '"run": "[0-9a-f]*"' {} + | sort -u | wc -l)
models=$(find . -name '*.json' ! -name people.schema.json | wc -l)
[ "$entries" = "$models" ] || die "$models models share $entries entries"
printf 'ledger_kill: %d kills over %d ms: %d runs were alive, %d ended before; %d entries cover %d outputs\n' "$kills" \
  $((range / 1000)) "$killed" "$finished" "$charged" "$outputs"
[ "$charged" -gt "$outputs" ] || die "no kill came between a charge and its output: the measured run is too short"
