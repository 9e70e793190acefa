/* test_sensitivity_stages.c - how far one record, or one person, moves what the stages beside a fit release: the matrix
 * of test_sensitivity.c for scores, estimates, searches, moments and descriptions, through the public interface.
 *
 * The library is the one for audit: it shows each release, and a second table is forced to what was released of the
 * first.  A cell is a stage, an intercept or none, a relation, a number of rows, weights, a layout, a type, and the
 * place of the record.  Cells that the library refuses are those named by `refused`, and no others.  TACIT_MATRIX as in
 * test_sensitivity.c. */
#include "sample.h"
#include "worlds.h"

#include "mech/watch.h"
#include "model/model.h"
#include "read/format/reader.h"
#include "read/table/data.h"

#include <time.h>
#include <unistd.h>

enum {
  RELEASES = 4,
  P = 3,
  KIN = 3,
  MOST_ROWS = 513,
  CELLS = 4096,
  SAMPLED = 67,
  SAMPLED_ESTIMATES = 31,
  SAMPLED_TEXTS = 7
};
static const double SHARE = 0.3; /* of the records: those that a search scores on */

/* ---- the stages ------------------------------------------------------------------------------------------------- */

typedef enum kind { SCORES, ESTIMATE, SEARCH, STUDY } kind; /* STUDY: one stage of a file */

typedef struct stage {
  kind kind;
  const char *loss;
  int64_t classes;      /* of the label, or 0 */
  const char *estimate; /* kinds of it; of a study: its stage; of a search of all settings: "all" */
  const char *schema;
  bool read;        /* from text, which has categories */
  double enough[2]; /* what the farthest pair reaches of the claim, by relation */
} stage;

