/* completion.c - completion scripts of bash, zsh and fish, from the same tables as the help.
 *
 * What each part means is in the scripts themselves.  A value is a choice of its option, a spec of the components, or a
 * file. */
#include "cli.h"

#include <string.h>

/* The first phrase of a help text, without signs that a shell or a completion reads as its own. */
static void put_phrase(const char *help) {
  size_t length = strcspn(help, ";\n");
  for (size_t i = 0; i < length; i++) putchar(strchr("'\"`$\\[]:", help[i]) ? ' ' : help[i]);
}

static int is_spec(const cli_option *o) { return o->value_name && !strcmp(o->value_name, "SPEC"); }
static int has_list(const cli_option *o) { return o->kind == CLI_CHOICE || is_spec(o); }

/* "a|b" as words. */
static void put_choices(const char *choices) {
  for (; *choices; choices++) putchar(*choices == '|' ? ' ' : *choices);
}

/* The component's settings as "name:key=", or its name alone. */
static void put_entries(const json_t *components, const char *kind, int keys, const char *format) {
  const json_t *entry, *option;
  size_t i, k;
  json_array_foreach(components, i, entry) {
    if (strcmp(cli_string(entry, "kind"), kind)) continue;
    char text[160];
    snprintf(text, sizeof text, "%s", cli_string(entry, "name"));
    if (!keys) printf(format, text);
    if (keys) json_array_foreach(json_object_get(entry, "options"), k, option) {
        snprintf(text, sizeof text, "%s:%s=", cli_string(entry, "name"), cli_string(option, "key"));
        printf(format, text);
      }
  }
}

typedef void option_writer(const cli_verb *verb, const cli_option *o, const json_t *components);

static void each_option(const cli_verb *verb, option_writer *put, const json_t *components) {
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++) put(verb, o, components);
}

/* ---- bash ------------------------------------------------------------------------------------- */

static void bash_name(const cli_verb *verb, const cli_option *o, const json_t *components) {
  (void)verb;
  (void)components;
  printf(" %s", o->name);
}

static void bash_value(const cli_verb *verb, const cli_option *o, const json_t *components) {
  (void)components;
  if (!o->value_name) return;
  printf("    '%s %s') ", verb->name, o->name);
  if (is_spec(o))
    printf("_tacit_spec %s", o->name + 2);
  else if (o->kind == CLI_CHOICE)
    fputs("words='", stdout), put_choices(o->value_name), fputs("'", stdout);
  else
    fputs(cli_is_file(o) ? "files=1" : ":", stdout);
  fputs(" ;;\n", stdout);
}

static const char bash_head[] =
    "# Completion of tacit in bash, made by `tacit help --completion bash`.\n"
    "# Words are cut at blanks alone: bash itself would cut a spec like dpgd:steps=9 at its colon.\n"
    "_tacit_spec() {\n"
    "  case $cur in\n"
    "    *:*) words=${keys[$1]} ;;\n"
    "    *) words=${names[$1]} ;;\n"
    "  esac\n"
    "}\n"
    "_tacit() {\n"
    "  local line=${COMP_LINE:0:COMP_POINT} cur='' prev='' verb='' words='' files='' stem='' at\n"
    "  local -a said\n"
    "  local -A names keys\n"
    "  read -ra said <<<\"$line\"\n"
    "  [[ $line == *[[:space:]] ]] && said+=('')\n"
    "  cur=${said[-1]}\n"
    "  [ ${#said[@]} -gt 2 ] && verb=${said[1]} prev=${said[-2]}\n";

static const char bash_tail[] =
    "    *' help') words=$verbs ;;\n"
    "    *) files=1 ;;\n"
    "  esac\n"
    "  if [ -z \"$verb\" ]; then\n"
    "    words=\"$verbs --help --version\" files=''\n"
    "  elif [[ $cur == -* ]]; then\n"
    "    files=''\n"
    "    case $verb in\n";

