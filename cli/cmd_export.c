/* cmd_export.c - tacit export: a model in the form of another program. */
#include "cli.h"

#include <stddef.h>

static const cli_option options[] = {
    {"--liblinear", CLI_FLAG, offsetof(cli_args, liblinear), NULL, "LIBLINEAR's text form, for liblinear-predict",
     "none, it must be given", NULL},
    {"-o", CLI_OUT_STREAM, offsetof(cli_args, output), "FILE", "write there instead of standard output",
     "standard output", "model.liblinear"},
    {0},
};

static int run_export(cli_args *args) {
  tct_error err = {0};
  if (!args->liblinear) return cli_fail(CLI_USAGE, "say which form; there is one: --liblinear");
  tct_model *model = tct_model_read(args->operand[0], NULL, args->stage, &err);
  if (!model) return cli_fail_error(&err);
  tct_status status = tct_export_liblinear(model, cli_place(args->output), &err);
  tct_model_free(model);
  if (status != TCT_OK) return cli_fail_error(&err);
  if (!args->json || cli_is_stdout(args->output)) return 0;
  json_t *root = json_pack("{s:s}", "output", args->output);
  int code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

const cli_verb cli_export = {
    .name = "export",
    .operands = "--liblinear MODEL.json [-o FILE]",
    .summary = "Writes a model in LIBLINEAR's text form, for tools that read it.",
    .details =
        "The features are those of the model after its schema; column scaling is folded into the weights.\n"
        "\n"
        "Example\n"
        "  tacit export --liblinear model.json -o model.liblinear\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_stage_options, cli_common_options},
    .run = run_export,
};
