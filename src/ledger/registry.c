/* registry.c - the registry is lines of text: the first holds the key, each other a ledger and a table.
 *
 * It only ever warns: what it holds is not the ledger's, and a run never fails for it.  Nor does a run wait for it.
 * What could wait is done when it is opened, before the charge.  There is no lock; lines are added in one write each.
 */
#define _GNU_SOURCE
#include "ledger/registry.h"

#include "core/alloc.h"
#include "ledger/ledger.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 16 * TCT_SKETCH + PATH_MAX + 300 };
enum { MOST = 1 << 25 }; /* bytes: some 8,000 tables, read in a part of a second */
static const char HEAD[] = "tacit-tables 1 ";
static const double SHARED = 0.5; /* more than chance, less than a table that grew */

/* 1: path[] is the file's name; 0: there is to be none. */
static int find_path(char path[PATH_MAX]) {
  const char *own = getenv("TACIT_REGISTRY"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  int length;
  if (own && (!own[0] || !strcmp(own, "none"))) return 0;
  if (own)
    length = snprintf(path, PATH_MAX, "%s", own);
  else if (config && config[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/tacit/tables", config);
  else if (home && home[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/.config/tacit/tables", home);
  else
    return 0;
  return length > 0 && length < PATH_MAX;
}

static void make_folders(const char *path) {
  char folder[PATH_MAX];
  for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    memcpy(folder, path, (size_t)(at - path));
    folder[at - path] = 0;
    mkdir(folder, 0700); /* one that is there stays as it is; what is wrong shows when the file is opened */
  }
}

/* With a first line; whose came first holds where two processes begin one at a time. */
static int is_usable(int fd) {
  struct stat info;
  struct rlimit most; /* beyond it a signal ends the process, which would be after the charge */
  char head[sizeof HEAD + TCT_KEY_HEX], hex[TCT_KEY_HEX];
  tct_key key;
  if (fstat(fd, &info) != 0 || info.st_size > MOST || getrlimit(RLIMIT_FSIZE, &most) != 0) return 0;
  if (most.rlim_cur != RLIM_INFINITY && (rlim_t)info.st_size + LINE > most.rlim_cur) return 0;
  if (info.st_size > 0) return 1;
  int drawn = tct_key_draw(key, NULL) == TCT_OK;
  if (drawn) tct_hex_print(key, TCT_KEY, hex);
  int length = drawn ? snprintf(head, sizeof head, "%s%s\n", HEAD, hex) : -1;
  int written = length > 0 && write(fd, head, (size_t)length) == length;
  tct_wipe(key, sizeof key);
  tct_wipe(hex, sizeof hex);
  tct_wipe(head, sizeof head);
  return written;
}

static int read_key(FILE *file, tct_key key) {
  char line[sizeof HEAD + TCT_KEY_HEX] = "";
  size_t head = sizeof HEAD - 1;
  if (!fgets(line, sizeof line, file) || strncmp(line, HEAD, head) != 0) return 0;
  line[strcspn(line, "\n")] = 0;
  return tct_hex_parse(line + head, key, TCT_KEY);
}

FILE *tct_registry_open(tct_key key) {
  char path[PATH_MAX];
  memset(key, 0, TCT_KEY);
  if (!find_path(path)) return NULL;
  make_folders(path);
  int fd = tct_plain_open(path, O_RDWR | O_APPEND | O_CREAT);
  FILE *file = fd >= 0 && is_usable(fd) && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r+") : NULL;
  if (file && read_key(file, key)) return file;
  if (file) fclose(file);
  if (!file && fd >= 0) close(fd);
  memset(key, 0, TCT_KEY);
  return NULL;
}

/* One line: ledger, rows, sum, sketch, and the path up to the line's end. */
static int parse_line(char *line, char id[TCT_DIGEST_HEX], tct_print *print, const char **path) {
  char *word[5], *rest = line;
  line[strcspn(line, "\n")] = 0;
  for (int k = 0; k < 4; k++)
    if (!(word[k] = strsep(&rest, " "))) return 0;
  if (!rest || strlen(word[0]) != TCT_DIGEST_HEX - 1 || !tct_hex_parse(word[2], print->sum, TCT_KEY)) return 0;
  size_t length = strlen(word[3]);
  if (length % 16 || length > 16 * TCT_SKETCH || sscanf(word[1], "%" SCNd64, &print->rows) != 1) return 0;
  for (print->len = 0; (size_t)print->len < length / 16; print->len++)
    if (sscanf(word[3] + 16 * print->len, "%16" SCNx64, &print->sketch[print->len]) != 1) return 0;
  memcpy(id, word[0], TCT_DIGEST_HEX);
  *path = rest;
  return 1;
}

typedef struct search {
  char line[LINE];
  int listed; /* this ledger and this table are there already */
  char other[300];
} search;

static void look(search *s, FILE *file, const char *id, const tct_print *print) {
  char found[TCT_DIGEST_HEX];
  const char *path;
  tct_print other;
  rewind(file);
  while (fgets(s->line, sizeof s->line, file)) {
    if (!parse_line(s->line, found, &other, &path)) continue;
    int same = tct_print_same(print, &other), own = !strcmp(found, id);
    if (own) s->listed |= same;
    if (!own && (same || tct_print_shared(print, &other) >= SHARED)) snprintf(s->other, sizeof s->other, "%s", path);
  }
}

/* In one write to the file's end, so that lines of other processes stay whole.  It begins a line of its own: before it
 * there may be one that found no room. */
static int append(char line[LINE], FILE *file, const char *id, const char *path, const tct_print *print) {
  char sum[TCT_KEY_HEX], real[PATH_MAX];
  if (!realpath(path, real)) snprintf(real, sizeof real, "%s", path);
  for (char *c = real; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  tct_hex_print(print->sum, TCT_KEY, sum);
  int length = snprintf(line, LINE, "\n%s %" PRId64 " %s ", id, print->rows, sum);
  for (int64_t k = 0; k < print->len; k++)
    length += snprintf(line + length, LINE - (size_t)length, "%016" PRIx64, print->sketch[k]);
  length += snprintf(line + length, LINE - (size_t)length, " %s\n", real);
  return write(fileno(file), line, (size_t)length) == length;
}

static char *sentence(const char *format, const char *name) {
  char text[PATH_MAX + 300];
  snprintf(text, sizeof text, format, name);
  return tct_text_copy(text);
}

char *tct_registry_add(const tct_shown *shown, const char *path) {
  static const char twice[] =
      "rows of this table were charged to another ledger before (%s); the budgets of both add "
      "up for the same people: keep one ledger for one table";
  static const char unusable[] =
      "the registry of tables %s cannot be used, so that nothing is known about other ledgers "
      "of this table";
  const tct_print *print = &shown->print[1];
  char name[PATH_MAX];
  if (!find_path(name)) return NULL;
  search *s = shown->registry ? TCT_NEW(search, 1) : NULL;
  int ok = s != NULL;
  if (ok) look(s, shown->registry, shown->id, print);
  if (ok && !s->listed) {
    ok = append(s->line, shown->registry, shown->id, path, print);
    look(s, shown->registry, shown->id, print); /* whoever wrote at the same time sees this line, or is seen */
  }
  char *text = !ok ? sentence(unusable, name) : s->other[0] ? sentence(twice, s->other) : NULL;
  tct_wipe_free(s, s ? 1 : 0, sizeof *s);
  return text;
}
