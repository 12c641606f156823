"""Classification under covariate shift, with a certificate.

    >>> import covshift
    >>> model = covshift.RobustClassifier().fit(X, y, X_target)     # X_target: where it will be used
    >>> model.predict_proba(X_target), model.certificate_

The C++ library does the work; this package makes it an estimator like any other in scikit-learn.
"""

from ._classifier import Certificate, RobustClassifier, View
from ._core import __version__
from ._diagnose import Diagnosis, diagnose
from ._methods import (
    adv01,
    auto,
    iw,
    iw_svm,
    lr,
    overlap,
    overlap01,
    robust,
    robust01,
    robust01_view,
    robust_view,
    svm,
)
from ._ratio import KLIEP, KMM, ULSIF, GaussianRatio, LogisticRatio
from ._sampling import BiasedSample, biased_sample, biased_split
from ._scoring import ImportanceWeightedScorer, Target, importance_weighted_scorer

__all__ = [
    "BiasedSample",
    "Certificate",
    "Diagnosis",
    "GaussianRatio",
    "ImportanceWeightedScorer",
    "KLIEP",
    "KMM",
    "LogisticRatio",
    "RobustClassifier",
    "Target",
    "ULSIF",
    "View",
    "__version__",
    "adv01",
    "auto",
    "biased_sample",
    "biased_split",
    "diagnose",
    "importance_weighted_scorer",
    "iw",
    "iw_svm",
    "lr",
    "overlap",
    "overlap01",
    "robust",
    "robust01",
    "robust01_view",
    "robust_view",
    "svm",
]
