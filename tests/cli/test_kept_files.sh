#!/usr/bin/env bash
# test_kept_files.sh - files of every private solver and of every form, kept in tests/files, are verified and planned again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kept=$here/../files
for file in "$kept"/*.json; do
  name=$(basename "$file" .json)
  ok "$name" verify "$file"
  check "$name is planned again" test -z "$(grep -i 'skipped\|in part' .out)"
done
for solver in $("$TACIT" components solver --json | python3 -c 'import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["components"] if s["private"] and s["name"] != "auto"))'); do
  check "there is a file of $solver" test -e "$kept/solver_$solver.json"
done

# A file that other rules planned is named and not planned again; what they cannot have written is refused.
other() { # other NAME RULES SENTENCE
  sed "s/\"plan_version\": 1,/\"plan_version\": 1, \"rules\": {$2},/" "$kept/solver_dpgd.json" >other.json
  tacit verify other.json
  check "$1 are refused" test "$code" = 1
  says "$1 are named" "$3"
}
other 'rules that never were' '"dpgd": 0' '^FAIL .*dpgd has rules of version 0'
other 'newer rules' '"dpgd": 2' '^FAIL .*dpgd has rules of version 2, which is not known here'
other 'rules of a solver that the file does not name' '"dpcd": 2' "^FAIL .*another 'rules'"
finish
