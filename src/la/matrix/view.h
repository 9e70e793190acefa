/* view.h - the scale of a row from its norm, shared by the bounds of row and column layouts. */
#ifndef TCT_LA_MATRIX_VIEW_H
#define TCT_LA_MATRIX_VIEW_H
#include "la/matrix/matrix.h"

/* A computed sum of squares in this range had no overflow, and no underflow that matters (view.c). */
#define TCT_SQUARES_LOW 0x1p-900
#define TCT_SQUARES_HIGH 0x1p900

/* The scale of a row of norm `norm` * 2^exponent, norm the square root of a sum of squares in which every
 * term passed at most `depth` roundings; proof in view.c. */
double tct_bound_scale(double norm, int exponent, double depth, double row_norm, tct_rows_rule rule);

/* view->row_scale of a matrix by columns; NaN where a row is not finite. */
tct_status tct_bound_columns(const tct_view *view, tct_rows_rule rule, int threads, tct_error *err);
#endif
