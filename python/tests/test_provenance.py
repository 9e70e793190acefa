"""What read the table before a fit: named in its certificate, or the fit is refused.  Never silence."""

import inspect
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection as selection
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401: two more to walk
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils import all_estimators

import tacit
from tacit import _base, _provenance, _repeats
from tacit._model import amended

BUDGET = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 2.0, "n_jobs": 1}
CONTAINERS = ("ColumnTransformer", "FeatureUnion", "Pipeline")
HOLDS = ("estimator", "base_estimator", "estimators", "regressor", "transformers", "transformer_list", "steps")
REFUSED = "spend epsilon each time"


def data(rows=240, cols=4, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 1, size=(rows, cols))
    return X, (X[:, 0] > X[:, 1]).astype(int)


def classifier(**settings):
    return tacit.PrivateLogisticRegression(**{**BUDGET, "classes": [0, 1], "weight_cap": 1.0, "solver": "dpgd", **settings})


def regressor(**settings):
    return tacit.PrivateRidge(**{**BUDGET, "label_bounds": (0, 1), "weight_cap": 1.0, "solver": "dpgd", **settings})


@pytest.fixture
def certificates(monkeypatch):
    """The certificate of every fit of this package, also of those that a meta-estimator throws away."""
    seen, finish = [], _base.Linear._finish
    monkeypatch.setattr(_base.Linear, "_finish", lambda me, *rest: (seen.append(rest[-1]), finish(me, *rest))[1])
    return seen


# ---- meta-estimators ----


def metas():
    """Every estimator of the installed scikit-learn that fits another one."""
    found = []
    for name, kind in all_estimators():
        takes = set(inspect.signature(kind.__init__).parameters)
        if name not in CONTAINERS and takes & set(HOLDS):
            found.append(pytest.param(kind, id=name))
    return found


def is_real(kind):
    return issubclass(kind, RegressorMixin) or kind.__name__ == "IterativeImputer"


def around(kind, ledger=None):
    """kind around an estimator of this package, in settings that are quick."""
    takes = inspect.signature(kind.__init__).parameters
    coded = {"classes": [-1, 1]} if kind.__name__ == "OutputCodeClassifier" else {}
    mine = regressor(ledger=ledger) if is_real(kind) else classifier(ledger=ledger, **coded)
    settings = {"estimators": [("one", mine), ("two", clone(mine))]} if "estimators" in takes else {}
    settings.update({name: mine for name in ("estimator", "base_estimator", "regressor") if name in takes})
    quick = {"n_estimators": 2, "error_score": "raise", "cv": 2, "n_jobs": 1, "max_trials": 3, "max_iter": 2, "n_iter": 2,
             "param_grid": {"fit_intercept": [True, False]}, "param_distributions": {"fit_intercept": [True, False]},
             "min_samples": 60, "factor": 2, "code_size": 8}  # fmt: skip
    return kind(**settings, **{name: value for name, value in quick.items() if name in takes})


def labels_for(kind, X, y):
    y = X[:, 0] if is_real(kind) else y
    if kind.__name__ in ("MultiOutputClassifier", "MultiOutputRegressor", "ClassifierChain", "RegressorChain"):
        return np.column_stack([y, 1 - y])
    if kind.__name__ == "SelfTrainingClassifier":
        return np.where(np.arange(len(y)) % 3 == 0, -1, y)
    return y


def holes(kind, X):
    return np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X) if kind.__name__ == "IterativeImputer" else X


def test_the_walk_meets_the_meta_estimators_that_are_known_by_name():
    names = {each.id for each in metas()}
    known = """AdaBoostClassifier BaggingRegressor CalibratedClassifierCV ClassifierChain FixedThresholdClassifier GridSearchCV
        HalvingGridSearchCV IterativeImputer MultiOutputRegressor OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
        RANSACRegressor RFE RFECV RandomizedSearchCV SelectFromModel SelfTrainingClassifier SequentialFeatureSelector
        StackingClassifier TransformedTargetRegressor TunedThresholdClassifierCV VotingRegressor""".split()
    assert set(known) <= names and len(names) >= 25


@pytest.mark.parametrize("kind", metas())
@pytest.mark.parametrize("seed", [None, 3])
def test_a_meta_estimator_without_a_ledger_is_refused(kind, seed, certificates):
    X, y = data()
    meta = around(kind)
    meta.set_params(**{name: seed for name in meta.get_params() if name.endswith("random_state")})
    if "code_size" in meta.get_params():
        meta.set_params(code_size=20)  # a random code of few columns may ask for no fit at all
    with pytest.raises(ValueError, match=REFUSED) as why:
        meta.fit(holes(kind, X), labels_for(kind, X, y))
    assert kind.__name__ in str(why.value) and certificates == []


