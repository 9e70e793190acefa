/* mpi.c - finds out whether mpirun started this process, and loads the library that talks to Open MPI.
 *
 * libtacit and the program do not link Open MPI: it would make every start many times as slow, and most runs are
 * alone.  libtacit_mpi.so lies beside the program or the library, or where both were installed. */
#include "core/load.h"
#include "ranks/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>

static const char library[] = "libtacit_mpi.so";

tct_status tct_ranks_load(const tct_ranks **ranks, tct_error *err) {
  *ranks = NULL;
  const char *count = getenv("OMPI_COMM_WORLD_SIZE");
  if (!count || atoi(count) < 2) return TCT_OK;
  void *opened = tct_load_library(library, true); /* Open MPI opens parts of itself, which look for its names */
  const tct_ranks *found = opened ? dlsym(opened, "tct_ranks_mpi") : NULL;
  if (!found || found->version != TCT_RANKS_VERSION)
    return tct_fail(err, TCT_E_RUN,
                    "mpirun started %s ranks, but %s is missing or of another version; build tacit where Open MPI is "
                    "installed (Debian: libopenmpi-dev)",
                    count, library);
  *ranks = found;
  return TCT_OK;
}
