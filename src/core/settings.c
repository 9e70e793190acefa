/* settings.c - the digests of named settings. */
#include "core/settings.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* kind keeps values of different types apart. */
static void add(tct_settings *settings, const char *name, char kind, const void *bytes, size_t size) {
  tct_digest digest;
  if (settings->count == settings->room) {
    int64_t room = settings->room ? 2 * settings->room : 64;
    tct_setting *at = tct_grow(settings->at, settings->room, room, sizeof *at);
    settings->lacks_memory |= !at;
    if (!at) return;
    settings->at = at, settings->room = room;
  }
  tct_setting *setting = &settings->at[settings->count++];
  setting->name = name;
  tct_digest_start(&digest);
  tct_digest_field(&digest, kind, bytes, size);
  tct_digest_end(&digest, setting->digest);
}

void tct_settings_text(tct_settings *settings, const char *name, const char *value) {
  add(settings, name, value ? 'T' : 'N', value, value ? strlen(value) : 0);
}

void tct_settings_real(tct_settings *settings, const char *name, double value) {
  uint64_t bits = UINT64_MAX; /* a NaN of its own */
  double one_zero = value + 0.0;
  if (!isnan(value)) memcpy(&bits, &one_zero, sizeof bits);
  add(settings, name, 'R', &bits, sizeof bits);
}

void tct_settings_word(tct_settings *settings, const char *name, uint64_t value) {
  add(settings, name, 'W', &value, sizeof value);
}

void tct_settings_bytes(tct_settings *settings, const char *name, const void *bytes, size_t size) {
  add(settings, name, 'B', bytes, size);
}

tct_status tct_settings_digest(const tct_settings *settings, char hex[TCT_DIGEST_HEX], tct_error *err) {
  tct_digest digest;
  if (settings->lacks_memory) return tct_fail_memory(err);
  tct_digest_start(&digest);
  tct_digest_text(&digest, TCT_VERSION);
  tct_digest_word(&digest, 'C', (uint64_t)settings->count);
  for (int64_t k = 0; k < settings->count; k++) {
    if (!settings->free_names) tct_digest_text(&digest, settings->at[k].name);
    tct_digest_text(&digest, settings->at[k].digest);
  }
  tct_digest_end(&digest, hex);
  return TCT_OK;
}

void tct_settings_free(tct_settings *settings) {
  tct_free(settings->at);
  *settings = (tct_settings){0};
}
