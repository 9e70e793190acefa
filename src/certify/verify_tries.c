/* verify_tries.c - the best of a random number of tries: its plan, its claim by the accountants, and by a second
 * method.
 */
#include "account/curves/work.h"
#include "account/selection.h"
#include "second/cross_check.h"
#include "certify/verify.h"
#include "core/point.h"
#include "core/alloc.h"
#include "several/composition.h"

#include <math.h>

/* Numbers of a file, relative. */
static const double ROUNDED = 1e-9;

static void drop(tct_events *one, size_t count) {
  for (size_t i = 0; one && i < count; i++) tct_events_free(&one[i]);
  tct_free(one);
}

/* The events of each candidate's fits, one for each class; NULL where the list is odd. */
static tct_events *fits_of(const json_t *fits) {
  size_t count = json_array_size(fits), i;
  const json_t *fit;
  tct_events *one = TCT_NEW(tct_events, (int64_t)count);
  tct_status status = one ? TCT_OK : TCT_E_MEMORY;
  json_array_foreach((json_t *)fits, i, fit) if (status == TCT_OK) status = tct_verify_add_copies(fit, &one[i], NULL);
  if (status == TCT_OK) return one;
  drop(one, count);
  return NULL;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static bool near(double a, double b) { return fabs(a - b) <= ROUNDED * fabs(b); }

/* The first part of the search's plan that another gives; NULL: all are as they follow. */
static const char *unlike(const tct_model *m, const json_t *fits, const tct_selection *plan) {
  const tct_whole whole = {plan->epsilon, m->delta, (tct_neighbours)m->neighbours, NULL, false};
  const json_t *fit;
  double epsilon, noise = NAN;
  size_t i;
  if (isnan(plan->share) != !m->persons) return "unit";
  if (!m->persons && !(m->epsilon <= plan->epsilon)) return "epsilon";
  if (m->rows != plan->rows - tct_held_count(plan->rows, plan->held)) return "rows";
  json_array_foreach((json_t *)fits, i, fit) {
    if (!near(json_number_value(json_object_get(fit, "delta")), m->delta / (double)plan->mean)) return "mean";
    bool alone = json_integer_value(json_object_get(fit, "count")) == 1; /* else see verify_classes.c */
    if (alone && !near(json_number_value(json_object_get(fit, "epsilon")), plan->fit)) return "fit";
  }
  tct_status status = tct_tries_score(&whole, plan->mean, plan->share, plan->fit, &epsilon, &noise, NULL);
  return status == TCT_OK && near(plan->score, noise) ? NULL : "score";
}

static void check_plan(tct_verify_report *r, const tct_model *m, const json_t *fits, const tct_selection *plan) {
  const char *other = unlike(m, fits, plan);
  tct_verify_check(r, "searched", !other,
                   other ? "'%s' of the search is not what its plan gives; the file was edited"
                         : "tries, scores, unit and records are those of one plan%.0s",
                   other ? other : "");
}

/* ---- the claim -------------------------------------------------------------------------------------------------- */

static void check_second(tct_verify_report *r, const tct_model *m, const tct_events *one, size_t count,
                         const tct_selection *plan) {
  tct_second_best second;
  const tct_second_search search = {one, count, plan->score, plan->mean, !m->persons};
  tct_work before = tct_work_begin(TCT_WORK_SECOND);
  tct_second_of_search(&search, m->neighbours, m->delta, &second);
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
  double epsilon = again->epsilon;
  return isfinite(epsilon) && m->events.len == 1 && e->kind == TCT_EV_APPROX && e->count == 1 &&
         e->delta == again->delta && near(e->epsilon, epsilon) && near(m->epsilon, epsilon);
}

void tct_verify_tries(tct_verify_report *r, const tct_model *m, const json_t *fits, const tct_selection *plan) {
  size_t count = json_array_size(fits);
  tct_event again = tct_event_approx(INFINITY, 1, 1);
  tct_events *one = fits_of(fits);
  const tct_tries tries = {one, count, plan->score, plan->mean, !m->persons};
  if (one) tct_tries_event(&tries, m->neighbours, m->delta, &again, NULL);
  bool same = one && claims(m, &again);
  tct_verify_check(r, "selection", same,
                   same ? "the best of a random number of tries, %lld on average, out of %zu settings: epsilon %.8g, "
                          "scores included"
                        : "the claim is not that of the best of %lld tries on average out of these %zu settings, which "
                          "cost epsilon %.8g",
                   (long long)plan->mean, count, again.epsilon);
  if (one) {
    check_second(r, m, one, count, plan);
    check_plan(r, m, fits, plan);
  }
  drop(one, count);
}
