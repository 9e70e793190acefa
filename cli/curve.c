/* curve.c - tacit account --curve: the cost of events as a drawing (SVG) or a table (CSV). */
#include "curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 121 }; /* ten per decade of delta; more than the eye tells apart over steps */

typedef struct columns {
  size_t count;
  double *x, *upper, *lower; /* [count] */
} columns;

static int ends_in(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length > tail && !strcmp(text + length - tail, end);
}

static int take_columns(const json_t *root, const char *against, columns *c) {
  const json_t *points = json_object_get(root, "points"), *point;
  size_t i, count = json_array_size(points);
  double *block = calloc(3 * count + 1, sizeof *block);
  if (!block) return cli_fail(CLI_RUN, "out of memory; close other programs and try again");
  *c = (columns){count, block, block + count, block + 2 * count};
  json_array_foreach(points, i, point) {
    c->x[i] = cli_number(point, against);
    c->upper[i] = cli_number(point, "epsilon");
    c->lower[i] = cli_number(point, "epsilon_lower");
  }
  return 0;
}

static void write_csv(const json_t *root, const char *against, FILE *out) {
  const json_t *point;
  size_t i;
  fprintf(out, "%s,epsilon,epsilon_lower,accountant\n", against);
  json_array_foreach(json_object_get(root, "points"), i, point) {
    double upper = cli_number(point, "epsilon"), lower = cli_number(point, "epsilon_lower");
    fprintf(out, "%.17g,%.17g,%.17g,%s\n", cli_number(point, against), isnan(upper) ? INFINITY : upper,
            isnan(lower) ? INFINITY : lower, cli_string(point, "accountant"));
  }
}

/* No accountant may give a lower bound for these events: then there is nothing to draw. */
static int has_lower(const columns *c) {
  for (size_t i = 0; i < c->count; i++)
    if (c->lower[i] > 0) return 1;
  return 0;
}

static void write_svg(const json_t *root, const char *against, const columns *c, FILE *out) {
  char title[200], x_label[80];
  const char *event = json_string_value(json_array_get(json_object_get(root, "events"), 0));
  size_t events = json_array_size(json_object_get(root, "events"));
  int over_delta = !strcmp(against, "delta");
  snprintf(title, sizeof title, "Privacy loss of %.80s%s", event ? event : "", events > 1 ? " and more" : "");
  snprintf(x_label, sizeof x_label, over_delta ? "delta" : "steps (delta = %g)", cli_number(root, "delta"));
  cli_plot plot = {.title = title,
                   .x_label = x_label,
                   .y_label = "epsilon",
                   .log_x = over_delta,
                   .points = c->count,
                   .lines = has_lower(c) ? 2 : 1,
                   .x = c->x,
                   .y = {c->upper, c->lower},
                   .name = {"proved (upper bound)", "at least (lower bound)"}};
  cli_plot_svg(&plot, out);
}

/* What is drawn, and how. */
typedef struct drawing {
  const json_t *root;
  const char *against;
  const columns *c;
  int csv;
} drawing;

static void write_curve(FILE *out, void *user) {
  const drawing *d = user;
  if (d->csv)
    write_csv(d->root, d->against, out);
  else
    write_svg(d->root, d->against, d->c, out);
}

int cli_curve(const cli_args *args) {
  tct_error err = {0};
  columns c = {0};
  const char *against = args->against ? args->against : "delta";
  if (!ends_in(args->curve, ".csv") && !ends_in(args->curve, ".svg"))
    return cli_fail(CLI_USAGE, "--curve needs a file name that ends in .svg or .csv");
  if (!isnan(args->config.epsilon)) return cli_fail(CLI_USAGE, "--curve calibrates nothing; leave out --epsilon");
  if (!strcmp(against, "steps") && isnan(args->config.delta))
    return cli_fail(CLI_USAGE, "--delta is missing; give e.g. --delta 1e-6");
  double delta = strcmp(against, "steps") ? NAN : args->config.delta;
  char *text = tct_account_curve_json((const char *const *)args->operand, (size_t)args->operands,
                                      (tct_neighbours)args->config.neighbours, delta, POINTS, &err);
  if (!text) return cli_fail_error(&err);
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  int code = take_columns(root, against, &c);
  drawing d = {root, against, &c, ends_in(args->curve, ".csv")};
  if (!code) code = cli_write(args->curve, write_curve, &d);
  if (!code && args->json) code = cli_print_json(root);
  if (!code && !args->json) cli_line("curve", "%s", args->curve);
  free(c.x);
  json_decref(root);
  return code;
}
