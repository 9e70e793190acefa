#!/usr/bin/env python3
"""verify_edits.py - edits every field of the model files in this folder, one at a time, and asks verify.

usage: verify_edits.py LIBRARY [NAME...]

Free fields are edited once each.  Files whose plan takes long to calibrate (FEW) get one edit of each field of
`privacy` and `parties`, the slowest (SLOW) of their releases alone; what other fields mean to verify does not depend on
the solver.

With TCT_SAMPLE=N every N-th edit is tried, others each day; of files of searches (PLANNED) every 3 N-th.

Files that were charged to the ledger `L` are compared with it too: every edit of what was asked for, also where all that
follows from it was made anew (by $TACIT), and five forgeries of whole claims.
"""
import copy, ctypes, functools, itertools, json, math, os, re, subprocess, sys, time

from file_edits import edits, fields, placed, removed

lib = ctypes.CDLL(sys.argv[1])
lib.tct_verify_json.argtypes = [ctypes.c_char_p] * 5 + [ctypes.c_void_p] * 2
lib.tct_verify_json.restype = ctypes.c_void_p

def report_of(text):
    return json.loads(ctypes.string_at(lib.tct_verify_json(None, text.encode(), None, None, None, None, None)))

def weight_bound(text):
    """What verify says that no weight of this plan exceeds; infinite where it says nothing."""
    said = [c["text"] for c in report_of(text)["checks"] if c["name"] == "weights"]
    return float(re.search(r"above (\S+),", said[0]).group(1)) if said else math.inf

def verdict_of(text, path="edited.json", ledger=None):
    with open(path, "w") as out:
        out.write(text)
    verdict = ctypes.c_int()
    answer = lib.tct_verify_json(path.encode(), None, ledger, None, None, ctypes.byref(verdict), None)
    return verdict.value if answer else REFUSED

REFUSED, VERIFIED = 0, 1

def verified(text):
    return verdict_of(text) != REFUSED

def without_fits(model):
    """Nothing binds such a file to a run."""
    old = {**copy.deepcopy(model), "version": 1}
    if len(old.get("classes", ())) == 2:
        del old["classes"]
    for key in ("fits", "weights", "choice", "estimate"):
        old["privacy"].pop(key, None)
    return old

# ---- with the ledger ----

lib.tct_ledger_check_json.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_void_p]
lib.tct_ledger_check_json.restype = ctypes.c_void_p

def entry_holds(model, path="edited.json"):
    """Is the model as its entry in the ledger says it?  Nothing is planned again."""
    with open(path, "w") as out:
        json.dump(model, out)
    text = lib.tct_ledger_check_json(b"L", ctypes.byref(ctypes.c_char_p(path.encode())), 1, None)
    return json.loads(ctypes.string_at(text))["ok"]

# What an estimate finds, or leaves: verify knows these from the estimate and from the schema.
FOUND = tuple(f"privacy/fits/0/asked/{key}" for key in ("epsilon", "delta", "columns", "label_bound", "label_shift"))
ASKED = re.compile("privacy/(choice|noise|fits/\\d/(count|asked/.*)|estimate/asked/.*)$")

def asked_edits(model):
    for path, value in fields(model, 3):
        word = "/".join(map(str, path))
        if ASKED.match(word) and not ("estimate" in model["privacy"] and (word in FOUND or word.endswith("count"))):
            yield from ((word, placed(model, path, new)) for new in edits(value) if new != value)
            yield word, removed(model, path)

def planned_anew(model, asked):
    """The file of a run that asked for this, all that follows from it made by a dry run; None: there is no such plan."""
    options = {"--row-norm": "row_norm", "--rows": "rows_rule", "--label-bound": "label_bound", "--label-shift": "label_shift",
               **{"--" + key: key for key in ("loss", "penalty", "solver", "neighbours", "epsilon", "delta")}}
    words = [word for option, key in options.items() if asked[key] not in (None, 0) for word in (option, str(asked[key]))]
    words += ["--shape", f"{asked['rows']},{asked['columns']}"] + ["--no-intercept"] * (not asked["intercept"])
    ran = subprocess.run([os.environ["TACIT"], "train", "--dry-run", "--json", *words], capture_output=True, text=True)
    if ran.returncode:
        return None
    plan, out = json.loads(ran.stdout), copy.deepcopy(model)
    fit = plan["fits"][0]
    out.update({key: plan[key] for key in ("loss", "penalty", "solver", "rows")})
    out["privacy"].update({key: fit[key] for key in ("epsilon", "delta", "events", "accountant")}, fits=[fit])
    out["transforms"].update({key: asked[key] for key in ("row_norm", "label_bound", "label_shift", "intercept")}, rows=asked["rows_rule"])
    out["intercept"] *= asked["intercept"]
    return out

