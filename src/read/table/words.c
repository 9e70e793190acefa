/* words.c - distinct texts of columns, numbered as they come: those whose lists of categories nobody knows. */
#include "read/table/words.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"

#define FIRST_ROOM TCT_LIMIT(64, 2)
#define FIRST_SPACE TCT_LIMIT(1 << 12, 8)

typedef struct word {
  int64_t column, at, length; /* bytes [at, at + length) of the texts */
  uint64_t hash;
} word;

struct tct_words {
  pthread_mutex_t lock;
  int64_t users, count, room;
  word *word;
  int64_t *slot; /* [2 room] number + 1, 0 = free */
  char *bytes;   /* the texts, one behind the other */
  int64_t used, space;
};

tct_words *tct_words_new(void) {
  tct_words *words = TCT_NEW(tct_words, 1);
  if (!words) return NULL;
  pthread_mutex_init(&words->lock, NULL);
  words->users = 1;
  return words;
}

tct_words *tct_words_share(tct_words *words) {
  if (words) words->users++;
  return words;
}

/* FNV-1a; a table's owner alone chooses its texts, so that nobody gains by collisions. */
static uint64_t hash_of(int64_t column, const char *text, int64_t length) {
  uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)column;
  for (int64_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)text[k]) * UINT64_C(1099511628211);
  return hash ^ hash >> 29;
}

/* The slot of the text, or the free one where it belongs. */
static int64_t slot_of(const tct_words *words, const word *wanted, const char *text) {
  int64_t mask = 2 * words->room - 1;
  for (int64_t at = (int64_t)(wanted->hash & (uint64_t)mask);; at = (at + 1) & mask) {
    if (words->slot[at] == 0) return at;
    const word *w = &words->word[words->slot[at] - 1];
    if (w->hash == wanted->hash && w->column == wanted->column && w->length == wanted->length &&
        (w->length == 0 || memcmp(words->bytes + w->at, text, (size_t)w->length) == 0))
      return at;
  }
}

static bool grow(tct_words *words) {
  int64_t room = words->room ? 2 * words->room : FIRST_ROOM;
  int64_t *slot = TCT_NEW(int64_t, 2 * room);
  word *grown = slot ? tct_grow(words->word, words->room, room, sizeof *grown) : NULL;
  if (!grown) {
    tct_free(slot);
    return false;
  }
  tct_free(words->slot);
  words->word = grown, words->room = room, words->slot = slot;
  for (int64_t k = 0; k < words->count; k++) {
    int64_t at = (int64_t)(grown[k].hash & (uint64_t)(2 * room - 1));
    while (slot[at] != 0) at = (at + 1) & (2 * room - 1);
    slot[at] = k + 1;
  }
  return true;
}

/* Room for one text more; what is outgrown is wiped. */
static bool make_space(tct_words *words, int64_t length) {
  int64_t space = words->space ? words->space : FIRST_SPACE;
  if (words->space - words->used >= length) return true;
  while (space - words->used < length) space *= 2;
  char *bytes = tct_alloc_unset(space, 1);
  if (!bytes) return false;
  if (words->used > 0) memcpy(bytes, words->bytes, (size_t)words->used);
  tct_wipe_free(words->bytes, words->used, 1);
  words->bytes = bytes, words->space = space;
  return true;
}

static int64_t number(tct_words *words, word wanted, const char *text) {
  if (words->count == words->room && !grow(words)) return TCT_WORD_NO_MEMORY;
  int64_t at = slot_of(words, &wanted, text);
  if (words->slot[at]) return words->slot[at] - 1;
  if (!make_space(words, wanted.length)) return TCT_WORD_NO_MEMORY;
  if (wanted.length > 0) memcpy(words->bytes + words->used, text, (size_t)wanted.length);
  wanted.at = words->used;
  words->used += wanted.length;
  words->word[words->count] = wanted;
  words->slot[at] = ++words->count;
  return words->count - 1;
}

int64_t tct_words_number(tct_words *words, int64_t column, const char *text, int64_t length) {
  word wanted = {.column = column, .length = length, .hash = hash_of(column, text, length)};
  pthread_mutex_lock(&words->lock);
  int64_t found = number(words, wanted, text);
  pthread_mutex_unlock(&words->lock);
  return found;
}

int64_t tct_words_count(const tct_words *words) { return words ? words->count : 0; }

const char *tct_words_text(const tct_words *words, int64_t k, int64_t *column, int64_t *length) {
  *column = words->word[k].column;
  *length = words->word[k].length;
  return words->bytes ? words->bytes + words->word[k].at : "";
}

double tct_words_bytes(int64_t rows, int64_t columns) { return (double)rows * (double)columns * TCT_WORD_BYTES; }

tct_status tct_words_fit(int64_t rows, int64_t columns, int64_t memory, tct_error *err) {
  double bytes = tct_words_bytes(rows, columns);
  if (memory == 0 || bytes <= (double)memory) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "the columns without lists may hold a text for each record, which takes %.0f MiB, more than the limit; "
      "list values in the schema, or raise {memory}",
      ceil(bytes / 1048576));
}

void tct_words_free(tct_words *words) {
  if (!words || --words->users > 0) return;
  tct_wipe_free(words->bytes, words->used, 1);
  tct_free(words->word);
  tct_free(words->slot);
  pthread_mutex_destroy(&words->lock);
  tct_free(words);
}
