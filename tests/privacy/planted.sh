#!/usr/bin/env bash
# planted.sh - every fault of this list, planted into a copy of one source file, makes a test fail.
#
# usage: planted.sh BUILD [NAME...]     BUILD: a build folder made with Ninja; NAME: only these faults
#
# TCT_PLANTED_EVERY=N: only every N-th fault of the list, another part each day of the year.
#
# A named fault is a point of the sources (src/core/point.h), listed in points.def.  The others wait to become points: such
# a fault is a name, a source file, a sed script and the tests that may catch it.  A test by the name test/SOLVER applies
# its laws to that solver alone.  The changed file is compiled with the build's own command and linked before the library,
# so that it takes the place of the library's own.  A script that changes nothing is a failure: the list has to follow
# the sources.  So is a fault that does not compile or link.
set -uo pipefail
build=$(cd "${1:?usage: planted.sh BUILD [NAME...]}" && pwd)
shift
only=" $* "
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
faults="$build/planted"
if [ ! -f "$build/build.ninja" ]; then
  echo "skipped: $build was not made with Ninja"
  exit 77
fi
rm -rf "$faults"
mkdir -p "$faults"

# One fault, by itself.  source: FILE, or HEADER:FILE where FILE is what includes the changed HEADER.
fault() {
  local name=$1 source=$2 script=$3 dir="$faults/$1" changed compiled command test solver
  shift 3
  changed=${source%%:*} compiled=${source##*:}
  mkdir -p "$dir/$(dirname "${changed#*/}")"
  sed -E -z "$script" "$root/$changed" >"$dir/${changed#*/}" || { echo "sed failed"; return 1; }
  if cmp -s "$root/$changed" "$dir/${changed#*/}"; then
    echo "its script changes nothing in $changed any more"
    return 1
  fi
  [ "$changed" = "$compiled" ] || cp "$root/$compiled" "$dir/${compiled#*/}"
  command=$(grep -E -- " -c $root/$compiled\$" "$faults/commands" | head -1)
  [ -n "$command" ] || { echo "the build does not compile $compiled"; return 1; }
  command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2 -I$dir#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; s# -o [^ ]+# -w -o $dir/fault.o#; \
    s# -c [^ ]+\$# -c $dir/${compiled#*/}#" <<<"$command")
  (cd "$build" && eval "$command") || { echo "does not compile"; return 1; }
  for test; do
    solver=${test#"${test%%/*}"} test=${test%%/*}
    own=$root/tests/${test/_//test_}.c added=$dir/fault.o object=
    if grep -q "#include \"${changed#*/}\"" "$own"; then # a test that has the source in it is compiled with the fault
      added='' object=$dir/own.o
      command=$(grep -E -- " -c $own\$" "$faults/commands" | head -1)
      command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2 -I$dir#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; s# -o [^ ]+# -w -o $object#" <<<"$command")
      (cd "$build" && eval "$command") || { echo "does not compile"; return 1; }
    fi
    command=$(grep -E -- " -o tests/test_$test " "$faults/commands" | head -1)
    [ -z "$object" ] || command=$(sed -E "s# [^ ]+/${own##*/}\.o # $object #" <<<"$command")
    command=$(sed -E "s# -o tests/test_$test # $added -o $dir/test_$test #" <<<"$command")
    [ -n "$command" ] || { echo "the build does not link test_$test"; return 1; }
    (cd "$build" && eval "$command") || { echo "does not link"; return 1; }
    (cd "$root" && OMP_NUM_THREADS=1 timeout 300 env ${solver:+"TACIT_TEST_SOLVER=${solver#/}"} "$dir/test_$test" \
      >"$dir/$test.log" 2>&1)
    case $? in
      0 | 77) ;;
      124) echo "$test did not end within 300 s" ;;
      *) echo "caught by $test: $(grep -m1 '^\[  FAILED  \] [a-z]' "$dir/$test.log" | cut -c14-)"; return 0 ;;
    esac
  done
  echo "NOT CAUGHT by $*"
  return 1
}

# The library with the fault points takes the place of the one that tests link: no compiler is asked.
points=$faults/points
mkdir -p "$points"
ln -s "$build/libtacit_points.so" "$points/libtacit_open.so"

# named NAME TEST... : a fault point, and the tests of which one must fail with it.
named() {
  local name=$1 test solver
  shift
  for test; do
    solver=${test#"${test%%/*}"} test=${test%%/*}
    (cd "$root" && LD_LIBRARY_PATH=$points TACIT_POINT=$name OMP_NUM_THREADS=1 timeout 300 \
      env ${solver:+"TACIT_TEST_SOLVER=${solver#/}"} "$build/tests/test_$test" >"$faults/$name.$test.log" 2>&1)
    case $? in
      0 | 77) ;;
      124) echo "$test did not end within 300 s" ;;
      127) echo "$test cannot be run"; return 1 ;;
      *) echo "caught by $test: $(grep -m1 '^\[  FAILED  \] [a-z]' "$faults/$name.$test.log" | cut -c14-)"; return 0 ;;
    esac
  done
  echo "NOT CAUGHT by $*"
  return 1
}

running=0
planted=0
listed=0
every=${TCT_PLANTED_EVERY:-1}
turn=$((10#$(date +%j) % every))
# plant NAME SOURCE SCRIPT TEST... : runs the fault beside at most one other.
plant() { beside fault "$@"; }
# beside HOW NAME ARG... : the same for any way to plant one.
beside() {
  local how=$1
  shift
  case "$only" in *" $1 "* | "  ") ;; *) return ;; esac
  listed=$((listed + 1))
  [ $((listed % every)) = "$turn" ] || return 0
  planted=$((planted + 1))
  while [ "$running" -ge 2 ]; do
    wait -n
    running=$((running - 1))
  done
  { "$how" "$@" >"$faults/$1.text" 2>&1 || touch "$faults/$1.failed"; } &
  running=$((running + 1))
}

# The library with the points is compiled again, after the other (cmake/open.cmake).
ninja -C "$build" -t commands | grep -v -- -DTCT_POINTS >"$faults/commands" || exit 1
if grep -q -- '-fsanitize' "$faults/commands"; then
  echo "skipped: a build with sanitizers tells nothing more about these faults, slowly"
  exit 77
fi

# ---- points: a row is a point of the sources, and a point without a row does not compile ----
while IFS=' ' read -r name tests; do
  grep -rqE "TCT_POINT\($name," "$root/src" "$root/extra" || { echo "the row $name of points.def has no point in the sources"; exit 1; }
  # shellcheck disable=SC2086  # words
  beside named "$name" $tests
done < <(sed -nE 's/^TCT_POINT_ROW\(([a-z_0-9]+), "([^"]*)"\)$/\1 \2/p' "$root/tests/privacy/points.def")

