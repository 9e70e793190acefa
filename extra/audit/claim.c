/* claim.c - what the plan's events allow an onlooker: true positives at each rate of false ones.
 *
 * Gaussian events alone are one Gaussian with shift mu (Dong, Roth and Su 2022).  mu^2 is the sum of their counts over
 * squared noise, four times that where a record is replaced.  Other lists are asked for epsilon at many deltas: each
 * point bounds the power twice, TPR <= delta + e^epsilon FPR and 1 - FPR <= delta + e^epsilon (1 - TPR). */
#include "audit/audit.h"

#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double tct_audit_part(const char *event, const char *key, double otherwise) {
  size_t length = strlen(key);
  for (const char *at = event; (at = strstr(at, key)); at += length)
    if (at > event && (at[-1] == ':' || at[-1] == ',') && at[length] == '=') return strtod(at + length + 1, NULL);
  return otherwise;
}

/* sampled: events over batches count too, as if the record were in all of them. */
static double gaussian_mu(const tct_audit *a, bool sampled) {
  const json_t *event;
  size_t i;
  double squares = 0;
  json_array_foreach(json_object_get(a->planned, "events"), i, event) {
    const char *text = json_string_value(event);
    if (!text || (strncmp(text, "gaussian:", 9) && !(sampled && !strncmp(text, "sampled_gaussian:", 17)))) return NAN;
    double noise = tct_audit_part(text, "noise", NAN);
    squares += tct_audit_part(text, "count", 1) / (noise * noise);
  }
  return squares > 0 ? (a->replaces ? 2 : 1) * sqrt(squares) : NAN;
}

/* epsilon of the plan's events at delta; NAN where it is infinite. */
static double epsilon_at(const tct_audit *a, double delta, tct_error *err) {
  const char *events[TCT_AUDIT_RELEASES * 4];
  const json_t *list = json_object_get(a->planned, "events");
  size_t count = json_array_size(list);
  if (count == 0 || count > sizeof events / sizeof *events) return NAN;
  for (size_t i = 0; i < count; i++) events[i] = json_string_value(json_array_get(list, i));
  char *text = tct_account_json(events, count, a->replaces ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, delta, err);
  json_t *root = text ? json_loads(text, 0, NULL) : NULL;
  const json_t *epsilon = json_object_get(root, "epsilon");
  double value = json_is_number(epsilon) ? json_number_value(epsilon) : NAN;
  json_decref(root);
  tct_text_free(text);
  return value;
}

static bool add_point(const tct_audit *a, tct_claim *out, double delta) {
  tct_error err;
  double epsilon = out->points < TCT_CLAIM_POINTS ? epsilon_at(a, delta, &err) : NAN;
  if (isnan(epsilon)) return false;
  out->epsilon[out->points] = epsilon;
  out->delta[out->points++] = delta;
  return true;
}

enum { HALVINGS = 6 };

/* The delta at which epsilon gets 0 bounds the advantage best: the points on both sides of it are drawn together. */
static void near_zero(const tct_audit *a, tct_claim *out) {
  double low = 0, high = 1;
  for (int k = 0; k < out->points; k++) {
    if (out->epsilon[k] > 0) low = fmax(low, out->delta[k]);
    if (!(out->epsilon[k] > 0)) high = fmin(high, out->delta[k]);
  }
  for (int k = 0; k < HALVINGS && tct_audit_clock() < a->until && add_point(a, out, 0.5 * (low + high)); k++)
    *(out->epsilon[out->points - 1] > 0 ? &low : &high) = 0.5 * (low + high);
}

void tct_claim_make(tct_audit *a, tct_claim *out) {
  /* The deltas that bound a power most often come first: lists may take long, and fewer points are a looser claim. */
  static const double deltas[] = {0.1, 0.3, 0.01, 0.03, 0.2, 0.45, 0.6, 1e-3, 1e-4, 0.75, 0.9, 1e-6, 1e-9};
  *out = (tct_claim){.mu = gaussian_mu(a, false), .shift = gaussian_mu(a, true)};
  if (!isnan(out->mu)) return;
  out->epsilon[0] = a->epsilon; /* the promise itself */
  out->delta[out->points++] = a->delta;
  for (size_t k = 0; k < sizeof deltas / sizeof *deltas && (k < 2 || tct_audit_clock() < a->until); k++) {
    add_point(a, out, deltas[k]);
    if (k == 1) near_zero(a, out);
  }
}

/* TPR - FPR is largest where TPR <= delta + e^epsilon FPR and 1 - FPR <= delta + e^epsilon (1 - TPR) meet. */
double tct_claim_advantage(const tct_claim *claim) {
  if (!isnan(claim->mu)) return 2 * tct_normal_below(0.5 * claim->mu) - 1;
  double most = 1;
  for (int k = 0; k < claim->points; k++)
    most = fmin(most, tanh(0.5 * claim->epsilon[k]) + 2 * claim->delta[k] / (1 + exp(claim->epsilon[k])));
  return most;
}

double tct_claim_power(const tct_claim *claim, double false_positives) {
  if (!isnan(claim->mu)) return tct_normal_below(tct_audit_quantile(false_positives) + claim->mu);
  double power = 1;
  for (int k = 0; k < claim->points; k++) {
    double grown = claim->delta[k] + exp(claim->epsilon[k]) * false_positives;
    double missed = (1 - false_positives - claim->delta[k]) * exp(-claim->epsilon[k]);
    power = fmin(power, fmin(grown, 1 - fmax(0, missed)));
  }
  return power;
}
