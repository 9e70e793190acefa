/* ledger_store.c - the ledger's file: SQLite, opened so that a commit is on the disk when it returns.
 *
 * Rollback journal, not WAL: one file, readable by any SQLite, no shared memory.  synchronous=EXTRA also syncs the
 * folder after the journal is deleted.  With FULL alone a power cut could bring a deleted journal back, and the next
 * open would undo a committed charge.  BEGIN IMMEDIATE takes the write lock before anything is read, so that two runs
 * can never both see the last of the budget. */
#include "core/alloc.h"
#include "model/json.h"
#include "ledger/ledger.h"

#include <string.h>
#include <sys/stat.h>

enum {
  APPLICATION_ID = 0x74616369, /* "taci" */
};

static const char *const schema[] = {
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE head (one INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE meta (seq INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL, created TEXT NOT NULL, "
    "neighbours TEXT NOT NULL, filter TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE notes (seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, "
    "hash TEXT NOT NULL)",
    "CREATE TABLE prints (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, part INTEGER NOT NULL, rows INTEGER NOT NULL, "
    "sum TEXT NOT NULL, sketch TEXT NOT NULL, mac TEXT NOT NULL)",
    "CREATE TABLE runs (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, time TEXT NOT NULL, what TEXT NOT NULL, "
    "epsilon REAL NOT NULL, delta REAL NOT NULL, neighbours TEXT NOT NULL, plan TEXT NOT NULL, "
    "events INTEGER NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE secret (one INTEGER PRIMARY KEY, key TEXT NOT NULL, mac TEXT NOT NULL)",
};
enum { SCHEMA = sizeof schema / sizeof *schema };
static const int since[SCHEMA] = {1, 1, 1, 2, 2, 1, 2}; /* the version that brought each table */

tct_status tct_ledger_failed(sqlite3 *db, const char *what, tct_error *err) {
  int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
  if (code == SQLITE_NOMEM) return tct_fail_memory(err);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return tct_fail(err, TCT_E_RUN, "the ledger is locked by another program; let that end and try again");
  int machine = code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL || code == SQLITE_READONLY ||
                code == SQLITE_PERM || code == SQLITE_AUTH || code == SQLITE_NOLFS || code == SQLITE_INTERRUPT;
  if (machine)
    return tct_fail(err, TCT_E_RUN, "cannot %s the ledger (%s); mend that and try again", what, sqlite3_errmsg(db));
  return tct_fail(err, TCT_E_DATA, "the ledger is damaged or no ledger (%s); restore the file from a backup",
                  sqlite3_errmsg(db));
}

static tct_status execute(sqlite3 *db, const char *sql, const char *what, tct_error *err) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? TCT_OK : tct_ledger_failed(db, what, err);
}

/* The first column of the first row, as text; "" if there is none. */
static tct_status ask(sqlite3 *db, const char *sql, char *out, size_t size, tct_error *err) {
  sqlite3_stmt *row = NULL;
  out[0] = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK) return tct_ledger_failed(db, "read", err);
  int state = sqlite3_step(row);
  const char *text = state == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : "";
  if (text)
    snprintf(out, size, "%s", text);
  else if (sqlite3_errcode(db) == SQLITE_NOMEM)
    state = SQLITE_NOMEM;
  sqlite3_finalize(row);
  if (state == SQLITE_NOMEM) return tct_fail_memory(err);
  return state == SQLITE_ROW || state == SQLITE_DONE ? TCT_OK : tct_ledger_failed(db, "read", err);
}

