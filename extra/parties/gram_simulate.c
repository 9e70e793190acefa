/* gram_simulate.c - server and parties of gram_parties taking turns in one process, over wires in memory. */
#include "core/alloc.h"
#include "parties/gram_parties.h"

#include <string.h>

static tct_status connect(tct_gram_stage *s, tct_error *err) {
  for (int k = 0; k < s->set.count; k++) {
    TCT_TRY(tct_wire_memory(1, s->server[k], err));
    tct_ring_server_link(s->opener.ring, k, (tct_ring_link){&s->server[k][0], 0});
    tct_ring_party_link(s->ring[k], TCT_SERVER, (tct_ring_link){&s->server[k][1], TCT_SERVER});
    for (int j = 0; j < k; j++) {
      TCT_TRY(tct_wire_memory(1, s->pair[j][k], err));
      tct_ring_party_link(s->ring[j], k, (tct_ring_link){&s->pair[j][k][0], 0});
      tct_ring_party_link(s->ring[k], j, (tct_ring_link){&s->pair[j][k][1], TCT_SERVER});
    }
  }
  return TCT_OK;
}

/* A party bounds its own part by itself, from the records as they are: nobody has the norm of all.  A record that was
 * dropped, or taken out by a test, has scale 0 in the joint view. */
static tct_status bound(const tct_problem *problem, tct_gram_stage *s, int k, tct_error *err) {
  const tct_view *all = problem->view;
  TCT_TRY(tct_cut_columns(all->x, s->start[k] - (k > 0 && s->set.one_label), s->width[k], &s->columns[k], err));
  TCT_TRY(
      tct_view_bound(&s->view[k], &s->columns[k].m, 0, s->set.norm[k], TCT_ROWS_CLIP, problem->facts->threads, err));
  for (int64_t i = 0; i < all->rows; i++)
    if (all->row_scale[i] == 0) s->view[k].row_scale[i] = 0;
  return TCT_OK;
}

static tct_status raise(const tct_problem *problem, tct_mech *mech, const int64_t *width, tct_gram_stage *s,
                        tct_error *err) {
  tct_ring_place at = {.parties = s->set.count, .seeds = TCT_RING_SIMULATED, .session = "a simulation"};
  int64_t p = problem->facts->p;
  int count = s->set.count;
  for (int k = 0; k < count; k++) s->width[k] = width ? width[k] : p * (k + 1) / count - p * k / count;
  tct_gram_starts(&s->set, s->width, s->start);
  s->opener = (tct_gram_server){.facts = problem->facts, .set = &s->set, .start = s->start, .mech = mech};
  TCT_TRY(tct_ring_server_new(count, at.session, &s->opener.ring, err));
  for (at.self = 0; at.self < count; at.self++) TCT_TRY(tct_ring_party_new(mech, &at, &s->ring[at.self], err));
  TCT_TRY(connect(s, err));
  for (int k = 0; k < count; k++) {
    TCT_TRY(bound(problem, s, k, err));
    tct_gram_place place = {.self = k, .view = &s->view[k], .start = s->start, .ring = s->ring[k]};
    place.y = k == 0 || !s->set.one_label ? problem->y : NULL;
    TCT_TRY(tct_gram_party_new(&s->set, place, &s->party[k], err));
  }
  return TCT_OK;
}

static tct_status exchange(tct_gram_stage *s, tct_error *err) {
  int count = s->set.count;
  for (int k = 0; k < count; k++) TCT_TRY(tct_gram_party_hide(&s->party[k], err));
  for (int k = 0; k < count; k++)
    for (int j = 0; j < count; j++)
      if (j != k) TCT_TRY(tct_gram_party_tell(&s->party[k], j, err));
  for (int k = 0; k < count; k++) {
    for (int j = 0; j < count; j++)
      if (j != k) TCT_TRY(tct_gram_party_take(&s->party[k], j, err));
    tct_gram_party_next(&s->party[k]);
  }
  return TCT_OK;
}

tct_status tct_gram_stage_play(tct_gram_stage *s, const tct_problem *problem, tct_statistics *out, tct_error *err) {
  int count = s->set.count;
  for (int k = 0; k < count; k++) TCT_TRY(tct_gram_party_greet(&s->party[k], err));
  for (int k = 0; k < count; k++) TCT_TRY(tct_gram_party_meet(&s->party[k], err));
  while (tct_gram_party_more(&s->party[0])) {
    TCT_TRY(tct_problem_tick(problem, (double)s->party[0].first / (double)s->party[0].rows, err));
    TCT_TRY(exchange(s, err));
  }
  TCT_TRY(tct_gram_server_deal(&s->opener, err));
  for (int k = 0; k < count; k++) TCT_TRY(tct_gram_party_finish(&s->party[k], err));
  return tct_gram_server_open(&s->opener, out, err);
}

void tct_gram_stage_free(tct_gram_stage *s) {
  if (!s) return;
  for (int k = 0; k < TCT_PARTIES_MAX; k++) {
    tct_gram_party_free(&s->party[k]);
    tct_ring_party_free(s->ring[k]);
    tct_view_free(&s->view[k]);
    tct_matrix_free(&s->columns[k]);
    for (int i = 0; i < 2; i++) tct_wire_close(&s->server[k][i]);
    for (int j = 0; j < TCT_PARTIES_MAX; j++)
      for (int i = 0; i < 2; i++) tct_wire_close(&s->pair[j][k][i]);
  }
  tct_ring_server_free(s->opener.ring);
  tct_wipe_free(s, 1, sizeof *s);
}

tct_status tct_gram_stage_new(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech,
                              const int64_t *width, tct_gram_stage **out, tct_error *err) {
  tct_gram_stage *s = *out = TCT_NEW(tct_gram_stage, 1);
  if (!s) return tct_fail_memory(err);
  tct_status status = tct_gram_settings(problem->facts, plan, &s->set, err);
  if (status == TCT_OK) status = raise(problem, mech, width, s, err);
  if (status == TCT_OK) return TCT_OK;
  tct_gram_stage_free(s);
  *out = NULL;
  return status;
}
