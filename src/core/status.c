/* status.c - filling the caller's error record, and saying it in the words of a door. */
#include "core/stop.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TCT_POINTS
bool tct_low_limits;
#endif

void tct_error_clear(tct_error *err) {
  if (err) memset(err, 0, sizeof *err);
}

/* Bytes of the character that begins at `at`; 0: none that a terminal should see, which controls it or is no UTF-8. */
static int harmless(const unsigned char *at) {
  unsigned c = at[0], low = 0x80, high = 0xbf;
  if (c < 0x80) return c >= ' ' && c != 0x7f;
  int length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4) return 0;
  if (c == 0xc2 || c == 0xe0) low = 0xa0; /* controls of Latin-1; longer forms of shorter characters */
  if (c == 0xf0) low = 0x90;
  if (c == 0xed) high = 0x9f;
  if (c == 0xf4) high = 0x8f;
  if (at[1] < low || at[1] > high) return 0;
  for (int i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  bool turns = c == 0xe2 && ((at[1] == 0x80 && ((at[2] | 1) == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae))) ||
                             (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9)); /* the direction, or the line */
  return turns ? 0 : length;
}

/* A sentence may hold a file's, a peer's or a certificate's words: none of them moves the cursor or rings. */
static void make_harmless(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at;) {
    int length = harmless(at);
    if (!length) *at = '?';
    at += length ? length : 1;
  }
}

/* ---- slots: what a sentence calls a setting ----
 *
 * err->text always holds a whole sentence, in the words of C.  Behind its end, at the end of the array, marks say where
 * the words of slots stand, so that other words can be put there.  A mark is believed if the words of C stand there. */

enum {
  WORDS = TCT_WORDS_R + 1,
  PACKED = WORDS,                              /* the slots themselves */
  LAST = (int)sizeof((tct_error){0}.text) - 1, /* of the text: how many marks stand before it */
  MARK = 5,                                    /* bytes of one: begin and length, of two bytes each, and which slot */
  MOST = 8,                                    /* marks of one sentence; what comes after stays in the words of C */
  VALUED = 0x80                                /* of the byte that says which: there is a value */
};

typedef struct slot {
  const char *name, *word[WORDS];
} slot;

static const slot slots[] = {
#define TCT_SLOT(name, c, cli, python, r) {#name, {c, cli, python, r}},
#include "core/slots.def"
#undef TCT_SLOT
};

enum { SLOTS = sizeof slots / sizeof *slots };
_Static_assert((int)SLOTS <= (int)VALUED, "which slot, and whether it has a value, are one byte");

/* A text that is put together, and cut at its end. */
typedef struct draft {
  char *to;
  size_t room, used; /* bytes of `to` but the last */
  int marks;
  unsigned char mark[MOST * MARK];
} draft;

static void put(draft *d, const char *text, size_t length) {
  if (length > d->room - d->used) length = d->room - d->used;
  memcpy(d->to + d->used, text, length);
  d->used += length;
}

/* What stands in brackets is said only with a value, which is its %. */
static void put_word(draft *d, const char *word, const char *value, size_t length) {
  for (; *word; word++) {
    if (*word == '[' && !value)
      word = strchr(word, ']');
    else if (*word == '%')
      put(d, value, length);
    else if (*word != '[' && *word != ']')
      put(d, word, 1);
  }
}

static void put_slot(draft *d, int which, const char *value, size_t length) {
  size_t begin = d->used;
  put_word(d, slots[which].word[TCT_WORDS_C], value, length);
  if (d->used == d->room || d->marks == MOST) return; /* cut, or one too many */
  size_t said = d->used - begin;
  unsigned char *mark = d->mark + (size_t)d->marks++ * MARK;
  mark[0] = (unsigned char)(begin & 0xff), mark[1] = (unsigned char)(begin >> 8);
  mark[2] = (unsigned char)(said & 0xff), mark[3] = (unsigned char)(said >> 8);
  mark[4] = (unsigned char)(which | (value ? VALUED : 0));
}

