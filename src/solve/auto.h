/* auto.h - the solver that a user who names none gets. */
#ifndef TCT_SOLVE_AUTO_H
#define TCT_SOLVE_AUTO_H
#include "solve/solve.h"

/* The best solver known for these public facts, and why: one sentence in why[size]. */
const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size);
#endif
