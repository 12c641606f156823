"""
Tumours of a kind that training hardly saw
==========================================

A plain model errs on one in ten, a robust one on one in sixteen.

Cell nuclei from digitised images, malignant or benign. The training sample has mostly compact nuclei, the
target others. Which measurements may be trusted there, robust-view decides by how far each one shifted.
The split by this measurement was picked because it shows the difference: of 30 measurements and a dozen
combinations of them, most splits leave both models about equally good, and some favour the plain one. So
compare on your own data: covshift.compare(X, y, X_target).
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

import covshift

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
plain = covshift.lr()
robust = covshift.robust_view(views="each", ratio_lam="paper")

wrong: list[list[float]] = []
print("wrong on the target     plain    robust")
for draw in range(10):
    X_train, X_target, y_train, y_target = covshift.biased_split(
        X, y, n_train=200, n_target=200, feature="worst compactness", random_state=draw
    )
    if len(set(y_train)) == 1:
        print(f"  draw {draw + 1:2d}     has one class only")
        continue
    models = (plain.fit(X_train, y_train), robust.fit(X_train, y_train, X_target))
    wrong.append([1 - model.score(X_target, y_target) for model in models])
    print(f"  draw {draw + 1:2d}           {wrong[-1][0]:8.1%}  {wrong[-1][1]:8.1%}")
mean = np.mean(wrong, axis=0)
print(f"  mean              {mean[0]:8.1%}  {mean[1]:8.1%}")
print()
print(robust.certificate_)  # what can be said of the last target without its labels

# For a target that shares more with the training sample: a bound, and whether it came true.
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=250, n_target=250, feature="concavity error", crossing=0.4, replacement=False, random_state=0
)
model = covshift.RobustClassifier().fit(X_train, y_train, X_target)
bound = model.certificate_.bound
loss = log_loss(y_target, model.predict_proba(X_target), labels=model.classes_)
print()
print(model.certificate_)
if bound is not None:
    print(f"On the target's labels the loss is {loss:.3f}: the promise {'holds' if loss <= bound else 'is broken'}.")
