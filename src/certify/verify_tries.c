/* verify_tries.c - the best of a random number of tries: its claim by the accountants, and by a second method. */
#include "account/curves/work.h"
#include "account/selection.h"
#include "second/cross_check.h"
#include "certify/verify.h"
#include "core/point.h"
#include "core/alloc.h"
#include "model/json.h"

#include <math.h>

static void drop(tct_events *one, size_t count) {
  for (size_t i = 0; one && i < count; i++) tct_events_free(&one[i]);
  tct_free(one);
}

/* The events of each candidate's fits, one for each class, and of its score; NULL where the list is odd. */
static tct_events *tries_of(const json_t *fits, double score) {
  size_t count = json_array_size(fits), i;
  const json_t *fit;
  tct_events *one = TCT_NEW(tct_events, (int64_t)count);
  tct_status status = one ? TCT_OK : TCT_E_MEMORY;
  json_array_foreach((json_t *)fits, i, fit) {
    if (status == TCT_OK) status = tct_verify_add_copies(fit, &one[i], NULL);
    if (status == TCT_OK) status = tct_events_add(&one[i], tct_event_gaussian(score, 1), NULL);
  }
  if (status == TCT_OK) return one;
  drop(one, count);
  return NULL;
}

static void check_second(tct_verify_report *r, const tct_model *m, const tct_events *one, size_t count, int64_t mean) {
  tct_second_best second;
  tct_work before = tct_work_begin(TCT_WORK_SECOND);
  tct_second_tries(one, count, m->neighbours, mean, m->delta, &second);
  if (tct_work_end(before).over) second = (tct_second_best){.upper = INFINITY};
  tct_second_claim answer = tct_second_of_tries(&second, m->epsilon);
  bool holds = TCT_POINT(second_opinion_of_tries_always_right, answer.holds, true),
       looser = holds && !tct_at_most(second.upper, m->epsilon, TCT_SECOND_SLACK);
  tct_verify_check(r, "selection_second", holds,
                   !holds   ? "a second method gives epsilon %.8g for the best of the tries, above the claim"
                   : looser ? "a second method gives epsilon %.8g: a looser method, which does not contradict the claim"
                            : "a second method gives epsilon %.8g",
                   second.upper);
  tct_verify_check(r, "selection_lower", TCT_POINT(lower_bound_of_tries_skipped, answer.possible, true),
                   "tries that spend as much cannot cost less than epsilon %.8g; the claim is %.8g", second.lower,
                   m->epsilon);
}

/* The claim is that of the bound, up to the rounding of a file's numbers. */
static bool claims(const tct_model *m, const tct_event *again) {
  const tct_event *e = &m->events.at[0];
  double epsilon = again->epsilon, slack = 1e-9 * epsilon;
  return isfinite(epsilon) && m->events.len == 1 && e->kind == TCT_EV_APPROX && e->count == 1 &&
         e->delta == again->delta && fabs(epsilon - e->epsilon) <= slack && fabs(epsilon - m->epsilon) <= slack;
}

void tct_verify_tries(tct_verify_report *r, const tct_model *m, const json_t *fits, int64_t mean, double score) {
  size_t count = json_array_size(fits);
  tct_event again = tct_event_approx(INFINITY, 1, 1);
  tct_events *one = tries_of(fits, score);
  if (one) tct_selection_event(one, count, m->neighbours, mean, m->delta, &again, NULL);
  bool same = one && claims(m, &again);
  tct_verify_check(r, "selection", same,
                   same ? "the best of a random number of tries, %lld on average, out of %zu settings: epsilon %.8g, "
                          "scores included"
                        : "the claim is not that of the best of %lld tries on average out of these %zu settings, which "
                          "cost epsilon %.8g",
                   (long long)mean, count, again.epsilon);
  if (one) check_second(r, m, one, count, mean);
  drop(one, count);
}
