/* gram_parties_plan.c - the promise of gram_parties: two joint releases, who faces what of them, and the lattices.
 *
 * EVENTS  Two gaussian events, split of mu^2 for X'X and the rest for X'y.  They are what the strongest observer faces:
 * T parties together, who know T of the K noises.
 *
 * LATTICES  Those of the releases (mech/release.c) leave room for every sum: n R^2 + 2^8 deviations < 2^62.  Records
 * are multiples of 2^-f with 2^(-2f) the first lattice, labels of 2^-f' with 2^(-f-f') the second. */
#include "core/alloc.h"
#include "core/point.h"
#include "parties/gram_parties.h"
#include "parties/rules.def"

#include <stdio.h>
#include <string.h>

const tct_option tct_gram_options[] = {
    {"parties", TCT_OPT_COUNT, "2", 2, TCT_PARTIES_MAX, NULL, "K; columns are split evenly where one file holds all"},
    {"collude", TCT_OPT_COUNT, "1", 1, TCT_PARTIES_MAX - 1, NULL,
     "T, how many parties may put their heads together without learning more than epsilon allows; below K"},
    {"server_noise", TCT_OPT_CHOICE, "no", 0, 0, "no|yes",
     "yes: the server adds noise too, for any number of parties together; they rely on its having done so"},
    {"labels", TCT_OPT_CHOICE, "all", 0, 0, "all|one",
     "who holds the labels: all parties, who then know them, or the first alone"},
    {"split", TCT_OPT_REAL, "auto", 0.01, 0.99, NULL,
     "part of the budget (of mu^2) for X^T X, the rest for X^T y; auto: 0.2 for a ball, else 0.5"},
    {"norms", TCT_OPT_TEXT, "equal", 0, 0, NULL,
     "how R^2 is split: equal, or each party's part of it joined by +, as 2+1+1"},
    {"clean", TCT_OPT_CHOICE, "auto", 0, 0, "auto|factors|ridge|none",
     "how noise in X^T X is met: factors (POET), ridge (adassp's), none; auto: by the number of features"},
    {0},
};

enum { FACTORS_FROM = 32 };                                        /* features; docs/decisions/gram-parties.md */
enum { BLOCK_WORDS = 1 << 20, BLOCK_LOW = 64, BLOCK_HIGH = 4096 }; /* a block of all columns is at most 8 megabytes */

static tct_status check(const tct_facts *facts, const tct_spec *spec, tct_error *err) {
  const tct_option *o = tct_gram_options;
  int64_t parties = tct_spec_count(spec, o, "parties");
  TCT_TRY(tct_plan_need_bounds(facts, "gram_parties", err));
  if (!facts->loss.kind->least_squares)
    return tct_fail(err, TCT_E_USAGE,
                    "gram_parties solves least squares only; give {loss squared}, or use dpfw_parties");
  if (facts->intercept)
    return tct_fail(err, TCT_E_USAGE,
                    "gram_parties has no intercept, which no party owns; put a column of ones into one party's file");
  if (facts->rows_rule != TCT_ROWS_CLIP)
    return tct_fail(err, TCT_E_USAGE,
                    "no party knows the norm of a whole record, so gram_parties cannot scale to it; "
                    "use {rows_clip}");
  if (facts->p < parties)
    return tct_fail(err, TCT_E_USAGE, "there are fewer features than parties; give each party one at least");
  if (facts->p > TCT_CLEAN_FEATURES)
    return tct_fail(err, TCT_E_USAGE, "gram_parties opens a matrix of features squared, at most %d features",
                    TCT_CLEAN_FEATURES);
  if (tct_spec_count(spec, o, "collude") >= parties)
    return tct_fail(err, TCT_E_USAGE,
                    "collude must be below the number of parties, or nobody's noise is left; give server_noise=yes for "
                    "all but one and any number");
  return TCT_OK;
}

static tct_joint joint_of(const tct_spec *spec, int64_t side) {
  const tct_option *o = tct_gram_options;
  tct_joint joint = {.drawers = (int)tct_spec_count(spec, o, "parties"), .side = side};
  joint.server = tct_spec_is(spec, o, "server_noise", "yes");
  int colluders = TCT_POINT(nobody_is_thought_to_collude, (int)tct_spec_count(spec, o, "collude"), 0);
  joint.faced = joint.drawers - (joint.server ? 0 : colluders);
  return joint;
}

typedef struct making {
  const tct_facts *facts;
  const tct_spec *spec;
} making;

