#!/usr/bin/env bash
# test_verbs.sh - help, tables and the way from invented people to a verified model.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# json NAME : the last standard output is one JSON object and nothing else.
json() {
  cases=$((cases + 1))
  python3 -c 'import json,sys; o=json.load(open(".out")); assert type(o) is dict; assert open(".out").read().count("\n") == 1' ||
    fail "$1: standard output is not one JSON object on one line: $(head -c 300 .out)"
}
# has NAME KEY... : the object has exactly or at least these keys.
has() {
  local name=$1 key
  shift
  for key in "$@"; do
    cases=$((cases + 1))
    field "$key" >/dev/null 2>&1 || fail "$name: no field $key"
  done
}

# ---- help ----
ok 'version' --version
says 'the version is a number' '^tacit [0-9]+\.[0-9]+\.[0-9]+$'
ok 'help' --help
for verb in train search predict evaluate account verify report schema generate components export audit; do
  says "help names $verb" "^  $verb "
done
for verb in train search predict evaluate account verify report schema generate components export audit; do
  ok "$verb --help" $verb --help
  says "$verb --help has a usage line" "^tacit $verb "
  says "$verb --help has an example" '^ +tacit '
  says "$verb --help names --json" '^  --json '
  check "$verb --help is short" test "$(wc -l <.out)" -lt 165
  check "$verb --help fits a wide terminal" awk 'length > 125 { exit 1 }' .out
  ok "$verb -h" $verb -h
done

# ---- records ----
ok 'generate' generate --rows 3000 --seed 5 -o people.csv --json
json 'generate'
has 'generate' rows kind seed data schema
check 'generate writes the rows that it was asked for' test "$(wc -l <people.csv)" = 3001
check 'generate writes the schema beside' test -s people.schema.json
check 'a schema comes through a pipe' bash -c '"$TACIT" train people.csv --schema <(cat people.schema.json) --loss logistic --epsilon 1 --delta 1e-5 -o piped.json'
ok 'generate again' generate --rows 3000 --seed 5 -o again.csv
check 'the same seed gives the same records' cmp people.csv again.csv
for key in walk path_length; do
  ok "a key called $key" train people.csv --loss logistic --epsilon 1 --delta 1e-5 --solver "dpgd:$key=900" --seed 3 --schema people.schema.json -o "$key.json"
done
check 'an older name of a key means the same' cmp <(sed '/created/d; s/dpgd:walk=/dpgd:path_length=/' walk.json) <(sed '/created/d' path_length.json)
ok 'generate fewer' generate --rows 1000 --seed 5 -o fewer.csv
check 'fewer rows are the beginning of more' cmp fewer.csv <(head -n 1001 people.csv)
ok 'generate another' generate --rows 3000 --seed 6 -o others.csv
check 'another seed gives other records' bash -c '! cmp -s people.csv others.csv'
ok 'generate a regression' generate --rows 3000 --kind regression -o income.csv
ok 'schema' schema people.csv --label high_income
check 'a draft says that it is not private' grep -qi 'not private' .err
python3 -c 'import json; json.load(open(".out"))' || fail 'the draft is no JSON'
cp .out draft.json
bad_draft() { tacit schema --check draft.json; [ "$code" = 3 ] && grep -q 'MUST CHANGE: it is a draft' .out; }
check 'a draft does not pass its review' bad_draft
ok 'the schema passes' schema --check people.schema.json
says 'and its size is told' '[0-9]+ columns, [0-9]+ features'
bad 'a review writes no file' 2 'leave --label and -o away' schema --check people.schema.json -o x.json

# ---- train ----
usual=(people.csv --schema people.schema.json --loss logistic --penalty l2:lambda=1e-3 --intercept)
private=("${usual[@]}" --solver dpscd --epsilon 1 --delta 1e-6)
ok 'train' train "${private[@]}" -o m.json --json
json 'train'
has 'train' solver loss penalty epsilon delta neighbours accountant noise_multiplier events rows columns ranks \
  seconds.read seconds.plan seconds.train model
check 'a private run on a schema warns of nothing' test ! -s .err
ok 'train for people' train "${private[@]}" -o m.json
says 'the text states the claim' '^privacy +epsilon 1, delta 1e-06, add_remove, proved by '
ok 'a dry run opens no data' train nosuch.csv --dry-run --shape 3000,31 --loss logistic --penalty l2:lambda=1e-3 \
  --solver dpscd --epsilon 1 --delta 1e-6 --row-norm 2 --json
