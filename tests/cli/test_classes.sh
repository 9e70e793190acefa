#!/usr/bin/env bash
# test_classes.sh - several classes in one model: one file, one claim, one charge; names are kept, and wrong ones refused.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 "$here/three_classes.py" 3000 >s.csv
python3 "$here/three_classes.py" 3000 | sed 's/apple$/yes/; s/pear$/no/; s/plum$/no/; s/fruit/ripe/' >b.csv
cat >s.schema.json <<'J'
{"columns": [{"name": "a", "type": "number", "lower": -2, "upper": 2}, {"name": "b", "type": "number", "lower": -2, "upper": 2}],
 "label": {"name": "fruit", "values": ["plum", "pear", "apple"]}, "scale": "symmetric"}
J
common=(--loss logistic --penalty l2:lambda=1e-3 --epsilon 2 --delta 1e-6)
plain=(s.csv --label fruit --row-norm 2 "${common[@]}")
list=(--classes apple,pear,plum)

# ---- one file, one claim ----
ok 'classes of the schema' train s.csv --schema s.schema.json "${common[@]}" -o schema.json
check 'in the order of the schema' test "$(field classes schema.json)" = "['plum', 'pear', 'apple']"
ok 'classes of the option' train "${plain[@]}" "${list[@]}" -o m.json
says 'how many, and what each has' '^ *classes +3, one against the rest; each fit has epsilon 1\.'
check 'a row each' test "$(python3 -c 'import json; m = json.load(open("m.json")); print([len(r) for r in m["coefficients"]], len(m["intercept"]))')" = '[2, 2, 2] 3'
check 'the claim is of the whole' test "$(field privacy.epsilon m.json) $(python3 -c 'import json; print(json.load(open("m.json"))["privacy"]["fits"][0]["count"])')" = '2.0 3'
ok 'verify' verify m.json
says 'composed again' '^ok +composed .*3 classes'
ok 'verify' verify schema.json
# A record that does not fit the schema has no class either, and its row is zero: it is no reason to refuse the rest.
sed '5s/^[^,]*/q/; 9s/[a-z]*$/zzz/' s.csv >dropped.csv
for solver in auto dpgd; do
  for loss in logistic softmax; do
    ok "dropped records of classes, $loss by $solver" train dropped.csv --schema s.schema.json --loss $loss \
      --penalty l2:lambda=1e-3 --epsilon 2 --delta 1e-6 --solver $solver --invalid zero -o dropped.json
    ok 'verify' verify dropped.json
  done
done
ok 'dry run' train --dry-run --shape 3000,2 --row-norm 2 "${common[@]}" "${list[@]}"
says 'a dry run shares the budget too' 'classes +3, one against the rest'
ok 'as JSON' train "${plain[@]}" "${list[@]}" --json -o m.json
check 'three models' test "$(field models) $(field epsilon)" = '3 2.0'
ok 'the same noise' train "${plain[@]}" "${list[@]}" --seed 4 --threads 1 -o one.json
ok 'the same noise' train "${plain[@]}" "${list[@]}" --seed 4 --threads 2 -o two.json
check 'threads change nothing' cmp one.json two.json
check 'classes have noise of their own' python3 - <<'P'
import json
rows = json.load(open('one.json'))['coefficients']
assert len({tuple(row) for row in rows}) == 3, rows
P
ok 'without privacy' train s.csv --label fruit --row-norm 2 --loss logistic "${list[@]}" --epsilon inf -o none.json

# ---- what the other verbs make of it ----
ok 'labels' predict m.json s.csv --label fruit --output label
check 'names' test "$(sort -u .out | tr '\n' ' ')" = 'apple pear plum '
right=$(paste -d, .out <(sed 1d s.csv | cut -d, -f3) | awk -F, '{ n += $1 == $2 } END { printf "%.15g", n / NR }')
within 'most are right' 0.85 "$right" 1
ok 'evaluate' evaluate m.json s.csv --label fruit --json
within 'accuracy is of the names that predict writes' "$(awk -v r="$right" 'BEGIN { printf "%.15g", r - 1e-9 }')" "$(field accuracy)" "$(awk -v r="$right" 'BEGIN { printf "%.15g", r + 1e-9 }')"
within 'auc, mean over classes' 0.9 "$(field auc)" 1
ok 'evaluate by the model' evaluate m.json s.csv
ok 'margins' predict m.json s.csv --label fruit
check 'three a line' test "$(awk -F, '{ print NF }' .out | sort -u)" = 3
ok 'probabilities' predict m.json s.csv --label fruit --output probability
check 'which sum to 1' awk -F, '{ s = $1 + $2 + $3; if (s < 1 - 1e-9 || s > 1 + 1e-9) exit 1 }' .out
ok 'labels as JSON' predict m.json s.csv --label fruit --output label --json
check 'texts' test "$(python3 -c 'import json; print(sorted(set(json.load(open(".out"))["predictions"])))')" = "['apple', 'pear', 'plum']"
bad 'no interval' 2 'no intervals' predict m.json s.csv --label fruit --interval 0.9
ok 'export' export --liblinear m.json -o m.linear
check 'as LIBLINEAR has several classes' test "$(sed -n '2,3p;5,6p' m.linear | tr '\n' '/'; awk 'NR > 6 { print NF }' m.linear | tr '\n' ' ')" = 'nr_class 3/label 1 2 3/bias 1/w/3 3 3 '
ok 'report' report m.json -o m.html
check 'a table for each' test "$(grep -c '<table class="weights"' m.html)" = 3
check 'by name' grep -q 'data-field="classes.2"><bdi>plum<' m.html
ok 'summary' summary m.json
check 'a part for each' test "$(grep -cE '^(apple|pear|plum)$' .out)" = 3