/* Which slot {name} or {name VALUE} is, from its { on; -1: none.  name: its length. */
static int slot_at(const char *at, size_t *name) {
  *name = strcspn(at + 1, " }");
  for (int k = 0; k < (int)SLOTS; k++)
    if (strlen(slots[k].name) == *name && memcmp(slots[k].name, at + 1, *name) == 0) return k;
  return -1;
}

/* at: text that begins with {name and ends with }, of that length. */
static void put_slot_of(draft *d, int which, const char *at, size_t length, size_t name) {
  bool valued = at[1 + name] == ' ';
  put_slot(d, which, valued ? at + name + 2 : NULL, valued ? length - name - 3 : 0);
}

/* A sentence of the library that is an argument of another one; {{ is a brace. */
static void put_sentence(draft *d, const char *text, size_t length) {
  const char *end = text + length;
  while (text < end) {
    size_t name = 0, whole = strcspn(text, "}") + 1;
    int which = *text == '{' && text + whole <= end ? slot_at(text, &name) : -1;
    if (which >= 0)
      put_slot_of(d, which, text, whole, name);
    else
      put(d, text, 1), whole = 1 + (text[0] == '{' && text[1] == '{');
    text += whole;
  }
}

/* Bytes that the first `length` of the format become: they end outside of its conversions. */
static size_t printed(const char *format, size_t length, va_list args) {
  char first[1024];
  va_list again;
  if (length >= sizeof first) length = sizeof first - 1;
  memcpy(first, format, length);
  first[length] = 0;
  va_copy(again, args);
  int bytes = vsnprintf(NULL, 0, first, again);
  va_end(again);
  return bytes < 0 ? 0 : (size_t)bytes;
}

/* Only the format has slots, and {%s}: whatever a user's words look like, they stay as they are. */
static void fill(tct_error *err, const char *format, va_list args) {
  char raw[1024];
  va_list again;
  va_copy(again, args);
  if (vsnprintf(raw, sizeof raw, format, again) < 0) raw[0] = 0;
  va_end(again);
  draft d = {.to = err->text, .room = LAST};
  size_t from = 0, length = strlen(raw), name = 0;
  const char *at = format, *end;
  while ((at = strchr(at, '{')) && (end = strchr(at, '}'))) {
    bool sentence = strncmp(at, "{%s}", 4) == 0;
    int which = sentence ? -1 : slot_at(at, &name);
    size_t begin = printed(format, (size_t)(at - format), args);
    size_t stop = printed(format, (size_t)(end + 1 - format), args);
    at = which < 0 && !sentence ? at + 1 : end + 1;
    if (which < 0 && !sentence) continue;
    if (stop > length) length = begin < length ? begin : length; /* words of others that fill it all */
    if (stop > length) break;
    put(&d, raw + from, begin - from);
    if (sentence)
      put_sentence(&d, raw + begin + 1, stop - begin - 2);
    else
      put_slot_of(&d, which, raw + begin, stop - begin, name);
    from = stop;
  }
  put(&d, raw + from, length - from);
  err->text[d.used] = 0;
  make_harmless(err->text);
  size_t marks = (size_t)d.marks * MARK;
  if (d.used + marks >= LAST) return;
  memcpy(err->text + LAST - marks, d.mark, marks);
  err->text[LAST] = (char)d.marks;
}

/* A mark, and the value in it. */
typedef struct mark {
  int which;
  size_t begin, end, length;
  const char *value; /* NULL, or `length` bytes */
} mark;