@pytest.mark.parametrize("kind", metas())
def test_a_meta_estimator_with_a_ledger_is_named_by_every_fit_in_it(kind, certificates, tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=500.0, delta=1e-2, for_tests=True)
    around(kind, ledger).fit(holes(kind, X), labels_for(kind, X, y))
    assert len(certificates) >= 1 and len(ledger.state()["runs"]) == len(certificates)
    for privacy in certificates:
        assert any(line.startswith(f"inside {kind.__name__}, which ") for line in privacy["unaccounted"]), privacy


@pytest.mark.parametrize("kind", metas())
def test_a_meta_estimator_around_a_model_without_privacy_is_nobodys_business(kind, certificates):
    X, y = data()
    meta = around(kind)
    meta.set_params(**{name: float("inf") for name in meta.get_params() if name.endswith("__epsilon")})
    meta.fit(holes(kind, X), labels_for(kind, X, y))
    assert certificates and not any(privacy["private"] for privacy in certificates)


FUNCTIONS = {
    "cross_val_score": {},
    "cross_val_predict": {},
    "cross_validate": {},
    "learning_curve": {"train_sizes": [0.5, 1.0]},
    "permutation_test_score": {"n_permutations": 1},
    "validation_curve": {"param_name": "C", "param_range": [0.1, 1.0]},
}


def test_the_functions_of_model_selection_that_fit_are_all_known():
    fitting = {name for name in selection.__all__ if "estimator" in inspect.signature(getattr(selection, name)).parameters}
    assert {name for name in fitting if name[0].islower()} == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_model_selection_is_refused_without_a_ledger_and_named_with_one(name, certificates, tmp_path):
    X, y = data()
    raises = {} if name in ("cross_val_predict", "permutation_test_score") else {"error_score": "raise"}

    def call(model):
        return getattr(selection, name)(make_pipeline(model), X, y, cv=2, **raises, **FUNCTIONS[name]) if (
            name != "validation_curve") else selection.validation_curve(model, X, y, cv=2, **raises, **FUNCTIONS[name])  # fmt: skip

    with pytest.raises(ValueError, match=f"{name}.*{REFUSED}"):
        call(classifier())
    assert certificates == []
    call(classifier(ledger=tacit.Ledger.create(tmp_path / "l", epsilon=100.0, delta=1e-2, for_tests=True)))
    for privacy in certificates:
        assert any(line.startswith(f"inside {name}, which chooses or reports") for line in privacy["unaccounted"])


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_joblib_are_seen(backend, certificates, tmp_path):
    X, y = data()
    with joblib.parallel_config(backend=backend, n_jobs=2), pytest.raises(ValueError, match=REFUSED):
        OneVsRestClassifier(classifier(), n_jobs=2).fit(X, np.arange(len(y)) % 3)
    if backend == "threading":
        ledger = tacit.Ledger.create(tmp_path / "l", epsilon=100.0, delta=1e-2, for_tests=True)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            make_pipeline(StandardScaler(), OneVsRestClassifier(classifier(ledger=ledger), n_jobs=2)).fit(X, np.arange(len(y)) % 3)
        assert len(certificates) == 3
        for privacy in certificates:
            assert any("worker of joblib" in line for line in privacy["unaccounted"])


def test_a_meta_estimator_of_somebody_elses_is_seen_by_its_mixin():
    class Twice(MetaEstimatorMixin, BaseEstimator):
        def __init__(self, estimator=None):
            self.estimator = estimator

        def fit(self, X, y):
            self.models_ = [clone(self.estimator).fit(X, y) for _ in "ab"]
            return self

    with pytest.raises(ValueError, match=f"Twice would .*{REFUSED}"):
        Twice(classifier()).fit(*data())


def test_the_plan_may_be_asked_for_anywhere():
    class Asks(MetaEstimatorMixin, BaseEstimator):
        def fit(self, X, y):
            return classifier().plan(*X.shape)

    assert Asks().fit(*data())["private"]


# ---- steps of pipelines ----

