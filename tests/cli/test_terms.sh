#!/usr/bin/env bash
# test_terms.sh - a schema with terms on every door: the same features, the raw table predicted, weights on its scale.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
random.seed(4)
columns = [
    {"name": "age", "type": "number", "lower": 18, "upper": 90},
    {"name": "alb", "type": "number", "lower": 0, "upper": 7, "missing": "indicator"},
    {"name": "work", "type": "category", "values": ["farm", "shop", "desk"], "reference": "shop", "missing": "indicator"},
    {"name": "who", "type": "ignore"},
]
terms = ["age", "alb", "work", {"product": ["age", "work"]}, {"product": ["alb", "work"], "share": 0.5}]
curve = {"of": "alb", "as": "spline", "kind": "natural", "knots": [2, 3.5, 5]}
ratio = {"of": ["alb", {"of": "age", "as": "sqrt"}], "as": "ratio", "name": "r"}
more = ["work", curve, {"of": "age", "as": "power", "degree": 3}, ratio, {"of": "age", "as": "cut", "breaks": [30, 65]},
        {"product": [{"of": "alb", "as": "log1p"}, "work"]}, {"product": [curve, "work"], "share": 0.25}]
schema = {"version": 2, "columns": columns, "terms": terms, "label": {"name": "y", "values": ["0", "1"], "positive": "1"}}
json.dump(schema, open("s.json", "w"))
json.dump({**schema, "terms": more}, open("curves.json", "w"))
json.dump({**schema, "columns": columns[:3] + [{**columns[3], "type": "number", "estimate": True}]}, open("open.json", "w"))
rows = []
for i in range(4000):
    age, alb = random.uniform(10, 95), None if random.random() < .3 else round(random.uniform(-1, 9), 3)
    work = random.choice(["farm", "shop", "desk", None])
    y = int(random.random() < (.7 if alb is None or work == "farm" else .2 + age / 200))
    rows.append({"who": i, "work": work, "y": y, "alb": alb, "age": age})
with open("t.csv", "w") as csv, open("t.jsonl", "w") as jsonl:
    print(*rows[0], sep=",", file=csv)
    for row in rows:
        print(*("" if v is None else repr(v) if isinstance(v, float) else v for v in row.values()), sep=",", file=csv)
        print(json.dumps({k: v for k, v in row.items() if v is not None or k == "alb"}), file=jsonl)
PY
settings=(--schema s.json --intercept --loss logistic --epsilon 4 --delta 1e-6 --seed 2)
ok 'CSV' train t.csv "${settings[@]}" --errors robust -o m.json
ok 'JSON Lines' train t.jsonl "${settings[@]}" --errors robust -o j.json
check 'the same model' cmp m.json j.json
ok 'three threads' train t.csv "${settings[@]}" --errors robust --threads 3 -o j3.json
check 'the same model' cmp m.json j3.json
ok 'verified' verify m.json
check 'by its terms' grep -q '^ok *terms' .out
ok 'raw rows' predict m.json t.csv
cp .out csv.out
ok 'as JSON Lines' predict m.json t.jsonl
check 'the same predictions' cmp .out csv.out
ok 'the plan without data' train --dry-run --records 4000 "${settings[@]}" --json
cp .out plan.json
ok 'summary' summary m.json --json
cp .out summary.json
ok 'report' report m.json -o r.html
check 'the report names the terms' grep -q 'times' r.html
check 'and marked gaps' grep -q 'missing values have a feature of their own' r.html
ok 'a schema is looked at' schema --check s.json --json
cp .out check.json

