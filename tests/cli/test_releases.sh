#!/usr/bin/env bash
# test_releases.sh - the plan, the model file and the page name the same releases, with lengths and deviations in the
# units of their sums.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ok 'people' generate --rows 400 -o c.csv
spec=(--epsilon 1 --delta 1e-6 --loss logistic --penalty l2:lambda=0.05 --solver dpnewton)
ok 'plan' train --dry-run --shape 400,5 --row-norm 1.5 "${spec[@]}"
says 'the plan names the matrix' '^releases +sum of x x\^T: sensitivity 2\.25 \(l2\), deviation [0-9.]+, 1 times$'
says 'and the gradients' '^ +sum of clipped gradients: sensitivity [0-9.]+ \(l2\), deviation [0-9.]+, 35 times$'
cp "$work/.out" plan.txt
ok 'train' train c.csv --schema c.schema.json "${spec[@]}" -o m.json
ok 'page' report m.json -o m.html

cat >releases.py <<'PY'
import json, re

# A line of the plan: deviation is the noise multiplier of the event times the sensitivity.
plan = open("plan.txt").read()
noises = [float(x) for x in re.findall(r"gaussian:noise=([0-9.]+)", plan)]
lines = [tuple(map(float, x)) for x in re.findall(r"sensitivity ([0-9.]+) \(l2\), deviation ([0-9.]+)", plan)]
assert len(noises) == len(lines) == 2, plan
for noise, (length, deviation) in zip(noises, lines):
    assert abs(deviation - noise * length) <= 1e-6 * deviation, (noise, length, deviation)

# The page has how often each was made, and its noise in units of what one record can add.
releases = json.load(open("m.json"))["privacy"]["fits"][0]["releases"]
page = open("m.html").read()
shown = {key: [float(x) for x in re.findall(rf'data-field="derived\.{key}" value="([^"]+)"', page)] for key in ("times", "noise")}
assert shown["times"] == [release["count"] for release in releases], shown
ratios = [release["deviation"] / release["sensitivity"] for release in releases]
assert all(abs(a - b) <= 1e-12 * b for a, b in zip(shown["noise"], ratios, strict=True)), (shown, ratios)
assert "Which way the weights should move" in page and "How the columns go together" in page
PY
check 'deviations are noise times length, and the page shows the file' python3 releases.py
finish
