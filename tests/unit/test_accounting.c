/* test_accounting.c - the figures of every accountant, to the digit, and what the composition leaves to the safe side.
 *
 * An accountant that says a little less is as wrong as one that says much less, and no comparison of bounds sees it. So
 * the figures are recorded here; TACIT_PRINT=1 prints the table anew.  Where a closed form or a program of its own
 * knows the truth, the recorded figures are held against it.  A figure that moves is a promise that changed: it belongs
 * in the changelog. */
#include "account/onestep.h"
#include "account/account.h"
#include "account/curves/compose.h"
#include "account/curves/fft.h"
#include "account/curves/loss_query.h"
#include "account/curves/pairs.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"
#include "account/single.h"

#include "sample.h"
#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LISTS = 24, MOST_EVENTS = 3 };

static const struct {
  double delta;
  const char *event[MOST_EVENTS + 1];
} lists[LISTS] = {
    {1e-6, {"gaussian:noise=2"}},
    {1e-9, {"gaussian:noise=30,count=200"}},
    {1e-5, {"laplace:noise=2"}},
    {1e-6, {"laplace:noise=20,count=60"}},
    {1e-4, {"exponential:epsilon=0.3"}},
    {1e-6, {"exponential:epsilon=0.05,count=50"}},
    {1e-3, {"pure:epsilon=0.4"}},
    {1e-6, {"pure:epsilon=0.1,count=100"}},
    {1e-6, {"approx:epsilon=0.1,delta=1e-8,count=20"}},
    {1e-3, {"approx:epsilon=0.5,delta=1e-4"}},
    {1e-6, {"zcdp:rho=0.05"}},
    {1e-6, {"sampled_gaussian:noise=1.1,rate=0.02,count=500"}},
    {1e-3, {"sampled_gaussian:noise=0.8,rate=0.3"}},
    {1e-5, {"objpert:noise=2,shift=0.1"}},
    {1e-6, {"objpert:noise=3,shift=0.2", "gaussian:noise=5"}},
    {1e-6, {"sampled_gaussian:noise=2,rate=0.1,count=20", "exponential:epsilon=0.1,count=3", "gaussian:noise=8"}},
    {1e-7, {"gaussian:noise=9", "laplace:noise=9,count=2", "zcdp:rho=0.01,count=3"}},
    {1e-5, {"pure:epsilon=0.2", "approx:epsilon=0.1,delta=1e-7", "gaussian:noise=4"}},
    {1e-10, {"sampled_gaussian:noise=0.3,rate=0.9"}},
    {1e-8, {"sampled_gaussian:noise=0.5,rate=1e-6,count=10"}},
    {1e-9, {"sampled_gaussian:noise=0.04,rate=0.5"}},
    {1e-6, {"laplace:noise=0.01", "exponential:epsilon=40"}},
    {1e-5, {"objpert:noise=0.2,shift=1", "pure:epsilon=0.3"}},
    {1e-3, {"gaussian:noise=0.05"}},
};

static tct_events list_of(const char *const *specs) {
  tct_events events = {0};
  tct_error err = {0};
  for (; *specs; specs++) {
    tct_event event;
    if (tct_event_parse(*specs, &event, NULL, &err) != TCT_OK) fail_msg("%s", err.text);
    assert_int_equal(tct_events_add(&events, event, &err), TCT_OK);
  }
  return events;
}

/* ---- recorded figures ------------------------------------------------------------------------------ */

/* List, relation, accountant; a bracket of epsilon at the list's delta, and one of delta at 0.8 of that epsilon. */
typedef struct figure {
  int list, relation;
  const char *accountant;
  double epsilon[2], delta[2];
} figure;

static const figure figures[] = {
#include "accounting.def"
};

static figure figure_of(int list, int relation, const tct_accountant *a) {
  figure f = {.list = list, .relation = relation, .accountant = a->name};
  tct_events events = list_of(lists[list].event);
  tct_bracket epsilon, delta;
  tct_error err = {0};
  if (a->epsilon(&events, (tct_neighbours)relation, lists[list].delta, 1e-3, &epsilon, &err) != TCT_OK)
    fail_msg("%s", err.text);
  double at = isfinite(epsilon.upper) ? 0.8 * epsilon.upper : 1;
  if (a->delta(&events, (tct_neighbours)relation, at, 1e-3, &delta, &err) != TCT_OK) fail_msg("%s", err.text);
  f.epsilon[0] = epsilon.lower, f.epsilon[1] = epsilon.upper;
  f.delta[0] = delta.lower, f.delta[1] = delta.upper;
  tct_events_free(&events);
  return f;
}

static bool applies(const tct_accountant *a, int list, int relation) {
  char why[128];
  tct_events events = list_of(lists[list].event);
  bool yes = a->applies(&events, (tct_neighbours)relation, why, sizeof why);
  tct_events_free(&events);
  return yes;
}

static bool near(double is, double was, double part) {
  return is == was || fabs(is - was) <= part * fabs(was) + 1e-300;
}

/* A numerical composition may choose its grid by the last digit of a forecast, and closed forms by nothing. */
static void compare(figure is, const figure *was) {
  double part = !strcmp(is.accountant, "pld") ? 1e-7 : 1e-9;
  for (int k = 0; k < 2; k++)
    if (!near(is.epsilon[k], was->epsilon[k], part) || !near(is.delta[k], was->delta[k], 20 * part))
      fail_msg("list %d, relation %d, %s: epsilon %.15g, delta %.15g; recorded are %.15g and %.15g", is.list,
               is.relation, is.accountant, is.epsilon[k], is.delta[k], was->epsilon[k], was->delta[k]);
}

