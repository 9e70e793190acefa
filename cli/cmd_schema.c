/* cmd_schema.c - tacit schema: drafts a schema file from data for a person to correct, and looks at one. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--label", CLI_TEXT, offsetof(cli_args, read.label), "NAME|INDEX", "label column, by name or number from 1",
     "no label", "income"},
    {"--check", CLI_FLAG, offsetof(cli_args, check), NULL,
     "DATA is a schema file: say what is left to do, and what looks taken from the data; exit code 3 while it is a "
     "draft",
     "off", NULL},
    {"-o", CLI_OUT_STREAM, offsetof(cli_args, output), "FILE.json", "write there instead of standard output",
     "standard output", "people.schema.json"},
    {0},
};

static void print_findings(const json_t *root) {
  size_t i;
  const json_t *one;
  const json_t *list = json_object_get(root, "findings");
  json_array_foreach(list, i, one) {
    const char *column = cli_string(one, "column");
    printf("%s%s%s%s%s\n", strcmp(cli_string(one, "level"), "must") ? "" : "MUST CHANGE: ", *column ? "column \"" : "",
           column, *column ? "\": " : "", cli_string(one, "text"));
  }
  printf("%.0f columns, %.0f features, %zu findings\n", cli_number(root, "columns"), cli_number(root, "features"),
         json_array_size(list));
}

static int check_schema(const cli_args *args) {
  tct_error err = {0};
  if (args->output || args->read.label)
    return cli_fail(CLI_USAGE, "--check only prints what it finds; leave --label and -o away");
  char *text = tct_schema_check_json(args->operand[0], NULL, &err);
  if (!text) return cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  int code = 0;
  if (args->json)
    code = cli_print_json(root);
  else
    print_findings(root);
  if (!code && !json_is_true(json_object_get(root, "ok"))) code = CLI_DATA;
  json_decref(root);
  return code;
}

static void print_draft(FILE *file, void *user) {
  const char *text = user;
  fputs(text, file);
  if (text[0] && text[strlen(text) - 1] != '\n') fputc('\n', file);
}

static int run_schema(cli_args *args) {
  if (args->check) return check_schema(args);
  tct_error err = {0};
  char *text = tct_schema_draft_nonprivate(args->operand[0], NULL, args->read.label, &err);
  if (!text) return cli_fail_error(&err);
  int code = cli_write(args->output, print_draft, text);
  tct_text_free(text);
  if (!code)
    cli_warn("this draft is NOT private: its values come from the data; replace every one by public knowledge");
  return code;
}

const cli_verb cli_schema = {
    .name = "schema",
    .operands = "DATA [OPTION...]",
    .summary =
        "Drafts a schema file from the data: every column's type, bounds or categories, and the label.\n"
        "NOT private: review it and replace every value by public knowledge before you train with it.",
    .details =
        "A schema says what is publicly known: a number's lowest and highest possible value, a category's list of\n"
        "values, the label. Values outside are clipped; docs/reference/format/schema.md has every field.\n"
        "\n"
        "Examples\n"
        "  tacit schema people.csv --label income -o people.schema.json\n"
        "  tacit schema --check people.schema.json\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_common_options},
    .run = run_schema,
};
