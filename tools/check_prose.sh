#!/usr/bin/env bash
# check_prose.sh - what a script can see of the pages: no line over 120 characters, no sentence over 30 words, no link
# and no path that leads nowhere.
#
# Tables, images and code blocks may be longer, and so may the page that tools/api_python.py writes.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t pages < <(project_files | grep -E '\.md$')

# prose FILE... : "file:line<TAB>text" of every line outside code blocks.
prose() {
  awk '
    FNR == 1 { fence = 0; code = 0; before = "" }
    /^ *```/ { fence = !fence; next }
    fence { next }
    /^    / && (before ~ /^ *$/ || code) { code = 1; next }
    { code = 0 }
    { printf "%s:%d\t%s\n", FILENAME, FNR, $0; before = $0 }' "$@"
}

while IFS=$'\t' read -r place _; do
  complain "$place: a line of more than 120 characters; wrap it."
done < <(prose "${pages[@]}" | grep -vE $'\t *(\\||!\\[)|^docs/reference/api-python.md' | LC_ALL=C.UTF-8 grep -E $'\t.{121,}$')

mapfile -t told < <(tools/sentences.py "${pages[@]}")
[[ "${told[-1]:-}" =~ ^[1-9][0-9]*\ sentences, ]] || complain "tools/sentences.py did not read the pages"
for long in "${told[@]}"; do
  [[ "$long" == *': a sentence of '* ]] && complain "${long:0:240}"
done

# anchors FILE : the names of its headings, as GitHub makes them.
anchors() {
  sed -nE 's/^#+ +//p' "$1" | LC_ALL=C.UTF-8 sed -E 's/`//g; s/.*/\L&/; s/[^[:alnum:] _-]//g; s/ /-/g'
}

links=0
while IFS=$'\t' read -r place target; do
  links=$((links + 1))
  page=${place%%:*} path=${target%%#*}
  case "$target" in http://* | https://* | mailto:*) continue ;; esac
  [ -z "$path" ] && path=$page || path=$(dirname "$page")/$path
  [ -e "$path" ] || { complain "$place: the link to $target leads nowhere."; continue; }
  case "$target" in
    *.md\#* | \#*) anchors "$path" | grep -qxF "${target#*#}" || complain "$place: $target has no such heading." ;;
  esac
done < <(prose "${pages[@]}" | awk -F'\t' '{ text = $2
  while (match(text, /\]\([^) ]+\)/)) { print $1 "\t" substr(text, RSTART + 2, RLENGTH - 3); text = substr(text, RSTART + RLENGTH) } }')

# A path of this project in `backticks` exists: from the root, from src/, or from the page's folder.
while IFS=$'\t' read -r place path; do
  page=${place%%:*}
  [ -e "$path" ] || [ -e "src/$path" ] || [ -e "extra/$path" ] || [ -e "$(dirname "$page")/$path" ] || compgen -G "$path" >/dev/null ||
    complain "$place: there is no $path."
done < <(prose "${pages[@]}" | grep -v '^CHANGELOG' | awk -F'\t' '{ text = $2
  while (match(text, /`[^` ]+`/)) { print $1 "\t" substr(text, RSTART + 1, RLENGTH - 2); text = substr(text, RSTART + RLENGTH) } }' |
  grep -E $'\t(src|extra|cli|include|tests|tools|docs|bench|examples|fuzz|python|cmake|core|event|la|rng|loss|penalty|reg|account|ranks|wire|team|read|mech|solve|fit|model|ledger|train|certify|report|session)/[A-Za-z0-9_./-]+$' |
  grep -vE 'NAME|DIR')

# What stands behind a file, as in `train/fit.c`, `solve`, is a word of that file; a tct_word is one of the library's.
cited=$(
  python3 - "${pages[@]}" <<'END'
import pathlib, re, subprocess, sys

sources = subprocess.run(["git", "grep", "-ohwE", "tct_[a-z0-9_]+", "--", "src", "extra", "include"], capture_output=True, text=True)
known = set(sources.stdout.split())
count = 0
for page in sys.argv[1:]:
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for match in re.finditer(r"`((?:[a-z_]+/)+[a-z_0-9]+\.[ch])`((?:,\s+`[a-z_0-9]+`)+)", text):
        place = f"{page}:{text.count(chr(10), 0, match.start()) + 1}"
        files = [pathlib.Path(top) / match[1] for top in ("", "src", "extra")]
        body = "".join(f.read_text(encoding="utf-8") for f in files if f.is_file())
        for word in re.findall(r"`([a-z_0-9]+)`", match[2]):
            count += 1
            if not re.search(rf"\b{word}\b", body):
                print(f"{place}: {match[1]} has no {word}.")
    for match in re.finditer(r"`(tct_[a-z0-9_]*[a-z0-9])\b", text):
        if page != "CHANGELOG.md" and known and match[1] not in known:
            print(f"{page}:{text.count(chr(10), 0, match.start()) + 1}: no source has {match[1]}.")
print(f"{count} cited")
END
)
[[ "${cited##*$'\n'}" =~ ^[1-9][0-9]*\ cited$ ]] || complain "no function was found to be cited in a page"
while IFS= read -r missing; do
  complain "$missing"
done < <(sed '$d' <<<"$cited")

# And whatever file cites a page of docs/: help, comments, scripts, other pages.
while IFS=: read -r file line page; do
  [ -e "$page" ] || complain "$file:$line: there is no $page."
done < <(project_files | grep -vE '^(LICENSE|tools/check_prose.sh)$|\.(svg|csv|xz)$' | tr '\n' '\0' |
  xargs -0 grep -nIoE '\bdocs/[A-Za-z0-9_./-]+\.(md|json)\b' /dev/null)

# The index of the decisions names every page of them.
for page in docs/decisions/*.md; do
  [ "${page##*/}" = README.md ] || grep -qF "(${page##*/})" docs/decisions/README.md ||
    complain "$page: docs/decisions/README.md does not name it."
done

[ "$links" -gt 0 ] || complain "no link was found"
finish "${#pages[@]} pages, $links links"
