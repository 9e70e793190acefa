/* test_wire.c - a message that is replayed, cut, of another type or from another role is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/wire.h"

#include <string.h>

/* What the server sent last, byte for byte. */
typedef struct last {
  unsigned char frame[256];
  size_t size;
} last;

static tct_status keep(void *user, int to, const void *frame, size_t size, tct_error *err) {
  last *l = user;
  (void)to, (void)err;
  assert_true(size <= sizeof l->frame);
  memcpy(l->frame, frame, size);
  l->size = size;
  return TCT_OK;
}

typedef struct pair {
  tct_wire wire[2];
  last sent;
  tct_error err;
} pair;

static int raise(void **state) {
  static pair p;
  memset(&p, 0, sizeof p);
  assert_int_equal(tct_wire_memory(1, p.wire, NULL), TCT_OK);
  p.wire[0].log = keep;
  p.wire[0].log_user = &p.sent;
  *state = &p;
  return 0;
}
static int strike(void **state) {
  pair *p = *state;
  for (int i = 0; i < 2; i++) tct_wire_close(&p->wire[i]);
  return 0;
}

static void say(pair *p, int type, const char *text) {
  assert_int_equal(tct_wire_send(&p->wire[0], 0, type, text, strlen(text), NULL), TCT_OK);
}
/* The bytes, as somebody between the two would put them on the wire. */
static void inject(pair *p, size_t size) {
  assert_int_equal(p->wire[0].backend->send(&p->wire[0], 0, p->sent.frame, size, NULL), TCT_OK);
}
static void refused(pair *p, int type, size_t size, const char *words) {
  char body[256];
  assert_true(size <= sizeof body);
  assert_int_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, type, body, size, &p->err), TCT_E_RUN);
  if (!strstr(p->err.text, words)) fail_msg("'%s' does not say '%s'", p->err.text, words);
}

static void a_message_arrives_as_it_was_sent(void **state) {
  pair *p = *state;
  char body[6] = "";
  for (int k = 0; k < 3; k++) {
    say(p, 7, "hello");
    assert_int_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 7, body, 5, &p->err), TCT_OK);
    assert_string_equal(body, "hello");
  }
  assert_int_equal(p->wire[0].bytes_sent, 3 * (TCT_FRAME_HEADER + 5));
  assert_int_equal(p->wire[1].bytes_received, p->wire[0].bytes_sent);
}

static tct_status pay(void *user, tct_error *err) {
  int *purse = user;
  return (*purse)-- > 0 ? TCT_OK : tct_fail(err, TCT_E_BUDGET, "nothing is left");
}

static void what_must_be_paid_for_leaves_after_it_was_paid_for(void **state) {
  static const int allowed[] = {7, 0}, paid[] = {8, 0};
  pair *p = *state;
  char body[5];
  int purse = 1;
  tct_wire *w = &p->wire[0];
  w->allowed = allowed, w->paid = paid, w->pay = pay, w->pay_user = &purse;
  say(p, 7, "hello"); /* free */
  assert_int_equal(purse, 1);
  say(p, 8, "hello");
  assert_int_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 7, body, 5, &p->err), TCT_OK);
  assert_int_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 8, body, 5, &p->err), TCT_OK);
  int64_t before = w->bytes_sent;
  assert_int_equal(tct_wire_send(w, 0, 8, "hello", 5, &p->err), TCT_E_BUDGET);
  assert_int_equal(tct_wire_send(w, 0, 9, "hello", 5, &p->err), TCT_E_RUN); /* in neither list */
  assert_int_equal(w->bytes_sent, before);
  assert_int_not_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 8, body, 5, &p->err), TCT_OK); /* nothing came */
}

static void a_replayed_message_is_refused(void **state) {
  pair *p = *state;
  char body[5];
  say(p, 7, "hello");
  assert_int_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 7, body, 5, &p->err), TCT_OK);
  inject(p, p->sent.size);
  refused(p, 7, 5, "replayed");
}