static void every_accountant_says_to_the_digit_what_is_recorded(void **state) {
  (void)state;
  size_t row = 0;
  bool print = getenv("TACIT_PRINT") != NULL;
  for (int list = 0; list < LISTS; list++)
    for (int relation = 0; relation < 2; relation++)
      for (int i = 0; i < tct_accountant_count; i++) {
        if (!applies(tct_accountants[i], list, relation)) continue;
        figure is = figure_of(list, relation, tct_accountants[i]);
        if (print)
          printf("{%d, %d, \"%s\", {%.13g, %.13g}, {%.13g, %.13g}},\n", is.list, is.relation, is.accountant,
                 is.epsilon[0], is.epsilon[1], is.delta[0], is.delta[1]);
        if (print) continue;
        assert_true(row < sizeof figures / sizeof *figures);
        const figure *was = &figures[row++];
        assert_true(was->list == list && was->relation == relation && !strcmp(was->accountant, is.accountant));
        compare(is, was);
      }
  if (!print) assert_int_equal(row, sizeof figures / sizeof *figures);
}

/* ---- truths ---------------------------------------------------------------------------------------- */

static double pure_truth(double epsilon0, double delta) { return log(exp(epsilon0) - delta * (1 + exp(epsilon0))); }
static double laplace_truth(double epsilon0, double delta) { return epsilon0 + 2 * log1p(-delta); }
static double exponential_truth(double epsilon0, double delta) {
  return epsilon0 + 2 * log1p(-sqrt(-delta * expm1(-epsilon0)));
}
/* delta = d + (1 - d) delta' for a step that fails altogether with probability d. */
static double approx_truth(double epsilon0, double d, double delta) {
  return pure_truth(epsilon0, (delta - d) / (1 - d));
}

static void single_steps_cost_what_their_closed_curves_say(void **state) {
  (void)state;
  const struct {
    int list, relation;
    double epsilon;
  } rows[] = {
      {2, 0, laplace_truth(0.5, 1e-5)},      {2, 1, laplace_truth(1, 1e-5)}, {4, 0, exponential_truth(0.3, 1e-4)},
      {4, 1, exponential_truth(0.3, 1e-4)},  {6, 0, pure_truth(0.4, 1e-3)},  {9, 0, approx_truth(0.5, 1e-4, 1e-3)},
      {0, 0, 2.25408465021975} /* mpmath */,
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_events events = list_of(lists[rows[i].list].event);
    tct_cost cost;
    assert_int_equal(
        tct_account_epsilon(&events, (tct_neighbours)rows[i].relation, lists[rows[i].list].delta, 1e-3, &cost, NULL),
        TCT_OK);
    tct_events_free(&events);
    if (!(cost.epsilon >= rows[i].epsilon * (1 - 1e-12) && cost.epsilon <= rows[i].epsilon * (1 + 1e-7)))
      fail_msg("list %d costs %.15g, not %.15g", rows[i].list, cost.epsilon, rows[i].epsilon);
  }
}

/* Truths from closed forms, and of the long lists from an inverse Laplace transform in a program of its own. */
static void whole_lists_cost_what_is_true_of_them_or_of_their_parts(void **state) {
  (void)state;
  static const struct {
    double delta, least, most;
    const char *event[7];
    int relation;
  } rows[] = {
      {1e-6, 1, 1, {"approx:epsilon=1,delta=1e-6"}, 0},
      {1e-6, 1, 1, {"approx:epsilon=1,delta=1e-6"}, 1},
      {2e-6, 3 - 2e-12, 3, {"approx:epsilon=1,delta=1e-6", "approx:epsilon=2,delta=1e-6"}, 0},
      {1e-8, 123.6, 123.62, {"objpert:noise=0.18,shift=0.34", "pure:epsilon=1e-6"}, 1},
      {6.148e-4, 0, 0, {"sampled_gaussian:noise=6.79,rate=3.085e-7,count=47137"}, 0}, /* delta at 0: 4e-6 */
      {1e-9, 4.94, 5.33, {"gaussian:noise=1.2", "sampled_gaussian:noise=1e-3,rate=1e-14,count=1000"}, 0},
      {2.0835787483116038e-06,
       251.45,
       251.7,
       {"exponential:epsilon=0.6993146059307647", "gaussian:noise=634.3829197269592,count=734531",
        "sampled_gaussian:noise=0.9323507687089132,rate=0.010527703194186309,count=541754",
        "gaussian:noise=2223.433412132378,count=557487", "pure:epsilon=3.0952499648334495e-06"},
       1},
      {1.141846762662343e-11,
       1.84914,
       1.8504,
       {"gaussian:noise=8609.313327775553,count=570995", "pure:epsilon=1.2824257618180495",
        "pure:epsilon=2.6119686155741222e-05,count=570879",
        "sampled_gaussian:noise=7.380422013769277,rate=1.5305600140332221e-06,count=573884",
        "sampled_gaussian:noise=4.278511909537536,rate=0.012623009687571627", "pure:epsilon=0.03292931234294832"},
       0},
      {1.6726652308908984e-89, /* the sampled steps alone: 20.567 */
       17.65,
       21.803,
       {"sampled_gaussian:noise=0.7003657532169459,rate=1.728220062005696e-05,count=291397",
        "pure:epsilon=0.0001577218182404833,count=7473", "pure:epsilon=0.0022729902014055506,count=25"},
       1},
      {2.8847775114228145e-16, /* the first of these alone: 156065.2 */
       6.58,
       156076,
       {"objpert:noise=11026.153049300554,shift=0.2030808609312042,count=767485",
        "sampled_gaussian:noise=3.82933734679562,rate=0.0014186532715286658,count=35",
        "gaussian:noise=3.5197587990226284,count=2",
        "objpert:noise=9.216893821917699,shift=0.00015965277250054295,count=3",
        "exponential:epsilon=0.9784231404982379"},
       1},
      {1.929875672648996e-06, /* a bulk of 306,000 to either side, in which tilts of 1e-5 decide; the parts: 39265125.8
                               */
       2815,
       39265126,
       {"sampled_gaussian:noise=0.014001448245878793,rate=0.023609453349900552,count=625889",
        "pure:epsilon=0.0002136832522606033,count=647418",
        "sampled_gaussian:noise=0.6645235672457993,rate=4.824848606199621e-05,count=7",
        "gaussian:noise=4.41216234291605,count=1", "pure:epsilon=0.029026553422210798,count=5179"},
       0},
      {2.2450222058327152e-94, /* a window that leaves out too much; the parts: 43083367.1 */
       740,
       43083368,
       {"sampled_gaussian:noise=0.043239029902044104,rate=0.2848187808151612,count=542359",
        "sampled_gaussian:noise=3.148364846486015,rate=0.00010743286713648467,count=3315",
        "sampled_gaussian:noise=4.365039748995913,rate=0.001873158438007674,count=163",
        "pure:epsilon=0.013298966662964462,count=1", "gaussian:noise=216.79010619719296,count=2274"},
       1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!sample_turn((int64_t)i, 3)) continue;
    tct_events events = list_of(rows[i].event);
    tct_cost cost;
    assert_int_equal(tct_account_epsilon(&events, (tct_neighbours)rows[i].relation, rows[i].delta, 1e-3, &cost, NULL),
                     TCT_OK);
    tct_events_free(&events);
    if (!(cost.epsilon >= rows[i].least && cost.epsilon <= rows[i].most * (1 + 1e-11)))
      fail_msg("list %zu costs %.15g, not %.15g to %.15g", i, cost.epsilon, rows[i].least, rows[i].most);
  }
}

