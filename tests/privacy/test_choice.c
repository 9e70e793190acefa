/* test_choice.c - private choices: exact win probabilities against what is charged, and the filter of adaptive descent.
 *
 * The laws of small cases are enumerated, not sampled.  The cases are scores of one world and of a neighbouring one,
 * for every combination of moves.  The largest privacy loss is compared with the event that the gate charges. */
#include "goodness.h"
#include "worlds.h"

#include "account/curves/renyi.h"

enum { K = 4, MOVES = 81 };

typedef void (*law)(const double *score, double u, double *p); /* P[j wins], exponent u per unit of score */

static void exponential_law(const double *score, double u, double *p) {
  double sum = 0;
  for (int j = 0; j < K; j++) sum += p[j] = exp(u * score[j]);
  for (int j = 0; j < K; j++) p[j] /= sum;
}

/* Candidate j is accepted after the refused set S came before it: |S|! (K-1-|S|)!/K! of all orders. */
static void flip_law(const double *score, double u, double *p) {
  static const double weight[K] = {6.0 / 24, 2.0 / 24, 2.0 / 24, 6.0 / 24};
  double max = score[0];
  for (int j = 1; j < K; j++) max = fmax(max, score[j]);
  for (int j = 0; j < K; j++) {
    p[j] = 0;
    for (int set = 0; set < 1 << K; set++) {
      if (set >> j & 1) continue;
      double refused = 1;
      for (int i = 0; i < K; i++)
        if (set >> i & 1) refused *= -expm1(u * (score[i] - max));
      p[j] += weight[__builtin_popcount((unsigned)set)] * refused;
    }
    p[j] *= exp(u * (score[j] - max));
  }
}

/* The largest of score + sign*E, the E exponential of rate u: by Simpson's rule between the corners of the integrand.
 * sign -1 is the planted fault. */
static double beats(double lead, double u, int sign) { /* P[E_j's lead over another candidate holds] */
  return sign > 0 ? (lead > 0 ? -expm1(-u * lead) : 0) : (lead > 0 ? 1 : exp(u * lead));
}
static void noisy_law(const double *score, double u, int sign, double *p) {
  enum { STEPS = 4000 };
  double longest = 40 / u;
  for (int j = 0; j < K; j++) {
    double cut[K + 1] = {0}, total = 0;
    int cuts = 0;
    for (int i = 0; i < K; i++) {
      double at = sign * (score[i] - score[j]);
      if (at > 0) cut[++cuts] = at;
    }
    for (int a = 1; a <= cuts; a++)
      for (int b = a; b > 1 && cut[b] < cut[b - 1]; b--) {
        double kept = cut[b];
        cut[b] = cut[b - 1], cut[b - 1] = kept;
      }
    for (int c = 0; c <= cuts; c++) {
      double from = cut[c], to = c < cuts ? cut[c + 1] : from + longest, h = (to - from) / STEPS, sum = 0;
      for (int k = 0; k <= STEPS && to > from; k++) {
        double x = from + k * h, f = u * exp(-u * x);
        double inside = x + (k == 0 ? 1e-15 : k == STEPS ? -1e-15 : 0); /* limits from within the piece */
        for (int i = 0; i < K; i++)
          if (i != j) f *= beats(score[j] - score[i] + sign * inside, u, sign);
        sum += f * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
      }
      total += sum * h / 3;
    }
    p[j] = total;
  }
}
static void wrong_sign_law(const double *score, double u, double *p) { noisy_law(score, u, -1, p); }

/* ---- losses ---------------------------------------------------------------------------------------- */

typedef struct losses {
  double largest; /* |log P/P'| */
  double range;   /* largest minus smallest log P/P' over one pair of worlds */
  double excess;  /* largest Renyi divergence of an order a, over a eps^2/8 */
  double sampled; /* |log| of the mixture with rate 0.1 against the world without the record */
} losses;

static double renyi(const double *p, const double *q, double a) {
  double sum = 0;
  for (int j = 0; j < K; j++) sum += p[j] * pow(p[j] / q[j], a - 1);
  return log(sum) / (a - 1);
}

