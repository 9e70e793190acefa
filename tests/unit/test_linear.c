/* test_linear.c - models from released moments: without noise they are least squares; with it their errors are right.
 *
 * Moments are made here, as a release would leave them: W, shells, and the noise that was added.  What is expected
 * comes from other code: normal equations by elimination, subsets one by one, and draws of the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "linear/linear.h"

#include <math.h>
#include <string.h>

enum { N = 400, D = 4, Q = D + 1, SHELLS = 3 };

static double real(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return 2 * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53) - 1;
}

static double normal(uint64_t *state) {
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += real(state) / 2;
  return sum;
}

/* Records with the ones last; the last column before them is made of the others. */
static void draw(uint64_t *state, double x[N][Q]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < D; j++) x[i][j] = 0.3 * real(state) + 0.1 * j;
    x[i][2] += 0.5 * x[i][0];
    x[i][3] = 0.2 + 0.7 * x[i][0] - 0.4 * x[i][1] + 0.1 * real(state);
    x[i][4] = 1;
  }
}

/* Moments of the records in shells of z = W x/size, W lower triangular, with which z are nearly white; noise: the
 * deviation in the first. */
static void release(uint64_t *state, const double x[N][Q], double noise, tct_moments *m) {
  tct_error err = {0};
  *m = (tct_moments){.p = Q, .q = Q, .size = sqrt(Q), .shells = SHELLS, .whole = 1};
  for (int k = 0; k < SHELLS; k++) m->radius[k] = 2.5 * (k + 1), m->noise[k] = (k + 1) * noise;
  assert_int_equal(tct_metric_new(Q, false, &m->metric, &err), TCT_OK);
  double room[Q];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < Q * Q; j++) m->metric.w[j] += x[i][j / Q] * x[i][j % Q] / (Q * N);
  assert_true(tct_cholesky(m->metric.w, Q));
  tct_lower_invert(m->metric.w, Q, room);
  for (int j = 1; j < Q; j++) m->metric.w[j * Q] *= 1.1;
  assert_true(tct_metric_settle(&m->metric));
  m->shell = TCT_NEW(double, SHELLS *Q *Q);
  for (int i = 0; i < N; i++) {
    double z[Q], length = 0;
    for (int j = 0; j < Q; j++) {
      z[j] = 0;
      for (int k = 0; k <= j; k++) z[j] += m->metric.w[j * Q + k] * x[i][k] / m->size;
      length += z[j] * z[j];
    }
    for (int j = 0; j < Q; j++)
      for (int k = 0; k < Q; k++) m->shell[((length > 6.25) + (length > 25)) * Q * Q + j * Q + k] += z[j] * z[k];
  }
  for (int s = 0; s < SHELLS; s++)
    for (int j = 0; j < Q; j++)
      for (int k = 0; k <= j; k++) {
        double add = m->noise[s] * normal(state) * (j == k ? 1 : M_SQRT1_2);
        m->shell[s * Q * Q + j * Q + k] += add;
        if (j != k) m->shell[s * Q * Q + k * Q + j] += add;
      }
  assert_int_equal(tct_moments_again(m, &err), TCT_OK);
}

/* b[count] <- least squares of column `label`, by elimination; returns the sum of squares that is left. */
static double exact(const double x[N][Q], int label, const int64_t *column, int count, double ridge, double *b) {
  double a[Q][Q + 1] = {{0}}, rest = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < count; j++) {
      for (int k = 0; k < count; k++) a[j][k] += x[i][column[j]] * x[i][column[k]];
      a[j][count] += x[i][column[j]] * x[i][label];
    }
  for (int j = 0; j + 1 < count; j++) a[j][j] += N * ridge;
  for (int j = 0; j < count; j++)
    for (int i = 0; i < count; i++)
      for (int k = count; i != j && k >= j; k--) a[i][k] -= a[i][j] / a[j][j] * a[j][k];
  for (int j = 0; j < count; j++) b[j] = a[j][count] / a[j][j];
  for (int i = 0; i < N; i++) {
    double r = x[i][label];
    for (int j = 0; j < count; j++) r -= b[j] * x[i][column[j]];
    rest += r * r;
  }
  return rest;
}

