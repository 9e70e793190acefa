/* kinds.c - the kinds of stages, as a list. */
#include "study/stage.h"

#define TCT_STAGE_KIND(name) extern const tct_stage_kind tct_stage_kind_##name;
#include "stage/list.def"
#undef TCT_STAGE_KIND

#define TCT_STAGE_KIND(name) &tct_stage_kind_##name,
const tct_stage_kind *const tct_stage_kinds[] = {
#include "stage/list.def"
};
#undef TCT_STAGE_KIND
const int tct_stage_kind_count = sizeof tct_stage_kinds / sizeof *tct_stage_kinds;
