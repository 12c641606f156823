"""A use of each public function and class, with the type that a checker must find; never run."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from typing_extensions import assert_type

import covshift
import covshift.plot

Floats = npt.NDArray[np.float64]

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
X_target = rng.normal(0.5, 1, size=(80, 3))
y = X[:, 0] > 0
frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})

# The classifier: numbers, names and matrices as options.
covshift.RobustClassifier(lam=0.1)
covshift.RobustClassifier(lam="iwcv", ratio_lam=0.01, lams=[1, 0.1], class_weight={True: 2.0})
covshift.RobustClassifier([[0, 10], [1, 0]], "views", {"left": [0, "b"], "right": 2}, ["left"])
covshift.RobustClassifier(np.eye(2), views=Path("views.txt"), ratio=covshift.KMM(bound=20))
covshift.RobustClassifier(ratio=None, n_jobs=-1, verbose=1, progress=lambda stage, share: None)
covshift.RobustClassifier(classes=["small", "large"], class_weight="balanced", random_state=None)
covshift.RobustClassifier(views={"all": {"columns": ["a*"], "features": "nystroem:50"}})

model = covshift.RobustClassifier().fit(X, y, X_target, sample_weight=np.ones(100))
assert_type(model, covshift.RobustClassifier)
assert_type(model.predict(X), npt.NDArray[Any])
assert_type(model.predict_proba(X.tolist()), Floats)
assert_type(model.decision_function(frame), Floats)
assert_type(model.log_ratio(covshift.Target(X)), Floats)
assert_type(model.score(X, y), float)
assert_type(model.coef_, Floats)
assert_type(model.intercept_, Floats)
assert_type(model.coef_scaled_, Floats)
assert_type(model.certificate_.target_value, "float | None")
assert_type(model.views_[0].kl, float)
assert_type(model.tried_, list[covshift.Tried])
assert_type(model.method_, str)
assert_type(model.effective_sample_size_, "float | None")
assert_type(model.set_fit_request(X_target=True), covshift.RobustClassifier)
assert_type(model.set_params(lam=0.2), covshift.RobustClassifier)
model.save(os.path.join("folder", "model.json"))
assert_type(model.to_onnx(), bytes)
assert_type(model.to_onnx(Path("model.onnx")), bytes)
assert_type(covshift.RobustClassifier.load(Path("model.json")), covshift.RobustClassifier)

for method in (
    covshift.lr,
    covshift.iw,
    covshift.robust,
    covshift.robust_view,
    covshift.overlap,
    covshift.adv01,
    covshift.robust01,
    covshift.robust01_view,
    covshift.overlap01,
    covshift.svm,
    covshift.iw_svm,
    covshift.auto,
):
    assert_type(method(lam=0.1, features="linear"), covshift.RobustClassifier)

# Density ratios.
for ratio in (
    covshift.LogisticRatio(lam="paper", folds=3),
    covshift.GaussianRatio(scale="unit"),
    covshift.ULSIF(alpha=0.1, lam=0.1),
    covshift.KLIEP(kernel_width=2.0, centres=50),
    covshift.KMM(bound=20, slack=0.1, n_jobs=2),
):
    assert_type(ratio.fit(X, X_target).weights(X), Floats)
    assert_type(ratio.fit(X, y, X_target=X_target).log_ratio(X), Floats)
logistic = covshift.LogisticRatio().fit(X, X_target)
assert_type(logistic, covshift.LogisticRatio)

# Diagnosis, estimates, sets.
found = covshift.diagnose(X, X_target, views="each", permutations=99)
assert_type(found, covshift.Diagnosis)
assert_type(found.shift, bool)
assert_type(found.to_frame("features"), pd.DataFrame)
assert_type(found.plot(), Axes)
found.report("page.html", title="old → new")

compared = covshift.compare(X, y, X_target, methods=["lr", "robust_view"], truth=(X_target, y[:80]))
assert_type(compared, covshift.Comparison)
assert_type(compared.winner, "str | None")
assert_type(compared.best_estimator(), covshift.RobustClassifier)
assert_type(compared.diagnosis.shift, bool)
assert_type(compared.to_frame(), pd.DataFrame)
assert_type(compared.to_dict(), dict[str, Any])
assert_type(compared.plot(), Axes)
compared.report("page.html")

good = covshift.estimate(model, X, y, X_target, scoring=["f1_macro"], truth=(X, y))
assert_type(good, covshift.TargetPerformance)
assert_type(good["accuracy"], dict[str, Any])
assert_type(good.to_frame(), pd.DataFrame)
assert_type(good.plot(), Axes)

sets = covshift.ConformalClassifier(covshift.lr(), cv=3).fit(X, y, X_target)
assert_type(sets, covshift.ConformalClassifier)
assert_type(sets.predict_set(X_target, alpha=0.2), npt.NDArray[np.bool_])

# Sampling and scoring.
sample = covshift.biased_sample(X, n_train=20, feature=0, random_state=1)
assert_type(sample.threshold, float)
X_train, X_new, y_train, y_new = covshift.biased_split(X, y, n_train=20, feature="a", a=(1, 2))
scorer = covshift.importance_weighted_scorer("accuracy", logistic, normalize=False)
assert_type(scorer(model, X, y), float)

# Pictures.
assert_type(covshift.plot.decision_map(model, X[:, :2], y, X_target=X_target[:, :2]), Axes)
assert_type(covshift.plot.weight_histogram(logistic, X, bins=10), Axes)
assert_type(covshift.plot.view_bars(found, threshold=0.2), Axes)
assert_type(covshift.plot.intervals(good), Axes)
assert_type(covshift.plot.scores(compared, metric="error"), Axes)
assert_type(covshift.plot.reliability(y, model.predict_proba(X), classes=[False, True]), Axes)
