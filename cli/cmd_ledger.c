/* cmd_ledger.c - tacit ledger: makes, shows and checks the budget ledger of a data set. */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--init", CLI_FLAG, offsetof(cli_args, init), NULL, "make the ledger; needs --epsilon and --delta", "off", NULL},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E", "with --init: total of all runs on this data set",
     "none, --init needs it", "2"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D",
     "with --init: likewise; below 1 / number of records; 0: pure epsilon alone", "none, --init needs it", "1e-5"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "with --init: the relation that every run must have", "add_remove", "replace_one"},
    {"--filter", CLI_CHOICE, offsetof(cli_args, filter), "mixed|sum|zcdp|gdp|rdp",
     "with --init: how runs add up; mixed takes every run and sum does too; the others take only runs whose events "
     "have "
     "such a cost",
     "mixed", "zcdp"},
    {"--name", CLI_TEXT, offsetof(cli_args, name), "TEXT", "with --init: words that say which data set this is",
     "no name", "people of 2026"},
    {"--unit", CLI_CHOICE, offsetof(cli_args, unit), "record|person",
     "with --init: whom the budget counts; a run that protects the other is refused", "record", "person"},
    {"--people", CLI_TEXT, offsetof(cli_args, people), "TEXT", "with --init: whose budget this is", "not said",
     "patients of ward 3"},
    {"--for-tests", CLI_FLAG, offsetof(cli_args, for_tests), NULL,
     "with --init: take runs with --seed, too; the ledger and all its models are marked, and protect nobody", "off",
     NULL},
    {"--anchor", CLI_OUT, offsetof(cli_args, anchor), "FILE",
     "keep the newest row's hash in this new file, best on another disk: a ledger that was rolled back disagrees with "
     "it and is charged no more; with --init, or alone for a ledger that is there",
     "no anchor", "/mnt/other/ward.anchor"},
    {"--anchor-lost", CLI_TEXT, offsetof(cli_args, anchor_lost), "REASON",
     "with --anchor: the anchor of before is gone, and how; becomes a row of the ledger, which from then on says that "
     "it "
     "may have been rolled back before",
     "the anchor of before must agree", "the disk broke"},
    {"--check", CLI_FLAG, offsetof(cli_args, check), NULL,
     "was the file edited, cut short or rolled back? With models (any number, also their anchors): are their runs in "
     "it?",
     "off", NULL},
    {0},
};

static int run_init(const cli_args *args) {
  tct_error err = {0};
  if (args->operands > 1) return cli_fail(CLI_USAGE, "--init takes one file name; leave the others out");
  if (isnan(args->config.epsilon))
    return cli_fail(CLI_USAGE, "--epsilon is missing; give the budget, e.g. --epsilon 2");
  if (isnan(args->config.delta)) return cli_fail(CLI_USAGE, "--delta is missing; give the budget's, e.g. --delta 1e-5");
  tct_ledger_options budget;
  tct_ledger_options_default(&budget);
  budget.name = args->name;
  budget.filter = args->filter;
  budget.epsilon = args->config.epsilon;
  budget.delta = args->config.delta;
  budget.neighbours = args->config.neighbours;
  budget.persons = args->unit && !strcmp(args->unit, "person");
  budget.for_tests = args->for_tests;
  budget.people = args->people;
  budget.anchor = args->anchor;
  return tct_ledger_make(args->operand[0], &budget, &err) == TCT_OK ? 0 : cli_fail_error(&err);
}

static int run_anchor(const cli_args *args) {
  tct_error err = {0};
  if (args->operands > 1) return cli_fail(CLI_USAGE, "--anchor takes one ledger; leave the others out");
  return tct_ledger_anchor(args->operand[0], args->anchor, args->anchor_lost, &err) == TCT_OK ? 0
                                                                                              : cli_fail_error(&err);
}

