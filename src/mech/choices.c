/* choices.c - choices through the gate, and public randomness.
 *
 * DISTRIBUTION  Those of rng/exponential_choice.c, rng/choice_tree.c and permute and flip, at the planned epsilon and
 * sensitivity.
 *
 * PROOF  The choice is charged before its first random bit is drawn (mech.c); the samplers' files prove their laws.
 *
 * ROUNDING  None: scores are multiples of a lattice, the release's or the solver's own, and differences of two of them
 * are exact.  A score that is infinite or no number is refused before the charge. */
#include "mech/gate.h"

#include "core/point.h"
#include "core/alloc.h"
#include "ranks/ranks.h"

#include <math.h>

static int64_t largest(const double *score, int64_t count) {
  int64_t best = 0;
  for (int64_t j = 1; j < count; j++)
    if (score[j] > score[best]) best = j;
  return best;
}

static int64_t chosen(tct_stream *s, const tct_release *r, const double *score, int64_t count) {
  if (r->law == TCT_LAW_LARGEST) return largest(score, count);
  return (r->law == TCT_LAW_FLIP ? tct_permute_and_flip : tct_exponential_choice)(
      s, score, count, r->epsilon, TCT_POINT(choice_of_half_the_change, r->sensitivity, r->sensitivity / 2),
      r->monotone);
}

/* Rank 0 draws, by a tree or from the scores. */
static tct_status choose(tct_mech *mech, int r, const tct_choice_tree *tree, const double *score, int64_t count,
                         int64_t *index, tct_error *err) {
  const tct_release *release = &mech->promise.release[r];
  if (release->rate < 1 && mech->neighbours != TCT_ADD_REMOVE)
    return tct_fail(err, TCT_E_BUDGET, "a choice over a batch is proved for add_remove only; report this fault");
  TCT_TRY(TCT_POINT(choice_never_charged, tct_gate_charge(mech, r, err), TCT_OK));
  mech->batch = 0;
  uint64_t number = TCT_POINT(choices_share_one_stream, mech->releases++, 7);
  if (tct_team_own(mech->team) == 0) {
    tct_stream s;
    tct_stream_open(&s, &mech->key, TCT_PURPOSE_CHOICE, number);
    *index = tree ? tct_choice_tree_draw(tree, &s) : chosen(&s, release, score, count);
    tct_stream_wipe(&s);
    double taken = (double)*index;
    tct_gate_observe(mech, release, score, &taken, count);
    if (mech->probe) *index = (int64_t)taken;
  }
  return tct_team_broadcast(mech->team, index, sizeof *index, 0, err);
}

tct_status tct_mech_choose(tct_mech *mech, int r, const double *score, int64_t count, int64_t *index, tct_error *err) {
  TCT_TRY(tct_gate_ready(mech, r, true, err));
  const tct_release *release = &mech->promise.release[r];
  if (count < 1 || (release->law == TCT_LAW_FLIP && count > TCT_FLIP_MOST))
    return tct_fail(err, TCT_E_USAGE, "a choice needs a candidate, and permute and flip takes at most 4096");
  for (int64_t j = 0; j < count; j++)
    if (TCT_POINT(choice_of_an_infinite_score, !isfinite(score[j]), isnan(score[j])))
      return tct_fail(err, TCT_E_BUDGET, "a score is no number, so its sensitivity is not proved; report this fault");
  return choose(mech, r, NULL, score, count, index, err);
}

tct_status tct_mech_tree_new(const tct_mech *mech, int r, int64_t count, tct_choice_tree **out, tct_error *err) {
  *out = NULL;
  TCT_TRY(tct_gate_ready(mech, r, true, err));
  const tct_release *release = &mech->promise.release[r];
  if (release->law != TCT_LAW_EXPONENTIAL || release->follows || release->open) return tct_gate_refuse(release, err);
  *out = TCT_NEW(tct_choice_tree, 1);
  if (!*out) return tct_fail_memory(err);
  tct_status status = tct_choice_tree_new(count, release->epsilon, release->sensitivity, release->monotone,
                                          release->lattice, *out, err);
  if (status == TCT_OK) return TCT_OK;
  tct_mech_tree_free(*out);
  *out = NULL;
  return status;
}

void tct_mech_tree_free(tct_choice_tree *tree) {
  if (tree) tct_choice_tree_free(tree);
  tct_free(tree);
}

void tct_mech_tree_set(tct_choice_tree *tree, int64_t j, double score) { tct_choice_tree_set(tree, j, score); }

void tct_mech_tree_prefetch(const tct_choice_tree *tree, int64_t j) {
  __builtin_prefetch(&tree->node[tree->leaves + j]);
  __builtin_prefetch(&tree->score[j], 1);
}

tct_status tct_mech_tree_choose(tct_mech *mech, int r, const tct_choice_tree *tree, int64_t *index, tct_error *err) {
  TCT_TRY(tct_gate_ready(mech, r, true, err));
  const tct_release *release = &mech->promise.release[r];
  if (tree->epsilon != release->epsilon || tree->change != release->sensitivity) return tct_gate_refuse(release, err);
  if (TCT_POINT(off_lattice_tree_draws, tree->off, 0))
    return tct_fail(err, TCT_E_BUDGET, "a score is off its lattice, so its choice is not exact; report this fault");
  return choose(mech, r, tree, tree->score, tree->count, index, err);
}

uint64_t tct_mech_public(const tct_mech *mech, uint64_t index, uint64_t bound) {
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_ORDER, index);
  uint64_t value = tct_stream_below(&s, bound);
  tct_stream_wipe(&s);
  return value;
}

void tct_mech_shuffle(const tct_mech *mech, uint64_t index, int64_t *order, int64_t count) {
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_ORDER, index);
  for (int64_t i = 0; i < count; i++) order[i] = i;
  for (int64_t i = count - 1; i > 0; i--) { /* Fisher and Yates */
    int64_t j = (int64_t)tct_stream_below(&s, (uint64_t)i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  tct_stream_wipe(&s);
}
