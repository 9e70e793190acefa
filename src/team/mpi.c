/* mpi.c - finds out whether mpirun started this process, and loads the library that talks to Open MPI.
 *
 * libtacit and the program do not link Open MPI: it would make every start many times as slow, and most runs are
 * alone.  libtacit_mpi.so lies beside the program or the library, or where both were installed. */
#define _GNU_SOURCE
#include "team/team.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library[] = "libtacit_mpi.so";

/* The folder of the file that this code was loaded from, with its slash; "" if unknown. */
static void own_folder(char *folder, size_t size) {
  Dl_info info;
  static const char here;
  char path[PATH_MAX];
  folder[0] = 0;
  if (!dladdr(&here, &info) || !info.dli_fname) return;
  /* a program found along PATH is named without its folder */
  const char *name = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
  if (!realpath(name, path)) return;
  char *slash = strrchr(path, '/');
  if (slash) snprintf(folder, size, "%.*s", (int)(slash - path + 1), path);
}

/* Open MPI opens parts of itself, which look for its names: RTLD_GLOBAL. */
static void *load(void) {
  char folder[PATH_MAX], path[2 * PATH_MAX];
  own_folder(folder, sizeof folder);
  const char *const places[] = {"", "../" TCT_LIBRARY_FOLDER "/", "../lib/"};
  for (size_t k = 0; k < sizeof places / sizeof *places && folder[0]; k++) {
    snprintf(path, sizeof path, "%s%s%s", folder, places[k], library);
    void *found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (found) return found;
  }
  return dlopen(library, RTLD_NOW | RTLD_GLOBAL);
}

tct_status tct_ranks_load(const tct_ranks **ranks, tct_error *err) {
  *ranks = NULL;
  const char *count = getenv("OMPI_COMM_WORLD_SIZE");
  if (!count || atoi(count) < 2) return TCT_OK;
  void *opened = load(); /* stays until the process ends */
  const tct_ranks *found = opened ? dlsym(opened, "tct_ranks_mpi") : NULL;
  if (!found || found->version != TCT_RANKS_VERSION)
    return tct_fail(err, TCT_E_RUN,
                    "mpirun started %s ranks, but %s is missing or of another version; build tacit where Open MPI is "
                    "installed (Debian: libopenmpi-dev)",
                    count, library);
  *ranks = found;
  return TCT_OK;
}