static void print_run(const json_t *run, size_t number) {
  const json_t *event;
  size_t i;
  printf("\n%zu. %s   epsilon %s, delta %s   %s\n", number, cli_string(run, "time"),
         cli_real(cli_number(run, "epsilon")), cli_real(cli_number(run, "delta")), cli_string(run, "id"));
  printf("   %s\n", cli_string(run, "what"));
  json_array_foreach(json_object_get(run, "events"), i, event) printf("   %s\n", json_string_value(event));
  if (json_is_true(json_object_get(run, "seeded")))
    printf("   SEEDED: its noise can be reproduced and protects nobody\n");
  json_array_foreach(json_object_get(run, "unaccounted"), i, event)
      printf("   UNACCOUNTED: %s\n", json_string_value(event));
}

/* Whose budget it is. */
static void print_identity(const json_t *root) {
  const json_t *change;
  size_t i;
  cli_line("unit", "%s", cli_string(root, "unit"));
  if (cli_string(root, "people")[0]) cli_line("people", "%s", cli_string(root, "people"));
  if (json_is_true(json_object_get(root, "for_tests")))
    cli_line("FOR TESTS", "reproducible noise is taken: no run of this ledger is a guarantee");
  if (cli_string(root, "anchor")[0]) cli_line("anchor", "%s", cli_string(root, "anchor"));
  json_array_foreach(json_object_get(root, "lost_anchors"), i, change)
      cli_line("ANCHOR LOST", "%s: %s; nobody can tell whether the ledger was rolled back before",
               cli_string(change, "time"), cli_string(change, "reason"));
  json_array_foreach(json_object_get(root, "changes"), i, change)
      cli_line("input changed", "%s: %s", cli_string(change, "time"), cli_string(change, "reason"));
}

/* What others cannot have now, and what ended by itself: a run that was broken off before it was charged. */
static void print_reserved(const json_t *root) {
  const json_t *each;
  size_t i;
  json_array_foreach(json_object_get(root, "reservations"), i, each) {
    const char *state = cli_string(each, "state");
    if (!strcmp(state, "reserved") || !strcmp(state, "ended"))
      cli_line(state, "epsilon %s, delta %s %s %s: %s", cli_real(cli_number(each, "epsilon")),
               cli_real(cli_number(each, "delta")), *state == 'r' ? "until" : "uncharged, at", cli_string(each, "end"),
               cli_string(each, "what"));
  }
}

/* What stands beside the sum, so that nobody takes it for more. */
static void print_gaps(const json_t *root) {
  double unaccounted = cli_number(root, "unaccounted_runs"), seeded = cli_number(root, "seeded_runs");
  if (unaccounted > 0)
    cli_line("UNACCOUNTED", "%.0f of the runs used the data in ways that no epsilon covers: the sum is no guarantee",
             unaccounted);
  if (seeded > 0)
    cli_line("SEEDED", "%.0f of the runs have noise that can be reproduced: the sum is no guarantee", seeded);
}

static void print_state(const json_t *root) {
  const json_t *spent = json_object_get(root, "spent"), *left = json_object_get(root, "left");
  const json_t *information = json_object_get(root, "information");
  cli_line("ledger", "%s", cli_string(root, "name"));
  cli_line("budget", "epsilon %s, delta %s, %s, since %s", cli_real(cli_number(root, "epsilon")),
           cli_real(cli_number(root, "delta")), cli_string(root, "neighbours"), cli_string(root, "created"));
  print_identity(root);
  cli_line("filter", "%s", cli_string(root, "filter"));
  cli_line("runs", "%zu", json_array_size(json_object_get(root, "runs")));
  cli_line("spent", "epsilon %s, delta %s", cli_real(cli_number(spent, "epsilon")),
           cli_real(cli_number(spent, "delta")));
  print_gaps(root);
  print_reserved(root);
  cli_line("left", "epsilon %s, delta %s", cli_real(cli_number(left, "epsilon")), cli_real(cli_number(left, "delta")));
  if (cli_string(left, "unit")[0] != 'e')
    cli_line("", "in %s: %s spent, %s left", cli_string(left, "unit"), cli_real(cli_number(spent, "amount")),
             cli_real(cli_number(left, "amount")));
  if (json_is_integer(json_object_get(left, "runs")))
    cli_line("", "%.0f more runs like the last one", cli_number(left, "runs"));
  if (json_is_string(json_object_get(information, "accountant")))
    cli_line("information", "as one list fixed in advance the events cost epsilon %s by %s (permits nothing)",
             cli_real(cli_number(information, "epsilon")), cli_string(information, "accountant"));
}

