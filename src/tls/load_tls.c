/* load_tls.c - loads the library of TLS connections, which alone links OpenSSL. */
#include "core/load.h"
#include "tls/tls.h"

#include <dlfcn.h>

static const char library[] = "libtacit_tls.so";

tct_status tct_tls_load(const tct_tls **tls, tct_error *err) {
  void *opened = tct_load_library(library, false);
  *tls = opened ? dlsym(opened, "tct_tls_openssl") : NULL;
  if (*tls && (*tls)->version == TCT_TLS_VERSION) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "%s is missing or of another version; build tacit where OpenSSL is installed (Debian: libssl-dev)",
                  library);
}
