/* cmd_account.c - tacit account: what events cost, or the one number that makes them cost so much. */
#include "curve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "in [0, 1); 0: pure epsilon", "none, it must be given",
     "1e-6"},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E",
     "calibrate: the one number that the events lack is found so that they cost at most E",
     "none, epsilon is what is computed", "1"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--curve", CLI_OUT, offsetof(cli_args, curve), "FILE.svg|FILE.csv",
     "write epsilon as a curve, drawn or as a table", "no curve", "curve.svg"},
    {"--against", CLI_CHOICE, offsetof(cli_args, against), "delta|steps",
     "the curve's axis: delta from 1e-12 to 0.1, or the steps done, at --delta", "delta", "steps"},
    {0},
};

static void print_accountants(const json_t *root) {
  const char *name;
  json_t *value;
  printf("\naccountant   epsilon\n");
  json_object_foreach(json_object_get(root, "accountants"), name, value) {
    const char *why = cli_string(json_object_get(root, "not_applicable"), name);
    if (json_is_number(value))
      printf("  %-10s %s%s\n", name, cli_real(json_number_value(value)),
             strcmp(name, cli_string(root, "accountant")) ? "" : "   <- the answer");
    else
      printf("  %-10s %s%s%s\n", name, *why ? "-" : "infinite", *why ? "   " : "", why);
  }
}

static void print_answer(const json_t *root) {
  static const char *const calibrated[] = {"noise", "count", "rate", "rho"};
  const json_t *event;
  double lower = cli_number(root, "epsilon_lower");
  size_t i;
  for (i = 0; i < sizeof calibrated / sizeof *calibrated; i++)
    if (json_object_get(root, calibrated[i])) cli_line(calibrated[i], "%s", cli_real(cli_number(root, calibrated[i])));
  if (json_is_null(json_object_get(root, "epsilon")))
    cli_line("epsilon", "infinite: these events hide nothing at this delta");
  else
    cli_line("epsilon", lower > 0 ? "%s   (proved; the true one is at least %s)" : "%s   (proved)",
             cli_real(cli_number(root, "epsilon")), cli_real(lower));
  cli_line("delta", "%s", cli_real(cli_number(root, "delta")));
  cli_line("neighbours", "%s", cli_string(root, "neighbours"));
  json_array_foreach(json_object_get(root, "events"), i, event)
      cli_line(i ? "" : "events", "%s", json_string_value(event));
  print_accountants(root);
}

static int run_account(cli_args *args) {
  tct_error err = {0};
  if (args->curve) return cli_curve(args);
  if (args->against) return cli_fail(CLI_USAGE, "--against belongs to --curve FILE; give both");
  if (isnan(args->config.delta)) return cli_fail(CLI_USAGE, "--delta is missing; give e.g. --delta 1e-6");
  const tct_config *c = &args->config;
  const char *const *events = (const char *const *)args->operand;
  size_t count = (size_t)args->operands;
  tct_neighbours neighbours = (tct_neighbours)c->neighbours;
  char *text = isnan(c->epsilon) ? tct_account_json(events, count, neighbours, c->delta, &err)
                                 : tct_calibrate_json(events, count, neighbours, c->epsilon, c->delta, &err);
  if (!text) return cli_fail_error(&err);
  return cli_print_answer(text, args->json, print_answer);
}

const cli_verb cli_account = {
    .name = "account",
    .operands = "EVENT... --delta D [--epsilon E] [OPTION...]",
    .summary =
        "Computes the epsilon of a list of mechanism events, composed in any order; the smallest bound that an\n"
        "accountant proves. With --epsilon it finds the one number that is left out.",
    .details =
        "Events (tacit components event tells more; count is 1 unless given):\n"
        "  gaussian:noise=M,count=K            noise M is standard deviation / sensitivity of one record\n"
        "  sampled_gaussian:noise=M,rate=Q,count=K   over a Poisson sample, each record with chance Q\n"
        "  laplace:noise=B,count=K             noise B is scale / sensitivity of one record in the l1 norm\n"
        "  exponential:epsilon=E,count=K       pure:epsilon=E   approx:epsilon=E,delta=D   zcdp:rho=R\n"
        "  objpert:noise=M,shift=A\n"
        "To calibrate leave out noise, rate, epsilon or rho of one event, or write count=? for its count.\n"
        "\n"
        "Examples\n"
        "  tacit account sampled_gaussian:noise=1.1,rate=0.01,count=10000 --delta 1e-6\n"
        "  tacit account sampled_gaussian:rate=0.01,count=10000 --epsilon 1 --delta 1e-6\n"
        "  tacit account gaussian:noise=20,count=? --epsilon 1 --delta 1e-6 --json\n"
        "  tacit account sampled_gaussian:noise=1.1,rate=0.01,count=10000 --curve loss.svg\n",
    .min = 1,
    .max = 100000,
    .options = {options, cli_common_options},
    .words = 1,
    .run = run_account,
};
