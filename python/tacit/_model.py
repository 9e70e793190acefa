"""Training and the trained model: the same model file as the command line's."""

from __future__ import annotations

import ctypes
import enum
import functools
import json
import math
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _arrow, _guards, _native
from ._callbacks import Callbacks
from ._classes import listed, named
from ._frames import frame_of, frame_table, in_order, persons_of
from ._inference import Summary
from ._matrix import Labelled, Table, View, table_of
from ._native import Facts, Path
from ._parameters import checked
from ._schema import Schema, ignoring
from ._weights import of_persons
from ._views import Certificate, certificate, model, verification

_R = TypeVar("_R")
if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    _P = ParamSpec("_P")


def run_settings(ledger: Any, seed: Optional[int]) -> Facts:
    """The fields of tct_config that say what a run is charged to, and whether its noise can be repeated."""
    charged = {"ledger": ledger, "input_changed": getattr(ledger, "input_changed", None)}
    return {**charged, "has_seed": int(seed is not None), "seed": None if seed is None else int(seed)}


def config_of(settings: Facts, table: Any = None, callbacks: Optional[Callbacks] = None) -> _native.Config:
    """The library's settings; those that are None keep their defaults."""
    config: _native.Config = _native.filled("tct_config", _native.Config, settings)
    if callbacks:
        config.progress, config.cancel = callbacks.progress, callbacks.cancel
    if table is not None:
        _native.call("tct_config_use_schema", ctypes.byref(config), table.handle, None, None)
    return config


class Plan(_native.Owned):
    """What a run will do and spend, from public facts alone."""

    def __init__(self, settings: Facts, rows: int, cols: int, table: Any = None, callbacks: Any = None) -> None:
        config = config_of(settings, table, callbacks)
        self.callbacks = callbacks  # alive as long as the plan that points to them
        self._own(_native.call("tct_plan_new", ctypes.byref(config), int(rows), int(cols)), "tct_plan_free")
        self.facts = _native.call_json("tct_plan_json", self.handle)
        self.facts["row_norm"] = None if math.isnan(config.row_norm) else config.row_norm  # what records are brought to

    def run(self, data: Any) -> Model:
        """Trains."""
        return trained("tct_fit", self.callbacks or Callbacks(), self.handle, data.handle)


def trained(name: str, callbacks: Callbacks, *given: Any) -> Model:
    """The model that this function of the library trains; a warning is told where the caller's caller was called."""
    error = _native.Error()
    with callbacks.watching():
        handle = getattr(_native.lib, name)(*given, ctypes.byref(error))
        if callbacks.caught or callbacks.interrupted:
            _native.lib.tct_model_free(handle)
    if not handle:
        _native.raise_error(error)
    told = _native.lib.tct_model_warning(handle)
    _native.tell(told and told.decode("utf-8", "replace"), stacklevel=6)
    return Model(handle)


