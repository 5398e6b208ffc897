"""The verdict on an answer, from what is known about its values.

Rules
-----
- The first that holds: no claims, grounded, not applicable, ungrounded, inconclusive.
- A value that the window could not show (blind reasons) is not flagged, and makes the answer inconclusive; so does one that
  was not looked for everywhere, and one that arithmetic reaches too easily.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.support import Supports
from otel_footprint.core.evidence.verdicts import (
    BLIND_REASONS,
    FLAGGED,
    Action,
    Judgement,
    Reason,
    Value,
    Verdict,
)

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding


def verdict_on(
    findings: Sequence[Finding],
    options: Evidence,
    *,
    choice: int,
    turn: int,
    nothing_to_read: bool,
    blind: frozenset[Reason],
    cut: bool,
) -> Judgement:
    """The judgement. ``blind`` says why the window was not wholly seen, ``cut`` that the answer was not read to its end."""
    statuses = [finding.status for finding in findings]
    unaccounted = [finding for finding in findings if finding.status in FLAGGED]
    lost = any(finding.lost for finding in unaccounted)
    cut_short = cut or any(finding.bounded for finding in unaccounted)
    open_ended = "derivable" in statuses
    reasons: tuple[Reason, ...] = ()
    verdict: Verdict
    if not findings and not cut:
        verdict = "no_claims"
    elif not lost and not open_ended and not cut_short:
        verdict = "grounded"
    elif nothing_to_read:
        verdict = "not_applicable"
    else:
        why: set[Reason] = set(blind & BLIND_REASONS) if lost or cut_short else set()
        if lost and not why:
            verdict = "ungrounded"
        else:
            verdict = "inconclusive"
            if open_ended:
                why.add("coincidence")
            if cut_short:
                why.add("work_bound")
            reasons = tuple(sorted(why))
    supports = Supports()
    flag = verdict == "ungrounded"
    values = tuple([_value(finding, supports, flag=flag and finding.lost) for finding in findings])
    action: Action = "flagged" if verdict == "ungrounded" else "grounded" if verdict == "grounded" else "none"
    return Judgement(
        choice=choice,
        verdict=verdict,
        reasons=reasons,
        values=values,
        candidates=len(values),
        looked_up=len(values) - statuses.count("said"),
        earlier_turns_only=sum(
            [value.status in ("read", "respelled") and value.turn is not None and value.turn < turn for value in values]
        ),
        posture=options.posture,
        action=action,
    )


def _value(finding: Finding, supports: Supports, *, flag: bool) -> Value:
    assert finding.status is not None
    candidate = finding.candidate
    support = supports.of(finding.sources, finding.gone)
    return Value(
        text=candidate.text,
        spans=tuple(candidate.spans),
        shape=candidate.shape,
        status=finding.status,
        flagged=flag,
        carriers=support.carriers,
        carriers_cut=support.cut,
        turn=support.turn,
        derivation=finding.derivation,
        misplaced=finding.misplaced,
        evicted_by=support.evicted_by,
    )
