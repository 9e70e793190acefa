#!/usr/bin/env bash
# test_summary.sh - standard errors by the command line: the table, its JSON, intervals of predictions, and refusals.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ok 'a table' generate --rows 20000 --seed 3 -o p.csv
python3 - <<'PY'
import json
s = json.load(open("p.schema.json"))
s["columns"] = [c if c["name"] in ("age", "hours", "sex") else {"name": c["name"], "type": "ignore"} for c in s["columns"]]
[c.update(drop_first=True) for c in s["columns"] if c["name"] == "sex"]
json.dump(s, open("s.json", "w"))
PY
common=(p.csv --schema s.json --intercept --epsilon 2 --delta 1e-6 --seed 5)
ok 'plan' train "${common[@]}" --loss logistic --errors robust -o m.json
check 'the plan says what it spends on errors' grep -q 'standard errors take [0-9]* % of the budget' .out
plan=(--dry-run --records 20000 --schema s.json --loss logistic --errors robust --epsilon 2 --delta 1e-6)
told='age=40:15,hours=25:17,sex=0.5:0.5,high_income=0.4'
ok 'a plan of each weight' train "${plan[@]}" --effect age=0.01,sex=male=0.2 --assume "$told"
says 'the power for an effect' '^expected +age: standard error .*, withheld 0.00, detectable .*, power [01].[0-9]* for 0.01$'
says 'a weight whose name has a =' '^ +sex=male: standard error .* for 0.2$'
ok 'as json' train "${plan[@]}" --effect hours=0.05 --assume "$told" --json
cases=$((cases + 1))
python3 - <<'PY' || fail 'the plan does not keep its word'
import json, subprocess, os
plan = {w["name"]: w for w in json.load(open(".out"))["expected"]["weights"]}
found = json.loads(subprocess.run([os.environ["TACIT"], "summary", "m.json", "--json"], stdout=subprocess.PIPE).stdout)
assert len(plan) == 4 and plan["hours"]["power"] > 0.9 and plan["(intercept)"]["power"] is None
for w in found["weights"]:
    assert 1 / 1.5 < plan[w["name"]]["standard_error"] / w["standard_error"] < 1.5, (plan[w["name"]], w)
PY
bad 'an effect of no weight' 2 'no weight.*there are age, hours, sex=male' train "${plan[@]}" --effect ag=1
bad 'an effect that is no number' 2 'as --effect educ=0.05' train "${plan[@]}" --effect age=a
bad 'an effect without a schema' 2 'give --schema' train --dry-run --shape 1000,3 --row-norm 1 "${plan[@]:5}" --effect a=1
bad 'an effect without errors' 2 'give --errors' train "${plan[@]:0:7}" --epsilon 2 --delta 1e-6 --effect age=1
bad 'an effect of a run' 2 'are for --dry-run' train "${common[@]}" --loss logistic --errors robust --effect age=1 -o x.json
ok 'verified' verify m.json
check 'verify knows of standard errors' grep -q 'standard_errors' .out
ok 'summary' summary m.json
check 'the table has the names' grep -q '^sex=male' .out
check 'the table says that noise was added' grep -q 'Noise was added' .out
ok 'odds ratios' summary m.json --exp
says 'the column says what they are' '^ +odds ratio'
check 'they are above 0' awk '$1 ~ /^(age|hours|sex=male)$/ && ($2 <= 0 || $8 <= 0 || $9 <= $8) {exit 1}' .out
ok 'json' summary m.json --level 0.9 --covariance --json
cp .out s9.json
ok 'json' summary m.json --level 0.99 --json
cp .out s99.json
ok 'predictions' predict m.json p.csv --interval 0.95 --output probability
check 'each prediction lies within its interval' awk -F, '$1 < $2 || $1 > $3 || $2 < 0 || $3 > 1 {exit 1}' .out
check 'one line a record' test "$(wc -l <.out)" = 20000
cases=$((cases + 1))
python3 - "$here/../../docs/reference/format/summary.schema.json" <<'PY' || fail 'the figures contradict one another'
import json, math, sys
model, narrow, wide = (json.load(open(name)) for name in ("m.json", "s9.json", "s99.json"))
form = json.load(open(sys.argv[1]))
columns = [c for c in model["transforms"]["schema"]["columns"] if c["type"] == "number"]
widths = {c["name"]: c["upper"] - c["lower"] for c in columns}
lines = narrow["weights"] + [narrow["intercept"]]
assert set(form["$defs"]["line"]["required"]) == set(lines[0])
assert set(narrow) == set(form["properties"]) - {"middle", "change"} and set(wide) == set(narrow) - {"covariance"}
for j, line in enumerate(narrow["weights"]):
    unit = widths.get(line["name"])
    factor = 1 if unit is None else [f for f in (1 / unit, 2 / unit) if math.isclose(line["estimate"], f * model["coefficients"][j])][0]
    inference = model["inference"]
    se = factor * math.sqrt(inference["sampling"][j][j] + inference["noise"][j][j])
    assert math.isclose(line["standard_error"], se, rel_tol=1e-9)
    assert math.isclose(line["noise_error"], factor * math.sqrt(inference["noise"][j][j]), rel_tol=1e-9)
