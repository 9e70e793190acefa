#!/usr/bin/env bash
# run.sh - what it costs to add a component: a dummy of each kind joins a copy of the tables and meets the contract.
#
#   tests/adding/run.sh BUILD_DIR
#
# A dummy is one new file and one line in a table; an event kind is one entry and what the compiler demands.  Only the
# files that this touches are compiled again, with the build's own commands; they are linked before the library, so that
# they take the place of its own.  A file that the compiler demands beyond the list below is a failure.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
spot=$build/adding
src=$spot/src
if [ ! -f "$build/build.ninja" ]; then
  echo "skipped: $build was not made with Ninja"
  exit 77
fi
rm -rf "$spot"
mkdir -p "$src" "$spot/cli" "$spot/o"
ninja -C "$build" -t commands >"$spot/commands" || exit 1
if grep -q -- '-fsanitize' "$spot/commands"; then
  echo "skipped: a build with sanitizers tells nothing more about what adding costs"
  exit 77
fi
failed=0
complain() { echo "adding: $1"; failed=1; }

# ---- the dummies: a file and a line each ----

# copied FILE : a copy of a source of the tree that may be changed.
copied() { mkdir -p "$spot/$(dirname "$1")" && cp "$root/$1" "$spot/$1"; }
# touched LIST : how many lines a changed copy has gained.
gained() { diff "$root/$1" "$spot/$1" | grep -c '^>'; }
# joins KIND FILE TABLE LINE [BEFORE] : the dummy's file, and its line at the table's end or before the line BEFORE.
joins() {
  mkdir -p "$spot/$(dirname "$2")"
  cp "$here/$1.c" "$spot/$2"
  copied "$3"
  if [ -n "${5:-}" ]; then sed -i "s/^$5\$/$4\n&/" "$spot/$3"; else echo "$4" >>"$spot/$3"; fi
  [ "$(gained "$3")" = 1 ] || complain "$3 has gained $(gained "$3") lines, not 1"
  printf '%-11s 1 new file (%d lines), 1 line in %s\n' "$1" "$(wc -l <"$spot/$2")" "$3"
}
# A solver and a stage that are there already, under another name: the contract asks the dummy what it asks of those.
sed 's/"dpgd/"dummy/g; s/tct_solver_dpgd/tct_solver_dummy/g; s/dpgd\.c/dummy.c/' "$root/src/solve/gradient/dpgd.c" >"$spot/solver.c"
sed 's/"descri[a-z]*"/"dummy"/g; s/tct_stage_kind_describe/tct_stage_kind_dummy/' "$root/src/stage/describe_stage.c" >"$spot/stage.c"
joins loss src/loss/dummy.c src/loss/list.def 'TCT_LOSS(dummy)'
joins penalty src/penalty/dummy.c src/penalty/list.def 'TCT_REG(dummy)'
joins accountant src/account/dummy.c src/account/list.def 'TCT_ACCOUNTANT(dummy)'
joins format src/read/format/dummy.c src/read/format/list.def 'TCT_FORMAT(dummy)' 'TCT_FORMAT(libsvm)'
joins verb cli/cmd_dummy.c cli/list.def 'CLI_VERB(dummy)'
here=$spot joins stage src/stage/dummy_stage.c src/stage/list.def 'TCT_STAGE_KIND(dummy)'
here=$spot joins solver src/solve/gradient/dummy.c src/solve/list.def 'TCT_SOLVER(dummy)'

# ---- the event kind: one entry, and what the compiler demands ----

copied src/event/kinds.def
cat >>"$spot/src/event/kinds.def" <<'ENTRY'

/* Any rho-zCDP step, under another name. */
TCT_EVENT(DUMMY, "dummy", 0, "a zcdp step under another name",
          TCT_KEY(rho, TCT_NOT_NEGATIVE, "of one step, >= 0"))
ENTRY

# compile FILE OBJECT : with the build's own command for a library source, the copies first.
compile() {
  local command
  command=$(grep -E -- " -c $root/$1\$" "$spot/commands" | head -1)
  [ -n "$command" ] || command=$(grep -E -- " -c $root/src/loss/loss.c\$" "$spot/commands" | head -1)
  local file=$root/$1
  [ ! -f "$spot/$1" ] || file=$spot/$1
  command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2 -I$src -I$spot/extra -I$spot/cli -I$root/cli -I$root/tests#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; \
    s# -o [^ ]+# -Wswitch -Werror -o $2#; s# -c [^ ]+\$# -c $file#; s# -O3# -O1#" <<<"$command")
  (cd "$build" && eval "$command") 2>"$2.log"
}
object() { echo "$spot/o/$(tr / _ <<<"${1%.c}").o"; }

