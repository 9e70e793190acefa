#!/usr/bin/env bash
# test_study.sh - tacit study: what a plan says, one charge, one verdict, each edit of the file, each mistake of a plan.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
draw = random.Random(1)
with open("people.csv", "w") as out:
    out.write("a,b,ill,pay,kind,id,w\n")
    for row in range(900):
        a, b = draw.random(), draw.random()
        out.write(f"{a:.5f},{b:.5f},{int(draw.random() < a)},{100 * a + 50 * b:.3f},{'xyz'[int(2.99 * b)]},p{row // 3},{1 + row % 3}\n")
def column(name, **more):
    return dict(name=name, type="number", **more)
rest = [dict(name="ill", type="ignore"), dict(name="kind", type="category", values=list("xyz")), dict(name="id", type="ignore"),
        dict(name="w", type="ignore")]
known = [column("a", lower=0, upper=1), column("b", lower=0, upper=1), column("pay", lower=0, upper=200)] + rest
left = [column("a", estimate=True), column("b", lower=0, upper=1), column("pay", estimate=True)] + rest
for name, columns in ("known", known), ("open", left):
    json.dump(dict(columns=columns), open(name + ".schema.json", "w"))
def fit(name, label, loss="logistic", **more):
    return dict(name=name, kind="fit", label=label, loss=loss, features=["a", "b"], **more)
def plan(name, *stages, **more):
    json.dump(dict(epsilon=1, delta=1e-6, stages=stages, **more), open(name + ".plan.json", "w"))
bounds, score = dict(name="bounds", kind="estimate"), dict(name="how well", kind="score", of="ill")
plan("open", bounds, fit("ill", "ill"), fit("pay", "pay", "squared"), fit("which", "kind"), score)
plan("held", fit("ill", "ill", part="train", errors="robust"), fit("pay", "pay", "squared", budget_fraction=0.5),
     {**score, "part": "held"}, held=0.2)
plan("reserve", bounds, fit("ill", "ill", solver="objpert", penalty="l2:lambda=0.1"))
plan("persons", fit("ill", "ill"), score, person="id", rows_per_person=2)
plan("replaced", bounds, fit("ill", "ill"), fit("pay", "pay", "squared"), neighbours="replace_one")
plan("divided", fit("ill", "ill", solver="privgene"), fit("pay", "pay", "squared"))
plan("fresh", fit("ill", "ill", solver="dpgd:steps=3"), score, dict(name="all", kind="moments", features=["a", "b"]),
     dict(name="them", kind="describe", features=["a"]))
plan("twice", *(fit(name, "ill", solver="dpgd:steps=3") for name in ("one", "two", "three")))
plan("alone", fit("ill", "ill"))
grid = [dict(penalty="l2:lambda=1e-3"), dict(penalty="l2:lambda=0.1"), dict(solver="dpgd:steps=5", rows_rule="unit")]
def choose(name, label, **more):
    return fit(name, label, candidates=grid, **more) | dict(kind="choose")
plan("chosen", choose("ill", "ill", tries=5, part="train"), fit("pay", "pay", "squared"), {**score, "part": "held"}, held=0.2)
plan("chosen_all", bounds, choose("which", "kind", selection="all"), score | dict(of="which"))
plan("chosen_person", choose("ill", "ill", tries=5), score, person="id", rows_per_person=2)
plan("one_choice", choose("ill", "ill", tries=5))
json.dump(grid, open("grid.json", "w"))
plan("lists", dict(name="bounds", kind="estimate", what="bounds,categories"), fit("ill", "ill"),
     dict(name="pay", kind="fit", label="pay", loss="squared"))
lists = [column("a", estimate=True), column("b", lower=0, upper=1), column("pay", lower=0, upper=200),
         dict(name="ill", type="category", values=["0", "1"]), dict(name="kind", type="category", estimate=True)] + rest[2:]
json.dump(dict(columns=lists), open("lists.schema.json", "w"))
plan("weighed", fit("ill", "ill"), choose("which", "ill", tries=3), score)
plan("both", fit("ill", "ill"), score, person="id", rows_per_person=2)
json.dump(dict(version=2, columns=known, weight=dict(of="w", cap=2)), open("weighed.schema.json", "w"))
PY

