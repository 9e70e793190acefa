/* linear.c - least squares of one column on others, and how well it is known.
 *
 * With G the moments of all columns, P the columns' places and a = t - P b the residual's direction, b = (P'GP)^-1
 * P'Gt. Noise adds N to what was released in z, and L N L' to G, L = back.  So b moves by (P'GP)^-1 P'L N L'a to first
 * order. What noise does to a sum of squares w_i (u_i' N u_i), u_i in z, has the variance sum_k s_k^2 (|D|^2 - |Q D
 * Q|^2), D = sum_i w_i u_i u_i': shells show noise where a kept direction is (solve/shared/moments.c).
 *
 * Records' weights, a person's at most 1 in sum, make residuals count less, never more.  By Cauchy and Schwarz the
 * variance of a person's sum of w r x is at most the sum of w r^2 x x'.  Errors are then too long, not too short. */
#include "linear/linear.h"

#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"

#include <string.h>

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* a[rows][q] <- a B^T for lower triangular B, or a B. */
static void times_turned(const double *b, int64_t q, double *a, int64_t rows, double *row) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < q; j++) row[j] = tct_dot(a + i * q, b + j * q, j + 1);
    memcpy(a + i * q, row, (size_t)q * sizeof *row);
  }
}

static void turn(double *a, int64_t q) {
  for (int64_t i = 0; i < q; i++)
    for (int64_t j = 0; j < i; j++) {
      double at = a[i * q + j];
      a[i * q + j] = a[j * q + i], a[j * q + i] = at;
    }
}

/* gram <- L S L'. */
static void make(tct_linear *l) {
  int64_t q = l->q;
  memcpy(l->back, l->moments->metric.w, (size_t)(q * q) * sizeof(double));
  tct_lower_invert(l->back, q, l->work);
  for (int64_t j = 0; j < q * q; j++) l->back[j] *= l->moments->size;
  memcpy(l->gram, l->moments->sum, (size_t)(q * q) * sizeof(double));
  for (int side = 0; side < 2; side++) {
    times_turned(l->back, q, l->gram, q, l->work);
    turn(l->gram, q);
  }
  tct_symmetrise(l->gram, q);
}

/* The sum of weights, where it lies below n by more than noise does. */
static double count_of(const tct_linear *l, double rows) {
  double one = 1, *ones = l->work + 8 * l->q, released = l->gram[l->q * l->q - 1];
  ones[l->q - 1] = 1;
  return released < rows - 3 * sqrt(tct_linear_variance(l, ones, &one, 1)) ? released : rows;
}

tct_status tct_linear_new(const tct_moments *moments, int64_t rows, tct_linear *out, tct_error *err) {
  int64_t q = moments->q;
  *out = (tct_linear){.moments = moments, .q = q, .count = (double)rows};
  out->gram = TCT_NEW(double, q *q), out->back = TCT_NEW(double, q *q), out->work = TCT_NEW(double, 9 * q);
  if (!out->gram || !out->back || !out->work) return tct_fail_memory(err);
  make(out);
  out->count = count_of(out, (double)rows);
  bool finite = out->count >= 1;
  for (int64_t j = 0; j < q * q; j++) finite = finite && isfinite(out->gram[j]) && isfinite(out->back[j]);
  if (!finite) return tct_fail(err, TCT_E_RUN, "the noise has left nothing of the moments; give more epsilon");
  TCT_TRY(tct_linear_settle_shells(out, err));
  return moments->fourth ? tct_linear_settle_fourth(out, rows, err) : TCT_OK;
}

void tct_linear_free(tct_linear *linear) {
  tct_free(linear->gram);
  tct_free(linear->back);
  tct_free(linear->work);
  tct_free(linear->white);
  tct_free(linear->mean);
  tct_free(linear->fourth);
  *linear = (tct_linear){0};
}

/* u[q] <- L' a: a direction of columns in z. */
void tct_linear_in_z(const tct_linear *l, const double *a, double *u) {
  memset(u, 0, (size_t)l->q * sizeof *u);
  for (int64_t j = 0; j < l->q; j++)
    if (a[j] != 0) tct_axpy(a[j], l->back + j * l->q, u, j + 1);
}

