/* words.h - the distinct texts of columns whose lists of categories nobody knows, numbered as they come. */
#ifndef TCT_READ_TABLE_WORDS_H
#define TCT_READ_TABLE_WORDS_H
#include <stdbool.h>
#include <stdint.h>

enum {
  TCT_WORD_NONE = -1,      /* stands in a table for a category that is not to be listed */
  TCT_WORDS_MOST = 1 << 24 /* distinct texts of a table */
};

/* Missing categories are counted, and listed, under this word. */
#define TCT_MISSING_WORD "(missing)"

/* Shared by whoever reads a table and the table itself; threads may number texts together. */
typedef struct tct_words tct_words;

tct_words *tct_words_new(void); /* NULL: out of memory */
tct_words *tct_words_share(tct_words *words);
/* The number of the text of a column, from 0; TCT_WORD_NONE: there are too many, or no memory is left. */
int64_t tct_words_number(tct_words *words, int64_t column, const char *text, int64_t length);
int64_t tct_words_count(const tct_words *words); /* NULL: 0 */
/* The text of number k and its column; borrowed, and ended by a 0 that is not counted. */
const char *tct_words_text(const tct_words *words, int64_t k, int64_t *column, int64_t *length);
/* Whoever lets go last wipes and frees it; NULL is fine. */
void tct_words_free(tct_words *words);
#endif
