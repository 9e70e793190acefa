/* npy.h - the header of a NumPy array file. */
#ifndef TCT_FORMATS_NPY_H
#define TCT_FORMATS_NPY_H
#include "core/status.h"

typedef struct tct_npy {
  char kind;    /* 'f', 'i', 'u' or 'b' */
  int width;    /* bytes of one element: 1, 2, 4 or 8 */
  bool swapped; /* big-endian */
  bool fortran; /* columns are contiguous */
  int dimensions;
  int64_t shape[2]; /* rows, columns */
} tct_npy;

/* Parses the Python dictionary of a header: returns NULL, or what is wrong and what to do.  vector: an array of one
 * dimension is one column. */
const char *tct_npy_header(const char *text, int64_t length, bool vector, tct_npy *npy);

/* One element as a double (integers beyond 2^53 are rounded to nearest). */
double tct_npy_element(const tct_npy *npy, const unsigned char *bytes);
#endif
