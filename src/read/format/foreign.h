/* foreign.h - files that are tables elsewhere and are not read here. */
#ifndef TCT_READ_FORMAT_FOREIGN_H
#define TCT_READ_FORMAT_FOREIGN_H
#include <stdint.h>

/* What the file that begins so is, and what to do with it: one sentence, static text.  NULL: nothing known. */
const char *tct_foreign(const char *head, int64_t length);
#endif
