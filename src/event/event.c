/* event.c - mechanism events: the only things that an accountant ever sees. */
#include "event/event.h"

#include "core/alloc.h"
#include "core/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which parameters a kind has, in the order of its spec; NULL ends. */
static const struct {
  const char *name;
  const char *keys[3];
} kinds[] = {
    [TCT_EV_GAUSSIAN] = {"gaussian", {"noise"}}, [TCT_EV_SAMPLED_GAUSSIAN] = {"sampled_gaussian", {"noise", "rate"}},
    [TCT_EV_LAPLACE] = {"laplace", {"noise"}},   [TCT_EV_EXPONENTIAL] = {"exponential", {"epsilon"}},
    [TCT_EV_PURE] = {"pure", {"epsilon"}},       [TCT_EV_APPROX] = {"approx", {"epsilon", "delta"}},
    [TCT_EV_ZCDP] = {"zcdp", {"rho"}},           [TCT_EV_OBJPERT] = {"objpert", {"noise", "shift"}},
};
_Static_assert(sizeof kinds / sizeof *kinds == TCT_EV_KINDS, "every kind has a name, and TCT_EV_KINDS counts them");

const char *tct_event_name(tct_event_kind kind) { return kinds[kind].name; }

const char *tct_event_key(tct_event_kind kind, int i) { return i >= 0 && i < 3 ? kinds[kind].keys[i] : NULL; }

tct_event tct_event_gaussian(double noise, int64_t count) {
  return (tct_event){.kind = TCT_EV_GAUSSIAN, .noise = noise, .count = count};
}
tct_event tct_event_sampled_gaussian(double noise, double rate, int64_t count) {
  return (tct_event){.kind = TCT_EV_SAMPLED_GAUSSIAN, .noise = noise, .rate = rate, .count = count};
}
tct_event tct_event_laplace(double noise, int64_t count) {
  return (tct_event){.kind = TCT_EV_LAPLACE, .noise = noise, .count = count};
}
tct_event tct_event_exponential(double epsilon, int64_t count) {
  return (tct_event){.kind = TCT_EV_EXPONENTIAL, .epsilon = epsilon, .count = count};
}
tct_event tct_event_pure(double epsilon, int64_t count) {
  return (tct_event){.kind = TCT_EV_PURE, .epsilon = epsilon, .count = count};
}
tct_event tct_event_approx(double epsilon, double delta, int64_t count) {
  return (tct_event){.kind = TCT_EV_APPROX, .epsilon = epsilon, .delta = delta, .count = count};
}
tct_event tct_event_zcdp(double rho, int64_t count) {
  return (tct_event){.kind = TCT_EV_ZCDP, .rho = rho, .count = count};
}
tct_event tct_event_objpert(double noise, double shift, int64_t count) {
  return (tct_event){.kind = TCT_EV_OBJPERT, .noise = noise, .shift = shift, .count = count};
}

static double *parameter(tct_event *event, const char *key) {
  if (!strcmp(key, "noise")) return &event->noise;
  if (!strcmp(key, "rate")) return &event->rate;
  if (!strcmp(key, "epsilon")) return &event->epsilon;
  if (!strcmp(key, "delta")) return &event->delta;
  if (!strcmp(key, "rho")) return &event->rho;
  return &event->shift;
}

tct_status tct_event_check(const tct_event *event, tct_error *err) {
  if ((unsigned)event->kind >= TCT_EV_KINDS) return tct_fail(err, TCT_E_USAGE, "unknown event kind; use a known one");
  const char *name = kinds[event->kind].name;
  if (event->count < 1) return tct_fail(err, TCT_E_USAGE, "event %s: count must be at least 1", name);
  for (int i = 0; i < 3 && kinds[event->kind].keys[i]; i++) {
    const char *key = kinds[event->kind].keys[i];
    double value = *parameter((tct_event *)event, key);
    if (!isfinite(value) || value < 0)
      return tct_fail(err, TCT_E_USAGE, "event %s: %s must be a finite number, at least 0", name, key);
  }
  if (event->kind == TCT_EV_SAMPLED_GAUSSIAN && !(event->rate > 0 && event->rate <= 1))
    return tct_fail(err, TCT_E_USAGE, "event %s: rate must lie in (0, 1]", name);
  if (event->kind == TCT_EV_APPROX && event->delta > 1)
    return tct_fail(err, TCT_E_USAGE, "event %s: delta must lie in [0, 1]", name);
  return TCT_OK;
}

static tct_status find_kind(const tct_spec *spec, tct_event_kind *kind, tct_error *err) {
  for (int k = 0; k < TCT_EV_KINDS; k++)
    if (!strcmp(spec->name, kinds[k].name)) return *kind = (tct_event_kind)k, TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "no event is called '%s'; use gaussian, sampled_gaussian, laplace, exponential, pure, approx, zcdp or "
      "objpert",
      spec->name);
}

