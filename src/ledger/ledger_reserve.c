/* ledger_reserve.c - a part of the budget that is kept for a run until an end: a row that refuses others, never a
 * charge.
 *
 * A reservation is a note.  What becomes of it is another row that names it: the run, which stands there in full, or a
 * note that it was released.  No sum of what was spent reads a reservation, so none can stand in for a charge.
 *
 * The end is a time of the wall clock, the one that outlives a crash.  The clock decides only what others may take
 * meanwhile: a reservation that becomes a charge passes the filter as every run does, also after its end.  One whose
 * end lies further ahead than any reservation is long was made by a wrong clock, and has ended. */
#include "core/alloc.h"
#include "core/spec.h"
#include "ledger/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Seconds, a day: longer than people wait for each other, and short enough for a budget to come back by itself. */
enum { LONGEST = 86400, EVENT = 200 };

void tct_ledger_time(int64_t later, char out[32]) {
  struct tm parts;
  time_t t = time(NULL) + (time_t)later;
  gmtime_r(&t, &parts);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- reading: "ID TIME END EPSILON DELTA COUNT EVENT... WHAT" ---------------------------------------------------- */

/* The text up to the next space, which becomes a word of its own; "" at the end. */
static const char *word(char **at) {
  char *first = *at, *space = strchr(first, ' ');
  *at = space ? space + 1 : first + strlen(first);
  if (space) *space = 0;
  return first;
}

static int take_words(tct_ledger_reservation *r, tct_error *err) {
  char *at = r->text;
  int64_t count = 0;
  tct_event event;
  r->id = word(&at), r->time = word(&at), r->end = word(&at);
  int sound = strlen(r->id) == TCT_LEDGER_ID - 1 && strlen(r->time) == 20 && strlen(r->end) == 20 &&
              tct_parse_real(word(&at), &r->epsilon) && tct_parse_real(word(&at), &r->delta) &&
              tct_parse_int(word(&at), &count) && count > 0 && r->epsilon > 0 && r->delta >= 0;
  for (int64_t i = 0; sound && i < count; i++)
    sound =
        tct_event_parse(word(&at), &event, NULL, NULL) == TCT_OK && tct_events_add(&r->events, event, err) == TCT_OK;
  r->what = at;
  return sound;
}

int tct_ledger_take_reservation(tct_ledger *l, const char *text, tct_error *err) {
  tct_ledger_reservation *grown = tct_grow(l->reservations, l->reserved, l->reserved + 1, sizeof *grown);
  if (!grown) return tct_fail_memory(err), 0;
  l->reservations = grown;
  tct_ledger_reservation *r = &grown[l->reserved++];
  r->text = tct_text_copy(text);
  if (!r->text) return tct_fail_memory(err), 0;
  return take_words(r, err);
}

static tct_ledger_reservation *find_open(const tct_ledger *l, const char *id) {
  for (int64_t i = 0; i < l->reserved; i++)
    if (l->reservations[i].fate == TCT_RESERVATION_OPEN && !strcmp(l->reservations[i].id, id))
      return &l->reservations[i];
  return NULL;
}

int tct_ledger_close_reservation(tct_ledger *l, const char *id, tct_ledger_fate fate) {
  tct_ledger_reservation *r = find_open(l, id);
  if (r) r->fate = fate;
  return r != NULL;
}

void tct_ledger_free_reservations(tct_ledger *l) {
  for (int64_t i = 0; i < l->reserved; i++) {
    tct_free(l->reservations[i].text);
    tct_events_free(&l->reservations[i].events);
  }
  tct_free(l->reservations);
}

/* ---- which of them refuse others --------------------------------------------------------------------------------- */

int tct_ledger_is_reserved(const tct_ledger_reservation *r) {
  char now[32], most[32];
  tct_ledger_time(0, now);
  tct_ledger_time(LONGEST + 1, most);
  return r->fate == TCT_RESERVATION_OPEN && strcmp(now, r->end) < 0 && strcmp(r->end, most) <= 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static char *text_of(const tct_ledger_promise *p, const char *id, const char *end, tct_error *err) {
  char now[32], epsilon[32], delta[32];
  int64_t room = 300 + EVENT * p->events->len + (int64_t)strlen(p->what), used = 0;
  char *text = TCT_NEW(char, room);
  if (!text) return tct_fail_memory(err), NULL;
  tct_ledger_time(0, now);
  tct_print_real(p->epsilon, epsilon, sizeof epsilon);
  tct_print_real(p->delta, delta, sizeof delta);
  used = snprintf(text, (size_t)room, "%s %s %s %s %s %lld ", id, now, end, epsilon, delta, (long long)p->events->len);
  for (int64_t i = 0; i < p->events->len; i++) {
    char event[EVENT];
    tct_event_print(&p->events->at[i], event, sizeof event);
    used += snprintf(text + used, (size_t)(room - used), "%s ", event);
  }
  snprintf(text + used, (size_t)(room - used), "%s", p->what);
  return text;
}

tct_status tct_ledger_reserve(tct_ledger *l, const tct_ledger_promise *p, char id[TCT_LEDGER_ID], tct_error *err) {
  unsigned char random[TCT_LEDGER_ID / 2];
  char end[32];
  sqlite3_randomness(sizeof random, random);
  tct_hex_print(random, sizeof random, id);
  tct_ledger_time((int64_t)ceil(fmin(p->reserve, LONGEST)), end);
  char *text = text_of(p, id, end, err);
  if (!text) return TCT_E_MEMORY;
  tct_status status = tct_ledger_append_note(l, "reserved", text, err);
  tct_free(text);
  return status;
}

tct_status tct_ledger_check_reserved(const tct_ledger *l, const char *id, tct_error *err) {
  if (!id || find_open(l, id)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "the ledger lacks what this run had reserved: it was exchanged or rolled back; bring "
                  "its newest state back");
}

tct_status tct_ledger_release(const char *path, const char *id, tct_error *err) {
  tct_ledger ledger;
  TCT_TRY(tct_ledger_open(path, 1, &ledger, err));
  tct_status status = find_open(&ledger, id) ? tct_ledger_append_note(&ledger, "released", id, err) : TCT_OK;
  tct_ledger_close(&ledger);
  return status;
}
