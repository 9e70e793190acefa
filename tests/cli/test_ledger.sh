#!/usr/bin/env bash
# test_ledger.sh - tacit ledger, --ledger of train and verify, and the curves of account.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
schema=$here/../../docs/reference/format/ledger.schema.json

"$TACIT" generate --rows 400 --seed 1 --schema-output p.schema.json -o p.csv >/dev/null
train=(train p.csv --schema p.schema.json --loss logistic --penalty l2:lambda=1e-2 --solver dpscd:epochs=1 --delta 1e-6
  --row-norm 4)

# ---- making ----
ok 'init' ledger L --init --epsilon 1 --delta 1e-5 --name 'people & <friends>'
bad 'init twice' 2 'already' ledger L --init --epsilon 1 --delta 1e-5
bad 'init without epsilon' 2 '--epsilon' ledger M --init --delta 1e-5
bad 'init without delta' 2 '--delta' ledger M --init --epsilon 1
bad 'init with epsilon 0' 2 'above 0' ledger M --init --epsilon 0 --delta 1e-5
bad 'init with an infinite epsilon' 2 'finite' ledger M --init --epsilon inf --delta 1e-5
bad 'init with an unknown filter' 2 'sum.zcdp' ledger M --init --epsilon 1 --delta 1e-5 --filter best
bad 'init and check' 2 'exclude' ledger M --init --check
bad 'a budget given later' 2 '--init' ledger L --epsilon 3
check 'nothing was made by the refused' test ! -e M
bad 'a ledger that is not there' 1 'cannot open' ledger nowhere
bad 'a ledger that is a table' 3 'no ledger' ledger p.csv
bad 'no file' 2 'missing' ledger

for name in :memory: file:x 'file:y?mode=memory'; do
  ok "a file may be called $name" ledger "$name" --init --epsilon 1 --delta 1e-5
  check "$name is a file" test -s "$name"
done
bad 'no name at all' 1 'no regular file' ledger '' --init --epsilon 1 --delta 1e-5

# ---- the anchor is nobody's output ----
bad 'a ledger that is its own anchor' 2 'another output' ledger W --init --epsilon 5 --delta 1e-4 --anchor W
check 'a ledger that is its own anchor leaves nothing' test -z "$(ls | grep '^W')"
ok 'a ledger with an anchor' ledger W --init --epsilon 5 --delta 1e-4 --anchor W.anchor
bad 'the anchor as output' 2 'anchor' "${train[@]}" --epsilon 0.1 --ledger W -o W.anchor
bad 'a report over the anchor' 2 'anchor' "${train[@]}" --epsilon 0.1 --ledger W -o b.json --report W.anchor
bad 'the anchor as output of a run without the ledger' 2 'anchor' "${train[@]}" --epsilon 0.1 -o W.anchor
ok 'a model for the other verbs' "${train[@]}" --epsilon 0.1 -o tool.json
ok 'a table for the other verbs' generate --rows 5 -o tool.csv
ln -s W W.link
ln W.anchor W.hard
kept=$(cat W W.anchor | sha256sum)
for at in W W.link W.anchor W.hard; do
  bad "$at as a model" 2 'ledger' "${train[@]}" --epsilon 0.1 -o $at
  bad "$at as a report" 2 'ledger' "${train[@]}" --epsilon 0.1 -o b.json --report $at
  bad "$at as a page" 2 'ledger' report tool.json -o $at
  bad "$at as a table" 2 'ledger' generate --rows 5 -o $at
  bad "$at as a schema" 2 'ledger' generate --rows 5 -o b.csv --schema-output $at
  bad "$at as a draft" 2 'ledger' schema tool.csv -o $at
  bad "$at as predictions" 2 'ledger' predict tool.json tool.csv -o $at
  bad "$at as an export" 2 'ledger' export --liblinear tool.json -o $at
  check "$at is kept" test "$(cat W W.anchor | sha256sum)" = "$kept"
done
ok 'the anchor is kept' ledger W --check --json
check 'and nothing was charged' test "$(field runs)" = 0

