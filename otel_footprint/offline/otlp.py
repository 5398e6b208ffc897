"""OTLP JSON (as OpenTelemetry file exporters and the Collector write it) as plain spans and log records.

Rules
-----
- Lenient in spelling: lowerCamelCase and snake_case keys, hex and base64 ids, integers as strings or numbers, enums as
  numbers or names. What is not there is empty; nothing of OpenTelemetry is imported.
- Strict in shape: an object that is no export request at all, or whose parts have the wrong type, is unreadable.
- Attribute values become JSON values; bytes stay base64 text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Json


@dataclass(frozen=True, slots=True)
class Event:
    """A span event. ``time_ns`` is Unix nanoseconds, 0 when not given."""

    name: str
    time_ns: int
    attributes: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Link:
    """A span link; ids are lower-case hex."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A finished span. Ids are lower-case hex; times are Unix nanoseconds; ``error`` is whether its status says so."""

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, Json] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    links: tuple[Link, ...] = ()
    error: bool = False
    scope: str = ""
    resource: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log record; ``name`` is its event name, also where an older version put it into an attribute."""

    name: str
    time_ns: int
    trace_id: str
    span_id: str
    attributes: Mapping[str, Json]
    body: Json
    resource: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Export:
    """What one export request holds. Metrics are left out: no judgement needs them."""

    spans: tuple[Span, ...]
    logs: tuple[Log, ...]


_SPANS: Final = ("resourceSpans", "resource_spans")
_LOGS: Final = ("resourceLogs", "resource_logs")
_METRICS: Final = ("resourceMetrics", "resource_metrics")


def is_export(value: object) -> bool:
    """Whether an object is an export request of traces, logs or metrics."""
    return isinstance(value, Mapping) and any(key in value for key in (*_SPANS, *_LOGS, *_METRICS))


def read(payload: object) -> Export:
    """One decoded export request.

    Raises :class:`UnreadableInputError` when it has another shape.
    """
    if not is_export(payload):
        raise UnreadableInputError("not an OTLP export request (no resourceSpans, resourceLogs or resourceMetrics)")
    request = _object(payload, "the request")
    spans = [_span(raw, scope, resource) for raw, scope, resource in _walk(request, _SPANS, "scopeSpans", "spans")]
    logs = [_log(raw, resource) for raw, _, resource in _walk(request, _LOGS, "scopeLogs", "logRecords")]
    return Export(tuple(spans), tuple(logs))


def _walk(
    request: Mapping[str, object], keys: tuple[str, ...], scopes: str, leaves: str
) -> Iterator[tuple[Mapping[str, object], str, Mapping[str, Json]]]:
    for key in keys:
        for entry in _list(request.get(key), key):
            group = _object(entry, key)
            resource = _attributes(_object(group.get("resource") or {}, "resource").get("attributes"))
            inner = _get(group, scopes)
            if inner is None:  # before 2022 the scope was called a library
                inner = _get(group, scopes.replace("scope", "instrumentationLibrary"))
            for scope_entry in _list(inner, scopes):
                scoped = _object(scope_entry, scopes)
                scope = _object(scoped.get("scope") or {}, "scope").get("name")
                for leaf in _list(_get(scoped, leaves), leaves):
                    yield _object(leaf, leaves), scope if isinstance(scope, str) else "", resource


def _span(raw: Mapping[str, object], scope: str, resource: Mapping[str, Json]) -> Span:
    status = _object(raw.get("status") or {}, "status").get("code")
    return Span(
        trace_id=_identity(_get(raw, "traceId"), 16),
        span_id=_identity(_get(raw, "spanId"), 8),
        parent_id=_identity(_get(raw, "parentSpanId"), 8) or None,
        name=_text(raw.get("name")),
        start_ns=_integer(_get(raw, "startTimeUnixNano")),
        end_ns=_integer(_get(raw, "endTimeUnixNano")),
        attributes=_attributes(raw.get("attributes")),
        events=tuple(_event(_object(event, "events")) for event in _list(raw.get("events"), "events")),
        links=tuple(_link(_object(link, "links")) for link in _list(raw.get("links"), "links")),
        error=status in (2, "2", "STATUS_CODE_ERROR"),
        scope=scope,
        resource=resource,
    )


def _event(raw: Mapping[str, object]) -> Event:
    return Event(_text(raw.get("name")), _integer(_get(raw, "timeUnixNano")), _attributes(raw.get("attributes")))


def _link(raw: Mapping[str, object]) -> Link:
    return Link(
        _identity(_get(raw, "traceId"), 16), _identity(_get(raw, "spanId"), 8), _attributes(raw.get("attributes"))
    )


def _log(raw: Mapping[str, object], resource: Mapping[str, Json]) -> Log:
    attributes = _attributes(raw.get("attributes"))
    name = _get(raw, "eventName") or attributes.get("event.name")
    return Log(
        name=_text(name),
        time_ns=_integer(_get(raw, "timeUnixNano")) or _integer(_get(raw, "observedTimeUnixNano")),
        trace_id=_identity(_get(raw, "traceId"), 16),
        span_id=_identity(_get(raw, "spanId"), 8),
        attributes=attributes,
        body=_value(raw.get("body")),
        resource=resource,
    )


def _attributes(raw: object) -> dict[str, Json]:
    if isinstance(raw, Mapping):  # some tools write a plain object
        return {str(key): value for key, value in raw.items()}
    found: dict[str, Json] = {}
    for entry in _list(raw, "attributes"):
        pair = _object(entry, "attributes")
        key = pair.get("key")
        if isinstance(key, str):
            found[key] = _value(pair.get("value"))
    return found


_MAX_DEPTH: Final = 64


def _value(raw: object, depth: int = 0) -> Json:
    """An AnyValue as a JSON value; a bare scalar is taken as it is."""
    if depth > _MAX_DEPTH:
        raise UnreadableInputError(f"an attribute value is nested deeper than {_MAX_DEPTH} levels")
    if raw is None or isinstance(raw, (str, bool, int, float)):
        return raw
    if not isinstance(raw, Mapping):
        raise UnreadableInputError("an attribute value is a list, not an AnyValue")
    for key, value in raw.items():
        match key:
            case "stringValue" | "string_value" | "bytesValue" | "bytes_value":
                return _text(value)
            case "boolValue" | "bool_value":
                return bool(value)
            case "intValue" | "int_value":
                return _integer(value)
            case "doubleValue" | "double_value":
                return _number(value)
            case "arrayValue" | "array_value":
                values = _object(value or {}, "arrayValue").get("values")
                return [_value(item, depth + 1) for item in _list(values, "values")]
            case "kvlistValue" | "kvlist_value":
                pairs = _list(_object(value or {}, "kvlistValue").get("values"), "values")
                entries = [_object(pair, "values") for pair in pairs]
                return {_text(entry.get("key")): _value(entry.get("value"), depth + 1) for entry in entries}
    return None


def _get(raw: Mapping[str, object], key: str) -> object:
    """The value under the lowerCamelCase key or its snake_case spelling."""
    if key in raw:
        return raw[key]
    return raw.get("".join(f"_{char.lower()}" if char.isupper() else char for char in key))


def _object(value: object, what: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise UnreadableInputError(f"{what} of the OTLP request is not an object")


def _list(value: object, what: str) -> list[object]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise UnreadableInputError(f"{what} of the OTLP request is not a list")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _integer(value: object) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isascii() and value.lstrip("-").isdecimal():
        return int(value)
    if isinstance(value, float) and value == value and abs(value) < 2**63:
        return int(value)
    return 0


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, (int, float, str)) else 0.0  # "NaN" is a word of the format
    except (ValueError, OverflowError):
        return 0.0


def _identity(value: object, size: int) -> str:
    """An id of ``size`` bytes as lower-case hex; empty when absent or all zero."""
    if not isinstance(value, str) or not value:
        return ""
    if len(value) == 2 * size:
        identity = value.lower()
    else:
        try:
            identity = base64.b64decode(value, validate=True).hex()
        except (binascii.Error, ValueError):
            return value[: 2 * size]
    return "" if not identity.strip("0") else identity
