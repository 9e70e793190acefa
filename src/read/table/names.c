/* names.c - names of columns: copied, sorted and found. */
#include "read/table/names.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

char **tct_names_copy(const char *const *names, int64_t count) {
  size_t bytes = (size_t)count * sizeof(char *);
  for (int64_t j = 0; j < count; j++) bytes += strlen(names[j]) + 1;
  char **copy = tct_alloc((int64_t)bytes, 1);
  if (!copy) return NULL;
  char *at = (char *)(copy + count);
  for (int64_t j = 0; j < count; j++) {
    size_t length = strlen(names[j]) + 1;
    copy[j] = memcpy(at, names[j], length);
    at += length;
  }
  return copy;
}

typedef struct named {
  const char *name;
  int64_t column;
} named;

static int by_name(const void *a, const void *b) {
  int order = strcmp(((const named *)a)->name, ((const named *)b)->name);
  if (order != 0) return order;
  return ((const named *)a)->column < ((const named *)b)->column ? -1 : 1;
}

tct_status tct_names_sort(const char *const *names, int64_t count, int64_t *sorted, int64_t *repeated, tct_error *err) {
  named *list = TCT_NEW(named, count);
  if (!list) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++) list[j] = (named){names[j], j};
  qsort(list, (size_t)count, sizeof *list, by_name);
  *repeated = -1;
  for (int64_t j = 0; j < count; j++) {
    sorted[j] = list[j].column;
    if (j > 0 && strcmp(list[j - 1].name, list[j].name) == 0) *repeated = list[j].column;
  }
  tct_free(list);
  return TCT_OK;
}

int64_t tct_names_find(const char *const *names, const int64_t *sorted, int64_t count, const char *name) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = strcmp(names[sorted[middle]], name);
    if (order == 0) return sorted[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}
