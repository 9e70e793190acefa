/* test_private_score.c - scores that may be published: how far a record moves them, their noise, and their charge. */
#include "../fault/ledger_help.h"

#include "la/matrix/lattice.h"
#include "score/score.h"

#include <math.h>

static const double hostile[] = {0,    1e-300, -1e-300, 0.3,    -0.3,     1,         -1,  5.9999, 6,
                                 6.01, -6,     1e6,     -1e300, INFINITY, -INFINITY, NAN, 2,      -2};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* The longest term of one record under this loss, over all hostile margins and labels. */
static double longest(const char *loss, int labels, bool weighed, double lattice) {
  tct_error err = {0};
  tct_scoring s;
  char text[64];
  snprintf(text, sizeof text, "%s", loss);
  tct_model model = {.loss = text, .labels = labels, .label_bound = labels == TCT_LABELS_REAL ? 3 : NAN};
  if (tct_scoring_make(&model, weighed, &s, &err) != TCT_OK) fail_msg("%s", err.text);
  double most = 0;
  for (int i = 0; i < HOSTILE; i++)
    for (int j = 0; j < (s.binary ? 2 : HOSTILE); j++) {
      double term[TCT_SCORE_LONGEST] = {0}, square = 0;
      tct_scoring_add(&s, &hostile[i], s.binary ? 2 * j - 1 : hostile[j], 1, lattice, term);
      for (int k = 0; k < s.len; k++) square += term[k] * term[k];
      for (int k = 0; k < s.len && lattice > 0; k++) assert_true(term[k] == tct_lattice_part(term[k], lattice));
      assert_true(square <= 1); /* false for NaN too */
      most = fmax(most, square);
    }
  return sqrt(most);
}

static void a_records_term_is_at_most_one_long_and_some_record_has_that(void **state) {
  (void)state;
  for (int k = 0; k < tct_loss_kind_count; k++) {
    const tct_loss_kind *kind = tct_loss_kinds[k];
    int labels = kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
    for (int weighed = 0; weighed < 2; weighed++) {
      double reached = longest(kind->name, labels, weighed, 0x1p-40);
      if (!(reached >= 0.99)) fail_msg("%s reaches %g of its length", kind->name, reached);
      assert_true(longest(kind->name, labels, weighed, 0) >= 0.99);
    }
  }
}

enum { MOST_CLASSES = 5 };

/* Of several classes: over hostile margins in the first two, or in all but the last, and every label. */
static double longest_of_classes(const char *loss, int64_t classes, bool weighed, double lattice) {
  tct_error err = {0};
  tct_scoring s;
  char text[64];
  snprintf(text, sizeof text, "%s", loss);
  tct_model model = {.loss = text, .labels = TCT_LABELS_BINARY, .label_bound = NAN, .models = classes};
  if (tct_scoring_make(&model, weighed, &s, &err) != TCT_OK) fail_msg("%s", err.text);
  double most = 0;
  for (int i = 0; i < HOSTILE * HOSTILE * 2; i++)
    for (int64_t label = -1; label <= classes; label++) {
      double margin[MOST_CLASSES], term[TCT_SCORE_LONGEST] = {0}, square = 0;
      for (int64_t k = 0; k < classes; k++) margin[k] = i % 2 && k > 1 ? -0.3 : hostile[i / 2 / HOSTILE];
      margin[1] = hostile[i / 2 % HOSTILE];
      tct_scoring_add(&s, margin, (double)label, 1, lattice, term);
      for (int k = 0; k < s.len; k++) square += term[k] * term[k];
      for (int k = 0; k < s.len && lattice > 0; k++) assert_true(term[k] == tct_lattice_part(term[k], lattice));
      assert_true(square <= 1);
      most = fmax(most, square);
    }
  return sqrt(most);
}

static void a_record_of_several_classes_is_at_most_one_long_and_some_record_has_that(void **state) {
  (void)state;
  static const struct {
    const char *loss;
    int64_t classes;
    double least; /* a record that is predicted rightly has not all hinge losses at their cut */
  } cases[] = {{"logistic", 3, 0.99},
               {"logistic", 5, 0.99},
               {"hinge", 3, 0.8},
               {"softmax:classes=3", 3, 0.99},
               {"softmax:classes=5", 5, 0.99}};
  for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++)
    for (int weighed = 0; weighed < 2; weighed++) {
      double reached = longest_of_classes(cases[k].loss, cases[k].classes, weighed, 0x1p-40);
      if (!(reached >= cases[k].least)) fail_msg("%s reaches %g of its length", cases[k].loss, reached);
      assert_true(longest_of_classes(cases[k].loss, cases[k].classes, weighed, 0) >= cases[k].least);
    }
}

