/* test_sensitivity_parties.c - what leaves a party of dpfw_parties is its releases and nothing else.
 *
 * What moves a choice, a score or a column: test_sensitivity.c. */
#include "parties/dpfw_parties.h"
#include "worlds.h"

enum { ROWS = 24, COLS = 4 };

/* ---- the transcript ----------------------------------------------------------------------------- */

/* A party on its own wire, whose frames are kept, and whose releases are taped. */
typedef struct leaving {
  unsigned char *bytes;
  size_t size;
  int64_t frames;
} leaving;

static tct_status keep(void *user, int to, const void *frame, size_t size, tct_error *err) {
  leaving *l = user;
  (void)err;
  assert_int_equal(to, TCT_SERVER);
  l->bytes = realloc(l->bytes, l->size + size);
  memcpy(l->bytes + l->size, frame, size);
  l->size += size;
  l->frames++;
  return TCT_OK;
}

typedef struct stage {
  world w;
  tct_parties set;
  tct_sketch sketch;
  tct_wire wire[3];
  tct_wire_gate gate[3];
  tct_party party[2];
  tct_parties_server server;
  tct_mech *mech[2];
  leaving left[2];
  tape tapes[2];
  int64_t width[2];
} stage;

static void raise(stage *s, const records *r, const char *solver) {
  tct_error err = {0};
  tct_config config = world_config("squared", "l1ball:radius=2", solver);
  assert_int_equal(world_open(&s->w, r, &config, TCT_DENSE_COLS, TCT_F64, &err), TCT_OK);
  const tct_plan *plan = s->w.plan;
  assert_int_equal(tct_parties_settings(&plan->facts, &plan->solved, &s->set, &err), TCT_OK);
  assert_int_equal(tct_sketch_new(s->set.seed, ROWS, s->set.size, 4, &s->sketch, &err), TCT_OK);
  assert_int_equal(tct_wire_memory(2, s->wire, &err), TCT_OK);
  for (int k = 0; k < 2; k++) {
    tct_promise own = {0};
    uint64_t seed = 5 + (uint64_t)k;
    assert_int_equal(tct_parties_promise(&plan->solved, 2, 1, &own, &err), TCT_OK);
    assert_int_equal(tct_mech_new(&own, TCT_ADD_REMOVE, &seed, &s->mech[k], &err), TCT_OK);
    tct_promise_free(&own);
    tct_mech_probe_test(s->mech[k], tape_probe, &s->tapes[k]);
    s->gate[k + 1] = (tct_wire_gate){.wire = &s->wire[k + 1], .mech = s->mech[k]};
    s->wire[k + 1].log = keep;
    s->wire[k + 1].log_user = &s->left[k];
    s->width[k] = 2;
    tct_party_place place = {.gate = &s->gate[k + 1], .first = 2 * k, .count = 2};
    assert_int_equal(tct_party_new(&s->w.problem, &s->set, &s->sketch, place, &s->party[k], &err), TCT_OK);
  }
  assert_int_equal(tct_parties_server_new(&plan->facts, &s->set, &s->wire[0], s->width, s->w.w, &s->server, &err),
                   TCT_OK);
}

static void strike(stage *s) {
  tct_parties_server_free(&s->server);
  for (int k = 0; k < 2; k++) {
    tct_party_free(&s->party[k]);
    tct_mech_free(s->mech[k]);
    tape_free(&s->tapes[k]);
    free(s->left[k].bytes);
  }
  for (int i = 0; i < 3; i++) tct_wire_close(&s->wire[i]);
  tct_sketch_free(&s->sketch);
  world_close(&s->w);
}

static void play(stage *s, int64_t rounds) {
  tct_error err = {0};
  for (int64_t t = 0; t < rounds; t++) {
    assert_int_equal(tct_parties_server_open(&s->server, &err), TCT_OK);
    for (int k = 0; k < 2; k++) assert_int_equal(tct_party_choose(&s->party[k], &err), TCT_OK);
    assert_int_equal(tct_parties_server_judge(&s->server, &err), TCT_OK);
    for (int k = 0; k < 2; k++) assert_int_equal(tct_party_send(&s->party[k], t, &err), TCT_OK);
    assert_int_equal(tct_parties_server_close(&s->server, t, &err), TCT_OK);
  }
}