PUBLIC = {
    "AdditiveChi2Sampler", "Binarizer", "FeatureHasher", "FunctionTransformer", "GaussianRandomProjection", "HashingVectorizer",
    "Normalizer", "PolynomialCountSketch", "PolynomialFeatures", "SkewedChi2Sampler", "SparseRandomProjection",
}  # fmt: skip
NEEDS = {
    "ColumnTransformer": {"transformers": [("scale", StandardScaler(), [0, 1])]},
    "FeatureUnion": {"transformer_list": [("scale", StandardScaler())]},
    "GaussianRandomProjection": {"n_components": 2},
    "SparseCoder": {"dictionary": np.eye(4)},
    "SparseRandomProjection": {"n_components": 2},
}


def transformers():
    return [pytest.param(kind, id=name) for name, kind in all_estimators(type_filter="transformer")]


def step_of(kind):
    if kind.__name__ in NEEDS:
        return kind(**NEEDS[kind.__name__])
    takes = inspect.signature(kind.__init__).parameters
    plain = LogisticRegression()
    if "estimators" in takes:
        return kind(estimators=[("plain", plain)])
    return kind(estimator=plain) if "estimator" in takes and kind.__name__ != "IterativeImputer" else kind()


@pytest.mark.parametrize("kind", transformers())
def test_a_step_before_the_estimator_is_named_or_keeps_nothing_of_the_records(kind):
    X, y = data()
    expected = {"FeatureUnion": "StandardScaler", "ColumnTransformer": "StandardScaler"}.get(kind.__name__, kind.__name__)
    lines = _provenance._step_notes([Pipeline([("step", step_of(kind)), ("model", classifier())])])
    assert any(expected in line for line in lines) == (kind.__name__ not in PUBLIC), lines
    model = classifier()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_pipeline(step_of(kind), model).fit(X, y)
    except (TypeError, ValueError, AttributeError):  # it takes no table of numbers: no model, and no silence
        assert not hasattr(model, "privacy_")
        return
    assert model.privacy_["unaccounted"] == lines


def test_most_transformers_do_train_in_a_pipeline():
    """Else the test above would pass for want of models."""
    X, y = data()
    trained = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in transformers():
            try:
                make_pipeline(step_of(each.values[0]), classifier()).fit(X, y)
                trained += 1
            except (TypeError, ValueError, AttributeError):
                pass
    assert trained >= 55


@pytest.mark.parametrize("name", sorted(PUBLIC - {"FeatureHasher", "HashingVectorizer"}))
def test_steps_that_are_taken_for_public_are_the_same_after_other_records(name):
    kind = dict(all_estimators(type_filter="transformer"))[name]
    settings = {**NEEDS.get(name, {}), **({"random_state": 1} if "random_state" in kind().get_params() else {})}
    probe = data(seed=7)[0]
    one, two = (kind(**settings).fit(data(seed=seed)[0] * scale) for seed, scale in ((1, 1.0), (2, 50.0)))
    first, second = (np.asarray(getattr(t.transform(probe), "toarray", lambda: t.transform(probe))()) for t in (one, two))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "step, named",
    [
        (FunctionTransformer(np.log1p), None),
        (FunctionTransformer(lambda X: X - X.mean(axis=0)), "FunctionTransformer"),
        (OneHotEncoder(categories=[[0, 1]] * 4, handle_unknown="ignore"), None),
        (OneHotEncoder(handle_unknown="ignore"), "OneHotEncoder"),
        (OneHotEncoder(categories=[[0, 1]] * 4, max_categories=2, handle_unknown="ignore"), "OneHotEncoder"),
        (FeatureUnion([("a", Normalizer()), ("b", make_pipeline(Normalizer(), PCA(2)))]), "PCA"),
        (ColumnTransformer([("a", "drop", [0])], remainder=StandardScaler()), "StandardScaler"),
        (ColumnTransformer([("a", "passthrough", [0])], remainder="drop"), None),
        (ColumnTransformer([("a", "passthrough", make_column_selector())]), "ColumnTransformer"),
        (Pipeline([("inner", Pipeline([("deep", SelectKBest(k=2))]))]), "SelectKBest"),
        (tacit.PublicScaler(bounds=(0, 1)), None),
    ],
)
def test_containers_are_walked_and_terms_are_heeded(step, named):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = classifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_pipeline(step, model).fit(frame if isinstance(step, ColumnTransformer) else X, y)
    assert [line.rpartition(": ")[2] for line in model.privacy_["unaccounted"]] == ([named] if named else [])