/* The rounding of such losses moves the masses by more than is proved of them, on every grid. */
static void no_wider_grid_is_tried_where_masses_disagree(void **state) {
  (void)state;
  static const char *const one[] = {"gaussian:noise=0.01904880745907302,count=467107", NULL};
  tct_events events = list_of(one);
  tct_bracket exact, bracket;
  assert_int_equal(tct_accountant_gdp.epsilon(&events, TCT_REPLACE_ONE, 2.4e-11, 1e-3, &exact, NULL), TCT_OK);
  tct_work before = tct_work_begin(1e12);
  assert_int_equal(tct_accountant_pld.epsilon(&events, TCT_REPLACE_ONE, 2.4e-11, 1e-3, &bracket, NULL), TCT_OK);
  tct_work spent = tct_work_end(before);
  assert_true(bracket.upper >= exact.lower && bracket.upper <= exact.upper * (1 + 1e-9)); /* as a part alone */
  if (!(spent.spent < 2e8)) fail_msg("%g units of work, and one grid takes 0.75e8", spent.spent);
  tct_events_free(&events);
}

/* Of two parts, the least sum over the shares of delta. */
static void the_shares_of_parts_add_up_to_delta(void **state) {
  (void)state;
  static const char *const two[] = {"sampled_gaussian:noise=2,rate=0.5,count=3", "sampled_gaussian:noise=4,rate=0.4",
                                    NULL};
  tct_events events = list_of(two);
  for (int relation = 0; relation < 2; relation++) {
    tct_bracket all;
    double least = INFINITY, first[2], second[2];
    for (int i = 1; i < 200; i++) {
      tct_single_epsilon(&events.at[0], (tct_neighbours)relation, 1e-6 * i / 200 / 3, first);
      tct_single_epsilon(&events.at[1], (tct_neighbours)relation, 1e-6 * (200 - i) / 200, second);
      least = fmin(least, 3 * first[0] + second[0]);
    }
    assert_int_equal(tct_accountant_basic.epsilon(&events, (tct_neighbours)relation, 1e-6, 1e-3, &all, NULL), TCT_OK);
    assert_true(all.upper > least * (1 - 1e-3) && all.upper < least * 1.001);
  }
  tct_events_free(&events);
}

/* Steps that are left out because they are hardly ever drawn may cost nothing: they raise no lower end. */
static void what_is_left_out_is_charged_above_and_not_below(void **state) {
  (void)state;
  static const char *const with[] = {"pure:epsilon=0.2,count=3", "sampled_gaussian:noise=1e6,rate=1e-14,count=9", NULL};
  static const char *const without[] = {"pure:epsilon=0.2,count=3", NULL};
  const double delta = 1e-9;
  tct_events more = list_of(with), less = list_of(without);
  tct_loss_query query;
  assert_int_equal(tct_loss_query_new(&query, &more, TCT_ADD_REMOVE, 1e-4 * delta, NULL), TCT_OK);
  assert_true(query.len == 1 && query.rare >= 9e-14 && query.rare < 9.1e-14);
  tct_free(query.at);
  tct_bracket all, part;
  assert_int_equal(tct_accountant_pld.epsilon(&more, TCT_ADD_REMOVE, delta, 1e-3, &all, NULL), TCT_OK);
  assert_int_equal(tct_accountant_pld.epsilon(&less, TCT_ADD_REMOVE, delta, 1e-3, &part, NULL), TCT_OK);
  assert_true(all.upper > part.upper && all.lower == part.lower);
  tct_events_free(&more);
  tct_events_free(&less);
}

