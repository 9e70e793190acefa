/* fuzz_terms.c - any text as the terms that a server sends a party: read as what was agreed on, or refused.
 *
 * Where the first byte asks for it the digest of the plan is set right, which no search would find. */
#include "fuzz_check.h"
#include "session/terms.h"
#include "train/one_program.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { ROWS = 20, COLS = 2 };

static tct_config agreed_config(void) {
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic";
  config.epsilon = 2, config.delta = 1e-6;
  config.row_norm = 1;
  return config;
}

static void set_digest(json_t *terms, const tct_agreed *own) {
  tct_terms out = {0};
  tct_error err = {0};
  char digest[TCT_DIGEST_HEX];
  if (tct_terms_read(terms, own, &out, &err) != TCT_OK && out.plan && tct_plan_digest(out.plan, digest, NULL) == TCT_OK)
    json_object_set_new(terms, "plan", json_string(digest));
  tct_plan_free(out.plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  if (count < 1) return 0;
  json_t *terms = json_loadb((const char *)bytes + 1, count - 1, 0, NULL);
  if (!terms) return 0;
  tct_config config = agreed_config();
  tct_data data = {.x = {.rows = ROWS, .cols = COLS}};
  tct_agreed own = {.config = &config, .data = &data, .nonce = "00", .address = ""};
  if (bytes[0] & 2) own.solver = "gram_parties";
  if (bytes[0] & 1) set_digest(terms, &own);
  tct_terms out = {0};
  tct_error err = {0};
  tct_status status = tct_terms_read(terms, &own, &out, &err);
  require((status == TCT_OK) == (err.status == TCT_OK) && (status == TCT_OK || err.text[0] != 0));
  if (status == TCT_OK) {
    require(out.plan && out.index >= 0 && out.index < out.roster.count && out.roster.count <= TCT_PARTIES_MAX);
    require(out.roster.width[out.index] == COLS && out.plan->facts.epsilon <= config.epsilon);
  }
  tct_plan_free(out.plan);
  json_decref(terms);
  return 0;
}
