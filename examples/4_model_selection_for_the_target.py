"""
Model selection
===============

Choose what will be best on the target, not on the training data.

An importance-weighted score in GridSearchCV, and a target sample in a pipeline.
"""

import sklearn
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import covshift

X, y = load_wine(return_X_y=True)
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=100, n_target=100, feature=8, b=(0.3, 0.6), random_state=1
)

# Any estimator, with an estimate of its score on the target.
ratio = covshift.LogisticRatio(lam="paper").fit(X_train, X_target)
scoring = covshift.importance_weighted_scorer("neg_log_loss", ratio)
grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1, 10, 100]}
search = GridSearchCV(
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)), grid, scoring=scoring
)
search.fit(X_train, y_train)
print(f"best C {search.best_params_['logisticregression__C']}: {-search.best_score_:.3f}")

# RobustClassifier in a pipeline: the target is scaled like the training data, and Target keeps it
# whole while the training data are split into folds.
with sklearn.config_context(enable_metadata_routing=True):
    robust = covshift.robust(scale="none", lam=0.01).set_fit_request(X_target=True)
    pipeline = make_pipeline(StandardScaler(), robust, transform_input=["X_target"])
    search = GridSearchCV(
        pipeline, {"robustclassifier__generalize": ["train", "temper:0.5", "test"]}, scoring=scoring
    )
    search.fit(X_train, y_train, X_target=covshift.Target(X_target))
print(f"best assumption {search.best_params_['robustclassifier__generalize']}")
right = (search.predict(X_target) == y_target).mean()
print(f"accuracy on the target {right:.3f}")