def test_steps_outside_of_an_inner_pipeline_and_around_a_search_are_named(tmp_path):
    X, y = data()
    inner = Pipeline([("pca", PCA(3)), ("model", classifier())])
    fitted = make_pipeline(StandardScaler(), inner).fit(X, y)
    assert fitted[-1][-1].privacy_["unaccounted"] == [
        "steps before the estimator read the records, or may have: StandardScaler, PCA"
    ]
    fitted[-1][-1].save(tmp_path / "m.json")
    assert "StandardScaler" in tacit.read_model(tmp_path / "m.json").privacy["unaccounted"][0]
    assert "StandardScaler" in tacit.verify(tmp_path / "m.json")["unaccounted"][0]
    searched = make_pipeline(StandardScaler(), tacit.PrivateSearchCV(classifier(), {"C": [0.1, 1.0]}, epsilon=1.0, delta=1e-6))
    searched.fit(*data(seed=8))
    assert "StandardScaler" in searched[-1].best_estimator_.models_[0].privacy["unaccounted"][0]


def test_the_warning_says_what_the_certificate_says():
    with pytest.warns(tacit.PrivacyWarning, match="does not cover this: steps before the estimator.*StandardScaler"):
        make_pipeline(StandardScaler(), classifier()).fit(*data())


# ---- drafted schemas ----


def people(rows=200):
    X, y = data(rows)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "paid": np.where(y, "yes", "no")})


def test_a_drafted_schema_is_named_in_a_pipeline_and_by_the_reader(tmp_path):
    frame = people()
    draft = tacit.Schema.draft(frame, label="paid")
    draft.save(tmp_path / "draft.json")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for schema in (draft, tmp_path / "draft.json"):
        model = classifier(classes=["no", "yes"])
        make_pipeline(tacit.PublicScaler(schema), model).fit(frame.sample(frac=1.0), frame["paid"])
        columns = ColumnTransformer([("all", tacit.PublicScaler(schema), ["a", "b"])])
        inner = clone(model)
        make_pipeline(columns, inner).fit(people(300), people(300)["paid"])
        read = classifier(weight_cap=None, classes=None).fit(tacit.read(tmp_path / "t.csv", schema=schema))
        for each in (model, inner, read):
            assert any(line.startswith("the schema is a draft") for line in each.privacy_["unaccounted"]), each.privacy_
    del draft.json["not_private"]
    model = classifier(classes=["no", "yes"])
    make_pipeline(tacit.PublicScaler(draft), model).fit(people(400), people(400)["paid"])
    assert model.privacy_["unaccounted"] == []


def test_a_drafted_schema_is_refused_where_no_certificate_can_name_it():
    frame = people()
    scaler = tacit.PublicScaler(tacit.Schema.draft(frame, label="paid"))
    for call in (lambda: scaler.fit(frame), lambda: make_pipeline(scaler, StandardScaler()).fit_transform(frame)):
        with pytest.raises(ValueError, match="the schema is a draft"):
            call()


# ---- earlier fits ----


def test_earlier_fits_on_the_same_records_are_named_with_their_number_and_sum():
    X, y = data()
    first, second = classifier().fit(X, y), classifier(epsilon=0.5)
    with pytest.warns(tacit.PrivacyWarning, match="there was 1 earlier fit"):
        second.fit(X[::-1].copy(), y[::-1])  # in another order they are the same records
    third = classifier(classes=None, random_state=4).fit(pd.DataFrame(X), 1 - y)
    assert first.privacy_["unaccounted"] == []
    assert second.privacy_["unaccounted"] == [
        "1 earlier fit in this process on the same records without a ledger, epsilon 1 and delta 1e-06 in sum"
    ]
    line = "2 earlier fits in this process on the same records without a ledger, epsilon 1.5 and delta 2e-06 in sum"
    assert third.privacy_["unaccounted"][-1] == line
    last = classifier().fit(X, y)
    assert "3 earlier fits" in last.models_[0].privacy["unaccounted"][0]
    assert last.privacy_["unaccounted"][0].endswith("; the noise of 1 came from a seed")


def test_one_warning_for_a_table_and_none_where_config_says_ok():
    X, y = data()
    classifier().fit(X, y)
    with tacit.config(repeated_fits="ok"), warnings.catch_warnings():
        warnings.simplefilter("error", tacit.PrivacyWarning)
        quiet = classifier().fit(X, y)
    assert "1 earlier fit" in quiet.privacy_["unaccounted"][0]  # silent, but said
    with pytest.warns(tacit.PrivacyWarning, match="2 earlier fits"):
        classifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tacit.PrivacyWarning)
        assert "3 earlier fits" in classifier().fit(X, y).privacy_["unaccounted"][0]
    with pytest.raises(ValueError, match="repeated_fits must be"):
        tacit.config(repeated_fits="no")


