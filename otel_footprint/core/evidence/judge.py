"""Judge one answer: give every value the first status that holds, then the answer its verdict.

Rules
-----
- The order of statuses is that of the vocabulary: said, read, respelled, computed, evicted, echoed, argument_only,
  derivable, unsupported. Each step asks only about the values that no earlier step accounted for.
- A joined value (``HAT035+HAT066``, ``W5838674-EX``) is judged by its parts when nobody carries it whole: the weakest part
  decides, and a short coined label beside parts that are carried counts for nothing.
- A value that the window could not show (blind reasons) is not flagged, and makes the answer inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.derive import Deriver, Surroundings
from otel_footprint.core.evidence.extract import Candidate, Extraction, classify, is_coined
from otel_footprint.core.evidence.haystack import Grade, Question
from otel_footprint.core.evidence.misplaced_judging import RowNames, place
from otel_footprint.core.evidence.normal import fold, form
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.shelf import Shelf, Words
from otel_footprint.core.evidence.sources import CallMade, Source, Stack
from otel_footprint.core.evidence.stated import ACCOUNTED, numeric
from otel_footprint.core.evidence.support import support_of
from otel_footprint.core.evidence.typed_index import HasYear
from otel_footprint.core.evidence.verdicts import (
    BLIND_REASONS,
    FLAGGED,
    Action,
    Derivation,
    Judgement,
    Misplaced,
    Reason,
    Status,
    Value,
    Verdict,
)

MAX_SCAN: Final = 3_000_000_000
"""Characters of results that the values of one answer may be searched in, all together; twenty values in 16 MB take a
third of it."""
_ENDING: Final = re.compile(
    r"(?:end(?:s|ing)?\s+(?:in|with)|last\s+(?:four|4|digits)[^.\n]{0,20}|[*x•·.…]{2,}[\s\-]*)\W{0,6}$", re.IGNORECASE
)
_ENDING_CHARS: Final = 40
_NUMBERED_LABEL: Final = re.compile(r"([a-z]{2,12})[-_]\d{1,2}")
_PREFIXED: Final = re.compile(r"[a-z]{1,3}(\d{5,})")
_LEADING_ZERO: Final = re.compile(r"\D*0\d")
_PARTS: Final = re.compile(r"[_\-/:.@]+")
_LABEL: Final = re.compile(r"[a-z]{1,8}\d{0,2}|\d{1,2}")


@dataclass(slots=True)
class Finding:
    """What is known about one candidate so far. ``bounded``: a bound of work was hit before all was looked at."""

    candidate: Candidate
    status: Status | None = None
    sources: tuple[Source, ...] = ()
    derivation: Derivation | None = None
    gone: Source | None = None
    misplaced: tuple[Misplaced, ...] = ()
    bounded: bool = False

    @property
    def lost(self) -> bool:
        """Whether it accuses: nothing accounts for it, and everything was looked at."""
        return self.status in FLAGGED and not self.bounded


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything an answer is judged against. ``has_year`` is that of ``carries``, ``size`` the characters of all results.

    ``words``, ``stacks`` and ``arguments`` are what was said, the window and the calls (perhaps more of them), asked at once.
    """

    options: Evidence
    said: Sequence[Carried]
    words: Words
    window: Sequence[Source]
    stacks: Sequence[Stack]
    left: Sequence[Source]
    size: int
    calls: Sequence[CallMade]
    arguments: Shelf
    row_names: RowNames
    outcome: Callable[[str], str | None]
    deriver: Deriver
    has_year: HasYear

    def states(self, carried: Carried, value: typed.Typed | None) -> bool:
        """Whether a text carries a typed value in another spelling."""
        return value is not None and carried.match(value, self.has_year)

    def holding(self, question: Question) -> list[Source]:
        """The sources of the window that may carry a form, in order."""
        if len(self.stacks) == 1:
            return self.stacks[0].holding(question)
        return [source for stack in self.stacks for source in stack.holding(question)]


