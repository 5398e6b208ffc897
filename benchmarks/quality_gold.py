"""Flags against errors that people marked: the spans of d2t, and the corrected errors of rotowire.

Rules
-----
- d2t: ``contradictory`` and ``not_checkable`` spans are the unsupported ones. They are often a clause, so a flag is right when
  it overlaps one, and a span is found when a flag overlaps it. Only spans with a digit or a number word can be found by a
  checker of values; recall is given over those and over all.
- rotowire: a flag is right when it overlaps a NUMBER error of the gold; recall is the share of NUMBER errors that a flag
  overlaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from misplaced_quality import gold
from quality_checkers import Checker, Span
from quality_replay import EXAMPLES, example_answer, examples

UNSUPPORTED = frozenset({"contradictory", "not_checkable"})
_COUNT = re.compile(r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b")


@dataclass
class Score:
    """Flags and gold errors, and how many of each have a counterpart."""

    flags: int = 0
    right: int = 0
    errors: int = 0
    found: int = 0
    all_errors: int = 0
    all_found: int = 0

    @property
    def precision(self) -> float | None:
        """Share of flags that are right; None without flags."""
        return self.right / self.flags if self.flags else None

    @property
    def recall(self) -> float | None:
        """Share of errors with a value that are found."""
        return self.found / self.errors if self.errors else None

    def add(self, flagged: Iterable[Span], errors: Iterable[Span], beyond: Iterable[Span] = ()) -> None:
        """Count one text. ``beyond`` are errors without a value, which count in ``all_errors`` only."""
        flags, wrong, rest = list(dict.fromkeys(flagged)), list(errors), list(beyond)
        self.flags += len(flags)
        self.right += sum(any(_overlap(flag, error) for error in (*wrong, *rest)) for flag in flags)
        found = sum(any(_overlap(flag, error) for flag in flags) for error in wrong)
        self.errors += len(wrong)
        self.found += found
        self.all_errors += len(wrong) + len(rest)
        self.all_found += found + sum(any(_overlap(flag, error) for flag in flags) for error in rest)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def d2t(checker: Checker, data: Path) -> Score:
    """How a checker's flags meet the human spans."""
    score = Score()
    for example in examples(data / EXAMPLES["d2t"]):
        answer = example_answer(example["id"], example["source"], example["answer"])
        marked = [
            (span["start"], span["end"], span["text"])
            for group in example["human"]
            for span in group["spans"]
            if span["type"] in UNSUPPORTED
        ]
        with_value = [(start, end) for start, end, text in marked if _COUNT.search(text)]
        without = [(start, end) for start, end, text in marked if not _COUNT.search(text)]
        score.add(checker.check(answer).spans, with_value, without)
    return score


def rotowire(checker: Checker, data: Path) -> Score:
    """How a checker's flags meet the gold's wrong numbers."""
    score = Score()
    for example in examples(data / EXAMPLES["rotowire"]):
        text = example["answer_detokenized"]
        answer = example_answer(example["id"], example["source"], text)
        errors = [(error.start, error.end) for error in gold(example, text) if error.kind == "NUMBER"]
        score.add(checker.check(answer).spans, errors)
    return score