# ---- scores that may be published ----
plant paged_element_lost src/read/table/table.c 's/pieces->kept \+= piece->used;/pieces->kept += piece->used - (pieces->kept == 0);/' contract_paged
plant paged_piece_twice src/read/table/table.c 's/piece->memory, piece->used \* element, pieces->kept \* element, err/pieces->at[0].memory, piece->used * element, pieces->kept * element, err/' contract_paged
plant paged_never_released src/la/matrix/paged.c 's/p->loading <= most\) return/p->loading <= most + 1000000) return/' contract_paged
plant paged_nothing_stays src/la/matrix/paged.c 's/return p->kept.count < p->room/return p->kept.count < 0/' unit_chunk
plant chunk_of_another_place src/la/matrix/chunk.c 's/room - done\), from \+ done\)/room - done), (from ? from - LEAST_PAGE : 0) + done)/' unit_chunk
plant chunk_dropped_to_zeros src/la/matrix/chunk.c 's/return read \? map_place\(m, from, room\) :/return/' unit_chunk
plant chunk_short_taken_for_whole src/la/matrix/chunk.c 's/if \(got <= 0/if (got < 0) return false;\n    if (got == 0) break;\n    if (got < 0/;s/ \|\| \(got % LEAST_PAGE != 0 \&\& done \+ got < count\)//' unit_chunk
plant score_term_too_long src/score/score_terms.c 's/LESS = 1 - 1e-12/LESS = 1.2/' privacy_private_score
plant score_loss_uncut src/score/score_terms.c 's/fmin\(unit\(loss, 1\), right \? s->even \/ s->most : 1\)/unit(loss, 1) * 2/' privacy_private_score
plant score_off_the_lattice src/score/score_terms.c 's/by.lattice > 0 \? tct_lattice_part\(term, by.lattice\) : term/term/' privacy_private_score
plant score_of_classes_too_long src/score/score_terms.c 's/out->classes \? 1 \+ q \* q/out->classes ? 1/' privacy_private_score
plant score_of_a_count_by_its_logarithm src/score/score_terms.c 's/s->loss.kind->link == TCT_LINK_LOG \? exp\(margin\) : margin/margin/' privacy_private_score
plant score_weights_uncounted src/score/score_terms.c 's/ \+ weighed\);\n  out->bound/);\n  out->bound/' privacy_private_score
plant score_weights_forgotten src/score/score_terms.c 's/by = \{scoring->part \* weight, lattice\}/by = {scoring->part + 0 * weight, lattice}/' privacy_private_score

# ---- bounds that are estimated ----
plant estimate_grid_from_the_data src/estimate/estimate_release.c 's/tct_estimate_power\(r->value\[c\]\)/tct_estimate_power(r->value[c] \/ (1 + fabs(((const double *)r->data->x.values)[0])))/' privacy_estimate
plant estimate_parts_of_the_datas_range src/estimate/estimate_release.c 's/  TCT_TRY\(tct_mech_release\(mech, which, r->sum, r->plan->columns \* len, err\)\);\n  if \(which\)/  if (!which) take_intervals(r, 1e-9);\n  TCT_TRY(tct_mech_release(mech, which, r->sum, r->plan->columns * len, err));\n  if (which)/;s/  else\n    take_intervals\(r, tct_release_deviation\(planned\)\);//' privacy_estimate
plant list_of_persons src/estimate/data_estimate.c 's/if \(data->words && data->persons\)/if (false)/' privacy_estimate_lists
plant list_length_of_one_column src/estimate/estimate_plan.c 's/"counts of the texts that occur", noise, p->lists/"counts of the texts that occur", noise, 1/' privacy_estimate_lists
plant estimate_lost_by_relabelling src/read/borrow.c 's/if \(table->estimated\)/if (false)/' privacy_estimate

# ---- the gate ----

# ---- between plan and draw: halved, and what sees it ----
plant dpscd_length_halved src/solve/dual/dpscd.c 's/event, clip, sensitivity, facts->rows/event, clip, sensitivity \/ 2, facts->rows/' privacy_sensitivity
plant dpscd_clip_doubled_in_the_plan src/solve/dual/dpscd.c 's/event, clip, sensitivity, facts->rows/event, 2 * clip, sensitivity, facts->rows/' privacy_sensitivity
plant seqdpscd_length_halved extra/baselines/seqdpscd.c 's/event, clip, sensitivity, facts->rows/event, clip, sensitivity \/ 20, facts->rows/' privacy_sensitivity
plant primaldpscd_length_halved extra/baselines/primaldpscd.c 's/event, clip, off \* sensitivity_of/event, clip, 0.5 * off * sensitivity_of/' privacy_sensitivity
plant dpsgd_length_halved extra/baselines/dpsgd.c 's/event, clip, clip, facts->rows/event, clip, clip \/ 2, facts->rows/' privacy_sensitivity
plant gradients_length_halved src/solve/gradient/gradient_release.c 's/count\), clip, clip, facts->rows/count), clip, clip \/ 2, facts->rows/' privacy_sensitivity
plant parts_of_threads_twice src/la/kernels/rows.c 's/sum\[j\] \+= part\[t \* apart \+ j\];/sum[j] += 2 * part[t * apart + j];/' contract_ranks contract_solver
plant dpnewton_metric_length_halved extra/baselines/dpnewton.c 's/metric, square, sensitivity,/metric, square, sensitivity \/ 2,/' privacy_sensitivity
plant adassp_length_halved src/solve/minimiser/adassp.c 's/norm, sensitivity, terms_of/norm, sensitivity \/ 2, terms_of/' contract_one_release
plant privgene_change_halved src/solve/gradient/privgene.c 's/m->count, clip,( *\n *| )clip,/m->count, clip, clip \/ 2,/' contract_solver/privgene
plant dpagd_gradient_length_halved src/solve/gradient/dpagd_plan.c 's/tct_event_at\(1, rate, 1\), gradient, gradient,/tct_event_at(1, rate, 1), gradient, gradient \/ 2,/' privacy_choice privacy_sensitivity
plant dpagd_change_halved src/solve/gradient/dpagd_plan.c 's/1, 1, loss, loss,/1, 1, loss, loss \/ 2,/' privacy_choice privacy_sensitivity
plant dpcd_moments_length_halved src/solve/coordinate/dpcd_plan.c 's/event, 1, sensitivity, m->facts->rows/event, 1, sensitivity \/ 2, m->facts->rows/' privacy_sensitivity_dpcd privacy_sensitivity
plant dpcd_steps_length_halved src/solve/coordinate/dpcd_plan.c 's/  steps\.follows = true;/  steps.follows = true, steps.ratio = 0.5;/' privacy_sensitivity_dpcd privacy_sensitivity
plant dpcd_change_halved src/solve/coordinate/dpcd_plan.c 's/choice\.follows = true,/choice.follows = true, choice.ratio = 0.5,/' privacy_sensitivity_dpcd privacy_sensitivity
plant outputs_length_halved src/solve/minimiser/output.c 's/event, output->sensitivity, output->sensitivity, 1/event, output->sensitivity, output->sensitivity \/ 2, 1/' contract_one_release
plant objpert_tilt_halved src/solve/minimiser/objpert_plan.c 's/set->sigma, set->sigma > 0/set->sigma \/ 2, set->sigma > 0/' contract_one_release

