/* blocks.c - a text read by all threads.
 *
 * Each thread in turn cuts the next block off the source, parses it by itself, and waits until all blocks before it are
 * in the table.  So reading, unpacking, parsing and writing to disk overlap, and at most one block a thread is in
 * memory.  A record that is longer than a block is read while no other thread reads on.
 *
 * The first error is the same as with one thread: blocks are taken in order, and a part reports its own first one. What
 * the source says (a damaged file, a line beyond the limit) comes as a block of its own behind the records before it.
 * So does a record that is too long and is passed over.
 */
#include "read/format/blocks.h"

#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/processors.h"
#include "read/source/record.h"

/* MOST, ROOM: threads, and bytes of their parts.  More would not pass one disk's bytes on faster.  ALONE: bytes of a
 * block while which no other is cut, so that long records of many threads do not add up. */
enum { BLOCK = 1 << 18, MOST = 16, ROOM = 1 << 26, ALONE = 16 * BLOCK };

/* What the threads share. */
typedef struct shared {
  const tct_blocks *blocks;
  tct_reader *reader;
  pthread_mutex_t cutting; /* guards source, cut, over, why */
  int64_t cut;             /* blocks so far */
  bool over;               /* no block follows */
  tct_error why;           /* what the source said, once the records before are handed out */
  pthread_mutex_t turn;    /* guards taken, lines, table, err */
  pthread_cond_t taken_one;
  int64_t taken; /* blocks that are in the table */
  int64_t lines;
  bool failed;
  tct_error *err; /* of the first block that failed */
} shared;

/* One thread's. */
typedef struct worker {
  void *part;
  tct_reader reader;
  tct_source source;
  int64_t number, lines; /* of the block */
  int64_t room;          /* of source.buffer */
  tct_error err;
} worker;

static int64_t block_bytes(const tct_source *source) { return source->memory_step > 0 ? source->memory_step : BLOCK; }

static int threads_for(const tct_reader *reader, int64_t part_bytes) {
  int64_t threads = reader->options->threads;
  if (threads == 0) threads = reader->source->memory_step > 0 ? 1 : tct_processors();
  int64_t most = ROOM / (part_bytes > 0 ? part_bytes : 1);
  if (threads > most) threads = most;
  return (int)(threads > MOST ? MOST : threads);
}

bool tct_blocks_wanted(const tct_reader *reader, int64_t part_bytes) {
  const tct_source *source = reader->source;
  if (source->ended && source->end - source->begin <= block_bytes(source)) return false;
  return threads_for(reader, part_bytes) > 1;
}

/* How many bytes make the next block: whole records, as many as are unread, or what is left at the end.  -1: a record
 * that is too long.  0: none left, or s->why. */
static int64_t cut_length(shared *s) {
  tct_source *source = s->reader->source;
  tct_cut cut = {.delimiter = s->blocks->delimiter};
  for (int64_t size = block_bytes(source); s->why.status == TCT_OK; size += block_bytes(source)) {
    tct_status status = tct_source_want(source, size, &s->why);
    int64_t unread = source->end - source->begin, seen = unread < size ? unread : size;
    int64_t last = tct_cut_last(&cut, source->buffer + source->begin, seen);
    if (status == TCT_OK && source->ended && seen == unread) return unread;
    if (last > 0) return last;
    if (status == TCT_OK && source->limits.pass && seen > source->limits.line) return -1;
    if (status == TCT_OK && !source->limits.pass) (void)tct_limits_line(&source->limits, source->name, seen, &s->why);
  }
  return 0;
}

static void drop_text(worker *w) {
  tct_wipe_free(w->source.buffer, w->room, 1);
  w->source.buffer = NULL;
  w->room = 0;
}

static tct_status take_room(worker *w, int64_t length, tct_error *err) {
  if (length > w->room) {
    drop_text(w);
    w->source.buffer = tct_alloc_unset(length, 1);
    if (!w->source.buffer) return tct_fail_memory(err);
    w->room = length;
  }
  w->source.begin = 0;
  w->source.end = length;
  return TCT_OK;
}

static tct_status copy_block(worker *w, tct_source *source, int64_t length, tct_error *err) {
  TCT_TRY(take_room(w, length, err));
  memcpy(w->source.buffer, source->buffer + source->begin, (size_t)length);
  w->lines = tct_count_lines(w->source.buffer, length);
  source->begin += length;
  return TCT_OK;
}

/* The source passes over the record; a line that is too long stands for it. */
static tct_status copy_too_long(shared *s, worker *w, tct_error *err) {
  tct_record record;
  tct_source *source = s->reader->source;
  TCT_TRY(tct_record_next(source, s->blocks->delimiter, false, &record, err));
  if (record.open) return tct_fail_at(err, source->name, 1, 0, TCT_NEVER_CLOSED);
  TCT_TRY(take_room(w, source->limits.line + 1, err));
  memset(w->source.buffer, ' ', (size_t)w->source.end);
  w->lines = record.lines;
  return TCT_OK;
}