# ---- running ----
ok 'a run within the budget' "${train[@]}" --epsilon 0.6 --ledger L -o a.json
bad 'a run beyond what is left' 4 'more than is left' "${train[@]}" --epsilon 0.5 --ledger L -o b.json
check 'a refused run leaves no model' test ! -e b.json
bad 'another relation' 4 'relation' "${train[@]/dpscd:epochs=1/dpsgd}" --epsilon 0.1 --neighbours replace_one --ledger L -o b.json
bad 'no such ledger' 1 'cannot open' "${train[@]}" --epsilon 0.1 --ledger nowhere -o b.json
bad 'the ledger as output' 2 'another output' "${train[@]}" --epsilon 0.1 --ledger L -o L
bad 'the ledger through a link as output' 2 'another output' "${train[@]}" --epsilon 0.1 --ledger L -o "$(ln -s L link && echo link)"
bad 'a report that cannot be written' 1 'nosuch' "${train[@]}" --epsilon 0.4 --ledger L -o b.json --report nosuch/b.html
bad 'a report over the ledger' 2 'another output' "${train[@]}" --epsilon 0.4 --ledger L -o b.json --report L
ok 'a second run' "${train[@]}" --epsilon 0.4 --ledger L -o b.json

# ---- showing ----
ok 'show' ledger L
says 'shows the budget' 'budget +epsilon 1, delta 1e-05, add_remove'
says 'shows the runs' '^runs +2'
says 'and how many more fit' ' 0 more runs like the last one'
ok 'show as JSON' ledger L --json
check 'JSON: two runs' test "$(python3 -c 'import json; print(len(json.load(open(".out"))["runs"]))')" = 2
within 'JSON: spent' 0.999999999 "$(field spent.epsilon)" 1.000000001
within 'JSON: left' 0 "$(field left.epsilon)" 1e-9
check 'JSON: no more runs fit' test "$(field left.runs)" = 0
cp .out export.json
if python3 -c 'import jsonschema' 2>/dev/null; then
  check 'the export keeps its schema' python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open("export.json")), json.load(open(sys.argv[1])))' "$schema"
fi
for filter in zcdp gdp rdp; do
  ok "init $filter" ledger "L$filter" --init --epsilon 1 --delta 1e-5 --filter $filter
  ok "show $filter" ledger "L$filter" --json
  within "left of an unused $filter ledger" 0.999 "$(field left.epsilon)" 1
done
ok 'a sampled run under rdp' "${train[@]}" --epsilon 0.4 --ledger Lrdp -o c.json
bad 'a sampled run under gdp' 4 'cannot add up' "${train[@]}" --epsilon 0.4 --ledger Lgdp -o d.json

# ---- checking ----
ok 'check' ledger L --check a.json b.json
bad_check() {
  local name=$1
  shift
  cases=$((cases + 1))
  tacit "$@"
  [ "$code" = 1 ] || fail "$name: exit $code"
  grep -q FAIL .out || fail "$name: no FAIL line"
}
bad_check 'a model of another ledger' ledger L --check c.json
ok 'verify with the ledger' verify a.json --ledger L
tacit verify a.json --ledger not.there
check 'a verdict speaks the words of the command line' grep -q 'make one with `tacit ledger FILE --init`' .out
tacit verify a.json --ledger Lrdp
check 'verify with another ledger' test "$code" = 1
ok 'a model without a ledger' "${train[@]}" --epsilon 0.1 -o e.json
bad_check 'a model without a ledger is not in it' ledger L --check e.json
cp L L.copy
python3 - <<'P'
data = bytearray(open('L.copy', 'rb').read())
at = data.find(b'epochs=1')
data[at + 7:at + 8] = b'2'
open('L.copy', 'wb').write(bytes(data))
P
bad_check 'one byte edited' ledger L.copy --check
bad 'an edited ledger shows nothing' 3 'edited or damaged' ledger L.copy
bad 'an edited ledger permits nothing' 3 'edited or damaged' "${train[@]}" --epsilon 0.001 --ledger L.copy -o f.json