/* To the bit, and though the sum of the counts is no integer. */
static void neither_order_nor_grouping_moves_the_sum_of_parts(void **state) {
  (void)state;
  static const char *const one[] = {"sampled_gaussian:noise=2,rate=1e-9,count=30", "objpert:noise=2,shift=0.1,count=2",
                                    "zcdp:rho=0.01", "gaussian:noise=9,count=3", NULL};
  static const char *const other[] = {"gaussian:noise=9",
                                      "sampled_gaussian:noise=2,rate=1e-9,count=29",
                                      "objpert:noise=2,shift=0.1",
                                      "gaussian:noise=9,count=2",
                                      "zcdp:rho=0.01",
                                      "sampled_gaussian:noise=2,rate=1e-9",
                                      "objpert:noise=2,shift=0.1",
                                      NULL};
  static const char *const huge[] = {"objpert:noise=2,shift=0.1", "zcdp:rho=0.01", "objpert:noise=2,shift=0.1", NULL};
  for (int relation = 0; relation < 2; relation++)
    for (double delta = 1e-12; delta < 0.1; delta *= 100) {
      tct_events a = list_of(one), b = list_of(other), c = list_of(huge);
      c.at[0].count = c.at[2].count = INT64_MAX;
      tct_bracket x, y, z;
      assert_int_equal(tct_accountant_basic.epsilon(&a, (tct_neighbours)relation, delta, 1e-3, &x, NULL), TCT_OK);
      assert_int_equal(tct_accountant_basic.epsilon(&b, (tct_neighbours)relation, delta, 1e-3, &y, NULL), TCT_OK);
      assert_int_equal(tct_accountant_basic.epsilon(&c, (tct_neighbours)relation, delta, 1e-3, &z, NULL), TCT_OK);
      assert_true(x.upper == y.upper && x.upper < 1000 && z.upper > 1e18);
      tct_events_free(&a);
      tct_events_free(&b);
      tct_events_free(&c);
    }
}

/* Each repetition has its own share of delta, and each costs. */
static void two_tilts_cost_twice_one_at_half_the_delta(void **state) {
  (void)state;
  static const char *const two[] = {"objpert:noise=2,shift=0.1,count=2", NULL};
  for (int relation = 0; relation < 2; relation++)
    for (double delta = 1e-12; delta < 0.01; delta *= 100) {
      tct_events events = list_of(two);
      tct_bracket both;
      double one = tct_onestep_epsilon(&events.at[0], (tct_neighbours)relation, 0, delta / 2);
      assert_int_equal(tct_accountant_basic.epsilon(&events, (tct_neighbours)relation, delta, 1e-3, &both, NULL),
                       TCT_OK);
      assert_true(both.upper >= 2 * one * (1 - 1e-9) && both.upper <= 2 * one * (1 + 1e-6));
      tct_events_free(&events);
    }
}

/* At delta 0 the closed forms alone answer; of the others nothing is known, from above or below. */
static void without_any_delta_only_closed_forms_prove_something(void **state) {
  (void)state;
  tct_events events = list_of(lists[7].event);
  for (int i = 0; i < tct_accountant_count; i++) {
    tct_bracket b;
    char why[128];
    if (!tct_accountants[i]->applies(&events, TCT_ADD_REMOVE, why, sizeof why)) continue;
    bool basic = !strcmp(tct_accountants[i]->name, "basic");
    assert_int_equal(tct_accountant_epsilon(tct_accountants[i], &events, TCT_ADD_REMOVE, 0, 1e-3, &b, NULL), TCT_OK);
    if (basic) assert_true(b.lower <= 10 && b.upper >= 10 && b.upper < 10 * (1 + 1e-12)); /* 100 steps of 0.1 */
    if (!basic) assert_true(b.lower == 0 && b.upper == INFINITY);
  }
  tct_events_free(&events);
}

/* ---- rounding is paid for -------------------------------------------------------------------------- */

/* Of a composed law most points have no mass that a double could hold; what the transform leaves there is noise. */
static void every_point_of_an_upper_law_carries_the_transforms_rounding(void **state) {
  (void)state;
  tct_event event = tct_event_gaussian(1, 1);
  tct_grid_shape shape = {0.01, 0, 1e-16, false};
  tct_grid grid;
  tct_pmf pmf;
  tct_law law;
  tct_window window = {1, 90, 120, 20, 3, 3, 0};
  double least = INFINITY, least_lower = INFINITY;
  assert_int_equal(tct_best_offset(&event, TCT_ADD_REMOVE, &shape, &shape.offset, NULL), TCT_OK);
  assert_int_equal(tct_grid_new(&event, TCT_ADD_REMOVE, &shape, &grid, NULL), TCT_OK);
  assert_int_equal(tct_pmf_upper(&grid, 50, &pmf, NULL), TCT_OK);
  assert_int_equal(tct_compose(&pmf, 1, &window, true, &law, NULL), TCT_OK);
  assert_true(law.proved);
  for (int64_t k = 0; k < law.len; k++) least = fmin(least, law.tilted[k]);
  assert_true(least > 0);
  tct_law_free(&law);
  assert_int_equal(tct_compose(&pmf, 1, &window, false, &law, NULL), TCT_OK);
  for (int64_t k = 0; k < law.len; k++) least_lower = fmin(least_lower, law.tilted[k]);
  assert_true(least_lower == 0);
  tct_law_free(&law);
  tct_pmf_free(&pmf);
  tct_grid_free(&grid);
}

