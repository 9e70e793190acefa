"""Arrays are borrowed, every layout trains the same model, and tables read as the command line reads them."""

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tacit
from tacit._matrix import View


def data(rows=300, cols=5):
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(rows, cols)), 2)
    X[X < 0.2] = 0
    y = np.where(X @ np.arange(1, cols + 1) + rng.normal(size=rows) > 3, "yes", "no")
    return X, y


def train(X, y, solver="dpscd"):
    model = tacit.PrivateLogisticRegression(
        epsilon=2.0, delta=1e-5, data_norm=3.0, classes=["no", "yes"], solver=solver, random_state=3, n_jobs=1
    )
    return model.fit(X, y)


LAYOUTS = {
    "float32 rows": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "rows of a wider array": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "columns of a taller array": lambda X: np.asfortranarray(np.vstack([X, X]))[: X.shape[0]],
    "every second column of an array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "rows from the last to the first": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr, 64-bit": lambda X: wide(sparse.csr_matrix(X)),
    "csc, 64-bit": lambda X: wide(sparse.csc_matrix(X)),
    "csr, columns out of order": lambda X: shuffled(sparse.csr_matrix(X)),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


def wide(m):
    m.indptr, m.indices = m.indptr.astype(np.int64), m.indices.astype(np.int64)
    return m


def shuffled(m):
    for i in range(m.shape[0]):
        part = slice(m.indptr[i], m.indptr[i + 1])
        m.indices[part], m.data[part] = m.indices[part][::-1].copy(), m.data[part][::-1].copy()
    m.has_sorted_indices = m.has_canonical_format = False
    return m


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("solver", ["dpscd", "dpcd:order=cyclic"])
def test_every_layout_trains_the_same_model(name, solver):
    X, y = data()
    want = train(X, y, solver)
    got = train(LAYOUTS[name](X), y, solver)
    tolerance = 1e-4 if "float32" in name else 1e-6  # float32 holds other numbers; sums differ in their last digits
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got.decision_function(LAYOUTS[name](X)), want.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_are_borrowed(dtype, order):
    X = np.array(data()[0], dtype=dtype, order=order)
    assert View(X).keep[-1].values == X.ctypes.data


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("convert", [lambda m: m, wide])
def test_sparse_arrays_are_borrowed(kind, convert):
    m = convert(kind(data()[0]))
    struct = View(m).keep[-1]
    assert (struct.values, struct.start, struct.index) == (
        m.data.ctypes.data, m.indptr.ctypes.data, m.indices.ctypes.data)  # fmt: skip


def test_fit_leaves_the_callers_arrays_as_they_were():
    X, y = data()
    before = X.copy()
    train(X, y)
    np.testing.assert_array_equal(X, before)
    m = shuffled(sparse.csr_matrix(X))
    indices = m.indices.copy()
    train(m, y)
    np.testing.assert_array_equal(m.indices, indices)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_gives_its_names_and_its_label_column(frame):
    X, y = data()
    columns = {name: X[:, j] for j, name in enumerate("abcde")}
    model = train(frame({**columns, "answer": y}), "answer")
    assert list(model.feature_names_in_) == list("abcde")
    assert model.models_[0].features == list("abcde")
    assert model.models_[0].json["label"] == "answer"
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("edcba")))


def test_a_table_of_the_reader_trains_the_model_of_the_arrays(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(answer=np.where(y == "yes", 1, -1))
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = tacit.read(tmp_path / "t.csv", label="answer")
    assert table.shape == X.shape and table.feature_names == list("abcde")
    options = dict(epsilon=2.0, delta=1e-5, data_norm=3.0, random_state=3, n_jobs=1)
    read = tacit.PrivateLogisticRegression(**options).fit(table)
    model = tacit.PrivateLogisticRegression(classes=[-1, 1], **options).fit(X, frame["answer"])
    np.testing.assert_allclose(read.coef_, model.coef_, rtol=1e-9)
    np.testing.assert_array_equal(read.predict(table), model.predict(X))
    assert read.score(table) == model.score(X, frame["answer"])


def _peak_of_reading(path, **limits):
    """A read in a process of its own: its error text and its peak of memory beyond what the import took, in MiB."""
    script = (
        "import resource, sys, tacit\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        f"    tacit.read({str(path)!r}, label='y', **{limits!r})\n"
        "    print('read')\n"
        "except ValueError as error:\n"
        "    print(error)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    said, peak = done.stdout.splitlines()
    return said, float(peak)


@pytest.mark.parametrize(
    "contents, option",
    [
        pytest.param(b"," * 100_000_000, "max_header", id="a header of commas"),
        pytest.param(b"a,y\n" + b"1" * 100_000_000, "max_line", id="a record without end"),
        pytest.param(gzip.compress(b"a,y\n" + b"1,1\n" * 50_000_000), "max_expansion", id="equal lines, compressed"),
    ],
)
def test_a_file_that_asks_for_too_much_is_refused_before_it_takes_200_mib(tmp_path, contents, option):
    path = tmp_path / "hostile"
    path.write_bytes(contents)
    said, peak = _peak_of_reading(path)
    assert option in said
    assert peak < 200


def test_a_limit_of_the_input_can_be_raised_and_lowered(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("1 1:1 1500000:1\n-1 2:1\n")
    with pytest.raises(ValueError, match="max_cols"):
        tacit.read(path)
    assert tacit.read(path, max_cols=1_500_000).shape == (2, 1_500_000)
    with pytest.raises(ValueError, match="max_line"):
        tacit.read(path, max_cols=1_500_000, max_line=14)
    with pytest.raises(ValueError, match="max_cols must be"):
        tacit.read(path, max_cols=-1)


def test_a_quote_ends_with_its_line_unless_fields_over_lines_are_asked_for(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text('a,note,y\n1,"one\ntwo",1\n2,x,0\n')
    schema = tacit.Schema(
        {
            "columns": [{"name": "a", "type": "number", "lower": 0, "upper": 9}, {"name": "note", "type": "ignore"}],
            "label": {"name": "y"},
        }
    )
    with pytest.raises(ValueError, match="does not end in its line"):
        tacit.read(path, schema=schema)
    assert tacit.read(path, schema=schema, multiline=True).shape == (2, 1)
    assert tacit.read(path, schema=schema, invalid="zero").shape == (3, 1)
    with pytest.raises(ValueError, match="True or False"):
        tacit.read(path, schema=schema, multiline="no")


def test_no_record_tells_the_format_where_malformed_ones_are_nothing(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("broken\n1 1:1 2:1\n-1 2:1\n")
    assert tacit.read(path, format="libsvm", cols=2, invalid="zero").array().toarray().tolist() == [[0, 0], [1, 1], [0, 1]]
    path.write_text("1 1:1 2:1\n-1 2:1\n")
    with pytest.raises(ValueError, match="would tell the format"):
        tacit.read(path, cols=2, invalid="zero")
    with pytest.raises(ValueError, match="format is unknown"):
        tacit.read(path, format="xml")


def test_columns_that_memory_has_no_room_for_are_refused_and_nothing_as_long_is_made():
    X = sparse.csr_matrix((np.array([0.5, 0.25]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2_000_000_000))
    with pytest.raises(MemoryError, match="a fit of 2000000000 columns needs at least"):
        tacit.PrivateLogisticRegression(epsilon=1, delta=1e-6, data_norm=1, solver="dpgd").fit(X, [0, 1])
