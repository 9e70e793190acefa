#!/usr/bin/env bash
# test_predict.sh - what stands beside a prediction (ids, a header), and a model on standard output.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random
random.seed(1)
rows = [(f"v{k}" if k % 3 else f'"{k}, second"', round(random.random(), 3), round(random.random(), 3)) for k in range(600)]
with open("t.csv", "w") as f, open("t.jsonl", "w") as g, open("r.csv", "w") as h:
    f.write("visit,a,b,y\n"), h.write("visit,a,b,y\n")
    for v, a, b in rows:
        f.write(f"{v},{a},{b},{int(a + b > 1)}\n")
        h.write(f"{v},{a},{b},{a - b}\n")
        g.write(json.dumps({"b": b, "y": int(a + b > 1), "visit": v.strip('"'), "a": a}) + "\n")
unit = {"type": "number", "lower": 0, "upper": 1}
columns = [{"name": "visit", "type": "ignore"}, {"name": "a", **unit}, {"name": "b", **unit}]
json.dump({"columns": columns, "label": {"name": "y", "values": ["0", "1"], "positive": "1"}}, open("s.json", "w"))
json.dump({"columns": columns, "label": {"name": "y", "lower": -1, "upper": 1}}, open("real.json", "w"))
json.dump({"columns": columns, "label": {"name": "y", "values": ["0", "1", "2"]}}, open("three.json", "w"))
PY
settings=(--epsilon 1 --delta 1e-5 --seed 1)
ok 'a model' train t.csv --schema s.json --loss logistic "${settings[@]}" -o m.json

# ---- without an intercept nothing is taken off the label: the middle would be one ----
python3 -c 'print("a,b,y"); [print(f"{i / 100},0,{i / 20}") for i in range(201)]' >slope.csv
echo '{"columns": [{"name": "a", "type": "number", "lower": 0, "upper": 2}, {"name": "b", "type": "ignore"}], "label": {"name": "y", "lower": 0, "upper": 10}}' >slope.json
ok 'a line through 0' train slope.csv --schema slope.json --loss squared --no-intercept --epsilon 100 --delta 1e-6 --seed 1 -o slope.model.json
check 'its labels are as they were' test "$(field transforms.label_shift slope.model.json) $(field transforms.label_bound slope.model.json)" = '0.0 10.0'
printf 'a,b\n0,0\n1,0\n' >ends.csv
ok 'it predicts' predict slope.model.json ends.csv
check '0 at 0, and about 5 at 1' python3 -c 'low, high = map(float, open(".out")); assert low == 0 and abs(high - 5) < 0.5, (low, high)'

