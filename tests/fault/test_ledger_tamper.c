/* test_ledger_tamper.c - no column, row or byte of a ledger can be changed without the check saying so. */
#include "core/digest.h"
#include "ledger/ledger.h"
#include "ledger_help.h"
#include "sample.h"

#include <sqlite3.h>

enum { TEXT = 1 << 16, LAST = 27 };

static const char *const EVENTS[] = {"gaussian:noise=30,count=2", "laplace:noise=50"};

/* With all kinds of notes, a changed input, two fingerprints and three reservations. */
static void ledger_of_three_runs(void) {
  static const double x[] = {1, 2, 3, 4, 5, 6};
  static const char *const facts[] = {"a schema was drafted from the data", NULL};
  tct_error err = {0};
  tct_ledger_options options;
  tct_charge run;
  unlink("L");
  tct_ledger_options_default(&options);
  options.epsilon = 10;
  options.delta = 1e-5;
  options.people = "invented people";
  options.for_tests = 1;
  if (tct_ledger_make("L", &options, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_charge_default(&run);
  run.delta = 1e-6;
  run.input_changed = "a record was corrected";
  for (int i = 1; i <= 3; i++) {
    tct_matrix view = {.rows = 3, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x + i, .stride = 1};
    tct_data *data = i < 3 ? tct_data_view(&view, NULL, TCT_LABELS_NONE, NULL, NULL, &err) : NULL;
    run.data = data;
    run.epsilon = 0.5 * i;
    run.seeded = i == 2;
    run.unaccounted = i == 3 ? facts : NULL;
    char *text = tct_ledger_charge("L", EVENTS, (size_t)(1 + i % 2), &run, &err);
    if (!text) fail_msg("%s", err.text);
    tct_text_free(text);
    tct_data_free(data);
  }
  for (int i = 0; i < 3; i++) { /* a reservation that is open, one that was charged, and one that was released */
    char id[TCT_LEDGER_ID] = "";
    if (in_phases(0.25, 3600, id, &err) != TCT_OK) fail_msg("%s", err.text);
    if (i == 1) assert_int_equal(in_phases(0.25, 0, id, &err), TCT_OK);
    if (i == 2) assert_int_equal(tct_ledger_release("L", id, &err), TCT_OK);
  }
}

static unsigned char *load_file(const char *path, long *length) {
  FILE *in = fopen(path, "rb");
  assert_non_null(in);
  assert_int_equal(fseek(in, 0, SEEK_END), 0);
  *length = ftell(in);
  unsigned char *bytes = malloc((size_t)*length + 1);
  assert_non_null(bytes);
  rewind(in);
  assert_int_equal(fread(bytes, 1, (size_t)*length, in), *length);
  fclose(in);
  return bytes;
}

static void store_file(const char *path, const unsigned char *bytes, long length) {
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, (size_t)length, out), length);
  assert_int_equal(fclose(out), 0);
}

/* Everything that the four tables and the schema say, as text; 0 if it cannot be read. */
static int dump(char *out) {
  static const char *const queries[] = {
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
      "SELECT * FROM meta ORDER BY seq",
      "SELECT * FROM runs ORDER BY seq",
      "SELECT * FROM events ORDER BY seq",
      "SELECT * FROM head",
      "SELECT * FROM notes ORDER BY seq",
      "SELECT * FROM secret",
      "SELECT * FROM prints ORDER BY id",
      "PRAGMA user_version",
      "PRAGMA application_id",
  };
  sqlite3 *db;
  size_t used = 0;
  int code = sqlite3_open("L", &db);
  for (size_t q = 0; q < sizeof queries / sizeof *queries && code == SQLITE_OK; q++) {
    sqlite3_stmt *row;
    code = sqlite3_prepare_v2(db, queries[q], -1, &row, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
      for (int i = 0; i < sqlite3_column_count(row); i++) {
        int type = sqlite3_column_type(row, i); /* before the text is asked for, which converts */
        used += (size_t)snprintf(out + used, TEXT - used, "%d|%s|", type, (const char *)sqlite3_column_text(row, i));
      }
      code = SQLITE_OK;
    }
    sqlite3_finalize(row);
    if (code == SQLITE_DONE) code = SQLITE_OK;
  }
  sqlite3_close(db);
  return code == SQLITE_OK;
}

/* Runs sql on the ledger; 1 if it was accepted. */
static int edit(const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  int done = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
  sqlite3_close(db);
  return done;
}

typedef struct catch_all {
  int edits;
  unsigned char *whole;
  long length;
  char before[TEXT];
} catch_all;

static void begin(catch_all *c) {
  ledger_of_three_runs();
  c->whole = load_file("L", &c->length);
  assert_true(dump(c->before));
}

static void expect_caught(catch_all *c, const char *sql) {
  static char after[TEXT];
  store_file("L", c->whole, c->length);
  if (!edit(sql) || (dump(after) && !strcmp(c->before, after))) return; /* an affinity may undo a change */
  c->edits++;
  if (check_passes(NULL, 0)) fail_msg("not seen: %s", sql);
}

