/* invent.c - invented tables, pairs of neighbours, and one run on either. */
#include "audit/audit.h"

#include "core/alloc.h"
#include "core/number.h"
#include "la/matrix/matrix.h"
#include "read/table/data.h"

#include <math.h>
#include <string.h>

uint64_t tct_audit_u64(tct_audit *a) { return tct_split_mix(&a->random); }

/* Uniform on [-1, 1). */
static double real(tct_audit *a) { return 2 * ((double)(tct_audit_u64(a) >> 11) * 0x1p-53) - 1; }

/* Rows within the range of floats are floats, so that both value types hold them. */
static double storable(double v) { return fabs(v) < 1e30 ? (float)v : fabs(v) < 1e200 ? v : 1; }

/* ---- pairs -------------------------------------------------------------------------------------------------- */

tct_status tct_pair_new(const tct_audit *a, tct_pair *out, tct_error *err) {
  *out = (tct_pair){.x = TCT_NEW(double, a->rows * a->cols),
                    .y = TCT_NEW(double, a->rows),
                    .other = TCT_NEW(double, a->cols),
                    .stretch = 1};
  if (out->x && out->y && out->other) return TCT_OK;
  tct_pair_free(a, out);
  return tct_fail_memory(err);
}

void tct_pair_free(const tct_audit *a, tct_pair *pair) {
  (void)a;
  tct_free(pair->x);
  tct_free(pair->y);
  tct_free(pair->other);
  *pair = (tct_pair){0};
}

void tct_pair_copy(const tct_audit *a, tct_pair *to, const tct_pair *from) {
  tct_pair own = *to;
  *to = *from;
  to->x = own.x, to->y = own.y, to->other = own.other;
  memcpy(to->x, from->x, (size_t)(a->rows * a->cols) * sizeof *to->x);
  memcpy(to->y, from->y, (size_t)a->rows * sizeof *to->y);
  memcpy(to->other, from->other, (size_t)a->cols * sizeof *to->other);
}

static double sign_of(tct_audit *a) { return tct_audit_u64(a) % 2 ? 1 : -1; }

/* A signed time at the begin or the end of a cell, or anywhere, beyond the horizon too. */
static double time_of(tct_audit *a, double horizon) {
  double cells = (double)a->cells, edge = (double)(tct_audit_u64(a) % (uint64_t)(a->cells + 1)) / cells;
  double begin = fmax(edge * edge, 0x1p-20) * (1 + 0x1p-20), end = edge * edge * (1 - 0x1p-20);
  int way = (int)(tct_audit_u64(a) % 3);
  return sign_of(a) * horizon * (way == 0 ? begin : way == 1 && end > 0 ? end : 1.2 * fabs(real(a)));
}

static double label_of(tct_audit *a) {
  double scale = isfinite(a->label_bound) ? a->label_bound : 1;
  if (a->cells) return time_of(a, scale);
  if (a->classes) return (double)(tct_audit_u64(a) % (uint64_t)a->classes);
  if (a->binary) return sign_of(a);
  return tct_audit_u64(a) % 2 ? sign_of(a) * scale : 4 * scale * real(a);
}

/* The other records: none at all, random ones, tiny, huge, and such that a line parts their labels. */
static void others(tct_audit *a, tct_pair *pair, int kind) {
  static const double sizes[] = {0, 1, 0.2, 1e-3, 30};
  double size = sizes[kind % 5] * a->row_norm, sparse = kind % 3 == 1 ? -0.2 : -2;
  for (int64_t i = 0; i < a->rows; i++) {
    double *x = pair->x + i * a->cols;
    for (int64_t j = 0; j < a->cols; j++) {
      double v = real(a);
      x[j] = v < sparse ? 0 : (float)(size * v / sqrt((double)a->cols));
    }
    pair->y[i] = kind % 2 && a->binary ? (x[0] > 0 ? 1 : -1) : label_of(a);
  }
}

