#!/usr/bin/env bash
# test_moments.sh - tacit moments and tacit lm: one charge, models as least squares has them, each edit, each mistake.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
draw = random.Random(1)
with open("people.csv", "w") as out:
    out.write("age,bmi,pay,sex,region,id\n")
    for row in range(4000):
        age, bmi, sex = draw.uniform(18, 80), draw.gauss(26, 4), draw.choice("fm")
        pay = 900 + 20 * age - 12 * bmi + 150 * (sex == "m") + draw.gauss(0, 200)
        out.write(f"{age:.2f},{bmi:.2f},{pay:.1f},{sex},{draw.choice('nsw')},p{row // 3}\n")
def number(name, lower, upper):
    return dict(name=name, type="number", lower=lower, upper=upper)
rest = [dict(name="sex", type="category", values=["f", "m"]), dict(name="region", type="category", values=list("nsw"))]
known = [number("age", 18, 80), number("bmi", 10, 45), *rest, dict(name="id", type="ignore")]
json.dump(dict(columns=known, label=dict(name="pay", lower=0, upper=4000)), open("s.json", "w"))
json.dump(dict(columns=known, label=dict(name="pay")), open("bare.json", "w"))
left = [dict(name="age", type="number", estimate=True), number("bmi", 10, 45), number("pay", 0, 4000), *known[2:]]
json.dump(dict(columns=left), open("open.json", "w"))
terms = dict(version=2, columns=[number("age", 18, 80)], terms=["age"])
json.dump(terms, open("terms.json", "w"))
moments = dict(name="all of it", kind="moments")
json.dump(dict(epsilon=4, delta=1e-6, stages=[dict(name="bounds", kind="estimate"), moments]), open("open.plan.json", "w"))
json.dump(dict(epsilon=4, delta=1e-6, held=0.2, stages=[
    {**moments, "part": "train"}, dict(name="pay", kind="fit", label="pay", loss="squared"),
    dict(name="few", kind="moments", features=["age", "pay"], budget_fraction=0.3)]), open("more.plan.json", "w"))
PY
budget=(--epsilon 4 --delta 1e-6)

ok 'a plan without data' moments --schema s.json "${budget[@]}" --dry-run --records 4000
says 'both releases' 'gaussian:noise='
ok 'a ledger' ledger L --init --epsilon 100 --delta 1e-3
ok 'a release' moments people.csv --schema s.json "${budget[@]}" --ledger L -o m.json
ok 'verified' verify m.json --ledger L
says 'its verdict' '^verified: epsilon 4 at delta 1e-06, add_remove'
ok 'one row' ledger L --json
check 'of the ledger' python3 -c 'import json; assert len(json.load(open(".out"))["runs"]) == 1'
ok 'seeded' moments people.csv --schema s.json "${budget[@]}" --seed 3 --threads 1 -o a.json
ok 'and again' moments people.csv --schema s.json "${budget[@]}" --seed 3 --threads 2 -o b.json
check 'the same bytes' cmp a.json b.json
ok 'replaced' moments people.csv --schema s.json "${budget[@]}" --neighbours replace_one -o replaced.json
ok 'verified, replaced' verify replaced.json
ok 'persons' moments people.csv --schema s.json "${budget[@]}" --person id --rows-per-person 2 -o persons.json
ok 'verified, persons' verify persons.json
check 'told as theirs' python3 -c 'import json; assert [json.load(open(f))["stages"][0]["moments"]["persons"] for f in ("m.json", "persons.json")] == [False, True]'
ok 'robust errors' moments people.csv --schema s.json "${budget[@]}" --features age,pay --errors robust --ledger L --input-changed x -o robust.json
ok 'verified, robust' verify robust.json --ledger L
ok 'robust in words' lm robust.json --label pay
says 'its form' 'robust: whatever the residuals are'
ok 'robust, replaced' moments people.csv --schema s.json "${budget[@]}" --features age,pay --errors robust --neighbours replace_one --person id --rows-per-person 2 -o robust.persons.json
ok 'verified, robust, replaced' verify robust.persons.json
ok 'bounds first' study people.csv --plan open.plan.json --schema open.json --ledger L --input-changed 'x' -o open.study.json
ok 'verified, bounds first' verify open.study.json --ledger L
ok 'beside others' study people.csv --plan more.plan.json --schema s.json --ledger L --input-changed 'x' -o more.json
ok 'verified, beside others' verify more.json --ledger L
ok 'a stage by its name' lm more.json --stage few --label pay

