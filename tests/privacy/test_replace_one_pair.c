/* test_replace_one_pair.c - docs/proofs/dpscd-replace-one.md by numbers: mixtures (1-q) N(0) + q N(u) against (1-q)
 * N(0)
 * + q N(v) in the plane, |u|, |v| <= c, never cost more than the antipodal pair on the line. */
#include "worlds.h"

enum { GRID = 240, LINE_GRID = 20000 };
static const double REACH = 12; /* the plane is cut at so many deviations */

typedef struct pair {
  double u[2], v[2], q, gamma;
} pair;

static double excess(const pair *s, double x, double y) {
  double at_u = exp(-0.5 * ((x - s->u[0]) * (x - s->u[0]) + (y - s->u[1]) * (y - s->u[1])));
  double at_v = exp(-0.5 * ((x - s->v[0]) * (x - s->v[0]) + (y - s->v[1]) * (y - s->v[1])));
  double at_0 = exp(-0.5 * (x * x + y * y));
  return fmax(0, s->q * (at_u - s->gamma * at_v) + (1 - s->q) * (1 - s->gamma) * at_0);
}

/* The hockey-stick divergence at gamma, by the midpoint rule. */
static double in_the_plane(const pair *s) {
  double h = 2 * REACH / GRID, sum = 0;
  for (int i = 0; i < GRID; i++)
    for (int j = 0; j < GRID; j++) sum += excess(s, -REACH + (i + 0.5) * h, -REACH + (j + 0.5) * h);
  return sum * h * h / (2 * 3.14159265358979323846);
}

/* The same where u and v lie on the first axis: the second one integrates to sqrt(2 pi). */
static double on_the_line(double u, double v, double q, double gamma) {
  pair s = {{u, 0}, {v, 0}, q, gamma};
  double h = 2 * REACH / LINE_GRID, sum = 0;
  for (int i = 0; i < LINE_GRID; i++) sum += excess(&s, -REACH + (i + 0.5) * h, 0);
  return sum * h / sqrt(2 * 3.14159265358979323846);
}

static void no_two_vectors_in_the_plane_cost_more_than_the_antipodal_pair(void **state) {
  (void)state;
  uint64_t seed = 9;
  double closest = 0, weaker = 0;
  for (int k = 0; k < 1500; k++) {
    double c = 2.5 * fabs(world_real(&seed)) + 0.05, from = 4 * world_real(&seed), to = 4 * world_real(&seed);
    double long_u = world_u64(&seed) % 2 ? c : c * fabs(world_real(&seed));
    double long_v = world_u64(&seed) % 2 ? c : c * fabs(world_real(&seed));
    pair s = {{long_u * cos(from), long_u * sin(from)}, {long_v * cos(to), long_v * sin(to)}, 0, 0};
    s.q = pow(10, -2 * fabs(world_real(&seed)));
    s.gamma = exp(2 * world_real(&seed));
    double plane = in_the_plane(&s), max = on_the_line(c, -c, s.q, s.gamma);
    if (!(plane <= max * (1 + 2e-3) + 1e-7))
      fail_msg("u (%g, %g), v (%g, %g), q %g, gamma %g: %g above %g", s.u[0], s.u[1], s.v[0], s.v[1], s.q, s.gamma,
               plane, max);
    if (s.gamma > 1.5 && plane > 1e-4) closest = fmax(closest, plane / max);
    weaker = fmax(weaker, plane - on_the_line(c, 0, s.q, s.gamma)); /* what add_remove would charge */
  }
  assert_true(closest > 0.9); /* the search comes near the pair */
  assert_true(weaker > 0.01); /* and the pair of add_remove would not do */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_two_vectors_in_the_plane_cost_more_than_the_antipodal_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
