/* amend.c - what a model's file says beside its fit: names, public scaling, facts found later, the price of everything.
 */
#include "core/alloc.h"
#include "core/sized.h"
#include "several/composition.h"

#include <string.h>

static tct_status replace(char **old, const char *text, tct_error *err) {
  char *copy = tct_text_copy(text);
  if (!copy) return tct_fail_memory(err);
  tct_free(*old);
  *old = copy;
  return TCT_OK;
}

static tct_status amend_names(tct_model *m, const tct_amendment *a, tct_error *err) {
  for (int64_t j = 0; a->features && j < m->cols; j++) TCT_TRY(replace(&m->features[j], a->features[j], err));
  return a->label ? replace(&m->label, a->label, err) : TCT_OK;
}

static tct_status amend_classes(tct_model *m, const tct_amendment *a, tct_error *err) {
  return a->classes ? tct_model_name_classes(m, a->classes, a->classes_count, a->class_kind, err) : TCT_OK;
}

static tct_status amend_scale(tct_model *m, const tct_amendment *a, tct_error *err) {
  if (!a->scale_factor && !a->scale_shift) return TCT_OK;
  if (!a->scale_factor || !a->scale_shift || m->scale_factor)
    return tct_fail(err, TCT_E_USAGE, "a scale has a factor and a shift, and a model has one scale; give both, once");
  m->scale_factor = TCT_NEW(double, m->cols);
  m->scale_shift = TCT_NEW(double, m->cols);
  if (!m->scale_factor || !m->scale_shift) return tct_fail_memory(err);
  memcpy(m->scale_factor, a->scale_factor, (size_t)m->cols * sizeof(double));
  memcpy(m->scale_shift, a->scale_shift, (size_t)m->cols * sizeof(double));
  return replace(&m->scale, "bounds", err);
}

static tct_status amend_events(tct_model *m, const tct_composition *c, tct_error *err) {
  tct_events events = {0};
  tct_status status = tct_composition_events(c, &events, err);
  if (status != TCT_OK) return tct_events_free(&events), status;
  tct_events_free(&m->events);
  m->events = events;
  return TCT_OK;
}

/* The claim becomes that of everything: the fits, and the choice among them. */
static tct_status amend_claim(tct_model *m, const tct_composition *c, tct_error *err) {
  char choice[TCT_SELECTION_TEXT];
  tct_status status = tct_json_keep(tct_composition_fits(c), &m->fits, err);
  if (status == TCT_OK) status = amend_events(m, c, err);
  if (status == TCT_OK) status = replace(&m->accountant, c->claim.by, err);
  m->epsilon = c->claim.epsilon, m->delta = c->claim.delta;
  if (status != TCT_OK) return status;
  tct_composition_choice_text(c, choice);
  return replace(&m->choice, choice, err);
}

tct_status tct_model_claim(tct_model *m, const tct_composition *c, const tct_ledger_receipt *receipt, bool seeded,
                           char *const *facts, tct_error *err) {
  if (m->is_private && c->claim.by) TCT_TRY(amend_claim(m, c, err));
  TCT_TRY(tct_model_tell(m, facts, err));
  if (seeded) m->reproducible = 1;
  if (receipt->for_tests) m->for_tests = 1;
  if (!receipt->head || !receipt->run) return TCT_OK;
  TCT_TRY(replace(&m->ledger_head, receipt->head, err));
  return replace(&m->run_id, receipt->run, err);
}

static const tct_sized SIZED = TCT_SIZED(tct_amendment, class_kind, "call tct_amendment_default first");

void tct_amendment_default_sized(tct_amendment *amendment, size_t size) {
  tct_sized_default(&SIZED, amendment, size, &(tct_amendment){.size = sizeof *amendment});
}

tct_status tct_model_amend(tct_model *model, const tct_amendment *given, tct_error *err) {
  tct_amendment own = {0};
  const tct_amendment *amendment = &own;
  tct_error_clear(err);
  TCT_TRY(tct_sized_take(&SIZED, given, &own, err));
  TCT_TRY(amend_scale(model, amendment, err));
  TCT_TRY(amend_names(model, amendment, err));
  TCT_TRY(amend_classes(model, amendment, err));
  return tct_model_tell(model, (char *const *)amendment->unaccounted, err);
}
