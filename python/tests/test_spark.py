"""Fits on Spark in barrier mode: the model of one process, and a task that dies.  `make spark` runs these."""

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


def test_an_executor_that_is_killed_leaves_one_sentence_a_charge_and_no_model(session, tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "L", epsilon=10, delta=1e-4, for_tests=True)
    pids = session.sparkContext.parallelize(range(2), 2).map(lambda _: os.getpid()).collect()

    def end():
        while not ledger.state()["runs"]:
            time.sleep(0.1)
        time.sleep(0.5)
        for pid in set(pids):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    killer = threading.Thread(target=end)
    killer.start()
    long = logistic(solver="dpsgd:epochs=1000000,batch=50", ledger=ledger)
    with pytest.raises(RuntimeError, match=r"rank \d of this run has ended"):
        tacit.spark.fit(session.createDataFrame(people()), schema=BINARY, estimator=long, tasks=2)
    killer.join()
    assert len(ledger.state()["runs"]) == 1
