/* clipped.h - slopes that are pulled in until a record's gradient is short enough. */
#ifndef TCT_SOLVE_SHARED_CLIPPED_H
#define TCT_SOLVE_SHARED_CLIPPED_H
#include "solve/solve.h"

/* z[count] += the offsets of the rows first, first + 1, ... */
void tct_add_offsets(const tct_problem *problem, int64_t first, int64_t count, double *z);

/* norm[rows]: an upper bound on every row's norm, to 2^-40 of it. */
void tct_row_norms(const tct_view *view, double *norm, int threads);
/* norm[rows]: an upper bound on the fourth root of the sum of the row's x_j^4. */
void tct_row_fourths(const tct_view *view, double *norm, int threads);
/* u[count]: margins of the rows (row NULL: row k is k) become slopes whose gradient terms have norm <= clip, times
 * the row's weight.  norm[rows]: of tct_row_norms. */
void tct_clip_slopes(const tct_problem *problem, const int64_t *row, int64_t count, const double *norm, double clip,
                     double *u, int threads);
/* The same for the rows first, first + 1, ... with u[count] theirs; one thread.  either: each is pulled in as far as
 * the slope of either label asks for. */
void tct_clip_rows(const tct_problem *problem, int64_t first, int64_t count, const double *norm, double clip,
                   bool either, double *u);

/* Each u[count] is pulled in where size * norm * spare > max, size being |u|, or of both labels 1 - |u| if larger. */
void tct_shorten(const double *norm, double spare, double max, bool both, int64_t count, double *u);

/* size[count]: of each record's slope, or for logistic loss the larger of its sizes with either label, which add up
 * to 1.  A clip by it is a weight that the row and the model alone tell.  Where the model is right it biases nothing,
 * whereas a clip by the slope itself cuts the surprising label only. */
void tct_either_sizes(const tct_loss *loss, const double *slope, int64_t count, double *size);
#endif
