/* test_sensitivity.c - how far one record, or one person, moves a release: a matrix of all that the solvers accept.
 *
 * Two worlds share the coins and all past releases.  They differ in one record, or in a person's three, which are
 * removed (add_remove) or replaced (replace_one).  The noise-free sums may differ by the sensitivity, or twice that
 * under replace_one: exactly, so the bound is `move <= 1` without a tolerance.  The farthest pair of a cell must also
 * come close to the claim, which shows that the probe sees something.
 *
 * A cell is a form of a solver, a loss, an intercept or none, a relation, a number of rows, weights, offsets, a layout,
 * a type, and the place of the record.  Each plan has its cells drawn by the day, so that none is left out for ever;
 * TACIT_MATRIX=whole looks at all (a quarter of an hour), TACIT_MATRIX=N at those of day N.  TACIT_TEST_SOLVER=NAME: at
 * that solver's alone.  TACIT_PRINT=1: what each form reaches. */
#include "sample.h"
#include "worlds.h"

#include "la/kernels/kernels.h"
#include "mech/gate.h"
#include "read/table/data.h"
#include "solve/minimiser/objpert.h"

#include <time.h>

enum { P = 3, KIN = 3, MOST_P = 3 * (P + 1), SAMPLED = 27 };
static const double BEYOND = 0.505; /* of a claim: half of the sensitivity, planned by mistake, would fail */

/* ---- the forms: settings of a solver in which its worst cases can be met -------------------------------------- */

typedef struct form {
  const char *solver; /* %d: half of the rows */
  double enough;      /* what the farthest pair of a cell reaches at least, of the claim */
  double epsilon;     /* 0: 1, or 0.01, where lattices are coarse */
  const char *loss;   /* NULL: every one that a plan takes and no other form of the solver names */
  unsigned loose;     /* releases (bits) that no pair here fills */
} form;

