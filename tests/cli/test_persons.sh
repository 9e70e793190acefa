#!/usr/bin/env bash
# test_persons.sh - tables in which a person has several rows: --person and --rows-per-person promise to the person.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 "$here/persons_table.py" 4000 >v.csv
cat >v.schema.json <<'J'
{"columns": [{"name": "age", "type": "number", "lower": 18, "upper": 100}, {"name": "pressure", "type": "number", "lower": 60, "upper": 200}],
 "label": {"name": "ill", "positive": "yes", "values": ["no", "yes"]}, "scale": "symmetric"}
J
common=(v.csv --schema v.schema.json --loss logistic --penalty l2:lambda=1e-3 --epsilon 2 --delta 1e-5)
person=(--person patient --rows-per-person 4)

ok 'persons' train "${common[@]}" "${person[@]}" -o p.json
check 'the unit is a person' grep -q '"unit": "One person:' p.json
check 'of so many rows' test "$(python3 -c 'import json; print(json.load(open("p.json"))["privacy"]["weights"])')" = "{'cap': 4.0, 'of': 'person'}"
check 'its column is no feature' test "$(field features p.json)" = "['age', 'pressure']"
ok 'verify' verify p.json
ok 'evaluate' evaluate p.json v.csv --person patient --json
within 'it learns' 0.7 "$(field accuracy)" 1
ok 'predict' predict p.json v.csv --person patient --output label
check 'a line a row' test "$(wc -l <.out)" = 4000
ok 'report' report p.json -o p.html
check 'the page says it' grep -q 'Every single person' p.html
ok 'seeded' train "${common[@]}" "${person[@]}" --seed 3 -o one.json
ok 'seeded' train "${common[@]}" "${person[@]}" --seed 3 -o two.json
ok 'another seed' train "${common[@]}" "${person[@]}" --seed 4 -o three.json
check 'the same draw' cmp one.json two.json
check 'another draw' test "$(field coefficients one.json)" != "$(field coefficients three.json)"

# ---- a person's rows count for no more than M ----
# One patient with 3000 rows of the one kind turns a model of rows round, and not that of persons.
{ cat v.csv; for _ in $(seq 3000); do echo 'P99999,20,60,yes'; done; } >w.csv
tail=(--schema v.schema.json --loss logistic --penalty l2:lambda=1e-3 --epsilon inf --solver dpgd)
cut -d, -f2- w.csv >rows.csv
ok 'rows' train rows.csv "${tail[@]}" -o rows.json
ok 'persons' train w.csv "${tail[@]}" "${person[@]}" -o persons.json
head -1 w.csv >q.csv; tail -1 w.csv >>q.csv
ok 'of rows' predict rows.json q.csv --person patient --output label
check 'the many rows are heard' test "$(cat .out)" = yes
ok 'of persons' predict persons.json q.csv --person patient --output label
check 'the person is one of many' test "$(cat .out)" = no

# ---- several files, several classes, ledgers ----
{ head -1 v.csv; sed -n '2,2001p' v.csv; } >a.csv
{ head -1 v.csv; sed -n '2002,$p' v.csv; } >b.csv
ok 'parts' train a.csv b.csv "${common[@]:1}" "${person[@]}" --seed 3 -o parts.json
check 'parts are one table' cmp one.json parts.json
python3 - <<'P' >k.csv
import random
random.seed(2)
print('who,a,b,kind')
for i in range(900): print(f'u{i // 3},{random.random():.3f},{random.random():.3f},{random.choice("xyz")}')
P
ok 'classes' train k.csv --label kind --classes x,y,z --row-norm 2 --loss logistic --epsilon 1 --delta 1e-5 \
  --person who --rows-per-person 3 -o k.json
check 'of persons' grep -q '"unit": "One person:' k.json
ok 'verify' verify k.json
ok 'ledger of persons' ledger P --init --epsilon 5 --delta 1e-4 --unit person
ok 'ledger of rows' ledger R --init --epsilon 5 --delta 1e-4
ok 'charged' train "${common[@]}" "${person[@]}" --ledger P -o c.json
ok 'in it' verify c.json --ledger P
bad 'another unit' 4 'person|record' train "${common[@]}" "${person[@]}" --ledger R -o x.json

# ---- what cannot be ----
for solver in dpsgd dpcd dpscd objpert; do
  bad "$solver" 2 'one record can move|cannot weigh' train "${common[@]}" "${person[@]}" --solver $solver -o x.json
done
bad 'how many' 2 'rows-per-person' train "${common[@]}" --person patient -o x.json
bad 'whose' 2 '--person' train "${common[@]}" --rows-per-person 4 -o x.json
bad 'no such column' 3 'no column "nobody"' train "${common[@]}" --person nobody --rows-per-person 4 -o x.json
bad 'the label' 2 'label column cannot be' train "${common[@]}" --person ill --rows-per-person 4 -o x.json
bad 'a feature' 2 'type "ignore"' train "${common[@]}" --person age --rows-per-person 4 -o x.json
sed '7s/^[^,]*,/,/' v.csv >hole.csv
bad 'nobody' 3 'hole.csv:7:1: .*names no person' train hole.csv "${common[@]:1}" "${person[@]}" -o x.json
sed '7s/^[^,]*,/,/' v.csv >hole.csv
bad 'nobody, and malformed records are nothing' 3 'names no person' train hole.csv "${common[@]:1}" "${person[@]}" --invalid zero -o x.json
sed '7s/.*//' v.csv >hole.csv
bad 'an empty line is nobody' 3 'hole.csv:7:1: the line is empty' train hole.csv "${common[@]:1}" "${person[@]}" --invalid zero -o x.json
bad 'none of a person' 2 'at least 1' train "${common[@]}" --person patient --rows-per-person 0 -o x.json
check 'nothing is left' test ! -e x.json
finish
