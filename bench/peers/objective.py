"""The objective that every answer is judged by, whoever gave it.

    F(T) = 1/m sum_i [ V(psi_i) - psi_i[y_i] ] + lambda ||T||^2,    psi_i = x_i' T,    T: features x classes

as covshift/learn/problem.hpp has it. With C = 1 / (2 m lambda), m C F is the problem of scikit-learn's
multinomial regression and of Crammer and Singer's machine, 1/2 ||W||^2 + C (sum of losses).

Two classes with one vector w of weights: only the difference of the two potentials matters to the loss, and
of all T with T_1 - T_0 = w the penalty prefers T_1 = -T_0 = w/2, where ||T||^2 = ||w||^2 / 2. So
1/2 ||w||^2 + C (sum of losses) has C = 1 / (m lambda) there.
"""

import numpy as np
from scipy.special import logsumexp


def log_loss(psi, y):
    return logsumexp(psi, axis=1) - psi[np.arange(len(y)), y]


def hinge_loss(psi, y):
    """Crammer and Singer: the largest of psi_k + [k != y] - psi_y."""
    rows = np.arange(len(y))
    with_margin = psi + 1.0
    with_margin[rows, y] -= 1
    return with_margin.max(axis=1) - psi[rows, y]


def zero_one_loss(psi, y):
    """The adversarial zero-one loss: the best k of (sum of the k largest psi + k - 1) / k, less psi_y."""
    k = np.arange(1, psi.shape[1] + 1)
    sums = np.cumsum(-np.sort(-psi, axis=1), axis=1)
    return ((sums + k - 1) / k).max(axis=1) - psi[np.arange(len(y)), y]


LOSSES = {"log": log_loss, "hinge": hinge_loss, "zero-one": zero_one_loss}


def objective(loss, X, y, T, lam):
    """F at the weights T; in pieces of the rows, so that potentials never take much memory."""
    total, step = 0.0, 50_000
    for first in range(0, X.shape[0], step):
        psi = np.asarray(X[first : first + step] @ T)
        total += LOSSES[loss](psi, y[first : first + step]).sum()
    return float(total / X.shape[0] + lam * np.sum(T * T))


def one_vector(w, positive=1):
    """The weights T of two classes for one vector w, whose potential w'x speaks for class `positive`."""
    T = np.empty((len(w), 2))
    T[:, positive], T[:, 1 - positive] = w / 2, -w / 2
    return T


def penalty_c(lam, rows, classes_share_one_vector):
    """C of 1/2 ||w||^2 + C (sum of losses) that has the minimiser of F."""
    return 1 / (lam * rows * (1 if classes_share_one_vector else 2))
