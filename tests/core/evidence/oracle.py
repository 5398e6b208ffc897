"""The straightforward index: read every result whole, file everything it carries, look candidates up.

It shares the normaliser, the reader of typed values and the order of statuses with the product, of which there is only
one each, and nothing of how the product searches: JSON is parsed, walked and read leaf by leaf, every token is filed with its
forms and with its segments, every typed value with its keys and numbers; no text is left out because it cannot hold a value.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from operator import itemgetter

from otel_footprint.core.evidence import shelf, typed
from otel_footprint.core.evidence.bulk import Bulk
from otel_footprint.core.evidence.carried import NOTHING, Carried
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.haystack import Grade, Question
from otel_footprint.core.evidence.normal import MAX_TOKEN, fold, forms_of, tokens
from otel_footprint.core.evidence.reader import read
from otel_footprint.core.evidence.shelf import Shelf, Words
from otel_footprint.core.evidence.sources import Stack
from otel_footprint.core.evidence.typed_index import HasYear, carries


class Spelled(str):
    """A JSON number or literal as it was written."""


_DECODER = json.JSONDecoder(parse_float=Spelled, parse_int=Spelled, parse_constant=Spelled)
_DELIMITER = re.compile(r"[_\-/:.@]")


def index(content: str) -> set[str]:
    """Every form the result carries."""
    return {form for text in texts_of(content) for form in forms_of_text(text)}


def texts_of(content: str) -> Iterator[str]:
    """Every key and leaf of a result as text, and what stands behind its JSON."""
    values, tail = leading(content)
    for value in values:
        yield from leaves(value)
    yield tail


def leading(content: str) -> tuple[list[object], str]:
    """The JSON values in front, and the text after them."""
    values: list[object] = []
    end = 0
    while True:
        start = end
        while start < len(content) and content[start] in " \t\n\r":
            start += 1
        if start == len(content) or content[start] not in '{["':
            return values, content[end:]
        try:
            value, end = _DECODER.raw_decode(content, start)
        except (ValueError, RecursionError):
            return values, content[end:]
        values.append(value)


def leaves(value: object) -> Iterator[str]:
    """Every key and leaf as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def forms_of_text(text: str) -> set[str]:
    """The forms of a text's tokens."""
    folded = fold(text)
    return {form for token in tokens(folded) for form in forms_of(folded[token.start : token.end], rounding=True)}


class Values:
    """Typed values filed one by one: every leaf is read, and nothing is put off."""

    def __init__(self, values: Iterable[typed.Typed]) -> None:
        self.years: set[int] = set()
        self._by_key: dict[Hashable, typed.Typed] = {}
        self._by_unit: dict[str | None, list[tuple[Decimal, typed.Typed]]] = {}
        for value in values:
            for part in (value, *value.parts):
                for key in part.carried:
                    self._by_key.setdefault(key, part)
                    if isinstance(key, tuple) and key[0] in ("date", "month"):
                        self.years.add(key[1])
                for offer in part.offers:
                    self._by_unit.setdefault(offer.unit, []).append((offer.number, part))
        for bucket in self._by_unit.values():
            bucket.sort(key=itemgetter(0))

    def carrier(self, key: Hashable) -> typed.Typed | None:
        return self._by_key.get(key)

    def within(self, interval: typed.Interval) -> Iterator[typed.Typed]:
        unit, low, high = interval
        bucket = self._by_unit.get(unit, [])
        place = bisect_left(bucket, low, key=itemgetter(0))
        while place < len(bucket) and bucket[place][0] <= high:
            yield bucket[place][1]
            place += 1


class OracleText(Carried):
    """One text, read whole when it is made."""

    __slots__ = ("_compound", "_forms", "_joined", "_spelled", "_values")

    def __init__(self, text: str, *, result: bool) -> None:
        super().__init__(text, result=result)
        self._bulk = None
        self._forms: set[str] = set()
        self._spelled: set[str] = set()  # segments of tokens, those that cut no number
        self._compound: list[str] = []
        self._joined: list[str] = []
        for one in self._texts():
            folded = fold(one)
            self._joined.append(folded)
            for token in tokens(folded):
                raw = folded[token.start : token.end]
                self._forms.update(forms_of(raw, rounding=True))
                self._spelled.update(segments(raw))
        self._values = Values(self._typed())

    def _texts(self) -> Iterator[str]:
        if not self.result:
            yield self.text
            return
        reading = read(self.text)
        if reading.cut:
            for value in reading.values:
                yield from leaves(json.loads(json.dumps(value), parse_float=Spelled, parse_int=Spelled))
            yield reading.tail
        else:
            yield from texts_of(self.text)

    def _typed(self) -> Iterator[typed.Typed]:
        if not self.result:
            yield from typed.find(self.text)
            return
        reading = read(self.text)
        for value in reading.values:
            for key, leaf in typed.named_leaves(value):
                yield from typed.of_leaf(key, leaf)
        yield from typed.find(reading.tail)

    def grade(self, question: Question) -> Grade:
        if question.literal:
            return Grade.TOKEN if any(map(question_in(question), self._joined)) else Grade.NONE
        if not question.forms.isdisjoint(self._forms):
            return Grade.TOKEN
        if not question.forms.isdisjoint(self._spelled):
            return Grade.SEGMENT
        if question.tail:
            for form in question.forms:
                ending = re.compile(rf"[0-9]{re.escape(form)}(?![^\W_])")
                if any(ending.search(text) for text in self._joined):
                    return Grade.TAIL
        return Grade.NONE

    @property
    def years(self) -> set[int]:
        return self._values.years

    @property
    def iso_years(self) -> set[int]:
        return self._values.years

    @property
    def is_bulky(self) -> bool:
        return False

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        return carries(self._values, asked, has_year)