static double spread(const double x[N][Q], int column) {
  double sum = 0, square = 0;
  for (int i = 0; i < N; i++) sum += x[i][column], square += x[i][column] * x[i][column];
  return square - sum * sum / N;
}

static void near(double a, double b) {
  if (!(fabs(a - b) <= 1e-7 * (1 + fabs(b)))) fail_msg("%.15g is not %.15g", a, b);
}

static void without_noise_every_model_is_least_squares(void **state) {
  (void)state;
  static const int64_t columns[][D] = {{0, 1, 2, 4}, {1, 0, 4}, {2, 4}, {4}};
  uint64_t random = 3;
  double x[N][Q], b[Q];
  tct_error err = {0};
  tct_moments m;
  tct_linear l;
  draw(&random, x);
  release(&random, x, 0, &m);
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
  for (int c = 0; c < 4; c++)
    for (int r = 0; r < 2; r++) {
      tct_linear_model model;
      int count = 4 - c;
      double rest = exact(x, 3, columns[c], count, 0.01 * r, b);
      assert_int_equal(tct_linear_fit(&l, 3, columns[c], count - 1, 0.01 * r, &model, &err), TCT_OK);
      for (int j = 0; j < count; j++) near(model.w[j], b[j]);
      near(model.r2, 1 - rest / spread(x, 3));
      near(model.residual, sqrt(rest / (N - count)));
      near(model.shrunk, count > 1);
      for (int j = 0; j < count * count; j++) near(model.noise[j], 0);
      tct_linear_model_free(&model);
    }
  tct_linear_free(&l);
  tct_moments_free(&m);
}

/* One column: variance/(n - 2)/spread, for no record is longer than normal ones are; and the textbook's VIF
 * 1/(1 - R^2). */
static void errors_and_figures_are_those_of_the_textbook(void **state) {
  (void)state;
  static const int64_t one[] = {0, 4}, two[] = {1, 2};
  uint64_t random = 4;
  double x[N][Q], b[Q], vif[2], sum = 0, with = 0;
  tct_error err = {0};
  tct_moments m;
  tct_linear l;
  tct_linear_model model;
  tct_linear_figure mean, deviation, r;
  draw(&random, x);
  release(&random, x, 0, &m);
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
  double rest = exact(x, 3, one, 2, 0, b);
  assert_int_equal(tct_linear_fit(&l, 3, one, 1, 0, &model, &err), TCT_OK);
  near(model.sampling[0], rest / (N - 2) / spread(x, 0));
  tct_linear_model_free(&model);
  assert_int_equal(tct_linear_vif(&l, two, 2, vif, &err), TCT_OK);
  rest = exact(x, 1, (const int64_t[]){2, 4}, 2, 0, b);
  near(vif[0], spread(x, 1) / rest);
  near(vif[1], vif[0]);
  for (int i = 0; i < N; i++) sum += x[i][2], with += x[i][2] * x[i][0];
  assert_int_equal(tct_linear_mean(&l, 2, &mean, &err), TCT_OK);
  near(mean.value, sum / N);
  near(mean.error, sqrt(spread(x, 2) / (N - 1) / N));
  assert_int_equal(tct_linear_deviation(&l, 2, &deviation, &err), TCT_OK);
  near(deviation.value, sqrt(spread(x, 2) / N));
  exact(x, 2, one, 2, 0, b);
  assert_int_equal(tct_linear_correlation(&l, 2, 0, &r, &err), TCT_OK);
  near(tanh(r.value), b[0] * sqrt(spread(x, 0) / spread(x, 2)));
  near(r.noise, 0);
  near(r.error, sqrt(1.0 / N));
  tct_linear_free(&l);
  tct_moments_free(&m);
}