class Model(_native.Owned):
    """A trained model with its certificate.  Pickles as the model file's text.

    Made by `read_model`, `Model.parse` and the estimators.

    Parameters
    ----------
    handle : int
        The library's own model, which this object then frees.
    """

    _files: Tuple[str, ...] = ()  # what it was made from, and is not written over

    def __init__(self, handle: int) -> None:
        self._own(handle, "tct_model_free")
        models, cols = ctypes.c_int64(), ctypes.c_int64()
        _native.lib.tct_model_shape(handle, ctypes.byref(models), ctypes.byref(cols))
        self._shape = models.value, cols.value
        self.text = _native.call_text("tct_model_json", handle)
        self.json = json.loads(self.text)

    @classmethod
    @checked
    def parse(cls, text: str) -> "Model":
        """The model of a model file's text.

        Parameters
        ----------
        text : str
            JSON, as ``Model.text`` has it.
        """
        return cls(_native.call("tct_model_read", None, _native.text(text), None))

    def __reduce__(self) -> Tuple[Callable[[str], "Model"], Tuple[str]]:
        return Model.parse, (self.text,)

    @property
    def privacy(self) -> Certificate:
        """The certificate, as a dict."""
        return Certificate(self.json["privacy"])

    def one_by_one(self) -> list["Model"]:
        """Of a fit for each class the models of these, each against the rest, whose claim is that of all; else itself."""
        rows = self.json["coefficients"]
        if self.json["loss"].startswith("softmax") or not isinstance(rows[0], list):
            return [self]
        rest = {key: value for key, value in self.json.items() if key != "classes"}
        own = [{**rest, "version": 2, "coefficients": row, "intercept": at} for row, at in zip(rows, rest["intercept"])]
        return [Model.parse(json.dumps(each)) for each in own]

    @property
    def classes_(self) -> Optional[NDArray[Any]]:
        """The labels, of two the negative one first; -1 and 1 where they have no names; None: the label is a number."""
        if self.json["labels"] == "real":
            return None
        names = self.json.get("classes")
        return np.array([-1, 1]) if names is None else listed(names)

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights for records as they come: [features]; of classes [1, features], or a row for each."""
        return self.folded()[0] if self.classes_ is None else np.atleast_2d(self.folded()[0])

    @property
    def intercept_(self) -> Any:
        """A number; of classes an array, one for each row of ``coef_``."""
        return self.folded()[1] if self.classes_ is None else np.atleast_1d(self.folded()[1])

    @property
    def features(self) -> Any:
        """Names of the columns, in the order of the weights; None: they have none."""
        return self.json["features"]

    @property
    def coefficients(self) -> NDArray[Any]:
        """Weights of the transformed features."""
        weights = np.ctypeslib.as_array(_native.lib.tct_model_coefficients(self.handle), self._shape).copy()
        return weights if self._shape[0] > 1 else weights[0]

    @property
    def intercept(self) -> Any:
        """A number; of more than two classes one for each."""
        of = _native.lib.tct_model_intercepts(self.handle)
        return np.array(of[: self._shape[0]]) if self._shape[0] > 1 else of[0]

    def folded(self) -> Tuple[NDArray[Any], Any]:
        """(weights, intercept) for records as they come: the public scale and the label's shift are worked in."""
        weights, intercept = self.coefficients, self.intercept
        transforms = self.json["transforms"]
        if transforms["scale_factor"] is not None:
            weights = weights * np.array(transforms["scale_factor"], dtype=float)
            intercept = intercept - weights @ np.array(transforms["scale_shift"], dtype=float)
        if self.json["labels"] == "real":
            intercept += transforms["label_shift"]
        return weights, intercept

    def _records(self, X: Any) -> Any:
        """A frame's columns go by name: by the model's schema, or, without one, as numbers."""
        if isinstance(X, (Table, Labelled, View)):
            return X
        if not _arrow.is_frame(X):
            return View(_guards.records(X))
        if self.json["transforms"]["schema"] is not None:
            return frame_table(X, Schema(self.json["transforms"]["schema"]), self.json["label"])
        return View(in_order(_arrow.frame(X), self.features))

    def margins(self, X: Any) -> NDArray[Any]:
        """[rows, models]: x.w + intercept after the model's own transforms, by every row of coefficients.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records of the model's features, [rows, features]; a frame's columns go by name.
        """
        data = self._records(X)
        out = np.empty((data.shape[0], self._shape[0]))
        _native.call("tct_predict", self.handle, data.handle, out.ctypes.data)
        return out

    def decision_function(self: Any, X: Any) -> NDArray[Any]:
        """Signed distance to each class's boundary, [rows] or [rows, classes]; rows longer than the public norm are
        shortened as in training.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records of the model's features, [rows, features]; a frame's columns go by name.
        """
        margins: NDArray[Any] = self.margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted label of every row, [rows]: one of ``classes_``, or a number, of counts their mean.  The linear
        predictor is `margins`.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].  A frame's columns go by name, by the schema that the model was trained under.
        """
        margins, classes = self.margins(X), self.classes_
        return self._on_the_labels_scale(margins[:, 0]) if classes is None else np.asarray(classes[best_of(margins)])

    def _on_the_labels_scale(self, margins: NDArray[Any]) -> NDArray[Any]:
        """What a linear predictor means for the label: itself, but for a log link, whose largest mean is a finite one."""
        name = self.json["loss"].partition(":")[0]
        if _native.components("loss", name)[0]["link"] != "log":
            return margins
        return np.asarray(np.exp(np.minimum(margins, np.log(np.finfo(float).max))))

    @checked
    def predict_interval(self, X: Any, level: float = 0.95) -> NDArray[Any]:
        """[rows, 2]: where the population's own prediction, as `predict` has it, lies with this confidence, for each row
        by itself; of classes where its margin lies.  NaN where a weight of the row has no interval.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records of the model's features, [rows, features]; a frame's columns go by name.
        level : float, default=0.95
            Part of the intervals that hold what they are about, in (0, 1).
        """
        data = self._records(X)
        lower, upper = np.empty(data.shape[0]), np.empty(data.shape[0])
        _native.call(
            "tct_predict_interval", self.handle, data.handle, float(level), lower.ctypes.data, upper.ctypes.data
        )
        return self._on_the_labels_scale(np.column_stack([lower, upper]))

    @checked
    def summary(self, level: float = 0.95, covariance: bool = False, exp: bool = False) -> Summary:
        """The weights with standard errors, tests and intervals, on the original scale of the columns.

        Parameters
        ----------
        level : float, default=0.95
            Part of the intervals that hold what they are about, in (0, 1).
        covariance : bool, default=False
            Also the weights' covariance, [weights, weights].
        exp : bool, default=False
            Print odds, rate or hazard ratios, e to the weights, with their intervals.
        """
        if self._shape[0] > 1:
            raise ValueError("one summary is about one row of weights, and there is one for each class; see coef_")
        return Summary(_native.call_json("tct_summary_json", self.handle, float(level), int(covariance), None, 0), exp)

    @checked
    def evaluate(
        self,
        data: Any,
        *,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        neighbours: str = "add_remove",
        ledger: Any = None,
        random_state: Any = None,
        groups: Any = None,
        rows_per_person: Optional[int] = None,
    ) -> Facts:
        """Scores on records with labels.

        Without epsilon the figures are exact and NOT private.  With it they come from one noisy release, each with a
        standard error and an interval, and may be published (docs/guide/scores.md).

        Parameters
        ----------
        data : Table or data frame
            A table of `tacit.read`, or a frame that has the label's column, under the model's schema.
        epsilon, delta : float
            The privacy loss of these scores: epsilon above 0, delta in (0, 1).
        neighbours : {"add_remove", "replace_one"}, default="add_remove"
            What two neighbouring tables differ in.
        ledger : Ledger or path
            Charged before the noise is drawn; beyond what is left `BudgetError` is raised.
        random_state : int
            Repeatable noise, for tests; such scores must not be published.
        groups : array-like or str
            Whose record each row is, or the column of `data` that says so; needs rows_per_person.
        rows_per_person : int
            At most so many rows of a person count, drawn at random, and the scores protect persons.
        """
        if (groups is None) != (rows_per_person is None):
            raise ValueError("groups and rows_per_person belong together; give both, or leave both out")
        if not isinstance(data, Table):
            data, groups = self._labelled(data, groups)
        if epsilon is None:
            private = (delta, ledger, random_state, groups)
            if any(each is not None for each in private):
                raise ValueError(
                    "delta, ledger, random_state and groups are of private scores; give epsilon too, or leave them out"
                )
            return _native.call_json("tct_evaluate_json_nonprivate", self.handle, data.handle)
        if delta is None:
            raise ValueError("delta is missing; give one well below 1/n, for example delta=1e-6")
        settings = {"epsilon": float(epsilon), "delta": float(delta), **run_settings(ledger, random_state)}
        settings["neighbours"] = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
        budget = config_of(settings)
        if groups is not None:
            data = of_persons(data, groups, int(rows_per_person or 1), settings["seed"])
        return _native.call_json("tct_evaluate_json", self.handle, data.handle, ctypes.byref(budget))

    def _labelled(self, X: Any, groups: Any = None) -> Tuple[Table, Any]:
        """(the frame as a table with labels, groups): a column that groups name is taken out of the frame."""
        schema, label = self.json["transforms"]["schema"], self.json["label"]
        if not _arrow.is_frame(X) or schema is None or label is None:
            raise ValueError("scores need labels; give a table of tacit.read, or a frame to a model with a schema and a label")
        several = self._shape[0] > 1
        kind = "real" if self.classes_ is None else "classes" if several else "binary"
        schema = Schema(schema)
        frame = frame_of(X, schema, (groups if isinstance(groups, str) else None,))
        if isinstance(groups, str):
            groups, schema = persons_of(frame, groups), ignoring(schema, groups)
        return table_of(frame, schema, str(label), kind, self.classes_ if several else None), groups

    @checked
    def save(self, path: Path) -> None:
        """Writes the model file: whole, or not at all.

        Parameters
        ----------
        path : str or path
            The file; what is there is replaced, but for the table and the schema of the training.
        """
        _native.write_file(path, None, self._files)
        _native.call("tct_model_write", self.handle, _native.text(path))

    @checked
    def report(
        self,
        path: Optional[Path] = None,
        *,
        title: Optional[str] = None,
        purpose: Optional[str] = None,
        contact: Optional[str] = None,
        audit: Optional[Facts] = None,
        scores: Optional[Facts] = None,
        policy: Any = None,
        ledger: Optional[Path] = None,
    ) -> Optional[str]:
        """The page for people that goes with the model: one HTML file that needs no network and no script.

        Parameters
        ----------
        path : str or path, optional
            Where the page is written, whole or not at all; None: it is returned as a str.
        title : str, optional
            Stands over the page.
        purpose : str, optional
            Why the model was trained.
        contact : str, optional
            Whom a reader may ask.
        audit : dict, optional
            What `tacit.audit` returned for the same plan: the page says what it found.  Another plan's is refused.
        scores : dict, optional
            What `evaluate` returned for this model and an epsilon: the page says how good it is.  Another's is refused.
        policy, ledger : optional
            An organisation's limits, and the ledger they may ask for, as `tacit.verify` takes them.
        """
        asked: Facts = {"title": title, "purpose": purpose, "contact": contact, "ledger": ledger}
        asked.update(audit=_json_text(audit), scores=_json_text(scores), policy=_json_text(policy))
        options = _native.filled("tct_page_options", _native.PageOptions, asked)
        if path is None:
            return _native.call_text("tct_report_page", self.handle, ctypes.byref(options))
        _native.write_file(path, None, self._files)
        _native.call("tct_report_page_write", self.handle, ctypes.byref(options), _native.text(path))
        return None

    def _repr_html_(self) -> str:
        return model(self.json, np.atleast_2d(self.coefficients).tolist(), certificate(self.privacy))

    def __repr__(self) -> str:
        p = self.privacy
        claim = f"epsilon {p['epsilon']:g}, delta {p['delta']:g}" if p["private"] else "privacy NONE"
        return f"<tacit model: {self.json['loss']}, {self.json['columns']} features, {claim}>"


def amended(
    model: Model, *, features: Any = None, label: Optional[str] = None, classes: Optional[NDArray[Any]] = None,
    unaccounted: Iterable[str] = (), factor: Any = None, shift: Any = None,
) -> Model:  # fmt: skip
    """The same model with names in the order of its weights, notes on what was not accounted for, and the public scale
    that its records had: (x - shift) * factor.  classes: the labels' own values, of two the negative one first."""
    what = _native.filled("tct_amendment", _native.Amendment, {"label": None if label is None else str(label)})
    if features is not None:
        what.features = _native.texts([str(name) for name in features])[0]
    words = None if classes is None else named(classes)
    if words is not None:
        (what.classes, what.classes_count), what.class_kind = _native.texts(words[0]), words[1]
    what.unaccounted = _native.ended(unaccounted)
    if factor is not None:
        factor, shift = (np.ascontiguousarray(each, dtype=np.float64) for each in (factor, shift))
        what.scale_factor, what.scale_shift = factor.ctypes.data, shift.ctypes.data
    handle = _native.call("tct_model_read", None, _native.text(model.text), None)
    try:
        _native.call("tct_model_amend", handle, ctypes.byref(what))
    except BaseException:
        _native.lib.tct_model_free(handle)
        raise
    made = Model(handle)
    made._files = model._files
    return made


