"""Density ratios and whole methods for covariate shift, where packages share no objective: time, and how good
the answer is on data whose truth is known.

Ratios are judged at the training rows by the mean squared error of the weights, divided by their mean, from
the true ones; classifiers by their error and log loss on the labelled target.
"""

from __future__ import annotations

import contextlib
import functools
import io
import statistics
from unittest import mock

import numpy as np

from .clock import limited, repeated
from .workloads import load


def ours_ratio(name, **options):
    def run(data):
        import covshift

        ratio = getattr(covshift, name)(scale="none", **options).fit(data.X, data.X_target)
        return ratio.weights(data.X)

    return run


def densratio_ratio(method):
    def run(data):
        from densratio import densratio

        return densratio(data.X_target, data.X, method=method, verbose=False).compute_density_ratio(
            data.X
        )

    return run


def adapt_ratio(name):
    def run(data):
        import adapt.instance_based as package
        from sklearn.linear_model import LogisticRegression

        options = {"classifier": LogisticRegression()} if name == "IWC" else {}
        model = getattr(package, name)(
            LogisticRegression(), Xt=data.X_target, verbose=0, random_state=0, **options
        )
        return model.fit_weights(data.X, data.X_target)

    return run


def skada_ratio(name, **options):
    def run(data):
        import skada

        X = np.vstack([data.X, data.X_target])
        domain = np.r_[np.ones(len(data.X)), np.full(len(data.X_target), -2)].astype(int)
        y = np.r_[data.y, np.full(len(data.X_target), -1)]
        adapter = getattr(skada, name)(**options)
        return adapter.fit_transform(X, y, sample_domain=domain)[1]["sample_weight"][: len(data.X)]

    return run


RATIOS = {
    "covshift logistic, lam 0.01": ours_ratio("LogisticRatio", lam=0.01),
    "covshift logistic, lam by cross validation": ours_ratio("LogisticRatio", lam="cv"),
    "covshift Gaussian": ours_ratio("GaussianRatio"),
    "covshift uLSIF": ours_ratio("ULSIF"),
    "covshift RuLSIF": ours_ratio("ULSIF", alpha=0.1),
    "covshift KLIEP": ours_ratio("KLIEP"),
    "covshift KMM": ours_ratio("KMM"),
    "densratio uLSIF": densratio_ratio("uLSIF"),
    "densratio RuLSIF": densratio_ratio("RuLSIF"),
    "densratio KLIEP": densratio_ratio("KLIEP"),
    "adapt ULSIF": adapt_ratio("ULSIF"),
    "adapt RULSIF": adapt_ratio("RULSIF"),
    "adapt KLIEP": adapt_ratio("KLIEP"),
    "adapt KMM": adapt_ratio("KMM"),
    "adapt IWC": adapt_ratio("IWC"),
    "adapt NearestNeighborsWeighting": adapt_ratio("NearestNeighborsWeighting"),
    "skada DiscriminatorReweightAdapter": skada_ratio("DiscriminatorReweightAdapter"),
    "skada GaussianReweightAdapter": skada_ratio("GaussianReweightAdapter"),
    "skada DensityReweightAdapter": skada_ratio("DensityReweightAdapter"),
    "skada KLIEPReweightAdapter": skada_ratio("KLIEPReweightAdapter", gamma=[0.01, 0.1, 1.0]),
    "skada KMMReweightAdapter": skada_ratio("KMMReweightAdapter"),
    "skada NearestNeighborReweightAdapter": skada_ratio("NearestNeighborReweightAdapter"),
}


def ours(constructor, **options):
    def run(data):
        import covshift

        options_of_all = {"lam": 0.01, "scale": "none", **options}
        return getattr(covshift, constructor)(**options_of_all).fit(data.X, data.y, data.X_target)

    return run