# ---- delta 0 ----
plant adassp_pairs_as_matrices_alone src/solve/minimiser/adassp.c 's/sqrt\(2 \+ 2 \* odds \+ 2 \* s/sqrt(2 + 2 * odds + 0 * s/' privacy_sensitivity
plant adassp_pairs_for_all_relations src/solve/minimiser/adassp.c 's/facts->neighbours == TCT_REPLACE_ONE \? half_of_a_pair/true ? half_of_a_pair/' contract_one_release privacy_sensitivity
plant dpnewton_pairs_for_all_relations extra/baselines/dpnewton.c 's/replaced \? M_SQRT1_2 : 1\)/true ? M_SQRT1_2 : 1)/' privacy_sensitivity
plant sums_pairs_for_all_relations extra/parties/gram_parties_plan.c 's/replaced \? M_SQRT1_2 : 1\)/true ? M_SQRT1_2 : 1)/' contract_gram_parties privacy_sensitivity_joint
plant adassp_laplace_length_halved src/solve/minimiser/adassp.c 's/\(2 \* split\) \* \(1 \+ 0x1p-45\)/(4 * split) * (1 + 0x1p-45)/' contract_one_release
plant pure_tilt_without_its_neighbour src/solve/minimiser/objpert_plan.c 's/out->noise_multiplier = [a-z_]+\([^)]*\) \/ left;/out->noise_multiplier = 0.5 \/ left;/' contract_one_release
plant dpsgd_with_ten_epochs extra/baselines/dpsgd.c 's/if \(!\(noise > 0\)\) return/return/' unit_dpsgd

# ---- the bound on released weights ----
plant bound_of_one_record src/solve/shared/weight_bound.c 's/rows \* release->clip/release->clip/' contract_weight_bound
plant bound_without_momentum src/solve/shared/weight_bound.c 's/steps \* \(steps \+ 1\) \/ 2 \+ offset/steps + offset/' contract_weight_bound
plant bound_with_a_common_tail src/solve/shared/weight_bound.c 's/double s = 72/double s = 42/' contract_weight_bound
plant bound_of_one_step src/solve/dual/dpscd.c 's/return steps \* sum/return sum/' contract_weight_bound
plant bound_of_dpcd_without_its_visits src/solve/coordinate/dpcd_scale.c 's/return visits \* /return /' contract_weight_bound


# ---- rows over ranks ----
plant scores_of_one_rank src/solve/gradient/dpagd.c 's/  TCT_TRY\(tct_mech_join_sum\(a->mech, a->score, a->set.grid, err\)\);\n//' contract_ranks
plant totals_of_the_own_rank src/solve/frank_wolfe/dpfw.c 's/TCT_TRY\(tct_mech_join_some\([^;]*;/for (int64_t k = 0; k < s->sums.changed; k++) s->total[s->sums.list[k]] = s->sums.g[s->sums.list[k]];/' contract_ranks
plant plain_low_parts src/la/exact/exact.c 's/low\[j\] \+= \(rest \+ l\) - l;/low[j] += rest;/' contract_ranks
plant whole_value_summed src/solve/minimiser/output.c 's/r\.whole = true;/r.whole = false;/' contract_ranks contract_one_release
plant failure_kept_to_oneself src/ranks/ranks.c 's/int32_t first = own \? team->rank : INT32_MAX;/int32_t first = own \&\& team->rank != 1 ? team->rank : INT32_MAX;/' contract_ranks
plant lost_sum_believed src/ranks/guarded.c 's/  if \(!both_ends\(all, n, ranks, ranks \* number\)\) return TCT_TRANSPORT_DAMAGED;\n//' contract_transports
plant short_frame_believed src/ranks/guarded.c 's/end\[0\] == first \&\& end\[1\] == second/end[0] == end[0]/' contract_transports
plant lost_part_of_a_gather_believed src/ranks/guarded.c 's/if \(memcmp\(got, expected, BYTES\) != 0 \|\| [^\n]*/if (g->calls == 0)/' contract_transports
plant differing_ranks_train src/train/one_program.c 's/tct_status status = tct_team_same\(data->team, \&list, err\);/tct_status status = TCT_OK;/' contract_transports

# ---- what bounds a record ----
plant row_bound_skipped src/la/matrix/view.c 's/return rule == TCT_ROWS_CLIP && scale > 1 \? 1 : scale;/return 1;/' privacy_sensitivity
plant row_bound_without_slack src/la/matrix/view.c 's/double c = 1 - 0x1p-39 - [^;]*;/double c = 1 + 0x1p-30;/' privacy_sensitivity
plant label_clip_skipped src/train/bound.c 's/out->y\[i\] = isnan\(bound\) \|\| joint \? y : [^;]*;/out->y[i] = y;/' privacy_sensitivity
plant lattice_away_from_zero src/la/matrix/lattice.h:src/la/matrix/rows_table.c 's/r -= r > a \? lattice : 0.0;/r += r < a ? lattice : 0.0;/' privacy_sensitivity unit_kernels
plant vector_lattice_away_from_zero src/la/matrix/rows_body.h:src/la/matrix/rows_table.c 's/r -= (\(tct_f64x8\)\(\(tct_i64x8\)step & \(tct_i64x8\)\(r) > (a\)\))/r += \1 < \2/' unit_kernels
plant terms_off_the_lattice src/la/matrix/lattice.h:src/la/matrix/rows_table.c 's/return copysign\(a < magic \? r : a, v\);/return r < 0 ? r : v;/' privacy_sensitivity

