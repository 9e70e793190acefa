/* buckets.c - a dominating pair, bucket by bucket of a grid; a few of its points for forecasts.
 *
 * The density is integrated over each bucket by Gauss-Legendre on panels short against its own scale.  A loss l in the
 * bucket [e, e+h] sends the share (1 - e^-(l-e))/(1 - e^-h) of its mass up.  P's and Q's masses of the bucket are both
 * kept, which makes the result dominate.  Nodes are evaluated in batches, so that the exponentials run along
 * vectors. */
#include "account/curves/compare.h"
#include "account/curves/grid.h"

#include "account/curves/pairs.h"
#include "account/curves/renyi.h"
#include "account/curves/saddle.h"

#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* (1 - e^-f)/(1 - e^-h), 0 <= f <= h, to a few units in the last place of f/h. */
static double share_up(double f, double h) {
  if (h > 0.02) return expm1(-f) / expm1(-h);
  double up = f * (1 - f * (1.0 / 2 - f * (1.0 / 6 - f * (1.0 / 24 - f * (1.0 / 120)))));
  double all = h * (1 - h * (1.0 / 2 - h * (1.0 / 6 - h * (1.0 / 24 - h * (1.0 / 120)))));
  return up / all;
}

static void add_mass(tct_grid *g, int64_t b, double mass, double loss) {
  double f = loss - g->offset - (double)(g->first + b) * g->h;
  double share = share_up(tct_min(tct_max(f, 0), g->h), g->h);
  g->off = tct_max(g->off, tct_max(-f, f - g->h));
  g->up[b] += share * mass;
  g->down[b] += (1 - share) * mass;
}

enum { BATCH = 512, EDGES = 128 };

typedef struct batch {
  tct_grid *grid;
  const tct_pair *pair;
  int64_t len;
  double x[BATCH], weight[BATCH], density[BATCH], loss[BATCH];
  int64_t bucket[BATCH];
} batch;

static void flush(batch *a) {
  a->pair->at(a->pair, a->len, a->x, a->density, a->loss);
  for (int64_t i = 0; i < a->len; i++) add_mass(a->grid, a->bucket[i], a->weight[i] * a->density[i], a->loss[i]);
  a->len = 0;
}

/* Gauss-Legendre with 3 points on panels below 0.03 scales, else 4. */
static void add_panel(batch *a, int64_t b, double from, double to) {
  static const double node[2][4] = {{-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526},
                                    {-0.7745966692414834, 0, 0.7745966692414834, 0}};
  static const double weight[2][4] = {{0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538},
                                      {5.0 / 9, 8.0 / 9, 5.0 / 9, 0}};
  double half = 0.5 * (to - from), middle = 0.5 * (to + from), scale = a->pair->scale;
  int narrow = 2 * half * (1 + tct_max(from, 0) / (2 * scale)) < 0.03 * scale;
  if (a->len + 4 > BATCH) flush(a);
  for (int k = 0; k < 4 - narrow; k++) {
    a->x[a->len] = middle + half * node[narrow][k];
    a->weight[a->len] = half * weight[narrow][k];
    a->bucket[a->len++] = b;
  }
}

/* Panels are at most 0.2 scales wide and shrink towards large losses, where the density falls ever faster and the tilt
 * will raise it.  The quadrature's relative error stays below 1e-13 there, and so does its absolute error on the other
 * side. */
static void add_bucket(batch *a, int64_t b, double from, double to) {
  double scale = a->pair->scale;
  while (from < to) {
    double width = 0.2 * scale / (1 + tct_max(from, 0) / (2 * scale));
    double end = to - from > 1.5 * width ? from + width : to;
    add_panel(a, b, from, end);
    from = end;
  }
}

static void add_continuous(tct_grid *g, const tct_pair *f) {
  batch a = {.grid = g, .pair = f};
  double loss[EDGES], x[EDGES], from = f->low;
  /* Bucket -1 ends at edge 0: what lies below it is left to the masses beyond the range. */
  for (int64_t start = 0; start <= g->len; start += EDGES) {
    int64_t count = g->len + 1 - start < EDGES ? g->len + 1 - start : EDGES;
    for (int64_t i = 0; i < count; i++) loss[i] = g->offset + (double)(g->first + start + i) * g->h;
    f->x_of(f, count, loss, x);
    for (int64_t i = 0; i < count; i++) {
      double to = tct_min(f->high, x[i]);
      if (!(to > from)) continue;
      if (start + i > 0) add_bucket(&a, start + i - 1, from, to);
      from = to;
    }
  }
  if (a.len > 0) flush(&a);
}

