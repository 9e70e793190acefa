#!/usr/bin/env bash
# make.sh - a model file of every solver and of every form, as this program writes it, into this folder.
#
# usage: tests/files/make.sh BUILD [FOLDER]     FOLDER: another one than this
#
# Until 0.2 is released these files are made again in the change that alters a rule.  From then on the files of a version
# stay as they are, and tests/cli/test_kept_files.sh asks that all of them are still verified.
set -euo pipefail
build=$(cd "${1:?usage: make.sh BUILD [FOLDER]}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${2:-$here}
tacit=$build/tacit
export TACIT_REGISTRY=none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$(mkdir -p "$out" && cd "$out" && pwd)
cd "$work"
"$here/../cli/three_classes.py" 900 >c.csv
sed 's/,apple$/,yes/; s/,pear$/,no/; s/,plum$/,no/; s/fruit$/ripe/' c.csv >b.csv
awk -F, 'NR == 1 { print "a,b,size"; next } { printf "%s,%s,%.3f\n", $1, $2, 3 + 2 * $1 - $2 }' c.csv >r.csv
awk -F, 'NR == 1 { print "a,b,count"; next } { printf "%s,%s,%d\n", $1, $2, 2 + $1 + $2 }' c.csv >n.csv
"$here/../cli/persons_table.py" 900 >v.csv
python3 - <<'PY'
import json
a, b = ({"name": n, "type": "number", "lower": -2, "upper": 2} for n in "ab")
for name, label in {"c": {"name": "fruit", "values": ["apple", "pear", "plum"]},
                    "b": {"name": "ripe", "values": ["no", "yes"], "positive": "yes"},
                    "r": {"name": "size", "lower": 0, "upper": 8}, "n": {"name": "count", "lower": 0, "upper": 6}}.items():
    json.dump({"columns": [a, b], "label": label}, open(f"{name}.json", "w"))
age = {"name": "age", "type": "number", "lower": 18, "upper": 100}
pressure = {"name": "pressure", "type": "number", "lower": 60, "upper": 200}
ill = {"name": "ill", "values": ["no", "yes"], "positive": "yes"}
json.dump({"columns": [age, pressure, {"name": "patient", "type": "ignore"}], "label": ill}, open("v.json", "w"))
unknown = [{"name": n, "type": "number", "estimate": True} for n in ("age", "pressure")]
json.dump({"columns": [*unknown, {"name": "patient", "type": "ignore"}], "label": ill}, open("e.json", "w"))
json.dump({"columns": [a, {"name": "fruit", "type": "category", "estimate": True}],
           "label": {"name": "high", "values": ["0", "1"], "positive": "1"}}, open("l.json", "w"))
stages = [{"kind": "estimate"}, {"kind": "fit", "label": "fruit", "loss": "logistic", "part": "train"},
          {"kind": "fit", "label": "a", "loss": "squared", "errors": "robust", "part": "train"}, {"kind": "moments"},
          {"kind": "choose", "label": "a", "loss": "squared", "tries": 3, "candidates": [{"penalty": "l2:lambda=0.1"}, {"solver": "dpgd"}]},
          {"kind": "describe", "features": ["b", "fruit"]},
          {"kind": "score", "of": "1", "part": "held"}, {"kind": "score", "of": "2", "part": "held"}]
fruit = {"name": "fruit", "type": "category", "values": ["apple", "pear", "plum"]}
json.dump({"epsilon": 8, "delta": 1e-5, "held": 0.2, "schema": {"columns": [a, {"name": "b", "type": "number", "estimate": True}, fruit]},
           "stages": [{"name": str(k), **stage} for k, stage in enumerate(stages)]}, open("plan.json", "w"))
json.dump({"penalty": ["l2:lambda=1e-3", "l2:lambda=0.1"], "solver": ["auto", "dpgd:clip=0.5,steps=10"]}, open("grid.json", "w"))
PY
awk -F, 'NR == 1 { print "a,fruit,high"; next } { print $1 "," $3 "," ($2 > 0) }' c.csv >l.csv
awk -F, 'NR == 1 { print "a,b,days,died"; next } { printf "%s,%s,%.3f,%d\n", $1, $2, 1 + (NR % 90) / 10 * exp(-$1 / 3), (NR % 3 > 0) }' c.csv >f.csv
two=(b.csv --schema b.json) three=(c.csv --schema c.json) real=(r.csv --schema r.json)
visits=(v.csv --schema v.json --person patient --rows-per-person 3)
budget=(--epsilon 2 --delta 1e-5 --seed 7 --threads 1)
failed=0
make() { # make NAME VERB ARG...
  rm -f "$out/$1.json"
  "$tacit" "${@:2}" "${budget[@]}" -o "$out/$1.json" >"$1.out" 2>&1 || { echo "make.sh: $1: $(tail -1 "$1.out")" >&2 && failed=1; }
}

# Every solver that is private, with the first loss and penalty of these that it takes.
for solver in $("$tacit" components solver --json | python3 -c 'import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["components"] if s["private"] and s["name"] != "auto"))'); do
  case $solver in
    adassp | dpmoments | gram_parties) set -- "${real[@]}" --loss squared --penalty l2:lambda=1e-2 ;;
    dpfw*) set -- "${two[@]}" --loss logistic --penalty l1ball:radius=2 ;;
    dpcox) set -- f.csv --loss cox --time days --event died --horizon 9 --row-norm 3 ;;
    dponestep) set -- "${two[@]}" --loss logistic ;;
    majority) set -- "${two[@]}" --loss logistic --penalty none ;;
    *) set -- "${two[@]}" --loss logistic --penalty l2:lambda=1e-2 ;;
  esac
  [ $solver != dpfw_parties ] && [ $solver != gram_parties ] || set -- "$@" --no-intercept
  make "solver_$solver" train "$@" --solver $solver
