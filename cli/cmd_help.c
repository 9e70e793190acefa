/* cmd_help.c - tacit help: a verb's text, its manual page, and the completion of a shell. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--manual", CLI_FLAG, offsetof(cli_args, manual), NULL, "the manual page in roff, as `man` reads it",
     "text for people", NULL},
    {"--completion", CLI_CHOICE, offsetof(cli_args, completion), "bash|zsh|fish",
     "what the shell needs to complete verbs, options and their values with the Tab key", "none", "bash"},
    {0},
};

static int is_component(const char *name) {
  char *text = tct_components_json(name, NULL, NULL);
  tct_text_free(text);
  return text != NULL;
}

static int unknown_topic(const char *name) {
  if (!is_component(name)) return cli_unknown_verb(name);
  return cli_fail(CLI_USAGE, "%s is no verb but a component; `tacit components %s` tells about it", name, name);
}

static int print_tables(void) {
  json_t *root = cli_tables();
  int code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

static int run_help(cli_args *args) {
  const cli_verb *verb = args->operands ? cli_find_verb(args->operand[0]) : NULL;
  if (args->operands && !verb && cli_put_topic(&cli_train, args->operand[0])) return 0;
  if (args->operands && !verb) return unknown_topic(args->operand[0]);
  if (args->json + args->manual + (args->completion != NULL) > 1 || (verb && (args->json || args->completion)))
    return cli_fail(CLI_USAGE, "--json, --manual and --completion exclude each other, and only --manual takes a verb");
  if (args->json) return print_tables();
  if (args->completion) return cli_put_completion(args->completion);
  if (args->manual)
    cli_put_manual(verb);
  else if (verb)
    cli_put_help(verb);
  else
    cli_put_verbs();
  return 0;
}

const cli_verb cli_help = {
    .name = "help",
    .operands = "[VERB|TOPIC] [OPTION...]",
    .summary = "Prints the list of verbs, or what a verb does with all its options, their defaults and examples.",
    .details =
        "--json gives the tables behind this help: verbs and options with their defaults and examples.\n"
        "\n"
        "Examples\n"
        "  tacit help train\n"
        "  tacit help privacy               of train's options those about the promise; so too: start, model,\n"
        "                                   table, page, machine\n"
        "  tacit help train --manual | man -l -\n"
        "  source <(tacit help --completion bash)       completion in this shell; installed ones need no such line\n",
    .min = 0,
    .max = 1,
    .options = {options, cli_common_options},
    .words = 1,
    .run = run_help,
};
