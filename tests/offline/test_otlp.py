"""OTLP JSON in every spelling as plain spans."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_cases import ANY, TRACE, request

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.offline import otlp


def test_other_spellings_of_otlp() -> None:
    raw = {
        "resource_spans": [
            {
                "instrumentationLibrarySpans": [
                    {
                        "spans": [
                            {
                                "trace_id": base64.b64encode(bytes.fromhex(TRACE)).decode(),
                                "span_id": base64.b64encode(bytes(range(8))).decode(),
                                "parent_span_id": "",
                                "name": "x",
                                "start_time_unix_nano": 5,
                                "status": {"code": "STATUS_CODE_ERROR"},
                                "attributes": [
                                    {"key": "a", "value": {"int_value": 3}},
                                    {"key": "b", "value": {"array_value": {}}},
                                ],
                                "events": [{"name": "e", "time_unix_nano": "7"}],
                            }
                        ]
                    }
                ]
            }
        ]
    }
    (found,) = otlp.read(raw).spans
    assert (found.trace_id, found.span_id, found.parent_id) == (TRACE, "0001020304050607", None)
    assert (found.start_ns, found.error) == (5, True)
    assert found.attributes == {"a": 3, "b": []}
    assert found.events[0].time_ns == 7


@pytest.mark.parametrize(
    "raw",
    [
        {},
        [],
        None,
        {"resourceSpans": 3},
        {"resourceSpans": [3]},
        {"resourceSpans": [{"scopeSpans": {}}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [[]]}]}]},
        {"resourceSpans": [{"resource": [1]}]},
    ],
)
def test_what_is_no_export_is_refused(raw: object) -> None:
    with pytest.raises(UnreadableInputError):
        otlp.read(raw)


@given(
    st.dictionaries(
        st.sampled_from(["traceId", "spanId", "attributes", "events", "links", "status", "startTimeUnixNano"]), ANY
    )
)
def test_wrong_types_are_read_or_refused(raw: dict[str, Any]) -> None:
    try:
        export = otlp.read(request(raw))
    except UnreadableInputError:
        return
    assert len(export.spans) == 1
