/* components.c - the table of all components as JSON, from the registries themselves. */
#include "account/account.h"
#include "core/spec.h"
#include "read/format/reader.h"
#include "solve/solve.h"

#include <math.h>
#include <string.h>

enum { MOST = 128 };

/* What a listing wants and how much of it was found. */
typedef struct listing {
  const char *kind, *name; /* filters; NULL = all */
  json_t *array;
  char known[400];           /* names of the wanted kind, for the error */
  const char *name_of[MOST]; /* the same, names of them */
  int names;
} listing;

static const char *const kind_names[] = {"loss", "penalty", "solver", "accountant", "reader", "event"};
enum { KIND_NAMES = sizeof kind_names / sizeof *kind_names };

static void set_text(json_t *object, const char *key, const char *text) {
  json_object_set_new(object, key, text ? json_string(text) : json_null());
}

static json_t *option_json(const tct_option *option) {
  static const char *const types[] = {
      [TCT_OPT_REAL] = "number", [TCT_OPT_COUNT] = "integer", [TCT_OPT_CHOICE] = "choice", [TCT_OPT_TEXT] = "text"};
  json_t *object = json_object();
  set_text(object, "key", option->key);
  set_text(object, "type", types[option->kind]);
  set_text(object, "default", option->fallback);
  if (option->kind == TCT_OPT_REAL || option->kind == TCT_OPT_COUNT) {
    json_object_set_new(object, "low", isfinite(option->low) ? json_real(option->low) : json_null());
    json_object_set_new(object, "high", isfinite(option->high) ? json_real(option->high) : json_null());
  }
  if (option->kind == TCT_OPT_CHOICE) set_text(object, "choices", option->choices);
  set_text(object, "help", option->help);
  return object;
}

/* Adds an entry if the filters want it; returns it (borrowed) for kind-specific fields, else NULL. */
static json_t *add(listing *list, const char *kind, const char *name, const char *summary, const tct_option *options) {
  if (list->kind && strcmp(kind, list->kind)) return NULL;
  if (list->names < MOST) list->name_of[list->names++] = name;
  size_t used = strlen(list->known);
  snprintf(list->known + used, sizeof list->known - used, "%s%s", used ? ", " : "", name);
  if (list->name && strcmp(name, list->name)) return NULL;
  json_t *entry = json_object(), *array = json_array();
  set_text(entry, "kind", kind);
  set_text(entry, "name", name);
  set_text(entry, "summary", summary);
  json_object_set_new(entry, "options", array);
  for (; options && options->key; options++) json_array_append_new(array, option_json(options));
  json_array_append_new(list->array, entry);
  return entry;
}

static void add_solver(listing *list, const tct_solver *solver) {
  json_t *entry = add(list, "solver", solver->name, solver->summary, solver->options);
  if (!entry) return;
  json_t *relations = json_array();
  if (solver->relations & TCT_RELATION_ADD_REMOVE) json_array_append_new(relations, json_string("add_remove"));
  if (solver->relations & TCT_RELATION_REPLACE_ONE) json_array_append_new(relations, json_string("replace_one"));
  json_object_set_new(entry, "private", json_boolean(solver->is_private));
  json_object_set_new(entry, "neighbours", relations);
}

static void add_event(listing *list, tct_event_kind kind) {
  static const tct_option count = {"count", TCT_OPT_COUNT, "1", 1, INFINITY, NULL, "repetitions"};
  const tct_event_facts *facts = &tct_event_kinds[kind];
  tct_option options[TCT_EVENT_KEYS + 2] = {{0}};
  int n = 0;
  for (const tct_event_key *k = facts->key; k->key; k++)
    options[n++] = (tct_option){k->key, TCT_OPT_REAL, NULL, 0, k->high, NULL, k->help};
  options[n] = count;
  add(list, "event", facts->name, facts->summary, options);
}

static void add_all(listing *list) {
  for (int i = 0; i < tct_loss_kind_count; i++) {
    const tct_loss_kind *loss = tct_loss_kinds[i];
    json_t *entry = add(list, "loss", loss->name, loss->summary, loss->options);
    if (!entry) continue;
    set_text(entry, "labels", loss->binary ? "binary" : loss->counts ? "count" : loss->amounts ? "amount" : "real");
    set_text(entry, "link", tct_link_name(loss->link));
  }
  for (int i = 0; i < tct_penalty_kind_count; i++)
    add(list, "penalty", tct_penalty_kinds[i]->name, tct_penalty_kinds[i]->summary, tct_penalty_kinds[i]->options);
  static const tct_solver rule = {
      .name = "auto",
      .summary = "the best solver known for the public facts of the plan, by a written rule",
      .is_private = true,
      .relations = TCT_RELATION_BOTH};
  add_solver(list, &rule);
  for (int i = 0; i < tct_solver_count; i++) add_solver(list, tct_solvers[i]);
  for (int i = 0; i < tct_accountant_count; i++)
    add(list, "accountant", tct_accountants[i]->name, tct_accountants[i]->summary, NULL);
  for (int i = 0; i < tct_format_count; i++) add(list, "reader", tct_formats[i]->name, tct_formats[i]->summary, NULL);
  for (int k = 0; k < TCT_EV_KINDS; k++) add_event(list, (tct_event_kind)k);
}

static bool is_kind(const char *kind) {
  for (int i = 0; i < KIND_NAMES; i++)
    if (!strcmp(kind, kind_names[i])) return true;
  return false;
}

char *tct_components_json(const char *kind, const char *name, tct_error *err) {
  bool by_name = kind && !name && !is_kind(kind);
  listing list = {.kind = by_name ? NULL : kind, .name = by_name ? kind : name};
  char *text = NULL, near[TCT_MEANT];
  tct_error_clear(err);
  list.array = json_array();
  while (by_name && list.names < KIND_NAMES) list.name_of[list.names] = kind_names[list.names], list.names++;
  add_all(&list);
  if (kind && name && !is_kind(kind))
    tct_fail(err, TCT_E_USAGE,
             "no kind of component is called '%s'; use loss, penalty, solver, accountant, reader or event%s", kind,
             tct_meant(kind, kind_names, KIND_NAMES, near));
  else if (by_name && !json_array_size(list.array))
    tct_fail(err, TCT_E_USAGE,
             "no component is called '%s', and no kind of them; kinds are loss, penalty, solver, accountant, reader "
             "and event%s",
             kind, tct_meant(kind, list.name_of, list.names, near));
  else if (name && !json_array_size(list.array))
    tct_fail(err, TCT_E_USAGE, "no %s is called '%s'; there are: %s%s", kind ? kind : "component", name, list.known,
             tct_meant(name, list.name_of, list.names, near));
  else if (!(text = tct_json_dump(list.array, JSON_INDENT(2))))
    tct_fail_memory(err);
  json_decref(list.array);
  return text;
}
