/* plot.c - lines over an axis, as an SVG that reads well on screen and paper. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Sizes in the drawing's own units; margins leave room for labels of seven characters. */
enum { WIDTH = 720, HEIGHT = 440, LEFT = 80, RIGHT = 24, TOP = 48, BOTTOM = 64, TICKS = 12 };
static const char *const colours[CLI_PLOT_LINES] = {"#1f4e8c", "#b3541e", "#2f7d4f", "#6b3fa0"};
static const char *const dashes[CLI_PLOT_LINES] = {"none", "7 4", "2 3", "10 3 2 3"};

/* One axis: from `low` to `high`, with ticks that people can read. */
typedef struct axis {
  int logarithmic, ticks;
  double low, high;
  double tick[TICKS];
} axis;

static double place(const axis *a, double value) {
  if (a->logarithmic) return (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low));
  return (value - a->low) / (a->high - a->low);
}

static double x_at(const axis *a, double value) { return LEFT + place(a, value) * (WIDTH - LEFT - RIGHT); }
static double y_at(const axis *a, double value) { return HEIGHT - BOTTOM - place(a, value) * (HEIGHT - TOP - BOTTOM); }

/* 1, 2 or 5 times a power of ten, so that at most eight steps make `high`. */
static void linear_axis(axis *a, double high) {
  if (!(high > 0)) high = 1;
  double power = pow(10, floor(log10(high / 8)));
  static const double steps[] = {1, 2, 5, 10};
  double step = power * 10;
  for (int i = 3; i >= 0; i--)
    if (high / (steps[i] * power) <= 8) step = steps[i] * power;
  *a = (axis){.low = 0, .high = step * ceil(high / step * (1 - 1e-12))};
  for (int i = 0; i * step <= a->high * (1 + 1e-9) && a->ticks < TICKS; i++) a->tick[a->ticks++] = i * step;
}

static void log_axis(axis *a, double low, double high) {
  int first = (int)floor(log10(low) + 1e-9), last = (int)ceil(log10(high) - 1e-9);
  if (last <= first) last = first + 1;
  int stride = (last - first + TICKS - 2) / (TICKS - 1);
  *a = (axis){.logarithmic = 1, .low = pow(10, first), .high = pow(10, last)};
  for (int e = first; e <= last && a->ticks < TICKS; e += stride) a->tick[a->ticks++] = pow(10, e);
}

static void text(FILE *out, const char *words) {
  for (; *words; words++) {
    switch (*words) {
      case '&': fputs("&amp;", out); break;
      case '<': fputs("&lt;", out); break;
      case '>': fputs("&gt;", out); break;
      default: fputc((unsigned char)*words < 0x20 ? ' ' : *words, out);
    }
  }
}

static void draw_axes(const axis *x, const axis *y, FILE *out) {
  fprintf(out, "<g stroke=\"#d8d8d8\" stroke-width=\"1\">\n");
  for (int i = 0; i < x->ticks; i++)
    fprintf(out, "<path d=\"M%.1f %dV%d\"/>\n", x_at(x, x->tick[i]), TOP, HEIGHT - BOTTOM);
  for (int i = 0; i < y->ticks; i++)
    fprintf(out, "<path d=\"M%d %.1fH%d\"/>\n", LEFT, y_at(y, y->tick[i]), WIDTH - RIGHT);
  fprintf(out, "</g>\n<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#222222\" stroke-width=\"1.5\"/>\n<g>\n", LEFT,
          TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
  for (int i = 0; i < x->ticks; i++) {
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x_at(x, x->tick[i]), HEIGHT - BOTTOM + 20);
    if (x->logarithmic)
      fprintf(out, "1e%d</text>\n", (int)lround(log10(x->tick[i])));
    else
      fprintf(out, "%.12g</text>\n", x->tick[i]);
  }
  for (int i = 0; i < y->ticks; i++)
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.12g</text>\n", LEFT - 8, y_at(y, y->tick[i]) + 4,
            y->tick[i]);
  fprintf(out, "</g>\n");
}

static void draw_labels(const cli_plot *p, FILE *out) {
  fprintf(out, "<text x=\"%d\" y=\"28\" font-size=\"16\" font-weight=\"bold\">", LEFT);
  text(out, p->title);
  fprintf(out, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18);
  text(out, p->x_label);
  fprintf(out, "</text>\n<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\">",
          (TOP + HEIGHT - BOTTOM) / 2);
  text(out, p->y_label);
  fprintf(out, "</text>\n");
}

/* Over a logarithmic x the curves fall: the legend stands at the right; over a linear one they rise: at the left. */
static void draw_legend(const cli_plot *p, FILE *out) {
  int x = p->log_x ? WIDTH - RIGHT - 210 : LEFT + 16;
  fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"206\" height=\"%d\" fill=\"#ffffff\" stroke=\"#d8d8d8\"/>\n", x,
          TOP + 4, (int)p->lines * 20 + 8);
  for (size_t k = 0; k < p->lines; k++) {
    int y = TOP + 20 + (int)k * 20;
    fprintf(out, "<path d=\"M%d %dh32\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", x + 8, y - 2,
            colours[k], dashes[k]);
    fprintf(out, "<text x=\"%d\" y=\"%d\">", x + 50, y + 2);
    text(out, p->name[k]);
    fprintf(out, "</text>\n");
  }
}

static void draw_line(const cli_plot *p, size_t k, const axis *x, const axis *y, FILE *out) {
  int pen_up = 1;
  fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"", colours[k],
          dashes[k]);
  for (size_t i = 0; i < p->points; i++) {
    if (!isfinite(p->y[k][i])) {
      pen_up = 1;
      continue;
    }
    fprintf(out, "%c%.2f %.2f", pen_up ? 'M' : 'L', x_at(x, p->x[i]), y_at(y, p->y[k][i]));
    pen_up = 0;
  }
  fprintf(out, "\"/>\n");
}

void cli_plot_svg(const cli_plot *p, FILE *out) {
  axis x, y;
  double top = 0;
  for (size_t k = 0; k < p->lines; k++)
    for (size_t i = 0; i < p->points; i++)
      if (isfinite(p->y[k][i])) top = fmax(top, p->y[k][i]);
  linear_axis(&y, top);
  if (p->log_x)
    log_axis(&x, p->x[0], p->x[p->points - 1]);
  else
    linear_axis(&x, p->x[p->points - 1]);
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
          "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222222\">\n<title>",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  text(out, p->title);
  fprintf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT);
  draw_axes(&x, &y, out);
  draw_labels(p, out);
  for (size_t k = 0; k < p->lines; k++) draw_line(p, k, &x, &y, out); /* later lines are dashed: both show */
  draw_legend(p, out);
  fprintf(out, "</svg>\n");
}
