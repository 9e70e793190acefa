/* json_text.h - JSON text looked at before a parser takes memory for it, and JSON text that is whole or not there. */
#ifndef TCT_CORE_JSON_TEXT_H
#define TCT_CORE_JSON_TEXT_H
#include <jansson.h>

#include "core/status.h"

/* How deep objects and arrays may nest; no file of ours comes near. */
enum { TCT_JSON_DEPTH = 64 };

/* What a text may ask a parser for: objects and arrays, and other values. */
typedef struct tct_json_most {
  int64_t containers, values;
} tct_json_most;

/* TCT_E_DATA where text[length] nests deeper than TCT_JSON_DEPTH, or holds more than `most`.  It need not be valid. */
tct_status tct_json_check(const char *file, const char *text, int64_t length, const tct_json_most *most,
                          tct_error *err);
/* Reads a file and checks it.  *text is the caller's, for tct_free.  TCT_E_RUN: it cannot be opened or read. */
tct_status tct_json_file(const char *path, const tct_json_most *most, char **text, int64_t *length, tct_error *err);
/* json_dumps for the library: flags as there, the text for tct_text_free.  NULL: out of memory, or value is NULL. */
char *tct_json_dump(const json_t *value, size_t flags);
/* *text <- the object's in one line, in place of what was there; consumes `object` (NULL: out of memory). */
tct_status tct_json_keep(json_t *object, char **text, tct_error *err);

/* What an object says under a key.  No text: NULL, "", and false; no number: NAN. */
const char *tct_json_said(const json_t *object, const char *key);
const char *tct_json_word(const json_t *object, const char *key);
bool tct_json_says(const json_t *object, const char *key, const char *word);
double tct_json_number(const json_t *object, const char *key);
/* A number, or null where it is not finite. */
json_t *tct_json_finite(double value);
void tct_json_put(json_t *object, const char *key, double value);
#endif