# By hand: margins from the weights on the original scale, and from the model's own.
cases=$((cases + 1))
python3 - <<'PY' || fail 'weights, predictions and the plan contradict one another'
import csv, json, math
model, summary, plan, look = (json.load(open(n)) for n in ("m.json", "summary.json", "plan.json", "check.json"))
assert look["names"] == model["features"] and len(look["names"]) == 15, look["names"]
assert math.isclose(look["row_norm"] ** 2, 4.25) and math.isclose(model["transforms"]["row_norm"] ** 2, 5.25)
assert plan["fits"][0]["asked"]["row_norm"] == model["transforms"]["row_norm"]
weights = {line["name"]: line["estimate"] for line in summary["weights"]}
parts = {line["name"]: line["parts"] for line in summary["weights"]}
assert parts["age:work=(missing)"] == [{"column": "age"}, {"column": "work", "value": "(missing)"}], parts
rows = list(csv.DictReader(open("t.csv")))
said = [float(line.split(",")[0]) for line in open("csv.out")]
assert len(said) == len(rows)
for row, margin in zip(rows, said):
    age = min(max(float(row["age"]), 18), 90)
    alb = min(max(float(row["alb"]), 0), 7) if row["alb"] else 3.5
    value = {"age": age, "alb": alb, "alb=(missing)": float(not row["alb"])}
    value["work=" + (row["work"] or "(missing)")] = 1
    total = summary["intercept"]["estimate"]
    for name, weight in weights.items():
        total += weight * math.prod(value.get(part, 0) for part in name.split(":"))
    assert abs(total - margin) < 1e-9, (total, margin, row)
assert any(line["standard_error"] for line in summary["weights"])
PY

# by_every_door NAME TABLE OPTION ... : CSV and JSON Lines give one model NAME.json, which verifies, predicts raw rows of both
# alike (NAME.out), and has a summary (NAME.summary) and a report (NAME.html).
by_every_door() {
  local name=$1 table=$2
  shift 2
  ok "$name" train "$table.csv" "$@" -o "$name.json"
  ok "$name in JSON Lines" train "$table.jsonl" "$@" -o "$name.other"
  check 'the same model' cmp "$name.json" "$name.other"
  ok "$name verified" verify "$name.json"
  ok 'raw rows' predict "$name.json" "$table.csv"
  cp .out "$name.out"
  ok 'raw rows in JSON Lines' predict "$name.json" "$table.jsonl"
  check 'the same predictions' cmp .out "$name.out"
  ok "summary of $name" summary "$name.json" --json
  cp .out "$name.summary"
  ok "report of $name" report "$name.json" -o "$name.html"
}
by_every_door curved t --schema curves.json "${settings[@]:2}"
check 'the report names the curve' grep -q 'spline' curved.html
cases=$((cases + 1))
python3 - <<'PY' || fail 'raw weights of curves do not give the predictions'
import csv, json, math
summary = json.load(open("curved.summary"))
weights = {line["name"]: line["estimate"] for line in summary["weights"]}
assert {"age", "age^2", "age^3", "r", "ns(alb)1", "ns(alb)4", "cut(age)=(30, 65]", "log1p(alb):work=farm"} <= set(weights), weights
assert not any(name.startswith("r=") or name == "log1p(alb)=(missing)" for name in weights), weights
# Two records that differ in age alone: splines and products drop out.
ages = [(40, 31), (60, 64.5), (75, 89)]
with open("two.csv", "w") as out:
    print("who,work,y,alb,age", *(f"1,shop,0,,{age}" for pair in ages for age in pair), sep="\n", file=out)
json.dump([[sum(weights["age" + power] * age ** k for k, power in ((1, ""), (2, "^2"), (3, "^3"))) for age in pair] for pair in ages],
          open("wanted.json", "w"))
PY
ok 'two records' predict curved.json two.csv
check 'differ by the raw powers' python3 -c '
import json
told = [float(line.split(",")[0]) for line in open(".out")]
wanted = json.load(open("wanted.json"))
assert all(abs((told[2 * k] - told[2 * k + 1]) - (a - b)) < 1e-8 for k, (a, b) in enumerate(wanted)), (told, wanted)'

