/* gate_help.h - gates over one or two releases, for the tests of mech/. */
#ifndef TCT_TEST_GATE_HELP_H
#define TCT_TEST_GATE_HELP_H
#include "mech/mech.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { LEN = 3 };
static const uint64_t seed = 42;

/* A release of that event and that sensitivity. */
static inline tct_release release_at(tct_event event, double sensitivity) {
  tct_release r = event.kind == TCT_EV_EXPONENTIAL
                      ? tct_release_choice("scores", event.epsilon, event.count, sensitivity, sensitivity, 1000)
                      : tct_release_sum("a sum", event, sensitivity, sensitivity, 1000);
  return r;
}

static inline tct_mech *gate_with(const tct_release *release, int count) {
  tct_promise promise = {0};
  tct_mech *mech = NULL;
  for (int r = 0; r < count; r++) assert_int_equal(tct_promise_add(&promise, release[r], NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  tct_promise_free(&promise); /* the gate has its own copy */
  return mech;
}
static inline tct_mech *gate(tct_event first, tct_event second) {
  tct_release both[2] = {release_at(first, 1), release_at(second.count ? second : first, 1)};
  return gate_with(both, second.count ? 2 : 1);
}
static inline tct_mech *gate_of(tct_event event) { return gate(event, (tct_event){0}); }
#endif
