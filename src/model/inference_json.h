/* inference_json.h - the model file's member "inference": what is known about the errors of the weights. */
#ifndef TCT_MODEL_INFERENCE_JSON_H
#define TCT_MODEL_INFERENCE_JSON_H
#include "infer/inference.h"
#include <jansson.h>

/* {"errors", "sampling", "noise", "degrees", "withheld"}; docs/reference/format/model.md has the members. */
json_t *tct_inference_json(const tct_inference *inference);
/* Reads that for p weights; TCT_E_DATA where it is not whole. */
tct_status tct_inference_read(const json_t *object, int64_t p, tct_inference *out, tct_error *err);
#endif
