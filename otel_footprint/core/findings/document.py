"""Rows as JSON and back. What is read back is checked field by field; anything else is refused by name.

Rules
-----
- A row is an object with its ``kind`` and its fields, those that are at their default left out.
- An unknown kind is refused: an older reader must not fold a newer ledger. So is a field it does not know, a missing one,
  and one of another type. Numbers that count are whole and not negative.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.findings.rows import Row
from otel_footprint.core.messages import Json

ROW_TYPES: Final[Mapping[str, type[Any]]] = {
    cls.__dataclass_fields__["kind"].default: cls for cls in typing.get_args(Row)
}


def row_to_json(row: Row) -> dict[str, Json]:
    """The row as a JSON object."""
    return {"kind": row.kind, **_to_json(row)}


def row_from_json(value: Json, place: str = "row") -> Row:
    """The row that an object is. Raises ConfigurationError that names ``place``, the field, and what is wrong with it."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place} is {_kind(value)}; a row is an object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in ROW_TYPES:
        raise ConfigurationError(f"{place} is of the unknown kind {str(kind)[:40]!r}; known are {', '.join(ROW_TYPES)}")
    fields = {key: item for key, item in value.items() if key != "kind"}
    row: Row = _build(ROW_TYPES[kind], fields, f"{place} ({kind})")
    return row


def is_well_formed(value: Json) -> bool:
    """Whether a value read from storage is a row that this version could have written."""
    try:
        row_from_json(value)
    except ConfigurationError:
        return False
    return True


def _to_json(value: Any) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if not _is_tag(field) and item != field.default:
            found[field.name] = _item(item)
    return found


def _item(item: Any) -> Json:
    if isinstance(item, tuple):
        return [_item(one) for one in item]
    if dataclasses.is_dataclass(item):
        return _to_json(item)
    plain: Json = item
    return plain


def _is_tag(field: dataclasses.Field[Any]) -> bool:
    """Whether the field is the row's kind, which its type says; an assertion's kind is a field like others."""
    return field.name == "kind" and field.default is not dataclasses.MISSING


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _build(cls: type[Any], given: Mapping[str, Any], place: str) -> Any:
    hints = _hints(typing.cast("Hashable", cls))
    known = {field.name: field for field in dataclasses.fields(cls) if not _is_tag(field)}
    for name in given:
        if name not in known:
            raise ConfigurationError(f"{place} has the unknown field {name[:40]!r}")
    arguments: dict[str, Any] = {}
    for name, field in known.items():
        if name in given:
            arguments[name] = _checked(hints[name], given[name], f"{place} {name}")
        elif field.default is dataclasses.MISSING:
            raise ConfigurationError(f"{place} lacks the field {name!r}")
    return cls(**arguments)


def _checked(hint: Any, given: Any, place: str) -> Any:
    """The value, when it has the type the field declares."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        if isinstance(given, str) and given in typing.get_args(hint):
            return given
        raise ConfigurationError(f"{place} is {str(given)[:40]!r}; it is one of {', '.join(typing.get_args(hint))}")
    if origin is tuple:
        if not isinstance(given, list):
            raise ConfigurationError(f"{place} is {_kind(given)}; it is a list")
        inner = typing.get_args(hint)[0]
        return tuple(_checked(inner, item, f"{place}[{index}]") for index, item in enumerate(given))
    if origin in (types.UnionType, typing.Union):
        return _one_of(typing.get_args(hint), given, place)
    if dataclasses.is_dataclass(hint):
        if not isinstance(given, dict):
            raise ConfigurationError(f"{place} is {_kind(given)}; it is an object")
        return _build(typing.cast("type[Any]", hint), given, place)
    if _is_plain(hint, given):
        return given
    raise ConfigurationError(f"{place} is {_kind(given)}; it is {_WORDS.get(hint, hint)}")


def _one_of(hints: tuple[Any, ...], given: Any, place: str) -> Any:
    plain = [hint for hint in hints if isinstance(hint, type)]
    if any(_is_plain(hint, given, counts=False) for hint in plain):  # an exit code may be negative
        return given
    rest = [hint for hint in hints if not isinstance(hint, type)]
    if len(rest) == 1 and given is not None:
        return _checked(rest[0], given, place)
    raise ConfigurationError(f"{place} is {_kind(given)}, which it cannot be")


_WORDS: Final[Mapping[Any, str]] = {int: "a whole number from 0", str: "a text", bool: "true or false"}


def _is_plain(hint: Any, given: Any, *, counts: bool = True) -> bool:
    if hint is int:
        return isinstance(given, int) and not isinstance(given, bool) and (given >= 0 or not counts)
    if hint is float:
        return isinstance(given, (int, float)) and not isinstance(given, bool) and given == given
    return isinstance(hint, type) and type(given) is hint


def _kind(value: Any) -> str:
    return {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}.get(
        type(value), "a number"
    )
