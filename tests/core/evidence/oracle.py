"""The straightforward index: read a result whole, file every form of every key and leaf, look candidates up in a set.

It shares the normaliser with the product (there is only one) and nothing else: the JSON is parsed, walked and cut into
tokens leaf by leaf, where the product searches the raw text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from otel_footprint.core.evidence.normal import fold, forms_of, tokens


class Spelled(str):
    """A JSON number or literal as it was written."""


_DECODER = json.JSONDecoder(parse_float=Spelled, parse_int=Spelled, parse_constant=Spelled)


def index(content: str) -> set[str]:
    """Every form the result carries."""
    forms: set[str] = set()
    values, tail = leading(content)
    for value in values:
        for leaf in leaves(value):
            forms |= forms_of_text(leaf)
    return forms | forms_of_text(tail)


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
        except ValueError:
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
