/* worlds.h - small data sets as a solver sees them, and two of them that differ in one record.
 *
 * A world is a plan, its bounded records and a gate with a seed.  Two worlds opened from one plan and run under one
 * seed have the same coins.  A tape keeps the releases of the first and forces them on the second.  So what is left
 * between them at a release is what the one record moves. */
#ifndef TCT_TEST_WORLDS_H
#define TCT_TEST_WORLDS_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "train/bound.h"
#include "la/matrix/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t world_u64(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double world_real(uint64_t *state) { return 2 * ((double)(world_u64(state) >> 11) * 0x1p-53) - 1; }

/* ---- records ---------------------------------------------------------------------------------- */

typedef struct records {
  int64_t rows, cols;
  double *x;       /* [rows][cols], each representable as a float */
  double *y;       /* [rows]: -1 or +1, which is a real label too; or the number of a class */
  int64_t classes; /* of y; 0: signs, of which a joint loss gets classes (world_class) */
} records;

static inline records records_new(int64_t rows, int64_t cols, uint64_t seed) {
  records r = {rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(double)), calloc((size_t)rows + 1, sizeof(double)),
               0};
  for (int64_t i = 0; i < rows; i++) {
    double margin = 0;
    for (int64_t j = 0; j < cols; j++) {
      double v = world_real(&seed);
      r.x[i * cols + j] = v < -0.4 ? 0 : (float)(v / sqrt((double)cols)); /* about a third are zero */
      margin += (j % 3 ? -1 : 2) * r.x[i * cols + j];
    }
    r.y[i] = margin + 0.3 * world_real(&seed) > 0 ? 1 : -1;
  }
  return r;
}
static inline void records_free(records *r) {
  free(r->x);
  free(r->y);
}
static inline tct_matrix records_matrix(const records *r) {
  return (tct_matrix){.rows = r->rows, .cols = r->cols, .layout = TCT_DENSE_ROWS, .values = r->x, .stride = r->cols};
}

/* Signs are two classes or three: the records of +1 are shared out. */
static inline double world_class(const records *r, int64_t i) {
  return r->classes ? r->y[i] : r->y[i] < 0 ? 0 : 1 + (double)(i % 2);
}
/* What a loss of this kind of labels is given, [rows], to be freed. */
static inline double *records_labels(const records *r, tct_labels labels) {
  double *y = malloc(((size_t)r->rows + 1) * sizeof *y);
  for (int64_t i = 0; i < r->rows; i++) y[i] = labels == TCT_LABELS_CLASSES ? world_class(r, i) : r->y[i];
  return y;
}

/* ---- one world -------------------------------------------------------------------------------- */

/* Row norm 1, label bound 1, one thread, epsilon 1 at delta 1e-5 for private solvers. */
static inline tct_config world_config(const char *loss, const char *penalty, const char *solver) {
  tct_config c;
  char name[64] = "";
  tct_config_default(&c);
  c.intercept = 0;
  sscanf(solver, "%63[^:]", name);
  const tct_solver *s = tct_solver_find(name);
  c.loss = loss;
  c.penalty = penalty;
  c.solver = solver;
  if (s && s->is_private) c.epsilon = 1, c.delta = 1e-5;
  c.row_norm = 1;
  c.label_bound = 1;
  c.threads = 1;
  c.has_seed = 1;
  c.seed = 20;
  return c;
}

typedef struct world {
  tct_owned_matrix copy; /* the records in the layout that was asked for */
  tct_data *data;
  tct_plan *plan;
  int borrowed; /* the plan is another world's */
  tct_bound bound;
  tct_problem problem;
  tct_events spent; /* by the last run */
  double *w;        /* [p], of the last run */
  double *labels;   /* [rows] */
  tct_mech *mech;   /* of a run, while it lasts */
} world;

