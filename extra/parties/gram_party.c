/* gram_party.c - a party's turns of gram_parties. */
#include "core/alloc.h"
#include "la/exact/ring.h"
#include "parties/gram_parties.h"

#include <string.h>

void tct_gram_party_free(tct_gram_party *s) {
  if (!s->set) return;
  int64_t block = s->set->block;
  tct_wipe_free(s->line, s->line ? s->width : 0, sizeof *s->line);
  uint64_t *blocks[] = {s->x, s->mask};
  for (int i = 0; i < 2; i++) tct_wipe_free(blocks[i], blocks[i] ? block * s->width : 0, sizeof(uint64_t));
  tct_free(s->u);
  tct_wipe_free(s->sum, s->sum ? s->all * s->all : 0, sizeof *s->sum);
  tct_wipe_free(s->moment, s->moment ? s->width : 0, sizeof *s->moment);
  *s = (tct_gram_party){0};
}

static int64_t width_of(const tct_gram_party *s, int k) { return s->place.start[k + 1] - s->place.start[k]; }

/* The labels' column comes first in the first party's block, where that party alone holds them. */
static int64_t own_label(const tct_gram_party *s) { return s->set->one_label && s->place.self == 0; }

tct_status tct_gram_party_new(const tct_gram *set, tct_gram_place place, tct_gram_party *s, tct_error *err) {
  *s = (tct_gram_party){.set = set, .place = place, .all = place.start[set->count], .rows = place.view->rows};
  int64_t widest = 0;
  for (int k = 0; k < set->count; k++) widest = width_of(s, k) > widest ? width_of(s, k) : widest;
  s->width = width_of(s, place.self);
  s->line = TCT_NEW(double, s->width);
  s->x = TCT_NEW(uint64_t, set->block * s->width), s->mask = TCT_NEW(uint64_t, set->block * s->width);
  s->u = TCT_NEW(uint64_t, set->block * widest);
  s->sum = TCT_NEW(uint64_t, s->all * s->all), s->moment = TCT_NEW(uint64_t, s->width);
  if (s->line && s->x && s->mask && s->u && s->sum && s->moment) return TCT_OK;
  tct_gram_party_free(s);
  return tct_fail_memory(err);
}

tct_status tct_gram_party_greet(tct_gram_party *s, tct_error *err) {
  for (int k = 0; k < s->set->count; k++)
    if (k != s->place.self) TCT_TRY(tct_ring_say_public(s->place.ring, k, err));
  return TCT_OK;
}

tct_status tct_gram_party_meet(tct_gram_party *s, tct_error *err) {
  for (int k = 0; k < s->set->count; k++)
    if (k != s->place.self) TCT_TRY(tct_ring_hear_public(s->place.ring, k, err));
  return tct_ring_say_seed(s->place.ring, s->rows * s->width, err);
}

bool tct_gram_party_more(const tct_gram_party *s) { return s->first < s->rows; }

/* Row i of all parties as integers, into x. */
static void cut_row(tct_gram_party *s, int64_t i, uint64_t *x) {
  int64_t row = s->place.row_at ? s->place.row_at[i] : i, label = own_label(s);
  tct_ring_row(s->place.view, row, s->set->fraction, s->line, x + label);
  if (s->place.view->row_scale[row] == 0) memset(x, 0, (size_t)s->width * sizeof *x); /* a record that was dropped */
  if (!s->place.y || s->place.view->row_scale[row] == 0) return;
  uint64_t y = tct_ring_cut(s->place.y[row], s->set->label_fraction);
  if (label) x[0] = y;
  for (int64_t j = 0; j < s->width && !s->set->one_label; j++) s->moment[j] += x[j] * y;
}

tct_status tct_gram_party_hide(tct_gram_party *s, tct_error *err) {
  s->now = s->rows - s->first < s->set->block ? s->rows - s->first : s->set->block;
  for (int64_t i = 0; i < s->now; i++) cut_row(s, s->first + i, s->x + i * s->width);
  int64_t at = s->place.start[s->place.self];
  tct_ring_block own = {s->x, s->width};
  tct_ring_times(own, own, s->now, true, s->sum + at * s->all + at, s->all);
  return tct_ring_hide(s->place.ring, s->x, s->now * s->width, s->mask, err);
}

tct_status tct_gram_party_tell(tct_gram_party *s, int peer, tct_error *err) {
  return tct_ring_say_columns(s->place.ring, peer, err);
}

/* The products of another party's u, which has come. */
static void multiply(tct_gram_party *s, int peer) {
  int64_t own = s->place.start[s->place.self], other = s->place.start[peer];
  tct_ring_block u = {s->u, width_of(s, peer)};
  if (peer < s->place.self)
    tct_ring_times(u, (tct_ring_block){s->x, s->width}, s->now, false, s->sum + other * s->all + own, s->all);
  else
    tct_ring_times((tct_ring_block){s->mask, s->width}, u, s->now, false, s->sum + own * s->all + other, s->all);
}

