/* load.c - finds a library of the project's own that is loaded only when a verb needs it.
 *
 * It lies beside the program or the library, or where both were installed. */
#define _GNU_SOURCE
#include "core/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void *tct_load_library(const char *library, bool global) {
  int flags = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
  char folder[PATH_MAX], path[2 * PATH_MAX];
  own_folder(folder, sizeof folder);
  const char *const places[] = {"", "../" TCT_LIBRARY_FOLDER "/", "../lib/"};
  for (size_t k = 0; k < sizeof places / sizeof *places && folder[0]; k++) {
    snprintf(path, sizeof path, "%s%s%s", folder, places[k], library);
    void *found = dlopen(path, flags);
    if (found) return found;
  }
  return dlopen(library, flags);
}
