/* cmd_party.c - tacit party: takes part in a training with its own columns, and releases no more than it agreed to. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--connect", CLI_TEXT, offsetof(cli_args, session.address), "HOST:PORT",
     "the server; its certificate must be for HOST. Under mpirun: none, rank 0 serves", "none, it must be given",
     "server.example:7000"},
    {"--solver", CLI_TEXT, offsetof(cli_args, config.solver), "SPEC",
     "the solver that was agreed on, with the options that were. gram_parties:collude=2 refuses a server that asks for "
     "another solver or another collude",
     "dpfw_parties", "gram_parties:collude=2"},
    {"--listen", CLI_TEXT, offsetof(cli_args, session.listen), "HOST:PORT",
     "gram_parties: where the other parties come to; port 0 takes a free one", "none, gram_parties needs it",
     "0.0.0.0:7001"},
    {"--announce", CLI_TEXT, offsetof(cli_args, session.announce), "HOST:PORT",
     "the same as the others reach it, where that is another address", "that of --listen", "ward.example:7001"},
    {"--key", CLI_TEXT, offsetof(cli_args, read.key), "NAME",
     "column of the records' keys, by which the parties' records are matched", "by position", "person_id"},
    {"--secret", CLI_IN, offsetof(cli_args, session.secret), "FILE",
     "at least 32 random bytes that all parties have and the server has not: keys are compared hashed under it",
     "none, keys need it", "parties.secret"},
    {"--loss", CLI_TEXT, offsetof(cli_args, config.loss), "SPEC",
     "the loss that was agreed on; it decides how labels are read", "none, it must be given", "squared"},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E", "the most that this party agrees to spend",
     "none, it must be given", "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "the delta that this party agrees to spend",
     "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "the relation that was agreed on", "add_remove", "replace_one"},
    {"--ledger", CLI_IN, offsetof(cli_args, config.ledger), "FILE",
     "budget ledger of this party's data set: reserved until --timeout, and charged once all parties have reserved, "
     "before the first release",
     "no ledger", "ward.ledger"},
    {"--transcript", CLI_OUT, offsetof(cli_args, session.transcript), "FILE",
     "every message that leaves this party, one JSON line each", "no transcript", "sent.jsonl"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S",
     "repeatable noise, for tests: all parties have a seed or nobody, and the model must not be published",
     "fresh noise from the operating system", "1"},
    {"-o", CLI_OUT, offsetof(cli_args, output), "MODEL.json", "also write the model here", "the server alone writes it",
     "model.json"},
    {0},
};

static int report(const cli_args *args, const tct_model *model) {
  int64_t cols;
  tct_model_shape(model, NULL, &cols);
  if (args->config.has_seed)
    cli_warn("--seed makes the noise reproducible: who knows the seed can take it away; do not publish this model");
  if (args->json) {
    json_t *o = json_pack("{s:I, s:s?}", "columns", (json_int_t)cols, "model", args->output);
    int code = cli_print_json(o);
    json_decref(o);
    return code;
  }
  cli_line("done", "a model of %lld columns, all parties together", (long long)cols);
  cli_line("receipt", "the server has written this model, and it is the one of the rounds");
  if (args->output) cli_line("model", "%s", args->output);
  return 0;
}

static int take_part(cli_args *args, const tct_data *data) {
  tct_error err = {0};
  cli_progress_start(&args->config);
  tct_model *model = tct_join(&args->config, data, &args->session, &err);
  cli_progress_end();
  tct_status status = model ? TCT_OK : err.status;
  if (model && args->output) status = tct_model_write(model, args->output, &err);
  int code = status == TCT_OK ? report(args, model) : cli_fail_error(&err);
  tct_model_free(model);
  return code;
}

/* Where one party alone brings labels, the others name no label. */
static int wants_labels(const cli_args *args) {
  const char *agreed = args->config.solver;
  return !agreed || strncmp(agreed, "gram_parties", 12) != 0 || args->read.label || args->read.schema_path ||
         !strstr(agreed, "labels=one");
}

static int check_args(cli_args *args) {
  if (!args->config.loss) return cli_fail(CLI_USAGE, "--loss is missing; give the one that the server trains with");
  if (!args->session.secret)
    return cli_fail(CLI_USAGE, "--secret is missing; share a file of 32 random bytes or more among the parties");
  args->read.labels = wants_labels(args) ? tct_config_labels(&args->config) : TCT_LABELS_NONE;
  if (args->read.labels < 0) return cli_fail(CLI_USAGE, "there is no such loss; `tacit components loss` lists them");
  return cli_wire_check(args);
}

/* The data come first: a party that cannot read them never lets the others wait. */
static int run_party(cli_args *args) {
  tct_error err = {0};
  tct_team *team = NULL;
  int code = check_args(args);
  if (code) return code;
  tct_data *data = tct_data_read(args->operand[0], &args->read, &err);
  if (!data) return cli_fail_error(&err);
  code = cli_wire_begin(args, "--connect", &team);
  if (!code) code = take_part(args, data);
  tct_team_free(team);
  tct_data_free(data);
  return code;
}

const cli_verb cli_party = {
    .name = "party",
    .operands =
        "DATA --connect HOST:PORT --cert C --private-key P --ca A --key NAME --secret FILE --loss SPEC\n"
        "      --epsilon E --delta D [--solver gram_parties --listen HOST:PORT] [OPTION...]",
    .summary =
        "Takes part in a training with its own columns of records that other parties hold columns of too.\n"
        "What leaves this party under dpfw_parties is charged first: choices and noised sketches of columns. Under\n"
        "gram_parties masked columns go to the other parties, and one masked, noised sum to the server.",
    .details =
        "DATA has this party's features, the labels and a column of keys.  Every party has the labels; with\n"
        "gram_parties:labels=one a single party brings them, and the others give no --label.\n"
        "The plan that the server asks for is made again here and refused if it costs more than --epsilon, --delta.\n"
        "Who stops before all parties have reserved costs nobody anything. A party that has no receipt at the end "
        "does\n"
        "not know whether there is a model: the server does.\n"
        "\n"
        "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused.\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_wire_options, cli_read_options, cli_common_options},
    .run = run_party,
};
