#!/usr/bin/env bash
# audit_planted.sh - every fault of this list, planted into a copy of one source file, is found by `tacit audit` alone.
#
# usage: audit_planted.sh BUILD [NAME...]     BUILD: a build folder made with Ninja; NAME: only these faults
#
# TCT_AUDIT_SECONDS=N: how long each audit may take (default 15; 60 is what the guide promises).  Each fault is compiled
# with the build's own command and linked before the library into a program that is built for audit.  Every plan is
# audited without the fault first: a break that is there anyway proves nothing.
set -uo pipefail
build=$(cd "${1:?usage: audit_planted.sh BUILD [NAME...]}" && pwd)
shift
only=" $* "
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${TCT_AUDIT_SECONDS:-15}
work=$build/audit_planted
if [ ! -f "$build/build.ninja" ]; then
  echo "skipped: $build was not made with Ninja"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work"
ninja -C "$build" -t commands >"$work/commands" || exit 1
if grep -q -- '-fsanitize' "$work/commands"; then
  echo "skipped: a build with sanitizers tells nothing more about these faults, slowly"
  exit 77
fi
link=$(grep -E -- ' -o tacit-audit ' "$work/commands" | head -1)
[ -n "$link" ] || { echo "the build does not link tacit-audit"; exit 1; }
failures=0
planted=0
export OMP_NUM_THREADS=1

# program NAME SOURCE SCRIPT : builds tacit-audit with the fault in it.
program() {
  local name=$1 source=$2 script=$3 dir=$work/$1 command
  mkdir -p "$dir/$(dirname "${source#*/}")"
  sed -E -z "$script" "$root/$source" >"$dir/${source#*/}" || { echo "sed failed"; return 1; }
  cmp -s "$root/$source" "$dir/${source#*/}" && { echo "its script changes nothing in $source any more"; return 1; }
  command=$(grep -E -- " -c $root/$source\$" "$work/commands" | grep -e -DTCT_POINTS | head -1)
  [ -n "$command" ] || { echo "the build does not compile $source"; return 1; }
  command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2 -I$dir#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; \
    s# -o [^ ]+# -w -o $dir/fault.o#; s# -c [^ ]+\$# -c $dir/${source#*/}#" <<<"$command")
  (cd "$build" && eval "$command") || { echo "does not compile"; return 1; }
  # The program's own functions come before those of the library with the watch.
  command=$(sed -E "s# -o tacit-audit # $dir/fault.o -o $dir/tacit-audit #" <<<"$link")
  (cd "$build" && eval "$command") || { echo "does not link"; return 1; }
}

declare -A sound=()
# plant NAME SOURCE SCRIPT WORD ARGS... : `tacit audit ARGS` finds a break whose sentence begins with WORD.
plant() {
  local name=$1 source=$2 script=$3 word=$4 out
  shift 4
  case "$only" in *" $name "* | "  ") ;; *) return ;; esac
  planted=$((planted + 1))
  if [ -z "${sound["$*"]:-}" ]; then
    if ! out=$("$build/tacit-audit" audit "$@" --seconds 2 2>&1); then
      echo "FAILED $name: without the fault, too: $(grep BREAK <<<"$out" | head -1)"
      failures=$((failures + 1))
      return
    fi
    sound["$*"]=1
  fi
  if ! program "$name" "$source" "$script" >"$work/$name.text" 2>&1; then
    echo "FAILED $name: $(tail -n 1 "$work/$name.text")"
    failures=$((failures + 1))
    return
  fi
  out=$(timeout $((3 * ${seconds%.*} + 60)) "$work/$name/tacit-audit" audit "$@" --seconds "$seconds" 2>&1)
  if grep -qE "^BREAK +$word" <<<"$out"; then
    echo "$name: $(grep -E "^BREAK +$word" <<<"$out" | head -1 | sed -E 's/^BREAK +//')"
  else
    echo "FAILED $name: NOT FOUND ($word): $(grep -E 'BREAK|result|tacit:' <<<"$out" | head -2 | tr '\n' ' ')"
    failures=$((failures + 1))
  fi
}

gd=(--loss logistic --epsilon 4 --no-intercept --solver dpgd:steps=4,clip=0.1)
sgd=(--loss logistic --epsilon 4 --no-intercept --solver dpsgd:batch=6,clip=0.1,epochs=2)
newton=(--loss logistic --epsilon 4 --no-intercept --solver dpnewton:steps=3)
smooth=(--loss smoothed_hinge:width=0.01 --penalty l2:lambda=1e-7 --epsilon 1 --shape 40,3 --no-intercept)

plant half_the_noise src/mech/mech.c 's/TCT_POINT\(gate_half_noise, release->deviation, [^)]*\)/0.5 * release->deviation/' noise "${gd[@]}"
plant noise_short_by_sqrt2 src/mech/mech.c 's/TCT_POINT\(gate_half_noise, release->deviation, [^)]*\)/0.70710678 * release->deviation/' noise "${gd[@]}"
plant half_the_noise_unseen_by_its_size src/mech/release.c 's/TCT_POINT\(deviation_halved_when_settled, r->sensitivity, r->sensitivity \/ 2\)/(0.5 * r->sensitivity)/;s/near\(r->deviation, [^;]*return false;/(r->deviation >= 0)) return false;/' 'arithmetic: a release|distinguishing|behaviour: a run|verify' "${gd[@]}"
plant double_the_batch src/mech/mech.c 's/TCT_POINT\(batch_rate_doubled, release->rate, /((void)0, /' rate "${sgd[@]}"
plant no_clip src/solve/shared/clipped.c 's/sensitivity > clip \?/sensitivity > 1e9 * clip ?/' sensitivity "${gd[@]}"
plant a_release_not_charged src/mech/release.c 's/return promise->kind == TCT_PROMISE_BUDGET \? TCT_OK/return promise->kind == TCT_PROMISE_BUDGET || promise->count == 1 ? TCT_OK/;s/if \(promise->kind != TCT_PROMISE_BUDGET && status == TCT_OK\)/if (promise->kind > 9)/' 'arithmetic: every planned' "${newton[@]}"
plant an_ending_that_follows_a_record src/solve/minimiser/certified_minimum.c 's#tct_smooth_descend\(s, target, w, err\)#tct_fail(err, TCT_E_RUN, "did not converge")#' ending --solver outpert "${smooth[@]}"
# As it once was: where Newton's method does not get there, plain gradient steps, whose number follows the records.
plant an_ending_in_weeks src/solve/minimiser/certified_minimum.c 's#return done \|\| !promised \? TCT_OK : tct_smooth_descend\(s, target, w, err\);#if (done || !promised) return TCT_OK;\n  for (double step = 1 / (s->facts.rows * s->facts.curvature * s->facts.row_norm * s->facts.row_norm + s->facts.ridge);;) {\n    TCT_TRY(tct_problem_tick(s->problem, 0, err));\n    TCT_TRY(tct_smooth_gradient(s, w, err));\n    if (tct_smooth_certified(s, w, target)) return TCT_OK;\n    tct_axpy(-step, s->gradient, w, s->problem->view->p);\n  }#' 'ending: .*more passes than are planned' --solver outpert "${smooth[@]}"
plant noise_calibrated_at_half_the_rate src/solve/budget.c 's/tct_calibrate_noise\(rate, count/tct_calibrate_noise(rate \/ 2, count/' '(arithmetic|verify|behaviour)' "${sgd[@]}"

echo "$planted planted, $failures not found"
[ "$failures" = 0 ]