# Hardly any noise: what least squares has, on the scale of the columns.
sed -i '7s/.*/x,y/' people.csv
bad 'a malformed record' 3 'people.csv:7' moments people.csv --schema s.json --epsilon 1e6 --delta 1e-6 -o no.json
ok 'left out' moments people.csv --schema s.json --epsilon 1e6 --delta 1e-6 --invalid zero --seed 1 -o exact.json
ok 'the table' lm exact.json --json
cp .out table.json
ok 'in words' lm exact.json
says 'a mean' '^ *age +mean 4[0-9]'
ok 'a model' lm exact.json --label pay --ridge auto --best 3 --without sex,region --covariance --json
cp .out pay.json
ok 'by part' lm exact.json --label pay --features age,sex=m --json
cp .out part.json
ok 'two models' lm exact.json --label pay --features age,bmi,sex --beside age,bmi --json
cp .out two.json
ok 'two outcomes in words' lm exact.json --label pay --features age --beside age --beside-label bmi --covariance
says 'how they differ' '^slopes of the first model less'
says 'what they share' '^covariance of both'
ok 'an indicator as outcome' lm exact.json --label sex=m --features pay
ok 'in words' lm m.json --label pay --best 2 --without bmi --ridge 0.01
says 'its R2' '^ *R2 +0\.'
cases=$((cases + 1))
/usr/bin/python3 - <<'PY' || fail 'a model is not that of least squares'
import csv, json, math
try:
    import numpy as np
except ImportError:
    print("skipped: no numpy, so models are not compared with least squares")
    raise SystemExit
rows = [r for i, r in enumerate(csv.DictReader(open("people.csv"))) if i != 5]
pay, age, bmi = (np.array([float(r[k]) for r in rows]) for k in ("pay", "age", "bmi"))
bmi = np.clip(bmi, 10, 45)
has = lambda key, value: np.array([r[key] == value for r in rows], float)
columns = {"age": age, "bmi": bmi, "sex=m": has("sex", "m"), "region=s": has("region", "s"), "region=w": has("region", "w")}
def near(a, b, scale):
    assert abs(a - b) <= scale, (a, b, scale)
def fit(names):
    x = np.column_stack([columns[n] for n in names] + [np.ones(len(pay))])
    w = np.linalg.lstsq(x, pay, rcond=None)[0]
    left = pay - x @ w
    return w, np.linalg.inv(x.T @ x) * (left @ left) / (len(pay) - len(w)), 1 - left @ left / ((pay - pay.mean()) ** 2).sum()
for file, names in (("pay.json", list(columns)), ("part.json", ["age", "sex=m"])):
    said = json.load(open(file))
    w, cov, r2 = fit(names)
    found = {line["name"]: line for line in said["weights"] + [said["intercept"]]}
    assert set(found) == {*names, "(intercept)"}, found
    near(said["r2"], r2, 1e-3), near(said["counted"], len(pay), 40)
    for k, name in enumerate([*names, "(intercept)"]):
        line, error = found[name], math.sqrt(cov[k, k])
        near(line["estimate"], w[k], 0.3 * error), near(line["standard_error"] / error, 1, 0.12)
        assert line["lower"] < line["estimate"] < line["upper"] and line["noise_error"] < 0.3 * error
    assert said["errors"] == "elliptic"
said = json.load(open("pay.json"))
assert said["best"][0]["features"] == ["age"] and set(said["best"][2]["features"]) == {"age", "bmi", "sex=m"}, said["best"]
assert said["comparison"]["degrees"] == 3 and said["comparison"]["p_value"] < 1e-12, said["comparison"]
names, cov = said["covariance"]["names"], said["covariance"]["population"]
line = next(each for each in said["weights"] if each["name"] == "age")
near(math.sqrt(cov[names.index("age")][names.index("age")]) / line["standard_error"], 1, 1e-9)
near(line["vif"], 1, 0.01)
assert len(said["path"]) > 10 and said["ridge"] == min(said["path"], key=lambda at: at["risk"])["ridge"]
# Two models that share records: the robust covariance of both, which is elliptic here but for the uniform age.
two = json.load(open("two.json"))
def turned(names):
    x = np.column_stack([columns[n] for n in names] + [np.ones(len(pay))])
    w = np.linalg.lstsq(x, pay, rcond=None)[0]
    return x * (pay - x @ w)[:, None] @ np.linalg.inv(x.T @ x), w
