"""The application's values as mappings: SDK objects, TypedDicts and "not given" alike.

Rules
-----
- A mapping is read as it is; an object of an SDK is read through a dump of it, and stays what goes on the wire.
- No SDK is imported: what an SDK's values are is told by what they offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

_ABSENT: Final = frozenset({"Omit", "NotGiven", "NOT_GIVEN"})


def given(value: object) -> bool:
    """Whether an argument says anything: not None, and none of the SDKs' words for "not given"."""
    return value is not None and type(value).__name__ not in _ABSENT


def value_of(kwargs: Mapping[str, Any], name: str) -> Any:
    """An argument, None where it is not given."""
    value = kwargs.get(name)
    return value if given(value) else None


def word_of(kwargs: Mapping[str, Any], name: str) -> str | None:
    """An argument that is a string, such as the model's name; None for any other."""
    value = kwargs.get(name)
    return value if isinstance(value, str) else None


def extra_body(kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the SDKs of OpenAI and Anthropic lay over the body that they make of the other arguments; empty for none."""
    body = value_of(kwargs, "extra_body")
    return body if isinstance(body, Mapping) else {}


def settled(kwargs: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The arguments with those of ``names`` that can be read only once made lists.

    An exception raised by such an iterable is the application's own and passes.
    """
    copy = dict(kwargs)
    for name in names:
        value = copy.get(name)
        if isinstance(value, Iterator) or (
            isinstance(value, Iterable)
            and not isinstance(value, (Sequence, Mapping))
            and not hasattr(value, "model_dump")
        ):
            copy[name] = list(value)
    return copy


def plain(value: object) -> object:
    """An item as a mapping where it is one or can be dumped as one; else the value itself. Never changes it."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped: object = dump(exclude_none=True, warnings=False)
        return dumped
    dump = getattr(value, "dict", None)  # pydantic 1
    if callable(dump) and hasattr(value, "__fields__"):
        older: object = dump(exclude_none=True)
        return older
    return value


def plains(values: Iterable[object]) -> list[object]:
    """Every item as a mapping where it can be."""
    return [plain(value) for value in values]


def names_of(tools: object, *nested: str) -> tuple[str, ...] | None:
    """The names of tool definitions, in order; None where one of them has a form we do not know.

    ``nested``: keys under which a definition may hold the mapping that has the name. A tool of the provider's own that has
    no name goes by its type.
    """
    if not given(tools):
        return ()
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        return None
    names: list[str] = []
    for tool in tools:
        definition = plain(tool)
        if not isinstance(definition, Mapping):
            return None
        body = next((definition[key] for key in nested if isinstance(definition.get(key), Mapping)), definition)
        name = body.get("name") or definition.get("type")
        if not isinstance(name, str):
            return None
        names.append(name)
    return tuple(names)
