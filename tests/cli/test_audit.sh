#!/usr/bin/env bash
# test_audit.sh - tacit audit: what it finds and says on sound plans, with and without the watch.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir -p "$work/tmp"
export TMPDIR=$work/tmp
short=(audit --loss logistic --epsilon 4 --no-intercept --seconds 2)
breaks() { python3 -c 'import json,sys; print(len(json.load(open(sys.argv[1]))["breaks"]))' "$work/.out"; }

told() {
  python3 - "$work/.out" <<'PY'
import json, sys
o = json.load(open(sys.argv[1]))
for part, words in (("white_box", "by the releases"), ("black_box", "by the final models")):
    test, said = o[part], any(words in text for text in o["not_checked"])
    assert said if test is None else test["runs"] >= 80 and test["mu_proven"] <= test["mu_claimed"], (part, test)
PY
}

# ---- the installed program ----
ok 'a plan is attacked' "${short[@]}" --solver dpgd:steps=4,clip=0.1
says 'it says that nothing was found' '^result +no break was found'
says 'it says in one sentence what was not checked' '^not checked +this library was not built for audit'
ok 'and as JSON' "${short[@]}" --solver dpgd:steps=4,clip=0.1 --json
check 'no release was seen' test "$(field sensitivity)" = None
check 'no break' test "$(breaks)" = 0
check 'neighbours were compared' test "$(field behaviour.pairs)" -ge 8
check 'every pair ended' test "$(field behaviour.pairs)" = "$(field behaviour.ended)"
check 'nothing is left behind' test -z "$(ls "$TMPDIR")"

# ---- on the page of a model ----
for ((i = 0; i < 24; i++)); do echo "$((i % 5)),$((i % 3)),$((i % 2))"; done >rows.csv
same=(--loss logistic --solver dpgd:steps=4,clip=0.1 --epsilon 4 --delta 1e-6 --row-norm 1 --no-intercept)
sed -i '1i a,b,y' rows.csv
ok 'a model' train rows.csv --label y "${same[@]}" -o model.json
ok 'an audit of its plan' audit "${same[@]}" --shape 24,2 --seconds 1 --json
cp "$work/.out" audit.json
ok 'a page with the audit' report model.json --audit audit.json -o page.html
check 'says with how many runs it was attacked' grep -q 'was audited with <data[^>]*data-field="audit.attacks"\|was audited with .*audit.attacks' page.html
ok 'a page without' report model.json -o plain.html
check 'does not' test "$(grep -c 'was audited' plain.html)" = 0
ok 'an audit of another plan' audit "${same[@]}" --shape 25,2 --seconds 1 --json
cp "$work/.out" other.json
bad 'is refused' 2 'another plan' report model.json --audit other.json -o other.html
check 'and no page is made' test ! -e other.html
bad 'a model is no audit' 3 'no answer of tacit audit' report model.json --audit model.json -o other.html
bad 'nor is a table' 3 'tacit audit --json' report model.json --audit rows.csv -o other.html
bad 'the audit is not written over' 2 '.' report model.json --audit audit.json -o audit.json

ok 'follow-up times' audit --loss cox --epsilon 4 --neighbours replace_one --seconds 2 --json
check 'have no break' test "$(breaks)" = 0
check 'neighbours were compared' test "$(field behaviour.pairs)" -ge 2

# ---- a schema in place of a shape ----
ok 'a schema' generate --rows 50 -o people.csv --schema-output people.schema.json
ok 'gives bounds and features' audit --loss logistic --solver dpgd:steps=3 --epsilon 4 --schema people.schema.json --records 50 --seconds 1 --json
check 'as many as the table has' test "$(field plan.columns)" = 31
bad 'a schema without records' 2 '--records' audit --loss logistic --epsilon 1 --schema people.schema.json
bad 'a schema and a shape' 2 'both say' audit --loss logistic --epsilon 1 --schema people.schema.json --records 5 --shape 5,2
bad 'records without a schema' 2 '--records belongs' audit --loss logistic --epsilon 1 --records 5
bad 'no loss' 2 '--loss is missing' audit --epsilon 1
bad 'no epsilon' 2 '--epsilon must' audit --loss logistic
bad 'no promise' 2 'promises nothing' audit --loss logistic --epsilon inf --solver dpgd
ok 'one fit of several classes' audit --loss softmax:classes=4 --epsilon 4 --solver dpgd:steps=2 --shape 12,2 --seconds 1 --json
check 'has no break' test "$(breaks)" = 0
bad 'no time' 2 'seconds' audit --loss logistic --epsilon 1 --seconds 0
bad 'a table beyond the free memory' 1 'an audit of this shape needs at least [0-9]+ MiB of memory, and .* are free' audit \
  --loss logistic --epsilon 1 --shape 1000000000000,2000000000 --solver dpgd
