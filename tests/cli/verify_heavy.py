#!/usr/bin/env python3
"""verify_heavy.py - files of up to 1 MB that ask a verifier for as much work as they can; each must come to an end.

usage: verify_heavy.py TACIT FOLDER: the folder has model files as `tacit train` writes them.  What a file may take is
counted and not measured, so each answer is one of a few; GUARD ends a run whose work nobody has counted.  With TCT_SAMPLE=N
one file in N is tried, in eight at most, others each day.  With TACIT_HEAVY_ALL there are many more files, reports on them too,
each one's time as it goes, and the longest at the end.
"""
import copy, itertools, json, os, random, resource, subprocess, sys, time

TACIT, FOLDER = sys.argv[1:]
MOST, GUARD = 1_000_000, 120 # bytes; seconds of processor time
ALL = os.environ.get("TACIT_HEAVY_ALL") is not None
EVERY = 1 if ALL else min(8, int(os.environ.get("TCT_SAMPLE", 1)))
turn = itertools.count(int(time.time() / 86400))
random.seed(7)

def load(name):
    with open(os.path.join(FOLDER, name + ".json")) as file:
        return json.load(file)

def filled(make, room=MOST - 20_000):
    """make(0), make(1), ... until their text is as long as the room."""
    out, size = [], 0
    while size < room:
        out.append(make(len(out)))
        size += len(json.dumps(out[-1])) + 2
    return out

# ---- long lists of events: nothing but the claim stands between them and the accountants ----

EVENTS = {
    "gaussian": lambda i: f"gaussian:noise={30 + i * 1e-3:.10g},count=3",
    "sampled": lambda i: f"sampled_gaussian:noise={1 + i * 1e-4:.10g},rate=0.01,count=3",
    "sampled_little": lambda i: f"sampled_gaussian:noise={0.03 + i * 1e-6:.10g},rate=0.01",
    "sampled_least": lambda i: f"sampled_gaussian:noise={(1 + i) * 1e-12:.10g},rate=0.5",
    "sampled_much": lambda i: f"sampled_gaussian:noise={1e4 + i:.10g},rate=0.9,count=900000000",
    "laplace": lambda i: f"laplace:noise={1e3 + i:.10g},count={i + 1}",
    "exponential": lambda i: f"exponential:epsilon={1e-4 + i * 1e-8:.10g},count=1000",
    "pure": lambda i: f"pure:epsilon={1e-9 + i * 1e-13:.10g},count=9000000000000000",
    "approx": lambda i: f"approx:epsilon={1e-5 + i * 1e-9:.10g},delta=1e-13",
    "objpert": lambda i: f"objpert:noise={30 + i * 1e-3:.10g},shift=1e-5",
    "zcdp": lambda i: f"zcdp:rho={1e-7 + i * 1e-11:.10g}",
}
EVENTS["mixed"] = lambda i: random.choice(list(EVENTS.values())[:-1])(i)

def of_events(model, events, accountant, neighbours, delta):
    old = copy.deepcopy(model)
    for key in ("choice", "estimate"):
        old["privacy"].pop(key, None)
    old["privacy"].update(events=events, accountant=accountant, neighbours=neighbours, delta=delta, epsilon=1e6)
    return old

def lists():
    model = load("dpgd")
    for name, make in EVENTS.items():
        for count in (1, 40, 1500, None) if ALL else (40, None):
            events = [make(i) for i in range(count)] if count else filled(make)
            for accountant in ("pld", "rdp") if ALL and len(events) > 1000 else ("pld",):
                for relation in ("add_remove", "replace_one") if ALL else ("add_remove",):
                    delta = random.choice([1e-3, 1e-10, 1e-250])
                    yield f"{len(events)} {name} {accountant} {relation}", of_events(model, events, accountant, relation, delta)

# ---- many fits ----

