"""The fits behind the study of the default's rule: a compact prototype in NumPy, independent of the library.

For a task: the columns' scaling, the log density ratio, and for each map and assumption a path of fits over lambda: the
potentials of every training row while it was held out, and of every target row. They are cached, and every rule of
study.py is a function of them. The problem is the library's (docs/architecture.md):

    min over T   1/m sum_i w_i [log sum_y exp psi_i[y] - psi_i[y_i]] + lambda ||T||^2,     psi_i = r_i T' phi(x_i)
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, ndtri

LAMBDAS = 4.0 ** np.arange(1, -10, -1)  # 4 .. 2^-18
FOLDS = 5
LANDMARKS = 150
VERSION = 1  # of these fits: another number makes the cache anew


# ---- the problem, solved --------------------------------------------------------------------------------------


def path_of_two(phi, s, w, lambdas):
    """Newton's method for two classes (s = -1, 1) along lambda; T = (-theta/2, theta/2), so ||T||^2 = ||theta||^2 / 2."""
    m, d = phi.shape
    theta, thetas = np.zeros(d), []
    for lam in lambdas:
        def value(t):
            return np.mean(w * np.logaddexp(0, -s * (phi @ t))) + lam / 2 * t @ t

        f = value(theta)
        for _ in range(40):
            p = expit(phi @ theta)
            gradient = phi.T @ (w * (p - (s > 0))) / m + lam * theta
            h = np.maximum(w * p * (1 - p), 1e-12) / m
            hessian = (phi * h[:, None]).T @ phi
            hessian.flat[:: d + 1] += lam
            step = np.linalg.solve(hessian, gradient)
            decrement = gradient @ step
            if decrement < 1e-7 * (1e-3 + f):
                break
            length = 1.0
            while (new := value(theta - length * step)) > f - 1e-4 * length * decrement and length > 1e-6:
                length /= 2
            theta, f = theta - length * step, new
        thetas.append(theta)
    return [np.c_[-t / 2, t / 2] for t in thetas]


def path_of_many(phi, y, w, lambdas, classes):
    m, d = phi.shape
    onehot, T, Ts = np.eye(classes)[y], np.zeros((d, classes)), []
    for lam in lambdas:
        def value(t, lam=lam):
            t = t.reshape(d, classes)
            psi = phi @ t
            v = logsumexp(psi, axis=1)
            g = phi.T @ (w[:, None] * (np.exp(psi - v[:, None]) - onehot)) / m + 2 * lam * t
            return np.mean(w * (v - psi[np.arange(m), y])) + lam * np.sum(t * t), g.ravel()

        T = minimize(value, T.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": 300, "ftol": 1e-9, "gtol": 1e-7}).x.reshape(d, classes)
        Ts.append(T)
    return Ts


def path(phi, y, w, r, lambdas, classes):
    scaled = phi * r[:, None]
    if classes == 2:
        return path_of_two(scaled, 2.0 * y - 1, w, lambdas)
    return path_of_many(scaled, y, w, lambdas, classes)


def folds(y, seed):
    """A fold for each row, the classes spread evenly."""
    random = np.random.default_rng(seed)
    fold = np.empty(len(y), int)
    start = 0
    for c in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == c))
        fold[rows] = (np.arange(len(rows)) + start) % FOLDS
        start += len(rows)
    return fold


# ---- inputs ----------------------------------------------------------------------------------------------------


def scaled(X, Z, how):
    """X is standardised already (Given.matrices)."""
    if how == "standard":
        return np.clip(X, -8, 8), np.clip(Z, -8, 8)
    if how == "uncut":
        return X, Z
    if how == "unit":
        low, high = X.min(0), X.max(0)
        return (X - low) / (high - low), (Z - low) / (high - low)
    if how == "rank":  # normal scores by the training ranks; beyond the range, the last score
        def scores(column, values):
            ordered = np.sort(column)
            u = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2
            s = ndtri(np.clip(u / (len(column) + 1), 0.5 / (len(column) + 1), 1 - 0.5 / (len(column) + 1)))
            return s
        pairs = [(scores(X[:, j], X[:, j]), scores(X[:, j], Z[:, j])) for j in range(X.shape[1])]
        out = []
        for a, b in pairs:
            sd = a.std() or 1
            out.append(((a - a.mean()) / sd, (b - a.mean()) / sd))
        return np.column_stack([p[0] for p in out]), np.column_stack([p[1] for p in out])
    raise ValueError(how)


