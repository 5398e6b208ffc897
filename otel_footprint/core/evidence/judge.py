"""Judge one answer: give every value the first status that holds, and hand them on for the verdict.

Rules
-----
- The order of statuses is that of the vocabulary: said, read, respelled, computed, evicted, echoed, argument_only,
  derivable, unsupported. Each step asks only about the values that no earlier step accounted for.
- A joined value (``HAT035+HAT066``, ``W5838674-EX``) is judged by its parts when nobody carries it whole: the weakest part
  decides, and a short coined label beside parts that are carried counts for nothing.
- An answer's offer to search some dates, and a label that it coined, are no claims: where nothing accounts for them they are
  left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.answer_json import as_lines
from otel_footprint.core.evidence.asking import Asked
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.derive import Deriver, Surroundings
from otel_footprint.core.evidence.extract import Candidate, Extraction, is_coined, is_example
from otel_footprint.core.evidence.haystack import Grade, Question
from otel_footprint.core.evidence.misplaced_judging import RowNames, place
from otel_footprint.core.evidence.normal import fold, form
from otel_footprint.core.evidence.offers import proposed
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.shelf import Shelf, Words
from otel_footprint.core.evidence.sources import CallMade, Source, Stack
from otel_footprint.core.evidence.stated import ACCOUNTED, numeric
from otel_footprint.core.evidence.typed_index import HasYear
from otel_footprint.core.evidence.verdict import verdict_on
from otel_footprint.core.evidence.verdicts import (
    FLAGGED,
    Derivation,
    Judgement,
    Misplaced,
    Reason,
    Status,
)
from otel_footprint.core.evidence.work import MAX_VALUES, Work

MAX_LEFT_FOR_ARITHMETIC: Final = 32
"""Results that left, the newest, whose numbers are tried together with those of the window."""
_NUMBERED_LABEL: Final = re.compile(r"([a-z]{2,12})[-_]\d{1,2}")


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
    """Everything an answer is judged against. ``has_year`` is that of ``carries``.

    ``words``, ``stacks`` and ``arguments`` are what was said, the window and the calls (perhaps more of them), asked at once.
    """

    options: Evidence
    said: Sequence[Carried]
    words: Words
    window: Sequence[Source]
    stacks: Sequence[Stack]
    left: Sequence[Source]
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

    def carrying(self, value: typed.Typed) -> list[Source]:
        """The sources, of the window and gone, that carry a typed value in another spelling."""
        return [source for stack in self.stacks for source in stack.carrying(value, self.has_year)]


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
    else:
        _placed(as_lines(text, extraction.pieces), findings, asked, ground, counts=False)
    offered = _offered(text, findings)
    findings = [
        finding
        for finding in findings
        if not (
            finding.status == "unsupported"
            and (_coined(finding.candidate, text, ground) or (offered and offered.issuperset(finding.candidate.spans)))
        )
    ]
    return verdict_on(
        findings,
        options,
        choice=choice,
        turn=turn,
        nothing_to_read=nothing_to_read,
        blind=blind,
        cut=extraction.cut,
    )


def account(extraction: Extraction, ground: Ground, turn: int) -> tuple[list[Finding], list[Asked]]:
    """Give every candidate the first status that holds; with the findings the questions they were asked by.

    Those beyond the bound of work come last, unsupported and ``bounded``, and were asked nothing.
    """
    findings = [Finding(candidate) for candidate in extraction.candidates[:MAX_VALUES]]
    beyond = [Finding(candidate, "unsupported", bounded=True) for candidate in extraction.candidates[MAX_VALUES:]]
    asked = [Asked(finding.candidate, extraction.text, ground.options) for finding in findings]
    work = Work(ground)
    for finding, question in zip(findings, asked, strict=True):
        if not work.spelled(question):
            finding.bounded = True
            continue
        _said(finding, question, ground)
        if finding.status is None:
            _carried(finding, question, ground, work)
    around = Surroundings(
        ground.window, ground.calls, ground.said[-1].text if ground.said else "", turn, said=ground.said
    )
    if ground.deriver.derive(extraction, findings, around):
        for finding in findings:
            finding.bounded = finding.bounded or (finding.status is None and numeric(finding.candidate) is not None)
    if ground.left:
        for finding, question in zip(findings, asked, strict=True):
            if finding.status is None and not finding.bounded:
                if work.gone(question):
                    _evicted(finding, question, ground)
                else:
                    finding.bounded = True
        _worked_out_before(extraction, findings, ground, around)
    for finding, question in zip(findings, asked, strict=True):
        if finding.status is None:
            if work.argued(question):
                _argued(finding, question, ground)
            else:
                finding.bounded = True
        if finding.status is None:
            finding.status = "derivable" if finding.derivation is not None else "unsupported"
    return [*findings, *beyond], asked


def _placed(
    text: str, findings: Sequence[Finding], asked: Sequence[Asked], ground: Ground, *, counts: bool = True
) -> list[Finding]:
    """Say of each value whether it is beside the name of another row than its own; returns the small numbers that are.

    Without ``counts`` small numbers with a word beside them are not looked at.
    """

    def carries(index: int, carried: Carried) -> bool:
        question = asked[index]
        return bool(
            _grade(carried, question)
            or ground.states(carried, question.value)
            or (question.parts and _all_parts(question, lambda _: (carried,)))
        )

    return [
        Finding(candidate, "read", sources, misplaced=places)
        for candidate, places, sources in place(
            text, findings[: len(asked)], ground.window, ground.said, carries, ground.row_names, counts=counts
        )
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
    for question in asked.forms if asked.bare is None else (*asked.forms, asked.bare):
        for one in words.holding(question):
            if one.grade(question):
                finding.status = "said"
                return
    if asked.value is not None and words.states(asked.value, ground.has_year):
        finding.status = "said"
        return
    if asked.parts and _all_parts(asked, words.holding):
        finding.status = "said"


def _carried(finding: Finding, asked: Asked, ground: Ground, work: Work) -> None:
    """``read`` or ``respelled`` by a result of the window."""
    grades = _grades(asked, ground)
    exact = [source for source, grade in grades if grade is Grade.TOKEN]
    if exact:
        finding.status, finding.sources = "read", tuple(exact)
        return
    near = tuple(source for source, _ in grades)
    enough = work.respelled(asked)
    if asked.value is not None and enough:
        may = {*map(id, near), *map(id, ground.carrying(asked.value))}
        near = tuple(source for source in ground.window if id(source) in may)
    if near:
        finding.status, finding.sources = "respelled", near
        return
    if asked.parts:
        grade, carriers = _parts_in(asked.parts, ground.holding)
        if grade is not None:
            finding.status, finding.sources = grade, carriers
            return
    cut = sum(stack.take_bounded() for stack in ground.stacks) > 0
    finding.bounded = cut or not enough


def _grades(asked: Asked, ground: Ground) -> list[tuple[Source, Grade]]:
    """The sources of the window that carry a candidate as it is spelled, in order, and how well."""
    forms = asked.forms
    if not forms:
        return []
    holding = ground.holding(forms[0])
    if len(forms) > 1:
        may = {id(source) for source in [*holding, *ground.holding(forms[1])]}
        holding = [source for source in ground.window if id(source) in may]
    return [(source, grade) for source in holding if (grade := _grade(source.carried, asked))]


def _grade(carried: Carried, asked: Asked) -> Grade:
    if asked.typed_only:
        return Grade.NONE
    best = carried.grade(asked.whole)
    if best is Grade.TOKEN or asked.number is None:
        return best
    return max(best, carried.grade(asked.number))


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
    questions = [*asked.forms, *[question for _, question in asked.parts or () if question is not None]]
    spelled = {id(source) for question in questions for source in ground.stacks[0].gone(question)}
    stated = set(map(id, ground.stacks[0].carrying(asked.value, ground.has_year))) if asked.value is not None else set()
    for source in reversed(ground.left):
        carried = source.carried
        if (
            (id(source) in spelled and _grade(carried, asked))
            or id(source) in stated
            or (id(source) in spelled and asked.parts and _parts_in(asked.parts, lambda _, one=source: (one,))[0])  # type: ignore[misc]
        ):
            finding.status = "evicted"
            finding.sources = (source,)
            finding.gone = source
            return


def _worked_out_before(
    extraction: Extraction, findings: Sequence[Finding], ground: Ground, around: Surroundings
) -> None:
    """``evicted`` for what only numbers of results that left can give."""
    both = replace(
        around, window=[*ground.left[-MAX_LEFT_FOR_ARITHMETIC:], *ground.window], accounted=ACCOUNTED | {"evicted"}
    )
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


def _offered(text: str, findings: Sequence[Finding]) -> set[tuple[int, int]]:
    """The places of dates that nothing accounts for and that the answer only offers to search by."""
    if not any(finding.status == "unsupported" and finding.candidate.shape == "date" for finding in findings):
        return set()
    return proposed(
        text, (span for finding in findings if finding.candidate.shape == "date" for span in finding.candidate.spans)
    )


def _coined(candidate: Candidate, text: str, ground: Ground) -> bool:
    """Whether a value that nothing accounts for is a label the model made up, and no claim about the world."""
    if candidate.declared or candidate.shape not in ("identifier", "number"):
        return False
    if is_coined(candidate.form) or is_example(candidate, text):
        return True
    numbered = _NUMBERED_LABEL.fullmatch(candidate.form)
    if numbered is None:
        return False
    word = Question(numbered.group(1), rounding=False)
    return any(source.carried.grade(word) for source in ground.window) or any(one.grade(word) for one in ground.said)
