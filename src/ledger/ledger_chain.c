/* ledger_chain.c - the ledger's rows in the order of their chain, each hash recomputed. */
#include "core/point.h"
#include "core/alloc.h"
#include "model/json.h"
#include "ledger/ledger.h"

#include <string.h>

enum { META, RUNS, EVENTS, NOTES, TABLES };
static const char *const table_name[TABLES] = {"meta", "runs", "events", "notes"};
/* Columns as in ledger_store.c's schema; the first is the place in the chain, the last the hash. */
static const char *const table_query[TABLES] = {
    "SELECT seq, version, name, created, neighbours, filter, epsilon, delta, hash FROM meta ORDER BY seq",
    "SELECT seq, id, time, what, epsilon, delta, neighbours, plan, events, hash FROM runs ORDER BY seq",
    "SELECT seq, run, event, hash FROM events ORDER BY seq",
    "SELECT seq, run, kind, text, hash FROM notes ORDER BY seq",
};
static const char *const filter_names[] = {[TCT_FILTER_ZCDP] = "zcdp",
                                           [TCT_FILTER_GDP] = "gdp",
                                           [TCT_FILTER_RDP] = "rdp",
                                           [TCT_FILTER_SUM] = "sum",
                                           [TCT_FILTER_MIXED] = "mixed"};

const char *tct_ledger_filter_name(tct_filter_kind kind) { return filter_names[kind]; }

int tct_ledger_filter_find(const char *name) {
  for (int k = 0; k <= TCT_FILTER_MIXED; k++)
    if (name && !strcmp(name, filter_names[k])) return k;
  return -1;
}

static void hash_column(tct_digest *digest, sqlite3_stmt *row, int c) {
  double real;
  uint64_t bits;
  switch (sqlite3_column_type(row, c)) {
    case SQLITE_INTEGER: tct_digest_word(digest, 'I', (uint64_t)sqlite3_column_int64(row, c)); break;
    case SQLITE_FLOAT:
      real = sqlite3_column_double(row, c);
      memcpy(&bits, &real, sizeof bits);
      tct_digest_word(digest, 'R', bits);
      break;
    case SQLITE_NULL: tct_digest_field(digest, 'N', "", 0); break;
    default: { /* the kind keeps a text apart from a blob of the same bytes */
      char kind = sqlite3_column_type(row, c) == SQLITE_TEXT ? 'T' : 'B';
      const void *bytes = sqlite3_column_blob(row, c);
      tct_digest_field(digest, kind, bytes, (size_t)sqlite3_column_bytes(row, c));
    }
  }
}

void tct_ledger_row_hash(sqlite3_stmt *row, const char *table, const char *previous, char hex[TCT_DIGEST_HEX]) {
  tct_digest digest;
  tct_digest_start(&digest);
  tct_digest_text(&digest, "tacit-ledger-1");
  if (TCT_POINT(chain_without_the_row_before, true, false)) tct_digest_text(&digest, previous);
  tct_digest_text(&digest, table);
  for (int c = 0; c < sqlite3_column_count(row) - 1; c++) hash_column(&digest, row, c);
  tct_digest_end(&digest, hex);
}

/* A text that could not be fetched for lack of memory is no sign of an edit. */
static tct_status edited(const tct_ledger *l, int64_t seq, const char *what, tct_error *err) {
  if (sqlite3_errcode(l->db) == SQLITE_NOMEM) return tct_fail_memory(err);
  return tct_fail(err, TCT_E_DATA,
                  "the ledger was edited or damaged: row %lld of its chain %s; restore the file from a backup",
                  (long long)seq, what);
}

static const char *text_at(sqlite3_stmt *row, int c) {
  const char *text = (const char *)sqlite3_column_text(row, c);
  return text ? text : "";
}