def test_fits_with_a_ledger_are_in_the_ledger_and_fits_without_privacy_are_infinite(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=10.0, delta=1e-3, for_tests=True)
    classifier(ledger=ledger).fit(X, y)
    assert classifier().fit(X, y).privacy_["unaccounted"] == []
    assert "1 earlier fit" in classifier(ledger=ledger).fit(X, y).privacy_["unaccounted"][0]
    other, labels = data(seed=9)
    classifier(epsilon=float("inf")).fit(other, labels)
    assert "epsilon inf" in classifier().fit(other, labels).privacy_["unaccounted"][0]


def test_a_search_is_one_earlier_fit_of_its_whole_epsilon():
    X, y = data()
    search = tacit.PrivateSearchCV(classifier(), {"C": [0.1, 1.0]}, epsilon=2.0, delta=1e-6)
    assert search.fit(X, y).privacy_["unaccounted"] == []
    assert "1 earlier fit in" in classifier().fit(X, y).privacy_["unaccounted"][0]
    again = search.fit(X, y).best_estimator_.models_[0].privacy["unaccounted"]
    assert again[0].startswith("2 earlier fits") and "epsilon 3 and" in again[0]


def test_the_fingerprint_is_of_the_records_and_not_of_how_they_lie(tmp_path):
    from scipy import sparse

    X = np.round(data()[0], 3)
    X[X < 0.3] = 0
    mark = _repeats.fingerprint(X)
    pd.DataFrame(X).to_csv(tmp_path / "t.csv", index=False)
    order = np.random.default_rng(1).permutation(len(X))
    tables = [np.asfortranarray(X), X[order], sparse.csr_matrix(X), sparse.csc_matrix(X[order]),
              np.hstack([X, X])[:, :4], tacit.read(tmp_path / "t.csv", labels="none")]  # fmt: skip
    assert [_repeats.fingerprint(table) for table in tables] == [mark] * len(tables)
    small = X.astype(np.float32)
    assert _repeats.fingerprint(small) == _repeats.fingerprint(small.astype(np.float64)) != mark
    turned, swapped, other = X[:, [1, 0, 2, 3]], X.copy(), X.copy()
    swapped[:2, 0] = X[1::-1, 0]  # the same columns, other rows
    other[3, 2] += 1e-9
    for table in (turned, swapped, other, X[1:], np.vstack([X, X[:1]])):
        assert _repeats.fingerprint(table) != mark


def test_the_fingerprint_of_many_blocks_is_that_of_the_whole():
    from scipy import sparse

    X = sparse.random(30000, 40, density=0.2, format="csr", random_state=1)  # four blocks
    X.data[:] = np.round(X.data, 2)
    mark, turned = _repeats.fingerprint(X), X[np.random.default_rng(1).permutation(30000)]
    assert len({mark, *(_repeats.fingerprint(each) for each in (X.tocsc(), X.toarray(), turned))}) == 1
    other = X.copy()
    other.data[-1] += 1e-9
    assert _repeats.fingerprint(other) != mark


def test_round_numbers_do_not_collide():
    seen = {_repeats.fingerprint(np.array([[a, b], [c, d]], dtype=float)) for a in range(6) for b in range(6)
            for c in range(6) for d in range(6)}  # fmt: skip
    assert len(seen) == 36 * 37 // 2  # pairs of rows, in either order


# ---- the certificate ----


def test_more_facts_than_a_model_file_holds_share_its_last_line():
    model = classifier().fit(*data()).models_[0]
    lines = [f"fact {k}" for k in range(70)]
    held = amended(model, unaccounted=lines).privacy["unaccounted"]
    assert len(held) == 64 and held[:63] == lines[:63] and held[63] == "; ".join(lines[63:])
    assert amended(model, unaccounted=["a", "a"]).privacy["unaccounted"] == ["a"]


def test_a_seed_is_warned_of_as_on_the_command_line():
    with pytest.warns(tacit.PrivacyWarning, match="random_state makes the noise reproducible: who knows the seed"):
        classifier(random_state=1).fit(*data())
    with pytest.warns(tacit.PrivacyWarning, match="random_state makes the noise reproducible") as seen:
        tacit.PrivateSearchCV(classifier(), {"C": [0.1, 1.0]}, epsilon=1.0, delta=1e-6, random_state=1).fit(*data(seed=3))
    assert len(seen) == 1
