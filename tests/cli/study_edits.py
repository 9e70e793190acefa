#!/usr/bin/env python3
"""study_edits.py - edits every field of a study's file, one at a time and in consistent pairs, and asks verify.

usage: study_edits.py LIBRARY LEDGER STUDY.json...

What no check without the data can know is listed in FREE (docs/reference/format/study.md has the reasons).  With the
ledger every edit of what was asked for is refused, and also those of which nothing in the file tells.
"""
import copy, ctypes, itertools, json, os, re, sys, time

from file_edits import edits, fields, placed, removed

lib = ctypes.CDLL(sys.argv[1])
lib.tct_verify_json.argtypes = [ctypes.c_char_p] * 5 + [ctypes.c_void_p] * 2
lib.tct_verify_json.restype = ctypes.c_void_p
lib.tct_text_free.argtypes = [ctypes.c_void_p]
LEDGER = sys.argv[2].encode()

def verified(text, ledger=None):
    with open("edited.json", "w") as out:
        out.write(text if isinstance(text, str) else json.dumps(text))
    verdict = ctypes.c_int()
    text = lib.tct_verify_json(b"edited.json", None, ledger, None, None, ctypes.byref(verdict), None)
    lib.tct_text_free(text)
    return bool(text) and verdict.value != 0

MODEL = ("coefficients", "intercept", "classes", "features", "label", "library", "note", "privacy/unaccounted",
         "privacy/noise", "privacy/weights/cap", "inference/sampling", "inference/noise", "inference/degrees",
         "inference/withheld", "inference/residual")
FREE = re.compile(r"^(library|claim/(noise|unaccounted|ledger)(/.*)?|.*/?comment|stages/\d+/model/(%s)(/.*)?|"
                  # what the schema calls numbers and lists of features is public, whatever it says, in all places alike
                  r"stages/\d+/schema/.*|stages/\d+/scores/.*|stages/\d+/moments/(metric|shells|fourth)/.*)$" % "|".join(MODEL))

def changes_nothing(study, path):
    """Of a column that no stage reads; a count that noise made negative, read as 0; or features left out that mean the same."""
    if path[2:3] == ("description",) and "released" in path and len(path) > path.index("released") + 1:
        value = study
        for key in path:
            value = value[key]
        return isinstance(value, (int, float)) and value < 0
    if path[:3] == ("asked", "schema", "columns") and len(path) > 3:
        name = study["asked"]["schema"]["columns"][path[3]]["name"]
        schemas = [s["model"]["transforms"]["schema"] for s in study["stages"] if "model" in s] + [
            s[k]["schema"] for s in study["stages"] for k in ("moments", "description") if k in s]
        read = {c["name"] for schema in schemas for c in [*schema["columns"], *[schema[k] for k in ("label",) if k in schema]]
                if c.get("type") != "ignore"}
        ignored = study["asked"]["schema"]["columns"][path[3]].get("type") == "ignore"
        return name not in read or (ignored and len(path) == 4)  # of a label without a type, its values are read alone
    return path[:2] == ("asked", "stages") and path[3:] == ("features",)

def every_edit(study):
    for path, value in fields(study, 7):
        if path:
            for new in edits(value):
                if new != value:
                    yield path, placed(study, path, new)
        if isinstance(value, dict):
            yield path, placed(study, path, {**value, "extra": 1}) if path else {**study, "extra": 1}
        if path and isinstance(path[-1], str):
            yield path, removed(study, path)