/* What draws show of the weights of three models together, and what is said of it. */
enum { MODELS = 3, STACK = 9 };
typedef struct stack {
  double draws, mean[STACK], square[STACK][STACK], said[STACK][STACK];
} stack;

/* One draw more: of two models of one outcome, the one within the other, and of another outcome. */
static void look(stack *s, const tct_linear *l, bool sampling) {
  static const int64_t label[] = {3, 3, 1}, slopes[] = {3, 1, 2}, column[][3] = {{0, 1, 2}, {0}, {3, 0}};
  static const int first[] = {0, 4, 6};
  tct_linear_model m[MODELS];
  tct_error err = {0};
  double noise[16], records[16];
  s->draws++;
  for (int a = 0; a < MODELS; a++)
    assert_int_equal(tct_linear_fit(l, label[a], column[a], slopes[a], 0, &m[a], &err), TCT_OK);
  for (int a = 0; a < MODELS; a++)
    for (int b = 0; b < MODELS; b++) {
      assert_int_equal(tct_linear_joint(l, &m[a], &m[b], noise, records, &err), TCT_OK);
      for (int i = 0; i < m[a].count; i++)
        for (int j = 0; j < m[b].count; j++) {
          int at = first[a] + i, to = first[b] + j;
          s->mean[at] += b == 0 && j == 0 ? m[a].w[i] : 0;
          s->square[at][to] += m[a].w[i] * m[b].w[j];
          s->said[at][to] += sampling ? records[i * m[b].count + j] : noise[i * m[b].count + j];
        }
    }
  for (int a = 0; a < MODELS; a++) tct_linear_model_free(&m[a]);
}

static void stack_agrees(const stack *s) {
  double worst = 0;
  for (int i = 0; i < STACK; i++)
    for (int j = 0; j < STACK; j++) {
      double seen = (s->square[i][j] - s->mean[i] * s->mean[j] / s->draws), size = sqrt(s->said[i][i] * s->said[j][j]);
      if (!(fabs(seen - s->said[i][j]) < 0.12 * size))
        fail_msg("weights %d, %d: %g, said %g", i, j, seen / s->draws, s->said[i][j] / s->draws);
      worst = fmax(worst, i < 4 && j >= 4 ? fabs(s->said[i][j]) / size : 0);
    }
  assert_true(worst > 0.5); /* models share much */
}

/* Normal records and no noise: what other records would have made of the models. */
static void models_of_one_table_share_its_records(void **state) {
  (void)state;
  uint64_t random = 11;
  double x[N][Q];
  stack all = {0};
  tct_error err = {0};
  for (int t = 0; t < 3000; t++) {
    tct_moments m;
    tct_linear l;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < 3; j++) x[i][j] = 0.2 * normal(&random);
      x[i][2] += 0.5 * x[i][0];
      x[i][3] = 0.7 * x[i][0] - 0.4 * x[i][1] + 0.2 * normal(&random), x[i][4] = 1;
    }
    release(&random, x, 0, &m);
    assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
    look(&all, &l, true);
    tct_linear_free(&l);
    tct_moments_free(&m);
  }
  stack_agrees(&all);
}

