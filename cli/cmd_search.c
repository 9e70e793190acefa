/* cmd_search.c - tacit search: a private choice of settings, and the model that won.
 *
 * How many random tries there were is secret.  So nothing is printed between the start and the end, no time is
 * measured, and no bar is drawn. */
#include "candidates.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--candidates", CLI_IN, offsetof(cli_args, candidates), "FILE.json",
     "the settings to try: an object with penalty, solver, loss, row_norm or rows, or a list of such; a list of values "
     "stands for each of them, several for all combinations; the rest is as the other options say",
     "none, it must be given", "grid.json"},
    {"--selection", CLI_CHOICE, offsetof(cli_args, selection), "random|all",
     "random: a random number of tries, whose price does not grow with the candidates; all: every candidate is trained "
     "once and paid for, then one is chosen",
     "random", "all"},
    {"--tries", CLI_SIZE, offsetof(cli_args, search.tries), "M",
     "tries on average, at most 10000; how many there are is drawn at random and stays secret; more cost slowly more",
     "50", "50"},
    {"--score-share", CLI_REAL, offsetof(cli_args, search.share), "S",
     "of persons the part of a try's epsilon that its score takes, or with --selection all that of the whole that the "
     "choice takes; between 0 and 1. A try of records shares nothing: its score is of others than its fit",
     "0.3, or 0.1 with --selection all", "0.1"},
    {"--held-out", CLI_REAL, offsetof(cli_args, search.held), "S",
     "part of the records that tries are scored on, between 0 and 1; the others train", "0.2", "0.2"},
    {0},
};

/* What the search needs freed whatever happens. */
typedef struct search {
  json_t *candidates; /* one object of settings for each */
  tct_config *config; /* [candidates] */
  int64_t classes;    /* of the labels; 2 or fewer where they are of two classes, or numbers */
  const tct_config **at;
  tct_data *data;
  tct_composition *whole;
  tct_model *model;
  int64_t rows;
  int64_t winner;
  double score;
  int out; /* with -o -, what standard output was; -1: the model goes to a file */
} search;

static bool is_random(const cli_args *args) { return !args->selection || !strcmp(args->selection, "random"); }

static int check_args(const cli_args *args) {
  int code = cli_fit_check(args);
  if (code) return code;
  if (!args->candidates)
    return cli_fail(CLI_USAGE,
                    "--candidates is missing; name a file of the settings to try, e.g. --candidates grid.json");
  if (!(isnan(args->config.epsilon) || isfinite(args->config.epsilon)))
    return cli_fail(CLI_USAGE, "a search without privacy needs no secret; give a finite --epsilon, or use train");
  if (args->config.delta == 0 && is_random(args))
    return cli_fail(CLI_USAGE, "a random number of tries needs a --delta above 0; give e.g. --delta 1e-6");
  if (args->search.tries > 10000) return cli_fail(CLI_USAGE, "--tries must be at most 10000; give e.g. --tries 50");
  if (!isnan(args->search.share) && !(args->search.share > 0 && args->search.share < 1))
    return cli_fail(CLI_USAGE, "--score-share must lie between 0 and 1; give e.g. --score-share 0.3");
  if (!(args->search.held > 0 && args->search.held < 1))
    return cli_fail(CLI_USAGE, "--held-out must lie between 0 and 1; give e.g. --held-out 0.2");
  return cli_fit_check_run(args);
}

/* What can be found wrong before anything is read. */
static int check_before(const cli_args *args, search *s) {
  int code = check_args(args);
  if (!code) code = cli_candidates_read(args->candidates, &s->candidates);
  if (!code) code = cli_candidates_check(args, s->candidates);
  return !code && !args->dry_run ? cli_fit_check_ledger(args) : code;
}

static tct_status refuse(tct_status status, const char *text, tct_error *err) {
  *err = (tct_error){.status = status};
  snprintf(err->text, sizeof err->text, "%s", text);
  return status;
}

