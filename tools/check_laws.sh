#!/usr/bin/env bash
# check_laws.sh - laws of the sources that need no compiler: one place per fact, short lists, short lines.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mapfile -t files < <(project_files | grep -E '^(src|extra|cli|include)/.*\.(c|h|def)$')

# A component is asked for what it declares, not for its name: a name is compared in its own folder alone.
while IFS= read -r hit; do
  complain "${hit%%:*}: compares a component's name; let the component declare the fact: ${hit#*:}"
done < <(grep -nE 'str(n|case)?cmp\([^"]*(kind|solver|accountant|winner|loss|penalty|reg|format)(->|\.)?(name)?, "[a-z0-9_]+"' "${files[@]}" |
  grep -E '(name|->loss|->penalty|->solver|->accountant), "' |
  sed -E 's/^([^:]+):([0-9]+):[[:space:]]*/\1 line \2:/')
while IFS= read -r hit; do
  complain "$hit: compares a component's name with a text that it is given"
done < <(grep -nE 'strcmp\([^"]*(kind|loss|reg|penalty|solver)(->|\.)name, [a-z]' "${files[@]}" | cut -d: -f1,2)
# The same by a look-up: a plan that needs one accountant says tct_accountant_NAME, which the compiler checks.
while IFS= read -r hit; do
  complain "$hit looks an accountant up by a name of its own; write &tct_accountant_NAME"
done < <(grep -nE 'tct_accountant_find\("' "${files[@]}" | grep -v '^src/account/' | cut -d: -f1,2)

# jansson goes on after a key for which memory was lacking.
while IFS= read -r hit; do
  complain "$hit writes JSON with json_dumps, whose text may lack a key; write tct_json_dump"
done < <(grep -nE '\bjson_dumps\(' "${files[@]}" | grep -E '^(src|extra)/' | cut -d: -f1,2)

# A switch over a kind names every kind, so that the compiler finds those that a new one lacks.  What may have a default
# is listed: instruction sets, and numbers from other libraries, files and processes.
while IFS= read -r hit; do
  complain "$hit: default: in a switch over a kind; name the kinds"
