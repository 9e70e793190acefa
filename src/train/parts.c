/* parts.c - one table over ranks: who reads what, and that all of it is one table.
 *
 * One file is cut by records.  Every rank finds the record ends in its share of the bytes, and the counts give the
 * number of all records n.  Rank r of R gets the blocks [B r/R, B (r+1)/R) of B blocks.  That is a function of n alone,
 * as public as n.  Parts are files; who gets which depends on their sizes.  Either way a rank's first record is a
 * multiple of tct_rows_together, as exact sums of blocks need it (la/exact/exact.h): records before that belong to the
 * rank in front. */
#include "core/alloc.h"
#include "train/identity.h"
#include "train/one_program.h"
#include "la/exact/exact.h"
#include "read/table/data.h"
#include "read/table/join.h"
#include "read/format/range.h"
#include "read/frame/frame.h"
#include "ranks/ranks.h"

#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 256 }; /* least tct_rows_together: wider tables are put right afterwards */

/* ---- one file ------------------------------------------------------------------------------------- */

/* What one rank tells the others about its part of a text. */
typedef struct told {
  int64_t records[2], inside[2];
} told;

typedef struct cut {
  tct_scan scan;
  bool inside;         /* does this part begin within quotes? */
  int64_t first, rows; /* records that end before this part; of the file */
  int64_t from, to;    /* records that this rank is to read */
} cut;

static int64_t cut_row(int64_t rows, int rank, int ranks) {
  int64_t blocks = (rows + BLOCK - 1) / BLOCK, at = blocks * rank / ranks * BLOCK;
  return at < rows ? at : rows;
}

/* Where this part begins, in records and in quotes, and how many records there are. */
static tct_status count_all(cut *c, tct_team *team, tct_error *err) {
  int ranks = tct_team_ranks(team);
  told own = {.records = {c->scan.side[0].records, c->scan.side[1].records},
              .inside = {c->scan.side[0].inside, c->scan.side[1].inside}};
  told *all = TCT_NEW(told, ranks);
  if (!all) return tct_fail_memory(err);
  tct_status status = tct_team_gather(team, &own, all, sizeof own, err);
  int64_t inside = 0;
  for (int r = 0; r < ranks && status == TCT_OK; r++) {
    if (r == tct_team_own(team)) c->first = c->rows, c->inside = inside != 0;
    c->rows += all[r].records[inside];
    inside = all[r].inside[inside];
  }
  tct_free(all);
  return status;
}

/* at[ranks + 1]: where in the file each rank's records begin; the rank whose part holds a place says it. */
static tct_status locate(const cut *c, tct_team *team, double *at, tct_error *err) {
  int ranks = tct_team_ranks(team);
  const tct_scan *scan = &c->scan;
  int64_t records = scan->side[c->inside].records;
  for (int r = 0; r <= ranks; r++) {
    int64_t row = cut_row(c->rows, r, ranks), found = 0;
    if (row == 0 && tct_team_own(team) == 0) found = scan->begin;
    if (row == c->rows && r > 0)
      found = tct_team_own(team) == 0 ? scan->size : 0;
    else if (row > c->first && row <= c->first + records)
      TCT_TRY(tct_scan_find(scan, c->inside, row - c->first, &found, err));
    at[r] = (double)found; /* below 2^53 */
  }
  return tct_team_sum(team, at, ranks + 1, err);
}

static tct_status find_range(cut *c, tct_team *team, tct_range *range, tct_error *err) {
  int own = tct_team_own(team), ranks = tct_team_ranks(team);
  if (c->scan.array)
    c->rows = c->scan.rows;
  else
    TCT_TRY(count_all(c, team, err));
  c->from = cut_row(c->rows, own, ranks), c->to = cut_row(c->rows, own + 1, ranks);
  *range = (tct_range){.from = c->from, .to = c->to, .header = c->scan.begin};
  if (c->scan.array) return TCT_OK;
  double *at = TCT_NEW(double, ranks + 1);
  if (!at) return tct_fail_memory(err);
  tct_status status = locate(c, team, at, err);
  range->from = (int64_t)at[own], range->to = (int64_t)at[own + 1];
  tct_free(at);
  return status;
}

/* A count of record ends is a count of records unless there are empty lines or comments. */
static tct_status check_count(const cut *c, const tct_data *data, tct_error *err) {
  if (!c->scan.csv || c->to == c->rows || data->x.rows == c->to - c->from) return TCT_OK;
  return tct_fail_at(err, c->scan.name, 0, 0, "an empty line stands between the records; remove it");
}

