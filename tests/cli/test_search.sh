#!/usr/bin/env bash
# test_search.sh - a private search: its price, its winner, its one charge, and what it keeps to itself.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ok 'a table' generate --rows 4000 --seed 3 -o p.csv
cat >grid.json <<'E'
[{"penalty": ["l2:lambda=1e-3", "l2:lambda=0.1"], "solver": ["dpgd:steps=10", "dpgd:steps=10,clip=0.2"]}, {"solver": "auto"}]
E
echo '{"penalty": "l2:lambda=1e-3", "solver": "dpgd:steps=10"}' >one.json
settings=(--schema p.schema.json --candidates grid.json --loss logistic --epsilon 2 --delta 1e-5)
one=("${settings[@]/grid.json/one.json}")
value() { python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
says_not() { check "$1" test -z "$(grep -hE -- "$2" .out .err)"; }

# ---- the price ----
ok 'a dry run' search --dry-run --records 4000 "${settings[@]}"
says 'five candidates' '^search +5 candidates, 50 tries on average; how many there are stays secret'
says 'the price of the whole' '^privacy +epsilon (2|1\.99[0-9]*), delta 1e-05, add_remove, for all tries together'
says 'the split' '^records +3200 to train on, 800 for scores'
says 'what auto became' '^ +5: logistic.*dpmetric'
ok 'as JSON' search --dry-run --records 4000 "${settings[@]}" --json
check 'a try has its part' test "$(value .out '1.1 < r["each"]["epsilon"] < 1.4 and 1.1 < r["score"]["epsilon"] < 1.4')" = True
check 'the lists are taken apart in order' test "$(value .out '[c.get("penalty", "")[10:] for c in r["candidates"]]')" = "['1e-3', '1e-3', '0.1', '0.1', '']"
short=$(value .out 'r["each"]["epsilon"]')
ok 'of one candidate' search --dry-run --records 4000 "${one[@]}" --json
check 'a longer list costs no more' test "$(value .out "abs(r['each']['epsilon'] - $short) < 1e-3 * $short")" = True
ok 'fewer tries' search --dry-run --records 4000 "${settings[@]}" --tries 5 --json
check 'leave more for each' test "$(value .out "r['each']['epsilon'] > 1.1 * $short")" = True

# ---- the model ----
ok 'a ledger' ledger L --init --epsilon 5 --delta 1e-3
ok 'a search' search p.csv "${settings[@]}" --tries 6 --ledger L -o m.json
says 'the winner' '^winner +[1-5]: logistic'
says 'a noisy score' '^score +accuracy 0\.[0-9]+, noisy; as the best of many it flatters'
says 'what is not protected' '^time +NOT protected'
says_not 'no number of tries' '(made|took|after|ran) [0-9]+'
says_not 'no seconds' 'seconds'
ok 'the ledger' ledger L --json
check 'one charge' test "$(value .out 'len(r["runs"])')" = 1
check 'of the whole' test "$(value .out '1.98 < r["spent"]["epsilon"] <= 2 and abs(r["spent"]["epsilon"] - json.load(open("m.json"))["privacy"]["epsilon"]) < 1e-11')" = True
ok 'it verifies with the ledger' verify m.json --ledger L --json
check 'as a search' test "$(value .out 'r["ok"] and any(c["name"] == "selection" and c["ok"] for c in r["checks"])')" = True
check 'the file lists every candidate' test "$(value m.json 'len(r["privacy"]["fits"]), r["privacy"]["choice"][:17], len(r["privacy"]["events"])')" = "(5, 'selection:mean=6,', 1)"
ok 'it predicts' predict m.json p.csv -o z.txt
check 'every record' test "$(wc -l <z.txt)" = 4000
ok 'its page' report m.json -o m.html
check 'names the search' grep -q 'random number of tries' m.html
ok 'a second search' search p.csv "${settings[@]}" --tries 6 --ledger L -o m2.json
bad 'a third is refused' 4 '.' search p.csv "${settings[@]}" --tries 6 --ledger L -o m3.json
check 'and leaves no model' test ! -e m3.json

# ---- what repeats, and what is the same however many tries there were ----
ok 'a seed' search p.csv "${settings[@]}" --tries 6 --seed 4 -o s1.json --json
check 'is said' grep -q 'seed makes the noise reproducible' .err
check 'the number of the winner' test "$(value .out '1 <= r["winner"]["number"] <= 5 and 0 < r["best_score"] <= 1')" = True
ok 'the same' search p.csv "${settings[@]}" --tries 6 --seed 4 --threads 1 -o s2.json
check 'the same bytes' cmp s1.json s2.json
for seed in 1 2 3; do # one candidate: all that may differ are the weights and the score
  ok "seed $seed" search p.csv "${one[@]}" --tries 8 --seed $seed -o t.json
  sed -E 's/accuracy [0-9.e-]+/accuracy S/' .out .err >told.$seed
  python3 -c 'import json; m = json.load(open("t.json")); del m["coefficients"], m["intercept"]; print(json.dumps(m))' >>told.$seed
done
check 'another number of tries looks the same' cmp told.1 told.2
check 'and a third' cmp told.2 told.3
"$TACIT" search p.csv "${settings[@]}" --tries 6 --seed 4 -o - >out.json 2>err.txt
check 'to standard output' cmp out.json s1.json
check 'all else to standard error' grep -q '^winner' err.txt

# ---- a regression ----
echo '{"penalty": ["l2:lambda=1e-3", "l2:lambda=10"]}' >real.json
python3 - <<'PY'
import random
random.seed(2)
with open("r.csv", "w") as f:
    f.write("a,b,y\n")
    for _ in range(2000):
        a, b = random.uniform(-1, 1), random.uniform(-1, 1)
        f.write(f"{a:.4f},{b:.4f},{a - b + random.gauss(0, .1):.4f}\n")
PY
ok 'numbers' search r.csv --label y --candidates real.json --loss squared --label-bound 3 --row-norm 2 --epsilon 3 --delta 1e-5 --tries 12 --seed 2 -o r.json
says 'are scored by their squared error' '^score +mean squared error [0-9.e-]+, noisy'
ok 'it verifies' verify r.json

# ---- follow-up times ----
awk 'BEGIN { print "a,b,days,died"; srand(5)
  for (i = 0; i < 2000; i++) { a = rand(); b = rand(); t = -log(1 - rand()) * 40 * exp(-2 * a); c = 20 + 60 * rand()
    printf "%.4f,%.4f,%.3f,%d\n", a, b, (t < c ? t : c), t < c } }' >t.csv
