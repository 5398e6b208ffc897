"""Feeding a thread's evidence from its window: what was said, called, returned; only ever what is new.

Rules
-----
- Said, and exempt for life: text of the system envelope, of system and user messages, and what stands beside tool results.
  Not: what the library wrote, nor a summary a model wrote.
- A system envelope that changed is said anew line by line: only the lines it did not have before.
- Arguments and results go in with the turn they came in and under the name the result has in the history.
- A result is an error where its part says so or the request marks its id.
- What the provider keeps from us makes a message unreadable: media, files, encrypted results, an opaque compaction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from otel_footprint.core.call import CallRef
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.findings.ledger import At
from otel_footprint.core.messages import (
    Compaction,
    Json,
    Message,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.core.thread import Slot, Thread

_NOT_SAID: Final = frozenset({"notice", "correction", "summary"})
_MEDIA: Final = frozenset(
    {
        "image",
        "image_url",
        "input_image",
        "audio",
        "input_audio",
        "video",
        "document",
        "file",
        "input_file",
        "blob",
        "uri",
    }
)
_ENCRYPTED: Final = frozenset({"encrypted_content", "encrypted_stdout"})
_DEPTH: Final = 3


def feed(
    thread: Thread,
    slot: Slot,
    *,
    served: CallRef | None,
    errors: Collection[str],
    said: bool = True,
    refs: tuple[str, ...] = (),
    again: bool = False,
) -> None:
    """Take a message in that is new in the window; ``again``: a rewritten one, whose results keep the names ``refs``."""
    message = slot.message
    slot.fed = True
    if message.role in ("user", "system", "tool") and said and message.authored not in _NOT_SAID:
        text = message.text
        if text:
            thread.corpus.say(text)
    if message.role in ("assistant", "tool"):
        _take_results(thread, slot, served, errors, refs, again)
    slot.unreadable = unreadable(message)


def _take_results(
    thread: Thread,
    slot: Slot,
    served: CallRef | None,
    errors: Collection[str],
    refs: tuple[str, ...],
    again: bool,
) -> None:
    names, corpus = thread.names, thread.corpus
    known = list(reversed(refs))
    taken: list[str] = []
    begun = False
    for part in slot.message.parts:
        match part:
            case ToolCall(id=call_id, name=name) | ServerToolCall(id=call_id, name=name):
                if again and (not call_id or names.knows(call_id)):
                    continue  # the arguments as the model gave them are known, whatever is left of them
                if not begun:
                    names.new_message()
                    begun = True
                ref = names.call(call_id, name)
                call = part if isinstance(part, ToolCall) else ToolCall(call_id, name, part.arguments)
                corpus.call(call, ref=ref, turn=slot.turn)
                if thread.track is not None:
                    thread.track.called(call, ref, At(slot.turn, thread.iteration))
            case ToolResult() | ServerToolResult():
                result = part
                if isinstance(result, ToolResult) and not result.is_error and result.id in errors:
                    result = replace(result, is_error=True)
                if known:
                    ref, tool = known.pop(), result.name or slot.tool
                else:
                    ref, tool = names.result(result)
                taken.append(ref)
                slot.tool = tool
                corpus.result(result, ref=ref, tool=tool, turn=slot.turn, served=served)
                if thread.track is not None:
                    is_error = isinstance(result, ToolResult) and result.is_error
                    thread.track.served(ref, tool, result.content, At(slot.turn, thread.iteration), is_error=is_error)
            case Text() | Reasoning() | Compaction() | Opaque():
                pass
            case _:
                assert_never(part)
    slot.refs = tuple(taken)


def say_system(thread: Thread, system: tuple[Message, ...], *, summary: bool) -> None:
    """Take a system envelope in, as far as it is not the one the thread has. ``summary``: what it adds is one."""
    before = thread.system
    if len(before) == len(system) and all(a is b or a.key == b.key for a, b in zip(before, system, strict=True)):
        return
    if not summary:
        known = {line for message in before for line in message.text.splitlines()}
        for message in system:
            new = [line for line in message.text.splitlines() if line not in known]
            if new and message.authored not in _NOT_SAID:
                thread.corpus.say("\n".join(new))
    thread.system = system
    thread.system_unreadable = any(unreadable(message) for message in system)


def unreadable(message: Message) -> bool:
    """Whether the message holds something the model read and we cannot."""
    for part in message.parts:
        match part:
            case Opaque():
                return True
            case Compaction(text=None) | ServerToolResult(content=None):
                return True
            case ToolResult(content=content) | ServerToolResult(content=content):
                if not isinstance(content, str) and _holds_unreadable(content, _DEPTH):
                    return True
            case _:
                pass
    return False


def _holds_unreadable(content: Json, depth: int) -> bool:
    if isinstance(content, list):
        return depth > 0 and any(_holds_unreadable(item, depth - 1) for item in content)
    if not isinstance(content, dict):
        return False
    if any(content.get(key) for key in _ENCRYPTED):
        return True
    kind = content.get("type")
    if isinstance(kind, str) and kind in _MEDIA:
        source = content.get("source")
        return not (isinstance(source, dict) and source.get("type") == "text")
    return depth > 0 and any(
        _holds_unreadable(value, depth - 1) for value in content.values() if isinstance(value, (list, dict))
    )
