"""The steps that a request of Google's interactions API can be made of, as messages of the conventions.

The instrumentation makes one user message of them all and leaves out what the person and the model said in earlier steps
(an application that keeps the history itself sends it so); the person's words are needed to judge an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

_SAID: Final = {"user_input": "user", "model_output": "assistant"}


def steps_as_messages(request_input: Any, to_part: Callable[[Any], Any]) -> list[Mapping[str, Any]] | None:
    """One message for each step, in order, as mappings; None where the input is not made of such steps.

    ``to_part`` converts a tool step as the instrumentation does, and gives None for what it does not know.
    """
    if isinstance(request_input, (str, bytes, Mapping)) or not isinstance(request_input, Sequence):
        return None
    if not any(_get(item, "type") in _SAID for item in request_input):
        return None
    return [message for item in request_input for message in _messages(item, to_part)]


def _messages(item: Any, to_part: Callable[[Any], Any]) -> Iterator[Mapping[str, Any]]:
    kind = _get(item, "type")
    if kind in _SAID:
        yield {"role": _SAID[kind], "parts": list(_contents(_get(item, "content")))}
    elif kind == "text" or isinstance(item, str):
        yield {"role": "user", "parts": list(_contents(item))}
    else:
        part = to_part(item)
        if part is not None:
            yield {"role": "tool" if kind == "function_result" else "assistant", "parts": [part]}


def _contents(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "content": content}
    elif isinstance(content, Sequence) and not isinstance(content, bytes):
        for item in content:
            yield from _contents(item)
    elif _get(content, "type") == "text":
        text = _get(content, "text")
        if isinstance(text, str):
            yield {"type": "text", "content": text}
    elif content is not None:
        yield {"type": "blob", "modality": str(_get(content, "type") or "")}


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