/* What is released of a record that is predicted exactly has no error in it, whatever the loss's link. */
static void a_number_that_is_predicted_exactly_has_no_error(void **state) {
  (void)state;
  static const struct {
    char loss[24];
    double margin, label;
  } cases[] = {{"poisson", 0, 1},
               {"poisson", 0.69314718055994531, 2},
               {"squared", 2, 2},
               {"huber", -1.5, -1.5},
               {"poisson:margin=1", 5, 2.7182818284590451}}; /* no prediction is above the public margin */
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tct_error err = {0};
    tct_scoring s;
    char text[24];
    memcpy(text, cases[k].loss, sizeof text);
    tct_model model = {.loss = text, .labels = TCT_LABELS_REAL, .label_bound = 3};
    assert_int_equal(tct_scoring_make(&model, false, &s, &err), TCT_OK);
    double term[TCT_SCORE_LONGEST] = {0};
    tct_scoring_add(&s, &cases[k].margin, cases[k].label, 1, 0, term);
    if (!(term[TCT_SCORE_SQUARE] < 1e-20)) fail_msg("%s: %g", text, term[TCT_SCORE_SQUARE]);
  }
}

/* Tables of one record whose margins and labels are no numbers, and their neighbours: the sum moves by no more than a
 * record's length where it comes, and twice that where it changes. */
static void tables_of_any_numbers_move_by_no_more_than_planned(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "hinge", "squared", "softmax:classes=3", "logistic"};
  for (int k = 0; k < 5; k++)
    for (int weighed = 0; weighed < 2; weighed++) {
      tct_error err = {0};
      tct_scoring s;
      char text[32];
      snprintf(text, sizeof text, "%s", losses[k]);
      bool real = k == 2, several = k > 2;
      tct_model model = {.loss = text,
                         .labels = real ? TCT_LABELS_REAL : TCT_LABELS_BINARY,
                         .label_bound = real ? 1e-3 : NAN,
                         .models = several ? 3 : 1};
      assert_int_equal(tct_scoring_make(&model, weighed, &s, &err), TCT_OK);
      double most = 0;
      for (int a = 0; a < HOSTILE * HOSTILE; a++)
        for (int b = 0; b < HOSTILE; b++) {
          double term[2][TCT_SCORE_LONGEST] = {{0}}, apart = 0;
          double margin[2][3] = {{hostile[a % HOSTILE], 0.2, -0.2}, {-0.2, hostile[b], hostile[a / HOSTILE]}};
          for (int t = 0; t < 2; t++) {
            double label = several ? (a + t * b) % 3 : real ? hostile[(a + b + t) % HOSTILE] : t ? 1 : -1;
            tct_scoring_add(&s, margin[t], label, t && weighed ? 0.5 : 1, 0x1p-30, term[t]);
          }
          for (int64_t j = 0; j < s.len; j++) apart += pow(term[1][j] - term[0][j], 2);
          assert_true(apart <= 4); /* false for NaN too */
          most = fmax(most, sqrt(apart));
        }
      assert_true(most > 0.7);
    }
}

/* A person's records, whose weights sum to 1 in whatever shares, move the sum by no more than one record. */
static void a_persons_records_together_are_no_longer_than_one(void **state) {
  (void)state;
  static const double shares[][4] = {{0.25, 0.25, 0.25, 0.25}, {0.7, 0.1, 0.1, 0.1}, {1, 0, 0, 0}};
  char text[] = "logistic";
  tct_error err = {0};
  tct_scoring s;
  for (int several = 0; several < 2; several++) {
    tct_model model = {.loss = text, .labels = TCT_LABELS_BINARY, .label_bound = NAN, .models = several ? 3 : 1};
    assert_int_equal(tct_scoring_make(&model, true, &s, &err), TCT_OK);
    for (int turn = 0; turn < 3 * HOSTILE; turn++) {
      double sum[TCT_SCORE_LONGEST] = {0}, square = 0;
      for (int k = 0; k < 4; k++) {
        double margin[3] = {hostile[(turn + k) % HOSTILE], hostile[(turn * 5 + k * turn) % HOSTILE], 0.1};
        double label = several ? (turn + k) % 3 : (turn + k) % 2 ? 1 : -1;
        tct_scoring_add(&s, margin, label, shares[turn / HOSTILE][k], 0x1p-40, sum);
      }
      for (int k = 0; k < s.len; k++) square += sum[k] * sum[k];
      assert_true(square <= 1);
    }
  }
}

