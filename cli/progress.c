/* progress.c - a bar on terminals, and signals that end a training cleanly: Ctrl-C, SIGTERM, a terminal that closes. */
#define _GNU_SOURCE
#include "cli.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 40 };

static volatile sig_atomic_t cancelled; /* the handler may write nothing else */

static void on_signal(int number) {
  (void)number;
  cancelled = 1;
}

static int is_cancelled(void *user) {
  (void)user;
  return cancelled;
}

static void draw(double fraction, void *user) {
  int *shown = user;
  int now = (int)(100 * fraction);
  if (now == *shown) return;
  *shown = now;
  char bar[BAR + 1];
  int filled = (int)(BAR * fraction);
  memset(bar, '.', BAR);
  memset(bar, '#', (size_t)(filled < 0 ? 0 : filled > BAR ? BAR : filled));
  bar[BAR] = 0;
  fprintf(stderr, "\r[%s] %3d %%", bar, now);
}

/* A second Ctrl-C ends the process at once, as everywhere. */
static void handle(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  struct sigaction before;
  bool kept =
      sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN; /* nohup: it outlives its terminal */
  if (!kept) sigaction(SIGHUP, &action, NULL);
}

static int shown_percent;

void cli_progress_start(tct_config *config) {
  shown_percent = -1;
  config->cancel = is_cancelled;
  config->progress = isatty(STDERR_FILENO) ? draw : NULL;
  config->user = &shown_percent;
  handle(on_signal);
}

void cli_progress_end(void) {
  handle(SIG_DFL);
  if (shown_percent >= 0) fprintf(stderr, "\r%*s\r", BAR + 8, "");
  shown_percent = -1;
}

double cli_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
