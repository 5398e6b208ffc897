"""What in an answer is data: the candidates, each distinct value once with the spans of all its occurrences.

Rules
-----
- Declared shapes are tested first; a token that matches one is data even without a digit.
- Typed values (dates, times, money, percent, numbers with a unit, phone numbers …) are data whatever their digit count.
- Else a digit is required: an identifier mixes digits with letters or ``: _ - / .`` and has four characters or more; a
  bare number has ``min_digits`` digits or more. A number with a short unit or word glued on is judged on its number.
- Prose: ``24/7`` and other short numbers joined, ``5-star``, ``7-of-14``, list numbering, names of fields
  (``address1``). Placeholders (``W0000000``, ``XXX-123``, an example such as ``W1234567``) are data only where something
  accounts for them (``is_coined``, ``is_example``).
- Fenced code is not data unless asked for. An answer that is wholly JSON is read as JSON: its own keys are labels, of
  which only the parts that are data count.
- At most ``MAX_TOKENS`` tokens, ``MAX_NUMERALS`` numbers and ``MAX_CHARS`` characters of an answer are looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final

from otel_footprint.core.evidence import answer_json, typed
from otel_footprint.core.evidence.normal import Token, fold, form, tokens
from otel_footprint.core.evidence.options import Evidence

MAX_TOKENS: Final = 20_000
MAX_CHARS: Final = 100_000
MAX_NUMERALS: Final = 4_000
"""Numbers of an answer in prose that are read, repeated ones too."""
_NUMERAL: Final = re.compile(r"\d[\d.,:/\-]*")

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_DIGIT: Final = re.compile(r"[0-9]")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_GLUED: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]{1,5})")
_AMOUNTS: Final = re.compile(r"balance|amount|payment|price|cost|fare|charge|refund|total", re.IGNORECASE)
_NAMED_KEY: Final = re.compile(r"\d{4,}$|card|certificate|account|wallet", re.IGNORECASE)
_PARTS: Final = re.compile(r"[_\-/:.@]+")
_HEDGED_RANGE: Final = re.compile(r"\s?(?:-|–|to|and)\s?")
_COUNTED_WORD: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)(?:-[a-z]+)+")
_OUT_OF: Final = re.compile(r"\d{1,3}-(?:of|for|in|to|out-of)-\d{1,3}")
_FIELD_NAME: Final = re.compile(
    r"(?:address|line|street|phone|name|email|option|item|step|passenger|flight|leg|segment|bag|part|page|section|row|col"
    r"|column|day|week|level|tier|phase|stage|card|method|choice|question|answer|note|point|item_|order|case|q|v|h)[-_]?\d{1,2}"
)
_ZEROS: Final = re.compile(r"[a-z#]{0,8}[-_]?0{4,}")
_COUNTING: Final = re.compile(r"[a-z#]{0,8}[-_]?(?:1234567(?:8(?:90?)?)?|123456|(?<=[a-z\-_])123456?)")
_EXAMPLE: Final = re.compile(
    r"(?:\be\.? ?g\.?|\bfor (?:example|instance)|\bexamples?|\blike|\bsuch as|\bformat(?:ted as)?|\bplaceholder)[\W_]{1,8}"
    r"(?:(?:this|an?|the|order|id|number)[\W_]{1,3}){0,3}(?:\S{1,24} (?:or|and)[\W_]{1,6})?$",
    re.IGNORECASE,
)
"""What stands before a value that is only called an example of one."""
_BEFORE: Final = 60
_CROSSED: Final = re.compile(r"(?:x{3,}|n{3,}|y{4,})(?:[-_/].*)?|.*[-_/](?:x{3,}|n{3,})(?:[-_/].*)?")
_WORD: Final = re.compile(r"\S+")
_TRIM: Final = "\"'`()[]{}<>*_.,;:!?“”‘’"


@dataclass(slots=True)
class Candidate:
    """One distinct value of an answer. ``key`` is the JSON field it stands in, None in prose.

    ``number_form`` is set for a number with something glued on: looked up glued first, then as the number.
    ``literal`` is a declared shape's spelling that more than one token make up.
    """

    text: str
    shape: str
    form: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    value: typed.Typed | None = None
    key: str | None = None
    number_form: str | None = None
    literal: bool = False
    declared: bool = False
    from_key: bool = False


class Extraction:
    """The candidates of one answer in order of first appearance. ``pieces`` are the JSON leaves, None for prose.

    ``cut`` says that there was more that may be data than is looked at.
    """

    def __init__(self, text: str, options: Evidence) -> None:
        rest, text = text[MAX_CHARS:], text[:MAX_CHARS]
        self.cut = _DIGIT.search(rest) is not None
        self.text = text
        self.options = options
        self._found: dict[Hashable, Candidate] = {}
        self._budget = MAX_TOKENS
        body = answer_json.json_body(text)
        self.pieces: tuple[answer_json.Piece, ...] | None = None
        if body is None:
            prose = text if options.code_blocks else without_code(text)
            if len(prose) > 2 * MAX_NUMERALS:
                beyond = next(islice(_NUMERAL.finditer(prose), MAX_NUMERALS, None), None)
                if beyond is not None:
                    self.cut, prose = True, prose[: beyond.start()]
            self._prose(prose, 0, None)
        else:
            self.pieces = tuple(answer_json.pieces(text, *body))
            for piece in self.pieces:
                self._piece(piece)

    @property
    def candidates(self) -> list[Candidate]:
        """The distinct values, first appearance order."""
        return sorted(self._found.values(), key=lambda candidate: candidate.spans[0])

    # --- prose

    def _prose(self, prose: str, offset: int, key: str | None) -> None:
        folded = fold(prose)
        declared = sorted(self._declared(prose, offset, key)) if self.options.shapes else []
        taken: list[tuple[int, int]] = []
        weak: dict[int, typed.Typed] = {}
        hedged: typed.Typed | None = None
        for value in typed.find(prose):
            if hedged is not None and _HEDGED_RANGE.fullmatch(prose, hedged.end, value.start):
                value = _hedged_too(value)
            hedged = value if value.hedged else None
            if value.weak:
                weak[value.start] = value
            elif not _overlaps(declared, value.start, value.end):
                taken.append((value.start, value.end))
                if not _trivial(value):
                    self._typed(value, offset, key)
        taken = sorted([*taken, *declared])
        for token in _outside(tokens(folded, with_digits=True), taken, folded):
            self._budget -= 1
            if self._budget < 0:
                return
            if _DIGIT.search(token.form) is not None:
                self._token(token, prose, offset, key, weak.get(token.start), from_key=False)

    def _declared(self, prose: str, offset: int, key: str | None) -> Iterator[tuple[int, int]]:
        for match in _WORD.finditer(prose):
            word = match.group()
            left = len(word) - len(word.lstrip(_TRIM))
            trimmed = word.strip(_TRIM)
            if not trimmed or len(trimmed) > 256:
                continue
            for shape in self.options.shapes:
                if shape.compiled.fullmatch(trimmed):
                    start = match.start() + left
                    self._declare(shape.name, trimmed, start, offset, key)
                    yield start, start + len(trimmed)
                    break
            else:
                base = match.start()
                for token in tokens(fold(word)):
                    spelled = word[token.start : token.end].strip(_TRIM)
                    for shape in self.options.shapes:
                        if spelled and spelled != trimmed and shape.compiled.fullmatch(spelled):
                            start = base + word.index(spelled, token.start)
                            self._declare(shape.name, spelled, start, offset, key)
                            yield start, start + len(spelled)
                            break

    def _declare(self, shape: str, spelled: str, start: int, offset: int, key: str | None) -> None:
        folded = fold(spelled)
        inside = list(tokens(folded))
        literal = len(inside) != 1
        spelled_form = folded if literal else form(folded[inside[0].start : inside[0].end])
        self._add(
            ("declared", spelled_form),
            Candidate(spelled, shape, spelled_form, key=key, literal=literal, declared=True),
            (offset + start, offset + start + len(spelled)),
        )

    def _typed(self, value: typed.Typed, offset: int, key: str | None) -> None:
        spelled_form = _typed_form(value.text)
        self._add(
            ("typed", value.kind, spelled_form),
            Candidate(value.text, value.kind, spelled_form, value=value, key=key),
            (offset + value.start, offset + value.end),
        )

    def _token(
        self, token: Token, prose: str, offset: int, key: str | None, value: typed.Typed | None, *, from_key: bool
    ) -> None:
        spelled = token.form
        start, end = _trimmed(prose, token.start, token.end)
        kind = classify(spelled, self.options.min_digits)
        if kind is None and _NUMBER.fullmatch(spelled) and _digits(prose[start:end]) >= self.options.min_digits:
            kind = "number"  # the form of 14.90 is 14.9
        if kind is None:
            return
        number_form = None
        if kind == "identifier":
            value = None  # the number in front of 5200-A is none of its own
        else:
            glued = _GLUED.fullmatch(spelled)
            number_form = form(glued.group(1)) if glued else None
        self._add(
            (kind, spelled),
            Candidate(
                prose[start:end], kind, spelled, value=value, key=key, number_form=number_form, from_key=from_key
            ),
            (offset + start, offset + end),
        )

    def _add(self, identity: Hashable, candidate: Candidate, span: tuple[int, int]) -> None:
        known = self._found.setdefault(identity, candidate)
        known.spans.append(span)
        if known.value is None:
            known.value = candidate.value

    # --- JSON

    def _piece(self, piece: answer_json.Piece) -> None:
        if piece.is_key:
            self._label(piece)
        elif isinstance(piece.value, str):
            # The text between the quotes is scanned as it stands, so that spans need no mapping.
            field_name = _money_field(piece) or piece.key
            readings = typed.of_leaf(field_name, piece.value) if piece.spelled == piece.value else ()
            whole = [one for one in readings if one.kind != "number" and one.text.strip() == piece.spelled.strip()]
            if whole:
                if not _trivial(whole[0]):
                    self._typed_leaf(whole[0], piece)
            else:
                self._prose(piece.spelled, piece.start, piece.key)
        elif isinstance(piece.value, (int, float)) and not isinstance(piece.value, bool):
            readings = typed.of_leaf(_money_field(piece) or piece.key, piece.value)
            strong = [one for one in readings if one.kind != "number" and not _trivial(one)]
            if strong:
                self._typed_leaf(strong[0], piece)
            else:
                token = Token(0, len(piece.spelled), form(fold(piece.spelled)))
                self._token(
                    token, piece.spelled, piece.start, piece.key, readings[0] if readings else None, from_key=False
                )

    def _typed_leaf(self, value: typed.Typed, piece: answer_json.Piece) -> None:
        spelled_form = _typed_form(piece.spelled)
        self._add(
            ("typed", value.kind, spelled_form),
            Candidate(piece.spelled, value.kind, spelled_form, value=value, key=piece.key),
            (piece.start, piece.end),
        )

    def _label(self, piece: answer_json.Piece) -> None:
        """A key of the answer's own JSON: only its parts that are data count."""
        if " " in piece.spelled:
            self._prose(piece.spelled, piece.start, None)
            return
        for match in re.finditer(r"[^_\-/:.@\s]+", piece.spelled):
            spelled = form(fold(match.group()))
            if classify(spelled, self.options.min_digits) is not None:
                token = Token(match.start(), match.end(), spelled)
                self._token(token, piece.spelled, piece.start, None, None, from_key=True)