def log_ratio(X, Z, seed=0):
    """Logistic, lambda by cross validation of the domain's log loss; not yet bounded. The intercept's column is 10, so
    that its penalty is a hundredth."""
    pooled = np.vstack([X, Z])
    sd = pooled.std(0)
    S = np.clip((pooled - pooled.mean(0)) / np.where(sd > 0, sd, 1), -5, 5)
    phi = np.c_[S, np.full(len(S), 10.0)]
    y = np.r_[np.zeros(len(X), int), np.ones(len(Z), int)]
    lambdas = 4.0 ** np.arange(1, -9, -1)
    fold, one = folds(y, seed), np.ones(len(y))
    loss = np.zeros((len(lambdas), len(y)))
    for k in range(FOLDS):
        out = fold == k
        for i, T in enumerate(path_of_two(phi[~out], 2.0 * y[~out] - 1, one[~out], lambdas)):
            t = phi[out] @ (T[:, 1] - T[:, 0])
            loss[i, out] = np.logaddexp(0, np.where(y[out] == 1, -t, t))
    best = int(loss.mean(1).argmin())
    T = path_of_two(phi, 2.0 * y - 1, one, lambdas[: best + 1])[-1]
    log_odds = phi @ (T[:, 1] - T[:, 0]) - np.log(len(Z) / len(X))
    return log_odds[: len(X)], log_odds[len(X):]


def nystroem(X, Z, seed, times=1.0):
    """`times`: the kernel's width in units of the one that the median distance gives."""
    random = np.random.default_rng(seed)
    half = LANDMARKS // 2
    marks = np.vstack([X[random.permutation(len(X))[:half]], Z[random.permutation(len(Z))[:half]]])

    def squares(A):
        return np.maximum((A * A).sum(1)[:, None] + (marks * marks).sum(1) - 2 * A @ marks.T, 0)

    inner = squares(marks)
    width = times**2 * np.median(inner[np.triu_indices(len(marks), 1)])
    values, vectors = np.linalg.eigh(np.exp(-inner / width))
    kept = values > 1e-6 * values.max()
    root = vectors[:, kept] / np.sqrt(values[kept])
    return np.exp(-squares(X) / width) @ root, np.exp(-squares(Z) / width) @ root


def splines(X, Z, knots=4):
    """Each column, and its part beyond each of its inner quantiles (of training and target together)."""
    blocks = [(X, Z)]
    for j in range(X.shape[1]):
        at = np.unique(np.quantile(np.r_[X[:, j], Z[:, j]], np.arange(1, knots + 1) / (knots + 1)))
        if len(np.unique(X[:, j])) > 2:
            blocks.append((np.maximum(X[:, [j]] - at, 0), np.maximum(Z[:, [j]] - at, 0)))
    return np.hstack([b[0] for b in blocks]), np.hstack([b[1] for b in blocks])


def quadratic(X, Z):
    i, j = np.triu_indices(X.shape[1])
    return np.c_[X, X[:, i] * X[:, j]], np.c_[Z, Z[:, i] * Z[:, j]]


def centred(X, Z, columns):
    """Centred on training; total variance = the number of original columns, so that one grid of lambda suits all maps."""
    X, Z = X - X.mean(0), Z - X.mean(0)
    factor = np.sqrt(columns / X.var(0).sum())
    return X * factor, Z * factor


def standardised(X, Z):
    sd = X.std(0)
    kept = sd > 1e-9
    return np.clip((X - X.mean(0))[:, kept] / sd[kept], -8, 8), np.clip((Z - X.mean(0))[:, kept] / sd[kept], -8, 8)


