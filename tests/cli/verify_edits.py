#!/usr/bin/env python3
"""verify_edits.py - edits every field of the model files in this folder, one at a time, and asks verify.

usage: verify_edits.py LIBRARY [NAME...]

Free fields are edited once each.  Files whose plan takes long to calibrate (FEW) get one edit of each field of
`privacy` and `parties`, the slowest (SLOW) of their releases alone; what other fields mean to verify does not depend on
the solver.
"""
import copy, ctypes, json, math, os, re, sys, time

class Verdict(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(k, ctypes.c_int32) for k in
        ("kind", "form", "replanned", "neighbours", "reproducible", "reserved")] + [
        ("epsilon", ctypes.c_double), ("delta", ctypes.c_double), ("why", ctypes.c_char * 240)]

lib = ctypes.CDLL(sys.argv[1])
lib.tct_verify.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]

lib.tct_verify_json.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
lib.tct_verify_json.restype = ctypes.c_void_p

def weight_bound(text, path="edited.json"):
    """What verify says that no weight of this plan exceeds; infinite where it says nothing."""
    with open(path, "w") as out:
        out.write(text)
    report = json.loads(ctypes.string_at(lib.tct_verify_json(path.encode(), None, None)))
    said = [c["text"] for c in report["checks"] if c["name"] == "weights"]
    return float(re.search(r"above (\S+),", said[0]).group(1)) if said else math.inf

def verdict_of(text, path="edited.json"):
    with open(path, "w") as out:
        out.write(text)
    verdict = Verdict(size=ctypes.sizeof(Verdict))
    status = lib.tct_verify(path.encode(), None, ctypes.byref(verdict), None)
    return verdict.kind if status == 0 else REFUSED

REFUSED, OLD_RULES = 0, 5

def verified(text):
    return verdict_of(text) not in (REFUSED, OLD_RULES)

def without_fits(model):
    """The file as form 1 would have it: what nothing binds to a run must not be called verified."""
    old = {**copy.deepcopy(model), "version": 1}
    if len(old.get("classes", ())) == 2:
        del old["classes"]
    for key in ("fits", "weights", "choice", "estimate"):
        old["privacy"].pop(key, None)
    return old

# What no check without the data can know; docs/reference/format/model.md has the list with reasons.
FREE = ("coefficients", "intercept", "classes", "features", "label", "library", "note", "transforms/schema",
        "inference/sampling", "inference/noise", "inference/degrees", "inference/withheld", "inference/residual",
        "transforms/scale_factor", "transforms/scale_shift", "privacy/unaccounted", "privacy/ledger",
        "privacy/noise", "privacy/weights/cap", "parties/uplink_bytes", "parties/one_shot_bytes", "parties/list")

# Where no privacy is claimed, nothing is counted.
FREE_WITHOUT = ("privacy/fits", "privacy/fits/0/count", "privacy/fits/0/asked/delta")

def is_free(path, private):
    return not private and path in FREE_WITHOUT or any(path == f or path.startswith(f + "/") for f in FREE)

def fields(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from fields(each, path + (key,))
    if isinstance(value, list):
        for i, each in enumerate(value[:3]):
            yield from fields(each, path + (i,))

def edits(value):
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        for other in (value * 1.5, value * 0.5, value + 1, value - 1):
            yield round(other) if isinstance(value, int) else other
        yield None
    elif isinstance(value, str):
        yield value + "x"
        yield ""
        leading = re.search("[1-9]", value)
        if leading:
            at = leading.start()
            yield value[:at] + str(int(value[at]) % 9 + 1) + value[at + 1:]
    elif isinstance(value, list) and value:
        yield value[:-1]
        yield value + value[-1:]
    elif value is None:
        yield 1.0

def placed(model, path, new):
    out = copy.deepcopy(model)
    if not path:
        return new
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return out

def removed(model, path):
    out = copy.deepcopy(model)
    at = out
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return out

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
tried, unseen, free = 0, [], 0
for name in names:
    began = time.time()
    model = json.load(open(name + ".json"))
    assert verified(json.dumps(model)), name
    few, private = name in FEW, model["privacy"]["private"]
    for path, value in fields(model):
        word = "/".join(map(str, path))
        changes = [placed(model, path, new) for new in edits(value) if new != value] if path else []
        if isinstance(value, dict) and word != "transforms/schema" and not word.startswith("transforms/schema/"):
            changes.append(placed(model, path, {**value, "extra": 1}) if path else {**model, "extra": 1})
        if path and isinstance(path[-1], str) and not word.startswith("transforms/schema/"):
            changes.append(removed(model, path))
        if name in SLOW and not RARE.match(word):
            continue
        if is_free(word, private):
            changes = changes[:0 if few else 1]
        elif few:
            changes = changes[:1] if path[:1] in (("privacy",), ("parties",)) else []
        for changed in changes:
            tried += 1
            seen = not verified(json.dumps(changed))
            free += is_free(word, private)
            if not seen and not is_free(word, private):
                unseen.append((name, word, json.dumps(value)[:80]))
    print(name, f"{time.time() - began:.1f} s", tried, file=sys.stderr, flush=True)
    most = weight_bound(json.dumps(model))
    tried += 3 if private else 0
    for key, large in (("coefficients", 10 * most), ("intercept", -10 * most), ("coefficients", 1e308)):
        changed = {**model, key: filled(model[key], large)}
        if private and (not math.isfinite(most) or verified(json.dumps(changed))):
            unseen.append((name, key, str(large)))
    tried += 1
    # Form 1 has no rows for several classes, and its schemas no estimated bounds.
    old = REFUSED if len(model.get("classes", ())) > 2 or "estimate" in model["privacy"] else OLD_RULES
    if private and verdict_of(json.dumps(without_fits(model))) != old:
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
print(f"{tried} edits of {len(names)} files, {free} of them of free fields, {len(unseen)} unseen elsewhere")
for line in sorted(set(unseen))[:60]:
    print("  unseen:", *line)
sys.exit(1 if unseen else 0)
