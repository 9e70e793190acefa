/* climb.h - hill climbing for the neighbour that moves a release of a Frank-Wolfe solver furthest. */
#ifndef TCT_TEST_CLIMB_H
#define TCT_TEST_CLIMB_H
#include "worlds.h"

enum { ROWS = 24, COLS = 4, RECORD = 7, CLIMBS = 300 };

typedef struct variant {
  const char *solver, *loss;
  int intercept;
  double enough; /* the share of the claim that climbing reaches; unclipped slopes near their bound are rare */
} variant;

static inline tct_plan *plan_of(const variant *v, tct_neighbours relation) {
  tct_config config = world_config(v->loss, "l1ball:radius=2", v->solver);
  tct_error err = {0};
  config.neighbours = relation;
  config.intercept = v->intercept;
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  if (!plan) fail_msg("%s: %s", v->solver, err.text);
  return plan;
}

static inline double moves(const records *a, const records *b, tct_plan *plan, tct_layout layout, uint64_t seed) {
  tct_error err = {0};
  world first, second;
  assert_int_equal(world_share(&first, a, plan, layout, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_share(&second, b, plan, layout, TCT_F64, &err), TCT_OK);
  if (plan->facts.neighbours == TCT_ADD_REMOVE) world_remove(&second, RECORD);
  double worst = worlds_move(&first, &second, seed, NULL);
  world_close(&first);
  world_close(&second);
  return worst;
}

static inline void put(records *r, const double *x, double y) {
  memcpy(r->x + RECORD * COLS, x, COLS * sizeof *x);
  r->y[RECORD] = y;
}

/* Rows are clipped to norm 1 by the bound, so any size is legal; zeros decide which steps touch the record. */
static inline void mutate(double *x, double *y, uint64_t *seed) {
  double *at = &x[world_u64(seed) % COLS];
  *at = world_real(seed) < -0.2 ? 0 : (float)(3 * world_real(seed));
  if (world_real(seed) < -0.5) *y = -*y;
}

static inline double climb(const variant *v, tct_neighbours relation, tct_layout layout) {
  tct_plan *plan = plan_of(v, relation);
  records a = records_new(ROWS, COLS, 31), b = records_new(ROWS, COLS, 31);
  double x[2][COLS] = {{0.9, 0.3, 0, 0}, {-0.9, 0, 0, 0.3}}, y[2] = {1, 1}, best = 0;
  uint64_t seed = 77;
  for (int t = 0; t < CLIMBS && best < 0.9999; t++) {
    double tx[2][COLS], ty[2] = {y[0], y[1]};
    memcpy(tx, x, sizeof x);
    if (t > 0) mutate(tx[t % 2], &ty[t % 2], &seed);
    if (t % 5 == 4) mutate(tx[0], &ty[0], &seed), mutate(tx[1], &ty[1], &seed);
    put(&a, tx[0], ty[0]);
    put(&b, tx[1], ty[1]);
    if (relation == TCT_ADD_REMOVE) put(&b, tx[0], ty[0]);
    double move = moves(&a, &b, plan, layout, 3 + (uint64_t)(t / 100));
    if (!(move <= 1)) fail_msg("%s: a release moves by %.17g of its claim", v->solver, move);
    if (move < best) continue;
    best = move;
    memcpy(x, tx, sizeof x);
    memcpy(y, ty, sizeof y);
  }
  records_free(&a);
  records_free(&b);
  tct_plan_free(plan);
  return best;
}

/* The slope of squared loss reaches its bound only where the iterate predicts against the label. */
static inline void climb_all(const variant *variants, int count, tct_neighbours relation) {
  for (int v = 0; v < count; v++)
    for (int layout = 0; layout < 2; layout++) {
      double best = climb(&variants[v], relation, layout ? TCT_CSC : TCT_DENSE_COLS);
      if (!(best >= variants[v].enough))
        fail_msg("%s: climbing reaches only %g of the claim", variants[v].solver, best);
    }
}
#endif
