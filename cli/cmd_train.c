/* cmd_train.c - tacit train: plan, read, fit, write the model with its certificate. */
#include "cli.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The columns whose bounds the schema leaves open, or all without one; and a real label without bounds.  *lists <-
 * those whose list of categories is open. */
static int64_t open_columns(const cli_args *args, int64_t cols, int64_t *lists) {
  const json_t *column;
  size_t k;
  int64_t count = cli_labels(&args->config) == TCT_LABELS_REAL && isnan(args->config.label_bound);
  *lists = 0;
  if (!args->read.schema_path) return count + cols;
  json_t *schema = cli_fit_schema(args);
  if (!schema) return -1;
  json_array_foreach(json_object_get(schema, "columns"), k, column) {
    const char *type = json_string_value(json_object_get(column, "type"));
    bool list = type && strcmp(type, "category") == 0;
    if (json_is_true(json_object_get(column, "estimate"))) *(list ? lists : &count) += 1;
  }
  json_decref(schema);
  return count;
}

/* The rest of the budget goes on to the fit, under bounds that stand for those to come. */
static int plan_estimate(cli_args *args, int64_t rows, int64_t cols, json_t **estimate) {
  tct_error err = {0};
  if (!args->config.estimate) return 0;
  int64_t lists, columns = open_columns(args, cols, &lists);
  char *text = tct_estimate_json(&args->config, rows, columns, lists, &args->config, &err);
  if (!text) return cli_fail_error(&err);
  *estimate = cli_take_json(text);
  if (isnan(args->config.row_norm)) args->config.row_norm = sqrt((double)cols + args->config.intercept);
  if (isnan(args->config.label_bound)) args->config.label_bound = 1;
  return *estimate ? 0 : CLI_RUN;
}

/* What a run beyond its limit of memory asks of the disk, and how long that takes at the rate of now. */
static void plan_disk(const cli_args *args, json_t *plan) {
  double values = cli_number(plan, "disk_bytes"), passes = cli_number(plan, "passes");
  const char *folder = cli_scratch_folder(args->read.scratch);
  if (!(values > cli_number(plan, "memory_limit") / 4) || !(passes > 0)) return; /* all stays in memory */
  cli_disk disk = cli_disk_measure(folder);
  double seconds = values / disk.write + passes * values / disk.read;
  if (disk.free < values)
    cli_warn("%s has room for %.1f GiB, and the values may take %.1f GiB; name another folder with --scratch", folder,
             disk.free / (1 << 30), values / (1 << 30));
  if (isnan(seconds)) return;
  json_object_set_new(plan, "disk_seconds", json_real(seconds));
  json_object_set_new(plan, "disk_read_rate", json_real(disk.read));
  json_object_set_new(plan, "disk_write_rate", json_real(disk.write));
  if (args->json) return;
  cli_line("disk", "about %.0f passes read %.1f GiB, and %.1f GiB are written", passes, passes * values / (1 << 30),
           values / (1 << 30));
  cli_line("", "%.0f s at the %.0f and %.0f MB/s of %s now, beside the computation", seconds, disk.read / 1e6,
           disk.write / 1e6, folder);
}

