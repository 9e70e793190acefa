/* cmd_moments.c - tacit moments: the study of one stage, the moments of all columns. */
#include "cli.h"

#include <stddef.h>

static const cli_option options[] = {
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E",
     "privacy loss of the release, above 0; all models of it together cost no more", "none, it must be given", "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "above 0, well below 1 / number of records",
     "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--features", CLI_TEXT, offsetof(cli_args, features), "A,B,...",
     "columns of the schema to release; fewer columns have less noise", "all", "age,sex,bmi"},
    {"--errors", CLI_CHOICE, offsetof(cli_args, errors), "elliptic|robust",
     "robust: a part of the budget buys standard errors that hold whatever the residuals, of at most 30 columns",
     "elliptic", "robust"},
    {"--rows-per-person", CLI_SIZE, offsetof(cli_args, rows_per_person), "M",
     "with --person: at most M rows of a person count, drawn at random, and persons are protected",
     "none, --person needs it", "4"},
    {0},
};

static int run_moments(cli_args *args) {
  if (args->read.label || args->read.positive || args->classes)
    return cli_fail(CLI_USAGE, "moments have no label, any column can be one later (tacit lm); leave --label away");
  json_t *features = NULL, *stage = json_pack("{s:s, s:s}", "name", "moments", "kind", "moments");
  if (args->features && !(features = cli_names("--features", args->features))) return json_decref(stage), CLI_USAGE;
  if (args->errors) json_object_set_new(stage, "errors", json_string(args->errors));
  if (features) json_object_set_new(stage, "features", features);
  return cli_study_run(args, cli_study_plan(args, json_pack("[o]", stage)));
}

const cli_verb cli_moments = {
    .name = "moments",
    .operands = "DATA --schema FILE.json --epsilon E --delta D -o MOMENTS.json [OPTION...]",
    .summary = "Releases the second moments of all columns once, from which every linear model of them follows.",
    .details =
        "tacit lm answers from the file alone: any column as the outcome, any others as features, means and\n"
        "correlations, as often as you like, and no budget is spent again. The file is that of a study of one stage\n"
        "(tacit study, tacit verify); the schema bounds every column (tacit schema).\n"
        "\n"
        "Examples\n"
        "  tacit moments people.csv --schema people.schema.json --epsilon 1 --delta 1e-6 -o moments.json\n"
        "  tacit lm moments.json --label income --features age,sex\n",
    .min = 0,
    .max = 1,
    .options = {options, cli_study_options, cli_read_options, cli_person_options, cli_common_options},
    .run = run_moments,
};
