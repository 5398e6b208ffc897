"""Where the values come from that the model passes to a tool: the statuses of an answer's values, for a call's arguments.

Rules
-----
- Judged when the call is emitted, against what was read and said by then. Earlier calls make a value ``echoed`` or
  ``argument_only``; a call never grounds itself, nor the calls beside it.
- It is advice: nothing is flagged, and nothing an answer is judged by changes.
- The status rules are those of an answer whose fields are the arguments. In addition: a date that a person named by its
  distance ("in three days", "next Friday") from a date that was said is ``computed``; an address that is put together of
  a host and values that were said or read is ``said`` or ``respelled``.
- A placeholder (``W0000000``) is no example here: it was passed to a tool, so it is judged like any other value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.argument_leaves import ArgumentExtraction
from otel_footprint.core.evidence.extract import Candidate, classify
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.judge import Finding, Ground, account, support_of
from otel_footprint.core.evidence.normal import fold, form
from otel_footprint.core.evidence.shifted import calendar_day, steps_in
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.verdicts import BLIND_REASONS, ArgumentValue, Derivation, Reason

MAX_WORDS: Final = 2_000
"""Characters of the longest text that is taken for a person's, who asks for "next Friday"; longer ones are documents."""
MAX_TEXTS: Final = 20
"""The newest texts of that kind that are looked at."""
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_DAYS: Final = 13
_TODAY: Final = re.compile(r"\b(?:today|tonight|now)\b", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*://(?:www\.)?")
_STEPS: Final = re.compile(r"[/?&=#:,;+]+")


def judge_arguments(
    extraction: ArgumentExtraction, ground: Ground, *, turn: int, blind: frozenset[Reason]
) -> tuple[ArgumentValue, ...]:
    """The values of one call with their statuses. ``ground`` holds a deriver of its own, and only earlier calls."""
    findings, _ = account(extraction, ground, turn)
    for finding in findings:
        if finding.status in ("unsupported", "derivable"):
            if finding.candidate.shape in ("date", "datetime"):
                _asked_by_distance(finding, ground)
            elif finding.candidate.shape == "url":
                _put_together(finding, ground)
    for source in ground.left:
        source.carried.take_bounded()  # what was asked here is no answer's concern
    seen = not blind & BLIND_REASONS
    return tuple(_value(finding, extraction, unaccounted=seen and finding.lost) for finding in findings)


def _value(finding: Finding, extraction: ArgumentExtraction, *, unaccounted: bool) -> ArgumentValue:
    assert finding.status is not None
    support = support_of(finding)
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


def _asked_by_distance(finding: Finding, ground: Ground) -> None:
    day = calendar_day(finding)
    if day is None:
        return
    words = [said.text for said in ground.said if len(said.text) <= MAX_WORDS][-MAX_TEXTS:]
    for text in reversed(words):
        for step in dict.fromkeys(_distances(text, day)):
            try:
                origin = day - timedelta(days=step)
            except OverflowError:
                continue
            if _says_day(ground, origin):
                finding.status = "computed"
                finding.derivation = Derivation("date plus days", (origin.isoformat(), str(step)))
                return


def _distances(text: str, day: date) -> Iterator[int]:
    """How many days the day may lie after the one a text counts from."""
    if _TODAY.search(text):
        yield 0
    yield from steps_in(text)
    name = _WEEKDAYS[day.weekday()]
    if re.search(rf"\b(?:{name}|{name[:3]})\b", text, re.IGNORECASE):
        yield from range(1, _WEEKDAY_DAYS + 1)


def _says_day(ground: Ground, day: date) -> bool:
    value = next((one for one in typed.find(day.isoformat()) if one.kind == "date"), None)
    return any(ground.states(said, value) for said in ground.said)


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