/* How candidate k trains more than two classes. */
static tct_status take_loss(const cli_args *args, search *s, size_t k, tct_error *err) {
  tct_config *c = &s->config[k];
  c->classes = s->classes;
  if (tct_config_labels(c) == TCT_LABELS_CLASSES && s->classes < 3)
    return refuse(TCT_E_USAGE,
                  "this loss is of more than two classes at once; list them with --classes, or take --loss logistic "
                  "for two",
                  err);
  if (s->classes > 2 && !strcmp(args->config.loss, "auto") && c->loss == args->config.loss)
    return refuse(TCT_E_USAGE,
                  "--loss auto is for one fit; a search of more than two classes tries losses: list them in the "
                  "candidates, e.g. \"loss\": [\"logistic\", \"softmax\"], or name one with --loss",
                  err);
  return TCT_OK;
}

/* The price of the whole, of public facts. */
static tct_status compose(const cli_args *args, search *s, int64_t cols, tct_error *err) {
  size_t count = json_array_size(s->candidates);
  tct_status status = TCT_OK;
  s->config = calloc(count, sizeof *s->config);
  s->at = calloc(count, sizeof *s->at);
  if (!s->config || !s->at) return refuse(TCT_E_MEMORY, "out of memory; close other programs", err);
  for (size_t k = 0; k < count && status == TCT_OK; k++) {
    cli_candidate_config(&args->config, json_array_get(s->candidates, k), &s->config[k]);
    status = take_loss(args, s, k, err);
    s->at[k] = &s->config[k];
  }
  if (status != TCT_OK) return status;
  tct_search how = args->search;
  if (!is_random(args)) how.tries = 0;
  how.persons = args->read.key != NULL;
  s->whole = tct_search_plan(s->at, count, &how, s->rows, cols, err);
  return s->whole ? TCT_OK : err->status;
}

/* What says that the promise of the whole is weak.  That a model may be of little use is each candidate's. */
static json_t *warnings(const cli_args *args, const search *s, int64_t cols) {
  tct_error err;
  tct_config config = s->config[0];
  size_t i;
  json_t *list = json_array(), *line;
  config.epsilon = args->config.epsilon, config.delta = args->config.delta;
  tct_plan *plan = tct_plan_new(&config, s->rows, cols, &err);
  json_t *root = plan ? cli_take_json(tct_plan_json(plan, &err)) : NULL;
  json_array_foreach(json_object_get(root, "warnings"), i, line) if (json_is_true(json_object_get(line, "weakens")))
      json_array_append(list, line);
  json_decref(root);
  tct_plan_free(plan);
  return list;
}

static json_t *facts(const cli_args *args, const search *s, int64_t cols, tct_error *err) {
  char *text = tct_composition_json(s->whole, err);
  json_t *root = text ? cli_take_json(text) : NULL;
  if (!root) return NULL;
  json_object_set(root, "candidates", s->candidates);
  if (is_random(args)) json_object_set_new(root, "tries", json_integer(args->search.tries));
  json_object_set_new(root, "columns", json_integer(cols));
  json_object_set_new(root, "warnings", warnings(args, s, cols));
  if (!s->model) return root;
  json_object_set_new(root, "winner",
                      json_pack("{s:I, s:O}", "number", (json_int_t)s->winner + 1, "settings",
                                json_array_get(s->candidates, (size_t)s->winner)));
  if (is_random(args)) json_object_set_new(root, "best_score", isnan(s->score) ? json_null() : json_real(s->score));
  json_object_set_new(root, "model", json_string(args->output));
  if (args->report) json_object_set_new(root, "report", json_string(args->report));
  return root;
}

/* The settings of a candidate's plan, resolved. */
static void print_candidate(const char *name, const search *s, int64_t k) {
  tct_error err;
  json_t *plan = cli_take_json(tct_plan_json(tct_composition_plan(s->whole, k), &err));
  cli_line(name, "%lld: %s, %s, %s", (long long)k + 1, cli_string(plan, "loss"), cli_string(plan, "penalty"),
           cli_string(plan, "solver"));
  json_decref(plan);
}

