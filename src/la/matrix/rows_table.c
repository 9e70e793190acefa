/* rows_table.c - compiles the row loops for every instruction set, value type and index type. */
#include "la/matrix/rows_table.h"
#include "la/matrix/lattice.h"

#include <string.h>

#define BODY "la/matrix/rows_body.h"
#define TARGET TCT_VARIANT(TCT_TARGET, LEVEL, , )
#define VALUE TCT_VARIANT(TCT_VALUE, F32, , )
#define LOAD8 TCT_VARIANT(TCT_LOAD8, F32, LEVEL, )
#define INDEX TCT_VARIANT(INDEX, I64, , )
#define INDEX_0 int32_t
#define INDEX_1 int64_t
#define LOOP(name) TCT_VARIANT(name, F32, I64, LEVEL)
#define F32 0
#define I64 0
#include "la/matrix/each_level.h"
#undef I64
#define I64 1
#include "la/matrix/each_level.h"
#undef F32
#define F32 1
#include "la/matrix/each_level.h"
#undef I64
#define I64 0
#include "la/matrix/each_level.h"

const tct_row_loops *tct_row_loops_at(int level, int value_type, int index_type) {
  static const tct_row_loops *const table[TCT_LEVELS][2][2] = {
      {{&loops_000, &loops_010}, {&loops_100, &loops_110}},
      {{&loops_001, &loops_011}, {&loops_101, &loops_111}},
      {{&loops_002, &loops_012}, {&loops_102, &loops_112}},
  };
  return table[level][value_type == TCT_F32][index_type == TCT_I64];
}
