/* key.c - a secret key for fingerprints, from the operating system. */
#include "ledger/fingerprint.h"
#include "rng/rng.h"

tct_status tct_key_draw(tct_key key, tct_error *err) {
  tct_rng_key drawn;
  tct_status status = tct_rng_key_system(&drawn, err);
  if (status == TCT_OK) memcpy(key, drawn.bytes, TCT_KEY);
  tct_rng_key_wipe(&drawn);
  return status;
}
