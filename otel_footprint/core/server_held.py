"""Windows that the provider holds: what the model read where a call names a response or a thread of the server.

Rules
-----
- What the model read is the named response's window, its output, and what was sent. The window of an earlier response is the
  beginning of its thread's window for as long as the thread only grew.
- An id we do not know is history we did not see, never a reset: what was sent is added to what we know of the thread.
- The ids of a thread are let go with it, and of one thread only its latest responses may still be named.
"""

from __future__ import annotations

from typing import Final

from otel_footprint.core.call import Call
from otel_footprint.core.messages import Message
from otel_footprint.core.per_call import per_call
from otel_footprint.core.state.values import SavedResponse, SavedThread
from otel_footprint.core.thread import Thread

_RESPONSES_LIMIT: Final = 64
"""How many responses of one thread may still be named as the previous one."""


@per_call(frozen=True, slots=True)
class _Held:
    """Where in a thread a response stands: its window is the first ``sent`` messages, while ``epoch`` is the thread's.

    ``unseen`` says whether the provider held more of that window than we knew.
    """

    thread: Thread
    epoch: int
    sent: int
    output: Message
    unseen: bool


@per_call(frozen=True, slots=True)
class Read:
    """What the model read in a call, and the thread it is tied to where the provider holds the window."""

    window: tuple[Message, ...]
    thread: Thread | None = None
    unseen: bool = False


class ServerHeld:
    """The responses and the threads of servers that calls may name, of all conversations. Not thread-safe."""

    def __init__(self) -> None:
        self._responses: dict[str, _Held] = {}
        self._threads: dict[str, Thread] = {}

    def read(self, call: Call) -> Read:
        """What the model reads in this call."""
        if call.previous_response_id:
            held = self._responses.get(call.previous_response_id)
            if held is None or held.epoch != held.thread.epoch:
                return Read(call.messages, unseen=True)
            thread = held.thread
            window = (*thread.sent[: held.sent], held.output, *call.messages)
            return Read(window, thread, unseen=held.unseen)
        if call.server_thread:
            known = self._threads.get(call.server_thread)
            if known is None or not known.calls:
                return Read(call.messages, unseen=True)
            window = known_window(known)
            if call.messages[: len(window)] == window:
                return Read(call.messages, known, unseen=known.unseen)
            return Read((*window, *call.messages), known, unseen=known.unseen)
        return Read(call.messages)

    def note(self, call: Call, thread: Thread) -> None:
        """``thread`` has taken in this call, which has an output: later calls may name it."""
        if call.response_id:
            self._responses[call.response_id] = _Held(
                thread, thread.epoch, len(thread.sent), call.outputs[0].message, thread.unseen
            )
            thread.responses[call.response_id] = None
            while len(thread.responses) > _RESPONSES_LIMIT:
                self._drop_response(thread, next(iter(thread.responses)))
        if call.server_thread:
            self._hold_thread(call.server_thread, thread)

    def saved(self, thread: Thread) -> list[SavedResponse]:
        """The responses of a thread that may still be named, as values."""
        held = [(id_, self._responses[id_]) for id_ in thread.responses if id_ in self._responses]
        return [
            SavedResponse(id_, one.sent, one.output, one.unseen)
            for id_, one in held
            if one.thread is thread and one.epoch == thread.epoch and one.sent <= len(thread.slots)
        ]

    def restore(self, saved: SavedThread, thread: Thread) -> None:
        """What was saved of ``thread`` may be named again, and no longer names another thread."""
        for held in saved.responses:
            before = self._responses.get(held.id)
            if before is not None:
                self._drop_response(before.thread, held.id)
            self._responses[held.id] = _Held(thread, thread.epoch, held.sent, held.output, held.unseen)
            thread.responses[held.id] = None
        for server_thread in saved.server_threads:
            self._hold_thread(server_thread, thread)

    def drop(self, thread: Thread) -> None:
        """Let go what names this thread."""
        for response_id in list(thread.responses):
            self._drop_response(thread, response_id)
        for server_thread in thread.server_threads:
            if self._threads.get(server_thread) is thread:
                del self._threads[server_thread]

    def _hold_thread(self, server_thread: str, thread: Thread) -> None:
        before = self._threads.get(server_thread)
        if before is not None and before is not thread:
            before.server_threads.pop(server_thread, None)
        self._threads[server_thread] = thread
        thread.server_threads[server_thread] = None

    def _drop_response(self, thread: Thread, response_id: str) -> None:
        thread.responses.pop(response_id, None)
        held = self._responses.get(response_id)
        if held is not None and held.thread is thread:
            del self._responses[response_id]


def known_window(thread: Thread) -> tuple[Message, ...]:
    """The thread's last window and output."""
    return (*thread.sent, *(slot.message for slot in thread.outputs[:1]))
