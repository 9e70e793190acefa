#!/usr/bin/env bash
# test_policy.sh - tacit verify --policy: every rule on every kept file against the rule said again, a ledger with and
# without an anchor, an audit, and policies that are none.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
root=$here/../..

# ---- every rule on every file: the answer follows from the file by the rule's words ----
cat >rules.py <<'PY'
import glob, json, os, subprocess, sys, time
tacit, folder, *studies = sys.argv[1:]
program = {  # rule: limits, and whether the rule keeps for the facts of a file
    "max_epsilon": ([0.5, 1, 2, 1e9], lambda f, x: f["private"] and f["epsilon"] <= x),
    "max_delta": ([0, 1e-6, 1], lambda f, x: f["private"] and f["delta"] <= x),
    "max_delta_times_records": ([1e-9, 0.01, 1e9], lambda f, x: f["private"] and f["delta"] * f["rows"] <= x),
    "min_records": ([0, 180, 900, 901], lambda f, x: f["least"] >= x),
    "units": ([["person"], ["record"], ["person", "record"]], lambda f, x: f["private"] and f["unit"] in x),
    "neighbours": ([["add_remove"], ["replace_one"]], lambda f, x: f["private"] and f["neighbours"] in x),
    "accountants": ([["gdp"], ["gdp", "pld", "basic"]], lambda f, x: f["accountant"] in x),
    "allow_older_rules": ([False, True], lambda f, x: x or f["replanned"]),
    "allow_seed": ([False, True], lambda f, x: x or not f["seed"]),
    "allow_test_ledger": ([False, True], lambda f, x: x or not f["tests"]),
    "allow_unaccounted": ([False, True], lambda f, x: x or not f["unaccounted"]),
    "allow_weak_promise": ([False, True], lambda f, x: x or not f["weak"]),
    "require_ledger": ([False, True], lambda f, x: not x),
    "require_anchor": ([False, True], lambda f, x: not x),
    "max_ledger_epsilon": ([1e9], lambda f, x: False),
    "require_audit": ([False, True], lambda f, x: not x),
}

def facts(path):
    file = json.load(open(path))
    claim = file["claim"] if "claim" in file else file["privacy"]
    private = claim["epsilon"] != "NONE"
    rows = [s["rows"] for s in file["stages"]] if "stages" in file else [file["rows"]]
    f = dict(private=private, epsilon=claim["epsilon"], delta=claim["delta"], rows=max(rows), least=min(rows), accountant=claim["accountant"])
    f["unit"] = "person" if "person" in claim["unit"].split(".")[0].lower() else "record"
    f["neighbours"], f["unaccounted"] = claim["neighbours"], claim["unaccounted"]
    f["seed"] = claim["noise"] == "reproducible"
    f["tests"] = "ledger" in claim and claim["ledger"].get("for_tests", False)
    said = json.loads(subprocess.run([tacit, "verify", path, "--json"], capture_output=True, text=True).stdout)
    f["replanned"] = said["replanned"]
    f["weak"] = private and (f["epsilon"] > 8 or f["delta"] * f["rows"] >= 1)
    return f, said

