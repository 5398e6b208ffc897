"""The closed vocabulary of evidence: statuses, verdicts, reasons, and the values that carry them.

Rules, in order of precedence
-----------------------------
A value gets the first status that holds: said, read, respelled, computed, evicted, echoed, argument_only, derivable,
unsupported. An answer gets the first verdict that holds: no_claims, grounded, not_applicable, ungrounded, inconclusive -
but where the window could not be wholly seen (a reason other than ``coincidence`` and ``work_bound``), a value that was
not found flags nothing and the answer is inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from otel_footprint.core.call import CallRef

Status: TypeAlias = Literal[
    "said", "read", "respelled", "computed", "evicted", "echoed", "argument_only", "derivable", "unsupported"
]
STATUSES: Final[tuple[Status, ...]] = (
    "said",
    "read",
    "respelled",
    "computed",
    "evicted",
    "echoed",
    "argument_only",
    "derivable",
    "unsupported",
)
"""All statuses, in order of precedence. ``worst_status`` is the last of them that an answer holds."""

FLAGGED: Final[frozenset[Status]] = frozenset({"evicted", "argument_only", "unsupported"})

Verdict: TypeAlias = Literal["no_claims", "grounded", "not_applicable", "ungrounded", "inconclusive"]
VERDICTS: Final[tuple[Verdict, ...]] = ("no_claims", "grounded", "not_applicable", "ungrounded", "inconclusive")

Reason: TypeAlias = Literal[
    "opaque_content", "unseen_history", "partial_output", "corpus_bound", "coincidence", "work_bound"
]
BLIND_REASONS: Final[frozenset[Reason]] = frozenset(
    {"opaque_content", "unseen_history", "partial_output", "corpus_bound"}
)
"""Reasons for which a window was not wholly seen: under them a value that was not found accuses nobody."""

Posture: TypeAlias = Literal["assist", "guard", "rails"]
Action: TypeAlias = Literal["grounded", "flagged", "recheck", "refused", "none"]


@dataclass(frozen=True, slots=True)
class Carrier:
    """A tool result that carries a value.

    ``ref`` names the result in the conversation (``<tool call id>``, or ``<id>#<n>`` for the n-th with a repeated id;
    a made-up ``result:<n>`` where the provider gives none). ``position`` is the index of its message in the list an
    offline check read, None at run time. ``turn`` is the turn that last served it.
    """

    ref: str
    tool_call_id: str | None
    tool: str | None
    turn: int
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a computed or derivable value is reached: a name of the closed set, and the values that went in, as spelled."""

    name: str
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvictedBy:
    """Why the carrier of an evicted value is no longer in the window.

    ``decision`` and ``decided_by`` name what dropped it; ``dropped`` is the call in whose window it was missing first,
    ``served`` the last call that still carried it.
    """

    decision: str
    decided_by: str
    tool_call_id: str | None
    tool: str | None
    dropped: CallRef | None = None
    served: CallRef | None = None


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A value that was read, but only in rows of another entity than the one named beside it.

    ``span`` is one occurrence, in half-open code point offsets; ``named`` is the name as the answer spells it.
    ``belongs_to`` is what a row is called that carries the value in the same field; empty where only other fields do.
    """

    span: tuple[int, int]
    belongs_to: str
    named: str


@dataclass(frozen=True, slots=True)
class Value:
    """One distinct value an answer states.

    ``text`` is its first spelling in the answer; ``spans`` are half-open code point offsets of all its occurrences;
    ``shape`` is a short class name (``identifier``, ``number``, ``money``, ``date``, …, or a declared shape's name);
    ``turn`` is the turn whose result last served it, None when no result carries it.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    shape: str
    status: Status
    flagged: bool
    carriers: tuple[Carrier, ...] = ()
    carriers_cut: bool = False
    turn: int | None = None
    derivation: Derivation | None = None
    evicted_by: EvictedBy | None = None
    misplaced: tuple[Misplaced, ...] = ()


@dataclass(frozen=True, slots=True)
class ArgumentValue:
    """One distinct value in the arguments of a tool call, with a status by the same rules as an answer's.

    ``paths`` are the arguments that hold it (``flights[0].date``), in order of appearance; empty for arguments that are
    one text. ``unaccounted`` says that nothing accounts for it in a window that was wholly seen. That is advice: an
    argument is never flagged. The other fields are those of :class:`Value`.
    """

    text: str
    paths: tuple[str, ...]
    shape: str
    status: Status
    unaccounted: bool
    carriers: tuple[Carrier, ...] = ()
    carriers_cut: bool = False
    turn: int | None = None
    derivation: Derivation | None = None
    evicted_by: EvictedBy | None = None


@dataclass(frozen=True, slots=True)
class CallJudgement:
    """The values that one emitted tool call passes on, judged by what was read and said before it.

    ``reasons`` say why the window could not be wholly seen. ``position`` is the index of the call's message in the list
    an offline check read, None at run time.
    """

    tool: str
    tool_call_id: str | None
    choice: int
    reasons: tuple[Reason, ...]
    values: tuple[ArgumentValue, ...]
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one answer.

    ``candidates`` is the number of distinct values; ``looked_up`` those that had to be looked up in results (the rest
    were said); ``earlier_turns_only`` counts values that only results of earlier turns carry. ``action`` is what the
    posture did about it.
    """

    choice: int
    verdict: Verdict
    reasons: tuple[Reason, ...]
    values: tuple[Value, ...]
    candidates: int
    looked_up: int
    earlier_turns_only: int
    posture: Posture = "assist"
    action: Action = "none"

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many values hold each status that occurs."""
        counts: dict[Status, int] = {}
        for value in self.values:
            counts[value.status] = counts.get(value.status, 0) + 1
        return counts

    @property
    def misplaced(self) -> int:
        """At how many places a value stands beside the name of another row."""
        return sum([len(value.misplaced) for value in self.values])

    @property
    def worst_status(self) -> Status | None:
        """The last status in order of precedence that a value holds; a flagged one before any that is not."""
        if not self.values:
            return None
        return max(self.values, key=lambda value: (value.flagged, STATUSES.index(value.status))).status
