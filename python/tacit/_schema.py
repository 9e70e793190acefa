"""Public knowledge about a table: the schema file, and scaling that reads nothing from the records."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable
from typing import Any, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from . import _arrow, _callers, _formula, _guards, _native, _pandas, _views
from ._bounds import interval
from ._matrix import table_of
from ._native import Facts, Path
from ._parameters import check, checked

_T = TypeVar("_T")


def _cell(value: Any) -> str:
    """A cell as the text that it has in a CSV file."""
    if _pandas.is_missing(value):
        return ""
    try:
        return _pandas.text_of(value)
    except TypeError:  # a date, say
        return str(value)


class Schema:
    """A schema file (docs/reference/format/schema.md): bounds, categories and labels, known without the data.

    Parameters
    ----------
    content : str or dict
        The file's JSON.  `Schema.read` takes a path.
    """

    _file: Optional[str] = None  # that it was read from
    _drafted: Optional[str] = None  # the table that it was drafted from

    @checked
    def __init__(self, content: Union[str, Facts]) -> None:
        try:
            self.json = json.loads(content) if isinstance(content, str) else dict(content)
        except json.JSONDecodeError as why:
            where = f"line {why.lineno}, column {why.colno}"
        else:
            where = ""
        if where:
            raise ValueError(f"the schema is not valid JSON near {where}; correct it there")
        if self.json.get("format", "tacit-schema") != "tacit-schema" or "columns" not in self.json:
            raise ValueError("this is not a tacit schema; it needs the key columns")

    @classmethod
    @checked
    def read(cls, path: Path) -> "Schema":
        """Reads a schema file.

        Parameters
        ----------
        path : str or path
            The file.
        """
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"there is no schema file {os.fspath(path)}; check the name, or draft one: tacit.Schema.draft"
            )
        if not os.path.isfile(path):
            raise ValueError(f"{os.fspath(path)} is no regular file; name the file of a schema")
        _native.call_json("tct_schema_check_json", _native.text(path), None)  # of bounded size, and JSON in UTF-8
        with open(path, encoding="utf-8") as file:
            made = cls(file.read())
        made._file = os.path.abspath(path)
        return made

    @classmethod
    def draft(cls, data: Any, label: Optional[str] = None) -> "Schema":
        """Drafts a schema from a data frame, a CSV or a Stata file.  NOT private: its values are the data's own.

        Replace every value by public knowledge, then delete the key not_private.  Until then whatever is trained with it
        names the draft in its certificate, or is refused.

        Parameters
        ----------
        data : data frame, Arrow table, or path of a CSV or Stata file
            The columns that it describes.
        label : str, optional
            The column that is the label.
        """
        if isinstance(data, (str, os.PathLike)):
            made = cls(_native.call_text("tct_schema_draft_nonprivate", _native.text(data), None, _native.text(label)))
            made._drafted = os.path.abspath(data)
            return made
        if _arrow.is_arrow(data):
            data = _arrow.frame(data)
        if not hasattr(data, "columns"):
            raise ValueError("a schema names columns; give a data frame, or the path of a CSV file")
        names = [str(name) for name in data.columns]
        if label is not None and label not in names:
            raise ValueError("the frame has no column of the label's name; name the label as the frame does")
        out = io.StringIO()
        cells = zip(*(map(_cell, data[name]) for name in data.columns))
        csv.writer(out, lineterminator="\n").writerows([names, *cells])  # the file that the frame would be
        text = _native.text(out.getvalue())
        return cls(_native.call_text("tct_schema_draft_nonprivate", None, text, _native.text(label)))

    def check(self) -> list[Facts]:
        """What a reviewer would find, from the schema alone: a list of {column, level, text}.  level "must": it is a draft,
        or contradicts itself; "look": bounds that look taken from the data, rules that are missing."""
        return list(self._checked()["findings"])

    @checked
    def save(self, path: Path) -> None:
        """Writes the schema file: whole, or not at all.

        Parameters
        ----------
        path : str or path
            The file; what is there is replaced, but for the table that the schema was drafted from.
        """
        _native.write_file(path, self.text + "\n", [self._drafted])

    @property
    def text(self) -> str:
        """The file's JSON."""
        return json.dumps(self.json, indent=2, ensure_ascii=False)

    @property
    def label(self) -> Optional[str]:
        """The label's column; None: the schema names none."""
        return self._of_label("name", str)

    @property
    def label_values(self) -> Optional[list[str]]:
        """All labels that can occur; None: the schema does not list them."""
        return self._of_label("values", list)

    @property
    def positive(self) -> Optional[str]:
        """The label that means +1; None: the schema does not say."""
        return self._of_label("positive", str)

    def _of_label(self, key: str, kind: Callable[[Any], _T]) -> Optional[_T]:
        value = self.json.get("label", {}).get(key)
        return None if value is None else kind(value)

    @property
    def ignored(self) -> list[str]:
        """The columns that nobody reads."""
        return [str(column["name"]) for column in self.json["columns"] if column["type"] == "ignore"]

    def without_label(self) -> "Schema":
        """The same schema of the other columns alone."""
        return self._with({key: value for key, value in self.json.items() if key != "label"})

    def with_terms(self, terms: Union[str, list[Any]]) -> "Schema":
        """The same columns with these terms (version 2); nothing reads the records.

        Parameters
        ----------
        terms : str or list
            A formula, such as ``"visits ~ age*C(sex) + ns(income, knots=[20, 50])"``, or the list that a schema has.
            Columns, bounds and levels are the schema's.  The formula's outcome becomes the label.
        """
        outcome, columns = self.label, [dict(column) for column in self.json["columns"]]
        beside: Facts = {}
        if isinstance(terms, str):
            named, factors = _formula.parse(terms)
            reading, outcome = _formula.Reading(columns), named or outcome
            beside, factors = reading.offset(factors)
            terms = reading.terms(factors)
            for column in columns:
                column.update({"reference": reading.references[n] for n in [column["name"]] if n in reading.references})
        for column in columns:
            column.pop("drop_first", None)  # the reference of version 2
        content = {key: value for key, value in self.json.items() if key != "scale"}
        made = {**content, "version": 2, "columns": columns, "terms": terms, **beside}
        if outcome != self.label:
            own = next((column for column in columns if column["name"] == outcome), {})
            rest = [column for column in columns if column is not own]
            old = [] if self.label is None else [{"name": self.label, "type": "ignore"}]
            made["label"] = {"name": outcome, **{k: own[k] for k in ("lower", "upper", "values") if k in own}}
            made["columns"] = [*rest, *old]
        return self._with(made)

    def with_exposure(self, column: str) -> "Schema":
        """The same with the exposure of counts: the mean of a record is proportional to it (version 2).

        Parameters
        ----------
        column : str
            The column, with bounds above 0.  Without terms it is no feature any more.
        """
        terms = self.json.get("terms", [c["name"] for c in self.used if c["name"] != column])
        exposure = _formula.bounded(self.json["columns"], column)
        return self._with({**self.with_terms(terms).json, "exposure": exposure})

    def _with(self, content: Facts) -> "Schema":
        made = Schema(content)
        made._file = self._file
        return made

    @property
    def beside(self) -> list[str]:
        """Columns that are neither features nor the label, and say how a record counts."""
        return [str(self.json[key]["of"]) for key in ("weight", "exposure", "offset") if key in self.json]

    @property
    def used(self) -> list[Facts]:
        """The columns that become features."""
        return [column for column in self.json["columns"] if column["type"] != "ignore"]

    @property
    def data_norm(self) -> float:
        """What the bounds allow at most: every number, category and term adds at most 1 to the squared norm."""
        return float(self._checked()["row_norm"])

    @property
    def features(self) -> list[str]:
        """Names of the encoded columns, in their order."""
        return [str(name) for name in self._checked()["names"]]

    def _checked(self) -> Facts:
        found: Facts = _native.call_json("tct_schema_check_json", None, _native.text(self.text))
        return found

    def __repr__(self) -> str:
        return f"<Schema: {len(self.used)} columns used, label {self.label!r}>"

    def _repr_html_(self) -> str:
        return _views.schema(self.json)