# ---- the solvers ----
plant dpcd_limits_without_slack src/la/kernels/fused_limits.c 's/\(1 - 0x1p-20\)/(1 + 0x1p-20)/' unit_fused
plant dpcd_limits_forget_the_intercept src/la/kernels/fused_limits.c 's/j < view->p; j\+\+/j < x->cols; j++/' unit_fused
plant dpcd_limits_in_the_largest_coordinate src/la/kernels/fused_limits.c 's/sum\[i\] \+= (\([^;]*\));/sum[i] = fmax(sum[i], \1);/g' unit_fused privacy_sensitivity_dpcd
plant dpcd_ball_twice_as_wide src/solve/coordinate/dpcd.c 's/inverse\[j\] = 1 \/ part_reach/inverse[j] = 0.5 \/ part_reach/' privacy_sensitivity_dpcd
plant dpcd_limits_skipped src/solve/coordinate/dpcd.c 's/if \(status == TCT_OK && d\.record\) status = set_limits[^;]*;/(void)set_limits;/' privacy_sensitivity_dpcd
plant dpscd_clip_skipped src/solve/dual/dpscd.c 's/zeta = fmin\(fmax\(zeta, -clip\), clip\);/(void)clip;/' privacy_sensitivity
plant dpscd_clip_doubled src/solve/dual/dpscd.c 's/zeta = fmin\(fmax\(zeta, -clip\), clip\);/zeta = fmin(fmax(zeta, -2 * clip), 2 * clip);/' privacy_sensitivity
plant dpscd_reach_without_R src/solve/dual/dpscd.c 's/: clip \* r;/: clip;/' privacy_sensitivity
plant dpscd_alpha_in_the_release src/solve/dual/dpscd.c 's/return zeta;/return dual->alpha[j];/' privacy_sensitivity
plant dpscd_alpha_in_the_model src/solve/dual/dpscd.c 's/dual->v\[j\] \+= batch->sum\[j\];/dual->v[j] += batch->sum[j] + 1e-9 * tct_norm2(dual->alpha, dual->rows);/' privacy_sensitivity
plant dpscd_starts_at_X_alpha src/solve/dual/dpscd.c 's/tct_axpy\(1, dual\.v, w, dual\.p\);/tct_transpose_times(problem->view, dual.alpha, w, 1);/' privacy_sensitivity
plant dpscd_clean_duals_in_the_paper_variant src/solve/dual/dpscd.c 's/dual->alpha\[batch->row\[k\]\] \+= noise\[k\];/(void)dual;/' privacy_sensitivity
plant seqdpscd_cap_ignored extra/baselines/seqdpscd.c 's/if \(batch->count <= set->cap\) sequential/sequential/' privacy_sensitivity_seq
plant seqdpscd_clip_skipped extra/baselines/seqdpscd.c 's/trunc\(fmin\(fmax\(zeta, -clip\), clip\)/trunc(fmin(fmax(zeta, -40 * clip), 40 * clip)/' privacy_sensitivity_seq privacy_sensitivity
plant seqdpscd_clean_duals extra/baselines/seqdpscd.c 's/dual->alpha\[batch->row\[k\]\] \+= batch->u\[k\];/(void)k;/' privacy_sensitivity_seq privacy_sensitivity
plant primaldpscd_reach_halved extra/baselines/primaldpscd.c 's/return facts->neighbours == TCT_ADD_REMOVE \? worst : worst \/ 2;/(void)facts;\n  return worst \/ 2;/' privacy_sensitivity
plant primaldpscd_reach_without_sqrt_L extra/baselines/primaldpscd.c 's/ \* sqrt\(tct_spec_real\(spec, options, "batch"\)\)//' privacy_sensitivity
plant primaldpscd_clip_skipped extra/baselines/primaldpscd.c 's/if \(!\(fabs\(zeta\) <= clip\)\)/if (!(fabs(zeta) <= 1e3 * clip))/' privacy_sensitivity
plant dpsgd_clip_skipped extra/baselines/dpsgd.c 's/norm > clip \? slope \* \(clip \/ norm\) : slope/norm < 0 ? 0 : slope/' privacy_sensitivity
plant dpsgd_clip_of_the_mean extra/baselines/dpsgd.c 's/(norm > clip)( \? slope \* \(clip)/\1 * (double)batch->count\2 * (double)batch->count/' privacy_sensitivity
plant dpsgd_divides_by_the_drawn_batch extra/baselines/dpsgd.c 's/-set.step \/ set.batch/-set.step \/ fmax(1, (double)batch.count)/' privacy_sensitivity
plant objpert_slopes_uncut src/solve/minimiser/smooth.c 's/slope\[i\] = a > limit \? limit : a < -limit \? -limit : a;/slope[i] = a + 0 * fmin(limit, 1);/' contract_one_release unit_smooth
plant objpert_long_records_count_in_full src/solve/minimiser/smooth.c 's/length2 \/ norm2 \* down/down/' contract_one_release unit_smooth
plant objpert_ridge_for_half_the_length src/solve/minimiser/smooth.c 's/facts->length = facts->row_norm \*= norm;/facts->row_norm *= norm, facts->length = 2 * facts->row_norm;/' contract_one_release unit_smooth
plant objpert_noise_for_half_the_slope src/solve/minimiser/smooth.c 's/facts->clip = facts->slope \*/facts->clip = 2 * facts->slope */' contract_one_release unit_smooth
plant persons_weights_unshared src/read/table/weigh.c 's/weight\[i\] \*= max \/ sum\[person\[i\]\];/(void)max;/' privacy_weights
plant weighed_terms_cut_at_the_whole_reach src/solve/gradient/gradient_release.c 's/tct_gradient_factor_max\(weight\[first \+ k\] \* f->clip/tct_gradient_factor_max(f->clip/' privacy_weights
plant weights_forgotten_behind_the_clip src/solve/gradient/gradient_release.c 's/tct_gradient_factor_max\(weight\[first \+ k\] \* f->clip/tct_gradient_factor_max(f->clip/;s/tct_clip_rows\(f->problem, first, count, f->row_norm, weight \? f->clip : room, a\);/tct_problem bare = *f->problem;\n  bare.weight = NULL;\n  tct_clip_rows(\&bare, first, count, f->row_norm, room, a);/' privacy_weights
plant slopes_clipped_by_half_the_norm src/solve/shared/clipped.c 's/(norm\[i\] = )sqrt/\10.5 * sqrt/' privacy_sensitivity privacy_weights
plant line_search_losses_not_clipped src/solve/gradient/step_scores.c 's/      v = v < clip \? v : clip; [^\n]*\n//' privacy_choice
plant squared_scores_beyond_their_clip src/solve/gradient/dpagd.c 's/a->set.grid, planned->clip, planned->lattice/a->set.grid, (problem->facts->loss.kind->binary ? 1 : 2) * planned->clip, planned->lattice/' privacy_choice
plant squared_gradients_beyond_their_clip src/solve/gradient/dpagd.c 's/a->computed_norms, planned->clip, b->u/a->computed_norms, problem->facts->loss.kind->one_sign ? planned->clip : 1.3 * planned->clip, b->u/' privacy_choice
plant dpmetric_clips_by_the_row src/solve/gradient/dpmetric.c 's/tct_clip_rows\(problem, first, count, step->length,/tct_clip_rows(problem, first, count, step->norm,/;s/step->length\[first \+ k\]/step->norm[first + k]/' privacy_sensitivity_metric
plant dpmetric_matrix_unreleased src/solve/gradient/dpmetric_factor.c 's/  TCT_TRY\(tct_mech_release\(m->mech, r, sum, m->count, err\)\);\n/  double *kept = TCT_NEW(double, m->count);\n  memcpy(kept, sum, (size_t)m->count * sizeof *sum);\n  TCT_TRY(tct_mech_release(m->mech, r, sum, m->count, err));\n  memcpy(sum, kept, (size_t)m->count * sizeof *sum);\n/' privacy_sensitivity_metric
plant dpmetric_images_unreleased src/solve/gradient/dpmetric_factor.c 's/  TCT_TRY\(tct_mech_release\(m->mech, m->at.second, sum, m->count, err\)\);\n/  double *kept = TCT_NEW(double, m->count);\n  memcpy(kept, sum, (size_t)m->count * sizeof *sum);\n  TCT_TRY(tct_mech_release(m->mech, m->at.second, sum, m->count, err));\n  memcpy(sum, kept, (size_t)m->count * sizeof *sum);\n/' privacy_sensitivity_metric
plant dpmetric_factor_of_each_rank src/solve/gradient/dpmetric_factor.c 's/  if \(own > 0\) memset[^;]*;\n  TCT_TRY\(tct_mech_join_sum\(m->mech, shape->metric\.w[^;]*;\n  TCT_TRY\(tct_mech_join_sum[^;]*;/  (void)count;\n  shape->metric.w[0] *= 1 + 1e-9 * (double)own;/' privacy_sensitivity_metric contract_ranks
plant dpmetric_rounding_of_images_unpaid src/solve/gradient/dpmetric.c 's/planned->clip - rounded\)/planned->clip - 0 * rounded)/' privacy_sensitivity_metric
plant dpmetric_rounding_of_rows_unpaid src/solve/gradient/dpmetric.c 's/own - tct_metric_rounding/own - 0 * tct_metric_rounding/' privacy_sensitivity_metric
plant dpmetric_rounding_of_a_person_once src/solve/gradient/dpmetric.c 's/own - tct_metric_rounding/own - weight * tct_metric_rounding/' privacy_sensitivity_metric
plant dpmetric_images_uncut src/solve/gradient/dpmetric_factor.c 's/SHRINK \/ fmax\(rho, norm\)/SHRINK \/ rho/' privacy_sensitivity_metric
plant dpmetric_rows_uncut src/solve/gradient/dpmetric_factor.c 's/fmax\(m->bound, m->norm\[i\]\) \* SHRINK/m->bound * SHRINK/' privacy_sensitivity_metric
plant dpmetric_counts_ignore_weights src/solve/gradient/dpmetric_factor.c 's/\(problem->weight \? problem->weight\[i\] : 1\) \* r->clip/1 * r->clip/' privacy_sensitivity_metric
plant dpmetric_slopes_ignore_weights src/solve/gradient/dpmetric_factor.c 's/\(problem->weight \? problem->weight\[i\] : 1\) \* counts->clip/1 * counts->clip/' privacy_sensitivity_metric
plant dpmetric_labels_besides_the_counts src/solve/gradient/dpmetric_factor.c 's/sqrt\(m->rule.norms \/ \(m->rule.norms \+ m->rule.start\)\)/1/' privacy_sensitivity_metric
plant dpmetric_start_unreleased src/solve/gradient/dpmetric_factor.c 's/(  TCT_TRY\(tct_mech_release\(m->mech, m->at.norms)/  if (m->rule.start > 0) start(m, sum, 1, shape);\n\1/;s/\n  if \(m->rule.start > 0\) start\(m, sum, counts->deviation, shape\);//' privacy_sensitivity_metric
plant dpmetric_slope_unreleased src/solve/gradient/dpmetric_factor.c 's/(  TCT_TRY\(tct_mech_release\(m->mech, m->at.slopes)/  double kept[TCT_QUANTILE_EDGES];\n  memcpy(kept, count, sizeof kept);\n\1/;s/tct_quantile_between\(count, top/tct_quantile_between(kept, top/' privacy_sensitivity_metric
plant dpmetric_replaced_records_twice_as_close src/solve/gradient/dpmetric_plan.c 's/TCT_REPLACE_ONE \? M_SQRT1_2 : 1/TCT_REPLACE_ONE ? 0.5 : 1/' privacy_sensitivity_metric
plant dpmetric_lengths_without_their_error src/la/exact/metric.c 's/ \* \(1 \+ part\) \+ part \* metric->size \* view->row_norm \+ 0x1p-900/ + 0 * part/g' privacy_sensitivity_metric
plant dpmetric_lengths_halved_in_the_plan src/solve/gradient/dpmetric_plan.c 's/event, 1, sensitivity, 2/event, 1, sensitivity \/ 2, 2/' privacy_sensitivity_metric
plant dpmetric_steps_halved_in_the_plan src/solve/gradient/dpmetric_plan.c 's/event, 1, 1, m->facts/event, 1, 0.5, m->facts/' privacy_sensitivity_metric
plant dpmetric_clip_doubled_in_the_plan src/solve/gradient/dpmetric_plan.c 's/event, 1, 1, m->facts/event, 2, 1, m->facts/' privacy_sensitivity_metric
plant dpmetric_images_released_as_a_step src/solve/gradient/dpmetric_factor.c 's/tct_mech_release\(m->mech, m->at.second, sum/tct_mech_release(m->mech, m->at.steps, sum/' privacy_sensitivity_metric contract_solver/dpmetric
plant dpnewton_metric_reach_without_square extra/baselines/dpnewton.c 's/double square = m->facts->row_norm \* m->facts->row_norm,/double square = m->facts->row_norm,/' privacy_sensitivity
plant dpnewton_metric_released_as_a_step extra/baselines/dpnewton.c 's/tct_mech_release\(mech, METRIC, gram/tct_mech_release(mech, GRADIENTS, gram/' contract_solver/dpnewton
plant gram_of_unbounded_rows src/la/exact/gram.c 's/tct_row_add_lattice\(view, row \+ k, root, step, rows \+ k \* wide\)/tct_row_add_lattice(view, row + k, 1.01 * root, step, rows + k * wide)/' unit_gram privacy_sensitivity
plant gram_weights_ignored src/la/exact/gram.c 's/weight \? sqrt\(weight\[row \+ k\]\) \* \(1 - 0x1p-50\) : 1/weight ? 1 : 1/' privacy_weights unit_gram
plant gram_step_below_the_lattice src/la/exact/gram.c 's/exponent >= 1 \? exponent \/ 2 : -\(\(1 - exponent\) \/ 2\)/(exponent - 40) \/ 2/' unit_gram
plant adassp_labels_unweighed src/solve/minimiser/adassp.c 's/scale \* set->weight \* problem->y/set->weight * problem->y/' privacy_weights
plant adassp_long_records src/solve/minimiser/adassp.c 's/norm \* norm \/ size2 : 1/norm \/ sqrt(size2) : 1/' contract_one_release
plant gradient_rounding_unpaid src/la/exact/gradient.c 's/return sensitivity - sqrt\(\(double\)p\) \* lattice;/(void)lattice, (void)p;\n  return sensitivity;/' unit_gradient
plant gradient_clip_twice_the_reach src/solve/gradient/gradient_release.c 's/double room = fmax\(/double room = 2 * fmax(/' privacy_sensitivity
plant gradient_room_for_one_rounding_of_a_person src/solve/gradient/gradient_release.c 's/if \(size > own\)/if (size > 2 * f->clip)/' privacy_weights
plant gradient_tail_rounded_otherwise src/la/exact/gradient.c 's/bits_of\(tct_row_value\(&row, k\) \* b \+ s->magic\)/bits_of(tct_row_value(\&row, k) * b * (1 - 0x1p-20) + s->magic)/' unit_gradient
plant gradient_sparse_rows_rounded_otherwise src/la/exact/gradient.c 's/bits_of\(\(double\)value\[k\] \* factor \+ magic\)/bits_of((double)value[k] * factor * (1 - 0x1p-20) + magic)/' unit_gradient
plant dpfw_weighed_terms_cut_at_the_whole_reach src/solve/frank_wolfe/dpfw_sums.c 's/clipped\(slope, s->most\[i\]\)/clipped(slope, s->d->clip)/' privacy_sensitivity_dpfw
plant dpfw_weights_ignored src/solve/frank_wolfe/dpfw_sums.c 's/ \* s->problem->weight\[i\]//' privacy_sensitivity_dpfw
plant every_row_a_person src/several/persons.c 's/strcmp\(list\[k\]\.name, list\[k - 1\]\.name\) != 0/true/' unit_persons
plant persons_by_their_first_letter src/several/persons.c 's/strcmp\(/strncmp(1 + /g;s/strncmp\(1 \+ ([^,]*), ([^)]*)\)/strncmp(\1, \2, 1)/g' unit_persons
plant keys_of_the_first_part_alone src/read/table/join.c 's/const char \*from = keys_after\(part\[k\]->keys/const char *from = keys_after(part[0]->keys/;s/keys_after\(part\[k\]->keys, part\[k\]->x.rows\) - from\)/keys_after(part[0]->keys, part[0]->x.rows) - from)/' unit_persons
plant objpert_curves_for_persons src/solve/minimiser/objpert.c 's/TCT_WEIGHS_RECORDS/TCT_WEIGHS_PERSONS/' privacy_weights