assert narrow["ratio"] == "odds ratio" == form["properties"]["ratio"]["enum"][0]
for line in lines:
    assert all(math.isclose(line["ratio"][key], math.exp(line[key])) for key in form["$defs"]["line"]["properties"]["ratio"]["required"])
for k, line in enumerate(lines):
    assert math.isclose(narrow["covariance"]["population"][k][k], line["standard_error"] ** 2, rel_tol=1e-9)
    assert line["lower"] < line["noise_lower"] < line["estimate"] < line["noise_upper"] < line["upper"]
for a, b in zip(narrow["weights"], wide["weights"]):
    assert b["lower"] < a["lower"] and a["upper"] < b["upper"] and a["p_value"] == b["p_value"]
assert narrow["weights"][0]["p_value"] < 1e-4 and 0 <= narrow["weights"][0]["noise_part"] <= 1
PY
ok 'a model without errors' train "${common[@]}" --loss logistic -o n.json
ok 'its summary' summary n.json
check 'it says what to do' grep -q 'training again with errors "model" (or "robust")' .out
ok 'its summary as an object' summary n.json --json
check 'no figure that would need errors' python3 -c '
import json
s = json.load(open(".out"))
assert s["errors"] is None and s["advice"] and "covariance" not in s
for line in [*s["weights"], s["intercept"]]:
    assert all(line[k] is None for k in ("standard_error", "lower", "upper", "p_value", "z"))
    assert line["note"].startswith("no interval: this model was trained without standard errors")'
ok 'a model whose noise is known' train "${common[@]}" --loss logistic --penalty l2:lambda=0.05 --solver outpert -o o.json
ok 'its summary' summary o.json --json
check 'its noise stands there without errors' python3 -c '
import json
s = json.load(open(".out"))
assert s["noise"]["min"] == s["noise"]["max"] > 0
assert all(line["noise_lower"] < line["estimate"] < line["noise_upper"] for line in s["weights"])
assert all(line["standard_error"] is None for line in s["weights"])'
ok 'a hinge' train "${common[@]}" --loss hinge -o h.json
ok 'its summary' summary h.json
check 'it says which losses have errors' grep -q 'hinge has no standard errors' .out
ok 'a plan that expects none' train --dry-run --shape 2000,20 --loss logistic --errors model --epsilon 0.5 --delta 1e-6 --row-norm 3
check 'it says so before it spends' grep -q 'expect no interval for most weights' .out
while read -r shape epsilon loss want; do
  ok "a plan of $shape at $epsilon" train --dry-run --shape "$shape" --loss "$loss" --label-bound 3 --errors model --epsilon "$epsilon" --delta 1e-6 --row-norm 3
  check "it expects: $want" grep -q "times those without noise$want" .out
done <<'END'
2000,20 1 squared ; expect no interval for most weights
2000,20 0.5 squared ; expect no interval for most weights
2000,5 0.5 squared ; no interval for skewed, rare or correlated columns
2000,5 0.5 logistic ; no interval for skewed, rare or correlated columns, or few positives$
2000,5 0.5 huber ; no interval for skewed, rare or correlated columns
2000,20 4 squared ; no interval for skewed, rare or correlated columns
2000,5 0.5 poisson ; expect no interval for most weights
2000,5 1 logistic ; no interval for skewed, rare or correlated columns, or few positives
20000,5 1 squared $
200000,20 1 poisson $
END

python3 - <<'PY'
import math, random
random.seed(4)
with open("counts.csv", "w") as out:
    print("a,b,visits", file=out)
    for _ in range(8000):
        a, b = random.random(), random.random()
        mean, k, p = math.exp(a - b), 0, random.random()
        while (p := p * random.random() ** (1 if k else 0)) > math.exp(-mean):
            k += 1
        print(f"{a:.4f},{b:.4f},{k}", file=out)
