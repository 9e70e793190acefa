#!/usr/bin/env bash
# check_proofs.sh - checks the proofs of docs/proofs/coq, what they rest on, and the tables that the C code is tested by.
#
#   tools/check_proofs.sh          exit code 77, and a loud line, where Coq is missing (tools/setup.sh proofs installs it)
#   tools/check_proofs.sh --fix    writes tests/unit/proofs.def anew
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
table=tests/unit/proofs.def
command -v coqc >/dev/null || { echo "check_proofs.sh: SKIPPED, NOTHING WAS PROVED: coqc is missing; run tools/setup.sh proofs"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp docs/proofs/coq/*.v "$work"
cd "$work" || exit 1

# The axioms of the reals of Coq's standard library.
allowed='ClassicalDedekindReals.sig_not_dec ClassicalDedekindReals.sig_forall_dec
FunctionalExtensionality.functional_extensionality_dep Classical_Prop.classic'
cheat=$(grep -nE '\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|Unset Guard)\b' ./*.v)
[ -z "$cheat" ] || complain "a proof is left out: $cheat"
theorems=0
for file in *.v; do
  said=$(coqc -Q . Tacit "$file" 2>&1) || { complain "$file: $said"; continue; }
  for axiom in $(grep -oE '^[A-Za-z_.]+ *(:|$)' <<<"$said" | tr -d ': ' | grep -v '^Axioms$' | sort -u); do
    grep -qw -- "$axiom" <<<"$allowed" || complain "$file rests on $axiom"
  done
  shown=$(grep -cE '^(Closed under the global context|Axioms:)' <<<"$said")
  asked=$(grep -c '^Print Assumptions' "$file")
  [ "$shown" = "$asked" ] && [ "$asked" -gt 0 ] || complain "$file: $asked assumptions asked for, $shown shown"
  for theorem in $(grep -oE '^Theorem [A-Za-z0-9_]+' "$file" | cut -d' ' -f2); do
    theorems=$((theorems + 1))
    grep -q "^Print Assumptions $theorem\.$" "$file" || complain "$file: what $theorem rests on is not shown"
  done
  printf '%s rests on: %s\n' "$file" "$(grep -oE '^[A-Za-z_.]+ *(:|$)' <<<"$said" | tr -d ': ' | grep -v '^Axioms$' | sort -u | tr '\n' ' ')" | sed 's/: $/: no axiom/'
done

# rows NAME TABLE SUFFIX: the rows of a table of Gate.v as calls of a macro.
rows() {
  printf 'Require Import ZArith List.\nImport ListNotations.\nOpen Scope Z_scope.\nFrom Tacit Require Import Gate.\nSet Printing Depth 1000000.\nEval vm_compute in %s.\n' "$2" >one.v
  coqc -Q . Tacit one.v | tr -d ' \n' | sed 's/^=\[(//; s/)\]:.*$//; s/);(/\n/g' | tr -d '[]()' | tr ';' ',' |
    sed -E "s/([0-9]+)/\1$3/g; s/.*/$1(&)/"
  echo
}
{
  echo "/* proofs.def - computed by Coq from the definitions of docs/proofs/coq/Gate.v: tools/check_proofs.sh --fix. */"
  rows GATE gate_table ""
  rows TRUNCATED truncation_table ""
  rows ROUNDED rounding_table U
} >made.def
cd "$OLDPWD" || exit 1
if [ "${1:-}" = --fix ]; then
  cp "$work/made.def" "$table"
else
  cmp -s "$work/made.def" "$table" || complain "$table is not what the definitions give; run tools/check_proofs.sh --fix"
fi
finish "$theorems theorems, $(grep -c '^[A-Z]' "$table") rows of tables"
