/* class_names.h - what the classes of a label are called: public texts, numbers or truth values. */
#ifndef TCT_READ_TABLE_CLASS_NAMES_H
#define TCT_READ_TABLE_CLASS_NAMES_H
#include <jansson.h>

#include "core/status.h"

/* Zero it: no class has a name.  Of two classes the first may be NULL: all that is not the second. */
typedef struct tct_class_names {
  char **name;   /* [count], owned, as a table writes them */
  int64_t count; /* 0: not known */
  int32_t kind;  /* tct_class_kind */
} tct_class_names;

/* Numbers where every name is one and is written as this library writes it, truth values where all are true or false,
 * else texts. */
int32_t tct_class_kind_of(const char *const *name, int64_t count);
/* Copies.  TCT_E_USAGE: fewer than two, one that is empty or no UTF-8 or there twice, or one that is not of the kind.
 * On failure *out is as it was. */
tct_status tct_class_names_set(tct_class_names *out, const char *const *name, int64_t count, int32_t kind,
                               tct_error *err);
bool tct_class_names_same(const tct_class_names *a, const tct_class_names *b);
void tct_class_names_free(tct_class_names *names);

/* Array of texts, numbers or truth values, null for a NULL; and back (TCT_E_DATA). */
json_t *tct_class_names_json(const tct_class_names *names);
tct_status tct_class_names_read(const json_t *array, tct_class_names *out, tct_error *err);
#endif