PY
printf '{"columns": [%s, %s], "label": {"name": "visits", "lower": 0, "upper": 20}}' \
  '{"name": "a", "type": "number", "lower": 0, "upper": 1}' '{"name": "b", "type": "number", "lower": 0, "upper": 1}' >counts.schema.json
counts=(counts.csv --schema counts.schema.json --epsilon 2 --delta 1e-6 --seed 5)
python3 - <<'PY'
import random
random.seed(6)
with open("lines.csv", "w") as out:
    print("a,b,y", file=out)
    for _ in range(8000):
        a, b = random.random(), random.random()
        print(f"{a:.4f},{b:.4f},{a - b + random.gauss(0, 0.3):.5f}", file=out)
PY
sed 's/visits/y/; s/"lower": 0, "upper": 20/"lower": -3, "upper": 3/' counts.schema.json >lines.schema.json
for loss in squared huber:width=2; do
  ok "numbers by $loss" train lines.csv --schema lines.schema.json --epsilon 4 --delta 1e-6 --seed 5 --loss "$loss" --errors model -o l.json
  ok 'verified' verify l.json
  ok 'their summary' summary l.json --json
  check 'the released scale of residuals is that of the normal law they came from' \
    python3 -c 'import json; assert 0.9 * 0.3 < json.load(open(".out"))["residual_scale"] < 1.1 * 0.3'
  ok 'as text' summary l.json
  check 'and stands in the table' grep -q '^residuals .*root mean square 0\.[23]' .out
done
sed 's/"residual": [0-9.]*/"residual": -1/' l.json >edited.json
bad 'an edited scale' 3 'standard errors are not whole' summary edited.json
ok 'counts' train "${counts[@]}" --loss poisson --errors model -o c.json
ok 'verified' verify c.json
ok 'their summary' summary c.json --json
check 'its weights have intervals that hold 1 and -1' python3 -c '
import json
lines = json.load(open(".out"))["weights"]
assert all(line["lower"] < truth < line["upper"] for line, truth in zip(lines, (1, -1)))'
ok 'the linear predictor' predict c.json counts.csv --output margin --interval 0.9
cp .out margins.txt
ok 'predicted means, which are what counts have unless told' predict c.json counts.csv --interval 0.9
check 'are e to the linear predictor' python3 -c '
import math
margins, means = ([list(map(float, line.split(","))) for line in open(name)] for name in ("margins.txt", ".out"))
assert all(abs(math.exp(z) / mean - 1) < 1e-12 for pair in zip(margins, means) for z, mean in zip(*pair))'
ok 'under their name' predict c.json counts.csv --interval 0.9 --header
check 'of means' test "$(head -n 1 .out)" = mean,lower,upper
ok 'means by name' predict c.json counts.csv --output mean --interval 0.9
check 'a mean lies within its interval, above 0' awk -F, '$2 <= 0 || $1 < $2 || $1 > $3 {exit 1}' .out
check 'means add up to the counts' python3 -c '
means = [float(line.split(",")[0]) for line in open(".out")]
counts = [float(line.rsplit(",")[-1]) for line in list(open("counts.csv"))[1:]]
assert abs(sum(means) / sum(counts) - 1) < 0.05'
bad 'a mean of classes' 2 'does not predict counts' predict m.json p.csv --output mean
bad 'moved counts' 2 'needs counts as they are' train counts.csv --label visits --loss poisson --label-shift 3 --label-bound 9 --row-norm 2 --epsilon 1 --delta 1e-6 -o x.json
bad 'counts without a bound on slopes' 2 'loss of bounded slope' train "${counts[@]}" --loss poisson --penalty l2:lambda=0.1 --solver objpert -o x.json
bad 'counts for LIBLINEAR' 2 'LIBLINEAR has no model' export --liblinear c.json -o x.json

# Corners: what a table does not determine gets no number, with noise and without, and a sentence.
python3 - <<'PY'
import math, random
random.seed(8)
def write(name, n, change):
    with open(name + ".csv", "w") as out:
        print("a,b,c,y", file=out)
        for _ in range(n):
            a, b, c = (random.uniform(-0.5, 0.5) for _ in range(3))
            y = int(random.random() < 1 / (1 + math.exp(2 * b - 3 * a)))
            print(*change(a, b, c, y), sep=",", file=out)
