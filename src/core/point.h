/* point.h - named places where a test can plant a fault, in a library that is never installed.
 *
 * TCT_POINT(name, right, wrong) is `right`.  In the library tacit_points (cmake/open.cmake) it is `wrong` if the
 * environment's TACIT_POINT is that name.  tests/privacy/points.def lists every point with the tests that must then
 * fail; a point without a row does not compile there. */
#ifndef TCT_CORE_POINT_H
#define TCT_CORE_POINT_H

#ifdef TCT_NO_POINTS /* both libraries have this object */
#define TCT_POINT(name, right, wrong) this_source_has_points_now_so_run_cmake_again
#elif !defined TCT_POINTS
#define TCT_POINT(name, right, wrong) (right)
#else
#include <stdlib.h>
#include <string.h>

typedef enum tct_point_name {
#define TCT_POINT_ROW(name, tests) TCT_POINT_##name,
#include "points.def"
#undef TCT_POINT_ROW
  TCT_POINT_NAMES
} tct_point_name;

/* Asked once at each place: loops go through some of them.  0: not asked yet; two threads that ask agree. */
#define TCT_POINT(name, right, wrong)                                                     \
  (__extension__({                                                                        \
    static _Thread_local signed char asked;                                               \
    const char *said = asked ? NULL : getenv("TACIT_POINT");                              \
    if (!asked) asked = said && (TCT_POINT_##name >= 0) && !strcmp(said, #name) ? 1 : -1; \
    asked > 0;                                                                            \
  })                                                                                      \
       ? (wrong)                                                                          \
       : (right))
#endif
#endif
