/* noise_size.h - the size of the noise in a model's weights, from the model file alone. */
#ifndef TCT_SUMMARY_NOISE_SIZE_H
#define TCT_SUMMARY_NOISE_SIZE_H
#include "core/spec.h"
#include "model/model.h"
#include "solve/solve.h"

/* known 0: nobody can say. */
tct_status tct_noise_size_of(const tct_model *model, int *known, tct_noise_size *out, tct_error *err);
#endif
