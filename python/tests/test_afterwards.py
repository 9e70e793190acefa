"""Nothing outlives `fit`: not in an attribute, a closure, a registry or a pickle, and not in what a notebook shows.

A process of its own plants marks in rows, labels, persons and weights, fits, and lets go of everything but the result.
Then all objects that Python can reach are looked through, for a mark and for anything as long as the table.
"""

import array
import collections
import ctypes
import functools
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import types
import warnings
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tacit
import tacit.dask
import tacit.ranks
import tacit.spark

N = 12347  # no other array has this length
HELD = 2469  # nor that of a search's two parts
LENGTHS = {N, N - HELD, HELD}
TEXT, NUMBER, WHOLE = "Zq7markedXv", 0.8675309123456789, 918273645000
WEIGHT = 0.3141592123456789


# ---- the search ----


def _sized(found):
    """The lengths that an object has."""
    if isinstance(found, (list, tuple, dict, set, frozenset, collections.deque, array.array, memoryview, ctypes.Array)):
        return {len(found)}
    if isinstance(found, (bytes, bytearray)):
        return {len(found) // size for size in (1, 2, 4, 8) if len(found) % size == 0}
    if isinstance(found, np.ndarray) or sparse.issparse(found):
        return {*found.shape, *(part.size for part in (getattr(found, "data", None),) if isinstance(part, np.ndarray))}
    if type(found).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow", "tacit") and hasattr(found, "shape"):
        return set(found.shape) if isinstance(found.shape, tuple) else set()
    return set()


def _is_mark(found):
    if isinstance(found, str):
        return TEXT in found
    if isinstance(found, (bytes, bytearray)):
        marks = [TEXT.encode(), TEXT.encode("utf-16-le"), *(np.float64(mark).tobytes() for mark in (NUMBER, WEIGHT))]
        return any(mark in found for mark in marks)
    if isinstance(found, (float, np.floating)):
        return found in (NUMBER, WEIGHT)
    if isinstance(found, (int, np.integer)):
        return WHOLE <= found < WHOLE + N
    return isinstance(found, np.ndarray) and found.dtype.kind == "f" and bool(np.isin(found, (NUMBER, WEIGHT)).any())


def why_not(found):
    """What is wrong with an object that is still there, or nothing."""
    if _is_mark(found):
        return f"a mark in {type(found).__name__}"
    lengths = _sized(found) & LENGTHS
    return f"{type(found).__module__}.{type(found).__name__} of length {lengths.pop()}" if lengths else None


_CLOSED = (types.ModuleType, types.FrameType, types.TracebackType, types.CodeType, type)


def _inside(found):
    """What an object refers to; of a function not the module that it is of."""
    if isinstance(found, types.FunctionType):
        own = (found.__closure__ or (), found.__defaults__ or (), found.__kwdefaults__ or {}, found.__dict__)
        return [cell for part in own for cell in (part.values() if isinstance(part, dict) else part)]
    if isinstance(found, weakref.ref):
        return [found()]
    if isinstance(found, np.ndarray):
        return [found.base, *(found.ravel().tolist() if found.dtype == object else ())]
    return gc.get_referents(found)


def look_through(*kept):
    """What is wrong with anything that can be reached from the objects kept, from what was made since `gc.freeze`, from
    the package's modules and from the registries of Python."""
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.partition(".")[0] == "tacit"]
    notes = [getattr(module, "__warningregistry__", None) for module in list(sys.modules.values())]
    ahead = [*kept, *gc.get_objects(), *modules, *notes, *weakref.finalize._registry.values()]
    mine = {id(ahead), id(modules), id(notes), id(sys._getframe())}
    seen, wrong = set(mine), []
    held = []  # alive, so that no number is used again
    while ahead:
        found = ahead.pop()
        if id(found) in seen or isinstance(found, _CLOSED):
            continue
        seen.add(id(found))
        held.append(found)
        why = why_not(found)
        if why:
            wrong.append(why)
        ahead.extend(_inside(found))
    return wrong