# Every source that could have to know the new kind: those that name one.
demanded=""
while IFS= read -r file; do
  compile "$file" "$(object "$file")" && continue
  grep -q 'TCT_EV_DUMMY.*not handled in switch' "$(object "$file").log" || complain "$file does not compile: $(grep -m1 error "$(object "$file").log")"
  demanded+="$file "
  copied "$file"
  sed -i 's/^\( *\)case TCT_EV_ZCDP:/\1case TCT_EV_DUMMY:\n&/' "$spot/$file"
  compile "$file" "$(object "$file")" || complain "$file does not compile: $(grep -m1 error "$(object "$file").log")"
done < <(cd "$root" && grep -lE 'TCT_EV_[A-Z]|kinds\.def' -r src extra --include='*.c' | sort)
lines=0
for file in $demanded; do lines=$((lines + $(gained "$file"))); done
printf '%-11s 1 entry in src/event/kinds.def, %d lines that the compiler demands: %s\n' "event" "$lines" "$demanded"
expected="src/account/curves/loss_query.c src/account/curves/pairs.c src/account/curves/renyi.c src/account/single.c src/second/cross_check.c "
[ "$demanded" = "$expected" ] || complain "the compiler demands changes in '$demanded', not in '$expected'; CONTRIBUTING.md has the list"

# ---- the dummies meet the contract ----

for file in src/loss/{loss,dummy}.c src/penalty/{penalty,dummy}.c src/account/{account,dummy}.c src/solve/solve.c \
  src/solve/gradient/dummy.c src/read/format/{formats,dummy}.c src/stage/{kinds,dummy_stage}.c src/train/components.c; do
  compile "$file" "$(object "$file")" || complain "$file does not compile: $(grep -m1 error "$(object "$file").log")"
done
for file in "$root"/cli/*.[ch]; do [ -f "$spot/cli/${file##*/}" ] || cp "$file" "$spot/cli/"; done
mkdir -p "$spot/verbs"
for file in main cmd_dummy; do
  compile "cli/$file.c" "$spot/verbs/$file.o" || complain "cli/$file.c does not compile: $(grep -m1 error "$spot/verbs/$file.o.log")"
done
compile tests/contract/test_accountants.c "$spot/test_accountants.o" || complain "test_accountants.c: $(grep -m1 error "$spot/test_accountants.o.log")"

# link TARGET OUTPUT SED : the build's link of a target with the new objects before its own.
link() {
  local command
  command=$(grep -E -- " -o $1 " "$spot/commands" | head -1)
  command=$(sed -E "s# -o $1 # $spot/o/*.o -o $2 #; ${3:-}" <<<"$command")
  (cd "$build" && eval "$command") || complain "$1 does not link"
}
link tests/test_contract_loss "$spot/test_loss"
link tests/test_contract_penalty "$spot/test_penalty"
link tests/test_contract_accountants "$spot/test_accountants" "s#[^ ]*test_accountants\.c\.o#$spot/test_accountants.o#"
link tests/test_contract_solver "$spot/test_solver"
link tests/test_contract_solver_edges "$spot/test_solver_edges"
link tacit "$spot/tacit" "s#[^ ]*/main\.c\.o#$spot/verbs/*.o#"
export TACIT_TEST_SOLVER=dummy OMP_NUM_THREADS=1
for test in loss penalty accountants solver solver_edges; do
  (cd "$root" && "$spot/test_$test" >"$spot/test_$test.log" 2>&1) || complain "test_$test: $(grep -m3 -E 'FAILED|ERROR|Error' "$spot/test_$test.log" | tr '\n' ' ')"
done

# ---- the program knows them, and no sentence of it lies ----

