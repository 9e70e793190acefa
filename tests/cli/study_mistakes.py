#!/usr/bin/env python3
"""study_mistakes.py - every mistake in a study's plan: one sentence that names it, no file, and no row in the ledger.

usage: study_mistakes.py TACIT DATA SCHEMA LEDGER
"""
import copy, json, os, subprocess, sys

tacit, data, schema, ledger = sys.argv[1:]

def fit(name, label, loss="logistic", **more):
    return dict(name=name, kind="fit", label=label, loss=loss, features=["a", "b"], **more)

BASE = dict(epsilon=1, delta=1e-6, stages=[dict(name="e", kind="estimate"), fit("ill", "ill"),
                                           fit("pay", "pay", "squared"), dict(name="s", kind="score", of="ill")])

def top(**more):
    return lambda plan: plan.update(more)

def at(index, **more):
    return lambda plan: plan["stages"][index].update(more)

def choose(**more):
    """The first fit chooses among settings instead."""
    return at(1, kind="choose", **{"candidates": [{}, {"penalty": "l2:lambda=0.1"}], "tries": 5, **more})

def gone(index, key):
    return lambda plan: plan["stages"][index].pop(key)

MISTAKES = [ # what is done to a plan that runs, and words of the sentence
    (lambda p: p.pop("epsilon"), '"epsilon"'), (top(epsilon=-1), '"epsilon"'), (top(epsilon="1"), "must be a number"),
    (top(delta=0), '"delta"'), (top(delta=1.5), '"delta"'), (top(epsilonn=1), 'no key "epsilonn"'),
    (top(neighbours="x"), "neighbours"), (top(held=1), '"held"'), (top(held=0), '"held"'), (top(held="a"), "must be a number"),
    (top(main="s"), '"main"'), (top(main="zz"), '"main"'), (top(person="id"), "belong together"),
    (top(rows_per_person=2), "belong together"), (top(person="id", rows_per_person=0), "above 0"),
    (top(person="nobody", rows_per_person=2), "nobody"), (top(stages=[]), '"stages"'), (top(stages={}), "must be a list"),
    (lambda p: p["stages"].append(3), "stage 5 is no object"), (gone(1, "name"), 'stage 2 has no "name"'),
    (at(1, name="n" * 70), 'stage 2 has no "name"'), (at(1, name="pay"), "two stages"), (gone(1, "kind"), 'no "kind"'),
    (at(1, kind="fitt"), "did you mean fit"), (at(1, losss="x"), 'no key "losss"'), (at(1, loss=3), "must be a text"),
    (at(1, part="train"), "held out"), (at(1, part="x"), '"part"'), (at(1, budget_fraction=0), '"budget_fraction"'),
    (at(1, budget_fraction=1.5), '"budget_fraction"'),
    (lambda p: [s.update(budget_fraction=0.5) for s in p["stages"]], "sum to more"), (gone(1, "loss"), 'no "loss"'),
    (gone(1, "label"), 'no "label"'), (at(1, label="zz"), 'no column "zz"'), (at(1, loss="logistik"), "did you mean logistic"),
    (at(1, solver="dpgdd"), "did you mean dpgd"), (at(1, solver="dpgd:stepss=1"), "did you mean steps"),
    (at(1, penalty="l3"), "did you mean l2"), (at(1, solver="scd", penalty="l2:lambda=0.1"), "not private"),
    (at(1, rows_rule="x"), '"rows_rule"'), (at(1, features=["zz"]), 'no column "zz"'), (at(2, features=["pay"]), "take it out"),
    (at(1, features=[]), "list of texts"), (at(1, features=["a", "a"]), "twice"), (at(1, errors="x"), "errors"),
    (lambda p: p["stages"].insert(1, dict(name="e2", kind="estimate")), "leave the second out"),
    (lambda p: p["stages"].append(p["stages"].pop(0)), "put a stage of the kind estimate before"),
    (lambda p: p["stages"].pop(0), "put a stage of the kind estimate before"), (at(0, what="foo"), "an estimate is of bounds"),
    (at(0, what="bounds:outside=1"), '"what"'), (at(0, what="bounds,categories"), "no column's list is open"),
    (at(0, outside=3), "outside"), (lambda p: (top(held=0.2)(p), at(0, part="held")(p)), "all records"),
    (at(3, of="zz"), "no earlier stage"), (at(3, of="s"), "no earlier stage"), (at(3, of="e"), "is no fit"),
    (gone(3, "of"), "name one"), (at(3, model="m.json"), 'no key "model"'),
    (lambda p: p["stages"].insert(0, p["stages"].pop(3)), "no earlier stage"),
    (top(epsilon=1e-9), "too small"),
    (at(2, label_bound=-1), "label bound"), (at(1, row_norm=-1), "row norm"), (at(1, label="kind", loss="squared"), "bound"),
    (at(1, label="kind", positive="w"), "positive"), (top(schema=3), "must be a object"),
    (choose(candidates=[]), '"candidates"'), (choose(candidates={}), "must be a list"), (choose(candidates=[3]), "candidate 1 is no object"),
    (choose(candidates=[{"penalti": "x"}]), 'no key "penalti"'), (choose(candidates=[{"penalty": 3}]), "must be a text"),
    (choose(candidates=[{"penalty": "l3"}]), "did you mean l2"), (choose(candidates=[{"loss": "squared"}]), "otherwise than the stage's"),
    (choose(candidates=[{"rows_rule": "x"}]), '"rows_rule"'), (choose(candidates=[{"solver": "scd", "penalty": "l2:lambda=0.1"}]), "not private"),
    (choose(selection="x"), '"selection"'), (choose(selection="all"), '"tries" are random'), (choose(tries=0), "above 0"),
    (choose(tries=20000), "10000"), (choose(held_out=1), "share between 0 and 1"), (choose(score_share=0.3), "leave the share of the score away"),
    (choose(errors="robust"), 'no key "errors"'), (choose(label="zz"), 'no column "zz"'),
]

def run(plan, *more):
    with open("plan.json", "w") as out:
        json.dump(plan, out)
    given = [] if "schema" in plan else ["--schema", schema]
    return subprocess.run([tacit, "study", data, "--plan", "plan.json", *given, "-o", "made.json", *more],
                          capture_output=True, text=True)

def rows():
    return json.loads(subprocess.run([tacit, "ledger", ledger, "--json"], capture_output=True, text=True).stdout)["runs"]

wrong = 0
for k, (change, words) in enumerate(MISTAKES):
    plan = copy.deepcopy(BASE)
    change(plan)
    ran = run(plan, "--ledger", ledger)
    lines = ran.stderr.strip().splitlines()
    good = ran.returncode in (1, 2, 3, 4) and len(lines) == 1 and words in lines[0] and not os.path.exists("made.json")
    if not good:
        wrong += 1
        print(f"mistake {k}: exit {ran.returncode}, wanted '{words}': {lines[:2]}")
assert rows() == [], "a refused study was charged"
ran = run(BASE, "--ledger", ledger)
assert ran.returncode == 0, ran.stderr
assert len(rows()) == 1, "a study is one row of the ledger"
print(f"{len(MISTAKES)} mistakes, {wrong} without their sentence")
sys.exit(1 if wrong else 0)