static void add_atom(tct_grid *g, double loss, double mass) {
  /* Within the rounding of the loss itself (which the accountant adds to epsilon) it is on the point. */
  double nearest = g->offset + g->h * round((loss - g->offset) / g->h);
  if (fabs(loss - nearest) <= 4 * DBL_EPSILON * fabs(loss)) loss = nearest;
  int64_t b = (int64_t)floor((loss - g->offset) / g->h + 1e-9) - g->first; /* representable: grid_between saw to it */
  if (b < 0) b = 0;
  if (b >= g->len) b = g->len - 1;
  add_mass(g, b, mass, loss);
}

bool tct_event_law_is_real(const tct_event *e) {
  return e->kind != TCT_EV_EXPONENTIAL && e->kind != TCT_EV_OBJPERT && e->kind != TCT_EV_ZCDP;
}

bool tct_event_two_ways(const tct_event *event, tct_neighbours neighbours) {
  return event->kind == TCT_EV_SAMPLED_GAUSSIAN && neighbours == TCT_ADD_REMOVE && event->rate < 1;
}

static void range_of(const tct_pair *f, double *low, double *high) {
  double x[2] = {f->low, f->high}, density[2], loss[2];
  f->at(f, 2, x, density, loss);
  *low = loss[0];
  *high = loss[1];
}

void tct_event_loss_range(const tct_event *event, tct_neighbours neighbours, double tail, double *low, double *high) {
  tct_pair f;
  tct_pair_of(event, neighbours, tail, &f);
  range_of(&f, low, high);
}

/* Trapezoids over x.  Endpoints count fully, which the forecast of a short list does not mind; where the sum over all
 * repetitions is off by much, it is set right. */
tct_status tct_event_nodes(const tct_event *event, tct_neighbours neighbours, double tail, bool reversed, double h,
                           tct_nodes *out, tct_error *err) {
  enum { POINTS = TCT_NODES / 2 - 2 };
  double x[POINTS];
  tct_pair f;
  tct_pair_of(event, neighbours, tail, &f);
  int64_t points = f.weight > 0 ? POINTS : 0;
  *out =
      (tct_nodes){TCT_NEW(double, TCT_NODES), TCT_NEW(double, TCT_NODES), points + f.atoms, event->count, f.atoms > 0};
  if (!out->loss || !out->mass) return tct_nodes_free(out), tct_fail_memory(err);
  double step = (f.high - f.low) / (POINTS - 1), sum = 0, continuous = 1 - f.infinite;
  for (int64_t i = 0; i < points; i++) x[i] = f.low + step * (double)i;
  if (points) f.at(&f, points, x, out->mass, out->loss);
  for (int64_t i = 0; i < points; i++) sum += out->mass[i] *= step;
  for (int i = 0; i < f.atoms; i++) {
    out->loss[points + i] = f.atom_loss[i];
    continuous -= out->mass[points + i] = f.atom_mass[i];
  }
  if (points && fabs(sum - continuous) * (double)event->count > 0.5) {
    sum -= 0.5 * (out->mass[0] + out->mass[points - 1]);
    out->mass[0] *= 0.5, out->mass[points - 1] *= 0.5;
    for (int64_t i = 0; i < points; i++) out->mass[i] *= continuous / sum;
  }
  for (int64_t i = 0; i < out->len && reversed; i++) {
    out->mass[i] *= exp(-out->loss[i]);
    out->loss[i] = -out->loss[i];
  }
  for (int64_t i = 0; i < out->len && h > 0; i++) {
    double below = h * floor(out->loss[i] / h), up = share_up(out->loss[i] - below, h);
    out->loss[out->len + i] = below + h;
    out->mass[out->len + i] = out->mass[i] * up;
    out->loss[i] = below;
    out->mass[i] *= 1 - up;
  }
  if (h > 0) out->len *= 2;
  return TCT_OK;
}

void tct_nodes_free(tct_nodes *nodes) {
  tct_free(nodes->loss);
  tct_free(nodes->mass);
  memset(nodes, 0, sizeof *nodes);
}

/* (Q, P) instead of (P, Q): the loss changes sign, and mass e^-l dP is Q's. */
static void reverse(tct_grid *g) {
  int64_t n = g->len;
  for (int64_t b = 0; b < n; b++) {
    double low = g->offset + (double)(g->first + b) * g->h, up = g->up[b];
    g->up[b] = g->down[b] * exp(-low);
    g->down[b] = up * exp(-low - g->h);
  }
  for (int64_t b = 0; b < n / 2; b++) {
    double up = g->up[b], down = g->down[b];
    g->up[b] = g->up[n - 1 - b], g->down[b] = g->down[n - 1 - b];
    g->up[n - 1 - b] = up, g->down[n - 1 - b] = down;
  }
  g->first = -(g->first + n);
  g->offset = -g->offset;
  double high_p = g->low_q;
  g->low_q = g->high_p;
  g->low_p = g->high_q;
  g->high_p = high_p;
}

