#!/usr/bin/env bash
# test_help.sh - help, manual pages and completions have every option of the tables, and complete what is typed.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
pages=$PWD/pages
"$here/../../tools/pages.sh" "$TACIT" "$pages"

# ---- help is about what was asked ----
ok 'help train' help train
says 'help train is about train' '^tacit train DATA'
says 'help train has the options of train' '^  --row-norm R'
"$TACIT" train --help >long
check 'help train and train --help are one text' cmp long .out
check 'the first screen has what a run needs' test "$(sed -n '/^What a run needs/,/^$/p' long | grep -cE '^  -')" = 9
ok 'help about a topic' help privacy
says 'it has the options of the promise' '^  --neighbours '
check 'and no other' test "$(grep -cE '^  (--loss|--threads)' .out)" = 0
ok 'help' help
says 'help lists the verbs' '^  ledger '
bad 'help about nothing' 2 "no verb 'nonsense'; .tacit help. lists them" help nonsense
bad 'help about a slip' 2 'did you mean train' help trian
bad 'help about a component' 2 'tacit components dpgd' help dpgd
bad 'two forms of help' 2 'exclude each other' help --json --manual

# ---- the tables: every option has a default, those with a value an example that the program takes ----
ok 'the tables' help --json
cp .out tables.json
python3 - "$TACIT" "$pages" <<'PY' || fail 'tables and pages disagree (see above)'
import html, json, re, subprocess, sys
tacit, pages = sys.argv[1:]
tables = json.load(open("tables.json"))
bad = []
texts = {shell: open(f"{pages}/{name}").read() for shell, name in
         (("bash", "tacit.bash"), ("zsh", "_tacit"), ("fish", "tacit.fish"))}
for shell, text in texts.items():
    now = subprocess.run([tacit, "help", "--completion", shell], capture_output=True, text=True).stdout
    if now != text: bad.append(f"{shell}: the installed completion is not the program's")