# ---- ids and a header ----
head2() { head -n 2 "$1" | tr '\n' '|'; }
ok 'labels with ids' predict m.json t.csv --output label --id visit --header -o p.csv
check 'the header names the id and the label' test "$(head -n 1 p.csv)" = visit,label
check 'an id with a comma and quotes stands as it was' grep -qE '^"0, second",[01]$' p.csv
check 'a line for each record' test "$(wc -l <p.csv)" = 601
ok 'labels alone' predict m.json t.csv --output label -o alone.txt
check 'the predictions are the same' cmp -s alone.txt <(python3 -c '
import csv; print("\n".join(r[1] for r in list(csv.reader(open("p.csv")))[1:]))')
check 'the ids are the table'\''s, in its order' python3 -c '
import csv; a, b = list(csv.reader(open("p.csv"))), list(csv.reader(open("t.csv")))
raise SystemExit([r[0] for r in a] != [r[0] for r in b])'
ok 'margins' predict m.json t.csv --header
check 'are called margin' test "$(head -n 1 .out)" = margin
ok 'probabilities' predict m.json t.csv --header --output probability --id visit
check 'are called probability' test "$(head -n 1 .out)" = visit,probability
ok 'JSON with ids' predict m.json t.csv --id visit --json
check 'has one id for each record' python3 -c '
import json; o = json.load(open(".out")); raise SystemExit(len(o["ids"]) != 600 or o["ids"][0] != "0, second")'
ok 'a regression' train r.csv --schema real.json --loss squared --errors model "${settings[@]}" -o r.json
ok 'its interval' predict r.json r.csv --interval .9 --header --id visit
check 'has three names' test "$(head -n 1 .out)" = visit,prediction,lower,upper
ok 'a model of three classes' train t.csv --schema three.json --loss logistic "${settings[@]}" -o three.model
ok 'its probabilities' predict three.model t.csv --output probability --header --id visit
check 'stand under the classes' test "$(head -n 1 .out)" = visit,0,1,2
bad 'an id that is not there' 3 'no column "nobody"' predict m.json t.csv --id nobody -o never.csv
check 'wrote nothing' test ! -e never.csv
bad 'an id that is a feature' 2 'also a feature' predict m.json t.csv --id a
bad 'the id and another person column' 2 'name different columns' predict m.json t.csv --id visit --person a
printf 'visit,a,b,y\n,.1,.2,0\n' >noid.csv
bad 'a record without an id' 3 'noid.csv:2:1: .*no key' predict m.json noid.csv --id visit
printf 'visit,a,b,y\n\xff,.1,.2,0\n' >latin.csv
bad 'an id that is no UTF-8, as JSON' 3 'save the table as UTF-8' predict m.json latin.csv --id visit --json
check 'printed nothing' test ! -s .out
ok 'an id that is no UTF-8, as text' predict m.json latin.csv --id visit

# ---- JSON Lines are the same table ----
ok 'JSON Lines' train t.jsonl --schema s.json --loss logistic "${settings[@]}" -o l.json
check 'give the same model' cmp -s l.json m.json
ok 'predictions of JSON Lines' predict m.json t.jsonl --output label --id visit --header -o q.csv
check 'are the same too' cmp -s p.csv q.csv
bad 'a decimal comma in JSON' 2 'leave --delimiter and --decimal away' predict m.json t.jsonl --decimal ,
echo '[{"a":1}]' >array.json
bad 'a JSON array' 3 'one object a line' predict m.json array.json

# ---- the model on standard output ----
one() { # what is given again replaces what was given
  merge train t.csv --schema s.json --loss logistic "${settings[@]}" "$@"
  "$TACIT" "${merged[@]}" >out 2>err
}
check 'a model on standard output' one -o -
check 'is the model, and nothing else' cmp -s out m.json
check 'what is said is said on standard error' grep -q '^model *standard output$' err
check 'verifies from a pipe' sh -c "cat out >from.json && '$TACIT' verify from.json >/dev/null"
check 'the page is written too' one -o - --report page.html
check 'beside the same model' cmp -s out m.json
bad 'two things for standard output' 2 'name a file with -o' train t.csv --schema s.json --loss logistic "${settings[@]}" -o - --json
for wrong in '--epsilon 0' '--epsilon 1e-9 --penalty nonsense' '--schema nowhere.json' '--ledger nowhere.ledger'; do
  one -o - $wrong && fail "$wrong: exits 0"
  check "a failed run ($wrong) writes nothing" test ! -s out
done
printf 'visit,a,b,y\nv,.1,.2,0\nw,x,.2,1\n' >broken.csv
"$TACIT" train broken.csv --schema s.json --loss logistic "${settings[@]}" -o - >out 2>err && fail 'a broken table: exits 0'
check 'a run that fails while reading writes nothing' test ! -s out
"$TACIT" train t.csv --schema s.json --loss logistic "${settings[@]}" -o - >&- 2>err && fail 'closed standard output: exits 0'
check 'a closed standard output is refused' grep -q 'standard output is not open' err
if [ -w /dev/full ]; then
  "$TACIT" train t.csv --schema s.json --loss logistic "${settings[@]}" -o - >/dev/full 2>err && fail 'a full disk: exits 0'
  check 'a full disk is said' grep -q 'cannot write to standard output' err
fi

# ---- a process that is killed while it writes leaves no file; an output that is there stays as it was ----
awk 'BEGIN { print "visit,a,b,y"; for (i = 0; i < 600000; i++) print "v" i ",.1,." i % 10 ",0" }' >many.csv
mkdir out.d
for there in no yes; do
  [ $there = no ] || echo old >out.d/p.csv
  "$TACIT" predict m.json many.csv -o out.d/p.csv &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    find "/proc/$pid/fd" -lname "*/out.d/*" 2>/dev/null | grep -q . && break
  done
  kill -9 $pid
  wait $pid 2>/dev/null
  check "killed while it writes (there before: $there)" [ $? = 137 ]
  check "what is left (there before: $there): $(ls -A out.d)" test "$(ls -A out.d)$(cat out.d/* 2>/dev/null)" = "$([ $there = no ] || echo p.csvold)"
done
ok 'the same to its end' predict m.json many.csv -o out.d/p.csv
check 'it replaces what was there' test "$(wc -l <out.d/p.csv) $(ls -A out.d)" = '600000 p.csv'
finish
