/* cmd_study.c - tacit study: several analyses of the same people within one budget, planned and charged as one. */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--plan", CLI_IN, offsetof(cli_args, plan), "PLAN.json",
     "the budget and the list of stages (docs/guide/study.md has the words of it)", "none, it must be given",
     "plan.json"},
    {0},
};

const cli_option cli_study_options[] = {
    {"--ledger", CLI_IN, offsetof(cli_args, config.ledger), "FILE",
     "budget ledger of the data set, charged once for all stages; beyond what is left it refuses with exit code 4",
     "no ledger", "people.ledger"},
    {"--input-changed", CLI_TEXT, offsetof(cli_args, config.input_changed), "REASON",
     "with --ledger: why the rows are others than at its earlier runs; kept in the ledger", "the rows must be the same",
     "corrected"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S",
     "repeatable noise, for tests: the study is marked reproducible and must not be published",
     "fresh noise from the operating system", "1"},
    {"--dry-run", CLI_FLAG, offsetof(cli_args, dry_run), NULL,
     "print what every stage may spend, without opening the data; needs --records", "off", NULL},
    {"--records", CLI_SIZE, offsetof(cli_args, records), "N", "for --dry-run: the public number of records",
     "none, --dry-run needs it", "50000"},
    {"-o", CLI_OUT, offsetof(cli_args, output), "STUDY.json", "the file of the study, written whole or not at all",
     "none, it must be given", "study.json"},
    {0},
};

const cli_option cli_stage_options[] = {
    {"--stage", CLI_TEXT, offsetof(cli_args, stage), "NAME", "of a study's file: the stage whose model is taken",
     "its main model", "income"},
    {0},
};

static int check(const cli_args *args) {
  const char *ranks = getenv("OMPI_COMM_WORLD_SIZE"); /* each would charge and draw for itself */
  if (ranks && atoi(ranks) > 1) return cli_fail(CLI_USAGE, "a study runs in one process; leave mpirun away");
  if (args->dry_run) {
    if (args->operands) return cli_fail(CLI_USAGE, "--dry-run opens no data; leave the file out, and give --records N");
    return args->records ? 0 : cli_fail(CLI_USAGE, "--dry-run needs --records N, the public number of records");
  }
  if (args->records) return cli_fail(CLI_USAGE, "--records is for --dry-run; without it the data are counted");
  if (!args->operands) return cli_fail(CLI_USAGE, "DATA is missing; name a file");
  if (!args->output) return cli_fail(CLI_USAGE, "-o is missing; name the file of the study, e.g. -o study.json");
  if (args->config.input_changed && !args->config.ledger)
    return cli_fail(CLI_USAGE, "--input-changed is an entry of a ledger; name one with --ledger");
  return 0;
}