static tct_status take_meta(tct_ledger *l, sqlite3_stmt *row, tct_error *err) {
  int neighbours = tct_neighbours_find(text_at(row, 4)), filter = tct_ledger_filter_find(text_at(row, 5));
  if (l->name || neighbours < 0 || filter < 0) return edited(l, l->seq, "does not describe a budget", err);
  l->made = sqlite3_column_int64(row, 1) == 1 ? 1 : TCT_LEDGER_VERSION;
  if (sqlite3_column_int64(row, 1) != l->made || l->made > l->version)
    return tct_fail(err, TCT_E_DATA, "the ledger has another version than this program reads; use a matching tacit");
  memcpy(l->first, l->head, sizeof l->first);
  l->name = tct_text_copy(text_at(row, 2));
  l->created = tct_text_copy(text_at(row, 3));
  if (!l->name || !l->created) return tct_fail_memory(err);
  l->neighbours = (tct_neighbours)neighbours;
  l->filter = (tct_filter_kind)filter;
  l->epsilon = sqlite3_column_double(row, 6);
  l->delta = sqlite3_column_double(row, 7);
  return TCT_OK;
}

static tct_status take_run(tct_ledger *l, sqlite3_stmt *row, tct_error *err) {
  if (l->len == l->cap) {
    int64_t cap = l->cap ? 2 * l->cap : 16;
    tct_ledger_run *grown = tct_grow(l->runs, l->len, cap, sizeof *grown);
    if (!grown) return tct_fail_memory(err);
    l->runs = grown;
    l->cap = cap;
  }
  tct_ledger_run *run = &l->runs[l->len++];
  run->seq = l->seq;
  snprintf(run->id, sizeof run->id, "%s", text_at(row, 1));
  run->time = tct_text_copy(text_at(row, 2));
  run->what = tct_text_copy(text_at(row, 3));
  run->epsilon = sqlite3_column_double(row, 4);
  run->delta = sqlite3_column_double(row, 5);
  snprintf(run->plan, sizeof run->plan, "%s", text_at(row, 7));
  run->promised = sqlite3_column_int64(row, 8);
  memcpy(run->head, l->head, sizeof run->head);
  if (!run->time || !run->what) return tct_fail_memory(err);
  int sound = run->epsilon >= 0 && run->delta >= 0 && run->promised > 0;
  if (!sound || tct_neighbours_find(text_at(row, 6)) != (int)l->neighbours)
    return edited(l, l->seq, "is not a run of this ledger", err);
  return TCT_OK;
}

static tct_status take_event(tct_ledger *l, sqlite3_stmt *row, tct_error *err) {
  tct_event event;
  tct_ledger_run *run = l->len ? &l->runs[l->len - 1] : NULL;
  if (!run || sqlite3_column_int64(row, 1) != run->seq) return edited(l, l->seq, "belongs to no run", err);
  if (tct_event_parse(text_at(row, 2), &event, NULL, NULL) != TCT_OK)
    return edited(l, l->seq, "is not an event that this program knows", err);
  TCT_TRY(tct_events_add(&run->events, event, err));
  memcpy(run->head, l->head, sizeof run->head);
  return TCT_OK;
}

static tct_status take_note(tct_ledger *l, sqlite3_stmt *row, tct_error *err) {
  tct_error why = {0};
  int64_t of = sqlite3_column_int64(row, 1);
  tct_ledger_run *run = l->len ? &l->runs[l->len - 1] : NULL;
  int fits = of == 0 || (run && of == run->seq && run->events.len == run->promised);
  if (!fits || !tct_ledger_take_note(l, of, text_at(row, 2), text_at(row, 3), &why))
    return why.status == TCT_E_MEMORY ? tct_fail_memory(err) : edited(l, l->seq, "is no note of this ledger", err);
  if (of) memcpy(run->head, l->head, sizeof run->head);
  return TCT_OK;
}

/* One row: its hash must follow from the chain so far. */
static tct_status take(tct_ledger *l, int table, sqlite3_stmt *row, tct_error *err) {
  char hash[TCT_DIGEST_HEX];
  int columns = sqlite3_column_count(row);
  l->seq++;
  tct_ledger_row_hash(row, table_name[table], l->head, hash);
  if (sqlite3_column_type(row, columns - 1) != SQLITE_TEXT ||
      sqlite3_column_bytes(row, columns - 1) != TCT_DIGEST_HEX - 1 || strcmp(text_at(row, columns - 1), hash) != 0)
    return edited(l, l->seq, "does not agree with its hash", err);
  memcpy(l->head, hash, sizeof hash);
  if ((table == META) != (l->seq == 1)) return edited(l, l->seq, "is out of place", err);
  if (table == META) return take_meta(l, row, err);
  if (table == NOTES) return take_note(l, row, err);
  return table == RUNS ? take_run(l, row, err) : take_event(l, row, err);
}

