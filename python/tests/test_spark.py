"""Fits on Spark in barrier mode: the model of one process.  `make spark` runs these."""

import os
import signal
import threading
import time

import pytest

import tacit
from tacit import _repeats
from test_ranks import BINARY, logistic, people

pyspark = pytest.importorskip("pyspark", reason="skipped: no Spark (pip install 'tacit[spark]')")
import tacit.spark  # noqa: E402


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    if not os.environ.get("JAVA_HOME") and os.system("java -version 2>/dev/null") != 0:
        pytest.skip("skipped: no Java (Debian: default-jre-headless)")
    build = SparkSession.builder.master(os.environ.get("SPARK_MASTER", "local-cluster[2,1,1024]"))
    build = build.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    build = build.config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
    for name in ("PYTHONPATH", "TACIT_LIBRARY", "TACIT_REGISTRY"):
        build = build.config(f"spark.executorEnv.{name}", os.environ.get(name, ""))
    made = build.getOrCreate()
    yield made
    made.stop()


def test_two_executors_make_the_model_of_one_process(session, tmp_path):
    frame = people()
    records = session.createDataFrame(frame).coalesce(1).repartition(1).cache()
    rows = records.toPandas()
    two = session.createDataFrame(rows, records.schema)  # in runs of their order
    for solver in ("auto", "dpsgd:epochs=2,batch=50"):
        _repeats.forget()
        model = tacit.spark.fit(two, schema=BINARY, estimator=logistic(solver=solver), tasks=2)
        one = logistic(solver=solver).fit(rows, schema=BINARY)
        model.save(tmp_path / "many.json")
        one.save(tmp_path / "one.json")
        assert (tmp_path / "many.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def python_workers():
    """Processes below this one that Spark's Python daemons have forked, with the processor time of each."""
    parent, words, used = {}, {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline") as line:
                fields = stat.read().rsplit(")", 1)[1].split()
                parent[int(pid)], used[int(pid)], words[int(pid)] = int(fields[1]), int(fields[11]), line.read()
        except OSError:
            pass  # it has ended
    found = {}
    for pid in parent:
        above, seen = parent[pid], []
        while above in parent and above != os.getpid():
            seen.append(above)
            above = parent[above]
        daemons = [each for each in (pid, *seen[:1]) if "pyspark" in words[each] and "daemon" in words[each]]
        if above == os.getpid() and len(daemons) == 2:
            found[pid] = used[pid]
    return found


def test_a_worker_that_is_killed_leaves_one_sentence_a_charge_and_no_model(session, tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "L", epsilon=10, delta=1e-4, for_tests=True)
    frame = session.createDataFrame(people())
    killed = []

    def end():
        for _ in range(1200):
            if ledger.state()["runs"]:
                break
            time.sleep(0.1)
        at_first = python_workers()
        time.sleep(1)
        worked = {pid: ticks - at_first.get(pid, 0) for pid, ticks in python_workers().items()}
        killed.append(max(worked, key=worked.get))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=end)
    killer.start()
    model = None
    try:
        long = logistic(solver="dpsgd:epochs=100000,batch=50", ledger=ledger)
        with pytest.raises(RuntimeError, match="rank [12] of this run has ended or does not answer"):
            model = tacit.spark.fit(frame, schema=BINARY, estimator=long, tasks=2, timeout=60)
    finally:
        killer.join()
    assert killed and model is None
    assert len(ledger.state()["runs"]) == 1
    assert not session.sparkContext.statusTracker().getActiveJobsIds(), "Spark tries again"
    tacit.spark.fit(frame, schema=BINARY, estimator=logistic(ledger=ledger), tasks=2)  # the cluster still works
    assert len(ledger.state()["runs"]) == 2