(wide, w), (narrow, v) = turned(["age", "bmi", "sex=m"]), turned(["age", "bmi"])
for k, line in enumerate(two["differences"]):
    assert line["name"] == ["age", "bmi"][k] and line["beside"] == 1
    error = np.linalg.norm(wide[:, k] - narrow[:, k])
    near(line["estimate"], w[k] - v[k], error), near(line["standard_error"] / error, 1, 0.15)
    near(line["estimate"], two["weights"][k]["estimate"] - two["beside"][0]["weights"][k]["estimate"], 1e-9 * abs(w[k]))
both, of = np.array(two["joint"]["population"]), two["joint"]["models"]
assert of == [0, 0, 0, 0, 1, 1, 1] and np.allclose(both, both.T) and np.linalg.eigvalsh(both).min() > -1e-9 * np.trace(both)
near(both[0, 4] / math.sqrt(both[0, 0] * both[4, 4]), wide[:, 0] @ narrow[:, 0] / np.linalg.norm(wide[:, 0]) / np.linalg.norm(narrow[:, 0]), 0.05)
table = json.load(open("table.json"))
names = [c["name"] for c in table["columns"]]
assert names == ["age", "bmi", "sex=f", "sex=m", "region=n", "region=s", "region=w", "pay"]
for name, own in (("age", age), ("pay", pay)):
    c = table["columns"][names.index(name)]
    near(c["mean"], own.mean(), 0.02 * own.std()), near(c["deviation"], own.std(), 0.02 * own.std())
    assert c["lower"] < own.mean() < c["upper"]
r = np.corrcoef(pay, age)[0, 1]
at = [table["correlations"][k][names.index("pay")][names.index("age")] for k in ("lower", "value", "upper")]
near(at[1], r, 0.02)
assert at[0] < r < at[2]
PY

# Mistakes: one sentence each, no file, no row in the ledger.
"$TACIT" ledger M --init --epsilon 100 --delta 1e-3 >/dev/null
mistake() { # CODE WORDS ARGS... : of moments, in place of what is usual
  local code=$1 words=$2
  shift 2
  merge people.csv --schema s.json "${budget[@]}" --invalid zero --ledger M -o no.json "$@"
  bad "$words" "$code" "$words" moments "${merged[@]}"
}
export OMPI_COMM_WORLD_SIZE=2
mistake 2 'runs in one process'
unset OMPI_COMM_WORLD_SIZE
bad 'no data' 2 'DATA is missing' moments --schema s.json "${budget[@]}" -o no.json
bad 'no output' 2 '-o is missing' moments people.csv --schema s.json "${budget[@]}"
bad 'no schema' 2 '--schema' moments people.csv "${budget[@]}" -o no.json
bad 'no epsilon' 2 'epsilon' moments people.csv --schema s.json --delta 1e-6 -o no.json
bad 'no delta' 2 'delta' moments people.csv --schema s.json --epsilon 1 -o no.json
mistake 2 'leave --label away' --label pay
mistake 2 'epsilon' --epsilon inf
mistake 2 'epsilon' --epsilon 0
mistake 2 'delta' --delta 1
mistake 2 'belong together' --person id
mistake 2 'belong together' --rows-per-person 2
mistake 2 'no column "zz"' --features zz
mistake 2 'robust errors of 8 columns would be noise' --errors robust --epsilon 0.1
mistake 2 'elliptic|robust' --errors model
mistake 2 'empty name' --features age,,bmi
mistake 2 'twice' --features age,age
mistake 2 'leave the terms out' --schema terms.json
mistake 2 'neither bounds nor values' --schema bare.json
mistake 2 'put a stage of the kind estimate before' --schema open.json
mistake 2 'read or written by this run already' -o s.json
mistake 2 '--memory' --memory 1M
mistake 4 'budget' --epsilon 1000
check 'no file was made' test ! -e no.json
check 'no row either' test "$("$TACIT" ledger M --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" = 0
lm() { # WORDS ARGS...
  local words=$1
  shift
  bad "lm: $words" 2 "$words" lm m.json "$@"
}
lm 'no column "zz"' --label zz
lm 'name one of them as outcome: "sex=f"' --label sex
lm 'the outcome not among the features' --label pay --features pay
lm 'name each column once' --label pay --features age,age
lm 'no column "zz"' --label pay --features zz
lm 'empty name' --label pay --features ,age
lm 'the ridge is a number' --label pay --ridge x
lm 'the ridge is a number' --label pay --ridge -1
lm 'at most all' --label pay --features age --best 2
lm 'among the features' --label pay --features age --without bmi
lm 'a model has an outcome' --features age
lm 'a model has an outcome' --beside age
lm 'name them with --beside' --label pay --beside-label bmi
lm 'the outcome not among the features' --label pay --beside age --beside-label age
lm 'no column "zz"' --label pay --beside zz
lm 'strictly between 0 and 1' --level 1
lm 'none in a stage of this name' --stage zz
bad 'lm of a study with two' 2 'several stages' lm more.json --label pay
bad 'lm of no file' 1 'no.json' lm no.json
echo '{}' >empty.json
bad 'lm of another file' 2 'no moments' lm empty.json
python3 - <<'PY'
import json
study = json.load(open("m.json"))
study["stages"][0]["moments"]["shells"][0].pop()
json.dump(study, open("short.json", "w"))
PY
bad 'lm of a damaged file' 3 'damaged' lm short.json --label pay