def mapped(name, X, Z, seed):
    d = X.shape[1]
    if name == "lin":
        return X, Z
    if name.startswith("nys"):  # nys, or nys:2 for twice the width
        return centred(*nystroem(X, Z, seed, float(name.partition(":")[2] or 1)), d)
    if name == "both":  # linear and Nystroem columns side by side, one lambda
        A, B = (X, Z), centred(*nystroem(X, Z, seed), d)
        return np.hstack([A[0], B[0]]), np.hstack([A[1], B[1]])
    if name == "splines":
        return centred(*standardised(*splines(X, Z)), d)
    if name == "bounded":  # splines that stay constant beyond the training rows of each column
        low, high = X.min(0), X.max(0)
        return centred(*standardised(*splines(X, np.clip(Z, low, high))), d)
    if name == "quadratic":
        return centred(*standardised(*quadratic(X, Z)), d)
    raise ValueError(name)


def weights(assumption, log_w):
    """(w, r) of an assumption; overlap:a has r = min(m^a / w, 1), temper:g has r = w^(g - 1)."""
    w = np.exp(log_w)
    return (np.ones_like(w) if assumption == "none" else w), trust(assumption, log_w)


def trust(assumption, log_w, m=None):
    if assumption in ("none", "iw"):
        return np.ones_like(log_w)
    if assumption == "robust":
        return np.exp(-log_w)
    if assumption.startswith("temper:"):
        return np.exp(-(1 - float(assumption.partition(":")[2])) * log_w)
    return np.minimum(np.exp(bound_of(assumption, m or len(log_w)) - log_w), 1)


def bound_of(assumption, m):
    return float(assumption.partition(":")[2]) * np.log(m)


# ---- all fits of a task, cached ----------------------------------------------------------------------------------


def fit_paths(task, scale, bound, wanted, seed=0):
    """{(map, assumption): (held out potentials / r, target potentials / r)}, [lambda, row, class], and the log ratios."""
    X, Z = scaled(*task.given.matrices(), scale)
    y, classes = task.given.codes(), len(task.given.classes)
    limit = bound * np.log(len(X))
    lw, lz = (np.clip(v, -limit, limit) for v in log_ratio(X, Z, seed))
    fold = folds(y, seed + 1)
    out = {"lw": lw, "lz": lz}
    for name in dict.fromkeys(m for m, _ in wanted):
        P, Q = (np.c_[A, np.ones(len(A))] for A in mapped(name, X, Z, seed + 2))
        for assumption in (a for m, a in wanted if m == name):
            w, r = weights(assumption, lw)
            held = np.empty((len(LAMBDAS), len(P), classes), np.float32)
            for k in range(FOLDS):
                o = fold == k
                for i, T in enumerate(path(P[~o], y[~o], w[~o], r[~o], LAMBDAS, classes)):
                    held[i, o] = P[o] @ T
            target = np.stack([Q @ T for T in path(P, y, w, r, LAMBDAS, classes)]).astype(np.float32)
            out[f"{name}/{assumption}/held"], out[f"{name}/{assumption}/target"] = held, target
    return out


def cached(task, folder, scale="standard", bound=0.5, wanted=(), seed=0):
    """The fits of `wanted`; one file for a task, scaling, bound, map and assumption."""
    key = f"{task.name}-{task.digest()}-{scale}-{bound:.3f}-{seed}-{VERSION}"
    files = {pair: Path(folder) / f"{key}-{'-'.join(pair).replace(':', '')}.npz" for pair in wanted}
    missing = [pair for pair in wanted if not files[pair].exists()]
    if missing:
        start = time.process_time()
        got = fit_paths(task, scale, bound, missing, seed)
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, assumption in missing:
            np.savez(files[name, assumption], lw=got["lw"], lz=got["lz"], held=got[f"{name}/{assumption}/held"],
                     target=got[f"{name}/{assumption}/target"])
        print(json.dumps({"task": task.name, "scale": scale, "bound": round(bound, 3), "fits": len(missing),
                          "cpu_s": round(time.process_time() - start, 1)}), flush=True)
    out = {}
    for pair, file in files.items():
        with np.load(file) as data:
            out["lw"], out["lz"] = data["lw"], data["lz"]
            out[pair] = data["held"], data["target"]
    return out