bad 'one record' 2 'at least two' audit --loss logistic --epsilon 1 --shape 1,2 --solver dpgd

# ---- the program that is built for audit ----
plain=$TACIT
TACIT=$(dirname "$TACIT")/tacit-audit
if [ -x "$TACIT" ]; then
  for each in "dpgd:steps=4,clip=0.1 add_remove" "dpgd:steps=4,clip=0.1 replace_one" "dpsgd:batch=6,clip=0.1,epochs=1 add_remove"; do
    read -r solver relation <<<"$each"
    ok "$each" "${short[@]}" --solver "$solver" --neighbours "$relation" --json
    check "$each: no break" test "$(breaks)" = 0
    check "$each: climbing fills the sensitivity" within 'share' 0.99 "$(field sensitivity.releases | grep -oE "'share': [0-9.]+" | grep -oE '[0-9.]+')" 1
    check "$each: every planned release was made" test "$(field sensitivity.releases | grep -oE "'made': [0-9]+" | grep -oE "[0-9]+")" = "$(field sensitivity.releases | grep -oE "'planned': [0-9]+" | grep -oE "[0-9]+")"
    check "$each: each test has runs and no more than the claim, or it is said that there was no time" told
  done
  "$TACIT" audit --loss logistic --penalty l2:lambda=0.05 --epsilon 4 --solver dpmetric --seconds 0.05 >short.txt 2>short.err
  check 'an attack on a part of what a plan takes is no audit' test $? = 1
  check 'and names the rest' grep -qE 'no attack moved "(csr|csc|f32|f64|dense|weights|persons)' short.err
  # Of two vertices one is chosen with log odds of -2 or 2: their total variation tanh(1) is that of a shift of 2.36.
  ok 'a choice of two' audit --loss logistic --epsilon 4 --no-intercept --solver dpfw:steps=1,clip=0.1 --penalty l1ball:radius=1 --shape 24,1 --seconds 3 --json
  check 'the climb finds the pair that is told apart best, and no better' within 'its shift' 2.1 "$(field sensitivity.canary_mu)" 2.365
  ok 'a drawn tilt is no sum' "${short[@]}" --solver objpert --penalty l2:lambda=0.05 --json
  check 'and no move is stated' test "$(field sensitivity.releases | grep -c "'share': None")" = 1
  check 'and it is said' grep -q 'drawn inside a minimisation' "$work/.out"

  # ---- a study ----
  cat >plan.json <<'JSON'
{"epsilon": 4, "delta": 1e-5, "held": 0.25, "schema": {"columns": [
  {"name": "a", "type": "number", "lower": -1, "upper": 1}, {"name": "b", "type": "number", "estimate": true},
  {"name": "c", "type": "category", "estimate": true}, {"name": "d", "type": "category", "values": ["no", "yes"]}]},
 "stages": [{"name": "bounds", "kind": "estimate", "what": "bounds,categories"},
  {"name": "ill", "kind": "fit", "label": "d", "positive": "yes", "loss": "logistic", "solver": "dpgd:steps=2,clip=0.5",
   "part": "train"},
  {"name": "how well", "kind": "score", "of": "ill", "part": "held"},
  {"name": "all", "kind": "moments", "features": ["a"]}]}
JSON
  for relation in add_remove replace_one; do
    sed "s/\"epsilon\": 4/&, \"neighbours\": \"$relation\"/" plan.json >asked.json
    ok "a study, $relation" audit --plan asked.json --records 24 --seconds 4 --json
    check "$relation: no break" test "$(breaks)" = 0
    check "$relation: every stage's releases are seen, and moved" python3 - "$work/.out" <<'PY'
