/* transformed.h - records as a model counts them: its own transforms applied, and its bound on the norm. */
#ifndef TCT_MODEL_TRANSFORMED_H
#define TCT_MODEL_TRANSFORMED_H
#include "model/model.h"

/* *view, over *x, which lies in `data` or in *scaled; free the view and the matrix, also after an error. */
tct_status tct_model_transformed(const tct_model *model, const tct_data *data, tct_owned_matrix *scaled, tct_matrix *x,
                                 tct_view *view, tct_error *err);
#endif
