"""Classification under covariate shift, with a certificate.

Learn from labelled rows and from the unlabelled rows that the model will be used on:

>>> import covshift
>>> from sklearn.datasets import load_wine
>>> X, y = load_wine(return_X_y=True)
>>> X_train, X_target, y_train, y_target = covshift.biased_split(X, y, feature=8, n_target=80)
>>> model = covshift.RobustClassifier().fit(X_train, y_train, X_target)
>>> model.predict_proba(X_target).shape
(80, 3)

The C++ library does the work; this package provides scikit-learn estimators.
"""

from . import stream
from ._classifier import RobustClassifier
from ._compare import Comparison, compare
from ._core import __version__
from ._diagnose import Diagnosis, diagnose
from ._fitted import Certificate, Tried, View
from ._methods import (
    add_untyped,
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
from ._promise import ConformalClassifier, TargetPerformance, estimate
from ._ratio import KLIEP, KMM, ULSIF, DensityRatio, GaussianRatio, LogisticRatio
from ._sampling import BiasedSample, biased_sample, biased_split
from ._scoring import ImportanceWeightedScorer, Target, importance_weighted_scorer

__all__ = [
    "BiasedSample",
    "Certificate",
    "Comparison",
    "ConformalClassifier",
    "DensityRatio",
    "Diagnosis",
    "GaussianRatio",
    "ImportanceWeightedScorer",
    "KLIEP",
    "KMM",
    "LogisticRatio",
    "RobustClassifier",
    "Target",
    "TargetPerformance",
    "Tried",
    "ULSIF",
    "View",
    "__version__",
    "adv01",
    "auto",
    "biased_sample",
    "biased_split",
    "compare",
    "diagnose",
    "estimate",
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
    "stream",
    "svm",
]
add_untyped(globals())
del add_untyped