def anew_edits(model):
    """What makes files that agree in themselves, of another run: only the ledger knows that there was none such."""
    asked = model["privacy"]["fits"][0]["asked"]
    others = {key: asked[key] * 2 for key in ("row_norm", "label_bound", "label_shift", "rows") if asked[key]}
    others.update({key: asked[key] / 2 for key in ("epsilon", "delta")}, rows_rule="unit", penalty="l2:lambda=0.5",
                  intercept=not asked["intercept"], solver=model["solver"])
    return [(key, functools.partial(planned_anew, model, {**asked, key: value})) for key, value in others.items() if value != asked[key]]

def as_person(model):
    out = copy.deepcopy(model)
    out["privacy"]["unit"] = "One person: all of that person's records together removed; the number of records and the schema are public."
    out["privacy"]["weights"] = {"cap": 1.0, "of": "person"}
    return out

def as_cheaper(model):
    """The mean made 1, and the claim what such a search costs, to the digits that verify prints and the few that follow."""
    out = copy.deepcopy(model)
    privacy = out["privacy"]
    privacy["choice"] = re.sub(r"mean=\d+", "mean=1", privacy["choice"])
    text = [c["text"] for c in report_of(json.dumps(out))["checks"] if c["name"] == "selection"][0]
    cost = float(re.search(r"cost epsilon (\S+)$", text).group(1))
    for step in range(-12, 13):
        privacy["epsilon"] = cost * (1 + step * 5e-10)
        privacy["events"] = [re.sub("epsilon=[^,]+", "epsilon=%.17g" % privacy["epsilon"], privacy["events"][0])]
        if all(c["ok"] for c in report_of(json.dumps(out))["checks"] if c["name"].startswith("selection")):
            return out
    raise AssertionError("no price was met")

def as_one_try(model):
    """The file of a search of single tries with half the epsilon, planned anew."""
    words = "--records 400 --schema c.schema.json --candidates claims/grid.txt --loss logistic --epsilon 0.5 --delta 1e-5 --tries 1"
    ran = subprocess.run([os.environ["TACIT"], "search", "--dry-run", "--json", *words.split()], capture_output=True, text=True, check=True)
    plan, out = json.loads(ran.stdout), copy.deepcopy(model)
    out["privacy"].update({key: plan[key] for key in ("epsilon", "delta", "events", "accountant", "fits", "choice")})
    for fit in plan["fits"]:
        if fit["asked"]["penalty"] == model["penalty"]:
            out["solver"] = fit["solver"]
    return out

def as_one_fit(model):
    for fit in model["privacy"]["fits"]:
        out = copy.deepcopy(model)
        del out["privacy"]["choice"]
        out["privacy"].update({key: fit[key] for key in ("epsilon", "delta", "events", "accountant")}, fits=[fit])
        if verified(json.dumps(out)):
            break
    return out

def as_known_bounds(model):
    out = copy.deepcopy(model)
    out["privacy"].update(out["privacy"].pop("estimate")["rest"])
    for column in [*out["transforms"]["schema"]["columns"], out["transforms"]["schema"]["label"]]:
        column.pop("estimated", None)
    return out

def as_system(model):
    out = copy.deepcopy(model)
    trust = json.load(open("claims/fit.json"))["privacy"]["trust"]
    out["privacy"].update(noise="system", trust=trust)
    del out["privacy"]["ledger"]["for_tests"]
    return out

# Each verifies by itself, and tells less than was spent.
FORGERIES = (("search", as_one_try), ("search", as_one_fit), ("fit", as_person), ("estimated", as_known_bounds), ("seeded", as_system))