done
make auto train "${two[@]}" --loss logistic
make replace_one train "${two[@]}" --loss logistic --neighbours replace_one
make huber train "${real[@]}" --loss huber --no-intercept
make counts train n.csv --schema n.json --loss poisson
make classes train "${three[@]}" --loss logistic
make softmax train "${three[@]}" --loss softmax
make errors_model train "${two[@]}" --loss logistic --errors model
make errors_robust train "${real[@]}" --loss squared --errors robust
make persons train "${visits[@]}" --loss logistic
make estimate_bounds train v.csv --schema e.json --loss logistic --estimate bounds:share=0.2
make estimate_categories train l.csv --schema l.json --loss logistic --estimate categories
make search search "${two[@]}" --candidates grid.json --loss logistic --tries 5
make search_classes search "${three[@]}" --candidates grid.json --loss logistic --tries 5
budget=(--seed 7 --threads 1)
make study study c.csv --plan plan.json
budget=(--epsilon inf --threads 1)
make without_privacy train "${two[@]}" --loss logistic --penalty l2:lambda=1e-2

# What Python alone writes: a choice among all settings, and weights.
TACIT_LIBRARY=$build/libtacit.so PYTHONPATH=$here/../../python "$here/../../build/venv/bin/python" -W ignore - "$out" <<'PY' || failed=1
import sys
import numpy as np
import pandas as pd
import tacit

table, out = pd.read_csv("b.csv"), sys.argv[1]
budget = {"epsilon": 2.0, "delta": 1e-5, "random_state": 7}
two = tacit.PrivateLogisticRegression(classes=["no", "yes"], bounds=(-2, 2))
grid = {"C": [0.01, 1.0], "solver": ["auto", "dpgd:steps=10"]}
search = tacit.PrivateSearchCV(two, grid, **budget).fit(table[["a", "b"]], table["ripe"])
search.best_estimator_.save(f"{out}/search_all.json")
weighed = tacit.PrivateLogisticRegression(**budget, classes=["no", "yes"], bounds=(-2, 2), weight_cap=2.0)
weighed.fit(table[["a", "b"]], table["ripe"], sample_weight=np.linspace(0.5, 2, len(table))).save(f"{out}/weights.json")
PY
exit $failed
