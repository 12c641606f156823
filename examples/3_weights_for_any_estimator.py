"""
Density ratios
==============

Weights for any scikit-learn estimator.

Handwritten digits; the target has different shapes of the same digits.
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

import covshift

X, y = load_digits(return_X_y=True)
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=400, n_target=300, random_state=0
)

forest = RandomForestClassifier(random_state=0)
print(f"unweighted: accuracy {forest.fit(X_train, y_train).score(X_target, y_target):.3f}")
for ratio in (covshift.LogisticRatio(), covshift.ULSIF(), covshift.GaussianRatio()):
    w = ratio.fit(X_train, X_target).weights(X_train)
    w = w.clip(max=20)  # keep a few rows from dominating
    score = forest.fit(X_train, y_train, sample_weight=w).score(X_target, y_target)
    size = w.sum() ** 2 / (w**2).sum()
    print(f"{type(ratio).__name__:>14}: accuracy {score:.3f}, effective sample size {size:.0f}")