# ---- what the certificate says, and whether it is there ----
plant model_hides_its_seed src/model/model.c 's/m->reproducible \? "reproducible" : "system"/m->reproducible ? "system" : "system"/' unit_model
plant model_hides_what_is_unaccounted src/model/model.c 's/texts\(m->unaccounted, TCT_UNACCOUNTED\)/texts(m->unaccounted, 0)/' unit_model
plant model_forgets_its_relation src/model/model_read.c 's/m->neighbours = tct_neighbours_find\(relation\);/m->neighbours = TCT_ADD_REMOVE;/' unit_model
plant failed_write_leaves_a_file src/core/outfile.c 's/if \(out->aside\) unlinkat\([^;]*;//' fault_outfile
plant written_file_loses_its_permissions src/core/outfile.c 's/\(void\)fchmod\([^;]*;/(void)mode;/' unit_outfile
plant output_over_an_input src/core/outplace.c 's/if \(!is_input\(t, \*inputs\)\) continue;/continue;/' unit_outfile
plant output_over_a_ledger src/core/outplace.c 's/if \(kind != TCT_OUT_ANCHOR\)/if (false)/' unit_outfile
plant output_over_a_journal src/core/outplace.c 's/return check_beside\(t, err\);/return TCT_OK;/' unit_outfile
plant two_new_outputs_of_one_name src/core/outplace.c 's/if \(t->there\) return false;/return false;/' unit_outfile
plant output_through_the_link_of_another src/core/outplace.c 's/\(S_IWGRP \| S_IWOTH \| S_ISVTX\)/0/' unit_outfile
plant output_over_what_nobody_may_write src/core/outplace.c 's/!\(t->at\.st_mode & \(S_IWUSR/(0 \& (S_IWUSR/' unit_outfile
plant model_forgets_its_table src/train/fit.c 's/TCT_TRY\(tct_inputs_copy\([^;]*;//' unit_outfile
plant relabelled_table_forgets_its_file src/read/borrow.c 's/TCT_TRY\(tct_inputs_copy\([^;]*;//' unit_outfile
plant joined_table_forgets_its_files src/read/table/join.c 's/TCT_TRY\(tct_inputs_copy\(&to->inputs, &part\[k\]->inputs, err\)\);/;/' unit_outfile