# ---- whose budget it is ----
ok 'init for persons' ledger P --init --epsilon 5 --delta 1e-4 --unit person --people 'patients of ward 3, 2024' --anchor P.anchor
ok 'show its unit' ledger P
says 'shows the unit' '^ *unit +person'
says 'shows the people' 'patients of ward 3, 2024'
bad 'a run that protects records only' 4 'counts persons' "${train[@]}" --epsilon 0.1 --ledger P -o p.json
check 'nothing is left by it' test ! -e p.json -a -z "$(find . -name 'p.json*')"
bad 'a unit that is none' 2 'record.person' ledger Q --init --epsilon 1 --delta 1e-5 --unit house
bad 'a unit given later' 2 '--init' ledger L --unit person
ok 'init for records' ledger S --init --epsilon 50 --delta 1e-3
bad 'a seed' 4 'seed protects nobody' "${train[@]}" --epsilon 0.1 --ledger S --seed 3 -o s.json
check 'the seed was not charged' test "$("$TACIT" ledger S --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["runs"]))')" = 0
ok 'init for tests' ledger T --init --epsilon 50 --delta 1e-3 --for-tests
ok 'a seed for tests' "${train[@]}" --epsilon 0.1 --ledger T --seed 3 -o t.json
ok 'show for tests' ledger T
says 'a ledger for tests says so' 'FOR TESTS'
says 'its sum is no guarantee' 'SEEDED +1 of the runs'
ok 'verify a seeded model' verify t.json --ledger T
says 'it is not private' '^NOT PRIVATE: .*protects nobody'
check 'it is not called verified' test "$(grep -c '^verified' .out)" = 0
ok 'verify a seeded model as JSON' verify t.json --json
check 'JSON: reproducible' test "$(field verdict)" = reproducible
ok 'an unaccounted run' "${train[@]/dpscd:epochs=1/dpgd:steps=2}" --scale max-abs --epsilon 0.1 --ledger S -o u.json
ok 'show an unaccounted run' ledger S
says 'the entry names the fact' 'UNACCOUNTED: features were scaled'
says 'the sum is no guarantee' 'UNACCOUNTED +1 of the runs'

# ---- which rows ----
ok 'the same rows again' "${train[@]}" --epsilon 0.1 --ledger S -o v.json
head -300 p.csv >part.csv
train_part=("${train[@]/p.csv/part.csv}")
ok 'a part of the rows' "${train_part[@]}" --epsilon 0.1 --ledger S -o v.json
cp p.csv more.csv && tail -3 p.csv >>more.csv
more=("${train[@]/p.csv/more.csv}")
bad 'more rows' 4 '--input-changed' "${more[@]}" --epsilon 0.1 --ledger S -o w.json
ok 'more rows with a reason' "${more[@]}" --epsilon 0.1 --ledger S --input-changed 'late returns' -o w.json
ok 'show the reason' ledger S
says 'the reason is an entry' 'input changed.*late returns'
bad 'a reason without a ledger' 2 'ledger' "${more[@]}" --epsilon 0.1 --input-changed x -o w.json
TACIT_REGISTRY=$work/tables
ok 'a first ledger of a registry' ledger R1 --init --epsilon 9 --delta 1e-4
ok 'a second one' ledger R2 --init --epsilon 9 --delta 1e-4
ok 'a run on the first' "${train[@]}" --epsilon 0.1 --ledger R1 -o r.json
check 'nothing to tell' test "$(grep -c 'another ledger' .err)" = 0
ok 'a run on the second' "${train[@]}" --epsilon 0.1 --ledger R2 -o r.json
check 'it is told' grep -q 'another ledger before .*R1' .err
check 'the registry is for the user alone' test "$(stat -c %a tables)" = 600
TACIT_REGISTRY=none

# ---- rolled back, no room ----
ok 'anchor' ledger S --anchor S.anchor
cp S S.old
ok 'a run after a copy' "${train[@]}" --epsilon 0.1 --ledger S -o x.json
ok 'in order' ledger S --check x.json w.json v.json S.anchor
cp S.old S
bad_check 'a rolled back ledger by its anchor' ledger S --check
bad_check 'a rolled back ledger by one of many models' ledger S --check v.json w.json x.json
bad 'a rolled back ledger is refused' 3 'rolled back' "${train[@]}" --epsilon 0.1 --ledger S -o y.json
bad 'no folder for the model' 1 'nosuch' "${train[@]}" --epsilon 0.1 --ledger T -o nosuch/m.json
ok 'a ledger whose anchor is lost' ledger N --init --epsilon 5 --delta 1e-3 --anchor N.anchor
bad 'which is there, and agrees' 2 'is not lost' ledger N --anchor N.new --anchor-lost 'the disk broke'
ok 'a run' "${train[@]}" --epsilon 0.1 --ledger N -o n.json
rm N.anchor && mkfifo N.anchor
bad 'a pipe in its place' 1 'cannot be read; bring it back, or say that it was lost' "${train[@]}" --epsilon 0.1 --ledger N -o y.json
bad 'no reason' 2 'reason is empty' ledger N --anchor N.new --anchor-lost ''
bad 'no new one' 2 'needs --anchor' ledger N --anchor-lost 'the disk broke'
bad 'a new ledger' 2 'needs --anchor' ledger O --init --epsilon 5 --delta 1e-3 --anchor O.anchor --anchor-lost 'the disk broke'
ok 'a new anchor' ledger N --anchor N.new --anchor-lost 'the disk broke'
ok 'show that it was lost' ledger N
says 'the loss is an entry' '^ANCHOR LOST .*: the disk broke; nobody can tell'
says 'the new one is kept' '^ *anchor +.*/N.new$'
ok 'the export says so' ledger N --json
check 'in an entry of its own' test "$(python3 -c 'import json; o = json.load(open(".out")); print([e["reason"] for e in o["lost_anchors"]], o["changes"])')" = "['the disk broke'] []"
if python3 -c 'import jsonschema' 2>/dev/null; then
  check 'and keeps its schema' python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(".out")), json.load(open(sys.argv[1])))' "$schema"