/* A row of about `size`: along one column, along all of them, or anywhere. */
static void row(tct_audit *a, double *x, double size) {
  int shape = (int)(tct_audit_u64(a) % 3);
  int64_t at = (int64_t)(tct_audit_u64(a) % (uint64_t)a->cols);
  double sign = sign_of(a);
  for (int64_t j = 0; j < a->cols; j++) {
    double v = shape == 0 ? j == at : shape == 1 ? 1 / sqrt((double)a->cols) : real(a);
    x[j] = (float)(sign * size * v);
  }
}

/* Weights beyond 1 are cut to it; a person's are scaled to a sum of 1. */
void tct_pair_hand_over(tct_audit *a, tct_pair *pair, int weighed) {
  static const double weights[] = {1, 1, 1000, 0.5};
  int ways = 1 + a->weighs + (a->persons && a->rows > 1);
  pair->layout = (int32_t)(tct_audit_u64(a) % 4);
  pair->type = (int32_t)(tct_audit_u64(a) % 2);
  pair->weighed = weighed < 0 ? (int32_t)(tct_audit_u64(a) % (uint64_t)ways) : weighed;
  pair->kin = a->rows > 2 ? 2 + (int64_t)(tct_audit_u64(a) % 2) : 2;
  pair->apart = 1 + (int64_t)(tct_audit_u64(a) % (uint64_t)((a->rows - 1) / (pair->kin - 1)));
  pair->heavy = weights[tct_audit_u64(a) % 4];
  pair->coalition = (int64_t)(tct_audit_u64(a) % 64) * (tct_audit_u64(a) % 4 && a->views);
  if (a->views > 1 && tct_audit_u64(a) % 3 == 0) pair->coalition = -1;
}

/* Opposite labels: of numbers; of classes, another one. */
static double opposite(tct_audit *a, double label) {
  if (a->classes) return fmod(label + 1, (double)a->classes);
  return a->binary || tct_audit_u64(a) % 2 ? label : -label;
}

static double length_of(const tct_audit *a, const double *x) {
  double sum = 0;
  for (int64_t j = 0; j < a->cols; j++) sum += x[j] * x[j];
  return sqrt(sum);
}

/* What replaces the record: all but its opposite, of the same label and length, at a random angle to it. */
static void nearly_oppose(tct_audit *a, tct_pair *pair) {
  double *x = pair->x + pair->record * a->cols, length = length_of(a, x), along = 0;
  double angle = 0.5 + 0.6 * fabs(real(a));
  row(a, pair->other, a->row_norm);
  for (int64_t j = 0; j < a->cols && length > 0; j++) along += x[j] * pair->other[j] / (length * length);
  for (int64_t j = 0; j < a->cols; j++) pair->other[j] -= along * x[j];
  double part = length * sin(angle) / fmax(length_of(a, pair->other), 1e-300);
  for (int64_t j = 0; j < a->cols; j++) pair->other[j] = (float)(part * pair->other[j] - cos(angle) * x[j]);
  pair->other_y = pair->y[pair->record];
}

void tct_pair_invent(tct_audit *a, tct_pair *pair, int kind) {
  double size = a->row_norm * (tct_audit_u64(a) % 4 ? 1 + (double)(tct_audit_u64(a) % 2) : exp(4 * real(a)));
  others(a, pair, kind);
  pair->record = (int64_t)(tct_audit_u64(a) % (uint64_t)a->rows);
  double *x = pair->x + pair->record * a->cols;
  row(a, x, size);
  pair->y[pair->record] = label_of(a);
  for (int64_t j = 0; j < a->cols; j++) pair->other[j] = -x[j];
  if (tct_audit_u64(a) % 3 == 0) row(a, pair->other, size);
  if (a->replaces && a->cols > 1 && tct_audit_u64(a) % 3 == 0) nearly_oppose(a, pair);
  pair->other_y = opposite(a, pair->y[pair->record]);
  if (tct_audit_u64(a) % 8 == 0) memset(x, 0, (size_t)a->cols * sizeof *x), pair->y[pair->record] = label_of(a);
  tct_pair_hand_over(a, pair, -1);
  pair->coins = tct_audit_u64(a);
  pair->stretch = 1, pair->push = 0, pair->wander = 0;
  pair->alone = pair->picked = false;
}