static inline void world_close(world *w) {
  tct_bound_free(&w->bound);
  if (!w->borrowed) tct_plan_free(w->plan);
  tct_data_free(w->data);
  tct_matrix_free(&w->copy);
  tct_events_free(&w->spent);
  free(w->w);
  free(w->labels);
  memset(w, 0, sizeof *w);
}

/* Borrows the records and bounds them under a plan that outlives the world, as do the records. */
static inline tct_status world_share(world *w, const records *r, tct_plan *plan, tct_layout layout, tct_value_type type,
                                     tct_error *err) {
  *w = (world){.plan = plan, .borrowed = 1};
  tct_matrix m = records_matrix(r);
  assert_int_equal(tct_matrix_convert(&m, layout, type, &w->copy, err), TCT_OK);
  tct_labels kind = tct_config_labels(&plan->config);
  w->labels = records_labels(r, kind);
  w->data = tct_data_view(&w->copy.m, w->labels, kind, NULL, NULL, err);
  if (!w->data || tct_bound_make(w->plan, w->data, &w->bound, err) != TCT_OK) {
    tct_status status = err->status;
    world_close(w);
    return status;
  }
  w->problem = (tct_problem){.facts = &plan->facts, .view = &w->bound.view, .y = w->bound.y};
  w->problem.cancel = plan->config.cancel;
  w->problem.user = plan->config.user;
  w->w = calloc((size_t)plan->facts.p, sizeof(double));
  return TCT_OK;
}

/* Plans too.  On failure nothing is left to close. */
static inline tct_status world_open(world *w, const records *r, const tct_config *config, tct_layout layout,
                                    tct_value_type type, tct_error *err) {
  memset(w, 0, sizeof *w);
  tct_plan *plan = tct_plan_new(config, r->rows, r->cols, err);
  if (!plan) return err->status;
  tct_status status = world_share(w, r, plan, layout, type, err);
  w->borrowed = 0;
  if (status != TCT_OK) tct_plan_free(plan);
  return status;
}

/* The same world without record k: its row and its intercept weigh nothing. */
static inline void world_remove(world *w, int64_t k) { w->bound.view.row_scale[k] = 0; }

/* Runs under a seed; the probe may be NULL.  Fills w->w and w->spent, checks that the promise is settled. */
static inline tct_status world_run(world *w, uint64_t seed, tct_mech_probe probe, void *user, tct_error *err) {
  tct_mech *mech = NULL;
  const tct_solver *solver = w->plan->solver;
  tct_events_free(&w->spent);
  assert_int_equal(tct_mech_new(&w->plan->solved.promise, w->plan->facts.neighbours, &seed, &mech, err), TCT_OK);
  tct_mech_probe_test(mech, probe, user);
  w->mech = mech;
  tct_status status = solver->run(&w->problem, &w->plan->solved, mech, w->w, err);
  if (status == TCT_OK && solver->is_private) status = tct_mech_spent_exactly(mech, err);
  assert_int_equal(tct_events_copy(&w->spent, tct_mech_spent(mech), NULL), TCT_OK);
  tct_mech_free(mech);
  w->mech = NULL;
  return status;
}

/* ---- two worlds ------------------------------------------------------------------------------- */

/* The releases of a run: the first world writes, the second is forced to the same past and compared. */
typedef struct tape {
  struct {
    double *before, *after; /* [len] */
    double sensitivity;
    int64_t len;
    tct_event_kind kind;
  } * at;
  int64_t count, next;
  int replay;
  const double *push; /* [push_len] added to the first release of that length in both worlds: another past; or NULL */
  int64_t push_len;
  double claim;       /* how far a release may move, in units of its sensitivity: 1 add_remove, 2 replace_one */
  double worst;       /* largest move/(claim*sensitivity) seen */
  int64_t worst_at;   /* at this release */
  int64_t mismatches; /* releases that the two worlds do not share: any is a leak by itself */
} tape;

static inline double *tape_copy(const double *from, int64_t len) {
  double *to = malloc((size_t)len * sizeof *to + 1);
  if (len) memcpy(to, from, (size_t)len * sizeof *to);
  return to;
}

