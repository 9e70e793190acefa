/* fingerprint.h - what tells a table of rows from another: a keyed, order-free fingerprint.  Secret like the table. */
#ifndef TCT_LEDGER_FINGERPRINT_H
#define TCT_LEDGER_FINGERPRINT_H
#include "core/digest.h"
#include "read/table/data.h"

enum { TCT_SKETCH = 256 };

/* One table under one key.  h_i is the keyed BLAKE2b-256 of row i: its features that are not 0, with their places, and
 * its label.  sum: the sum of all h_i modulo 2^256, most significant byte first; sketch: the smallest distinct first
 * 64 bits of the h_i, ascending.  Both ignore the order of the rows and the layout of the matrix. */
typedef struct tct_print {
  int64_t rows, len; /* len: how many entries of sketch are used */
  unsigned char sum[TCT_KEY];
  uint64_t sketch[TCT_SKETCH];
} tct_print;

enum { TCT_PRINT_KEYS = 2 };
typedef unsigned char tct_key[TCT_KEY];

/* A new secret key; TCT_E_RUN if the system has no entropy. */
tct_status tct_key_draw(tct_key key, tct_error *err);

/* print[k] <- the table under key[k], for both keys in one pass; over ranks: of all their rows.  Collective. */
tct_status tct_print_make(const tct_data *data, tct_key key[TCT_PRINT_KEYS], int threads,
                          tct_print print[TCT_PRINT_KEYS], tct_error *err);
/* The same rows as often, in any order. */
bool tct_print_same(const tct_print *a, const tct_print *b);
/* Are the rows of `part` rows of `whole`, as far as the sketches tell?  Sure up to 256 rows; of longer tables it takes
 * a part of at least about a fiftieth, and a few rows that differ go unseen. */
bool tct_print_is_part(const tct_print *part, const tct_print *whole);
/* In [0, 1]: which share of the smaller table's rows is in the other, as far as the sketches tell. */
double tct_print_shared(const tct_print *a, const tct_print *b);
#endif
