/* fused.h - one step of coordinate descent in one pass: margins move, slopes are clipped, an exact lattice sum.
 *
 * The margins z live here, because their precision is part of the speed: doubles, or floats where the stored
 * values are floats and the caller allows it.  Sums are exact, hence the same for any number of threads.  A record's
 * own term depends on its own numbers and on the deltas so far, and on nothing else.  Margins in floats may differ in
 * their last bits between processors with and without fused multiply-add. */
#ifndef TCT_LA_KERNELS_FUSED_H
#define TCT_LA_KERNELS_FUSED_H
#include "la/matrix/matrix.h"
#include "loss/fused_slope.h"

/* What a step on sparse columns reads of a record, in one cache line. */
typedef struct tct_fused_record {
  double z, y, scale, limit;
} tct_fused_record;

typedef struct tct_fused {
  const tct_view *view; /* dense columns or CSC, borrowed */
  tct_fused_slope slope;
  double h;
  bool single; /* margins and arithmetic in floats */
  bool scaled; /* some row scale is not 1 */
  int threads, level;
  tct_fused_record *record; /* [rows], CSC only: then the arrays below are NULL but for ones */
  bool limited;             /* slopes are bounded by limits */
  /* [rows] each, of the arithmetic's type: */
  void *z;
  const void *y, *scale; /* floats are owned, doubles borrowed; floats only where a row is scaled */
  void *limit;           /* largest slopes, NULL without limits */
  void *ones;            /* the intercept's column, of the stored values' type; NULL without one */
  int64_t pending;       /* the column whose delta has not reached the margins yet, -1 = none */
  double delta;
} tct_fused;

/* What the passes compute and how. */
typedef struct tct_fused_settings {
  tct_fused_slope slope; /* l'(z, y), not TCT_FUSED_NONE */
  double h;              /* the loss's shape, where it has one */
  bool single;           /* margins in floats, where the view has dense columns of floats */
  int threads;           /* at least 1 */
} tct_fused_settings;
/* Margins start at 0.  y[rows] is borrowed. */
tct_status tct_fused_new(const tct_view *view, const double *y, tct_fused_settings set, tct_fused *out, tct_error *err);
void tct_fused_free(tct_fused *f); /* wipes the margins */

/* From now on a record's slopes are bounded instead of its terms: by l_i with sum over j of (l_i*x~_ij*inverse[j])^2 <=
 * 1 for any slopes within it; inverse[p] > 0 and finite.  The clip of tct_fused_sum is then only the bound on a term
 * that its lattice was chosen for: 1/inverse[j] of the column.  fused_limits.c has the proof. */
tct_status tct_fused_limits(tct_fused *f, const double *inverse, tct_error *err);

/* Is the lattice fit for float arithmetic?  Terms are then counted in 32-bit integers: clip/lattice <= 2^20. */
#define TCT_FUSED_SINGLE_TERM 0x1p20

/* The exact sum over rows of lattice * trunc(t_i/lattice), t_i = l'(z_i, y_i) x~_ij clipped to [-clip, clip].
 * lattice is a power of two with rows*clip < 2^52*lattice; single: clip/lattice <= TCT_FUSED_SINGLE_TERM too. The
 * delta of the last tct_fused_move reaches the margins in the same pass. */
double tct_fused_sum(tct_fused *f, int64_t j, double clip, double lattice);
/* w_j has moved by delta: z += delta * column j, done within the next pass. */
void tct_fused_move(tct_fused *f, int64_t j, double delta);
/* Asks the cache for what the sum of column j will read soon; far: only for where the column starts.  No effect on any
 * result. */
void tct_fused_prefetch(const tct_fused *f, int64_t j, bool far);
/* The margins as doubles, all deltas applied: out[rows]. */
void tct_fused_margins(tct_fused *f, double *out);
/* The margins become z[rows]; deltas not yet applied are forgotten. */
void tct_fused_set_margins(tct_fused *f, const double *z);
#endif