class Asked:
    """One candidate with its questions, made once."""

    __slots__ = ("bare", "candidate", "number", "parts", "tail", "typed_only", "value", "whole")

    def __init__(self, candidate: Candidate, text: str, options: Evidence) -> None:
        rounding = options.decimal_rounding and not candidate.declared
        self.candidate = candidate
        value = candidate.value
        # A number with a leading zero is a spelling of its own, never another number's.
        # Nor is the end of a card number a number that another could round to.
        self.tail = candidate.shape == "number" and _says_tail(text, candidate)
        own = self.tail or (value is not None and value.number is not None and _LEADING_ZERO.match(value.text))
        self.value = None if own else value
        self.whole = Question(candidate.form, rounding=rounding, tail=self.tail, literal=candidate.literal)
        # "50%" is no bare 50: its spelling is compared as a typed value only.
        self.typed_only = candidate.shape == "percent"
        self.number = Question(candidate.number_form, rounding=rounding) if candidate.number_form else None
        # A person calls order W9502126 "9502126".
        prefixed = _PREFIXED.fullmatch(candidate.form) if candidate.shape == "identifier" else None
        self.bare = Question(prefixed.group(1), rounding=False) if prefixed and not candidate.declared else None
        self.parts: tuple[tuple[str, Question | None], ...] | None = None
        if candidate.shape == "identifier" and not candidate.declared:
            self.parts = _parts(candidate.form, options)

    @property
    def forms(self) -> tuple[Question, ...]:
        """What it is asked by as it is spelled; empty for what only counts as a typed value."""
        if self.typed_only:
            return ()
        return (self.whole,) if self.number is None else (self.whole, self.number)

    @property
    def cost(self) -> int:
        """How often a text is searched for it, about."""
        return len(self.whole.needles) + len(self.parts or ()) + (8 if self.value is not None else 0)


def judge(
    text: str,
    ground: Ground,
    *,
    choice: int,
    turn: int,
    nothing_to_read: bool,
    blind: frozenset[Reason],
) -> Judgement:
    """Judge ``text``. ``nothing_to_read`` says that this is a plain chat with nothing an answer could be held against."""
    options = ground.options
    extraction = Extraction(text, options)
    findings, asked = account(extraction, ground, turn)
    if extraction.pieces is None:
        findings += _placed(text, findings, asked, ground)
    findings = [
        finding for finding in findings if not (finding.status == "unsupported" and _coined(finding.candidate, ground))
    ]
    return _verdict(findings, options, choice=choice, turn=turn, nothing_to_read=nothing_to_read, blind=blind)


def account(extraction: Extraction, ground: Ground, turn: int) -> tuple[list[Finding], list[Asked]]:
    """Give every candidate the first status that holds; with each finding the questions it was asked by."""
    findings = [Finding(candidate) for candidate in extraction.candidates]
    asked = [Asked(finding.candidate, extraction.text, ground.options) for finding in findings]
    room = MAX_SCAN
    for finding, question in zip(findings, asked, strict=True):
        _said(finding, question, ground)
        if finding.status is None:
            room -= ground.size * question.cost
            if room < 0:
                finding.bounded = True
            else:
                _carried(finding, question, ground)
    around = Surroundings(
        ground.window, ground.calls, ground.said[-1].text if ground.said else "", turn, said=ground.said
    )
    if ground.deriver.derive(extraction, findings, around):
        for finding in findings:
            finding.bounded = finding.bounded or (finding.status is None and numeric(finding.candidate) is not None)
    if ground.left:
        for finding, question in zip(findings, asked, strict=True):
            if finding.status is None and not finding.bounded:
                _evicted(finding, question, ground)
        _worked_out_before(extraction, findings, ground, around)
    for finding, question in zip(findings, asked, strict=True):
        if finding.status is None:
            _argued(finding, question, ground)
        if finding.status is None:
            finding.status = "derivable" if finding.derivation is not None else "unsupported"
    return findings, asked


def _placed(text: str, findings: Sequence[Finding], asked: Sequence[Asked], ground: Ground) -> list[Finding]:
    """Say of each value whether it is beside the name of another row than its own; returns the small numbers that are."""

    def carries(index: int, carried: Carried) -> bool:
        question = asked[index]
        return bool(
            _grade(carried, question)
            or ground.states(carried, question.value)
            or (question.parts and _all_parts(question, lambda _: (carried,)))
        )

    return [
        Finding(candidate, "read", sources, misplaced=places)
        for candidate, places, sources in place(text, findings, ground.window, ground.said, carries, ground.row_names)
    ]