/* Moves a cursor on; *more: it has a row. */
static tct_status advance(const tct_ledger *l, sqlite3_stmt *cursor, int *more, tct_error *err) {
  int state = sqlite3_step(cursor);
  *more = state == SQLITE_ROW;
  return state == SQLITE_ROW || state == SQLITE_DONE ? TCT_OK : tct_ledger_failed(l->db, "read", err);
}

/* A cursor for each table, each ascending; the next place of the chain is at the front of exactly one. */
static tct_status merge(tct_ledger *l, sqlite3_stmt *const cursor[TABLES], tct_error *err) {
  int more[TABLES];
  memset(more, 0, sizeof more);
  for (int t = 0; t < TABLES && cursor[t]; t++) TCT_TRY(advance(l, cursor[t], &more[t], err));
  while (more[META] || more[RUNS] || more[EVENTS] || more[NOTES]) {
    int front = -1;
    for (int t = 0; t < TABLES; t++)
      if (more[t] && sqlite3_column_int64(cursor[t], 0) == l->seq + 1) front = t;
    if (front < 0) return edited(l, l->seq + 1, "is missing", err);
    TCT_TRY(take(l, front, cursor[front], err));
    TCT_TRY(advance(l, cursor[front], &more[front], err));
  }
  return TCT_OK;
}

static tct_status check_head(tct_ledger *l, tct_error *err) {
  sqlite3_stmt *row = NULL;
  if (sqlite3_prepare_v2(l->db, "SELECT one, seq, hash FROM head", -1, &row, NULL) != SQLITE_OK)
    return tct_ledger_failed(l->db, "read", err);
  int same = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_type(row, 1) == SQLITE_INTEGER &&
             sqlite3_column_type(row, 2) == SQLITE_TEXT && sqlite3_column_int64(row, 0) == 1 &&
             sqlite3_column_int64(row, 1) == l->seq && sqlite3_column_bytes(row, 2) == TCT_DIGEST_HEX - 1 &&
             !strcmp(text_at(row, 2), l->head) && sqlite3_step(row) == SQLITE_DONE;
  int memory = sqlite3_errcode(l->db) == SQLITE_NOMEM;
  sqlite3_finalize(row);
  if (memory) return tct_fail_memory(err);
  return same ? TCT_OK
              : tct_fail(err, TCT_E_DATA,
                         "the ledger was edited or cut short: its last row is not the one that its head names; restore "
                         "the file from a backup");
}

static tct_status check_complete(const tct_ledger *l, tct_error *err) {
  if (l->seq < 1) return tct_fail(err, TCT_E_DATA, "the ledger has no rows; restore the file from a backup");
  for (int64_t i = 0; i < l->len; i++)
    if (l->runs[i].events.len != l->runs[i].promised) return edited(l, l->runs[i].seq, "lacks some of its events", err);
  if (l->unit < 0) return edited(l, l->seq, "does not follow a note of the ledger's unit", err);
  return TCT_OK;
}

tct_status tct_ledger_read_chain(tct_ledger *l, tct_error *err) {
  sqlite3_stmt *cursor[TABLES] = {NULL};
  tct_status status = TCT_OK;
  int tables = l->version > 1 ? TABLES : NOTES;
  l->unit = l->version > 1 ? -1 : 0; /* ledgers without notes counted records */
  memset(l->head, '0', TCT_DIGEST_HEX - 1);
  for (int t = 0; t < tables && status == TCT_OK; t++)
    if (sqlite3_prepare_v2(l->db, table_query[t], -1, &cursor[t], NULL) != SQLITE_OK)
      status = tct_ledger_failed(l->db, "read", err);
  if (status == TCT_OK) status = merge(l, cursor, err);
  for (int t = 0; t < TABLES; t++) sqlite3_finalize(cursor[t]);
  if (status == TCT_OK) status = check_head(l, err);
  return status == TCT_OK ? check_complete(l, err) : status;
}