static const form forms[] = {
    {"dpscd:batch=%d,clip=0.01,epochs=5", 0.9, 0, NULL, 0},
    {"dpscd:batch=1e6,clip=0.01,epochs=4,newton=1", 0.9, 0, NULL, 0},
    {"dpscd:batch=%d,clip=0.01,epochs=5,state=paper", 0.7, 0, NULL, 0}, /* v alone is seen: R/sqrt(1 + R^2) */
    {"seqdpscd:batch=2,cap=1,clip=0.01,epochs=4", 0.7, 0, NULL, 0},     /* the same */
    {"primaldpscd:batch=1,clip=0.001,passes=2", 0.55, 0, NULL, 0},
    {"primaldpscd:batch=3,clip=0.001,passes=2", 0.55, 0, NULL, 0},
    {"primaldpscd:batch=3,clip=0.001,passes=2", 0.55, 0, "smoothed_hinge:width=2", 0}, /* else without curvature at 0 */
    {"dpcd:passes=2,clip=0.05,smoothness=public", 0.9, 0, NULL, 0},
    {"dpcd:passes=2,clip=0.05,smoothness=public,clipping=coordinate,order=uniform", 0.9, 0, NULL, 0},
    {"dpcd:passes=2,clip=0.05,smoothness=public,order=cyclic,average=inner,outer=2", 0.9, 0, NULL, 0},
    {"dpcd:passes=2,clip=0.1,floor=1e-9", 0.9, 0, NULL, 0}, /* released moments set the lengths */
    {"dpcd:passes=1,clip=0.1,form=laplace", 0.9, 0, NULL, 0},
    {"dpcd:passes=1,clip=0.1,bounds=0.7", 0.9, 0, NULL, 0},
    {"dpcd:passes=2,clip=0.05,smoothness=public,moments=0.3", 0.9, 0, NULL, 0},
    {"dpcd:order=greedy,inner=4,clip=0.05,smoothness=public", 0.9, 0, NULL, 0},
    {"dpfw:steps=5,clip=0.2", 0.9, 0, NULL, 0},
    {"dpfw:steps=5,clip=0.2,feature_bound=0.3,refresh=1", 0.9, 0, NULL, 0},
    {"dpfw:steps=9,clip=0.2,feature_bound=0.4,refresh=4", 0.9, 0, NULL, 0},
    {"dpfw:steps=5,clip=0.2,form=plain", 0.9, 0, NULL, 0},
    {"dpfw_parties:steps=4,columns=3,sketch=16,trust=1,clip=0.2", 0.9, 0, NULL, 0},
    {"dpfw_parties:steps=4,columns=2,sketch=16,radius=winner,clip=0.2,feature_bound=0.4", 0.9, 0, NULL, 0},
    {"dpfw_parties:steps=4,columns=6,sketch=24,trust=1,clip=0.2,local=sent", 0.9, 0, NULL, 0},
    {"dpfw_parties:steps=4,columns=0,tau=1,clip=0.2,parties=3,radius=2+1+1", 0.9, 0, NULL, 0},
    {"dpfw_parties:steps=4,columns=6,sketch=16,entries=16,trust=0.5,clip=0.2", 0.9, 0, NULL, 0},
    {"gram_parties", 0.9, 0, NULL, 0},
    {"gram_parties:parties=3,labels=one,server_noise=yes", 0.9, 0, NULL, 0},
    {"dpsgd:batch=%d,clip=0.1,epochs=4", 0.9, 0, NULL, 0},
    {"dpsgd:batch=1e6,clip=0.1,epochs=3", 0.9, 0, NULL, 0},
    {"sgd_ma:batch=%d,clip=0.1,steps=8", 0.9, 4, NULL, 0},
    {"sgd_adv:batch=%d,clip=0.1,steps=8", 0.9, 4, NULL, 0},
    {"objpert", 0.6, 1, NULL, 2}, /* the output's share of the shift is for points that no run certifies so badly */
    {"objpert:norm=1,clip=1", 0.6, 1, NULL, 2},
    {"outpert", 0.9, 1, "smoothed_hinge", 0},
    {"outpert", 0.35, 1, "logistic", 1},     /* a slope near its bound asks for others that bend the objective */
    {"outpert", 0.7, 1, "gamma:ratio=2", 0}, /* of the default only labels far from the others reach the slope */
    {"outpert", 0.7, 1, NULL, 0},
    {"outpert:variant=gd,steps=20", 0.9, 1, "smoothed_hinge", 0},
    {"outpert:variant=gd,steps=20", 0.35, 1, "logistic", 1},
    {"outpert:variant=gd,steps=20", 0.7, 1, "gamma:ratio=2", 0},
    {"outpert:variant=gd,steps=20", 0.7, 1, NULL, 0},
    {"adassp", 0.75, 0, NULL, 0},
    {"adassp:norm=1,split=0.15", 0.75, 0, NULL, 0},
    {"adassp:noise=laplace,norm=1", 0.6, 0, NULL, 0},
    {"dpagd:clip_grad=0.1,clip_obj=0.2,steps=4", 0.9, 10, NULL, 0},
    {"dpagd:batch=%d,clip_grad=0.1,clip_obj=0.2,steps=4", 0.9, 10, NULL, 0},
    {"dpgd:steps=3,clip=0.1", 0.9, 0, NULL, 0},
    {"dpnewton:steps=3,clip=0.1", 0.9, 0, NULL, 0},
    {"dpmetric:steps=3,budget_fraction=0.3,second=0.3,clip=0.3", 0.9, 1e4, NULL, 0},
    {"dpmetric:steps=3,shape=diagonal,clip=0.03", 0.9, 0, NULL, 0},
    {"dpmetric:steps=3,shape=diagonal,budget_fraction=0.3,second=0.3,clip=0.3", 0.9, 1e4, NULL, 0},
    {"dpmoments:steps=3", 0.9, 1e4, NULL, 0}, /* the counts of norms set a length */
    {"dpmoments:steps=3,norms=0.05", 0.9, 1, NULL, 0},
    {"dponestep:errors=robust,steps=3,clip=0.3", 0.9, 1e4, "poisson", 0},
    {"dponestep:errors=robust,steps=3,clip=0.3", 0.9, 1e4, NULL, 0},
    {"dponestep:errors=model,steps=3", 0.9, 0, "poisson", 0},
    /* A cut slope has no curve; and no label is so far above its mean that an uncut one fills the others. */
    {"dponestep:errors=robust,steps=3,clip=0.3", 0.9, 1e4, "gamma", 1 << 6},
    {"dponestep:errors=model,steps=3", 0.9, 0, "gamma", 1 << 6 | 1 << 7 | 1 << 10},
    {"dponestep:errors=model,steps=3", 0.9, 0, NULL, 0},
    {"dpcox:errors=robust,steps=3,cells=6", 0.9, 1e4, NULL, 0},
    {"dpcox:errors=model,steps=3,cells=1", 0.9, 0, NULL, 0},
    {"dpcox:errors=model,steps=3,cells=24,clip=0.3", 0.9, 0, NULL, 0},
    {"privgene:c=0.1,scale=100,clip=20", 0.9, 1, NULL, 0},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* A record, what replaces it, and the past: push is added to the first sum of all weights that is released. */
typedef struct pair {
  double x[P], y, other[P], other_y, push[P + 1];
} pair;

/* In units of the row norm bound: of full length along an axis or along none, short; LEVEL, in units of the intercept:
 * both count alike. */
static const double FAR[P] = {1e3, 0, 0}, BACK[P] = {-1e3, 0, 0}, ACROSS[P] = {0, 1e3, 0}, ALL[P] = {700, -700, 700},
                    TURNED[P] = {700, 700, -700}, NONE[P] = {0, 0, 0}, EVEN[P] = {0.6, 0.6, 0.6},
                    NEAR[P] = {0.6, 0.4, -0.2}, NEAR_BACK[P] = {-0.6, -0.4, 0.2}, SHORT[P] = {0.05, 0, 0},
                    LEVEL[P] = {1, 0, 0};
static const struct {
  const double *x, *other; /* other: under replace_one */
  double y, other_y;       /* of two classes their signs */
} shapes[] = {
    {FAR, FAR, 1, -1},     {FAR, BACK, -1, -1},   {ALL, ALL, 1, -1},      {ALL, BACK, -1, 1},  {NEAR, NEAR_BACK, 1, 1},
    {NONE, NONE, 1, -1},   {NEAR, NEAR, -1, 1},   {NONE, FAR, -1, 1},     {FAR, ACROSS, 1, 1}, {EVEN, ACROSS, -1, 1},
    {ALL, TURNED, 1, 0.1}, {SHORT, FAR, 1, -0.1}, {LEVEL, ACROSS, -1, 1},
};
static const double pushes[] = {0, 1e4, -1e4};
enum { SHAPES = sizeof shapes / sizeof *shapes, PAIRS = 3 * SHAPES };

static pair pair_of(int i, const tct_facts *facts) {
  pair out = {.y = shapes[i % SHAPES].y, .other_y = shapes[i % SHAPES].other_y};
  bool real = !facts->loss.kind->binary && !facts->loss.kind->joint;
  double unit = shapes[i % SHAPES].x == LEVEL ? 1 : facts->row_norm;
  for (int j = 0; j < P; j++) {
    out.x[j] = unit * shapes[i % SHAPES].x[j];
    out.other[j] = facts->row_norm * shapes[i % SHAPES].other[j];
    out.push[j] = pushes[i / SHAPES] * (out.x[j] + 1e-3);
  }
  out.push[P] = pushes[i / SHAPES];
  if (!real) out.y = out.y < 0 ? -1 : 1, out.other_y = out.other_y < 0 ? -1 : 1;
  return out;
}

/* ---- one cell --------------------------------------------------------------------------------------------------- */

typedef enum weighed { PLAIN, WEIGHED, PERSONS, WEIGHINGS } weighed;
static const char *const weighings[] = {"no weights", "weights", "persons"};
static const tct_layout layouts[] = {TCT_DENSE_ROWS, TCT_DENSE_COLS, TCT_CSR, TCT_CSC};
static const char *const layout_names[] = {"dense rows", "dense columns", "CSR", "CSC"};
static const int64_t edges[] = {33, 257, 513};

typedef struct cell {
  const form *form;
  tct_plan *plan;
  int64_t rows, at; /* at: the record, or a person's first */
  weighed weighed;
  bool shifted; /* records have offsets */
  int layout;
  tct_value_type type;
} cell;

/* The worlds of a pair, and what moves between them. */
typedef struct eyes {
  const cell *cell;
  tape tape;
  world *first, *now;
  bool forced;
  double drawn[MOST_P], point[MOST_P], slack; /* objpert: b, and the minimiser that it made */
  double reach[TCT_RELEASES];                 /* by release */
  double part, parts;                         /* of a vector in parts: what moved so far, and how many are seen */
} eyes;

static int64_t kin_of(const cell *c) { return c->weighed == PERSONS ? KIN : 1; }
static int64_t kin_at(const cell *c, int64_t k) { return (c->at + k * (c->rows / KIN)) % c->rows; }

/* objpert: the tilted slope of record i at the minimiser, added to b: with that b the world without it has the same
 * minimiser. */
static void tilt(const eyes *e, const world *w, int64_t i, double sign, double *b) {
  const tct_facts *facts = &w->plan->facts;
  tct_perturb set;
  double x[MOST_P] = {0}, noise = w->plan->solved.promise.release[TCT_OBJPERT_OUTPUT].noise;
  assert_int_equal(tct_objpert_settings(facts, &w->plan->solved, noise, &set, NULL), TCT_OK);
  tct_row_axpy(&w->bound.view, i, 1, x);
  double z = tct_dot(x, e->point, facts->p), size = fmax(sqrt(tct_norm2(x, facts->p)), 1e-300);
  double slope = tct_loss_slope(&facts->loss, z, w->problem.y[i]);
  if (set.smooth.length > 0) slope *= fmin(1, pow(set.smooth.length / size, 2));
  if (set.smooth.clip > 0) slope = fmin(fmax(slope, -set.smooth.clip / size), set.smooth.clip / size);
  tct_axpy(sign * (w->problem.weight ? w->problem.weight[i] : 1) * slope, x, b, facts->p);
}

/* A draw without a sum: the second world is given the one number that leads to the same minimiser. */
static double redraw(eyes *e, const world *with, const world *without, double *after, int64_t len) {
  double sum = 0;
  memcpy(after, e->drawn, (size_t)len * sizeof *after);
  for (int64_t k = 0; k < kin_of(e->cell); k++) {
    tilt(e, with, kin_at(e->cell, k), 1, after);
    tilt(e, without, kin_at(e->cell, k), -1, after);
  }
  for (int64_t j = 0; j < len; j++) sum += (after[j] - e->drawn[j]) * (after[j] - e->drawn[j]);
  return sqrt(sum) * (1 - 0x1p-48); /* this file's own roundings */
}

static void look(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  eyes *e = user;
  tape *t = &e->tape;
  const tct_release *r = &e->now->mech->promise.release[e->now->mech->observed];
  double *reach = &e->reach[e->now->mech->observed], move;
  bool drawn = before == after && !tct_release_chooses(r);
  if (!t->replay) {
    bool first = t->push && len == t->push_len && !tct_release_chooses(r) && !drawn;
    for (int64_t j = 0; first && j < len; j++) after[j] += t->push[j % (P + 1)];
    if (first) t->push = NULL;
    if (drawn) memcpy(e->drawn, after, (size_t)len * sizeof *after);
    if (e->cell->plan->solver == tct_solver_find("objpert") && !drawn)
      memcpy(e->point, before, (size_t)len * sizeof *before);
    tape_write(t, event, sensitivity, before, after, len);
    return;
  }
  if (t->next >= t->count || t->at[t->next].len != len || t->at[t->next].sensitivity != sensitivity ||
      t->at[t->next].kind != event->kind) {
    t->mismatches++;
    return;
  }
  if (drawn)
    move = redraw(e, e->first, e->now, after, len);
  else {
    move = tape_distance(event->kind, t->at[t->next].before, before, len) / e->slack;
    memcpy(after, t->at[t->next].after, (size_t)(tct_release_chooses(r) ? 1 : len) * sizeof *after);
  }
  move /= sensitivity * (tct_release_chooses(r) ? 1 : t->claim);
  if (r->parts > 0) {
    e->part = r->norm == TCT_NORM_L1 ? e->part + move : sqrt(e->part * e->part + move * move);
    move = e->part;
    if (++e->parts == (double)r->parts) e->part = e->parts = 0;
  }
  *reach = fmax(*reach, move);
  t->next++;
}

static void show(const cell *c, char *text, size_t size) {
  const tct_facts *f = &c->plan->facts;
  snprintf(text, size, "%s, %s, R = %g, epsilon = %g, %s, %s, %s%s, %s, %s, row %lld of %lld", c->plan->solver_text,
           f->loss.kind->name, f->row_norm, f->epsilon, f->intercept ? "intercept" : "no intercept",
           f->neighbours ? "replace_one" : "add_remove", weighings[c->weighed], c->shifted ? " and offsets" : "",
           layout_names[c->layout], c->type == TCT_F32 ? "float" : "double", (long long)c->at, (long long)c->rows);
}

static void put(records *r, const cell *c, const double *x, double y) {
  for (int64_t k = 0; k < kin_of(c); k++) {
    int64_t i = kin_at(c, k);
    for (int j = 0; j < P; j++) r->x[i * P + j] = (float)x[j];
    r->y[i] = y;
  }
}

/* Weights of all sizes up to the cap and, of the pair's, beyond it; a person's records are scaled to a sum of 1. */
static void open_world(const cell *c, const records *r, double offset, world *w) {
  tct_error err = {0};
  double weight[513];
  int64_t person[513];
  if (world_share(w, r, c->plan, layouts[c->layout], c->type, &err) != TCT_OK) fail_msg("%s", err.text);
  if (c->shifted) {
    double *own = w->data->offset = tct_alloc(c->rows, sizeof *own);
    for (int64_t i = 0; i < c->rows; i++) own[i] = -0.4 * (double)(i % 6);
    for (int64_t k = 0; k < kin_of(c); k++) own[kin_at(c, k)] = offset;
    w->problem.offset = own;
  }
  for (int64_t i = 0; i < c->rows; i++) weight[i] = 0.1 * (double)(i % 21), person[i] = i;
  for (int64_t k = 0; k < kin_of(c); k++)
    weight[kin_at(c, k)] = c->weighed == WEIGHED ? 1e9 : 2 / (1 + (double)(c->at % 2)) - (double)k / 4,
                     person[kin_at(c, k)] = c->at;
  if (c->weighed == PLAIN) return;
  assert_int_equal(tct_data_weigh(w->data, weight, 2, c->weighed == PERSONS ? person : NULL, &err), TCT_OK);
  w->problem.weight = w->data->weight;
}

/* The tilt is computed at a point next to the minimiser: by so much more may the other world's point differ. */
static double slack_of(const tct_plan *plan) {
  tct_perturb set;
  if (strcmp(plan->solver->name, "objpert")) return 1;
  double noise = plan->solved.promise.release[TCT_OBJPERT_OUTPUT].noise;
  assert_int_equal(tct_objpert_settings(&plan->facts, &plan->solved, noise, &set, NULL), TCT_OK);
  return 1 + set.smooth.curvature * pow(plan->facts.row_norm, 2) / set.ridge;
}

static void run(eyes *e, world *w, uint64_t seed, const char *what) {
  tct_error err = {0};
  e->now = w;
  if (world_run(w, seed, look, e, &err) != TCT_OK) fail_msg("%s: %s", what, err.text);
}

/* best[TCT_RELEASES] <- how far the pair moves each release at least, in its claim. */
static void try_pair(const cell *c, records *base, const pair *p, uint64_t seed, double *best) {
  world a, b;
  char what[400];
  bool replaced = c->plan->facts.neighbours == TCT_REPLACE_ONE;
  eyes e = {.cell = c, .tape = {.claim = replaced ? 2 : 1, .push = p->push, .push_len = c->plan->facts.p}};
  e.slack = slack_of(c->plan);
  show(c, what, sizeof what);
  put(base, c, p->x, p->y);
  open_world(c, base, 0, &a);
  if (replaced) put(base, c, p->other, p->other_y);
  open_world(c, base, replaced ? -3 : 0, &b);
  for (int64_t k = 0; k < kin_of(c) && !replaced; k++) world_remove(&b, kin_at(c, k));
  e.first = &a;
  run(&e, &a, seed, what);
  e.tape.replay = 1;
  run(&e, &b, seed, what);
  if (e.tape.mismatches || e.tape.next != e.tape.count) fail_msg("%s: other releases in a neighbour's run", what);
  if (memcmp(a.w, b.w, (size_t)c->plan->facts.p * sizeof *a.w))
    fail_msg("%s: equal releases give unequal models; something else reaches the model", what);
  for (int r = 0; r < c->plan->solved.promise.count; r++) {
    if (!(e.reach[r] <= 1)) fail_msg("%s: release %d moves %.17g times its claim", what, r, e.reach[r]);
    best[r] = fmax(best[r], e.reach[r]);
  }
  tape_free(&e.tape);
  world_close(&b);
  world_close(&a);
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

/* Short rows in fours, (x, y), (-x, y), (x', -y), (-x', -y): before a step is taken they ask for none.  The first row
 * asks for a quarter of what a record can ask for: so the pair's decides the sign of a sum.  CSR: few entries. */
static records others_of(const cell *c) {
  records r = records_new(c->rows, P, 31);
  double size = c->plan->facts.row_norm, label = c->plan->facts.loss.kind->binary ? 1 : 0.5;
  bool few = layouts[c->layout] == TCT_CSR || layouts[c->layout] == TCT_CSC;
  int64_t seen = -1;
  for (int64_t i = 0; i < c->rows; i++) {
    bool own = false;
    for (int64_t k = 0; k < kin_of(c); k++) own = own || kin_at(c, k) == i;
    if (own) continue;
    for (int j = 0; j < P; j++) {
      double x = 0.2 * size * (seen % 2 ? -1 : 1) * sin((double)(1 + seen / 2 * P + j));
      if (few && (seen / 4 % 4 || seen / 2 % P != j)) x = 0;
      r.x[i * P + j] = (float)(seen >= 0 ? x : j ? 0 : 0.24 * size);
    }
    r.y[i] = seen / 2 % 2 || seen < 0 ? -label : label;
    seen++;
  }
  return r;
}

/* reach[TCT_RELEASES] <- at least how far a pair moves each release; returns the largest. */
static double try_cell(const cell *c, double *reach) {
  double best[TCT_RELEASES] = {0}, largest = 0;
  int releases = c->plan->solved.promise.count;
  records others = others_of(c);
  for (int i = 0; i < PAIRS; i++) {
    pair p = pair_of(i, &c->plan->facts);
    try_pair(c, &others, &p, 4 + (uint64_t)i, best);
  }
  for (int r = 0; r < releases; r++) reach[r] = fmax(reach[r], best[r]), largest = fmax(largest, best[r]);
  if (!(largest >= c->form->enough)) {
    char what[400];
    show(c, what, sizeof what);
    fail_msg("%s: the pairs reach %g of the claim only, not %g", what, largest, c->form->enough);
  }
  records_free(&others);
  return largest;
}

typedef struct counted {
  uint64_t random;
  bool whole;
  int64_t cells, looked;
} counted;

/* All cells of one plan; or some of them, from a place that is drawn. */
static void try_plan(const form *f, tct_plan *plan, counted *count, double *reach) {
  enum { OF_A_WEIGHING = 32 };
  int64_t n = plan->facts.rows, at[] = {0, n / 2, n - 2, n - 1}, before = count->looked; /* n - 2 ends a chunk */
  int cells = OF_A_WEIGHING * ((int)plan->solver->weighing + 1), some = SAMPLED * sample_every(3);
  int step = count->whole ? 1 : cells < some ? cells : some;
  for (int k = (int)(world_u64(&count->random) % (uint64_t)step); k < cells; k += step) {
    cell c = {.form = f, .plan = plan, .rows = n, .at = at[k % 4], .weighed = (weighed)(k / OF_A_WEIGHING)};
    c.shifted = plan->solver->offsets && !plan->facts.loss.kind->joint && k % 2;
    c.layout = k / 4 % 4, c.type = k / 16 % 2 ? TCT_F32 : TCT_F64;
    try_cell(&c, reach);
    count->looked++;
  }
  count->cells += cells;
  assert_true(count->looked > before); /* a plan that is accepted is looked at */
}

/* With the first penalty that the solver takes for the loss; NULL: none. */
static tct_plan *plan_of(const char *solver, const char *loss, int64_t rows, int intercept, tct_neighbours relation,
                         double row_norm, double epsilon) {
  static const char *const penalties[] = {"none", "l2:lambda=0.5", "l1ball:radius=2"};
  tct_plan *plan = NULL;
  for (int i = 0; i < 3 && !plan; i++) {
    tct_error err = {0};
    tct_config config = world_config(loss, penalties[i], solver);
    config.intercept = intercept, config.neighbours = relation, config.row_norm = row_norm, config.epsilon = epsilon;
    plan = tct_plan_new(&config, rows, P, &err);
  }
  return plan;
}

/* Some cells, or all, of the form's plans, or of one in `every` of these; returns how many releases they have. */
static int look_at(const form *f, const char *loss, tct_neighbours relation, int every, counted *count, double *reach) {
  int releases = 0;
  for (int k = (int)(world_u64(&count->random) % (uint64_t)every); k < 6; k += every) {
    int intercept = k % 2, edge = k / 2;
    char solver[160];
    double epsilon = f->epsilon > 0 ? f->epsilon : (intercept + edge) % 2 ? 0.01 : 1;
    snprintf(solver, sizeof solver, f->solver, (int)edges[edge] / 2);
    tct_plan *plan = plan_of(solver, loss, edges[edge], intercept, relation, 1 + (edge + (int)relation) % 3, epsilon);
    if (!plan) continue;
    try_plan(f, plan, count, reach);
    releases = plan->solved.promise.count;
    tct_plan_free(plan);
  }
  return releases;
}

/* The first release that no pair moved beyond half of its claim; -1: there is none. */
static int short_of(const form *f, const double *reach, int releases) {
  for (int r = 0; r < releases; r++)
    if (!(reach[r] > BEYOND) && !(f->loose >> r & 1)) return r;
  return -1;
}

/* Every release of a plan under a relation must come beyond half of its claim somewhere; where a sample of the cells is
 * short of that, more are drawn. */
static void try_form(const form *f, const char *loss, tct_neighbours relation, counted *count) {
  double reach[TCT_RELEASES] = {0};
  int releases = look_at(f, loss, relation, count->whole ? 1 : sample_every(3), count, reach);
  if (!releases) releases = look_at(f, loss, relation, 1, count, reach); /* the others may be accepted */
  for (int more = 0; more < 32 && !count->whole && short_of(f, reach, releases) >= 0; more++) {
    counted again = *count;
    look_at(f, loss, relation, 1, &again, reach);
    count->random = again.random;
  }
  int least = short_of(f, reach, releases);
  if (least >= 0)
    fail_msg("%s, %s, relation %d: no pair moves release %d further than %g of its claim", f->solver, loss, relation,
             least, reach[least]);
  if (!getenv("TACIT_PRINT") || releases == 0) return;
  printf("%s, %s, %s:", f->solver, loss, relation ? "replace_one" : "add_remove");
  for (int r = 0; r < releases; r++) printf(" %.3f", reach[r]);
  printf(" of the claims\n");
}

static bool begins(const char *text, const char *name) {
  size_t length = strlen(name);
  return text && !strncmp(text, name, length) && (text[length] == ':' || text[length] == 0);
}

static void try_loss(const tct_solver *solver, const char *loss, counted *count) {
  bool own = false;
  int64_t before = count->cells;
  for (int f = 0; f < FORMS; f++) own = own || (begins(forms[f].solver, solver->name) && begins(forms[f].loss, loss));
  for (int f = 0; f < 2 * FORMS; f++) {
    const form *at = &forms[f / 2];
    if (!begins(at->solver, solver->name) || (own ? !begins(at->loss, loss) : at->loss != NULL)) continue;
    try_form(at, own ? at->loss : loss, f % 2 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, count);
  }
  tct_plan *plan = plan_of(solver->name, loss, 1000, 1, TCT_ADD_REMOVE, 1, 1);
  if (plan && count->cells == before) fail_msg("%s takes the loss %s, and no form looks at it", solver->name, loss);
  tct_plan_free(plan);
}

static void no_record_and_no_person_moves_a_release_further_than_planned(void **state) {
  (void)state;
  const char *only = getenv("TACIT_TEST_SOLVER"), *part = getenv("TACIT_MATRIX");
  bool whole = part && !strcmp(part, "whole");
  uint64_t day = part && !whole ? strtoull(part, NULL, 10) : (uint64_t)time(NULL) / 86400;
  if (!whole)
    print_message("cells that TACIT_MATRIX=%llu draws, of today's; TACIT_MATRIX=whole looks at all\n",
                  (unsigned long long)day);
  for (int i = 0; i < tct_solver_count; i++) {
    const tct_solver *solver = tct_solvers[i];
    counted count = {.random = day, .whole = whole};
    if (!solver->is_private || (only && strcmp(only, solver->name))) continue;
    for (int l = 0; l < tct_loss_kind_count; l++) try_loss(solver, tct_loss_kinds[l]->name, &count);
    print_message("%s: %lld cells, %lld of them looked at\n", solver->name, (long long)count.cells,
                  (long long)count.looked);
    assert_true(count.looked > 0 && (!whole || count.looked == count.cells));
  }
}

/* ---- what bounds the records ------------------------------------------------------------------------ */

/* Norms in quad precision: R is not to be exceeded by a rounding. */
static void a_solver_sees_rows_within_R_and_labels_within_Y(void **state) {
  (void)state;
  for (int variant = 0; variant < 8; variant++) {
    records r = records_new(200, 7, 5);
    for (int64_t i = 0; i < r.rows; i++) {
      for (int64_t j = 0; j < r.cols; j++) r.x[i * r.cols + j] *= exp((double)(i % 40) - 20);
      r.y[i] *= exp((double)(i % 11) - 5);
    }
    tct_config config = world_config("squared", "l2:lambda=0.1", "dpscd");
    config.row_norm = 0.7;
    config.label_bound = 1.3;
    config.intercept = variant & 1;
    config.rows_rule = variant & 2 ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
    if (variant & 4) config.scale = "max-abs";
    world w;
    tct_error err = {0};
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    for (int64_t i = 0; i < r.rows; i++) {
      __float128 sum = 0, s = w.bound.view.row_scale[i];
      const double *row = (const double *)w.bound.view.x->values + i * w.bound.view.x->stride;
      for (int64_t j = 0; j < r.cols; j++) sum += (s * row[j]) * (s * row[j]);
      if (config.intercept) sum += s * s;
      assert_true(sum <= (__float128)0.7 * 0.7);
      assert_true(fabs(w.problem.y[i]) <= 1.3);
    }
    world_close(&w);
    records_free(&r);
  }
}

/* ---- what a batch may hold ---------------------------------------------------------------------------- */

/* Records along one line whose steps are all cut to +C: a batch's sum then counts it. */
static void largest_sum(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                        int64_t len) {
  (void)event, (void)sensitivity, (void)after;
  double *largest = user;
  for (int64_t j = 0; j < len; j++) *largest = fmax(*largest, fabs(before[j]));
}
static void a_batch_above_the_cap_adds_nothing(void **state) {
  (void)state;
  records r = records_new(60, 2, 6);
  for (int64_t i = 0; i < r.rows; i++) r.x[2 * i] = 1, r.x[2 * i + 1] = 0, r.y[i] = 1;
  tct_config config = world_config("logistic", "l2:lambda=10", "seqdpscd:batch=6,cap=4,clip=0.001,epochs=20");
  world w;
  tct_error err = {0};
  double largest = 0;
  config.epsilon = 50; /* little noise: margins stay where steps are cut */
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 1, largest_sum, &largest, &err), TCT_OK);
  assert_true(largest <= 4 * 0.001);
  assert_true(largest > 3 * 0.001 * (1 - 1e-9)); /* full batches are used */
  world_close(&w);
  records_free(&r);
}

