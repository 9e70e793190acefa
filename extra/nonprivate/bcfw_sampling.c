/* bcfw_sampling.c - the blocks of bcfw, and the five ways to draw some of them.
 *
 * Sets are drawn afresh at each step, independently of the past, and every block has a positive probability: the two
 * things that the theorem asks of a sampling.  Its p_min is the least of these probabilities:
 *   elementary 1, serial 1/d, nice tau/d, distributed tau/(most blocks that a party has), arbitrary min p_i. */
#include "nonprivate/bcfw.h"

#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

const tct_option tct_bcfw_options[] = {
    {"blocks", TCT_OPT_COUNT, "auto", 1, 1e9, NULL, "d, runs of coordinates of equal length; auto: box p, l1ball 1"},
    {"radii", TCT_OPT_TEXT, "auto", 0, 0, NULL,
     "each l1 block's share of the radius, separated by /; auto: equal shares"},
    {"shape", TCT_OPT_CHOICE, "ball", 0, 0, "ball|simplex",
     "of an l1 block: the ball, or its face of weights >= 0 that add up to the radius"},
    {"sampling", TCT_OPT_CHOICE, "elementary", 0, 0, "elementary|serial|nice|distributed|arbitrary",
     "all blocks; one; tau of all; tau of each party's; each by its probability"},
    {"tau", TCT_OPT_COUNT, "1", 1, 1e9, NULL, "blocks drawn at a time (nice), or from each party (distributed)"},
    {"parties", TCT_OPT_COUNT, "2", 1, 1e9, NULL,
     "K, sampling=distributed: parties with runs of blocks of equal length"},
    {"probabilities", TCT_OPT_TEXT, "0.5", 0, 0, NULL,
     "sampling=arbitrary: one probability or one per block, separated by /"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 1e12, NULL, "T; auto: 5000 over p_min"},
    {"step", TCT_OPT_CHOICE, "schedule", 0, 0, "schedule|search", "gamma: 2/(p_min t + 2), or exact line search"},
    {"gradient_error", TCT_OPT_REAL, "0", 0, 1e9, NULL,
     "for tests: each coordinate of a gradient is off by this times gamma, to the worse side"},
    {"oracle_error", TCT_OPT_REAL, "0", 0, 1e9, NULL,
     "for tests: a block's vertex is worse than the best by this times gamma"},
    {"tol", TCT_OPT_REAL, "0", 0, 1e9, NULL, "Frank-Wolfe gap to reach; 0: all steps are made"},
    {0},
};

/* One number or `count` numbers in (0, 1], separated by /. */
static tct_status list(const char *text, const char *key, int64_t count, double *out, tct_error *err) {
  int64_t found = 0;
  for (const char *at = text; *at;) {
    char one[40] = "", *end = strchr(at, '/');
    size_t length = end ? (size_t)(end - at) : strlen(at);
    double value = 0;
    if (length < sizeof one) memcpy(one, at, length);
    if (!tct_parse_real(one, &value) || !(value > 0 && value <= 1) || found >= count)
      return tct_fail(err, TCT_E_USAGE, "bcfw: %s must be one number in (0, 1], or one per block; correct it", key);
    out[found++] = value;
    at += length + (end ? 1 : 0);
  }
  if (found != 1 && found != count)
    return tct_fail(err, TCT_E_USAGE, "bcfw: %s must be one number in (0, 1], or one per block; correct it", key);
  for (int64_t k = 1; k < count && found == 1; k++) out[k] = out[0];
  return TCT_OK;
}