static const char *const TABLES[] = {"meta", "runs", "events", "head", "notes", "secret", "prints"};
static const char *const KEYS[] = {"seq", "seq", "seq", "one", "seq", "one", "id"};
enum { ALL_TABLES = 7 };

/* All changes of one column of one row: another number, another text, another type, the neighbour's value. */
static void edit_column(catch_all *c, int table, const char *column, int row) {
  char sql[400];
  static const char *const changes[] = {
      "UPDATE %s SET %s = %s + 1 WHERE rowid = %d",
      "UPDATE %s SET %s = %s * 0.5 WHERE rowid = %d",
      "UPDATE %s SET %s = %s || ' ' WHERE rowid = %d",
      "UPDATE %s SET %s = upper(%s) || char(0) WHERE rowid = %d",
      "UPDATE %s SET %s = CAST(%s AS BLOB) WHERE rowid = %d",
      "UPDATE %s SET %s = substr(%s, 2) WHERE rowid = %d",
  };
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    snprintf(sql, sizeof sql, changes[k], TABLES[table], column, column, row);
    expect_caught(c, sql);
  }
}

static void each_column_of_each_row_is_guarded(void **state) {
  (void)state;
  static catch_all c;
  begin(&c);
  for (int t = 0; t < ALL_TABLES; t++) {
    char sql[400];
    sqlite3 *db;
    sqlite3_stmt *columns;
    store_file("L", c.whole, c.length);
    assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')", TABLES[t]);
    char names[16][32];
    int count = 0;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &columns, NULL), SQLITE_OK);
    while (sqlite3_step(columns) == SQLITE_ROW && count < 16)
      snprintf(names[count++], 32, "%s", (const char *)sqlite3_column_text(columns, 0));
    sqlite3_finalize(columns);
    sqlite3_close(db);
    assert_true(count >= 3);
    for (int n = 0; n < count; n++)
      for (int row = 1; row <= LAST; row++) edit_column(&c, t, names[n], row);
  }
  free(c.whole);
  print_message("%d edits, all seen\n", c.edits);
  assert_true(c.edits > 200);
}

static void rows_cannot_be_removed_added_or_swapped(void **state) {
  (void)state;
  static catch_all c;
  begin(&c);
  char sql[300];
  for (int t = 0; t < ALL_TABLES; t++)
    for (int row = 1; row <= LAST; row++) {
      snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s = %d", TABLES[t], KEYS[t], row);
      expect_caught(&c, sql);
      snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s >= %d", TABLES[t], KEYS[t], row);
      expect_caught(&c, sql);
    }
  static const char *const others[] = {
      "INSERT INTO notes SELECT 40, run, kind, text, hash FROM notes LIMIT 1",
      "INSERT INTO prints SELECT 40, run, part, rows, sum, sketch, mac FROM prints LIMIT 1",
      "UPDATE prints SET sum = (SELECT sum FROM prints WHERE id = 2) WHERE id = 1",
      "INSERT INTO events SELECT 40, run, event, hash FROM events LIMIT 1",
      "INSERT INTO runs SELECT 40, id, time, what, epsilon, delta, neighbours, plan, events, hash FROM runs LIMIT 1",
      "INSERT INTO head VALUES (2, 1, 'x')",
      "UPDATE runs SET epsilon = (SELECT max(epsilon) FROM runs) WHERE epsilon < 1",
      /* the last run goes, and the head is set back by hand to what it was: only a model can tell, see test_ledger_fit
       */
      "UPDATE head SET seq = 2",
      "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
      "ALTER TABLE runs ADD COLUMN more TEXT",
      "CREATE VIEW v AS SELECT 1",
      "PRAGMA user_version = 1",
      "PRAGMA application_id = 2",
  };
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) expect_caught(&c, others[k]);
  free(c.whole);
  print_message("%d edits, all seen\n", c.edits);
  assert_true(c.edits > 25);
}

/* A forger who knows the format gives the row that he edits its right hash; the next row does not follow any more. */
static void a_row_with_a_forged_hash_breaks_the_chain(void **state) {
  (void)state;
  char hash[TCT_DIGEST_HEX], sql[200];
  static const char *const previous =
      "SELECT hash FROM (SELECT seq, hash FROM runs UNION SELECT seq, hash FROM events "
      "UNION SELECT seq, hash FROM notes) WHERE seq = 9";
  sqlite3 *db;
  sqlite3_stmt *row, *before;
  ledger_of_three_runs();
  assert_true(edit("UPDATE runs SET epsilon = 0.001 WHERE seq = 10"));
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, previous, -1, &before, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(before), SQLITE_ROW);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM runs WHERE seq = 10", -1, &row, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  tct_ledger_row_hash(row, "runs", (const char *)sqlite3_column_text(before, 0), hash);
  sqlite3_finalize(row);
  sqlite3_finalize(before);
  sqlite3_close(db);
  snprintf(sql, sizeof sql, "UPDATE runs SET hash = '%s' WHERE seq = 10", hash);
  assert_true(edit(sql));
  assert_false(check_passes(NULL, 0));
}

