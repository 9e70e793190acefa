/* description.c - the table of a description, as text, as a page and as lines of CSV. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* One figure of the table: of a column, or of a cell of it or of a pair. */
typedef struct line {
  const char *column, *level, *what;
  const json_t *figure;
  double factor;
  int small; /* a cell that cannot be told from an empty one */
} line;
typedef void (*put_line)(const line *l);

/* As many digits as the interval leaves two of. */
static const char *digits(const line *l, const char *key) {
  static char ring[4][64];
  static int next;
  char *text = ring[next = (next + 1) % 4];
  double width = l->factor * (cli_number(l->figure, "upper") - cli_number(l->figure, "lower"));
  int places = width > 0 ? 1 - (int)floor(log10(width)) : 6;
  double value = l->factor * cli_number(l->figure, key), unit = pow(10, places);
  if (places < 0) value = rint(value * unit) / unit;
  snprintf(text, sizeof ring[0], "%.*f", places < 0 ? 0 : places > 12 ? 12 : places, value + 0.0);
  return text;
}

/* ---- the lines -------------------------------------------------------------------------------------------------- */

static void put_cell(const char *column, const char *level, const json_t *cell, put_line put) {
  int small = json_is_true(json_object_get(cell, "small"));
  put(&(line){column, level, "count", json_object_get(cell, "count"), 1, small});
  put(&(line){column, level, "share %", json_object_get(cell, "share"), 100, small});
}

static void put_column(const json_t *column, put_line put) {
  static const char *const figures[] = {"mean", "deviation"};
  const char *name = cli_string(column, "name");
  const json_t *one;
  size_t k;
  char what[40];
  put(&(line){name, "", "records", json_object_get(column, "told"), 1, 0});
  put(&(line){name, "", "missing %", json_object_get(column, "missing"), 100, 0});
  for (int i = 0; i < 2; i++)
    if (json_object_get(column, figures[i]))
      put(&(line){name, "", figures[i], json_object_get(column, figures[i]), 1, 0});
  json_array_foreach(json_object_get(column, "quantiles"), k, one) {
    snprintf(what, sizeof what, "%g %% below", 100 * cli_number(one, "at"));
    put(&(line){name, "", what, one, 1, 0});
  }
  json_array_foreach(json_object_get(column, "levels"), k, one) put_cell(name, cli_string(one, "name"), one, put);
}

static void put_pair(const json_t *pair, put_line put) {
  const json_t *rows = json_object_get(pair, "rows"), *columns = json_object_get(pair, "columns"), *row, *cell;
  char name[300], level[300];
  size_t i, j;
  snprintf(name, sizeof name, "%s x %s", json_string_value(json_array_get(json_object_get(pair, "of"), 0)),
           json_string_value(json_array_get(json_object_get(pair, "of"), 1)));
  json_array_foreach(json_object_get(pair, "cells"), i, row) {
    json_array_foreach(row, j, cell) {
      snprintf(level, sizeof level, "%s, %s", json_string_value(json_array_get(rows, i)),
               json_string_value(json_array_get(columns, j)));
      put_cell(name, level, cell, put);
    }
  }
}

static void put_lines(const json_t *root, put_line put) {
  const json_t *one;
  size_t k;
  json_array_foreach(json_object_get(root, "columns"), k, one) put_column(one, put);
  json_array_foreach(json_object_get(root, "cross"), k, one) put_pair(one, put);
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void put_text(const line *l) {
  static char last[300];
  if (strcmp(last, l->column) != 0) printf("%s\n", l->column);
  snprintf(last, sizeof last, "%s", l->column);
  printf("  %-28s %-11s ", l->level, l->what);
  if (l->small)
    printf("below %s\n", digits(l, "upper"));
  else
    printf("%s (%s to %s)\n", digits(l, "value"), digits(l, "lower"), digits(l, "upper"));
}

/* ---- CSV -------------------------------------------------------------------------------------------------------- */

static void put_quoted(const char *text) {
  int quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  if (quoted) putchar('"');
  putchar(',');
}

static void put_csv(const line *l) {
  put_quoted(l->column), put_quoted(l->level), put_quoted(l->what);
  printf("%.9g,%.9g,%.9g,%d\n", l->factor * cli_number(l->figure, "value"), l->factor * cli_number(l->figure, "lower"),
         l->factor * cli_number(l->figure, "upper"), l->small);
}

/* ---- a page ----------------------------------------------------------------------------------------------------- */

static void put_escaped(const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      fputs("&lt;", stdout);
    else if (*text == '>')
      fputs("&gt;", stdout);
    else if (*text == '&')
      fputs("&amp;", stdout);
    else
      putchar(*text);
  }
}

static void put_html(const line *l) {
  fputs("<tr><td>", stdout), put_escaped(l->column);
  fputs("</td><td>", stdout), put_escaped(l->level);
  fputs("</td><td>", stdout), put_escaped(l->what);
  if (l->small)
    printf("</td><td>below %s</td><td></td></tr>\n", digits(l, "upper"));
  else
    printf("</td><td>%s</td><td>%s to %s</td></tr>\n", digits(l, "value"), digits(l, "lower"), digits(l, "upper"));
}

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Description</title>\n"
    "<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:left}</style>\n<h1>Description</h1>\n";

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void put_left_out(const json_t *columns, const char *before, const char *after) {
  const json_t *one;
  size_t k;
  json_array_foreach(columns, k, one) {
    if (!strcmp(cli_string(one, "type"), "date"))
      printf("%sLeft out, since it holds dates: %s.%s\n", before, cli_string(one, "name"), after);
  }
}

/* What the figures are, in words. */
static void put_words(const json_t *root, const json_t *claim, const char *before, const char *after) {
  printf(
      "%s%.0f records%s.\nIntervals of 95 %% count the noise%s; those of counts the noise alone. Shares are of\n"
      "records without a gap, those of cross-tables of all. \"below\": cannot be told from an empty cell.%s\n",
      before, cli_number(root, "rows"),
      json_is_true(json_object_get(root, "persons")) ? ", weighed so that a person's count for one at most" : "",
      json_is_true(json_object_get(root, "sampling")) ? " and who happens to be in the table" : "", after);
  put_left_out(json_object_get(json_object_get(root, "schema"), "columns"), before, after);
  if (claim)
    printf("%sPrivacy: epsilon %s, delta %s, %s, of everything in the file.%s\n", before,
           cli_real(cli_number(claim, "epsilon")), cli_real(cli_number(claim, "delta")),
           cli_string(claim, "neighbours"), after);
}

void cli_put_description(const json_t *root, const json_t *claim, cli_form form) {
  if (form == CLI_LINES) {
    printf("column,level,figure,value,lower,upper,small\n");
    put_lines(root, put_csv);
    return;
  }
  if (form == CLI_WORDS) {
    put_lines(root, put_text);
    put_words(root, claim, "\n", "");
    return;
  }
  fputs(head, stdout);
  put_words(root, claim, "<p>", "</p>");
  printf("<table>\n<tr><th>Column</th><th>Value</th><th>Figure</th><th></th><th>95 %% interval</th></tr>\n");
  put_lines(root, put_html);
  printf("</table>\n</html>\n");
}
