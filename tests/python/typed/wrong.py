"""Calls that a type checker must refuse, each on the line of its comment; never run."""

import numpy as np

import covshift

X = np.zeros((10, 2))
y = [0, 1] * 5

covshift.RobustClassifier(lamda=0.1)  # refused
covshift.RobustClassifier(lam="best")  # refused
covshift.RobustClassifier(lam=None)  # refused
covshift.RobustClassifier(scale="minmax")  # refused
covshift.RobustClassifier(bias=True)  # refused
covshift.RobustClassifier(class_weight="equal")  # refused
covshift.RobustClassifier(generalize=3)  # refused
covshift.RobustClassifier("log", "auto", "all", "auto", "cv", "logistic", "linear")  # refused
covshift.lr(lamda=0.1)  # refused
covshift.robust_views()  # refused
covshift.RobustClassifier().fit(X)  # refused
covshift.RobustClassifier().fit(3, y)  # refused
covshift.RobustClassifier().fit(X, y).certificate  # refused
covshift.KMM(alpha=0.1)  # refused
covshift.LogisticRatio(lam="iwcv")  # refused
covshift.diagnose(X)  # refused
covshift.diagnose(X, X, permutations="many")  # refused
covshift.compare(X, y)  # refused
covshift.compare(X, y, X, metric="auc")  # refused
covshift.compare(X, y, X).best_estimator(3)  # refused
covshift.estimate(lambda rows: rows, X, y, X)  # refused
covshift.biased_split(X, y, train=5)  # refused
covshift.importance_weighted_scorer("accuracy", "logistic")  # refused
covshift.ConformalClassifier(covshift.lr(), cv="fitted")  # refused
