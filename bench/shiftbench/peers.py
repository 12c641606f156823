"""Other packages' methods. Each gets columns that are one-hot, standardised by training; their constants are chosen by
five-fold cross validation of the log loss where the package offers it, and are the packages' defaults elsewhere."""

from __future__ import annotations

import contextlib
import io

import numpy as np

LANDMARKS = 150
MOST_ROWS_MRCPY = 1_100
STRENGTHS = tuple(np.logspace(-4, 3, 12))  # scikit-learn's C


def logistic():
    from sklearn.linear_model import LogisticRegressionCV

    return LogisticRegressionCV(Cs=STRENGTHS, cv=5, scoring="neg_log_loss", max_iter=2000, use_legacy_attributes=False,
                                l1_ratios=(0,))


def in_order(model, Z, classes):
    """Probabilities of the target, a column for each class."""
    p = np.asarray(model.predict_proba(Z))
    out = np.zeros((len(p), classes))
    out[:, np.asarray(model.classes_, int)] = p
    return out


def plain(make):
    def run(X, y, Z, classes):
        return in_order(make(X).fit(X, y), Z, classes)
    return run


def median_gamma(X):
    rows = np.random.default_rng(0).permutation(len(X))[:300]
    S = X[rows]
    squares = ((S[:, None] - S[None]) ** 2).sum(2)
    return 1 / np.median(squares[np.triu_indices(len(S), 1)])


def rbf(X):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    return make_pipeline(Nystroem(gamma=median_gamma(X), n_components=min(LANDMARKS, len(X)), random_state=0), logistic())


def forest(_):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(300, min_samples_leaf=3, random_state=0)


def boosting(_):
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(random_state=0)


def stacked(X, y, Z):
    """skada's one array of both domains."""
    return (np.vstack([X, Z]), np.r_[y, np.full(len(Z), -1)],
            np.r_[np.ones(len(X), int), np.full(len(Z), -2)])


def skada(name, **options):
    def run(X, y, Z, classes):
        import skada as package
        from sklearn.linear_model import LogisticRegression

        estimator = LogisticRegression(max_iter=2000).set_fit_request(sample_weight=True)
        both, labels, domain = stacked(X, y, Z)
        make = getattr(package, name)
        model = make(base_estimator=estimator, **options).fit(both, labels, sample_domain=domain)
        p = np.asarray(model.predict_proba(Z, sample_domain=np.full(len(Z), -2), allow_source=True))
        out = np.zeros((len(p), classes))
        out[:, np.unique(y)] = p
        return out
    return run


def dwgcs(X, y, Z, classes):
    """MRCpy's double weighting with log loss. Its general convex solver takes 8 s for 1,080 rows and more than 20 s for
    1,300, training and target together."""
    if len(X) + len(Z) > MOST_ROWS_MRCPY:
        raise ValueError(f"not tried with more than {MOST_ROWS_MRCPY:,} rows of training and target: it takes too long")
    from MRCpy import DWGCS
    from MRCpy.phi import BasePhi
    from sklearn.base import BaseEstimator

    class Linear(BasePhi, BaseEstimator):
        pass

    with contextlib.redirect_stdout(io.StringIO()):
        model = DWGCS(loss="log", phi=Linear(classes, fit_intercept=True), random_state=0).fit(X, y, Z)
        return np.asarray(model.predict_proba(Z))


METHODS = {
    "LR (CV)": ("scikit-learn", plain(lambda X: logistic())),
    "RBF + LR": ("scikit-learn", plain(rbf)),
    "random forest": ("scikit-learn", plain(forest)),
    "gradient boosting": ("scikit-learn", plain(boosting)),
    "skada discriminator": ("skada", skada("DiscriminatorReweight")),
    "skada Gaussian": ("skada", skada("GaussianReweight")),
    "skada density": ("skada", skada("DensityReweight")),
    "skada nearest": ("skada", skada("NearestNeighborReweight")),
    "skada KLIEP": ("skada", skada("KLIEPReweight", gamma=[0.01, 0.1, 1.0])),
    "skada KMM": ("skada", skada("KMMReweight")),
    "MRCpy DWGCS": ("MRCpy", dwgcs),
}