static tct_status radii(const tct_facts *facts, const tct_spec *spec, tct_bcfw *b, tct_error *err) {
  const tct_option *o = tct_bcfw_options;
  double sum = 0;
  for (int64_t k = 0; k < b->blocks; k++) b->radius[k] = 1 / (double)b->blocks;
  if (!tct_spec_auto(spec, o, "radii"))
    TCT_TRY(list(tct_spec_text(spec, o, "radii"), "radii", b->blocks, b->radius, err));
  for (int64_t k = 0; k < b->blocks; k++) sum += b->radius[k];
  if (!b->box && sum > 1 + 1e-9)
    return tct_fail(err, TCT_E_USAGE,
                    "bcfw: the radii add up to more than 1 and would leave the ball; give smaller ones");
  for (int64_t k = 0; k < b->blocks; k++) b->radius[k] *= facts->penalty.radius;
  return TCT_OK;
}

/* The first of `parts` equal runs of `count` things is [edge(0), edge(1)), and so on. */
static int64_t edge(int64_t k, int64_t count, int64_t parts) {
  return count / parts * k + (k < count % parts ? k : count % parts);
}

static tct_status probabilities(const tct_spec *spec, tct_bcfw *b, tct_error *err) {
  double d = (double)b->blocks, equal = 1;
  if (b->sampling == TCT_BCFW_SERIAL) equal = 1 / d;
  if (b->sampling == TCT_BCFW_NICE) equal = (double)b->tau / d;
  for (int64_t k = 0; k < b->blocks; k++) b->probability[k] = equal;
  for (int64_t party = 0; party < b->parties && b->sampling == TCT_BCFW_DISTRIBUTED; party++) {
    int64_t from = edge(party, b->blocks, b->parties), to = edge(party + 1, b->blocks, b->parties);
    if (b->tau > to - from)
      return tct_fail(err, TCT_E_USAGE, "bcfw: a party has fewer than tau blocks; give a smaller tau or more blocks");
    for (int64_t k = from; k < to; k++) b->probability[k] = (double)b->tau / (double)(to - from);
  }
  if (b->sampling == TCT_BCFW_ARBITRARY)
    TCT_TRY(
        list(tct_spec_text(spec, tct_bcfw_options, "probabilities"), "probabilities", b->blocks, b->probability, err));
  b->min = 1;
  for (int64_t k = 0; k < b->blocks; k++) b->min = fmin(b->min, b->probability[k]);
  return TCT_OK;
}

static tct_status domain(const tct_facts *facts, const tct_spec *spec, tct_bcfw *b, tct_error *err) {
  b->box = facts->penalty.kind->box;
  if (!b->box && !facts->penalty.kind->cross_polytope)
    return tct_fail(err, TCT_E_USAGE,
                    "bcfw needs a bounded domain; give {penalty l1ball:radius=... or box:low=...,high=...}");
  b->simplex = tct_spec_is(spec, tct_bcfw_options, "shape", "simplex");
  if (b->box && b->simplex)
    return tct_fail(err, TCT_E_USAGE, "bcfw: shape is for l1 balls; drop it, or give {penalty l1ball:radius=...}");
  b->blocks = tct_spec_count(spec, tct_bcfw_options, "blocks");
  if (b->blocks < 0) b->blocks = b->box ? facts->p : 1;
  if (b->blocks > facts->p)
    return tct_fail(err, TCT_E_USAGE, "bcfw: there are more blocks than coordinates; give fewer blocks");
  if (b->blocks == 1 && !b->box && b->sampling != TCT_BCFW_ELEMENTARY)
    return tct_fail(
        err, TCT_E_USAGE,
        "on a single l1 ball only elementary sampling is sound; give blocks above 1 or sampling=elementary");
  if (b->tau > b->blocks)
    return tct_fail(err, TCT_E_USAGE, "bcfw: tau is above the number of blocks; give a smaller tau");
  return TCT_OK;
}