/* The variance that noise gives to sum_i w_i a_i' G a_i, a[count][q]; count <= 4. */
double tct_linear_variance(const tct_linear *l, const double *a, const double *w, int count) {
  int64_t q = l->q;
  double *u = l->work, *out = u + 4 * q, sum = 0;
  for (int i = 0; i < count; i++) tct_linear_in_z(l, a + i * q, u + i * q);
  for (int k = 0; k < l->moments->shells; k++) {
    const double *kept = l->moments->kept + k * q * q;
    double s = l->moments->noise[k];
    for (int i = 0; i < count; i++)
      for (int64_t j = 0; j < q; j++) out[i * q + j] = u[i * q + j] - tct_dot(kept + j * q, u + i * q, q);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < count; j++) {
        double all = tct_dot(u + i * q, u + j * q, q), left = tct_dot(out + i * q, out + j * q, q);
        sum += s * s * w[i] * w[j] * (all * all - left * left);
      }
  }
  return fmax(sum, 0);
}

double tct_linear_form(const tct_linear *l, const double *a, const double *b) {
  double sum = 0;
  for (int64_t j = 0; j < l->q; j++)
    if (a[j] != 0) sum += a[j] * tct_dot(l->gram + j * l->q, b, l->q);
  return sum;
}

/* ---- one model, or two
 * ------------------------------------------------------------------------------------------------- */

typedef struct fit {
  const tct_linear *l;
  const int64_t *column; /* [slopes] */
  int64_t label, slopes, k;
  double ridge;         /* of sums */
  double *normal, *row; /* [k][k], [k] */
  double *a;            /* [2][q]: directions of columns: the residual, the label about its mean */
} fit;

static int64_t place(const fit *f, int64_t i) { return i < f->slopes ? f->column[i] : f->l->q - 1; }

static tct_status solve(fit *f, tct_linear_model *out, tct_error *err) {
  int64_t q = f->l->q;
  for (int64_t i = 0; i < f->k; i++)
    for (int64_t j = 0; j < f->k; j++) f->normal[i * f->k + j] = f->l->gram[place(f, i) * q + place(f, j)];
  for (int64_t i = 0; i < f->k; i++) out->w[i] = f->l->gram[place(f, i) * q + f->label];
  for (int64_t i = 0; i < f->slopes; i++) f->normal[i * f->k + i] += f->ridge;
  if (!tct_cholesky(f->normal, f->k))
    return tct_fail(err, TCT_E_RUN, "some of these columns follow from others; leave one out, or give a ridge");
  tct_cholesky_solve(f->normal, f->k, out->w);
  memset(f->a, 0, (size_t)(2 * q) * sizeof *f->a);
  for (int64_t i = 0; i < f->k; i++) f->a[place(f, i)] -= out->w[i];
  f->a[f->label] += 1;
  return TCT_OK;
}

/* w moves by A^-1 P' N a. */
static void moves(const fit *f, tct_linear_model *out) {
  double *row = f->row;
  for (int64_t j = 0; j < f->k; j++) {
    memset(row, 0, (size_t)f->k * sizeof *row);
    row[j] = 1;
    tct_cholesky_solve(f->normal, f->k, row);
    for (int64_t i = 0; i < f->k; i++) out->move[j * f->l->q + place(f, i)] = row[i];
  }
}

/* Of what the label is, of its residual, and of the residual's part in the last shell. */
static void explain(fit *f, tct_linear_model *out) {
  const tct_linear *l = f->l;
  const tct_moments *m = l->moments;
  int64_t q = l->q;
  double *alone = f->a + q, *u = l->work, rest = fmax(tct_linear_form(l, f->a, f->a), 0);
  alone[f->label] = 1, alone[q - 1] -= l->gram[f->label * q + q - 1] / l->gram[q * q - 1];
  double whole = fmax(tct_linear_form(l, alone, alone), 1e-300);
  const double parts[] = {-1 / whole, rest / (whole * whole)};
  out->residual = sqrt(rest / fmax(l->count - (double)f->k, 1));
  out->r2 = 1 - rest / whole;
  out->r2_noise = sqrt(tct_linear_variance(l, f->a, parts, 2));
  tct_linear_in_z(l, f->a, u);
  const double *last = m->shell + (m->shells - 1) * q * q;
  double beyond = 0;
  for (int64_t i = 0; i < q && m->shells > 1; i++) beyond += u[i] * tct_dot(last + i * q, u, q);
  out->cut = rest > 0 ? fmin(fmax(beyond / rest, 0), 1) : 0;
}

