/* engineer.c - a table, its schema and a budget; a model, its page, and whether the file proves what it claims.
 *
 *   cc engineer.c -o engineer $(pkg-config --cflags --libs tacit)
 *   ./engineer adult.csv adult.schema.json adult.model.json adult.html */
#include <stdio.h>
#include <tacit.h>

static tct_model *train(const char *table, const char *schema, tct_error *err) {
  tct_read_options options;
  tct_config config;
  tct_read_options_default(&options);
  tct_config_default(&config);
  options.schema_path = schema, options.labels = TCT_LABELS_BINARY;
  config.loss = "logistic", config.epsilon = 1, config.delta = 1e-6;
  tct_data *data = tct_data_read(table, &options, err);
  tct_plan *plan = NULL;
  if (data && tct_config_use_schema(&config, data, NULL, NULL, err) == TCT_OK)
    plan = tct_plan_new(&config, tct_data_rows(data), tct_data_cols(data), err);
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  tct_plan_free(plan);
  tct_data_free(data);
  return model;
}

int main(int argc, char **argv) {
  tct_error err;
  tct_verdict verdict;
  if (argc != 5) return fprintf(stderr, "usage: engineer TABLE.csv SCHEMA.json MODEL.json PAGE.html\n"), 2;
  tct_model *model = train(argv[1], argv[2], &err);
  int ok = model && tct_model_write(model, argv[3], &err) == TCT_OK &&
           tct_report_page_write(model, NULL, argv[4], &err) == TCT_OK;
  char *checks = ok ? tct_verify_json(argv[3], NULL, NULL, NULL, NULL, &verdict, &err) : NULL;
  tct_model_free(model);
  if (!checks) return fprintf(stderr, "engineer: %s\n", err.text), 1;
  printf("%s\nproved: %s\n", checks, verdict == TCT_VERDICT_VERIFIED ? "yes" : "no");
  tct_text_free(checks);
  return verdict != TCT_VERDICT_VERIFIED;
}
