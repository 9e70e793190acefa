/* cmd_verify.c - tacit verify: does a model file's claim follow from what it says was asked for? */
#include "cli.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--ledger", CLI_IN, offsetof(cli_args, config.ledger), "FILE", "also check the model's entry in this ledger",
     "the model file alone", "people.ledger"},
    {"--policy", CLI_IN, offsetof(cli_args, policy), "FILE.json",
     "hold it against an organisation's limits too (docs/guide/policy.md); exit code 5 where one does not keep",
     "no limits", "appetite.json"},
    {"--audit", CLI_IN, offsetof(cli_args, audit), "FILE.json",
     "with --policy: the output of tacit audit --json for the same plan", "no audit", "audit.json"},
    {0},
};

/* Whether something that was noted takes from the promise itself. */
static int is_weaker(const json_t *root) {
  const json_t *line;
  size_t i;
  int weaker =
      json_is_true(json_object_get(root, "reproducible")) || json_array_size(json_object_get(root, "unaccounted"));
  json_array_foreach(json_object_get(root, "warnings"), i, line) weaker |=
      json_is_true(json_object_get(line, "weakens"));
  return weaker;
}

/* The last line: "verified" only for what was checked whole and protects people as it says. */
static void print_verdict(const json_t *root) {
  const char *verdict = cli_string(root, "verdict");
  const char *epsilon = cli_real(cli_number(root, "epsilon")), *delta = cli_real(cli_number(root, "delta"));
  const char *open = json_is_true(json_object_get(root, "replanned"))
                         ? ""
                         : "; older rules planned this file, and whether its settings give its releases was not "
                           "checked";
  if (!strcmp(verdict, "none"))
    printf("\nverified: the model claims no privacy (NONE)\n");
  else if (!strcmp(verdict, "reproducible"))
    printf("\nNOT PRIVATE: the figures agree (epsilon %s at delta %s), but reproducible noise protects nobody%s\n",
           epsilon, delta, open);
  else if (!strcmp(verdict, "for_tests"))
    printf("\nFOR TESTS: the figures agree (epsilon %s at delta %s), but the run was charged to a ledger for tests%s\n",
           epsilon, delta, open);
  else if (!strcmp(verdict, "in_part"))
    printf("\nVERIFIED IN PART: the releases cost epsilon %s at delta %s%s\n", epsilon, delta, open);
  else if (!strcmp(verdict, "verified"))
    printf("\nverified: epsilon %s at delta %s, %s%s\n", epsilon, delta, cli_string(root, "neighbours"),
           is_weaker(root) ? "; the promise is weaker than that: see the notes above" : "");
}

static void print_checks(const json_t *root) {
  const json_t *check, *line;
  size_t i;
  json_array_foreach(json_object_get(root, "checks"), i, check)
      printf("%-5s %-22s %s\n", json_is_true(json_object_get(check, "ok")) ? "ok" : "FAIL", cli_string(check, "name"),
             cli_string(check, "text"));
  json_array_foreach(json_object_get(root, "warnings"), i, line)
      printf("note  %-22s %s\n", cli_string(line, "name"), cli_string(line, "text"));
  json_array_foreach(json_object_get(root, "unaccounted"), i, line)
      printf("note  %-22s %s\n", "UNACCOUNTED", json_string_value(line));
  if (json_is_true(json_object_get(root, "reproducible")))
    printf("note  %-22s %s\n", "reproducible", "the noise came from a seed: this model must not be published");
  if (json_is_true(json_object_get(root, "for_tests")))
    printf("note  %-22s %s\n", "for tests", "its ledger takes reproducible noise");
  print_verdict(root);
}

/* What the policy says, rule by rule; the first that does not keep, or NULL. */
static const char *print_policy(const json_t *policy, int silent) {
  const char *first = NULL;
  const json_t *rule;
  size_t i;
  if (policy && !silent) printf("\npolicy %s\n", cli_string(policy, "name"));
  json_array_foreach(json_object_get(policy, "rules"), i, rule) {
    int ok = json_is_true(json_object_get(rule, "ok"));
    if (!silent) printf("%-5s %-22s %s\n", ok ? "ok" : "FAIL", cli_string(rule, "rule"), cli_string(rule, "text"));
    if (!ok && !first) first = cli_string(rule, "text");
  }
  return first;
}

