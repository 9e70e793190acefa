/* status.h - filling the caller's error record. */
#ifndef TCT_CORE_STATUS_H
#define TCT_CORE_STATUS_H
#include <stdbool.h>

#include "tacit.h"

/* Fills err (may be NULL) with a status and one sentence; clears file, line and column.
 * Returns status, so that a failure is one expression: return tct_fail(err, TCT_E_USAGE, "...").
 * A setting is named by its slot of core/slots.def, {epsilon} or {epsilon 1}, and {%s} stands for an argument that is
 * itself a sentence of the library, with slots.  Nothing else has slots: they are filled here and nowhere else. */
tct_status tct_fail(tct_error *err, tct_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a place in an input file; line and column are 1-based, 0 = none. */
tct_status tct_fail_at(tct_error *err, const char *file, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Out of memory, in one sentence; or cancelled, where that is why an allocation failed (core/stop.h). */
tct_status tct_fail_memory(tct_error *err);

/* From now on err->text is in these words.  For texts of `tacit verify`, which no door fills. */
void tct_error_reword(tct_error *err, tct_wording words);

/* The sentence as another process can fill it, which hands it to {%s}. */
void tct_error_pack(const tct_error *err, char *text, size_t size);

/* Clears the record to TCT_OK. */
void tct_error_clear(tct_error *err);

/* A constant that a table may exceed, or after which it is read otherwise.  A test that wants small tables to meet it
 * asks the library with the fault points for the low ones, before it reads. */
#ifdef TCT_POINTS
extern bool tct_low_limits;
#define TCT_LIMIT(usual, low) (tct_low_limits ? (low) : (usual))
#elif !defined TCT_NO_POINTS /* core/point.h */
#define TCT_LIMIT(usual, low) (usual)
#endif

/* The only control flow that a macro hides: hands a failure up. */
#define TCT_TRY(call)                                      \
  do {                                                     \
    tct_status tct_try_status_ = (call);                   \
    if (tct_try_status_ != TCT_OK) return tct_try_status_; \
  } while (0)
#endif