/* ---- what else a model may depend on --------------------------------------------------------------------- */

/* One run writes the tape, another, with other coins, is forced to it: only releases may reach the model, so batch
 * sizes and unreleased noise may not. */
static void releases_alone_make_the_model_whatever_the_coins(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpscd:batch=6,clip=0.1,epochs=3",
                                        "dpscd:batch=6,clip=0.1,epochs=3,state=paper",
                                        "seqdpscd:batch=4,clip=0.1,epochs=3", "dpsgd:batch=6,clip=0.1,epochs=3"};
  records r = records_new(40, P, 8);
  for (int i = 0; i < 4; i++) {
    world w;
    tct_error err = {0};
    tape t = {.claim = 1};
    tct_config config = world_config("logistic", "l2:lambda=0.1", solvers[i]);
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    assert_int_equal(world_run(&w, 1, tape_probe, &t, &err), TCT_OK);
    double *first = tape_copy(w.w, P);
    t.replay = 1;
    assert_int_equal(world_run(&w, 2, tape_probe, &t, &err), TCT_OK);
    assert_int_equal(t.mismatches, 0);
    assert_true(t.worst > 0); /* the coins were others */
    if (memcmp(first, w.w, P * sizeof *first)) fail_msg("%s: its coins reach the model", solvers[i]);
    free(first);
    tape_free(&t);
    world_close(&w);
  }
  records_free(&r);
}

