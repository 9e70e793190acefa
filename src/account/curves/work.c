/* work.c - a purse of work, paid before each piece is done. */
#include "account/curves/work.h"

#include <math.h>

static _Thread_local tct_work purse = {0, INFINITY, false};

double tct_work_left(void) { return purse.over ? 0 : purse.most < INFINITY ? purse.most - purse.spent : INFINITY; }

tct_work tct_work_begin(double most) {
  tct_work before = purse;
  purse = (tct_work){0, most < tct_work_left() ? most : tct_work_left(), false};
  return before;
}

tct_work tct_work_end(tct_work before) {
  tct_work ended = purse;
  purse = before;
  purse.spent += ended.spent;
  return ended;
}

bool tct_work_pay(double units) {
  if (!(units <= tct_work_left()) && purse.most < INFINITY) purse.over = true;
  if (!purse.over) purse.spent += units;
  return !purse.over;
}

bool tct_work_over(void) { return purse.over; }

tct_status tct_work_take(double units, tct_error *err) {
  if (tct_work_pay(units)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "this would take more work than is done for one question; ask for fewer fits, events or steps");
}
