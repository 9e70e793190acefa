/* linear.h - every linear model of a table from its released moments: functions of what was released, of nothing else.
 *
 * Columns are the table's own as its schema transforms them, and the ones, the last of q.  Errors are of two kinds:
 * what the noise of the release does, known to first order, and who happens to be in the table.  The latter have the
 * elliptic form: in each shell records are as long in every direction as its moments say.  They are no shorter than a
 * normal law's.  Where fourth moments were released they are robust for every model. */
#ifndef TCT_LINEAR_LINEAR_H
#define TCT_LINEAR_LINEAR_H
#include "solve/shared/moments.h"

#include <jansson.h>

typedef struct tct_linear {
  const tct_moments *moments; /* without a label; borrowed */
  int64_t q;
  double count;   /* n, or what was released of it */
  double *gram;   /* [q][q]: of all columns */
  double *back;   /* [q][q], lower triangular: a column is back z */
  double *white;  /* [q][q], lower triangular: z is white times such that second moments are 1 */
  double *fourth; /* [d][d], d = q (q + 1)/2: fourth moments of those, at least a normal law's; NULL: unknown */
  /* Of each shell: N, what its squares count and what of them is not cut in fourth, and mean[shells][q] in z. */
  double records[TCT_SHELLS], part[TCT_SHELLS], left[TCT_SHELLS], *mean;
  double *work; /* [9q] */
} tct_linear;

/* rows: n.  Records with weights, or left out, are fewer: their number is then that of the release.  TCT_E_RUN: noise
 * has left none. */
tct_status tct_linear_new(const tct_moments *moments, int64_t rows, tct_linear *out, tct_error *err);
void tct_linear_free(tct_linear *linear);

/* The model of one column by others and, last, the ones. */
typedef struct tct_linear_model {
  int64_t count;       /* of weights, the constant too */
  double *w;           /* [count] */
  double *residual_of; /* [q]: the residual as a sum of columns */
  double *move;        /* [count][q]: moments that move by N move w by move N residual_of, to first order */
  double *noise;       /* [count][count]: covariance of w from the noise of the release */
  double *sampling;    /* [count][count]: from who is in the table */
  double ridge;        /* lambda of the penalty lambda/2 |slopes|^2 beside half the mean square */
  double residual;     /* deviation of residuals */
  double r2, r2_noise; /* explained part of the variance, and its own deviation by noise */
  double shrunk;       /* what slopes are to be multiplied with for prediction: the part of them that is hardly noise */
  double cut;          /* the part of the residual's variance in the last shell, where longer records are cut */
} tct_linear_model;
/* label, column[slopes]: numbers below q - 1, all different.  TCT_E_USAGE: they are not. */
tct_status tct_linear_fit(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes, double ridge,
                          tct_linear_model *out, tct_error *err);
void tct_linear_model_free(tct_linear_model *model);
/* The same of two models of one release, which share its noise and its records: noise, sampling [a's][b's] <- the
 * covariances of their weights, by move and residual_of. */
tct_status tct_linear_joint(const tct_linear *linear, const tct_linear_model *a, const tct_linear_model *b,
                            double *noise, double *sampling, tct_error *err);

/* For penalties of a grid: what prediction loses, by Mallows' Cp that counts the noise of the release as well. */
enum { TCT_LINEAR_RIDGES = 49 };
typedef struct tct_linear_path {
  double ridge[TCT_LINEAR_RIDGES], risk[TCT_LINEAR_RIDGES]; /* of the mean square, less what no penalty changes */
  int best;
} tct_linear_path;
tct_status tct_linear_ridge(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes,
                            tct_linear_path *out, tct_error *err);

enum { TCT_LINEAR_SUBSETS = 1000000 };
/* For each number of columns up to `most` those of the candidates that explain most: best[most][most], r2[most], both
 * the caller's.  TCT_E_USAGE: they have more than TCT_LINEAR_SUBSETS subsets. */
typedef struct tct_linear_subsets {
  int64_t most, *best;
  double *r2;
} tct_linear_subsets;
tct_status tct_linear_best(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes,
                           const tct_linear_subsets *out, tct_error *err);

/* Are the last `fewer` slopes of the model 0?  Wald's statistic, which is chi^2 of `fewer` degrees if they are. */
typedef struct tct_linear_wald {
  double statistic, p;
  int64_t degrees;
} tct_linear_wald;
tct_status tct_linear_compare(const tct_linear_model *model, int64_t fewer, tct_linear_wald *out, tct_error *err);

/* A column's mean and deviation and their errors; {value, by noise, by both}. */
typedef struct tct_linear_figure {
  double value, noise, error;
} tct_linear_figure;
tct_status tct_linear_mean(const tct_linear *linear, int64_t column, tct_linear_figure *out, tct_error *err);
tct_status tct_linear_deviation(const tct_linear *linear, int64_t column, tct_linear_figure *out, tct_error *err);
/* Of Fisher's z = atanh(r), in which the interval is to be formed. */
tct_status tct_linear_correlation(const tct_linear *linear, int64_t a, int64_t b, tct_linear_figure *out,
                                  tct_error *err);
/* vif[slopes]: how many times the others' presence makes a slope's variance larger. */
tct_status tct_linear_vif(const tct_linear *linear, const int64_t *column, int64_t slopes, double *vif, tct_error *err);

/* For the files of this room: a'Gb; the variance that noise gives to sum_i w_i a_i'G a_i, a[count][q], count <= 4;
 * moments of two columns about their means. */
double tct_linear_form(const tct_linear *linear, const double *a, const double *b);
double tct_linear_variance(const tct_linear *linear, const double *a, const double *w, int count);
double tct_linear_centred(const tct_linear *linear, int64_t a, int64_t b);
/* u[q] <- the columns' direction a[q] in z. */
void tct_linear_in_z(const tct_linear *linear, const double *a, double *u);
/* What there is of each shell; and sum[count] <- that of (a'z)^2 (b'z)^2 over all records, a[q], b[count][q] in z,
 * shells counting by part or left.  room: [4q]. */
tct_status tct_linear_settle_shells(tct_linear *linear, tct_error *err);
void tct_linear_squares(const tct_linear *linear, const double *part, const double *a, const double *b, int64_t count,
                        double *sum, double *room);
/* white and fourth from what was released; and form[d] <- the product of two directions of columns as a sum of those
 * that fourth has. */
tct_status tct_linear_settle_fourth(tct_linear *linear, int64_t rows, tct_error *err);
void tct_linear_product(const tct_linear *linear, const double *a, const double *b, double *form);

/* {"row_norm", "radius", "metric", "shells", "fourth"}: what was released; and back, of q columns with the ones.
 * deviation: the releases' from the second on, 0 where there is no third.  out is to be freed in any case.  TCT_E_DATA:
 * it is no such thing. */
json_t *tct_moments_json(const tct_moments *moments);
tct_status tct_moments_of_json(const json_t *said, int64_t q, int64_t rows, const double deviation[2], tct_moments *out,
                               tct_error *err);
#endif
