/* settings.h - named settings, of which only digests are kept: what all ranks, or all ends of a session, must share. */
#ifndef TCT_CORE_SETTINGS_H
#define TCT_CORE_SETTINGS_H
#include "core/digest.h"

typedef struct tct_setting {
  const char *name; /* for people: "the row norm"; borrowed */
  char digest[TCT_DIGEST_HEX];
} tct_setting;

typedef struct tct_settings {
  const char *what;  /* stands before each name in a sentence, e.g. "the contents of "; NULL: nothing */
  tct_status status; /* of a difference; TCT_OK stands for TCT_E_USAGE */
  bool free_names;   /* names are for people alone: paths of files, which may lie elsewhere on each machine */
  tct_setting *at;   /* [count] */
  int64_t count, room;
  bool lacks_memory; /* nobody needs to look before the list is used */
} tct_settings;

/* Adds one setting.  A text may be NULL: not given, which differs from every text.  All NaNs are one value, and so are
 * both zeros. */
void tct_settings_text(tct_settings *settings, const char *name, const char *value);
void tct_settings_real(tct_settings *settings, const char *name, double value);
void tct_settings_word(tct_settings *settings, const char *name, uint64_t value);
void tct_settings_bytes(tct_settings *settings, const char *name, const void *bytes, size_t size);

/* One digest of the library's version and of all values in their order, with their names unless these are free. */
tct_status tct_settings_digest(const tct_settings *settings, char hex[TCT_DIGEST_HEX], tct_error *err);
void tct_settings_free(tct_settings *settings);
#endif
