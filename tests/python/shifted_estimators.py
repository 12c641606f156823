"""Estimators with a built-in target, so scikit-learn's checks run under shift."""

import numpy as np
import scipy.sparse as sp

import covshift


class WithTarget:
    def fit(self, X, y=None, X_target=None, sample_weight=None):
        if X_target is None:
            cols = X.shape[1] if sp.issparse(X) else np.shape(np.asarray(X, dtype=object))[-1]
            X_target = np.random.RandomState(0).normal(0.6, 0.4, size=(12, cols))
        return super().fit(X, y, X_target=X_target, sample_weight=sample_weight)


class ShiftedClassifier(WithTarget, covshift.RobustClassifier):
    pass


class ShiftedLogistic(WithTarget, covshift.LogisticRatio):
    pass


class ShiftedULSIF(WithTarget, covshift.ULSIF):
    pass


class ShiftedKLIEP(WithTarget, covshift.KLIEP):
    pass


class ShiftedKMM(WithTarget, covshift.KMM):
    pass


class ShiftedGaussian(WithTarget, covshift.GaussianRatio):
    pass