echo '{"solver": ["dpcox", "dpcox:errors=robust", "dpcox:cells=6,change=0.1"]}' >cox.json
echo '{"solver": "dpcox"}' >cox1.json
times=(t.csv --time days --event died --horizon 60 --loss cox --row-norm 2 --epsilon 4 --delta 1e-6)
ok 'a ledger of times' ledger T --init --epsilon 5 --delta 1e-3
ok 'times' search "${times[@]}" --candidates cox.json --tries 5 --ledger T -o t.json
says 'are scored by their order' '^score +C-index 0\.[5-9][0-9]+, noisy'
ok 'it verifies' verify t.json --ledger T
for seed in 1 2; do
  ok "times, seed $seed" search "${times[@]}" --candidates cox1.json --tries 8 --seed $seed -o t1.json
  sed -E 's/C-index [0-9.e-]+/C-index S/; /information|covariance/d' .out .err >told.$seed
  python3 -c 'import json; m = json.load(open("t1.json")); [m.pop(k) for k in ("coefficients", "intercept", "inference")]; print(json.dumps(m))' >>told.$seed
done
check 'another number of tries looks the same' cmp told.1 told.2
merge "${times[@]}" --epsilon 0.01
ok 'little epsilon' search "${merged[@]}" --candidates cox1.json --tries 3 --seed 1 -o t1.json
says 'its score is hidden, which ends nothing' '^score +hidden by the noise'
bad 'all settings' 2 'a choice among all settings has no score of follow-up times' search "${times[@]}" --candidates cox.json --selection all --ledger T -o no.json
ok 'the ledger' ledger T --json
check 'was charged once' test "$(value .out 'len(r["runs"])')" = 1

