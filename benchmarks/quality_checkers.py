"""What is measured: a checker takes an answer and says where it flags it. The product and the plain rule are here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from quality_replay import Answer

from otel_footprint.core.evidence.normal import fold, tokens
from tests.core.evidence import oracle

Span = tuple[int, int]


@dataclass(frozen=True)
class Flags:
    """Half-open spans of an answer that a checker flags."""

    spans: tuple[Span, ...]

    @property
    def any(self) -> bool:
        """Whether the answer is flagged."""
        return bool(self.spans)


class Checker(Protocol):
    """One way to check answers. ``version`` is empty for what is not a package."""

    name: str
    version: str

    def check(self, answer: Answer) -> Flags:
        """What it flags of the answer, given the conversation before it."""
        ...


class Product:
    """The evidence check of this project. ``misplaced`` adds what it only advises: a value of another row."""

    name = "otel-footprint"
    version = ""

    def __init__(self, *, misplaced: bool = False) -> None:
        self._misplaced = misplaced

    def check(self, answer: Answer) -> Flags:
        """Judge it with the evidence as it stood."""
        values = answer.judge().values
        spans = [span for value in values if value.flagged for span in value.spans]
        if self._misplaced:
            spans += [place.span for value in values for place in value.misplaced]
        return Flags(tuple(spans))


class PlainRule:
    """Token-exact membership and nothing more: what carries no typed value, no arithmetic and no argument.

    A token is data when it mixes digits with letters or ``: _ - / .`` and has four characters or more, or is a number of
    four digits or more. It is grounded when a result, the person or the application spells it, case, quotes, thousands
    separators and closing marks aside.
    """

    name = "plain rule"
    version = ""

    def check(self, answer: Answer) -> Flags:
        """Look every token of the answer up."""
        folded = fold(answer.text)
        spans: list[Span] = []
        for token in tokens(folded, with_digits=True):
            if not _is_data(token.form):
                continue
            sources = (*map(_forms_of_result, answer.results), *map(_forms_of_words, answer.said))
            if not any(token.form in forms for forms in sources):
                spans.append((token.start, token.end))
        return Flags(tuple(spans))


def _is_data(form: str) -> bool:
    glued = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]{0,3})", form)
    if glued is not None:
        return sum(char.isdigit() for char in glued.group(1)) >= 4
    return len(form) >= 4 and form != "24/7" and any(char.isdigit() for char in form)


@lru_cache(maxsize=4096)
def _forms_of_result(content: str) -> frozenset[str]:
    return frozenset(oracle.index(content))


@lru_cache(maxsize=4096)
def _forms_of_words(text: str) -> frozenset[str]:
    return frozenset(oracle.forms_of_text(text))


def located(text: str, quoted: Sequence[str]) -> Flags:
    """Where a checker that gives spellings instead of places flags a text: every place that spells one as a whole number."""
    spans: list[Span] = []
    for one in dict.fromkeys(quoted):
        if not one:
            continue
        head = r"(?<![\d])0*" if one[0].isdigit() else ""
        tail = r"(?!\d)" if one[-1].isdigit() else ""
        spans += [match.span() for match in re.finditer(head + re.escape(one) + tail, text)]
    return Flags(tuple(sorted(set(spans))))