@lru_cache(maxsize=4096)
def classify(spelled: str, min_digits: int) -> str | None:
    """``number`` or ``identifier`` for a form that is data, None for prose."""
    if _DIGIT.search(spelled) is None:
        return None
    if spelled[0].isalpha():  # no number then, nor anything that begins with one
        named = not spelled[-3:].isdigit() and _FIELD_NAME.fullmatch(spelled) is not None
        return None if len(spelled) < 4 or named else "identifier"
    if _NUMBER.fullmatch(spelled):
        return "number" if _digits(spelled) >= min_digits else None
    glued = _GLUED.fullmatch(spelled)
    if glued is not None:
        return "number" if _digits(glued.group(1)) >= min_digits else None
    if len(spelled) < 4:
        return None
    if _COUNTED_WORD.fullmatch(spelled) or _OUT_OF.fullmatch(spelled) or _FIELD_NAME.fullmatch(spelled):
        return None
    parts = [part for part in _PARTS.split(spelled) if part]
    if len(parts) <= 2 and all(_short_number(part, min_digits) for part in parts):
        return None
    return "identifier"


def is_coined(spelled: str) -> bool:
    """Whether a form that nothing accounts for is no data after all.

    A placeholder, a crossed-out id, words joined by underscores around a small number, or alternatives of which none is
    data (``i7/i9``).
    """
    if _ZEROS.fullmatch(spelled) or _CROSSED.fullmatch(spelled):
        return True
    if "_" in spelled and all(_label_word(part) for part in re.split(r"[_\-]+", spelled)):
        return True
    return "/" in spelled and all(len(part) <= 2 or part.isalpha() for part in spelled.split("/"))


