"""
Costs, abstaining and files
===========================

Custom losses, models that may abstain, and files that the program can read.
"""

import os
import tempfile

import numpy as np
from sklearn.datasets import load_breast_cancer

import covshift

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=150, n_target=150, feature="worst smoothness", b=(0.3, 0.6), random_state=1
)

# Overlooking a tumour costs ten times as much as a false alarm. Columns: the classes, sorted.
costs = [[0, 10], [1, 0]]
careful = covshift.robust(loss=costs, lam=0.01, ratio_lam="paper").fit(X_train, y_train, X_target)
missed = (careful.predict(X_target)[y_target == "malignant"] == "benign").mean()
print(f"cost matrix: {100 * missed:.0f}% of the tumours overlooked")

# Abstaining costs 0.2 of an error.
modest = covshift.robust(loss="abstain:0.2", lam=0.01, ratio_lam="paper").fit(X_train, y_train, X_target)
predicted = modest.predict(X_target)
decided = predicted != modest.abstain_
right = (predicted[decided] == y_target[decided]).mean()
print(f"abstain: {100 * decided.mean():.0f}% decided, {100 * right:.0f}% of them right")

# The program reads the same file: covshift predict model.json target.csv
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.json")
    modest.save(path)
    again = covshift.RobustClassifier.load(path)
    print("the same after a round trip:", np.array_equal(predicted, again.predict(X_target)))