@checked
def read_model(path: Path) -> Model:
    """Reads a model file, the command line's or `save`'s.

    Parameters
    ----------
    path : str or path
        The file.
    """
    return Model(_native.call("tct_model_read", _native.text(path), None, None))


def best_of(margins: NDArray[Any]) -> NDArray[Any]:
    """The place of each row's class; margins: as `Model.margins` has them."""
    return np.asarray(margins.argmax(axis=1) if margins.shape[1] > 1 else margins[:, 0] > 0, dtype=np.intp)


def handed(
    owner: str, to: str, method: Callable[Concatenate[Any, _P], _R], does: str
) -> Callable[Concatenate[Any, _P], _R]:
    """A method of the class `owner`, of a module: that of the same name and form of what its attribute `to` holds after a
    fit.  does: the docstring's first sentence."""

    def call(self: Any, /, *given: _P.args, **named: _P.kwargs) -> _R:
        check_is_fitted(self, to)
        made: _R = getattr(getattr(self, to), method.__name__)(*given, **named)
        return made

    functools.update_wrapper(call, method)
    call.__module__, _, own = owner.rpartition(".")
    call.__qualname__ = f"{own}.{method.__name__}"
    call.__doc__ = does + "".join((method.__doc__ or "").partition("\n\n")[1:])
    return checked(call) if hasattr(method, "rules") else call