def is_example(candidate: Candidate, text: str) -> bool:
    """Whether an answer only shows how such a value looks: one that counts up (``W1234567``), called an example."""
    return _COUNTING.fullmatch(candidate.form) is not None and all(
        _EXAMPLE.search(text, max(0, start - _BEFORE), start) is not None for start, _ in candidate.spans
    )


def _label_word(part: str) -> bool:
    return part.isalpha() or (part.isdigit() and len(part) <= 2)


def _short_number(part: str, min_digits: int) -> bool:
    glued = _GLUED.fullmatch(part)
    number = glued.group(1) if glued else part
    return _NUMBER.fullmatch(number) is not None and _digits(number) < min_digits


def _digits(spelled: str) -> int:
    return len(_DIGIT.findall(spelled))


def _hedged_too(value: typed.Typed) -> typed.Typed:
    """The upper end of a range whose lower end is called rounded (``about $226–$272``)."""
    for again in typed.find(f"about {value.text}"):
        if again.kind == value.kind and again.number == value.number:
            return again._replace(start=value.start, end=value.end, text=value.text)
    return value


def _money_field(piece: answer_json.Piece) -> str | None:
    """The field around a leaf that says it is money, where its own field is only a name (``balances: {card_77: 39}``)."""
    for step in piece.path[:-1][-2:]:
        if isinstance(step, str) and _AMOUNTS.search(step):
            return "amount" if not isinstance(piece.value, str) and piece.key and _NAMED_KEY.search(piece.key) else None
    return None


