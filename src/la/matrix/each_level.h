/* each_level.h - the file BODY once per instruction set of core/lanes.h, with its number as LEVEL. */
#define LEVEL 0
#include BODY
#undef LEVEL
#define LEVEL 1
#include BODY
#undef LEVEL
#define LEVEL 2
#include BODY
#undef LEVEL
