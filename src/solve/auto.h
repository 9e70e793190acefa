/* auto.h - the solver that a user who names none gets. */
#ifndef TCT_SOLVE_AUTO_H
#define TCT_SOLVE_AUTO_H
#include "solve/solve.h"

/* From 0.2 on raised whenever the same facts give another solver, or another loss of several classes.  An older version
 * is one that an editor of a file can name, to have the settings as asked skipped: so there is none before. */
enum { TCT_AUTO_RULES = 1 };

/* The best solver known for these public facts, and why: one sentence in why[size]. */
const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size);

/* More than two classes: is one fit of all better than one against the rest for each?  facts: penalty, epsilon and
 * delta are looked at.  why[size]: one sentence. */
bool tct_classes_auto_joint(const tct_facts *facts, char *why, size_t size);
#endif