/* First order: noise is small.  An outer shell of which only some directions are kept is among them. */
static void the_noise_of_weights_and_figures_is_what_draws_show(void **state) {
  (void)state;
  enum { DRAWS = 3000 };
  uint64_t random = 5;
  double x[N][Q], figure[3][3] = {{0}};
  stack all = {0};
  tct_error err = {0};
  draw(&random, x);
  for (int t = 0; t < DRAWS; t++) {
    tct_moments m;
    tct_linear l;
    tct_linear_model model;
    tct_linear_figure r, deviation;
    release(&random, x, 1e-3, &m);
    assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
    assert_int_equal(tct_linear_fit(&l, 3, (const int64_t[]){0, 1, 2}, 3, 0, &model, &err), TCT_OK);
    assert_int_equal(tct_linear_correlation(&l, 3, 0, &r, &err), TCT_OK);
    assert_int_equal(tct_linear_deviation(&l, 2, &deviation, &err), TCT_OK);
    look(&all, &l, false);
    const double seen[3][2] = {{model.r2, model.r2_noise}, {r.value, r.noise}, {deviation.value, deviation.noise}};
    for (int i = 0; i < 3; i++) {
      figure[i][0] += seen[i][0] / DRAWS, figure[i][1] += seen[i][0] * seen[i][0] / DRAWS;
      figure[i][2] += seen[i][1] * seen[i][1] / DRAWS;
    }
    tct_linear_model_free(&model);
    tct_linear_free(&l);
    tct_moments_free(&m);
  }
  stack_agrees(&all);
  for (int i = 0; i < 3; i++) {
    double seen = figure[i][1] - figure[i][0] * figure[i][0];
    if (!(fabs(seen / figure[i][2] - 1) < 0.12)) fail_msg("figure %d: %g, said %g", i, seen, figure[i][2]);
  }
}

static void the_best_subset_is_that_of_all(void **state) {
  (void)state;
  static const int64_t columns[] = {0, 1, 2};
  uint64_t random = 6;
  double x[N][Q], b[Q], r2[3];
  int64_t best[9];
  tct_error err = {0};
  tct_moments m;
  tct_linear l;
  for (int trial = 0; trial < 20; trial++) {
    draw(&random, x);
    for (int i = 0; i < N; i++) x[i][3] += 0.3 * (trial % 4) * x[i][trial % 3];
    release(&random, x, 0, &m);
    assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
    assert_int_equal(tct_linear_best(&l, 3, columns, 3, &(tct_linear_subsets){3, best, r2}, &err), TCT_OK);
    for (int size = 1; size <= 3; size++) {
      double most = 0;
      int64_t own[3] = {0};
      for (int set = 1; set < 8; set++) {
        int64_t picked[4];
        int count = 0;
        for (int j = 0; j < 3; j++)
          if (set >> j & 1) picked[count++] = j;
        if (count != size) continue;
        picked[count] = 4;
        double now = 1 - exact(x, 3, picked, count + 1, 0, b) / spread(x, 3);
        if (now > most) most = now, memcpy(own, picked, (size_t)count * sizeof *own);
      }
      near(r2[size - 1], most);
      assert_memory_equal(best + (size - 1) * 3, own, (size_t)size * sizeof *own);
    }
    tct_linear_free(&l);
    tct_moments_free(&m);
  }
}

/* With much noise a ridge is chosen, and less is lost by it; without any, none. */
static void a_ridge_is_chosen_where_noise_is(void **state) {
  (void)state;
  static const int64_t columns[] = {0, 1, 2};
  uint64_t random = 7;
  double x[N][Q], b[Q], lost[2] = {0};
  int chosen = 0;
  tct_error err = {0};
  draw(&random, x);
  for (int i = 0; i < N; i++) { /* two columns that hardly differ, and are as much in the third */
    x[i][2] = x[i][0] + 0.02 * real(&random);
    x[i][3] = 0.35 * (x[i][0] + x[i][2]) + 0.1 * real(&random);
  }
  exact(x, 3, (const int64_t[]){0, 1, 2, 4}, 4, 0, b);
  for (int t = 0; t < 200; t++) {
    tct_moments m;
    tct_linear l;
    tct_linear_path path;
    release(&random, x, t == 0 ? 0 : 24, &m);
    assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
    assert_int_equal(tct_linear_ridge(&l, 3, columns, 3, &path, &err), TCT_OK);
    if (t == 0) assert_true(path.ridge[path.best] < 1e-3);
    chosen += t > 0 && path.best > 0;
    for (int way = 0; way < 2; way++) {
      tct_linear_model model;
      assert_int_equal(tct_linear_fit(&l, 3, columns, 3, way * path.ridge[path.best], &model, &err), TCT_OK);
      for (int i = 0; i < N; i++) {
        double off = 0;
        for (int j = 0; j < 4; j++) off += (model.w[j] - b[j]) * (j < 3 ? x[i][j] : 1);
        lost[way] += t > 0 ? off * off : 0;
      }
      tct_linear_model_free(&model);
    }
    tct_linear_free(&l);
    tct_moments_free(&m);
  }
  print_message("chosen %d of 199, lost %.3g in place of %.3g\n", chosen, lost[1], lost[0]);
  assert_true(chosen > 150);
  assert_true(lost[1] < 0.95 * lost[0]);
}

