/* turn.c - one of several fits with the same settings: its own noise, and its share of the progress. */
#include "several/turn.h"

/* 2^64 over the golden ratio: the seeds of neighbouring classes stay apart. */
static const uint64_t SEED_STEP = UINT64_C(0x9E3779B97F4A7C15);

static void progress_of_turn(double fraction, void *user) {
  const tct_turn *t = user;
  t->config->progress(((double)t->turn + fraction) / (double)t->turns, t->config->user);
}

void tct_turn_take(tct_turn *turn, tct_config *own) {
  const tct_config *given = turn->config;
  own->seed = given->seed + (uint64_t)turn->turn * SEED_STEP;
  own->progress = given->progress ? progress_of_turn : NULL;
  own->cancel = NULL; /* the whole is watched, and so each turn of it */
  own->user = turn;
}