# A malformed record stays in the table, and adds nothing: not the middle of its columns, and no intercept.
{ cat t.csv && echo 9999,farm,1,text,40; } >malformed.csv
exactly() { ok "$1" train "$2" --schema s.json --intercept --loss logistic --solver lbfgs --invalid zero -o "$3"; }
exactly 'all records' t.csv whole.json
exactly 'and a malformed one' malformed.csv zero.json
check 'have one minimum' python3 -c '
import json
a, b = (json.load(open(name)) for name in ("whole.json", "zero.json"))
assert b["rows"] == a["rows"] + 1 and a["coefficients"]
gaps = [abs(x - y) for x, y in zip([*a["coefficients"], a["intercept"]], [*b["coefficients"], b["intercept"]])]
assert max(gaps) < 1e-5, gaps'

# Dates: CSV, JSON Lines, and a table without a date column is refused.
cases=$((cases + 1))
python3 - <<'PY' || fail 'no table of dates'
import datetime, json, random
random.seed(6)
day = lambda a, b: datetime.date.fromordinal(random.randint(a.toordinal(), b.toordinal())).isoformat()
date = datetime.date
columns = [{"name": "seen", "type": "date", "lower": "2015-01-01", "upper": "2024-12-31"},
           {"name": "born", "type": "date", "lower": "1920-01-01", "upper": "2006-12-31", "missing": "indicator"}]
terms = [{"of": ["seen", "born"], "as": "years_between", "lower": 18, "upper": 100, "name": "age"},
         {"of": "seen", "as": "month"}, {"of": "seen", "as": "year"}, {"product": ["age", {"of": "seen", "as": "quarter"}]}]
json.dump({"version": 2, "columns": columns, "terms": terms, "label": {"name": "y", "lower": 0, "upper": 1}}, open("d.json", "w"))
with open("d.csv", "w") as csv, open("d.jsonl", "w") as jsonl:
    print("born,y,seen", file=csv)
    for i in range(500):
        born = None if i % 5 == 0 else day(date(1910, 1, 1), date(2010, 1, 1))
        row = {"born": born, "y": i % 7 / 7, "seen": day(date(2014, 6, 1), date(2025, 3, 1))}
        print(born or "", row["y"], row["seen"] + (" 12:30:00" if i % 2 else ""), sep=",", file=csv)
        print(json.dumps(row), file=jsonl)
PY
by_every_door dates d --schema d.json --loss squared --intercept --epsilon 2 --delta 1e-6 --seed 3
check 'names months' grep -q '"month(seen)=12"' dates.summary
check 'and products of named parts' grep -q '"age:quarter(seen)=4"' dates.summary
check 'the report has bounds of dates' grep -q '2006-12-31' dates.html
ok 'a schema of dates is looked at' schema --check d.json
echo '{"born": "2000-01-01", "y": 1, "seen": 20200101}' >number.jsonl
bad 'a number for a date' 3 'no date' predict dates.json number.jsonl

# An edited schema makes other features.
cases=$((cases + 1))
python3 - <<'PY'
import json
m = json.load(open("m.json"))
terms = m["transforms"]["schema"]["terms"]
terms[0], terms[1] = terms[1], terms[0]
json.dump(m, open("edited.json", "w"))
PY
tacit verify edited.json
check 'terms in another order' test "$code" != 0
check 'named' grep -q 'makes other features' .out .err

head -5 t.csv | sed 's/,farm,\|,shop,\|,desk,/,mine,/' >unseen.csv
bad 'an unseen level' 3 'not in the schema' predict m.json unseen.csv
cut -d, -f1-4 t.csv >less.csv
bad 'a column that is not there' 3 'no column "age"' predict m.json less.csv
bad 'bounds to be estimated' 3 'version 2 has the bounds' train t.csv "${settings[@]:2}" --schema open.json --estimate bounds -o x.json
check 'no model' test ! -e x.json

# From a raw table with gaps, dates and numbers of persons to a verified model, by the commands alone.
cases=$((cases + 1))
python3 - <<'PY' || fail 'no raw table'
import datetime, math, random
random.seed(9)
day = datetime.date.fromordinal
with open("raw.csv", "w") as out:
    print("patient_nbr,seen,born,alb,ward,back", file=out)
    for i in range(9000):
        seen, age, alb = random.randint(737000, 737700), random.uniform(20, 90), random.gauss(4, 0.8)
        gap, ward = random.random() < (0.5 if alb < 3.5 else 0.1), random.choice(["north", "south", "west"])
        margin = (age - 55) / 12 - 1.5 * (alb - 4) + (2 if ward == "west" else 0) - 0.5
        print(100000 + i // 2 * 7, day(seen), day(int(seen - 365.25 * age)), "" if gap else round(alb, 2), ward,
              int(random.random() < 1 / (1 + math.exp(-2 * margin))), sep=",", file=out)
