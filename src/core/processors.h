/* processors.h - how many processors, and how much memory, this process may really use. */
#ifndef TCT_CORE_PROCESSORS_H
#define TCT_CORE_PROCESSORS_H
#include "core/status.h"

/* Those that it may run on, and no more than the quota of its container (cgroups, version 1 or 2) pays for; at least
 * one.  A quota of 1.5 processors is one: a second thread would be stopped half of the time, and others wait for it. */
int tct_processors(void);

/* How many of `threads` a parallel loop may have: all of them, and in a forked child one.  Threads are not copied with
 * a process, but what the run time of OpenMP knows of them is, and it waits for them for ever.  Every loop asks this.
 */
int tct_threads(int threads);

/* The quota alone: self and root are /proc/self/cgroup and /sys/fs/cgroup, or copies of them in tests; 0: none. */
int tct_processor_quota(const char *self, const char *root);

/* TCT_E_MEMORY where fewer bytes are free: of the machine, of the container, below the limits of the process (RLIMIT_AS
 * and RLIMIT_DATA), and below `limit`, 0: none.  what: "the table needs"; lower: what to do. */
tct_status tct_memory_check(double bytes, double limit, const char *what, const char *lower, tct_error *err);

/* What the container leaves alone, as tct_processor_quota; INFINITY: it has no limit. */
double tct_memory_quota(const char *self, const char *root);
#endif
