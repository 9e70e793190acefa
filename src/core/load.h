/* load.h - loading libtacit_mpi.so and libtacit_tls.so, which bring in what most runs do not need. */
#ifndef TCT_CORE_LOAD_H
#define TCT_CORE_LOAD_H

/* The library of that file name, for dlsym, or NULL.  It stays until the process ends. */
void *tct_load_library(const char *library);
#endif
