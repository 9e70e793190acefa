#!/usr/bin/env bash
# check_sources.sh - the house rules a script can see: words, paths, names, head comments, sizes.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t all < <(project_files | grep -v '^LICENSE$')
mapfile -t code < <(printf '%s\n' "${all[@]}" | grep -E '^(src|cli|include)/.*\.[ch]$')

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

# One base name, one place: src/a/x.c and src/b/x.h would be two things with one name.
while IFS= read -r name; do
  complain "src: the base name '$name' is used in more than one folder."
done < <(printf '%s\n' "${code[@]}" | grep '^src/' | sed -E 's,\.[ch]$,,' | sort -u | sed 's,.*/,,' | sort | uniq -d)

# First line: `/* name.c - one phrase`.
for file in "${code[@]}"; do
  name=$(basename "$file")
  head -n 1 "$file" | grep -qE "^/\* ${name//./\\.} - [^ ].*" ||
    complain "$file:1: the first line is to be '/* $name - one phrase.'"
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
  [ -f "src/solve/$name.c" ] || continue
  headings "src/solve/$name.c" PROBLEM ALGORITHM SENSITIVITY RELEASES COST DEPARTS
done < <(components src/solve/list.def)
for file in src/mech/{subsample,gaussian,laplace,choose}.c $(grep -lE '^ \* DISTRIBUTION|^/\* .*DISTRIBUTION' src/rng/*.c src/mech/*.c 2>/dev/null); do
  [ ! -f "$file" ] || headings "$file" DISTRIBUTION PROOF ROUNDING
done

# Ceilings: a function 60 lines, a file 400, no #if inside a function.  clang-format puts a function's
# first line at column 0 and its closing brace alone at column 0.
for file in "${code[@]}"; do
  [ "$file" = include/tacit.h ] || [ "$(wc -l <"$file")" -le 400 ] || complain "$file: longer than 400 lines; split it."
  while IFS= read -r hit; do complain "$hit"; done < <(awk -v file="$file" '
    /^[A-Za-z_].*\{[[:space:]]*$/ && /\(/ && !/^(struct|enum|union|typedef)[^(]*\{/ && !/=[[:space:]]*\{/ { start = NR; inside = 1 }
    /^[A-Za-z_].*[(,][^;{]*$/ && !inside && !/^(extern "C"|typedef|static const|#)/ { head = NR }
    /^    .*\) \{[[:space:]]*$/ && !inside && head && NR - head < 6 { start = head; inside = 1 }
    inside && /^[[:space:]]*#[[:space:]]*if/ { printf "%s:%d: #if inside a function; choose at file level.\n", file, NR }
    inside && /^\}/ {
      if (NR - start + 1 > 60) printf "%s:%d: a function of %d lines; 60 is the ceiling.\n", file, start, NR - start + 1
      inside = 0; head = 0
    }' "$file")
done

finish "${#all[@]} files, ${#code[@]} of them sources"