# What no check without the data can know; docs/reference/format/model.md has the list with reasons.
FREE = ("coefficients", "intercept", "classes", "features", "label", "library", "note", "transforms/schema",
        "inference/sampling", "inference/noise", "inference/degrees", "inference/survival", "inference/withheld", "inference/change", "inference/residual",
        "transforms/scale_factor", "transforms/scale_shift", "privacy/unaccounted", "privacy/ledger",
        "privacy/noise", "privacy/weights/cap", "parties/uplink_bytes", "parties/one_shot_bytes", "parties/list")

# Of a follow-up's label all is bound but what its event is called.
FOLLOW_UP = ("transforms/schema/label", "transforms/schema/label/time", "transforms/schema/label/horizon", "label")

def is_free(path, model):
    """How many candidates of a search did not win, its ledger knows."""
    if model["loss"] == "cox" and path in FOLLOW_UP:
        return False
    others = path == "privacy/fits" and "choice" in model["privacy"]
    return others or any(path == f or path.startswith(f + "/") for f in FREE)

def filled(value, large):
    return [filled(each, large) for each in value] if isinstance(value, list) else large

def fewer_classes(model):
    """The same claim with one class less, and less of what is bound to their number."""
    cut = {**copy.deepcopy(model), **{key: model[key][:-1] for key in ("classes", "coefficients", "intercept")}}
    yield "a class taken out", cut
    for fit in cut["privacy"]["fits"]:
        fit["count"] -= 1
    yield "a class taken out, and counted", copy.deepcopy(cut)
    kinds = len(model["privacy"]["events"]) // len(model["classes"])
    cut["privacy"]["events"] = model["privacy"]["events"][kinds:]
    yield "a class taken out, counted, and its events", cut

def without_estimate(model):
    """What an estimate of bounds cost, dropped in part: the file says less than was spent."""
    cut = copy.deepcopy(model)
    rest = cut["privacy"]["estimate"]["rest"]
    for column in [*cut["transforms"]["schema"]["columns"], cut["transforms"]["schema"]["label"]]:
        column.pop("estimated", None)
    yield "marks dropped", copy.deepcopy(cut)
    marked = copy.deepcopy(model)
    del marked["privacy"]["estimate"]
    marked["privacy"].update(rest)
    yield "estimate dropped, the claim made the fit's", marked
    yield "estimate dropped, the claim as it was", {**cut, "privacy": {k: v for k, v in cut["privacy"].items() if k != "estimate"}}
    small = copy.deepcopy(model)
    first = [c for c in small["transforms"]["schema"]["columns"] if c.get("estimated")][0]
    del first["estimated"]
    small["privacy"]["estimate"]["asked"]["columns"] -= 1
    yield "a column fewer", small

names = sys.argv[2:] or [f[:-5] for f in sorted(os.listdir(".")) if f.endswith(".json") and "schema" not in f and f != "edited.json"]
# A second and more an edit: a number of each release, and what else only these files have.
SLOW = ("greedy", "objpert", "parties", "estimated")
RARE = re.compile("privacy/fits/0/releases/[01]/(sensitivity|deviation|count|clip)$|privacy/estimate/(asked|rest)/|privacy/events|parties/(?!list)")
FEW = SLOW + ("dpscd", "dpsgd", "paper", "seqdpscd", "laplace", "sgd_ma")
EVERY = int(os.environ.get("TCT_SAMPLE", 1))
turn = itertools.count(int(time.time() / 86400)) # another part each day

PLANNED = ("searched", "persons") # verify plans each anew, twice

def drawn(changes, name):
    every = 3 * EVERY if EVERY > 1 and name in PLANNED else EVERY
    return [each for each in changes if next(turn) % every == 0]