/* More points than any width in use gives. */
static const double max_points = 1 << 24;

/* Held against the closed form at some 30 edges.  The sum from above is as exact relatively as its parts. */
static bool masses_agree(const tct_grid *g, const tct_pair *f) {
  int64_t stride = g->len / 32 + 1;
  double sum = f->above(f, f->high);
  for (int64_t b = g->len - 1; b >= 0; b--) {
    double edge = g->offset + (double)(g->first + b) * g->h, x;
    sum += g->down[b] + g->up[b];
    if (b % stride) continue;
    f->x_of(f, 1, &edge, &x);
    if (!(x > f->low)) break;
    double above = f->above(f, tct_min(x, f->high));
    if (!(fabs(sum - above) <= 1e-11 * above + 1e-290)) return false;
  }
  return true;
}

/* Then one empty bucket stands for it, of which nothing is proved. */
static bool no_grid(const tct_grid_shape *shape, const double range[2]) {
  double from = (range[0] - shape->offset) / shape->h, to = (range[1] - shape->offset) / shape->h;
  return !(shape->h > 0) || !(fabs(from) < 0x1p50) || !(fabs(to) < 0x1p50) || !(to - from < max_points);
}

static tct_status grid_between(const tct_pair *f, const tct_grid_shape *shape, const double range[2], bool whole,
                               tct_grid *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  out->h = shape->h;
  out->offset = shape->offset;
  if (no_grid(shape, range)) {
    out->h = out->len = 1, out->offset = 0;
    out->down = TCT_NEW(double, 1), out->up = TCT_NEW(double, 1);
    return out->down && out->up ? TCT_OK : (tct_grid_free(out), tct_fail_memory(err));
  }
  out->first = (int64_t)floor((range[0] - shape->offset) / shape->h) - 1;
  out->len = (int64_t)ceil((range[1] - shape->offset) / shape->h) + 1 - out->first;
  out->down = TCT_NEW(double, out->len);
  out->up = TCT_NEW(double, out->len);
  if (!out->down || !out->up) return tct_grid_free(out), tct_fail_memory(err);
  if (f->weight > 0) add_continuous(out, f);
  double max = 1 + tct_max(fabs(range[0]), fabs(range[1]));
  out->proved = out->off <= TCT_LOSS_MARGIN * max;
  if (whole && f->weight > 0) out->proved = out->proved && masses_agree(out, f);
  for (int i = 0; i < f->atoms; i++) add_atom(out, f->atom_loss[i], f->atom_mass[i]);
  out->infinite = f->infinite;
  return TCT_OK;
}

tct_status tct_grid_new(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape, tct_grid *out,
                        tct_error *err) {
  tct_pair f;
  tct_grid_shape upright = *shape;
  double range[2];
  tct_pair_of(event, neighbours, shape->tail, &f);
  if (shape->reversed) upright.offset = -shape->offset;
  range_of(&f, &range[0], &range[1]);
  if (event->kind == TCT_EV_OBJPERT) range[0] = tct_min(range[0], event->shift);
  TCT_TRY(grid_between(&f, &upright, range, true, out, err));
  out->high_p = f.high_p, out->high_q = f.high_q;
  out->low_p = f.low_p, out->low_q = f.low_q;
  if (shape->reversed) reverse(out);
  return TCT_OK;
}

tct_status tct_grid_of_atoms(int64_t n, const double *loss, const double *mass, tct_grid_shape shape, tct_grid *out,
                             tct_error *err) {
  tct_pair none = {0};
  TCT_TRY(grid_between(&none, &shape, (double[]){loss[0], loss[n - 1]}, false, out, err));
  for (int64_t i = 0; i < n && out->proved; i++) add_atom(out, loss[i], mass[i]);
  return TCT_OK;
}

static bool has_atoms(const tct_event *e) { return tct_event_is_pure(e) && e->kind != TCT_EV_EXPONENTIAL; }

/* 25 ns for each of 4 nodes of a panel (add_bucket), 40 for a bucket. */
double tct_grid_work(const tct_event *event, tct_neighbours neighbours, double h, double tail) {
  tct_pair f;
  double low, high;
  tct_pair_of(event, neighbours, tail, &f);
  range_of(&f, &low, &high);
  double far = tct_max(f.high, 0), near = tct_max(f.low, 0);
  double panels = (f.high - f.low + (far * far - near * near) / (4 * f.scale)) / (0.2 * f.scale);
  return (f.weight > 0 ? 100 * panels : 0) + (f.weight > 0 ? 140 : 40) * (high - low) / h;
}

