#!/usr/bin/env bash
# neutral.sh - a newer option that is neutral joins the table of every solver: no kept file changes its verdict, and a seed
# still writes the same bytes.
#
#   tests/adding/neutral.sh BUILD_DIR
#
# The changed tables are compiled with the build's own commands, and linked before the library into a program of their own.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?usage: neutral.sh BUILD_DIR}" && pwd)
spot=$build/neutral
rm -rf "$spot"
mkdir -p "$spot"
[ -f "$build/build.ninja" ] && ninja -C "$build" -t commands >"$spot/commands" || { echo "skipped: no Ninja build"; exit 77; }
if grep -q -- '-fsanitize' "$spot/commands"; then
  echo "skipped: a build with sanitizers tells nothing more about this"
  exit 77
fi
failed=0 objects=
complain() { echo "neutral: $1"; failed=1; }

row='{"novel", TCT_OPT_REAL, "0", 0, 1, NULL, "an option of newer rules", 2, "0"},'
while IFS= read -r file; do
  mkdir -p "$spot/$(dirname "$file")"
  sed -E "s/^((static )?const tct_option [a-z_]+\[\] = \{)/\1 $row/" "$root/$file" >"$spot/$file"
  command=$(grep -E -- " -c $root/$file\$" "$spot/commands" | grep -v TCT_POINTS | head -1)
  command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; s# -o [^ ]+# -w -o $spot/$file.o#; \
    s# -c [^ ]+\$# -I$(dirname "$root/$file") -c $spot/$file#; s# -O3# -O1#" <<<"$command")
  (cd "$build" && eval "$command") || complain "$file does not compile"
  objects+=" $spot/$file.o"
done < <(cd "$root" && grep -rlE '^(static )?const tct_option [a-z_]+\[\] = \{' src/solve extra --include='*.c' | sort)
link=$(grep -E -- ' -o tacit ' "$spot/commands" | head -1)
link=$(sed -E "s# -o tacit #$objects -Wl,--allow-multiple-definition -o $spot/tacit #" <<<"$link")
(cd "$build" && eval "$link") || complain "does not link"

tables=$("$spot/tacit" components solver | grep -c '^      novel ')
[ "$tables" -ge 25 ] || complain "only $tables tables have the new option"
for file in "$root"/tests/files/*.json; do
  out=$("$spot/tacit" verify "$file") || complain "$(basename "$file") is no longer verified: $(grep FAIL <<<"$out")"
  grep -q skipped <<<"$out" && complain "$(basename "$file") is not planned again"
done
for program in "$spot/tacit" "$build/tacit"; do
  "$program" train "$root/tests/files/small.csv" --label y --loss logistic --row-norm 2 --solver dpgd:steps=3 --epsilon 1 \
    --delta 1e-5 --seed 1 -o "$spot/$(basename "$(dirname "$program")").json" >/dev/null 2>&1 || complain "no training"
done
cmp "$spot/neutral.json" "$spot/$(basename "$build").json" || complain "a seed writes another file"
"$spot/tacit" train "$root/tests/files/small.csv" --label y --loss logistic --row-norm 2 --solver dpgd:steps=3,novel=1 --epsilon 1 \
  --delta 1e-5 --seed 1 -o "$spot/novel.json" >/dev/null 2>&1
grep -q 'novel=1' "$spot/novel.json" || complain "an option that is not neutral is not in the file"

# Rules of one solver with a higher version: its files are verified in part, by name and as JSON, and no others.
command=$(grep -E -- " -c $root/src/solve/gradient/dpgd.c\$" "$spot/commands" | grep -v TCT_POINTS | head -1)
sed 's/^    \.name = "dpgd",/&\n    .rules = 2,/' "$root/src/solve/gradient/dpgd.c" >"$spot/raised.c"
command=$(sed -E "s#^(.*ccache )?([^ ]+)#\2#; s# -MD| -MT [^ ]+| -MF [^ ]+##g; s# -o [^ ]+# -w -o $spot/raised.o#; \
  s# -c [^ ]+\$# -I$root/src/solve/gradient -c $spot/raised.c#; s# -O3# -O1#" <<<"$command")
(cd "$build" && eval "$command") || complain "raised rules do not compile"
link=$(grep -E -- ' -o tacit ' "$spot/commands" | head -1)
link=$(sed -E "s# -o tacit # $spot/raised.o -Wl,--allow-multiple-definition -o $spot/raised #" <<<"$link")
(cd "$build" && eval "$link") || complain "raised rules do not link"
"$build/tacit" train "$root/tests/files/small.csv" --label y --loss logistic --row-norm 2 --solver dpgd:steps=3 --epsilon 1 \
  --delta 1e-5 -o "$spot/fresh.json" >/dev/null 2>&1 || complain "no training"
open='older rules planned this file, and whether its settings give its releases was not checked'
for file in "$root"/tests/files/*.json "$spot/fresh.json"; do
  [ "${file##*/}" != study.json ] || continue # planned whole: what older rules planned in a study is refused
  out=$("$spot/raised" verify "$file") || complain "$(basename "$file") is not verified under raised rules"
  of_them=$(grep -cE '"solver": *"dpgd' "$file") told=$(tail -1 <<<"$out" | grep -c "$open")
  [ $((of_them > 0)) = "$told" ] || complain "$(basename "$file"), raised rules: $(tail -1 <<<"$out")"
done
[[ $(tail -1 <<<"$out") == 'VERIFIED IN PART: '* ]] || complain "older rules: $(tail -1 <<<"$out")"
"$spot/raised" verify "$spot/fresh.json" --json | grep -q '"verdict": *"in_part"' || complain "older rules are no verdict"

echo "neutral: $tables tables with a newer option, $(ls "$root"/tests/files/*.json | wc -l) files"
exit $failed
