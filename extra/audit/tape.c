/* tape.c - the releases of one run, and a second run that is forced to them.
 *
 * Two runs under the same coins whose tables differ in one record see the same past: what the first released is forced
 * on the second.  So what is left between them at a release is what the one record moves.  It may be no more than the
 * plan says. */
#include "audit/audit.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

void tct_tape_begin(tct_audit *a, tct_tape *tape, const tct_pair *pair) {
  *tape = (tct_tape){
      .a = a, .stretch = pair->stretch, .push = pair->push, .wander = pair->wander, .replace = a->replaces ? 2 : 1};
  tape->batch = pair->picked ? pair->record + 1 : 0;
  tape->coalition = pair->coalition;
  tape->keeps = pair->stretch == 1 && pair->push == 0 && pair->wander == 0;
}

static void zero_results(tct_tape *tape) {
  memset(tape->share, 0, sizeof tape->share);
  memset(tape->moved, 0, sizeof tape->moved);
  memset(tape->touched, 0, sizeof tape->touched);
  memset(tape->made, 0, sizeof tape->made);
  tape->total = tape->toward = tape->part_squares = tape->charged = 0;
  tape->mismatch = tape->drew = false;
  tape->next = tape->in_vector = 0;
}

void tct_tape_rewind(tct_tape *tape) {
  zero_results(tape);
  tape->replays = true;
}

void tct_tape_clear(tct_tape *tape) {
  zero_results(tape);
  memset(tape->squares, 0, sizeof tape->squares);
  memset(tape->noises, 0, sizeof tape->noises);
  tape->replays = false;
  tape->count = tape->used = 0;
}

