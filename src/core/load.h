/* load.h - loading libraries of the project's own, which bring in what most runs do not need. */
#ifndef TCT_CORE_LOAD_H
#define TCT_CORE_LOAD_H
#include <stdbool.h>

/* The library of that file name, for dlsym, or NULL.  It stays until the process ends.
 * global: its names, and those of what it needs, become visible to libraries that are loaded later. */
void *tct_load_library(const char *library, bool global);
#endif