/* All moves of the K scores by 0, 1/2 or 1 (monotone) or by -1, 0 or 1, from several scores; exponent eps, or eps/2. */
static losses enumerate(law of, double epsilon, int monotone) {
  static const double bases[][K] = {{0, 0, 0, 0}, {0, 1, 0.5, 2}, {3, 0, 0, 0}, {0, 0.25, 7, 6.5}, {5, 5, 5, 0}};
  double u = monotone ? epsilon : epsilon / 2, p[K], q[K];
  losses worst = {0};
  for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
    for (int code = 0; code < MOVES; code++) {
      double moved[K], low = INFINITY, high = -INFINITY;
      for (int j = 0, rest = code; j < K; j++, rest /= 3)
        moved[j] = bases[b][j] + (monotone ? 0.5 * (rest % 3) : rest % 3 - 1);
      of(bases[b], u, p);
      of(moved, u, q);
      for (int j = 0; j < K; j++) {
        double loss = log(p[j] / q[j]), mixed = log(0.9 + 0.1 * q[j] / p[j]);
        low = fmin(low, loss), high = fmax(high, loss);
        worst.sampled = fmax(worst.sampled, fabs(mixed));
      }
      worst.largest = fmax(worst.largest, fmax(fabs(low), fabs(high)));
      worst.range = fmax(worst.range, high - low);
      for (double a = 1.25; a < 100; a *= 2)
        worst.excess = fmax(worst.excess, fmax(renyi(p, q, a), renyi(q, p, a)) / (a * epsilon * epsilon / 8));
    }
  return worst;
}

static tct_event charged_for(double epsilon, double rate, bool flip) {
  tct_release choice = tct_release_choice("scores", epsilon, 1, 1, 1, 1);
  choice.rate = rate;
  if (flip) choice.law = TCT_LAW_FLIP;
  return tct_release_choice_event(&choice);
}

static const double epsilons[] = {0.01, 0.3, 1, 3};

static void no_world_tells_more_from_an_exponential_choice_than_is_charged(void **state) {
  (void)state;
  for (int monotone = 0; monotone < 2; monotone++)
    for (int e = 0; e < 4; e++) {
      losses l = enumerate(exponential_law, epsilons[e], monotone);
      assert_true(l.range <= epsilons[e] * (1 + 1e-9)); /* bounded range: what epsilon^2/8 stands on */
      assert_true(l.range > 0.99 * epsilons[e]);
      assert_true(l.excess <= 1 + 1e-9);
      tct_event charged = charged_for(epsilons[e], 1, false);
      assert_true(tct_event_rho(&charged, TCT_ADD_REMOVE) >= epsilons[e] * epsilons[e] / 8);
    }
  losses l = enumerate(exponential_law, 1.05, 0); /* planted: a choice 5 % sharper than charged */
  assert_true(l.range > 1 + 1e-9);
}

static void no_world_tells_more_from_permute_and_flip_than_is_charged(void **state) {
  (void)state;
  for (int monotone = 0; monotone < 2; monotone++)
    for (int e = 0; e < 4; e++) {
      losses l = enumerate(flip_law, epsilons[e], monotone);
      assert_true(l.largest <= epsilons[e] * (1 + 1e-9));
      tct_event charged = charged_for(epsilons[e], 1, true);
      assert_int_equal(charged.kind, TCT_EV_PURE);
      assert_true(charged.epsilon >= epsilons[e]);
    }
}

static void a_choice_over_a_batch_costs_at_most_its_amplified_epsilon(void **state) {
  (void)state;
  for (int flip = 0; flip < 2; flip++)
    for (int e = 0; e < 4; e++) {
      losses l = enumerate(flip ? flip_law : exponential_law, epsilons[e], 1);
      tct_event charged = charged_for(epsilons[e], 0.1, flip);
      assert_true(l.sampled <= charged.epsilon);
      assert_true(l.sampled > 0.3 * charged.epsilon);
    }
}