static tct_status fill(const tct_facts *facts, const tct_spec *spec, tct_bcfw *b, tct_error *err) {
  const tct_option *o = tct_bcfw_options;
  static const char *const names[] = {"elementary", "serial", "nice", "distributed", "arbitrary"};
  for (int k = 0; k < 5; k++)
    if (tct_spec_is(spec, o, "sampling", names[k])) b->sampling = (tct_bcfw_sampling)k;
  b->tau = tct_spec_count(spec, o, "tau");
  b->parties = tct_spec_count(spec, o, "parties");
  b->tol = tct_spec_real(spec, o, "tol");
  b->search = tct_spec_is(spec, o, "step", "search");
  b->gradient_error = tct_spec_real(spec, o, "gradient_error");
  b->oracle_error = tct_spec_real(spec, o, "oracle_error");
  TCT_TRY(domain(facts, spec, b, err));
  b->start = TCT_NEW(int64_t, b->blocks + 1), b->radius = TCT_NEW(double, b->blocks);
  b->probability = TCT_NEW(double, b->blocks), b->order = TCT_NEW(int64_t, b->blocks);
  b->drawn = TCT_NEW(int64_t, b->blocks);
  if (!b->start || !b->radius || !b->probability || !b->order || !b->drawn) return tct_fail_memory(err);
  for (int64_t k = 0; k <= b->blocks; k++) b->start[k] = edge(k, facts->p, b->blocks);
  for (int64_t k = 0; k < b->blocks; k++) b->order[k] = k;
  TCT_TRY(radii(facts, spec, b, err));
  TCT_TRY(probabilities(spec, b, err));
  b->steps = tct_spec_count(spec, o, "steps");
  if (b->steps < 0) b->steps = (int64_t)ceil(5000 / b->min);
  return TCT_OK;
}

tct_status tct_bcfw_new(const tct_facts *facts, const tct_spec *spec, tct_bcfw *out, tct_error *err) {
  *out = (tct_bcfw){0};
  tct_status status = fill(facts, spec, out, err);
  if (status != TCT_OK) tct_bcfw_free(out);
  return status;
}

void tct_bcfw_free(tct_bcfw *b) {
  tct_free(b->start);
  tct_free(b->radius);
  tct_free(b->probability);
  tct_free(b->order);
  tct_free(b->drawn);
  b->start = b->order = b->drawn = NULL;
  b->radius = b->probability = NULL;
}

/* tau of order[from..to), uniformly without repetition: the first steps of a Fisher-Yates shuffle. */
static int64_t some(tct_bcfw *b, tct_mech *mech, int64_t from, int64_t to, int64_t tau, int64_t *out) {
  for (int64_t k = 0; k < tau; k++) {
    int64_t at = from + k + (int64_t)tct_mech_public(mech, b->coins++, (uint64_t)(to - from - k));
    int64_t taken = b->order[at];
    b->order[at] = b->order[from + k];
    b->order[from + k] = taken;
    out[k] = taken;
  }
  return tau;
}

int64_t tct_bcfw_draw(tct_bcfw *b, tct_mech *mech) {
  int64_t count = 0;
  switch (b->sampling) {
    case TCT_BCFW_SERIAL: return some(b, mech, 0, b->blocks, 1, b->drawn);
    case TCT_BCFW_NICE: return some(b, mech, 0, b->blocks, b->tau, b->drawn);
    case TCT_BCFW_DISTRIBUTED:
      for (int64_t k = 0; k < b->parties; k++)
        count +=
            some(b, mech, edge(k, b->blocks, b->parties), edge(k + 1, b->blocks, b->parties), b->tau, b->drawn + count);
      return count;
    case TCT_BCFW_ARBITRARY:
      for (int64_t k = 0; k < b->blocks; k++) { /* a coin of 2^53 sides: far finer than the figures of a bound */
        double u = (double)tct_mech_public(mech, b->coins++, (uint64_t)1 << 53) * 0x1p-53;
        if (u < b->probability[k]) b->drawn[count++] = k;
      }
      return count;
    case TCT_BCFW_ELEMENTARY: break;
  }
  for (int64_t k = 0; k < b->blocks; k++) b->drawn[k] = k;
  return b->blocks;
}