/* ---- follow-up times ------------------------------------------------------------------------------------- */

enum { FOLLOWED = 2000, DRAWS = 120 };
static double followed_margin[FOLLOWED], followed_time[FOLLOWED];

static double chance(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}
static double normal(uint64_t *state) {
  double size = sqrt(-2 * log(chance(state)));
  return size * cos(6.283185307179586 * chance(state));
}

/* Hazards e^z per unit of time, a horizon of 2, and exits without an event. */
static void follow(uint64_t seed) {
  for (int i = 0; i < FOLLOWED; i++) {
    double z = followed_margin[i] = 0.3 + 0.8 * normal(&seed);
    double event = -log(chance(&seed)) * exp(-z), out = -2 * log(chance(&seed));
    followed_time[i] = event < out ? event : -out;
  }
}

/* Harrell's, pair by pair. */
static double exact_concordance(void) {
  double agreed = 0, pairs = 0;
  for (int i = 0; i < FOLLOWED; i++)
    for (int j = 0; j < FOLLOWED && followed_time[i] > 0 && followed_time[i] <= 2; j++) {
      if (!(fmin(fabs(followed_time[j]), 2.0000001) > followed_time[i])) continue;
      pairs++;
      agreed += followed_margin[i] > followed_margin[j] ? 1 : followed_margin[i] == followed_margin[j] ? 0.5 : 0;
    }
  return agreed / pairs;
}

static tct_figure binned(const tct_scoring *s, double noise, uint64_t *seed) {
  double cell[TCT_SCORE_FOLLOWED] = {0};
  for (int i = 0; i < FOLLOWED; i++) cell[tct_scoring_cell(s, followed_margin[i], followed_time[i])]++;
  for (int k = 0; k < TCT_SCORE_FOLLOWED; k++) cell[k] += noise * normal(seed);
  return tct_scoring_concordance(cell, noise);
}

static void the_concordance_of_cells_is_that_of_pairs_with_the_stated_deviations(void **state) {
  (void)state;
  tct_error err = {0};
  tct_scoring s;
  char text[] = "cox";
  double weight = 1;
  tct_model model = {.loss = text, .labels = TCT_LABELS_REAL, .label_bound = 2, .cols = 1, .coefficients = &weight};
  model.row_norm = 4, model.intercept = 9;
  model.inference.course.cells = 24;
  for (int k = 0; k < 24; k++)
    model.inference.course.time[k] = (k + 1) / 12.0, model.inference.course.survival[k] = exp(-0.11 * (k + 1));
  for (int k = 0; k < 24; k++) model.inference.course.exposure[k] = 0.11 * (k + 1) / exp(0.3);
  assert_int_equal(tct_scoring_make(&model, false, &s, &err), TCT_OK);
  assert_float_equal(s.centre, 0.3, 1e-12); /* of the released hazard, not of the intercept */
  double mean[2] = {0}, square[2] = {0}, stated[2] = {0}, off = 0;
  uint64_t seed = 5;
  for (int k = 0; k < DRAWS; k++) {
    follow(11);
    tct_figure noisy = binned(&s, 4, &seed);
    mean[0] += noisy.value / DRAWS, square[0] += noisy.value * noisy.value / DRAWS, stated[0] += noisy.noise / DRAWS;
    follow(100 + (uint64_t)k);
    tct_figure plain = binned(&s, 0, &seed);
    mean[1] += plain.value / DRAWS, square[1] += plain.value * plain.value / DRAWS;
    stated[1] += plain.sampling / DRAWS;
    if (k < 5) off = fmax(off, fabs(plain.value - exact_concordance()));
  }
  assert_true(off < 0.012); /* margins and times of one cell count half */
  follow(11);
  double bias = mean[0] - binned(&s, 0, &seed).value; /* what is left out at the ends are clear cases */
  if (!(fabs(bias) < 0.5 * stated[0])) fail_msg("off by %g where noise moves it by %g", bias, stated[0]);
  for (int k = 0; k < 2; k++) {
    double ratio = sqrt(square[k] - mean[k] * mean[k]) / stated[k];
    if (!(ratio > 0.8 && ratio < 1.25)) fail_msg("deviation %d is %g of the stated one", k, ratio);
  }
  assert_true(isnan(binned(&s, 400, &seed).value)); /* hidden */
}

