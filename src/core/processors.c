/* processors.c - how many processors this process may really use.
 *
 * A group's quota holds for the groups below it, so the smallest on the way to the root counts.  In a container the
 * path of /proc/self/cgroup may not exist below its own /sys/fs/cgroup; the root of that is then the group itself. */
#define _GNU_SOURCE
#include "core/processors.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

static _Thread_local bool forked; /* the thread that forked: it alone has a team of threads that are gone */

static void note_fork(void) { forked = true; }

/* Before main: a process may fork before it calls anything here, when others have already used OpenMP. */
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, note_fork); }

int tct_threads(int threads) { return forked || threads < 1 ? 1 : threads; }

/* How many of the first two words of a file are numbers; "max" is none. */
static int read_number(const char *path, double *first, double *second) {
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  int got = fscanf(file, "%lf %lf", first, second);
  fclose(file);
  return got;
}

/* The quota of one group, in processors; 0: none. */
static double group_quota(const char *root, const char *controller, const char *group) {
  char path[2 * PATH];
  double quota = 0, period = 0, rest;
  if (!*controller) {
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    return read_number(path, &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period : 0;
  }
  snprintf(path, sizeof path, "%s/%s%s/cpu.cfs_quota_us", root, controller, group);
  if (read_number(path, &quota, &rest) < 1 || quota <= 0) return 0; /* -1: none */
  snprintf(path, sizeof path, "%s/%s%s/cpu.cfs_period_us", root, controller, group);
  return read_number(path, &period, &rest) >= 1 && period > 0 ? quota / period : 0;
}

/* The smallest quota from the group up to the root. */
static double smallest(const char *root, const char *controller, char *group) {
  double min = 0;
  for (;;) {
    double here = group_quota(root, controller, group);
    if (here > 0 && (min == 0 || here < min)) min = here;
    char *slash = strrchr(group, '/');
    if (!slash) return min;
    *slash = 0;
  }
}

/* Is `word` among the comma-separated words of list[0..length)? */
static int holds(const char *list, size_t length, const char *word) {
  size_t size = strlen(word);
  for (size_t at = 0; at + size <= length; at++)
    if (!strncmp(list + at, word, size) && (at == 0 || list[at - 1] == ',') &&
        (at + size == length || list[at + size] == ','))
      return 1;
  return 0;
}

int tct_processor_quota(const char *self, const char *root) {
  char line[PATH], controller[PATH];
  double min = 0;
  FILE *file = fopen(self, "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    if (!group) continue;
    size_t length = (size_t)(group - names - 1);
    if (length > 0 && !holds(names + 1, length, "cpu")) continue;
    snprintf(controller, sizeof controller, "%.*s", (int)length, names + 1);
    group[1 + strcspn(group + 1, "\n")] = 0;
    double here = smallest(root, controller, group + 1);
    if (here > 0 && (min == 0 || here < min)) min = here;
  }
  fclose(file);
  return min == 0 ? 0 : min < 1 ? 1 : min > 1 << 20 ? 1 << 20 : (int)min;
}

int tct_processors(void) {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  int quota = tct_processor_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0 && quota < count ? quota : count > 0 ? count : 1;
}
