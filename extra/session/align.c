/* align.c - do the parties hold the same people?  Sorted keys, hashed under a secret that the server lacks. */
#include "core/alloc.h"
#include "core/digest.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

typedef struct keyed {
  const char *key;
  int64_t row;
} keyed;

static int by_key(const void *a, const void *b) { return strcmp(((const keyed *)a)->key, ((const keyed *)b)->key); }

void tct_alignment_free(tct_alignment *alignment) {
  tct_free(alignment->order);
  alignment->order = NULL;
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

/* Without labels their hash stays empty. */
static void hash_all(const tct_data *data, const keyed *list, const tct_secret *secret, const char *nonce,
                     tct_alignment *out) {
  tct_digest keys, labels;
  tct_secret_start(secret, nonce, list ? "keys" : "positions", &keys);
  tct_secret_start(secret, nonce, "labels", &labels);
  tct_digest_word(&keys, 'N', (uint64_t)data->x.rows);
  for (int64_t i = 0; i < data->x.rows; i++) {
    double y = data->y ? data->y[list ? list[i].row : i] + 0.0 : 0; /* -0 and 0 are one label */
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    if (list) tct_digest_text(&keys, list[i].key);
    tct_digest_word(&labels, 'L', bits);
  }
  tct_digest_end(&keys, out->keys);
  if (data->y) tct_digest_end(&labels, out->labels);
  tct_wipe(&keys, sizeof keys);
  tct_wipe(&labels, sizeof labels);
}

tct_status tct_align(const tct_data *data, const tct_secret *secret, const char *nonce, tct_alignment *out,
                     tct_error *err) {
  *out = (tct_alignment){0};
  keyed *list = data->keys ? TCT_NEW(keyed, data->x.rows) : NULL;
  out->order = data->keys ? TCT_NEW(int64_t, data->x.rows) : NULL;
  tct_status status = data->keys && (!list || !out->order) ? tct_fail_memory(err) : TCT_OK;
  if (status == TCT_OK && list) status = sort_keys(data, list, err);
  for (int64_t i = 0; status == TCT_OK && list && i < data->x.rows; i++) out->order[list[i].row] = i;
  if (status == TCT_OK) hash_all(data, list, secret, nonce, out);
  tct_free(list);
  if (status != TCT_OK) tct_alignment_free(out);
  return status;
}
