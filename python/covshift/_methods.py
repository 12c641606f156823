"""The table of methods as short constructors: a loss and a generalization assumption each.

All take the other options of :class:`RobustClassifier` by name.
"""

from __future__ import annotations

from ._classifier import RobustClassifier


def lr(**options) -> RobustClassifier:
    """Logistic regression; ignores the shift."""
    return RobustClassifier(**{"loss": "log", "generalize": "none", **options})


def iw(**options) -> RobustClassifier:
    """Importance-weighted logistic regression."""
    return RobustClassifier(**{"loss": "log", "generalize": "test", **options})


def robust(**options) -> RobustClassifier:
    """Robust to the shift in all inputs, log loss."""
    return RobustClassifier(**{"loss": "log", "generalize": "train", **options})


def robust_view(**options) -> RobustClassifier:
    """Robust, trusting the views that hardly shift, log loss; give ``views="each"`` or groups."""
    return RobustClassifier(**{"loss": "log", "generalize": "views", **options})


def overlap(**options) -> RobustClassifier:
    """Evidence fades where training data are scarcer than the target, log loss."""
    return RobustClassifier(**{"loss": "log", "generalize": "overlap", **options})


def adv01(**options) -> RobustClassifier:
    """Adversarial zero-one classifier; ignores the shift."""
    return RobustClassifier(**{"loss": "zero-one", "generalize": "none", **options})


def robust01(**options) -> RobustClassifier:
    """Robust to the shift in all inputs, zero-one loss."""
    return RobustClassifier(**{"loss": "zero-one", "generalize": "train", **options})


def robust01_view(**options) -> RobustClassifier:
    """Robust, trusting the views that hardly shift, zero-one loss."""
    return RobustClassifier(**{"loss": "zero-one", "generalize": "views", **options})


def overlap01(**options) -> RobustClassifier:
    """Evidence fades where training data are scarcer than the target, zero-one loss."""
    return RobustClassifier(**{"loss": "zero-one", "generalize": "overlap", **options})


def svm(**options) -> RobustClassifier:
    """Multiclass SVM (Crammer-Singer); ignores the shift."""
    return RobustClassifier(**{"loss": "hinge", "generalize": "none", **options})


def iw_svm(**options) -> RobustClassifier:
    """Importance-weighted multiclass SVM."""
    return RobustClassifier(**{"loss": "hinge", "generalize": "test", **options})


def auto(**options) -> RobustClassifier:
    """The method of the smallest importance-weighted held-out loss, with and without the shift."""
    return RobustClassifier(**{"generalize": "auto", **options})