static int run_show(const cli_args *args) {
  tct_error err = {0};
  int code = 0;
  if (args->operands > 1) return cli_fail(CLI_USAGE, "model files are for --check; name one ledger");
  char *text = tct_ledger_json(args->operand[0], &err);
  if (!text) return cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  if (args->json) {
    code = cli_print_json(root);
  } else {
    const json_t *run;
    size_t i;
    print_state(root);
    json_array_foreach(json_object_get(root, "runs"), i, run) print_run(run, i + 1);
  }
  json_decref(root);
  return code;
}

static int run_check(const cli_args *args) {
  tct_error err = {0};
  char *text =
      tct_ledger_check_json(args->operand[0], (const char *const *)args->operand + 1, (size_t)args->operands - 1, &err);
  if (!text) return cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  int code = json_is_true(json_object_get(root, "ok")) ? 0 : CLI_RUN;
  const json_t *check;
  size_t i;
  if (args->json) {
    int printed = cli_print_json(root);
    code = printed ? printed : code;
  } else {
    json_array_foreach(json_object_get(root, "checks"), i, check)
        printf("%-5s %-22s %s\n", json_is_true(json_object_get(check, "ok")) ? "ok" : "FAIL", cli_string(check, "name"),
               cli_string(check, "text"));
  }
  json_decref(root);
  return code ? cli_fail(code, "the ledger does not pass its check; restore it from a backup and compare") : 0;
}

static int run_ledger(cli_args *args) {
  if (args->anchor_lost && (!args->anchor || args->init))
    return cli_fail(CLI_USAGE, "--anchor-lost needs --anchor with the new one, and a ledger that is there");
  if (args->init && args->check) return cli_fail(CLI_USAGE, "--init and --check exclude each other; give one");
  if (args->init) return run_init(args);
  if (args->anchor && args->check)
    return cli_fail(CLI_USAGE, "--anchor keeps one from now on; to compare with one, name it after --check");
  if (!isnan(args->config.epsilon) || !isnan(args->config.delta) || args->name || args->filter || args->neighbours ||
      args->unit || args->people || args->for_tests)
    return cli_fail(CLI_USAGE, "a ledger's budget is fixed when it is made; these options belong to --init");
  if (args->anchor) return run_anchor(args);
  return args->check ? run_check(args) : run_show(args);
}

const cli_verb cli_ledger = {
    .name = "ledger",
    .operands = "FILE [--init --epsilon E --delta D | --check [MODEL.json...]] [OPTION...]",
    .summary =
        "Keeps the privacy budget of one data set over many runs. Every run with --ledger FILE writes what it may\n"
        "spend to the file before it draws noise, and is refused when too little is left.",
    .details =
        "A run that fails or is killed stays charged: what it did before is not known. Nothing is ever refunded.\n"
        "Copies are backups, not second budgets. The file also holds a key and keyed fingerprints of the rows, so "
        "that\n"
        "changed input is noticed (train --input-changed): keep it as secret as the table; its export is public.\n"
        "A registry beside your settings (~/.config/tacit/tables, or $TACIT_REGISTRY) warns when a table is charged to "
        "a\n"
        "second ledger: it holds a key and hashes of rows, and is as secret. The registries of other users and "
        "machines "
        "are\n"
        "not seen.\n"
        "\n"
        "Examples\n"
        "  tacit ledger people.ledger --init --epsilon 2 --delta 1e-5 --name \"people 2026\"\n"
        "  tacit train people.csv ... --epsilon 0.5 --delta 1e-6 --ledger people.ledger -o model.json\n"
        "  tacit ledger people.ledger\n"
        "  tacit ledger people.ledger --check model.json\n"
        "  tacit ledger ward.ledger --init --epsilon 2 --delta 1e-5 --unit person --people \"patients of ward 3, "
        "2024\" \\\n"
        "      --anchor /mnt/other/ward.anchor\n"
        "\n"
        "Exit codes: 0 done or in order, 1 not in order or unreadable, 2 wrong usage, 3 damaged or edited.\n",
    .min = 1,
    .max = 100000,
    .options = {options, cli_common_options},
    .run = run_ledger,
};
