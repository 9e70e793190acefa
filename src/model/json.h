/* json.h - small helpers between jansson and our types. */
#ifndef TCT_MODEL_JSON_H
#define TCT_MODEL_JSON_H
#include "core/json_text.h"
#include "event/event.h"

/* A number, "infinity", or null for NAN. */
json_t *tct_json_real(double value);
/* Reads what tct_json_real wrote; 0 if it is none of the three. */
int tct_json_get_real(const json_t *value, double *out);
/* Is a loop over columns to end?  It asks before each 65536th; no text is made then. */
bool tct_json_stops(int64_t j);
/* `count` of them, and back; false: it is no such array. */
json_t *tct_json_reals(const double *values, int64_t count);
bool tct_json_get_reals(const json_t *array, int64_t count, double *out);
/* Array of event specs, and back. */
json_t *tct_json_events(const tct_events *events);
tct_status tct_json_get_events(const json_t *array, tct_events *out, tct_error *err);
/* The text of an object, indented, with round-trip numbers; consumes `object` (NULL: out of memory). */
char *tct_json_text(json_t *object, tct_error *err);
/* The text of a value in one line, the caller's. */
tct_status tct_json_compact(const json_t *value, char **text, tct_error *err);
/* "add_remove" | "replace_one", and back (-1: neither). */
const char *tct_neighbours_name(int neighbours);
int tct_neighbours_find(const char *name);
#endif
