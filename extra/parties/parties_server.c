/* parties_server.c - the server's turns of dpfw_parties: it sees releases only. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "parties/dpfw_parties.h"

#include <string.h>

void tct_parties_server_free(tct_parties_server *s) {
  for (int64_t i = 0; i < s->count && s->sent; i++) tct_free(s->sent[i].sketch);
  tct_free(s->sent);
  tct_free(s->query);
  *s = (tct_parties_server){0};
}

tct_status tct_parties_server_new(const tct_facts *facts, const tct_parties *set, tct_wire *wire, const int64_t *width,
                                  double *w, tct_parties_server *s, tct_error *err) {
  *s = (tct_parties_server){.facts = facts, .set = set, .wire = wire, .width = width, .w = w};
  for (int k = 0; k < set->count; k++) s->start[k + 1] = s->start[k] + width[k];
  memset(w, 0, (size_t)facts->p * sizeof *w);
  s->sent = TCT_NEW(tct_parties_sent, set->count * set->columns + 1);
  s->query = TCT_NEW(double, set->size + 2);
  if (s->sent && s->query) return TCT_OK;
  tct_parties_server_free(s);
  return tct_fail_memory(err);
}

/* q and the squared weights of all sent columns that party k may hear of. */
static double question(tct_parties_server *s, int party) {
  double weight2 = 0, *q = s->query + 2;
  memset(q, 0, (size_t)s->set->size * sizeof *q);
  for (int64_t i = 0; i < s->count; i++) {
    const tct_parties_sent *c = &s->sent[i];
    if (c->weight == 0 || (c->party == party && s->set->local)) continue;
    weight2 += c->weight * c->weight;
    tct_axpy(c->weight, c->sketch, q, s->set->size);
  }
  return weight2;
}

tct_status tct_parties_server_open(tct_parties_server *s, tct_error *err) {
  const tct_parties *set = s->set;
  int64_t size = set->columns > 0 ? set->size : 0;
  double cosine2 = size > 0 && isnan(set->trust) ? tct_parties_cosine2(s) : 0;
  s->trust = 0;
  for (int k = 0; k < set->count; k++) {
    double weight2 = size > 0 ? question(s, k) : 0;
    tct_parties_trust t = {0};
    if (size > 0) t = tct_parties_trust_in(s, cosine2, s->query + 2, weight2);
    s->query[0] = t.trust;
    s->query[1] = set->clip + (set->widen ? 2 * t.trust * t.noise : 0);
    s->trust += t.trust;
    TCT_TRY(tct_wire_send_reals(s->wire, k, TCT_SAY_ROUND, s->query, size + 2, err));
  }
  return TCT_OK;
}

static tct_status whole(const tct_parties_server *s, int k, double name, tct_error *err) {
  if (name >= 0 && name < 2 * (double)s->width[k] && name == floor(name)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "party %d chose a column that it does not have; start again without it", k + 1);
}

tct_status tct_parties_server_judge(tct_parties_server *s, tct_error *err) {
  const tct_parties *set = s->set;
  s->winner = -1;
  for (int k = 0; k < set->count; k++) {
    double name = 0;
    TCT_TRY(tct_wire_receive_reals(s->wire, k, TCT_SAY_CHOICE, &name, 1, err));
    TCT_TRY(whole(s, k, name, err));
    s->chosen[k] = (int64_t)name;
    if (!set->winner) continue;
    TCT_TRY(tct_wire_receive_reals(s->wire, k, TCT_SAY_SCORE, &s->score[k], 1, err));
    if (!isfinite(s->score[k]))
      return tct_fail(err, TCT_E_RUN, "party %d sent a score that is not finite; start again without it", k + 1);
    if (s->winner < 0 || s->score[k] > s->score[s->winner]) s->winner = k;
  }
  double winner = s->winner;
  for (int k = 0; k < set->count && set->winner; k++)
    TCT_TRY(tct_wire_send_reals(s->wire, k, TCT_SAY_VERDICT, &winner, 1, err));
  return TCT_OK;
}

/* The entry of a column; a new one is received. */
static tct_status entry_of(tct_parties_server *s, int k, int64_t column, tct_parties_sent **out, tct_error *err) {
  for (int64_t i = 0; i < s->count; i++) {
    *out = &s->sent[i];
    if (s->sent[i].party == k && s->sent[i].column == column) return TCT_OK;
  }
  if (s->count == s->set->count * s->set->columns)
    return tct_fail(err, TCT_E_RUN, "party %d chose a column beyond those it may send; start again without it", k + 1);
  *out = &s->sent[s->count];
  **out = (tct_parties_sent){.party = k, .column = column, .sketch = TCT_NEW(double, s->set->size)};
  if (!(*out)->sketch) return tct_fail_memory(err);
  s->count++;
  TCT_TRY(tct_wire_receive_reals(s->wire, k, TCT_SAY_COLUMN, (*out)->sketch, s->set->size, err));
  for (int64_t i = 0; i < s->set->size; i++)
    if (!(fabs((*out)->sketch[i]) <= s->set->column_max))
      return tct_fail(err, TCT_E_RUN,
                      "party %d sent a column that no records and no noise make; start again without it", k + 1);
  return TCT_OK;
}

tct_status tct_parties_server_close(tct_parties_server *s, int64_t t, tct_error *err) {
  double gamma = 2.0 / ((double)t + 2);
  for (int64_t j = 0; j < s->facts->p; j++) s->w[j] *= 1 - gamma;
  for (int64_t i = 0; i < s->count; i++) s->sent[i].weight *= 1 - gamma;
  for (int k = 0; k < s->set->count; k++) {
    if (s->set->winner && k != s->winner) continue;
    int64_t column = s->chosen[k] / 2;
    double step = gamma * (s->chosen[k] % 2 ? -s->set->radius[k] : s->set->radius[k]);
    s->w[s->start[k] + column] += step;
    if (s->set->columns == 0) continue;
    tct_parties_sent *entry = NULL;
    TCT_TRY(entry_of(s, k, column, &entry, err));
    entry->weight += step;
  }
  return TCT_OK;
}

tct_status tct_parties_server_run(tct_parties_server *s, const tct_problem *ticks, tct_error *err) {
  for (int64_t t = 0; t < s->set->steps; t++) {
    TCT_TRY(tct_problem_tick(ticks, (double)t / (double)s->set->steps, err));
    TCT_TRY(tct_parties_server_open(s, err));
    TCT_TRY(tct_parties_server_judge(s, err));
    TCT_TRY(tct_parties_server_close(s, t, err));
  }
  for (int k = 0; k < s->set->count;
       k++) /* one that is gone by now does not take the model from those who paid for it */
    (void)tct_wire_send_reals(s->wire, k, TCT_SAY_DONE, s->w, s->facts->p, NULL);
  return TCT_OK;
}