import json, sys
seen = json.load(open(sys.argv[1]))["sensitivity"]["releases"]
assert len(seen) == 7, seen
assert all(0.3 < r["share"] <= 1 and 0.8 < r["noise_ratio"] < 1.3 and r["made"] == r["planned"] for r in seen), seen
PY
  done
  sed 's/"held": /"person": "who", "rows_per_person": 3, &/; s/bounds,categories/bounds/; s/"category", "estimate": true/"number"/' plan.json |
    sed 's/"c", "type": "number"/&, "lower": 0, "upper": 9/' >persons.json
  ok 'and of persons' audit --plan persons.json --records 24 --seconds 3 --json
  check 'no break' test "$(breaks)" = 0
  fit='"kind": "fit", "label": "d", "positive": "yes", "loss": "logistic", "solver": "dpgd:steps=2,clip=0.5"'
  head='"epsilon": 2, "delta": 1e-5, "schema": {"columns": [{"name": "d", "type": "category", "values": ["no", "yes"]}, {"name": "a", "type": "number"'
  echo "{\"door\": \"evaluate\", $head, \"lower\": 0, \"upper\": 1}]}, \"stages\": [{\"name\": \"f\", $fit}, {\"name\": \"s\", \"kind\": \"score\", \"of\": \"f\"}]}" >evaluate.json
  echo "{\"door\": \"estimate\", $head, \"estimate\": true}]}, \"stages\": [{\"name\": \"b\", \"kind\": \"estimate\"}, {\"name\": \"f\", $fit}]}" >estimate.json
  echo "{\"door\": \"search\", $head, \"lower\": 0, \"upper\": 1}]}, \"stages\": [{\"name\": \"f\", $fit}, {\"name\": \"g\", $fit}]}" >search.json
  # With TCT_SAMPLE above 1 each door is asked for records or for persons, by the day.
  day=$(($(date +%s) / 86400))
  for door in evaluate estimate search; do
    day=$((day + 1))
    sed 's/"door"/"person": "who", "rows_per_person": 3, &/' $door.json >of_persons.json
    plans=($door of_persons)
    [ "${TCT_SAMPLE:-1}" -le 1 ] || plans=("${plans[day % 2]}")
    for plan in "${plans[@]}"; do
      ok "by the door $door, $plan" audit --plan $plan.json --records 24 --seconds 2 --json
      check "$door: no break" test "$(breaks)" = 0
      check "$door: every release is seen, and moved" python3 - "$work/.out" $door <<'PY'
import json, sys
seen = json.load(open(sys.argv[1]))["sensitivity"]["releases"]
assert len(seen) == {"evaluate": 1, "estimate": 3, "search": 3}[sys.argv[2]], seen
assert all(0.2 < r["share"] <= 1 for r in seen), seen
PY
    done
  done
  sed 's/"solver": "[^"]*"/"errors": "robust"/' estimate.json >errors.json
  ok 'standard errors by a door' audit --plan errors.json --records 24 --seconds 3
  says 'are attacked' 'curvature and variance of gradients, together, gate 2'
  sed 's/"door": "search", //; s/"kind": "fit"/"kind": "choose", "candidates": [{"penalty": "none"}]/' search.json >tries.json
  bad 'a random number of tries' 2 '"selection": "all"' audit --plan tries.json --records 24
  sed 's/"kind": "choose"/&, "selection": "all"/; s/, "solver": "[^"]*"//' tries.json >all.json
  ok 'choices among all settings' audit --plan all.json --records 24 --seconds 3
  says 'are attacked' 'a candidate, by its score'
  sed 's/"evaluate"/"search"/' evaluate.json >wrong.json
  bad 'a door with other stages' 2 '"door" is estimate' audit --plan wrong.json --records 24
  sed 's/"evaluate"/7/' evaluate.json >wrong.json
  bad 'a door that is none' 2 '"door" is estimate' audit --plan wrong.json --records 24
  bad 'a study without records' 2 '--plan needs --records' audit --plan plan.json
  bad 'a study and a loss' 2 'the plan of a study says' audit --plan plan.json --records 24 --loss logistic
  bad 'no plan' 3 'not a readable JSON plan' audit --plan rows.csv --records 24
  TACIT=$plain
  bad 'a study from outside' 2 'take tacit-audit' audit --plan plan.json --records 24
else
  fail "there is no $TACIT beside $plain"
fi
finish
