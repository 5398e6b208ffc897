"""What in the arguments of a tool call is data: identifiers, amounts, dates and times, phone numbers, e-mails, addresses.

Rules
-----
- A leaf's own type and the name of its field decide. Counts, limits, pages and other settings are no data, nor are
  booleans, names of formats and models, source code, and words.
- In a field named like an identifier (``order_id``, ``sku``, ``zip``) a token of two characters or more is one, compared
  as spelled: also a bare number, and a word in capitals or joined by ``_`` or ``-``.
- E-mails and addresses (``https://…``) are data without a digit.
- A longer text (a message, a query) is read as an answer's prose is. The name of a parameter is never data; a key
  further in is when it holds a long number.
- At most ``MAX_LEAVES`` leaves and ``MAX_CHARS`` characters are looked at.
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.answer_json import Piece
from otel_footprint.core.evidence.extract import MAX_CHARS, MAX_TOKENS, Candidate, Extraction, is_coined, without_code
from otel_footprint.core.evidence.normal import Token, fold, form, tokens
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.typed.fields import field_of
from otel_footprint.core.messages import Json

MAX_LEAVES: Final = 2_000
MAX_LENGTH: Final = 12
"""Length of the longest list that multiplies a price."""
MAX_NESTED: Final = 20_000
"""Characters of the longest text that is read as JSON, or as a Python literal, inside of the arguments."""

Use: TypeAlias = Literal["identifier", "setting", "choice", "code", "plain"]
"""What a field is for: it names a thing, sets how the tool works, picks one of a few words, holds code, or anything."""

_IDENTIFIERS: Final = frozenset(
    "id ids uuid guid sku ref reference zip zipcode postal postcode account iban isbn ean upc serial vin plate license"
    " licence passport ssn tracking code codes number numbers no key username".split()
)
_SETTINGS: Final = frozenset(
    "limit limits page pages offset skip count counts size sizes top n k depth timeout retries retry attempts seed"
    " temperature batch index idx position rank priority level port width height quality zoom line lines row rows column"
    " columns col results items tokens threads workers concurrency ttl interval threshold score weight step steps iterations"
    " scale ratio radius distance version days hours minutes seconds weeks months ms nights guests adults children"
    " infants passengers people persons bags baggages quantity quantities qty rating stars x y z latitude longitude lat lng"
    " lon confidence percentile precision duration age".split()
)
_COUNTING: Final = frozenset("num number max min maximum minimum total top per nonfree".split())
_CHOICES: Final = frozenset(
    "type kind format mode model models encoding language lang locale currency unit units granularity resolution dimensions"
    " quality sort order_by method category color colour cabin plan tier size version engine region zone timezone tz level"
    " operator op action dtype codec charset voice style theme status interval frequency aspect".split()
)
_CODE: Final = frozenset(
    "code script source program python javascript typescript html css svg xml regex regexp pattern prompt snippet diff patch".split()
)
_NOT_AMOUNTS: Final = frozenset("value unit units limit limits funds growth change".split())
_NAME_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ADDRESS: Final = re.compile(
    r"(?P<url>(?:https?|ftp|wss?|s3|gs)://[^\s<>\"'`|\\^{}]{3,2000})"
    r"|(?P<email>(?<![\w.+%\-])[A-Za-z0-9_][\w.+%\-]{0,63}@(?:[A-Za-z0-9\-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w\-]))"
)
_DIGIT: Final = re.compile(r"\d")
_WORDS_ONLY: Final = 40
"""Characters below which a text without a digit is words."""
_LITERAL_BRACKETS: Final = 50
_NUMERIC: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)
_TOKEN: Final = re.compile(r"\S{2,128}")
_ONE_IDENTIFIER: Final = re.compile(r"[#+]?[^\W_][\w.\-]{1,127}")
_NAMELIKE: Final = re.compile(r"[A-Z]{5,}|\w+(?:[_\-]\w+)+")
_LONG_NUMBER: Final = re.compile(r"\d{4}")
_AFTER_ADDRESS: Final = ".,;:!?)]"
_SETTING_WRITTEN: Final = re.compile(r"[a-z_]+:\d{1,3}")
_WHOLE: Final = frozenset({"date", "time", "datetime", "money", "phone", "uuid", "mac", "hex"})
"""Typed values that count where they are all of a leaf: measures and shares are settings there."""


class ArgumentExtraction(Extraction):
    """The candidates in the arguments of one call, each with the places it stands at.

    ``text`` is the leaves one below the other, for spans and for what arithmetic may find written out.
    """

    def __init__(self, arguments: Json, options: Evidence) -> None:
        self.options = options
        self._found: dict[Hashable, Candidate] = {}
        self._budget = MAX_TOKENS
        self.pieces = self._places = tuple(_leaves(arguments))
        self.text = "\n".join(piece.spelled for piece in self._places)
        self._starts = [piece.start for piece in self._places]
        for piece in self._places:
            if piece.is_key:
                if _LONG_NUMBER.search(piece.spelled):
                    self._label(piece)
            elif isinstance(piece.value, str):
                self._string(piece, piece.value)
            else:
                self._number(piece)

    def paths(self, candidate: Candidate) -> tuple[str, ...]:
        """The arguments that hold a candidate, each once, in order: ``flights[0].date``."""
        places = (self._piece_at(start) for start, _ in candidate.spans)
        return tuple(dict.fromkeys(path_text(piece.path) for piece in places))

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the lists in the arguments, from 2 to 12."""
        longest: dict[tuple[str | int, ...], int] = {}
        for piece in self._places:
            for depth, step in enumerate(piece.path):
                if isinstance(step, int):
                    longest[piece.path[:depth]] = step + 1
        return tuple(dict.fromkeys(length for length in longest.values() if 1 < length <= MAX_LENGTH))

    def is_label(self, candidate: Candidate) -> bool:
        """Whether it is a word of a longer text that is no data where nothing accounts for it (``total_bags:1``)."""
        if candidate.declared or candidate.shape not in ("identifier", "number"):
            return False
        piece = self._piece_at(candidate.spans[0][0])
        if len(piece.spelled.strip()) <= len(candidate.text) + 1:
            return False
        return is_coined(candidate.form) or _SETTING_WRITTEN.fullmatch(candidate.form) is not None

    def _piece_at(self, start: int) -> Piece:
        return self._places[bisect_right(self._starts, start) - 1]

    def _number(self, piece: Piece) -> None:
        """A number, or a text that is one."""
        use = use_of(piece.key)
        if use == "setting" or (use == "choice" and not _is_amount(piece.key)):
            return
        readings = [one for one in typed.of_leaf(piece.key, piece.value) if one.number != 0]
        strong = [one for one in readings if one.kind in _WHOLE and (one.kind != "money" or _is_amount(piece.key))]
        if strong and (use != "identifier" or strong[0].kind == "phone"):
            self._typed_leaf(strong[0], piece)
        elif use == "identifier":
            self._identifier(piece)
        else:
            self._token(
                _whole(piece), piece.spelled, piece.start, piece.key, next(iter(readings), None), from_key=False
            )

    def _string(self, piece: Piece, value: str) -> None:
        stripped = value.strip()
        for shape in self.options.shapes:
            if len(stripped) <= 256 and shape.compiled.fullmatch(stripped):
                start = value.index(stripped)
                self._declare(shape.name, stripped, start, piece.start, piece.key)
                return
        single = _TOKEN.fullmatch(stripped) is not None
        use = use_of(piece.key)
        if use == "code" and single and piece.key is not None and piece.key.lower().endswith("code"):
            use = "identifier"  # a discount's, not a program's
        if use == "code":
            return
        if _NUMERIC.fullmatch(stripped):
            self._number(piece)
            return
        rest = self._addresses(piece, value)
        if rest is not value and not rest.strip():
            return
        if use == "identifier" and rest is value and _ONE_IDENTIFIER.fullmatch(stripped):
            if any("0" <= char <= "9" for char in stripped) or _NAMELIKE.fullmatch(stripped):
                self._identifier(piece)
            return
        whole = [
            one for one in typed.of_leaf(piece.key, value) if one.kind != "number" and one.text.strip() == stripped
        ]
        if whole:
            kept = next((one for one in whole if one.kind in _WHOLE), None)
            if kept is not None and kept.number != 0:
                self._typed_leaf(kept, piece)
            return
        wordy = len(rest) < _WORDS_ONLY and not self.options.shapes and _DIGIT.search(rest) is None
        if not wordy and not (single and use in ("choice", "setting")):
            self._prose(rest if self.options.code_blocks else without_code(rest), piece.start, piece.key)

    def _addresses(self, piece: Piece, value: str) -> str:
        """Take the e-mails and addresses of a text; gives what is left of it, with blanks in their places."""
        if "@" not in value and "://" not in value:
            return value
        rest = value
        for match in _ADDRESS.finditer(value):
            spelled = match.group().rstrip(_AFTER_ADDRESS)
            start, end = match.start(), match.start() + len(spelled)
            shape = str(match.lastgroup)
            spelled_form = fold(spelled).rstrip("/") if shape == "url" else fold(spelled)
            literal = shape == "url" or len(list(tokens(spelled_form))) != 1
            self._add(
                (shape, spelled_form),
                Candidate(spelled, shape, spelled_form, key=piece.key, literal=literal),
                (piece.start + start, piece.start + end),
            )
            rest = rest[:start] + " " * (end - start) + rest[end:]
        return rest

    def _identifier(self, piece: Piece) -> None:
        """An identifier that is all of a leaf: declared by its field, so that it is compared whole, never by its parts."""
        spelled = _whole(piece).form
        if len(spelled) > 1:
            candidate = Candidate(piece.spelled.strip(), "identifier", spelled, key=piece.key, declared=True)
            self._add(("declared", spelled), candidate, (piece.start, piece.end))