static tct_status read_share(const char *path, const tct_read_options *options, tct_team *team, tct_data **data,
                             tct_error *err) {
  cut c = {0};
  tct_range range;
  tct_status status = tct_scan_open(&c.scan, path, options, tct_team_own(team), tct_team_ranks(team), err);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK) status = find_range(&c, team, &range, err);
  if (status == TCT_OK) {
    *data = tct_data_read_range(path, &range, options, err);
    status = *data ? check_count(&c, *data, err) : err->status;
  }
  tct_scan_close(&c.scan);
  return status;
}

/* ---- several files ---------------------------------------------------------------------------------- */

/* owner[count]: the rank that reads each part, ascending, every rank at least one, by the files' sizes. */
static tct_status assign(const char *const *paths, size_t count, int ranks, int *owner, tct_error *err) {
  double all = 0, before = 0;
  struct stat status;
  if (count < (size_t)ranks)
    return tct_fail(err, TCT_E_USAGE, "%zu parts cannot be shared out over %d ranks; give one file, or a part for each",
                    count, ranks);
  for (size_t k = 0; k < count; k++) all += stat(paths[k], &status) == 0 ? (double)status.st_size : 0;
  for (size_t k = 0; k < count; k++) {
    double size = stat(paths[k], &status) == 0 ? (double)status.st_size : 0;
    int ideal = all > 0 ? (int)((before + size / 2) / all * ranks) : 0, last = k > 0 ? owner[k - 1] : 0;
    int min = ranks - (int)(count - k), max = k > 0 ? last + 1 : 0;
    min = min > last ? min : last;
    owner[k] = ideal < min ? min : ideal > max ? max : ideal;
    if (owner[k] > ranks - 1) owner[k] = ranks - 1;
    before += size;
  }
  return TCT_OK;
}

/* Floats and doubles in one table: all become doubles.  Collective over `team`. */
static tct_status one_precision(tct_data **part, int64_t parts, tct_team *team, tct_error *err) {
  double wide = 0;
  for (int64_t k = 0; k < parts; k++) wide = part[k]->x.value_type == TCT_F64 ? 1 : wide;
  TCT_TRY(tct_team_largest(team, &wide, 1, err));
  for (int64_t k = 0; k < parts; k++) {
    tct_owned_matrix to;
    tct_matrix *x = &part[k]->x;
    if (wide == 0 || x->value_type == TCT_F64) continue;
    TCT_TRY(tct_matrix_convert(x, (tct_layout)x->layout, TCT_F64, &to, err));
    tct_matrix_free(&part[k]->own);
    part[k]->own = to, *x = to.m;
  }
  return TCT_OK;
}

static tct_status read_files(const char *const *paths, size_t count, const int *owner, int own,
                             const tct_read_options *options, tct_data **data, tct_error *err) {
  tct_data **part = TCT_NEW(tct_data *, (int64_t)count);
  int64_t parts = 0;
  tct_status status = part ? TCT_OK : tct_fail_memory(err);
  for (size_t k = 0; k < count && status == TCT_OK; k++) {
    if (owner[k] != own) continue;
    part[parts] = tct_data_read_range(paths[k], NULL, options, err);
    status = part[parts++] ? TCT_OK : err->status;
  }
  if (status == TCT_OK) status = one_precision(part, parts, NULL, err);
  if (status == TCT_OK && parts == 1) {
    *data = part[0];
    part[0] = NULL;
  } else if (status == TCT_OK) {
    status = tct_data_join(part, parts, 0, data, err);
  }
  for (int64_t k = 0; k < parts; k++) tct_data_free(part[k]);
  tct_free(part);
  return status;
}

static tct_status read_parts(const char *const *paths, size_t count, const tct_read_options *options, tct_team *team,
                             tct_data **data, tct_error *err) {
  int *owner = TCT_NEW(int, (int64_t)count);
  if (!owner) return tct_fail_memory(err);
  tct_status status = assign(paths, count, tct_team_ranks(team), owner, err);
  if (status == TCT_OK) status = read_files(paths, count, owner, tct_team_own(team), options, data, err);
  tct_free(owner);
  return status;
}

/* ---- one table -------------------------------------------------------------------------------------- */

