/* cmd_describe.c - tacit describe: the study of one stage that describes a table; and the table of its file. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E", "privacy loss of the whole description, above 0",
     "none, it must be given", "0.2"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D", "above 0, well below 1 / number of records",
     "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--features", CLI_TEXT, offsetof(cli_args, features), "A,B,...",
     "columns of the schema to describe; fewer columns have less noise", "all", "age,sex,bmi"},
    {"--cross", CLI_TEXT, offsetof(cli_args, cross), "A,B[,C,D...]",
     "pairs of columns of categories, one pair after the other: a table of both", "none", "sex,region"},
    {"--estimate", CLI_TEXT, offsetof(cli_args, config.estimate), "WHAT",
     "bounds and lists that the schema leaves open are estimated first, within the same budget: bounds, missing and "
     "categories with a comma between them",
     "the schema has them all", "bounds,categories"},
    {"--this-table", CLI_FLAG, offsetof(cli_args, this_table), NULL,
     "intervals about the table itself: they count the noise, and not who happens to be in the table", "off", NULL},
    {"--html", CLI_FLAG, offsetof(cli_args, html), NULL, "print the table as a page", "as text", NULL},
    {"--csv", CLI_FLAG, offsetof(cli_args, csv), NULL, "print a line for each figure, with its interval", "as text",
     NULL},
    {"--from", CLI_IN, offsetof(cli_args, plan), "STUDY.json",
     "print the description of a study's file again; no data are read and nothing is spent", "none", "study.json"},
    {"--rows-per-person", CLI_SIZE, offsetof(cli_args, rows_per_person), "M",
     "with --person: at most M rows of a person count, drawn at random, and persons are protected",
     "none, --person needs it", "4"},
    {0},
};

/* Of the file of a study: the stage that describes, by its name or the first. */
static const json_t *description_of(const json_t *root, const char *name) {
  const json_t *stage;
  size_t i;
  json_array_foreach(json_object_get(root, "stages"), i, stage) {
    if (json_object_get(stage, "description") && (!name || !strcmp(name, cli_string(stage, "name"))))
      return json_object_get(stage, "description");
  }
  return NULL;
}

static int show(const cli_args *args, const json_t *root) {
  const json_t *own = description_of(root, args->stage);
  if (!own) return cli_fail(CLI_USAGE, "the study has no description in a stage of this name; name another");
  if (args->json) return cli_print_json(own);
  cli_put_description(own, json_object_get(root, "claim"), args->html ? CLI_PAGE : args->csv ? CLI_LINES : CLI_WORDS);
  return 0;
}

static int show_again(const cli_args *args) {
  json_error_t at;
  if (args->operands || args->output || args->config.ledger || args->dry_run)
    return cli_fail(CLI_USAGE, "--from prints what a file has; leave DATA, -o and --ledger away");
  json_t *root = json_load_file(args->plan, JSON_REJECT_DUPLICATES, &at);
  if (!root) return cli_fail(CLI_DATA, "%s is no readable file of a study; name one", args->plan);
  int code = show(args, root);
  json_decref(root);
  return code;
}

/* {"name", "kind", ...}; NULL after one sentence. */
static json_t *stage_of(const cli_args *args) {
  json_t *features = NULL, *names = NULL, *stage = json_pack("{s:s, s:s}", "name", "table", "kind", "describe");
  if (args->features && !(features = cli_names("--features", args->features))) return json_decref(stage), NULL;
  if (features) json_object_set_new(stage, "features", features);
  if (args->this_table) json_object_set_new(stage, "sampling", json_false());
  if (!args->cross) return stage;
  if (!(names = cli_names("--cross", args->cross))) return json_decref(stage), NULL;
  size_t count = json_array_size(names);
  json_t *pairs = json_array();
  for (size_t k = 0; k + 1 < count; k += 2)
    json_array_append_new(pairs, json_pack("[O, O]", json_array_get(names, k), json_array_get(names, k + 1)));
  json_object_set_new(stage, "cross", pairs);
  json_decref(names);
  if (count % 2 == 0) return stage;
  cli_fail(CLI_USAGE, "--cross takes pairs of columns, one after the other; name an even number of them");
  return json_decref(stage), NULL;
}

static int run_describe(cli_args *args) {
  const tct_config *c = &args->config;
  if (args->html + args->csv + (args->json != 0) > 1)
    return cli_fail(CLI_USAGE, "--json, --html and --csv are ways to print one table; name one of them");
  if (args->plan) return show_again(args);
  if (args->read.label || args->read.positive || args->classes)
    return cli_fail(CLI_USAGE, "a description has no label, every column is described; leave --label away");
  json_t *stage = stage_of(args), *stages = json_array();
  if (!stage) return json_decref(stages), CLI_USAGE;
  if (c->estimate)
    json_array_append_new(stages,
                          json_pack("{s:s, s:s, s:s}", "name", "bounds", "kind", "estimate", "what", c->estimate));
  json_array_append_new(stages, stage);
  args->show = show;
  return cli_study_run(args, cli_study_plan(args, stages));
}

const cli_verb cli_describe = {
    .name = "describe",
    .operands = "DATA --schema FILE.json --epsilon E --delta D -o TABLE.json [OPTION...]",
    .summary =
        "Describes a table: counts, gaps, means, deviations, quantiles and shares of its columns, with intervals.",
    .details =
        "Cells that cannot be told from empty ones say so. Intervals count the noise and who happens to be in the\n"
        "table; those of counts the noise alone. The file is that of a study of one stage (tacit study, tacit "
        "verify):\n"
        "models of the same people can stand in one study with it, within one budget. Correlations are those of\n"
        "tacit moments.\n"
        "\n"
        "Examples\n"
        "  tacit describe people.csv --schema people.schema.json --epsilon 0.2 --delta 1e-6 -o table.json\n"
        "  tacit describe people.csv --schema people.schema.json --epsilon 0.2 --delta 1e-6 --cross sex,region \\\n"
        "    --html -o table.json >table.html\n"
        "  tacit describe --from table.json --csv\n",
    .min = 0,
    .max = 1,
    .options = {options, cli_stage_options, cli_study_options, cli_read_options, cli_person_options,
                cli_common_options},
    .run = run_describe,
};