/* The record, no shorter than the bound. */
static void lengthen(tct_audit *a, tct_pair *pair) {
  double *x = pair->x + pair->record * a->cols;
  row(a, x, a->row_norm);
  double by = 1.1 * a->row_norm / fmax(length_of(a, x), 1e-3 * a->row_norm);
  for (int64_t j = 0; j < a->cols; j++) x[j] = (float)(by * x[j]);
}

/* The other records lie against the record, or against the sum of it and of what replaces it; or only the next one. */
static void set_against(tct_audit *a, tct_pair *pair, double size, bool all, bool both) {
  int64_t one = (pair->record + 1) % a->rows;
  double *x = pair->x + pair->record * a->cols, *to = pair->x + one * a->cols;
  for (int64_t j = 0; j < a->cols; j++) to[j] = both ? x[j] + pair->other[j] : x[j];
  double scale = -size * (both ? a->row_norm / fmax(length_of(a, to), 1e-300) : 1);
  for (int64_t j = 0; j < a->cols; j++) to[j] = storable(scale * to[j]);
  for (int64_t i = 0; i < a->rows; i++) {
    if (i == pair->record) continue;
    if (i != one && all) memcpy(pair->x + i * a->cols, to, (size_t)a->cols * sizeof *to);
    if (i != one && !all) memset(pair->x + i * a->cols, 0, (size_t)a->cols * sizeof *to);
    if (i == one || all) pair->y[i] = pair->y[pair->record];
  }
}

void tct_pair_oppose(tct_audit *a, tct_pair *pair, int kind) {
  tct_pair_invent(a, pair, kind);
  bool all = kind % 2, both = all && a->replaces && a->cols > 1;
  if (all) lengthen(a, pair);
  if (both) nearly_oppose(a, pair);
  set_against(a, pair, all ? exp(2 * real(a) - 3.2) : 0.5, all, both);
}

void tct_pair_hush(tct_audit *a, tct_pair *pair) {
  tct_pair_invent(a, pair, 1);
  lengthen(a, pair);
  double scale = a->label_bound, end = sign_of(a) * scale, low = tct_audit_u64(a) % 3 ? 0 : 0.2 * scale;
  bool numbers = !a->binary && !a->cells && !a->classes && isfinite(scale), turned = !numbers || tct_audit_u64(a) % 2;
  for (int64_t j = 0; j < a->cols; j++) pair->other[j] = (turned ? -1 : 1) * pair->x[pair->record * a->cols + j];
  for (int64_t i = 0; i < a->rows && numbers; i++) pair->y[i] = i == pair->record ? end : low;
  if (numbers) pair->other_y = turned ? end : -end;
}

void tct_pair_balance(tct_audit *a, tct_pair *pair) {
  tct_pair_invent(a, pair, 1);
  lengthen(a, pair);
  double size = a->row_norm * exp(real(a) - 1), by = tct_audit_u64(a) % 2 ? 1 : exp(real(a) - 1);
  bool numbers = !a->binary && !a->cells && !a->classes && isfinite(a->label_bound);
  bool still = numbers && tct_audit_u64(a) % 2;
  for (int64_t i = 0; i < a->rows; i++) {
    double *x = pair->x + i * a->cols;
    if (i == pair->record) continue;
    if (i % 2 == 0) row(a, x, size);
    for (int64_t j = 0; j < a->cols && i % 2; j++) x[j] = -x[j - a->cols];
    pair->y[i] = i % 2 ? pair->y[i - 1] : a->binary ? (i % 4 ? 1 : -1) : still ? 0 : label_of(a);
  }
  double *x = pair->x + pair->record * a->cols;
  for (int64_t j = 0; j < a->cols; j++) x[j] = (float)(by * x[j]), pair->other[j] = -x[j];
  if (still) pair->y[pair->record] = a->label_bound;
  pair->other_y = pair->y[pair->record];
}

