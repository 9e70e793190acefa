/* words.h - distinct texts of columns, numbered as they come: those whose lists of categories nobody knows. */
#ifndef TCT_READ_TABLE_WORDS_H
#define TCT_READ_TABLE_WORDS_H

#include "core/status.h"

/* NONE stands in a table for a category that is not to be listed; NO_MEMORY stands in none. */
enum { TCT_WORD_NONE = -1, TCT_WORD_NO_MEMORY = -2 };
/* What a text of up to 32 bytes takes until the lists are released: growing copies of 32 + 16 + 32 bytes, and 56 then.
 */
enum { TCT_WORD_BYTES = 320 };

/* Missing categories are counted, and listed, under this word. */
#define TCT_MISSING_WORD "(missing)"

/* Shared by whoever reads a table and the table itself; threads may number texts together.  Memory alone limits how
 * many there are: at most one for each record and column. */
typedef struct tct_words tct_words;

tct_words *tct_words_new(void); /* NULL: out of memory */
tct_words *tct_words_share(tct_words *words);
/* The number of the text of a column, from 0; or TCT_WORD_NO_MEMORY, which must end the read. */
int64_t tct_words_number(tct_words *words, int64_t column, const char *text, int64_t length);
int64_t tct_words_count(const tct_words *words); /* NULL: 0 */
/* The text of number k and its column; borrowed until the next text is numbered. */
const char *tct_words_text(const tct_words *words, int64_t k, int64_t *column, int64_t *length);
/* Bytes that they may take: one for each record and column. */
double tct_words_bytes(int64_t rows, int64_t columns);
/* TCT_E_USAGE: that is more than `memory` (0: any number); so it follows from public numbers, whatever the texts are.
 */
tct_status tct_words_fit(int64_t rows, int64_t columns, int64_t memory, tct_error *err);
/* Whoever lets go last wipes and frees it; NULL is fine. */
void tct_words_free(tct_words *words);
#endif