/* The k-th of `marks`, if the words of C stand where it says. */
static bool read_mark(const tct_error *err, int marks, int k, mark *m) {
  const unsigned char *at = (const unsigned char *)err->text + LAST - (size_t)(marks - k) * MARK;
  char again[LAST];
  draft d = {.to = again, .room = LAST};
  m->which = at[4] & ~VALUED;
  m->begin = at[0] | (size_t)at[1] << 8;
  m->end = m->begin + (at[2] | (size_t)at[3] << 8);
  m->value = NULL;
  if (m->which >= (int)SLOTS || m->end > strnlen(err->text, LAST)) return false;
  const char *word = slots[m->which].word[TCT_WORDS_C], *value = strchr(word, '%');
  if (at[4] & VALUED && value) {
    size_t before = (size_t)(value - word) - 1, after = strlen(value) - 2; /* without the brackets */
    if (m->end - m->begin < before + after) return false;
    m->value = err->text + m->begin + before;
    m->length = m->end - m->begin - before - after;
  }
  put_word(&d, word, m->value, m->length);
  return d.used == m->end - m->begin && memcmp(again, err->text + m->begin, d.used) == 0;
}

static void put_plain(draft *d, const char *text, size_t length, bool packed) {
  for (size_t i = 0; i < length; i++)
    put(d, packed && text[i] == '{' ? "{{" : text + i, 1 + (packed && text[i] == '{'));
}

static void put_packed(draft *d, const mark *m) {
  const char *name = slots[m->which].name;
  if (d->room - d->used < strlen(name) + m->length + 3) d->room = d->used; /* half of one would be shown */
  put(d, "{", 1);
  put(d, name, strlen(name));
  if (m->value) put(d, " ", 1), put(d, m->value, m->length);
  put(d, "}", 1);
}

static void say_as(const tct_error *err, int words, char *text, size_t size) {
  if (size == 0) return;
  size_t length = strnlen(err->text, LAST), from = 0;
  int marks = (unsigned char)err->text[LAST];
  if (marks > MOST || length + (size_t)marks * MARK >= LAST) marks = 0;
  draft d = {.to = text, .room = size - 1};
  for (int k = 0; k < marks; k++) {
    mark m = {0};
    if (!read_mark(err, marks, k, &m) || m.begin < from) break;
    put_plain(&d, err->text + from, m.begin - from, words == PACKED);
    if (words == PACKED)
      put_packed(&d, &m);
    else
      put_word(&d, slots[m.which].word[words], m.value, m.length);
    from = m.end;
  }
  put_plain(&d, err->text + from, length - from, words == PACKED);
  text[d.used] = 0;
}

void tct_error_say(const tct_error *err, tct_wording words, char *text, size_t size) {
  int door = (int)words; /* some compilers' enums have no sign */
  say_as(err, door > TCT_WORDS_C && door <= TCT_WORDS_R ? door : TCT_WORDS_C, text, size);
}

void tct_error_reword(tct_error *err, tct_wording words) {
  char text[sizeof err->text];
  tct_error_say(err, words, text, sizeof text);
  memset(err->text, 0, sizeof err->text);
  memcpy(err->text, text, strlen(text));
}

void tct_error_pack(const tct_error *err, char *text, size_t size) { say_as(err, PACKED, text, size); }

tct_status tct_fail(tct_error *err, tct_status status, const char *format, ...) {
  if (!err) return status;
  tct_error_clear(err);
  err->status = status;
  va_list args;
  va_start(args, format);
  fill(err, format, args);
  va_end(args);
  return status;
}

tct_status tct_fail_at(tct_error *err, const char *file, int64_t line, int64_t column, const char *format, ...) {
  if (!err) return TCT_E_DATA;
  tct_error_clear(err);
  err->status = TCT_E_DATA;
  err->line = line;
  err->column = column;
  snprintf(err->file, sizeof err->file, "%s", file ? file : "");
  make_harmless(err->file);
  va_list args;
  va_start(args, format);
  fill(err, format, args);
  va_end(args);
  return TCT_E_DATA;
}

tct_status tct_fail_memory(tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err); /* large allocations ask too */
  return tct_fail(err, TCT_E_MEMORY, "out of memory; use a machine with more memory or a smaller data set");
}

const char *tct_version(void) { return TCT_VERSION; }

void tct_text_free(char *text) { free(text); }