static void print_price(const search *s, const json_t *root) {
  const json_t *each = json_object_get(root, "each"), *score = json_object_get(root, "score");
  size_t candidates = json_array_size(s->candidates);
  if (score)
    cli_line("search", "%zu candidates, %.0f tries on average; how many there are stays secret", candidates,
             cli_number(root, "tries"));
  else
    cli_line("search", "%zu candidates, each trained once, and a choice among them", candidates);
  cli_line("privacy", "epsilon %s, delta %s, %s, for all %s together", cli_real(cli_number(root, "epsilon")),
           cli_real(cli_number(root, "delta")), cli_string(root, "neighbours"), score ? "tries" : "of it");
  if (score)
    cli_line("each try", "its fit has epsilon %s, its score %s, at delta %s", cli_real(cli_number(each, "epsilon")),
             cli_real(cli_number(score, "epsilon")), cli_real(cli_number(each, "delta")));
  else
    cli_line("each fit", "has epsilon %s at delta %s, the choice %s", cli_real(cli_number(each, "epsilon")),
             cli_real(cli_number(each, "delta")), cli_string(root, "choice"));
  cli_line("records", "%.0f to train on, %.0f for scores", cli_number(root, "train_rows"),
           cli_number(root, "scored_rows"));
  for (size_t k = 0; k < candidates; k++) print_candidate(k ? "" : "candidates", s, (int64_t)k);
}

static void print_winner(const cli_args *args, const search *s) {
  bool real = tct_config_labels(&args->config) == TCT_LABELS_REAL;
  /* An error has its sign turned. */
  const char *what = !real ? "accuracy" : s->score > 0 ? "C-index" : "mean squared error";
  print_candidate("winner", s, s->winner);
  if (!is_random(args)) return;
  if (isnan(s->score))
    cli_line("score", "hidden by the noise; score more records or spend more epsilon");
  else
    cli_line("score", "%s %s, noisy; as the best of many it flatters, so measure the model on other records", what,
             cli_real(fabs(s->score)));
  cli_line("time", "NOT protected: who knows how long this took may learn the number of tries");
}

static int put(const cli_args *args, const search *s, int64_t cols) {
  tct_error err = {0};
  json_t *root = facts(args, s, cols, &err);
  int code = 0;
  if (!root) return cli_fail_error(&err);
  cli_fit_warn(args, root);
  if (args->json) {
    code = cli_print_json(root);
  } else {
    print_price(s, root);
    if (s->model) {
      print_winner(args, s);
      cli_line("model", "%s", cli_to_standard_output(args) ? "standard output" : args->output);
      if (args->report) cli_line("report", "%s", args->report);
    }
  }
  json_decref(root);
  return code;
}

static int dry_run(cli_args *args, search *s) {
  tct_error err = {0};
  int64_t cols = 0;
  int code = cli_public_shape(args, &s->rows, &cols);
  if (code) return code;
  s->classes = cli_labels(&args->config) == TCT_LABELS_CLASSES ? cli_fit_public_classes(args) : 0;
  return compose(args, s, cols, &err) == TCT_OK ? put(args, s, cols) : cli_fail_error(&err);
}

