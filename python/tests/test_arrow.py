"""Tables that show nothing but the Arrow C data interface."""

import ctypes

import numpy as np
import polars
import pytest

import tacit
from tacit import _arrow

BUDGET = {"epsilon": 1.0, "delta": 1e-5, "data_norm": 2.0, "classes": [0, 1], "n_jobs": 1, "random_state": 4}


class Stream:
    """What a library without any other common ground shows of its table."""

    def __init__(self, frame):
        self.frame, self.asked = frame, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return self.frame.__arrow_c_stream__(requested_schema)


class Batch:
    """A single chunk, handed over as two capsules."""

    def __init__(self, frame):
        self.capsule = frame.__arrow_c_stream__()
        at = _arrow._pointer_of(self.capsule, b"arrow_array_stream")
        stream, self.schema, self.array = _arrow.ArrowArrayStream.from_address(at), _arrow.ArrowSchema(), _arrow.ArrowArray()
        stream.get_schema(ctypes.byref(stream), ctypes.byref(self.schema))
        stream.get_next(ctypes.byref(stream), ctypes.byref(self.array))

    def __arrow_c_array__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        at = (ctypes.addressof(self.schema), ctypes.addressof(self.array))
        return new(at[0], b"arrow_schema", None), new(at[1], b"arrow_array", None)


def table(rows=500, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    y = (X[:, 0] - X[:, 1] > 0).astype(np.int8)
    return polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}), X, y


def test_a_table_by_the_name_of_its_label_gives_the_model_of_the_arrays():
    frame, X, y = table()
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(Stream(frame), "y")
    plain = tacit.PrivateLogisticRegression(**BUDGET).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)
    assert list(model.feature_names_in_) == ["a", "b", "c"] and model.models_[0].features == ["a", "b", "c"]
    assert model.models_[0].json["label"] == "y"
    assert np.array_equal(model.predict(Stream(frame)), model.predict(frame[["a", "b", "c"]]))
    turned = Stream(frame[["c", "y", "a", "b"]])  # columns go by name
    assert np.array_equal(model.predict(turned), model.predict(frame[["a", "b", "c"]]))
    with pytest.raises(ValueError, match="lacks a column"):
        model.predict(Stream(frame[["a", "b"]]))


def test_a_single_batch_is_read_like_a_stream():
    frame, X, y = table()
    np.testing.assert_array_equal(_arrow.frame(Batch(frame)).matrix(["a", "b", "c"]), X)
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(Batch(frame), "y")
    assert np.array_equal(model.coef_, tacit.PrivateLogisticRegression(**BUDGET).fit(Stream(frame), "y").coef_)


def test_chunks_are_put_together():
    frame, X, _ = table()
    chunked = polars.concat([frame[:100], frame[100:101], frame[101:]], rechunk=False)
    np.testing.assert_array_equal(_arrow.frame(Stream(chunked)).matrix(["a", "b", "c"]), X)


@pytest.mark.parametrize(
    "kind", [polars.Int8, polars.UInt8, polars.Int16, polars.UInt16, polars.Int32, polars.UInt32, polars.Int64,
             polars.UInt64, polars.Float32, polars.Float64]
)  # fmt: skip
def test_every_kind_of_number_arrives(kind):
    frame = polars.DataFrame({"v": [0, 1, 2, 100, 7]}).with_columns(polars.col("v").cast(kind))[1:]
    got = _arrow.frame(Stream(frame))
    np.testing.assert_array_equal(got["v"], [1, 2, 100, 7])
    np.testing.assert_array_equal(got.matrix(["v"]), [[1], [2], [100], [7]])


def test_missing_numbers_are_nan_and_refused_by_fit():
    frame, _, y = table()
    holes = frame.with_columns(polars.when(polars.col("a") > 0).then(polars.col("a")).alias("a"))
    got = _arrow.frame(Stream(holes)).matrix(["a"])[:, 0]
    assert np.array_equal(np.isnan(got), frame["a"].to_numpy() <= 0)
    with pytest.raises(ValueError, match="NaN"):
        tacit.PrivateLogisticRegression(**BUDGET).fit(Stream(holes), "y")


def test_booleans_and_texts_arrive_with_their_holes():
    words = ["a", None, "ü", "a text of more than twelve bytes", "", "b"] * 5
    frame = polars.DataFrame({"t": words, "b": [True, False, None, True, True, False] * 5})
    frame = frame.with_columns(polars.col("t").cast(polars.Categorical).alias("k"))
    for part, first in ((frame, 0), (frame[7:], 7)):
        got = _arrow.frame(Stream(part))
        assert list(got["t"]) == words[first:]
        assert list(got["k"]) == words[first:]
        assert list(got["b"]) == ([True, False, None, True, True, False] * 5)[first:]
        np.testing.assert_array_equal(got.matrix(["b"])[:, 0], np.array(([1, 0, np.nan, 1, 1, 0] * 5)[first:], dtype=float))


def test_texts_among_the_features_are_refused_with_a_sentence_and_encoded_by_a_schema():
    frame = polars.DataFrame({"a": [0.1, 0.9] * 50, "k": ["u", "v"] * 50, "y": [0, 1] * 50})
    with pytest.raises(ValueError, match='column "k" holds texts'):
        tacit.PrivateLogisticRegression(**BUDGET).fit(Stream(frame), "y")
    schema = tacit.Schema.draft(Stream(frame), label="y")
    del schema.json["not_private"]  # in a test the values may come from the data
    scaler = tacit.PublicScaler(schema).fit(Stream(frame))
    np.testing.assert_array_equal(scaler.transform(Stream(frame)), scaler.transform(frame))
    bounded = tacit.PublicScaler(bounds=(-1, 1))
    np.testing.assert_array_equal(bounded.fit_transform(Stream(frame[["a"]])), bounded.fit_transform(frame[["a"]]))


def test_other_kinds_are_refused_with_a_sentence():
    frame = polars.DataFrame({"a": [[1.0], [2.0]]})
    with pytest.raises(ValueError, match='column "a" holds neither numbers, booleans nor texts'):
        _arrow.frame(Stream(frame)).matrix(["a"])
    with pytest.raises(ValueError, match="single column"):
        _arrow.frame(Stream(polars.Series("a", [1.0, 2.0])))


def test_labels_may_come_as_texts():
    frame, X, y = table()
    named = frame.with_columns(polars.when(polars.col("y") == 1).then(polars.lit("yes")).otherwise(polars.lit("no")).alias("y"))
    model = tacit.PrivateLogisticRegression(**{**BUDGET, "classes": ["no", "yes"]}).fit(Stream(named), "y")
    assert set(model.predict(Stream(named))) <= {"no", "yes"}
    assert model.score(Stream(named), np.where(y == 1, "yes", "no")) > 0.8


def test_the_memory_of_the_exporter_is_let_go_of():
    import gc
    import resource

    frame = polars.DataFrame({"a": np.zeros(1 << 20), "b": np.zeros(1 << 20)})
    for _ in range(3):
        _arrow.frame(Stream(frame)).matrix(["a", "b"])
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in range(12):
        fresh = polars.DataFrame({"a": np.full(1 << 20, float(k)), "b": np.full(1 << 20, float(k))})
        _arrow.frame(Stream(fresh)).matrix(["a", "b"])
        del fresh
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # twelve of 16 MiB were seen