static const char bash_end[] =
    "    esac\n"
    "  fi\n"
    "  COMPREPLY=()\n"
    "  # After name:key=value, a comma begins the next setting of the same name.\n"
    "  if [[ $cur == *:*,* && $words == *:*=* ]]; then\n"
    "    at=${cur%,*},\n"
    "    words=\"${words//\"${cur%%:*}:\"/\"$at\"}\"\n"
    "  fi\n"
    "  if [ -n \"$files\" ]; then\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "    return\n"
    "  fi\n"
    "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "  [[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace 2>/dev/null\n"
    "  # What stands before the last sign at which bash cuts is on the line already.\n"
    "  stem=${cur%\"${cur##*[\"$COMP_WORDBREAKS\"]}\"}\n"
    "  [ -n \"$stem\" ] && COMPREPLY=(\"${COMPREPLY[@]#\"$stem\"}\")\n"
    "}\n"
    "complete -F _tacit tacit\n";

static void put_bash(const json_t *components) {
  static const char *const kinds[] = {"loss", "penalty", "solver"};
  fputs(bash_head, stdout);
  for (int k = 0; k < 3; k++) {
    printf("  names[%s]='", kinds[k]);
    put_entries(components, kinds[k], 0, "%s ");
    printf("'\n  keys[%s]='", kinds[k]);
    put_entries(components, kinds[k], 1, "%s ");
    puts("'");
  }
  fputs("  local verbs='", stdout);
  for (int i = 0; cli_verbs[i]; i++) printf("%s%s", i ? " " : "", cli_verbs[i]->name);
  puts("'\n  case \"$verb $prev\" in");
  for (int i = 0; cli_verbs[i]; i++) each_option(cli_verbs[i], bash_value, NULL);
  puts("    'components components') words='loss penalty solver accountant reader event' ;;");
  fputs(bash_tail, stdout);
  for (int i = 0; cli_verbs[i]; i++) {
    printf("      %s) words='", cli_verbs[i]->name);
    each_option(cli_verbs[i], bash_name, NULL);
    puts("' ;;");
  }
  fputs(bash_end, stdout);
}

/* ---- zsh -------------------------------------------------------------------------------------- */

static void zsh_option(const cli_verb *verb, const cli_option *o, const json_t *components) {
  (void)verb;
  (void)components;
  printf("        '%s[", o->name);
  put_phrase(o->help);
  putchar(']');
  if (o->value_name) {
    putchar(':');
    put_phrase(o->value_name);
    putchar(':');
  }
  if (is_spec(o))
    printf("->%s", o->name + 2);
  else if (o->kind == CLI_CHOICE)
    putchar('('), put_choices(o->value_name), putchar(')');
  else if (cli_is_file(o))
    fputs("_files", stdout);
  fputs("' \\\n", stdout);
}

static void zsh_verb(const cli_verb *verb, const json_t *components) {
  static const struct {
    const char *verb, *action;
  } operands[] = {{"help", ":verb:(($verbs))"}, {"components", "*:kind:(loss penalty solver accountant reader event)"}};
  const char *action = "*:file:_files";
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
    if (!strcmp(verb->name, operands[i].verb)) action = operands[i].action;
  printf("    %s)\n      _arguments -C \\\n", verb->name);
  each_option(verb, zsh_option, components);
  printf("        \"%s\" && return ;;\n", action);
}

static void put_zsh(const json_t *components) {
  static const char *const kinds[] = {"loss", "penalty", "solver"};
  char line[300];
  puts("#compdef tacit\n# Completion of tacit in zsh, made by `tacit help --completion zsh`.\n_tacit() {");
  puts("  local state\n  local -a verbs names");
  fputs("  verbs=(", stdout);
  for (int i = 0; cli_verbs[i]; i++) {
    printf("\n    '%s:", cli_verbs[i]->name);
    put_phrase(cli_headline(cli_verbs[i], line, sizeof line));
    putchar('\'');
  }
  puts(")\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi");
  puts("  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  verbs=(${verbs%%:*})\n  case $verb in");
  for (int i = 0; cli_verbs[i]; i++) zsh_verb(cli_verbs[i], components);
  puts("  esac\n  # A spec: a name, after its colon the settings.\n  case $state in");
  for (int k = 0; k < 3; k++) {
    printf("    %s)\n      names=(", kinds[k]);
    put_entries(components, kinds[k], 0, "%s ");
    fputs(")\n      [[ $PREFIX == *:* ]] && names=(", stdout);
    put_entries(components, kinds[k], 1, "'%s' ");
    puts(") ;;");
  }
  puts("  esac\n  if [[ $PREFIX == *:*,* ]]; then");
  puts(
      "    local name=${PREFIX%%:*}\n    names=(${(M)names:#$name:*})\n    names=(${names#$name:})\n    compset -P "
      "'*,'\n  fi");
  puts("  if [[ $names[1] == *= ]]; then\n    compadd -S '' -a names\n  else\n    compadd -a names\n  fi\n}");
  puts("_tacit \"$@\"");
}

/* ---- fish ------------------------------------------------------------------------------------- */

static void fish_option(const cli_verb *verb, const cli_option *o, const json_t *components) {
  int is_long = o->name[1] == '-';
  printf("complete -c tacit -n '__fish_seen_subcommand_from %s' -%c %s", verb->name, is_long ? 'l' : 's',
         o->name + 1 + is_long);
  if (o->value_name) fputs(cli_is_file(o) ? " -rF" : " -x", stdout);
  if (has_list(o)) fputs(" -a '", stdout);
  if (o->kind == CLI_CHOICE) put_choices(o->value_name);
  if (is_spec(o)) put_entries(components, o->name + 2, 0, "%s "), put_entries(components, o->name + 2, 1, "%s ");
  if (has_list(o)) fputs("'", stdout);
  fputs(" -d '", stdout);
  put_phrase(o->help);
  puts("'");
}

static void put_fish(const json_t *components) {
  char line[300];
  puts("# Completion of tacit in fish, made by `tacit help --completion fish`.");
  for (int i = 0; cli_verbs[i]; i++) {
    printf("complete -c tacit -f -n __fish_use_subcommand -a %s -d '", cli_verbs[i]->name);
    put_phrase(cli_headline(cli_verbs[i], line, sizeof line));
    puts("'");
  }
  for (int i = 0; cli_verbs[i]; i++) each_option(cli_verbs[i], fish_option, components);
  puts(
      "complete -c tacit -f -n '__fish_seen_subcommand_from components' -a 'loss penalty solver accountant reader "
      "event'");
  fputs("complete -c tacit -f -n '__fish_seen_subcommand_from help' -a '", stdout);
  for (int i = 0; cli_verbs[i]; i++) printf("%s%s", i ? " " : "", cli_verbs[i]->name);
  puts("'");
}

int cli_put_completion(const char *shell) {
  json_t *components = cli_take_json(tct_components_json(NULL, NULL, NULL));
  if (!components) return CLI_RUN;
  switch (shell[0]) {
    case 'b': put_bash(components); break;
    case 'z': put_zsh(components); break;
    default: put_fish(components); break;
  }
  json_decref(components);
  return 0;
}
