/* rank_part.h - the records of one rank, out of a table that all ranks of a test see. */
#ifndef TCT_TEST_RANK_PART_H
#define TCT_TEST_RANK_PART_H
#include "core/alloc.h"
#include "ranks/ranks.h"
#include "read/table/data.h"

/* data, a view of the whole table, becomes the part of rank `rank`; rows[ranks]: how many each rank holds. */
static void describe_part(tct_data *data, tct_team *team, int rank, int ranks, const int64_t *rows) {
  data->team = team;
  data->rank_rows = TCT_NEW(int64_t, ranks);
  data->row0 = data->all_rows = 0;
  for (int r = 0; r < ranks; r++) {
    data->rank_rows[r] = rows[r];
    if (r == rank) data->row0 = data->all_rows;
    data->all_rows += rows[r];
  }
  data->x.rows = rows[rank];
  data->x.values = (const double *)data->x.values + data->row0 * data->x.stride;
  data->y += data->row0;
}
#endif
