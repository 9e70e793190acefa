"""scikit-learn's own checks on the five estimators, at an epsilon without meaning and public bounds.

FAILING lists those that do not pass, with the reason; each must be a matter of privacy.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit

FAILING = {}  # name of the check: why it cannot pass

SETTINGS = {"epsilon": 1e3, "delta": 1e-6, "data_norm": 10.0, "n_jobs": 1}
LABELS = {"label_bounds": (-10, 10)}  # the checks standardise their targets


@parametrize_with_checks(
    [
        tacit.PrivateLogisticRegression(**SETTINGS),
        tacit.PrivateLinearSVC(**SETTINGS),
        tacit.PrivateRidge(**SETTINGS, **LABELS),
        tacit.PrivateLasso(**SETTINGS, **LABELS, alpha=0.01),
        tacit.PrivateElasticNet(**SETTINGS, **LABELS, alpha=0.01),
    ]
)
def test_scikit_learn(estimator, check):
    assert not FAILING
    check(estimator)
