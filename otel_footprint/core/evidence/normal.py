"""The one normaliser: how text is cut into tokens and how a token is spelled for comparison, the same on both sides.

Rules
-----
- ``fold`` gives text one spelling character by character: lower case, ASCII digits for any script's digits, ``-`` for the
  typographic hyphens and minus signs, a plain space for the thin and no-break ones, nothing for invisible characters that
  only shape text, one small sigma wherever it stands. Everything else here works on folded text.
- A token is a longest run of characters that are no separator. White space, quotes, brackets, markdown decoration, signs
  of currency, ``#``, ``%`` and the long dashes separate; ``: _ - / . @`` do not. A comma separates unless it groups digits by
  three (``98,304``).
- ``form`` is the spelling for comparison: marks at the ends stripped, commas of a number gone, decimals without trailing
  zeros (only while exact: up to 15 digits), ``0x`` gone.
- Everything is decided within the token, so that a token can be found in a text without reading all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

MAX_TOKEN: Final = 256
"""Characters of the longest token that is looked at; a longer run is no value a person reads."""

SEPARATORS: Final = frozenset(
    " \t\n\r\x0b\x0c\x85\u1680\u2028\u2029\u3000"
    + "".join(map(chr, range(32)))
    + "\"'`()[]{}<>*|;=!?^~\\#%&+$"
    + "€£¥₹₽₩¢§°•·…‘’‚‛“”„‟«»‹›、。，；：！？（）【】「」—–→←⇒➜➔×÷≈≤≥≠±"
)
"""Characters of folded text that end a token; a comma may too, see ``groups_digits``."""
_SEPARATORS: Final = "".join(re.escape(char) for char in sorted(SEPARATORS))
_RUN: Final = re.compile(f"[^{_SEPARATORS},]+(?:,[^{_SEPARATORS},]+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL: Final = re.compile(r"\d+\.\d+")
_SCIENTIFIC: Final = re.compile(r"(\d+(?:\.\d+)?)e([+-]?\d{1,3})|(\d+\.\d+)e(\d{1,3})")
_HEX: Final = re.compile(r"0x[0-9a-f]+")
_EDGES: Final = ".:_-/@,"
_EXACT_DIGITS: Final = 15
_PART: Final = 262_144

_FOLDED: Final[dict[str, str]] = {
    **dict.fromkeys("‐‑‒−﹣－", "-"),
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "\x7f"),
    "ς": "σ",  # which of the two a capital becomes depends on what is beside it
}
"""Invisible characters become DEL, which no text holds, so that offsets stay; ``form`` drops it."""
_DIGITS: Final = re.compile(r"[0-9]+")
_NON_ASCII_DIGIT: Final = re.compile(r"[^\D0-9]")


class Token(NamedTuple):
    """One token of folded text: its half-open span there, and its form."""

    start: int
    end: int
    form: str


def fold(text: str) -> str:
    """``text`` in one spelling, character by character: offsets are those of ``text``."""
    if text.isascii():
        return text.lower()
    # In parts, since str.lower() of what is not ASCII takes twelve bytes a character while it works.
    lowered = "".join(text[start : start + _PART].lower() for start in range(0, len(text), _PART))
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    for mark, plain in _FOLDED.items():  # each pass runs at memory speed, which str.translate does not
        if mark in lowered:
            lowered = lowered.replace(mark, plain)
    try:
        lowered.encode("latin-1")
    except UnicodeEncodeError:
        return _NON_ASCII_DIGIT.sub(_ascii_digit, lowered)
    return lowered  # Latin-1 has no other digits


def _ascii_digit(match: re.Match[str]) -> str:
    return str(int(match.group()))


def form(token: str) -> str:
    """The spelling for comparison of one folded token; empty when nothing is left of it."""
    if "\x7f" in token:
        token = token.replace("\x7f", "")
    token = token.strip(_EDGES)
    if not token:
        return ""
    head = token[0]
    if not ("0" <= head <= "9"):
        return token
    if "," in token and _GROUPED.fullmatch(token):
        token = token.replace(",", "")
    if "." in token and _DECIMAL.fullmatch(token):
        if len(token) - 1 <= _EXACT_DIGITS:
            token = token.rstrip("0").rstrip(".")
    elif head == "0" and len(token) > 2 and token[1] == "x" and _HEX.fullmatch(token):
        token = token[2:]
    return token


def pieces(run: str) -> Iterator[tuple[int, int]]:
    """Cut a run that holds commas: half-open spans of its tokens. A comma stays only where it groups digits by three."""
    if "," not in run:
        yield 0, len(run)
        return
    start = 0
    at = run.find(",")
    while at >= 0:
        if not groups_digits(run, at):
            if at > start:
                yield start, at
            start = at + 1
        at = run.find(",", at + 1)
    if start < len(run):
        yield start, len(run)


def groups_digits(text: str, comma: int) -> bool:
    """Whether the comma at that place stands between a digit and exactly three more."""
    if comma == 0 or not text[comma - 1].isdigit():
        return False
    after = text[comma + 1 : comma + 5]
    return len(after) >= 3 and after[:3].isdigit() and not (len(after) == 4 and after[3].isdigit())


def tokens(folded: str, *, with_digits: bool = False) -> Iterator[Token]:
    """The tokens of folded text in order, each with its form; those longer than MAX_TOKEN are passed over.

    ``with_digits`` leaves out those without a digit, cheaply.
    """
    for match in _runs_with_digits(folded) if with_digits else _RUN.finditer(folded):
        run = match.group()
        offset = match.start()
        if "," not in run:
            spelled = form(run)
            if spelled and len(run) <= MAX_TOKEN:
                yield Token(offset, match.end(), spelled)
            continue
        for start, end in pieces(run):
            if end - start > MAX_TOKEN:
                continue
            spelled = form(folded[offset + start : offset + end])
            if spelled:
                yield Token(offset + start, offset + end, spelled)


def _runs_with_digits(folded: str) -> Iterator[re.Match[str]]:
    """The runs of ``_RUN`` that hold a digit, found from their digits."""
    done = 0
    for digits in _DIGITS.finditer(folded):
        at = digits.start()
        if at < done:
            continue
        for match in _RUN.finditer(folded, max(done, folded.rfind(" ", done, at) + 1)):  # a run begins behind a space
            done = match.end()
            if done > at:
                yield match
                break


def scientific(spelled: str) -> str | None:
    """The form of the exact decimal that a form in scientific notation states; None for any other form."""
    match = _SCIENTIFIC.fullmatch(spelled)
    if match is None or ("." not in spelled and "e-" not in spelled and "e+" not in spelled):
        return None
    try:
        number = Decimal(spelled)
    except InvalidOperation:  # pragma: no cover - the pattern admits only numbers
        return None
    if abs(number.adjusted()) > 30:
        return None
    return form(format(number, "f"))


def forms_of(token: str, *, rounding: bool) -> Iterator[str]:
    """All forms one carried token answers to: its own, the parts a comma joined, the value after ``key:``, its decimal."""
    whole = form(token)
    if not whole:
        return
    yield whole
    if "," in token:
        for part in token.split(","):
            spelled = form(part)
            if spelled:
                yield spelled
    if ":" in whole:
        key, _, value = whole.partition(":")
        if key.replace("_", "").isalpha():
            yield from forms_of(value, rounding=rounding)
    if rounding:
        exact = scientific(whole)
        if exact is not None:
            yield exact
