/* work.h - a purse of work, paid before each piece is done, so that what a stranger's file asks for comes to an end.
 *
 * One unit is a nanosecond or less.  It is counted from the question and not measured: on every machine the same
 * question takes the same units. */
#ifndef TCT_ACCOUNT_CURVES_WORK_H
#define TCT_ACCOUNT_CURVES_WORK_H
#include "core/status.h"

/* To plan one fit; to verify a file, or to price a list.  To verify is to plan each fit, to prove the claim, which is
 * less than planning it, and to hear a second opinion. */
#define TCT_WORK_PLAN 2.6e9
#define TCT_WORK_SECOND 0.5e9
#define TCT_WORK_VERIFY 3.7e9

/* A thread's purse.  Without one, everything is allowed. */
typedef struct tct_work {
  double spent, most;
  bool over; /* more was asked for than there was */
} tct_work;

/* This thread gets a purse of `most`, and of no more than is left in the one it has, which is what is returned. */
tct_work tct_work_begin(double most);
/* Puts it back, lighter by what was spent since.  Returns the purse that ends. */
tct_work tct_work_end(tct_work before);
/* false: the purse does not hold so much.  From then on it holds nothing. */
bool tct_work_pay(double units);
/* Was more asked for than the purse holds? */
bool tct_work_over(void);
/* INFINITY without a purse. */
double tct_work_left(void);
/* TCT_E_USAGE, with a sentence, where tct_work_pay says false. */
tct_status tct_work_take(double units, tct_error *err);
#endif
