"""What a fitted model says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Certificate:
    """What is known about the target without its labels; docs/certificate.md explains each number."""

    bound: float | None
    estimate: float | None
    reason: str
    uninformed: float
    held_out: int
    effective_sample_size: float
    ratio_p_value: float
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
    """A group of columns, how far it shifted (``kl``, nan where no density ratio was needed), whether its
    evidence is trusted, and its feature maps."""

    name: str
    features: list[str]
    kl: float
    generalized: bool
    maps: str


class Tried(NamedTuple):
    """A candidate of the choice: its held-out loss, and its share in the model."""

    features: str
    generalize: str
    lam: float
    loss: float
    error: float
    share: float
