/* test_ledger_race.c - two processes for the last of the budget: exactly one wins, every time. */
#include "ledger_help.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Waits for the other at the starting line, then charges or reserves; the exit code is the status. */
static int contender(_Atomic int *ready, int events, bool reserves) {
  static const char *const list[] = {"gaussian:noise=30", "gaussian:noise=40", "gaussian:noise=50"};
  tct_error err = {0};
  char id[TCT_LEDGER_ID] = "";
  ++*ready;
  while (*ready < 2) sched_yield();
  if (reserves) { /* what was reserved can be charged, whatever the other does meanwhile */
    tct_status status = in_phases(0.5, 600, id, &err);
    return status == TCT_OK ? (int)in_phases(0.5, 0, id, &err) : (int)status;
  }
  char *text = charge_ledger("L", list, (size_t)events, TCT_ADD_REMOVE, 0.5, 1e-6, &err);
  int status = text ? TCT_OK : (int)err.status;
  tct_text_free(text);
  return status;
}

static int wait_for(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void two_processes_for_the_last_of_the_budget_have_one_winner(void **state) {
  (void)state;
  _Atomic int *ready =
      mmap(NULL, sizeof *ready, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* seen by both */
  assert_ptr_not_equal(ready, MAP_FAILED);
  const char *wish = getenv("RACES"); /* 60 by default; 200 for the record */
  int first_wins = 0, races = wish ? atoi(wish) : 60;
  for (int race = 0; race < races; race++) {
    pid_t child[2];
    new_ledger(0.75, "sum"); /* room for one charge of 0.5, not for two */
    *ready = 0;
    for (int c = 0; c < 2; c++) {
      child[c] = fork();
      assert_true(child[c] >= 0);
      if (child[c] == 0) _exit(contender(ready, 1 + race % 3, (race + c) % 4 < 2));
    }
    int first = wait_for(child[0]), second = wait_for(child[1]);
    assert_true((first == TCT_OK && second == TCT_E_BUDGET) || (first == TCT_E_BUDGET && second == TCT_OK));
    assert_int_equal(count_runs(), 1);
    first_wins += first == TCT_OK;
  }
  print_message("the first process won %d of %d\n", first_wins, races);
  munmap((void *)ready, sizeof *ready);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_processes_for_the_last_of_the_budget_have_one_winner),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
