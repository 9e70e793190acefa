/* account.c - the registry of accountants, and the smallest sound answer over those that apply. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/pld.h"
#include "account/pure.h"
#include "account/single.h"

#include <math.h>
#include <string.h>

const tct_accountant *const tct_accountants[] = {
#define TCT_ACCOUNTANT(name) &tct_accountant_##name,
#include "account/list.def"
#undef TCT_ACCOUNTANT
};
const int tct_accountant_count = (int)(sizeof tct_accountants / sizeof tct_accountants[0]);

const tct_accountant *tct_accountant_find(const char *name) {
  for (int i = 0; i < tct_accountant_count; i++)
    if (!strcmp(tct_accountants[i]->name, name)) return tct_accountants[i];
  return NULL;
}

bool tct_applies_to_all(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)events, (void)neighbours, (void)why, (void)size;
  return true;
}

static tct_status check_query(const tct_events *events, double precision, tct_error *err) {
  for (int64_t i = 0; i < events->len; i++) TCT_TRY(tct_event_check(&events->at[i], err));
  if (!(precision > 0 && precision < 1))
    return tct_fail(err, TCT_E_USAGE, "the precision must lie in (0, 1); 1e-3 is usual");
  return TCT_OK;
}

static bool applies(const tct_accountant *a, const tct_events *events, tct_neighbours neighbours) {
  char why[128];
  return a->applies(events, neighbours, why, sizeof why);
}

typedef enum depth { QUICK, ONE_SIDE, BRACKET } depth;

/* No list costs less than its parts: an accountant that says so has proved nothing.  A bracket is never empty, never
 * NaN. */
static void hold_against(double floor, tct_bracket *bracket) {
  double upper = tct_upper(bracket->upper);
  if (upper < floor) upper = upper < floor * (1 - 1e-9) ? INFINITY : floor;
  bracket->upper = upper;
  bracket->lower = tct_min(tct_max(tct_lower(bracket->lower), floor), upper);
}

tct_status tct_accountant_epsilon(const tct_accountant *accountant, const tct_events *events, tct_neighbours neighbours,
                                  double delta, double precision, tct_bracket *out, tct_error *err) {
  double floor;
  TCT_TRY(check_query(events, precision, err));
  if (delta == 0 && accountant != &tct_accountant_basic) return *out = (tct_bracket){0, INFINITY}, TCT_OK;
  if (delta == 0) return accountant->epsilon(events, neighbours, delta, precision, out, err);
  TCT_TRY(tct_floor_epsilon(events, neighbours, delta, &floor, err));
  TCT_TRY(accountant->epsilon(events, neighbours, delta, precision, out, err));
  hold_against(floor, out);
  return TCT_OK;
}

static tct_status ask(const tct_accountant *a, const tct_events *events, tct_neighbours neighbours, tct_cost *out,
                      double precision, depth how, tct_error *err) {
  tct_bracket bracket;
  if (how == ONE_SIDE && a == &tct_accountant_pld)
    TCT_TRY(tct_pld_epsilon_upper(events, neighbours, out->delta, precision, &bracket, err));
  else
    TCT_TRY(a->epsilon(events, neighbours, out->delta, precision, &bracket, err));
  hold_against(out->epsilon_lower, &bracket);
  if (!out->winner || bracket.upper < out->epsilon) out->epsilon = bracket.upper, out->winner = a;
  out->epsilon_lower = tct_max(out->epsilon_lower, bracket.lower);
  return TCT_OK;
}

tct_status tct_accountant_upper(const tct_accountant *accountant, const tct_events *events, tct_neighbours neighbours,
                                double delta, double precision, double *upper, tct_error *err) {
  tct_bracket bracket = {0, INFINITY};
  tct_cost cost = {INFINITY, 0, delta, NULL};
  tct_status status;
  if (delta == 0) {
    status = tct_accountant_epsilon(accountant, events, neighbours, delta, precision, &bracket, err);
    return *upper = bracket.upper, status;
  }
  TCT_TRY(check_query(events, precision, err));
  TCT_TRY(tct_floor_epsilon(events, neighbours, delta, &cost.epsilon_lower, err));
  status = ask(accountant, events, neighbours, &cost, precision, ONE_SIDE, err);
  return *upper = cost.epsilon, status;
}

/* At delta 0: the sum of epsilons, or nothing. */
static tct_status pure(const tct_events *events, tct_neighbours neighbours, tct_cost *out, tct_error *err) {
  double pair[2];
  TCT_TRY(tct_pure_refuse(events, err));
  tct_pure_epsilon(events, neighbours, pair);
  *out = (tct_cost){pair[1], pair[0], 0, &tct_accountant_basic};
  return TCT_OK;
}

/* The closed forms come first: where the bracket of one is closed already, no numerical accountant
 * can say more. */
static tct_status smallest(const tct_events *events, tct_neighbours neighbours, double precision, depth how,
                           tct_cost *out, tct_error *err) {
  double delta = out->delta;
  TCT_TRY(check_query(events, precision, err));
  if (!(delta >= 0 && delta < 1)) return tct_fail(err, TCT_E_USAGE, "delta must lie in [0, 1); choose it below 1/rows");
  if (delta == 0) return pure(events, neighbours, out, err);
  *out = (tct_cost){INFINITY, 0, delta, NULL};
  TCT_TRY(tct_floor_epsilon(events, neighbours, delta, &out->epsilon_lower, err));
  for (int i = 0; i < tct_accountant_count; i++) {
    const tct_accountant *a = tct_accountants[i];
    if (!applies(a, events, neighbours) || (how == QUICK && a == &tct_accountant_pld)) continue;
    if (out->winner && out->epsilon <= out->epsilon_lower * (1 + 1e-9)) break;
    TCT_TRY(ask(a, events, neighbours, out, precision, how, err));
  }
  out->epsilon_lower = tct_min(out->epsilon_lower, out->epsilon);
  return TCT_OK;
}

tct_status tct_account_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                               tct_cost *out, tct_error *err) {
  out->delta = delta;
  return smallest(events, neighbours, precision, BRACKET, out, err);
}

tct_status tct_account_upper(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                             bool quick, tct_cost *out, tct_error *err) {
  out->delta = delta;
  return smallest(events, neighbours, precision, quick ? QUICK : ONE_SIDE, out, err);
}
