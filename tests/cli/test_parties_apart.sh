#!/usr/bin/env bash
# test_parties_apart.sh - gram_parties with every end in a network namespace of its own, 20 ms and 100 Mbit/s apart.
#
# Skipped where namespaces may not be made, or Python has no numpy.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"
bench=$here/../../bench/papers/parties_network.py
python=$here/../../build/venv/bin/python
[ -x "$python" ] || python=python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: $python has no numpy"; exit 77; }
run() { "$python" "$bench" "$(dirname "$TACIT")" --rows 500 --columns 9 --parties 3 "$@" 2>err; }

run --delay 20 --mbit 100 --model "$PWD/apart.json" >apart.out
got=$?
if grep -q '^skipped:' err; then
  cat err
  exit 77
fi
check "a run over three links ends well" [ $got = 0 ]
ok "its model is verified" verify apart.json
check "the parties were apart" grep -q '"apart": true' apart.json
finish
