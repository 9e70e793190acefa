"""tacit: linear models of tables of people, under (epsilon, delta)-differential privacy."""

from typing import TYPE_CHECKING

from ._native import BudgetError, PrivacyWarning, UtilityWarning, components, version

if TYPE_CHECKING:
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

# Modules load when a name of theirs is first used (PEP 562): scikit-learn takes a second.  A test holds this against the
# imports above, which type checkers read.
_HOMES = {
    "_accounting": "Ledger account account_curve calibrate",
    "_audit": "audit plot_audit",
    "_cox": "PrivateCox",
    "_describe": "Description describe",
    "_estimators": "PrivateElasticNet PrivateGammaRegression PrivateLasso PrivateLinearSVC PrivateLogisticRegression "
    "PrivatePoissonRegression PrivateRidge",
    "_matrix": "Table read",
    "_model": "Model Verdict Verification read_model verify",
    "_repeats": "config",
    "_search": "PrivateSearchCV",
    "_schema": "PublicScaler Schema",
    "_study": "Study lm",
}

if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names.split():
                globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
