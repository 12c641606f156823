"""Rules that turn candidates into one answer: pure functions of a task's cached fits (fits.py).

A rule sees held-out potentials, labels of training and log ratios; it returns probabilities of the target's rows. It never
sees the target's labels: study.py scores what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax, logsumexp

from .fits import trust


@dataclass(frozen=True)
class Settings:
    """The constants of the recommended rule; the study varies one or all of them."""

    maps: tuple = ("lin", "nys")
    assumptions: tuple = ("none", "overlap:0.25", "overlap:0")
    extra: tuple = ()  # further (map, assumption)
    defensive: float = 0.5  # share of the target's weights in the criterion
    prior: float = 3.0  # rows that speak for lr
    spread: float = 1.0  # rows that speak for all components alike
    caution: float = 0.5
    coin: float = 0.0  # rows that speak for equal probabilities, one more component
    beyond: float = 0.0  # share of equal probabilities at rows beyond all training rows
    prior_beyond: bool = False  # shares there are those of the prior: no held-out row speaks

    def but(self, **changes):
        return replace(self, **changes)


class Fits:
    """The cached fits of one task, with the labels of its training rows."""

    def __init__(self, cache, y):
        self.cache, self.y, self.m = cache, y, len(y)
        self.lw, self.lz = cache["lw"], cache["lz"]
        self.losses = {}

    def held_loss(self, pair):
        """Of every training row while it was held out [lambda, row], nats."""
        if pair not in self.losses:
            p = log_softmax(self.cache[pair][0] * trust(pair[1], self.lw)[:, None], axis=-1)
            self.losses[pair] = -p[:, np.arange(self.m), self.y]
        return self.losses[pair]

    def chosen(self, pair, v):
        """(k, f): the position of lambda, f of the way from grid point k to k + 1, by the parabola through the least
        weighted held-out loss and its neighbours."""
        loss = self.held_loss(pair) @ v / v.sum()
        k = int(loss.argmin())
        if k in (0, len(loss) - 1):
            return k, 0.0
        a, b, c = loss[k - 1: k + 2]
        bend = a - 2 * b + c
        x = k + (0.5 * (a - c) / bend if bend > 0 else 0.0)
        return int(np.floor(x)), float(x - np.floor(x))

    def between(self, stack, at):
        k, f = at
        return stack[k] if f == 0 else (1 - f) * stack[k] + f * stack[k + 1]

    def held_at(self, pair, at):
        """Held-out log probabilities [row, class] at a chosen lambda."""
        return log_softmax(self.between(self.cache[pair][0], at) * trust(pair[1], self.lw)[:, None], axis=-1)

    def potentials_at(self, pair, at, caution):
        """Of the target's rows. Beyond the largest ratio of a training row only `caution` of the way is believed."""
        largest = self.lw.max()
        lz = np.where(self.lz > largest, largest + caution * (self.lz - largest), self.lz)
        return self.between(self.cache[pair][1], at) * trust(pair[1], lz, self.m)[:, None]

    def target_at(self, pair, at, caution=1.0):
        return log_softmax(self.potentials_at(pair, at, caution), axis=-1)

    def criterion(self, share):
        """Weights of the held-out rows: share 0 is plain, 1 importance-weighted cross validation, between: defensive."""
        w = np.exp(self.lw)
        return 1 - share + share * w / w.mean()

    def effective(self, v):
        return v.sum() ** 2 / (v * v).sum()


LR = ("lin", "none")


def single(fits, pair, share, caution=1.0):
    """One candidate, lambda by the criterion of that share."""
    return np.exp(fits.target_at(pair, fits.chosen(pair, fits.criterion(share)), caution))


def lr_cv(fits):
    return single(fits, LR, 0.0)


def best_of(fits, pairs, share, caution=1.0):
    """The candidate and lambda of the least held-out loss."""
    v = fits.criterion(share)

    def loss(pair):
        p = fits.held_at(pair, fits.chosen(pair, v))
        return -(p[np.arange(fits.m), fits.y] @ v)

    return single(fits, min(pairs, key=loss), share, caution)


def leave_lr(fits, pairs, share, errors=2.0):
    """lr by plain cross validation unless a candidate is better by some standard errors of the difference."""
    v = fits.criterion(share)
    rows = np.arange(fits.m)
    base = -fits.held_at(LR, fits.chosen(LR, np.ones(fits.m)))[rows, fits.y]
    best, answer = 0.0, None
    for pair in pairs:
        at = fits.chosen(pair, v)
        gain = v * (base + fits.held_at(pair, at)[rows, fits.y]) / v.mean()
        bound = gain.mean() - errors * gain.std() / np.sqrt(fits.m)
        if bound > best:
            best, answer = bound, np.exp(fits.target_at(pair, at))
    return lr_cv(fits) if answer is None else answer