/* Each loss is a double: it may be wrong by half a unit of its last place, each time that it is added. */
static void a_sum_of_losses_is_raised_by_what_their_doubles_may_hide(void **state) {
  (void)state;
  static const char *const specs[] = {"sampled_gaussian:noise=1,rate=0.01,count=1000", "pure:epsilon=3,count=500",
                                      NULL};
  tct_events events = list_of(specs);
  tct_loss_query query;
  double least = 0;
  assert_int_equal(tct_loss_query_new(&query, &events, TCT_ADD_REMOVE, 0, NULL), TCT_OK);
  query.tail = 1e-12;
  for (int j = 0; j < query.len; j++) {
    double low, high;
    tct_event_loss_range(&query.at[j], TCT_ADD_REMOVE, query.tail, &low, &high);
    assert_true(high > low);
    least += (double)query.at[j].count * DBL_EPSILON * fmax(fabs(low), fabs(high));
  }
  assert_true(tct_loss_rounding(&query) >= least);
  assert_true(tct_loss_rounding(&query) <= 1e4 * least);
  tct_free(query.at);
  tct_events_free(&events);
}

/* 3e7 losses: here the raise is five of the digits that are recorded. */
static void the_raise_by_rounding_is_part_of_the_answer(void **state) {
  (void)state;
  static const char *const specs[] = {"pure:epsilon=1e-5,count=30000000", NULL};
  tct_events events = list_of(specs);
  tct_bracket bracket;
  assert_int_equal(tct_accountant_pld.epsilon(&events, TCT_ADD_REMOVE, 1e-6, 1e-3, &bracket, NULL), TCT_OK);
  tct_events_free(&events);
  if (!near(bracket.upper, 0.208574729726, 1e-7) || !near(bracket.lower, 0.208572484926, 1e-7))
    fail_msg("[%.12g, %.12g] is not what is recorded", bracket.lower, bracket.upper);
}

/* Equal steps are one kind with a count, unless that would leave the range of a count. */
static void steps_of_one_kind_are_counted_together(void **state) {
  (void)state;
  const struct {
    int64_t count[2];
    int kinds;
  } rows[] = {{{3, 4}, 1}, {{INT64_MAX - 4, 4}, 1}, {{INT64_MAX - 3, 4}, 2}, {{INT64_MAX, INT64_MAX}, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_event list[2] = {tct_event_laplace(2, rows[i].count[0]), tct_event_laplace(2, rows[i].count[1])};
    tct_events events = {list, 2, 2};
    tct_loss_query query;
    assert_int_equal(tct_loss_query_new(&query, &events, TCT_ADD_REMOVE, 0, NULL), TCT_OK);
    assert_int_equal(query.len, rows[i].kinds);
    uint64_t sum = 0;
    for (int j = 0; j < query.len; j++) sum += (uint64_t)query.at[j].count;
    assert_true(sum == (uint64_t)rows[i].count[0] + (uint64_t)rows[i].count[1]);
    tct_free(query.at);
  }
}

/* What a law leaves out above its range is the whole of the pair's mass there, not a part. */
static void the_mass_beyond_the_range_of_a_pair_is_that_of_its_closed_form(void **state) {
  (void)state;
  const tct_event events[] = {tct_event_objpert(2, 0.1, 1), tct_event_objpert(0.3, 0, 1), tct_event_gaussian(1.5, 1),
                              tct_event_sampled_gaussian(0.7, 0.2, 1), tct_event_sampled_gaussian(3, 1e-3, 1)};
  static const double tails[] = {1e-3, 1e-12, 1e-100};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    for (int relation = 0; relation < 2; relation++)
      for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
        tct_pair pair;
        tct_pair_of(&events[i], (tct_neighbours)relation, tails[k], &pair);
        assert_true(pair.high_p > 0 && pair.high_p <= tails[k] * (1 + 1e-9));
        assert_true(near(pair.high_p, pair.above(&pair, pair.high), 1e-9));
      }
}

/* No composition is below the closed curve of a single step where factors of a density leave the range of a double. */
static void far_tails_and_little_noise_lose_no_mass(void **state) {
  (void)state;
  static const struct {
    double noise, rate, delta;
  } rows[] = {{0.12, 0.1, 1e-200}, {0.2, 0.5, 1e-250}, {0.13, 0.5, 1e-200}, {0.02, 0.5, 1e-6}, {0.01, 0.9, 1e-100}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int relation = 0; relation < 2; relation++) {
      tct_event event = tct_event_sampled_gaussian(rows[i].noise, rows[i].rate, 1);
      tct_events one = {&event, 1, 1};
      tct_bracket b;
      double pair[2];
      tct_single_epsilon(&event, (tct_neighbours)relation, rows[i].delta, pair);
      assert_int_equal(tct_accountant_pld.epsilon(&one, (tct_neighbours)relation, rows[i].delta, 1e-3, &b, NULL),
                       TCT_OK);
      if (!(b.lower <= pair[1] && b.upper >= pair[0] && b.upper <= pair[1] * 1.01))
        fail_msg("noise %g, delta %g, relation %d: [%.9g, %.9g] for %.9g", rows[i].noise, rows[i].delta, relation,
                 b.lower, b.upper, pair[0]);
    }
}

