/* nearest.h - the name that somebody probably meant. */
#ifndef TCT_CORE_NEAREST_H
#define TCT_CORE_NEAREST_H
#include "core/status.h"

enum { TCT_MEANT = 96 };

/* "; did you mean NAME?" for the nearest of the names (tct_nearest), or an empty text; returns buffer. */
const char *tct_meant(const char *given, const char *const *names, int64_t count, char buffer[TCT_MEANT]);
#endif