plain = lambda roff: re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
options = 0
for verb in tables["verbs"]:
    name = verb["name"]
    manual = plain(open(f"{pages}/man1/tacit-{name}.1").read())
    help_text = " ".join(subprocess.run([tacit, "help", name], capture_output=True, text=True).stdout.split())
    if verb["headline"].replace("\n", " ") not in manual: bad.append(f"{name}: headline")
    in_bash = set(re.search(rf"^      {name}\) words='([^']*)'", texts["bash"], re.M)[1].split())
    block = re.search(rf"^    {name}\)\n(.*?);;", texts["zsh"], re.M | re.S)[1]
    in_zsh = set(re.findall(r"^        '(-[-a-z0-9]+)\[", block, re.M))
    in_fish = {("--" if m[0] == "l" else "-") + m[1] for m in
               re.findall(rf"__fish_seen_subcommand_from {name}' -([ls]) ([a-z0-9-]+)", texts["fish"])}
    want = {o["name"] for o in verb["options"]}
    for shell, found in (("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish)):
        if found != want: bad.append(f"{shell}, {name}: {sorted(found ^ want)}")
    for o in verb["options"]:
        options += 1
        line = o["name"] + (" " + o["value"] if o["value"] else "")
        if f"\n.TP\n{line}\n{o['help']}\n" not in manual: bad.append(f"man {name}: {line}")
        if " ".join((line + " " + o["help"]).split()) not in help_text: bad.append(f"help {name}: {line}")
        if not o["default"] and o["name"] != "--help": bad.append(f"{name} {o['name']}: no default")
        if o["default"] and f"\nDefault: {o['default']}\n" not in manual: bad.append(f"man {name}: default of {o['name']}")
        if bool(o["value"]) != bool(o["example"]): bad.append(f"{name} {o['name']}: an example goes with a value")
        if o["example"]:
            if f"\nExample: {o['name']} {o['example']}\n" not in manual: bad.append(f"man {name}: example of {o['name']}")
            run = subprocess.run([tacit, name, o["name"], o["example"], "--help"], capture_output=True, text=True)
            if run.returncode: bad.append(f"{name}: the example {o['name']} {o['example']} is refused: {run.stderr}")
for line in bad: print("  " + line)
print(f"{len(tables['verbs'])} verbs, {options} options")
sys.exit(bool(bad) or options < 100)
PY
if command -v groff >/dev/null; then
  for page in "$pages"/man1/*.1; do
    check "$(basename "$page") is clean roff" test -z "$(groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null)"
  done
fi

# ---- bash, without a terminal ----
# complete_bash LINE : the proposals, one a line.
complete_bash() {
  bash --norc -c '. "$1"; COMP_LINE=$2 COMP_POINT=${#2}; _tacit; printf "%s\n" "${COMPREPLY[@]}"' - "$pages/tacit.bash" "$1"
}
# proposes NAME EXPECTED LINE
proposes() {
  cases=$((cases + 1))
  local got
  got=$(complete_bash "$3" | tr '\n' ' ')
  [ "$got" = "$2 " ] || fail "bash, $1: '$3' gives '$got', not '$2 '"
}
touch people.csv people.schema.json
proposes 'a verb' 'train' 'tacit tr'
proposes 'an option' '--solver' 'tacit train --so'
proposes 'a loss' 'logistic' 'tacit train --loss log'
proposes 'a choice' 'clip unit' 'tacit train people.csv --rows '
proposes 'a file after an option' 'people.schema.json' 'tacit train --schema people.s'
proposes 'a file as an operand' 'people.csv' 'tacit train people.c'
proposes 'a setting, past the colon that bash cuts at' 'steps= step=' 'tacit train --solver dpgd:st'
proposes 'a second setting' '9,clip=' 'tacit train --solver dpgd:steps=9,cl'
proposes 'a verb after help' 'ledger' 'tacit help led'
proposes 'options of that verb alone' '--liblinear' 'tacit export --l'

# ---- fish and zsh where they are installed; zsh and bash also in a terminal ----
if command -v fish >/dev/null; then
  complete_fish() { HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$pages/tacit.fish" "$1" | cut -f1 | tr '\n' ' '; }
  check 'fish: an option' test "$(complete_fish 'tacit train --so')" = '--solver '
  check 'fish: a choice' test "$(complete_fish 'tacit train --rows u')" = 'unit '
  check 'fish: a setting' test "$(complete_fish 'tacit train --solver dpgd:mom')" = 'dpgd:momentum= '
  check 'fish: a verb' test "$(complete_fish 'tacit tr')" = 'train '
else
  echo 'fish is not installed: its completion is compared with the tables only'
fi
# types SHELL-LINE KEYS : what the terminal's prompt line shows after the keys and Tab.
types() {
  local socket=$work/tmux.$RANDOM n shown=''
  tmux -S "$socket" -f /dev/null new-session -d -x 150 -y 20 "$1"
  for n in $(seq 60); do tmux -S "$socket" capture-pane -p | grep -q 'ready>' && break || sleep 0.1; done
  tmux -S "$socket" send-keys "$2" Tab
  for n in $(seq 60); do
    shown=$(tmux -S "$socket" capture-pane -p | grep 'ready>' | tail -n 1)
    [ "$shown" != "ready> $2" ] && [ "$shown" != 'ready>' ] && break || sleep 0.1
  done
  sleep 0.2
  shown=$(tmux -S "$socket" capture-pane -p | grep 'ready>' | tail -n 1)
  tmux -S "$socket" kill-server
  printf '%s' "$shown"
}
if command -v tmux >/dev/null; then
  printf 'PS1="ready> "\n. %q\n' "$pages/tacit.bash" >bashrc
  check 'a terminal with bash: Tab completes --so' test "$(types "bash --noprofile --rcfile bashrc" 'tacit train --so')" = 'ready> tacit train --solver'
  check 'a terminal with bash: Tab completes a setting' test "$(types "bash --noprofile --rcfile bashrc" 'tacit train --solver dpgd:mo')" = 'ready> tacit train --solver dpgd:momentum='
  if command -v zsh >/dev/null; then
    printf 'PS1="ready> "\nfpath=(%q $fpath)\nautoload -U compinit\ncompinit -u -d %q\n' "$pages" "$work/dump" >.zshrc
    check 'a terminal with zsh: Tab completes --so' test "$(types "env ZDOTDIR=$work zsh -d" 'tacit train --so')" = 'ready> tacit train --solver'
    check 'a terminal with zsh: Tab completes a loss' test "$(types "env ZDOTDIR=$work zsh -d" 'tacit train --loss log')" = 'ready> tacit train --loss logistic'
    check 'a terminal with zsh: Tab completes a setting' test "$(types "env ZDOTDIR=$work zsh -d" 'tacit train --solver dpgd:mom')" = 'ready> tacit train --solver dpgd:momentum='
  else
    echo 'zsh is not installed: its completion is compared with the tables only'
  fi
else
  echo 'tmux is not installed: no terminal is driven'
fi
finish