/* ---- both ends of a bracket -------------------------------------------------------------------------- */

static long double upper_tail(long double x) { return erfcl(x / sqrtl(2)) / 2; }

/* delta of a sampled step of which a record is replaced, at the loss that it has at z deviations. */
static long double replaced_delta(long double m, long double q, long double z, long double *loss) {
  long double up = 1 - q + q * expl(m * z - m * m / 2), down = 1 - q + q * expl(-m * z - m * m / 2);
  *loss = logl(up / down);
  return (1 - q) * upper_tail(z) + q * upper_tail(z - m) -
         up / down * ((1 - q) * upper_tail(z) + q * upper_tail(z + m));
}

/* A lower end that is a digit too high would call a true claim false, and an upper one that is too low a false one
 * true. */
static void both_ends_of_a_replaced_step_enclose_the_exact_curve(void **state) {
  (void)state;
  static const double deltas[] = {0.3, 0.1, 0.01, 1e-4}, rates[] = {0.1, 0.5, 0.9}, noises[] = {0.5, 1, 3};
  int compared = 0;
  for (int k = 0; k < 36; k++) {
    double delta = deltas[k / 9], rate = rates[k / 3 % 3], noise = noises[k % 3], pair[2];
    tct_event event = tct_event_sampled_gaussian(noise, rate, 1);
    long double m = 1 / (long double)noise, loss, low = 0, high = 40;
    tct_single_epsilon(&event, TCT_REPLACE_ONE, delta, pair);
    if (replaced_delta(m, rate, 0, &loss) <= delta) continue; /* free at this delta */
    for (int i = 0; i < 200; i++) {
      long double middle = (low + high) / 2;
      if (replaced_delta(m, rate, middle, &loss) > delta)
        low = middle;
      else
        high = middle;
    }
    compared++;
    if (!(pair[0] <= loss && pair[1] >= loss && pair[1] - pair[0] <= 1e-9 * (1 + pair[1])))
      fail_msg("noise %g, rate %g, delta %g: [%.17g, %.17g] for %.17Lg", noise, rate, delta, pair[0], pair[1], loss);
  }
  assert_true(compared >= 20);
}

/* Its lower end is rounded down where the upper one is rounded up. */
static void the_lower_end_of_approx_steps_is_below_the_upper_one(void **state) {
  (void)state;
  tct_event event = tct_event_approx(0.1, 1e-8, 20);
  tct_events list = {&event, 1, 1};
  tct_bracket b;
  assert_int_equal(tct_accountant_find("basic")->epsilon(&list, TCT_ADD_REMOVE, 1e-6, 1e-3, &b, NULL), TCT_OK);
  assert_true(b.lower < b.upper && b.lower >= b.upper * (1 - 1e-9));
}

static void a_sample_of_all_records_is_no_sample(void **state) {
  (void)state;
  tct_event whole = tct_event_gaussian(2, 1), sampled = tct_event_sampled_gaussian(2, 1, 1);
  for (int relation = 0; relation < 2; relation++) {
    double is[2], was[2];
    tct_single_epsilon(&whole, (tct_neighbours)relation, 1e-6, was);
    tct_single_epsilon(&sampled, (tct_neighbours)relation, 1e-6, is);
    assert_true(is[0] == was[0] && is[1] == was[1]);
    tct_single_delta(&whole, (tct_neighbours)relation, 1, was);
    tct_single_delta(&sampled, (tct_neighbours)relation, 1, is);
    assert_true(is[0] == was[0] && is[1] == was[1]);
  }
}

/* ---- filters and calibration ------------------------------------------------------------------------ */

static int steps_until_refused(tct_filter_kind kind, tct_neighbours relation, double epsilon, double delta,
                               tct_event event) {
  tct_filter filter;
  int steps = 0;
  assert_int_equal(tct_filter_init(&filter, kind, relation, epsilon, delta, NULL), TCT_OK);
  for (;; steps++) {
    tct_filter before = filter;
    if (tct_filter_spend(&filter, &event, NULL) == TCT_OK) continue;
    assert_memory_equal(&before, &filter, sizeof filter); /* a refusal charges nothing */
    return steps;
  }
}

static void filters_permit_as_many_steps_as_are_recorded_and_delta_is_a_budget_too(void **state) {
  (void)state;
  const struct {
    tct_filter_kind kind;
    tct_neighbours relation;
    double epsilon, delta;
    tct_event event;
    int steps;
  } rows[] = {
      {TCT_FILTER_SUM, TCT_ADD_REMOVE, 10, 5.5e-6, tct_event_approx(0.01, 1e-6, 1), 5},
      {TCT_FILTER_SUM, TCT_ADD_REMOVE, 0.105, 1e-3, tct_event_approx(0.01, 1e-6, 1), 10},
      {TCT_FILTER_SUM, TCT_REPLACE_ONE, 1.05, 0, tct_event_laplace(20, 1), 10},
      {TCT_FILTER_SUM, TCT_ADD_REMOVE, 1.05, 0, tct_event_exponential(0.1, 2), 5},
      {TCT_FILTER_ZCDP, TCT_ADD_REMOVE, 1, 1e-6, tct_event_gaussian(30, 1), 43},
      {TCT_FILTER_ZCDP, TCT_REPLACE_ONE, 1, 1e-6, tct_event_gaussian(30, 1), 10},
      {TCT_FILTER_ZCDP, TCT_ADD_REMOVE, 1, 1e-6, tct_event_exponential(0.05, 1), 77},
      {TCT_FILTER_GDP, TCT_ADD_REMOVE, 1, 1e-6, tct_event_gaussian(60, 1), 201},
      {TCT_FILTER_GDP, TCT_REPLACE_ONE, 2, 1e-9, tct_event_gaussian(60, 3), 37},
      {TCT_FILTER_RDP, TCT_ADD_REMOVE, 1, 1e-6, tct_event_sampled_gaussian(2, 0.01, 10), 150},
      {TCT_FILTER_RDP, TCT_ADD_REMOVE, 1, 1e-6, tct_event_laplace(40, 1), 77},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int steps = steps_until_refused(rows[i].kind, rows[i].relation, rows[i].epsilon, rows[i].delta, rows[i].event);
    if (getenv("TACIT_PRINT")) printf("filter %zu: %d steps\n", i, steps);
    if (!getenv("TACIT_PRINT") && steps != rows[i].steps)
      fail_msg("filter %zu permits %d steps; recorded are %d", i, steps, rows[i].steps);
  }
}

