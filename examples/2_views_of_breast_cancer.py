"""
Views
=====

Some measurements shift, others hardly do. Trust the evidence of the latter.

Cell nuclei are described by ten measurements, each by its mean, its standard error and its worst value.
"""

from sklearn.datasets import load_breast_cancer

import covshift

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_target, y_train, y_target = covshift.biased_split(
    X, y, n_train=150, n_target=150, feature="concavity error", b=(0.3, 0.6), random_state=0
)

views = {
    "size": ["*radius*", "*perimeter*", "*area*"],
    "texture": ["*texture*", "*smoothness*"],
    "shape": ["*compactness*", "*concav*", "*symmetry*", "*fractal*"],
}
print(covshift.diagnose(X_train, X_target, views=views, ratio_lam="paper", permutations=99))
print()

# Views with a KL below the threshold are trusted; generalized_views=["texture"] names them instead.
model = covshift.robust_view(views=views, view_threshold=0.05, ratio_lam="paper")
model.fit(X_train, y_train, X_target)
for view in model.views_:
    print(f"{view.name:>8}: KL {view.kl:.3f}, {'trusted' if view.generalized else 'with caution'}")
print(f"accuracy on the target {model.score(X_target, y_target):.3f}")