static tct_status set_up(sqlite3 *db, tct_error *err) {
  char mode[16], sync[16];
  sqlite3_extended_result_codes(db, 0);
  sqlite3_busy_handler(db, tct_ledger_wait, db);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  TCT_TRY(execute(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY", "open", err));
  TCT_TRY(execute(db, "PRAGMA synchronous=EXTRA", "open", err));
  TCT_TRY(ask(db, "PRAGMA synchronous", sync, sizeof sync, err));
  TCT_TRY(ask(db, "PRAGMA journal_mode=DELETE", mode, sizeof mode, err));
  if (strcmp(sync, "3") || strcmp(mode, "delete"))
    return tct_fail(err, TCT_E_RUN, "this SQLite cannot sync every write of the ledger; use one that can");
  return TCT_OK;
}

/* SQLite takes "", ":memory:" and "file:..." for more than names; behind "./" they are files like any other. */
static int open_file(const char *path, int flags, sqlite3 **db) {
  char *name = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
  int code = name ? sqlite3_open_v2(name, db, flags, NULL) : SQLITE_NOMEM;
  sqlite3_free(name);
  return code;
}

static tct_status connect(const char *path, int flags, sqlite3 **db, tct_error *err) {
  tct_status status;
  *db = NULL;
  TCT_TRY(tct_ledger_check_files(path, err));
  int code = open_file(path, flags, db);
  if (code == SQLITE_CANTOPEN)
    status =
        tct_fail(err, TCT_E_RUN, "cannot open the ledger %s; check the name, or make one with {make_ledger}", path);
  else
    status = code == SQLITE_OK ? set_up(*db, err) : tct_ledger_failed(*db, "open", err);
  if (status == TCT_OK) return TCT_OK;
  sqlite3_close(*db);
  *db = NULL;
  return status;
}

/* The tables are exactly ours: no trigger, no view, no other column. */
static tct_status check_schema(sqlite3 *db, int *version, tct_error *err) {
  char id[16], text[16];
  sqlite3_stmt *row = NULL;
  TCT_TRY(ask(db, "PRAGMA application_id", id, sizeof id, err));
  TCT_TRY(ask(db, "PRAGMA user_version", text, sizeof text, err));
  if (sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema ORDER BY name", -1, &row, NULL) != SQLITE_OK)
    return tct_ledger_failed(db, "read", err);
  *version = !strcmp(text, "1") ? 1 : !strcmp(text, "2") ? 2 : 0;
  int count = 0, at = 0, same = 1, state;
  while ((state = sqlite3_step(row)) == SQLITE_ROW) {
    const char *sql = (const char *)sqlite3_column_text(row, 0);
    if (!sql && sqlite3_errcode(db) == SQLITE_NOMEM) break;
    while (at < SCHEMA && since[at] > *version) at++;
    same &= at < SCHEMA && sql && !strcmp(sql, schema[at]);
    at++, count++;
  }
  while (at < SCHEMA && since[at] > *version) at++;
  int whole = state == SQLITE_DONE;
  sqlite3_finalize(row);
  if (!whole && state == SQLITE_ROW) return tct_fail_memory(err);
  if (!whole) return tct_ledger_failed(db, "read", err);
  if (count == 0) return tct_fail(err, TCT_E_DATA, "the file is empty, not a ledger; make one with {make_ledger}");
  char number[16];
  snprintf(number, sizeof number, "%d", APPLICATION_ID);
  if (strcmp(id, number) != 0)
    return tct_fail(err, TCT_E_DATA, "the file is a database but not a ledger; name the right file");
  if (!same || at != SCHEMA || !*version)
    return tct_fail(err, TCT_E_DATA,
                    "the ledger's tables were changed, or are of another version; restore the file from a backup");
  return TCT_OK;
}

tct_status tct_ledger_open(const char *path, int writes, tct_ledger *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(connect(path, SQLITE_OPEN_READWRITE, &out->db, err));
  tct_status status = execute(out->db, writes ? "BEGIN IMMEDIATE" : "BEGIN", "open", err);
  if (status == TCT_OK) status = check_schema(out->db, &out->version, err);
  if (status == TCT_OK) status = tct_ledger_read_chain(out, err);
  if (status == TCT_OK && out->version > 1) status = tct_ledger_read_secret(out, err);
  if (status != TCT_OK) tct_ledger_close(out);
  return status;
}

void tct_ledger_close(tct_ledger *l) {
  for (int64_t i = 0; i < l->len; i++) {
    tct_free(l->runs[i].time);
    tct_free(l->runs[i].what);
    tct_events_free(&l->runs[i].events);
    for (int k = 0; k < TCT_UNACCOUNTED; k++) tct_free(l->runs[i].unaccounted[k]);
  }
  for (int64_t i = 0; i < l->changed; i++) {
    tct_free(l->changes[i].time);
    tct_free(l->changes[i].reason);
  }
  tct_ledger_free_reservations(l);
  tct_free(l->runs);
  tct_free(l->changes);
  tct_wipe_free(l->prints, l->printed, sizeof *l->prints);
  tct_wipe(l->key, sizeof l->key);
  tct_free(l->people);
  tct_free(l->anchor);
  tct_free(l->name);
  tct_free(l->created);
  sqlite3_close(l->db); /* rolls an open transaction back */
  memset(l, 0, sizeof *l);
}

tct_status tct_ledger_integrity(tct_ledger *l, char *why, size_t size, tct_error *err) {
  tct_error damage = {0};
  tct_status status = ask(l->db, "PRAGMA integrity_check(1)", why, size, &damage);
  if (status == TCT_OK && !strcmp(why, "ok")) why[0] = 0;
  if (status == TCT_OK) return TCT_OK;
  snprintf(why, size, "%s", damage.text);
  if (status == TCT_E_DATA) return TCT_OK; /* damage found is an answer */
  if (err) *err = damage;
  return status;
}

/* ---- writing ---- */

typedef tct_ledger_value value;

static int bind(sqlite3_stmt *insert, const char *types, const value *values) {
  int code = SQLITE_OK;
  for (int c = 0; types[c] && code == SQLITE_OK; c++) {
    if (types[c] == 'i') code = sqlite3_bind_int64(insert, c + 1, values[c].i);
    if (types[c] == 'r') code = sqlite3_bind_double(insert, c + 1, values[c].r);
    if (types[c] == 't') code = sqlite3_bind_text(insert, c + 1, values[c].t, -1, SQLITE_TRANSIENT);
  }
  return code;
}

tct_status tct_ledger_execute(sqlite3 *db, const char *sql, const char *types, const value *values, tct_error *err) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = bind(statement, types, values);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  tct_status status = code == SQLITE_DONE ? TCT_OK : tct_ledger_failed(db, "write", err);
  sqlite3_finalize(statement);
  return status;
}

/* Inserts the row with an empty hash, reads it back as stored, and gives it its place in the chain. */
static tct_status append(tct_ledger *l, const char *table, const char *insert, const char *types, value *values,
                         tct_error *err) {
  char sql[80], hash[TCT_DIGEST_HEX];
  sqlite3_stmt *row = NULL;
  values[0].i = l->seq + 1;
  TCT_TRY(tct_ledger_execute(l->db, insert, types, values, err));
  snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE seq = %lld", table, (long long)values[0].i);
  int found = sqlite3_prepare_v2(l->db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW;
  if (found) tct_ledger_row_hash(row, table, l->head, hash);
  tct_status status = found ? TCT_OK : tct_ledger_failed(l->db, "write", err);
  sqlite3_finalize(row);
  if (status != TCT_OK) return status;
  snprintf(sql, sizeof sql, "UPDATE %s SET hash = ? WHERE seq = ?", table);
  TCT_TRY(tct_ledger_execute(l->db, sql, "ti", (value[]){{.t = hash}, {.i = values[0].i}}, err));
  memcpy(l->head, hash, sizeof hash);
  l->seq++;
  return TCT_OK;
}

static tct_status append_note(tct_ledger *l, int64_t run, const char *kind, const char *text, tct_error *err) {
  value values[] = {{.i = 0}, {.i = run}, {.t = kind}, {.t = text}};
  return append(l, "notes", "INSERT INTO notes VALUES (?,?,?,?,'')", "iitt", values, err);
}

/* What the runs' table has no column for. */
static tct_status append_notes(tct_ledger *l, int64_t run, const tct_ledger_promise *p, const char *input,
                               tct_error *err) {
  if (p->reserved) TCT_TRY(append_note(l, run, "reserved", p->reserved, err));
  if (p->seeded) TCT_TRY(append_note(l, run, "seeded", "", err));
  for (int i = 0; p->unaccounted && p->unaccounted[i]; i++)
    TCT_TRY(append_note(l, run, "unaccounted", p->unaccounted[i], err));
  if (!input[0]) return TCT_OK;
  TCT_TRY(append_note(l, run, "input", input, err));
  if (!strcmp(input, "known")) return TCT_OK;
  return tct_ledger_write_print(l, run, p->print, p->declared_part, err);
}

/* An entry of its own, before what it is for. */
static tct_status append_change(tct_ledger *l, const char *kind, const char *reason, tct_error *err) {
  char text[TCT_LEDGER_TEXT + 40], time[32];
  tct_ledger_time(0, time);
  snprintf(text, sizeof text, "%s %s", time, reason);
  return append_note(l, 0, kind, text, err);
}

static tct_status append_run(tct_ledger *l, const tct_ledger_promise *p, char id[TCT_LEDGER_ID], tct_error *err) {
  char time[32], plan[TCT_LEDGER_ASKED] = "";
  if (p->asked.fits) TCT_TRY(tct_ledger_asked_digest(&p->asked, p->persons, p->seeded, plan, err));
  tct_ledger_time(0, time);
  TCT_TRY(ask(l->db, "SELECT lower(hex(randomblob(16)))", id, TCT_LEDGER_ID, err));
  int64_t run = l->seq + 1;
  value values[] = {{.i = 0},
                    {.t = id},
                    {.t = time},
                    {.t = p->what},
                    {.r = p->epsilon},
                    {.r = p->delta},
                    {.t = tct_neighbours_name(p->neighbours)},
                    {.t = plan},
                    {.i = p->events->len}};
  TCT_TRY(append(l, "runs", "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,'')", "itttrrtti", values, err));
  for (int64_t i = 0; i < p->events->len; i++) {
    char text[200];
    tct_event_print(&p->events->at[i], text, sizeof text);
    value event[] = {{.i = 0}, {.i = run}, {.t = text}};
    TCT_TRY(append(l, "events", "INSERT INTO events VALUES (?,?,?,'')", "iit", event, err));
  }
  return TCT_OK;
}

static tct_status commit(tct_ledger *l, tct_error *err) {
  value values[] = {{.i = l->seq}, {.t = l->head}};
  TCT_TRY(tct_ledger_execute(l->db, "UPDATE head SET seq = ?, hash = ?", "it", values, err));
  return execute(l->db, "COMMIT", "write", err);
}

/* A ledger of version 1 gets the tables of today; its rows and their hashes stay. */
static tct_status upgrade(tct_ledger *l, const unsigned char *given, tct_error *err) {
  tct_key key;
  tct_status status = TCT_OK;
  if (l->version > 1) return TCT_OK;
  for (int i = 0; i < SCHEMA; i++)
    if (since[i] > l->version) TCT_TRY(execute(l->db, schema[i], "write", err));
  TCT_TRY(execute(l->db, "PRAGMA user_version=2", "write", err));
  if (given)
    memcpy(key, given, sizeof key);
  else
    status = tct_key_draw(key, err);
  if (status == TCT_OK) status = tct_ledger_write_key(l, key, err);
  tct_wipe(key, sizeof key);
  l->version = TCT_LEDGER_VERSION;
  return status == TCT_OK ? append_note(l, 0, "unit", "record", err) : status;
}

tct_status tct_ledger_append(tct_ledger *l, const tct_ledger_promise *promise, const char *input,
                             char id[TCT_LEDGER_ID], tct_error *err) {
  TCT_TRY(upgrade(l, promise->key, err));
  if (!strcmp(input, "changed")) TCT_TRY(append_change(l, "input-changed", promise->input_changed, err));
  int64_t run = l->seq + 1;
  TCT_TRY(append_run(l, promise, id, err));
  TCT_TRY(append_notes(l, run, promise, input, err));
  return commit(l, err);
}

tct_status tct_ledger_append_note(tct_ledger *l, const char *kind, const char *text, tct_error *err) {
  TCT_TRY(upgrade(l, NULL, err));
  TCT_TRY(append_note(l, 0, kind, text, err));
  return commit(l, err);
}

tct_status tct_ledger_append_anchor(tct_ledger *l, const char *lost, tct_error *err) {
  TCT_TRY(upgrade(l, NULL, err));
  if (lost) TCT_TRY(append_change(l, "anchor-lost", lost, err));
  TCT_TRY(append_note(l, 0, "anchor", l->anchor, err));
  return commit(l, err);
}

tct_status tct_ledger_hash_at(tct_ledger *l, int64_t seq, char hash[TCT_DIGEST_HEX], tct_error *err) {
  char sql[400];
  snprintf(sql, sizeof sql,
           "SELECT hash FROM (SELECT seq, hash FROM meta UNION SELECT seq, hash FROM runs UNION SELECT seq, hash FROM "
           "events%s) WHERE seq = %lld",
           l->version > 1 ? " UNION SELECT seq, hash FROM notes" : "", (long long)seq);
  return ask(l->db, sql, hash, TCT_DIGEST_HEX, err);
}

static tct_status create(tct_ledger *l, const tct_ledger *settings, tct_error *err) {
  char count[16], sql[80], time[32];
  TCT_TRY(execute(l->db, "BEGIN IMMEDIATE", "write", err));
  TCT_TRY(ask(l->db, "SELECT count(*) FROM sqlite_schema", count, sizeof count, err));
  if (strcmp(count, "0") != 0)
    return tct_fail(err, TCT_E_USAGE, "there is a ledger or another database already; name a new file");
  snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION_ID, TCT_LEDGER_VERSION);
  TCT_TRY(execute(l->db, sql, "write", err));
  for (int i = 0; i < SCHEMA; i++) TCT_TRY(execute(l->db, schema[i], "write", err));
  tct_ledger_time(0, time);
  memset(l->head, '0', TCT_DIGEST_HEX - 1);
  value values[] = {{.i = 0},
                    {.i = TCT_LEDGER_VERSION},
                    {.t = settings->name},
                    {.t = time},
                    {.t = tct_neighbours_name(settings->neighbours)},
                    {.t = tct_ledger_filter_name(settings->filter)},
                    {.r = settings->epsilon},
                    {.r = settings->delta}};
  TCT_TRY(append(l, "meta", "INSERT INTO meta VALUES (?,?,?,?,?,?,?,?,'')", "iittttrr", values, err));
  memcpy(l->first, l->head, sizeof l->first);
  TCT_TRY(tct_ledger_write_key(l, settings->key, err));
  TCT_TRY(append_note(l, 0, "unit", settings->unit ? "person" : "record", err));
  if (settings->people) TCT_TRY(append_note(l, 0, "people", settings->people, err));
  if (settings->for_tests) TCT_TRY(append_note(l, 0, "for-tests", "", err));
  if (settings->anchor) TCT_TRY(append_note(l, 0, "anchor", settings->anchor, err));
  TCT_TRY(execute(l->db, "INSERT INTO head VALUES (1, 0, '')", "write", err));
  return commit(l, err);
}

tct_status tct_ledger_create(const char *path, const tct_ledger *settings, tct_error *err) {
  tct_ledger ledger = {.version = TCT_LEDGER_VERSION};
  int there = tct_ledger_is_there(path);
  tct_status status = connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &ledger.db, err);
  if (status == TCT_OK && !there) chmod(path, S_IRUSR | S_IWUSR); /* it will hold a key; its folder may guard it too */
  if (status == TCT_OK) status = create(&ledger, settings, err);
  tct_ledger_close(&ledger);
  if (status != TCT_OK && !there) tct_ledger_remove(path);
  return status;
}
