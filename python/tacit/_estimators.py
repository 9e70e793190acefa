"""The five estimators, with scikit-learn's conventions, over the library's plan and fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ._labels import Classifier, Regressor
from ._parameters import parameters


@parameters
class PrivateLogisticRegression(Classifier):
    """Logistic regression under (epsilon, delta)-differential privacy.

    More than two classes: one model against the rest for each, all of them together within epsilon.

    After fit, ``privacy_`` is the certificate.  Its list ``unaccounted`` names what read the records besides and is not
    within epsilon.  Such are steps of a pipeline before the estimator, a drafted schema, and earlier fits on the same
    records without a ledger.
    """

    def _loss_spec(self) -> str:
        return "logistic"

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of each class; one against the rest: the logistic values, normalised."""
        margins = self._margins(X)
        if margins.shape[1] == 1:
            p = expit(margins[:, 0])
            return np.column_stack([1 - p, p])
        p = expit(margins)
        total = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1]))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of `predict_proba`."""
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

    def _loss_spec(self) -> str:
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
        if not self.alpha >= 0:
            raise ValueError("alpha must not be negative; give e.g. alpha=1.0")
        return f"l2:lambda={self.alpha / (rows * cap)!r}" if self.alpha > 0 else "none"


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
        if not self.alpha >= 0:
            raise ValueError("alpha must not be negative; give e.g. alpha=0.01")
        return f"l1:lambda={self.alpha / cap!r}"


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
        if not (self.alpha >= 0 and 0 <= self.l1_ratio <= 1):
            raise ValueError("alpha must not be negative and l1_ratio must lie in [0, 1]; correct them")
        return f"elastic:l1={self.alpha * self.l1_ratio / cap!r},l2={self.alpha * (1 - self.l1_ratio) / cap!r}"