/* ---- through the interface --------------------------------------------------------------------------- */

enum { PEOPLE = 1500, COLUMNS = 2, TIMES = 300 };
static double features[PEOPLE * COLUMNS], labels[PEOPLE];

static tct_data *table(bool real) {
  tct_error err = {0};
  uint64_t word = 7;
  for (int i = 0; i < PEOPLE; i++) {
    double score = 0;
    for (int j = 0; j < COLUMNS; j++) {
      word = word * 6364136223846793005u + 1442695040888963407u;
      features[i * COLUMNS + j] = (double)(word >> 11) * 0x1p-53;
      score += (j ? -1.0 : 2.0) * features[i * COLUMNS + j];
    }
    word = word * 6364136223846793005u + 1442695040888963407u;
    double noise = (double)(word >> 11) * 0x1p-53 - 0.5;
    labels[i] = real ? score + noise : score + noise > 0.5 ? 1 : -1;
  }
  tct_matrix x = {.layout = TCT_DENSE_ROWS,
                  .value_type = TCT_F64,
                  .rows = PEOPLE,
                  .cols = COLUMNS,
                  .values = features,
                  .stride = COLUMNS};
  tct_data *data = tct_data_view(&x, labels, real ? TCT_LABELS_REAL : TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

static tct_model *trained(const tct_data *data, bool real) {
  tct_error err = {0};
  tct_config config;
  tct_config_default(&config);
  config.loss = real ? "squared" : "logistic";
  config.epsilon = 5, config.delta = 1e-6, config.row_norm = 2, config.has_seed = 1, config.seed = 3;
  if (real) config.label_bound = 3;
  tct_plan *plan = tct_plan_new(&config, PEOPLE, COLUMNS, &err);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) fail_msg("%s", err.text);
  tct_plan_free(plan);
  return model;
}

static json_t *scored(const tct_model *model, const tct_data *data, tct_config *budget) {
  tct_error err = {0};
  return parsed(tct_evaluate_json(model, data, budget, &err), &err);
}

/* What the released figures do over many runs, beside the exact one and the stated deviation. */
static void compare(const char *name, bool real, double exact) {
  tct_data *data = table(real);
  tct_model *model = trained(data, real);
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = real ? 30 : 1, budget.delta = 1e-6, budget.has_seed = 1; /* no figure is cut to what it can be */
  double sum = 0, squares = 0, stated = 0;
  for (int k = 0; k < TIMES; k++) {
    budget.seed = (uint64_t)k + 1;
    json_t *root = scored(model, data, &budget);
    double value = number_at(root, name, "value"), miss = value - exact;
    sum += miss, squares += miss * miss, stated += number_at(root, name, "noise_error");
    assert_true(number_at(root, name, "lower") <= value && value <= number_at(root, name, "upper"));
    json_decref(root);
  }
  double mean = sum / TIMES, deviation = sqrt(squares / TIMES - mean * mean), ratio = deviation / (stated / TIMES);
  if (!(ratio > 0.85 && ratio < 1.15)) fail_msg("%s: the deviation is %g of the stated one", name, ratio);
  if (!(fabs(mean) < 4.5 * deviation / sqrt(TIMES) + 0.003)) fail_msg("%s: off by %g on average", name, mean);
  tct_model_free(model);
  tct_data_free(data);
}

/* What the exact evaluation says of the same model and table. */
static double exact(const char *name, bool real) {
  tct_error err = {0};
  tct_data *data = table(real);
  tct_model *model = trained(data, real);
  json_t *root = parsed(tct_evaluate_json_nonprivate(model, data, &err), &err);
  double value = json_number_value(json_object_get(root, name));
  json_decref(root);
  tct_model_free(model);
  tct_data_free(data);
  return value;
}

static void figures_lie_about_the_exact_ones_with_the_stated_deviation(void **state) {
  (void)state;
  compare("accuracy", false, exact("accuracy", false));
  compare("mean_loss", false, exact("mean_loss", false));
  compare("auc", false, exact("auc", false));
  compare("mse", true, exact("mse", true));
}

enum { KINDS = 3, FEW = 80 };
static double codes[PEOPLE];

/* The same records in three classes by their score. */
static tct_data *table_of_classes(void) {
  static const char *const names[KINDS] = {"low", "mid", "high"};
  tct_error err = {0};
  tct_data_free(table(true));
  for (int i = 0; i < PEOPLE; i++) codes[i] = (labels[i] > 0.2) + (labels[i] > 0.9);
  tct_matrix x = {.layout = TCT_DENSE_ROWS, .rows = PEOPLE, .cols = COLUMNS, .values = features, .stride = COLUMNS};
  tct_data *data = tct_data_view(&x, codes, TCT_LABELS_CLASSES, NULL, NULL, &err);
  if (!data || tct_data_name_classes(data, names, KINDS, TCT_CLASS_TEXT, &err) != TCT_OK) fail_msg("%s", err.text);
  return data;
}

static tct_model *trained_on_classes(const tct_data *data, const char *loss) {
  tct_error err = {0};
  tct_config config;
  tct_config_default(&config);
  config.loss = loss;
  config.epsilon = 20, config.delta = 1e-6, config.row_norm = 2, config.has_seed = 1, config.seed = 3,
  config.classes = KINDS;
  tct_plan *plan = tct_plan_new(&config, PEOPLE, COLUMNS, &err);
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) fail_msg("%s", err.text);
  tct_plan_free(plan);
  return model;
}