/* What is spent may be said to be a little more than it is, never less. */
static void a_filter_rounds_what_is_spent_up(void **state) {
  (void)state;
  static const double costs[] = {0.1, 1.0 / 3, 0.7, 1e-3, 0x1.fffffffffffffp-4};
  for (size_t c = 0; c < sizeof costs / sizeof *costs; c++) {
    tct_filter filter;
    tct_event event = tct_event_pure(costs[c], 1), tilt = tct_event_objpert(9, 0.1, 1);
    assert_int_equal(tct_filter_init(&filter, TCT_FILTER_SUM, TCT_ADD_REMOVE, 1e6, 0, NULL), TCT_OK);
    for (int k = 1; k <= 3000; k++) {
      assert_int_equal(tct_filter_spend(&filter, &event, NULL), TCT_OK);
      assert_true((long double)filter.spent >= (long double)k * (long double)costs[c]);
      assert_true(filter.spent <= k * costs[c] * (1 + 1e-11));
    }
    for (int kind = TCT_FILTER_ZCDP; kind <= TCT_FILTER_SUM; kind++) { /* which have no cost for a tilt */
      assert_int_equal(tct_filter_init(&filter, (tct_filter_kind)kind, TCT_ADD_REMOVE, 9, 1e-6, NULL), TCT_OK);
      assert_int_equal(tct_filter_spend(&filter, &tilt, NULL), TCT_E_USAGE);
    }
  }
}

static void a_filter_counts_delta_of_every_repetition(void **state) {
  (void)state;
  tct_filter filter;
  tct_event five = tct_event_approx(0.01, 1e-7, 5);
  assert_int_equal(tct_filter_init(&filter, TCT_FILTER_SUM, TCT_ADD_REMOVE, 9, 1.2e-6, NULL), TCT_OK);
  assert_int_equal(tct_filter_spend(&filter, &five, NULL), TCT_OK);
  assert_true(filter.delta_spent >= 5e-7 && filter.delta_spent <= 5e-7 * (1 + 1e-12));
  assert_int_equal(tct_filter_spend(&filter, &five, NULL), TCT_OK);
  assert_true(filter.delta_spent >= 1e-6 && filter.delta_spent <= 1e-6 * (1 + 1e-12));
  assert_int_equal(tct_filter_spend(&filter, &five, NULL), TCT_E_BUDGET);
}

/* So little epsilon at this delta that the conversion alone costs more. */
static void a_filter_of_a_budget_that_buys_nothing_permits_nothing(void **state) {
  (void)state;
  tct_event least = tct_event_gaussian(1e8, 1);
  for (int kind = TCT_FILTER_ZCDP; kind <= TCT_FILTER_RDP; kind++) {
    tct_filter filter;
    if (tct_filter_init(&filter, (tct_filter_kind)kind, TCT_ADD_REMOVE, 1e-11, 1e-18, NULL) != TCT_OK) continue;
    assert_int_equal(tct_filter_spend(&filter, &least, NULL), TCT_E_BUDGET);
  }
}

static void calibrated_noise_is_what_is_recorded(void **state) {
  (void)state;
  static const struct {
    double rate;
    int64_t count;
    tct_neighbours relation;
    double epsilon, delta, noise;
  } rows[] = {
      {1, 1, TCT_ADD_REMOVE, 1, 1e-6, 4.224679176179},
      {1, 40, TCT_REPLACE_ONE, 0.5, 1e-8, 124.7649399829},
      {0.02, 300, TCT_ADD_REMOVE, 1, 1e-6, 1.726217412662},
      {0.2, 5, TCT_ADD_REMOVE, 4, 1e-5, 0.9832577826586},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double noise;
    tct_cost cost;
    tct_target target = {rows[i].relation, rows[i].epsilon, rows[i].delta};
    assert_int_equal(tct_calibrate_noise(rows[i].rate, rows[i].count, &target, &noise, &cost, NULL), TCT_OK);
    assert_true(cost.epsilon <= rows[i].epsilon);
    if (getenv("TACIT_PRINT")) printf("noise %zu: %.13g\n", i, noise);
    if (!getenv("TACIT_PRINT") && !near(noise, rows[i].noise, 2e-6))
      fail_msg("noise %zu is %.13g; recorded is %.13g", i, noise, rows[i].noise);
  }
}

