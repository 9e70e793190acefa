/* check.c - what is wrong with settings whatever the data: found by planning for shapes that are not the data's. */
#include "core/processors.h"
#include "la/matrix/matrix.h"
#include "ranks/ranks.h"
#include "train/fit.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
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

/* What every fit of so many columns takes: for a column its name, for a weight two copies, and for both their place in
 * the text of the model. */
static tct_status check_free(const tct_config *config, int64_t cols, double more, tct_error *err) {
  enum { OF_COLUMN = 192, OF_WEIGHT = 96 };
  tct_loss loss;
  char what[80];
  TCT_TRY(tct_loss_make(config->loss, &loss, err));
  snprintf(what, sizeof what, "a fit of %lld columns needs", (long long)cols);
  return tct_memory_check((double)cols * (OF_COLUMN + OF_WEIGHT * (double)tct_loss_outputs(&loss)) + more,
                          (double)config->memory, what,
                          config->memory > 0 ? "lower the number of columns ({cols}), or raise {memory}"
                                             : "lower the number of columns ({cols})",
                          err);
}

tct_status tct_config_check(const tct_config *config, int bounds_follow, tct_error *err) {
  tct_error first = {0}, other = {0};
  tct_config trial;
  tct_error_clear(err);
  TCT_TRY(tct_config_take(config, &trial, err));
  if (trial.estimate) bounds_follow = 1;
  trial.estimate = NULL;
  if (bounds_follow && isnan(trial.row_norm)) trial.row_norm = 1;
  if (bounds_follow && isnan(trial.label_bound)) trial.label_bound = 1;
  if (trial.cols > 0) TCT_TRY(check_free(&trial, trial.cols, 0, err));
  if (try_shape(&trial, 0, &first) != TCT_E_USAGE) return TCT_OK;
  for (int k = 1; k < (int)(sizeof shapes / sizeof *shapes); k++)
    if (try_shape(&trial, k, &other) != TCT_E_USAGE || strcmp(first.text, other.text) != 0) return TCT_OK;
  if (err) *err = first;
  return TCT_E_USAGE;
}

/* ---- labels that no record has ---- */

tct_status tct_fit_check_positive(const tct_data *data, tct_error *err) {
  if (!data->positive_unlisted) return TCT_OK;
  double seen = 0;
  for (int64_t i = 0; data->y && i < data->x.rows && !seen; i++) seen = data->y[i] > 0;
  TCT_TRY(tct_team_largest(data->team, &seen, 1, err));
  if (seen > 0) return TCT_OK;
  return tct_fail(
      err, TCT_E_DATA,
      "no record's label%s%.200s%s is the positive value; correct {positive} (or \"positive\" in the schema), "
      "or list the label's \"values\" in the schema if it may be absent",
      data->label_name ? " \"" : "", data->label_name ? data->label_name : "", data->label_name ? "\"" : "");
}

/* ---- a limit of memory ----------------------------------------------------------------------------------
 *
 * Beside the records themselves, of each record there are two labels, the scale of its row and where it starts, and
 * what the solver keeps (tct_solver.row_bytes).  The program, buffers and the smallest window on the records take BASE.
 */

enum { BASE = 48 << 20, OF_RECORD = 32, PIECE = 1 << 16 };

double tct_limit_needs(const tct_plan *plan) {
  const tct_solver *solver = plan->solver;
  double n = (double)plan->facts.rows, p = (double)plan->facts.p;
  if (solver->row_bytes == 0) return INFINITY;
  return BASE + n * (OF_RECORD + solver->row_bytes) + plan->facts.threads * (p * p * solver->square_bytes + 64 * p);
}

/* A batch is drawn record by record, and the disk is read in pieces.  The share of the pieces that hold a record of the
 * batch, over the share of the records that are in it. */
static double spread(const tct_plan *plan, double batch) {
  double share = fmin(1, batch / (double)plan->facts.rows), of_piece = PIECE / (8.0 * (double)plan->cols);
  return share > 0 ? -expm1(fmax(1, of_piece) * log1p(-share)) / share : 1;
}

double tct_limit_passes(const tct_plan *plan) {
  const tct_passes *passes = &plan->solver->passes;
  const tct_spec *spec = &plan->solved.spec;
  if (plan->solver->row_bytes == 0) return 0;
  double count = passes->option ? tct_spec_real(spec, plan->solver->options, passes->option) : 0;
  if (passes->scattered) count *= spread(plan, tct_spec_real(spec, plan->solver->options, "batch"));
  return 1 + passes->each * count + passes->more;
}

/* A table of that size may be smaller where it is sparse: only what is certain is refused. */
tct_status tct_limit_check(const tct_plan *plan, tct_error *err) {
  double needs = tct_limit_needs(plan), limit = (double)plan->config.memory;
  if (limit == 0 || plan->solver->row_bytes == 0 || needs <= limit) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "%s needs %.0f MiB in memory beside the records, more than the limit; give at least {memory_mib %.0f}",
      plan->solver->name, ceil(needs / 1048576), ceil(needs / 1048576));
}

/* Copies of the table: the one that is scaled, and the one by columns. */
static tct_status check_copies(const tct_plan *plan, const tct_matrix *x, tct_error *err) {
  bool columns = x->layout == TCT_CSC || x->layout == TCT_DENSE_COLS;
  int copies = (strcmp(plan->config.scale, "none") != 0) + (plan->solver->wants_columns != columns);
  double bytes = copies > 0 && x->pages == NULL ? copies * (double)tct_matrix_bytes(x) : 0;
  return check_free(&plan->config, plan->cols, bytes + 2.0 * sizeof(double) * (double)x->rows, err);
}

tct_status tct_limit_check_data(const tct_plan *plan, const tct_data *data, tct_error *err) {
  TCT_TRY(check_copies(plan, &data->x, err));
  if (data->x.pages == NULL) return TCT_OK;
  if (plan->solver->row_bytes == 0)
    return tct_fail(err, TCT_E_USAGE,
                    "%s needs all records in memory, and they exceed a quarter of the limit; raise {memory}, or choose "
                    "dpgd, dpmetric, dpnewton, dpagd, dpsgd, objpert or adassp",
                    plan->solver->name);
  if (strcmp(plan->config.scale, "none"))
    return tct_fail(err, TCT_E_USAGE, "{scale} copies all records into memory; give bounds with {schema} instead");
  return TCT_OK;
}

tct_status tct_fit_check_offset(const tct_plan *plan, const tct_data *data, tct_error *err) {
  if (!data->offset) return TCT_OK;
  if (data->exposure && !tct_loss_from_zero(&plan->facts.loss))
    return tct_fail(
        err, TCT_E_USAGE,
        "an exposure is of counts or amounts; give {loss poisson} or {loss gamma}, or leave it out of the schema");
  if (plan->copies * tct_loss_outputs(&plan->facts.loss) > 1 || !plan->facts.intercept)
    return tct_fail(err, TCT_E_USAGE,
                    "an offset or exposure goes with an intercept and with labels that are numbers or of two classes; "
                    "leave it out of the schema");
  if (plan->solver->offsets) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "%s takes no offset or exposure; use dpmetric, dpgd or {errors_known}",
                  plan->solver->name);
}