/* Moments of two columns about their means. */
double tct_linear_centred(const tct_linear *l, int64_t a, int64_t b) {
  const double *ones = l->gram + (l->q - 1) * l->q;
  return l->gram[a * l->q + b] - ones[a] * ones[b] / ones[l->q - 1];
}

/* The slopes' own part of what they predict, and that of the noise in them. */
static void shrink(const fit *f, tct_linear_model *out) {
  double noise = 0, energy = 0;
  for (int64_t i = 0; i < f->slopes; i++)
    for (int64_t j = 0; j < f->slopes; j++) {
      double both = tct_linear_centred(f->l, f->column[i], f->column[j]);
      noise += both * out->noise[i * f->k + j];
      energy += both * out->w[i] * out->w[j];
    }
  out->shrunk = energy > 0 ? fmax(0, 1 - noise / energy) : 0;
}

/* out[rows][count] <- a[rows][q] b[count][q]'. */
static void products(const double *a, int64_t rows, const double *b, int64_t count, int64_t q, double *out) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < count; j++) out[i * count + j] = tct_dot(a + i * q, b + j * q, q);
}

/* What noise does to both residuals, turned by both moves. */
static void shared_noise(const tct_linear *l, const tct_linear_model *a, const tct_linear_model *b, double *room,
                         double *noise) {
  int64_t q = l->q;
  double *cov = room, *u = cov + q * q, *v = u + q, *x = v + q, *y = x + a->count * q, *turned = y + b->count * q;
  tct_linear_in_z(l, a->residual_of, u), tct_linear_in_z(l, b->residual_of, v);
  tct_moments_noise(l->moments, u, v, q, cov, turned);
  for (int64_t j = 0; j < a->count; j++) tct_linear_in_z(l, a->move + j * q, x + j * q);
  for (int64_t j = 0; j < b->count; j++) tct_linear_in_z(l, b->move + j * q, y + j * q);
  products(y, b->count, cov, q, q, turned);
  products(x, a->count, turned, b->count, q, noise);
}

/* Scores r x of the one and s y of the other have a normal law's fourth moment rs xy' + ry' xs + rx sy'.  Here is its
 * first part. */
static void normal(const tct_linear *l, const tct_linear_model *a, const tct_linear_model *b, double *room,
                   double *sampling) {
  products(b->move, b->count, l->gram, l->q, l->q, room);
  products(a->move, a->count, room, b->count, l->q, sampling);
  double both = tct_linear_form(l, a->residual_of, b->residual_of);
  for (int64_t i = 0; i < a->count * b->count; i++) sampling[i] *= both / l->count;
}

/* tails[count] <- how many times longer errors are than a normal law's, as shells tell, or robust ones than those of
 * records as they are cut; at least 1.  The next count numbers are lost.  room: [6q] and [count][q]. */
static void tails_of(const tct_linear *l, const tct_linear_model *m, double *room, double *tails) {
  int64_t q = l->q;
  double *ga = room, *u = ga + q, *work = u + q, *y = work + 4 * q, *cut = tails + m->count;
  products(m->residual_of, 1, l->gram, q, q, ga);
  double rest = tct_linear_form(l, m->residual_of, m->residual_of);
  tct_linear_in_z(l, m->residual_of, u);
  for (int64_t j = 0; j < m->count; j++) tct_linear_in_z(l, m->move + j * q, y + j * q);
  tct_linear_squares(l, l->part, u, y, m->count, tails, work);
  if (l->fourth) tct_linear_squares(l, l->left, u, y, m->count, cut, work);
  for (int64_t j = 0; j < m->count; j++) {
    const double *move = m->move + j * q;
    double mean = tct_dot(move, ga, q), less = mean * mean / l->count;
    double alone = l->fourth ? cut[j] - less : rest * tct_linear_form(l, move, move) / l->count + less;
    tails[j] = alone > 0 ? sqrt(fmax((tails[j] - less) / alone, 1)) : 1;
  }
}

