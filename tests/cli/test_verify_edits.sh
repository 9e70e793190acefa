#!/usr/bin/env bash
# test_verify_edits.sh - every field of the model files of every solver, edited one at a time: verify refuses the file,
# or the field is one of those that docs/format/model.md lists as known to no check without the data.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ok 'people' generate --rows 400 -o c.csv
ok 'incomes' generate --rows 400 --kind regression -o r.csv
ridge=(--loss logistic --penalty l2:lambda=0.05)
ball=(--loss logistic --penalty l1ball:radius=2)
fit() { # NAME DATA OPTION...
  local name=$1 data=$2
  shift 2
  ok "$name" train $data.csv --schema $data.schema.json --epsilon 1 --delta 1e-6 -o "$name.json" "$@"
}
fit auto c "${ridge[@]}" --intercept
fit dpscd c "${ridge[@]}" --solver dpscd
fit paper c "${ridge[@]}" --solver dpscd:state=paper
fit seqdpscd c "${ridge[@]}" --solver seqdpscd
fit primaldpscd c "${ridge[@]}" --solver primaldpscd
fit dpcd c "${ridge[@]}" --solver dpcd --neighbours replace_one
fit greedy c "${ridge[@]}" --solver dpcd:order=greedy,inner=5
fit laplace c "${ridge[@]}" --solver dpcd:form=laplace
fit dpfw c "${ball[@]}" --solver dpfw
fit parties c "${ball[@]}" --solver dpfw_parties
fit winner r --loss squared --penalty l1ball:radius=2 --solver dpfw_parties:radius=winner
fit dpsgd c "${ridge[@]}" --solver dpsgd
fit objpert c "${ridge[@]}" --solver objpert
fit chaudhuri c "${ridge[@]}" --solver objpert:variant=chaudhuri
fit huber r --loss huber --penalty l2:lambda=0.05 --solver objpert
fit outpert c "${ridge[@]}" --solver outpert
fit gd c "${ridge[@]}" --solver outpert:variant=gd
fit adassp r --loss squared --penalty l2:lambda=0.05 --solver adassp
fit dpagd c "${ridge[@]}" --solver dpagd
fit batches c "${ridge[@]}" --solver dpagd:batch=100,steps=5
fit dpgd c --loss hinge --penalty l1:lambda=0.01 --solver dpgd
fit dpnewton c "${ridge[@]}" --solver dpnewton
fit privgene c "${ridge[@]}" --solver privgene
fit sgd_ma c "${ridge[@]}" --solver sgd_ma
fit sgd_adv c "${ridge[@]}" --solver sgd_adv
ok 'scd' train c.csv --schema c.schema.json "${ridge[@]}" --solver scd -o scd.json
ok 'infinite' train c.csv --schema c.schema.json "${ridge[@]}" --solver dpscd --epsilon inf -o infinite.json

cases=$((cases + 1))
library=$(dirname "$TACIT")/libtacit.so
python3 - "$library" <<'P' || fail 'an edit of a model file went unseen'
import copy, ctypes, json, os, random, sys

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

# What no check without the data can know; docs/format/model.md has the list with reasons.
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

names = [f[:-5] for f in sorted(os.listdir(".")) if f.endswith(".json") and "schema" not in f and f != "edited.json"]
tried, unseen, free = 0, [], 0
for name in names:
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
P
finish
