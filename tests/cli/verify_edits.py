#!/usr/bin/env python3
"""verify_edits.py - edits every field of the model files in this folder, one at a time, and asks verify.

usage: verify_edits.py LIBRARY [NAME...]
"""
import copy, ctypes, json, os, sys, time

class Verdict(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(k, ctypes.c_int32) for k in
        ("kind", "form", "replanned", "neighbours", "reproducible", "reserved")] + [
        ("epsilon", ctypes.c_double), ("delta", ctypes.c_double), ("why", ctypes.c_char * 240)]

lib = ctypes.CDLL(sys.argv[1])
lib.tct_verify.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]

def verified(text, path="edited.json"):
    with open(path, "w") as out:
        out.write(text)
    verdict = Verdict(size=ctypes.sizeof(Verdict))
    status = lib.tct_verify(path.encode(), None, ctypes.byref(verdict), None)
    return status == 0 and verdict.kind != 0

# What no check without the data can know; docs/reference/format/model.md has the list with reasons.
FREE = ("coefficients", "intercept", "features", "label", "library", "note", "transforms/schema",
        "transforms/scale_factor", "transforms/scale_shift", "privacy/unaccounted", "privacy/ledger",
        "privacy/noise", "privacy/weights/cap", "parties/uplink_bytes", "parties/one_shot_bytes", "parties/list")

def is_free(path):
    return any(path == f or path.startswith(f + "/") for f in FREE)

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
        for digit in "123456789":
            if digit in value:
                yield value.replace(digit, str(int(digit) % 9 + 1), 1)
                break
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

names = sys.argv[2:] or [f[:-5] for f in sorted(os.listdir(".")) if f.endswith(".json") and "schema" not in f and f != "edited.json"]
tried, unseen, free = 0, [], 0
for name in names:
    began = time.time()
    model = json.load(open(name + ".json"))
    assert verified(json.dumps(model)), name
    for path, value in fields(model):
        word = "/".join(map(str, path))
        changes = [placed(model, path, new) for new in edits(value) if new != value] if path else []
        if isinstance(value, dict) and word != "transforms/schema" and not word.startswith("transforms/schema/"):
            changes.append(placed(model, path, {**value, "extra": 1}) if path else {**model, "extra": 1})
        if path and isinstance(path[-1], str) and not word.startswith("transforms/schema/"):
            changes.append(removed(model, path))
        for changed in changes:
            tried += 1
            seen = not verified(json.dumps(changed))
            free += is_free(word)
            if not seen and not is_free(word):
                unseen.append((name, word, json.dumps(value)[:80]))
    print(name, f"{time.time() - began:.1f} s", tried, file=sys.stderr, flush=True)
    twice = json.dumps(model)
    for key in ("epsilon", "rows", "solver"):
        tried += 1
        at = twice.index(f'"{key}": ')
        if verified(twice[:at] + f'"{key}": 1, ' + twice[at:]):
            unseen.append((name, "doubled " + key, ""))
print(f"{tried} edits of {len(names)} files, {free} of them of free fields, {len(unseen)} unseen elsewhere")
for line in unseen[:40]:
    print("  unseen:", *line)
sys.exit(1 if unseen else 0)
