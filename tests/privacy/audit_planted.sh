#!/usr/bin/env bash
# audit_planted.sh - every fault of this list, a point of the sources, is found by `tacit audit` alone.
#
# usage: audit_planted.sh BUILD [NAME...]     BUILD: a build folder with tacit-audit; NAME: only these faults
#
# TCT_AUDIT_SECONDS=N: how long each audit may take (default 15; 60 is what the guide promises).  TCT_SAMPLE=N: one fault
# in N, in three at most, others each day.  tacit-audit is linked against the library with the fault points
# (src/core/point.h).  Every plan is audited without the fault first: a break that is there anyway proves nothing.
set -uo pipefail
build=$(cd "${1:?usage: audit_planted.sh BUILD [NAME...]}" && pwd)
shift
only=" $* "
seconds=${TCT_AUDIT_SECONDS:-15}
if [ ! -x "$build/tacit-audit" ] || ldd "$build/tacit-audit" | grep -qE 'lib(a|ub|t)san'; then
  echo "skipped: $build has no tacit-audit, or one with sanitizers, which tell nothing more here, slowly"
  exit 77
fi
every=$((${TCT_SAMPLE:-1} < 3 ? ${TCT_SAMPLE:-1} : 3))
turn=$((($(date +%s) / 86400) % every))
failures=0
listed=0
planted=0
export OMP_NUM_THREADS=1

declare -A sound=()
# plant NAME POINT WORD ARGS... : `tacit audit ARGS` finds a break whose sentence begins with WORD.
plant() {
  local name=$1 point=$2 word=$3 out
  shift 3
  case "$only" in *" $name "* | "  ") ;; *) return ;; esac
  listed=$((listed + 1))
  [ $((listed % every)) = "$turn" ] || return
  planted=$((planted + 1))
  if [ -z "${sound["$*"]:-}" ]; then
    out=$("$build/tacit-audit" audit "$@" --seconds 2 2>&1) # it may end with 1: not all was attacked in 2 s
    if grep -q BREAK <<<"$out" || ! grep -q 'no break was found' <<<"$out"; then
      echo "FAILED $name: without the fault, too: $(grep BREAK <<<"$out" | head -1)"
      failures=$((failures + 1))
      return
    fi
    sound["$*"]=1
  fi
  out=$(TACIT_POINT=$point timeout 1200 "$build/tacit-audit" audit "$@" --seconds "$seconds" 2>&1)
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
gram=(--loss squared --penalty l2:lambda=0.05 --epsilon 4 --no-intercept --shape 2,4)
wolfe=(--loss logistic --penalty l1ball:radius=1 --epsilon 4 --no-intercept --shape 24,2)
softmax=(--loss softmax:classes=4 --epsilon 4 --no-intercept --solver dpgd:steps=4,clip=0.1)
smooth=(--loss smoothed_hinge:width=0.01 --penalty l2:lambda=1e-7 --epsilon 1 --shape 40,3 --no-intercept)

# A study: an estimate, a fit on it, scores and moments; a table of persons, whose estimate weighs their rows.
study=$(mktemp -d)
trap 'rm -r "$study"' EXIT
columns='{"name": "a", "type": "number", "lower": -1, "upper": 1}, {"name": "b", "type": "number", "estimate": true},
  {"name": "d", "type": "category", "values": ["no", "yes"]}'
stages='{"name": "bounds", "kind": "estimate"}, {"name": "ill", "kind": "fit", "label": "d", "positive": "yes",
  "loss": "logistic", "solver": "dpgd:steps=2,clip=0.5", "part": "train"},
  {"name": "how well", "kind": "score", "of": "ill", "part": "held"}, {"name": "all", "kind": "moments", "features": ["a"]}'
whole='"epsilon": 4, "delta": 1e-5, "held": 0.25'
echo "{$whole, \"schema\": {\"columns\": [$columns]}, \"stages\": [$stages]}" >"$study/records.json"
echo "{$whole, \"person\": \"who\", \"rows_per_person\": 3, \"schema\": {\"columns\": [$columns]}, \"stages\": [$stages]}" \
  >"$study/persons.json"