void tct_tape_free(tct_tape *tape) {
  tct_free(tape->entry);
  tct_free(tape->number);
  tct_free(tape->second);
  tape->entry = NULL;
  tape->number = tape->second = NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static bool make_room(tct_tape *tape, int64_t numbers) {
  if (tape->count == tape->entry_room) {
    int64_t room = tape->entry_room ? 2 * tape->entry_room : 64;
    tct_tape_entry *grown = tct_grow(tape->entry, tape->entry_room, room, sizeof *grown);
    if (!grown) return false;
    tape->entry = grown, tape->entry_room = room;
  }
  while (tape->used + numbers > tape->number_room) {
    int64_t room = tape->number_room ? 2 * tape->number_room : 1024;
    double *grown = tct_grow(tape->number, tape->number_room, room, sizeof *grown);
    if (grown) tape->number = grown;
    double *beside = tct_grow(tape->second, tape->number_room, room, sizeof *beside);
    if (beside) tape->second = beside;
    if (!grown || !beside) return false;
    tape->number_room = room;
  }
  return true;
}

static void look_at_noise(tct_tape *tape, const tct_watched *seen, int r) {
  if (!(seen->deviation > 0) || seen->chooses) return;
  for (int64_t j = 0; j < seen->len; j++) {
    double z = (seen->after[j] - (seen->drawn ? 0 : seen->before[j])) / seen->deviation;
    tape->squares[r] += seen->norm == TCT_NORM_L1 ? fabs(z) : z * z;
  }
  tape->noises[r] += seen->len;
}

/* Another past: the noise made larger, the first release pushed away, the choices taken at will. */
static void force(tct_tape *tape, const tct_watched *seen) {
  if (tape->keeps || seen->drawn) return;
  if (seen->chooses) {
    uint64_t at = tape->wander * (uint64_t)(2 * tape->count + 1) >> 13;
    if (tape->wander) seen->after[0] = (double)(at % (uint64_t)seen->len);
    return;
  }
  double push = tape->count == 0 ? tape->push * seen->sensitivity : 0;
  for (int64_t j = 0; j < seen->len; j++) {
    double noise = tape->stretch * (seen->after[j] - seen->before[j]) + (j % 2 ? -push : push);
    seen->after[j] = seen->before[j] + noise;
  }
}

static void write(tct_tape *tape, const tct_watched *seen, int r) {
  int64_t after = seen->chooses ? 1 : seen->len;
  if (!make_room(tape, seen->len + after)) {
    tape->failed = true;
    return;
  }
  look_at_noise(tape, seen, r);
  force(tape, seen);
  tape->entry[tape->count++] = (tct_tape_entry){.release = r,
                                                .at = tape->used,
                                                .len = seen->len,
                                                .sensitivity = seen->sensitivity,
                                                .deviation = seen->deviation,
                                                .epsilon = seen->epsilon,
                                                .chooses = seen->chooses,
                                                .monotone = seen->monotone,
                                                .drawn = seen->drawn,
                                                .norm = seen->norm};
  memcpy(tape->number + tape->used, seen->before, (size_t)seen->len * sizeof(double));
  memcpy(tape->number + tape->used + seen->len, seen->after, (size_t)after * sizeof(double));
  tape->used += seen->len + after;
}

/* ---- comparing ---------------------------------------------------------------------------------------------- */

/* The distance of two noise-free values in the norm of the sensitivity, in extended precision. */
static double distance(tct_norm norm, const double *a, const double *b, int64_t len) {
  long double sum = 0;
  for (int64_t j = 0; j < len; j++) {
    long double d = (long double)a[j] - b[j];
    if (norm == TCT_NORM_SCORE)
      sum = fabsl(d) > sum ? fabsl(d) : sum;
    else
      sum += norm == TCT_NORM_L1 ? fabsl(d) : d * d;
  }
  return norm == TCT_NORM_L2 ? (double)sqrtl(sum) : (double)sum;
}

/* log of the chance of a score, by the exponential mechanism: rate * (score - top) - log_sum. */
typedef struct choice_law {
  double rate, top, log_sum;
} choice_law;

static choice_law choice_law_of(const tct_tape_entry *e, const double *score) {
  choice_law law = {.rate = e->epsilon / (e->sensitivity * (e->monotone ? 1 : 2)), .top = score[0]};
  double sum = 0;
  for (int64_t k = 1; k < e->len; k++) law.top = fmax(law.top, score[k]);
  for (int64_t k = 0; k < e->len; k++) sum += exp(law.rate * (score[k] - law.top));
  law.log_sum = log(sum);
  return law;
}

static double log_chance(const choice_law *law, double score) { return law->rate * (score - law->top) - law->log_sum; }

/* The shift of the Gaussian that is as easy to tell apart as a choice by these scores from one by those: both have the
 * same total variation. */
static double choice_shift(const tct_tape_entry *e, const double *first, const double *second) {
  double apart = 0;
  if (!(e->epsilon < INFINITY)) return 0;
  choice_law a = choice_law_of(e, first), b = choice_law_of(e, second);
  for (int64_t j = 0; j < e->len; j++) apart += fabs(exp(log_chance(&a, first[j])) - exp(log_chance(&b, second[j])));
  return apart > 0 ? 2 * tct_audit_quantile(0.5 + 0.25 * fmin(apart, 2 - 1e-12)) : 0;
}

/* log likelihood of what was released: under the first run's table against this one's. */
static double likelihood(const tct_tape_entry *e, const double *first, const double *second, const double *after) {
  double sum = 0;
  if (e->chooses) {
    int64_t j = (int64_t)after[0];
    choice_law a = choice_law_of(e, first), b = choice_law_of(e, second);
    return e->epsilon < INFINITY ? log_chance(&a, first[j]) - log_chance(&b, second[j]) : 0;
  }
  for (int64_t j = 0; j < e->len && e->deviation > 0; j++) {
    double a = (after[j] - first[j]) / e->deviation, b = (after[j] - second[j]) / e->deviation;
    sum += e->norm == TCT_NORM_L1 ? fabs(b) - fabs(a) : 0.5 * (b * b - a * a);
  }
  return sum;
}

/* Numbers of one vector that come one by one are one release: their squares add up. */
static double whole_move(tct_tape *tape, const tct_watched *seen, double move) {
  if (seen->parts == 0) return move;
  tape->part_squares += move * move;
  if (++tape->in_vector < seen->parts) return 0;
  move = sqrt(tape->part_squares);
  tape->part_squares = 0, tape->in_vector = 0;
  return move;
}

static void compare(tct_tape *tape, const tct_watched *seen, const tct_tape_entry *e) {
  const double *first = tape->number + e->at, *after = first + e->len;
  int r = e->release;
  memcpy(tape->second + e->at, seen->before, (size_t)e->len * sizeof(double));
  tape->drew |= e->drawn;
  if (tape->drew) return;
  double move = distance(e->norm, first, seen->before, e->len);
  double share = whole_move(tape, seen, e->chooses ? move / e->sensitivity : move / (tape->replace * e->sensitivity));
  if (!(share <= tape->share[r])) tape->share[r] = share;
  if (e->chooses) tape->moved[r] = fmax(tape->moved[r], move);
  if (move > 0) tape->touched[r]++;
  if (e->deviation > 0) tape->total += move * move / (e->deviation * e->deviation);
  if (e->chooses) tape->total += pow(choice_shift(e, first, seen->before), 2);
  tape->toward += likelihood(e, first, seen->before, after);
}

static void show(void *user, const tct_watched *seen) {
  tct_tape *tape = user;
  int r = tape->a->study ? tct_audit_study_release(tape->a, seen) : seen->release;
  if (r < 0 || r >= TCT_AUDIT_RELEASES) return;
  if (seen->event->noise > 0) tape->charged += 1 / (seen->event->noise * seen->event->noise);
  tape->made[r]++;
  tape->parts[r] = seen->parts ? seen->parts : 1;
  if (seen->views > tape->views) tape->views = seen->views;
  if (!tape->replays) {
    write(tape, seen, r);
    return;
  }
  const tct_tape_entry *e = tape->next < tape->count ? &tape->entry[tape->next] : NULL;
  if (!e || e->release != r || e->len != seen->len || e->sensitivity != seen->sensitivity ||
      e->deviation != seen->deviation) {
    tape->mismatch = true;
    return;
  }
  compare(tape, seen, e);
  memcpy(seen->after, tape->number + e->at + e->len, (size_t)(e->chooses ? 1 : e->len) * sizeof(double));
  tape->next++;
}

/* log((1 - q) + q exp(ratio)) */
static double mixed(double q, double ratio) {
  if (!(q < 1)) return ratio;
  return ratio > 700 ? ratio + log(q) : log(1 - q + q * exp(ratio));
}

double tct_tape_mixture(const tct_tape *tape) {
  double sum = 0;
  for (int64_t k = 0; k < tape->count; k++) {
    const tct_tape_entry *e = &tape->entry[k];
    const double *mean = tape->second + e->at, *after = tape->number + e->at + e->len;
    double ratio = 0;
    if (e->chooses || !(e->deviation > 0)) continue;
    for (int64_t j = 0; j < e->len; j++) {
      double at = after[j] / e->deviation, step = mean[j] / e->deviation;
      ratio += e->norm == TCT_NORM_L1 ? fabs(at) - fabs(at - step) : step * (at - 0.5 * step);
    }
    sum += mixed(tape->a->rate[e->release], ratio);
  }
  return sum;
}

void tct_told_free(tct_told *told) {
  tct_model_free(told->model);
  tct_text_free(told->text);
  *told = (tct_told){0};
}

tct_status tct_tape_run(tct_audit *a, tct_tape *tape, const tct_side *side, uint64_t coins, tct_told *out,
                        tct_error *err) {
  tct_told told = {0};
  if (out) *out = told;
  tct_watch_coins from = {.seed = coins, .hidden = tape->hidden, .batch = tape->batch, .coalition = tape->coalition};
  tct_watch(show, tape, &from);
  if (a->study)
    told.text = tct_audit_study_run(a, side, coins, err);
  else
    told.model = tct_side_fit(a, side, err);
  tct_watch(NULL, NULL, NULL);
  if (tape->failed) {
    tct_told_free(&told);
    return tct_fail_memory(err);
  }
  if (!told.model && !told.text) return err->status;
  if (tape->replays && tape->next != tape->count) tape->mismatch = true;
  if (out)
    *out = told;
  else
    tct_told_free(&told);
  return TCT_OK;
}
