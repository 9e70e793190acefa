/* cmd_audit.c - tacit audit: attacks the promise of a plan on invented tables. */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--loss", CLI_TEXT, offsetof(cli_args, config.loss), "SPEC", "as in tacit train", "none, it must be given",
     "logistic"},
    {"--penalty", CLI_TEXT, offsetof(cli_args, config.penalty), "SPEC", "as in tacit train", "none", "l2:lambda=1e-2"},
    {"--solver", CLI_TEXT, offsetof(cli_args, config.solver), "SPEC", "as in tacit train", "auto: chosen by rule",
     "dpgd:clip=0.1"},
    {"--plan", CLI_IN, offsetof(cli_args, plan), "PLAN.json",
     "of a study: estimates, fits, scores and moments are attacked together, and the plan says what the other options "
     "would; needs --records, and tacit-audit",
     "one fit", "plan.json"},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E", "the promise, above 0", "none, it must be given",
     "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "in [0, 1)", "1e-6", "1e-5"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--shape", CLI_TEXT, offsetof(cli_args, shape), "N,P",
     "public number of records and of features; small tables are attacked often", "24,4", "50,3"},
    {"--schema", CLI_IN, offsetof(cli_args, read.schema_path), "FILE.json",
     "public bounds instead of --row-norm, --label-bound and P; needs --records", "no schema", "people.schema.json"},
    {"--records", CLI_SIZE, offsetof(cli_args, records), "N", "with --schema or --plan: the public number of records",
     "none, these need it", "24"},
    {"--row-norm", CLI_REAL, offsetof(cli_args, config.row_norm), "R", "as in tacit train", "1", "2"},
    {"--label-bound", CLI_REAL, offsetof(cli_args, config.label_bound), "Y", "as in tacit train", "1", "10"},
    {"--rows", CLI_CHOICE, offsetof(cli_args, rows), "clip|unit", "as in tacit train", "clip", "unit"},
    {"--label-shift", CLI_REAL, offsetof(cli_args, config.label_shift), "S", "as in tacit train", "0", "50"},
    {"--no-intercept", CLI_OFF, offsetof(cli_args, config.intercept), NULL, "no constant feature", "there is one",
     NULL},
    {"--errors", CLI_CHOICE, offsetof(cli_args, config.errors), "none|model|robust", "as in tacit train", "none",
     "robust"},
    {"--seconds", CLI_REAL, offsetof(cli_args, seconds), "S", "about how many processor seconds", "60", "10"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S", "of the invented tables", "1", "7"},
    {0},
};

/* ---- the shape --------------------------------------------------------------------------------------------------- */

static int settle(cli_args *args, int64_t *rows, int64_t *cols) {
  tct_config *c = &args->config;
  if (!c->loss) return cli_fail(CLI_USAGE, "--loss is missing; give one, e.g. --loss logistic");
  if (!(c->epsilon > 0)) return cli_fail(CLI_USAGE, "--epsilon must be above 0; give e.g. --epsilon 1");
  if (args->records && !args->read.schema_path) return cli_public_shape(args, rows, cols); /* it says why not */
  if (isnan(c->delta)) c->delta = 1e-6;
  *rows = 24, *cols = 4;
  int code = args->read.schema_path || args->shape ? cli_public_shape(args, rows, cols) : 0;
  if (isnan(c->row_norm)) c->row_norm = 1;
  if (isnan(c->label_bound) && tct_config_labels(c) == TCT_LABELS_REAL) c->label_bound = 1;
  return code;
}

/* The plan of a study as text; NULL: none was asked for, or *code after one sentence. */
static char *asked(cli_args *args, int *code) {
  json_error_t at;
  tct_config *c = &args->config;
  if (!args->plan) return NULL;
  *code = CLI_USAGE;
  if (c->loss || c->solver || isfinite(c->epsilon) || args->shape)
    return cli_fail(CLI_USAGE, "the plan of a study says what is fitted, and for which epsilon; give --records alone"),
           NULL;
  if (!args->records) return cli_fail(CLI_USAGE, "--plan needs --records N, the public number of records"), NULL;
  json_t *plan = json_load_file(args->plan, JSON_REJECT_DUPLICATES, &at);
  *code = plan ? 0
               : cli_fail(CLI_DATA, "%s:%d:%d: not a readable JSON plan; correct it near this place", args->plan,
                          at.line, at.column);
  return plan ? cli_study_asked(args, plan) : NULL;
}

/* ---- the answer ---------------------------------------------------------------------------------------------------
 */

static void print_releases(const json_t *root) {
  const json_t *release, *part = json_object_get(root, "sensitivity");
  size_t i;
  json_array_foreach(json_object_get(part, "releases"), i, release) {
    char share[64] = "not a sum", noise[64] = "";
    if (json_is_number(json_object_get(release, "share")))
      snprintf(share, sizeof share, "%.6g of the planned sensitivity", cli_number(release, "share"));
    if (json_is_number(json_object_get(release, "noise_ratio")))
      snprintf(noise, sizeof noise, ", noise %.3f of the planned", cli_number(release, "noise_ratio"));
    cli_line(i ? "" : "sensitivity", "%s: %s%s, %.0f times", cli_string(release, "name"), share, noise,
             cli_number(release, "made"));
  }
}

