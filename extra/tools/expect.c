/* expect.c - what errors a fit's weights will have, before there are records: fits of an invented table (invented.h).
 *
 * Every try is the whole fit with other noise, so all that widens or withholds an interval is in the answer.  The table
 * is nobody's, and the answer says nothing of any record.  Its columns tell nothing of each other.  What they tell of
 * one in the real table, R2, takes that share of what rows say about its weight, before noise and after.  So its error
 * is 1/sqrt(1 - R2) times as large (the variance inflation factor).  Where nobody says R2, a range ends at R2 = 1/2.
 * The power of a test of b: P(|b + se Z| > half width). */
#include "tools/invented.h"

#include "core/alloc.h"
#include "core/number.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "la/matrix/matrix.h"
#include "model/json.h"
#include "read/table/data.h"
#include "summary/original.h"
#include "train/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 10, MOST_TRIES = 1000 };
static const double HALF = 0.5; /* of R2, if nobody says it: one in ten weights of usual tables has more */

typedef struct expected {
  tct_config config;
  json_t *asked, *schema;
  tct_data *table, *data;
  tct_plan *plan;
  tct_model columns; /* what names and scales of weights are told by; its members are the table's */
  tct_original original;
  int64_t count, p;         /* sums of weights that are told; coefficients and the intercept */
  double *sums;             /* [count][p] */
  double *r2, *mean;        /* [p - 1] of the features */
  double *scaled;           /* [p] */
  double *weight, *y, *eta; /* [p] with the effects that are asked about; [rows] */
  const char *label;        /* what the caller calls it, or NULL */
  bool effects;
  int tries, given;
  double *error, *half, *part, *most; /* [count][tries]: what each given interval says; most: where the range ends */
  int *known;                         /* [count] given intervals */
  double *power;                      /* [count]: a sum over them */
} expected;

static double *all_of(const expected *e, double *list, int64_t k) { return list + k * e->tries; }

/* ---- what is asked ---------------------------------------------------------------------------------------------- */

static const char *name_of(const expected *e, int64_t k) {
  return k == e->p - 1 ? "(intercept)" : e->original.name ? e->original.name[k] : e->columns.features[k];
}

/* An empty list is what some write for no names. */
static bool by_names(const json_t *value) {
  return !json_array_size(value) && !json_is_number(value) && !json_is_string(value);
}

static tct_status take_asked(expected *e, const char *asked, tct_error *err) {
  e->asked = asked ? json_loads(asked, JSON_REJECT_DUPLICATES, NULL) : json_object();
  const json_t *tries = json_object_get(e->asked, "tries");
  json_int_t count = tries ? json_integer_value(tries) : TRIES;
  e->tries = count < 1 || count > MOST_TRIES ? 0 : (int)count;
  bool named = by_names(json_object_get(e->asked, "effect")) && by_names(json_object_get(e->asked, "assume"));
  if (json_is_object(e->asked) && e->tries >= 1 && named) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "what is expected is asked in JSON: \"effect\" and \"assume\" by names, \"tries\" from 1 to 1000; "
                  "write it so");
}

/* The plan that every try follows but for its noise. */
static tct_status make_plan(expected *e, const tct_read_options *read, int64_t rows, tct_error *err) {
  tct_config *c = &e->config;
  int64_t cols = 0;
  e->schema = json_loads(e->table->schema, 0, NULL);
  const json_t *said = json_object_get(e->schema, "label");
  if (!read->positive && !json_object_get(said, "positive") && json_array_size(json_object_get(said, "values")) > 2)
    c->classes = (int64_t)json_array_size(json_object_get(said, "values"));
  TCT_TRY(tct_config_use_schema(c, e->table, NULL, &cols, err));
  if (read->horizon > 0) c->label_bound = read->horizon;
  c->ledger = c->output = c->input_changed = NULL, c->progress = NULL, c->has_seed = 1;
  e->plan = tct_plan_new(c, rows, cols, err);
  if (!e->plan) return err->status;
  if (!e->plan->solver->infers || tct_noise_off(&e->plan->facts))
    return tct_fail(err, TCT_E_USAGE,
                    "no private standard errors are asked for, so that none are expected; give {errors_known}");
  if (e->plan->copies > 1)
    return tct_fail(err, TCT_E_USAGE, "weights of several classes have no errors; plan one class against the rest");
  e->p = cols + 1;
  return TCT_OK;
}

