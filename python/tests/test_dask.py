"""Fits on a Dask cluster of processes on this machine: the model of one process, and workers that die."""

import asyncio
import contextlib
import multiprocessing
import os
import random
import signal
import threading
import time

import pandas as pd
import pytest

import tacit
from test_ranks import BINARY, logistic, people, schema_for

dask = pytest.importorskip("dask", reason="skipped: no Dask (pip install 'tacit[dask]')")
# Workers are copies of one process that has imported everything: else each takes seconds to.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
distributed = pytest.importorskip("distributed", reason="skipped: no Dask (pip install 'tacit[dask]')")
dd = pytest.importorskip("dask.dataframe", reason="skipped: no Dask (pip install 'tacit[dask]')")
import tacit.dask  # noqa: E402

multiprocessing.set_forkserver_preload(["distributed", "dask.dataframe", "tacit.dask"])

KILLS = int(os.environ.get("KILLS", "1"))


@contextlib.contextmanager
def cluster_of(workers):
    """Dask gives its processes some seconds to end, and one that it has just started again may take longer: that is no
    fault of a fit."""
    made = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        yield made
    finally:
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            made.close()


@pytest.fixture(scope="module")
def client():
    with cluster_of(3) as cluster:
        with distributed.Client(cluster) as made:
            made.run(lambda: __import__("tacit.dask"))
            yield made


def same_bytes(model, one, folder):
    model.save(folder / "many.json")
    one.save(folder / "one.json")
    return (folder / "many.json").read_bytes() == (folder / "one.json").read_bytes()


@pytest.mark.parametrize("solver", ["auto", "dpsgd:epochs=2,batch=50"])
def test_one_and_three_workers_make_the_model_of_one_process(client, tmp_path, solver):
    frame = people()
    one = logistic(solver=solver).fit(frame, schema=BINARY)
    lazy = dd.from_pandas(frame, npartitions=5)
    for workers in (None, list(client.nthreads())[:1]):
        for each in (lazy, lazy.persist()):
            model = tacit.dask.fit(client, each, schema=BINARY, estimator=logistic(solver=solver), workers=workers)
            assert same_bytes(model, one, tmp_path)


def test_no_row_comes_to_the_driver_and_partitions_stay_where_they_lie(client, monkeypatch):
    frame = dd.from_pandas(people(), npartitions=6).persist()
    distributed.wait(frame)
    before = client.has_what()
    for name in ("compute", "head", "iterrows"):
        monkeypatch.setattr(type(frame), name, lambda *_, **__: pytest.fail("rows were asked for"))
    monkeypatch.setattr(client, "gather", lambda *_, **__: pytest.fail("futures were asked for"))
    estimator = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6)
    assert tacit.dask.fit(client, frame, schema=BINARY, estimator=estimator).json["rows"] == 700
    keys = {key for held in before.values() for key in held}
    after = {worker: {key for key in held if key in keys} for worker, held in client.has_what().items()}
    assert after == {worker: set(held) for worker, held in before.items()}


def held():
    """On a worker: tables, frames and ranks that are still there."""
    import gc

    from tacit import _native

    return [type(each).__name__ for each in gc.get_objects() if isinstance(each, (_native.Owned, pd.DataFrame))]


def test_a_worker_keeps_no_row(client):
    tacit.dask.fit(client, dd.from_pandas(people(), npartitions=5), schema=BINARY, estimator=logistic())
    for _ in range(300):  # Dask lets go of a task's arguments a moment later
        left = client.run(held)
        if not any(left.values()):
            break
        time.sleep(0.1)
    assert not any(left.values())


def test_an_empty_partition_and_three_classes_are_as_in_one_process(client, tmp_path):
    frame, schema = people(), schema_for("kind", ["u", "v", "w"])
    parts = dd.from_pandas(frame, npartitions=4)
    parts = parts[parts["age"] >= 0]
    assert same_bytes(tacit.dask.fit(client, parts, schema=schema, estimator=logistic()), logistic().fit(frame, schema=schema), tmp_path)
    hollow = dd.concat([dd.from_pandas(frame.iloc[:0], npartitions=1), dd.from_pandas(frame, npartitions=2)])
    assert tacit.dask.fit(client, hollow, schema=BINARY, estimator=logistic()).json["rows"] == 700


def test_a_record_outside_the_schema_and_a_spent_ledger_are_errors_without_values(client, tmp_path):
    frame = people()
    bad = frame.copy()
    bad.loc[600, "y"] = "Smith"
    with pytest.raises(ValueError, match="not among") as caught:
        tacit.dask.fit(client, dd.from_pandas(bad, npartitions=3), schema=BINARY, estimator=logistic())
    assert "Smith" not in str(caught.value)
    ledger = tacit.Ledger.create(tmp_path / "L", epsilon=1.5, delta=1e-4, filter="sum", for_tests=True)
    parts = dd.from_pandas(frame, npartitions=3)
    tacit.dask.fit(client, parts, schema=BINARY, estimator=logistic(ledger=ledger))
    with pytest.raises(tacit.BudgetError):
        tacit.dask.fit(client, parts, schema=BINARY, estimator=logistic(ledger=ledger))
    assert len(ledger.state()["runs"]) == 1


def test_a_worker_that_is_killed_leaves_one_sentence_a_charge_and_no_model(tmp_path):
    """At random moments; the cluster is made anew for each."""
    choose = random.Random(int(os.environ.get("SEED", "19")))
    for kill in range(KILLS):
        ledger = tacit.Ledger.create(tmp_path / f"L{kill}", epsilon=10, delta=1e-4, for_tests=True)
        with cluster_of(2) as cluster:
            with distributed.Client(cluster) as client:
                pids = list(client.run(os.getpid).values())
                charged = []

                def end():
                    while not charged and choose.random() < 0.98 and not ledger.state()["runs"]:
                        time.sleep(0.1)
                    time.sleep(choose.random())
                    charged.append(len(ledger.state()["runs"]))
                    os.kill(choose.choice(pids), signal.SIGKILL)

                killer = threading.Thread(target=end)
                killer.start()
                long = logistic(solver="dpsgd:epochs=100000,batch=50", ledger=ledger)
                with pytest.raises(RuntimeError, match=r"rank \d of this run has ended|did not come|could not begin"):
                    tacit.dask.fit(client, dd.from_pandas(people(), npartitions=4), schema=BINARY, estimator=long, timeout=60)
                killer.join()
        runs = ledger.state()["runs"]
        assert charged[0] <= len(runs) <= 1
