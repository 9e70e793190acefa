/* rows_table.c - compiles the row loops for every instruction set, value type and index type. */
#include "la/matrix/rows_table.h"
#include "la/matrix/lattice.h"

#include <string.h>

#define LOAD8_F64(p) (*(const tct_f64x8 *)(p))
#define LOAD8_F32(p) __builtin_convertvector(*(const tct_f32x8 *)(p), tct_f64x8)

#define TARGET TCT_TARGET_0
#define VALUE double
#define LOAD8 LOAD8_F64
#define INDEX int32_t
#define LOOP(name) name##_f64_i32_0
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f64_i64_0
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#define VALUE float
#define LOAD8 LOAD8_F32
#define INDEX int32_t
#define LOOP(name) name##_f32_i32_0
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f32_i64_0
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#undef TARGET

#define TARGET TCT_TARGET_1
#define VALUE double
#define LOAD8 LOAD8_F64
#define INDEX int32_t
#define LOOP(name) name##_f64_i32_1
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f64_i64_1
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#define VALUE float
#define LOAD8 LOAD8_F32
#define INDEX int32_t
#define LOOP(name) name##_f32_i32_1
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f32_i64_1
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#undef TARGET

#define TARGET TCT_TARGET_2
#define VALUE double
#define LOAD8 LOAD8_F64
#define INDEX int32_t
#define LOOP(name) name##_f64_i32_2
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f64_i64_2
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#define VALUE float
#define LOAD8 LOAD8_F32
#define INDEX int32_t
#define LOOP(name) name##_f32_i32_2
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#define INDEX int64_t
#define LOOP(name) name##_f32_i64_2
#include "la/matrix/rows_body.h"
#undef INDEX
#undef LOOP
#undef VALUE
#undef LOAD8
#undef TARGET

const tct_row_loops *tct_row_loops_at(int level, int value_type, int index_type) {
  static const tct_row_loops *const table[TCT_LEVELS][2][2] = {
      {{&loops_f64_i32_0, &loops_f64_i64_0}, {&loops_f32_i32_0, &loops_f32_i64_0}},
      {{&loops_f64_i32_1, &loops_f64_i64_1}, {&loops_f32_i32_1, &loops_f32_i64_1}},
      {{&loops_f64_i32_2, &loops_f64_i64_2}, {&loops_f32_i32_2, &loops_f32_i64_2}},
  };
  return table[level][value_type == TCT_F32][index_type == TCT_I64];
}