static const char OPEN[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"estimate\": true},"
    "{\"name\": \"b\", \"type\": \"number\", \"lower\": -1, \"upper\": 1},"
    "{\"name\": \"c\", \"type\": \"number\", \"estimate\": true}]}";
static const char LISTS[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"estimate\": true},"
    "{\"name\": \"b\", \"type\": \"category\", \"estimate\": true},"
    "{\"name\": \"c\", \"type\": \"category\", \"estimate\": true, \"missing\": \"zero\"}],"
    "\"label\": {\"name\": \"y\", \"values\": [\"-1\", \"1\"], \"positive\": \"1\"}}";

static const char BOUNDED[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"lower\": -2, \"upper\": 3, \"missing\": 0},"
    "{\"name\": \"b\", \"type\": \"category\", \"values\": [\"Ulm\", \"Bonn\"], \"other\": \"zero\"},"
    "{\"name\": \"c\", \"type\": \"category\", \"values\": [\"Ulm\", \"Bonn\", \"Jena\", \"Rom\"]},"
    "{\"name\": \"y\", \"type\": \"number\", \"lower\": -1, \"upper\": 1},"
    "{\"name\": \"id\", \"type\": \"ignore\"}]}";

/* A term of a score has no negative number, and a value counts in one place of its column: so what replaces a record
 * lies at a right angle to it at most, 0.707 of the claim. */
static const stage stages[] = {
    {STUDY, "squared", 0, "\"describe\", \"cross\": [[\"b\", \"c\"]]", BOUNDED, true, {0.99, 0.7}},
    {STUDY, "squared", 0, "\"describe\", \"features\": [\"a\"]", BOUNDED, true, {0.99, 0.6}},
    {STUDY, "squared", 0, "\"moments\"", BOUNDED, true, {0.99, 0.7}},
    {SCORES, "logistic", 0, NULL, NULL, false, {0.99, 0.6}},
    {SCORES, "hinge", 0, NULL, NULL, false, {0.99, 0.6}},
    {SCORES, "smoothed_hinge", 0, NULL, NULL, false, {0.99, 0.6}},
    {SCORES, "squared", 0, NULL, NULL, false, {0.99, 0.3}},
    {SCORES, "huber", 0, NULL, NULL, false, {0.99, 0.3}},
    {SCORES, "poisson", 0, NULL, NULL, false, {0.8, 0.3}},
    {SCORES, "gamma", 0, NULL, NULL, false, {0.8, 0.3}},
    {SCORES, "cox", 0, NULL, NULL, false, {0.99, 0.7}},
    {SCORES, "logistic", 3, NULL, NULL, false, {0.9, 0.45}},
    {SCORES, "softmax:classes=3", 3, NULL, NULL, false, {0.9, 0.45}},
    {ESTIMATE, "logistic", 0, "bounds:budget_fraction=0.3", NULL, false, {0.99, 0.7}},
    {ESTIMATE, "squared", 0, "bounds:budget_fraction=0.3", NULL, false, {0.99, 0.7}}, /* and of the label */
    {ESTIMATE, "logistic", 0, "bounds:budget_fraction=0.3", OPEN, false, {0.99, 0.7}},
    {ESTIMATE, "logistic", 0, "bounds,categories:budget_fraction=0.9", LISTS, true, {0.99, 0.7}},
    {SEARCH, "logistic", 0, NULL, NULL, false, {0.9, 0.7}},
    {SEARCH, "squared", 0, NULL, NULL, false, {0.9, 0.7}},
    {SEARCH, "logistic", 0, "all", NULL, false, {0.9, 0.7}},
    {SEARCH, "squared", 0, "all", NULL, false, {0.8, 0.7}},
};
enum { STAGES = sizeof stages / sizeof *stages };

/* ---- cells ------------------------------------------------------------------------------------------------------ */

typedef enum weighed { PLAIN, WEIGHED, PERSONS, WEIGHINGS } weighed;
static const char *const weighings[] = {"no weights", "weights", "persons"};
static const tct_layout layouts[] = {TCT_DENSE_ROWS, TCT_DENSE_COLS, TCT_CSR, TCT_CSC};
static const char *const layout_names[] = {"dense rows", "dense columns", "CSR", "CSC"};

typedef struct cell {
  const stage *stage;
  int64_t rows, at; /* at: the record, or a person's first */
  int intercept, layout;
  tct_neighbours relation;
  weighed weighed;
  tct_value_type type;
  const tct_model *model;     /* SCORES */
  tct_composition *search[2]; /* SEARCH: of records, of persons */
} cell;

static int64_t kin_of(const cell *c) { return c->weighed == PERSONS ? KIN : 1; }
static int64_t kin_at(const cell *c, int64_t k) { return (c->at + k * (c->rows / KIN)) % c->rows; }
static bool is_real(const stage *s) {
  tct_config c;
  tct_config_default(&c);
  c.loss = s->loss;
  return !s->classes && tct_config_labels(&c) == TCT_LABELS_REAL;
}

/* An estimate scales the columns of a table with names in memory, by rows, whose zeros are stored or whose columns a
 * schema has; lists are of records. */
static bool refused(const cell *c) {
  const stage *s = c->stage;
  if (s->kind != ESTIMATE) return false; /* a study reads no weights, and none are tried */
  if (s->read) return c->weighed == PERSONS;
  return layouts[c->layout] == TCT_CSC || (layouts[c->layout] == TCT_CSR && !s->schema);
}

static void show(const cell *c, char *text, size_t size) {
  static const char *const kinds[] = {"scores", "estimate", "search", "study"};
  snprintf(text, size, "%s of %s, %lld classes, %s, %s, %s, %s, %s, %s, row %lld of %lld", kinds[c->stage->kind],
           c->stage->loss, (long long)c->stage->classes, c->stage->estimate ? c->stage->estimate : "no estimate",
           c->intercept ? "intercept" : "no intercept", c->relation ? "replace_one" : "add_remove",
           weighings[c->weighed], layout_names[c->layout], c->type == TCT_F32 ? "float" : "double", (long long)c->at,
           (long long)c->rows);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* The record, what replaces it, and the past: as drawn, without noise, or far from any. */
static const struct {
  double x[P], y, other[P], other_y;
} shapes[] = {
    {{1e3, -1e3, 1e3}, 1, {-1e3, 1e3, -1e3}, -1},
    {{0.3, 0.1, 0.2}, -1, {-7, 0, 1e30}, 1},
    {{0, 0, 0}, 1, {0, 0, 0}, -1},
    {{1e3, 1e3, -1e3}, -1, {0.01, 0.02, 0}, -1},
    {{-1e30, 1, 5}, 2, {1e3, 0, 0}, 0},
    {{2, 2, 2}, 5, {-2, -2, -2}, -4},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, DRAWN = 0, BARE, FAR, PASTS };

static double label_of(const stage *s, double y) {
  if (s->classes) return y < 0 ? 0 : fmin(y, (double)s->classes - 1);
  return is_real(s) ? y : y < 0 ? -1 : 1;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

typedef struct table {
  tct_owned_matrix copy;
  tct_data *data;
  double y[MOST_ROWS];
  char path[40]; /* of a study's file; "" */
} table;

static void close_table(table *t) {
  if (t->path[0]) unlink(t->path);
  tct_data_free(t->data);
  tct_matrix_free(&t->copy);
}

static char table_text[MOST_ROWS * 80];

/* As text: the second and third column are words, which others have too.  gone: the pair's records are none. */
static int write_table(const cell *c, const records *r, bool gone) {
  static const char *const words[] = {"Ulm", "Bonn", "Jena", "Rom"};
  bool study = c->stage->kind == STUDY;
  int at = snprintf(table_text, sizeof table_text, study ? "a,b,c,y,id\n" : "a,b,c,y\n");
  for (int64_t i = 0; i < r->rows; i++) {
    const double *x = r->x + i * P;
    char number[40] = "", person[40] = "";
    bool own = false;
    for (int64_t k = 0; k < kin_of(c); k++) own |= kin_at(c, k) == i;
    if (!study || fabs(x[0]) < 1e29) snprintf(number, sizeof number, "%.9g", x[0]); /* a gap is told too */
    if (own && gone) snprintf(number, sizeof number, "none");
    if (study) snprintf(person, sizeof person, ",p%lld", (long long)(own ? c->at : i));
    at += snprintf(table_text + at, sizeof table_text - (size_t)at, "%s,%s,%s,%d%s\n", number,
                   words[(x[1] < 0) + 2 * (x[2] < 0)], words[(x[1] < 0.05) + 2 * (x[2] < 0.05)], r->y[i] > 0 ? 1 : -1,
                   person);
  }
  return at;
}

static tct_data *read_table(const cell *c, const records *r, tct_error *err) {
  tct_read_options options;
  int at = write_table(c, r, false);
  tct_read_options_default(&options);
  options.schema_text = c->stage->schema, options.labels = TCT_LABELS_BINARY, options.value_type = c->type;
  return tct_data_read_memory(table_text, at, 1 << 16, &options, err);
}

/* Weights of all sizes up to the cap and, of the pair's, beyond it; a person's records are scaled to a sum of 1. */
static void weigh(const cell *c, tct_data *data) {
  tct_error err = {0};
  double weight[MOST_ROWS];
  int64_t person[MOST_ROWS];
  if (c->weighed == PLAIN) return;
  for (int64_t i = 0; i < c->rows; i++) weight[i] = 0.1 * (double)(i % 21), person[i] = i;
  for (int64_t k = 0; k < kin_of(c); k++)
    weight[kin_at(c, k)] = c->weighed == WEIGHED ? 1e9 : 2 / (1 + (double)(c->at % 2)) - (double)k / 4,
                     person[kin_at(c, k)] = c->at;
  if (tct_data_weigh(data, weight, 2, c->weighed == PERSONS ? person : NULL, &err) != TCT_OK) fail_msg("%s", err.text);
}

static void open_file(const cell *c, const records *r, bool gone, table *t) {
  int length = write_table(c, r, gone);
  strcpy(t->path, "/tmp/tacit-stages-XXXXXX");
  int file = mkstemp(t->path);
  assert_true(file >= 0 && write(file, table_text, (size_t)length) == length && close(file) == 0);
}

/* gone: the record, or the person's, contribute nothing. */
static void open_table(const cell *c, const records *r, bool gone, table *t) {
  static const char *const names[] = {"a", "b", "c"}, *const classes[] = {"low", "mid", "high"};
  tct_error err = {0};
  const stage *s = c->stage;
  tct_matrix m = records_matrix(r);
  memset(t, 0, sizeof *t);
  if (s->kind == STUDY) {
    open_file(c, r, gone, t);
    return;
  }
  for (int64_t i = 0; i < r->rows; i++) t->y[i] = label_of(s, r->y[i]);
  tct_labels labels = s->classes ? TCT_LABELS_CLASSES : is_real(s) ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  if (!s->read) {
    assert_int_equal(tct_matrix_convert(&m, layouts[c->layout], c->type, &t->copy, &err), TCT_OK);
    t->data = tct_data_view(&t->copy.m, t->y, labels, names, s->schema, &err);
  } else {
    t->data = read_table(c, r, &err);
  }
  if (!t->data) fail_msg("%s", err.text);
  if (s->classes) assert_int_equal(tct_data_name_classes(t->data, classes, s->classes, TCT_CLASS_TEXT, &err), TCT_OK);
  if (s->kind == ESTIMATE) t->data->open = s->schema ? t->data->open : 0;
  weigh(c, t->data);
  if (!gone) return;
  t->data->dropped = TCT_NEW(unsigned char, r->rows);
  assert_non_null(t->data->dropped);
  for (int64_t k = 0; k < kin_of(c); k++) t->data->dropped[kin_at(c, k)] = 1;
}

/* ---- a run and its releases ------------------------------------------------------------------------------------- */

static tct_config settings(const stage *s, int intercept, tct_neighbours relation) {
  tct_config c;
  tct_config_default(&c);
  c.loss = s->loss, c.penalty = s->kind == SEARCH ? "l2:lambda=0.1" : "none", c.solver = "dpgd:steps=2,clip=0.1";
  c.epsilon = 2, c.delta = 1e-5, c.row_norm = 1.5, c.intercept = intercept, c.neighbours = relation, c.threads = 1;
  if (s->classes) c.classes = s->classes;
  if (is_real(s) && s->kind != ESTIMATE) c.label_bound = 2;
  if (!strcmp(s->loss, "cox")) c.solver = "dpcox:errors=model,steps=2", c.intercept = 1;
  c.has_seed = 1, c.seed = 20;
  return c;
}

static char *run_study(const cell *c, const table *t, const tct_config *config, tct_error *err) {
  char asked[1200];
  tct_read_options options;
  tct_read_options_default(&options);
  options.invalid = TCT_INVALID_ZERO, options.value_type = c->type;
  snprintf(asked, sizeof asked,
           "{\"epsilon\": 2, \"delta\": 1e-5, \"neighbours\": \"%s\", %s\"schema\": %s, \"stages\": [{\"name\": "
           "\"it\", \"kind\": %s}]}",
           c->relation ? "replace_one" : "add_remove",
           c->weighed == PERSONS ? "\"person\": \"id\", \"rows_per_person\": 3, " : "", c->stage->schema,
           c->stage->estimate);
  return tct_study_run(asked, t->path, NULL, &options, config, NULL, err);
}

/* What the stage comes to, as text; NULL: it was refused. */
static char *run(const cell *c, table *t, tct_error *err) {
  tct_config config = settings(c->stage, c->intercept, c->relation);
  char *text = NULL;
  if (c->stage->kind == STUDY) return run_study(c, t, &config, err);
  if (c->stage->kind == SCORES) return tct_evaluate_json(c->model, t->data, &config, err);
  if (c->stage->kind == SEARCH) {
    const tct_data *data = t->data;
    tct_model *m = tct_fit_search(c->search[c->weighed == PERSONS], data, &config, NULL, NULL, err);
    text = m ? tct_model_json(m, err) : NULL;
    tct_model_free(m);
    return text;
  }
  config.estimate = c->stage->estimate;
  if (c->stage->schema || c->stage->read) config.row_norm = NAN;
  if (tct_data_estimate(t->data, &config, err) != TCT_OK) return NULL;
  text = malloc(strlen(t->data->schema) + 80);
  sprintf(text, "%a %a %s", config.epsilon, config.delta, t->data->schema);
  return text;
}

typedef struct eyes {
  struct {
    double sensitivity;
    tct_norm norm;
    bool chooses, moved;
    int64_t from, len;
  } at[64];
  double before[CELLS], after[CELLS];
  int64_t used;
  int count, next, past, choices;
  bool all;                      /* settings are fitted, and one is chosen */
  bool replays, other;           /* other: the two tables do not make the same releases */
  double claim, reach[RELEASES]; /* -1: not made */
} eyes;

/* Coins are the same for each gate, so that a search would draw the same for ever: two tries, one of either candidate.
 */
static double chosen(int choice) {
  static const double turns[] = {1, 0, 0, 1};
  assert_true(choice < 4);
  return turns[choice];
}

static void look(void *user, const tct_watched *seen) {
  eyes *e = user;
  int64_t made = seen->chooses ? 1 : seen->len;
  if (!e->replays) {
    if (seen->chooses) seen->after[0] = chosen(e->choices++);
    assert_true(e->count < 64 && e->used + seen->len <= CELLS);
    for (int64_t j = 0; j < seen->len && !seen->chooses && e->past != DRAWN; j++)
      seen->after[j] = e->past == BARE ? seen->before[j] : j % 7 == 3 ? 1e6 : 0;
    memcpy(e->before + e->used, seen->before, (size_t)seen->len * sizeof(double));
    memcpy(e->after + e->used, seen->after, (size_t)made * sizeof(double));
    e->at[e->count].sensitivity = seen->sensitivity, e->at[e->count].norm = seen->norm;
    e->at[e->count].chooses = seen->chooses, e->at[e->count].from = e->used, e->at[e->count++].len = seen->len;
    e->used += seen->len;
    return;
  }
  if (e->next >= e->count || e->at[e->next].len != seen->len || e->at[e->next].sensitivity != seen->sensitivity ||
      e->at[e->next].norm != seen->norm) {
    e->other = true;
    return;
  }
  int64_t from = e->at[e->next].from;
  tct_event_kind event = seen->chooses               ? TCT_EV_EXPONENTIAL
                         : seen->norm == TCT_NORM_L1 ? TCT_EV_LAPLACE
                                                     : TCT_EV_GAUSSIAN;
  double move = tape_distance(event, e->before + from, seen->before, seen->len);
  double *reach = &e->reach[e->all && seen->chooses ? RELEASES - 1 : seen->release];
  e->at[e->next++].moved = move > 0;
  assert_true(seen->release < RELEASES);
  *reach = fmax(*reach, move / (seen->sensitivity * (seen->chooses ? 1 : e->claim)));
  memcpy(seen->after, e->after + from, (size_t)made * sizeof(double));
}

static char *watched(const cell *c, table *t, eyes *e, tct_error *err) {
  tct_watch_coins coins = {.seed = 77};
  if (!tct_watch(look, e, &coins)) skip(); /* a library without the watch */
  char *text = run(c, t, err);
  tct_watch(NULL, NULL, NULL);
  return text;
}

/* Of a search of records: the pair moves releases of fits or those of scores, which are the last before each choice and
 * the end.  No choice is moved, but of all settings: its scores are released by it alone. */
static void look_at_parts(const cell *c, const eyes *e, const char *what, int64_t moved[2]) {
  bool own[2] = {false, false};
  for (int i = 0; i < e->count; i++) {
    if (!e->all && e->at[i].chooses && e->at[i].moved) fail_msg("%s: a choice is moved", what);
    own[e->all ? e->at[i].chooses : i + 1 == e->count || e->at[i + 1].chooses] |= e->at[i].moved;
  }
  if (own[0] && own[1] && c->weighed != PERSONS) fail_msg("%s: one record moves a fit and a score", what);
  for (int k = 0; k < 2; k++) moved[k] += own[k];
}

/* ---- one cell --------------------------------------------------------------------------------------------------- */

static void put(const cell *c, records *r, const double *x, double y) {
  for (int64_t k = 0; k < kin_of(c); k++) {
    int64_t i = kin_at(c, k);
    for (int j = 0; j < P; j++) r->x[i * P + j] = (float)x[j];
    r->y[i] = y;
  }
}

/* reach[RELEASES] <- at least what the pair moves, of the claims.  false: the library refuses the cell. */
static bool try_pair(const cell *c, records *base, int shape, int past, double *reach, int64_t moved[2]) {
  static eyes e;
  table a, b;
  tct_error first = {0}, second = {0};
  char what[400];
  bool replaced = c->relation == TCT_REPLACE_ONE;
  e = (eyes){.claim = replaced ? 2 : 1, .past = past, .reach = {-1, -1, -1, -1}};
  e.all = c->stage->kind == SEARCH && c->stage->estimate;
  show(c, what, sizeof what);
  put(c, base, shapes[shape].x, shapes[shape].y);
  open_table(c, base, false, &a);
  if (replaced) put(c, base, shapes[shape].other, shapes[shape].other_y);
  open_table(c, base, !replaced, &b);
  char *one = watched(c, &a, &e, &first);
  e.replays = true;
  char *two = watched(c, &b, &e, &second);
  if (refused(c) != !one || refused(c) != !two) fail_msg("%s: %s%s", what, first.text, second.text);
  if (refused(c) && (e.count || first.status != TCT_E_USAGE || second.status != TCT_E_USAGE))
    fail_msg("%s: refused after a release, or as bad data", what);
  if (e.other || e.next != e.count) fail_msg("%s: other releases of a neighbour's table", what);
  if (one && strcmp(one, two)) fail_msg("%s: equal releases, and other answers\n%s\n%s", what, one, two);
  if (c->stage->kind == SEARCH) look_at_parts(c, &e, what, moved);
  for (int r = 0; r < RELEASES; r++) {
    if (!(e.reach[r] <= 1)) fail_msg("%s: release %d moves %.17g times its claim", what, r, e.reach[r]);
    reach[r] = fmax(reach[r], e.reach[r]);
  }
  free(one), free(two);
  close_table(&a), close_table(&b);
  return !refused(c);
}

static void try_cell(const cell *c, double *reach, int64_t moved[2]) {
  records base = records_new(c->rows, P, 31);
  int pasts = c->stage->kind == SCORES ? 1 : PASTS; /* one release has no past */
  for (int i = 0; i < SHAPES * pasts; i++)
    if (!try_pair(c, &base, i % SHAPES, i / SHAPES, reach, moved)) break;
  records_free(&base);
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

/* A model with weights that lead far: trained by nobody. */
static tct_model *model_of(const stage *s, int intercept) {
  static const double weights[] = {3, -2, 1, -1, 2, 2, 0.5, -3, -1};
  tct_error err = {0};
  tct_config config = settings(s, intercept, TCT_ADD_REMOVE);
  cell c = {.stage = s, .rows = 33};
  records r = records_new(33, P, 31);
  table t;
  open_table(&c, &r, false, &t);
  tct_plan *plan = tct_plan_new(&config, 33, P, &err);
  tct_model *m = plan ? tct_fit(plan, t.data, &err) : NULL;
  if (!m) fail_msg("%s", err.text);
  for (int64_t j = 0; j < tct_model_models(m) * P; j++) m->coefficients[j] = weights[j];
  tct_plan_free(plan);
  close_table(&t);
  records_free(&r);
  return m;
}

static tct_composition *search_of(const stage *s, int intercept, tct_neighbours relation, int64_t rows, int persons) {
  tct_error err = {0};
  tct_config config[2] = {settings(s, intercept, relation), settings(s, intercept, relation)};
  const tct_config *at[] = {&config[0], &config[1]};
  config[1].solver = "dpgd:steps=3,clip=0.2";
  tct_search how;
  tct_search_default(&how);
  how.held = SHARE, how.persons = persons;
  how.tries = s->estimate ? 0 : 2;
  tct_composition *made = tct_search_plan(at, 2, &how, rows, P, &err);
  if (!made) fail_msg("%s", err.text);
  return made;
}

typedef struct counted {
  uint64_t random;
  bool whole;
  int64_t cells, looked;
  int64_t moved[2]; /* pairs of searches that moved a fit, and a score */
} counted;

/* All cells of one stage under a relation, or some of them, from a place that is drawn. */
static void try_stage(const stage *s, tct_neighbours relation, counted *count) {
  static const int64_t edges[] = {33, 257, 513};
  enum { OF_A_SIZE = 4 * 4 * 2 * WEIGHINGS };
  int64_t cells = s->read ? OF_A_SIZE / 8 : OF_A_SIZE;
  double reach[RELEASES] = {-1, -1, -1, -1}, least = INFINITY;
  int64_t looked = count->looked;
  for (int k = 0; k < 6; k++) {
    int64_t n = edges[k / 2], at[] = {0, n / 2, n - 2, n - 1};
    int step = count->whole ? 1 : s->read ? SAMPLED_TEXTS : s->kind == ESTIMATE ? SAMPLED_ESTIMATES : SAMPLED;
    int from = (int)(world_u64(&count->random) % (uint64_t)step);
    cell c = {.stage = s, .rows = n, .intercept = k % 2, .relation = relation};
    tct_model *model = s->kind == SCORES ? model_of(s, c.intercept) : NULL;
    for (int u = 0; u < 2 && s->kind == SEARCH; u++) c.search[u] = search_of(s, c.intercept, relation, n, u);
    c.model = model;
    for (int i = from; i < OF_A_SIZE; i += step) {
      if (s->read && i / 4 % 8) continue; /* text has one layout, and is read as doubles */
      c.at = at[i % 4], c.layout = i / 4 % 4, c.type = i / 16 % 2 ? TCT_F32 : TCT_F64, c.weighed = (weighed)(i / 32);
      if (s->kind == STUDY && c.weighed == WEIGHED) continue; /* it reads no weights */
      try_cell(&c, reach, count->moved);
      count->looked++;
    }
    count->cells += s->kind == STUDY ? cells / WEIGHINGS * 2 : cells;
    tct_model_free(model);
    for (int u = 0; u < 2; u++) tct_composition_free(c.search[u]);
  }
  for (int r = 0; r < RELEASES && count->looked > looked; r++)
    if (reach[r] >= 0 && !(s->kind == SEARCH && r == RELEASES - 1)) /* whose score moves one choice follows coins */
      least = fmin(least, reach[r]);
  if (getenv("TACIT_PRINT")) {
    print_message("%s %s %d: %g\n", s->loss, s->estimate ? s->estimate : "", s->kind, least);
  } else if (!(least >= s->enough[relation == TCT_REPLACE_ONE] && least < INFINITY)) {
    char what[400];
    show(&(cell){.stage = s, .relation = relation}, what, sizeof what);
    fail_msg("%s: the pairs reach %g of the claim of a release only", what, least);
  }
}

static void no_record_and_no_person_moves_a_stage_further_than_planned(void **state) {
  (void)state;
  const char *part = getenv("TACIT_MATRIX");
  counted count = {.whole = part && !strcmp(part, "whole")};
  count.random = part && !count.whole ? strtoull(part, NULL, 10) : (uint64_t)time(NULL) / 86400;
  for (int s = 0; s < STAGES; s++)
    for (int relation = 0; relation < 2; relation++)
      if (count.whole || sample_turn(2 * s + relation, 3))
        try_stage(&stages[s], relation ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, &count);
  print_message("%lld cells, %lld of them looked at\n", (long long)count.cells, (long long)count.looked);
  int64_t *moved = count.moved; /* of one search few cells are drawn, and their records may all train */
  assert_true(count.whole || sample_every(3) == 1 ? moved[0] > 0 && moved[1] > 0 : moved[0] + moved[1] > 0);
  assert_true(count.looked > STAGES && (!count.whole || count.looked == count.cells));
}

static void every_kind_of_stage_has_a_row(void **state) {
  (void)state;
#define TCT_STAGE_KIND(name) "\"" #name "\"",
  static const char *const names[] = {
#include "stage/list.def"
  };
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    bool met = strstr("\"choose\" \"estimate\" \"fit\" \"score\"", names[k]); /* looked at without a file */
    for (int s = 0; s < STAGES; s++)
      met |= stages[s].kind == STUDY && !strncmp(stages[s].estimate, names[k], strlen(names[k]));
    if (!met) fail_msg("no row of stages[] is of the kind %s; add one", names[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_stage_has_a_row),
      cmocka_unit_test(no_record_and_no_person_moves_a_stage_further_than_planned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
