/* keys.h - the keys that a model file may have. */
#ifndef TCT_MODEL_KEYS_H
#define TCT_MODEL_KEYS_H
#include <jansson.h>

/* The first key of the model file, or of what is in it, that is not known; NULL: none. */
const char *tct_model_unknown_key(const json_t *file);
#endif