/* The sums that are asked for, or the weights on the scale of the columns, as a summary has them. */
static tct_status take_sums(expected *e, tct_error *err) {
  const json_t *sums = json_object_get(e->asked, "sums");
  e->columns = (tct_model){.cols = e->p - 1, .schema = e->table->schema, .features = e->table->names};
  e->columns.has_intercept = e->plan->facts.intercept != 0, e->columns.labels = TCT_LABELS_NONE;
  TCT_TRY(tct_original_new(&e->columns, false, &e->original, err));
  bool whole = e->original.has_intercept;
  e->count = sums ? (int64_t)json_array_size(sums) : e->p - 1 + whole;
  e->sums = TCT_NEW(double, e->count * e->p);
  if (!e->sums) return tct_fail_memory(err);
  for (int64_t k = 0; k < e->count; k++) {
    double *c = e->sums + k * e->p;
    if (!sums)
      tct_original_contrast(&e->original, e->p - 1, k, c);
    else if (!tct_json_get_reals(json_array_get(sums, (size_t)k), e->p, c))
      return tct_fail(err, TCT_E_USAGE, "a sum of weights has a number for each of %lld and the intercept; give them",
                      (long long)e->p - 1);
    if (!e->plan->facts.intercept) c[e->p - 1] = 0;
  }
  return TCT_OK;
}

/* weight <- what makes the told weights b[p - 1]: C^T (C C^T)^-1 b for rows of C brought to length 1. */
static tct_status solve_for(expected *e, double *b, tct_error *err) {
  int64_t n = e->p - 1;
  double *c = TCT_NEW(double, 2 * n * n), *square = c + n * n;
  if (!c) return tct_fail_memory(err);
  for (int64_t j = 0; j < n; j++) {
    double length = 0;
    for (int64_t k = 0; k < n; k++) length = hypot(length, e->sums[j * e->p + k]);
    tct_axpy(1 / fmax(length, 0x1p-900), e->sums + j * e->p, c + j * n, n);
    b[j] /= fmax(length, 0x1p-900);
  }
  for (int64_t j = 0; j < n * n; j++) square[j] = tct_dot(c + j / n * n, c + j % n * n, n);
  bool known = tct_cholesky(square, n);
  if (known) tct_cholesky_solve(square, n, b);
  for (int64_t j = 0; j < n && known; j++) tct_axpy(b[j], c + j * n, e->weight, n);
  tct_free(c);
  return known ? TCT_OK : tct_fail(err, TCT_E_USAGE, "the schema's columns say the same; leave one away");
}

static tct_status unknown(const expected *e, const char *name, tct_error *err) {
  char names[300] = "";
  for (int64_t k = 0; k + 1 < e->p && strlen(names) + strlen(name_of(e, k)) + 3 < sizeof names; k++)
    strcat(strcat(names, k ? ", " : ""), name_of(e, k));
  return tct_fail(err, TCT_E_USAGE, "an effect is of \"%.100s\", which is no weight, or is no number; there are %s",
                  name, names);
}

/* The weights of the invented population: of "weights" as they are, or of the effects by name. */
static tct_status take_effects(expected *e, tct_error *err) {
  const json_t *weights = json_object_get(e->asked, "weights");
  json_t *effect = json_object_get(e->asked, "effect"), *value;
  const char *name;
  e->weight = TCT_NEW(double, 2 * e->p);
  if (!e->weight) return tct_fail_memory(err);
  double *b = e->weight + e->p;
  e->effects = json_object_size(effect) > 0 || weights;
  if (weights && !tct_json_get_reals(weights, e->p, e->weight))
    return tct_fail(err, TCT_E_USAGE, "weights are %lld numbers; give them", (long long)e->p);
  if (weights || !e->effects) return TCT_OK;
  json_object_foreach(effect, name, value) {
    int64_t k = 0;
    while (k + 1 < e->p && strcmp(name_of(e, k), name) != 0) k++;
    if (k + 1 == e->p || !json_is_number(value) || !isfinite(json_number_value(value))) return unknown(e, name, err);
    b[k] = json_number_value(value);
  }
  return solve_for(e, b, err);
}

/* ---- the labels ------------------------------------------------------------------------------------------------- */

