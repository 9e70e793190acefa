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
for run in 1 2; do
  ok 'without a seed' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6 --json
  cp .out "unseeded$run"
done
check 'two runs without a seed differ' test "$(field accuracy.value unseeded1)" != "$(field accuracy.value unseeded2)"
check 'and do not call themselves reproducible' test "$(field reproducible)" = False
awk -F, 'NR == 1 { print "who," $0 } NR > 1 { print "p" NR % 400 "," $0 }' p.csv >persons.csv
ok 'rows of persons' evaluate m.json persons.csv --epsilon 0.5 --delta 1e-6 --person who
check 'a warning that rows are protected, not persons' grep -q 'protect a record; a person' .err
ok 'persons' evaluate m.json persons.csv --epsilon 0.5 --delta 1e-6 --person who --rows-per-person 2
says 'whom they protect' '-DP of a person under add_remove'
check 'no warning about persons' test "$(grep -c 'protected less' .err)" = 0
bad 'rows per person, but no persons' 2 'name the column with --person' evaluate m.json p.csv --epsilon 1 --delta 1e-6 --rows-per-person 2
bad 'exact figures of persons' 2 'give --epsilon too' evaluate m.json persons.csv --person who --rows-per-person 2
ok 'for people' evaluate m.json p.csv --epsilon 0.5 --delta 1e-6
says 'the interval' 'accuracy +0\.[0-9]+, standard error .* 95 % interval'
says 'the cost' 'privacy +\(0.5, 1e-06\)-DP of a record under add_remove'
ok 'a tiny epsilon' evaluate m.json p.csv --epsilon 0.001 --delta 1e-6
says 'what the noise hides is unknown' 'auc +unknown'

# ---- more classes than two ----
python3 - <<'PY'
import json, random
random.seed(5)
with open("k.csv", "w") as file:
    file.write("a,b,kind\n")
    for _ in range(6000):
        a, b = random.random(), random.random()
        file.write(f"{a:.3f},{b:.3f},{'xyz'[(a > .35) + (a + b / 4 > .8)]}\n")
columns = [{"name": name, "type": "number", "lower": 0, "upper": 1} for name in "ab"]
json.dump({"columns": columns, "label": {"name": "kind", "values": list("xyz")}}, open("k.schema.json", "w"))
PY
for loss in logistic softmax; do
  ok "$loss" train k.csv --schema k.schema.json --loss $loss --epsilon 4 --delta 1e-6 --seed 1 -o $loss.json
  ok "$loss, exact" evaluate $loss.json k.csv --json
  cp .out exact
  ok "$loss, private" evaluate $loss.json k.csv --epsilon 2 --delta 1e-6 --seed 1 --json
  check "$loss: accuracy within five errors of the exact one" python3 -c '
import json; f, e = json.load(open(".out")), json.load(open("exact")); a = f["accuracy"]
raise SystemExit(not abs(a["value"] - e["accuracy"]) < 5 * a["noise_error"] < .1)'
  ok "$loss, for people" evaluate $loss.json k.csv --epsilon 2 --delta 1e-6
  says "$loss: the logarithmic loss" 'log_loss +[0-9.]+, standard error'
done
ok 'hinge' train k.csv --schema k.schema.json --loss hinge --epsilon 4 --delta 1e-6 --seed 1 -o hinge.json
ok 'hinge, private' evaluate hinge.json k.csv --epsilon 2 --delta 1e-6
says 'has no probabilities' 'mean_loss +[0-9.]+, standard error'

ok 'a ledger' ledger --init t.ledger --filter sum --epsilon 1 --delta 1e-5
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
