"""A plain model is confident where it has seen no data; a robust one is not.

Tumours from digitised images of cells. The target differs from the training sample in the inputs.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

import covshift

X, y = load_breast_cancer(return_X_y=True)
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=100, n_target=100, feature=16, b=(0.3, 0.6), random_state=0
)

plain = covshift.lr().fit(X_train, y_train)
robust = covshift.robust(ratio_lam="paper").fit(X_train, y_train, X_target)

for name, model in (("plain", plain), ("robust", robust)):
    p = model.predict_proba(X_target)
    print(
        f"{name:>6}: log loss {log_loss(y_target, p, labels=model.classes_):.3f}, "
        f"accuracy {model.score(X_target, y_target):.2f}, mean confidence {p.max(axis=1).mean():.2f}"
    )

# What can be promised for the target without its labels. Here nothing: it is too far away.
print()
print(robust.certificate_)

# For a target that shares more with the training sample: a bound, and whether it came true.
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=250, n_target=250, feature=16, crossing=0.4, replacement=False, random_state=0
)
model = covshift.RobustClassifier().fit(X_train, y_train, X_target)
bound = model.certificate_.bound
loss = log_loss(y_target, model.predict_proba(X_target), labels=model.classes_)
print()
print(model.certificate_)
print(f"On the target's labels the loss is {loss:.3f}: the promise {'holds' if loss <= bound else 'is broken'}.")
