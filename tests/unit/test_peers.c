/* test_peers.c - parties know each other by a proof that nobody between them, and nobody without the secret, can make.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/peers.c"

#include "pipes.h"

/* ---- the proof ------------------------------------------------------------------------------------------------- */

typedef struct end {
  tct_seat place;
  tct_roster roster;
  tct_secret secret;
  tct_wire wire;
  int other;
  tct_status status;
  tct_error err;
} end;

static void *prove_itself(void *user) {
  end *e = user;
  e->status = exchange_proofs(&e->place, &e->wire, e->other, &e->err);
  if (e->status != TCT_OK) shutdown(pipe_of(&e->wire)->socket, SHUT_RDWR);
  return NULL;
}

/* Two parties, 0 and 1, who agree on all. */
static void meet_two(end *e) {
  memset(e, 0, 2 * sizeof *e);
  pipe_pair(&e[0].wire, &e[1].wire, &pipes);
  for (int i = 0; i < 2; i++) {
    e[i].roster = (tct_roster){.count = 2, .name = {"alice", "bob"}};
    e[i].secret.length = 32;
    e[i].place = (tct_seat){.roster = &e[i].roster, .self = i, .secret = &e[i].secret};
    e[i].other = 1 - i;
  }
}

static void both(end *e) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, prove_itself, &e[1]), 0);
  prove_itself(&e[0]);
  pthread_join(thread, NULL);
}

static void part(end *e) {
  for (int i = 0; i < 2; i++) tct_wire_close(&e[i].wire);
}

static void those_who_agree_on_all_believe_each_other(void **state) {
  (void)state;
  end e[2];
  meet_two(e);
  both(e);
  assert_int_equal(e[0].status, TCT_OK);
  assert_int_equal(e[1].status, TCT_OK);
  part(e);
}

/* The listening end, which is shown a proof first, has shown none to one that it does not believe. */
static void refused(end *e, const char *what) {
  both(e);
  if (e[0].status != TCT_E_RUN) fail_msg("%s is believed", what);
  assert_non_null(strstr(e[0].err.text, "another secret or other terms"));
  assert_int_equal(e[0].wire.bytes_sent, 0);
  assert_int_equal(e[1].status, TCT_E_RUN);
  part(e);
}

static void another_secret_session_connection_or_number_is_not_believed(void **state) {
  (void)state;
  end e[2];
  meet_two(e);
  e[1].secret.bytes[31] = 1;
  refused(e, "another secret");
  meet_two(e);
  e[1].place.session[0] = 1;
  refused(e, "another session");
  meet_two(e);
  pipe_of(&e[1].wire)->binding[5] = 1;
  refused(e, "another connection, with somebody between,");
  meet_two(e);
  e[1].place.self = 2;
  refused(e, "another number");
  meet_two(e);
  e[1].other = 2;
  refused(e, "a proof for another party");
}

/* Somebody without the secret sends a party's own proof back to it. */
static void a_proof_that_is_sent_back_is_not_believed(void **state) {
  (void)state;
  end e[2];
  unsigned char proof[PROOF];
  meet_two(e);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, prove_itself, &e[1]), 0);
  assert_int_equal(tct_wire_receive(&e[0].wire, 0, TCT_SAY_PROOF, proof, PROOF, NULL), TCT_OK);
  assert_int_equal(tct_wire_send(&e[0].wire, 0, TCT_SAY_PROOF, proof, PROOF, NULL), TCT_OK);
  pthread_join(thread, NULL);
  assert_int_equal(e[1].status, TCT_E_RUN);
  part(e);
}

/* ---- the list of parties --------------------------------------------------------------------------------------- */

static tct_roster three(void) {
  return (tct_roster){
      .count = 3, .name = {"alice", "bob", "carol"}, .address = {"a:1", "b:2", "c:3"}, .width = {4, 5, 6}};
}

static void a_session_has_a_name_of_its_own_terms(void **state) {
  (void)state;
  unsigned char name[7][32];
  tct_roster r = three();
  tct_roster_session(&r, "nonce", "plan", name[0]);
  tct_roster_session(&r, "nonce2", "plan", name[1]);
  tct_roster_session(&r, "nonce", "plan2", name[2]);
  r.name[2][0] = 'k';
  tct_roster_session(&r, "nonce", "plan", name[3]);
  r = three(), r.address[0][2] = '9';
  tct_roster_session(&r, "nonce", "plan", name[4]);
  r = three(), r.width[1] = 7;
  tct_roster_session(&r, "nonce", "plan", name[5]);
  r = three(), r.seeded = 1;
  tct_roster_session(&r, "nonce", "plan", name[6]);
  for (int i = 0; i < 7; i++)
    for (int k = 0; k < i; k++) assert_memory_not_equal(name[i], name[k], 32);
}

static void a_list_is_read_as_it_was_written_or_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "{}",
      "[]",
      "[{\"name\":\"a\",\"address\":\"\",\"columns\":1}]",
      "[{\"name\":\"a\",\"address\":\"\",\"columns\":1},{\"name\":\"a\",\"address\":\"\",\"columns\":1}]",
      "[{\"name\":\"a\",\"address\":\"\",\"columns\":0},{\"name\":\"b\",\"address\":\"\",\"columns\":1}]",
      ("[{\"name\":\"a\",\"address\":\"\",\"columns\":9223372036854775807},"
       "{\"name\":\"b\",\"address\":\"\",\"columns\":9223372036854775807}]"),
      "[{\"name\":\"\",\"address\":\"\",\"columns\":1},{\"name\":\"b\",\"address\":\"\",\"columns\":1}]",
      "[{\"name\":\"a\",\"address\":7,\"columns\":1},{\"name\":\"b\",\"address\":\"\",\"columns\":1}]",
      "[{\"name\":\"a\",\"columns\":1},{\"name\":\"b\",\"address\":\"\",\"columns\":1}]"};
  tct_roster r = three(), back;
  json_t *list = tct_roster_json(&r);
  assert_int_equal(tct_roster_parse(list, 3, &back, NULL), TCT_OK);
  assert_memory_equal(&r, &back, sizeof r);
  assert_int_equal(tct_roster_parse(list, 2, &back, NULL), TCT_E_RUN);
  json_decref(list);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    list = json_loads(bad[i], 0, NULL);
    assert_non_null(list);
    assert_int_equal(tct_roster_parse(list, 2, &back, NULL), TCT_E_RUN);
    json_decref(list);
  }
  char longer[400];
  memset(longer, 'x', sizeof longer);
  longer[399] = 0;
  list = json_pack("[{s:s, s:s, s:i}, {s:s, s:s, s:i}]", "name", longer, "address", "", "columns", 1, "name", "b",
                   "address", "", "columns", 1);
  assert_int_equal(tct_roster_parse(list, 2, &back, NULL), TCT_E_RUN);
  json_decref(list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(those_who_agree_on_all_believe_each_other),
      cmocka_unit_test(another_secret_session_connection_or_number_is_not_believed),
      cmocka_unit_test(a_proof_that_is_sent_back_is_not_believed),
      cmocka_unit_test(a_session_has_a_name_of_its_own_terms),
      cmocka_unit_test(a_list_is_read_as_it_was_written_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