ok 'a plan without data' study --plan open.plan.json --schema open.schema.json --dry-run --records 900
says 'it has the estimate' 'bounds +estimate of 900 records \(all\)'
says 'and a reserve' 'ill +fit of 900 records \(all\): .*, a reserve in mu'
says 'and the whole' 'together +epsilon 1, delta 1e-06'
bad 'no plan' 2 '--plan is missing' study people.csv -o s.json
bad 'no data' 2 'DATA is missing' study --plan open.plan.json -o s.json
bad 'no output' 2 '-o is missing' study people.csv --plan open.plan.json
bad 'standard input' 2 'name a file, not standard input' study - --plan open.plan.json --schema open.schema.json -o s.json
bad 'a label outside of the plan' 2 'said in the plan' study people.csv --plan open.plan.json --label ill -o s.json
bad 'a memory limit has no place' 2 '--memory' study people.csv --plan open.plan.json --memory 1M -o s.json
bad 'the schema as output' 2 'read or written by this run already' study people.csv --plan alone.plan.json --schema open.schema.json -o open.schema.json
bad 'the plan as output' 2 'read or written by this run already' study people.csv --plan open.plan.json --schema open.schema.json -o open.plan.json

ok 'a ledger' ledger L --init --epsilon 100 --delta 1e-3
for name in open held reserve lists chosen chosen_all; do
  schema=open
  [[ $name == held || $name == chosen ]] && schema=known
  [ $name = lists ] && schema=lists
  ok "a study: $name" study people.csv --plan $name.plan.json --schema $schema.schema.json --ledger L \
    --input-changed 'other columns' -o $name.json
  ok "verified: $name" verify $name.json --ledger L
  says "the verdict on $name" '^verified: epsilon 1 at delta 1e-06, add_remove'
done
python3 - <<'PY'
import json
s = json.load(open("known.schema.json"))
outcome = dict(label={"name": "ill"})
json.dump({**s, **outcome, "columns": [c for c in s["columns"] if c["name"] != "ill"]}, open("score.schema.json", "w"))
PY
ok 'a model to score' train people.csv --schema score.schema.json --loss logistic --epsilon 1 --delta 1e-6 -o model.json
for name in persons replaced divided chosen_person weighed both; do
  schema=known
  [ $name = replaced ] && schema=open
  [ $name = weighed ] || [ $name = both ] && schema=weighed
  ok "a study: $name" study people.csv --plan $name.plan.json --schema $schema.schema.json -o $name.json
  ok "verified: $name" verify $name.json
  says "the verdict on $name" '^verified: epsilon 1 at delta 1e-06'
done
ok 'a ledger of persons' ledger P --init --epsilon 100 --delta 1e-3 --unit person
bad 'which takes no study of records' 4 'counts persons' study people.csv --plan held.plan.json --schema known.schema.json --ledger P -o p.json
ok 'and one of persons' study people.csv --plan persons.plan.json --schema known.schema.json --ledger P -o p.json
ok 'which is told as such' verify p.json --ledger P
bad 'a ledger of records takes none' 4 'counts records' study people.csv --plan persons.plan.json --schema known.schema.json --ledger L -o p.json
sed 's/"upper": 1}/"upper": 1, "estimated": true}/' known.schema.json >elsewhere.schema.json
ok 'bounds that another run estimated' study people.csv --plan held.plan.json --schema elsewhere.schema.json --ledger L --input-changed 'other columns' -o e.json
check 'the ledger has that they are not paid for' test "$("$TACIT" ledger L --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"][-1]["unaccounted"]))')" = 1
python3 - <<'PY'
import json
file = json.load(open("e.json"))
fit = next(stage["model"] for stage in file["stages"] if "model" in stage)
fit["privacy"].setdefault("unaccounted", []).append("its bounds were read from the rows")
json.dump(file, open("more.json", "w"))
PY
check 'a stage that tells what the whole does not is seen' grep -q "'unaccounted' of the whole" <("$TACIT" verify more.json 2>&1)
python3 - <<'PY'
import json
told = dict(name="a", type="number", lower=0, upper=1, estimated=True)
rest = [dict(name=n, type="ignore") for n in ("ill", "pay", "kind", "id", "w")]
for kind, b, stages in (("moments", dict(lower=0, upper=1), ["moments", "moments"]), ("describe", dict(lower=0, upper=1), ["describe", "describe"]),
                        ("estimate", dict(estimate=True), ["estimate", "moments"])):
    columns = [told, dict(name="b", type="number", **b), *rest]
    json.dump(dict(epsilon=1, delta=1e-6, schema=dict(columns=columns), stages=[dict(name=f"s{k}", kind=s) for k, s in enumerate(stages)]),
              open(f"{kind}.told.plan.json", "w"))
PY
for kind in moments describe estimate; do # what another run estimated is told, also beside an estimate that pays for its own
  ok "bounds of another run: $kind" study people.csv --plan $kind.told.plan.json -o $kind.told.json
  check 'are told' python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["claim"]["unaccounted"]) == 1' $kind.told.json
