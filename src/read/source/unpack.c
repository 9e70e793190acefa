/* unpack.c - the functions of libarchive that are used, loaded when a file is first opened through it. */
#include "read/source/unpack.h"

#include "core/load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static tct_unpack functions;
static bool loaded;

/* A data pointer's bits are a function pointer's (POSIX): copied, since C knows no such conversion. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void load(void) {
  void *library = dlopen(TCT_ARCHIVE_LIBRARY, RTLD_LAZY | RTLD_LOCAL);    /* stays until the process ends */
  if (!library) library = tct_load_library("libtacit_archive.so", false); /* a wheel brings its own */
  if (!library) return;
  loaded = true;
#define TCT_UNPACK_FIND(name) loaded &= find(library, #name, &functions.name);
  TCT_UNPACK_FUNCTIONS(TCT_UNPACK_FIND)
#undef TCT_UNPACK_FIND
}

const tct_unpack *tct_unpack_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return loaded ? &functions : NULL;
}
