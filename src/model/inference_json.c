/* inference_json.c - covariances of weights as JSON, and back. */
#include "model/json.h"
#include "model/model.h"

#include <string.h>

static const char *const withheld[] = {"", "noise_above_signal", "path_too_short", "rows_too_far"};
enum { REASONS = sizeof withheld / sizeof *withheld };

static json_t *matrix(const double *values, int64_t p) {
  json_t *array = json_array();
  for (int64_t j = 0; array && j < p; j++) json_array_append_new(array, tct_json_reals(values + j * p, p));
  return array;
}

static json_t *course_json(const tct_course *c) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time", tct_json_reals(c->time, c->cells), "exposure",
                   tct_json_reals(c->exposure, c->cells), "estimate", tct_json_reals(c->survival, c->cells), "lower",
                   tct_json_reals(c->lower, c->cells), "upper", tct_json_reals(c->upper, c->cells));
}

static bool get_course(const json_t *o, tct_course *out) {
  int64_t cells = out->cells = (int64_t)json_array_size(json_object_get(o, "time"));
  return cells > 0 && cells <= TCT_COURSE && json_object_size(o) == 5 &&
         tct_json_get_reals(json_object_get(o, "time"), cells, out->time) &&
         tct_json_get_reals(json_object_get(o, "exposure"), cells, out->exposure) &&
         tct_json_get_reals(json_object_get(o, "estimate"), cells, out->survival) &&
         tct_json_get_reals(json_object_get(o, "lower"), cells, out->lower) &&
         tct_json_get_reals(json_object_get(o, "upper"), cells, out->upper);
}

json_t *tct_inference_json(const tct_inference *m) {
  json_t *why = json_array();
  for (int64_t j = 0; j < m->p; j++)
    json_array_append_new(why, m->why[j] ? json_string(withheld[m->why[j]]) : json_null());
  json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "errors", m->robust ? "robust" : "model", "sampling",
                        matrix(m->sampling, m->p), "noise", matrix(m->noise, m->p), "degrees",
                        tct_json_reals(m->degrees, m->p), "withheld", why, "residual", tct_json_real(m->residual));
  if (o && m->course.cells) json_object_set_new(o, "survival", course_json(&m->course));
  if (o && m->change) {
    json_t *change = tct_inference_json(m->of_change);
    json_object_set_new(change, "weights", tct_json_reals(m->change, m->p));
    json_object_set_new(o, "change", change);
  }
  return o;
}

static bool get_matrix(const json_t *array, int64_t p, double *out) {
  if (!json_is_array(array) || (int64_t)json_array_size(array) != p) return false;
  for (int64_t j = 0; j < p; j++)
    if (!tct_json_get_reals(json_array_get(array, (size_t)j), p, out + j * p)) return false;
  return true;
}

static bool get_reason(const json_t *value, int32_t *out) {
  const char *text = json_string_value(value);
  *out = TCT_GIVEN;
  if (json_is_null(value)) return true;
  for (int k = 1; k < REASONS && text; k++)
    if (!strcmp(text, withheld[k])) *out = k;
  return *out != TCT_GIVEN;
}

static bool whole(const json_t *o, int64_t p, tct_inference *out);

static bool get_change(const json_t *o, tct_inference *out) {
  tct_error ignored = {0};
  return tct_inference_add_change(out, &ignored) == TCT_OK &&
         tct_json_get_reals(json_object_get(o, "weights"), out->p, out->change) && whole(o, out->p, out->of_change);
}

/* A change has weights of its own, and no course and no change. */
static bool whole(const json_t *o, int64_t p, tct_inference *out) {
  const char *errors = tct_json_said(o, "errors");
  const json_t *why = json_object_get(o, "withheld");
  bool ok = errors && (!strcmp(errors, "model") || !strcmp(errors, "robust"));
  ok = ok && get_matrix(json_object_get(o, "sampling"), p, out->sampling);
  ok = ok && get_matrix(json_object_get(o, "noise"), p, out->noise);
  ok = ok && tct_json_get_reals(json_object_get(o, "degrees"), p, out->degrees);
  ok = ok && json_is_array(why) && (int64_t)json_array_size(why) == p;
  for (int64_t j = 0; j < p && ok; j++) ok = get_reason(json_array_get(why, (size_t)j), &out->why[j]);
  const json_t *residual = json_object_get(o, "residual");
  ok = ok && (json_is_null(residual) || tct_json_get_real(residual, &out->residual));
  const json_t *course = json_object_get(o, "survival"), *change = json_object_get(o, "change");
  bool own = json_object_get(o, "weights") != NULL;
  ok = ok && (int)json_object_size(o) == 6 + (course != NULL) + (change != NULL) + own && !(own && (course || change));
  ok = ok && (!course || get_course(course, &out->course)) && (!change || get_change(change, out));
  out->robust = ok && !strcmp(errors, "robust");
  return ok && tct_inference_valid(out);
}

tct_status tct_inference_read(const json_t *object, int64_t p, tct_inference *out, tct_error *err) {
  if (p > 512 || !json_is_object(object) || json_object_get(object, "weights"))
    return tct_fail(err, TCT_E_DATA, "the model file's standard errors are not whole; it is damaged or was edited");
  TCT_TRY(tct_inference_new(p, out, err));
  if (whole(object, p, out)) return TCT_OK;
  return tct_fail(err, TCT_E_DATA, "the model file's standard errors are not whole; it is damaged or was edited");
}