/* Minus the mean logarithm of the true class's probability, written down in another way. */
static double exact_log_loss(const tct_model *model, const tct_data *data, bool joint) {
  static double margin[PEOPLE * KINDS];
  tct_error err = {0};
  double sum = 0;
  assert_int_equal(tct_predict(model, data, margin, &err), TCT_OK);
  for (int i = 0; i < PEOPLE; i++) {
    double all = 0, own = 0;
    for (int k = 0; k < KINDS; k++) {
      double z = margin[i * KINDS + k], p = joint ? exp(z) : 1 / (1 + exp(-z));
      all += p;
      if (k == (int)codes[i]) own = p;
    }
    sum -= log(own / all);
  }
  return sum / PEOPLE;
}

static void compare_figure(const tct_model *model, const tct_data *data, const char *name, double truth, double most) {
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = 1, budget.delta = 1e-6, budget.has_seed = 1;
  double sum = 0, squares = 0, stated = 0;
  for (int k = 0; k < FEW; k++) {
    budget.seed = (uint64_t)k + 1;
    json_t *root = scored(model, data, &budget);
    double miss = number_at(root, name, "value") - truth;
    sum += miss, squares += miss * miss, stated += number_at(root, name, "noise_error");
    json_decref(root);
  }
  double mean = sum / FEW, deviation = sqrt(squares / FEW - mean * mean), ratio = deviation / (stated / FEW);
  if (!(ratio > 0.7 && ratio < 1.3)) fail_msg("%s: the deviation is %g of the stated one", name, ratio);
  if (!(fabs(mean) < 4.5 * deviation / sqrt(FEW) + most)) fail_msg("%s: off by %g on average", name, mean);
}

static void figures_of_several_classes_lie_about_the_exact_ones(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "softmax:classes=3"};
  for (int k = 0; k < 2; k++) {
    tct_error err = {0};
    tct_data *data = table_of_classes();
    tct_model *model = trained_on_classes(data, losses[k]);
    json_t *root = parsed(tct_evaluate_json_nonprivate(model, data, &err), &err);
    compare_figure(model, data, "accuracy", json_number_value(json_object_get(root, "accuracy")), 1e-9);
    compare_figure(model, data, "log_loss", exact_log_loss(model, data, k == 1), 0.003);
    if (k == 1)
      assert_true(fabs(json_number_value(json_object_get(root, "mean_loss")) - exact_log_loss(model, data, 1)) < 1e-9);
    json_decref(root);
    tct_model_free(model);
    tct_data_free(data);
  }
}

