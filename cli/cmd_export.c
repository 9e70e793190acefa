/* cmd_export.c - tacit export: a model in the form of another program. */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"--liblinear", CLI_FLAG, offsetof(cli_args, liblinear), NULL, "LIBLINEAR's text form, for liblinear-predict",
     "none, it must be given", NULL},
    {"-o", CLI_TEXT, offsetof(cli_args, output), "FILE", "write there instead of standard output", "standard output",
     "model.liblinear"},
    {0},
};

/* The library writes files only, whole or not at all; standard output gets a copy of one. */
static int export_to_stdout(const tct_model *model) {
  tct_error err = {0};
  char name[] = "/tmp/tacit-export-XXXXXX", buffer[1 << 14];
  int fd = mkstemp(name), code = 0;
  if (fd < 0) return cli_fail(CLI_RUN, "cannot make a temporary file (%s); give -o FILE", strerror(errno));
  close(fd);
  if (tct_export_liblinear(model, name, &err) != TCT_OK) code = cli_fail_error(&err);
  FILE *file = code ? NULL : fopen(name, "r");
  if (!code && !file) code = cli_fail(CLI_RUN, "cannot read a temporary file (%s); give -o FILE", strerror(errno));
  for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;) fwrite(buffer, 1, n, stdout);
  if (file) fclose(file);
  unlink(name);
  return code;
}

static int run_export(cli_args *args) {
  tct_error err = {0};
  int code = 0;
  if (!args->liblinear) return cli_fail(CLI_USAGE, "say which form; there is one: --liblinear");
  tct_model *model = tct_model_read(args->operand[0], &err);
  if (!model) return cli_fail_error(&err);
  if (!args->output || !strcmp(args->output, "-"))
    code = export_to_stdout(model);
  else if (tct_export_liblinear(model, args->output, &err) != TCT_OK)
    code = cli_fail_error(&err);
  tct_model_free(model);
  if (code || !args->json || !args->output || !strcmp(args->output, "-")) return code;
  json_t *root = json_pack("{s:s}", "output", args->output);
  code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
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
    .options = {options, cli_common_options},
    .run = run_export,
};