json 'a dry run'
has 'a dry run' solver epsilon delta noise_multiplier events memory_bytes
bad 'an option again' 2 'epsilon was given twice' train "${private[@]}" --epsilon=3 -o two.json --json
check 'an option again makes no model' test ! -e two.json
ok 'a seed' train "${private[@]}" --seed 3 --threads 1 -o s1.json
check 'a seed is warned of' grep -q 'do not publish' .err
ok 'the same seed' train "${private[@]}" --seed 3 --threads 2 -o s2.json
check 'the same seed gives the same bytes for 1 and 2 threads' cmp s1.json s2.json
ok 'another seed' train "${private[@]}" --seed 4 -o s3.json
check 'another seed gives another model' bash -c '! cmp -s s1.json s3.json'
ok 'an unaccounted scale' train people.csv --schema people.schema.json --loss logistic --penalty l2:lambda=1e-3 \
  --solver dpscd --epsilon 1 --delta 1e-6 --row-norm 3 --scale max-abs -o scaled.json
check 'an unaccounted scale is loud' grep -q 'warning: UNACCOUNTED' .err
ok 'without privacy' train "${usual[@]}" --solver scd -o exact.json
check 'no privacy is loud' grep -q 'warning: privacy NONE' .err
says 'no privacy is printed' '^privacy +NONE'
merge "${private[@]}" --epsilon inf
ok 'epsilon inf' train "${merged[@]}" -o inf.json
check 'an infinite epsilon is loud' grep -q 'warning: privacy NONE' .err
check 'training leaves no temporary file' test -z "$(ls | grep -E 'tmp')"

# Ctrl-C ends a run without a model.  The run is long: many epochs on few records.
cases=$((cases + 1))
merge "${private[@]}" --solver dpscd:epochs=20000
"$TACIT" train "${merged[@]}" -o never.json 2>.err >.out &
pid=$!
for _ in $(seq 600); do grep -qE 'SigCgt:.*[2367abef]$' /proc/$pid/status 2>/dev/null && break; sleep 0.1; done # SIGINT is caught
sleep 1
kill -INT $pid 2>/dev/null
wait $pid
code=$?
[ "$code" = 1 ] || fail "an interrupted run exits with $code, not 1: $(cat .err)"
check 'an interrupted run says so' grep -q '^tacit: .*cancel' .err
check 'an interrupted run leaves no file' test -z "$(ls | grep never)"

# ---- predict and evaluate ----
ok 'predict' predict exact.json others.csv
check 'one number a line' test "$(grep -cE '^-?[0-9.]+(e-?[0-9]+)?$' .out)" = 3000
cp .out margins
ok 'predict labels' predict exact.json others.csv --output label -o labels
ok 'predict probabilities' predict exact.json others.csv --output probability -o probabilities
check 'labels are the signs of margins, by name' bash -c "paste margins labels | awk '((\$1 > 0) != (\$2 == \"yes\")) || (\$2 != \"yes\" && \$2 != \"no\") { exit 1 }'"
check 'probabilities follow the margins' bash -c "paste margins probabilities | awk '{ d = 1/(1+exp(-\$1)) - \$2; if (d*d > 1e-16) exit 1 }'"
ok 'predict as JSON' predict exact.json others.csv --json
json 'predict'
xz -k others.csv
cases=$((cases + 1))
"$TACIT" predict exact.json - <others.csv.xz | cmp - margins || fail 'compressed standard input gives other numbers'
ok 'evaluate' evaluate exact.json others.csv --json
json 'evaluate'
has 'evaluate' rows mean_loss objective accuracy auc mse private
check 'the figures are called not private' test "$(field private)" = False
cp .out scores
python3 - <<'P' || fail 'the figures differ from those computed from the predictions'
import json, math
o = json.load(open('scores'))
z = [float(t) for t in open('margins')]
y = [1 if l.rstrip().endswith('yes') else -1 for l in open('others.csv').read().splitlines()[1:]]
n = len(z)
loss = math.fsum(math.log1p(math.exp(-a * b)) for a, b in zip(z, y)) / n
right = sum((a > 0) == (b > 0) for a, b in zip(z, y)) / n
pos = [a for a, b in zip(z, y) if b > 0]
neg = [a for a, b in zip(z, y) if b < 0]
auc = sum((p > q) + 0.5 * (p == q) for p in pos for q in neg) / len(pos) / len(neg)
m = json.load(open('exact.json'))
w = m['coefficients'] + ([m['intercept']] if m['transforms']['penalised_intercept'] else [])
objective = loss + 0.5e-3 * math.fsum(a * a for a in w)
assert o['rows'] == n and o['mse'] is None
assert abs(o['mean_loss'] - loss) < 1e-12 and o['accuracy'] == right and abs(o['auc'] - auc) < 1e-12, (o, loss, right, auc)
assert abs(o['objective'] - objective) < 1e-12, (o['objective'], objective)
P
ok 'evaluate for people' evaluate exact.json others.csv
says 'the text says that it is not private' 'NOT private'
printf 'a,y\n1,1\n1,0\n2,1\n2,1\n0,0\n1,1\n' >ties.csv
ok 'train on ties' train ties.csv --label y --loss logistic --penalty l2:lambda=0.1 --solver scd --row-norm 9 -o ties.json
ok 'evaluate ties' evaluate ties.json ties.csv --json
within 'ties count half in the AUC' 0.8749 "$(field auc)" 0.8751
ok 'a regression' train income.csv --schema income.schema.json --loss squared --penalty l2:lambda=1e-5 --solver scd --intercept -o r.json
ok 'evaluate a regression' evaluate r.json income.csv --json
within 'the error of the invented income is its noise' 55 "$(field mse)" 64
check 'a regression has no accuracy' test "$(field accuracy)" = None

