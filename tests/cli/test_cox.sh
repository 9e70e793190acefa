#!/usr/bin/env bash
# test_cox.sh - Cox regression from the command line: a label of a time and an event, what it refuses, verify and predict.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"

awk 'BEGIN { print "age,dose,days,died"
  for (i = 1; i <= 900; i++) { a = (i * 37 % 101) / 101; d = (i * 53 % 97) / 97; t = (i * 71 % 113) * exp(-a) + 1
    printf "%.4f,%.4f,%.2f,%s\n", a, d, t, i % 3 ? "yes" : "no" } }' >p.csv
column() { printf '{"name": "%s", "type": "number", "lower": 0, "upper": 1}' "$1"; }
schema() { printf '{"columns": [%s, %s], "label": %s}\n' "$(column age)" "$(column dose)" "$1"; }
schema '{"time": "days", "event": "died", "positive": "yes", "horizon": 90}' >p.json
schema '{"name": "days", "lower": 0, "upper": 90}' >n.json
schema '{"time": "days", "event": "died"}' >no_horizon.json
schema '{"time": "days", "event": "days", "horizon": 90}' >one.json
schema '{"time": "days", "event": "died", "horizon": -1}' >below.json
schema '{"time": "days", "event": "died", "horizon": 90, "strata": "dose"}' >strata.json
awk -F, 'NR == 1 { print "id," $0; next } { print int(NR / 2) "," $0 }' p.csv >id.csv
sed 's/"columns": \[/&{"name": "id", "type": "ignore"}, /' p.json >id.json
budget=(--epsilon 4 --delta 1e-6 --seed 3)

ok 'a fit behind a schema' train p.csv --schema p.json --loss cox "${budget[@]}" -o m.json
says 'the solver is dpcox' '^why +dpcox'
says 'the plan tells how many events are expected' '^note +[0-9]+ expected events give an information of'
says 'the histogram is charged' 'events, exits and places by cells of time: sensitivity 1\.118034'
ok 'a budget that is nearly too small' train p.csv --schema p.json --loss cox --epsilon 1 --delta 1e-6 -o little.json
says 'is told before it is spent' '^note +[0-9]+ expected events give an information of [0-9.]+ for each column, which is little'
ok 'verify' verify m.json
says 'its figures agree, and its seed is told' 'NOT PRIVATE: the figures agree \(epsilon 4 '
ok 'the same by options' train p.csv --schema n.json --loss cox --time days --event died --horizon 90 --positive yes "${budget[@]}" -o o.json
check 'gives the same weights' cmp -s <(grep -A3 '"coefficients"' m.json) <(grep -A3 '"coefficients"' o.json)
head -400 p.csv >part1.csv
{ head -1 p.csv; tail -n +401 p.csv; } >part2.csv
ok 'two parts' train part1.csv part2.csv --schema p.json --loss cox "${budget[@]}" -o parts.json
bad 'signed times are no numbers, of parts neither' 2 'the label is a time and an event' train part1.csv part2.csv --schema p.json \
  --loss squared "${budget[@]}" -o parts2.json
ok 'a replaced record' train p.csv --schema p.json --loss cox "${budget[@]}" --neighbours replace_one -o r.json
ok 'robust errors' train p.csv --schema p.json --loss cox "${budget[@]}" --errors robust -o e.json
ok 'a summary' summary e.json
says 'of robust errors' '^errors +robust'
ok 'a table without a schema' train p.csv --loss cox --time days --event died --horizon 90 --positive yes --row-norm 2 "${budget[@]}" -o w.json
ok 'a check of proportional hazards' train p.csv --schema p.json --loss cox --solver dpcox:change=0.1 "${budget[@]}" -o c.json
says 'is a release of its own' 'sum of scores, the later half less the earlier: sensitivity 1'
ok 'verify it' verify c.json
says 'as planned' 'the figures agree'
ok 'its summary' summary c.json --exp
says 'says what 0 means, and 1 of ratios' 'hazards are proportional'
ok 'as json' summary c.json --json
check 'has a line for each column' test "$(python3 -c 'import json, sys; print([line["name"] for line in json.load(sys.stdin)["change"]])' <.out)" = "['age', 'dose']"
python3 - <<'PY'
import json
with_check, without = (json.load(open(name)) for name in ("c.json", "m.json"))
without["inference"]["change"] = with_check["inference"]["change"]
json.dump(without, open("added.json", "w"))
del with_check["inference"]["change"]
json.dump(with_check, open("gone.json", "w"))
for solver in "nosuch:change=0.1", "dpcox:change=0.1,change=0.1":
    json.dump({**with_check, "solver": solver}, open(solver.split(":")[0] + ".json", "w"))
with_check["inference"]["change"] = {"weights": [0, 0, 0]}
json.dump(with_check, open("part.json", "w"))
PY
check 'one that was not asked for is refused' grep -q 'standard errors are not those' <("$TACIT" verify added.json 2>&1)
check 'and one that is gone' grep -q 'standard errors are not those' <("$TACIT" verify gone.json 2>&1)
for name in nosuch dpcox; do
  check "$name: a check that is asked for in another way has a verdict" test "$("$TACIT" verify $name.json >/dev/null 2>&1; echo $?)" = 1
