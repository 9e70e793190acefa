/* turn.h - one of several fits with the same settings: its own noise, and its share of the progress. */
#ifndef TCT_SEVERAL_TURN_H
#define TCT_SEVERAL_TURN_H
#include "train/plan.h"

/* The caller's callbacks, seen from one of several fits. */
typedef struct tct_turn {
  const tct_config *config; /* the caller's */
  int64_t turn, turns;
} tct_turn;

/* own <- seed and callbacks of this turn, which it borrows; the callbacks may be NULL. */
void tct_turn_take(tct_turn *turn, tct_config *own);
#endif
