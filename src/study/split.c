/* split.c - which records are held out: so many, drawn by coins of their own.
 *
 * SPLIT  The numbers of both parts follow from the number of all, which is public.  Which records lie in a part depends
 * on coins alone and on no record.  A record that is removed leaves its place (the number of all is a constant of
 * add_remove), and one that is replaced leaves it to another.  So neighbours differ in one record of one part,
 * whichever coins fell: this is what src/account/selection.c, APART, asks for.  Every set of places is as likely as
 * another, so that the order of the file does not count either.  A function of the contents would move a replaced
 * record into the other part, and is none of this. */
#include "core/alloc.h"
#include "study/study.h"

#include <math.h>

/* Of the orders that a gate has for a run, persons are drawn by the first. */
enum { ORDER = 1 };

typedef struct drawing {
  int64_t rows, count, *order;
  unsigned char *held;
} drawing;

int64_t tct_held_count(int64_t rows, double share) {
  if (rows < 2 || !(share > 0 && share < 1)) return -1;
  double want = nearbyint(share * (double)rows);
  return want < 1 ? 1 : want > (double)(rows - 1) ? rows - 1 : (int64_t)want;
}

static tct_status draw(tct_mech *mech, void *user, tct_error *err) {
  const drawing *d = user;
  (void)err;
  tct_mech_shuffle(mech, ORDER, d->order, d->rows);
  for (int64_t k = 0; k < d->rows; k++) d->held[d->order[k]] = k < d->count;
  return TCT_OK;
}

tct_status tct_held_draw(int64_t rows, double share, const uint64_t *seed, unsigned char *held, tct_error *err) {
  const tct_promise none = {0};
  const tct_gate gate = {.promise = &none, .neighbours = TCT_ADD_REMOVE, .seed = seed};
  drawing d = {rows, tct_held_count(rows, share), TCT_NEW(int64_t, rows), held};
  tct_status status = d.order ? tct_gate_run(&gate, draw, &d, err) : tct_fail_memory(err);
  tct_wipe_free(d.order, d.order ? rows : 0, sizeof *d.order);
  return status;
}
