/* turn.h - one of several fits with the same settings: its own noise, and its share of the progress. */
#ifndef TCT_SEVERAL_TURN_H
#define TCT_SEVERAL_TURN_H
#include "train/plan.h"

/* The caller's callbacks, seen from one of several fits, within a watch on cancel (core/stop.h). */
typedef struct tct_turn {
  const tct_config *config; /* the caller's */
  int64_t turn, turns;
} tct_turn;

/* own <- seed and progress of this turn, which it borrows. */
void tct_turn_take(tct_turn *turn, tct_config *own);
#endif