/* The number of features of LIBSVM text without --cols is the largest index anywhere. */
static tct_status same_width(tct_data *data, const tct_read_options *options, tct_team *team, tct_error *err) {
  double cols = (double)data->x.cols;
  bool open = data->x.layout == TCT_CSR && !data->names && options->cols == 0;
  if (!open) cols = 0;
  TCT_TRY(tct_team_largest(team, &cols, 1, err));
  if (cols > 0 && open) data->x.cols = data->own.m.cols = (int64_t)cols;
  if (open && cols == 0)
    return tct_fail(err, TCT_E_DATA, "no record has a feature; give the number of features with {cols}");
  return TCT_OK;
}

/* All parts are of one table: the same columns under the same names, read into the same form. */
static tct_status same_table(const tct_data *data, tct_team *team, tct_error *err) {
  tct_settings list = {.status = TCT_E_DATA};
  tct_settings_format(&list, data);
  tct_status status = tct_team_same(team, &list, err);
  tct_settings_free(&list);
  return status;
}

static tct_status number_rows(tct_data *data, tct_team *team, tct_error *err) {
  int ranks = tct_team_ranks(team);
  if (!data->rank_rows) data->rank_rows = TCT_NEW(int64_t, ranks);
  if (!data->rank_rows) return tct_fail_memory(err);
  TCT_TRY(tct_team_gather(team, &data->x.rows, data->rank_rows, sizeof data->x.rows, err));
  data->team = team;
  data->all_rows = data->row0 = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == tct_team_own(team)) data->row0 = data->all_rows;
    data->all_rows += data->rank_rows[r];
  }
  return TCT_OK;
}

/* How many of rank r's first records belong to the rank where their block begins. */
static int64_t head_of(const int64_t *rows, int rank, int64_t together) {
  int64_t start = 0;
  for (int r = 0; r < rank; r++) start += rows[r];
  int64_t head = start % together == 0 ? 0 : together - start % together;
  return head < rows[rank] ? head : rows[rank];
}

/* The rank that holds record `row` before anything has moved. */
static int holder(const int64_t *rows, int64_t row) {
  int rank = 0;
  for (; row >= rows[rank]; rank++) row -= rows[rank];
  return rank;
}

/* Rank `from` hands its first `head` records to rank `to`. */
typedef struct handover {
  int from, to;
  int64_t head;
} handover;

/* Rank `to` keeps the records as another part. */
static tct_status hand_over(const tct_data *data, tct_team *team, handover h, tct_data **part, int64_t *parts,
                            tct_error *err) {
  char *bytes = NULL;
  int64_t size = 0;
  int own = tct_team_own(team);
  tct_status status = own == h.from ? tct_data_pack(data, h.head, &bytes, &size, err) : TCT_OK;
  if (status == TCT_OK) status = tct_team_broadcast(team, &size, sizeof size, h.from, err);
  if (status == TCT_OK && own != h.from && !(bytes = tct_alloc(size, 1))) status = tct_fail_memory(err);
  if (status == TCT_OK) status = tct_team_broadcast(team, bytes, size, h.from, err);
  if (status == TCT_OK && own == h.to) {
    status = tct_data_unpack(bytes, size, data, &part[*parts], err);
    *parts += status == TCT_OK;
  }
  tct_wipe_free(bytes, size, 1);
  return status;
}

/* Records move so that every rank begins with a whole block. */
static tct_status align(tct_data **data, tct_team *team, tct_error *err) {
  int ranks = tct_team_ranks(team), own = tct_team_own(team);
  const int64_t *rows = (*data)->rank_rows;
  int64_t together = tct_rows_together((*data)->x.cols), parts = 1, start = 0;
  tct_data **part = TCT_NEW(tct_data *, ranks), *joined = NULL;
  if (!part) return tct_fail_memory(err);
  part[0] = *data;
  tct_status status = TCT_OK;
  for (int r = 0; r < ranks && status == TCT_OK; start += rows[r++]) {
    handover h = {.from = r, .head = head_of(rows, r, together)};
    if (h.head == 0) continue;
    h.to = holder(rows, start / together * together);
    status = hand_over(*data, team, h, part, &parts, err);
  }
  int64_t drop = status == TCT_OK ? head_of(rows, own, together) : 0;
  if (status == TCT_OK && (drop > 0 || parts > 1)) status = tct_data_join(part, parts, drop, &joined, err);
  for (int64_t k = 1; k < parts; k++) tct_data_free(part[k]);
  tct_free(part);
  if (joined) {
    tct_data_free(*data);
    *data = joined;
  }
  return status;
}