# ---- numbers stay numbers ----
sed 's/apple$/1/; s/pear$/2/; s/plum$/10/' s.csv >n.csv
ok 'numbers' train n.csv --label fruit --row-norm 2 "${common[@]}" --classes 1,2,10 -o n.json
check 'in the file' test "$(field classes n.json)" = '[1, 2, 10]'
ok 'numbers' predict n.json n.csv --label fruit --output label
check 'and in the output' test "$(sort -nu .out | tr '\n' ' ')" = '1 2 10 '
ok 'export' export --liblinear n.json -o n.linear
check 'LIBLINEAR has whole numbers' grep -qx 'label 1 2 10' n.linear

# ---- all classes in one fit ----
soft=(s.csv --label fruit --row-norm 2 --loss softmax --penalty l2:lambda=1e-3 --epsilon 2 --delta 1e-6)
ok 'softmax' train "${soft[@]}" "${list[@]}" -o f.json
says 'its loss says how many' '^ *loss +softmax:classes=3$'
check 'a row each' test "$(python3 -c 'import json; m = json.load(open("f.json")); print([len(r) for r in m["coefficients"]], m["privacy"]["fits"][0]["count"])')" = '[2, 2, 2] 1'
ok 'verify' verify f.json
says 'one fit' '^ok +claim_of_the_fit'
ok 'evaluate' evaluate f.json s.csv --json
within 'it learns' 0.85 "$(field accuracy)" 1
within 'and its loss is of all classes' 0 "$(field mean_loss)" 1
ok 'probabilities' predict f.json s.csv --label fruit --output probability
check 'which sum to 1' awk -F, '{ s = $1 + $2 + $3; if (s < 1 - 1e-9 || s > 1 + 1e-9) exit 1 }' .out
ok 'report' report f.json -o f.html
check 'by name' grep -q 'A softmax regression' f.html
ok 'the same noise' train "${soft[@]}" "${list[@]}" --seed 4 --threads 1 -o one.json
ok 'the same noise' train "${soft[@]}" "${list[@]}" --seed 4 --threads 3 -o two.json
check 'threads change nothing' cmp one.json two.json
ok 'dry run' train --dry-run --shape 3000,2 "${soft[@]:3}" "${list[@]}"
says 'knows the classes' 'softmax:classes=3'
bad 'another solver' 2 'one class at a time' train "${soft[@]}" "${list[@]}" --solver objpert -o x.json
bad 'another number' 2 'another number of classes' train "${soft[@]/softmax/softmax:classes=4}" "${list[@]}" -o x.json
bad 'two classes' 2 'logistic for two' train b.csv --label ripe --row-norm 2 --classes no,yes "${soft[@]:5}" -o x.json

# ---- where the loss is left open ----
open=(--label fruit --row-norm 2 --loss auto --penalty l2:lambda=1e-3 --delta 1e-6)
six=(--classes apple,fig,kiwi,lime,pear,plum) # three of them do not occur
ok 'little signal' train s.csv "${open[@]}" "${six[@]}" --epsilon 0.05 -o a.json
says 'one fit of all' '^ *loss +softmax:classes=6$'
says 'and why' 'one fit of all classes: its budget is not shared out'
ok 'verify' verify a.json
ok 'without a metric' train s.csv "${open[@]}" "${six[@]}" --epsilon 2 --no-intercept -o a.json --json
check 'by dpgd' grep -q '"dpgd:' a.json
ok 'a named solver' train s.csv "${open[@]}" "${six[@]}" --epsilon 0.05 --solver dpmetric -o a.json
says 'is of one against the rest' 'one against the rest: the solver was named'
ok 'three classes' train s.csv "${open[@]}" "${list[@]}" --epsilon 2 -o a.json --json
check 'are one fit' test "$(field loss)" = softmax:classes=3
check 'in a metric' grep -q '"dpmetric:' a.json
ok 'which verify plans again' verify a.json
ok 'a dry run' train --dry-run --shape 3000,2 "${open[@]:2}" "${six[@]}" --epsilon 0.05
says 'chooses too' '^ *loss +softmax:classes=6$'
echo '{"columns": [{"name": "a", "type": "number", "lower": -1, "upper": 1}, {"name": "b", "type": "number", "lower": -1, "upper": 1}], "label": {"name": "fruit", "values": ["apple", "pear", "plum"]}}' >open.schema.json
ok 'by the classes of a schema' train --dry-run --schema open.schema.json --records 3000 --loss auto --epsilon 2 --delta 1e-6
says 'all of them' '^ *loss +softmax:classes=3'
ok 'two classes' train b.csv --label ripe --row-norm 2 --classes no,yes --loss auto --epsilon 1 --delta 1e-6 -o a.json
says 'are logistic' '^ *loss +logistic$'