# ---- the page of the winner ----
ok 'a page' search p.csv "${settings[@]}" --tries 4 --seed 4 -o s3.json --report s3.html --title 'Who earns more'
says 'is named' '^report +s3.html'
ok 'by itself' report s3.json --title 'Who earns more' -o s4.html
check 'is the same' cmp s3.html s4.html
bad 'the page over the model' 2 'no.json is read or written' search p.csv "${settings[@]}" -o no.json --report no.json
bad 'a page of no model' 2 '--report needs a model' search --dry-run --records 4000 "${settings[@]}" --report no.html

# ---- persons ----
python3 "$here/persons_table.py" 4000 >v.csv
echo '{"solver": ["dpgd:steps=10", "dpmetric"]}' >two.json
visits=(v.csv --label ill --positive yes --candidates two.json --loss logistic --row-norm 2 --epsilon 3 --delta 1e-6 --tries 5)
ok 'a ledger of persons' ledger V --init --epsilon 5 --delta 1e-3 --unit person
bad 'persons, where the ledger counts records' 4 'counts records' search "${visits[@]}" --person patient --rows-per-person 4 --ledger L -o no.json
ok 'persons' search "${visits[@]}" --person patient --rows-per-person 4 --ledger V -o v.json
check 'are the unit' test "$(value v.json 'r["privacy"]["unit"][:10], r["privacy"]["weights"]["of"]')" = "('One person', 'person')"
ok 'it verifies' verify v.json --ledger V
bad 'without a number of rows' 2 '--person needs --rows-per-person' search "${visits[@]}" --person patient -o no.json
echo '{"solver": ["dpgd", "objpert"], "penalty": "l2:lambda=0.1"}' >not.json
bad 'a solver that knows no persons' 2 'objpert bounds what one record can move' search "${visits[@]/two.json/not.json}" --person patient --rows-per-person 4 --ledger V -o no.json
ok 'the ledger' ledger V --json
check 'was charged once' test "$(value .out 'len(r["runs"])')" = 1

# ---- several classes ----
python3 "$here/three_classes.py" 3000 >f.csv
echo '{"loss": ["logistic", "softmax"], "solver": "dpgd:steps=20"}' >several.json
fruits=(--label fruit --classes apple,pear,plum --candidates several.json --loss logistic --row-norm 2 --epsilon 3 --delta 1e-6)
for seed in 1 2 3 4 5 6; do
  ok "fruits $seed" search f.csv "${fruits[@]}" --tries 4 --seed $seed -o f$seed.json
  ok "fruits $seed verify" verify f$seed.json
done
check 'both losses won' test "$(cat f?.json | grep -cE '^  "loss": "logistic"')" -gt 0 -a "$(cat f?.json | grep -cE '^  "loss": "softmax')" -gt 0
check 'three fits, or one' test "$(value f1.json '[f["count"] for f in r["privacy"]["fits"]]')" = '[3, 1]'
check 'three rows' test "$(value f1.json 'len(r["coefficients"]), r["classes"]')" = "(3, ['apple', 'pear', 'plum'])"
soft=$(grep -lE '^  "loss": "softmax' f?.json | head -1)
sed -z 's/"count": 3/"count": 1/' "$soft" >cheap.json # the one that did not win, as one fit: no other field tells
check 'a fit is left out' test "$(value cheap.json '[f["count"] for f in r["privacy"]["fits"]]')" = '[1, 1]'
tacit verify cheap.json
check 'a candidate that did not win, counted once, is refused' grep -q "not verified: 'fit' of the search is not what its plan gives" .err
check 'as a failure' test "$code" = 1
ok 'they predict' predict f1.json f.csv --output label -o f.txt
check 'names' test "$(sort -u f.txt | tr '\n' ' ')" = 'apple pear plum '
ok 'a plan without data' search --dry-run --shape 3000,2 "${fruits[@]}" --json
check 'is that of the run' test "$(value .out '[f["count"] for f in r["fits"]]')" = '[3, 1]'
merge "${fruits[@]}" --candidates one.json --loss auto
bad 'the rule of one fit' 2 'list them in the candidates' search f.csv "${merged[@]}" -o no.json
echo '{"solver": "dpgd"}' >gd.json
bad 'softmax of two classes' 2 'more than two classes at once' search v.csv --label ill --positive yes --candidates gd.json --loss softmax --person patient --rows-per-person 2 --row-norm 2 --epsilon 3 --delta 1e-6 -o no.json