double tct_grid_more_work(const tct_event *event, double work) {
  enum { TRIES = 33, OF_TRY = 50000 }; /* 150 buckets of 240, and the panels of nine deviations */
  bool sampled = event->kind == TCT_EV_SAMPLED_GAUSSIAN && event->rate < 1;
  return (sampled || event->kind == TCT_EV_OBJPERT ? work : 0) + (sampled ? TRIES * tct_min(work, OF_TRY) : 0);
}

/* Mean loss that the lower law of the bulk proves; the larger the tighter. */
static tct_status bulk_mean(const tct_pair *f, const tct_grid_shape *shape, const double range[2], double *mean,
                            tct_error *err) {
  tct_grid grid;
  tct_pmf pmf;
  TCT_TRY(grid_between(f, shape, range, false, &grid, err));
  if (shape->reversed) reverse(&grid);
  tct_status status = tct_pmf_lower(&grid, 1, &pmf, err);
  tct_grid_free(&grid);
  if (status != TCT_OK) return status;
  double sum = 0, mass = 0;
  for (int64_t i = 0; i < pmf.len; i++) {
    sum += pmf.p[i] * (pmf.offset + pmf.h * (double)(pmf.first + i));
    mass += pmf.p[i];
  }
  *mean = sum / mass;
  tct_pmf_free(&pmf);
  return TCT_OK;
}

static tct_status mean_at(const tct_pair *f, const tct_grid_shape *shape, const double range[2], double offset,
                          double *mean, tct_error *err) {
  tct_grid_shape tried = *shape;
  tried.offset = offset;
  return bulk_mean(f, &tried, range, mean, err);
}

/* Atoms are put on grid points.  A sampled gaussian's bulk may be only a few buckets wide, and then the two runs of
 * tct_pmf_lower meet without a rest at some offsets only.  So 12 offsets are tried on the bulk alone, and then a golden
 * section about the best.  What is left over falls linearly to 0 there, and counts once per step.  Where the bulk spans
 * many buckets the rest is negligible. */
tct_status tct_best_offset(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape,
                           double *offset, tct_error *err) {
  double h = shape->h, range[2], best = -INFINITY, at = 0, width = h / 12, mean;
  *offset = 0;
  if (has_atoms(event)) {
    double epsilon = tct_event_pure_epsilon(event, neighbours);
    return *offset = epsilon - h * floor(epsilon / h), TCT_OK;
  }
  if (event->kind != TCT_EV_SAMPLED_GAUSSIAN || event->rate == 1) return TCT_OK;
  tct_pair f;
  tct_pair_of(event, neighbours, shape->tail, &f);
  double x[4] = {tct_max(f.low, -5 * f.s), 4 * f.s, -f.s, f.s}, unused[4], loss[4];
  f.at(&f, 4, x, unused, loss);
  if (loss[3] - loss[2] > 30 * h) return TCT_OK;
  range[0] = loss[0];
  range[1] = tct_min(loss[1], loss[0] + 150 * h);
  f.low = x[0];
  f.x_of(&f, 1, &range[1], &x[1]);
  f.high = tct_min(f.high, x[1]);
  for (int i = 0; i < 12; i++) {
    TCT_TRY(mean_at(&f, shape, range, width * i, &mean, err));
    if (mean > best) best = mean, at = width * i;
  }
  double low = at - width, high = at + width, golden = 0.6180339887498949;
  double x1 = high - golden * (high - low), x2 = low + golden * (high - low), y1, y2;
  TCT_TRY(mean_at(&f, shape, range, x1, &y1, err));
  TCT_TRY(mean_at(&f, shape, range, x2, &y2, err));
  while (high - low > 2e-5 * h) {
    bool left = y1 > y2;
    if (tct_max(y1, y2) > best) best = tct_max(y1, y2), at = left ? x1 : x2;
    if (left)
      high = x2, x2 = x1, y2 = y1, x1 = high - golden * (high - low);
    else
      low = x1, x1 = x2, y1 = y2, x2 = low + golden * (high - low);
    TCT_TRY(mean_at(&f, shape, range, left ? x1 : x2, left ? &y1 : &y2, err));
  }
  if (shape->reversed) at = -at; /* offsets of the law asked for, not of its mirror image */
  *offset = at;
  return TCT_OK;
}
