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
ok 'private' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 -o private.json
ok 'replace_one' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 --neighbours replace_one -o relation.json
ok 'seeded' train "${class[@]}" --solver dpscd --epsilon 1 --delta 1e-6 --seed 1 --intercept -o seeded.json
ok 'none' train "${class[@]}" --solver scd -o none.json
ok 'infinite' train "${class[@]}" --solver dpscd --epsilon inf -o infinite.json
ok 'scaled' train "${class[@]}" --solver scd --scale standard --row-norm 2 --rows unit -o scaled.json
ok 'regression' train r.csv --schema r.schema.json --loss squared --penalty l2:lambda=0.01 --solver dpscd --epsilon 1 --delta 1e-6 -o real.json
cases=$((cases + 1))
python3 - "$form" <<'P' || fail 'a model file has another form than the schema says'
import copy, json, sys
import jsonschema
form = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(form)
check = jsonschema.Draft202012Validator(form)
models = ['private', 'relation', 'seeded', 'none', 'infinite', 'scaled', 'real']
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
