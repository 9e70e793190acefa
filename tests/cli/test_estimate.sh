#!/usr/bin/env bash
# test_estimate.sh - bounds that nobody knows: estimated, paid for, in the model file, and refused where that cannot be.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
random.seed(1)
n = 4000
with open("t.csv", "w") as f, open("r.csv", "w") as g, open("gap.csv", "w") as h:
    f.write("who,year,size,kind,y\n"), g.write("year,size,y\n"), h.write("year,size,y\n")
    for i in range(n):
        year, size, kind = random.randint(1990, 2020), random.uniform(-3, 40), random.choice("uvw")
        y = int(size / 20 + (year - 2005) / 15 + random.gauss(0, 1) > .9)
        f.write(f"p{i // 2},{year},{size:.2f},{kind},{y}\n")
        g.write(f"{year},{size:.2f},{50 + size + random.gauss(0, 2):.2f}\n")
        h.write(f"{year},{'' if i == 7 else f'{size:.2f}'},{y}\n")
classes = {"name": "y", "values": ["0", "1"], "positive": "1"}
year, size = ({"name": name, "type": "number", "estimate": True} for name in ("year", "size"))
who, kind = {"name": "who", "type": "ignore"}, {"name": "kind", "type": "category", "values": list("uvwabcdefghijklmnop")}
json.dump({"columns": [who, year, size, kind], "label": classes}, open("open.json", "w"))
json.dump({"columns": [year, {**size, "lower": 0, "upper": 1}]}, open("both.json", "w"))
json.dump({"columns": [year, {**size, "missing": 3}]}, open("missing.json", "w"))
json.dump({"columns": [{**size, "name": "year"}, size], "label": {**classes, "values": ["0", "1", "2"]}}, open("three.json", "w"))
json.dump({"columns": [who, {"name": "year", "type": "number", "lower": 1990, "upper": 2020},
                       {"name": "size", "type": "number", "lower": -5, "upper": 50}, kind], "label": classes}, open("full.json", "w"))