tct_status tct_gram_party_take(tct_gram_party *s, int peer, tct_error *err) {
  TCT_TRY(tct_ring_hear_columns(s->place.ring, peer, s->u, s->now * width_of(s, peer), err));
  multiply(s, peer);
  return TCT_OK;
}

void tct_gram_party_next(tct_gram_party *s) { s->first += s->now; }

static tct_status correct(tct_gram_party *s, int peer, tct_error *err) {
  int low = peer < s->place.self ? peer : s->place.self, high = peer < s->place.self ? s->place.self : peer;
  int64_t rows = width_of(s, low), cols = width_of(s, high);
  uint64_t *part = TCT_NEW(uint64_t, rows * cols);
  if (!part) return tct_fail_memory(err);
  tct_status status = tct_ring_correction(s->place.ring, peer, part, rows * cols, err);
  for (int64_t i = 0; i < rows && status == TCT_OK; i++) {
    uint64_t *to = s->sum + (s->place.start[low] + i) * s->all + s->place.start[high];
    for (int64_t j = 0; j < cols; j++) to[j] += part[i * cols + j];
  }
  tct_wipe_free(part, rows * cols, sizeof *part);
  return status;
}

/* The upper triangle of the features, and the features' products with the labels. */
static void pack(const tct_gram_party *s, uint64_t *triangle, uint64_t *moment) {
  int64_t label = s->set->one_label, p = s->all - label, own = s->place.start[s->place.self];
  for (int64_t i = 0; i < p; i++) {
    memcpy(triangle, s->sum + (i + label) * s->all + label + i, (size_t)(p - i) * sizeof *triangle);
    triangle += p - i;
  }
  if (label)
    memcpy(moment, s->sum + 1, (size_t)p * sizeof *moment);
  else
    memcpy(moment + own, s->moment, (size_t)s->width * sizeof *moment);
}

tct_status tct_gram_party_finish(tct_gram_party *s, tct_error *err) {
  int64_t p = s->all - s->set->one_label, triangle = tct_gram_triangle(p);
  for (int k = 0; k < s->set->count; k++)
    if (k != s->place.self) TCT_TRY(correct(s, k, err));
  uint64_t *share = TCT_NEW(uint64_t, triangle + p);
  if (!share) return tct_fail_memory(err);
  pack(s, share, share + triangle);
  const tct_ring_part parts[2] = {{TCT_GRAM_MATRIX, share, triangle}, {TCT_GRAM_MOMENT, share + triangle, p}};
  tct_status status = tct_ring_say_share(s->place.ring, parts, 2, err);
  tct_wipe_free(share, triangle + p, sizeof *share);
  return status;
}

/* ---- on its own wires ------------------------------------------------------------------------------------------ */

/* In turn r the parties j and k with j + k = r modulo K meet, so that each meets one at a time, all in one order. */
static int partner(const tct_gram_party *s, int turn) {
  int count = s->set->count;
  return (turn - s->place.self + count) % count;
}

static tct_status swap_keys(tct_gram_party *s, int peer, tct_error *err) {
  bool first = s->place.self < peer;
  if (first) TCT_TRY(tct_ring_say_public(s->place.ring, peer, err));
  TCT_TRY(tct_ring_hear_public(s->place.ring, peer, err));
  return first ? TCT_OK : tct_ring_say_public(s->place.ring, peer, err);
}

static tct_status swap_block(tct_gram_party *s, int peer, tct_error *err) {
  TCT_TRY(tct_ring_swap_columns(s->place.ring, peer, s->u, s->now * width_of(s, peer), err));
  multiply(s, peer);
  return TCT_OK;
}

tct_status tct_gram_party_run(tct_gram_party *s, const tct_problem *ticks, tct_error *err) {
  for (int turn = 0; turn < s->set->count; turn++)
    if (partner(s, turn) != s->place.self) TCT_TRY(swap_keys(s, partner(s, turn), err));
  TCT_TRY(tct_ring_say_seed(s->place.ring, s->rows * s->width, err));
  while (tct_gram_party_more(s)) {
    TCT_TRY(tct_problem_tick(ticks, (double)s->first / (double)s->rows, err));
    TCT_TRY(tct_gram_party_hide(s, err));
    for (int turn = 0; turn < s->set->count; turn++)
      if (partner(s, turn) != s->place.self) TCT_TRY(swap_block(s, partner(s, turn), err));
    tct_gram_party_next(s);
  }
  return tct_gram_party_finish(s, err);
}
