/* report_curve.c - epsilon against delta as the accountant proves it, with the claimed point. */
#include "account/account.h"
#include "account/curves/work.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* Half a decade between points, from one bad event among all people on earth a hundred times over to where epsilon says
 * nothing any more: the range of curve.c. */
enum { POINTS = 23 };
static const double DELTA_LOW = 1e-12;
/* Relative width of a point's bracket; a hair of the drawing is wider. */
static const double PRECISION = 1e-3;
/* The drawing, in its own units: the text is legible at the width of a phone. */
static const double WIDTH = 400, HEIGHT = 250, LEFT = 46, RIGHT = 14, TOP = 14, BOTTOM = 46;

typedef struct curve {
  double epsilon[POINTS]; /* INFINITY: not proved */
  double top;             /* of the vertical axis */
  double step;            /* between its ticks */
} curve;

static double delta_at(int i) { return DELTA_LOW * pow(10, 0.5 * i); }

/* The named accountant's own curve, so that it passes below the claim: verify has found that it applies.  What takes
 * too much work is not proved. */
static tct_status point(const tct_model *m, double delta, double *epsilon, tct_error *err) {
  tct_status status = tct_accountant_upper(tct_accountant_find(m->accountant), &m->events,
                                           (tct_neighbours)m->neighbours, delta, PRECISION, epsilon, err);
  if (tct_work_over()) *epsilon = INFINITY;
  return tct_work_over() ? TCT_OK : status;
}

/* Some five ticks at 1, 2 or 5 times a power of ten. */
static void scale(curve *c, double claim) {
  double max = claim;
  for (int i = 0; i < POINTS; i++)
    if (isfinite(c->epsilon[i])) max = fmax(max, c->epsilon[i]);
  double rough = max / 5, power = pow(10, floor(log10(rough))), ratio = rough / power;
  c->step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  c->top = c->step * ceil(max * 1.02 / c->step);
}

static double x_at(double delta) {
  return LEFT + (WIDTH - LEFT - RIGHT) * log10(delta / DELTA_LOW) / (0.5 * (POINTS - 1));
}
static double y_at(const curve *c, double epsilon) { return TOP + (HEIGHT - TOP - BOTTOM) * (1 - epsilon / c->top); }

static void axes(tct_html *h, const curve *c) {
  for (double e = 0; e <= c->top * (1 + 1e-9); e += c->step) {
    tct_html_format(h, "<path class=\"grid\" d=\"M%g %.2fH%g\"/><text class=\"end\" x=\"%g\" y=\"%.2f\">%.3g</text>\n",
                    LEFT, y_at(c, e), WIDTH - RIGHT, LEFT - 6, y_at(c, e) + 4, e);
  }
  for (int power = -12; power <= -1; power += power == -3 ? 2 : 3)
    tct_html_format(
        h, "<text class=\"mid\" x=\"%.2f\" y=\"%g\">10<tspan dy=\"-4\" class=\"sup\">\xe2\x88\x92%d</tspan></text>\n",
        x_at(pow(10, power)), HEIGHT - BOTTOM + 18, -power);
  tct_html_format(
      h,
      "<text class=\"mid\" x=\"%g\" y=\"%g\">\xce\xb4, on a scale of powers of ten</text>\n<text class=\"mid\" "
      "transform=\"translate(12 %g) rotate(-90)\">\xce\xb5</text>\n",
      (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, (TOP + HEIGHT - BOTTOM) / 2);
}

static void drawing(tct_page *page, const curve *c) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  double x = m->delta > 0 ? x_at(m->delta) : LEFT, y = y_at(c, m->epsilon); /* delta 0 is left of any power of ten */
  char top[40];
  tct_print_real(c->top, top, sizeof top);
  tct_html_format(
      h,
      "<svg class=\"curve\" viewBox=\"0 0 %g %g\" role=\"img\" aria-labelledby=\"curve-title\" "
      "data-box=\"%g %g %g %g\" data-top=\"%s\">\n<title id=\"curve-title\">The smallest \xce\xb5 that is proved, "
      "against \xce\xb4, with the claimed point.</title>\n",
      WIDTH, HEIGHT, LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM, top);
  axes(h, c);
  tct_html_put(h, "<path class=\"line\" d=\"");
  for (int i = 0, pen_up = 1; i < POINTS; i++) {
    if (isfinite(c->epsilon[i]))
      tct_html_format(h, "%c%.2f %.2f", pen_up ? 'M' : 'L', x_at(delta_at(i)), y_at(c, c->epsilon[i]));
    pen_up = !isfinite(c->epsilon[i]);
  }
  tct_html_put(h, "\"/>\n");
  if (x >= LEFT && x <= WIDTH - RIGHT) {
    int end = x > WIDTH - RIGHT - 80; /* the line falls: the room is above it, to the right */
    tct_html_format(h,
                    "<circle class=\"claim\" cx=\"%.2f\" cy=\"%.2f\" r=\"5\"/>\n<text class=\"strong%s\" x=\"%.2f\" "
                    "y=\"%.2f\">the promise%s</text>\n",
                    x, y, end ? " end" : "", end ? WIDTH - RIGHT : x + 8, y > TOP + 20 ? y - 8 : y + 18,
                    m->delta > 0 ? "" : ", at \xce\xb4 = 0");
  }
  tct_html_put(h, "</svg>\n");
}

static void points(tct_html *h, const curve *c) {
  tct_html_put(h, "<details>\n<summary>Points of the line</summary>\n<ul>\n");
  for (int i = 0; i < POINTS - 1; i += 6) { /* 1e-12, 1e-9, 1e-6, 1e-3 */
    if (!isfinite(c->epsilon[i])) continue;
    tct_html_format(h, "<li>at \xce\xb4 = 10<sup>\xe2\x88\x92%d</sup>, \xce\xb5 is at most ", 12 - i / 2);
    tct_html_real(h, "derived.curve", c->epsilon[i], 4);
    tct_html_put(h, "</li>\n");
  }
  tct_html_put(h, "</ul>\n</details>\n");
}

tct_status tct_report_curve(tct_page *page, tct_error *err) {
  tct_html *h = &page->html;
  curve c;
  for (int i = 0; i < POINTS; i++) TCT_TRY(point(page->model, delta_at(i), &c.epsilon[i], err));
  scale(&c, page->model->epsilon);
  tct_html_put(
      h,
      "<section>\n<h2>How strong the promise is</h2>\n<p>The same run keeps a whole family of promises: a smaller "
      "\xce\xb4 for a larger \xce\xb5. Every point on or above the line holds; the marked one is what the model "
      "file claims. It was proved by the accountant ");
  tct_html_field(h, "code", "privacy.accountant", page->model->accountant ? page->model->accountant : "");
  tct_html_put(h, ".</p>\n<figure>\n");
  drawing(page, &c);
  tct_html_put(h, "</figure>\n");
  points(h, &c);
  tct_html_put(h, "</section>\n");
  return TCT_OK;
}