tacit=$spot/tacit
# says WORDS COMMAND... : the command's output holds the words.
says() {
  local words=$1 text
  shift
  text=$("$@" 2>&1)
  grep -qF -- "$words" <<<"$text" || complain "'${*#"$spot/"}' does not say '$words': $(head -3 <<<"$text")"
}
for kind in loss penalty solver accountant reader event; do says dummy "$tacit" components "$kind"; done
says "a verb of one file and one line" "$tacit" dummy
says dummy "$tacit" --help
cat >"$spot/plain.csv" <<'DATA'
a,b,y
0.1,0.9,1
0.4,-0.2,0
-0.7,0.3,3
0.2,0.2,1
-0.3,-0.8,2
DATA
{ echo "%dummy"; cat "$spot/plain.csv"; } >"$spot/marked.csv"
train=("$tacit" train --label y --loss dummy --penalty l2:lambda=0.1)
"${train[@]}" "$spot/plain.csv" --solver dpgd --epsilon 5 --delta 1e-6 --row-norm 1 --label-bound 3 --seed 7 -o "$spot/a.json" >"$spot/a.log" 2>&1 ||
  complain "a model of the dummy loss: $(head -2 "$spot/a.log")"
"${train[@]}" "$spot/marked.csv" --solver dummy --epsilon 5 --delta 1e-6 --row-norm 1 --label-bound 3 --seed 7 -o "$spot/b.json" >"$spot/b.log" 2>&1 ||
  complain "a model of the dummy loss, solver and format: $(head -2 "$spot/b.log")"
mapfile -t solvers < <("$tacit" components solver --json | grep -oE '"kind":"solver","name":"[a-z_]+"' | cut -d'"' -f8)
[ "${#solvers[@]}" -gt 10 ] || complain "the program lists ${#solvers[@]} solvers"
weights() { tr -d '\n' <"$1" | grep -oE '"coefficients": *\[[^]]*\]'; }
[ -s "$spot/a.json" ] && [ "$(weights "$spot/a.json")" = "$(weights "$spot/b.json")" ] || complain "the dummy solver and format do not give dpgd's model"
# Every solver takes the dummy loss or refuses it with a sentence.
for solver in "${solvers[@]}"; do
  private=(--epsilon 5 --delta 1e-6 --row-norm 1 --label-bound 3)
  case $solver in scd | cd | sgd | proxgd | lbfgs | bcfw) private=() ;; esac
  for penalty in l2:lambda=0.1 l1ball:radius=1; do
    timeout 300 "$tacit" train "$spot/plain.csv" --label y --loss dummy --penalty $penalty --solver "$solver" "${private[@]}" \
      -o "$spot/e.json" >"$spot/e.log" 2>&1
    code=$?
    case $code in 0 | 2 | 4) ;; *) complain "$solver with the dummy loss and $penalty ends with $code: $(head -2 "$spot/e.log")" ;; esac
  done
done
says "A robust linear regression" bash -c "'$tacit' report '$spot/a.json' -o '$spot/a.html' >/dev/null && cat '$spot/a.html'"
says "use squared, logistic, hinge, smoothed_hinge or huber" "${train[@]}" "$spot/plain.csv" --solver scd -o "$spot/c.json"
says "use squared, logistic, smoothed_hinge or huber" "${train[@]}" "$spot/plain.csv" --solver cd -o "$spot/c.json"
"$tacit" train "$spot/plain.csv" --label y --loss squared --penalty dummy --solver cd -o "$spot/d.json" >"$spot/d.log" 2>&1 ||
  complain "a model of the dummy penalty: $(head -2 "$spot/d.log")"
[ "$("$tacit" account dummy:rho=0.1 --delta 1e-6 --json | grep -o '"epsilon": [0-9.]*')" = \
  "$("$tacit" account zcdp:rho=0.1 --delta 1e-6 --json | grep -o '"epsilon": [0-9.]*')" ] || complain "the dummy event does not cost what its rho does"
says "dummy" "$tacit" account pure:epsilon=1 --delta 1e-6 --json

# A study of it is planned, run and verified.
cat >"$spot/plan.json" <<'PLAN'
{"epsilon": 5, "delta": 1e-6, "stages": [{"kind": "dummy", "name": "it"}],
 "schema": {"columns": [{"name": "a", "type": "number", "lower": -1, "upper": 1}, {"name": "b", "type": "ignore"},
   {"name": "y", "type": "ignore"}]}}
PLAN
says "dummy of 5 records" "$tacit" study "$spot/plain.csv" --plan "$spot/plan.json" -o "$spot/study.json"
says "verified: epsilon 5" "$tacit" verify "$spot/study.json"
[ "$failed" = 0 ] && echo "a loss, penalty, accountant, format, verb, solver, stage and event kind were added and meet the contract"
exit "$failed"