class Verdict(enum.Enum):
    """What a verification came to."""

    REFUSED = "failed"  # a check failed
    VERIFIED = "verified"  # the claim holds for a run that the file's settings describe
    NO_PRIVACY = "none"  # the file is sound and claims no privacy at all
    REPRODUCIBLE = "reproducible"  # sound, but the noise came from a seed: it protects nobody
    FOR_TESTS = "for_tests"  # sound, but charged to a ledger that takes such noise
    IN_PART = "in_part"  # older rules planned it: whether its settings give its releases was not checked


class Verification(dict[str, Any]):
    """verify's answer, with every check under "checks"."""

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        return Verdict(self["verdict"])

    @property
    def why(self) -> str | None:
        """The first check that failed, one sentence; None: none did."""
        return next((check["text"] for check in self["checks"] if not check["ok"]), None)

    def _repr_html_(self) -> str:
        return verification(self)


def _json_text(value: Any) -> Optional[bytes]:
    """A dict, or the file of one, as the library takes it."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        with open(value, "rb") as file:
            return file.read()
    return json.dumps(value).encode()


@checked
def verify(path: Path, ledger: Any = None, policy: Any = None, audit: Any = None) -> Verification:
    """Recomputes a model file's claim without the data: a Verification, a dict with ok, checks, replanned and more.

    Parameters
    ----------
    path : str or path
        The model file.
    ledger : Ledger or path, optional
        The ledger that the model says it was charged to: it must hold the charge.
    policy : dict or path, optional
        An organisation's limits (docs/guide/policy.md): the answer then has "policy", with "ok" and "rules".
    audit : dict or path, optional
        The answer of `tacit.audit` for the same plan, for a policy that asks for one.

    "ok" says that no check failed; only ``.verdict is Verdict.VERIFIED`` says that every check was made, and that the
    noise was not for tests.
    """
    answer = _native.call_json(
        "tct_verify_json", _native.text(path), None, _native.text(ledger), _json_text(policy), _json_text(audit), None
    )
    return Verification(answer)
