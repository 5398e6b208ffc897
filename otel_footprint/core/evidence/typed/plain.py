"""Bring text to a plain form of the same length, so that spans found in it are spans of the text.

Rules
-----
- Every replacement is as long as what it replaces. Blanks that only decorate become no-break spaces (``PAD``): readers
  skip them, but only one alone between digits groups thousands.
- Digits of any script, dashes, minus signs, quotes, full-width signs and odd spaces become their ASCII form.
- ``**`` of markdown, inline HTML tags, HTML entities and the LaTeX that surrounds numbers go; block tags end the line.
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
import unicodedata
from typing import Final

PAD: Final = "\u00a0"

_ALIKE: Final[dict[str, str]] = {
    **dict.fromkeys("\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\u200b\u2060\ufeff", PAD),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u2033", '"'),
    "\uff05": "%",
    "\u066a": "%",
    "\uff0c": ",",
    "\u066b": ".",
    "\u066c": ",",
    "\uff0e": ".",
    "\uff1a": ":",
    "\uff0f": "/",
    "\u2044": "/",
    "\uff08": "(",
    "\uff09": ")",
    "\uff04": "$",
    "\uffe5": "\u00a5",
    "\uff0b": "+",
    "\u03bc": "\u00b5",
    "\u2126": "\u03a9",
    "\u2248": "~",
    "\u223c": "~",
}


class _Alike(dict[str, str]):
    """Plain forms of single characters, worked out on first sight."""

    def __missing__(self, char: str) -> str:
        digit = unicodedata.decimal(char, None)
        plain = char if digit is None else str(digit)
        if len(self) < 8192:
            self[char] = plain
        return plain


_PLAIN_OF: Final = _Alike(_ALIKE)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")

_ENTITIES: Final[dict[str, str]] = {
    "nbsp": PAD,
    "thinsp": PAD,
    "ensp": PAD,
    "emsp": PAD,
    "minus": "-",
    "ndash": "-",
    "mdash": "-",
    "deg": "\u00b0",
    "euro": "\u20ac",
    "pound": "\u00a3",
    "yen": "\u00a5",
    "cent": "\u00a2",
    "dollar": "$",
    "percnt": "%",
    "times": "\u00d7",
    "micro": "\u00b5",
    "plus": "+",
}
_ENTITY: Final = re.compile(r"&(?:([a-z]{3,6})|#([0-9]{2,6})|#[xX]([0-9a-fA-F]{2,5}));")
_TAG: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9]{0,9})(?:\s[^<>]{0,200})?/?>")
_INLINE: Final = frozenset(
    "a abbr b big code em font i ins kbd mark q s small span strong sub sup tt u var time data".split()
)
_LATEX: Final = re.compile(
    r"\\(?:(?P<sign>[$%&#_])"
    r"|(?P<blank>[,;:! ]|quad|qquad|text|textbf|textit|mathrm|mathbf|mathit|mbox|operatorname|left|right|displaystyle)(?![A-Za-z])"
    r"|(?P<word>times|cdot|circ|degree|approx|sim|pm|euro|pounds|percent|mu)(?![A-Za-z]))"
)
_LATEX_WORDS: Final[dict[str, str]] = {
    "times": "\u00d7",
    "cdot": "\u00d7",
    "circ": "\u00b0",
    "degree": "\u00b0",
    "approx": "~",
    "sim": "~",
    "pm": "\u00b1",
    "euro": "\u20ac",
    "pounds": "\u00a3",
    "percent": "%",
    "mu": "\u00b5",
}


def plain(text: str) -> str:
    """``text`` with decoration blanked and look-alike characters made one; as long as ``text``."""
    if not text.isascii():
        text = _NOT_ASCII.sub(_char, text)
    if "**" in text:
        text = text.replace("**", PAD + PAD)
    if "&" in text:
        text = _ENTITY.sub(_entity, text)
    if "<" in text:
        text = _TAG.sub(_tag, text)
    if "\\" in text:
        bare = _LATEX.sub(_latex, text)
        if bare != text:
            text = bare.replace("{", PAD).replace("}", PAD).replace("^", PAD)
    return text


def _char(match: re.Match[str]) -> str:
    return _PLAIN_OF[match[0]]


def _right(char: str, match: re.Match[str]) -> str:
    return PAD * (len(match[0]) - 1) + char


def _entity(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        char = _ENTITIES.get(name)
        if char is None:
            return match[0]
        if name in ("ndash", "mdash"):  # a range: the dash must not become the sign of the number behind it
            return PAD + char + PAD * (len(match[0]) - 2)
        return _right(char, match)
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code > 0x10FFFF or code < 32:
        return match[0]
    return _right(_PLAIN_OF[chr(code)], match)


def _tag(match: re.Match[str]) -> str:
    if match[1].lower() in _INLINE:
        return PAD * len(match[0])
    return "\n" + PAD * (len(match[0]) - 1)


def _latex(match: re.Match[str]) -> str:
    if match["sign"]:
        return _right(match["sign"], match)
    if match["word"]:
        return _right(_LATEX_WORDS[match["word"]], match)
    return PAD * len(match[0])