def shown(found):
    """The texts that an object gives away."""
    texts = [repr(found), str(found)]
    for name in ("_repr_html_", "report", "summary", "plan"):
        try:
            texts.append(str(getattr(found, name)(*((N, 3) if name == "plan" else ()))))
        except (AttributeError, TypeError, ValueError):
            pass
    try:
        texts.append(pickle.dumps(found))
        texts.append(pickle.dumps(found, protocol=0))
    except (TypeError, AttributeError, ValueError):
        pass
    return texts


# ---- what is done ----


def marked(rows=N):
    """Records with marks: in a feature, in an unused column, in the labels, as persons of two kinds, as weights."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.uniform(0, 0.5, (rows, 3)), columns=["a", "b", "c"])
    frame.loc[7, "b"] = NUMBER
    frame["town"] = np.where(rng.uniform(size=rows) > 0.5, "x", "y")
    frame["name"] = [f"{TEXT}-{k // 2}" for k in range(rows)]
    frame["person"] = WHOLE + np.arange(rows) // 2
    frame["amount"] = frame["a"] + 0.1
    frame.loc[9, "amount"] = NUMBER
    frame["count"] = rng.poisson(2.0, rows).clip(0, 9)
    frame["died"] = np.where(frame["a"] > 0.25, "yes", "no")
    frame["fruit"] = np.array(["fig", "lime", "plum"])[rng.integers(0, 3, rows)]
    weights = np.full(rows, WEIGHT)
    return frame, weights


BUDGET = {"epsilon": 5.0, "delta": 1e-6, "n_jobs": 1}
LABELS = {
    "PrivateLogisticRegression": ("died", {"values": ["no", "yes"], "positive": "yes"}, {"classes": ["no", "yes"]}),
    "PrivateLinearSVC": ("died", {"values": ["no", "yes"], "positive": "yes"}, {"classes": ["no", "yes"]}),
    "PrivateRidge": ("amount", {"lower": 0, "upper": 1}, {"label_bounds": (0, 1)}),
    "PrivateLasso": ("amount", {"lower": 0, "upper": 1}, {"label_bounds": (0, 1)}),
    "PrivateElasticNet": ("amount", {"lower": 0, "upper": 1}, {"label_bounds": (0, 1)}),
    "PrivatePoissonRegression": ("count", {"lower": 0, "upper": 9}, {"label_bounds": (0, 9)}),
    "PrivateGammaRegression": ("count", {"lower": 0, "upper": 9}, {"label_bounds": (0, 9)}),
}
UNUSED = ["name", "person", "amount", "count", "died", "fruit"]


def schema_for(label, own):
    columns = [{"name": each, "type": "number", "lower": 0, "upper": 1} for each in "abc"]
    columns.append({"name": "town", "type": "category", "values": ["x", "y"]})
    columns += [{"name": each, "type": "ignore"} for each in UNUSED if each != label]
    return tacit.Schema({"columns": columns, "label": {"name": label, **own}})


def plain(name, **more):
    return getattr(tacit, name)(**{**BUDGET, "data_norm": 2.0, **LABELS[name][2], **more})


def ticked(fraction):
    """A progress function."""


def of_arrays(name, wrap=np.asarray, progress=ticked):
    frame, _ = marked()
    return plain(name, progress=progress).fit(wrap(frame[["a", "b", "c"]].to_numpy()), frame[LABELS[name][0]].to_numpy())


def of_weights(name):
    frame, weights = marked()
    X, y = frame[["a", "b", "c"]].to_numpy(), frame[LABELS[name][0]]
    persons, more = frame["name"].tolist(), {"weight_cap": 1.0, "rows_per_person": 1, "solver": "dpgd"}
    return plain(name, **more).fit(X, y, sample_weight=weights, groups=persons)


def of_columns(name, make):
    """A frame of numbers alone, its label and its persons by name."""
    frame, _ = marked()
    label = LABELS[name][0]
    held = make(frame[["a", "b", "c", "person", label]])
    return plain(name, rows_per_person=1, solver="dpgd").fit(held, label, groups="person")


def of_schema(name, make):
    frame, _ = marked()
    label, own, _ = LABELS[name]
    model = getattr(tacit, name)(**BUDGET, rows_per_person=1, solver="dpgd")
    return model.fit(make(frame), label, groups="name", schema=schema_for(label, own))


def of_table(name):
    frame, _ = marked()
    label, own, _ = LABELS[name]
    frame.to_csv("t.csv", index=False)
    kind = "classes" if "values" in own else "real"
    table = tacit.read("t.csv", schema=schema_for(label, own), labels=kind, person="name")
    model = getattr(tacit, name)(**BUDGET, rows_per_person=1, solver="dpgd").fit(table, groups="name")
    held = table.array()
    del table
    assert held.shape[0] == N
    return model


def of_an_estimate(progress=False):
    frame, _ = marked()
    return tacit.PrivateRidge(**BUDGET, estimate="bounds:share=0.2", progress=progress).fit(frame[["a", "b", "c", "amount"]], "amount")


def of_classes(loss, progress=False):
    frame, _ = marked()
    settings = {**BUDGET, "loss": loss, "data_norm": 2.0, "classes": ["fig", "lime", "plum"], "progress": progress}
    model = tacit.PrivateLogisticRegression(**settings)
    return model.fit(frame[["a", "b", "c"]], frame["fruit"])


def of_a_search(name, selection, framed):
    frame, _ = marked()
    label, own, _ = LABELS[name]
    base = plain(name, epsilon=None, delta=None, rows_per_person=1, solver="dpgd")
    if framed:
        base.set_params(data_norm=None)
    search = tacit.PrivateSearchCV(
        base, {"fit_intercept": [True, False]}, epsilon=5.0, delta=1e-6, selection=selection, tries=3
    )
    if framed:
        return search.fit(frame, label, schema=schema_for(label, own), groups="name")
    return search.fit(frame[["a", "b", "c"]].to_numpy(), frame[label].to_numpy(), groups=frame["name"].to_numpy())


def of_a_refusal():
    """Fits that fail in the middle, and what is left of the estimators and the searches; the texts of the errors."""
    frame, weights = marked()
    bad = frame.copy()
    bad.loc[11, "died"] = TEXT
    label, own, _ = LABELS["PrivateLogisticRegression"]
    schema, left = schema_for(label, own), []
    search = tacit.PrivateSearchCV(plain("PrivateLogisticRegression"), {"C": [1.0, 2.0]}, epsilon=5.0, delta=1e-6)
    tries = [
        (plain("PrivateLogisticRegression"), (bad[["a", "b", "c"]], bad["died"])),
        (plain("PrivateLogisticRegression"), (bad[["a", "b", "name"]], frame["died"])),
        (tacit.PrivateLogisticRegression(**BUDGET), (bad, "died", None, None, schema)),
        (plain("PrivateRidge", weight_cap=1.0), (frame[["a"]], frame["name"], weights)),
        (search, (bad[["a", "b", "c"]].to_numpy(), bad["died"].to_numpy())),
        (search, (bad, "died", schema)),
    ]
    for estimator, given in tries:
        try:
            estimator.fit(*given)
        except (ValueError, TypeError) as why:
            while why is not None:
                left.append([str(why), repr(why.args)])
                why = why.__cause__ or (None if why.__suppress_context__ else why.__context__)
        else:
            raise AssertionError("it fitted")
        left.append(estimator)
    return left


def of_a_model():
    """A model read again predicts and scores; a ledger compares rows; a scaler scales; what they return is let go."""
    frame, _ = marked()
    label, own, _ = LABELS["PrivateLogisticRegression"]
    schema = schema_for(label, own)
    tacit.PrivateLogisticRegression(**BUDGET).fit(frame, schema=schema).save("m.json")
    model = tacit.read_model("m.json")
    model.predict(frame), model.margins(pl.from_pandas(frame)), model.evaluate(frame)
    model.evaluate(frame, epsilon=1.0, delta=1e-6, groups="name", rows_per_person=1)
    frame.to_csv("t.csv", index=False)
    ledger = tacit.Ledger.create("people.ledger", epsilon=9.0, delta=1e-3)
    charged = ledger.charge("gaussian:noise=10", delta=1e-6, data=tacit.read("t.csv", schema=schema))
    scaler = tacit.PublicScaler(schema)
    scaler.fit_transform(frame)
    numbers = tacit.PublicScaler(bounds=(0, 1)).fit(frame[["a", "b", "c"]])
    numbers.transform(frame[["a", "b", "c"]])
    found = tacit.audit("logistic", epsilon=4, solver="dpgd:steps=2,clip=0.1", shape=(8, 2), seconds=0.2)
    return [model, ledger, charged, ledger.state(), schema, schema.check(), scaler, numbers, found, tacit.verify("m.json")]


class Broken(tacit.ranks.Transport):
    """A rank whose engine fails in the middle of the fit."""

    def smallest(self, x):
        return x

    def broadcast(self, x, root):
        return x

    def gather(self, x):
        raise OSError("the engine is gone")


def of_a_progress_that_fails(fit):
    """What the function raised comes out, and then nothing holds the frames that it came through."""

    def broken(fraction):
        raise OSError("the screen is gone")

    try:
        fit(broken)
    except OSError:
        return None
    raise AssertionError("it fitted")


def of_ranks(broken):
    from test_ranks import in_threads, listener, SECRET

    frame, _ = marked()
    label, own, _ = LABELS["PrivateLogisticRegression"]
    schema, estimator = schema_for(label, own), tacit.PrivateLogisticRegression(**BUDGET)
    kept = []
    if broken:
        team = Broken()
        team.begin(0, 2)
        try:
            tacit.ranks.fit(team, frame, schema=schema, estimator=estimator)
        except OSError:
            return [team]
        raise AssertionError("it fitted")
    ear, address = listener()

    def work(rank):
        more = {"listener": ear} if rank == 0 else {}
        with tacit.ranks.Sockets(address, rank=rank, ranks=2, secret=SECRET, timeout=60, **more) as team:
            kept.append(team)
            return tacit.ranks.fit(team, frame.iloc[rank::2], schema=schema, estimator=estimator)

    return kept + in_threads(work, 2)


WHAT = {
    **{f"{name}, arrays": functools.partial(of_arrays, name) for name in LABELS},
    "sparse rows": functools.partial(of_arrays, "PrivateRidge", sparse.csr_matrix),
    "sparse columns": functools.partial(of_arrays, "PrivateLogisticRegression", sparse.csc_matrix),
    "lists": functools.partial(of_arrays, "PrivateLogisticRegression", np.ndarray.tolist),
    **{f"{name}, weights": functools.partial(of_weights, name) for name in ("PrivateLogisticRegression", "PrivateRidge")},
    **{f"{name}, pandas under a schema": functools.partial(of_schema, name, lambda frame: frame) for name in LABELS},
    "polars under a schema": functools.partial(of_schema, "PrivateLogisticRegression", pl.from_pandas),
    "Arrow under a schema": functools.partial(of_schema, "PrivateRidge", lambda frame: pl.from_pandas(frame).to_arrow()),
    "pandas": functools.partial(of_columns, "PrivateLogisticRegression", lambda frame: frame),
    "polars": functools.partial(of_columns, "PrivateRidge", lambda frame: pl.from_pandas(frame).to_arrow()),
    **{f"{name}, a file": functools.partial(of_table, name) for name in LABELS},
    "an estimate": of_an_estimate,
    "one against the rest": functools.partial(of_classes, "logistic"),
    "softmax": functools.partial(of_classes, "softmax"),
    **{
        f"search, {name}, {selection}, {'frame' if framed else 'array'}": functools.partial(of_a_search, name, selection, framed)
        for name in ("PrivateLogisticRegression", "PrivateRidge") for selection in ("all", "random") for framed in (0, 1)
    },
    "refusals": of_a_refusal,
    "a model afterwards": of_a_model,
    "a progress that fails": functools.partial(of_a_progress_that_fails, lambda broken: of_arrays("PrivateRidge", progress=broken)),
    "a progress that fails, of an estimate": functools.partial(of_a_progress_that_fails, lambda broken: of_an_estimate(broken)),
    "a progress that fails, of classes": functools.partial(of_a_progress_that_fails, lambda broken: of_classes("logistic", broken)),
    "ranks": functools.partial(of_ranks, False),
    "a rank that fails": functools.partial(of_ranks, True),
}  # fmt: skip
# With TCT_SAMPLE above 1 a third of them, others each day: the collector walks through all that there is after each.
EVERY = min(3, int(os.environ.get("TCT_SAMPLE", "1")))
WHAT = {name: WHAT[name] for place, name in enumerate(WHAT) if (place + int(time.time() / 86400)) % EVERY == 0}


# ---- hiding places, which the search must find ----


class Hidden:
    pass


def hide_in_an_attribute(frame):
    hidden = Hidden()
    hidden.deep = {"er": [frame["a"].to_numpy()]}
    return hidden


def hide_in_a_closure(frame):
    return lambda: frame["name"][3]


def hide_in_a_cache(frame):
    cached = functools.lru_cache(lambda key: frame["name"].tolist())
    cached(1)
    return cached


def hide_in_a_buffer(frame):
    return (ctypes.c_double * N)()


def hide_in_a_registry(frame):
    tacit._repeats._settings["hidden"] = frame["a"].to_numpy().copy()


def hide_in_a_finalizer(frame):
    hidden = Hidden()
    weakref.finalize(hidden, len, frame["person"].tolist()[:3])
    return hidden


def hide_in_a_cycle(frame):
    hidden = Hidden()
    hidden.me, hidden.rows = hidden, frame["a"].to_numpy().copy()


def hide_in_a_bound_method(frame):
    hidden = Hidden()
    hidden.weights = np.array([1.0, WEIGHT])
    return functools.partial(types.MethodType(lambda me: None, hidden))


HIDING = {name: call for name, call in list(globals().items()) if name.startswith("hide_")}


def child():
    """{what was done: what is wrong}; the collector is off, so that cycles are found too."""
    warnings.simplefilter("ignore")
    threading.stack_size()
    for name in ("PrivateRidge", "PrivateLogisticRegression"):  # whatever other packages load at the first call
        of_schema(name, pl.from_pandas), of_columns(name, lambda frame: frame), of_arrays(name)
    answers = {}
    for name, call in [*WHAT.items(), *((name, functools.partial(call)) for name, call in HIDING.items())]:
        gc.collect()
        gc.freeze()
        gc.disable()
        kept = call(marked()[0]) if name in HIDING else call()
        if name not in HIDING:
            texts = [text for each in (kept if isinstance(kept, list) else [kept]) for text in shown(each)]
            wrong = [f"shown: {why_not(text)}" for text in texts if _is_mark(text)]
            wrong += [f"a pickle of {len(text)}" for text in texts if isinstance(text, bytes) and len(text) > 8 * N]
            del texts
        else:
            wrong = []
        answers[name] = sorted(set(wrong + look_through(kept)))
        tacit._repeats._settings.pop("hidden", None)
        del kept
        gc.enable()
        gc.unfreeze()
    print(json.dumps(answers))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    here = os.path.dirname(__file__)
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {here!r}); import test_afterwards; test_afterwards.child()"]
    run = subprocess.run(command, cwd=tmp_path_factory.mktemp("after"), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", WHAT)
def test_nothing_of_the_table_is_left_after(name, answers):
    assert answers[name] == []


@pytest.mark.parametrize("name", HIDING)
def test_the_search_finds_what_was(name, answers):
    assert answers[name]
