#!/usr/bin/env bash
# check_laws.sh - laws of the sources that need no compiler: one place per fact, short lists, comments that hold.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mapfile -t files < <(project_files | grep -E '^(src|cli|include)/.*\.(c|h|def)$')

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

# A switch over a kind names every kind, so that the compiler finds those that a new one lacks.  What may have a default
# is listed: instruction sets, and numbers from other libraries, files and processes.
while IFS= read -r hit; do
  complain "$hit: default: in a switch over a kind; name the kinds"
done < <(awk '
  /switch \(/ { over = $0; sub(/.*switch \(/, "", over) }
  /^[[:space:]]*default:/ && over ~ /(kind|->layout|link|relation|neighbours|labels)/ && over !~ /tct_level|TCT_FUSED_KINDS|<</ {
    print FILENAME ":" FNR
  }' "${files[@]}")

# At most 7 parameters.  The functions that have more stand here by name, until they take a struct: no new one joins, and
# one that has changed leaves the list.
known=(tct_calibrate tct_calibrate_noise tct_calibrate_count ask propose tct_sum_lattice tct_gram tct_gradient_lattice
  tct_exact_transpose tct_fused_new tct_party_new
  tct_output_make certified block_sum hand_over)
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
  case " ${known[*]} " in *" $name "*) ;; *) complain "$file: $name has more than 7 parameters; group them in a struct" ;; esac
done <<<"$long"
for name in "${known[@]}"; do
  grep -q "^$name " <<<"$long" || complain "tools/check_laws.sh: $name has at most 7 parameters now; take it from the list"
done

# No name of a data set: a rule rests on a reason, and the page of docs/decisions/ has the runs.  The files that still
# have one stand here; a file without leaves the list.
sets='\b(a9a|bank|covtype|adult|higgs|rcv1|news20|mnist|ijcnn1?|w8a|ipums-br|nist_acs|phishing|census)\b'
diaries=(src/solve/auto.c src/solve/dual/dpscd.c src/solve/frank_wolfe/dpfw_plan.c src/solve/gradient/dpagd_plan.c src/solve/gradient/dpgd.c src/solve/gradient/dpnewton.c src/solve/gradient/gradient_release.c src/solve/gradient/privgene.c src/solve/minimiser/adassp.c src/solve/minimiser/objpert_balance.c)
named=$(grep -lE "$sets" "${files[@]}")
for file in $named; do
  case " ${diaries[*]} " in *" $file "*) ;; *) complain "$file: names a data set; the runs belong to docs/decisions/" ;; esac
done
for file in "${diaries[@]}"; do
  grep -qxF -- "$file" <<<"$named" || complain "tools/check_laws.sh: $file names no data set any more; take it from the list"
done

# Comments cite only files and functions that exist.
mapfile -t bases < <(project_files | sed 's,.*/,,' | sort -u)
declare -A is_file=() is_word=()
for each in "${bases[@]}"; do is_file[$each]=1; done
# comments FILE... : "file:line text of a comment" and, with code=1, the code without its comments.
split() {
  awk -v want="$1" '
    FNR == 1 { inside = 0 }
    {
      line = $0; code = ""; comment = ""
      while (line != "") {
        if (inside) {
          at = index(line, "*/")
          if (!at) { comment = comment line; line = ""; break }
          comment = comment substr(line, 1, at - 1) " "; line = substr(line, at + 2); inside = 0
        } else {
          at = index(line, "/*")
          if (!at) { code = code line; line = ""; break }
          code = code substr(line, 1, at - 1); line = substr(line, at + 2); inside = 1
        }
      }
      if (want == "code") print code
      else if (comment != "") print FILENAME ":" FNR " " comment
    }' "${@:2}"
}
mapfile -t everything < <(project_files | grep -E '^(src|cli|include|tests|bench|fuzz)/.*\.(c|h|def)$')
while IFS= read -r word; do is_word[$word]=1; done < <(split code "${everything[@]}" | grep -oE '\btct_[a-z0-9_]+' | sort -u)
# Names that a list makes: TCT_LOSS(name) and its like.
while IFS= read -r word; do is_word[$word]=1; done < <(for pair in loss:loss penalty:reg account:accountant solve:solver \
  read/format:format; do sed -nE "s/^TCT_[A-Z]+\(([a-z0-9_]+)\).*/tct_${pair#*:}_\1/p" "src/${pair%%:*}/list.def"; done)
while read -r where word; do
  case "$word" in
    tct_*) [ -n "${is_word[$word]:-}" ] || complain "$where: the comment cites $word, which does not exist" ;;
    *) [ -n "${is_file[$word]:-}" ] || complain "$where: the comment cites the file $word, which does not exist" ;;
  esac
done < <(split comments "${files[@]}" | awk '{
  where = $1
  text = substr($0, length($1) + 2)
  while (match(text, /[A-Za-z_][-A-Za-z0-9_]*\.(c|h|def|sh|py|md)([^A-Za-z0-9_(]|$)|tct_[a-z0-9_]*[a-z0-9]/)) {
    word = substr(text, RSTART, RLENGTH)
    before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
    text = substr(text, RSTART + RLENGTH)
    if (before ~ /[A-Za-z0-9_]/) continue
    sub(/[^A-Za-z0-9_]$/, "", word)
    if (word ~ /NAME/) continue  # any name
    if (word ~ /^tct_/ && (substr(text, 1, 1) ~ /[*_]/)) continue  # a family of names
    print where, word
  }
}')

# Lines of at most 120 characters in C; prose and scripts are their own affair.
while IFS= read -r hit; do complain "$hit: a line of more than 120 characters"; done < <(
  LC_ALL=C.UTF-8 awk 'length > 120 { print FILENAME ":" FNR }' "${everything[@]}")

finish "${#files[@]} files keep the laws"