# ---- columns of several parties ----
plant parties_change_halved extra/parties/dpfw_parties_plan.c 's/s->relation \* m->clip, n\)/s->relation * m->clip \/ 2, n)/;s/choice\.ratio = s->relation;/choice.ratio = s->relation \/ 2;/' privacy_sensitivity_parties
plant parties_score_length_halved extra/parties/dpfw_parties_plan.c 's/tct_event_gaussian\(noise, 1\), m->clip, m->clip, n/tct_event_gaussian(noise, 1), m->clip, m->clip \/ 2, n/;s/(score\.follows = true;)/\1\n    score.ratio = 0.5;/' privacy_sensitivity_parties
plant parties_column_length_halved extra/parties/dpfw_parties_plan.c 's/column, m->feature, m->feature,/column, m->feature, m->feature \/ 2,/' privacy_sensitivity_parties
plant parties_slopes_unclipped extra/parties/dpfw_parties.c 's/s->slope\[i\] = clipped\(s->slope\[i\], s->clip\)/s->slope[i] += 0/;s/s->first \+ j, planned->clip, planned->lattice/s->first + j, 1e9, planned->lattice/' privacy_sensitivity_parties
plant parties_columns_unclipped extra/parties/dpfw_parties.c 's/s->column\[i\] = clipped\(s->column\[i\], planned->clip\)/s->column[i] += 0/' privacy_sensitivity_parties
plant parties_own_columns_heard_again extra/parties/parties_server.c 's/ \|\| \(c->party == party && s->set->local\)//' privacy_sensitivity_parties
plant parties_column_sent_again extra/parties/dpfw_parties.c 's/ && !s->is_sent\[s->chosen \/ 2\]//' privacy_sensitivity_parties

# ---- dpfw and its choices ----
# ---- the one-step estimator and its standard errors ----
plant onestep_slopes_unclipped src/solve/onestep/onestep_sums.c 's/if \(size > own\) psi \*= own \/ size \* \(1 - 0x1p-48\);//' privacy_sensitivity
plant onestep_records_all_weigh_one src/solve/onestep/onestep_sums.c 's/run->omega\[i\] = fmin\(1, part \* part\)/run->omega[i] = 1 + 0 * part/;s/if \(size > own\) psi \*= own \/ size \* \(1 - 0x1p-48\);//' privacy_sensitivity
plant onestep_moments_uncut src/solve/onestep/onestep_sums.c 's/cut = SHRINK \/ fmax\(size, 1\)/cut = 2 * SHRINK/' privacy_sensitivity
plant onestep_counts_records_that_are_not_there src/solve/onestep/onestep_sums.c 's/> none \* none\)\) continue;/>= 0 * none)) continue;/' privacy_sensitivity
plant onestep_curvature_stands_for_any_variance src/solve/onestep/dponestep_plan.c 's/ \|\| facts->loss.kind->link != TCT_LINK_LOGISTIC//' privacy_standard_errors
plant poisson_grows_without_end src/loss/poisson.c 's/\(1 \+ over\) - y/(1 + over + 0.5 * over * over) - y/' contract_loss
plant poisson_starts_at_the_mean src/loss/loss.c 's/link != TCT_LINK_LOG\) return mean/link < TCT_LINKS) return mean/' unit_dpmetric_start
plant page_forgets_the_noise extra/report/report_intervals.c 's/s.noise_half = t \* errors.noise_error/s.noise_half = 0/' unit_report
plant page_of_half_intervals extra/report/report_intervals.c 's/s.half = t \* errors/s.half = 0.5 * t * errors/' unit_report
plant onestep_half_the_noise src/solve/onestep/dponestep_plan.c 's/event, 1, 1, m->facts->rows/event, 1, 0.5, m->facts->rows/' privacy_sensitivity
plant onestep_replaced_records_twice_as_close src/solve/onestep/dponestep_plan.c 's/TCT_REPLACE_ONE \? M_SQRT1_2 : 1/TCT_REPLACE_ONE ? 0.5 : 1/' privacy_sensitivity
plant onestep_moments_uncharged src/solve/onestep/onestep_sums.c 's/tct_mech_release\(run->mech, run->at.moments, out->curvature, count, err\)/tct_mech_state_noise(run->mech, run->at.moments, out->curvature, count, err)/' contract_solver/dponestep privacy_sensitivity
plant onestep_moments_unreleased src/solve/onestep/onestep_sums.c 's/  TCT_TRY\(tct_mech_release\(run->mech, run->at.moments, out->curvature, count, err\)\);\n/  double *kept = TCT_NEW(double, count);\n  memcpy(kept, out->curvature, (size_t)count * sizeof *kept);\n  TCT_TRY(tct_mech_release(run->mech, run->at.moments, out->curvature, count, err));\n  memcpy(out->curvature, kept, (size_t)count * sizeof *kept);\n/' privacy_standard_errors
plant onestep_moments_in_another_metric src/solve/onestep/onestep_sums.c 's/tct_metric_images\(&run->shape.metric, view/tct_metric_images(\&run->scaled.metric, view/' privacy_standard_errors
plant onestep_states_half_its_noise src/solve/onestep/onestep_covariance.c 's/double g2 = m->in->deviation/double g2 = 0.25 * m->in->deviation/' privacy_standard_errors
plant counts_with_the_clip_of_normal_residuals src/solve/onestep/dponestep_plan.c 's/if \(facts->loss.kind->counts\) return between\(0.06 \* root, least, 15\);//' privacy_standard_errors
plant onestep_path_with_the_clip_of_its_first_steps src/solve/onestep/dponestep_plan.c 's/fmax\(least, 0.5 \* tct_onestep_clip/fmax(least, 0 * tct_onestep_clip/' privacy_standard_errors
plant clips_by_the_slope_of_one_label src/solve/shared/clipped.c 's/size\[k\] > 0\.5 \? size\[k\] : 1 - size\[k\]/size[k]/' privacy_standard_errors unit_dpmetric_start
plant onestep_inverse_of_a_noisy_curvature src/solve/onestep/onestep_covariance.c 's/value\[j\] \+= half \* \(trace \+ 1 \/ value\[j\]\)/value[j] += 0 * half * trace/' privacy_standard_errors
plant onestep_open_direction_ends_at_the_optimum src/solve/onestep/onestep_covariance.c 's/square = LEFT \* slope \* slope/square = 0 * slope/' privacy_standard_errors
plant onestep_units_far_above_the_rows src/solve/onestep/onestep_sums.c 's/ && tct_noise_off\(run->problem->facts\)\) status/ \&\& run->rule.steps < 0) status/' privacy_standard_errors
plant onestep_rounding_is_curvature src/solve/onestep/onestep_covariance.c 's/LEAST = 1e-6/LEAST = 1e-12/' privacy_standard_errors
plant onestep_open_direction_without_a_prior src/solve/onestep/onestep_covariance.c 's/prior = known \?/prior = !known ?/' privacy_standard_errors
plant onestep_unknown_variance_is_small src/solve/onestep/onestep_covariance.c 's/m->unknown \|\| open_part/open_part/' privacy_standard_errors
plant largest_of_ranks_forgets_nan src/ranks/ranks.c 's/isnan\(x\[j\]\) \? INFINITY : x\[j\]/x[j]/' contract_transports
plant onestep_forgets_sampling src/infer/inference.c 's/noise \+ quadratic\(inference->sampling, c, inference->p\)/noise + 0.25 * quadratic(inference->sampling, c, inference->p)/' privacy_standard_errors
plant dpfw_change_halved src/solve/frank_wolfe/dpfw_plan.c 's/TCT_ADD_REMOVE \? m->clip : 2 \* m->clip/TCT_ADD_REMOVE ? m->clip \/ 2 : m->clip/' privacy_sensitivity_dpfw
plant dpfw_change_of_the_other_relation src/solve/frank_wolfe/dpfw_plan.c 's/m->clip : 2 \* m->clip/m->clip : m->clip/' privacy_sensitivity_dpfw
plant dpfw_wrong_sign src/solve/frank_wolfe/dpfw.c 's/2 \* j, -s->total\[j\]\)/2 * j, s->total[j])/;s/2 \* j \+ 1, s->total\[j\]\)/2 * j + 1, -s->total[j])/' privacy_sensitivity_dpfw
plant dpfw_feature_bound_unenforced src/solve/frank_wolfe/dpfw_sums.c 's/tct_lattice_part\(clipped\(([^,]*), sensitivity\)/tct_lattice_part(clipped(\1, 1e9)/g' privacy_sensitivity_dpfw
plant dpfw_old_terms_left_in src/solve/frank_wolfe/dpfw_sums.c 's/clipped\(before \* x, sensitivity\)/clipped(0.999 * before * x, sensitivity)/' privacy_sensitivity_dpfw

