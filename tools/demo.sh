#!/usr/bin/env bash
# demo.sh - from a table of people to a published model: generate, train, verify, evaluate.
#
#   tools/demo.sh [TACIT]      default: build/release/tacit
#
# The noise comes from the operating system, so the private column differs a little from run to run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tacit=$(readlink -f "${1:-build/release/tacit}")
rows=${DEMO_ROWS:-50000}
solver=${DEMO_SOLVER:-auto}
mkdir -p build/demo
cd build/demo
rm -f ./*.csv ./*.json

say() { printf '\n# %s\n' "$1"; }
run() {
  printf '$ tacit %s\n' "$*"
  "$tacit" "$@"
}
# field NAME FILE : a number of a one-line JSON object.
field() { sed -nE 's/.*"'"$1"'": *(-?[0-9][0-9.eE+-]*).*/\1/p' "$2"; }

say "Two tables of $rows invented people each, and what is publicly known of the columns (the schema)."
run generate --rows "$rows" --seed 1 -o people.csv
run generate --rows "$rows" --seed 2 -o others.csv
head -n 3 people.csv

common=(--schema people.schema.json --loss logistic --penalty l2:lambda=1e-3)
say "A model of the first table under differential privacy: epsilon 1, delta 1e-6 in total."
run train people.csv "${common[@]}" --solver "$solver" --epsilon 1 --delta 1e-6 -o private.json

say "Anybody can recompute what the model file claims; no data are needed."
run verify private.json

say "The same without privacy, to compare with."
run train people.csv "${common[@]}" --solver scd -o exact.json

say "Both on the second table, which neither has seen (exact figures, not private)."
for model in private exact; do run evaluate "$model.json" others.csv --json | tee "$model.scores"; done

printf '\n%-22s %10s %10s %10s\n' '' accuracy AUC 'mean loss'
for model in private exact; do
  title='without privacy'
  [ "$model" = exact ] || title='epsilon 1, delta 1e-6'
  numbers=("$(field accuracy $model.scores)" "$(field auc $model.scores)" "$(field mean_loss $model.scores)")
  printf '%-22s %10.4f %10.4f %10.4f\n' "$title" "${numbers[0]:?}" "${numbers[1]:?}" "${numbers[2]:?}"
done
printf '\nThe model and its certificate: build/demo/private.json\n'
