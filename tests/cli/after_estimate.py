"""What a fit after an estimate of bounds has, in mu: in a study, over a run whose epsilon and delta are added up.

usage: after_estimate.py TACIT TABLE SCHEMA LABEL     SCHEMA: some columns are left to the estimate
"""

import json
import math
import subprocess
import sys
import tempfile

tacit, table, schema, label = sys.argv[1:]
columns = json.load(open(schema))["columns"]
folder = tempfile.mkdtemp()


def put(name, content):
    json.dump(content, open(f"{folder}/{name}", "w"))
    return f"{folder}/{name}"


def fits_mu(*words):
    """The fit's own, of Gaussian releases alone, in the model that these words write."""
    model = f"{folder}/model.json"
    subprocess.run([tacit, *words, "-o", model], check=True, capture_output=True)
    file = json.load(open(model))
    file = next((stage["model"] for stage in file.get("stages", []) if "model" in stage), file)
    square = 0.0
    for event in file["privacy"]["fits"][0]["events"]:
        kind, _, rest = event.partition(":")
        said = dict(part.split("=") for part in rest.split(","))
        assert kind == "gaussian", event
        square += int(said["count"]) / float(said["noise"]) ** 2
    return math.sqrt(square)


named = put("named.json", {"columns": [each for each in columns if each["name"] != label], "label": {"name": label}})
whole = put("whole.json", {"columns": [{"name": label, "type": "category", "values": ["0", "1"]} if each["name"] == label else each for each in columns]})
least = math.inf
for epsilon in (0.1, 1, 8):
    for solver in ("auto", "dpgd"):
        fit = {"name": "fit", "kind": "fit", "label": label, "positive": "1", "loss": "logistic", "solver": solver}
        plan = put("plan.json", {"epsilon": epsilon, "delta": 1e-6, "stages": [{"name": "bounds", "kind": "estimate"}, fit]})
        study = fits_mu("study", table, "--plan", plan, "--schema", whole)
        added = fits_mu("train", table, "--schema", named, "--loss", "logistic", "--solver", solver, "--estimate", "bounds",
                        "--epsilon", str(epsilon), "--delta", "1e-6")  # fmt: skip
        print(f"epsilon {epsilon}, {solver}: mu {study:.5g} in a study, {added:.5g} added up, {study / added:.4f} times")
        least = min(least, study / added)
assert least >= 1.09, least
