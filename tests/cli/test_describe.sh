#!/usr/bin/env bash
# test_describe.sh - tacit describe: one charge, figures as the table has them, each way to print, each edit, each mistake.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
draw = random.Random(1)
with open("people.csv", "w") as out:
    out.write("age,bmi,pay,sex,region,day,id\n")
    for row in range(4000):
        age, bmi, sex = draw.randint(18, 80), draw.gauss(26, 4), draw.choice("fm")
        pay = 900 + 20 * age - 12 * bmi + draw.gauss(0, 200)
        bmi = "" if draw.random() < 0.1 else f"{bmi:.2f}"
        out.write(f"{age},{bmi},{pay:.1f},{draw.choice([sex, sex, sex, '?'])},{draw.choice('nnnswe')},2024-01-{row % 28 + 1:02},p{row // 3}\n")
def number(name, lower, upper):
    return dict(name=name, type="number", lower=lower, upper=upper)
rest = [dict(name="sex", type="category", values=["f", "m"], missing="f"),
        dict(name="region", type="category", values=list("nsw"), other="zero", drop_first=True)]
known = [number("age", 18, 82), {**number("bmi", 10, 45), "missing": 26}, *rest,
         *[dict(name=name, type="ignore") for name in ("day", "id")]]
schema = dict(missing_values=["?"])
json.dump(dict(schema, columns=known, label=dict(name="pay", lower=0, upper=4000)), open("s.json", "w"))
json.dump(dict(schema, columns=known, label=dict(name="pay")), open("bare.json", "w"))
json.dump(dict(columns=[dict(name="pay", type="ignore")], label=dict(name="sex")), open("none.json", "w"))
left = [dict(name="age", type="number", estimate=True), known[1], number("pay", 0, 4000), rest[0],
        dict(name="region", type="category", estimate=True), *known[4:]]
json.dump(dict(schema, columns=left), open("open.json", "w"))
dates = [dict(name="day", type="date", lower="2024-01-01", upper="2024-12-31"), number("age", 18, 82), *[
    dict(name=name, type="ignore") for name in ("bmi", "pay", "sex", "region", "id")]]
json.dump(dict(schema, version=2, columns=dates, terms=["age"]), open("terms.json", "w"))
table = dict(name="the table", kind="describe")
json.dump(dict(epsilon=4, delta=1e-6, held=0.2, stages=[
    {**table, "part": "train", "cross": [["sex", "region"]], "budget_fraction": 0.2},
    dict(name="pay", kind="fit", label="pay", loss="squared"), dict(name="all", kind="moments"),
    {**table, "name": "few", "features": ["age", "pay"], "sampling": False}]), open("more.plan.json", "w"))
PY
budget=(--epsilon 4 --delta 1e-6)

ok 'a plan without data' describe --schema s.json "${budget[@]}" --dry-run --records 4000
says 'one release' 'gaussian:noise='
ok 'a ledger' ledger L --init --epsilon 100 --delta 1e-3
ok 'a release' describe people.csv --schema s.json "${budget[@]}" --cross sex,region --ledger L -o t.json
says 'a mean' 'mean +4[89]'
says 'a count' 'n +count'
ok 'verified' verify t.json --ledger L
says 'its verdict' '^verified: epsilon 4 at delta 1e-06, add_remove'
ok 'one row' ledger L --json
check 'of the ledger' python3 -c 'import json; assert len(json.load(open(".out"))["runs"]) == 1'
ok 'seeded' describe people.csv --schema s.json "${budget[@]}" --seed 3 --threads 1 -o a.json
ok 'and again' describe people.csv --schema s.json "${budget[@]}" --seed 3 --threads 2 -o b.json
check 'the same bytes' cmp a.json b.json
ok 'replaced' describe people.csv --schema s.json "${budget[@]}" --neighbours replace_one -o replaced.json
ok 'verified, replaced' verify replaced.json
ok 'persons' describe people.csv --schema s.json "${budget[@]}" --person id --rows-per-person 2 --json -o persons.json
check 'are counted' python3 -c '
import json
own = json.load(open(".out"))
assert own["persons"] and abs(own["records"]["value"] - 1334) < 60, own["records"]
assert abs(own["columns"][0]["mean"]["value"] - 49) < 4'
ok 'verified, persons' verify persons.json
ok 'bounds first' describe people.csv --schema open.json --estimate bounds,categories "${budget[@]}" --ledger L --input-changed 'x' -o open.study.json
says 'a mean under estimated bounds' 'mean +[45][0-9]'
ok 'verified, bounds first' verify open.study.json --ledger L
ok 'beside others' study people.csv --plan more.plan.json --schema s.json --ledger L --input-changed 'x' -o more.json
ok 'verified, beside others' verify more.json --ledger L
ok 'dates' describe people.csv --schema terms.json "${budget[@]}" -o dates.json
says 'are left out' 'Left out, since it holds dates: day'

# Each way to print, of the file alone.
ok 'again' describe --from t.json
cp .out again.txt
ok 'as lines' describe --from t.json --csv
cp .out t.csv
ok 'as a page' describe --from t.json --html
cp .out t.html
ok 'as JSON' describe --from t.json --json
cp .out t.table.json
ok 'a stage by its name' describe --from more.json --stage few --csv
check 'of two columns' python3 -c '
import csv
assert {row["column"] for row in csv.DictReader(open(".out"))} == {"age", "pay"}'
check 'every line once' python3 - <<'PY'
import csv, html.parser, json
table, lines = json.load(open("t.table.json")), list(csv.DictReader(open("t.csv")))
assert len({tuple(row[k] for k in ("column", "level", "figure")) for row in lines}) == len(lines)
assert lines[2]["figure"] == "mean" and float(lines[2]["value"]) == float("%.9g" % table["columns"][0]["mean"]["value"])
class Page(html.parser.HTMLParser):
    rows = 0
    def handle_starttag(self, tag, attrs):
        self.rows += tag == "tr"
