/* test_chunk.c - a chunk of a file that is read into its place, and taken out of it, is the file's bytes throughout. */
#include "worlds.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "la/matrix/chunk.h"
#include "la/matrix/paged.h"

enum { CHUNK = 1 << 17, CHUNKS = 64, TAIL = 12345, BYTES = (CHUNKS - 1) * CHUNK + TAIL };

static unsigned char expected_byte(int64_t at) { return (unsigned char)(1 + (at * 31 + at / 4096 * 7) % 255); }

/* A file without a name whose bytes are never 0. */
static int make_file(void) {
  char path[] = "./tacit-chunk-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  unlink(path);
  unsigned char *bytes = malloc(BYTES);
  assert_non_null(bytes);
  for (int64_t k = 0; k < BYTES; k++) bytes[k] = expected_byte(k);
  assert_int_equal(write(file, bytes, BYTES), BYTES);
  free(bytes);
  return file;
}

static void forget(int file) {
  assert_int_equal(fdatasync(file), 0);
  (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static int64_t length_of(int64_t chunk) { return chunk + 1 < CHUNKS ? CHUNK : TAIL; }

static int64_t wrong_bytes(const volatile char *at, int64_t from, int64_t count) {
  int64_t wrong = 0;
  for (int64_t k = from; k < from + count; k++) wrong += (unsigned char)at[k] != expected_byte(k);
  return wrong;
}

static void a_chunk_is_the_files_bytes_read_and_dropped(void **state) {
  (void)state;
  tct_error err;
  tct_mapped m;
  int file = make_file(), read = 0;
  assert_int_equal(tct_mapped_new(&m, file, BYTES, CHUNK, &err), TCT_OK);
  close(file);
  for (int round = 0; round < 2; round++)
    for (int64_t c = CHUNKS - 1; c >= 0; c--) {
      if (round == 0) forget(m.file);
      bool own = tct_chunk_read(&m, c * CHUNK, length_of(c));
      read += own;
      assert_int_equal(wrong_bytes(m.at, c * CHUNK, length_of(c)), 0);
      assert_true(tct_chunk_drop(&m, c * CHUNK, length_of(c), own));
      assert_int_equal(wrong_bytes(m.at, c * CHUNK, length_of(c)), 0);
    }
  tct_mapped_free(&m);
  if (read == 0) print_message("skipped in part: this folder's files do not leave the page cache\n");
}

/* Looks at every byte, again and again, while another thread moves chunks in and out. */
typedef struct watch {
  const tct_mapped *m;
  _Atomic int64_t wrong, rounds;
  atomic_bool ended;
} watch;

static void *look(void *user) {
  watch *w = user;
  while (!w->ended || w->rounds == 0) {
    w->wrong += wrong_bytes(w->m->at, 0, BYTES);
    w->rounds++;
  }
  return NULL;
}

static void whoever_reads_meanwhile_sees_the_files_bytes(void **state) {
  (void)state;
  tct_error err;
  tct_mapped m;
  pthread_t thread;
  int file = make_file();
  assert_int_equal(tct_mapped_new(&m, file, BYTES, CHUNK, &err), TCT_OK);
  watch w = {.m = &m};
  assert_int_equal(pthread_create(&thread, NULL, look, &w), 0);
  for (int round = 0; round < 300; round++) {
    int64_t c = round * 7 % CHUNKS;
    forget(file);
    bool own = tct_chunk_read(&m, c * CHUNK, length_of(c));
    assert_true(tct_chunk_drop(&m, c * CHUNK, length_of(c), own));
  }
  w.ended = true;
  pthread_join(thread, NULL);
  assert_int_equal(w.wrong, 0);
  tct_mapped_free(&m);
  close(file);
}

/* The pages of a file that has ended are missing, not wrong. */
static void a_file_that_is_too_short_is_not_taken_for_zeros(void **state) {
  (void)state;
  tct_error err;
  tct_mapped m;
  int file = make_file();
  assert_int_equal(tct_mapped_new(&m, file, BYTES, CHUNK, &err), TCT_OK);
  assert_int_equal(ftruncate(file, CHUNK + 5000), 0);
  forget(file);
  assert_false(tct_chunk_read(&m, CHUNK, CHUNK));
  tct_mapped_free(&m);
  close(file);
}

enum { LARGE = 64 << 20 };

/* Bytes that one pass over the file fetches. */
static int64_t pass(tct_pager *paged, const char *at) {
  int64_t before = tct_paged_fetched(paged);
  for (int64_t from = 0; from < LARGE; from += 1 << 12) tct_paged_touch(paged, at + from, 1 << 12);
  return tct_paged_fetched(paged) - before;
}

static int64_t resident(void) {
  long long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  assert_non_null(statm);
  assert_int_equal(fscanf(statm, "%*d %lld", &pages), 1);
  fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

/* Every pass is in the same order: without a share that stays, no chunk would be there when it is needed again.  How
 * large the share is depends on what else is in memory. */
static void what_fits_into_the_limit_is_read_once(void **state) {
  (void)state;
  tct_error err;
  tct_pager *paged;
  const void *at[2];
  int file = make_file();
  assert_int_equal(ftruncate(file, LARGE), 0);
  int64_t memory = resident() + LARGE / 4 * 3;
  assert_int_equal(tct_paged_new((int[]){file, -1}, (int64_t[]){LARGE, 0}, memory, &paged, at, &err), TCT_OK);
  close(file);
  assert_int_equal(pass(paged, at[0]), LARGE);
  for (int k = 0; k < 3; k++) {
    int64_t again = pass(paged, at[0]);
    if (again > LARGE / 8 * 7) fail_msg("%lld of %d bytes were fetched again", (long long)again, LARGE);
    assert_true(again > 0);
  }
  tct_paged_release(paged);
  assert_int_equal(pass(paged, at[0]), LARGE);
  tct_paged_free(paged);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chunk_is_the_files_bytes_read_and_dropped),
      cmocka_unit_test(whoever_reads_meanwhile_sees_the_files_bytes),
      cmocka_unit_test(a_file_that_is_too_short_is_not_taken_for_zeros),
      cmocka_unit_test(what_fits_into_the_limit_is_read_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
