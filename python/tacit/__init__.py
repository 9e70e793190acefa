"""tacit: linear models of tables of people, under (epsilon, delta)-differential privacy."""

from ._accounting import Ledger, account, account_curve, calibrate
from ._audit import audit, plot_audit
from ._cox import PrivateCox
from ._describe import Description, describe
from ._estimators import (
    PrivateElasticNet,
    PrivateGammaRegression,
    PrivateLasso,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivatePoissonRegression,
    PrivateRidge,
)
from ._matrix import Table, read
from ._model import Model, Verdict, Verification, read_model, verify
from ._native import BudgetError, PrivacyWarning, UtilityWarning, components, version
from ._repeats import config
from ._search import PrivateSearchCV
from ._schema import PublicScaler, Schema
from ._study import Study, lm

__version__ = version()
__all__ = [
    "BudgetError",
    "Description",
    "Ledger",
    "Model",
    "PrivacyWarning",
    "PrivateCox",
    "PrivateElasticNet",
    "PrivateGammaRegression",
    "PrivateLasso",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivatePoissonRegression",
    "PrivateRidge",
    "PrivateSearchCV",
    "PublicScaler",
    "Schema",
    "Study",
    "Table",
    "UtilityWarning",
    "Verdict",
    "Verification",
    "account",
    "account_curve",
    "audit",
    "calibrate",
    "components",
    "config",
    "describe",
    "lm",
    "plot_audit",
    "read",
    "read_model",
    "verify",
]
