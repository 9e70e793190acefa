/* loss.c - the table of losses and the making of one from its spec. */
#include "loss/loss.h"
#include "core/number.h"

#include <math.h>
#include <string.h>

#define TCT_LOSS(name) extern const tct_loss_kind tct_loss_##name;
#include "loss/list.def"
#undef TCT_LOSS

#define TCT_LOSS(name) &tct_loss_##name,
const tct_loss_kind *const tct_loss_kinds[] = {
#include "loss/list.def"
};
#undef TCT_LOSS

const int tct_loss_kind_count = sizeof tct_loss_kinds / sizeof tct_loss_kinds[0];

bool tct_loss_has_dual(const tct_loss_kind *kind) { return kind->dual_step != NULL; }
bool tct_loss_has_fused(const tct_loss_kind *kind) { return kind->fused != TCT_FUSED_NONE; }

void tct_loss_names(bool (*has)(const tct_loss_kind *), char *names, size_t size) {
  const char *name[sizeof tct_loss_kinds / sizeof tct_loss_kinds[0]];
  int count = 0;
  for (int i = 0; i < tct_loss_kind_count; i++)
    if (!has || has(tct_loss_kinds[i])) name[count++] = tct_loss_kinds[i]->name;
  tct_join_names(name, count, names, size);
}

double tct_loss_constant_class(const tct_loss *loss, double positives) {
  double low = -30, high = 30;
  TCT_HALVE(halving < 60, low, high, at,
            !(positives * tct_loss_slope(loss, at, 1) + (1 - positives) * tct_loss_slope(loss, at, -1) < 0));
  return 0.5 * (low + high);
}

double tct_loss_constant_number(const tct_loss *loss, double mean, double least) {
  if (loss->kind->link != TCT_LINK_LOG) return mean;
  return log(fmax(mean, fmax(least, 0x1p-30)));
}

const char *tct_link_name(tct_link link) {
  static const char *const names[TCT_LINKS] = {[TCT_LINK_NONE] = "none",
                                               [TCT_LINK_IDENTITY] = "identity",
                                               [TCT_LINK_LOGISTIC] = "logistic",
                                               [TCT_LINK_LOG] = "log",
                                               [TCT_LINK_SOFTMAX] = "softmax"};
  return names[link];
}

tct_status tct_loss_make(const char *spec, tct_loss *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(tct_spec_parse(spec, "loss", &out->spec, err));
  const char *name[sizeof tct_loss_kinds / sizeof *tct_loss_kinds];
  for (int i = 0; i < tct_loss_kind_count; i++)
    if (!strcmp(name[i] = tct_loss_kinds[i]->name, out->spec.name)) out->kind = tct_loss_kinds[i];
  char names[400], near[TCT_MEANT];
  tct_loss_names(NULL, names, sizeof names);
  if (!out->kind)
    return tct_fail(err, TCT_E_USAGE, "there is no loss '%s'; use %s%s", out->spec.name, names,
                    tct_meant(out->spec.name, name, tct_loss_kind_count, near));
  TCT_TRY(tct_spec_check(&out->spec, out->kind->options, "loss", err));
  if (out->kind->options) out->h = tct_spec_real(&out->spec, out->kind->options, out->kind->options[0].key);
  return TCT_OK;
}
