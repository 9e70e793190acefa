/* sized.c - public structs of other sizes than this library's. */
#include "core/sized.h"

#include <string.h>

/* No struct grows to more: a size beyond it was never set, and reading so far would leave the caller's memory. */
enum { LARGEST = 4096 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void tct_sized_default(const tct_sized *kind, void *to, size_t size, const void *defaults) {
  memset(to, 0, size);
  memcpy(to, defaults, smaller(size, kind->own));
  if (size >= sizeof size) memcpy(to, &size, sizeof size);
}

static tct_status unknown_size(const tct_sized *kind, tct_error *err) {
  return tct_fail(err, TCT_E_USAGE, "%s has no size that this library knows; %s", kind->name, kind->how);
}

static tct_status size_of(const tct_sized *kind, const void *given, size_t *size, tct_error *err) {
  if (!given) return tct_fail(err, TCT_E_USAGE, "there is no %s; give one", kind->name);
  memcpy(size, given, sizeof *size);
  return *size >= kind->first && *size <= LARGEST ? TCT_OK : unknown_size(kind, err);
}

tct_status tct_sized_take(const tct_sized *kind, const void *given, void *own, tct_error *err) {
  size_t size = 0;
  TCT_TRY(size_of(kind, given, &size, err));
  for (size_t at = kind->own; at < size; at++)
    if (((const unsigned char *)given)[at])
      return tct_fail(err, TCT_E_USAGE,
                      "%s has settings that this library does not know, from a newer tacit.h; update the library",
                      kind->name);
  memcpy(own, given, smaller(size, kind->own));
  memcpy(own, &kind->own, sizeof kind->own);
  return TCT_OK;
}
