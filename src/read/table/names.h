/* names.h - names of columns: copied, sorted and found. */
#ifndef TCT_READ_TABLE_NAMES_H
#define TCT_READ_TABLE_NAMES_H
#include "core/status.h"

/* One allocation of tct_alloc: the pointers, then the texts.  NULL: out of memory. */
char **tct_names_copy(const char *const *names, int64_t count);
/* sorted[count] <- the columns by their names; *repeated <- one that has the name of an earlier one, or -1. */
tct_status tct_names_sort(const char *const *names, int64_t count, int64_t *sorted, int64_t *repeated, tct_error *err);
/* The column of that name, or -1. */
int64_t tct_names_find(const char *const *names, const int64_t *sorted, int64_t count, const char *name);
#endif