/* noise: of one event with all of the budget. */
static tct_status make(double noise, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_facts *f = m->facts;
  double split = tct_spec_real(m->spec, tct_gram_options, "split"), norm = f->row_norm;
  tct_event gram = tct_event_gaussian(noise / sqrt(split), 1), moment = tct_event_gaussian(noise / sqrt(1 - split), 1);
  bool replaced = f->neighbours == TCT_REPLACE_ONE; /* see SENSITIVITY; a term may then be longer than that */
  double square = norm * norm * (replaced ? M_SQRT1_2 : 1);
  tct_release matrix =
      tct_release_joint("X^T X, in shares", gram, square, f->rows * (replaced ? 2 : 1), joint_of(m->spec, f->p));
  matrix.clip = norm * norm;
  TCT_TRY(tct_promise_add(out, matrix, err));
  return tct_promise_add(
      out, tct_release_joint("X^T y, in shares", moment, norm * f->label_bound, f->rows, joint_of(m->spec, 0)), err);
}

tct_status tct_gram_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  tct_gram set;
  TCT_TRY(tct_plan_begin(facts, given, tct_gram_options, out, err));
  TCT_TRY(check(facts, &out->spec, err));
  if (tct_spec_is(&out->spec, tct_gram_options, "clean", "auto"))
    TCT_TRY(tct_spec_set(&out->spec, "clean", facts->p < FACTORS_FROM ? "ridge" : "factors", err));
  if (tct_spec_auto(&out->spec, tct_gram_options, "split"))
    TCT_TRY(tct_spec_set_real(&out->spec, "split",
                              facts->penalty.kind->cross_polytope ? gram_parties_split_in_ball : gram_parties_split,
                              err));
  making m = {.facts = facts, .spec = &out->spec};
  double noise = tct_budget_single(facts, facts->neighbours);
  tct_budget budget = {.direction = TCT_SMALLEST, .low = noise / 2, .high = noise * 2, .tolerance = 1e-9};
  TCT_TRY(tct_budget_fit(facts, &budget, make, &m, out, &out->noise_multiplier, err));
  snprintf(out->note, sizeof out->note,
           "on one file a simulation: one process holds all records; the claim rests on parties.conditions");
  return tct_gram_settings(facts, out, &set, err);
}

/* R_k^2 = R^2 times party k's part, rounded down; without privacy nobody clips. */
static tct_status norms(const tct_facts *facts, const char *text, tct_gram *s, tct_error *err) {
  double sum = 0;
  bool equal = !strcmp(text, "equal");
  for (int k = 0; k < s->count; k++) {
    char one[40];
    size_t length = strcspn(text, "+");
    s->norm[k] = 1;
    if (equal) continue;
    snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), text);
    if (!tct_parse_real(one, &s->norm[k]) || !(s->norm[k] > 0) || (text[length] == '+') != (k + 1 < s->count))
      return tct_fail(err, TCT_E_USAGE, "norms must be equal, or %d numbers above 0 joined by +", s->count);
    text += length + (text[length] == '+');
  }
  for (int k = 0; k < s->count; k++) sum += s->norm[k];
  for (int k = 0; k < s->count; k++) {
    s->norm[k] = tct_noise_off(facts) ? facts->row_norm : facts->row_norm * sqrt(s->norm[k] / sum) * (1 - 0x1p-40);
    if (!(s->norm[k] >= TCT_ROW_NORM_LOW))
      return tct_fail(err, TCT_E_USAGE, "party %d's part of the row norm is below %g; give a larger row norm", k + 1,
                      TCT_ROW_NORM_LOW);
  }
  return TCT_OK;
}

/* What is cut to a lattice fits a double's whole numbers. */
static tct_status check_fractions(const tct_facts *facts, const tct_gram *s, tct_error *err) {
  double record = ldexp(facts->row_norm, s->fraction), label = ldexp(facts->label_bound, s->label_fraction);
  if (record < 0x1p52 && record >= 0x1p8 && label < 0x1p52 && label >= 0x1p8) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the integers that are shared have no room for both records and noise; use more epsilon, or bounds "
                  "nearer to 1");
}

tct_status tct_gram_settings(const tct_facts *facts, const tct_solver_plan *plan, tct_gram *s, tct_error *err) {
  const tct_option *o = tct_gram_options;
  const tct_spec *spec = &plan->spec;
  int gram, moment;
  *s = (tct_gram){.count = (int)tct_spec_count(spec, o, "parties"),
                  .colluders = (int)tct_spec_count(spec, o, "collude")};
  s->server_noise = plan->promise.release[TCT_GRAM_MATRIX].added > 0;
  s->one_label = tct_spec_is(spec, o, "labels", "one");
  s->cleaning = tct_spec_is(spec, o, "clean", "factors") ? TCT_CLEAN_FACTORS
                : tct_spec_is(spec, o, "clean", "ridge") ? TCT_CLEAN_RIDGE
                                                         : TCT_CLEAN_NONE;
  frexp(plan->promise.release[TCT_GRAM_MATRIX].lattice, &gram);
  frexp(plan->promise.release[TCT_GRAM_MOMENT].lattice, &moment);
  s->fraction = (1 - gram) / 2; /* the lattice is 2^(gram - 1), a power of four */
  s->label_fraction = 1 - moment - s->fraction;
  for (s->block = BLOCK_HIGH; s->block > BLOCK_LOW && s->block * facts->p > BLOCK_WORDS; s->block /= 2) {
  }
  TCT_TRY(norms(facts, tct_spec_text(spec, o, "norms"), s, err));
  return check_fractions(facts, s, err);
}