def _said(finding: Finding, asked: Asked, ground: Ground) -> None:
    candidate = finding.candidate
    for exempt in ground.options.exempt:
        if isinstance(exempt, str):
            if exempt.strip() == candidate.text or form(fold(exempt.strip())) == candidate.form:
                finding.status = "said"
                return
        elif exempt.fullmatch(candidate.text):
            finding.status = "said"
            return
    words = ground.words
    if (
        any(one.grade(question) for question in asked.forms for one in words.holding(question))
        or (asked.value is not None and words.states(asked.value, ground.has_year))
        or (asked.bare is not None and any(one.grade(asked.bare) for one in words.holding(asked.bare)))
    ):
        finding.status = "said"
        return
    if asked.parts and _all_parts(asked, words.holding):
        finding.status = "said"


def _carried(finding: Finding, asked: Asked, ground: Ground) -> None:
    """``read`` or ``respelled`` by a result of the window."""
    grades = _grades(asked, ground)
    exact = tuple(source for source, grade in grades if grade is Grade.TOKEN)
    if exact:
        finding.status, finding.sources = "read", exact
        return
    near = tuple(source for source, _ in grades)
    if asked.value is not None:
        graded = set(map(id, near))
        near = tuple(
            source for source in ground.window if id(source) in graded or ground.states(source.carried, asked.value)
        )
    if near:
        finding.status, finding.sources = "respelled", near
        return
    if asked.parts:
        grade, carriers = _parts_in(asked.parts, ground.holding)
        if grade is not None:
            finding.status, finding.sources = grade, carriers
            return
    finding.bounded = sum([source.carried.take_bounded() for source in ground.window if source.carried.is_bulky]) > 0


def _grades(asked: Asked, ground: Ground) -> list[tuple[Source, Grade]]:
    """The sources of the window that carry a candidate as it is spelled, in order, and how well."""
    forms = asked.forms
    if len(forms) > 1:
        may = {id(source) for question in forms for source in ground.holding(question)}
        holding = [source for source in ground.window if id(source) in may]
    else:
        holding = ground.holding(forms[0]) if forms else []
    graded = ((source, _grade(source.carried, asked)) for source in holding)
    return [(source, grade) for source, grade in graded if grade]


def _grade(carried: Carried, asked: Asked) -> Grade:
    if asked.typed_only:
        return Grade.NONE
    best = carried.grade(asked.whole)
    if best is Grade.TOKEN or asked.number is None:
        return best
    return max(best, carried.grade(asked.number))


def _parts(spelled: str, options: Evidence) -> tuple[tuple[str, Question | None], ...] | None:
    """The parts of a joined value: each with its question, None for one that may be a coined label."""
    pieces = [piece for piece in _PARTS.split(spelled) if piece]
    if len(pieces) < 2:
        return None
    alternatives = "/" in spelled
    parts: list[tuple[str, Question | None]] = []
    for piece in pieces:
        is_data = classify(piece, options.min_digits) is not None
        if not is_data and (alternatives or not _LABEL.fullmatch(piece)):
            is_data = any("0" <= char <= "9" for char in piece)
        parts.append((piece, Question(piece, rounding=False) if is_data else None))
    if not any(question for _, question in parts):
        return None
    return tuple(parts)


def _all_parts(asked: Asked, holding: Callable[[Question], Iterable[Carried]]) -> bool:
    return all(
        question is None or any(one.grade(question) for one in holding(question)) for _, question in asked.parts or ()
    )


def _parts_in(
    parts: Sequence[tuple[str, Question | None]], holding: Callable[[Question], Iterable[Source]]
) -> tuple[Status | None, tuple[Source, ...]]:
    carriers: dict[int, Source] = {}
    for _, question in parts:
        if question is None:
            continue
        carrying = [source for source in holding(question) if source.carried.grade(question)]
        if not carrying:
            return None, ()
        for source in carrying:
            carriers[id(source)] = source
    return "respelled", tuple(carriers.values())