/* The frames that a tape of releases accounts for: header and numbers, in order.  A choice is its column's number,
 * which with all columns of a party as candidates is the index itself. */
static size_t expect(const tape *t, unsigned char *out) {
  size_t size = 0;
  for (int64_t i = 0; i < t->count; i++) {
    int chooses = world_chooses(t->at[i].kind);
    uint64_t length = chooses ? 8 : 8 * (uint64_t)t->at[i].len, number = (uint64_t)i;
    uint16_t type = chooses ? TCT_SAY_CHOICE : t->at[i].len == 1 ? TCT_SAY_SCORE : TCT_SAY_COLUMN;
    uint16_t from = 2;
    memcpy(out + size, "TCT1", 4);
    memcpy(out + size + 4, &type, 2);
    memcpy(out + size + 6, &from, 2);
    memcpy(out + size + 8, &number, 8);
    memcpy(out + size + 16, &length, 8);
    memcpy(out + size + 24, t->at[i].after, length);
    size += 24 + length;
  }
  return size;
}

static void transcript(const char *solver) {
  records r = records_new(ROWS, COLS, 8);
  stage *s = calloc(1, sizeof *s);
  unsigned char *expected = malloc(1 << 20);
  raise(s, &r, solver);
  play(s, s->set.steps);
  for (int k = 0; k < 2; k++) {
    size_t size = expect(&s->tapes[k], expected);
    assert_true(s->tapes[k].count > s->set.steps);
    assert_int_equal(s->left[k].frames, s->tapes[k].count);
    assert_int_equal(s->left[k].size, size);
    assert_memory_equal(s->left[k].bytes, expected, size);
    assert_int_equal(tct_mech_spent_exactly(s->mech[k], NULL), TCT_OK);
  }
  assert_int_equal(s->wire[0].bytes_received, s->left[0].size + s->left[1].size);
  free(expected);
  strike(s);
  free(s);
  records_free(&r);
}
static void every_byte_that_leaves_a_party_is_a_charged_release_or_a_header(void **state) {
  (void)state;
  transcript("dpfw_parties:steps=6,columns=6,sketch=16");
  transcript("dpfw_parties:steps=6,columns=6,sketch=16,radius=winner");
}

/* A column is noised, sent and charged once, and none is sent beyond L. */
static void a_column_is_sent_once_and_at_most_as_many_as_were_promised(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 8);
  stage *s = calloc(1, sizeof *s);
  raise(s, &r, "dpfw_parties:steps=40,columns=1,sketch=16");
  play(s, 40);
  for (int k = 0; k < 2; k++) {
    int64_t columns = 0;
    for (int64_t i = 0; i < s->tapes[k].count; i++) columns += !world_chooses(s->tapes[k].at[i].kind);
    assert_int_equal(columns, 1);
    assert_int_equal(s->tapes[k].count, 41);
  }
  assert_int_equal(s->server.count, 2);
  strike(s);
  free(s);
  records_free(&r);
}

/* What a party hears has none of its own releases in it, so own predictions are not counted twice; with local=sent it
 * hears all. */
static void the_question_to_a_party_leaves_out_its_own_columns(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 8);
  stage *s = calloc(1, sizeof *s);
  raise(s, &r, "dpfw_parties:steps=3,columns=3,sketch=16,trust=1");
  play(s, 3);
  tct_error err = {0};
  assert_int_equal(tct_parties_server_open(&s->server, &err), TCT_OK);
  for (int k = 0; k < 2; k++) {
    double heard[18], sum[16] = {0};
    assert_int_equal(tct_wire_receive_reals(s->gate[k + 1].wire, TCT_SERVER, TCT_SAY_ROUND, heard, 18, &err), TCT_OK);
    for (int64_t i = 0; i < s->server.count; i++)
      for (int64_t j = 0; j < 16 && s->server.sent[i].party != k; j++)
        sum[j] += s->server.sent[i].weight * s->server.sent[i].sketch[j];
    for (int j = 0; j < 16; j++) assert_true(fabs(sum[j] - heard[2 + j]) < 1e-9);
  }
  strike(s);
  free(s);
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_that_leaves_a_party_is_a_charged_release_or_a_header),
      cmocka_unit_test(a_column_is_sent_once_and_at_most_as_many_as_were_promised),
      cmocka_unit_test(the_question_to_a_party_leaves_out_its_own_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