done
bad 'a ledger takes none from a seed' 4 'takes no such run' study people.csv --plan twice.plan.json --schema known.schema.json --seed 1 --ledger L --input-changed x -o no.json
ok 'equal fits, from a seed' study people.csv --plan twice.plan.json --schema known.schema.json --seed 1 -o twice.json
check 'have noise of their own' test "$(python3 -c 'import json; print(len({str(s["model"]["coefficients"]) for s in json.load(open("twice.json"))["stages"]}))')" = 3
for run in 1 2; do
  ok "a study without a seed: $run" study people.csv --plan fresh.plan.json --schema known.schema.json -o fresh$run.json
done
check 'no stage has the noise of the run before' python3 -c '
import json
one, two = (json.load(open(f"fresh{run}.json"))["stages"] for run in (1, 2))
value = lambda s: [s[k]["coefficients"] if k == "model" else s[k] for k in ("model", "scores", "moments", "description") if k in s]
assert len(one) == 4 and all(value(a) and value(a) != value(b) for a, b in zip(one, two))'
sed 's/"epsilon": 1,/"epsilon": 100,/' held.plan.json >sure.plan.json
ok 'a part that is held out' study people.csv --plan sure.plan.json --schema known.schema.json --seed 1 -o sure.json
check 'is scored alone' python3 -c 'import json; f = json.load(open("sure.json"))["stages"][2]["scores"]["figures"]; assert f["rows"] == 180 and 0.3 < f["positives"]["value"] < 0.7 and f["accuracy"]["value"] < 0.95, f'
ok 'one fit' study people.csv --plan alone.plan.json --schema known.schema.json -o alone.json
check 'is a model' test "$(field format alone.json)" = tacit-model
ok 'one choice' study people.csv --plan one_choice.plan.json --schema known.schema.json --seed 3 -o one_choice.json
python3 -c 'import json; print(json.dumps(json.load(open("one_choice.json"))["transforms"]["schema"]))' >ill.schema.json
ok 'is a search' search people.csv --schema ill.schema.json --candidates <(sed 's/rows_rule/rows/' grid.json) --loss logistic \
  --epsilon 1 --delta 1e-6 --tries 5 --seed 3 -o searched.json
check 'to the last bit' cmp one_choice.json searched.json
ok 'a stage predicts' predict open.json people.csv --stage pay
ok 'so does the main one' predict open.json people.csv
ok 'a summary of a stage' summary held.json --stage ill
ok 'a page of a stage' report open.json --stage which -o page.html
ok 'a page of a scored model' report held.json -o page.html
check 'has every figure of the score, and no other' python3 - <<'PY'
import json, re
figures = next(s["scores"]["figures"] for s in json.load(open("held.json"))["stages"] if "scores" in s)
def values(o, name):
    if isinstance(o, list):
        return [v for one in o for v in values(one, name)]
    own = [o[name]["value"]] if name in o and o[name]["value"] is not None else []
    return own + [v for one in o.values() if isinstance(one, list) for v in values(one, name)]
page = open("page.html").read()
for name in "accuracy auc mean_loss positives true_positive_rate false_positive_rate".split():
    found = re.findall(rf'data-field="scores[^"]*[.]{name}[.]value" value="([^"]*)"', page)
    assert (found or name != "accuracy") and [float(v) for v in found] == values(figures, name), (name, found, values(figures, name))
PY
bad 'no such stage' 2 'no stage of this name' predict open.json people.csv --stage nobody
bad 'a stage without a model' 2 'no fit and has no model' predict open.json people.csv --stage bounds
bad 'a stage of a model' 2 'has no stages' predict model.json people.csv --stage ill
ok 'the ledger knows the study' ledger L --check open.json
says 'its entry' "open.json +the model's run is in the ledger"

cases=$((cases + 1))
python3 "$here/after_estimate.py" "$TACIT" people.csv open.schema.json ill >/dev/null || fail 'mu after an estimate'
cases=$((cases + 1))
"$TACIT" ledger M --init --epsilon 100 --delta 1e-3 >/dev/null
python3 "$here/study_mistakes.py" "$TACIT" people.csv open.schema.json M || fail 'a mistake without its sentence'
library=$(dirname "$TACIT")/libtacit.so
if ! grep -q __asan_init "$library"; then
  cases=$((cases + 1))
  python3 "$here/study_edits.py" "$library" L open.json held.json reserve.json lists.json chosen.json chosen_all.json || fail 'an edit of a study went unseen'
fi
finish
