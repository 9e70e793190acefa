/* manual.c - manual pages in roff, from the same tables as the help. */
#include "cli.h"

#include <ctype.h>

/* Text as roff takes it: no escape, no request at the beginning of a line; "-" as a minus where it is to be typed. */
static void put_text(const char *text, int typed) {
  int first = 1;
  for (; *text; text++) {
    if (first && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-' && typed)
      fputs("\\-", stdout);
    else
      putchar(*text);
    first = *text == '\n';
  }
}

static void put_head(const char *name) {
  printf(".TH TACIT%s", *name ? "\\-" : "");
  for (; *name; name++) putchar(toupper((unsigned char)*name));
  printf(" 1 \"\" \"tacit %s\" \"tacit\"\n.SH NAME\n", tct_version());
}

static void put_option(const cli_option *o) {
  fputs(".TP\n\\fB", stdout);
  put_text(o->name, 1);
  fputs("\\fR", stdout);
  if (o->value_name) {
    fputs(" \\fI", stdout);
    put_text(o->value_name, 1);
    fputs("\\fR", stdout);
  }
  putchar('\n');
  put_text(o->help, 0);
  putchar('\n');
  if (*o->fallback) {
    fputs(".br\nDefault: ", stdout);
    put_text(o->fallback, 0);
    putchar('\n');
  }
  if (!o->example) return;
  fputs(".br\nExample: ", stdout);
  put_text(o->name, 1);
  putchar(' ');
  put_text(o->example, 1);
  putchar('\n');
}

static void put_section(const char *title) {
  if (*title) printf(".SS %s\n", title);
}

static void put_all(void) {
  char line[300];
  put_head("");
  fputs("tacit \\- linear models under differential privacy\n.SH SYNOPSIS\n\\fBtacit\\fR \\fIVERB\\fR ...\n.SH VERBS\n",
        stdout);
  for (int i = 0; cli_verbs[i]; i++) {
    printf(".TP\n\\fBtacit\\-%s\\fR(1)\n", cli_verbs[i]->name);
    put_text(cli_headline(cli_verbs[i], line, sizeof line), 0);
    putchar('\n');
  }
  fputs(
      ".SH EXIT STATUS\n0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused, 5 "
      "a policy "
      "does not allow it.\n",
      stdout);
}

void cli_put_manual(const cli_verb *verb) {
  char line[300];
  if (!verb) {
    put_all();
    return;
  }
  put_head(verb->name);
  printf("tacit\\-%s \\- ", verb->name);
  put_text(cli_headline(verb, line, sizeof line), 0);
  printf("\n.SH SYNOPSIS\n\\fBtacit %s\\fR ", verb->name);
  put_text(verb->operands, 1);
  fputs("\n.SH DESCRIPTION\n", stdout);
  put_text(verb->summary, 0);
  fputs("\n.SH OPTIONS\n", stdout);
  cli_walk_options(verb, put_section, put_option);
  fputs(".SH NOTES\n.nf\n", stdout);
  put_text(verb->details, 1);
  fputs(".fi\n.SH SEE ALSO\n\\fBtacit\\fR(1)\n", stdout);
}
