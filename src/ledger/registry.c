/* registry.c - the registry is lines of text: the first holds the key, each other a ledger and a table.
 *
 * It only ever warns: what it holds is not the ledger's, and a run never fails for it. */
#define _GNU_SOURCE
#include "ledger/registry.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 16 * TCT_SKETCH + PATH_MAX + 300 };
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

/* Opened and locked, with a first line; NULL: not to be used. */
static FILE *open_registry(const char *path) {
  struct stat info;
  make_folders(path);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  FILE *file = fd >= 0 ? fdopen(fd, "r+") : NULL;
  if (!file && fd >= 0) close(fd);
  if (!file) return NULL;
  int ok = flock(fd, LOCK_EX) == 0 && fstat(fd, &info) == 0;
  if (ok && info.st_size == 0) {
    tct_key key = {0};
    char hex[TCT_KEY_HEX];
    ok = tct_key_draw(key, NULL) == TCT_OK;
    tct_hex_print(key, TCT_KEY, hex);
    ok = ok && fprintf(file, "%s%s\n", HEAD, hex) > 0 && fflush(file) == 0;
    tct_wipe(key, sizeof key);
    tct_wipe(hex, sizeof hex);
  }
  rewind(file);
  if (ok) return file;
  fclose(file);
  return NULL;
}

static int read_key(FILE *file, tct_key key) {
  char line[sizeof HEAD + TCT_KEY_HEX] = "";
  size_t head = sizeof HEAD - 1;
  if (!fgets(line, sizeof line, file) || strncmp(line, HEAD, head) != 0) return 0;
  line[strcspn(line, "\n")] = 0;
  return tct_hex_parse(line + head, key, TCT_KEY);
}

int tct_registry_key(tct_key key) {
  char path[PATH_MAX];
  FILE *file = find_path(path) ? open_registry(path) : NULL;
  int found = file && read_key(file, key);
  if (file) fclose(file);
  if (!found) memset(key, 0, TCT_KEY);
  return found;
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
  while (fgets(s->line, sizeof s->line, file)) {
    if (!parse_line(s->line, found, &other, &path)) continue;
    int same = tct_print_same(print, &other), own = !strcmp(found, id);
    if (own) s->listed |= same;
    if (!own && (same || tct_print_shared(print, &other) >= SHARED)) snprintf(s->other, sizeof s->other, "%s", path);
  }
}

static int append(FILE *file, const char *id, const char *path, const tct_print *print) {
  char sum[TCT_KEY_HEX], real[PATH_MAX];
  if (!realpath(path, real)) snprintf(real, sizeof real, "%s", path);
  for (char *c = real; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  tct_hex_print(print->sum, TCT_KEY, sum);
  if (fseek(file, 0, SEEK_END) != 0) return 0;
  fprintf(file, "%s %" PRId64 " %s ", id, print->rows, sum);
  for (int64_t k = 0; k < print->len; k++) fprintf(file, "%016" PRIx64, print->sketch[k]);
  fprintf(file, " %s\n", real);
  return fflush(file) == 0 && !ferror(file);
}

static char *sentence(const char *format, const char *name) {
  char text[PATH_MAX + 300];
  snprintf(text, sizeof text, format, name);
  return tct_text_copy(text);
}

char *tct_registry_add(const char *id, const char *path, const tct_print *print) {
  static const char twice[] =
      "rows of this table were charged to another ledger before (%s); the budgets of both add "
      "up for the same people: keep one ledger for one table";
  static const char unusable[] =
      "the registry of tables %s cannot be used, so that nothing is known about other ledgers "
      "of this table";
  char name[PATH_MAX];
  tct_key key;
  if (!find_path(name)) return NULL;
  FILE *file = open_registry(name);
  search *s = TCT_NEW(search, 1);
  int ok = file && s && read_key(file, key);
  if (ok) look(s, file, id, print);
  if (ok && !s->listed) ok = append(file, id, path, print);
  if (file) fclose(file);
  char *text = !ok ? sentence(unusable, name) : s->other[0] ? sentence(twice, s->other) : NULL;
  tct_wipe(key, sizeof key);
  tct_free(s);
  return text;
}