/* Where every release is forced to 0, margins stay 0 and clean duals come to rest: the last sums vanish.  Duals under
 * noise never rest. */
typedef struct rest {
  int64_t at;
  double late; /* largest sum after release 200 */
} rest;
static void forced_to_zero(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                           int64_t len) {
  (void)event;
  rest *seen = user;
  seen->at++;
  for (int64_t j = 0; j < len; j++) {
    if (seen->at > 200) seen->late = fmax(seen->late, fabs(before[j]) / sensitivity);
    after[j] = 0;
  }
}
static void duals_that_carry_other_records_are_noised_and_those_of_dpscd_are_not(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpscd:batch=6,clip=0.1,epochs=120",
                                        "dpscd:batch=6,clip=0.1,epochs=120,state=paper",
                                        "seqdpscd:batch=4,clip=0.1,epochs=80"};
  records r = records_new(12, P, 8);
  for (int i = 0; i < 3; i++) {
    world w;
    tct_error err = {0};
    rest seen = {0};
    tct_config config = world_config("logistic", "l2:lambda=10", solvers[i]);
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    assert_int_equal(world_run(&w, 1, forced_to_zero, &seen, &err), TCT_OK);
    assert_true(seen.at > 220);
    if ((seen.late > 1e-6) != (i > 0)) fail_msg("%s: duals are %s", solvers[i], i ? "clean" : "noised");
    world_close(&w);
  }
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_record_and_no_person_moves_a_release_further_than_planned),
      cmocka_unit_test(a_solver_sees_rows_within_R_and_labels_within_Y),
      cmocka_unit_test(a_batch_above_the_cap_adds_nothing),
      cmocka_unit_test(releases_alone_make_the_model_whatever_the_coins),
      cmocka_unit_test(duals_that_carry_other_records_are_noised_and_those_of_dpscd_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
