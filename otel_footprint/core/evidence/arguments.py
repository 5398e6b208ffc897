"""Where the values come from that the model passes to a tool: the statuses of an answer's values, for a call's arguments.

Rules
-----
- Judged when the call is emitted, against what was read and said by then. Earlier calls make a value ``echoed`` or
  ``argument_only``; a call never grounds itself, nor the calls beside it.
- It is advice: nothing is flagged, and nothing an answer is judged by changes.
- The status rules are those of an answer whose fields are the arguments, with more ways to account for a value:
  dates that were asked for in other words, amounts worked out for the call, addresses put together of a host and values
  that were said or read (``said`` or ``respelled``), ids that a person spelled apart or gave without the letters in front
  of the number (``said``).
- An identifier that is all of an argument is never put together of parts: ``credit_card_7334`` is no card that was read
  because it ends in 7334.
- A placeholder (``W0000000``) is no example here: it was passed to a tool, so it is judged like any other value. A label
  inside of a longer text (``option_1``) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otel_footprint.core.evidence.argument_dates import asked_for
from otel_footprint.core.evidence.argument_leaves import ArgumentExtraction
from otel_footprint.core.evidence.argument_sums import worked_out
from otel_footprint.core.evidence.extract import Candidate, classify
from otel_footprint.core.evidence.haystack import Grade, Question
from otel_footprint.core.evidence.judge import Finding, Ground, account
from otel_footprint.core.evidence.normal import fold, form
from otel_footprint.core.evidence.shifted import OWN_WORDS
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.stated import ACCOUNTED
from otel_footprint.core.evidence.support import support_of
from otel_footprint.core.evidence.verdicts import BLIND_REASONS, ArgumentValue, Reason

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*://(?:www\.)?")
MIN_APART: Final = 5
MAX_APART: Final = 40
_APART: Final = r"[\s_\-./]{0,2}"
_PREFIXED: Final = re.compile(r"[a-z]{1,4}[\-_]?(\d{5,})")
_STEPS: Final = re.compile(r"[/?&=#:,;+]+")


def judge_arguments(
    extraction: ArgumentExtraction, ground: Ground, *, turn: int, blind: frozenset[Reason]
) -> tuple[ArgumentValue, ...]:
    """The values of one call with their statuses. ``ground`` holds a deriver of its own, and only earlier calls."""
    findings, _ = account(extraction, ground, turn)
    amounts: list[Finding] = []
    for finding in findings:
        if finding.status not in ACCOUNTED:
            match finding.candidate.shape:
                case "date" | "time" | "datetime":
                    asked_for(finding, findings, ground)
                case "url":
                    _put_together(finding, ground)
                case "identifier":
                    _spelled_by_a_person(finding, ground)
                case "money" | "number":
                    amounts.append(finding)
                case _:
                    pass
    if amounts:
        worked_out(amounts, findings, extraction, ground, turn)
    for finding in findings:
        if finding.status in ACCOUNTED:
            finding.gone = None
    findings = [
        finding for finding in findings if finding.status != "unsupported" or not extraction.is_label(finding.candidate)
    ]
    for source in ground.left:
        source.carried.take_bounded()  # what was asked here is no answer's concern
    seen = not blind & BLIND_REASONS
    return tuple(_value(finding, extraction, unaccounted=seen and finding.lost) for finding in findings)


def _value(finding: Finding, extraction: ArgumentExtraction, *, unaccounted: bool) -> ArgumentValue:
    assert finding.status is not None
    support = support_of(finding.sources, finding.gone)
    return ArgumentValue(
        text=finding.candidate.text,
        paths=extraction.paths(finding.candidate),
        shape=finding.candidate.shape,
        status=finding.status,
        unaccounted=unaccounted,
        carriers=support.carriers,
        carriers_cut=support.cut,
        turn=support.turn,
        derivation=finding.derivation,
        evicted_by=support.evicted_by,
    )


def _spelled_by_a_person(finding: Finding, ground: Ground) -> None:
    """An id that a person spelled apart (``HXD UBJ`` for ``HXDUBJ``), or gave without the letters in front of its number."""
    spelled = finding.candidate.form
    apart = None
    if MIN_APART <= len(spelled) <= MAX_APART:
        apart = re.compile(rf"(?<![a-z0-9]){_APART.join(char for char in spelled if char.isalnum())}(?![a-z0-9])")
    match = _PREFIXED.fullmatch(spelled)
    number = Question(match[1], rounding=False) if match is not None else None
    for said in ground.said:
        if (number is not None and said.grade(number) is Grade.TOKEN) or (
            apart is not None and len(said.text) <= OWN_WORDS and apart.search(fold(said.text))
        ):
            finding.status, finding.derivation = "said", None
            return


def _put_together(finding: Finding, ground: Ground) -> None:
    """An address whose host and whose every part that is data were said or read."""
    parts = [Question(part, rounding=False) for part in _parts(finding.candidate, ground.options.min_digits)]
    if not parts:
        return
    if all(any(said.grade(part) for said in ground.said) for part in parts):
        finding.status, finding.derivation = "said", None
        return
    sources: dict[int, Source] = {}
    for part in parts:
        holding = [source for source in ground.window if source.carried.grade(part)]
        if not holding and not any(said.grade(part) for said in ground.said):
            return
        for source in holding:
            sources[id(source)] = source
    finding.status, finding.sources, finding.derivation = "respelled", tuple(sources.values()), None


def _parts(candidate: Candidate, min_digits: int) -> Iterator[str]:
    """The host of an address, and its steps and parameters that are data."""
    address = _SCHEME.sub("", fold(candidate.text), count=1)
    host, *steps = [step for step in _STEPS.split(address) if step]
    yield host
    for step in steps:
        spelled = form(step)
        if "@" in spelled or classify(spelled, min_digits) is not None:
            yield spelled