# ---- how a run ends ----
plant model_of_a_run_cut_short src/train/fit.c 's/if \(tct_stopping\(\)\) status = tct_fail_cancelled\(err\);//' contract_solver_edges
plant descent_without_momentum_until_certified src/solve/minimiser/accelerate.c 's#t / \(1 \+ t\) \* \(d->z\[j\] - y\[j\]\)#0#;s#k < steps \&\& ##' privacy_ends
plant descent_stops_at_a_tenth_of_its_steps src/solve/minimiser/accelerate.c 's#ceil\(2 / rate#ceil(0.02 / rate#' privacy_ends
plant fast_method_without_an_allowance src/solve/minimiser/certified_minimum.c 's#promised \? \(int64_t\)tct_smooth_fast\(&s->facts\) - TAIL : INT64_MAX#INT64_MAX#' privacy_ends
plant no_certificate_is_a_failure src/solve/minimiser/certified_minimum.c 's#tct_smooth_descend\(s, target, w, err\)#tct_fail(err, TCT_E_RUN, "did not converge")#' privacy_ends
plant shift_halved_for_ever src/la/exact/gram.c 's#if \(!\(middle > low \&\& middle < high\)\) break;#if (--left < 0) abort();#;s#double low = 0, high = 0, width = unit;#double low = 0, high = 0, width = unit; int left = 4000;#;s#<string.h>#<string.h>\n\#include <stdlib.h>#' unit_gram
# ---- secure sums ----
plant sums_cut_to_the_nearest src/la/exact/ring.c 's/tct_row_add_lattice\(view, row, 1, ldexp\(1, -fraction\), line\);/tct_row_axpy(view, row, 1, line);/;s/\(uint64_t\)\(int64_t\)ldexp\(value, fraction\)/(uint64_t)(int64_t)rint(ldexp(value, fraction))/' unit_ring
plant sums_norms_not_enforced extra/parties/gram_simulate.c 's/s->set\.norm\[k\], TCT_ROWS_CLIP/1e9, TCT_ROWS_CLIP/' contract_gram_parties
plant sums_norms_of_the_whole_each extra/parties/gram_parties_plan.c 's/facts->row_norm \* sqrt\(s->norm\[k\] \/ sum\)/facts->row_norm/' contract_gram_parties
plant sums_matrix_length_halved extra/parties/gram_parties_plan.c 's/gram, square, f->rows/gram, square \/ 2, f->rows/' contract_gram_parties
plant sums_moment_length_halved extra/parties/gram_parties_plan.c 's/norm \* f->label_bound, f->rows/norm * f->label_bound \/ 2, f->rows/' contract_gram_parties
plant sums_observers_face_too_much extra/parties/gram_parties_plan.c 's/double all = \(double\)r->drawers \/ r->faced;/double all = 2.0 * r->drawers \/ r->faced;/' contract_gram_parties
plant sums_products_wrong_at_the_edge src/la/exact/ring.c 's/j = i < tall \? wide : 0/j = i < tall ? wide + 1 : 0/' unit_ring
plant sums_trust_of_dpfw_parties_claimed src/model/model.c 's/if \(apart && strstr\(m->parties, /if (apart \&\& !strstr(m->parties, /' unit_report
plant sums_conditions_not_on_the_page extra/report/report_promise.c 's/  conditions\(page\);\n/  (void)conditions;\n/' unit_report
plant sums_wire_that_lets_everything_out extra/wire/wire.c 's/  if \(!wire->allowed \|\| type == [^;]*return TCT_OK;\n/  if (type >= 0) return TCT_OK;\n/' contract_gram_wire unit_wire
plant frames_unpaid extra/wire/wire.c 's/return wire->pay\(wire->pay_user, err\);/return TCT_OK;/' unit_wire
plant sums_swapped_header_not_looked_at extra/wire/wire.c 's/  TCT_TRY\(judge_header\(wire, peer, s->type, header, &length, err\)\);\n  TCT_TRY\(check_length\(length, s->in_size, err\)\);/  length = s->in_size;\n  (void)length;/' contract_gram_wire
plant sums_blocks_sent_before_any_is_taken extra/wire/wire.c 's/if \(!wire->backend->swap\) \{/if (wire->backend->send) {\n    if (wire->self != TCT_SERVER) TCT_TRY(tct_wire_send(wire, peer, s->type, s->out, s->out_size, err));/;s/  return wire->self == TCT_SERVER \? TCT_OK : tct_wire_send\([^;]*;/  return TCT_OK;/' contract_gram_wire
plant peers_proof_without_the_connection extra/session/peers.c "s/  tct_digest_field\(&digest, 'B', binding, sizeof binding\);\n//" unit_peers
plant peers_proof_without_the_session extra/session/peers.c "s/  tct_digest_field\(&digest, 'S', place->session, sizeof place->session\);\n//" unit_peers
plant peers_proof_without_the_prover extra/session/peers.c "s/\(uint64_t\)from\)/0)/" unit_peers
plant peers_proof_for_anybody extra/session/peers.c "s/\(uint64_t\)to\)/0)/" unit_peers
plant peers_proof_not_compared extra/session/peers.c 's/if \(differ\(theirs, expected\)\)/if (differ(theirs, theirs))/' unit_peers
plant peers_proof_shown_to_whoever_comes extra/session/peers.c 's/if \(!listens\) TCT_TRY\(tct_wire_send\(wire, peer, TCT_SAY_PROOF/if (peer < 1) TCT_TRY(tct_wire_send(wire, peer, TCT_SAY_PROOF/' unit_peers
plant peers_session_of_any_plan extra/session/roster.c 's/  tct_digest_text\(&digest, plan\);\n/  (void)plan;\n/' unit_peers
plant peers_one_party_twice extra/session/roster.c 's/ && !is_known\(out, k, out->name\[k\]\)/ || is_known(out, k, out->name[k])/' unit_peers
plant peers_words_steer_the_terminal src/core/status.c 's/  make_harmless\(err->text\);\n//' unit_status