static tct_status label(expected *e, int64_t rows, tct_error *err) {
  const tct_config *c = &e->config;
  const tct_loss *loss = &e->plan->facts.loss;
  tct_owned_matrix dense = {0};
  const json_t *said = json_object_get(e->schema, "label");
  const char *names[] = {e->label, "name", "time", "event"};
  const json_t *assumed = NULL;
  for (int k = 0; k < 4 && !assumed; k++) {
    const char *name = k ? json_string_value(json_object_get(said, names[k])) : names[k];
    assumed = json_object_get(json_object_get(e->asked, "assume"), name); /* NULL of no name */
  }
  bool list = json_is_array(assumed), two = loss->kind->counts || loss->kind->amounts;
  double a = json_number_value(list ? json_array_get(assumed, 0) : assumed), all[] = {assumed ? a : NAN, 0};
  double least = fmax(e->table->label_low, tct_loss_from_zero(loss) ? 0 : -INFINITY); /* NAN: none is known */
  double low = fmax(c->label_shift - c->label_bound, least);
  double high = c->label_shift + c->label_bound;
  bool share = loss->kind->binary || loss->kind->follow_up;
  bool fits = !assumed || (a > (two ? low : 0) && a < (share ? 1 : two ? high : INFINITY));
  if (json_array_size(assumed) > 1) {
    all[1] = json_number_value(json_array_get(assumed, 1));
    fits &= two && all[1] > 0 && json_array_size(assumed) == 2;
  }
  if (!fits)
    return tct_fail(
        err, TCT_E_USAGE,
        "of the label a share between 0 and 1 is assumed, or a deviation above 0, or of counts and amounts a "
        "mean within its bounds and maybe a deviation; give these");
  e->y = TCT_NEW(double, rows), e->eta = TCT_NEW(double, rows), e->mean = TCT_NEW(double, e->p);
  if (!e->y || !e->eta || !e->mean) return tct_fail_memory(err);
  TCT_TRY(tct_matrix_convert(&e->table->x, TCT_DENSE_ROWS, TCT_F64, &dense, err));
  for (int64_t i = 0; i < rows; i++) {
    const double *x = (const double *)dense.m.values + i * dense.m.stride;
    e->eta[i] = tct_dot(e->weight, x, e->p - 1);
    tct_axpy(1 / (double)rows, x, e->mean, e->p - 1);
  }
  tct_matrix_free(&dense);
  tct_invent_labels(loss, all, low, high, e->eta, rows, e->y);
  e->data = tct_data_relabel(e->table, e->y, tct_config_labels(c), NULL, 0, TCT_CLASS_TEXT, err);
  if (!e->data) return err->status;
  e->data->follow_up = loss->kind->follow_up;
  if (loss->kind->follow_up) e->data->label_high = c->label_bound;
  return TCT_OK;
}

/* ---- the fits --------------------------------------------------------------------------------------------------- */

/* The effect that sum k has. */
static double truth_of(const expected *e, int64_t k) {
  double sum = 0;
  for (int64_t j = 0; j < e->p; j++) sum += e->sums[k * e->p + j] * e->weight[j];
  return sum;
}

/* Sum k in a table whose columns tell of each other what is said, and `unsaid` where nothing is. */
static tct_contrast contrast_of(expected *e, const tct_model *model, int64_t k, double unsaid) {
  memcpy(e->scaled, e->sums + k * e->p, (size_t)e->p * sizeof *e->scaled);
  for (int64_t j = 0; j + 1 < e->p; j++) {
    double middle = e->scaled[e->p - 1] * e->mean[j];   /* where all columns are at their means slopes do not count */
    if (model->inference.why[j] != TCT_GIVEN) continue; /* what holds no withheld weight gets none */
    e->scaled[j] = middle + (e->scaled[j] - middle) / sqrt(1 - (isnan(e->r2[j]) ? unsaid : e->r2[j]));
  }
  return tct_inference_contrast(&model->inference, e->scaled);
}

static void take_fit(expected *e, const tct_model *model) {
  for (int64_t k = 0; k < e->count; k++) {
    tct_contrast each = contrast_of(e, model, k, 0);
    if (each.why != TCT_GIVEN) continue;
    double half = tct_student_quantile(0.95, each.degrees) * each.standard_error, part, b = fabs(truth_of(e, k));
    int at = e->known[k]++;
    part = each.noise_error / each.standard_error;
    all_of(e, e->error, k)[at] = each.standard_error, all_of(e, e->half, k)[at] = half;
    all_of(e, e->part, k)[at] = part * part, all_of(e, e->most, k)[at] = contrast_of(e, model, k, HALF).standard_error;
    e->power[k] +=
        tct_normal_below((b - half) / each.standard_error) + tct_normal_below((-b - half) / each.standard_error);
  }
}

