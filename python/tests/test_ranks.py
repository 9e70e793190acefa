"""Fits over several processes or threads: sockets, and a transport of one's own, make the model of one process."""

import multiprocessing
import os
import socket
import threading

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import ranks

SECRET = "a secret of at least thirty-two characters"
SCHEMA = {
    "columns": [
        {"name": "age", "type": "number", "lower": 0, "upper": 100},
        {"name": "team", "type": "category", "values": ["a", "b", "c"]},
    ],
}


def people(rows=700, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 100, rows)
    team = rng.choice(["a", "b", "c"], rows)
    label = np.where(age + 20 * (team == "b") + rng.normal(0, 10, rows) > 55, "yes", "no")
    return pd.DataFrame({"age": age, "team": team, "y": label, "z": age / 10, "kind": np.array(["u", "v", "w"])[rng.integers(0, 3, rows)]})


def schema_for(label, values=None):
    columns = SCHEMA["columns"]
    own = {"label": {"name": label, **({"values": values} if values else {})}}
    rest = [{"name": name, "type": "ignore"} for name in ("y", "z", "kind") if name != label]
    return tacit.Schema({**own, "columns": columns + rest})


BINARY = schema_for("y", ["no", "yes"])


def logistic(**more):
    return tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=5, n_jobs=1, **more)


def listener():
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made, f"127.0.0.1:{made.getsockname()[1]}"


def in_threads(work, count):
    """[what each rank came to]: a model, or an exception."""
    found = [None] * count

    def run(rank):
        try:
            found[rank] = work(rank)
        except BaseException as why:
            found[rank] = why

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "a rank hangs"
    return found


def over_sockets(parts, schema, estimators):
    ear, address = listener()

    def work(rank):
        own = ear if rank == 0 else None
        with ranks.Sockets(address, rank=rank, ranks=len(parts), secret=SECRET, timeout=60, listener=own) as team:
            return ranks.fit(team, parts[rank], schema=schema, estimator=estimators[rank])

    return in_threads(work, len(parts))


class Shared(ranks.Transport):
    """A transport of one's own: threads and a barrier."""

    lose = None  # (call, how often it goes well before its result is lost)

    def __init__(self, rank, ranks_, hall):
        self.own, self.hall, self.done = rank, hall, 0
        self.begin(rank, ranks_)

    def _all(self, mine):
        self.hall["at"][self.own] = mine
        self.hall["barrier"].wait(120)
        found = list(self.hall["at"])
        self.hall["barrier"].wait(120)
        return found

    def _lost(self, call):
        if self.lose is None or self.lose[0] != call:
            return False
        self.done += 1
        return self.done > self.lose[1]

    def smallest(self, x):
        return min(self._all(x))

    def sum(self, x):
        made = np.sum(self._all(x), axis=0)
        return np.zeros_like(x) if self._lost("sum") else made

    def largest(self, x):
        made = np.max(self._all(x), axis=0)
        return x if self._lost("largest") else made

    def broadcast(self, x, root):
        made = self._all(x)[root]
        return x if self._lost("broadcast") else made

    def gather(self, x):
        made = self._all(x)
        return made[:-1] if self._lost("gather") else made

    def closed(self, clean):
        self.hall["closed"].append(clean)
        if not clean:
            self.hall["barrier"].abort()


def over_own(parts, schema, estimators, lose=None):
    hall = {"at": [None] * len(parts), "barrier": threading.Barrier(len(parts)), "closed": []}

    def work(rank):
        with Shared(rank, len(parts), hall) as team:
            team.lose = lose if rank == 1 else None
            return ranks.fit(team, parts[rank], schema=schema, estimator=estimators[rank])

    return in_threads(work, len(parts)), hall


def cut(frame, *at):
    edges = [0, *at, len(frame)]
    return [frame.iloc[a:b] for a, b in zip(edges, edges[1:])]


CASES = [
    (lambda: logistic(), BINARY),
    (lambda: logistic(solver="dpsgd:epochs=2,batch=50"), BINARY),
    (lambda: logistic(), schema_for("kind", ["u", "v", "w"])),
    (lambda: tacit.PrivateRidge(epsilon=1.0, delta=1e-6, label_bounds=(0, 10), random_state=5, n_jobs=1), schema_for("z")),
]