def dwgcs(loss):
    def run(data):
        import cvxpy
        from MRCpy import DWGCS
        from MRCpy.phi import BasePhi
        from sklearn.base import BaseEstimator

        class Linear(BasePhi, BaseEstimator):
            pass

        phi = Linear(data.classes, fit_intercept=False)
        model = DWGCS(loss=loss, phi=phi, random_state=0)
        # MRCpy has CVXPY prove that a Gaussian kernel's matrix is positive semidefinite, which does not
        # converge on these rows; it is, so CVXPY is told.
        told = functools.partial(cvxpy.quad_form, assume_PSD=True)
        with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(cvxpy, "quad_form", told):
            return model.fit(data.X, data.y, data.X_target)

    return run


def skada_reweighted(name):
    def run(data):
        import skada
        from sklearn.linear_model import LogisticRegression

        X = np.vstack([data.X, data.X_target])
        domain = np.r_[np.ones(len(data.X)), np.full(len(data.X_target), -2)].astype(int)
        y = np.r_[data.y, np.full(len(data.X_target), -1)]
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        return getattr(skada, name)(base_estimator=estimator).fit(X, y, sample_domain=domain)

    return run


def adapt_weighted(name):
    def run(data):
        import adapt.instance_based as package
        from sklearn.linear_model import LogisticRegression

        return getattr(package, name)(
            LogisticRegression(), Xt=data.X_target, verbose=0, random_state=0
        ).fit(data.X, data.y)

    return run


CLASSIFIERS = {
    "covshift robust, ratio lam 0.01": ours("robust", ratio_lam=0.01),
    "covshift robust, default ratio": ours("robust"),
    "covshift robust01, ratio lam 0.01": ours("robust01", ratio_lam=0.01),
    "covshift iw, ratio lam 0.01": ours("iw", ratio_lam=0.01),
    "covshift overlap, ratio lam 0.01": ours("overlap", ratio_lam=0.01),
    "covshift overlap, default ratio": ours("overlap"),
    "covshift overlap01, ratio lam 0.01": ours("overlap01", ratio_lam=0.01),
    "MRCpy DWGCS 0-1": dwgcs("0-1"),
    "MRCpy DWGCS log": dwgcs("log"),
    "skada DiscriminatorReweight": skada_reweighted("DiscriminatorReweight"),
    "skada KLIEPReweight": skada_reweighted("KLIEPReweight"),
    "skada KMMReweight": skada_reweighted("KMMReweight"),
    "adapt KLIEP": adapt_weighted("KLIEP"),
    "adapt KMM": adapt_weighted("KMM"),
    "adapt ULSIF": adapt_weighted("ULSIF"),
}


def ratio_error(weights, log_ratio):
    """Of weights from the true ones, both with mean 1."""
    truth = np.exp(log_ratio)
    weights = np.asarray(weights, dtype=float).ravel()
    return float(np.mean((weights / weights.mean() - truth / truth.mean()) ** 2))


def target_scores(model, data):
    """Error and, where the package predicts probabilities of the target, log loss (bits)."""
    scores = {"error": float(np.mean(np.asarray(model.predict(data.X_target)) != data.y_target))}
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(data.X_target))[np.arange(len(data.y_target)), data.y_target]
        if np.all(p > 0):
            scores["log_loss_bits"] = float(-np.mean(np.log2(p)))
    return scores


def answers(spec: dict):
    """Of the methods of one package, each failing for itself."""
    data = load("robust", spec["quick"])
    table = RATIOS if spec["what"] == "ratio" else CLASSIFIERS
    for name in spec["methods"]:
        call, kept = table[name], []
        try:
            # The first call imports the package, which may take long.
            limited(lambda call=call: call(data), 60 + spec["limit"])
            seconds = repeated(lambda call=call, kept=kept: kept.append(call(data)), spec["limit"])
            if spec["what"] == "ratio":
                scores = {"squared_error": ratio_error(kept[-1], data.log_ratio)}
            else:
                scores = target_scores(kept[-1], data)
        except Exception as failure:  # whatever a package throws is its result
            text = " ".join(str(failure).split())[:200]
            yield {"method": name, "failed": f"{type(failure).__name__}: {text}"}
            continue
        yield {"method": name, "seconds": statistics.median(seconds), "fits": len(seconds), **scores}