PY
ok 'a draft' schema raw.csv --label back -o draft.json
python3 - <<'PY' || fail 'the draft does not know dates, gaps and persons'
import json
s = json.load(open("draft.json"))
column = {each["name"]: each for each in s["columns"]}
assert column["patient_nbr"]["type"] == "ignore" and "person" in column["patient_nbr"]["comment"], column
assert column["alb"]["missing"] == "indicator" and column["born"]["type"] == "date", column
# The review: what is known without the data, and the age that two dates make.
del s["not_private"]
column["alb"].update(lower=1, upper=7)
column["born"].update(lower="1920-01-01", upper="2006-12-31")
s["terms"][:2] = [{"of": ["seen", "born"], "as": "years_between", "lower": 18, "upper": 100, "name": "age"}]
json.dump(s, open("reviewed.json", "w"))
PY
ok 'reviewed' schema --check reviewed.json
ok 'a model of persons' train raw.csv --schema reviewed.json --loss logistic --intercept --person patient_nbr \
  --rows-per-person 2 --epsilon 1 --delta 1e-6 --seed 1 -o persons.json
ok 'verified' verify persons.json
ok 'its AUC' evaluate persons.json raw.csv --json
check 'at least .94 (.950 exact)' python3 -c 'import json; assert json.load(open(".out"))["auc"] >= 0.94'

# Gaps: support2 has them in 16 of these 18 columns.  By the schema alone, at epsilon 1.
if [ -e "$data/support2.csv.xz" ]; then
  python3 - <<'PY'
import json
bounds = {
    "age": (18, 100), "num.co": (0, 9), "scoma": (0, 100), "meanbp": (0, 200), "hrt": (0, 250),
    "resp": (0, 80), "temp": (32, 42), "pafi": (0, 700), "alb": (0, 7), "bili": (0, 30), "crea": (0, 10),
    "sod": (110, 180), "ph": (6.8, 7.8), "glucose": (0, 600), "bun": (0, 150), "urine": (0, 5000),
    "adlp": (0, 7), "adls": (0, 7),
}
columns = [
    {"name": name, "type": "number", "lower": low, "upper": high, "missing": "indicator"}
    for name, (low, high) in bounds.items()
]
ignored = """death sex slos d.time dzgroup dzclass edu income charges totcst totmcst avtisst race sps aps surv2m surv6m hday
diabetes dementia ca prg2m prg6m dnr dnrday wblc sfdm2 adlsc""".split()
columns += [{"name": name, "type": "ignore"} for name in ignored]
label = {"name": "hospdead", "values": ["0", "1"], "positive": "1"}
json.dump({"version": 2, "columns": columns, "label": label}, open("support2.json", "w"))
PY
  for seed in 1 2 3; do
    ok 'support2' train "$data/support2.csv.xz" --schema support2.json --intercept --loss logistic --epsilon 1 --delta 1e-6 \
      --seed "$seed" -o "s$seed.json"
    ok 'its AUC' evaluate "s$seed.json" "$data/support2.csv.xz" --json
    check 'at least .80' python3 -c 'import json; assert json.load(open(".out"))["auc"] >= 0.8'
  done
else
  echo "skipped: no data (support2)"
fi

if command -v mpirun >/dev/null && [ -e "$(dirname "$TACIT")/libtacit_mpi.so" ]; then
  . "$here/ranks.sh"
  ok 'one rank' train t.csv "${settings[@]}" -o one.json
  ranks 3 train t.csv "${settings[@]}" -o three.json
  check 'three ranks' test "$code" = 0
  check 'make the same model' cmp one.json three.json
fi
finish