/* Under 0 slopes the statistic is chi^2: its mean is the degrees, and 5 % of the p are below .05. */
static void nested_models_are_compared_at_the_level_that_is_said(void **state) {
  (void)state;
  enum { DRAWS = 1500 };
  static const int64_t columns[] = {0, 1, 2};
  uint64_t random = 8;
  double mean = 0;
  int below = 0, seen = 0;
  tct_error err = {0};
  for (int t = 0; t < DRAWS; t++) {
    double x[N][Q];
    tct_moments m;
    tct_linear l;
    tct_linear_model model;
    tct_linear_wald wald;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < 3; j++) x[i][j] = 0.2 * normal(&random);
      x[i][3] = 0.5 * x[i][0] + 0.2 * normal(&random), x[i][4] = 1;
    }
    release(&random, x, 0.3, &m);
    assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
    assert_int_equal(tct_linear_fit(&l, 3, columns, 3, 0, &model, &err), TCT_OK);
    assert_int_equal(tct_linear_compare(&model, 2, &wald, &err), TCT_OK);
    mean += wald.statistic / DRAWS, below += wald.p < 0.05;
    assert_int_equal(wald.degrees, 2);
    assert_int_equal(tct_linear_compare(&model, 3, &wald, &err), TCT_OK);
    seen += wald.p < 1e-6;
    tct_linear_model_free(&model);
    tct_linear_free(&l);
    tct_moments_free(&m);
  }
  print_message("mean %.3f, below .05: %.4f\n", mean, (double)below / DRAWS);
  assert_true(below > 0.02 * DRAWS && below < 0.08 * DRAWS && seen > 0.99 * DRAWS);
}

static void what_cannot_be_answered_is_refused(void **state) {
  (void)state;
  static const int64_t twice[] = {0, 0}, own[] = {3, 1}, beyond[] = {0, 4};
  uint64_t random = 9;
  double x[N][Q], r2[2];
  int64_t best[4];
  tct_error err = {0};
  tct_moments m;
  tct_linear l;
  tct_linear_model model;
  draw(&random, x);
  release(&random, x, 0, &m);
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
  const int64_t *wrong[] = {twice, own, beyond};
  for (int k = 0; k < 3; k++) {
    assert_int_equal(tct_linear_fit(&l, 3, wrong[k], 2, 0, &model, &err), TCT_E_USAGE);
    tct_linear_model_free(&model);
  }
  assert_int_equal(tct_linear_best(&l, 3, twice, 2, &(tct_linear_subsets){3, best, r2}, &err), TCT_E_USAGE);
  tct_linear_free(&l);
  for (int j = 0; j < SHELLS * Q * Q; j++) m.sum[j % (Q * Q)] = j % Q == 0 ? NAN : 1;
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_E_RUN);
  tct_linear_free(&l);
  tct_moments_free(&m);
}

