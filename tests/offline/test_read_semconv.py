"""Messages of the GenAI conventions as core messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Compaction,
    Message,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.offline import semconv


def test_parts_of_every_kind() -> None:
    (native,) = semconv.read(
        [
            {
                "role": "assistant",
                "parts": [
                    {"type": "reasoning", "content": "hm"},
                    {"type": "text", "content": "Looking."},
                    {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
                    {"type": "server_tool_call", "id": "s", "name": "web", "server_tool_call": {"q": "x"}},
                    {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": {"r": 1}},
                    {"type": "compaction", "content": "before"},
                    {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"},
                    {"type": "uri", "uri": "https://x"},
                    {"type": "new_kind"},
                ],
            }
        ]
    )
    assert native.message.parts == (
        Reasoning("hm"),
        Text("Looking."),
        ToolCall("c1", "f", {"a": 1}),
        ServerToolCall("s", "web", {"q": "x"}),
        ServerToolResult("s", None, {"r": 1}),
        Compaction("before"),
        Opaque("image"),
        Opaque("uri"),
        Opaque("unknown"),
    )


@pytest.mark.parametrize("role", ["tool", "user"])
@pytest.mark.parametrize("key", ["response", "result"])
def test_results_in_both_spellings(role: str, key: str) -> None:
    natives = semconv.read(
        [
            {
                "role": role,
                "parts": [
                    {"type": "tool_call_response", "id": "a", key: "1"},
                    {"type": "tool_call_response", "id": "b", key: {"x": 2}},
                    {"type": "text", "content": "and?"},
                ],
            }
        ]
    )
    assert [native.at for native in natives] == [0, 0]
    assert natives[0].message.parts == (ToolResult("a", None, "1"),)
    assert natives[1].message.parts == (ToolResult("b", None, {"x": 2}), Text("and?"))


def test_results_as_plain_text_and_printed_roles() -> None:
    tool, person = semconv.read(
        [
            {"role": "tool", "parts": [{"type": "text", "content": "Observation: 42"}]},
            {"role": "MessageRole.USER", "parts": [{"type": "text", "content": "Hi"}]},
        ]
    )
    assert tool.message == Message("tool", (ToolResult(None, None, "Observation: 42"),))
    assert person.message.role == "user"


def test_outputs_and_instructions() -> None:
    (output,) = semconv.read_outputs(
        [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}]
    )
    assert (output.message.text, output.finish_reason) == ("Done.", "stop")
    assert semconv.read_instructions([{"type": "text", "content": "Be brief."}])[0].text == "Be brief."
    assert semconv.read_instructions("Be brief.")[0].role == "system"
    assert semconv.read_instructions(None) == ()


def test_providers_own_messages_in_the_same_place() -> None:
    called, result, blocks = semconv.read(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "42"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "43"}]},
        ]
    )
    assert called.message.tool_calls == (ToolCall("c", "f", {}),)
    assert result.message.result == ToolResult("c", None, "42")
    assert blocks.message.result == ToolResult("d", None, "43")
    outputs = semconv.read_outputs(
        [
            {"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"},
            {"role": "assistant", "content": "Too."},
        ]
    )
    assert [(output.message.text, output.finish_reason) for output in outputs] == [("Done.", "stop"), ("Too.", None)]


def test_what_is_no_message_is_named() -> None:
    with pytest.raises(UnreadableInputError, match="message 0 has a number as its parts"):
        semconv.read([{"role": "user", "parts": 3}])
    with pytest.raises(UnreadableInputError, match="the system instructions are a number"):
        semconv.read_instructions(3)


def test_what_frameworks_really_wrote(shared_data: Path) -> None:
    """Messages as Pydantic AI records them, tool calls and results included."""
    raw = json.loads((shared_data / "langfuse_traces" / "pydantic-ai-tools-2025-12-04.trace.json").read_text())
    found = _lists_of_messages(raw)
    assert found
    parts = {
        type(part).__name__ for messages in found for native in semconv.read(messages) for part in native.message.parts
    }
    assert {"Text", "ToolCall", "ToolResult"} <= parts
    assert "Opaque" not in parts


def _lists_of_messages(value: object) -> list[list[object]]:
    if isinstance(value, str) and value[:1] in "[{":
        try:
            value = json.loads(value)
        except ValueError:
            return []
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and isinstance(item.get("parts"), list) for item in value):
            return [value]
        return [found for item in value for found in _lists_of_messages(item)]
    if isinstance(value, dict):
        return [found for item in value.values() for found in _lists_of_messages(item)]
    return []
