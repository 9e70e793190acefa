"""The estimators, with scikit-learn's conventions, over the library's plan and fit."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.metrics import d2_tweedie_score

from . import _native
from ._labels import Classifier, Regressor
from ._matrix import Table
from ._native import Facts
from ._parameters import parameters
from ._schema import schema_of


@parameters
class PrivateLogisticRegression(Classifier):
    """Logistic regression under (epsilon, delta)-differential privacy.

    After fit, ``privacy_`` is the certificate.  Its list ``unaccounted`` names what read the records besides and is not
    within epsilon.  Such are steps of a pipeline before the estimator, a drafted schema, and earlier fits on the same
    records without a ledger.

    Parameters
    ----------
    loss : {"auto", "logistic", "softmax"}, default="auto"
        What more than two classes are.  "logistic": one model against the rest for each, all of them together within
        epsilon.  "softmax": one fit of all, each record's gradient clipped over all classes together.  "auto": by a rule
        over public facts, "softmax" but for a named solver, standard errors or pure epsilon; `plan` tells.
    """

    loss: str = "auto"

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return self.loss if self._count(n_classes) > 2 else "logistic"

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of each class, [rows, classes]; of several, one against the rest, the logistic values normalised.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].
        """
        margins = self.margins(X)
        if margins.shape[1] == 1:
            p = expit(margins[:, 0])
            return np.column_stack([1 - p, p])
        if self.model_.json["loss"].startswith("softmax"):
            return np.asarray(softmax(margins, axis=1))
        p = expit(margins)
        total = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1]))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of `predict_proba`, [rows, classes].

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].
        """
        return np.asarray(np.log(self.predict_proba(X)))


@parameters
class PrivateLinearSVC(Classifier):
    """Linear support vector classification under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    loss : str, default="hinge"
        "hinge", or "smoothed_hinge:width=0.5" for a rounded corner.
    """

    loss: str = "hinge"

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return self.loss


@parameters
class PrivateRidge(Regressor):
    """Ridge regression under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, as in scikit-learn's Ridge; it covers the intercept.
    """

    alpha: float = 1.0

    def _penalty_spec(self, rows: int, cap: float) -> str:
        return f"l2:lambda={float(self.alpha) / (rows * cap)!r}" if self.alpha > 0 else "none"


@parameters
class PrivateLasso(Regressor):
    """Lasso under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, as in scikit-learn's Lasso.
    """

    alpha: float = 1.0

    def _penalty_spec(self, rows: int, cap: float) -> str:
        return f"l1:lambda={float(self.alpha) / cap!r}"


@parameters
class PrivateElasticNet(Regressor):
    """Elastic net under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, as in scikit-learn's ElasticNet.
    l1_ratio : float, default=0.5
        Part of the penalty that is of the absolute values, as in scikit-learn's ElasticNet.
    """

    alpha: float = 1.0
    l1_ratio: float = 0.5

    def _penalty_spec(self, rows: int, cap: float) -> str:
        alpha, ratio = float(self.alpha), float(self.l1_ratio)
        return f"elastic:l1={alpha * ratio / cap!r},l2={alpha * (1 - ratio) / cap!r}"


@parameters
class _FromZero(Regressor):
    """A private regression of numbers that are not below 0, with a log link.

    Parameters
    ----------
    label_bounds : (0, largest)
        Bounds of the target, public knowledge; targets are cut to them.  No default; None: those of the schema.
    alpha : float, default=0.0
        Strength of the ridge penalty, as in scikit-learn's PoissonRegressor and GammaRegressor.
    exposure : str, optional
        The column of time, or of people, that a target is over: its mean is proportional to it.  The schema has its
        bounds, above 0; the model is of the largest.  As ``offset(log(t))`` in a formula.
    """

    alpha: float = 0.0
    exposure: Optional[str] = None

    _power = 1  # of the mean, that the variance is proportional to

    def _with_exposure(self, schema: Any) -> Any:
        if self.exposure is None:
            return schema
        if schema is None:
            raise ValueError("exposure names a column, whose bounds are public knowledge; give the frame and its schema")
        return schema_of(schema).with_exposure(self.exposure)

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        ends = self._label_ends(getattr(table, "schema", None))
        if self.label_bounds is not None and ends and ends[0] != 0:
            raise ValueError("the targets lie between 0 and a largest one; give label_bounds=(0, largest)")
        if ends is None and table is None and self.estimate is None:
            raise ValueError("label_bounds is not given, nor in a schema, and has no default; give (0, largest)")
        return {} if self.label_bounds is None or ends is None else {"label_bound": ends[1]}

    def _penalty_spec(self, rows: int, cap: float) -> str:
        return f"l2:lambda={float(self.alpha) / cap!r}" if self.alpha > 0 else "none"

    def _figure(self, y: Any, predicted: NDArray[Any], sample_weight: Any) -> float:
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=self._power))

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@parameters
class PrivatePoissonRegression(_FromZero):
    """Regression of counts with a log link, under (epsilon, delta)-differential privacy.

    The mean of a record's count is e to the sum of its features times their weights.  Overdispersion does no harm to
    the weights; standard errors take it from the residuals.

    Parameters
    ----------
    max_mean : float, optional
        Public bound on the mean count of any kind of record, above 1; beyond it the mean is fitted as if it grew
        linearly.  None: the largest count.  The smaller, the faster the fit and the narrower its intervals.
    """

    max_mean: Any = None

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return "poisson"

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        ends = self._label_ends(getattr(table, "schema", None))
        if ends is None and self.max_mean is None:
            raise ValueError("label_bounds is not given, nor in a schema, and has no default; give (0, largest)")
        settings = super()._label_settings(intercept, table)
        largest = float(ends[1] if self.max_mean is None and ends else self.max_mean)
        if not 0 < largest <= math.exp(10):
            raise ValueError("the largest count is no mean that can be fitted; give max_mean, at most 22026")
        return {"loss": f"poisson:margin={max(math.log(largest), 1e-3)!r}", **settings}


@parameters
class PrivateGammaRegression(_FromZero):
    """Regression of amounts with a log link, under (epsilon, delta)-differential privacy.

    Amounts are costs, lengths of stay, and what else is not below 0 and varies in proportion to its mean.  That is e to
    the sum of a record's features times their weights.  A label of 0 counts as 2^-30.

    Parameters
    ----------
    max_ratio : float, default=8.0
        An amount of more times its mean counts as so many times, from 2 on.  Where amounts over their means have one
        law for all records, that moves the intercept alone.  The smaller, the less noise.
    """

    max_ratio: float = 8.0

    _power = 2

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return f"gamma:ratio={float(self.max_ratio)!r}"