@pytest.mark.parametrize("make, schema", CASES, ids=["two classes", "batches", "three classes", "numbers"])
def test_every_transport_makes_the_model_of_one_process(make, schema, tmp_path):
    frame = people()
    one = make().fit(frame, schema=schema)
    one.save(tmp_path / "one.json")
    want = (tmp_path / "one.json").read_bytes()
    for parts in (cut(frame, 300), cut(frame, 0, 10, 500)):
        found = over_sockets(parts, schema, [make() for _ in parts])
        theirs, hall = over_own(parts, schema, [make() for _ in parts])
        for each in found + theirs:
            assert isinstance(each, tacit.Model), each
            each.save(tmp_path / "many.json")
            assert (tmp_path / "many.json").read_bytes() == want
        assert hall["closed"] == [True] * len(parts)


@pytest.mark.parametrize("way", [over_sockets, lambda *given: over_own(*given)[0]], ids=["sockets", "own"])
def test_ranks_that_differ_in_a_setting_make_no_model_and_name_it(way):
    frame = people()
    for other, named in ((logistic(C=2.0), "the penalty"), (tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=6, n_jobs=1), "the seed"),
                         (logistic(neighbours="replace_one"), "neighbours")):  # fmt: skip
        for each in way(cut(frame, 300), BINARY, [logistic(), other]):
            assert isinstance(each, ValueError) and f"rank 1 differs from rank 0 in {named}" in str(each).replace("the neighbours", "neighbours")


@pytest.mark.parametrize("call", ["sum", "largest", "broadcast", "gather"])
def test_a_result_that_a_transport_loses_is_an_error_on_all_ranks(call):
    for well in range(0, 6, 2):
        found, hall = over_own(cut(people(), 300), BINARY, [logistic(), logistic()], lose=(call, well))
        if call == "largest" and all(isinstance(each, tacit.Model) for each in found):
            continue  # there are fewer such calls
        assert all(isinstance(each, (RuntimeError, ValueError)) for each in found), (call, well, found)
        assert False in hall["closed"]


def test_a_rank_that_cannot_make_its_records_ends_all_with_its_sentence_and_no_value():
    ear, address = listener()

    def broken():
        raise KeyError("Smith, 4711")

    def work(rank):
        own = ear if rank == 0 else None
        with ranks.Sockets(address, rank=rank, ranks=2, secret=SECRET, timeout=60, listener=own) as team:
            return ranks.fit(team, broken if rank else people(), schema=BINARY, estimator=logistic())

    for each in in_threads(work, 2):
        assert isinstance(each, RuntimeError) and "rank 1 could not make its records (KeyError)" in str(each)
        assert "4711" not in str(each)


def _die(address):
    with ranks.Sockets(address, rank=1, ranks=2, secret=SECRET, timeout=600):
        os._exit(9)


def test_a_process_that_dies_ends_the_others_charges_nothing_before_and_leaves_no_model(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "L", epsilon=3, delta=1e-4, for_tests=True)
    ear, address = listener()
    other = multiprocessing.get_context("spawn").Process(target=_die, args=(address,))
    other.start()
    with pytest.raises(RuntimeError, match="rank 1 of this run has ended"):
        with ranks.Sockets(address, rank=0, ranks=2, secret=SECRET, timeout=600, listener=ear) as team:
            ranks.fit(team, people(), schema=BINARY, estimator=logistic(ledger=ledger))
    other.join(600)
    assert ledger.state()["runs"] == []


def test_what_ranks_cannot_do_is_said_before_they_meet():
    with pytest.raises(ValueError, match="bounds of the columns come from a schema"):
        ranks.fit(None, people(), schema=BINARY, estimator=logistic(bounds=(0, 1)))
    with pytest.raises(ValueError, match="not weighed"):
        ranks.fit(None, people(), schema=BINARY, estimator=logistic(rows_per_person=2))
    with pytest.raises(ValueError, match="shorter than 32 bytes"):
        ranks.Sockets("127.0.0.1:1", rank=1, ranks=2, secret="short")
    with pytest.raises(RuntimeError, match="does not answer"):
        ranks.Sockets("127.0.0.1:1", rank=1, ranks=2, secret=SECRET, timeout=1)