static const char *first_failure(const json_t *root) {
  const json_t *check;
  size_t i;
  json_array_foreach(json_object_get(root, "checks"), i,
                     check) if (!json_is_true(json_object_get(check, "ok"))) return cli_string(check, "text");
  return "no check was made";
}

static int print_answer(const cli_args *args, json_t *root) {
  const json_t *policy = json_object_get(root, "policy");
  int code = 0;
  if (args->json)
    code = cli_print_json(root);
  else
    print_checks(root);
  const char *broken = print_policy(policy, args->json);
  if (!json_is_true(json_object_get(root, "ok")))
    return cli_fail(CLI_RUN, "%s: not verified: %s", args->operand[0], first_failure(root));
  if (broken) return cli_fail(CLI_POLICY, "%s: the policy does not allow it: %s", args->operand[0], broken);
  return code;
}

static int run_verify(cli_args *args) {
  tct_error err = {0};
  int code = 0;
  if (args->audit && !args->policy)
    return cli_fail(CLI_USAGE, "--audit is for a policy that asks for one; name it with --policy");
  char *policy = cli_json_file(args->policy, "a policy", &code);
  char *audit = code ? NULL : cli_json_file(args->audit, "an answer of tacit audit --json", &code);
  char *text = code ? NULL : tct_verify_json(args->operand[0], NULL, args->config.ledger, policy, audit, NULL, &err);
  free(policy);
  free(audit);
  if (!text) return code ? code : cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  code = print_answer(args, root);
  json_decref(root);
  return code;
}

const cli_verb cli_verify = {
    .name = "verify",
    .operands = "MODEL.json [OPTION...]",
    .summary = "Recomputes a model's privacy claim from the events in its file.",
    .details =
        "It plans again: the settings that the file says were asked for must give its settings, its releases (event,\n"
        "sensitivity, deviation, count) and its events; the named accountant proves no more than the claimed epsilon\n"
        "from them, a second implementation agrees, and no lower bound exceeds the claim. Unknown fields are refused.\n"
        "\n"
        "Weights are refused beyond what noise and path can make of them, but with a chance below 1e-30; T releases,\n"
        "n records of norm R, clip C:\n"
        "  dpscd, seqdpscd              T times the largest noisy sum of dual steps, over lambda n\n"
        "  dpgd, dpsgd, sgd_ma, sgd_adv  T steps along the largest noisy gradient; with momentum T(T+1)/2\n"
        "  dpnewton                     T(T+1)/2 steps in the metric of the least curvature that its noise leaves\n"
        "  dpmetric                     where it cuts its path: 1e9 labels over R\n"
        "  dpagd, privgene              the sum of its longest steps\n"
        "  dpcd, primaldpscd            the visits of a coordinate times its largest noisy step\n"
        "  dpfw, dpfw_parties           the radius\n"
        "  objpert, outpert             the largest minimiser, and the noise\n"
        "  adassp                       the solution for the least noisy matrix and the largest noisy vector\n"
        "\n"
        "Free fields, which no check without the data can know: coefficients and intercept within that bound;\n"
        "features, label, transforms.schema, scale_factor, scale_shift; library; note; privacy.unaccounted, .noise,\n"
        ".ledger, .weights.cap; parties.list, .uplink_bytes, .one_shot_bytes; where no privacy is claimed, the number\n"
        "of fits and the delta asked for. It cannot see the run either, or other runs: a ledger can.\n"
        "\n"
        "Exit codes: 0 verified, or no check failed and the last line says what that is worth; 1 not verified or\n"
        "unreadable, 2 wrong usage, 3 the file is no JSON, 5 verified, and the policy does not allow it.\n"
        "\n"
        "Examples\n"
        "  tacit verify model.json\n"
        "  tacit verify model.json --ledger people.ledger --policy appetite.json --json\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_common_options},
    .run = run_verify,
};