static tct_status read_item(const tct_spec *spec, int i, tct_event *out, char *open, tct_error *err) {
  const char *key = spec->item[i].key, *value = spec->item[i].value;
  int known = !strcmp(key, "count");
  for (int k = 0; k < 3 && kinds[out->kind].keys[k]; k++) known |= !strcmp(key, kinds[out->kind].keys[k]);
  if (!known) {
    const char *const *keys = kinds[out->kind].keys;
    return tct_fail(err, TCT_E_USAGE, "event %s has no parameter '%s'; it has %s%s%s and count", spec->name, key,
                    keys[0], keys[1] ? ", " : "", keys[1] ? keys[1] : "");
  }
  if (!strcmp(value, "?") && open) {
    if (!strcmp(key, "count")) out->count = -1;
    return TCT_OK; /* stays NAN: counted as missing below */
  }
  int ok = strcmp(key, "count") ? tct_parse_real(value, parameter(out, key)) : tct_parse_int(value, &out->count);
  return ok ? TCT_OK
            : tct_fail(err, TCT_E_USAGE, "event %s: %s is not a number; write %s:%s=NUMBER", spec->name, key,
                       spec->name, key);
}

static tct_status find_missing(const tct_event *event, char open[16], tct_error *err) {
  int missing = 0;
  const char *which = "";
  for (int k = 0; k < 3 && kinds[event->kind].keys[k]; k++)
    if (isnan(*parameter((tct_event *)event, kinds[event->kind].keys[k]))) {
      missing++;
      which = kinds[event->kind].keys[k];
    }
  if (event->count == -1) missing++, which = "count";
  if (missing > (open ? 1 : 0))
    return tct_fail(err, TCT_E_USAGE, "event %s lacks its %s; write %s:%s=NUMBER", kinds[event->kind].name, which,
                    kinds[event->kind].name, which);
  if (open) snprintf(open, 16, "%s", which);
  return TCT_OK;
}

tct_status tct_event_parse(const char *text, tct_event *out, char open[16], tct_error *err) {
  tct_spec spec;
  TCT_TRY(tct_spec_parse(text, "event", &spec, err));
  memset(out, 0, sizeof *out);
  TCT_TRY(find_kind(&spec, &out->kind, err));
  out->count = 1;
  for (int k = 0; k < 3 && kinds[out->kind].keys[k]; k++) *parameter(out, kinds[out->kind].keys[k]) = NAN;
  for (int i = 0; i < spec.items; i++) TCT_TRY(read_item(&spec, i, out, open, err));
  TCT_TRY(find_missing(out, open, err));
  return open && open[0] ? TCT_OK : tct_event_check(out, err);
}

void tct_event_print(const tct_event *event, char *buffer, size_t size) {
  size_t used = (size_t)snprintf(buffer, size, "%s", kinds[event->kind].name);
  for (int k = 0; k < 3 && kinds[event->kind].keys[k] && used < size; k++) {
    char number[40];
    const char *key = kinds[event->kind].keys[k];
    tct_print_real(*parameter((tct_event *)event, key), number, sizeof number);
    used += (size_t)snprintf(buffer + used, size - used, "%c%s=%s", k ? ',' : ':', key, number);
  }
  if (used < size) snprintf(buffer + used, size - used, ",count=%lld", (long long)event->count);
}

bool tct_event_same(const tct_event *a, const tct_event *b) {
  return a->kind == b->kind && a->noise == b->noise && a->rate == b->rate && a->epsilon == b->epsilon &&
         a->delta == b->delta && a->rho == b->rho && a->shift == b->shift;
}

tct_status tct_events_add(tct_events *events, tct_event event, tct_error *err) {
  TCT_TRY(tct_event_check(&event, err));
  tct_event *last = events->len ? &events->at[events->len - 1] : NULL;
  if (last && tct_event_same(last, &event)) {
    if (last->count > INT64_MAX - event.count) return tct_fail(err, TCT_E_USAGE, "event count is too large; use less");
    last->count += event.count;
    return TCT_OK;
  }
  if (events->len == events->cap) {
    int64_t cap = events->cap ? 2 * events->cap : 8;
    tct_event *grown = tct_grow(events->at, events->len, cap, sizeof *grown);
    if (!grown) return tct_fail_memory(err);
    events->at = grown;
    events->cap = cap;
  }
  events->at[events->len++] = event;
  return TCT_OK;
}

tct_status tct_events_copy(tct_events *to, const tct_events *from, tct_error *err) {
  memset(to, 0, sizeof *to);
  for (int64_t i = 0; i < from->len; i++) TCT_TRY(tct_events_add(to, from->at[i], err));
  return TCT_OK;
}

void tct_events_free(tct_events *events) {
  tct_free(events->at);
  memset(events, 0, sizeof *events);
}