done
bad 'half of one' 3 'not whole' summary part.json
ok 'a prediction' predict m.json p.csv
check 'has a line for each record' test "$(wc -l <.out)" -ge 900
ok 'risks at a time' predict m.json p.csv --at 30 --header
says 'the column says so' '^risk$'
cp .out r30.txt
ok 'risks later' predict m.json p.csv --at 90 --header
check 'lie between 0 and 1, and grow' awk 'NR == FNR { a[FNR] = $1; next } FNR > 1 && ($1 < a[FNR] || $1 > 1 || a[FNR] < 0) { exit 1 }' r30.txt .out
bad 'beyond the horizon' 2 'within the horizon' predict m.json p.csv --at 91
bad 'with an interval' 2 'no --interval' predict m.json p.csv --at 9 --interval 0.9
check 'survival is in the file up to the horizon' python3 -c '
import json
s = json.load(open("m.json"))["inference"]["survival"]
assert s["time"][-1] == 90 and s["estimate"] == sorted(s["estimate"], reverse=True) and len(s["time"]) == 24
assert all(a <= b <= c for a, b, c in zip(s["lower"], s["estimate"], s["upper"])) and s["exposure"] == sorted(s["exposure"])'
sed 's/"horizon": 90.0/"horizon": 91.0/' m.json >edited.json
check 'an edited horizon is refused' test "$("$TACIT" verify edited.json 2>&1 | grep -c "not verified: 'schema' is not what")" = 1
ok 'exact scores' evaluate m.json p.csv
check 'have no squared error of times' test -z "$(grep -E '^mse +[0-9]' .out)"
ok 'a private score' evaluate m.json p.csv --epsilon 8 --delta 1e-6 --seed 1
says 'is the C-index' '^c_index +0\.[4-9]'
sed 's/yes$/1/; s/no$/0/' p.csv >numbers.csv
schema '{"time": "days", "event": "died", "horizon": 90}' >numbers.json
ok 'events as numbers' train numbers.csv --schema numbers.json --loss cox "${budget[@]}" -o z.json
check 'are the same events' cmp -s <(grep -A3 '"coefficients"' m.json) <(grep -A3 '"coefficients"' z.json)
sed '3s/,[01]$/,maybe/' numbers.csv >maybe.csv
sed '4s/,[^,]*,\([a-z]*\)$/,-2,\1/' p.csv >negative.csv
sed '5s/,[a-z]*$/,/' p.csv >missing.csv

bad 'an event that is none' 3 'event is neither 0 nor 1' train maybe.csv --schema numbers.json --loss cox "${budget[@]}" -o x.json
bad 'a time below 0' 3 'time is below 0' train negative.csv --schema p.json --loss cox "${budget[@]}" -o x.json
bad 'a missing event' 3 'event is missing' train missing.csv --schema p.json --loss cox "${budget[@]}" -o x.json
bad 'another loss' 2 'a time and an event' train p.csv --schema p.json --loss squared "${budget[@]}" -o x.json
bad 'a number as a label' 2 'needs a time and an event' train numbers.csv --label days --loss cox --row-norm 2 --label-bound 90 "${budget[@]}" -o x.json
bad 'no horizon' 2 'needs the horizon' train p.csv --loss cox --time days --event died --row-norm 2 "${budget[@]}" -o x.json
bad 'another horizon' 2 'not what the schema says' train p.csv --schema p.json --horizon 80 --loss cox "${budget[@]}" -o x.json
bad 'a schema without a horizon' 3 'horizon' train p.csv --schema no_horizon.json --loss cox "${budget[@]}" -o x.json
bad 'one column for both' 3 'no "time" and "event"' train p.csv --schema one.json --loss cox "${budget[@]}" -o x.json
bad 'a horizon below 0' 3 'must be above 0' train p.csv --schema below.json --loss cox "${budget[@]}" -o x.json
bad 'strata' 3 'unknown key "strata"' train p.csv --schema strata.json --loss cox "${budget[@]}" -o x.json
bad 'another solver' 2 'no follow-up times' train p.csv --schema p.json --loss cox --solver dpgd "${budget[@]}" -o x.json
bad 'no level' 2 'needs the intercept' train p.csv --schema p.json --loss cox --no-intercept "${budget[@]}" -o x.json
bad 'a penalty' 2 'no penalty' train p.csv --schema p.json --loss cox --penalty l2:lambda=1 "${budget[@]}" -o x.json
bad 'a shifted time' 2 'needs times as they are' train p.csv --schema p.json --loss cox --label-shift 3 "${budget[@]}" -o x.json
bad 'persons of several rows' 2 'one row a person' train id.csv --schema id.json --person id --rows-per-person 9 --loss cox "${budget[@]}" -o x.json
bad 'epsilon without delta' 2 'delta' train p.csv --schema p.json --loss cox --epsilon 1 --delta 0 -o x.json
finish
