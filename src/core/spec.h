/* spec.h - spec strings `name:key=value,key=value` and the option tables that check them. */
#ifndef TCT_CORE_SPEC_H
#define TCT_CORE_SPEC_H
#include "core/status.h"

enum { TCT_SPEC_ITEMS = 24, TCT_SPEC_KEY = 32, TCT_SPEC_VALUE = 192 };

typedef enum tct_option_kind {
  TCT_OPT_REAL,   /* finite number in [low, high]; "auto" if fallback is "auto" */
  TCT_OPT_COUNT,  /* integer in [low, high]; "auto" likewise */
  TCT_OPT_CHOICE, /* one of choices */
  TCT_OPT_TEXT,   /* any text without comma */
} tct_option_kind;

/* One option of a component.  A table ends with key NULL. */
typedef struct tct_option {
  const char *key;
  tct_option_kind kind;
  const char *fallback; /* default as text; NULL = required */
  double low, high;     /* closed range; an open end is written as the next double */
  const char *choices;  /* TCT_OPT_CHOICE: "a|b|c" */
  const char *help;     /* one phrase with unit, and the rule behind "auto" */
  int since;            /* version of the component's rules that brought it; 0: it was there from the start */
  const char *neutral;  /* where since is above 1: the value that means "as before there was this option" */
} tct_option;

/* A parsed spec.  A run reads numbers, never text: they are made when an option is set, and a plan sets every option.
 */
typedef struct tct_spec {
  char name[TCT_SPEC_KEY];
  int items;
  struct {
    char key[TCT_SPEC_KEY];
    char value[TCT_SPEC_VALUE];
    double number; /* the value as a number, read once; NAN: it is none */
  } item[TCT_SPEC_ITEMS];
  const tct_option *options; /* of a resolved spec: its table, borrowed; else NULL */
} tct_spec;

/* Parses `text`.  A repeated key is refused.  what: "solver", "event", ... for the error. */
tct_status tct_spec_parse(const char *text, const char *what, tct_spec *out, tct_error *err);

/* Checks every key and value against the table; an unknown key's error lists the right ones. */
tct_status tct_spec_check(const tct_spec *spec, const tct_option *table, const char *what, tct_error *err);

/* Values after tct_spec_check; a key that was not given has its default. */
bool tct_spec_given(const tct_spec *spec, const char *key);
bool tct_spec_auto(const tct_spec *spec, const tct_option *table, const char *key);
double tct_spec_real(const tct_spec *spec, const tct_option *table, const char *key);   /* NAN when auto */
int64_t tct_spec_count(const tct_spec *spec, const tct_option *table, const char *key); /* -1 when auto */
const char *tct_spec_text(const tct_spec *spec, const tct_option *table, const char *key);
bool tct_spec_is(const tct_spec *spec, const tct_option *table, const char *key, const char *choice);

/* A spec that was asked for by these rules, or resolved (1), says nothing of newer options: they are neutral then.  No
 * loss or penalty has versions: the neutral value of a newer option is its default. */
tct_status tct_spec_take_neutral(tct_spec *spec, const tct_option *table, int rules, tct_error *err);

/* Sets or replaces a key (for writing resolved values back). */
tct_status tct_spec_set(tct_spec *spec, const char *key, const char *value, tct_error *err);
tct_status tct_spec_set_real(tct_spec *spec, const char *key, double value, tct_error *err);

/* name:key=value,... with the keys in order; buffer of `size` bytes.  A resolved spec does not name a newer option that
 * is neutral, so that files of older rules and of today's say the same. */
void tct_spec_print(const tct_spec *spec, char *buffer, size_t size);
char *tct_spec_copy(const tct_spec *spec); /* for tct_text_free; NULL: out of memory */

/* A finite decimal number in the C locale, whole text; 1 on success. */
int tct_parse_real(const char *text, double *out);
/* Doubles hold every whole number up to it. */
#define TCT_INT_MOST INT64_C(9007199254740992)
int tct_parse_int(const char *text, int64_t *out); /* at most TCT_INT_MOST from 0; also 1e6 and 10000.0 */
enum { TCT_MEANT = 96 };
/* "; did you mean NAME?" for the nearest of the names (tct_nearest), or an empty text; returns buffer. */
const char *tct_meant(const char *given, const char *const *names, int64_t count, char buffer[TCT_MEANT]);
/* "a, b or c" of count names; "" of none.  size: that of `out`. */
void tct_join_names(const char *const *name, int count, char *out, size_t size);
/* Shortest decimal text that reads back as the same double; buffer >= 32. */
void tct_print_real(double value, char *buffer, size_t size);

/* Is the word one of the list, whose words `between` parts?  An empty one is none. */
bool tct_word_among(const char *word, const char *list, char between);
#endif