def ignoring(schema: Schema, *names: str) -> Schema:
    """The same schema, which lets these columns be there."""
    known = {column["name"] for column in schema.json["columns"]}
    new = [{"name": name, "type": "ignore"} for name in names if name not in known]
    return schema._with({**schema.json, "columns": [*schema.json["columns"], *new]}) if new else schema


def schema_of(schema: Any) -> Schema:
    """A Schema, a schema file's path, or the schema's content."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, (str, os.PathLike)):
        return Schema.read(schema)
    if isinstance(schema, dict):
        return Schema(schema)
    raise TypeError("schema must be a tacit.Schema, or the path of a schema file; give one")


def is_draft(schema: Any) -> bool:
    """Whether a `Schema`, or a schema file's path, still says that its values are the data's own."""
    if isinstance(schema, (str, os.PathLike)):
        schema = Schema.read(schema)
    return isinstance(schema, Schema) and "not_private" in schema.json


class PublicScaler(TransformerMixin, BaseEstimator):
    """Scales features by public bounds; `fit` reads nothing but the shape and the names.

    Give exactly one of the two.  A drafted schema (`Schema.draft`) is taken only in a Pipeline that ends in a model,
    whose certificate then names it.

    Parameters
    ----------
    schema : Schema or path, optional
        A data frame's columns are encoded as the command line encodes them. Numbers go to [0, 1] or [-1, 1],
        categories to indicators, and terms are as the schema has them.
    bounds : (lower, upper) or mapping, optional
        As the estimators take them: values are clipped to them and scaled to [-1, 1].
    """

    def __init__(self, schema: Any = None, *, bounds: Any = None) -> None:
        self.schema = schema
        self.bounds = bounds

    def fit(self, X: Any, y: Any = None) -> "PublicScaler":
        """Notes the shape and the names; no value is looked at.

        Parameters
        ----------
        X : array or data frame
            Records, [rows, features].
        y : ignored
            There for pipelines.
        """
        check(self)
        if (self.schema is None) == (self.bounds is None):
            raise ValueError("give PublicScaler either a schema or bounds; they are public knowledge, not fitted")
        if self.schema is None:
            X = self._numbers(X, reset=True)
            self.lower_, self.upper_ = interval(self.bounds, X.shape[1], names=getattr(self, "feature_names_in_", None))
            self.data_norm_ = math.sqrt(X.shape[1])
        else:
            self.schema_ = schema_of(self.schema)
            if is_draft(self.schema_) and not _callers.in_pipeline_with_model():
                # Nothing would be left of the draft when the scaled records come to `fit`; a pipeline's model names it.
                raise ValueError(
                    "the schema is a draft: its values are the data's own; replace every one by public knowledge and "
                    "delete the key not_private, or put PublicScaler and the estimator into one Pipeline, whose model "
                    "names the draft"
                )
            self.feature_names_in_ = np.array([column["name"] for column in self.schema_.used], dtype=object)
            self.n_features_in_ = len(self.feature_names_in_)
            self.data_norm_ = self.schema_.data_norm
        return self

    def _numbers(self, X: Any, reset: bool) -> NDArray[Any]:
        names = getattr(_arrow.frame(X) if _arrow.is_arrow(X) else X, "columns", None)
        X = np.asarray(_guards.records(X, sparse=False))
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but PublicScaler is expecting {self.n_features_in_} features as input"
            )
        return np.asarray(X)

    def transform(self, X: Any) -> NDArray[Any]:
        """The scaled records, [rows, features]; with a schema [rows, encoded columns].

        Parameters
        ----------
        X : array or data frame
            Records, [rows, features]; with a schema a data frame.
        """
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError("this PublicScaler is not fitted yet; call fit first")
        if self.schema is None:
            X = np.clip(self._numbers(X, reset=False), self.lower_, self.upper_)
            return np.asarray((X - (self.lower_ + self.upper_) / 2) / ((self.upper_ - self.lower_) / 2))
        if not _arrow.is_frame(X):
            raise ValueError("a schema names its columns; give a pandas, polars or Arrow table")
        schema = self.schema_.without_label()
        frame = _arrow.frame(X, schema.ignored)
        encoded = table_of(frame, ignoring(schema, *frame.columns)).array()
        return np.asarray(encoded.toarray() if sparse.issparse(encoded) else encoded)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that `transform` returns, as scikit-learn has it.

        Parameters
        ----------
        input_features : list of str, optional
            Names instead of the frame's own; not with a schema.
        """
        if self.schema is None:
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
            return np.asarray(names if input_features is None else input_features, dtype=object)
        return np.array(self.schema_.features, dtype=object)