def game_value(fits, pairs, share):
    """The candidate of the least estimate mean_target V(psi) - mean_train w psi[y], the held-out game value."""
    v, w, rows = fits.criterion(share), np.exp(fits.lw), np.arange(fits.m)

    def value(pair):
        at = fits.chosen(pair, v)
        held = fits.between(fits.cache[pair][0], at) * trust(pair[1], fits.lw)[:, None]
        return logsumexp(fits.potentials_at(pair, at, 1.0), axis=1).mean() - np.mean(w * held[rows, fits.y])

    return single(fits, min(pairs, key=value), share)


def shares(held, y, v, rows, prior, steps=200):
    """argmax over the simplex of sum_i v'_i log sum_k pi_k p_ik + sum_k prior_k log pi_k, v' scaled to sum to `rows`: by
    expectation and maximisation."""
    p = np.exp(np.stack([h[np.arange(len(y)), y] for h in held], 1))
    v = v * rows / v.sum()
    pi = np.full(len(held), 1 / len(held))
    for _ in range(steps):
        mass = pi * p
        pi = (v / np.maximum(mass.sum(1), 1e-300)) @ mass + prior
        pi /= pi.sum()
    return pi


def mixture(fits, settings=Settings(), share_of=False):
    """Candidates and lr by plain cross validation, stacked by weighted held-out loss with a prior for lr."""
    v = fits.criterion(settings.defensive)
    pairs = [*((m, a) for m in settings.maps for a in settings.assumptions), *settings.extra]
    at = [*(fits.chosen(pair, v) for pair in pairs), fits.chosen(LR, np.ones(fits.m))]
    pairs = [*pairs, LR]
    prior = np.full(len(pairs), settings.spread / len(pairs))
    prior[-1] += settings.prior
    held = [fits.held_at(pair, a) for pair, a in zip(pairs, at, strict=True)]
    classes = held[0].shape[1]
    if settings.coin:
        held, prior = [*held, np.full_like(held[0], -np.log(classes))], np.r_[prior, settings.coin]
    pi = shares(held, fits.y, v, fits.effective(v), prior)
    beyond = (fits.lz > fits.lw.max())[:, None]
    each = [np.exp(fits.target_at(pair, a, settings.caution)) for pair, a in zip(pairs, at, strict=True)]
    if settings.coin:
        each.append(np.full_like(each[0], 1 / classes))
    rest = prior / prior.sum() if settings.prior_beyond else pi
    p = sum(np.where(beyond, there, here) * q for here, there, q in zip(pi, rest, each, strict=True))
    p = np.where(beyond, settings.beyond / classes + (1 - settings.beyond) * p, p)
    if share_of and settings.coin:
        pi = pi[:-1]
    return (p, dict(zip([*map("/".join, pairs[:-1]), "lr(CV)"], pi, strict=True))) if share_of else p


ALL = [(m, a) for m in ("lin", "nys") for a in ("none", "iw", "overlap:0.25", "overlap:0", "robust")]
MAPS = [("lin", "none"), ("nys", "none")]

RULES = {
    "lr by CV": lr_cv,
    "lr by IWCV": lambda f: single(f, LR, 1.0),
    "lr, defensive": lambda f: single(f, LR, 0.5),
    "robust by IWCV": lambda f: single(f, ("lin", "robust"), 1.0),
    "everything by IWCV": lambda f: best_of(f, ALL, 1.0),
    "everything, defensive": lambda f: best_of(f, ALL, 0.5),
    "maps by IWCV": lambda f: best_of(f, MAPS, 1.0),
    "maps, defensive": lambda f: best_of(f, MAPS, 0.5),
    "leave lr for 2 errors, everything": lambda f: leave_lr(f, ALL, 0.5),
    "leave lr for 2 errors, maps": lambda f: leave_lr(f, MAPS, 0.5),
    "game value": lambda f: game_value(f, ALL, 0.5),
    "stacking, IWCV, no prior": lambda f: mixture(f, Settings(defensive=1.0, prior=0, spread=1e-9, caution=1)),
    "stacking, no prior": lambda f: mixture(f, Settings(prior=0, spread=1e-9)),
    "recommended": mixture,
}


def best_own(fits, truth, loss):
    """The candidates' least loss, known only afterwards (lambda by IWCV)."""
    return min(loss(single(fits, pair, 1.0), truth) for pair in ALL)
