/* gram_simulate.c - server and parties of gram_parties taking turns in one process, over wires in memory. */
#include "core/alloc.h"
#include "solve/parties/gram_parties.h"

#include <string.h>

typedef struct stage {
  tct_gram set;
  int64_t width[TCT_PARTIES_MOST], start[TCT_PARTIES_MOST + 1];
  tct_owned_matrix columns[TCT_PARTIES_MOST];
  tct_view view[TCT_PARTIES_MOST];
  tct_wire server[TCT_PARTIES_MOST][2];                 /* [k]: the server's end and party k's */
  tct_wire pair[TCT_PARTIES_MOST][TCT_PARTIES_MOST][2]; /* [j][k], j < k: party j's end and party k's */
  tct_ring_party *ring[TCT_PARTIES_MOST];
  tct_gram_party party[TCT_PARTIES_MOST];
  tct_gram_server opener;
} stage;

static tct_status connect(stage *s, tct_error *err) {
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
static tct_status bound(const tct_problem *problem, stage *s, int k, tct_error *err) {
  const tct_view *all = problem->view;
  TCT_TRY(tct_cut_columns(all->x, s->start[k] - (k > 0 && s->set.one_label), s->width[k], &s->columns[k], err));
  TCT_TRY(tct_view_bound(&s->view[k], &s->columns[k].m, 0, s->set.norm[k], TCT_ROWS_CLIP, problem->facts->threads, err));
  for (int64_t i = 0; i < all->rows; i++)
    if (all->row_scale[i] == 0) s->view[k].row_scale[i] = 0;
  return TCT_OK;
}

static tct_status raise(const tct_problem *problem, tct_mech *mech, stage *s, tct_error *err) {
  static const unsigned char session[TCT_RING_ID] = "a simulation";
  int64_t p = problem->facts->p;
  int count = s->set.count;
  for (int k = 0; k < count; k++) s->width[k] = p * (k + 1) / count - p * k / count;
  tct_gram_starts(&s->set, s->width, s->start);
  s->opener = (tct_gram_server){.facts = problem->facts, .set = &s->set, .start = s->start, .mech = mech};
  TCT_TRY(tct_ring_server_new(count, session, &s->opener.ring, err));
  for (int k = 0; k < count; k++) TCT_TRY(tct_ring_party_new(mech, k, count, session, &s->ring[k], err));
  TCT_TRY(connect(s, err));
  for (int k = 0; k < count; k++) {
    TCT_TRY(bound(problem, s, k, err));
    tct_gram_place place = {.self = k, .view = &s->view[k], .start = s->start, .ring = s->ring[k]};
    place.y = k == 0 || !s->set.one_label ? problem->y : NULL;
    TCT_TRY(tct_gram_party_new(&s->set, place, &s->party[k], err));
  }
  return TCT_OK;
}

static tct_status exchange(stage *s, tct_error *err) {
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

static tct_status play(const tct_problem *problem, stage *s, tct_statistics *out, tct_error *err) {
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

/* Of the last party, whose every pair has its own wire end. */
static tct_gram_report report_of(const stage *s) {
  tct_gram_report report = {0};
  for (int k = 0; k < s->set.count; k++) {
    int64_t peers = 0;
    for (int j = 0; j < s->set.count; j++) peers += j < k ? s->pair[j][k][1].bytes_sent : s->pair[k][j][0].bytes_sent;
    if (peers > report.peer_bytes) report.peer_bytes = peers;
    if (s->server[k][1].bytes_sent > report.server_bytes) report.server_bytes = s->server[k][1].bytes_sent;
  }
  return report;
}

static void strike(stage *s) {
  for (int k = 0; k < TCT_PARTIES_MOST; k++) {
    tct_gram_party_free(&s->party[k]);
    tct_ring_party_free(s->ring[k]);
    tct_view_free(&s->view[k]);
    tct_matrix_free(&s->columns[k]);
    for (int i = 0; i < 2; i++) tct_wire_close(&s->server[k][i]);
    for (int j = 0; j < TCT_PARTIES_MOST; j++)
      for (int i = 0; i < 2; i++) tct_wire_close(&s->pair[j][k][i]);
  }
  tct_ring_server_free(s->opener.ring);
  tct_wipe_free(s, 1, sizeof *s);
}

tct_status tct_gram_simulate(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                             tct_gram_report *report, tct_error *err) {
  tct_statistics opened = {0};
  stage *s = TCT_NEW(stage, 1);
  if (!s) return tct_fail_memory(err);
  tct_status status = tct_gram_settings(problem->facts, plan, &s->set, err);
  if (status == TCT_OK) status = raise(problem, mech, s, err);
  if (status == TCT_OK) status = play(problem, s, &opened, err);
  if (status == TCT_OK) {
    opened.gram_noise = tct_gram_noise(plan, TCT_GRAM_MATRIX);
    status = tct_statistics_fit(&opened, &problem->facts->reg, s->set.cleaning, w, err);
  }
  *report = report_of(s);
  tct_statistics_free(&opened);
  strike(s);
  return status;
}
