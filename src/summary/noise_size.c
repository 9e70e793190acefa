/* noise_size.c - the size of the noise in a model's weights, from what its file says. */
#include "summary/noise_size.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* The facts that the run was planned with: all of them are in the file. */
static tct_status facts_of(const tct_model *m, tct_facts *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(tct_loss_make(m->loss, &out->loss, err));
  TCT_TRY(tct_penalty_make(m->penalty, &out->penalty, err));
  out->rows = m->rows;
  out->intercept = m->has_intercept != 0;
  out->p = m->cols + (m->has_intercept != 0);
  out->row_norm = m->row_norm;
  out->label_bound = out->loss.kind->binary ? 1 : m->label_bound;
  out->epsilon = m->epsilon;
  out->delta = m->delta;
  out->neighbours = (tct_neighbours)m->neighbours;
  out->threads = 1;
  return TCT_OK;
}

static tct_status ask(const tct_model *m, const double *w, tct_noise_size *out, tct_error *err) {
  tct_facts facts;
  tct_solver_plan plan = {.noise_multiplier = NAN};
  TCT_TRY(tct_spec_parse(m->solver, "solver", &plan.spec, err));
  const tct_solver *solver = tct_solver_find(plan.spec.name);
  if (!solver || !solver->noise_size)
    return tct_fail(err, TCT_E_USAGE, "the size of this solver's noise in its weights is not known");
  TCT_TRY(tct_spec_take_neutral(&plan.spec, solver->options, 1, err));
  TCT_TRY(tct_spec_check(&plan.spec, solver->options, "solver", err));
  TCT_TRY(facts_of(m, &facts, err));
  if (facts.loss.kind->joint) return tct_fail(err, TCT_E_USAGE, "the size of a joint loss's noise is not known");
  plan.promise.events = m->events; /* borrowed */
  double noise = m->events.at[0].noise;
  if (noise > 0) plan.noise_multiplier = noise;
  TCT_TRY(solver->noise_size(&facts, &plan, w, out, err));
  return out->max > 0 || out->min > 0 ? TCT_OK : tct_fail(err, TCT_E_RUN, "the noise has no size; check the file");
}

tct_status tct_noise_size_of(const tct_model *m, int *known, tct_noise_size *out, tct_error *err) {
  tct_error why = {0};
  *known = 0;
  if (!m->is_private || !m->events.len) return TCT_OK;
  double *w = TCT_NEW(double, m->cols + 1);
  if (!w) return tct_fail_memory(err);
  memcpy(w, m->coefficients, (size_t)m->cols * sizeof *w);
  w[m->cols] = m->intercept;
  tct_status status = ask(m, w, out, &why);
  *known = status == TCT_OK;
  tct_free(w);
  return status == TCT_E_MEMORY ? tct_fail_memory(err) : TCT_OK; /* any other failure: not known */
}