def pairs(study):
    """Edits that agree with each other in two and more places, and tell less than was spent."""
    def edit(what, change):
        out = copy.deepcopy(study)
        return (what, out) if change(out) is not False else None
    def stage_dropped(out):
        out["stages"].pop()
        out["asked"]["stages"].pop()
        if len(out["stages"]) < 1:
            return False
    def last_cheaper(out):
        if len(out["stages"]) < 2:
            return False
        for each in (out["asked"]["stages"][-1], ):
            each["budget_fraction"] = 1e-3
    def smaller_claim(out):
        out["claim"]["epsilon"] /= 2
        out["asked"]["epsilon"] /= 2
    def whole_noise(out):
        out["claim"]["events"] = [re.sub(r"noise=([0-9.]+)", lambda m: f"noise={2 * float(m.group(1))}", e)
                                  for e in out["claim"]["events"]]
        for stage in out["stages"]:
            stage["events"] = [re.sub(r"noise=([0-9.]+)", lambda m: f"noise={2 * float(m.group(1))}", e)
                               for e in stage["events"]]
    def person(out):
        if "person" in out["asked"]:
            return False
        out["asked"].update(person="id", rows_per_person=1)
        out["claim"]["unit"] = "One person: all of that person's records together removed; the number of records and the schema are public."
    def replaced(out):
        if out["claim"]["neighbours"] != "add_remove":
            return False
        out["claim"]["neighbours"] = out["asked"]["neighbours"] = "replace_one"
    def mu(out):
        stages = [s for s in out["stages"] if s["counts"] == "mu"]
        if not stages:
            return False
        stages[0]["share"]["mu"] /= 2
        stages[0]["events"] = ["gaussian:noise=%.17g,count=1" % (1 / stages[0]["share"]["mu"])]
        out["claim"]["events"] = [e for s in out["stages"] for e in s["events"]]
    def as_events(out):
        stages = [s for s in out["stages"] if s["counts"] == "mu"]
        if not stages:
            return False
        stages[0]["counts"] = "events"
        if "model" in stages[0]:
            stages[0]["events"] = stages[0]["model"]["privacy"]["events"]
    def ended(out):
        stage = out["stages"][-1]
        for key in ("model", "scores"):
            stage.pop(key, None)
        stage["ended"] = "the stage that it builds on has no value"
    def bounds(out):
        own = [s for s in out["stages"] if "schema" in s]
        if not own:
            return False
        for column in own[0]["schema"]["columns"]:
            column.pop("estimated", None)
    def estimate_dropped(out):
        own = [k for k, s in enumerate(out["stages"]) if "schema" in s]
        if not own:
            return False
        out["asked"]["schema"] = out["stages"][own[0]]["schema"]
        del out["stages"][own[0]], out["asked"]["stages"][own[0]]
    def borrowed(out):
        models = [s for s in out["stages"] if "model" in s]
        if len(models) < 2:
            return False
        models[0]["model"], models[1]["model"] = models[1]["model"], models[0]["model"]
    def half_noise(out):
        own = [s for s in out["stages"] if "moments" in s or "description" in s]
        if not own:
            return False
        for release in own[0]["releases"]:
            release["deviation"] /= 2
    def shells(out):
        own = [s for s in out["stages"] if "moments" in s]
        if not own:
            return False
        own[0]["moments"]["shells"].append(own[0]["moments"]["shells"][0])
        own[0]["moments"]["radius"].append(1.5 * own[0]["moments"]["radius"][-1])
    def figures(out):
        own = [s for s in out["stages"] if "scores" in s]
        if not own:
            return False
        name = next(iter(set(own[0]["scores"]["figures"]) & {"accuracy", "mse"}))
        own[0]["scores"]["figures"][name]["value"] = 0.99
    def told(out):
        own = [s for s in out["stages"] if "description" in s]
        if not own:
            return False
        first = own[0]["description"]["columns"][0]
        first["missing"]["value"] = first["missing"]["lower"] = 0
        first["released"][0] += 1000
    def no_texts(out):
        own = [c for s in out["stages"] if "schema" in s for c in s["schema"]["columns"] if "values" in c]
        if not own or not any("description" in s for s in out["stages"]):
            return False
        for column in own:
            column["values"] = [5] * len(column["values"])
    def narrow(out):
        own = [s for s in out["stages"] if "description" in s]
        if not own:
            return False
        first = own[0]["description"]["columns"][0]
        first["mean"].update(lower=first["mean"]["value"], upper=first["mean"]["value"], noise=0)
    def stage_of_persons(out):
        models = [s["model"]["privacy"] for s in out["stages"] if "model" in s]
        if not models or "person" in out["asked"] or models[0]["neighbours"] != "add_remove":
            return False
        models[0]["unit"] = ("One person: all of that person's records together removed; the number of records and the "
                             "schema are public.")
        models[0]["weights"] = {"cap": 1, "of": "person"}
    def system(out):
        if out["claim"]["noise"] == "system":
            return False
        out["claim"]["noise"] = "system"
    for change in (stage_dropped, last_cheaper, smaller_claim, whole_noise, person, replaced, mu, as_events, ended, bounds,
                   estimate_dropped, borrowed, half_noise, shells, figures, told, no_texts, narrow, stage_of_persons, system):
        one = edit(change.__name__, change)
        if one:
            yield one

EVERY = int(os.environ.get("TCT_SAMPLE", 1)) # every so many edits are tried, others each day
turn = itertools.count(int(time.time() / 86400))
tried, unseen = 0, []
for name in sys.argv[3:]:
    study = json.load(open(name))
    text = json.dumps(study)
    assert verified(text) and verified(text, LEDGER), name
    seen = set()
    chooses = any(s["kind"] == "choose" for s in study["stages"])  # then each plans a search
    every = EVERY * (1 if EVERY == 1 else 8 if chooses else 3)
    for path, changed in every_edit(study):
        word = "/".join(map(str, path))
        free = bool(FREE.match(word)) or changes_nothing(study, path)
        if free and word in seen and not word.startswith("asked/"):
            continue
        seen.add(word)
        if next(turn) % every:
            continue
        tried += 1
        if word.startswith("asked/"):
            alone = verified(changed)
            if alone and verified(changed, LEDGER):
                unseen.append((name, word, "with the ledger"))
            if alone and not free:
                unseen.append((name, word))
        elif verified(changed) and not free:
            unseen.append((name, word))
    for what, changed in pairs(study):
        if EVERY > 1 and next(turn) % 3:
            continue
        tried += 1
        if verified(changed):
            unseen.append((name, "pair " + what))
    for key in ("epsilon", "name", "mu"):
        tried += 1
        place = text.find(f'"{key}": ')
        if place >= 0 and verified(text[:place] + f'"{key}": 1, ' + text[place:]):
            unseen.append((name, "doubled " + key))
print(f"{tried} edits of {len(sys.argv) - 3} studies, {len(unseen)} unseen")
for line in unseen[:40]:
    print("  unseen:", *line)
sys.exit(1 if unseen else 0)
