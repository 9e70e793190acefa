/* check.c - what is wrong with settings whatever the data: found by planning for shapes that are not the data's. */
#include "train/plan.h"

#include <math.h>
#include <string.h>

/* A refusal counts where every one of these shapes meets it in the same words: sentences about a shape hold its numbers
 * or end with another shape.  Far apart, so that no setting is too large or too small for all. */
static const struct {
  int64_t rows, cols;
} shapes[] = {{100000, 20}, {1000, 2}, {10000000, 3000}, {(int64_t)1 << 40, 20000000}};

static tct_status try_shape(const tct_config *config, int shape, tct_error *err) {
  tct_plan *plan = tct_plan_new(config, shapes[shape].rows, shapes[shape].cols, err);
  if (!plan) return err->status;
  tct_plan_free(plan);
  return TCT_OK;
}

tct_status tct_config_check(const tct_config *config, int bounds_follow, tct_error *err) {
  tct_error first = {0}, other = {0};
  tct_config trial;
  tct_error_clear(err);
  TCT_TRY(tct_config_take(config, &trial, err));
  if (bounds_follow && isnan(trial.row_norm)) trial.row_norm = 1;
  if (bounds_follow && isnan(trial.label_bound)) trial.label_bound = 1;
  if (try_shape(&trial, 0, &first) != TCT_E_USAGE) return TCT_OK;
  for (int k = 1; k < (int)(sizeof shapes / sizeof *shapes); k++)
    if (try_shape(&trial, k, &other) != TCT_E_USAGE || strcmp(first.text, other.text) != 0) return TCT_OK;
  if (err) *err = first;
  return TCT_E_USAGE;
}