page = Page()
page.feed(open("t.html").read())
assert page.rows == len(lines) + 1
PY

# Hardly any noise: what the table has.
sed -i '7s/.*/x,y/' people.csv
bad 'a malformed record' 3 'people.csv:7' describe people.csv --schema s.json --epsilon 1e6 --delta 1e-6 -o no.json
ok 'left out' describe people.csv --schema s.json --epsilon 1e6 --delta 1e-6 --invalid zero --cross region,sex --this-table --json -o exact.json
cp .out exact.table.json
check 'figures as the table has them' python3 - <<'PY'
import csv, json, statistics
rows = [r for i, r in enumerate(csv.DictReader(open("people.csv"))) if i != 5]
table = json.load(open("exact.table.json"))
columns = {c["name"]: c for c in table["columns"]}
assert list(columns) == ["age", "bmi", "sex", "region", "pay"], list(columns)
def near(a, b, scale):
    assert abs(a - b) <= scale, (a, b, scale)
for name, low, high in (("age", 18, 82), ("bmi", 10, 45), ("pay", 0, 4000)):
    own = [min(max(float(r[name]), low), high) for r in rows if r[name]]
    said = columns[name]
    near(said["missing"]["value"], 1 - (len(own) + 1) / 4000, 1e-4) # the record that was left out is of the number
    near(said["told"]["value"], len(own) + 1, 0.5)
    near(said["mean"]["value"], statistics.fmean(own) * len(own) / (len(own) + 1), (high - low) * 3e-4)
    near(said["deviation"]["value"], statistics.pstdev(own), (high - low) * 3e-3)
    for q in said["quantiles"]:
        at, v = q["at"], q["value"]
        assert sum(x < v for x in own) / len(own) - 0.003 <= at <= sum(x <= v for x in own) / len(own) + 0.003, (name, q)
        assert q["lower"] <= v <= q["upper"]
        assert name != "age" or v == round(v), q
def level(r, name):
    return "(missing)" if r[name] == "?" else r[name] if r[name] in {"sex": "fm", "region": "nsw"}[name] else "(other)"
for name in ("sex", "region"):
    for each in columns[name]["levels"]:
        exact = sum(level(r, name) == each["name"] for r in rows)
        near(each["count"]["value"], exact, 0.3)
        assert not (exact and each["small"]) and (exact or each["small"] or each["count"]["value"] > 1.9 * each["count"]["noise"])
    near(columns[name]["missing"]["value"], sum(r[name] == "?" for r in rows) / 4000, 1e-4)
(cross,) = table["cross"]
assert cross["of"] == ["region", "sex"] and cross["columns"] == ["f", "m", "(other)", "(missing)"]
for i, a in enumerate(cross["rows"]):
    for j, b in enumerate(cross["columns"]):
        near(cross["cells"][i][j]["count"]["value"], sum(level(r, "region") == a and level(r, "sex") == b for r in rows), 0.3)
PY

# Mistakes: one sentence each, no file, no row in the ledger.
"$TACIT" ledger M --init --epsilon 100 --delta 1e-3 >/dev/null
mistake() { # CODE WORDS ARGS... : of describe, in place of what is usual
  local code=$1 words=$2
  shift 2
  merge people.csv --schema s.json "${budget[@]}" --invalid zero --ledger M -o no.json "$@"
  bad "$words" "$code" "$words" describe "${merged[@]}"
}
bad 'no data' 2 'DATA is missing' describe --schema s.json "${budget[@]}" -o no.json
bad 'no output' 2 '-o is missing' describe people.csv --schema s.json "${budget[@]}"
bad 'no schema' 2 '--schema' describe people.csv "${budget[@]}" -o no.json
bad 'no epsilon' 2 'epsilon' describe people.csv --schema s.json --delta 1e-6 -o no.json
bad 'no delta' 2 'delta' describe people.csv --schema s.json --epsilon 1 -o no.json
bad 'two forms' 2 'name one of them' describe --from t.json --html --csv
bad 'a file and data' 2 'leave DATA' describe people.csv --from t.json
bad 'no description' 2 'no description' describe --from more.json --stage pay
bad 'no file' 3 'no readable file' describe --from nothing.json
mistake 2 'leave --label away' --label pay
mistake 2 'epsilon' --epsilon inf
mistake 2 'delta' --delta 1
mistake 2 'belong together' --person id
mistake 2 'no column "zz"' --features zz
mistake 2 'twice' --features age,age
mistake 2 'even number' --cross sex
mistake 2 'empty name' --cross sex,,region
mistake 2 'two different columns of categories' --cross sex,sex
mistake 2 'two different columns of categories' --cross sex,age
mistake 2 'asked for twice' --cross sex,region,region,sex
mistake 2 'neither bounds nor values' --schema bare.json
mistake 3 'no column is a feature' --schema none.json
mistake 2 'put a stage of the kind estimate before' --schema open.json
mistake 2 'leave {estimate} away|leave --estimate away|nothing to estimate' --estimate bounds
mistake 2 'read or written by this run already' -o s.json
mistake 2 '--memory' --memory 1M
mistake 4 'budget' --epsilon 1000
check 'no file was made' test ! -e no.json
check 'no row either' test "$("$TACIT" ledger M --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" = 0

library=$(dirname "$TACIT")/libtacit.so
if ! grep -q __asan_init "$library"; then
  cases=$((cases + 1))
  python3 "$here/study_edits.py" "$library" L t.json open.study.json more.json || fail 'an edit of a description went unseen'
fi
finish