/* Choices: permute and flip and choices over a batch are charged as pure events. */
static inline int world_chooses(tct_event_kind kind) { return kind == TCT_EV_EXPONENTIAL || kind == TCT_EV_PURE; }

static inline void tape_write(tape *t, const tct_event *event, double sensitivity, const double *before,
                              const double *after, int64_t len) {
  if ((t->count & (t->count - 1)) == 0) t->at = realloc(t->at, (size_t)(t->count ? 2 * t->count : 1) * sizeof *t->at);
  t->at[t->count].before = tape_copy(before, len);
  t->at[t->count].after = tape_copy(after, world_chooses(event->kind) ? 1 : len); /* a choice is one number */
  t->at[t->count].sensitivity = sensitivity;
  t->at[t->count].kind = event->kind;
  t->at[t->count++].len = len;
}

/* The norm in which a kind of event states its sensitivity. */
static inline double tape_distance(tct_event_kind kind, const double *a, const double *b, int64_t len) {
  long double sum = 0;
  for (int64_t j = 0; j < len; j++) {
    long double d = (long double)a[j] - b[j];
    if (kind == TCT_EV_LAPLACE)
      sum += fabsl(d);
    else if (world_chooses(kind))
      sum = fmaxl(sum, fabsl(d));
    else
      sum += d * d;
  }
  return kind == TCT_EV_LAPLACE || world_chooses(kind) ? (double)sum : (double)sqrtl(sum);
}

static inline void tape_probe(void *user, const tct_event *event, double sensitivity, const double *before,
                              double *after, int64_t len) {
  tape *t = user;
  int64_t made = world_chooses(event->kind) ? 1 : len;
  if (!t->replay) {
    for (int64_t j = 0; t->push && len == t->push_len && t->count == 0 && j < len; j++) after[j] += t->push[j];
    tape_write(t, event, sensitivity, before, after, len);
    return;
  }
  if (t->next >= t->count || t->at[t->next].len != len || t->at[t->next].sensitivity != sensitivity ||
      t->at[t->next].kind != event->kind) {
    t->mismatches++;
    return;
  }
  double move = tape_distance(event->kind, t->at[t->next].before, before, len);
  double share = world_chooses(event->kind) ? move / sensitivity : move / (t->claim * sensitivity);
  if (share > t->worst) t->worst = share, t->worst_at = t->next;
  memcpy(after, t->at[t->next].after, (size_t)made * sizeof *after);
  t->next++;
}

static inline void tape_free(tape *t) {
  for (int64_t i = 0; i < t->count; i++) {
    free(t->at[i].before);
    free(t->at[i].after);
  }
  free(t->at);
  memset(t, 0, sizeof *t);
}

/* Runs both worlds under one seed; returns the largest move of a release in units of what is claimed.  Both worlds must
 * make the same releases (their number and sensitivity are visible), and the same model of them: whatever else a model
 * depends on is a leak.  push: see tape, [p] or NULL. */
static inline double worlds_move(world *a, world *b, uint64_t seed, const double *push) {
  tct_error err = {0};
  tape t = {.claim = a->plan->facts.neighbours == TCT_REPLACE_ONE ? 2 : 1};
  t.push = push;
  t.push_len = a->plan->facts.p;
  if (world_run(a, seed, tape_probe, &t, &err) != TCT_OK) fail_msg("%s", err.text);
  t.replay = 1;
  if (world_run(b, seed, tape_probe, &t, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_int_equal(t.mismatches, 0);
  assert_int_equal(t.next, t.count);
  assert_true(t.count > 0);
  if (memcmp(a->w, b->w, (size_t)a->plan->facts.p * sizeof(double)))
    fail_msg("%s: equal releases give unequal models; something else reaches the model", a->plan->solver->name);
  double worst = t.worst;
  tape_free(&t);
  return worst;
}
#endif