static tct_status make_table(tct_data **data, const tct_read_options *options, tct_team *team, tct_error *err) {
  TCT_TRY(same_width(*data, options, team, err));
  TCT_TRY(one_precision(data, 1, team, err));
  TCT_TRY(same_table(*data, team, err));
  TCT_TRY(number_rows(*data, team, err));
  TCT_TRY(align(data, team, err));
  return number_rows(*data, team, err);
}

/* What can be found wrong before a record is read. */
static tct_status check_inputs(const char *const *paths, size_t count, const tct_read_options *options, tct_team *team,
                               char input[TCT_DIGEST_HEX], tct_error *err) {
  tct_settings list = {0};
  bool named = count > 0;
  for (size_t k = 0; k < count; k++) named = named && paths[k];
  tct_status status =
      named ? TCT_OK : tct_fail(err, TCT_E_USAGE, "no file is named; give a path, or - for standard input");
  if (status == TCT_OK) status = tct_inputs_named_once(paths, count, err);
  TCT_TRY(tct_team_agree(team, status, err));
  tct_settings_read(&list, options, tct_team_ranks(team) > 1);
  tct_settings_word(&list, "the number of files", count);
  status = tct_team_same(team, &list, err);
  tct_settings_free(&list);
  return status == TCT_OK ? tct_inputs_same(paths, count, team, input, err) : status;
}

tct_data *tct_data_read_parts(const char *const *paths, size_t count, const tct_read_options *given, tct_team *team,
                              tct_error *err) {
  tct_data *data = NULL;
  tct_error local = {0};
  tct_read_options own;
  const tct_read_options *options = &own;
  char input[TCT_DIGEST_HEX];
  err = err ? err : &local;
  tct_error_clear(err);
  bool share = count == 1 && tct_team_ranks(team) > 1;
  if (tct_team_agree(team, tct_read_options_take(given, &own, err), err) != TCT_OK) return NULL;
  tct_status status = check_inputs(paths, count, options, team, input, err);
  if (status == TCT_OK && options->memory > 0 && (count > 1 || tct_team_ranks(team) > 1))
    status = tct_fail(err, TCT_E_USAGE,
                      "a limit of memory is for one file in one process; put the parts together, or leave it away");
  if (status == TCT_OK)
    status =
        share ? read_share(paths[0], options, team, &data, err) : read_parts(paths, count, options, team, &data, err);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK && tct_team_ranks(team) > 1) {
    status = make_table(&data, options, team, err);
    if (status == TCT_OK) memcpy(data->input, input, sizeof input);
    status = tct_team_agree(team, status, err);
  }
  if (status == TCT_OK) return data;
  tct_data_free(data);
  return NULL;
}

/* ---- frames ----------------------------------------------------------------------------------------- */

static tct_status no_records(tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "the frame has no records, or those of all ranks have none; give at least one");
}

static tct_status read_frame_part(const tct_frame *frame, const tct_read_options *options, tct_team *team,
                                  tct_data **data, tct_error *err) {
  tct_settings list = {0};
  if (team) tct_settings_read(&list, options, tct_team_ranks(team) > 1);
  tct_status status = tct_team_same(team, &list, err);
  tct_settings_free(&list);
  TCT_TRY(status);
  int64_t rows, cols;
  tct_frame_shape(frame, &rows, &cols);
  if (rows == 0 && tct_team_ranks(team) == 1) return no_records(err);
  *data = tct_frame_read(frame, options, err);
  TCT_TRY(tct_team_agree(team, *data ? TCT_OK : err->status, err));
  if (tct_team_ranks(team) > 1) TCT_TRY(make_table(data, options, team, err));
  return tct_data_rank_rows(*data, -1) > 0 ? TCT_OK : no_records(err);
}

tct_data *tct_data_read_frame(const tct_frame *frame, const tct_read_options *given, tct_team *team, tct_error *err) {
  tct_data *data = NULL;
  tct_error local = {0};
  tct_read_options own;
  err = err ? err : &local;
  if (!team) tct_error_clear(err);
  tct_status status = frame ? TCT_OK : err->status;
  if (!frame && status == TCT_OK) status = tct_fail(err, TCT_E_USAGE, "there is no frame; give one on every rank");
  if (status == TCT_OK) tct_error_clear(err);
  if (status == TCT_OK) status = tct_read_options_take(given, &own, err);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK) status = tct_team_agree(team, read_frame_part(frame, &own, team, &data, err), err);
  if (status == TCT_OK) return data;
  tct_data_free(data);
  return NULL;
}