count = broken = 0
today = int(time.time() / 86400)
turns = [today % 4, (today + 1) % 4] if int(os.environ.get("TCT_SAMPLE", "1")) > 1 else range(4) # two of four, by the day
paths = sorted(p for p in glob.glob(folder + "/*.json") if "format" in json.load(open(p))) + studies
for path in paths:
    f, said = facts(path)
    assert said["ok"], path
    for turn in turns:
        policy = {rule: limits[turn % len(limits)] for rule, (limits, _) in program.items()}
        json.dump({"format": "tacit-policy", "name": "t", **policy}, open("p.json", "w"))
        done = subprocess.run([tacit, "verify", path, "--policy", "p.json", "--json"], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        rules = {r["rule"]: r["ok"] for r in answer["policy"]["rules"]}
        want = {rule: bool(holds(f, policy[rule])) for rule, (_, holds) in program.items()}
        assert rules == want, (path, {r: (rules.get(r), want[r], policy[r]) for r in want if rules.get(r) != want[r]})
        assert answer["policy"]["ok"] == all(want.values()) and done.returncode == (0 if all(want.values()) else 5)
        del answer["policy"]
        assert answer == said, path  # a policy changes no verdict
        count, broken = count + len(want), broken + sum(not w for w in want.values())
print(len(paths), "files", len(turns), "of 4 policies,", count, "rules", broken, "broken")
assert len(paths) >= 30 and broken > 75 * len(turns) and count - broken > 75 * len(turns)
PY
ok 'a table' generate --rows 2000 --seed 4 -o t.csv
ok 'a study' moments t.csv --schema t.schema.json --epsilon 1 --delta 1e-6 --seed 3 -o moments.json
ok 'one whose delta is above one in its records' moments t.csv --schema t.schema.json --epsilon 1 --delta 1e-3 --seed 3 -o weak.json
cases=$((cases + 1))
python3 rules.py "$TACIT" "$root/tests/files" moments.json weak.json || fail 'a rule of a policy'

# refused NAME CODE REGEX ARGS... : exits CODE with that sentence, and prints what it checked.
refused() {
  local name=$1 expected=$2 regex=$3
  shift 3
  tacit "$@"
  check "$name: exit $code" test "$code" = "$expected"
  check "$name: says" grep -qE -- "^tacit: .*$regex" .err
  says "$name: prints" '^ok '
}

# ---- the whole way: a ledger with an anchor elsewhere, an audit, the example's policy ----
mkdir away
ok 'a ledger' ledger people.ledger --init --epsilon 3 --delta 1e-5 --anchor away/anchor
ok 'a model' train t.csv --schema t.schema.json --loss logistic --solver dpgd:steps=3 --epsilon 0.9 --delta 1e-6 --ledger people.ledger -o m.json
"$TACIT" audit --loss logistic --solver dpgd:steps=3 --epsilon 0.9 --delta 1e-6 --schema t.schema.json --records 2000 --seconds 1 --json >audit.json
sed 's/"person"/"person", "record"/; s/"require_audit": false/"require_audit": true/' "$root/examples/policy.json" >gate.json
ok 'all rules keep' verify m.json --ledger people.ledger --policy gate.json --audit audit.json
check 'each is said' test "$(grep -c '^ok ' .out)" -gt 25
refused 'a rule that asks for a ledger' 5 'the policy does not allow it: .*none was given' verify m.json --policy gate.json --audit audit.json
refused 'for an audit' 5 'no audit of its plan' verify m.json --ledger people.ledger --policy gate.json
ok 'another plan' train t.csv --schema t.schema.json --loss logistic --solver dpgd:steps=4 --epsilon 0.5 --delta 1e-6 --ledger people.ledger --input-changed no -o other.json
refused 'the audit of another plan' 5 'another plan' verify other.json --ledger people.ledger --policy gate.json --audit audit.json
python3 - <<'PY'
import json
a = json.load(open("audit.json")); a["breaks"] = ["x"]; json.dump(a, open("broken.json", "w"))
a["breaks"], a["unmoved"] = [], ["persons"]; json.dump(a, open("partly.json", "w"))
del a["unmoved"]; json.dump(a, open("older.json", "w"))
own = json.load(open("m.json"))["privacy"]["fits"][0]  # the audit of a plan that is another in one member
for member in "asked solver promise releases events epsilon delta".split():
    a = json.load(open("audit.json")); fit = a["plan"]["fits"][0]; assert fit[member] == own[member], member
    fit[member] = fit[member] / 2 if member in ("epsilon", "delta") else [fit[member]]
    json.dump(a, open(f"audit.{member}.json", "w"))
m = json.load(open("m.json")); m["privacy"]["epsilon"] = 0.5; json.dump(m, open("forged.json", "w"))
PY
refused 'an audit that found a break' 5 'found 1 break' verify m.json --ledger people.ledger --policy gate.json --audit broken.json
for member in asked solver promise releases events epsilon delta; do
  refused "the audit of another plan: $member" 5 'another plan' verify m.json --ledger people.ledger --policy gate.json --audit audit.$member.json
done
for half in partly older; do
  refused "an audit that moved a part alone: $half" 5 'moved only a part' verify m.json --ledger people.ledger --policy gate.json --audit $half.json
done
refused 'a forged claim is not verified, and no policy is asked' 1 'not verified' verify forged.json --ledger people.ledger --policy gate.json --audit audit.json
echo '{"format": "tacit-policy", "max_epsilon": 1}' >one.json
"$TACIT" verify forged.json --ledger people.ledger --policy one.json --json >forged.answer
check 'nor does it keep one whose rules all hold' python3 -c 'import json; p = json.load(open("forged.answer"))["policy"]; assert not p["ok"] and all(r["ok"] for r in p["rules"]), p'
mv away/anchor away/lost
refused 'a lost anchor' 5 'anchor' verify m.json --ledger people.ledger --policy gate.json --audit audit.json
mv away/lost away/anchor
sed -i 's/"max_ledger_epsilon": 4/"max_ledger_epsilon": 2/' gate.json
refused 'a ledger with more budget' 5 'whole budget of the ledger is epsilon 3' verify m.json --ledger people.ledger --policy gate.json --audit audit.json

# ---- a study: delta counts for the stage of most records, 900, and its fewest, 180, are what is required ----
for limit in max_delta_times_records:0.0089:0.0091 min_records:181:180; do
  IFS=: read -r rule breaks keeps <<<"$limit"
  printf '{"format": "tacit-policy", "%s": %s}' "$rule" "$keeps" >keeps.json
  printf '{"format": "tacit-policy", "%s": %s}' "$rule" "$breaks" >breaks.json
  ok "stages of 180 to 900 records: $rule" verify "$root/tests/files/study.json" --policy keeps.json
  refused "and not beyond: $rule" 5 'the policy does not allow it' verify "$root/tests/files/study.json" --policy breaks.json
done

# ---- the entry in a registry: the keys of its template, and the figures of the file ----
ok 'an entry' report m.json --registry entry.json --title 'Income' --purpose 'Study 12' --contact a@b.example
check 'and no page' test ! -s .out
cases=$((cases + 1))
python3 - <<'PY' || fail 'the entry of a registry'
import json
entry, file = json.load(open("entry.json")), json.load(open("m.json"))
keys = {  # of the registry's template, version of 2026; all optional ones are left out
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name trust_assumptions release_type release_type_details data_source_type access_type",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification additional_information",
    "administrative": "evidence_sources status registry_authors tier",
}
d, claim = entry["deployment"], file["privacy"]
assert set(entry) == {"url_slug", "deployment"} and set(d) == set(keys)
for part, names in keys.items():
    assert set(d[part]) == set(names.split()), part
assert d["privacy_loss"]["privacy_parameters"] == {"epsilon": claim["epsilon"], "delta": claim["delta"]}
assert d["privacy_loss"]["privacy_unit_details"] == claim["unit"] and d["deployment_model"]["trust_assumptions"] == claim["trust"]
assert d["dp_variant"]["variant_name"] == "Approximate DP" and "ledger" in d["deployment_model"]["release_type_details"]
assert all(event in d["implementation"]["composition"] for event in claim["events"])
assert all(r["what"] in d["implementation"]["mechanisms"] for r in claim["fits"][0]["releases"])
filled = [d[p][k] for p in ("dp_variant", "privacy_loss", "deployment_model") for k in d[p]]
assert all(filled), "a field about privacy is left to hands"
PY
bad 'no entry for seeded noise' 2 'only a private model that is verified' report "$root/tests/files/solver_dpgd.json" --registry no.json
check 'and no file' test ! -e no.json
bad 'an entry over its model' 2 '.' report m.json --registry m.json

# ---- what is no policy ----
wrong() { printf '%s\n' "$1" >w.json && bad "$1" "$2" "$3" verify m.json --policy w.json; }
wrong '[]' 3 'no JSON object'
wrong '{"max_epsilon": 1}' 3 'tacit-policy'
wrong '{"format": "tacit-policy", "name": "none"}' 3 'no rule'
wrong '{"format": "tacit-policy", "max_epsilom": 1}' 3 'max_epsilom.*does not know'
wrong '{"format": "tacit-policy", "max_epsilon": "1"}' 3 'max_epsilon.*a number'
wrong '{"format": "tacit-policy", "max_epsilon": -1}' 3 'max_epsilon.*at least 0'
wrong '{"format": "tacit-policy", "units": "person"}' 3 'units.*list of words'
wrong '{"format": "tacit-policy", "units": []}' 3 'units.*list of words'
wrong '{"format": "tacit-policy", "allow_seed": 0}' 3 'allow_seed.*true or false'
wrong '{"format": "tacit-policy", "max_epsilon": 1, "max_epsilon": 9}' 3 'is not a policy'
bad 'no file' 3 'is not a policy' verify m.json --policy none.json
bad 'an audit without a policy' 2 'name it with --policy' verify m.json --audit audit.json
finish
