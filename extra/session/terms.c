/* terms.c - a party reads the server's terms: it plans them by itself and refuses what it did not agree to. */
#include "model/json.h"
#include "train/one_program.h"
#include "session/terms.h"

#include <string.h>

tct_status tct_own_loss(const tct_config *config, char *text, size_t size, tct_error *err) {
  tct_loss loss;
  if (!config->loss) return tct_fail(err, TCT_E_USAGE, "no loss is given; give the one that the server trains with");
  TCT_TRY(tct_loss_make(config->loss, &loss, err));
  tct_spec_print(&loss.spec, text, size);
  return TCT_OK;
}

/* What is asked for must have room in hellos that a server can have heard, before anything is made of it. */
static tct_status check_shape(const json_t *terms, const tct_agreed *own, tct_error *err) {
  int64_t rows = json_integer_value(json_object_get(terms, "rows"));
  int64_t columns = json_integer_value(json_object_get(terms, "columns"));
  if (rows == own->data->x.rows && columns >= own->data->x.cols && columns <= TCT_COLUMNS_MOST) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the server's terms do not fit this party's records; stop trusting it");
}

/* The terms as a plan of this party's own making. */
static tct_status plan_terms(const json_t *terms, const tct_config *config, tct_plan **plan, tct_error *err) {
  tct_config c = *config;
  c.intercept = 0; /* no party owns a constant feature */
  json_t *epsilon = json_object_get(terms, "epsilon"), *rule = json_object_get(terms, "rows_rule");
  c.loss = tct_json_said(terms, "loss");
  c.penalty = tct_json_said(terms, "penalty");
  c.solver = tct_json_said(terms, "solver");
  c.neighbours = tct_neighbours_find(tct_json_said(terms, "neighbours"));
  c.rows_rule =
      rule && !strcmp(json_string_value(rule) ? json_string_value(rule) : "", "unit") ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  if (!c.loss || !c.penalty || !c.solver || c.neighbours < 0 || !tct_json_get_real(epsilon, &c.epsilon) ||
      !tct_json_get_real(json_object_get(terms, "delta"), &c.delta) ||
      !tct_json_get_real(json_object_get(terms, "row_norm"), &c.row_norm) ||
      !tct_json_get_real(json_object_get(terms, "label_bound"), &c.label_bound) ||
      !tct_json_get_real(json_object_get(terms, "label_shift"), &c.label_shift))
    return tct_fail(err, TCT_E_RUN, "the server's terms are unreadable; check that both ends run the same version");
  *plan = tct_plan_new(&c, json_integer_value(json_object_get(terms, "rows")),
                       json_integer_value(json_object_get(terms, "columns")), err);
  return *plan ? TCT_OK : err->status;
}

/* The server has resolved the same terms to the same plan, in every number: its model will be compared with this one.
 */
static tct_status same_plan(const tct_plan *plan, const json_t *said, tct_error *err) {
  char own[TCT_DIGEST_HEX];
  TCT_TRY(tct_plan_digest(plan, own, err));
  if (json_is_string(said) && !strcmp(json_string_value(said), own)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "the server's plan is not what its terms come to here; run one version on machines of one kind");
}

/* ---- what was agreed on ---------------------------------------------------------------------------------------- */

static tct_status same_option(const tct_plan *plan, const char *key, const char *agreed, tct_error *err) {
  double here = 0, there = 0;
  const char *asked = tct_spec_text(&plan->solved.spec, plan->solver->options, key);
  if (!strcmp(asked, agreed) || (tct_parse_real(asked, &there) && tct_parse_real(agreed, &here) && here == there))
    return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the server asks for %.30s=%.60s, this party agreed to %.60s; settle it", key,
                  asked, agreed);
}

/* A solver whose claim rests on others than this party's own program is agreed to by name. */
static tct_status check_solver(const tct_plan *plan, const char *agreed, tct_error *err) {
  tct_spec spec;
  if (!tct_rounds_of(plan->solver))
    return tct_fail(err, TCT_E_USAGE, "the server asks for a solver that is not for parties; stop trusting it");
  TCT_TRY(tct_spec_parse(agreed ? agreed : "dpfw_parties", "solver", &spec, err));
  if (strcmp(spec.name, plan->solver->name) != 0)
    return tct_fail(err, TCT_E_USAGE,
                    "the server asks for %s, this party agreed to %s; they trust different people, so settle it, and "
                    "agree by {solver %s}",
                    plan->solver->name, spec.name, plan->solver->name);
  TCT_TRY(tct_spec_check(&spec, plan->solver->options, "solver", err));
  for (int i = 0; i < spec.items; i++) TCT_TRY(same_option(plan, spec.item[i].key, spec.item[i].value, err));
  return TCT_OK;
}

static tct_status check_agreed(const tct_plan *plan, const tct_config *config, const char *solver, tct_error *err) {
  char own[400], asked[400];
  const tct_facts *f = &plan->facts;
  TCT_TRY(tct_own_loss(config, own, sizeof own, err));
  tct_spec_print(&f->loss.spec, asked, sizeof asked);
  if (strcmp(own, asked))
    return tct_fail(err, TCT_E_USAGE, "the server trains with the loss %.60s, this party agreed to %.60s; settle it",
                    asked, own);
  TCT_TRY(check_solver(plan, solver, err));
  if (!(f->epsilon <= config->epsilon) || !(f->delta <= config->delta))
    return tct_fail(err, TCT_E_BUDGET,
                    "the server asks for epsilon %g, delta %g, more than this party agrees to (%g, %g)", f->epsilon,
                    f->delta, config->epsilon, config->delta);
  if ((int)f->neighbours == config->neighbours) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the server's neighbours are %s, this party agreed to the other; settle it",
                  tct_neighbours_name(f->neighbours));
}

/* This party is in the list as what it is, and the columns of all are those of the plan. */
static tct_status check_place(const tct_roster *r, const tct_plan *plan, const tct_agreed *own, int64_t index,
                              tct_error *err) {
  int64_t columns = 0;
  for (int k = 0; k < r->count; k++) columns += r->width[k];
  if (index >= 0 && index < r->count && columns == plan->cols && r->width[index] == own->data->x.cols &&
      !strcmp(r->address[index], own->address))
    return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the server's terms do not fit this party's records; stop trusting it");
}

tct_status tct_terms_read(const json_t *terms, const tct_agreed *own, tct_terms *out, tct_error *err) {
  int64_t index = json_integer_value(json_object_get(terms, "index"));
  const json_t *digest = json_object_get(terms, "plan");
  TCT_TRY(check_shape(terms, own, err));
  TCT_TRY(plan_terms(terms, own->config, &out->plan, err));
  TCT_TRY(same_plan(out->plan, digest, err));
  TCT_TRY(check_agreed(out->plan, own->config, own->solver, err));
  int parties = (int)tct_spec_count(&out->plan->solved.spec, out->plan->solver->options, "parties");
  TCT_TRY(tct_roster_parse(json_object_get(terms, "parties"), parties, &out->roster, err));
  TCT_TRY(check_place(&out->roster, out->plan, own, index, err));
  out->roster.seeded = json_is_true(json_object_get(terms, "reproducible"));
  if (out->roster.seeded != (own->config->has_seed != 0))
    return tct_fail(err, TCT_E_RUN, "the server says that %s has a seed, which is for tests; all have one or nobody",
                    out->roster.seeded ? "everybody" : "nobody");
  out->index = (int)index;
  out->rounds = tct_rounds_of(out->plan->solver);
  tct_roster_session(&out->roster, own->nonce, json_string_value(digest), out->session);
  return TCT_OK;
}