# ---- the invented population has the coefficients that its help states ----
ok 'a larger population' generate --rows 40000 -o large.csv
ok 'train on it' train large.csv --schema large.schema.json --loss logistic --penalty l2:lambda=1e-5 --solver scd:tol=1e-5 --intercept -o large.json
cases=$((cases + 1))
python3 - <<'P' || fail 'the coefficients of the population are not recovered'
import json
m = json.load(open('large.json'))
w = dict(zip(m['features'], m['coefficients']))
known = dict(age=1.4, hours=2.6, tenure=1.1, household=-.5, commute=.2)
for k, v in known.items(): assert abs(w[k] - v) < 0.3, (k, w[k], v)
for a, b, d in [('sex=male', 'sex=female', .35), ('education=master', 'education=none', 2.1), ('education=vocational', 'education=primary', .7),
                ('region=capital', 'region=islands', .6), ('sector=public', 'sector=trade', .2)]:
    assert abs(w[a] - w[b] - d) < 0.25, (a, b, w[a] - w[b], d)
P

# ---- report ----
ok 'a report' report m.json -o m.html
check 'the page is a page' grep -q '^<!DOCTYPE html>$' m.html
check 'the page ends' grep -q '^</html>$' m.html
ok 'a report on standard output' report m.json
check 'both are the same' cmp m.html .out
ok 'the long form' report m.json --output long.html --json
json 'report'
check 'it is the same too' cmp m.html long.html
ok 'a model with its report' train "${private[@]}" --seed 3 -o s4.json --report s4.html --json
has 'train --report' report
ok 'the report afterwards' report s4.json
check 'a page written while training is that of the model file' cmp s4.html .out
check 'the page carries the fingerprint of the model file' grep -q "$(sha256sum <s4.json | cut -d' ' -f1)" s4.html
check 'a seed is on the page' grep -q 'must not be published' s4.html
ok 'the report of a model without privacy' report exact.json
says 'it says so' 'This model has no privacy'

# ---- export ----
ok 'export' export --liblinear exact.json
says 'the exported type' '^solver_type L2R_LR$'
check 'one weight a feature, and the intercept' test "$(sed '1,/^w$/d' .out | wc -l)" = 32
awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { s = rand() < .5 ? 1 : -1; printf "%+d", s; for (j = 1; j < 9; j++) if (rand() < .6) printf " %d:%.4f", j, s * (j % 3 - 1) * rand() + 2 * rand() - .5; print "" } }' >t.libsvm
for settings in 'logistic --intercept' 'hinge' 'logistic --intercept --scale standard'; do
  ok "train ($settings)" train t.libsvm --cols 8 --loss $settings --row-norm 1.5 --penalty l2:lambda=1e-3 --solver scd -o l.json
  ok "export ($settings)" export --liblinear l.json -o l.liblinear
  ok "predict ($settings)" predict l.json t.libsvm --output label -o ours
  if command -v liblinear-predict >/dev/null; then
    liblinear-predict t.libsvm l.liblinear theirs >/dev/null || fail "liblinear-predict refuses the model ($settings)"
    check "liblinear-predict gives the same labels ($settings)" cmp ours theirs
    check "both labels occur ($settings)" test "$(sort -u ours | wc -l)" = 2
  else
    echo 'skipped: liblinear-predict is not installed'
  fi
done

# ---- verify ----
ok 'verify' verify m.json --json
json 'verify'
check 'a fresh model is verified' test "$(field ok)" = True
ok 'verify a model without privacy' verify exact.json
says 'it claims none' 'claims no privacy'
ok 'verify a seeded model' verify s1.json
says 'a seeded model is reported' 'must not be published'
ok 'verify a scaled model' verify scaled.json
says 'unaccounted steps are reported' 'UNACCOUNTED'
python3 - <<'P'
import json
m = json.load(open('m.json'))
m['version'], m['coefficients'][0] = 1, 1e300
del m['privacy']['fits'], m['privacy']['weights'], m['classes']
json.dump(m, open('stripped.json', 'w'))
P
cases=$((cases + 1))
tacit verify stripped.json
[ "$code" = 1 ] || fail "verify a file without its fits: exit $code, not 1"

