"""Wrong answers made from right ones: one digit of an accounted value changed, so that the new value stands nowhere."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quality_replay import Answer

from otel_footprint.core.evidence.verdicts import Value

ACCOUNTED = frozenset({"said", "read", "respelled", "computed", "echoed"})
KINDS = (
    "identifier",
    "number of 4 digits or more",
    "number with a unit",
    "money with cents",
    "money in whole units",
    "percent",
    "date",
    "time",
    "phone",
)
_CLASS_OF_SHAPE = {
    "identifier": "identifier",
    "uuid": "identifier",
    "number": "number of 4 digits or more",
    "quantity": "number with a unit",
    "duration": "number with a unit",
    "percent": "percent",
    "date": "date",
    "datetime": "date",
    "time": "time",
    "phone": "phone",
}
_ROUNDED = frozenset({"number with a unit", "percent"})
"""Classes in which an answer may round what it read."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Mutant:
    """One answer with one value changed; ``span`` is where it stands first."""

    kind: str
    before: str
    after: str
    span: tuple[int, int]
    answer: Answer

    def caught_by(self, spans: Iterable[tuple[int, int]]) -> bool:
        """Whether a flag lies on the changed value."""
        return any(start < self.span[1] and self.span[0] < end for start, end in spans)


def mutants(answers: Iterable[Answer], limit: int, *, seed: int = 7) -> list[Mutant]:
    """At most ``limit`` mutants of each class. The same seed gives the same ones."""
    rng = random.Random(seed)
    pool: dict[str, list[tuple[Answer, Value]]] = {}
    for answer in answers:
        for value in answer.judgement.values:
            kind = mutation_class(value)
            if kind is not None and value.status in ACCOUNTED and len(value.spans) <= 4:
                pool.setdefault(kind, []).append((answer, value))
    read: dict[int, Everything] = {}
    made: list[Mutant] = []
    for kind, cases in sorted(pool.items()):
        rng.shuffle(cases)
        done = 0
        for answer, value in cases:
            if done == limit:
                break
            everything = read.get(id(answer))
            if everything is None:
                everything = read[id(answer)] = Everything(answer.everything)
            mutant = _mutant(kind, value, answer, everything, rng)
            if mutant is not None:
                made.append(mutant)
                done += 1
    return made


def mutation_class(value: Value) -> str | None:
    """The class a value's mutation counts in."""
    if value.shape == "money":
        return "money with cents" if re.search(r"\.\d\d\b", value.text) else "money in whole units"
    if value.shape == "number" and sum(char.isdigit() for char in value.text) < 4:
        return None  # a small number that only its place makes data
    return _CLASS_OF_SHAPE.get(value.shape)


def _mutant(kind: str, value: Value, answer: Answer, everything: Everything, rng: random.Random) -> Mutant | None:
    places = [place for place, char in enumerate(value.text) if char.isascii() and char.isdigit()]
    rng.shuffle(places)
    for place in places:
        digits = [digit for digit in "0123456789" if digit != value.text[place]]
        rng.shuffle(digits)
        for digit in digits:
            changed = value.text[:place] + digit + value.text[place + 1 :]
            if kind == "phone" and changed[0] != value.text[0] == "0":
                continue  # what was a phone number is none any more
            if not everything.lacks(changed) or (kind in _ROUNDED and everything.rounds_to(changed)):
                continue
            text = answer.text
            for start, end in sorted(value.spans, reverse=True):
                if text[start:end] == value.text:
                    text = text[:start] + changed + text[end:]
            start = value.spans[0][0]
            span = (start, start + len(changed))
            if text[span[0] : span[1]] == changed:
                return Mutant(kind, value.text, changed, span, answer.changed(text))
    return None