/* Persons of one to four records: a mean over records, each with the share of its person that it has. */
static void figures_of_persons_are_weighed_means_with_the_stated_deviation(void **state) {
  (void)state;
  static int64_t person[PEOPLE];
  static double margin[PEOPLE];
  tct_error err = {0};
  for (int i = 0, who = 0, left = 1; i < PEOPLE; i++) {
    person[i] = who;
    if (--left == 0) who++, left = 1 + who % 4;
  }
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  assert_int_equal(tct_predict(model, data, margin, &err), TCT_OK);
  assert_int_equal(tct_data_weigh(data, NULL, 4, person, &err), TCT_OK);
  double right = 0, all = 0;
  for (int i = 0; i < PEOPLE; i++) {
    right += data->weight[i] * ((margin[i] > 0) == (labels[i] > 0));
    all += data->weight[i];
  }
  compare_figure(model, data, "accuracy", right / all, 0.01);
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = 1, budget.delta = 1e-6;
  json_t *root = scored(model, data, &budget);
  assert_string_equal(json_string_value(json_object_get(root, "unit")), "person");
  json_decref(root);
  tct_model_free(model);
  tct_data_free(data);
}

static void an_error_that_cannot_be_computed_is_not_small(void **state) {
  (void)state;
  double sum[TCT_SCORE_BINARY];
  for (int real = 0; real <= 1; real++) {
    tct_error err;
    tct_scoring scoring;
    tct_data *data = table(real);
    tct_model *model = trained(data, real);
    assert_int_equal(tct_scoring_make(model, false, &scoring, &err), TCT_OK);
    for (int64_t j = 0; j < scoring.len; j++) sum[j] = NAN;
    tct_figures f = tct_scoring_read(&scoring, sum, 1, PEOPLE);
    if (real)
      assert_true(isnan(f.mse.sampling) && isnan(f.r2.value));
    else
      assert_true(isnan(f.accuracy.sampling) && isnan(f.mean_loss.sampling) && isnan(f.auc.value));
    tct_model_free(model);
    tct_data_free(data);
  }
}

/* The names and kinds of what is answered, which nobody may tell neighbours apart by. */
static void same_shape(const json_t *a, const json_t *b) {
  const char *key;
  json_t *value;
  assert_int_equal(json_object_size(a), json_object_size(b));
  json_object_foreach((json_t *)a, key, value) {
    const json_t *other = json_object_get(b, key);
    if (!other || json_typeof(other) != json_typeof(value)) fail_msg("%s differs", key);
    if (json_is_array(value)) assert_int_equal(json_array_size(value), json_array_size(other));
    if (json_is_object(value) && !json_object_get(value, "value"))
      same_shape(value, other);
    else if (json_is_object(value))
      assert_true(json_object_get(other, "value") != NULL);
  }
}

/* One class absent, or every margin tied, or one record alone, beside a table without any of that. */
static void what_is_answered_has_the_same_names_whatever_the_table(void **state) {
  (void)state;
  static double x[3 * COLUMNS] = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2}, far[COLUMNS] = {1e300, -1e300};
  tct_error err = {0};
  tct_data *whole = table(false);
  tct_model *model = trained(whole, false);
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = 0.5, budget.delta = 1e-6, budget.has_seed = 1, budget.seed = 4;
  json_t *first = NULL;
  for (int kind = 0; kind < 5; kind++) {
    double y[3] = {kind == 0 ? -1 : 1, 1, kind == 4 ? -1 : 1};
    memcpy(x, kind == 3 ? far : x + COLUMNS, sizeof far);
    tct_matrix m = {.rows = kind == 1 ? 1 : 3, .cols = COLUMNS, .stride = COLUMNS, .values = x};
    tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
    json_t *root = scored(model, data, &budget);
    first = first ? first : json_incref(root);
    same_shape(first, root);
    json_decref(root);
    tct_data_free(data);
  }
  json_decref(first);
  tct_model_free(model);
  tct_data_free(whole);
}