def with_fits(model, fits, choice=None):
    out = copy.deepcopy(model)
    events = []
    for fit in fits:
        events += fit["events"] * min(fit["count"], 300_000 // (len(fits) * len(json.dumps(fit["events"])) + 1))
    out["privacy"].update(fits=fits, events=events)
    if choice:
        out["privacy"].update(choice=choice, events=[f"approx:epsilon={model['privacy']['epsilon']},delta=1e-6"])
    return out

def many():
    for name in ("dpgd", "dpsgd", "greedy", "objpert", "parties", "estimated", "dpscd")[:7 if ALL else 2]:
        fit = load(name)["privacy"]["fits"][0]
        for choice in (None, "exponential:epsilon=0.1", "selection:mean=10000,fit=1,score=20,held=0.2,rows=400,epsilon=1"):
            alike = filled(lambda i: fit, 600_000)
            yield f"{len(alike)} fits of {name}, {choice}", with_fits(load(name), alike, choice)
            crowd = filled(lambda i: {**fit, "count": 100000, "events": [e.replace("noise=", f"noise={i + 1}") for e in fit["events"]]}, 600_000)
            yield f"{len(crowd)} crowds of {name}, {choice}", with_fits(load(name), crowd, choice)
        listed = {**fit, "count": 100000, "events": filled(EVENTS["mixed"], 900_000)}
        yield f"a long list in a fit of {name}", with_fits(load(name), [listed])
    several = load("several")
    for count in (500, 6000):
        wide = copy.deepcopy(several)
        wide.update(classes=[("c" * 40 if count < 6000 else "") + str(k) for k in range(count)], coefficients=[[0.5] * several["columns"]] * count,
                    intercept=[0.0] * count)
        for fit in wide["privacy"]["fits"]:
            fit["count"] = count
        wide["privacy"]["events"] = several["privacy"]["fits"][0]["events"] * count
        yield f"{count} classes", wide

# ---- settings at their ends: a plan for each, in a file that says the same everywhere ----

def options_of(kind):
    said = subprocess.run([TACIT, "components", "--json"], capture_output=True, text=True, check=True).stdout
    return [each for each in json.loads(said)["components"] if each["kind"] == kind and each["name"] != "auto"]

def value_of(option):
    low, high = option.get("low"), option.get("high")
    if option.get("choices"):
        return random.choice(option["choices"])
    if low is None:
        return None
    value = random.choice([low, high, high, max(low, 1e-12) ** 0.5 * max(high, 1e-12) ** 0.5])
    return str(int(value)) if option["type"] == "integer" else repr(float(min(max(value, low), high)))

def edges(count):
    solvers, model = options_of("solver"), load("dpgd")
    for _ in range(count):
        solver = random.choice(solvers)
        some = random.sample(solver["options"], min(len(solver["options"]), random.choice([0, 1, 1, 2, 4])))
        given = [f"{option['key']}={value_of(option)}" for option in some if value_of(option)]
        asked = copy.deepcopy(model)
        fit = asked["privacy"]["fits"][0]
        fit["asked"].update(
            solver=solver["name"] + (":" + ",".join(given) if given else ""),
            loss=random.choice(["logistic", "hinge", "smoothed_hinge:width=1e-6", "squared", "huber:width=1000000", "poisson:margin=10"]),
            penalty=random.choice(["none", "l2:lambda=1e-100", "l2:lambda=0.01", "l1:lambda=1e-100", "l1ball:radius=1e-100", "box:low=-1,high=1"]),
            epsilon=random.choice([1e-300, 1e-9, 0.01, 1, 50, 1e5, 1e300]), delta=random.choice([1e-300, 1e-14, 1e-6, 0.999]),
            rows=random.choice([1, 400, 10**7, 2**40, 2**62]), columns=random.choice([asked["columns"], 10**9, 2**62]),
            row_norm=random.choice([1, 1e-90, 1e90]), label_bound=random.choice([1e-99, 1, 1e99]),
            neighbours=random.choice(["add_remove", "replace_one"]))
        if fit["asked"]["loss"][0] not in "shp" or fit["asked"]["loss"].startswith(("smooth", "hinge")):
            fit["asked"]["label_bound"] = None
        if random.random() < 0.9:
            asked.update(rows=fit["asked"]["rows"])
            fit["asked"]["columns"] = asked["columns"]
        yield "settings " + json.dumps(fit["asked"])[:200], asked

# ---- texts ----

def texts():
    model = load("dpgd")
    for key in ("solver", "loss", "penalty"):
        for text in ("9" * 900_000, "l2:lambda=" + "0" * 900_000 + "1", "x" + ",a=1" * 200_000, "dpgd:" + "steps=5," * 100_000):
            yield f"a long {key}", {**model, key: text}
            deep = copy.deepcopy(model)
            deep["privacy"]["fits"][0]["asked"][key] = text
            yield f"a long {key} asked for", deep
    schema = copy.deepcopy(load("several"))
    schema["classes"] = [f"{'a' * 40}{k}" for k in range(3)]
    schema["transforms"]["schema"] = {"label": {"values": filled(lambda i: f"{'a' * 40}{i}")}}
    yield "a long list of classes", schema
    names = copy.deepcopy(model)
    names.update(features=[""] * 150_000, columns=150_000, coefficients=[0] * 150_000)
    yield "many features", names
    noted = copy.deepcopy(model)
    noted["privacy"]["unaccounted"] = ["x" * 15_000] * 64
    yield "long notes", noted
    nested = json.dumps(model)
    yield "nested", nested[:-1] + ', "deep": ' + "[" * 400_000 + "]" * 400_000 + "}"
    yield "many keys", nested[:-1] + "".join(f', "k{i}": 1' for i in range(70_000)) + "}"
    estimated = load("estimated")
    for key in ("columns", "lists", "rows"):
        for value in (10**6, 2**62):
            yield f"an estimate of {value} {key}", {**estimated, "privacy": {**estimated["privacy"], "estimate": {
                **estimated["privacy"]["estimate"], "asked": {**estimated["privacy"]["estimate"]["asked"], key: value}}}}
    parties = load("parties")
    for value in (10**5, 2**60):
        yield f"{value} parties", {**parties, "parties": {**parties["parties"], "count": value}}

# ---- each of them ----

def within():
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD, GUARD))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

