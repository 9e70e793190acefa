/* anchor.c - the anchor file of a ledger: one line, `tacit-anchor 1 LEDGER PLACE HASH`.
 *
 * It is written after the ledger's commit.  Where the power goes between the two, the anchor names an older row, which
 * is in the chain all the same; only a ledger that has lost rows disagrees. */
#include "ledger/anchor.h"

#include "core/point.h"
#include "core/alloc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char WORD[] = TCT_ANCHOR_WORD;
enum { LONGEST = sizeof WORD + 2 * TCT_DIGEST_HEX + 24 };

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

/* Its first bytes as a text; false: it cannot be read. */
static bool first_line(const char *path, char line[LONGEST + 1]) {
  int file = tct_plain_open(path, O_RDONLY);
  ssize_t got = file >= 0 ? read(file, line, LONGEST) : -1;
  if (file >= 0) close(file);
  line[got > 0 ? got : 0] = 0;
  return got >= 0;
}

char tct_anchor_kind(const char *path) {
  char line[LONGEST + 1];
  if (!first_line(path, line)) return 0;
  if (!strncmp(line, WORD, sizeof WORD - 1)) return 'a';
  return line[strspn(line, " \t\r\n")] == '{' ? '{' : 0;
}

/* What an anchor of this ledger names. */
static tct_status take(const tct_ledger *l, const char *path, int64_t *seq, char hash[TCT_DIGEST_HEX], tct_error *err) {
  char line[LONGEST + 1], id[TCT_DIGEST_HEX] = "";
  int there = first_line(path, line), got = 0;
  if (there) got = sscanf(line, "tacit-anchor 1 %64[0-9a-f] %" SCNd64 " %64[0-9a-f]", id, seq, hash);
  if (got == 3 && TCT_POINT(anchor_of_another_ledger, !strcmp(id, l->id), true)) return TCT_OK;
  return tct_fail(err, there ? TCT_E_DATA : TCT_E_RUN,
                  "the ledger's anchor %.300s %s; bring it back, or say that it was lost and name a new one", path,
                  !there     ? "cannot be read"
                  : got == 3 ? "is that of another ledger"
                             : "is no anchor any more");
}

bool tct_anchor_is_lost(const tct_ledger *l, const char *path) {
  int64_t seq;
  char hash[TCT_DIGEST_HEX];
  return take(l, path, &seq, hash, NULL) != TCT_OK;
}

tct_status tct_anchor_check(tct_ledger *l, const char *path, tct_error *err) {
  char hash[TCT_DIGEST_HEX], found[TCT_DIGEST_HEX];
  int64_t seq = 0;
  TCT_TRY(take(l, path, &seq, hash, err));
  TCT_TRY(tct_ledger_hash_at(l, seq, found, err));
  if (TCT_POINT(anchor_by_its_first_digit, !strcmp(found, hash), found[0] == hash[0])) return TCT_OK;
  return tct_fail(err, TCT_E_DATA,
                  "the ledger lacks the row that its anchor %.300s names: it was rolled back or rewritten; bring its "
                  "newest state back",
                  path);
}

/* With room for its line: after the charge it is too late to find the disk full. */
static tct_status open_with_room(const char *path, tct_outfile *out, tct_error *err) {
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
  if (lstat(l->anchor, &info) != 0) return TCT_OK;
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