static void nudge_row(tct_audit *a, double *x) {
  double by = exp(2 * real(a)), *at = &x[tct_audit_u64(a) % (uint64_t)a->cols];
  double *to = &x[tct_audit_u64(a) % (uint64_t)a->cols], turn = M_PI * real(a), one = *at;
  int way = (int)(tct_audit_u64(a) % 6);
  if (way == 0) *at = -*at;
  if (way == 1) *at = (float)(3 * a->row_norm * real(a));
  if (way == 2) *at = 0;
  if (way == 3) row(a, x, 2 * a->row_norm);
  if (way == 4 || (way == 5 && at == to)) *at = storable(*at * by);
  if (way == 5 && at != to)
    *at = storable(cos(turn) * one - sin(turn) * *to), *to = storable(sin(turn) * one + cos(turn) * *to);
}

void tct_pair_nudge_others(tct_audit *a, tct_pair *pair) {
  double by = exp(real(a));
  for (int64_t k = 0; k < a->rows * a->cols; k++)
    if (k / a->cols != pair->record) pair->x[k] = storable(pair->x[k] * by);
}

/* The record and what replaces it, longer or shorter by the same part. */
static void nudge_lengths(tct_audit *a, tct_pair *pair) {
  double by = exp(0.5 * real(a)), *x = pair->x + pair->record * a->cols;
  for (int64_t j = 0; j < a->cols; j++) {
    x[j] = storable(x[j] * by);
    pair->other[j] = storable(pair->other[j] * by);
  }
}

void tct_pair_nudge(tct_audit *a, tct_pair *pair) {
  static const double stretches[] = {1, 1, 0, 0.01, 10, 1000};
  int moves = 1 + (int)(tct_audit_u64(a) % 3);
  for (int k = 0; k < moves; k++) {
    int what = (int)(tct_audit_u64(a) % 13);
    double *x = pair->x + pair->record * a->cols;
    if (what < 3) nudge_row(a, x);
    if (what >= 3 && what < 5 && a->replaces) nudge_row(a, pair->other);
    if (what == 5) pair->y[pair->record] = label_of(a);
    if (what == 6) pair->other_y = label_of(a);
    if (what == 7) pair->stretch = stretches[tct_audit_u64(a) % 6];
    if (what == 8) pair->push = tct_audit_u64(a) % 3 ? exp(6 * real(a)) * sign_of(a) : 0;
    if (what == 9) pair->wander = tct_audit_u64(a) % 3 ? tct_audit_u64(a) : 0;
    if (what == 10) pair->coins = tct_audit_u64(a);
    if (what == 11 && a->replaces)
      for (int64_t j = 0; j < a->cols; j++) pair->other[j] = -x[j];
    if (what == 12) nudge_lengths(a, pair);
  }
}

/* ---- what the library is given ------------------------------------------------------------------------------ */

void tct_side_free(tct_side *side) {
  tct_owned_matrix own = {side->matrix};
  tct_data_free(side->data);
  if (side->matrix.values) tct_matrix_free(&own);
  tct_free(side->x);
  tct_free(side->y);
  tct_free(side->weight);
  tct_free(side->person);
  tct_free(side->gone);
  if (side->file) fclose(side->file);
  *side = (tct_side){0};
}

static int64_t group(const tct_pair *pair) { return pair->weighed == 2 ? pair->kin : 1; }
static int64_t kin(const tct_audit *a, const tct_pair *pair, int64_t k) {
  return (pair->record + k * pair->apart) % a->rows;
}