/* At orders 2 and 3 the divergence of a sampled step is a short sum: the quadrature's value is never below it. */
static void the_divergence_of_a_sampled_step_is_not_below_its_closed_form(void **state) {
  (void)state;
  static const double noises[] = {0.5, 0.8, 1, 2, 7, 40}, rates[] = {1e-4, 0.01, 0.2, 0.7, 0.99};
  for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
      double s2 = noises[i] * noises[i], q = rates[k];
      double two = log1p(q * q * expm1(1 / s2));
      double three = log1p(3 * q * q * (1 - q) * expm1(1 / s2) + q * q * q * expm1(3 / s2)) / 2;
      double of_two = tct_sampled_gaussian_renyi(noises[i], q, 2),
             of_three = tct_sampled_gaussian_renyi(noises[i], q, 3);
      if (!(of_two >= two && of_two <= two * (1 + 3e-11)) || !(of_three >= three && of_three <= three * (1 + 3e-11)))
        fail_msg("noise %g, rate %g: %.15g for %.15g, %.15g for %.15g", noises[i], q, of_two, two, of_three, three);
    }
}

/* Next to no noise: the loss at delta is that of the records' own terms, with the coin's log(1 - q) below. */
static void a_replaced_record_with_next_to_no_noise_costs_what_its_closed_curve_says(void **state) {
  (void)state;
  static const double rates[] = {0.3, 0.6, 0.9, 0.99};
  for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
    tct_event e = tct_event_sampled_gaussian(0.01, rates[k], 1);
    double pair[2], q = rates[k], delta = 1e-6, z = 4.75342430882 /* Phi(-z) = 1e-6 */;
    tct_single_epsilon(&e, TCT_REPLACE_ONE, delta, pair);
    /* P[x > t] = q Phi(-(t - 100)) = delta about, and the loss there is log(q) + 100 t - 5000 - log(1 - q). */
    for (int n = 0; n < 60; n++) z += (0.5 * erfc(z / sqrt(2)) * q - delta) / (q * exp(-z * z / 2) / sqrt(2 * M_PI));
    double t = 100 + z, loss = 100 * t - 5000 + log(q) - log(1 - q);
    if (!(pair[0] <= pair[1] && pair[1] < loss + 1e-3 && pair[0] > loss - 1))
      fail_msg("%g: %.9g for %.9g", q, pair[1], loss);
  }
}

/* No list costs less than one of its events, wherever that stands. */
static void the_floor_of_a_list_knows_its_first_event(void **state) {
  (void)state;
  tct_event list[2] = {tct_event_gaussian(1, 1), tct_event_gaussian(50, 1)};
  tct_events events = {list, 2, 2};
  for (int turn = 0; turn < 2; turn++) {
    double floor = 0, own[2];
    tct_event large = tct_event_gaussian(1, 1), swap = list[0];
    tct_single_epsilon(&large, TCT_ADD_REMOVE, 1e-6, own);
    assert_int_equal(tct_floor_epsilon(&events, TCT_ADD_REMOVE, 1e-6, &floor, NULL), TCT_OK);
    assert_true(floor >= own[0] * (1 - 1e-3) && floor <= own[1] * 1.01);
    list[0] = list[1], list[1] = swap;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_divergence_of_a_sampled_step_is_not_below_its_closed_form),
      cmocka_unit_test(a_replaced_record_with_next_to_no_noise_costs_what_its_closed_curve_says),
      cmocka_unit_test(the_floor_of_a_list_knows_its_first_event),
      cmocka_unit_test(every_accountant_says_to_the_digit_what_is_recorded),
      cmocka_unit_test(single_steps_cost_what_their_closed_curves_say),
      cmocka_unit_test(whole_lists_cost_what_is_true_of_them_or_of_their_parts),
      cmocka_unit_test(no_wider_grid_is_tried_where_masses_disagree),
      cmocka_unit_test(the_shares_of_parts_add_up_to_delta),
      cmocka_unit_test(what_is_left_out_is_charged_above_and_not_below),
      cmocka_unit_test(neither_order_nor_grouping_moves_the_sum_of_parts),
      cmocka_unit_test(two_tilts_cost_twice_one_at_half_the_delta),
      cmocka_unit_test(without_any_delta_only_closed_forms_prove_something),
      cmocka_unit_test(every_point_of_an_upper_law_carries_the_transforms_rounding),
      cmocka_unit_test(a_sum_of_losses_is_raised_by_what_their_doubles_may_hide),
      cmocka_unit_test(the_raise_by_rounding_is_part_of_the_answer),
      cmocka_unit_test(steps_of_one_kind_are_counted_together),
      cmocka_unit_test(the_mass_beyond_the_range_of_a_pair_is_that_of_its_closed_form),
      cmocka_unit_test(far_tails_and_little_noise_lose_no_mass),
      cmocka_unit_test(both_ends_of_a_replaced_step_enclose_the_exact_curve),
      cmocka_unit_test(the_lower_end_of_approx_steps_is_below_the_upper_one),
      cmocka_unit_test(a_sample_of_all_records_is_no_sample),
      cmocka_unit_test(filters_permit_as_many_steps_as_are_recorded_and_delta_is_a_budget_too),
      cmocka_unit_test(a_filter_rounds_what_is_spent_up),
      cmocka_unit_test(a_filter_counts_delta_of_every_repetition),
      cmocka_unit_test(a_filter_of_a_budget_that_buys_nothing_permits_nothing),
      cmocka_unit_test(calibrated_noise_is_what_is_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