times, failed, refused = [], 0, 0
for part in (lists(), many(), edges(3000 if ALL else 30), texts()):
    for what, file in part:
        if next(turn) % EVERY:
            continue
        text = file if isinstance(file, str) else json.dumps(file, separators=(",", ":"))
        if len(text) > 1.02 * MOST:
            sys.exit(f"{what}: {len(text)} bytes")
        with open("heavy.json", "w") as out:
            out.write(text)
        for verb in ("verify", "report") if ALL else ("verify",):
            began = spent()
            run = subprocess.run([TACIT, verb, "heavy.json"] + (["-o", "page.html"] if verb == "report" else []),
                                 capture_output=True, text=True, preexec_fn=within)
            times.append((spent() - began, verb, what))
            if ALL:
                print("{:.2f} s: {} {}".format(times[-1][0], verb, what[:150]), flush=True)
            refused += "more work" in run.stderr + run.stdout
            # 0: verified, or a page; 5: verified in part; else one sentence says why not.
            if run.returncode not in (0, 1, 2, 3, 5) or (run.returncode in (0, 5)) == bool(run.stderr):
                failed += 1
                print("failed:", run.returncode, verb, what, run.stderr[:200], flush=True)
times.sort(reverse=True)
sampled = f", one file in {EVERY} by the day; TCT_SAMPLE=1 tries all" if EVERY > 1 else ""
print(f"{len(times)} runs, {refused} refused for the work, {failed} failed{sampled}")
for took, verb, what in times[:12 if ALL else 0]:
    print(f"  {took:.2f} s of processor time: {verb} {what[:150]}")
sys.exit(1 if failed or (EVERY == 1 and not refused) else 0) # two of some hundred are refused
