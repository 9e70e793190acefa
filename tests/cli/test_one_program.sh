#!/usr/bin/env bash
# test_one_program.sh - other options, files or schemas on one rank: refused before the charge, or free.
#
# Ranks over sockets start much faster than those of mpirun, under which few cases run: what is compared is the same.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$here/ranks.sh"
if [ ! -e "$folder/libtacit_tls.so" ]; then
  echo 'skipped: libtacit_tls.so is not there'
  exit 77
fi
head -c 32 /dev/urandom >secret
port=$((30200 + RANDOM % 2400)) # beyond those of the other tests, below those that the system gives to clients

mkdir first second
(cd first && "$TACIT" generate --rows 1500 --seed 3 -o p.csv >/dev/null)
cp first/p.csv first/p.schema.json second
head -20 first/p.csv >first/part.csv
cp first/part.csv second
common=(--schema p.schema.json --intercept --loss logistic --solver dpgd:steps=3 --epsilon 1 --delta 1e-6 --seed 5
  --threads 1 --ledger "$work/L")
ok 'ledger' ledger L --init --epsilon 50 --delta 1e-3
empty=$(sha256sum <L)

# two FILES ARGS... : rank 0 runs in `first` with the common settings, rank 1 in `second`, FILES and ARGS more.
by=sockets
two() {
  local files=$1 ear
  shift
  merge "${common[@]}" -o m.json "$@"
  rm -f first/m.json second/m.json
  if [ "$by" = mpirun ]; then
    timeout 600 mpirun -n 1 -wdir "$work/first" "$TACIT" train p.csv "${common[@]}" -o m.json : \
      -n 1 -wdir "$work/second" "$TACIT" train $files "${merged[@]}" </dev/null >.out 2>.err
    code=$?
    return
  fi
  port=$((port + 1))
  local meet=(--ranks 2 --secret "$work/secret" --meet-timeout 60 --meet "127.0.0.1:$port" --rank)
  (cd second && exec timeout 600 "$TACIT" train $files "${merged[@]}" "${meet[@]}" 1) </dev/null >.out.1 2>.err.1 &
  ear=$!
  (cd first && exec timeout 600 "$TACIT" train p.csv "${common[@]}" -o m.json "${meet[@]}" 0) </dev/null >.out 2>.err
  code=$?
  wait "$ear" || code=$?
  cat .err.1 >>.err
}
# apart NAME REGEX FILES ARGS... : refused with one sentence, nothing charged, no model.
apart() {
  local name=$1 regex=$2
  shift 2
  two "$@"
  cases=$((cases + 1))
  [ "$code" != 0 ] && [ "$code" != 124 ] || fail "$name: exit $code"
  grep -qE "^tacit: .*$regex" .err || fail "$name: does not say '$regex': $(grep '^tacit' .err | head -c 300)"
  [ "$(sha256sum <L)" = "$empty" ] || fail "$name: was charged"
  [ ! -e first/m.json ] && [ ! -e second/m.json ] || fail "$name: left a model"
}

# ---- every option of the help, with another value on rank 1 ----

# What rank 1 is given; {} stands for an option that takes no value.
declare -A other=(
  [--loss]=huber:h=1 [--penalty]=l2:lambda=1e-3 [--solver]=dpgd:steps=4 [--epsilon]=0.9 [--delta]=1e-7
  [--neighbours]=replace_one [--row-norm]=100 [--rows]=unit [--label-bound]=2 [--label-shift]=1 [--scale]=max-abs
  [--label-scale]=center [--ledger]=other [--seed]=6 [--dry-run]={} [--shape]=1500,3 [--records]=1500 [--label]=high_income
  [--positive]=no [--classes]=yes,no [--person]=age [--rows-per-person]=3 [--invalid]=zero [--cols]=31 [--format]=csv [--multiline]={} [--delimiter]=\; [--decimal]=, [--f32]={} [--memory]=1G [--scratch]=/tmp [--max-cols]=5000 [--max-header]=5K [--max-line]=5K [--max-expansion]=9 [--time]=high_income [--event]=age [--horizon]=9 [--weights]=age [--weight-cap]=2 [--errors]=model [--estimate]=bounds [--input-changed]=corrected [--no-intercept]={} [--effect]=age=1 [--assume]=age=1 [--help]={})
# --intercept sets what --no-intercept sets, which is compared under that name.
declare -A free=([--intercept]={} [--threads]=2 [--json]={} [--report]=page.html [--title]=T [--purpose]=P [--contact]=C [-o]=another.json [--schema]="$work/first/p.schema.json")
# Of ranks without mpirun, each with its own: tests/cli/test_meet.sh.
meeting=' --meet --rank --ranks --secret --meet-timeout '

options=$("$TACIT" train --help | grep -oE '^  (-o|--[a-z0-9-]+)' | tr -d ' ')
check 'the help lists options' test "$(wc -w <<<"$options")" -gt 20
for option in $options; do
  case $option in --epsilon | --classes | --dry-run | --help) by=mpirun ;; *) by=sockets ;; esac
  value=${other[$option]:-} said=$option
  [ "$option" != --time ] || said=--label # which it sets
  if [ "$value" = {} ]; then
    apart "$option" "rank 1 differs from rank 0 in $said;" p.csv "$option"
  elif [ "$value" ]; then
    apart "$option" "rank 1 differs from rank 0 in $said;" p.csv "$option" "$value"
  elif [ -z "${free[$option]:-}" ] && [ "${meeting/ $option /}" = "$meeting" ]; then
    fail "$option is in no list: say here whether one rank may have another"
  fi
done
by=sockets
apart 'a row norm of 100 beside none' 'in --row-norm;' p.csv --row-norm 100
apart 'one more file' 'in the number of files;' 'p.csv part.csv'

# ---- other files under the same names ----
awk 'NR == 700 { sub(/[0-9]/, "7") } 1' first/p.csv >second/p.csv
cmp -s first/p.csv second/p.csv && sed -i '700s/^[0-9]/8/' second/p.csv
by=mpirun
apart 'one record of another table' 'in the contents of p.csv;' p.csv
by=sockets
apart 'one record of another table' 'in the contents of p.csv;' p.csv
head -1400 first/p.csv >second/p.csv
apart 'a shorter table' 'in the contents of p.csv;' p.csv
cp first/p.csv second/p.csv
sed 's/"upper": *\([0-9.]*\)/"upper": 1\1/' first/p.schema.json >second/p.schema.json
check 'the schemas differ' test "$(sha256sum <first/p.schema.json)" != "$(sha256sum <second/p.schema.json)"
apart 'other bounds in the schema' 'in the contents of the schema;' p.csv
cp first/p.schema.json second

# ---- what is free is free ----
common=("${common[@]/--ledger/--report}") # a page instead of the ledger: these runs are not to be charged
common=("${common[@]/"$work/L"/page.html}")
two p.csv
check 'the same on both ranks' test "$code" = 0
cp first/m.json one.json
for option in "${!free[@]}"; do
  value=${free[$option]}
  cp second/p.schema.json second/kept.json
  [ "$option" != --schema ] || rm second/p.schema.json
  if [ "$value" = {} ]; then two p.csv "$option"; else two p.csv "$option" "$value"; fi
  mv second/kept.json second/p.schema.json
  check "$option is free: $(grep '^tacit' .err)" test "$code" = 0
  check "$option changes no byte of the model" cmp -s one.json first/m.json
done
mkdir -p elsewhere && cp first/p.csv elsewhere/q.csv
two ../elsewhere/q.csv
check 'the same table under another name is the same' cmp -s one.json first/m.json
finish
