/* html.h - a page that grows: constant markup, escaped texts, numbers that carry their exact value. */
#ifndef TCT_REPORT_HTML_H
#define TCT_REPORT_HTML_H
#include "core/status.h"

/* A text that grows.  Zero it; a failure is remembered and shows at the end. */
typedef struct tct_html {
  char *text; /* owned; NULL while empty */
  int64_t length, size;
  int failed;
} tct_html;

/* Markup, as it is.  Never hand it a text that came from a file or a column. */
void tct_html_put(tct_html *html, const char *markup);
/* The same with numbers and constant texts filled in. */
void tct_html_format(tct_html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Any text at all: markup, quotes and control characters lose their meaning, and its direction stays its own. */
void tct_html_text(tct_html *html, const char *text);

/* Any text, as <tag> whose data-field says where it is in the model file.  tag: "span", or with attributes. */
void tct_html_field(tct_html *html, const char *tag, const char *field, const char *text);

/* A number for people: `digits` significant digits (0: the shortest exact form), with its exact value in the markup.
 * field: where the number is in the model file, e.g. "privacy.epsilon", or what it was derived as; a constant. */
void tct_html_real(tct_html *html, const char *field, double value, int digits);
/* A whole number with its thousands apart. */
void tct_html_count(tct_html *html, const char *field, int64_t value);

/* The text, the caller's; NULL: out of memory. */
char *tct_html_take(tct_html *html);
#endif
