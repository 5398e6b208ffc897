"""The reserved argument as the model is offered it: its schema on each tool, and the instruction that explains it.

Rules
-----
- It is optional: never added to ``required``; ``additionalProperties`` is left as it is. The schema handed in is not
  changed: what differs is copied.
- A tool that has a property of that name keeps it. A strict schema is left alone, since the provider would refuse a
  property that is not required. Either is said by name.
- The ids the model may name are results without a standing, and those that are a fact or open, newest first, at most
  ``OFFERED_LIMIT``; that some were left out is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from otel_footprint.core.findings.peeling import RESERVED
from otel_footprint.core.findings.rows import BASES, EXPECTATIONS
from otel_footprint.core.findings.standing import CLOSED, STANDINGS, Standing

OFFERED_LIMIT: Final = 32

Undecorated: TypeAlias = Literal["strict", "owned", "no-object", "no-schema"]
"""Why a tool is left alone: its schema is strict, has a property of that name, takes no object, or is not in the request."""

INSTRUCTION_BEGINS: Final = f"A tool whose parameters list `{RESERVED}` takes it as an optional argument, in which you say what you make of results; "
_OF_CALLS: Final = (
    "leave it out for any other tool. `basis`: 'direct' when "
    "you call because a result told you to, 'exploratory' when you are looking around. `previous`: for each earlier result "
    "that you can judge now, its `toolCallId` and a `standing`: 'fact' (you rely on it), 'open' (not settled), 'noise' (of no "
    "use here) or 'ruled-out' (shown to be wrong or not to apply). With a fact give the values you rely on as `assertions`. "
    "Say nothing about a result that you cannot judge. "
)
_OF_ANSWERS: Final = f"When your answer as a whole is a JSON object you may put `{RESERVED}` into it as well. "
_ENDS: Final = "It is taken out before anyone else reads it."

INSTRUCTION: Final = INSTRUCTION_BEGINS + _OF_CALLS + _OF_ANSWERS + _ENDS
INSTRUCTION_OF_CALLS: Final = INSTRUCTION_BEGINS + _OF_CALLS + _ENDS
"""Where the answer has to have a form of the application's: nothing is said of putting anything into it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The results the model may name, newest first; ``omitted`` were left out."""

    ids: tuple[str, ...]
    omitted: int = 0


def offer_of(refs: Sequence[str], standing_of: Callable[[str], Standing | None]) -> Offer:
    """What may be named, of the results served in the order they came."""
    offered = [ref for ref in reversed(refs) if standing_of(ref) not in CLOSED]
    return Offer(tuple(offered[:OFFERED_LIMIT]), max(0, len(offered) - OFFERED_LIMIT))


def reserved_schema(offer: Offer) -> dict[str, Any]:
    """The JSON schema of the reserved argument."""
    tool_call_id: dict[str, Any] = {"type": "string", "description": "The id of the tool call whose result it is."}
    if offer.ids:
        tool_call_id["enum"] = list(offer.ids)
        if offer.omitted:
            tool_call_id["description"] += f" {offer.omitted} older results are not listed."
    line = {"type": "string", "description": "One line."}
    entry: dict[str, Any] = {
        "type": "object",
        "properties": {
            "toolCallId": tool_call_id,
            "standing": {"type": "string", "enum": list(STANDINGS)},
            "sought": line,
            "assertions": {"type": "array", "items": _ASSERTION},
            "settles": line,
            "line": line,
        },
        "required": ["toolCallId", "standing"],
    }
    properties: dict[str, Any] = {
        "basis": {"type": "string", "enum": list(BASES)},
        "expect": {"type": "string", "enum": list(EXPECTATIONS)},
        "proposition": line,
        "predicts": line,
    }
    if offer.ids:
        properties["previous"] = {"type": "array", "items": entry}
    return {
        "type": "object",
        "description": "Optional. What you make of this call and of earlier results.",
        "properties": properties,
        "required": ["basis"],
    }


_ASSERTION: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "subject": {
            "type": "object",
            "properties": {"kind": {"type": "string"}, "id": {"type": "string"}},
            "required": ["kind", "id"],
        },
        "predicate": {"type": "string"},
        "value": {"type": ["string", "number", "boolean", "null"]},
    },
    "required": ["subject", "predicate", "value"],
}


def decorate(
    schema: Mapping[str, Any] | None, reserved: Mapping[str, Any], *, strict: bool
) -> dict[str, Any] | Undecorated:
    """A copy of a tool's parameters with the reserved argument, or why the tool is left alone.

    ``schema`` None is a tool without parameters.
    """
    if strict:
        return "strict"
    if schema is None:
        return {"type": "object", "properties": {RESERVED: reserved}}
    kind = schema.get("type", "object")
    properties = schema.get("properties", {})
    if (isinstance(kind, str) and kind.lower() != "object") or not isinstance(properties, Mapping):
        return "no-object"
    if RESERVED in properties:
        return "owned"
    return {**schema, "properties": {**properties, RESERVED: reserved}}


def owners(tools: Iterable[tuple[str, Mapping[str, Any] | None]]) -> frozenset[str]:
    """The names of tools that have a property of the reserved name themselves: theirs is not taken out."""
    return frozenset(
        name
        for name, schema in tools
        if schema is not None and isinstance(properties := schema.get("properties"), Mapping) and RESERVED in properties
    )
