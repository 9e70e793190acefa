/* anchor.c - the anchor file of a ledger: one line, `tacit-anchor 1 LEDGER PLACE HASH`.
 *
 * It is written after the ledger's commit.  Where the power goes between the two, the anchor names an older row, which
 * is in the chain all the same; only a ledger that has lost rows disagrees. */
#include "ledger/anchor.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char WORD[] = TCT_ANCHOR_WORD;

char *tct_anchor_path(const char *name, tct_error *err) {
  char folder[PATH_MAX], path[2 * PATH_MAX];
  if (!name[0]) return tct_fail(err, TCT_E_USAGE, "the anchor has no name; give a file name"), NULL;
  if (name[0] != '/' && !getcwd(folder, sizeof folder))
    return tct_fail(err, TCT_E_RUN, "the current folder has no name; give the anchor's whole path"), NULL;
  snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/", name);
  char *copy = tct_text_copy(path);
  if (!copy) tct_fail_memory(err);
  return copy;
}

bool tct_anchor_is(const char *path) {
  char word[sizeof WORD] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  size_t got = fread(word, 1, sizeof WORD - 1, file);
  fclose(file);
  return got == sizeof WORD - 1 && !strcmp(word, WORD);
}

tct_status tct_anchor_check(tct_ledger *l, const char *path, tct_error *err) {
  char id[TCT_DIGEST_HEX] = "", hash[TCT_DIGEST_HEX] = "", found[TCT_DIGEST_HEX];
  int64_t seq = 0;
  FILE *file = fopen(path, "r");
  if (!file) return tct_fail(err, TCT_E_RUN, "the ledger's anchor %.300s cannot be read; bring it back", path);
  int got = fscanf(file, "tacit-anchor 1 %64[0-9a-f] %" SCNd64 " %64[0-9a-f]", id, &seq, hash);
  fclose(file);
  if (got != 3) return tct_fail(err, TCT_E_DATA, "%.300s is no anchor of a ledger; bring the right file back", path);
  if (strcmp(id, l->id) != 0) return tct_fail(err, TCT_E_DATA, "%.300s is the anchor of another ledger", path);
  TCT_TRY(tct_ledger_hash_at(l, seq, found, err));
  if (!strcmp(found, hash)) return TCT_OK;
  return tct_fail(err, TCT_E_DATA,
                  "the ledger lacks the row that its anchor %.300s names: it was rolled back or rewritten; bring its "
                  "newest state back",
                  path);
}

/* With room for its line: after the charge it is too late to find the disk full. */
static tct_status open_with_room(const char *path, tct_outfile *out, tct_error *err) {
  enum { LONGEST = sizeof WORD + 2 * TCT_DIGEST_HEX + 24 };
  TCT_TRY(tct_outfile_open(out, path, TCT_OUT_ANCHOR, NULL, err));
  return tct_outfile_reserve(out, LONGEST, err);
}

tct_status tct_anchor_open(tct_ledger *l, tct_outfile *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  if (!l->anchor) return TCT_OK;
  TCT_TRY(tct_anchor_check(l, l->anchor, err));
  return open_with_room(l->anchor, out, err);
}

tct_status tct_anchor_place(const tct_ledger *l, tct_error *err) {
  struct stat info;
  if (stat(l->anchor, &info) != 0) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "there is a file at the anchor's place already; name a new one");
}

tct_status tct_anchor_new(const tct_ledger *l, tct_outfile *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(tct_anchor_place(l, err));
  return open_with_room(l->anchor, out, err);
}

tct_status tct_anchor_commit(const tct_ledger *l, tct_outfile *out, tct_error *err) {
  if (!out->file) return TCT_OK;
  fprintf(out->file, "%s%s %" PRId64 " %s\n", WORD, l->id, l->seq, l->head);
  return tct_outfile_commit(out, err);
}