def _trivial(value: typed.Typed) -> bool:
    """Zero amounts are no data."""
    return value.number is not None and value.number == 0


def _typed_form(text: str) -> str:
    """The identity of a typed value's spelling: its form when it is one token, else its folded words."""
    folded = fold(text)
    inside = list(tokens(folded))
    if len(inside) == 1:
        return inside[0].form
    return " ".join(folded.split())


def _trimmed(prose: str, start: int, end: int) -> tuple[int, int]:
    spelled = prose[start:end]
    left = len(spelled) - len(spelled.lstrip(".:_-/@,"))
    right = len(spelled) - len(spelled.rstrip(".:_-/@,"))
    return start + left, end - right


def _overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span meets one of these, which are sorted and apart from each other."""
    place = bisect_right(taken, (start, start))
    return (place > 0 and taken[place - 1][1] > start) or (place < len(taken) and taken[place][0] < end)


def _outside(found: Iterator[Token], taken: list[tuple[int, int]], folded: str) -> Iterator[Token]:
    """Tokens, and what is left of tokens, outside of the spans that are taken (sorted, not overlapping)."""
    place = 0
    for token in found:
        while place < len(taken) and taken[place][1] <= token.start:
            place += 1
        if place == len(taken) or taken[place][0] >= token.end:
            yield token
            continue
        start, at = token.start, place
        while at < len(taken) and taken[at][0] < token.end:
            if taken[at][0] > start:
                yield from _rest(folded, start, taken[at][0])
            start = max(start, taken[at][1])
            at += 1
        if start < token.end:
            yield from _rest(folded, start, token.end)


def _rest(folded: str, start: int, end: int) -> Iterator[Token]:
    spelled = form(folded[start:end])
    if spelled:
        yield Token(start, end, spelled)


def without_code(text: str) -> str:
    """The text with fenced code blanked, so that offsets stay."""
    if "```" not in text and "~~~" not in text:
        return text
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
