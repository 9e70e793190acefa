#!/usr/bin/env bash
# test_mistakes.sh - realistic slips (mistakes.txt): one sentence that says what to write instead, and nothing is made.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$TACIT" generate --rows 300 --seed 1 -o people.csv >/dev/null
"$TACIT" train people.csv --schema people.schema.json --loss logistic --epsilon 1 --delta 1e-6 -o model.json >/dev/null 2>&1
before=$(ls | sort)
while IFS='|' read -r code regex line <&3; do
  case $code in '#'* | '') continue ;; esac
  read -ra words <<<"$line"
  bad "tacit $line" "$code" "$regex" "${words[@]}"
done 3<"$here/mistakes.txt"
check 'no mistake makes a file' test "$(ls | sort)" = "$before"
check 'there are many of them' test "$cases" -ge 60
finish
