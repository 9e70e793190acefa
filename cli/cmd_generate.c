/* cmd_generate.c - tacit generate: an invented population with its public schema. */
#define _GNU_SOURCE
#include "cli.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--rows", CLI_COUNT, offsetof(cli_args, generate_rows), "N", "number of records", "50000", "1000"},
    {"--kind", CLI_CHOICE, offsetof(cli_args, kind), "classification|regression",
     "the label: high_income, yes or no, or income, in thousands a year", "classification", "regression"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S", "another population", "1", "7"},
    {"--schema-output", CLI_OUT, offsetof(cli_args, schema_output), "FILE.json", "where the schema goes",
     "the output's name with .schema.json in place of .csv", "people.schema.json"},
    {"-o", CLI_OUT, offsetof(cli_args, output), "FILE.csv", "where the records go", "none, it must be given",
     "people.csv"},
    {0},
};

/* people.csv -> people.schema.json, beside it. */
static char *beside(const char *path) {
  char *name = NULL;
  size_t length = strlen(path);
  if (length > 4 && !strcmp(path + length - 4, ".csv")) length -= 4;
  return asprintf(&name, "%.*s.schema.json", (int)length, path) < 0 ? NULL : name;
}

static int generate(const cli_args *args, const char *schema) {
  tct_error err = {0};
  const char *kind = args->kind ? args->kind : "classification";
  uint64_t seed = args->has_seed ? args->config.seed : 1;
  int64_t rows = args->generate_rows;
  tct_labels labels = strcmp(kind, "regression") ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
  if (tct_generate(args->output, schema, labels, rows, seed, &err) != TCT_OK) return cli_fail_error(&err);
  if (!args->json) {
    cli_line("records", "%s   (%lld, invented)", args->output, (long long)rows);
    cli_line("schema", "%s", schema);
    return 0;
  }
  json_t *root = json_pack("{s:I, s:s, s:I, s:s, s:s}", "rows", (json_int_t)rows, "kind", kind, "seed",
                           (json_int_t)seed, "data", args->output, "schema", schema);
  int code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

static int run_generate(cli_args *args) {
  if (!args->output) return cli_fail(CLI_USAGE, "-o is missing; name the file to write, e.g. -o people.csv");
  char *schema = args->schema_output ? strdup(args->schema_output) : beside(args->output);
  if (!schema) return cli_fail(CLI_RUN, "out of memory; close other programs");
  int code = strcmp(schema, args->output) ? generate(args, schema)
                                          : cli_fail(CLI_USAGE, "the records and the schema need different names");
  free(schema);
  return code;
}

const cli_verb cli_generate = {
    .name = "generate",
    .operands = "-o FILE.csv [OPTION...]",
    .summary =
        "Writes an invented population (numbers and categories that depend on each other, a label from a known\n"
        "linear model) as CSV, and its public schema beside it. Nobody in it exists.",
    .details =
        "The same seed gives the same records, and fewer rows are the beginning of more rows. The label follows\n"
        "  eta = -3.6 + 1.4 age + 2.6 hours + 1.1 tenure - 0.5 household + 0.2 commute\n"
        "        + sex{0, 0.35} + urban{0, 0.25} + education{0, 0.2, 0.5, 0.9, 1.6, 2.1}\n"
        "        + region{0, 0.1, -0.1, 0.3, 0.2, -0.2, 0.15, -0.3} + sector{-0.3, 0.2, 0.1, 0, 0.1, 0.3, 0.2, -0.6}\n"
        "over numbers scaled to [0,1] by their bounds and categories in the order of the schema:\n"
        "high_income = yes with probability 1/(1+exp(-eta)); income = 55 + 15 eta + N(0, 8^2), clipped to [0, 150].\n"
        "\n"
        "Example\n"
        "  tacit generate --rows 1e6 --seed 7 -o people.csv\n",
    .min = 0,
    .max = 0,
    .options = {options, cli_common_options},
    .run = run_generate,
};