def _evicted(finding: Finding, asked: Asked, ground: Ground) -> None:
    for source in reversed(ground.left):
        carried = source.carried
        if (
            _grade(carried, asked)
            or ground.states(carried, asked.value)
            or (asked.parts and _parts_in(asked.parts, lambda _, one=source: (one,))[0])  # type: ignore[misc]
        ):
            finding.status = "evicted"
            finding.sources = (source,)
            finding.gone = source
            return


def _worked_out_before(
    extraction: Extraction, findings: Sequence[Finding], ground: Ground, around: Surroundings
) -> None:
    """``evicted`` for what only numbers of results that left can give."""
    both = replace(around, window=[*ground.left, *ground.window], accounted=ACCOUNTED | {"evicted"})
    gone_values = {finding.candidate.form: finding.gone for finding in findings if finding.gone is not None}
    for finding in ground.deriver.derive_from_gone(extraction, findings, both):
        inputs = finding.derivation.inputs if finding.derivation is not None else ()
        finding.status = "evicted"
        finding.gone = next((gone_values[one] for one in inputs if one in gone_values), ground.left[-1])
        finding.sources = (finding.gone,)


def _argued(finding: Finding, asked: Asked, ground: Ground) -> None:
    calls: Sequence[CallMade] = ground.calls
    if asked.value is None:
        questions = [*asked.forms, *[question for _, question in asked.parts or () if question is not None][:1]]
        places = {place for question in questions for place in ground.arguments.places(question)}
        calls = [ground.calls[place] for place in sorted(places) if place < len(ground.calls)]
    carrying = [
        call
        for call in calls
        if _grade(call.carried, asked)
        or ground.states(call.carried, asked.value)
        or (asked.parts and all(question is None or call.carried.grade(question) for _, question in asked.parts))
    ]
    if not carrying:
        return
    accepted = all(ground.outcome(call.ref) == "good" for call in carrying)
    finding.status = "echoed" if accepted and not ground.options.strict else "argument_only"


def _coined(candidate: Candidate, ground: Ground) -> bool:
    """Whether a value that nothing accounts for is a label the model made up, and no claim about the world."""
    if candidate.declared or candidate.shape not in ("identifier", "number"):
        return False
    if is_coined(candidate.form):
        return True
    numbered = _NUMBERED_LABEL.fullmatch(candidate.form)
    if numbered is None:
        return False
    word = Question(numbered.group(1), rounding=False)
    return any(source.carried.grade(word) for source in ground.window) or any(one.grade(word) for one in ground.said)


def _says_tail(text: str, candidate: Candidate) -> bool:
    return any(_ENDING.search(text[max(0, start - _ENDING_CHARS) : start]) for start, _ in candidate.spans)


def _verdict(
    findings: Sequence[Finding],
    options: Evidence,
    *,
    choice: int,
    turn: int,
    nothing_to_read: bool,
    blind: frozenset[Reason],
) -> Judgement:
    lost = any(finding.lost for finding in findings)
    cut_short = any(finding.status in FLAGGED and finding.bounded for finding in findings)
    open_ended = any(finding.status == "derivable" for finding in findings)
    reasons: tuple[Reason, ...] = ()
    verdict: Verdict
    if not findings:
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
    values = tuple(_value(finding, flag=verdict == "ungrounded" and finding.lost) for finding in findings)
    action: Action = "flagged" if verdict == "ungrounded" else "grounded" if verdict == "grounded" else "none"
    return Judgement(
        choice=choice,
        verdict=verdict,
        reasons=reasons,
        values=values,
        candidates=len(values),
        looked_up=sum(value.status != "said" for value in values),
        earlier_turns_only=sum(
            value.status in ("read", "respelled") and value.turn is not None and value.turn < turn for value in values
        ),
        posture=options.posture,
        action=action,
    )


def _value(finding: Finding, *, flag: bool) -> Value:
    assert finding.status is not None
    candidate = finding.candidate
    support = support_of(finding.sources, finding.gone)
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