static tct_status find(cli_args *args, search *s, tct_error *err) {
  s->data = tct_data_read_parts((const char *const *)args->operand, (size_t)args->operands, &args->read, NULL, err);
  if (!s->data) return err->status;
  s->rows = tct_data_rows(s->data);
  tct_labels kind;
  s->classes = tct_data_classes(s->data, &kind);
  if (kind != TCT_LABELS_CLASSES) s->classes = 0;
  tct_status status = cli_fit_weigh(args, s->data, err);
  if (status == TCT_OK) status = tct_config_use_schema(&args->config, s->data, NULL, NULL, err);
  if (status == TCT_OK) status = compose(args, s, tct_data_cols(s->data), err);
  if (status != TCT_OK) return status;
  args->config.output = cli_to_standard_output(args) ? NULL : args->output;
  cli_progress_start(&args->config);
  s->model = tct_fit_search(s->whole, s->data, &args->config, &s->winner, &s->score, err);
  cli_progress_end();
  if (!s->model) return err->status;
  if (!cli_to_standard_output(args)) status = tct_model_write(s->model, args->output, err);
  return status == TCT_OK && args->report ? tct_report_page_write(s->model, &args->page, args->report, err) : status;
}

static int search_and_say(cli_args *args, search *s) {
  tct_error err = {0};
  if (cli_to_standard_output(args) && (s->out = cli_divert()) < 0) return CLI_RUN;
  if (find(args, s, &err) != TCT_OK) return cli_fail_error(&err);
  int code = put(args, s, tct_data_cols(s->data));
  cli_warn_unaccounted(s->model);
  if (tct_model_warning(s->model)) cli_warn("%s", tct_model_warning(s->model));
  return !code && s->out >= 0 ? cli_write_diverted(s->out, s->model) : code;
}

static int run_search(cli_args *args) {
  search s = {.out = -1};
  int code = check_before(args, &s);
  args->read.labels = cli_labels(&args->config);
  if (!code) code = args->dry_run ? dry_run(args, &s) : search_and_say(args, &s);
  tct_model_free(s.model);
  tct_composition_free(s.whole);
  tct_data_free(s.data);
  free(s.config);
  free(s.at);
  json_decref(s.candidates);
  return code;
}

const cli_verb cli_search = {
    .name = "search",
    .operands = "DATA... --candidates FILE.json --loss SPEC --epsilon E --delta D -o MODEL.json [OPTION...]",
    .summary =
        "Chooses settings privately and writes the model that won, with the certificate of the whole search.\n"
        "A random number of tries is made, each of a candidate drawn at random, and the best by a noisy score is "
        "kept.\n"
        "The price does not grow with the number of candidates: less than twice that of one try. With --selection all "
        "every\n"
        "candidate is trained once, and one is chosen; for two or three candidates that is better.",
    .details =
        "A try trains on a part of the records and is scored on the others by the release of\n"
        "`tacit evaluate --epsilon`: accuracy, the mean squared error, or the C-index of follow-up times, for which\n"
        "there are random tries alone. A candidate that is drawn twice runs twice.\n"
        "Of more than two classes a try is a fit for each class against the rest, or one fit with softmax.\n"
        "The ledger is charged once, for everything, before the first try.\n"
        "\n"
        "How many tries there were is a secret: it is not printed, and no file depends on it. The time and the memory\n"
        "that the search takes are NOT protected: do not let others watch the machine, and do not publish them.\n"
        "\n"
        "A try has about 1.6 times the noise of one fit with the whole budget. Where the candidates are about equally\n"
        "good, `tacit train` with its defaults gives the better model.\n"
        "\n"
        "Examples\n"
        "  grid.json: {\"penalty\": [\"l2:lambda=1e-3\", \"l2:lambda=0.1\"], \"solver\": [\"auto\", "
        "\"dpgd:clip=0.5\"]}\n"
        "  tacit search people.csv --schema people.schema.json --candidates grid.json --loss logistic \\\n"
        "      --epsilon 1 --delta 1e-6 --ledger people.ledger -o best.json\n"
        "  tacit search --dry-run --records 50000 --schema people.schema.json --candidates grid.json --loss logistic "
        "\\\n"
        "      --epsilon 1 --delta 1e-6\n"
        "\n"
        "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused.\n",
    .min = 0,
    .max = 1000000,
    .options = {options, cli_fit_options, cli_fit_more_options, cli_page_options, cli_read_options, cli_person_options,
                cli_common_options},
    .run = run_search,
};
