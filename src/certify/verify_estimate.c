/* verify_estimate.c - a claim over an estimate of bounds and a fit: are both there, and is the sum the claim?
 *
 * The estimate is planned again from what it was asked for.  What the fit alone claims is checked by the same rules as
 * a model without an estimate. */
#include "account/account.h"
#include "certify/verify.h"
#include "core/alloc.h"
#include "estimate/estimate.h"
#include "model/json.h"
#include "second/cross_check.h"
#include "train/certificate.h"

#include <math.h>
#include <string.h>

static const json_t *member(const json_t *o, const char *key) { return json_object_get(o, key); }

/* Columns and label whose bounds the schema calls estimated; *lists <- columns whose list it calls so. */
static int64_t estimated_columns(const tct_model *m, int64_t *lists) {
  json_t *schema = m->schema ? json_loads(m->schema, 0, NULL) : NULL, *column;
  int64_t count = json_is_true(member(member(schema, "label"), "estimated"));
  size_t k;
  *lists = 0;
  json_array_foreach((json_t *)member(schema, "columns"), k, column) {
    if (json_is_true(member(column, "estimated"))) *(tct_json_says(column, "type", "number") ? &count : lists) += 1;
  }
  json_decref(schema);
  return count;
}

/* Bounds that were estimated by this run are paid for here; by another run, that is said. */
void tct_verify_no_estimate(tct_verify_report *r, const tct_model *m) {
  int64_t lists, columns = estimated_columns(m, &lists);
  if (!m->is_private || columns + lists == 0) return;
  bool said = tct_model_tells(m, TCT_ESTIMATED_ELSEWHERE);
  tct_verify_check(r, "estimate", said,
                   said ? "the bounds were estimated by another run, and the file says that it does not pay for them"
                        : "the schema's bounds were estimated, and what that cost is not in the file; it was edited");
}

static bool same_events(const tct_events *a, const tct_events *b) {
  bool same = a->len == b->len;
  for (int64_t i = 0; same && i < a->len; i++)
    same = a->at[i].count == b->at[i].count && tct_event_same(&a->at[i], &b->at[i]);
  return same;
}

/* The first thing in which the claim of the whole is not what this plan adds up to; NULL: none. */
static const char *unlike(const tct_model *m, const tct_estimate_plan *p) {
  tct_events events = {0};
  int64_t lists, columns = estimated_columns(m, &lists);
  if (m->epsilon != p->epsilon) return "epsilon";
  if (m->delta != p->delta) return "delta";
  if (m->neighbours != (int32_t)p->neighbours) return "neighbours";
  if (m->rows != p->rows) return "rows";
  if (columns != p->columns) return "number of estimated columns";
  if (lists != p->lists) return "number of estimated lists";
  bool same = tct_estimate_events(p, &events, NULL) == TCT_OK && same_events(&events, &m->events);
  tct_events_free(&events);
  return same ? NULL : "events";
}

/* The fit's own claim, as the model of a run without an estimate has it.  false: it is not there. */
static bool take_rest(const json_t *rest, const tct_estimate_plan *p, tct_model *fit) {
  const char *accountant = json_string_value(member(rest, "accountant"));
  bool there = accountant && tct_json_get_real(member(rest, "epsilon"), &fit->epsilon) &&
               tct_json_get_real(member(rest, "delta"), &fit->delta) && fit->epsilon <= p->rest_epsilon * (1 + 1e-12) &&
               fit->delta <= p->rest_delta * (1 + 1e-12) &&
               tct_json_get_events(member(rest, "events"), &fit->events, NULL) == TCT_OK;
  fit->accountant = there ? tct_text_copy(accountant) : NULL;
  return there && fit->accountant;
}

/* The certificate again; the fit's claim is not part of it. */
static bool planned_again(const json_t *said, const tct_estimate_plan *p) {
  json_t *again = tct_estimate_certificate(p), *own = json_copy((json_t *)said);
  json_object_del(own, "rest");
  bool same = again && tct_json_near(own, again);
  json_decref(own);
  json_decref(again);
  return same;
}

/* Its releases cost no more than its share: by the accountants, and by methods that share nothing with them.  What
 * texts of one record alone cost is a delta of its own (estimate.h, LISTS). */
static void check_cost(tct_verify_report *r, const tct_estimate_plan *p) {
  tct_cost cost = {.epsilon = INFINITY};
  double delta = p->own_delta - p->list_delta;
  bool known = tct_account_epsilon(&p->promise.events, p->neighbours, delta, TCT_PRECISION, &cost, NULL) == TCT_OK;
  tct_second_claim second =
      tct_second_of_claim(&p->promise.events, p->neighbours, p->own_epsilon * (1 + TCT_SECOND_SLACK), delta, true);
  bool within = known && tct_at_most(cost.epsilon, p->own_epsilon, 1e-9) && second.holds && second.possible;
  tct_verify_check(r, "estimate_cost", within,
                   within ? "the estimate's releases cost epsilon %.8g of its %.8g, by two methods"
                          : "the estimate's releases cost epsilon %.8g, and its share is %.8g",
                   cost.epsilon, p->own_epsilon);
}

static void check_plan(tct_verify_report *r, const tct_model *m, const json_t *said, tct_estimate_plan *p,
                       tct_model *fit) {
  tct_error err = {0};
  bool planned = tct_estimate_plan_again(said, p, &err) == TCT_OK, same = planned && planned_again(said, p);
  tct_error_reword(&err, TCT_WORDS_CLI);
  tct_verify_check(r, "estimate", same,
                   same      ? "what the estimate was asked for gives these releases and this share of the budget%.0s"
                   : planned ? "what the estimate was asked for gives other releases or another share; the file was "
                               "edited%.0s"
                             : "what the estimate was asked for gives no plan: %s",
                   err.text);
  if (!same) return;
  check_cost(r, p);
  const char *other = unlike(m, p);
  tct_verify_check(r, "estimate_claim", !other,
                   other ? "'%s' of the whole is not what the estimate and the fit add up to; the file was edited"
                         : "the claim is the sum of the estimate's and the fit's%.0s",
                   other ? other : "");
  bool rest = take_rest(member(said, "rest"), p, fit);
  tct_verify_check(r, "rest", rest,
                   rest ? "the fit's own claim is within what the estimate left"
                        : "the fit's own claim is not there, or above what the estimate left; the file was edited");
}

bool tct_verify_estimate(tct_verify_report *r, const tct_model *m, tct_model *fit) {
  tct_estimate_plan plan = {0};
  json_t *said = json_loads(m->estimate, 0, NULL);
  *fit = *m;
  fit->events = (tct_events){0};
  fit->accountant = fit->estimate = NULL;
  if (m->is_private)
    check_plan(r, m, said, &plan, fit);
  else
    tct_verify_check(r, "estimate", 0, "a model without privacy has paid for no estimate; the file was edited");
  tct_estimate_plan_free(&plan);
  json_decref(said);
  return r->ok;
}

void tct_verify_estimate_free(tct_model *fit) {
  tct_events_free(&fit->events);
  tct_free(fit->accountant);
}