done < <(awk '
  /switch \(/ { over = $0; sub(/.*switch \(/, "", over) }
  /^[[:space:]]*default:/ && over ~ /(kind|->layout|link|relation|neighbours|labels)/ && over !~ /tct_level|TCT_FUSED_KINDS|<</ {
    print FILENAME ":" FNR
  }' "${files[@]}")

# Every file that is written goes through one gate.  Beside it are files without a name, and the registry.
while IFS= read -r hit; do
  complain "$hit opens a file for writing by itself; use core/outfile.h, or tct_file_write"
done < <(grep -nE '\bfopen\([^;]*"([wa]|r[bt]?\+)|\b(mkstemp|mkostemp|creat|rename|renameat|truncate)\(|\bO_(CREAT|TMPFILE|WRONLY|RDWR)\b' "${files[@]}" |
  grep -vE '^(src/core/outfile|src/read/table/scratch|src/ledger/registry|cli/disk)\.c:' | cut -d: -f1,2)

# A parallel loop asks how many threads there may be: in a forked child there is one.
while IFS= read -r hit; do
  complain "$hit: a parallel loop without num_threads(tct_threads(...)); it would wait for ever in a forked child"
done < <(grep -nE '#pragma omp parallel' "${files[@]}" | grep -vF 'num_threads(tct_threads(' | cut -d: -f1,2)

# At most 7 parameters.
long=$(awk '
  function parameters(text, list, n) {
    list = text
    sub(/^[^(]*\(/, "", list)
    while (gsub(/\([^()]*\)/, "", list)) { }
    sub(/\).*/, "", list)
    n = gsub(/,/, ",", list) + 1
    return n
  }
  FNR == 1 { head = "" }
  /^[A-Za-z_][^;={}]*\(/ && !/^(typedef|#)/ { head = "" ; open = 1 }
  open { head = head " " $0 }
  open && /[{;]/ {
    if (head ~ /\{[[:space:]]*$/ && parameters(head) > 7) {
      name = head
      sub(/\(.*/, "", name)
      sub(/.*[ *]/, "", name)
      print name " " FILENAME
    }
    open = 0
  }' $(printf '%s\n' "${files[@]}" | grep -E '\.[ch]$'))
while read -r name file; do
  [ -n "$name" ] || continue
  complain "$file: $name has more than 7 parameters; group them in a struct"
done <<<"$long"

mapfile -t everything < <(project_files | grep -E '^(src|extra|cli|include|tests|bench|fuzz)/.*\.(c|h|def)$')

# Lines of at most 120 characters in C; check_prose.sh has the pages.
while IFS= read -r hit; do complain "$hit: a line of more than 120 characters"; done < <(
  LC_ALL=C.UTF-8 awk 'length > 120 { print FILENAME ":" FNR }' "${everything[@]}")

# Sentences name settings by slots, which each door fills with its own words.
if ! hits=$(tools/check_slots.py); then
  while IFS= read -r hit; do complain "$hit"; done <<<"$hits"
fi
# A tuned constant is a row of rules.def: with a page that tells it, in use, and once for a version.
if ! hits=$(tools/count_constants.py --rules); then
  while IFS= read -r hit; do complain "$hit"; done <<<"$hits"
fi
# Fault points are few, and the tests of privacy change no source: a fault has a point, or is a kind of mutation.
points=$(grep -c '^TCT_POINT_ROW(' tests/privacy/points.def)
[ "$points" -le 150 ] || complain "tests/privacy/points.def: $points fault points; at most 150"
while IFS= read -r hit; do complain "$hit: changes a source; give the fault a point (core/point.h)"; done < <(
  grep -nE '\b(sed|perl|awk)\b.*(src|extra)/' tests/privacy/*.sh tests/privacy/*.py 2>/dev/null)

# One way through the house: who asks what a list costs, who charges, who opens a gate, who calls a solver.
# only PATTERN ROOMS FILES : beside the rooms whose own it is, these files alone call it.
only() {
  local file
  while IFS= read -r file; do
    case " $3 " in *" $file "*) ;; *) complain "$file: calls ${1//|/, }; that is done in $3 alone" ;; esac
  done < <(project_files | grep -E '^(src|extra|cli)/.*\.c$' | grep -vE "^(src|extra)/($2)/" | xargs grep -lE "\\b($1)\(")
}
only 'tct_account_epsilon|tct_accountant_epsilon|tct_selection_epsilon|tct_tries_event|tct_tries_epsilon' \
  'account|solve|baselines|parties|ledger|certify' 'src/study/price.c'
only 'tct_ledger_promise_run' 'ledger' 'src/study/charge.c'
only 'tct_mech_new' 'mech' 'src/study/run.c src/several/persons.c extra/session/party.c extra/session/rounds_gram.c'
only 'solver(->|\.)plan' 'solve' 'src/train/plan.c'
only 'solver(->|\.)run' 'solve' 'src/train/fit.c'

# Every export has a door: the command line, Python, R, or an inline function of the header that one of them calls.  What
# Python declares it also calls.
declared() { sed -E '/^#/d; s,/\*.*\*/,,' include/tacit.h | tr '\n' ' ' | grep -oE "$1 [^;({]*\(" | grep -oE 'tct_[a-z0-9_]+\($' | tr -d '('; }
body_of() { sed -n "/^static inline.* \*\?$1(/,/^}\|}\$/p" include/tacit.h; }
called=$(project_files | grep -E '^(cli|r)/.*\.[ch]$' | xargs grep -ohE '\btct_[a-z0-9_]+' | sort -u)
python=$(grep -ohE '\btct_[a-z0-9_]+' python/tacit/*.py | sort | uniq -c |
  awk '$1 > 1 { print $2 } { print $2 "_default_sized" }' | sort -u)
through=$(while read -r name; do grep -qx "$name" <<<"$called" && body_of "$name"; done < <(declared 'static inline') |
  grep -oE '\btct_[a-z0-9_]+')
mapfile -t exports < <(declared TCT_API | sort -u)
while read -r name; do
  complain "include/tacit.h: $name has no door; call it from cli/, python/tacit/ or r/, or let it go"
done < <(comm -23 <(printf '%s\n' "${exports[@]}") <(printf '%s\n' "$called" "$python" "$through" | sort -u))
[ ${#exports[@]} -le 97 ] || complain "include/tacit.h: ${#exports[@]} exports; at most 97"
lines=$(wc -l <include/tacit.h)
[ "$lines" -le 708 ] || complain "include/tacit.h: $lines lines; at most 708"
# What pip builds from: a name without a slash would leave out that folder of src/ and extra/ too.
grep '^sdist.exclude' pyproject.toml | grep -oE '"[^"]*"' | grep -qv '^"/' &&
  complain "pyproject.toml: each folder of sdist.exclude begins with /, or folders of that name below are left out too"
finish "${#files[@]} files keep the laws, ${#exports[@]} exports have a door"
