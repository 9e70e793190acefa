/* nearest.c - the name that somebody probably meant: a slip of one or two letters, or a part of it. */
#include "core/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 62, NONE = 99 };

static int least(int a, int b) { return a < b ? a : b; }

/* Letters put in, left out, changed, or swapped with their neighbour: the optimal string alignment distance. */
static int edits(const char *a, const char *b) {
  int row[3][LONGEST + 2];
  int n = (int)strlen(b);
  if (n > LONGEST || strlen(a) > LONGEST) return NONE;
  for (int j = 0; j <= n; j++) row[0][j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= n; j++) {
      now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(last[j], now[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return row[strlen(a) % 3][n];
}

/* Small is near: slips come first, then what begins with the given text, then what has it anywhere. */
static int distance(const char *given, const char *name) {
  const char *bare = given + strspn(given, "-");
  int slips = edits(given, name), length = (int)strlen(bare), rest = (int)strlen(name) - (int)strlen(given);
  if (slips <= 2 && 2 * slips <= length) return slips;
  if (length >= 2 && rest > 0 && !strncmp(name, given, strlen(given))) return 3 + least(rest, LONGEST);
  return length >= 3 && strstr(name, bare) ? 4 + LONGEST : 2 * NONE;
}

const char *tct_nearest(const char *given, const char *const *names, int64_t count) {
  const char *best = NULL;
  int min = 2 * NONE;
  for (int64_t i = 0; given && i < count; i++) {
    int d = distance(given, names[i]);
    if (d < min) {
      min = d;
      best = names[i];
    }
  }
  return best;
}

const char *tct_meant(const char *given, const char *const *names, int64_t count, char buffer[TCT_MEANT]) {
  const char *near = tct_nearest(given, names, count);
  buffer[0] = 0;
  if (near) snprintf(buffer, TCT_MEANT, "; did you mean %s?", near);
  return buffer;
}