# ---- robust errors are of at most 30 columns, and an estimate can find more: then the plan is the other one ----
awk 'BEGIN { print "age,town"; for (i = 0; i < 4000; i++) printf "%d,t%d\n", 18 + i % 60, i % 40 }' >towns.csv
cat >towns.plan.json <<'JSON'
{"epsilon": 20, "delta": 1e-6, "schema": {"columns": [{"name": "age", "type": "number", "lower": 18, "upper": 80}, {"name": "town", "type": "category", "estimate": true}]},
 "stages": [{"name": "lists", "kind": "estimate", "what": "categories"}, {"name": "all", "kind": "moments", "errors": "robust"}, {"name": "age", "kind": "moments", "features": ["age"], "errors": "robust"}]}
JSON
ok 'more columns than robust errors have' study towns.csv --plan towns.plan.json -o towns.json
check 'two releases, and three' python3 -c 'import json; s = json.load(open("towns.json"))["stages"]; assert len(s[1]["moments"]["columns"]) > 30 and [len(x["releases"]) for x in s[1:]] == [2, 3]'
ok 'verified, more columns' verify towns.json
ok 'by the words of lm' lm towns.json --stage all --label age
says 'their form' 'elliptic: equally'
# Its lists can also be of more columns than any moments: the longest is left out.
awk 'BEGIN { print "age,town,street"; for (i = 0; i < 12000; i++) printf "%d,t%d,s%d\n", 18 + i % 60, i % 4, i % 1200 }' >streets.csv
sed 's/"type": "category", "estimate": true}/&, {"name": "street", "type": "category", "estimate": true}/; s/20/200/' towns.plan.json >streets.plan.json
ok 'a list of more columns than moments have' study streets.csv --plan streets.plan.json -o streets.json
check 'is left out' python3 -c 'import json; s = json.load(open("streets.json"))["stages"]; assert len(s[0]["schema"]["columns"][2]["values"]) > 1023 and s[1]["moments"]["columns"][0] == "age" and len(s[1]["moments"]["columns"]) == 5 and not any("ended" in x for x in s)'
ok 'verified without it' verify streets.json

# ---- what no records can have ----
python3 - <<'PY'
import json
for name, key in (("m", "shells"), ("robust", "shells"), ("robust", "fourth")):
    for k, change in enumerate((lambda v: -10 * v, lambda v: 1e3 * v)):
        study = json.load(open(f"{name}.json"))
        moments = study["stages"][0]["moments"]
        moments[key] = [change(v) for v in moments[key]] if key == "fourth" else [[change(v) for v in s] for s in moments[key]]
        json.dump(study, open(f"{name}.{key}.{k}.json", "w"))