static int dry_run(cli_args *args) {
  tct_error err;
  int64_t rows = 0, cols = 0;
  json_t *estimate = NULL;
  int code = cli_public_shape(args, &rows, &cols);
  if (!code) code = plan_estimate(args, rows, cols, &estimate);
  if (code) return json_decref(estimate), code;
  if (cli_labels(&args->config) == TCT_LABELS_CLASSES) args->config.classes = cli_fit_public_classes(args);
  tct_plan *plan = tct_plan_new(&args->config, rows, cols, &err);
  json_t *root = plan ? cli_plan_json(plan, &err) : NULL;
  tct_plan_free(plan);
  if (root && estimate) {
    double both = cli_number(root, "memory_bytes") + cli_number(estimate, "memory_bytes");
    json_object_set(root, "estimate", estimate);
    json_object_set_new(root, "memory_bytes", json_real(both));
  }
  json_decref(estimate);
  if (!root) return cli_fail_error(&err);
  code = cli_expect(args, rows, root);
  if (code) return json_decref(root), code;
  cli_fit_warn(args, root);
  if (args->json) plan_disk(args, root);
  if (args->json)
    code = cli_print_json(root);
  else
    cli_plan_print(root), cli_expect_print(root);
  if (!args->json && !isnan(cli_number(root, "memory_bytes")))
    cli_line("memory", "%.1f MiB", cli_number(root, "memory_bytes") / 1048576);
  if (!args->json && json_object_get(root, "memory_limit"))
    cli_line("limit", "%.1f MiB; at least %.1f MiB stay in memory, and up to %.1f MiB of values lie on disk",
             cli_number(root, "memory_limit") / 1048576, cli_number(root, "memory_needed") / 1048576,
             cli_number(root, "disk_bytes") / 1048576);
  if (!args->json) plan_disk(args, root);
  json_decref(root);
  return code;
}

/* What the run needs freed whatever happens. */
typedef struct run {
  tct_team *team;
  tct_data *data;
  tct_plan *plan;
  tct_model *model;
  tct_config asked;              /* before an estimate took its share; loss NULL: there was none */
  double read, planned, trained; /* seconds */
  int out;                       /* with -o -, what standard output was; -1: the model goes to a file */
} run;

static tct_status make_plan(cli_args *args, run *r, tct_error *err) {
  bool joint = tct_config_labels(&args->config) == TCT_LABELS_CLASSES;
  tct_labels kind;
  tct_data_classes(r->data, &kind);
  if (joint && kind != TCT_LABELS_CLASSES) {
    *err = (tct_error){.status = TCT_E_USAGE,
                       .text =
                           "this loss is of more than two classes at once; list them with --classes, or take "
                           "--loss logistic for two"};
    return err->status;
  }
  r->plan = tct_plan_new(&args->config, tct_data_rank_rows(r->data, -1), tct_data_cols(r->data), err);
  return r->plan ? TCT_OK : err->status;
}

/* Weights count in an estimate, so they come first; both come before the schema's bounds are used. */
static tct_status weigh_and_estimate(cli_args *args, run *r, tct_error *err) {
  tct_status status = cli_fit_weigh(args, r->data, err);
  if (status != TCT_OK || !args->config.estimate) return status;
  r->asked = args->config;
  return tct_data_estimate(r->data, &args->config, err);
}

static tct_status train(cli_args *args, run *r, tct_error *err) {
  double start = cli_seconds();
  r->data = tct_data_read_parts((const char *const *)args->operand, (size_t)args->operands, &args->read, r->team, err);
  if (!r->data) return err->status;
  r->read = cli_seconds() - start;
  start = cli_seconds();
  args->config.output = cli_to_standard_output(args) ? NULL : args->output;
  cli_progress_start(&args->config);
  if (tct_team_rank(r->team, NULL) > 0) args->config.progress = NULL;
  tct_labels kind;
  int64_t classes = tct_data_classes(r->data, &kind);
  if (kind == TCT_LABELS_CLASSES) args->config.classes = classes;
  tct_status status = weigh_and_estimate(args, r, err);
  if (status == TCT_OK) status = tct_config_use_schema(&args->config, r->data, NULL, NULL, err);
  if (status == TCT_OK) status = make_plan(args, r, err);
  status = tct_team_agree(r->team, status, err);
  r->planned = cli_seconds() - start;
  start = cli_seconds();
  if (status == TCT_OK) r->model = tct_fit(r->plan, r->data, err);
  r->trained = cli_seconds() - start;
  cli_progress_end();
  if (!r->model) return err->status;
  if (tct_team_rank(r->team, NULL) == 0) {
    if (!cli_to_standard_output(args)) status = tct_model_write(r->model, args->output, err);
    if (status == TCT_OK && args->report) status = tct_report_page_write(r->model, &args->page, args->report, err);
  }
  return tct_team_agree(r->team, status, err);
}

