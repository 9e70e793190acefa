/* cmd_schema.c - tacit schema: drafts a schema file from data, for a person to correct. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--label", CLI_TEXT, offsetof(cli_args, read.label), "NAME|INDEX", "label column, by name or number from 1",
     "no label", "income"},
    {"-o", CLI_TEXT, offsetof(cli_args, output), "FILE.json", "write there instead of standard output",
     "standard output", "people.schema.json"},
    {0},
};

static int run_schema(cli_args *args) {
  tct_error err = {0};
  cli_sink sink;
  char *text = tct_schema_draft_nonprivate(args->operand[0], args->read.label, &err);
  if (!text) return cli_fail_error(&err);
  int code = cli_sink_open(&sink, args->output);
  if (!code) {
    fputs(text, sink.file);
    if (text[0] && text[strlen(text) - 1] != '\n') fputc('\n', sink.file);
    code = cli_sink_commit(&sink);
  }
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
        "Example\n"
        "  tacit schema people.csv --label income -o people.schema.json\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_common_options},
    .run = run_schema,
};