/* The next block for this thread; false at the end.  A block of no bytes carries the source's error. */
static bool take_block(shared *s, worker *w) {
  if (s->over) return false;
  tct_error_clear(&w->err);
  int64_t length = cut_length(s);
  bool some = length != 0 || s->why.status != TCT_OK;
  if (length == 0) s->over = true;
  if (length == 0 && some) w->err = s->why;
  w->source.end = w->source.begin = 0;
  w->lines = 0;
  if (length > 0) s->over = copy_block(w, s->reader->source, length, &w->err) != TCT_OK;
  if (length < 0) s->over = copy_too_long(s, w, &w->err) != TCT_OK;
  w->number = s->cut;
  s->cut += some;
  return some;
}

/* The block's turn has come: it joins the table, or its error is the first one. */
static void join_block(shared *s, worker *w) {
  tct_status status = w->err.status;
  if (w->source.end > 0) {
    tct_status joined = s->blocks->join(s->blocks->user, w->part, s->reader, s->lines, s->err);
    if (joined != TCT_OK) {
      s->failed = true;
      return;
    }
  }
  if (status == TCT_OK) status = tct_table_append(&s->reader->table, &w->reader.table, &w->err);
  s->failed = status != TCT_OK;
  if (s->failed && w->err.line > 0) w->err.line += s->lines;
  if (s->failed) *s->err = w->err;
  s->lines += w->lines;
}

/* Waits for the blocks before; false: one of them failed. */
static bool join_in_turn(shared *s, worker *w) {
  pthread_mutex_lock(&s->turn);
  while (s->taken != w->number) pthread_cond_wait(&s->taken_one, &s->turn);
  if (!s->failed) join_block(s, w);
  bool failed = s->failed;
  s->taken++;
  pthread_cond_broadcast(&s->taken_one);
  pthread_mutex_unlock(&s->turn);
  return !failed;
}

static tct_status start_worker(shared *s, worker *w, tct_error *err) {
  tct_reader *whole = s->reader;
  w->reader = *whole;
  w->reader.source = &w->source;
  w->reader.range = NULL;
  w->source = (tct_source){.input = {.file = -1}, .name = whole->source->name, .limits = whole->source->limits};
  w->source.ended = true;
  tct_table_init(&w->reader.table, whole->table.layout, whole->options);
  w->reader.table.memory = 0;
  w->reader.table.weighed = whole->table.weighed, w->reader.table.shifted = whole->table.shifted;
  w->part = tct_alloc((int64_t)s->blocks->size, 1);
  if (!w->part) return tct_fail_memory(err);
  return s->blocks->begin(s->blocks->whole, w->part, &w->reader, err);
}

static void end_worker(shared *s, worker *w) {
  if (w->part) s->blocks->end(w->part);
  tct_free(w->part);
  tct_table_free(&w->reader.table);
  drop_text(w);
}

static void work(shared *s, worker *w) {
  for (bool good = true; good;) {
    pthread_mutex_lock(&s->cutting);
    bool some = take_block(s, w), alone = w->room > ALONE;
    if (!alone) pthread_mutex_unlock(&s->cutting);
    if (some && w->err.status == TCT_OK) s->blocks->parse(w->part, &w->reader, &w->err);
    good = some && join_in_turn(s, w);
    if (alone) drop_text(w);
    if (!alone) pthread_mutex_lock(&s->cutting);
    if (!good) s->over = true;
    pthread_mutex_unlock(&s->cutting);
  }
}

tct_status tct_blocks_read(const tct_blocks *blocks, tct_reader *reader, tct_error *err) {
  int threads = threads_for(reader, blocks->part_bytes);
  tct_error first = {0};
  shared s = {.blocks = blocks, .reader = reader, .lines = blocks->lines, .err = &first};
  worker *w = TCT_NEW(worker, threads);
  if (!w) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int k = 0; k < threads && status == TCT_OK; k++) status = start_worker(&s, &w[k], &first);
  pthread_mutex_init(&s.cutting, NULL);
  pthread_mutex_init(&s.turn, NULL);
  pthread_cond_init(&s.taken_one, NULL);
  if (status == TCT_OK) {
#pragma omp parallel for schedule(static, 1) num_threads(tct_threads(threads))
    for (int k = 0; k < threads; k++) work(&s, &w[k]);
  }
  pthread_cond_destroy(&s.taken_one);
  pthread_mutex_destroy(&s.turn);
  pthread_mutex_destroy(&s.cutting);
  for (int k = 0; k < threads; k++) end_worker(&s, &w[k]);
  tct_free(w);
  if (first.status == TCT_OK) return TCT_OK;
  if (err) *err = first;
  return first.status;
}
