#!/usr/bin/env bash
# test_bad_input.sh - wrong input gets one sentence and the right exit code, and harms no file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mkdir out
printf 'a,b,y\n' >good.csv
for i in 1 2 3 4 5 6 7 8; do printf '0.%d,0.%d,%d\n0.%d,0.1,%d\n' $i $((9 - i)) $((i % 2)) $((9 - i)) $((i / 5)) >>good.csv; done
bounds='"columns":[{"name":"a","type":"number","lower":0,"upper":1},{"name":"b","type":"number","lower":0,"upper":1}]'
model=(--loss logistic --penalty l2:lambda=0.1 --solver dpscd)
private=(--epsilon 1 --delta 1e-6 --row-norm 1)
"$TACIT" train good.csv --label y "${model[@]}" "${private[@]}" --seed 1 -o kept.json 2>.err >.out || fail "the good table: $(cat .err)"
kept=$(sha256sum <kept.json)

# no NAME CODE REGEX ARGS... : `tacit train ARGS` fails, once onto a new name and once onto an existing model;
# no file appears and the model stays.
no() {
  local name=$1 expected=$2 regex=$3
  shift 3
  bad "$name" "$expected" "$regex" train "$@" -o out/new.json
  [ -z "$(ls -A out)" ] || fail "$name: left $(ls -A out)" && rm -rf out/*
  tacit train "$@" -o kept.json
  [ "$code" = "$expected" ] || fail "$name: onto an existing model: exit $code, not $expected"
  [ "$(sha256sum <kept.json)" = "$kept" ] || fail "$name: touched an existing model"
}
# data NAME CODE REGEX FILE : the usual settings on a bad table.
table() {
  local name=$1 expected=$2 regex=$3 file=$4
  shift 4
  no "$name" "$expected" "$regex" "$file" --label y "${model[@]}" "${private[@]}" "$@"
}
# csv NAME REGEX TEXT : a bad CSV table.
csv() {
  printf "$3" >bad.csv
  table "$1" 3 "$2" bad.csv "${@:4}"
}

# ---- tables ----
csv 'empty file' 'empty|no ' ''
csv 'only an empty line' 'empty|header|no ' '\n'
csv 'header and no row' 'no record|no rows|record' 'a,b,y\n'
csv 'a short row' 'bad.csv:3' 'a,b,y\n1,2,1\n1,2\n1,2,0\n'
csv 'a long row' 'bad.csv:3' 'a,b,y\n1,2,1\n1,2,3,0\n'
csv 'NaN' 'bad.csv:3:2' 'a,b,y\n1,2,1\n1,nan,0\n'
csv 'inf' 'bad.csv:2:1' 'a,b,y\ninf,2,1\n1,1,0\n'
csv 'minus infinity' 'bad.csv:2:1' 'a,b,y\n-Infinity,2,1\n1,1,0\n'
csv 'a number beyond doubles' 'bad.csv:2:1' 'a,b,y\n1e400,2,1\n1,1,0\n'
csv 'text in a number column' 'bad.csv:3:1' 'a,b,y\n1,2,1\nabc,1,0\n'
csv 'a hexadecimal number' 'bad.csv:3:1' 'a,b,y\n1,2,1\n0x10,1,0\n'
csv 'a missing value' 'bad.csv:3:2' 'a,b,y\n1,2,1\n1,,0\n'
csv 'a label that is no class' 'bad.csv:3:3' 'a,b,y\n1,2,1\n1,1,7\n'
csv 'a missing label' 'bad.csv:3:3' 'a,b,y\n1,2,1\n1,1,\n'
csv 'a quote that never closes' 'bad.csv:2:2: .*does not end in its line' 'a,b,y\n1,"2,1\n1,1,0\n'
csv 'two columns of one name' 'a|twice|column' 'a,a,y\n1,2,1\n1,1,0\n'
csv 'a zero byte' 'bad.csv' 'a,b,y\n1,2\0003,1\n1,1,0\n'
csv 'only the label column' 'feature' 'y\n1\n0\n'
no 'a label name that is not there' 3 'no column' good.csv --label nosuch "${model[@]}" "${private[@]}"
no 'a label number beyond the columns' 3 'column' good.csv --label 9 "${model[@]}" "${private[@]}"
no 'no label named' 2 'label' good.csv "${model[@]}" "${private[@]}"

# ---- names of files and columns that look like a slot (core/slots.def) stay as they are ----
printf '{"{label}":1,"{cols}":7}\n' >'{epsilon}.jsonl'
no 'a column called {cols}' 3 '^tacit: {epsilon}.jsonl:1: column "{cols}": .* means [+]1 [(]--positive, or' '{epsilon}.jsonl' \
  --label '{cols}' "${model[@]}" "${private[@]}"
no 'a column called {label} that is not there' 3 '^tacit: good.csv:1: the header has no column "{label}"' good.csv \
  --label '{label}' "${model[@]}" "${private[@]}"

# ---- a positive label that cannot be, or never is: refused, and nothing is charged ----
"$TACIT" ledger charged.ledger --init --epsilon 3 --delta 1e-5 >/dev/null 2>&1
untouched=$(sha256sum <charged.ledger)
label() { printf '{%s,"label":{"name":"y"%s}}' "$bounds" "$1" >label.json; }
charged=(good.csv --schema label.json "${model[@]}" --epsilon 1 --delta 1e-6 --ledger charged.ledger)
label ',"positive":"yes","values":["0","1"]'
no 'a positive value outside the schema'"'"'s list' 3 'label.json.*not among' "${charged[@]}"
label ',"positive":"1","values":["0","1"]'
no 'a --positive outside the schema'"'"'s list' 2 'not among the schema' "${charged[@]}" --positive yes
label ',"positive":"yes"'
no 'a positive value that never occurs' 3 'no record.s label "y" is the positive value' "${charged[@]}"
label ''
no 'a --positive that never occurs' 3 'no record.s label "y" is the positive value' "${charged[@]}" --positive 7
[ "$(sha256sum <charged.ledger)" = "$untouched" ] || fail 'a refused positive label was charged'
label ',"positive":"1.0","values":["0","1"]'
ok 'a positive value equal as a number' train "${charged[@]}" -o listed.json
[ "$(sha256sum <charged.ledger)" != "$untouched" ] || fail 'a run was not charged'
rm -f out/*

# ---- promises that are none: said by plan, run and verification ----
ok 'a plan at delta 1/n' train --dry-run --shape 1000,3 "${model[@]}" --row-norm 1 --epsilon 1 --delta 1e-3
grep -q 'warning: delta 0.001 is not below 1/n' .err || fail "a plan at delta 1/n: no warning: $(cat .err)"
ok 'a plan at a small delta' train --dry-run --shape 1000,3 "${model[@]}" --row-norm 1 --epsilon 8 --delta 1e-6
[ ! -s .err ] || fail "a plan at a small delta: a warning: $(cat .err)"
ok 'a run at epsilon 50' train good.csv --label y "${model[@]}" --row-norm 1 --epsilon 50 --delta 1e-6 -o large.json --json
grep -q 'warning: epsilon 50 is above 8' .err || fail "a run at epsilon 50: no warning: $(cat .err)"
grep -q '"name": *"epsilon"' .out || fail 'a run at epsilon 50: no warning in the JSON'
ok 'verify at epsilon 50' verify large.json
grep -q '^note  epsilon ' .out && grep -q '^verified: .*weaker than that' .out || fail "verify at epsilon 50: $(cat .out)"
ok 'verify a seeded model' verify kept.json
grep -q '^NOT PRIVATE: ' .out || fail "verify a seeded model: a bare verified"
ok 'a run with little signal' train good.csv --label y "${model[@]}" "${private[@]}" -o faint.json
grep -q 'warning: a signal.* is below 3' .err || fail "a run with little signal: no warning: $(cat .err)"
ok 'verify a model of little signal' verify faint.json
grep -q '^note  signal ' .out && ! grep -q 'weaker' .out || fail "verify a model of little signal: $(cat .out)"
rm -f out/*
head -c 3000 /dev/zero | tr '\0' '\377' >garbage
table 'a block of 0xff bytes' 3 'garbage' garbage
printf '\177ELF\002\001\001\000\000\000\000\000\003\000\076\000' >elf
head -c 5000 "$TACIT" >>elf
table 'a program' 3 'elf' elf
xz -k good.csv && head -c $(($(wc -c <good.csv.xz) - 20)) good.csv.xz >cut.csv.xz
table 'a truncated .xz' 3 'cut.csv.xz' cut.csv.xz
gzip -k good.csv && head -c $(($(wc -c <good.csv.gz) - 12)) good.csv.gz >cut.csv.gz
table 'a truncated .gz' 3 'cut.csv.gz' cut.csv.gz
{ head -c 60 good.csv.xz; printf 'XXXXXXXX'; tail -c +69 good.csv.xz; } >broken.csv.xz
table 'a damaged .xz' 3 'broken.csv.xz' broken.csv.xz
table 'a table that is not there' 1 'nosuch.csv' nosuch.csv
mkdir folder
table 'a folder for a table' 1 'folder' folder
libsvm() {
  printf "$3" >bad.libsvm
  no "$1" 3 "$2" bad.libsvm "${model[@]}" "${private[@]}" "${@:4}"
}
libsvm 'LIBSVM: index 0' 'bad.libsvm:2' '+1 1:1 2:1\n-1 0:1 2:1\n'
libsvm 'LIBSVM: indices that fall' 'bad.libsvm:2' '+1 1:1 2:1\n-1 2:1 1:1\n'
libsvm 'LIBSVM: an index beyond --cols' 'bad.libsvm:1' '+1 1:1 20:1\n-1 1:1\n' --cols 3
libsvm 'LIBSVM: a broken pair' 'bad.libsvm:2' '+1 1:1 2:1\n-1 1:1 2:\n'
libsvm 'LIBSVM: NaN' 'bad.libsvm:2' '+1 1:1 2:1\n-1 1:nan\n'
# npy NAME DESCR SHAPE BODY : a NumPy file; BODY is a format of printf.
npy() {
  local head="{'descr': $2, 'fortran_order': False, 'shape': $3, }"
  while (((${#head} + 11) % 64)); do head+=' '; done
  { printf '\223NUMPY\001\000'; printf "\\$(printf %03o $((${#head} + 1)))\\000"; printf '%s\n' "$head"; printf "$4"; } >"$1"
}
one='\000\000\000\000\000\000\360\077' nan='\000\000\000\000\000\000\370\177'
row=$one$one$one
npy whole.npy "'<f8'" '(4, 3)' "$row$row$row$row"
npy short.npy "'<f8'" '(4, 3)' "$row$row$row$one${one:0:28}"
npy object.npy "'|O'" '(4, 3)' "$row$row$row$row"
npy cube.npy "'<f8'" '(2, 2, 3)' "$row$row$row$row"
npy nan.npy "'<f8'" '(4, 3)' "$row$row$row$one$nan$one"
ok 'NPY: whole' train whole.npy --label 3 "${model[@]}" "${private[@]}" --seed 1 -o out/whole.json
rm -f out/whole.json
for kind in short object cube nan; do
  no "NPY: $kind" 3 "$kind.npy" $kind.npy --label 3 "${model[@]}" "${private[@]}"
done

# ---- schemas ----
schema() {
  printf '%s' "$4" >s.json
  no "$1" "$2" "$3" good.csv --schema s.json "${model[@]}" --epsilon 1 --delta 1e-6
}
schema 'a schema that is no JSON' 3 's.json' '{"columns": ['
schema 'a schema with an unknown key' 3 's.json.*unknown key' "{$bounds,\"lable\":{\"name\":\"y\"}}"
schema 'bounds the wrong way round' 3 's.json' '{"columns":[{"name":"a","type":"number","lower":1,"upper":0},{"name":"b","type":"ignore"}],"label":{"name":"y"}}'
schema 'a number without bounds' 3 's.json' '{"columns":[{"name":"a","type":"number"},{"name":"b","type":"ignore"}],"label":{"name":"y"}}'
schema 'a column that the table lacks' 3 'column' "{\"columns\":[{\"name\":\"q\",\"type\":\"number\",\"lower\":0,\"upper\":1}],\"label\":{\"name\":\"y\"}}"
schema 'a category that is not listed' 3 'good.csv:2:1' '{"columns":[{"name":"a","type":"category","values":["x","z"]},{"name":"b","type":"ignore"}],"label":{"name":"y"}}'
no 'a schema that is not there' 1 'nosuch.json' good.csv --schema nosuch.json "${model[@]}" --epsilon 1 --delta 1e-6

# ---- settings ----
set_() {
  local name=$1 regex=$2
  shift 2
  merge "$@"
  no "$name" 2 "$regex" good.csv --label y "${merged[@]}"
}
set_ 'epsilon 0' 'epsilon' "${model[@]}" "${private[@]}" --epsilon 0
set_ 'a negative epsilon' 'epsilon' "${model[@]}" "${private[@]}" --epsilon -1
set_ 'epsilon nan' 'epsilon' "${model[@]}" "${private[@]}" --epsilon nan
set_ 'delta 0' 'delta' "${model[@]}" "${private[@]}" --delta 0
set_ 'delta 1' 'delta' "${model[@]}" "${private[@]}" --delta 1
set_ 'no epsilon' 'epsilon' "${model[@]}" --delta 1e-6 --row-norm 1
set_ 'no delta' 'delta' "${model[@]}" --epsilon 1 --row-norm 1
set_ 'no row norm' 'row-norm|row norm' "${model[@]}" --epsilon 1 --delta 1e-6
set_ 'row norm 0' 'row-norm' "${model[@]}" "${private[@]}" --row-norm 0
set_ 'row norm inf' 'row-norm' "${model[@]}" "${private[@]}" --row-norm inf
set_ 'no loss' 'loss' --solver dpscd "${private[@]}"
set_ 'options for the rule that picks a solver' 'auto' --loss logistic --solver auto:batch=3 "${private[@]}"
set_ 'an unknown loss' 'loss.*logistic' "${model[@]}" "${private[@]}" --loss logistik
set_ 'an unknown solver' 'solver' "${model[@]}" "${private[@]}" --solver nosuch
set_ 'an unknown penalty' 'penalty' "${model[@]}" "${private[@]}" --penalty l3
set_ 'an unknown solver option' 'batch' "${model[@]}" "${private[@]}" --solver dpscd:bach=3
set_ 'a solver option out of range' 'epochs' "${model[@]}" "${private[@]}" --solver dpscd:epochs=0
set_ 'a negative lambda' 'lambda' "${model[@]}" "${private[@]}" --penalty l2:lambda=-1
set_ 'a penalty that the solver cannot have' 'l2' "${model[@]}" "${private[@]}" --penalty none
set_ 'an epsilon for a solver without privacy' 'not private' "${model[@]}" "${private[@]}" --solver scd
set_ 'real labels without a bound' 'label' --loss squared --penalty l2:lambda=0.1 --solver dpscd "${private[@]}"
set_ 'an unknown relation' 'add_remove' "${model[@]}" "${private[@]}" --neighbours swap
set_ 'an unknown scale' 'max-abs' "${model[@]}" "${private[@]}" --scale log
set_ 'threads that are no number' 'threads' "${model[@]}" "${private[@]}" --threads two
set_ 'a seed that is no number' 'seed' "${model[@]}" "${private[@]}" --seed -3
set_ 'an unknown option' 'did you mean --epsilon' "${model[@]}" "${private[@]}" --epsilom 1
sed '1s/^/other/' good.csv >other.csv
no 'parts of two tables' 3 'names' good.csv other.csv --label y "${model[@]}" "${private[@]}"
no 'a part that is not there' 1 'cannot open' good.csv nowhere.csv --label y "${model[@]}" "${private[@]}"
: >nothing.csv
cp good.csv copy.csv
no 'an empty part' 3 'nothing.csv.*table' good.csv copy.csv nothing.csv --label y "${model[@]}" "${private[@]}"
ln -s good.csv link.csv
for again in good.csv ./good.csv link.csv; do
  no 'one file under two names' 2 'one file' copy.csv good.csv "$again" --label y "${model[@]}" "${private[@]}"
done

# ---- refused before anything is read: the table is a pipe that nobody fills, and opening it would wait ----
mkfifo pipe.csv
# unread NAME CODE REGEX ARGS... : `tacit train pipe.csv ARGS` fails at once.
unread() {
  local name=$1 expected=$2 regex=$3
  shift 3
  cases=$((cases + 1))
  merge "$@"
  timeout 300 "$TACIT" train pipe.csv --label y "${merged[@]}" -o out/new.json >.out 2>.err </dev/null
  code=$?
  [ "$code" = "$expected" ] || fail "$name: exit $code, not $expected: $(head -c 300 .err)"
  grep -qE -- "$regex" .err || fail "$name: does not say '$regex': $(head -c 300 .err)"
  [ -z "$(ls -A out)" ] || fail "$name: left $(ls -A out)"
}
while IFS='|' read -r name regex option value; do
  unread "$name" 2 "$regex" "${model[@]}" "${private[@]}" "$option" "$value"
done <<'LIST'
0 features|at least 1|--cols|0
an option of the penalty twice|'lambda' twice|--penalty|l2:lambda=1,lambda=2
an option of the loss twice|'h' twice|--loss|huber:h=1, h=2
an option of the solver twice|'batch' twice|--solver|dpscd:batch=3,epochs=2,batch=3
an option under its older and its present name|'path_length' twice|--solver|dpgd:walk=3,path_length=3
an unknown option of the solver|bach|--solver|dpscd:bach=3
an option out of range|epochs|--solver|dpscd:epochs=0
an unknown solver|nosuch|--solver|nosuch
an unknown penalty|l3|--penalty|l3
a penalty without its number|lambda|--penalty|l2
a penalty that the solver cannot have|ridge|--penalty|none
a loss that the solver cannot have|least squares|--solver|adassp
a solver without privacy|not private|--solver|scd
a row norm out of range|row norm|--row-norm|1e99
LIST
unread 'no epsilon' 2 'epsilon' "${model[@]}" --delta 1e-6 --row-norm 1
unread 'no delta' 2 'delta' "${model[@]}" --epsilon 1 --row-norm 1
unread 'no row norm' 2 'row norm|row-norm' "${model[@]}" --epsilon 1 --delta 1e-6
unread 'no label bound' 2 'label-bound' --loss squared --penalty l2:lambda=0.1 --solver dpscd "${private[@]}"
unread 'no ledger' 1 'nosuch.ledger' "${model[@]}" "${private[@]}" --ledger nosuch.ledger
unread 'a table for a ledger' 3 'good.csv|ledger' "${model[@]}" "${private[@]}" --ledger good.csv
bad 'no output named' 2 '-o' train good.csv --label y "${model[@]}" "${private[@]}"
bad 'an option without its value' 2 'needs a value' train good.csv --label
bad 'a dry run without a shape' 2 'shape' train --dry-run "${model[@]}" "${private[@]}"
bad 'a shape that is none' 2 'shape' train --dry-run --shape 10 "${model[@]}" "${private[@]}"

# ---- outputs ----
usual=(good.csv --label y "${model[@]}" "${private[@]}")
bad 'a folder for an output' 1 'folder is a directory' train "${usual[@]}" -o folder
bad 'an output in a folder that is not there' 1 'nosuch/m.json' train "${usual[@]}" -o nosuch/m.json
bad 'a file used as a folder' 1 'kept.json/m.json' train "${usual[@]}" -o kept.json/m.json
bad 'a place where nobody can write' 1 '/proc/m.json' train "${usual[@]}" -o /proc/m.json
bad '/dev/full for a model' 1 '/dev/full' train "${usual[@]}" -o /dev/full
check '/dev/full is still a device' test -c /dev/full
bad 'the table itself for an output' 2 'good.csv is read or written' train "${usual[@]}" -o good.csv
bad '/dev/full for predictions' 1 '/dev/full' predict kept.json good.csv --label y -o /dev/full
bad 'a folder for predictions' 1 'directory' predict kept.json good.csv --label y -o folder
bad '/dev/full for records' 1 '/dev/full' generate --rows 100000 -o /dev/full --schema-output out/s.json
bad 'a folder for records' 1 'directory' generate -o folder --schema-output out/s.json
bad 'a schema that cannot be written' 1 'nosuch' generate -o out/p.csv --schema-output nosuch/s.json
bad 'no records' 2 'rows' generate --rows 0 -o out/p.csv
bad '/dev/full for a report' 1 '/dev/full' report kept.json -o /dev/full
bad 'a report in a folder that is not there' 1 'nosuch' train "${usual[@]}" -o out/m.json --report nosuch/m.html
bad 'a report over the table' 2 'good.csv is read or written' train "${usual[@]}" -o out/m.json --report good.csv
bad 'a report over its model' 2 'out/m.json is read or written' train "${usual[@]}" -o out/m.json --report out/m.json
bad 'a report of a dry run' 2 'report' train --dry-run --shape 10,2 "${model[@]}" "${private[@]}" --report out/m.html
bad '/dev/full for an export' 1 '/dev/full' export --liblinear kept.json -o /dev/full
check 'failed outputs leave nothing' test -z "$(ls -A out)"
for verb in "account gaussian:noise=1 --delta 1e-6" "components" "predict kept.json good.csv --label y" "--help" "export --liblinear kept.json" "report kept.json" "schema good.csv"; do
  "$TACIT" $verb >/dev/full 2>.err
  check "a full standard output is an error ($verb)" test $? = 1
  check "it is said ($verb)" grep -q '^tacit: cannot write' .err
done
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=16k none small 2>/dev/null; then
  cp kept.json small/old.json
  before=$(sha256sum <small/old.json)
  head -c 16384 /dev/zero >small/fill 2>/dev/null
  bad 'a full disk, new model' 1 'small/new.json' train "${usual[@]}" -o small/new.json
  bad 'a full disk, old model' 1 'small/old.json' train "${usual[@]}" -o small/old.json
  check 'a full disk leaves the old model' test "$(sha256sum <small/old.json)" = "$before"
  check 'a full disk leaves no other file' test "$(ls small | tr '\n' ' ')" = 'fill old.json '
  umount small
else
  echo 'no small disk can be mounted here: the full disk is tried with /dev/full only'
fi

# ---- an option twice: refused by every verb, for every option with a value, before any file is opened ----
twice=0
for verb in $("$TACIT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  while read -r option value; do
    case $value in *"|"*) value=${value%%|*} ;; FILE* | NAME*) value=x ;; *) value=1 ;; esac
    bad "$verb: $option twice" 2 "^tacit: $option was given twice; give it once" "$verb" nosuch.csv "$option" "$value" "$option" "$value"
    twice=$((twice + 1))
  done < <("$TACIT" "$verb" --help | sed -nE 's/^  (-o|--[a-z0-9-]+) ([^ ]+).*/\1 \2/p' | grep -E '^(-o|--[a-z0-9-]+) [A-Z0-9a-z_|.]*[A-Z|]')
done
check "there were many options with a value ($twice)" test "$twice" -ge 80
bad 'an option twice in two forms' 2 'epsilon was given twice' train nosuch.csv --epsilon=1 --epsilon 2

# ---- models ----
head -c 300 kept.json >cut.json
echo '{"format":"something else"}' >other.json
for verb in predict evaluate; do
  bad "$verb: a model that is not there" 1 'nosuch.json' $verb nosuch.json good.csv
  bad "$verb: a truncated model" 3 'cut.json' $verb cut.json good.csv
  bad "$verb: another JSON file" 3 'other.json' $verb other.json good.csv
  bad "$verb: a table for a model" 3 'good.csv' $verb good.csv good.csv
done
printf 'a,b,c,y\n1,2,3,1\n' >wide.csv
bad 'predict: another number of features' 3 'feature' predict kept.json wide.csv --label y
bad 'evaluate: another number of features' 3 'feature' evaluate kept.json wide.csv
bad 'predict: one name missing' 2 'missing' predict kept.json
bad 'verify: a model that is not there' 1 'nosuch.json' verify nosuch.json
bad 'verify: a truncated model' 3 'cut.json' verify cut.json
bad 'report: no such model' 1 'cannot open' report nosuch.json
bad 'report: a truncated model' 3 'cut.json' report cut.json
bad 'report: the model itself' 2 'kept.json is read or written' report kept.json -o kept.json
bad 'report: a folder' 1 'directory' report kept.json -o /
bad 'report: no such folder' 1 'nosuch' report kept.json -o nosuch/page.html
bad 'report: json and a page' 2 'json' report kept.json --json
bad 'export: no form' 2 'liblinear' export kept.json
bad 'export: a truncated model' 3 'cut.json' export --liblinear cut.json

# ---- events and components ----
bad 'account: rate above 1' 2 'rate' account sampled_gaussian:noise=1,rate=1.5 --delta 1e-6
bad 'account: negative noise' 2 'noise' account gaussian:noise=-1 --delta 1e-6
bad 'account: an unknown event' 2 'gaussian' account gausian:noise=1 --delta 1e-6
bad 'account: an unknown parameter' 2 'sigma' account gaussian:sigma=1 --delta 1e-6
bad 'account: no noise' 2 'noise' account gaussian:count=3 --delta 1e-6
bad 'account: delta 1' 2 'delta' account gaussian:noise=1 --delta 1
bad 'account: no delta' 2 'delta' account gaussian:noise=1
bad 'account: two missing numbers' 2 'one number' account gaussian:count=2 gaussian:count=3 --epsilon 1 --delta 1e-6
bad 'account: nothing to calibrate' 2 'missing' account gaussian:noise=1 --epsilon 1 --delta 1e-6
bad 'account: epsilon that nothing can meet' 4 'epsilon' account gaussian:noise=0.1,count=? --epsilon 0.1 --delta 1e-6
bad 'account: count 0' 2 'count' account gaussian:noise=1,count=0 --delta 1e-6
bad 'account: a number twice' 2 "'noise' twice" account gaussian:noise=1,noise=2 --delta 1e-6
bad 'account: a count beyond the largest' 2 'count is not a whole number of at most 9007199254740992' account gaussian:noise=1,count=1e30 --delta 1e-6
bad 'account: half a count' 2 'count is not a whole number' account gaussian:noise=1,count=1.5 --delta 1e-6
bad 'account: no event' 2 'missing' account --delta 1e-6
bad 'components: an unknown kind' 2 'loss, penalty' components solvers
bad 'components: an unknown kind with a name' 2 'use loss, penalty' components solvers dpscd
bad 'components: an unknown name' 2 'dpscd' components solver nosuch
bad 'an unknown verb' 2 'did you mean train' trian
bad 'no verb' 2 'help'
finish
