/* cmd_components.c - tacit components: losses, penalties, solvers, accountants, readers, events. */
#include "cli.h"

#include <string.h>

static void print_option(const json_t *o) {
  const char *fallback = json_string_value(json_object_get(o, "default"));
  printf("      %-12s %s", cli_string(o, "key"), cli_string(o, "help"));
  if (*cli_string(o, "choices")) printf("; one of %s", cli_string(o, "choices"));
  printf(fallback ? "; default %s\n" : "; required\n", fallback);
}

static void print_entries(const json_t *array, int details) {
  const json_t *entry, *option;
  const char *kind = "";
  size_t i, k;
  json_array_foreach(array, i, entry) {
    if (strcmp(kind, cli_string(entry, "kind"))) {
      printf("%s%s\n", *kind ? "\n" : "", cli_string(entry, "kind"));
      kind = cli_string(entry, "kind");
    }
    printf("  %-16s %s%s\n", cli_string(entry, "name"), cli_string(entry, "summary"),
           json_is_false(json_object_get(entry, "private")) ? " (privacy NONE)" : "");
    if (details) json_array_foreach(json_object_get(entry, "options"), k, option) print_option(option);
  }
}

static int run_components(cli_args *args) {
  tct_error err = {0};
  int code = 0;
  char *text = tct_components_json(args->operands > 0 ? args->operand[0] : NULL,
                                   args->operands > 1 ? args->operand[1] : NULL, &err);
  if (!text) return cli_fail_error(&err);
  json_t *array = cli_take_json(text);
  if (!array) return CLI_RUN;
  if (args->json) {
    json_t *root = json_object();
    json_object_set(root, "components", array);
    code = cli_print_json(root);
    json_decref(root);
  } else {
    print_entries(array, args->operands > 0);
  }
  json_decref(array);
  return code;
}

const cli_verb cli_components = {
    .name = "components",
    .operands = "[KIND [NAME] | NAME] [OPTION...]",
    .summary =
        "Lists what can be named in a spec: loss, penalty, solver, accountant, reader, event.\n"
        "With a KIND or a NAME also every option, its unit and its default.",
    .details =
        "A spec is a name with options: dpscd:batch=1024,clip=0.5\n"
        "\n"
        "Examples\n"
        "  tacit components\n"
        "  tacit components solver dpscd\n"
        "  tacit components l2\n",
    .min = 0,
    .max = 2,
    .options = {cli_common_options},
    .words = 1,
    .run = run_components,
};
