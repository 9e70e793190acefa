/* dpcd_plot.h - log-log panels with lines and bars from least to most, written as SVG. */
#ifndef TCT_BENCH_DPCD_PLOT_H
#define TCT_BENCH_DPCD_PLOT_H
#include <math.h>
#include <stdio.h>

enum { PLOT_WIDTH = 300, PLOT_HEIGHT = 240, PLOT_LEFT = 55, PLOT_TOP = 30, PLOT_RIGHT = 10, PLOT_BOTTOM = 70 };

typedef struct plot {
  FILE *f;
  int panel, seconds;
} plot;

/* Errors from 1e-4 to 10; passes from 1 to 100 or seconds from 1e-3 to 10. */
static inline double plot_y(double v) {
  double t = (log10(fmin(fmax(v, 1e-4), 10)) + 4) / 5;
  return PLOT_TOP + (1 - t) * (PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM);
}
static inline double plot_x(const plot *p, double v) {
  double low = p->seconds ? -3 : 0, decades = p->seconds ? 4 : 2;
  double t = (fmin(fmax(log10(fmax(v, 1e-9)), low), low + decades) - low) / decades;
  return p->panel * PLOT_WIDTH + PLOT_LEFT + t * (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT);
}

static inline void plot_open(plot *p, const char *folder, int number, int panels) {
  char path[1024];
  snprintf(path, sizeof path, "%s/figure%d.svg", folder, number);
  p->f = fopen(path, "w");
  if (!p->f) return;
  fprintf(p->f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
          "font-size=\"10\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          panels * PLOT_WIDTH, PLOT_HEIGHT);
}

static inline void plot_panel(plot *p, int panel, const char *title, const char *xlabel) {
  if (!p->f) return;
  p->panel = panel;
  p->seconds = xlabel[0] == 's';
  double left = panel * PLOT_WIDTH + PLOT_LEFT, right = (panel + 1) * PLOT_WIDTH - PLOT_RIGHT;
  double bottom = PLOT_HEIGHT - PLOT_BOTTOM;
  fprintf(p->f, "<text x=\"%g\" y=\"18\" text-anchor=\"middle\" font-size=\"12\">%s</text>\n", (left + right) / 2,
          title);
  fprintf(p->f, "<rect x=\"%g\" y=\"%d\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"black\"/>\n", left, PLOT_TOP,
          right - left, bottom - PLOT_TOP);
  for (int e = -4; e <= 1; e++)
    fprintf(p->f,
            "<line x1=\"%g\" x2=\"%g\" y1=\"%g\" y2=\"%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%g\" "
            "text-anchor=\"end\">%g</text>\n",
            left, right, plot_y(pow(10, e)), plot_y(pow(10, e)), left - 4, plot_y(pow(10, e)) + 3, pow(10, e));
  for (int e = p->seconds ? -3 : 0; e <= (p->seconds ? 1 : 2); e++)
    fprintf(p->f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%g</text>\n", plot_x(p, pow(10, e)), bottom + 12,
            pow(10, e));
  fprintf(p->f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s (relative error upwards)</text>\n",
          (left + right) / 2, bottom + 26, xlabel);
}

static inline void plot_line(plot *p, int colour, const char *name, const double *x, const double *mean,
                             const double *min, const double *max, int count) {
  static const char *const colours[] = {"#1f77b4", "#08306b", "#2ca02c", "#9467bd", "#ff7f0e", "#d62728"};
  if (!p->f) return;
  fprintf(p->f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colours[colour % 6]);
  for (int k = 0; k < count; k++) fprintf(p->f, "%.1f,%.1f ", plot_x(p, x[k]), plot_y(mean[k]));
  fputs("\"/>\n", p->f);
  for (int k = 0; k < count; k++)
    fprintf(p->f, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", plot_x(p, x[k]),
            plot_x(p, x[k]), plot_y(min[k]), plot_y(max[k]), colours[colour % 6]);
  double lx = p->panel * PLOT_WIDTH + PLOT_LEFT + (colour % 2) * 115, ly = PLOT_HEIGHT - 30 + (colour / 2) * 11;
  fprintf(p->f, "<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n", lx, ly, colours[colour % 6], name);
}

static inline void plot_close(plot *p) {
  if (!p->f) return;
  fputs("</svg>\n", p->f);
  fclose(p->f);
}
#endif
