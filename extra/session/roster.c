/* roster.c - the list of those who take part: written into the terms, read from them, and hashed into a session's name.
 */
#include "core/digest.h"
#include "session/terms.h"

#include <string.h>

json_t *tct_roster_json(const tct_roster *r) {
  json_t *list = json_array();
  for (int k = 0; k < r->count; k++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", r->name[k], "address", r->address[k], "columns",
                                          (json_int_t)r->width[k]));
  return list;
}

static bool copy_text(const json_t *value, char *out, size_t size) {
  const char *text = json_string_value(value);
  if (!text || strlen(text) >= size) return false;
  strcpy(out, text);
  return true;
}

static bool is_known(const tct_roster *r, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (!strcmp(r->name[k], name)) return true;
  return false;
}

tct_status tct_roster_parse(const json_t *list, int count, tct_roster *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  out->count = count;
  bool fits = count <= TCT_PARTIES_MAX && json_is_array(list) && json_array_size(list) == (size_t)count;
  for (int k = 0; k < count && fits; k++) {
    const json_t *each = json_array_get(list, (size_t)k);
    out->width[k] = json_integer_value(json_object_get(each, "columns"));
    fits = copy_text(json_object_get(each, "name"), out->name[k], sizeof out->name[k]) &&
           copy_text(json_object_get(each, "address"), out->address[k], sizeof out->address[k]) && out->width[k] >= 1 &&
           out->width[k] <= TCT_COLUMNS_MOST && out->name[k][0] && !is_known(out, k, out->name[k]);
  }
  if (fits) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the server's list of parties is none of different parties; stop trusting it");
}

void tct_roster_session(const tct_roster *r, const char *nonce, const char *plan, unsigned char session[32]) {
  tct_digest digest;
  tct_digest_start(&digest);
  tct_digest_text(&digest, "session");
  tct_digest_text(&digest, nonce);
  tct_digest_text(&digest, plan);
  for (int k = 0; k < r->count; k++) {
    tct_digest_text(&digest, r->name[k]);
    tct_digest_text(&digest, r->address[k]);
    tct_digest_word(&digest, 'C', (uint64_t)r->width[k]);
  }
  tct_digest_word(&digest, 'R', (uint64_t)r->seeded);
  tct_digest_end_bytes(&digest, session);
}