# forged NAME PYTHON REGEX : the statement edits the model m; verify must refuse it.
forged() {
  cases=$((cases + 1))
  python3 -c "import json; m=json.load(open('m.json')); p=m['privacy']; $2; json.dump(m, open('forged.json','w'))" || fail "$1: the edit failed"
  tacit verify forged.json --json
  [ "$code" = 1 ] || fail "$1: verify exits with $code"
  [ "$(field ok)" = False ] || fail "$1: ok is not false"
  grep -qE -- "$3" .err || fail "$1: does not say '$3': $(cat .err)"
}
forged 'a lower epsilon' "p['epsilon']=0.99" 'claim'
forged 'a lower delta' "p['delta']=1e-7" 'claim'
forged 'more events' "p['events']=[e.replace('count=','count=1') for e in p['events']]" 'events are not those'
forged 'one more release' "p['events'].append('gaussian:noise=3')" 'events are not those'
forged 'less noise' "import re; p['events']=[re.sub('noise=[^,]*', 'noise=1', e) for e in p['events']]" 'events are not those|claim|proves'
forged 'no events' "p['events']=[]" 'none|event'
forged 'an unknown event' "p['events']=['magic:noise=3']" 'magic'
forged 'an unknown accountant' "p['accountant']='wishful'" 'wishful|claim is not that'
forged 'an accountant that does not apply' "p['accountant']='gdp'" 'gdp|claim is not that'
forged 'another relation' "p['neighbours']='replace_one'" 'replace|appl|claim|proves'
forged 'no epsilon' "del p['epsilon']" 'epsilon'
forged 'no trust sentence' "del p['trust']" 'trust'
forged 'no unaccounted list' "del p['unaccounted']" 'unaccounted'
forged 'a lost coefficient' "m['coefficients'].pop()" 'coefficients'
forged 'a coefficient without a value' "m['coefficients'][0]=None" 'coefficients'
forged 'another version' "m['version']=99" 'version'
forged 'another format' "m['format']='x'" 'format'
forged 'a solver without privacy' "m['solver']='scd'" 'scd'
forged 'an unknown loss' "m['loss']='joy'" 'joy'
forged 'NONE with an epsilon' "p['private']=False" 'NONE|not what this claim has'

# ---- account and components ----
ok 'account' account gaussian:noise=1 --delta 1e-5 --json
json 'account'
has 'account' epsilon epsilon_lower delta accountant accountants neighbours
within 'one Gaussian step of noise 1' 4.3771780 "$(field epsilon)" 4.3771782
ok 'account for replace_one' account gaussian:noise=2 --delta 1e-5 --neighbours replace_one --json
within 'twice the sensitivity is half the noise' 4.3771780 "$(field epsilon)" 4.3771782
ok 'calibrate noise' account gaussian:count=7 --epsilon 1 --delta 1e-5 --json
noise=$(field noise)
ok 'what it costs' account gaussian:noise=$noise,count=7 --delta 1e-5 --json
within 'the calibrated noise costs at most epsilon' 0.99999 "$(field epsilon)" 1
ok 'calibrate a count' account gaussian:noise=20,count=? --epsilon 1 --delta 1e-5 --json
count=$(field count)
ok 'one more' account gaussian:noise=20,count=$((count + 1)) --delta 1e-5 --json
within 'one step more costs more' 1.0000001 "$(field epsilon)" 2
ok 'calibrate a rate' account sampled_gaussian:noise=1,count=1000 --epsilon 1 --delta 1e-5 --json
rate=$(field rate)
within 'the calibrated rate costs at most epsilon' 0.9999 "$(field epsilon)" 1
ok 'what the rate costs' account sampled_gaussian:noise=1,count=1000,rate=$rate --delta 1e-5 --json
within 'a plain question answers to its own precision of 1e-3' 0.9999 "$(field epsilon)" 1.0005
ok 'account for people' account laplace:noise=2 exponential:epsilon=0.1,count=5 --delta 1e-6
says 'a table of accountants' '^accountant +epsilon'
ok 'components' components --json
json 'components'
python3 -c 'import json
c=json.load(open(".out"))["components"]
kinds={e["kind"] for e in c}
assert kinds=={"loss","penalty","solver","accountant","reader","event"}, kinds
assert len({(e["kind"],e["name"]) for e in c})==len(c)
assert all(o["help"] for e in c for o in e["options"])' || fail 'the table of components'
ok 'one component' components solver dpscd
says 'its options are described' '^ +batch '
ok 'one component by its name alone' components dpgd
says 'and its options' '^ +momentum '
finish