PY
for file in m.shells robust.shells robust.fourth; do
  for k in 0 1; do
    tacit verify $file.$k.json
    check "no records' $file" test "$code" = 1
    says 'why' 'its moments are not of the columns'
    bad "nor a model of them" 3 'none that records have' lm $file.$k.json --label pay
  done
done

# ---- room for the file is taken before the charge, and no more than it may need ----
columns() { seq "$1" | sed 's/.*/c&/' | paste -sd,; }
numbers() { echo "{\"columns\": [$(seq "$1" | sed 's/.*/{"name": "c&", "type": "number", "lower": 0, "upper": 1}/' | paste -sd,)${2-}]}"; }
{ columns 29; awk 'BEGIN { for (i = 0; i < 2000; i++) { for (j = 1; j <= 29; j++) printf "%.3f%s", ((i + 7) * j * j * 37 % 101) / 101, j < 29 ? "," : "\n" } }'; } >thirty.csv
numbers 29 >thirty.json
large=(thirty.csv --schema thirty.json --epsilon 50 --delta 1e-6 --errors robust)
ok 'a large file' moments "${large[@]}" -o large.json
ok 'a ledger' ledger room.ledger --init --epsilon 100 --delta 1e-5
small=$(($(stat -c %s large.json) / 1024 - 1))
before=$("$TACIT" ledger room.ledger --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')
check 'that has no room is refused' test "$( (ulimit -f $small; "$TACIT" moments "${large[@]}" --ledger room.ledger -o none.json >/dev/null 2>&1); echo $?)" = 1
check 'before it is charged' test "$("$TACIT" ledger room.ledger --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" = "$before"
{ echo "y,$(columns 150)"; awk 'BEGIN { for (i = 0; i < 600; i++) { printf "%d", i % 2; for (j = 0; j < 150; j++) printf ",%.2f", (i * j % 11) / 11; print "" } }'; } >wide.csv
numbers 150 ', {"name": "y", "type": "category", "values": ["0", "1"]}' >wide.schema.json
cat >wide.plan.json <<JSON
{"epsilon": 50, "delta": 1e-6, "schema": $(cat wide.schema.json), "stages": [
  {"name": "fit", "kind": "fit", "label": "y", "positive": "1", "loss": "logistic"},
  {"name": "two", "kind": "moments", "features": ["c1", "c2"], "errors": "robust"}]}
JSON
check 'and columns of other stages need none' bash -c 'ulimit -f 8000; "$0" study wide.csv --plan wide.plan.json -o wide.json >.out 2>.err || { cat .err; false; }' "$TACIT"

library=$(dirname "$TACIT")/libtacit.so
if ! grep -q __asan_init "$library"; then
  cases=$((cases + 1))
  python3 "$here/study_edits.py" "$library" L m.json open.study.json more.json robust.json || fail 'an edit of moments went unseen'
fi

if [ -e "$data/california.csv.xz" ]; then
  xz -dc "$data/california.csv.xz" >california.csv
  python3 - <<'PY'
import csv, json
rows = [[float(v) for v in row] for row in list(csv.reader(open("california.csv")))[1:]]
names = next(csv.reader(open("california.csv")))
ends = [sorted(c) for c in zip(*rows)] # a test may look at its table for bounds; a user may not
json.dump(dict(columns=[dict(name=n, type="number", lower=c[len(c) // 500], upper=c[-len(c) // 500]) for n, c in zip(names, ends)]),
          open("california.json", "w"))
PY
  ok 'california' moments california.csv --schema california.json --epsilon 4 --delta 1e-6 -o c.json
  ok 'verified, california' verify c.json
  ok 'its outcome' lm c.json --label "$(head -1 california.csv | tr -d '\r' | sed 's/.*,//')" --json
  check 'is explained' python3 -c 'import json; assert 0.5 < json.load(open(".out"))["r2"] < 0.8'
else
  echo 'skipped: no data, so no real table has been tried'
fi
finish
