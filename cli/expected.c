/* expected.c - the errors that a plan expects of each weight: what --effect and --assume ask, and how it is shown. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "name=a:b:c,..." as {"name": [a, b, c], ...}, or its numbers alone; a name may hold "=". NULL: it is none. */
static json_t *list_of(const char *text, int alone) {
  json_t *out = json_object();
  while (out && *text) {
    const char *end = text + strcspn(text, ","), *at = end;
    while (at > text && *at != '=') at--;
    json_t *numbers = json_array();
    const char *from = at;
    do {
      char *rest = NULL;
      double value = strtod(from + 1, &rest);
      int good = at > text && rest > from + 1 && isfinite(value) && (*rest == ':' || rest == end);
      if (!good) return json_decref(numbers), json_decref(out), NULL;
      json_array_append_new(numbers, json_real(value));
      from = rest;
    } while (from < end);
    json_t *value = alone ? json_incref(json_array_get(numbers, 0)) : json_incref(numbers);
    char *name = strndup(text, (size_t)(at - text));
    json_object_set_new(out, name, value); /* NULL: the value goes */
    free(name);
    json_decref(numbers);
    text = *end ? end + 1 : end;
  }
  return out;
}

static char *asked(const cli_args *args) {
  json_t *effect = list_of(args->effect ? args->effect : "", 1), *assume = list_of(args->assume ? args->assume : "", 0);
  json_t *all = effect && assume ? json_pack("{s:O, s:O}", "effect", effect, "assume", assume) : NULL;
  char *text = all ? json_dumps(all, 0) : NULL;
  json_decref(effect), json_decref(assume), json_decref(all);
  return text;
}

int cli_expect(const cli_args *args, int64_t rows, json_t *plan) {
  tct_error err = {0};
  if (!args->effect && !args->assume) return 0;
  if (!args->read.schema_path)
    return cli_fail(CLI_USAGE, "--effect and --assume are of a schema's columns; give --schema");
  char *text = asked(args);
  if (!text)
    return cli_fail(CLI_USAGE,
                    "--effect has numbers by weights and --assume by columns, as --effect educ=0.05,age=0.1 "
                    "and --assume age=45:12,died=0.3; write them so");
  char *told = tct_expect_json(&args->config, &args->read, rows, text, &err);
  free(text);
  if (!told) return cli_fail_error(&err);
  json_object_set_new(plan, "expected", cli_take_json(told));
  return 0;
}

void cli_expect_print(const json_t *plan) {
  const json_t *expected = json_object_get(plan, "expected"), *w;
  size_t k;
  json_array_foreach(json_object_get(expected, "weights"), k, w) {
    char power[80] = "", most[40] = "";
    double error = cli_number(w, "standard_error"), end = cli_number(w, "standard_error_most");
    if (end > 1.001 * error) snprintf(most, sizeof most, " to %.3g", end);
    if (fabs(cli_number(w, "effect")) > 0)
      snprintf(power, sizeof power, ", power %.2f for %s", cli_number(w, "power"), cli_real(cli_number(w, "effect")));
    if (isnan(error))
      cli_line(k ? "" : "expected", "%s: withheld", cli_string(w, "name"));
    else
      cli_line(k ? "" : "expected",
               "%s: standard error %.3g%s, %.0f %% of its square noise, withheld %.2f, detectable %.3g%s",
               cli_string(w, "name"), error, most, 100 * cli_number(w, "noise_part"), cli_number(w, "withheld"),
               cli_number(w, "detectable"), power);
  }
  if (expected)
    cli_line("",
             "medians of %.0f fits of an invented table; columns are even where nothing is assumed, and an error ends "
             "where the others tell half of an unassumed one (R2 0.5); detectable: with power 0.8",
             cli_number(expected, "tries"));
}
