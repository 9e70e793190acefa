#!/usr/bin/env bash
# check_comments.sh - a comment cites only files and functions that exist, and no sentence has more than 30 words.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t sources < <(project_files | grep -E '^(src|extra|cli|include|bench|tests|fuzz|tools)/.*\.(c|h|def)$' | grep -v '^tests/adding/')
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# The comments go to one file as "file:line<TAB>text", the rest to another.
awk -v comments="$work/comments" -v code="$work/code" -v owners="$work/owners" '
  FNR == 1 { inside = 0 }
  {
    line = $0; said = ""; done = ""
    while (line != "") {
      if (inside) {
        end = index(line, "*/")
        said = said " " (end ? substr(line, 1, end - 1) : line)
        line = end ? substr(line, end + 2) : ""
        inside = !end
      } else {
        start = index(line, "/*")
        done = done " " (start ? substr(line, 1, start - 1) : line)
        line = start ? substr(line, start + 2) : ""
        inside = start > 0
      }
    }
    if (said != "") printf "%s:%d\t%s\n", FILENAME, FNR, said > comments
    print done > code
    module = FILENAME
    sub(/[.](c|h|def)$/, "", module)
    print (FILENAME ~ /[.]h$/ ? "any" : module) "\t" done > owners
  }' "${sources[@]}"

# cited PATTERN : "file:line<TAB>word" of every match in a comment.
cited() {
  awk -F'\t' -v pattern="$1" '{ text = $2
    while (match(text, pattern)) {
      print $1 "\t" substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
    } }' "$work/comments"
}

# Files, by any end of their path; headers of libraries are named as they are included.
{ project_files; grep -hoE '#[[:space:]]*include[[:space:]]*<[^>]+>' "${sources[@]}" | sed -E 's/.*<(.*)>/\1/'; } |
  awk '{ n = split($0, part, "/"); end = part[n]; print end; for (i = n - 1; i > 0; i--) { end = part[i] "/" end; print end } }' |
  sort -u >"$work/files"
files=0
while IFS=$'\t' read -r place file; do
  files=$((files + 1))
  complain "$place: the comment cites $file, and there is no such file."
done < <(cited '[A-Za-z0-9_][A-Za-z0-9_./-]*[.](c|h|def|sh|py|md)($|[^A-Za-z0-9_])' |
  grep -vP '\t(.*/)?([a-z_]*_)?(NAME|KIND)[.]' |
  sed -E 's/[^A-Za-z0-9]$//; s/[^A-Za-z0-9]$//' | awk -F'\t' 'NR == FNR { there[$1] = 1; next } !($2 in there)' "$work/files" -)

# Functions and types of the library: words of the code outside comments; name_ stands for all that begin so.
grep -oE '[A-Za-z_][A-Za-z0-9_]*' "$work/code" | sort -u >"$work/words"
while IFS=$'\t' read -r place word; do
  complain "$place: the comment cites $word, which no code has."
done < <(cited 'tct_[a-z0-9_]+' | awk -F'\t' '
  NR == FNR { there[$1] = 1; for (i = 5; i <= length($1); i++) begins[substr($1, 1, i)] = 1; next }
  !($2 in there) && !($2 ~ /_$/ && ($2 in begins))' "$work/words" -)

# What is cited as name() is a word of this file's own code, or of a header.
while IFS=$'\t' read -r place word; do
  complain "$place: the comment cites $word(), which neither this file nor a header has."
done < <(cited '[A-Za-z_][A-Za-z0-9_]*[(][)]' | sed 's/()$//' | awk -F'\t' '
  NR == FNR { n = split($2, word, /[^A-Za-z0-9_]+/); for (i = 1; i <= n; i++) there[$1, word[i]] = 1; next }
  { module = $1; sub(/:.*/, "", module); sub(/[.](c|h|def)$/, "", module) }
  !(("any", $2) in there) && !((module, $2) in there)' "$work/owners" -)

# A formula counts as one word.
mapfile -t shipped < <(printf '%s\n' "${sources[@]}" | grep -E '^(src|extra|cli|include)/')
mapfile -t told < <(tools/sentences.py "${shipped[@]}")
[[ "${told[-1]:-}" =~ ^[1-9][0-9]*\ sentences, ]] || complain "tools/sentences.py did not read the comments"
for long in "${told[@]}"; do
  [[ "$long" == *': a sentence of '* ]] && complain "${long:0:240}"
done

count=$(wc -l <"$work/comments")
[ "$count" -gt 0 ] || complain "no comment was found"
finish "$count lines of comments in ${#sources[@]} files"