static void a_lost_message_is_noticed_at_the_next(void **state) {
  pair *p = *state;
  char gone[TCT_FRAME_HEADER + 5];
  say(p, 7, "first");
  assert_int_equal(p->wire[1].backend->receive(&p->wire[1], TCT_SERVER, gone, sizeof gone, NULL), TCT_OK);
  say(p, 7, "after");
  refused(p, 7, 5, "one was lost");
}

static void a_cut_message_is_refused(void **state) {
  for (size_t size = 1; size < TCT_FRAME_HEADER + 5; size++) {
    pair *p = *state;
    char gone[TCT_FRAME_HEADER + 5], body[5];
    say(p, 7, "hello");
    assert_int_equal(p->wire[1].backend->receive(&p->wire[1], TCT_SERVER, gone, sizeof gone, NULL), TCT_OK);
    inject(p, size);
    assert_int_not_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 7, body, 5, &p->err), TCT_OK);
    strike(state);
    raise(state);
  }
}

static void every_changed_byte_of_a_header_is_refused(void **state) {
  for (size_t at = 0; at < TCT_FRAME_HEADER; at++) {
    pair *p = *state;
    char gone[TCT_FRAME_HEADER + 5], body[5];
    say(p, 7, "hello");
    assert_int_equal(p->wire[1].backend->receive(&p->wire[1], TCT_SERVER, gone, sizeof gone, NULL), TCT_OK);
    p->sent.frame[at] ^= 0x41;
    inject(p, p->sent.size);
    assert_int_not_equal(tct_wire_receive(&p->wire[1], TCT_SERVER, 7, body, 5, &p->err), TCT_OK);
    strike(state);
    raise(state);
  }
}

static void another_type_or_length_is_refused(void **state) {
  pair *p = *state;
  say(p, 8, "hello");
  refused(p, 7, 5, "type 8 where type 7");
  strike(state);
  raise(state);
  say(p, 7, "hello");
  refused(p, 7, 6, "another length");
}

static void a_longer_message_than_allowed_is_refused_before_memory_is_taken(void **state) {
  pair *p = *state;
  void *body = NULL;
  size_t size = 0;
  say(p, 7, "hello");
  p->sent.frame[23] = 0x7f; /* a length of 2^62 or so */
  char gone[TCT_FRAME_HEADER + 5];
  assert_int_equal(p->wire[1].backend->receive(&p->wire[1], TCT_SERVER, gone, sizeof gone, NULL), TCT_OK);
  inject(p, p->sent.size);
  assert_int_equal(tct_wire_receive_any(&p->wire[1], TCT_SERVER, 7, 100, &body, &size, &p->err), TCT_E_RUN);
  assert_null(body);
}

static void a_reason_to_stop_becomes_the_other_ends_error(void **state) {
  pair *p = *state;
  tct_wire_send_failure(&p->wire[0], 0, "the keys\ndiffer");
  refused(p, 7, 5, "the server says: the keys?differ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_message_arrives_as_it_was_sent, raise, strike),
      cmocka_unit_test_setup_teardown(what_must_be_paid_for_leaves_after_it_was_paid_for, raise, strike),
      cmocka_unit_test_setup_teardown(a_replayed_message_is_refused, raise, strike),
      cmocka_unit_test_setup_teardown(a_lost_message_is_noticed_at_the_next, raise, strike),
      cmocka_unit_test_setup_teardown(a_cut_message_is_refused, raise, strike),
      cmocka_unit_test_setup_teardown(every_changed_byte_of_a_header_is_refused, raise, strike),
      cmocka_unit_test_setup_teardown(another_type_or_length_is_refused, raise, strike),
      cmocka_unit_test_setup_teardown(a_longer_message_than_allowed_is_refused_before_memory_is_taken, raise, strike),
      cmocka_unit_test_setup_teardown(a_reason_to_stop_becomes_the_other_ends_error, raise, strike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
