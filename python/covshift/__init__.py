"""Classification under covariate shift, with a certificate.

    >>> import covshift
    >>> model = covshift.RobustClassifier().fit(X, y, X_target)     # X_target: where it will be used
    >>> model.predict_proba(X_target), model.certificate_

The C++ library does the work; this package provides scikit-learn estimators.
"""

from ._classifier import Certificate, RobustClassifier, View
from ._core import __version__
from ._diagnose import Diagnosis, diagnose
from ._methods import METHODS
from ._promise import ConformalClassifier, TargetPerformance, estimate
from ._ratio import KLIEP, KMM, ULSIF, GaussianRatio, LogisticRatio
from ._sampling import BiasedSample, biased_sample, biased_split
from ._scoring import ImportanceWeightedScorer, Target, importance_weighted_scorer

__all__ = [
    "BiasedSample",
    "Certificate",
    "ConformalClassifier",
    "Diagnosis",
    "GaussianRatio",
    "ImportanceWeightedScorer",
    "KLIEP",
    "KMM",
    "LogisticRatio",
    "RobustClassifier",
    "Target",
    "TargetPerformance",
    "ULSIF",
    "View",
    "__version__",
    "biased_sample",
    "biased_split",
    "diagnose",
    "estimate",
    "importance_weighted_scorer",
    *METHODS,
]


def __getattr__(name: str):
    """The methods, such as ``covshift.robust()``: rows of the library's table."""
    if name in METHODS:
        return METHODS[name]
    raise AttributeError(f"module 'covshift' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *METHODS])