/* As the model file has it, but for the fit's own claim, which the plan is. */
static json_t *estimate_of(const tct_model *model) {
  tct_error err;
  json_t *root = cli_take_json(tct_model_json(model, &err));
  json_t *estimate = json_incref(json_object_get(json_object_get(root, "privacy"), "estimate"));
  json_object_del(estimate, "rest");
  json_decref(root);
  return estimate;
}

static int report(const cli_args *args, const run *r) {
  tct_error err = {0};
  int ranks;
  tct_team_rank(r->team, &ranks);
  json_t *root = cli_plan_json(r->plan, &err);
  if (!root) return cli_fail_error(&err);
  int code = 0;
  if (r->asked.estimate) json_object_set_new(root, "estimate", estimate_of(r->model));
  cli_fit_warn(args, root);
  cli_warn_unaccounted(r->model);
  if (tct_model_warning(r->model)) cli_warn("%s", tct_model_warning(r->model));
  json_t *rows = json_array();
  for (int rank = 0; rank < ranks; rank++) json_array_append_new(rows, json_integer(tct_data_rank_rows(r->data, rank)));
  json_object_set_new(root, "ranks", json_integer(ranks));
  json_object_set_new(root, "rank_rows", rows);
  json_object_set_new(root, "seconds",
                      json_pack("{s:f, s:f, s:f}", "read", r->read, "plan", r->planned, "train", r->trained));
  json_object_set_new(root, "model", json_string(args->output));
  if (args->report) json_object_set_new(root, "report", json_string(args->report));
  if (args->json) {
    code = cli_print_json(root);
  } else {
    cli_plan_print(root);
    cli_line("seconds", "%.2f reading, %.2f planning, %.2f training", r->read, r->planned, r->trained);
    cli_line("model", "%s", cli_to_standard_output(args) ? "standard output" : args->output);
    if (args->report) cli_line("report", "%s", args->report);
  }
  json_decref(root);
  return code;
}

static int check_estimate(const cli_args *args) {
  tct_error err = {0};
  int64_t lists, columns = open_columns(args, 1, &lists);
  if (columns < 0) return 0;             /* reading says why */
  if (columns + lists == 0) columns = 1; /* that there is nothing to estimate is said once the table is read */
  char *estimate = tct_estimate_json(&args->config, 1000, columns, lists, NULL, &err);
  tct_text_free(estimate);
  return estimate ? 0 : cli_fail_error(&err);
}

/* What can be found wrong before anything is read. */
static int check_before(cli_args *args) {
  tct_error err = {0};
  int code = cli_check_outputs(&cli_train, args); /* rank 0 alone touches the files that are to be written */
  if (code) return code;
  if (args->config.estimate && (code = check_estimate(args))) return code;
  if (tct_config_check(&args->config, args->read.schema_path != NULL, &err) != TCT_OK) return cli_fail_error(&err);
  return cli_fit_check_ledger(args);
}

/* No released number and no claim depends on these, and on other ranks than 0 nothing at all.  The schema and the data
 * are compared by their contents (tct_data_read_parts). */
static const char *const free_options[] = {"--threads", "--json",         "--schema", "--report", "--title",
                                           "--purpose", "--contact",      "-o",       "--meet",   "--rank",
                                           "--secret",  "--meet-timeout", NULL};

