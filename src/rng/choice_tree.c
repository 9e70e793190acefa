/* choice_tree.c - the exponential mechanism's choice from scores that change a few at a time, exactly.
 *
 * DISTRIBUTION  That of exponential_choice.c: P[j] = exp(u score_j) / sum_i exp(u score_i), u = epsilon'/(2 change)
 * (epsilon'/change if monotone), u the same number rounded down to 63 bits.
 *
 * PROOF  (1) Levels.  With h = H*lattice, H the least integer with u h >= 1, candidate j has the level
 * L_j = ceil(score_j/h), an integer computed exactly.  With T the highest level, i_j = T - L_j >= 0 and
 * gamma_j = u (h T - score_j) >= u h i_j >= i_j.  As exp(-gamma_j) = exp(-u h T) exp(u score_j) exactly, T cancels in
 * P[j], and so a candidate proposed with probability ~ 2^-i_j and accepted with probability
 * (2/e)^i_j exp(-(gamma_j - i_j)) has the law P.  Scores and h are at most 2^51 lattices, so h T - score_j is a
 * multiple of the lattice below 2^53 of them: a double.  Where H would be above 2^51 (u so small that gamma < 2 for
 * all), all candidates share one level: T h becomes 2^51*lattice, and i_j = 0. (2) Proposals.  A node holds the highest
 * level `top` below it, and an integer `sum`: a leaf LEAF, an inner node s'_a + s'_b, where s'_x = ceil(s_x/2^d_x), d_x
 * = top - top_x.  From the root, go to a child with probability s'_x/s, and toss a coin s_x/(2^d_x s'_x) <= 1: a
 * failure ends the trial.  The two together are s_x/(2^d_x s), and along a path to a leaf the product telescopes to
 * LEAF/s_root * 2^-(T - L_j): proportional to 2^-i_j without any rounding, whatever the spread of the levels.  Trials
 * that fail are independent of what comes after them. Nodes depend on the levels as they are, not on how they came
 * about.
 *
 * ROUNDING  None but that of u.  Sums stay below 2^63: leaves*LEAF <= 2^62, and each rounding up adds less than 1.
 * A coin of probability 2^-4000 or less counts as one of that size.
 * Running time depends on the scores; only the choice is promised to be private. */
#include "core/alloc.h"

#include "core/point.h"
#include "rng/coins.h"

#include <math.h>

static const uint64_t LEAF = (uint64_t)1 << 32; /* rounding up inflates sums by at most count * 2^-32 of a top leaf */
static const int64_t MOST = (int64_t)1 << 30;
static const double WIDEST = 0x1p51; /* in lattices; a score is no larger either */

static const double MAGIC = 0x1.8p52; /* adding it rounds what is at most 2^51 in size to an integer */

/* The least H with u * H*lattice >= 1; above WIDEST where no such H is worth having. */
static double width(tct_dyadic u, double lattice) {
  int x = 0;
  frexp(lattice, &x); /* lattice = 2^(x-1) */
  int q = -(u.exponent + x - 1);
  if (u.mantissa == 0 || q >= 120) return 2 * WIDEST;
  if (q <= 0) return 1;
  tct_u128 h = (((tct_u128)1 << q) + u.mantissa - 1) / u.mantissa;
  return h > (tct_u128)1 << 51 ? 2 * WIDEST : (double)h;
}

static int64_t level_of(const tct_choice_tree *t, double score) {
  if (t->flat) return 0;
  int64_t k = (int64_t)(score / t->lattice), h = (int64_t)(t->unit / t->lattice);
  return k > 0 ? (k + TCT_POINT(tree_levels_rounded_down, h - 1, 0)) / h : -(-k / h);
}

static uint64_t shifted(const tct_choice_node *child, int64_t top) {
  int64_t d = top - child->top;
  if (child->sum == 0 || d == 0) return child->sum;
  return d >= 63 ? 1 : ((child->sum - 1) >> d) + 1;
}

static tct_choice_node join(const tct_choice_node *a, const tct_choice_node *b) {
  tct_choice_node n = {.top = b->sum == 0 || (a->sum != 0 && a->top > b->top) ? a->top : b->top};
  n.sum = shifted(a, n.top) + shifted(b, n.top);
  return n;
}