static void exponential_noise_of_the_wrong_sign_breaks_its_charge(void **state) {
  (void)state;
  losses right = enumerate(flip_law, 1, 1), wrong = enumerate(wrong_sign_law, 1, 1);
  assert_true(right.largest <= 1 + 1e-9);
  assert_true(wrong.largest > 1.5);
}

static void permute_and_flip_is_the_largest_score_with_exponential_noise(void **state) {
  (void)state;
  static const double score[K] = {0, 1, 0.5, 2};
  double p[K], q[K];
  flip_law(score, 1.3, p);
  noisy_law(score, 1.3, 1, q);
  for (int j = 0; j < K; j++) assert_true(fabs(p[j] - q[j]) < 1e-6);
}

static void permute_and_flip_is_drawn_with_its_exact_probabilities(void **state) {
  (void)state;
  static const double score[K] = {0, 1, 0.5, 2};
  enum { DRAWS = 200000 };
  double p[K], seen[K] = {0};
  tct_stream s = open_stream(601);
  for (int i = 0; i < DRAWS; i++) seen[tct_permute_and_flip(&s, score, K, 1.3, 1, true)]++;
  flip_law(score, 1.3, p);
  assert_true(fit(seen, p, K, DRAWS) > ALPHA);
  flip_law(score, 1.4, p);
  assert_true(fit(seen, p, K, DRAWS) < ALPHA);
  wrong_sign_law(score, 1.3, p);
  assert_true(fit(seen, p, K, DRAWS) < ALPHA);
}

/* ---- the filter ------------------------------------------------------------------------------------ */

/* Forces step 0, which makes descent measure again, on a random part of the choices. */
static void push_to_zero(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                         int64_t len) {
  (void)sensitivity, (void)before, (void)len;
  uint64_t *seed = user;
  if (world_chooses(event->kind) && world_u64(seed) % 2) after[0] = 0;
}

static const char *const variants[] = {"dpagd", "dpagd:budget_fraction=0.8,gamma=3", "dpagd:splits=7", "dpagd:steps=3",
                                       "dpagd:variant=paper,splits=3"};
enum { VARIANTS = sizeof variants / sizeof *variants, RUNS = 2000 };