PY
settings=(--loss logistic --epsilon 2 --delta 1e-5)
privacy() { python3 -c 'import json,sys; m = json.load(open(sys.argv[1])); p = m["privacy"]; e = p["estimate"]
columns = m["transforms"]["schema"]["columns"]; print(eval(sys.argv[2]))' "$@"; }

# ---- what is made ----
ok 'a schema with open columns' train t.csv --schema open.json "${settings[@]}" --estimate bounds:share=0.2 -o m.json
cp .out plan.txt
check 'the claim is of the whole' test "$(privacy m.json 'p["epsilon"], p["delta"]')" = '(2.0, 1e-05)'
check 'the share is the estimate'\''s' test "$(privacy m.json 'round(e["epsilon"], 9), round(e["rest"]["epsilon"], 9)')" = '(0.4, 1.6)'
check 'two columns were open' test "$(privacy m.json 'e["asked"]["columns"], sum("estimated" in c for c in columns)')" = '(2, 2)'
check 'their bounds are of the values' test "$(privacy m.json 'all(abs(c["lower"]) < 4096 and c["upper"] <= 4096 for c in columns[1:3])')" = True
ok 'it verifies' verify m.json
ok 'predictions under the bounds that were found' predict m.json t.csv -o z.txt
check 'one for each record' test "$(wc -l <z.txt)" = 4000
ok 'a page' report m.json -o page.html
ok 'the plan without data' train --dry-run --records 4000 --schema open.json "${settings[@]}" --estimate bounds:share=0.2
check 'promises the estimate that was made' cmp -s <(grep '^estimate' .out) <(grep '^estimate' plan.txt)
ok 'the plan without a schema' train --dry-run --shape 4000,3 --loss squared --epsilon 2 --delta 1e-5 --estimate bounds
check 'counts the label' grep -q 'of 4 columns' .out
ok 'real labels, no schema' train r.csv --label y --loss squared --epsilon 4 --delta 1e-5 --estimate bounds -o r.json
check 'the label is a column too' test "$(privacy r.json 'e["asked"]["columns"], m["transforms"]["schema"]["label"]["estimated"]')" = '(3, True)'
ok 'verifies' verify r.json
ok 'replace_one' train r.csv --label y --loss squared --epsilon 4 --delta 1e-5 --estimate bounds --neighbours replace_one -o o.json
ok 'verifies too' verify o.json
ok 'persons' train t.csv --schema open.json "${settings[@]}" --estimate bounds --person who --rows-per-person 2 -o p.json
ok 'verify persons' verify p.json
ok 'three classes' train t.csv --schema open.json "${settings[@]}" --estimate bounds --label y --classes 0,1 -o two.json
python3 -c '
import json; s = json.load(open("open.json")); s["label"] = {"name": "y", "values": ["0", "1", "2"]}; json.dump(s, open("three.json", "w"))'
ok 'three classes' train t.csv --schema three.json "${settings[@]}" --estimate bounds -o three.model.json
ok 'verify three classes' verify three.model.json
check 'their claim is of the whole' test "$(privacy three.model.json 'p["epsilon"]')" = 2.0

# ---- the ledger ----
ok 'a ledger' ledger L --init --epsilon 3 --delta 1e-4
ok 'a charged estimate' train t.csv --schema open.json "${settings[@]}" --estimate bounds --ledger L -o c.json
ok 'verifies with the ledger' verify c.json --ledger L
ok 'the ledger' ledger L --json
check 'has one run, of the whole' python3 -c '
import json; o = json.load(open(".out")); raise SystemExit(not (len(o["runs"]) == 1 and abs(o["runs"][0]["epsilon"] - 2) < 1e-9))'
rm -f d.json
bad 'more than is left' 4 'epsilon|budget|ledger' train t.csv --schema open.json "${settings[@]}" --estimate bounds --ledger L -o d.json
check 'left no model' test ! -e d.json
ok 'the same rows again, within the budget' train t.csv --schema open.json --loss logistic --epsilon 0.5 --delta 1e-6 \
  --estimate bounds --ledger L -o e.json

# ---- what an edited file says less of ----
edited() { # NAME PYTHON : m is the model, p its privacy, e its estimate
  python3 -c '
import json, sys; m = json.load(open("m.json")); p = m["privacy"]; e = p["estimate"]; columns = m["transforms"]["schema"]["columns"]
exec(sys.argv[1]); json.dump(m, open("edited.json", "w"))' "$2"
  tacit verify edited.json
  check "$1: refused" test "$code" = 1
  check "$1: said" grep -q 'not verified' .err
}
edited 'the estimate dropped' 'del p["estimate"]'
edited 'the estimate dropped, the claim made the fit'\''s' 'p.update(e["rest"]); del p["estimate"]'
edited 'the marks dropped' '[c.pop("estimated", None) for c in columns]'
edited 'a mark and a column dropped' 'columns[1].pop("estimated"); e["asked"]["columns"] = 1'
edited 'a release dropped' 'e["releases"].pop()'
edited 'half the noise' 'e["releases"][0]["deviation"] /= 2'
edited 'a smaller share' 'e["asked"]["spec"] = e["asked"]["spec"].replace("0.2", "0.1")'
edited 'a smaller claim' 'p["epsilon"] = 1.6'
edited 'a smaller claim, asked for' 'p["epsilon"] = e["asked"]["epsilon"] = 1.6'
edited 'the estimate'\''s event dropped' 'p["events"].pop(0)'
edited 'a fit beyond what was left' 'e["rest"]["epsilon"] = 1.9'
edited 'another relation' 'e["asked"]["neighbours"] = "replace_one"'
edited 'as form 1' 'm["version"] = 1'

# ---- lists of categories, and missing values ----
python3 - <<'PY'
import json, random
random.seed(4)
with open("c.csv", "w") as f, open("c.jsonl", "w") as g:
    f.write("age,kind,town,y\n")
    for i in range(5000):
        age, kind = round(random.uniform(18, 88), 1), random.choice("uuuvvw")
        town = f"hamlet {i}" if i % 50 == 0 else random.choice(["Ulm", "Bonn", "Jena"])
        y = int(age / 60 + (kind == "u") + random.gauss(0, .5) > 1.6)
        row = {"age": None if i % 9 == 0 else age, "kind": None if i % 7 == 0 else kind, "town": town, "y": y}
        f.write(",".join("" if v is None else str(v) for v in row.values()) + "\n")
        g.write(json.dumps(row) + "\n")
open_ = [{"name": "age", "type": "number", "estimate": True, "missing": "estimate"},
         {"name": "kind", "type": "category", "estimate": True, "missing": "estimate"},
         {"name": "town", "type": "category", "estimate": True}]
label = {"name": "y", "values": ["0", "1"], "positive": "1"}
json.dump({"columns": open_, "label": label}, open("lists.json", "w"))
json.dump({"columns": [*open_[:2], {**open_[2], "values": ["Ulm"]}], "label": label}, open("both_lists.json", "w"))
json.dump({"columns": [*open_[:2], {**open_[2], "other": "zero"}], "label": label}, open("other.json", "w"))
PY
kinds='bounds,missing,categories:share=0.2'
ok 'lists' train c.csv --schema lists.json "${settings[@]}" --estimate "$kinds" --seed 3 -o l.json
cp .out plan.txt
ok 'they verify' verify l.json
check 'what everybody has is listed, and what one person has is not' test "$(privacy l.json '[c["values"] for c in columns[1:]]')" = \
  "[['(missing)', 'u', 'v', 'w'], ['Bonn', 'Jena', 'Ulm']]"
check 'missing ages have the place of about the middle' test "$(privacy l.json '45 < columns[0]["missing"] < 61')" = True
check 'and missing kinds are a kind' test "$(privacy l.json 'columns[1]["missing"], columns[2]["other"]')" = "('(missing)', 'zero')"
check 'the certificate has the threshold and its delta' test \
  "$(privacy l.json 'e["lists"]["threshold"] > 30, e["lists"]["delta"] < e["delta"], len(e["events"]), len(e["releases"])')" = '(True, True, 2, 3)'
ok 'the same table as JSON Lines' train c.jsonl --schema lists.json "${settings[@]}" --estimate "$kinds" --seed 3 -o j.json
check 'gives the same file' cmp -s l.json j.json
ok 'with four threads' train c.csv --schema lists.json "${settings[@]}" --estimate "$kinds" --seed 3 --threads 4 -o j.json
check 'gives the same file too' cmp -s l.json j.json
ok 'predictions, of unlisted towns too' predict l.json c.csv -o z.txt
check 'one for each record' test "$(wc -l <z.txt)" = 5000
ok 'its page' report l.json -o page.html
ok 'the plan without data' train --dry-run --records 5000 --schema lists.json "${settings[@]}" --estimate "$kinds"
check 'promises what was made' cmp -s <(grep '^estimate' .out) <(grep '^estimate' plan.txt)
memory() { grep '^memory' .out | grep -oE '[0-9.]+'; }
listed=$(memory)
ok 'the plan of half the records' train --dry-run --records 2500 --schema lists.json "${settings[@]}" --estimate "$kinds"
within 'its memory has a text for each record and list' 1.5 "$(python3 -c "print($listed - $(memory))")" 2
bad 'a plan that does not fit' 2 'list values in the schema, or raise --memory' train --dry-run --records 500000 --schema lists.json \
  "${settings[@]}" --estimate "$kinds" --memory 100M
bad 'nor does a table of so many records' 2 'list values in the schema, or raise --memory' train c.csv --schema lists.json \
  "${settings[@]}" --estimate "$kinds" --memory 1M -o x.json
cp m.json kept.json && cp l.json m.json
edited 'a list called public' 'columns[2].pop("estimated")'
edited 'lists dropped' 'e["asked"].pop("lists"); e.pop("lists"); [c.pop("estimated") for c in columns[1:]]'
edited 'a lower threshold' 'e["lists"]["threshold"] = 1.0'
edited 'delta of the lists dropped' 'e["events"].pop()'
edited 'a release of texts dropped' 'e["releases"].pop()'
mv kept.json m.json
for each in 'bounds,missing|leaves lists' 'bounds,categories|missing values to the estimate' 'missing,categories|without bounds' \
  'missing|found with bounds or lists' 'bounds,bounds|each once'; do
  bad "${each%|*}" 2 "${each#*|}" train c.csv --schema lists.json "${settings[@]}" --estimate "${each%|*}" -o x.json
done
bad 'a list and an estimate' 3 'remove one of the two' train c.csv --schema both_lists.json "${settings[@]}" --estimate "$kinds" -o x.json
bad 'a rule for others' 3 'remove these keys' train c.csv --schema other.json "${settings[@]}" --estimate "$kinds" -o x.json
bad 'lists without a schema' 2 "no column's list is open" train r.csv --label y --loss squared --epsilon 1 --delta 1e-6 \
  --estimate bounds,categories -o x.json
bad 'lists in single precision' 2 'leave --f32 away' train c.csv --schema lists.json "${settings[@]}" --f32 --estimate "$kinds" -o x.json
bad 'lists without an estimate' 2 'add --estimate' train c.csv --schema lists.json "${settings[@]}" -o x.json
check 'no model is left' test ! -e x.json

# ---- bounds that another run has paid for ----
python3 -c '
import json; json.dump(json.load(open("m.json"))["transforms"]["schema"], open("found.json", "w"))'
ok 'a run under bounds that were found before' train t.csv --schema found.json "${settings[@]}" -o g.json
check 'says that it does not pay for them' grep -q 'UNACCOUNTED: bounds in the schema were estimated' .err
ok 'and verifies' verify g.json
python3 -c '
import json; m = json.load(open("g.json")); m["privacy"]["unaccounted"] = []; json.dump(m, open("g2.json", "w"))'
tacit verify g2.json
check 'unless that is edited away' test "$code" = 1

# ---- more categories are found than the fit can take ----
awk 'BEGIN { print "age,town,street,y"; for (i = 0; i < 12000; i++) printf "%d,t%d,s%d,%d\n", 18 + i % 60, i % 4, i % 600, i % 3 == 0 }' >streets.csv
printf '{"columns": [%s, %s, %s], "label": {"name": "y", "values": ["0", "1"], "positive": "1"}}' \
  '{"name": "age", "type": "number", "lower": 18, "upper": 90}' '{"name": "town", "type": "category", "estimate": true}' \
  '{"name": "street", "type": "category", "estimate": true}' >streets.json
ok 'a model of them' train streets.csv --schema streets.json --loss logistic --errors model --epsilon 400 --delta 1e-6 --seed 1 \
  --estimate categories:budget_fraction=0.5 -o street.json
check 'says which list is left out' grep -q 'left out, since the fit cannot be of so long lists: street' .err
check 'and keeps the other' python3 -c 'import json; c = json.load(open("street.json"))["transforms"]["schema"]["columns"]; assert len(c[1]["values"]) == 4 and c[2]["type"] == "ignore"'
tacit verify street.json
check 'and is what it says' grep -q 'the figures agree' .out

# ---- refused before anything is charged or written ----
refused() { # NAME CODE REGEX ARGS...
  local name=$1 code=$2 regex=$3
  shift 3
  rm -f x.json
  bad "$name" "$code" "$regex" train "$@" -o x.json
  check "$name: no model" test ! -e x.json
}
refused 'open columns without an estimate' 2 'add --estimate' t.csv --schema open.json "${settings[@]}"
refused 'nothing to estimate' 2 'leave --estimate away' t.csv --schema full.json "${settings[@]}" --estimate bounds
refused 'another estimate' 2 'and of nothing else' t.csv --schema open.json "${settings[@]}" --estimate scales
refused 'a share of nothing' 2 'budget_fraction' t.csv --schema open.json "${settings[@]}" --estimate bounds:share=0
refused 'an option that there is not' 2 "no option 'grid'" t.csv --schema open.json "${settings[@]}" --estimate bounds:grid=3
refused 'delta 0' 2 'delta above 0' t.csv --schema open.json --loss logistic --epsilon 1 --delta 0 --estimate bounds
refused 'no privacy' 2 'private run' t.csv --schema open.json --loss logistic --epsilon inf --delta 1e-6 --estimate bounds
refused 'bounds and an estimate' 3 'remove one of the two' r.csv --schema both.json --label y "${settings[@]}" --estimate bounds
refused 'a missing rule' 3 'takes no missing value' r.csv --schema missing.json --label y "${settings[@]}" --estimate bounds
refused 'a missing cell' 3 'gap.csv:9:2: a value is missing' gap.csv --label y "${settings[@]}" --estimate bounds
refused 'a text without a schema' 3 'decimal number' t.csv --label y "${settings[@]}" --estimate bounds
refused 'another scale' 2 'leave --scale away' r.csv --label y --loss squared --epsilon 1 --delta 1e-6 --scale max-abs --estimate bounds
printf '1 1:1\n-1 1:2\n' >t.libsvm
refused 'columns without names' 2 'named columns' t.libsvm --cols 1 "${settings[@]}" --estimate bounds
finish