# ---- ranks and parties that do not compare notes ----
plant ranks_that_do_not_compare src/train/fit.c 's/  TCT_TRY\(tct_ranks_agree\(plan, data, err\)\);\n//' contract_one_program
plant seeds_of_ranks_not_compared src/train/one_program.c 's/FIELD\(WORD, seed, "the seed"\)/FIELD(FREE, seed, NULL)/' contract_one_program
plant promises_of_ranks_not_compared src/train/one_program.c 's/  add_promise\(list, &solved->promise\);\n//' contract_one_program
plant tables_of_ranks_not_compared src/train/one_program.c 's/  tct_settings_table\(&list, data\);\n//' contract_one_program
plant read_options_not_compared src/train/parts.c 's/  tct_settings_read\(&list, options\);\n//' contract_one_program
plant blocks_of_files_not_compared src/train/identity.c 's/return same_files\(paths, count, ends, team, identity, err\);/memcpy(identity, ends, TCT_DIGEST_HEX);\n  return TCT_OK;/' contract_one_program
plant claim_of_the_server_believed extra/session/take.c 's/    if \(!\*group && json_is_object\(each\)/    if (!*group \&\& !strcmp(key, "privacy")) continue;\n&/' contract_party_model
plant extra_words_of_the_server_believed extra/session/take.c 's/if \(!json_object_get\(expected, key\)\) return differs\(group, key, err\);/(void)each;/' contract_party_model
plant own_facts_dropped_by_the_server extra/session/take.c 's/    if \(!found\) return false;\n//' contract_party_model

# ---- what events cost ----

# ---- the gate, once more ----

# ---- samplers and streams ----

# ---- the ledger ----

# ---- verify ----
plant joint_classes_clipped_apart src/solve/gradient/gradient_release.c 's/(a\[k\] \*= weight), squares \+= a\[k\] \* a\[k\];/\1, squares = fmax(squares, a[k] * a[k]);/' privacy_sensitivity_joint
plant joint_weights_ignored src/solve/gradient/gradient_release.c 's/double weight = problem->weight \? problem->weight\[i\] : 1/double weight = 1/' privacy_sensitivity_joint
plant joint_room_for_one_class src/solve/gradient/gradient_release.c 's/planned->lattice, classes \* d->p\)/planned->lattice, 1)/' privacy_sensitivity_joint
plant joint_slope_of_the_wrong_sign src/loss/softmax.c 's/z\[y\] -= 1/z[y] += 1/' contract_loss
plant joint_loss_overflows src/loss/softmax.c 's/exp\(z\[k\] - max\)/exp(z[k])/' contract_loss
plant joint_loss_by_any_solver src/train/plan.c 's/if \(!facts->loss.kind->joint \|\| solver->joint\)/if (true)/' privacy_sensitivity_joint
plant joint_clip_of_twice_the_claim src/solve/gradient/gradient_release.c 's/factor_max\(weight \* planned->clip, planned/factor_max(weight * 2 * planned->clip, planned/' privacy_sensitivity_joint
plant joint_half_the_noise src/solve/gradient/dpgd.c 's/out->noise_multiplier, steps\), err/facts->loss.kind->joint ? out->noise_multiplier \/ 2 : out->noise_multiplier, steps), err/' contract_solver/dpgd
plant joint_classes_counted_in_the_data src/train/fit.c 's/data->classes.count \&\& data->classes.count != tct_loss_outputs\(loss\)/false/' unit_softmax
plant joint_classes_of_the_largest_label src/train/bound.c 's/y < plan->facts.loss.h \&\& //' unit_softmax
plant joint_score_of_another_class src/model/evaluate.c 's/if \(has_other_class\(m, data\)\)/if (false)/' unit_softmax
plant selection_of_one_fit_of_several_classes src/several/tries.c 's/status = tct_part_events\(&c->part\[j\], &one\[j\], err\)/status = tct_events_copy(\&one[j], \&c->part[j].plan->solved.promise.events, err)/' unit_fit_tries
plant search_forgets_the_weights_of_persons src/read/table/join.c 's/row\+\+\] = from->weight\[i\]/row++] = 1/' unit_fit_tries
plant selection_of_a_fixed_number_of_tries src/train/choose.c 's/for \(\*tries = 0; last; /for (*tries = 0; *tries < mean; /' unit_selection
plant one_noise_for_all_classes src/several/turn.c 's/\(uint64_t\)turn->turn \* SEED_STEP/0 * SEED_STEP/' unit_classes
plant fits_of_others_joined src/model/many.c 's/"count"\)\) == count/"count")) >= 1/' unit_classes
plant keys_that_stand_twice_read src/model/model_read.c 's/JSON_REJECT_DUPLICATES/0/g' unit_verify
plant softmax_rule_of_the_whole_signal src/solve/auto.c 's| / sqrt\(\(double\)classes\);|;|' unit_softmax
plant softmax_rule_where_every_fit_sees src/solve/auto.c 's/  return each < METRIC;/  return each > METRIC;/' unit_softmax
plant softmax_rule_for_few_classes src/solve/auto.c 's/MANY_CLASSES = 6/MANY_CLASSES = 3/' unit_softmax
plant softmax_rule_without_a_delta src/solve/auto.c 's/tct_noise_off\(facts\) \|\| facts->delta == 0 \|\| !plain/tct_noise_off(facts) || !plain/' unit_softmax

wait
status=0
shopt -s nullglob
for text in "$faults"/*.text; do
  name=$(basename "$text" .text)
  mark="ok  "
  [ -f "$faults/$name.failed" ] && mark=FAIL status=1
  printf '%s %-42s %s\n' "$mark" "$name" "$(tail -n 3 "$text" | tr '\n' ' ')"
done
echo "$planted of $listed faults planted"
[ "$planted" -gt 0 ] || status=1
exit $status