/* The ranks are one program.  What they agree on rank 0 checks alone, as it alone touches files that are written. */
static int begin(cli_args *args, tct_team *team) {
  tct_error err = {0};
  int code = 0;
  if (cli_same(&cli_train, args, free_options, team, &err) != TCT_OK) return cli_fail_error(&err);
  if (args->help) return 0;
  if (args->read.event && isnan(args->config.label_bound) && args->read.horizon > 0)
    args->config.label_bound = args->read.horizon;
  int ranks, rank = tct_team_rank(team, &ranks);
  if (rank == 0) code = cli_fit_check(args);
  if (rank == 0 && !code) code = cli_fit_check_run(args);
  if (!code && args->read.key && ranks > 1)
    code = cli_fail(CLI_USAGE, "persons are bounded where all their rows are; run --person without mpirun");
  if (rank == 0 && !code && !args->dry_run) code = check_before(args);
  args->read.labels = cli_labels(&args->config);
  tct_status status = tct_team_agree(team, (tct_status)code, &err); /* up to 4, codes are statuses */
  if (status == TCT_OK || code) return (int)status;                 /* what this rank refuses it has said */
  return err.text[0] ? cli_fail_error(&err) : cli_fail((int)status, "another rank refused this; look at what it says");
}

static int run_train(cli_args *args) {
  tct_error err = {0};
  run r = {.out = -1};
  int code = cli_rank_begin(args, &r.team);
  if (code) return code;
  if (tct_team_rank(r.team, NULL) > 0 && !args->sockets.address) cli_silence(); /* mpirun shows what all say */
  code = begin(args, r.team);
  if (!code && args->help) {
    if (tct_team_rank(r.team, NULL) == 0) cli_put_help(&cli_train);
  } else if (!code && args->dry_run) {
    code = tct_team_rank(r.team, NULL) == 0 ? dry_run(args) : 0;
  } else if (!code && cli_to_standard_output(args) && (r.out = cli_divert()) < 0) {
    code = CLI_RUN;
  } else if (!code) {
    tct_status status = train(args, &r, &err);
    if (status != TCT_OK)
      code = cli_fail_error(&err);
    else if (tct_team_rank(r.team, NULL) == 0)
      code = report(args, &r);
    if (!code && r.out >= 0 && tct_team_rank(r.team, NULL) == 0) code = cli_write_diverted(r.out, r.model);
  }
  tct_model_free(r.model);
  tct_plan_free(r.plan);
  tct_data_free(r.data);
  tct_team_free(r.team);
  return code;
}

const cli_verb cli_train = {
    .name = "train",
    .operands = "DATA... --loss SPEC --epsilon E --delta D --row-norm R -o MODEL.json [OPTION...]",
    .summary =
        "Trains a linear model under differential privacy and writes it with its certificate.\n"
        "DATA is CSV, JSON Lines, Stata, LIBSVM, NPY or NPZ (X and y), also compressed (gzip, xz, zstd, bzip2); - is "
        "standard input.\n"
        "Several files are the parts of one table, in this order.",
    .details =
        "epsilon, delta and the bounds of the data have no default: they are your promise to the people in the data.\n"
        "Transforms are applied in this order: schema, scale, intercept, rows.\n"
        "\n"
        "Examples\n"
        "  tacit train people.csv --schema people.schema.json --loss logistic --penalty l2:lambda=1e-4 \\\n"
        "      --solver dpscd --epsilon 1 --delta 1e-6 --row-norm 1 -o model.json\n"
        "  xz -dc people.csv.xz | tacit train - ...\n"
        "  mpirun -n 4 tacit train people.csv ...       shares the rows of one plain file, or whole parts, out over "
        "ranks\n"
        "  tacit train people.csv ... --meet node1:7000 --ranks 2 --rank 0 --secret FILE    and with --rank 1 on "
        "node2\n"
        "  tacit train --dry-run --shape 50000,100 --loss logistic --solver dpscd --penalty l2:lambda=1e-4 \\\n"
        "      --epsilon 1 --delta 1e-6 --row-norm 1\n"
        "  tacit train --dry-run --records 50000 --schema people.schema.json --loss logistic --epsilon 1 --delta 1e-6\n"
        "\n"
        "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused.\n",
    .min = 0,
    .max = 1000000,
    .options = {cli_fit_options, cli_fit_more_options, cli_train_options, cli_rank_options, cli_page_options,
                cli_read_options, cli_person_options, cli_common_options},
    .run = run_train,
    .helps = 1,
};