static tct_status fit_all(expected *e, tct_error *err) {
  int64_t all = e->count * e->tries;
  e->error = TCT_NEW(double, 4 * all + e->count);
  e->known = TCT_NEW(int, e->count);
  e->scaled = TCT_NEW(double, e->p);
  if (!e->error || !e->known || !e->scaled) return tct_fail_memory(err);
  e->half = e->error + all, e->part = e->half + all, e->most = e->part + all, e->power = e->most + all;
  for (int t = 0; t < e->tries; t++) {
    e->plan->config.seed = (uint64_t)t + 1;
    tct_model *model = tct_fit(e->plan, e->data, err);
    if (!model) return err->status;
    e->given += model->inference.p == e->plan->facts.p;
    if (e->given == t + 1) take_fit(e, model);
    tct_model_free(model);
  }
  return e->given == e->tries ? TCT_OK : tct_fail(err, TCT_E_RUN, "a fit gave no errors; give other columns");
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* The median of count numbers, which are then in order; null where there is none, or none that JSON can say. */
static json_t *median(double *list, int count, double scale) {
  qsort(list, (size_t)count, sizeof *list, tct_ascending);
  double middle = count ? scale * 0.5 * (list[(count - 1) / 2] + list[count / 2]) : NAN;
  return isfinite(middle) ? json_real(middle) : json_null();
}

static json_t *line(expected *e, int64_t k) {
  int known = e->known[k];
  double *error = all_of(e, e->error, k), *half = all_of(e, e->half, k), *least = all_of(e, e->part, k), power = 0;
  bool named = !json_object_get(e->asked, "sums");
  json_t *o = json_pack("{s:s, s:o}", "name", named ? name_of(e, k) : "", "noise_part", median(least, known, 1));
  for (int t = 0; t < known; t++) least[t] = half[t] + tct_student_quantile(0.6, INFINITY) * error[t];
  json_object_set_new(o, "withheld", json_real(1 - known / (double)e->tries));
  json_object_set_new(o, "detectable", median(least, known, 1));
  json_object_set_new(o, "standard_error", median(error, known, 1));
  json_object_set_new(o, "standard_error_most", median(all_of(e, e->most, k), known, 1));
  json_object_set_new(o, "width", median(half, known, 2));
  power = e->power[k] / e->tries;
  bool tested = e->effects && (!named || k < e->p - 1);
  json_object_set_new(o, "effect", tested ? json_real(truth_of(e, k)) : json_null());
  json_object_set_new(o, "power", tested ? json_real(power) : json_null());
  return o;
}

static char *answer(expected *e, tct_error *err) {
  json_t *list = json_array();
  for (int64_t k = 0; k < e->count; k++) json_array_append_new(list, line(e, k));
  return tct_json_text(json_pack("{s:i, s:o}", "tries", e->tries, "weights", list), err);
}

char *tct_expect_json(const tct_config *config, const tct_read_options *read, int64_t rows, const char *asked,
                      tct_error *err) {
  expected e = {0};
  tct_error local = {0};
  char *text = NULL;
  err = err ? err : &local;
  tct_error_clear(err);
  tct_status status = tct_config_take(config, &e.config, err);
  e.label = read->label;
  if (status == TCT_OK) status = take_asked(&e, asked, err);
  if (status == TCT_OK && (rows < 1 || rows > 1e9))
    status = tct_fail(err, TCT_E_USAGE, "errors are expected of 1 to 1e9 records; give their public number");
  if (status == TCT_OK && !(e.table = tct_invent_table(read, rows, json_object_get(e.asked, "assume"), &e.r2, err)))
    status = err->status;
  if (status == TCT_OK) status = make_plan(&e, read, rows, err);
  if (status == TCT_OK) status = take_sums(&e, err);
  if (status == TCT_OK) status = take_effects(&e, err);
  if (status == TCT_OK) status = label(&e, rows, err);
  if (status == TCT_OK) status = fit_all(&e, err);
  if (status == TCT_OK) text = answer(&e, err);
  tct_original_free(&e.original, e.columns.cols);
  tct_plan_free(e.plan);
  tct_data_free(e.data);
  tct_data_free(e.table);
  json_decref(e.asked), json_decref(e.schema);
  tct_free(e.sums), tct_free(e.r2), tct_free(e.mean), tct_free(e.scaled), tct_free(e.weight), tct_free(e.y),
      tct_free(e.eta), tct_free(e.error), tct_free(e.known);
  return text;
}
