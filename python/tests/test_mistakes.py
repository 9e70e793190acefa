"""Mistakes that people make: each is refused in one sentence that names the column or the option and the way out, in
Python's words, and shows no value of the data."""

import json
import pathlib
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import tacit

SECRETS = ("Zorro", "987654", "2031-05", "maybe-so", "patient-77")
N = 60
BUDGET = {"epsilon": 1.0, "delta": 1e-4}
SCHEMA = {
    "label": {"name": "died", "positive": "yes", "values": ["no", "yes"]},
    "columns": [
        {"name": "age", "type": "number", "lower": 0, "upper": 100},
        {"name": "work", "type": "category", "values": ["state", "private"]},
        {"name": "id", "type": "ignore"},
    ],
}


def frame(**changed):
    columns = {
        "age": np.linspace(1.0, 99.0, N),
        "work": ["state", "private"] * (N // 2),
        "id": ["patient-77"] * N,
        "died": ["no", "yes", "no"] * (N // 3),
    }
    return pd.DataFrame({**columns, **changed})


def one_bad(name, value):
    """The frame with one value changed."""
    values = frame()[name].astype(object)
    values[7] = value
    return frame(**{name: values})


def with_schema(**changed):
    return {**SCHEMA, **changed}


def column(k, **changed):
    columns = [dict(each) for each in SCHEMA["columns"]]
    columns[k].update(changed)
    return with_schema(columns=columns)


def logistic(**settings):
    return tacit.PrivateLogisticRegression(**{**BUDGET, **settings})


def under(X=None, y=None, schema=SCHEMA, fit=None, **settings):
    return logistic(**settings).fit(frame() if X is None else X, y, schema=schema, **(fit or {}))


X = np.column_stack([np.linspace(-1, 1, N), np.cos(np.arange(N))])
Y = (X[:, 0] > 0).astype(int)


def plain(X=X, y=Y, fit=None, **settings):
    return logistic(**{"data_norm": 2.0, "classes": [0, 1], **settings}).fit(X, y, **(fit or {}))


def ridge(X=X, y=X[:, 1], **settings):
    return tacit.PrivateRidge(**{**BUDGET, "data_norm": 2.0, "label_bounds": (-1, 1), **settings}).fit(X, y)


def file(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def table(folder, **settings):
    frame().to_csv(folder / "t.csv", index=False)
    return tacit.read(folder / "t.csv", **{"schema": tacit.Schema(SCHEMA), **settings})


def spent(folder):
    ledger = tacit.Ledger.create(folder / "l.db", filter="sum", epsilon=1.5, delta=1e-2)
    plain(ledger=ledger)
    return plain(ledger=ledger)


def ledger(folder, **settings):
    return tacit.Ledger.create(folder / "l.db", **{"epsilon": 2.0, "delta": 1e-2, **settings})


# What somebody does (folder: an empty one): what the sentence says.
MISTAKES = {
    "no epsilon": (lambda folder: plain(epsilon=None), "epsilon is not given .* give e.g. epsilon=1.0"),
    "no delta": (lambda folder: plain(delta=None), "delta is not given .* give e.g. delta=1e-6"),
    "epsilon as a text": (lambda folder: plain(epsilon="1"), "epsilon must be a number above 0; give e.g. epsilon=1.0"),
    "epsilon 0": (lambda folder: plain(epsilon=0), "epsilon must be a number above 0; give e.g. epsilon=1"),
    "epsilon below 0": (lambda folder: plain(epsilon=-1.0), "epsilon must be a number above 0; give e.g. epsilon=1"),
    "delta 1": (lambda folder: plain(delta=1), r"delta must be a number in \[0, 1\); give e.g. delta=1e-6"),
    "no norm and no bounds": (lambda folder: plain(data_norm=None), "neither data_norm nor bounds .* give data_norm=R"),
    "data_norm 0": (lambda folder: plain(data_norm=0), "data_norm must be a finite number above 0; give"),
    "data_norm as a text": (lambda folder: plain(data_norm="2"), "data_norm must be a finite number above 0; give"),
    "bounds the wrong way round": (lambda folder: plain(bounds=(1, -1)), "every lower bound in bounds .* correct them"),
    "bounds that lack a column": (
        lambda folder: plain(frame()[["age"]].assign(b=1.0), data_norm=None, bounds={"age": (0, 1)}),
        "bounds has nothing for feature 'b'; give",
    ),
    "bounds for a column that is not there": (
        lambda folder: plain(frame()[["age"]], data_norm=None, bounds={"age": (0, 1), "size": (0, 1)}),
        "bounds names 'size', which is no feature of X; correct the name",
    ),
    "too few bounds": (lambda folder: plain(bounds=([0, 0, 0], 1)), "bounds must be .* each of the 2 features"),
    "bounds beside a schema": (lambda folder: under(bounds=(0, 1)), "bounds has no place here, .* leave bounds out"),
    "bounds beside a table": (
        lambda folder: logistic(bounds=(0, 1)).fit(table(folder)), "bounds has no place here, .* leave bounds out",
    ),
    "C 0": (lambda folder: plain(C=0), "C must be a number above 0; give e.g. C=1.0"),
    "C as a text": (lambda folder: plain(C="1"), "C must be a number above 0; give"),
    "alpha below 0": (lambda folder: ridge(alpha=-1), "alpha must be a finite number of at least 0; give"),
    "l1_ratio 2": (
        lambda folder: tacit.PrivateElasticNet(**BUDGET, data_norm=2.0, label_bounds=(-1, 1), l1_ratio=2).fit(X, X[:, 1]),
        r"l1_ratio must be a number in \[0, 1\]; give",
    ),
    "no label_bounds": (lambda folder: ridge(label_bounds=None), r"label_bounds is not given .* give \(lower, upper\)"),
    "label_bounds the wrong way round": (lambda folder: ridge(label_bounds=(1, -1)), "every lower bound in label_bounds"),
    "a loss that is none": (
        lambda folder: tacit.PrivateLinearSVC(**BUDGET, data_norm=2.0, classes=[0, 1], loss="hinges").fit(X, Y),
        'loss must be "hinge" or "smoothed_hinge"; give',
    ),
    "a solver that is none": (lambda folder: plain(solver="sdg"), "sdg.*;"),
    "an option that the solver has not": (lambda folder: plain(solver="dpgd:stepz=3"), "stepz.*;"),
    "neighbours that are none": (lambda folder: plain(neighbours="add"), "neighbours must be .add_remove. or .replace_one.; give"),
    "rows that are none": (lambda folder: plain(rows="cut"), "rows must be .clip. or .unit.; give"),
    "errors=yes": (lambda folder: plain(errors="yes"), "errors must be .none., .model. or .robust.; give"),
    "n_jobs as a text": (lambda folder: plain(n_jobs="all"), "n_jobs must be a whole number from 1 to 4096.*; give"),
    "progress=3": (lambda folder: plain(progress=3), "progress must be True, False or a function; give"),
    "no label named": (
        lambda folder: under(schema={"columns": SCHEMA["columns"]}), r'no label is named; give fit\(frame, "column"\)',
    ),
    "a label that is not there": (
        lambda folder: under(y="dead", schema={"columns": SCHEMA["columns"]}), "no column 'dead' for the label; name",
    ),
    "a label that is not there, without a schema": (
        lambda folder: plain(frame()[["age"]], "dead"), "y names a column, but X has no column of that name; give",
    ),
    "another label than the schema's": (
        lambda folder: under(y="work"), "y names column 'work' and the schema's label is 'died'; give one of them",
    ),
    "a column that the schema does not know": (
        lambda folder: under(frame(ward=1)), 'does not describe column "ward" of the frame; drop it, describe it',
    ),
    "a column that the frame does not have": (
        lambda folder: under(frame().drop(columns="work")), 'no column "work", which the schema describes; add it',
    ),
    "texts among numbers": (
        lambda folder: under(one_bad("age", "Zorro")), 'column "age", record 8: the field is not a .* number; correct it',
    ),
    "a word for a missing number": (
        lambda folder: under(one_bad("age", "NA")), 'column "age", record 8: .* "missing_values" in a schema',
    ),
    "a missing number": (
        lambda folder: under(one_bad("age", None)), 'column "age", record 8: a value is missing; complete the record',
    ),
    "an infinite number": (
        lambda folder: under(one_bad("age", np.inf)), 'column "age", record 8: the number is not finite; correct it',
    ),
    "a category that is not listed": (
        lambda folder: under(one_bad("work", "Zorro")), 'column "work", record 8: the category is not in .* list; list it',
    ),
    "a missing category": (
        lambda folder: under(one_bad("work", np.nan)), 'column "work", record 8: a category is missing; complete',
    ),
    "a missing label": (lambda folder: under(one_bad("died", None)), "column 'died': a label is missing; complete"),
    "a label that is not listed": (
        lambda folder: under(one_bad("died", "maybe-so")), "column 'died': a label is not among the classes listed; list",
    ),
    "a label that is not listed, regression": (
        lambda folder: tacit.PrivateRidge(**BUDGET).fit(
            one_bad("age", "Zorro"), "age", schema={"columns": SCHEMA["columns"][1:2] + [
                {"name": "id", "type": "ignore"}, {"name": "died", "type": "ignore"}],
                "label": {"name": "age", "lower": 0, "upper": 9}}),
        'column "age", record 8: the label is not a finite number; correct it',
    ),
    "dates": (
        lambda folder: under(frame(age=pd.to_datetime(["2031-05-01"] * N))), 'column "age" holds neither .* cast it',
    ),
    "lists in a column": (lambda folder: under(frame(work=[["Zorro"]] * N)), 'column "work" holds neither .* cast it'),
    "two columns of one name": (
        lambda folder: under(pd.concat([frame(), frame()[["age"]]], axis=1)), "has the name of another one; give",
    ),
    "a schema for an array": (lambda folder: under(X, Y), "a schema describes columns by name, and X has none; give"),
    "a schema that is a number": (lambda folder: under(schema=3), "schema must be a tacit.Schema, or the path .*; give"),
    "a schema file that is not there": (
        lambda folder: under(schema=folder / "s.json"), "there is no schema file .*s.json; check the name",
    ),
    "a schema file that is no JSON": (
        lambda folder: under(schema=file(folder, "s.json", "{columns: [}")), "not valid JSON.*; correct it",
    ),
    "a schema without columns": (lambda folder: under(schema={"label": {}}), "not a tacit schema; it needs the key columns"),
    "a misspelt key in the schema": (
        lambda folder: under(schema=column(0, lowr=3)), 'unknown key "lowr"; the keys here are',
    ),
    "schema bounds the wrong way round": (
        lambda folder: under(schema=column(0, lower=200)), 'column "age": "lower" must be below "upper"; swap',
    ),
    "a positive label that is not listed": (
        lambda folder: under(schema=with_schema(label={"name": "died", "positive": "yess", "values": ["no", "yes"]})),
        '"positive" is not .*; (name|give|correct)',
    ),
    "a positive label that nobody has": (
        lambda folder: under(schema=with_schema(label={"name": "died", "positive": "yess"})),
        '"positive" is not a label of the frame; correct it',
    ),
    "an array for a model of frames": (lambda folder: under().predict(X), "columns by name, and X has none; give"),
    "a prediction that lacks a column": (
        lambda folder: under().predict(frame().drop(columns="age")), 'no column "age", which the schema describes; add',
    ),
    "a prediction with one column more": (
        lambda folder: under().predict(pl.from_pandas(frame(ward=1))), 'does not describe column "ward"',
    ),
    "a prediction of a category that is not listed": (
        lambda folder: under().predict(one_bad("work", "Zorro")), 'column "work", record 8: the category is not in',
    ),
    "a prediction before a fit": (lambda folder: logistic().predict(X), "is not fitted yet"),
    "a prediction of fewer features": (lambda folder: plain().predict(X[:, :1]), "X has 1 features, but .* expecting 2"),
    "a score without labels": (
        lambda folder: under().score(frame().drop(columns="died")), "no column 'died' to score against; give y",
    ),
    "classes the wrong way round": (lambda folder: plain(classes=[1, 0]), "classes must be in order.*; turn them round"),
    "classes against the schema": (
        lambda folder: under(classes=["yes", "no"]), "classes is in the wrong order: .* comes second; turn",
    ),
    "classes that the schema does not list": (
        lambda folder: under(classes=["no", "perhaps"]), "classes and the schema's label values differ; give the same",
    ),
    "a class that is not among classes": (
        lambda folder: plain(y=np.where(Y, "maybe-so", "no"), classes=["no", "yes"]), "a label is not among the classes",
    ),
    "one class": (lambda folder: plain(y=np.zeros(N, int), classes=None), "needs at least two classes.*; give classes="),
    "numbers as classes": (lambda folder: plain(y=X[:, 0] * 987654, classes=None), "Unknown label type: continuous"),
    "groups without a bound": (
        lambda folder: under(fit={"groups": "id"}), "groups needs a public bound .* give e.g. rows_per_person=4",
    ),
    "a bound without groups": (lambda folder: plain(rows_per_person=2), "not whose rows they are; give fit"),
    "groups that are no column": (
        lambda folder: under(rows_per_person=2, fit={"groups": "person"}), "groups names column 'person'.*; name",
    ),
    "groups that are the label": (
        lambda folder: under(rows_per_person=2, fit={"groups": "died"}), "groups and y both name column 'died'",
    ),
    "a row of nobody": (
        lambda folder: under(one_bad("id", None), rows_per_person=2, fit={"groups": "id"}),
        "column 'id' names no person; give every row its person",
    ),
    "groups of another length": (
        lambda folder: plain(rows_per_person=2, fit={"groups": [1, 2]}), "groups must name one person for each row; check|"
        "groups must name one person for each row of X; check",
    ),
    "rows_per_person 0": (lambda folder: plain(rows_per_person=0, fit={"groups": Y}), "rows_per_person must be .* give e.g."),
    "a table's column as groups": (
        lambda folder: logistic(rows_per_person=2).fit(table(folder), groups="id"), "the table was read without its persons; read it with tacit.read\\(..., person='id'\\)",
    ),
    "sample_weight without a cap": (
        lambda folder: plain(fit={"sample_weight": np.ones(N)}), "sample_weight needs a public bound .* weight_cap=2.0",
    ),
    "a negative weight": (
        lambda folder: plain(weight_cap=1, fit={"sample_weight": -np.ones(N)}), "a sample_weight is negative; leave",
    ),
    "weights of another length": (
        lambda folder: plain(weight_cap=1, fit={"sample_weight": [1.0]}), "sample_weight must hold one number for each row",
    ),
    "a solver that cannot weigh": (
        lambda folder: plain(weight_cap=1, solver="dpscd", fit={"sample_weight": np.ones(N)}), "cannot weigh records.*;",
    ),
    "a ledger that is not there": (
        lambda folder: plain(ledger=folder / "no.db"), r"cannot open the ledger .*; .*tacit.Ledger.create",
    ),
    "a ledger that is used up": (spent, "budget|ledger"),
    "a ledger of persons for records": (lambda folder: plain(ledger=ledger(folder, unit="person")), "person.*;"),
    "a ledger over a ledger": (lambda folder: [ledger(folder) for _ in "ab"], "there is a ledger or another database already; name a new file"),
    "a ledger without a budget": (lambda folder: ledger(folder, epsilon=0), "epsilon must be a number above 0; give e.g. epsilon=1"),
    "a seed with a ledger": (lambda folder: plain(ledger=ledger(folder), random_state=1), "for_tests=True|seed"),
    "cross-validation": (
        lambda folder: cross_val_score(logistic(data_norm=2.0, classes=[0, 1]), X, Y, error_score="raise"),
        "would train on the same people many times .* use tacit.PrivateSearchCV",
    ),
    "a drafted scaler": (
        lambda folder: tacit.PublicScaler(tacit.Schema.draft(frame(), label="died")).fit(frame()),
        "the schema is a draft.* replace every one by public knowledge",
    ),
    "a scaler of nothing": (lambda folder: tacit.PublicScaler().fit(X), "give PublicScaler either a schema or bounds"),
    "a frame to be read": (lambda folder: tacit.read(frame()), "path must be the path of a file, .* go into fit"),
    "a file that is not there": (lambda folder: tacit.read(folder / "no.csv"), "no.csv.*;"),
    "a label that the file has not": (
        lambda folder: table(folder, schema=None, label="dead"), 'no column "dead" for the label; name',
    ),
    "labels that are none": (lambda folder: table(folder, labels="binry"), "labels is unknown; give one of none"),
    "a label of a file that nobody named": (
        lambda folder: table(folder, schema=None), "no label column is named; give label=NAME",
    ),
    "names that look like slots": (
        lambda folder: tacit.read(file(folder, "{cols}.csv", "a,{label}\n1,7\n2,1\n"), label="{label}", labels="binary"),
        r"{cols}\.csv:2:2: .* which value means \+1 \(positive=, or",
    ),
    "a column that looks like a slot": (
        lambda folder: tacit.read(
            file(folder, "t.jsonl", '{"{label}":1,"{cols}":7}\n'), label="{cols}", labels="binary"
        ),
        r't.jsonl:1: column "{cols}": .* \(positive=, or',
    ),
    "a table and labels": (lambda folder: logistic().fit(table(folder), Y), "holds its labels; leave y out"),
    "a table and a schema": (
        lambda folder: logistic().fit(table(folder), schema=SCHEMA), "read under its own schema; leave schema out",
    ),
    "a table of numbers for classes": (
        lambda folder: logistic().fit(table(folder, labels="none")), "the table was read with other labels; read it with",
    ),
    "a model that is none": (
        lambda folder: tacit.read_model(file(folder, "m.json", "{}")), "m.json.*;|not a tacit model",
    ),
    "a model that is not there": (lambda folder: tacit.read_model(folder / "m.json"), "m.json.*;"),
    "labels of another length": (lambda folder: plain(y=Y[:5]), "inconsistent numbers of samples; give one label"),
    "no labels": (lambda folder: plain(y=None), "requires y to be passed"),
    "two columns of labels": (lambda folder: plain(y=np.c_[Y, Y]), "y should be a 1d array|bad input shape|1d"),
    "NaN among the features": (
        lambda folder: plain(np.where(X > 0.9, np.nan, X)), "NaN|not finite|not a finite",
    ),
    "texts among the features": (
        lambda folder: plain(frame()[["age", "work"]]), "column 'work' of X cannot be read as numbers; encode it",
    ),
    "texts in an Arrow table without a schema": (
        lambda folder: plain(pl.from_pandas(frame()[["age", "work"]]).to_arrow(), Y),
        'column "work" holds texts; give a schema',
    ),
    "an event that is none": (lambda folder: tacit.account("gausian:noise=1", 1e-6), "gausian.*;"),
    "nothing to calibrate": (lambda folder: tacit.calibrate("gaussian:noise=1", 1.0, 1e-6), "calibrat|lacks|missing|given"),
    "a search without classes": (
        lambda folder: tacit.PrivateSearchCV(logistic(data_norm=2.0), {"C": [1.0, 2.0]}, **BUDGET).fit(X, Y),
        r"the search needs the estimator's classes.*; give classes=\[...\]",
    ),
    "a search over epsilon": (
        lambda folder: tacit.PrivateSearchCV(
            logistic(data_norm=2.0, classes=[0, 1]), {"epsilon": [1.0, 2.0]}, **BUDGET).fit(X, Y),
        "epsilon belongs to the whole search; take it out of param_grid",
    ),
    "labels in another order than the rows": (
        lambda folder: plain(pd.DataFrame(X), pd.Series(Y).sort_values(kind="stable")[::-1]),
        r"the index of y has the rows of X in another order; give y.loc\[X.index\]",
    ),
    "persons in another order than the rows": (
        lambda folder: under(rows_per_person=2, fit={"groups": pd.Series(range(N))[::-1]}),
        "the index of groups has the rows of X in another order; give",
    ),
    "labels in another order in a score": (
        lambda folder: plain(pd.DataFrame(X)).score(pd.DataFrame(X), pd.Series(Y)[::-1]), "index of y has the rows of X",
    ),
    "groups=True": (
        lambda folder: under(rows_per_person=2, fit={"groups": True}), "groups must name one person for each row.*; give",
    ),
    "classes as a text": (lambda folder: plain(classes="01"), "classes must be a list of all labels, two or more; give e.g."),
    "n_jobs=0": (lambda folder: plain(n_jobs=0), "n_jobs must be a whole number from 1 to 4096.*; give e.g. n_jobs=2"),
    "a parameter that scikit-learn has": (
        lambda folder: tacit.PrivateLogisticRegression(penalty="l2"), "has no parameter 'penalty'; it has",
    ),
    "a model saved over a folder": (lambda folder: plain().save(folder), "is a directory; name a file to write"),
    "a frame without records": (lambda folder: under(frame().iloc[:0]), "the frame has no records, or those of all ranks have none; give at least one"),
    "bounds and an estimate of them": (
        lambda folder: plain(estimate="bounds:budget_fraction=0.1"), "data_norm and estimate are two answers.*; leave one",
    ),
    "a draft of a label that is not there": (
        lambda folder: tacit.Schema.draft(frame(), label="dead"), "no column of the label's name; name the label",
    ),
    "a table of semicolons under another delimiter": (
        lambda folder: tacit.read(file(folder, "s.csv", "age;died\n1;yes\n"), label="died", delimiter=","),
        "the header is a single column, and not .died.; name the delimiter",
    ),
    "a setting of the process that is none": (
        lambda folder: tacit.config(repeated_fits="never"), "repeated_fits must be .warn. or .ok.; give",
    ),
    "a kind of component that is none": (lambda folder: tacit.components("solvers"), "solvers.*;"),
}  # fmt: skip

# Of scikit-learn's own making, by its conventions.
THEIRS = {"a prediction before a fit", "a prediction of fewer features", "no labels", "two columns of labels",
          "numbers as classes", "NaN among the features"}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_in_one_sentence_that_names_the_way_out(name, tmp_path):
    call, sentence = MISTAKES[name]
    expected = (ValueError, TypeError, RuntimeError, FileNotFoundError, NotFittedError, tacit.BudgetError)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(expected, match=sentence) as why:
            call(tmp_path)
    text = str(why.value).replace("e.g. ", "e.g.")
    assert not any(secret in text for secret in SECRETS)
    assert "\n" not in text and len(text) < 500 and not re.search(r"(^|\s)--\w", text)
    assert name in THEIRS or (re.search("[;:] ", text) and ". " not in text)
    seen, cause = set(), why.value
    while cause is not None and id(cause) not in seen:  # nor what is printed above it
        seen.add(id(cause))
        assert not any(secret in str(cause) for secret in SECRETS)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def test_there_are_sixty_and_the_right_way_is_none_of_them(tmp_path):
    assert len(MISTAKES) >= 60 and json.dumps(SCHEMA)
    assert under().score(frame()) > 0 and plain().score(X, Y) > 0 and logistic().fit(table(tmp_path)).coef_.size


def test_no_word_of_another_door_is_in_the_words_of_python_and_r():
    table = (pathlib.Path(__file__).parents[2] / "src" / "core" / "slots.def").read_text(encoding="utf-8")
    rows = [re.findall(r'"(?:[^"\\]|\\.)*"', row) for row in re.split(r"^TCT_SLOT", table, flags=re.M)[1:]]
    assert len(rows) > 40 and all(len(row) == 4 for row in rows)
    assert [word for row in rows for word in row[2:] if re.search(r"--[a-z]|`tacit|tct_|TCT_", word)] == []
    assert [row[3] for row in rows if re.search(r"\w=|True|False|\btacit\.", row[3])] == []


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: under(schema=with_schema(not_private="yes")), "the schema is a draft"),
        (lambda: plain(random_state=1), "random_state makes the noise reproducible"),
        (lambda: [plain() for _ in "ab"], "earlier fit"),
        (lambda: plain(classes=None), "the classes were read from the labels"),
        (lambda: plain(epsilon=float("inf")), "no privacy at all"),
        (lambda: plain(epsilon=50.0), "epsilon"),
        (lambda: plain(delta=0.05), "delta"),
    ],
)
def test_what_runs_and_promises_less_says_so(call, sentence):
    with pytest.warns(tacit.PrivacyWarning, match=sentence):
        call()
