/* penalty.c - the table of penalties and the making of one from its spec. */
#include "penalty/penalty.h"

#include <math.h>
#include <string.h>

#define TCT_REG(name) extern const tct_penalty_kind tct_penalty_##name;
#include "penalty/list.def"
#undef TCT_REG

#define TCT_REG(name) &tct_penalty_##name,
const tct_penalty_kind *const tct_penalty_kinds[] = {
#include "penalty/list.def"
};
#undef TCT_REG

const int tct_penalty_kind_count = sizeof tct_penalty_kinds / sizeof tct_penalty_kinds[0];

bool tct_penalty_is_separable(const tct_penalty_kind *kind) { return kind->separable; }

void tct_penalty_names(bool (*has)(const tct_penalty_kind *), char *names, size_t size) {
  const char *name[sizeof tct_penalty_kinds / sizeof tct_penalty_kinds[0]];
  int count = 0;
  for (int i = 0; i < tct_penalty_kind_count; i++)
    if (!has || has(tct_penalty_kinds[i])) name[count++] = tct_penalty_kinds[i]->name;
  tct_join_names(name, count, names, size);
}

/* The number named `key`, or `absent` where this kind has no such option. */
static double number(const tct_penalty *r, const char *key, double absent) {
  if (!key) return absent;
  for (const tct_option *o = r->kind->options; o && o->key; o++)
    if (!strcmp(o->key, key)) return tct_spec_real(&r->spec, r->kind->options, key);
  return absent;
}

tct_status tct_penalty_make(const char *spec, tct_penalty *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(tct_spec_parse(spec, "penalty", &out->spec, err));
  const char *name[sizeof tct_penalty_kinds / sizeof *tct_penalty_kinds];
  for (int i = 0; i < tct_penalty_kind_count; i++)
    if (!strcmp(name[i] = tct_penalty_kinds[i]->name, out->spec.name)) out->kind = tct_penalty_kinds[i];
  char names[400], near[TCT_MEANT];
  tct_penalty_names(NULL, names, sizeof names);
  if (!out->kind)
    return tct_fail(err, TCT_E_USAGE, "there is no penalty '%s'; use %s%s", out->spec.name, names,
                    tct_meant(out->spec.name, name, tct_penalty_kind_count, near));
  TCT_TRY(tct_spec_check(&out->spec, out->kind->options, "penalty", err));
  out->l1 = number(out, out->kind->l1_key, 0);
  out->l2 = number(out, out->kind->l2_key, 0);
  out->low = number(out, "low", -INFINITY);
  out->high = number(out, "high", INFINITY);
  out->radius = number(out, "radius", 0);
  if (out->low > out->high)
    return tct_fail(err, TCT_E_USAGE, "penalty '%s': low is above high; exchange them", out->spec.name);
  return TCT_OK;
}
