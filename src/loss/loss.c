/* loss.c - the table of losses and the making of one from its spec. */
#include "loss/loss.h"

#include <math.h>
#include <stdio.h>
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

tct_status tct_loss_make(const char *spec, tct_loss *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(tct_spec_parse(spec, "loss", &out->spec, err));
  char names[200] = "";
  for (int i = 0; i < tct_loss_kind_count; i++) {
    if (!strcmp(tct_loss_kinds[i]->name, out->spec.name)) out->kind = tct_loss_kinds[i];
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", tct_loss_kinds[i]->name);
  }
  if (!out->kind) return tct_fail(err, TCT_E_USAGE, "there is no loss '%s'; the losses are: %s", out->spec.name, names);
  TCT_TRY(tct_spec_check(&out->spec, out->kind->options, "loss", err));
  if (out->kind->options) out->h = tct_spec_real(&out->spec, out->kind->options, out->kind->options[0].key);
  return TCT_OK;
}