class Everything:
    """All text up to and with an answer, with the dates, clock times and numbers in it, read without the product's help."""

    def __init__(self, text: str) -> None:
        self.folded = text.lower()
        days = set(_days(text))
        self.days = days | {(0, day) for _, day in days}
        self.minutes = set(_minutes(text))
        self.numbers = {_plain(number) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
        self._rounded: set[str] | None = None

    def lacks(self, changed: str) -> bool:
        """Whether neither the spelling nor the value stands in the text, and the value is one at all."""
        changed = changed.lstrip("-−")
        if changed.lower() in self.folded or re.match(r"\D*0\d", changed):
            return ":" in changed and changed.lower() not in self.folded and self._no_moment(changed)
        if list(_days(changed)) or list(_minutes(changed)):
            return self._no_moment(changed)
        if re.search(r"\d-\d|[A-Za-z]{3,9}\.? \d|\d(?:st|nd|rd|th)\b|\d:\d", changed):
            return False  # what was a date or a time is none any more
        found = re.findall(r"\d[\d,]*(?:\.\d+)?", changed)
        if len(found) == 1 and not re.search(r"[A-Za-z_-]\d|\d[A-Za-z_-]*\d*[A-Za-z_-]\d", changed):
            return _plain(found[0]) not in self.numbers and float(_plain(found[0]) or 0) != 0
        return True

    def rounds_to(self, changed: str) -> bool:
        """Whether a number of the text rounds to the changed one: then that one is not wrong."""
        if self._rounded is None:
            self._rounded = set()
            for number in self.numbers:
                whole, _, decimals = number.partition(".")
                if decimals and len(whole) < 16:
                    spelled = (f"{float(number):.{kept}f}" for kept in range(len(decimals)))
                    self._rounded.update(map(_plain, spelled))
        return any(_plain(number) in self._rounded for number in re.findall(r"\d[\d,]*(?:\.\d+)?", changed))

    def _no_moment(self, changed: str) -> bool:
        days, minutes = list(_days(changed)), list(_minutes(changed))
        return bool(days or minutes) and (
            any(day not in self.days for day in days) or any(minute not in self.minutes for minute in minutes)
        )


def _days(text: str) -> Iterator[tuple[int, int]]:
    """Every (month, day) a text can be read to name; month 0 for a day alone."""
    for _, month, day in re.findall(r"(\d{4})[-/](\d\d?)[-/](\d\d?)", text):
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            yield int(month), int(day)
    for one, other in re.findall(r"(?<![\d/])(\d\d?)/(\d\d?)(?![\d])", text):
        yield int(one), int(other)
        yield int(other), int(one)
    word = "|".join(_MONTHS)
    for month, day, until in re.findall(
        rf"(?i)\b({word})[a-z]*\.?,? (\d\d?)(?:st|nd|rd|th)?(?:\s?[-–/]\s?(\d\d?))?\b", text
    ):
        for number in range(int(day), int(until or day) + 1):
            yield _MONTHS.index(month.lower()) + 1, number
    for day, month in re.findall(rf"(?i)\b(\d\d?)(?:st|nd|rd|th)? (?:of )?({word})[a-z]*", text):
        yield _MONTHS.index(month.lower()) + 1, int(day)
    for day in re.findall(r"(?i)\b(\d\d?)(?:st|nd|rd|th)\b", text):
        yield 0, int(day)


def _minutes(text: str) -> Iterator[int]:
    """Every minute of a day a text can be read to name."""
    for hour, minute, half in re.findall(r"(?i)(?<![\d:])(\d\d?):(\d\d)(?::\d\d)?(?:\s?([ap])\.?m)?", text):
        if int(hour) > 23 or int(minute) > 59:
            continue
        yield _of_day(int(hour), int(minute), half)
        if not half and int(hour) < 12:
            yield (int(hour) + 12) * 60 + int(minute)
    for hour, half in re.findall(r"(?i)(?<![\d:])(\d\d?)\s?([ap])\.?m\b", text):
        if int(hour) <= 12:
            yield _of_day(int(hour), 0, half)


def _of_day(hour: int, minute: int, half: str) -> int:
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return hour * 60 + minute


def _plain(number: str) -> str:
    plain = number.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
