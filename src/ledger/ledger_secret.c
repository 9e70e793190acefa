/* ledger_secret.c - the ledger's key and its fingerprints of the input, each row sealed by a keyed hash.
 *
 * They are a chain of their own: a published head must not depend on anything that was computed from rows. */
#include "core/alloc.h"
#include "ledger/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SKETCH_HEX = 16 * TCT_SKETCH + 1 };

void tct_ledger_id(const tct_key key, char id[TCT_DIGEST_HEX]) {
  tct_digest digest;
  tct_digest_start_keyed(&digest, key);
  tct_digest_text(&digest, "id");
  tct_digest_end(&digest, id);
}

static void seal_key(const tct_ledger *l, char mac[TCT_DIGEST_HEX]) {
  tct_digest digest;
  tct_digest_start_keyed(&digest, l->key);
  tct_digest_text(&digest, "key");
  tct_digest_text(&digest, l->first);
  tct_digest_end(&digest, mac);
}

/* mac: in, the seal of the row before; out, of this one. */
static void seal_print(const tct_ledger *l, int64_t run, const tct_ledger_print *p, char mac[TCT_DIGEST_HEX]) {
  tct_digest digest;
  tct_digest_start_keyed(&digest, l->key);
  tct_digest_text(&digest, "print");
  tct_digest_text(&digest, mac);
  tct_digest_word(&digest, 'I', (uint64_t)run);
  tct_digest_word(&digest, 'I', (uint64_t)p->declared);
  tct_digest_word(&digest, 'I', (uint64_t)p->print.rows);
  tct_digest_field(&digest, 'B', p->print.sum, sizeof p->print.sum);
  for (int64_t k = 0; k < p->print.len; k++) tct_digest_word(&digest, 'I', p->print.sketch[k]);
  tct_digest_end(&digest, mac);
}

tct_status tct_ledger_write_key(tct_ledger *l, const tct_key key, tct_error *err) {
  char hex[TCT_KEY_HEX], mac[TCT_DIGEST_HEX];
  memcpy(l->key, key, sizeof l->key);
  l->has_key = 1;
  tct_ledger_id(key, l->id);
  tct_hex_print(key, TCT_KEY, hex);
  seal_key(l, mac);
  tct_ledger_value values[] = {{.t = hex}, {.t = mac}};
  tct_status status = tct_ledger_execute(l->db, "INSERT INTO secret VALUES (1, ?, ?)", "tt", values, err);
  tct_wipe(hex, sizeof hex);
  return status;
}

/* The seal of the last print, or of the key. */
static void last_seal(const tct_ledger *l, char mac[TCT_DIGEST_HEX]) {
  sqlite3_stmt *row = NULL;
  seal_key(l, mac);
  if (sqlite3_prepare_v2(l->db, "SELECT mac FROM prints ORDER BY id DESC LIMIT 1", -1, &row, NULL) == SQLITE_OK &&
      sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0))
    snprintf(mac, TCT_DIGEST_HEX, "%s", (const char *)sqlite3_column_text(row, 0));
  sqlite3_finalize(row);
}

tct_status tct_ledger_write_print(tct_ledger *l, int64_t run, const tct_print *print, int declared, tct_error *err) {
  tct_ledger_print sealed = {.print = *print, .declared = declared};
  char sum[TCT_KEY_HEX], mac[TCT_DIGEST_HEX];
  char *sketch = TCT_NEW(char, SKETCH_HEX);
  if (!sketch) return tct_fail_memory(err);
  tct_hex_print(print->sum, TCT_KEY, sum);
  for (int64_t k = 0; k < print->len; k++) snprintf(sketch + 16 * k, 17, "%016" PRIx64, print->sketch[k]);
  last_seal(l, mac);
  seal_print(l, run, &sealed, mac);
  tct_ledger_value values[] = {{.i = l->printed + 1}, {.i = run}, {.i = declared}, {.i = print->rows}, {.t = sum},
                               {.t = sketch},         {.t = mac}};
  tct_status status = tct_ledger_execute(l->db, "INSERT INTO prints VALUES (?,?,?,?,?,?,?)", "iiiittt", values, err);
  tct_wipe_free(sketch, SKETCH_HEX, 1);
  return status;
}

/* ---- reading ---- */

static tct_status edited(const tct_ledger *l, tct_error *err) {
  if (sqlite3_errcode(l->db) == SQLITE_NOMEM) return tct_fail_memory(err);
  return tct_fail(err, TCT_E_DATA,
                  "the ledger was edited or damaged: its key or fingerprints are not those that it wrote; restore the "
                  "file from a backup");
}