fi
ok 'a run goes on' "${train[@]}" --epsilon 0.1 --ledger N -o y.json
ok 'the check says so' ledger N --check y.json n.json N.new
says 'in a line of its own' '^ok +anchor before +an anchor was lost \(2.*: the disk broke\), and nobody can tell whether'
ok 'and verify' verify y.json --ledger N --json
check 'with the entry' grep -q 'in the ledger as the model tells it; an anchor was lost' .out
(trap '' XFSZ; ulimit -f 2 && exec "$TACIT" ledger Z --init --epsilon 1 --delta 1e-5) >/dev/null 2>&1
check 'an init without room leaves nothing' test ! -e Z -a ! -e Z-journal
if mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
  before=$("$TACIT" ledger T --json | grep -c '"input"')
  head -c 60000 /dev/zero >full/fill
  bad 'a full disk' 1 'room' "${train[@]}" --epsilon 0.1 --ledger T -o full/m.json
  check 'a full disk is found before the charge' test "$("$TACIT" ledger T --json | grep -c '"input"')" = "$before"
  check 'and leaves nothing' test "$(ls full)" = fill
  umount full
fi

# ---- curves ----
ok 'curve as CSV' account gaussian:noise=5,count=10 --curve c.csv
check 'CSV: head and 121 points' test "$(head -1 c.csv) $(wc -l <c.csv)" = 'delta,epsilon,epsilon_lower,accountant 122'
check 'CSV: falls' awk -F, 'NR > 2 && $2 > last * 1.001 { exit 1 } { last = $2 }' c.csv
ok 'curve against steps' account gaussian:noise=5,count=50 laplace:noise=9,count=2 --curve s.csv --against steps --delta 1e-6
check 'CSV: one line a step' test "$(wc -l <s.csv)" = 53
check 'CSV: rises' awk -F, 'NR > 2 && $2 < last * 0.999 { exit 1 } { last = $2 }' s.csv
ok 'the same at its end' account gaussian:noise=5,count=50 laplace:noise=9,count=2 --delta 1e-6 --json
within 'the curve ends at the cost of the whole' "$(field epsilon | awk '{ printf "%.17g", $1*(1-1e-3) }')" "$(tail -1 s.csv | cut -d, -f2)" \
  "$(field epsilon | awk '{ printf "%.17g", $1*(1+1e-3) }')"
ok 'curve as SVG' account gaussian:noise=5,count=10 --curve c.svg
check 'SVG: well-formed, with axes and labels' python3 -c 'import xml.etree.ElementTree as e
r = e.parse("c.svg").getroot(); t = [x.text for x in r.iter() if x.tag.endswith("text")]
assert "epsilon" in t and "delta" in t and "1e-6" in t and len(t) > 15 and "nan" not in open("c.svg").read()'
bad 'curve to another kind of file' 2 'svg or .csv' account gaussian:noise=5 --curve c.png
bad 'curve against steps without delta' 2 '--delta' account gaussian:noise=5 --curve c.svg --against steps
bad 'curve and calibration' 2 '--epsilon' account gaussian:noise=5 --curve c.svg --epsilon 1
bad 'axis without a curve' 2 '--curve' account gaussian:noise=5 --delta 1e-6 --against steps
finish
