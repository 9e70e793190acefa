/* event.c - mechanism events: the only things that an accountant ever sees. */
#include "event/event.h"

#include "core/alloc.h"
#include "core/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ranges of a parameter: is 0 refused, the largest value. */
#define TCT_NOT_NEGATIVE false, INFINITY
#define TCT_PROBABILITY false, 1
#define TCT_PROBABILITY_ABOVE_0 true, 1
#define TCT_KEY(key, range, help) \
  { #key, offsetof(tct_event, key), range, help }
#define TCT_EVENT(KIND, name, flags, summary, ...) {name, flags, summary, {__VA_ARGS__}},
const tct_event_facts tct_event_kinds[TCT_EV_KINDS] = {
#include "event/kinds.def"
};
#undef TCT_EVENT

const char *tct_event_name(tct_event_kind kind) { return tct_event_kinds[kind].name; }

/* The value of a parameter. */
static double *member(const tct_event *event, const tct_event_key *key) {
  return (double *)((char *)event + key->member);
}

double *tct_event_parameter(tct_event *event, const char *key) {
  for (const tct_event_key *k = tct_event_kinds[event->kind].key; k->key; k++)
    if (!strcmp(key, k->key)) return member(event, k);
  return NULL;
}

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

static tct_status check_key(const char *name, const tct_event_key *key, double value, tct_error *err) {
  if (!isfinite(value) || value < 0)
    return tct_fail(err, TCT_E_USAGE, "event %s: %s must be a finite number, at least 0", name, key->key);
  if (value > key->high || (key->above_low && value == 0))
    return tct_fail(err, TCT_E_USAGE, "event %s: %s must lie in %c0, %g]", name, key->key, key->above_low ? '(' : '[',
                    key->high);
  return TCT_OK;
}

tct_status tct_event_check(const tct_event *event, tct_error *err) {
  if ((unsigned)event->kind >= TCT_EV_KINDS) return tct_fail(err, TCT_E_USAGE, "unknown event kind; use a known one");
  const tct_event_facts *kind = &tct_event_kinds[event->kind];
  if (event->count < 1) return tct_fail(err, TCT_E_USAGE, "event %s: count must be at least 1", kind->name);
  for (const tct_event_key *k = kind->key; k->key; k++) TCT_TRY(check_key(kind->name, k, *member(event, k), err));
  return TCT_OK;
}

static tct_status find_kind(const tct_spec *spec, tct_event_kind *kind, tct_error *err) {
  char names[400], near[TCT_MEANT];
  const char *name[TCT_EV_KINDS];
  for (int k = 0; k < TCT_EV_KINDS; k++) {
    name[k] = tct_event_kinds[k].name;
    if (!strcmp(spec->name, name[k])) return *kind = (tct_event_kind)k, TCT_OK;
  }
  tct_join_names(name, TCT_EV_KINDS, names, sizeof names);
  return tct_fail(err, TCT_E_USAGE, "no event is called '%s'; use %s%s", spec->name, names,
                  tct_meant(spec->name, name, TCT_EV_KINDS, near));
}

static tct_status no_parameter(const tct_spec *spec, const tct_event_key *keys, const char *key, tct_error *err) {
  char names[100] = "";
  size_t used = 0;
  for (const tct_event_key *k = keys; k->key && used < sizeof names; k++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k == keys ? "" : ", ", k->key);
  return tct_fail(err, TCT_E_USAGE, "event %s has no parameter '%s'; it has %s and count", spec->name, key, names);
}

static tct_status read_item(const tct_spec *spec, int i, tct_event *out, char *open, tct_error *err) {
  const char *key = spec->item[i].key, *value = spec->item[i].value;
  bool counts = !strcmp(key, "count");
  double *to = tct_event_parameter(out, key);
  if (!counts && !to) return no_parameter(spec, tct_event_kinds[out->kind].key, key, err);
  if (!strcmp(value, "?") && open) {
    if (counts) out->count = -1;
    return TCT_OK; /* stays NAN: counted as missing below */
  }
  if (counts ? tct_parse_int(value, &out->count) : tct_parse_real(value, to)) return TCT_OK;
  if (counts)
    return tct_fail(err, TCT_E_USAGE, "event %s: count is not a whole number of at most %lld; write %s:count=NUMBER",
                    spec->name, (long long)TCT_INT_MOST, spec->name);
  return tct_fail(err, TCT_E_USAGE, "event %s: %s is not a number; write %s:%s=NUMBER", spec->name, key, spec->name,
                  key);
}

static tct_status find_missing(const tct_event *event, char open[16], tct_error *err) {
  int missing = 0;
  const char *which = "", *name = tct_event_name(event->kind);
  for (const tct_event_key *k = tct_event_kinds[event->kind].key; k->key; k++)
    if (isnan(*member(event, k))) missing++, which = k->key;
  if (event->count == -1) missing++, which = "count";
  if (missing > (open ? 1 : 0))
    return tct_fail(err, TCT_E_USAGE, "event %s lacks its %s; write %s:%s=NUMBER", name, which, name, which);
  if (open) snprintf(open, 16, "%s", which);
  return TCT_OK;
}

tct_status tct_event_parse(const char *text, tct_event *out, char open[16], tct_error *err) {
  tct_spec spec;
  TCT_TRY(tct_spec_parse(text, "event", &spec, err));
  memset(out, 0, sizeof *out);
  TCT_TRY(find_kind(&spec, &out->kind, err));
  out->count = 1;
  for (const tct_event_key *k = tct_event_kinds[out->kind].key; k->key; k++) *member(out, k) = NAN;
  for (int i = 0; i < spec.items; i++) TCT_TRY(read_item(&spec, i, out, open, err));
  TCT_TRY(find_missing(out, open, err));
  return open && open[0] ? TCT_OK : tct_event_check(out, err);
}

void tct_event_print(const tct_event *event, char *buffer, size_t size) {
  const tct_event_facts *kind = &tct_event_kinds[event->kind];
  size_t used = (size_t)snprintf(buffer, size, "%s", kind->name);
  for (const tct_event_key *k = kind->key; k->key && used < size; k++) {
    char number[40];
    tct_print_real(*member(event, k), number, sizeof number);
    used += (size_t)snprintf(buffer + used, size - used, "%c%s=%s", k == kind->key ? ':' : ',', k->key, number);
  }
  if (used < size) snprintf(buffer + used, size - used, ",count=%lld", (long long)event->count);
}

bool tct_event_same(const tct_event *a, const tct_event *b) {
  if (a->kind != b->kind) return false;
  for (const tct_event_key *k = tct_event_kinds[a->kind].key; k->key; k++)
    if (*member(a, k) != *member(b, k)) return false;
  return true;
}

bool tct_events_same(const tct_events *a, const tct_events *b) {
  bool same = a->len == b->len;
  for (int64_t i = 0; same && i < a->len; i++)
    same = tct_event_same(&a->at[i], &b->at[i]) && a->at[i].count == b->at[i].count;
  return same;
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