def path_text(path: tuple[str | int, ...]) -> str:
    """``("flights", 0, "date")`` as ``flights[0].date``; empty for the arguments as a whole."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@lru_cache(maxsize=4096)
def use_of(key: str | None) -> Use:
    """What a field is for, by its name."""
    words = [word.lower() for word in _NAME_WORDS.findall(key[:80])] if key else []
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    if not words:
        return "plain"
    last = words[-1]
    counts = len(words) > 1 and words[0] in _COUNTING and last not in _IDENTIFIERS and not field_of(last).money
    if last in _SETTINGS or counts:
        return "setting"
    if last in _CODE and (len(words) == 1 or last != "code" or words[-2] in _CODE or words[-2] == "source"):
        return "code"
    if last in _IDENTIFIERS and words != ["number"] and words != ["numbers"]:
        return "identifier"
    return "choice" if last in _CHOICES else "plain"


def _is_amount(key: str | None) -> bool:
    words = _NAME_WORDS.findall(key[:80].lower()) if key else []
    return bool(words) and words[-1] not in _NOT_AMOUNTS and field_of(key or "").money


def _whole(piece: Piece) -> Token:
    return Token(0, len(piece.spelled), form(fold(piece.spelled.strip().lstrip("#+"))))


def _leaves(arguments: Json) -> Iterator[Piece]:
    """The leaves and inner keys in order, each placed below the one before it."""
    at = count = 0
    stack: list[tuple[tuple[str | int, ...], str | None, Json, bool]] = [((), None, arguments, False)]
    while stack and count < MAX_LEAVES and at < MAX_CHARS:
        path, key, value, is_key = stack.pop()
        if isinstance(value, str) and not is_key:
            value = _nested(value)
        if isinstance(value, dict):
            for name, inner in reversed(list(value.items())[:MAX_LEAVES]):
                stack.append(((*path, name), name, inner, False))
                if path:
                    stack.append(((*path, name), None, name, True))
        elif isinstance(value, list):
            for place in range(min(len(value), MAX_LEAVES) - 1, -1, -1):
                stack.append(((*path, place), key, value[place], False))
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            spelled = (value if isinstance(value, str) else str(value))[: MAX_CHARS - at]
            yield Piece(at, at + len(spelled), key, spelled if isinstance(value, str) else value, spelled, is_key, path)
            at += len(spelled) + 1
            count += 1


def _nested(text: str) -> Json:
    """The object or list that a text prints (``"['3799046073']"``), as JSON or as a Python literal; else the text."""
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]") or len(text) > MAX_NESTED:
        return text
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        if text.count("[") + text.count("{") > _LITERAL_BRACKETS:
            return text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return text
    return found if isinstance(found, (dict, list)) and _is_plain(found) else text


def _is_plain(value: object) -> bool:
    """Whether a literal holds only what JSON can."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(inner) for name, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float))