tried, unseen, free = 0, [], 0
for name in names:
    began = time.time()
    model = json.load(open(name + ".json"))
    assert verified(json.dumps(model)), name
    few, private = name in FEW, model["privacy"]["private"]
    for path, value in fields(model, 3):
        word = "/".join(map(str, path))
        changes = [placed(model, path, new) for new in edits(value) if new != value] if path else []
        if isinstance(value, dict) and word != "transforms/schema" and not word.startswith("transforms/schema/"):
            changes.append(placed(model, path, {**value, "extra": 1}) if path else {**model, "extra": 1})
        if path and isinstance(path[-1], str) and not word.startswith("transforms/schema/"):
            changes.append(removed(model, path))
        if name in SLOW and not RARE.match(word):
            continue
        if is_free(word, model):
            changes = changes[:0 if few else 1]
        elif few:
            changes = changes[:1] if path[:1] in (("privacy",), ("parties",)) else []
        for changed in drawn(changes, name):
            tried += 1
            seen = not verified(json.dumps(changed))
            free += is_free(word, model)
            if not seen and not is_free(word, model):
                unseen.append((name, word, json.dumps(value)[:80]))
    print(name, f"{time.time() - began:.1f} s", tried, file=sys.stderr, flush=True)
    most = weight_bound(json.dumps(model))
    tried += 3 if private else 0
    for key, large in (("coefficients", 10 * most), ("intercept", -10 * most), ("coefficients", 1e308)):
        changed = {**model, key: filled(model[key], large)}
        if private and (not math.isfinite(most) or verified(json.dumps(changed))):
            unseen.append((name, key, str(large)))
    tried += 1
    if private and verified(json.dumps(without_fits(model))):
        unseen.append((name, "fits taken out", ""))
    for what, changed in without_estimate(model) if "estimate" in model["privacy"] else ():
        tried += 1
        if verified(json.dumps(changed)):
            unseen.append((name, what, ""))
    for what, changed in fewer_classes(model) if len(model.get("classes", ())) > 2 else ():
        tried += 1
        if verified(json.dumps(changed)):
            unseen.append((name, what, ""))
    twice = json.dumps(model)
    for key in ("epsilon", "rows", "solver"):
        if name in SLOW:
            continue
        tried += 1
        at = twice.index(f'"{key}": ')
        if verified(twice[:at] + f'"{key}": 1, ' + twice[at:]):
            unseen.append((name, "doubled " + key, ""))

alone = held = 0
for name in names:
    began = time.time()
    model = json.load(open(name + ".json"))
    if "ledger" not in model["privacy"]:
        continue
    assert entry_holds(model) and verdict_of(json.dumps(model), ledger=b"L") == VERIFIED, name
    changes = [("asked", word, lambda changed=changed: changed) for word, changed in asked_edits(model)]
    if name not in FEW and "estimate" not in model["privacy"] and len(model.get("classes", ())) < 3:
        changes += [("anew", word, made) for word, made in anew_edits(model)]
    for kind, word, made in drawn(changes, name):
        changed = made()
        if changed is None:
            continue
        tried += 1
        alone += kind == "anew" and verified(json.dumps(changed))
        if entry_holds(changed):
            held += 1
            unseen.append((name, kind + " with the ledger", word))
    print(name, f"{time.time() - began:.1f} s with the ledger", len(changes), file=sys.stderr, flush=True)
assert alone > 50 / EVERY, alone
tried += 1
if verified(json.dumps(as_cheaper(json.load(open("claims/search.json"))))):
    unseen.append(("search", "its mean made 1, and its claim"))
for name, forge in FORGERIES:
    forged = json.dumps(forge(json.load(open(f"claims/{name}.json"))))
    tried += 1
    if verdict_of(forged) != VERIFIED:
        unseen.append((name, forge.__name__, "is no forgery: verify refuses it by itself"))
    if verdict_of(forged, ledger=b"T" if name == "seeded" else b"L") != REFUSED:
        unseen.append((name, forge.__name__, "with the ledger"))
print(f"{alone} files of runs that there were not verify by themselves, {held} with their ledger")
if EVERY > 1:
    print(f"every {EVERY}th edit of a field was tried, every {3 * EVERY}th of a search's file; TCT_SAMPLE=1 tries all")
print(f"{tried} edits of {len(names)} files, {free} of them of free fields, {len(unseen)} unseen elsewhere")
for line in sorted(set(unseen))[:60]:
    print("  unseen:", *line)
sys.exit(1 if unseen else 0)