tct_status tct_gram_promise(const tct_solver_plan *plan, int drawer, tct_promise *out, tct_error *err) {
  TCT_TRY(tct_promise_copy(out, &plan->promise, err));
  for (int r = 0; r < out->count; r++) out->release[r].drawer = 1 + drawer;
  return TCT_OK;
}

void tct_gram_starts(const tct_gram *set, const int64_t *width, int64_t *start) {
  start[0] = 0;
  for (int k = 0; k < set->count; k++) start[k + 1] = start[k] + width[k] + (k == 0 && set->one_label);
}

/* ---- who learns what ------------------------------------------------------------------------------------------- */

/* The epsilon of one who faces `more` times the planned variance, or more. */
static tct_status facing(const tct_facts *facts, const tct_solver_plan *plan, double more, double *epsilon,
                         tct_error *err) {
  tct_events events = {0};
  tct_cost cost = {0};
  tct_status status = TCT_OK;
  *epsilon = facts->epsilon;
  if (tct_noise_off(facts) || !(more > 1)) return TCT_OK;
  for (int64_t i = 0; i < plan->promise.events.len && status == TCT_OK; i++) {
    tct_event event = plan->promise.events.at[i];
    event.noise *= sqrt(more) * (1 - 1e-15);
    status = tct_events_add(&events, event, err);
  }
  if (status == TCT_OK)
    status = tct_account_epsilon(&events, facts->neighbours, facts->delta, TCT_PRECISION, &cost, err);
  tct_events_free(&events);
  *epsilon = fmin(facts->epsilon, cost.epsilon);
  return status;
}

tct_status tct_gram_observers(const tct_facts *facts, const tct_solver_plan *plan, tct_observer *out, int *count,
                              tct_error *err) {
  const tct_release *r = &plan->promise.release[TCT_GRAM_MATRIX];
  bool one = tct_spec_is(&plan->spec, tct_gram_options, "labels", "one"), server = r->added > 0;
  double all = (double)r->drawers / r->faced;
  int together = server ? r->drawers - 1 : r->drawers - r->faced;
  *count = 3;
  out[0] = (tct_observer){"outsider", "everything: who sees this model, or all that was opened", 0};
  out[1] = (tct_observer){"server", "everything: it opens the sum of the shares, and sees no data", 0};
  out[2] = (tct_observer){.epsilon = facts->epsilon};
  snprintf(out[2].who, sizeof out[2].who, together > 1 ? "up to %d parties together" : "party", together);
  snprintf(out[2].about, sizeof out[2].about,
           one ? "the other parties' columns, and the labels unless the first party is among them"
               : "the other parties' columns, not the labels, which it holds");
  TCT_TRY(facing(facts, plan, all + server, &out[0].epsilon, err));
  return facing(facts, plan, all, &out[1].epsilon, err);
}

bool tct_gram_condition(const tct_solver_plan *plan, bool apart, int i, char text[TCT_CONDITION]) {
  const tct_release *r = &plan->promise.release[TCT_GRAM_MATRIX];
  static const char *const said[] = {
      "Simulated: one process held all records and is trusted; the observers are those of a run between parties.",
      "The server deals masks and opens sums, and conspires with no party: together they have other parties' columns.",
      NULL,
      "Every party follows the protocol and brings its own part of each record to its norm: one that does not can read "
      "single records of the others.",
      "ChaCha20, BLAKE2b and X25519 hold: the claim is against those who cannot break them."};
  i += apart; /* the first is of simulations */
  if (i < 0 || i >= (int)(sizeof said / sizeof *said)) return false;
  if (said[i])
    snprintf(text, TCT_CONDITION, "%s", said[i]);
  else if (r->added > 0)
    snprintf(text, TCT_CONDITION,
             "The server adds its noise before it shows anything: towards parties the claim rests on it.");
  else
    snprintf(text, TCT_CONDITION, "At most %d of %d parties put together what they know.", r->drawers - r->faced,
             r->drawers);
  return true;
}
