/* processors.h - how many processors this process may really use. */
#ifndef TCT_CORE_PROCESSORS_H
#define TCT_CORE_PROCESSORS_H

/* Those that it may run on, and no more than the quota of its container (cgroups, version 1 or 2) pays for; at least
 * one.  A quota of 1.5 processors is one: a second thread would be stopped half of the time, and others wait for it. */
int tct_processors(void);

/* How many of `threads` a parallel loop may have: all of them, and in a forked child one.  Threads are not copied with
 * a process, but what the run time of OpenMP knows of them is, and it waits for them for ever.  Every loop asks this.
 */
int tct_threads(int threads);

/* The quota alone: self and root are /proc/self/cgroup and /sys/fs/cgroup, or copies of them in tests; 0: none. */
int tct_processor_quota(const char *self, const char *root);
#endif