static const char *text_of(sqlite3_stmt *row, int c) {
  const char *text = sqlite3_column_type(row, c) == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, c) : NULL;
  int whole = text && strlen(text) == (size_t)sqlite3_column_bytes(row, c);
  return whole ? text : "";
}

static int parse_sketch(const char *text, tct_print *p) {
  size_t length = strlen(text);
  if (length % 16 || length > 16 * TCT_SKETCH || strspn(text, "0123456789abcdef") != length) return 0;
  for (p->len = 0; (size_t)p->len < length / 16; p->len++)
    if (sscanf(text + 16 * p->len, "%16" SCNx64, &p->sketch[p->len]) != 1) return 0;
  return 1;
}

static tct_status read_key(tct_ledger *l, char mac[TCT_DIGEST_HEX], tct_error *err) {
  sqlite3_stmt *row = NULL;
  if (sqlite3_prepare_v2(l->db, "SELECT one, key, mac FROM secret", -1, &row, NULL) != SQLITE_OK)
    return tct_ledger_failed(l->db, "read", err);
  int sound = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int64(row, 0) == 1 &&
              tct_hex_parse(text_of(row, 1), l->key, TCT_KEY);
  if (sound) {
    char hex[TCT_KEY_HEX];
    tct_hex_print(l->key, TCT_KEY, hex); /* capital digits would stand for the same key */
    seal_key(l, mac);
    sound = !strcmp(hex, text_of(row, 1)) && !strcmp(mac, text_of(row, 2)) && sqlite3_step(row) == SQLITE_DONE;
  }
  tct_status status = sound ? TCT_OK : edited(l, err);
  sqlite3_finalize(row);
  l->has_key = sound;
  tct_ledger_id(l->key, l->id);
  return status;
}

static tct_status take_print(tct_ledger *l, sqlite3_stmt *row, char mac[TCT_DIGEST_HEX], tct_error *err) {
  tct_ledger_print *grown = tct_grow(l->prints, l->printed, l->printed + 1, sizeof *grown);
  if (!grown) return tct_fail_memory(err);
  l->prints = grown;
  tct_ledger_print *p = &grown[l->printed++];
  char hex[TCT_KEY_HEX];
  p->declared = (int)sqlite3_column_int64(row, 2);
  p->print.rows = sqlite3_column_int64(row, 3);
  int sound = sqlite3_column_int64(row, 0) == l->printed && tct_hex_parse(text_of(row, 4), p->print.sum, TCT_KEY) &&
              parse_sketch(text_of(row, 5), &p->print);
  for (int c = 0; c < 4; c++) sound = sound && sqlite3_column_type(row, c) == SQLITE_INTEGER;
  if (!sound) return edited(l, err);
  tct_hex_print(p->print.sum, TCT_KEY, hex);
  seal_print(l, sqlite3_column_int64(row, 1), p, mac);
  return !strcmp(hex, text_of(row, 4)) && !strcmp(mac, text_of(row, 6)) ? TCT_OK : edited(l, err);
}

/* Every run that showed new rows has its print. */
static tct_status check_count(const tct_ledger *l, tct_error *err) {
  int64_t expected = 0;
  for (int64_t i = 0; i < l->len; i++) expected += l->runs[i].input[0] && strcmp(l->runs[i].input, "known") != 0;
  return expected == l->printed ? TCT_OK : edited(l, err);
}

tct_status tct_ledger_read_secret(tct_ledger *l, tct_error *err) {
  static const char query[] = "SELECT id, run, part, rows, sum, sketch, mac FROM prints ORDER BY id";
  char mac[TCT_DIGEST_HEX];
  sqlite3_stmt *row = NULL;
  tct_status status = read_key(l, mac, err);
  if (status != TCT_OK) return status;
  if (sqlite3_prepare_v2(l->db, query, -1, &row, NULL) != SQLITE_OK) return tct_ledger_failed(l->db, "read", err);
  int state = SQLITE_ROW;
  while (status == TCT_OK && (state = sqlite3_step(row)) == SQLITE_ROW) status = take_print(l, row, mac, err);
  if (status == TCT_OK && state != SQLITE_DONE) status = tct_ledger_failed(l->db, "read", err);
  sqlite3_finalize(row);
  return status == TCT_OK ? check_count(l, err) : status;
}