write("constant", 4000, lambda a, b, c, y: (a, 0.5, c, y))
write("equal", 4000, lambda a, b, c, y: (a, a, c, y))
write("alike", 4000, lambda a, b, c, y: (a, b, c, 1))
write("few", 3, lambda a, b, c, y: (a, b, c, y))
write("tiny", 4000, lambda a, b, c, y: (a, b, c, y))
PY
while read -r table epsilon undetermined seed; do
  for loss in logistic squared poisson; do
    [[ $table = alike && $loss != logistic ]] && continue # its residuals are 0, and so is its error
    labels=(--label-bound 1 --label-shift 0)
    [[ $loss = logistic ]] && labels=(--classes 0,1)
    open=$undetermined
    [[ $table.$loss.$epsilon = constant.logistic.4 ]] && open="b,(intercept)" # of two classes the others are known
    ok "$table, $loss at $epsilon" train $table.csv --label y --loss $loss "${labels[@]}" --row-norm 1.4 --epsilon "$epsilon" \
      --delta 1e-6 --seed ${seed:-3} --errors robust -o corner.json
    ok 'its summary' summary corner.json --json
    check "$table, $loss at $epsilon: no figure for $open, all others have one" python3 -c '
import json, sys
s = json.load(open(".out"))
lines, want = [*s["weights"], s["intercept"]], sys.argv[1].split(",")
figures = ("standard_error", "lower", "upper", "p_value", "noise_error", "noise_lower", "noise_upper", "z")
for line in lines:
    if line["name"] in want:
        assert all(line[k] is None for k in figures) and line["note"].startswith("no interval: "), line
    else:
        assert line["standard_error"] > 0.004 and line["lower"] < line["estimate"] < line["upper"], line' "$open"
    ok 'as text' summary corner.json
    check 'whose first name has the sentence' grep -q "^${open%%,*} and others marked NA: no interval: " .out
  done
done <<'END'
constant 4 a,b,c,(intercept)
constant inf b,(intercept)
equal 4 a,b
equal inf a,b
alike 4 a,b,c,(intercept) 4
few 4 a,b,c,(intercept)
tiny 1e-6 a,b,c,(intercept)
END

bad 'a level of 1' 2 'strictly between 0 and 1' summary m.json --level 1
bad 'a level of 0' 2 'strictly between 0 and 1' summary m.json --level 0
bad 'a level of 2' 2 'strictly between 0 and 1' predict m.json p.csv --interval 2
bad 'no intervals' 2 'trained without standard errors' predict n.json p.csv --interval 0.9
bad 'a label with an interval' 2 'a label has no interval' predict m.json p.csv --interval 0.9 --output label
bad 'a loss without curvature' 2 'the loss hinge has no curvature' train "${common[@]}" --loss hinge --errors model -o x.json
bad 'a penalty with corners' 2 'penalties none and l2' train "${common[@]}" --loss logistic --penalty l1:lambda=0.1 --errors model -o x.json
awk -F, 'NR == 1 { print "who," $0 } NR > 1 { print "p" NR % 9000 "," $0 }' p.csv >persons.csv
bad 'persons' 2 "protect one record, not a person's records" train persons.csv --person who --rows-per-person 3 "${common[@]:1}" --loss logistic --errors model -o x.json
bad 'persons as a group of rows' 2 'needs --rows-per-person' train persons.csv --person who "${common[@]:1}" --loss logistic --errors model -o x.json
for threads in 1 2; do ok "$threads threads" train "${common[@]}" --loss logistic --errors robust --threads $threads -o "t$threads.json"; done
check 'threads change no byte' cmp t1.json t2.json
bad 'another solver' 2 'come from the solver dponestep' train "${common[@]}" --loss logistic --solver dpgd --errors model -o x.json
sed 's/"errors": "robust"/"errors": "model"/' m.json >edited.json
tacit verify edited.json
check 'an edited form is not verified' test "$code" = 1
check 'and named' grep -q 'not those that this solver gives' .err
sed 's/"noise_above_signal"/"none"/; s/"degrees": \[/"degrees": [null,/' m.json >edited.json
bad 'edited degrees' 3 'standard errors are not whole' summary edited.json
python3 - <<'PY'
import json
model = json.load(open("m.json"))
model["inference"]["withheld"][-1] = "noise_above_signal"
json.dump(model, open("edited.json", "w"))
PY
ok 'an intercept alone without an interval' summary edited.json
check 'has the sentence, too' grep -q '^(intercept): no interval: ' .out
check 'nothing was left behind' test ! -e x.json
finish