tct_status tct_choice_tree_new(int64_t count, double epsilon, double change, bool monotone, double lattice,
                               tct_choice_tree *out, tct_error *err) {
  *out = (tct_choice_tree){.count = count, .epsilon = epsilon, .change = change, .lattice = lattice};
  out->inverse = 1 / lattice;
  out->monotone = monotone;
  if (count < 1 || count > MOST)
    return tct_fail(err, TCT_E_USAGE, "a private choice has too many candidates; use fewer than 2^30");
  for (out->leaves = 1; out->leaves < count;) out->leaves *= 2;
  double h = width(tct_choice_rate(epsilon, change, monotone), lattice);
  out->flat = h > WIDEST;
  out->unit = lattice * (out->flat ? WIDEST : h);
  out->score = TCT_NEW(double, count);
  out->node = TCT_NEW(tct_choice_node, 2 * out->leaves);
  if (!out->score || !out->node) {
    tct_choice_tree_free(out);
    return tct_fail_memory(err);
  }
  for (int64_t j = 0; j < count; j++) out->node[out->leaves + j].sum = LEAF;
  for (int64_t v = out->leaves - 1; v > 0; v--) out->node[v] = join(&out->node[2 * v], &out->node[2 * v + 1]);
  return TCT_OK;
}

void tct_choice_tree_free(tct_choice_tree *tree) {
  tct_wipe_free(tree->score, tree->count, sizeof *tree->score);
  tct_wipe_free(tree->node, 2 * tree->leaves, sizeof *tree->node);
  tree->score = NULL;
  tree->node = NULL;
}

void tct_choice_tree_set(tct_choice_tree *tree, int64_t j, double score) {
  double k = score * tree->inverse;
  int64_t v = tree->leaves + j;
  tree->off |= !(fabs(k) <= WIDEST) || (k + MAGIC) - MAGIC != k;
  tree->score[j] = score;
  if (tree->flat || tree->off) return;
  double above = (double)tree->node[v].top * tree->unit; /* exact: a multiple of the lattice, at most 2^52 of them */
  if (score <= above && score > above - TCT_POINT(tree_remembers_old_levels, tree->unit, 2 * tree->unit)) return;
  tree->node[v].top = level_of(tree, score);
  for (v /= 2; v > 0; v /= 2) {
    tct_choice_node n = join(&tree->node[2 * v], &tree->node[2 * v + 1]);
    if (n.top == tree->node[v].top && n.sum == tree->node[v].sum) return;
    tree->node[v] = n;
  }
}

/* Bernoulli(s/(2^d s')), s' = ceil(s/2^d) */
static bool coin_rounding(tct_stream *stream, uint64_t s, int64_t d, uint64_t up) {
  if (d == 0) return true;
  if (d >= 63) return tct_coin_dyadic(stream, (tct_dyadic){s, d > 4096 ? -4096 : (int)-d}); /* 2^-4000 is never */
  uint64_t whole = up << d;                                                                 /* below s + 2^d < 2^64 */
  return whole == s || tct_stream_below(stream, whole) < s;
}

/* A leaf, or -1 for a trial that failed.  Where no coin is tossed the ticket serves the next node too: given the way it
 * went, it is uniform below that node's sum. */
static int64_t propose(const tct_choice_tree *tree, tct_stream *s) {
  uint64_t ticket = tct_stream_below(s, tree->node[1].sum);
  int64_t v = 1;
  while (v < tree->leaves) {
    int64_t top = tree->node[v].top;
    uint64_t left = shifted(&tree->node[2 * v], top);
    bool right = ticket >= left;
    v = 2 * v + right;
    ticket -= right ? left : 0;
    int64_t d = top - tree->node[v].top;
    if (d == 0) continue;
    if (!coin_rounding(s, tree->node[v].sum, d, shifted(&tree->node[v], top))) return -1;
    ticket = tct_stream_below(s, tree->node[v].sum);
  }
  return v - tree->leaves;
}

int64_t tct_choice_tree_draw(const tct_choice_tree *tree, tct_stream *s) {
  tct_dyadic u = tct_choice_rate(tree->epsilon, tree->change, tree->monotone);
  double ceiling = tree->flat ? tree->unit : (double)tree->node[1].top * tree->unit;
  for (;;) {
    int64_t j = propose(tree, s);
    if (j < 0) continue;
    int64_t level = tree->node[1].top - tree->node[tree->leaves + j].top;
    bool in = true;
    for (int64_t i = 0; i < level && in; i++) in = tct_coin_two_over_e(s);
    if (in && TCT_POINT(tree_accepts_what_is_proposed,
                        tct_coin_exp_times(s, ceiling - tree->score[j], u, (uint64_t)level), 1))
      return j;
  }
}