/* Scores are sums of products of two entries of z. */
static void robust(const tct_linear *l, const tct_linear_model *a, const tct_linear_model *b, double *room,
                   double *sampling) {
  const tct_linear_model *of[] = {a, b};
  int64_t q = l->q, d = tct_moments_products(q);
  double *form[] = {room, room + a->count * d}, *turned = form[1] + b->count * d;
  for (int k = 0; k < 2; k++)
    for (int64_t j = 0; j < of[k]->count; j++)
      tct_linear_product(l, of[k]->residual_of, of[k]->move + j * q, form[k] + j * d);
  products(form[1], b->count, l->fourth, d, d, turned);
  products(form[0], a->count, turned, b->count, d, sampling);
}

tct_status tct_linear_joint(const tct_linear *l, const tct_linear_model *a, const tct_linear_model *b, double *noise,
                            double *sampling, tct_error *err) {
  int64_t q = l->q, d = l->fourth ? tct_moments_products(q) : q, k = a->count + b->count;
  int64_t size = q * q + 6 * q + 2 * k * d;
  double *room = TCT_NEW(double, size + 2 * k), *tails = room + size;
  if (!room) return tct_fail_memory(err);
  shared_noise(l, a, b, room, noise);
  tails_of(l, a, room, tails), tails_of(l, b, room, tails + a->count);
  (l->fourth ? robust : normal)(l, a, b, room, sampling);
  double *ga = room, *gb = ga + q, degrees = sqrt((l->count - (double)a->count) * (l->count - (double)b->count));
  products(a->residual_of, 1, l->gram, q, q, ga), products(b->residual_of, 1, l->gram, q, q, gb);
  for (int64_t i = 0; i < a->count; i++)
    for (int64_t j = 0; j < b->count; j++) {
      const double *x = a->move + i * q, *y = b->move + j * q;
      double means = tct_dot(x, ga, q) * tct_dot(y, gb, q), crossed = tct_dot(x, gb, q) * tct_dot(y, ga, q);
      double more = l->fourth ? -means : crossed, *at = sampling + i * b->count + j;
      *at = (*at + more / l->count) * tails[i] * tails[a->count + j] * l->count / fmax(degrees, 1);
    }
  tct_free(room);
  return TCT_OK;
}

static tct_status check(const tct_linear *l, int64_t label, const int64_t *column, int64_t slopes, tct_error *err) {
  bool good = label >= 0 && label < l->q - 1 && slopes >= 0;
  for (int64_t i = 0; i < slopes && good; i++) {
    good = column[i] >= 0 && column[i] < l->q - 1 && column[i] != label;
    for (int64_t j = 0; j < i; j++) good = good && column[i] != column[j];
  }
  return good ? TCT_OK : tct_fail(err, TCT_E_USAGE, "name each column once, and the outcome not among the features");
}

void tct_linear_model_free(tct_linear_model *model) {
  tct_free(model->w);
  tct_free(model->residual_of);
  tct_free(model->move);
  tct_free(model->noise);
  tct_free(model->sampling);
  *model = (tct_linear_model){0};
}

tct_status tct_linear_fit(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes, double ridge,
                          tct_linear_model *out, tct_error *err) {
  int64_t k = slopes + 1, q = linear->q;
  *out = (tct_linear_model){.count = k, .ridge = ridge};
  TCT_TRY(check(linear, label, column, slopes, err));
  double *memory = TCT_NEW(double, k *k + k + 2 * q);
  fit f = {.l = linear, .column = column, .label = label, .slopes = slopes, .k = k, .ridge = ridge * linear->count};
  f.normal = memory, f.row = f.normal + k * k, f.a = f.row + k;
  out->w = TCT_NEW(double, k), out->residual_of = TCT_NEW(double, q), out->move = TCT_NEW(double, k *q);
  out->noise = TCT_NEW(double, k *k), out->sampling = TCT_NEW(double, k *k);
  bool all = memory && out->w && out->residual_of && out->move && out->noise && out->sampling;
  tct_status status = all ? solve(&f, out, err) : tct_fail_memory(err);
  if (status == TCT_OK) {
    memcpy(out->residual_of, f.a, (size_t)q * sizeof(double));
    explain(&f, out), moves(&f, out);
    status = tct_linear_joint(linear, out, out, out->noise, out->sampling, err);
  }
  if (status == TCT_OK) shrink(&f, out);
  tct_free(memory);
  return status;
}
