/* short_ledger.h - a ledger, and a charge, from a few settings. */
#ifndef TCT_TEST_SHORT_LEDGER_H
#define TCT_TEST_SHORT_LEDGER_H
#include "tacit.h"

static inline tct_status begin_ledger(const char *path, const char *name, const char *filter, tct_neighbours neighbours,
                                      double epsilon, double delta, tct_error *err) {
  tct_ledger_options options;
  tct_ledger_options_default(&options);
  options.name = name, options.filter = filter;
  options.neighbours = (int32_t)neighbours;
  options.epsilon = epsilon, options.delta = delta;
  return tct_ledger_make(path, &options, err);
}

static inline char *charge_ledger(const char *path, const char *const *events, size_t count, tct_neighbours neighbours,
                                  double epsilon, double delta, tct_error *err) {
  tct_charge charge;
  tct_charge_default(&charge);
  charge.neighbours = (int32_t)neighbours;
  charge.epsilon = epsilon, charge.delta = delta;
  return tct_ledger_charge(path, events, count, &charge, err);
}
#endif
