/* processors.c - how many processors, and how much memory, this process may really use.
 *
 * A group's quota holds for the groups below it, so the smallest on the way to the root counts.  In a container the
 * path of /proc/self/cgroup may not exist below its own /sys/fs/cgroup; the root of that is then the group itself. */
#define _GNU_SOURCE
#include "core/processors.h"

#include "core/spec.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* What one group is left, or INFINITY; controller "": version 2. */
typedef double (*of_group)(const char *root, const char *controller, const char *group);

/* In processors. */
static double group_quota(const char *root, const char *controller, const char *group) {
  char path[2 * PATH];
  double quota = 0, period = 0, rest;
  if (!*controller) {
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    return read_number(path, &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period : INFINITY;
  }
  snprintf(path, sizeof path, "%s/%s%s/cpu.cfs_quota_us", root, controller, group);
  if (read_number(path, &quota, &rest) < 1 || quota <= 0) return INFINITY; /* -1: none */
  snprintf(path, sizeof path, "%s/%s%s/cpu.cfs_period_us", root, controller, group);
  return read_number(path, &period, &rest) >= 1 && period > 0 ? quota / period : INFINITY;
}

/* The sum of the lines of a file that begin with one of the names. */
static double sum_of(const char *path, const char *const *names) {
  char line[PATH], *end;
  double sum = 0, value;
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    for (const char *const *name = names; (end = strpbrk(line, " :")) && *name; name++)
      if (!strncmp(line, *name, (size_t)(end - line)) && !(*name)[end - line] && sscanf(end + 1, "%lf", &value) == 1)
        sum += value;
  if (file) fclose(file);
  return sum;
}

/* In bytes.  What the group keeps of files is given back when it is needed. */
static double group_memory(const char *root, const char *controller, const char *group) {
  static const char *const kept[2][3] = {{"inactive_file", "active_file", NULL},
                                         {"total_inactive_file", "total_active_file", NULL}};
  bool first = *controller;
  char folder[2 * PATH], path[3 * PATH];
  double limit = 0, used = 0, rest;
  snprintf(folder, sizeof folder, "%s%s%s%s", root, first ? "/" : "", controller, group);
  snprintf(path, sizeof path, "%s/%s", folder, first ? "memory.limit_in_bytes" : "memory.max");
  if (read_number(path, &limit, &rest) < 1) return INFINITY;
  snprintf(path, sizeof path, "%s/%s", folder, first ? "memory.usage_in_bytes" : "memory.current");
  if (read_number(path, &used, &rest) < 1) return INFINITY;
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  return fmin(limit, limit - used + sum_of(path, kept[first]));
}

/* The smallest from the group up to the root. */
static double smallest(of_group ask, const char *root, const char *controller, char *group) {
  double min = INFINITY;
  for (;;) {
    min = fmin(min, ask(root, controller, group));
    char *slash = strrchr(group, '/');
    if (!slash) return min;
    *slash = 0;
  }
}

/* The smallest of all groups that this process is in. */
static double of_groups(of_group ask, const char *name, const char *self, const char *root) {
  char line[PATH], controller[PATH];
  double min = INFINITY;
  FILE *file = fopen(self, "r");
  if (!file) return min;
  while (fgets(line, sizeof line, file)) {
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    if (!group) continue;
    size_t length = (size_t)(group - names - 1);
    snprintf(controller, sizeof controller, "%.*s", (int)length, names + 1);
    if (length > 0 && !tct_word_among(name, controller, ',')) continue;
    group[1 + strcspn(group + 1, "\n")] = 0;
    min = fmin(min, smallest(ask, root, controller, group + 1));
  }
  fclose(file);
  return min;
}

int tct_processor_quota(const char *self, const char *root) {
  double min = of_groups(group_quota, "cpu", self, root);
  return isinf(min) ? 0 : min < 1 ? 1 : min > 1 << 20 ? 1 << 20 : (int)min;
}

double tct_memory_quota(const char *self, const char *root) { return of_groups(group_memory, "memory", self, root); }

int tct_processors(void) {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  int quota = tct_processor_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0 && quota < count ? quota : count > 0 ? count : 1;
}

/* What a limit of the process leaves, of which it uses so many pages. */
static double left_of(int resource, double pages) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INFINITY;
  return (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE);
}

static double memory_free(void) {
  static const char *const available[] = {"MemAvailable", NULL};
  double pages[6] = {0}, kib = sum_of("/proc/meminfo", available);
  FILE *file = fopen("/proc/self/statm", "r"); /* the first number is all, the sixth data */
  for (int k = 0; file && k < 6 && fscanf(file, "%lf", &pages[k]) == 1; k++) continue;
  if (file) fclose(file);
  double least = fmin(left_of(RLIMIT_AS, pages[0]), left_of(RLIMIT_DATA, pages[5]));
  if (kib > 0) least = fmin(least, kib * 1024);
  return fmax(0, fmin(least, tct_memory_quota("/proc/self/cgroup", "/sys/fs/cgroup")));
}

tct_status tct_memory_check(double bytes, double limit, const char *what, const char *lower, tct_error *err) {
  enum { SMALL = 1 << 20 }; /* asking opens a dozen of the system's files */
  double left = bytes <= SMALL && !(limit > 0 && bytes > limit) ? INFINITY : memory_free();
  if (limit > 0) left = fmin(left, limit);
  if (bytes <= left) return TCT_OK;
  return tct_fail(err, TCT_E_MEMORY, "%s at least %.0f MiB of memory, and %.0f MiB are free; {%s}", what,
                  ceil(bytes / 1048576), floor(left / 1048576), lower);
}