# ---- refused with a sentence, and nothing spent ----
cp L before
try() { # NAME CODE REGEX CANDIDATES ARGS... : the text as the file of candidates
  local name=$1 code=$2 regex=$3
  printf '%s' "$4" >bad.json
  shift 4
  merge "${settings[@]/grid.json/bad.json}" --ledger L -o no.json "$@"
  bad "$name" "$code" "$regex" search p.csv "${merged[@]}"
  check "$name: no model" test ! -e no.json
}
try 'no JSON' 2 'bad.json:1: this is no JSON' '{"solver": '
try 'an unknown setting' 2 '"solvr" is no setting of a candidate; it may have' '{"solvr": "dpgd"}'
try 'epsilon in a candidate' 2 '"epsilon" is no setting' '{"epsilon": 1}'
try 'a number for a text' 2 '"solver" needs a text' '{"solver": 3}'
try 'a row norm of 0' 2 '"row_norm" needs a number above 0' '{"row_norm": 0}'
try 'another rule of rows' 2 '"rows" needs "clip" or "unit"' '{"rows": "cut"}'
try 'an empty list' 2 'the list of "penalty" is empty' '{"penalty": []}'
try 'no candidate' 2 'there is no candidate' '[]'
try 'a word' 2 'a candidate is an object' '["dpgd"]'
try 'a setting twice' 2 'no JSON' '{"solver": "dpgd", "solver": "dpmetric"}'
try 'a solver that is none' 2 'candidate 2: .*dpgdd' '[{}, {"solver": "dpgdd"}]'
try 'a solver without privacy' 2 '.' '{"solver": "lbfgs"}'
try 'a loss of numbers' 2 'candidate 1: its loss reads labels otherwise' '{"loss": "squared"}' --label-bound 1
try 'too many' 2 'more than 10000 candidates' "$(python3 -c 'import json; print(json.dumps({"row_norm": list(range(1, 200)), "penalty": ["none"] * 100}))')"
try 'no delta' 2 'delta' '{}' --delta 0
try 'no privacy' 2 'finite --epsilon' '{}' --epsilon inf
try 'no tries' 2 'at least 1' '{}' --tries 0
try 'too many tries' 2 'at most 10000' '{}' --tries 20000
try 'a share of 1' 2 'score-share must lie' '{}' --score-share 1
try 'a share, of records' 2 'leave the share' '{}' --score-share 0.3
try 'all held out' 2 'held-out must lie' '{}' --held-out 1
try 'no folder' 1 'no-such' '{}' -o no-such/m.json
bad 'no candidates' 2 'candidates is missing' search p.csv --schema p.schema.json --loss logistic --epsilon 1 --delta 1e-5 -o no.json
bad 'no file of candidates' 1 'none.json' search p.csv "${settings[@]/grid.json/none.json}" -o no.json
python3 -c 'print("[" + "{}," * 400000 + "{}]")' >long.json
bad 'a file of objects without end' 2 'long.json: a file of candidates has at most 1 MiB' search p.csv "${settings[@]/grid.json/long.json}" -o no.json
bad 'no data' 2 'DATA is missing' search "${settings[@]}" -o no.json
bad 'the model over the data' 2 '.' search p.csv "${settings[@]}" -o p.csv
check 'nothing was charged' cmp -s L before
finish
