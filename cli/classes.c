/* classes.c - the classes of a label: --classes as a list, and a model's own against what the options say. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

void cli_classes_free(cli_args *args) {
  free(args->class_list);
  free(args->class_text);
  args->class_list = NULL, args->class_text = NULL;
}

static int no_memory(void) { return cli_fail(CLI_RUN, "out of memory; close other programs"); }

int cli_classes_split(cli_args *args) {
  if (!args->classes) return 0;
  size_t count = 1;
  for (const char *at = args->classes; *at; at++) count += *at == ',';
  args->class_text = strdup(args->classes);
  args->class_list = calloc(count, sizeof *args->class_list);
  if (!args->class_text || !args->class_list) return no_memory();
  char *at = args->class_text;
  for (size_t k = 0; k < count; k++) {
    args->class_list[k] = at;
    if (!*at || *at == ',')
      return cli_fail(CLI_USAGE, "--classes has an empty name; write the names with a comma between them: a,b,c");
    at += strcspn(at, ",");
    if (*at) *at++ = 0;
  }
  args->read.classes = args->class_list;
  args->read.classes_count = (int64_t)count;
  return 0;
}

/* The model's list in place of none, or the same as --classes has it. */
static int take_list(cli_args *args, const tct_model *model, int64_t count) {
  const tct_read_options *read = &args->read;
  if (args->classes) {
    int same = read->classes_count == count;
    for (int64_t k = 0; same && k < count; k++) same = !strcmp(read->classes[k], tct_model_class(model, k));
    return same ? 0
                : cli_fail(CLI_USAGE, "--classes is not the model's list, or in another order; leave --classes away");
  }
  args->class_list = calloc((size_t)count, sizeof *args->class_list);
  if (!args->class_list) return no_memory();
  for (int64_t k = 0; k < count; k++) args->class_list[k] = tct_model_class(model, k);
  args->read.classes = args->class_list;
  args->read.classes_count = count;
  return 0;
}

int cli_classes_of_model(cli_args *args, const tct_model *model) {
  int64_t count = tct_model_classes(model, NULL);
  const char *positive = count == 2 ? tct_model_class(model, 1) : NULL;
  if (!count) return 0;
  if (args->read.positive && !positive)
    return cli_fail(CLI_USAGE, "the model tells %lld classes apart and has no positive one; leave --positive away",
                    (long long)count);
  if (args->read.positive && strcmp(args->read.positive, positive))
    return cli_fail(CLI_USAGE, "the model's positive class is \"%s\", and --positive says another; leave it away",
                    positive);
  args->read.positive = positive;
  if (tct_model_class(model, 0)) return take_list(args, model, count);
  return args->classes ? cli_fail(CLI_USAGE,
                                  "the model tells \"%s\" from all others and has no list of classes; leave --classes "
                                  "away",
                                  positive)
                       : 0;
}