static void ten_thousand_runs_never_spend_more_than_the_filters_budget(void **state) {
  (void)state;
  records r = records_new(12, 2, 4);
  uint64_t seed = 9;
  for (int v = 0; v < VARIANTS; v++) {
    tct_config config = world_config("logistic", "none", variants[v]);
    config.epsilon = 8; /* 12 records: less buys no useful gradient */
    tct_error err = {0};
    world w;
    double max = 0;
    if (world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
    double budget = w.plan->solved.promise.events.at[0].rho;
    for (uint64_t run = 0; run < RUNS; run++) {
      if (world_run(&w, run, push_to_zero, &seed, &err) != TCT_OK) fail_msg("%s", err.text);
      long double rho = 0;
      for (int64_t i = 0; i < w.spent.len; i++)
        rho += (long double)w.spent.at[i].count * tct_event_rho(&w.spent.at[i], config.neighbours);
      if (!(rho <= budget)) fail_msg("%s: run %d spends %.17Lg of %.17g", variants[v], (int)run, rho, budget);
      max = fmax(max, (double)rho);
    }
    if (!(max > 0.5 * budget)) fail_msg("%s: the runs never come near the budget: %g of %g", variants[v], max, budget);
    world_close(&w);
  }
  records_free(&r);
}

static void a_budget_that_buys_nothing_useful_releases_nothing_and_gives_a_model_with_a_note(void **state) {
  (void)state;
  records r = records_new(12, 2, 4);
  tct_config config = world_config("logistic", "none", "dpagd");
  config.epsilon = 1e-4;
  char note[TCT_NOTE] = "";
  tct_error err = {0};
  world w;
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  w.problem.note = note;
  assert_int_equal(world_run(&w, 1, NULL, NULL, &err), TCT_OK);
  assert_int_equal(w.spent.len, 0);
  assert_non_null(strstr(note, "no step was taken"));
  for (int j = 0; j < 2; j++) assert_true(w.w[j] == 0);
  world_close(&w);
  records_free(&r);
}

/* The planned steps use up most of the budget at the order that the filter keeps: a plan that calibrates nothing does
 * not. */
static void a_plan_over_batches_fills_its_renyi_filter(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config config = world_config("logistic", "none", "dpagd:batch=100,steps=10");
  tct_plan *plan = tct_plan_new(&config, 2000, 5, &err);
  if (!plan) fail_msg("%s", err.text);
  const tct_spec *spec = &plan->solved.spec;
  tct_filter filter = plan->solved.promise.filter;
  const tct_option *options = plan->solver->options;
  tct_release choice = plan->solved.promise.release[1];
  choice.epsilon = tct_spec_real(spec, options, "choice");
  tct_event measure = tct_event_sampled_gaussian(tct_spec_real(spec, options, "noise"), 0.05, 10);
  tct_event choose = tct_release_choice_event(&choice);
  choose.count = 10;
  assert_int_equal(filter.orders, 1);
  assert_int_equal(tct_filter_spend(&filter, &measure, &err), TCT_OK);
  assert_int_equal(tct_filter_spend(&filter, &choose, &err), TCT_OK);
  assert_true(filter.order_spent[0] > 0.999 * filter.order_budget[0]);
  tct_plan_free(plan);
}

static void no_release_of_adaptive_descent_moves_by_more_than_is_claimed(void **state) {
  (void)state;
  static const struct {
    const char *loss, *spec;
  } cases[] = {
      {"logistic", "dpagd"},
      {"logistic", "dpagd:batch=20"},
      {"logistic", "dpagd:variant=paper"},
      {"logistic", "dpagd:clip_grad=0.2,clip_obj=0.5"},
      {"hinge", "dpagd"},
      {"hinge", "dpagd:variant=paper"},
      {"smoothed_hinge", "dpagd:batch=20"},
      {"squared", "dpagd"},
      {"squared", "dpagd:batch=20"},
      {"squared", "dpagd:clip_grad=0.2,clip_obj=0.1"},
  };
  records r = records_new(60, 3, 6);
  for (size_t v = 0; v < sizeof cases / sizeof *cases; v++) {
    tct_config config = world_config(cases[v].loss, "l2:lambda=0.1", cases[v].spec);
    tct_error err = {0};
    world a, b;
    double worst = 0;
    if (world_open(&a, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK)
      fail_msg("%s: %s", cases[v].spec, err.text);
    for (int64_t k = 0; k < 10; k++) {
      assert_int_equal(world_share(&b, &r, a.plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
      world_remove(&b, k);
      worst = fmax(worst, worlds_move(&a, &b, (uint64_t)k + 1, NULL));
      world_close(&b);
    }
    if (!(worst <= 1)) fail_msg("%s, %s: a release moved by %.17g of its reach", cases[v].spec, cases[v].loss, worst);
    if (!(worst > 0.05)) fail_msg("%s, %s: no release moved", cases[v].spec, cases[v].loss);
    world_close(&a);
  }
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_world_tells_more_from_an_exponential_choice_than_is_charged),
      cmocka_unit_test(no_world_tells_more_from_permute_and_flip_than_is_charged),
      cmocka_unit_test(a_choice_over_a_batch_costs_at_most_its_amplified_epsilon),
      cmocka_unit_test(exponential_noise_of_the_wrong_sign_breaks_its_charge),
      cmocka_unit_test(permute_and_flip_is_the_largest_score_with_exponential_noise),
      cmocka_unit_test(permute_and_flip_is_drawn_with_its_exact_probabilities),
      cmocka_unit_test(ten_thousand_runs_never_spend_more_than_the_filters_budget),
      cmocka_unit_test(a_budget_that_buys_nothing_useful_releases_nothing_and_gives_a_model_with_a_note),
      cmocka_unit_test(a_plan_over_batches_fills_its_renyi_filter),
      cmocka_unit_test(no_release_of_adaptive_descent_moves_by_more_than_is_claimed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
