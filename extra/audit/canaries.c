/* canaries.c - many canaries in one run, and a few such runs.
 *
 * Each canary is in the table or not by a fair coin of its own, all in one run.  Which ones are in is guessed from
 * their weights (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one training run", theorem 5.2).  Runs on
 * tables of their own are one mechanism on all canaries together, with the same epsilon and delta: their guesses count
 * together. */
#include "audit/audit.h"

#include "core/alloc.h"
#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PILOT_RUNS = 100, FEW_RUNS = 10, RUNS = 20000 };

typedef struct flock {
  tct_audit *a;
  tct_pair pair; /* row i < count is canary i, all others contribute nothing or zeros */
  tct_side side;
  int64_t count;
  bool *in;
  double *score;
} flock;

static void flock_free(flock *f) {
  tct_side_free(&f->side);
  tct_pair_free(f->a, &f->pair);
  tct_free(f->in);
  tct_free(f->score);
}

static void lay_out(flock *f) {
  tct_audit *a = f->a;
  tct_pair_invent(a, &f->pair, 0);
  f->pair.weighed = 0, f->pair.layout = TCT_DENSE_ROWS, f->pair.type = TCT_F64, f->pair.record = 0;
  memset(f->pair.x, 0, (size_t)(a->rows * a->cols) * sizeof(double));
  for (int64_t i = 0; i < a->rows; i++) f->pair.y[i] = a->binary || isnan(a->label_bound) ? 1 : a->label_bound;
  for (int64_t i = 0; i < f->count; i++) f->pair.x[i * a->cols + i] = a->row_norm;
}

static tct_status flock_new(tct_audit *a, flock *f, tct_error *err) {
  *f = (flock){.a = a, .count = a->cols < a->rows ? a->cols : a->rows};
  TCT_TRY(tct_pair_new(a, &f->pair, err));
  f->in = TCT_NEW(bool, f->count);
  f->score = TCT_NEW(double, f->count);
  if (!f->in || !f->score) return tct_fail_memory(err);
  lay_out(f);
  TCT_TRY(tct_side_new(a, &f->pair, 1, &f->side, err));
  return tct_side_droppable(a, &f->side, err);
}

static tct_status fly(flock *f, tct_error *err) {
  tct_audit *a = f->a;
  for (int64_t i = 0; i < a->rows; i++) {
    bool canary = i < f->count, in = canary && tct_audit_u64(a) % 2;
    if (canary) f->in[i] = in;
    if (a->replaces && canary)
      tct_side_set(&f->side, i, i, in ? a->row_norm : -a->row_norm);
    else
      tct_side_drop(&f->side, i, !in);
  }
  tct_model *m = tct_side_fit(a, &f->side, err);
  if (!m) return err->status;
  int64_t first = a->classes ? a->cols : 0; /* the coefficients of the canaries' class, which is 1 */
  for (int64_t i = 0; i < f->count; i++) f->score[i] = tct_model_coefficients(m)[first + i];
  tct_model_free(m);
  return TCT_OK;
}

/* ---- guesses ---------------------------------------------------------------------------------------------------- */

/* Which canaries are guessed at: those whose score lies outside [low, high]; sign: of the correlation. */
typedef struct rule {
  double low, high, sign;
} rule;

static tct_status learn(flock *f, int64_t runs, rule *out, tct_error *err) {
  int64_t total = runs * f->count, at = 0;
  double *all = TCT_NEW(double, total), with = 0, without = 0;
  if (!all) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int k = 0; k < runs && status == TCT_OK; k++) {
    status = fly(f, err);
    for (int64_t i = 0; i < f->count && status == TCT_OK; i++) {
      all[at++] = f->score[i];
      *(f->in[i] ? &with : &without) += f->score[i];
    }
  }
  qsort(all, (size_t)at, sizeof *all, tct_ascending);
  if (at) *out = (rule){all[at / 10], all[at - 1 - at / 10], with >= without ? 1 : -1};
  tct_free(all);
  return status;
}

typedef struct tally {
  int64_t canaries, guesses, right;
} tally;

static void guess(const flock *f, const rule *r, tally *t) {
  t->canaries += f->count;
  for (int64_t i = 0; i < f->count; i++) {
    if (f->score[i] >= r->low && f->score[i] <= r->high) continue;
    bool in = (f->score[i] > r->high) == (r->sign > 0);
    t->guesses++;
    t->right += in == f->in[i];
  }
}

/* The chance of so many right guesses, at most, if each canary had (epsilon, delta). */
static double p_value(const tally *t, double epsilon, double delta) {
  double q = 1 / (1 + exp(-epsilon)), beta = tct_audit_upper_tail(t->guesses, t->right, q), alpha = 0;
  for (int64_t i = 1; i <= t->right && i <= 4096 && delta > 0; i++) {
    double between = tct_audit_upper_tail(t->guesses, t->right - i, q) - beta;
    if (between > (double)i * alpha) alpha = between / (double)i;
    if (between >= 1 - beta - 1e-12) break;
  }
  return beta + alpha * delta * 2 * (double)t->canaries;
}

static double epsilon_of(const tally *t, double delta, double error) {
  double low = 0, high = 50;
  if (p_value(t, 0, delta) > error) return 0;
  TCT_HALVE(halving < 50, low, high, epsilon, error < p_value(t, epsilon, delta));
  return low;
}

json_t *tct_audit_canaries(tct_audit *a, tct_error *err) {
  flock f;
  rule r = {0};
  tally t = {0};
  json_t *answer = NULL;
  int64_t pilot = tct_audit_room(a, 0.3, PILOT_RUNS);
  if (pilot < FEW_RUNS) {
    tct_audit_unchecked(a, "a run takes so long that too few fit into the time: no canaries were guessed at");
    return json_null();
  }
  tct_status status = flock_new(a, &f, err);
  double began = tct_audit_clock();
  if (status == TCT_OK) status = learn(&f, pilot, &r, err);
  double each = fmax((tct_audit_clock() - began) / (double)pilot, 1e-7);
  int64_t runs = (int64_t)fmin(RUNS, fmax(FEW_RUNS, 0.9 * (a->until - tct_audit_clock()) / each)), made = 0;
  for (; made < runs && status == TCT_OK; made++) {
    status = fly(&f, err);
    if (status == TCT_OK) guess(&f, &r, &t);
  }
  if (status == TCT_OK) {
    double delta = a->delta, epsilon = a->epsilon;
    double proven = epsilon_of(&t, delta, TCT_AUDIT_BREAK);
    if (proven > epsilon)
      tct_audit_break(
          a, "distinguishing: canaries are guessed better than is claimed (epsilon at least %.4g, claimed %.4g)",
          proven, epsilon);
    answer = json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "runs", (json_int_t)made, "canaries",
                       (json_int_t)t.canaries, "guesses", (json_int_t)t.guesses, "right", (json_int_t)t.right, "error",
                       TCT_AUDIT_REPORT, "break_error", TCT_AUDIT_BREAK, "epsilon_lower",
                       epsilon_of(&t, delta, TCT_AUDIT_REPORT), "epsilon_proven", proven, "epsilon_claimed", epsilon);
  }
  flock_free(&f);
  return answer;
}
