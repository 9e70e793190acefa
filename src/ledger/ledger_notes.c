/* ledger_notes.c - what a ledger and its runs say beside numbers: unit, people, seeds, unaccounted facts, the input. */
#include "core/alloc.h"
#include "core/point.h"
#include "ledger/ledger.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static int keep(char **place, const char *text, tct_error *err) {
  if (*place) tct_free(*place);
  *place = tct_text_copy(text);
  if (!*place) tct_fail_memory(err);
  return *place != NULL;
}

static int take_unit(tct_ledger *l, const char *text) {
  if (l->unit >= 0 || (strcmp(text, "record") != 0 && strcmp(text, "person") != 0)) return 0;
  l->unit = !strcmp(text, "person");
  return l->made == 1 || l->seq == 2; /* from the first line on */
}

/* "TIME REASON" */
static int take_change(tct_ledger *l, const char *text, int anchor, tct_error *err) {
  const char *space = strchr(text, ' ');
  if (!space) return 0;
  tct_ledger_change *grown = tct_grow(l->changes, l->changed, l->changed + 1, sizeof *grown);
  if (!grown) return tct_fail_memory(err), 0;
  l->changes = grown;
  tct_ledger_change *change = &grown[l->changed++];
  change->anchor = anchor;
  if (!keep(&change->time, text, err) || !keep(&change->reason, space + 1, err)) return 0;
  change->time[space - text] = 0;
  return 1;
}

static int take_of_ledger(tct_ledger *l, const char *kind, const char *text, tct_error *err) {
  if (!strcmp(kind, "unit")) return take_unit(l, text);
  if (!strcmp(kind, "people")) return !l->people && !l->len && keep(&l->people, text, err);
  if (!strcmp(kind, "for-tests")) return l->for_tests = !l->len;
  if (!strcmp(kind, "anchor")) return keep(&l->anchor, text, err);
  if (!strcmp(kind, "reserved")) return tct_ledger_take_reservation(l, text, err);
  if (!strcmp(kind, "released")) return tct_ledger_close_reservation(l, text, TCT_RESERVATION_RELEASED);
  int lost = !strcmp(kind, "anchor-lost");
  return (lost || !strcmp(kind, "input-changed")) && take_change(l, text, lost, err);
}

static int take_of_run(tct_ledger *l, const char *kind, const char *text, tct_error *err) {
  int at = 0;
  tct_ledger_run *run = &l->runs[l->len - 1];
  if (!strcmp(kind, "reserved")) return tct_ledger_close_reservation(l, text, TCT_RESERVATION_CHARGED);
  if (!strcmp(kind, "seeded")) return run->seeded = 1;
  if (!strcmp(kind, "input")) {
    snprintf(run->input, sizeof run->input, "%s", text);
    return !strcmp(text, "first") || !strcmp(text, "known") || !strcmp(text, "part") || !strcmp(text, "changed");
  }
  if (strcmp(kind, "unaccounted") != 0) return 0;
  while (at < TCT_UNACCOUNTED && run->unaccounted[at]) at++;
  return at < TCT_UNACCOUNTED && keep(&run->unaccounted[at], text, err);
}

int tct_ledger_take_note(tct_ledger *l, int64_t run, const char *kind, const char *text, tct_error *err) {
  return run ? take_of_run(l, kind, text, err) : take_of_ledger(l, kind, text, err);
}

/* ---- may this run be charged? ---- */

static tct_status check_unit(const tct_ledger *l, const tct_ledger_promise *p, tct_error *err) {
  if (p->persons == l->unit) return TCT_OK;
  return tct_fail(err, TCT_E_BUDGET,
                  l->unit
                      ? "the ledger counts persons and this run protects one record only; bound persons in the run, "
                        "or keep another ledger for records"
                      : "the ledger counts records and this run protects a person's records together; charge it to "
                        "a ledger made with {person_ledger}");
}

/* Rows that are known: the same, or a part of the same. */
static int is_known(const tct_ledger *l, const tct_print *print) {
  for (int64_t i = 0; i < l->printed; i++)
    if (tct_print_same(print, &l->prints[i].print) || tct_print_is_part(print, &l->prints[i].print)) return 1;
  return 0;
}

static tct_status check_reason(const char *reason, tct_error *err) {
  size_t length = strlen(reason);
  int plain = length > 0 && length <= TCT_LEDGER_TEXT;
  for (size_t i = 0; i < length; i++) plain &= (unsigned char)reason[i] >= 32;
  return plain ? TCT_OK
               : tct_fail(err, TCT_E_USAGE, "the reason for another input must be one line of at most %d bytes",
                          TCT_LEDGER_TEXT);
}

static tct_status check_input(const tct_ledger *l, const tct_ledger_promise *p, const char **input, tct_error *err) {
  int whole = 0; /* has a table been shown that was not declared a part? */
  *input = "";
  if (p->input_changed) TCT_TRY(check_reason(p->input_changed, err));
  if (!p->print) return TCT_OK;
  for (int64_t i = 0; i < l->printed; i++) whole |= !l->prints[i].declared;
  *input = is_known(l, p->print) ? "known" : p->declared_part ? "part" : whole ? "changed" : "first";
  if (strcmp(*input, "changed") != 0 || p->input_changed) return TCT_OK;
  return tct_fail(
      err, TCT_E_BUDGET,
      "the rows are not those that the ledger knows, nor a part of them; name the right table, or say why it "
      "changed with {changed} (nothing is refunded)");
}

tct_status tct_ledger_accept(const tct_ledger *l, const tct_ledger_promise *p, const char **input, tct_error *err) {
  if (p->seeded && !l->for_tests)
    return tct_fail(
        err, TCT_E_BUDGET,
        "noise from a seed protects nobody, and the ledger takes no such run; leave the seed out, or make a "
        "ledger with {test_ledger}");
  TCT_TRY(check_unit(l, p, err));
  bool other = p->key && l->has_key && memcmp(p->key, l->key, sizeof l->key) != 0;
  if (TCT_POINT(ledger_exchanged_during_a_run, other, false))
    return tct_fail(err, TCT_E_RUN, "the ledger was exchanged while this run prepared; try again");
  return check_input(l, p, input, err);
}
