/* align.c - do the parties hold the same people?  Sorted keys, hashed under a secret that the server lacks. */
#include "core/alloc.h"
#include "core/digest.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 32, MOST = 4096 }; /* bytes of the secret */

typedef struct keyed {
  const char *key;
  int64_t row;
} keyed;

static int by_key(const void *a, const void *b) { return strcmp(((const keyed *)a)->key, ((const keyed *)b)->key); }

void tct_alignment_free(tct_alignment *alignment) {
  tct_free(alignment->order);
  alignment->order = NULL;
}

static tct_status read_secret(const char *path, unsigned char *secret, size_t *length, tct_error *err) {
  if (!path)
    return tct_fail(err, TCT_E_USAGE, "no secret is given; share a file of 32 random bytes or more among the parties");
  FILE *file = fopen(path, "rb");
  if (!file) return tct_fail(err, TCT_E_RUN, "cannot read the secret %s (%s); check the name", path, strerror(errno));
  *length = fread(secret, 1, MOST, file);
  fclose(file);
  if (*length >= LEAST) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the secret is shorter than 32 bytes; make one with head -c 32 /dev/urandom");
}

static tct_status sort_keys(const tct_data *data, keyed *list, tct_error *err) {
  const char *at = data->keys;
  for (int64_t i = 0; i < data->x.rows; i++, at += strlen(at) + 1) list[i] = (keyed){at, i};
  qsort(list, (size_t)data->x.rows, sizeof *list, by_key);
  for (int64_t i = 1; i < data->x.rows; i++)
    if (!strcmp(list[i - 1].key, list[i].key))
      return tct_fail(err, TCT_E_DATA, "two records have the same key, so they cannot be matched; keys must differ");
  return TCT_OK;
}

/* The prefix keeps keys, labels, runs and secrets apart; BLAKE2b with a secret first field is a MAC. */
static void start(tct_digest *digest, const unsigned char *secret, size_t length, const char *nonce, const char *what) {
  tct_digest_start(digest);
  tct_digest_field(digest, 'K', secret, length);
  tct_digest_text(digest, nonce);
  tct_digest_text(digest, what);
}

static void hash_all(const tct_data *data, const keyed *list, const unsigned char *secret, size_t length,
                     const char *nonce, tct_alignment *out) {
  tct_digest keys, labels;
  start(&keys, secret, length, nonce, list ? "keys" : "positions");
  start(&labels, secret, length, nonce, "labels");
  tct_digest_word(&keys, 'N', (uint64_t)data->x.rows);
  for (int64_t i = 0; i < data->x.rows; i++) {
    double y = data->y[list ? list[i].row : i] + 0.0; /* -0 and 0 are one label */
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    if (list) tct_digest_text(&keys, list[i].key);
    tct_digest_word(&labels, 'L', bits);
  }
  tct_digest_end(&keys, out->keys);
  tct_digest_end(&labels, out->labels);
}

tct_status tct_align(const tct_data *data, const char *secret_file, const char *nonce, tct_alignment *out,
                     tct_error *err) {
  size_t length = 0;
  *out = (tct_alignment){0};
  if (!data->y) return tct_fail(err, TCT_E_USAGE, "the data have no labels; every party holds them");
  unsigned char *secret = TCT_NEW(unsigned char, MOST);
  tct_status status = secret ? read_secret(secret_file, secret, &length, err) : tct_fail_memory(err);
  keyed *list = data->keys ? TCT_NEW(keyed, data->x.rows) : NULL;
  out->order = data->keys ? TCT_NEW(int64_t, data->x.rows) : NULL;
  if (status == TCT_OK && data->keys && (!list || !out->order)) status = tct_fail_memory(err);
  if (status == TCT_OK && list) status = sort_keys(data, list, err);
  for (int64_t i = 0; status == TCT_OK && list && i < data->x.rows; i++) out->order[list[i].row] = i;
  if (status == TCT_OK) hash_all(data, list, secret, length, nonce, out);
  tct_wipe_free(secret, MOST, 1);
  tct_free(list);
  if (status != TCT_OK) tct_alignment_free(out);
  return status;
}