static void print_duel(const json_t *root, const char *key, const char *name) {
  const json_t *part = json_object_get(root, key);
  if (!json_is_object(part)) return;
  cli_line(name, "mu at least %.4g of %.4g claimed (%.2f), %.0f runs, error %g", cli_number(part, "mu_lower"),
           cli_number(part, "mu_claimed"), cli_number(part, "share"), cli_number(part, "runs"),
           cli_number(part, "error"));
}

static void print_audit(const json_t *root) {
  const json_t *plan = json_object_get(root, "plan"), *part, *text;
  size_t i;
  if (json_object_get(plan, "stages"))
    cli_line("study", "of %zu stages", json_array_size(json_object_get(plan, "stages")));
  else
    cli_line("solver", "%s", cli_string(plan, "solver"));
  cli_line("claim", "epsilon %s, delta %s, %s", cli_real(cli_number(plan, "epsilon")),
           cli_real(cli_number(plan, "delta")), cli_string(plan, "neighbours"));
  cli_line("attacks", "%.0f runs on invented tables", cli_number(json_object_get(root, "audit"), "attacks"));
  print_releases(root);
  print_duel(root, "white_box", "releases");
  print_duel(root, "black_box", "models");
  part = json_object_get(root, "canaries");
  if (json_is_object(part))
    cli_line("canaries", "%.0f of %.0f guesses right: epsilon at least %.3g", cli_number(part, "right"),
             cli_number(part, "guesses"), cli_number(part, "epsilon_lower"));
  part = json_object_get(root, "behaviour");
  if (json_is_object(part)) cli_line("behaviour", "%.0f pairs of neighbours compared", cli_number(part, "pairs"));
  cli_line("arithmetic", "%zu checks", json_array_size(json_object_get(json_object_get(root, "arithmetic"), "checks")));
  json_array_foreach(json_object_get(root, "not_checked"), i, text)
      cli_line(i ? "" : "not checked", "%s", json_string_value(text));
  json_array_foreach(json_object_get(root, "breaks"), i, text) cli_line("BREAK", "%s", json_string_value(text));
  if (json_is_false(json_object_get(root, "broken"))) cli_line("result", "no break was found");
}

/* The first of what the plan has and no attack moved; NULL: there is none. */
static const char *unmoved(const json_t *root) {
  return json_string_value(json_array_get(json_object_get(root, "unmoved"), 0));
}

static int run_audit(cli_args *args) {
  tct_error err = {0};
  int64_t rows = 0, cols = 0;
  int code = 0;
  char *study = asked(args, &code);
  if (!code && !study) code = settle(args, &rows, &cols);
  if (code) return code;
  if (study) rows = args->records;
  double seconds = isnan(args->seconds) ? 60 : args->seconds;
  char *text = tct_audit_json(&args->config, study, rows, cols, seconds, args->has_seed ? args->config.seed : 1, &err);
  free(study);
  if (!text) return cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  size_t breaks = json_array_size(json_object_get(root, "breaks"));
  if (args->json)
    code = cli_print_json(root);
  else
    print_audit(root);
  char still[200];
  snprintf(still, sizeof still, "%s", unmoved(root) ? unmoved(root) : "");
  json_decref(root);
  if (breaks)
    return cli_fail(CLI_RUN, "the audit broke the promise of this plan in %zu ways; report it (SECURITY.md)", breaks);
  if (still[0]) return cli_fail(CLI_RUN, "no attack moved \"%s\", which this plan has; give more --seconds", still);
  return code;
}

const cli_verb cli_audit = {
    .name = "audit",
    .operands = "--loss SPEC --epsilon E [OPTION...] or --plan PLAN.json --records N",
    .summary =
        "Tries to break the promise of a plan, on tables that it invents; it opens no data.\n"
        "It searches neighbours that move a release too far, tells runs apart, compares what\n"
        "else can be seen, and checks the arithmetic of the claim.",
    .details =
        "Breaks are declared at an error of 1e-6 for each comparison; sensitivities and endings without any.\n"
        "tacit-audit, which the build makes beside tacit and never installs, also sees and forces every release.\n"
        "\n"
        "Examples\n"
        "  tacit audit --loss logistic --solver dpgd:clip=0.1 --epsilon 2\n"
        "  tacit-audit audit --plan plan.json --schema people.schema.json --records 24\n"
        "  tacit audit --loss logistic --epsilon 1 --delta 1e-6 --schema people.schema.json --records 50000 --json\n"
        "\n"
        "Exit codes: 0 no break found, 1 a break, or failure while running, 2 wrong usage, 3 bad schema.\n",
    .min = 0,
    .max = 0,
    .options = {options, cli_common_options},
    .run = run_audit,
};
