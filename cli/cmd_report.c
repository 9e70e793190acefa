/* cmd_report.c - tacit report: the page for people that a model is published with. */
#include "cli.h"

#include <stddef.h>
#include <stdlib.h>

static const cli_option options[] = {
    {"--output", CLI_OUT_STREAM, offsetof(cli_args, output), "FILE.html", "write there instead of standard output",
     "standard output", "model.html"},
    {"--audit", CLI_IN, offsetof(cli_args, audit), "FILE.json",
     "say what an audit of the same plan found: the output of tacit audit --json", "no audit", "audit.json"},
    {"--scores", CLI_IN, offsetof(cli_args, scores), "FILE.json",
     "say how good the model is: the output of tacit evaluate --epsilon E --json", "no scores", "scores.json"},
    {"--policy", CLI_IN, offsetof(cli_args, policy), "FILE.json",
     "say whether an organisation's limits keep (docs/guide/policy.md)", "no limits", "appetite.json"},
    {"--ledger", CLI_IN, offsetof(cli_args, page.ledger), "FILE", "also check the model's entry in this ledger",
     "the model file alone", "people.ledger"},
    {"-o", CLI_OUT_STREAM, offsetof(cli_args, output), "FILE.html", "the same", "standard output", "model.html"},
    {"--registry", CLI_OUT, offsetof(cli_args, registry), "FILE.json",
     "write the model's entry in the public registry of deployments too; without -o nothing else", "no entry",
     "entry.json"},
    {0},
};

/* The entry, without which the page is not written either. */
static int write_entry(cli_args *args, const tct_model *model) {
  tct_error err = {0};
  args->page.registry = 1;
  tct_status status = tct_report_page_write(model, &args->page, args->registry, &err);
  args->page.registry = 0;
  return status == TCT_OK ? 0 : cli_fail_error(&err);
}

static int write_page(const cli_args *args, const tct_model *model) {
  tct_error err = {0};
  if (tct_report_page_write(model, &args->page, cli_place(args->output), &err) != TCT_OK) return cli_fail_error(&err);
  if (!args->json) return 0;
  json_t *root = json_pack("{s:s}", "output", args->output);
  int code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

static int run_report(cli_args *args) {
  tct_error err = {0};
  if (args->json && cli_is_stdout(args->output))
    return cli_fail(CLI_USAGE, "--json and a page on standard output exclude each other; give -o FILE.html");
  tct_model *model = tct_model_read(args->operand[0], NULL, args->stage, &err);
  if (!model) return cli_fail_error(&err);
  int code = 0;
  char *audit = cli_json_file(args->audit, "an answer of tacit audit --json", &code);
  char *scores = code ? NULL : cli_json_file(args->scores, "an answer of tacit evaluate --json", &code);
  char *policy = code ? NULL : cli_json_file(args->policy, "a policy", &code);
  args->page.audit = audit, args->page.scores = scores, args->page.policy = policy;
  if (!code && args->registry) code = write_entry(args, model);
  if (!code && (args->output || !args->registry)) code = write_page(args, model);
  args->page.audit = args->page.scores = args->page.policy = NULL;
  free(audit);
  free(scores);
  free(policy);
  tct_model_free(model);
  return code;
}

const cli_verb cli_report = {
    .name = "report",
    .operands = "MODEL.json [-o FILE.html] [--scores FILE.json] [--policy FILE.json] [--audit FILE.json]",
    .summary =
        "Writes a page for people about a model: what is protected, from whom, at what cost, and how to check it.",
    .details =
        "One HTML file that needs no network and no script, for the screen, a phone and paper. It comes from the\n"
        "files that are named; no records are read, and the same files give the same page to the last character.\n"
        "\n"
        "Examples\n"
        "  tacit report model.json --registry entry.json --title \"Income and education\"\n"
        "  tacit report model.json -o model.html --title \"Income and education\" --contact data@registry.example\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_stage_options, cli_page_options, cli_common_options},
    .run = run_report,
};
