/* cmd_serve.c - tacit serve: trains with parties that keep their columns to themselves. */
#include "cli.h"

#include <stddef.h>

static const cli_option options[] = {
    {"--listen", CLI_TEXT, offsetof(cli_args, session.address), "HOST:PORT",
     "where the parties come to; under mpirun this rank is 0 and there is no address", "none, it must be given",
     "0.0.0.0:7000"},
    {"--parties", CLI_COUNT, offsetof(cli_args, parties), "K",
     "how many parties will come; under mpirun: all other ranks", "none, it must be given", "2"},
    {"--loss", CLI_TEXT, offsetof(cli_args, config.loss), "SPEC", "what is minimised: squared, logistic, huber, ...",
     "none, it must be given", "squared"},
    {"--penalty", CLI_TEXT, offsetof(cli_args, config.penalty), "SPEC",
     "the ball: l1ball:radius=...; gram_parties: any of tacit components penalty that it solves",
     "none, it must be given", "l1ball:radius=1"},
    {"--solver", CLI_TEXT, offsetof(cli_args, config.solver), "SPEC",
     "dpfw_parties or gram_parties with options (tacit components solver NAME); the second is as good as pooled, and "
     "trusts this server to conspire with no party",
     "dpfw_parties, all by rule", "gram_parties"},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E", "total privacy loss of the whole run, above 0",
     "none, it must be given", "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "in (0, 1); well below 1 / number of records",
     "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--row-norm", CLI_REAL, offsetof(cli_args, config.row_norm), "R",
     "each party brings its own part of every record to norm at most R", "none, it must be given", "1"},
    {"--rows", CLI_CHOICE, offsetof(cli_args, rows), "clip|unit",
     "clip: longer records are shortened to R; unit: every record is scaled to exactly R", "clip", "unit"},
    {"--label-bound", CLI_REAL, offsetof(cli_args, config.label_bound), "Y",
     "real-valued labels, less their shift, are clipped to [-Y, Y]; in the label's unit",
     "none, a loss with real-valued labels needs it", "1"},
    {"--label-shift", CLI_REAL, offsetof(cli_args, config.label_shift), "S",
     "public number taken off the labels; in the label's unit", "0", "50"},
    {"-o", CLI_OUT, offsetof(cli_args, output), "MODEL.json", "the model file; replaced whole or not at all",
     "none, it must be given", "model.json"},
    {0},
};

static int print_model(const cli_args *args, const tct_model *model) {
  tct_error err = {0};
  const json_t *each;
  size_t i;
  char *text = tct_model_json(model, &err);
  json_t *root = text ? cli_take_json(text) : NULL;
  if (!root) return text ? CLI_RUN : cli_fail_error(&err);
  json_t *parties = json_object_get(root, "parties"), *privacy = json_object_get(root, "privacy");
  int code = 0;
  if (args->json) {
    json_t *o = json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:s}", "solver", json_object_get(root, "solver"), "rows",
                          json_object_get(root, "rows"), "columns", json_object_get(root, "columns"), "epsilon",
                          json_object_get(privacy, "epsilon"), "delta", json_object_get(privacy, "delta"), "events",
                          json_object_get(privacy, "events"), "parties", parties, "model", args->output);
    code = cli_print_json(o);
    json_decref(o);
  } else {
    cli_line("solver", "%s", cli_string(root, "solver"));
    json_array_foreach(json_object_get(parties, "observers"), i, each)
        cli_line(i ? "" : "observers", "%s: epsilon %s, of %s", cli_string(each, "who"),
                 cli_real(cli_number(each, "epsilon")), cli_string(each, "about"));
    cli_line("uplink", "%.0f bytes (one-shot sketches of all columns: %.0f)", cli_number(parties, "uplink_bytes"),
             cli_number(parties, "one_shot_bytes"));
    cli_line("model", "%s", args->output);
  }
  json_decref(root);
  return code;
}

static int run_serve(cli_args *args) {
  tct_error err = {0};
  tct_team *team = NULL;
  if (!args->output) return cli_fail(CLI_USAGE, "-o is missing; name the model file, e.g. -o model.json");
  if (args->session.address && (args->parties < 1 || args->parties > 64))
    return cli_fail(CLI_USAGE, "--parties K is missing; say how many will come, from 1 to 64");
  args->session.parties = (int32_t)args->parties;
  args->config.output = args->output;
  int code = cli_wire_begin(args, "--listen", &team);
  if (code) return code;
  cli_progress_start(&args->config);
  tct_model *model = tct_serve(&args->config, &args->session, &err);
  cli_progress_end();
  code = model ? print_model(args, model) : cli_fail_error(&err);
  tct_model_free(model);
  tct_team_free(team);
  return code;
}

const cli_verb cli_serve = {
    .name = "serve",
    .operands =
        "--listen HOST:PORT --parties K --cert C --private-key P --ca A --loss SPEC --penalty l1ball:radius=R\n"
        "      --epsilon E --delta D --row-norm R -o MODEL.json [OPTION...]",
    .summary =
        "Trains with parties that hold different columns of the same people and pool none of them.\n"
        "The server sees what the parties release under differential privacy; with gram_parties also the seeds of\n"
        "masks, whose use it never sees.",
    .details =
        "Over the network: TLS 1.3, with certificates of one authority on both sides.  Under mpirun, rank 0 serves:\n"
        "  mpirun -n 1 tacit serve ... : -n 1 tacit party A.csv ... : -n 1 tacit party B.csv ...\n"
        "A party that is not who it says, has a seed or too little budget, stops, or stays silent ends the run. All\n"
        "reserve before anybody is charged; what was charged stays charged.\n"
        "docs/guide/parties.md tells what it costs not to pool, and what each observer can learn.\n"
        "\n"
        "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 the parties' records do not match,\n"
        "4 privacy budget refused.\n",
    .min = 0,
    .max = 0,
    .options = {options, cli_wire_options, cli_common_options},
    .run = run_serve,
};