static void fill(const tct_audit *a, const tct_pair *pair, int with, tct_side *side) {
  memcpy(side->x, pair->x, (size_t)(a->rows * a->cols) * sizeof *side->x);
  memcpy(side->y, pair->y, (size_t)a->rows * sizeof *side->y);
  const double *row = with ? pair->x + pair->record * a->cols : pair->other;
  memset(side->gone, pair->alone && !a->lists, (size_t)a->rows); /* a list is of texts that others have too */
  side->record = pair->record;
  for (int64_t i = 0; i < a->rows; i++) {
    side->weight[i] = 0.2 + 0.7 * (double)(i % 7) / 7;
    side->person[i] = i;
  }
  for (int64_t k = 0; k < group(pair); k++) {
    int64_t i = kin(a, pair, k);
    side->weight[i] = pair->heavy, side->person[i] = pair->record;
    side->gone[i] = !with && !a->replaces;
    if (side->gone[i]) continue;
    memcpy(side->x + i * a->cols, row, (size_t)a->cols * sizeof *row);
    side->y[i] = with ? pair->y[pair->record] : pair->other_y;
  }
}

/* A row that contributes nothing is one that the reader found malformed, under the rule that keeps its place. */
static tct_status drop(const tct_audit *a, tct_side *side, tct_error *err) {
  TCT_TRY(tct_side_droppable(a, side, err));
  memcpy(side->data->dropped, side->gone, (size_t)a->rows);
  return TCT_OK;
}

static tct_status hand_over(const tct_audit *a, const tct_pair *pair, int with, tct_side *side, tct_error *err) {
  tct_owned_matrix own = {{0}};
  tct_matrix dense = {.rows = a->rows, .cols = a->cols, .values = side->x, .stride = a->cols};
  TCT_TRY(tct_matrix_convert(&dense, (tct_layout)pair->layout, (tct_value_type)pair->type, &own, err));
  side->matrix = own.m;
  tct_labels labels = tct_config_labels(&a->config);
  side->data = tct_data_view(&side->matrix, side->y, labels, NULL, NULL, err);
  if (!side->data) return err->status;
  if (pair->weighed)
    TCT_TRY(tct_data_weigh(side->data, side->weight, 1, pair->weighed == 2 ? side->person : NULL, err));
  if (!pair->alone && (with || a->replaces)) return TCT_OK;
  return drop(a, side, err);
}

tct_status tct_side_new(const tct_audit *a, const tct_pair *pair, int with, tct_side *out, tct_error *err) {
  *out = (tct_side){.x = TCT_NEW(double, a->rows * a->cols),
                    .y = TCT_NEW(double, a->rows),
                    .weight = TCT_NEW(double, a->rows),
                    .person = TCT_NEW(int64_t, a->rows),
                    .gone = TCT_NEW(unsigned char, a->rows)};
  bool room = out->x && out->y && out->weight && out->person && out->gone;
  tct_status status = room ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    fill(a, pair, with, out);
    status = a->study ? tct_audit_study_table(a, out, err) : hand_over(a, pair, with, out, err);
  }
  if (status != TCT_OK) tct_side_free(out);
  return status;
}

tct_status tct_side_droppable(const tct_audit *a, tct_side *side, tct_error *err) {
  side->data->dropped = TCT_NEW(unsigned char, a->rows);
  return side->data->dropped ? TCT_OK : tct_fail_memory(err);
}

void tct_side_drop(tct_side *side, int64_t row, bool gone) { side->data->dropped[row] = gone; }

void tct_side_set(tct_side *side, int64_t row, int64_t column, double value) {
  ((double *)side->matrix.values)[row * side->matrix.stride + column] = value;
}

/* Row after row of coefficients, then the intercepts. */
int64_t tct_side_weights(const tct_audit *a) { return (a->classes ? a->classes : 1) * (a->cols + 1); }
double tct_side_weight(const tct_audit *a, const tct_model *m, int64_t j) {
  int64_t rows = a->classes ? a->classes : 1;
  return j < rows * a->cols ? tct_model_coefficients(m)[j] : tct_model_intercepts(m)[j - rows * a->cols];
}

tct_model *tct_side_fit(tct_audit *a, const tct_side *side, tct_error *err) {
  double began = tct_audit_clock();
  a->fits++;
  a->polls = 0;
  tct_model *m = tct_fit(a->plan, side->data, err);
  a->spent += tct_audit_clock() - began;
  return m;
}