# Other doors: an estimate with its fit, scores of a model, a search.
known='{"name": "a", "type": "number", "lower": -1, "upper": 1}, {"name": "d", "type": "category", "values": ["no", "yes"]}'
each='"kind": "fit", "label": "d", "positive": "yes", "loss": "logistic", "solver": "dpgd:steps=2,clip=0.5"'
promise='"epsilon": 2, "delta": 1e-5, "schema": {"columns"'
echo "{\"door\": \"estimate\", $promise: [$columns]}, \"stages\": [{\"name\": \"b\", \"kind\": \"estimate\"},
  {\"name\": \"ill\", $each}]}" >"$study/estimate.json"
echo "{\"door\": \"evaluate\", $promise: [$known]}, \"stages\": [{\"name\": \"ill\", $each},
  {\"name\": \"how well\", \"kind\": \"score\", \"of\": \"ill\"}]}" >"$study/evaluate.json"
echo "{\"door\": \"search\", $promise: [$known]}, \"stages\": [{\"name\": \"one\", $each},
  {\"name\": \"other\", ${each/steps=2/steps=3}}]}" >"$study/search.json"
stages=(--plan "$study/records.json" --records 24)
persons=(--plan "$study/persons.json" --records 24)

plant half_the_variance gate_half_noise noise "${gd[@]}"
plant half_the_noise_unseen_by_its_size deviation_halved_when_settled 'arithmetic: a release|distinguishing|behaviour: a run|verify' "${gd[@]}"
plant double_the_batch batch_rate_doubled rate "${sgd[@]}"
plant no_clip slopes_not_clipped sensitivity "${gd[@]}"
plant a_release_not_charged planned_release_uncharged 'arithmetic: every planned' "${newton[@]}"
plant no_clip_of_any_class slopes_not_clipped sensitivity "${softmax[@]}"
plant half_the_variance_over_classes gate_half_noise noise "${softmax[@]}"
plant a_weight_beyond_the_cap weight_beyond_the_cap sensitivity "${gd[@]}"
# Outsiders see more noise than is planned, whoever of these is at fault: the view of a coalition has none to spare.
plant no_noise_for_colluders joint_noise_over_all_parties behaviour --solver gram_parties:parties=4 "${gram[@]}"
plant a_party_that_draws_nothing joint_first_party_draws_nothing 'noise: .* for a coalition' --solver gram_parties:parties=4 "${gram[@]}"
plant a_server_that_draws_nothing joint_server_draws_nothing 'noise: .* for all parties' --solver gram_parties:parties=3,server_noise=yes "${gram[@]}"
plant half_the_noise_of_columns gate_half_noise noise --solver dpfw_parties:parties=2,steps=1,columns=1,sketch=8,clip=0.1 "${wolfe[@]}"
plant no_clip_in_a_study slopes_not_clipped sensitivity "${stages[@]}"
plant half_the_variance_in_a_study gate_half_noise noise "${stages[@]}"
plant half_the_noise_in_a_study deviation_halved_when_settled noise "${stages[@]}"
plant an_estimate_without_weights estimate_weights_forgotten sensitivity "${persons[@]}"
plant half_the_noise_of_scores score_noise_halved arithmetic --plan "$study/evaluate.json" --records 24
plant half_the_noise_of_an_estimate estimate_noise_halved 'verify: the file' --plan "$study/estimate.json" --records 24
plant no_clip_in_a_search slopes_not_clipped sensitivity --plan "$study/search.json" --records 24
plant half_the_variance_in_a_search gate_half_noise noise --plan "$study/search.json" --records 24
plant an_ending_that_follows_a_record ending_follows_a_record ending --solver outpert "${smooth[@]}"
# As it once was: plain gradient steps until certified, whose number follows the records.
plant an_ending_in_weeks ending_in_weeks 'ending: .*more passes than are planned' --solver outpert "${smooth[@]}"
plant noise_calibrated_at_half_the_rate noise_calibrated_at_half_the_rate '(arithmetic|verify|behaviour)' "${sgd[@]}"

echo "$planted of $listed planted, $failures not found"
[ "$failures" = 0 ] && [ "$planted" -gt 0 ]
