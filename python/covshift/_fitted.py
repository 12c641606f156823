"""What a fitted model says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Certificate:
    """What is known about the target without its labels; docs/certificate.md has the argument.

    Attributes
    ----------
    bound : float or None
        With probability 1 - delta the expected loss on the target is at most this (log loss in nats);
        None: nothing is promised, and ``reason`` says why.
    estimate : float or None
        Of that loss, from held-out rows.
    reason : str
        Why there is no bound; empty if there is one.
    uninformed : float
        The loss of knowing nothing about a row.
    held_out : int
        Labelled rows behind the bound.
    effective_sample_size : float
        How many target rows they are equivalent to.
    ratio_p_value : float
        Of the test that the samples agree with the density ratio.
    quadratic : bool
        The bound rests on a ratio with squares and products of the columns, since that of the model
        fails the test.
    game_value, gap : float
        The worst expected loss over all labels that match the training statistics, and how far it can
        be from its optimum.
    target_value, target_risk : float or None
        The same on the target sample, and the adversary's mean risk there.
    mean_weight : float
        Of the training rows; 1 if the density ratio is right.
    reliable : bool
        False if the test rejects the density ratio, or training rows do not cover the target.
    finite_sample : float
        The term of the paper's theorem.
    delta : float
        The probability that the bound may fail.
    statement : str
        All of it in words: ``print(model.certificate_)``.
    """

    bound: float | None
    estimate: float | None
    reason: str
    uninformed: float
    held_out: int
    effective_sample_size: float
    ratio_p_value: float
    quadratic: bool
    game_value: float
    gap: float
    target_value: float | None
    target_risk: float | None
    mean_weight: float
    reliable: bool
    finite_sample: float
    delta: float
    statement: str

    def __str__(self) -> str:
        return self.statement


class View(NamedTuple):
    """A group of columns.

    Attributes
    ----------
    name : str
        Its name.
    features : list of str
        Its columns.
    kl : float
        How far it shifted: symmetric KL; nan where no density ratio was needed.
    generalized : bool
        Whether its evidence is trusted.
    maps : str
        Its feature maps.
    """

    name: str
    features: list[str]
    kl: float
    generalized: bool
    maps: str


class Tried(NamedTuple):
    """A candidate of the choice.

    Attributes
    ----------
    features, generalize, lam : str, str, float
        What was tried.
    loss, error : float
        Its held-out loss and the standard error of that.
    share : float
        Its share in the model; 0 if it was not used.
    """

    features: str
    generalize: str
    lam: float
    loss: float
    error: float
    share: float
