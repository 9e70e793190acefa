/* words.c - the distinct texts of columns whose lists of categories nobody knows, numbered as they come. */
#include "read/table/words.h"

#include <pthread.h>
#include <string.h>

#include "core/alloc.h"

typedef struct word {
  char *text;
  int64_t column, length;
  uint64_t hash;
} word;

struct tct_words {
  pthread_mutex_t lock;
  int64_t users, count, room;
  word *at;
  int64_t *slot; /* [slots] number + 1, 0 = free; at most half full */
  int64_t slots;
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
static int64_t slot_of(const tct_words *words, const word *wanted) {
  int64_t mask = words->slots - 1;
  for (int64_t at = (int64_t)(wanted->hash & (uint64_t)mask);; at = (at + 1) & mask) {
    if (words->slot[at] == 0) return at;
    const word *w = &words->at[words->slot[at] - 1];
    if (w->hash == wanted->hash && w->column == wanted->column && w->length == wanted->length &&
        memcmp(w->text, wanted->text, (size_t)w->length) == 0)
      return at;
  }
}

static bool grow(tct_words *words) {
  int64_t room = words->room ? 2 * words->room : 64, slots = 4 * room;
  word *at = TCT_NEW(word, room);
  int64_t *slot = TCT_NEW(int64_t, slots);
  if (!at || !slot) {
    tct_free(at);
    tct_free(slot);
    return false;
  }
  if (words->count) memcpy(at, words->at, (size_t)words->count * sizeof *at);
  tct_free(words->at);
  tct_free(words->slot);
  words->at = at, words->room = room, words->slot = slot, words->slots = slots;
  for (int64_t k = 0; k < words->count; k++) slot[slot_of(words, &at[k])] = k + 1;
  return true;
}

static int64_t number(tct_words *words, word wanted) {
  if (words->count == words->room && (words->count >= TCT_WORDS_MOST || !grow(words))) return TCT_WORD_NONE;
  int64_t at = slot_of(words, &wanted);
  if (words->slot[at]) return words->slot[at] - 1;
  char *text = tct_alloc(wanted.length + 1, 1);
  if (!text) return TCT_WORD_NONE;
  if (wanted.length) memcpy(text, wanted.text, (size_t)wanted.length);
  wanted.text = text;
  words->at[words->count] = wanted;
  words->slot[at] = ++words->count;
  return words->count - 1;
}

int64_t tct_words_number(tct_words *words, int64_t column, const char *text, int64_t length) {
  word wanted = {.text = (char *)(uintptr_t)text, .column = column, .length = length};
  wanted.hash = hash_of(column, text, length);
  pthread_mutex_lock(&words->lock);
  int64_t found = number(words, wanted);
  pthread_mutex_unlock(&words->lock);
  return found;
}

int64_t tct_words_count(const tct_words *words) { return words ? words->count : 0; }

const char *tct_words_text(const tct_words *words, int64_t k, int64_t *column, int64_t *length) {
  *column = words->at[k].column;
  *length = words->at[k].length;
  return words->at[k].text;
}

void tct_words_free(tct_words *words) {
  if (!words || --words->users > 0) return;
  for (int64_t k = 0; k < words->count; k++) tct_wipe_free(words->at[k].text, words->at[k].length, 1);
  tct_free(words->at);
  tct_free(words->slot);
  pthread_mutex_destroy(&words->lock);
  tct_free(words);
}