def question_in(question: Question) -> Callable[[str], bool]:
    """Says whether a text holds a spelling of several tokens between other characters than letters and digits."""
    patterns = [re.compile(rf"(?<![^\W_]){re.escape(one)}(?![^\W_])") for one in question.forms]
    return lambda text: any(pattern.search(text) for pattern in patterns)


def segments(token: str) -> Iterator[str]:
    """What stands between delimiters in a token, of any length; a decimal point is no delimiter."""
    if len(token) > MAX_TOKEN:
        return
    starts, ends = [0], []
    for match in _DELIMITER.finditer(token):
        starts.append(match.end())
        ends.append(match.start())
    ends.append(len(token))
    if len(starts) == 1:
        return
    for start in starts:
        for end in ends:
            if start < end and (start, end) != (0, len(token)) and not _cuts_number(token, start, end):
                yield token[start:end]


def _cuts_number(token: str, start: int, end: int) -> bool:
    before = token[start - 2 : start] if start > 1 else ""
    after = token[end : end + 2]
    left = len(before) == 2 and before[1] == "." and before[0].isdigit() and token[start].isdigit()
    right = len(after) == 2 and after[0] == "." and after[1].isdigit() and token[end - 1].isdigit()
    return left or right


class OracleShelf(Shelf):
    """Every text may hold everything."""

    def places(self, question: Question) -> range:
        return range(len(self._texts))

    def carrying(self, asked: typed.Typed, has_year: HasYear) -> list[int]:
        return [place for place, text in enumerate(self._texts) if text.match(asked, has_year)]


class OracleWords(Words):
    """Every text is asked by itself."""

    def places(self, question: Question) -> range:
        return range(len(self._texts))

    def states(self, value: typed.Typed, has_year: HasYear) -> bool:
        return any(text.match(value, has_year) for text in self._texts)

    @property
    def years(self) -> set[int]:
        return set().union(*(text.years for text in self._texts))


def oracle_of(corpus: Corpus, known: dict[tuple[str, bool], OracleText] | None = None) -> Corpus:
    """The same conversation, every text of it read whole; ``known`` are texts read for it before."""
    known = {} if known is None else known

    def whole(carried: Carried) -> Carried:
        if carried is NOTHING:
            return carried
        key = carried.text, carried.result
        if key not in known:
            known[key] = OracleText(carried.text, result=carried.result)
        return known[key]

    other = corpus.fork()
    other._said = [whole(one) for one in other._said]
    other._words = OracleWords(other._said)
    for source in other._sources:
        source.carried = whole(source.carried)
    other._stack = Stack()
    other._stack._shelf = OracleShelf()
    for source in other._sources:
        other._stack.add(source)
    other._calls = [
        type(call)(call.ref, call.tool, whole(call.carried), call.turn, call.position) for call in other._calls
    ]
    other._arguments = OracleShelf(call.carried for call in other._calls)
    return other


@contextmanager
def as_long(corpus: Corpus, *, each: bool) -> Iterator[Corpus]:
    """The same conversation, its results looked through as very many are, whatever their length.

    ``each`` has every one of them looked through as a very long one too, also those that are no JSON: of these a few rare
    spellings are not found then.
    """
    other = corpus.fork()
    for source in other._sources:
        if source.carried is not NOTHING:
            source.carried = Carried(source.carried.text, result=source.carried.result)
        if each and source.carried is not NOTHING:
            source.carried._bulk = Bulk(source.carried.haystack, result=source.carried.result)
    other._stack = Stack(other._sources)
    small, shelf.SMALL = shelf.SMALL, 0
    try:
        yield other
    finally:
        shelf.SMALL = small
