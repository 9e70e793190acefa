#!/usr/bin/env bash
# check_sources.sh - the house rules a script can see: words, paths, names, head comments, sizes.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t all < <(project_files | grep -v '^LICENSE$')
mapfile -t code < <(printf '%s\n' "${all[@]}" | grep -E '^(src|extra|cli|include)/.*\.[ch]$')

# Unfinished by its own words, and paths that exist on one machine only.  The patterns are written so
# that this file does not match them.
unfinished='\b(TO''DO|FIX''ME|X''XX|HACK''ME)\b|not imple''mented|\bplace''holder\b'
somewhere='(^|[^A-Za-z0-9_.~-])/(wo''rk|fa''rm|ho''me|Us''ers|ro''ot)/|/tm''p/h/'
for pair in "unfinished|$unfinished" "machine|$somewhere"; do
  while IFS=: read -r file line _; do
    case "$pair" in
      unfinished*) complain "$file:$line: unfinished by its own words." ;;
      *) complain "$file:$line: a path of one machine." ;;
    esac
  done < <(printf '%s\0' "${all[@]}" | xargs -0 grep -nIEi "${pair#*|}" /dev/null)
done

# How a constant was tuned is told in docs/decisions/; a source that names a data set is on the way to tell it again.
sets='bank|adult|kdd(cup99)?|ipums(-br)?|california|electricity|a9a|w8a|news20|phishing|covtype|nist(_acs)?|diabetes130'
while IFS=: read -r file line _; do
  complain "$file:$line: a data set's name; tell the tuning in docs/decisions/ and keep the rule and one reason."
done < <(printf '%s\0' "${code[@]}" | grep -zE '^(src|extra|include)/' | xargs -0 grep -niwE "$sets" /dev/null)

# A document that is not in the repository is no reference.
while IFS=: read -r file line _; do
  complain "$file:$line: cites a document that readers do not have; docs/reference/mathematics.md or a paper."
done < <(printf '%s\0' "${code[@]}" | xargs -0 grep -nE '\b(SPEC|DESIGN)('"'"'s|,? (section|§))|§' /dev/null)

# One base name, one place: src/a/x.c and src/b/x.h would be two things with one name.
while IFS= read -r name; do
  complain "src: the base name '$name' is used in more than one folder."
done < <(printf '%s\n' "${code[@]}" | grep -E '^(src|extra)/' | sed -E 's,\.[ch]$,,' | sort -u | sed 's,.*/,,' | sort | uniq -d)

# fmax(NaN, 0) is 0, and a default hides a new event kind: an accountant has neither.
for pair in 'f(max|min)l?f? *\(|compare without fmax and fmin (account/curves/compare.h): they forget NaN.' \
  '^ *default *:|name every kind of event in a switch; a default would take a new one for an old one.'; do
  while IFS=: read -r file line _; do
    complain "$file:$line: ${pair##*|}"
  done < <(printf '%s\0' src/account/*.[ch] src/event/*.[ch] | xargs -0 grep -nE "(^|[^a-zA-Z0-9_])(${pair%|*})" /dev/null | grep -v '^[^:]*:[0-9]*: \*')
done

# headings FILE WORD... : the head comment (all up to the first line that is no comment) has each word.
headings() {
  local file=$1 head word
  shift
  head=$(awk 'NR == 1 || inside { print; inside = 1 } /\*\// { exit }' "$file")
  for word in "$@"; do
    grep -qE "(^|[^A-Z])$word([^A-Z]|$)" <<<"$head" || complain "$file: the head comment lacks the heading $word."
  done
}

# A component's file name is its public name: what list.def names must carry the headings.
components() { sed -nE 's/^[[:space:]]*[A-Z_]+\([[:space:]]*(tct_)?([a-z0-9_]+).*/\2/p' "$1" 2>/dev/null; }
while IFS= read -r name; do
  file=$(printf '%s\n' "${code[@]}" | grep -E "^(src/solve|extra)/(.*/)?$name\.c$")
  [ -n "$file" ] || continue
  headings "$file" PROBLEM ALGORITHM SENSITIVITY RELEASES COST DEPARTS
done < <(components src/solve/list.def)
for file in src/mech/{subsample,gaussian,laplace,choose}.c $(grep -lE '^ \* DISTRIBUTION|^/\* .*DISTRIBUTION' src/rng/*.c src/mech/*.c 2>/dev/null); do
  [ ! -f "$file" ] || headings "$file" DISTRIBUTION PROOF ROUNDING
done

# First line: `/* name.c - one phrase`.  Ceilings: a function 60 lines, a file 400 (tacit.h apart), no #if inside a
# function.  clang-format puts a function's first line and its closing brace at column 0.
while IFS= read -r hit; do complain "$hit"; done < <(awk '
  function file_ends() { if (lines > 400 && file != "include/tacit.h") print file ": " lines " lines; 400 is the ceiling, split it." }
  FNR == 1 {
    file_ends()
    file = FILENAME; name = file; sub(/.*\//, "", name); inside = 0; head = 0
    start_of_line = "/* " name " - "
    if (index($0, start_of_line) != 1 || length($0) <= length(start_of_line))
      print file ":1: the first line is to be \"" start_of_line "one phrase.\""
  }
  { lines = FNR }
  /^[A-Za-z_].*\{[[:space:]]*$/ && /\(/ && !/^(struct|enum|union|typedef)[^(]*\{/ && !/=[[:space:]]*\{/ { start = FNR; inside = 1 }
  /^[A-Za-z_].*[(,][^;{]*$/ && !inside && !/^(extern "C"|typedef|static const|#)/ { head = FNR }
  /^    .*\) \{[[:space:]]*$/ && !inside && head && FNR - head < 6 { start = head; inside = 1 }
  inside && /^[[:space:]]*#[[:space:]]*if/ { print file ":" FNR ": #if inside a function; choose at file level." }
  inside && /^\}/ {
    if (FNR - start + 1 > 60) print file ":" start ": a function of " (FNR - start + 1) " lines; 60 is the ceiling."
    inside = 0; head = 0
  }
  END { file_ends() }' "${code[@]}")

finish "${#all[@]} files, ${#code[@]} of them sources"
