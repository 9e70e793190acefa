#!/usr/bin/env bash
# same_bits.sh - the same seed gives the same coefficients, events and claim in two builds, for every solver; and the same
# files on the command line and in Python, for what is made of fits (same_bits_doors.sh).
#
# usage: same_bits.sh BEFORE AFTER [SOLVER]    two build folders; SOLVER: only specs that begin so, and no doors
set -euo pipefail
before=$(cd "${1:?usage: same_bits.sh BEFORE AFTER [SOLVER]}" && pwd)
after=$(cd "${2:?usage: same_bits.sh BEFORE AFTER [SOLVER]}" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for side in before after; do
  cc -O1 -std=c11 -I"$root/include" "$root/tools/same_bits.c" -o "$work/$side" -L"${!side}" -ltacit -lm
  # Settings that older builds write under another name count as the same.
  LD_LIBRARY_PATH="${!side}" "$work/$side" "${3:-}" | sed 's/\([:,]\)walk=/\1path_length=/g; s/\([:,]\)share=/\1budget_fraction=/g' \
    >"$work/$side.txt"
done
if ! cmp -s "$work/before.txt" "$work/after.txt"; then
  diff "$work/before.txt" "$work/after.txt" | grep '^[<>]' | cut -c1-400 | head -60
  echo "different: $(diff "$work/before.txt" "$work/after.txt" | grep -c '^>') of $(wc -l <"$work/after.txt") runs"
  exit 1
fi
echo "the same: $(grep -vc refused "$work/after.txt") runs; refused by both: $(grep -c refused "$work/after.txt")"
[ -z "${3:-}" ] || exit 0
for side in before after; do "$root/tools/same_bits_doors.sh" "${!side}" "$work/tables" "$work/doors_$side"; done
if ! diff -rq "$work/doors_before" "$work/doors_after"; then
  echo "different: files of the command line or of Python, named above"
  exit 1
fi
echo "the same: $(find "$work/doors_after" -type f | wc -l) files of the command line and of Python"
