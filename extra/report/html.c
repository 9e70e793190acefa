/* html.c - a page that grows: constant markup, escaped texts, numbers that carry their exact value. */
#include "report/html.h"

#include "core/alloc.h"
#include "core/spec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(tct_html *html, const char *piece, size_t length) {
  int64_t need = html->length + (int64_t)length + 1;
  if (!html->failed && need > html->size) {
    char *grown = tct_grow(html->text, html->length, 2 * need, 1);
    html->failed = !grown;
    if (grown) html->text = grown, html->size = 2 * need;
  }
  if (html->failed) return;
  memcpy(html->text + html->length, piece, length);
  html->length += (int64_t)length;
  html->text[html->length] = 0;
}

void tct_html_put(tct_html *html, const char *markup) { append(html, markup, strlen(markup)); }

void tct_html_format(tct_html *html, const char *format, ...) {
  char text[1200];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (length < 0 || (size_t)length >= sizeof text)
    html->failed = 1; /* a page with a piece missing is no page */
  else
    append(html, text, (size_t)length);
}

/* The five characters that mean something in HTML, in texts and in quoted attributes; control characters, which HTML
 * does not allow, become U+FFFD.  Bytes above 0x7f are parts of UTF-8 sequences (jansson refuses any others) and none
 * of them is markup. */
static void escape(tct_html *html, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    switch (c) {
      case '&': tct_html_put(html, "&amp;"); break;
      case '<': tct_html_put(html, "&lt;"); break;
      case '>': tct_html_put(html, "&gt;"); break;
      case '"': tct_html_put(html, "&quot;"); break;
      case '\'': tct_html_put(html, "&#39;"); break;
      default:
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
          tct_html_put(html, "\xef\xbf\xbd");
        else
          append(html, text, 1);
        if (c == '=' || c == '_' || c == ',' || c == '/') tct_html_put(html, "<wbr>"); /* a long name may break here */
    }
  }
}

/* bdi: a name written from right to left, or with direction marks in it, cannot turn its surroundings around. */
void tct_html_text(tct_html *html, const char *text) {
  tct_html_put(html, "<bdi>");
  escape(html, text);
  tct_html_put(html, "</bdi>");
}

void tct_html_field(tct_html *html, const char *tag, const char *field, const char *text) {
  tct_html_format(html, "<%s data-field=\"%s\">", tag, field);
  tct_html_text(html, text);
  tct_html_format(html, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* 1e-06 as a reader writes it: 10 to the -6; 2.5e-07: 2.5 x 10 to the -7; and a minus sign, not a hyphen. */
static void put_number(tct_html *html, const char *number) {
  static const char minus[] = "\xe2\x88\x92";
  const char *power = strchr(number, 'e');
  if (*number == '-') tct_html_put(html, minus);
  number += *number == '-';
  if (!power) {
    tct_html_put(html, number);
    return;
  }
  if (power - number != 1 || *number != '1') {
    append(html, number, (size_t)(power - number));
    tct_html_put(html, "\xc2\xa0\xc3\x97\xc2\xa0");
  }
  int exponent = atoi(power + 1);
  tct_html_format(html, "10<sup>%s%d</sup>", exponent < 0 ? minus : "", abs(exponent));
}

void tct_html_real(tct_html *html, const char *field, double value, int digits) {
  char exact[40], shown[40];
  if (!isfinite(value)) {
    tct_html_put(html, isnan(value) ? "none" : "infinite");
    return;
  }
  tct_print_real(value, exact, sizeof exact);
  if (digits > 0)
    snprintf(shown, sizeof shown, "%.*g", digits, value);
  else
    memcpy(shown, exact, sizeof shown);
  tct_html_format(html, "<data data-field=\"%s\" value=\"%s\">", field, exact);
  put_number(html, shown);
  tct_html_put(html, "</data>");
}

void tct_html_count(tct_html *html, const char *field, int64_t value) {
  char plain[32], grouped[48];
  int length = snprintf(plain, sizeof plain, "%lld", (long long)value), at = 0;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0 && plain[i - 1] != '-') grouped[at++] = ',';
    grouped[at++] = plain[i];
  }
  grouped[at] = 0;
  tct_html_format(html, "<data data-field=\"%s\" value=\"%s\">%s</data>", field, plain, grouped);
}

char *tct_html_take(tct_html *html) {
  if (!html->failed) return html->text;
  tct_free(html->text);
  return NULL;
}
