"""tacit: linear models of tables of people, under (epsilon, delta)-differential privacy."""

from typing import TYPE_CHECKING

from ._native import version

# Type checkers read these imports, the interpreter _HOMES below: a module loads when a name of its is first used
# (PEP 562), for scikit-learn takes a second.  A test holds the two against each other.
if TYPE_CHECKING:
    from ._accounting import Ledger as Ledger, account as account, account_curve as account_curve, calibrate as calibrate
    from ._audit import audit as audit, plot_audit as plot_audit
    from ._cox import PrivateCox as PrivateCox
    from ._describe import Description as Description, describe as describe
    from ._estimators import PrivateElasticNet as PrivateElasticNet, PrivateGammaRegression as PrivateGammaRegression
    from ._estimators import PrivateLasso as PrivateLasso, PrivateLinearSVC as PrivateLinearSVC
    from ._estimators import PrivateLogisticRegression as PrivateLogisticRegression
    from ._estimators import PrivatePoissonRegression as PrivatePoissonRegression, PrivateRidge as PrivateRidge
    from ._matrix import Table as Table, read as read
    from ._model import Model as Model, Verdict as Verdict, Verification as Verification
    from ._model import read_model as read_model, verify as verify
    from ._native import BudgetError as BudgetError, PrivacyWarning as PrivacyWarning, UtilityWarning as UtilityWarning
    from ._native import components as components
    from ._repeats import config as config
    from ._schema import PublicScaler as PublicScaler, Schema as Schema
    from ._search import PrivateSearchCV as PrivateSearchCV
    from ._study import Study as Study, lm as lm

__version__ = version()

_HOMES = {
    "_accounting": "Ledger account account_curve calibrate",
    "_audit": "audit plot_audit",
    "_cox": "PrivateCox",
    "_describe": "Description describe",
    "_estimators": "PrivateElasticNet PrivateGammaRegression PrivateLasso PrivateLinearSVC PrivateLogisticRegression "
    "PrivatePoissonRegression PrivateRidge",
    "_matrix": "Table read",
    "_model": "Model Verdict Verification read_model verify",
    "_native": "BudgetError PrivacyWarning UtilityWarning components",
    "_repeats": "config",
    "_schema": "PublicScaler Schema",
    "_search": "PrivateSearchCV",
    "_study": "Study lm",
}

if not TYPE_CHECKING:
    __all__ = sorted(" ".join(_HOMES.values()).split())

    def __getattr__(name):
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names.split():
                globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
