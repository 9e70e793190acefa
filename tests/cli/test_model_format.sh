#!/usr/bin/env bash
# test_model_format.sh - every kind of model file has the form of docs/reference/format/model.schema.json.
if ! python3 -c 'import jsonschema' 2>/dev/null; then
  echo 'skipped: the Python package jsonschema is not installed'
  exit 77
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
form=$here/../../docs/reference/format/model.schema.json

ok 'people' generate --rows 500 -o c.csv
ok 'incomes' generate --rows 500 --kind regression -o r.csv
class=(c.csv --schema c.schema.json --loss logistic --penalty l2:lambda=0.01)
python3 "$here/three_classes.py" 300 >s.csv
ok 'private' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 -o private.json
ok 'replace_one' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 --neighbours replace_one -o relation.json
ok 'seeded' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 --seed 1 --intercept -o seeded.json
ok 'none' train "${class[@]}" --solver scd -o none.json
ok 'infinite' train "${class[@]}" --solver dpscd --epsilon inf -o infinite.json
ok 'scaled' train "${class[@]}" --solver scd --scale standard --row-norm 2 --rows unit -o scaled.json
ok 'regression' train r.csv --schema r.schema.json --loss squared --penalty l2:lambda=0.01 --solver dpscd --epsilon 1 --delta 1e-6 -o real.json
"$TACIT" train s.csv --label fruit --row-norm 2 --classes apple,pear,plum --loss logistic --solver dpgd --epsilon 1 \
  --delta 1e-6 -o several.json >/dev/null || fail 'three classes'
"$TACIT" train s.csv --label fruit --row-norm 2 --classes apple,pear,plum --loss softmax --epsilon 1 \
  --delta 1e-6 -o softmax.json >/dev/null || fail 'softmax'
"$TACIT" train s.csv --label fruit --row-norm 2 --positive pear --loss logistic --solver dpgd --epsilon 1 \
  --delta 1e-6 -o one.json >/dev/null || fail 'one class against the rest'
awk -F, 'NR == 1 { print "a,b,days,died"; next } { printf "%s,%s,%.3f,%d\n", $1, $2, 1 + NR % 8, (NR % 3 > 0) }' s.csv >f.csv
# One file of every solver, by what it says it needs: a ridge, a ball, squared loss, or records that stay.
# Columns in several hands have no intercept.
solvers=$("$TACIT" components solver --json | python3 -c 'import json, sys; print(*(c["name"] for c in json.load(sys.stdin)["components"]))')
for solver in $solvers; do
  for with in "c logistic l2:lambda=0.05" "c logistic l1ball:radius=2" "r squared l2:lambda=0.05" "c logistic l1:lambda=0.01"; do
    read -r table loss penalty <<<"$with"
    own=()
    [[ $solver != *_parties ]] || own=(--no-intercept)
    tacit train $table.csv --schema $table.schema.json --loss "$loss" --penalty "$penalty" --solver "$solver" "${own[@]}" \
      --epsilon 1 --delta 1e-6 -o "solver_$solver.json"
    [ "$code" != 0 ] || break
  done
  for penalty in l2:lambda=0.05 l1ball:radius=2; do # those without privacy
    [ "$code" != 0 ] || break
    tacit train c.csv --schema c.schema.json --loss logistic --penalty $penalty --intercept --solver "$solver" -o "solver_$solver.json"
  done
  if [ "$code" != 0 ]; then # that of follow-up times
    tacit train f.csv --time days --event died --horizon 9 --row-norm 3 --loss cox --solver "$solver" --epsilon 1 \
      --delta 1e-6 -o "solver_$solver.json"
  fi
  check "a model of $solver" test -s "solver_$solver.json"
done

cases=$((cases + 1))
python3 - "$form" <<'P' || fail 'a model file has another form than the schema says'
import copy, glob, json, sys
import jsonschema
form = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(form)
check = jsonschema.Draft202012Validator(form)
models = ['several', 'softmax', 'one', 'private', 'relation', 'seeded', 'none', 'infinite', 'scaled', 'real']
models += [name[:-5] for name in glob.glob('solver_*.json')]
assert len(models) > 20, models
for name in models:
    check.validate(json.load(open(name + '.json')))
# The schema refuses what it should: any required field left out, and a claim that is none.
good = json.load(open('private.json'))
for path in ([], ['transforms'], ['privacy']):
    part = good
    for key in path: part = part[key]
    for key in list(part):
        bad = copy.deepcopy(good)
        place = bad
        for k in path: place = place[k]
        del place[key]
        assert not check.is_valid(bad), (path, key)
for edit in ({'epsilon': 0}, {'delta': 1}, {'events': []}, {'events': ['magic:noise=1']}, {'neighbours': 'NONE'}, {'noise': 'none'}):
    bad = copy.deepcopy(good)
    bad['privacy'].update(edit)
    assert not check.is_valid(bad), edit
P
finish
