"""The other rows an answer's standing rests on: verdicts that were not clean, and what the application says itself.

Rules
-----
- As witness rows: names, enums and counts only, for the answer that stands, stamped with the turn.
- ``digest`` of a validation is the SHA-256 of the answer's exact bytes (UTF-8), in hex. A validation supports an answer only
  when the digest is that answer's; without one it is a check that ran, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from otel_footprint.core.evidence.verdicts import Judgement, Posture, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class FlaggedRow:
    """The answer states values that nothing accounts for, or whose source had left the window. Counts of values; of
    ``candidates`` so many were ``looked_up``, the others being words of the person."""

    turn: int
    iteration: int
    posture: Posture
    candidates: int
    looked_up: int
    unsupported: int
    evicted: int
    after_revision: bool = False
    kind: Literal["flagged"] = "flagged"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreachableRow:
    """The check of names and numbers could not reach a verdict."""

    turn: int
    iteration: int
    reasons: tuple[Reason, ...]
    kind: Literal["check-unreachable"] = "check-unreachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedRow:
    """A check of the application's own ran on the answer. ``check`` is its name."""

    turn: int
    iteration: int
    ok: bool
    check: str
    digest: str | None = None
    kind: Literal["validated"] = "validated"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRow:
    """The turn ended waiting for a person."""

    turn: int
    iteration: int
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedEarlyRow:
    """A limit of the application ended the turn; ``reason`` is its word for it."""

    turn: int
    iteration: int
    reason: str
    kind: Literal["stopped-early"] = "stopped-early"


VerdictRow: TypeAlias = FlaggedRow | UnreachableRow | ValidatedRow | AskedRow | StoppedEarlyRow


def digest_of(answer: str) -> str:
    """The digest of an answer's exact bytes."""
    return sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def verdict_row(
    judgement: Judgement, *, turn: int, iteration: int, after_revision: bool
) -> FlaggedRow | UnreachableRow | None:
    """A verdict that is not clean as a row; None for the others."""
    match judgement.verdict:
        case "ungrounded":
            counts: Mapping[str, int] = _flagged(judgement)
            return FlaggedRow(
                turn=turn,
                iteration=iteration,
                posture=judgement.posture,
                candidates=judgement.candidates,
                looked_up=judgement.looked_up,
                unsupported=sum(counts.values()) - counts.get("evicted", 0),
                evicted=counts.get("evicted", 0),
                after_revision=after_revision,
            )
        case "inconclusive":
            return UnreachableRow(turn=turn, iteration=iteration, reasons=judgement.reasons)
        case _:
            return None


def _flagged(judgement: Judgement) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in judgement.values:
        if value.flagged:
            counts[value.status] = counts.get(value.status, 0) + 1
    return counts
