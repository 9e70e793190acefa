/* plan_text.c - a plan as tacit train shows it: of one fit, or of one for each class within one budget. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of several classes those of one fit, and how often. */
static void print_events(const json_t *plan) {
  const json_t *event, *list = json_object_get(plan, "events");
  int several = !isnan(cli_number(plan, "models"));
  size_t i;
  if (several) list = json_object_get(json_array_get(json_object_get(plan, "fits"), 0), "events");
  json_array_foreach(list, i, event) {
    char *text = json_is_string(event) ? strdup(json_string_value(event)) : json_dumps(event, JSON_COMPACT);
    cli_line(i ? "" : several ? "events each" : "events", "%s", text ? text : "");
    free(text);
  }
}

/* In units of the sum that is released. */
static void print_releases(const json_t *plan) {
  const json_t *releases = json_object_get(json_array_get(json_object_get(plan, "fits"), 0), "releases"), *r;
  size_t i;
  json_array_foreach(releases, i, r) {
    char length[64] = "set as the run goes, from earlier releases", noise[80] = "";
    if (json_is_number(json_object_get(r, "sensitivity")))
      snprintf(length, sizeof length, "%s", cli_real(cli_number(r, "sensitivity")));
    if (json_is_number(json_object_get(r, "deviation")) && cli_number(r, "deviation") > 0)
      snprintf(noise, sizeof noise, ", deviation %s", cli_real(cli_number(r, "deviation")));
    if (json_is_true(json_object_get(r, "open"))) snprintf(noise, sizeof noise, ", noise from the budget that is left");
    cli_line(i ? "" : "releases", "%s: sensitivity %s (%s)%s, %.0f times", cli_string(r, "what"), length,
             cli_string(r, "norm"), noise, cli_number(r, "count"));
  }
}

int cli_plan_private(const json_t *plan) { return json_is_true(json_object_get(plan, "private")); }

/* What the bounds cost, and what all costs together. */
static void print_estimate(const json_t *estimate) {
  const json_t *asked = json_object_get(estimate, "asked");
  if (!estimate) return;
  double lists = cli_number(asked, "lists");
  cli_line("estimate", "%s, of %.0f columns, %zu releases, epsilon %s, delta %s", cli_string(asked, "spec"),
           cli_number(asked, "columns") + (isnan(lists) ? 0 : lists),
           json_array_size(json_object_get(estimate, "releases")), cli_real(cli_number(estimate, "epsilon")),
           cli_real(cli_number(estimate, "delta")));
  cli_line("together", "epsilon %s, delta %s", cli_real(cli_number(asked, "epsilon")),
           cli_real(cli_number(asked, "delta")));
}

void cli_plan_print(const json_t *plan) {
  cli_line("solver", "%s", cli_string(plan, "solver"));
  if (json_object_get(plan, "note")) cli_line("note", "%s", cli_string(plan, "note"));
  if (json_object_get(plan, "why")) cli_line("why", "%s", cli_string(plan, "why"));
  cli_line("loss", "%s", cli_string(plan, "loss"));
  if (json_object_get(plan, "loss_why")) cli_line("", "%s", cli_string(plan, "loss_why"));
  cli_line("penalty", "%s", cli_string(plan, "penalty"));
  cli_line("shape", "%.0f rows, %.0f columns", cli_number(plan, "rows"), cli_number(plan, "columns"));
  if (json_object_get(plan, "max_passes"))
    cli_line("passes", "at most %.0f over the data, whatever they are", cli_number(plan, "max_passes"));
  if (!cli_plan_private(plan)) {
    cli_line("privacy", "NONE");
    return;
  }
  cli_line("privacy", "epsilon %s, delta %s, %s, proved by %s", cli_real(cli_number(plan, "epsilon")),
           cli_real(cli_number(plan, "delta")), cli_string(plan, "neighbours"), cli_string(plan, "accountant"));
  if (!isnan(cli_number(plan, "models")))
    cli_line("classes", "%.0f, one against the rest; each fit has epsilon %s", cli_number(plan, "models"),
             cli_real(cli_number(json_object_get(plan, "each"), "epsilon")));
  if (!isnan(cli_number(plan, "noise_multiplier")))
    cli_line("noise", "%s (multiplier: standard deviation / sensitivity of one record)",
             cli_real(cli_number(plan, "noise_multiplier")));
  print_events(plan);
  print_releases(plan);
  print_estimate(json_object_get(plan, "estimate"));
}

json_t *cli_plan_json(const tct_plan *plan, tct_error *err) {
  char *text = tct_plan_json(plan, err);
  return text ? cli_take_json(text) : NULL;
}
