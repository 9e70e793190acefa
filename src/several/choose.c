/* choose.c - one private choice among candidates, by their scores; and how many tries a search makes. */
#include "several/composition.h"

#include "account/selection.h"
#include "core/number.h"

#include <math.h>

/* Whole numbers up to 2^52 keep every difference of two scores exact, which the sampler's proof needs. */
static tct_status check(const double *score, int64_t count, double change, double epsilon, tct_error *err) {
  if (!score || count < 1) return tct_fail(err, TCT_E_USAGE, "a choice needs at least one candidate; give scores");
  if (!(change > 0 && change <= 0x1p52))
    return tct_fail(err, TCT_E_USAGE, "a choice needs how far one record can move a score; give a change above 0");
  if (!(epsilon > 0)) return tct_fail(err, TCT_E_USAGE, "a choice needs an epsilon above 0; give one");
  for (int64_t j = 0; j < count; j++)
    if (!(fabs(score[j]) <= 0x1p52 && score[j] == floor(score[j])))
      return tct_fail(err, TCT_E_USAGE, "a score is not a whole number of at most 2^52; count, or round towards zero");
  return TCT_OK;
}

/* Each try is the last with chance 1/mean, by a uniform choice among `mean` equal scores: exactly geometric. */
tct_status tct_draw_tries(int64_t mean, const uint64_t *seed, int64_t *tries, tct_error *err) {
  tct_error_clear(err);
  if (mean < 1 || mean > TCT_SELECTION_MOST)
    return tct_fail(err, TCT_E_USAGE, "the mean number of tries must lie between 1 and %d; give e.g. 50",
                    TCT_SELECTION_MOST);
  static const double equal[TCT_SELECTION_MOST];
  int64_t last = 1;
  uint64_t own = seed ? *seed : 0;
  for (*tries = 0; last; ++*tries, own += TCT_SPLIT_MIX_STEP) /* seeds far apart, for tests */
    TCT_TRY(tct_choose(equal, mean, 1, 1, seed ? &own : NULL, &last, err));
  return TCT_OK;
}

typedef struct scored {
  const double *score;
  int64_t count, *index;
} scored;

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  const scored *of = user;
  return tct_mech_choose(mech, 0, of->score, of->count, of->index, err);
}

tct_status tct_choose(const double *score, int64_t count, double change, double epsilon, const uint64_t *seed,
                      int64_t *index, tct_error *err) {
  tct_error_clear(err);
  TCT_TRY(check(score, count, change, epsilon, err));
  *index = 0;
  if (isinf(epsilon)) {
    for (int64_t j = 1; j < count; j++)
      if (score[j] > score[*index]) *index = j;
    return TCT_OK;
  }
  tct_promise promise = {0};
  scored of = {score, count, index};
  tct_release choice = tct_release_choice("a candidate, by its score", epsilon, 1, change, change, 1);
  tct_status status = tct_promise_add(&promise, choice, err);
  if (status == TCT_OK) status = tct_promise_settle(&promise, err);
  const tct_gate gate = {&promise, TCT_REPLACE_ONE, seed, .settles = true};
  if (status == TCT_OK) status = tct_gate_run(&gate, spend, &of, err);
  tct_promise_free(&promise);
  return status;
}