/* The variance of a slope by the records' own residuals: one column and the ones. */
static double sandwich(const double x[N][Q], int label, int column) {
  double b[2], mean = 0, sum = 0;
  exact(x, label, (const int64_t[]){column, D}, 2, 0, b);
  for (int i = 0; i < N; i++) mean += x[i][column] / N;
  for (int i = 0; i < N; i++) sum += pow((x[i][column] - mean) * (x[i][label] - b[0] * x[i][column] - b[1]), 2);
  return sum / pow(spread(x, column), 2);
}

/* One record in twenty is many times as long, in every direction, or in one that the model does not see. */
static void errors_are_as_long_as_records_are_in_their_direction(void **state) {
  (void)state;
  uint64_t random = 12;
  for (int trial = 0; trial < 2; trial++) {
    double own = 0, alone = 0, said = 0;
    for (int t = 0; t < 50; t++) {
      double x[N][Q];
      tct_error err = {0};
      tct_moments m;
      tct_linear l;
      tct_linear_model model;
      for (int i = 0; i < N; i++)
        for (int j = 0; j < Q; j++) x[i][j] = j == D ? 1 : normal(&random) * ((trial && j != 2) || i % 20 ? 0.1 : 0.5);
      release(&random, x, 0, &m);
      assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
      assert_int_equal(tct_linear_fit(&l, 3, (const int64_t[]){0}, 1, 0, &model, &err), TCT_OK);
      own += sandwich(x, 3, 0), alone += model.residual * model.residual / spread(x, 0), said += model.sampling[0];
      tct_linear_model_free(&model);
      tct_linear_free(&l);
      tct_moments_free(&m);
    }
    print_message("of the sandwich's variance %.3f, the textbook's says %.3f\n", said / own, alone / own);
    assert_true(said > 0.75 * own && said < 1.25 * own);
    assert_true(trial || alone < 0.4 * own);
  }
}

/* Noise reaches 1 in the second shell.  Eigenvalues of .6 and .5 are of rows that are there; .6 and .3 are shortened by
 * more than 4 and 3, or gone. */
static void a_shell_that_says_something_of_all_directions_is_added_as_it_is(void **state) {
  (void)state;
  enum { E = 4 };
  for (int seen = 0; seen <= 1; seen++) {
    tct_error err = {0};
    const double inner = 10, value[E] = {4, 3, 0.6, seen ? 0.5 : 0.3}, lost = 2 * E * pow(1.05, 2) / 8;
    tct_moments m = {.p = E, .q = E, .shells = 2, .whole = 1, .noise = {1e-3, sqrt(0.125)}};
    m.shell = TCT_NEW(double, 2 * E * E);
    for (int j = 0; j < E; j++) m.shell[j * E + j] = inner, m.shell[(E + j) * E + j] = value[j];
    assert_int_equal(tct_moments_again(&m, &err), TCT_OK);
    for (int j = 0; j < E; j++) {
      double left = value[j] > 1 ? sqrt(value[j] * value[j] - lost) : 0;
      assert_float_equal(m.sum[j * E + j], inner + (seen ? value[j] : left), 1e-9);
      assert_float_equal(m.kept[(E + j) * E + j], seen || value[j] > 1, 1e-9);
    }
    assert_float_equal(m.edge, seen ? sqrt(1 + 8e-6) : 1e-3 * sqrt(8), 1e-9);
    tct_moments_free(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_noise_every_model_is_least_squares),
      cmocka_unit_test(errors_and_figures_are_those_of_the_textbook),
      cmocka_unit_test(models_of_one_table_share_its_records),
      cmocka_unit_test(the_noise_of_weights_and_figures_is_what_draws_show),
      cmocka_unit_test(the_best_subset_is_that_of_all),
      cmocka_unit_test(a_ridge_is_chosen_where_noise_is),
      cmocka_unit_test(nested_models_are_compared_at_the_level_that_is_said),
      cmocka_unit_test(errors_are_as_long_as_records_are_in_their_direction),
      cmocka_unit_test(what_cannot_be_answered_is_refused),
      cmocka_unit_test(a_shell_that_says_something_of_all_directions_is_added_as_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