# ---- charged once ----
ok 'ledger' ledger L --init --filter sum --epsilon 3 --delta 1e-5
ok 'charged' train "${plain[@]}" "${list[@]}" --ledger L -o l.json
ok 'the run' ledger L --json
check 'one run of the whole' test "$(python3 -c 'import json; print([r["epsilon"] for r in json.load(open(".out"))["runs"]])')" = '[2.0]'
ok 'found again' verify l.json --ledger L
bad 'no second' 4 'left|budget' train "${plain[@]}" "${list[@]}" --ledger L -o l2.json
check 'no model' test ! -e l2.json

# ---- two classes keep their names, too ----
two=(b.csv --label ripe --row-norm 2 "${common[@]}")
ok 'negative and positive' train "${two[@]}" --classes no,yes -o b.json
check 'names' test "$(field classes b.json)" = "['no', 'yes']"
ok 'verify' verify b.json
ok 'labels' predict b.json b.csv --label ripe --output label
check 'by name' test "$(sort -u .out | tr '\n' ' ')" = 'no yes '
ok 'evaluate without --positive' evaluate b.json b.csv
ok 'one against all others' train "${two[@]}" --positive yes -o p.json
check 'null: all others' test "$(field classes p.json)" = "[None, 'yes']"
ok 'labels' predict p.json b.csv --label ripe --output label
check 'all others have no name' test "$(sort -u .out | tr '\n' ' ')" = 'not yes yes '
ok 'report' report b.json -o b.html
check 'the page names them' grep -q 'speaks for <span class="value" data-field="classes.1"><bdi>yes</bdi></span>' b.html
ok 'evaluate' evaluate p.json b.csv

# ---- wrong or turned round ----
bad 'a class that is not listed' 3 's.csv:[0-9]+:3: the label is not among the classes' train "${plain[@]}" --classes apple,pear,plumm -o x.json
check 'no value is shown' test "$(grep -cE 'plum' .err)" = 0
bad 'not the schema'"'"'s' 2 'not among the schema' train s.csv --schema s.schema.json "${common[@]}" --classes apple,pear,fig -o x.json
bad 'one of the schema left out' 2 'not the label.s values in the schema' train s.csv --schema s.schema.json "${common[@]}" --classes apple,pear -o x.json
bad 'twice' 2 'twice' train "${plain[@]}" --classes apple,pear,apple -o x.json
bad 'an empty name' 2 'empty name' train "${plain[@]}" --classes apple,,plum -o x.json
bad 'one class' 2 'at least two' train "${plain[@]}" --classes apple -o x.json
bad 'turned round' 2 'second is the positive' train "${two[@]}" --classes yes,no --positive yes -o x.json
bad 'positive is no class' 2 'not among the classes' train "${two[@]}" --classes no,maybe,yes --positive ja -o x.json
bad 'a third value in the data' 3 'not among the classes' train "${plain[@]}" --classes apple,pear -o x.json
bad 'not public' 3 'say which value means|--classes' train "${plain[@]}" -o x.json
bad 'numbers have no classes' 2 'classes' train n.csv --label fruit --row-norm 2 --loss squared --label-bound 10 --epsilon 1 --delta 1e-6 --classes 1,2,10 -o x.json
bad 'standard errors' 2 'standard errors' train "${plain[@]}" "${list[@]}" --errors model -o x.json
bad 'the model has another positive class' 2 'positive class is "yes"' evaluate b.json b.csv --positive no
bad 'the same in predict' 2 'positive class is "yes"' predict b.json b.csv --positive no
bad 'the model has another order' 2 'another order' evaluate m.json s.csv --classes pear,apple,plum
bad 'it has no positive class' 2 'no positive one' evaluate m.json s.csv --positive apple
check 'nothing is left' test ! -e x.json
finish
