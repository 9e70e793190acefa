/* bench_tables.c - the data sets of sources.h as NumPy arrays, for benches that are written in Python.
 *
 * Each set becomes OUT_DIR/NAME.npy: n x (p + 1) doubles, the label last.  Columns are as a schema scales them where
 * the set has one, else as they stand in the file.  Records come in the order of the permutation of seed 7; ROWS above
 * 0 keeps that many of the first.  One JSON line a set: what is publicly known of it.
 *
 * Usage: bench_tables OUT_DIR ROWS DATA,..|used|others|all */
#include "sources.h"

/* Version 1 of the format: magic bytes, the length of a line of text, that line padded so that 128 bytes are filled. */
static void write_header(FILE *file, int64_t rows, int64_t cols) {
  enum { BYTES = 128, BEFORE = 10 };
  char line[BYTES] = {0};
  int length = snprintf(line, sizeof line, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }",
                        (long long)rows, (long long)cols);
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, BEFORE, file);
  fprintf(file, "%-*s\n", BYTES - BEFORE - 1, length > 0 ? line : "");
}

static void write_table(const char *folder, const source *s, int64_t max_rows) {
  char path[1024];
  bench_table t = read_table(s);
  if (!t.n) return;
  int64_t *order = bench_permutation(t.n, 7), rows = max_rows > 0 && max_rows < t.n ? max_rows : t.n;
  snprintf(path, sizeof path, "%s/%s.npy", folder, s->name);
  FILE *file = fopen(path, "wb");
  if (!file) {
    fprintf(stderr, "%s cannot be written; make the folder first\n", path);
    exit(1);
  }
  write_header(file, rows, t.p + 1);
  for (int64_t i = 0; i < rows; i++) {
    fwrite(t.x + order[i] * t.p, sizeof(double), (size_t)t.p, file);
    fwrite(t.y + order[i], sizeof(double), 1, file);
  }
  if (fclose(file)) exit(1);
  printf(
      "{\"name\": \"%s\", \"rows\": %lld, \"of\": %lld, \"attributes\": %g, \"low\": %g, \"high\": %g, \"schema\": "
      "%s}\n",
      s->name, (long long)rows, (long long)t.n, s->attributes, s->low, s->high,
      s->schema || !s->file ? "true" : "false");
  free(order);
  bench_table_free(&t);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s OUT_DIR ROWS DATA,..|used|others|all\n", argv[0]);
    return 2;
  }
  for (int k = 0; k < SOURCES; k++)
    if (listed(argv[3], k)) write_table(argv[1], &sources[k], atoll(argv[2]));
  return 0;
}