static void the_event_costs_what_was_asked_under_both_relations(void **state) {
  (void)state;
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  for (int relation = 0; relation < 2; relation++) {
    tct_error err = {0};
    tct_config budget;
    tct_config_default(&budget);
    budget.epsilon = 0.7, budget.delta = 1e-6, budget.neighbours = relation ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    json_t *root = scored(model, data, &budget);
    const char *event = json_string_value(json_array_get(json_object_get(root, "events"), 0));
    json_t *cost = parsed(tct_account_json(&event, 1, budget.neighbours, 1e-6, &err), &err);
    double epsilon = json_number_value(json_object_get(cost, "epsilon"));
    if (!(epsilon <= 0.7 * (1 + 1e-9) && epsilon > 0.69)) fail_msg("%s costs %g", event, epsilon);
    json_decref(cost);
    json_decref(root);
  }
  tct_model_free(model);
  tct_data_free(data);
}

static void the_ledger_is_charged_and_what_it_refuses_is_not_scored(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  tct_config budget;
  tct_config_default(&budget);
  new_ledger(1, "sum");
  budget.epsilon = 0.6, budget.delta = 1e-6, budget.ledger = "L";
  json_decref(scored(model, data, &budget));
  assert_int_equal(count_runs(), 1);
  json_t *root = ledger_now(), *entry = json_array_get(json_object_get(root, "runs"), 0);
  assert_true(json_number_value(json_object_get(entry, "epsilon")) == 0.6);
  assert_true(json_number_value(json_object_get(entry, "delta")) == 1e-6);
  json_decref(root);
  assert_null(tct_evaluate_json(model, data, &budget, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_int_equal(count_runs(), 1);
  tct_model_free(model);
  tct_data_free(data);
}

/* Noise from a seed, and the records of persons, are told for what they are: in the answer and to the ledger. */
static void scores_from_a_seed_or_of_persons_are_not_told_as_ordinary(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  int64_t person[PEOPLE];
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = 0.1, budget.delta = 1e-6;
  new_ledger(1, NULL);
  for (int seed = 1; seed >= 0; seed--) {
    budget.has_seed = seed, budget.ledger = NULL;
    json_t *root = scored(model, data, &budget), *again = scored(model, data, &budget);
    assert_int_equal(seed, json_is_true(json_object_get(root, "reproducible")));
    assert_int_equal(seed, json_equal(root, again));
    json_decref(root);
    json_decref(again);
    budget.ledger = "L";
    char *text = tct_evaluate_json(model, data, &budget, &err);
    assert_int_equal(seed, text == NULL && err.status == TCT_E_BUDGET);
    tct_text_free(text);
  }
  assert_int_equal(count_runs(), 1);
  assert_int_equal(tct_data_unaccounted(data, "a fact", &err), TCT_OK);
  json_decref(scored(model, data, &budget));
  json_t *root = ledger_now(), *last = json_array_get(json_object_get(root, "runs"), 1);
  assert_int_equal(json_array_size(json_object_get(last, "unaccounted")), 1);
  json_decref(root);
  for (int i = 0; i < PEOPLE; i++) person[i] = i / 2;
  assert_int_equal(tct_data_weigh(data, NULL, 4, person, &err), TCT_OK);
  assert_null(tct_evaluate_json(model, data, &budget, &err)); /* a ledger of records */
  assert_non_null(strstr(err.text, "person"));
  assert_int_equal(count_runs(), 2);
  tct_model_free(model);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_records_term_is_at_most_one_long_and_some_record_has_that),
      cmocka_unit_test(a_record_of_several_classes_is_at_most_one_long_and_some_record_has_that),
      cmocka_unit_test(a_persons_records_together_are_no_longer_than_one),
      cmocka_unit_test(the_concordance_of_cells_is_that_of_pairs_with_the_stated_deviations),
      cmocka_unit_test(a_number_that_is_predicted_exactly_has_no_error),
      cmocka_unit_test(tables_of_any_numbers_move_by_no_more_than_planned),
      cmocka_unit_test(what_is_answered_has_the_same_names_whatever_the_table),
      cmocka_unit_test(figures_of_several_classes_lie_about_the_exact_ones),
      cmocka_unit_test(figures_of_persons_are_weighed_means_with_the_stated_deviation),
      cmocka_unit_test(figures_lie_about_the_exact_ones_with_the_stated_deviation),
      cmocka_unit_test(an_error_that_cannot_be_computed_is_not_small),
      cmocka_unit_test(the_event_costs_what_was_asked_under_both_relations),
      cmocka_unit_test(the_ledger_is_charged_and_what_it_refuses_is_not_scored),
      cmocka_unit_test(scores_from_a_seed_or_of_persons_are_not_told_as_ordinary),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
