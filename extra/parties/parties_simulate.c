/* parties_simulate.c - server and parties of dpfw_parties taking turns in one process, over a wire in memory. */
#include "core/alloc.h"
#include "parties/dpfw_parties.h"

typedef struct stage {
  tct_parties set;
  tct_sketch sketch;
  tct_wire wire[TCT_PARTIES_MAX + 1];
  tct_wire_gate gate[TCT_PARTIES_MAX + 1];
  tct_party party[TCT_PARTIES_MAX];
  tct_parties_server server;
  int64_t width[TCT_PARTIES_MAX];
} stage;

static tct_status raise(const tct_problem *problem, tct_mech *mech, double *w, stage *s, tct_error *err) {
  int64_t p = problem->facts->p, first = 0;
  int count = s->set.count;
  TCT_TRY(tct_wire_memory(count, s->wire, err));
  TCT_TRY(tct_sketch_new(s->set.seed, problem->facts->rows, s->set.size, (int)s->set.per_record, &s->sketch, err));
  for (int k = 0; k < count; k++) {
    s->width[k] = p * (k + 1) / count - first;
    s->gate[k + 1] = (tct_wire_gate){.wire = &s->wire[k + 1], .mech = mech};
    tct_party_place place = {.gate = &s->gate[k + 1], .first = first, .count = s->width[k]};
    TCT_TRY(tct_party_new(problem, &s->set, &s->sketch, place, &s->party[k], err));
    first += s->width[k];
  }
  return tct_parties_server_new(problem->facts, &s->set, &s->wire[0], s->width, w, &s->server, err);
}

static tct_status rounds(const tct_problem *problem, stage *s, tct_error *err) {
  int count = s->set.count;
  for (int64_t t = 0; t < s->set.steps; t++) {
    TCT_TRY(tct_problem_tick(problem, (double)t / (double)s->set.steps, err));
    TCT_TRY(tct_parties_server_open(&s->server, err));
    for (int k = 0; k < count; k++) TCT_TRY(tct_party_choose(&s->party[k], err));
    TCT_TRY(tct_parties_server_judge(&s->server, err));
    for (int k = 0; k < count; k++) TCT_TRY(tct_party_send(&s->party[k], t, err));
    TCT_TRY(tct_parties_server_close(&s->server, t, err));
  }
  return TCT_OK;
}

tct_status tct_parties_simulate(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                                tct_parties_report *report, tct_error *err) {
  stage *s = TCT_NEW(stage, 1);
  if (!s) return tct_fail_memory(err);
  tct_status status = tct_parties_settings(problem->facts, plan, &s->set, err);
  if (status == TCT_OK) status = raise(problem, mech, w, s, err);
  if (status == TCT_OK) status = rounds(problem, s, err);
  *report = (tct_parties_report){.uplink = s->wire[0].bytes_received, .columns = s->server.count};
  report->trust = s->set.count > 0 ? s->server.trust / s->set.count : 0;
  tct_parties_server_free(&s->server);
  for (int k = 0; k < s->set.count; k++) tct_party_free(&s->party[k]);
  for (int i = 0; i <= s->set.count; i++) tct_wire_close(&s->wire[i]);
  tct_sketch_free(&s->sketch);
  tct_free(s);
  return status;
}
