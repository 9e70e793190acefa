/* identity.c - looks at parts of the input files, so that ranks with other files are found before any is read. */
#include "train/identity.h"

#include "core/alloc.h"
#include "core/settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 64, WHOLE = (BLOCKS + 2) * BLOCK };

/* ---- one name, one file ------------------------------------------------------------------------------------ */

typedef struct place {
  dev_t device;
  ino_t file;
  const char *name;
} place;

static int by_place(const void *a, const void *b) {
  const place *p = a, *q = b;
  if (p->device != q->device) return p->device < q->device ? -1 : 1;
  return p->file < q->file ? -1 : p->file > q->file;
}

static bool is_input_stream(const char *path) { return strcmp(path, "-") == 0; }

tct_status tct_inputs_named_once(const char *const *paths, size_t count, tct_error *err) {
  place *all = TCT_NEW(place, (int64_t)count);
  size_t known = 0;
  if (!all) return tct_fail_memory(err);
  for (size_t k = 0; k < count; k++) {
    struct stat status;
    if ((is_input_stream(paths[k]) ? fstat(0, &status) : stat(paths[k], &status)) != 0) continue;
    all[known++] = (place){status.st_dev, status.st_ino, paths[k]};
  }
  qsort(all, known, sizeof *all, by_place);
  tct_status status = TCT_OK;
  for (size_t k = 1; k < known && status == TCT_OK; k++)
    if (by_place(&all[k - 1], &all[k]) == 0)
      status = tct_fail(err, TCT_E_USAGE,
                        "%.200s and %.200s are one file, so its records would count twice; name each part once",
                        all[k - 1].name, all[k].name);
  tct_free(all);
  return status;
}

/* ---- one file on all ranks ----------------------------------------------------------------------------------- */

typedef struct look {
  const char *name;
  int file;
  int64_t size;
  unsigned char *room; /* [BLOCK] */
  tct_digest digest;
} look;

static tct_status look_open(look *at, const char *path, tct_error *err) {
  struct stat status;
  at->name = path;
  if (is_input_stream(path))
    return tct_fail(err, TCT_E_USAGE,
                    "- cannot be shared out over ranks: standard input goes to one rank; name a file");
  at->file = open(path, O_RDONLY | O_CLOEXEC);
  if (at->file < 0 || fstat(at->file, &status) != 0)
    return tct_fail(err, TCT_E_RUN, "cannot open %s; check the name and the permissions", path);
  if (!S_ISREG(status.st_mode))
    return tct_fail(err, TCT_E_USAGE, "%s cannot be shared out over ranks: it is no plain file; name one", path);
  at->size = status.st_size;
  return TCT_OK;
}

static tct_status look_at(look *at, int64_t from, int64_t count, tct_error *err) {
  for (int64_t got = 0; got < count;) {
    ssize_t more = pread(at->file, at->room + got, (size_t)(count - got), (off_t)(from + got));
    if (more <= 0) return tct_fail(err, TCT_E_RUN, "cannot read %s to its end; check the disk", at->name);
    got += more;
  }
  tct_digest_field(&at->digest, 'B', at->room, (size_t)count);
  return TCT_OK;
}

/* [from, to) in blocks. */
static tct_status look_through(look *at, int64_t from, int64_t to, tct_error *err) {
  for (int64_t block = from; block < to; block += BLOCK)
    TCT_TRY(look_at(at, block, to - block < BLOCK ? to - block : BLOCK, err));
  return TCT_OK;
}

/* Where the k-th block of a file begins: a number from a digest, so that nobody chooses it. */
static int64_t chosen(const char *seed, size_t file, int k, int64_t places) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX], head[17] = "";
  tct_digest_start(&digest);
  tct_digest_text(&digest, seed);
  tct_digest_word(&digest, 'F', file);
  tct_digest_word(&digest, 'K', (uint64_t)k);
  tct_digest_end(&digest, hex);
  memcpy(head, hex, 16);
  return (int64_t)(strtoull(head, NULL, 16) % (uint64_t)places);
}

/* seed NULL: size and both ends; else the blocks that it chooses. */
static tct_status look_over(look *at, size_t file, const char *seed, tct_error *err) {
  tct_digest_word(&at->digest, 'S', (uint64_t)at->size);
  if (at->size <= WHOLE) return seed ? TCT_OK : look_through(at, 0, at->size, err);
  if (!seed) {
    TCT_TRY(look_at(at, 0, BLOCK, err));
    return look_at(at, at->size - BLOCK, BLOCK, err);
  }
  for (int k = 0; k < BLOCKS; k++) TCT_TRY(look_at(at, chosen(seed, file, k, at->size - BLOCK + 1), BLOCK, err));
  return TCT_OK;
}

static tct_status add_file(const char *path, size_t file, const char *seed, tct_settings *list, tct_error *err) {
  unsigned char room[BLOCK];
  look at = {.file = -1, .room = room};
  char hex[TCT_DIGEST_HEX];
  tct_digest_start(&at.digest);
  tct_status status = look_open(&at, path, err);
  if (status == TCT_OK) status = look_over(&at, file, seed, err);
  tct_digest_end(&at.digest, hex);
  if (at.file >= 0) close(at.file);
  if (status == TCT_OK) tct_settings_text(list, path, hex);
  return status;
}

static tct_status same_files(const char *const *paths, size_t count, const char *seed, tct_team *team,
                             char digest[TCT_DIGEST_HEX], tct_error *err) {
  tct_settings list = {.what = "the contents of ", .status = TCT_E_DATA, .free_names = true};
  tct_status status = TCT_OK;
  for (size_t k = 0; k < count && status == TCT_OK; k++) status = add_file(paths[k], k, seed, &list, err);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK) status = tct_team_same(team, &list, err);
  if (status == TCT_OK) status = tct_settings_digest(&list, digest, err);
  tct_settings_free(&list);
  return tct_team_agree(team, status, err);
}

tct_status tct_inputs_same(const char *const *paths, size_t count, tct_team *team, char identity[TCT_DIGEST_HEX],
                           tct_error *err) {
  char ends[TCT_DIGEST_HEX];
  identity[0] = 0;
  if (tct_team_ranks(team) == 1) return TCT_OK;
  TCT_TRY(same_files(paths, count, NULL, team, ends, err));
  return same_files(paths, count, ends, team, identity, err);
}
