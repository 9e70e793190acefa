#!/usr/bin/env bash
# test_evaluate.sh - scores of a model: exact ones, which are not private, and private ones for an epsilon.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ok 'a table' generate --rows 20000 --seed 3 -o p.csv
ok 'a model' train p.csv --schema p.schema.json --loss logistic --epsilon 2 --delta 1e-6 --seed 1 -o m.json
ok 'exact scores' evaluate m.json p.csv --json
exact=$(field accuracy)
check 'are called not private' test "$(field private)" = False
ok 'private scores' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6 --seed 4 --json
check 'are called private' test "$(field private)" = True
check 'and reproducible with a seed' test "$(field reproducible)" = True
within 'accuracy' "$(awk -v x="$exact" 'BEGIN { print x - 0.02 }')" "$(field accuracy.value)" "$(awk -v x="$exact" 'BEGIN { print x + 0.02 }')"
within 'its noise is below the standard error' 0 "$(field accuracy.noise_error)" "$(field accuracy.standard_error)"
cp .out first
ok 'the same seed' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6 --seed 4 --json
check 'the same figures' cmp -s .out first
ok 'another seed' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6 --seed 5 --json
check 'other figures' test "$(field accuracy.value)" != "$(field accuracy.value first)"
ok 'for people' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6
says 'the interval' 'accuracy +0\.[0-9]+, standard error .* 95 % interval'
says 'the cost' 'privacy +\(0.5, 1e-06\)-DP under add_remove'
ok 'a tiny epsilon' evaluate m.json p.csv --epsilon 0.001 --delta 1e-6
says 'what the noise hides is unknown' 'auc +unknown'

ok 'a ledger' ledger --init t.ledger --epsilon 1 --delta 1e-5
ok 'charged' evaluate m.json p.csv --epsilon 0.7 --delta 1e-6 --ledger t.ledger
bad 'no more is left' 4 '.' evaluate m.json p.csv --epsilon 0.7 --delta 1e-6 --ledger t.ledger
ok 'the ledger' ledger t.ledger
says 'names the run' 'scores of a model'

python3 - <<'PY'
import random
random.seed(2)
with open("r.csv", "w") as file:
    file.write("a,b,y\n")
    for _ in range(4000):
        a, b = random.random(), random.random()
        file.write(f"{a:.3f},{b:.3f},{2 * a - b + random.gauss(0, 0.2):.3f}\n")
PY
ok 'real labels' train r.csv --label y --loss squared --label-bound 3 --row-norm 2 --epsilon 2 --delta 1e-6 --seed 1 -o r.json
ok 'exact' evaluate r.json r.csv --json
mse=$(field mse)
ok 'private' evaluate r.json r.csv --epsilon 2 --delta 1e-6 --seed 1 --json
within 'mse within four deviations' "$(awk -v x="$mse" -v s="$(field mse.standard_error)" 'BEGIN { print x - 4 * s }')" \
  "$(field mse.value)" "$(awk -v x="$mse" -v s="$(field mse.standard_error)" 'BEGIN { print x + 4 * s }')"
within 'r2' 0 "$(field r2.value)" 1
for each in delta:1e-6 ledger:t.ledger seed:1 neighbours:replace_one input-changed:x; do
  bad "--${each%:*} without --epsilon" 2 'give --epsilon too' evaluate m.json p.csv "--${each%:*}" "${each#*:}"
done
bad 'no delta' 2 'delta is missing' evaluate m.json p.csv --epsilon 1
bad 'delta 0' 2 'between 0 and 1' evaluate m.json p.csv --epsilon 1 --delta 0
bad 'epsilon 0' 2 'above 0' evaluate m.json p.csv --epsilon 0 --delta 1e-6
bad 'no noise' 2 'above 0' evaluate m.json p.csv --epsilon inf --delta 1e-6
bad 'a reason without a ledger' 2 'name one with --ledger' evaluate m.json p.csv --epsilon 1 --delta 1e-6 --input-changed x
finish
