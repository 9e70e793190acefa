/* rule.h - tuned constants: the rows of a room's rules.def, as constants of the file that includes it.
 *
 * TCT_RULE(component, version, name, value, page) is the constant component_name, and the page, one of docs/decisions,
 * says how its value was found.  TCT_RULES(component, version, name, page, values...) is a list of values.
 *
 * All versions are 1.  A row of version 2 stands beside the older one, which stays: a plan takes the row of the highest
 * version that is not above its solver's `rules`. */
#ifndef TCT_SOLVE_RULE_H
#define TCT_SOLVE_RULE_H
#define TCT_RULE(component, version, name, value, page) static const double component##_##name = value;
#define TCT_RULES(component, version, name, page, ...) static const double component##_##name[] = {__VA_ARGS__};
#endif