/* Gives every row the hash that its place asks for, as somebody does who has this program; its rows are counted. */
static int chain_anew(void) {
  static const char *const tables[] = {"meta", "runs", "events", "notes"};
  char head[TCT_DIGEST_HEX] = {0}, hash[TCT_DIGEST_HEX], sql[300];
  int seq = 0, found = 1;
  sqlite3 *db;
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  memset(head, '0', sizeof head - 1);
  while (found) {
    found = 0;
    for (int t = 0; t < 4 && !found; t++) {
      sqlite3_stmt *row;
      snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE seq = %d", tables[t], seq + 1);
      assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
      found = sqlite3_step(row) == SQLITE_ROW;
      if (found) tct_ledger_row_hash(row, tables[t], head, hash);
      sqlite3_finalize(row);
      snprintf(sql, sizeof sql, "UPDATE %s SET hash = '%s' WHERE seq = %d", tables[t], hash, seq + 1);
      if (found) assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    if (found) seq++, memcpy(head, hash, sizeof head);
  }
  snprintf(sql, sizeof sql, "UPDATE head SET seq = %d, hash = '%s'", seq, head);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  return seq;
}

/* The key's seal for the budget's hash, as it is now. */
static void seal_anew(void) {
  char sql[300], mac[TCT_DIGEST_HEX];
  sqlite3 *db;
  sqlite3_stmt *row;
  tct_key key;
  tct_digest digest;
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT key, hash FROM secret, meta", -1, &row, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  assert_true(tct_hex_parse((const char *)sqlite3_column_text(row, 0), key, TCT_KEY));
  tct_digest_start_keyed(&digest, key);
  tct_digest_text(&digest, "key");
  tct_digest_text(&digest, (const char *)sqlite3_column_text(row, 1));
  tct_digest_end(&digest, mac);
  sqlite3_finalize(row);
  snprintf(sql, sizeof sql, "UPDATE secret SET mac = '%s'", mac);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

/* What a row before it says is of a budget that nobody knows yet. */
static void a_ledger_begins_with_its_budget_whatever_its_hashes_say(void **state) {
  (void)state;
  tct_error err = {0};
  tct_ledger_options options;
  unlink("L");
  tct_ledger_options_default(&options);
  options.epsilon = 10, options.delta = 1e-5, options.people = "invented people";
  if (tct_ledger_make("L", &options, &err) != TCT_OK) fail_msg("%s", err.text);
  int rows = chain_anew();
  seal_anew();
  assert_true(check_passes(NULL, 0)); /* the forger's hashes are right */
  assert_true(edit("UPDATE meta SET seq = 1000000"));
  assert_true(edit("UPDATE meta SET seq = (SELECT seq FROM notes WHERE kind = 'people')"));
  assert_true(edit("UPDATE notes SET seq = 1 WHERE kind = 'people'"));
  assert_int_equal(chain_anew(), rows);
  seal_anew();
  assert_false(check_passes(NULL, 0));
}

/* Free space of a page may hold anything; what the tables say may not change unseen.  Long runs of zeros are
 * sampled, every other byte is flipped. */
static void no_byte_that_changes_a_row_goes_unseen(void **state) {
  (void)state;
  static char before[TEXT], after[TEXT];
  long length;
  int seen = 0, harmless = 0;
  ledger_of_three_runs();
  assert_true(dump(before));
  unsigned char *bytes = load_file("L", &length);
  for (long at = 0; at < length; at++) {
    int quiet = bytes[at] == 0 && at > 0 && bytes[at - 1] == 0 && at % 61;
    if ((quiet && at + 1 < length && bytes[at + 1] == 0) || !sample_turn(at, 3)) continue;
    unsigned char was = bytes[at];
    bytes[at] ^= (unsigned char)(1 + at % 255);
    store_file("L", bytes, length);
    bytes[at] = was;
    unlink("L-journal");
    if (!check_passes(NULL, 0)) {
      seen++;
      continue;
    }
    harmless++;
    if (!dump(after) || strcmp(before, after)) fail_msg("byte %ld changes a row unseen", at);
  }
  free(bytes);
  print_message("%d flips seen, %d in space that no row uses\n", seen, harmless);
  assert_true(seen > 1500 / sample_every(3));
}

static void a_file_cut_short_is_seen(void **state) {
  (void)state;
  long length;
  ledger_of_three_runs();
  unsigned char *bytes = load_file("L", &length);
  for (long cut = 0; cut < length; cut += 511) {
    store_file("L", bytes, cut);
    assert_false(check_passes(NULL, 0));
  }
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_column_of_each_row_is_guarded),
      cmocka_unit_test(rows_cannot_be_removed_added_or_swapped),
      cmocka_unit_test(a_row_with_a_forged_hash_breaks_the_chain),
      cmocka_unit_test(a_ledger_begins_with_its_budget_whatever_its_hashes_say),
      cmocka_unit_test(no_byte_that_changes_a_row_goes_unseen),
      cmocka_unit_test(a_file_cut_short_is_seen),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