char *cli_study_asked(cli_args *args, json_t *plan) {
  if (args->read.schema_path) json_object_set_new(plan, "schema", json_string(args->read.schema_path));
  args->read.schema_path = NULL;
  char *text = json_dumps(plan, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(plan);
  if (!text) cli_fail(CLI_RUN, "out of memory; close other programs");
  return text;
}

static void print_stage(const json_t *stage) {
  const json_t *share = json_object_get(stage, "share"), *event;
  const char *counts = cli_string(stage, "counts");
  size_t i;
  char mu[60] = "", as[60] = "";
  if (!isnan(cli_number(share, "mu"))) snprintf(mu, sizeof mu, ", mu %s", cli_real(cli_number(share, "mu")));
  if (strcmp(counts, "events") != 0) snprintf(as, sizeof as, ", a reserve in %s", counts);
  cli_line(cli_string(stage, "name"), "%s of %.0f records (%s): epsilon %s, delta %s%s%s", cli_string(stage, "kind"),
           cli_number(stage, "rows"), cli_string(stage, "part"), cli_real(cli_number(share, "epsilon")),
           cli_real(cli_number(share, "delta")), mu, as);
  json_array_foreach(json_object_get(stage, "events"), i, event) cli_line("", "%s", json_string_value(event));
}

static void print_plan(const json_t *root) {
  const json_t *stage;
  size_t i;
  json_array_foreach(json_object_get(root, "stages"), i, stage) print_stage(stage);
  cli_line("together", "epsilon %s, delta %s of a %s, %s%s%s", cli_real(cli_number(root, "epsilon")),
           cli_real(cli_number(root, "delta")), cli_string(root, "unit"), cli_string(root, "neighbours"),
           *cli_string(root, "accountant") ? ", proved by " : "", cli_string(root, "accountant"));
}

static int dry_run(const cli_args *args, const char *plan) {
  tct_error err = {0};
  char *text = tct_study_plan_json(plan, args->records, &err);
  return text ? cli_print_answer(text, args->json, print_plan) : cli_fail_error(&err);
}

static void warn(const cli_args *args, const json_t *root) {
  const json_t *fact, *stage;
  size_t i;
  json_array_foreach(json_object_get(json_object_get(root, "claim"), "unaccounted"), i, fact)
      cli_warn("UNACCOUNTED: %s; the stated epsilon does not cover this", json_string_value(fact));
  json_array_foreach(json_object_get(root, "stages"), i, stage) {
    if (json_object_get(stage, "ended"))
      cli_warn("stage \"%s\" has no value: %s", cli_string(stage, "name"), cli_string(stage, "ended"));
  }
  if (args->config.has_seed)
    cli_warn("--seed makes the noise reproducible: who knows the seed can take it away; do not publish this study");
}

static int report(const cli_args *args, char *text) {
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  const json_t *stage, *claim = json_object_get(root, "claim");
  size_t i;
  warn(args, root);
  if (args->show) {
    int code = args->show(args, root);
    return json_decref(root), code;
  }
  if (args->json) {
    json_t *answer = json_pack("{s:s, s:O?}", "study", args->output, "claim", claim);
    int code = cli_print_json(answer);
    json_decref(answer);
    return json_decref(root), code;
  }
  json_array_foreach(json_object_get(root, "stages"), i, stage) print_stage(stage);
  if (claim)
    cli_line("together", "epsilon %s, delta %s, %s, proved by %s", cli_real(cli_number(claim, "epsilon")),
             cli_real(cli_number(claim, "delta")), cli_string(claim, "neighbours"), cli_string(claim, "accountant"));
  cli_line(claim ? "study" : "model", "%s", args->output);
  json_decref(root);
  return 0;
}

static int run(cli_args *args, const char *plan) {
  tct_error err = {0};
  char *warning = NULL;
  args->config.output = args->output;
  cli_progress_start(&args->config);
  char *text = tct_study_run(plan, args->operand[0], NULL, &args->read, &args->config, &warning, &err);
  cli_progress_end();
  if (!text) return cli_fail_error(&err);
  if (warning) cli_warn("%s", warning);
  tct_text_free(warning);
  return report(args, text);
}

json_t *cli_study_plan(cli_args *args, json_t *stages) {
  const tct_config *c = &args->config;
  json_t *plan = json_pack("{s:o}", "stages", stages);
  if (c->epsilon == c->epsilon) json_object_set_new(plan, "epsilon", json_real(c->epsilon));
  if (c->delta == c->delta) json_object_set_new(plan, "delta", json_real(c->delta));
  if (args->neighbours) json_object_set_new(plan, "neighbours", json_string(args->neighbours));
  if (args->read.key) json_object_set_new(plan, "person", json_string(args->read.key));
  if (args->rows_per_person) json_object_set_new(plan, "rows_per_person", json_integer(args->rows_per_person));
  args->read.key = NULL;
  return plan;
}

int cli_study_run(cli_args *args, json_t *plan) {
  int code = check(args);
  if (!code) code = cli_fit_check_ledger(args);
  char *text = code ? NULL : cli_study_asked(args, plan);
  if (!text) return json_decref(plan), code ? code : CLI_RUN;
  code = args->dry_run ? dry_run(args, text) : run(args, text);
  free(text);
  return code;
}

static int run_study(cli_args *args) {
  json_error_t at;
  if (!args->plan) return cli_fail(CLI_USAGE, "--plan is missing; name the file with the budget and the stages");
  if (args->read.label || args->read.positive || args->classes || args->read.key)
    return cli_fail(CLI_USAGE,
                    "--label, --positive, --classes and --person are said in the plan of a study, for each stage; "
                    "write them there");
  json_t *plan = json_load_file(args->plan, JSON_REJECT_DUPLICATES, &at);
  if (plan) return cli_study_run(args, plan);
  return cli_fail(CLI_DATA, "%s:%d:%d: not a readable JSON plan; correct it near this place", args->plan, at.line,
                  at.column);
}

const cli_verb cli_study = {
    .name = "study",
    .operands = "DATA --plan PLAN.json -o STUDY.json [OPTION...]",
    .summary =
        "Runs several analyses of the same people within one budget: bounds that are estimated, models of several\n"
        "outcomes, and scores of them, planned and charged as one.",
    .details =
        "Planned as one, analyses may each spend more than their part of epsilon: six equal ones within epsilon 1 "
        "have\n"
        "0.38 each, and 0.17 if they are added up. All is fixed before anything is drawn, so that nobody can look at "
        "a\n"
        "study half-way; whoever needs to writes two studies and one ledger.\n"
        "\n"
        "The file is one claim over all stages (tacit verify). tacit predict, summary, evaluate, export and report "
        "take\n"
        "a stage of it with --stage.\n"
        "\n"
        "Examples\n"
        "  tacit study --plan plan.json --schema people.schema.json --dry-run --records 50000\n"
        "  tacit study people.csv --plan plan.json --schema people.schema.json --ledger people.ledger -o study.json\n"
        "  tacit predict study.json new.csv --stage income\n",
    .min = 0,
    .max = 1,
    .options = {options, cli_study_options, cli_read_options, cli_common_options},
    .run = run_study,
};
